//! The state of `setup` and `done`, and the order in which the states of all threads come to life.
//!
//! [`Stage::new`] runs the script once and settles where connections go; [`Stage::set_up`] then leads each seat through
//! its own run of the script, `setup` and `init`; the workers run; [`Stage::done`] tells the script how it was.

use crate::failure::{Failure, Fatal};
use crate::message::{Globals, Order, Reply, Told};
use crate::player::Seat;
use crate::state::State;
use crate::stats::{Stats, summary};
use crate::thread::{Addr, Handle, userdata};
use crate::value::Carried;
use measure::{Clock, RunResult};
use mlua::{Function, Lua, Table, Value};
use plan::{Dialect, ScriptStep};
use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// Looks up names and tries addresses, for scripts.
pub trait Network {
    /// The addresses of a host and a service, which is a port or a name such as `http`.
    ///
    /// # Errors
    /// Why there are none, in a few words.
    fn lookup(&self, host: &str, service: &str) -> Result<Vec<SocketAddr>, String>;

    /// Whether a connection can be opened.
    ///
    /// # Errors
    /// Why not, in a few words.
    fn connect(&self, to: SocketAddr) -> Result<(), String>;
}

/// A call into a script that takes longer than this has no end.
const LONGEST_CALL: Duration = Duration::from_secs(5);
/// `init` may read large files.
const LONGEST_INIT: Duration = Duration::from_secs(60);

/// The state of `setup` and `done`, and the ways to the others.
pub struct Stage {
    state: State,
    step: Arc<ScriptStep>,
    links: Vec<Rc<Link>>,
    told: Receiver<Told>,
    fatal: Fatal,
    trouble: Option<Failure>,
    watch: Vec<Watch>,
}

/// Whether calls come back, of one seat.
struct Watch {
    pulse: Arc<AtomicU64>,
    seen: u64,
    since: Instant,
    given_up: bool,
}

impl Watch {
    /// Whether a call has been going on for too long; true once.
    fn is_stuck(&mut self, now: Instant) -> bool {
        let beat = self.pulse.load(Ordering::Relaxed);
        if beat != self.seen || beat.is_multiple_of(2) {
            (self.seen, self.since) = (beat, now);
        }
        let stuck = !self.given_up && now.saturating_duration_since(self.since) > LONGEST_CALL;
        self.given_up |= stuck;
        stuck
    }
}

impl Stage {
    /// Runs the script in a state of its own, and settles where connections go. The seats are to be taken to their
    /// threads, and [`Seat::play`]ed there, before [`Stage::set_up`].
    ///
    /// # Errors
    /// A mistake of the script, or a host that nobody answers for.
    pub fn new(
        step: &ScriptStep,
        workers: u32,
        network: Rc<dyn Network>,
        now: Instant,
    ) -> Result<(Stage, Vec<Seat>), Failure> {
        let step = Arc::new(step.clone());
        let state = State::new(&step)?;
        let fatal = Fatal::default();
        let loaded = state.load(&step).map_err(|error| Failure::of(&error));
        state.flush();
        loaded?;
        resolve(&state, &step, network, &fatal)?;
        let (told_in, told) = channel();
        let mut stage = Stage {
            state,
            step: step.clone(),
            links: Vec::new(),
            told,
            fatal,
            trouble: None,
            watch: Vec::new(),
        };
        let seats = (0..workers as usize).map(|index| {
            let (orders_in, orders) = channel();
            let (replies_in, replies) = channel();
            let pulse = Arc::new(AtomicU64::new(0));
            let link = Link { orders: RefCell::new(Some(orders_in)), replies, globals: RefCell::default() };
            stage.links.push(Rc::new(link));
            stage.watch.push(Watch { pulse: pulse.clone(), seen: 0, since: now, given_up: false });
            Seat { index, step: step.clone(), orders, replies: replies_in, told: told_in.clone(), pulse }
        });
        let seats = seats.collect();
        Ok((stage, seats))
    }

