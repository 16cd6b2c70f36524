//! Fields by which an answer tells of itself: its age and date, whether it was a hit, what it is. The stamp knows when it was made and for
//! whom, so each of these is held to that. An age that cannot be is a fault; the rest is counted.

use super::oracle::{Finding, STALE_ALLOWANCE_US};
use measure::Fault;
use plan::site::{Stamp, leading_number};
use std::cell::Cell;
use std::time::UNIX_EPOCH;

/// Letters of a date as HTTP has it.
const DATE: usize = "Sun, 06 Nov 1994 08:49:37 GMT".len();
/// The field that the origin's 304 alone have: the number of the stamp.
pub(super) const UNCHANGED_FIELD: &[u8] = b"Wringer-Unchanged";
/// The Content-Type of objects.
const OBJECT_TYPE: &[u8] = b"application/octet-stream";
/// A cache that counts in whole seconds may take an answer for old so much before its lifetime is over.
const ROUNDING_US: u64 = 1_000_000;

/// The fields of one answer.
#[derive(Default, Clone, Copy)]
pub(crate) struct AnswerTold {
    /// Seconds of Age; `u64::MAX`: it is no number.
    age: Option<u64>,
    date: Option<[u8; DATE]>,
    /// It says that it was a hit, or that it was none.
    pub hit: Option<bool>,
    /// It has a Content-Type.
    pub has_type: bool,
    /// Its Content-Type is the one that the origin gives to objects.
    pub is_of_object: bool,
    /// It has a Vary.
    pub has_vary: bool,
    /// The number of the origin's 304 that it was given this of.
    pub unchanged: Option<u64>,
    modified: Option<[u8; DATE]>,
    has_modified: bool,
}

/// Facts about the age that a hit may tell. Moments are in microseconds since 1970.
#[derive(Clone, Copy)]
pub(crate) struct Aging {
    /// Clients have stored answers confirmed or fetched anew, so one may be younger than its stamp.
    pub refreshes: bool,
    /// When the request was sent that the answer was made for, if that is known. A cache counts the age from there at the earliest.
    pub asked_for_us: Option<u64>,
    /// When this request was sent.
    pub sent_us: u64,
    /// When the head of its answer came.
    pub head_us: u64,
    pub lifetime_us: u64,
    /// How long this worker stood still since the answer was made: meanwhile it may have been under way to the cache.
    pub stood_still_us: u64,
}

impl AnswerTold {
    /// Takes an Age field in.
    pub fn age(&mut self, value: &[u8]) {
        let all_digits = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
        self.age = Some(leading_number(value).filter(|_| all_digits).unwrap_or(u64::MAX));
    }

    /// Takes a Date field in.
    pub fn date(&mut self, value: &[u8]) {
        self.date = value.try_into().ok();
    }

    /// Takes a Last-Modified field in.
    pub fn modified(&mut self, value: &[u8]) {
        self.has_modified = true;
        self.modified = value.try_into().ok();
    }

    /// Takes in the field that the origin's 304 alone have.
    pub fn unchanged(&mut self, value: &[u8]) {
        self.unchanged = std::str::from_utf8(value).ok().and_then(|text| u64::from_str_radix(text, 16).ok());
    }

    /// Takes a Content-Type field in.
    pub fn content_type(&mut self, value: &[u8]) {
        self.has_type = true;
        self.is_of_object = value == OBJECT_TYPE;
    }

    /// Takes in what the first word of an X-Cache field says.
    pub fn claim(&mut self, value: &[u8]) {
        let word = value.split(|byte| b" ,;".contains(byte)).next().unwrap_or(value);
        self.hit = match (has(word, b"hit"), has(word, b"miss")) {
            (true, false) => Some(true),
            (false, true) => Some(false),
            (true, true) | (false, false) => None,
        };
    }

    /// Takes in what the parameters of a Cache-Status field say (RFC 9211), where one cache alone speaks.
    pub fn status(&mut self, value: &[u8]) {
        if value.contains(&b',') {
            return;
        }
        let parameters = || value.split(|byte| *byte == b';').skip(1).map(<[u8]>::trim_ascii);
        let forwarded = parameters().any(|one| one.starts_with(b"fwd="));
        let hit = parameters().any(|one| one == b"hit");
        self.hit = (hit != forwarded).then_some(hit);
    }

