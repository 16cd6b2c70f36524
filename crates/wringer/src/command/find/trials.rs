//! Trials of a search: a plan of each, its run, and what came of it.

use crate::command::http::read;
use crate::command::leg::{self, Answerers, Overflow, Processes, Rows};
use crate::command::pressed::{self, Pressed};
use crate::command::{cache, fleet};
use crate::problem::Problem;
use crate::signals;
use cli::{CacheArgs, FindArgs, StartedSide};
use decide::find::{Beside, Cut, FindSettings, Limit, Pace, Trial, TrialResult};
use decide::words;
use plan::secret::without_secrets;
use plan::{Plan, Stage, Stop};
use session::{About, Finished, SessionOptions};
use std::net::SocketAddr;
use std::path::PathBuf;
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

/// The target, and the trials of it so far.
pub struct Trials<'a> {
    /// As typed.
    pub args: &'a FindArgs,
    /// Aim of the search.
    pub settings: FindSettings,
    /// The plan, without a pace.
    plan: Plan,
    /// The target as people read it.
    pub name: String,
    /// The proxy that is started for them, if it is.
    proxy: Option<StartedProxy>,
    answerers: Answerers,
    /// The file of each trial, where it is kept.
    pub files: Vec<Option<PathBuf>>,
    /// Requests of open trials so far.
    pub sent: Sent,
}

/// A proxy that is started once for all trials.
struct StartedProxy {
    cache: CacheArgs,
    listen: SocketAddr,
    origin: SocketAddr,
    /// Plan that fills it.
    fill: Plan,
    /// It runs, and is filled.
    pressed: Option<Pressed>,
}

impl StartedProxy {
    /// Starts it and fills it.
    fn start(&mut self, about: About) -> Result<&Pressed, Problem> {
        // Only the first trial finds it stopped.
        if self.pressed.is_none() {
            let mut pressed = None;
            let options = self.options();
            let slot = &mut pressed;
            let StartedProxy { cache, listen, origin, fill, .. } = &*self;
            let finished = leg::run_pressed(fill, about, options, move || {
                let started = cache::press(cache, &listen.to_string(), *origin)?;
                Ok(Some(&*slot.insert(started)))
            })?;
            if signals::first().is_none() {
                leg::refuse_broken(&finished)?;
            }
            leg::end(finished);
            self.pressed = pressed;
        }
        Ok(self.pressed.as_ref().expect("it was started"))
    }

    fn options(&self) -> SessionOptions {
        SessionOptions {
            cache_bytes: cache::cache_bytes(
                &self.cache.target(),
                self.cache.memory(),
                self.cache.started.place.cache_memory,
            ),
            ..SessionOptions::default()
        }
    }
}

/// Requests, and what came of them.
#[derive(Debug, Default)]
pub struct Sent {
    /// Requests.
    pub requests: u64,
    /// Connections opened for them.
    pub connections: u64,
    /// Answers.
    pub answers: u64,
    /// Bytes of these, heads and bodies.
    pub bytes: u64,
}

