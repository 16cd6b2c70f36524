//! The state of `setup` and `done`, and the order in which the states of all threads come to life.
//!
//! [`MainState::new`] runs the script once and settles where connections go; [`MainState::set_up`] then leads each seat
//! through its own run of the script, `setup` and `init`; the workers run; [`MainState::done`] tells the script how it was.

use crate::failure::Failure;
use crate::link::{Link, Remote};
use crate::message::{Globals, Order};
use crate::network::Network;
use crate::state::State;
use crate::stats::StatsEnded;
use crate::thread::{Handle, userdata};
use mlua::{Function, Table};
use plan::ScriptStep;
use std::rc::Rc;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, PoisonError};

/// The state of `setup` and `done`, and the ways to the others. It never leaves its thread.
pub(crate) struct MainState {
    state: State,
    links: Vec<Rc<Link>>,
    /// The globals of seats that have ended.
    ended: Receiver<(usize, Globals)>,
    /// Told of each seat that is through.
    progress: Box<dyn Fn()>,
}

impl MainState {
    /// Runs the script, and settles where connections go.
    ///
    /// # Errors
    /// A mistake of the script, or a host that nobody answers for.
    pub fn new(
        step: &ScriptStep,
        network: &Arc<dyn Network>,
        links: Vec<Link>,
        ended: Receiver<(usize, Globals)>,
        progress: Box<dyn Fn()>,
    ) -> Result<MainState, Failure> {
        let state = State::new(step, network)?;
        let loaded = state.load(step).map_err(|error| state.failure(&error));
        state.flush();
        loaded?;
        resolve(&state, step)?;
        Ok(MainState { state, links: links.into_iter().map(Rc::new).collect(), ended, progress })
    }

    /// Leads each seat through the script, `setup` and `init`, one after the other, and lets them go.
    ///
    /// # Errors
    /// A mistake of the script; all seats are then given up.
    pub fn set_up(&self) -> Result<(), Failure> {
        let done = self.set_up_all();
        self.state.flush();
        if done.is_err() {
            self.links.iter().for_each(|link| link.close());
        }
        done
    }

    fn set_up_all(&self) -> Result<(), Failure> {
        let keep = self.state.defines("done").map_err(|error| Failure::of(&error))?;
        for link in &self.links {
            link.order(Order::Load)?;
            (self.progress)();
            let thread: Rc<dyn Handle> = Rc::new(Remote::new(link.clone()));
            let call = || {
                let setup: Function = self.state.wrk.get("setup")?;
                setup.call::<()>(userdata(&self.state.lua, thread)?)
            };
            call().map_err(|error| self.state.failure(&error))?;
            self.state.flush();
            (self.progress)();
            link.order(Order::Init { keep })?;
            (self.progress)();
        }
        self.links.iter().try_for_each(|link| link.send(Order::Begin))
    }

    /// Calls `done`, where the script has it.
    ///
    /// # Errors
    /// A mistake of the script.
    pub fn done(&self, ended: StatsEnded) -> Result<(), Failure> {
        while let Ok((seat, globals)) = self.ended.try_recv() {
            self.links[seat].keep(globals);
        }
        self.links.iter().for_each(|link| link.close());
        let call = || {
            let told = ended.into_lua(&self.state.lua, &self.state.host("stats")?)?;
            self.state.host("done")?.call::<()>(told)
        };
        let done = call().map_err(|error| self.state.failure(&error));
        self.state.flush();
        done
    }
}

/// Lets the script resolve the host.
fn resolve(state: &State, step: &ScriptStep) -> Result<(), Failure> {
    let host: String = state.wrk.get("host").unwrap_or_default();
    let service = step.port().map_or_else(|| state.wrk.get("scheme").unwrap_or_default(), str::to_owned);
    let resolved = || {
        state.wrk.get::<Function>("resolve")?.call::<()>((host.as_str(), service.as_str()))?;
        Ok(state.wrk.get::<Table>("addrs")?.raw_len())
    };
    let found = resolved().map_err(|error: mlua::Error| state.failure(&error));
    state.flush();
    match found? {
        0 => {
            let why = state.refusal.lock().unwrap_or_else(PoisonError::into_inner);
            Err(Failure(format!("unable to connect to {host}:{service} {why}")))
        }
        _ => Ok(()),
    }
}
