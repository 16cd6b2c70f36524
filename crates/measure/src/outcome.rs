//! How a request can end, as values: the field's words for what happened, with the stage.

use breach::{Breach, Code, Http1, Http2, Protocol, Rule, Scope, Side};
use serde::{Deserialize, Serialize};

/// How one request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// An answer came and was what it should be.
    Ok,
    /// An answer came whole, but failed a check: the oracle found it false, or it is not what the plan expects.
    CheckFailed(Fault),
    /// The origin had been told to fail this request (an error status or a cut body), and the failure arrived.
    Injected,
    /// The client broke the answer off on purpose.
    Aborted,
    /// No good answer came.
    Failed(Failure),
    /// It had no answer yet when its part of the run was over.
    Unfinished,
}

/// Why no good answer came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(from = "MeasureWords", into = "MeasureWords")]
pub struct Failure {
    /// Kind of the failure.
    pub kind: FailureKind,
    /// How far the request had come.
    pub stage: Stage,
    /// More that is known of it.
    pub reason: Option<Reason>,
}

/// More that is known of why a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// The system's error number.
    Errno(i32),
    /// The number of the peer's TLS alert (RFC 8446 section 6).
    Alert(u8),
    /// The status by which a proxy refused a tunnel.
    Status(u16),
    /// The peer broke a rule, or went beyond a limit of this side's.
    Breach(Broken),
    /// A stream or the connection was ended with an error code.
    Closed(Closed),
}

/// A breach, and what this side ended for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Broken {
    /// Its name in the catalogue.
    pub breach: Breach,
    /// Extent of what it ended.
    pub ended: Scope,
    /// The protocol whose code this side ended it with; `None`: HTTP/1, which has none.
    pub protocol: Option<Protocol>,
}

impl Broken {
    /// The rules that were broken, of the protocol that was spoken.
    pub fn rules(&self) -> impl Iterator<Item = Rule> + use<> {
        let of_another: &[u16] = match self.protocol {
            Some(Protocol::Http2) => &[9114, 9204],
            Some(Protocol::Http3) => &[9113, 7541],
            Some(Protocol::Quic | Protocol::Tls) | None => &[],
        };
        self.breach.entry().rules.iter().copied().filter(|rule| !of_another.contains(&rule.rfc))
    }

    /// The code that this side ended it with.
    pub fn code(&self) -> Option<Code> {
        self.protocol.and_then(|protocol| self.breach.code(protocol))
    }
}

/// A stream or a connection that was ended with an error code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Closed {
    /// Who ended it.
    pub by: Side,
    /// Extent of what was ended.
    pub ended: Scope,
    /// With which code.
    pub code: Code,
}

impl Failure {
    /// A failure of which no more is known.
    pub const fn new(kind: FailureKind, stage: Stage) -> Failure {
        Failure { kind, stage, reason: None }
    }

    /// The same, for this reason.
    pub const fn because(self, reason: Reason) -> Failure {
        Failure { reason: Some(reason), ..self }
    }

    /// The same, with the error number of the system, where it gave one.
    pub fn with_errno(self, errno: Option<i32>) -> Failure {
        Failure { reason: errno.map(Reason::Errno), ..self }
    }

    /// True if the request was sent, as far as is known, and its time ran out before a whole answer had come.
    pub fn is_lost(&self) -> bool {
        let sent = matches!(self.stage, Stage::FirstByte | Stage::Head | Stage::Body);
        self.kind == FailureKind::Timeout && sent
    }

    /// That of a breach.
    pub fn of_breach(broken: Broken, stage: Stage) -> Failure {
        Failure::new(FailureKind::of_breach(broken.breach), stage).because(Reason::Breach(broken))
    }

