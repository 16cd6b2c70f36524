//! Other machines that carry the load of a command line: `--agents` and `--bus`, also before the words of an old tool.

use cli::{AgentArg, AgentPlace, BusArgs, FleetArgs, OnLossArg};
use console::problem::Problem;
use plan::Plan;
use session::{AgentAt, BusAt, Fleet, OnBus, OnLoss, OriginAgents, SshAt, WantedAgent};
use std::ffi::OsString;
use std::time::Duration;

/// The usual lease of an agent.
const LEASE: Duration = Duration::from_secs(10);

/// The machines that are named before the words of an old tool, and those words.
///
/// # Errors
/// It cannot be meant.
pub fn before(args: &[OsString]) -> Result<(Option<Fleet>, &[OsString]), Problem> {
    let (fleet, count) = FleetArgs::before(args).map_err(Problem::Usage)?;
    Ok((asked(&fleet)?, &args[count..]))
}

/// The machines that carry the load, where others do.
///
/// # Errors
/// A bus without a number of agents; an agent that is to be an origin.
pub fn asked(args: &FleetArgs) -> Result<Option<Fleet>, Problem> {
    if let Some(origin) = args.origins().find_map(|agent| agent.origin) {
        return Err(Problem::Usage(format!(
            "--agents: one with role = \"origin\" (listen = \"{origin}\") serves the origin of a load that has two sides, and this one has \
             clients alone: give it role = \"clients\", or leave it out"
        )));
    }
    clients(args)
}

/// Those of them that carry the load beside its origins. Where only those are on the bus, this process carries it.
///
/// # Errors
/// A bus without a number of agents; a program to copy, and nobody behind ssh.
pub fn clients_beside(origins: Option<&OriginAgents>, args: &FleetArgs) -> Result<Option<Fleet>, Problem> {
    let only_origins_on_bus = origins.is_some_and(|origins| origins.bus.is_some()) && args.expect.is_none();
    if !only_origins_on_bus {
        return clients(args);
    }
    check_named(args)?;
    Ok(named(args).filter(|fleet| !fleet.agents.is_empty()).map(|fleet| Fleet { bus: None, ..fleet }))
}

/// Refuses a program that nobody would have copied to them, and a name of a bus where none is.
///
/// # Errors
/// No agent is behind ssh; there is no bus.
pub fn check_named(args: &FleetArgs) -> Result<(), Problem> {
    let named = args.agents.iter().flat_map(|named| &named.0);
    let mut on_bus = named.filter_map(|agent| match &agent.at {
        AgentPlace::Bus(name) => Some(name),
        AgentPlace::Local | AgentPlace::Ssh(_) | AgentPlace::Command(_) => None,
    });
    if let Some(name) = on_bus.next().filter(|_| args.bus.bus.is_empty()) {
        return Err(Problem::Usage(format!(
            "bus:{name} in the file of agents is on a bus, and none is named: give --bus URL, and --expect N where agents of it carry the load, \
             too"
        )));
    }
    let is_behind_ssh = |agent: &AgentArg| matches!(agent.at, AgentPlace::Ssh(_));
    let copied = args.binary.as_ref().map(|_| "--binary").or(args.copy_to.as_ref().map(|_| "--copy-to"));
    if let Some(option) = copied.filter(|_| !args.agents.iter().flat_map(|named| &named.0).any(is_behind_ssh))
    {
        return Err(Problem::Usage(format!(
            "{option} is for machines behind ssh, to which the program is copied, and no agent is: give --agents ssh:HOST, or leave it out"
        )));
    }
    Ok(())
}

/// Those of them that carry the load; others may be its origins.
///
/// # Errors
/// A bus without a number of agents; a program to copy, and nobody behind ssh.
pub fn clients(args: &FleetArgs) -> Result<Option<Fleet>, Problem> {
    check_named(args)?;
    let fleet = named(args);
    if fleet.as_ref().is_some_and(|fleet| fleet.bus.is_some() && !fleet.agents.is_empty()) {
        return Err(Problem::Usage(
            "--agents cannot be used with --bus for one load: agents of one kind carry it, and its origins may be of the other; leave out one \
             of them"
                .to_owned(),
        ));
    }
    if fleet.as_ref().and_then(|fleet| fleet.bus.as_ref()).is_some_and(|bus| bus.expect.is_none()) {
        return Err(Problem::Usage(
            "--bus: give --expect N, as a bus does not know how many agents are still to come".to_owned(),
        ));
    }
    Ok(fleet)
}

