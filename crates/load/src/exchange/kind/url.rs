//! URLs of a list, and where they lead.

use crate::answer::{AnswerEnd, PageReader, Settled};
use crate::channel::{Connection, Destination, OwnedDestination};
use crate::exchange::ending::unsent;
use crate::exchange::own::{self, run};
use crate::exchange::types::{
    AnswerRead, Client, ClientTurn, Context, Described, Due, Exchanges, HttpExchanges, Moments, Repeating,
    SentRequest, ShortQueue, Worker, Written,
};
use crate::request::urls::{self, UrlQueue};
use measure::{CacheResult, Cause, Event, Failure, FailureKind, Outcome, Stage, TimeMetric};
use plan::Address;
use std::io;
use std::time::Instant;
use wire::http1::Expect;

/// Fetches the next URL of a list, and gives back to it what it leads to.
pub(crate) async fn url(context: Context<'_>, client: &mut Client, urls: &UrlQueue, turn: ClientTurn) {
    let worker = context.worker;
    let Some(address) = urls.next(turn.number) else { return };
    worker.account.begin(turn.due);
    let title = address.text.clone();
    let _under_way = context.under_way(|| context.unanswered(&turn, format!("GET {title}")));
    let began = worker.net.now();
    let found = destination(worker, urls, &address).await;
    let looked_up = found.as_ref().err().map(std::io::Error::raw_os_error);
    let mut fetch = UrlExchanges { context, urls, destination: found.unwrap_or_default() };
    let due = Due { item: address, turn };
    if let Some(errno) = looked_up {
        let failure = Failure::new(FailureKind::Lookup, Stage::Lookup).with_errno(errno);
        let moments = Moments { due: turn.due, sent: began, first_byte: None, ended: worker.net.now() };
        client.refusals += 1;
        return unsent(context, client, &mut fetch, due, failure, moments);
    }
    if worker.load.trace.urls {
        worker.account.show(Event::Url(due.item.text.clone()));
    }
    run(context, client, &mut fetch, [due].into_iter().collect()).await;
}

struct UrlExchanges<'a> {
    context: Context<'a>,
    urls: &'a UrlQueue,
    destination: OwnedDestination,
}

impl Exchanges for UrlExchanges<'_> {
    type Item = Address;

    const CACHE: CacheResult = CacheResult::Unknown;

    fn destination<'s>(&'s self, _: &'s Address) -> Destination<'s> {
        self.destination.borrowed()
    }

    fn write(
        &mut self,
        due: &mut Due<Address>,
        _: Instant,
        last: bool,
        to: &mut Vec<u8>,
    ) -> Result<Written, Failure> {
        let worker = self.context.worker;
        let proxied = self.destination.is_forward(worker.channels.http());
        let reload = self.urls.reloads(due.turn.number);
        urls::compose(&due.item, to, worker.channels.http(), proxied, reload, last);
        Ok(Written { expect: Expect::Body, payload: 0 })
    }

    async fn read(
        &mut self,
        client: &mut Client,
        connection: &mut Connection,
        window: &mut ShortQueue<SentRequest<Address>>,
    ) -> AnswerRead {
        own::read(self.context, self, client, connection, window).await
    }

    fn repeating(&self, _: &Address) -> Repeating {
        Repeating::Safe
    }

    fn describe<'s>(&'s self, address: &'s Address) -> Described<'s> {
        let url = address.text.as_str();
        Described {
            method: "GET",
            url: url.into(),
            title: url.into(),
            range: (0, 0),
            place: 0,
            cause: Cause::Listed,
        }
    }

    fn bytes(&self, address: &Address, turn: &ClientTurn, _: Instant) -> Vec<u8> {
        let mut bytes = Vec::new();
        let worker = self.context.worker;
        let proxied = self.destination.is_forward(worker.channels.http());
        urls::compose(
            address,
            &mut bytes,
            worker.channels.http(),
            proxied,
            self.urls.reloads(turn.number),
            false,
        );
        bytes
    }
}

impl HttpExchanges for UrlExchanges<'_> {
    type Sink<'s>
        = PageReader<'s>
    where
        Self: 's;

    fn sink<'s>(&'s self, sent: &'s SentRequest<Address>, kept: Option<&'s mut Vec<u8>>) -> PageReader<'s> {
        let check = self.context.worker.load.check.content;
        PageReader::new(self.urls.wanted(), check, &sent.item, kept)
    }

    fn settle(&self, sent: &SentRequest<Address>, ended: AnswerEnd, page: &mut PageReader<'_>) -> Settled {
        let outcome = outcome(ended, page, self.urls, &sent.item);
        follow(self.context.worker, self.urls, page, &sent.item);
        outcome.into()
    }
}

/// The way to a URL's host: by the target, or to the host itself, which is looked up once.
async fn destination(worker: &Worker, urls: &UrlQueue, address: &Address) -> io::Result<OwnedDestination> {
    if let Some(destination) =
        OwnedDestination::by_target(address, worker.channels.http(), worker.channels.targets())
    {
        return Ok(destination);
    }
    if let Some(known) = urls.resolved(&address.host, address.port) {
        return Ok(OwnedDestination::direct(address, vec![known]));
    }
    let begin = worker.net.now();
    let found = worker.net.lookup(&address.host, address.port).await?;
    worker.account.time(TimeMetric::Lookup, worker.net.now() - begin);
    let first = *found.first().ok_or(io::ErrorKind::NotFound)?;
    urls.resolve(&address.host, address.port, first);
    Ok(OwnedDestination::direct(address, vec![first]))
}

/// Answers 2xx are good; redirections are good where they lead on.
fn outcome(ended: AnswerEnd, page: &mut PageReader<'_>, urls: &UrlQueue, address: &Address) -> Outcome {
    let bad_status = Outcome::Failed(Failure::new(FailureKind::BadStatus, Stage::Head));
    match ended {
        AnswerEnd::Failed(failure) => Outcome::Failed(failure),
        AnswerEnd::BrokenOff => Outcome::Aborted,
        AnswerEnd::Complete => match page.summary.status {
            200..=299 => page.fault().map_or(Outcome::Ok, Outcome::CheckFailed),
            301 | 302 | 303 | 307 | 308 if urls.follows_redirects() => {
                let to = page.location.take().and_then(|to| address.join(&to));
                page.redirect = to.filter(|to| urls.speaks(to));
                if page.redirect.is_some() { Outcome::Ok } else { bad_status }
            }
            _ => bad_status,
        },
    }
}

fn follow(worker: &Worker, urls: &UrlQueue, page: &mut PageReader<'_>, address: &Address) {
    if let Some(to) = page.redirect.take() {
        worker.account.count(|counts| counts.redirects += 1);
        urls.push(to);
    }
    for link in page.links() {
        if let Some(found) = page.base(address).and_then(|base| base.join(&link)) {
            urls.push(found);
        }
    }
    let dropped = urls.take_dropped();
    worker.account.count(|counts| counts.dropped_urls += dropped);
}
