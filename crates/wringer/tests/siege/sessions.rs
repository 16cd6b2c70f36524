//! Memory of siege's users and what they do of themselves, as servers see it: logins, challenges, conditional requests, proxies,
//! and what pages need.

use crate::support::{self, Ran, Running, WRINGER, figures, folder, start};
use crate::tunnels::Tunnels;
use crate::web::{Asked, Web, answer, gzipped_page, ok};
use md5::{Digest, Md5};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// Runs it with a configuration; in a line of words nothing has blanks.
fn siege(configuration: &str, line: &str) -> Ran {
    let home = folder();
    std::fs::write(home.path().join("rc"), configuration).expect("the folder is ours");
    std::fs::write(home.path().join("body.bin"), b" \xff\0\r\n ").expect("the folder is ours");
    let words = ["siege", "-R", "rc"].into_iter().chain(line.split_whitespace());
    support::run(WRINGER, &words.collect::<Vec<_>>(), home.path())
}

/// Runs it with a list of URLs, of which each line begins with a path.
fn siege_list(web: &Web, list: &[&str], line: &str) -> Ran {
    let home = folder();
    let urls: String = list.iter().map(|path| format!("http://{}{path}\n", web.address)).collect();
    std::fs::write(home.path().join("urls"), urls).expect("the folder is ours");
    std::fs::write(home.path().join("body.bin"), b" \xff\0\r\n ").expect("the folder is ours");
    let words = ["siege", "-q", "-f", "urls"].into_iter().chain(line.split_whitespace());
    support::run(WRINGER, &words.collect::<Vec<_>>(), home.path())
}

fn counted<const N: usize>(ran: &Ran, labels: [&str; N]) -> [f64; N] {
    let figures = figures(&ran.err);
    labels.map(|label| *figures.get(label).unwrap_or_else(|| panic!("no {label} in {}", ran.err)))
}

const ENDS: [&str; 3] = ["Transactions", "Successful transactions", "Failed transactions"];

