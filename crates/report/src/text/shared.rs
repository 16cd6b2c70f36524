//! Figures of HTTP/2 and HTTP/3 alone: frames, resets, waits, what compression saved, and GOAWAYs with their text; of HTTP/3
//! also those of QUIC below.

use super::{Report, Section};
use crate::show::{self, ShowTable};
use breach::Side;
use measure::http3::CloseCount;
use measure::{Fairness, Http2Counts, Http3Counts, QuicCounts, SharedCounts, http2, http3};
use plan::Http;
use std::time::Duration;

/// GOAWAYs that are shown; the others are in the JSON.
const SHOWN: usize = 3;

/// The figures of one protocol, with its names.
struct TextShown<'a> {
    title: &'static str,
    frames: (&'a [&'static str], &'a [u64], &'a [u64]),
    resets: (&'a [&'static str], &'a [u64], &'a [u64]),
    code_name: fn(u32) -> &'static str,
    shared: &'a SharedCounts,
    quic: Option<&'a QuicCounts>,
    closes: &'a [CloseCount],
}

impl<'a> TextShown<'a> {
    fn http2(counts: &'a Http2Counts) -> TextShown<'a> {
        TextShown {
            title: "HTTP/2",
            frames: (&http2::FRAMES, &counts.received, &counts.sent),
            resets: (&http2::CODES, &counts.resets_received, &counts.resets_sent),
            code_name: http2::code_name,
            shared: &counts.shared,
            quic: None,
            closes: &[],
        }
    }

    fn http3(counts: &'a Http3Counts) -> TextShown<'a> {
        TextShown {
            title: "HTTP/3",
            frames: (&http3::FRAMES, &counts.received, &counts.sent),
            resets: (&http3::CODES, &counts.resets_received, &counts.resets_sent),
            code_name: http3::code_name,
            shared: &counts.shared,
            quic: Some(&counts.quic),
            closes: &counts.closes,
        }
    }
}

impl Report<'_> {
    pub(super) fn http2(&self) -> Option<Section> {
        self.phase.tally.http2().map(|counts| self.shared(&TextShown::http2(counts)))
    }

    pub(super) fn http3(&self) -> Option<Section> {
        self.phase.tally.http3().map(|counts| self.shared(&TextShown::http3(counts)))
    }

    fn shared(&self, shown: &TextShown<'_>) -> Section {
        let mut table = ShowTable::new("ll");
        let (frames, received, sent) = shown.frames;
        let (codes, by_peer, by_us) = shown.resets;
        for (title, text) in [
            ("received", list(frames, received)),
            ("sent", list(frames, sent)),
            ("reset by peer", list(codes, by_peer)),
            ("reset by us", list(codes, by_us)),
            ("waited", self.waits(shown.shared)),
            ("fairness", self.fairness(&shown.shared.fairness)),
            ("coalesced", self.coalesced(shown.shared)),
            ("header fields", savings(shown.shared)),
            ("transport", shown.quic.map(|_| self.transport()).unwrap_or_default()),
            ("QUIC", shown.quic.map(quic).unwrap_or_default()),
            ("ECN", shown.quic.map(ecn).unwrap_or_default()),
            ("round trip", shown.quic.map(round_trip).unwrap_or_default()),
        ] {
            if !text.is_empty() {
                table.row([title.to_owned(), text]);
            }
        }
        let mut section = Section::of(shown.title, table);
        goaways(shown).iter().for_each(|line| section.say(line));
        closes(shown.closes).iter().for_each(|line| section.say(line));
        let interims = self.counts().interims;
        if interims > 0 {
            section.say(&format!("{} (1xx).", show::counted(interims, "interim answer")));
        }
        if let Some(lost) = shown.quic.map(|quic| quic.overflowed).filter(|lost| *lost > 0) {
            section.say(&format!(
                "{} had no room in this machine's sockets: that loss is the generator's, not the target's.",
                show::counted(lost, "datagram")
            ));
        }
        section
    }

    /// How QUIC was told to send: what a laboratory allows says nothing of other paths.
    fn transport(&self) -> String {
        let load = self.context.plan.load.as_ref();
        let http3 = load.map(plan::Load::spoken).into_iter().flatten().find_map(|http| http.h3);
        http3.map(|http3| http3.transport.text().to_owned()).unwrap_or_default()
    }

    /// Requests over connections of other hosts, where the plan asks for it.
    fn coalesced(&self, shared: &SharedCounts) -> String {
        let load = self.context.plan.load.as_ref();
        let http = load.and_then(|load| load.protocol.http());
        if !http.is_some_and(Http::coalesces) {
            return String::new();
        }
        let requests = show::counted(shared.coalesced, "request");
        let again = show::count(shared.misdirected);
        format!("{requests} over a connection of another host; {again} answered 421 and sent again")
    }

    /// How evenly answers shared their connections; nothing where each connection has one at a time.
    fn fairness(&self, fairness: &Fairness) -> String {
        let load = self.context.plan.load.as_ref();
        let streams = load.and_then(|load| load.protocol.http()).and_then(Http::streams).unwrap_or(1);
        let index = fairness.mean().zip(fairness.worst).map(|(mean, worst)| {
            let windows = show::counted(fairness.windows, "window");
            format!("Jain's index {mean:.2}, worst {:.2} of {windows} of 100 ms", worst as f64 / 1e6)
        });
        let starved = (fairness.starved_ms > 0).then(|| {
            let time = show::duration(Duration::from_millis(fairness.starved_ms));
            format!("an answer got nothing for {time} while others did")
        });
        let found: Vec<String> = index.into_iter().chain(starved).collect();
        match found.is_empty() {
            true if streams > 1 => "not known: no two answers of a connection lasted long enough".to_owned(),
            _ => found.join("; "),
        }
    }

    fn waits(&self, shared: &SharedCounts) -> String {
        let waits = self.counts().stream_waits;
        let for_stream = format!("for a free stream ({})", show::counted(waits, "time"));
        let parts = [
            (shared.stream_limit_us, for_stream.as_str()),
            (shared.stream_window_us, "for windows of streams"),
            (shared.connection_window_us, "for windows of connections"),
        ];
        let shown = parts.iter().filter(|(us, _)| *us > 0);
        let text =
            |(us, what): &(u64, &str)| format!("{} {what}", show::duration(Duration::from_micros(*us)));
        let opened = (shared.opened_for_want > 0).then(|| {
            let opened = show::counted(shared.opened_for_want, "connection");
            format!("{opened} opened for want of a free stream (--streams)")
        });
        shown.map(text).chain(opened).collect::<Vec<_>>().join(", ")
    }
}

/// Counts that are not zero, with their names.
fn list(names: &[&str], counts: &[u64]) -> String {
    let seen = names.iter().zip(counts).filter(|(_, count)| **count > 0);
    seen.map(|(name, count)| format!("{} {name}", show::count(*count))).collect::<Vec<_>>().join(", ")
}

fn savings(shared: &SharedCounts) -> String {
    let parts = [("requests", shared.sent_fields), ("answers", shared.received_fields)];
    let text = |(what, bytes): (&str, measure::shared::Compressed)| {
        Some(format!("{} saved of {} in {what}", show::percent(bytes.saved()?), show::bytes(bytes.fields)))
    };
    parts.into_iter().filter_map(text).collect::<Vec<_>>().join(", ")
}

/// Datagrams and losses.
fn quic(quic: &QuicCounts) -> String {
    let datagrams = format!(
        "{} sent, {} received",
        show::counted(quic.datagrams_sent, "datagram"),
        show::count(quic.datagrams_received)
    );
    format!("{datagrams}, {} lost", show::counted(quic.lost_packets, "packet"))
}

/// Tells what the path did to ECN; nothing where it carried it without a mark.
fn ecn(quic: &QuicCounts) -> String {
    let marked = format!("{} came marked CE", show::counted(quic.ecn_marked, "datagram"));
    let connections = show::counted(quic.ecn_failed, "connection");
    let failed = format!("off on {connections}: the path or the peer does not carry it");
    let parts = [(quic.ecn_marked, marked), (quic.ecn_failed, failed)];
    parts.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text).collect::<Vec<_>>().join(", ")
}

