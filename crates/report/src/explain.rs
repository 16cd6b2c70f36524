//! `wringer explain`: what the names of breaches, error codes, failures and faults mean; and the page of the docs that has all of them.
//!
//! Pure: of the catalogue in `breach`, and of the kinds in `measure`. Start at [`explain`].

use crate::Language;
use crate::show::{self, ShowTable};
use breach::{Blame, Breach, CodeEntry, Ends, Entry, Protocol, codes};
use measure::{FailureKind, Fault};

/// Columns before the text of an entry's rows.
const MARGIN: usize = 11;
/// Bytes of an example that one line shows.
const BYTES_SHOWN: usize = 60;

/// The groups of the catalogue, with their titles.
fn groups() -> [(&'static str, Vec<&'static Entry>); 4] {
    let of = |fits: fn(&Breach) -> bool| Breach::all().filter(fits).map(Breach::entry).collect();
    [
        ("HTTP/1", of(|breach| matches!(breach, Breach::Http1(_)))),
        ("HTTP/2", of(|breach| matches!(breach, Breach::Http2(_) | Breach::Hpack(_)))),
        ("HTTP/3", of(|breach| matches!(breach, Breach::Http3(_) | Breach::Qpack(_)))),
        ("Messages of HTTP/2 and HTTP/3", of(|breach| matches!(breach, Breach::Message(_)))),
    ]
}

/// All that is known of a name, in lines; `None`: it is none. A number, such as `0xb`, is an error code.
pub fn explain(name: &str) -> Option<String> {
    explain_in(name, Language::English)
}

/// Entries of a name, of each catalogue that has one.
fn explained(name: &str) -> Vec<String> {
    let name = name.trim().replace('-', "_");
    let lower = name.to_ascii_lowercase();
    let breach = Breach::named(&lower).map(|breach| of_breach(breach.entry()));
    let number = lower.strip_prefix("0x").map_or(lower.parse().ok(), |hex| u64::from_str_radix(hex, 16).ok());
    let fits = |entry: &&CodeEntry| entry.name.eq_ignore_ascii_case(&name) || Some(entry.number) == number;
    let codes = codes::all().filter(fits).map(of_code);
    let kind = FailureKind::ALL.iter().find(|kind| kind.name() == lower).map(|kind| of_kind(*kind));
    let fault = Fault::ALL.iter().find(|fault| fault.name() == lower).map(|fault| of_fault(*fault));
    breach.into_iter().chain(codes).chain(kind).chain(fault).collect()
}

/// The same in a language. Names, bytes of examples and what the catalogue says of a rule stay as they are.
pub fn explain_in(name: &str, language: Language) -> Option<String> {
    let all: Vec<String> = explained(name).iter().map(|text| said(text, language)).collect();
    (!all.is_empty()).then(|| all.join("\n"))
}

fn said(text: &str, language: Language) -> String {
    let Some((name, rest)) = text.split_once(": ") else { return text.to_owned() };
    let parts: Vec<&str> = rest.split("\n\n").collect();
    let say = |(nth, part): (usize, &&str)| match nth == 1 && parts.len() > 2 {
        // The meaning of a rule has no Chinese, and must not have it in parts.
        true => (*part).to_owned(),
        false => language.say_page(part),
    };
    let parts: Vec<String> = parts.iter().enumerate().map(say).collect();
    format!("{name}: {}", parts.join("\n\n"))
}

/// Every name that can be explained.
pub fn names() -> impl Iterator<Item = &'static str> {
    let breaches = Breach::all().map(Breach::name);
    let codes = codes::all().map(|code| code.name);
    let kinds = FailureKind::ALL.iter().map(|kind| kind.name());
    let faults = Fault::ALL.iter().map(|fault| fault.name());
    breaches.chain(codes).chain(kinds).chain(faults)
}

/// All names with what they say, in groups, in a language.
pub fn list(language: Language) -> String {
    let mut text = String::new();
    let mut group = |title: &str, rows: Vec<[&str; 2]>| {
        let mut table = ShowTable::new("Ll");
        rows.into_iter().for_each(|row| table.row(row));
        let table = table.said(|cell| language.say(cell));
        text.push_str(&language.say_page(title));
        text.push('\n');
        table.lines().iter().for_each(|line| text.push_str(&format!("  {line}\n")));
        text.push('\n');
    };
    for (title, entries) in groups() {
        group(title, entries.iter().map(|entry| [entry.name, entry.text]).collect());
    }
    for protocol in [Protocol::Http2, Protocol::Http3, Protocol::Quic, Protocol::Tls] {
        let title = format!("Error codes of {}", protocol_title(protocol));
        group(&title, codes::of(protocol).iter().map(|code| [code.name, code.meaning]).collect());
    }
    group("Kinds of failures", FailureKind::ALL.iter().map(|kind| [kind.name(), kind.text()]).collect());
    group("Faults of answers", Fault::ALL.iter().map(|fault| [fault.name(), fault.text()]).collect());
    text.push_str(&language.say_page("`wringer explain NAME` says more of one.\n"));
    text
}

