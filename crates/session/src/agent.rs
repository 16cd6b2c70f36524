//! An agent: it takes a plan and some parts of its load from whoever holds the other end of its standard input and output, carries
//! them, and tells what comes of it. When nobody holds the other end any more, the load ends.

use crate::channel::{Came, reader, say, writer};
use crate::crew;
use crate::doctor::{self, Facts, Need, Sampler};
use crate::kept;
use crate::mask::Mask;
use crate::options::SessionOptions;
use crate::problem::Problem;
use crate::runs::{self, CarriedRuns};
use crate::scripts::Scripts;
use crate::serving::Serving;
use crate::targets::Targets;
use crate::wall::{self, Wall};
use crate::workers::{With, Workers};
use crate::{backend, data, filled, inputs, refuse_violations, tls, usage};
use fleet::frame::{Frame, LONGEST};
use fleet::kept::Sum;
use fleet::message::{Collect, Down, Hello, Order, Ready, Refused, Up};
use fleet::owner::{Owner, Pressed};
use fleet::token::{Nonces, Prover, Token};
use fleet::{Agent, Delta, Last, Outbox, PROTOCOL, Share, Task};
use load::RateChange;
use measure::exchanges::Gathering;
use measure::stream::EvidenceFound;
use measure::{Counts, Event, RunEvent, notes};
use plan::digest::Sha256;
use plan::{Inputs, Plan};
use std::io::{Read, Write};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

/// Rules that an agent is held to.
#[derive(Clone, Default)]
pub struct AgentOptions {
    /// Files of rules that its owner wrote; all of them hold.
    pub rules: Vec<PathBuf>,
    /// Told the secrets of a plan as soon as they are known.
    pub on_secrets: Option<fn(&Mask)>,
    /// Whoever wants something proves that he has it; `None`: nobody must.
    pub token: Option<Token>,
    /// Runs that were carried, where it carries one after the other: an id is good for one.
    pub runs: CarriedRuns,
    /// It stays for whoever calls: where its owner has not said where a load may go and how long it lasts, the usual limits hold.
    pub stays: bool,
}

/// Bytes of a plan with what it names at most.
const LONGEST_PLAN: u64 = 256 << 20;
/// How often it is looked at what the workers do not tell.
const LOOK_UP: Duration = Duration::from_millis(5);
/// An owner's file is no longer.
const LONGEST_RULES: u64 = 1 << 20;
/// A late one's clock began so much before the controller's.
const JOINS: Duration = Duration::from_secs(60);
/// Single requests that are told of at once.
const TOGETHER: usize = 1024;

/// Carries one run for whoever holds the other ends. Returns true where its load has begun.
///
/// # Errors
/// Rules of the owner that cannot be read: nothing is carried then.
pub fn serve(
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    options: &AgentOptions,
) -> Result<bool, Problem> {
    let owners = owners(options)?;
    let to = writer(output);
    let talk = Talk { token: options.token.as_ref(), nonce: usage::nonce()? };
    say(&to, &Up::Hello(hello(&talk.nonce)));
    let came = reader(input);
    let (order, text) = match take_plan(&came, &talk)? {
        Asked::Load(order, _) if !options.runs.begin(order.run_id) => {
            refuse(runs::twice(&kept::run_name(order.run_id)), false, &came, &to);
            return Ok(false);
        }
        Asked::Load(order, text) => (order, text),
        Asked::Kept(collect) => {
            tell_kept(&collect, &came, &to);
            return Ok(false);
        }
        Asked::Refused(why) => {
            refuse(why, false, &came, &to);
            return Ok(false);
        }
        Asked::Nothing => return Ok(false),
    };
    // Gates that are open already opened since the controller's clock began.
    let ago = order
        .resumes
        .as_ref()
        .map_or(Duration::ZERO, |resumes| Duration::from_micros(resumes.since_us) + JOINS);
    let now = Instant::now();
    let wall_us = Some(wall::now_us().saturating_sub(ago.as_micros() as i64));
    let epoch = now.checked_sub(ago).unwrap_or(now);
    let proof = talk.proof(&order);
    let ready = |warnings: &[String]| Ready {
        sha256: order.sha256.clone(),
        warnings: warnings.to_vec(),
        wall_us,
        proof,
    };
    let asked = read(&order, &text);
    if let Some(listen) = &order.listen {
        let serving =
            asked.and_then(|(plan, inputs)| Serving::prepare(plan, inputs, &order, listen, &owners));
        return Ok(match serving {
            Ok(serving) => {
                say(&to, &Up::Ready(ready(serving.warnings())));
                serving.run(&came, &to);
                true
            }
            Err(problem) => refuse_for(&problem, &came, &to),
        });
    }
    let carried = asked.and_then(|(mut plan, inputs)| {
        if let Some(load) = plan.load.as_mut().filter(|_| !order.sources.is_empty()) {
            load.sources.clone_from(&order.sources);
        }
        options.on_secrets.iter().for_each(|told| told(&Mask::of(&plan)));
        Carried::prepare(plan, inputs, &order, &owners, options)
    });
    match carried {
        Ok(carried) => {
            say(&to, &Up::Ready(ready(&carried.warnings)));
            Ok(carried.run(*order, epoch, &came, &to))
        }
        Err(problem) => Ok(refuse_for(&problem, &came, &to)),
    }
}

