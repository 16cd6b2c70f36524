//! The tests' own faulty proxy is wrong in the way it was told, and in no other.

mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use support::faulty_proxy::{FaultKind, FaultyProxy, is_dead, start};

#[test]
fn corrupt_changes_bytes_in_the_middle() {
    let rig = Rig::new(FaultKind::Corrupt);
    let answer = rig.get("/a", "");
    let body = body(0, "", "/a");
    assert_eq!((answer.body.len(), &answer.body[..500]), (1000, &body[..500]));
    assert!(answer.body[500] != body[500] && answer.body[503..] == body[503..]);
}

#[test]
fn truncate_says_that_half_is_all() {
    let rig = Rig::new(FaultKind::Truncate);
    let mut client = rig.client();
    for _ in 0..2 {
        let answer = client.get("/a", "");
        assert_eq!((answer.field("content-length"), &answer.body[..]), ("500", &body(0, "", "/a")[..500]));
    }
}

#[test]
fn close_early_breaks_its_promise() {
    let answer = Rig::new(FaultKind::CloseEarly).get("/a", "");
    assert_eq!((answer.field("content-length"), answer.body.len()), ("1000", 500));
}

#[test]
fn stale_never_asks_again() {
    let rig = Rig::new(FaultKind::Stale);
    let first = rig.get("/second", "");
    thread::sleep(Duration::from_millis(1100));
    let second = rig.get("/second", "");
    assert_eq!((&second.body, second.field("age")), (&first.body, "1"));
    assert_ne!(rig.get("/private", "").field("serial"), rig.get("/private", "").field("serial"));
    let variants = ["x", "y"].map(|variant| rig.get("/vary", &format!("X-Variant: {variant}\r\n")));
    assert_ne!(variants[0].body, variants[1].body);
}

#[test]
fn stale_for_lifetimes_asks_again_after_these() {
    let rig = Rig::new(FaultKind::StaleFor { lifetimes: 60 });
    let serial = || rig.get("/second", "").field("serial").to_owned();
    let first = serial();
    thread::sleep(Duration::from_millis(1100));
    assert_eq!(serial(), first);
}

#[test]
fn strong_etags_have_lost_their_sign() {
    let rig = Rig::new(FaultKind::StrongEtags);
    let etags = [(); 2].map(|()| rig.get("/weak", "").field("etag").to_owned());
    assert_eq!(etags, ["W/\"weak\"", "\"weak\""], "of what the origin sent, and of what was kept");
}

#[test]
fn second_etags_stand_beside_the_first() {
    let rig = Rig::new(FaultKind::SecondEtags);
    let etags =
        [(); 2].map(|()| rig.get("/weak", "").fields.iter().filter(|(name, _)| name == "etag").count());
    assert_eq!(etags, [1, 2], "of what the origin sent, and of what was kept");
}

#[test]
fn other_modified_is_a_moment_of_the_proxys_own() {
    let rig = Rig::new(FaultKind::OtherModified);
    let modified = [(); 2].map(|()| rig.get("/weak", "").field("last-modified").to_owned());
    assert!(modified[0] != modified[1] && modified[1] == "Sun, 13 Sep 2020 12:26:41 GMT", "{modified:?}");
}

#[test]
fn tear_joins_two_versions() {
    let rig = Rig::new(FaultKind::Tear);
    assert_eq!(rig.get("/versions", "").body, body(1, "", "/versions"));
    let torn = rig.get("/versions", "").body;
    assert_eq!(torn, [&body(1, "", "/versions")[..500], &body(2, "", "/versions")[500..]].concat());
    assert_eq!(rig.get("/a", "").body, rig.get("/a", "").body, "there is one version only");
}

#[test]
fn mix_variants_has_one_for_everyone() {
    let rig = Rig::new(FaultKind::MixVariants);
    for variant in ["x", "y"] {
        assert_eq!(rig.get("/vary", &format!("X-Variant: {variant}\r\n")).body, body(0, "x", "/vary"));
    }
    let first = rig.get("/second", "");
    thread::sleep(Duration::from_millis(1100));
    assert_ne!(rig.get("/second", "").field("serial"), first.field("serial"), "it knows expiry");
}

