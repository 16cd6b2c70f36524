//! Wall clocks of agents. No figure comes of them; what an agent says of dates does.

use std::time::{Duration, Instant, SystemTime};

/// A clock that is off by less is fine, and one that is moved by less between two looks is set by nobody.
const FINE: Duration = Duration::from_millis(250);
/// Two clocks that took longer to be read are read again later.
const AT_ONCE: Duration = Duration::from_millis(50);

/// The wall clock, in µs since 1970.
pub(crate) fn now_us() -> i64 {
    match SystemTime::now().duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => since.as_micros() as i64,
        Err(before) => -(before.duration().as_micros() as i64),
    }
}

/// Time in words, by how much a clock is ahead of another one.
fn ahead(us: i64) -> String {
    let seconds = us.unsigned_abs() as f64 / 1e6;
    format!("{seconds:.1} s {}", if us < 0 { "behind" } else { "ahead of" })
}

/// A note on an agent whose wall clock is off by so much. `error`: how well that is known.
pub(crate) fn off(us: i64, error: Duration) -> Option<String> {
    let fine = FINE.saturating_add(error).as_micros();
    (u128::from(us.unsigned_abs()) > fine).then(|| {
        format!(
            "its wall clock is {} this machine's: no figure depends on it, and dates that it judges or sends do; let both follow one \
             time server",
            ahead(us)
        )
    })
}

/// Why an agent cannot take part in a run whose objects change by the clock: its wall clock is off, whatever the time in between was. `there_us`:
/// what it read, after this machine's read `before_us` and before it read `after_us`.
pub(crate) fn certainly_off(there_us: i64, before_us: i64, after_us: i64) -> Option<String> {
    let us = match () {
        () if there_us > after_us => there_us.saturating_sub(after_us),
        () => there_us.saturating_sub(before_us).min(0),
    };
    (u128::from(us.unsigned_abs()) > FINE.as_micros()).then(|| {
        format!(
            "its wall clock is at least {} this machine's, and objects of the plan change by the clock, so answers would be held to other \
             versions than they are of: let both follow one time server, or leave out what makes objects change (--change-every, --drift)",
            ahead(us)
        )
    })
}

/// The wall clock of this machine beside the one that only goes forward.
pub(crate) struct Wall {
    at: (Instant, i64),
    times: u32,
    moved_us: i64,
}

impl Wall {
    /// As it is now.
    pub fn begin() -> Wall {
        Wall { at: (Instant::now(), now_us()), times: 0, moved_us: 0 }
    }

    /// Looks whether somebody has set it.
    pub fn look(&mut self) {
        let before = Instant::now();
        let wall_us = now_us();
        if before.elapsed() < AT_ONCE {
            self.take(before, wall_us);
        }
    }

    fn take(&mut self, now: Instant, wall_us: i64) {
        let (then, then_us) = self.at;
        let passed = now.saturating_duration_since(then).as_micros() as i64;
        let moved_us = wall_us.saturating_sub(then_us).saturating_sub(passed);
        self.at = (now, wall_us);
        if u128::from(moved_us.unsigned_abs()) > FINE.as_micros() {
            self.times += 1;
            self.moved_us = self.moved_us.saturating_add(moved_us);
        }
    }

    /// A note where it was set.
    pub fn note(&self) -> Option<String> {
        let times = match self.times {
            0 => return None,
            1 => "once".to_owned(),
            more => format!("{more} times"),
        };
        Some(format!(
            "its wall clock was set {times} during the run, and is {} where it would be: no figure depends on it, and dates that it judges \
             or sends do",
            ahead(self.moved_us)
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_off_is_told_with_how_much_and_one_that_is_nearly_right_is_not() {
        let error = Duration::from_millis(10);
        assert_eq!((off(250_000, error), off(-260_000, error)), (None, None));
        assert!(
            off(3_600_000_000, error)
                .is_some_and(|note| note.starts_with("its wall clock is 3600.0 s ahead of"))
        );
        assert!(off(3_600_000_000, error).is_some_and(|note| !note.contains("  ")));
        assert!(
            off(-300_000, error).is_some_and(|note| note.starts_with("its wall clock is 0.3 s behind this"))
        );
        assert!(off(i64::MIN, Duration::MAX).is_none());
    }

    #[test]
    fn a_clock_is_refused_only_where_no_time_on_the_way_explains_it() {
        let before = 10_000_000;
        let after = 10_400_000;
        for fine in [before - 250_000, before, before + 200_000, after, after + 250_000] {
            assert_eq!(certainly_off(fine, before, after), None, "{fine}");
        }
        let said = |there| certainly_off(there, before, after).expect("it is off");
        assert!(
            said(before - 260_000)
                .starts_with("its wall clock is at least 0.3 s behind this machine's, and objects")
        );
        assert!(said(after + 3_600_000_000).starts_with("its wall clock is at least 3600.0 s ahead of this"));
        assert!(
            certainly_off(i64::MIN, before, after).is_some()
                && certainly_off(i64::MAX, before, after).is_some()
        );
    }

    #[test]
    fn a_clock_that_is_set_is_noted_and_one_that_drifts_is_not() {
        let mut wall = Wall::begin();
        let (began, began_us) = wall.at;
        let second = Duration::from_secs(1);
        wall.take(began + second, began_us + 1_000_500);
        assert_eq!(wall.note(), None);
        wall.take(began + 2 * second, began_us + 3_602_000_000);
        assert!(wall.note().is_some_and(|note| {
            note.starts_with("its wall clock was set once during the run, and is 3600.0 s ahead")
        }));
        wall.take(began + 3 * second, began_us - 3_597_000_000);
        assert!(
            wall.note()
                .is_some_and(|note| note.contains("set 2 times during the run, and is 3600.0 s behind"))
        );
    }
}
