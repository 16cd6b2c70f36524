//! Which format a log has, told by its first thousand lines; where two fit that mean different things, it asks.

use super::names::{self, FormatSource};
use super::template::Misfit;
use super::{Format, RecordingLine};
use crate::entry::{Entry, Named, Sent};
use crate::moment::Zone;
use crate::text::trim;
use std::net::IpAddr;

/// Lines that are looked at.
pub const LINES: usize = 1_000;

/// A format that fits, and what had to be assumed.
#[derive(Debug, Clone)]
pub struct Detected {
    /// The format.
    pub format: Format,
    /// An assumption about what the lines cannot tell, in words; empty: none.
    pub assumed: String,
}

/// A format that nearly fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Near {
    /// Its name.
    pub name: &'static str,
    /// Column of the first line, from 1, at which it stops to fit.
    pub column: u32,
    /// How the format calls what should be there; empty: the line goes on where it should end.
    pub wanted: String,
}

/// No format, or more than one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DetectError {
    /// There is no line to look at.
    #[error("it has no lines")]
    Empty,
    /// None fits.
    #[error(
        "no known format fits its first line, '{first}'{}: give --log-format the server's own format string, or json:time=KEY,path=KEY",
        nearly(near)
    )]
    None {
        /// The first line, cut to what can be shown.
        first: String,
        /// Those that fit longest.
        near: Vec<Near>,
    },
    /// Several fit, and they mean different things.
    #[error("its lines fit {}, which mean different things ({why}): give --log-format one of them", .names.join(" and "))]
    Several {
        /// Their names.
        names: Vec<&'static str>,
        /// The difference between them.
        why: &'static str,
    },
}

fn nearly(near: &[Near]) -> String {
    let told = near.iter().map(|one| match one.wanted.is_empty() {
        true => format!("{} fits up to column {}", one.name, one.column),
        false => format!("{} fits up to column {}, where {} should be", one.name, one.column, one.wanted),
    });
    let told: Vec<String> = told.collect();
    if told.is_empty() { String::new() } else { format!(" ({})", told.join("; ")) }
}

/// Tells the format of these lines, the first of a log.
///
/// # Errors
/// Where none fits, or several that differ in meaning.
pub fn detect(lines: &[&[u8]], zone: &Zone) -> Result<Detected, DetectError> {
    let lines: Vec<&[u8]> = lines.iter().copied().filter(|line| !trim(line).is_empty()).take(LINES).collect();
    let Some(first) = lines.first() else { return Err(DetectError::Empty) };
    let mut fits = Vec::new();
    let mut misses = Vec::new();
    let is_shifted = has_addresses_second(&lines);
    let may_be = |named: &&names::Named| !(is_shifted && named.source.begins_with_client());
    for named in names::ALL.iter().filter(may_be) {
        let bare = Format::named(named, zone.clone()).expect("named formats compile, as a test sees");
        for format in [bare.clone(), bare.behind_syslog()] {
            match tried(format, &lines) {
                Ok(looked) => {
                    fits.push((named.name, looked));
                    break;
                }
                Err(missed) => misses.push(near_of(named, &missed.0, missed.1)),
            }
        }
    }
    if fits.is_empty() {
        // Of JSON nobody can say how near it is.
        misses.sort_by_key(|near: &Near| (!near.wanted.is_empty(), std::cmp::Reverse(near.column)));
        misses.dedup_by_key(|near| near.name);
        let near = misses.into_iter().filter(|near| near.column > 1).take(3).collect();
        let shown = String::from_utf8_lossy(&first[..first.len().min(100)]).into_owned();
        return Err(DetectError::None { first: shown, near });
    }
    choose(fits)
}

/// True if nine of ten lines have an address for their second word. Whoever reads the first one for the client, and has a user's name
/// with blanks, would take all before the time, and a name of the server or of a proxy for the client.
fn has_addresses_second(lines: &[&[u8]]) -> bool {
    let has = |line: &&&[u8]| {
        let second = line.split(|byte| *byte == b' ').nth(1).and_then(|word| std::str::from_utf8(word).ok());
        second.is_some_and(|word| word.trim_end_matches(',').parse::<IpAddr>().is_ok())
    };
    lines.iter().filter(has).count() * 10 >= lines.len() * 9
}

fn near_of(named: &names::Named, format: &Format, misfit: Misfit) -> Near {
    let is_json = matches!(named.source, FormatSource::Json(..));
    let column = if is_json { 0 } else { misfit.column };
    Near { name: named.name, column, wanted: format.field_name(misfit.field).unwrap_or_default().to_owned() }
}

