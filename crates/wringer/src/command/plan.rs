//! `wringer run`, `wringer plan show`, `wringer plan check`: plan files.

use super::jmx;
use super::show::{self, Lines, Ran};
use super::{around, dry, fleet, foreign, har};
use crate::problem::{Exit, Problem};
use cli::{AgainstArgs, PrintArgs, ReadArgs, RunArgs};
use plan::{Plan, Source, TextError, TextForm, Written};
use session::SessionOptions;
use session::export;
use session::files;
use session::folder::Folder;
use std::path::Path;
use tools::jmeter::file::{self as jmeter_file, Runnable};
use tools::jmeter::programs::interpreters;

/// Runs a plan file.
pub fn run(args: &RunArgs) -> Result<Exit, Problem> {
    // What is random at the start of a plan of JMeter's follows from the seed, too.
    let mut how = args.read.clone();
    how.jmeter.seed = args.seed;
    let Runnable { mut plan, programs, sent_to, sample_variables, has_seed } = runnable(&args.plan, &how)?;
    if !sample_variables.is_empty() {
        show::notice(
            "wringer: sample_variables changes nothing here: wringer jmeter -l FILE writes these variables",
        );
    }
    plan = args.output.held_to(args.keep.applied(plan));
    plan.seed = args.seed.unwrap_or(plan.seed);
    plan.io = args.io.unwrap_or(plan.io);
    if args.output.show_plan {
        show::write(&plan.to_shown_text());
        return Ok(Exit::Ok);
    }
    if args.output.dry_run {
        let interpreters = Some(interpreters(programs));
        return dry::run(&plan, SessionOptions { interpreters, ..SessionOptions::default() });
    }
    show::can_keep(&args.output)?;
    let has_origin = plan.origin.is_some();
    let origin_agents = fleet::served(&mut plan, args.fleet.origins(), &args.fleet)?;
    session::settle(&mut plan)?;
    let clients = fleet::clients_beside(origin_agents.as_ref(), &args.fleet)?;
    let around = SessionOptions {
        // A server of somebody else's is asked for nothing but what the plan says.
        join_remote: !has_origin && plan.asks_for_objects(),
        origin_agents,
        fleet: clients,
        interpreters: Some(interpreters(programs)),
        ..around::watching(&args.watch)
    };
    let mut lines = Lines::new(&args.output, &plan, has_origin);
    // What the origin sees is told from there.
    let heads = plan.load.as_ref().is_some_and(|load| load.trace.heads);
    let around = around::options(around)?;
    let ready = session::prepare(&plan, &around, heads)?;
    show::warn(ready.warnings(), &plan);
    let target = plan.load.as_ref().and_then(|load| load.target.clone());
    let seed_option = (!has_seed && args.seed.is_none()).then_some("--seed");
    let mut about = show::about(
        "run",
        &plan,
        target,
        &show::ShowAsked { output: &args.output, keep: &args.keep, seed_option },
    )?;
    let exports = export::start(export::Settings { sent_to, ..export::Settings::default() })?;
    about.sinks = about.sinks.and(exports);
    let server = show::serve(&args.output, &about)?;
    let finished = ready.about(about).run(None, &mut lines)?;
    Ok(show::report(finished, &Ran { plan: &plan, output: &args.output, server }))
}

/// The plan of a file of any kind, as it is to be run.
pub fn runnable(file: &Path, args: &ReadArgs) -> Result<Runnable, Problem> {
    no_script(file)?;
    no_variables(file, args)?;
    if jmeter_file::is_jmx(file) {
        return jmeter_file::runnable(file, args);
    }
    if har::is_har(file) {
        return Ok(Runnable::of(har::read(file, args)?.plan));
    }
    if let Some(text) = foreign::text(file) {
        return Ok(Runnable::of(foreign::plan(file, &text, args)?));
    }
    foreign::only_here(file, &args.foreign)?;
    let PlanRead { written, warnings } = read(file, args)?;
    let found = written.check();
    match warnings.first() {
        _ if !found.is_empty() => Err(refused(&found)),
        Some(warning) => Err(Problem::impossible(format!("{}: {warning}", file.display()))),
        None => Ok(Runnable {
            programs: jmeter_file::setting(file, args)?,
            has_seed: true,
            ..Runnable::of(written.plan)
        }),
    }
}

