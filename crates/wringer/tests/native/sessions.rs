//! Memory of users from one request to the next, and what they do of themselves, as servers see it.

use crate::support::{Ran, Report, start};
use crate::web::{Asked, Web, answer, gzipped_page, ok};
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Barrier, Mutex};

const HTTP_3: &str = "--http=3";

/// Runs `wringer http` with these words, and those of `more`, in which nothing has spaces; addresses are of HTTP/3's scheme
/// where it is spoken.
fn http(words: &[&str], more: &str) -> Report {
    ran(words, more).ended_with(0).report()
}

/// The same, however it ends.
fn ran(words: &[&str], more: &str) -> Ran {
    let first = ["http", "-q", "--json", "{}/result.json", "--seed", "7", "-t", "1"];
    let words = first.into_iter().chain(words.iter().copied()).chain(more.split_whitespace());
    let words: Vec<String> = if words.clone().any(|word| word == HTTP_3) {
        let secure = |word: &str| match word.starts_with("127.0.0.1:") {
            true => format!("https://{word}"),
            false => word.replace("http://", "https://"),
        };
        words.map(secure).chain(["-k".to_owned()]).collect()
    } else {
        words.map(str::to_owned).collect()
    };
    start(words.iter().map(String::as_str)).end()
}

/// The same over HTTP/1.1, over HTTP/2 without TLS, and over HTTP/3.
fn over_all(test: impl Fn(&str)) {
    ["--http=1.1", "--http=2c", HTTP_3].into_iter().for_each(test);
}

fn sums<const N: usize>(report: &Report, counters: [&str; N]) -> [u64; N] {
    counters.map(|counter| report.sum(counter))
}

#[test]
fn each_user_keeps_its_cookies() {
    over_all(|version| {
        // Nobody is answered before all three have asked, so each has its share of the requests.
        let next = AtomicU32::new(0);
        let all = Barrier::new(3);
        let web = Web::start_with_http3(move |asked| {
            all.wait();
            if asked.field("Cookie").is_some_and(|cookies| cookies.contains("id=")) {
                return ok("known");
            }
            let id = next.fetch_add(1, Ordering::SeqCst);
            let fields = format!("Set-Cookie: id={id}; Path=/\r\nSet-Cookie: gone=1; Max-Age=0\r\n");
            answer("200 OK", &fields, "new")
        });
        let report = http(
            &[version, "--cookie", "a=1", "-H", "X-A: b"],
            &format!("{} --cookies -c 3 -n 30", web.address),
        );
        assert_eq!(sums(&report, ["requests", "ok"]), [30, 30]);
        let seen = web.seen();
        assert!(seen.iter().all(|asked| asked.field("Cookie").unwrap().starts_with("a=1")), "{seen:?}");
        let cookies: Vec<&str> = seen.iter().map(|asked| asked.field("Cookie").unwrap()).collect();
        assert_eq!(cookies.iter().filter(|cookies| **cookies == "a=1").count(), 3, "{cookies:?}");
        assert_eq!(
            cookies.iter().collect::<HashSet<_>>().len(),
            4,
            "one for each user, and none: {cookies:?}"
        );
        let host = format!("host: {}\r\ncookie: a=1", web.address);
        assert!(seen[0].head.to_lowercase().contains(&host), "{}", seen[0].head);
    });
}

/// Placeholders are filled in wherever requests are written: with a memory and without, and several at once.
#[test]
fn placeholders_are_filled_in_sessions_and_pipelines() {
    for more in ["--cookies", "--pipeline 3", ""] {
        let web = Web::start(|_| ok("x"));
        let url = format!("http://{}/{{{{request}}}}?n={{{{request}}}}", web.address);
        http(&[&url, "--data", "b={{request}}"], &format!("-n 6 -c 1 {more}"));
        let seen = web.seen();
        let seen: Vec<String> = seen.iter().map(|asked| format!("{} {}", asked.target, asked.body)).collect();
        let wanted: Vec<String> = (0..6).map(|n| format!("/{n}?n={n} b={n}")).collect();
        assert_eq!(seen, wanted, "{more}");
    }
}

fn redirecting(asked: &Asked) -> String {
    match asked.target.as_str() {
        "/loop" => answer("302 Found", "Location: /loop\r\n", ""),
        "/nowhere" => answer("302 Found", "Location: ftp://h/\r\n", ""),
        "/form" => answer("303 See Other", "Location: /a?b\r\n", ""),
        "/a?b" => answer("307 Temporary Redirect", "Location: end\r\n", ""),
        "/keep" => answer("308 Permanent Redirect", "Location: /end\r\n", ""),
        _ => ok("end"),
    }
}

