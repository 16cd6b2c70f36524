//! Both sides: URLs that run already, URLs whose servers commands start, or proxies that are started here in front of an origin of ours. What is started
//! is started anew for each pair.

use crate::command::{cache, http, pressed::Pressed};
use crate::problem::Problem;
use cli::{CompareArgs, RigPlaceArgs, StartedSide, Target};
use decide::compare::{Leg, Side};
use net::ports;
use plan::secret::without_secrets;
use plan::{Address, Plan};
use proxies::rig::Started;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

/// After this time a command is looked at whether it has ended already.
const BEGINNING: Duration = Duration::from_millis(200);
/// Time within which whoever listens at an address of this machine takes a connection.
const LISTENS: Duration = Duration::from_secs(1);
/// Where plans that are only shown have what wringer would start.
const SHOWN: [u16; 3] = [8080, 8081, 9080];

/// Both sides, as typed.
pub enum Sides {
    /// The plan of each without a pace, and the commands that start them, if any.
    Urls { plans: Box<[Plan; 2]>, names: [String; 2], start: Option<[String; 2]> },
    /// Proxies in front of an origin of ours.
    Proxies([StartedSide; 2]),
}

/// Ports of a pair of proxies; each pair has others, so that nothing of the pair before is in the way.
#[derive(Debug, Clone, Copy)]
pub struct Places {
    listen: [SocketAddr; 2],
    origin: SocketAddr,
}

/// Pair of sides that was started.
pub struct Running {
    /// The leg's pair that they were started for.
    pair: u32,
    control: bool,
    /// The one that runs, where only one can: both are A at one address.
    alone: Option<Side>,
    pub started: Both,
}

/// Processes of both sides.
pub enum Both {
    Commands(Vec<Started>),
    Proxies(Box<[Pressed; 2]>),
}

impl Sides {
    /// Those of a command line.
    ///
    /// # Errors
    /// A file cannot be read; mistakes in the files and options.
    pub fn new(args: &CompareArgs, seed: u64) -> Result<Sides, Problem> {
        if let Some(sides) = args.started.sides().map_err(Problem::Usage)? {
            return Ok(Sides::Proxies(sides));
        }
        let files = http::read(&args.sent)?;
        let [a, b] = args.sides.as_slice() else { unreachable!("two URLs are required") };
        let plan = |url: &str| args.plan(url, seed, &files).map_err(Problem::Usage);
        let start = match args.asked.start.as_slice() {
            [a, b] => Some([a.clone(), b.clone()]),
            _none => None,
        };
        let plans = Box::new([plan(a)?, plan(b)?]);
        Ok(Sides::Urls { plans, names: [a, b].map(|url| without_secrets(url)), start })
    }

    /// As people read them.
    pub fn names(&self) -> [String; 2] {
        match self {
            Sides::Urls { names, .. } => names.clone(),
            Sides::Proxies(sides) => [sides[0].name(), sides[1].name()],
        }
    }

    /// True if both are started anew for each pair.
    pub fn are_started(&self) -> bool {
        match self {
            Sides::Urls { start, .. } => start.is_some(),
            Sides::Proxies(_) => true,
        }
    }

    /// True if both keep answers, and their origin tells which ones.
    pub fn are_caches(&self) -> bool {
        match self {
            Sides::Urls { .. } => false,
            Sides::Proxies(_) => true,
        }
    }

    /// The plan of whoever is asked in a leg, without its pace; `places`: where it is, if it is a proxy of ours.
    ///
    /// # Errors
    /// Options that do not fit together.
    pub fn plan(
        &self,
        leg: &Leg,
        args: &CompareArgs,
        seed: u64,
        places: Option<Places>,
    ) -> Result<Plan, Problem> {
        match self {
            Sides::Urls { plans, .. } => Ok(plans[leg.asked() as usize].clone()),
            Sides::Proxies(sides) => {
                let places = places.unwrap_or_else(Places::shown);
                let listen = places.listen[leg.side as usize];
                args.plan_started(&sides[leg.asked() as usize], listen, places.origin, seed)
                    .map_err(Problem::Usage)
            }
        }
    }
}

impl Places {
    fn shown() -> Places {
        let [a, b, origin] = SHOWN.map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
        Places { listen: [a, b], origin }
    }

    /// Free ports, and the origin where it is to be.
    ///
    /// # Errors
    /// There are none.
    pub fn free(place: &RigPlaceArgs) -> Result<Places, Problem> {
        let any = || {
            ports::free_address(SocketAddr::from(([127, 0, 0, 1], 0)))
                .map_err(|error| Problem::impossible(format!("there is no free port for a side: {error}")))
        };
        Ok(Places { listen: [any()?, any()?], origin: place.origin.map_or_else(any, cache::listening)? })
    }
}

