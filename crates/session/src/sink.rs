//! Who gets the records of a run beside its file: the page, exports, a terminal.

use crate::live::Live;
use measure::RunEvent;
use std::fmt;
use std::sync::Arc;

/// Gets each record of a run, in order. It holds up nobody: what takes time is done on a thread of its own.
pub trait Sink: Send + Sync + fmt::Debug {
    /// A record is made.
    fn put(&self, event: &Arc<RunEvent>);

    /// True if it wants every single request that is kept, too.
    fn wants_exchanges(&self) -> bool {
        false
    }

    /// Returns the failures to pass something on so far, a sentence each.
    fn failures(&self) -> Vec<String> {
        Vec::new()
    }

    /// True if something that was asked for by its name, and is to stay, does not hold all of the run.
    fn has_lost(&self) -> bool {
        false
    }

    /// The last record was told: sends the rest. `say`: told what people should know meanwhile.
    fn finish(&self, say: &dyn Fn(&str)) {
        let _ = say;
    }
}

/// Those who get the records of a run.
#[derive(Debug, Clone, Default)]
pub struct Sinks {
    /// Gathers them for the page, where somebody wants to see them.
    pub live: Option<Live>,
    /// All others.
    pub others: Vec<Arc<dyn Sink>>,
}

impl Sinks {
    /// One more, where there is one.
    #[must_use]
    pub fn and<T: Sink + 'static>(mut self, sink: Option<T>) -> Sinks {
        self.others.extend(sink.map(|sink| -> Arc<dyn Sink> { Arc::new(sink) }));
        self
    }

    /// A record is made.
    pub fn put(&self, event: &Arc<RunEvent>) {
        let of_requests = matches!(**event, RunEvent::Exchanges(_));
        // Who looks on is not sent every request.
        if let Some(live) = self.live.as_ref().filter(|_| !of_requests) {
            live.put(event);
        }
        let wanting = self.others.iter().filter(|sink| !of_requests || sink.wants_exchanges());
        wanting.for_each(|sink| sink.put(event));
    }

    /// Returns the failures to pass something on, a sentence each.
    pub fn failures(&self) -> Vec<String> {
        self.others.iter().flat_map(|sink| sink.failures()).collect()
    }

    /// True if something that was asked for by its name does not hold all of the run.
    pub fn have_lost(&self) -> bool {
        self.others.iter().any(|sink| sink.has_lost())
    }

    /// The last record was told: the rest is sent.
    pub fn finish(&self, say: &dyn Fn(&str)) {
        self.others.iter().for_each(|sink| sink.finish(say));
    }
}
