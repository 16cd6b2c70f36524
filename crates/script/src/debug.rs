//! Lua's `debug` as scripts find it: who called whom, and where a function stands. The rest of it could corrupt the process.

use mlua::{Function, Lua, Table, Value};

/// Gives a state its table `debug`.
pub(crate) fn install(lua: &Lua) -> mlua::Result<()> {
    let debug = lua.create_table()?;
    debug.set("traceback", lua.create_function(traceback)?)?;
    debug.set("getinfo", lua.create_function(info)?)?;
    let package: Table = lua.globals().get("package")?;
    package.get::<Table>("loaded")?.set("debug", &debug)?;
    lua.globals().set("debug", debug)
}

/// `debug.traceback([message [, level]])`; a message that is no text comes back as it is.
fn traceback(lua: &Lua, (message, level): (Value, Option<usize>)) -> mlua::Result<Value> {
    let text = match &message {
        Value::Nil => None,
        Value::String(text) => Some(text.to_string_lossy()),
        Value::Integer(_) | Value::Number(_) => Some(message.to_string()?),
        _ => return Ok(message),
    };
    lua.traceback(text.as_deref(), level.unwrap_or(1)).map(Value::String)
}

/// `debug.getinfo(function or level)`; nil where so many calls are not under way. Of which fields the second argument
/// speaks does not matter: all are there.
fn info(lua: &Lua, (of, _fields): (Value, Option<String>)) -> mlua::Result<Option<Table>> {
    match of {
        Value::Function(function) => of_function(lua, &function).map(Some),
        level => {
            let Some(level) = level.as_usize() else { return Ok(None) };
            of_level(lua, level)
        }
    }
}

fn of_function(lua: &Lua, function: &Function) -> mlua::Result<Table> {
    let info = function.info();
    let table = lua.create_table()?;
    table.set("source", info.source)?;
    table.set("short_src", info.short_src)?;
    table.set("what", info.what)?;
    table.set("linedefined", info.line_defined)?;
    table.set("lastlinedefined", info.last_line_defined)?;
    table.set("nups", info.num_upvalues)?;
    table.set("currentline", -1)?;
    table.set("func", function)?;
    Ok(table)
}

fn of_level(lua: &Lua, level: usize) -> mlua::Result<Option<Table>> {
    let found = lua.inspect_stack(level, |call| {
        let names = call.names();
        let name = names.name.map(|name| name.into_owned());
        (call.function(), call.current_line(), name, names.name_what)
    });
    let Some((function, line, name, name_what)) = found else { return Ok(None) };
    let table = of_function(lua, &function)?;
    table.set("currentline", line)?;
    table.set("name", name)?;
    table.set("namewhat", name_what.unwrap_or_default())?;
    Ok(Some(table))
}
