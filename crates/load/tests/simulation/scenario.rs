//! A scenario from a seed: a load, an origin and a network, each with whatever misbehaviour the seed wants.

use crate::world::{Case, Server, load};
use net::Faults;
use plan::draw::Draw;
use plan::popularity::Popularity;
use plan::site::{Site, Size};
use plan::{
    Arrivals, CheckContent, CloseBy, Delay, Http1, ObjectStep, Origin, Pace, Phase, Protocol, Reading,
    Request, RequestStep, Resend, Scenario, Step, Stop,
};
use std::time::Duration;

/// What a seed chooses from.
pub struct Chooser(Draw);

impl Chooser {
    fn one<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.0.below(choices.len() as u64) as usize].clone()
    }

    fn some(&mut self, chance: f64) -> bool {
        self.0.chance(chance)
    }

    fn time(&mut self, least_ms: u64, most_ms: u64) -> Duration {
        Duration::from_micros(1_000 * least_ms + self.0.below(1_000 * (most_ms - least_ms) + 1))
    }

    /// Mostly nothing, otherwise a small share.
    fn share(&mut self) -> f64 {
        self.one(&[0.0, 0.0, 0.0, 0.005, 0.05])
    }
}

/// The scenario of a seed.
pub fn of_seed(seed: u64) -> Case {
    let mut choose = Chooser(Draw::new(seed, 0x51));
    let phases = (0..choose.one(&[1, 1, 2, 3])).map(|_| phase(&mut choose)).collect();
    let mut case = Case::new(phases, Server::Origin(Box::new(origin(&mut choose))));
    case.load.protocol = Protocol::Http1(http1(&mut choose));
    case.load.limits = plan::Limits {
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

fn phase(choose: &mut Chooser) -> Phase {
    let per_second = choose.one(&[5.0, 100.0, 1_000.0]);
    let arrivals = choose.one(&[Arrivals::Even, Arrivals::Poisson, Arrivals::EachSecond]);
    let in_flight = choose.one(&[1, 5, 100]);
    let pace = match choose.some(0.5) {
        true => Pace::Users(choose.one(&[1, 2, 7, 20])),
        false => Pace::Rate { per_second, arrivals, in_flight },
    };
    let after = choose.time(1, 1_500);
    let requests = choose.one(&[1, 2, 10, 100, 300]);
    let stop = match choose.one(&[0, 1, 2]) {
        0 => Stop { requests: Some(requests), ..Stop::default() },
        1 => Stop { after: Some(after), ..Stop::default() },
        _ => Stop { after: Some(after), requests: Some(requests), ..Stop::default() },
    };
    let steps = (0..choose.one(&[1, 1, 2])).map(|_| step(choose)).collect();
    Phase { name: "measure".to_owned(), measured: true, scenario: Scenario { steps }, pace, stop }
}

fn step(choose: &mut Chooser) -> Step {
    if choose.some(0.25) {
        let request = |object: u64| Request::get(&format!("http://server/w/{object:x}/{}", 700 * object));
        let requests = [0, 1, 2].map(request).to_vec();
        return Step::Requests(RequestStep { requests, ..RequestStep::default() });
    }
    let speed = choose.one(&[10_000, 1_000_000]);
    let reading = match choose.some(0.2) {
        true => Reading { bytes_per_second: Some(speed), slow: 0.3, ..Reading::default() },
        false => Reading::default(),
    };
    Step::Object(ObjectStep {
        popularity: Popularity { hot: choose.one(&[1, 50]), one_timers: 0.2, ..Popularity::default() },
        reload: choose.one(&[0.0, 0.3]),
        revalidate: choose.one(&[0.0, 0.3]),
        range: choose.one(&[0.0, 0.3]),
        abort: choose.one(&[0.0, 0.0, 0.2]),
        reading,
    })
}

fn http1(choose: &mut Chooser) -> Http1 {
    Http1 {
        requests_per_connection: choose.one(&[None, None, Some(1), Some(5)]),
        close: choose.one(&[CloseBy::Fin, CloseBy::Reset]),
        post_bytes: choose.one(&[None, None, None, Some(10), Some(200_000)]),
        resend: choose.one(&[Resend::Idle, Resend::Safe, Resend::Safe, Resend::Never]),
        ..Http1::default()
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
        remember: 4,
        ..Origin::default()
    }
}

fn faults(choose: &mut Chooser) -> Faults {
    let (near, far) = (choose.time(1, 2), choose.time(2, 40));
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
        lags: choose.share(),
        lag: choose.time(0, 50),
    }
}
