//! The two sides of a test: what the clients do ([`Load`]) and how the origin behaves ([`Origin`]).
//!
//! Three questions, three types: what to send ([`Scenario`]), when to send it ([`Pace`]), until when ([`Stop`]).

pub(crate) mod http;
pub(crate) mod keep;
pub(crate) mod reach;
pub mod sources;
pub(crate) mod split;
pub(crate) mod stop_if;
pub(crate) mod targets;
pub(crate) mod threshold;
mod versions;

use crate::http::connections::Connections;
use crate::http::http2::StreamFaults;
use crate::http::tls::{OriginTls, Tls};
use crate::http::version::HttpVersion;
use crate::load::http::Http;
use crate::load::keep::KeepRequests;
use crate::load::sources::SourceRange;
use crate::load::stop_if::StopIf;
use crate::load::threshold::Threshold;
use crate::pace::Pace;
use crate::pace::delay::Delay;
use crate::pace::stop::Stop;
use crate::request::field::Field;
use crate::request::message::{MessageConnections, MessageService};
use crate::scenario::{Group, Scenario, Step};
use crate::units::{duration_text, duration_text_option};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use targets::TargetSpread;

/// The client side of a test.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// Where connections go, `host:port`: the proxy. `None`: to the host that each URL names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Other targets beside it, `host:port`, which are pressed as well: proxies of one kind in a row.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more_targets: Vec<String>,
    /// Spread of connections over several targets.
    #[serde(default, skip_serializing_if = "TargetSpread::is_turn")]
    pub spread: TargetSpread,
    /// Local addresses that connections come from, in turn; none: the system chooses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<SourceRange>,
    /// The protocol spoken on a connection.
    #[serde(default)]
    pub protocol: Protocol,
    /// Checks made on each answer.
    #[serde(default)]
    pub check: Check,
    /// Limits of a request.
    #[serde(default)]
    pub limits: LoadLimits,
    /// Follow each other in one run; each has its own figures.
    pub phases: Vec<Phase>,
    /// Conditions that must not hold when the run is over, such as `p99>50ms` or `errors{checkout}>1%`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fail_if: Vec<Threshold>,
    /// Conditions that must hold when the run is over, such as `p99<50ms` or `ok-rate>=99.9%`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub require: Vec<Threshold>,
    /// Conditions that end the run early, such as `errors>50% for 60s`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop_if: Vec<StopIf>,
    /// Details told about single requests while the run goes on.
    #[serde(default)]
    pub trace: Trace,
}

impl Load {
    /// Returns a line for each condition that seems to stand in the wrong place.
    pub fn doubtful_conditions(&self) -> Vec<String> {
        let forbidden = self.fail_if.iter().filter_map(Threshold::forbids_what_is_wanted);
        forbidden.chain(self.require.iter().filter_map(Threshold::requires_what_is_not_wanted)).collect()
    }
}

/// The protocol spoken on a connection; a value, so that others can follow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// HTTP, in one or several of its versions.
    Http(Http),
    /// TCP messages.
    Messages(MessageConnections),
}

impl Protocol {
    /// How connections live. Each protocol says it in its own table, so that plans read as they always did.
    pub fn connections(&self) -> Connections<'_> {
        let (requests_per_connection, close, tls, resend) = match self {
            Protocol::Http(http) => (http.requests_per_connection, http.close, &http.tls, http.resend),
            Protocol::Messages(messages) => {
                (messages.requests_per_connection, messages.close, &messages.tls, messages.resend)
            }
        };
        Connections { requests_per_connection, close, tls: tls.as_ref(), resend }
    }

    /// TLS of its connections, to be changed.
    pub(crate) fn tls_mut(&mut self) -> Option<&mut Tls> {
        match self {
            Protocol::Http(http) => http.tls.as_mut(),
            Protocol::Messages(messages) => messages.tls.as_mut(),
        }
    }

    /// How HTTP is spoken, where it is.
    pub fn http(&self) -> Option<&Http> {
        match self {
            Protocol::Http(http) => Some(http),
            Protocol::Messages(_) => None,
        }
    }
}

impl Default for Protocol {
    fn default() -> Protocol {
        Protocol::Http(Http::default())
    }
}

