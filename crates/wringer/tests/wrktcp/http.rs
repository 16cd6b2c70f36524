//! HTTP mode: what is sent, and what of answers is good.

use crate::mock::{Mock, Peer, Serve};
use crate::{assert_has, common, test, wrktcp};

const GOOD: &str = r#"{"rspCd":"0000","rspMsg":"ok"}"#;
const JSON: &str =
    "[response]\nrsp_code_type = json\nrsp_code_location_tag = \"rspCd\"\nrsp_code_success = 0000";

fn post(mock: &Mock) -> String {
    let request =
        "req_head = Host: www.example.com\nreq_head = Content-Length: $(length)\nreq_body = {\"a\":\"$(C)\"}";
    let counter = "[parameters]\nC = COUNTER, 1, 9, 1, %0100ld";
    common(mock, "http_line = POST /pay HTTP/1.1", &format!("{request}\n{JSON}\n{counter}"))
}

#[test]
fn post_sends_the_fields_in_order_and_the_length_of_the_body_that_is_sent() {
    let mock = Mock::new(|peer| {
        peer.request()?;
        peer.respond("200 OK", GOOD)
    });
    let ran = test(&post(&mock));
    let body = format!("{{\"a\":\"{:0100}\"}}", 1);
    let head = "POST /pay HTTP/1.1\r\nHost: www.example.com\r\nContent-Length: 108\r\n\r\n";
    assert_eq!(mock.first(), format!("{head}{body}"));
    assert_has(&ran.stdout, "TPS:1.00/0.00");
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\n{GOOD}");
    assert_has(&ran.stdout, &format!("WHILE READ:[{answer}],cno[10001]\n"));
    let told =
        format!("RESPONSE_HEAD:[HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\n],RESPONSE_BODY[{GOOD}],cno");
    assert_has(&ran.stdout, &told);
}

#[test]
fn a_get_without_a_body_is_sent_and_judged_by_its_status() {
    for (status, report) in [("200 OK", "(Success:"), ("404 Not Found", "  Failure responses: 1\n")] {
        let mock = Mock::new(move |peer: &mut Peer| {
            peer.request()?;
            peer.respond(status, "")
        });
        let ran = test(&common(&mock, "http_line = GET /a?b=c HTTP/1.1", "req_head = Accept: */*"));
        let at = mock.address;
        assert_eq!(mock.first(), format!("GET /a?b=c HTTP/1.1\r\nAccept: */*\r\nHost: {at}\r\n\r\n"));
        assert_has(&ran.stdout, report);
        assert_eq!(ran.stdout.contains("Failure responses"), status != "200 OK", "{}", ran.stdout);
    }
}

#[test]
fn a_good_body_does_not_make_up_for_a_bad_status() {
    let mock = Mock::new(|peer| {
        peer.request()?;
        peer.respond("500 Oops", GOOD)
    });
    let ran = test(&post(&mock));
    assert_has(&ran.stdout, "rsp_code[500] != [0000] \n");
    assert_has(&ran.stdout, "  Failure responses: 1\n");
    assert_has(&ran.stderr, "wrktcp: 1 x code 500\n");
}

#[test]
fn bodies_come_in_all_ways() {
    let ways: [(Serve, &str); 5] = [
        (
            |peer| {
                peer.request()?;
                let first =
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nf\r\n{\"rspCd\":\"0000\"\r\n";
                peer.say_in_pieces(&[first.as_bytes(), b"e\r\n,\"rspMsg\":\"ok\"\r\n1\r\n}\r\n0\r\n\r\n"])
            },
            "TPS:1.00/0.00",
        ),
        (
            |peer| {
                peer.request()?;
                peer.say(format!("HTTP/1.1 200 OK\r\n\r\n{GOOD}").as_bytes())
            },
            "TPS:1.00/0.00",
        ),
        (
            |peer| {
                peer.request()?;
                peer.say(b"HTTP/1.1 100 Continue\r\n\r\n")?;
                peer.respond("200 OK", GOOD)
            },
            "TPS:1.00/0.00",
        ),
        // Without a code in them.
        (
            |peer| {
                peer.request()?;
                peer.say(b"HTTP/1.1 204 No Content\r\n\r\n")
            },
            "TPS:0.00/1.00",
        ),
        (
            |peer| {
                peer.request()?;
                peer.respond("200 OK", "{\"foo\":1}")
            },
            "TPS:0.00/1.00",
        ),
    ];
    for (serve, told) in ways {
        assert_has(&test(&post(&Mock::new(serve))).stdout, told);
    }
}

#[test]
fn what_is_no_http_is_a_read_error() {
    let mock = Mock::new(|peer| {
        peer.request()?;
        peer.say(b"00000008000000OK\r\n\r\n")
    });
    let ran = test(&post(&mock));
    assert_has(&ran.stdout, "  Socket errors: connect 0, read 1, write 0, timeout 0\n");
}

#[test]
fn kept_connections_end_where_the_server_says_so() {
    let mock = Mock::new(|peer| {
        loop {
            peer.request()?;
            peer.say(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")?;
        }
    });
    let ini = common(&mock, "http_line = GET / HTTP/1.1\nkeep_alive = yes", "");
    wrktcp(&ini, "-d1s -c2 t.ini");
    assert_eq!(mock.connections(), 2);
}
