//! The other load testers: how each is asked to press a server, and what it says in the end.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::run;
use crate::{Result, shell};

/// A load tester.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    Ab,
    Wrk,
    H2load,
    Hey,
    Siege,
    /// Built with HTTP/3, which alone is asked of it.
    Oha,
}

/// Those that speak HTTP/1.1; not all need be installed.
pub const PEERS: [Peer; 5] = [Peer::Ab, Peer::Wrk, Peer::H2load, Peer::Hey, Peer::Siege];

/// Load that a tester is asked to generate.
#[derive(Clone, Copy, Debug)]
pub struct Pressing<'a> {
    pub url: &'a str,
    pub connections: u32,
    pub seconds: u64,
    /// True if each request opens a connection of its own.
    pub is_short: bool,
    /// Requests under way on each connection, where HTTP/2 is spoken.
    pub streams: Option<u32>,
    /// Script that wrk runs for each request.
    pub script: Option<&'a Path>,
}

/// Keep-alive, and no screen output for each request: the cheapest way that siege has.
const SIEGE_SETTINGS: &str = "verbose = false\nquiet = true\nlogging = false\nlimit = 2000\nprotocol = HTTP/1.1\n\
    benchmark = true\nparser = false\njson_output = true\n";
/// siege starts a thread for each connection.
const SIEGE_CONNECTIONS: u32 = 255;

impl Peer {
    pub fn program(self) -> &'static str {
        match self {
            Self::Ab => "ab",
            Self::Wrk => "wrk",
            Self::H2load => "h2load",
            Self::Hey => "hey",
            Self::Siege => "siege",
            Self::Oha => "oha",
        }
    }

    pub fn is_installed(self) -> bool {
        shell::find(self.program()).is_some()
    }

    /// True if it has a way to do this. h2load takes a connection that the server closes for a failure, and alone speaks HTTP/2.
    pub fn can(self, pressing: &Pressing<'_>) -> bool {
        match self {
            Self::Oha => pressing.streams.is_some(),
            Self::Ab | Self::Wrk | Self::Hey | Self::Siege if pressing.streams.is_some() => false,
            Self::H2load => !pressing.is_short,
            Self::Siege => pressing.connections <= SIEGE_CONNECTIONS,
            Self::Ab | Self::Wrk | Self::Hey => true,
        }
    }

    /// The command, bound to a core. `folder` holds its settings.
    pub fn command(self, pressing: &Pressing<'_>, core: Option<usize>, folder: &Path) -> Result<Command> {
        let program = shell::find(self.program()).ok_or("it is not installed")?;
        let mut command = run::pinned(&program, core);
        command.args(self.arguments(pressing)).env("HOME", folder);
        if self == Self::Siege {
            command.arg("--rc").arg(siege_settings(folder, pressing.is_short)?).arg(pressing.url);
        }
        Ok(command)
    }

    /// One thread where there is a choice.
    fn arguments(self, pressing: &Pressing<'_>) -> Vec<String> {
        let Pressing { url, connections, seconds, is_short, streams, script } = *pressing;
        let line = match self {
            // Without a number, -t stands for 50000 requests at most.
            Self::Ab => {
                let kept = if is_short { "" } else { "-k" };
                format!("{kept} -q -c {connections} -t {seconds} -n {} {url}", seconds * 200_000)
            }
            Self::Wrk => format!("-t 1 -c {connections} -d {seconds}s --latency {url}"),
            Self::H2load => {
                let version = streams.map_or_else(|| "--h1".to_owned(), |streams| format!("-m {streams}"));
                format!("{version} -t 1 -c {connections} -D {seconds} {url}")
            }
            Self::Hey => {
                let kept = if is_short { "-disable-keepalive" } else { "" };
                format!("{kept} -cpus 1 -c {connections} -z {seconds}s {url}")
            }
            // What is under way when the time is over is waited for: given up, it would have cost and not count.
            Self::Oha => format!(
                "--no-tui --http-version 3 --insecure -w -c {connections} -p {} -z {seconds}s {url}",
                streams.unwrap_or(1)
            ),
            Self::Siege => format!("-b -c {connections} -t {seconds}S"),
        };
        let mut arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        if self == Self::Wrk && is_short {
            arguments.extend(["-H", "Connection: close"].map(str::to_owned));
        }
        if let Some(script) = script.filter(|_| self == Self::Wrk) {
            arguments.extend(["-s".to_owned(), script.display().to_string()]);
        }
        arguments
    }

    /// How many requests were answered, by what it printed.
    pub fn requests(self, said: &str) -> Option<u64> {
        match self {
            Self::Ab => number_after(said, "Complete requests:"),
            Self::Wrk => number_before(said, " requests in "),
            Self::H2load => number_before(said, " succeeded"),
            Self::Hey | Self::Oha => number_after(said, "[200]"),
            Self::Siege => {
                number_after(said, "\"transactions\":").or_else(|| number_after(said, "Transactions:"))
            }
        }
    }

    /// The 99th percentile in µs; h2load and siege tell none.
    pub fn p99_us(self, said: &str) -> Option<f64> {
        match self {
            Self::Ab => Some(word_after(said, "\n  99%")?.parse::<f64>().ok()? * 1e3),
            Self::Wrk => microseconds(word_after(said, "\n     99%")?),
            Self::Hey => Some(word_after(said, "99% in ")?.parse::<f64>().ok()? * 1e6),
            Self::H2load | Self::Siege | Self::Oha => None,
        }
    }
}

