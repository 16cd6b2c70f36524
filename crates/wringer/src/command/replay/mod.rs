//! `wringer replay`: a recording's requests are sent again, each at its moment.

mod as_origin;
mod follow;
mod recorded;
mod told;

use super::pressed::Pressed;
use super::show::{self, Lines, Ran};
use super::{around, dry, rig_log};
use crate::problem::{Exit, Problem};
use cli::{ReplayArgs, ReplaySent, Replayed, Sides, Timed};
use measure::RunResult;
use measure::recorded::RecordedFigures;
use plan::Plan;
use recording::file::{ReadError, Recording};
use recording::replay::{self, Choice, ChooseError, Chosen, Gaps, choose};
use recording::words::Method;
use session::doctor::Facts;
use session::{About, SessionOptions};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Runs the command.
pub fn run(args: &ReplayArgs) -> Result<Exit, Problem> {
    args.check().map_err(Problem::Usage)?;
    if args.follow.follow {
        return follow::run(args);
    }
    let seed = crate::arguments::seed_from_clock();
    let choice = choice(args, args.clients.load.seed.unwrap_or(seed))?;
    let mut recording = open(&args.recording, args.salvage)?;
    let is_cut = recording.salvaged().is_some_and(|salvage| salvage.cut);
    if choice.gaps == Gaps::Think && recording.summary().users == 0 && !is_cut {
        return Err(Problem::Usage(format!(
            "--gaps think: {} does not tell who asked for what, so nobody could wait for an answer: capture a log that has addresses, or \
             leave it out",
            args.recording.display()
        )));
    }
    let mut chosen = choose(&mut recording, &choice).map_err(|error| unread(args, error))?;
    let sides = as_origin::sides(args, &chosen, recording.summary())?;
    let mut notes = told::notes(args, &chosen, &recording);
    notes.extend(as_origin::notes(args, &chosen, recording.summary()));
    if chosen.seen.requests == 0 {
        return Err(nothing(args, &chosen, &notes));
    }
    let recorded = Some(Box::new(recorded::of(args, &chosen, &recording)));
    let plan = args.plan(seed, replayed(&mut chosen), sides.as_ref()).map_err(Problem::Usage)?;
    let plan = args.held_to(plan);
    if let Some(exit) = dry::instead(&args.output, &plan)? {
        return Ok(exit);
    }
    let title = |pressed: &str| told::title(args, pressed, &chosen, recording.summary().requests);
    let after = |result: &RunResult| {
        let measured = told::Measured::of(result);
        format!("\n{}{}", told::beside(&chosen, &measured), as_origin::joined(&plan, result))
    };
    let told =
        ReplayWords { title: &title, notes, begin: &|| {}, after: &after, later: Arc::default(), recorded };
    pressed(args, &plan, &told, sides.as_ref())
}

/// Texts on the requests.
struct ReplayWords<'a> {
    title: &'a dyn Fn(&str) -> String,
    notes: Vec<String>,
    /// Called when the run begins.
    begin: &'a dyn Fn(),
    /// Text behind the report.
    after: &'a dyn Fn(&RunResult) -> String,
    /// The log's account of them, where there is one before they are sent.
    recorded: Option<Box<RecordedFigures>>,
    /// Facts to be told when the run is over.
    later: Arc<Mutex<Vec<String>>>,
}

/// Presses the target. `sides`: those of a proxy in front of an origin that is built from the recording.
fn pressed(
    args: &ReplayArgs,
    plan: &Plan,
    told: &ReplayWords<'_>,
    sides: Option<&Sides>,
) -> Result<Exit, Problem> {
    show::can_keep(&args.output)?;
    let around = SessionOptions {
        ready: args.clients.load.wait.ready,
        cache_bytes: sides.and_then(|_| as_origin::cache_bytes(args)),
        later: told.later.clone(),
        ..around::watching(&args.watch)
    };
    // The origin comes first: some proxies take an origin that does not answer at once for dead.
    let around = around::options(around)?;
    let ready = session::prepare(plan, &around, false)?;
    show::warn(ready.warnings(), plan);
    let pressed = sides.map(|sides| as_origin::press(args, sides)).transpose()?;
    let url = || args.url.clone().expect("without an origin of its own a URL was asked for");
    let target = (told.title)(&pressed.as_ref().map_or_else(url, Pressed::title));
    show::tell(&format!("pressing {target}"));
    told.notes.iter().for_each(|note| show::tell(&format!("note: {note}")));
    let seed_option = args.clients.load.seed.is_none().then_some("--seed");
    let about = show::about(
        "replay",
        plan,
        Some(target),
        &show::ShowAsked { output: &args.output, keep: &args.keep, seed_option },
    )?;
    let about = About { recorded: told.recorded.clone(), ..about };
    let server = show::serve(&args.output, &about)?;
    let ready = ready.about(about).noting(told.notes.clone());
    let status = || pressed.as_ref().and_then(Pressed::status);
    let started = pressed.as_ref().and_then(|pressed| pressed.started(&status));
    (told.begin)();
    let finished = ready.run(started.as_ref(), &mut Lines::new(&args.output, plan, sides.is_some()))?;
    let after = (told.after)(&finished.result);
    let run = finished.file().map(Path::to_owned);
    let exit = show::report(finished, &Ran { plan, output: &args.output, server });
    if !show::is_stdout(&args.output) {
        show::page(&after);
    }
    if let Some((run, started)) = run.zip(started.as_ref()) {
        rig_log::keep(&started.logs, &run);
    }
    Ok(exit)
}

