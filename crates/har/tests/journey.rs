//! HAR files as browsers write them become plans.

use har::{Choice, Converted, Recording, Static};
use plan::{Step, Transaction};
use serde_json::{Value, json};

fn choice() -> Choice {
    Choice { hosts: Vec::new(), statics: Static::Group, pauses: true, seed: 7 }
}

/// An entry that began at a second of a minute.
fn entry(second: f64, method: &str, url: &str, kind: &str, answer: &str) -> Value {
    json!({
        "startedDateTime": format!("2026-11-22T10:00:{second:06.3}+01:00"), "time": 50.5,
        "request": {
            "method": method, "url": url, "httpVersion": "http/2.0",
            "headers": [
                { "name": ":authority", "value": "shop.test" },
                { "name": "User-Agent", "value": "Browser/1.0" },
                { "name": "Cookie", "value": "sid=12345678" },
            ],
        },
        "response": {
            "status": 200, "headers": [{ "name": "Content-Type", "value": kind }],
            "content": { "mimeType": kind, "text": answer },
        },
    })
}

fn file(entries: Vec<Value>) -> Vec<u8> {
    let mut text = b"\xef\xbb\xbf".to_vec();
    text.extend(serde_json::to_vec(&json!({ "log": { "version": "1.2", "entries": entries } })).unwrap());
    text
}

fn converted(entries: Vec<Value>, choice: &Choice) -> Converted {
    let converted = Recording::from_har(&file(entries)).unwrap().journey(choice);
    assert_eq!(converted.plan.check(), Vec::<String>::new(), "{}", converted.plan.to_text());
    let back = plan::Plan::from_text(&converted.plan.to_text()).unwrap();
    assert_eq!(back, converted.plan, "{}", converted.plan.to_text());
    converted
}

/// A form with a token, that is sent; a list, an item of which is looked at.
fn shop() -> Vec<Value> {
    let page = "<html>\n<form><input name=\"csrf\" value=\"tok-8f3a91\"><input name=q></form>\n</html>";
    let mut sent = entry(
        12.0,
        "POST",
        "https://shop.test/login?next=/items",
        "application/json",
        "{\"items\":[{\"id\":\"a7c9e1\"}]}",
    );
    sent["request"]["headers"].as_array_mut().unwrap().extend([
        json!({ "name": "Content-Type", "value": "application/x-www-form-urlencoded" }),
        json!({ "name": "X-CSRF-Token", "value": "tok-8f3a91" }),
        json!({ "name": "Content-Length", "value": "35" }),
    ]);
    sent["request"]["postData"] =
        json!({ "mimeType": "application/x-www-form-urlencoded", "text": "user=ada&csrf=tok-8f3a91" });
    vec![
        entry(1.0, "GET", "https://shop.test/", "text/html; charset=utf-8", page),
        entry(1.2, "GET", "https://shop.test/a.css", "text/css", "a{}"),
        entry(1.1, "GET", "https://cdn.test/lib.js", "text/javascript", ""),
        entry(1.3, "GET", "https://shop.test/b.js", "application/javascript", ""),
        sent,
        entry(12.5, "GET", "https://shop.test/items/a7c9e1?x=1", "application/json", "{}"),
    ]
}

