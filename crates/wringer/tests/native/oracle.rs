//! A proxy that is wrong on purpose, in one way at a time: wringer must give each fault its name, exit with 3, and keep
//! evidence from both sides; what is no answer at all must be counted as what it is.

use crate::faulty_proxy::{FaultKind, is_dead, start};
use crate::support::{Ran, Report, folder, free_address, program, run, wringer};
use rustix::process::Signal;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// Findings that wringer must report of a run.
pub(crate) enum Named {
    /// These faults, nothing else, and exit code 3.
    Faults(&'static [&'static str]),
    /// These failures, nothing else, and exit code 0 where there were answers, 1 where there were none.
    Failures(&'static [&'static str], i32),
}

use Named::{Failures, Faults};

#[test]
fn corrupt_bytes() {
    check(FaultKind::Corrupt, "-n 100 --size 3000", &Faults(&["wrong_bytes"]), 100);
}

#[test]
fn truncated_objects() {
    check(FaultKind::Truncate, "-n 100 --size 3000", &Faults(&["truncated"]), 100);
}

#[test]
fn answers_that_are_never_fresh_again() {
    // A version may be served for its lifetime, and two seconds more because ages are whole seconds.
    let options = "-d 6s --rate 50 --hot 20 --hit-ratio 1 --lifetime 1s --change-every 1s --size 500";
    check(FaultKind::Stale, options, &Faults(&["stale"]), 1);
}

#[test]
fn torn_versions() {
    let options = "-d 3s --rate 100 --hot 10 --hit-ratio 1 --change-every 1s --size 3000";
    check(FaultKind::Tear, options, &Faults(&["torn_version"]), 1);
}

#[test]
fn torn_versions_without_a_validator_to_tell_them_apart() {
    let options = "-d 3s --rate 100 --hot 10 --hit-ratio 1 --change-every 1s --size 3000 --no-etag";
    check(FaultKind::Tear, options, &Faults(&["torn_version"]), 1);
}

#[test]
fn mixed_variants() {
    let options = "-n 300 --hot 20 --hit-ratio 1 --variants 3 --size 3000";
    check(FaultKind::MixVariants, options, &Faults(&["wrong_variant"]), 100);
}

#[test]
fn swapped_objects() {
    check(FaultKind::SwapObjects, "-n 200 --hot 50 --size 3000", &Faults(&["wrong_object"]), 100);
}

/// Of other lengths, so that they look truncated or too long to whoever does not read them.
#[test]
fn answers_given_to_another() {
    for options in ["", "--no-etag", "--private 1", "--check nothing"] {
        let options = format!("-n 200 --hot 50 --size 1KB..20KB {options}");
        check(FaultKind::SwapAnswers, &options, &Faults(&["anothers_answer"]), 100);
    }
}

#[test]
fn leaked_answers() {
    let options = "-n 300 --hot 20 --hit-ratio 1 --private 1 --size 3000";
    check(FaultKind::Leak, options, &Faults(&["leaked_nonce"]), 100);
}

/// The origin does not learn who asks, so an answer is known to be a leak only when it comes again.
#[test]
fn leaked_answers_that_name_nobody() {
    let options = "-t 1 -n 300 --hot 20 --hit-ratio 1 --private 1 --size 3000";
    let (_, report) = check(FaultKind::LeakUnnamed, options, &Faults(&["leaked_nonce"]), 250);
    assert_eq!(report.sum("unattributed"), 300);
    assert!(report.notes().contains("does not pass the field Wringer-Request on"), "{}", report.notes());
}

/// RFC 9111 section 7.3 lets caches do it, and most do not: the next client gets the session of the first.
#[test]
fn cookies_given_to_another() {
    let options = "-n 300 --hot 20 --hit-ratio 1 --size 3000 --origin-header Set-Cookie:id=1";
    check(FaultKind::MixVariants, options, &Faults(&["shared_cookie"]), 100);
}

/// The origin fails a share of its answers; the proxy keeps these and gives them to others.
#[test]
fn errors_kept_though_nobody_may_store_them() {
    let options = "-n 400 --hot 20 --hit-ratio 1 --size 3000 --origin-errors 0.2";
    let (_, report) = check(FaultKind::KeepErrors, options, &Faults(&["cached_error"]), 100);
    let injected = report.sum("injected");
    let made = report.count("origin/errors");
    assert_eq!(injected, made, "only what the origin made for its own request is excused");
}

