//! Events of single requests that the engine tells while it runs: data for whoever prints.

use crate::labels::Label;
use crate::outcome::{Failure, Fault, Outcome};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

/// One thing told while the run goes on.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A URL (or, for objects, the request line) about to be asked for.
    Url(String),
    /// Header fields, braces and title left to the printer.
    Head {
        /// Which of the four directions.
        title: HeadTitle,
        /// The bytes as sent or received.
        text: Vec<u8>,
    },
    /// The body of an answer.
    Body(Vec<u8>),
    /// A step of an exchange of TCP messages.
    Talk(Box<Talk>),
    /// A request went wrong.
    RequestError(Box<RequestError>),
    /// An answer that failed a check, with what is known of it.
    Evidence(Box<Evidence>),
    /// A request has ended.
    Request(Box<Record>),
    /// A transaction of a journey begins or ends.
    Transaction(Box<TransactionMark>),
    /// All that a page needs has been fetched.
    Page(PageMark),
    /// A line that a plan says. `serious`: something in it is broken.
    Log {
        /// A warning or an error.
        serious: bool,
        /// The line.
        text: String,
    },
    /// A request has ended that is kept in the run's file.
    Kept(Box<Record>),
    /// The first answer that a worker got.
    First(Box<First>),
    /// The first TLS handshake of a worker is complete.
    FirstTls(Box<FirstTls>),
    /// A server showed this certificate.
    Certificate(Box<Certificate>),
    /// No answer came to a request.
    Lost(Box<LostRequest>),
    /// A request with a trace context has ended that is among the slowest.
    Traced(Box<TracedRequest>),
    /// A connection, or a phase of it, is over.
    Connection(Box<ConnectionUse>),
    /// A URL that was fetched, for lists that outlive the run (`url_hash`).
    Fetched(u64),
}

/// Answers that came over a connection in a phase. Times count from the start of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionUse {
    /// The phase, from 0.
    pub phase: usize,
    /// When opening it began, or the phase, where that was later.
    pub began: Duration,
    /// Time that opening it took, TLS included; `None` where that was before the phase.
    pub opened: Option<Duration>,
    /// When the first byte of an answer came, where it came in this phase and none had come before.
    pub first_byte: Option<Duration>,
    /// When an answer came last; as `began` where none did.
    pub ended: Duration,
    /// Answers that came.
    pub answered: u64,
}

/// A step of an exchange of TCP messages.
#[derive(Debug, Clone, PartialEq)]
pub struct Talk {
    /// Number of the connection: that of its worker, from 1, times 10,000, and its place there, from 1.
    pub connection: u64,
    /// Event on the connection.
    pub said: TalkEvent,
}

/// Event on a connection that carries messages.
#[derive(Debug, Clone, PartialEq)]
pub enum TalkEvent {
    /// It is being opened.
    Connecting,
    /// It is open, its TLS handshake done where it has one.
    Connected,
    /// Requests were sent, in one piece.
    Sent(Vec<u8>),
    /// A message came, whole.
    Received {
        /// Bytes before its body.
        head: Vec<u8>,
        /// Bytes in which its code is looked for.
        body: Vec<u8>,
        /// All of it.
        bytes: Vec<u8>,
    },
    /// An answer was judged.
    Judged {
        /// Its code, where it holds one.
        code: Option<Vec<u8>>,
        /// Its fault, where it has one.
        fault: Option<Fault>,
    },
}

