//! Text and JSON of an import: what was read, what was left out and why, what is to be known before anybody believes a result.

use recording::file::{Header, Input, Known, Note, Summary};
use recording::left_out::LeftOut;
use recording::written::WrittenCapture;
use report::show::{bytes, count, counted, duration, percent, rate, time};
use std::path::Path;
use std::time::Duration;

/// Examples of a reason that are shown where something was written.
const FEW: usize = 3;

/// An import that came to its end.
pub struct About<'a> {
    /// The recording; `None`: nothing was to be written.
    pub file: Option<&'a Path>,
    /// Bytes of it.
    pub bytes: u64,
    /// Its header.
    pub header: &'a Header,
    /// Its summary.
    pub summary: &'a Summary,
    /// All that was left out, with texts.
    pub left_out: &'a LeftOut,
}

impl About<'_> {
    fn lines(&self) -> u64 {
        self.header.inputs.iter().map(|input| input.lines).sum()
    }

    /// Share of the lines that should have been read and could not be.
    pub fn lost_share(&self) -> f64 {
        self.left_out.losses() as f64 / self.lines().max(1) as f64
    }
}

/// The text for people. `examples`: the first requests, as they were read.
pub fn text(about: &About<'_>, examples: &[String]) -> String {
    let mut text = headline(about) + "\n";
    let mut add = |line: String| {
        text.push_str("  ");
        text.push_str(&line);
        text.push('\n');
    };
    left_out(about).into_iter().for_each(&mut add);
    about.header.inputs.iter().map(input).for_each(&mut add);
    facts(about).into_iter().for_each(&mut add);
    let notes = about.header.notes.iter().chain(&about.summary.notes);
    notes.map(|told| format!("note: {}", note(told))).for_each(&mut add);
    if !examples.is_empty() {
        add("the first requests, as they were read:".to_owned());
        examples.iter().map(|line| format!("  {line}")).for_each(&mut add);
    }
    text
}

fn headline(about: &About<'_>) -> String {
    let Summary { requests, span_us, .. } = about.summary;
    let over = duration(Duration::from_micros(*span_us));
    let lines = about.lines();
    let left = match about.left_out.total() {
        0 => "none of the lines was left out".to_owned(),
        left => format!("{} of {} left out", count(left), counted(lines, "line")),
    };
    let dropped = about.header.notes.iter().find_map(|note| match note {
        Note::Dropped { packets, of } => Some((packets, of)),
        _ => None,
    });
    let dropped = dropped.map_or(String::new(), |(packets, of)| {
        format!("; {} of {} dropped by the kernel", count(*packets), counted(*of, "packet"))
    });
    let read = format!("{} over {over}; {left}{dropped}", counted(*requests, "request"));
    match about.file {
        Some(file) => format!("{}: {read}", file.display()),
        None => format!("nothing was written; there are {read}"),
    }
}

/// A line for each reason, with the first lines that it holds of.
fn left_out(about: &About<'_>) -> Vec<String> {
    let shown = if about.file.is_none() { usize::MAX } else { FEW };
    let mut lines = Vec::new();
    for (reason, share) in &about.left_out.reasons {
        let kind = if reason.is_loss() { "lost" } else { "no request to replay" };
        lines.push(format!("left out, each {}: {} ({kind})", reason.name(), counted(share.count, "line")));
        lines.extend(share.examples.iter().take(shown).map(|example| {
            let column = match example.column {
                0 => String::new(),
                column => format!(" column {column}"),
            };
            format!("  {} line {}{column}: {}", example.input, example.line, example.text)
        }));
    }
    lines
}

fn input(input: &Input) -> String {
    let broken = input.broken.as_ref().map_or(String::new(), |why| format!("; it broke off: {why}"));
    format!(
        "{}: format {}, {}, {} of {}, {} to {}{broken}",
        input.name,
        input.format,
        bytes(input.bytes),
        counted(input.requests, "request"),
        counted(input.lines, "line"),
        moment(input.first_us),
        moment(input.last_us),
    )
}