#[test]
fn redirections_are_followed_one_by_one() {
    over_all(|version| {
        let web = Web::start_with_http3(redirecting);
        let line = format!("http://{0}/form http://{0}/keep -n 2 -c 1 --follow --data x=1", web.address);
        let report = http(&[version], &line);
        assert_eq!(sums(&report, ["requests", "ok", "redirects"]), [5, 5, 3]);
        let seen: Vec<String> = web
            .seen()
            .iter()
            .map(|asked| format!("{} {} {}", asked.method, asked.target, asked.body))
            .collect();
        assert_eq!(seen, ["POST /form x=1", "GET /a?b ", "GET /end ", "POST /keep x=1", "POST /end x=1"]);
        let report = http(&[version], &format!("http://{}/form -n 2 -c 1", web.address));
        assert_eq!(sums(&report, ["requests", "ok", "redirects"]), [2, 2, 0], "a 303 is an answer");
    });
}

/// Bytes that are no UTF-8 are asked for as they were given.
#[test]
fn redirections_may_hold_any_bytes() {
    let web = Web::start(|asked| match asked.target.as_str() {
        "/" => b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /caf\xe9?a=\xff\r\n\r\n".to_vec(),
        _ => ok("end").into(),
    });
    let report = http(&[], &format!("{} -n 1 -c 1 --follow", web.address));
    assert_eq!(sums(&report, ["requests", "ok"]), [2, 2]);
    assert_eq!(web.seen()[1].target, "/caf%E9?a=%FF");
}

#[test]
fn bodies_are_framed_as_the_field_says() {
    let web = Web::start(|_| ok(""));
    http(&["-H", "Transfer-Encoding: chunked"], &format!("{} -n 2 -c 1 --data x=1", web.address));
    http(&["-H", "Transfer-Encoding: chunked"], &format!("{} -n 2 -c 1 --data x=1 --cookies", web.address));
    let seen = web.seen();
    assert_eq!(seen.len(), 4, "{seen:?}");
    for asked in seen {
        assert_eq!(asked.body, "3\r\nx=1\r\n0\r\n\r\n");
        assert_eq!(asked.field("Content-Length"), None, "{}", asked.head);
    }
}

#[test]
fn redirections_end() {
    over_all(|version| {
        let web = Web::start_with_http3(redirecting);
        for (path, kind, requests) in [("loop", "too_many_redirects", 5), ("nowhere", "bad_redirect", 1)] {
            let line = format!("-c 1 -n 1 --redirects 4 http://{}/{path}", web.address);
            let report = ran(&[version], &line).report();
            // A chain that does not end fails as a whole, not in its last request alone.
            assert_eq!(sums(&report, ["requests", "failed", "ok"]), [requests, requests, 0], "{path}");
            assert_eq!(report.failures()[kind], requests);
        }
    });
}

#[test]
fn redirections_lead_to_other_hosts_without_secrets() {
    over_all(|version| {
        let there = Web::start_with_http3(|_| ok("there"));
        let to = there.address.port();
        let scheme = if version == HTTP_3 { "https" } else { "http" };
        let here = Web::start_with_http3(move |_| {
            answer("301 Moved Permanently", &format!("Location: {scheme}://localhost:{to}/x\r\n"), "")
        });
        let report = http(&[version], &format!("{} -n 4 -c 2 --follow --user u:p", here.address));
        assert_eq!(sums(&report, ["requests", "ok", "connections"]), [8, 8, 4]);
        assert!(here.seen().iter().all(|asked| asked.field("Authorization") == Some("Basic dTpw")));
        assert!(there.seen().iter().all(|asked| asked.field("Authorization").is_none()));
        assert!(there.seen().iter().all(|asked| asked.field("Host") == Some(&format!("localhost:{to}"))));
    });
}

#[test]
fn tokens_go_with_each_request() {
    over_all(|version| {
        let web = Web::start_with_http3(|_| ok(""));
        http(&[version, "--bearer", "abc.def"], &format!("{} -n 3", web.address));
        assert!(web.seen().iter().all(|asked| asked.field("Authorization") == Some("Bearer abc.def")));
    });
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A parameter of a Digest field.
fn parameter<'a>(field: &'a str, name: &str) -> &'a str {
    let parts = field.trim_start_matches("Digest ").split(", ").filter_map(|part| part.split_once('='));
    let found = parts.filter(|(other, _)| *other == name).map(|(_, value)| value.trim_matches('"'));
    found.last().unwrap_or_else(|| panic!("no {name} in {field}"))
}

