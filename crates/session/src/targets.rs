//! The addresses that a load connects to, each looked up once, before any worker counts a thousand failures.

use crate::problem::Problem;
use crate::tls;
use load::Hosts;
use measure::machine::{DESCRIPTOR_ADVICE, PORT_ADVICE};
use plan::{
    Address, ConnectTo, Inputs, Load, Part, Plan, Protocol, Session, SourceRange, Step, TargetSpread,
};
use rustix::io::Errno;
use std::collections::hash_map::Entry;
use std::io::{self, BufRead, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs, UdpSocket};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use wire::tls::Agreed;

/// The addresses of a load.
#[derive(Debug, Clone, Default)]
pub struct Targets {
    /// Of the target, or of all of them; none where each URL names its own.
    pub target: Vec<SocketAddr>,
    /// The same by target.
    pub pressed: Vec<KnownHost>,
    /// Of the hosts of requests, where there is no target.
    pub hosts: Arc<Hosts>,
    /// Hosts to which sessions of the plan give addresses of their own.
    pub known: Vec<KnownHost>,
}

/// A host to which a session of the plan gives addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownHost {
    /// Name and port.
    pub name: String,
    /// Its addresses; there is at least one.
    pub at: Vec<SocketAddr>,
}

impl KnownHost {
    /// Its address.
    ///
    /// # Errors
    /// It has several.
    fn only(&self) -> Result<SocketAddr, Problem> {
        match self.at[..] {
            [address] => Ok(address),
            _ => Err(Problem::Usage(format!(
                "the target {} has {} addresses, and an object belongs to one with --spread hash: give the addresses themselves",
                self.name,
                self.at.len()
            ))),
        }
    }
}

/// A host that requests of a load name, and the addresses that their session gives it.
struct Asked {
    address: Address,
    known: Option<Vec<SocketAddr>>,
}

impl Asked {
    fn new(address: Address, session: &Session) -> Asked {
        Asked { known: session.known(&address.host, address.port), address }
    }
}

impl Targets {
    /// Looks up what the load of a plan names.
    pub fn of_plan(plan: &Plan) -> Result<Targets, Problem> {
        let Some(load) = &plan.load else { return Ok(Targets::default()) };
        Targets::of(load)
    }

    fn of(load: &Load) -> Result<Targets, Problem> {
        if load.target.is_some() {
            let found = |name: &str| {
                let (host, port) = target(name);
                Ok(KnownHost { name: name.to_owned(), at: addresses(host, port, &load.sources)? })
            };
            let pressed: Vec<KnownHost> = load.targets().map(found).collect::<Result<_, Problem>>()?;
            let target = pressed.iter().flat_map(|host| host.at.iter().copied()).collect();
            return Ok(Targets { target, pressed, ..Targets::default() });
        }
        let http = load.protocol.http().cloned().unwrap_or_default();
        let mut hosts = Hosts::new();
        let mut known: Vec<KnownHost> = Vec::new();
        for Asked { address, known: own } in asked(load) {
            if let Some(at) = own {
                let host = KnownHost { name: format!("{}:{}", address.host, address.port), at };
                known.extend(Some(host).filter(|host| !known.contains(host)));
                continue;
            }
            let (host, port) = ConnectTo::apply(&http.connect_to, &address.host, address.port);
            if let Entry::Vacant(unknown) = hosts.entry((address.host, address.port)) {
                unknown.insert(match http.unix_socket {
                    Some(_) => vec![load::UNIX],
                    None => addresses(&host, port, &load.sources)?,
                });
            }
        }
        Ok(Targets { hosts: Arc::new(hosts), known, ..Targets::default() })
    }

    /// The hosts that a load names, as it names them: nobody has looked them up. Those that users find out are not among
    /// them.
    pub fn names(load: &Load) -> Vec<String> {
        if load.target.is_some() {
            return load.targets().map(|name| target(name).0.to_owned()).collect();
        }
        let http = load.protocol.http().cloned().unwrap_or_default();
        let to = |Asked { address, known }: Asked| match known {
            Some(at) => at.iter().map(|at| at.ip().to_string()).collect(),
            None => vec![ConnectTo::apply(&http.connect_to, &address.host, address.port).0],
        };
        asked(load).into_iter().flat_map(to).collect()
    }