/// Writes the settings that siege is run with, and says where.
pub fn siege_settings(folder: &Path, is_short: bool) -> Result<PathBuf> {
    let file = folder.join("siegerc");
    let connection = if is_short { "close" } else { "keep-alive" };
    let text = format!("{SIEGE_SETTINGS}connection = {connection}\n");
    fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(file)
}

fn word_after<'a>(text: &'a str, mark: &str) -> Option<&'a str> {
    text.split_once(mark)?.1.split_whitespace().next()
}

/// `350.00us`, `1.20ms`, `2.05s`
fn microseconds(text: &str) -> Option<f64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let scale = match &text[digits.len()..] {
        "us" => 1.0,
        "ms" => 1e3,
        "s" => 1e6,
        _ => return None,
    };
    Some(digits.parse::<f64>().ok()? * scale)
}

fn number_after(text: &str, mark: &str) -> Option<u64> {
    let (_, rest) = text.split_once(mark)?;
    let digits = rest.trim_start();
    digits[..digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len())].parse().ok()
}

fn number_before(text: &str, mark: &str) -> Option<u64> {
    let (rest, _) = text.split_once(mark)?;
    rest.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_of_peers() {
        let check = |peer: Peer, said: &str| assert_eq!(peer.requests(said), Some(12345), "{peer:?}");
        check(
            Peer::Ab,
            "Time taken for tests:   2.0 seconds\nComplete requests:      12345\nFailed requests:        0\n",
        );
        check(Peer::Wrk, "  12345 requests in 2.10s, 14.36MB read\n");
        check(Peer::H2load, "requests: 12395 total, 12395 started, 12345 done, 12345 succeeded, 0 failed\n");
        check(Peer::Hey, "Status code distribution:\n  [200]\t12345 responses\n");
        check(Peer::Oha, "Status code distribution:\n  [200] 12345 responses\n");
        check(Peer::Siege, "{\t\"transactions\":\t\t\t       12345,\n\t\"availability\": 100.00");
        check(Peer::Siege, "Transactions:\t\t       12345 hits\n");
        assert_eq!(Peer::Hey.requests("Error distribution:\n"), None);
    }

    #[test]
    fn percentiles_of_peers() {
        let check = |peer: Peer, said: &str| {
            let p99 = peer.p99_us(said).unwrap_or_default();
            assert!((p99 - 2050.0).abs() < 51.0, "{peer:?}: {p99}");
        };
        check(Peer::Ab, "  98%      1\n  99%      2\n 100%      3 (longest request)\n");
        check(Peer::Wrk, "  Latency Distribution\n     50%  350.00us\n     99%    2.05ms\n  12345 requests");
        check(Peer::Hey, "  95% in 0.0012 secs\n  99% in 0.0021 secs\n");
        assert_eq!(microseconds("1.5s"), Some(1.5e6));
        assert_eq!(microseconds("1.5h"), None);
    }

    #[test]
    fn short_connections_are_asked_for() {
        let pressing = Pressing {
            url: "http://h/",
            connections: 64,
            seconds: 2,
            is_short: true,
            streams: None,
            script: None,
        };
        assert!(Peer::Wrk.arguments(&pressing).contains(&"Connection: close".to_owned()));
        assert!(!Peer::Ab.arguments(&pressing).contains(&"-k".to_owned()));
        assert!(!Peer::H2load.can(&pressing));
        let kept = Pressing { is_short: false, connections: 1024, ..pressing };
        assert!(Peer::Ab.arguments(&kept).contains(&"-k".to_owned()));
        assert!(Peer::H2load.can(&kept) && !Peer::Siege.can(&kept));
        let shared = Pressing { streams: Some(10), ..kept };
        assert!(Peer::H2load.can(&shared) && !Peer::Wrk.can(&shared));
        assert!(Peer::H2load.arguments(&shared).starts_with(&["-m".to_owned(), "10".to_owned()]));
    }
}
