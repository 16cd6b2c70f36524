//! Requests that somebody has already (OpenAPI, Postman, vegeta's targets, `.http` files): `wringer run`, `wringer plan` and `--urls` of
//! them.

use super::har::comments;
use super::plan::print;
use super::show;
use crate::arguments;
use crate::problem::{Exit, Problem};
use cli::{ForeignArgs, PrintArgs, ReadArgs};
use foreign::{ForeignAsked, Taken};
use plan::{Plan, TextForm};
use session::files;
use session::folder::Folder;
use std::path::Path;

/// Requests of a plan at most, each of which is a step of it.
const MOST: usize = 1000;
/// Requests of a list up to which each has figures of its own.
const LABELLED: usize = 100;

/// The text of a file, where it is one of these. What cannot be read, or only once, is left to those who read plans.
pub fn text(file: &Path) -> Option<String> {
    let bytes = file.is_file().then(|| files::read(file, files::LONGEST).ok()).flatten()?;
    let text = String::from_utf8(bytes).ok()?;
    foreign::is(&file.display().to_string(), &text).then_some(text)
}

/// Refuses options that only such files have.
///
/// # Errors
/// One was given.
pub fn only_here(file: &Path, args: &ForeignArgs) -> Result<(), Problem> {
    match args.given() {
        None => Ok(()),
        Some(option) => Err(Problem::Usage(format!(
            "{option} is for OpenAPI descriptions, Postman's collections, vegeta's targets and .http files; {} is none of them",
            file.display()
        ))),
    }
}

/// The plan of such a file; what it does not say is told.
pub fn plan(file: &Path, text: &str, args: &ReadArgs) -> Result<Plan, Problem> {
    let taken = taken(file, text, args)?;
    tell(file, &taken);
    Ok(taken.plan(args.jmeter.seed.unwrap_or_else(arguments::seed_from_clock)))
}

/// Prints its plan.
pub fn convert(args: &PrintArgs, text: &str) -> Result<Exit, Problem> {
    let taken = taken(&args.file, text, &args.read)?;
    tell(&args.file, &taken);
    let name = args.file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let notes = taken.left_out.clone();
    let plan = taken.plan(args.read.jmeter.seed.unwrap_or_else(arguments::seed_from_clock));
    if args.to != TextForm::Json {
        show::write(&format!("{}{}", comments(&name, &notes), of_load(args.to)));
    }
    print(&plan, args.to)
}

/// Tells whoever reads such a plan how it becomes a load.
fn of_load(form: TextForm) -> String {
    let [pace, stop] = match form {
        TextForm::Toml => ["pace = { users = 20 }", "stop = { after = \"10s\" }"],
        TextForm::Json | TextForm::Yaml => ["pace: {users: 20}", "stop: {after: 10s}"],
    };
    format!(
        "# One user sends each request once. For a load, give the phase users and a time: {pace}, {stop}\n"
    )
}

/// Tells what of it becomes what.
pub fn check(file: &Path, text: &str, args: &ReadArgs) -> Result<Exit, Problem> {
    let taken = taken(file, text, args)?;
    let notes = taken.left_out.clone();
    show::line(&counted(file, &taken));
    let found = taken.plan(0).check();
    found.iter().for_each(|line| show::notice(&format!("{}: {line}", file.display())));
    if found.is_empty() {
        show::line(&format!("{}: nothing wrong", file.display()));
    }
    notes.iter().for_each(|note| show::line(&format!("  {note}")));
    Ok(if found.is_empty() { Exit::Ok } else { Exit::Usage })
}

/// The requests of a list that is such a file; `None`: it is none. What they do not say is told.
pub fn listed(file: &Path, text: &str) -> Result<Option<Vec<plan::Request>>, Problem> {
    let name = file.display().to_string();
    if !foreign::is_more_than_urls(&name, text) {
        return Ok(None);
    }
    let folder = Folder::of(file, false);
    let find = |path: &str| folder.read(path, files::LONGEST).map_err(|error| error.to_string());
    let asked = ForeignAsked { name: &name, text, base: None, set: &[], environment: &[], find: &find };
    let mut taken = foreign::read(&asked).map_err(|why| {
        Problem::Usage(format!("{why} (wringer plan new has --base-url, --set and --environment)"))
    })?;
    if taken.cookies {
        taken.left_out.push("cookies: --cookies keeps those of each user".to_owned());
    }
    tell(file, &taken);
    if taken.requests.len() > LABELLED {
        taken.requests.iter_mut().for_each(|request| request.name.clear());
    }
    Ok(Some(taken.requests))
}

fn taken(file: &Path, text: &str, args: &ReadArgs) -> Result<Taken, Problem> {
    let environment = match &args.foreign.environment {
        None => Vec::new(),
        Some(path) => environment(path)?,
    };
    let folder = Folder::of(file, args.any_files);
    let find = |path: &str| folder.read(path, files::LONGEST).map_err(|error| error.to_string());
    let asked = ForeignAsked {
        name: &file.display().to_string(),
        text,
        base: args.foreign.base_url.as_deref(),
        set: &args.set,
        environment: &environment,
        find: &find,
    };
    let taken = foreign::read(&asked).map_err(Problem::Usage)?;
    if taken.requests.len() > MOST {
        return Err(Problem::Usage(format!(
            "{} has {} requests, and a plan of them at most {MOST}: wringer http --urls {0} sends them as a list",
            file.display(),
            taken.requests.len()
        )));
    }
    Ok(taken)
}

fn environment(path: &Path) -> Result<Vec<(String, String)>, Problem> {
    let refused = |why: String| Problem::Usage(format!("the environment {}: {why}", path.display()));
    let bytes =
        files::read(path, files::LONGEST).map_err(|error| refused(format!("it cannot be read: {error}")))?;
    let text = String::from_utf8(bytes).map_err(|_| refused("it is not UTF-8".to_owned()))?;
    foreign::environment(&text).map_err(refused)
}

fn counted(file: &Path, taken: &Taken) -> String {
    let count = taken.requests.len();
    let s = if count == 1 { "" } else { "s" };
    format!("{} is {}: {count} request{s}", file.display(), taken.kind)
}

fn tell(file: &Path, taken: &Taken) {
    let head = counted(file, taken);
    if taken.left_out.is_empty() {
        return show::notice(&head);
    }
    show::notice(&format!("{head}; not taken, or a guess:"));
    taken
        .left_out
        .iter()
        .for_each(|what| show::notice(&format!("  {}", what.replace(|one: char| one.is_control(), " "))));
}
