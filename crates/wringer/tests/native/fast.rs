//! The fast path of requests that are alike: it counts what the driver counts, whatever a server answers between good answers.

use crate::support::run;
use crate::web::{Web, answer, ok};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Answers in turn: most are alike, so that what comes between them meets a user on the fast path.
fn odd(nth: usize) -> Vec<u8> {
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
    let said = match nth % 40 {
        5..=7 => answer("500 Internal Server Error", "", "no"),
        9 => answer("404 Not Found", "", ""),
        // Another head, of which no more comes than of the usual one.
        12 => answer("200 OK", "X-Other: 1\r\n", "hello"),
        // The second of them has a head that came before.
        15 | 16 => answer("200 OK", "", "hello!!"),
        18 => chunked.to_owned(),
        21 => answer("200 OK", "Connection: close\r\n", "hello"),
        24 => ok("hello") + "surplus",
        27 => format!("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n{}", ok("hello")),
        30 => "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello".to_owned(),
        33 => "NOT HTTP AT ALL\r\n\r\n".to_owned(),
        36 => answer("204 No Content", "", ""),
        _ => ok("hello"),
    };
    said.into_bytes()
}

/// Answers of which some lead on, and some of those nowhere.
fn leading(nth: usize) -> Vec<u8> {
    let location = |to: &str| answer("302 Found", &format!("Location: {to}\r\n"), "");
    match nth % 40 {
        3 => location("/y"),
        8 | 9 => location("/z"),
        20 => answer("301 Moved Permanently", "", "nowhere"),
        25 => answer("304 Not Modified", "", ""),
        // Each is followed by a good answer, so that the next one has a head that came before.
        28 | 30 | 32 => location("/y"),
        38 => answer("401 Unauthorized", "WWW-Authenticate: Basic realm=\"x\"\r\n", ""),
        _ => return odd(nth),
    }
    .into_bytes()
}

/// The same over HTTP/2, as far as it can be said there.
fn odd_stream(nth: usize) -> Vec<u8> {
    let said = match nth % 40 {
        5..=7 => answer("500 Internal Server Error", "", "no"),
        9 => answer("404 Not Found", "", ""),
        12 => answer("200 OK", "X-Other: 1\r\n", "hello"),
        15 | 16 => answer("200 OK", "", "hello!!"),
        18 => answer("200 OK", "Trailer-X-Sum: 1\r\n", "hello"),
        36 => answer("204 No Content", "", ""),
        _ => ok("hello"),
    };
    said.into_bytes()
}

/// Counts of a run, as the report has them.
fn counts(odd: fn(usize) -> Vec<u8>, options: &str) -> Vec<(String, u64)> {
    let served = AtomicUsize::new(0);
    let web = Web::start(move |_| odd(served.fetch_add(1, Ordering::Relaxed)));
    let line =
        format!("http http://{}/x -t 1 -n 400 -q --seed 5 --json {{}}/result.json {options}", web.address);
    let report = run(&line).report();
    let names = [
        "requests",
        "ok",
        "failed",
        "check_failed",
        "unfinished",
        "resent",
        "connections",
        "reused",
        "sent_bytes",
        "head_bytes",
        "body_bytes",
        "field_bytes",
        "interims",
        "ended",
        "redirects",
        "unchanged",
        "challenges",
        "stray",
        "stray_bytes",
    ];
    let counts = names.iter().map(|name| ((*name).to_owned(), report.sum(name)));
    let failures = report.failures().into_iter().map(|(kind, count)| (format!("failure {kind}"), count));
    counts.chain(failures).collect()
}

#[test]
fn what_is_counted_is_the_same_as_off_the_fast_path() {
    // A limit of its own for the first byte is the driver's business.
    for more in ["", "--resend safe", "--resend never", "--expect-body same-length"] {
        let more = format!("-c 1 {more}");
        let fast = counts(odd, &more);
        let driven = counts(odd, &format!("{more} --first-byte-timeout 20s"));
        assert_eq!(fast, driven, "{more}");
        let count = |name: &str| fast.iter().find(|(other, _)| other == name).map_or(0, |(_, count)| *count);
        assert_eq!((count("requests"), count("unfinished")), (400, 0));
        assert!(count("failed") >= 40, "{fast:?}");
        assert_eq!(count("ok"), if more.contains("length") { 310 } else { 340 }, "{fast:?}");
        assert_eq!(count("stray"), 10, "{fast:?}");
    }
}

/// Sessions that do nothing but follow redirections have it, too.
#[test]
fn redirections_leave_the_fast_path_and_come_back_to_it() {
    for more in ["-c 1", "-c 1 --resend safe"] {
        let more = format!("--follow {more}");
        let fast = counts(leading, &more);
        let driven = counts(leading, &format!("{more} --first-byte-timeout 20s"));
        assert_eq!(fast, driven, "{more}");
        let count = |name: &str| fast.iter().find(|(other, _)| other == name).map_or(0, |(_, count)| *count);
        assert!(count("redirects") >= 20 && count("ok") >= 250, "{fast:?}");
    }
}

/// Requests over HTTP/2 that follow each other by themselves count as those that are sent one by one.
#[test]
fn requests_that_repeat_themselves_count_as_others() {
    for (more, ok) in [
        ("-c 1", 360),
        ("-c 12 --streams 4", 360),
        ("-c 12 --streams 4 --header-table 0", 360),
        // Two in forty are longer, and one has no content.
        ("-c 1 --expect-body same-length", 330),
    ] {
        let more = format!("--http 2c {more}");
        let repeated = counts(odd_stream, &more);
        let driven = counts(odd_stream, &format!("{more} --first-byte-timeout 20s"));
        assert_eq!(repeated, driven, "{more}");
        let count = |name: &str| repeated.iter().find(|(other, _)| other == name).unwrap().1;
        assert_eq!((count("requests"), count("ok"), count("unfinished")), (400, ok, 0), "{more}");
    }
}
