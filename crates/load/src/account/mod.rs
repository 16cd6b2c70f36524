//! The account of one worker: finished exchanges, times and counts, and the way of single events to whoever shows them. It
//! knows only what has ended or begun, not how that came about.
//!
//! Start reading at [`Account::begin`] and [`Account::end`]; [`Account::hand_over`] sends the figures of an interval away.

mod ledger;
mod partial;
mod slowest;
mod span;
mod under_way;

pub use ledger::Ledger;
pub(crate) use span::Closing;

use crate::control::Control;
use measure::{
    Alike, Answered, Certificate, Event, Exchange, ExchangeKind, Failure, FirstTls, Label, LostRequest,
    Outcome, Reason, RequestTimes, Snapshot, Stage, Tally, TimeMetric,
};
use net::Net;
pub(crate) use partial::Coming;
use partial::Partial;
use plan::{Part, Trace};
use slowest::Slowest;
use span::Span;
use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender};
use std::time::{Duration, Instant};
use under_way::UnderWay;
use wire::tls::ShownCertificate;

/// The figures of one worker since its last snapshot.
pub(crate) struct Account {
    net: Net,
    control: Arc<Control>,
    part: Part,
    outlets: Outlets,
    tally: RefCell<Box<Tally>>,
    /// Of the tally, too, once it is handed over.
    alike: RefCell<Alike>,
    in_flight: Cell<u64>,
    /// The most that there have been in the phase.
    peak: Cell<u64>,
    /// When the requests under way were due.
    under_way: RefCell<UnderWay>,
    partial: Partial,
    /// The longest response time of the figures that were handed over, in microseconds.
    longest_us: Cell<u64>,
    /// When bytes last came, since the last snapshot.
    last_bytes: Cell<Option<Instant>>,
    /// Where exchanges are written down, too, while a script may not come back.
    ledger: RefCell<Option<Arc<Ledger>>>,
    failures: FailureLimits,
    pub wanted: Wanted,
    span: Span,
}

/// Where figures and events go.
pub(crate) struct Outlets {
    pub snapshots: SyncSender<Snapshot>,
    /// Empty tallies come back here, so that handing over allocates nothing.
    pub spare: Receiver<Box<Tally>>,
    pub events: SyncSender<Event>,
}

/// Failed requests after which the phase is given up, and those that found nobody to connect to.
#[derive(Default)]
struct FailureLimits {
    all: Cell<Option<u64>>,
    unconnected: Cell<Option<u64>>,
}

/// Single requests that are still to be told of.
pub(crate) struct Wanted {
    /// A first answer.
    pub first: Cell<bool>,
    /// A first handshake.
    first_tls: Cell<bool>,
    /// The answer to a request that failed.
    failure: Cell<bool>,
    /// Breaches and codes of which one is kept already.
    known: RefCell<Vec<Reason>>,
    /// Answers whose check failed that may still be kept.
    pub evidence: Cell<u32>,
    /// Bytes that came unasked and may still be kept, so many times.
    pub stray: Cell<u32>,
    /// Requests without an answer that may still be told of.
    lost: Cell<u32>,
    /// The slowest requests with a trace context.
    pub slowest: Slowest,
    /// Each connection is.
    pub connections: bool,
}

/// Times that a worker keeps bytes that came unasked: they look alike.
const STRAY: u32 = 3;

/// Requests without an answer that a worker tells of.
const LOST: u32 = 20;

impl Wanted {
    /// As `trace` says. `evidence`: answers at most.
    pub fn new(trace: &Trace, evidence: u32) -> Wanted {
        Wanted {
            first: Cell::new(trace.first),
            first_tls: Cell::new(trace.first),
            failure: Cell::new(true),
            known: RefCell::default(),
            evidence: Cell::new(evidence),
            stray: Cell::new(evidence.min(STRAY)),
            lost: Cell::new(LOST),
            slowest: Slowest::default(),
            connections: trace.connections,
        }
    }
}

impl Wanted {
    /// True if a request that failed is the first of its kind: with an answer, of this status, or by a breach or a code of its own.
    pub fn is_first(&self, failure: Failure, status: u16) -> bool {
        let Some(reason @ (Reason::Breach(_) | Reason::Closed(_))) = failure.reason else {
            return status != 0 && self.failure.replace(false);
        };
        let mut known = self.known.borrow_mut();
        let is_new = !known.contains(&reason);
        if is_new {
            known.push(reason);
        }
        is_new
    }
}

