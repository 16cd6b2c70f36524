//! Laws that hold whatever the seed does: nothing is lost, nothing is counted twice, nothing is left behind, and the same
//! seed does the same again.

use crate::world::{Case, Ran, Server};
use crate::{programs, scenario};
use measure::{Counts, TimeMetric};
use net::Faults;
use plan::{Pace, Phase, Protocol, Step};
use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// Seeds that each test run tries.
const SEEDS: u64 = 300;
/// One seed in so many is run twice.
const REPLAYED: u64 = 10;

/// After so many seeds that fail, no more are tried.
const FAILED_MAX: usize = 10;

/// `WRINGER_SEEDS`, `WRINGER_SEED_FROM` and `WRINGER_SEED_JOBS`, as `cargo xtask simulate` sets them; `WRINGER_SEED_LOG`
/// prints the log.
#[test]
fn every_seed_keeps_the_laws() {
    let number = |name| env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    let from = number("WRINGER_SEED_FROM").unwrap_or(1);
    let count = number("WRINGER_SEEDS").unwrap_or(SEEDS);
    let jobs = number("WRINGER_SEED_JOBS").unwrap_or(1).max(1);
    let tried = Tried { next: AtomicU64::new(from), end: from.saturating_add(count), ..Tried::default() };
    thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| tried.some());
        }
    });
    let failed = tried.failed.into_inner().expect("no panic");
    let again = failed.first().map(|seed| format!("cargo xtask simulate --from {seed} --seeds 1 --log"));
    assert!(failed.is_empty(), "seeds that fail: {failed:?}; again: {}", again.unwrap_or_default());
    let requests = tried.requests.into_inner();
    println!("{count} seeds from {from}: {requests} requests, each accounted for");
}

/// Seeds that several threads take in turn.
#[derive(Default)]
struct Tried {
    next: AtomicU64,
    end: u64,
    requests: AtomicU64,
    failed: Mutex<Vec<u64>>,
}

impl Tried {
    /// Tries what nobody else has taken.
    fn some(&self) {
        let log = env::var_os("WRINGER_SEED_LOG").is_some();
        while self.failed.lock().expect("no panic").len() < FAILED_MAX {
            let seed = self.next.fetch_add(1, Ordering::Relaxed);
            if seed >= self.end {
                return;
            }
            match catch_unwind(AssertUnwindSafe(|| keeps_the_laws(seed, log))) {
                Ok(counts) => _ = self.requests.fetch_add(counts.requests, Ordering::Relaxed),
                Err(_) => self.failed.lock().expect("no panic").push(seed),
            }
        }
    }
}

fn keeps_the_laws(seed: u64, log: bool) -> Counts {
    let case = || Case { keeps_log: log, ..scenario::of_seed(seed) };
    if log {
        println!("{}", case().drawn());
    }
    let ran = case().run();
    ran.log.lines.iter().for_each(|line| println!("{line}"));
    let case = case();
    conserves(&case, &ran);
    let of_origin = matches!(case.server, Server::Origin(_));
    if of_origin {
        agrees_with_the_origin(&case, &ran);
    }
    let http3 = case.load.protocol.http().is_some_and(|http| http.h3.is_some());
    if http3 {
        leaves_nothing_of_http3(&ran);
    } else {
        leaves_nothing(of_origin, &ran);
    }
    ends_in_time(&case, &ran);
    if seed.is_multiple_of(REPLAYED) {
        is_the_same_again(&case, &ran, &scenario::of_seed(seed).run());
    }
    ran.counts()
}

/// Bytes of TLS come from the system's chance, but not how many there are.
fn is_the_same_again(case: &Case, ran: &Ran, again: &Ran) {
    assert_eq!(again.log.entries, ran.log.entries, "another run");
    assert!(case.tls.is_some() || again.log.hash == ran.log.hash, "another run");
    assert_eq!(again.counts(), ran.counts(), "another run");
}