    /// How it failed, in words: by the name of a breach, or else by its kind.
    pub fn text(&self) -> &'static str {
        self.broken().map_or(self.kind.text(), |broken| broken.breach.text())
    }

    /// The system's error number, where it gave one.
    pub fn errno(&self) -> Option<i32> {
        if let Some(Reason::Errno(number)) = self.reason { Some(number) } else { None }
    }

    /// The number of the peer's TLS alert, where it sent one.
    pub fn alert(&self) -> Option<u8> {
        if let Some(Reason::Alert(number)) = self.reason { Some(number) } else { None }
    }

    /// The status by which a proxy refused a tunnel.
    pub fn proxy_status(&self) -> Option<u16> {
        if let Some(Reason::Status(status)) = self.reason { Some(status) } else { None }
    }

    /// The breach, and what this side ended for it.
    pub fn broken(&self) -> Option<Broken> {
        if let Some(Reason::Breach(broken)) = self.reason { Some(broken) } else { None }
    }

    /// The end of a stream or a connection: by whom and with which code, where there was one.
    pub fn closed(&self) -> Option<Closed> {
        match self.reason {
            Some(Reason::Closed(closed)) => Some(closed),
            Some(Reason::Breach(broken)) => {
                broken.code().map(|code| Closed { by: Side::Here, ended: broken.ended, code })
            }
            Some(Reason::Errno(_) | Reason::Alert(_) | Reason::Status(_)) | None => None,
        }
    }
}

/// A failure as it is written.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct MeasureWords {
    kind: FailureKind,
    stage: Stage,
    /// In files of version 0.1 also the number of an alert, or a proxy's status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    errno: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    alert: Option<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    proxy_status: Option<u16>,
    /// Name of a breach; one that this version does not know is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    breach: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    closed: Option<ToldClosed>,
}

/// Who ended what with which code, as it is written.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ToldClosed {
    /// `peer` or `here`.
    by: String,
    /// `stream` or `connection`.
    ended: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    protocol: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    code: Option<u64>,
}

impl From<Failure> for MeasureWords {
    fn from(failure: Failure) -> MeasureWords {
        let Failure { kind, stage, reason } = failure;
        let errno = failure.errno();
        let alert = failure.alert();
        let proxy_status = failure.proxy_status();
        let breach = failure.broken().map(|broken| broken.breach.name().to_owned());
        let closed = match reason {
            Some(Reason::Breach(Broken { breach, ended, protocol })) => {
                let code = protocol.and_then(|protocol| breach.code(protocol));
                Some(ToldClosed::of(Side::Here, ended, protocol, code))
            }
            Some(Reason::Closed(Closed { by, ended, code })) => {
                Some(ToldClosed::of(by, ended, Some(code.protocol), Some(code)))
            }
            Some(Reason::Errno(_) | Reason::Alert(_) | Reason::Status(_)) | None => None,
        };
        MeasureWords { kind, stage, errno, alert, proxy_status, breach, closed }
    }
}

impl ToldClosed {
    fn of(by: Side, ended: Scope, protocol: Option<Protocol>, code: Option<Code>) -> ToldClosed {
        ToldClosed {
            by: by.name().to_owned(),
            ended: ended.name().to_owned(),
            protocol: protocol.map(|protocol| protocol.name().to_owned()),
            code: code.map(|code| code.number),
        }
    }

    /// The reason that it tells, of the breach with this name.
    fn reason(&self, breach: Option<&str>) -> Option<Reason> {
        let ended = if self.ended == Scope::Stream.name() { Scope::Stream } else { Scope::Connection };
        let protocol = self.protocol.as_deref().and_then(Protocol::named);
        if let Some(breach) = breach.and_then(Breach::named) {
            return Some(Reason::Breach(Broken { breach, ended, protocol }));
        }
        let by = if self.by == Side::Peer.name() { Side::Peer } else { Side::Here };
        let code = Code { protocol: protocol?, number: self.code? };
        Some(Reason::Closed(Closed { by, ended, code }))
    }
}
impl From<MeasureWords> for Failure {
    fn from(told: MeasureWords) -> Failure {
        let MeasureWords { kind, stage, errno, alert, proxy_status, breach, closed } = told;
        let alert = alert.or_else(|| of_version_0_1(kind == FailureKind::TlsAlert, errno));
        let status = proxy_status.or_else(|| of_version_0_1(kind == FailureKind::Tunnel, errno));
        let closed = closed.and_then(|closed| closed.reason(breach.as_deref()));
        let number = errno.map(|number| of_version_0_1_code(kind, number));
        let reason = closed.or(alert.map(Reason::Alert)).or(status.map(Reason::Status)).or(number);
        Failure { kind, stage, reason }
    }
}