/// Answers that an earlier run left in a cache are not judged by the laws of this one.
#[test]
fn a_warm_cache_is_no_fault() {
    let origin = free_address();
    let proxy = start(origin, FaultKind::MixVariants);
    warm(proxy.address, origin);
}

#[test]
fn a_warm_nginx_is_no_fault() {
    if program("nginx").is_none() {
        skip!("nginx is not installed");
    }
    let listen = free_address();
    let origin = free_address();
    let mut rig = wringer(&format!("rig nginx --listen {listen} --origin {origin} --memory 64MiB"));
    rig.wait_for("listens on");
    warm(listen, origin);
    rig.signal(Signal::INT);
    rig.end().ended_with(0);
}

/// Runs one after the other through one proxy, which differ in nothing but what the objects are.
fn warm(proxy: SocketAddr, origin: SocketAddr) {
    let laws =
        ["", "--private 0.5", "--no-store 0.5", "--change-every 1s --lifetime 1s", "--size 1..3000", ""];
    let mut hits = Vec::new();
    for laws in laws {
        let size = if laws.contains("--size") { "" } else { "--size 3000" };
        let ran = run(&format!(
            "cache {proxy} --origin {origin} -c 4 -q -n 400 --hot 20 --hit-ratio 1 --json {{}}/result.json {size} {laws}"
        ));
        let report = ran.ended_with(0).report();
        assert_eq!((report.faults().len(), report.failures().len()), (0, 0), "{laws}");
        hits.push(report.sum("hits"));
    }
    assert!(hits[0] <= 380 && hits[5] == 400, "the same objects are still there: {hits:?}");
}

/// The origin cuts a share of its bodies. Whoever passes them on as whole ones has made that up.
#[test]
fn bodies_that_the_origin_cut_are_not_excused_where_they_come_as_whole_ones() {
    for kind in [FaultKind::CompleteCut, FaultKind::CompleteCutInChunks] {
        for chunked in ["0", "1"] {
            let options =
                format!("-n 300 --hot 100 --size 20KB --origin-aborts 0.2 --origin-chunked {chunked}");
            let (_, report) = check(kind, &options, &Faults(&["truncated"]), 20);
            let cut = report.count("origin/cut");
            assert_eq!((report.sum("injected"), report.sum("check_failed")), (0, cut), "{kind:?} {chunked}");
        }
    }
}

#[test]
fn bodies_that_the_origin_cut_are_excused_where_they_come_cut_or_nobody_can_tell() {
    for kind in [FaultKind::MixVariants, FaultKind::CutUntilClose] {
        for chunked in ["0", "1"] {
            let options =
                format!("-n 300 --hot 100 --size 20KB --origin-aborts 0.2 --origin-chunked {chunked}");
            let (_, report) = check(kind, &options, &Failures(&[], 0), 0);
            assert_eq!(report.sum("injected"), report.count("origin/cut"), "{kind:?} {chunked}");
        }
    }
}

#[test]
fn bodies_that_are_too_long() {
    for size in ["20", "3000"] {
        check(FaultKind::Lengthen, &format!("-n 100 --size {size}"), &Faults(&["wrong_length"]), 100);
    }
}

#[test]
fn answers_304_that_nobody_asked_for() {
    let options = "-n 200 --hot 20 --size 3000 --revalidate 0.5";
    let (_, report) = check(FaultKind::UnchangedUnasked, options, &Faults(&["unasked_unchanged"]), 50);
    assert_eq!(report.sum("check_failed") + report.sum("conditional"), 200);
    // A plan whose own fields hold a validator asks with each request.
    let options = format!("{options} -H If-Modified-Since:never");
    let (_, report) = check(FaultKind::UnchangedUnasked, &options, &Failures(&["bad_status"], 3), 50);
    assert_eq!(report.sum("check_failed"), 0);
}

#[test]
fn answers_304_that_name_another_version() {
    let options = "-n 200 --hot 20 --size 3000 --revalidate 1";
    check(FaultKind::UnchangedOther, options, &Faults(&["wrong_unchanged"]), 200);
}

#[test]
fn fields_that_come_twice() {
    check(FaultKind::DoubleEtag, "-n 100 --hot 20 --size 3000", &Faults(&["doubled_field"]), 100);
}

