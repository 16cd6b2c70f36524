//! `--phase NAME[:DURATION][,key=value…]`: one phase as a word.

use super::values;
use plan::{Delay, units};
use std::str::FromStr;
use std::time::Duration;

/// A phase as typed; what is not given comes from the other options.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PhaseArg {
    /// Its name; `fill` asks for each hot object once, in order, unless told otherwise.
    pub name: String,
    /// `duration=10s`, or after the name's colon.
    pub duration: Option<Duration>,
    /// `requests=1000`.
    pub requests: Option<u64>,
    /// `users=50`.
    pub users: Option<u32>,
    /// `think=exp:1s`.
    pub think: Option<Delay>,
    /// `rate=1k/s`.
    pub rate: Option<f64>,
    /// `hot=1000`: objects of the hot set.
    pub hot: Option<u64>,
    /// `set=B`: which working set, A to Z.
    pub set: Option<u8>,
    /// `hit-ratio=0.8`.
    pub hit_ratio: Option<f64>,
    /// `zipf=0.9`.
    pub zipf: Option<f64>,
    /// `reload=0.1`: share of requests with `no-cache`.
    pub reload: Option<f64>,
    /// `revalidate=0.1`: share of requests with a validator.
    pub revalidate: Option<f64>,
    /// `range=0.1`: share of requests for a range.
    pub range: Option<f64>,
    /// `two-ranges=0.1`: share of these that ask for a second range, too.
    pub two_ranges: Option<f64>,
    /// `abort=0.1`: share of requests that the client breaks off.
    pub abort: Option<f64>,
    /// `head=0.1`: share of requests for the head alone.
    pub head: Option<f64>,
    /// `origin-errors=0.1`: share of requests that get an error from the origin.
    pub origin_errors: Option<f64>,
    /// `origin-aborts=0.1`: share of answers that the origin cuts short.
    pub origin_aborts: Option<f64>,
    /// `in-order=yes`: each hot object once, in order.
    pub in_order: Option<bool>,
    /// `measured=no`: the figures are told apart.
    pub measured: Option<bool>,
}

const KEYS: &str = "duration, requests, users, think, rate, hot, set, hit-ratio, zipf, reload, revalidate, range, two-ranges, abort, \
                    head, origin-errors, origin-aborts, in-order, measured";

impl FromStr for PhaseArg {
    type Err = String;

    fn from_str(text: &str) -> Result<PhaseArg, String> {
        let mut words = text.split(',');
        let head = words.next().unwrap_or("");
        let (name, duration) = match head.split_once(':') {
            Some((name, duration)) => (name, Some(values::some_time(duration)?)),
            None => (head, None),
        };
        if name.is_empty() || name.contains('=') {
            return Err("a phase begins with its name, such as fill or measure:10s,set=B".to_owned());
        }
        let mut phase = PhaseArg { name: name.to_owned(), duration, ..PhaseArg::default() };
        words.try_for_each(|word| phase.set_key(word))?;
        if phase.rate.is_some() && phase.think.is_some() {
            return Err(format!("phase '{name}': only users think, so give either rate or think"));
        }
        Ok(phase)
    }
}

impl PhaseArg {
    fn set_key(&mut self, word: &str) -> Result<(), String> {
        let (key, value) =
            word.split_once('=').ok_or_else(|| format!("'{word}' is not key=value; keys are {KEYS}"))?;
        let unit = |error: units::UnitError| error.to_string();
        match key {
            "duration" => self.duration = Some(values::some_time(value)?),
            "requests" => self.requests = Some(values::at_least_one(value)?),
            "users" => self.users = Some(values::count32(value)?),
            "think" => self.think = Some(Delay::parse(value).map_err(unit)?),
            "rate" => self.rate = Some(units::rate(value).map_err(unit)?),
            "hot" => self.hot = Some(units::count(value).map_err(unit)?),
            "set" => self.set = Some(working_set(value)?),
            "hit-ratio" => self.hit_ratio = Some(units::share(value).map_err(unit)?),
            "zipf" => self.zipf = Some(values::zipf(value)?),
            "reload" => self.reload = Some(units::share(value).map_err(unit)?),
            "revalidate" => self.revalidate = Some(units::share(value).map_err(unit)?),
            "range" => self.range = Some(units::share(value).map_err(unit)?),
            "two-ranges" => self.two_ranges = Some(units::share(value).map_err(unit)?),
            "abort" => self.abort = Some(units::share(value).map_err(unit)?),
            "head" => self.head = Some(units::share(value).map_err(unit)?),
            "origin-errors" => self.origin_errors = Some(units::share(value).map_err(unit)?),
            "origin-aborts" => self.origin_aborts = Some(units::share(value).map_err(unit)?),
            "in-order" => self.in_order = Some(yes_or_no(value)?),
            "measured" => self.measured = Some(yes_or_no(value)?),
            _ => return Err(format!("'{key}' is not a key of a phase; keys are {KEYS}")),
        }
        Ok(())
    }
}

fn working_set(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        [letter] if letter.is_ascii_alphabetic() => Ok(letter.to_ascii_uppercase() - b'A'),
        _ => Err(format!("'{text}' is not a working set; give a letter, A to Z")),
    }
}

fn yes_or_no(text: &str) -> Result<bool, String> {
    match text {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err(format!("'{text}' is neither yes nor no")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_is_read_as_typed() {
        let phase: PhaseArg = "shift:20s,set=b,users=10,hit-ratio=90%,measured=no".parse().unwrap();
        assert_eq!(phase.name, "shift");
        assert_eq!(phase.duration, Some(Duration::from_secs(20)));
        assert_eq!((phase.set, phase.users, phase.hit_ratio), (Some(1), Some(10), Some(0.9)));
        assert_eq!(phase.measured, Some(false));
        let storm: PhaseArg = "storm:2s,abort=0.5,range=10%,reload=0.1,revalidate=0".parse().unwrap();
        let shares = (storm.abort, storm.range, storm.reload, storm.revalidate);
        assert_eq!(shares, (Some(0.5), Some(0.1), Some(0.1), Some(0.0)));
        assert_eq!(
            "fill".parse::<PhaseArg>().unwrap(),
            PhaseArg { name: "fill".to_owned(), ..PhaseArg::default() }
        );
    }

    #[test]
    fn mistakes_name_the_key_and_what_would_do() {
        for (text, said) in [
            ("", "begins with its name"),
            ("x:soon", "'soon' is not a duration"),
            ("x,sets=B", "'sets' is not a key"),
            ("x,set=12", "give a letter"),
            ("x,measured=maybe", "neither yes nor no"),
            ("x,hot", "not key=value"),
            ("x:0", "'0' would be over at once"),
            ("x,requests=0", "at least 1"),
            ("x,abort=2", "'2'"),
            ("x,zipf=-1", "Zipf exponent"),
            ("x,rate=5,think=1s", "either rate or think"),
            ("x,think=soon", "'soon' is not a duration"),
        ] {
            let error = text.parse::<PhaseArg>().unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
