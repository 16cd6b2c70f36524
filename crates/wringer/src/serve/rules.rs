//! Rules for a run that the page asked for. The page's token may be stolen, and whoever has it must not come to own this
//! account by it, or to flood others: such a run reads and writes no file, reads no variable and no secret of whoever started the
//! server, runs no program text, listens on loopback, and presses loopback (`session::Reach`).

use plan::{Plan, Step};
use std::net::{IpAddr, SocketAddr};

/// The first thing that a plan wants and may not, as a sentence.
pub fn refusal(plan: &Plan) -> Option<String> {
    if let Some(file) = plan.files().iter().next() {
        return Some(told(&format!("reads no file, and this one names {}", file.path())));
    }
    if let Some(place) = written(plan) {
        return Some(told(&format!("writes no file, and this one names {place}")));
    }
    if let Some(secret) = plan.secrets().iter().next() {
        return Some(told(&format!("is given no secret, and this one names {secret}")));
    }
    if plan.has_code() || runs_script(plan) {
        return Some(told("runs no program text, and this one has some"));
    }
    if plan.purge_commands().next().is_some() {
        return Some(told("runs no command, and this one purges by one"));
    }
    if plan.load.iter().any(|load| load.protocol.http().is_some_and(|http| http.unix_socket.is_some())) {
        return Some(told("connects to no Unix socket"));
    }
    let listen = plan.origin.as_ref().map(|origin| origin.listen.as_str());
    let elsewhere = listen.filter(|listen| !is_loopback(listen))?;
    Some(told(&format!("listens on loopback only, and the origin of this one at {elsewhere}")))
}

/// Where a plan writes, beside the files of its run.
fn written(plan: &Plan) -> Option<&String> {
    let http3 = plan.load.as_ref().and_then(|load| load.protocol.http()?.h3.as_ref());
    let certificate = plan.origin.as_ref().and_then(|origin| origin.tls.as_ref()?.save_certificate.as_ref());
    http3.and_then(|http3| http3.qlog.as_ref()).map(|qlog| &qlog.folder).or(certificate)
}

fn told(rule: &str) -> String {
    format!("a plan from the page {rule}; wringer run takes it")
}

fn runs_script(plan: &Plan) -> bool {
    let mut found = false;
    let phases = plan.load.iter().flat_map(|load| &load.phases);
    for scenario in phases.flat_map(|phase| phase.scenarios()) {
        scenario.each(&mut |step| found |= matches!(step, Step::Script(_)));
    }
    found
}

fn is_loopback(listen: &str) -> bool {
    let address = listen.parse().map(|address: SocketAddr| address.ip());
    address.map(|ip: IpAddr| ip.to_canonical()).is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "version = 1\nseed = 7\n";
    const LOAD: &str = "[load]\ntarget = \"127.0.0.1:1\"\n[load.protocol.http]\n";
    const PHASE: &str = "[[load.phases]]\nname = \"measure\"\nmeasured = true\npace = { users = 1 }\n\
                         stop = { requests = 1 }\n[[load.phases.scenario.steps]]\n";

    #[test]
    fn nothing_of_who_started_the_server_is_read_or_run() {
        let request = |rest: &str| {
            format!("{LOAD}{PHASE}requests = {{ requests = [{{ url = \"http://127.0.0.1/\"{rest} }}] }}\n")
        };
        for (text, word) in [
            (request(""), None),
            (
                request(", fields = [{ name = \"Authorization\", value = { secret = \"env:HOME\" } }]"),
                Some("no secret"),
            ),
            (
                request(
                    ", fields = [{ name = \"Authorization\", value = { secret = \"file:/etc/shadow\" } }]",
                ),
                Some("no secret"),
            ),
            (format!("{LOAD}tls = {{ ca = \"/etc/passwd\" }}\n{PHASE}object = {{}}\n"), Some("no file")),
            (
                format!("{LOAD}unix_socket = \"/run/docker.sock\"\n{PHASE}object = {{}}\n"),
                Some("Unix socket"),
            ),
            (
                format!(
                    "{LOAD}tls = {{ alpn = [\"h3\"] }}\nhttp3 = {{ qlog = {{ folder = \"/var\" }} }}\n{PHASE}object = {{}}\n"
                ),
                Some("writes no file"),
            ),
            (
                "[origin]\nlisten = \"127.0.0.1:1\"\ntls = { save_certificate = \"/etc/profile\" }\n"
                    .to_owned(),
                Some("writes no file"),
            ),
            ("[origin]\nlisten = \"0.0.0.0:9080\"\n".to_owned(), Some("loopback only")),
            ("[origin]\nlisten = \"localhost.example:9080\"\n".to_owned(), Some("loopback only")),
            ("[origin]\nlisten = \"[::1]:9080\"\n".to_owned(), None),
        ] {
            let plan =
                Plan::from_text(&format!("{HEAD}{text}")).unwrap_or_else(|why| panic!("{text}: {why}"));
            let refused = refusal(&plan);
            assert_eq!(refused.is_some(), word.is_some(), "{text}: {refused:?}");
            assert!(refused.unwrap_or_default().contains(word.unwrap_or_default()), "{text}");
        }
    }
}
