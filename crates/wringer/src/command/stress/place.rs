//! The target and its origin: addresses, how the target is started, and plans that fit.

use crate::command::cache;
use crate::command::leg;
use crate::command::pressed::{self, Pressed};
use crate::problem::Problem;
use cli::{StressArgs, Target, reachable};
use decide::stress::TargetAction;
use plan::draw::hash;
use plan::{Check, HttpProtocol, Load, Origin, Phase, Plan, Protocol, Site};
use proxies::rig::{self, RigOptions};
use session::About;
use std::net::{SocketAddr, ToSocketAddrs};

/// The target, whether it runs or is started for each run.
pub struct Place<'a> {
    /// As typed.
    pub args: &'a StressArgs,
    /// The seed of all of it.
    pub seed: u64,
    /// The target, as people read it.
    pub title: String,
    /// It was started before, so that its title has its version.
    pub is_known: bool,
}

/// Addresses and seed of one run.
#[derive(Debug, Clone)]
pub struct Addresses {
    /// The target's.
    pub target: String,
    /// The origin's, as the target reaches it.
    pub origin: SocketAddr,
    /// The origin's own, where a gate is before it; otherwise the same.
    pub behind: SocketAddr,
    /// The seed of its requests: what a run asks for once, no other run has asked for.
    pub seed: u64,
}

/// The side of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It measures what the target carries.
    Gauge,
    /// The innocent one.
    Bystander,
    /// The pressure.
    Press,
}

impl Role {
    fn name(self) -> &'static str {
        match self {
            Role::Gauge => "gauge",
            Role::Bystander => "bystander",
            Role::Press => "press",
        }
    }
}

impl<'a> Place<'a> {
    /// Nothing is started yet.
    ///
    /// # Errors
    /// A process that is to be watched does not exist, or is none of the target's.
    pub fn new(args: &'a StressArgs, seed: u64) -> Result<Place<'a>, Problem> {
        session::doctor::check_pids(&args.pids)?;
        if let Some(pid) = args.pids.iter().find(|pid| session::doctor::has_started_us(**pid)) {
            return Err(Problem::Usage(format!(
                "--pid {pid}: wringer comes from this process itself, and scenarios would limit all that does: give the proxy's own"
            )));
        }
        if let Target::Proxy(address) = args.target() {
            let found = address.to_socket_addrs().ok().and_then(|mut all| all.next());
            if let Some(here) = found.filter(|at| session::doctor::is_here(at.ip())) {
                session::doctor::check_listening("--pid", &args.pids, here)?;
            }
        }
        let title = match args.target() {
            Target::Proxy(address) => address,
            Target::Rig { name, .. } => name,
            Target::Command(command) => format!("`{command}`"),
            Target::Demonstration => "the demonstration cache".to_owned(),
        };
        Ok(Place { args, seed, title, is_known: false })
    }

    /// The target and all that was said of it.
    pub fn typed(&self) -> String {
        pressed::typed(&self.args.target(), &self.args.started)
    }

    /// Takes the name of a target that was started.
    pub fn know(&mut self, pressed: &Pressed) {
        if self.is_ours() {
            self.title = pressed.name();
            self.is_known = true;
        }
    }

    /// Findings of two programs are none of one target.
    ///
    /// # Errors
    /// It is another program, or version, than the one that was started first.
    pub fn refuse_other(&self, pressed: &Pressed) -> Result<(), Problem> {
        let now = pressed.name();
        if !self.is_known || now == self.title {
            return Ok(());
        }
        Err(Problem::impossible(format!(
            "what was started is {now}, and it was {} before: it was replaced in the middle; start anew",
            self.title
        )))
    }

    /// wringer starts the target.
    pub fn is_ours(&self) -> bool {
        self.args.target().is_ours()
    }

    /// Bytes that it may keep, where that is known.
    pub fn cache_bytes(&self) -> Option<u64> {
        let given = self.args.started.place.cache_memory;
        cache::cache_bytes(&self.args.target(), self.args.memory(), given).filter(|bytes| *bytes > 0)
    }

    /// wringer knows how it is made to read its configuration again.
    pub fn reloads(&self) -> bool {
        match self.args.target() {
            Target::Rig { name, .. } => rig::named(&name).is_ok_and(|proxy| proxy.reload().is_some()),
            Target::Proxy(_) | Target::Command(_) | Target::Demonstration => false,
        }
    }

    /// It can be given a disk of its own for its cache.
    pub fn has_disk(&self) -> bool {
        match self.args.target() {
            Target::Rig { name, .. } => {
                rig::named(&name).is_ok_and(|proxy| proxy.store().is_some()) && rig::disk::can_be_mounted()
            }
            Target::Proxy(_) | Target::Command(_) | Target::Demonstration => false,
        }
    }

    /// Addresses for one run. `gated`: a gate is before the origin. `name`: no other run has it.
    ///
    /// # Errors
    /// A port is taken.
    pub fn addresses(&self, gated: bool, name: &str) -> Result<Addresses, Problem> {
        let origin = cache::listening(self.args.origin_address())?;
        let target = pressed::listen(&self.args.target())?;
        let behind = if gated { pressed::any_port()? } else { origin };
        let seed = name.bytes().fold(self.seed, |seed, byte| hash(seed, u64::from(byte)));
        Ok(Addresses { target, origin, behind, seed })
    }

    /// Starts the target, where wringer does. `action`: what will be done to it, where it must be started so that this can be.
    ///
    /// # Errors
    /// It does not start.
    pub fn start(&self, at: &Addresses, action: Option<TargetAction>) -> Result<Pressed, Problem> {
        let disk_bytes = match action {
            Some(TargetAction::FillDisk(bytes)) => Some(bytes),
            Some(TargetAction::FewDescriptors(_) | TargetAction::Reload(_)) | None => None,
        };
        let options = RigOptions {
            disk_bytes,
            http: if self.args.tls { HttpProtocol::Two } else { HttpProtocol::One },
            ..pressed::options(&self.args.started, at.origin, self.args.memory(), &self.args.wait)
        };
        pressed::start(&self.args.target(), &at.target, options)
    }

    /// A plan for the target. `origin`: what it is to be, where it runs with this plan.
    pub fn plan(
        &self,
        at: &Addresses,
        site: Site,
        protocol: Protocol,
        phases: Vec<Phase>,
        origin: Option<Origin>,
    ) -> Plan {
        let load = Load {
            target: Some(at.target.clone()),
            sources: Vec::new(),
            protocol: self.spoken(at, protocol),
            check: Check::default(),
            phases,
            ..Load::default()
        };
        Plan {
            version: Plan::VERSION,
            seed: crate::arguments::plan_seed(at.seed),
            threads: self.args.threads,
            io: plan::Io::Auto,
            site,
            load: Some(load),
            origin: origin.map(|origin| Origin { listen: at.behind.to_string(), ..origin }),
        }
    }

    fn spoken(&self, at: &Addresses, mut protocol: Protocol) -> Protocol {
        let tls = self.args.client_tls();
        match &mut protocol {
            Protocol::Http(http) => {
                http.authority = reachable(at.origin).to_string();
                http.tls = tls;
            }
            Protocol::Messages(messages) => messages.tls = tls,
        }
        protocol
    }

    /// Description of a run.
    pub fn about(&self, plan: &Plan, scenario: &str, role: Role) -> About {
        let own = [
            ("stress", format!("{:x}", self.seed)),
            ("scenario", scenario.to_owned()),
            ("role", role.name().to_owned()),
        ];
        About { door: "cache", ..leg::about(plan, &self.title, &self.args.keep, own) }
    }
}
