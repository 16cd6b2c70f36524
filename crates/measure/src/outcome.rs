//! How a request can end, as values: the field's words for what happened, with the stage.

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
#[serde(from = "Told", into = "Told")]
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

    /// The system's error number, where it gave one.
    pub fn errno(&self) -> Option<i32> {
        match self.reason {
            Some(Reason::Errno(number)) => Some(number),
            Some(Reason::Alert(_) | Reason::Status(_)) | None => None,
        }
    }

    /// The number of the peer's TLS alert, where it sent one.
    pub fn alert(&self) -> Option<u8> {
        match self.reason {
            Some(Reason::Alert(number)) => Some(number),
            Some(Reason::Errno(_) | Reason::Status(_)) | None => None,
        }
    }

    /// The status by which a proxy refused a tunnel.
    pub fn proxy_status(&self) -> Option<u16> {
        match self.reason {
            Some(Reason::Status(status)) => Some(status),
            Some(Reason::Errno(_) | Reason::Alert(_)) | None => None,
        }
    }
}

/// A failure as it is written.
#[derive(Serialize, Deserialize)]
struct Told {
    kind: FailureKind,
    stage: Stage,
    /// In files of version 0.1 also the number of an alert, or a proxy's status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    errno: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    alert: Option<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    proxy_status: Option<u16>,
}

impl From<Failure> for Told {
    fn from(failure: Failure) -> Told {
        let Failure { kind, stage, reason } = failure;
        let mut told = Told { kind, stage, errno: None, alert: None, proxy_status: None };
        match reason {
            None => {}
            Some(Reason::Errno(number)) => told.errno = Some(number),
            Some(Reason::Alert(number)) => told.alert = Some(number),
            Some(Reason::Status(status)) => told.proxy_status = Some(status),
        }
        told
    }
}

impl From<Told> for Failure {
    fn from(told: Told) -> Failure {
        let Told { kind, stage, errno, alert, proxy_status } = told;
        let alert = alert.or_else(|| of_version_0_1(kind == FailureKind::TlsAlert, errno));
        let status = proxy_status.or_else(|| of_version_0_1(kind == FailureKind::Tunnel, errno));
        let reason = alert.map(Reason::Alert).or(status.map(Reason::Status)).or(errno.map(Reason::Errno));
        Failure { kind, stage, reason }
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
        /// More or longer header fields than the limits allow.
        HeadTooLong = ("head_too_long", "header fields exceed the limits"),
        /// Content-Length is no number, appears twice, or contradicts Transfer-Encoding.
        BadLength = ("bad_length", "bad or contradictory Content-Length"),
        /// The chunked coding is broken.
        BadChunk = ("bad_chunk", "broken chunked coding"),
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
        for (failure, text) in [
            (reset, r#"{"kind":"reset","stage":"body"}"#),
            (reset.because(Reason::Errno(104)), r#"{"kind":"reset","stage":"body","errno":104}"#),
            (alert, r#"{"kind":"tls_alert","stage":"tls","alert":116}"#),
            (tunnel, r#"{"kind":"tunnel","stage":"tunnel","proxy_status":407}"#),
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
    }
}
