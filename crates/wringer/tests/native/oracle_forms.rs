//! Forms of answers that a cache must keep apart: what may be stale for a while, weak ETags, several ranges, and methods that change an
//! object.

use crate::faulty_proxy::FaultKind;
use crate::oracle::{
    Named::{Failures, Faults},
    check,
};

/// RFC 5861: for as long again as the lifetime, and two seconds more because ages are whole seconds.
#[test]
fn what_may_be_stale_for_a_while() {
    let options = "-d 7s --rate 50 --hot 20 --hit-ratio 1 --lifetime 1s --change-every 1s --size 500";
    for form in ["stale-while-revalidate", "stale-if-error"] {
        let options = format!("{options} --freshness {form}");
        let (_, report) = check(FaultKind::StaleFor { lifetimes: 2 }, &options, &Failures(&[], 0), 0);
        assert!(report.sum("hits") > 100, "{form}: {}", report.sum("hits"));
        check(FaultKind::StaleFor { lifetimes: 60 }, &options, &Faults(&["stale"]), 1);
    }
    // What another form says is not stretched.
    check(FaultKind::StaleFor { lifetimes: 60 }, options, &Faults(&["stale"]), 1);
}

/// RFC 9110 section 8.8.1: parts of two bodies with one strong ETag are put together.
#[test]
fn weak_etags_that_become_strong() {
    let options = "-n 300 --hot 20 --hit-ratio 1 --size 3000 --weak-etags 0.5";
    check(FaultKind::StrongEtags, options, &Faults(&["strong_etag"]), 50);
    for more in ["", "--head 0.2 --revalidate 0.5 --range 0.2", "--variants 3", "--change-every 1s"] {
        let (_, report) = check(FaultKind::None, &format!("{options} {more}"), &Failures(&[], 0), 0);
        assert!(report.sum("hits") > 50, "{more}: {}", report.sum("hits"));
    }
}

/// RFC 9110 section 8.8: one ETag for each answer, and a Last-Modified that tells when this version began.
#[test]
fn validators_that_are_not_the_versions_own() {
    let options = "-n 300 --hot 20 --hit-ratio 1 --size 3000";
    check(FaultKind::SecondEtags, options, &Faults(&["doubled_field"]), 50);
    for more in ["", "--head 0.2 --range 0.2", "--no-etag"] {
        check(FaultKind::OtherModified, &format!("{options} {more}"), &Faults(&["torn_version"]), 50);
    }
    check(FaultKind::OtherModified, &format!("{options} --no-last-modified"), &Failures(&[], 0), 0);
}

/// RFC 9110 section 14.6.
#[test]
fn two_ranges_in_one_answer() {
    let options = "-n 400 --hot 20 --hit-ratio 1 --size 9000 --range 0.5 --two-ranges 1";
    check(FaultKind::SwapParts, options, &Faults(&["wrong_bytes", "wrong_range", "wrong_object"]), 20);
    check(FaultKind::OtherPart, options, &Faults(&["wrong_range"]), 20);
    check(FaultKind::EndlessParts, options, &Faults(&["truncated"]), 20);
    for more in
        ["", "--check nothing", "--variants 3", "--no-etag", "--change-every 1s --version-sizes same,half"]
    {
        let (_, report) = check(FaultKind::None, &format!("{options} {more}"), &Failures(&[], 0), 0);
        assert!(report.sum("ranges") > 100 && report.sum("hits") > 100, "{more}");
    }
}

/// A range of what is too old, which has another length by now: where the new one is shorter, the head announces bytes that never come.
#[test]
fn ranges_with_the_bounds_of_an_older_version() {
    let options =
        "-d 4s --rate 200 --hot 10 --hit-ratio 1 --change-every 1s --lifetime 1s --size 3000 --range 0.5";
    for sizes in ["half,one-and-a-half", "same,half"] {
        let options = format!("{options} --version-sizes {sizes}");
        check(FaultKind::OldRange, &options, &Faults(&["wrong_range"]), 1);
        check(FaultKind::None, &format!("{options} --origin-ignores-ranges 0.5"), &Failures(&[], 0), 0);
    }
}

/// RFC 9110 section 14.2: an origin may answer with the whole object.
#[test]
fn an_origin_that_ignores_ranges() {
    let options = "-n 400 --hot 20 --hit-ratio 0 --size 3000 --range 1 --origin-ignores-ranges";
    for (share, whole) in [("1", 400..=400), ("0.5", 100..=300), ("0", 0..=0)] {
        let (_, report) = check(FaultKind::KeepNothing, &format!("{options} {share}"), &Failures(&[], 0), 0);
        let ignored = report.sum("ranges_ignored");
        assert!(whole.contains(&ignored) && report.count("origin/full") == ignored, "{share}: {ignored}");
    }
}

/// RFC 9111 section 4.4.
#[test]
fn what_was_stored_before_an_object_was_changed() {
    let options =
        "-d 4s --rate 200 --hot 5 --hit-ratio 1 --size 3000 --purge 10/s --purge-within 1s --purge-by";
    for method in ["POST", "PUT", "PATCH", "DELETE"] {
        let options = format!("{options} {method}");
        let (_, report) = check(FaultKind::None, &options, &Failures(&[], 0), 0);
        let counts = ["purges", "purges_acknowledged"].map(|name| report.sum(name));
        assert!(counts[0] > 10 && counts[0] == counts[1], "{method}: {counts:?}");
        assert!(report.count("origin/accepted") >= counts[1], "{method}");
    }
    check(FaultKind::IgnoreChange, &format!("{options} PUT"), &Faults(&["not_purged"]), 1);
}

/// The origin fails while one phase lasts, and not before or after it.
#[test]
fn the_origin_fails_in_one_phase() {
    let options = "--hot 50 --hit-ratio 0 --size 500 --phase before:1s,requests=200 \
                   --phase storm:5s,requests=200,origin-errors=1 --phase after:1s,requests=200,origin-aborts=0";
    let (_, report) = check(FaultKind::None, options, &Failures(&[], 0), 0);
    assert_eq!(report.count("origin/errors"), 200);
    assert_eq!(report.sum("injected"), 200);
}
