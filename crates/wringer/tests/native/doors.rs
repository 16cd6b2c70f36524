//! Doors that have no test binary of their own: hey, bombardier, vegeta, fortio, h1load and haload, each against a server that remembers what it was
//! asked.

use crate::support::{Ran, folder, shell};
use crate::web::{Web, answer, ok};
use std::fs;

/// Answers 200 with five bytes, 404 for `/404`, and leads from `/r` to `/x`.
fn web() -> Web {
    Web::start(|asked| match asked.target.as_str() {
        "/404" => answer("404 Not Found", "", "gone!"),
        "/r" => answer("302 Found", "Location: /x\r\n", ""),
        _ => ok("hello"),
    })
}

fn contains(ran: &Ran, words: &[&str]) {
    words
        .iter()
        .for_each(|words| assert!(ran.stdout.contains(words), "{words:?} in {}{}", ran.stdout, ran.stderr));
}

#[test]
fn hey_sends_and_reports() {
    let web = web();
    let at = web.address;
    let ran = shell(&format!("$WRINGER hey -n 21 -c 4 -H 'A: b' http://{at}/")).ended_with(0);
    contains(
        &ran,
        &[
            "\nSummary:\n  Total:\t",
            "  Total data:\t100 bytes\n  Size/request:\t5 bytes\n",
            "Response time histogram:\n  0.",
            "Latency distribution:\n  10%% in ",
            "  DNS+dialup:\t",
            "Status code distribution:\n  [200]\t20 responses\n",
        ],
    );
    assert!(
        ran.stderr.contains("hey: -n 21: each worker sends the same number, so 20 are sent"),
        "{}",
        ran.stderr
    );
    let seen = web.seen();
    let fits = seen
        .iter()
        .filter(|asked| asked.field("A") == Some("b") && asked.field("User-Agent") == Some("hey/0.0.1"));
    assert_eq!((fits.count(), seen.len()), (20, 20));

    let ran = shell(&format!("$WRINGER hey -n 2 -c 1 -o csv http://{at}/404")).ended_with(0);
    assert_eq!(ran.stdout.lines().count(), 3, "{}", ran.stdout);
    assert!(ran.stdout.lines().skip(1).all(|row| row.split(',').nth(6) == Some("404")), "{}", ran.stdout);

    let ran = shell(&format!("$WRINGER hey -n 1 -c 1 http://{at}/r")).ended_with(0);
    contains(&ran, &["[200]\t1 responses", "[302]\t1 responses"]);
    let ran = shell(&format!("$WRINGER hey -n 1 -c 1 -disable-redirects http://{at}/r")).ended_with(0);
    assert!(!ran.stdout.contains("[200]"), "{}", ran.stdout);

    let ran = shell("$WRINGER hey -n 2 -c 1 http://127.0.0.1:9/").ended_with(0);
    contains(&ran, &["  Average:\t NaN secs\n", "Error distribution:\n  [2]\t"]);
    shell("$WRINGER hey -n 1 -c 2 http://h/").ended_with(1);
    shell("$WRINGER hey -nope http://h/").ended_with(2);
}

#[test]
fn bombardier_sends_and_reports() {
    let web = web();
    let at = web.address;
    let ran = shell(&format!("$WRINGER bombardier -c 2 -n 20 -l -m POST -b x=1 {at}/")).ended_with(0);
    contains(
        &ran,
        &[
            "request(s) using 2 connection(s)\nDone!\nStatistics        Avg      Stdev        Max\n  Reqs/sec ",
            "  Latency Distribution\n     50% ",
            "  HTTP codes:\n    1xx - 0, 2xx - 20, 3xx - 0, 4xx - 0, 5xx - 0\n    others - 0\n  Throughput: ",
        ],
    );
    let seen = web.seen();
    let fits = seen.iter().filter(|asked| {
        asked.method == "POST" && asked.body == "x=1" && asked.field("User-Agent") == Some("fasthttp")
    });
    assert_eq!((fits.count(), seen.len()), (20, 20));

    let ran = shell(&format!("$WRINGER bombardier -c 1 -n 3 -p r -o json http://{at}/404")).ended_with(0);
    let told: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        (told["result"]["req4xx"].as_u64(), told["result"]["bytesRead"].as_u64() > Some(15)),
        (Some(3), true),
        "{told}"
    );

    let ran = shell("$WRINGER bombardier -c 1 -n 2 -p r http://127.0.0.1:9/").ended_with(0);
    contains(&ran, &["others - 2\n  Errors:\n    "]);
    let ran = shell(&format!("$WRINGER bombardier -q -n 1 -c 1 http://{at}/")).ended_with(0);
    assert_eq!(ran.stdout, "");
    shell("$WRINGER bombardier -c 0 http://h/").ended_with(1);
}

