//! Requests of a recording on the virtual clock: each at its moment, with the gaps that its users had, however many copies of them there are.

use crate::server::{Move, Script, answer};
use crate::world::{Case, Server, phase};
use plan::{Moments, Pace, RequestOrder, RequestStep, Step, Stop};
use recording::file::Recording;
use recording::format::Format;
use recording::import::{Import, Options, UserBy};
use recording::made::{Laws, facts};
use recording::moment::Zone;
use recording::private::Keep;
use recording::read::lines::Go;
use recording::replay::{Choice, Chosen, choose};
use std::collections::BTreeMap;
use std::io::Cursor;
use std::time::Duration;

/// Users of the log, who ask for nothing twice.
const USERS: u64 = 80;
/// Requests of the log, over a minute.
const REQUESTS: u64 = 6_000;
/// The largest shift of a copy.
const SHIFT_US: u64 = 2_000_000;

/// A recording of requests whose paths tell who sent them, and which one it was.
fn recorded() -> Vec<u8> {
    let laws = Laws { seed: 6, requests: REQUESTS, per_second: 100.0, users: USERS, ..Laws::default() };
    let line = |fact: recording::made::Fact| {
        let user = fact.user;
        let number = fact.number;
        format!(
            "{{\"t\":{}.{:06},\"p\":\"/{user}/{number}\",\"h\":\"server\",\"s\":200,\"b\":4,\"u\":\"user{user}\"}}\n",
            fact.begin_us / 1_000_000,
            fact.begin_us % 1_000_000
        )
    };
    let log: String = facts(&laws).map(line).collect();
    let keep = Keep { path: true, ..Keep::default() };
    let options = Options { keep, user_by: UserBy::Field("field".to_owned()), ..Options::default() };
    let mut import = Import::new(options, Cursor::new(Vec::new()));
    let mut format =
        Format::parse("json:time=t,path=p,host=h,status=s,bytes=b,user=u", Zone::Untold).unwrap();
    import.log("log", &mut format, &mut log.as_bytes(), &mut |_| Go::On).unwrap();
    import.finish(Vec::new()).unwrap().to
}

fn chosen(recorded: &[u8], choice: &Choice) -> Chosen {
    let mut recording = Recording::open(Cursor::new(recorded.to_vec())).unwrap();
    choose(&mut recording, choice).unwrap()
}

/// Moments at which a server had these requests, with their paths, counted from the first.
fn replayed(chosen: &Chosen, workers: u32) -> Vec<(u64, String)> {
    let seen = crate::server::Seen::default();
    let script = Script { seen: Some(seen.clone()), ..Script::new(|_| vec![Move::Send(answer(b"page"))]) };
    let step = RequestStep {
        requests: chosen.requests.clone(),
        order: RequestOrder::Loop,
        ..RequestStep::default()
    };
    let pace = Pace::Recorded { at_us: Moments::new(chosen.at_us.clone()), in_flight: 10_000 };
    let mut case =
        Case::new(vec![phase(Step::Requests(step), pace, Stop::default())], Server::Script(script));
    case.workers = workers;
    let counts = case.run().counts();
    let wanted = chosen.requests.len() as u64;
    assert_eq!((counts.requests, counts.ok, counts.overflow), (wanted, wanted, 0), "{counts:?}");
    let mut seen = seen.take();
    seen.sort();
    let first = seen[0].0;
    seen.into_iter().map(|(at, path)| ((at - first).as_micros() as u64, path)).collect()
}

/// Gaps between requests of one user, in microseconds, ascending; of copies each is a user. A copy is moved as a whole, so of the moments
/// of a path the n-th is that of the n-th copy, and those of all paths tell all copies apart.
fn gaps(seen: &[(u64, String)], copies: usize) -> Vec<u64> {
    let mut users: BTreeMap<&str, BTreeMap<u64, Vec<u64>>> = BTreeMap::new();
    for (at, path) in seen {
        let (user, number) = path[1..].split_once('/').expect("two parts");
        let number = number.parse().expect("a number");
        users.entry(user).or_default().entry(number).or_default().push(*at);
    }
    let mut gaps = Vec::new();
    for paths in users.values() {
        let moments: Vec<&Vec<u64>> = paths.values().collect();
        assert!(moments.iter().all(|moments| moments.len() == copies && moments.is_sorted()));
        for copy in 0..copies {
            gaps.extend(moments.windows(2).map(|pair| pair[1][copy] - pair[0][copy]));
        }
    }
    gaps.sort_unstable();
    gaps
}

/// The largest difference of the shares of two samples up to a value (Kolmogorov and Smirnov); both ascend.
fn distance(one: &[u64], other: &[u64]) -> f64 {
    let share = |of: &[u64], up_to: u64| of.partition_point(|value| *value <= up_to) as f64 / of.len() as f64;
    let at = |value: &u64| (share(one, *value) - share(other, *value)).abs();
    one.iter().chain(other).map(at).fold(0.0, f64::max)
}

/// Requests a second, where all copies overlap.
fn rate(moments: impl Iterator<Item = u64>, ends_us: u64) -> f64 {
    let within = SHIFT_US..ends_us;
    let length = Duration::from_micros(within.end - within.start).as_secs_f64();
    moments.filter(|at| within.contains(at)).count() as f64 / length
}

/// Three times the people: gaps within users as they were, and three times the rate.
#[test]
fn three_times_the_users_have_the_gaps_of_one_and_three_times_the_rate() {
    let recorded = recorded();
    let once = chosen(&recorded, &Choice::default());
    let as_it_was = replayed(&once, 1);
    let gaps_before = gaps(&as_it_was, 1);
    let thrice = chosen(&recorded, &Choice { multiply: 3.0, shift_us: SHIFT_US, ..Choice::default() });
    let ends_us = *once.at_us.last().unwrap();
    let rate_before = rate(once.at_us.iter().copied(), ends_us);
    for workers in [1, 3] {
        let seen = replayed(&thrice, workers);
        assert_eq!(seen.len() as u64, 3 * REQUESTS);
        let apart = distance(&gaps_before, &gaps(&seen, 3));
        assert!(apart <= 0.01, "{workers}: {apart}");
        let times = rate(seen.iter().map(|(at, _)| *at), ends_us) / rate_before;
        assert!((2.97..=3.03).contains(&times), "{workers}: {times}");
    }
}

/// At any speed each request goes at its moment, the last as exactly as the first: what is lost in between is never made up for.
#[test]
fn moments_are_kept_to_the_end() {
    let recorded = recorded();
    for speed in [0.1, 1.0, 20.0] {
        let chosen = chosen(&recorded, &Choice { speed, ..Choice::default() });
        let seen = replayed(&chosen, 1);
        let late = seen.iter().zip(&chosen.at_us).map(|((at, _), due)| at.abs_diff(*due)).max();
        // A connection that is new takes a round trip more: 100 µs.
        assert!(late.is_some_and(|late| late <= 150), "{speed}: {late:?}");
    }
}
