//! Orders, bytes and comparisons of requests.

use super::*;
use crate::answer::AnswerEnd;
use crate::channel::RequestContent;
use crate::request::Slots;
use crate::request::{Filling, Values};
use measure::Outcome;
use plan::data::{Data, Moment, Table};
use plan::{Field, Http1, RequestForm};
use std::net::SocketAddr;
use std::sync::Arc;
use wire::http1::ResponseSink;

pub(super) fn step(requests: Vec<Request>, body: ExpectBody) -> RequestStep {
    let requests = requests.into();
    RequestStep { requests, expect: Expect { body, ..Expect::default() }, ..RequestStep::default() }
}

fn nth(number: u64) -> Placing {
    Placing { number, user: 0, of: 1, turn: number }
}

fn models() -> Models {
    Models { control: Arc::new(Control::new(1, 1)), of: (0, 0), scenario: std::rc::Rc::default() }
}

fn plain(to: &[SocketAddr]) -> Targets<'_> {
    Destination { to, in_order: false, host: None, secure: None, tunnel: None }.into()
}

fn requests(step: &RequestStep) -> Requests {
    requests_over(step, &Http::default())
}

pub(super) fn requests_over(step: &RequestStep, http: &Http) -> Requests {
    let target = ["127.0.0.1:80".parse().unwrap()];
    Requests::new(step, http, plain(&target), &Hosts::new(), &Tables::new(), 1, models())
}

/// The bytes sent, by user 5 at 3 s after 1970.
fn written(requests: &Requests, number: u64, last: bool) -> String {
    let mut bytes = Vec::new();
    let prepared = requests.at(nth(number));
    let mut values = Values::default();
    let moment = Moment { number, user: 5, unix_us: 3_000_000, ..Moment::default() };
    values.slots.set(0, b"kept");
    prepared.write_with(last, &moment, 0, &mut values, &mut bytes);
    String::from_utf8(bytes).unwrap()
}

/// Over HTTP/2 a request of which only the block is remembered is sent without a body from then on, so it must have none.
#[test]
fn only_requests_that_send_nothing_behind_their_fields_are_one_block() {
    let http2 = Http { h2: Some(plan::Http2::default()), ..Http::default() };
    let chunked = vec![Field::new("Transfer-Encoding", "chunked")];
    for method in ["GET", "POST"] {
        for body in ["", "x"] {
            for (grpc, fields) in [(false, Vec::new()), (false, chunked.clone()), (true, Vec::new())] {
                let method = method.to_owned();
                let request =
                    Request { method, body: body.into(), grpc, fields, ..Request::get("http://h/") };
                let requests = requests_over(&step(vec![request.clone()], ExpectBody::Complete), &http2);
                let line = requests.at(nth(0));
                let mut sent = RequestContent::default();
                line.list(&Filling::NOTHING, &mut Default::default(), &mut sent).unwrap();
                assert_eq!(sent.length() as usize, body.len() + if grpc { 5 } else { 0 }, "{request:?}");
                assert_eq!(line.head_key().is_some(), sent.length() == 0, "{request:?}");
            }
        }
    }
}

#[test]
fn workers_compare_with_one_first_answer() {
    let step = step(vec![Request::get("http://h/")], ExpectBody::SameLength);
    let to = ["127.0.0.1:80".parse().unwrap()];
    let models = models();
    let worker = || {
        Requests::new(&step, &Http::default(), plain(&to), &Hosts::new(), &Tables::new(), 1, models.clone())
    };
    let answered = |worker: &Requests, length: u64| {
        let mut answer = RequestAnswer::new(worker.at(nth(0)), None);
        (answer.summary.status, answer.summary.body_bytes) = (200, length);
        answer.complete()
    };
    let one = worker();
    let other = worker();
    assert_eq!(answered(&one, 5), None);
    assert_eq!(answered(&other, 6), Some(measure::Fault::WrongLength));
    assert_eq!(answered(&other, 5), None);
}

#[test]
fn targets_and_bodies_are_sent_as_they_stand() {
    let request = Request { target: Some("/../a#b".to_owned()), ..Request::get("http://h/a") };
    let request = Request { method: "PUT".to_owned(), body: b"\xff\x00a".to_vec().into(), ..request };
    let http = Http { h1: Http1 { listed_fields_only: true, ..Http1::default() }, ..Http::default() };
    let to = ["127.0.0.1:80".parse().unwrap()];
    let step = step(vec![request], ExpectBody::Complete);
    let requests = Requests::new(&step, &http, plain(&to), &Hosts::new(), &Tables::new(), 1, models());
    let mut bytes = Vec::new();
    let filling = Filling { at: &Moment::default(), draws: &[], slots: &Slots::default() };
    requests.at(nth(0)).write(false, &filling, &mut bytes);
    assert_eq!(bytes, b"PUT /../a#b HTTP/1.1\r\n\r\n\xff\x00a");
}

