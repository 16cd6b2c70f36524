//! Values on their way from one state to another.

use crate::addr::Addr;
use mlua::{Lua, Table, Value};

/// Tables within tables, at most: a table that holds itself has no end.
const DEPTH: usize = 32;

/// A value without its state.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Carried {
    Nil,
    Boolean(bool),
    Number(f64),
    Text(Vec<u8>),
    Table(Vec<(Carried, Carried)>),
    Addr(Addr),
}

impl Carried {
    /// Takes a value out of its state.
    ///
    /// # Errors
    /// A function, coroutine or other thing that belongs to its state, or a table too deep.
    pub fn of(value: &Value) -> Result<Carried, String> {
        of(value, DEPTH)
    }

    /// Puts a value into a state.
    pub fn into_lua(self, lua: &Lua) -> mlua::Result<Value> {
        Ok(match self {
            Carried::Nil => Value::Nil,
            Carried::Boolean(boolean) => Value::Boolean(boolean),
            Carried::Number(number) => Value::Number(number),
            Carried::Text(text) => Value::String(lua.create_string(text)?),
            Carried::Addr(addr) => Value::UserData(lua.create_userdata(addr)?),
            Carried::Table(entries) => {
                let table = lua.create_table()?;
                for (key, value) in entries {
                    table.raw_set(key.into_lua(lua)?, value.into_lua(lua)?)?;
                }
                Value::Table(table)
            }
        })
    }
}

fn of(value: &Value, depth: usize) -> Result<Carried, String> {
    match value {
        Value::Nil => Ok(Carried::Nil),
        Value::Boolean(boolean) => Ok(Carried::Boolean(*boolean)),
        Value::Integer(number) => Ok(Carried::Number(*number as f64)),
        Value::Number(number) => Ok(Carried::Number(*number)),
        Value::String(text) => Ok(Carried::Text(text.as_bytes().to_vec())),
        Value::UserData(thing) if thing.is::<Addr>() => {
            thing.borrow::<Addr>().map(|addr| Carried::Addr(*addr)).map_err(|error| error.to_string())
        }
        Value::Table(_) if depth == 0 => Err(format!("cannot transfer a table that is deeper than {DEPTH}")),
        Value::Table(table) => of_table(table, depth - 1).map(Carried::Table),
        other => Err(format!("cannot transfer a {} to or from a thread", other.type_name())),
    }
}

fn of_table(table: &Table, depth: usize) -> Result<Vec<(Carried, Carried)>, String> {
    let pairs = table.pairs::<Value, Value>();
    pairs
        .map(|pair| {
            let (key, value) = pair.map_err(|error| error.to_string())?;
            Ok((of(&key, depth)?, of(&value, depth)?))
        })
        .collect()
}
