//! Numbers and tables as people read them: three digits, a unit, aligned columns.
//!
//! Everything here is a pure function of its arguments and knows nothing of runs. Units are decimal: 1 kB is 1,000
//! bytes, as rates on a wire are counted.

use breach::{Scope, Side};
use measure::{Bound, Broken, Reason};
use std::time::Duration;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns that a report keeps to, indentation included.
pub const WIDTH: usize = 80;

/// A whole number with its thousands set apart: `1,234,567`.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number and a noun that agrees with it: `1 answer`, `2 answers`.
pub fn counted(value: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(value), if value == 1 { "" } else { "s" })
}

/// A number in three digits: `12.3k`, `610`, `1.24`.
pub fn scaled(value: f64) -> String {
    let (number, unit) = scale(value, &["", "k", "M", "G", "T"]);
    number + unit
}

/// A rate: `12.3k/s`.
pub fn rate(per_second: f64) -> String {
    scaled(per_second) + "/s"
}

/// A size: `312 B`, `15.6 GB`.
pub fn bytes(value: u64) -> String {
    if value < 1000 { format!("{value} B") } else { bytes_scaled(value as f64) }
}

/// Bytes per second: `610 MB/s`.
pub fn bytes_rate(per_second: f64) -> String {
    bytes_scaled(per_second) + "/s"
}

fn bytes_scaled(value: f64) -> String {
    let (number, unit) = scale(value, &["B", "kB", "MB", "GB", "TB", "PB", "EB"]);
    format!("{number} {unit}")
}

/// A time that was measured in whole microseconds: `850 µs`, `1.24 ms`, `12.3 s`.
pub fn time(us: u64) -> String {
    if us < 1000 { format!("{us} µs") } else { cost(us as f64) }
}

/// A time in parts of microseconds, such as CPU per request: `11.2 µs`.
pub fn cost(us: f64) -> String {
    let (number, unit) = scale(us, &["µs", "ms", "s"]);
    format!("{number} {unit}")
}

/// A time in µs, or what it is at least: `1.24 ms`, `≥3.50 s`.
pub fn bound(bound: Bound) -> String {
    let sign = if bound.at_least { "≥" } else { "" };
    sign.to_owned() + &time(bound.value as u64)
}

/// How long something took: `420 ms`, `30.0 s`, `2 min 05 s`, `1 h 02 min`.
pub fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    let whole = seconds.round() as u64;
    match whole {
        0 if duration.is_zero() => "0 s".to_owned(),
        0..60 => time(duration.as_micros() as u64),
        60..3600 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", whole / 3600, whole % 3600 / 60),
    }
}

/// A moment of a run in seconds: `4`, `4.3`.
pub fn moment(at_s: f64) -> String {
    let text = format!("{at_s:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// A share of 1 in percent: `85.2 %`. What is not all never reads `100 %`, and what is not nothing never `0 %`.
pub fn percent(share: f64) -> String {
    match share {
        share if share <= 0.0 => "0 %".to_owned(),
        share if share >= 1.0 => "100 %".to_owned(),
        share if share < 0.0005 => "<0.1 %".to_owned(),
        share if share >= 0.9995 => ">99.9 %".to_owned(),
        share => format!("{:.1} %", share * 100.0),
    }
}

/// A word as a shell reads it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// The text, or a dash where there is nothing to say.
pub fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "-".to_owned())
}