#[test]
fn swap_objects_serves_the_one_before() {
    let rig = Rig::new(FaultKind::SwapObjects);
    let mut client = rig.client();
    let bodies = ["/a", "/b", "/b", "/c"].map(|target| client.get(target, "").body);
    assert_eq!(bodies, ["/a", "/a", "/b", "/b"].map(|target| body(0, "", target)));
}

#[test]
fn leak_shows_one_what_was_made_for_another() {
    let rig = Rig::new(FaultKind::Leak);
    assert_eq!(rig.get("/private", "").field("serial"), rig.get("/private", "").field("serial"));
    assert_ne!(rig.get("/nostore", "").field("serial"), rig.get("/nostore", "").field("serial"));
}

#[test]
fn leak_unnamed_does_not_say_who_asks() {
    let rig = Rig::new(FaultKind::LeakUnnamed);
    let first = rig.get("/private", "Wringer-Request: 1\r\n");
    let second = rig.get("/private", "Wringer-Request: 2\r\n");
    assert_eq!((first.field("asked-by"), second.field("serial")), ("", first.field("serial")));
}

#[test]
fn swap_answers_serves_the_whole_answer_before() {
    let rig = Rig::new(FaultKind::SwapAnswers);
    let mut client = rig.client();
    let answers = ["/a", "/b", "/b", "/c"].map(|target| client.get(target, ""));
    assert_eq!(answers.each_ref().map(|answer| answer.field("serial")), ["1", "1", "3", "3"]);
}

#[test]
fn keep_errors_serves_an_error_again() {
    let rig = Rig::new(FaultKind::KeepErrors);
    let answers = ["/error", "/error", "/a"].map(|target| rig.get(target, ""));
    let seen = answers.each_ref().map(|answer| (answer.status, answer.field("serial")));
    assert_eq!(seen, [(503, "1"), (503, "1"), (200, "2")]);
}

#[test]
fn stop_storing_forgets_and_keeps_nothing_after_so_many() {
    let rig = Rig::new(FaultKind::StopStoring { after: 3 });
    let serials = [(); 5].map(|()| rig.get("/a", "").field("serial").to_owned());
    assert_eq!(serials, ["1", "1", "1", "2", "3"]);
}

#[test]
fn those_that_are_right_in_what_they_say_keep_what_they_fetched() {
    let renews = FaultKind::Renew { field: "Content-Type", value: None };
    for kind in [
        FaultKind::None,
        FaultKind::OneAtATime,
        FaultKind::KeepConnections,
        FaultKind::LastVary,
        FaultKind::FirstVary,
        FaultKind::FirstName,
        FaultKind::VaryByCase,
        FaultKind::OldVary,
        renews,
    ] {
        let rig = Rig::new(kind);
        let serials = [(); 3].map(|()| rig.get("/a", "").field("serial").to_owned());
        assert_eq!(serials, ["1", "1", "1"], "{kind:?}");
    }
}

#[test]
fn dead_objects_are_never_kept() {
    let rig = Rig::new(FaultKind::DeadObjects);
    let targets = ["/a", "/b", "/c", "/d"];
    for target in targets {
        let serials = [(); 2].map(|()| rig.get(target, "").field("serial").to_owned());
        assert_eq!(serials[0] != serials[1], is_dead(target), "{target}");
    }
    assert_eq!(targets.iter().filter(|target| is_dead(target)).count(), 1);
}

#[test]
fn what_is_kept_says_of_itself_what_is_not_so() {
    let second = |kind| {
        let rig = Rig::new(kind);
        rig.get("/a", "");
        rig.get("/a", "")
    };
    assert_eq!(second(FaultKind::WrongAge).field("age"), "60");
    assert_eq!(second(FaultKind::NoAge).field("age"), "");
    assert_eq!(second(FaultKind::FalseClaims).field("x-cache"), "MISS from here");
    assert_eq!(second(FaultKind::FieldsLost).field("age"), "0");
    let partial = second(FaultKind::KeepPartial);
    assert_eq!((partial.field("content-length"), partial.body.len()), ("1000", 500));
}

#[test]
fn goes_back_serves_what_it_had_first() {
    let rig = Rig::new(FaultKind::GoesBack);
    // Over one connection, on which each answer is counted before the next request is read.
    let mut client = rig.client();
    let serials = [(); 4].map(|()| client.get("/a", "").field("serial").to_owned());
    assert_eq!(serials, ["1", "2", "1", "3"]);
}

