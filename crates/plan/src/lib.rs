//! The Plan: one typed, complete, checked, printable description of a test.
//!
//! This crate describes and cannot act: no I/O, no threads, no clock (time is an argument). Whatever both sides of a
//! test must agree on without talking to each other lives here as pure functions: which object a request asks for
//! ([`popularity`]), what that object is ([`site`]), and each byte of its body ([`content`]).
//!
//! Start reading at [`Plan`]; then [`Site`] (what exists) and [`Load`] (what is asked, when, and until when).

// A new variant is looked at wherever its enum is matched.
#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

pub mod byte_order;
pub mod check;
pub mod data;
pub mod draw;
pub mod load;
pub mod pace;
pub mod pattern;
pub mod site;
pub mod units;

mod address;
pub mod digest;
mod http;
mod inputs;
mod io;
mod masked;
mod request;
mod scenario;
mod text;
mod violation;

// What others name most often has a short path; the rooms are how this crate is laid out.
pub use data::{secret, template};
pub use load::sources;
pub use request::{answer, message};
pub use scenario::{expression, script};
pub use site::{canary, content, jtest, popularity, predict};

pub use address::{Address, UriFault, UrlFault, reference, uri_fault};
pub use data::body::{Body, BodyPiece};
pub use data::filed::{BodyFile, BodyPart, FileMeasure};
pub use data::secret::{Secret, SecretSource};
pub use http::connections::{CloseBy, Connections, Resend};
pub use http::credentials::Credentials;
pub use http::endpoint::Endpoint;
pub use http::http2::{Http2, StreamFaults};
pub use http::http3::{Http3, Qlog, Transport};
pub use http::tls::{CipherSuite, Keystore, OriginTls, Resumption, Tls, TlsVersion};
pub use http::version::{HttpProtocol, HttpVersion};
pub use inputs::{Inputs, NamedFile};
pub use io::Io;
pub use load::http::{Http, Http1, Http1Version, RequestForm};
pub use load::keep::KeepRequests;
pub use load::reach::ConnectTo;
pub use load::sources::SourceRange;
pub use load::split::Part;
pub use load::stop_if::StopIf;
pub use load::targets::{TargetSpread, key_of_path, parse_targets, place_of};
pub use load::threshold::{As, Metric, Relation, Statistic, Threshold, Timed};
pub use load::*;
pub use masked::Masked;
pub use pace::delay::Delay;
pub use pace::live::{LiveFeed, LiveFull, LiveLine, LiveText};
pub use pace::moments::Moments;
pub use pace::stop::Stop;
pub use pace::walks::Walks;
pub use pace::{Arrivals, Curve, Open, Pace, Stage, UserRow};
pub use popularity::{Law, Popularity};
pub use request::Request;
pub use request::expect::{Expect, ExpectBody, Status};
pub use request::field::{Basic, Field, FieldValue, SecretText};
pub use request::list::{ListLine, ListName, Listed, RequestList};
pub use request::message::{MessageConnections, MessageStep, Tcp};
pub use request::session::{Auth, CookieRules, Elements, Redirects, Resources, Session, Validators};
pub use scenario::asked::{AskedKind, AskedLine, AskedList, ENDINGS};
pub use scenario::expression::Expression;
pub use scenario::reading::{GiveUp, Reading};
pub use scenario::script::{Dialect, ScriptStep};
pub use scenario::{
    Amount, Barrier, Branch, Choice, ChoiceBy, Code, CounterStep, Feed, FeedEnd, Fills, Flow, ForEach, Group,
    If, Keep, Lock, Loop, ObjectStep, OnFailure, Percent, Purge, Rhythm, RhythmHow, Scenario, ScenarioLog,
    Scope, Sequence, Set, Share, Step, Together, Transaction, UrlOrder, UrlStep, url_hash,
};
pub use scenario::{AwsSignature, RequestOrder, RequestStep};
pub use site::Site;
pub use text::{Find, Source, TextError, TextForm, Tree, Written};

use serde::{Deserialize, Serialize};
use std::net::SocketAddr;

/// Everything a run needs to know, whoever described it: a native command line, an old tool's, or a plan file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Version of the text form; this build reads [`Plan::VERSION`].
    pub version: u32,
    /// The one seed: the same seed and plan send the same requests whatever the number of workers.
    pub seed: u64,
    /// Workers, one per core; `None` means one for each core the process may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u16>,
    /// The system interface that the workers use.
    #[serde(default, skip_serializing_if = "Io::is_auto")]
    pub io: Io,
    /// The objects that exist and their laws, known to clients and origin alike.
    #[serde(default)]
    pub site: Site,
    /// The client side; absent where only the origin runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Load>,
    /// The origin side; absent where only the clients run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
}

impl Plan {
    /// The version of the text form that this build writes and reads.
    pub const VERSION: u32 = 1;

    /// True if any step asks for objects, of which it can be told what a cache did with them.
    pub fn asks_for_objects(&self) -> bool {
        let phases = self.load.iter().flat_map(|load| &load.phases);
        phases.flat_map(|phase| phase.sends()).any(|step| matches!(step, Step::Object(_)))
    }

    /// Where a proxy is to fetch from: what the origin listens at or, where that is every address of its machine, what
    /// URLs call it. `None` where the plan has no origin.
    pub fn origin_as_reached(&self) -> Option<&str> {
        let listen = self.origin.as_ref()?.listen.as_str();
        let everywhere = listen.parse::<SocketAddr>().is_ok_and(|address| address.ip().is_unspecified());
        match self.load.as_ref().map(|load| &load.protocol) {
            Some(Protocol::Http(http)) if everywhere => Some(&http.authority),
            _ => Some(listen),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_on_every_address_is_reached_by_the_name_in_urls() {
        let http = Http { authority: "me.example:9080".to_owned(), ..Http::default() };
        let load = Load { protocol: Protocol::Http(http), ..Load::default() };
        for (listen, reached) in [
            ("0.0.0.0:9080", "me.example:9080"),
            ("[::]:9080", "me.example:9080"),
            ("192.0.2.1:9080", "192.0.2.1:9080"),
            ("origin.example:9080", "origin.example:9080"),
        ] {
            let plan = Plan {
                version: Plan::VERSION,
                seed: 1,
                threads: None,
                io: Io::Auto,
                site: Site::default(),
                load: Some(load.clone()),
                origin: Some(Origin { listen: listen.to_owned(), ..Origin::default() }),
            };
            assert_eq!(plan.origin_as_reached(), Some(reached));
        }
    }
}
