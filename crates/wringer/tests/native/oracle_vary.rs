//! Variants, and the ways in which Vary names the fields that choose them.

use crate::faulty_proxy::FaultKind;
use crate::oracle::{
    Named::{Failures, Faults},
    check,
};

/// Several Vary lines are one list, whatever the case of the names (RFC 9110 section 5.3).
#[test]
fn variants_behind_several_lines_of_vary() {
    let options = "-n 300 --hot 20 --hit-ratio 1 --variants 3 --vary-on x-VARIANT --size 3000 \
                   --origin-header Vary:Accept-Language,Accept";
    check(FaultKind::LastVary, options, &Faults(&["wrong_variant"]), 100);
    let (_, report) = check(FaultKind::None, options, &Failures(&[], 0), 0);
    assert!(report.sum("hits") > 200, "{}", report.sum("hits"));
}

#[test]
fn variants_whose_names_in_vary_are_misread() {
    let options = "-n 300 --hot 20 --hit-ratio 1 --size 3000";
    for (kind, law) in [
        (FaultKind::LastVary, "--variants 3 --vary-form lines"),
        (FaultKind::FirstVary, "--variants 3 --vary-form lines"),
        (FaultKind::FirstName, "--variants 4 --vary-also X-Other"),
        (FaultKind::LastVary, "--variants 4 --vary-also X-Other --vary-form lines"),
        (FaultKind::VaryByCase, "--variants 3 --vary-form mixed-case"),
    ] {
        check(kind, &format!("{options} {law}"), &Faults(&["wrong_variant"]), 30);
        let (_, report) = check(FaultKind::None, &format!("{options} {law}"), &Failures(&[], 0), 0);
        assert!(report.sum("hits") > 150, "{law}: {}", report.sum("hits"));
    }
}

/// In some versions an object has no variants and no Vary, so whoever takes that for all versions mixes those of later ones.
#[test]
fn a_vary_that_changes_from_version_to_version() {
    let options = "-d 4s --rate 200 --hot 20 --hit-ratio 1 --variants 3 --size 3000 --change-every 1s --lifetime 1s \
                   --vary-form changing";
    check(FaultKind::OldVary, options, &Faults(&["wrong_variant"]), 1);
    for more in ["", "--no-etag", "--head 0.3 --revalidate 0.3", "--vary-also X-Other", "--range 0.3"] {
        let (_, report) = check(FaultKind::None, &format!("{options} {more}"), &Failures(&[], 0), 0);
        assert!(report.sum("hits") > 100, "{more}: {}", report.sum("hits"));
    }
}

/// `Vary: *`: no other request will do, so nothing of it is ever a hit.
#[test]
fn answers_that_will_do_for_no_other_request() {
    let options = "-n 300 --hot 20 --hit-ratio 1 --size 3000 --vary-star 0.5";
    for more in ["", "--variants 3", "--check nothing"] {
        let kind = FaultKind::MixVariants;
        let faults: &'static [&'static str] = if more.contains("variants") {
            &["unmatched_vary", "wrong_variant"]
        } else {
            &["unmatched_vary"]
        };
        let (_, report) = check(kind, &format!("{options} {more}"), &Faults(faults), 50);
        assert!(report.faults()["unmatched_vary"] > 50, "{:?}", report.faults());
    }
    for more in ["", "--head 0.2 --revalidate 0.5 --range 0.2", "--variants 3 --vary-form lines"] {
        let (_, report) = check(FaultKind::None, &format!("{options} {more}"), &Failures(&[], 0), 0);
        assert!(report.sum("hits") > 50 && report.sum("fields_lost") == 0, "{more}");
    }
}
