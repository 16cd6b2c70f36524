//! Legs of a comparison: a plan of each, its run, and what was seen of both sides so far.

use super::looking::{Looking, MEASURE};
use super::sides::{Both, Places, Running, Sides, are_builds};
use crate::command::leg::{self, Answerers, pids};
use crate::command::{cache, fleet, show};
use crate::problem::Problem;
use cli::CompareArgs;
use decide::compare::{Compare, Hits, Leg, LegResult, Pace, Side, SideSeen};
use measure::processes::{Process, Unknown};
use measure::{Counts, PhaseResult, TimeMetric};
use plan::{Arrivals, Phase, Plan, Stop};
use session::{About, Finished, SessionOptions};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Time between two legs, in which nothing is sent.
const REST: Duration = Duration::from_secs(1);
/// Most arrivals under way in an open leg.
const IN_FLIGHT: u32 = 10_000;
/// How long a side that a command has just started may take until it answers, unless --ready says so.
const READY: Duration = Duration::from_secs(30);
/// Bytes of an answer may differ by this share before both sides are said to send unlike answers.
const UNLIKE: f64 = 0.01;

/// Both sides, and what was seen of them so far.
pub struct Legs<'a> {
    args: &'a CompareArgs,
    pub sides: Sides,
    /// As people read them.
    pub names: [String; 2],
    seed: u64,
    /// Of all legs of this comparison, in their files.
    label: String,
    pub files: Vec<Option<PathBuf>>,
    /// The pair that the sides were started for, and they, where they are started here.
    running: Option<Running>,
    /// Ports of that pair, where the sides are proxies.
    places: Option<Places>,
    /// Processes that answered in the first leg of each side, since they were started.
    answerers: [Answerers; 2],
    /// Answers of the first leg of each side.
    pub first: [Option<SideSeen>; 2],
}

