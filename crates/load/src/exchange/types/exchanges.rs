//! The two traits behind which all kinds of requests stand: what is sent, and what its answers mean.

use super::client::Client;
use super::head::Head;
use super::moments::{AnswerRead, ClientTurn, Due, HeadWritten, SentRequest, Written};
use super::queue::ShortQueue;
use super::reading::AnswerReading;
use super::repeating::Repeating;
use super::told::{Described, Ending};
use crate::answer::{AnswerEnd, AnswerSink, Settled};
use crate::channel::{Connection, Destination, OpenBody};
use measure::{CacheResult, Contents, Exchange, Failure, Fetch, Label, Outcome, Remark};
use std::cell::RefCell;
use std::time::{Duration, Instant};
use wire::http1::{Expect, HeadMemo};

/// The exchanges of one turn of a user: what is sent, and what its answers mean.
pub(crate) trait Exchanges: Sized {
    /// It speaks HTTP: heads of it may be shown.
    const IS_HTTP: bool = true;

    /// The cache's part where no answer tells.
    const CACHE: CacheResult = CacheResult::NotAsked;

    /// One request.
    type Item;

    /// Where a request goes.
    fn destination<'s>(&'s self, item: &'s Self::Item) -> Destination<'s>;

    /// Requests under way at once, at most.
    fn depth(&self) -> usize {
        1
    }

    /// One more request beside those under way, where the exchanges go on by themselves; it is begun.
    fn next(&mut self, now: Instant) -> Option<Due<Self::Item>> {
        let _ = now;
        None
    }

    /// So many requests are under way still, or are to be sent again, after others have ended.
    fn left(&mut self, count: usize) {
        let _ = count;
    }

    /// Answers that come to a request: it may be several in one piece.
    fn answers(&self, item: &Self::Item) -> u32 {
        let _ = item;
        1
    }

    /// A connection is about to be opened.
    fn connecting(&mut self) {}

    /// A connection is there for what comes next; `fresh`: nothing was sent over it yet.
    fn connected(&mut self, fresh: bool) {
        let _ = fresh;
    }

    /// Bytes came over a connection on which nothing was under way. True if they are what the protocol allows; otherwise the
    /// connection is replaced.
    fn unasked(&mut self, client: &mut Client, bytes: &[u8]) -> bool {
        let _ = (client, bytes);
        false
    }

    /// A request has failed.
    fn failed(&mut self) {}

    /// Takes an exchange that is accounted for later, when it is known what it has led to.
    fn holds(&self, exchange: &Exchange) -> bool {
        let _ = exchange;
        false
    }

    /// Appends a request. `last`: the connection ends with it.
    ///
    /// # Errors
    /// It cannot be written; nothing is appended then.
    fn write(
        &mut self,
        due: &mut Due<Self::Item>,
        now: Instant,
        last: bool,
        to: &mut Vec<u8>,
    ) -> Result<Written, Failure>;

    /// True if fields may be added to a request: it is one of HTTP.
    fn takes_fields(&self, item: &Self::Item) -> bool {
        let _ = item;
        Self::IS_HTTP
    }

    /// True if a request's head is sent first, and its body behind it: see [`Exchanges::begin`].
    fn is_parted(&self, item: &Self::Item) -> bool {
        let _ = item;
        false
    }

    /// How long a request waits for 100 (Continue) between the two; `None`: not at all.
    fn waits(&self, item: &Self::Item) -> Option<Duration> {
        let _ = item;
        None
    }

    /// Appends a request's head and returns its body, where it is sent in two parts.
    ///
    /// # Errors
    /// It cannot be written; nothing is appended then.
    fn begin(
        &mut self,
        due: &mut Due<Self::Item>,
        now: Instant,
        last: bool,
        to: &mut Vec<u8>,
    ) -> Result<HeadWritten, Failure> {
        let written = self.write(due, now, last, to)?;
        Ok(HeadWritten { expect: written.expect, body: OpenBody::default() })
    }

