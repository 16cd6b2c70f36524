//! The engine counts the same whatever carries its bytes: every misbehaviour, on each backend.

use crate::peer::Act;
use crate::run::{Case, Ran, phase, requests};
use measure::{FailureKind, Stage};
use net::Io;
use plan::{Arrivals, CheckContent, CloseBy, Http, Pace, Protocol, Step, UrlOrder, UrlStep};

/// The backends that this machine allows.
fn backends() -> Vec<Io> {
    let (possible, forbidden): (Vec<_>, Vec<_>) =
        [Io::Epoll, Io::Uring].into_iter().partition(|io| net::probe(*io).is_ok());
    forbidden.iter().for_each(|io| eprintln!("not tested on {io}, which this machine forbids"));
    possible
}

fn failures(ran: &Ran) -> Vec<(FailureKind, Stage, u64)> {
    ran.tally().failures().map(|(failure, count)| (failure.kind, failure.stage, count)).collect()
}

/// One user, so that the peer's nth request is the user's nth and all figures are the same each time.
#[test]
fn every_misbehaviour_counts_the_same() {
    let acts = [
        Act::Answer,
        Act::AnswerThenClose,
        Act::Close,
        Act::Reset,
        Act::CutBody,
        Act::Garbage,
        Act::SayTooMuch,
        Act::Fail,
    ];
    for act in acts {
        let of = |io| {
            let script = move |number| if number % 5 == 4 { act } else { Act::Answer };
            let ran = Case::new(vec![phase(Pace::Users(1), requests(100))], script).run_on(io);
            let counts = ran.counts();
            // Whether a connection is known to be closed before the next request goes out depends on who learns it when.
            let ended = (counts.requests, counts.ok, counts.failed);
            (ended, counts.connections, counts.body_bytes, failures(&ran))
        };
        let each: Vec<_> = backends().into_iter().map(|io| (io, of(io))).collect();
        for (io, counted) in &each {
            assert_eq!(counted, &each[0].1, "{act:?} on {io}");
        }
    }
}

#[test]
fn connections_end_either_way_and_no_request_is_lost() {
    for io in backends() {
        for close in [CloseBy::Fin, CloseBy::Reset] {
            let mut case = Case::new(vec![phase(Pace::Users(4), requests(200))], |_| Act::Answer);
            let http = Http { requests_per_connection: Some(1), close, ..Http::default() };
            case.load.protocol = Protocol::Http(http);
            let counts = case.run_on(io).counts();
            assert_eq!((counts.ok, counts.connections), (200, 200), "{close:?} on {io}");
        }
    }
}

/// Objects and listed URLs; some bodies end early.
#[test]
fn bodies_that_nobody_looks_at_are_counted_to_the_byte() {
    let urls = vec!["http://peer/w/1/300000".to_owned()];
    let listed = Step::Urls(UrlStep { urls, order: UrlOrder::Loop, ..UrlStep::default() });
    for io in backends() {
        for step in [None, Some(listed.clone())] {
            let mut phase = phase(Pace::Users(2), requests(50));
            phase.scenario.steps = step.map_or(phase.scenario.steps, |step| vec![step]);
            let cut = |number| if number == 20 { Act::CutBody } else { Act::Answer };
            let mut case = Case::new(vec![phase], cut);
            case.load.check.content = CheckContent::Nothing;
            case.site.size = plan::site::Size::Fixed(300_000);
            let ran = case.run_on(io);
            let counts = ran.counts();
            assert_eq!((counts.ok, counts.body_bytes), (49, 49 * 300_000 + 150_000), "on {io}");
            assert_eq!(failures(&ran), [(FailureKind::ClosedEarly, Stage::Body, 1)], "on {io}");
        }
    }
}

#[test]
fn an_open_pace_sends_all_that_was_asked_for() {
    for io in backends() {
        let pace = Pace::Rate { per_second: 500.0, arrivals: Arrivals::Even, in_flight: 100 };
        let counts = Case::new(vec![phase(pace, requests(100))], |_| Act::Answer).run_on(io).counts();
        assert_eq!(counts.requests, 100, "on {io}: {counts:?}");
    }
}
