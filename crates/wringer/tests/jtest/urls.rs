//! Lists of URLs: files, orders, links, redirections, and what is known from before.

use crate::peer::{self, Peer, Then};
use crate::support::{Ran, file, folder, jtest};
use std::io::Write;
use std::net::TcpStream;

const PAGE: &str = "<html><head><base href=\"/dir/\"><link rel=stylesheet href=c.css></head>\
    <body background=bg.png><!-- <a href=no> --><a href='a.txt#x'>a</a><a href=a.txt>again</a><IMG SRC=i.gif>\
    <script src=s.js>var x = '<a href=nor-this>';</script><a\nHREF=\"b?x=1&amp;y=2\">b</a>\
    <a href='javascript:go()'>no</a><a href=mailto:a@b>no</a><a href='https://x.invalid/'>no</a></body>";

/// A small web server: a page in one packet, a long page, redirections, synthetic documents, and plain files.
fn site() -> Peer {
    Peer::start(|seen, stream| {
        let path = seen.path();
        let long = || format!("{}{}", PAGE, " ".repeat(50_000));
        match path.as_str() {
            "/page" => give(stream, 200, "", PAGE),
            "/long" => give(stream, 200, "", &long()),
            "/away" => give(stream, 302, "Location: http://127.0.0.1/never?\r\n", ""),
            "/there" => give(stream, 301, "Location: /dir/a.txt\r\n", ""),
            "/then" => give(stream, 307, "Location: there\r\n", ""),
            "/round" => give(stream, 302, "Location: /round\r\n", ""),
            "/lost" => give(stream, 301, "", ""),
            "/missing" => give(stream, 404, "", "no"),
            path if path.starts_with("/0.") => drop(stream.write_all(&peer::document(path, 0))),
            path if path.starts_with("/9.") => {
                drop(stream.write_all(&peer::document(&path.replace("/9", "/8"), 0)))
            }
            path => give(stream, 200, "", path),
        }
        Then::Keep
    })
}

