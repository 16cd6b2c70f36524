//! The format of a log, told by its first thousand lines: the one that most of them fit, if half of them do. Where two fit that mean
//! different things, it asks.

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
        "{}, '{first}'{}: give --log-format the server's own format string, or json:time=KEY,path=KEY",
        headline(*unfit),
        nearly(near)
    )]
    None {
        /// The first line that does not fit the format that fits most of them, cut to what can be shown.
        first: String,
        /// Those that fit longest.
        near: Vec<Near>,
        /// The format that fits some lines, the first one among them, but less than half of all.
        unfit: Option<&'static str>,
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

fn headline(unfit: Option<&'static str>) -> String {
    match unfit {
        None => "no known format fits its first line".to_owned(),
        Some(name) => format!("no known format fits half of its lines: {name} fits some, but not this one"),
    }
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
    if lines.is_empty() {
        return Err(DetectError::Empty);
    }
    let mut fits: Vec<Looked> = Vec::new();
    let mut misses = Vec::new();
    let mut partly: Option<Looked> = None;
    let is_shifted = has_addresses_second(&lines);
    let may_be = |named: &&names::Named| !(is_shifted && named.source.begins_with_client());
    for named in names::ALL.iter().filter(may_be) {
        let bare = Format::named(named, zone.clone()).expect("named formats compile, as a test sees");
        for format in [bare.clone(), bare.behind_syslog()] {
            let looked = tried(named, format, &lines);
            if looked.is_fit() {
                fits.push(looked);
                break;
            }
            misses.push(near_of(named, &looked));
            if looked.fitting[0] && partly.as_ref().is_none_or(|best| looked.count() > best.count()) {
                partly = Some(looked);
            }
        }
    }
    let most = fits.iter().map(Looked::count).max().unwrap_or(0);
    fits.retain(|looked| looked.count() * 10 >= most * 9);
    if fits.is_empty() {
        let at = partly.as_ref().and_then(|best| best.fitting.iter().position(|fits| !fits)).unwrap_or(0);
        // Of JSON nobody can say how near it is.
        misses.sort_by_key(|near: &Near| (!near.wanted.is_empty(), std::cmp::Reverse(near.column)));
        misses.dedup_by_key(|near| near.name);
        let near = misses.into_iter().filter(|near| near.column > 1).take(3).collect();
        let shown = String::from_utf8_lossy(&lines[at][..lines[at].len().min(100)]).into_owned();
        return Err(DetectError::None { first: shown, near, unfit: partly.map(|best| best.name) });
    }
    choose(fits)
}

/// True if half of the lines have an address for their second word. Whoever reads the first one for the client, and has a user's name
/// with blanks, would take all before the time, and a name of the server or of a proxy for the client.
fn has_addresses_second(lines: &[&[u8]]) -> bool {
    let has = |line: &&&[u8]| {
        let second = line.split(|byte| *byte == b' ').nth(1).and_then(|word| std::str::from_utf8(word).ok());
        second.is_some_and(|word| word.trim_end_matches(',').parse::<IpAddr>().is_ok())
    };
    lines.iter().filter(has).count() * 2 >= lines.len()
}

fn near_of(named: &names::Named, looked: &Looked) -> Near {
    let is_json = matches!(named.source, FormatSource::Json(..));
    let misfit = looked.misfit.unwrap_or(Misfit { column: 1, field: usize::MAX });
    let column = if is_json { 0 } else { misfit.column };
    let wanted = looked.format.field_name(misfit.field).unwrap_or_default().to_owned();
    Near { name: named.name, column, wanted }
}

/// Signs that the lines show when read by a format.
#[derive(Debug)]
struct Looked {
    name: &'static str,
    format: Format,
    /// The lines that fit, by their places.
    fitting: Vec<bool>,
    /// Lines that tell of a request.
    entries: usize,
    /// The place at which the first line that does not fit stops to.
    misfit: Option<Misfit>,
    /// Answers 304 with bytes: the count has heads in it.
    heads_counted: bool,
    /// Most targets are absolute URLs.
    absolute: bool,
    /// A word that only Squid has, or only Traffic Server.
    squids: bool,
    atss: bool,
}

impl Looked {
    fn count(&self) -> usize {
        self.fitting.iter().filter(|fits| **fits).count()
    }

    /// True if half of the lines fit; the others may be noise, which a log has now and then.
    fn is_fit(&self) -> bool {
        self.entries > 0 && self.count() * 2 >= self.fitting.len()
    }

    /// True if the same lines fit, but for a tenth of them.
    fn looks_like(&self, other: &Looked) -> bool {
        let apart = self.fitting.iter().zip(&other.fitting).filter(|(one, other)| one != other).count();
        apart * 10 <= self.count()
    }
}

/// Reads the lines by a format.
fn tried(named: &names::Named, mut format: Format, lines: &[&[u8]]) -> Looked {
    let mut misfit = None;
    let mut fitting = Vec::with_capacity(lines.len());
    let mut entries = 0;
    let mut absolute = 0;
    let mut heads_counted = false;
    for line in lines {
        let mut entry = Entry::default();
        let read = format.read(line, &mut entry);
        let fits = match read {
            Ok(RecordingLine::Directive) => true,
            Ok(RecordingLine::Entry) => is_of(named, &entry),
            Err(_) => false,
        };
        fitting.push(fits);
        if !fits {
            misfit = misfit.or(Some(read.err().unwrap_or(Misfit { column: 1, field: usize::MAX })));
        } else if read == Ok(RecordingLine::Entry) {
            entries += 1;
            let bytes = match entry.sent {
                Sent::Body(bytes) => bytes,
                Sent::Unknown | Sent::Whole(_) | Sent::Apart { .. } => 0,
            };
            heads_counted |= entry.status == Some(304) && bytes > 0;
            absolute += usize::from(is_absolute(&entry.object));
        }
    }
    let any = |words: &[&str]| {
        lines
            .iter()
            .any(|line| words.iter().any(|word| memchr::memmem::find(line, word.as_bytes()).is_some()))
    };
    Looked {
        name: named.name,
        format,
        fitting,
        entries,
        misfit,
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
    }
}

/// True of a line that is one of this format's. Any object of JSON can be read by any keys, so some of the format's own must be there.
fn is_of(named: &names::Named, entry: &Entry<'_>) -> bool {
    let is_request = entry.time.or(entry.began).is_some() && entry.object != Named::Nothing;
    let is_answered = !entry.method.is_empty() || entry.status.is_some();
    is_request
        && match named.source {
            // `ts` and `uri` are anybody's keys, `uid` and `id.orig_h` are zeek's.
            FormatSource::Json(..) if named.name == "zeek-json" => {
                is_answered && !(entry.connection.is_empty() && entry.address.is_empty())
            }
            FormatSource::Json(..) => is_answered,
            FormatSource::Apache(_)
            | FormatSource::Nginx(_)
            | FormatSource::Squid(_)
            | FormatSource::Ats(_)
            | FormatSource::Haproxy(_)
            | FormatSource::Envoy(_)
            | FormatSource::Words(..)
            | FormatSource::Columns => true,
        }
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
fn choose(mut fits: Vec<Looked>) -> Result<Detected, DetectError> {
    let names: Vec<&'static str> = fits.iter().map(|looked| looked.name).collect();
    let Some(looked) = fits.first() else { return Err(DetectError::Empty) };
    if fits.iter().any(|other| !looked.looks_like(other)) {
        return Err(DetectError::Several { names, why: "each fits other lines of it" });
    }
    let only = looked.name;
    let (wanted, assumed) = match only {
        "combined" | "common" => {
            let whole = if only == "combined" { "combined-whole" } else { "common-whole" };
            match (looked.heads_counted, looked.absolute) {
                (true, _) => {
                    (whole, "answers 304 have bytes, so bytes are taken to be those of head and body")
                }
                (false, true) if only == "combined" => ("varnish", "absolute URLs: taken as varnishncsa's"),
                (false, _) => {
                    (only, "Apache's, nginx's and others look alike; times are taken for the begin")
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
    Ok(Detected { format: fits.swap_remove(at).format, assumed: assumed.to_owned() })
}
