//! Logs made from known laws, so that whatever is read or learnt of them can be compared with the truth. For tests and benches: only
//! with the feature `made`.

mod formats;

pub use formats::{FORMATS, HEAD, is_by_end, write_head, write_line};

use plan::draw::{Draw, fraction, hash};
use plan::popularity::{Pick, Popularity, Sampler};
use plan::site::{Site, Size};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The laws of a log.
#[derive(Debug, Clone)]
pub struct Laws {
    /// Seed of everything.
    pub seed: u64,
    /// Requests.
    pub requests: u64,
    /// When the first begins, in microseconds since 1970.
    pub begins_us: i64,
    /// Requests per second, a Poisson process.
    pub per_second: f64,
    /// Users, each of whom asks again and again.
    pub users: u64,
    /// Which objects.
    pub popularity: Popularity,
    /// How large they are.
    pub size: Size,
    /// Mean duration of a request in microseconds, exponential.
    pub duration_us: f64,
    /// Share of requests that are answered 304.
    pub not_modified: f64,
    /// Share of requests that find nothing.
    pub not_found: f64,
    /// Share of answers that are broken off.
    pub aborted: f64,
}

impl Default for Laws {
    fn default() -> Laws {
        Laws {
            seed: 1,
            requests: 10_000,
            begins_us: 1_790_000_000_000_000,
            per_second: 500.0,
            users: 300,
            popularity: Popularity {
                hot: 2_000,
                law: plan::Law::Zipf { alpha: 0.9 },
                one_timers: 0.2,
                ..Popularity::default()
            },
            size: Size::Heavy { median: 8_000, sigma: 1.2, tail: 0.05, shape: 1.3, max: 10_000_000 },
            duration_us: 20_000.0,
            not_modified: 0.0,
            not_found: 0.0,
            aborted: 0.0,
        }
    }
}

/// One exchange, as it truly was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fact {
    /// When it began, in microseconds since 1970.
    pub begin_us: i64,
    /// Its number.
    pub number: u64,
    /// How long it took in microseconds.
    pub duration_us: u64,
    /// Who asked, from 0.
    pub user: u64,
    /// Id of the object, as the plan has it.
    pub object: u64,
    /// Size of the object in bytes.
    pub size: u64,
    /// Bytes of the body that were sent.
    pub sent: u64,
    /// Status.
    pub status: u16,
    /// The object had been asked for before.
    pub hit: bool,
}

impl Fact {
    /// When it ended, in microseconds since 1970.
    pub fn end_us(&self) -> i64 {
        self.begin_us + self.duration_us as i64
    }
}

/// The exchanges of these laws, in the order in which they begin.
pub fn facts(laws: &Laws) -> impl Iterator<Item = Fact> {
    let laws = laws.clone();
    let site = Site { size: laws.size, ..Site::default() };
    let sampler = Sampler::new(&laws.popularity);
    let mut now = laws.begins_us as f64;
    let mut seen = std::collections::HashSet::new();
    (0..laws.requests).map(move |number| {
        let mut draw = Draw::new(laws.seed, number);
        if number > 0 {
            now += -(1.0 - draw.unit()).ln() / laws.per_second * 1e6;
        }
        let pick = sampler.pick(&mut draw, number, now as u64);
        let object = pick.object(0);
        let size = site.size_of(object);
        let status = match draw.unit() {
            at if at < laws.not_modified => 304,
            at if at < laws.not_modified + laws.not_found => 404,
            _ => 200,
        };
        let aborted = status == 200 && draw.chance(laws.aborted);
        let sent = match status {
            304 => 0,
            404 => 150,
            _ if aborted => draw.below(size.max(1)),
            _ => size,
        };
        let hit = match pick {
            // What comes once need not be remembered.
            Pick::Once(_) => false,
            Pick::Hot { .. } => !seen.insert(object),
        };
        Fact {
            begin_us: now as i64,
            number,
            duration_us: (-(1.0 - draw.unit()).ln() * laws.duration_us) as u64 + 1,
            user: draw.below(laws.users.max(1)),
            object,
            size,
            sent,
            // A client that went away is 499 where nginx logs it, and 200 elsewhere.
            status,
            hit,
        }
    })
}

/// The same exchanges in the order in which they end, as most servers log them.
pub fn by_end(facts: impl Iterator<Item = Fact>) -> impl Iterator<Item = Fact> {
    let mut facts = facts.peekable();
    let mut open: BinaryHeap<Reverse<(i64, u64, Fact)>> = BinaryHeap::new();
    std::iter::from_fn(move || {
        loop {
            let next = facts.peek().map(|fact| fact.begin_us);
            match (open.peek(), next) {
                (Some(Reverse((end, _, _))), next) if next.is_none_or(|begin| *end <= begin) => break,
                (_, Some(_)) => {
                    let fact = facts.next().expect("it was seen");
                    open.push(Reverse((fact.end_us(), fact.number, fact)));
                }
                (None, None) => return None,
                (Some(_), None) => unreachable!("the arm above takes it"),
            }
        }
        open.pop().map(|Reverse((_, _, fact))| fact)
    })
}

/// Appends the path of an object: words that anonymisation leaves alone, and an ending by its kind.
pub fn write_path(out: &mut Vec<u8>, object: u64) {
    const SECTIONS: [&str; 8] = ["news", "shop", "static", "images", "blog", "media", "docs", "api"];
    const ENDINGS: [&str; 6] = [".html", ".css", ".js", ".jpg", ".png", ".json"];
    let bits = hash(0x9A7, object);
    out.push(b'/');
    out.extend_from_slice(SECTIONS[bits as usize % SECTIONS.len()].as_bytes());
    let mut rest = object ^ 0x5bd1;
    // Letters in groups of five: no part of it looks like a token.
    for _ in 0..3 {
        out.push(b'/');
        for _ in 0..5 {
            out.push(b'a' + (rest % 26) as u8);
            rest /= 26;
        }
    }
    out.push(b'/');
    itoa_to(out, rest);
    out.extend_from_slice(ENDINGS[(bits >> 8) as usize % ENDINGS.len()].as_bytes());
}

/// Appends the address of a user.
pub fn write_address(out: &mut Vec<u8>, user: u64) {
    let bits = user.wrapping_add(0x0A00_0001);
    for place in (0..4).rev() {
        itoa_to(out, bits >> (8 * place) & 255);
        if place > 0 {
            out.push(b'.');
        }
    }
}

/// The User-Agent of a user.
pub fn agent(user: u64) -> &'static str {
    const AGENTS: [&str; 5] = [
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1",
        "Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0",
        "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.example.com/bot.html)",
        "curl/8.11.0",
    ];
    AGENTS[(fraction(hash(0xA6E, user)) * AGENTS.len() as f64) as usize]
}

/// Appends a number.
pub(crate) fn itoa_to(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}
