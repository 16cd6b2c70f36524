//! Modules that public scripts ask for and that are built in: pure Lua, with a few functions of the host.

use crate::failure::PRELUDE;
use mlua::{Lua, Table, Value};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Every module, by the name that `require` knows it by.
pub(crate) const NAMES: [&str; 10] = [
    "cjson",
    "cjson.safe",
    "json",
    "dkjson",
    "socket",
    "socket.core",
    "socket.url",
    "mime",
    "base64",
    "struct",
];

/// How many of [`NAMES`], from the first on, are in the chunk about JSON.
const OF_JSON: usize = 4;
/// A script that sleeps holds up its whole thread.
const LONGEST_SLEEP: Duration = Duration::from_secs(60);

/// The module of this name, or nil.
pub(crate) fn built_in(lua: &Lua, name: String) -> mlua::Result<Value> {
    let Some(place) = NAMES.iter().position(|known| *known == name) else { return Ok(Value::Nil) };
    let chunk =
        if place < OF_JSON { include_str!("modules/json.lua") } else { include_str!("modules/small.lua") };
    let modules: Table = lua.load(chunk).set_name(format!("={PRELUDE}")).call(host(lua)?)?;
    let module: Value = modules.get(name.as_str())?;
    if name == "socket" {
        // As LuaSocket for Lua 5.1 did, which public scripts count on.
        lua.globals().set(name, &module)?;
    }
    Ok(module)
}

/// Makes the table of what Lua alone cannot do.
fn host(lua: &Lua) -> mlua::Result<Table> {
    let host = lua.create_table()?;
    host.set("null", Value::NULL)?;
    host.set("gettime", lua.create_function(|_, ()| Ok(unix_seconds()))?)?;
    host.set("sleep", lua.create_function(|_, seconds| sleep(seconds))?)?;
    let bytes = |value: f64| value.to_le_bytes();
    host.set("double_bytes", lua.create_function(move |lua, value| lua.create_string(bytes(value)))?)?;
    let bytes = |value: f32| value.to_le_bytes();
    host.set("float_bytes", lua.create_function(move |lua, value| lua.create_string(bytes(value)))?)?;
    let double = |text: &[u8]| text.try_into().map(f64::from_le_bytes).unwrap_or_default();
    host.set("double_of", lua.create_function(move |_, text: mlua::String| Ok(double(&text.as_bytes())))?)?;
    let float = |text: &[u8]| text.try_into().map(f32::from_le_bytes).unwrap_or_default();
    host.set("float_of", lua.create_function(move |_, text: mlua::String| Ok(float(&text.as_bytes())))?)?;
    Ok(host)
}

fn sleep(seconds: f64) -> mlua::Result<()> {
    let time = Duration::try_from_secs_f64(seconds).unwrap_or_default();
    std::thread::sleep(time.min(LONGEST_SLEEP));
    Ok(())
}

/// Seconds since 1970.
pub(crate) fn unix_seconds() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}
