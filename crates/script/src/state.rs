//! One Lua state, with all that a script finds in it before its first line runs.

use crate::failure::Failure;
use mlua::{Function, Lua, Table, Value};
use plan::{Dialect, ScriptStep};
use std::time::{SystemTime, UNIX_EPOCH};

/// A state that has run its script.
pub(crate) struct State {
    pub lua: Lua,
    pub wrk: Table,
    host: Table,
}

impl State {
    /// Makes a state; the script has not run yet.
    pub fn new(step: &ScriptStep) -> Result<State, Failure> {
        let lua = Lua::new();
        let made = fill(&lua, step);
        let (wrk, host) = made.map_err(|error| Failure::of(&error))?;
        Ok(State { lua, wrk, host })
    }

    /// Runs the script's text.
    pub fn load(&self, step: &ScriptStep) -> mlua::Result<()> {
        // A first line for the shell, as standalone Lua has it.
        let text = if step.text.starts_with('#') { format!("--{}", step.text) } else { step.text.clone() };
        self.lua.load(text).set_name(format!("@{}", step.file)).exec()
    }

    /// A function of the prelude.
    pub fn host(&self, name: &str) -> mlua::Result<Function> {
        self.host.get(name)
    }

    /// Whether the script defines a function of this name.
    pub fn defines(&self, name: &str) -> mlua::Result<bool> {
        self.host("defines")?.call(name)
    }

    /// What the script has printed goes out now: others write to the same place.
    pub fn flush(&self) {
        // Where it cannot be written nobody is left to tell.
        let _ = self.host("flush").and_then(|flush| flush.call::<()>(()));
    }
}

/// Makes the table `wrk`, and returns it and the prelude's functions.
fn fill(lua: &Lua, step: &ScriptStep) -> mlua::Result<(Table, Table)> {
    let wrk = lua.create_table()?;
    let headers = lua.create_table()?;
    for field in &step.request.fields {
        headers.set(field.name.as_str(), &*field.value.text())?;
    }
    let address = step.request.address();
    let secure = address.as_ref().is_some_and(|address| address.secure);
    wrk.set("scheme", if secure { "https" } else { "http" })?;
    wrk.set("host", address.map(|address| address.host))?;
    wrk.set("port", step.port())?;
    wrk.set("method", step.request.method.as_str())?;
    wrk.set("path", step.request.target.as_deref())?;
    wrk.set("headers", headers)?;
    let body = (!step.request.body.is_empty()).then(|| lua.create_string(&step.request.body[..]));
    wrk.set("body", body.transpose()?)?;
    wrk.set("addrs", lua.create_table()?)?;
    wrk.set("thread", Value::Nil)?;
    if step.dialect == Dialect::Wrk2 {
        let time_us = |_: &Lua, ()| {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            Ok(now.as_micros() as f64)
        };
        wrk.set("time_us", lua.create_function(time_us)?)?;
    }
    lua.globals().set("wrk", &wrk)?;
    let host = lua.load(include_str!("prelude.lua")).set_name("=wringer").eval()?;
    Ok((wrk, host))
}