/// One request from its beginning to its end.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Its number within the phase, from 0.
    pub number: u64,
    /// The number of the user that sent it, from 0.
    pub user: u64,
    /// The branch of the user that sent it, from 1; 0: the user is in no branch.
    pub branch: u32,
    /// Its place in the list of requests.
    pub place: usize,
    /// The phase that it belongs to, from 0.
    pub phase: usize,
    /// Number of its connection within the worker.
    pub connection: u64,
    /// Label that its figures are gathered under, a place in the phase's list of labels.
    pub label: Option<Label>,
    /// When it was begun, connecting included: time since the start of the run.
    pub began: Duration,
    /// How it ended.
    pub outcome: Outcome,
    /// The answer's HTTP version, `HTTP/1.1` or `HTTP/1.0`; `None` where no answer came.
    pub version: Option<&'static str>,
    /// Status of the answer, 0 where none came.
    pub status: u16,
    /// The method.
    pub method: Cow<'static, str>,
    /// The URL, absolute.
    pub url: Arc<str>,
    /// Time of opening its connection, TLS included; `None` where a kept one was used.
    pub connect: Option<Duration>,
    /// The part of that in which TLS shook hands; `None` where it did not.
    pub tls: Option<Duration>,
    /// From the send to the first byte of the answer.
    pub first_byte: Option<Duration>,
    /// From the send to the end of the answer, or until it had failed.
    pub service: Duration,
    /// Header bytes of the answer.
    pub head_bytes: u64,
    /// Body bytes of the answer.
    pub body_bytes: u64,
    /// Body bytes of the answer that it is compared with, where there is one.
    pub expected_bytes: Option<u64>,
    /// Why it was sent.
    pub cause: Cause,
    /// The number of its group in the phase, from 0.
    pub group: usize,
    /// Users who were there when it ended.
    pub present: UsersPresent,
    /// Bytes of the request.
    pub sent_bytes: u64,
    /// The answer led on to another request, whose record follows.
    pub leads_on: bool,
    /// Its place among all that its user fetches for one page.
    pub fetch: Fetch,
    /// Remarks of a journey's checks and scripts on it.
    pub remark: Option<Box<Remark>>,
    /// Bytes of the answer, from the first one on that broke a rule.
    pub at_fault: Option<Box<[u8]>>,
    /// The trace id that it carried.
    pub trace_id: Option<String>,
    /// More than figures, where the plan wants it of a journey.
    pub contents: Option<Box<Contents>>,
}

/// The name of a method, shared where it is one that many requests have.
pub fn method_name(name: &str) -> Cow<'static, str> {
    const USUAL: [&str; 8] = ["", "GET", "POST", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS"];
    match USUAL.iter().find(|usual| **usual == name) {
        Some(usual) => Cow::Borrowed(usual),
        None => Cow::Owned(name.to_owned()),
    }
}

/// Users of a closed pace who are there; 0 of an open one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UsersPresent {
    /// Those of the group.
    pub of_group: u32,
    /// Those of all groups of the phase.
    pub of_all: u32,
}

/// A request and its answer, and what its user knew then.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Contents {
    /// The request as it was sent, its head first; of a program what it says that it has sent.
    pub request: Vec<u8>,
    /// The head of the answer, as received.
    pub head: Vec<u8>,
    /// The body of the answer, codings removed.
    pub body: Vec<u8>,
    /// Values of the user, as the plan names them; `None` where there is none.
    pub values: Vec<Option<String>>,
    /// The request and its answer are there, and not the values alone.
    pub has_bytes: bool,
}

impl Record {
    /// One of which only the outcome is known: the first of its user, without answer, URL or time.
    pub fn new(outcome: Outcome) -> Record {
        Record {
            number: 0,
            user: 0,
            branch: 0,
            place: 0,
            phase: 0,
            connection: 0,
            label: None,
            began: Duration::ZERO,
            outcome,
            version: None,
            status: 0,
            method: Cow::Borrowed(""),
            url: Arc::default(),
            connect: None,
            tls: None,
            first_byte: None,
            service: Duration::ZERO,
            head_bytes: 0,
            body_bytes: 0,
            expected_bytes: None,
            cause: Cause::Listed,
            group: 0,
            present: UsersPresent::default(),
            sent_bytes: 0,
            leads_on: false,
            fetch: Fetch::default(),
            remark: None,
            at_fault: None,
            trace_id: None,
            contents: None,
        }
    }
}

/// Remarks of a journey's checks and scripts on a request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Remark {
    /// Its label, where that holds values.
    pub label: Option<String>,
    /// Its code, where a script has set one, or it has none of HTTP.
    pub code: Option<String>,
    /// Its message, where that is another than the usual one of the status.
    pub message: Option<String>,
    /// It is not to be told of.
    pub ignored: bool,
    /// Checks that did not hold: the name of each, and what it says.
    pub failed: Vec<(String, String)>,
}

/// The place of a request among all that its user fetches for one page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Fetch {
    /// 0 of the page; what is fetched for it is numbered from 1, in the order in which it is begun. Redirections keep it.
    pub number: u32,
    /// The number of the page, or of the frame in it, that needs it.
    pub page: u32,
    /// Resources of its own are fetched next, up to the [`PageMark`].
    pub has_needs: bool,
    /// Redirections on the way to it are no samples of their own.
    pub joins: bool,
}