/// Checks made on each answer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Check {
    /// How much of a body is compared with what it must be.
    pub content: CheckContent,
    /// The announced length must be that of the object.
    pub length: bool,
    /// The origin cuts bodies on purpose and cannot say so, as in jtest's form: those that end early are no failures.
    pub cuts_expected: bool,
    /// How many answers that failed a check are kept as evidence, with both sides' header fields.
    pub evidence: u32,
    /// Share of requests that may be answered wrongly before the run as a whole counts as wrong.
    #[serde(skip_serializing_if = "is_nothing")]
    pub tolerated: f64,
    /// Requests for objects carry a canary, and so do their answers.
    #[serde(skip_serializing_if = "is_no")]
    pub canaries: bool,
}

fn is_no(wanted: &bool) -> bool {
    !*wanted
}

fn is_nothing(share: &f64) -> bool {
    *share == 0.0
}

impl Default for Check {
    fn default() -> Check {
        Check {
            content: CheckContent::All,
            length: true,
            cuts_expected: false,
            evidence: 20,
            tolerated: 0.0,
            canaries: false,
        }
    }
}

/// How much of a body is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CheckContent {
    /// Nothing: bodies may be drained unread.
    Nothing,
    /// Only the text that the body begins with.
    Prefix,
    /// Each byte.
    All,
}

/// Limits of a request; all are enforced to about 20 ms.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct LoadLimits {
    /// From the start of connecting until connected, tunnel and TLS handshake included.
    #[serde(with = "duration_text")]
    #[cfg_attr(test, schemars(with = "crate::units::DurationText"))]
    pub connect: Duration,
    /// From the send of a request until the first byte of its answer; `None`: only `request` bounds it.
    #[serde(with = "duration_text_option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<crate::units::DurationText>"))]
    pub first_byte: Option<Duration>,
    /// From the start of a request until its answer is complete.
    #[serde(with = "duration_text")]
    #[cfg_attr(test, schemars(with = "crate::units::DurationText"))]
    pub request: Duration,
    /// How long nothing may come or go within a request that is described; `None`: only `request` bounds it.
    #[serde(with = "duration_text_option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<crate::units::DurationText>"))]
    pub idle: Option<Duration>,
    /// How long requests under way are waited for when the run is over.
    #[serde(with = "duration_text")]
    #[cfg_attr(test, schemars(with = "crate::units::DurationText"))]
    pub grace: Duration,
    /// Header bytes of one answer.
    pub head_bytes: u32,
    /// Header fields of one answer.
    pub fields: u16,
    /// How long a user pauses at most before its next request when the target refuses.
    #[serde(with = "duration_text", skip_serializing_if = "is_usual_pause")]
    #[cfg_attr(test, schemars(with = "crate::units::DurationText"))]
    pub pause: Duration,
}

/// How long a user pauses at most where the plan does not say.
const USUAL_PAUSE: Duration = Duration::from_millis(100);

fn is_usual_pause(pause: &Duration) -> bool {
    *pause == USUAL_PAUSE
}

impl LoadLimits {
    /// Header fields of an answer over HTTP/1.1 that any plan may allow.
    pub const MOST_FIELDS: u16 = 256;
    /// Header bytes of an answer that any plan may allow.
    pub const MOST_HEAD_BYTES: u32 = 16 << 20;
}

impl Default for LoadLimits {
    fn default() -> LoadLimits {
        LoadLimits {
            connect: Duration::from_secs(5),
            first_byte: None,
            request: Duration::from_secs(30),
            idle: None,
            grace: Duration::from_secs(1),
            head_bytes: 65_536,
            fields: 128,
            pause: USUAL_PAUSE,
        }
    }
}

/// One part of a run, with figures of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Its name in reports.
    pub name: String,
    /// True if its figures belong to the result; a phase that only fills is told apart but not counted.
    #[serde(default = "yes")]
    pub measured: bool,
    /// The scenario that is sent.
    #[serde(default, skip_serializing_if = "Scenario::is_empty")]
    pub scenario: Scenario,
    /// When it is sent.
    #[serde(default, skip_serializing_if = "Pace::is_default")]
    pub pace: Pace,
    /// Until when.
    #[serde(default)]
    pub stop: Stop,
    /// Several scenarios at the same time, each with users of its own, in place of the one above; `stop` then bounds all of
    /// them together. The phase ends when each has ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<Group>,
    /// It runs as well where the run was stopped before: what clears up.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub always: bool,
    /// Versions of HTTP that its users speak, who take turns among them; empty: what `http2` and `http3` of the protocol say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub http: Vec<HttpVersion>,
    /// Connections that each of its paces opens before it begins, over all workers. `None`: see [`Phase::opens_ahead`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preconnect: Option<u32>,
    /// Share of requests that get an error from the origin while it lasts, in place of what the origin says itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin_errors: Option<f64>,
    /// Share of answers that the origin cuts short while it lasts, in place of what the origin says itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin_aborts: Option<f64>,
}

