//! `wringer jtest`: the old tool's switches, streams and exit codes over a session.

use super::show;
use super::troubles::Troubles;
use crate::output;
use crate::problem::{Exit, Problem};
use crate::session::{self, Surroundings, View};
use doors::jtest::{Command, Run, parse};
use measure::{Event, Row};
use plan::{Load, Plan, Step};
use report::jtest::{Layout, ViewOptions};
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

/// Runs the command; `args` are those after its name.
pub fn run(args: &[OsString]) -> Result<Exit, Problem> {
    let env = |name: &str| std::env::var(name).ok();
    let read = |file: &Path| std::fs::read(file);
    match parse(args, &env, super::seed_from_clock(), &read) {
        Command::Show { text, to_stderr, exit } => {
            if to_stderr {
                show::notice(text.trim_end())
            } else {
                show::write(&text)
            }
            Ok(Exit::Code(ExitCode::from(exit)))
        }
        Command::Run(run) if run.show_plan => {
            show::write(&run.plan.to_text());
            Ok(Exit::Fine)
        }
        Command::Run(run) => match test(*run) {
            Ok(()) => Ok(Exit::Fine),
            Err(problem) => {
                show::notice(&format!("jtest: {problem}"));
                Ok(Exit::Impossible)
            }
        },
    }
}

/// Prints what `jtest --help` prints, as the help of a native command: on standard output, and it is no error.
pub fn help() -> Result<Exit, Problem> {
    show::write(&doors::jtest::help());
    Ok(Exit::Fine)
}

fn test(mut run: Run) -> Result<(), Problem> {
    let known_file = run.known_file.as_ref().map(|(file, _)| file.as_path());
    [run.json.as_deref(), run.dump.as_deref(), known_file]
        .into_iter()
        .try_for_each(show::can_keep_for_door)?;
    session::settle(&mut run.plan)?;
    run.notices.iter().for_each(|notice| show::notice(&format!("jtest: {notice}")));
    let mut known = Known::read(&run)?;
    if let Some(load) = &mut run.plan.load {
        load.trace.urls |= run.dump.is_some();
        known.give_to(load);
    }
    let mut table = Table::new(&run)?;
    let around = Surroundings { ends_after: run.origin_ends_after, ..Surroundings::default() };
    let ready = session::prepare(&run.plan, &around, table.wants_heads())?;
    let finished = ready.run(&[], &mut table)?;
    show::write(&table.layout.rest());
    show::write(&report::jtest::totals(&finished.result));
    show::write(&report::jtest::summary(&finished.result));
    finished.result.notes.iter().for_each(|note| show::notice(&format!("jtest: {note}")));
    let kept = [
        table.close(),
        known.write(&table.fetched),
        show::keep_door_json(run.json.as_deref(), &finished, &run.plan, target(&run.plan), Some("-D")),
    ];
    kept.into_iter().collect()
}

fn target(plan: &Plan) -> Option<&str> {
    plan.load.as_ref().and_then(|load| load.target.as_deref())
}

/// The old tool's table, with what it prints about single requests.
struct Table {
    layout: Layout,
    show_urls: bool,
    show_heads: bool,
    dump: Option<BufWriter<File>>,
    /// Why the list lacks a URL, the first time.
    dump_failed: Option<std::io::Error>,
    troubles: Troubles,
    /// Hashes of the URLs fetched in this run.
    fetched: Vec<u64>,
}

impl Table {
    fn new(run: &Run) -> Result<Table, Problem> {
        let view = &run.view;
        let options = ViewOptions {
            interval_s: view.interval_s,
            average_over: view.average_over,
            old_averages: view.old_averages,
        };
        let dump = run
            .dump
            .as_ref()
            .map(|file| output::create(file).map_err(|error| cannot("written", file, &error)));
        Ok(Table {
            layout: Layout::new(options),
            show_urls: view.show_urls,
            show_heads: view.show_headers,
            dump: dump.transpose()?.map(BufWriter::new),
            dump_failed: None,
            troubles: Troubles::of(&run.plan),
            fetched: Vec::new(),
        })
    }

    fn tell_held_back(&mut self) {
        self.troubles.held_back().iter().for_each(|line| show::notice(line));
    }

    fn close(&mut self) -> Result<(), Problem> {
        let closed = self.dump.as_mut().map_or(Ok(()), BufWriter::flush);
        let closed = self.dump_failed.take().map_or(closed, Err);
        closed.map_err(|error| Problem::impossible(format!("the list of URLs cannot be written: {error}")))
    }
}

fn cannot(verb: &str, file: &Path, error: &std::io::Error) -> Problem {
    Problem::impossible(format!("{} cannot be {verb}: {error}", file.display()))
}

impl View for Table {
    fn row(&mut self, row: &Row, _phase: &str) {
        self.tell_held_back();
        show::write(&self.layout.row(row));
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Url(url) => {
                if let Some(dump) = &mut self.dump
                    && let Err(error) = writeln!(dump, "{url}")
                {
                    self.dump_failed.get_or_insert(error);
                }
                if self.show_urls {
                    show::line(&url);
                }
            }
            Event::Head { title, text } => {
                show::write(&String::from_utf8_lossy(&report::jtest::head_view(title, &text)));
            }
            Event::Trouble(trouble) => {
                let line = report::jtest::trouble(&trouble);
                if self.troubles.is_new(line.trim_end()) {
                    show::notice(line.trim_end());
                }
            }
            Event::Fetched(hash) => self.fetched.push(hash),
            // The session keeps evidence itself.
            Event::Evidence(_)
            | Event::Body(_)
            | Event::Talk(_)
            | Event::Request(_)
            | Event::First(_)
            | Event::FirstTls(_) => {}
        }
    }

    fn end(&mut self) {
        self.tell_held_back();
    }

    fn wants_heads(&self) -> bool {
        self.show_heads
    }
}

/// The file that remembers from run to run which URLs were fetched: their hashes, eight bytes each.
struct Known {
    file: Option<(std::path::PathBuf, u64)>,
    hashes: Vec<u64>,
}

impl Known {
    fn read(run: &Run) -> Result<Known, Problem> {
        let Some((file, entries)) = &run.known_file else {
            return Ok(Known { file: None, hashes: Vec::new() });
        };
        let bytes = match std::fs::read(file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(cannot("read", file, &error)),
        };
        let (hashes, rest) = bytes.as_chunks::<8>();
        if !rest.is_empty() || hashes.len() as u64 > *entries {
            let name = file.display();
            let text = format!("{name} is no file of at most {entries} known URLs; remove it, or raise -q");
            return Err(Problem::impossible(text));
        }
        let hashes = hashes.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
        Ok(Known { file: Some((file.clone(), *entries)), hashes })
    }

    fn give_to(&self, load: &mut Load) {
        let steps = load.phases.iter_mut().flat_map(|phase| phase.scenario.sends_mut());
        for step in steps {
            if let Step::Urls(urls) = step {
                urls.known.clone_from(&self.hashes);
            }
        }
    }

    fn write(&mut self, fetched: &[u64]) -> Result<(), Problem> {
        let Some((file, entries)) = &self.file else { return Ok(()) };
        self.hashes.extend(fetched);
        let kept = self.hashes.iter().take(usize::try_from(*entries).unwrap_or(usize::MAX));
        let bytes: Vec<u8> = kept.flat_map(|hash| hash.to_le_bytes()).collect();
        output::keep("the list of known URLs", file, &bytes)
    }
}