/// Says why nothing begins, and returns that nothing has.
fn refuse_for(problem: &Problem, came: &Receiver<Came>, to: &Sender<Frame>) -> bool {
    refuse(problem.to_string(), matches!(problem, Problem::Usage(_)), came, to);
    false
}

/// A talk with one controller.
struct Talk<'a> {
    token: Option<&'a Token>,
    nonce: String,
}

impl Talk<'_> {
    /// Why whoever wants something has not proven that he may; nothing where he has, or need not.
    fn refuses(&self, nonce: &str, signed: &[u8], proof: &str) -> Option<String> {
        let nonces = Nonces { agent: &self.nonce, controller: nonce };
        let holds = self.token?.holds(Prover::Controller, nonces, signed, proof);
        (!holds).then(|| {
            let how = if proof.is_empty() { "is not signed" } else { "is signed with another token" };
            format!("what was asked of it {how}: its owner wants the token of --bus-token FILE, or of WRINGER_SECRET_BUS_TOKEN")
        })
    }

    fn proof(&self, order: &Order) -> String {
        let nonces = Nonces { agent: &self.nonce, controller: &order.nonce };
        self.token
            .map_or_else(String::new, |token| token.prove(Prover::Agent, nonces, order.sha256.as_bytes()))
    }
}

fn refuse(why: String, usage: bool, came: &Receiver<Came>, to: &Sender<Frame>) {
    say(to, &Up::Refused(Refused { why, usage }));
    // It is read before the channel closes.
    while let Ok(Came::Said(_)) = came.recv() {}
}

/// Rules that hold for what an agent carries.
///
/// # Errors
/// A file that cannot be read, or a rule that cannot be understood.
pub fn owners(options: &AgentOptions) -> Result<Vec<Owner>, Problem> {
    let mut owners = options.rules.iter().map(|file| rules(file)).collect::<Result<Vec<Owner>, Problem>>()?;
    if options.stays {
        owners.push(Owner::usual(&owners));
    }
    Ok(owners)
}

fn rules(file: &Path) -> Result<Owner, Problem> {
    let wrong =
        |why: String| Problem::impossible(format!("the rules of this agent, {}: {why}", file.display()));
    let text = crate::files::read_text(file, LONGEST_RULES).map_err(|error| wrong(error.to_string()))?;
    Owner::parse(&text).map_err(wrong)
}

fn hello(nonce: &str) -> Hello {
    Hello {
        protocol: PROTOCOL,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        host: usage::host_name(),
        cores: crew::cores(),
        pid: std::process::id(),
        nonce: nonce.to_owned(),
    }
}

/// Something that an agent is asked for.
enum Asked {
    /// To carry a plan: the text of it and of what it names.
    Load(Box<Order>, Vec<u8>),
    /// Results that nobody took.
    Kept(Collect),
    /// Something that whoever wants it has not proven that he may have.
    Refused(String),
    /// The controller has gone.
    Nothing,
}

/// Tells results that nobody took, and forgets those that are kept elsewhere then.
fn tell_kept(collect: &Collect, came: &Receiver<Came>, to: &Sender<Frame>) {
    for (file, bytes) in kept::all(collect) {
        say(to, &Up::Kept(file));
        bytes.chunks(LONGEST / 2).for_each(|piece| say(to, &Up::Piece(piece.to_vec())));
    }
    say(to, &Up::NoMore);
    while let Ok(Came::Said(said)) = came.recv() {
        if let Down::Forget(names) = said {
            kept::forget(&names);
        }
    }
}

