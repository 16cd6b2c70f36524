//! Stage one: what was typed. Options are whole words behind a single dash; any beginning of one is taken, and the first in
//! the table wins. What it means is [`super::plan`]'s business.

use super::HttpLoadRefusal;

/// Where an option's value goes.
enum HttpLoadSlot {
    On(fn(&mut HttpLoadTyped) -> &mut bool),
    /// A whole number, at least this.
    Number(u64, fn(&mut HttpLoadTyped) -> &mut Option<u64>),
    Text(fn(&mut HttpLoadTyped) -> &mut Option<String>),
    Texts(fn(&mut HttpLoadTyped) -> &mut Vec<String>),
}

/// One option, a row of the table: its name, what it takes, its help, and where its value goes.
struct HttpLoadRow {
    name: &'static str,
    /// Only Traffic Server's fork has it.
    newer: bool,
    /// Name of its value in the help; empty for a switch.
    value: &'static str,
    help: &'static str,
    slot: HttpLoadSlot,
}

/// The command line as typed.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct HttpLoadTyped {
    pub checksum: bool,
    pub sequential: bool,
    pub throttle: bool,
    pub throttle_bits: Option<u64>,
    pub verbose: bool,
    pub timeout_s: Option<u64>,
    pub jitter: bool,
    pub accept_gzip: bool,
    pub parallel: Option<u64>,
    pub rate: Option<u64>,
    pub sockets: Option<u64>,
    pub fetches: Option<u64>,
    pub seconds: Option<u64>,
    pub keep_alive: Option<u64>,
    pub unique_id: bool,
    pub sip: Option<String>,
    pub agent: Option<String>,
    pub cookie: Option<String>,
    pub ignore_bytes: bool,
    pub max_connect_failures: Option<u64>,
    pub headers: Vec<String>,
    pub http_version: Option<String>,
    pub cipher: Option<String>,
    pub proxy: Option<String>,
    /// From here on ours.
    pub format: Option<String>,
    pub json: Option<String>,
    pub seed: Option<u64>,
    pub verify: bool,
    pub show_plan: bool,
    pub help: bool,
    pub version: bool,
    /// An option of the fork was given.
    pub newer: bool,
    /// The file of URLs.
    pub file: Option<String>,
}

const fn row(
    name: &'static str,
    newer: bool,
    value: &'static str,
    help: &'static str,
    slot: HttpLoadSlot,
) -> HttpLoadRow {
    HttpLoadRow { name, newer, value, help, slot }
}

