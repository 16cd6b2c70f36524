//! Ours through each proxy, the other tools on the same cached object, and the origin beside nginx.

use std::net::SocketAddr;

use super::peers::{PEERS, Peer, Pressing};
use super::place::Place;
use super::run::{self, Server};
use super::sample::{Figures, Sample};
use crate::{Result, shell};

/// Users, or connections, in every case.
const USERS: u32 = 50;
const BODY_BYTES: usize = 1000;
/// The proxies, by the names of their rigs, with the program that shows that one is installed. The first is the one that
/// has bounds, and that the other tools press.
const PROXIES: [(&str, &str); 4] =
    [("ats", "traffic_server"), ("nginx", "nginx"), ("varnish", "varnishd"), ("haproxy", "haproxy")];

/// The most µs of CPU per request, through ATS on one event thread.
const BOUND_JTEST_HITS: f64 = 5.0;
const BOUND_JTEST_MIX: f64 = 18.0;

/// The proxies, which stay up over the rounds.
pub struct Proxies<'a> {
    place: &'a Place,
    proxies: Vec<Proxy>,
}

struct Proxy {
    name: &'static str,
    address: SocketAddr,
    origin: SocketAddr,
    server: Server,
}

impl<'a> Proxies<'a> {
    /// Starts those that are installed, and fills their caches.
    pub fn start(place: &'a Place) -> Result<Self> {
        let mut bench = Self { place, proxies: Vec::new() };
        for (name, program) in PROXIES {
            if shell::find(program).is_none() {
                println!("skipped: {name} is not installed (cargo xtask setup)");
                continue;
            }
            let proxy =
                bench.start_proxy(name).map_err(|problem| format!("bench: the rig {name}: {problem}"))?;
            bench.proxies.push(proxy);
        }
        bench.warm_up();
        Ok(bench)
    }

    fn start_proxy(&self, name: &'static str) -> Result<Proxy> {
        let origin = run::free_address()?;
        let arguments =
            ["rig", name, "--listen", "127.0.0.1:0", "--origin", &origin.to_string()].map(str::to_owned);
        let mut server = Server::start(
            &self.place.wringer,
            self.place.cores.proxy,
            &arguments,
            self.place.file(&format!("{name}.log")),
        )?;
        let address = server.await_ready(listens_on)?;
        Ok(Proxy { name, address, origin, server })
    }

    /// Failures show again, and are told, when it counts.
    fn warm_up(&self) {
        eprintln!("bench: warm-up");
        for proxy in &self.proxies {
            drop(self.native_hits(proxy));
        }
        if let Some(ats) = self.ats() {
            drop(self.jtest_hits(ats));
        }
    }

    fn ats(&self) -> Option<&Proxy> {
        self.proxies.first().filter(|proxy| proxy.name == "ats")
    }

