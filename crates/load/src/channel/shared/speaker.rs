//! The protocol spoken over a connection that users share: its client, and the field blocks that it has sent before.
//!
//! It must not know sockets or users. Start reading at [`Speaker::request`].

use super::letter::Letters;
use crate::account::Account;
use measure::{Http2Counts, Http3Counts, QuicCounts, SharedCounts};
use std::collections::HashMap;
use std::time::{Duration, Instant};
use wire::http1::Version;
use wire::http2::{self, Blocked, Code, FieldList};
use wire::http3;

/// Figures of QUIC are told this often, and at the end.
const TOLD_EVERY: Duration = Duration::from_millis(100);

/// The protocol of a connection.
pub(super) enum Speaker {
    Http2(Box<Http2>),
    Http3(Box<Http3>),
}

/// A connection of HTTP/3.
pub(super) struct Http3 {
    pub client: http3::Client,
    templates: Templates<http3::Template>,
    /// Figures of QUIC as they were told last, and when.
    told: http3::Stats,
    told_at: Option<Instant>,
}

/// A connection of HTTP/2.
pub(super) struct Http2 {
    pub client: http2::Client,
    /// Bytes to send.
    pub out: Vec<u8>,
    templates: Templates<http2::Template>,
}

/// Field blocks of requests that are alike, and where those of a key are found.
struct Templates<T> {
    known: Vec<T>,
    keys: HashMap<usize, usize>,
    /// For blocks that are not worth remembering.
    scrap: T,
}

impl<T: Default> Templates<T> {
    fn new() -> Templates<T> {
        Templates { known: Vec::new(), keys: HashMap::new(), scrap: T::default() }
    }

    /// The template of a key; without one, that whose block is `forget`-ed first.
    fn of(&mut self, key: Option<usize>, forget: impl FnOnce(&mut T)) -> &mut T {
        let Some(key) = key else {
            forget(&mut self.scrap);
            return &mut self.scrap;
        };
        let at = *self.keys.entry(key).or_insert(self.known.len());
        if at == self.known.len() {
            self.known.push(T::default());
        }
        &mut self.known[at]
    }

    /// The place of a key's template, where there is one that fits.
    fn place(&self, key: usize, fits: impl FnOnce(&T) -> bool) -> Option<usize> {
        self.keys.get(&key).copied().filter(|at| fits(&self.known[*at]))
    }
}

impl Speaker {
    /// HTTP/2, with what it sends first.
    pub fn http2(limits: http2::Http2Limits) -> Speaker {
        let mut client = http2::Client::new(limits);
        let mut out = Vec::new();
        client.open(&mut out);
        Speaker::Http2(Box::new(Http2 { client, out, templates: Templates::new() }))
    }

    /// HTTP/3, whose handshake is still to come.
    pub fn http3(client: http3::Client) -> Speaker {
        let told = http3::Stats::default();
        Speaker::Http3(Box::new(Http3 { client, templates: Templates::new(), told, told_at: None }))
    }

    /// The version of HTTP.
    pub fn version(&self) -> Version {
        match self {
            Speaker::Http2(_) => Version::Http2,
            Speaker::Http3(_) => Version::Http3,
        }
    }

    /// Requests that may be begun now.
    pub fn room(&self) -> usize {
        match self {
            Speaker::Http2(http2) => http2.client.room(),
            Speaker::Http3(http3) => http3.client.room(),
        }
    }

    /// True if no more requests can be begun, ever.
    pub fn is_leaving(&self) -> bool {
        match self {
            Speaker::Http2(http2) => http2.client.is_leaving(),
            Speaker::Http3(http3) => http3.client.is_leaving(),
        }
    }

    /// True if the server has said GOAWAY.
    pub fn said_goaway(&self) -> bool {
        match self {
            Speaker::Http2(http2) => http2.client.goaway().is_some(),
            Speaker::Http3(http3) => http3.client.goaway(),
        }
    }

    /// The code of the server's GOAWAY; over HTTP/3 it has none but that of an orderly end.
    pub fn goaway_code(&self) -> Option<Code> {
        match self {
            Speaker::Http2(http2) => http2.client.goaway().map(|goaway| goaway.code),
            Speaker::Http3(http3) => http3.client.goaway().then_some(http3::error::NO_ERROR),
        }
    }

