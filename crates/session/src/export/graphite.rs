//! Graphite: its plaintext protocol over TCP, with the names of JMeter's listener.

use super::ExportShared;
use super::push::{Destination, Exporter, LineSocket, Outgoing, PushWay, Receiver, now_ms};
use crate::problem::Problem;
use report::graphite;
use report::interval::Interval;
use std::time::Duration;

pub(super) const EXPORTER: Exporter =
    Exporter { option: "--graphite", name: "Graphite", every: Duration::from_secs(5), open };

/// Stands before each path.
const PREFIX: &str = "wringer.";

struct Paths {
    prefix: String,
}

impl Outgoing for Paths {
    fn figures(&self, _: &ExportShared, since: &Interval, _: bool) -> Vec<u8> {
        graphite::lines(since, &self.prefix, now_ms() / 1000).into_bytes()
    }
}

fn open(to: &Destination) -> Result<Receiver, Problem> {
    let prefix = to.name.as_deref().unwrap_or(PREFIX).to_owned();
    Ok(Receiver { way: PushWay::Lines(LineSocket::new(to.to.clone())), format: Box::new(Paths { prefix }) })
}