impl Running {
    /// Starts both sides for the pair of a leg. The origin listens already: some proxies take one that does not answer at once for dead.
    ///
    /// # Errors
    /// A side is not installed, does not start, or ends at once.
    pub fn start(
        sides: &Sides,
        leg: &Leg,
        args: &CompareArgs,
        places: Option<Places>,
    ) -> Result<Option<Running>, Problem> {
        let started = match (sides, places) {
            (Sides::Urls { start: None, .. }, _) => return Ok(None),
            (Sides::Urls { start: Some([a, b]), names, .. }, _) => {
                let needed = if leg.control { &names[..1] } else { &names[..] };
                needed.iter().try_for_each(|url| refuse_taken(url))?;
                let start = |command: &String| {
                    Started::start(command).map_err(|error| Problem::impossible(error.to_string()))
                };
                let started = match leg.control {
                    true => vec![start(a)?],
                    false => vec![start(a)?, start(b)?],
                };
                // What cannot begin mostly ends at once, and is not to be waited for.
                std::thread::sleep(BEGINNING);
                Both::Commands(started)
            }
            (Sides::Proxies(sides), places) => {
                let places = places.expect("a pair of proxies has its ports");
                let press = |place: usize, side: usize| -> Result<Pressed, Problem> {
                    let cache = args.cache(&sides[side]).map_err(Problem::Usage)?;
                    cache::press(&cache, &places.listen[place].to_string(), places.origin)
                };
                let b = if leg.control { 0 } else { 1 };
                Both::Proxies(Box::new([press(0, 0)?, press(1, b)?]))
            }
        };
        let alone = match &started {
            Both::Commands(commands) => (commands.len() == 1).then_some(leg.side),
            Both::Proxies(_) => None,
        };
        let running = Running { pair: leg.pair, control: leg.control, alone, started };
        running.check().map(|()| Some(running))
    }

    /// True if they were started for the pair of this leg.
    pub fn is_for(&self, leg: &Leg) -> bool {
        (self.pair, self.control) == (leg.pair, leg.control) && self.alone.is_none_or(|side| side == leg.side)
    }

    /// True if both are A.
    pub fn is_control(&self) -> bool {
        self.control
    }

    /// A side that was started and has ended is the reason for whatever else went wrong.
    ///
    /// # Errors
    /// It is one of these.
    pub fn check(&self) -> Result<(), Problem> {
        match &self.started {
            Both::Commands(started) => started
                .iter()
                .try_for_each(Started::check)
                .map_err(|error| Problem::impossible(error.to_string())),
            Both::Proxies(sides) => {
                for (side, pressed) in [Side::A, Side::B].into_iter().zip(sides.iter()) {
                    if let Some(status) = pressed.status() {
                        return Err(Problem::impossible(format!(
                            "{}: {} has ended ({status}); nothing is concluded",
                            side.name(),
                            pressed.title()
                        )));
                    }
                }
                Ok(())
            }
        }
    }

    /// The first processes of a side that was started here.
    pub fn pids(&self, side: Side) -> Vec<u32> {
        match &self.started {
            Both::Commands(started) => started.get(side as usize).map_or_else(Vec::new, |one| one.pids()),
            Both::Proxies(sides) => {
                let status = || None;
                sides[side as usize].started(&status).map_or_else(Vec::new, |started| started.works)
            }
        }
    }

    /// A proxy that was started here.
    pub fn pressed(&self, side: Side) -> Option<&Pressed> {
        match &self.started {
            Both::Commands(_) => None,
            Both::Proxies(sides) => Some(&sides[side as usize]),
        }
    }
}

/// Refuses a URL where somebody listens before the command that is to start its server: what is started then cannot listen there, and what
/// answers is something else.
fn refuse_taken(url: &str) -> Result<(), Problem> {
    let Some(address) = Address::parse(url) else { return Ok(()) };
    let found = (address.host.as_str(), address.port).to_socket_addrs();
    let taken = |at: &SocketAddr| TcpStream::connect_timeout(at, LISTENS).is_ok();
    match found.into_iter().flatten().find(taken) {
        None => Ok(()),
        Some(at) => Err(Problem::impossible(format!(
            "somebody listens at {at} already, before --start has started a server for {url}: end that one, give another port, or leave --start \
             out; nothing is concluded"
        ))),
    }
}

/// True if both sides are of one kind and differ by their builds, as far as was said.
pub fn are_builds(sides: &Sides) -> bool {
    match sides {
        Sides::Urls { .. } => false,
        Sides::Proxies([a, b]) => {
            matches!((&a.target, &b.target), (Target::Rig { name: a, .. }, Target::Rig { name: b, .. }) if a == b)
                && a.from != b.from
        }
    }
}
