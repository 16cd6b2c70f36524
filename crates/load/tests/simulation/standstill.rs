//! A machine that stands still, with cache and origin on it: what was under way meanwhile is younger for the cache than it is.

use crate::scenario::Chooser;
use crate::server::{Move, Script, Seen};
use crate::world::{Case, Ran, Server, phase, requests, tls_of};
use measure::Fault;
use net::Faults;
use plan::message::{Framing, Message, MessageService};
use plan::popularity::Popularity;
use plan::site::{Lifetime, Paths, Site, Size, Stamp, StampKind, write_prefix};
use plan::{
    Arrivals, Delay, Http, MessageStep, ObjectStep, Origin, Pace, Phase, Protocol, Request, RequestStep,
    Step, Stop, Tls,
};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

/// When the simulated world begins, in microseconds since 1970.
const BEGINS_US: u64 = 1_767_225_600_000_000;
/// When the cache asks the origin, and when it has the answer.
const MADE: Duration = Duration::from_millis(1_500);
const STORED: Duration = Duration::from_millis(6_000);
/// Of each version, and of each answer.
const LIFE: Duration = Duration::from_secs(1);

fn site() -> Site {
    let lifetime = Lifetime::Fixed { max_age: LIFE };
    Site { change_every: Some(LIFE), lifetime, size: Size::Fixed(500), ..Site::default() }
}

/// A cache that keeps one answer, which it counts the age of from when it came. All others it has made anew.
fn cache(seen: Seen) -> Script {
    let moves = {
        let seen = seen.clone();
        move |asked: crate::server::Asked| {
            let (_, path) = seen.borrow().last().cloned().expect("this request");
            let is_kept = MADE <= asked.at && asked.at <= STORED + LIFE;
            vec![Move::Send(made(&path, if is_kept { MADE } else { asked.at }))]
        }
    };
    Script { seen: Some(seen), ..Script::new(moves) }
}

/// The origin's answer, made then.
fn made(path: &str, at: Duration) -> Vec<u8> {
    let site = site();
    let (object, size) = Paths::new(&site).read(path.as_bytes()).expect("an object");
    let made_at_us = BEGINS_US + at.as_micros() as u64;
    let version = site.version_at(object, made_at_us);
    let mut body = Vec::new();
    write_prefix(&mut body, object, version, 0, size);
    let rest = site.content(object, version, 0).pieces(body.len() as u64, size);
    rest.for_each(|piece| body.extend_from_slice(piece));
    let mut stamp = Vec::new();
    let kind = StampKind::Full;
    let serial = made_at_us;
    Stamp { serial, asked_by: 0, made_at_us, kind, sets_cookie: false, foreign: None }.write(&mut stamp);
    let stamp = String::from_utf8(stamp).expect("numbers");
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {size}\r\nWringer: {stamp}\r\n\r\n");
    [head.into_bytes(), body].concat()
}

fn ran(standstill: Option<(Duration, Duration)>) -> Ran {
    let popularity = Popularity { hot: 1, one_timers: 0.0, ..Popularity::default() };
    let step = Step::Object(ObjectStep { popularity, ..ObjectStep::default() });
    let pace = Pace::Rate { per_second: 50.0, arrivals: Arrivals::Even, in_flight: 1_000 };
    let phase = Phase { preconnect: Some(0), ..phase(step, pace, requests(400)) };
    let mut case = Case::new(vec![phase], Server::Script(cache(Rc::new(RefCell::new(Vec::new())))));
    case.site = site();
    case.load.limits.request = Duration::from_secs(30);
    case.load.limits.connect = Duration::from_secs(30);
    case.faults = Faults { standstill, ..Faults::default() };
    case.run()
}

fn stale(ran: &Ran) -> u64 {
    assert_eq!(ran.counts().requests, 400);
    let tally = ran.tally();
    assert!(
        tally.faults().all(|(fault, _)| fault == Fault::Stale),
        "{:?}",
        tally.faults().collect::<Vec<_>>()
    );
    tally.faults().map(|(_, count)| count).sum()
}