#[test]
fn messages_are_written_once_and_say_when_they_are_the_last() {
    let agent = Field::new("X-A", "b");
    let get = Request { fields: vec![agent], ..Request::get("http://h:8/p?q") };
    let post = Request { method: "POST".to_owned(), body: "x=1".into(), ..Request::get("http://h/") };
    let requests = requests(&step(vec![get, post], ExpectBody::Complete));
    let text = |number, last| written(&requests, number, last);
    assert_eq!(text(0, false), "GET /p?q HTTP/1.1\r\nHost: h:8\r\nX-A: b\r\n\r\n");
    assert_eq!(
        text(1, true),
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nConnection: close\r\n\r\nx=1"
    );
    assert_eq!(text(2, false), text(0, false));
}

#[test]
fn fields_of_the_plan_decide_how_bodies_are_framed() {
    let post = |name: &str, value: &str, body: &str| {
        let field = Field::new(name, value);
        let request = Request {
            method: "POST".to_owned(),
            fields: vec![field],
            body: body.into(),
            ..Request::get("http://h/")
        };
        let requests =
            requests(&RequestStep { templates: true, ..step(vec![request], ExpectBody::Complete) });
        written(&requests, 3, false)
    };
    let head = "POST / HTTP/1.1\r\nHost: h\r\n";
    for (body, framed) in [
        ("{{request}} is it", "7\r\n3 is it\r\n0\r\n\r\n"),
        ("hi", "2\r\nhi\r\n0\r\n\r\n"),
        ("", "0\r\n\r\n"),
    ] {
        let expected = format!("{head}transfer-encoding: Chunked\r\n\r\n{framed}");
        assert_eq!(post("transfer-encoding", "Chunked", body), expected);
    }
    assert_eq!(post("content-length", "9", "hi"), format!("{head}content-length: 9\r\n\r\nhi"));
}

#[test]
fn bare_requests_carry_what_is_listed_and_nothing_else() {
    let field = |name: &str| Field::new(name, "1");
    let post = Request {
        method: "POST".to_owned(),
        body: "x".into(),
        fields: vec![field("B"), field("A")],
        ..Request::get("http://h/p")
    };
    let http = Http {
        h1: Http1 { listed_fields_only: true, version: plan::Http1Version::OneZero, ..Http1::default() },
        ..Http::default()
    };
    let to = ["127.0.0.1:80".parse().unwrap()];
    let requests = Requests::new(
        &step(vec![post], ExpectBody::Complete),
        &http,
        plain(&to),
        &Hosts::new(),
        &Tables::new(),
        1,
        models(),
    );
    for last in [false, true] {
        assert_eq!(written(&requests, 0, last), "POST /p HTTP/1.0\r\nB: 1\r\nA: 1\r\n\r\nx");
    }
}