/// `value` in the unit that leaves one to three digits before the point.
fn scale(value: f64, units: &[&'static str]) -> (String, &'static str) {
    let mut value = value;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    (three_digits(value), units[unit])
}

fn three_digits(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        value if value >= 99.95 => format!("{value:.0}"),
        value if value >= 9.995 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

/// More that is known of a failure: `ECONNRESET 104`, `handshake_failure 40`, `status 407`.
pub fn reason(reason: Reason) -> String {
    match reason {
        Reason::Errno(number) => errno(number),
        Reason::Alert(number) => alert(number),
        Reason::Status(status) => format!("status {status}"),
        Reason::Breach(broken) => broken.breach.name().to_owned(),
        Reason::Closed(closed) => match closed.ended {
            Scope::Stream => closed.code.to_string(),
            Scope::Connection => format!("{} closed the connection with {}", side(closed.by), closed.code),
        },
    }
}

/// Who ended something.
pub fn side(side: Side) -> &'static str {
    match side {
        Side::Peer => "the peer",
        Side::Here => "this client",
    }
}

/// Rules that were broken, and the end that this led to: `RFC 9110 section 5.1; this client closed the connection`.
pub fn rule(broken: &Broken) -> String {
    let rules = breach::rules_text(broken.rules());
    let with = broken.code().map_or(String::new(), |code| format!(" with {code}"));
    let how = match broken.ended {
        _ if broken.breach.is_end() => return rules,
        Scope::Stream => "reset the stream",
        Scope::Connection => "closed the connection",
    };
    let limit = if broken.breach.is_own_limit() { "a limit of this client's, which" } else { "this client" };
    format!("{rules}; {limit} {how}{with}")
}

/// An error number of the system with its name, such as `ECONNRESET 104`; the names are Linux's.
pub fn errno(number: i32) -> String {
    const NAMES: [(i32, &str); 27] = [
        (1, "EPERM"),
        (4, "EINTR"),
        (5, "EIO"),
        (9, "EBADF"),
        (11, "EAGAIN"),
        (12, "ENOMEM"),
        (13, "EACCES"),
        (22, "EINVAL"),
        (23, "ENFILE"),
        (24, "EMFILE"),
        (32, "EPIPE"),
        (71, "EPROTO"),
        (90, "EMSGSIZE"),
        (97, "EAFNOSUPPORT"),
        (98, "EADDRINUSE"),
        (99, "EADDRNOTAVAIL"),
        (100, "ENETDOWN"),
        (101, "ENETUNREACH"),
        (103, "ECONNABORTED"),
        (104, "ECONNRESET"),
        (105, "ENOBUFS"),
        (107, "ENOTCONN"),
        (110, "ETIMEDOUT"),
        (111, "ECONNREFUSED"),
        (112, "EHOSTDOWN"),
        (113, "EHOSTUNREACH"),
        (125, "ECANCELED"),
    ];
    match NAMES.iter().find(|(known, _)| *known == number) {
        Some((_, name)) if cfg!(target_os = "linux") => format!("{name} {number}"),
        _ => format!("errno {number}"),
    }
}

/// A TLS alert with its number, such as `handshake_failure 40` (RFC 8446 section 6, RFC 5246 section 7.2).
pub fn alert(number: u8) -> String {
    const NAMES: [(u8, &str); 27] = [
        (0, "close_notify"),
        (10, "unexpected_message"),
        (20, "bad_record_mac"),
        (22, "record_overflow"),
        (40, "handshake_failure"),
        (42, "bad_certificate"),
        (43, "unsupported_certificate"),
        (44, "certificate_revoked"),
        (45, "certificate_expired"),
        (46, "certificate_unknown"),
        (47, "illegal_parameter"),
        (48, "unknown_ca"),
        (49, "access_denied"),
        (50, "decode_error"),
        (51, "decrypt_error"),
        (70, "protocol_version"),
        (71, "insufficient_security"),
        (80, "internal_error"),
        (86, "inappropriate_fallback"),
        (90, "user_canceled"),
        (100, "no_renegotiation"),
        (109, "missing_extension"),
        (110, "unsupported_extension"),
        (112, "unrecognized_name"),
        (113, "bad_certificate_status_response"),
        (116, "certificate_required"),
        (120, "no_application_protocol"),
    ];
    match NAMES.iter().find(|(known, _)| *known == number) {
        Some((_, name)) => format!("{name} {number}"),
        None => format!("alert {number}"),
    }
}

/// Columns that a text takes on a terminal: two for each wide character of East Asia (UAX #11).
pub fn columns(text: &str) -> usize {
    text.width()
}

fn is_wide(character: char) -> bool {
    character.width() == Some(2)
}

/// The text with blanks behind it, as many as a column of `width` wants.
pub fn flush_left(text: &str, width: usize) -> String {
    text.to_owned() + &" ".repeat(width.saturating_sub(columns(text)))
}

/// The text with blanks before it, as many as a column of `width` wants.
pub fn flush_right(text: &str, width: usize) -> String {
    " ".repeat(width.saturating_sub(columns(text))) + text
}

/// Lines of at most `width` columns, broken at spaces and beside wide characters; a longer word stands alone.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        for (place, part) in unbreakable(word).into_iter().enumerate() {
            let gap = if place == 0 { " " } else { "" };
            match lines.last_mut() {
                Some(line) if columns(line) + gap.len() + columns(part) <= width => {
                    *line += &(gap.to_owned() + part)
                }
                _ => lines.push(part.to_owned()),
            }
        }
    }
    lines
}