/// Takes the plan and what it names, or another wish.
fn take_plan(came: &Receiver<Came>, talk: &Talk<'_>) -> Result<Asked, Problem> {
    let mut order: Option<Box<Order>> = None;
    let mut text = Vec::new();
    loop {
        match (came.recv(), &order) {
            (Ok(Came::Said(Down::Plan(plan))), None) => {
                if plan.plan_bytes.saturating_add(plan.inputs_bytes) > LONGEST_PLAN {
                    return Err(Problem::impossible("the plan that was sent is too long"));
                }
                if let Some(why) = talk.refuses(&plan.nonce, &plan.signed(), &plan.proof) {
                    return Ok(Asked::Refused(why));
                }
                order = Some(plan);
            }
            (Ok(Came::Said(Down::Data(piece))), Some(order)) => {
                text.extend(piece);
                if text.len() as u64 > order.plan_bytes + order.inputs_bytes {
                    return Err(Problem::impossible("more came than the plan that was announced"));
                }
            }
            (Ok(Came::Said(Down::Collect(collect))), None) => {
                let refused = talk.refuses(&collect.nonce, &collect.signed(), &collect.proof);
                return Ok(refused.map_or(Asked::Kept(collect), Asked::Refused));
            }
            (Ok(Came::Said(_)), _) => {
                return Err(Problem::impossible("the controller said something else where a plan was due"));
            }
            (Ok(Came::Closed(_)) | Err(_), _) => return Ok(Asked::Nothing),
        }
        let whole = |order: &mut Box<Order>| text.len() as u64 == order.plan_bytes + order.inputs_bytes;
        if let Some(order) = order.take_if(whole) {
            return Ok(Asked::Load(order, text));
        }
    }
}

/// The plan and its inputs.
fn read(order: &Order, text: &[u8]) -> Result<(Plan, Inputs), Problem> {
    if Sha256::of([text]) != order.sha256 {
        return Err(Problem::impossible("the plan changed on its way: its digest is another one"));
    }
    let Share { first, count, of } = order.share;
    if count == 0 || first.checked_add(count).is_none_or(|end| end > of) {
        return Err(Problem::impossible("its parts are none of this load"));
    }
    let (plan, inputs) = text.split_at(order.plan_bytes as usize);
    let utf8 = |bytes: &[u8]| {
        String::from_utf8(bytes.to_vec()).map_err(|_| Problem::impossible("the plan is no text"))
    };
    let plan = Plan::from_text(&utf8(plan)?).map_err(|error| Problem::Usage(format!("the plan: {error}")))?;
    let inputs =
        Inputs::from_text(&utf8(inputs)?).map_err(|error| Problem::impossible(format!("inputs: {error}")))?;
    Ok((plan, inputs))
}

/// A load that is carried for somebody.
struct Carried {
    plan: Plan,
    share: Share,
    workers: Workers,
    sampler: Sampler,
    warnings: Vec<String>,
}