/// The same, where those that happen to be on a bus will do.
pub fn named(args: &FleetArgs) -> Option<Fleet> {
    let clients = args.agents.iter().flat_map(|named| &named.0).filter(|agent| agent.origin.is_none());
    let agents: Vec<WantedAgent> = clients.map(|agent| wanted(agent, args)).collect();
    let bus = bus(&args.bus).map(|at| OnBus { at, expect: args.expect });
    (!agents.is_empty() || bus.is_some()).then(|| of(args, agents, bus))
}

fn of(args: &FleetArgs, agents: Vec<WantedAgent>, bus: Option<OnBus>) -> Fleet {
    Fleet {
        agents,
        bus,
        on_loss: match args.on_loss {
            Some(OnLossArg::Stop) => OnLoss::Stop,
            Some(OnLossArg::TakeOver) => OnLoss::TakeOver,
            Some(OnLossArg::Replace) => OnLoss::Replace,
            Some(OnLossArg::GoOn) | None => OnLoss::GoOn,
        },
        tolerate_loss: args.tolerate_loss.unwrap_or(0),
        lease: args.lease.unwrap_or(LEASE),
    }
}

/// All that are named, whatever they are to do.
pub fn everybody(args: &FleetArgs) -> Option<Fleet> {
    let origins: Vec<WantedAgent> = args.origins().map(|agent| wanted(agent, args)).collect();
    let Some(fleet) = named(args) else {
        return (!origins.is_empty()).then(|| of(args, origins, None));
    };
    let agents = fleet.agents.iter().cloned().chain(origins).collect();
    Some(Fleet { agents, ..fleet })
}

/// Takes the origin out of a plan for agents that are to serve it.
///
/// # Errors
/// The plan has none.
pub fn served<'a>(
    plan: &mut Plan,
    agents: impl Iterator<Item = &'a AgentArg>,
    args: &FleetArgs,
) -> Result<Option<OriginAgents>, Problem> {
    let agents: Vec<WantedAgent> = agents.map(|agent| wanted(agent, args)).collect();
    if agents.is_empty() {
        return Ok(None);
    }
    let Some(origin) = plan.origin.take() else {
        return Err(Problem::Usage(
            "agents with role = \"origin\" serve the origin of a plan, and this plan has none: give it an [origin], or leave them out".to_owned(),
        ));
    };
    let on_bus = agents.iter().any(|agent| matches!(agent.at, AgentAt::Bus(_)));
    let bus = bus(&args.bus).filter(|_| on_bus);
    Ok(Some(OriginAgents { origin, agents, bus, lease: args.lease.unwrap_or(LEASE) }))
}

fn wanted(agent: &AgentArg, args: &FleetArgs) -> WantedAgent {
    let AgentArg { at, name, threads, sources, origin } = agent;
    let at = match at {
        AgentPlace::Local => AgentAt::Local,
        AgentPlace::Ssh(host) => AgentAt::Ssh(SshAt {
            host: host.clone(),
            binary: args.binary.clone(),
            folder: args.copy_to.clone(),
        }),
        AgentPlace::Command(line) => AgentAt::Command(line.clone()),
        AgentPlace::Bus(name) => AgentAt::Bus(name.clone()),
    };
    WantedAgent { at, name: name.clone(), threads: *threads, sources: sources.clone(), listen: *origin }
}

/// The bus that was asked for.
pub fn bus(args: &BusArgs) -> Option<BusAt> {
    (!args.bus.is_empty()).then(|| BusAt {
        servers: args.bus.clone(),
        credentials: args.bus_creds.clone(),
        token: args.bus_token.clone(),
        authorities: args.bus_ca.clone(),
        insecure: args.insecure_bus,
    })
}
