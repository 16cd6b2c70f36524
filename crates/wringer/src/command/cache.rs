//! `wringer cache`: a proxy pressed from both sides.

use super::around;
use super::rig::settings;
use super::rig_log;
use super::show::{self, Lines, Ran};
use crate::problem::{Exit, Problem};
use cli::{CacheArgs, Target, reachable};
use net::ports;
use proxies::rig::{self, Places, Rig, RigOptions};
use session::{SessionOptions, Started};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Target of the load, which keeps running while this lives.
enum Pressed {
    Proxy(String),
    Rig(Rig),
    Command(Commanded),
    Demonstration(Demonstration),
}

/// A proxy that a command has started.
struct Commanded {
    proxy: rig::Started,
    address: SocketAddr,
}

/// The demonstration cache, a process of its own so that its CPU is not the generator's.
struct Demonstration {
    child: Mutex<Child>,
    pid: u32,
    address: SocketAddr,
}

impl Drop for Demonstration {
    fn drop(&mut self) {
        // It also ends by itself when its standard input closes; both may find it gone already.
        let child = self.child.get_mut().unwrap_or_else(PoisonError::into_inner);
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// Runs the command.
pub fn run(args: &CacheArgs) -> Result<Exit, Problem> {
    args.check().map_err(Problem::Usage)?;
    let seed = crate::arguments::seed_from_clock();
    if args.output.show_plan {
        show::write(&shown(args, seed).to_text());
        return Ok(Exit::Ok);
    }
    show::can_keep(&args.output)?;
    let origin = origin_address(args)?;
    let listen = match args.target() {
        Target::Proxy(address) => address,
        Target::Rig { .. } | Target::Command(_) | Target::Demonstration => any_port()?.to_string(),
    };
    let plan = args.output.held_to(args.keep.applied(args.plan(&listen, origin, seed)));
    let around = SessionOptions {
        cache_bytes: cache_bytes(args),
        join_remote: args.clients_only,
        watch_pids: args.watch.pids.clone(),
        ignore_exit: args.watch.ignore_exit,
        ready: args.load.ready,
        ..SessionOptions::default()
    };
    // The origin comes first: some proxies take an origin that does not answer at once for dead.
    let around = around::options(around)?;
    let ready = session::prepare(&plan, &around, false)?;
    show::warn(ready.warnings(), &plan);
    let pressed = press(args, &listen, origin)?;
    let mut lines = Lines::new(&args.output, &plan, plan.origin.is_some() || args.clients_only);
    show::notice(&format!("pressing {}", pressed.title()));
    let seed_option = args.load.seed.is_none().then_some("--seed");
    let about = show::about("cache", &plan, Some(pressed.title()), (&args.output, &args.keep), seed_option)?;
    let server = show::serve(&args.output, &about)?;
    let status = || pressed.status();
    let started = pressed.started(&status);
    let finished = ready.about(about).run(started.as_ref(), &mut lines)?;
    let run = finished.file().map(Path::to_owned);
    let exit = show::report(finished, &Ran { plan: &plan, output: &args.output, server });
    if let (Some(run), Some(started)) = (run, &started) {
        rig_log::keep(&started.logs, &run);
    }
    Ok(exit)
}

/// Bytes that what is pressed may keep, where that is known.
fn cache_bytes(args: &CacheArgs) -> Option<u64> {
    let name = match args.target() {
        Target::Rig { name, .. } => name,
        Target::Demonstration => return Some(args.memory()),
        Target::Command(command) if command.contains("{memory}") => return Some(args.memory()),
        Target::Proxy(_) | Target::Command(_) => return args.cache_memory,
    };
    let caches = rig::named(&name).is_ok_and(|proxy| proxy.caches());
    Some(if caches { args.memory() } else { 0 })
}

/// The plan as shown; what wringer would start itself stands where `wringer rig` puts it, so that the plan runs there.
fn shown(args: &CacheArgs, seed: u64) -> plan::Plan {
    let loopback = |port| SocketAddr::from(([127, 0, 0, 1], port));
    let target = match args.target() {
        Target::Proxy(address) => address,
        Target::Rig { .. } | Target::Command(_) | Target::Demonstration => loopback(8080).to_string(),
    };
    args.output.held_to(args.keep.applied(args.plan(&target, args.origin.unwrap_or(loopback(9080)), seed)))
}

/// Where the origin listens, with a real port; not touched where it runs elsewhere.
fn origin_address(args: &CacheArgs) -> Result<SocketAddr, Problem> {
    let wanted = args.origin_address();
    if args.clients_only {
        return Ok(wanted);
    }
    ports::free_address(wanted).map_err(|error| {
        Problem::impossible(format!(
            "the origin cannot listen at {wanted}: {error}; choose another with --origin"
        ))
    })
}

fn any_port() -> Result<SocketAddr, Problem> {
    ports::free_address(SocketAddr::from(([127, 0, 0, 1], 0)))
        .map_err(|error| Problem::impossible(format!("there is no free port for the proxy: {error}")))
}

/// More workers than cores is unusual, but nothing forbids it.
fn note_workers(workers: u16) {
    let cores = std::thread::available_parallelism().map_or(u16::MAX.into(), std::num::NonZero::get);
    if usize::from(workers) > cores {
        show::notice(&format!("note: the rig gets {workers} workers, but this machine has {cores} cores"));
    }
}

fn press(args: &CacheArgs, listen: &str, origin: SocketAddr) -> Result<Pressed, Problem> {
    let origin = reachable(origin);
    let address = || listen.parse().map_err(|_| Problem::impossible(format!("{listen} is no address")));
    match args.target() {
        Target::Proxy(address) => Ok(Pressed::Proxy(address)),
        Target::Rig { name, workers } => {
            let proxy = rig::named(&name).map_err(|error| Problem::Usage(error.to_string()))?;
            note_workers(workers);
            let options = RigOptions {
                listen: address()?,
                origin,
                memory_bytes: args.memory(),
                workers,
                honour_reload: args.popularity.reload > 0.0,
                http: args.version.spoken().into_iter().max().unwrap_or_default(),
                from: args.from.clone(),
                settings: settings(&args.rig_set),
                ready: args.load.ready.unwrap_or(rig::READY),
            };
            rig::check_beside(proxy, &args.version.spoken()).map_err(around::rig)?;
            Ok(Pressed::Rig(rig::start(proxy, &options).map_err(around::rig)?))
        }
        Target::Command(command) => {
            let places = Places {
                listen: address()?,
                origin,
                memory_bytes: args.memory(),
                settings: settings(&args.rig_set),
            };
            commanded(&command, &places, args.load.ready).map(Pressed::Command)
        }
        Target::Demonstration => demonstration(address()?, origin, args.memory()).map(Pressed::Demonstration),
    }
}

fn commanded(command: &str, places: &Places, ready: Option<Duration>) -> Result<Commanded, Problem> {
    let failed = |error: rig::StartError| Problem::impossible(error.to_string());
    let proxy = rig::Started::rig(command, places).map_err(failed)?;
    proxy.wait_until_ready(places.listen, ready.unwrap_or(rig::READY)).map_err(failed)?;
    Ok(Commanded { proxy, address: places.listen })
}

fn demonstration(listen: SocketAddr, origin: SocketAddr, memory: u64) -> Result<Demonstration, Problem> {
    let failed = |why: String| Problem::impossible(format!("the demonstration cache did not start: {why}"));
    let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let mut child = Command::new(program)
        .args(["demo-cache", "--listen", &listen.to_string(), "--origin", &origin.to_string()])
        .args(["--memory", &memory.to_string()])
        // Ctrl-C in a terminal reaches the whole group; the requests under way are still to be answered then.
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| failed(error.to_string()))?;
    let mut line = String::new();
    if let Some(out) = child.stdout.take() {
        BufReader::new(out).read_line(&mut line).map_err(|error| failed(error.to_string()))?;
    }
    let address = line.trim().strip_prefix("listening ").and_then(|address| address.parse().ok());
    match address {
        Some(address) => Ok(Demonstration { pid: child.id(), child: Mutex::new(child), address }),
        None => {
            let _ = child.kill();
            let _ = child.wait();
            Err(failed(format!("it said {:?}", line.trim())))
        }
    }
}

impl Pressed {
    fn title(&self) -> String {
        match self {
            Pressed::Proxy(address) => address.clone(),
            Pressed::Rig(rig) => {
                let without = if rig.caches() { "" } else { ", which has no cache" };
                format!("{} {} on {}{without}", rig.name(), rig.version(), rig.address())
            }
            Pressed::Command(started) => format!("`{}` on {}", started.proxy.command(), started.address),
            Pressed::Demonstration(cache) => format!("the demonstration cache on {}", cache.address),
        }
    }

