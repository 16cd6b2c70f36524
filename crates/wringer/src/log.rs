//! The log of the control plane: sessions, rigs, exporters and servers say what they do, for whoever asks with `--log` or
//! `WRINGER_LOG`. The engine never logs.

use crate::output;
use crate::problem::Problem;
use std::io::{self, Write};
use tracing_subscriber::filter::{LevelFilter, ParseError, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Crates that log.
const KNOWN: [&str; 3] = ["session", "proxies", "wringer"];
/// The variable that asks for it where no option does.
const VARIABLE: &str = "WRINGER_LOG";

/// Begins to log what the option asks for, or else the variable; nothing where neither does.
///
/// # Errors
/// A filter that cannot be meant.
pub fn begin(option: Option<&str>) -> Result<(), Problem> {
    let variable = std::env::var(VARIABLE).ok().filter(|filter| !filter.is_empty());
    let (name, filter) = match (option, variable) {
        (Some(filter), _) => ("--log", filter.to_owned()),
        (None, Some(filter)) => (VARIABLE, filter),
        (None, None) => return Ok(()),
    };
    let targets = targets(&filter).map_err(|why| Problem::Usage(format!("{name} {filter}: {why}")))?;
    let lines = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(|| LogLines);
    // A second log of one process would be a fault of ours; the first goes on.
    let begun = tracing_subscriber::registry().with(targets).with(lines).try_init();
    debug_assert!(begun.is_ok(), "the log has begun already");
    Ok(())
}

/// The filter: a level, or targets with a level each, such as `session=debug,proxies::rig=trace`.
fn targets(filter: &str) -> Result<Targets, String> {
    for part in filter.split(',') {
        let (target, level) =
            part.split_once('=').map_or((None, part), |(target, level)| (Some(target), level));
        let crate_name = target.and_then(|target| target.split("::").next());
        if let Some(target) = target.filter(|_| crate_name.is_some_and(|name| !KNOWN.contains(&name))) {
            return Err(format!(
                "nothing of the name {target} logs: give {}, or a level alone",
                KNOWN.join(", ")
            ));
        }
        level.parse::<LevelFilter>().ok().filter(|_| !level.is_empty()).ok_or(
            "give a level (off, error, warn, info, debug, trace), or targets with a level each, such as session=debug,proxies=trace",
        )?;
    }
    filter.parse().map_err(|error: ParseError| error.to_string())
}

/// Writes each line where notices go, so that a full screen stays whole.
struct LogLines;

impl Write for LogLines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        output::notice(String::from_utf8_lossy(bytes).trim_end());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_levels_or_targets_with_levels() {
        for good in ["debug", "session=debug", "session=debug,proxies::rig=trace", "warn,wringer::serve=info"]
        {
            assert!(targets(good).is_ok(), "{good}");
        }
        for (bad, why) in [
            ("loud", "give a level"),
            ("session", "give a level"),
            ("", "give a level"),
            ("session=loud", "give a level"),
            ("load=debug", "nothing of the name load"),
        ] {
            let said = targets(bad).unwrap_err();
            assert!(said.contains(why), "{bad}: {said}");
        }
    }
}