impl Carried {
    fn prepare(
        plan: Plan,
        inputs: Inputs,
        order: &Order,
        owners: &[Owner],
        options: &AgentOptions,
    ) -> Result<Carried, Problem> {
        let share = order.share;
        refuse_violations(&plan)?;
        // What a controller is held to, a controller that lies is held to as well: nothing of this machine is read or written.
        if let Some(why) = fleet::not_shared_out(&plan, share.of) {
            return Err(Problem::Usage(why));
        }
        inputs::refuse_missing(&plan, &inputs)?;
        usage::check_threads(u16::try_from(share.count).ok())?;
        let inputs = Arc::new(inputs);
        let filled = filled(&plan, &inputs)?;
        options.on_secrets.iter().for_each(|told| told(&Mask::of(&filled)));
        let targets = Targets::of_plan(&plan)?;
        let pressed = pressed(&targets);
        if let Some(why) = owners.iter().find_map(|owner| owner.refuses(&plan, share, &pressed)) {
            return Err(Problem::impossible(why));
        }
        let all = targets.all();
        let stop = Arc::default();
        if let Some(load) = &plan.load {
            data::check(load, &inputs.tables())?;
            doctor::check_sources(&load.sources, &all)?;
            if let Some(limit) = order.ready_us {
                targets.wait(load, Duration::from_micros(limit), &stop)?;
            }
            targets.refuse_silent(load, None)?;
        }
        doctor::raise_descriptors();
        let facts = Facts::read();
        let need = Need::of_plan(&plan, share.count, &all).of_share(share.fraction());
        let mut warnings = doctor::budget(&facts, &need)?;
        let (io, note) = backend::choose(&plan, share.count, share.fraction())?;
        warnings.extend(note);
        warnings.extend(kept::cannot_keep());
        let around = SessionOptions {
            interval: Duration::from_micros(order.interval_us),
            cache_bytes: order.cache_bytes,
            ..SessionOptions::default()
        };
        let sampler = Sampler::new(&facts, &need, &all, around.interval_length());
        let tls = tls::client(&plan, &inputs)?;
        // What users find out later, in a redirection or a value, meets the owner's rules as well.
        let only_to: Option<Arc<[IpAddr]>> =
            owners.iter().any(|owner| owner.allow.is_some()).then(|| all.iter().map(|at| at.ip()).collect());
        let with = With {
            io,
            share,
            run_id: Some(order.run_id),
            tls: tls.as_ref(),
            inputs,
            heads: false,
            interpreters: None,
            resume: order.resumes.as_ref().map(|resumes| load::Resume {
                phase: resumes.phase as usize,
                first: share.first,
                done: resumes.done.clone(),
            }),
            only_to,
        };
        let workers = Workers::start(&filled, &with, &targets, &around, &mut Scripts::default())?;
        Ok(Carried { plan, share, workers, sampler, warnings })
    }

    fn run(self, order: Order, epoch: Instant, came: &Receiver<Came>, to: &Sender<Frame>) -> bool {
        let keep = self.plan.load.as_ref().map(|load| load.trace.keep).unwrap_or_default();
        let under_way = UnderWay {
            agent: Agent::new(Duration::from_micros(order.lease_us), Outbox::new(self.share.count, None)),
            gates: 0,
            phases: self.plan.load.as_ref().map_or(0, |load| load.phases.len()),
            running: self.share.count,
            counts: Counts::default(),
            kept: Gathering::new(keep.to_string()),
            late: Duration::ZERO,
            begun: false,
            sum: Sum::default(),
            last: Last::default(),
            wall: Wall::begin(),
            epoch,
            order,
            carried: self,
        };
        under_way.run(came, to)
    }
}

/// The hosts of a plan, with their addresses here.
fn pressed(targets: &Targets) -> Vec<Pressed> {
    let hosts = targets.hosts.iter().map(|((host, port), addresses)| Pressed {
        name: format!("{host}:{port}"),
        addresses: addresses.clone(),
    });
    let known = targets.pressed.iter().chain(&targets.known);
    let known = known.map(|host| Pressed { name: host.name.clone(), addresses: host.at.clone() });
    known.chain(hosts).collect()
}

/// A load under way.
struct UnderWay {
    carried: Carried,
    agent: Agent,
    epoch: Instant,
    /// Gates that all workers have come to.
    gates: usize,
    phases: usize,
    /// Workers that have not told their last.
    running: u32,
    /// The sum of what was told.
    counts: Counts,
    kept: Gathering,
    /// How long behind its moment the first gate was known.
    late: Duration,
    /// The controller let it begin.
    begun: bool,
    /// All that it has told, for the case that nobody took it.
    sum: Sum,
    last: Last,
    wall: Wall,
    order: Order,
}

impl UnderWay {
    fn now(&self) -> Duration {
        self.epoch.elapsed()
    }