fn round_trip(quic: &QuicCounts) -> String {
    let Some(mean) = quic.mean_rtt_us() else { return String::new() };
    let [mean, max] = [mean, quic.rtt_max_us].map(|us| show::duration(Duration::from_micros(us)));
    format!("{mean} on average, {max} at most")
}

/// Connections that ended with an error, by who ended them.
fn closes(closes: &[CloseCount]) -> Vec<String> {
    let mut sorted: Vec<_> = closes.iter().collect();
    sorted.sort_by_key(|one| std::cmp::Reverse(one.count));
    let line = |one: &CloseCount| {
        let said = if one.text.is_empty() { String::new() } else { format!(": {}", one.text.escape_debug()) };
        let by = if one.by == Side::Peer.name() { Side::Peer } else { Side::Here };
        let connections = show::counted(one.count, "connection");
        format!("{connections} closed by {} with {}{said}.", show::side(by), one.code_name())
    };
    let mut lines: Vec<String> = sorted.iter().take(SHOWN).map(|one| line(one)).collect();
    let more: u64 = sorted.iter().skip(SHOWN).map(|one| one.count).sum();
    if more > 0 {
        lines.push(format!("{} more closed with other codes or texts.", show::counted(more, "connection")));
    }
    lines
}

fn goaways(shown: &TextShown<'_>) -> Vec<String> {
    let mut sorted: Vec<_> = shown.shared.goaways.iter().collect();
    sorted.sort_by_key(|one| std::cmp::Reverse(one.count));
    let line = |one: &measure::shared::GoAwayCount| {
        let said = if one.text.is_empty() { String::new() } else { format!(": {}", one.text.escape_debug()) };
        format!("{} × GOAWAY {}{said}.", show::count(one.count), (shown.code_name)(one.code))
    };
    let mut lines: Vec<String> = sorted.iter().take(SHOWN).map(|one| line(one)).collect();
    let more: u64 = sorted.iter().skip(SHOWN).map(|one| one.count).sum();
    if more > 0 {
        lines.push(format!("{} more GOAWAYs with other codes or texts.", show::count(more)));
    }
    lines
}
