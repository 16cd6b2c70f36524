//! Which system interface carries the bytes. A choice only: what is possible here, whoever runs the plan finds out.

use serde::{Deserialize, Serialize};

/// The system interface of the workers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Io {
    /// The faster one of those that work here.
    #[default]
    Auto,
    /// Linux's io_uring; the run does not start without it.
    Uring,
    /// epoll, which works everywhere.
    Epoll,
}

impl Io {
    /// True if the choice is left to whoever runs the plan.
    pub fn is_auto(&self) -> bool {
        *self == Io::Auto
    }

    /// Reads the name that plans use.
    ///
    /// # Errors
    /// Which names there are.
    pub fn parse(text: &str) -> Result<Io, String> {
        match text {
            "auto" => Ok(Io::Auto),
            "uring" => Ok(Io::Uring),
            "epoll" => Ok(Io::Epoll),
            _ => Err("give auto, uring or epoll".to_owned()),
        }
    }
}
