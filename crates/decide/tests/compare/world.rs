//! Two sides that are formulas, on a machine with moods.

use decide::Void;
use decide::compare::{Half, Hits, Leg, LegResult, Pace, Side};
use plan::draw::Draw;
use rand_distr::{Distribution, Poisson, StandardNormal};
use std::collections::BTreeMap;

/// Figures of a leg without noise: 1,000 answers a second.
const RATE: f64 = 1_000.0;

/// Both sides and the machine they share.
#[derive(Debug, Clone)]
pub struct World {
    pub draw: Draw,
    /// Standard deviation of the logarithm of a leg, of each side.
    pub noise: [f64; 2],
    /// Share by which everything becomes slower each second.
    pub drift: f64,
    /// Share of legs that are slower by a fifth.
    pub wild: f64,
    /// Chance of a burst of failures in a leg.
    pub bursts: f64,
    /// B is slower by this share, in time and in CPU.
    pub slower: f64,
    /// Share of legs that are void.
    pub void: f64,
    /// Wrong answers in each leg of B.
    pub faulty: u64,
    /// Hit ratio of each side.
    pub hits: Option<[f64; 2]>,
    /// Standard deviation of the luck that each side has at its start, which is drawn anew for each pair.
    pub luck: f64,
    /// Standard deviation of the machine's mood, which half changes in a minute: seconds are like those before them.
    pub moods: f64,
    /// Share of CPU that the host takes from a leg at most.
    pub steal: f64,
    /// By how much second halves lie above first ones after a second of warming.
    pub rise: Option<f64>,
    pub clock_s: f64,
    pub mood: f64,
    pub lucks: ((u32, bool), [f64; 2]),
}

impl World {
    pub fn quiet(seed: u64) -> World {
        World {
            draw: Draw::new(seed, 1),
            noise: [0.008; 2],
            drift: 0.0,
            wild: 0.0,
            bursts: 0.0,
            slower: 0.0,
            void: 0.0,
            faulty: 0,
            hits: None,
            luck: 0.0,
            moods: 0.0,
            steal: 0.0,
            rise: None,
            clock_s: 0.0,
            mood: 0.0,
            lucks: ((0, false), [0.0; 2]),
        }
    }

    /// Identical sides in each of several kinds of world.
    pub fn identical(seed: u64) -> [(&'static str, World); 8] {
        let quiet = World::quiet(seed);
        [
            ("quiet", quiet.clone()),
            ("drift", World { drift: 2e-4, ..quiet.clone() }),
            ("wild legs", World { wild: 0.08, ..quiet.clone() }),
            ("unlike spreads", World { noise: [0.004, 0.02], ..quiet.clone() }),
            ("rare failures", World { bursts: 0.1, ..quiet.clone() }),
            ("luck of the start", World { luck: 0.03, ..quiet.clone() }),
            ("moods", World { moods: 0.02, ..quiet.clone() }),
            ("shared host", World { steal: 0.1, ..quiet }),
        ]
    }

    /// The logarithm of how slow a leg is.
    pub fn slowness(&mut self, side: Side, seconds: f64) -> f64 {
        let normal: f64 = StandardNormal.sample(&mut self.draw);
        let wild = if self.draw.chance(self.wild) { 0.2 } else { 0.0 };
        let slower = if side == Side::B { (1.0 + self.slower).ln() } else { 0.0 };
        let moment = self.drift * self.clock_s;
        self.clock_s += seconds;
        if self.moods > 0.0 {
            let kept = 0.5_f64.powf(seconds / 60.0);
            let change: f64 = StandardNormal.sample(&mut self.draw);
            self.mood = kept * self.mood + self.moods * (1.0 - kept * kept).sqrt() * change;
        }
        moment + self.mood + self.noise[side as usize] * normal + wild + slower
    }

    /// Each answer is a hit with this chance.
    fn hit(&mut self, chance: f64, answers: u64) -> Hits {
        let normal: f64 = StandardNormal.sample(&mut self.draw);
        let deviation = (answers as f64 * chance * (1.0 - chance)).sqrt();
        let hits = (answers as f64 * chance + deviation * normal).round().clamp(0.0, answers as f64);
        Hits { hits: hits as u64, of: answers }
    }

    pub fn run(&mut self, leg: &Leg) -> LegResult {
        let took_s = leg.warm_s + leg.measure_s + 1.0;
        let stolen = if self.steal > 0.0 { self.steal * self.draw.unit() } else { 0.0 };
        let slowness = self.slowness(leg.asked(), took_s) + self.luck_of(leg) + stolen;
        let factor = slowness.exp();
        let rate = match leg.pace {
            Pace::Closed { .. } => RATE / factor,
            Pace::Open { rate } => rate,
        };
        let due = (rate * leg.measure_s).round() as u64;
        let mut failures = BTreeMap::new();
        if self.draw.chance(self.bursts) {
            let burst: f64 = Poisson::new(30.0).map_or(0.0, |law| law.sample(&mut self.draw));
            failures.insert("timeout".to_owned(), (burst as u64).min(due));
        }
        let failed: u64 = failures.values().sum();
        let good = due - failed;
        let noise: f64 = StandardNormal.sample(&mut self.draw);
        LegResult {
            took_s,
            void: self.draw.chance(self.void).then(|| Void::Disturbed { why: "swap".to_owned() }),
            measured_s: leg.measure_s,
            due,
            good,
            failures,
            faulty: if leg.asked() == Side::B { self.faulty } else { 0 },
            cpu_s: Some(good as f64 * 8e-4 * factor),
            p50_ms: Some(1.0 * factor),
            p99_ms: Some(9.0 * factor * (0.03 * noise).exp()),
            hits: self.hits.map(|[a, b]| self.hit(if leg.asked() == Side::B { b } else { a }, good)),
            halves: self.rise.map(|rise| halves(rise / leg.warm_s, good as f64 / leg.measure_s)),
            resting_cores: None,
            stolen: (self.steal > 0.0).then_some(stolen),
            late_ms: None,
        }
    }

    /// A process has the luck of its start until it is started anew, for the next pair.
    fn luck_of(&mut self, leg: &Leg) -> f64 {
        let pair = (leg.pair, leg.control);
        if self.luck > 0.0 && self.lucks.0 != pair {
            let luck = [(); 2].map(|()| -> f64 { StandardNormal.sample(&mut self.draw) });
            self.lucks = (pair, luck.map(|luck| self.luck * luck));
        }
        self.lucks.1[leg.side as usize]
    }
}

/// Both halves of a leg at a rate.
fn halves(rise: f64, per_s: f64) -> [Half; 2] {
    [-0.5, 0.5].map(|half| Half {
        good_per_s: per_s * (half * rise).exp(),
        p50_ms: Some((-half * rise).exp()),
        hit_ratio: None,
    })
}