/// In the fork's order.
const TABLE: &[HttpLoadRow] = &[
    row(
        "-checksum",
        false,
        "",
        "Bodies are compared, and not only their lengths",
        HttpLoadSlot::On(|typed| &mut typed.checksum),
    ),
    row(
        "-sequential",
        true,
        "",
        "URLs are taken in the order of the file [default: at random]",
        HttpLoadSlot::On(|typed| &mut typed.sequential),
    ),
    row(
        "-throttle",
        false,
        "",
        "Answers are read at 33600 bit/s, as by a modem",
        HttpLoadSlot::On(|typed| &mut typed.throttle),
    ),
    row(
        "-Throttle",
        false,
        "BITS",
        "Answers are read at so many bit/s",
        HttpLoadSlot::Number(1, |typed| &mut typed.throttle_bits),
    ),
    row(
        "-verbose",
        false,
        "",
        "Progress is told once a minute",
        HttpLoadSlot::On(|typed| &mut typed.verbose),
    ),
    row(
        "-timeout",
        false,
        "SECS",
        "Idle seconds after which a connection is given up [default: 60]",
        HttpLoadSlot::Number(1, |typed| &mut typed.timeout_s),
    ),
    row(
        "-jitter",
        false,
        "",
        "With -rate: the gaps vary by a tenth",
        HttpLoadSlot::On(|typed| &mut typed.jitter),
    ),
    row(
        "-accept_gzip",
        true,
        "",
        "Accept-Encoding: gzip is sent",
        HttpLoadSlot::On(|typed| &mut typed.accept_gzip),
    ),
    row(
        "-parallel",
        false,
        "N",
        "Requests under way at once",
        HttpLoadSlot::Number(1, |typed| &mut typed.parallel),
    ),
    row(
        "-rate",
        false,
        "N",
        "Requests begun in each second",
        HttpLoadSlot::Number(1, |typed| &mut typed.rate),
    ),
    row(
        "-sockets",
        true,
        "N",
        "Requests under way at most [default with -rate: 10000]",
        HttpLoadSlot::Number(1, |typed| &mut typed.sockets),
    ),
    row(
        "-fetches",
        false,
        "N",
        "The test ends after so many requests",
        HttpLoadSlot::Number(1, |typed| &mut typed.fetches),
    ),
    row(
        "-seconds",
        false,
        "N",
        "The test ends after so many seconds",
        HttpLoadSlot::Number(1, |typed| &mut typed.seconds),
    ),
    row(
        "-keep_alive",
        true,
        "N",
        "Further requests over each connection [default: 0]",
        HttpLoadSlot::Number(0, |typed| &mut typed.keep_alive),
    ),
    row(
        "-unique_id",
        true,
        "",
        "Each request has a field that no other has",
        HttpLoadSlot::On(|typed| &mut typed.unique_id),
    ),
    row("-sip", false, "FILE", "Source addresses, a line each", HttpLoadSlot::Text(|typed| &mut typed.sip)),
    row("-agent", true, "STR", "User-Agent", HttpLoadSlot::Text(|typed| &mut typed.agent)),
    row("-cookie", true, "STR", "Cookie", HttpLoadSlot::Text(|typed| &mut typed.cookie)),
    row(
        "-ignore_bytes",
        true,
        "",
        "Wrong lengths are counted and not told",
        HttpLoadSlot::On(|typed| &mut typed.ignore_bytes),
    ),
    row(
        "-max_connect_failures",
        true,
        "N",
        "The test ends after so many connections that failed",
        HttpLoadSlot::Number(1, |typed| &mut typed.max_connect_failures),
    ),
    row(
        "-header",
        true,
        "'NAME: VALUE'",
        "A field of each request; may be given several times",
        HttpLoadSlot::Texts(|typed| &mut typed.headers),
    ),
    row(
        "-http_version",
        true,
        "1.0|1.1",
        "Version of the requests",
        HttpLoadSlot::Text(|typed| &mut typed.http_version),
    ),
    row("-cipher", false, "STR", "Cipher suites of TLS", HttpLoadSlot::Text(|typed| &mut typed.cipher)),
    row(
        "-proxy",
        false,
        "HOST[:PORT]",
        "Requests go by way of this proxy",
        HttpLoadSlot::Text(|typed| &mut typed.proxy),
    ),
];

/// Ours; given whole.
const OURS: &[HttpLoadRow] = &[
    row(
        "--format",
        false,
        "acme|ats",
        "Whose report is printed [default: ats where one of its options is given]",
        HttpLoadSlot::Text(|typed| &mut typed.format),
    ),
    row(
        "--json",
        false,
        "FILE",
        "The report of wringer, too, - for standard output",
        HttpLoadSlot::Text(|typed| &mut typed.json),
    ),
    row(
        "--seed",
        false,
        "N",
        "The same seed sends the same requests",
        HttpLoadSlot::Number(0, |typed| &mut typed.seed),
    ),
    row("--verify", false, "", "Certificates are verified", HttpLoadSlot::On(|typed| &mut typed.verify)),
    row(
        "--show-plan",
        false,
        "",
        "The plan is printed, and nothing is sent",
        HttpLoadSlot::On(|typed| &mut typed.show_plan),
    ),
    row("--help", false, "", "This text", HttpLoadSlot::On(|typed| &mut typed.help)),
    row("--version", false, "", "Version", HttpLoadSlot::On(|typed| &mut typed.version)),
];

/// Lines of all options, for help.
pub(super) fn help() -> String {
    let line = |row: &HttpLoadRow| {
        let label = format!("{} {}", row.name, row.value);
        format!("  {label:25} {}\n", row.help)
    };
    TABLE.iter().chain(OURS).map(line).collect()
}

