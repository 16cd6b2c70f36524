//! Requests on the wire, byte for byte as recorded of the old tool for a document, an alternate and a range. Which
//! documents a seed chooses is not the old tool's business here, so those stand in braces.

use crate::peer::{self, Peer, Seen, Then};
use crate::support::{against, folder, jtest};
use std::io::Write;

/// Sends the requests of a command line to a recorder and compares them with `recorded`, line ends left out. In it
/// `{path}`, `{size}`, `{range}` and `{alternate}` stand for what the request itself has there.
fn check(line: &str, recorded: &[&str]) -> Vec<Seen> {
    let recorder = Peer::start(|seen, stream| {
        let _ = stream.write_all(&answer(seen));
        if seen.text().contains("Keep-Alive") { Then::Keep } else { Then::Close }
    });
    // Whether the answers were good is not the question.
    against(recorder.address, &format!("-c 1 -E -A {} {line}", recorded.len())).ended();
    let seen = recorder.seen();
    let heads: Vec<String> = seen.iter().map(head).collect();
    let expected: Vec<String> =
        recorded.iter().zip(&seen).map(|(template, seen)| fill(template, seen)).collect();
    assert_eq!(heads, expected, "{line}");
    seen
}

/// A document, or the range of it.
fn answer(seen: &Seen) -> Vec<u8> {
    let path = seen.path();
    let Some((first, last)) = range(seen) else { return peer::document(&path, 0) };
    let size = peer::size(&path);
    let length = last + 1 - first;
    let head = format!(
        "HTTP/1.1 206 Partial-Content\r\nConnection: Keep-Alive\r\nContent-Length: {length}\r\n\
         Content-Range: bytes {first}-{last}/{size}\r\n\r\n"
    );
    [head.as_bytes(), &peer::body(&path, 0)[first..=last]].concat()
}

fn field(seen: &Seen, start: &str) -> Option<String> {
    seen.text().lines().find_map(|line| line.strip_prefix(start).map(str::to_owned))
}

fn range(seen: &Seen) -> Option<(usize, usize)> {
    let (first, last) = field(seen, "Range: bytes=")?.split_once('-').map(|(a, b)| (a.parse(), b.parse()))?;
    first.ok().zip(last.ok())
}

fn head(seen: &Seen) -> String {
    let text = seen.text();
    let (head, _) = text.split_once("\r\n\r\n").expect("a whole request");
    let lines: Vec<&str> = head.split("\r\n").collect();
    assert!(lines.iter().all(|line| !line.contains(['\r', '\n'])), "{text:?}");
    lines.join("\n") + "\n"
}

fn fill(template: &str, seen: &Seen) -> String {
    let path = seen.path();
    let document = path.split(['.', '/']).filter(|part| !part.is_empty()).take(3).collect::<Vec<_>>();
    assert_eq!(document[1].len(), 10, "ten decimals: {path}");
    let alternate = ["Cookie: jtest-cookie-", "User-Agent: jtest-browser-"].iter();
    let alternate = alternate.filter_map(|start| field(seen, start)).next().unwrap_or_default();
    let text = template.replace("{path}", &format!("/{}.{}/{}", document[0], document[1], document[2]));
    let text = text.replace("{range}", &field(seen, "Range: bytes=").unwrap_or_default());
    text.replace("{alternate}", &alternate).replace("{size}", document[2])
}

#[test]
fn every_last_request_of_a_connection_does_not_ask_to_keep_it() {
    let kept = "GET http://localhost:9080{path} HTTP/1.0\nProxy-Connection: Keep-Alive\n";
    let last = "GET http://localhost:9080{path} HTTP/1.0\n";
    let seen = check("-k 1 -L 300", &[kept, last, kept, last]);
    assert_eq!(seen.iter().map(|seen| seen.connection).collect::<Vec<_>>(), [0, 0, 1, 1]);
    let seen = check("", &[kept, kept, kept, kept, last, kept]);
    assert_eq!(seen[5].connection, 1, "-k 4 is five requests");
    let seen = check("-k 0", &[last, last]);
    assert_eq!(seen[1].connection, 1);
}

#[test]
fn the_reverse_and_the_transparent_form() {
    check(
        "-H 1 -k 1",
        &[
            "GET {path} HTTP/1.0\nHost: localhost:9080\nConnection: Keep-Alive\n",
            "GET {path} HTTP/1.0\nHost: localhost:9080\n",
        ],
    );
    check("-H 2 -k 1", &["GET {path} HTTP/1.0\nConnection: Keep-Alive\n", "GET {path} HTTP/1.0\n"]);
}

