//! Input that the old tool crashed, hung or spun on, and other bad input besides: each gives one clear line or a counted
//! outcome and the right exit code, and all clients are still there afterwards.

use crate::peer::{self, Peer, Then};
use crate::support::{Ran, Running, against, alone, alone_at, file, folder, free_port, free_ports, jtest};
use std::io::Write;
use std::net::{Ipv4Addr, TcpListener};
use std::thread;
use std::time::Duration;

/// How long some peers think, so that clients meet there.
const MOMENT: Duration = Duration::from_millis(20);

/// Asserts that nothing ran, and that the reason is one line that holds `why`.
fn refused(line: &str, exit: i32, why: &str) {
    let ran = jtest(line);
    assert_eq!((ran.code, ran.out.as_str()), (Some(exit), ""), "{line}: {}", ran.err);
    assert!(ran.err.starts_with("jtest: ") && ran.err.lines().count() == 1, "{line}: {}", ran.err);
    assert!(ran.err.contains(why), "{line}: {}", ran.err);
    assert!(ran.took < Duration::from_secs(60), "{line}");
}

#[test]
fn values_that_cannot_be_meant() {
    let table = [
        ("-a 0", "-a 0"),
        ("-H 7", "-H 7"),
        ("-n 100000", "-n 100000"),
        ("-n -1", "-n -1"),
        ("-c -5", "-c -5"),
        ("-c abc", "-c 'abc'"),
        ("-c 5000000", "-c 5000000"),
        ("-p 70000", "-p 70000"),
        ("-s -2", "-s -2"),
        ("-z 7", "-z 7"),
        ("-A -1", "-A -1"),
        ("-t -1", "-t -1"),
        ("-i -1", "-i -1"),
        ("-g 2", "-g 2"),
        ("-k -1", "-k -1"),
        ("-w -1", "-w -1"),
        ("-r -1", "-r -1"),
        ("-Z 0", "-Z 0"),
        ("-8 -1", "-8 -1"),
        ("-L 99999999999999", "-L 99999999999999"),
        ("--post_support 2", "--post_size"),
        ("--post_support 3", "3"),
        ("--post_size -1", "-1"),
        ("--timeout -1s", "--timeout"),
        ("--urls-order x http://a/", "'x'"),
        ("-f", "FTP"),
        ("-O 5", "compd"),
        ("-1", "compd"),
        ("-y -Y", "nothing would run"),
        ("-S a/b", "'a/b'"),
    ];
    for (line, why) in table {
        refused(line, 64, why);
    }
}

#[test]
fn sizes_and_names_the_old_tool_fell_over() {
    let name = "a".repeat(200);
    for line in [
        format!("-S {name} -C"),
        format!("-S {name} -H 1 -C"),
        format!("-4 1 -9 1000 -S {name} -C"),
        "-L 1500000 -C".to_owned(),
        "-L -7 -C".to_owned(),
        "-n 1000".to_owned(),
    ] {
        let ran = alone(&format!("-c 2 -A 6 {line}")).ended();
        let good = if line == "-n 1000" { 0 } else { 6 };
        assert_eq!((ran.ops(), ran.last().err), (good, 6 - good), "{line}: {}", ran.err);
    }
    assert_eq!(alone("-n 100 -c 1 -A 5 -C").ok().ops(), 5);
}

#[test]
fn url_files() {
    let folder = folder();
    refused("-p 0 -u /nowhere/list", 1, "'/nowhere/list': No such file");
    refused(&format!("-p 0 -u {}", folder.path().display()), 1, "cannot read the URL file");
    refused(&format!("-p 0 -u {}", file(&folder, "empty", "")), 1, "holds no URL");
    refused(&format!("-p 0 -u {}", file(&folder, "blank", "\n\r\n \n")), 1, "holds no URL");
    refused(&format!("-p 0 -u {}", file(&folder, "bad", "javascript:go()\n/x\n")), 1, "bad:1: skipped");
    refused("-p 0 javascript:void(0)", 1, "argument: skipped, no http:// URL");
    let site = Peer::good();
    let url = format!("http://{}/0.5/50", site.address);
    let some = file(
        &folder,
        "some",
        &format!("{url}\njavascript:go()\nftp://x/\nhttp://a b/\n{}\nhttp://[::1\n", "x".repeat(9000)),
    );
    let ran = jtest(&format!("-p 0 -C -u {some}")).ended();
    assert_eq!((ran.ops(), ran.err.lines().count()), (1, 5), "{}", ran.err);
    assert!(ran.err.lines().all(|line| line.starts_with("jtest: ") && line.len() < 300), "{}", ran.err);
    let huge: String = (0..60_000).map(|n| format!("{url}?{n}\n")).collect();
    let ran = jtest(&format!("-p 0 -A 100 -u {}", file(&folder, "huge", &huge)));
    assert_eq!((ran.code, ran.ops()), (Some(0), 100), "{}", ran.err);
}

