//! Texts that are shown instead of a test: version, configuration.

use super::settings::{Login, Reps, SiegeSettings};

/// Returns the text that `-V` prints. The first line is that of the original, which scripts read.
pub(super) fn version(original: &str) -> String {
    format!("SIEGE {original}\n\nAs wringer {} speaks it.\n\n", env!("CARGO_PKG_VERSION"))
}

/// Returns the warning about more users than the configuration allows.
pub(super) fn capped(limit: u64) -> String {
    let rule = "=".repeat(64);
    format!(
        "\n{rule}\nWARNING: The number of users is capped at {limit}.  To increase this\n         \
         limit, search your .siegerc file for 'limit' and change\n         its value.\n{rule}\n"
    )
}

/// Returns the text that `-C` prints.
pub(super) fn configuration(settings: &SiegeSettings) -> String {
    let mut text = format!(
        "CURRENT  SIEGE  CONFIGURATION\n{}\nEdit the resource file to change the settings.\n{}\n",
        settings.agent(),
        "-".repeat(46)
    );
    for (label, value) in rows(settings) {
        text += &format!("{:<32}{value}\n", format!("{label}:"));
    }
    text
}

fn rows(settings: &SiegeSettings) -> Vec<(&'static str, String)> {
    let truth = |value: bool| value.to_string();
    let either = |value: bool, yes: &str, no: &str| if value { yes } else { no }.to_owned();
    let mut rows = vec![
        ("version", settings.layout.version().to_owned()),
        ("verbose", truth(settings.verbose)),
        ("color", truth(settings.color)),
        ("quiet", truth(settings.quiet)),
        ("debug", truth(settings.debug)),
        ("protocol", either(settings.http11, "HTTP/1.1", "HTTP/1.0")),
        ("HTML parser", either(settings.parser, "enabled", "disabled")),
        ("get method", settings.get_method.clone()),
    ];
    if let Some(host) = &settings.proxy_host {
        rows.push(("proxy-host", host.clone()));
        rows.push(("proxy-port", settings.proxy_port.to_string()));
    }
    let time = settings.time.map_or("n/a".to_owned(), |time| format!("{} seconds", time.as_secs()));
    let reps = match settings.reps {
        Some(Reps::Times(times)) => times.to_string(),
        Some(Reps::Once) => "once".to_owned(),
        None => "n/a".to_owned(),
    };
    let unit = if settings.delay_s > 1.0 { "secs" } else { "sec" };
    let login = |login: Option<&Login>| login.map_or(String::new(), |login| login.user.clone());
    rows.extend([
        ("connection", either(settings.keep_alive, "keep-alive", "close")),
        ("concurrent users", settings.users.to_string()),
        ("time to run", time),
        ("repetitions", reps),
        ("socket timeout", settings.timeout_s.to_string()),
        ("cache enabled", truth(settings.cache)),
        ("accept-encoding", settings.accept_encoding.clone()),
        ("delay", format!("{:.3} {unit}", settings.delay_s)),
        ("internet simulation", truth(settings.internet)),
        ("benchmark mode", truth(settings.benchmark)),
        ("failures until abort", settings.failures.to_string()),
        ("named URL", settings.url.clone().unwrap_or_else(|| "none".to_owned())),
        ("URLs file", settings.file.clone()),
        ("thread limit", settings.limit.to_string()),
        ("logging", truth(settings.logging)),
        ("log file", settings.logfile.clone()),
        ("resource file", settings.resource_file.clone().unwrap_or_else(|| "none".to_owned())),
        ("timestamped output", truth(settings.timestamp)),
        ("comma separated output", truth(settings.csv)),
        ("allow redirects", truth(settings.follow)),
        ("allow zero byte data", truth(settings.zero_data_ok)),
        ("allow chunked encoding", truth(settings.chunked)),
        ("upload unique files", truth(settings.unique)),
        ("json output", truth(settings.json)),
    ]);
    if let [first, ..] = settings.no_follow_hosts.as_slice() {
        rows.push(("no-follow", first.clone()));
    }
    rows.push(("proxy auth", login(settings.proxy_login.as_ref())));
    rows.push(("www auth", login(settings.logins.first())));
    rows
}