#[test]
fn lengths_stay_those_of_the_first_answer() {
    let lengths = |kind| {
        let rig = Rig::new(kind);
        [(); 2].map(|()| rig.get("/shrinks", "").body.len())
    };
    assert_eq!(lengths(FaultKind::OldLength), [900, 900]);
    assert_eq!(lengths(FaultKind::OldTotal), [900, 800], "it is wrong about ranges alone");
}

#[test]
fn old_range_gives_the_bounds_of_what_was_too_old() {
    let second = |kind| {
        let rig = Rig::new(kind);
        rig.get("/second/shrinks", "");
        thread::sleep(Duration::from_millis(1100));
        rig.get("/second/shrinks", "Range: bytes=700-2000\r\n")
    };
    let old = second(FaultKind::OldRange);
    assert_eq!((old.status, old.field("content-range")), (206, "bytes 700-899/800"));
    assert_eq!((old.field("content-length"), old.body.len()), ("200", 100));
    assert_eq!(second(FaultKind::None).body.len(), 800, "the origin of this test ignores ranges");
}

#[test]
fn what_the_origin_says_of_its_end_is_believed_by_some() {
    let second = |kind| {
        let rig = Rig::new(kind);
        let mut client = rig.client();
        client.get("/unasked/nostore", "");
        client.get("/a", "").body
    };
    assert_eq!(second(FaultKind::ReadOn), b"none");
    assert_eq!(second(FaultKind::None), body(0, "", "/a"));
    let first = Rig::new(FaultKind::FirstLength).get("/lengths", "");
    assert_eq!((first.field("content-length"), first.body.len()), ("500", 500));
    assert_eq!(Rig::new(FaultKind::None).get("/lengths", "").status, 502);
}

/// Serials of answers, one for each target.
fn serials(kind: FaultKind, targets: &[&str]) -> Vec<String> {
    let rig = Rig::new(kind);
    targets.iter().map(|target| rig.get(target, "").field("serial").to_owned()).collect()
}

#[test]
fn what_is_kept_is_not_kept_for_good_by_some() {
    let forgets = FaultKind::ForgetForGood { room: 1 };
    assert_eq!(serials(forgets, &["/a", "/a", "/b", "/b", "/a", "/a"]), ["1", "1", "2", "2", "3", "4"]);
    let full = FaultKind::FirstCome { room: 1 };
    assert_eq!(serials(full, &["/a", "/b", "/b", "/a"]), ["1", "2", "3", "1"]);
    let rig = Rig::new(FaultKind::NeverRenew);
    let serial = || rig.get("/second", "").field("serial").to_owned();
    assert_eq!([(); 2].map(|()| serial()), ["1", "1"]);
    thread::sleep(Duration::from_millis(1100));
    assert_eq!([(); 2].map(|()| serial()), ["2", "3"]);
}

#[test]
fn a_slow_request_keeps_a_worker() {
    let rig = Rig::new(FaultKind::FewWorkers { workers: 1 });
    let mut slow = rig.client();
    slow.0.get_mut().write_all(b"GET /a HTTP/1.1\r\n").expect("the proxy reads");
    let mut other = rig.client();
    // The first one has begun by then, or else this one is answered.
    thread::sleep(Duration::from_millis(100));
    other.send("GET /b HTTP/1.1\r\nHost: h\r\n");
    other.0.get_mut().set_read_timeout(Some(Duration::from_millis(200))).expect("a socket");
    assert!(other.0.fill_buf().is_err(), "nobody answers it");
    slow.send("Host: h\r\n");
    assert_eq!(read_head(&mut slow.0).expect("an answer").0, "HTTP/1.1 200 OK");
    other.0.get_mut().set_read_timeout(Some(Duration::from_secs(10))).expect("a socket");
    assert_eq!(read_head(&mut other.0).expect("an answer").0, "HTTP/1.1 200 OK");
}

#[test]
fn more_is_fetched_than_is_asked_for_by_some() {
    assert_eq!(serials(FaultKind::FetchOften { times: 3 }, &["/a", "/a", "/b"]), ["3", "3", "6"]);
    let rig = Rig::new(FaultKind::WholeForRange);
    rig.get("/a", "");
    let range = || rig.get("/a", "Range: bytes=100-299\r\n");
    let part = range();
    assert_eq!((part.status, part.field("content-range")), (206, "bytes 100-299/1000"));
    assert_eq!(part.body, body(0, "", "/a")[100..300]);
    assert_eq!(
        [part.field("serial"), range().field("serial"), rig.get("/a", "").field("serial")],
        ["2", "3", "1"]
    );
}

