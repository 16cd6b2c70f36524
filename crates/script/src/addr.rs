//! Addresses, as scripts see them.

use mlua::{MetaMethod, UserData, UserDataMethods};
use std::net::SocketAddr;

/// An address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Addr(pub SocketAddr);

impl UserData for Addr {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::ToString, |_, addr, ()| Ok(addr.0.to_string()));
        methods
            .add_meta_method(MetaMethod::Eq, |_, addr, other: mlua::UserDataRef<Addr>| Ok(addr.0 == other.0));
    }
}
