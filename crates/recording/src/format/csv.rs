//! Traces of caches as tables of text: a line for each request, cells with a delimiter between, columns by their number or by the name that
//! the first line gives them. Cells are not quoted: no public trace does that.

use super::template::Misfit;
use crate::entry::{Edge, Entry, Logged, Named, Range, Sent, Text, WHOLE_SECONDS};
use crate::moment::SECOND;
use crate::words::Cache;
use plan::draw::hash;

/// A fact that a column tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TraceFact {
    /// Seconds, with or without a point, since 1970 or a beginning of the trace's own.
    Time,
    /// The same in milliseconds.
    TimeMs,
    /// The object: a number or any text.
    Id,
    /// Size of the whole object in bytes.
    Size,
    /// Bytes of the body that were sent.
    Sent,
    /// Lifetime in seconds.
    Ttl,
    /// Whoever asked.
    User,
    /// Status of the answer.
    Status,
    /// 1 or `hit`, 0 or `miss`.
    Hit,
    /// Seconds until the first byte of the answer.
    FirstByte,
    /// First and last byte of a range.
    RangeFrom,
    RangeTo,
}

const FACTS: [(&str, TraceFact); 12] = [
    ("time", TraceFact::Time),
    ("time_ms", TraceFact::TimeMs),
    ("id", TraceFact::Id),
    ("size", TraceFact::Size),
    ("sent", TraceFact::Sent),
    ("ttl", TraceFact::Ttl),
    ("user", TraceFact::User),
    ("status", TraceFact::Status),
    ("hit", TraceFact::Hit),
    ("first_byte", TraceFact::FirstByte),
    ("range_from", TraceFact::RangeFrom),
    ("range_to", TraceFact::RangeTo),
];

/// Public traces by name, with the columns that they have.
const PUBLIC: [(&str, &str); 3] = [
    // Wikimedia's CDN, 2019.
    ("wiki", "time=relative_unix,id=hashed_host_path_query,sent=response_size,first_byte=time_firstbyte"),
    // Meta's CDN, 2023 and 2025.
    (
        "meta",
        "time=timestamp,id=cacheKey,size=objectSize,sent=responseSize,ttl=TTL,hit=cache_hit,range_from=rangeStart,range_to=rangeEnd",
    ),
    // Twitter's key-value caches, 2020.
    ("twitter", "time=1,id=2,size=4,user=5,ttl=7"),
];

/// A column, by its place from 0 or by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
enum TraceColumn {
    At(usize),
    Named(String),
}

/// Columns of a table, ready to read lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Csv {
    columns: Vec<(TraceFact, TraceColumn)>,
    /// Facts with the places of their columns; none before the first line was read.
    places: Vec<(TraceFact, usize)>,
    delimiter: u8,
    begun: bool,
}

/// The columns of a public trace by its name, or as typed behind `csv:`.
pub(super) fn columns(text: &str) -> Option<&str> {
    let public = PUBLIC.iter().find(|(name, _)| *name == text).map(|(_, columns)| *columns);
    public.or_else(|| text.strip_prefix("csv:"))
}

/// Names of public traces.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    PUBLIC.iter().map(|(name, _)| *name)
}

impl Csv {
    /// Reads `time=2,id=5,size=4`: columns by number from 1, or by the name in the first line.
    ///
    /// # Errors
    /// In words, with what to try.
    pub fn parse(text: &str) -> Result<Csv, String> {
        let mut columns: Vec<(TraceFact, TraceColumn)> = Vec::new();
        for word in text.split(',') {
            let known = || FACTS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
            let (name, column) = word
                .split_once('=')
                .ok_or_else(|| format!("csv: '{word}' is not FACT=COLUMN, such as time=1"))?;
            let (_, fact) = FACTS
                .iter()
                .find(|(known, _)| *known == name.trim())
                .ok_or_else(|| format!("csv: '{name}' is no fact of a trace: give {}", known()))?;
            let column = match column.trim() {
                "" | "0" => {
                    return Err(format!("csv: {name} has no column: give its number from 1, or its name"));
                }
                column => match column.parse::<usize>() {
                    Ok(number) => TraceColumn::At(number - 1),
                    Err(_) => TraceColumn::Named(column.to_owned()),
                },
            };
            if columns.iter().any(|(known, _)| known == fact) {
                return Err(format!("csv: {name} is given twice"));
            }
            columns.push((*fact, column));
        }
        let has = |wanted: &[TraceFact]| columns.iter().any(|(fact, _)| wanted.contains(fact));
        if !has(&[TraceFact::Time, TraceFact::TimeMs]) || !has(&[TraceFact::Id]) {
            return Err("csv: a trace has a time and an object: give time=COLUMN,id=COLUMN, and size=COLUMN or sent=COLUMN".to_owned());
        }
        Ok(Csv { columns, places: Vec::new(), delimiter: b',', begun: false })
    }

