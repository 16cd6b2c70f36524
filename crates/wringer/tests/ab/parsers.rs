//! Programs of others that read ab's reports, retyped by what they look for: each finds it in ours.

use crate::server::{Behaviour, Server};
use crate::support::ours;
use regex::Regex;

/// Where a parser is published, and what it looks for; blanks in a row are one in the text that it reads.
const PARSERS: [(&str, &[&str]); 8] = [
    ("github.com/pmjones/php-framework-benchmarks, bench/ab.php", &[r"Requests per second: *([\d.]+)"]),
    (
        "github.com/reepush/renderer, benchmark.sh",
        &[r"Time per request: (\d+.\d+) \[ms\] \(mean\)", r"\d+ \(longest request\)"],
    ),
    (
        "a module of Node.js, parseApacheBenchOutput",
        &[
            r"(?i)complete requests:\s+([\d.]+)",
            r"(?i)failed requests:\s+([\d.]+)",
            r"(?i)requests per second:\s+([\d.]+)",
            r"(?i)waiting:\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)",
            r"(?i)total:\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)",
        ],
    ),
    (
        "github.com/anggar/PROGJAR_05111740000052, tugas10/test.sh",
        &[
            "Time taken",
            "Complete req",
            "Failed req",
            "Total trans",
            "Requests per",
            "Time per request",
            "Transfer rate",
        ],
    ),
    (
        "cherrypy, test/benchmark.py: lines from their beginning, in the report as it stands",
        &[
            r"Complete requests:\s*(\d+)",
            r"Failed requests:\s*(\d+)",
            r"Requests per second:\s*([0-9.]+)",
            r"Time per request:\s*([0-9.]+).*concurrent requests\)",
            r"Transfer rate:\s*([0-9.]+)",
        ],
    ),
    (
        "Amakata/apachebench, ab.rb: a name, a colon and figures",
        &[
            r"Server Software:",
            r"Document Length: \d+ bytes",
            r"Time taken for tests: [\d.]+ seconds",
            r"HTML transferred: \d+ bytes",
            r"Connect: +\d+ +\d+ +[\d.]+ +\d+ +\d+",
            r"Processing: +\d+ +\d+ +[\d.]+ +\d+ +\d+",
        ],
    ),
    (
        "a load test in TypeScript",
        &[r"50%\s+(\d+)", r"90%\s+(\d+)", r"99%\s+(\d+)", r"Transfer rate:\s+([\d.]+)\s+\[Kbytes/sec\]"],
    ),
    (
        "programs that look for the version first",
        &[r"^This is ApacheBench, Version (\d+\.\d+) <.*>", r"(?i)apachebench, version 2\.[0-9]"],
    ),
];

#[test]
fn parsers_of_others_read_our_reports() {
    let server = Server::start(Behaviour::Good);
    let report = ours(&format!("-n 20 -c 2 {}", server.url("/"))).stdout;
    let report = report.split_whitespace().collect::<Vec<_>>().join(" ");
    for (source, patterns) in PARSERS {
        for pattern in patterns {
            assert!(Regex::new(pattern).unwrap().is_match(&report), "{source}: {pattern}: {report}");
        }
    }
}

/// Those that count what went wrong, by kinds.
#[test]
fn parsers_of_others_find_failures() {
    let server = Server::start(Behaviour::FirstShorter);
    let report = ours(&format!("-n 20 -c 2 {}", server.url("/"))).stdout;
    let kinds = r"Failed requests:\s*([1-9]\d*)\s*\n\s*\(Connect:\s*(\d+),\s*Receive:\s*(\d+),\s*Length:\s*([1-9]\d*),\s*Exceptions:\s*(\d+)\)";
    assert!(Regex::new(kinds).unwrap().is_match(&report), "{report}");
}
