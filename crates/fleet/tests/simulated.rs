//! A controller and its agents in one place, with a clock of their own and a way between them that loses, doubles, delays and cuts
//! what they say. Every run comes to its end, and every account agrees.

use fleet::message::{Down, DownBeat, Stop, Up, UpBeat};
use fleet::{Agent, Controller, Delta, Last, News, OnLoss, Outbox, Rules, Share, Task, split};
use measure::{Counts, Exchange, Outcome, Snapshot, Tally};
use plan::draw::Draw;
use std::collections::BTreeMap;
use std::time::Duration;

const LEASE: Duration = Duration::from_secs(10);
/// No run here has reason to take longer.
const LONGEST: Duration = Duration::from_secs(300);
const TICK: Duration = Duration::from_secs(1);
const PHASES: u32 = 2;

/// A time of so many milliseconds at most.
fn ms(chance: &mut Draw, most: u64) -> Duration {
    Duration::from_millis(chance.below(most + 1))
}

/// True as often as this.
fn percent(chance: &mut Draw, percent: u64) -> bool {
    chance.below(100) < percent
}

enum Packet {
    Up(usize, Up),
    Down(usize, Down),
}

/// The way between them: what arrives when.
struct Way {
    chance: Draw,
    lossy: u64,
    slow_ms: u64,
    /// An agent that is cut off, from when until when.
    cut: Option<(usize, Duration, Duration)>,
    under_way: BTreeMap<(Duration, u64), Packet>,
    number: u64,
}

impl Way {
    fn send(&mut self, now: Duration, packet: impl Fn() -> Packet) {
        let agent = match packet() {
            Packet::Up(agent, _) | Packet::Down(agent, _) => agent,
        };
        let is_cut =
            self.cut.is_some_and(|(whom, from, until)| whom == agent && (from..until).contains(&now));
        if is_cut || percent(&mut self.chance, self.lossy) {
            return;
        }
        let times = 1 + u64::from(percent(&mut self.chance, self.lossy / 2));
        for _ in 0..times {
            let at = now + ms(&mut self.chance, self.slow_ms);
            self.number += 1;
            self.under_way.insert((at, self.number), packet());
        }
    }
}

/// An agent, and a load that goes on by the clock.
struct Machine {
    agent: Agent,
    share: Share,
    /// How much its clock is ahead.
    ahead: Duration,
    gone: bool,
    opens: Vec<Duration>,
    /// When the phases end after their gate.
    lasts: Vec<Duration>,
    told: Counts,
    next_tick: Option<Duration>,
    interval: u64,
    ended: bool,
    killed_at: Option<Duration>,
}

impl Machine {
    fn phase(&self) -> Option<usize> {
        self.opens.len().checked_sub(1)
    }

    fn snapshots(&mut self, chance: &mut Draw, now: Duration, last: bool, closes: bool) {
        let Some(phase) = self.phase() else { return };
        let since_start = |moment: Duration| moment.saturating_sub(self.opens[0]);
        for part in self.share.parts() {
            let mut tally = Box::new(Tally::new());
            let requests = chance.below(50);
            tally.counts.requests = requests;
            for _ in 0..requests.min(3) {
                tally.exchange(&Exchange::new(Outcome::Ok, Duration::ZERO));
            }
            self.told.merge(&tally.counts);
            self.agent.push(Delta::Figures(Snapshot {
                worker: part.index,
                phase: phase as u32,
                interval: self.interval,
                tally,
                in_flight: 1,
                peak: 1,
                cpu: Duration::ZERO,
                closes_interval: closes,
                last,
                span: (since_start(self.opens[phase].min(now)), since_start(now)),
                paced_until: since_start(now),
                due_until: since_start(now),
            }));
        }
        self.interval += u64::from(closes);
    }