/// The names that are like what was typed, the most alike first, at most three.
pub fn near(typed: &str) -> Vec<&'static str> {
    let typed = typed.to_ascii_lowercase().replace('-', "_");
    let mut near: Vec<(f64, &str)> = names()
        .map(|name| (likeness(&typed, &name.to_ascii_lowercase()), name))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .collect();
    near.sort_by(|one, other| other.0.total_cmp(&one.0));
    near.dedup_by_key(|(_, name)| *name);
    near.into_iter().take(3).map(|(_, name)| name).collect()
}

/// Names are like each other from here on.
const ALIKE: f64 = 0.8;

/// How alike a name is to what was typed, 0 to 1: also where that is a part of it, such as a name without its prefix.
fn likeness(typed: &str, name: &str) -> f64 {
    let whole = strsim::jaro_winkler(typed, name);
    let behind_prefix = name.split_once('_').map_or(0.0, |(_, rest)| strsim::jaro_winkler(typed, rest));
    let is_part = typed.len() >= 4 && name.contains(typed);
    whole.max(behind_prefix * 0.99).max(if is_part { 0.9 } else { 0.0 })
}

fn protocol_title(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Http2 => "HTTP/2",
        Protocol::Http3 => "HTTP/3 and QPACK",
        Protocol::Quic => "QUIC",
        Protocol::Tls => "TLS (alerts)",
    }
}

fn of_breach(entry: &Entry) -> String {
    let mut text = format!("{}: {}\n\n", entry.name, entry.text);
    show::wrap(entry.meaning, show::WIDTH - 2).iter().for_each(|line| text.push_str(&format!("  {line}\n")));
    text.push('\n');
    let mut row = |title: &str, said: &str| {
        let mut title = Some(title);
        for line in show::wrap(said, show::WIDTH - MARGIN - 2) {
            let title = title.take().unwrap_or_default();
            text.push_str(format!("  {title:<MARGIN$}{line}").trim_end());
            text.push('\n');
        }
    };
    row("rule", &rules(entry));
    row("ends", ends(entry.ends));
    row("blame", blame(entry.blame));
    let codes = entry.codes.iter().map(|code| format!("{code} over {}", protocol_title(code.protocol)));
    row("answered", &codes.collect::<Vec<_>>().join(", "));
    row("try", entry.advice.english);
    row("example", &format!("{}:", entry.example.situation.text()));
    let margin = " ".repeat(MARGIN + 2);
    example(entry).iter().for_each(|line| text.push_str(&format!("{margin}{line}\n")));
    text
}

fn rules(entry: &Entry) -> String {
    breach::rules_text(entry.rules.iter().copied())
}

fn ends(ends: Ends) -> &'static str {
    match ends {
        Ends::Stream => "the stream of one request; its connection goes on",
        Ends::Connection => "the connection",
        Ends::Either => "the stream, or the connection where the frame is about that",
    }
}

fn blame(blame: Blame) -> &'static str {
    match blame {
        Blame::Peer => "the other side, which broke the rule",
        Blame::OwnLimit => "nobody: a limit of this program's",
    }
}

/// The bytes of an example, those that are no visible ASCII escaped, a line of text or some 60 bytes in each line.
fn example(entry: &Entry) -> Vec<String> {
    let mut lines = Vec::new();
    for piece in entry.example.pieces {
        let times = if piece.times == 1 { String::new() } else { format!("{} times ", piece.times) };
        if piece.bytes.is_empty() {
            lines.push("(nothing)".to_owned());
        }
        let mut times = Some(times);
        for line in piece.bytes.split_inclusive(|byte| *byte == b'\n') {
            for part in line.chunks(BYTES_SHOWN) {
                let times = times.take().unwrap_or_default();
                lines.push(format!("{times}{}", breach::visible(part)));
            }
        }
    }
    lines
}

fn of_code(entry: &CodeEntry) -> String {
    let CodeEntry { name, number, meaning, rule, .. } = entry;
    format!("{name}: error code {number:#x} of {} ({rule})\n\n  {meaning}\n", protocol_title(entry.protocol))
}

fn of_kind(kind: FailureKind) -> String {
    let text = format!("{}: {}\n\n  A kind of failure: no good answer came.\n", kind.name(), kind.text());
    let breaches: Vec<&str> =
        Breach::all().filter(|breach| FailureKind::of_breach(*breach) == kind).map(Breach::name).collect();
    if breaches.is_empty() {
        return text;
    }
    let named = format!("Breaches of this kind: {}.", breaches.join(", "));
    let lines = show::wrap(&named, show::WIDTH - 2);
    lines.iter().fold(text, |text, line| format!("{text}  {line}\n"))
}