    /// The requests of one send are gone; those that nobody answers are taken out and accounted for.
    fn sent(
        &mut self,
        client: &mut Client,
        connection: &mut Connection,
        window: &mut ShortQueue<SentRequest<Self::Item>>,
    ) {
        let _ = (client, connection, window);
    }

    /// The sending half of a connection ends with the first send.
    fn half_closes(&self) -> bool {
        false
    }

    /// Receives until at least one answer is complete, and accounts for it.
    async fn read(
        &mut self,
        client: &mut Client,
        connection: &mut Connection,
        window: &mut ShortQueue<SentRequest<Self::Item>>,
    ) -> AnswerRead;

    /// Harm that sending a request a second time may do.
    fn repeating(&self, item: &Self::Item) -> Repeating;

    /// Label of the figures of a request that has ended so.
    fn label(&self, item: &Self::Item, outcome: Outcome, cache: CacheResult) -> Option<Label> {
        let _ = (item, outcome, cache);
        None
    }

    /// The number that names a request at the origin; `None`: it carries none.
    fn nonce(&self, item: &Self::Item) -> Option<u64> {
        let _ = item;
        None
    }

    /// Returns the remark of checks and scripts on the request that has just ended.
    fn remark(&self) -> Option<Box<Remark>> {
        None
    }

    /// Returns what the record of the request that has just ended holds beyond figures.
    fn contents(&self, ending: &Ending) -> Option<Box<Contents>> {
        let _ = ending;
        None
    }

    /// The answer that has just ended leads on to another request.
    fn leads_on(&self) -> bool {
        false
    }

    /// The place of the request that has just ended among all that is fetched for one page.
    fn place_in_page(&self) -> Fetch {
        Fetch::default()
    }

    /// Names of a request in records, errors and evidence.
    fn describe<'s>(&'s self, item: &'s Self::Item) -> Described<'s>;

    /// The URL that a request went to, where that holds values; `None`: the one by which it is [described](Self::describe).
    fn sent_url(&self, _sent: &SentRequest<Self::Item>) -> Option<String> {
        None
    }

    /// The bytes of a request once more, for evidence.
    fn bytes(&self, item: &Self::Item, turn: &ClientTurn, at: Instant) -> Vec<u8>;
}

/// Exchanges whose answers are HTTP's.
pub(crate) trait HttpExchanges: Exchanges {
    /// Reads one answer.
    type Sink<'s>: AnswerSink
    where
        Self: 's;

    /// The reader of the next answer. `kept`: where the head is copied to, if somebody may want to see it.
    fn sink<'s>(&'s self, sent: &'s SentRequest<Self::Item>, kept: Option<&'s mut Vec<u8>>)
    -> Self::Sink<'s>;

    /// Way of reading an answer.
    fn reading(&self, sent: &SentRequest<Self::Item>) -> AnswerReading {
        let _ = sent;
        AnswerReading::plain(false)
    }

    /// The request as HTTP/2 has it; `false`: it is not there over HTTP/2, which the plan's check has refused.
    fn head(&mut self, due: &mut Due<Self::Item>, now: Instant, to: &mut Head) -> bool {
        let _ = (due, now, to);
        false
    }

    /// Returns the key that tells requests of one and the same head, and without a body, from others; `None`: each has its own.
    fn head_key(&self, item: &Self::Item) -> Option<usize> {
        let _ = item;
        None
    }

    /// A message over TCP, whatever version of HTTP the plan has.
    fn is_tcp(&self, item: &Self::Item) -> bool {
        let _ = item;
        false
    }

    /// How the answer is framed by the request.
    fn expects(&self, item: &Self::Item) -> Expect {
        let _ = item;
        Expect::Body
    }

    /// Outcome of an answer that has ended.
    fn settle(&self, sent: &SentRequest<Self::Item>, ended: AnswerEnd, sink: &mut Self::Sink<'_>) -> Settled;

    /// Heads of earlier answers to the same request.
    fn memo<'s>(&'s self, sent: &'s SentRequest<Self::Item>) -> Option<&'s RefCell<HeadMemo>> {
        let _ = sent;
        None
    }
}
