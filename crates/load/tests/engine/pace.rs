//! When requests are sent, until when, and which latency says what.

use crate::peer::Act;
use crate::run::{Case, millis, phase, requests};
use measure::{Counts, TimeMetric};
use net::ListenOptions;
use plan::{
    Arrivals, AskedKind, AskedList, CheckContent, Delay, LiveFeed, LiveLine, Moments, ObjectStep, Pace,
    Protocol, Scenario, Stage, Step, Stop, UrlStep,
};
use std::time::{Duration, Instant};

fn rate(per_second: f64, in_flight: u32) -> Pace {
    Pace::Rate { per_second, arrivals: Arrivals::Even, in_flight }
}

#[test]
fn an_open_pace_sends_what_is_due_and_no_more() {
    let counts = Case::new(vec![phase(rate(500.0, 1_000), millis(1_000))], |_| Act::Answer).run().counts();
    assert_eq!((counts.requests, counts.overflow), (500, 0));
}

#[test]
fn a_stall_hides_in_a_closed_pace_and_costs_one_request_of_an_open_one() {
    // One request in the middle takes 200 ms. A closed pace sends nothing meanwhile, an open one goes on.
    let script = |number| if number == 50 { Act::Stall(Duration::from_millis(200)) } else { Act::Answer };
    let stop = requests(200);
    let users = Case::new(vec![phase(Pace::Users(1), stop)], script).run().tally();
    let open = Case::new(vec![phase(rate(200.0, 1_000), stop)], script).run().tally();
    let slow = |tally: &measure::Tally, clock| tally.metric(clock).count_between(50_000, u64::MAX);
    assert_eq!(
        slow(&users, TimeMetric::Response),
        1,
        "a closed pace waits: whoever would have come meanwhile is not seen"
    );
    assert_eq!(slow(&open, TimeMetric::Service), 1, "an open pace uses other connections meanwhile");
}

#[test]
fn what_is_due_beyond_the_limit_is_counted_as_overflow_and_not_hidden() {
    let case =
        Case::new(vec![phase(rate(200.0, 3), millis(500))], |_| Act::Stall(Duration::from_millis(250)));
    let counts = case.run().counts();
    assert!(counts.overflow > 50, "{counts:?}");
    assert_eq!(counts.requests + counts.overflow, 100, "{counts:?}");
}

/// Each phase counts the connections that were opened for it, though the one before is not told yet when they are.
#[test]
fn connections_that_are_opened_beforehand_are_those_of_their_phase() {
    let ahead = |preconnect, phase| plan::Phase { preconnect: Some(preconnect), ..phase };
    let phases = vec![
        ahead(5, phase(rate(200.0, 5), requests(10))),
        ahead(2, phase(Pace::Users(3), requests(30))),
        ahead(0, phase(rate(1000.0, 1), requests(4))),
    ];
    let ran = Case::new(phases, |_| Act::Answer).run();
    for (index, opened) in [(0, [5, 5]), (1, [3, 2]), (2, [1, 0])] {
        let mut tally = measure::Tally::new();
        let of_phase = ran.snapshots.iter().filter(|snapshot| snapshot.phase == index);
        of_phase.for_each(|snapshot| tally.merge(&snapshot.tally));
        let counts = tally.counts;
        assert_eq!([counts.connections, counts.preconnected], opened, "phase {index}: {counts:?}");
        assert_eq!(tally.metric(TimeMetric::Connect).len(), opened[0], "phase {index}");
        assert_eq!(counts.failed, 0, "phase {index}");
    }
}

