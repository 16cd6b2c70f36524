//! One Lua state, with all that a script finds in it before its first line runs.

use crate::debug;
use crate::failure::{Failure, Fatal, PRELUDE};
use crate::modules;
use crate::network::{self, Network, Refusal};
use mlua::{Function, Lua, Table, Value};
use plan::{Dialect, ScriptStep};
use std::path::Path;
use std::sync::Arc;

/// Folders of Lua modules that distributions use and LuaJIT's own build does not look into.
const SYSTEM_PATHS: &str = "/usr/share/lua/5.1/?.lua;/usr/share/lua/5.1/?/init.lua";

/// A state.
pub(crate) struct State {
    pub lua: Lua,
    pub wrk: Table,
    /// Failures that are no mistake of the script.
    pub fatal: Fatal,
    /// Why the last address took no connection.
    pub refusal: Refusal,
    host: Table,
}

impl State {
    /// Makes a state; the script has not run yet.
    pub fn new(step: &ScriptStep, network: &Arc<dyn Network>) -> Result<State, Failure> {
        let lua = Lua::new();
        let fatal = Fatal::default();
        let made = || {
            let (wrk, host) = fill(&lua, step)?;
            let refusal = network::install(&lua, &wrk, network, &fatal)?;
            Ok((wrk, host, refusal))
        };
        let (wrk, host, refusal) = made().map_err(|error: mlua::Error| Failure::of(&error))?;
        Ok(State { lua, wrk, fatal, refusal, host })
    }

    /// The failure that an error means.
    pub fn failure(&self, error: &mlua::Error) -> Failure {
        self.fatal.failure(error)
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

    /// True if the script defines a function of this name.
    pub fn defines(&self, name: &str) -> mlua::Result<bool> {
        self.host("defines")?.call(name)
    }

    /// Flushes what the script has printed: others write to the same place.
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
        wrk.set("time_us", lua.create_function(|_, ()| Ok((modules::unix_seconds() * 1e6).floor()))?)?;
    }
    lua.globals().set("wrk", &wrk)?;
    look_for_modules(lua, &step.file)?;
    debug::install(lua)?;
    let prelude = lua.load(include_str!("prelude.lua")).set_name(format!("={PRELUDE}"));
    let built_in = lua.create_function(modules::built_in)?;
    let host = prelude.call((built_in, modules::NAMES.join(", "), folder(&step.file)))?;
    Ok((wrk, host))
}

/// The folder of a script, with a slash behind it, where it is not the working directory.
fn folder(file: &str) -> Option<String> {
    let folder = Path::new(file).parent().filter(|folder| !folder.as_os_str().is_empty())?;
    Some(format!("{}/", folder.display()))
}

/// Adds the script's folder and the system's to those that modules are looked for in.
fn look_for_modules(lua: &Lua, file: &str) -> mlua::Result<()> {
    let package: Table = lua.globals().get("package")?;
    let known: String = package.get("path")?;
    let own = folder(file).map(|folder| format!(";{folder}?.lua")).unwrap_or_default();
    package.set("path", format!("{known}{own};{SYSTEM_PATHS}"))
}
