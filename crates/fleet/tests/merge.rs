//! Figures that were split among agents, carried over a bad way and put together again are those of one tally, counter for counter;
//! and what percentiles would be if somebody merged them otherwise.

use fleet::message::Numbered;
use fleet::{Controller, Delta, Last, News, OnLoss, Outbox, Rules, Share, split};
use measure::{
    CacheResult, CarriedSnapshot, Counts, Exchange, Failure, FailureKind, Fault, Label, Outcome, Snapshot,
    Stage, Tally, TimeMetric,
};
use plan::draw::Draw;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

fn exchange(draw: u64) -> Exchange {
    let us = (draw >> 40).pow(2) % 5_000_000 + 1;
    let outcome = match draw % 11 {
        0 => Outcome::Failed(Failure::new(FailureKind::Reset, Stage::Body).with_errno(Some(104))),
        1 => Outcome::CheckFailed(Fault::Stale),
        2 => Outcome::Unfinished,
        3 => Outcome::Aborted,
        _ => Outcome::Ok,
    };
    Exchange {
        status: [200, 304, 404, 503][(draw >> 4) as usize % 4],
        cache: CacheResult::ALL[(draw >> 6) as usize % CacheResult::ALL.len()],
        service: Duration::from_micros(us),
        response: Duration::from_micros(us + draw % 77),
        lateness: draw.is_multiple_of(2).then(|| Duration::from_micros(draw % 9_000)),
        connect: draw.is_multiple_of(5).then(|| Duration::from_micros(draw % 3_000)),
        label: Some(Label((draw % 7) as u16)),
        reused: draw.is_multiple_of(3),
        body_bytes: draw % 1_000,
        ..Exchange::new(outcome, Duration::from_micros(draw % 1_000_000))
    }
}

fn snapshot(worker: u32, interval: u64, tally: Box<Tally>) -> Snapshot {
    Snapshot {
        worker,
        phase: 0,
        interval,
        tally,
        in_flight: 0,
        peak: 0,
        cpu: Duration::ZERO,
        closes_interval: true,
        last: false,
        span: (Duration::ZERO, Duration::from_secs(interval + 1)),
        paced_until: Duration::ZERO,
        due_until: Duration::ZERO,
    }
}

/// All that a tally holds.
fn picture(tally: Tally) -> CarriedSnapshot {
    CarriedSnapshot::of(&snapshot(0, 0, Box::new(tally)))
}

/// The agents' news, in the order and as often as `order` says; each comes at last.
fn carried(outboxes: Vec<Vec<Numbered>>, order: &[u32]) -> (Tally, Vec<Counts>, usize) {
    let shares = split(&vec![1; outboxes.len()]);
    let rules = Rules { phases: 1, lease: Duration::from_secs(10), on_loss: OnLoss::GoOn };
    let agents = shares.len();
    let mut controller = Controller::new(Duration::ZERO, rules, shares);
    let all: Vec<(usize, Numbered)> = outboxes
        .into_iter()
        .enumerate()
        .flat_map(|(agent, news)| news.into_iter().map(move |news| (agent, news)))
        .collect();
    let shuffled = order.iter().map(|draw| all[*draw as usize % all.len()].clone());
    for (agent, news) in shuffled.chain(all.iter().rev().cloned()) {
        controller.handle_delta(agent, Duration::ZERO, news);
    }
    let mut sum = Tally::new();
    let mut ended = 0;
    while let Some(news) = controller.news() {
        match news {
            News::Figures { snapshot, .. } => sum.merge(&snapshot.tally),
            News::Ended { .. } => ended += 1,
            other => panic!("{other:?}"),
        }
    }
    (sum, (0..agents).map(|agent| *controller.counts(agent)).collect(), ended)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// A failing case is printed with its seed, and kept beside this file.
    #[test]
    fn whatever_the_way_does_the_sum_is_that_of_one_tally(
        draws in proptest::collection::vec(any::<u64>(), 1..400),
        agents in 1usize..6,
        piece in 1usize..40,
        order in proptest::collection::vec(any::<u32>(), 0..200),
        crowded in any::<bool>(),
    ) {
        let mut whole = Tally::new();
        let mut outboxes: Vec<Outbox> = (0..agents).map(|_| Outbox::new(1, None)).collect();
        let mut sent: Vec<Vec<Numbered>> = vec![Vec::new(); agents];
        let mut counts = vec![Counts::default(); agents];
        for (nth, part) in draws.chunks(piece).enumerate() {
            let agent = nth % agents;
            let mut tally = Box::new(Tally::new());
            for draw in part {
                tally.exchange(&exchange(*draw));
                whole.exchange(&exchange(*draw));
            }
            counts[agent].merge(&tally.counts);
            outboxes[agent].push(Delta::Figures(snapshot(agent as u32, nth as u64, tally)));
            // Where nobody takes them, neighbours are merged.
            if !crowded {
                sent[agent].extend(outboxes[agent].poll(Duration::ZERO));
            }
        }
        for (agent, outbox) in outboxes.iter_mut().enumerate() {
            outbox.push(Delta::Last(Box::new(Last { counts: counts[agent], ..Last::default() })));
            while let Some(news) = outbox.poll(Duration::ZERO) {
                outbox.acknowledge(news.number + 1);
                sent[agent].push(news);
            }
            outbox.acknowledge(u64::MAX);
            while let Some(news) = outbox.poll(Duration::ZERO) {
                outbox.acknowledge(news.number + 1);
                sent[agent].push(news);
            }
            prop_assert!(outbox.is_empty());
        }
        let (sum, came, ended) = carried(sent, &order);
        prop_assert_eq!(picture(sum), picture(whole));
        prop_assert_eq!(came, counts);
        prop_assert_eq!(ended, agents);
    }
}

