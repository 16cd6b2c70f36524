//! Differences from JMeter that stay, each with its reason. docs/src/jmeter.md says the same to people.

use regex::Regex;

/// Plan, variant, what differs (a pattern of the whole line), and why.
type Known = (&'static str, &'static str, &'static str, &'static str);

/// A star stands for all plans, or all variants.
const KNOWN: &[Known] = &[
    ("*", "*", r"^sample \d+( part \d+)* bytes without an answer: ", BYTES_OF_FAILURES),
    ("01", "one_thread_redirect_kinds", r#"^sample 5 sent: "\d+", not "0"$"#, SENT_OF_FAILURES),
    ("11", "one_thread_payload_absent", r#"^sample 1 (sent|message): "#, SENT_OF_FAILURES),
    ("01", "one_thread_cookie_kinds", r"^request \d+ fields: .*Cookie", COOKIES),
    ("01", "one_thread_cookie_kinds", r"^sample \d+ sent: ", COOKIES),
    ("05", "*", r"^sample \d+ sent: ", RANDOM),
    ("13", "*", r"^sample \d+ sent: ", RANDOM),
    ("27", "*", r"^request \d+ fields: .*X-Forwarded-For", ROWS),
    ("19", "*", r"^sample \d+ sent: ", RANDOM),
    ("17", "*", r#"^sample \d+ sent: "\d+", not "0"$"#, JAVA),
    ("clients", "own", r#"^sample \d+ sent: "\d+", not "0"$"#, JAVA),
    ("clients", "own", r"^request 3 fields: ", PUT),
    ("clients", "own", r"^sample \d+ url: .*//", SLASHES),
    ("01", "three_threads", r"^times of (GET|POST) /owners/\d/pets/\d/visits/new: ", COUNTERS),
    ("03", "three_threads", r"^samples of ", SHARES),
    ("05", "three_threads", r"^samples of ", SHARES),
    ("21", "three_threads", r"^samples of ", SHARES),
    ("25", "one_thread_put_fails", r"^sample 1 assertions: .*something using", EQUAL),
    ("35", "one_thread_login_fails", r"^sample 1 assertions: .*expected to equal", EQUAL),
];

const BYTES_OF_FAILURES: &str =
    "JMeter counts the stack trace that it shows in place of an answer; here nothing came";
const SENT_OF_FAILURES: &str =
    "JMeter forgets what was sent where its client throws an exception, and names the file by its whole path";
const COOKIES: &str =
    "JMeter keeps what Expires of 1 January 1970 ends, and drops cookies with an empty value";
const RANDOM: &str = "random values have another length each time";
const ROWS: &str = "rows of a file go to whichever of several groups comes first";
const JAVA: &str = "JMeter's client on Java's own does not count what it sends";
const PUT: &str = "a PUT without a body says that it has none";
const SLASHES: &str = "the URL is the one that was sent, with one slash for several";
const SHARES: &str = "which user takes the next share of a controller that all share is chance; of all together there are as many";
const COUNTERS: &str = "of two counters that all users share another user may take the second one in between";
const EQUAL: &str = "JMeter marks the place where texts differ";

/// Fails where something differs that is not known.
pub fn check(plan: &str, variant: &str, found: &[String], output: &str) {
    let is_known = |line: &str| {
        KNOWN.iter().any(|(of, in_variant, pattern, _)| {
            (*of == "*" || *of == plan)
                && (*in_variant == "*" || *in_variant == variant)
                && Regex::new(pattern).expect("a pattern").is_match(line)
        })
    };
    let unknown: Vec<&String> = found.iter().filter(|line| !is_known(line)).collect();
    let lines: Vec<String> = unknown.iter().take(20).map(|line| line.chars().take(900).collect()).collect();
    assert!(
        unknown.is_empty(),
        "plan {plan}, {variant}: {} differences\n  {}\n{output}",
        unknown.len(),
        lines.join("\n  ")
    );
}
