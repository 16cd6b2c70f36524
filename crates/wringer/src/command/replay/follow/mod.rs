//! `--follow`: a live copy of a log that grows. It must not hurt whoever writes the log: it runs at a low priority, in fixed memory, drops
//! what it cannot keep up with, and ends itself where it uses the processor too much.

mod copy;
mod tail;
mod told;
mod watch;

use super::{ReplayWords, as_origin, choice, pressed};
use crate::arguments::seed_from_clock;
use crate::command::capture::logs;
use crate::command::show;
use crate::problem::{Exit, Problem};
use cli::{LogArgs, ReplayArgs, ReplaySent, Replayed, Timed};
use copy::{Bounds, Copier, Lines, Parts};
use plan::{AskedList, LiveFeed, Moments};
use recording::file::Summary;
use recording::format::Format;
use recording::private::Privacy;
use recording::replay::live::LiveLog;
use recording::replay::{Chosen, OfOrigin};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use tail::{LAST, Tail};

/// How much nicer than others it is.
const NICE: i32 = 10;

/// Runs it.
pub fn run(args: &ReplayArgs) -> Result<Exit, Problem> {
    let seed = args.clients.load.seed.unwrap_or_else(seed_from_clock);
    let read = LogArgs {
        log_format: args.follow.log_format.clone(),
        zone: args.follow.zone.clone(),
        user_by: args.follow.user_by.clone(),
        keep: args.follow.keep_private.clone(),
        key: None,
        no_urls: false,
        tolerate: 1.0,
        keep_broken: false,
        seed,
    };
    let options = logs::options(&read)?;
    let mut lines = lines(&args.recording)?;
    let format = format(&read, &args.recording, &mut lines)?;
    let privacy = Privacy::new(&options.key, options.keep);
    let live = LiveLog::new(choice(args, seed)?, privacy, options.user_by);
    let feed = LiveFeed::new();
    let mut chosen = Chosen::default();
    let sent = if args.as_origin.as_origin {
        chosen.origin = Some(OfOrigin { classes: live.classes(), ..OfOrigin::default() });
        ReplaySent::Objects(AskedList::live(live.asked_kinds(), feed.clone()))
    } else {
        ReplaySent::Live(Box::new(live.step(&feed)))
    };
    let replayed =
        Replayed { measured: Timed { sent, moments: Moments::live(feed.clone()) }, ..Replayed::default() };
    let sides = as_origin::sides(args, &chosen, &Summary::default())?;
    let plan = args.plan(seed, replayed, sides.as_ref()).map_err(Problem::Usage)?;
    let plan = args.held_to(plan);
    if let Err(error) = rustix::process::nice(NICE) {
        show::tell(&told::usual_priority(&error));
    }
    let later = Arc::new(Mutex::new(Vec::new()));
    let bounds = bounds(args);
    let copier = Copier::new(Parts { lines, format, live, feed, bounds }, later.clone());
    let over = copier.over.clone();
    let copying = Mutex::new(Some(copier));
    let thread = Mutex::new(None);
    let begin = || {
        let copier = copying.lock().ok().and_then(|mut copier| copier.take());
        let Some(copier) = copier else { return };
        let spawned = std::thread::Builder::new().name("copy".to_owned()).spawn(move || copier.run());
        match spawned {
            Ok(spawned) => *thread.lock().expect("nobody panics while holding it") = Some(spawned),
            Err(error) => show::tell(&told::no_thread(&error)),
        }
    };
    let title = |pressed: &str| {
        let origin = if args.as_origin.as_origin { ", in front of its origin" } else { "" };
        format!("{pressed}{origin} as {} grows", args.recording.display())
    };
    let after = |result: &measure::RunResult| as_origin::joined(&plan, result);
    let told = ReplayWords {
        title: &title,
        notes: told::notes(args),
        begin: &begin,
        after: &after,
        later,
        recorded: None,
    };
    let exit = pressed(args, &plan, &told, sides.as_ref())?;
    over.store(true, Ordering::Relaxed);
    let thread = thread.lock().ok().and_then(|mut thread| thread.take());
    let failed = thread.and_then(|thread| thread.join().ok()).is_some_and(|copier| has_failed(&copier));
    Ok(if failed { exit.or_worse(Exit::Wrong) } else { exit })
}

fn bounds(args: &ReplayArgs) -> Bounds {
    Bounds {
        lag: args.follow.lag,
        max_lag: args.follow.max_lag,
        max_cpu: args.follow.max_cpu,
        most_dropped: (!args.says_what_may_be_lost()).then_some(cli::MOST_DROPPED),
    }
}

/// True if a copy ended itself, or dropped too much to be one.
fn has_failed(copier: &Copier) -> bool {
    let Copier { fate, bounds, .. } = copier;
    !fate.ended.is_empty() || told::dropped_too_many(copier.live.counts(), fate, *bounds).is_some()
}

/// Opens the log.
fn lines(log: &Path) -> Result<Lines, Problem> {
    if log == Path::new("-") {
        return Ok(copy::standard_input());
    }
    let tail = Tail::new(log).map_err(|error| {
        Problem::Usage(format!("{} cannot be followed: {error}; check its name", log.display()))
    })?;
    Ok(Lines::File(Box::new(tail)))
}

/// The format of its lines, told by the last ones where nobody says it.
fn format(read: &LogArgs, log: &Path, lines: &mut Lines) -> Result<Format, Problem> {
    let name = log.display().to_string();
    let last = match lines {
        Lines::File(tail) => {
            tail.last(LAST).map_err(|error| Problem::impossible(format!("{name} cannot be read: {error}")))?
        }
        Lines::Stream { .. } => Vec::new(),
    };
    let begins = if last.len() as u64 == LAST {
        last.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1)
    } else {
        0
    };
    let last = &last[begins..];
    if last.trim_ascii().is_empty() && read.log_format == "auto" {
        return Err(Problem::Usage(format!(
            "{name} has no lines yet that would tell its format: give --log-format"
        )));
    }
    logs::format_of(read, &name, last)
}
