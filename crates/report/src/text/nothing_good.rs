//! Where not one answer was good: what happened, why that probably is, and what to try.

use super::Report;
use super::outcomes::failure_text;
use crate::show;
use breach::Side;
use measure::{Closed, Evidence, Failure, FailureKind, Reason, Stage};

/// The alert of a server that has no such protocol (RFC 7301 section 3.2).
const NO_APPLICATION_PROTOCOL: Reason = Reason::Alert(120);
const NOT_HTTP2_OVER_TLS: &str = "The server does not speak HTTP/2 there: leave out --http 2.";

/// Advice where the target's certificate is not taken.
fn of_certificate(kind: FailureKind, target: &str) -> String {
    let hint = match kind {
        FailureKind::CertificateIssuer => {
            "Nobody who is trusted has signed its certificate, perhaps but itself: give that, or its authority's, with \
             --ca FILE, or take any with -k."
        }
        FailureKind::CertificateName => "Give a name of the certificate with --sni, or take any with -k.",
        FailureKind::CertificateVersion => {
            "A certificate of version 1 cannot be verified: make one of version 3, which `openssl req -x509` does, or take \
             any with -k."
        }
        FailureKind::CertificateExpired => "Renew it, or set the clock that is wrong; -k takes any.",
        _ => return format!("`openssl s_client -connect {target}` shows it; -k takes any."),
    };
    hint.to_owned()
}

