//! Sentences on a live copy: what was read, what was dropped and why, and the lag that its log needs.

use super::copy::{Bounds, Fate};
use super::watch::{SILENT, Use};
use cli::ReplayArgs;
use recording::replay::live::Counts;
use report::show::{count, counted, duration, percent};
use std::fmt::Display;

/// Facts known before the first request, a sentence each.
pub fn notes(args: &ReplayArgs) -> Vec<String> {
    let mut notes = Vec::new();
    if args.as_origin.as_origin {
        notes.push(
            "sizes of objects are those of their last whole answer in the log, lifetimes those that it tells; else --lifetime holds".to_owned(),
        );
    } else if args.follow.keep_private.is_none() {
        notes.push(
            "values of queries and parts of paths that look like tokens are others than in the log (--keep-private query,path)".to_owned(),
        );
    }
    if args.chosen.sample_users < 1.0 {
        notes
            .push("--sample-users: objects are asked for less often, so the hit ratio is too low".to_owned());
    }
    if args.chosen.sample_objects < 1.0 {
        notes.push(format!(
            "--sample-objects: the hit ratio holds for a cache of {} of the size",
            percent(args.chosen.sample_objects)
        ));
    }
    notes
}

/// Told while the log is silent.
pub fn silent() -> String {
    format!("note: the log has been silent for {}; the copy waits for it", duration(SILENT))
}

/// Told where the system does not let the copy step back.
pub fn usual_priority(why: &dyn Display) -> String {
    format!("note: the copy runs at the usual priority: {why}")
}

/// Told where the copy cannot begin.
pub fn no_thread(why: &dyn Display) -> String {
    format!("the log is not copied: no thread can be started: {why}")
}

