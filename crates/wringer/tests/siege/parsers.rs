//! Programs of others that read siege's reports, retyped by what they look for: each finds it in ours.

use crate::server::Server;
use crate::support::{WRINGER, folder, run};
use regex::Regex;

/// Where a parser is published, and what it looks for on standard error, where siege's report stands.
const PARSERS: [(&str, &[&str]); 4] = [
    ("CRaC/utils, bench.sh: the third word of a line", &[r"(?m)^Elapsed time:\s+[\d.]+ secs$"]),
    (
        "treat-siege.sh: a number in each line that is grepped for",
        &[
            r"Availability.*?[+-]?[0-9]+([.][0-9]+)?",
            r"rate:.*?[+-]?[0-9]+([.][0-9]+)?",
            r"Failed.*?[+-]?[0-9]+",
            r"Longest.*?[+-]?[0-9]+([.][0-9]+)?",
        ],
    ),
    (
        "reports kept as tables, of siege 2.7 to 4.0: names, blanks, figures and units",
        &[
            r"Transactions:\s+(\d+) hits",
            r"Availability:\s+([\d.]+) %",
            r"Data transferred:\s+([\d.]+) MB",
            r"Response time:\s+([\d.]+) secs",
            r"Transaction rate:\s+([\d.]+) trans/sec",
            r"Throughput:\s+([\d.]+) MB/sec",
            r"Concurrency:\s+([\d.]+)",
            r"Successful transactions:\s+(\d+)",
            r"Failed transactions:\s+(\d+)",
            r"Shortest transaction:\s+([\d.]+)",
        ],
    ),
    (
        "scripts that cut the report out of what was said",
        &[r"\*\* Preparing 2 concurrent users for battle\.", r"The server is now under siege\.\.\."],
    ),
];

#[test]
fn parsers_of_others_read_our_reports() {
    let server = Server::start();
    let home = folder();
    let ran = run(WRINGER, &["siege", "-b", "-c", "2", "-r", "5", &server.url("/ok")], home.path());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    for (source, patterns) in PARSERS {
        for pattern in patterns {
            assert!(Regex::new(pattern).unwrap().is_match(&ran.err), "{source}: {pattern}: {}", ran.err);
        }
    }
}
