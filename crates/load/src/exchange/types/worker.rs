//! The parts of a worker that its tasks share.

use super::moments::ClientTurn;
use crate::account::Account;
use crate::answer::{Given, Serials};
use crate::channel::Channels;
use crate::control::{Control, Present};
use crate::pace::Phase;
use crate::request::compose::Composer;
use crate::request::{Numbered, TraceContext, TraceContexts};
use measure::{Label, LostRequest, UsersPresent};
use net::Net;
use plan::data::Moment;
use plan::{HttpVersion, Load, Part, Site};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

/// Hears of a request that its client broke off: its nonce, the number of the phase, and when.
pub type OnBrokenOff = Arc<dyn Fn(u64, usize, Instant) + Send + Sync>;

/// Is told the number of each phase when it begins.
pub type OnPhase = Arc<dyn Fn(usize) + Send + Sync>;

/// One worker: its share of the plan, its account and its channels.
pub(crate) struct Worker {
    pub net: Net,
    /// The client side of the plan.
    pub load: Arc<Load>,
    /// The site: what exists.
    pub site: Arc<Site>,
    pub seed: u64,
    pub part: Part,
    pub control: Arc<Control>,
    pub account: Rc<Account>,
    pub channels: Channels,
    pub composer: Composer,
    /// Answers that named no request, whatever version of HTTP they came over.
    pub serials: Rc<RefCell<Serials>>,
    /// Objects that the cache was given, over whatever version of HTTP.
    pub given: Rc<RefCell<Given>>,
    /// Users between two requests that belong together, of whom each may go on to more.
    pub busy_users: Cell<u64>,
    /// The script has ended this worker.
    pub halted: Cell<bool>,
    /// The label of the version of HTTP that it speaks, in a phase of several.
    pub version: Cell<Option<Label>>,
    /// Who is told of requests that are broken off.
    pub broken_off: Option<OnBrokenOff>,
    /// Buffers for requests under way; users between two requests have none.
    pub spare: RefCell<Vec<Vec<u8>>>,
    /// Requests that carry a trace context, where the plan wants any.
    pub trace_contexts: Option<TraceContexts>,
    /// See `shortcut/fast.rs`.
    pub has_fast_path: bool,
    /// See `shortcut/repeat.rs`.
    pub may_repeat: bool,
}

impl Worker {
    /// The users of the phase, where there is one.
    pub fn users(&self) -> Option<&Present> {
        let phase = self.account.phase();
        self.control.present(phase, self.load.phases.get(phase)?.groups.len().max(1))
    }

    /// How many users there are.
    pub fn present(&self, group: usize) -> UsersPresent {
        let counted =
            |users: &Present| UsersPresent { of_group: users.of_group(group), of_all: users.of_all() };
        self.users().map_or(UsersPresent::default(), counted)
    }

    /// The same worker as one version of HTTP alone is spoken by it.
    pub fn speaking(&self, version: HttpVersion) -> Worker {
        let load = Arc::new(self.load.speaking(version));
        let channels = self.channels.speaking(load.clone());
        Worker {
            has_fast_path: super::shortcuts::has_fast_path(&load),
            may_repeat: super::shortcuts::may_repeat(&load),
            composer: Composer::new(channels.http(), &self.site).with_canaries(load.check.canaries),
            net: self.net.clone(),
            load,
            site: self.site.clone(),
            seed: self.seed,
            part: self.part,
            control: self.control.clone(),
            account: self.account.clone(),
            channels,
            broken_off: self.broken_off.clone(),
            serials: self.serials.clone(),
            given: self.given.clone(),
            busy_users: Cell::new(0),
            halted: Cell::new(false),
            version: Cell::default(),
            spare: RefCell::default(),
            trace_contexts: self.trace_contexts.clone(),
        }
    }

    /// The number of the next request of the phase, or `None` when there is to be none.
    pub fn next_number(&self, phase: &Phase, now: Instant) -> Option<u64> {
        if self.over(phase, now) { None } else { phase.next_number(now) }
    }

