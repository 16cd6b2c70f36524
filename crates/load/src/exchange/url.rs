//! Fetching a URL of a list, and following where it leads. Start reading at [`url`].

use super::{
    Attempt, Ended, Moments, Repeating, Turn, decide, keeps, not_connected, note_refusal, put_back, read_all,
    ready,
};
use crate::connection::Connection;
use crate::failure;
use crate::page::PageReader;
use crate::route::Route;
use crate::urls::{self, Frontier};
use crate::user::User;
use crate::worker::Worker;
use measure::event::{HeadTitle, Wrong};
use measure::{Clock, Event, Exchange, Failure, FailureKind, Outcome, Stage, Trouble};
use net::Buffer;
use plan::{Address, CheckContent};
use std::io;
use std::rc::Rc;
use wire::http1::Expect;

/// Fetches the next URL of a list, and gives back to it what it leads to.
pub(crate) async fn url(worker: &Rc<Worker>, user: &mut User, frontier: &Frontier, turn: Turn) {
    let Some(address) = frontier.next(turn.number) else { return };
    worker.begin();
    let begin = worker.net.now();
    address.text.as_bytes().clone_into(&mut user.path);
    let route = match route(worker, frontier, &address).await {
        Ok(route) => route,
        Err(error) => {
            let failure =
                Failure { kind: FailureKind::Lookup, stage: Stage::Lookup, errno: error.raw_os_error() };
            return not_connected(worker, user, failure, &turn, begin);
        }
    };
    if worker.job.load.trace.urls {
        worker.show(Event::Url(address.text.clone()));
    }
    let visit = Visit { worker, frontier, address, route, turn };
    while visit.attempt(user).await == Attempt::Outdated {}
}

/// One request for a URL.
struct Visit<'a> {
    worker: &'a Rc<Worker>,
    frontier: &'a Frontier,
    address: Address,
    route: Route,
    turn: Turn,
}

impl Visit<'_> {
    /// One try, over the user's connection or a new one.
    async fn attempt(&self, user: &mut User) -> Attempt {
        let worker = self.worker;
        let Some(mut connection) = ready(worker, user, self.route.place(), &self.turn).await else {
            return Attempt::Over;
        };
        let last = worker.is_last(&connection);
        let message = self.compose(last);
        let sent_bytes = message.len() as u64;
        let check = worker.job.load.check.content;
        let mut page = PageReader::new(self.frontier.wants_links(), check, &self.address);
        let mut moments = Moments::at_send(self.turn.due, worker.net.now());
        connection.begin(worker.first_deadline(moments.sent), Expect::Body);
        let ended = match connection.stream.send(message).await {
            Err(error) => Ended::Failed(failure::of_io(&error, Stage::Send)),
            Ok(()) => read_all(worker, &mut connection, &mut page, &mut moments).await,
        };
        let ended = decide(worker, ended, &mut connection, Repeating::Safe).await;
        if let Ended::Outdated = ended {
            return Attempt::Outdated;
        }
        let outcome = page_outcome(ended, &mut page, self.frontier, &self.address);
        worker.end(&Exchange {
            status: page.status,
            sent_bytes,
            head_bytes: page.head.len() as u64,
            body_bytes: page.body_bytes,
            ..moments.exchange(outcome, &self.turn, &mut connection)
        });
        follow(worker, self.frontier, &mut page, &self.address);
        tell_page(worker, &page, &self.address, outcome, &moments, &connection);
        note_refusal(user, ended, &moments, &connection);
        put_back(worker, user, connection, keeps(ended, last, page.keep_alive)).await;
        Attempt::Over
    }

    fn compose(&self, last: bool) -> Buffer {
        let worker = self.worker;
        let mut message = worker.net.buffer();
        let proxied = self.route.is_forward(&worker.http);
        let reload = self.frontier.reloads(self.turn.number);
        urls::compose(&self.address, &mut message, &worker.http, proxied, reload, last);
        if worker.job.load.trace.heads {
            worker.show(Event::Head { title: HeadTitle::RequestToProxy, text: message.to_vec() });
        }
        message
    }
}