fn hex(text: &str) -> String {
    Md5::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// True if a Digest field is right for this name and password.
fn is_right(asked: &Asked, name: &str, password: &str) -> bool {
    let Some(field) = asked.field("Authorization") else { return false };
    let get = |wanted: &str| {
        let parts = field.trim_start_matches("Digest ").split(", ").filter_map(|part| part.split_once('='));
        let found = parts.filter(|(name, _)| *name == wanted).map(|(_, value)| value.trim_matches('"'));
        found.last().unwrap_or_default().to_owned()
    };
    let secret = hex(&format!("{name}:{}:{password}", get("realm")));
    let request = hex(&format!("{}:{}", asked.method, get("uri")));
    let middle = format!("{}:{}:{}:{}", get("nonce"), get("nc"), get("cnonce"), get("qop"));
    get("response") == hex(&format!("{secret}:{middle}:{request}"))
}

#[test]
fn digest_challenges_are_answered_with_the_login_of_their_realm() {
    let web = Web::start(|asked| {
        let (realm, name, password) = match asked.target.as_str() {
            "/a" => ("first realm", "ann", "a#1"),
            _ => ("second", "bob", "b"),
        };
        if is_right(asked, name, password) {
            return ok("in");
        }
        let challenge =
            format!("WWW-Authenticate: Digest realm=\"{realm}\", nonce=\"n{realm}\", qop=\"auth\"\r\n");
        answer("401 Unauthorized", &challenge, "who?")
    });
    let logins = "login = bob:b:second\nlogin = ann:a#1:first realm\n";
    for path in ["a", "b"] {
        let ran = siege(logins, &format!("-c 2 -r 5 http://{}/{path}", web.address));
        // Two users are asked once each, and challenges are transactions.
        assert_eq!(counted(&ran, ENDS), [12.0, 12.0, 0.0], "{path}\n{}", ran.err);
    }
    let asked = web.seen().len();
    let ran = siege(
        "login = ann:wrong:first realm\nattempts = 1\n",
        &format!("-c 1 -r 1 http://{}/a", web.address),
    );
    assert_eq!(web.seen().len() - asked, 2, "a wrong password is tried once\n{}", ran.err);
}

#[test]
fn users_take_login_urls_in_turn_and_once() {
    let web = Web::start(|asked| match asked.target.as_str() {
        "/in" => answer("200 OK", &format!("Set-Cookie: who={}\r\n", asked.body), ""),
        _ => ok("page"),
    });
    let at = web.address;
    let logins = format!("login-url = http://{at}/in POST ann\nlogin-url = http://{at}/in POST bob\n");
    let ran = siege(&logins, &format!("-c 3 -r 4 http://{at}/page"));
    assert_eq!(counted(&ran, ENDS), [15.0, 15.0, 0.0], "{}", ran.err);
    let seen = web.seen();
    let mut names: Vec<&str> =
        seen.iter().filter(|asked| asked.target == "/in").map(|asked| asked.body.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["ann", "ann", "bob"]);
    let with = |cookie| {
        seen.iter().filter(|asked| asked.target == "/page" && asked.field("Cookie") == Some(cookie)).count()
    };
    assert_eq!([with("who=ann"), with("who=bob")], [8, 4]);
}

#[test]
fn a_cache_asks_on_condition_while_an_answer_is_fresh() {
    let web = Web::start(|asked| {
        let expires = match asked.target.as_str() {
            "/fresh" => "Expires: Thu, 31 Dec 2099 23:59:59 GMT\r\n",
            "/old" => "Expires: Thu, 01 Jan 2004 00:00:00 GMT\r\n",
            _ => "",
        };
        match asked.field("If-None-Match") {
            Some("\"1\"") => "HTTP/1.1 304 Not Modified\r\n\r\n".to_owned(),
            _ => answer("200 OK", &format!("ETag: \"1\"\r\n{expires}"), "body"),
        }
    });
    for (path, cache, conditional) in
        [("fresh", true, 4), ("fresh", false, 0), ("old", true, 0), ("none", true, 0)]
    {
        let before = web.seen().len();
        let ran = siege(&format!("cache = {cache}\n"), &format!("-c 1 -r 5 http://{}/{path}", web.address));
        assert_eq!(counted(&ran, ENDS), [5.0, 5.0, 0.0], "{path} {cache}\n{}", ran.err);
        let seen = &web.seen()[before..];
        let asked = seen.iter().filter(|asked| asked.field("If-None-Match").is_some()).count();
        assert_eq!(asked, conditional, "{path} {cache}");
    }
}

#[test]
fn a_proxy_is_asked_for_whole_urls() {
    let web = Web::start(|asked| match asked.field("Proxy-Authorization") {
        Some("Basic dTpw") => ok("through"),
        _ => answer("407 Proxy Authentication Required", "Proxy-Authenticate: Basic realm=\"x\"\r\n", ""),
    });
    let configuration =
        format!("proxy-host = 127.0.0.1\nproxy-port = {}\nproxy-login = u:p\n", web.address.port());
    let ran = siege(&configuration, "-c 1 -r 3 http://host.invalid:81/x?y");
    assert_eq!(counted(&ran, ENDS), [4.0, 4.0, 0.0], "{}", ran.err);
    for asked in web.seen() {
        assert_eq!(asked.target, "http://host.invalid:81/x?y");
        assert_eq!(asked.field("Host"), Some("host.invalid:81"));
    }
}

/// Our origin over TLS, until it is dropped.
struct Origin {
    address: SocketAddr,
    running: Running,
    _home: tempfile::TempDir,
}

impl Origin {
    fn start() -> Origin {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|bound| bound.local_addr());
        let address = free.expect("a free port");
        let home = folder();
        let listen = address.to_string();
        let words = ["origin", "--tls", "--listen", &listen, "-t", "1", "-q"];
        let origin = Origin { address, running: start(WRINGER, &words, home.path()), _home: home };
        let since = Instant::now();
        while TcpStream::connect(address).is_err() {
            assert!(since.elapsed() < Duration::from_secs(120), "the origin does not come up");
            thread::sleep(Duration::from_millis(20));
        }
        origin
    }
}

impl Drop for Origin {
    fn drop(&mut self) {
        let _ = self.running.child.kill();
        let _ = self.running.child.wait();
    }
}