#[test]
fn templates_are_filled_and_counted() {
    let csv = Table::from_csv("name,mail\nAda L,ada@x\nB&b,b@y\n").unwrap();
    let tables = Tables::from([("u.csv".to_owned(), Arc::new(csv))]);
    let file = Source::File(Rows { file: "u.csv".to_owned(), order: RowOrder::Once, ..Rows::default() });
    let field = Field::new("X-{{a}}", "{{user}} {{time}}");
    let request = Request {
        method: "POST".to_owned(),
        fields: vec![field],
        body: r#"{"to":"{{u.mail|json}}","n":{{int:1..9}}} {{int:1..9}} \{{"#.into(),
        ..Request::get("http://h/{{u.name}}?n={{request}}")
    };
    let step = RequestStep {
        templates: true,
        data: vec![Data::of("u", file)],
        ..step(vec![request], ExpectBody::Complete)
    };
    let to = ["127.0.0.1:80".parse().unwrap()];
    let requests = Requests::new(&step, &Http::default(), plain(&to), &Hosts::new(), &tables, 1, models());
    assert_eq!(requests.rows(), Some(2));
    assert!(!requests.at(nth(0)).is_fixed());
    let first = written(&requests, 0, true);
    let (head, body) = first.split_once("\r\n\r\n").unwrap();
    assert_eq!(
        head,
        format!(
            "POST /Ada%20L?n=0 HTTP/1.1\r\nHost: h\r\nX-{{{{a}}}}: 5 3\r\nContent-Length: {}\r\nConnection: close",
            body.len()
        )
    );
    let drawn = body.split_once("\"n\":").unwrap().1.as_bytes();
    assert!(body.starts_with(r#"{"to":"ada@x","n":"#) && body.ends_with(" {{"), "{body}");
    assert_eq!(drawn[0], drawn[3], "one name, one value: {body}");
    assert!(written(&requests, 1, false).starts_with("POST /B%26b?n=1 "));
    assert_eq!(written(&requests, 0, true), first);
}

#[test]
fn filling_a_template_allocates_nothing_once_its_buffers_have_grown() {
    let request = Request {
        body: "{{uuid}}{{text:100}}{{counter:1..5}}{{n}}{{int:1..5}}{{time:rfc3339}}{{time:http}}".into(),
        ..Request::get("http://h/{{counter}}/{{user}}?{{uuid}}")
    };
    let data = vec![Data::parse("n", "counter as %08ld").unwrap()];
    let step = RequestStep { templates: true, data, ..step(vec![request], ExpectBody::Complete) };
    let requests = requests(&step);
    let mut buffer = Vec::with_capacity(4096);
    let mut values = Values::default();
    let mut fill = |number| {
        buffer.clear();
        let at = &Moment { number, user: number, unix_us: number, ..Moment::default() };
        requests.at(nth(number)).write_with(false, at, 0, &mut values, &mut buffer);
    };
    fill(u64::MAX / 2);
    let counted = allocation_counter::measure(|| (0..1000).for_each(&mut fill));
    assert_eq!(counted.count_total, 0);
}

#[test]
fn values_of_answers_stand_in_later_requests() {
    use plan::answer::{Extract, IsoForm, Selector};
    let at = Selector::parse("json id", IsoForm::default()).unwrap();
    let extract = vec![Extract::of("id", at, None)];
    let login = Request { extract, ..Request::get("http://h/login") };
    let work = Request { body: "{{id|json}}".into(), ..Request::get("http://h/{{id}}") };
    let step = RequestStep { templates: true, ..step(vec![login, work], ExpectBody::Complete) };
    let requests = requests(&step);
    let mut values = Values::default();
    let mut answer = RequestAnswer::new(requests.at(nth(0)), None);
    answer.summary.status = 200;
    br#"{"id": "a \"b\""}"#.chunks(3).for_each(|piece| answer.body(piece));
    let outcome = answer.outcome(AnswerEnd::Complete);
    assert_eq!(answer.extract(outcome, std::time::Duration::ZERO, &mut values), Outcome::Ok);
    let mut bytes = Vec::new();
    requests.at(nth(1)).write_with(false, &Moment::default(), 0, &mut values, &mut bytes);
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.starts_with("GET /a%20%22b%22 HTTP/1.1") && text.ends_with(r#"a \"b\""#), "{text}");
    let mut answer = RequestAnswer::new(requests.at(nth(0)), None);
    answer.summary.status = 200;
    let outcome = answer.outcome(AnswerEnd::Complete);
    assert_eq!(
        answer.extract(outcome, std::time::Duration::ZERO, &mut values),
        Outcome::CheckFailed(measure::Fault::NoValue)
    );
}

#[test]
fn statuses_of_a_request_replace_those_of_all() {
    let other = Request { statuses: vec![plan::Status::Class(4)], ..Request::get("http://h/") };
    let mut step = step(vec![Request::get("http://h/"), other], ExpectBody::Complete);
    step.expect.statuses = vec![plan::Status::Is(200)];
    let requests = requests(&step);
    let takes = |number| [200, 404].map(|status| requests.at(nth(number)).expect.takes(status));
    assert_eq!([takes(0), takes(1)], [[true, false], [false, true]]);
}

#[test]
fn orders_of_a_list() {
    let list = |order, weights: &[u32]| {
        let request = |weight: &u32| Request { weight: *weight, ..Request::get("http://h/") };
        let step = RequestStep { order, ..step(weights.iter().map(request).collect(), ExpectBody::Complete) };
        requests(&step)
    };
    let drawn = list(RequestOrder::Weighted, &[3, 0, 1]);
    let mut seen = [0.0; 3];
    (0..10_000).for_each(|number| seen[drawn.at(nth(number)).index] += 1e-4);
    assert!((seen[0] - 0.75_f64).abs() < 0.02 && seen[1] == 0.0, "{seen:?}");
    let walked = list(RequestOrder::PerUser, &[1; 7]);
    let of_user = |user| [0, 1, 5].map(|turn| walked.at(Placing { number: 9, user, of: 3, turn }).index);
    assert_eq!([of_user(0), of_user(1), of_user(2)], [[0, 1, 5], [2, 3, 0], [4, 5, 2]]);
    let sliced = list(RequestOrder::Slices, &[1; 7]);
    for of in [1, 2, 3, 7, 20] {
        let mut sent = Vec::new();
        for user in 0..of {
            let places = (0..).map(|turn| Placing { number: 9, user, of, turn });
            let places = places.take_while(|place| !sliced.is_over_for(*place));
            sent.extend(places.map(|place| sliced.at(place).index));
        }
        assert_eq!(sent, [0, 1, 2, 3, 4, 5, 6], "{of} users");
    }
    let more_users = Placing { number: 9, user: 8, of: 20, turn: 3 };
    assert_eq!(walked.at(more_users).index, 3);
}

#[test]
fn a_host_field_of_the_users_own_stands_alone_and_proxies_get_whole_urls() {
    let host = Field::new("host", "other");
    let http = Http {
        fields: vec![host],
        h1: Http1 { form: RequestForm::Forward, ..Http1::default() },
        ..Http::default()
    };
    let step = step(vec![Request::get("http://h:8/p")], ExpectBody::Complete);
    let requests = Requests::new(
        &step,
        &http,
        plain(&["127.0.0.1:80".parse().unwrap()]),
        &Hosts::new(),
        &Tables::new(),
        1,
        models(),
    );
    assert_eq!(written(&requests, 0, false), "GET http://h:8/p HTTP/1.1\r\nhost: other\r\n\r\n");
}

#[test]
fn hosts_that_are_not_known_are_left_out() {
    let step = step(vec![Request::get("http://h/"), Request::get("http://i/")], ExpectBody::Complete);
    let hosts = Hosts::from([(("i".to_owned(), 80), vec!["127.0.0.2:80".parse().unwrap()])]);
    let requests = Requests::new(&step, &Http::default(), plain(&[]), &hosts, &Tables::new(), 1, models());
    assert_eq!(requests.lines.len(), 1);
    assert_eq!(requests.at(nth(5)).destination.to, ["127.0.0.2:80".parse().unwrap()]);
}

#[test]
fn https_urls_begin_tls_with_their_host() {
    let step = step(vec![Request::get("https://h/"), Request::get("http://h/")], ExpectBody::Complete);
    let at = |port| (("h".to_owned(), port), vec![SocketAddr::from(([127, 0, 0, 1], port))]);
    let hosts = Hosts::from([at(80), at(443)]);
    let requests = Requests::new(&step, &Http::default(), plain(&[]), &hosts, &Tables::new(), 1, models());
    let seen = [0, 1].map(|number| {
        (
            requests.at(nth(number)).destination.to[0].port(),
            requests.at(nth(number)).prepared().destination().secure,
        )
    });
    assert_eq!(seen, [(443, Some("h")), (80, None)]);
}

/// The finding on the second answer after a first one.
fn second(expect: ExpectBody, first: &[u8], second: &[u8]) -> (Option<measure::Fault>, String) {
    let requests = requests(&step(vec![Request::get("http://h/")], expect));
    let mut found = (None, String::new());
    for body in [first, second] {
        let mut answer = RequestAnswer::new(requests.at(nth(0)), None);
        answer.summary.status = 200;
        body.chunks(2).for_each(|piece| answer.body(piece));
        found = (answer.complete(), answer.detail());
    }
    found
}

#[test]
fn answers_are_compared_with_the_first() {
    use measure::Fault::{WrongBytes, WrongLength};
    for (expect, body, fault) in [
        (ExpectBody::Complete, "other", None),
        (ExpectBody::SameLength, "12346", None),
        (ExpectBody::SameLength, "1234", Some(WrongLength)),
        (ExpectBody::Same, "12345", None),
        (ExpectBody::Same, "12346", Some(WrongBytes)),
        (ExpectBody::Same, "1234", Some(WrongLength)),
        (ExpectBody::Same, "123456", Some(WrongLength)),
    ] {
        assert_eq!(second(expect, b"12345", body.as_bytes()).0, fault, "{expect:?} {body}");
    }
    assert_eq!(
        second(ExpectBody::Same, b"12345", b"12x45").1,
        "byte 2 differs from that of the first answer"
    );
}