#[test]
fn hosts_that_cannot_be_reached() {
    let port = free_port();
    refused(&format!("-y -P 127.0.0.1 -p {port} -c 3"), 1, &format!("nothing answers at 127.0.0.1:{port}"));
    refused("-y -P no.such.host.invalid -S me -c 3", 1, "no.such.host.invalid");
    let ran = jtest(&format!(
        "-p 0 -c 2 http://127.0.0.1:{port}/ http://no.such.host.invalid/ http://127.0.0.1:{port}/2"
    ))
    .ended();
    assert_eq!((ran.ops(), ran.last().err), (0, 3), "{}{}", ran.err, ran.out);
    assert!(ran.err.contains("write: Connection refused\n"), "{}", ran.err);
}

#[test]
fn all_twenty_ports_are_taken() {
    let first = free_ports(20);
    let _taken: Vec<TcpListener> = (first..first + 20)
        .map(|port| TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).expect("it was free a moment ago"))
        .collect();
    refused(&format!("-Y -s {first}"), 1, &format!("cannot listen at 0.0.0.0:{first}"));
}

#[test]
fn files_that_cannot_be_written() {
    let port = Peer::good().address.port();
    refused(&format!("-p 0 -U /nowhere/dump http://127.0.0.1:{port}/"), 1, "/nowhere/dump cannot be written");
    let ran = alone("-c 1 -A 1 --json /nowhere/out.json");
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "said before anything is sent: {}", ran.err);
    assert!(ran.err.contains("/nowhere/out.json"), "{}", ran.err);
    let ran = alone("-c 1 -A 1 --json /dev/full");
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.err.contains("/dev/full") && ran.ops() == 1, "the result so far is shown: {}", ran.out);
}

/// Three clients against a peer whose every answer is bad: all of them are errors, and all three clients go on.
fn all_fail(peer: &Peer, switches: &str) -> Ran {
    let ran = against(peer.address, &format!("-c 3 -A 15 -L 600 {switches}")).ended();
    assert_eq!((ran.ops(), ran.last().err), (0, 15), "{}{}", ran.err, ran.out);
    assert_eq!((peer.seen().len(), peer.busiest()), (15, 3), "{}", ran.err);
    ran
}

/// Answers after a moment, so that clients meet.
fn saying(answer: impl Into<Vec<u8>>, then: Then) -> Peer {
    let answer = answer.into();
    Peer::at(0, MOMENT, move |_, stream| {
        let _ = stream.write_all(&answer);
        then
    })
}

#[test]
fn answers_that_are_none() {
    let flood = format!("HTTP/1.0 200 OK\r\n{}\r\n", "X-Flood: yes\r\n".repeat(20_000));
    let long = format!("HTTP/1.0 200 OK\r\nX: {}\r\n\r\n", "y".repeat(200_000));
    let table = [
        ("SSH-2.0-OpenSSH_9.2\r\n\r\n", "not HTTP"),
        ("\u{0}\u{1}\u{2}\u{3}", "not HTTP"),
        ("HTTP/1.0 2x0 OK\r\n\r\n", "malformed head"),
        ("", "closed during header"),
        ("HTTP/1.0 200 OK\r\nContent-Le", "closed during header"),
        (&flood, "header too long"),
        (&long, "header too long"),
        ("HTTP/1.0 200 OK\r\nContent-Length: abc\r\n\r\n", "bad or contradictory Content-Length: 'GET "),
        ("HTTP/1.0 200 OK\r\nContent-Length: -5\r\n\r\n", "bad or contradictory Content-Length: 'GET "),
        (
            "HTTP/1.0 200 OK\r\nContent-Length: 600\r\nContent-Length: 601\r\n\r\n",
            "bad or contradictory Content-Length: 'GET ",
        ),
        (
            "HTTP/1.0 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\n",
            "bad or contradictory Content-Length: 'GET ",
        ),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", "chunk"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc", "bad length"),
        ("HTTP/1.0 304 Not Modified\r\n\r\n", "error response"),
        ("HTTP/1.1 503 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", "error response"),
    ];
    for (answer, told) in table {
        let ran = all_fail(&saying(answer, Then::Close), "");
        let first = ran.err.lines().next().unwrap_or_default().to_owned();
        let all = ran.err.lines().all(|line| line.len() < 500 && !line.contains('\u{0}'));
        assert!(ran.err.contains(told) && all, "{answer:.60?}: {first}");
    }
    let endless = saying("HTTP/1.1 100 Continue\r\n\r\n".repeat(5000), Then::Close);
    all_fail(&endless, "");
}

