//! Golden text of each layout, from figures that are made up.

use super::*;
use measure::event::HeadTitle;
use measure::{Exchange, Outcome, Record, RequestTimes};

fn asked() -> AbAsked {
    AbAsked {
        hostname: "h".to_owned(),
        port: 81,
        path: "/p?q".to_owned(),
        proxy: None,
        secure: false,
        server_name: None,
        concurrency: 2,
        requests: 4,
        time_limit: None,
        any_length: false,
        keep_alive: false,
        has_body: false,
        percentiles: true,
        confidence: true,
        survives: false,
    }
}

fn us(us: u64) -> Duration {
    Duration::from_micros(us)
}

/// A phase of requests that took so many µs, connecting another 1200; each with a status and an outcome.
fn phase(requests: &[(u64, u16, Outcome)]) -> PhaseResult {
    let mut phase = PhaseResult::new("measure", true);
    for (place, (time, status, outcome)) in (1..).zip(requests) {
        phase.tally.exchange(&Exchange {
            status: *status,
            service: us(*time),
            response: us(*time),
            sent_bytes: 50,
            head_bytes: 100,
            body_bytes: 1000,
            ..Exchange::new(*outcome, us(0))
        });
        phase.tally.gather(&RequestTimes {
            connect: us(1200),
            processing: us(*time),
            waiting: us(time / 2),
            kept: place % 2 == 0,
            ended: us(place * 5_000),
        });
    }
    phase
}

fn failed(kind: FailureKind, stage: Stage) -> Outcome {
    Outcome::Failed(Failure::new(kind, stage))
}

fn first() -> Option<First> {
    let head = b"HTTP/1.1 200 OK\r\nserver: My <Srv/1\r\n\r\n".to_vec();
    Some(First { at: us(1), head, body_bytes: 1000 })
}

fn seen(asked: &AbAsked, requests: &[(u64, u16, Outcome)]) -> AbSeen {
    AbSeen { first: first(), ..AbSeen::new(&phase(requests), asked, false) }
}

const GOOD: [(u64, u16, Outcome); 4] = [
    (3_000, 200, Outcome::Ok),
    (9_000, 200, Outcome::Ok),
    (4_000, 404, Outcome::Ok),
    (5_499, 200, Outcome::Ok),
];

