//! The judge of one answer, told by what it finds in answers made up here.

use super::*;
use wire::http1::{Expect, Http1Limits, ResponseReader};

const SENT_US: u64 = 1_800_000_000_000_000;

fn asked() -> RequestAsked {
    RequestAsked {
        what: What::Native { object: 7 },
        size: 500,
        variant: 0,
        range: None,
        second_range: None,
        reload: false,
        has_version: Some(0),
        abort_at: None,
        head: false,
        purge: false,
        slow: false,
        nonce: 1,
        kind: 0,
    }
}

/// The fault found in an answer, and whether it is excused as injected.
fn judged(site: &Site, stamp: Stamp, status: u16, seen: bool) -> (Option<Fault>, bool) {
    let asked = asked();
    let check = Check { content: CheckContent::Nothing, ..Check::default() };
    let mut judge = Judge::new(site, &check, &asked, b"", SENT_US, None);
    let mut text = format!("HTTP/1.1 {status} x\r\nContent-Length: 0\r\nWringer: ").into_bytes();
    stamp.write(&mut text);
    text.extend_from_slice(b"\r\nSet-Cookie: a=b\r\n\r\n");
    let mut reader = ResponseReader::new(Http1Limits::default());
    reader.begin(Expect::Body);
    assert!(reader.read(&text, &mut judge).unwrap().done);
    if judge.unattributed().is_some() && seen {
        judge.seen_again();
    }
    (judge.finding.as_ref().map(|(fault, _)| *fault), judge.injected())
}

/// The fault found in a 304 with these fields, to a request with a validator or without.
fn unchanged(fields: &str, validator: bool) -> Option<Fault> {
    let site = Site::default();
    let asked = RequestAsked { has_version: validator.then_some(0), ..asked() };
    let check = Check::default();
    let mut judge = Judge::new(&site, &check, &asked, b"", SENT_US, None);
    let text = format!("HTTP/1.1 304 x\r\n{fields}\r\n");
    let mut reader = ResponseReader::new(Http1Limits::default());
    reader.begin(Expect::Body);
    assert!(reader.read(text.as_bytes(), &mut judge).unwrap().done);
    judge.finding.map(|(fault, _)| fault)
}

#[test]
fn a_304_is_for_whoever_has_asked_and_names_the_version_that_was_asked_about() {
    assert_eq!(unchanged("ETag: \"7-0-0\"\r\n", true), None);
    assert_eq!(unchanged("ETag: W/\"7-0-0\"\r\n", true), None);
    assert_eq!(unchanged("", true), None, "of a lost ETag it cannot be told what it was");
    assert_eq!(unchanged("ETag: \"7-0-0\"\r\n", false), Some(Fault::UnaskedUnchanged));
    assert_eq!(unchanged("ETag: \"7-1-0\"\r\n", true), Some(Fault::WrongUnchanged), "another version");
    assert_eq!(unchanged("ETag: \"7-0-1\"\r\n", true), Some(Fault::WrongUnchanged), "another variant");
    assert_eq!(unchanged("ETag: \"8-0-0\"\r\n", true), Some(Fault::AnothersAnswer));
}

#[test]
fn a_field_that_may_stand_once_is_told_where_it_came_twice() {
    let etag = "ETag: \"7-0-0\"\r\n";
    let mut stamped = b"Wringer: ".to_vec();
    stamp(1, SENT_US, StampKind::Unchanged).write(&mut stamped);
    let stamp = String::from_utf8(stamped).unwrap() + "\r\n";
    assert_eq!(unchanged(&format!("{etag}{stamp}"), true), None);
    assert_eq!(unchanged(&format!("{etag}{etag}"), true), Some(Fault::DoubledField));
    assert_eq!(unchanged(&format!("{stamp}{etag}{stamp}"), true), Some(Fault::DoubledField));
    let other = "ETag: \"5d41402a\"\r\n";
    assert_eq!(unchanged(other, true), None);
    assert_eq!(unchanged(&format!("{etag}{other}"), true), Some(Fault::DoubledField), "of another form");
    assert_eq!(unchanged(&format!("{other}{etag}"), true), Some(Fault::DoubledField));
    let modified = "Last-Modified: Sun, 13 Sep 2020 12:26:40 GMT\r\n";
    assert_eq!(unchanged(&format!("{etag}{modified}"), true), None);
    assert_eq!(unchanged(&format!("{modified}{etag}{modified}"), true), Some(Fault::DoubledField));
}