#[test]
fn a_connection_may_take_memory_that_it_does_not_need() {
    let memory = || {
        let status = std::fs::read_to_string("/proc/self/status").expect("we run");
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it is told");
        resident.trim().trim_end_matches(" kB").parse::<usize>().expect("a number") << 10
    };
    const BYTES: usize = 256 << 20;
    let rig = Rig::new(FaultKind::LargeBuffers { bytes: BYTES });
    let before = memory();
    let mut client = rig.client();
    assert_eq!(client.get("/a", "").body, body(0, "", "/a"));
    // Other tests of this process take some and give some back.
    assert!(memory() > before + BYTES / 2, "{} after {before}", memory());
}

#[test]
fn keep_gone_serves_an_error_again() {
    let rig = Rig::new(FaultKind::KeepGone);
    let serials = [(); 2].map(|()| rig.get("/error", "").field("serial").to_owned());
    assert_eq!(serials, ["1", "1"]);
}

#[test]
fn heads_are_wrong_in_the_way_that_was_chosen() {
    let head = "HEAD /vary HTTP/1.1\r\nHost: h\r\n";
    let kept = Rig::new(FaultKind::KeepHead);
    kept.client().ask(head);
    let answer = kept.get("/vary", "");
    assert_eq!((answer.status, answer.field("content-length"), answer.body.len()), (200, "0", 0));
    let second = |kind, lines: &str| {
        let rig = Rig::new(kind);
        rig.get("/vary", "X-Variant: x\r\n");
        rig.client().ask(&format!("{head}{lines}"))
    };
    let same = "X-Variant: x\r\n";
    assert_eq!(second(FaultKind::None, same).field("content-length"), "1000");
    assert_eq!(second(FaultKind::HeadOfOtherLength, same).field("content-length"), "500");
    assert_eq!(second(FaultKind::HeadWithoutLength, same).field("content-length"), "");
    assert_eq!(second(FaultKind::HeadOfOtherVariant, "X-Variant: y\r\n").field("serial"), "1");
    let rig = Rig::new(FaultKind::HeadWithBody);
    let mut client = rig.client();
    client.get("/a", "");
    client.ask("HEAD /a HTTP/1.1\r\nHost: h\r\n");
    let mut came = vec![0; 1000];
    client.0.read_exact(&mut came).expect("a body that nobody asked for");
    assert_eq!(came, body(0, "", "/a"));
}

#[test]
fn codings_keys_and_purges_go_wrong_alone() {
    let second = |kind, first: &str, then: &str| {
        let rig = Rig::new(kind);
        rig.get(first, "");
        rig.get(then, "")
    };
    assert_eq!(second(FaultKind::None, "/coded", "/coded").field("content-encoding"), "gzip");
    assert_eq!(second(FaultKind::CodingUnnamed, "/coded", "/coded").field("content-encoding"), "");
    let cut = second(FaultKind::CodingCut, "/coded", "/coded");
    assert_eq!((cut.field("content-length"), cut.body.len()), ("500", 500));
    for (kind, serial) in [(FaultKind::JoinKeys, "1"), (FaultKind::None, "2")] {
        assert_eq!(second(kind, "/a/b", "/A//b?").field("serial"), serial, "{kind:?}");
    }
    // "Ez" and "FY" are one number to whoever takes each letter 33 times.
    for (kind, serial) in [(FaultKind::HashKeys { hash: 0 }, "1"), (FaultKind::HashKeys { hash: 1 }, "2")] {
        assert_eq!(second(kind, "/a/Ez", "/a/FY").field("serial"), serial, "{kind:?}");
    }
    for (kind, serial) in [(FaultKind::IgnorePurge, "1"), (FaultKind::None, "2")] {
        let rig = Rig::new(kind);
        rig.get("/a", "");
        assert_eq!(rig.client().ask("PURGE /a HTTP/1.1\r\nHost: h\r\n").status, 200);
        assert_eq!(rig.get("/a", "").field("serial"), serial, "{kind:?}");
    }
}

