//! Bodies of requests that are long, stand in files, or are sent only once the server has asked for them.

use crate::support::{Ran, folder, free_address, run, shell, start_in, wringer};
use crate::web::{Web, answer, ok};
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// Text of this length in which no two pieces are alike.
fn text(length: usize) -> String {
    (0..).flat_map(|line| format!("{line} and on\n").chars().collect::<Vec<_>>()).take(length).collect()
}

/// Runs a command in a folder that holds a file named `big`.
fn with_file(content: &str, line: &str) -> Ran {
    let folder = folder();
    fs::write(folder.path().join("big"), content).expect("a file");
    start_in(folder, line.split(' ')).end()
}

/// Over each version, and where all of it has to be known at once: in a session, and in a chunk.
#[test]
fn the_content_of_a_file_arrives_as_it_is() {
    let content = text(300_000);
    let server = Web::start_with_http3(|_| ok(""));
    let plain = format!("http http://{}/ -n 2 -c 1 -q", server.address);
    for options in
        ["", "--http 2c", "--cookies", "-H Transfer-Encoding:chunked", "--data-file ids={}/big -H X:{{ids}}"]
    {
        let before = server.seen().len();
        with_file(&content, &format!("{plain} {options} --body-file {{}}/big").replace("  ", " "))
            .ended_with(0);
        let seen = server.seen().split_off(before);
        assert_eq!(seen.len(), 2, "{options}");
        for asked in seen {
            assert_eq!(asked.method, "POST");
            let body = asked.body.strip_prefix(&format!("{:x}\r\n", content.len())).unwrap_or(&asked.body);
            assert!(body.starts_with(&content), "{options}: {} bytes came", asked.body.len());
        }
    }
    let before = server.seen().len();
    let secure = format!("http https://{}/ --http 3 -k -n 2 -c 1 -q --body-file {{}}/big", server.address);
    with_file(&content, &secure).ended_with(0);
    assert!(server.seen()[before..].iter().all(|asked| asked.body == content));
    assert_eq!(server.seen().len(), before + 2);
}

/// A session that leads on sends the file once more, or leaves it behind, as the status says.
#[test]
fn a_file_goes_along_with_a_redirection() {
    let content = text(2_000_000);
    for version in ["", "--http 2c "] {
        let server = Web::start(|asked| match asked.target.as_str() {
            "/again" => answer("307 Temporary Redirect", "Location: /there\r\n", ""),
            "/look" => answer("303 See Other", "Location: /there\r\n", ""),
            _ => ok(""),
        });
        for (from, length) in [("again", content.len()), ("look", 0)] {
            let before = server.seen().len();
            let line = format!(
                "http http://{}/{from} {version}-n 1 -c 1 -q --follow --body-file {{}}/big",
                server.address
            );
            with_file(&content, &line).ended_with(0);
            let bodies: Vec<String> =
                server.seen().split_off(before).into_iter().map(|asked| asked.body).collect();
            assert_eq!(bodies.len(), 2, "{from}");
            assert!(bodies[0] == content && bodies[1] == content[..length], "{from}: {}", bodies[1].len());
        }
    }
}

#[test]
fn forms_and_texts_hold_files() {
    let content = text(100_000);
    let server = Web::start(|_| ok(""));
    let plain = format!("http http://{}/{{{{int:1..9}}}} -n 1 -c 1 -q", server.address);
    with_file(&content, &format!("{plain} --multipart a={{{{int:5..5}}}} --multipart f=@{{}}/big;type=x/y"))
        .ended_with(0);
    with_file(&content, &format!("{plain} --data @{{}}/big")).ended_with(0);
    let seen = server.seen();
    let kind = seen[0].field("Content-Type").expect("it is a form");
    let boundary = kind.strip_prefix("multipart/form-data; boundary=").expect("it is a form");
    let form = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n5\r\n\
         --{boundary}\r\nContent-Disposition: form-data; name=\"f\"; filename=\"big\"\r\nContent-Type: x/y\r\n\r\n{content}\r\n\
         --{boundary}--\r\n"
    );
    assert!(seen[0].body == form, "{} bytes for {}", seen[0].body.len(), form.len());
    assert!(seen[1].body == content && seen[1].field("Content-Type").is_none());
}

/// No worker and no connection has a copy: the plan names the file, and so does what is kept of the run. A session holds no more.
#[test]
fn a_large_file_takes_no_memory_and_no_room_in_the_plan() {
    let address = free_address();
    let mut origin = wringer(&format!("origin --listen {address} -t 1 -q"));
    origin.wait_for("listens at");
    for session in ["", "--follow"] {
        let line = format!(
            "head -c 60000000 /dev/zero > large; exec $WRINGER http http://{address}/w/1/300 --body-file large --expect-status 204 \
             -t 2 -c 8 -n 24 -q --json result.json --keep-in run.wr {session}"
        );
        let ran = shell(&line).ended_with(0);
        let report = ran.report();
        assert_eq!([report.sum("ok"), report.sum("failed")], [24, 0], "{}", ran.stdout);
        assert!(report.sum("sent_bytes") > 24 * 60_000_000, "{}", ran.stdout);
        let memory = report.count("self_check/machine/memory_bytes");
        assert!(memory < 120_000_000, "{memory} bytes of memory {session}");
        let body = report.part("plan/load/phases/0/scenario/steps/0/requests/requests/0/body");
        assert_eq!((body.text("file"), body.count("bytes")), ("large", 60_000_000));
        assert_eq!(body.text("sha256").len(), 64);
    }
}

