//! `wringer rig NAME --survey`: what a cache keeps of all that an origin may send, found out by asking, in one table.
//!
//! Start reading at [`run`]; `rows.rs` has what is asked.

mod rows;

use super::leg;
use super::pressed::{self, Pressed};
use super::{around, show};
use crate::problem::{Exit, Problem};
use crate::{arguments, signals};
use cli::{RigCommandArgs, Target, reachable};
use decide::words;
use measure::PhaseResult;
use net::ports;
use plan::{
    Http, Law, Load, ObjectStep, Origin, Pace, Phase, Plan, Popularity, Protocol, Scenario, Step, Stop,
};
use proxies::rig::{RigOptions, Setting, named};
use rows::{SurveyAsked, rows};
use session::{About, SessionOptions};
use std::net::SocketAddr;
use std::time::Duration;

/// Objects that are asked for, and requests for them once each was answered.
const OBJECTS: u64 = 20;
const REQUESTS: u64 = 400;
/// Users at a time.
const USERS: u32 = 4;
/// How long a row may take.
const LIMIT: Duration = Duration::from_secs(20);
/// Shares of hits from which on something is kept, and up to which it is not.
const KEPT: f64 = 0.9;
const NOT_KEPT: f64 = 0.02;

/// Makes the table, with a column for each cache.
///
/// # Errors
/// A proxy does not exist, is not installed, or does not start.
pub fn run(args: &RigCommandArgs) -> Result<Exit, Problem> {
    let names: Vec<&str> = args.name.split(',').collect();
    for name in &names {
        named(name).map_err(|error| Problem::Usage(error.to_string()))?;
    }
    if names.len() > 1 && (args.from.is_some() || !args.set.is_empty()) {
        let text = "--from and --set are of one proxy, and several were named: give one NAME";
        return Err(Problem::Usage(text.to_owned()));
    }
    let mut titles = Vec::new();
    let mut columns = Vec::new();
    for name in &names {
        match column(args, name)? {
            Column::Made { title, cells } => {
                titles.push(title + "\n");
                columns.push(cells);
            }
            Column::EndedByHand(exit) => return Ok(exit),
        }
    }
    let heads = if names.len() == 1 { vec!["what is kept"] } else { names };
    let line = |first: &str, cells: Vec<&str>| format!("| {first} | {} |\n", cells.join(" | "));
    let mut table = line("what is sent", heads.clone()) + &"|---".repeat(heads.len() + 1) + "|\n";
    for (number, asked) in rows().iter().enumerate() {
        let cells = columns.iter().filter_map(|cells| cells.get(number)).map(String::as_str);
        table += &line(asked.what, cells.collect());
    }
    show::write(&format!("{}\n{table}", titles.concat()));
    Ok(Exit::Ok)
}

/// A proxy's part of the table.
enum Column {
    /// Its title, and a cell for each row.
    Made { title: String, cells: Vec<String> },
    /// A signal came before it was whole.
    EndedByHand(Exit),
}

/// Asks one proxy for all rows.
fn column(args: &RigCommandArgs, name: &str) -> Result<Column, Problem> {
    let origin = ports::free_address(SocketAddr::from(([127, 0, 0, 1], 0)))
        .map_err(|error| Problem::impossible(format!("there is no free port for the origin: {error}")))?;
    let mut survey = Survey { args, name, origin, pressed: None, asked: 0 };
    let mut cells = Vec::new();
    for asked in rows() {
        let found = text(&survey.ask(&asked)?);
        if let Some(signal) = signals::first() {
            show::notice("ended by hand: nothing is concluded");
            return Ok(Column::EndedByHand(Exit::of_signal(signal)));
        }
        show::notice(&format!("{name}, {}: {found}", asked.what));
        cells.push(found);
    }
    let title = survey.pressed.as_ref().map_or_else(|| name.to_owned(), |(pressed, _)| pressed.title());
    Ok(Column::Made { title, cells })
}