    /// Reads a line; `None`: it names the columns.
    ///
    /// # Errors
    /// The place at which it stops to fit.
    pub fn read<'a>(&mut self, line: &'a [u8]) -> Result<Option<Entry<'a>>, Misfit> {
        if !self.begun {
            self.begun = true;
            self.delimiter = delimiter(line);
            if self.begin(line) {
                return Ok(None);
            }
        }
        if self.places.len() < self.columns.len() {
            return Err(Misfit { column: 1, field: 0 });
        }
        self.entry(line).map(Some)
    }

    /// Finds the columns by the first line; true if it names them.
    fn begin(&mut self, line: &[u8]) -> bool {
        let cells: Vec<&[u8]> = line.split(|byte| *byte == self.delimiter).map(<[u8]>::trim_ascii).collect();
        let place = |column: &TraceColumn| match column {
            TraceColumn::At(place) => Some(*place),
            TraceColumn::Named(name) => {
                let is_it = |cell: &&[u8]| cell.trim_ascii_start().eq_ignore_ascii_case(name.as_bytes());
                cells.iter().map(|cell| cell.strip_prefix(b"#").unwrap_or(cell)).position(|cell| is_it(&cell))
            }
        };
        let found = self.columns.iter().filter_map(|(fact, column)| Some((*fact, place(column)?)));
        self.places = found.collect();
        let by_name = self.columns.iter().any(|(_, column)| matches!(column, TraceColumn::Named(_)));
        let is_number = |at: &usize| cells.get(*at).is_some_and(|cell| decimal(cell, 1).is_some());
        let time = self.places.iter().find(|(fact, _)| matches!(fact, TraceFact::Time | TraceFact::TimeMs));
        by_name || !time.is_some_and(|(_, at)| is_number(at))
    }

    fn entry<'a>(&self, line: &'a [u8]) -> Result<Entry<'a>, Misfit> {
        let mut entry = Entry::default();
        let mut range = [None; 2];
        let last = self.places.iter().map(|(_, place)| *place).max().unwrap_or(0);
        let mut begins = 0;
        for (place, cell) in line.split(|byte| *byte == self.delimiter).enumerate().take(last + 1) {
            let misfit = Misfit { column: begins as u32 + 1, field: place };
            begins += cell.len() + 1;
            let cell = cell.trim_ascii();
            for (fact, _) in self.places.iter().filter(|(_, at)| *at == place) {
                take(&mut entry, &mut range, *fact, cell).ok_or(misfit)?;
            }
        }
        if entry.time.is_none() || entry.object == Named::Nothing {
            return Err(Misfit { column: line.len() as u32 + 1, field: last });
        }
        if let [Some(from), Some(to)] = range {
            entry.part = (to >= from).then(|| Range { from, length: to - from + 1 });
        }
        Ok(entry)
    }
}

/// Takes a cell; `None`: it does not fit. An empty cell, or -1, tells nothing.
fn take<'a>(
    entry: &mut Entry<'a>,
    range: &mut [Option<u64>; 2],
    fact: TraceFact,
    cell: &'a [u8],
) -> Option<()> {
    let is_untold = matches!(cell, b"" | b"-" | b"-1" | b"nan" | b"NaN" | b"null");
    match fact {
        TraceFact::Time => put_time(entry, logged(cell, SECOND)?),
        TraceFact::TimeMs => put_time(entry, logged(cell, 1_000)?),
        TraceFact::Id if cell.is_empty() => return None,
        TraceFact::Id => entry.object = Named::Number(number(cell)),
        TraceFact::User => entry.address = Text::plain(cell),
        _ if is_untold => {}
        TraceFact::Size => entry.size = Some(whole(cell)?),
        TraceFact::Sent => entry.sent = Sent::Body(whole(cell)?),
        TraceFact::Ttl => entry.ttl_s = Some(whole(cell)?),
        TraceFact::Status => entry.status = Some(u16::try_from(whole(cell)?).ok()?),
        TraceFact::Hit => entry.cache = cache(cell)?,
        TraceFact::FirstByte => entry.first_byte_us = u64::try_from(decimal(cell, SECOND)?).ok(),
        TraceFact::RangeFrom => range[0] = Some(whole(cell)?),
        TraceFact::RangeTo => range[1] = Some(whole(cell)?),
    }
    Some(())
}

/// Of two times of a line the finer counts, wherever it stands.
fn put_time(entry: &mut Entry<'_>, time: Logged) {
    if entry.time.is_none_or(|before| time.resolution <= before.resolution) {
        entry.time = Some(time);
    }
}

fn cache(cell: &[u8]) -> Option<Cache> {
    let is = |words: &[&str]| words.iter().any(|word| cell.eq_ignore_ascii_case(word.as_bytes()));
    match () {
        () if is(&["1", "true", "hit"]) => Some(Cache::Hit),
        () if is(&["0", "false", "miss"]) => Some(Cache::Miss),
        () => None,
    }
}