#[test]
fn a_plan_names_its_file_and_knows_it_again() {
    let server = Web::start(|_| ok(""));
    let file = "body = { file = 'big', bytes = 3, sha256 = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad' }";
    let plan = |body: &str| {
        format!(
            "version = 1\nseed = 7\n[[load.phases]]\nname = 'x'\nstop = {{ requests = 1 }}\nscenario = {{ steps = [ {{ requests = {{ \
             requests = [ {{ url = 'http://{}/', method = 'POST', {body} }} ] }} }} ] }}\n",
            server.address
        )
    };
    let run = |content: &str, body: &str| {
        let folder = folder();
        fs::write(folder.path().join("big"), content).expect("a file");
        fs::write(folder.path().join("plan.toml"), plan(body)).expect("a file");
        start_in(folder, "run {}/plan.toml -q".split(' ')).end()
    };
    run("abc", file).ended_with(0);
    run("whatever", "body = { file = 'big' }").ended_with(0);
    run("abc", "body = { parts = ['<', { file = 'big' }, '>'] }").ended_with(0);
    let bodies: Vec<String> = server.seen().into_iter().map(|asked| asked.body).collect();
    assert_eq!(bodies, ["abc", "whatever", "<abc>"]);
    for (content, words) in [("abd", "its SHA-256 differs"), ("abcd", "it has 4 bytes")] {
        let ran = run(content, file);
        assert_ne!(ran.code(), 0);
        assert!(
            ran.stderr.contains(words) && ran.stderr.contains("take bytes and sha256 out"),
            "{}",
            ran.stderr
        );
    }
    let gone = run("abc", "body = { file = 'nothing' }");
    assert!(gone.code() != 0 && gone.stderr.contains("nothing is not there"), "{}", gone.stderr);
    let outside = run("abc", "body = { file = '/etc/hostname' }");
    assert!(outside.code() != 0 && outside.stderr.contains("--any-files"), "{}", outside.stderr);
}

/// Reads the head of a request, and whatever has come with it.
fn head(peer: &mut TcpStream) -> String {
    let mut read = Vec::new();
    let mut byte = [0];
    while !read.ends_with(b"\r\n\r\n") {
        peer.read_exact(&mut byte).expect("a head comes");
        read.push(byte[0]);
    }
    String::from_utf8(read).expect("it is text")
}

/// Serves one connection with a function, and presses it with a request that waits for 100 (Continue).
fn expecting<T: Send + 'static>(serve: impl FnOnce(TcpStream) -> T + Send + 'static, count: u32) -> (T, Ran) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it has one");
    let served = thread::spawn(move || {
        // A connection that says nothing only looks whether somebody listens.
        let says = |peer: &TcpStream| matches!(peer.peek(&mut [0]), Ok(1));
        let peers = listener.incoming().map(|peer| peer.expect("somebody connects"));
        serve(peers.into_iter().find(says).expect("somebody asks"))
    });
    let line = format!(
        "http http://{address}/ -c 1 -n {count} --data 0123456789 -H Expect:100-continue --expect-status 200,417 -q --json \
         {{}}/result.json"
    );
    let ran = run(&line);
    (served.join().expect("it serves"), ran)
}

#[test]
fn the_body_is_sent_once_the_server_has_asked_for_it() {
    let serve = |mut peer: TcpStream| {
        for _ in 0..2 {
            assert!(head(&mut peer).contains("Expect: 100-continue\r\n"));
            // Nothing of the body is here, and nothing comes.
            peer.set_read_timeout(Some(Duration::from_millis(200))).expect("a limit");
            let early = peer.read(&mut [0; 10]).expect_err("nothing comes");
            assert!(matches!(early.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{early}");
            peer.set_read_timeout(None).expect("no limit");
            peer.write_all(b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n")
                .expect("it reads");
            let mut body = [0; 10];
            peer.read_exact(&mut body).expect("the body comes");
            assert_eq!(&body, b"0123456789");
            peer.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").expect("it reads");
        }
    };
    let ((), ran) = expecting(serve, 2);
    let report = ran.ended_with(0).report();
    assert_eq!([report.sum("ok"), report.sum("connections")], [2, 1]);
}

#[test]
fn a_final_answer_ends_a_request_without_its_body() {
    let serve = |mut peer: TcpStream| {
        head(&mut peer);
        peer.write_all(b"HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n").expect("it reads");
        let mut rest = Vec::new();
        peer.read_to_end(&mut rest).expect("the connection ends");
        rest
    };
    let (rest, ran) = expecting(serve, 1);
    assert_eq!(rest, b"", "a body would be taken for the next request");
    assert_eq!(ran.ended_with(0).report().sum("ok"), 1);
}

#[test]
fn a_server_that_says_nothing_gets_the_body_after_a_second() {
    let serve = |mut peer: TcpStream| {
        head(&mut peer);
        let begun = Instant::now();
        let mut body = [0; 10];
        peer.read_exact(&mut body).expect("the body comes");
        let waited = begun.elapsed();
        peer.write_all(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            .expect("it reads");
        waited
    };
    let (waited, ran) = expecting(serve, 1);
    // What the client measures begins a little earlier than what is measured here.
    assert!(waited > Duration::from_millis(500), "{waited:?}");
    assert_eq!(ran.ended_with(0).report().sum("ok"), 1);
}

#[test]
fn where_nobody_waits_the_field_is_refused() {
    for (options, why) in [
        ("--http 2c", "over HTTP/2 and HTTP/3"),
        ("--pipeline 2", "with pipeline"),
        ("--cookies", "in a session"),
        ("--aws-sigv4 us-east-1:s3", "in signed requests"),
    ] {
        let line = format!("http http://127.0.0.1:9/ --data x -H Expect:100-continue {options} -n 1");
        run(&line).refused_with(2, &["Expect: 100-continue is not waited for", why]);
    }
}
