//! A scenario from a seed: a load, an origin and a network, each with whatever misbehaviour the seed wants.

use crate::programs;
use crate::web;
use crate::world::{Case, Server, load, phase as phase_of, tls_of};
use net::Faults;
use plan::answer::{Check, Extract, IsoForm, Must, Selector};
use plan::data::Data;
use plan::draw::Draw;
use plan::message::{Correlation, Framing, Message, MessageOrder, MessageService, Pushed};
use plan::popularity::Popularity;
use plan::site::{Site, Size};
use plan::{
    Arrivals, CheckContent, CloseBy, Delay, Http, Http1, Http1Version, Http2, Http3, Io, MessageConnections,
    MessageStep, ObjectStep, Origin, Pace, Phase, Plan, Protocol, Reading, Request, RequestStep, Resend,
    Scenario, Stage, Step, Stop, StreamFaults, Tls, Transport, UrlOrder, UrlStep,
};
use std::time::Duration;

/// Choices drawn from a seed.
pub struct Chooser(Draw);

impl Chooser {
    pub fn new(seed: u64, attempt: u64) -> Chooser {
        Chooser(Draw::new(seed, 0x51 + attempt))
    }

    pub fn one<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.0.below(choices.len() as u64) as usize].clone()
    }

    pub fn some(&mut self, chance: f64) -> bool {
        self.0.chance(chance)
    }

    pub fn time(&mut self, least_ms: u64, most_ms: u64) -> Duration {
        Duration::from_micros(1_000 * least_ms + self.0.below(1_000 * (most_ms - least_ms) + 1))
    }

    /// Mostly nothing, otherwise a small share.
    fn share(&mut self) -> f64 {
        self.one(&[0.0, 0.0, 0.0, 0.005, 0.05])
    }
}

/// Kind of traffic that is sent, and who answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Objects, requests and URLs, and the origin.
    Objects,
    /// Objects and requests over HTTP/2, and the origin, which refuses, stalls and leaves now and then.
    Http2,
    /// The same over HTTP/3.
    Http3,
    /// Requests of users with a memory, batches of requests, and URLs that lead on; and a web server.
    Web,
    /// TCP messages, and the origin.
    Messages,
    /// Requests that a program writes, and the origin.
    Program,
}

/// The scenario of a seed: the first one drawn that a plan may hold.
pub fn of_seed(seed: u64) -> Case {
    let drawn = (0..100).map(|attempt| draw(seed, attempt));
    let case = drawn.into_iter().find(|case| violations(case).is_empty());
    case.unwrap_or_else(|| panic!("seed {seed}: {:?}", violations(&draw(seed, 0))))
}

/// Returns the violations that the check of plans finds in a case.
fn violations(case: &Case) -> Vec<String> {
    let origin = match &case.server {
        Server::Origin(origin) => Some((**origin).clone()),
        Server::Script(_) => None,
    };
    let site = case.site.clone();
    let load = Some(case.load.clone());
    Plan { version: Plan::VERSION, seed: case.seed, threads: None, io: Io::Auto, site, load, origin }.check()
}

fn draw(seed: u64, attempt: u64) -> Case {
    let mut choose = Chooser::new(seed, attempt);
    use Kind::{Http2, Http3, Messages, Objects, Program, Web};
    let kind = choose.one(&[
        Objects, Objects, Objects, Http2, Http2, Http2, Http3, Http3, Web, Web, Messages, Messages, Program,
    ]);
    let phases = match kind {
        Program => 1,
        Objects | Http2 | Http3 | Web | Messages => choose.one(&[1, 1, 2, 3]),
    };
    let service = message_service(&mut choose);
    let phases = (0..phases).map(|_| phase(&mut choose, kind, &service)).collect();
    let mut origin = origin(&mut choose);
    origin.messages = (kind == Messages).then_some(service);
    if matches!(kind, Http2 | Http3) {
        origin.stream_faults = stream_faults(&mut choose);
    }
    let server = match kind {
        Web => Server::Script(web::server(seed)),
        Objects | Http2 | Http3 | Messages | Program => Server::Origin(Box::new(origin)),
    };
    let mut case = Case::new(phases, server);
    let secure = choose.some(0.15) || kind == Http3;
    case.load.protocol = protocol(&mut choose, kind, secure);
    let alpn: &[&str] = match kind {
        Http2 => &["h2"],
        Http3 => &["h3"],
        _ => &[],
    };
    case.tls = secure.then(|| tls_of(&mut choose, alpn));
    case.program = (kind == Program).then(|| choose.one(&programs::ALL));
    case.workers = choose.one(&[1, 1, 1, 2, 3]);
    case.load.limits = plan::LoadLimits {
        connect: choose.time(5, 500),
        request: choose.time(20, 2_000),
        grace: choose.time(0, 500),
        ..load(Vec::new()).limits
    };
    case.load.check.content = choose.one(&[CheckContent::All, CheckContent::Prefix, CheckContent::Nothing]);
    case.site = site(&mut choose);
    case.stop_after = choose.some(0.2).then(|| choose.time(0, 2_000));
    // A good network as often as not: there, the accounts of both sides must agree to the byte.
    case.faults = if choose.some(0.6) { faults(&mut choose) } else { good_network() };
    case.seed = seed;
    case
}

