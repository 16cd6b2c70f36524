//! `wringer find`: the highest rate that keeps limits. Which trials are run and what follows from them is `decide`'s; here they are run, and their rows are
//! handed over.

use super::http::read;
use super::leg::{self, Answerers, Overflow, Rows};
use super::show;
use crate::output;
use crate::problem::{Exit, Problem};
use crate::{arguments, signals};
use decide::find::{
    Beside, Burdens, Conclusion, Cut, Find, Limit, Outcome, Pace, Purpose, Settings, Trial, TrialResult,
    forecast,
};
use decide::machine::{Next, RecordOf, Recorded};
use decide::words;
use doors::native::FindArgs;
use plan::secret::without_secrets;
use plan::{Arrivals, Metric, Plan, Stage, Statistic, Stop, Threshold};
use serde::Serialize;
use session::{About, Finished};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time between two trials, in which nothing is sent.
const REST: Duration = Duration::from_millis(500);
/// Most arrivals under way in an open trial; what is due beyond that breaks its rate.
const IN_FLIGHT: u32 = 10_000;
/// Answers to the last requests of a trial are waited for at least so long, and as long as the longest limit.
const GRACE: Duration = Duration::from_secs(1);
/// And somewhat longer than that limit, so that what comes just behind it is seen.
const BEYOND: f64 = 1.1;

/// Runs the command.
pub fn run(args: &FindArgs) -> Result<Exit, Problem> {
    args.check().map_err(Problem::Usage)?;
    let seed = args.clients.load.seed.unwrap_or_else(arguments::seed_from_clock);
    let settings = settings(args, seed);
    if let Some(file) = &args.sought.json {
        output::can_keep("the conclusion", file)?;
    }
    let mut find =
        Recorded::<Find>::start(settings.clone()).map_err(|refusal| Problem::Usage(refusal.to_string()))?;
    let mut trials = Trials::new(args, settings)?;
    if let (true, Next::Run(trial)) = (args.sought.show_plan, find.next()) {
        show::write(&trials.plan_of(trial).to_text());
        return Ok(Exit::Ok);
    }
    show::notice(&format!(
        "looking for the highest rate of {} that keeps {}, in {} at most, seed {seed}",
        trials.name,
        words::list(&trials.settings.limits.iter().map(|limit| limit.text()).collect::<Vec<_>>()),
        words::time(trials.settings.budget_s),
    ));
    loop {
        let trial = match find.next() {
            Next::Run(trial) => trial.clone(),
            Next::Done(outcome) => {
                let conclusion = trials.concluded(&find, outcome);
                let text = conclusion.text();
                trials.tell(&find, &conclusion, &text, conclusion.end().code())?;
                return Ok(match conclusion.end().code() {
                    0 => Exit::Ok,
                    3 => Exit::Wrong,
                    _ => Exit::Impossible,
                });
            }
        };
        let result = trials.run(&trial)?;
        if let Some(signal) = signals::first() {
            let conclusion = trials.concluded(&find, &find.machine().so_far());
            let exit = Exit::of_signal(signal);
            trials.tell(&find, &conclusion, &conclusion.text(), exit.number())?;
            return Ok(exit);
        }
        find.take(result.clone());
        show::notice(&line(&trial, &result, &find));
        if args.sought.forecast && trial.purpose == Purpose::Saturated && result.void.is_none() {
            let conclusion = trials.concluded(&find, &find.machine().so_far());
            let told = conclusion.closed.map(|closed| forecast(&trials.settings, &closed));
            trials.tell(&find, &conclusion, &told.expect("the users have answered"), 0)?;
            return Ok(Exit::Ok);
        }
    }
}

fn settings(args: &FindArgs, seed: u64) -> Settings {
    let sought = &args.sought;
    Settings {
        seed,
        limits: sought.slos.iter().map(limit).collect(),
        arrivals: match sought.arrivals {
            Arrivals::Even => decide::find::Arrivals::Even,
            // The command line lets no others pass.
            Arrivals::Poisson | Arrivals::Bursts(_) | Arrivals::EachSecond | Arrivals::Jitter(_) => {
                decide::find::Arrivals::Poisson
            }
        },
        within: sought.within,
        budget_s: sought.budget.as_secs_f64(),
        users: sought.users,
    }
}

