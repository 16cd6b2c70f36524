//! A worker's state: first on stage, where it does what it is told, then as the script of a worker that runs.

use crate::failure::Failure;
use crate::message::{Globals, Order, Reply, ScriptFailed};
use crate::network::Network;
use crate::state::State;
use crate::thread::{Own, userdata};
use crate::value::Carried;
use load::script::{Halt, Hooks, Ledger, Response, Script};
use mlua::{Function, Lua, Value};
use plan::{Dialect, ScriptStep};
use std::collections::HashSet;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;
use wire::http1::Expect;
use wire::http1::batch::{self, Batch, Flaw};

/// A worker's place, to be taken to its thread.
pub struct Seat {
    pub(crate) index: usize,
    pub(crate) step: Arc<ScriptStep>,
    pub(crate) network: Arc<dyn Network>,
    pub(crate) orders: Receiver<Order>,
    pub(crate) replies: Sender<Reply>,
    pub(crate) told: Sender<ScriptFailed>,
    pub(crate) ended: Sender<(usize, Globals)>,
    pub(crate) pulse: Arc<AtomicU64>,
    pub(crate) ledger: Arc<Ledger>,
}

impl Seat {
    /// Does what the stage says until that lets it go. To be called on the thread that the script is to run on, which
    /// waits meanwhile.
    ///
    /// # Errors
    /// The script cannot run, or the stage has gone: whoever sets the stage knows why.
    pub fn play(self) -> Result<Box<dyn Script>, Failure> {
        let mut actor = Actor::new();
        loop {
            let gone = || Failure("the script was given up".to_owned());
            match self.orders.recv().map_err(|_| gone())? {
                Order::Begin => return actor.begin(self),
                Order::Get(name) => {
                    let value = actor.get(&name);
                    let _ = self.replies.send(Reply::Value(value));
                }
                order => {
                    let done = actor.follow(order, &self);
                    // The stage waits for an answer, or has gone.
                    let _ = self.replies.send(Reply::Done(done));
                }
            }
        }
    }
}

/// A state on stage.
struct Actor {
    state: Option<State>,
    own: Rc<Own>,
    /// Names of globals that are not the script's.
    foreign: HashSet<Vec<u8>>,
    hooks: Hooks,
    keep: bool,
    /// The last request that was looked at.
    last: Batch,
}

impl Actor {
    fn new() -> Actor {
        Actor {
            state: None,
            own: Rc::default(),
            foreign: HashSet::new(),
            hooks: Hooks::default(),
            keep: false,
            last: Batch { count: 1, expect: Expect::Body },
        }
    }

    fn state(&self) -> Result<&State, Failure> {
        self.state.as_ref().ok_or_else(|| Failure("the script has not been loaded".to_owned()))
    }

    fn follow(&mut self, order: Order, seat: &Seat) -> Result<(), Failure> {
        match order {
            Order::Load => self.load(seat),
            Order::Connect(addr) => {
                *self.own.addr.borrow_mut() = Some(addr);
                Ok(())
            }
            Order::Set(name, value) => self.set(&name, value),
            Order::Stop => {
                self.own.stopped.set(true);
                Ok(())
            }
            Order::Init { keep } => {
                self.keep = keep;
                let done = self.init(seat);
                self.state()?.flush();
                done
            }
            Order::Get(_) | Order::Begin => Ok(()),
        }
    }

    fn load(&mut self, seat: &Seat) -> Result<(), Failure> {
        let state = State::new(&seat.step, &seat.network)?;
        self.foreign = names(&state);
        let loaded = state.load(&seat.step).map_err(|error| state.failure(&error));
        state.flush();
        self.state = Some(state);
        loaded
    }

    fn set(&self, name: &[u8], value: Carried) -> Result<(), Failure> {
        let lua = &self.state()?.lua;
        let set = || lua.globals().set(lua.create_string(name)?, value.into_lua(lua)?);
        set().map_err(|error| Failure::of(&error))
    }