/// Where nothing goes wrong; slow enough that a closed pace does not send a hundred thousand requests.
pub fn good_network() -> Faults {
    let way = Duration::from_micros(800);
    Faults { delay: (way, way), ..Faults::default() }
}

fn phase(choose: &mut Chooser, kind: Kind, service: &MessageService) -> Phase {
    let after = choose.time(1, 1_500);
    let requests = choose.one(&[1, 2, 10, 100, 300]);
    let mut stop = match choose.one(&[0, 1, 2]) {
        0 => Stop { requests: Some(requests), ..Stop::default() },
        1 => Stop { after: Some(after), ..Stop::default() },
        _ => Stop { after: Some(after), requests: Some(requests), ..Stop::default() },
    };
    let pace = pace(choose);
    stop.failures = choose.one(&[None, None, None, None, Some(1), Some(10)]);
    stop.turns_per_user = choose.some(0.1).then_some(3).filter(|_| pace.closed().is_some());
    let steps = match kind {
        Kind::Program | Kind::Messages => 1,
        Kind::Objects | Kind::Http2 | Kind::Http3 | Kind::Web => choose.one(&[1, 1, 2]),
    };
    let steps = (0..steps).map(|_| step(choose, kind, service)).collect();
    let preconnect = choose.one(&[None, None, Some(3)]);
    Phase { scenario: Scenario::of(steps), preconnect, ..phase_of(crate::world::page(), pace, stop) }
}

fn pace(choose: &mut Chooser) -> Pace {
    let per_second = choose.one(&[5.0, 100.0, 1_000.0]);
    let arrivals =
        choose.one(&[Arrivals::Even, Arrivals::Poisson, Arrivals::EachSecond, Arrivals::Bursts(7)]);
    let users = choose.one(&[1, 2, 7, 20]);
    let in_flight = choose.one(&[1, 5, 100]);
    let think = choose.time(1, 100);
    let think = choose.one(&[Delay::Fixed { delay: think }, Delay::Exponential { mean: think }]);
    let stages = Stage::parse_list("200ms:100,100ms:0,300ms:0..1000,100ms:50").expect("stages");
    match choose.one(&[0, 0, 0, 0, 1, 1, 1, 2, 3, 4, 5]) {
        0 => Pace::Users(users),
        1 => Pace::Rate { per_second, arrivals, in_flight },
        2 => Pace::Thinking { users, think },
        3 => Pace::Timetable { users, per_second },
        4 => Pace::Connections { per_second, arrivals, in_flight },
        _ => Pace::Stages { stages, arrivals, in_flight },
    }
}

fn step(choose: &mut Chooser, kind: Kind, service: &MessageService) -> Step {
    let listed = choose.some(0.25);
    match kind {
        Kind::Objects | Kind::Http2 | Kind::Http3 if listed => Step::Requests(listed_objects(choose)),
        Kind::Objects if choose.some(0.15) => {
            let urls = (0..5).map(|object| format!("http://server/w/{object:x}/{}", 700 * object)).collect();
            Step::Urls(UrlStep { urls, ..url_step(choose) })
        }
        Kind::Objects | Kind::Http2 | Kind::Http3 => Step::Object(object_step(choose)),
        Kind::Web if listed => {
            let urls = ["/page", "/other", "/next"].map(|path| format!("http://server{path}")).to_vec();
            Step::Urls(UrlStep { urls, ..url_step(choose) })
        }
        Kind::Web => Step::Requests(web::step(choose)),
        Kind::Messages => Step::Messages(message_step(choose, service)),
        Kind::Program => Step::Script(programs::step()),
    }
}

fn listed_objects(choose: &mut Chooser) -> RequestStep {
    let templates = choose.some(0.3);
    let request = |object: u64| Request::get(&format!("http://server/w/{object:x}/{}", 700 * object));
    let mut requests = [0, 1, 2].map(request).to_vec();
    if templates {
        requests.push(Request::get("http://server/w/{{int:1..9}}/{{int:0..3000}}"));
    }
    RequestStep { requests: requests.into(), templates, ..RequestStep::default() }
}