#[test]
fn https_goes_through_a_tunnel_of_the_proxy() {
    let origin = Origin::start();
    let proxy = Tunnels::start(None);
    let configuration = format!("proxy-host = 127.0.0.1\nproxy-port = {}\n", proxy.address.port());
    let ran = siege(&configuration, &format!("-c 2 -r 3 https://{}/w/1/500", origin.address));
    assert_eq!(counted(&ran, ENDS), [6.0, 6.0, 0.0], "{}", ran.err);
    let heads = proxy.heads();
    let wanted = format!("CONNECT {} HTTP/1.", origin.address);
    assert!(heads.len() == 6 && heads.iter().all(|head| head.starts_with(&wanted)), "{heads:?}");
}

const PAGE: &str = "<html><head><link rel=stylesheet href=/s.css></head><body><img src=/i.png></body></html>";

#[test]
fn encoded_pages_are_looked_into() {
    let web = Web::start(|asked| match asked.target.as_str() {
        "/page" => gzipped_page(PAGE),
        "/leads" => gzipped_page("<meta http-equiv=refresh content=\"0; url=/end\">"),
        _ => ok("resource").into(),
    });
    let ran = siege("parser = true\n", &format!("-c 1 -r 2 http://{}/page", web.address));
    assert_eq!(counted(&ran, ENDS), [6.0, 6.0, 0.0], "{}", ran.err);
    siege("parser = true\n", &format!("-c 1 -r 1 http://{}/leads", web.address));
    let targets: Vec<String> = web.seen().into_iter().map(|asked| asked.target).collect();
    assert_eq!(targets, ["/page", "/i.png", "/s.css", "/page", "/i.png", "/s.css", "/leads", "/end"]);
}

#[test]
fn redirections_become_get() {
    let web = Web::start(|asked| match asked.target.as_str() {
        "/301" => answer("301 Moved Permanently", "Location: /end\r\n", ""),
        "/307" => answer("307 Temporary Redirect", "Location: /end\r\n", ""),
        "/201" => answer("201 Created", "Content-Location: /end\r\n", ""),
        _ => ok("end"),
    });
    let list = ["/301 PUT a=1", "/307 PUT a=1", "/201 PUT a=1"];
    let asked = || {
        let seen = web.seen().into_iter();
        seen.map(|asked| format!("{} {} {}", asked.method, asked.target, asked.body)).collect::<Vec<_>>()
    };
    siege_list(&web, &list, "-c 1 -r once --layout 4.0");
    assert_eq!(asked(), ["PUT /301 a=1", "GET /end ", "PUT /307 a=1", "PUT /end a=1", "PUT /201 a=1"]);
    siege_list(&web, &list, "-c 1 -r once --layout 4.1");
    assert_eq!(asked()[5..].last().map(String::as_str), Some("GET /end "), "4.1 follows 201");
    assert_eq!(web.seen().len(), 11);
}

#[test]
fn once_is_a_slice_of_the_list_for_each_user() {
    let web = Web::start(|asked| {
        answer("200 OK", &format!("Set-Cookie: last={}; Path=/\r\n", &asked.target[1..]), "")
    });
    let list = ["/0", "/1", "/2", "/3", "/4", "/5", "/6"];
    siege_list(&web, &list, "-c 3 -r once --layout 4.1");
    let mut walked: Vec<(String, Option<String>)> = web
        .seen()
        .iter()
        .map(|asked| (asked.target.clone(), asked.field("Cookie").map(str::to_owned)))
        .collect();
    walked.sort();
    let after =
        |target: &str, last: Option<&str>| (target.to_owned(), last.map(|last| format!("last={last}")));
    let wanted = [
        after("/0", None),
        after("/1", Some("0")),
        after("/2", None),
        after("/3", Some("2")),
        after("/4", None),
        after("/5", Some("4")),
        after("/6", Some("5")),
    ];
    assert_eq!(walked, wanted);
}

#[test]
fn body_files_go_out_byte_for_byte() {
    let web = Web::start(|_| ok(""));
    siege_list(&web, &["/x POST <body.bin"], "-c 1 -r 1");
    let asked = &web.seen()[0];
    assert_eq!((asked.field("Content-Length"), asked.body.as_str()), (Some("6"), " \u{fffd}\0\r\n "));
}
