//! Sessions: a user's memory from one request to the next, and what it does of itself: cookies, redirections, challenges, a
//! login, page resources and validators. Steps without a session never come here.
//!
//! A user's turn is the request of the list, those that answers lead on to, and what the page needs. Each
//! of them is a request of its own, derived from the value of the first ([`message`]). Start reading at [`user_turn`], then
//! `exchanges.rs` (one request to its answer).

mod date;
mod edit;
mod exchanges;
mod jar;
mod lagarto;
mod memory;
mod message;
mod needs;
mod reply;
mod rules;
mod sample;
mod sheet;
pub(crate) mod together;
mod validators;

pub(crate) use memory::Memory;

use crate::answer::Test;
use crate::channel::Hosts;
use crate::exchange::{self, Begun, Busy, Client, ClientTurn, Context, ReadyMessage, Worker};
use crate::pace::Phase;
use crate::request::Values;
use crate::step::{Line, Prepared};
use exchanges::{Chain, Fetched, Purpose};
use measure::{Cause, Event, Fetch, PageMark, TimeMetric};
use message::{Redirection, SessionMessage};
use plan::Address;
use plan::data::Moment;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Instant;

/// The session of a step, for the users of one worker.
pub(crate) struct SessionWork {
    plan: Rc<plan::Session>,
    login: Vec<Prepared>,
    /// Addresses of hosts, each looked up once.
    hosts: RefCell<Hosts>,
    seed: u64,
    /// Test of the URLs of resources, where the plan has one.
    urls: Option<Test>,
    /// It does nothing but follow redirections: requests are sent as they are, and all answers but those lead nowhere.
    only_redirects: bool,
}

impl SessionWork {
    /// `hosts`: those that are known beforehand.
    pub fn new(plan: &plan::Session, login: Vec<Prepared>, hosts: &Hosts, seed: u64) -> SessionWork {
        let plan = Rc::new(plan.clone());
        let redirects = plan.redirects.clone().filter(|redirects| !redirects.refresh);
        let only_redirects = *plan == plan::Session { redirects, ..plan::Session::default() };
        let urls = plan.resources.as_ref().and_then(|resources| resources.urls.as_ref().map(Test::new));
        SessionWork { plan, login, hosts: RefCell::new(hosts.clone()), seed, urls, only_redirects }
    }

    /// True if an answer of this status leads nowhere and is not remembered.
    fn ends_with(&self, status: u16) -> bool {
        let leads_on = |redirects: &plan::Redirects| redirects.statuses.contains(&status);
        (200..300).contains(&status) && !self.plan.redirects.as_ref().is_some_and(leads_on)
    }
}

/// One turn of a user.
struct UserTurn<'a> {
    worker: &'a Worker,
    phase: &'a Phase,
    session: &'a SessionWork,
    memory: &'a Rc<Memory>,
    /// Number of the request, and of the user.
    number: u64,
    user: u64,
    /// The branch that the user is in.
    branch: u32,
    /// Refusals that the main line of the user's turn last saw.
    refusals: Cell<u32>,
    /// Values that the user keeps for its requests.
    values: RefCell<Box<Values>>,
    /// The last request of the main line was not good.
    failed: Cell<bool>,
    /// The status of its answer.
    status: Cell<u16>,
    /// The label in records of the request that is under way, where that holds values.
    title: RefCell<Option<String>>,
    /// Resources of this turn that were begun.
    fetches: Cell<u32>,
    /// The moment at which whatever is under way is cut short.
    cut: Option<Instant>,
}

/// A page whose resources are wanted.
struct Page {
    at: SessionMessage,
    wanted: Vec<Address>,
    fetch: Fetch,
    depth: u32,
}

/// Where a walk begins.
struct WalkStart {
    message: SessionMessage,
    begun: Option<BegunBy>,
    cause: Cause,
    fetch: Fetch,
    depth: u32,
}

impl WalkStart {
    /// At a request of the user's main line.
    fn of(message: SessionMessage, begun: Option<BegunBy>, cause: Cause) -> WalkStart {
        WalkStart { message, begun, cause, fetch: Fetch::default(), depth: 0 }
    }
}

/// A request that was begun on the fast path, and the client that has begun it.
type BegunBy = Box<(Client, Begun)>;

/// The first request of a user's turn on the fast path.
enum Fast {
    /// It is over.
    Done,
    Begun(BegunBy),
    /// It cannot go that way now.
    NotYet,
}

