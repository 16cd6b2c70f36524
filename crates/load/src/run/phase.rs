//! A phase made ready: its steps, and the program that users walk through.

use super::Run;
use crate::channel::{Destination, Slot};
use crate::code::Interpreter;
use crate::control::Control;
use crate::exchange::Worker;
use crate::pace::{self, Think};
use crate::program::{CompileKnown, Program, RhythmWork, is_watched};
use crate::request::asked::Laws;
use crate::request::urls::UrlQueue;
use crate::script::{RunningScript, Script};
use crate::session::SessionWork;
use crate::step::{Messages, Models, Objects, RequestShared, Requests};
use measure::Label;
use net::Event as Signal;
use plan::draw::hash;
use plan::{HttpVersion, Pace, Part, Phase, RequestStep, ScriptStep, Step};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

/// A phase, for one worker.
pub(super) struct PhaseWork {
    pub phase: Rc<pace::Phase>,
    /// Turns of users, where they are more than one of the steps.
    pub program: Option<Rc<Program>>,
    pub steps: Vec<StepWork>,
    /// Labels of the whole phase.
    pub labels: Vec<String>,
    /// The label of the version of HTTP that it is walked over, where there are several.
    version: Option<Label>,
    /// Name of its users, before their numbers.
    pub user_name: Rc<str>,
    /// Who interprets its programs.
    pub programs: Option<Rc<dyn Interpreter>>,
    pub users: Rc<Cell<u32>>,
    /// Raised when a user has ended.
    pub user_ended: Signal,
    /// Places for connections of its first users, which were opened before the phase began.
    pub ahead: RefCell<Vec<Slot>>,
}

impl PhaseWork {
    /// Where the first requests of its users go, where they go over connections that a user has to itself.
    pub fn first_destination<'a>(&'a self, worker: &'a Worker) -> Option<Destination<'a>> {
        if self.program.is_some() || worker.channels.http().streams().is_some() {
            return None;
        }
        match self.steps.first()? {
            StepWork::Object(_) | StepWork::Messages(_) => Some(worker.channels.target()),
            StepWork::Requests(requests, None) => requests.only_destination(),
            StepWork::Script(script) => Some(script.destination()),
            StepWork::Requests(_, Some(_)) | StepWork::Urls(_) => None,
        }
    }

    /// Requests that a user may have under way on its connection at an open pace.
    pub fn depth(&self) -> usize {
        match &self.steps[..] {
            [StepWork::Messages(messages)] if self.program.is_none() => messages.depth,
            _ => 1,
        }
    }

    /// The requests of users that do nothing else, one at a time and as fast as they are answered.
    pub fn plain_list(&self) -> Option<&Requests> {
        match &self.steps[..] {
            [StepWork::Requests(requests, None)]
                if self.program.is_none() && self.phase.timetable.is_none() && !requests.is_empty() =>
            {
                Some(requests)
            }
            _ => None,
        }
    }
}

/// Users that walk a scenario, once for each version of HTTP among which they take turns.
pub(super) struct GroupWork(Vec<Side>);

/// A group before its phase begins.
pub(super) type Prepared = Vec<(Rc<Worker>, PhaseWork)>;

/// A scenario as the users walk it who speak one version of HTTP: with the worker that speaks it.
pub(super) type Side = (Rc<Worker>, Rc<PhaseWork>);

impl GroupWork {
    /// The phase begins. `share`: the worker's part, `pace`: that of all workers.
    pub fn open(sides: Prepared, share: &Phase, pace: &Pace, at: Instant) -> GroupWork {
        let mut opened: Vec<Side> = Vec::with_capacity(sides.len());
        for (worker, mut work) in sides {
            match opened.first() {
                // No user has it yet.
                None => {
                    Rc::get_mut(&mut work.phase).into_iter().for_each(|phase| phase.open(share, pace, at))
                }
                Some((_, first)) => {
                    work.program = first.program.clone();
                    work.phase = first.phase.clone();
                    work.users = first.users.clone();
                    work.user_ended = first.user_ended.clone();
                }
            }
            worker.version.set(work.version);
            opened.push((worker, Rc::new(work)));
        }
        GroupWork(opened)
    }

    /// Each version.
    pub fn sides(&self) -> &[Side] {
        &self.0
    }

    /// The first version, whose count of users and phase are those of all.
    pub fn first(&self) -> &Side {
        &self.0[0]
    }

    /// True while requests are under way, or users on their way to more.
    pub fn is_busy(&self) -> bool {
        self.0.iter().any(|(worker, _)| worker.is_busy())
    }

    /// True if users share connections.
    pub fn shares_connections(&self) -> bool {
        self.0.iter().any(|(worker, _)| worker.channels.http().streams().is_some())
    }

    /// The version that a user speaks. `user`: its number on this worker, from 0.
    pub fn of_user(&self, user: u64) -> &Side {
        let (worker, _) = self.first();
        &self.0[((user + u64::from(worker.part.index)) % self.0.len() as u64) as usize]
    }
}

