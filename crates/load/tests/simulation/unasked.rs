//! Bytes that no request has asked for: behind an answer, or over a connection on which nothing is under way. They are nobody's answer
//! (RFC 9112 section 6.3), whatever way requests go and however the bytes are cut into pieces.

use crate::programs;
use crate::scenario::Chooser;
use crate::server::{Move, Script, answer};
use crate::world::{Case, Ran, Server, page, phase, requests, tls_of};
use measure::Counts;
use net::Faults;
use plan::answer::{Check, Must, Selector};
use plan::{
    Arrivals, Delay, Expect, Http, Http1, Pace, Protocol, Redirects, Request, RequestStep, Resources,
    Session, Step, UrlOrder, UrlStep,
};
use std::time::Duration;

const THINK: Duration = Duration::from_millis(30);

/// Bytes that come too much.
const STRAY: [&[u8]; 6] = [
    b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecond",
    b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n",
    b"0\r\n\r\n",
    b"\r\n",
    b"!",
    &[b'+'; 100_000],
];

/// True if bytes say that the server has waited long enough.
fn is_408(bytes: &[u8]) -> bool {
    bytes.starts_with(b"HTTP/1.1 408")
}

/// Answers each request with `first`, and sends more after a while.
fn too_much(wait: Duration, stray: &'static [u8]) -> Script {
    Script::new(move |_| {
        let answer = answer(b"first");
        let stray = stray.to_vec();
        match wait.is_zero() {
            true => vec![Move::Send([answer, stray].concat())],
            false => vec![Move::Send(answer), Move::Wait(wait), Move::Send(stray)],
        }
    })
}

/// The page must hold what its answer holds.
fn checked(session: Session) -> Step {
    let at = Selector::parse("all", Default::default()).expect("a place");
    let expect = Expect { checks: vec![Check::of(at, Must::Contain("first".into()))], ..Expect::default() };
    let requests = vec![Request::get("http://server/page"), Request::get("http://server/other")];
    Step::Requests(RequestStep { requests: requests.into(), expect, session, ..RequestStep::default() })
}

/// Ways that requests go, each with its protocol.
fn ways() -> Vec<(&'static str, Step, Http)> {
    let follows = Session { redirects: Some(Redirects::default()), ..Session::default() };
    let remembers = Session { cookies: true, ..follows.clone() };
    let urls = ["/a", "/b"].map(|path| format!("http://server{path}")).to_vec();
    let urls = UrlStep { urls, order: UrlOrder::Loop, ..UrlStep::default() };
    let plain = Http::default;
    vec![
        ("one request, the fast path", page(), plain()),
        ("checks", checked(Session::default()), plain()),
        ("redirections", checked(follows), plain()),
        ("a memory", checked(remembers), plain()),
        ("URLs", Step::Urls(urls), plain()),
        ("a program", Step::Script(programs::step()), plain()),
        ("a limit of requests", page(), Http { requests_per_connection: Some(3), ..plain() }),
    ]
}

fn thinking(step: Step, http: Http, script: Script, count: u64) -> Case {
    let pace = Pace::Thinking { users: 2, think: Delay::Fixed { delay: THINK } };
    let mut case = Case::new(vec![phase(step.clone(), pace, requests(count))], Server::Script(script));
    case.load.protocol = Protocol::Http(http);
    if matches!(step, Step::Script(_)) {
        case.program = Some(programs::THINKING);
    }
    case
}

/// Has a run speak TLS.
fn secured(case: &mut Case) {
    case.tls = Some(tls_of(&mut Chooser::new(7, 0), &[]));
    let Protocol::Http(http) = &mut case.load.protocol else { unreachable!("it speaks HTTP/1") };
    http.tls = Some(plan::Tls { verify: false, ..plan::Tls::default() });
}

/// Asserts that all requests of a run were answered well, each over a connection of its own, and that stray bytes were counted.
fn harmed_nobody(ran: &Ran, count: u64, stray: &[u8], what: &str) {
    let counts = ran.counts();
    let Counts { requests, ok, failed, check_failed, resent, .. } = counts;
    // A program begins the last ones together, and counts them as one.
    assert!((count - 2..=count).contains(&requests), "{what}: {counts:?}");
    assert_eq!((ok, failed, check_failed, resent), (requests, 0, 0, 0), "{what}: {counts:?}");
    // Nobody looks behind the last answer of each user.
    let seen = counts.stray + counts.idle_timeouts;
    assert!((requests - 2..=requests).contains(&seen), "{what}: {counts:?}");
    let as_stray = if is_408(stray) { 0 } else { seen };
    assert_eq!(counts.stray, as_stray, "{what}: {counts:?}");
    // What is still on its way when the connection is given up is not seen.
    let all = as_stray * stray.len() as u64;
    let is_short = stray.len() < 1000;
    assert!(counts.stray_bytes == all || !is_short && counts.stray_bytes < all, "{what}: {counts:?}");
    assert_eq!((ran.then.open_sockets, ran.end.buffers_outstanding), (1, 0), "{what}");
}

