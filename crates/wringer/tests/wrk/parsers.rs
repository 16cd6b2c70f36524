//! Programs of others that read wrk's reports, retyped by what they look for: each finds it in ours.

use crate::ends;
use crate::server::{Behaviour, serve};
use crate::support::run;
use regex::Regex;

/// Where a parser is published, and what it looks for in the report of a run with `--latency`.
const PARSERS: [(&str, &[&str]); 8] = [
    (
        "facebookresearch/DCPerf, benchpress/plugins/parsers/nginx_wrk_bench.py",
        &[r"(Requests/sec):\s+(\d+\.?\d*)"],
    ),
    (
        "jiaodong/ray, release/serve_tests/serve_test_utils.py: words of a line",
        &[
            r"(?m)^\s*Latency(\s+\S+){4}$",
            r"(?m)^\s*Req/Sec(\s+\S+){4}$",
            r"(?m)^Requests/sec:\s+\S+$",
            r"(?m)^Transfer/sec:\s+\S+$",
        ],
    ),
    (
        "extract_wrk_metrics.py",
        &[r"Latency\s+([0-9.]+\w+)\s+([0-9.]+\w+)\s+([0-9.]+\w+)", r"\s+99%\s+([0-9.]+\w+)"],
    ),
    (
        "a benchmark of Python servers",
        &[
            r"(?m)^Requests/sec:\s+([\d.]+)",
            r"(?m)^\s+(50)%\s+([\d.]+)(us|ms|s)\s*$",
            r"(?m)^\s+(99)%\s+([\d.]+)(us|ms|s)\s*$",
        ],
    ),
    (
        "parse_wrk_output of a benchmark",
        &[r"(\d+)\s+requests\s+in\s+", r"Transfer/sec:\s+(\S+)", r"Latency\s+([0-9.]+)(us|ms|s)"],
    ),
    (
        "a script for plots",
        &[r"(\d+) connections", r"Req/Sec\s+([\d\.]+)k?\s+([\d\.]+)k?\s+([\d\.]+)k?", r"(\d+) requests"],
    ),
    ("wrk.txt of a run with nginx", &[r"(\d+)\s+requests in\s+([\d\.]+)s", r"Running 1s test @ http://\S+"]),
    (
        "TechEmpower/FrameworkBenchmarks, toolset",
        &[r"Latency(\s+[0-9]+\.*[0-9]*[us|ms|s|m|%]+){4}", r"Latency Distribution"],
    ),
];

#[test]
fn parsers_of_others_read_our_reports() {
    let server = serve(Behaviour::Ok);
    let ran = run(&format!("wrk -t1 -c2 -d1s --latency {}", server.url()));
    ends(&ran, 0);
    for (source, patterns) in PARSERS {
        for pattern in patterns {
            assert!(
                Regex::new(pattern).unwrap().is_match(&ran.stdout),
                "{source}: {pattern}: {}",
                ran.stdout
            );
        }
    }
}

/// Those that count what went wrong.
#[test]
fn parsers_of_others_find_failures() {
    let socket = r"Socket errors:\s*connect\s+(\d+),\s*read\s+([1-9]\d*),\s*write\s+(\d+),\s*timeout\s+(\d+)";
    for (behaviour, pattern) in [
        (Behaviour::CloseEarly, socket),
        (Behaviour::NotFound, r"(?m)^\s+Non-2xx or 3xx responses:\s+([1-9]\d*)$"),
    ] {
        let server = serve(behaviour);
        let ran = run(&format!("wrk -t1 -c2 -d1s {}", server.url()));
        ends(&ran, 0);
        assert!(Regex::new(pattern).unwrap().is_match(&ran.stdout), "{behaviour:?}: {}", ran.stdout);
    }
}
