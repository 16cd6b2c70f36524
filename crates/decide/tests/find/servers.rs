//! Servers that exist only in virtual time, each with a knee that is known by a formula.

use plan::draw::Draw;
use rand_distr::{Distribution, Exp1, StandardNormal};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A server in virtual time. Requests are known by numbers.
pub trait Server {
    /// Makes it new and empty, at this moment.
    fn reset(&mut self, seed: u64, now: f64);
    /// A request arrives; false: it is refused at once.
    fn arrive(&mut self, now: f64, request: usize) -> bool;
    /// When the next answer comes if nothing else arrives.
    fn next_departure(&self) -> Option<f64>;
    /// That answer comes.
    fn depart(&mut self) -> usize;
    /// How long a service takes now relative to the usual; what a test may look at.
    fn in_flight(&self) -> usize;
}

/// How long services take.
#[derive(Debug, Clone, Copy)]
pub enum Service {
    Exponential,
    Fixed,
    /// Two exponential laws with balanced means, of this squared variation.
    Hyper(f64),
}

impl Service {
    fn draw(self, draw: &mut Draw) -> f64 {
        match self {
            Service::Fixed => 1.0,
            Service::Exponential => Exp1.sample(draw),
            Service::Hyper(squared_variation) => {
                let share = (1.0 + ((squared_variation - 1.0) / (squared_variation + 1.0)).sqrt()) / 2.0;
                let chosen = if draw.unit() < share { share } else { 1.0 - share };
                let one: f64 = Exp1.sample(draw);
                one / (2.0 * chosen)
            }
        }
    }
}

/// How speed changes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Moods {
    /// Standard deviation of the logarithm of a trial's speed.
    pub noise: f64,
    /// Share by which the speed falls each second.
    pub drift: f64,
    /// Nothing is served for so many seconds of each `every`.
    pub pause: f64,
    pub every: f64,
}

#[derive(Clone, Copy, PartialEq)]
struct At(f64, usize);
impl PartialOrd for At {
    fn partial_cmp(&self, other: &At) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Eq for At {}
impl Ord for At {
    fn cmp(&self, other: &At) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }
}

/// First come, first served, by so many servers of a rate each; at most `room` requests at once.
pub struct Queue {
    pub servers: usize,
    pub rate: f64,
    pub service: Service,
    pub room: usize,
    pub moods: Moods,
    speed: f64,
    draw: Draw,
    waiting: VecDeque<usize>,
    served: BinaryHeap<Reverse<At>>,
}

impl Queue {
    pub fn new(servers: usize, rate: f64, service: Service) -> Queue {
        Queue {
            servers,
            rate,
            service,
            room: usize::MAX,
            moods: Moods::default(),
            speed: 1.0,
            draw: Draw::new(0, 0),
            waiting: VecDeque::new(),
            served: BinaryHeap::new(),
        }
    }

    fn begin(&mut self, now: f64, request: usize) {
        let drifted = (1.0 - self.moods.drift).powf(now);
        let mut left = self.service.draw(&mut self.draw) / (self.rate * self.speed * drifted);
        let mut end = now;
        if self.moods.every > 0.0 {
            // Work goes on only outside of pauses, which are at the end of each period.
            loop {
                let into = end % self.moods.every;
                let until_pause = self.moods.every - self.moods.pause - into;
                if until_pause > left {
                    end += left;
                    break;
                }
                left -= until_pause.max(0.0);
                end += self.moods.every - into;
            }
        } else {
            end += left;
        }
        self.served.push(Reverse(At(end, request)));
    }
}

impl Server for Queue {
    fn reset(&mut self, seed: u64, _now: f64) {
        self.draw = Draw::new(seed, 1);
        let normal: f64 = StandardNormal.sample(&mut self.draw);
        self.speed = (self.moods.noise * normal).exp();
        self.waiting.clear();
        self.served.clear();
    }

    fn arrive(&mut self, now: f64, request: usize) -> bool {
        if self.in_flight() >= self.room {
            return false;
        }
        if self.served.len() < self.servers {
            self.begin(now, request);
        } else {
            self.waiting.push_back(request);
        }
        true
    }

    fn next_departure(&self) -> Option<f64> {
        self.served.peek().map(|next| next.0.0)
    }

    fn depart(&mut self) -> usize {
        let Reverse(At(now, request)) = self.served.pop().expect("somebody is served");
        if let Some(next) = self.waiting.pop_front() {
            self.begin(now, next);
        }
        request
    }

    fn in_flight(&self) -> usize {
        self.waiting.len() + self.served.len()
    }
}

/// First come, first served, with exponential services whose rate depends on how many are there, and on its mood.
pub struct Moody {
    /// The rate by how many are there, and whether the mood is bad.
    pub rate: fn(usize, bool) -> f64,
    /// From so many on its mood is bad …
    pub bad_from: usize,
    /// … until so few are left, and so many seconds have passed.
    pub good_at: usize,
    pub bad_for_s: f64,
    bad_since: Option<f64>,
    now: f64,
    next: f64,
    draw: Draw,
    there: VecDeque<usize>,
}

impl Moody {
    pub fn new(rate: fn(usize, bool) -> f64, bad_from: usize, good_at: usize, bad_for_s: f64) -> Moody {
        let draw = Draw::new(0, 0);
        let there = VecDeque::new();
        Moody { rate, bad_from, good_at, bad_for_s, bad_since: None, now: 0.0, next: 0.0, draw, there }
    }

    /// Exponential services forget, so the next end may be drawn anew whenever something changes.
    fn draw_next(&mut self) {
        match self.bad_since {
            Some(since) if self.there.len() <= self.good_at && self.now - since >= self.bad_for_s => {
                self.bad_since = None
            }
            None if self.there.len() >= self.bad_from => self.bad_since = Some(self.now),
            Some(_) | None => {}
        }
        let wait: f64 = Exp1.sample(&mut self.draw);
        self.next = self.now + wait / (self.rate)(self.there.len(), self.bad_since.is_some());
    }
}

impl Server for Moody {
    fn reset(&mut self, seed: u64, now: f64) {
        self.draw = Draw::new(seed, 2);
        self.there.clear();
        self.bad_since = None;
        self.now = now;
    }

    fn arrive(&mut self, now: f64, request: usize) -> bool {
        self.now = now;
        self.there.push_back(request);
        self.draw_next();
        true
    }

    fn next_departure(&self) -> Option<f64> {
        (!self.there.is_empty()).then_some(self.next)
    }

    fn depart(&mut self) -> usize {
        self.now = self.next;
        let request = self.there.pop_front().expect("somebody is there");
        if !self.there.is_empty() {
            self.draw_next();
        }
        request
    }

    fn in_flight(&self) -> usize {
        self.there.len()
    }
}
