//! The oracle on connections that are shared: what a proxy does wrong once in 10,000 requests is found each time, and no clean answer
//! is blamed.

use crate::http2::{JSON, origin};
use crate::http2_mixer::{Mixer, Mixes};
use crate::support::{Report, run};
use rustix::process::Signal;

const REQUESTS: u64 = 20_000;

/// A run through the mixer: its report, the origin's, and how many requests were mixed up.
fn through(mixes: Mixes, site: &str) -> (Report, Report, u64) {
    let (address, origin) = origin(site);
    let mixer = Mixer::start(address, mixes, 10_000);
    let line = format!(
        "cache {} --origin {address} --clients-only --http 2c --streams 8 -c 8 -t 1 -n {REQUESTS} --canaries {site} {JSON}",
        mixer.address
    );
    let report = run(&line).report();
    origin.signal(Signal::INT);
    let mixed = mixer.mixed();
    assert_eq!((report.sum("requests"), report.sum("failed")), (REQUESTS, 0), "{mixes:?}");
    assert_eq!(mixed > 0, mixes != Mixes::Nothing, "{mixes:?}");
    (report, origin.end().report(), mixed)
}

#[test]
fn streams_that_are_mixed_up_are_found() {
    for (mixes, site) in [
        (Mixes::Answers, "--size 1KB..4KB --no-store 1"),
        (Mixes::RequestFields, "--size 1KB --no-store 1"),
        // What many may share is found by its canary.
        (Mixes::RequestFields, "--size 1KB"),
        (Mixes::Nothing, "--size 1KB..4KB --no-store 1"),
    ] {
        let (report, _, mixed) = through(mixes, site);
        assert_eq!(report.sum("check_failed"), mixed, "{mixes:?} {site}: {:?}", report.faults());
    }
}

#[test]
fn fields_that_leak_from_one_stream_to_another_are_found() {
    for mixes in [Mixes::Canaries, Mixes::AnswerCanaries] {
        let (report, _, mixed) = through(mixes, "--size 1KB..4KB");
        assert_eq!(report.faults(), [("leaked_field".to_owned(), mixed)].into(), "{mixes:?}");
    }
}

/// One in, two out: the origin sees it, and the clients have sent nothing twice.
#[test]
fn requests_of_which_two_are_made_are_counted() {
    for mixes in [Mixes::Doubles, Mixes::Nothing] {
        let (report, origin, mixed) = through(mixes, "--size 1KB");
        assert_eq!((report.sum("check_failed"), report.sum("resent")), (0, 0));
        let count = |name: &str| origin.count(&format!("origin/{name}"));
        assert_eq!((count("doubled"), count("canaries_foreign")), (mixed, 0), "{mixes:?}");
        assert_eq!(count("requests"), REQUESTS + mixed, "{mixes:?}");
    }
}