/// All that was kept is forgotten in the middle of the run, and nothing is kept from then on.
#[test]
fn a_cache_that_stops_storing() {
    let origin = free_address();
    let proxy = start(origin, FaultKind::StopStoring { after: 900 });
    let line = format!(
        "cache {} --origin {origin} -c 4 -q -d 6s --grace 20s --rate 300 --hot 20 --hit-ratio 1 --size 3000 --seed 7 --json {{}}/result.json",
        proxy.address
    );
    let ran = run(&format!("{line} --fail-if decay")).ended_with(3);
    let report = ran.report();
    let found = report.list("verdict/target/findings");
    assert_eq!(found.len(), 1, "{}", ran.stdout);
    assert_eq!((found[0].text("kind"), report.text("verdict/target/state")), ("stopped_storing", "flawed"));
    let due = report.sum("due");
    let hits = report.sum("due_hits");
    assert!(due > hits && hits < 900, "{hits} of {due}");
    assert!(ran.stdout.contains("of due hits") && ran.stdout.contains("stopped storing"), "{}", ran.stdout);
    // From then on it keeps nothing from the start, which is another thing.
    let ran = run(&format!("{line} --fail-if decay")).ended_with(0);
    assert!(
        ran.stdout.contains("nothing was stored") && !ran.stdout.contains("stopped storing"),
        "{}",
        ran.stdout
    );
}

#[test]
fn objects_that_a_cache_never_serves() {
    let origin = free_address();
    let proxy = start(origin, FaultKind::DeadObjects);
    let line = format!(
        "cache {} --origin {origin} -c 4 -q -d 4s --grace 20s --rate 300 --hot 20 --hit-ratio 1 --size 3000 --seed 7 --json {{}}/result.json",
        proxy.address
    );
    let ran = run(&line).ended_with(0);
    let found = ran.report().list("verdict/target/findings");
    assert_eq!((found.len(), found[0].text("kind")), (1, "dead_objects"), "{}", ran.stdout);
    let text = found[0].text("text").to_owned();
    let paths: Vec<&str> = text.split([' ', ',']).filter(|word| word.starts_with("/w/")).collect();
    assert!(!paths.is_empty() && paths.iter().all(|path| is_dead(path)), "{text}");
}

#[test]
fn ages_that_cannot_be() {
    let options = "-t 1 -n 300 --hot 20 --hit-ratio 1 --size 3000";
    let (_, report) = check(FaultKind::WrongAge, options, &Faults(&["wrong_age"]), 100);
    let first = &report.list("evidence")[0];
    assert!(first.text("detail").starts_with("Age is 6"), "{}", first.text("detail"));
}

/// A cache adds the time of its fetch to the age (RFC 9111 section 4.2.3), and goes on with a fetch whose client has left: who gave up after
/// 300 ms leaves an answer of four seconds' age behind that was made just now.
#[test]
fn an_age_counts_the_fetch_of_whoever_did_not_wait_for_it() {
    let origin = free_address();
    let proxy = start(origin, FaultKind::None);
    let ran = run(&format!(
        "cache {} --origin {origin} -t 1 -c 1 -q -d 6s --hot 1 --hit-ratio 1 --size 3000 --origin-delay 4s --timeout 300ms --json {{}}/result.json",
        proxy.address
    ));
    let report = ran.report();
    assert!(report.sum("hits") > 0 && report.failures().keys().eq(["timeout"]), "{}", ran.stdout);
    assert!(report.faults().is_empty(), "{}", ran.stdout);
}

#[test]
fn stored_answers_that_lack_their_end() {
    let origin = free_address();
    let proxy = start(origin, FaultKind::KeepPartial);
    let ran = run(&format!(
        "cache {} --origin {origin} -t 1 -c 4 -q -n 300 --hot 10 --hit-ratio 1 --size 3000 --seed 7 --json {{}}/result.json",
        proxy.address
    ));
    let report = ran.ended_with(3).report();
    // The first time that each breaks off it might be chance.
    assert!(report.faults()["partial"] > 200, "{:?}", report.faults());
    assert!(report.faults().len() == 1 && report.failures().keys().eq(["closed_early"]));
}

/// Versions differ in length, and a proxy keeps something of the first one.
#[test]
fn lengths_of_another_version() {
    let moving = "-d 4s --rate 100 --hot 10 --hit-ratio 1 --change-every 1s --lifetime 1s --size 3000";
    let options = format!("{moving} --version-sizes half,one-and-a-half");
    check(FaultKind::OldLength, &options, &Faults(&["truncated", "wrong_length"]), 1);
    let options = format!("{moving} --version-sizes same,one-and-a-half --range 1");
    check(FaultKind::OldTotal, &options, &Faults(&["wrong_range"]), 1);
}

