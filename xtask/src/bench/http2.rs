//! HTTP/2: `wringer http --http 2c` beside h2load, both pressing the same nghttpd.

use std::fs;
use std::net::SocketAddr;

use super::engine::Wanted;
use super::peers::{Peer, Pressing};
use super::place::Place;
use super::run::{self, Server};
use super::sample::Sample;
use crate::{Result, shell};

/// Bytes of each answer's body.
const BYTES: usize = 128;

/// Connections, requests under way on each, and the most that our cost may be of h2load's.
struct Case {
    connections: u32,
    streams: u32,
    bound: f64,
}

const CASES: [Case; 3] = [
    Case { connections: 64, streams: 1, bound: 0.65 },
    Case { connections: 64, streams: 10, bound: 0.6 },
    Case { connections: 16, streams: 100, bound: 0.55 },
];

impl Case {
    fn row(&self, tool: &str) -> String {
        format!("HTTP/2, {} × {}: {tool}", self.connections, self.streams)
    }
}

/// The ratios of all cases.
pub fn ratios() -> Vec<Wanted> {
    let ratio = |case: &Case| Wanted {
        upper: case.row("wringer"),
        lower: case.row(Peer::H2load.program()),
        bound: Some(case.bound),
    };
    CASES.iter().map(ratio).collect()
}

/// The server, which stays up over the rounds.
pub struct Http2<'a> {
    place: &'a Place,
    at: SocketAddr,
    _server: Server,
}

impl<'a> Http2<'a> {
    /// Starts nghttpd; None where it or h2load is not installed.
    pub fn start(place: &'a Place) -> Result<Option<Self>> {
        let Some((program, _)) = shell::find("nghttpd").zip(shell::find("h2load")) else {
            println!(
                "skipped: nghttpd or h2load is not installed, which HTTP/2's cases need (cargo xtask setup)"
            );
            return Ok(None);
        };
        let folder = place.file("nghttpd");
        let written = fs::create_dir_all(&folder).and_then(|()| fs::write(folder.join("a"), [b'x'; BYTES]));
        written.map_err(|error| format!("{}: {error}", folder.display()))?;
        let at = run::free_address()?;
        let line = format!("--no-tls --address={} -m 256 -d {} {}", at.ip(), folder.display(), at.port());
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let mut server = Server::start(&program, place.cores.proxy, &words, place.file("nghttpd.log"))?;
        server.await_port(at)?;
        Ok(Some(Self { place, at, _server: server }))
    }

    /// The cases, each by itself.
    pub fn groups(&self) -> Vec<super::Group<'_>> {
        CASES.iter().map(|case| Box::new(|| self.case(case)) as super::Group<'_>).collect()
    }

    fn case(&self, case: &Case) -> Vec<Sample> {
        let (url, seconds) = (format!("http://{}/a", self.at), self.place.time.as_secs());
        let mut command = self.place.generator();
        let users = case.connections * case.streams;
        let line = format!(
            "http {url} --http 2c --streams {} --users {users} --threads 1 --quiet --no-keep --duration {seconds}s",
            case.streams
        );
        command.args(line.split(' '));
        let ours = self.place.ours(command, &self.place.file("http2.json"));
        let pressing = Pressing {
            url: &url,
            connections: case.connections,
            seconds,
            is_short: false,
            streams: Some(case.streams),
            script: None,
        };
        let theirs = self.place.peer(Peer::H2load, &pressing);
        let of_tool = |tool: &str, figures| Sample::new(&case.row(tool), None, figures);
        vec![of_tool("wringer", ours), of_tool(Peer::H2load.program(), theirs)]
    }
}