/// True if a Digest field is right for user `u` with password `p`.
fn is_right(asked: &Asked, field: &str) -> bool {
    let hash = |text: String| match parameter(field, "algorithm") {
        "SHA-256" => hex(&Sha256::digest(text)),
        _ => hex(&md5::Md5::digest(text)),
    };
    let get = |name| parameter(field, name);
    let secret = hash("u:a realm:p".to_owned());
    let covered = match get("qop") {
        "auth-int" => format!("{}:{}:{}", asked.method, get("uri"), hash(asked.body.clone())),
        _ => format!("{}:{}", asked.method, get("uri")),
    };
    let rest = format!("{}:{}:{}:{}", get("nonce"), get("nc"), get("cnonce"), get("qop"));
    get("response") == hash(format!("{secret}:{rest}:{}", hash(covered)))
}

/// Asks for Digest authentication; each nonce is good for so many requests, whose counts it checks.
fn digest_server(algorithm: &'static str, qop: &'static str, uses: u32) -> Web {
    let nonces: Mutex<Vec<u32>> = Mutex::new(Vec::new());
    Web::start_with_http3(move |asked| {
        let mut nonces = nonces.lock().unwrap();
        let given = asked.field("Authorization").filter(|field| is_right(asked, field));
        let mut stale = "";
        if let Some(field) = given {
            let nonce: usize = parameter(field, "nonce").parse().unwrap();
            let count = u32::from_str_radix(parameter(field, "nc"), 16).unwrap();
            assert_eq!(count, nonces[nonce] + 1, "each use of a nonce has its number");
            if count <= uses {
                nonces[nonce] = count;
                return ok("in");
            }
            stale = ", stale=true";
        }
        nonces.push(0);
        let nonce = nonces.len() - 1;
        let challenge = format!(
            "WWW-Authenticate: Digest realm=\"a realm\", nonce=\"{nonce}\", qop=\"{qop}\", algorithm={algorithm}{stale}\r\n"
        );
        answer("401 Unauthorized", &challenge, "")
    })
}

#[test]
fn digest_challenges_are_answered_once_and_nonces_used_again() {
    over_all(|version| {
        for (algorithm, qop, more) in
            [("MD5", "auth", ""), ("SHA-256", "auth-int,auth", ""), ("MD5", "auth-int", "--data x=1")]
        {
            let web = digest_server(algorithm, qop, 1000);
            let report =
                http(&[version], &format!("{}/p?q -c 4 -n 40 --user u:p --digest {more}", web.address));
            assert_eq!(
                sums(&report, ["requests", "ok", "challenges", "failed"]),
                [40, 40, 4, 0],
                "{algorithm}"
            );
            assert_eq!(web.seen().len(), 44);
        }
    });
}

/// The answer covers a file, too, of which nobody holds the bytes.
#[test]
fn digests_cover_files() {
    let folder = crate::support::folder();
    let file = folder.path().join("big");
    std::fs::write(&file, "0123456789abcdef".repeat(10_000)).unwrap();
    let web = digest_server("SHA-256", "auth-int", 1000);
    let report =
        http(&[], &format!("{} -c 1 -n 3 --user u:p --digest --body-file {}", web.address, file.display()));
    assert_eq!(sums(&report, ["requests", "ok", "challenges", "failed"]), [3, 3, 1, 0]);
    assert_eq!(web.seen().iter().filter(|asked| asked.body.len() == 160_000).count(), 4);
}

#[test]
fn stale_nonces_are_renewed_and_wrong_passwords_fail() {
    over_all(|version| {
        let web = digest_server("SHA-256", "auth", 3);
        let report = http(&[version], &format!("{} -c 1 -n 9 --user u:p --digest", web.address));
        assert_eq!(sums(&report, ["requests", "ok", "challenges"]), [9, 9, 3]);
        let line = format!("-c 2 -n 4 --user u:wrong --digest {}", web.address);
        let report = ran(&[version], &line).report();
        assert_eq!(sums(&report, ["requests", "failed", "ok"]), [4, 4, 0]);
        assert_eq!(report.failures()["bad_status"], 4);
    });
}