/// The head alone: with the fields of an answer to GET, without its body, and never stored as an object.
#[test]
fn answers_to_head() {
    let options = "-n 400 --hot 20 --hit-ratio 1 --size 3000 --head 0.5";
    check(FaultKind::KeepHead, options, &Faults(&["truncated"]), 50);
    check(FaultKind::HeadOfOtherLength, options, &Faults(&["truncated"]), 100);
    check(FaultKind::HeadOfOtherVariant, &format!("{options} --variants 3"), &Faults(&["wrong_variant"]), 20);
    let (_, report) = check(FaultKind::HeadWithoutLength, options, &Failures(&[], 0), 0);
    assert!(report.sum("lengthless") > 50 && report.sum("heads") > 100);
    assert!(report.notes().contains("hits without a Content-Length"), "{}", report.notes());
}

#[test]
fn bodies_behind_heads() {
    let origin = free_address();
    let proxy = start(origin, FaultKind::HeadWithBody);
    let ran = run(&format!(
        "cache {} --origin {origin} -c 4 -q -n 200 --hot 10 --hit-ratio 1 --size 300 --head 0.5 --json {{}}/result.json",
        proxy.address
    ));
    let report = ran.ended_with(3).report();
    let found = report.faults();
    assert!(found.len() == 1 && found["wrong_length"] > 0 && report.sum("stray") > 0, "{found:?}");
}

/// A body in a coding for who does not accept it, one that lost the name of its coding, and one that is cut.
#[test]
fn codings_that_nobody_asked_for() {
    let options = "-n 600 --hot 10 --hit-ratio 1 --size 3000 --vary-on coding";
    check(FaultKind::MixVariants, options, &Faults(&["wrong_variant"]), 100);
    check(FaultKind::CodingUnnamed, options, &Faults(&["wrong_variant"]), 100);
    check(FaultKind::CodingUnnamed, &format!("{options} --no-etag"), &Faults(&["wrong_bytes"]), 100);
    check(FaultKind::CodingCut, options, &Faults(&["truncated", "wrong_bytes"]), 100);
}

/// Acknowledged, and not done.
#[test]
fn purges_that_are_not_done() {
    let options = "-d 5s --rate 200 --hot 5 --hit-ratio 1 --size 3000 --purge 10/s --purge-within 1s";
    let (_, report) = check(FaultKind::IgnorePurge, options, &Faults(&["not_purged"]), 1);
    assert!(report.sum("purges") > 0 && report.sum("purges") == report.sum("purges_acknowledged"));
    assert!(
        report.sum("purged_hits") > 0 && report.notes().contains("of what had been purged"),
        "{}",
        report.notes()
    );
    let (_, report) = check(FaultKind::None, options, &Failures(&[], 0), 0);
    assert!(report.sum("purges_acknowledged") > 0 && report.sum("purged_hits") == 0);
    let (_, report) =
        check(FaultKind::Leak, &options.replace("10/s", "1/s"), &Failures(&["bad_status"], 0), 1);
    assert!(
        report.sum("purges_acknowledged") == 0 && report.notes().contains("purges were not acknowledged")
    );
}

/// A fetch that its client has left goes on, and is stored after a purge that came meanwhile.
#[test]
fn what_was_under_way_when_it_was_purged_may_be_stored() {
    let origin = free_address();
    let proxy = start(origin, FaultKind::None);
    let ran = run(&format!(
        "cache {} --origin {origin} -t 1 -q -d 8s --rate 20 --hot 1 --hit-ratio 1 --size 30KB --origin-speed 10KB --timeout 300ms \
         --purge 1/s --purge-within 100ms --json {{}}/result.json",
        proxy.address
    ));
    let report = ran.report();
    assert!(report.sum("hits") > 0 && report.sum("purges_acknowledged") > 0, "{}", ran.stdout);
    assert!(report.faults().is_empty() && report.sum("purged_hits") == 0, "{}", ran.stdout);
    assert!(report.failures().keys().eq(["timeout"]), "{}", ran.stdout);
}