/// The requests with their moments, taken out of the choice.
fn replayed(chosen: &mut Chosen) -> Replayed {
    let timed = |requests: &mut plan::RequestList, asked: &mut plan::AskedList, at_us: &mut Vec<u64>| Timed {
        sent: match asked.is_empty() {
            true => ReplaySent::Requests(std::mem::take(requests)),
            false => ReplaySent::Objects(std::mem::take(asked)),
        },
        moments: plan::Moments::new(std::mem::take(at_us)),
    };
    let warm = &mut chosen.warm;
    Replayed {
        warm: timed(&mut warm.requests, &mut warm.asked, &mut warm.at_us),
        measured: timed(&mut chosen.requests, &mut chosen.asked, &mut chosen.at_us),
        walks: chosen
            .thinking
            .as_mut()
            .map(|thinking| plan::Walks::new(std::mem::take(&mut thinking.pauses_us))),
    }
}

/// Why nothing would be measured.
fn nothing(args: &ReplayArgs, chosen: &Chosen, notes: &[String]) -> Problem {
    let warm = chosen.warm.count;
    match args.chosen.warm.filter(|_| warm > 0) {
        Some(span) => Problem::Usage(format!(
            "--warm {}: all of {} would come within it, and nothing would be measured: give less, or --loop",
            plan::units::show_duration(span),
            report::show::counted(warm, "request")
        )),
        // The first note says what was not sent; what the others tell of is not there.
        None => {
            Problem::impossible(format!("nothing to replay: {}", notes.first().map_or("", String::as_str)))
        }
    }
}

/// Choice of what of the recording is sent.
fn choice(args: &ReplayArgs, seed: u64) -> Result<Choice, Problem> {
    let chosen = &args.chosen;
    let micros = |time: std::time::Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    let pattern = |option: &str, text: &Option<String>| match text {
        Some(text) => {
            replay::pattern(text).map(Some).map_err(|why| Problem::Usage(format!("{option}: {why}")))
        }
        None => Ok(None),
    };
    let methods: Result<Vec<Method>, Problem> =
        chosen.methods.iter().map(|name| known_method(name)).collect();
    let address = args.address().map_err(Problem::Usage)?;
    Ok(Choice {
        speed: chosen.speed,
        multiply: chosen.multiply,
        shift_us: micros(chosen.shift),
        users: chosen.sample_users,
        objects: chosen.sample_objects,
        from_us: micros(chosen.from),
        to_us: chosen.to.map(micros),
        ends_us: chosen.duration.map(micros),
        most: chosen.requests,
        gaps: match chosen.gaps {
            cli::GapsArg::Due => Gaps::Due,
            cli::GapsArg::Think => Gaps::Think,
        },
        passes: chosen.passes,
        warm_us: chosen.warm.map_or(0, micros),
        methods: methods?,
        only: pattern("--only", &chosen.only)?,
        except: pattern("--except", &chosen.except)?,
        made: as_origin::made(args),
        authority: address.map_or_else(|| "localhost".to_owned(), |address| address.authority),
        cache_memory: args.as_origin.started.place.cache_memory,
        room: room(Facts::read().memory_left()),
        seed,
    })
}

/// Requests for whose choice there is memory, of which so many bytes are left.
fn room(left: Option<u64>) -> usize {
    let fit = left.map(|bytes| usize::try_from(bytes / replay::CHOSEN_BYTES).unwrap_or(usize::MAX));
    fit.map_or(replay::MOST, |fit| fit.min(replay::MOST))
}

/// A method that recordings tell from others.
fn known_method(name: &str) -> Result<Method, Problem> {
    let found =
        Method::read(name.as_bytes()).filter(|method| !matches!(method, Method::Other | Method::Connect));
    found.ok_or_else(|| {
        let names = Method::ALL.iter().filter(|method| !matches!(method, Method::Other | Method::Connect));
        let names: Vec<&str> = names.map(|method| method.name()).collect();
        Problem::Usage(format!(
            "--methods: {name} is none that a recording tells: give some of {}",
            names.join(", ")
        ))
    })
}

/// Opens a recording; `salvage`: also a damaged one, as far as it is whole.
///
/// # Errors
/// It is none, or it is damaged.
pub fn open(path: &Path, salvage: bool) -> Result<Recording<BufReader<File>>, Problem> {
    let name = path.display();
    let file = File::open(path)
        .map_err(|error| Problem::Usage(format!("{name} cannot be read: {error}; check its name")))?;
    let read = BufReader::new(file);
    let opened = if salvage { Recording::salvage(read) } else { Recording::open(read) };
    opened.map_err(|error| match error {
        ReadError::NoRecording => Problem::Usage(format!(
            "{name}: {error}; of a log one is made by 'wringer capture {name} -o FILE.rec'"
        )),
        ReadError::Newer(_)
        | ReadError::Cut(_)
        | ReadError::Behind { .. }
        | ReadError::Damaged { .. }
        | ReadError::Fingerprint { .. }
        | ReadError::Io(_) => Problem::impossible(format!("{name}: {error}")),
    })
}

fn unread(args: &ReplayArgs, error: ChooseError) -> Problem {
    let text = format!("{}: {error}", args.recording.display());
    match error {
        ChooseError::Read(_) | ChooseError::TooMany { .. } => Problem::Impossible(text),
        ChooseError::NoUrls => Problem::Usage(format!("{text}; --as-origin needs none")),
        ChooseError::NoPatterns => Problem::Usage(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_requests_are_chosen_as_memory_holds_and_no_more_than_the_most() {
        assert_eq!((room(None), room(Some(u64::MAX))), (replay::MOST, replay::MOST));
        assert_eq!((room(Some(1_200)), room(Some(119))), (10, 0));
    }
}