#[test]
fn vegeta_attacks_and_reports() {
    let web = web();
    let at = web.address;
    let folder = folder();
    let targets = format!("GET http://{at}/a\nX-A: b\n\nPOST http://{at}/404\n@body.txt\n");
    fs::write(folder.path().join("targets.txt"), targets).unwrap();
    fs::write(folder.path().join("body.txt"), "hi").unwrap();
    let within = |line: &str| shell(&format!("cd {} && {line}", folder.path().display()));
    let attack = "$WRINGER vegeta attack -rate 40 -duration 500ms";
    let ran =
        within(&format!("{attack} < targets.txt | tee results.json | $WRINGER vegeta report")).ended_with(0);
    contains(
        &ran,
        &[
            "Requests      [total, rate, throughput]         20, ",
            "Bytes In      [total, mean]                     100, 5.00\n",
            "Bytes Out     [total, mean]                     20, 1.00\n",
            "Success       [ratio]                           50.00%\n",
            "Status Codes  [code:count]                      200:10  404:10  \nError Set:\n404 Not Found\n",
        ],
    );
    let results = fs::read_to_string(folder.path().join("results.json")).unwrap();
    assert_eq!(results.lines().count(), 20, "{results}");
    let seen = web.seen();
    assert_eq!(
        seen.iter().filter(|asked| asked.field("X-A") == Some("b") && asked.target == "/a").count(),
        10
    );
    assert_eq!(seen.iter().filter(|asked| asked.method == "POST" && asked.body == "hi").count(), 10);

    let ran = within(&format!(
        "{attack} -targets targets.txt -output out.json && $WRINGER vegeta report -type=hist[0,1h] out.json"
    ));
    contains(&ran.ended_with(0), &["[0s,      1h0m0s]  20  100.00%  ####"]);
    let one = format!("echo 'GET http://{at}/r' | $WRINGER vegeta attack -rate 5 -duration 200ms");
    let ran = within(&one).ended_with(0);
    assert!(
        ran.stdout.lines().count() == 1 && ran.stdout.contains("\"code\":200"),
        "the last request alone: {}",
        ran.stdout
    );
    within("$WRINGER vegeta report body.txt").ended_with(1);
    within("$WRINGER vegeta encode").ended_with(1);
}

#[test]
fn fortio_loads_and_reports() {
    let web = web();
    let at = web.address;
    let ran = shell(&format!("$WRINGER fortio load -qps 0 -n 20 -c 2 -H 'A: b' -payload x=1 http://{at}/"))
        .ended_with(0);
    contains(
        &ran,
        &[
            " running at 0 queries per second, for 20 calls: http://",
            "\nAggregated Function Time : count 20 avg 0.",
            "\n# range, mid point, percentile, count\n>= 0.",
            "\n# target 99.9% 0.",
            "\nError cases : no data\n",
            "\nCode 200 : 20 (100.0 %)\nAll done 20 calls (plus 0 warmup) ",
        ],
    );
    let seen = web.seen();
    let fits = seen
        .iter()
        .filter(|asked| asked.method == "POST" && asked.body == "x=1" && asked.field("A") == Some("b"));
    assert_eq!((fits.count(), seen.len()), (20, 20));

    let ran =
        shell(&format!("$WRINGER fortio load -qps 40 -t 500ms -c 2 -json - http://{at}/404")).ended_with(0);
    let told: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        (told["RetCodes"]["404"].as_u64(), told["ErrorsDurationHistogram"]["Count"].as_u64()),
        (Some(20), Some(20)),
        "{told}"
    );
    assert!(ran.stderr.contains("Code 404 : 20 (100.0 %)"), "{}", ran.stderr);
    let ran = shell("$WRINGER fortio load -qps 0 -n 2 -c 1 http://127.0.0.1:9/").ended_with(0);
    contains(&ran, &["Code  -1 : 2 (100.0 %)\n"]);
    shell("$WRINGER fortio server").ended_with(1);
}

#[test]
fn h1load_and_haload_tell_each_second() {
    let web = web();
    let at = web.address;
    let ran =
        shell(&format!("$WRINGER h1load -c 1 -t 1 -n 20 -r 5 -S -P -H 'A: b' http://{at}/")).ended_with(0);
    contains(
        &ran,
        &[
            "#     time conns tot_conn  tot_req      tot_bytes    err  cps  rps  bps   ttfb 1xx 2xx 3xx 4xx 5xx\n",
            "\n#pctl   tail   invtail   ttfbcnt ttfb(ms)   ttlbcnt ttlb(ms)\n10      90     1       ",
        ],
    );
    // The last line has the sums: of connections, requests and errors.
    let sums = |ran: &Ran| {
        let last = ran
            .stdout
            .lines()
            .filter(|line| !line.contains('#'))
            .take_while(|line| !line.starts_with("10  "));
        let last: Vec<String> = last.last().expect("a line").split_whitespace().map(str::to_owned).collect();
        [last[2].clone(), last[3].clone(), last[5].clone()]
    };
    assert_eq!(sums(&ran), ["4", "20", "0"], "{}", ran.stdout);
    let seen = web.seen();
    let closes = seen.iter().filter(|asked| asked.field("Connection") == Some("close")).count();
    assert_eq!((seen.len(), closes), (20, 4));
    let host = at.to_string();
    assert!(seen.iter().all(|asked| asked.field("Host") == Some(&host) && asked.field("A") == Some("b")));

    let urls = format!("http://{at}/ http://{at}/404");
    let ran = shell(&format!("$WRINGER haload -u2 -n 10 -ll --show-status-codes {urls}")).ended_with(0);
    assert_eq!(sums(&ran)[1..], ["10", "0"], "{}", ran.stdout);
    let statuses: Vec<u64> = (ran.stdout.lines().skip(1))
        .flat_map(|line| line.split_whitespace().rev().take(5).nth(3).and_then(|two| two.parse::<u64>().ok()))
        .collect();
    assert_eq!(statuses.iter().sum::<u64>(), 5, "{}", ran.stdout);
    let seen = web.seen();
    assert_eq!(
        seen.iter().skip(20).filter(|asked| asked.method == "GET" && asked.target == "/404").count(),
        5
    );

    let ran = shell("$WRINGER h1load -e -c 2 -d 60 http://127.0.0.1:9/").ended_with(0);
    assert!(sums(&ran)[1].parse::<u64>().is_ok_and(|ended| (1..=2).contains(&ended)), "{}", ran.stdout);
    shell("$WRINGER haload -C http://h/").ended_with(1);
}