    /// Requests under way.
    pub fn under_way(&self) -> usize {
        match self {
            Speaker::Http2(http2) => http2.client.under_way(),
            Speaker::Http3(http3) => http3.client.under_way(),
        }
    }

    /// The place of the field block that requests of a key begin with, where it is remembered and still means the same.
    pub fn known(&self, key: usize) -> Option<usize> {
        match self {
            Speaker::Http2(http2) => http2.templates.place(key, |template| http2.client.knows(template)),
            Speaker::Http3(http3) => http3.templates.place(key, |template| !template.is_empty()),
        }
    }

    /// True if the block at a place still means the same.
    pub fn is_known(&self, place: usize) -> bool {
        match self {
            Speaker::Http2(http2) => http2.client.knows(&http2.templates.known[place]),
            Speaker::Http3(_) => true,
        }
    }

    /// Begins a request, whose answer goes to the letter at `place`. Returns its stream, and the bytes of its head.
    pub fn request(
        &mut self,
        place: usize,
        fields: &FieldList,
        key: Option<usize>,
        content: Option<u64>,
    ) -> (u32, usize) {
        match self {
            Speaker::Http2(http2) => {
                let Http2 { client, out, templates } = &mut **http2;
                let template = templates.of(key, http2::Template::forget);
                let begin = out.len();
                let stream = client.request(place as u64, template, fields.iter(), content, out);
                (stream, out.len() - begin)
            }
            Speaker::Http3(http3) => {
                let Http3 { client, templates, .. } = &mut **http3;
                let template = templates.of(key, http3::Template::forget);
                let stream = client.request(place as u64, template, fields.iter(), content);
                (stream, template.len())
            }
        }
    }

    /// Begins a request without content whose block is [known](Self::known) at a place.
    pub fn again(&mut self, place: usize, template: usize) -> (u32, usize) {
        match self {
            Speaker::Http2(http2) => {
                let Http2 { client, out, templates } = &mut **http2;
                let template = &mut templates.known[template];
                let begin = out.len();
                let stream = client.request(place as u64, template, std::iter::empty(), None, out);
                (stream, out.len() - begin)
            }
            Speaker::Http3(http3) => {
                let Http3 { client, templates, .. } = &mut **http3;
                let template = &mut templates.known[template];
                let stream = client.request(place as u64, template, std::iter::empty(), None);
                (stream, template.len())
            }
        }
    }

    /// Gives a request up.
    pub fn cancel(&mut self, stream: u32) {
        match self {
            Speaker::Http2(http2) => http2.client.cancel(stream, Code::CANCEL, &mut http2.out),
            Speaker::Http3(http3) => http3.client.cancel(stream, http3::error::REQUEST_CANCELLED),
        }
    }

    /// No more of a stream's answer is to come than is [granted](Self::grant).
    pub fn hold(&mut self, stream: u32) {
        match self {
            Speaker::Http2(http2) => http2.client.hold(stream),
            Speaker::Http3(http3) => http3.client.hold(stream),
        }
    }

    /// Grants as much again of an answer as has come.
    pub fn grant(&mut self, stream: u32, letters: &mut Letters) {
        match self {
            Speaker::Http2(http2) => http2.client.grant(stream, &mut http2.out),
            // What breaks the rules closes the connection, which is then lost.
            Speaker::Http3(http3) => drop(http3.client.grant(stream, letters)),
        }
    }

    /// Gives a stream a larger window than was announced.
    pub fn widen(&mut self, stream: u32, window: u32) {
        match self {
            Speaker::Http2(http2) => http2.client.widen(stream, window, &mut http2.out),
            // All streams have one window there.
            Speaker::Http3(_) => {}
        }
    }

    /// Returns the windows that kept content from being sent.
    pub fn blocked(&self) -> Blocked {
        match self {
            Speaker::Http2(http2) => http2.client.blocked(),
            Speaker::Http3(http3) => http3.client.blocked(),
        }
    }

