//! The door beside the siege of the distribution: the same command line against the same server. Requests are compared byte
//! for byte, lines and figures as far as the documentation names no difference.

use crate::server::Server;
use crate::support::{self, Ran, WRINGER, folder};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// The siege of the distribution, of the version that the door is drop-in for.
fn original() -> Option<&'static str> {
    let said = Command::new("siege").arg("-V").env("HOME", std::env::temp_dir()).output().ok()?;
    String::from_utf8_lossy(&said.stderr).contains("SIEGE 4.0").then_some("siege")
}

const CONFIGURATION: &str = "verbose = true\nprotocol = HTTP/1.1\nchunked = true\nparser = true\ngmethod = HEAD\nlogin = u:p\n\
                             accept-encoding = gzip, deflate\nuser-agent = both/1\n";

/// Results that both must agree on.
#[derive(Debug, PartialEq)]
struct Seen {
    requests: Vec<String>,
    lines: Vec<String>,
    figures: Vec<(String, f64)>,
    code: Option<i32>,
}

/// Figures that hang on no clock.
pub const COMPARED: [&str; 5] =
    ["Transactions", "Availability", "Data transferred", "Successful transactions", "Failed transactions"];

fn seen(ran: &Ran, server: &Server) -> Seen {
    let mut requests = server.take_requests();
    requests.sort();
    let mut lines: Vec<String> = support::plain(&ran.out).lines().map(without_seconds).collect();
    lines.sort();
    let figures = support::figures(&ran.err).into_iter();
    Seen {
        requests,
        lines,
        figures: figures.filter(|(label, _)| COMPARED.contains(&label.as_str())).collect(),
        code: ran.code,
    }
}

/// A line of a request, its time masked.
fn without_seconds(line: &str) -> String {
    match line.split_once(" secs:") {
        Some((before, after)) => {
            let kept = before.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').trim_end();
            format!("{kept} # secs:{after}")
        }
        None => line.to_owned(),
    }
}

/// Runs both with the words of a line; `URL/` stands for the server, and `~` for a blank within a word.
fn compare(server: &Server, home: &Path, line: &str) {
    let Some(siege) = original() else {
        println!("skipped: siege 4.0 is not installed; cargo xtask setup installs it");
        return;
    };
    let url = server.url("/");
    let words: Vec<String> =
        line.split_whitespace().map(|word| word.replace("URL/", &url).replace('~', " ")).collect();
    let words: Vec<&str> = ["-R", "both.conf"].into_iter().chain(words.iter().map(String::as_str)).collect();
    let theirs = support::run(siege, &words, home);
    let theirs = seen(&theirs, server);
    let door: Vec<&str> = ["siege"].into_iter().chain(words).collect();
    let ours = support::run(WRINGER, &door, home);
    assert_eq!(seen(&ours, server), theirs, "{line}\n{}\n{}", ours.out, ours.err);
}

/// Runs both against any server, with words as [`compare`] has them: the figures of ours and of theirs.
pub fn figures_of_both(line: &str) -> Option<(BTreeMap<String, f64>, BTreeMap<String, f64>)> {
    let siege = original()?;
    let home = home();
    let words: Vec<String> = line.split_whitespace().map(|word| word.replace('~', " ")).collect();
    let words: Vec<&str> = ["-R", "both.conf"].into_iter().chain(words.iter().map(String::as_str)).collect();
    let theirs = support::run(siege, &words, home.path());
    let door: Vec<&str> = ["siege"].into_iter().chain(words).collect();
    let ours = support::run(WRINGER, &door, home.path());
    Some((support::figures(&ours.err), support::figures(&theirs.err)))
}

fn home() -> tempfile::TempDir {
    let home = folder();
    std::fs::write(home.path().join("both.conf"), CONFIGURATION).expect("the folder is ours");
    std::fs::create_dir(home.path().join(".siege")).expect("the folder is ours");
    std::fs::write(home.path().join(".siege/siege.conf"), CONFIGURATION).expect("the folder is ours");
    home
}

#[test]
fn answers_of_all_kinds() {
    let server = Server::start();
    let home = home();
    // What is not HTTP siege counts twice, as a transaction and as a failure; here it has failed.
    for path in ["ok", "404", "403", "408", "500", "301", "chunked", "empty", "rst", "auth", "page"] {
        compare(&server, home.path(), &format!("-c 2 -r 3 URL/{path}"));
    }
}

#[test]
fn resources_of_all_kinds() {
    let server = Server::start();
    let home = home();
    for page in ["frames", "base", "noscript", "refresh", "links"] {
        compare(&server, home.path(), &format!("-c 1 -r 2 URL/pages/{page}.html"));
    }
}

#[test]
fn requests_of_all_kinds() {
    let server = Server::start();
    let home = home();
    let list = "H=URL\nhttp://$(H)/a\nhttp://$(H)/b?c=d POST a=1&b=2\nhttp://$(H)/c PUT x y\nhttp://$(H)/d DELETE\n\
                http://$(H)/e PATCH <body.txt\nhttp://$(H)/%41 b\n";
    let list = list.replace("URL", &server.address.to_string());
    std::fs::write(home.path().join("urls"), list).expect("the folder is ours");
    let redirected = "http://URL/301 PUT a=1\nhttp://URL/301 POST a=1\nhttp://URL/307 PUT a=1\n";
    let redirected = redirected.replace("URL", &server.address.to_string());
    std::fs::write(home.path().join("redirected"), redirected).expect("the folder is ours");
    std::fs::write(home.path().join("body.txt"), " trimmed \n").expect("the folder is ours");
    for line in [
        "-f urls -c 2 -r once",
        "-f urls -c 3 -r 4",
        "-c 1 -r 1 -H X-A:~b -H Host:~other -A agent/9 -T text/foo URL/x",
        "-c 1 -r 2 -H Accept:~text/html --no-parser URL/page",
        "-c 1 -r 3 URL/cookie",
        "-c 1 -r 1 --no-follow URL/301",
        "-c 1 -r 1 URL/x~POST~a=b~c",
        "-g URL/ok",
        "-p URL/ok",
        "-p URL/301",
        "-g URL/404",
        "-g URL/301",
        "-f redirected -c 1 -r once",
        "-q -c 2 -r 2 URL/ok",
    ] {
        compare(&server, home.path(), line);
    }
}
