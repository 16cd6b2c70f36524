//! Sweeps: each case once, many at a time, as most of their time is waiting.

use super::client::CaseRequest;
use super::origin::{CASE_PATH, ProbeOrigin};
use crate::signals;
use decide::probe::cases::{CacheCase, CaseFamily, PAUSE_S};
use decide::probe::judge::{self, CaseFailure, CaseState, ClientAnswer};
use decide::probe::sweep::{CaseRun, Sweep, settle};
use plan::draw::hash;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Cases that are run at once.
pub const AT_ONCE: usize = 40;
/// How often a pause looks whether it was ended by hand.
const LOOK: Duration = Duration::from_millis(100);

/// Whom the cases are sent to, and who plays the origin.
pub struct Stage<'a> {
    /// The cache.
    pub target: SocketAddr,
    /// The origin.
    pub origin: &'a ProbeOrigin,
    /// The Host of all requests.
    pub authority: &'a str,
    /// Tokens are drawn from it; no other sweep has it.
    pub seed: u64,
}

impl Stage<'_> {
    /// Runs each case once. `None`: it was ended by hand.
    pub fn sweep(&self, families: &[CaseFamily]) -> Option<Sweep> {
        let cases: Vec<&CacheCase> = families.iter().flat_map(|family| &family.cases).collect();
        let next = AtomicUsize::new(0);
        let done = Mutex::new(Sweep::new());
        thread::scope(|scope| {
            for _ in 0..AT_ONCE.min(cases.len()) {
                scope.spawn(|| {
                    while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                        if signals::first().is_some() {
                            return;
                        }
                        let run = self.run(case);
                        done.lock().unwrap_or_else(PoisonError::into_inner).insert(case.id.clone(), run);
                    }
                });
            }
        });
        if signals::first().is_some() {
            return None;
        }
        let mut sweep = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        settle(families, &mut sweep);
        Some(sweep)
    }

    fn run(&self, case: &CacheCase) -> CaseRun {
        let token = token(case.id.bytes().fold(self.seed, |seed, byte| hash(seed, u64::from(byte))));
        self.origin.begin(case, &token);
        let mut answers = Vec::new();
        let mut slowest = Duration::ZERO;
        let asked = self.ask(case, &token, &mut answers, &mut slowest);
        let seen = self.origin.end(&token);
        let failure = asked.and_then(|()| judge::origin(case, &answers, &seen)).err();
        CaseRun {
            state: failure.as_ref().map_or(CaseState::Pass, |failure| failure.state),
            why: failure.map(|failure| failure.why),
            slowest_ms: slowest.as_secs_f64() * 1e3,
        }
    }

    /// Sends the requests of a case until a check does not hold.
    fn ask(
        &self,
        case: &CacheCase,
        token: &str,
        answers: &mut Vec<ClientAnswer>,
        slowest: &mut Duration,
    ) -> Result<(), CaseFailure> {
        let path = format!("{CASE_PATH}{token}");
        for (at, step) in case.requests.iter().enumerate() {
            let before = answers.last();
            let number = at + 1;
            let request =
                CaseRequest { step, number, case: &case.id, path: &path, authority: self.authority, before };
            let began = Instant::now();
            let sent = request.send(self.target);
            let waited = Duration::from_secs(step.response_pause.unwrap_or(0));
            *slowest = (*slowest).max(began.elapsed().saturating_sub(waited));
            let answer = sent.map_err(|none| CaseFailure::no_answer(number, &none.why, none.is_late))?;
            let checked = judge::answer(case, at, token, &answer);
            answers.push(answer);
            checked?;
            if step.pause_after {
                pause();
            }
        }
        Ok(())
    }
}

fn pause() {
    let until = Instant::now() + Duration::from_secs(PAUSE_S);
    while Instant::now() < until && signals::first().is_none() {
        thread::sleep(LOOK.min(until.saturating_duration_since(Instant::now())));
    }
}

/// A token that looks like a UUID: a case promises the length of one.
fn token(seed: u64) -> String {
    let text = format!("{:016x}{:016x}", hash(seed, 1), hash(seed, 2));
    [&text[..8], &text[8..12], &text[12..16], &text[16..20], &text[20..]].join("-")
}