#[test]
fn the_text_report() {
    let expected = "

Server Software:        My
Server Hostname:        h
Server Port:            81

Document Path:          /p?q
Document Length:        1000 bytes

Concurrency Level:      2
Time taken for tests:   0.020 seconds
Complete requests:      4
Failed requests:        0
Non-2xx responses:      1
Total transferred:      4400 bytes
HTML transferred:       4000 bytes
Requests per second:    200.00 [#/sec] (mean)
Time per request:       10.000 [ms] (mean)
Time per request:       5.000 [ms] (mean, across all concurrent requests)
Transfer rate:          214.84 [Kbytes/sec] received

Connection Times (ms)
              min  mean[+/-sd] median   max
Connect:        1    1   0.0      1       1
Processing:     3    5   2.6      5       9
Waiting:        2    3   1.3      2       5
Total:          4    7   2.6      6      10

Percentage of the requests served within a certain time (ms)
  50%      7
  66%      7
  75%     10
  80%     10
  90%     10
  95%     10
  98%     10
  99%     10
 100%     10 (longest request)
";
    let asked = asked();
    assert_eq!(text(&asked, &seen(&asked, &GOOD)), expected);
}

#[test]
fn lines_that_come_only_where_they_say_something() {
    let requests = [
        (1_000, 0, failed(FailureKind::Refused, Stage::Connect)),
        (1_000, 0, failed(FailureKind::NotTls, Stage::Tls)),
        (1_000, 0, failed(FailureKind::Reset, Stage::Send)),
        (1_000, 200, failed(FailureKind::ClosedEarly, Stage::Body)),
        (1_000, 0, failed(FailureKind::NotHttp, Stage::Head)),
        (1_000, 200, Outcome::CheckFailed(Fault::WrongLength)),
    ];
    let asked = AbAsked {
        keep_alive: true,
        has_body: true,
        any_length: true,
        percentiles: false,
        confidence: false,
        requests: 6,
        proxy: Some("p:8".to_owned()),
        ..asked()
    };
    let report = text(&asked, &seen(&asked, &requests));
    for part in [
        "Document Length:        Variable\n",
        "Complete requests:      6\nFailed requests:        6\n   (Connect: 2, Receive: 1, Length: 1, Exceptions: 2)\n\
         Write errors:           1\nKeep-Alive requests:    3\nTotal transferred:      6600 bytes\n\
         Total body sent:        300\nHTML transferred:       6000 bytes\n",
        "Transfer rate:          214.84 [Kbytes/sec] received\n                        9.77 kb/s sent\n\
         \x20                       224.61 kb/s total\n",
        "\nConnection Times (ms)\n              min   avg   max\nConnect:        1     1    1\n",
    ] {
        assert!(report.contains(part), "{part}\n in\n{report}");
    }
    assert!(!report.contains("Percentage") && report.ends_with("Total:          2     2    2\n"), "{report}");
    assert_eq!(begin(&asked, false), "Benchmarking h [through p:8] (be patient)...");
    assert_eq!(begin(&super::tests::asked(), true), "Benchmarking h (be patient)\n");
}

#[test]
fn nothing_done_leaves_the_figures_out() {
    let asked = asked();
    let report = text(&asked, &AbSeen::new(&phase(&[]), &asked, true));
    assert!(report.ends_with("HTML transferred:       0 bytes\n"), "{report}");
}

#[test]
fn tls_lines() {
    let asked = AbAsked { secure: true, server_name: Some("h".to_owned()), ..asked() };
    let tls = |tls13, suite, group| FirstTls { at: us(1), tls13, suite, group, key_bits: Some(2048) };
    let lines = |tls: FirstTls, name: &str| {
        let seen = AbSeen { tls: Some((tls, name.to_owned())), ..seen(&asked, &GOOD) };
        text(&asked, &seen).lines().skip(5).take(3).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(
        lines(tls(true, 0x1302, Some(0x1D)), "TLS_AES_256_GCM_SHA384"),
        "SSL/TLS Protocol:       TLSv1.3,TLS_AES_256_GCM_SHA384,2048,256\n\
         Server Temp Key:        X25519 253 bits\nTLS Server Name:        h"
    );
    assert_eq!(
        lines(tls(false, 0xC02F, Some(0x17)), "ECDHE-RSA-AES128-GCM-SHA256"),
        "SSL/TLS Protocol:       TLSv1.2,ECDHE-RSA-AES128-GCM-SHA256,2048,128\n\
         Server Temp Key:        ECDH prime256v1 256 bits\nTLS Server Name:        h"
    );
}

#[test]
fn means_far_from_medians_are_told() {
    let asked = asked();
    let report = |times: [u64; 3]| {
        let mut seen = seen(&asked, &GOOD);
        seen.distributions.total = ExactDistribution::default();
        times.iter().for_each(|time| seen.distributions.total.add(us(*time)));
        text(&asked, &seen)
    };
    // Only whole milliseconds can be so far apart.
    let warning = "\nWARNING: The median and mean for the total time are not within a normal deviation\n        These results are probably not that reliable.\n\n";
    let error = "\nERROR: The median and mean for the total time are more than twice the standard\n       deviation apart. These results are NOT reliable.\n\n";
    assert!(report([1_400, 1_400, 2_600]).contains(warning), "{}", report([1_400, 1_400, 2_600]));
    assert!(report([1_400, 1_400, 1_800]).contains(error), "{}", report([1_400, 1_400, 1_800]));
    assert!(!report([1_000, 1_400, 1_800]).contains("reliable"));
}

#[test]
fn times_end_with_the_last_request_the_clock_or_the_interrupt() {
    let limited = AbAsked { time_limit: Some(Duration::from_secs(1)), requests: 9, ..asked() };
    let took = |asked: &AbAsked, took, interrupted| {
        let mut phase = phase(&GOOD);
        phase.took = Duration::from_millis(took);
        let seen = AbSeen::new(&phase, asked, interrupted);
        (seen.took.as_millis(), seen.gave_up)
    };
    assert_eq!(took(&asked(), 30, false), (20, false));
    assert_eq!(took(&limited, 1001, false), (1000, false));
    assert_eq!(took(&AbAsked { requests: 4, ..limited.clone() }, 1001, false), (20, false));
    assert_eq!(took(&limited, 500, true), (500, false));
    assert_eq!(took(&limited, 500, false), (20, true));
}

#[test]
fn runs_end_with_the_code_that_ab_would_have_ended_with() {
    let fatal = |asked: &AbAsked, outcome| {
        let seen = seen(asked, &[(1_000, 0, outcome); 4]);
        seen.fatal(asked).map(|(line, exit)| (line.lines().last().unwrap_or("").to_owned(), exit))
    };
    let survives = AbAsked { survives: true, ..asked() };
    let line = |text: &str| text.to_owned();
    let reset = failed(FailureKind::Reset, Stage::Head);
    let timeout = failed(FailureKind::Timeout, Stage::Head);
    assert_eq!(fatal(&asked(), reset), Some((line("apr_socket_recv: Connection reset by peer (104)"), 104)));
    assert_eq!(fatal(&survives, reset), None);
    for asked in [&asked(), &survives] {
        let expected = "apr_pollset_poll: The timeout specified has expired (70007)";
        assert_eq!(fatal(asked, timeout), Some((line(expected), 119)));
        assert_eq!(fatal(asked, failed(FailureKind::NotHttp, Stage::Head)), None);
    }
    let asked = AbAsked { requests: 100, ..asked() };
    let gave_up = seen(&asked, &[(1_000, 0, failed(FailureKind::Refused, Stage::Connect)); 10]);
    let expected = "\nTest aborted after 10 failures\n\napr_socket_recv: Connection refused (111)";
    assert_eq!(gave_up.fatal(&asked), Some((line(expected), 111)));
}

#[test]
fn the_html_table() {
    let asked = AbAsked { keep_alive: true, has_body: true, ..asked() };
    let page = html(&asked, &seen(&asked, &GOOD), &["border=1", "", "bgcolor=white"].map(str::to_owned));
    let expected = "

<table border=1>
<tr ><th colspan=2 bgcolor=white>Server Software:</th><td colspan=2 bgcolor=white>My</td></tr>
<tr ><th colspan=2 bgcolor=white>Server Hostname:</th><td colspan=2 bgcolor=white>h</td></tr>
<tr ><th colspan=2 bgcolor=white>Server Port:</th><td colspan=2 bgcolor=white>81</td></tr>
<tr ><th colspan=2 bgcolor=white>Document Path:</th><td colspan=2 bgcolor=white>/p?q</td></tr>
<tr ><th colspan=2 bgcolor=white>Document Length:</th><td colspan=2 bgcolor=white>1000 bytes</td></tr>
<tr ><th colspan=2 bgcolor=white>Concurrency Level:</th><td colspan=2 bgcolor=white>2</td></tr>
<tr ><th colspan=2 bgcolor=white>Time taken for tests:</th><td colspan=2 bgcolor=white>0.020 seconds</td></tr>
<tr ><th colspan=2 bgcolor=white>Complete requests:</th><td colspan=2 bgcolor=white>4</td></tr>
<tr ><th colspan=2 bgcolor=white>Failed requests:</th><td colspan=2 bgcolor=white>0</td></tr>
<tr ><th colspan=2 bgcolor=white>Non-2xx responses:</th><td colspan=2 bgcolor=white>1</td></tr>
<tr ><th colspan=2 bgcolor=white>Keep-Alive requests:</th><td colspan=2 bgcolor=white>2</td></tr>
<tr ><th colspan=2 bgcolor=white>Total transferred:</th><td colspan=2 bgcolor=white>4400 bytes</td></tr>
<tr ><th colspan=2 bgcolor=white>Total body sent:</th><td colspan=2 bgcolor=white>200</td></tr>
<tr ><th colspan=2 bgcolor=white>HTML transferred:</th><td colspan=2 bgcolor=white>4000 bytes</td></tr>
<tr ><th colspan=2 bgcolor=white>Requests per second:</th><td colspan=2 bgcolor=white>200.00</td></tr>
<tr ><th colspan=2 bgcolor=white>Transfer rate:</th><td colspan=2 bgcolor=white>214.84 kb/s received</td></tr>
<tr ><td colspan=2 bgcolor=white>&nbsp;</td><td colspan=2 bgcolor=white>9.77 kb/s sent</td></tr>
<tr ><td colspan=2 bgcolor=white>&nbsp;</td><td colspan=2 bgcolor=white>224.61 kb/s total</td></tr>
<tr ><th bgcolor=white colspan=4>Connection Times (ms)</th></tr>
<tr ><th bgcolor=white>&nbsp;</th> <th bgcolor=white>min</th>   <th bgcolor=white>avg</th>   <th bgcolor=white>max</th></tr>
<tr ><th bgcolor=white>Connect:</th><td bgcolor=white>    1</td><td bgcolor=white>    1</td><td bgcolor=white>    1</td></tr>
<tr ><th bgcolor=white>Processing:</th><td bgcolor=white>    3</td><td bgcolor=white>    5</td><td bgcolor=white>    9</td></tr>
<tr ><th bgcolor=white>Total:</th><td bgcolor=white>    4</td><td bgcolor=white>    7</td><td bgcolor=white>   10</td></tr>
</table>
";
    assert_eq!(page, expected);
    let wrong = [(1_000, 200, Outcome::CheckFailed(Fault::WrongLength)); 2];
    let page = html(&asked, &seen(&asked, &wrong), &["", "", ""].map(str::to_owned));
    assert!(
        page.contains("<tr ><td colspan=4  >   (Connect: 0, Length: 2, Exceptions: 0)</td></tr>"),
        "{page}"
    );
}

#[test]
fn the_csv_never_looks_beyond_the_last_request() {
    let mut total = ExactDistribution::default();
    (1..=30).for_each(|n| total.add(us(n * 10)));
    let text = csv(&total);
    let rows: Vec<&str> = text.lines().collect();
    assert_eq!((rows.len(), rows[0]), (102, "Percentage served,Time in ms"));
    assert_eq!(
        [rows[1], rows[2], rows[51], rows[100], rows[101]],
        ["0,0.010", "1,0.010", "50,0.160", "99,0.300", "100,0.300"]
    );
}

#[test]
fn the_gnuplot_file_is_sorted_by_total_time() {
    let record = |began: u64, connect: Option<u64>, service: u64| Record {
        connection: 1,
        began: Duration::from_secs(began),
        status: 200,
        method: "GET".into(),
        connect: connect.map(us),
        first_byte: Some(us(600)),
        service: us(service),
        ..Record::new(Outcome::Ok)
    };
    let mut file = Gnuplot::default();
    file.add(&record(0, Some(2_000), 3_000));
    file.add(&record(61, None, 1_400));
    assert_eq!(
        file.text(1_795_219_102.5, &jiff::tz::TimeZone::UTC),
        "starttime\tseconds\tctime\tdtime\tttime\twait\n\
         Fri Nov 20 23:59:23 2026\t1795219163\t0\t1\t1\t1\n\
         Fri Nov 20 23:58:22 2026\t1795219102\t2\t3\t5\t1\n"
    );
}

#[test]
fn heads_are_shown_by_level() {
    let mut heads = Heads::new(3);
    let request = b"GET / HTTP/1.0\r\n\r\n";
    let shown = heads.text(HeadTitle::RequestToProxy, request);
    assert_eq!(shown, "INFO: GET header == \n---\nGET / HTTP/1.0\r\n\r\n\n---\n");
    assert_eq!(heads.text(HeadTitle::RequestToProxy, request), "");
    let found = heads.text(HeadTitle::ResponseFromProxy, b"HTTP/1.1 200 OK\r\n\r\n");
    assert_eq!(found, "LOG: header received:\nHTTP/1.1 200 OK\r\n\r\n\nLOG: Response code = 200\n");
    let missing = Heads::new(2).text(HeadTitle::ResponseFromProxy, b"HTTP/1.1 404 No\r\n\r\n");
    assert!(missing.ends_with("\nWARNING: Response code not 2xx (404)\n"), "{missing}");
}
