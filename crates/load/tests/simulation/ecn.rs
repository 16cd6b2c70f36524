//! Explicit Congestion Notification over HTTP/3, on paths that mark datagrams and on paths that clear the field: both sides tell
//! what the path did, and no request suffers.

use crate::scenario::Chooser;
use crate::world::{Case, Ran, Server, phase, requests, tls_of};
use measure::QuicCounts;
use net::Faults;
use plan::{Http, ObjectStep, Pace, Protocol, Step, Tls};

/// Requests, and those that a connection carries.
const REQUESTS: u64 = 200;
const CONNECTIONS: u64 = 4;

fn ran(faults: Faults) -> (Ran, QuicCounts) {
    let pace = Pace::Users(CONNECTIONS as u32);
    let origin = plan::Origin { listen: "10.0.0.1:80".to_owned(), ..plan::Origin::default() };
    let mut case = Case::new(
        vec![phase(Step::Object(ObjectStep::default()), pace, requests(REQUESTS))],
        Server::Origin(Box::new(origin)),
    );
    let tls = Some(Tls { alpn: vec!["h3".to_owned()], ..Tls::default() });
    let http = Http { tls, h3: Some(Box::default()), ..Http::default() };
    case.load.protocol = Protocol::Http(http);
    case.tls = Some(tls_of(&mut Chooser::new(7, 0), &["h3"]));
    case.faults = faults;
    let ran = case.run();
    let counts = ran.counts();
    assert_eq!((counts.ok, counts.connections, counts.unfinished), (REQUESTS, CONNECTIONS, 0));
    assert_eq!(ran.origin.http3_requests, REQUESTS);
    let quic = ran.tally().http3().expect("HTTP/3 was spoken").quic;
    (ran, quic)
}

#[test]
fn marks_are_counted_at_both_ends() {
    let (ran, quic) = ran(Faults { datagrams_marked: 0.1, ..Faults::default() });
    assert!(quic.ecn_marked > 0 && quic.ecn_marked < quic.datagrams_received, "{quic:?}");
    assert!(ran.origin.ecn_marked > 0, "{:?}", ran.origin);
    assert_eq!((quic.ecn_failed, ran.origin.ecn_failed), (0, 0));
}

#[test]
fn a_path_that_clears_the_field_is_told_of_each_connection() {
    let (ran, quic) = ran(Faults { clears_ecn: true, datagrams_marked: 0.1, ..Faults::default() });
    assert_eq!((quic.ecn_failed, ran.origin.ecn_failed), (CONNECTIONS, CONNECTIONS));
    assert_eq!((quic.ecn_marked, ran.origin.ecn_marked), (0, 0));
}

#[test]
fn a_good_path_leaves_nothing_to_tell() {
    let (ran, quic) = ran(Faults::default());
    let told = [quic.ecn_marked, quic.ecn_failed, ran.origin.ecn_marked, ran.origin.ecn_failed];
    assert_eq!(told, [0; 4]);
}