/// By Little's law for answers that take a millisecond, where connections are kept.
#[test]
fn an_open_pace_begins_with_the_connections_that_it_needs() {
    let begins = |pace: Pace, kept: bool| {
        let protocol = Protocol::Http(plan::Http {
            requests_per_connection: (!kept).then_some(1),
            ..plan::Http::default()
        });
        phase(pace, requests(1)).opens_ahead(protocol.connections())
    };
    let stages = |from, to| Pace::Stages {
        stages: vec![Stage { lasts: Duration::from_secs(2), from, to }],
        arrivals: Arrivals::Even,
        in_flight: 100,
    };
    for (pace, kept, wanted) in [
        (rate(10.0, 100), true, 1),
        (rate(1000.0, 100), true, 1),
        (rate(1001.0, 100), true, 2),
        (rate(30_000.0, 100), true, 30),
        (rate(30_000.0, 20), true, 20),
        (rate(30_000.0, 100), false, 0),
        (stages(0.0, 8_000.0), true, 2),
        (Pace::Users(9), true, 0),
        (Pace::Connections { per_second: 9e3, arrivals: Arrivals::Even, in_flight: 100 }, true, 0),
    ] {
        assert_eq!(begins(pace.clone(), kept), wanted, "{pace:?}");
    }
}

#[test]
fn a_slow_connect_is_the_targets_and_not_the_generators_lateness() {
    let mut case = Case::new(vec![phase(rate(1000.0, 100), requests(4))], |_| Act::Answer);
    case.load.limits.grace = Duration::from_secs(10);
    case.load.limits.request = Duration::from_secs(10);
    // The system answers one connection and drops what else comes, so that the others try again a second later.
    (case.listen, case.deaf_for) =
        (ListenOptions { backlog: 0, ..ListenOptions::default() }, Duration::from_millis(200));
    let tally = case.run().tally();
    let of = |clock| tally.metric(clock);
    assert_eq!((tally.counts.ok, of(TimeMetric::Lateness).len()), (4, 4));
    assert!(of(TimeMetric::Connect).max() > 900_000, "connecting took {} µs", of(TimeMetric::Connect).max());
    assert!(
        of(TimeMetric::Lateness).max() < of(TimeMetric::Connect).max() / 2,
        "{} µs",
        of(TimeMetric::Lateness).max()
    );
    assert!(of(TimeMetric::Response).max() >= of(TimeMetric::Connect).max(), "the response time counts it");
}

#[test]
fn a_request_that_could_not_connect_was_still_late_or_not() {
    let mut case = Case::new(vec![phase(rate(1000.0, 100), requests(20))], |_| Act::Answer);
    case.load.limits.connect = Duration::from_millis(50);
    (case.listen, case.deaf_for) =
        (ListenOptions { backlog: 0, ..ListenOptions::default() }, Duration::from_secs(60));
    let tally = case.run().tally();
    assert!(tally.counts.failed >= 19, "{:?}", tally.counts);
    assert_eq!(tally.metric(TimeMetric::Lateness).len(), tally.counts.requests - tally.counts.unfinished);
}

/// All of a second's requests are due at once, and one URL is there, which leads to another.
#[test]
fn a_moment_without_a_url_to_fetch_uses_up_no_request() {
    let object = |number: u64| format!("http://peer/w/{number:x}/500");
    let second: &'static str = object(2).leak();
    let urls = UrlStep { urls: vec![object(1)], redirects: true, once_each: true, ..UrlStep::default() };
    let pace = Pace::Rate { per_second: 10.0, arrivals: Arrivals::EachSecond, in_flight: 100 };
    let mut phase = phase(pace, requests(2));
    phase.scenario = Scenario::of(vec![Step::Urls(urls)]);
    let script = move |number| if number == 0 { Act::Redirect(second) } else { Act::Answer };
    let mut case = Case::new(vec![phase], script);
    case.load.check.content = CheckContent::Nothing;
    let ran = case.run();
    assert_eq!((ran.counts().requests, ran.counts().ok, ran.seen), (2, 2, 2));
}

/// The stream of requests has no holes: what overflowed is asked for later.
#[test]
fn an_overflow_uses_up_no_request() {
    let script = |number| if number < 3 { Act::Stall(Duration::from_millis(200)) } else { Act::Answer };
    let counts = Case::new(vec![phase(rate(200.0, 3), requests(50))], script).run().counts();
    assert!(counts.overflow > 10, "{counts:?}");
    assert_eq!(counts.ok, 50, "{counts:?}");
}

fn stages(text: &str) -> Pace {
    Pace::Stages { stages: Stage::parse_list(text).unwrap(), arrivals: Arrivals::Even, in_flight: 100 }
}

