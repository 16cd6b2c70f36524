//! A proxy that can be rigged, whichever it is.

use super::farm::Origins;
use super::kinds::ALL;
use super::{RigError, RigOptions, Setup, settings};
use plan::HttpProtocol;
use rustix::process::Signal;
use std::fmt;

/// A module that a program may have been built with, or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Module {
    /// Its name in the list.
    pub name: &'static str,
    /// The word that has the program list its modules.
    pub listed_by: &'static str,
}

/// All that is particular to a proxy. What most of them have in common is said here once.
pub trait Proxy: Sync + fmt::Debug {
    /// Its name on the command line.
    fn name(&self) -> &str;

    /// Returns the name that its makers give it.
    fn title(&self) -> &str;

    /// Names of its program, the most usual one first.
    fn programs(&self) -> &[&str];

    /// The package that has it in Debian and Ubuntu.
    fn package(&self) -> &str;

    /// The module of its program that makes it what it is; `None`: it needs none.
    fn module(&self) -> Option<Module> {
        None
    }

    /// The option that has it tell its version.
    fn version_option(&self) -> &str;

    /// True if it keeps answers.
    fn caches(&self) -> bool {
        true
    }

    /// True if it keeps no more than the memory that it is given.
    fn is_bounded(&self) -> bool {
        true
    }

    /// Returns the protocols that it may be told to speak in front, HTTP/1.1 first.
    fn speaks(&self) -> &[HttpProtocol];

    /// True if a port of its own speaks either HTTP/1.1 or HTTP/2 without TLS, and never both.
    fn is_one_or_the_other(&self) -> bool {
        false
    }

    /// True if the work is done by children of the process that was started.
    fn works_in_children(&self) -> bool {
        false
    }

    /// True if it looks for its origin while it starts.
    fn looks_for_its_origin(&self) -> bool {
        false
    }

    /// Signal to its first process that makes it read its configuration again while it goes on; `None`: there is none.
    fn reload(&self) -> Option<Signal> {
        None
    }

    /// The folder, below its own, of the files in which it keeps its cache, and nothing else; `None`: it has none, or takes all of the room
    /// when it starts.
    fn store(&self) -> Option<&str> {
        None
    }

    /// Files, folders and arguments for these options; `folder`: where all of it will lie.
    fn setup(&self, options: &RigOptions, origins: &Origins, folder: &str) -> Setup;

    /// Gives a setting another value. False: the configuration does not have it, and it cannot be added.
    fn set(&self, setup: &mut Setup, key: &str, value: &str) -> bool {
        settings::replace(setup, "", key, value)
    }
}

impl fmt::Display for dyn Proxy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// Names on the command line, as people read them.
pub fn names() -> String {
    ALL.iter().map(|proxy| proxy.name()).collect::<Vec<_>>().join(", ")
}

/// The proxy of this name.
///
/// # Errors
/// There is none, and the choices.
pub fn named(name: &str) -> Result<&'static dyn Proxy, RigError> {
    let found = ALL.iter().copied().find(|proxy| proxy.name().eq_ignore_ascii_case(name));
    found.ok_or_else(|| RigError::Unknown(name.to_owned()))
}

/// Checks that a proxy can speak all of these at one port.
///
/// # Errors
/// HTTP/1.1 beside HTTP/2 without TLS, which is one or the other for some.
pub fn check_beside(proxy: &'static dyn Proxy, versions: &[HttpProtocol]) -> Result<(), RigError> {
    let both = [HttpProtocol::One, HttpProtocol::TwoClear].iter().all(|one| versions.contains(one));
    match both && proxy.is_one_or_the_other() {
        true => Err(RigError::NotBeside(proxy)),
        false => Ok(()),
    }
}