impl Report<'_> {
    /// Tells what most requests met, and what to do about it.
    pub(super) fn why_nothing_was_good(&self) -> String {
        let failures = self.phase.tally.failures_by_stage().into_iter();
        let Some((failure, count)) = failures.max_by_key(|(_, count)| *count) else {
            return match self.counts().body_bytes {
                0 => "Nothing came in time: look whether it hangs, or give it more with --grace.".to_owned(),
                _ => {
                    "Answers were still coming when the time was up: give them more with --grace.".to_owned()
                }
            };
        };
        let frequent = self.most_frequent_status().filter(|_| failure.kind == FailureKind::BadStatus);
        let status = frequent.map(|(status, _)| status);
        // Answers of one kind of failure may have several statuses.
        let count = frequent.map_or(count, |(_, count)| count);
        let how = match status {
            Some(status) => {
                let to = self.sample_of(status).map(|sample| format!(", first to {}", sample.title));
                format!(": status {status}{}", to.unwrap_or_default())
            }
            None => format!(": {}", failure_text(failure)),
        };
        let failed = self.counts().failed;
        let how_many = if count == failed {
            format!("all {}", show::count(count))
        } else {
            format!("{} of {}", show::count(count), show::count(failed))
        };
        let try_this = match failure.reason {
            Some(Reason::Breach(broken)) if failure.kind != FailureKind::NotHttp2 => {
                broken.breach.entry().advice.english.to_owned()
            }
            Some(Reason::Closed(Closed { by: Side::Peer, code, .. })) if code.entry().is_some() => {
                let meaning = code.entry().map_or("", |entry| entry.meaning);
                format!("{code} says of this client: {meaning}")
            }
            _ => self.what_to_try(failure, status),
        };
        format!("{how_many}{how}. {try_this}")
    }

    /// That status, and how often it came.
    fn most_frequent_status(&self) -> Option<(u16, u64)> {
        self.phase.tally.statuses().max_by_key(|(_, count)| *count)
    }

    fn what_to_try(&self, failure: Failure, status: Option<u16>) -> String {
        let target = self.context.plan.load.as_ref().and_then(|load| load.target.as_deref());
        let target = target.unwrap_or("the host of the URL");
        match (failure.kind, status) {
            (_, Some(502..=504)) => self.unreached_origin(),
            (_, Some(407)) => self.of_proxy_password().to_owned(),
            (_, Some(400)) if self.wants_certificate() => self.of_own_certificate().to_owned(),
            (_, Some(400)) if self.may_want_tls() => {
                "It may speak TLS there: try https://. If not, look at method, path and fields.".to_owned()
            },
            (_, Some(404)) if self.asks_by_url() => {
                "It knows no such host or path: look at the URL.".to_owned()
            }
            (_, Some(400 | 403 | 405)) if self.asks_by_url() => {
                "It refuses such requests: look at method, path and fields, or let this client in.".to_owned()
            }
            (_, Some(404)) => {
                "It knows no such host or path: see under which name it is asked, and that it fetches from our origin.".to_owned()
            }
            (_, Some(400 | 403 | 405)) => {
                "It refuses such requests: ask in another form (--form of wringer cache), or let this client in.".to_owned()
            }
            (FailureKind::Refused | FailureKind::Unreachable, _) => {
                format!("Nothing listens at {target}, or no longer: start it, or look why it ended.")
            }
            (FailureKind::Timeout, _) if failure.stage == Stage::Body => {
                "Answers came, and not one was whole in time: raise --timeout.".to_owned()
            }
            (FailureKind::Timeout, _) if failure.stage == Stage::Stream => {
                "No stream was free in time: ask with fewer --streams, have the peer allow more, or raise --timeout."
                    .to_owned()
            }
            (FailureKind::Timeout, _) => {
                "Nothing came in time: look whether it hangs, or raise --timeout.".to_owned()
            }
            (FailureKind::Tunnel, _) => {
                format!("{target} opens no such tunnel: let it connect to that port, or see --proxy-user.")
            }
            (FailureKind::NotTls, _) => {
                format!(
                    "What listens at {target} speaks no TLS: leave out https://, or give the port for TLS."
                )
            }
            (
                FailureKind::CertificateIssuer
                | FailureKind::CertificateName
                | FailureKind::CertificateVersion
                | FailureKind::CertificateExpired
                | FailureKind::CertificateBad,
                _,
            ) => of_certificate(failure.kind, target),
            (FailureKind::NotHttp2, _) if self.spoke_tls() => NOT_HTTP2_OVER_TLS.to_owned(),
            (FailureKind::NotHttp2, _) => {
                "The server does not speak HTTP/2 there without TLS: leave out --http 2c for HTTP/1.1, or give https:// and --http 2."
                    .to_owned()
            }
            (FailureKind::TlsAlert, _) if failure.reason == Some(NO_APPLICATION_PROTOCOL) && self.wants_http2() => {
                NOT_HTTP2_OVER_TLS.to_owned()
            }
            (FailureKind::TlsAlert | FailureKind::TlsMismatch, _) => {
                "Look which TLS versions, cipher suites and client certificates it wants.".to_owned()
            }
            (FailureKind::NoPort | FailureKind::NoDescriptor, _) => {
                "This machine had none left: what is said of the measurement tells what to try.".to_owned()
            }
            _ => "The log of what was pressed may say why.".to_owned(),
        }
    }

    /// Requests of the plan's own, and not for the objects of a site.
    fn asks_by_url(&self) -> bool {
        !self.context.plan.asks_for_objects()
    }

    /// Web servers answer plain HTTP at a port for TLS with 400, whatever is asked for; where their answer gives a reason, it says so.
    fn may_want_tls(&self) -> bool {
        let reason =
            self.sample_of(400).and_then(|sample| sample.body.as_deref()).unwrap_or("").to_ascii_uppercase();
        let says_so = reason.trim().is_empty() || reason.contains("HTTPS") || reason.contains("TLS");
        says_so && self.asks_by_url() && !self.spoke_tls() && self.phase.tally.statuses().count() == 1
    }

    /// nginx answers 400 over TLS where it wanted a certificate.
    fn wants_certificate(&self) -> bool {
        let reason = self.sample_of(400).and_then(|sample| sample.body.as_deref()).unwrap_or("");
        self.spoke_tls() && reason.to_ascii_lowercase().contains("ssl certificate")
    }

    /// Advice where a proxy does not let this client through.
    fn of_proxy_password(&self) -> &'static str {
        match self.gives_proxy_password() {
            true => "The proxy refused the name and the password that it was given: look at --proxy-user.",
            false => "The proxy wants a name and a password: --proxy-user NAME:PASSWORD.",
        }
    }

    /// A proxy was given a name and a password.
    fn gives_proxy_password(&self) -> bool {
        let Some(load) = &self.context.plan.load else { return false };
        let is_its = |field: &plan::Field| field.name.eq_ignore_ascii_case("Proxy-Authorization");
        let answers = |step: &&plan::Step| matches!(step, plan::Step::Requests(step) if step.session.auth.iter().any(|auth| !auth.proxy.is_empty()));
        let by_field = load.protocol.http().is_some_and(|http| http.fields.iter().any(is_its));
        by_field || load.phases.iter().flat_map(plan::Phase::sends).any(|step| answers(&step))
    }

    /// Advice where the server does not take this client for who it is.
    fn of_own_certificate(&self) -> &'static str {
        let load = self.context.plan.load.as_ref();
        let tls = load.and_then(|load| load.protocol.http()).and_then(|http| http.tls.as_ref());
        match tls.is_some_and(|tls| tls.certificate.is_some() || tls.keystore.is_some()) {
            true => "It does not take the client certificate that it was shown: its log may say why.",
            false => "It wants a client certificate: --cert FILE --key FILE.",
        }
    }

    /// The first failed request that was answered with a status.
    fn sample_of(&self, status: u16) -> Option<&Evidence> {
        let failed = self.result.evidence.iter().filter(|piece| piece.failure.is_some());
        failed.filter(|piece| piece.status == status).min_by_key(|piece| piece.at_us)
    }

    fn spoke_tls(&self) -> bool {
        let counts = self.counts();
        counts.handshakes_full + counts.handshakes_resumed > 0
    }

    fn wants_http2(&self) -> bool {
        let load = self.context.plan.load.as_ref();
        load.is_some_and(|load| load.speaks(plan::HttpVersion::Two))
    }

    /// A gateway's error: did it ask the origin at all?
    fn unreached_origin(&self) -> String {
        let reached = self.context.plan.origin_as_reached();
        let asked = self.phase.origin.as_ref().map_or(0, |origin| origin.requests);
        match reached {
            Some(reached) if asked == 0 => format!(
                "The origin was never asked: the proxy must fetch from {reached}; where it cannot reach that address, \
                 choose another with --origin."
            ),
            _ if asked > 0 => {
                "The origin was asked, but its answers were not passed on: the proxy's log may say why."
                    .to_owned()
            }
            _ if self.asks_by_url() => {
                "It is overloaded, or does not reach a server behind it: its log may say why.".to_owned()
            }
            _ => "The proxy does not reach its origin: is that running where the proxy looks for it?"
                .to_owned(),
        }
    }
}
