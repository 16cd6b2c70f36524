//! JMeter's plans as files: the one place that reads what such a plan names; the crate `jmeter` says what it means.

use super::programs;
use cli::{JmeterArgs, ReadArgs};
use console::output::notice;
use console::problem::Problem;
use jmeter::{Conversion, Grade, Settings, TestPlan};
use plan::{Plan, Secret};
use session::export::Destination;
use session::files;
use session::folder::Folder;
use std::collections::BTreeMap;
use std::net::{IpAddr, ToSocketAddrs};
use std::path::Path;
use std::sync::Arc;

/// Bytes of a plan, or of a file that it names, at most.
const LONGEST: u64 = 256 << 20;

/// The property that lets a plan read files outside its own folder, as `--any-files` does.
const ANYWHERE: (&str, &str) = ("wringer.files", "anywhere");

/// True if a file is a plan of JMeter, by its name.
pub fn is_jmx(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("jmx"))
}

/// A converted plan, and the files that it names and that are not there.
pub struct Read {
    /// The plan as converted.
    pub conversion: Conversion,
    /// A line for each file that cannot be read.
    pub warnings: Vec<String>,
}

/// The folder of a plan; a property may allow files elsewhere, too.
fn folder(file: &Path, args: &ReadArgs, properties: &BTreeMap<String, String>) -> Folder {
    let anywhere = args.any_files || properties.get(ANYWHERE.0).is_some_and(|value| value == ANYWHERE.1);
    Folder::of(file, anywhere)
}

/// Reads a plan with the properties of a command line.
pub fn read(file: &Path, args: &ReadArgs) -> Result<Read, Problem> {
    let properties = properties(&args.jmeter)?;
    let bytes = files::read(file, LONGEST)
        .map_err(|error| Problem::Usage(format!("the plan {} cannot be read: {error}", file.display())))?;
    let folder = folder(file, args, &properties);
    let of_programs = setting(file, args)?;
    let settings = Settings {
        evaluate: &|language, text, variables| programs::evaluate(&of_programs, language, text, variables),
        properties,
        plan_name: file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
        included: &|path| folder.read(path, LONGEST).ok(),
        looked_up: &looked_up,
        located: &|path| folder.locate(path).display().to_string(),
        unsupported: &programs::unsupported,
        seed: args.jmeter.seed.unwrap_or_else(console::arguments::seed_from_clock),
        now_ms: now_ms(),
    };
    let wrong = |error: jmeter::Error| Problem::Usage(format!("{}: {error}", file.display()));
    let conversion = TestPlan::read(&bytes, &settings).map_err(wrong)?.convert(&settings);
    let warnings = folder.warnings(&conversion.plan);
    Ok(Read { conversion, warnings })
}

/// The addresses of a name, each once.
fn looked_up(name: &str) -> Vec<IpAddr> {
    let mut found: Vec<IpAddr> = Vec::new();
    for address in (name, 0).to_socket_addrs().into_iter().flatten() {
        if !found.contains(&address.ip()) {
            found.push(address.ip());
        }
    }
    found
}

fn now_ms() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Properties of files, then those of the command line, which win.
pub fn properties(args: &JmeterArgs) -> Result<BTreeMap<String, String>, Problem> {
    let mut properties = BTreeMap::new();
    for file in &args.property_files {
        let bytes = files::read(file, LONGEST).map_err(|error| {
            Problem::Usage(format!("the properties {} cannot be read: {error}", file.display()))
        })?;
        properties.extend(jmeter::read_properties(&bytes));
    }
    for typed in &args.properties {
        let (name, value) = typed.split_once('=').unwrap_or((typed, ""));
        properties.insert(name.trim().to_owned(), value.to_owned());
    }
    Ok(properties)
}

/// A plan that is to be run, and what surrounds its programs.
pub struct Runnable {
    /// The plan.
    pub plan: Plan,
    /// Setting of its programs: all that they may ask for.
    pub programs: programs::Setting,
    /// Who is sent figures, as its Backend Listeners say.
    pub sent_to: Vec<Destination>,
    /// The variables of `sample_variables`, as the plan names them.
    pub sample_variables: Vec<String>,
    /// The seed stands in the file, so that the file alone repeats the run.
    pub has_seed: bool,
}

impl Runnable {
    /// A plan that asks for nothing else.
    pub fn of(plan: Plan) -> Runnable {
        Runnable {
            plan,
            programs: programs::Setting::default(),
            sent_to: Vec::new(),
            sample_variables: Vec::new(),
            has_seed: false,
        }
    }
}

/// Returns the setting of the programs of a plan that lies in a file.
pub fn setting(file: &Path, args: &ReadArgs) -> Result<programs::Setting, Problem> {
    let properties = properties(&args.jmeter)?;
    let folder = folder(file, args, &properties);
    let plan_name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let base = file.parent().map(|folder| folder.display().to_string()).unwrap_or_default();
    let read = move |path: &str| folder.read(path, LONGEST).map_err(|error| format!("{path} ({error})"));
    Ok(programs::Setting { properties, plan_name, folder: base, files: Arc::new(read) })
}

/// Reads a plan that is to be run: refuses what does not run wholly, unless that was asked for.
pub fn runnable(file: &Path, args: &ReadArgs) -> Result<Runnable, Problem> {
    let Read { conversion, warnings } = read(file, args)?;
    let name = file.display();
    let missing = conversion.findings.iter().filter(|finding| finding.grade == Grade::Missing);
    let missing: Vec<String> = missing.map(ToString::to_string).collect();
    if !missing.is_empty() && !args.jmeter.skip_unsupported {
        return Err(Problem::Usage(format!(
            "{name}: {} of {} elements cannot run; --skip-unsupported leaves them out, wringer plan check tells all\n  {}",
            missing.len(),
            conversion.elements,
            missing.join("\n  ")
        )));
    }
    missing.iter().for_each(|line| notice(&format!("wringer: left out: {line}")));
    let different = conversion.findings.len() - missing.len();
    if different > 0 {
        notice(&format!(
            "wringer: {different} findings of {name} run differently than in JMeter: wringer plan check tells them"
        ));
    }
    if let Some(warning) = warnings.first() {
        return Err(Problem::impossible(format!("{name}: {warning}")));
    }
    for path in &conversion.endless {
        notice(&format!("wringer: {path} never ends by itself: Ctrl-C ends the run"));
    }
    if conversion.plan.load.is_none() {
        return Err(Problem::Usage(format!("{name}: nothing in it can run")));
    }
    let sent_to = conversion.backends.into_iter().map(destination).collect();
    Ok(Runnable {
        programs: setting(file, args)?,
        sent_to,
        sample_variables: conversion.sample_variables,
        ..Runnable::of(conversion.plan)
    })
}

fn destination(backend: jmeter::Backend) -> Destination {
    let option = match backend.system {
        jmeter::System::Influx => "--influx",
        jmeter::System::Graphite => "--graphite",
    };
    Destination {
        option,
        to: backend.to,
        name: Some(backend.name),
        token: backend.token.map(Secret::typed),
        only: backend.only,
    }
}
