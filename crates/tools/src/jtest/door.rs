//! `wringer jtest`: the old tool's switches, streams and exit codes over a session.

use super::report::{JtestLayout, ViewOptions};
use super::{Run, parse};
use crate::ToolShown;
use crate::runner::{Door, Moment};
use console::output as show;
use console::output;
use console::problem::{Exit, Problem};
use measure::{Event, Row};
use plan::{Load, Step};
use report::exchange_lines::{ErrorLines, error_line, head_view};
use session::files;
use session::{Finished, SessionOptions, View};
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// jtest's command line.
pub struct Jtest {
    run: Run,
    known: JtestKnown,
}

impl Door for Jtest {
    const NAME: &'static str = "jtest";
    const ABOUT: &'static str = "Apache Traffic Server's jtest: the same switches, the same table";
    const NAMES_FAILURES: bool = true;
    const SEED: Option<&'static str> = Some("-D");
    type View = super::View;
    type Lines = JtestTable;

    fn read(args: &[OsString], moment: &Moment) -> Result<Jtest, ToolShown> {
        let run = parse(args, &Moment::env, moment.seed, &Moment::read_file)?;
        Ok(Jtest { run, known: JtestKnown::default() })
    }

    fn help() -> String {
        super::help()
    }

    fn run(&self) -> &Run {
        &self.run
    }

    fn target(&self) -> Option<String> {
        self.run.plan.load.as_ref().and_then(|load| load.target.clone())
    }

    fn files(&self) -> Vec<&Path> {
        let known = self.run.view.known_file.as_ref().map(|(file, _)| file.as_path());
        self.run.view.dump.as_deref().into_iter().chain(known).collect()
    }

    fn before(&mut self) -> Result<(), Problem> {
        session::settle(&mut self.run.plan)?;
        self.known = JtestKnown::read(&self.run)?;
        if let Some(load) = &mut self.run.plan.load {
            load.trace.urls |= self.run.view.dump.is_some();
            self.known.give_to(load);
        }
        Ok(())
    }

    fn session_options(&self) -> SessionOptions {
        SessionOptions {
            ends_after: self.run.view.origin_ends_after,
            heads: self.run.view.show_headers,
            ..SessionOptions::default()
        }
    }

    fn begin(&mut self) -> Result<JtestTable, Problem> {
        JtestTable::new(&self.run)
    }

    fn lay_out(&self, finished: &Finished, mut table: JtestTable) -> Result<Exit, Problem> {
        show::write(&table.layout.rest());
        show::write(&super::report::totals(&finished.result));
        show::write(&super::report::summary(&finished.result));
        table.close()?;
        self.known.write(&table.fetched)?;
        Ok(Exit::Ok)
    }
}

/// The old tool's table, with what it prints about single requests.
pub struct JtestTable {
    layout: JtestLayout,
    show_urls: bool,
    dump: Option<BufWriter<File>>,
    /// Why the list lacks a URL, the first time.
    dump_failed: Option<std::io::Error>,
    error_lines: ErrorLines,
    /// Hashes of the URLs fetched in this run.
    fetched: Vec<u64>,
}

impl JtestTable {
    fn new(run: &Run) -> Result<JtestTable, Problem> {
        let view = &run.view;
        let options = ViewOptions {
            interval_s: view.interval_s,
            average_over: view.average_over,
            old_averages: view.old_averages,
        };
        let dump = run
            .view
            .dump
            .as_ref()
            .map(|file| session::files::create(file).map_err(|error| cannot("written", file, &error)));
        Ok(JtestTable {
            layout: JtestLayout::new(options),
            show_urls: view.show_urls,
            dump: dump.transpose()?.map(BufWriter::new),
            dump_failed: None,
            error_lines: ErrorLines::of(&run.plan),
            fetched: Vec::new(),
        })
    }

    fn tell_held_back(&mut self) {
        self.error_lines.held_back().iter().for_each(|line| show::notice(line));
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

impl View for JtestTable {
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
                show::write(&String::from_utf8_lossy(&head_view(title, &text)));
            }
            Event::RequestError(error) => {
                let line = error_line(&error);
                if self.error_lines.is_new(line.trim_end()) {
                    show::notice(line.trim_end());
                }
            }
            Event::Fetched(hash) => self.fetched.push(hash),
            // The session keeps evidence itself.
            Event::Evidence(_)
            | Event::Lost(_)
            | Event::Traced(_)
            | Event::Body(_)
            | Event::Talk(_)
            | Event::Request(_)
            | Event::Transaction(_)
            | Event::Page(_)
            | Event::Log { .. }
            | Event::Kept(_)
            | Event::First(_)
            | Event::FirstTls(_)
            | Event::Certificate(_)
            | Event::Connection(_) => {}
        }
    }

    fn end(&mut self) {
        self.tell_held_back();
    }
}

/// The file that remembers from run to run which URLs were fetched: their hashes, eight bytes each.
#[derive(Default)]
struct JtestKnown {
    file: Option<(std::path::PathBuf, u64)>,
    hashes: Vec<u64>,
}

impl JtestKnown {
    fn read(run: &Run) -> Result<JtestKnown, Problem> {
        let Some((file, entries)) = &run.view.known_file else {
            return Ok(JtestKnown { file: None, hashes: Vec::new() });
        };
        let bytes = match files::read(file, files::LONGEST) {
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
        Ok(JtestKnown { file: Some((file.clone(), *entries)), hashes })
    }

    fn give_to(&self, load: &mut Load) {
        let steps = load.phases.iter_mut().flat_map(|phase| phase.sends_mut());
        for step in steps {
            if let Step::Urls(urls) = step {
                urls.known.clone_from(&self.hashes);
            }
        }
    }

    fn write(&self, fetched: &[u64]) -> Result<(), Problem> {
        let Some((file, entries)) = &self.file else { return Ok(()) };
        let kept = self.hashes.iter().chain(fetched).take(usize::try_from(*entries).unwrap_or(usize::MAX));
        let bytes: Vec<u8> = kept.flat_map(|hash| hash.to_le_bytes()).collect();
        output::keep("the list of known URLs", file, &bytes)
    }
}