    fn get(&self, name: &[u8]) -> Result<Carried, String> {
        let state = self.state().map_err(|failure| failure.0)?;
        let value = || state.lua.globals().get::<Value>(state.lua.create_string(name)?);
        Carried::of(&value().map_err(|error| error.to_string())?)
    }

    /// Calls `init`, and finds out what the script makes of each request.
    fn init(&mut self, seat: &Seat) -> Result<(), Failure> {
        let state = self.state()?;
        let failed = |error: mlua::Error| state.failure(&error);
        let hooks = self.initialised(state, seat).map_err(failed)?;
        if hooks.fixed.is_none() && seat.index > 0 {
            // Asking once more than needed is noticed by scripts that count; the first seat has asked.
            self.hooks = hooks;
            return Ok(());
        }
        let request: Value = state.host("request").and_then(|call| call.call(())).map_err(failed)?;
        let checked = batch::check(&text_of(&state.lua, request));
        self.last = checked.map_err(|flaw| Failure(flaw_text(&flaw)))?;
        self.hooks = hooks;
        Ok(())
    }

    fn initialised(&self, state: &State, seat: &Seat) -> mlua::Result<Hooks> {
        let lua = &state.lua;
        state.wrk.set("thread", userdata(lua, self.own.clone())?)?;
        let args = lua.create_table()?;
        args.set(0, seat.step.url.as_str())?;
        for (nth, arg) in seat.step.args.iter().enumerate() {
            args.set(nth + 1, arg.as_str())?;
        }
        state.wrk.get::<Function>("init")?.call::<()>(args)?;
        let fixed = match state.defines("request")? {
            true => None,
            false => {
                let request = state.wrk.get::<Function>("request")?.call::<Value>(())?;
                Some(text_of(lua, request))
            }
        };
        Ok(Hooks {
            fixed,
            delays: seat.step.dialect == Dialect::Wrk && state.defines("delay")?,
            responds: state.defines("response")?,
        })
    }

    fn begin(self, seat: Seat) -> Result<Box<dyn Script>, Failure> {
        let state = self.state.ok_or_else(|| Failure("the script has not been loaded".to_owned()))?;
        let functions = || Ok((state.host("request")?, state.host("delay")?, state.host("response")?));
        let (request, delay, response) = functions().map_err(|error: mlua::Error| Failure::of(&error))?;
        let looks_at = match self.hooks.responds {
            true => state.host("response_looks_at").and_then(|call| call.call(())),
            false => Ok(0),
        };
        let target = self.own.addr.borrow().map(|addr| addr.0);
        Ok(Box::new(Player {
            looks_at: looks_at.map_err(|error| Failure::of(&error))?,
            target: target.ok_or_else(|| Failure("the thread has no address to connect to".to_owned()))?,
            request,
            delay,
            response,
            state,
            own: self.own,
            foreign: self.foreign,
            hooks: self.hooks,
            keep: self.keep,
            last: self.last,
            seat,
        }))
    }
}

/// A value as the old tool sends it: what is neither text nor number is nothing.
fn text_of(lua: &Lua, value: Value) -> Vec<u8> {
    let text = lua.coerce_string(value).ok().flatten();
    text.map(|text| text.as_bytes().to_vec()).unwrap_or_default()
}

/// Returns the flaw of a request, in the old tool's form.
fn flaw_text(flaw: &Flaw) -> String {
    let what = flaw.error.map_or("incomplete request".to_owned(), |error| error.to_string());
    format!("{what} at {}:{}", flaw.line, flaw.column)
}

fn names(state: &State) -> HashSet<Vec<u8>> {
    let globals = state.lua.globals();
    let pairs = globals.pairs::<mlua::String, Value>();
    pairs.flatten().map(|(name, _)| name.as_bytes().to_vec()).collect()
}