/// One step, made ready.
pub(super) enum StepWork {
    Object(Objects),
    Urls(UrlQueue),
    Requests(Requests, Option<Box<SessionWork>>),
    Script(RunningScript),
    Messages(Box<Messages>),
}

impl StepWork {
    /// A step that sends nothing.
    fn nothing() -> StepWork {
        StepWork::Requests(Requests::of_nothing(), None)
    }

    /// Requests after which the rows of its data files are used up.
    fn rows(&self) -> Option<u64> {
        match self {
            StepWork::Requests(requests, _) => requests.rows(),
            StepWork::Messages(messages) => messages.rows(),
            StepWork::Object(_) | StepWork::Urls(_) | StepWork::Script(_) => None,
        }
    }
}

/// A phase's number, and the seed of its chance.
#[derive(Clone, Copy)]
struct RunPlace {
    phase: usize,
    seed: u64,
}

/// A group among those of its phase, and what they share.
struct RunGroup<'a> {
    /// Its number.
    group: usize,
    /// The number of its first step.
    first_step: usize,
    labels: &'a [String],
    rhythms: &'a RefCell<HashMap<String, Rc<RhythmWork>>>,
}

impl Run {
    /// Makes a phase ready, each of its groups by itself. `share`: the worker's part, and what the plan has for it.
    pub(super) fn works(&mut self, index: usize, part: Part, share: &Phase) -> Vec<(Prepared, Phase)> {
        let whole = self.worker.load.phases[index].parts();
        let labels = share.labels();
        let rhythms = RefCell::default();
        let mut works = Vec::new();
        let mut steps = 0;
        for (group, (share, whole)) in share.parts().into_iter().zip(&whole).enumerate() {
            let of = RunGroup { group, first_step: steps, labels: &labels, rhythms: &rhythms };
            steps += share.sends().len();
            let spoken: Vec<Rc<Worker>> = match &share.http[..] {
                [] => vec![self.worker.clone()],
                named => named.iter().map(|version| self.speaking(*version)).collect(),
            };
            let work = |worker: Rc<Worker>| {
                let work = self.work(&worker, index, part, &share, &whole.pace, &of);
                (worker, work)
            };
            works.push((spoken.into_iter().map(work).collect(), share));
        }
        works
    }

    /// The worker as it speaks one version of HTTP.
    fn speaking(&mut self, version: HttpVersion) -> Rc<Worker> {
        if let Some((_, worker)) = self.speaking.iter().find(|(spoken, _)| *spoken == version) {
            return worker.clone();
        }
        let worker = Rc::new(self.worker.speaking(version));
        self.speaking.push((version, worker.clone()));
        worker
    }

    fn work(
        &mut self,
        worker: &Rc<Worker>,
        index: usize,
        part: Part,
        share: &Phase,
        pace: &Pace,
        of: &RunGroup<'_>,
    ) -> PhaseWork {
        let place = RunPlace { phase: index, seed: hash(worker.seed, index as u64) };
        let scenario = &share.scenario;
        let tells = worker.load.trace.requests;
        let programs = self.programs();
        // What is looked at, or shares connections with a session, is sent as a session sends it.
        let in_session = |step: &Step| matches!(step, Step::Requests(step) if !step.session.is_none());
        let is_plain = |step: &plan::RequestStep| step.requests.kinds().iter().all(plan::Request::is_plain);
        let varies = |step: &Step| matches!(step, Step::Requests(step) if !is_plain(step));
        let sends = share.sends();
        let edited = scenario.is_journey()
            && (tells || is_watched(scenario) || sends.iter().any(|step| in_session(step) || varies(step)));
        let shared = Rc::new(RequestShared::new(scenario, of.labels, programs.clone(), edited));
        let sends = share.sends().into_iter().enumerate();
        let steps = sends.map(|(nth, step)| self.step(worker, place, of.first_step + nth, step, &shared));
        let steps: Vec<StepWork> = steps.collect();
        // Each request of the phase takes the row of its number.
        let rows = steps.iter().filter_map(StepWork::rows).min().map(|rows| part.share(rows));
        let known = CompileKnown {
            tables: &self.inputs.tables(),
            decks: &worker.control.decks,
            control: &worker.control,
            inputs: &self.inputs,
            labels: of.labels,
            rhythms: of.rhythms,
            phase: index,
            group: of.group,
            part,
            seed: place.seed,
            programs: programs.as_deref(),
            tells,
        };
        let mut phase = pace::Phase::new(part, share, pace, rows, worker.net.now());
        phase.group = of.group;
        let resumed = worker.control.resumed(worker.part.index).filter(|resumed| resumed.phase == index);
        phase.resume_behind(resumed.map_or(0, |resumed| resumed.done));
        // What a user thinks before a request belongs to the number of the request, whichever worker sends it.
        let law = share.pace.closed().unwrap_or_default().1;
        phase.think = Think { law, seed: hash(worker.seed, 0x7417) };
        let user_name = match scenario.user_name.as_str() {
            "" => format!("{} 1-", share.name),
            name => name.to_owned(),
        };
        let version = worker.channels.http().usual().map(HttpVersion::name);
        let version = of.labels.iter().position(|label| Some(label.as_str()) == version);
        PhaseWork {
            version: version
                .filter(|_| !share.http.is_empty())
                .map(|place| Label(place.min(u16::MAX.into()) as u16)),
            program: Program::compile(scenario, &known).map(Rc::new),
            phase: Rc::new(phase),
            labels: of.labels.to_vec(),
            user_name: user_name.into(),
            programs,
            steps,
            users: Rc::default(),
            user_ended: worker.net.event(),
            ahead: RefCell::default(),
        }
    }