/// A share of a core, which may be more than one.
fn of_a_core(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Why a copy ended itself: it used so large a share of a core.
pub fn too_much(share: f64, most: f64) -> String {
    format!("it used {} of a core for 5 s, more than --max-cpu {}", of_a_core(share), of_a_core(most))
}

/// Why a copy ended itself: its log is gone.
pub fn unreadable(why: &dyn Display) -> String {
    format!("the log cannot be read any more: {why}")
}

/// Facts that whoever reads the result must know, a sentence each.
pub fn sentences(counts: &Counts, fate: &Fate, bounds: Bounds) -> Vec<String> {
    let mut told = vec![read(counts, fate)];
    told.extend(left_out(counts));
    told.extend(dropped(fate, bounds));
    told.extend(dropped_too_many(counts, fate, bounds));
    told.extend(needed(fate, bounds));
    told.extend(turned(fate));
    told.extend(otherwise(counts));
    told.extend(fate.used.map(|used| processor(used, bounds)));
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

/// That so many requests were dropped before they were due that the copy is none.
pub fn dropped_too_many(counts: &Counts, fate: &Fate, bounds: Bounds) -> Option<String> {
    let dropped = fate.too_late + fate.no_room;
    let most = bounds.most_dropped?;
    (dropped as f64 > most * counts.taken as f64).then(|| {
        format!(
            "{} of {} dropped before they were due, more than {}, so the exit code is 3; --require 'overflow<=50%' says how much may be lost",
            count(dropped),
            counted(counts.taken, "request"),
            percent(most)
        )
    })
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
        (turns.halves, "left with half a line that is lost"),
    ];
    let each: Vec<String> = kinds
        .into_iter()
        .filter(|(times, _)| *times > 0)
        .map(|(times, what)| format!("{what} {}", counted(times, "time")))
        .collect();
    (!each.is_empty()).then(|| format!("the log was {}", each.join(", ")))
}

/// Use of the processor.
fn processor(used: Use, bounds: Bounds) -> String {
    format!(
        "the copy used {} of a core on average and {} in its busiest second, of --max-cpu {}",
        of_a_core(used.mean),
        of_a_core(used.busiest),
        of_a_core(bounds.max_cpu)
    )
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

#[cfg(test)]
mod tests {
    use super::super::tail::Turns;
    use super::*;
    use clap::Parser;
    use recording::left_out::{LeftOut, Reason};
    use recording::replay::Why;
    use report::Language;
    use std::time::Duration;

    #[derive(Parser)]
    struct Typed {
        #[command(flatten)]
        replay: ReplayArgs,
    }

    /// A copy of which everything is to be told.
    fn eventful() -> (Counts, Fate, Bounds) {
        let mut left_out = LeftOut::default();
        for (line, reason) in Reason::ALL.iter().enumerate() {
            left_out.add(*reason, "a.log", line as u64 + 1, 0, b"");
        }
        let not_sent = Why::ALL.iter().map(|why| (*why, 1_200)).collect();
        let counts = Counts {
            lines: 2_400,
            taken: 1_100,
            left_out,
            not_sent,
            invented: 1,
            ended: 2,
            conditions: 3,
            versions: 4,
            encoded: 5,
            hosts: 6,
            guessed: 7,
            forgotten: 8,
            rounded: 9,
            statuses: 10,
        };
        let mut fate = Fate {
            laid: 1_000,
            late: 30,
            too_late: 1,
            no_room: 2,
            too_old: 3,
            waiting: 4,
            longest: Duration::from_secs(7),
            turns: Turns { rotated: 1, truncated: 2, halves: 3 },
            used: Some(Use { mean: 0.031, busiest: 0.4 }),
            ended: too_much(0.31, 0.25),
            ..Fate::default()
        };
        fate.came_after[44] = 100;
        let seconds = Duration::from_secs;
        let bounds =
            Bounds { lag: seconds(2), max_lag: seconds(10), max_cpu: 0.25, most_dropped: Some(0.001) };
        (counts, fate, bounds)
    }

    #[test]
    fn what_became_of_a_copy_is_told() {
        let (counts, fate, bounds) = eventful();
        let told = sentences(&counts, &fate, bounds).join("\n");
        for sentence in [
            "live copy: 2,400 lines read, 1,100 requests taken, 1,000 laid down to be sent",
            "not copied: 1 that does not fit the format (first line 1); ",
            "99 % of the lines came within 4.50 s of their begin, the last after 7.00 s, under --lag 2.00 s: 30 came after their moment and \
             went at once; --lag 4.50 s lets 99 % keep theirs",
            "3 of 1,100 requests dropped before they were due, more than 0.1 %, so the exit code is 3; --require 'overflow<=50%' says how much \
             may be lost",
            "the log was rotated 1 time, truncated 2 times, left with half a line that is lost 3 times",
            "the copy used 3.1 % of a core on average and 40.0 % in its busiest second, of --max-cpu 25.0 %",
            "the copy ended itself: it used 31.0 % of a core for 5 s, more than --max-cpu 25.0 %",
        ] {
            assert!(told.contains(sentence), "{sentence} in {told}");
        }
        for most_dropped in [None, Some(0.01)] {
            assert_eq!(dropped_too_many(&counts, &fate, Bounds { most_dropped, ..bounds }), None);
        }
    }

    /// Values of options, which stay.
    const STAY: [&str; 4] = ["body", "overflow", "path", "query"];

    /// Words in small letters, beside options and their values.
    fn left_in_english(text: &str) -> Vec<&str> {
        let words =
            text.split(|letter: char| !letter.is_ascii_alphanumeric() && !"-_./`:\\".contains(letter));
        let is_ours = |word: &&str| word.len() > 2 && word.chars().all(|one| one.is_ascii_lowercase());
        words.filter(is_ours).filter(|word| !STAY.contains(word)).collect()
    }

    /// Whatever a live copy tells, while it goes on and in its report, is told in Chinese, too.
    #[test]
    fn a_live_copy_speaks_chinese() {
        let (counts, fate, bounds) = eventful();
        let quiet = Fate { late: 0, ..fate.clone() };
        let in_reports =
            sentences(&counts, &fate, bounds).into_iter().chain(sentences(&counts, &quiet, bounds));
        let of = |words: &str| {
            let words = format!("replay --follow a.log {words}");
            notes(&Typed::try_parse_from(words.split(' ')).expect("it can be meant").replay)
        };
        let ended = [format!("the copy ended itself: {}", unreadable(&"EIO"))];
        let in_reports =
            in_reports.chain(ended).chain(of("h:1 --real-origin --sample-users 10% --sample-objects 10%"));
        let in_reports: Vec<String> = in_reports.chain(of("--as-origin")).collect();
        for english in &in_reports {
            let said = Language::Chinese.say(english);
            assert!(left_in_english(&said).is_empty(), "{:?} in {said}", left_in_english(&said));
        }
        let live = [
            silent(),
            usual_priority(&"EPERM"),
            no_thread(&"EAGAIN"),
            "pressing http://h:1/ as a.log grows".to_owned(),
        ];
        for english in live.iter().chain(&in_reports) {
            let said = Language::Chinese.say_page(english);
            let left: Vec<&str> = left_in_english(&said).into_iter().filter(|word| *word != "http").collect();
            assert!(left.is_empty() && said != *english, "{left:?} in {said}");
        }
    }
}