#[test]
fn what_is_late_or_dear_is_right_all_the_same() {
    let kinds = [
        (FaultKind::OneByOne, "2"),
        (FaultKind::KeepNothing, "2"),
        (FaultKind::Dearer, "1"),
        (FaultKind::PurgeLate { ms: 60_000 }, "1"),
    ];
    for (kind, serial) in kinds {
        let rig = Rig::new(kind);
        rig.get("/a", "");
        assert_eq!(rig.client().ask("PURGE /b HTTP/1.1\r\nHost: h\r\n").status, 200);
        assert_eq!(rig.get("/a", "").field("serial"), serial, "{kind:?}");
    }
}

#[test]
fn wrong_range_sends_the_beginning() {
    let rig = Rig::new(FaultKind::WrongRange);
    let whole = body(0, "", "/a");
    for (range, content_range, length) in [
        ("100-199", "bytes 100-199/1000", 100),
        ("900-", "bytes 900-999/1000", 100),
        ("-10", "bytes 990-999/1000", 10),
    ] {
        let answer = rig.get("/a", &format!("Range: bytes={range}\r\n"));
        assert_eq!((answer.status, answer.field("content-range")), (206, content_range));
        assert_eq!(answer.body, whole[..length]);
    }
    assert_eq!(rig.get("/a", "").body, whole);
}

#[test]
fn what_is_not_http() {
    let rig = Rig::new(FaultKind::NotHttp);
    let mut client = rig.client();
    client.send("GET /a HTTP/1.1\r\n");
    let mut text = String::new();
    client.0.read_to_string(&mut text).expect("text and an end");
    assert!(text.starts_with("SSH-2.0-"), "{text}");
}

#[test]
fn header_flood_has_ten_thousand_lines() {
    let answer = Rig::new(FaultKind::HeaderFlood).get("/a", "");
    let lines = answer.fields.iter().filter(|(name, _)| name.starts_with("x-flood-")).count();
    assert_eq!((lines, answer.body), (10_000, body(0, "", "/a")));
}

#[test]
fn a_cut_body_is_made_whole() {
    let answer = Rig::new(FaultKind::CompleteCut).get("/cut", "");
    assert_eq!((answer.field("content-length"), &answer.body[..]), ("500", &body(0, "", "/cut")[..500]));
    let all = |kind| {
        let rig = Rig::new(kind);
        let mut client = rig.client();
        client.send("GET /cut HTTP/1.1\r\nHost: h\r\nConnection: close\r\n");
        let (_, fields) = read_head(&mut client.0).expect("an answer");
        let mut rest = Vec::new();
        client.0.read_to_end(&mut rest).expect("an orderly end");
        (find(&fields, "content-length").map(str::to_owned), rest)
    };
    let half = body(0, "", "/cut")[..500].to_vec();
    let chunked = [b"1f4\r\n", &half[..], b"\r\n0\r\n\r\n"].concat();
    assert_eq!(all(FaultKind::CompleteCutInChunks), (None, chunked));
    assert_eq!(all(FaultKind::CutUntilClose), (None, half));
}

#[test]
fn lengthen_sends_more_than_there_is() {
    let answer = Rig::new(FaultKind::Lengthen).get("/a", "");
    assert_eq!(answer.body, [&body(0, "", "/a")[..], b"and more"].concat());
}

#[test]
fn unchanged_answers_are_for_others() {
    let asked = "If-None-Match: \"a-0-b\"\r\n";
    assert_eq!(Rig::new(FaultKind::UnchangedUnasked).get("/a", "").status, 304);
    let other = Rig::new(FaultKind::UnchangedOther).get("/a", asked);
    assert_eq!((other.status, other.field("etag")), (304, "\"a-1-b\""));
    let double = Rig::new(FaultKind::DoubleEtag).get("/a", asked);
    assert_eq!(double.fields.iter().filter(|(name, _)| name == "etag").count(), 2);
}

#[test]
fn duplicate_length_contradicts_itself() {
    let answer = Rig::new(FaultKind::DuplicateLength).get("/a", "");
    let lengths: Vec<_> = answer.fields.iter().filter(|(name, _)| name == "content-length").collect();
    assert_eq!(lengths.iter().map(|(_, value)| value.as_str()).collect::<Vec<_>>(), ["1000", "1001"]);
}