    /// Carries it to its end. Returns true where it has begun.
    fn run(mut self, came: &Receiver<Came>, to: &Sender<Frame>) -> bool {
        let mut ended = false;
        while !self.agent.is_over() {
            match came.recv_timeout(LOOK_UP) {
                Ok(Came::Said(Down::Beat(beat))) => self.agent.handle(self.now(), &beat),
                Ok(Came::Said(Down::Plan(_) | Down::Data(_) | Down::Collect(_) | Down::Forget(_))) => {
                    self.agent.closed();
                }
                Ok(Came::Closed(why)) => {
                    self.log(&format!("nobody listens any more: {why}"));
                    self.agent.closed();
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => self.agent.closed(),
            }
            self.obey();
            self.look_at_workers();
            if self.running == 0 && !ended {
                ended = true;
                self.end();
            }
            let now = self.now();
            while let Some(said) = self.agent.poll(now) {
                say(to, &said);
            }
        }
        let begun = self.begun;
        if begun && self.agent.is_orphaned() {
            self.keep();
        }
        begun
    }

    fn obey(&mut self) {
        let control = self.carried.workers.control.clone();
        while let Some(task) = self.agent.task() {
            match task {
                Task::Go => {
                    self.begun = true;
                    self.log("the load may begin");
                    self.carried.workers.go();
                }
                Task::Open { phase, at } => {
                    self.log(&format!("phase {phase} opens at {:.3} s", at.as_secs_f64()));
                    if phase == 0 {
                        self.late = self.now().saturating_sub(at);
                    }
                    if (phase as usize) < self.phases {
                        control.open(phase as usize, self.epoch + at);
                    }
                }
                Task::Rate(rate) => control.change_rate(RateChange {
                    phase: rate.phase as usize,
                    at: Duration::from_micros(rate.at_us),
                    per_second: rate.per_second,
                }),
                Task::Stop { now } => {
                    self.log(if now { "the load ends at once" } else { "the load ends" });
                    // A run that has not begun ends as well.
                    self.carried.workers.go();
                    if now { control.stop_now() } else { control.stop() }
                }
            }
        }
    }

    fn look_at_workers(&mut self) {
        let control = self.carried.workers.control.clone();
        while self.gates < self.phases && control.have_arrived(self.gates) {
            self.gates += 1;
        }
        // Phases are few.
        self.agent.arrived(self.gates as u32);
        while let Ok(snapshot) = self.carried.workers.snapshots.try_recv() {
            self.tell_events();
            self.running -= u32::from(snapshot.last);
            self.counts.merge(&snapshot.tally.counts);
            self.tell(Delta::Figures(snapshot));
        }
        self.running = self.running.saturating_sub(self.carried.workers.lost().len() as u32);
        self.tell_events();
        if self.carried.sampler.is_due() {
            self.carried.sampler.sample();
            self.wall.look();
        }
    }

    /// Tells of single requests what the plan wants to be kept.
    fn tell_events(&mut self) {
        while let Ok(event) = self.carried.workers.events.try_recv() {
            let record = match event {
                Event::Evidence(evidence) => {
                    RunEvent::Evidence(Box::new(EvidenceFound { evidence: *evidence }))
                }
                Event::Lost(lost) => RunEvent::Lost(*lost),
                Event::Traced(traced) => RunEvent::Traced(traced),
                Event::Log { text, .. } => RunEvent::Note(measure::stream::Note { at: Duration::ZERO, text }),
                Event::Kept(record) => {
                    if self.kept.is_of_another(record.phase as u32) || self.kept.waiting() >= TOGETHER {
                        self.tell_kept();
                    }
                    self.kept.push(&record);
                    continue;
                }
                // Plans that ask for these are refused.
                Event::Url(_)
                | Event::Head { .. }
                | Event::Body(_)
                | Event::Talk(_)
                | Event::RequestError(_)
                | Event::Request(_)
                | Event::Transaction(_)
                | Event::Page(_)
                | Event::First(_)
                | Event::FirstTls(_)
                | Event::Certificate(_)
                | Event::Connection(_)
                | Event::Fetched(_) => continue,
            };
            self.tell(Delta::Record(Box::new(record)));
        }
        self.tell_kept();
    }

    fn tell_kept(&mut self) {
        if let Some(kept) = self.kept.take() {
            self.tell(Delta::Record(Box::new(RunEvent::Exchanges(Box::new(kept)))));
        }
    }

    /// The load is over: says the last word.
    fn end(&mut self) {
        self.tell_events();
        self.wall.look();
        let own = [self.passed_by(), self.wall.note(), self.late_rows()];
        let workers = &mut self.carried.workers;
        let backend = workers.stop().to_owned();
        self.carried.sampler.sample();
        let machine = self.carried.sampler.used();
        let reasons = [machine.ports_reason(), machine.descriptors_reason(), machine.swap_reason()];
        let passed = workers.control.all_passed_over();
        let note = |(address, one): &(std::net::SocketAddr, load::PassedOver)| {
            notes::PASSED_OVER.with(&[address, &one.times, &one.why.text()])
        };
        self.last = Last {
            counts: self.counts,
            panics: workers.panics(),
            reasons: reasons.into_iter().flatten().collect(),
            notes: passed.iter().map(note).chain(own.into_iter().flatten()).collect(),
            seen: workers.control.all_seen(),
            backend,
            late_us: self.late.as_micros() as u64,
        };
        self.tell(Delta::Last(Box::new(self.last.clone())));
    }

    /// Requests that were due before it had its parts.
    fn passed_by(&self) -> Option<String> {
        let resumes = self.order.resumes.as_ref()?;
        let phase = self.carried.plan.load.as_ref()?.phases.get(resumes.phase as usize)?;
        if phase.pace.open().is_none() {
            return Some(
                "it went on behind the last word of the agent before it: what that one sent afterwards was sent again, and counted once"
                    .to_owned(),
            );
        }
        let requests = self.carried.workers.control.all_passed_by();
        Some(format!(
            "{requests} requests were due after the last word of the agent before it, and before it began: none was sent again, and nobody \
             knows how many of them were sent at all"
        ))
    }

    /// Rows that have what belongs to the ones before them.
    fn late_rows(&self) -> Option<String> {
        let rows = self.agent.late_rows();
        (rows > 0).then(|| {
            format!(
                "its way to the controller was blocked, and figures of {rows} seconds of its workers stand in later rows than they belong to: \
                 all sums are whole"
            )
        })
    }

    fn tell(&mut self, news: Delta) {
        self.sum.take(&news);
        self.agent.push(news);
    }

    /// A line of the log that goes with the result where nobody takes it.
    fn log(&mut self, what: &str) {
        tracing::info!(what);
        self.sum.log(format!("{:.3} s: {what}", self.now().as_secs_f64()));
    }

    /// Nobody took the result: it waits on this machine for whoever asks.
    fn keep(self) {
        let file = kept::keep(self.sum, &self.order, self.carried.share, self.last);
        match file {
            Ok(file) => tracing::info!(file = %file.display(), "the result is kept"),
            Err(problem) => tracing::warn!(%problem, "the result cannot be kept"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_that_changed_on_its_way_is_refused() {
        let text = b"version = 1\n{}".to_vec();
        let order = Order {
            name: String::new(),
            share: Share::whole(1),
            run_id: 1,
            interval_us: 1,
            cache_bytes: None,
            lease_us: 1,
            ready_us: None,
            resumes: None,
            sources: Vec::new(),
            listen: None,
            plan_bytes: text.len() as u64 - 2,
            inputs_bytes: 2,
            sha256: Sha256::of([&text[..]]),
            nonce: String::new(),
            proof: String::new(),
        };
        let refused = |order: &Order, text: &[u8]| read(order, text).err().map(|problem| problem.to_string());
        let changed = text.iter().map(|byte| if *byte == b'1' { b'2' } else { *byte }).collect::<Vec<u8>>();
        let why = refused(&order, &changed).unwrap();
        assert!(why.contains("its digest is another one"), "{why}");
        let whole = refused(&order, &text).unwrap_or_default();
        assert!(!whole.contains("digest"), "{whole}");
        for share in
            [Share::whole(0), Share { first: 1, count: 1, of: 1 }, Share { first: u32::MAX, count: 2, of: 3 }]
        {
            let why = refused(&Order { share, ..order.clone() }, &text).unwrap();
            assert!(why.contains("its parts are none of this load"), "{why}");
        }
    }

    #[test]
    fn an_order_of_a_run_that_was_carried_is_refused_by_its_id() {
        let order = |run: u64| {
            format!(
                r#"{{"name":"c1","share":{{"first":0,"count":1,"of":1}},"run_id":{run},"interval_us":1,"cache_bytes":null,"lease_us":1,"ready_us":null,"plan_bytes":0,"inputs_bytes":0,"sha256":""}}"#
            )
        };
        let options = AgentOptions::default();
        let said = |run: u64| {
            let body = order(run).into_bytes();
            let input = std::io::Cursor::new(Frame { kind: 101, body }.to_bytes());
            let (mut from, to) = std::io::pipe().expect("a pipe");
            let begun = serve(input, to, &options).expect("it answers");
            let mut said = Vec::new();
            from.read_to_end(&mut said).expect("it ends");
            assert!(!begun);
            String::from_utf8_lossy(&said).into_owned()
        };
        assert!(said(7).contains("its digest is another one"));
        assert!(said(7).contains("run 0000000000000007 was carried here before"));
        assert!(said(8).contains("its digest is another one"));
    }
}