    /// The interpreter of this worker, made when it is first asked for.
    fn programs(&mut self) -> Option<Rc<dyn Interpreter>> {
        let made = &mut self.programs;
        let index = self.worker.part.index;
        if made.is_none() {
            *made = self.interpreters.as_ref().map(|all| all.of_worker(index));
        }
        made.clone()
    }

    /// `nth`: which of the phase's steps it is.
    fn step(
        &mut self,
        worker: &Worker,
        place: RunPlace,
        nth: usize,
        step: &Step,
        shared: &Rc<RequestShared>,
    ) -> StepWork {
        let RunPlace { phase, seed } = place;
        match step {
            Step::Object(step) => {
                let laws = Laws::new(step, seed, hash(self.run_id, phase as u64));
                StepWork::Object(Objects::new(laws, shared.labels()))
            }
            Step::Urls(step) => StepWork::Urls(UrlQueue::new(step, seed, worker.channels.speaks_https())),
            Step::Requests(step) => {
                let control = worker.control.clone();
                let scenario = shared.clone();
                self.requests(worker, step, seed, Models { control, of: (phase, nth), scenario })
            }
            Step::Script(step) => self.script(worker, step),
            Step::Messages(step) => {
                let tables = self.inputs.tables();
                let decks = &worker.control.decks;
                StepWork::Messages(Box::new(Messages::new(step, &tables, decks, phase, seed)))
            }
            Step::Sequence(_)
            | Step::Loop(_)
            | Step::If(_)
            | Step::Choice(_)
            | Step::Share(_)
            | Step::Once(_)
            | Step::Transaction(_)
            | Step::Lock(_)
            | Step::Together(_)
            | Step::Pause(_)
            | Step::Wait(_)
            | Step::Rhythm(_)
            | Step::Barrier(_)
            | Step::Set(_)
            | Step::Counter(_)
            | Step::Feed(_)
            | Step::Extract(_)
            | Step::Check(_)
            | Step::Code(_)
            | Step::Log(_)
            | Step::Flow(_) => StepWork::nothing(),
        }
    }

    fn requests(&self, worker: &Worker, step: &RequestStep, seed: u64, models: Models) -> StepWork {
        let scenario = models.scenario.clone();
        let channels = &worker.channels;
        let hosts = &self.hosts;
        let tables = self.inputs.tables();
        let http = channels.http();
        let targets = channels.targets();
        let mut requests = Requests::new(step, http, targets, hosts, &tables, seed, models);
        let login = requests.take_login();
        let session = || Box::new(SessionWork::new(&step.session, login, hosts, seed));
        let edited = scenario.is_edited();
        let session = (!step.session.is_none() || edited).then(session);
        StepWork::Requests(requests, session)
    }

    fn script(&mut self, worker: &Worker, step: &ScriptStep) -> StepWork {
        match self.script.take() {
            Some(script) => play(worker, script, step),
            None => StepWork::nothing(),
        }
    }
}

/// A script that always sends the same, and is told nothing, becomes a prepared request.
fn play(worker: &Worker, script: Box<dyn Script>, step: &ScriptStep) -> StepWork {
    let address = step.request.address();
    let secure = address.as_ref().filter(|address| address.secure).map(|address| address.host.clone());
    let hooks = script.hooks();
    let ledger = script.ledger();
    let playing = RunningScript::new(script, hooks.clone(), secure, step.time_batches);
    let Some((message, address)) = hooks.plain().zip(address) else {
        worker.account.keep_ledger(ledger);
        return StepWork::Script(playing);
    };
    let control: Arc<Control> = worker.control.clone();
    let models = Models { control, of: (0, 0), scenario: Rc::default() };
    let to = playing.destination();
    let http = worker.channels.http();
    StepWork::Requests(Requests::of_message(message, address, to, http, models), None)
}

/// True for a list that is fetched once: two workers that walk it would fetch twice what both find.
pub(super) fn only_one_worker(phase: &Phase) -> bool {
    let once = |step: &Step| matches!(step, Step::Urls(urls) if urls.order == plan::UrlOrder::Once);
    phase.sends().into_iter().any(once)
}