impl Default for Phase {
    /// One user that does nothing yet, and is measured.
    fn default() -> Phase {
        Phase {
            name: String::new(),
            measured: true,
            scenario: Scenario::default(),
            pace: Pace::default(),
            stop: Stop::default(),
            groups: Vec::new(),
            always: false,
            http: Vec::new(),
            preconnect: None,
            origin_errors: None,
            origin_aborts: None,
        }
    }
}

/// Time that an answer is taken to need, where the connections that a rate will need are counted beforehand.
const TAKEN: f64 = 0.001;

impl Phase {
    /// Its scenarios: its own, or those of its groups.
    pub fn scenarios(&self) -> impl Iterator<Item = &Scenario> {
        let own = self.groups.is_empty().then_some(&self.scenario);
        own.into_iter().chain(self.groups.iter().map(|group| &group.scenario))
    }

    /// As [`Phase::scenarios`], to be changed.
    pub fn scenarios_mut(&mut self) -> impl Iterator<Item = &mut Scenario> {
        std::iter::once(&mut self.scenario).chain(self.groups.iter_mut().map(|group| &mut group.scenario))
    }

    /// Connections to open before a part of it begins, over all workers: as many as it says; or those that the requests of an open
    /// pace need in its first second if answers take a millisecond (Little's law), where connections are kept.
    pub fn opens_ahead(&self, connections: Connections<'_>) -> u32 {
        let kept = connections.requests_per_connection.is_none();
        let needed = || match self.pace.open().filter(|open| kept && !open.connections) {
            Some(open) => ((open.curve.arrivals_by(1.0) * TAKEN).ceil() as u32).div_ceil(self.share_one()),
            None => 0,
        };
        self.preconnect.unwrap_or_else(needed).min(self.connections_at_once())
    }

    /// Connections of a part of it that are in use at once, at most.
    pub(crate) fn connections_at_once(&self) -> u32 {
        match self.pace.open() {
            Some(open) => open.in_flight.div_ceil(self.share_one()),
            None => self.pace.at_once(),
        }
    }

    /// Requests that may be under way on a connection.
    fn share_one(&self) -> u32 {
        match &self.scenario.steps[..] {
            [Step::Messages(step)] => step.pipeline.max(1),
            _ => 1,
        }
    }

    /// It with a pace of its own for each group that has a share of the phase's.
    pub(crate) fn dealt(&self) -> Phase {
        let mut dealt = self.clone();
        let mut before = 0.0;
        for group in &mut dealt.groups {
            if let Some(share) = group.share.take() {
                group.pace = self.pace.between(before, before + share);
                before += share;
            }
        }
        dealt
    }

    /// True if its users walk journeys; those of groups always do.
    pub fn has_journeys(&self) -> bool {
        !self.groups.is_empty() || self.scenario.is_journey()
    }

    /// Users of each of its groups that may be there at once.
    pub fn users_at_once(&self) -> Vec<u32> {
        match self.groups.is_empty() {
            true => vec![self.pace.at_once()],
            false => self.groups.iter().map(|group| group.pace.at_once()).collect(),
        }
    }

    /// Its groups, each as a phase of its own, in which users walk a journey; itself where it has none.
    pub fn parts(&self) -> Vec<Phase> {
        let dealt = self.dealt();
        let of_group = |group: &Group| {
            let left = self.stop.after.map(|after| after.saturating_sub(group.start));
            let after = left.into_iter().chain(group.stop.after).min();
            let mut scenario = group.scenario.clone();
            scenario.make_journey();
            Phase {
                name: group.name.clone(),
                scenario,
                pace: group.pace.clone(),
                stop: Stop { after, ..group.stop },
                groups: Vec::new(),
                http: self.versions_of(group).to_vec(),
                ..self.clone()
            }
        };
        match self.groups.is_empty() {
            true => vec![self.clone()],
            false => dealt.groups.iter().map(of_group).collect(),
        }
    }

    /// All that is sent, in the order of the plan.
    pub fn sends(&self) -> Vec<&Step> {
        self.scenarios().flat_map(Scenario::sends).collect()
    }

    /// All that is sent, to be changed.
    pub fn sends_mut(&mut self) -> Vec<&mut Step> {
        self.scenarios_mut().flat_map(Scenario::sends_mut).collect()
    }