/// Sends a request as [`exchange::fast`] does, where its session only follows redirections and it was sent before.
async fn fast(
    context: Context<'_>,
    client: &mut Client,
    memory: &Memory,
    session: &SessionWork,
    prepared: Line<'_>,
    turn: ClientTurn,
) -> Fast {
    let has_program = client.values.as_ref().is_some_and(|values| values.code.is_some());
    let Some(bytes) = prepared.written.get().filter(|_| !has_program) else { return Fast::NotYet };
    let mut mine = memory.client(context.worker, client.user, prepared.destination());
    mine.branch = client.branch;
    if !exchange::is_fast(context, &mut mine, &prepared) {
        memory.put_back(mine);
        return Fast::NotYet;
    }
    let ends = |status| session.ends_with(status);
    let message = ReadyMessage { line: &prepared, bytes: Some(bytes) };
    match exchange::try_fast(context, &mut mine, message, &turn, ends).await {
        Some(begun) => Fast::Begun(Box::new((mine, begun))),
        None => {
            (client.refusals, client.failed) = (0, false);
            (client.status, client.ended) = (mine.status, mine.ended);
            memory.put_back(mine);
            Fast::Done
        }
    }
}

/// The memory of a user, made where it has none.
pub(crate) fn remember<'a>(
    memory: &'a mut Option<Rc<Memory>>,
    session: &SessionWork,
    user: u64,
) -> &'a Rc<Memory> {
    memory.get_or_insert_with(|| Rc::new(Memory::new(session.plan.clone(), session.seed, user)))
}

/// Sends a prepared request as a user with a memory does, and follows where it leads.
pub(crate) async fn user_turn(
    Context { worker, phase }: Context<'_>,
    client: &mut Client,
    memory: &mut Option<Rc<Memory>>,
    session: &SessionWork,
    prepared: Line<'_>,
    turn: ClientTurn,
) {
    let memory = remember(memory, session, client.user);
    let context = Context { worker, phase };
    let begun = match session.only_redirects && session.plan.cut_after.is_none() {
        true => match fast(context, client, memory, session, prepared, turn).await {
            Fast::Done => return,
            Fast::Begun(begun) => Some(begun),
            Fast::NotYet => None,
        },
        false => None,
    };
    let busy = Busy::new(worker);
    let user_turn = UserTurn {
        worker,
        phase,
        session,
        memory,
        number: turn.number,
        user: client.user,
        branch: client.branch,
        refusals: Cell::new(0),
        values: RefCell::new(client.values.take().unwrap_or_default()),
        failed: Cell::new(false),
        status: Cell::new(0),
        title: RefCell::default(),
        fetches: Cell::new(0),
        cut: session.plan.cut_after.map(|after| worker.net.now() + after),
    };
    let mut turn = turn;
    if user_turn.login(turn).await {
        turn = user_turn.next_turn();
    }
    let began = worker.net.now();
    if let Some(message) = user_turn.message(prepared)
        && let Some(page) = user_turn.walk(WalkStart::of(message, begun, Cause::Listed), turn, prepared).await
    {
        user_turn.fetch_page(page, prepared, began).await;
    }
    drop(busy);
    client.refusals = user_turn.refusals.get();
    client.failed = user_turn.failed.get();
    client.status = user_turn.status.get();
    client.values = Some(user_turn.values.into_inner());
    client.ended = Some(worker.net.now());
}