    /// The load goes on until now.
    fn work(&mut self, chance: &mut Draw, now: Duration) {
        while let Some(task) = self.agent.task() {
            match task {
                Task::Go => {
                    self.gone = true;
                    self.agent.arrived(1);
                }
                Task::Open { phase, at } => {
                    assert_eq!(phase as usize, self.opens.len(), "gates open in their order");
                    self.opens.push(at);
                    self.next_tick = Some(at.max(now) + TICK);
                }
                Task::Rate(_) => {}
                Task::Stop { .. } => self.end(chance, now),
            }
        }
        let Some(phase) = self.phase().filter(|_| !self.ended) else { return };
        let over = self.opens[phase] + self.lasts[phase];
        if self.next_tick.is_some_and(|tick| tick <= now) && now < over {
            self.next_tick = self.next_tick.map(|tick| tick + TICK);
            self.snapshots(chance, now, false, true);
        }
        if now >= over && phase + 1 == PHASES as usize {
            self.end(chance, now);
        } else if now >= over && self.next_tick.take().is_some() {
            self.snapshots(chance, now, false, false);
            self.agent.arrived(phase as u32 + 2);
        }
    }

    fn end(&mut self, chance: &mut Draw, now: Duration) {
        if !self.ended {
            self.ended = true;
            self.snapshots(chance, now, true, true);
            self.agent.push(Delta::Last(Box::new(Last { counts: self.told, ..Last::default() })));
        }
    }
}

fn machine(chance: &mut Draw, share: Share) -> Machine {
    let ahead = ms(chance, 100_000);
    Machine {
        agent: Agent::new(LEASE, Outbox::new(share.count, Some(Duration::from_secs(1)))),
        share,
        ahead,
        gone: false,
        opens: Vec::new(),
        lasts: (0..PHASES).map(|_| Duration::from_millis(500) + ms(chance, 4_000)).collect(),
        told: Counts::default(),
        next_tick: None,
        interval: 0,
        ended: false,
        killed_at: percent(chance, 15).then(|| ms(chance, 12_000)),
    }
}

/// Outcome of a run.
struct Came {
    ended: Vec<bool>,
    lost: Vec<bool>,
    counts: Vec<Counts>,
    opened: Vec<Vec<Duration>>,
    took: Duration,
    /// Agents that carried parts of lost ones to the end.
    relieved: u64,
}

struct World {
    seed: u64,
    chance: Draw,
    way: Way,
    controller: Controller,
    machines: Vec<Machine>,
    came: Came,
    on_loss: OnLoss,
    /// Parts that nobody carries, and when somebody is ready for them.
    joins: Vec<(Duration, Share)>,
    /// Whose parts an agent that has joined carries on.
    of: BTreeMap<usize, Share>,
}

impl World {
    fn new(seed: u64) -> World {
        let mut chance = Draw::new(seed, 0);
        let workers: Vec<u32> = (0..1 + chance.below(4)).map(|_| 1 + chance.below(2) as u32).collect();
        let shares = split(&workers);
        let bad = percent(&mut chance, 70);
        let cut = percent(&mut chance, 40).then(|| {
            let from = ms(&mut chance, 8_000);
            (chance.below(workers.len() as u64) as usize, from, from + ms(&mut chance, 25_000))
        });
        let way = Way {
            chance: Draw::new(seed, 1),
            lossy: if bad { chance.below(35) } else { 0 },
            slow_ms: 1 + chance.below(if bad { 900 } else { 30 }),
            cut: cut.filter(|_| bad),
            under_way: BTreeMap::new(),
            number: 0,
        };
        let on_loss = match chance.below(4) {
            0 => OnLoss::GoOn,
            1 => OnLoss::Stop,
            2 => OnLoss::TakeOver,
            _ => OnLoss::Replace,
        };
        let rules = Rules { phases: PHASES, lease: LEASE, on_loss };
        let machines: Vec<Machine> = shares.iter().map(|share| machine(&mut chance, *share)).collect();
        let came = Came {
            ended: vec![false; machines.len()],
            lost: vec![false; machines.len()],
            counts: vec![Counts::default(); machines.len()],
            opened: vec![Vec::new(); machines.len()],
            took: Duration::ZERO,
            relieved: 0,
        };
        let mut controller = Controller::new(Duration::ZERO, rules, shares);
        controller.begin();
        World {
            seed,
            chance,
            way,
            controller,
            machines,
            came,
            on_loss,
            joins: Vec::new(),
            of: BTreeMap::new(),
        }
    }