/// True so many times in ten.
fn in_ten(chance: &mut Draw, times: u64) -> bool {
    chance.below(10) < times
}

/// An agent of a run over a bad way.
struct Sender {
    outbox: Outbox,
    share: Share,
    /// Figures that it has yet to tell, by worker.
    left: u64,
    told: Vec<u64>,
    /// All that it counted.
    whole: Tally,
    /// All that its messages say, by their numbers.
    said: BTreeMap<u64, Vec<Delta>>,
    /// Messages that came to the controller before it was lost.
    came: BTreeSet<u64>,
    ended: bool,
    lost: bool,
}

impl Sender {
    fn new(share: Share, left: u64) -> Sender {
        Sender {
            outbox: Outbox::new(share.count, Some(Duration::from_millis(300))),
            share,
            left,
            told: vec![0; share.count as usize],
            whole: Tally::new(),
            said: BTreeMap::new(),
            came: BTreeSet::new(),
            ended: false,
            lost: false,
        }
    }

    /// It tells figures of one of its workers, or its last word.
    fn tell(&mut self, chance: &mut Draw) {
        if self.left == 0 {
            if !std::mem::replace(&mut self.ended, true) {
                let last = Last { counts: self.whole.counts, ..Last::default() };
                self.outbox.push(Delta::Last(Box::new(last)));
            }
            return;
        }
        self.left -= 1;
        let mut tally = Box::new(Tally::new());
        for _ in 0..chance.below(30) {
            let one = exchange(chance.bits());
            tally.exchange(&one);
            self.whole.exchange(&one);
        }
        let worker = chance.below(u64::from(self.share.count)) as usize;
        self.told[worker] += 1;
        let snapshot = snapshot(self.share.first + worker as u32, self.told[worker], tally);
        self.outbox.push(Delta::Figures(snapshot));
    }

    /// The sum of what the controller must have of it.
    fn expected(&self) -> Tally {
        if !self.lost {
            let mut whole = Tally::new();
            whole.merge(&self.whole);
            return whole;
        }
        let mut sum = Tally::new();
        let in_order = (0..).take_while(|number| self.came.contains(number));
        for delta in in_order.flat_map(|number| &self.said[&number]) {
            delta.figures().iter().for_each(|snapshot| sum.merge(&snapshot.tally));
        }
        sum
    }
}

/// Messages to the controller lie here until they are due: when, of whom, which.
type Way = Vec<(Duration, usize, Numbered)>;