fn facts(about: &About<'_>) -> Vec<String> {
    let header = about.header;
    let summary = about.summary;
    let users = match &header.users {
        Some(by) => format!("{} (by {by})", counted(summary.users, "user")),
        None => "users are not told".to_owned(),
    };
    let mean = summary.requests as f64 / (summary.span_us as f64 / 1e6);
    let at = if summary.span_us > 0 { format!(", {} on average", rate(mean)) } else { String::new() };
    let mut lines = vec![
        format!(
            "{}, {} asked for once, {} together; {users}{at}",
            counted(summary.objects, "object"),
            count(summary.once),
            bytes(summary.footprint),
        ),
        format!("methods {}", shares(summary.methods.iter().map(|(word, n)| (word.name().to_owned(), *n)))),
        format!("statuses {}", shares(summary.statuses.iter().map(|(status, n)| (status.to_string(), *n)))),
        format!(
            "the cache's account {}",
            shares(summary.caches.iter().map(|(word, n)| (word.name().to_owned(), *n)))
        ),
        format!(
            "lifetimes {}",
            shares(summary.lifetimes.iter().map(|(known, n)| (known_name(*known).to_owned(), *n)))
        ),
        format!("times in steps of {}", time(header.resolution_us.into())),
    ];
    if let Some(private) = Some(header.kept.join(", ")).filter(|kept| !kept.is_empty()) {
        lines.push(format!("private things that were kept as they are: {private}"));
    }
    if about.file.is_some() {
        let each = about.bytes as f64 / summary.requests.max(1) as f64;
        lines.push(format!("{}, {each:.1} bytes per request", bytes(about.bytes)));
    }
    lines
}

fn known_name(known: Known) -> &'static str {
    match known {
        Known::Unknown => "unknown",
        Known::Logged => "logged",
        Known::Trace => "of the trace",
        Known::Inferred => "inferred from hits",
        Known::NeverHit => "never a hit",
    }
}

/// Words with their shares, the most frequent first.
fn shares(all: impl Iterator<Item = (String, u64)>) -> String {
    let mut all: Vec<(String, u64)> = all.filter(|(_, count)| *count > 0).collect();
    all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let sum: u64 = all.iter().map(|(_, count)| count).sum();
    let each = all.iter().map(|(word, n)| format!("{word} {}", percent(*n as f64 / sum as f64)));
    let text = each.collect::<Vec<_>>().join(", ");
    if text.is_empty() { "are not told".to_owned() } else { text }
}

/// A note as a sentence.
pub fn note(note: &Note) -> String {
    match note {
        Note::GapsInvented { requests, below_us } => format!(
            "gaps below {} are invented: the moments of {} were spread within such a step",
            time(u64::from(*below_us)),
            counted(*requests, "request")
        ),
        Note::OrderedByEnd { requests } => format!(
            "ordered by end: of {} the log tells neither begin nor duration, so a slow one comes too late",
            counted(*requests, "request")
        ),
        Note::StepsBack { count: steps, widest_us, at } => format!(
            "times step back by more than 1 s {} times, first at {at}, by {} at most: all were sorted",
            count(*steps),
            duration(Duration::from_micros(widest_us.unsigned_abs()))
        ),
        Note::ZoneMissing { input } => format!("{input} names no zone: its times were taken as UTC (--zone)"),
        Note::KeysUnseen { input, keys } => {
            let keys = keys.join(", ");
            format!("no line of {input} has the keys that --log-format names as {keys}: are they written so?")
        }
        Note::TimesLong { share, above_us } => format!(
            "{} of the response times are longer than {}: milliseconds may have been read as seconds (json: has duration_ms, duration_us \
             and duration_ns)",
            percent(*share),
            duration(Duration::from_micros(*above_us))
        ),
        Note::TimesEqual { at_us } => {
            format!("all times are one, {}: there is no order to replay", moment(*at_us))
        }
        Note::Overlap { one, other, shared } => format!(
            "{one} and {other} cover the same time, and share {} of their lines as far as a sample tells",
            percent(*shared)
        ),
        Note::SizesGuessed { share } => format!(
            "sizes of {} of the objects are guessed from others of their type: only 206, 304, HEAD or aborts were seen",
            percent(*share)
        ),
        Note::HeadsGuessed { requests, bytes } => format!(
            "of {} the log counts head and body together: {bytes} B were taken off each as the head",
            counted(*requests, "request")
        ),
        Note::Assumed { input, what } => format!("{input}: {what}"),
        Note::Skipped { input, what, times } => {
            format!("{input}: {what} is passed by, {}", counted(*times, "time"))
        }
        Note::Encrypted { connections } => format!("{} encrypted", counted(*connections, "connection")),
        Note::Missing { holes, bytes } => {
            format!("{} with {bytes} bytes were never seen", counted(*holes, "hole"))
        }
        Note::Dropped { packets, of } => format!(
            "the kernel dropped {} of {}, as they came faster than they were read: what they held is missing",
            count(*packets),
            counted(*of, "packet")
        ),
        Note::PassedBy { packets, why } => format!("{} passed by {why}", counted(*packets, "packet")),
        Note::Truncated { packets } => format!("{} cut", counted(*packets, "packet")),
    }
}