    /// Leads each seat through the script, `setup` and `init`, one after the other, and lets them go.
    ///
    /// # Errors
    /// A mistake of the script; all seats are then given up.
    pub fn set_up(&mut self) -> Result<(), Failure> {
        let done = self.set_up_all();
        self.state.flush();
        if done.is_err() {
            self.links.iter().for_each(|link| link.close());
        }
        done
    }

    fn set_up_all(&mut self) -> Result<(), Failure> {
        let keep = self.state.defines("done").map_err(|error| Failure::of(&error))?;
        for link in self.links.clone() {
            link.order(Order::Load)?;
            let thread: Rc<dyn Handle> = Rc::new(Remote { link: link.clone(), addr: RefCell::new(None) });
            let call = || {
                let setup: Function = self.state.wrk.get("setup")?;
                setup.call::<()>(userdata(&self.state.lua, thread)?)
            };
            call().map_err(|error| self.fatal.failure(&error))?;
            self.state.flush();
            link.order(Order::Init { keep })?;
        }
        for link in &self.links {
            link.send(Order::Begin)?;
        }
        Ok(())
    }

    /// A worker whose script has been in one call for too long, told once for each; to be asked now and then.
    pub fn stuck(&mut self, now: Instant) -> Option<u32> {
        let index = self.watch.iter_mut().position(|watch| watch.is_stuck(now))?;
        let text = format!(
            "{}: a call into the script did not return within {} s: look for an endless loop",
            self.step.file,
            LONGEST_CALL.as_secs()
        );
        self.trouble.get_or_insert(Failure(text));
        Some(index as u32)
    }

    /// Why the run ended before its time, where the script has failed in it.
    pub fn trouble(&mut self) -> Option<Failure> {
        self.listen();
        self.trouble.clone()
    }

    fn listen(&mut self) {
        while let Ok(told) = self.told.try_recv() {
            match told {
                Told::Failed(failure) => {
                    self.trouble.get_or_insert(failure);
                }
                Told::Ended { seat, globals } => *self.links[seat].globals.borrow_mut() = Some(globals),
            }
        }
    }

    /// Calls `done`, where the script has it.
    ///
    /// # Errors
    /// A mistake of the script.
    pub fn done(&mut self, result: &RunResult) -> Result<(), Failure> {
        self.listen();
        self.links.iter().for_each(|link| link.close());
        let measured = result.measured();
        let (clock, dialect) = match self.step.dialect {
            Dialect::Wrk => (Clock::Service, Dialect::Wrk),
            Dialect::Wrk2 => (Clock::Response, Dialect::Wrk2),
        };
        let call = || {
            let latency = Stats::new(measured.tally.clock(clock), dialect);
            let rates = Stats::new(&measured.rates.seen(), dialect);
            let summary = summary(&self.state.lua, result)?;
            self.state.host("done")?.call::<()>((summary, latency, rates))
        };
        let done = call().map_err(|error| self.fatal.failure(&error));
        self.state.flush();
        done
    }
}

/// Gives scripts `wrk.lookup` and `wrk.connect`, and lets them resolve the host.
fn resolve(state: &State, step: &ScriptStep, network: Rc<dyn Network>, fatal: &Fatal) -> Result<(), Failure> {
    let refusal = Rc::new(RefCell::new("no address".to_owned()));
    let (looks_up, fatal_of_lookup) = (network.clone(), fatal.clone());
    let lookup = move |_: &Lua, (host, service): (String, String)| {
        let found = looks_up.lookup(&host, &service);
        let refused = |why| fatal_of_lookup.raise(format!("unable to resolve {host}:{service} {why}"));
        Ok(found.map_err(refused)?.into_iter().map(Addr).collect::<Vec<_>>())
    };
    let refused = refusal.clone();
    let connect = move |_: &Lua, addr: mlua::UserDataRef<Addr>| {
        let tried = network.connect(addr.0);
        Ok(tried.map_err(|why| *refused.borrow_mut() = why).is_ok())
    };
    let host: String = state.wrk.get("host").unwrap_or_default();
    let service = step.port().map_or_else(|| state.wrk.get("scheme").unwrap_or_default(), str::to_owned);
    let resolved = || {
        state.wrk.set("lookup", state.lua.create_function(lookup)?)?;
        state.wrk.set("connect", state.lua.create_function(connect)?)?;
        state.wrk.get::<Function>("resolve")?.call::<()>((host.as_str(), service.as_str()))?;
        Ok(state.wrk.get::<Table>("addrs")?.raw_len())
    };
    let found = resolved().map_err(|error: mlua::Error| fatal.failure(&error));
    state.flush();
    match found? {
        0 => Err(Failure(format!("unable to connect to {host}:{service} {}", refusal.borrow()))),
        _ => Ok(()),
    }
}