#[test]
fn stray_bytes_are_no_answer_whichever_way_requests_go_and_whenever_they_come() {
    for (way, step, http) in ways() {
        for stray in STRAY {
            for wait in [0, 1, 5_000] {
                // Where a program sends to says its URL.
                let is_program = matches!(step, Step::Script(_));
                for secure in [false, true].into_iter().filter(|secure| !secure || !is_program) {
                    let script = too_much(Duration::from_micros(wait), stray);
                    let mut case = thinking(step.clone(), http.clone(), script, 12);
                    if secure {
                        secured(&mut case);
                    }
                    let shown = String::from_utf8_lossy(&stray[..stray.len().min(30)]);
                    let what = format!("{way}, {wait} µs, TLS {secure}, {shown:?}");
                    harmed_nobody(&case.run(), 12, stray, &what);
                }
            }
        }
    }
}

/// Batches: what comes behind the last answer of one is not the first of the next, and what comes between two of them is
/// the second.
#[test]
fn a_batch_of_requests_gets_as_many_answers_and_no_more() {
    for (wait, stray) in [(0, STRAY[0]), (5_000, STRAY[0]), (5_000, STRAY[2])] {
        let script = Script::new(move |asked| {
            let mut moves = vec![Move::Send(answer(b"first"))];
            if asked.number % 4 == 3 {
                moves.extend([Move::Wait(Duration::from_micros(wait)), Move::Send(stray.to_vec())]);
            }
            moves
        });
        let http = Http { h1: Http1 { pipeline: 4, ..Http1::default() }, ..Http::default() };
        let mut case = thinking(checked(Session::default()), http, script, 40);
        case.load.phases[0].pace = Pace::Thinking { users: 1, think: Delay::Fixed { delay: THINK } };
        let counts = case.run().counts();
        assert_eq!((counts.requests, counts.ok, counts.connections), (40, 40, 10), "{wait}: {counts:?}");
        assert!((9..=10).contains(&counts.stray), "{wait}: {counts:?}");
    }
}

/// A page and what it needs, over two connections of its user.
#[test]
fn stray_bytes_are_no_resource_of_a_page() {
    let html = "first <img src=/1><img src=/2><img src=/3><img src=/4>";
    for wait in [0, 5_000] {
        let script = Script::new(move |_| {
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n", html.len());
            let whole = format!("{head}Content-Type: text/html\r\n\r\n{html}").into_bytes();
            vec![Move::Send(whole), Move::Wait(Duration::from_micros(wait)), Move::Send(STRAY[0].to_vec())]
        });
        let resources = Some(Resources { parallel: 2, ..Resources::default() });
        let session = Session { resources, ..Session::default() };
        let mut case = thinking(checked(session), Http::default(), script, 6);
        case.faults = Faults { delay: (Duration::ZERO, Duration::ZERO), ..Faults::default() };
        let counts = case.run().counts();
        assert_eq!(counts.requests, counts.ok + counts.failed, "{counts:?}");
        assert!(counts.pages == 6 && counts.stray > 0, "{counts:?}");
        if wait == 0 {
            assert_eq!((counts.failed, counts.check_failed), (0, 0), "{counts:?}");
        }
    }
}

/// Connections that were opened ahead, and over which the server says something before anything was sent.
#[test]
fn words_on_a_connection_that_was_opened_ahead_are_no_answer() {
    for (words, stray, timeouts) in [
        (&b"HTTP/1.1 408 Request Time-out\r\nConnection: close\r\n\r\n"[..], 0, 4),
        (b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n", 4, 0),
        (b"220 mail.example ESMTP\r\n", 4, 0),
        (b"", 0, 0),
    ] {
        for secure in [false, true] {
            let idle = Some((Duration::from_millis(100), words.to_vec()));
            let script = Script { idle, ..Script::new(|_| vec![Move::Send(answer(b"first"))]) };
            let pace = Pace::Rate { per_second: 2.0, arrivals: Arrivals::Even, in_flight: 100 };
            let mut phase = phase(page(), pace, requests(8));
            phase.preconnect = Some(4);
            let mut case = Case::new(vec![phase], Server::Script(script));
            if secure {
                secured(&mut case);
            }
            let counts = case.run().counts();
            let what = format!("{} TLS {secure}: {counts:?}", words.escape_ascii());
            assert_eq!((counts.requests, counts.ok, counts.failed, counts.resent), (8, 8, 0, 0), "{what}");
            // The server ends the connection behind each answer, too, when the next request is long in coming.
            assert!(counts.preconnected == 4 && counts.connections > 8, "{what}");
            assert_eq!(counts.stray > 0, stray > 0, "{what}");
            assert_eq!(counts.idle_timeouts > 0, timeouts > 0, "{what}");
        }
    }
}