    /// Tells what has been counted since this was done last; at the end, all of it.
    pub fn tell(&mut self, account: &Account, now: Instant, ends: bool) {
        match self {
            Speaker::Http2(http2) => http2.tell(account),
            Speaker::Http3(http3) => http3.tell(account, now, ends),
        }
    }

    /// Counts what both protocols have, with the one that is spoken.
    pub fn count(&self, account: &Account, count: impl FnOnce(&mut SharedCounts)) {
        match self {
            Speaker::Http2(_) => account.http2(|told| count(&mut told.shared)),
            Speaker::Http3(_) => account.http3(|told| count(&mut told.shared)),
        }
    }
}

impl Http2 {
    fn tell(&mut self, account: &Account) {
        let counts = self.client.take_counts();
        let goaway =
            self.client.goaway().filter(|_| counts.received[http2::Http2FrameKind::GoAway as usize] > 0);
        account.http2(|told| {
            add_http2(told, &counts);
            if let Some(goaway) = goaway {
                told.shared.goaway(goaway.code.0, &String::from_utf8_lossy(&goaway.text), 1);
            }
        });
    }
}

impl Http3 {
    fn tell(&mut self, account: &Account, now: Instant, ends: bool) {
        let counts = self.client.take_counts();
        let due = ends || self.told_at.is_none_or(|told| now >= told + TOLD_EVERY);
        let quic = due.then(|| {
            self.told_at = Some(now);
            self.news()
        });
        account.http3(|told| {
            add_http3(told, &counts);
            told.quic.merge(&quic.unwrap_or_default());
        });
    }

    /// Returns the counts of QUIC since they were told last.
    fn news(&mut self) -> QuicCounts {
        let now = self.client.stats();
        let told = self.told;
        let ecn = self.client.take_ecn();
        self.told = now;
        let rtt_us = now.rtt.map_or(0, |rtt| rtt.as_micros() as u64);
        QuicCounts {
            datagrams_received: now.datagrams_received - told.datagrams_received,
            datagrams_sent: now.datagrams_sent - told.datagrams_sent,
            lost_packets: now.lost_packets.saturating_sub(told.lost_packets),
            congestion_events: now.congestion_events.saturating_sub(told.congestion_events),
            ecn_marked: ecn.marked,
            ecn_failed: ecn.failed,
            rtt_us,
            rtts: u64::from(now.rtt.is_some()),
            rtt_max_us: rtt_us,
            ..QuicCounts::default()
        }
    }
}

fn add_http3(told: &mut Http3Counts, counts: &http3::Http3Counts) {
    add(&mut told.received, &counts.received);
    add(&mut told.sent, &counts.sent);
    add(&mut told.resets_received, &counts.resets_received);
    add(&mut told.resets_sent, &counts.resets_sent);
    told.shared.blocks += counts.blocks;
    told.shared.known_blocks += counts.known_blocks;
    told.shared.received_fields.fields += counts.field_bytes;
    told.shared.received_fields.blocks += counts.block_bytes;
    told.shared.sent_fields.fields += counts.sent_field_bytes;
    told.shared.sent_fields.blocks += counts.sent_block_bytes;
    for _ in 0..counts.received[http3::GOAWAY] {
        told.shared.goaway(http3::error::NO_ERROR.0, "", 1);
    }
}

fn add_http2(told: &mut Http2Counts, counts: &http2::Http2Counts) {
    add(&mut told.received, &counts.received);
    add(&mut told.sent, &counts.sent);
    add(&mut told.resets_received, &counts.resets_received);
    add(&mut told.resets_sent, &counts.resets_sent);
    told.shared.blocks += counts.blocks;
    told.shared.known_blocks += counts.known_blocks;
    told.shared.received_fields.fields += counts.field_bytes;
    told.shared.received_fields.blocks += counts.block_bytes;
    told.shared.sent_fields.fields += counts.sent_field_bytes;
    told.shared.sent_fields.blocks += counts.sent_block_bytes;
}

fn add(told: &mut [u64], counts: &[u64]) {
    told.iter_mut().zip(counts).for_each(|(told, count)| *told += count);
}