impl UserTurn<'_> {
    fn context(&self) -> Context<'_> {
        Context { worker: self.worker, phase: self.phase }
    }

    /// The user's login, before its first request; whether there was one.
    async fn login(&self, turn: ClientTurn) -> bool {
        let list = &self.session.login;
        if list.is_empty() || self.memory.logged_in.replace(true) {
            return false;
        }
        let login = list[(self.user % list.len() as u64) as usize].alone();
        let Some(message) = self.message(login) else { return false };
        self.walk(WalkStart::of(message, None, Cause::Login), turn, login).await;
        true
    }

    /// A turn that was not planned: it is due when it is begun.
    fn next_turn(&self) -> ClientTurn {
        ClientTurn { number: self.number, due: self.worker.net.now(), lateness: None }
    }

    /// True if a URL can be fetched: https needs TLS, and through a proxy a tunnel.
    fn speaks(&self, to: &Address) -> bool {
        !to.secure || self.worker.channels.speaks_https()
    }

    fn message(&self, prepared: Line<'_>) -> Option<SessionMessage> {
        let is_fixed = prepared.is_fixed() && self.values.borrow().code.is_none();
        let unix_us = if is_fixed { 0 } else { self.worker.net.unix_micros() };
        let moment = Moment { unix_us, ..self.context().moment(self.number, self.user) };
        let values = &mut *self.values.borrow_mut();
        let request = prepared.fill(&moment, self.worker.part.index, values)?;
        let mut message = SessionMessage::new(request, &prepared.address());
        if let Some(varying) = &prepared.varying {
            self.title.replace(Some(varying.title(&moment, &values.slots)).filter(|title| !title.is_empty()));
            message.move_to(&varying.place(&moment, &values.slots));
        }
        if let Some(code) = values.code.as_mut().filter(|code| !code.edit.is_empty()) {
            let edit = std::mem::take(&mut code.edit);
            self.memory.edit_cookies(&edit, &message.address, (unix_us / 1_000_000) as i64);
            if edit.label.is_some() {
                self.title.replace(edit.label.clone());
            }
            message.edit(edit);
        }
        if self.session.plan.strict_urls {
            message.refuse_what_is_no_uri();
        }
        if self.session.plan.fold_slashes {
            message.fold_slashes();
        }
        Some(message)
    }

    /// A request, which may have begun, and what it leads to; returns the page at the end, where resources of it are wanted.
    async fn walk(&self, start: WalkStart, turn: ClientTurn, prepared: Line<'_>) -> Option<Page> {
        let WalkStart { mut message, mut begun, cause, fetch, depth } = start;
        let mut turn = turn;
        let chain = Chain::default();
        let left = self.session.plan.redirects.as_ref().map_or(0, |redirects| redirects.limit);
        let main = cause != Cause::Resource;
        let mut purpose =
            Purpose { cause, prepared, redirects_left: left, main, fetch, depth, chain: &chain };
        let page = loop {
            match self.fetch(&message, purpose, turn, begun.take()).await {
                Fetched::Over => break None,
                Fetched::Page(wanted) => break Some(Page { at: message, wanted, fetch, depth }),
                Fetched::LedOn(next) => message = *next,
            }
            purpose.cause = Cause::Redirect;
            purpose.redirects_left = purpose.redirects_left.saturating_sub(1);
            turn = self.next_turn();
        };
        chain.account(self.worker);
        page
    }

    /// Fetches all that the page of a turn needs.
    async fn fetch_page(&self, page: Page, prepared: Line<'_>, began: Instant) {
        if self.session.plan.resources.is_none() {
            return;
        }
        let has_needs = !page.wanted.is_empty();
        self.fetch_resources(page, prepared).await;
        self.worker.account.count(|counts| counts.pages += 1);
        self.worker.account.time(TimeMetric::Page, self.worker.net.now() - began);
        if has_needs && self.worker.load.trace.requests {
            let phase = self.worker.account.phase();
            let mark = PageMark { user: self.user, branch: self.branch, group: self.phase.group, phase };
            self.worker.account.show(Event::Page(mark));
        }
    }

    /// Fetches what a page needs, over as many connections to each host as the plan says, and waits for all.
    async fn fetch_resources(&self, mut page: Page, prepared: Line<'_>) {
        let Some(plan) = &self.session.plan.resources else { return };
        let mut hosts: Vec<(String, RefCell<VecDeque<Address>>)> = Vec::new();
        for address in std::mem::take(&mut page.wanted) {
            let name = format!("{}:{}", address.host, address.port);
            match hosts.iter().find(|(other, _)| *other == name) {
                Some((_, queue)) => queue.borrow_mut().push_back(address),
                None => hosts.push((name, RefCell::new(VecDeque::from([address])))),
            }
        }
        let mut fetchers = Vec::new();
        for (_, queue) in &hosts {
            let count = queue.borrow().len().min(plan.parallel as usize);
            fetchers.extend((0..count).map(|_| self.fetch_queue(queue, &page, prepared)));
        }
        together::all(fetchers).await;
    }

    async fn fetch_queue(&self, queue: &RefCell<VecDeque<Address>>, page: &Page, prepared: Line<'_>) {
        loop {
            let Some(address) = queue.borrow_mut().pop_front() else { return };
            self.worker.account.count(|counts| counts.resources += 1);
            self.fetches.set(self.fetches.get() + 1);
            let redirection = Redirection::of(self.session.plan.redirects.as_ref());
            let start = WalkStart {
                message: page.at.resource(address, redirection),
                begun: None,
                cause: Cause::Resource,
                fetch: Fetch { number: self.fetches.get(), page: page.fetch.number, ..Fetch::default() },
                depth: page.depth + 1,
            };
            if let Some(frame) = self.walk(start, self.next_turn(), prepared).await {
                Box::pin(self.fetch_resources(frame, prepared)).await;
            }
        }
    }
}