    /// Addresses of the target that the workers of a part press: all, or the part's own.
    ///
    /// # Errors
    /// A target would be nobody's own.
    pub fn of_part(&self, load: Option<&Load>, part: Part) -> Result<Vec<SocketAddr>, Problem> {
        match load.map(|load| load.spread) {
            None | Some(TargetSpread::Turn) => Ok(self.target.clone()),
            Some(TargetSpread::Hash) => self.pressed.iter().map(KnownHost::only).collect(),
            Some(TargetSpread::Own) if self.pressed.len() > part.of as usize => Err(Problem::Usage(format!(
                "each of {} targets needs a worker of its own, and there are {}: give more --threads or agents, or --spread turn",
                self.pressed.len(),
                part.of
            ))),
            Some(TargetSpread::Own) => {
                let own = u64::from(part.index) * self.pressed.len() as u64 / u64::from(part.of.max(1));
                Ok(self.pressed[own as usize].at.clone())
            }
        }
    }

    /// All addresses that connections go to, as far as they are known beforehand.
    pub fn all(&self) -> Vec<SocketAddr> {
        let own = self.known.iter().flat_map(|host| &host.at);
        let known = self.target.iter().chain(self.hosts.values().flatten()).chain(own);
        known.copied().filter(|address| *address != load::UNIX).collect()
    }

    /// Waits until everything that is pressed answers.
    ///
    /// # Errors
    /// The target that did not answer in this time, and why.
    pub fn wait(&self, load: &Load, limit: Duration, stop: &AtomicBool) -> Result<(), Problem> {
        let until = Instant::now() + limit;
        loop {
            // Before it is asked: a program that is stopped and goes on asks once more.
            let is_last = Instant::now() >= until;
            let answered = self.refuse_silent(load, None).and_then(|()| self.refuse_unready(load));
            match answered {
                Err(problem) if is_last => return Err(problem),
                Err(_) if !stop.load(Ordering::Relaxed) => std::thread::sleep(BETWEEN_TRIES),
                _ => return Ok(()),
            }
        }
    }

    /// Refuses a web server that takes connections but does not answer yet, or says that it cannot. It is asked for the
    /// first URL where that goes to it directly and in plain HTTP.
    fn refuse_unready(&self, load: &Load) -> Result<(), Problem> {
        let direct =
            load.target.is_none() && load.protocol.http().is_some_and(|http| http.unix_socket.is_none());
        let steps = load.phases.iter().flat_map(|phase| &phase.scenario.steps);
        let mut requests = steps
            .filter_map(|step| if let Step::Requests(step) = step { step.requests.get(0) } else { None });
        let Some(address) =
            requests.next().and_then(|first| Address::parse(first.url)).filter(|to| direct && !to.secure)
        else {
            return Ok(());
        };
        let name = format!("{}:{}", address.host, address.port);
        let known = self.known.iter().find(|host| host.name == name).map(|host| &host.at);
        let found = known.or_else(|| self.hosts.get(&(address.host.clone(), address.port)));
        let Some(found) = found else { return Ok(()) };
        let mut refused = Ok(());
        for at in found {
            refused = match status(*at, &address) {
                Ok(..500) => return Ok(()),
                Ok(status) => Err(unready(&address, &format!("status {status}"))),
                Err(error) => Err(unready(&address, &error.to_string())),
            };
        }
        refused
    }

    /// Refuses a host where nobody listens. `but`: the address of an origin of this process, which is not asked because
    /// that would show in its accounts.
    pub fn refuse_silent(&self, load: &Load, but: Option<SocketAddr>) -> Result<(), Problem> {
        if let Some(path) = load.protocol.http().and_then(|http| http.unix_socket.as_deref()) {
            return answers_at(path);
        }
        let hosts = self.hosts.iter().map(|((host, port), found)| (format!("{host}:{port}"), found));
        let known = self.known.iter().map(|host| (host.name.clone(), &host.at));
        let targets = self.pressed.iter().map(|host| (host.name.clone(), &host.at));
        for (name, found) in hosts.chain(known).chain(targets) {
            let is_ours = |address: &SocketAddr| {
                but.is_some_and(|origin| address.ip().is_loopback() && address.port() == origin.port())
            };
            if found.first().is_none_or(is_ours) {
                continue;
            }
            // One that answers is enough: where another does not, connections go to the next.
            let mut tried = found.iter().map(|address| answers(load, &name, *address));
            let first = tried.next().expect("there is a first");
            if first.is_err() && !tried.any(|answered| answered.is_ok()) {
                first?;
            }
        }
        Ok(())
    }
}