/// Asserts that each request that was begun has ended, in exactly one way.
fn conserves(case: &Case, ran: &Ran) {
    for (phase, tally) in case.load.phases.iter().zip(&ran.phases) {
        let counts = &tally.counts;
        let ended = counts.ok + counts.check_failed + counts.injected + counts.aborted + counts.failed;
        assert_eq!(counts.requests, ended + counts.unfinished, "{phase:?}: {counts:?}");
        assert_eq!(tally.failures().map(|(_, count)| count).sum::<u64>(), counts.failed, "{counts:?}");
        for metric in [TimeMetric::Service, TimeMetric::Response] {
            assert_eq!(tally.metric(metric).len(), counts.ok, "{}: {counts:?}", metric.name());
        }
        // Neither the network nor the origin makes bytes up, and there is no cache.
        assert_eq!(counts.hits, 0, "{counts:?}");
        let false_answers = may_answer_falsely(case);
        assert!(false_answers || counts.check_failed == 0, "{:?}", tally.faults().collect::<Vec<_>>());
        is_as_many_as_asked_for(case, phase, counts);
    }
    assert_eq!(ran.left, 0, "under way at the end");
}

/// True if the server gives answers that are whole and wrong: a code of failure, or lengths that shift what follows.
fn may_answer_falsely(case: &Case) -> bool {
    let Server::Origin(origin) = &case.server else { return false };
    origin.messages.as_ref().is_some_and(|service| service.failures + service.wrong_lengths > 0.0)
}

fn is_as_many_as_asked_for(case: &Case, phase: &Phase, counts: &Counts) {
    let Some(most) = phase.stop.requests else { return };
    let exact = |step: &Step| matches!(step, Step::Object(_) | Step::Requests(_) | Step::Messages(_));
    let leads_on = |step: &Step| matches!(step, Step::Requests(step) if !step.session.is_none());
    let steps = &phase.scenario.steps;
    // What a program sends in one piece is one turn of a user.
    let times = if case.program.is_some() { programs::MOST } else { 1 };
    assert!(steps.iter().any(leads_on) || counts.requests <= most * times, "{counts:?}");
    let stop = &phase.stop;
    let given_up = case.load.phases.iter().any(|phase| phase.stop.failures.is_some());
    let ends_sooner = stop.after.is_some() || stop.turns_per_user.is_some() || case.stop_after.is_some();
    if steps.iter().all(exact) && !ends_sooner && !given_up {
        assert!(counts.requests >= most, "{counts:?}");
    }
}

/// Asserts that each side has seen what the other says it did. Each sending of a request is answered once at most.
fn agrees_with_the_origin(case: &Case, ran: &Ran) {
    let client = ran.counts();
    let origin = &ran.origin;
    let answered = client.ok + client.injected;
    assert!(answered <= origin.requests, "{client:?} {origin:?}");
    assert!(origin.requests <= client.requests + client.resent, "{client:?} {origin:?}");
    // What could not be sent to its end, because the connection broke or nobody takes it, the origin does not count.
    let sent_all = origin.broken == 0 && origin.closed == origin.connections;
    assert!(!sent_all || client.body_bytes <= origin.body_bytes, "{client:?} {origin:?}");
    assert_eq!(origin.malformed, 0, "{origin:?}");
    let of_messages = matches!(case.load.protocol, Protocol::Messages(_));
    if of_messages {
        let named = origin.full + origin.errors + origin.cut + origin.silent;
        assert_eq!(origin.requests, named, "{origin:?}");
        assert!(client.check_failed <= origin.errors || origin.wrong_lengths > 0, "{client:?} {origin:?}");
    }
    // What the origin stalled counts as injected; it has sent less of it than it began.
    let left = client.unfinished + client.aborted + client.failed + client.streams_cancelled;
    if case.faults == scenario::good_network() && left == 0 {
        let streams = case.load.protocol.http().is_some_and(|http| http.streams().is_some());
        // Sent again is what a closing origin never read, or what it read and cut short before its first byte.
        let sent = client.requests..=client.requests + client.resent;
        assert!(sent.contains(&origin.requests), "{client:?} {origin:?}");
        // Over HTTP/2 and HTTP/3 the client counts blocks as they are compressed, frames, and datagrams.
        assert!(of_messages || streams || client.head_bytes == origin.head_bytes, "{client:?} {origin:?}");
        // A reset of QUIC overtakes what was sent before it (RFC 9000 section 19.4).
        let overtaken = origin.http3_requests > 0 && origin.cut > 0 && client.body_bytes < origin.body_bytes;
        let all_came = client.body_bytes == origin.body_bytes;
        assert!(of_messages || overtaken || all_came, "{client:?} {origin:?}");
        // What is sent again may have come before, unread, with the bytes of the request in front of it.
        let once = origin.requests == client.requests && client.resent == 0;
        assert!(!once || streams || client.sent_bytes == origin.received_bytes, "{client:?} {origin:?}");
    }
}

