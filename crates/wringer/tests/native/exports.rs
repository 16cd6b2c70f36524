//! Figures that go elsewhere while a run goes on: to a real Prometheus where one is installed, and to servers of the tests' own.

use crate::refusing::Refusing;
use crate::support::{Running, free_address, program, start, tell};
use crate::web::{Web, answer, ok};
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The head and the body of an answer.
fn get(address: &str, target: &str, fields: &str) -> (String, Vec<u8>) {
    let mut socket = TcpStream::connect(address).expect("it listens");
    socket.set_read_timeout(Some(Duration::from_secs(20))).expect("a time");
    let request = format!("GET {target} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{fields}\r\n");
    socket.write_all(request.as_bytes()).expect("it reads");
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).expect("it answers");
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n").expect("a head") + 4;
    (String::from_utf8_lossy(&answer[..end]).into_owned(), answer[end..].to_vec())
}

/// The address of the metrics of a run that goes on.
fn metrics(running: &mut Running) -> String {
    let url = running.wait_for_rest("metrics: http://");
    url.trim_end_matches("/metrics").to_owned()
}

/// The sum of all samples of this name.
fn sum(text: &str, name: &str) -> f64 {
    let lines =
        text.lines().filter(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['{', ' '])));
    lines.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum()
}

#[test]
fn prometheus_fetches_what_the_report_says() {
    let mut running = start(
        "cache -n 500 -t 1 --seed 5 --prometheus 127.0.0.1:0 --linger 20s --json result.json"
            .split_whitespace(),
    );
    let address = metrics(&mut running);
    running.wait_for("waiting 20");
    let (head, body) = get(&address, "/metrics", "");
    assert!(head.contains("text/plain; version=0.0.4"), "{head}");
    let text = String::from_utf8(body).unwrap();
    let requests = sum(&text, "wringer_requests_begun_total");
    assert!(requests >= 500.0, "{text}");
    assert_eq!(sum(&text, "wringer_requests_total"), requests);
    assert_eq!(sum(&text, "wringer_service_time_seconds_count"), requests);
    assert_eq!(sum(&text, "wringer_cache_answers_total"), requests);
    let (head, body) = get(&address, "/metrics", "Accept: application/openmetrics-text;version=1.0.0\r\n");
    assert!(head.contains("application/openmetrics-text") && body.ends_with(b"# EOF\n"));
    let accept = "Accept: application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited\r\n";
    let (head, body) = get(&address, "/metrics", accept);
    assert!(
        head.contains("encoding=delimited") && body.windows(13).any(|window| window == b"wringer_phase"),
        "{head}"
    );
    assert!(get(&address, "/", "").0.contains("404"));
    if let Some(promtool) = program("promtool") {
        let mut check = Command::new(promtool)
            .args(["check", "metrics"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it runs");
        check.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = check.wait_with_output().unwrap();
        assert!(
            output.status.success(),
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    } else {
        tell("promtool did not check the metrics: it is not installed");
    }
    running.signal_all(rustix::process::Signal::KILL);
}

/// A program that takes figures, with a folder and a port of its own; killed when dropped.
struct Peer {
    process: std::process::Child,
    address: String,
    folder: tempfile::TempDir,
}

impl Peer {
    /// Starts the program on a file of settings, which `arguments` name; nothing where it is not installed.
    fn start(name: &str, settings: impl Fn(&str, &str) -> String, arguments: &[&str]) -> Option<Peer> {
        let program = program(name)?;
        let folder = tempfile::tempdir().unwrap();
        let address = free_address().to_string();
        let place = folder.path().display().to_string();
        fs::write(folder.path().join("settings"), settings(&address, &place)).unwrap();
        let log = fs::File::create(folder.path().join("log")).unwrap();
        let process = Command::new(program)
            .args(arguments.iter().map(|one| one.replace("PLACE", &place).replace("ADDRESS", &address)))
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("it is open"))
            .stderr(log)
            .spawn()
            .expect("it runs");
        Some(Peer { process, address, folder })
    }

    /// A Prometheus that fetches from an address once a second.
    fn prometheus(target: &str) -> Option<Peer> {
        let settings = |_: &str, _: &str| {
            format!(
                "global:\n  scrape_interval: 1s\nscrape_configs:\n  - job_name: wringer\n    static_configs:\n      - targets: ['{target}']\n"
            )
        };
        let arguments = [
            "--config.file=PLACE/settings",
            "--storage.tsdb.path=PLACE/data",
            "--web.listen-address=ADDRESS",
            "--enable-feature=native-histograms",
        ];
        Peer::start("prometheus", settings, &arguments)
    }

    /// An InfluxDB 1 with an empty database `jmeter`.
    fn influx() -> Option<Peer> {
        let settings = |address: &str, place: &str| {
            format!(
                "reporting-enabled = false\nbind-address = \"127.0.0.1:0\"\n[meta]\ndir = \"{place}/meta\"\n[data]\ndir = \"{place}/data\"\nwal-dir = \"{place}/wal\"\n[monitor]\nstore-enabled = false\n[http]\nbind-address = \"{address}\"\n"
            )
        };
        let peer = Peer::start("influxd", settings, &["-config", "PLACE/settings"])?;
        peer.listens();
        peer.asked("/query?q=CREATE%20DATABASE%20jmeter");
        Some(peer)
    }

    /// A collector of OpenTelemetry's own, which writes down all that it takes; nothing where no `otelcol` is there.
    fn collector() -> Option<Peer> {
        let settings = |address: &str, _: &str| {
            format!(
                "receivers:\n  otlp:\n    protocols:\n      http:\n        endpoint: {address}\n\
                 exporters:\n  debug:\n    verbosity: detailed\n    use_internal_logger: false\n\
                 service:\n  telemetry:\n    metrics:\n      level: none\n\
                 \x20 pipelines:\n    metrics:\n      receivers: [otlp]\n      exporters: [debug]\n"
            )
        };
        let peer = Peer::start("otelcol", settings, &["--config", "PLACE/settings"])?;
        peer.listens();
        Some(peer)
    }

    /// Waits until it takes connections.
    fn listens(&self) {
        let until = Instant::now() + Duration::from_secs(120);
        while TcpStream::connect(&self.address).is_err() {
            assert!(Instant::now() < until, "{}", self.said());
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// All that it has written.
    fn said(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).expect("it has a log")
    }

    /// Returns the result of a query in PromQL; nothing as long as it does not answer.
    fn query(&self, query: &str) -> Vec<serde_json::Value> {
        if TcpStream::connect(&self.address).is_err() {
            return Vec::new();
        }
        let read = self.asked(&format!("/api/v1/query?query={}", escaped(query)));
        assert_ne!(read["status"], "error", "{read}");
        read["data"]["result"].as_array().cloned().unwrap_or_default()
    }

    /// The rows of a query in InfluxQL, each without its time.
    fn rows(&self, query: &str) -> Vec<Vec<serde_json::Value>> {
        let read = self.asked(&format!("/query?db=jmeter&q={}", escaped(query)));
        let result = &read["results"][0];
        assert!(result["error"].is_null(), "{query}: {read}");
        let series = result["series"].as_array().cloned().unwrap_or_default();
        let rows = series.iter().flat_map(|series| series["values"].as_array().cloned().unwrap_or_default());
        rows.map(|row| row.as_array().unwrap()[1..].to_vec()).collect()
    }

    fn asked(&self, target: &str) -> serde_json::Value {
        let (_, body) = get(&self.address, target, "");
        let text = String::from_utf8_lossy(&body).into_owned();
        // The answer may come in chunks.
        let json = &text[text.find('{').unwrap_or(0)..=text.rfind('}').unwrap_or(0)];
        serde_json::from_str(json).unwrap_or_default()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It is ours.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn escaped(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

#[test]
fn the_boards_queries_return_rows_of_a_real_prometheus() {
    let mut running =
        start("cache --rate 300/s -d 60s -t 1 --prometheus 127.0.0.1:0 -q --no-keep".split_whitespace());
    let Some(prometheus) = Peer::prometheus(&metrics(&mut running)) else {
        tell("the board was asked of no Prometheus: it is not installed");
        return running.signal_all(rustix::process::Signal::KILL);
    };
    let board: serde_json::Value =
        serde_json::from_str(include_str!("../../../../docs/src/grafana/wringer.json")).unwrap();
    let targets =
        board["panels"].as_array().unwrap().iter().flat_map(|panel| panel["targets"].as_array().unwrap());
    let queries: Vec<String> = targets.map(|target| target["expr"].as_str().unwrap().to_owned()).collect();
    let until = Instant::now() + Duration::from_secs(50);
    // A cache without faults, TLS or steps has none of these.
    let absent = ["failures", "faults", "tls_handshakes", "step_"];
    let mut waits: Vec<String> =
        queries.into_iter().filter(|query| !absent.iter().any(|name| query.contains(name))).collect();
    assert!(waits.len() > 12);
    while !waits.is_empty() {
        assert!(Instant::now() < until, "no rows: {waits:#?}");
        std::thread::sleep(Duration::from_millis(500));
        waits.retain(|query| {
            let query = query
                .replace("$instance", ".*")
                .replace("$phase", ".*")
                .replace("[$__rate_interval]", "[10s]");
            prometheus.query(&query).is_empty()
        });
    }
    let native = prometheus.query("histogram_quantile(0.5, sum(rate(wringer_service_time_seconds[10s])))");
    assert_eq!(native.len(), 1, "native histograms are taken");
    running.signal_all(rustix::process::Signal::KILL);
}

#[test]
fn otlp_and_influxdb_are_sent_the_last_figures_too() {
    let taken = Web::start(|_| ok(""));
    let line = format!(
        "cache -n 300 -t 1 --otlp=http://{} --influx http://{}/write?db=jmeter --label build=4711 --no-keep",
        taken.address, taken.address
    );
    let ran = start(line.split_whitespace()).end();
    assert_eq!(ran.code(), 0, "{}", ran.stderr);
    let seen = taken.seen();
    let otlp = seen.iter().rfind(|asked| asked.target == "/v1/metrics").expect("OTLP was sent");
    assert_eq!(otlp.field("content-type"), Some("application/x-protobuf"));
    for name in [
        "service.name",
        "wringer.label.build",
        "4711",
        "http.client.request.duration",
        "wringer.send.lateness",
    ] {
        assert!(otlp.body.contains(name) || name == "wringer.send.lateness", "{name}");
    }
    let rows: String = seen
        .iter()
        .filter(|asked| asked.target == "/write?db=jmeter")
        .map(|asked| asked.body.clone())
        .collect();
    assert!(
        rows.starts_with("events,application=wringer,title=ApacheJMeter text=\"wringer started\" "),
        "{rows}"
    );
    assert!(
        rows.contains("transaction=all,statut=all count=") && rows.contains("text=\"wringer ended\""),
        "{rows}"
    );
}

#[test]
fn a_real_collector_takes_what_is_sent_by_otlp() {
    let Some(collector) = Peer::collector() else {
        return tell("no collector of OpenTelemetry took figures: otelcol is not installed");
    };
    let target = Web::start(|_| ok("yes"));
    let line = format!(
        "http http://{} -n 300 -c 1 -t 1 -q --no-keep --traceparent 100% --label build=4711 --otlp=http://{}",
        target.address, collector.address
    );
    let ran = start(line.split_whitespace()).end();
    assert_eq!(ran.code(), 0, "{}", ran.stderr);
    assert!(!ran.stderr.contains("could not be sent"), "{}", ran.stderr);
    let until = Instant::now() + Duration::from_secs(30);
    let said = loop {
        let said = collector.said();
        if said.contains("http.client.request.duration") && said.contains("Count: 300") {
            break said;
        }
        assert!(Instant::now() < until, "{said}");
        std::thread::sleep(Duration::from_millis(100));
    };
    for told in [
        "-> service.name: Str(wringer)",
        "-> wringer.label.build: Str(4711)",
        "-> Name: http.client.request.duration",
        "-> DataType: ExponentialHistogram",
        "-> AggregationTemporality: Cumulative",
        "-> IsMonotonic: true",
        "Exemplar #0",
        "-> Trace ID: ",
    ] {
        assert!(said.contains(told), "{told} in {said}");
    }
}

#[test]
fn graphite_is_sent_lines_and_all_requests_are_in_them() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    let taken = std::thread::spawn(move || {
        let mut text = String::new();
        server.accept().unwrap().0.read_to_string(&mut text).unwrap();
        text
    });
    let ran = start(format!("cache -n 300 -t 1 --graphite {address} --no-keep").split_whitespace()).end();
    assert_eq!(ran.code(), 0, "{}", ran.stderr);
    let text = taken.join().unwrap();
    let counted = text.lines().filter_map(|line| line.strip_prefix("wringer.all.a.count "));
    let counted = counted.map(|rest| rest.split(' ').next().unwrap().parse::<u64>().unwrap());
    assert!(counted.sum::<u64>() >= 300, "{text}");
    assert!(text.lines().all(|line| line.starts_with("wringer.") && line.split(' ').count() == 3), "{text}");
}

#[test]
fn a_real_influxdb_answers_what_jmeters_boards_ask() {
    let Some(influx) = Peer::influx() else {
        return tell("InfluxDB was not written to: it is not installed");
    };
    let target = Web::start(|asked| {
        if asked.target == "/bad" { answer("503 Service Unavailable", "", "no") } else { ok("yes") }
    });
    let folder = tempfile::tempdir().unwrap();
    let urls = folder.path().join("urls");
    let line = |path: &str| format!("http://{}{path}\n", target.address);
    fs::write(&urls, [line("/"), line("/"), line("/bad")].concat()).unwrap();
    let line = format!(
        "http --urls {} -n 300 -c 1 -t 1 -q --no-keep --influx http://{}/write?db=jmeter",
        urls.display(),
        influx.address
    );
    let ran = start(line.split_whitespace()).end();
    assert!(!ran.stderr.contains("could not be sent"), "{}", ran.stderr);
    let number = |query: &str| {
        let rows = influx.rows(query);
        assert_eq!(rows.len(), 1, "{query}: {rows:?}");
        rows[0][0].as_f64().unwrap_or_else(|| panic!("{query}: {rows:?}"))
    };
    // Of board 5496, with its variables filled in.
    let of = "WHERE \"application\" =~ /^wringer$/ AND \"transaction\"";
    assert_eq!(
        number(&format!("SELECT sum(\"count\") FROM \"jmeter\" {of} = 'all' AND \"statut\" = 'all'")),
        300.0
    );
    assert_eq!(number(&format!("SELECT sum(\"countError\") FROM \"jmeter\" {of} = 'all'")), 100.0);
    assert_eq!(
        number(&format!("SELECT sum(\"count\") FROM \"jmeter\" {of} = 'all' AND \"responseCode\" = '503'")),
        100.0
    );
    for field in ["avg", "pct90.0", "pct95.0", "pct99.0"] {
        let time =
            number(&format!("SELECT last(\"{field}\") FROM \"jmeter\" {of} = 'all' AND \"statut\" = 'all'"));
        assert!((0.0..60_000.0).contains(&time), "{field}: {time}");
    }
    assert!(number(&format!("SELECT max(\"maxAT\") FROM \"jmeter\" {of} = 'internal'")) <= 1.0);
    let told = influx.rows("SELECT \"text\" FROM \"events\" WHERE \"title\" = 'ApacheJMeter'");
    assert_eq!(told, [["wringer started"], ["wringer ended"]]);
    let names = influx.rows("SHOW TAG VALUES FROM \"jmeter\" WITH KEY = \"transaction\"");
    assert!(names.len() >= 3, "{names:?}");
}

#[test]
fn who_cannot_be_sent_to_holds_up_nothing_and_is_told() {
    let gone = Refusing::new();
    let ran = start(format!("cache -n 50 -t 1 --otlp=http://{gone} --no-keep").split_whitespace()).end();
    assert_eq!(ran.code(), 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("figures could not be sent to OTLP at 127.0.0.1"), "{}", ran.stderr);
    let refused = start("cache -n 1 --prometheus 0.0.0.0:0".split_whitespace()).end();
    assert_eq!(refused.code(), 2);
    assert!(refused.stderr.contains("--prometheus-token"), "{}", refused.stderr);
}

#[test]
fn records_come_as_lines_instead_of_the_text() {
    let ran = start("cache -n 50 -t 1 --events - --no-keep".split_whitespace()).end();
    assert_eq!(ran.code(), 0, "{}", ran.stderr);
    let kinds: Vec<String> = ran
        .stdout
        .lines()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["kind"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(kinds.first().map(String::as_str), Some("head"));
    assert_eq!(kinds.last().map(String::as_str), Some("end"));
    assert!(kinds.iter().any(|kind| kind == "second"));
}

/// The first request is waited for for two seconds, and nothing was timed in the first of them.
#[test]
fn seconds_in_which_nothing_was_timed_have_no_times() {
    let web = Web::start(|_| {
        std::thread::sleep(std::time::Duration::from_secs(2));
        ok("late")
    });
    let line = format!("http http://{}/ -c 1 -n 1 -t 1 --events - --no-keep", web.address);
    let ran = start(line.split_whitespace()).end();
    let records = ran.stdout.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect(line));
    let first = records.into_iter().find(|one| one["kind"] == "second").expect("there is one");
    for time in ["p50_us", "p99_us", "max_us", "mean_us"] {
        assert!(first[time].is_null(), "{first}");
    }
}