    /// Returns the labels that figures are gathered under, each once, in the order of the plan; then the versions of HTTP,
    /// where they are several.
    pub fn labels(&self) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for label in self.scenarios().flat_map(Scenario::labels) {
            if !found.contains(&label) {
                found.push(label);
            }
        }
        let versions = self.versions();
        let names = versions.iter().map(|version| version.name().to_owned());
        found.extend(names.filter(|_| versions.len() > 1));
        found
    }
}

fn yes() -> bool {
    true
}

/// Details told about single requests while the run goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Trace {
    /// Each URL before it is asked for.
    pub urls: bool,
    /// The header fields of each request and answer.
    pub heads: bool,
    /// Each failed request.
    pub errors: bool,
    /// A record of each request, those for objects apart, when it has ended.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub requests: bool,
    /// The body of each answer to a request of a session, as received, transfer coding removed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub bodies: bool,
    /// A record of each request that was not good.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub bad_requests: bool,
    /// The first answer that each worker gets to a request.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub first: bool,
    /// The times of all requests are gathered, failed ones included, connecting apart.
    #[serde(skip_serializing_if = "std::ops::Not::not", alias = "spreads")]
    pub distributions: bool,
    /// A record of each connection, when it is over or a phase is.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub connections: bool,
    /// Single requests that are kept in the run's file.
    #[serde(skip_serializing_if = "KeepRequests::is_nothing")]
    #[cfg_attr(test, schemars(with = "String"))]
    pub keep: KeepRequests,
    /// Records of requests of journeys hold the request and its answer.
    #[serde(skip_serializing_if = "KeptContents::is_nothing")]
    pub contents: KeptContents,
    /// Names of values of the user that records of journeys hold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
}

/// Records that hold the request and its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum KeptContents {
    /// None.
    #[default]
    Nothing,
    /// Those of requests that were not good.
    Failures,
    /// All.
    All,
}

impl KeptContents {
    fn is_nothing(&self) -> bool {
        *self == KeptContents::Nothing
    }

    /// True if the record of a request holds them.
    pub fn of(self, is_good: bool) -> bool {
        match self {
            KeptContents::Nothing => false,
            KeptContents::Failures => !is_good,
            KeptContents::All => true,
        }
    }
}

impl Trace {
    /// True if single requests are told, and not only figures and what went wrong first.
    pub fn tells_single(&self) -> bool {
        self.urls
            || self.heads
            || self.errors
            || self.requests
            || self.bodies
            || self.bad_requests
            || self.distributions
            || self.connections
            || !self.keep.is_nothing()
    }
}

/// How the origin behaves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Origin {
    /// Where it listens, `host:port`.
    pub listen: String,
    /// If the port is taken, this many following ones are tried.
    pub further_ports: u16,
    /// Answers per connection; `None` without end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_connection: Option<u32>,
    /// Time from the request until the answer begins.
    pub delay: Delay,
    /// Speed of each answer's body, smooth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_per_second: Option<u64>,
    /// Share of requests that get an error.
    pub errors: f64,
    /// The status of such an error.
    pub error_status: u16,
    /// Share of answers that are cut short and closed.
    pub aborts: f64,
    /// Faults on streams of HTTP/2.
    #[serde(skip_serializing_if = "StreamFaults::is_none")]
    pub stream_faults: StreamFaults,
    /// Share of answers sent in chunks instead of by length.
    pub chunked: f64,
    /// Share of requests for a range that get the whole object (RFC 9110 section 14.2).
    #[serde(skip_serializing_if = "is_nothing")]
    pub ignores_ranges: f64,
    /// Fields added to each answer. With `{path}` in its value it is added to answers about an object alone, and has the object's path there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<Field>,
    /// How many recent exchanges each worker remembers for evidence.
    pub remember: u32,
    /// TLS on its connections; `None`: without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<OriginTls>,
    /// Answers are what the query of a request asks for, as those of HAProxy's haterm, and no objects.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub haterm: bool,
    /// It answers TCP messages instead of serving objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<MessageService>,
}

impl Origin {
    /// The place of the object's path in a field's value.
    pub const PATH: &str = "{path}";
}

impl Default for Origin {
    fn default() -> Origin {
        Origin {
            listen: "127.0.0.1:9080".to_owned(),
            further_ports: 0,
            requests_per_connection: None,
            delay: Delay::None,
            bytes_per_second: None,
            errors: 0.0,
            error_status: 503,
            aborts: 0.0,
            stream_faults: StreamFaults::default(),
            chunked: 0.0,
            ignores_ranges: 0.0,
            fields: Vec::new(),
            remember: 4096,
            tls: None,
            haterm: false,
            messages: None,
        }
    }
}