    fn run(mut self) -> Came {
        let mut now = Duration::ZERO;
        while !self.is_over(now) {
            assert!(now < LONGEST, "seed {}: the run does not end", self.seed);
            self.deliver(now);
            self.agents(now);
            while let Some((agent, beat)) = self.controller.poll(now) {
                self.way.send(now, || Packet::Down(agent, Down::Beat(beat.clone())));
            }
            self.hear_news(now);
            self.join(now);
            now += Duration::from_millis(20);
        }
        self.came.took = now;
        self.came.relieved = self.of.keys().filter(|agent| self.came.ended[**agent]).count() as u64;
        for (mine, machine) in self.came.opened.iter_mut().zip(&self.machines) {
            *mine = machine.opens.iter().map(|at| at.saturating_sub(machine.ahead)).collect();
        }
        for (agent, machine) in self.machines.iter().enumerate() {
            if self.came.ended[agent] {
                assert_eq!(self.came.counts[agent], machine.told, "seed {}: agent {agent}", self.seed);
            } else {
                let came = self.came.counts[agent].requests;
                let told = machine.told.requests;
                assert!(came <= told, "seed {}: {came} of {told}", self.seed);
            }
        }
        self.came
    }

    /// All agents that live have ended, too: none is left behind.
    fn is_over(&self, now: Duration) -> bool {
        // One that has never heard of the run has not begun, and waits for its channel to close.
        let gone = |machine: &Machine| {
            machine.killed_at.is_some_and(|at| now >= at) || machine.agent.is_over() || !machine.gone
        };
        self.controller.is_over() && self.joins.is_empty() && self.machines.iter().all(gone)
    }

    fn deliver(&mut self, now: Duration) {
        while let Some(first) = self.way.under_way.first_entry() {
            if first.key().0 > now {
                return;
            }
            match first.remove() {
                Packet::Up(agent, Up::Beat(beat)) => self.controller.handle_beat(agent, now, &beat),
                Packet::Up(agent, Up::Delta(news)) => self.controller.handle_delta(agent, now, news),
                Packet::Down(agent, Down::Beat(beat)) => {
                    let machine = &mut self.machines[agent];
                    if machine.killed_at.is_none_or(|at| now < at) {
                        machine.agent.handle(now + machine.ahead, &beat);
                    }
                }
                Packet::Up(..) | Packet::Down(..) => unreachable!("nothing else is said here"),
            }
        }
    }

    fn agents(&mut self, now: Duration) {
        for (index, machine) in self.machines.iter_mut().enumerate() {
            if machine.killed_at.is_some_and(|at| now >= at) {
                continue;
            }
            let there = now + machine.ahead;
            machine.work(&mut self.chance, there);
            while let Some(said) = machine.agent.poll(there) {
                self.way.send(now, || Packet::Up(index, said.clone()));
            }
            machine.work(&mut self.chance, there);
        }
    }

    /// Agents that are ready join, for parts of those that are lost.
    fn join(&mut self, now: Duration) {
        let due: Vec<Share> =
            self.joins.extract_if(.., |(at, _)| *at <= now).map(|(_, share)| share).collect();
        for share in due {
            let agent = self.controller.join(now, share);
            assert_eq!(agent, self.machines.len(), "seed {}", self.seed);
            self.of.insert(agent, share);
            let machine = machine(&mut self.chance, share);
            // It comes later than the others could be killed. Its clock began before the controller's.
            self.machines.push(Machine { killed_at: None, ..machine });
            self.came.ended.push(false);
            self.came.lost.push(false);
            self.came.counts.push(Counts::default());
            self.came.opened.push(Vec::new());
        }
    }