    /// Its first process, where it was started here. `status`: as of [`Pressed::status`].
    fn started<'a>(&self, status: &'a (dyn Fn() -> Option<ExitStatus> + Sync)) -> Option<Started<'a>> {
        match self {
            Pressed::Proxy(_) => None,
            Pressed::Rig(rig) => Some(Started {
                pid: rig.main_pid(),
                works: rig.pids(),
                version: Some(rig.version().to_owned()),
                logs: rig.logs(),
                status,
            }),
            Pressed::Command(Commanded { proxy, .. }) => Some(Started {
                pid: proxy.pid(),
                works: proxy.pids(),
                version: None,
                logs: vec![proxy.log()],
                status,
            }),
            Pressed::Demonstration(cache) => Some(Started {
                pid: cache.pid,
                works: vec![cache.pid],
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
                logs: Vec::new(),
                status,
            }),
        }
    }

    /// How it ended, where it was started here and has ended.
    fn status(&self) -> Option<ExitStatus> {
        match self {
            Pressed::Proxy(_) => None,
            Pressed::Rig(rig) => rig.status(),
            Pressed::Command(started) => started.proxy.status(),
            Pressed::Demonstration(cache) => {
                cache.child.lock().unwrap_or_else(PoisonError::into_inner).try_wait().ok().flatten()
            }
        }
    }
}