/// Refuses programs of other tools by their names, before they are read as a plan.
fn no_script(file: &Path) -> Result<(), Problem> {
    let ending = file.extension().and_then(|ending| ending.to_str());
    let whose = SCRIPTS.iter().find(|(known, _)| Some(*known) == ending);
    whose.map_or(Ok(()), |(_, whose)| {
        Err(Problem::Usage(format!(
            "{}: {whose} are programs, which are not read here: 'wringer http URL' presses a URL, 'wringer plan new' makes a plan of \
             OpenAPI, Postman's collections, HARs and lists",
            file.display()
        )))
    })
}

/// Endings of programs of other tools, and whose they are.
const SCRIPTS: [(&str, &str); 5] = [
    ("js", "scripts of k6 and Artillery"),
    ("ts", "scripts of k6"),
    ("py", "files of Locust"),
    ("scala", "simulations of Gatling"),
    ("lua", "scripts of wrk ('wringer wrk -s' takes them)"),
];

/// Refuses `--set` for files that have no variables of that kind.
fn no_variables(file: &Path, args: &ReadArgs) -> Result<(), Problem> {
    if jmeter_file::is_jmx(file) || har::is_har(file) || is_ini(file) {
        foreign::only_here(file, &args.foreign)?;
    }
    match args.set.first() {
        Some((name, value)) if jmeter_file::is_jmx(file) => {
            Err(Problem::Usage(format!("--set is for plan files; this one has properties: -J{name}={value}")))
        }
        Some(_) if is_ini(file) || har::is_har(file) => {
            Err(Problem::Usage(format!("--set is for plan files; {} has no variables", file.display())))
        }
        _ => Ok(()),
    }
}

/// Prints a plan as it is understood; that of wrktcp's ini file, too.
pub fn show(args: &PrintArgs) -> Result<Exit, Problem> {
    let plan = understood(args)?;
    show::write(&plan.to_shown_text_as(args.to).map_err(Problem::Impossible)?);
    Ok(Exit::Ok)
}

fn understood(args: &PrintArgs) -> Result<Plan, Problem> {
    any(&args.file, &args.read)?.map_err(|mistakes| {
        let lines: Vec<String> = mistakes.iter().map(|mistake| in_file(&args.file, mistake)).collect();
        Problem::Usage(lines.join("\nwringer: "))
    })
}

/// Prints a plan in a form, as short as a person would write it.
pub fn print(plan: &Plan, form: TextForm) -> Result<Exit, Problem> {
    show::write(&plan.to_brief_text_as(form).map_err(Problem::Impossible)?);
    Ok(Exit::Ok)
}

/// Prints the JSON Schema of plan files.
pub fn schema() -> Exit {
    show::write(Plan::schema());
    Exit::Ok
}

/// Names every mistake of a plan.
pub fn check(file: &Path, args: &ReadArgs, against: &AgainstArgs) -> Result<Exit, Problem> {
    no_script(file)?;
    no_variables(file, args)?;
    if jmeter_file::is_jmx(file) {
        return jmx::check(file, args, against);
    }
    if against.against.is_some() {
        let name = file.display();
        return Err(Problem::Usage(format!("--against is for plans of JMeter's (.jmx), and {name} is none")));
    }
    if har::is_har(file) {
        return har::check(file, args);
    }
    if let Some(text) = foreign::text(file) {
        return foreign::check(file, &text, args);
    }
    foreign::only_here(file, &args.foreign)?;
    let (found, warnings): (Vec<String>, Vec<String>) = if is_ini(file) {
        let found = of_ini(file)?.err().unwrap_or_default();
        (found.iter().map(|mistake| in_file(file, mistake)).collect(), Vec::new())
    } else {
        let PlanRead { written, warnings } = read(file, args)?;
        let found = written.check().iter().map(ToString::to_string).collect();
        (found, warnings.iter().map(|warning| in_file(file, warning)).collect())
    };
    found.iter().chain(&warnings).for_each(|line| show::notice(line));
    if found.is_empty() && warnings.is_empty() {
        show::line(&format!("{}: nothing wrong", file.display()));
    }
    Ok(if found.is_empty() { Exit::Ok } else { Exit::Usage })
}