    fn hear_news(&mut self, now: Duration) {
        while let Some(news) = self.controller.news() {
            match news {
                News::Figures { agent, snapshot } => self.came.counts[agent].merge(&snapshot.tally.counts),
                News::Ended { agent, .. } => self.came.ended[agent] = true,
                News::Lost { agent, .. } => {
                    self.came.lost[agent] = true;
                    if self.on_loss.gives_parts_out() && !self.of.contains_key(&agent) {
                        let at = now + ms(&mut self.chance, 3_000);
                        self.joins.push((at, self.machines[agent].share));
                    }
                }
                News::StoodStill(_) => panic!("the controller looks each 20 ms"),
                News::Record { .. } | News::Opens { .. } | News::Silent(_) | News::Back(_) => {}
            }
        }
    }
}

fn try_seeds(seeds: std::ops::Range<u64>) -> [u64; 3] {
    let mut lost = 0;
    let mut whole = 0;
    let mut relieved = 0;
    for seed in seeds {
        let came = World::new(seed).run();
        for (ended, gone) in came.ended.iter().zip(&came.lost) {
            assert!(ended ^ gone, "seed {seed}: each agent has told all, or is lost");
        }
        lost += u64::from(came.lost.contains(&true));
        whole += u64::from(!came.lost.contains(&true));
        relieved += came.relieved;
        assert!(came.took < LONGEST, "seed {seed}");
    }
    [lost, whole, relieved]
}

#[test]
fn ten_thousand_runs_over_bad_ways_end_and_their_accounts_agree() {
    let threads: Vec<_> =
        (0..4u64).map(|n| std::thread::spawn(move || try_seeds(n * 2_500..(n + 1) * 2_500))).collect();
    let came = threads.into_iter().map(|thread| thread.join().expect("a seed is named above"));
    let [lost, whole, relieved] =
        came.fold([0; 3], |sum, one| std::array::from_fn(|nth| sum[nth] + one[nth]));
    assert_eq!(lost + whole, 10_000);
    assert!(relieved > 300, "parts were carried on: {relieved}");
    assert!(lost > 500 && whole > 2_000, "both kinds were tried: {lost} and {whole}");
}

#[test]
fn agents_begin_at_one_moment_whatever_their_clocks_say() {
    for seed in 0..300 {
        let mut world = World::new(seed);
        (world.way.lossy, world.way.slow_ms, world.way.cut) = (0, 10, None);
        world.machines.iter_mut().for_each(|machine| machine.killed_at = None);
        let came = world.run();
        for phase in 0..PHASES as usize {
            let all = || came.opened.iter().map(|opened| opened[phase]);
            let spread = all().max().unwrap() - all().min().unwrap();
            // The clocks are known to half of the way there and back, which is looked at each 20 ms here.
            assert!(spread <= Duration::from_millis(60), "seed {seed}, phase {phase}: {spread:?}");
        }
    }
}

#[test]
fn an_agent_without_a_controller_ends_by_itself() {
    let mut agent = Agent::new(LEASE, Outbox::new(1, None));
    agent.handle(Duration::ZERO, &DownBeat::default());
    let until = |agent: &mut Agent, from: Duration, to: Duration| {
        let mut now = from;
        while now <= to {
            while agent.poll(now).is_some() {}
            now += Duration::from_millis(1);
        }
    };
    until(&mut agent, Duration::ZERO, LEASE);
    assert_eq!(agent.task(), None, "its lease is not over");
    // A time in which it did not run itself is none in which it heard nothing.
    let later = Duration::from_secs(60);
    until(&mut agent, later, later);
    assert_eq!(agent.task(), None, "its lease is not over");
    until(&mut agent, later, later + Duration::from_millis(1));
    assert_eq!(agent.task(), Some(Task::Stop { now: true }));
    assert!(agent.is_orphaned() && !agent.is_over());
    agent.push(Delta::Last(Box::default()));
    assert!(agent.is_over(), "nobody is there to take its last word");
    assert_eq!(agent.kept().len(), 1, "which is kept");
    let mut closed = Agent::new(LEASE, Outbox::new(1, None));
    closed.closed();
    assert_eq!(closed.task(), Some(Task::Stop { now: true }));
}