#[test]
fn each_user_logs_in_once_before_its_first_request() {
    over_all(|version| {
        let web = Web::start_with_http3(|asked| match (asked.target.as_str(), asked.body.as_str()) {
            ("/login", "name=u&word=p") => answer("302 Found", "Location: /home\r\nSet-Cookie: s=1\r\n", ""),
            _ if asked.field("Cookie") == Some("s=1") => ok("in"),
            _ => answer("403 Forbidden", "", ""),
        });
        let login = format!("POST http://{}/login name=u&word=p", web.address);
        let report = http(&[version, "--login", &login], &format!("{} -c 3 -n 30", web.address));
        assert_eq!(sums(&report, ["requests", "ok", "failed"]), [33, 33, 0]);
        let labels = report.list("labels");
        assert_eq!((labels.len(), labels[0].text("label"), labels[0].count("ended")), (1, "login", 3));
        assert_eq!(web.seen().iter().filter(|asked| asked.target == "/login").count(), 3);
        let report =
            http(&[version, "--login", &login], &format!("{} -c 3 -n 30 --cookies --follow", web.address));
        assert_eq!(
            sums(&report, ["requests", "ok", "failed"]),
            [36, 36, 0],
            "where a login leads is seen, too"
        );
    });
}

const PAGE: &str = "<link rel=stylesheet href=/s.css><img src=1.png><img src=2.png><img src=1.png><img src='/ads/x'>\
    <script src=s.js></script><a href=other>o</a><img src=3.png><img src=4.png><img src=5.png><img src=6.png>";

#[test]
fn pages_are_fetched_with_what_they_need() {
    over_all(|version| {
        let web = Web::start_with_http3(|asked| match asked.target.as_str() {
            "/" => answer("200 OK", "Content-Type: text/html\r\n", PAGE),
            _ => ok("resource"),
        });
        let line = format!("{} -c 2 -n 6 --resources --resources-parallel 3", web.address);
        let report = http(&[version, "--resources-except", "/ads/"], &line);
        assert_eq!(sums(&report, ["requests", "ok", "pages", "resources"]), [54, 54, 6, 48]);
        assert!(report.sum("connections") <= 6, "3 for each user");
        let targets: HashSet<String> = web.seen().into_iter().map(|asked| asked.target).collect();
        assert!(targets.contains("/s.css") && targets.contains("/6.png"), "{targets:?}");
        assert!(!targets.contains("/ads/x") && !targets.contains("/other"), "{targets:?}");
        assert_eq!(report.count("phases/0/latency/page/count"), 6);
    });
}

#[test]
fn pages_that_come_encoded_are_looked_into() {
    over_all(|version| {
        let web = Web::start_with_http3(|asked| match asked.target.as_str() {
            "/" => gzipped_page(PAGE),
            "/unknown" => {
                answer("200 OK", "Content-Type: text/html\r\nContent-Encoding: lzma\r\n", PAGE).into()
            }
            _ => ok("resource").into(),
        });
        let report = http(&[version], &format!("{} -c 1 -n 2 --compressed --resources", web.address));
        assert_eq!(sums(&report, ["requests", "ok", "pages", "resources"]), [20, 20, 2, 18]);
        assert!(web.seen()[0].field("Accept-Encoding").is_some_and(|codings| codings.contains("gzip")));
        let report = http(&[version], &format!("{}/unknown -c 1 -n 2 --resources", web.address));
        assert_eq!(sums(&report, ["requests", "ok", "resources"]), [2, 2, 0]);
    });
}

/// Content that `--compressed` asked for is decoded and must be whole, without any other check.
#[test]
fn compressed_answers_that_are_cut_off_fail_the_check() {
    let web = Web::start_with_http3(|asked| {
        let mut body = crate::web::gzipped("hello");
        if asked.target == "/torn" {
            body.truncate(body.len() - 3);
        }
        let head =
            format!("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", body.len());
        [head.as_bytes(), &body].concat()
    });
    for more in ["", "--cookies"] {
        let line = format!("-c 1 -n 2 --compressed {more}");
        assert_eq!(
            sums(&http(&[], &format!("{}/whole {line}", web.address)), ["ok", "check_failed"]),
            [2, 0]
        );
        let words = format!("http -q --json {{}}/result.json -t 1 {}/torn {line}", web.address);
        let report = start(words.split(' ').filter(|word| !word.is_empty())).end().ended_with(3).report();
        assert_eq!(sums(&report, ["ok", "check_failed"]), [0, 2], "{more}");
    }
}

#[test]
fn what_was_seen_is_asked_for_on_condition() {
    over_all(|version| {
        let web = Web::start_with_http3(|asked| match asked.field("If-None-Match") {
            Some("\"1\"") => "HTTP/1.1 304 Not Modified\r\n\r\n".to_owned(),
            _ => answer("200 OK", "ETag: \"1\"\r\n", "body"),
        });
        let report = http(&[version], &format!("{} -c 2 -n 10 --revalidate --expect-body same", web.address));
        assert_eq!(sums(&report, ["requests", "ok", "conditional", "unchanged"]), [10, 10, 8, 8]);
    });
}
