//! Input that cannot be meant or done: the same message and exit code as ab's, or one clear line where ab does worse.

use crate::refusing::Refusing;
use crate::server::{Behaviour, Server};
use crate::support::{ours, real, theirs};

#[test]
fn messages_and_exit_codes_are_those_of_ab() {
    let server = Server::start(Behaviour::Good);
    let url = server.url("/");
    let silent = Refusing::new();
    for (line, exit, said) in [
        ("", 22, "ab: wrong number of arguments"),
        ("URL URL", 22, "ab: wrong number of arguments"),
        ("-9 -n 3 URL", 22, "ab: illegal option -- 9"),
        ("-n 1 127.0.0.1:80", 22, "ab: invalid URL"),
        ("-n 5 -c 10 URL", 22, "ab: Cannot use concurrency level greater than total number of requests"),
        ("-n 5 -c -1 URL", 22, "ab: Invalid Concurrency [Range 0..200000]"),
        ("-n 0 URL", 1, "Invalid number of requests"),
        ("-n junk URL", 1, "Invalid number of requests"),
        ("-i -p body URL", 1, "Cannot mix POST with other methods"),
        ("-m X -i URL", 1, "Cannot mix HEAD with other methods"),
        ("-p /none URL", 1, "ab: Could not open POST data file (/none): No such file or directory"),
        ("-Z nosuch https://127.0.0.1:1/", 1, "error setting ciphersuite list [nosuch]"),
        (
            "-n 1 ftp://127.0.0.1:1/",
            50,
            "apr_sockaddr_info_get() for ftp:: Name or service not known (670002)",
        ),
        (
            "-n 1 http://127.0.0.1:abc/",
            50,
            "apr_sockaddr_info_get() for 127.0.0.1:abc: Name or service not known (670002)",
        ),
        ("-n 20 -c 2 http://SILENT/", 111, "apr_socket_recv: Connection refused (111)"),
        (
            "http://no-such-host.invalid/",
            50,
            "apr_sockaddr_info_get() for no-such-host.invalid: Name or service not known (670002)",
        ),
    ] {
        let line = line.replace("URL", &url).replace("SILENT", &silent.to_string());
        let ours = ours(&line);
        // Machines without any name server say so in other words.
        let first = ours.stderr.lines().next().unwrap_or_default().to_owned();
        let no_names = first.contains("(670003)") && ours.exit == Some(51);
        assert!(no_names || (first.as_str(), ours.exit) == (said, Some(exit)), "{line}: {ours:?}");
        assert!(!ours.stdout.contains("Connection Times"), "{line}");
        let Some(real) = real() else { continue };
        let theirs = theirs(&real, &line);
        assert_eq!(ours.exit, theirs.exit, "{line}: {theirs:?}");
        assert_eq!(first, theirs.stderr.lines().next().unwrap_or_default(), "{line}");
    }
}

#[test]
fn what_was_typed_goes_out_as_from_ab() {
    for line in [
        "-n 1 URLa_b",
        "-n 1 -H nothing URL",
        "-n 1 -H A:b -H :_x URL",
        "-n 1 -m GE_T URL",
        "-n 1 -m get URL",
        "-n 1 -H Host:x -H host:_y URL",
    ] {
        let server = Server::start(Behaviour::Good);
        let line = line.replace("URL", &server.url("/"));
        let ran = ours(&line);
        let ours = server.take_seen();
        assert_eq!((ran.exit, ours.len()), (Some(0), 1), "{line}: {ran:?} {ours:?}");
        let Some(real) = real() else { continue };
        theirs(&real, &line);
        assert_eq!(ours, server.take_seen(), "{line}");
    }
}

#[test]
fn files_are_made_after_the_run() {
    for (line, said) in [
        ("-n 2 -e /none/e.csv", "Cannot open CSV output file: No such file or directory"),
        ("-n 2 -g /none/g.tsv", "Cannot open gnuplot output file: No such file or directory"),
    ] {
        let server = Server::start(Behaviour::Good);
        let line = format!("{line} {}", server.url("/"));
        let ran = ours(&line);
        assert_eq!((ran.exit, ran.stderr.trim_end()), (Some(1), said), "{line}: {ran:?}");
        assert!(ran.stdout.contains("Complete requests:      2\n"), "{ran:?}");
        let Some(real) = real() else { continue };
        let theirs = theirs(&real, &line);
        assert_eq!((theirs.exit, theirs.stderr.trim_end()), (Some(1), said), "{line}");
    }
}

#[test]
fn nobody_there_is_survived_where_that_is_asked_for() {
    let ran = ours(&format!("-r -n 20 -c 2 http://{}/", Refusing::new()));
    let said = "ab: no answer came to 20 requests: 20 × connecting: connection refused (ECONNREFUSED 111)\n";
    assert_eq!((ran.exit, ran.stderr.as_str()), (Some(0), said), "{ran:?}");
    assert!(
        ran.stdout
            .contains("Failed requests:        20\n   (Connect: 20, Receive: 0, Length: 0, Exceptions: 0)\n"),
        "{ran:?}"
    );
}

#[test]
fn what_ab_does_worse_with_is_refused_in_one_line() {
    for (line, exit) in [
        ("-n 5 -c 0 http://127.0.0.1:1/", 22),
        ("-s 0 http://127.0.0.1:1/", 1),
        ("-f SSL3 https://127.0.0.1:1/", 1),
        ("-X 127.0.0.1:1 https://127.0.0.1:1/", 1),
        ("-E /none.pem https://SERVER/", 1),
    ] {
        let server = Server::start(Behaviour::Good);
        let ran = ours(&line.replace("SERVER", &server.address.to_string()));
        assert_eq!((ran.exit, ran.stderr.lines().count()), (Some(exit), 1), "{line}: {ran:?}");
    }
}