/// Sixteen objects whose addresses differ in spelling alone.
#[test]
fn keys_that_a_cache_takes_for_one() {
    for more in ["", "--no-etag", "--check nothing", "--head 0.3", "--revalidate 0.3"] {
        let options = format!("-n 400 --hot 32 --hit-ratio 1 --size 3000 --keys look-alike {more}");
        let (_, report) = check(FaultKind::JoinKeys, &options, &Faults(&["wrong_object"]), 100);
        let detail = report.list("evidence")[0].text("detail").to_owned();
        assert!(detail.contains("differs in spelling alone"), "{detail}");
    }
}

#[test]
fn keys_whose_hash_a_cache_takes_for_the_key() {
    let options = "-n 400 --hot 32 --hit-ratio 1 --size 3000 --keys same-hash";
    for hash in 0..4 {
        let (_, report) = check(FaultKind::HashKeys { hash }, options, &Faults(&["wrong_object"]), 100);
        let detail = report.list("evidence")[0].text("detail").to_owned();
        assert!(detail.contains("syllables of the same hash"), "{hash}: {detail}");
        check(FaultKind::HashKeys { hash }, &options.replace("same-hash", "plain"), &Failures(&[], 0), 0);
    }
}

/// Laws that cannot be meant together are refused before anything is sent.
#[test]
fn laws_of_versions_need_versions() {
    for (laws, words) in [
        ("--version-sizes half", ["version_sizes", "change_every"]),
        ("--gone 0.1", ["gone", "change_every"]),
        ("--change-every 1s --version-sizes half --no-etag", ["version_sizes", "etag"]),
        ("--change-every 1s --gone 1", ["gone is 1", "give less"]),
        ("--change-every 1s --version-sizes double", ["'double'", "one-and-a-half"]),
        ("--freshness never", ["'never'", "s-maxage"]),
        ("--purge 1/s --purge-by GET", ["purge", "give fields"]),
        ("--purge-by BAN", ["--purge", "required"]),
        ("--purge 0", ["--purge", "not a rate"]),
        ("--keys other", ["'other'", "look-alike"]),
        ("--vary-on coding --range 0.1", ["range", "vary_on"]),
        ("--vary-also X-Other", ["vary_also", "three variants"]),
        ("--variants 3 --vary-also x-variant", ["vary_also", "give another one"]),
        ("--variants 3 --vary-also a,b", ["--vary-also", "give a field name"]),
        ("--vary-form lines", ["vary_form", "give variants"]),
        ("--variants 3 --vary-form changing", ["vary_form", "change_every"]),
        ("--vary-form upper", ["'upper'", "mixed-case"]),
        ("--vary-on coding --vary-also X-Other", ["vary_also", "Accept-Encoding"]),
        ("--private 0.6 --vary-star 0.6", ["vary_star", "between 0 and 1"]),
        ("--vary-on coding --variants 3", ["variants", "the codings are the variants"]),
        ("--vary-on coding -H Accept-Encoding:gzip", ["vary_on coding", "Accept-Encoding of their own"]),
    ] {
        run(&format!("cache -n 1 {laws}")).refused_with(2, &words);
    }
}

#[test]
fn objects_that_are_gone_for_ever() {
    let origin = free_address();
    let proxy = start(origin, FaultKind::KeepGone);
    let ran = run(&format!(
        "cache {} --origin {origin} -c 4 -q -d 7s --grace 20s --rate 60 --hot 20 --hit-ratio 1 --size 500 --change-every 1s --lifetime 1s \
         --gone 0.3 --seed 7 --json {{}}/result.json",
        proxy.address
    ));
    let report = ran.ended_with(3).report();
    // How many objects go, and how often they are asked for then, is the moment's doing.
    assert!(report.faults()["stale"] > 0 && report.faults().len() == 1, "{:?}", report.faults());
    assert!(report.count("origin/gone") > 0 && report.failures().is_empty());
}

