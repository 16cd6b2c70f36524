//! Rigs over each version of HTTP that they speak: both sides count the same, and nothing is amiss.

use crate::http2::JSON;
use crate::support::{Report, program, run, tell};

/// Rigs, their programs, and what they are told to speak; whether they ask the origin over HTTP/2.
const SPOKEN: [(&str, &str, &str, bool); 17] = [
    ("ats", "traffic_server", "2", false),
    ("nginx", "nginx", "2c", false),
    ("nginx", "nginx", "2", false),
    ("nginx", "nginx", "1.1,2", false),
    ("varnish", "varnishd", "2c", false),
    ("varnish", "varnishd", "1.1,2c", false),
    ("haproxy", "haproxy", "2c", true),
    ("haproxy", "haproxy", "2", true),
    ("httpd", "apache2", "2c", true),
    ("httpd", "apache2", "1.1,2", true),
    ("h2o", "h2o", "1.1", false),
    ("h2o", "h2o", "2c", false),
    ("h2o", "h2o", "2", false),
    ("caddy", "caddy", "2c", false),
    ("caddy", "caddy", "2", false),
    ("caddy", "caddy", "3", false),
    ("caddy", "caddy", "1.1,2,3", false),
];

#[test]
fn both_sides_of_a_rig_count_the_same_over_each_version() {
    for (name, needed, versions, two_behind) in SPOKEN {
        if program(needed).is_none() {
            tell(&format!("{name} is not installed"));
            continue;
        }
        let line = format!("cache --rig {name} --http {versions} --hot 100 -c 12 -t 1 -n 600 {JSON}");
        let report = run(&line).ended_with(0).report();
        check(&format!("{name} {versions}"), &report, versions, two_behind);
    }
}

fn check(what: &str, report: &Report, versions: &str, two_behind: bool) {
    let counts = ["requests", "ok", "failed", "check_failed"].map(|name| report.sum(name));
    assert_eq!(counts, [600, 600, 0, 0], "{what}");
    let hits = report.sum("hits");
    let fetched = report.count("origin/requests");
    match what.starts_with("h2o") || what.starts_with("caddy") {
        true => assert_eq!((hits, fetched), (0, 600), "{what}: it has no cache"),
        false => {
            assert!(hits > 200 && fetched < 400, "{what}: {hits} hits, {fetched} fetched");
            assert_eq!(report.sum("misses") + report.sum("revalidated"), fetched, "{what}");
        }
    }
    let over_two = report.count("origin/http2_requests");
    assert_eq!(over_two, if two_behind { fetched } else { 0 }, "{what}: asked over HTTP/2");
    if versions.contains(',') {
        let of_versions: u64 = report.list("labels").iter().map(|line| line.count("ok")).sum();
        assert_eq!(of_versions, 600, "{what}: by version");
    }
}

#[test]
fn what_a_rig_does_not_speak_is_refused_with_those_that_do() {
    for (line, needed, words) in [
        ("rig squid --http 2", "squid", &["Squid does not speak HTTP/2 over TLS", "ats, nginx, haproxy"][..]),
        ("cache --rig nginx --http 3", "nginx", &["nginx does not speak HTTP/3", "spoken by souin, caddy"]),
        ("cache --rig haproxy --http 1.1,2c", "haproxy", &["either HTTP/1.1 or HTTP/2", "--http 1.1,2"]),
    ] {
        match program(needed) {
            Some(_) => drop(run(line).refused_with(1, words)),
            None => tell(&format!("{needed} is not installed")),
        }
    }
}

/// Each keeps what has a lifetime, and h2o, which has no cache, nothing.
#[test]
fn a_survey_says_what_a_proxy_keeps() {
    for (name, needed, known) in [
        (
            "nginx",
            "nginx",
            &["| max-age | kept |", "| HEAD of what is kept | kept |", "| keys of the same hash | kept |"][..],
        ),
        ("varnish", "varnishd", &["| max-age | kept |", "| s-maxage | kept |", "| Expires | kept |"]),
        ("h2o", "h2o", &["| max-age | not kept |", "| Expires | not kept |"]),
    ] {
        if program(needed).is_none() {
            tell(&format!("{name} is not installed"));
            continue;
        }
        let told = run(&format!("rig {name} --survey")).ended_with(0).stdout;
        let wrong: Vec<&str> = told.lines().filter(|line| line.contains("wrong")).collect();
        // nginx 1.22 looks at the last of several Vary lines alone.
        let is_known = |line: &&str| name == "nginx" && line.contains("in two lines");
        assert!(known.iter().all(|row| told.contains(row)) && wrong.iter().all(is_known), "{told}");
    }
}

/// Of several a table has a column for each, and what is of one is refused.
#[test]
fn a_survey_of_several_has_a_column_for_each() {
    if program("nginx").is_none() || program("h2o").is_none() {
        skip!("nginx or h2o is not installed");
    }
    let told = run("rig nginx,h2o --survey").ended_with(0).stdout;
    let rows = [
        "| what is sent | nginx | h2o |",
        "|---|---|---|",
        "| max-age | kept | not kept |",
        "| no-store | not kept | not kept |",
    ];
    assert!(rows.iter().all(|row| told.lines().any(|line| line == *row)), "{told}");
    for (line, word) in [
        ("rig nginx,h2o --survey --set a=b", "give one NAME"),
        ("rig nginx,x --survey", "no rig \"x\""),
        ("rig nginx,h2o", "nginx,h2o"),
    ] {
        let refused = run(line).ended_with(2);
        assert!(refused.stderr.contains(word), "{line}: {}", refused.stderr);
    }
}
