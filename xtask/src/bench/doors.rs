//! The doors: each old command line beside the tool that it stands in for, or beside the native one. A row of [`ROWS`] is
//! all that another door needs.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use super::engine::Wanted;
use super::peers::{Peer, Pressing, siege_settings};
use super::place::Place;
use super::run::{self, Server};
use super::sample::{Figures, Sample};
use crate::{Result, shell};

/// Connections of each run.
const CONNECTIONS: u32 = 64;
/// Bytes of the answers.
const BYTES: usize = 100;

/// Baseline that a door is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Beside {
    /// `wringer http` over kept connections.
    Native,
    /// The old tool; connections live as the row says.
    Tool(Peer),
}

/// A door's command line, and what it may cost.
struct Row {
    name: &'static str,
    /// The words after wringer's name. URL, FILE, CONNECTIONS, SECONDS, SCRIPT (of wrk), SETTINGS (of siege) and LIST (of
    /// URLs) stand for what they say; FILE receives the result as JSON.
    words: &'static str,
    is_short: bool,
    beside: Beside,
    /// The most that its cost may be of the other's.
    bound: f64,
}

const ROWS: [Row; 7] = [
    Row {
        name: "ab -k",
        words: "ab --threads=1 --json=FILE -q -k -c CONNECTIONS -t SECONDS -n 100000000 URL",
        is_short: false,
        beside: Beside::Native,
        bound: 1.05,
    },
    Row {
        name: "ab, connection each",
        words: "ab --threads=1 --json=FILE -q -c CONNECTIONS -t SECONDS -n 100000000 URL",
        is_short: true,
        beside: Beside::Tool(Peer::Ab),
        bound: 1.0,
    },
    Row {
        name: "wrk",
        words: "wrk --json FILE -t 1 -c CONNECTIONS -d SECONDSs URL",
        is_short: false,
        beside: Beside::Native,
        bound: 1.05,
    },
    Row {
        name: "wrk, the old tool",
        words: "wrk --json FILE -t 1 -c CONNECTIONS -d SECONDSs URL",
        is_short: false,
        beside: Beside::Tool(Peer::Wrk),
        bound: 0.75,
    },
    Row {
        name: "wrk, a script",
        words: "wrk --json FILE -t 1 -c CONNECTIONS -d SECONDSs -s SCRIPT URL",
        is_short: false,
        beside: Beside::Tool(Peer::Wrk),
        bound: 1.0,
    },
    Row {
        name: "siege",
        words: "siege --rc SETTINGS --result-json FILE -b -c CONNECTIONS -tSECONDSS URL",
        is_short: false,
        beside: Beside::Tool(Peer::Siege),
        bound: 1.0 / 15.0,
    },
    Row {
        name: "http_load",
        words: "http_load --json FILE -parallel CONNECTIONS -seconds SECONDS -keep_alive 1000000000 LIST",
        is_short: false,
        beside: Beside::Native,
        bound: 1.05,
    },
];

/// A path and a header field of each request's own, as scripts commonly make them.
const SCRIPT: &str = "local n = 0\n\
    request = function()\n\
      n = n + 1\n\
      wrk.headers[\"X-Number\"] = tostring(n)\n\
      return wrk.format(\"GET\", \"PATH?n=\" .. n)\n\
    end\n";

impl Row {
    fn ours(&self) -> String {
        format!("door {}: wringer", self.name)
    }

    fn other(&self) -> String {
        let tool = match self.beside {
            Beside::Native => "wringer http",
            Beside::Tool(peer) => peer.program(),
        };
        format!("door {}: {tool}", self.name)
    }
}

/// The ratios that are wanted.
pub fn ratios() -> Vec<Wanted> {
    let wanted = |row: &Row| Wanted { upper: row.ours(), lower: row.other(), bound: Some(row.bound) };
    ROWS.iter().map(wanted).collect()
}

/// The server, which stays up over the rounds.
pub struct Doors<'a> {
    place: &'a Place,
    url: String,
    _nginx: Server,
}

impl<'a> Doors<'a> {
    /// Starts nginx with a small file; None where it is not installed.
    pub fn start(place: &'a Place) -> Result<Option<Self>> {
        if shell::find("nginx").is_none() {
            println!("skipped: nginx is not installed, which the doors press (cargo xtask setup)");
            return Ok(None);
        }
        let file = place.file(&BYTES.to_string());
        fs::write(&file, vec![b'x'; BYTES]).map_err(|error| format!("{}: {error}", file.display()))?;
        let address: SocketAddr = run::free_address()?;
        let nginx = place.start_nginx(address, None).map_err(|problem| format!("bench: nginx: {problem}"))?;
        let doors = Self { place, url: format!("http://{address}/{BYTES}"), _nginx: nginx };
        doors.write("script.lua", &SCRIPT.replace("PATH", &format!("/{BYTES}")))?;
        doors.write("urls.txt", &format!("{}\n", doors.url))?;
        Ok(Some(doors))
    }

    fn write(&self, name: &str, text: &str) -> Result<()> {
        let file = self.place.file(name);
        fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))
    }

    /// The rows, each a group by itself.
    pub fn groups(&self) -> Vec<super::Group<'_>> {
        let group = |row: &'static Row| -> super::Group<'_> { Box::new(move || self.row(row)) };
        ROWS.iter().map(group).collect()
    }

    fn row(&self, row: &Row) -> Vec<Sample> {
        let mut samples = vec![Sample::new(&row.ours(), None, self.door(row))];
        let script = self.place.file("script.lua");
        let script = row.words.contains("SCRIPT").then_some(script.as_path());
        let other = match row.beside {
            Beside::Native => Some(self.native()),
            Beside::Tool(peer) => {
                peer.is_installed().then(|| self.place.peer(peer, &self.pressing(row, script)))
            }
        };
        samples.extend(other.map(|figures| Sample::new(&row.other(), None, figures)));
        samples
    }

    fn pressing<'b>(&'b self, row: &Row, script: Option<&'b Path>) -> Pressing<'b> {
        let seconds = self.place.time.as_secs();
        let url = &self.url;
        let connections = CONNECTIONS;
        let is_short = row.is_short;
        Pressing { url, connections, seconds, is_short, streams: None, script }
    }

    fn door(&self, row: &Row) -> Result<Figures> {
        let json = self.place.file("door.json");
        let settings = siege_settings(&self.place.file(""), row.is_short)?;
        let words = row
            .words
            .replace("SCRIPT", &self.place.file("script.lua").display().to_string())
            .replace("SETTINGS", &settings.display().to_string())
            .replace("LIST", &self.place.file("urls.txt").display().to_string())
            .replace("FILE", &json.display().to_string())
            .replace("CONNECTIONS", &CONNECTIONS.to_string())
            .replace("SECONDS", &self.place.time.as_secs().to_string())
            .replace("URL", &self.url);
        let mut command: Command = self.place.generator();
        command.args(words.split(' '));
        self.place.reported(command, &json)
    }

    fn native(&self) -> Result<Figures> {
        let mut command = self.place.generator();
        command.args(["http", &self.url, "--users", &CONNECTIONS.to_string(), "--threads", "1", "--quiet"]);
        command.args(["--duration", &format!("{}s", self.place.time.as_secs())]);
        command.args(["--expect-body", "same-length"]);
        command.arg("--evidence-file").arg(self.place.file("evidence.txt"));
        self.place.ours(command, &self.place.file("http.json"))
    }
}