/// An error number, or the code of a stream that the peer reset, which version 0.1 wrote in its place.
fn of_version_0_1_code(kind: FailureKind, number: i32) -> Reason {
    match u64::try_from(number) {
        Ok(number) if kind == FailureKind::StreamReset => {
            // Those of HTTP/3 begin with 0x100.
            let protocol = if number < 0x100 { Protocol::Http2 } else { Protocol::Http3 };
            let code = Code { protocol, number };
            Reason::Closed(Closed { by: Side::Peer, ended: Scope::Stream, code })
        }
        _ => Reason::Errno(number),
    }
}

/// A number that version 0.1 wrote as errno of failures of a kind.
fn of_version_0_1<T: TryFrom<i32>>(is_kind: bool, errno: Option<i32>) -> Option<T> {
    errno.filter(|_| is_kind).and_then(|number| T::try_from(number).ok())
}

impl FailureKind {
    /// True if this machine had no port or descriptor left, so that the target was never asked.
    pub fn is_ours(self) -> bool {
        matches!(self, FailureKind::NoPort | FailureKind::NoDescriptor)
    }
}

/// Declares an enum whose members are counted: an index, a short name for machines and a sentence part for people.
macro_rules! counted {
    ($(#[$doc:meta])* $name:ident { $($(#[$member_doc:meta])* $member:ident = ($short:literal, $text:literal),)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($(#[$member_doc])* $member,)+ }

        impl $name {
            /// Every member, in order.
            pub const ALL: &'static [$name] = &[$($name::$member,)+];

            /// Short name for machines.
            pub fn name(self) -> &'static str {
                match self { $($name::$member => $short,)+ }
            }

            /// Returns the text that people read.
            pub fn text(self) -> &'static str {
                match self { $($name::$member => $text,)+ }
            }
        }
    };
}

counted! {
    /// Kind of failure of a request that got no good answer.
    FailureKind {
        /// The name did not resolve.
        Lookup = ("lookup", "name did not resolve"),
        /// Nobody listens there.
        Refused = ("refused", "connection refused"),
        /// No route, or a firewall said no.
        Unreachable = ("unreachable", "host unreachable"),
        /// No local port was free for a new connection.
        NoPort = ("no_port", "no free local port"),
        /// The process may not open more descriptors.
        NoDescriptor = ("no_descriptor", "too few file descriptors"),
        /// The peer reset the connection.
        Reset = ("reset", "connection reset by peer"),
        /// A time limit passed.
        Timeout = ("timeout", "timed out"),
        /// The peer closed before the answer was complete.
        ClosedEarly = ("closed_early", "closed before the answer was complete"),
        /// The answer is not HTTP.
        NotHttp = ("not_http", "answer is not HTTP"),
        /// The head is malformed: its first line, or a field line.
        BadHead = ("bad_head", "malformed head"),
        /// The answer is longer than this side takes: its fields, mostly.
        #[serde(alias = "head_too_long")]
        OwnLimit = ("own_limit", "beyond a limit of this client"),
        /// Content-Length is no number, appears with different values, or contradicts Transfer-Encoding.
        BadLength = ("bad_length", "bad or contradictory Content-Length"),
        /// The chunked coding is broken.
        BadChunk = ("bad_chunk", "broken chunked coding"),
        /// A transfer coding that is not known, or not as it may be.
        BadTransferCoding = ("bad_transfer_coding", "unknown or wrong transfer coding"),
        /// A status other than the expected ones.
        BadStatus = ("bad_status", "unexpected status"),
        /// The answer is no message: its length is no number, or one that no message can have.
        BadFrame = ("bad_frame", "answer is no message: bad length"),
        /// A message is longer than is accepted.
        TooLong = ("too_long", "answer longer than the limit"),
        /// The request does not fit its framing.
        Unwritable = ("unwritable", "request does not fit its framing or limit"),
        /// The peer does not speak HTTP/2.
        NotHttp2 = ("not_http2", "peer does not speak HTTP/2"),
        /// The peer speaks no version of QUIC that is spoken here.
        NotHttp3 = ("not_http3", "peer does not speak HTTP/3"),
        /// The peer reset the stream of a request.
        StreamReset = ("stream_reset", "stream reset by peer"),
        /// The peer did not process the request: REFUSED_STREAM or H3_REQUEST_REJECTED, or behind the last one of GOAWAY.
        StreamRefused = ("stream_refused", "stream refused by peer"),
        /// The peer broke the rules of HTTP/2 or HTTP/3, on a stream or for the whole connection.
        StreamError = ("stream_error", "peer broke the protocol's rules"),
        /// The bytes that came are not TLS.
        NotTls = ("not_tls", "peer does not speak TLS"),
        /// The peer ended TLS with an alert.
        TlsAlert = ("tls_alert", "TLS alert from the peer"),
        /// No TLS version, suite, group or application protocol in common.
        TlsMismatch = ("tls_mismatch", "no TLS version, suite or protocol in common"),
        /// A TLS record or message that cannot be decrypted or understood.
        TlsBroken = ("tls_broken", "broken TLS record or message"),
        /// The connection ended without close_notify, so what came last may be missing.
        TlsUnclosed = ("tls_unclosed", "closed without TLS close_notify"),
        /// The peer's certificate has expired or is not valid yet.
        CertificateExpired = ("certificate_expired", "certificate expired or not valid yet"),
        /// The peer's certificate is for other names.
        CertificateName = ("certificate_name", "certificate is for another name"),
        /// Nobody trusted has signed the peer's certificate.
        CertificateIssuer = ("certificate_issuer", "certificate of an unknown issuer"),
        /// The peer's certificate is of version 1 or 2 of X.509, which nobody verifies.
        CertificateVersion = ("certificate_version", "certificate of version 1 of X.509"),
        /// The peer's certificate is missing or bad in another way.
        CertificateBad = ("certificate_bad", "bad certificate, or none"),
        /// A proxy did not open the tunnel that was asked for.
        Tunnel = ("tunnel", "proxy refused the tunnel"),
        /// More redirections one after the other than are followed.
        TooManyRedirects = ("too_many_redirects", "too many redirections"),
        /// A redirection that leads nowhere, or where nothing may be fetched.
        BadRedirect = ("bad_redirect", "redirection that leads nowhere"),
        /// The URL holds what no URI may hold, so nothing was sent.
        BadUrl = ("bad_url", "URL that is no URI"),
        /// A program text of the plan failed, or said that it has failed.
        Script = ("script", "failed by its script"),
        /// Anything else the system said.
        #[serde(other)]
        System = ("system", "system error"),
    }
}

