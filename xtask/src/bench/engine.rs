//! The engine by itself: `wringer http` beside the other tools, all pressing the same nginx, a bare server, or our origin.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use super::peers::{PEERS, Peer, Pressing};
use super::place::Place;
use super::run::{self, Server};
use super::sample::{Figures, Sample};
use super::server;
use crate::{Result, instructions, shell};

/// How the bodies of answers are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Check {
    /// Status and length.
    Length,
    /// Every byte; other tools never do.
    Bytes,
}

/// Requests of a case, and how they are made.
struct Case {
    name: &'static str,
    bytes: usize,
    connections: u32,
    is_short: bool,
    is_tls: bool,
    /// True if TLS sessions are resumed; other tools do as they do.
    resumes: bool,
    check: Check,
    /// The tool whose cost the bounds are about.
    beside: Peer,
    /// The most that our cost may be of that tool's.
    bound: f64,
    /// The most that the part of it in user space may be, where that is looked at.
    bound_user: Option<f64>,
}

const KEPT: Case = Case {
    name: "small, 64 connections",
    bytes: 100,
    connections: 64,
    is_short: false,
    is_tls: false,
    resumes: false,
    check: Check::Length,
    beside: Peer::Wrk,
    bound: 0.86,
    bound_user: None,
};

const CASES: [Case; 11] = [
    KEPT,
    Case { name: "small, 1024 connections", connections: 1024, bound: 0.8, ..KEPT },
    Case { name: "connection each", is_short: true, bound: 1.0, ..KEPT },
    Case { name: "TLS", is_tls: true, bound: 0.72, ..KEPT },
    Case { name: "TLS handshake each", is_short: true, is_tls: true, beside: Peer::Ab, bound: 0.33, ..KEPT },
    Case { name: "TLS resumed each", is_short: true, is_tls: true, resumes: true, bound: 0.25, ..KEPT },
    Case { name: "4 kB", bytes: 4096, bound: 0.78, ..KEPT },
    Case { name: "64 kB", bytes: 65_536, bound: 0.65, ..KEPT },
    Case { name: "1 MB", bytes: 1 << 20, bound: 0.35, ..KEPT },
    Case { name: "64 kB checked", bytes: 65_536, check: Check::Bytes, bound: 1.1, ..KEPT },
    Case { name: "1 MB checked", bytes: 1 << 20, check: Check::Bytes, bound: 1.1, ..KEPT },
];

/// The first case again, in front of our origin.
const BESIDE_ORIGIN: Case = Case { name: "small, our origin", bound: 0.75, ..KEPT };

/// The first two again, in front of a server that costs the kernel as little as can be, so that what the tools do in user space
/// counts.
const BARE: [Case; 2] = [
    Case { name: "bare server, 64 connections", bound: 0.72, bound_user: Some(0.55), ..KEPT },
    Case {
        name: "bare server, 1024 connections",
        connections: 1024,
        bound: 0.68,
        bound_user: Some(0.5),
        ..KEPT
    },
];

/// A rate so low that each request is waited for alone.
const LOW: u32 = 1000;
/// Rates that are often asked for: between two arrivals the worker rests, and at the last one hardly.
const PACED: [u32; 2] = [4000, 40_000];
/// The most that io_uring may cost there of what epoll costs.
const BOUND_LOW: f64 = 1.05;
/// The most µs that sends may be late at half load: p99, p99.9.
const BOUND_LATENESS: [f64; 2] = [50.0, 200.0];
/// The most instructions in user space that a request may take in front of the bare server.
const BOUND_INSTRUCTIONS: f64 = 1800.0;
/// Two numbers of requests; what is done once is in both, and so in neither's difference.
const COUNTED: [u32; 2] = [10_000, 30_000];
/// Bytes of user memory that an idle connection may take.
const BOUND_IDLE: f64 = 1024.0;
/// Mostly idle connections.
const IDLE: u32 = 10_000;
const FEW: u32 = 100;

