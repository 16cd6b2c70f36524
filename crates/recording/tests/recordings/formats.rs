//! Facts of a log are found in its recording, whatever the format.

use super::support::{import, log, open, requests};
use recording::entry::Edge;
use recording::file::Note;
use recording::format::Format;
use recording::format::detect::{DetectError, detect};
use recording::import::Options;
use recording::made::{FORMATS, Fact, Laws, facts};
use recording::moment::Zone;
use recording::request::UNTOLD;
use std::collections::{HashMap, HashSet};

fn read_as(format: &str) -> &str {
    match format {
        "cloudfront" | "iis" => "w3c",
        other => other,
    }
}

/// Facts that a format tells, beyond who asked for what.
struct Tells {
    resolution_us: i64,
    duration_us: Option<i64>,
    agent: bool,
    cache: bool,
}

fn tells(format: &str) -> Tells {
    let (resolution_us, duration_us) = match format {
        "combined" | "common" | "combined-whole" | "varnish" | "nginx" => (1_000_000, None),
        "ats-extended2" => (1_000_000, Some(1_000_000)),
        "traefik" | "s3" | "iis" | "cloudfront" => (1_000_000, Some(1_000)),
        "squid" | "ats" | "haproxy" | "envoy" => (1_000, Some(1_000)),
        "bunny" | "akamai" => (1_000, None),
        "cloudflare" | "zeek-json" => (1, None),
        "envoy-json" => (1, Some(1_000)),
        "alb" => (1, None),
        _ => (1, Some(1)),
    };
    Tells {
        resolution_us,
        duration_us,
        agent: !matches!(format, "common" | "squid" | "ats" | "ats-extended2" | "haproxy"),
        cache: matches!(format, "squid" | "ats" | "cloudfront" | "cloudflare" | "akamai" | "azure" | "bunny"),
    }
}

/// Reads a log of a format and compares each request with the truth.
fn check(format: &str, laws: &Laws) {
    let bytes = log(laws, format);
    let finished = import(Options::default(), &[("a.log", read_as(format), &bytes)])
        .unwrap_or_else(|why| panic!("{format}: {why}"));
    let mut recording = open(&finished.to);
    let found = requests(&mut recording);
    let mut truth: Vec<Fact> = facts(laws).collect();
    let tells = tells(format);
    assert_eq!(found.len(), truth.len(), "{format}: {:?}", finished.header.left_out);
    assert_eq!(recording.summary().requests, laws.requests, "{format}");
    // Within its resolution a log does not say which came first, so requests are matched by what identifies them.
    let begins = recording.header().begins_us;
    let numbers = same_numbers(&mut recording);
    let mut open: HashMap<(u64, u64), Vec<&Fact>> = HashMap::new();
    truth.sort_by_key(|fact| std::cmp::Reverse(fact.begin_us));
    truth.iter().for_each(|fact| open.entry((fact.object, fact.user)).or_default().push(fact));
    let mut users: HashMap<u64, u64> = HashMap::new();
    for request in &found {
        let object = numbers[request.object as usize];
        let near = |fact: &&Fact| {
            let only_end = matches!(format, "nginx" | "bunny");
            let moment = if only_end { fact.end_us() } else { fact.begin_us };
            let shift = (begins + request.begin_us as i64 - moment).abs();
            let lasts = tells.duration_us.is_none_or(|step| {
                format == "ats-extended2"
                    || (i64::from(request.duration_us) - fact.duration_us as i64).abs() <= step
            });
            shift <= tells.resolution_us + 1_000 && lasts && request.sent == fact.sent
        };
        let fits = |key: &(u64, u64), facts: &Vec<&Fact>| key.0 == object && facts.iter().any(near);
        let known = users.get(&request.user).copied();
        let key = match known {
            Some(user) => (object, user),
            None => {
                *open
                    .iter()
                    .find(|(key, facts)| fits(key, facts))
                    .unwrap_or_else(|| panic!("{format}: {request:?}"))
                    .0
            }
        };
        users.insert(request.user, key.1);
        let facts =
            open.get_mut(&key).unwrap_or_else(|| panic!("{format}: user {} is another one", request.user));
        let at = facts.iter().rposition(near).unwrap_or_else(|| panic!("{format}: {request:?} {facts:?}"));
        let fact = facts.remove(at);
        assert_eq!(
            (request.status, request.sent, request.size),
            (fact.status, fact.sent, fact.size),
            "{format} {fact:?}"
        );
        assert_eq!(request.duration_us == UNTOLD, tells.duration_us.is_none(), "{format}");
    }
    if tells.cache {
        let hits = found.iter().filter(|request| request.kind.cache == recording::words::Cache::Hit).count();
        assert_eq!(hits, truth.iter().filter(|fact| fact.hit).count(), "{format}");
    }
    let people: HashSet<u64> = truth.iter().map(|fact| fact.user).collect();
    assert_eq!(recording.summary().users, people.len() as u64, "{format}");
    assert_eq!(recording.header().users.as_deref(), Some("ip+agent"));
    assert!(
        tells.agent || found.iter().all(|request| request.kind.agent == recording::words::Agent::Untold),
        "{format}"
    );
}