/// RFC 9110 section 8.8.2: whoever asks with If-Modified-Since is told by it that nothing has changed.
#[test]
fn a_last_modified_is_that_of_the_version_whose_bytes_came() {
    let site = Site::default();
    let found = |fields: &str, head: bool, renewed: bool| {
        let asked = RequestAsked { has_version: None, head, ..asked() };
        let check = Check::default();
        let mut judge = Judge::new(&site, &check, &asked, b"", SENT_US, None);
        let mut text = format!("HTTP/1.1 200 x\r\nContent-Length: 500\r\n{fields}").into_bytes();
        if renewed {
            text.extend_from_slice(b"Wringer: ");
            stamp(1, SENT_US, StampKind::Unchanged).write(&mut text);
            text.extend_from_slice(b"\r\n");
        }
        text.extend_from_slice(b"\r\n");
        if !head {
            let begin = text.len() as u64;
            plan::site::write_prefix(&mut text, 7, 0, 0, 500);
            let prefix = text.len() as u64 - begin;
            site.content(7, 0, 0).pieces(prefix, 500).for_each(|piece| text.extend_from_slice(piece));
        }
        let mut reader = ResponseReader::new(Http1Limits::default());
        reader.begin(if head { Expect::NoBody } else { Expect::Body });
        assert!(reader.read(&text, &mut judge).unwrap().done);
        judge.complete();
        judge.finding.map(|(fault, _)| fault)
    };
    let right = "Last-Modified: Sun, 13 Sep 2020 12:26:40 GMT\r\n";
    let wrong = "Last-Modified: Sun, 13 Sep 2020 12:26:41 GMT\r\n";
    let etag = "ETag: \"7-0-0\"\r\n";
    assert_eq!(found(right, false, false), None);
    assert_eq!(found("", false, false), None, "a lost one is a remark");
    assert_eq!(found("Last-Modified: soon\r\n", false, false), None, "nobody can take it for a moment");
    assert_eq!(found(wrong, false, false), Some(Fault::TornVersion));
    assert_eq!(found(wrong, false, true), None, "the fields of a 304 are counted as such");
    assert_eq!(found(&format!("{right}{etag}"), true, false), None);
    assert_eq!(found(&format!("{wrong}{etag}"), true, false), Some(Fault::TornVersion), "of a head alone");
}

/// The bytes of a part do not say whose they are, so what is of no version of this object is of the one that the ETag names.
#[test]
fn a_part_of_another_object_is_named_by_its_etag() {
    let site = Site::default();
    let found = |etag: &str| {
        let asked = RequestAsked { range: Some((100, 119)), has_version: None, ..asked() };
        let check = Check::default();
        let mut judge = Judge::new(&site, &check, &asked, b"", SENT_US, None);
        let head = "HTTP/1.1 206 x\r\nContent-Length: 20\r\nContent-Range: bytes 100-119/500\r\n";
        let text = format!("{head}ETag: {etag}\r\n\r\nbytes of nothing ...");
        let mut reader = ResponseReader::new(Http1Limits::default());
        reader.begin(Expect::Body);
        assert!(reader.read(text.as_bytes(), &mut judge).unwrap().done);
        judge.complete();
        judge.finding.map(|(fault, _)| fault)
    };
    assert_eq!(found("\"8-0-0\""), Some(Fault::AnothersAnswer));
    assert_eq!(found("\"7-0-0\""), Some(Fault::WrongBytes));
}

fn stamp(asked_by: u64, made_at_us: u64, kind: StampKind) -> Stamp {
    Stamp { serial: 9, asked_by, made_at_us, kind, sets_cookie: false, foreign: None }
}

#[test]
fn an_injected_error_is_excused_for_its_own_request_alone() {
    let site = Site::default();
    let error =
        |asked_by, made_at_us, seen| judged(&site, stamp(asked_by, made_at_us, StampKind::Error), 503, seen);
    let before = SENT_US - 600_000;
    let after = SENT_US + 1;
    assert_eq!(error(1, after, false), (None, true));
    assert_eq!(error(2, before, false), (Some(Fault::CachedError), false), "kept");
    assert_eq!(error(2, after, false), (Some(Fault::CachedError), false), "shared");
    assert_eq!(error(0, after, false), (None, true), "the proxy does not say who asks");
    assert_eq!(error(0, before, false), (Some(Fault::CachedError), false));
    assert_eq!(error(0, after, true), (Some(Fault::CachedError), false), "the same answer twice");
}