    /// The cases that are run one after another, each group by itself.
    pub fn groups(&self) -> Vec<super::Group<'_>> {
        let mut groups: Vec<super::Group<'_>> = Vec::new();
        for proxy in &self.proxies {
            groups.push(Box::new(|| self.ours(proxy)));
        }
        if let Some(ats) = self.ats() {
            groups.push(Box::new(|| self.peers(ats)));
        }
        groups.push(Box::new(|| self.origins()));
        groups
    }

    fn ours(&self, proxy: &Proxy) -> Vec<Sample> {
        let mut samples = Vec::new();
        let name = proxy.name;
        if name == "ats" {
            samples.push(Sample::new("jtest hits ats", Some(BOUND_JTEST_HITS), self.jtest_hits(proxy)));
            samples.push(Sample::new("jtest mix ats", Some(BOUND_JTEST_MIX), self.jtest_mix(proxy)));
        }
        samples.push(Sample::new(&format!("cache hits {name}"), None, self.native_hits(proxy)));
        samples.push(Sample::new(&format!("cache mix {name}"), None, self.native_mix(proxy)));
        for sample in &mut samples {
            if let Err(problem) = &mut sample.value {
                // What the proxy has to say of it, such as its own end.
                *problem += &format!("; the rig said: {}", proxy.server.last_lines());
            }
        }
        samples
    }

    /// RAM hits of 1000 bytes by jtest's command line.
    fn jtest_hits(&self, proxy: &Proxy) -> Result<Figures> {
        self.jtest(proxy, &["-k", "100", "-z", "1", "-Z", "100", "-L", "1000"])
    }

    fn jtest_mix(&self, proxy: &Proxy) -> Result<Figures> {
        self.jtest(proxy, &["-D", &(self.place.next_seed() % 1_000_000_000).to_string()])
    }

    fn jtest(&self, proxy: &Proxy, more: &[&str]) -> Result<Figures> {
        let json = self.place.file("jtest.json");
        let mut command = self.place.generator();
        command.args([
            "jtest",
            "-P",
            "127.0.0.1",
            "-S",
            "localhost",
            "-c",
            &USERS.to_string(),
            "-C",
            "--threads",
            "1",
        ]);
        command.args(["-p", &proxy.address.port().to_string(), "-s", &proxy.origin.port().to_string()]);
        command.args(["-t", &self.place.time.as_secs().to_string()]).args(more);
        self.place.ours(command, &json)
    }

    fn native_hits(&self, proxy: &Proxy) -> Result<Figures> {
        self.native(proxy, &["--hit-ratio", "1", "--hot", "100", "--size", "1000", "--seed", "1"])
    }

    fn native_mix(&self, proxy: &Proxy) -> Result<Figures> {
        self.native(proxy, &["--seed", &self.place.next_seed().to_string()])
    }

    fn native(&self, proxy: &Proxy, more: &[&str]) -> Result<Figures> {
        let json = self.place.file("cache.json");
        let mut command = self.place.generator();
        command.args(["cache", &proxy.address.to_string(), "--origin", &proxy.origin.to_string()]);
        command.args([
            "--users",
            &USERS.to_string(),
            "--threads",
            "1",
            "--check",
            "all",
            "--quiet",
            "--duration",
        ]);
        command
            .arg(format!("{}s", self.place.time.as_secs()))
            .arg("--evidence-file")
            .arg(self.place.file("evidence.txt"));
        command.args(more);
        self.place.ours(command, &json)
    }

    /// Each other tool that is installed, on one object that the cache holds.
    fn peers(&self, ats: &Proxy) -> Vec<Sample> {
        let url = format!("http://{}/w/1f/{BODY_BYTES}", ats.address);
        // The origin stays behind the proxy, should it want to ask again.
        let origin = self.place.start_origin(ats.origin, BODY_BYTES);
        let run = |peer: &Peer| match &origin {
            Ok(_) => self.place.peer(*peer, &self.pressing(&url)),
            Err(problem) => Err(format!("its origin: {problem}")),
        };
        let installed = PEERS.iter().filter(|peer| peer.is_installed());
        installed.map(|peer| Sample::new(&format!("peer {}", peer.program()), None, run(peer))).collect()
    }

    fn pressing<'u>(&self, url: &'u str) -> Pressing<'u> {
        Pressing {
            url,
            connections: USERS,
            seconds: self.place.time.as_secs(),
            is_short: false,
            streams: None,
            script: None,
        }
    }

    /// The same client against our origin and against nginx with a file: here the server's CPU time counts.
    fn origins(&self) -> Vec<Sample> {
        if shell::find("wrk").is_none() {
            return Vec::new();
        }
        let mut samples = vec![Sample::new("server origin", None, self.serve_origin())];
        if shell::find("nginx").is_some() {
            samples.push(Sample::new("server nginx", None, self.serve_nginx()));
        }
        samples
    }

    fn serve_origin(&self) -> Result<Figures> {
        let address = run::free_address()?;
        let server = self.place.start_origin(address, BODY_BYTES)?;
        self.press_server(&server, &format!("http://{address}/w/1f/{BODY_BYTES}"))
    }

    fn serve_nginx(&self) -> Result<Figures> {
        let address = run::free_address()?;
        let body = self.place.file("body");
        std::fs::write(&body, [b'x'; BODY_BYTES]).map_err(|error| format!("{}: {error}", body.display()))?;
        let server = self.place.start_nginx(address, None)?;
        self.press_server(&server, &format!("http://{address}/body"))
    }

    fn press_server(&self, server: &Server, url: &str) -> Result<Figures> {
        self.place.served(server, Peer::Wrk, &self.pressing(url))
    }
}

/// `… listens on 127.0.0.1:8080 in front of …`
fn listens_on(said: &str) -> Option<SocketAddr> {
    let (_, rest) = said.split_once(" listens on ")?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_rig_says() {
        let said = "nginx 1.22.1 listens on 127.0.0.1:8080 in front of 127.0.0.1:9080, memory 256 MiB\n";
        assert_eq!(listens_on(said), "127.0.0.1:8080".parse().ok());
        assert_eq!(listens_on("nginx"), None);
    }
}