fn url_step(choose: &mut Chooser) -> UrlStep {
    UrlStep {
        order: choose.one(&[UrlOrder::Once, UrlOrder::Loop, UrlOrder::Random]),
        redirects: choose.some(0.5),
        links: choose.some(0.3),
        embedded: choose.some(0.3),
        once_each: choose.some(0.3),
        queue: choose.one(&[1, 10, 1_000]),
        reload: choose.one(&[0.0, 0.3]),
        ..UrlStep::default()
    }
}

fn object_step(choose: &mut Chooser) -> ObjectStep {
    let speed = choose.one(&[10_000, 1_000_000]);
    let reading = match choose.some(0.2) {
        true => Reading { bytes_per_second: Some(speed), slow: 0.3, ..Reading::default() },
        false => Reading::default(),
    };
    let hot = choose.one(&[1, 50]);
    let reload = choose.one(&[0.0, 0.3]);
    ObjectStep {
        popularity: Popularity { hot, one_timers: 0.2, ..Popularity::default() },
        reload,
        revalidate: choose.one(&[0.0, 0.3]),
        range: choose.one(&[0.0, 0.3]),
        abort: choose.one(&[0.0, 0.0, 0.2]),
        // Drawn with another choice, so that worlds known by their seeds stay what they were.
        head: reload,
        reading,
        ..ObjectStep::default()
    }
}

fn message_service(choose: &mut Chooser) -> MessageService {
    let framings = ["lines", "ascii:4", "binary:2", "little:4", "hex:4", "delimiter:\\x03", "close"];
    MessageService {
        framing: Framing::parse(choose.one(&framings)).expect("a framing"),
        failures: choose.one(&[0.0, 0.2]),
        drops: choose.share(),
        silent: choose.share(),
        wrong_lengths: choose.share(),
        split: choose.one(&[0, 0, 3, 100]),
        pushes: choose.one(&[0.0, 0.0, 0.2]),
        ..MessageService::default()
    }
}

/// Messages with a number of eight digits, and answers with a code of two and the message.
fn message_step(choose: &mut Chooser, service: &MessageService) -> MessageStep {
    let spot = |text| Selector::parse(text, IsoForm::default()).expect("a place");
    let field = |name, source| Data::parse(name, source).expect("a source");
    let text = "x".repeat(choose.one(&[0, 10, 3_000]));
    let order = choose.one(&[MessageOrder::Loop, MessageOrder::Weighted, MessageOrder::Sequence]);
    let mut messages = vec![Message::of(format!("{{{{n}}}}PAY{text}")), Message::of("{{n}}ASK")];
    if order == MessageOrder::Sequence {
        messages[0].extract = vec![Extract::of("taken", spot("fixed 3 8"), None)];
        messages[1].body = "{{n}}{{taken}}".into();
    }
    MessageStep {
        framing: service.framing.clone(),
        messages,
        order,
        data: vec![field("n", "counter:1..99999999 as %08d")],
        code: Some(Check::of(spot("fixed 1 2"), Must::BeOneOf(vec!["00".into()]))),
        correlation: choose
            .some(0.3)
            .then(|| Correlation { request: spot("fixed 1 8"), answer: spot("fixed 3 8") }),
        pushed: (service.pushes > 0.0).then(|| Pushed { at: spot("fixed 1 4"), is: vec!["push".into()] }),
        pipeline: choose.one(&[1, 1, 4, 30]),
        ..MessageStep::default()
    }
}

fn protocol(choose: &mut Chooser, kind: Kind, secure: bool) -> Protocol {
    let tls = secure.then(|| Tls { verify: false, ..Tls::default() });
    let http = http(choose);
    match kind {
        Kind::Messages => Protocol::Messages(MessageConnections {
            requests_per_connection: http.requests_per_connection,
            close: http.close,
            tls,
            resend: http.resend,
        }),
        Kind::Objects => Protocol::Http(Http { tls, ..http }),
        Kind::Http2 => {
            let tls = tls.map(|tls| Tls { alpn: vec!["h2".to_owned()], ..tls });
            let http2 = Some(http2(choose));
            Protocol::Http(Http { tls, h2: http2, post_bytes: None, ..http })
        }
        Kind::Http3 => {
            let tls = tls.map(|tls| Tls { alpn: vec!["h3".to_owned()], ..tls });
            let http3 = Some(Box::new(http3(choose)));
            Protocol::Http(Http { tls, h3: http3, post_bytes: None, ..http })
        }
        Kind::Web => {
            let version = choose.one(&[Http1Version::OneOne, Http1Version::OneOne, Http1Version::OneZero]);
            let pipeline = choose.one(&[1, 1, 2, 7]);
            Protocol::Http(Http {
                tls,
                post_bytes: None,
                h1: Http1 { version, pipeline, ..Http1::default() },
                ..http
            })
        }
        Kind::Program => Protocol::Http(Http { tls, post_bytes: None, ..http }),
    }
}

