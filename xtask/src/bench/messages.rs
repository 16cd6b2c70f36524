//! TCP messages: `wringer tcp` beside plain HTTP of the same engine, beside a loop that does nothing but the
//! calls, and beside redis-benchmark.

use std::net::SocketAddr;
use std::path::PathBuf;

use super::engine::Wanted;
use super::place::Place;
use super::run::{self, Server};
use super::sample::{Figures, Sample};
use super::{bare, redis};
use crate::Result;

/// Connections of each run.
const CONNECTIONS: u32 = 64;
/// Bytes of messages and answers, head included; of an HTTP answer, of its body.
pub const BYTES: usize = 100;

/// Bytes of a head, which is a length of so many digits.
pub const HEAD: usize = 8;

/// Baseline that a row is compared with, and what the row may cost.
struct Row {
    name: &'static str,
    beside: Beside,
    /// The most that its cost may be of the other's.
    bound: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Beside {
    /// `wringer http`, asking the same kind of peer for as many bytes.
    Http,
    /// The calls of a connection per message, and nothing else.
    Bare,
    /// redis-benchmark, with that many requests under way on each connection.
    Redis(u32),
}

const ROWS: [Row; 4] = [
    Row { name: "kept", beside: Beside::Http, bound: 1.15 },
    Row { name: "connection each", beside: Beside::Bare, bound: 1.15 },
    Row { name: "redis", beside: Beside::Redis(1), bound: 1.0 },
    Row { name: "redis, 16 under way", beside: Beside::Redis(16), bound: 1.0 },
];

impl Row {
    fn ours(&self) -> String {
        format!("messages {}: wringer tcp", self.name)
    }

    fn other(&self) -> String {
        let other = match self.beside {
            Beside::Http => "wringer http",
            Beside::Bare => "bare loop",
            Beside::Redis(_) => redis::PROGRAM,
        };
        format!("messages {}: {other}", self.name)
    }
}

/// The ratios that are wanted.
pub fn ratios() -> Vec<Wanted> {
    let wanted = |row: &Row| Wanted { upper: row.ours(), lower: row.other(), bound: Some(row.bound) };
    ROWS.iter().map(wanted).collect()
}

/// The servers, which stay up over the rounds.
pub struct Messages<'a> {
    place: &'a Place,
    /// Answers messages.
    service: SocketAddr,
    /// The same program, whose messages are HTTP.
    web: SocketAddr,
    /// None where it is not installed.
    redis: Option<SocketAddr>,
    _servers: Vec<Server>,
}

impl<'a> Messages<'a> {
    /// Starts the peers.
    pub fn start(place: &'a Place) -> Result<Self> {
        let code = "000000";
        let answer = format!("{{{{code}}}}{}", "y".repeat(BYTES - HEAD - code.len()));
        let service = run::free_address()?;
        let mut servers = Vec::new();
        let words = ["--framing", "ascii:8", "--answer", &answer, "--success-code", code];
        servers.push(start_service(place, "service.log", service, &words)?);
        let answer = format!("HTTP/1.1 200 OK\\r\\nContent-Length: {BYTES}\\r\\n\\r\\n{}", "y".repeat(BYTES));
        let framing = format!("fixed:{}", answer.replace("\\r\\n", "  ").len());
        let words =
            ["--framing", "delimiter:\\r\\n\\r\\n", "--answer-framing", &framing, "--answer", &answer];
        let web = run::free_address()?;
        servers.push(start_service(place, "web.log", web, &words)?);
        let redis = redis::start(place)?;
        if redis.is_none() {
            println!("skipped: redis is not installed, which messages press (cargo xtask setup)");
        }
        let (redis, server) = redis.unzip();
        servers.extend(server);
        Ok(Self { place, service, web, redis, _servers: servers })
    }

