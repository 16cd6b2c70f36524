//! The log's account of what is sent again, as the run keeps it and the page shows it.

use cli::ReplayArgs;
use measure::recorded::{NotSent, RecordedFigures, in_parts};
use recording::file::Recording;
use recording::replay::Chosen;
use std::io::{Read, Seek};

/// The account of the chosen requests.
pub fn of<R: Read + Seek>(args: &ReplayArgs, chosen: &Chosen, recording: &Recording<R>) -> RecordedFigures {
    let seen = &chosen.seen;
    let (due, part_s) = in_parts(&chosen.at_us);
    RecordedFigures {
        file: args.recording.display().to_string(),
        requests: seen.requests,
        due,
        part_s,
        statuses: seen.statuses.iter().map(|(status, requests)| (*status, *requests)).collect(),
        times_us: seen.durations_us,
        timed: seen.timed,
        hits: seen.hit_ratios(),
        lru: seen.lru.iter().map(|lru| (lru.memory, lru.hits)).collect(),
        left_out: left_out(chosen, recording),
    }
}

/// Whatever is not sent: of the recording, of what of it is damaged, and of the logs that it was captured from.
fn left_out<R: Read + Seek>(chosen: &Chosen, recording: &Recording<R>) -> Vec<NotSent> {
    let not_sent = |why: &str, requests: u64| NotSent { why: why.to_owned(), requests };
    let mut all: Vec<NotSent> =
        chosen.left_out.iter().map(|(why, requests)| not_sent(why.name(), *requests)).collect();
    let missing = recording.salvaged().map_or(0, |salvage| salvage.missing);
    if missing > 0 {
        all.push(not_sent("in damaged parts of the recording", missing));
    }
    let captured = recording.header().left_out.reasons.iter();
    all.extend(captured.map(|(reason, share)| {
        not_sent(&format!("a line of its logs, when it was captured: {}", reason.name()), share.count)
    }));
    all
}