/// A word's parts between which a line may end: Chinese has no spaces, and no line begins with its commas.
fn unbreakable(word: &str) -> Vec<&str> {
    const CLOSING: &str = "，。；：、）」』”！？％";
    const OPENING: &str = "（「『“";
    let mut parts = Vec::new();
    let mut begin = 0;
    let mut before = None;
    for (at, character) in word.char_indices() {
        let breaks = before.is_some_and(|before| {
            (is_wide(before) || is_wide(character))
                && !OPENING.contains(before)
                && !CLOSING.contains(character)
        });
        if breaks {
            parts.push(&word[begin..at]);
            begin = at;
        }
        before = Some(character);
    }
    parts.push(&word[begin..]);
    parts
}

/// Columns of text; those that stay empty in all rows vanish.
#[derive(Debug, Clone)]
pub struct ShowTable {
    columns: Vec<Alignment>,
    rows: Vec<ShowRow>,
    wrapping: Option<Wrapping>,
}

#[derive(Debug, Clone, Copy)]
struct Alignment {
    left: bool,
    /// Its cells are not in our words: names, commands, what was answered.
    quoted: bool,
}

#[derive(Debug, Clone)]
struct ShowRow {
    cells: Vec<String>,
    kind: RowKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RowKind {
    /// As its columns are.
    Plain,
    /// All in our words, such as titles.
    Words,
    /// The last cell is somebody else's line, and stays one.
    Quoted,
}

/// Columns that the last cell of a row may take before it goes on in the next line.
#[derive(Debug, Clone, Copy)]
pub enum Wrapping {
    /// So many.
    Width(usize),
    /// The columns that are left of [`WIDTH`], less a margin of two.
    Rest,
}

impl ShowTable {
    /// A table whose columns are set flush left (`l`) or right (`r`), one letter each; in capitals those whose cells are quoted.
    pub fn new(columns: &str) -> ShowTable {
        let column = |letter: char| Alignment {
            left: letter.eq_ignore_ascii_case(&'l'),
            quoted: letter.is_ascii_uppercase(),
        };
        ShowTable { columns: columns.chars().map(column).collect(), rows: Vec::new(), wrapping: None }
    }

    /// The same, whose last column is wrapped. Blanks that a cell begins with stand before each of its lines.
    #[must_use]
    pub fn wrapped(self, wrapping: Wrapping) -> ShowTable {
        ShowTable { wrapping: Some(wrapping), ..self }
    }

    /// Adds a row; cells beyond the columns are dropped, missing ones are empty.
    pub fn row<Cell: Into<String>>(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.push(cells, RowKind::Plain);
    }

    /// Adds a row of titles, or another one that is in our words in all columns.
    pub fn words<Cell: Into<String>>(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.push(cells, RowKind::Words);
    }

    /// Adds a row whose last cell is a line of somebody else.
    pub fn quoted<Cell: Into<String>>(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.push(cells, RowKind::Quoted);
    }

    fn push<Cell: Into<String>>(&mut self, cells: impl IntoIterator<Item = Cell>, kind: RowKind) {
        let mut cells: Vec<String> = cells.into_iter().map(Into::into).collect();
        cells.resize(self.columns.len(), String::new());
        self.rows.push(ShowRow { cells, kind });
    }

