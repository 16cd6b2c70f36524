//! A run beside what JMeter did: requests in order, with their fields and bodies, and the samples of its results file.

use super::run::{Ran, Sample, text};
use super::server::Asked;
use regex::Regex;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Texts that differ from run to run, and what stands for them.
pub type Masks = Vec<(Regex, String)>;

/// A run, and what it is compared with.
pub struct Comparison<'a> {
    pub ran: &'a Ran,
    /// `requests` and `jtl` as JMeter had them.
    pub wanted: &'a Value,
    pub masks: &'a Masks,
    /// Groups run side by side, so that the order between them is chance.
    pub any_order: bool,
    found: Vec<String>,
}

impl<'a> Comparison<'a> {
    /// All that differs, each a line that begins with the place: `request 3 target: …`.
    pub fn differences(ran: &'a Ran, wanted: &'a Value, masks: &'a Masks, any_order: bool) -> Vec<String> {
        let mut comparison = Comparison { ran, wanted, masks, any_order, found: Vec::new() };
        comparison.requests();
        comparison.samples();
        comparison.found
    }

    /// Returns the differences of a run of several users: how often each request was sent, how many samples each user has, and
    /// which there are of all users together.
    pub fn of_several(ran: &'a Ran, wanted: &'a Value, masks: &'a Masks) -> Vec<String> {
        let mut comparison = Comparison { ran, wanted, masks, any_order: true, found: Vec::new() };
        comparison.sent();
        comparison.samples_of_users();
        comparison.found
    }

    fn sent(&mut self) {
        let total = self.wanted["requests_total"].as_u64().unwrap_or_default() as usize;
        if self.ran.asked.len() != total {
            self.differ("requests", self.ran.asked.len(), total);
        }
        let asked = self.ran.asked.iter();
        let found = counted(asked.map(|asked| format!("{} {}", asked.method, self.masked(&asked.target))));
        let wanted = self.wanted["requests_by_method_and_target"].as_object().into_iter().flatten();
        let wanted: BTreeMap<String, u64> =
            wanted.map(|(name, count)| (name.clone(), count.as_u64().unwrap_or_default())).collect();
        // A list that was cut ends with a line that says so.
        let is_cut = wanted.keys().any(|name| name.starts_with('…'));
        for name in found.keys().chain(wanted.keys()).collect::<BTreeSet<_>>() {
            let is = found.get(name).unwrap_or(&0);
            let wanted = wanted.get(name);
            if is != wanted.unwrap_or(&0) && !(is_cut && (wanted.is_none() || name.starts_with('…'))) {
                self.differ(&format!("times of {name}"), is, wanted.unwrap_or(&0));
            }
        }
    }

    fn samples_of_users(&mut self) {
        let users = self.wanted["jtl_per_thread"].as_object().cloned().unwrap_or_default();
        let mut wanted_in_all: BTreeMap<String, u64> = BTreeMap::new();
        let mut is_cut = false;
        for (user, lines) in &users {
            let mut count = 0;
            for line in lines.as_array().into_iter().flatten().filter_map(Value::as_str) {
                is_cut |= line.starts_with('…');
                let (times, line) = line.split_once("× ").unwrap_or(("1", line));
                let times: u64 = times.parse().unwrap_or(1);
                *wanted_in_all.entry(line.to_owned()).or_default() += times;
                count += times;
            }
            let is = self.ran.samples.iter().filter(|sample| sample.attribute("tn") == user).count() as u64;
            if is != count && !is_cut {
                self.differ(&format!("samples of {user}"), is, count);
            }
        }
        if is_cut {
            return;
        }
        let line = |sample: &Sample| {
            let ok = if sample.attribute("s") == "true" { "ok" } else { "FAIL" };
            format!("{} {} {ok}", self.masked(sample.attribute("lb")), sample.attribute("rc"))
        };
        let found = counted(self.ran.samples.iter().map(line));
        for name in found.keys().chain(wanted_in_all.keys()).collect::<BTreeSet<_>>() {
            let is = found.get(name).unwrap_or(&0);
            let wanted = wanted_in_all.get(name).unwrap_or(&0);
            if is != wanted {
                self.differ(&format!("samples like {name}"), is, wanted);
            }
        }
    }

    fn differ(&mut self, place: &str, is: impl std::fmt::Display, wanted: impl std::fmt::Display) {
        self.found.push(format!("{place}: {is}, not {wanted}"));
    }