#[test]
fn figures_that_cannot_be_are_a_loss() {
    for (requests, lost) in [(1 << 40, false), (u64::MAX, true), ((1 << 53) - (1 << 40) + 1, true)] {
        let rules = Rules { phases: PHASES, lease: LEASE, on_loss: OnLoss::GoOn };
        let mut controller = Controller::new(Duration::ZERO, rules, split(&[1]));
        let told = [1 << 40, requests].map(|requests| {
            let mut tally = Box::new(Tally::new());
            tally.counts.requests = requests;
            Delta::Figures(Snapshot { tally, ..Snapshot::empty(0, 0, Duration::ZERO, TICK) })
        });
        for (number, delta) in (0..).zip(told) {
            controller.handle_delta(0, TICK, fleet::Numbered { number, bytes: delta.into_bytes() });
        }
        let news: Vec<News> = std::iter::from_fn(|| controller.news()).collect();
        let why =
            news.iter().find_map(|news| if let News::Lost { why, .. } = news { Some(why) } else { None });
        assert_eq!(why.is_some_and(|why| why.contains("which cannot be")), lost, "{requests}");
    }
}

/// A controller that did not run heard nobody, and what agents say when they have ended for it is its own doing.
#[test]
fn a_controller_that_stood_still_says_so_and_loses_nobody() {
    for (stood_still, ends) in [(Duration::from_secs(5), false), (LEASE + Duration::from_secs(3), true)] {
        let (mut controller, began) = begun_alone();
        while controller.news().is_some() {}
        let mut now = began + stood_still;
        let mut news = Vec::new();
        for _ in 0..100 {
            while controller.poll(now).is_some() {}
            news.extend(std::iter::from_fn(|| controller.news()));
            now += Duration::from_millis(20);
        }
        // It looked last when the gate was set, half a second before it opens.
        let most = stood_still + Duration::from_secs(1);
        let told = |news: &News| matches!(news, News::StoodStill(told) if (stood_still..most).contains(told));
        assert!(news.len() == 1 && told(&news[0]), "{news:?}");
        controller.closed(0, now, "its channel closed");
        match controller.news() {
            Some(News::Lost { why, .. }) => {
                assert!(why.starts_with("its channel closed"), "{why}");
                assert_eq!(why.contains("this controller itself had not run for"), ends, "{why}");
            }
            other => panic!("{other:?}"),
        }
    }
    // Who says nothing while it listens is silent, and lost when its lease is over.
    let (mut controller, began) = begun_alone();
    while controller.news().is_some() {}
    let mut news = Vec::new();
    for step in 0..=LEASE.as_millis() as u64 / 20 {
        while controller.poll(began + Duration::from_millis(20 * step)).is_some() {}
        news.extend(std::iter::from_fn(|| controller.news()));
    }
    assert!(matches!(news[..], [News::Silent(0), News::Lost { agent: 0, .. }]), "{news:?}");
}

/// A run of one agent that has begun, and when it did.
fn begun_alone() -> (Controller, Duration) {
    let rules = Rules { phases: 1, lease: LEASE, on_loss: OnLoss::GoOn };
    let mut controller = Controller::new(Duration::ZERO, rules, split(&[1]));
    controller.begin();
    let mut now = Duration::ZERO;
    for _ in 0..1_000 {
        now += Duration::from_millis(10);
        while let Some((agent, beat)) = controller.poll(now) {
            let told = UpBeat {
                echo: Some((beat.number, beat.at_us)),
                held_us: 0,
                at_us: now.as_micros() as u64,
                arrived: 1,
            };
            controller.handle_beat(agent, now, &told);
        }
        while let Some(news) = controller.news() {
            if let News::Opens { at, .. } = news {
                return (controller, at);
            }
        }
    }
    panic!("no gate opens");
}

