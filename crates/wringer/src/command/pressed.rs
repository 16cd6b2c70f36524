//! The target of a load that has two sides: a proxy that runs already, or one that is started here and keeps running while [`Pressed`] lives.

use super::around;
use super::rig::settings;
use super::show;
use crate::problem::Problem;
use cli::{ReadyArgs, RigArgs, Target, reachable};
use net::ports;
use proxies::rig::{self, Places, Rig, RigOptions};
use session::Started;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Target of the load, which keeps running while this lives.
pub enum Pressed {
    /// A proxy that runs already.
    Proxy(String),
    /// A rig.
    Rig(Rig),
    /// A proxy that a command has started.
    Command(Commanded),
    /// The demonstration cache.
    Demonstration(Demonstration),
}

const NO_CACHE: &str = ", which has no cache";

/// A proxy that a command has started.
pub struct Commanded {
    proxy: rig::Started,
    address: SocketAddr,
}

/// The demonstration cache, a process of its own so that its CPU is not the generator's.
pub struct Demonstration {
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

/// Any free port of this machine's own address.
///
/// # Errors
/// There is none.
pub fn any_port() -> Result<SocketAddr, Problem> {
    ports::free_address(SocketAddr::from(([127, 0, 0, 1], 0)))
        .map_err(|error| Problem::impossible(format!("there is no free port for the proxy: {error}")))
}

/// Where what is pressed listens, or is to listen: any free port for what is started here.
///
/// # Errors
/// There is none.
pub fn listen(target: &Target) -> Result<String, Problem> {
    match target {
        Target::Proxy(address) => Ok(address.clone()),
        Target::Rig { .. } | Target::Command(_) | Target::Demonstration => Ok(any_port()?.to_string()),
    }
}

/// The target and all that was said of it: what goes on must be of the same.
pub fn typed(target: &Target, args: &RigArgs) -> String {
    let mut text = match target {
        Target::Proxy(address) => address.clone(),
        Target::Rig { name, workers } => format!("{name} --rig-workers {workers}"),
        Target::Command(command) => format!("`{command}`"),
        Target::Demonstration => "the demonstration cache".to_owned(),
    };
    if let Some(folder) = &args.from {
        text += &format!(" --from {}", folder.display());
    }
    for (key, value) in &args.rig_set {
        text += &format!(" --rig-set {key}={value}");
    }
    text
}

/// Options of what command lines start before an origin. What only some loads want of it, such as HTTP/2, is for whoever has such a load.
pub fn options(args: &RigArgs, origin: SocketAddr, memory_bytes: u64, wait: &ReadyArgs) -> RigOptions {
    RigOptions {
        origin: reachable(origin),
        memory_bytes,
        workers: args.place.rig_workers,
        from: args.from.clone(),
        settings: settings(&args.rig_set),
        ready: wait.ready.unwrap_or(rig::READY),
        ..RigOptions::default()
    }
}

/// Starts what is to be started, at `listen`; the other options are those of a rig, and of what else is started as far as it has them.
///
/// # Errors
/// It does not exist, is not installed, or does not start.
pub fn start(target: &Target, listen: &str, options: RigOptions) -> Result<Pressed, Problem> {
    let address = || listen.parse().map_err(|_| Problem::impossible(format!("{listen} is no address")));
    match target {
        Target::Proxy(address) => Ok(Pressed::Proxy(address.clone())),
        Target::Rig { name, workers } => {
            let proxy = rig::named(name).map_err(|error| Problem::Usage(error.to_string()))?;
            note_workers(*workers);
            let rig = rig::start(proxy, &RigOptions { listen: address()?, ..options });
            Ok(Pressed::Rig(rig.map_err(around::rig)?))
        }
        Target::Command(command) => {
            let RigOptions { origin, memory_bytes, settings, ready, .. } = options;
            let places = Places { listen: address()?, origin, memory_bytes, settings };
            commanded(command, &places, ready).map(Pressed::Command)
        }
        Target::Demonstration => {
            demonstration(address()?, options.origin, options.memory_bytes).map(Pressed::Demonstration)
        }
    }
}

/// More workers than cores is unusual, but nothing forbids it.
fn note_workers(workers: u16) {
    let cores = std::thread::available_parallelism().map_or(u16::MAX.into(), std::num::NonZero::get);
    if usize::from(workers) > cores {
        show::notice(&format!("note: the rig gets {workers} workers, but this machine has {cores} cores"));
    }
}

fn commanded(command: &str, places: &Places, ready: Duration) -> Result<Commanded, Problem> {
    let failed = |error: rig::StartError| Problem::impossible(error.to_string());
    let proxy = rig::Started::rig(command, places).map_err(failed)?;
    proxy.wait_until_ready(places.listen, ready).map_err(failed)?;
    Ok(Commanded { proxy, address: places.listen })
}

fn demonstration(listen: SocketAddr, origin: SocketAddr, memory: u64) -> Result<Demonstration, Problem> {
    let failed = |why: String| Problem::impossible(format!("the demonstration cache did not start: {why}"));
    let program = around::own_program().map_err(|error| failed(error.to_string()))?;
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
    /// In words.
    pub fn title(&self) -> String {
        match self {
            Pressed::Proxy(address) => address.clone(),
            Pressed::Rig(rig) => {
                let without = if rig.caches() { "" } else { NO_CACHE };
                format!("{} {} on {}{without}", rig.name(), rig.version(), rig.address())
            }
            Pressed::Command(started) => format!("`{}` on {}", started.proxy.command(), started.address),
            Pressed::Demonstration(cache) => format!("the demonstration cache on {}", cache.address),
        }
    }

    /// In words, without where it listens: what is started here listens at another port each time, which is no part of what it is.
    pub fn name(&self) -> String {
        match self {
            Pressed::Proxy(address) => address.clone(),
            Pressed::Rig(rig) => {
                let without = if rig.caches() { "" } else { NO_CACHE };
                format!("{} {}{without}", rig.name(), rig.version())
            }
            Pressed::Command(started) => format!("`{}`", started.proxy.command()),
            Pressed::Demonstration(_) => "the demonstration cache".to_owned(),
        }
    }

    /// Its first process, where it was started here. `status`: as of [`Pressed::status`].
    pub fn started<'a>(&self, status: &'a (dyn Fn() -> Option<ExitStatus> + Sync)) -> Option<Started<'a>> {
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

    /// Makes it read its configuration again. False: nobody knows how.
    pub fn reload(&self) -> bool {
        match self {
            Pressed::Rig(rig) => rig.reload(),
            Pressed::Proxy(_) | Pressed::Command(_) | Pressed::Demonstration(_) => false,
        }
    }

    /// Where it keeps its cache in files, as far as that is known.
    pub fn store(&self) -> Option<PathBuf> {
        match self {
            Pressed::Rig(rig) => rig.store(),
            Pressed::Proxy(_) | Pressed::Command(_) | Pressed::Demonstration(_) => None,
        }
    }

    /// How it ended, where it was started here and has ended.
    pub fn status(&self) -> Option<ExitStatus> {
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