/// An address of each of these, `host:port`.
///
/// # Errors
/// One that does not resolve.
pub fn looked_up(names: &[String]) -> Result<Vec<SocketAddr>, Problem> {
    let first = |name: &String| {
        let (host, port) = target(name);
        addresses(host, port, &[])
    };
    let all: Result<Vec<_>, Problem> = names.iter().map(first).collect();
    Ok(all?.into_iter().filter_map(|found| found.first().copied()).collect())
}

/// Asks the server of a plan's first request, over a connection that is used up by it, which of these names of protocols it takes
/// (ALPN). `None`: it did not shake hands, or goes by a Unix socket; what comes of that, a run tells.
pub fn agreed(plan: &Plan, names: &[String]) -> Option<Agreed> {
    let load = plan.load.as_ref()?;
    let first = asked(load).into_iter().next()?.address;
    let found = Targets::of(load).ok()?.all();
    let client = tls::client(plan, &Inputs::default()).ok()??.offering(names);
    let limit = load.limits.connect;
    let stream = found.iter().find_map(|address| TcpStream::connect_timeout(address, limit).ok())?;
    stream.set_read_timeout(Some(limit)).ok()?;
    let shaken = transport::one_request::handshake(stream, &client, &first.host).ok()?;
    Some(shaken.protocol)
}

/// Host and port of a target.
fn target(name: &str) -> (&str, u16) {
    let (host, port) = name.rsplit_once(':').unwrap_or((name, "80"));
    (host, port.parse().unwrap_or(80))
}

/// Returns the hosts that the URLs of a load's requests name.
fn asked(load: &Load) -> Vec<Asked> {
    let steps = load.phases.iter().flat_map(|phase| phase.sends());
    let mut asked: Vec<Asked> = Vec::new();
    for step in steps {
        if let Step::Requests(step) = step {
            // Where a host is a value, users look it up.
            let fixed = |request: &&plan::Request| request.place.is_empty();
            let mut named = Vec::new();
            if step.requests.kinds().iter().all(|request| fixed(&request)) {
                named.extend(step.requests.turns().filter_map(|(_, to)| to));
            }
            named.extend(step.session.login.iter().filter_map(plan::Request::address));
            asked.extend(named.into_iter().map(|address| Asked::new(address, &step.session)));
        } else if let Step::Script(step) = step {
            asked.extend(step.request.address().map(|address| Asked { address, known: None }));
        }
    }
    asked
}

/// How long a server may take to answer whether it is ready.
const PATIENCE: Duration = Duration::from_secs(2);

/// Time between two tries to find somebody who answers.
const BETWEEN_TRIES: Duration = Duration::from_millis(100);

fn unready(address: &Address, why: &str) -> Problem {
    Problem::impossible(format!(
        "{} does not answer ({why}); look why, or wait longer with --ready",
        address.text
    ))
}