    /// The fault of a hit whose age cannot be what it says.
    pub fn wrong_age(&self, stamp: &Stamp, aging: &Aging) -> Option<Finding> {
        let least = aging.sent_us.saturating_sub(stamp.made_at_us);
        let most = aging.asked_for_us.map(|asked_for| aging.head_us.saturating_sub(asked_for));
        let wrong = |text: String| Some((Fault::WrongAge, text));
        let seconds = |us: u64| us as f64 / 1e6;
        if let Some(age) = self.age {
            let age_us = age.saturating_mul(1_000_000);
            if age == u64::MAX {
                return wrong("Age is no number of seconds".to_owned());
            }
            if let Some(most) = most.filter(|most| age_us > most + STALE_ALLOWANCE_US) {
                return wrong(format!("Age is {age}, it was asked for {:.1} s before", seconds(most)));
            }
            // Whoever has an old answer confirmed may count from there, and keep its fields.
            let counts_anew = aging.refreshes || least + ROUNDING_US > aging.lifetime_us;
            let allowed = STALE_ALLOWANCE_US + aging.stood_still_us;
            if !counts_anew && age_us.saturating_add(allowed) < least {
                return wrong(format!("Age is {age}, it was made {:.1} s before", seconds(least)));
            }
        }
        let date_us = self.date_us()?;
        if let Some(asked_for_us) = aging.asked_for_us
            && date_us + STALE_ALLOWANCE_US < asked_for_us
        {
            return wrong(format!(
                "Date is {:.1} s before it was asked for",
                seconds(asked_for_us - date_us)
            ));
        }
        let ahead = date_us.saturating_sub(aging.head_us);
        (ahead > STALE_ALLOWANCE_US)
            .then(|| (Fault::WrongAge, format!("Date lies {:.1} s ahead", seconds(ahead))))
    }

    /// True if it has an Age, whatever it says.
    pub fn has_age(&self) -> bool {
        self.age.is_some()
    }

    /// True if it has a Last-Modified, whatever it says.
    pub fn has_modified(&self) -> bool {
        self.has_modified
    }

    /// The date in microseconds since 1970.
    pub fn date_us(&self) -> Option<u64> {
        microseconds(self.date.as_ref()?)
    }

    /// Last-Modified in microseconds since 1970.
    pub fn modified_us(&self) -> Option<u64> {
        let date = self.modified?;
        if let Some((last, us)) = LAST_MODIFIED.get()
            && last == date
        {
            return Some(us);
        }
        let us = microseconds(&date)?;
        LAST_MODIFIED.set(Some((date, us)));
        Some(us)
    }
}

thread_local! {
    /// The last Last-Modified that was read here. Most answers have the one of the answer before, and reading takes longer than all else
    /// that is judged of a head.
    static LAST_MODIFIED: Cell<Option<([u8; DATE], u64)>> = const { Cell::new(None) };
}

/// A date of HTTP in microseconds since 1970.
fn microseconds(date: &[u8]) -> Option<u64> {
    let date = httpdate::parse_http_date(std::str::from_utf8(date).ok()?).ok()?;
    Some(date.duration_since(UNIX_EPOCH).ok()?.as_micros() as u64)
}