/// A ratio that is wanted: ours by another's, and the most that it may be.
pub struct Wanted {
    pub upper: String,
    pub lower: String,
    pub bound: Option<f64>,
}

/// All ratios of the engine's cases. Other tools check no body, so the checked cases are compared with their unchecked
/// ones.
pub fn ratios() -> Vec<Wanted> {
    let of_case = |case: &Case| {
        let name = case.name;
        let beside = case.beside;
        let unchecked = name.trim_end_matches(" checked").to_owned();
        let total = PEERS.map(|peer| Wanted {
            upper: format!("{name}: wringer"),
            lower: format!("{unchecked}: {}", peer.program()),
            bound: (peer == beside).then_some(case.bound),
        });
        let user = case.bound_user.map(|bound| Wanted {
            upper: user(name, "wringer"),
            lower: user(name, beside.program()),
            bound: Some(bound),
        });
        total.into_iter().chain(user)
    };
    let low = Wanted { upper: paced(LOW, "uring"), lower: paced(LOW, "epoll"), bound: Some(BOUND_LOW) };
    let told =
        PACED.map(|rate| Wanted { upper: paced(rate, "uring"), lower: paced(rate, "epoll"), bound: None });
    CASES.iter().chain(&BARE).chain([&BESIDE_ORIGIN]).flat_map(of_case).chain([low]).chain(told).collect()
}

/// The name of a figure of user space.
fn user(case: &str, tool: &str) -> String {
    format!("{case}: {tool}, user µs")
}

/// The name of the case of a rate.
fn paced(rate: u32, io: &str) -> String {
    format!("{rate}/s: {io}")
}

/// The servers, which stay up over the rounds.
pub struct Engine<'a> {
    place: &'a Place,
    plain: SocketAddr,
    /// None where no certificate could be made.
    tls: Option<SocketAddr>,
    bare: SocketAddr,
    _servers: [Server; 2],
}

impl<'a> Engine<'a> {
    /// Starts nginx with a file of each length; None where it is not installed.
    pub fn start(place: &'a Place) -> Result<Option<Self>> {
        if shell::find("nginx").is_none() {
            println!("skipped: nginx is not installed, which the engine's cases press (cargo xtask setup)");
            return Ok(None);
        }
        for case in &CASES {
            let file = place.file(&case.bytes.to_string());
            fs::write(&file, vec![b'x'; case.bytes])
                .map_err(|error| format!("{}: {error}", file.display()))?;
        }
        let tls = match place.make_certificate() {
            Ok(()) => Some(run::free_address()?),
            Err(problem) => {
                println!("skipped: TLS, because {problem}");
                None
            }
        };
        let plain = run::free_address()?;
        let nginx = place.start_nginx(plain, tls).map_err(|problem| format!("bench: nginx: {problem}"))?;
        let bare = run::free_address()?;
        let server = start_bare(place, bare).map_err(|problem| format!("bench: bare server: {problem}"))?;
        Ok(Some(Self { place, plain, tls, bare, _servers: [nginx, server] }))
    }

