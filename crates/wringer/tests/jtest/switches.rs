//! Effects of each switch in a run, as far as they show in the table or at a peer.

use crate::peer::{self, Peer, Then};
use crate::support::{Ran, Running, against, alone, alone_at, free_port, jtest};
use std::collections::BTreeSet;
use std::io::Write;
use std::time::Duration;

#[test]
fn the_whole_table_of_a_run() {
    let ran = alone("-C -c 2 -A 200 -D 42").ok();
    let line = ran.last();
    assert_eq!((ran.lines().len(), line.con, line.ops, line.origin_ops, line.err), (1, 0, 200.0, 200, 0));
    let head = ran.total("Server Response Header");
    let body = ran.total("Server Response Body");
    assert_eq!((ran.total("Proxy Response Header"), ran.total("Proxy Response Body")), (head, body));
    assert_eq!(ran.total("Client Request"), ran.total("Proxy Request"));
    assert_eq!((line.bytes, line.per), (head + body, 0));
    assert_eq!(line.total, 2 * (head + body + ran.total("Client Request")));
    let rest: Vec<&str> = ran.out.lines().skip(8).collect();
    assert!(rest[0].starts_with("Hit ratio 0 % (200 answers, 200 documents from the origin; "), "{rest:?}");
    assert!(rest[1].starts_with("Service time p50 ") && rest[1].ends_with("(200 good answers)"), "{rest:?}");
}

#[test]
fn so_many_requests_whatever_the_clients_and_threads() {
    for line in ["-c 1 -A 1", "-c 50 -A 7", "-c 3 -A 100 --threads 3", "-c 7 -A 101 --threads 1"] {
        let wanted: u64 = line.split(' ').nth(3).and_then(|word| word.parse().ok()).expect("a number");
        assert_eq!(alone(line).ok().ops(), wanted, "{line}");
    }
    for (line, wanted) in [("-e 50 -A 30", 30), ("-e 3 -A 3 --threads 2", 3)] {
        assert_eq!(alone(line).ok().ops(), wanted, "{line}");
    }
}

#[test]
fn keep_alive_lengths_of_both_sides() {
    let table = [
        ("-k 0", 120),
        ("-k 1", 60),
        ("-k 2 -j 0", 40),
        ("-j 0", 24),
        ("-k 200 -j 3", 40),
        ("-k 9 -j 1", 120),
    ];
    for (line, connections) in table {
        let last = alone(&format!("-c 1 -A 120 -L 100 {line}")).ok().last();
        assert_eq!((last.new, last.origin_new), (connections, connections), "{line}");
    }
}

/// Both ends are ours, and each byte is looked at.
#[test]
fn content_is_right_in_all_forms_of_request() {
    let table = [
        "",
        "-M",
        "-H 1",
        "-H 2",
        "-N 3",
        "-N 3 -2 1",
        "-n 5 -W .5",
        "-4 1",
        "-9 60",
        "-8 1.2",
        "-5 1 -3 2",
        "-T",
        "--range_mode 1",
        "--range_mode 1 -H 1",
        "--range_mode 1 -L 1500000",
        "--post_support 1",
        "--post_support 2 --post_size 70000",
        "-L 0",
        "-L 1",
        "-L 16",
        "-L 17",
        "-L 1500000",
        "-r 9000000 -L 90000",
    ];
    for line in table {
        let ran = alone(&format!("-C -c 3 -A 30 {line}")).ended();
        assert_eq!((ran.ops(), ran.last().err), (30, 0), "{line}: {}{}", ran.err, ran.out);
    }
}

fn spoilt(path: &str, at: usize) -> Vec<u8> {
    let mut answer = peer::document(path, 0);
    let length = answer.len();
    answer[length - peer::size(path) + at] ^= 1;
    answer
}

fn spoiling(at: usize) -> Peer {
    Peer::start(move |seen, stream| {
        let _ = stream.write_all(&spoilt(&seen.path(), at));
        Then::Keep
    })
}

