//! Threads, as scripts see them.

use crate::addr::Addr;
use crate::value::Carried;
use mlua::{IntoLua, Lua, MetaMethod, UserData, UserDataFields, UserDataMethods, Value};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Operations of a script on a thread, wherever it runs.
pub(crate) trait Handle {
    fn addr(&self) -> Option<Addr>;
    fn connect(&self, addr: Addr) -> mlua::Result<()>;
    fn get(&self, lua: &Lua, name: &[u8]) -> mlua::Result<Value>;
    fn set(&self, lua: &Lua, name: &[u8], value: Value) -> mlua::Result<()>;
    fn stop(&self) -> mlua::Result<()>;
}

/// A thread in a script's hands.
#[derive(Clone)]
pub(crate) struct Thread(pub Rc<dyn Handle>);

impl UserData for Thread {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("addr", |_, thread| Ok(thread.0.addr()));
        fields
            .add_field_method_set("addr", |_, thread, addr: mlua::UserDataRef<Addr>| thread.0.connect(*addr));
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("get", |lua, thread, name: mlua::String| thread.0.get(lua, &name.as_bytes()));
        methods.add_method("set", |lua, thread, (name, value): (mlua::String, Value)| {
            thread.0.set(lua, &name.as_bytes(), value)
        });
        methods.add_method("stop", |_, thread, ()| thread.0.stop());
        // What a thread has not is its own name, as in wrk.
        methods.add_meta_method(MetaMethod::Index, |lua, _, name: Value| {
            match lua.coerce_string(name.clone())? {
                Some(name) => Ok(Value::String(name)),
                None => Ok(name),
            }
        });
        methods.add_meta_method(MetaMethod::NewIndex, |_, _, (name, _): (mlua::String, Value)| {
            let name = name.to_string_lossy();
            Err::<(), _>(mlua::Error::RuntimeError(format!("cannot set '{name}' on thread")))
        });
    }
}

/// The thread that a state belongs to.
#[derive(Debug, Default)]
pub(crate) struct Own {
    pub addr: RefCell<Option<Addr>>,
    /// The script wants this thread to end.
    pub stopped: Cell<bool>,
}

impl Handle for Own {
    fn addr(&self) -> Option<Addr> {
        *self.addr.borrow()
    }

    fn connect(&self, addr: Addr) -> mlua::Result<()> {
        *self.addr.borrow_mut() = Some(addr);
        Ok(())
    }

    fn get(&self, lua: &Lua, name: &[u8]) -> mlua::Result<Value> {
        lua.globals().get(lua.create_string(name)?)
    }

    fn set(&self, lua: &Lua, name: &[u8], value: Value) -> mlua::Result<()> {
        // A copy, as everywhere else where values reach a thread.
        let copy = Carried::of(&value).map_err(mlua::Error::RuntimeError)?.into_lua(lua)?;
        lua.globals().set(lua.create_string(name)?, copy)
    }

    fn stop(&self) -> mlua::Result<()> {
        self.stopped.set(true);
        Ok(())
    }
}

/// A thread as a Lua value.
pub(crate) fn userdata(lua: &Lua, handle: Rc<dyn Handle>) -> mlua::Result<Value> {
    Thread(handle).into_lua(lua)
}
