//! The control path.

use origin::{OriginSettings, OriginShared};
use plan::Site;
use plan::site::SiteForm;

use crate::helpers::{TestOrigin, get};

#[test]
fn the_accounts_can_be_asked_for() {
    let origin = TestOrigin::native();
    let mut client = origin.connect();
    client.get("/w/1/10");
    for path in ["/.wringer/accounts", "/.wringer/accounts?now", "http://any:1/.wringer/accounts?x=1"] {
        let reply = client.get(path);
        assert_eq!(reply.field("Cache-Control"), Some("no-store"));
        let json = String::from_utf8(reply.body).unwrap();
        assert!(
            json.starts_with("{\"counts\": {\"connections\": 1, \"closed\": 0, \"requests\": 1, "),
            "{json}"
        );
        let site = format!("\"site\": \"{:016x}\", \"instance\": \"", Site::default().fingerprint());
        let (_, rest) = json.split_once(&site).expect("the site and the instance follow the counts");
        let (instance, end) = rest.split_once('"').expect("the instance has a name");
        assert!(instance.len() == 16 && instance.bytes().all(|byte| byte.is_ascii_hexdigit()), "{json}");
        assert_eq!(end, ", \"workers\": 1}\n");
    }
}

#[test]
fn an_exchange_can_be_asked_for() {
    let origin = TestOrigin::native();
    let mut client = origin.connect();
    let request = get("/w/1/10", "Cookie: a=b\r\n");
    let reply = client.ask(&request);
    let serial = reply.stamp().serial;
    let evidence = client.get(&format!("/.wringer/exchange/{serial:x}"));
    assert_eq!(String::from_utf8(evidence.body).unwrap(), format!("{request}{}", reply.head));
    let remembered = origin::remembered(&origin.shared, serial).unwrap();
    assert_eq!(remembered.request, request.as_bytes());
    assert_eq!(remembered.response, reply.head.as_bytes());
    for none in ["exchange/0", "exchange/2", "exchange/xyz", "exchange/", "else", ""] {
        assert_eq!(client.get(&format!("/.wringer/{none}")).status, 404, "{none}");
    }
    assert_eq!(origin.counts().requests, 1, "questions do not count");
    assert_eq!(client.ask("HEAD /.wringer/accounts HTTP/1.1\r\nHost: x\r\n\r\n").status, 200);
    assert_eq!(client.ask("DELETE /.wringer/accounts HTTP/1.1\r\nHost: x\r\n\r\n").status, 405);
}

#[test]
fn serial_numbers_belong_to_one_worker_and_any_worker_finds_them() {
    let settings = OriginSettings {
        site: Site::default(),
        behaviour: plan::Origin::default(),
        seed: 1,
        tls: None,
        follow: false,
    };
    let shared = OriginShared::new(settings, 3);
    let mut known = Vec::new();
    for worker in [0, 1, 2, 1] {
        let origin = TestOrigin::start_worker(shared.clone(), worker, None);
        let mut client = origin.connect();
        let serials: Vec<u64> = (0..3).map(|_| client.get("/w/1/10").stamp().serial).collect();
        assert!(serials.iter().all(|serial| *serial > 0 && serial % 3 == u64::from(worker)), "{serials:?}");
        known.extend(serials);
        for serial in &known {
            assert_eq!(client.get(&format!("/.wringer/exchange/{serial:x}")).status, 200);
        }
    }
    assert_eq!(shared.accounts.read().requests, 12);
}

#[test]
fn long_heads_are_remembered_by_their_beginning() {
    let origin = TestOrigin::native();
    let request = get("/w/1/10", &format!("X: {}\r\n", "y".repeat(3000)));
    let serial = origin.ask(&request).stamp().serial;
    let remembered = origin::remembered(&origin.shared, serial).unwrap();
    assert_eq!(remembered.request, request.as_bytes()[..origin::HEAD_KEPT]);
}

#[test]
fn old_exchanges_are_forgotten() {
    let origin = TestOrigin::start(Site::default(), plan::Origin { remember: 2, ..plan::Origin::default() });
    let mut client = origin.connect();
    let serials: Vec<u64> = (0..3).map(|_| client.get("/w/1/10").stamp().serial).collect();
    let known = |serial| origin::remembered(&origin.shared, serial).is_some();
    assert_eq!(serials.into_iter().map(known).collect::<Vec<_>>(), [false, true, true]);
}

#[test]
fn the_jtest_form_answers_questions_too() {
    let site = Site { form: SiteForm::Jtest(plan::jtest::JtestForm::default()), ..Site::default() };
    let origin = TestOrigin::start(site, plan::Origin::default());
    let mut client = origin.connect();
    client.get("/0.5/50");
    let reply = client.ask("GET http://x:80/.wringer/accounts HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    assert!(String::from_utf8(reply.body).unwrap().contains("\"requests\": 1,"));
    let reply = client.get("/.wringer/exchange/1");
    assert!(String::from_utf8(reply.body).unwrap().contains("\r\n\r\nHTTP/1.0 200 OK\r\n"));
}