/// The way to a URL's host: by the target, or to the host itself, which is looked up once.
async fn route(worker: &Worker, frontier: &Frontier, address: &Address) -> io::Result<Route> {
    if let Some(route) = Route::by_target(address, worker.http(), worker.target()) {
        return Ok(route);
    }
    if let Some(known) = frontier.resolved(&address.host, address.port) {
        return Ok(Route::direct(address, vec![known]));
    }
    let begin = worker.net.now();
    let found = worker.net.lookup(&address.host, address.port).await?;
    worker.time(Clock::Lookup, worker.net.now() - begin);
    let first = *found.first().ok_or(io::ErrorKind::NotFound)?;
    frontier.resolve(&address.host, address.port, first);
    Ok(Route::direct(address, vec![first]))
}

/// Answers 2xx are good; redirections are good where they lead on.
fn page_outcome(ended: Ended, page: &mut PageReader, frontier: &Frontier, address: &Address) -> Outcome {
    let bad_status =
        Outcome::Failed(Failure { kind: FailureKind::BadStatus, stage: Stage::Head, errno: None });
    match ended {
        Ended::Failed(failure) => Outcome::Failed(failure),
        Ended::BrokenOff => Outcome::Aborted,
        Ended::Complete | Ended::Outdated => match page.status {
            200..=299 => page.fault().map_or(Outcome::Fine, Outcome::Faulty),
            301 | 302 | 303 | 307 | 308 if frontier.follows_redirects() => {
                let to = page.location.take().and_then(|to| address.join(&to));
                page.redirect = to.filter(|to| frontier.speaks(to));
                if page.redirect.is_some() { Outcome::Fine } else { bad_status }
            }
            _ => bad_status,
        },
    }
}

fn follow(worker: &Worker, frontier: &Frontier, page: &mut PageReader, address: &Address) {
    if let Some(to) = page.redirect.take() {
        worker.count(|counts| counts.redirects += 1);
        frontier.push(to);
    }
    for link in page.links() {
        if let Some(found) = page.base(address).and_then(|base| base.join(&link)) {
            frontier.push(found);
        }
    }
    let dropped = frontier.take_dropped();
    worker.count(|counts| counts.dropped_urls += dropped);
}

fn tell_page(
    worker: &Worker,
    page: &PageReader,
    address: &Address,
    outcome: Outcome,
    moments: &Moments,
    connection: &Connection,
) {
    let trace = &worker.job.load.trace;
    if trace.heads && page.status != 0 {
        worker.show(Event::Head { title: HeadTitle::ResponseFromProxy, text: page.head.clone() });
    }
    let what = match outcome {
        Outcome::Failed(_) if (300..400).contains(&page.status) => Wrong::Redirect,
        Outcome::Failed(failure)
            if failure.stage == Stage::Body && failure.kind == FailureKind::ClosedEarly =>
        {
            Wrong::Short { got: page.body_bytes, wanted: page.content_length.unwrap_or(0) }
        }
        Outcome::Failed(failure) => Wrong::Failed(failure),
        Outcome::Faulty(fault) => Wrong::Faulty(fault),
        Outcome::Fine | Outcome::Injected | Outcome::Aborted => return,
    };
    if trace.errors {
        let head = String::from_utf8_lossy(&page.head);
        worker.tell(Event::Trouble(Trouble {
            what,
            request: address.text.clone(),
            status_line: head.lines().next().unwrap_or("").to_owned(),
            range: (0, 0),
            after: moments.response(),
            connection: connection.number,
            reused: connection.carried > 0,
        }));
    }
}

/// Whether bodies of a URL list are compared with jtest's pattern.
pub(crate) fn compares(check: CheckContent) -> bool {
    check == CheckContent::All
}