fn of_fault(fault: Fault) -> String {
    format!(
        "{}: {}\n\n  A fault: an answer came whole, and is not what it should be. See docs/src/oracle.md.\n",
        fault.name(),
        fault.text()
    )
}

/// The page of the docs with all breaches and codes, as Markdown.
pub fn page() -> String {
    let mut text = String::from(PAGE_BEGINS);
    for (title, entries) in groups() {
        text.push_str(&format!("\n## {title}\n"));
        entries.iter().for_each(|entry| text.push_str(&section(entry)));
    }
    text.push_str(
        "\n## Error codes\n\nA stream or a connection is ended with one of these, by either side.\n",
    );
    for protocol in [Protocol::Http2, Protocol::Http3, Protocol::Quic, Protocol::Tls] {
        text.push_str(&format!(
            "\n### Of {}\n\n| code | number | meaning |\n|---|---|---|\n",
            protocol_title(protocol)
        ));
        for code in codes::of(protocol) {
            text.push_str(&format!("| `{}` | {:#x} | {} |\n", code.name, code.number, code.meaning));
        }
    }
    text
}

const PAGE_BEGINS: &str = "\
# Names of breaches

What does not follow the rules of HTTP has a name, in reports, in JSON (`breach`), on the page and in evidence: which rule it is, who is to
blame, what it ended, and by which bytes it can be provoked. `wringer explain NAME` prints the entry of a name, `wringer explain` lists all.
This page is made of the same catalogue; each example is given to the readers of this program by a test, and must have that name.

Names begin with the protocol: `h1_`, `h2_` and `hpack_`, `h3_` and `qpack_`; those without belong to messages of HTTP/2 and HTTP/3 alike.
Where a limit of this program was exceeded, the other side is not to blame; the entry says so.
";

fn section(entry: &Entry) -> String {
    let codes: Vec<String> = entry.codes.iter().map(|code| format!("`{code}`")).collect();
    let codes = if codes.is_empty() { String::new() } else { format!(" with {}", codes.join(" or ")) };
    let limit = match entry.blame {
        Blame::Peer => "",
        Blame::OwnLimit => " A limit of this program's.",
    };
    let lines: Vec<String> = example(entry).iter().map(|line| format!("{line}\n")).collect();
    format!(
        "\n### {}\n\n{}. {}{limit}\n\n{}. Ends {}{codes}. {}\n\nFor example, {}:\n\n```text\n{}```\n",
        entry.name,
        capital(entry.text),
        entry.meaning,
        rules(entry),
        ends(entry.ends),
        entry.advice.english,
        entry.example.situation.text(),
        lines.concat(),
    )
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_explained_within_the_width() {
        for name in names() {
            let text = explain(name).unwrap_or_else(|| panic!("{name}"));
            assert!(text.to_lowercase().contains(&name.to_lowercase()), "{text}");
            let whole = text.lines().filter(|line| !line.contains("\\x"));
            assert!(whole.clone().all(|line| line.chars().count() <= show::WIDTH + 60), "{text}");
        }
        assert_eq!(explain("nothing_like_it"), None);
        assert!(explain("0xb").unwrap().contains("ENHANCE_YOUR_CALM"));
        assert!(explain("enhance_your_calm").unwrap().contains("excessive load"));
    }

    #[test]
    fn a_name_that_was_meant_is_found() {
        for (typed, meant) in [
            ("h1_field_nme", "h1_field_name"),
            ("field_without_colon", "h1_field_without_colon"),
            ("H2_DATA_FRIST", "h2_data_first"),
            ("enhance-your-calm", "ENHANCE_YOUR_CALM"),
            ("data_first", "h2_data_first"),
            ("colon", "h1_field_without_colon"),
        ] {
            assert!(near(typed).contains(&meant), "{typed}: {:?}", near(typed));
        }
        assert_eq!(near("zzzzzz"), Vec::<&str>::new());
    }

    #[test]
    fn an_entry_says_all_that_is_known() {
        assert_eq!(
            explain("h1_field_without_colon").unwrap(),
            "h1_field_without_colon: a field line has no colon\n\n  Each line of a head but the first is a name, a colon and a value. A line that\n  a program wrote for people, or the rest of a value with a line end in it, has\n  none.\n\n  rule       RFC 9112 section 5\n  ends       the connection\n  blame      the other side, which broke the rule\n  try        Look at what wrote it: the server, or a proxy before it. -v and the\n             evidence show its first bytes.\n  example    a server answers a GET over HTTP/1.1:\n             HTTP/1.1 200 OK\\r\\n\n             Server: a\\r\\n\n             warning from a script\\r\\n\n             \\r\\n\n"
        );
    }
}