/// One step of time: agents tell and send, some of it is lost, doubled and swapped, and so are acknowledgements.
fn step(
    now: Duration,
    chance: &mut Draw,
    senders: &mut [Sender],
    way: &mut Way,
    controller: &mut Controller,
) {
    for (agent, sender) in senders.iter_mut().enumerate().filter(|(_, sender)| !sender.lost) {
        if in_ten(chance, 7) {
            sender.tell(chance);
        }
        while let Some(news) = sender.outbox.poll(now) {
            sender.said.entry(news.number).or_insert_with(|| vec![news.delta().expect("it can be read")]);
            let times = [1, 0, 0, 2, 1, 1][chance.below(6) as usize];
            for _ in 0..times {
                way.push((now + Duration::from_millis(chance.below(600)), agent, news.clone()));
            }
        }
    }
    let (due, later): (Way, Way) = std::mem::take(way).into_iter().partition(|(at, ..)| *at <= now);
    *way = later;
    for (_, agent, news) in due.into_iter().rev() {
        if !senders[agent].lost {
            senders[agent].came.insert(news.number);
            controller.handle_delta(agent, now, news);
        }
    }
    while let Some((agent, beat)) = controller.poll(now) {
        if in_ten(chance, 6) {
            senders[agent].outbox.acknowledge(beat.acknowledged);
        }
    }
}

/// News that are lost on the way are told again; of an agent that is lost, what had come by then in order counts. The seed stands in the message
/// of a failure.
#[test]
fn whatever_is_lost_the_sum_is_that_of_what_came() {
    for seed in 0..60 {
        let mut chance = Draw::new(seed, 0);
        let workers: Vec<u32> = (0..1 + chance.below(5)).map(|_| 1 + chance.below(3) as u32).collect();
        let shares = split(&workers);
        let rules = Rules { phases: 1, lease: Duration::from_secs(10_000), on_loss: OnLoss::GoOn };
        let mut controller = Controller::new(Duration::ZERO, rules, shares.iter().copied());
        let mut senders: Vec<Sender> =
            shares.iter().map(|share| Sender::new(*share, 5 + chance.below(25))).collect();
        let killed =
            in_ten(&mut chance, 6).then(|| (chance.below(30), chance.below(workers.len() as u64) as usize));
        let mut way = Vec::new();
        let mut sums: Vec<Tally> = shares.iter().map(|_| Tally::new()).collect();
        let mut ended = BTreeSet::new();
        for turn in 0.. {
            assert!(turn < 20_000, "seed {seed}: it does not end");
            let now = Duration::from_millis(turn * 50);
            if let Some((_, agent)) = killed.filter(|(at, agent)| *at == turn && !ended.contains(agent)) {
                senders[agent].lost = true;
                controller.closed(agent, now, "it was killed");
            }
            step(now, &mut chance, &mut senders, &mut way, &mut controller);
            while let Some(news) = controller.news() {
                match news {
                    News::Figures { agent, snapshot } => sums[agent].merge(&snapshot.tally),
                    News::Ended { agent, .. } => {
                        ended.insert(agent);
                    }
                    News::Lost { agent, why, .. } => assert!(senders[agent].lost, "seed {seed}: {why}"),
                    News::Silent(_) | News::Back(_) => {}
                    other => panic!("seed {seed}: {other:?}"),
                }
            }
            if senders.iter().all(|one| one.lost || (one.ended && one.outbox.is_empty())) {
                break;
            }
        }
        for (agent, (sender, sum)) in senders.iter().zip(sums).enumerate() {
            assert_eq!(ended.contains(&agent), !sender.lost, "seed {seed}, agent {agent}");
            assert_eq!(*controller.counts(agent), sum.counts, "seed {seed}, agent {agent}");
            assert_eq!(picture(sum), picture(sender.expected()), "seed {seed}, agent {agent}");
        }
    }
}