/// After the run, the engine holds neither a task nor a connection nor a buffer. The origin may still wait for clients whose
/// end was lost on the way, a task and a socket for each of them, and so may another server.
fn leaves_nothing(of_origin: bool, ran: &Ran) {
    let waiting =
        if of_origin { (ran.origin.connections - ran.origin.closed) as usize } else { ran.then.tasks - 1 };
    assert_eq!((ran.then.tasks, ran.then.open_sockets), (1 + waiting, 1 + waiting), "{:?}", ran.then);
    let end = &ran.end;
    assert_eq!((end.tasks, end.open_sockets, end.buffers_outstanding), (0, 0, 0), "{end:?}");
}

/// The origin's task and socket for datagrams stay beside those that listen, and no others.
fn leaves_nothing_of_http3(ran: &Ran) {
    assert_eq!((ran.then.tasks, ran.then.open_sockets), (2, 2), "{:?}", ran.then);
    let end = &ran.end;
    assert_eq!((end.tasks, end.open_sockets, end.buffers_outstanding), (0, 0, 0), "{end:?}");
}

/// A run ends when it is to end; answers that are under way then are its only delay.
fn ends_in_time(case: &Case, ran: &Ran) {
    // The engine looks up whether it is over each 20 ms, and begins a phase within 3 ms; a busy machine delays it more.
    let slack = Duration::from_millis(30) + 4 * case.faults.lag;
    // Connections may be opened before a phase begins, for a while.
    let connections = case.load.protocol.connections();
    let ahead = |phase: &plan::Phase| match phase.opens_ahead(connections) {
        0 => Duration::ZERO,
        _ => slack + case.load.limits.connect.min(Duration::from_secs(1)),
    };
    let ahead_of_all: Duration = case.load.phases.iter().map(ahead).sum();
    let phases = case.load.phases.iter().map(|phase| phase.stop.after.map(|after| after + slack));
    let limits = &case.load.limits;
    // Answers are waited for as long as others took.
    let patience = if limits.grace.is_zero() { Duration::ZERO } else { limits.grace.max(limits.request) };
    let by_clock = phases.map(|after| Some(after? + patience)).sum::<Option<Duration>>();
    let by_order =
        case.stop_after.map(|after| after + (limits.grace + slack) * case.load.phases.len() as u32);
    let Some(most) = [by_clock, by_order].into_iter().flatten().min() else { return };
    let most = most + ahead_of_all;
    assert!(ran.took <= most, "{:?} instead of {most:?}", ran.took);
}

#[test]
fn a_seed_is_replayed_and_another_one_differs() {
    let plain: Vec<u64> = (1..30).filter(|seed| scenario::of_seed(*seed).tls.is_none()).collect();
    let hash = |seed: &u64| scenario::of_seed(*seed).run().log.hash;
    let hashes: Vec<u64> = plain.iter().map(hash).collect();
    assert_eq!(hashes, plain.iter().map(hash).collect::<Vec<_>>());
    let mut different = hashes.clone();
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), hashes.len());
}

/// The seeds are worth running: what they are to find does happen in them.
#[test]
fn the_seeds_meet_all_sorts_of_ends() {
    let mut sum = Counts::default();
    let mut kinds = Vec::new();
    let mut sent = Vec::new();
    for seed in 1..=100 {
        let ran = scenario::of_seed(seed).run();
        sum.merge(&ran.counts());
        kinds.extend(ran.failures().into_iter().map(|(kind, stage, _)| (kind.name(), stage.name())));
    }
    (1..=300).for_each(|seed| sent.extend(what_is_sent(&scenario::of_seed(seed))));
    kinds.sort_unstable();
    kinds.dedup();
    for count in
        [sum.ok, sum.check_failed, sum.injected, sum.aborted, sum.failed, sum.unfinished, sum.overflow]
    {
        assert!(count > 0, "{sum:?}");
    }
    for count in [
        sum.resent,
        sum.redirects,
        sum.challenges,
        sum.pushed,
        sum.handshakes_resumed,
        sum.goaways,
        sum.interims,
    ] {
        assert!(count > 0, "{sum:?}");
    }
    assert!(kinds.len() >= 10, "{kinds:?}");
    for wanted in [
        "objects",
        "URLs",
        "requests",
        "session",
        "pipeline",
        "script",
        "messages",
        "workers",
        "TLS",
        "HTTP/2",
        "HTTP/3",
        "pipelined arrivals",
        "opened beforehand",
    ] {
        assert!(sent.contains(&wanted), "{wanted} is never drawn");
    }
}