impl<'a> Trials<'a> {
    /// Those of a command line; none has been run.
    ///
    /// # Errors
    /// A file cannot be read; mistakes in the files and options.
    pub fn new(args: &'a FindArgs, settings: FindSettings) -> Result<Trials<'a>, Problem> {
        let (mut plan, proxy) = match args.proxy.started().map_err(Problem::Usage)? {
            Some(side) => {
                let (plan, proxy) = Trials::started(args, &side, settings.seed)?;
                (plan, Some(proxy))
            }
            None => (args.plan(settings.seed, &read(&args.sent)?).map_err(Problem::Usage)?, None),
        };
        let load = plan.load.as_mut().expect("http has a load");
        let longest_ms = settings.limits.iter().filter_map(Limit::time_ms).fold(0.0, f64::max);
        let patience = Duration::from_secs_f64(longest_ms * BEYOND / 1e3).max(GRACE);
        load.limits.grace = load.limits.grace.max(patience);
        let started = args.proxy.started().map_err(Problem::Usage)?;
        let name = match args.urls.as_slice() {
            [] => started.map_or_else(|| "the list".to_owned(), |side| side.name()),
            [url] => without_secrets(url),
            [first, rest @ ..] => {
                format!("{} and {} more", without_secrets(first), words::count(rest.len(), "URL"))
            }
        };
        Ok(Trials {
            args,
            settings,
            plan,
            name,
            proxy,
            answerers: Answerers::default(),
            files: Vec::new(),
            sent: Sent::default(),
        })
    }

    /// The plan of trials of a proxy that is started for them, and the proxy.
    fn started(args: &FindArgs, side: &StartedSide, seed: u64) -> Result<(Plan, StartedProxy), Problem> {
        let [listen, origin] = match args.sought.show_plan {
            true => [8080, 9080].map(|port| SocketAddr::from(([127, 0, 0, 1], port))),
            false => {
                [pressed::any_port()?, cache::listening(args.proxy.started.origin_address(&side.target))?]
            }
        };
        let cache = args.cache(side).map_err(Problem::Usage)?;
        let mut fill = args.plan_started(side, listen, origin, seed).map_err(Problem::Usage)?;
        fill.seed = crate::arguments::plan_seed(seed);
        let mut plan = fill.clone();
        let phases =
            |plan: &mut Plan| std::mem::take(&mut plan.load.as_mut().expect("cache has a load").phases);
        let mut all = phases(&mut plan);
        phases(&mut fill);
        let last = all.pop().expect("cache has a phase");
        plan.load.as_mut().expect("cache has a load").phases = vec![last];
        fill.load.as_mut().expect("cache has a load").phases = all;
        Ok((plan, StartedProxy { cache, listen, origin, fill, pressed: None }))
    }

    /// The plan of a trial: one phase, so that nothing is waited for between what counts and what goes before it.
    pub fn plan_of(&self, trial: &Trial) -> Plan {
        let mut plan = self.plan.clone();
        plan.seed = crate::arguments::plan_seed(trial.seed);
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

    /// Runs a trial.
    ///
    /// # Errors
    /// It cannot begin, the target died, or another process answers.
    pub fn run(&mut self, trial: &Trial) -> Result<TrialResult, Problem> {
        let began = Instant::now();
        if trial.number > 1 {
            std::thread::sleep(REST);
        }
        let plan = self.plan_of(trial);
        let rows = Arc::new(Rows::default());
        let mut about = self.about(trial, &plan);
        about.sinks.others.push(rows.clone());
        let interval = Duration::from_secs_f64(Cut::of(trial).slice_s);
        let finished = match &mut self.proxy {
            None => {
                let fleet = fleet::asked(&self.args.fleet)?;
                leg::run(&plan, about, self.args.clients.load.wait.ready, interval, fleet)?
            }
            Some(proxy) => {
                let own = [("find", format!("{:x}", self.settings.seed)), ("purpose", "fill".to_owned())];
                let filling = leg::about(&proxy.fill, &self.name, &self.args.keep, own);
                let options = SessionOptions { interval, ..proxy.options() };
                let pressed = proxy.start(About { door: "cache", ..filling })?;
                leg::run_pressed(&plan, about, options, || Ok(Some(pressed)))?
            }
        };
        let is_whole = signals::first().is_none();
        if is_whole {
            self.answerers.look("the target", &finished)?;
            leg::refuse_broken(&finished)?;
            if trial.pace == (Pace::Closed { users: 1 }) {
                leg::refuse_without_good(&finished, &self.name)?;
            }
        }
        let beside = Beside {
            took_s: began.elapsed().as_secs_f64(),
            void: leg::void(&finished, Overflow::OfTarget),
            cpu: cpu(&finished),
        };
        if matches!(trial.pace, Pace::Open { .. }) {
            self.sent.add(&finished);
        }
        self.files.extend(Some(leg::end(finished)).filter(|_| is_whole));
        Ok(decide::find::result(trial, &rows.take(), &self.settings.limits, beside))
    }

    /// The processes that answered the trials so far, where they run longer than the search.
    pub fn answered_by(&self) -> &[(u32, Option<f64>)] {
        if self.proxy.is_some() { &[] } else { self.answerers.known() }
    }

    /// Trials before this search went on were answered by these, and the next ones must be, too.
    pub fn expect(&mut self, answered_by: &Processes) {
        if self.proxy.is_none() && !answered_by.is_empty() {
            self.answerers = Answerers::of(answered_by);
        }
    }

    fn about(&self, trial: &Trial, plan: &Plan) -> About {
        let own = [
            ("find", format!("{:x}", self.settings.seed)),
            ("trial", trial.number.to_string()),
            ("purpose", trial.purpose.name().to_owned()),
        ];
        let door = if self.proxy.is_some() { "cache" } else { "http" };
        About { door, ..leg::about(plan, &self.name, &self.args.keep, own) }
    }
}

impl Sent {
    fn add(&mut self, finished: &Finished) {
        let measured = finished.result.measured();
        let counts = measured.counts();
        self.requests += counts.requests;
        self.connections += counts.connections - counts.preconnected;
        self.answers += counts.ended;
        self.bytes += counts.head_bytes + counts.body_bytes;
    }
}

/// Busy share of all cores here by the target, where it runs here.
fn cpu(finished: &Finished) -> Option<f64> {
    let all = finished.result.measured().took.as_secs_f64() * f64::from(finished.head.machine.cores);
    finished.target_cpu().filter(|_| all > 0.0).map(|seconds| seconds / all)
}

/// A trial in a line.
pub fn line(trial: &Trial, result: &TrialResult, limits: &[Limit]) -> String {
    let pace = match trial.pace {
        Pace::Closed { users } => words::count(users as usize, "user"),
        Pace::Open { rate } => words::rate(rate),
        Pace::Surge { over, .. } => format!("{} and back", words::rate(over)),
    };
    let over = |(place, limit): (usize, &Limit)| {
        let over = result.over(place) / result.due().max(1.0);
        // Those that were under way when it began count, too.
        let share = words::percent(over.min(1.0));
        match limit {
            Limit::Quantile { .. } => format!("{share} over {}", limit.text()),
            Limit::Failed { .. } => format!("{share} failed"),
            Limit::Mean { .. } => format!("mean {}", words::time(over / 1e3)),
        }
    };
    let mut told = vec![format!("{} good", words::rate(result.good_per_s()))];
    told.extend(result.p99_ms.map(|time| format!("p99 {}", words::time(time / 1e3))));
    told.extend(limits.iter().enumerate().map(over));
    format!(
        "trial {} ({}) {pace} for {}: {}{}",
        trial.number,
        trial.purpose.name(),
        words::time(trial.measure_s),
        told.join(", "),
        leg::void_text(result.void.as_ref()),
    )
}