    /// True if the phase is over by the clock or by order.
    pub fn over(&self, phase: &Phase, now: Instant) -> bool {
        let stopped = match phase.always {
            true => self.control.stopped_now(),
            false => self.control.stopped(),
        };
        phase.is_over_at(now) || stopped || self.halted.get()
    }

    /// Counts an answer that named no request; true if it came before.
    pub fn count_unattributed(&self, serial: u64) -> bool {
        self.account.count(|counts| counts.unattributed += 1);
        self.serials.borrow_mut().again(serial)
    }

    /// An empty buffer, to be given back when the request has ended.
    pub fn buffer(&self) -> Vec<u8> {
        self.spare.borrow_mut().pop().unwrap_or_default()
    }

    /// Takes a buffer back.
    pub fn give_back(&self, mut buffer: Vec<u8>) {
        buffer.clear();
        self.spare.borrow_mut().push(buffer);
    }

    /// True while requests are under way, or users on their way to more.
    pub fn is_busy(&self) -> bool {
        self.account.in_flight() + self.busy_users.get() > 0
    }
}

/// Where a request is sent from.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub worker: &'a Worker,
    pub phase: &'a Phase,
}

/// A request under way, which tells what it was where nobody waits for it any more.
pub(crate) struct WorkerUnderWay<'a, T: Fn() -> Unanswered> {
    context: Context<'a>,
    told: T,
}

/// A request as it is told of where no answer comes.
pub(crate) struct Unanswered {
    /// When it was due.
    pub due: Instant,
    /// Method and URL, or the name of a message.
    pub title: String,
    /// The trace id that it carries.
    pub trace_id: Option<String>,
}

impl<T: Fn() -> Unanswered> Drop for WorkerUnderWay<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if self.context.worker.account.gives_up() {
            self.context.lost((self.told)(), false);
        }
    }
}

impl<'a> Context<'a> {
    /// A request is under way as long as this lives.
    #[inline]
    pub fn under_way<T: Fn() -> Unanswered>(self, told: T) -> WorkerUnderWay<'a, T> {
        WorkerUnderWay { context: self, told }
    }

    /// No answer came to a request.
    pub fn lost(self, request: Unanswered, timed_out: bool) {
        let Unanswered { due, title, trace_id } = request;
        let account = &self.worker.account;
        account.lost(
            |begun, now| LostRequest {
                begun,
                waited: now.saturating_sub(begun),
                timed_out,
                title,
                phase: self.phase.name.clone(),
                trace_id,
            },
            due,
        );
    }
}

impl Context<'_> {
    /// The request of a turn. All that is sent over HTTP in one turn is one trace, so that its id is known without what was sent.
    pub fn unanswered(self, turn: &ClientTurn, title: String) -> Unanswered {
        let trace_id = self.trace_context(turn.number).map(|traced| traced.trace_id());
        Unanswered { due: turn.due, title, trace_id }
    }

    /// The trace context of a request that is about to be sent; `None`: it carries none.
    #[inline]
    pub fn trace_context(self, number: u64) -> Option<TraceContext> {
        let contexts = self.worker.trace_contexts.as_ref()?;
        contexts.of(Numbered { phase: self.worker.account.phase(), group: self.phase.group, number })
    }

    /// The moment that the values of a request depend on, the time left out. Connections are numbered as people count: workers from 1,
    /// with room for ten thousand users each.
    pub fn moment(&self, number: u64, user: u64) -> Moment {
        let worker = u64::from(self.worker.part.index) + 1;
        let connection = worker * 10_000 + user / u64::from(self.phase.part.of.max(1)) + 1;
        Moment { number, user, connection, worker, unix_us: 0 }
    }
}

/// A user between two requests that belong together: it has not come to rest.
pub(crate) struct Busy<'a>(&'a Worker);

impl Busy<'_> {
    pub fn new(worker: &Worker) -> Busy<'_> {
        worker.busy_users.set(worker.busy_users.get() + 1);
        Busy(worker)
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.busy_users.set(self.0.busy_users.get().saturating_sub(1));
    }
}