/// Figures of each worker that came, and how many messages it took.
fn of_workers(sent: Vec<Numbered>, workers: u32) -> (Tally, Vec<Counts>, Vec<u64>, bool) {
    let rules = Rules { phases: 1, lease: Duration::from_secs(10), on_loss: OnLoss::GoOn };
    let mut controller = Controller::new(Duration::ZERO, rules, split(&[workers]));
    sent.into_iter().for_each(|news| controller.handle_delta(0, Duration::ZERO, news));
    let mut sum = Tally::new();
    let mut ended = false;
    let mut counts = vec![Counts::default(); workers as usize];
    let mut until = vec![0; workers as usize];
    while let Some(news) = controller.news() {
        match news {
            News::Figures { snapshot, .. } => {
                let worker = snapshot.worker as usize;
                sum.merge(&snapshot.tally);
                counts[worker].merge(&snapshot.tally.counts);
                assert!(snapshot.interval >= until[worker], "a worker tells in order");
                until[worker] = snapshot.interval;
            }
            News::Ended { .. } => ended = true,
            other => panic!("{other:?}"),
        }
    }
    (sum, counts, until, ended)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Workers of one agent that are ahead of each other, and are sent together as far as they wait for each other.
    #[test]
    fn workers_that_are_told_together_keep_their_own_counts_and_their_order(
        draws in proptest::collection::vec(any::<u64>(), 1..300),
        workers in 1u32..6,
        turns in proptest::collection::vec(any::<u32>(), 1..60),
        polled in proptest::collection::vec(any::<bool>(), 1..60),
        slow in 0u64..90,
    ) {
        let mut whole = Tally::new();
        let mut outbox = Outbox::new(workers, None);
        let mut sent = Vec::new();
        let mut counts = vec![Counts::default(); workers as usize];
        let mut told = vec![0; workers as usize];
        let mut all = Counts::default();
        let mut now = Duration::ZERO;
        for (nth, part) in draws.chunks(5).enumerate() {
            let worker = turns[nth % turns.len()] % workers;
            let mut tally = Box::new(Tally::new());
            for draw in part {
                tally.exchange(&exchange(*draw));
                whole.exchange(&exchange(*draw));
            }
            counts[worker as usize].merge(&tally.counts);
            all.merge(&tally.counts);
            told[worker as usize] += 1;
            outbox.push(Delta::Figures(snapshot(worker, told[worker as usize], tally)));
            now += Duration::from_millis(slow);
            if polled[nth % polled.len()] {
                sent.extend(outbox.poll(now));
                outbox.acknowledge(sent.len() as u64);
            }
        }
        outbox.push(Delta::Last(Box::new(Last { counts: all, ..Last::default() })));
        while !outbox.is_empty() {
            now += Duration::from_millis(50);
            sent.extend(outbox.poll(now));
            outbox.acknowledge(sent.len() as u64);
        }
        let (sum, came, until, ended) = of_workers(sent, workers);
        prop_assert_eq!(picture(sum), picture(whole));
        prop_assert_eq!((came, until, ended), (counts, told, true));
    }
}

#[test]
fn workers_of_one_agent_are_told_in_one_message_and_no_longer_waited_for_than_a_moment() {
    let mut outbox = Outbox::new(16, None);
    let ms = Duration::from_millis;
    let push = |outbox: &mut Outbox, worker: u32, interval: u64| {
        let mut tally = Box::new(Tally::new());
        tally.exchange(&exchange(u64::from(worker) << 50));
        outbox.push(Delta::Figures(snapshot(worker, interval, tally)));
    };
    (0..15).for_each(|worker| push(&mut outbox, worker, 0));
    assert!(outbox.poll(ms(1_000)).is_none(), "one is to come");
    push(&mut outbox, 15, 0);
    let together = outbox.poll(ms(1_000)).expect("all are there");
    assert_eq!(together.delta().expect("it can be read").figures().len(), 16);
    (0..15).for_each(|worker| push(&mut outbox, worker, 1));
    assert!(outbox.poll(ms(2_000)).is_none() && outbox.poll(ms(2_099)).is_none());
    let without = outbox.poll(ms(2_100)).expect("nobody waits for ever");
    assert_eq!(without.delta().expect("it can be read").figures().len(), 15);
    push(&mut outbox, 15, 1);
    assert!(outbox.poll(ms(2_110)).is_none());
    assert_eq!(outbox.poll(ms(2_210)).expect("it comes by itself").number, 2);
    assert!(outbox.is_empty() || outbox.late_rows() == 0);
}

/// The seconds of one agent: requests, and how many milliseconds each took.
type Seconds<'a> = &'a [(u64, u64)];

fn p99(tally: &Tally) -> f64 {
    tally.metric(TimeMetric::Service).value_at_quantile(0.99) as f64 / 1_000.0
}