    /// A text as golden data have it: with their port and their masks.
    fn masked(&self, text: &str) -> String {
        let mut masked = text.replace(&format!(":{}", self.ran.port), ":27000");
        for (pattern, put) in self.masks {
            masked = pattern.replace_all(&masked, put.as_str()).into_owned();
        }
        masked
    }

    fn requests(&mut self) {
        let wanted: Vec<Value> = self.wanted["requests"].as_array().cloned().unwrap_or_default();
        let total = self.wanted["requests_total"].as_u64().map_or(wanted.len(), |total| total as usize);
        if self.ran.asked.len() != total {
            self.differ("requests", self.ran.asked.len(), total);
        }
        let mut left: Vec<&Asked> = self.ran.asked.iter().collect();
        for (nth, request) in wanted.iter().enumerate() {
            let fits = |asked: &&&Asked| {
                asked.method == text(request, "method")
                    && is_alike(text(request, "target"), &self.masked(&asked.target))
            };
            let place = if self.any_order { left.iter().position(|asked| fits(&asked)) } else { Some(0) };
            match place.filter(|place| *place < left.len()) {
                Some(place) => {
                    let asked = left.remove(place);
                    self.request(nth + 1, asked, request, &wanted);
                }
                None => self.differ(&format!("request {}", nth + 1), "missing", text(request, "target")),
            }
        }
    }

    fn request(&mut self, nth: usize, asked: &Asked, wanted: &Value, all: &[Value]) {
        let place = |what: &str| format!("request {nth} {what}");
        if asked.method != text(wanted, "method") {
            self.differ(&place("method"), &asked.method, text(wanted, "method"));
        }
        let target = self.masked(&asked.target);
        if !is_alike(text(wanted, "target"), &target) {
            self.differ(&place("target"), &target, text(wanted, "target"));
        }
        if let (Some(connection), false) = (wanted["conn"].as_u64(), self.any_order)
            && connection != asked.connection
        {
            self.differ(&place("connection"), asked.connection, connection);
        }
        let body_varies = text(wanted, "body").contains("<varies>");
        let fields = fields(wanted, all);
        let is: Vec<(String, String)> =
            asked.fields.iter().map(|(name, value)| (name.clone(), self.masked(value))).collect();
        let same = is.len() == fields.len()
            && is.iter().zip(&fields).all(|(is, wanted)| {
                is.0 == wanted.0 && (is_alike(&wanted.1, &is.1) || body_varies && is.0 == "Content-Length")
            });
        if !same {
            self.differ(&place("fields"), format!("{is:?}"), format!("{fields:?}"));
        }
        let body = self.masked(&String::from_utf8_lossy(&asked.body));
        let wanted = body_of(wanted, all);
        let good = match wanted.strip_suffix("…(cut)") {
            Some(begin) if begin.contains("<varies>") => true,
            Some(begin) => body.starts_with(begin),
            None => is_alike(wanted, &body),
        };
        if !good {
            self.differ(&place("body"), format!("{body:?}"), format!("{wanted:?}"));
        }
    }

    fn samples(&mut self) {
        let Some(wanted) = self.wanted["jtl"].as_array() else { return };
        let (ran, mut left): (&Ran, Vec<&Sample>) = (self.ran, self.ran.samples.iter().collect());
        // A trace that was cut says so by the number of its requests.
        let is_whole = self.wanted["requests_total"].is_null();
        if ran.samples.len() != wanted.len() && (is_whole || ran.samples.len() < wanted.len()) {
            self.differ("samples", ran.samples.len(), wanted.len());
        }
        for (nth, wanted) in wanted.iter().enumerate() {
            let fits = |sample: &&Sample| {
                is_alike(text(wanted, "label"), &self.masked(sample.attribute("lb")))
                    && (wanted["thread"].is_null() || sample.attribute("tn") == text(wanted, "thread"))
            };
            let place = if self.any_order { left.iter().position(fits) } else { Some(0) };
            if let Some(place) = place.filter(|place| *place < left.len()) {
                let sample = left.remove(place);
                self.sample(&format!("sample {}", nth + 1), sample, wanted);
            }
        }
    }

