//! HTTP/2 and HTTP/3: `wringer http` beside h2load in front of the same nghttpd, beside oha over HTTP/3, and by itself in front of nginx
//! and our origin; our origin beside nginx, both pressed by h2load.

use std::fs;
use std::net::SocketAddr;

use super::engine::Wanted;
use super::peers::{Peer, Pressing};
use super::place::Place;
use super::run::{self, Server};
use super::sample::{Figures, Sample};
use crate::{Result, shell};

/// Bytes of each answer's body, where a case does not say.
const SMALL: usize = 128;

/// Connections, requests under way on each, and the most that our cost may be of h2load's.
struct Case {
    connections: u32,
    streams: u32,
    bytes: usize,
    is_tls: bool,
    bound: f64,
}

const MANY: Case = Case { connections: 64, streams: 10, bytes: SMALL, is_tls: false, bound: 0.6 };

const CASES: [Case; 6] = [
    Case { streams: 1, bound: 0.65, ..MANY },
    MANY,
    Case { connections: 16, streams: 100, bound: 0.55, ..MANY },
    Case { is_tls: true, ..MANY },
    Case { connections: 16, bytes: 65_536, bound: 0.7, ..MANY },
    Case { connections: 16, bytes: 1 << 20, bound: 0.7, ..MANY },
];

/// Requests after which nginx takes its leave (GOAWAY), and the most that a request may cost beside one of a connection that stays.
const EACH: &str = "1000";
const BOUND_GOAWAY: f64 = 1.02;
/// The most that a request may cost our origin beside nginx.
const BOUND_ORIGIN: f64 = 0.8;
/// The most that a request over HTTP/3 may cost beside oha, where that is installed with HTTP/3 (`cargo install oha --locked --features
/// http3`).
const BOUND_OHA: f64 = 1.0 / 3.0;
/// Bytes of user memory that an idle connection may take.
const BOUND_IDLE: [(&str, f64); 3] = [("2c", 4096.0), ("2", 4096.0), ("3", 61_440.0)];
/// Mostly idle connections.
const IDLE: u32 = 2000;
const FEW: u32 = 100;

impl Case {
    fn name(&self) -> String {
        let tls = if self.is_tls { " over TLS" } else { "" };
        let bytes = match self.bytes {
            SMALL => String::new(),
            bytes => format!(", {} kB", bytes >> 10),
        };
        format!("HTTP/2{tls}, {} × {}{bytes}", self.connections, self.streams)
    }

    fn row(&self, tool: &str) -> String {
        format!("{}: {tool}", self.name())
    }
}

/// Rows of our client in front of our origin: the options that tell them apart.
const BEFORE_ORIGIN: [(&str, &str); 6] = [
    ("HTTP/2 over TLS, 16 × 100, our origin", "--http 2 --users 1600 --streams 100"),
    ("HTTP/3, 16 × 100, our origin", "--http 3 --users 1600 --streams 100"),
    ("HTTP/3 lab, 16 × 100, our origin", "--http 3 --users 1600 --streams 100 --quic lab"),
    ("HTTP/2 handshake each, our origin", "--http 2 --users 16 --keep-alive 1 --resumption off"),
    ("HTTP/3 handshake each, our origin", "--http 3 --users 16 --keep-alive 1 --resumption off"),
    ("HTTP/3 resumed each, our origin", "--http 3 --users 16 --keep-alive 1 --resumption on"),
];

/// Which of them is HTTP/3's, without more.
const HTTP3: usize = 1;

fn before_origin(nth: usize, tool: &str) -> String {
    format!("{}: {tool}", BEFORE_ORIGIN[nth].0)
}

fn goaway(requests: &str) -> String {
    format!("HTTP/2, nginx, GOAWAY after {requests}: wringer")
}

fn served_by(server: &str) -> String {
    format!("HTTP/2 server, 64 × 10: {server}")
}

/// The ratios of all cases.
pub fn ratios() -> Vec<Wanted> {
    let ratio = |case: &Case| Wanted {
        upper: case.row("wringer"),
        lower: case.row(Peer::H2load.program()),
        bound: Some(case.bound),
    };
    let of = |upper: String, lower: String, bound| Wanted { upper, lower, bound };
    let before = |upper: usize, lower: usize| {
        of(before_origin(upper, "wringer"), before_origin(lower, "wringer"), None)
    };
    let others = [
        of(goaway(EACH), goaway("never"), Some(BOUND_GOAWAY)),
        of(served_by("origin"), served_by("nginx"), Some(BOUND_ORIGIN)),
        of(before_origin(HTTP3, "wringer"), before_origin(HTTP3, Peer::Oha.program()), Some(BOUND_OHA)),
        before(HTTP3, 0),
        before(2, 0),
        before(4, 3),
        before(5, 4),
    ];
    CASES.iter().map(ratio).chain(others).collect()
}