impl<'a> Legs<'a> {
    pub fn new(args: &'a CompareArgs, seed: u64) -> Result<Legs<'a>, Problem> {
        let sides = Sides::new(args, seed)?;
        Ok(Legs {
            args,
            names: sides.names(),
            sides,
            seed,
            label: format!("{seed:x}"),
            files: Vec::new(),
            running: None,
            places: None,
            answerers: Default::default(),
            first: [None, None],
        })
    }

    /// Goes on where a comparison ended. Whoever runs already must be who answered then.
    pub fn go_on(&mut self, seen: [Option<SideSeen>; 2], files: Vec<Option<PathBuf>>) {
        if !self.sides.are_started() {
            for (answerers, seen) in self.answerers.iter_mut().zip(&seen) {
                *answerers =
                    seen.as_ref().map_or_else(Answerers::default, |seen| Answerers::of(&seen.processes));
            }
        }
        self.first = seen;
        self.files = files;
    }

    /// The plan of a leg, as either side would be asked it.
    pub fn shown(&self, leg: &Leg) -> Result<String, Problem> {
        let told = |side: Side| -> Result<String, Problem> {
            let leg = Leg { side, ..leg.clone() };
            let plan = self.sides.plan(&leg, self.args, self.seed, None)?;
            Ok(format!("# {}\n{}", self.names[side as usize], of_leg(&plan, &leg).to_shown_text()))
        };
        Ok(told(Side::A)? + &told(Side::B)?)
    }

    /// Runs the next leg, and says in a line what came of it.
    pub fn run(&mut self, leg: &Leg, compare: &Compare) -> Result<LegResult, Problem> {
        let (number, all) = compare.progress();
        if number > 1 {
            std::thread::sleep(REST);
        }
        let began = Instant::now();
        let ran = match &self.sides {
            Sides::Urls { .. } => self.run_url(leg),
            Sides::Proxies(_) => self.run_proxy(leg),
        };
        // A side that was started and has ended is the reason for whatever else went wrong.
        self.running.iter().try_for_each(Running::check)?;
        let (finished, looking) = ran?;
        let measured = finished.result.measured();
        self.look(leg, &finished, &measured)?;
        let mut result = result(leg, &finished, &looking, began.elapsed());
        if result.void.is_none() {
            result.void = compare.void_beyond_usual(&result);
        }
        self.files.push(leg::end(finished));
        show::tell(&line(leg, &result, &format!("leg {number} of {all}")));
        Ok(result)
    }

    fn run_url(&mut self, leg: &Leg) -> Result<(Finished, Looking), Problem> {
        self.end_others(leg);
        self.start_for(leg)?;
        let plan = of_leg(&self.sides.plan(leg, self.args, self.seed, None)?, leg);
        let ready = self.args.clients.load.wait.ready.or(self.running.is_some().then_some(READY));
        let fleet = fleet::asked(&self.args.fleet)?;
        let options = SessionOptions { ready, interval: leg::SECONDS, fleet, ..SessionOptions::default() };
        let about = self.about(leg, &plan, "http");
        let ran = leg::run_seen(&plan, about, options, || Ok((None, Looking::at(&self.resting(leg)))))?;
        if !ran.0.result.agents.is_empty() {
            leg::refuse_broken(&ran.0)?;
        }
        Ok(ran)
    }

    fn run_proxy(&mut self, leg: &Leg) -> Result<(Finished, Looking), Problem> {
        self.end_others(leg);
        if self.running.is_none() {
            self.places = Some(Places::free(&self.args.started.place)?);
        }
        let Sides::Proxies(sides) = &self.sides else { unreachable!("they are proxies") };
        let cache = self.args.cache(&sides[leg.asked() as usize]).map_err(Problem::Usage)?;
        let plan = of_leg(&self.sides.plan(leg, self.args, self.seed, self.places)?, leg);
        let options = SessionOptions {
            interval: leg::SECONDS,
            cache_bytes: cache::cache_bytes(
                &cache.target(),
                cache.memory(),
                cache.started.place.cache_memory,
            ),
            ..SessionOptions::default()
        };
        let about = self.about(leg, &plan, "cache");
        leg::run_seen(&plan, about, options, || {
            self.start_for(leg)?;
            let looking = Looking::at(&self.resting(leg));
            Ok((self.running.as_ref().and_then(|running| running.pressed(leg.side)), looking))
        })
    }

    /// Processes of the side that is not asked in a leg, as far as they are known.
    fn resting(&self, leg: &Leg) -> Vec<u32> {
        if let Some(running) = &self.running {
            return running.pids(leg.side.other());
        }
        // Whoever runs already is one and the same A.
        let [Some(a), Some(b)] = &self.first else { return Vec::new() };
        let (asked, other) = if leg.asked() == Side::A { (a, b) } else { (b, a) };
        let is_asked = |pid: &u32| asked.processes.iter().any(|(own, _)| own == pid);
        let others: Vec<u32> = other.processes.iter().map(|(pid, _)| *pid).collect();
        if leg.control || others.iter().any(is_asked) { Vec::new() } else { others }
    }

    /// Ends the sides of another pair; their ports must be free before the next ones are started.
    fn end_others(&mut self, leg: &Leg) {
        if self.running.as_ref().is_some_and(|running| !running.is_for(leg)) {
            self.running = None;
            self.answerers = Default::default();
        }
    }

    /// Starts both sides anew for a pair, where they are started here.
    fn start_for(&mut self, leg: &Leg) -> Result<(), Problem> {
        if self.running.is_none() {
            self.running = Running::start(&self.sides, leg, self.args, self.places)?;
            self.take_names();
        }
        Ok(())
    }

    /// Proxies that are started tell their versions.
    fn take_names(&mut self) {
        let Some(Running { started: Both::Proxies(pressed), .. }) = &self.running else { return };
        if self.running.as_ref().is_some_and(|running| running.is_control()) {
            return;
        }
        let typed = self.sides.names();
        for (side, name) in typed.into_iter().enumerate() {
            let status = || None;
            let version = pressed[side].started(&status).and_then(|started| started.version);
            self.names[side] = version.map_or(name.clone(), |version| format!("{name} {version}"));
        }
    }

    fn about(&self, leg: &Leg, plan: &Plan, door: &'static str) -> About {
        let pace = match leg.pace {
            Pace::Closed { .. } => "closed",
            Pace::Open { .. } => "open",
        };
        let own = [
            ("compare", self.label.clone()),
            ("side", leg.side_name().into()),
            ("leg", leg.number.to_string()),
            ("pace", pace.into()),
        ];
        let target = &self.names[leg.asked() as usize];
        About { door, ..leg::about(plan, target, &self.args.keep, own) }
    }

    /// Whoever answers must stay the same from leg to leg, and the program from pair to pair.
    fn look(&mut self, leg: &Leg, finished: &Finished, measured: &PhaseResult) -> Result<(), Problem> {
        // Whoever runs already is one and the same A; what is started are two of them.
        let place = if self.running.is_some() { leg.side } else { leg.asked() };
        self.answerers[place as usize].look(leg.side_name(), finished)?;
        let now = seen(finished, measured);
        let first = self.first[leg.asked() as usize].get_or_insert_with(|| now.clone());
        if let Some(before) = &first.program
            && let Some(program) = &now.program
            && !before.is_same_program(program)
        {
            let said = |program: &Process| {
                let path = program.executable.clone().unwrap_or_else(|| program.name.clone());
                let build = program.build_id.clone().map_or_else(String::new, |id| format!(", build {id}"));
                path + &build
            };
            return Err(Problem::impossible(format!(
                "{} is another program than in its first leg ({} instead of {}): it was replaced in the middle; nothing is concluded",
                leg.side_name(),
                said(program),
                said(before)
            )));
        }
        Ok(())
    }

    /// Facts about both sides that a reader must know before the figures.
    pub fn facts(&self) -> Vec<String> {
        let [Some(a), Some(b)] = &self.first else { return Vec::new() };
        let mut facts = Vec::new();
        if !a.processes.is_empty() && a.processes == b.processes {
            facts.push(format!(
                "both sides are answered by one and the same process ({}): this compares two URLs, not two builds",
                pids(&a.processes)
            ));
        }
        if a.is_here && b.is_here && (a.processes.is_empty() || b.processes.is_empty()) {
            facts.push(
                "who answers is not known of both sides: they may be one and the same process".to_owned(),
            );
        }
        facts.extend(self.same_fact(a, b));
        if a.statuses != b.statuses {
            facts.push(format!(
                "the sides answer with unlike statuses: A {:?}, B {:?}",
                a.statuses, b.statuses
            ));
        }
        let of_a = a.bytes_per_answer;
        let of_b = b.bytes_per_answer;
        if (of_a - of_b).abs() > UNLIKE * of_a.max(of_b) {
            facts.push(format!("the sides send unlike answers: A {of_a:.0} bytes each, B {of_b:.0}"));
        }
        facts
    }

    /// Sides that wringer starts and that do not differ.
    fn same_fact(&self, a: &SideSeen, b: &SideSeen) -> Option<String> {
        let Sides::Proxies([side_a, side_b]) = &self.sides else { return None };
        if side_a == side_b {
            return Some(
                "both sides are the same proxy with the same settings: what differs is chance".to_owned(),
            );
        }
        let build = a.program.as_ref()?.build_id.as_ref()?;
        (are_builds(&self.sides) && b.program.as_ref()?.build_id.as_ref() == Some(build)).then(|| {
            format!("both folders hold one and the same build ({build}): see that the one you mean was built")
        })
    }
}

/// Answers of a leg, and who gave them.
fn seen(finished: &Finished, measured: &PhaseResult) -> SideSeen {
    let mut statuses: Vec<(u16, u64)> = measured.tally.statuses().collect();
    statuses.sort_by_key(|(status, count)| (std::cmp::Reverse(*count), *status));
    let answers: u64 = statuses.iter().map(|(_, count)| count).sum();
    let behind = &finished.result.processes.before;
    SideSeen {
        statuses: statuses.into_iter().map(|(status, _)| status).collect(),
        is_here: behind.iter().all(|behind| behind.unknown != Some(Unknown::AnotherMachine)),
        bytes_per_answer: measured.counts().body_bytes as f64 / answers.max(1) as f64,
        program: behind.iter().flat_map(|behind| &behind.processes).next().cloned(),
        processes: leg::processes(finished),
    }
}

/// The plan of a side at a leg's pace.
fn of_leg(side: &Plan, leg: &Leg) -> Plan {
    let mut plan = side.clone();
    plan.seed = crate::arguments::plan_seed(leg.seed);
    let load = plan.load.as_mut().expect("http has a load");
    let pace = match leg.pace {
        Pace::Closed { users } => plan::Pace::Users(users),
        Pace::Open { rate } => {
            plan::Pace::Rate { per_second: rate, arrivals: Arrivals::Poisson, in_flight: IN_FLIGHT }
        }
    };
    let asked = load.phases.pop().expect("http has a phase");
    let phase = |name: &str, measured, seconds: f64| Phase {
        name: name.to_owned(),
        measured,
        stop: Stop { after: Some(Duration::from_secs_f64(seconds)), ..Stop::default() },
        pace: pace.clone(),
        ..asked.clone()
    };
    // What is left goes before: it fills a cache.
    load.phases.extend([phase("warm-up", false, leg.warm_s), phase(MEASURE, true, leg.measure_s)]);
    plan
}

fn result(leg: &Leg, finished: &Finished, looking: &Looking, took: Duration) -> LegResult {
    let measured = finished.result.measured();
    let counts = measured.counts();
    let mut failures: BTreeMap<String, u64> = BTreeMap::new();
    for (failure, count) in measured.tally.failures() {
        *failures.entry(failure.kind.text().to_owned()).or_default() += count;
    }
    if counts.unfinished > 0 {
        failures.insert("unfinished".to_owned(), counts.unfinished);
    }
    let response = measured.tally.metric(TimeMetric::Response);
    let at = |quantile| (!response.is_empty()).then(|| response.value_at_quantile(quantile) as f64 / 1e3);
    LegResult {
        took_s: took.as_secs_f64() + REST.as_secs_f64(),
        void: leg::void_but_for_the_machine(finished).or_else(|| looking.void()),
        measured_s: leg.measure_s,
        due: counts.requests + finished.result.self_check.overflow,
        good: counts.ok,
        failures,
        faulty: counts.check_failed,
        cpu_s: finished.target_cpu(),
        p50_ms: at(0.5),
        p99_ms: at(0.99),
        hits: hits(counts),
        halves: looking.halves(),
        resting_cores: looking.resting_cores(),
        stolen: finished.result.self_check.contention.stolen,
        late_ms: finished.result.self_check.late_with_cpu_to_spare().map(|late| late.as_secs_f64() * 1e3),
    }
}

/// Hits among the answers whose stamps tell where they came from.
fn hits(counts: &Counts) -> Option<Hits> {
    let of = counts.hits + counts.misses + counts.revalidated + counts.collapsed;
    (of > 0).then_some(Hits { hits: counts.hits, of })
}

/// A leg in a line.
fn line(leg: &Leg, result: &LegResult, which: &str) -> String {
    let pair = match (leg.control, leg.pair) {
        (true, pair) => format!("control {pair}"),
        (false, 0) => "uncounted".to_owned(),
        (false, pair) => format!("pair {pair}"),
    };
    let pace = match leg.pace {
        Pace::Closed { users } => format!("{users} users"),
        Pace::Open { rate } => format!("{rate:.0}/s"),
    };
    let ms = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.2} ms"));
    let failed = match result.failed() {
        0 => String::new(),
        failed => format!(", {failed} failed"),
    };
    let void = leg::void_text(result.void.as_ref());
    format!(
        "{which} ({pair}) {} {pace}: {:.0}/s, p50 {}, p99 {}{failed}{void}",
        leg.side_name(),
        result.good_per_s(),
        ms(result.p50_ms),
        ms(result.p99_ms)
    )
}