impl FailureKind {
    /// The answer is no message of HTTP/1: it begins otherwise, or its head is malformed.
    pub fn is_no_message(self) -> bool {
        matches!(self, FailureKind::NotHttp | FailureKind::BadHead)
    }

    /// The kind that a breach belongs to, of an answer.
    pub fn of_breach(breach: Breach) -> FailureKind {
        match breach {
            _ if breach.is_own_limit() => FailureKind::OwnLimit,
            Breach::Http1(breach) => FailureKind::of_http1(breach),
            Breach::Http2(Http2::IsHttp1 | Http2::IsTls | Http2::Preface) => FailureKind::NotHttp2,
            Breach::Http2(_)
            | Breach::Http3(_)
            | Breach::Message(_)
            | Breach::Hpack(_)
            | Breach::Qpack(_) => FailureKind::StreamError,
        }
    }

    fn of_http1(breach: Http1) -> FailureKind {
        use Http1 as H;
        match breach {
            H::NotHttp | H::IsHttp2 | H::IsTls | H::Version => FailureKind::NotHttp,
            H::MinorVersion
            | H::StatusLine
            | H::Status
            | H::Reason
            | H::FieldWithoutColon
            | H::FieldName
            | H::FieldWithoutName
            | H::SpaceBeforeColon
            | H::SpaceBeforeFields
            | H::Folded
            | H::FieldValue
            | H::BareCr
            | H::Method
            | H::Target => FailureKind::BadHead,
            H::ContentLength | H::ContentLengths | H::LengthAndChunked => FailureKind::BadLength,
            H::TransferCoding
            | H::NoTransferCoding
            | H::ChunkedNotLast
            | H::ChunkedTwice
            | H::ChunkedInHttp10 => FailureKind::BadTransferCoding,
            H::ChunkSize
            | H::ChunkTooLarge
            | H::ChunkExtension
            | H::ChunkLineEnd
            | H::ChunkEnd
            | H::TrailerField => FailureKind::BadChunk,
            H::ChunkLineLimit
            | H::HeadLimit
            | H::FieldsLimit
            | H::TrailersLimit
            | H::InterimLimit
            | H::EmptyLines => FailureKind::OwnLimit,
            H::ClosedIdle | H::ClosedInHead | H::ClosedInBody | H::ClosedInChunks => FailureKind::ClosedEarly,
        }
    }
}

