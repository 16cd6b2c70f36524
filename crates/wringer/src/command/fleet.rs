//! `wringer fleet`, and `wringer agent`: several machines.

use super::{around, plan, show};
use crate::problem::{Exit, Problem};
use crate::{arguments, output, signals};
use cli::{AgentArgs, FleetArgs, PrintFleet, ReadArgs, RunArgs};
use fleet::placing;
use session::{AgentOptions, Fleet, SessionOptions, Standing};
use std::path::{Path, PathBuf};
pub use tools::agents::{asked, clients_beside, served};
use tools::agents::{bus, check_named, everybody, named};

fn nobody() -> Problem {
    Problem::Usage(
        "no agents are named: give --agents local:N, ssh:HOST, cmd:'COMMAND' or FILE.toml, or --bus URL"
            .to_owned(),
    )
}

/// Runs a plan file on several machines.
pub fn run(args: &RunArgs) -> Result<Exit, Problem> {
    named(&args.fleet).ok_or_else(nobody)?;
    plan::run(args)
}

/// Prints what places agents.
pub fn print(what: &PrintFleet) -> Exit {
    let text = match what {
        PrintFleet::Kubernetes { agents, image, cpus, bus } => {
            placing::kubernetes(*agents, image, *cpus, bus.as_deref())
        }
        PrintFleet::Systemd { bus } => placing::systemd(bus),
        PrintFleet::Nats { agents } => placing::nats(*agents),
    };
    show::write(&text);
    Exit::Ok
}

/// Finds out whether agents are there, and whether they would carry a plan.
pub fn check(plan: Option<&Path>, args: &FleetArgs) -> Result<Exit, Problem> {
    check_named(args)?;
    match plan {
        Some(file) => would_carry(file, args),
        None => are_there(&everybody(args).ok_or_else(nobody)?),
    }
}

fn would_carry(file: &Path, args: &FleetArgs) -> Result<Exit, Problem> {
    let fleet = named(args).ok_or_else(nobody)?;
    // Those that are named carry it, and the bus is that of its origins.
    let bus = fleet.bus.clone().filter(|_| fleet.agents.is_empty());
    let fleet = Fleet { bus, ..fleet };
    let mut plan = plan::runnable(file, &ReadArgs::default())?.plan;
    let origin_agents = served(&mut plan, args.origins(), args)?;
    session::settle(&mut plan)?;
    let around = around::options(SessionOptions { origin_agents, ..SessionOptions::default() })?;
    let (willing, warnings) = session::check_plan(&plan, &around, &fleet)?;
    show::warn(&warnings, &plan);
    if willing.is_empty() {
        return Err(no_offer());
    }
    for agent in willing {
        let workers = agent.workers;
        let with = if workers == 1 { "1 worker".to_owned() } else { format!("{workers} workers") };
        let would = match agent.listen {
            Some(listen) => format!("be its origin at {listen}"),
            None => "carry it".to_owned(),
        };
        show::line(&format!("{}  {}  would {would} with {with}", agent.name, agent.at));
    }
    Ok(Exit::Ok)
}

fn no_offer() -> Problem {
    Problem::impossible("no agent offered itself on the bus")
}

fn are_there(fleet: &Fleet) -> Result<Exit, Problem> {
    let found = session::check_agents(fleet, &*signals::interrupted()?)?;
    if found.is_empty() {
        return Err(no_offer());
    }
    for agent in found {
        let cores = if agent.cores == 1 { "1 core".to_owned() } else { format!("{} cores", agent.cores) };
        show::line(&format!("{}  {}  {}, {cores}", agent.name, agent.at, agent.host));
    }
    Ok(Exit::Ok)
}

/// Brings results that nobody took to one folder.
pub fn collect(run: Option<&str>, into: &Path, args: &FleetArgs) -> Result<Exit, Problem> {
    check_named(args)?;
    let fleet = everybody(args).ok_or_else(nobody)?;
    let collected = session::collect(&fleet, run, into, &*signals::interrupted()?)?;
    for run in &collected.runs {
        show::line(&sum_of(run));
    }
    collected.troubles.iter().for_each(|trouble| output::notice(&format!("wringer: {trouble}")));
    if collected.runs.is_empty() {
        return Err(Problem::impossible(
            "no agent has a result that nobody took: what agents had of a run that came to its end is in the run's own file",
        ));
    }
    show::line(&format!("in {}: {}", into.display(), collected.files.join(" ")));
    Ok(if collected.troubles.is_empty() { Exit::Ok } else { Exit::Impossible })
}

/// A line for a run of which results were collected.
fn sum_of(run: &session::Together) -> String {
    let counts = &run.counts;
    let ms = |us: u64| us as f64 / 1e3;
    // Without a good answer nothing has a service time.
    let times = match counts.ok {
        0 => String::new(),
        _ => format!(
            "; p50 {:.1} ms, p99 {:.1} ms, longest {:.1} ms",
            ms(run.p50_us),
            ms(run.p99_us),
            ms(run.longest_us)
        ),
    };
    format!(
        "run {}  {}  {} of {} parts: {} requests, {} good, {} failed{times}",
        run.run,
        run.agents.join(" "),
        run.parts.0,
        run.parts.1,
        counts.requests,
        counts.ok,
        counts.failed
    )
}

/// Carries a part of somebody's load.
pub fn agent(args: &AgentArgs) -> Result<Exit, Problem> {
    // A signal to the whole group is for the controller, which ends this one with grace, or by closing the channel.
    let stop = signals::interrupted()?;
    let homes = std::env::var_os("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".config")));
    let usual = [Some(PathBuf::from("/etc")), homes].into_iter().flatten();
    let mut rules: Vec<PathBuf> =
        usual.map(|folder| folder.join("wringer/agent.toml")).filter(|file| file.exists()).collect();
    rules.extend(args.rules.iter().cloned());
    let options = AgentOptions {
        rules,
        on_secrets: Some(arguments::hide),
        stays: !args.stdio,
        ..AgentOptions::default()
    };
    if let Some(at) = bus(&args.bus) {
        let name = args.name.clone().unwrap_or_else(|| session::host_name().replace('.', "-"));
        let journal = |text: &str| output::notice(&format!("agent: {text}"));
        session::stand(&Standing { at, name, once: args.once, options, journal }, &stop)?;
        return Ok(Exit::Ok);
    }
    output::runs();
    session::serve_agent(std::io::stdin(), std::io::stdout(), &options)?;
    Ok(Exit::Ok)
}
