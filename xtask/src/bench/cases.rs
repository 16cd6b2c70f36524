//! What is measured: ours through each proxy, the other tools on the same cached object, and the origin beside nginx.

use std::cell::Cell;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

use super::measure;
use super::run::{self, Cores, Ended, Server};
use crate::{Result, shell};

/// Users, or connections, in every case.
const USERS: &str = "50";
const BODY_BYTES: usize = 1000;
/// The proxies, by the names of their rigs, with the program that shows that one is installed. The first is that of the
/// issue's bounds, and the one that the other tools press.
const PROXIES: [(&str, &str); 4] =
    [("ats", "traffic_server"), ("nginx", "nginx"), ("varnish", "varnishd"), ("haproxy", "haproxy")];

/// Bounds of issue 2, in µs of CPU per request, through ATS on one event thread.
const BOUND_JTEST_HITS: f64 = 5.0;
const BOUND_JTEST_MIX: f64 = 20.0;

/// Other load testers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Peer {
    Ab,
    Wrk,
    H2load,
    Hey,
    Siege,
}

const PEERS: [Peer; 5] = [Peer::Ab, Peer::Wrk, Peer::H2load, Peer::Hey, Peer::Siege];

/// What one case gave in one round.
#[derive(Debug)]
pub struct Sample {
    pub case: String,
    /// The most µs that the median may be.
    pub bound_us: Option<f64>,
    pub result: Result<Figures>,
}

/// CPU time and what was done with it.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    pub cpu: Duration,
    pub requests: u64,
    /// Requests that got no good answer.
    pub failed: u64,
    pub hit_ratio: Option<f64>,
}

impl Figures {
    pub fn cpu_us_per_request(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.requests as f64
    }
}

/// All that stays up over the rounds.
pub struct Bench {
    wringer: PathBuf,
    cores: Cores,
    time: Duration,
    folder: TempDir,
    proxies: Vec<Proxy>,
    /// Gives each run a seed of its own, so that objects that are never asked for again are not, in a later run.
    seed: Cell<u64>,
}

struct Proxy {
    name: &'static str,
    address: SocketAddr,
    origin: SocketAddr,
    server: Server,
}