#[test]
fn bad_chunk_is_bad_after_half() {
    let rig = Rig::new(FaultKind::BadChunk);
    let mut client = rig.client();
    client.send("GET /a HTTP/1.1\r\nConnection: close\r\n");
    let mut bytes = Vec::new();
    client.0.read_to_end(&mut bytes).expect("an answer and an end");
    let text = String::from_utf8_lossy(&bytes);
    assert!(text.contains("Transfer-Encoding: chunked\r\n\r\n1f4\r\n") && text.contains("\r\nno size\r\n"));
    assert!(!text.contains("Content-Length"));
}

#[test]
fn die_closes_everything() {
    let rig = Rig::new(FaultKind::Die { after: 3 });
    let mut idle = rig.client();
    assert_eq!(idle.get("/a", "").status, 200);
    let mut last = rig.client();
    assert_eq!([last.get("/a", "").status, last.get("/a", "").status], [200, 200]);
    for client in [&mut idle, &mut last] {
        assert_eq!(client.0.read(&mut [0]).expect("an orderly end"), 0);
    }
    let deadline = std::time::Instant::now() + Duration::from_secs(5);
    while TcpStream::connect(rig.proxy.address).is_ok() {
        assert!(std::time::Instant::now() < deadline, "it listens still");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn slow_never_answers_and_ends_when_dropped() {
    let rig = Rig::new(FaultKind::Slow);
    let mut client = rig.client();
    client.send("GET /a HTTP/1.1\r\n");
    client.0.get_ref().set_read_timeout(Some(Duration::from_millis(300))).expect("a socket");
    assert!(client.0.read(&mut [0]).is_err());
    let address = rig.proxy.address;
    drop(rig);
    assert_eq!(client.0.read(&mut [0]).expect("an end"), 0);
    assert!(TcpStream::connect(address).is_err());
}

/// One fault that no request here meets shows that the rest is honest.
#[test]
fn it_is_honest_otherwise() {
    let rig = Rig::new(FaultKind::WrongRange);
    let mut client = rig.client();
    for head in [
        "GET /a HTTP/1.1\r\nHost: h\r\n",
        "GET http://h:1/a HTTP/1.1\r\n",
        "GET http://h:1/a HTTP/1.0\r\nProxy-Connection: Keep-Alive\r\n",
        "GET /a?chunked HTTP/1.1\r\nHost: h\r\n",
    ] {
        let answer = client.ask(head);
        let target = if head.contains("chunked") { "/a?chunked" } else { "/a" };
        assert_eq!((answer.status, answer.body), (200, body(0, "", target)), "{head}");
    }
    assert_eq!(client.get("/a", "If-None-Match: \"t\"\r\n").status, 304);
    let head = client.ask("HEAD /a HTTP/1.1\r\nHost: h\r\n");
    assert_eq!((head.status, head.field("content-length"), head.body.len()), (200, "1000", 0));
    assert_eq!(rig.get("/cut", "").body.len(), 500);
    assert_eq!(rig.client().ask("OPTIONS /a HTTP/1.1\r\nContent-Length: 0\r\n").status, 501);
    let closed = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port");
    let lost = start(closed, FaultKind::Corrupt);
    assert_eq!(Client::connect(lost.address).get("/a", "").status, 502);
}

struct Rig {
    proxy: FaultyProxy,
}

impl Rig {
    fn new(kind: FaultKind) -> Rig {
        Rig { proxy: start(start_origin(), kind) }
    }

    fn client(&self) -> Client {
        Client::connect(self.proxy.address)
    }

    fn get(&self, target: &str, lines: &str) -> Answer {
        self.client().get(target, lines)
    }
}

struct Answer {
    status: u16,
    fields: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Answer {
    fn field(&self, name: &str) -> &str {
        find(&self.fields, name).unwrap_or_default()
    }
}

struct Client(BufReader<TcpStream>);

impl Client {
    fn connect(address: SocketAddr) -> Client {
        let stream = TcpStream::connect(address).expect("the proxy listens");
        stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a socket");
        Client(BufReader::new(stream))
    }

    fn send(&mut self, head: &str) {
        self.0.get_mut().write_all(format!("{head}\r\n").as_bytes()).expect("the proxy reads");
    }

    fn get(&mut self, target: &str, lines: &str) -> Answer {
        self.ask(&format!("GET {target} HTTP/1.1\r\nHost: h\r\n{lines}"))
    }

    /// Sends a request of complete lines, and reads as much of the answer as comes.
    fn ask(&mut self, head: &str) -> Answer {
        self.send(head);
        let (first, fields) = read_head(&mut self.0).expect("an answer");
        let status = first.split(' ').nth(1).and_then(|word| word.parse().ok()).expect("a status");
        let length = find(&fields, "content-length").map_or(0, |length| length.parse().expect("a number"));
        let mut body = Vec::new();
        if !head.starts_with("HEAD") {
            (&mut self.0).take(length).read_to_end(&mut body).expect("an orderly end");
        }
        Answer { status, fields, body }
    }
}

fn find<'a>(fields: &'a [(String, String)], name: &str) -> Option<&'a str> {
    fields.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
}

fn read_head(input: &mut impl BufRead) -> Option<(String, Vec<(String, String)>)> {
    let mut lines = input.lines().map_while(Result::ok);
    let first = lines.next()?;
    let field = |line: String| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_lowercase(), value.trim().to_string()))
    };
    Some((first, lines.take_while(|line| !line.is_empty()).filter_map(field).collect()))
}