    /// True if there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table with each cell that is in our words said otherwise.
    #[must_use]
    pub fn said(mut self, say: impl Fn(&str) -> String) -> ShowTable {
        let last = self.columns.len().saturating_sub(1);
        for row in &mut self.rows {
            for (place, (cell, column)) in row.cells.iter_mut().zip(&self.columns).enumerate() {
                let is_quoted = match row.kind {
                    RowKind::Plain => column.quoted,
                    RowKind::Words => false,
                    RowKind::Quoted => column.quoted || place == last,
                };
                if !is_quoted {
                    *cell = say(cell);
                }
            }
        }
        self
    }

    /// Empties columns that hold nothing but dashes beneath their title, so that they vanish.
    #[must_use]
    pub fn without_unknown(mut self) -> ShowTable {
        for column in 0..self.columns.len() {
            let mut cells = self.rows.iter().skip(1).map(|row| row.cells[column].as_str());
            if cells.all(|cell| cell == "-" || cell.is_empty()) {
                self.clear(column);
            }
        }
        self
    }

    fn clear(&mut self, column: usize) {
        self.rows.iter_mut().for_each(|row| row.cells[column].clear());
    }

    /// As [`lines`](ShowTable::lines), of at most [`WIDTH`] less a margin of two: as many columns of `spare` are left out, in
    /// that order, as must be.
    pub fn lines_within(mut self, spare: &[usize]) -> Vec<String> {
        for column in spare {
            if self.lines().iter().all(|line| columns(line) + 2 <= WIDTH) {
                break;
            }
            self.clear(*column);
        }
        self.lines()
    }

    /// The rows as lines without trailing spaces.
    pub fn lines(&self) -> Vec<String> {
        let width =
            |column: usize| self.rows.iter().map(|row| columns(&row.cells[column])).max().unwrap_or(0);
        let mut widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let Some((wrapping, last)) = self.wrapping.zip(widths.len().checked_sub(1)) else {
            return self.rows.iter().map(|row| self.line(&row.cells, &widths)).collect();
        };
        let before: usize = widths[..last].iter().filter(|width| **width > 0).map(|width| width + 2).sum();
        let room = match wrapping {
            Wrapping::Width(width) => width,
            Wrapping::Rest => WIDTH.saturating_sub(before + 2),
        };
        widths[last] = widths[last].min(room.max(1));
        self.rows.iter().flat_map(|row| row.wrapped(room)).map(|cells| self.line(&cells, &widths)).collect()
    }