/// A limit in the terms of the search. The command line lets no other kinds pass.
fn limit(typed: &Threshold) -> Limit {
    let limit_ms = typed.limit / 1e3;
    match typed.metric {
        Metric::Time(_, Statistic::Quantile(quantile)) => Limit::Quantile { quantile, limit_ms },
        Metric::Time(_, Statistic::Mean | Statistic::Max) => Limit::Mean { limit_ms },
        Metric::Failed(_)
        | Metric::Errors(_)
        | Metric::CheckFailed(_)
        | Metric::Unfinished(_)
        | Metric::Overflow(_)
        | Metric::Stray(_)
        | Metric::Rate
        | Metric::OkRate
        | Metric::OkShare
        | Metric::Decay
        | Metric::HitRatio => Limit::Failed { share: typed.limit },
    }
}

/// The target, and the trials of it so far.
struct Trials<'a> {
    args: &'a FindArgs,
    settings: Settings,
    /// The plan, without a pace.
    plan: Plan,
    /// The target as people read it.
    name: String,
    answerers: Answerers,
    files: Vec<Option<PathBuf>>,
}

impl<'a> Trials<'a> {
    fn new(args: &'a FindArgs, settings: Settings) -> Result<Trials<'a>, Problem> {
        let files = read(&args.sent)?;
        let mut plan = args.plan(settings.seed, &files).map_err(Problem::Usage)?;
        let load = plan.load.as_mut().expect("http has a load");
        let longest_ms = settings.limits.iter().filter_map(Limit::time_ms).fold(0.0, f64::max);
        let patience = Duration::from_secs_f64(longest_ms * BEYOND / 1e3).max(GRACE);
        load.limits.grace = load.limits.grace.max(patience);
        let name = match args.urls.as_slice() {
            [] => "the list".to_owned(),
            [url] => without_secrets(url),
            [first, rest @ ..] => {
                format!("{} and {} more", without_secrets(first), words::count(rest.len(), "URL"))
            }
        };
        Ok(Trials { args, settings, plan, name, answerers: Answerers::default(), files: Vec::new() })
    }

    /// The plan of a trial: one phase, so that nothing is waited for between what counts and what goes before it.
    fn plan_of(&self, trial: &Trial) -> Plan {
        let mut plan = self.plan.clone();
        // Plans in TOML have numbers of 63 bits.
        plan.seed = trial.seed >> 1;
        let arrivals = self.args.sought.arrivals;
        let pace = match trial.pace {
            Pace::Closed { users } => plan::Pace::Users(users),
            Pace::Open { rate } => plan::Pace::Rate { per_second: rate, arrivals, in_flight: IN_FLIGHT },
            Pace::Surge { over, back, again } => {
                let cut = Cut::of(trial);
                let [first, second] = [cut.skipped, cut.back()].map(|slices| slices as f64 * cut.slice_s);
                let stages = [(first, over), (second, back), (cut.lasts_s() - first - second, again)];
                let stages = stages.map(|(seconds, rate)| Stage {
                    lasts: Duration::from_secs_f64(seconds),
                    from: rate,
                    to: rate,
                });
                plan::Pace::Stages { stages: stages.to_vec(), arrivals, in_flight: IN_FLIGHT }
            }
        };
        let load = plan.load.as_mut().expect("http has a load");
        let phase = &mut load.phases[0];
        let after = Some(Duration::from_secs_f64(Cut::of(trial).lasts_s()));
        phase.name = trial.purpose.name().to_owned();
        phase.stop = Stop { after, ..Stop::default() };
        phase.pace = pace;
        plan
    }

    fn run(&mut self, trial: &Trial) -> Result<TrialResult, Problem> {
        let began = Instant::now();
        if trial.number > 1 {
            std::thread::sleep(REST);
        }
        let plan = self.plan_of(trial);
        let rows = Arc::new(Rows::default());
        let mut about = self.about(trial, &plan);
        about.sinks.others.push(rows.clone());
        let interval = Duration::from_secs_f64(Cut::of(trial).slice_s);
        let finished = leg::run(&plan, about, self.args.clients.load.ready, interval)?;
        let is_whole = signals::first().is_none();
        if is_whole {
            self.answerers.look("the target", &finished)?;
        }
        let beside = Beside {
            took_s: began.elapsed().as_secs_f64(),
            void: leg::void(&finished, Overflow::OfTarget),
            cpu: cpu(&finished),
        };
        self.files.extend(Some(leg::end(finished)).filter(|_| is_whole));
        Ok(decide::find::result(trial, &rows.take(), &self.settings.limits, beside))
    }

    fn about(&self, trial: &Trial, plan: &Plan) -> About {
        let own = [
            ("find", format!("{:x}", self.settings.seed)),
            ("trial", trial.number.to_string()),
            ("purpose", trial.purpose.name().to_owned()),
        ];
        leg::about(plan, &self.name, &self.args.keep, own)
    }

    fn concluded(&self, find: &Recorded<Find>, outcome: &Outcome) -> Conclusion {
        let burdens = Burdens { one_of: self.args.sought.one_of, surge: self.args.sought.surge };
        Conclusion::of(outcome, find.record(), &burdens, self.args.sought.at_least)
    }

    /// Prints a conclusion, and writes it where it is wanted.
    fn tell(
        &self,
        find: &Recorded<Find>,
        conclusion: &Conclusion,
        text: &str,
        exit: u8,
    ) -> Result<(), Problem> {
        let json = self.args.sought.json.as_deref();
        if !json.is_some_and(output::is_stdout) {
            show::write(text);
        }
        let Some(file) = json else { return Ok(()) };
        let search = Search {
            schema: "wringer.search",
            schema_version: 1,
            version: env!("CARGO_PKG_VERSION"),
            target: &self.name,
            exit,
            text,
            conclusion,
            record: find.record(),
            files: self.files.iter().map(Option::as_deref).collect(),
        };
        let text = serde_json::to_string_pretty(&search).expect("figures and texts are JSON") + "\n";
        output::keep("the conclusion", file, text.as_bytes())
    }
}

/// A search as it is written: anybody can conclude from it again.
#[derive(Serialize)]
struct Search<'a> {
    schema: &'static str,
    schema_version: u32,
    version: &'static str,
    target: &'a str,
    exit: u8,
    text: &'a str,
    conclusion: &'a Conclusion,
    record: &'a RecordOf<Find>,
    /// The run file of each trial, in their order; `null`: it is not kept.
    files: Vec<Option<&'a Path>>,
}

