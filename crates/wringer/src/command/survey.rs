//! `wringer rig NAME --survey`: what a cache keeps of all that an origin may send, found out by asking, in one table.
//!
//! Start reading at [`run`]; [`rows`] has what is asked.

use super::leg;
use super::pressed::{self, Pressed};
use super::{around, show};
use crate::problem::{Exit, Problem};
use crate::{arguments, signals};
use cli::{RigCommandArgs, Target, reachable};
use decide::words;
use measure::PhaseResult;
use net::ports;
use plan::site::{Freshness, Keys, Size, VaryOn};
use plan::{
    Field, Http, Law, Load, ObjectStep, Origin, Pace, Phase, Plan, Popularity, Protocol, Scenario, Site,
    Step, Stop,
};
use proxies::rig::{RigOptions, Setting};
use session::{About, SessionOptions};
use std::net::SocketAddr;
use std::time::Duration;

/// Objects that are asked for, and requests for them once each was answered.
const OBJECTS: u64 = 20;
const REQUESTS: u64 = 400;
/// Users at a time.
const USERS: u32 = 4;
/// Bytes of an object where nothing else is asked.
const BYTES: u64 = 3_000;
/// How long a row may take.
const LIMIT: Duration = Duration::from_secs(20);
/// Shares of hits from which on something is kept, and up to which it is not.
const KEPT: f64 = 0.9;
const NOT_KEPT: f64 = 0.02;

/// A row of the table: what is sent, and how it is asked for.
struct Asked {
    what: &'static str,
    site: Site,
    origin: Origin,
    fields: Vec<Field>,
    step: ObjectStep,
}

/// The rows of the table.
fn rows() -> Vec<Asked> {
    let plain = |what| Asked {
        what,
        site: Site { size: Size::Fixed(BYTES), ..Site::default() },
        origin: Origin::default(),
        fields: Vec::new(),
        step: ObjectStep::default(),
    };
    let of = |what, change: fn(&mut Asked)| {
        let mut asked = plain(what);
        change(&mut asked);
        asked
    };
    vec![
        plain("max-age"),
        of("s-maxage", |asked| asked.site.freshness = Freshness::SMaxage),
        of("Expires", |asked| asked.site.freshness = Freshness::Expires),
        of("max-age beyond 64 bits", |asked| asked.site.freshness = Freshness::Huge),
        of("no ETag, no Last-Modified", |asked| {
            (asked.site.etag, asked.site.last_modified) = (false, false);
        }),
        of("in chunks", |asked| asked.origin.chunked = 1.0),
        of("empty", |asked| asked.site.size = Size::Fixed(0)),
        of("empty, in chunks", |asked| {
            asked.site.size = Size::Fixed(0);
            asked.origin.chunked = 1.0;
        }),
        of("404 and 410 with a lifetime", |asked| {
            asked.site.change_every = Some(Duration::from_secs(86_400));
            asked.site.gone = 0.999;
        }),
        of("Set-Cookie", |asked| asked.origin.fields = vec![Field::new("Set-Cookie", "id=1")]),
        of("Authorization, max-age", |asked| asked.fields = vec![authorization()]),
        of("Authorization, s-maxage", |asked| {
            asked.fields = vec![authorization()];
            asked.site.freshness = Freshness::SMaxage;
        }),
        of("Cookie in requests", |asked| asked.fields = vec![Field::new("Cookie", "id=1")]),
        of("three variants (Vary)", |asked| asked.site.variants = 3),
        of("codings (Vary: Accept-Encoding)", |asked| asked.site.vary_on = VaryOn::Coding),
        of("keys that look alike", |asked| asked.site.keys = Keys::LookAlike),
        of("HEAD of what is kept", |asked| asked.step.head = 1.0),
        of("ranges of what is kept", |asked| asked.step.range = 1.0),
        of("no-cache in requests", |asked| asked.step.reload = 1.0),
    ]
}

fn authorization() -> Field {
    Field::new("Authorization", "Basic d3Jpbmdlcjo=")
}

/// Makes the table.
///
/// # Errors
/// The proxy is not installed, or does not start.
pub fn run(args: &RigCommandArgs) -> Result<Exit, Problem> {
    let origin = ports::free_address(SocketAddr::from(([127, 0, 0, 1], 0)))
        .map_err(|error| Problem::impossible(format!("there is no free port for the origin: {error}")))?;
    let mut survey = Survey { args, origin, pressed: None, asked: 0 };
    let mut table = Vec::new();
    for asked in rows() {
        let found = survey.ask(&asked)?;
        if let Some(signal) = signals::first() {
            show::notice("ended by hand: nothing is concluded");
            return Ok(Exit::of_signal(signal));
        }
        show::notice(&format!("{}: {}", asked.what, text(&found)));
        table.push(format!("| {} | {} |\n", asked.what, text(&found)));
    }
    let title = survey.pressed.as_ref().map_or_else(|| args.name.clone(), |(pressed, _)| pressed.title());
    show::write(&format!("{title}\n\n| what is sent | what is kept |\n|---|---|\n{}", table.concat()));
    Ok(Exit::Ok)
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
    origin: SocketAddr,
    pressed: Option<(Pressed, String)>,
    /// Rows so far: each has objects of its own, so that none is a hit of what another row stored.
    asked: u8,
}

impl Survey<'_> {
    fn ask(&mut self, asked: &Asked) -> Result<PhaseResult, Problem> {
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
            &Target::Rig { name: self.args.name.clone(), workers: self.args.workers },
            listen,
            options,
        )
    }

    /// All objects once, in order, and then any of them.
    fn plan(&self, asked: &Asked, target: &str) -> Plan {
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