counted! {
    /// How far a request had come.
    Stage {
        /// Looking up the name.
        Lookup = ("lookup", "looking up the name"),
        /// Connecting.
        Connect = ("connect", "connecting"),
        /// Asking a proxy for a tunnel.
        Tunnel = ("tunnel", "opening the tunnel"),
        /// In the TLS handshake.
        Tls = ("tls", "TLS handshake"),
        /// Waiting until a connection that is shared may carry another request: as many are under way as the peer allows
        /// (MAX_CONCURRENT_STREAMS, MAX_STREAMS), or as share it.
        Stream = ("stream", "waiting for a free stream (the peer's limit, or --streams)"),
        /// Sending the request.
        Send = ("send", "sending"),
        /// Waiting for the first byte, which has a time limit of its own.
        FirstByte = ("first_byte", "waiting for the first byte"),
        /// Waiting for the first byte, or reading header fields.
        Head = ("head", "waiting for the answer"),
        /// Reading the body.
        Body = ("body", "reading the body"),
    }
}

counted! {
    /// Fault that the oracle finds in an answer.
    Fault {
        /// It is another object than the one asked for.
        WrongObject = ("wrong_object", "wrong object"),
        /// It is a version that never was, or is not yet.
        WrongVersion = ("wrong_version", "wrong version"),
        /// Its parts are of different versions.
        TornVersion = ("torn_version", "torn: parts of two versions"),
        /// It says it is whole and is shorter.
        Truncated = ("truncated", "truncated"),
        /// It is another range than the one asked for.
        WrongRange = ("wrong_range", "wrong range"),
        /// It is another variant than the one asked for.
        WrongVariant = ("wrong_variant", "wrong variant"),
        /// It may not be shared, was made for one user and reached another.
        LeakedNonce = ("leaked_nonce", "private answer given to another"),
        /// Its Vary says that it will do for no other request, and it was made for another one.
        UnmatchedVary = ("unmatched_vary", "Vary: * given to another"),
        /// Its ETag is a strong one, and the origin gave a weak one.
        StrongEtag = ("strong_etag", "weak ETag made strong"),
        /// It sets a cookie that the origin set for one user, and reached another.
        SharedCookie = ("shared_cookie", "Set-Cookie given to another"),
        /// A field of another request, or of its answer, got into this one.
        LeakedField = ("leaked_field", "field of another message"),
        /// It is whole and right, for another request.
        AnothersAnswer = ("anothers_answer", "another's answer"),
        /// It is an error that the origin gave to an earlier request and that nobody may store.
        CachedError = ("cached_error", "error cached though no-store"),
        /// It is older than its lifetime allows.
        Stale = ("stale", "stale beyond its lifetime"),
        /// It is not as long as the object.
        WrongLength = ("wrong_length", "wrong length"),
        /// Its bytes are no known version of the object.
        WrongBytes = ("wrong_bytes", "corrupted bytes"),
        /// A 304 was given for a version that was no longer right.
        WrongUnchanged = ("wrong_unchanged", "304 for an outdated version"),
        /// A 304 was given to a request that had no validator.
        UnaskedUnchanged = ("unasked_unchanged", "304 without having been asked"),
        /// A field that may stand in an answer once came twice.
        DoubledField = ("doubled_field", "validator or stamp given twice"),
        /// It was in the cache, and its Age or Date is not that of what the origin made.
        WrongAge = ("wrong_age", "wrong Age"),
        /// It was in the cache long after the cache had acknowledged to have forgotten it.
        NotPurged = ("not_purged", "served after its purge"),
        /// It was in the cache without its end, though the origin had sent it whole.
        Partial = ("partial", "partial from the cache"),
        /// Its code does not mean success.
        BadCode = ("bad_code", "code of failure"),
        /// It holds no code.
        NoCode = ("no_code", "no code"),
        /// It does not hold a value that the next message needs.
        NoValue = ("no_value", "no value to be taken"),
        /// A header field is not as the plan wants it.
        WrongHeader = ("wrong_header", "wrong header field"),
        /// Its body does not say what the plan wants it to.
        WrongContent = ("wrong_content", "wrong content"),
        /// Its content coding is broken, or none that is known.
        BadCoding = ("bad_coding", "broken or unknown content coding"),
        /// Its body is too large to be checked.
        TooLarge = ("too_large", "too large to be checked"),
    }
}