/// True if a word holds another one, in letters of any size.
fn has(word: &[u8], other: &[u8]) -> bool {
    word.windows(other.len()).any(|part| part.eq_ignore_ascii_case(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000;
    /// 2027-01-15 08:00:00 UTC.
    const MADE: u64 = 1_800_000_000 * SECOND;
    const MADE_DATE: &[u8] = b"Fri, 15 Jan 2027 08:00:00 GMT";

    fn stamp() -> Stamp {
        use plan::site::StampKind;
        Stamp {
            serial: 1,
            asked_by: 2,
            made_at_us: MADE,
            kind: StampKind::Full,
            sets_cookie: false,
            foreign: None,
        }
    }

    /// Of what was made at [`MADE`] for a request that was sent then, and lives for a minute.
    fn aging(sent_us: u64, head_us: u64) -> Aging {
        let asked_for_us = Some(MADE);
        let lifetime_us = 60 * SECOND;
        Aging { refreshes: false, asked_for_us, sent_us, head_us, lifetime_us, stood_still_us: 0 }
    }

    /// True if this age is wrong of what was made ten seconds before.
    fn is_wrong(age: &str, change: impl Fn(&mut Aging)) -> bool {
        let mut told = AnswerTold::default();
        told.age(age.as_bytes());
        let mut aging = aging(MADE + 10 * SECOND, MADE + 11 * SECOND);
        change(&mut aging);
        told.wrong_age(&stamp(), &aging).is_some()
    }

    #[test]
    fn ages_are_those_of_what_the_origin_made_give_or_take_two_seconds() {
        for right in ["8", "10", "13"] {
            assert!(!is_wrong(right, |_| {}), "{right}");
        }
        for wrong in ["0", "7", "14", "86400", "", "ten", "-1", "10, 11", "99999999999999999999"] {
            assert!(is_wrong(wrong, |_| {}), "{wrong}");
        }
        let refreshed = |aging: &mut Aging| aging.refreshes = true;
        assert!(!is_wrong("0", refreshed) && is_wrong("14", refreshed));
        // It was under way for four and a half seconds while the machine stood still.
        let still = |aging: &mut Aging| aging.stood_still_us = 4_500_000;
        assert!(!is_wrong("4", still) && is_wrong("3", still) && is_wrong("14", still));
    }

    /// RFC 9111 section 4.2.3: what the origin needed for the answer is a part of its age.
    #[test]
    fn an_age_counts_from_the_request_that_the_answer_was_made_for() {
        let slow = |aging: &mut Aging| aging.asked_for_us = Some(MADE - 3 * SECOND);
        assert!(!is_wrong("16", slow) && is_wrong("17", slow) && is_wrong("7", slow));
        let unknown = |aging: &mut Aging| aging.asked_for_us = None;
        assert!(!is_wrong("86400", unknown), "nobody knows how long the cache had waited for it");
        assert!(is_wrong("7", unknown) && is_wrong("ten", unknown));
    }

    /// An answer that was confirmed when its lifetime was over counts anew from there, whether or not its fields do.
    #[test]
    fn an_age_may_begin_anew_when_a_lifetime_is_over() {
        let wrong = |lifetime: u64| is_wrong("1", |aging| aging.lifetime_us = lifetime * SECOND);
        assert!(wrong(60) && !wrong(9) && !wrong(10));
    }

    #[test]
    fn dates_lie_neither_ahead_nor_before_the_answer_was_asked_for() {
        let wrong = |asked_for_us: Option<u64>, now_us: u64| {
            let mut told = AnswerTold::default();
            told.date(MADE_DATE);
            let stamp = Stamp { made_at_us: now_us, ..stamp() };
            told.wrong_age(&stamp, &Aging { asked_for_us, ..aging(now_us, now_us) }).is_some()
        };
        assert!(!wrong(Some(MADE), MADE) && !wrong(Some(MADE + SECOND), MADE + 40 * SECOND));
        assert!(!wrong(Some(MADE - 20 * SECOND), MADE), "made anew: it is counted, and no fault");
        assert!(wrong(Some(MADE + 3 * SECOND), MADE + 4 * SECOND));
        assert!(!wrong(None, MADE + 4 * SECOND));
        assert!(wrong(Some(MADE - 5 * SECOND), MADE - 3 * SECOND));
    }

    #[test]
    fn answers_call_themselves_hits_or_misses_in_several_ways() {
        let claim = |value: &str| {
            let mut told = AnswerTold::default();
            told.claim(value.as_bytes());
            told.hit
        };
        for (value, says) in [
            ("HIT", Some(true)),
            ("TCP_MEM_HIT from misses.example", Some(true)),
            ("MISS from white.example", Some(false)),
            ("EXPIRED", None),
            ("HIT, MISS", Some(true)),
            ("", None),
        ] {
            assert_eq!(claim(value), says, "{value}");
        }
        let status = |value: &str| {
            let mut told = AnswerTold::default();
            told.status(value.as_bytes());
            told.hit
        };
        for (value, says) in [
            ("c; hit; ttl=30", Some(true)),
            ("c; fwd=uri-miss; stored", Some(false)),
            ("c; fwd=stale; hit", None),
            ("c", None),
            ("a; hit, b; fwd=miss", None),
        ] {
            assert_eq!(status(value), says, "{value}");
        }
    }
}