fn what_is_sent(case: &Case) -> Vec<&'static str> {
    let steps = case.load.phases.iter().flat_map(|phase| &phase.scenario.steps);
    let mut sent: Vec<&str> = steps
        .map(|step| match step {
            Step::Object(_) => "objects",
            Step::Urls(_) => "URLs",
            Step::Requests(step) if step.session.is_none() => "requests",
            Step::Requests(_) => "session",
            Step::Script(_) => "script",
            Step::Messages(_) => "messages",
            _ => "journey",
        })
        .collect();
    let pipelines = case.load.protocol.http().is_some_and(|http| http.h1.pipeline > 1);
    let several = |phase: &plan::Phase| match &phase.scenario.steps[..] {
        [Step::Messages(step)] => step.pipeline > 1 && phase.pace.open().is_some(),
        _ => false,
    };
    let pipelined_arrivals = case.load.phases.iter().any(several);
    let preconnects = case.load.phases.iter().any(|phase| phase.preconnect.is_some());
    let http2 = case.load.protocol.http().is_some_and(|http| http.h2.is_some());
    let http3 = case.load.protocol.http().is_some_and(|http| http.h3.is_some());
    let more = [
        (case.workers > 1, "workers"),
        (case.tls.is_some(), "TLS"),
        (pipelines, "pipeline"),
        (pipelined_arrivals, "pipelined arrivals"),
        (preconnects, "opened beforehand"),
        (http2, "HTTP/2"),
        (http3, "HTTP/3"),
    ];
    sent.extend(more.into_iter().filter(|(is_so, _)| *is_so).map(|(_, name)| name));
    sent
}

/// A case that a seed would meet rarely: all users are in the middle of something when the run is stopped.
#[test]
fn a_stop_amid_everything_leaves_nothing() {
    for at_us in (0..20_000).step_by(97) {
        let mut case = scenario::of_seed(3);
        let step = Step::Object(plan::ObjectStep::default());
        let stop = plan::Stop { after: Some(Duration::from_secs(9)), ..plan::Stop::default() };
        case.load.phases = vec![crate::world::phase(step, Pace::Users(10), stop)];
        case.load.limits.grace = Duration::ZERO;
        case.server = Server::Origin(Box::new(plan::Origin { remember: 4, ..plan::Origin::default() }));
        case.faults =
            Faults { delay: (Duration::from_micros(700), Duration::from_millis(3)), ..Faults::default() };
        case.stop_after = Some(Duration::from_micros(at_us));
        let ran = case.run();
        leaves_nothing(true, &ran);
        let counts = ran.counts();
        assert_eq!(counts.requests, counts.ok + counts.unfinished, "stopped at {at_us} µs: {counts:?}");
    }
}

/// Users of a list that has come to its end have nothing to do, however much the list beside it still holds: nobody is brought
/// back for that, and the run ends long before its time.
#[test]
fn a_list_that_is_over_ends_the_run_beside_a_longer_one() {
    let list = |paths: &[&str]| {
        let urls = paths.iter().map(|path| format!("http://server{path}")).collect();
        Step::Urls(plan::UrlStep { urls, order: plan::UrlOrder::Once, ..plan::UrlStep::default() })
    };
    let mut case = scenario::of_seed(3);
    let stop = plan::Stop { after: Some(Duration::from_secs(9)), ..plan::Stop::default() };
    let mut phase = crate::world::phase(list(&["/a"]), Pace::Users(2), stop);
    phase.scenario.steps.push(list(&["/b", "/c", "/d", "/e"]));
    case.load.phases = vec![phase];
    case.server = Server::Script(crate::web::server(7));
    case.faults = Faults::default();
    case.stop_after = None;
    let ran = case.run();
    assert!(ran.took < Duration::from_secs(9), "{:?}", ran.took);
    leaves_nothing(false, &ran);
}