/// All that the last page of a user needs has been fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageMark {
    /// The number of the user, from 0.
    pub user: u64,
    /// The branch that it is in, from 1; 0: none.
    pub branch: u32,
    /// The number of its group in the phase, from 0.
    pub group: usize,
    /// The phase, from 0.
    pub phase: usize,
}

/// A transaction begins or ends.
#[derive(Debug, Clone, PartialEq)]
pub struct TransactionMark {
    /// The number of the user, from 0.
    pub user: u64,
    /// The branch that it is in, from 1; 0: none.
    pub branch: u32,
    /// The number of its group in the phase, from 0.
    pub group: usize,
    /// The phase, from 0.
    pub phase: usize,
    /// Its label.
    pub label: String,
    /// Its requests are told as parts of it.
    pub parent: bool,
    /// When, since the start of the run.
    pub at: Duration,
    /// How long it took, without pauses that do not belong to it; `None`: it begins.
    pub took: Option<Duration>,
    /// Values of the user at its end, as the plan names them.
    pub values: Vec<Option<String>>,
    /// Users who were there then.
    pub present: UsersPresent,
}

/// Why a request was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Cause {
    /// It stands in the list.
    #[default]
    Listed,
    /// A user sends it before its first request.
    Login,
    /// An answer led on to it.
    Redirect,
    /// A page needs it.
    Resource,
    /// As the one it repeats, but the answer was a challenge that is answered next. It is no request of its own: counted
    /// as `challenges` and not as `requests`.
    Challenged,
}

/// The first answer to a request that a worker got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct First {
    /// When it was complete, since the start of the run.
    pub at: Duration,
    /// Its status line and header fields.
    pub head: Vec<u8>,
    /// Bytes of its body; where bodies must be as long as the run's first one, of that.
    pub body_bytes: u64,
}

/// Parameters that the first TLS handshake of a worker has agreed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstTls {
    /// When, since the start of the run.
    pub at: Duration,
    /// It is TLS 1.3, otherwise 1.2.
    pub tls13: bool,
    /// Number of the cipher suite (IANA).
    pub suite: u16,
    /// Number of the group of the key exchange (IANA); `None` where keys were agreed on without.
    pub group: Option<u16>,
    /// Bits of the public key of the server's certificate; `None` for a kind that is not known here.
    pub key_bits: Option<u32>,
}

/// A certificate that a server showed in a full TLS handshake, trusted or not. Texts are its own, control characters and all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    /// The name that was asked for.
    pub host: String,
    /// Whom it is about, such as `O=Example, CN=example.org`; empty where it names nobody.
    pub subject: String,
    /// Who signed it.
    pub issuer: String,
    /// From when it is valid, such as `2026-11-22 12:35:14 UTC`.
    pub not_before: String,
    /// Until when.
    pub not_after: String,
    /// Names and addresses that it is for.
    pub names: Vec<String>,
    /// Kind and bits of its public key, such as `RSA` and 2048; `None` for a kind that is not known here.
    pub key: Option<(&'static str, u32)>,
}

/// Direction of header fields that are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadTitle {
    /// The client's request.
    RequestToProxy,
    /// The request as the origin received it.
    RequestFromProxy,
    /// The origin's answer.
    ResponseToProxy,
    /// The answer as the client received it.
    ResponseFromProxy,
}

/// A request that went wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestError {
    /// How.
    pub what: RequestErrorKind,
    /// The request line, or the URL.
    pub request: String,
    /// The answer's status line, where one came.
    pub status_line: String,
    /// First and last byte of the range asked for, 0 and 0 where none was.
    pub range: (u64, u64),
    /// Time since the request began.
    pub after: Duration,
    /// Number of the connection within its worker.
    pub connection: u64,
    /// True if the connection had carried a request before.
    pub reused: bool,
}