/// Reads the words after the command's name.
///
/// # Errors
/// A word that cannot be read.
pub(super) fn read(words: &[String]) -> Result<HttpLoadTyped, HttpLoadRefusal> {
    let mut typed = HttpLoadTyped::default();
    let mut at = 0;
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-') && word.len() > 1) {
        let value = words.get(at + 1);
        let row =
            find(word, value).ok_or_else(|| HttpLoadRefusal::Usage(format!("unknown option {word}")))?;
        typed.newer |= row.newer;
        at += 1;
        if let HttpLoadSlot::On(field) = row.slot {
            *field(&mut typed) = true;
            continue;
        }
        let value = value.ok_or_else(|| HttpLoadRefusal::Usage(format!("{} needs a value", row.name)))?;
        at += 1;
        match row.slot {
            HttpLoadSlot::On(_) => {}
            HttpLoadSlot::Number(least, field) => *field(&mut typed) = Some(number(row.name, value, least)?),
            HttpLoadSlot::Text(field) => *field(&mut typed) = Some(value.clone()),
            HttpLoadSlot::Texts(field) => field(&mut typed).push(value.clone()),
        }
    }
    let mut rest = words[at..].iter();
    typed.file = rest.next().cloned();
    match rest.next() {
        Some(more) => {
            Err(HttpLoadRefusal::Usage(format!("one file of URLs is read; '{more}' is one too many")))
        }
        None => Ok(typed),
    }
}

/// The row that a word means. `-s`, `-se` with a number behind is `-seconds`, as in the older tool.
fn find(word: &str, value: Option<&String>) -> Option<&'static HttpLoadRow> {
    if word.starts_with("--") {
        return OURS.iter().find(|row| row.name == word);
    }
    let counts = value.is_some_and(|value| value.bytes().all(|byte| byte.is_ascii_digit()));
    if counts && "-seconds".starts_with(word) {
        return TABLE.iter().find(|row| row.name == "-seconds");
    }
    TABLE.iter().find(|row| row.name.starts_with(word))
}

fn number(name: &str, text: &str, least: u64) -> Result<u64, HttpLoadRefusal> {
    let wrong = || {
        HttpLoadRefusal::Value(format!(
            "{name} must be at least {least}, and '{text}' is not: give a whole number"
        ))
    };
    text.parse().ok().filter(|number| *number >= least).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_line(line: &str) -> Result<HttpLoadTyped, HttpLoadRefusal> {
        read(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn beginnings_of_words_are_enough() {
        let typed = |line: &str| read_line(line).unwrap();
        for (short, long) in [
            ("-p 30 -s 60 f", "-parallel 30 -seconds 60 f"),
            ("-r 100 -f 1000 -j f", "-rate 100 -fetches 1000 -jitter f"),
            ("-c -t -T 56000 -v -ti 5 f", "-checksum -throttle -Throttle 56000 -verbose -timeout 5 f"),
            ("-s -so 3 -se f", "-sequential -sockets 3 -sequential f"),
            (
                "-pro p:1 -k 10 -u -a -ag x -co y -i",
                "-proxy p:1 -keep_alive 10 -unique_id -accept_gzip -agent x -cookie y -ignore_bytes",
            ),
            (
                "-h A:b -h C:d -http 1.0 -si f -ci x",
                "-header A:b -header C:d -http_version 1.0 -sip f -cipher x",
            ),
        ] {
            assert_eq!(typed(short), typed(long), "{short}");
        }
        assert!(!typed("-p 30 -s 60 f").newer && typed("-p 30 -k 5 f").newer);
    }

    /// The usage has the originals' form, and so its own words for what the table holds.
    #[test]
    fn usage_and_help_have_every_option() {
        let usage = super::super::USAGE;
        let words: Vec<&str> =
            usage.split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_')).collect();
        for row in TABLE.iter().chain(OURS) {
            assert!(words.contains(&row.name), "{} is not in the usage", row.name);
            assert!(
                usage.contains(format!("{} {}", row.name, row.value).trim()),
                "{} {}",
                row.name,
                row.value
            );
            let line = help()
                .lines()
                .find(|line| line.split_whitespace().next() == Some(row.name))
                .unwrap()
                .to_owned();
            assert!(line.ends_with(row.help) && row.value.is_empty() != takes_value(row), "{line}");
        }
    }

    fn takes_value(row: &HttpLoadRow) -> bool {
        !matches!(row.slot, HttpLoadSlot::On(_))
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        for (line, said) in [
            ("-x f", "unknown option -x"),
            ("-p", "-parallel needs a value"),
            ("-p 0 f", "-parallel must be at least 1"),
            ("-p x f", "'x'"),
            ("-p 1 -f 1 a b", "one too many"),
            ("--form ats", "unknown option --form"),
        ] {
            assert!(read_line(line).unwrap_err().text().contains(said), "{line}");
        }
    }
}