fn http(choose: &mut Chooser) -> Http {
    Http {
        requests_per_connection: choose.one(&[None, None, Some(1), Some(5)]),
        close: choose.one(&[CloseBy::Fin, CloseBy::Reset]),
        post_bytes: choose.one(&[None, None, None, Some(10), Some(200_000)]),
        resend: choose.one(&[Resend::Idle, Resend::Safe, Resend::Safe, Resend::Never]),
        ..Http::default()
    }
}

fn http2(choose: &mut Chooser) -> Http2 {
    Http2 {
        streams: choose.one(&[1, 2, 5, 100]),
        coalesce: false,
        stream_window: choose.one(&[1_000, 65_535, 1 << 24]),
        connection_window: choose.one(&[65_535, 1 << 24]),
        decoder_table: choose.one(&[0, 100, 4_096]),
        encoder_table: choose.one(&[0, 100, 4_096]),
    }
}

fn http3(choose: &mut Chooser) -> Http3 {
    Http3 {
        streams: choose.one(&[1, 2, 5, 100]),
        coalesce: false,
        transport: choose.one(&[Transport::Real, Transport::Lab]),
        stream_window: choose.one(&[None, Some(2_000), Some(1 << 24)]),
        connection_window: choose.one(&[None, Some(65_535)]),
        payload: choose.one(&[None, Some(1_200), Some(9_000)]),
        migrate_every: choose.one(&[None, None, Some(Duration::from_millis(30))]),
        qlog: None,
    }
}

fn stream_faults(choose: &mut Chooser) -> StreamFaults {
    StreamFaults {
        refused: choose.share(),
        stalled: choose.share(),
        wrong_length: choose.share(),
        goaway: choose.share(),
        early_hints: choose.share(),
        misdirected: 0.0,
    }
}

fn site(choose: &mut Chooser) -> Site {
    Site {
        size: choose.one(&[
            Size::Fixed(0),
            Size::Fixed(500),
            Size::Fixed(40_000),
            Size::Uniform { min: 0, max: 5_000 },
            Size::Table,
        ]),
        change_every: choose.one(&[None, None, Some(Duration::from_secs(1))]),
        variants: choose.one(&[0, 3]),
        etag: choose.some(0.7),
        last_modified: choose.some(0.7),
        ..Site::default()
    }
}

fn origin(choose: &mut Chooser) -> Origin {
    let delay = choose.time(0, 30);
    Origin {
        requests_per_connection: choose.one(&[None, None, Some(1), Some(4)]),
        delay: choose.one(&[Delay::None, Delay::Fixed { delay }, Delay::Exponential { mean: delay }]),
        bytes_per_second: choose.one(&[None, None, None, Some(500_000)]),
        errors: choose.share(),
        aborts: choose.share(),
        chunked: choose.one(&[0.0, 0.5, 1.0]),
        ignores_ranges: choose.one(&[0.0, 0.5]),
        remember: 4,
        ..Origin::default()
    }
}

fn faults(choose: &mut Chooser) -> Faults {
    let near = choose.time(1, 2);
    let far = choose.time(2, 40);
    Faults {
        delay: choose.one(&[(near, near), (near, far)]),
        jitter: choose.one(&[Duration::ZERO, far]),
        segment: choose.one(&[(65_536, 65_536), (1_460, 1_460), (50, 3_000)]),
        receive_buffer: choose.one(&[131_072, 10_000]),
        short_reads: choose.one(&[0.0, 0.5]),
        short_writes: choose.one(&[0.0, 0.5]),
        refused: choose.share(),
        unanswered: choose.share(),
        exhausted: choose.share(),
        resets: choose.share(),
        lost: choose.share(),
        stalls: choose.share(),
        stall: choose.time(0, 1_000),
        mtu: choose.one(&[65_507, 1_252, 1_500]),
        datagrams_lost: choose.share(),
        datagrams_doubled: choose.share(),
        datagrams_marked: choose.share(),
        clears_ecn: choose.one(&[false, false, true]),
        lags: choose.share(),
        lag: choose.time(0, 50),
        standstill: None,
    }
}