/// The object of each number, by its URL.
fn same_numbers(recording: &mut recording::file::Recording<super::support::Memory>) -> Vec<u64> {
    let mut paths: HashMap<Vec<u8>, u64> = HashMap::new();
    let laws = laws();
    for fact in facts(&laws) {
        let mut path = Vec::new();
        recording::made::write_path(&mut path, fact.object);
        paths.insert(path, fact.object);
    }
    let mut numbers = Vec::new();
    recording
        .urls(|_, url| {
            let path = url.strip_prefix(b"//www.example.com").unwrap_or(url);
            numbers.push(*paths.get(path).unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(url))));
        })
        .expect("it is whole");
    numbers
}

fn laws() -> Laws {
    Laws { requests: 3_000, users: 1, per_second: 50.0, ..Laws::default() }
}

#[test]
fn each_format_tells_what_was() {
    for format in FORMATS {
        check(format, &laws());
    }
}

#[test]
fn users_are_told_apart() {
    for format in ["combined", "caddy", "squid"] {
        let laws = Laws { users: 200, requests: 5_000, ..Laws::default() };
        let finished = import(Options::default(), &[("a", format, &log(&laws, format))]).unwrap();
        let people: HashSet<u64> = facts(&laws).map(|fact| fact.user).collect();
        assert_eq!(finished.summary.users, people.len() as u64, "{format}");
        let objects: HashSet<u64> = facts(&laws).map(|fact| fact.object).collect();
        assert_eq!(finished.summary.objects, objects.len() as u64, "{format}");
    }
}

#[test]
fn formats_are_detected() {
    for format in FORMATS {
        let bytes = log(&Laws { requests: 500, ..Laws::default() }, format);
        let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        let wanted = match read_as(format) {
            "nginx" => "combined",
            "ats-extended2" => "ats-extended2",
            other => other,
        };
        match detect(&lines, &Zone::Untold) {
            Ok(found) if format == "combined-whole" => assert_eq!(found.format.name(), "combined"),
            Ok(found) => assert_eq!(found.format.name(), wanted, "{format}"),
            Err(DetectError::Several { names, .. }) if format == "ats" => assert_eq!(names, ["squid", "ats"]),
            Err(_) if format == "bunny" => {}
            Err(error) => panic!("{format}: {error}"),
        }
    }
}

#[test]
fn whole_seconds_are_spread_and_that_is_said() {
    let bytes = log(&laws(), "combined");
    let finished = import(Options::default(), &[("a", "combined", &bytes)]).unwrap();
    let found = requests(&mut open(&finished.to));
    assert!(finished.header.notes.contains(&Note::GapsInvented { requests: 3_000, below_us: 1_000_000 }));
    let whole = found
        .iter()
        .filter(|request| (request.begin_us as i64 + finished.header.begins_us) % 1_000_000 == 0)
        .count();
    assert!(whole < 5, "{whole}");
    let again = import(Options::default(), &[("a", "combined", &bytes)]).unwrap();
    assert_eq!(again.to, finished.to, "the same input and seed give the same recording");
    let other = import(Options { seed: 2, ..Options::default() }, &[("a", "combined", &bytes)]).unwrap();
    assert_ne!(other.summary.fingerprint, finished.summary.fingerprint);
}

#[test]
fn what_only_ends_are_known_of_is_ordered_by_them() {
    let finished = import(Options::default(), &[("a", "nginx", &log(&laws(), "nginx"))]).unwrap();
    assert!(finished.header.notes.contains(&Note::OrderedByEnd { requests: 3_000 }));
    assert_eq!(Format::parse("nginx", Zone::Untold).unwrap().edge(), Edge::End);
}

#[test]
fn small_runs_give_the_same_recording() {
    let bytes = log(&laws(), "squid");
    let whole = import(Options::default(), &[("a", "squid", &bytes)]).unwrap();
    let pieces =
        import(Options { run_bytes: 10_000, ..Options::default() }, &[("a", "squid", &bytes)]).unwrap();
    assert_eq!(pieces.to, whole.to);
}

#[test]
fn logs_in_any_order_and_number() {
    let bytes = log(&laws(), "caddy");
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let early = lines[..1_000].concat();
    let late = lines[1_000..].concat();
    let finished =
        import(Options::default(), &[("late", "caddy", &late), ("early", "caddy", &early)]).unwrap();
    let whole = import(Options::default(), &[("all", "caddy", &bytes)]).unwrap();
    let times =
        |bytes: &[u8]| requests(&mut open(bytes)).iter().map(|request| request.begin_us).collect::<Vec<_>>();
    assert_eq!(times(&finished.to), times(&whole.to));
    assert_eq!(finished.header.inputs.len(), 2);
}