    /// The cases that are run one after another, each group by itself.
    pub fn groups(&self) -> Vec<super::Group<'_>> {
        let mut groups: Vec<super::Group<'_>> = Vec::new();
        for case in CASES.iter().filter(|case| !case.is_tls || self.tls.is_some()) {
            groups.push(Box::new(|| self.case(case)));
        }
        for case in &BARE {
            groups.push(Box::new(|| self.beside(case, &format!("http://{}/", self.bare))));
        }
        if let Some(valgrind) = shell::find("valgrind") {
            groups.push(Box::new(move || self.instructions(&valgrind)));
        }
        groups.push(Box::new(|| self.origin()));
        for rate in [LOW].into_iter().chain(PACED) {
            groups.push(Box::new(move || self.at_rate(rate)));
        }
        groups.push(Box::new(|| self.idle()));
        groups.push(Box::new(|| self.half_load()));
        groups
    }

    /// Ours, and every other tool that can do this; they do not where ours checks every byte.
    fn case(&self, case: &Case) -> Vec<Sample> {
        let scheme = if case.is_tls { "https" } else { "http" };
        let address = if case.is_tls { self.tls.unwrap_or(self.plain) } else { self.plain };
        self.beside(case, &format!("{scheme}://{address}/{}", case.bytes))
    }

    fn beside(&self, case: &Case, url: &str) -> Vec<Sample> {
        let sample = |tool: &str, result: Result<Figures>| {
            let in_user = result.as_ref().ok().and_then(Figures::user_us_per_request);
            let in_user = in_user.filter(|_| case.bound_user.is_some());
            let in_user = in_user.map(|value| Sample::of_value(&user(case.name, tool), None, Ok(value)));
            [Sample::new(&format!("{}: {tool}", case.name), None, result)].into_iter().chain(in_user)
        };
        let mut samples: Vec<Sample> =
            sample("wringer", self.ours(case, url, &users(case.connections))).collect();
        if case.check == Check::Bytes {
            return samples;
        }
        let seconds = self.place.time.as_secs();
        let pressing = Pressing {
            url,
            connections: case.connections,
            seconds,
            is_short: case.is_short,
            streams: None,
            script: None,
        };
        for peer in PEERS.into_iter().filter(|peer| peer.is_installed() && peer.can(&pressing)) {
            samples.extend(sample(peer.program(), self.place.peer(peer, &pressing)));
        }
        samples
    }

    /// `pace`: the options that say who sends when.
    fn ours(&self, case: &Case, url: &str, pace: &[String]) -> Result<Figures> {
        let mut command = self.http(url, pace);
        command.args(["--duration", &format!("{}s", self.place.time.as_secs())]);
        if case.is_short {
            command.args(["--keep-alive", "1"]);
        }
        if case.is_tls {
            command.args(["--insecure", "--resumption", if case.resumes { "on" } else { "off" }]);
        }
        command.args(["--expect-body", if case.check == Check::Bytes { "same" } else { "same-length" }]);
        self.place.ours(command, &self.place.file("http.json"))
    }

    fn http(&self, url: &str, pace: &[String]) -> Command {
        let mut command = self.place.generator();
        command.args(["http", url, "--threads", "1", "--quiet"]).args(pace);
        command.arg("--evidence-file").arg(self.place.file("evidence.txt"));
        command
    }

    /// Instructions in user space of each request in front of the bare server, by callgrind; by epoll, because valgrind may not
    /// know io_uring.
    fn instructions(&self, valgrind: &Path) -> Vec<Sample> {
        let count = |case: &Case, requests: u32| {
            let mut command = instructions::under_callgrind(valgrind, &self.place.wringer);
            command.args(["http", &format!("http://{}/", self.bare), "--threads=1", "--io=epoll", "--quiet"]);
            command.args(["--no-keep", "-n", &requests.to_string()]);
            command.args(users(case.connections)).arg("--evidence-file").arg(self.place.file("evidence.txt"));
            instructions::counted(command)
        };
        let of_case = |case: &Case| {
            let [few, many] = COUNTED;
            let each = count(case, few)
                .and_then(|less| Ok(count(case, many)?.saturating_sub(less) as f64 / f64::from(many - few)));
            Sample::of_value(&format!("{}: instructions", case.name), Some(BOUND_INSTRUCTIONS), each)
        };
        BARE.iter().map(of_case).collect()
    }

    /// The one case that our origin answers.
    fn origin(&self) -> Vec<Sample> {
        let case = &BESIDE_ORIGIN;
        let origin = run::free_address()
            .and_then(|address| Ok((address, self.place.start_origin(address, case.bytes)?)));
        match origin {
            Ok((address, _server)) => self.beside(case, &format!("http://{address}/w/1f/{}", case.bytes)),
            Err(problem) => vec![Sample::new(&format!("{}: wringer", case.name), None, Err(problem))],
        }
    }

    /// Measures the cost of a request that is sent at a moment of its own, by each way of asking the kernel.
    fn at_rate(&self, rate: u32) -> Vec<Sample> {
        let url = format!("http://{}/", self.bare);
        let by = |io: &str| {
            let pace = [format!("--rate={rate}"), format!("--io={io}")];
            Sample::new(&paced(rate, io), None, self.ours(&KEPT, &url, &pace))
        };
        vec![by("uring"), by("epoll")]
    }

    /// Memory of the generator for each connection of users that mostly think.
    fn idle(&self) -> Vec<Sample> {
        let url = format!("http://{}/{}", self.plain, KEPT.bytes);
        let held = |count: u32| {
            let mut command = self.http(&url, &users(count));
            command.args(["--think", "exp:1s", "--duration", "6s"]);
            let figures = self.place.ours(command, &self.place.file("idle.json"))?;
            figures.memory_bytes.ok_or_else(|| "the report does not tell the memory".to_owned())
        };
        let each = held(FEW).and_then(|few| Ok((held(IDLE)? - few) / f64::from(IDLE - FEW)));
        vec![Sample::of_value("idle connection, bytes", Some(BOUND_IDLE), each)]
    }

    /// How late sends are at half of the rate that the server gives.
    fn half_load(&self) -> Vec<Sample> {
        let url = format!("http://{}/{}", self.plain, KEPT.bytes);
        let most = self.ours(&KEPT, &url, &users(KEPT.connections));
        let late = most.and_then(|figures| {
            let rate = figures.requests_per_s().unwrap_or(2.0) / 2.0;
            let pace = [format!("--rate={rate:.0}"), format!("--in-flight={}", KEPT.connections)];
            let late = self.ours(&KEPT, &url, &pace)?.lateness_us;
            late.ok_or_else(|| "the report does not tell the lateness".to_owned())
        });
        let value = |at: usize| late.clone().map(|late| late[at]);
        vec![
            Sample::of_value("half load, late p50, µs", None, value(0)),
            Sample::of_value("half load, late p99, µs", Some(BOUND_LATENESS[0]), value(1)),
            Sample::of_value("half load, late p99.9, µs", Some(BOUND_LATENESS[1]), value(2)),
        ]
    }
}

