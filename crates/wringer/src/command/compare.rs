//! `wringer compare`: legs of two sides in drawn order, and what may be concluded from them. The schedule and the conclusion are
//! `decide`'s; here legs are run, and what came of them is put into its terms.

use super::http::read;
use super::leg::{self, Answerers, Processes, pids};
use super::show;
use crate::output;
use crate::problem::{Exit, Problem};
use crate::{arguments, signals};
use cli::CompareArgs;
use decide::compare::{Compare, Leg, LegResult, Lengths, Outcome, Pace, Settings, Side};
use decide::machine::{Next, RecordOf, Recorded};
use measure::processes::Unknown;
use measure::{PhaseResult, TimeMetric};
use plan::secret::without_secrets;
use plan::{Arrivals, Phase, Plan, Stop};
use proxies::rig::Started;
use serde::Serialize;
use session::{About, Finished};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time between two legs, in which nothing is sent.
const REST: Duration = Duration::from_secs(1);
/// Most arrivals under way in an open leg.
const IN_FLIGHT: u32 = 10_000;
/// How long a side that was just started may take until it answers, unless --ready says so.
const READY: Duration = Duration::from_secs(30);
/// After this time a command is looked at whether it has ended already.
const BEGINNING: Duration = Duration::from_millis(200);
/// Bytes of an answer may differ by this share before both sides are said to send unlike answers.
const UNLIKE: f64 = 0.01;

/// Runs the command.
pub fn run(args: &CompareArgs) -> Result<Exit, Problem> {
    args.check().map_err(Problem::Usage)?;
    let seed = args.clients.load.seed.unwrap_or_else(arguments::seed_from_clock);
    let settings = settings(args, seed)?;
    if let Some(file) = &args.asked.json {
        output::can_keep("the decision", file)?;
    }
    let mut legs = Legs::new(args, seed)?;
    let mut compare =
        Recorded::<Compare>::start(settings).map_err(|refusal| Problem::Usage(refusal.to_string()))?;
    if let (true, Next::Run(leg)) = (args.asked.show_plan, compare.next()) {
        let told = |(name, plan)| format!("# {name}\n{}", of_leg(plan, leg).to_text());
        show::write(&legs.names.iter().zip(&legs.plans).map(told).collect::<String>());
        return Ok(Exit::Ok);
    }
    show::notice(&format!("comparing A {} with B {}, seed {seed}", legs.names[0], legs.names[1]));
    loop {
        let leg = match compare.next() {
            Next::Run(leg) => leg.clone(),
            Next::Done(outcome) => {
                let outcome = outcome.clone();
                return legs.conclude(args, &compare, &outcome);
            }
        };
        let (number, all) = compare.machine().progress();
        let result = legs.run(&leg, number, all)?;
        if let Some(signal) = signals::first() {
            let pairs = leg.pair.saturating_sub(1);
            show::notice(&format!(
                "ended by hand in leg {number} of {all}, after {pairs} pairs: nothing is concluded"
            ));
            return Ok(Exit::of_signal(signal));
        }
        compare.take(result);
    }
}

fn settings(args: &CompareArgs, seed: u64) -> Result<Settings, Problem> {
    let asked = &args.asked;
    let usual = Settings::new(seed);
    let quick = Settings { pairs: 8, lengths: Lengths::QUICK, ..usual.clone() };
    let usual = if asked.quick { quick } else { usual };
    let settings = Settings {
        pairs: asked.pairs.unwrap_or(usual.pairs),
        users: asked.users,
        fail_if_slower: asked.fail_if_slower,
        require_within: asked.require_within,
        until_sure: asked.until.is_some(),
        anew: !asked.start.is_empty(),
        forecast_only: asked.forecast,
        ..usual
    };
    Ok(settings)
}