/// Things that are no fault by themselves are counted and told.
#[test]
fn what_answers_say_of_themselves_is_held_to_the_truth() {
    let options = "-n 300 --hot 20 --hit-ratio 1 --size 3000 --private 0.2";
    for (kind, more, count, words) in [
        (FaultKind::NoAge, "", "ageless", "hits had no Age"),
        (FaultKind::FalseClaims, "", "false_claims", "hits or misses (X-Cache, Cache-Status), and were not"),
        (FaultKind::FieldsLost, "", "fields_lost", "lacked an ETag, a Last-Modified"),
        (
            FaultKind::FieldsLost,
            "--origin-header Set-Cookie:id=1",
            "cookies_lost",
            "the Set-Cookie of the origin was missing",
        ),
    ] {
        let (_, report) = check(kind, &format!("{options} {more}"), &Failures(&[], 0), 0);
        assert!(report.sum(count) > 50, "{kind:?}: {}", report.sum(count));
        assert!(report.notes().contains(words), "{kind:?}: {}", report.notes());
    }
    let moving = "-d 5s --rate 40 --hot 5 --hit-ratio 1 --size 3000 --change-every 1s --lifetime 60s -t 1";
    let (_, report) = check(FaultKind::GoesBack, moving, &Failures(&[], 0), 0);
    assert!(report.sum("older") > 0 && report.notes().contains("of an older version"), "{}", report.notes());
}

/// A cache takes over the fields of a 304 and keeps the others (RFC 9111 section 3.2).
#[test]
fn fields_that_a_304_does_not_take_away() {
    let options = "-d 3s --rate 60 --hot 5 --hit-ratio 1 --size 3000 --lifetime 1s --variants 2";
    for (field, value, count) in [
        ("X-Nothing", None, "renewed"),
        ("Wringer-Unchanged", None, "renewed_lost"),
        ("Content-Type", None, "renewed_lost"),
        ("Set-Cookie", Some("id=2"), "renewed_changed"),
        ("Content-Type", Some("text/html"), "renewed_changed"),
        ("Last-Modified", Some("Fri, 15 Jan 2021 08:00:00 GMT"), "renewed_changed"),
        ("Wringer-Unchanged", Some("abc"), "renewed_changed"),
    ] {
        let kind = FaultKind::Renew { field, value };
        let (_, report) = check(kind, options, &Failures(&[], 0), 0);
        let counts = ["renewed_lost", "renewed_changed"].map(|name| (name, report.sum(name)));
        let told = report.notes().contains("a 304 of the origin had renewed");
        assert!(counts.iter().all(|(name, seen)| (*seen > 0) == (*name == count)), "{field}: {counts:?}");
        assert!(report.sum("renewed") > 0, "{field}");
        assert_eq!(told, count != "renewed", "{field}: {}", report.notes());
    }
}

/// An honest cache is accused of none of it.
#[test]
fn an_honest_cache_says_of_itself_what_is_so() {
    let origin = free_address();
    let proxy = start(origin, FaultKind::MixVariants);
    for options in [
        "--lifetime 1s..3s --change-every 2s --size 1KB..20KB",
        "--abort 0.3 --range 0.2 --reload 0.1 --revalidate 0.2 --size 20KB",
        "--origin-aborts 0.2 --origin-errors 0.1 --size 20KB",
        "--origin-delay 500ms --lifetime 1s --size 3000",
        "--change-every 1s --lifetime 1s --version-sizes same,half,one-and-a-half,empty --range 0.3 --size 3000",
        "--change-every 1s --lifetime 2s --gone 0.3 --revalidate 0.2 --range 0.2 --size 1KB..5KB",
        "--change-every 1s --lifetime 1s --head 0.4 --revalidate 0.2 --size 1KB..5KB",
        "--keys look-alike --head 0.2 --revalidate 0.2 --range 0.2 --reload 0.1 --size 1KB..5KB",
        "--keys same-hash --head 0.2 --revalidate 0.2 --range 0.2 --reload 0.1 --size 1KB..5KB",
        "--keys look-alike --change-every 1s --lifetime 1s --gone 0.2 --version-sizes same,half --size 1KB..5KB",
    ] {
        let ran = run(&format!(
            "cache {} --origin {origin} -c 4 -q -d 4s --grace 20s --rate 200 --hot 20 --hit-ratio 0.9 --json {{}}/result.json {options}",
            proxy.address
        ));
        let report = ran.ended_with(0).report();
        let faults = report.faults();
        let failures = report.failures();
        assert!(faults.is_empty() && failures.is_empty(), "{options}: {faults:?} {failures:?}");
        for count in ["ageless", "older", "false_claims", "cookies_lost", "cookies_added", "fields_lost"] {
            assert_eq!(report.sum(count), 0, "{options}: {count}");
        }
    }
}