/// How a request went wrong.
#[derive(Debug, Clone, PartialEq)]
pub enum RequestErrorKind {
    /// It failed.
    Failed(Failure),
    /// The oracle found the answer false.
    CheckFailed(Fault),
    /// The announced length is not that of the object.
    Length {
        /// Length that the object has, or that the range asked for has.
        expected: u64,
        /// Length that was announced.
        announced: u64,
        /// Length of the whole object.
        whole: u64,
    },
    /// The body ended too early.
    Short {
        /// Bytes that came.
        got: u64,
        /// Bytes announced.
        wanted: u64,
    },
    /// A redirection that leads nowhere.
    Redirect,
    /// A line of a URL list that is no URL.
    Url,
}

/// A request that no answer came to, or no whole one: it was left at the end, or its time ran out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct LostRequest {
    /// When it was due, since the start of the run.
    #[serde(rename = "begun_s", with = "crate::seconds")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub begun: Duration,
    /// How long it was waited for.
    #[serde(rename = "waited_s", with = "crate::seconds")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub waited: Duration,
    /// Its time ran out; otherwise it was left when its part of the run was over.
    pub timed_out: bool,
    /// Title of the request: method and URL, or the name of a message.
    pub title: String,
    /// Name of the phase.
    pub phase: String,
    /// The trace id that the request carried, where it carried one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
}

/// A request that carried a trace context, and is among the slowest that did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct TracedRequest {
    /// Its trace id (W3C Trace Context, section 3.2.2.3), 32 hexadecimal digits.
    pub trace_id: String,
    /// When it was due, since the start of the run.
    #[serde(rename = "due_s", with = "crate::seconds")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub due: Duration,
    /// Its response time.
    #[serde(rename = "response_s", with = "crate::seconds")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub response: Duration,
    /// Its service time.
    #[serde(rename = "service_s", with = "crate::seconds")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub service: Duration,
    /// Status of the answer; 0 where there is none.
    pub status: u16,
    /// How it failed; `None` where it did not.
    pub failure: Option<Failure>,
    /// Fault of the answer; `None` where it has none.
    pub fault: Option<Fault>,
    /// Title of the request: method and URL.
    pub title: String,
    /// Name of the phase.
    pub phase: String,
}

impl TracedRequest {
    /// So many of the slowest are told.
    pub const SLOWEST: usize = 10;

    /// Status, or what went wrong, in words.
    pub fn text(&self) -> String {
        match (self.failure, self.fault) {
            (Some(failure), _) if self.status == 0 => failure.text().to_owned(),
            (_, Some(fault)) => format!("{}, {}", self.status, fault.text()),
            (_, None) => self.status.to_string(),
        }
    }
}

/// An answer that failed a check, or the answer to a request that failed, kept with everything known of it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Evidence {
    /// Fault of the answer; `None` where the request failed.
    pub fault: Option<Fault>,
    /// How the request failed; `None` where its answer was false.
    pub failure: Option<Failure>,
    /// Bytes that no request had asked for came behind the answer, so many; 0: it is the answer that is bad.
    pub stray: u64,
    /// Title of the request: method and URL, or the name of a message.
    pub title: String,
    /// Status of the answer; 0 where there is none.
    pub status: u16,
    /// Sentence that tells what was expected and what came.
    pub detail: String,
    /// The answer's serial number, where it carried a stamp.
    pub serial: Option<u64>,
    /// Microseconds since the start of the run.
    pub at_us: u64,
    /// Name of the phase.
    pub phase: String,
    /// The trace id that the request carried, where it carried one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
    /// Header fields of the client's request.
    pub request: String,
    /// Header fields of the answer as the client received it.
    pub response: String,
    /// The beginning of the answer's body, up to [`Evidence::BODY`] bytes as they came; those that are no text are escaped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Header fields of the request as the origin received it, where it still remembers.
    pub origin_request: Option<String>,
    /// Header fields of the answer as the origin sent it, where it still remembers.
    pub origin_response: Option<String>,
    /// Bytes of the answer, from the first one on that broke a rule; those that are no visible ASCII are escaped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_fault: Option<String>,
}

impl Evidence {
    /// Bytes of a body that are kept at most.
    pub const BODY: usize = 512;

    /// Returns the fault or the failure in words.
    pub fn text(&self) -> &'static str {
        if self.stray > 0 {
            return "bytes that no request had asked for";
        }
        let failed = || self.failure.map_or("wrong", |failure| failure.text());
        self.fault.map_or_else(failed, Fault::text)
    }
}