fn give(stream: &mut TcpStream, status: u16, fields: &str, body: &str) {
    let head = format!(
        "HTTP/1.1 {status} Whatever\r\nContent-Type: text/html\r\n{fields}Content-Length: {}\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all((head + body).as_bytes());
}

/// Fetches paths of a site directly, one after the other.
fn fetch(site: &Peer, switches: &str, paths: &[&str]) -> Ran {
    let urls: Vec<String> = paths.iter().map(|path| format!("http://{}{path}", site.address)).collect();
    jtest(&format!("-p 0 -c 1 {switches} {}", urls.join(" ")))
}

fn paths(site: &Peer) -> Vec<String> {
    site.seen().iter().map(peer::Seen::path).collect()
}

#[test]
fn each_url_of_file_and_arguments_is_fetched_once() {
    let site = site();
    let folder = folder();
    let at = |path: &str| format!("http://{}{path}", site.address);
    let text = format!("{}\n{}\r\n\n{}\n{}#part\n", at("/1"), at("/2"), at("/missing"), at("/1"));
    let list = file(&folder, "list", &text);
    let ran = jtest(&format!("-p 0 -c 1 -x -u {list} {}", at("/0"))).ended();
    assert_eq!(paths(&site), ["/0", "/1", "/2", "/missing"]);
    assert_eq!((ran.ops(), ran.last().err), (3, 1), "{}", ran.out);
    assert_eq!(ran.shown(), paths(&site).iter().map(|path| at(path)).collect::<Vec<_>>());
    assert!(ran.err.contains("/missing':'HTTP/1.1 404 Whatever' 0-0\n"), "{}", ran.err);
    jtest(&format!("-p 0 -c 1 -q 0 -u {list}")).ended();
    assert_eq!(site.seen().len(), 8, "-q 0 fetches what it has fetched");
    assert_eq!(jtest(&format!("-p 0 -A 2 -u {list}")).ok().ops(), 2, "and -A ends it");
}

#[test]
fn orders_of_a_list() {
    let site = site();
    fetch(&site, "--urls-order loop -A 7", &["/1", "/2", "/3"]).ok();
    assert_eq!(paths(&site), ["/1", "/2", "/3", "/1", "/2", "/3", "/1"]);
    let looped = fetch(&site, "--urls-order loop -t 2 --threads 2 -R 9", &["/1"]).ended();
    let longest = looped.lines().iter().map(|line| line.time_s).fold(0.0, f64::max);
    assert!(longest >= 2.0, "the list begins anew as long as the run lasts: {longest} s");
    let random = crate::urls::site();
    fetch(&random, "--urls-order random -A 60 -D 5", &["/1", "/2", "/3"]).ok();
    let again = crate::urls::site();
    fetch(&again, "--urls-order random -A 60 -D 5 -c 4 --threads 2", &["/1", "/2", "/3"]).ok();
    let sorted = |site: &Peer| {
        let mut paths = paths(site);
        paths.sort();
        paths
    };
    assert_eq!(sorted(&random), sorted(&again), "the seed decides");
    assert!(
        ["/1", "/2", "/3"].iter().all(|path| paths(&random).iter().filter(|seen| seen == path).count() > 8)
    );
}

#[test]
fn links_and_what_pages_embed_are_those_a_browser_sees() {
    for page in ["/page", "/long"] {
        let (links, embedded) =
            (["/dir/a.txt", "/dir/b?x=1&y=2"], ["/dir/c.css", "/dir/bg.png", "/dir/i.gif", "/dir/s.js"]);
        let table: [(&str, Vec<&str>); 4] = [
            ("", vec![]),
            ("-F", links.to_vec()),
            ("-l", embedded.to_vec()),
            ("-F -l", [&embedded[..2], &links[..1], &embedded[2..], &links[1..]].concat()),
        ];
        for (switches, found) in table {
            let site = site();
            let ran = fetch(&site, switches, &[page]).ok();
            assert_eq!(paths(&site), [&[page], &found[..]].concat(), "{switches}");
            assert_eq!(ran.ops() as usize, 1 + found.len());
        }
    }
}

#[test]
fn only_the_host_of_the_last_url_is_followed() {
    let other = site();
    let site = site();
    let page = format!("<a href=/1>here</a><a href='http://localhost:{}/2'>there</a>", other.address.port());
    let pages = Peer::start(move |seen, stream| {
        give(stream, 200, "", if seen.path() == "/" { &page } else { "text" });
        Then::Keep
    });
    fetch(&pages, "-F -J", &["/"]).ok();
    assert_eq!((paths(&pages), other.seen().len()), (vec!["/".to_owned(), "/1".to_owned()], 0));
    fetch(&pages, "-F", &["/"]).ok();
    assert_eq!(paths(&other), ["/2"]);
    drop(site);
}

#[test]
fn redirections_are_followed_unless_told_otherwise() {
    let site = site();
    let ran = fetch(&site, "", &["/then", "/round"]).ok();
    assert_eq!(paths(&site), ["/then", "/round", "/there", "/dir/a.txt"]);
    assert_eq!(ran.ops(), 1, "redirections are no operations");
    let ran = fetch(&site, "-m", &["/there"]).ended();
    assert_eq!((ran.ops(), ran.last().err, site.seen().len()), (0, 1, 5));
    let ran = fetch(&site, "", &["/lost"]).ended();
    assert_eq!(ran.last().err, 1);
    assert!(ran.err.starts_with("bad redirect 'HTTP/1.1 301 Whatever': 'http://"), "{}", ran.err);
}

#[test]
fn what_was_fetched_is_known_to_the_next_run() {
    let site = site();
    let folder = folder();
    let known = folder.path().join("known");
    let switches = format!("-q 3 -Q {}", known.display());
    for expected in [2, 2, 2] {
        fetch(&site, &switches, &["/1", "/2"]).ended();
        assert_eq!(site.seen().len(), expected);
    }
    fetch(&site, &switches, &["/3", "/2"]).ok();
    assert_eq!(paths(&site), ["/1", "/2", "/3"]);
    let small = fetch(&site, &switches.replace("-q 3", "-q 1"), &["/1"]);
    assert_eq!((small.code, small.err.lines().count()), (Some(1), 1), "{}", small.err);
    assert!(small.err.contains("is no file of at most 1 known URLs"), "{}", small.err);
}

#[test]
fn through_a_proxy_every_host_is_asked_there() {
    let proxy = site();
    let target = format!("-P 127.0.0.1 -p {} -c 1", proxy.address.port());
    let ran = jtest(&format!("{target} http://one.invalid/1 http://two.invalid:81/page")).ok();
    assert_eq!((ran.ops(), proxy.connections()), (2, 1), "on one connection");
    assert_eq!(proxy.seen()[1].target(), "http://two.invalid:81/page");
}

#[test]
fn documents_of_the_old_tool_are_compared_and_other_urls_are_not() {
    let site = site();
    let urls = ["/1", "/0.5/600", "/0.25/5000", "/9.5/600", "/9.25/5000"];
    let ran = fetch(&site, "-C", &urls).ended();
    assert_eq!((ran.ops(), ran.last().err), (3, 2), "{}{}", ran.err, ran.out);
    assert!(
        ran.err.contains(&format!("content verification error 'http://{}/9.5/600'", site.address)),
        "{}",
        ran.err
    );
    assert_eq!(fetch(&site, "", &urls).ok().ops(), 5);
    let long = format!("/0.{}/300", "1".repeat(100));
    assert_eq!(fetch(&site, "-C", &[&long]).ok().ops(), 1, "however long the URL");
}

#[test]
fn a_list_at_a_rate_comes_to_its_end() {
    let site = site();
    let ran = fetch(&site, "-e 4 -F -l --threads 2", &["/page"]).ended();
    assert_eq!(site.seen().len(), 7, "{:?}", paths(&site));
    let each: Vec<f64> = ran.lines().iter().map(|line| line.ops).collect();
    assert_eq!(each[..3], [1.0, 4.0, 2.0], "{}", ran.out);
}

#[test]
fn without_a_rate_there_are_as_many_at_a_time_as_told() {
    let slow = Peer::at(0, std::time::Duration::from_millis(30), |_, stream| {
        give(stream, 200, "", "text");
        Then::Keep
    });
    let paths: Vec<String> = (0..40).map(|n| format!("/{n}")).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    fetch(&slow, "-c 5", &paths).ok();
    assert_eq!((slow.busiest(), slow.seen().len()), (5, 40));
}
