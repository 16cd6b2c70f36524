//! `wringer cache`: a proxy pressed from both sides.

use super::pressed::{self, Pressed};
use super::rig_log;
use super::show::{self, Lines, Ran};
use super::{around, dry, fleet};
use crate::problem::{Exit, Problem};
use cli::{CacheArgs, Target};
use net::ports;
use proxies::rig::{self, RigOptions};
use session::SessionOptions;
use std::net::SocketAddr;
use std::path::Path;

/// Runs the command.
pub fn run(args: &CacheArgs) -> Result<Exit, Problem> {
    args.check().map_err(Problem::Usage)?;
    let seed = crate::arguments::seed_from_clock();
    if args.output.show_plan {
        show::write(&shown(args, seed).to_text());
        return Ok(Exit::Ok);
    }
    if args.output.dry_run {
        return dry::run(&shown(args, seed), SessionOptions::default());
    }
    show::can_keep(&args.output)?;
    let origin = origin_address(args)?;
    let listen = pressed::listen(&args.target())?;
    let mut plan = args.output.held_to(args.keep.applied(args.plan(&listen, origin, seed)));
    let has_origin = plan.origin.is_some() || args.clients_only;
    let origin_agents = fleet::served(&mut plan, args.origin_agents(), &args.fleet)?;
    let clients = fleet::clients_beside(origin_agents.as_ref(), &args.fleet)?;
    let around = SessionOptions {
        origin_agents,
        cache_bytes: cache_bytes(&args.target(), args.memory(), args.started.place.cache_memory),
        join_remote: args.clients_only,
        origins: args.farm.origins().to_vec(),
        fleet: clients,
        ready: args.load.wait.ready,
        ..around::watching(&args.watch)
    };
    // The origin comes first: some proxies take an origin that does not answer at once for dead.
    let around = around::options(around)?;
    let ready = session::prepare(&plan, &around, false)?;
    show::warn(ready.warnings(), &plan);
    let pressed = press(args, &listen, origin)?;
    let mut lines = Lines::new(&args.output, &plan, has_origin);
    let title = args.farm.title(pressed.title());
    show::notice(&format!("pressing {title}"));
    let seed_option = args.load.seed.is_none().then_some("--seed");
    let about = show::about(
        "cache",
        &plan,
        Some(title),
        &show::ShowAsked { output: &args.output, keep: &args.keep, seed_option },
    )?;
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

/// Bytes that what is pressed may keep, where that is known. `memory`: those that a rig gets; `given`: as typed.
pub fn cache_bytes(target: &Target, memory: u64, given: Option<u64>) -> Option<u64> {
    let name = match target {
        Target::Rig { name, .. } => name,
        Target::Demonstration => return Some(memory),
        Target::Command(command) if command.contains("{memory}") => return Some(memory),
        Target::Proxy(_) | Target::Command(_) => return given,
    };
    match rig::named(name) {
        Ok(proxy) if !proxy.is_bounded() => given,
        Ok(proxy) if proxy.caches() => Some(memory),
        Ok(_) | Err(_) => Some(0),
    }
}

/// The plan as shown; what wringer would start itself stands where `wringer rig` puts it, so that the plan runs there.
fn shown(args: &CacheArgs, seed: u64) -> plan::Plan {
    let loopback = |port| SocketAddr::from(([127, 0, 0, 1], port));
    let target = match args.target() {
        Target::Proxy(address) => address,
        Target::Rig { .. } | Target::Command(_) | Target::Demonstration => loopback(8080).to_string(),
    };
    args.output.held_to(args.keep.applied(args.plan(
        &target,
        args.started.place.origin.unwrap_or(loopback(9080)),
        seed,
    )))
}

/// Where the origin listens, with a real port; not touched where it runs elsewhere.
fn origin_address(args: &CacheArgs) -> Result<SocketAddr, Problem> {
    let wanted = args.origin_address();
    if args.clients_only || args.origin_agents().next().is_some() { Ok(wanted) } else { listening(wanted) }
}

/// An address at which an origin can listen, with a real port.
///
/// # Errors
/// It is taken.
pub fn listening(wanted: SocketAddr) -> Result<SocketAddr, Problem> {
    ports::free_address(wanted).map_err(|error| {
        Problem::impossible(format!(
            "the origin cannot listen at {wanted}: {error}; choose another with --origin"
        ))
    })
}

/// Starts what a command line presses, where it is to be started, in front of an origin that listens already.
///
/// # Errors
/// It is not installed, cannot be meant, or does not start.
pub fn press(args: &CacheArgs, listen: &str, origin: SocketAddr) -> Result<Pressed, Problem> {
    let options = RigOptions {
        honour_reload: args.popularity.reload > 0.0,
        purge: args.purge.purge.is_some(),
        http: args.version.spoken().into_iter().max().unwrap_or_default(),
        ..pressed::options(&args.started, origin, args.memory(), &args.load.wait)
    };
    if let Target::Rig { name, .. } = args.target() {
        let proxy = rig::named(&name).map_err(|error| Problem::Usage(error.to_string()))?;
        rig::check_beside(proxy, &args.version.spoken()).map_err(around::rig)?;
    }
    pressed::start(&args.target(), listen, options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_known_of_what_keeps_to_it() {
        let bytes =
            |name: &str, given| cache_bytes(&Target::Rig { name: name.to_owned(), workers: 1 }, 7, given);
        assert_eq!([bytes("nginx", None), bytes("h2o", None)], [Some(7), Some(0)]);
        assert_eq!([bytes("souin", None), bytes("souin", Some(3))], [None, Some(3)]);
        let command = |text: &str| cache_bytes(&Target::Command(text.to_owned()), 7, None);
        assert_eq!([command("p {memory}"), command("p {listen}")], [Some(7), None]);
    }
}