/// Both sides, and what was seen of them so far.
struct Legs<'a> {
    args: &'a CompareArgs,
    /// The plan of each side, without a pace.
    plans: [Plan; 2],
    /// As people read them.
    names: [String; 2],
    /// Of all legs of this comparison, in their files.
    label: String,
    files: Vec<Option<PathBuf>>,
    /// The pair that the sides were started for, and they, where commands start them.
    running: Option<(u32, [Started; 2])>,
    /// Processes that answered in the first leg of each side, since they were started.
    answerers: [Answerers; 2],
    /// Answers of the first leg of each side.
    first: [Option<Seen>; 2],
}

/// Facts that are to stay the same from leg to leg of a side.
#[derive(Debug, Clone, PartialEq)]
struct Seen {
    /// Statuses, most frequent first.
    statuses: Vec<u16>,
    bytes_per_answer: f64,
    processes: Processes,
    /// Its address is this machine's, so that one process could be both sides.
    is_here: bool,
}

impl<'a> Legs<'a> {
    fn new(args: &'a CompareArgs, seed: u64) -> Result<Legs<'a>, Problem> {
        let files = read(&args.sent)?;
        let [a, b] = args.sides.as_slice() else { unreachable!("two URLs are required") };
        let plan = |url: &str| args.plan(url, seed, &files).map_err(Problem::Usage);
        Ok(Legs {
            args,
            plans: [plan(a)?, plan(b)?],
            names: [a, b].map(|url| without_secrets(url)),
            label: format!("{seed:x}"),
            files: Vec::new(),
            running: None,
            answerers: Default::default(),
            first: [None, None],
        })
    }

    /// Runs a leg, and says in a line what came of it.
    fn run(&mut self, leg: &Leg, number: usize, all: usize) -> Result<LegResult, Problem> {
        if number > 1 {
            std::thread::sleep(REST);
        }
        let began = Instant::now();
        self.start_for(leg.pair)?;
        let plan = of_leg(&self.plans[leg.side as usize], leg);
        let ready = self.args.clients.load.ready.or(self.running.is_some().then_some(READY));
        let finished = leg::run(&plan, self.about(leg, &plan), ready, leg::SECONDS);
        self.check_started()?;
        let finished = finished?;
        let measured = finished.result.measured();
        self.look(leg.side, &finished, &measured)?;
        let result = result(leg, &finished, &measured, began.elapsed());
        self.files.push(leg::end(finished));
        show::notice(&line(leg, &result, (number, all)));
        Ok(result)
    }

    /// Starts both sides anew for a pair, where commands do.
    fn start_for(&mut self, pair: u32) -> Result<(), Problem> {
        let [a, b] = self.args.asked.start.as_slice() else { return Ok(()) };
        if self.running.as_ref().is_some_and(|(started_for, _)| *started_for == pair) {
            return Ok(());
        }
        // Their ports must be free before.
        self.running = None;
        self.answerers = Default::default();
        let start = |command: &String| {
            Started::start(command).map_err(|error| Problem::impossible(error.to_string()))
        };
        self.running = Some((pair, [start(a)?, start(b)?]));
        // What cannot begin mostly ends at once, and is not to be waited for.
        std::thread::sleep(BEGINNING);
        self.check_started()
    }

    /// A side that was started and has ended is the reason for whatever else went wrong.
    fn check_started(&self) -> Result<(), Problem> {
        let mut started = self.running.iter().flat_map(|(_, started)| started);
        started.try_for_each(Started::check).map_err(|error| Problem::impossible(error.to_string()))
    }

    fn about(&self, leg: &Leg, plan: &Plan) -> About {
        let pace = match leg.pace {
            Pace::Closed { .. } => "closed",
            Pace::Open { .. } => "open",
        };
        let own = [
            ("compare", self.label.clone()),
            ("side", leg.side.name().into()),
            ("leg", leg.number.to_string()),
            ("pace", pace.into()),
        ];
        let target = &self.names[leg.side as usize];
        leg::about(plan, target, &self.args.keep, own)
    }

    /// Whoever answers must stay the same from leg to leg.
    fn look(&mut self, side: Side, finished: &Finished, measured: &PhaseResult) -> Result<(), Problem> {
        self.answerers[side as usize].look(side.name(), finished)?;
        self.first[side as usize].get_or_insert_with(|| Seen::of(finished, measured));
        Ok(())
    }

    /// Facts about both sides that a reader must know before the figures.
    fn facts(&self) -> Vec<String> {
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

    fn conclude(
        &self,
        args: &CompareArgs,
        compare: &Recorded<Compare>,
        outcome: &Outcome,
    ) -> Result<Exit, Problem> {
        let facts = self.facts();
        let is_stdout = args.asked.json.as_deref().is_some_and(output::is_stdout);
        if !is_stdout {
            let told: String = facts.iter().map(|fact| format!("{fact}\n")).collect();
            show::write(&format!("{told}{}", outcome.text()));
        }
        show::step_summary(|| report::summary::fenced(&outcome.text()));
        if let Some(file) = &args.asked.json {
            let decision = Decision {
                schema: "wringer.comparison",
                schema_version: 1,
                version: env!("CARGO_PKG_VERSION"),
                a: &self.names[0],
                b: &self.names[1],
                facts: &facts,
                exit: outcome.end().code(),
                text: outcome.headline(),
                outcome,
                record: compare.record(),
                files: self.files.iter().map(Option::as_deref).collect(),
            };
            let text = serde_json::to_string_pretty(&decision).expect("figures and texts are JSON") + "\n";
            output::keep("the decision", file, text.as_bytes())?;
        }
        Ok(match outcome.end().code() {
            0 => Exit::Ok,
            3 => Exit::Wrong,
            _ => Exit::Impossible,
        })
    }
}

/// A comparison as it is written: anybody can conclude from it again.
#[derive(Serialize)]
struct Decision<'a> {
    schema: &'static str,
    schema_version: u32,
    version: &'static str,
    a: &'a str,
    b: &'a str,
    facts: &'a [String],
    exit: u8,
    text: String,
    outcome: &'a Outcome,
    record: &'a RecordOf<Compare>,
    /// The run file of each leg, in their order; `null`: it is not kept.
    files: Vec<Option<&'a Path>>,
}

impl Seen {
    fn of(finished: &Finished, measured: &PhaseResult) -> Seen {
        let mut statuses: Vec<(u16, u64)> = measured.tally.statuses().collect();
        statuses.sort_by_key(|(status, count)| (std::cmp::Reverse(*count), *status));
        let answers: u64 = statuses.iter().map(|(_, count)| count).sum();
        let behind = &finished.result.processes.before;
        Seen {
            statuses: statuses.into_iter().map(|(status, _)| status).collect(),
            is_here: behind.iter().all(|behind| behind.unknown != Some(Unknown::AnotherMachine)),
            bytes_per_answer: measured.counts().body_bytes as f64 / answers.max(1) as f64,
            processes: leg::processes(finished),
        }
    }
}

/// The plan of a side at a leg's pace.
fn of_leg(side: &Plan, leg: &Leg) -> Plan {
    let mut plan = side.clone();
    // Plans in TOML have numbers of 63 bits.
    plan.seed = leg.seed >> 1;
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
    load.phases = vec![phase("warm-up", false, leg.warm_s), phase("measure", true, leg.measure_s)];
    plan
}

fn result(leg: &Leg, finished: &Finished, measured: &PhaseResult, took: Duration) -> LegResult {
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
        void: leg::void(finished, leg::Overflow::OfGenerator),
        measured_s: leg.measure_s,
        due: counts.requests + finished.result.self_check.overflow,
        good: counts.ok,
        failures,
        faulty: counts.check_failed,
        cpu_s: finished.target_cpu(),
        p50_ms: at(0.5),
        p99_ms: at(0.99),
    }
}

/// A leg in a line.
fn line(leg: &Leg, result: &LegResult, (number, all): (usize, usize)) -> String {
    let pair = if leg.pair == 0 { "uncounted".to_owned() } else { format!("pair {}", leg.pair) };
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
        "leg {number} of {all} ({pair}) {} {pace}: {:.0}/s, p50 {}, p99 {}{failed}{void}",
        leg.side.name(),
        result.good_per_s(),
        ms(result.p50_ms),
        ms(result.p99_ms)
    )
}