#[test]
fn extra_fields_reloads_and_alternates() {
    check(
        "-n 4 -N 3 -2 1 -W 1 -4 1",
        &["GET http://localhost:9080{path}.html HTTP/1.0
Proxy-Connection: Keep-Alive
Pragma: no-cache
Accept: image/gif, image/x-xbitmap, image/jpeg, image/pjpeg, image/png, */*
Extra-Header3: a lot of junk for header 3
Extra-Header2: a lot of junk for header 2
Extra-Header1: a lot of junk for header 1
User-Agent: jtest-browser-{alternate}
"],
    );
    let cookies = "GET http://localhost:9080{path} HTTP/1.0
Proxy-Connection: Keep-Alive
User-Agent: Mozilla/4.04 [en] (X11; I; Linux 2.0.31 i586)
Accept: image/gif, image/x-xbitmap, image/jpeg, image/pjpeg, image/png, */*
Extra-Header2: a lot of junk for header 2
Extra-Header1: a lot of junk for header 1
Cookie: jtest-cookie-{alternate}
";
    let seen = check("-n 4 -N 3 -k 100", &[cookies; 30]);
    let mut alternates: Vec<_> =
        seen.iter().filter_map(|seen| field(seen, "Cookie: jtest-cookie-")).collect();
    alternates.sort();
    alternates.dedup();
    assert_eq!(alternates, ["0", "1", "2"]);
    check(
        "-2 1 -n 1",
        &["GET http://localhost:9080{path} HTTP/1.0
Proxy-Connection: Keep-Alive
Accept: image/gif, image/x-xbitmap, image/jpeg, image/pjpeg, image/png, */*
"],
    );
}

#[test]
fn endings_of_the_path() {
    let table = [("-4 1", ".html"), ("-4 2", ".jpeg"), ("-4 3", "/"), ("-4 9", ""), ("-L 0", ""), ("-M", "")];
    for (line, ending) in table {
        let template =
            format!("GET http://localhost:9080{{path}}{ending} HTTP/1.0\nProxy-Connection: Keep-Alive\n");
        check(line, &[template.as_str(); 3]);
    }
}

#[test]
fn a_hot_set_that_evolves_names_its_generation() {
    let recorder = Peer::good();
    against(recorder.address, "-c 1 -A 20 -9 3600").ok();
    let seconds =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("later").as_secs();
    for seen in recorder.seen() {
        let generation: u64 =
            seen.path().rsplit('.').next().and_then(|text| text.parse().ok()).expect("a number");
        // 3600 an hour is one a second, and the number of the document is 0 or 1.
        assert!(generation.abs_diff(seconds) < 60, "{} at {seconds}", seen.path());
    }
}

#[test]
fn ranges() {
    let kept = "GET http://localhost:9080{path} HTTP/1.1
Proxy-Connection: Keep-Alive
Host: localhost
Range: bytes={range}
";
    let last = "GET http://localhost:9080{path} HTTP/1.1
Connection: close
Host: localhost
Range: bytes={range}
";
    let seen = check("--range_mode 1 -k 2", &[kept, kept, last, kept, kept, last]);
    let small = check("--range_mode 1 -L 90 -k 100", &[kept; 3]);
    let long = check("--range_mode 1 -L 5000 -k 100", &[kept; 30]);
    for seen in seen.iter().chain(&small).chain(&long) {
        let (first, last) = range(seen).expect("a range");
        let size = peer::size(&seen.path());
        assert!(last < size && last + 1 - first >= size.min(100), "{}", seen.text());
    }
    check(
        "--range_mode 1 -H 1",
        &["GET {path} HTTP/1.1\nHost: localhost:9080\nConnection: Keep-Alive\nRange: bytes={range}\n"],
    );
}

#[test]
fn posts_carry_the_counting_pattern() {
    let seen = check(
        "--post_support 1 -L 300",
        &["POST http://localhost:9080{path} HTTP/1.0\nContent-Length: 300\nProxy-Connection: Keep-Alive\n";
            2],
    );
    let counting: Vec<u8> = (0..=255).cycle().take(300).collect();
    assert!(seen.iter().all(|seen| seen.bytes.ends_with(&counting)));
    let seen = check(
        "--post_support 2 --post_size 100 -L 300",
        &["POST http://localhost:9080{path} HTTP/1.0\nContent-Length: 100\nProxy-Connection: Keep-Alive\n"],
    );
    assert!(seen[0].bytes.ends_with(&counting[..100]));
    check(
        "--post_support 1",
        &["POST http://localhost:9080{path} HTTP/1.0\nContent-Length: {size}\nProxy-Connection: Keep-Alive\n";
            4],
    );
}

#[test]
fn sizes_are_those_of_the_table() {
    // Pairs recorded of the old tool, among what it would ask for; hot documents have the same names for every seed.
    let recorded = [("/1.5740000000/", 5000), ("/1.9030000000/", 60_000), ("/1.2730000000/", 500)];
    let recorder = Peer::good();
    against(recorder.address, "-c 4 -k 1000 -A 6000 -z 1").ok();
    let paths: std::collections::HashSet<String> = recorder.seen().iter().map(Seen::path).collect();
    for (start, size) in recorded {
        let sizes: Vec<usize> =
            paths.iter().filter(|path| path.starts_with(start)).map(|path| peer::size(path)).collect();
        assert_eq!(sizes, [size], "{start}");
    }
    assert!(
        paths.len() > 900 && paths.iter().all(|path| path.starts_with("/1.")),
        "{} documents",
        paths.len()
    );
}

#[test]
fn urls_through_a_proxy_and_without_one() {
    let recorder = Peer::good();
    let port = recorder.address.port();
    let url = format!("http://127.0.0.1:{port}/0.5/40?x=y;z#part");
    jtest(&format!("-P 127.0.0.1 -p {port} -k 0 {url}")).ok();
    jtest(&format!("-P 127.0.0.1 -p {port} -n 1 -W 1 {url}")).ok();
    jtest(&format!("-p 0 -k 0 {url}")).ok();
    jtest(&format!("-p 0 -n 1 -W 1 {url}")).ok();
    let browser = "Accept: */*\nUser-Agent: Mozilla/4.04 [en] (X11; I; Linux 2.0.31 i586)\n";
    let authority = format!("127.0.0.1:{port}");
    let expected = [
        format!("GET http://{authority}/0.5/40?x=y;z HTTP/1.0\nAccept: */*\n"),
        format!(
            "GET http://{authority}/0.5/40?x=y;z HTTP/1.0\nPragma: no-cache\nProxy-Connection: Keep-Alive\n{browser}"
        ),
        format!("GET /0.5/40?x=y;z HTTP/1.0\nHost: {authority}\nAccept: */*\n"),
        format!(
            "GET /0.5/40?x=y;z HTTP/1.0\nHost: {authority}\nPragma: no-cache\nConnection: Keep-Alive\n{browser}"
        ),
    ];
    assert_eq!(recorder.seen().iter().map(head).collect::<Vec<_>>(), expected);
}

#[test]
fn the_views_of_a_request_are_those_of_the_old_tool() {
    let ran = crate::support::alone("-D 42 -c 1 -H 1 -A 1 -X -x -k 1");
    let path = ran.shown()[0].split(' ').nth(1).expect("a path").to_owned();
    let (port, size) =
        (ran.out.split("Host: localhost:").nth(1).expect("a host")[..5].to_owned(), peer::size(&path));
    let request = format!("GET {path} HTTP/1.0\r\nHost: localhost:{port}\r\nConnection: Keep-Alive\r\n\r\n");
    let answer = peer::head("text/html", size, true, false);
    let expected = format!(
        "GET {path} HTTP/1.0\nRequest to Proxy: {{\n{request}}}\nRequest from Proxy: {{\n{request}}}\n\
         Response to Proxy: {{\n{answer}{path}}}\nResponse From Proxy: {{\n{answer}}}\n con  new "
    );
    assert!(ran.out.starts_with(&expected), "{}", ran.out);
    let traced = crate::support::alone("-D 42 -c 1 -H 1 -A 1 -v -k 1");
    assert!(traced.out.contains("Response to Proxy: {"), "-v shows all there is: {}", traced.out);
}

#[test]
fn what_was_asked_for_goes_to_a_file() {
    let recorder = Peer::good();
    let folder = folder();
    let (one, two) =
        (format!("http://{}/0.1/50", recorder.address), format!("http://{}/0.2/60", recorder.address));
    let dump = folder.path().join("dump");
    jtest(&format!("-p 0 -c 1 -U {} {one} {two} {one}", dump.display())).ok();
    let text = std::fs::read_to_string(dump).expect("it was written");
    assert_eq!(text, format!("{one}\n{two}\n"));
}