/// Busy share of all cores here by the target, where it runs here.
fn cpu(finished: &Finished) -> Option<f64> {
    let all = finished.result.measured().took.as_secs_f64() * f64::from(finished.head.machine.cores);
    finished.target_cpu().filter(|_| all > 0.0).map(|seconds| seconds / all)
}

/// A trial in a line.
fn line(trial: &Trial, result: &TrialResult, find: &Recorded<Find>) -> String {
    let (pace, verdict) = match trial.pace {
        Pace::Closed { users } => (words::count(users as usize, "user"), None),
        Pace::Open { rate } => (words::rate(rate), find.machine().verdict(rate)),
        Pace::Surge { over, .. } => (format!("{} and back", words::rate(over)), None),
    };
    let settings = &find.record().settings;
    let over = |(place, limit): (usize, &Limit)| {
        let over = result.over(place) / result.due().max(1.0);
        match limit.is_share() {
            // Those that were under way when it began count, too.
            true => format!("{} over {}", words::percent(over.min(1.0)), limit.text()),
            false => format!("mean {}", words::time(over / 1e3)),
        }
    };
    let mut told = vec![format!("{} good", words::rate(result.good_per_s()))];
    told.extend(result.p99_ms.map(|time| format!("p99 {}", words::time(time / 1e3))));
    told.extend(settings.limits.iter().enumerate().map(over));
    let verdict = match &result.void {
        Some(_) => leg::void_text(result.void.as_ref()),
        None => verdict.map_or_else(String::new, |verdict| format!(": {}", verdict.text())),
    };
    format!(
        "trial {} ({}) {pace} for {}: {}{verdict} ({:.0} of {:.0} s)",
        trial.number,
        trial.purpose.name(),
        words::time(trial.measure_s),
        told.join(", "),
        find.machine().elapsed_s(),
        settings.budget_s,
    )
}