/// The way to a seat.
#[derive(Debug)]
struct Link {
    /// Closed once nothing more is to be asked.
    orders: RefCell<Option<Sender<Order>>>,
    replies: Receiver<Reply>,
    /// What was left when the run was over.
    globals: RefCell<Option<Globals>>,
}

impl Link {
    fn close(&self) {
        *self.orders.borrow_mut() = None;
    }

    fn send(&self, order: Order) -> Result<(), Failure> {
        let sent = self.orders.borrow().as_ref().map(|orders| orders.send(order).is_ok());
        if sent == Some(true) { Ok(()) } else { Err(Failure("the thread has ended".to_owned())) }
    }

    /// Gives an order and waits until it is done.
    fn order(&self, order: Order) -> Result<(), Failure> {
        self.send(order)?;
        match self.reply()? {
            Reply::Done(done) => done,
            Reply::Value(_) => Ok(()),
        }
    }

    fn reply(&self) -> Result<Reply, Failure> {
        let seconds = LONGEST_INIT.as_secs();
        let silent =
            |_| Failure(format!("the script did not come back within {seconds} s: look for an endless loop"));
        self.replies.recv_timeout(LONGEST_INIT).map_err(silent)
    }

    /// A global: of the state while it is on stage, of what it has left afterwards.
    fn get(&self, name: &[u8]) -> Result<Carried, String> {
        if let Some(globals) = &*self.globals.borrow() {
            return globals.get(name).cloned().unwrap_or(Ok(Carried::Nil));
        }
        if self.orders.borrow().is_none() {
            // The thread had nothing to do, or its script did not come back.
            return Ok(Carried::Nil);
        }
        self.send(Order::Get(name.to_vec())).map_err(|failure| failure.0)?;
        match self.reply().map_err(|failure| failure.0)? {
            Reply::Value(value) => value,
            Reply::Done(_) => Ok(Carried::Nil),
        }
    }
}

/// A thread, as seen from the stage.
struct Remote {
    link: Rc<Link>,
    addr: RefCell<Option<Addr>>,
}

impl Remote {
    fn order(&self, order: Order) -> mlua::Result<()> {
        self.link.order(order).map_err(|failure| mlua::Error::RuntimeError(failure.0))
    }
}

impl Handle for Remote {
    fn addr(&self) -> Option<Addr> {
        *self.addr.borrow()
    }

    fn connect(&self, addr: Addr) -> mlua::Result<()> {
        *self.addr.borrow_mut() = Some(addr);
        self.order(Order::Connect(addr))
    }

    fn get(&self, lua: &Lua, name: &[u8]) -> mlua::Result<Value> {
        self.link.get(name).map_err(mlua::Error::RuntimeError)?.into_lua(lua)
    }

    fn set(&self, _lua: &Lua, name: &[u8], value: Value) -> mlua::Result<()> {
        let value = Carried::of(&value).map_err(mlua::Error::RuntimeError)?;
        self.order(Order::Set(name.to_vec(), value))
    }

    fn stop(&self) -> mlua::Result<()> {
        self.order(Order::Stop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_does_not_return_is_noticed_once() {
        let (began, pulse) = (Instant::now(), Arc::new(AtomicU64::new(0)));
        let mut watch = Watch { pulse: pulse.clone(), seen: 0, since: began, given_up: false };
        let mut stuck = |after| watch.is_stuck(began + Duration::from_secs(after));
        assert!(!stuck(0) && !stuck(60), "no call is under way");
        pulse.store(3, Ordering::Relaxed);
        assert!(!stuck(61), "it has only been seen now");
        assert!(!stuck(65));
        assert!(stuck(67));
        assert!(!stuck(90), "told once");
    }
}