impl Bench {
    /// Starts the proxies that are installed, and fills their caches.
    pub fn start(wringer: PathBuf, time: Duration) -> Result<Self> {
        let cores = Cores::choose();
        let folder = tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))?;
        let mut bench =
            Self { wringer, cores, time, folder, proxies: Vec::new(), seed: Cell::new(seed_from_clock()) };
        for (name, program) in PROXIES {
            if shell::find(program).is_none() {
                println!("skipped: {name} is not installed (cargo xtask setup)");
                continue;
            }
            let proxy =
                bench.start_proxy(name).map_err(|problem| format!("bench: the rig {name}: {problem}"))?;
            bench.proxies.push(proxy);
        }
        for peer in PEERS.iter().filter(|peer| shell::find(peer.program()).is_none()) {
            println!("skipped: {} is not installed (cargo xtask setup --bench)", peer.program());
        }
        bench.warm_up();
        Ok(bench)
    }

    fn start_proxy(&self, name: &'static str) -> Result<Proxy> {
        let origin = run::free_address()?;
        let arguments =
            ["rig", name, "--listen", "127.0.0.1:0", "--origin", &origin.to_string()].map(str::to_owned);
        let mut server =
            Server::start(&self.wringer, self.cores.proxy, &arguments, self.file(&format!("{name}.log")))?;
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

    /// Every case once; every second round in the opposite order, so that a drift of the machine favours nobody.
    pub fn round(&self, number: u32) -> Vec<Sample> {
        let mut groups: Vec<Box<dyn Fn() -> Vec<Sample> + '_>> = Vec::new();
        for proxy in &self.proxies {
            groups.push(Box::new(|| self.ours(proxy)));
        }
        if let Some(ats) = self.ats() {
            groups.push(Box::new(|| self.peers(ats)));
        }
        groups.push(Box::new(|| self.origins()));
        if number % 2 == 1 {
            groups.reverse();
        }
        let samples: Vec<Sample> = groups.iter().flat_map(|group| group()).collect();
        for sample in &samples {
            if let Err(problem) = &sample.result {
                eprintln!("bench: {} failed: {problem}", sample.case);
            }
        }
        samples
    }

    fn ours(&self, proxy: &Proxy) -> Vec<Sample> {
        let mut samples = Vec::new();
        let name = proxy.name;
        if name == "ats" {
            samples.push(sample("jtest hits ats", Some(BOUND_JTEST_HITS), self.jtest_hits(proxy)));
            samples.push(sample("jtest mix ats", Some(BOUND_JTEST_MIX), self.jtest_mix(proxy)));
        }
        samples.push(sample(&format!("cache hits {name}"), None, self.native_hits(proxy)));
        samples.push(sample(&format!("cache mix {name}"), None, self.native_mix(proxy)));
        for sample in &mut samples {
            // What the proxy has to say of it, such as its own end.
            sample.result = std::mem::replace(&mut sample.result, Err(String::new()))
                .map_err(|problem| format!("{problem}; the rig said: {}", proxy.server.last_lines()));
        }
        samples
    }

    /// RAM hits of 1000 bytes by jtest's command line, as in the issue.
    fn jtest_hits(&self, proxy: &Proxy) -> Result<Figures> {
        self.jtest(proxy, &["-k", "100", "-z", "1", "-Z", "100", "-L", "1000"])
    }

    fn jtest_mix(&self, proxy: &Proxy) -> Result<Figures> {
        self.jtest(proxy, &["-D", &(self.next_seed() % 1_000_000_000).to_string()])
    }

    fn jtest(&self, proxy: &Proxy, more: &[&str]) -> Result<Figures> {
        let json = self.file("jtest.json");
        let mut command = run::pinned(&self.wringer, self.cores.generator);
        command.args(["jtest", "-P", "127.0.0.1", "-S", "localhost", "-c", USERS, "-C", "--threads", "1"]);
        command.args(["-p", &proxy.address.port().to_string(), "-s", &proxy.origin.port().to_string()]);
        command.args(["-t", &self.time.as_secs().to_string(), "--json"]).arg(&json).args(more);
        self.ours_to_the_end(command, &json)
    }

    fn native_hits(&self, proxy: &Proxy) -> Result<Figures> {
        self.native(proxy, &["--hit-ratio", "1", "--hot", "100", "--size", "1000", "--seed", "1"])
    }

    fn native_mix(&self, proxy: &Proxy) -> Result<Figures> {
        self.native(proxy, &["--seed", &self.next_seed().to_string()])
    }

    fn native(&self, proxy: &Proxy, more: &[&str]) -> Result<Figures> {
        let json = self.file("cache.json");
        let mut command = run::pinned(&self.wringer, self.cores.generator);
        command.args(["cache", &proxy.address.to_string(), "--origin", &proxy.origin.to_string()]);
        command.args(["--users", USERS, "--threads", "1", "--check", "all", "--quiet", "--duration"]);
        command
            .arg(format!("{}s", self.time.as_secs()))
            .arg("--evidence-file")
            .arg(self.file("evidence.txt"));
        command.arg("--json").arg(&json).args(more);
        self.ours_to_the_end(command, &json)
    }

    /// A run that found faults (exit code 3) still has a CPU time; its faults are counted.
    fn ours_to_the_end(&self, command: Command, json: &Path) -> Result<Figures> {
        let ended = self.to_the_end(command, &[0, 3])?;
        let text = fs::read_to_string(json)
            .map_err(|error| format!("{} cannot be read: {error}", json.display()))?;
        let figures =
            figures_of_run(&text, ended.cpu).ok_or_else(|| format!("{} lacks figures", json.display()))?;
        believable(figures)
    }

    /// Each other tool that is installed, on one object that the cache holds.
    fn peers(&self, ats: &Proxy) -> Vec<Sample> {
        let installed: Vec<Peer> =
            PEERS.into_iter().filter(|peer| shell::find(peer.program()).is_some()).collect();
        let url = format!("http://{}/w/1f/{BODY_BYTES}", ats.address);
        // The origin stays behind the proxy, should it want to ask again.
        let origin = self.start_origin(ats.origin, self.cores.proxy);
        let run = |peer: &Peer| match &origin {
            Ok(_) => self.peer(*peer, &url),
            Err(problem) => Err(format!("its origin: {problem}")),
        };
        installed.iter().map(|peer| sample(&format!("peer {}", peer.program()), None, run(peer))).collect()
    }

    fn peer(&self, peer: Peer, url: &str) -> Result<Figures> {
        let program = shell::find(peer.program()).ok_or("it is not installed")?;
        let mut command = run::pinned(&program, self.cores.generator);
        command.args(peer.arguments(self.time, url)).env("HOME", self.folder.path());
        if peer == Peer::Siege {
            let settings = self.file("siegerc");
            fs::write(&settings, SIEGE_SETTINGS)
                .map_err(|error| format!("{}: {error}", settings.display()))?;
            command.arg("--rc").arg(settings).arg(url);
        }
        let ended = self.to_the_end(command, &[0])?;
        let requests = peer
            .requests(&ended.said)
            .ok_or_else(|| format!("its output is not understood: {}", ended.said))?;
        believable(Figures { cpu: ended.cpu, requests, failed: 0, hit_ratio: None })
    }

    /// The same client against our origin and against nginx with a file: here the server's CPU time counts.
    fn origins(&self) -> Vec<Sample> {
        if shell::find("wrk").is_none() {
            return Vec::new();
        }
        let mut samples = vec![sample("server origin", None, self.serve_origin())];
        if shell::find("nginx").is_some() {
            samples.push(sample("server nginx", None, self.serve_nginx()));
        }
        samples
    }

    fn serve_origin(&self) -> Result<Figures> {
        let address = run::free_address()?;
        let server = self.start_origin(address, self.cores.proxy)?;
        self.press_server(&server, &format!("http://{address}/w/1f/{BODY_BYTES}"))
    }

    fn serve_nginx(&self) -> Result<Figures> {
        let address = run::free_address()?;
        let folder = self.folder.path();
        let cannot = |error: std::io::Error| format!("{}: {error}", folder.display());
        fs::write(folder.join("body"), [b'x'; BODY_BYTES]).map_err(cannot)?;
        fs::write(folder.join("nginx.conf"), nginx_settings(folder, address)).map_err(cannot)?;
        let program = shell::find("nginx").ok_or("it is not installed")?;
        let arguments = ["-p", ".", "-e", "stderr", "-c"].map(str::to_owned).into_iter();
        let arguments: Vec<_> = arguments.chain([folder.join("nginx.conf").display().to_string()]).collect();
        let mut server =
            Server::start(&program, self.cores.proxy, &arguments, self.file("nginx-static.log"))?;
        server.await_port(address)?;
        self.press_server(&server, &format!("http://{address}/body"))
    }

    fn press_server(&self, server: &Server, url: &str) -> Result<Figures> {
        let before = measure::running(server.process())?;
        let pressed = self.peer(Peer::Wrk, url)?;
        let cpu = measure::running(server.process())?.saturating_sub(before);
        Ok(Figures { cpu, ..pressed })
    }

    fn start_origin(&self, address: SocketAddr, core: Option<usize>) -> Result<Server> {
        let arguments = ["origin", "--listen", &address.to_string(), "--threads", "1", "--size", "1000"]
            .map(str::to_owned);
        let mut server = Server::start(&self.wringer, core, &arguments, self.file("origin.log"))?;
        server.await_port(address)?;
        Ok(server)
    }

    fn to_the_end(&self, command: Command, fine: &[i32]) -> Result<Ended> {
        run::to_the_end(command, self.time * 3 + Duration::from_secs(30), &self.file("run.log"), fine)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn next_seed(&self) -> u64 {
        self.seed.set(self.seed.get() + 1);
        self.seed.get()
    }
}

fn sample(case: &str, bound_us: Option<f64>, result: Result<Figures>) -> Sample {
    Sample { case: case.to_owned(), bound_us, result }
}

fn seed_from_clock() -> u64 {
    std::time::UNIX_EPOCH.elapsed().map_or(1, |since| since.as_secs())
}

/// `… listens on 127.0.0.1:8080 in front of …`
fn listens_on(said: &str) -> Option<SocketAddr> {
    let (_, rest) = said.split_once(" listens on ")?;
    rest.split_whitespace().next()?.parse().ok()
}

/// From the JSON report of `wringer cache` and `wringer jtest`.
fn figures_of_run(text: &str, cpu: Duration) -> Option<Figures> {
    let run: serde_json::Value = serde_json::from_str(text).ok()?;
    let (counts, cache) = (&run["measured"]["counts"], &run["measured"]["cache"]);
    let failed = counts["failed"].as_u64()? + counts["faulty"].as_u64()?;
    Some(Figures { cpu, requests: counts["ended"].as_u64()?, failed, hit_ratio: cache["hit_ratio"].as_f64() })
}

/// A run in which much went wrong measures something else.
fn believable(figures: Figures) -> Result<Figures> {
    if figures.requests == 0 {
        return Err("no request was answered".into());
    }
    if figures.failed * 100 > figures.requests {
        return Err(format!("{} of {} requests went wrong", figures.failed, figures.requests));
    }
    Ok(figures)
}

/// Keep-alive, and no screen output for each request: the cheapest way that siege has.
const SIEGE_SETTINGS: &str = "verbose = false\nquiet = true\nlogging = false\nlimit = 255\nprotocol = HTTP/1.1\n\
    connection = keep-alive\nbenchmark = true\nparser = false\njson_output = true\n";

/// One process without a log, as cheap as nginx can be.
fn nginx_settings(folder: &Path, address: SocketAddr) -> String {
    let folder = folder.display();
    format!(
        "daemon off;\nmaster_process off;\npid {folder}/nginx.pid;\nerror_log stderr;\n\
         events {{ worker_connections 1024; }}\n\
         http {{\n  access_log off;\n  sendfile on;\n  tcp_nopush on;\n  keepalive_requests 1000000000;\n  \
         open_file_cache max=16;\n  client_body_temp_path {folder}/t1;\n  proxy_temp_path {folder}/t2;\n  \
         fastcgi_temp_path {folder}/t3;\n  uwsgi_temp_path {folder}/t4;\n  scgi_temp_path {folder}/t5;\n  \
         server {{ listen {address}; root {folder}; }}\n}}\n"
    )
}

impl Peer {
    fn program(self) -> &'static str {
        match self {
            Self::Ab => "ab",
            Self::Wrk => "wrk",
            Self::H2load => "h2load",
            Self::Hey => "hey",
            Self::Siege => "siege",
        }
    }

    /// 50 connections that are kept, one thread where there is a choice.
    fn arguments(self, time: Duration, url: &str) -> Vec<String> {
        let seconds = time.as_secs();
        let line = match self {
            // Without a number, -t stands for 50000 requests at most.
            Self::Ab => format!("-k -q -c {USERS} -t {seconds} -n {} {url}", seconds * 200_000),
            Self::Wrk => format!("-t 1 -c {USERS} -d {seconds}s {url}"),
            Self::H2load => format!("--h1 -t 1 -c {USERS} -D {seconds} {url}"),
            Self::Hey => format!("-cpus 1 -c {USERS} -z {seconds}s {url}"),
            Self::Siege => format!("-b -c {USERS} -t {seconds}S"),
        };
        line.split_whitespace().map(str::to_owned).collect()
    }

    /// How many requests were answered, by what it printed.
    fn requests(self, said: &str) -> Option<u64> {
        match self {
            Self::Ab => number_after(said, "Complete requests:"),
            Self::Wrk => number_before(said, " requests in "),
            Self::H2load => number_before(said, " succeeded"),
            Self::Hey => number_after(said, "[200]"),
            Self::Siege => {
                number_after(said, "\"transactions\":").or_else(|| number_after(said, "Transactions:"))
            }
        }
    }
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
        check(Peer::Siege, "{\t\"transactions\":\t\t\t       12345,\n\t\"availability\": 100.00");
        check(Peer::Siege, "Transactions:\t\t       12345 hits\n");
        assert_eq!(Peer::Hey.requests("Error distribution:\n"), None);
    }

    #[test]
    fn what_a_rig_says() {
        let said = "nginx 1.22.1 listens on 127.0.0.1:8080 in front of 127.0.0.1:9080, memory 256 MiB\n";
        assert_eq!(listens_on(said), "127.0.0.1:8080".parse().ok());
        assert_eq!(listens_on("nginx"), None);
    }

    #[test]
    fn figures_of_a_report() {
        let text = r#"{"measured": {"counts": {"ended": 400, "failed": 1, "faulty": 2}, "cache": {"hit_ratio": null}}}"#;
        let figures = figures_of_run(text, Duration::from_millis(2)).expect("figures");
        assert_eq!((figures.requests, figures.failed, figures.hit_ratio), (400, 3, None));
        assert!((figures.cpu_us_per_request() - 5.0).abs() < 1e-9);
        assert!(believable(figures).is_ok());
        assert!(believable(Figures { failed: 5, ..figures }).is_err());
        assert!(believable(Figures { requests: 0, failed: 0, ..figures }).is_err());
    }
}
