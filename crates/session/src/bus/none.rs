//! A build without a bus: whoever asks for one is told so.

use super::at::BusAt;
use crate::problem::Problem;
use std::convert::Infallible;
use std::io::{Empty, Sink};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// An agent that has offered itself: there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offered {
    /// Its name.
    pub name: String,
}

/// The bus, as a controller holds it: there is none.
pub struct Bus(Infallible);

/// Why there is no bus.
pub(crate) fn missing(at: &BusAt) -> Problem {
    Problem::impossible(format!(
        "--bus {at}: this wringer was built without NATS (the feature `nats`): take a build that has it, or --agents"
    ))
}

impl Bus {
    /// Refuses.
    ///
    /// # Errors
    /// This build has no bus.
    pub fn join(at: &BusAt) -> Result<Bus, Problem> {
        Err(missing(at))
    }

    /// Nobody can ask.
    ///
    /// # Errors
    /// None.
    pub fn gather(&self, _expect: Option<u32>, _stop: &AtomicBool) -> Result<Vec<Offered>, Problem> {
        match self.0 {}
    }

    /// Nobody can ask.
    ///
    /// # Errors
    /// None.
    pub fn find(&self, _names: &[String], _stop: &AtomicBool) -> Result<Vec<Offered>, Problem> {
        match self.0 {}
    }

    /// Nobody can ask.
    pub(crate) fn open(&self, _agent: &Offered, _lease: Duration) -> (Empty, Sink) {
        match self.0 {}
    }
}
