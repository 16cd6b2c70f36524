//! Behaviour of servers that ab falls over, hangs on or takes for a success: each is counted once, and the run goes on to its
//! report.

use crate::server::{Behaviour, Server};
use crate::support::{Ran, ours};

fn press(behaviour: Behaviour, options: &str) -> Ran {
    let server = Server::start(behaviour);
    ours(&format!("{options} {}", server.url("/")))
}

/// Complete, failed, how, and the exit code.
#[track_caller]
fn ended(ran: &Ran, complete: u64, failed: u64, how: &str, exit: i32) {
    assert_eq!(ran.fact("Complete requests"), complete.to_string(), "{ran:?}");
    assert_eq!(ran.fact("Failed requests"), failed.to_string(), "{ran:?}");
    assert!(how.is_empty() || ran.stdout.contains(&format!("   ({how})\n")), "{how} in {ran:?}");
    assert_eq!(ran.exit, Some(exit), "{ran:?}");
}

#[test]
fn chunks_and_connections_that_stay_open_are_understood() {
    for behaviour in [Behaviour::Chunked, Behaviour::Silent] {
        for options in ["-n 12 -c 2", "-k -n 12 -c 2"] {
            let ran = press(behaviour, options);
            ended(&ran, 12, 0, "", 0);
            assert_eq!(ran.fact("HTML transferred"), "60 bytes", "{options}");
            assert_eq!(ran.fact("Server Software"), "Odd");
        }
    }
    assert_eq!(press(Behaviour::Silent, "-k -n 12 -c 2").fact("Keep-Alive requests"), "12");
}

#[test]
fn answers_that_break_off_fail() {
    for behaviour in [Behaviour::Empty, Behaviour::Short] {
        for options in ["-n 6 -c 2", "-k -n 6 -c 2", "-r -n 6 -c 2"] {
            ended(&press(behaviour, options), 6, 6, "Connect: 0, Receive: 6, Length: 0, Exceptions: 0", 0);
        }
    }
    ended(&press(Behaviour::Garbage, "-n 6"), 6, 6, "Connect: 0, Receive: 0, Length: 0, Exceptions: 6", 0);
}

#[test]
fn a_reset_does_not_end_the_run_and_shows_in_the_exit_code() {
    let said = "apr_socket_recv: Connection reset by peer (104)\n";
    let all = press(Behaviour::Reset, "-n 6 -c 2");
    ended(&all, 6, 6, "Connect: 0, Receive: 6, Length: 0, Exceptions: 0", 104);
    assert_eq!(all.stderr, said);
    let some = press(Behaviour::ResetSome, "-n 20");
    ended(&some, 20, 10, "Connect: 0, Receive: 10, Length: 0, Exceptions: 0", 104);
    let survived = press(Behaviour::ResetSome, "-r -n 20");
    ended(&survived, 20, 10, "Connect: 0, Receive: 10, Length: 0, Exceptions: 0", 0);
    assert_eq!(survived.stderr, "");
}

#[test]
fn each_request_has_its_own_time_limit() {
    let ran = press(Behaviour::Hang, "-s 1 -n 2 -c 2");
    ended(&ran, 2, 2, "Connect: 0, Receive: 0, Length: 0, Exceptions: 2", 119);
    assert_eq!(ran.stderr, "apr_pollset_poll: The timeout specified has expired (70007)\n");
}

#[test]
fn failed_handshakes_are_failures() {
    let server = Server::start(Behaviour::Garbage);
    let ran = ours(&format!("-n 3 https://{}/", server.address));
    ended(&ran, 3, 3, "Connect: 3, Receive: 0, Length: 0, Exceptions: 0", 0);
    assert!(ran.stderr.starts_with("SSL handshake failed: ") && ran.stderr.lines().count() == 1, "{ran:?}");
}
