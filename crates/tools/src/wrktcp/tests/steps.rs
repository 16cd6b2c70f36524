//! Items of an ini file and what they mean in a plan.

use super::super::plan_of;
use super::edges::step;
use ::plan::answer::{By, Check, IsoBitmap, IsoCoding, Must, Part, Selector};
use ::plan::data::{Counts, LengthField, Number, Source};
use ::plan::message::{Framing, LengthHead, MessageOrder};
use ::plan::{Protocol, Tls};
use std::io;

fn file(request: &str, response: &str) -> String {
    format!("[common]\nhost = h\nport = 1\n[request]\nreq_body = x\n{request}\n[response]\n{response}\n")
}

#[test]
fn lengths_are_written_as_the_file_says() {
    for (items, filler, number, counts) in [
        ("", "", Number::Ascii(8), Counts::Body),
        ("req_len_len = 4\nreq_len_type = total", "", Number::Ascii(4), Counts::Total),
        ("req_len_len = 20", "00", Number::Ascii(18), Counts::Body),
        ("req_len_len = 17\nreq_len_format = hex", "00", Number::Hex(15), Counts::Body),
        ("req_len_len = 2\nreq_len_format = bcd", "", Number::Bcd(2), Counts::Body),
        ("req_len_len = 10\nreq_len_format = bcd", "\0", Number::Bcd(9), Counts::Body),
        ("req_len_len = 2\nreq_len_format = binary", "", Number::Binary(2), Counts::Body),
        ("req_len_format = binary-le", "", Number::Little(8), Counts::Body),
    ] {
        let step = step(&file(items, ""));
        assert_eq!(step.messages[0].head[..], *format!("{filler}{{{{length}}}}").as_bytes(), "{items}");
        let Source::Length(length) = step.data[0].source else { panic!("{:?}", step.data) };
        assert_eq!(length, LengthField { number, counts, adjust: 0 }, "{items}");
    }
}

#[test]
fn answers_are_framed_as_the_file_says() {
    for (items, size, at, number, counts) in [
        ("", 8, 0, Number::Ascii(8), Counts::Body),
        ("rsp_headlen = 23\nrsp_len_beg = 8", 23, 7, Number::Ascii(8), Counts::Body),
        (
            "rsp_headlen = 2\nrsp_len_len = 2\nrsp_len_type = total\nrsp_len_format = binary",
            2,
            0,
            Number::Binary(2),
            Counts::Total,
        ),
    ] {
        let framing = LengthHead { size: Some(size), at, number, counts, adjust: 0 };
        assert_eq!(step(&file("", items)).answers, Some(Framing::Length(framing)), "{items}");
    }
}

#[test]
fn codes_are_found_as_the_file_says() {
    let between = |before: &str, after: &str| By::Between { before: before.into(), after: after.into() };
    let iso = |field, bitmap, coding| By::Iso { field, bitmap, coding };
    let fixed = |at, length| By::Fixed { at, length, text: true };
    for (items, part, by, code) in [
        ("", Part::Body, fixed(0, 6), "000000"),
        (
            "rsp_code_location_tag = 3  2\nrsp_code_success = ok\nrsp_code_location = head",
            Part::Head,
            fixed(2, 2),
            "ok",
        ),
        (
            "rsp_code_type = xml\nrsp_code_location_tag = <retCode>",
            Part::Body,
            between("<retCode>", "</"),
            "000000",
        ),
        ("rsp_code_type = xml\nrsp_code_location_tag = Code>", Part::Body, between("Code>", "</"), "000000"),
        (
            "rsp_code_type = json\nrsp_code_location_tag = \"rspCd\"",
            Part::Body,
            By::Tag("\"rspCd\"".into()),
            "000000",
        ),
        ("rsp_code_type = tag\nrsp_code_location_tag = c=[ ]", Part::Body, between("c=[", "]"), "000000"),
        (
            "rsp_code_type = regex\nrsp_code_location_tag = ^(..)",
            Part::Body,
            By::Regex("^(..)".into()),
            "000000",
        ),
        (
            "rsp_code_type = 8583\nrsp_code_success = 00",
            Part::Body,
            iso(39, IsoBitmap::Binary, IsoCoding::Ascii),
            "00",
        ),
        (
            "rsp_code_type = 8583\nrsp_code_location_tag = 0 hex,bcd",
            Part::Body,
            iso(0, IsoBitmap::Hex, IsoCoding::Bcd),
            "000000",
        ),
    ] {
        let wanted = Check::of(Selector { part, by }, Must::BeOneOf(vec![code.into()]));
        assert_eq!(step(&file("", items)).code, Some(wanted), "{items}");
    }
}

#[test]
fn several_requests_are_several_messages() {
    let two = |weights: [&str; 2]| {
        format!(
            "{}[request]\nreq_body = $(C)$(C)\n{}\n[parameters]\nC = COUNTER, 1, 9, 1\n",
            file(weights[0], ""),
            weights[1]
        )
    };
    let order = |weights| {
        let step = step(&two(weights));
        (step.order, step.messages.iter().map(|message| message.weight).collect::<Vec<_>>())
    };
    assert_eq!(order(["", ""]), (MessageOrder::Loop, vec![1, 1]));
    assert_eq!(order(["weight = 3", ""]), (MessageOrder::Weighted, vec![3, 1]));
    assert_eq!(order(["weight = 0", "weight = 5"]), (MessageOrder::Weighted, vec![0, 5]));
    // Lengths of one form are one field, and a counter is one however often it stands.
    assert_eq!(step(&two(["", ""])).data.len(), 2);
    assert_eq!(step(&two(["req_len_len = 4", ""])).data.len(), 3);
}

#[test]
fn connections_live_as_the_file_says() {
    let of = |items: &str| {
        let text = file("", "").replace("port = 1\n", &format!("port = 1\n{items}\n"));
        let plan = plan_of(text.as_bytes(), &|_| Err(io::ErrorKind::NotFound.into())).unwrap();
        let Some(Protocol::Messages(connections)) = plan.load.map(|load| load.protocol) else { panic!() };
        (connections.requests_per_connection, connections.tls)
    };
    assert_eq!(of(""), (Some(1), None));
    assert_eq!(of("keep_alive = yes"), (None, None));
    assert_eq!(of("keep_alive = 100"), (Some(100), None));
    let tls = |verify, alpn: &[&str]| {
        let alpn = alpn.iter().map(|name| (*name).to_owned()).collect();
        Some(Tls { verify, alpn, ..Tls::like_openssl() })
    };
    assert_eq!(of("tls = yes"), (Some(1), tls(false, &[])));
    assert_eq!(
        of("tls = yes\ntls_verify = yes\nhttp_line = GET / HTTP/1.1"),
        (Some(1), tls(true, &["http/1.1"]))
    );
}