/// This program as a server on the core of servers.
pub fn start_bare(place: &Place, address: SocketAddr) -> Result<Server> {
    let program = std::env::current_exe().map_err(|error| format!("this program: {error}"))?;
    let words = [server::COMMAND.to_owned(), address.to_string(), KEPT.bytes.to_string()];
    let mut server = Server::start(&program, place.cores.proxy, &words, place.file("bare-server.log"))?;
    server.await_port(address)?;
    Ok(server)
}

/// As fast as so many users get answers.
fn users(count: u32) -> [String; 1] {
    [format!("--users={count}")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checked_bodies_are_compared_with_tools_that_check_nothing() {
        let wanted = ratios();
        let to = |upper: &str| {
            let mut bounded = wanted.iter().filter(|wanted| wanted.upper == upper && wanted.bound.is_some());
            bounded.next().map(|wanted| (wanted.lower.clone(), wanted.bound.unwrap_or(0.0)))
        };
        assert_eq!(to("1 MB checked: wringer"), Some(("1 MB: wrk".to_owned(), 1.1)));
        assert_eq!(to("TLS: wringer"), Some(("TLS: wrk".to_owned(), 0.72)));
        assert_eq!(to("TLS handshake each: wringer"), Some(("TLS handshake each: ab".to_owned(), 0.33)));
        assert_eq!(
            to("bare server, 64 connections: wringer, user µs"),
            Some(("bare server, 64 connections: wrk, user µs".to_owned(), 0.55))
        );
    }

    #[test]
    fn names_are_told_apart() {
        let mut names: Vec<_> =
            CASES.iter().chain(&BARE).chain([&BESIDE_ORIGIN]).map(|case| case.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), CASES.len() + BARE.len() + 1);
    }
}