#[test]
fn content_that_is_wrong_is_found() {
    // In the path, which is always looked at; behind it, only with -C; and in the old tool's blind spot.
    for (at, line, errors) in [(3, "", 10), (500, "", 0), (500, "-C", 10), (40, "-C", 10), (3, "-M", 0)] {
        let ran = against(spoiling(at).address, &format!("-c 2 -A 10 -L 600 {line}")).ended();
        assert_eq!((ran.last().err, ran.ops()), (errors, 10 - errors), "byte {at} {line}");
        let told = ran
            .err
            .lines()
            .filter(|line| line.starts_with("content verification error 'GET http://localhost:9080/"));
        assert_eq!(told.count() as u64, errors, "{}", ran.err);
    }
    let quiet = against(spoiling(3).address, "-c 2 -A 10 -L 600 -E").ended();
    assert_eq!((quiet.last().err, quiet.err.as_str()), (10, ""));
}

#[test]
fn a_length_that_is_wrong_is_an_error_unless_it_may_be() {
    let short = || {
        Peer::start(|seen, stream| {
            let path = seen.path().replace("600", "597");
            let _ = stream.write_all(
                &[peer::head("text/html", 597, true, false).as_bytes(), &peer::body(&path, 0)].concat(),
            );
            Then::Keep
        })
    };
    let ran = against(short().address, "-c 1 -A 4 -L 600 -M").ended();
    assert_eq!((ran.ops(), ran.last().err), (0, 4));
    assert!(ran.err.starts_with("bad Content-Length expected 600 got 597 orig 600\n"), "{}", ran.err);
    assert_eq!(against(short().address, "-c 1 -A 4 -L 600 -M --nocheck_length").ok().ops(), 4);
}

#[test]
fn a_bad_status_and_a_short_body_are_told_in_the_old_words() {
    let not_found = Peer::saying("HTTP/1.0 404 Not Found\r\nContent-Length: 3\r\n\r\nno\n", Then::Keep);
    let ran = against(not_found.address, "-c 1 -A 2 -L 600").ended();
    assert_eq!((ran.ops(), ran.last().err), (0, 2));
    let second = ran.err.lines().nth(1).unwrap_or_default();
    assert!(
        second.starts_with("error response ") && second.contains("ms: 'GET http://localhost:9080/"),
        "{}",
        ran.err
    );
    assert!(second.ends_with("/600 HTTP/1.0':'HTTP/1.0 404 Not Found' 0-0"), "{}", ran.err);
    let cut = Peer::start(|seen, stream| {
        let answer = peer::document(&seen.path(), 0);
        let _ = stream.write_all(&answer[..answer.len() - 100]);
        Then::Close
    });
    let ran = against(cut.address, "-c 1 -A 2 -L 600").ended();
    assert_eq!((ran.ops(), ran.last().err), (0, 2));
    assert!(ran.err.starts_with("bad length 500 wanted 600 after "), "{}", ran.err);
}

#[test]
fn answers_broken_off_on_purpose_are_operations() {
    let clients = alone("-g 0.5 -c 2 -A 100 -L 60000").ok();
    let received = clients.total("Proxy Response Body");
    assert_eq!(clients.ops(), 100);
    assert!((3_000_000..5_700_000).contains(&received), "{received} of 6000000 bytes");
    let origin = alone("-G 0.5 -c 2 -A 100 -L 60000").ok();
    let sent = origin.total("Server Response Body");
    assert_eq!((origin.ops(), origin.total("Proxy Response Body")), (100, sent));
    assert!((3_000_000..5_700_000).contains(&sent), "{sent} of 6000000 bytes");
    assert!(
        origin.out.contains("Hit ratio 0 % (100 answers, 100 documents from the origin; "),
        "{}",
        origin.out
    );
    // Whoever only has the clients does not know that the origin was told to.
    let port = free_port();
    let _origin = Running::origin(port, "-G 1");
    let ran = jtest(&format!("-y -P 127.0.0.1 -p {port} -s {port} -c 1 -A 5 -L 60000")).ended();
    assert_eq!((ran.ops(), ran.last().err), (0, 5));
}