/// A state whose worker runs.
struct Player {
    state: State,
    request: Function,
    delay: Function,
    response: Function,
    /// How many of its arguments `response` looks at.
    looks_at: u32,
    own: Rc<Own>,
    target: SocketAddr,
    foreign: HashSet<Vec<u8>>,
    hooks: Hooks,
    keep: bool,
    last: Batch,
    seat: Seat,
}

impl Player {
    /// Calls into Lua. Odd numbers of the pulse are calls that have not come back.
    fn call<T>(&self, call: impl FnOnce(&Player) -> mlua::Result<T>) -> Result<T, Halt> {
        let pulse = &self.seat.pulse;
        let beat = pulse.load(Ordering::Relaxed);
        pulse.store(beat + 1, Ordering::Relaxed);
        let called = call(self);
        pulse.store(beat + 2, Ordering::Relaxed);
        match called {
            Err(error) => {
                // Whoever listens may have gone with the run.
                let _ = self.seat.told.send(ScriptFailed(self.state.failure(&error)));
                Err(Halt::Failed)
            }
            Ok(_) if self.own.stopped.get() => Err(Halt::Stopped),
            Ok(value) => Ok(value),
        }
    }

    fn respond(&self, response: &Response) -> mlua::Result<()> {
        let lua = &self.state.lua;
        match self.looks_at {
            0 | 1 => self.response.call(response.status),
            2 => self.response.call((response.status, self.headers(response)?)),
            _ => self.response.call((
                response.status,
                self.headers(response)?,
                lua.create_string(&response.body)?,
            )),
        }
    }

    /// Of fields with the same name the last one counts, as in the old tool.
    fn headers(&self, response: &Response) -> mlua::Result<mlua::Table> {
        let lua = &self.state.lua;
        let headers = lua.create_table()?;
        for (name, value) in response.fields() {
            match (std::str::from_utf8(name), std::str::from_utf8(value)) {
                (Ok(name), Ok(value)) => headers.raw_set(name, value)?,
                _ => headers.raw_set(lua.create_string(name)?, lua.create_string(value)?)?,
            }
        }
        Ok(headers)
    }

    fn globals(&self) -> Globals {
        let globals = self.state.lua.globals();
        let pairs = globals.pairs::<mlua::String, Value>();
        let name = |pair: mlua::Result<(mlua::String, Value)>| {
            let (name, value) = pair.ok()?;
            let name = name.as_bytes().to_vec();
            (!self.foreign.contains(&name)).then(|| (name, Carried::of(&value)))
        };
        pairs.filter_map(name).collect()
    }
}

impl Script for Player {
    fn target(&self) -> SocketAddr {
        self.target
    }

    fn hooks(&self) -> Hooks {
        self.hooks.clone()
    }

    fn delay(&mut self) -> Result<Duration, Halt> {
        if self.own.stopped.get() {
            return Err(Halt::Stopped);
        }
        let ms = self.call(|player| player.delay.call::<f64>(()))?;
        Ok(Duration::try_from_secs_f64(ms / 1000.0).unwrap_or_default())
    }

    fn request(&mut self, into: &mut Vec<u8>) -> Result<Batch, Halt> {
        if self.own.stopped.get() {
            return Err(Halt::Stopped);
        }
        let batch = self.call(|player| {
            let request: Value = player.request.call(())?;
            match &request {
                Value::String(text) => into.extend_from_slice(&text.as_bytes()),
                _ => into.extend_from_slice(&text_of(&player.state.lua, request)),
            }
            // What is no request is sent as it is, as the old tool does; as many answers are waited for as before.
            Ok(batch::count(into).unwrap_or(player.last))
        })?;
        self.last = batch;
        Ok(batch)
    }

    fn response(&mut self, response: &Response) -> Result<(), Halt> {
        self.call(|player| player.respond(response))
    }

    fn ledger(&self) -> Arc<Ledger> {
        self.seat.ledger.clone()
    }

    fn end(&mut self) {
        self.state.flush();
        let globals = if self.keep { self.globals() } else { Globals::default() };
        let _ = self.seat.ended.send((self.seat.index, globals));
    }
}