#[test]
fn values_of_answers_are_kept_and_sent_back() {
    let text = converted(shop(), &choice()).plan.to_text();
    for part in [
        "body = \"user=ada&csrf={{csrf|form}}\"",
        "url = \"https://shop.test/items/{{id|path}}?x=1\"",
        "name = \"X-CSRF-Token\"\nvalue = \"{{csrf}}\"",
        "json = \"items[0].id\"",
        "cookies = true",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    assert!(text.contains("before = '<input name=\"csrf\" value=\"'"), "{text}");
    for part in ["tok-8f3a91", "a7c9e1", "12345678", ":authority", "Content-Length"] {
        assert!(!text.contains(part), "{part} is in\n{text}");
    }
}

#[test]
fn hosts_are_chosen_and_what_pages_need_is_grouped() {
    let made = converted(shop(), &choice());
    assert!(
        made.notes.iter().any(|note| note.contains("1 requests to cdn.test; --host cdn.test")),
        "{:?}",
        made.notes
    );
    assert_eq!(made.plan.load.as_ref().unwrap().phases[0].sends().len(), 5);
    let labels = made.plan.load.unwrap().phases[0].labels();
    assert_eq!(labels, ["page /", "GET /", "static /", "page /login", "POST /login", "GET /items/{id}"]);
    let all = Choice { hosts: vec!["*".to_owned()], statics: Static::Keep, ..choice() };
    let labels = converted(shop(), &all).plan.load.unwrap().phases[0].labels();
    assert!(
        labels.contains(&"GET /lib.js".to_owned()) && labels.contains(&"GET /a.css".to_owned()),
        "{labels:?}"
    );
    let without = Choice { statics: Static::Drop, ..choice() };
    assert_eq!(converted(shop(), &without).plan.load.unwrap().phases[0].sends().len(), 3);
}

#[test]
fn the_time_between_pages_is_kept_unless_it_is_not_wanted() {
    let pauses = |choice: &Choice| {
        let plan = converted(shop(), choice).plan;
        let steps = plan.load.unwrap().phases[0].scenario.steps.clone();
        steps.into_iter().filter(|step| matches!(step, Step::Pause(_))).collect::<Vec<_>>()
    };
    // From 1.35 s, where the last answer had come, to 12 s.
    assert!(format!("{:?}", pauses(&choice())).contains("10.65s"), "{:?}", pauses(&choice()));
    assert_eq!(pauses(&Choice { pauses: false, ..choice() }), []);
}

#[test]
fn what_was_never_sent_is_left_out_and_told() {
    let mut entries = shop();
    let mut odd = |change: &dyn Fn(&mut Value)| {
        let mut one = entry(2.0, "GET", "https://shop.test/odd", "text/plain", "");
        change(&mut one);
        entries.push(one);
    };
    odd(&|one| one["_fromCache"] = json!("memory"));
    odd(&|one| one["request"]["url"] = json!("data:text/plain,x"));
    odd(&|one| one["request"]["url"] = json!("wss://shop.test/live"));
    odd(&|one| one["response"]["status"] = json!(0));
    odd(&|one| one["response"]["status"] = json!("-1"));
    odd(&|one| one["request"] = json!(5));
    odd(&|one| one["request"]["method"] = json!("GET x"));
    let made = converted(entries, &choice());
    let told = made.notes.join("\n");
    for part in [
        "1 of its entries: answered by the browser's own cache",
        "2 of its entries: neither http",
        "2 of its entries: blocked",
    ] {
        assert!(told.contains(part), "{part} is not in {told}");
    }
    assert_eq!(made.plan.load.unwrap().phases[0].sends().len(), 5);
}

#[test]
fn bodies_that_are_no_text_are_read() {
    let mut one = entry(1.0, "POST", "http://shop.test/up", "text/plain", "");
    one["request"]["postData"] = json!({ "mimeType": "x", "text": "PLACE" });
    one["response"]["content"] = json!({ "mimeType": "image/png", "text": "AAEC/w==", "encoding": "base64" });
    let whole = String::from_utf8(file(vec![one])).unwrap();
    // As Chromium writes them: halves of surrogate pairs.
    let lone = whole.replace("PLACE", "a\\ud800b\\ud83d\\ude00\\\\udc00c");
    let read = Recording::from_har(lone.as_bytes()).unwrap();
    assert_eq!(read.exchanges[0].body, "a\u{fffd}b\u{1f600}\\udc00c".as_bytes());
    assert_eq!(read.exchanges[0].answer, [0, 1, 2, 255]);
    let params = whole
        .replace("\"text\":\"PLACE\"", "\"text\":\"\",\"params\":[{\"name\":\"a b\",\"value\":\"1&2\"}]");
    let params = params.replace("\"mimeType\":\"x\"", "\"mimeType\":\"application/x-www-form-urlencoded\"");
    assert_eq!(Recording::from_har(params.as_bytes()).unwrap().exchanges[0].body, b"a+b=1%262");
}

#[test]
fn what_is_no_recording_is_refused() {
    for (text, said) in [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[]", "no log"),
        ("{\"log\": {\"entries\": 5}}", "no log"),
        ("{\"log\": {\"entries\": []}}", "none of its 0 entries"),
        ("{\"log\": {\"entries\": [null]}}", "none of its 1 entries"),
        ("{\"log\": {\"entries\": [null]}}", "again: 1 of its entries: no URL that can be read"),
    ] {
        let told = Recording::from_har(text.as_bytes()).unwrap_err().to_string();
        assert!(told.contains(said), "{text}: {told}");
    }
}

#[test]
fn braces_of_a_recording_stay_braces() {
    let mut entries = shop();
    entries[5]["request"]["url"] = json!("https://shop.test/items/a7c9e1?x={{y}}");
    let made = converted(entries, &choice());
    let text = made.plan.to_text();
    assert!(text.contains("items/{{id|path}}?x="), "{text}");
    let is_transaction = |step: &Step| matches!(step, Step::Transaction(Transaction { .. }) | Step::Pause(_));
    assert!(made.plan.load.unwrap().phases[0].scenario.steps.iter().all(is_transaction));
}

/// A request with a body of parts, as programs write it that keep no text.
fn parts(headers: &Value, kind: &str) -> Value {
    let mut one = entry(1.0, "POST", "http://shop.test/up", "text/plain", "");
    one["request"]["headers"] = headers.clone();
    one["request"]["postData"] = json!({ "mimeType": kind, "params": [
        { "name": "ti\"tle", "value": "t" },
        { "name": "file", "fileName": "a.txt", "contentType": "text/plain", "value": "content" },
        { "name": "other", "fileName": "b.bin" },
    ]});
    one
}

#[test]
fn parts_of_forms_are_sent_though_they_have_no_text() {
    let kind = "multipart/form-data; boundary=XX";
    let body = "--XX\r\nContent-Disposition: form-data; name=\"ti%22tle\"\r\n\r\nt\r\n\
        --XX\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\ncontent\r\n\
        --XX\r\nContent-Disposition: form-data; name=\"other\"; filename=\"b.bin\"\r\n\r\n\r\n--XX--\r\n";
    for headers in [json!([{ "name": "content-type", "value": kind }]), json!([])] {
        let read = Recording::from_har(&file(vec![parts(&headers, kind)])).unwrap();
        assert_eq!(String::from_utf8_lossy(&read.exchanges[0].body), body);
        assert_eq!(read.exchanges[0].field("Content-Type"), Some(kind));
        assert_eq!(
            read.left_out,
            ["1 of its entries: files in forms whose contents are not in it, sent empty"]
        );
    }
    // A type without a mark between the parts gets one.
    let read = Recording::from_har(&file(vec![parts(&json!([]), "multipart/form-data")])).unwrap();
    let said = read.exchanges[0].field("Content-Type").unwrap();
    let (_, boundary) = said.split_once("multipart/form-data; boundary=").unwrap();
    assert_eq!(String::from_utf8_lossy(&read.exchanges[0].body), body.replace("XX", boundary));
}

#[test]
fn a_type_beside_the_body_alone_is_sent() {
    let sent = |data: Value| {
        let mut one = entry(1.0, "POST", "http://shop.test/up", "text/plain", "");
        one["request"]["postData"] = data;
        one["request"]["bodySize"] = json!(5);
        let read = Recording::from_har(&file(vec![one])).unwrap();
        let kind = read.exchanges[0].field("Content-Type").map(str::to_owned);
        (kind, String::from_utf8_lossy(&read.exchanges[0].body).into_owned(), read.left_out.join("; "))
    };
    let kind = |kind: &str| Some(kind.to_owned());
    let told = |data| sent(data).2;
    assert_eq!(
        sent(json!({ "mimeType": "application/json", "text": "{}" })),
        (kind("application/json"), "{}".to_owned(), String::new())
    );
    let pairs = json!([{ "name": "a", "value": "1 2" }]);
    assert_eq!(
        sent(json!({ "params": pairs })),
        (kind("application/x-www-form-urlencoded"), "a=1+2".to_owned(), String::new())
    );
    assert_eq!(sent(json!({ "mimeType": "", "text": "x" })), (None, "x".to_owned(), String::new()));
    // What the file does not hold is told.
    assert_eq!(
        told(json!({ "mimeType": "x/y", "params": pairs })),
        "1 of its entries: parameters that are no form, which are not sent"
    );
    assert_eq!(told(json!({})), "1 of its entries: a body that the file does not hold, sent without one");
    let wrong = json!({ "mimeType": "x/y", "text": "%%", "encoding": "base64" });
    assert_eq!(told(wrong), "1 of its entries: a body that is not base64 and is to be, sent without one");
}

#[test]
fn bodies_with_a_password_are_secrets_of_the_plan() {
    let mut one = entry(1.0, "POST", "http://shop.test/login?token=geheim3", "text/plain", "");
    let mut other = one.clone();
    one["request"]["postData"] =
        json!({ "mimeType": "application/json", "text": "{\"password\":\"geheim1\"}" });
    other["request"]["postData"] =
        json!({ "mimeType": "application/x-www-form-urlencoded", "text": "user=me&password=geheim2" });
    let recording = Recording::from_har(&file(vec![one, other])).unwrap();
    let made = recording.journey(&choice());
    let text = made.plan.to_text();
    assert!(!text.contains("geheim"), "{text}");
    assert!(
        text.contains("/login?token={{secret_token|url}}") && text.contains("env:WRINGER_SECRET_3"),
        "{text}"
    );
    assert_eq!(made.plan.check(), Vec::<String>::new());
    assert!(!made.notes.iter().any(|note| note.contains("holds a secret")), "{:?}", made.notes);
}

/// A browser sends them as Basic authentication; no URL of a plan holds them.
#[test]
fn names_and_passwords_of_urls_are_credentials() {
    let url = "http://me:gehe%69m@shop.test/items";
    let mut other = entry(2.0, "GET", url, "text/plain", "");
    other["request"]["headers"] = json!([{ "name": "authorization", "value": "Bearer x" }]);
    let recording =
        Recording::from_har(&file(vec![entry(1.0, "GET", url, "text/plain", ""), other])).unwrap();
    let made = recording.journey(&choice());
    assert_eq!(made.plan.check(), Vec::<String>::new());
    let text = made.plan.to_text();
    assert!(!text.contains("gehe") && !text.contains("me:"), "{text}");
    assert_eq!(text.matches("name = \"me\"").count(), 1, "what was sent itself comes first: {text}");
    assert_eq!(text.matches("\"http://shop.test/items\"").count(), 2, "{text}");
    assert_eq!(made.notes, Vec::<String>::new());
}

#[test]
fn requests_without_an_answer_are_sent() {
    let mut one = entry(1.0, "GET", "http://shop.test/a", "text/plain", "");
    let mut other = one.clone();
    one.as_object_mut().unwrap().remove("response");
    other["response"] = json!({});
    let made = converted(vec![one, other], &choice());
    assert_eq!(made.plan.load.unwrap().phases[0].sends().len(), 2);
    assert_eq!(made.notes, ["2 of its entries: no answer recorded: sent, and any status below 400 is good"]);
}

#[test]
fn files_of_windows_are_read() {
    let text = serde_json::to_string(&json!({ "log": { "entries": shop() } })).unwrap();
    let units: Vec<u16> = text.encode_utf16().collect();
    let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
    let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
    for bytes in
        [[b"\xff\xfe", little.as_slice()].concat(), [b"\xfe\xff", big.as_slice()].concat(), little, big]
    {
        assert_eq!(Recording::from_har(&bytes).unwrap().exchanges.len(), 6);
    }
}