/// The status that a plain GET is answered with.
fn status(at: SocketAddr, address: &Address) -> io::Result<u16> {
    let mut stream = TcpStream::connect_timeout(&at, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let path = &address.path;
    let host = &address.authority;
    stream
        .write_all(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").as_bytes())?;
    let mut line = String::new();
    io::BufReader::new(stream.take(1024)).read_line(&mut line)?;
    let status = line.strip_prefix("HTTP/").and_then(|rest| rest.split(' ').nth(1)?.trim().parse().ok());
    status.ok_or_else(|| io::Error::other("what came is not an answer of HTTP"))
}

/// The addresses of a host, of one family: one that sources can reach, where there are some. An IPv6 address may have brackets, and a zone
/// behind a `%`.
fn addresses(host: &str, port: u16, sources: &[SourceRange]) -> Result<Vec<SocketAddr>, Problem> {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let found: Vec<SocketAddr> = (host, port)
        .to_socket_addrs()
        .map_err(|error| {
            let advice = match host {
                "unix" => "for a socket of this machine give --unix-socket PATH and a URL",
                _ if plan::units::duration(host).is_ok() => {
                    "if it belongs to the time before it, write both without a blank, as in 1m30s"
                }
                _ => "check the name",
            };
            Problem::impossible(format!("target {host}:{port} does not resolve: {error}; {advice}"))
        })?
        .collect();
    let is_reached =
        |address: &&SocketAddr| sources.iter().any(|source| source.is_ipv4() == address.is_ipv4());
    let reached: Vec<SocketAddr> = found.iter().filter(is_reached).copied().collect();
    // Where sources reach none, they are refused.
    let found = if reached.is_empty() { found } else { reached };
    // A name such as localhost may stand for two families of which only one is listened on.
    if found.iter().all(|address| address.is_ipv4() == found[0].is_ipv4()) {
        return Ok(found);
    }
    let first =
        found.iter().find(|address| TcpStream::connect_timeout(address, Duration::from_secs(2)).is_ok());
    let family = first.or(found.first()).map(SocketAddr::is_ipv4);
    Ok(found.into_iter().filter(|address| Some(address.is_ipv4()) == family).collect())
}

fn answers(load: &Load, name: &str, address: SocketAddr) -> Result<(), Problem> {
    let limit = load.limits.connect.max(Duration::from_millis(1));
    let spoken = load.spoken();
    let over_quic = |http: &plan::Http| http.h3.is_some();
    let datagrams = || is_not_refused(address, limit.min(PATIENCE));
    let connection = || TcpStream::connect_timeout(&address, limit).map(drop);
    let answered = match spoken.iter().any(over_quic) {
        true if spoken.iter().all(over_quic) => datagrams(),
        true => connection().and_then(|()| datagrams()),
        false => connection(),
    };
    answered.map_err(|error| {
        if let Some(problem) = own_limit(name, &error) {
            return problem;
        }
        let advice = match load.protocol {
            Protocol::Messages(_) => {
                "start the service first and check the port, or stand in for it with wringer origin --tcp"
            }
            Protocol::Http(_) if load.target.is_some() => {
                "start the proxy first, for instance with wringer rig"
            }
            Protocol::Http(_) => "start the server first, and check the port",
        };
        let how = if spoken.iter().all(over_quic) { " over QUIC, by UDP," } else { "" };
        Problem::impossible(format!("nothing answers at {name}{how} ({error}); {advice}"))
    })
}

/// A connection that this machine had no descriptor or local port for says nothing of the target.
fn own_limit(name: &str, error: &io::Error) -> Option<Problem> {
    let advice = match Errno::from_io_error(error)? {
        Errno::MFILE | Errno::NFILE => DESCRIPTOR_ADVICE,
        // EAGAIN from connect(2) on an Internet socket means that no port was free, as EADDRNOTAVAIL does.
        Errno::ADDRNOTAVAIL | Errno::ADDRINUSE | Errno::AGAIN => PORT_ADVICE,
        _ => return None,
    };
    Some(Problem::impossible(format!(
        "{name} was not asked whether it answers, as this machine had nothing left to ask with ({error}): {advice}"
    )))
}

/// Tells if somebody takes datagrams. A server of QUIC answers a version that nobody speaks with those that it does (RFC 9000
/// section 6.1); one that says nothing may be there all the same.
fn is_not_refused(address: SocketAddr, limit: Duration) -> io::Result<()> {
    let anywhere: SocketAddr = match address {
        SocketAddr::V4(_) => ([0; 4], 0).into(),
        SocketAddr::V6(_) => ([0; 16], 0).into(),
    };
    let socket = UdpSocket::bind(anywhere)?;
    socket.connect(address)?;
    socket.set_read_timeout(Some(limit.max(Duration::from_millis(1))))?;
    let mut probe = vec![0; 1200];
    // A long header, the version, and two connection identifiers of eight bytes.
    probe[..6].copy_from_slice(&[0xC0, 0x1A, 0x2A, 0x3A, 0x4A, 8]);
    probe[14] = 8;
    socket.send(&probe)?;
    match socket.recv(&mut [0; 1500]) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Err(error),
        _ => Ok(()),
    }
}

fn answers_at(path: &str) -> Result<(), Problem> {
    UnixStream::connect(path).map(drop).map_err(|error| {
        Problem::impossible(format!(
            "nothing answers at the Unix socket {path} ({error}); start the server first, and check the path"
        ))
    })
}