/// An origin whose answers follow from the words in the target and from how many it gave.
fn start_origin() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    let serial = Arc::new(AtomicUsize::new(0));
    thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            let serial = Arc::clone(&serial);
            thread::spawn(move || serve(connection, &serial));
        }
    });
    address
}

fn serve(mut connection: TcpStream, serial: &AtomicUsize) -> Option<()> {
    let mut input = BufReader::new(connection.try_clone().ok()?);
    loop {
        let (first, fields) = read_head(&mut input)?;
        let target = first.split(' ').nth(1)?;
        let serial = serial.fetch_add(1, Ordering::SeqCst) + 1;
        let bytes = answer(target, &fields, first.starts_with("HEAD"), serial);
        connection.write_all(&bytes).ok()?;
        if target.contains("cut") {
            return None;
        }
    }
}

fn answer(target: &str, fields: &[(String, String)], is_head: bool, serial: usize) -> Vec<u8> {
    if find(fields, "if-none-match").is_some() {
        return b"HTTP/1.1 304 Not Modified\r\nETag: \"a-0-b\"\r\n\r\n".to_vec();
    }
    let says = |word: &str| target.contains(word);
    let control = match () {
        () if says("private") => "private, max-age=60",
        () if says("nostore") => "no-store",
        () if says("second") => "max-age=1",
        () => "max-age=60",
    };
    let variant = find(fields, "x-variant").unwrap_or_default();
    let vary = match () {
        () if says("vary") => "Vary: X-Variant\r\n",
        () if says("coded") => "Content-Encoding: gzip\r\n",
        () if says("weak") => "ETag: W/\"weak\"\r\n",
        () => "",
    };
    let mut body = body(if says("versions") { serial } else { 0 }, variant, target);
    if says("shrinks") {
        body.truncate(1000 - 100 * serial);
    }
    let length = format!("Content-Length: {}", body.len());
    let two = format!("Content-Length: 500\r\n{length}");
    let framing = match () {
        () if says("chunked") => "Transfer-Encoding: chunked",
        () if says("lengths") => &two,
        () => &length,
    };
    if says("chunked") {
        body = [b"258\r\n", &body[..600], b"\r\n190;x=y\r\n", &body[600..], b"\r\n0\r\n\r\n"].concat();
    } else if says("cut") {
        body.truncate(500);
    }
    let status = if says("error") { "503 Service Unavailable" } else { "200 OK" };
    let asked_by = find(fields, "wringer-request").unwrap_or_default();
    let head = format!(
        "HTTP/1.1 {status}\r\nSerial: {serial}\r\nAsked-By: {asked_by}\r\nCache-Control: {control}\r\n{vary}{framing}\r\n\r\n"
    );
    let unasked = if says("unasked") { UNASKED } else { "" };
    if is_head { head.into_bytes() } else { [head.into_bytes(), body, unasked.into()].concat() }
}

/// An answer to a request that nobody sent.
const UNASKED: &str = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnone";

fn body(version: usize, variant: &str, target: &str) -> Vec<u8> {
    format!("version {version} of variant {variant} of {target}; ").bytes().cycle().take(1000).collect()
}