#[test]
fn stages_send_what_their_integral_says() {
    let phase = phase(stages("200ms:100,200ms:0,200ms:0..1000"), millis(600));
    let ran = Case::new(vec![phase], |_| Act::Answer).run();
    assert_eq!(ran.counts().requests + ran.counts().overflow, 120, "{:?}", ran.counts());
}

#[test]
fn a_phase_lasts_its_time_though_nothing_is_sent_at_its_end() {
    let ran = Case::new(vec![phase(stages("50ms:200,150ms:0"), millis(200))], |_| Act::Answer).run();
    let (began, ended) = ran.snapshots.last().unwrap().span;
    assert!(ended - began >= Duration::from_millis(200), "{:?}", ended - began);
    assert_eq!(ran.counts().ok, 10);
}

/// Requests that still wait for their answers belong to the time that the phase took, and not to that of its rates.
#[test]
fn the_time_of_the_rates_ends_with_the_pace() {
    let script = |_| Act::Stall(Duration::from_millis(300));
    let mut case = Case::new(vec![phase(rate(100.0, 1_000), millis(500))], script);
    case.load.limits.grace = Duration::from_secs(60);
    let ran = case.run();
    let last = ran.snapshots.last().unwrap();
    assert_eq!(last.paced_until - last.span.0, Duration::from_millis(500));
    assert!(last.span.1 > last.paced_until, "{:?}", last.span);
    assert_eq!(ran.counts().requests, 50);
}

fn thinking(users: u32, think: Delay) -> Pace {
    Pace::Thinking { users, think }
}

#[test]
fn users_who_think_do_not_hurry() {
    let think = Delay::Fixed { delay: Duration::from_millis(100) };
    let tally = Case::new(vec![phase(thinking(4, think), millis(1000))], |_| Act::Answer).run().tally();
    assert!((4..=44).contains(&tally.counts.requests), "{:?}", tally.counts);
    assert_eq!(tally.counts.ok, tally.counts.requests);
    assert_eq!(
        tally.metric(TimeMetric::Lateness).len(),
        tally.counts.requests,
        "each has a moment to be sent at"
    );
}

/// The first of many thinks for some milliseconds, the others for minutes: nobody waits for them.
#[test]
fn users_who_only_think_do_not_hold_up_the_end() {
    let think = Delay::Fixed { delay: Duration::from_secs(600) };
    let counts = Case::new(vec![phase(thinking(20_000, think), requests(1))], |_| Act::Answer).run().counts();
    assert_eq!((counts.requests, counts.ok), (1, 1));
}

fn at_connection_rate(per_second: f64, in_flight: u32, each: u32, stop: Stop) -> Case {
    let pace = Pace::Connections { per_second, arrivals: Arrivals::Even, in_flight };
    let mut case = Case::new(vec![phase(pace, stop)], |_| Act::Answer);
    let Protocol::Http(http) = &mut case.load.protocol else { panic!() };
    http.requests_per_connection = Some(each);
    case
}

#[test]
fn connections_arrive_and_each_carries_its_requests() {
    for each in [1, 3] {
        let tally = at_connection_rate(500.0, 100, each, requests(60)).run().tally();
        let connections = tally.counts.connections;
        let least = 60 / u64::from(each);
        assert_eq!(tally.counts.ok, 60);
        // When the requests come to an end, several connections may share the last ones.
        assert!((least..least + 10).contains(&connections), "{:?}", tally.counts);
        assert_eq!(tally.metric(TimeMetric::Lateness).len(), connections, "only the first of each is due");
    }
    let case = at_connection_rate(500.0, 100, 5, millis(200));
    let counts = case.run().counts();
    assert_eq!(counts.connections + counts.overflow, 100, "{counts:?}");
    assert!(counts.ok <= counts.connections * 5, "{counts:?}");
}

#[test]
fn connections_beyond_the_limit_are_overflow() {
    let mut case = at_connection_rate(100.0, 3, 2, millis(250));
    case.script = std::rc::Rc::new(|_| Act::Silence);
    let counts = case.run().counts();
    assert_eq!(counts.connections, 3, "{counts:?}");
    assert!(counts.overflow > 10, "{counts:?}");
}