/// A moment in UTC.
pub fn moment(us: i64) -> String {
    jiff::Timestamp::from_microsecond(us).map_or_else(|_| format!("{us} µs"), |at| at.to_string())
}

/// The same for programs.
pub fn json(about: &About<'_>) -> String {
    let written = WrittenCapture {
        schema: WrittenCapture::SCHEMA,
        schema_version: WrittenCapture::VERSION,
        version: env!("CARGO_PKG_VERSION"),
        recording: about.file.map(|file| file.display().to_string()),
        bytes: about.bytes,
        lines: about.lines(),
        lost_share: about.lost_share(),
        left_out: about.left_out,
        header: about.header,
        summary: about.summary,
    };
    let text = serde_json::to_string(&written).expect("figures and texts are JSON");
    report::harmless_json(text) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use recording::left_out::Reason;
    use serde_json::json;

    #[test]
    fn the_headline_says_what_was_left_out_and_the_lines_below_it_why() {
        let mut left_out = LeftOut::default();
        (1..=4).for_each(|line| left_out.add(Reason::Unparsed, "a.log", line, 7, b"x"));
        left_out.add(Reason::NoRequest, "a.log", 9, 0, b"-");
        let input = Input { name: "a.log".to_owned(), lines: 105, requests: 100, ..Input::default() };
        let header = Header { inputs: vec![input], ..Header::default() };
        let summary = Summary { requests: 100, span_us: 2_000_000, ..Summary::default() };
        let mut about = About {
            file: Some(Path::new("a.rec")),
            bytes: 1_200,
            header: &header,
            summary: &summary,
            left_out: &left_out,
        };
        let told = text(&about, &[]);
        assert!(told.starts_with("a.rec: 100 requests over 2.00 s; 5 of 105 lines left out\n"), "{told}");
        assert!(told.contains("left out, each does not fit the format: 4 lines (lost)\n"), "{told}");
        assert!(told.contains("a.log line 3 column 7: x") && !told.contains("line 4 column"), "{told}");
        assert!(told.contains("each tells of no request: 1 line (no request to replay)"), "{told}");
        about.file = None;
        let told = text(&about, &["one".to_owned()]);
        assert!(told.starts_with("nothing was written; there are 100 requests over"), "{told}");
        assert!(told.contains("line 4 column 7") && told.ends_with("    one\n"), "{told}");
        let read: serde_json::Value = serde_json::from_str(&json(&about)).unwrap();
        assert_eq!((&read["lines"], &read["recording"]), (&json!(105), &serde_json::Value::Null));
        assert_eq!(read["left_out"]["reasons"]["unparsed"]["count"], json!(4));
    }
}