/// The servers, which stay up over the rounds.
pub struct Http2<'a> {
    place: &'a Place,
    clear: SocketAddr,
    tls: SocketAddr,
    /// nginx over HTTP/2, that stays and that leaves.
    nginx: [SocketAddr; 2],
    /// Our origin, over TLS and QUIC.
    origin: SocketAddr,
    servers: Vec<Server>,
}

impl<'a> Http2<'a> {
    /// Starts nghttpd, nginx and our origin; None where one of them or h2load is not installed.
    pub fn start(place: &'a Place) -> Result<Option<Self>> {
        for program in ["nghttpd", "h2load", "nginx", "openssl"] {
            if shell::find(program).is_none() {
                println!(
                    "skipped: {program} is not installed, which HTTP/2's cases need (cargo xtask setup)"
                );
                return Ok(None);
            }
        }
        if !Peer::Oha.is_installed() {
            println!("skipped: oha is not installed (cargo install oha --locked --features http3)");
        }
        place.make_certificate()?;
        for case in &CASES {
            let file = place.file(&case.bytes.to_string());
            fs::write(&file, vec![b'x'; case.bytes])
                .map_err(|error| format!("{}: {error}", file.display()))?;
        }
        let mut free = [SocketAddr::from(([127, 0, 0, 1], 0)); 5];
        for address in &mut free {
            *address = run::free_address()?;
        }
        let [clear, tls, stays, leaves, origin] = free;
        let servers = vec![
            nghttpd(place, clear, false)?,
            nghttpd(place, tls, true)?,
            place.start_nginx_with("nginx-http2", &nginx_settings(place, [stays, leaves]), stays)?,
            place.start_origin_with(origin, &format!("--http 3 --size {SMALL}"))?,
        ];
        Ok(Some(Self { place, clear, tls, nginx: [stays, leaves], origin, servers }))
    }