    fn line(&self, cells: &[String], widths: &[usize]) -> String {
        let mut line = String::new();
        let shown = cells.iter().zip(widths).zip(&self.columns).filter(|((_, width), _)| **width > 0);
        for ((cell, width), column) in shown {
            line += if line.is_empty() { "" } else { "  " };
            line += &if column.left { flush_left(cell, *width) } else { flush_right(cell, *width) };
        }
        line.trim_end().to_owned()
    }
}

impl ShowRow {
    /// The row's lines, the last cell in pieces of `room` columns.
    fn wrapped(&self, room: usize) -> Vec<Vec<String>> {
        let Some((last, first)) = self.cells.split_last().filter(|_| self.kind != RowKind::Quoted) else {
            return vec![self.cells.clone()];
        };
        let indent = &last[..last.len() - last.trim_start_matches(' ').len()];
        let pieces = wrap(last, room.saturating_sub(indent.len()));
        let line = |(place, piece): (usize, String)| {
            let before = first.iter().map(|cell| if place == 0 { cell.clone() } else { String::new() });
            before.chain([format!("{indent}{piece}")]).collect()
        };
        pieces.into_iter().enumerate().map(line).collect()
    }
}

/// The words that go with a status (RFC 9110 section 15), where a server's own are not kept.
pub fn reason_phrase(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        204 => "No Content",
        206 => "Partial Content",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        409 => "Conflict",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        422 => "Unprocessable Entity",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_and_the_right_unit() {
        for (value, text) in
            [(0.0, "0"), (7.0, "7.00"), (999.4, "999"), (999.6, "1.00k"), (12_345.0, "12.3k")]
        {
            assert_eq!(scaled(value), text);
        }
        for (us, text) in
            [(0, "0 µs"), (999, "999 µs"), (1_240, "1.24 ms"), (999_600, "1.00 s"), (3_600_000_000, "3600 s")]
        {
            assert_eq!(time(us), text);
        }
        assert_eq!((count(0), count(999), count(1_234_567)), ("0".into(), "999".into(), "1,234,567".into()));
        assert_eq!(
            (bytes(999), bytes(1_000), bytes(u64::MAX)),
            ("999 B".into(), "1.00 kB".into(), "18.4 EB".into())
        );
        assert_eq!((rate(41_234.0), bytes_rate(6.1e8)), ("41.2k/s".into(), "610 MB/s".into()));
    }

    #[test]
    fn durations_grow_into_minutes_and_hours() {
        for (ms, text) in
            [(420, "420 ms"), (30_000, "30.0 s"), (59_700, "1 min 00 s"), (125_000, "2 min 05 s")]
        {
            assert_eq!(duration(Duration::from_millis(ms)), text);
        }
        assert_eq!(duration(Duration::from_secs(3_725)), "1 h 02 min");
    }

    #[test]
    fn a_percentage_never_rounds_something_to_nothing_or_to_all() {
        for (share, text) in [
            (0.0, "0 %"),
            (1e-9, "<0.1 %"),
            (0.8524, "85.2 %"),
            (0.9994, "99.9 %"),
            (0.99999, ">99.9 %"),
            (1.0, "100 %"),
        ] {
            assert_eq!(percent(share), text);
        }
    }

    #[test]
    fn tables_align_by_characters_and_drop_empty_columns() {
        let mut table = ShowTable::new("lrrl");
        table.row(["name", "time", "", "why"]);
        table.row(["a", "12 µs", "", ""]);
        assert_eq!(table.lines(), ["name   time  why", "a     12 µs"]);
        assert!(ShowTable::new("l").lines().is_empty());
    }

    #[test]
    fn tables_give_up_columns_that_are_unknown_or_too_wide() {
        let mut table = ShowTable::new("lrrr");
        table.row(["name", "hits", "p50", "p99"]);
        table.row([&"x".repeat(WIDTH - 8), "-", "5 ms", "7 ms"]);
        let table = table.without_unknown();
        assert!(!table.lines()[0].contains("hits"));
        let lines = table.clone().lines_within(&[1, 2]);
        assert!(lines[0].contains("p99") && !lines[0].contains("p50"), "{lines:?}");
        assert!(table.lines()[0].contains("p50"));
    }

    #[test]
    fn moments_that_differ_read_differently() {
        assert_eq!([4.0, 4.02, 3.6, 4.34].map(moment), ["4", "4", "3.6", "4.3"]);
    }

    #[test]
    fn text_wraps_at_spaces() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("unbreakable x", 4), ["unbreakable", "x"]);
        assert!(wrap("", 10).is_empty());
    }

    #[test]
    fn chinese_wraps_between_its_characters_and_takes_two_columns_for_each() {
        assert_eq!(columns("p99 响应"), 8);
        assert_eq!(wrap("命中率 85.0 %，预测", 9), ["命中率", "85.0 %，", "预测"]);
        assert_eq!(wrap("目标（nginx）", 7), ["目标", "（nginx）"]);
        let mut table = ShowTable::new("lrl");
        table.words(["阶段", "p99", ""]);
        table.row(["a", "5 ms", "x"]);
        assert_eq!(table.lines(), ["阶段   p99", "a     5 ms  x"]);
    }

    #[test]
    fn long_cells_go_on_beneath_themselves() {
        let mut table = ShowTable::new("rl").wrapped(Wrapping::Width(9));
        table.row(["12", "one two three"]);
        table.row(["", "  four five six"]);
        table.quoted(["3", "as long as it is"]);
        assert_eq!(
            table.lines(),
            ["12  one two", "    three", "      four", "      five", "      six", " 3  as long as it is"]
        );
    }

    #[test]
    fn what_others_said_is_not_said_otherwise() {
        let mut table = ShowTable::new("Ll");
        table.words(["hit", "hit"]);
        table.row(["hit", "hit"]);
        table.quoted(["hit", "hit"]);
        let table = table.said(|cell| cell.to_uppercase());
        assert_eq!(table.lines(), ["HIT  HIT", "hit  HIT", "hit  hit"]);
    }
}