counted! {
    /// Result of the cache for an answer, as the client can tell from the origin's stamp.
    CacheResult {
        /// It was in the cache before the request was sent.
        Hit = ("hit", "hit"),
        /// The origin made it for this request.
        Miss = ("miss", "miss"),
        /// It was in the cache and the origin confirmed it for this request.
        Revalidated = ("revalidated", "revalidated"),
        /// The origin made it for another request that was under way at the same time.
        Collapsed = ("collapsed", "collapsed"),
        /// The answer carries no stamp.
        Unknown = ("unknown", "unknown"),
        /// No cache is in question.
        NotAsked = ("not_asked", "not asked"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_read_as_it_was_written() {
        let reset = Failure::new(FailureKind::Reset, Stage::Body);
        let alert = Failure::new(FailureKind::TlsAlert, Stage::Tls).because(Reason::Alert(116));
        let tunnel = Failure::new(FailureKind::Tunnel, Stage::Tunnel).because(Reason::Status(407));
        let broken =
            |breach, ended, protocol| Failure::of_breach(Broken { breach, ended, protocol }, Stage::Head);
        let calm =
            Closed { by: Side::Peer, ended: Scope::Stream, code: breach::codes::http2::ENHANCE_YOUR_CALM };
        let calmed = Failure::new(FailureKind::StreamReset, Stage::Head).because(Reason::Closed(calm));
        for (failure, text) in [
            (reset, r#"{"kind":"reset","stage":"body"}"#),
            (reset.because(Reason::Errno(104)), r#"{"kind":"reset","stage":"body","errno":104}"#),
            (alert, r#"{"kind":"tls_alert","stage":"tls","alert":116}"#),
            (tunnel, r#"{"kind":"tunnel","stage":"tunnel","proxy_status":407}"#),
            (
                broken(Http1::FieldName.into(), Scope::Connection, None),
                r#"{"kind":"bad_head","stage":"head","breach":"h1_field_name","closed":{"by":"here","ended":"connection"}}"#,
            ),
            (
                broken(Http2::DataFirst.into(), Scope::Stream, Some(Protocol::Http2)),
                r#"{"kind":"stream_error","stage":"head","breach":"h2_data_first","closed":{"by":"here","ended":"stream","protocol":"http2","code":1}}"#,
            ),
            (
                calmed,
                r#"{"kind":"stream_reset","stage":"head","closed":{"by":"peer","ended":"stream","protocol":"http2","code":11}}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&failure).unwrap(), text);
            assert_eq!(serde_json::from_str::<Failure>(text).unwrap(), failure);
        }
    }

    #[test]
    fn files_of_version_0_1_have_alerts_and_statuses_as_errno() {
        let read = |text| serde_json::from_str::<Failure>(text).unwrap().reason;
        assert_eq!(read(r#"{"kind":"tls_alert","stage":"tls","errno":40}"#), Some(Reason::Alert(40)));
        assert_eq!(read(r#"{"kind":"tunnel","stage":"tunnel","errno":502}"#), Some(Reason::Status(502)));
        assert_eq!(read(r#"{"kind":"reset","stage":"head","errno":null}"#), None);
        let code = |number| Code {
            protocol: if number < 0x100 { Protocol::Http2 } else { Protocol::Http3 },
            number,
        };
        let reset = |number| {
            Some(Reason::Closed(Closed { by: Side::Peer, ended: Scope::Stream, code: code(number) }))
        };
        assert_eq!(read(r#"{"kind":"stream_reset","stage":"head","errno":11}"#), reset(11));
        assert_eq!(read(r#"{"kind":"stream_reset","stage":"head","errno":263}"#), reset(263));
        let long = serde_json::from_str::<Failure>(r#"{"kind":"head_too_long","stage":"head"}"#).unwrap();
        assert_eq!(long.kind, FailureKind::OwnLimit);
        assert_eq!(read(r#"{"kind":"stream_error","stage":"head","breach":"of_tomorrow"}"#), None);
    }
}
