//! `wringer http`: a web server pressed by the clients alone.

use super::show::{self, Lines, Ran};
use super::verbose::Trace;
use super::{around, dry, fleet, foreign};
use crate::problem::{Exit, Problem};
use cli::{Files, HttpArgs, SentArgs};
use plan::secret::without_secrets;
use session::files::{self, Meant};
use session::{Finished, Ready, SessionOptions};
use std::path::Path;

/// Runs the command.
pub fn run(args: &HttpArgs) -> Result<Exit, Problem> {
    args.check().map_err(Problem::Usage)?;
    let plan = args.plan(crate::arguments::seed_from_clock(), &read(&args.sent)?).map_err(usage)?;
    let plan = args.output.held_to(args.keep.applied(plan));
    if let Some(exit) = dry::instead(&args.output, &plan)? {
        return Ok(exit);
    }
    show::can_keep(&args.output)?;
    let around = SessionOptions {
        fleet: fleet::asked(&args.fleet)?,
        ready: args.clients.load.wait.ready,
        ..around::watching(&args.watch)
    };
    let around = around::options(around)?;
    let ready = session::prepare(&plan, &around, false)?;
    show::warn(ready.warnings(), &plan);
    let target = target(args);
    show::notice(&format!("pressing {target}"));
    let seed_option = args.clients.load.seed.is_none().then_some("--seed");
    let about = show::about(
        "http",
        &plan,
        Some(target),
        &show::ShowAsked { output: &args.output, keep: &args.keep, seed_option },
    )?;
    let server = show::serve(&args.output, &about)?;
    let ready = ready.about(about);
    let finished = match args.run.verbose {
        true => tell(ready, args)?,
        false => ready.run(None, &mut Lines::new(&args.output, &plan, false))?,
    };
    Ok(show::report(finished, &Ran { plan: &plan, output: &args.output, server }))
}

/// Runs it and tells each request.
fn tell(ready: Ready<'_>, args: &HttpArgs) -> Result<Finished, Problem> {
    let mut told = Trace { aside: show::is_stdout(&args.output) };
    let finished = ready.run(None, &mut told)?;
    finished.result.evidence.iter().for_each(|piece| told.say(&report::verbose::evidence(piece)));
    Ok(finished)
}

/// Returns the target of the load, in a few words.
fn target(args: &HttpArgs) -> String {
    let list = args.sent.requests.list.as_ref().map(|list| format!("the URLs of {}", list.display()));
    let aims = args.urls.iter().map(|url| without_secrets(url)).chain(list).collect::<Vec<_>>().join(", ");
    match &args.sent.requests.proxy {
        Some(proxy) => format!("{aims} through {proxy}"),
        None => args.farm.title(aims),
    }
}

/// Several mistakes have a line each.
fn usage(said: String) -> Problem {
    Problem::Usage(said.replace('\n', "\nwringer: "))
}

fn unread(file: &Path, error: &std::io::Error) -> Problem {
    Problem::Usage(format!("{} cannot be read: {error}; check its name", file.display()))
}

/// Reads what the options name: lists and bodies.
pub fn read(sent: &SentArgs) -> Result<Files, Problem> {
    let mut files = Files::default();
    for file in sent.files() {
        if files.has(&file) {
            continue;
        }
        let is_list = sent.requests.list.as_ref() == Some(&file);
        let is_stdin = file == Path::new("-");
        if !is_list && !is_stdin {
            let meant = if sent.body.is_text(&file) { Meant::Text } else { Meant::Bytes };
            let body = files::body(&file, meant).map_err(|error| unread(&file, &error))?;
            files.add_body(file, body);
            continue;
        }
        let bytes = match is_stdin {
            true => files::read_from(std::io::stdin().lock(), 0, files::LONGEST),
            false => files::read(&file, files::LONGEST),
        };
        let bytes = bytes.map_err(|error| unread(&file, &error))?;
        if let Some(text) = std::str::from_utf8(&bytes).ok().filter(|_| is_list) {
            let requests = foreign::listed(&file, text)?;
            requests.into_iter().for_each(|requests| files.add_requests(file.clone(), requests));
        }
        files.add(file, bytes);
    }
    Ok(files)
}