/// Prints a plan of another tool as a native one, or one in another form.
pub fn convert(args: &PrintArgs) -> Result<Exit, Problem> {
    no_script(&args.file)?;
    no_variables(&args.file, &args.read)?;
    match &args.file {
        file if jmeter_file::is_jmx(file) => jmx::convert(args),
        file if har::is_har(file) => har::convert(args),
        file => match foreign::text(file) {
            Some(text) => foreign::convert(args, &text),
            None => print(&understood(args)?, args.to),
        },
    }
}

fn in_file(file: &Path, mistake: &str) -> String {
    format!("{}: {mistake}", file.display())
}

fn is_ini(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "ini")
}

/// The plan of a plan file or of wrktcp's ini file, or all mistakes of the latter.
fn any(file: &Path, args: &ReadArgs) -> Result<Result<Plan, Vec<String>>, Problem> {
    no_variables(file, args)?;
    if is_ini(file) {
        return of_ini(file);
    }
    if har::is_har(file) {
        return Ok(Ok(har::read(file, args)?.plan));
    }
    if let Some(text) = foreign::text(file) {
        return Ok(Ok(foreign::plan(file, &text, args)?));
    }
    foreign::only_here(file, &args.foreign)?;
    Ok(Ok(read(file, args)?.written.plan))
}

/// Reads wrktcp's ini file: the plan that it means, or all its mistakes.
fn of_ini(file: &Path) -> Result<Result<Plan, Vec<String>>, Problem> {
    let text = tools::wrktcp::file::read(file).map_err(|error| unreadable(file, &error))?;
    let plan = tools::wrktcp::plan_of(&text, &tools::wrktcp::file::read);
    Ok(plan.map_err(|mistakes| mistakes.iter().map(ToString::to_string).collect()))
}

fn unreadable(file: &Path, error: &std::io::Error) -> Problem {
    Problem::Usage(format!("the plan {} cannot be read: {error}", file.display()))
}

/// A plan, and the files that it names and that cannot be read.
struct PlanRead {
    written: Written,
    /// A line for each.
    warnings: Vec<String>,
}

/// Reads a plan file with what it includes.
fn read(file: &Path, args: &ReadArgs) -> Result<PlanRead, Problem> {
    let folder = Folder::of(file, args.any_files);
    let bytes = files::read(file, files::LONGEST).map_err(|error| unreadable(file, &error))?;
    let main = source(file, bytes).map_err(|why| Problem::Usage(format!("{}: {why}", file.display())))?;
    let find = |path: &str, _: &str| {
        let bytes = folder.read(path, files::LONGEST).map_err(|error| error.to_string())?;
        source(&folder.locate(path), bytes)
    };
    let mut written = Written::read(main, &args.set, &find).map_err(|mistakes| refused(&mistakes))?;
    written.plan.rename_files(&|path| folder.locate(path).display().to_string());
    let warnings = folder.warnings(&written.plan);
    Ok(PlanRead { written, warnings })
}

fn refused(mistakes: &[TextError]) -> Problem {
    let lines: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
    Problem::Usage(lines.join("\nwringer: "))
}

fn source(file: &Path, bytes: Vec<u8>) -> Result<Source, String> {
    let text = String::from_utf8(bytes)
        .map_err(|error| format!("it is not UTF-8 from byte {} on", error.utf8_error().valid_up_to()))?;
    Ok(Source::new(file.display().to_string(), text))
}