/// The delimiter of a line: the first of these that is there.
fn delimiter(line: &[u8]) -> u8 {
    *b"\t,; ".iter().find(|byte| line.contains(byte)).unwrap_or(&b',')
}

/// A time in units of so many microseconds.
fn logged(cell: &[u8], unit_us: i64) -> Option<Logged> {
    let us = decimal(cell, unit_us)?;
    let digits = cell.iter().position(|byte| *byte == b'.').map_or(0, |at| cell.len() - at - 1);
    let step = (unit_us / 10_i64.pow(digits.min(6) as u32)).max(1);
    Some(Logged { us, resolution: u32::try_from(step).unwrap_or(WHOLE_SECONDS), edge: Edge::Begin })
}

/// A number with or without a point, times so much.
fn decimal(cell: &[u8], unit: i64) -> Option<i64> {
    let text = std::str::from_utf8(cell).ok()?;
    if let Ok(whole) = text.parse::<i64>() {
        return whole.checked_mul(unit);
    }
    let is_number =
        text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'));
    let scaled = text.parse::<f64>().ok().filter(|_| is_number)? * unit as f64;
    (scaled.abs() < 9e18).then(|| scaled.round() as i64)
}

/// A whole number that is not negative; some traces write it with a point.
fn whole(cell: &[u8]) -> Option<u64> {
    u64::try_from(decimal(cell, 1)?).ok()
}

/// The number of an object: as it stands there, or a digest of its name.
fn number(cell: &[u8]) -> u64 {
    let plain = std::str::from_utf8(cell).ok().and_then(|text| text.parse::<u64>().ok());
    plain.unwrap_or_else(|| cell.iter().fold(cell.len() as u64, |sum, byte| hash(sum, u64::from(*byte))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(columns: &str, text: &str) -> Vec<(i64, Named<'static>, Option<u64>)> {
        let mut csv = Csv::parse(columns).unwrap();
        let mut found = Vec::new();
        for line in text.lines() {
            if let Some(entry) =
                csv.read(line.as_bytes()).unwrap_or_else(|misfit| panic!("{line}: {misfit:?}"))
            {
                let Named::Number(number) = entry.object else { panic!("{line}") };
                found.push((entry.time.unwrap().us, Named::Number(number), entry.size));
            }
        }
        found
    }

    #[test]
    fn columns_stand_by_number_or_by_name() {
        let numbered = entries("time=2,id=1,size=3", "7,5,100,x\n8,6.25,200,y\n");
        let expected = [(5_000_000, Named::Number(7), Some(100)), (6_250_000, Named::Number(8), Some(200))];
        assert_eq!(numbered, expected);
        assert_eq!(entries("time=2,id=1,size=3", "id,time,size\n7,5,100\n"), expected[..1]);
        assert_eq!(entries("time=when,id=key,size=Bytes", "#key\twhen\tbytes\n7\t5\t100\n"), expected[..1]);
        assert_eq!(entries("time_ms=1,id=2", "5000 a\n5000 b\n").len(), 2);
        assert_ne!(number(b"a"), number(b"b"));
    }

    #[test]
    fn public_traces_have_their_columns() {
        let meta = columns("meta").unwrap();
        let head = "timestamp,cacheKey,OpType,objectSize,responseSize,responseHeaderSize,rangeStart,rangeEnd,TTL,SamplingRate,cache_hit";
        let mut csv = Csv::parse(meta).unwrap();
        assert!(csv.read(head.as_bytes()).unwrap().is_none());
        let line = b"1680000000,2bf3,1,5000,100,300,10,109,3600,1,1";
        let entry = csv.read(line).unwrap().unwrap();
        assert_eq!((entry.size, entry.ttl_s, entry.cache), (Some(5_000), Some(3_600), Cache::Hit));
        assert_eq!(entry.part, Some(Range { from: 10, length: 100 }));
        for name in names() {
            Csv::parse(columns(name).unwrap()).unwrap();
        }
    }

    #[test]
    fn what_is_no_trace_is_refused() {
        for (columns, said) in [
            ("time=1", "a time and an object"),
            ("time=1,id=0", "has no column"),
            ("time=1,id=2,colour=3", "no fact of a trace"),
            ("time=1,id=2,id=3", "twice"),
            ("time", "not FACT=COLUMN"),
        ] {
            let why = Csv::parse(columns).unwrap_err();
            assert!(why.contains(said), "{columns}: {why}");
        }
        let mut csv = Csv::parse("time=1,id=2,size=3").unwrap();
        csv.read(b"1,2,3").unwrap();
        assert_eq!(csv.read(b"1,2,x").unwrap_err().column, 5);
        assert!(csv.read(b"1").is_err() && csv.read(b"now,2,3").is_err());
        let mut named = Csv::parse("time=t,id=i").unwrap();
        named.read(b"t,other").unwrap();
        assert!(named.read(b"1,2").is_err(), "a column that is not there");
    }
}