#[test]
fn what_was_under_way_while_the_machine_stood_still_is_not_stale() {
    let begins = MADE + Duration::from_millis(5);
    let whole = ran(Some((begins, STORED - begins)));
    assert_eq!((stale(&whole), whole.counts().ok), (0, 400));
    // A cache that stood still alone, or for longer than the machine, gave out what nobody should.
    assert!(stale(&ran(None)) > 50, "{}", stale(&ran(None)));
    let shorter = ran(Some((begins, Duration::from_secs(1))));
    assert!(stale(&shorter) > 10, "{}", stale(&shorter));
}

/// A run of three seconds and a little against an origin whose answers take some 400 ms, with a standstill that begins then.
fn slow(http: &Http, step: &Step, begins: Duration) -> Ran {
    let asks = matches!(step, Step::Messages(_));
    let messages = asks.then(|| MessageService { framing: framing(), ..MessageService::default() });
    let delay = Delay::Fixed { delay: Duration::from_millis(100) };
    let origin = Origin { delay, messages, bytes_per_second: Some(20_000), ..Origin::default() };
    let stop = Stop { after: Some(Duration::from_millis(3_050)), ..Stop::default() };
    let phase = phase(step.clone(), Pace::Users(8), stop);
    let mut case = Case::new(vec![phase], Server::Origin(Box::new(origin)));
    case.site.size = Size::Fixed(4_000);
    case.load.limits.connect = Duration::from_secs(1);
    case.load.limits.request = Duration::from_secs(1);
    case.load.limits.grace = Duration::from_secs(1);
    let alpn: &[&str] = if http.h3.is_some() { &["h3"] } else { &[] };
    case.tls = http.tls.is_some().then(|| tls_of(&mut Chooser::new(7, 0), alpn));
    case.load.protocol = match asks {
        true => Protocol::Messages(Default::default()),
        false => Protocol::Http(http.clone()),
    };
    let between = Duration::from_millis(50);
    let standstill = Some((begins, Duration::from_secs(9)));
    case.faults = Faults { delay: (between, between), standstill, ..Faults::default() };
    case.run()
}

fn framing() -> Framing {
    Framing::parse("ascii:4").expect("a framing")
}

/// Who stood still waited for nobody: what was asked for before is answered after it, however long it was beside the time limit.
#[test]
fn no_answer_is_late_for_a_standstill() {
    let asks =
        MessageStep { framing: framing(), messages: vec![Message::of("PAY")], ..MessageStep::default() };
    let list = vec![Request::get("http://peer:1/w/1/4000")].into();
    let page = Step::Requests(RequestStep { requests: list, ..RequestStep::default() });
    let objects = || Step::Object(ObjectStep::default());
    let http2 = || Http { h2: Some(Default::default()), ..Http::default() };
    let tls = Some(Tls { alpn: vec!["h3".to_owned()], verify: false, ..Tls::default() });
    let http3 = Http { tls, h3: Some(Box::default()), ..Http::default() };
    let protocols = [
        ("objects", Http::default(), objects()),
        ("a page", Http::default(), page.clone()),
        ("TLS", Http { tls: Some(Tls { verify: false, ..Tls::default() }), ..Http::default() }, objects()),
        ("HTTP/2", http2(), objects()),
        ("HTTP/2, a page", http2(), page),
        ("HTTP/3", http3, objects()),
        ("messages", Http::default(), Step::Messages(asks)),
    ];
    // While connections are opened, in the middle, and while the last answers are waited for.
    let moments = [60, 1_500, 3_060].map(Duration::from_millis);
    for ((name, http, step), begins) in protocols.iter().flat_map(|one| moments.map(|begins| (one, begins))) {
        let ran = slow(http, step, begins);
        let counts = ran.counts();
        assert_eq!((counts.ok, counts.unfinished), (counts.requests, 0), "{name}: {:?}", ran.failures());
        assert!(counts.ok >= 8 && ran.took > Duration::from_secs(9), "{name}: {:?}", ran.took);
    }
}