/// The old tool read them as the next answer.
#[test]
fn bytes_behind_an_answer_are_nobodys_and_end_the_connection() {
    let chatty = Peer::at(0, MOMENT, |seen, stream| {
        let mut answer = peer::document(&seen.path(), 0);
        answer.extend_from_slice(b"and more");
        let _ = stream.write_all(&answer);
        Then::Keep
    });
    let ran = against(chatty.address, "-c 3 -A 12 -L 600").ended();
    assert_eq!((ran.ops(), ran.last().err), (12, 0), "{}", ran.err);
    assert_eq!((chatty.seen().len(), chatty.connections()), (12, 12), "{}", ran.err);
}

#[test]
fn a_silent_peer_is_waited_for_as_long_as_told() {
    let silent = Peer::start(|_, _| {
        thread::sleep(Duration::from_secs(40));
        Then::Close
    });
    let ran = against(silent.address, "-c 3 -A 6 --timeout 200ms").ended();
    assert_eq!((ran.ops(), ran.last().err), (0, 6), "{}", ran.err);
    assert!(ran.err.starts_with("timeout ") && ran.took < Duration::from_secs(40), "{}", ran.err);
    let half = Peer::start(|seen, stream| {
        let answer = peer::document(&seen.path(), 0);
        let _ = stream.write_all(&answer[..answer.len() - 5]);
        thread::sleep(Duration::from_secs(2));
        Then::Close
    });
    let ran = against(half.address, "-c 2 -A 4 -L 600 --timeout 200ms").ended();
    assert_eq!((ran.ops(), ran.last().err), (0, 4), "{}", ran.err);
}

/// The old tool lost a client for each refused connection, and ended with the last one.
#[test]
fn a_proxy_that_dies_and_comes_back_meets_all_its_clients() {
    let port = free_port();
    let slow = |_: &peer::Seen, stream: &mut std::net::TcpStream| {
        let _ = stream.write_all(&peer::head("text/html", 0, true, false).into_bytes());
        Then::Keep
    };
    let first = Peer::at(port, MOMENT / 2, slow);
    let running = Running::start(&format!("-y -P 127.0.0.1 -p {port} -s 9080 -c 4 -L 0 -t 100 -M"))
        .until(|_| first.busiest() == 4);
    drop(first);
    // More than the four that were under way.
    let running = running.until(|running| running.complaints().contains(" more like it"));
    let second = Peer::at(port, MOMENT / 2, slow);
    let running = running.until(|_| second.busiest() == 4 && second.seen().len() > 50);
    let row = running.rows() + 1;
    let running = running.until(|running| running.rows() > row);
    running.interrupt();
    let ran = running.end().ended();
    assert_eq!(ran.lines()[row].con, 4, "{}", ran.out);
    assert!(ran.ops() > 50 && ran.last().err > 4, "{}", ran.out);
    assert!(ran.last().err < 1000 * ran.took.as_secs().max(1), "it was not hammered: {}", ran.out);
}

#[test]
fn a_proxy_that_dies_for_good_is_counted_until_the_end() {
    let peer = Peer::good();
    let running =
        Running::start(&format!("-y -P 127.0.0.1 -p {} -s 9080 -c 4 -k 0 -t 100", peer.address.port()))
            .until(|_| peer.seen().len() > 60);
    drop(peer);
    let running = running.until(|running| running.complaints().contains(" more like it"));
    running.interrupt();
    let ran = running.end().ended();
    assert!(ran.ops() > 50 && ran.last().err > 4, "{}", ran.out);
    // Each second tells the line once, and then how many there were like it.
    let refused = ran.err.lines().filter_map(|line| line.strip_prefix("write: Connection refused"));
    let (alone, more): (Vec<&str>, Vec<&str>) = refused.partition(|rest| rest.is_empty());
    assert!((1..=ran.lines().len() + 1).contains(&alone.len()) && more.len() <= alone.len(), "{}", ran.err);
    let more = more
        .iter()
        .filter_map(|rest| rest.strip_prefix(" … and ")?.strip_suffix(" more like it")?.parse::<u64>().ok());
    assert!(alone.len() as u64 + more.sum::<u64>() > 4, "{}", ran.err);
}

#[test]
fn a_second_origin_s_port_is_no_panic_when_it_goes_away() {
    let port = free_port();
    let origin = Running::origin(port, "-w 20");
    let clients = Running::start(&format!("-y -P 127.0.0.1 -p {port} -s {port} -c 5 -t 100"));
    let clients = clients.until(|clients| clients.rows() > 0);
    drop(origin);
    let rows = clients.rows();
    let clients = clients.until(|clients| clients.rows() > rows + 1 && !clients.complaints().is_empty());
    clients.interrupt();
    let ran = clients.end().ended();
    assert!(ran.ops() > 10 && ran.last().err > 5, "{}", ran.out);
    let running = Running::start(&alone_at(free_port(), "-c 200 -e 300 -t 1 -G 1 -g 1 --timeout 100ms"));
    running.end().ended();
}