/// Signs that the lines show when read by a format.
#[derive(Debug)]
struct Looked {
    format: Format,
    /// Answers 304 with bytes: the count has heads in it.
    heads_counted: bool,
    /// Most targets are absolute URLs.
    absolute: bool,
    /// A word that only Squid has, or only Traffic Server.
    squids: bool,
    atss: bool,
}

/// Reads the lines by a format; nine of ten have to fit.
fn tried(mut format: Format, lines: &[&[u8]]) -> Result<Looked, Box<(Format, Misfit)>> {
    let mut first = None;
    let mut fitting = 0;
    let mut entries = 0;
    let mut absolute = 0;
    let mut heads_counted = false;
    for line in lines {
        let mut entry = Entry::default();
        match format.read(line, &mut entry) {
            Ok(RecordingLine::Directive) => fitting += 1,
            Ok(RecordingLine::Entry)
                if entry.time.or(entry.began).is_some() && entry.object != Named::Nothing =>
            {
                (fitting, entries) = (fitting + 1, entries + 1);
                let bytes = match entry.sent {
                    Sent::Body(bytes) => bytes,
                    Sent::Unknown | Sent::Whole(_) | Sent::Apart { .. } => 0,
                };
                heads_counted |= entry.status == Some(304) && bytes > 0;
                absolute += usize::from(is_absolute(&entry.object));
            }
            Ok(RecordingLine::Entry) => first = first.or(Some(Misfit { column: 1, field: usize::MAX })),
            Err(misfit) => first = first.or(Some(misfit)),
        }
    }
    if entries == 0 || fitting * 10 < lines.len() * 9 {
        return Err(Box::new((format, first.unwrap_or(Misfit { column: 1, field: usize::MAX }))));
    }
    let any = |words: &[&str]| {
        lines
            .iter()
            .any(|line| words.iter().any(|word| memchr::memmem::find(line, word.as_bytes()).is_some()))
    };
    Ok(Looked {
        format,
        heads_counted,
        absolute: absolute * 2 > entries,
        squids: any(&[" HIER_", "_ABORTED/", "_UNMODIFIED/", "_MODIFIED/", " NONE_NONE/", "TCP_TUNNEL/"]),
        atss: any(&[
            " ERR_",
            "TCP_REFRESH_MISS/",
            "TCP_CLIENT_REFRESH/",
            "TCP_IMS_MISS/",
            "TCP_REF_FAIL_HIT/",
        ]),
    })
}

fn is_absolute(object: &Named<'_>) -> bool {
    let text = match object {
        Named::Line(line) => line.bytes.split(|byte| *byte == b' ').nth(1).unwrap_or(b""),
        Named::Target(text) | Named::Parts(text, _) => text.bytes,
        Named::Nothing | Named::Number(_) => b"",
    };
    text.starts_with(b"http://") || text.starts_with(b"https://")
}

/// Chooses among the formats that fit.
fn choose(mut fits: Vec<(&'static str, Looked)>) -> Result<Detected, DetectError> {
    let names: Vec<&'static str> = fits.iter().map(|(name, _)| *name).collect();
    let Some((only, looked)) = fits.first() else { return Err(DetectError::Empty) };
    let (wanted, assumed) = match *only {
        "combined" | "common" => {
            let whole = if *only == "combined" { "combined-whole" } else { "common-whole" };
            match (looked.heads_counted, looked.absolute) {
                (true, _) => {
                    (whole, "answers 304 have bytes, so bytes are taken to be those of head and body")
                }
                (false, true) if *only == "combined" => ("varnish", "absolute URLs: taken as varnishncsa's"),
                (false, _) => {
                    (*only, "Apache's, nginx's and others look alike; times are taken for the begin")
                }
            }
        }
        "squid" if names.contains(&"ats") => match (looked.squids, looked.atss) {
            (true, false) => ("squid", ""),
            (false, true) => ("ats", ""),
            (true, true) | (false, false) => {
                return Err(DetectError::Several {
                    names: vec!["squid", "ats"],
                    why: "the time of Squid's log is the end of a request, that of Traffic Server's the begin",
                });
            }
        },
        only if names.len() == 1 => (only, ""),
        _ => return Err(DetectError::Several { names, why: "their keys or fields overlap" }),
    };
    let at = names.iter().position(|name| *name == wanted).expect("look-alikes fit the same lines");
    Ok(Detected { format: fits.swap_remove(at).1.format, assumed: assumed.to_owned() })
}
