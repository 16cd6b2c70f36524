//! Sentences on a live copy: what was read, what was dropped and why, and the lag that its log needs.

use super::copy::{Bounds, Fate};
use recording::replay::live::{Counts, LiveLog};
use report::show::{count, counted, duration};

/// Facts that whoever reads the result must know, a sentence each.
pub fn sentences(live: &LiveLog, fate: &Fate, bounds: Bounds) -> Vec<String> {
    let counts = live.counts();
    let mut told = vec![read(counts, fate)];
    told.extend(left_out(counts));
    told.extend(dropped(fate, bounds));
    told.extend(needed(fate, bounds));
    told.extend(turned(fate));
    told.extend(otherwise(counts));
    if !fate.ended.is_empty() {
        told.push(format!("the copy ended itself: {}", fate.ended));
    }
    told
}

fn read(counts: &Counts, fate: &Fate) -> String {
    format!(
        "live copy: {} read, {} taken, {} laid down to be sent",
        counted(counts.lines, "line"),
        counted(counts.taken, "request"),
        count(fate.laid)
    )
}

fn left_out(counts: &Counts) -> Option<String> {
    let lines = counts.left_out.reasons.iter().map(|(reason, share)| {
        let first =
            share.examples.first().map_or(String::new(), |example| format!(" (first line {})", example.line));
        format!("{} that {}{first}", count(share.count), reason.name())
    });
    let requests = counts.not_sent.iter().map(|(why, number)| format!("{} {}", count(*number), why.name()));
    let each: Vec<String> = lines.chain(requests).collect();
    (!each.is_empty()).then(|| format!("not copied: {}", each.join("; ")))
}

fn dropped(fate: &Fate, bounds: Bounds) -> Option<String> {
    let kinds = [
        (fate.too_late, format!("read more than {} after they began (--max-lag)", duration(bounds.max_lag))),
        (
            fate.too_old,
            format!("due more than {} before they could be sent", duration(plan::LiveFeed::OLDEST)),
        ),
        (fate.waiting, "waiting for their moment when the copy ended".to_owned()),
        (fate.no_room, "while there was no room for more".to_owned()),
    ];
    let each = kinds.into_iter().filter(|(requests, _)| *requests > 0);
    let each: Vec<String> = each.map(|(requests, why)| format!("{} {why}", count(requests))).collect();
    (!each.is_empty()).then(|| format!("dropped: {}", each.join("; ")))
}

/// The lag that would have been enough.
fn needed(fate: &Fate, bounds: Bounds) -> Option<String> {
    let needed = fate.needed(0.99)?;
    let late = match fate.late {
        0 => "none came after its moment".to_owned(),
        late => format!("{} came after their moment and went at once", count(late)),
    };
    let try_more = match needed > bounds.lag {
        true => format!("; --lag {} lets 99 % keep theirs", duration(needed)),
        false => String::new(),
    };
    Some(format!(
        "99 % of the lines came within {} of their begin, the last after {}, under --lag {}: {late}{try_more}",
        duration(needed),
        duration(fate.longest),
        duration(bounds.lag)
    ))
}

fn turned(fate: &Fate) -> Option<String> {
    let turns = fate.turns;
    let kinds = [
        (turns.rotated, "rotated"),
        (turns.truncated, "truncated"),
        (turns.halves, "left with half a line, which was lost"),
    ];
    let each: Vec<String> = kinds
        .into_iter()
        .filter(|(times, _)| *times > 0)
        .map(|(times, what)| format!("{what} {}", counted(times, "time")))
        .collect();
    (!each.is_empty()).then(|| format!("the log was {}", each.join(", ")))
}

fn otherwise(counts: &Counts) -> Vec<String> {
    let told = [
        (
            counts.invented,
            "with a moment within its second that is invented: the line came after that second was over",
        ),
        (counts.ended, "of which the log tells neither begin nor duration, so a slow one comes too late"),
        (
            counts.conditions,
            "sent without their condition (If-None-Match, If-Modified-Since): no log tells validators that hold here",
        ),
        (counts.versions, "by HTTP/2 or 3 in the log, and sent as --http says"),
        (counts.encoded, "sent with bytes of their URL percent-encoded that are no text"),
        (counts.hosts, "sent with the target's host, since the log tells none"),
        (counts.guessed, "for an object of which no whole answer had been seen: its size is a guess"),
        (counts.forgotten, "for an object whose size took another one's place in the table of sizes"),
        (counts.rounded, "for an object whose lifetime was rounded to a power of two seconds"),
        (
            counts.statuses,
            "with a status in the log that the origin does not give: it answers 200, and 404 for what was missing",
        ),
    ];
    let some = told.into_iter().filter(|(requests, _)| *requests > 0);
    some.map(|(requests, what)| format!("{} {what}", counted(requests, "request"))).collect()
}