    /// The rows, each a group by itself.
    pub fn groups(&self) -> Vec<super::Group<'_>> {
        let there = |row: &&Row| self.redis.is_some() || !matches!(row.beside, Beside::Redis(_));
        let group = |row: &'static Row| -> super::Group<'_> { Box::new(move || self.row(row)) };
        ROWS.iter().filter(there).map(group).collect()
    }

    fn row(&self, row: &Row) -> Vec<Sample> {
        let (ours, other) = match row.beside {
            Beside::Http => (self.messages(&[]), self.http()),
            Beside::Bare => (self.messages(&["--keep-alive", "1", "--close", "reset"]), self.bare()),
            Beside::Redis(depth) => self.redis(depth),
        };
        vec![Sample::new(&row.ours(), None, ours), Sample::new(&row.other(), None, other)]
    }

    /// Messages with a number and a time in each, and a code at a fixed place in each answer.
    fn messages(&self, more: &[&str]) -> Result<Figures> {
        let message = format!("PAY{{{{n}}}}{{{{t}}}}{}", "x".repeat(BYTES - HEAD - 3 - 8 - 17));
        let mut words = vec!["--framing", "ascii:8", "--message", &message];
        words.extend(["--data", "n=counter:1..99999999 as %08d", "--data", "t=time-local:%Y%m%d%H%M%S%3f"]);
        words.extend(["--code", "fixed 1 6", "--success", "000000"]);
        words.extend(more);
        let seconds = format!("{}s", self.place.time.as_secs());
        words.extend(["--duration", &seconds]);
        self.ours("tcp", &self.service.to_string(), &words)
    }

    fn http(&self) -> Result<Figures> {
        let seconds = format!("{}s", self.place.time.as_secs());
        let words = ["--duration", &seconds, "--expect-body", "same-length"];
        self.ours("http", &format!("http://{}/{BYTES}", self.web), &words)
    }

    fn ours(&self, command: &str, target: &str, words: &[&str]) -> Result<Figures> {
        let users = CONNECTIONS.to_string();
        let mut generator = self.place.generator();
        generator.args([command, target, "--users", &users, "--threads", "1", "--quiet"]).args(words);
        self.place.ours(generator, &self.place.file("messages.json"))
    }

    fn bare(&self) -> Result<Figures> {
        let program: PathBuf = std::env::current_exe().map_err(|error| format!("this program: {error}"))?;
        let mut command = run::pinned(&program, self.place.cores.generator);
        let seconds = self.place.time.as_secs();
        command.arg(bare::COMMAND).args([
            self.service.to_string(),
            CONNECTIONS.to_string(),
            seconds.to_string(),
        ]);
        let ended = run::to_the_end(command, self.place.time * 3, &self.place.file("bare.log"), &[0])?;
        let said = ended.said.trim();
        let requests = said.parse().map_err(|_| format!("it said '{said}'"))?;
        Figures { cpu: ended.cpu, requests, seconds: Some(seconds as f64), ..Figures::default() }.believable()
    }

    /// Both do as many PINGs as redis-benchmark, which knows no time, is asked for.
    fn redis(&self, depth: u32) -> (Result<Figures>, Result<Figures>) {
        let Some(address) = self.redis else { return (Err("no redis".into()), Err("no redis".into())) };
        let requests = redis::requests(self.place.time, depth);
        let count = requests.to_string();
        let pipeline = depth.to_string();
        let mut words = vec!["--framing", "raw", "--answer-framing", "resp-line", "--message", redis::PING];
        words.extend(["--code", "fixed 1 5", "--success", "+PONG"]);
        words.extend(["--pipeline", &pipeline, "--requests", &count]);
        let ours = self.ours("tcp", &address.to_string(), &words);
        (ours, redis::benchmark(self.place, address, CONNECTIONS, depth, requests))
    }
}

fn start_service(place: &Place, log: &str, address: SocketAddr, words: &[&str]) -> Result<Server> {
    let listen = address.to_string();
    let begin = ["origin", "--tcp", "--threads", "1", "--listen", &listen];
    let words: Vec<String> = begin.iter().chain(words).map(|word| (*word).to_owned()).collect();
    let mut server = Server::start(&place.wringer, place.cores.proxy, &words, place.file(log))?;
    server.await_port(address)?;
    Ok(server)
}