/// The p99 of what agents did, in milliseconds: as a controller has it of all that came to it, and by six ways of others.
fn merged(agents: &[Seconds<'_>]) -> [f64; 7] {
    let tally = |seconds: &[(u64, u64)]| {
        let mut tally = Tally::new();
        for (requests, ms) in seconds {
            (0..*requests).for_each(|_| tally.time(TimeMetric::Service, Duration::from_millis(*ms)));
            tally.counts.requests += requests;
        }
        tally
    };
    let sent = |(agent, seconds): (usize, &Seconds<'_>)| {
        let mut outbox = Outbox::new(1, None);
        for (nth, second) in seconds.iter().enumerate() {
            let figures = Box::new(tally(&[*second]));
            outbox.push(Delta::Figures(snapshot(agent as u32, nth as u64, figures)));
        }
        let counts = tally(seconds).counts;
        outbox.push(Delta::Last(Box::new(Last { counts, ..Last::default() })));
        let news = std::iter::from_fn(|| {
            let news = outbox.poll(Duration::from_secs(1))?;
            outbox.acknowledge(news.number + 1);
            Some(news)
        });
        news.collect::<Vec<Numbered>>()
    };
    // Doubled and swapped on the way.
    let (sum, _, ended) = carried(agents.iter().enumerate().map(sent).collect(), &[3, 1, 4, 1, 5]);
    assert_eq!(ended, agents.len());
    let each: Vec<Tally> = agents.iter().map(|seconds| tally(seconds)).collect();
    let requests: Vec<f64> = each.iter().map(|one| one.counts.requests as f64).collect();
    let all = || each.iter().map(p99);
    let mean = all().sum::<f64>() / agents.len() as f64;
    let weighted = all().zip(&requests).map(|(p99, requests)| p99 * requests).sum::<f64>()
        / requests.iter().sum::<f64>();
    let mut cut = Tally::new();
    agents.iter().for_each(|seconds| cut.merge(&tally(&seconds[..seconds.len() - 1])));
    let worst = agents.iter().flat_map(|seconds| seconds.iter()).map(|second| p99(&tally(&[*second])));
    let without = each[..each.len() - 1].iter().fold(Tally::new(), |mut sum, one| {
        sum.merge(one);
        sum
    });
    [
        p99(&sum),
        mean,
        weighted,
        all().fold(0.0, f64::max),
        p99(&cut),
        worst.fold(0.0, f64::max),
        p99(&without),
    ]
}

/// Percentiles of several agents as others merge them, beside the true one: `cargo test -p fleet --test merge percentiles -- --nocapture`
/// prints the table of docs/src/fleet.md.
#[test]
fn percentiles_come_of_the_sum_and_of_nothing_else() {
    let cases: [(&str, &[Seconds<'_>], [f64; 7]); 3] = [
        // 3 % of all requests are slow, all at one agent.
        (
            "one agent of two is slow",
            &[&[(9_700, 2)], &[(300, 500)]],
            [500.0, 251.0, 16.94, 500.0, 0.0, 500.0, 2.0],
        ),
        // 0.5 % are: the p99 is that of the others.
        ("a small agent is slow", &[&[(9_950, 2)], &[(50, 500)]], [2.0, 251.0, 4.49, 500.0, 0.0, 500.0, 2.0]),
        // The target breaks down in the last of three seconds.
        (
            "the last second is slow",
            &[&[(2_000, 2), (2_000, 2), (100, 900)], &[(2_000, 4), (2_000, 4), (100, 900)]],
            [900.0, 900.0, 900.0, 900.0, 4.0, 900.0, 900.0],
        ),
    ];
    let ways =
        ["merged", "mean", "weighted", "highest", "last tick lost", "worst second", "an agent left out"];
    println!("{:26} {}", "p99 in ms", ways.map(|way| format!("{way:>18}")).join(""));
    for (name, agents, expected) in cases {
        let found = merged(agents);
        println!("{name:26} {}", found.map(|ms| format!("{ms:>18.1}")).join(""));
        for (way, (found, expected)) in ways.iter().zip(found.iter().zip(expected)) {
            let is_so = if expected == 0.0 { *found == 0.0 } else { (found / expected - 1.0).abs() < 0.002 };
            assert!(is_so, "{name}: {way}: {found}, not {expected}");
        }
    }
}

#[test]
fn a_crowded_outbox_keeps_every_count_and_little_memory() {
    let mut outbox = Outbox::new(1, None);
    for second in 0..3_600 {
        let mut tally = Box::new(Tally::new());
        tally.counts.requests = 1;
        outbox.push(Delta::Figures(snapshot(0, second, tally)));
    }
    assert!(outbox.waiting() <= 32, "{}", outbox.waiting());
    // Which rows have what belongs to others is not hidden.
    assert_eq!(outbox.late_rows() + outbox.waiting() as u64, 3_600);
    let mut requests = 0;
    for news in outbox.kept() {
        match news.delta().unwrap() {
            Delta::Figures(snapshot) => requests += snapshot.tally.counts.requests,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(requests, 3_600);
}