#[test]
fn delays_and_speeds() {
    let delayed = alone("-w 100 -c 1 -A 6 -L 600 -k 100 -j 0 -E").ended();
    let last = delayed.last();
    assert!(
        (100..140).contains(&last.first_byte_ms) && last.latency_ms >= last.first_byte_ms,
        "{}",
        delayed.out
    );
    assert!(delayed.took >= Duration::from_millis(600), "{:?}", delayed.took);
    for line in ["-r 200000", "-R 200000"] {
        let slow = alone(&format!("{line} -c 2 -A 4 -L 100000")).ended();
        let times = slow.lines().iter().map(|line| line.latency_ms).max().unwrap_or_default();
        assert!((450..900).contains(&times), "{line}: half a second each: {}", slow.out);
        assert_eq!((slow.ops(), slow.last().err), (4, 0), "{line}");
    }
}

/// The old tool had one client more after each answer that it broke off.
#[test]
fn slow_answers_are_replaced_and_no_client_is_added() {
    let ran = alone("-c 2 -t 2 -L 100000 -r 20000 -o 40000 --abort_retry_secs 0 -k 0").ended();
    let lines = ran.lines();
    assert!(lines[..1].iter().all(|line| line.con <= 2), "{}", ran.out);
    assert!(ran.ops() > 10 && ran.last().err == 0, "{}", ran.out);
    assert!(ran.total("Proxy Response Body") < ran.ops() * 50_000, "{}", ran.out);
    let patient =
        alone("-c 2 -A 2 -L 20000 -r 20000 -o 40000 --abort_retry_secs 0 --abort_retry_bytes 30000").ended();
    assert_eq!(patient.total("Proxy Response Body"), 40_000);
}

#[test]
fn so_many_requests_a_second() {
    let ran = alone("-e 20 -t 3 -L 600").ok();
    let each: Vec<(f64, u64)> = ran.lines().iter().map(|line| (line.ops, line.origin_ops)).collect();
    assert_eq!(each, [(20.0, 20); 3], "{}", ran.out);
    assert!(
        ran.out.contains("\nResponse time p50 ") && ran.out.contains(" (from when it was due)\n"),
        "{}",
        ran.out
    );
}

/// The request lines of a run, sorted, without the port that differs from run to run.
fn documents(line: &str) -> Vec<String> {
    let ran = alone(&format!("-x -E {line}")).ended();
    let mut shown: Vec<String> = ran
        .shown()
        .iter()
        .map(|line| peer::path(line.split(' ').nth(1).unwrap_or_default()).to_owned())
        .collect();
    shown.sort();
    shown
}

#[test]
fn a_seed_gives_the_same_requests_at_any_concurrency() {
    for mix in ["-D 42", "-D 42 -8 1.2", "-D 42 -z .9 -Z 50", "-D 42 -9 0.001 -L 77"] {
        let one = documents(&format!("-c 1 --threads 1 -A 150 {mix}"));
        assert_eq!(one.len(), 150);
        for load in ["-c 16 --threads 1", "-c 7 --threads 2", "-c 5 --threads 4", "-e 150"] {
            assert_eq!(documents(&format!("{load} -A 150 {mix}")), one, "{load} {mix}");
        }
    }
    assert_ne!(documents("-c 1 -A 50 -D 42"), documents("-c 1 -A 50 -D 43"));
    assert_ne!(documents("-c 1 -A 50 -D 0"), documents("-c 1 -A 50 -D 0"), "the clock chooses");
}

