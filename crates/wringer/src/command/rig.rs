//! The command `wringer rig NAME`: what was typed, and doing it.
//!
//! Start reading at [`run`]. This is the only file of the rigs that prints.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::{around, survey};
use crate::problem::{Exit, Problem};
use cli::{RigCommandArgs, reachable};
use proxies::rig::farm::Farm;
use proxies::rig::{Proxy, Rig, RigError, RigOptions, Setting, named, print, start};

fn options(arguments: &RigCommandArgs) -> RigOptions {
    RigOptions {
        listen: arguments.listen,
        origin: reachable(arguments.origin),
        memory_bytes: arguments.memory,
        workers: arguments.workers,
        honour_reload: arguments.honour_reload,
        http: arguments.http.unwrap_or_default(),
        from: arguments.from.clone(),
        settings: settings(&arguments.set),
        ..RigOptions::default()
    }
}

/// Refuses names that no rig has, also where none is started: in a forecast or a plan that is shown.
pub fn refuse_unknown<'a>(names: impl IntoIterator<Item = &'a String>) -> Result<(), Problem> {
    let known = |name: &String| named(name).map(drop);
    names.into_iter().try_for_each(known).map_err(|error| Problem::Usage(error.to_string()))
}

/// Settings as they were typed.
pub fn settings(typed: &[(String, String)]) -> Vec<Setting> {
    typed.iter().map(|(key, value)| Setting { key: key.clone(), value: value.clone() }).collect()
}

fn farm(arguments: &RigCommandArgs) -> Result<Option<Farm>, RigError> {
    match (arguments.origins, arguments.ports) {
        (1, 1) => Ok(None),
        (origins, ports) => Farm::new(reachable(arguments.origin), origins, ports).map(Some),
    }
}

/// The configuration.
fn printed(proxy: &'static dyn Proxy, arguments: &RigCommandArgs) -> Result<String, RigError> {
    print(proxy, &options(arguments), farm(arguments)?.as_ref())
}

/// `wringer rig`.
///
/// # Errors
/// A proxy that does not exist, is not installed, or does not start.
pub fn run(args: &RigCommandArgs) -> Result<Exit, Problem> {
    if args.survey {
        return survey::run(args);
    }
    let proxy = named(&args.name).map_err(|error| Problem::Usage(error.to_string()))?;
    if args.print {
        crate::output::write_bytes(printed(proxy, args).map_err(around::rig)?.as_bytes());
    } else {
        stay(proxy, args).map_err(around::rig)?;
    }
    Ok(Exit::Ok)
}

/// Runs the proxy until a signal comes.
fn stay(proxy: &'static dyn Proxy, arguments: &RigCommandArgs) -> Result<(), RigError> {
    let options = options(arguments);
    let rig = start(proxy, &options)?;
    let interrupted = signal_flag();
    say(&ready_line(&rig, &options));
    wait(&rig, &interrupted)?;
    rig.stop();
    Ok(())
}

fn wait(rig: &Rig, interrupted: &AtomicBool) -> Result<(), RigError> {
    const LOOK: Duration = Duration::from_millis(100);
    while !interrupted.load(Ordering::Relaxed) {
        if let Some(error) = rig.ended(LOOK) {
            return Err(error);
        }
    }
    Ok(())
}

fn ready_line(rig: &Rig, options: &RigOptions) -> String {
    format!(
        "{} {} listens on {} in front of {}, memory {}, process {}, folder {}; Ctrl-C stops it\n",
        rig.name(),
        rig.version(),
        rig.address(),
        options.origin,
        rig.memory(options),
        rig.pid(),
        rig.folder().display(),
    )
}

/// Set by any signal that asks us to end. A signal that comes before this ends us at once; the guard then cleans up.
fn signal_flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGHUP, SIGINT, SIGTERM] {
        // Fails only for signals that cannot be caught.
        let _ = signal_hook::flag::register(signal, Arc::clone(&flag));
    }
    flag
}

/// A reader that went away does not matter: the rig goes on.
fn say(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