    /// The cases, each by itself.
    pub fn groups(&self) -> Vec<super::Group<'_>> {
        let mut groups: Vec<super::Group<'_>> = Vec::new();
        groups.extend(CASES.iter().map(|case| Box::new(|| self.case(case)) as super::Group<'_>));
        groups.push(Box::new(|| self.goaways()));
        groups.push(Box::new(|| self.serving()));
        let before = |nth: usize| Box::new(move || self.before_origin(nth)) as super::Group<'_>;
        groups.extend((0..BEFORE_ORIGIN.len()).map(before));
        groups.push(Box::new(|| BOUND_IDLE.iter().map(|idle| self.idle(idle)).collect()));
        groups
    }

    fn case(&self, case: &Case) -> Vec<Sample> {
        let (scheme, at) = if case.is_tls { ("https", self.tls) } else { ("http", self.clear) };
        let url = format!("{scheme}://{at}/{}", case.bytes);
        let ours = self.ours(&url, case, "");
        let theirs = self.place.peer(Peer::H2load, &self.pressing(&url, case));
        let of_tool = |tool: &str, figures| Sample::new(&case.row(tool), None, figures);
        vec![of_tool("wringer", ours), of_tool(Peer::H2load.program(), theirs)]
    }

    fn pressing<'b>(&self, url: &'b str, case: &Case) -> Pressing<'b> {
        Pressing {
            url,
            connections: case.connections,
            seconds: self.place.time.as_secs(),
            is_short: false,
            streams: Some(case.streams),
            script: None,
        }
    }

    fn ours(&self, url: &str, case: &Case, more: &str) -> Result<Figures> {
        let version = if case.is_tls { "2 --insecure" } else { "2c" };
        let users = case.connections * case.streams;
        self.press(url, &format!("--http {version} --streams {} --users {users} {more}", case.streams))
    }

    /// `options`: what is not the same in all cases.
    fn press(&self, url: &str, options: &str) -> Result<Figures> {
        let mut command = self.place.generator();
        let seconds = self.place.time.as_secs();
        let line = format!("http {url} {options} --threads 1 --quiet --no-keep");
        command.args(line.split_whitespace());
        if !options.contains("--duration") {
            command.args(["--duration", &format!("{seconds}s")]);
        }
        self.place.ours(command, &self.place.file("http2.json"))
    }

    /// A server that takes its leave now and then, beside one that does not.
    fn goaways(&self) -> Vec<Sample> {
        let of = |at: SocketAddr, after: &str| {
            let figures = self.ours(&format!("http://{at}/{SMALL}"), &MANY, "");
            let whole = |figures: Figures| match figures.failed {
                0 => Ok(figures),
                failed => Err(format!("{failed} requests failed, and none may")),
            };
            Sample::new(&goaway(after), None, figures.and_then(whole))
        };
        vec![of(self.nginx[0], "never"), of(self.nginx[1], EACH)]
    }

    /// Measures the cost of a request to the server.
    fn serving(&self) -> Vec<Sample> {
        let origin = || {
            let address = run::free_address()?;
            let server = self.place.start_origin(address, SMALL)?;
            let url = format!("http://{address}/w/1f/{SMALL}");
            self.place.served(&server, Peer::H2load, &self.pressing(&url, &MANY))
        };
        let nginx = || {
            let url = format!("http://{}/{SMALL}", self.nginx[0]);
            self.place.served(&self.servers[2], Peer::H2load, &self.pressing(&url, &MANY))
        };
        vec![
            Sample::new(&served_by("origin"), None, origin()),
            Sample::new(&served_by("nginx"), None, nginx()),
        ]
    }

    fn before_origin(&self, nth: usize) -> Vec<Sample> {
        let url = format!("https://{}/w/1f/{SMALL}", self.origin);
        let ours = self.press(&url, &format!("{} --insecure", BEFORE_ORIGIN[nth].1));
        let mut samples = vec![Sample::new(&before_origin(nth, "wringer"), None, ours)];
        if nth == HTTP3 && Peer::Oha.is_installed() {
            let pressing = self.pressing(&url, &Case { connections: 16, streams: 100, ..MANY });
            let theirs = self.place.peer(Peer::Oha, &pressing);
            samples.push(Sample::new(&before_origin(nth, Peer::Oha.program()), None, theirs));
        }
        samples
    }

    /// Memory of the generator for each connection of users that mostly think.
    fn idle(&self, (version, bound): &(&str, f64)) -> Sample {
        let url = match *version {
            "2c" => format!("http://{}/{SMALL}", self.clear),
            _ => format!("https://{}/w/1f/{SMALL}", self.origin),
        };
        let held = |users: u32| {
            let options = format!("--http {version} --insecure --users {users} --think exp:1s --duration 6s");
            let figures = self.press(&url, &options)?;
            figures.memory_bytes.ok_or_else(|| "the report does not tell the memory".to_owned())
        };
        let each = held(FEW).and_then(|few| Ok((held(IDLE)? - few) / f64::from(IDLE - FEW)));
        Sample::of_value(&format!("idle connection over HTTP/{version}, bytes"), Some(*bound), each)
    }
}

fn nghttpd(place: &Place, at: SocketAddr, is_tls: bool) -> Result<Server> {
    let program = shell::find("nghttpd").ok_or("it is not installed")?;
    let folder = place.folder().display();
    let line = format!("--address={} -m 256 -d {folder}", at.ip());
    let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    match is_tls {
        true => {
            words.extend([at.port().to_string(), format!("{folder}/tls.key"), format!("{folder}/tls.crt")])
        }
        false => words.extend(["--no-tls".to_owned(), at.port().to_string()]),
    }
    let log = place.file(if is_tls { "nghttpd-tls.log" } else { "nghttpd.log" });
    let mut server = Server::start(&program, place.cores.proxy, &words, log)?;
    server.await_port(at)?;
    Ok(server)
}

/// HTTP/2 by prior knowledge at two ports: at the second one each connection carries [`EACH`] requests.
fn nginx_settings(place: &Place, [stays, leaves]: [SocketAddr; 2]) -> String {
    let folder = place.folder().display();
    let server = |at: SocketAddr, requests: &str| {
        format!(
            "server {{ listen {at} http2 backlog=4096; root {folder}; keepalive_requests {requests}; }}\n  "
        )
    };
    let paths: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("{name}_temp_path {folder}/http2-{name};\n  "))
        .concat();
    format!(
        "daemon off;\nmaster_process off;\npid {folder}/nginx-http2.pid;\nerror_log stderr;\nworker_rlimit_nofile 40000;\n\
         events {{ worker_connections 20000; }}\nhttp {{\n  access_log off;\n  sendfile on;\n  open_file_cache max=16;\n  \
         http2_max_concurrent_streams 256;\n  {paths}{}{}}}\n",
        server(stays, "1000000000"),
        server(leaves, EACH),
    )
}