/// The second column of a row.
fn text(found: &PhaseResult) -> String {
    let counts = found.counts();
    let answers = counts.hits + counts.misses + counts.revalidated + counts.collapsed;
    let hits = (counts.hits + counts.revalidated) as f64 / answers.max(1) as f64;
    let kept = match () {
        () if answers == 0 => "nothing is known: no answer says whether it is a hit".to_owned(),
        () if hits >= KEPT => "kept".to_owned(),
        () if hits <= NOT_KEPT => "not kept".to_owned(),
        () => format!("in part: {} hits", words::percent(hits)),
    };
    let faults = found.tally.faults().map(|(fault, count)| format!("; {}: {count}", fault.text()));
    let failures =
        (counts.failed > 0).then(|| format!("; {} of {} requests failed", counts.failed, counts.requests));
    let confirmed =
        (counts.revalidated > counts.hits).then(|| ", each time with the origin's word".to_owned());
    [Some(kept), confirmed, failures].into_iter().flatten().chain(faults).collect()
}

struct Survey<'a> {
    args: &'a RigCommandArgs,
    name: &'a str,
    origin: SocketAddr,
    pressed: Option<(Pressed, String)>,
    /// Rows so far: each has objects of its own, so that none is a hit of what another row stored.
    asked: u8,
}

impl Survey<'_> {
    fn ask(&mut self, asked: &SurveyAsked) -> Result<PhaseResult, Problem> {
        let target = match &self.pressed {
            Some((_, target)) => target.clone(),
            None => pressed::any_port()?.to_string(),
        };
        let plan = self.plan(asked, &target);
        let around = around::options(SessionOptions {
            cache_bytes: Some(self.args.memory),
            ready: Some(LIMIT),
            ..SessionOptions::default()
        })?;
        // The origin comes first: some proxies take an origin that does not answer at once for dead.
        let ready = session::prepare(&plan, &around, false)?;
        if self.pressed.is_none() {
            self.pressed = Some((self.start(&target)?, target.clone()));
        }
        let about = About {
            door: "cache",
            command: arguments::repeat(&plan, None),
            target: Some(target),
            ..About::default()
        };
        let finished = ready.about(about).run(None, &mut leg::Quiet)?;
        let measured = finished.result.measured();
        leg::end(finished);
        self.asked += 1;
        Ok(measured)
    }

    fn start(&self, listen: &str) -> Result<Pressed, Problem> {
        let setting = |(key, value): &(String, String)| Setting { key: key.clone(), value: value.clone() };
        let settings = self.args.set.iter().map(setting).collect();
        let options = RigOptions {
            origin: reachable(self.origin),
            memory_bytes: self.args.memory,
            honour_reload: self.args.honour_reload,
            from: self.args.from.clone(),
            settings,
            ..RigOptions::default()
        };
        pressed::start(
            &Target::Rig { name: self.name.to_owned(), workers: self.args.workers },
            listen,
            options,
        )
    }

    /// All objects once, in order, and then any of them.
    fn plan(&self, asked: &SurveyAsked, target: &str) -> Plan {
        let phase = |name: &str, measured: bool, law, requests| Phase {
            name: name.to_owned(),
            measured,
            scenario: Scenario::of(vec![Step::Object(ObjectStep {
                popularity: Popularity {
                    hot: OBJECTS,
                    law,
                    one_timers: 0.0,
                    set: self.asked,
                    drift_per_hour: 0.0,
                },
                ..if measured { asked.step.clone() } else { ObjectStep::default() }
            })]),
            pace: Pace::Users(USERS),
            stop: Stop { requests: Some(requests), after: Some(LIMIT), ..Stop::default() },
            ..Phase::default()
        };
        let objects = OBJECTS * u64::from(asked.site.variant_count());
        let http = Http {
            authority: reachable(self.origin).to_string(),
            fields: asked.fields.clone(),
            ..Http::default()
        };
        let load = Load {
            target: Some(target.to_owned()),
            protocol: Protocol::Http(http),
            phases: vec![
                phase("fill", false, Law::InOrder, objects),
                phase("measure", true, Law::Uniform, REQUESTS),
            ],
            ..Load::default()
        };
        Plan {
            version: Plan::VERSION,
            seed: 7,
            threads: Some(1),
            io: plan::Io::Auto,
            site: asked.site.clone(),
            load: Some(load),
            origin: Some(Origin { listen: self.origin.to_string(), ..asked.origin.clone() }),
        }
    }
}