#[test]
fn figures_of_a_time_that_has_not_been_are_a_loss_with_both_figures() {
    let second = Duration::from_secs(1);
    for (span, said) in [
        ((Duration::ZERO, 2 * second), None),
        ((2 * second, 4 * second), Some("until 4.000s of a run that has lasted 2.000s")),
        ((Duration::ZERO, Duration::MAX), Some("of a run that has lasted 2.000s")),
        ((2 * second, second), Some("begin at 2.000s and end at 1.000s")),
    ] {
        let (mut controller, starts) = begun_alone();
        let told = Delta::Figures(Snapshot::empty(0, 0, span.0, span.1));
        let news = fleet::Numbered { number: 0, bytes: told.into_bytes() };
        controller.handle_delta(0, starts + 2 * second, news);
        let why = std::iter::from_fn(|| controller.news())
            .find_map(|news| if let News::Lost { why, .. } = news { Some(why) } else { None });
        match (said, why) {
            (None, None) => {}
            (Some(said), Some(why)) => assert!(why.contains(said), "{why}"),
            (said, why) => panic!("{span:?}: {said:?} {why:?}"),
        }
    }
}

/// A thousand agents come at once, and all say at once that they are there, where they are and, later, what they did.
#[test]
fn a_thousand_agents_that_join_at_once_begin_together_and_all_are_counted() {
    const AGENTS: usize = 1_000;
    let rules = Rules { phases: 1, lease: LEASE, on_loss: OnLoss::GoOn };
    let shares = split(&vec![1; AGENTS]);
    let mut controller = Controller::new(Duration::ZERO, rules, shares.iter().copied());
    let mut agents: Vec<Agent> = (0..AGENTS).map(|_| Agent::new(LEASE, Outbox::new(1, None))).collect();
    controller.begin();
    let mut now = Duration::ZERO;
    let mut said = 0;
    let mut ended = 0;
    let mut opened = vec![None; AGENTS];
    while !controller.is_over() {
        assert!(now < LEASE, "{ended} of {AGENTS} have ended");
        // All that is to be said is said in one breath.
        while let Some((agent, beat)) = controller.poll(now) {
            agents[agent].handle(now, &beat);
            said += 1;
        }
        for (number, agent) in agents.iter_mut().enumerate() {
            while let Some(task) = agent.task() {
                match task {
                    Task::Go => agent.arrived(1),
                    Task::Open { at, .. } => {
                        opened[number] = Some(at);
                        let mut told = Snapshot::empty(number as u32, 0, Duration::ZERO, Duration::ZERO);
                        told.tally.counts.requests = number as u64;
                        let counts = told.tally.counts;
                        agent.push(Delta::Figures(Snapshot { last: true, ..told }));
                        agent.push(Delta::Last(Box::new(Last { counts, ..Last::default() })));
                    }
                    Task::Rate(_) | Task::Stop { .. } => panic!("nobody asked for it"),
                }
            }
            while let Some(word) = agent.poll(now) {
                match word {
                    Up::Beat(beat) => controller.handle_beat(number, now, &beat),
                    Up::Delta(news) => controller.handle_delta(number, now, news),
                    other => panic!("{other:?}"),
                }
            }
        }
        while let Some(news) = controller.news() {
            match news {
                News::Ended { agent, .. } => {
                    assert_eq!(controller.counts(agent).requests, agent as u64);
                    ended += 1;
                }
                News::Figures { .. } | News::Opens { .. } => {}
                other => panic!("{other:?}"),
            }
        }
        now += Duration::from_millis(5);
    }
    assert_eq!(ended, AGENTS);
    assert!(opened.iter().all(|at| at.is_some() && *at == opened[0]), "one moment");
    assert!(said <= 40 * AGENTS, "{said} messages to {AGENTS} agents");
}

#[test]
fn an_account_that_does_not_agree_is_a_loss_with_both_figures() {
    let rules = Rules { phases: 1, lease: LEASE, on_loss: OnLoss::GoOn };
    let mut controller = Controller::new(Duration::ZERO, rules, [Share::whole(1)]);
    let mut outbox = Outbox::new(1, None);
    let counts = Counts { requests: 7, ..Counts::default() };
    outbox.push(Delta::Last(Box::new(Last { counts, ..Last::default() })));
    controller.handle_delta(0, Duration::ZERO, outbox.poll(Duration::ZERO).unwrap());
    match controller.news() {
        Some(News::Lost { why, .. }) => assert!(why.contains("7 requests by its own count, 0 here"), "{why}"),
        other => panic!("{other:?}"),
    }
    controller.stop(Stop::Now);
    assert!(controller.is_over());
}
