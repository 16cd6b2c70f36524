//! Users with a memory, and batches of requests, in simulated worlds: whatever the network does, what was begun has ended
//! in exactly one way, and nothing is left behind.

use crate::server::{Asked, Move, Script};
use crate::world::{Case, Server, requests};
use net::Faults;
use plan::{
    Auth, Credentials, Http, Http1, Pace, Protocol, Redirects, Request, RequestStep, Resources, Session, Step,
};
use std::time::Duration;

const PAGE: &str = "<img src=1><img src=2><img src=3><img src=4>";

/// Each answer in turn: a page, a redirection, a challenge, a plain one, and now and then an end.
fn answers(asked: Asked) -> Vec<Move> {
    let answer = |status: &str, fields: &str, body: &str| {
        let text = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n{fields}\r\n{body}", body.len());
        Move::Send(text.into_bytes())
    };
    match asked.number % 11 {
        0 | 7 => vec![answer("200 OK", "Content-Type: text/html\r\nETag: \"x\"\r\n", PAGE)],
        1 | 5 => vec![answer("302 Found", "Location: /next\r\nSet-Cookie: a=b\r\n", "")],
        2 => vec![answer("401 Unauthorized", "WWW-Authenticate: Basic realm=r\r\n", "")],
        3 => vec![Move::Wait(Duration::from_millis(5)), answer("200 OK", "", "late")],
        4 => vec![answer("200 OK", "Connection: close\r\n", "last"), Move::Close],
        9 => vec![Move::Reset],
        _ => vec![answer("200 OK", "", "plain")],
    }
}

fn session() -> Session {
    let credentials = Credentials::new("u", plan::Secret::typed("p"));
    Session {
        cookies: true,
        redirects: Some(Redirects { limit: 2, ..Redirects::default() }),
        auth: Some(Auth { credentials: vec![credentials], ..Auth::default() }),
        login: vec![Request::get("http://server/login")],
        resources: Some(Resources { parallel: 3, ..Resources::default() }),
        validators: plan::Validators::Always,
        ..Session::default()
    }
}

/// A run of so many requests from a seed, whose accounts must add up.
fn check(seed: u64, session: Session, http: Http, count: u64) {
    let list = vec![Request::get("http://server/page")];
    let step = Step::Requests(RequestStep { requests: list.into(), session, ..RequestStep::default() });
    let phase = crate::world::phase(step, Pace::Users(4), requests(count));
    let mut case = Case::new(vec![phase], Server::Script(Script::new(answers)));
    case.load.protocol = Protocol::Http(http);
    case.seed = seed;
    case.faults = Faults {
        refused: 0.05,
        resets: 0.01,
        short_reads: 0.2,
        short_writes: 0.2,
        segment: (1, 200),
        ..case.faults
    };
    let ran = case.run();
    let counts = ran.counts();
    let ended = counts.ok + counts.check_failed + counts.aborted + counts.failed + counts.unfinished;
    assert_eq!(counts.requests, ended, "seed {seed}: {counts:?}");
    assert!(counts.requests >= count, "seed {seed}: {counts:?}");
    assert_eq!((ran.left, counts.unfinished), (0, 0), "seed {seed}: {counts:?}");
    // The listener is the server's.
    let then = &ran.then;
    assert_eq!((then.open_sockets, then.buffers_outstanding), (1, 0), "seed {seed}: {then:?}");
}

#[test]
fn visits_end_in_exactly_one_way_each() {
    for seed in 1..=100 {
        check(seed, session(), Http::default(), 200);
    }
}

#[test]
fn batches_end_in_exactly_one_way_each() {
    for seed in 1..=100 {
        check(
            seed,
            Session::default(),
            Http { h1: Http1 { pipeline: 1 + (seed % 7) as u32, ..Http1::default() }, ..Http::default() },
            200,
        );
    }
}