/// However far behind the schedule is, users get to send and answers are read.
#[test]
fn a_rate_beyond_all_means_does_not_starve_the_users() {
    let counts = Case::new(vec![phase(rate(1e9, 4), millis(200))], |_| Act::Answer).run().counts();
    assert!(counts.ok > 50 && counts.overflow > counts.ok, "{counts:?}");
}

#[test]
fn phases_follow_each_other_with_figures_of_their_own() {
    let phases = vec![phase(Pace::Users(2), requests(30)), phase(Pace::Users(3), requests(50))];
    let ran = Case::new(phases, |_| Act::Answer).run();
    let of_phase = |index| {
        let mut sum = Counts::default();
        let snapshots = ran.snapshots.iter().filter(|snapshot| snapshot.phase == index);
        snapshots.for_each(|snapshot| sum.merge(&snapshot.tally.counts));
        sum.ok
    };
    assert_eq!((of_phase(0), of_phase(1)), (30, 50));
    assert_eq!(ran.snapshots.iter().filter(|snapshot| snapshot.last).count(), 1);
}

#[test]
fn a_stop_ends_the_run_and_unfinished_requests_are_counted() {
    let endless = Stop::default();
    let mut case =
        Case::new(vec![phase(Pace::Users(5), endless)], |n| if n < 100 { Act::Answer } else { Act::Silence });
    case.load.limits.request = Duration::from_secs(60);
    case.stop_after = Some(Duration::from_millis(400));
    let counts = case.run().counts();
    assert_eq!((counts.ok, counts.unfinished), (100, 5), "{counts:?}");
}

/// CPU time that the thread used before the run is no part of it.
#[test]
fn only_the_cpu_of_the_run_is_told() {
    while net::thread_cpu() < Duration::from_millis(60) {}
    let before = net::thread_cpu();
    let ran = Case::new(vec![phase(Pace::Users(1), requests(3))], |_| Act::Answer).run();
    let told: Duration = ran.snapshots.iter().map(|snapshot| snapshot.cpu).sum();
    assert!(told > Duration::ZERO && told <= net::thread_cpu() - before, "{told:?}");
}

#[test]
fn intervals_are_told_as_they_pass() {
    let ran = Case::new(vec![phase(Pace::Users(1), millis(450))], |_| Act::Answer).run();
    let intervals: Vec<u64> = ran.snapshots.iter().map(|snapshot| snapshot.interval).collect();
    assert!(intervals.len() >= 4, "{intervals:?}");
    assert!(intervals.windows(2).all(|pair| pair[0] <= pair[1]), "{intervals:?}");
}

/// Lines of a live copy that were due more than 30 s before they can be sent are passed by, and each is counted.
#[test]
fn what_a_live_copy_could_not_send_for_long_is_not_sent() {
    let feed = LiveFeed::new();
    let now = Instant::now();
    let line = |due: Instant| LiveLine {
        due,
        kind: 0,
        object: 1,
        size: 500,
        broken_off: 0,
        range: None,
        target: "".into(),
        host: "".into(),
        cookie: "".into(),
    };
    let old = now.checked_sub(Duration::from_secs(40)).expect("the machine runs for longer");
    for due in [old, old, old, now, now] {
        feed.push(line(due), now).expect("there is room");
    }
    feed.close();
    let kinds =
        vec![AskedKind { head: false, reload: false, validates: false, range: None, name: String::new() }];
    let step = ObjectStep { asked: AskedList::live(kinds, feed.clone()), ..ObjectStep::default() };
    let pace = Pace::Recorded { at_us: Moments::live(feed.clone()), in_flight: 10 };
    // It ends with the feed, though it was to last for long.
    let live =
        plan::Phase { scenario: Scenario::of(vec![Step::Object(step)]), ..phase(pace, millis(60_000)) };
    let ran = Case::new(vec![live], |_| Act::Answer).run();
    let counts = ran.counts();
    assert_eq!((ran.seen, counts.requests, counts.overflow, feed.passed_by()), (2, 2, 3, 3), "{counts:?}");
}