impl Account {
    /// Of the worker that has this part of the load.
    pub fn new(net: Net, control: Arc<Control>, part: Part, outlets: Outlets, wanted: Wanted) -> Account {
        Account {
            span: Span::new(net.now()),
            net,
            control,
            part,
            outlets,
            tally: RefCell::new(Box::new(Tally::new())),
            alike: RefCell::default(),
            in_flight: Cell::new(0),
            peak: Cell::new(0),
            under_way: RefCell::default(),
            partial: Partial::default(),
            longest_us: Cell::new(0),
            last_bytes: Cell::new(None),
            ledger: RefCell::default(),
            failures: FailureLimits::default(),
            wanted,
        }
    }

    /// Exchanges are written down here, too, from now on.
    pub fn keep_ledger(&self, ledger: Arc<Ledger>) {
        self.ledger.replace(Some(ledger));
    }

    /// The run starts at a moment, with its first phase.
    pub fn start(&self, moment: Instant) {
        self.span.started.set(moment);
    }

    /// The run has begun before: intervals that are over are nobody's here.
    pub fn join(&self, length: Duration) {
        let over = self.since_start().as_nanos() / length.as_nanos().max(1);
        // Rows of a run are few.
        self.span.interval.set(over as u64);
    }

    /// CPU time counts from now on.
    pub fn start_cpu(&self) {
        self.span.cpu_told.set(net::thread_cpu());
    }

    /// A phase begins at a moment.
    pub fn begin_phase(&self, index: usize, opens: Instant, stop: &plan::Stop) {
        self.span.phase.set(index);
        self.peak.set(0);
        self.wanted.slowest.clear();
        self.span.phase_began.set(opens - self.span.started.get());
        self.span.paced_until.set(None);
        self.span.due_until.set(None);
        self.span.phase_ended.set(None);
        self.failures.all.set(stop.failures);
        self.failures.unconnected.set(stop.unconnected);
    }

    /// The phase under way, from 0.
    pub fn phase(&self) -> usize {
        self.span.phase.get()
    }

    /// When the phase under way began.
    pub fn phase_began(&self) -> Instant {
        self.span.started.get() + self.span.phase_began.get()
    }

    /// Nothing more is begun in the phase from a moment on.
    pub fn paced_until(&self, moment: Instant) {
        self.span.paced_until.set(Some(moment));
    }

    /// The phase has ended here, whatever other workers do.
    pub fn end_phase(&self) {
        self.span.phase_ended.set(Some(self.since_start()));
    }

    /// Nothing more was due in the phase from a moment on.
    pub fn due_until(&self, moment: Instant) {
        self.span.due_until.set(Some(moment));
    }

    /// From now on nobody waits for what is under way: those who are dropped with it tell what it was.
    pub fn begin_to_give_up(&self) {
        self.span.gives_up.set(true);
    }

    /// True if nobody waits any more for what is under way.
    #[inline]
    pub fn gives_up(&self) -> bool {
        self.span.gives_up.get()
    }

    /// Tells of a request that no answer came to, which was due then, as long as there are not too many. `lost`: made of when it was due
    /// and of now, since the start of the run.
    pub fn lost(&self, lost: impl FnOnce(Duration, Duration) -> LostRequest, due: Instant) {
        let left = self.wanted.lost.get();
        if left > 0 {
            self.wanted.lost.set(left - 1);
            self.tell(Event::Lost(Box::new(lost(self.since(due), self.since_start()))));
        }
    }

    /// Counts what is under way as unfinished: nobody waits for it any more.
    pub fn give_up(&self) {
        self.span.gives_up.set(false);
        self.in_flight.set(0);
        let now = self.since_start();
        let left = self.under_way.borrow_mut().take_left(self.span.started.get());
        for (due, times) in left {
            let exchange = Exchange::unfinished(due, now.saturating_sub(due), times);
            self.tally.borrow_mut().exchange(&exchange);
        }
        self.partial.give_up(&mut self.tally.borrow_mut().counts.body_bytes);
    }