#[test]
fn what_is_for_one_user_is_not_for_another() {
    let shared = Site::default();
    let private = Site { private: 1.0, ..Site::default() };
    let full = |asked_by| stamp(asked_by, SENT_US + 1, StampKind::Full);
    let fault = |site, stamp, seen| judged(site, stamp, 200, seen).0.filter(|f| *f != Fault::Truncated);
    let cookie = |asked_by| Stamp { sets_cookie: true, ..full(asked_by) };
    assert_eq!(fault(&private, full(1), false), None);
    assert_eq!(fault(&private, full(2), false), Some(Fault::LeakedNonce));
    assert_eq!(fault(&private, full(0), true), Some(Fault::LeakedNonce));
    assert_eq!(fault(&shared, full(2), false), None, "the cookie is not the origin's");
    assert_eq!(fault(&shared, cookie(2), false), Some(Fault::SharedCookie));
    assert_eq!(fault(&shared, cookie(1), false), None);
    assert_eq!(fault(&shared, full(0), true), None);
}

/// Bytes that a head promises beyond the end of the version never come.
#[test]
fn a_body_that_breaks_off_is_wrong_where_its_head_was() {
    let site = Site::default();
    let found = |head: &str, kind: FailureKind, stage: Stage| {
        let asked = RequestAsked { has_version: None, range: Some((100, 899)), ..asked() };
        let check = Check::default();
        let mut judge = Judge::new(&site, &check, &asked, b"", SENT_US, None);
        let text = format!("HTTP/1.1 206 x\r\nContent-Length: 800\r\nETag: \"7-0-0\"\r\n{head}\r\n");
        let mut reader = ResponseReader::new(Http1Limits::default());
        reader.begin(Expect::Body);
        assert!(!reader.read(text.as_bytes(), &mut judge).unwrap().done);
        judge.wrong_before(Failure::new(kind, stage))
    };
    let wrong = "Content-Range: bytes 100-899/500\r\n";
    let timeout = FailureKind::Timeout;
    let closed = FailureKind::ClosedEarly;
    assert_eq!(found(wrong, timeout, Stage::Body), Some(Fault::WrongRange));
    assert_eq!(found(wrong, closed, Stage::Body), Some(Fault::WrongRange));
    assert_eq!(found(wrong, closed, Stage::Head), None, "an end that is not the body's");
    assert_eq!(found("Content-Range: bytes 100-499/500\r\n", closed, Stage::Body), None);
}

#[test]
fn what_was_made_just_before_a_request_may_still_be_on_its_way() {
    let site = Site::default();
    let asked = asked();
    let check = Check::default();
    let is_stored = |before_us: u64| {
        let mut judge = Judge::new(&site, &check, &asked, b"", SENT_US, None);
        judge.head.stamp = Some(Stamp {
            serial: 1,
            asked_by: 2,
            made_at_us: SENT_US - before_us,
            kind: StampKind::Cut,
            sets_cookie: false,
            foreign: None,
        });
        (judge.cache(), judge.is_stored())
    };
    assert_eq!(is_stored(0), (CacheResult::Collapsed, false));
    assert_eq!(is_stored(499_999), (CacheResult::Hit, false));
    assert_eq!(is_stored(500_000), (CacheResult::Hit, true));
}

#[test]
fn of_two_ranges_one_may_be_sent_alone() {
    let site = Site::default();
    let asked = RequestAsked { range: Some((0, 9)), second_range: Some((100, 109)), ..asked() };
    let check = Check::default();
    let found = |range: &str| {
        let mut judge = Judge::new(&site, &check, &asked, b"", SENT_US, None);
        let text = format!("HTTP/1.1 206 x\r\nContent-Range: bytes {range}\r\nContent-Length: 10\r\n\r\n");
        let mut reader = ResponseReader::new(Http1Limits::default());
        reader.begin(Expect::Body);
        assert!(!reader.read(text.as_bytes(), &mut judge).unwrap().done);
        judge.finding.map(|(fault, _)| fault)
    };
    assert_eq!(found("100-109/500"), None);
    assert_eq!(found("0-9/500"), None);
    assert_eq!(found("50-59/500"), Some(Fault::WrongRange));
}