#[test]
fn documents_are_hot_or_cold_as_often_as_told() {
    let hot = documents("-A 400 -z 1 -Z 10 -L 100 -D 1");
    let names: BTreeSet<&String> = hot.iter().collect();
    let expected: BTreeSet<String> = (0..10).map(|n| format!("/1.{n}000000000/100")).collect();
    assert!(names.into_iter().eq(&expected), "{hot:?}");
    let mixed = documents("-A 1000 -D 1");
    let share = mixed.iter().filter(|path| path.starts_with("/1.")).count();
    assert!((340..460).contains(&share), "{share} of 1000 with a hit rate of 0.4");
    let cold: Vec<&String> = mixed.iter().filter(|path| path.starts_with("/0.")).collect();
    assert_eq!(cold.iter().collect::<BTreeSet<_>>().len(), cold.len(), "cold ones do not repeat");
}

#[test]
fn ranks_follow_the_law_of_zipf_and_have_one_url_each() {
    let shown = documents("-A 4000 -8 1.2 -D 1");
    let count = |start: &str| shown.iter().filter(|path| path.starts_with(start)).count() as f64;
    let first = count("/1.0000000000/");
    let second = count("/2.0000000000/");
    let fourth = count("/4.0000000000/");
    assert!((first / second / 2f64.powf(1.2) - 1.0).abs() < 0.25, "{first} {second}");
    assert!((first / fourth / 4f64.powf(1.2) - 1.0).abs() < 0.35, "{first} {fourth}");
    let different: BTreeSet<&String> = shown.iter().collect();
    let ranks: BTreeSet<&str> = different.iter().filter_map(|path| path.split('/').nth(1)).collect();
    assert_eq!(ranks.len(), different.len());
}

/// `-y` and `-Y` in two processes are as good as one in both roles.
#[test]
fn both_sides_apart() {
    let port = free_port();
    let origin = Running::origin(port, "-i 1");
    let clients = jtest(&format!("-y -C -P 127.0.0.1 -p {port} -s {port} -c 4 -A 500")).ok();
    assert_eq!((clients.ops(), clients.sum(|line| line.origin_ops)), (500, 0));
    assert!(!clients.out.contains("Hit ratio"), "nobody knows it here: {}", clients.out);
    let rows = origin.rows();
    let origin = origin.until(|origin| origin.rows() > rows);
    origin.interrupt();
    let origin = origin.end().ok();
    assert_eq!((origin.sum(|line| line.origin_ops), origin.ops()), (500, 0), "{}", origin.out);
    assert_eq!(origin.total("Server Response Body"), clients.total("Proxy Response Body"));
    assert_eq!(origin.total("Proxy Request"), clients.total("Client Request"));
    let timed = jtest(&format!("-Y -s {port} -t 1")).ok();
    assert!((1.0..100.0).contains(&timed.took.as_secs_f64()) && timed.lines().len() == 1, "{}", timed.out);
}

#[test]
fn an_origin_with_a_neighbour_moves_on_and_so_do_the_urls() {
    let port = crate::support::free_ports(3);
    let neighbour = Running::origin(port, "");
    let recorder = Peer::good();
    let moved =
        jtest(&format!("-P 127.0.0.1 -p {} -s {port} -S localhost -c 1 -A 3", recorder.address.port())).ok();
    assert_eq!(moved.ops(), 3);
    let next = format!("http://localhost:{}/", port + 1);
    assert!(recorder.seen().iter().all(|seen| seen.target().starts_with(&next)), "{next}");
    drop(neighbour);
}

#[test]
fn ctrl_c_still_gives_the_last_line_the_totals_and_the_summary() {
    let running = Running::start(&alone_at(free_port(), "-c 3 -L 600 -w 5 -E"));
    let running = running.until(|running| running.rows() > 0);
    let rows = running.rows();
    running.interrupt();
    let ran: Ran = running.end().ended();
    assert!(ran.lines().len() > rows && ran.ops() > 0, "{}", ran.out);
    assert_eq!(ran.total("Proxy Response Body"), 600 * ran.ops());
    assert!(ran.out.contains("\nHit ratio ") && ran.out.contains("\nService time "), "{}", ran.out);
}
