//! The network that scripts see: names are looked up and addresses tried, nothing else.

use crate::addr::Addr;
use crate::failure::Fatal;
use mlua::{Lua, Table};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

/// Looks up names and tries addresses, for scripts.
pub trait Network: Send + Sync {
    /// The addresses of a host and a service, which is a port or a name such as `http`.
    ///
    /// # Errors
    /// Why there are none, in a few words.
    fn lookup(&self, host: &str, service: &str) -> Result<Vec<SocketAddr>, String>;

    /// Opens a connection to see that one can be opened.
    ///
    /// # Errors
    /// Why not, in a few words.
    fn connect(&self, to: SocketAddr) -> Result<(), String>;
}

/// Why the last address took no connection.
pub(crate) type Refusal = Arc<Mutex<String>>;

/// Gives a script `wrk.lookup` and `wrk.connect`, in every state and from its first line on.
pub(crate) fn install(
    lua: &Lua,
    wrk: &Table,
    network: &Arc<dyn Network>,
    fatal: &Fatal,
) -> mlua::Result<Refusal> {
    let refusal = Refusal::new(Mutex::new("no address".to_owned()));
    let looks_up = network.clone();
    let fatal = fatal.clone();
    let lookup = move |_: &Lua, (host, service): (String, String)| {
        let found = looks_up.lookup(&host, &service);
        let refused = |why| fatal.raise(format!("unable to resolve {host}:{service} {why}"));
        Ok(found.map_err(refused)?.into_iter().map(Addr).collect::<Vec<_>>())
    };
    let tries = network.clone();
    let refused = refusal.clone();
    let connect = move |_: &Lua, addr: mlua::UserDataRef<Addr>| {
        let keep = |why| *refused.lock().unwrap_or_else(PoisonError::into_inner) = why;
        Ok(tries.connect(addr.0).map_err(keep).is_ok())
    };
    wrk.set("lookup", lua.create_function(lookup)?)?;
    wrk.set("connect", lua.create_function(connect)?)?;
    Ok(refusal)
}