    fn sample(&mut self, place: &str, is: &Sample, wanted: &Value) {
        let label = text(wanted, "label");
        let place = |what: &str| format!("{place} {what}");
        // A shortened form of some traces.
        let message = text(wanted, "message")
            .replace(" failing", "")
            .replace(" samples, ", ", number of failing samples : ")
            .replace("(transaction) ", "Number of samples in transaction : ");
        let message = match text(wanted, "message").starts_with("(transaction)") {
            true => message,
            false if text(wanted, "message").is_empty() => "OK".to_owned(),
            false => text(wanted, "message").to_owned(),
        };
        let bytes = match text(wanted, "code").starts_with("Non HTTP") {
            true => "bytes without an answer",
            false => "bytes",
        };
        for (what, attribute, wanted) in [
            ("label", "lb", label.to_owned()),
            ("code", "rc", text(wanted, "code").to_owned()),
            ("message", "rm", message),
            ("success", "s", wanted["ok"].to_string()),
            (bytes, "by", wanted["bytes"].to_string()),
            ("sent", "sby", wanted["sent"].to_string()),
            ("thread", "tn", text(wanted, "thread").to_owned()),
        ] {
            let is = self.masked(is.attribute(attribute));
            let is_told = what != "thread" || !wanted.is_empty();
            if is_told && !is_alike(&wanted, &is) {
                self.differ(&place(what), format!("{is:?}"), format!("{wanted:?}"));
            }
        }
        if let Some(url) = wanted["url"].as_str() {
            let is = self.masked(is.url.as_deref().unwrap_or_default());
            if !is_alike(url, &is) {
                self.differ(&place("url"), &is, url);
            }
        }
        let failed = wanted["failed_assertions"].as_array().cloned().unwrap_or_default();
        let failed: Vec<(String, String)> = failed
            .iter()
            .map(|one| {
                (
                    one[0].as_str().unwrap_or_default().to_owned(),
                    one[1].as_str().unwrap_or_default().to_owned(),
                )
            })
            .collect();
        if failed != is.failed {
            self.differ(&place("assertions"), format!("{:?}", is.failed), format!("{failed:?}"));
        }
        let parts = wanted["sub"].as_array().cloned().unwrap_or_default();
        if parts.len() != is.parts.len() {
            self.differ(&place("parts"), is.parts.len(), parts.len());
        }
        for (nth, (is, wanted)) in is.parts.iter().zip(&parts).enumerate() {
            self.sample(&place(&format!("part {nth}")), is, wanted);
        }
    }
}

/// The fields of a request; those of another one, where they are the same.
fn fields(of: &Value, all: &[Value]) -> Vec<(String, String)> {
    if let Some(same) = of["headers"].as_str().and_then(|same| same.strip_prefix("same as request ")) {
        let nth: usize = same.parse().expect("a number");
        return fields(&all[nth - 1], all);
    }
    let pair = |field: &Value| {
        (field[0].as_str().unwrap_or_default().to_owned(), field[1].as_str().unwrap_or_default().to_owned())
    };
    of["headers"].as_array().into_iter().flatten().map(pair).collect()
}

fn body_of<'a>(of: &'a Value, all: &'a [Value]) -> &'a str {
    let body = text(of, "body");
    match body.strip_prefix("same as request ").and_then(|nth| nth.parse::<usize>().ok()) {
        Some(nth) => text(&all[nth - 1], "body"),
        None => body,
    }
}

/// True if a text is as it should be, where `<varies>` stands for anything.
fn is_alike(wanted: &str, is: &str) -> bool {
    let mut pieces = wanted.split("<varies>");
    let Some(mut rest) = pieces.next().and_then(|first| is.strip_prefix(first)) else { return false };
    let pieces: Vec<&str> = pieces.collect();
    let Some((last, between)) = pieces.split_last() else { return rest.is_empty() };
    for piece in between {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// How often each occurs.
fn counted(all: impl Iterator<Item = String>) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    all.for_each(|one| *counts.entry(one).or_default() += 1);
    counts
}

#[test]
fn texts_that_vary_are_alike() {
    for (wanted, is, alike) in [
        ("a", "a", true),
        ("a", "ab", false),
        ("a<varies>b", "axxb", true),
        ("a<varies>b<varies>", "a1b2", true),
        ("<varies>c", "ab", false),
    ] {
        assert_eq!(is_alike(wanted, is), alike, "{wanted} {is}");
    }
}