/// Codings of one body, kept by the field's words.
#[test]
fn an_honest_cache_keeps_codings_apart() {
    let origin = free_address();
    let proxy = start(origin, FaultKind::None);
    for options in [
        "--lifetime 1s..3s --change-every 2s --size 1KB..200KB",
        "--head 0.2 --revalidate 0.3 --reload 0.1 --abort 0.1 --size 0..2KB",
        "--origin-aborts 0.2 --origin-chunked 0.5 --size 20KB",
        "--change-every 1s --lifetime 1s --version-sizes same,half,one-and-a-half,empty --size 3000",
        "--no-etag --check prefix --origin-speed 1MB --size 20KB",
    ] {
        let ran = run(&format!(
            "cache {} --origin {origin} -c 4 -q -d 3s --grace 20s --rate 200 --hot 5 --hit-ratio 0.9 --vary-on coding --json {{}}/result.json {options}",
            proxy.address
        ));
        let report = ran.ended_with(0).report();
        let faults = report.faults();
        let failures = report.failures();
        assert!(faults.is_empty() && failures.is_empty(), "{options}: {faults:?} {failures:?}");
        assert!(report.sum("hits") > 0, "{options}");
    }
}

/// The tests' own cache knows `max-age` alone.
#[test]
fn forms_of_a_lifetime_that_a_cache_does_not_know() {
    let origin = free_address();
    let proxy = start(origin, FaultKind::MixVariants);
    let line = |form: &str| {
        let at = proxy.address;
        run(&format!(
            "cache {at} --origin {origin} -c 4 -q -d 4s --grace 20s --rate 300 --hot 20 --hit-ratio 1 --size 3000 --seed 7 \
             --freshness {form} --json {{}}/result.json"
        ))
        .ended_with(0)
    };
    let mixed = line("mixed");
    let found = mixed.report().list("verdict/target/findings");
    assert_eq!((found.len(), found[0].text("kind")), (1, "dead_objects"), "{}", mixed.stdout);
    for form in ["s-maxage", "expires", "huge"] {
        assert!(line(form).stdout.contains("nothing was stored"), "{form}");
    }
    assert_eq!(line("max-age").report().list("verdict/target/findings").len(), 0);
}

/// Honest caches, over several lifetimes of their objects and with all that clients do.
#[test]
fn a_cache_that_stores_is_never_said_to_have_stopped() {
    let origin = free_address();
    let proxy = start(origin, FaultKind::MixVariants);
    for options in [
        "--lifetime 1s..3s --change-every 2s",
        "--abort 0.3 --range 0.2 --reload 0.1 --revalidate 0.2",
        "--drift 3600 --cache-memory 64KiB",
        "--private 0.3 --no-store 0.2",
    ] {
        let ran = run(&format!(
            "cache {} --origin {origin} -c 4 -q -d 5s --grace 20s --rate 300 --hot 20 --hit-ratio 1 --size 3000 --json {{}}/result.json {options}",
            proxy.address
        ));
        let ran = ran.ended_with(0);
        assert!(ran.report().list("verdict/target/findings").is_empty(), "{options}: {}", ran.stdout);
    }
}

#[test]
fn wrong_ranges() {
    check(FaultKind::WrongRange, "-n 200 --hot 50 --range 1 --size 3000", &Faults(&["wrong_range"]), 150);
}

#[test]
fn early_closes() {
    check(FaultKind::CloseEarly, "-n 100 --size 3000", &Failures(&["closed_early"], 1), 100);
}

#[test]
fn what_is_not_http() {
    check(FaultKind::NotHttp, "-n 50", &Failures(&["not_http"], 1), 50);
}

#[test]
fn header_floods() {
    check(FaultKind::HeaderFlood, "-n 20 --size 3000", &Failures(&["own_limit"], 1), 20);
}

#[test]
fn duplicate_lengths() {
    check(FaultKind::DuplicateLength, "-n 50 --size 3000", &Failures(&["bad_length"], 1), 50);
}

#[test]
fn bad_chunks() {
    check(FaultKind::BadChunk, "-n 100 --size 3000", &Failures(&["bad_chunk"], 1), 100);
}

#[test]
fn silence() {
    check(FaultKind::Slow, "-n 20 --timeout 300ms", &Failures(&["timeout"], 1), 20);
}