    /// An answer begins to come; its bytes count as they come.
    pub fn coming(&self) -> Coming<'_> {
        self.partial.begin()
    }

    /// When the interval under way ends; intervals are counted from the start of the run.
    pub fn interval_ends(&self, length: Duration) -> Instant {
        self.span.started.get() + length * (self.span.interval.get() as u32 + 1)
    }

    /// Hands the figures over.
    pub fn hand_over(&self, closing: Closing) {
        let fresh = self.outlets.spare.try_recv().unwrap_or_else(|_| Box::new(Tally::new()));
        let mut tally = self.tally.replace(fresh);
        tally.add_alike(&self.alike.borrow());
        self.alike.borrow_mut().clear();
        self.longest_us.set(self.longest_us.get().max(tally.times_of(TimeMetric::Response).longest_us()));
        self.partial.tell(&mut tally.counts.body_bytes);
        self.last_bytes.take().into_iter().for_each(|at| tally.heard(self.since(at)));
        self.ledger.borrow().iter().for_each(|ledger| ledger.clear());
        let span = &self.span;
        let ended = span.phase_ended.get().unwrap_or(self.since_start());
        let cpu = net::thread_cpu();
        let paced_until = span.paced_until.get().map_or(ended, |until| self.since(until).min(ended));
        let snapshot = Snapshot {
            worker: self.part.index,
            phase: span.phase.get() as u32,
            interval: span.interval.get(),
            tally,
            in_flight: self.in_flight.get(),
            peak: self.peak.get(),
            cpu: cpu.saturating_sub(span.cpu_told.replace(cpu)),
            closes_interval: !matches!(closing, Closing::Phase),
            last: matches!(closing, Closing::Run),
            span: (span.phase_began.get(), ended),
            paced_until,
            due_until: span.due_until.get().map_or(paced_until, |until| self.since(until).min(paced_until)),
        };
        // Whoever collects may have gone after an interrupt; there is nobody to tell then.
        let _ = self.outlets.snapshots.send(snapshot);
        if let Closing::Interval = closing {
            span.interval.set(span.interval.get() + 1);
        }
    }

    /// The longest response time so far.
    pub fn longest(&self) -> Duration {
        let mut tally = self.tally.borrow_mut();
        tally.add_alike(&self.alike.borrow());
        self.alike.borrow_mut().clear();
        let since = tally.times_of(TimeMetric::Response).longest_us();
        Duration::from_micros(since.max(self.longest_us.get()))
    }

    /// Time since the start of the run.
    pub fn since_start(&self) -> Duration {
        self.since(self.net.now())
    }

    /// A moment, as time since the start of the run.
    pub fn since(&self, moment: Instant) -> Duration {
        moment.saturating_duration_since(self.span.started.get())
    }

    /// Requests under way.
    pub fn in_flight(&self) -> u64 {
        self.in_flight.get()
    }

    /// Counts something.
    pub fn count(&self, count: impl FnOnce(&mut measure::Counts)) {
        count(&mut self.tally.borrow_mut().counts);
    }

    /// Counts what only HTTP/2 has.
    pub fn http2(&self, count: impl FnOnce(&mut measure::Http2Counts)) {
        count(self.tally.borrow_mut().http2_mut());
    }

    /// Counts what only HTTP/3 has.
    pub fn http3(&self, count: impl FnOnce(&mut measure::Http3Counts)) {
        count(self.tally.borrow_mut().http3_mut());
    }

    /// A handshake of QUIC is complete. `early`: whether the server took what was sent before, where something was.
    pub fn quic_handshake(&self, took: Duration, resumed: bool, early: Option<bool>) {
        self.time(TimeMetric::Tls, took);
        self.count(|counts| {
            counts.handshakes_full += u64::from(!resumed);
            counts.handshakes_resumed += u64::from(resumed);
            counts.early_accepted += u64::from(early == Some(true));
            counts.early_rejected += u64::from(early == Some(false));
        });
    }

    /// Records a time on a clock.
    pub fn time(&self, clock: TimeMetric, time: Duration) {
        self.tally.borrow_mut().time(clock, time);
    }

    /// An answer held a code, or none.
    pub fn code(&self, code: Option<&[u8]>, good: bool) {
        self.tally.borrow_mut().codes.count(code, good);
    }

    /// A TLS handshake is complete.
    pub fn handshake(&self, handshake: &transport::Handshake) {
        let agreed = &handshake.agreed;
        self.time(TimeMetric::Tls, handshake.took);
        self.count(|counts| {
            counts.handshakes_full += u64::from(!agreed.resumed);
            counts.handshakes_resumed += u64::from(agreed.resumed);
            counts.early_accepted += u64::from(agreed.early == Some(true));
            counts.early_rejected += u64::from(agreed.early == Some(false));
        });
        if self.wanted.first_tls.replace(false) {
            self.show(Event::FirstTls(Box::new(FirstTls {
                at: self.since_start(),
                tls13: agreed.tls13,
                suite: agreed.suite,
                group: agreed.group,
                key_bits: agreed.key_bits,
            })));
        }
    }

    /// A server has shown a certificate.
    pub fn certificate(&self, shown: ShownCertificate) {
        let ShownCertificate { host, facts } = shown;
        self.show(Event::Certificate(Box::new(Certificate {
            host,
            subject: facts.subject,
            issuer: facts.issuer,
            not_before: facts.not_before,
            not_after: facts.not_after,
            names: facts.names,
            key: facts.key.map(|key| (key.kind, key.bits)),
        })));
    }

    /// A transaction has ended, which began with a request that was due then.
    pub fn transaction(&self, label: Label, ok: bool, took: Duration) {
        let outcome = if ok { Outcome::Ok } else { Outcome::Aborted };
        self.tally.borrow_mut().labels.count(label, outcome, took, 1);
    }

    /// Gathers the times of a request that has ended.
    pub fn gather(&self, times: &RequestTimes) {
        self.tally.borrow_mut().gather(times);
    }

    /// A request begins that is due then.
    pub fn begin(&self, due: Instant) {
        self.under_way.borrow_mut().add(self.since(due));
        self.enter(0);
    }

    /// A request begins that is due then, on a connection that has carried one; its place among those under way.
    #[inline]
    pub fn begin_fast(&self, due: Instant) -> usize {
        self.enter(1);
        self.under_way.borrow_mut().enter(due)
    }

    #[inline]
    fn enter(&self, reused: u64) {
        let in_flight = self.in_flight.get() + 1;
        self.in_flight.set(in_flight);
        self.peak.set(self.peak.get().max(in_flight));
        self.count(|counts| {
            counts.requests += 1;
            counts.reused += reused;
        });
    }

    /// A request has ended well that has this place; its exchange need not say when it was due.
    #[inline]
    pub fn end_fast(&self, place: usize, exchange: &Exchange) {
        self.add(exchange);
        self.leave(place);
    }

    /// As [`Self::end_fast`], of a request with nothing more to it than this; false if it has to be told as an exchange.
    #[inline]
    pub fn end_alike(&self, place: usize, answer: &Answered) -> bool {
        if self.ledger.borrow().is_some() || !self.alike.borrow_mut().add(answer) {
            return false;
        }
        self.leave(place);
        true
    }

    #[inline]
    fn leave(&self, place: usize) {
        self.under_way.borrow_mut().leave(place);
        self.in_flight.set(self.in_flight.get().saturating_sub(1));
    }

    /// The request of a place goes on as those that were begun by [`Self::begin`].
    pub fn leave_fast(&self, place: usize) {
        let under_way = &mut *self.under_way.borrow_mut();
        if let Some(due) = under_way.leave(place) {
            under_way.add(self.since(due));
        }
    }

    /// An exchange has ended, or several that were alike in all that is counted of them. A challenge that is answered next
    /// is no end of its request.
    #[inline]
    pub fn end(&self, exchange: &Exchange) {
        self.add(exchange);
        if exchange.kind == ExchangeKind::Challenge {
            return;
        }
        self.in_flight.set(self.in_flight.get().saturating_sub(u64::from(exchange.times)));
        self.under_way.borrow_mut().remove(exchange.due, exchange.times);
        if let Outcome::Failed(failure) = exchange.outcome {
            (0..exchange.times).for_each(|_| self.note_failure(failure));
        }
    }

    /// Adds an exchange to the figures, and to those of a script that may not come back.
    #[inline]
    fn add(&self, exchange: &Exchange) {
        self.ledger.borrow().iter().for_each(|ledger| ledger.add(exchange));
        self.tally.borrow_mut().exchange(exchange);
    }

    /// An address of a host took no connection, and the next one is tried.
    pub fn passed_over(&self, address: SocketAddr, failure: Failure) {
        self.control.passed_over(address, failure.kind);
    }

    /// A phase may be given up after so many failures.
    fn note_failure(&self, failure: Failure) {
        self.failures.all.get().into_iter().for_each(|most| self.control.failed(most));
        if failure.stage == Stage::Connect {
            self.failures.unconnected.get().into_iter().for_each(|most| self.control.unconnected(most));
        }
    }

    /// A wait for bytes is over: where some came, the other side is alive.
    pub fn received(&self, bytes: usize, at: Instant) {
        if bytes > 0 {
            self.last_bytes.set(Some(at));
        }
    }

    /// Tells an event, or counts that it could not be told.
    pub fn tell(&self, event: Event) {
        if self.outlets.events.try_send(event).is_err() {
            self.count(|counts| counts.untold += 1);
        }
    }

    /// Tells an event and waits for room: for views that must be whole, whatever they cost.
    pub fn show(&self, event: Event) {
        // Nobody reads any more after an interrupt.
        let _ = self.outlets.events.send(event);
    }
}