/// The origin remembers fewer exchanges than there are until the end, and is asked at once.
#[test]
fn evidence_is_kept_though_the_origin_forgets() {
    let origin = free_address();
    let proxy = start(origin, FaultKind::Corrupt);
    let line =
        format!("cache {} --origin {origin} -t 1 -d 3s --rate 100 --size 3000 --seed 7", proxy.address);
    let plan = run(&format!("{line} --show-plan")).ended_with(0).stdout;
    let forgetful = plan.replace("remember = 4096", "remember = 100");
    assert_ne!(plan, forgetful);
    let folder = folder();
    let file = folder.path().join("plan.toml");
    std::fs::write(&file, forgetful).expect("the folder is ours");
    let line = format!("run {} -q --json {{}}/result.json --evidence-file {{}}/evidence.txt", file.display());
    let ran = run(&line).ended_with(3);
    let report = ran.report();
    assert!(report.count("origin/full") > 200, "it has forgotten the first ones at the end");
    assert_evidence(&ran, &report, &["wrong_bytes"]);
}

#[test]
fn a_proxy_that_goes_away() {
    // Whoever is waiting sees an end or a reset; whoever comes is refused.
    let begun = Instant::now();
    let kinds = &["refused", "reset", "closed_early"];
    let (ran, report) = check(FaultKind::Die { after: 150 }, "-d 2s --size 3000", &Failures(kinds, 1), 4);
    assert!(report.failures().contains_key("refused"), "{:?}", report.failures());
    assert!(report.sum("ok") > 100, "what came before is reported");
    assert!(report.sum("failed") < 4 * 2000, "those who are refused pause: {}", report.sum("failed"));
    assert!(ran.stdout.contains("connection refused"), "{}", ran.stdout);
    assert!(begun.elapsed() < Duration::from_secs(120));
}

/// Runs wringer against a fault and asserts that at least so many answers are said to have it, and nothing else is said.
pub(crate) fn check(kind: FaultKind, options: &str, named: &Named, at_least: u64) -> (Ran, Report) {
    let origin = free_address();
    let proxy = start(origin, kind);
    // On a busy machine the last answers of a time may take theirs.
    let patience = if options.contains("-d ") { "--grace 20s" } else { "" };
    let ran = run(&format!(
        "cache {} --origin {origin} -c 4 -q {patience} --json {{}}/result.json --evidence-file {{}}/evidence.txt --seed 7 {options}",
        proxy.address
    ));
    let report = ran.report();
    let (found, expected, code) = match named {
        Faults(expected) => {
            assert_eq!(report.failures().len(), 0, "{:?}", report.failures());
            (report.faults(), expected, 3)
        }
        Failures(expected, code) => {
            assert_eq!(report.faults().len(), 0, "{:?}", report.faults());
            (report.failures(), expected, *code)
        }
    };
    assert!(found.keys().all(|name| expected.contains(&name.as_str())), "{found:?}, not {expected:?}");
    assert!(found.values().sum::<u64>() >= at_least, "{found:?} of {}", report.sum("requests"));
    let ran = ran.ended_with(code);
    if let Faults(_) = named {
        assert_evidence(&ran, &report, expected);
    }
    (ran, report)
}

/// The first answers that failed a check are kept, each with the heads of all four messages.
fn assert_evidence(ran: &Ran, report: &Report, faults: &[&str]) {
    let kept = report.list("evidence");
    assert!((1..=20).contains(&kept.len()), "{} pieces of evidence", kept.len());
    for piece in &kept {
        assert!(faults.contains(&piece.text("fault")) && !piece.text("detail").is_empty());
        for request in ["request", "origin_request"] {
            let line = piece.text(request).to_ascii_lowercase();
            assert!(line.starts_with("get /w/") || line.starts_with("head /w/"), "{line}");
        }
        for response in ["response", "origin_response"] {
            let status = match faults {
                ["cached_error"] => "HTTP/1.1 503",
                ["unasked_unchanged" | "wrong_unchanged"] => "HTTP/1.1 ",
                _ => "HTTP/1.1 20",
            };
            assert!(piece.text(response).starts_with(status), "{}", piece.text(response));
        }
        assert!(piece.at("serial").is_u64());
    }
    let file = ran.file("evidence.txt");
    assert_eq!(report.text("evidence_file").rsplit('/').next(), Some("evidence.txt"));
    assert!(ran.stdout.contains("evidence.txt"), "the report names the file: {}", ran.stdout);
    for title in ["client to proxy", "proxy to origin", "origin to proxy", "proxy to client"] {
        assert_eq!(file.matches(title).count(), kept.len(), "{title} in {file}");
    }
    assert!(!file.contains("does not remember"), "{file}");
}
