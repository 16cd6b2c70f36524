//! Results files read again: CSV with any columns, delimiter and pattern of times, and XML; JMeter's own, and ours.

use super::jtl::Csv;
use super::{JmeterKind, Sample};
use quick_xml::Reader;
use quick_xml::events::{BytesRef, BytesStart, Event};
use std::io::{BufRead, Cursor, Read};

/// Patterns of times that people have in their files.
const PATTERNS: [&str; 5] = [
    "yyyy/MM/dd HH:mm:ss.SSS",
    "yyyy-MM-dd HH:mm:ss.SSS",
    "yyyy/MM/dd HH:mm:ss",
    "yyyy-MM-dd HH:mm:ss",
    "MM/dd/yy HH:mm:ss",
];

/// Columns of a file without a line that names them.
const USUAL: [&str; 17] = [
    "timeStamp",
    "elapsed",
    "label",
    "responseCode",
    "responseMessage",
    "threadName",
    "dataType",
    "success",
    "failureMessage",
    "bytes",
    "sentBytes",
    "grpThreads",
    "allThreads",
    "URL",
    "Latency",
    "IdleTime",
    "Connect",
];

/// Message of a transaction's sample.
const OF_TRANSACTION: &str = "Number of samples in transaction";

/// Bytes of a first line at most.
const LONGEST_HEADER: u64 = 1 << 16;

/// Hands over each sample of a file, in its order; parts of CSV are samples of their own, as they are lines of their own.
///
/// # Errors
/// What is no results file, with the line.
pub fn each(mut input: impl BufRead, csv: &Csv, take: &mut dyn FnMut(&Sample)) -> Result<(), String> {
    let begins = input.fill_buf().map_err(|error| error.to_string())?;
    let text = begins.strip_prefix(b"\xef\xbb\xbf").unwrap_or(begins);
    match text.iter().find(|byte| !byte.is_ascii_whitespace()) {
        None => Err("it is empty".to_owned()),
        Some(b'<') => of_xml(input, take),
        Some(_) => of_csv(input, csv, take),
    }
}

fn of_csv(mut input: impl BufRead, csv: &Csv, take: &mut dyn FnMut(&Sample)) -> Result<(), String> {
    let mut first = Vec::new();
    input.by_ref().take(LONGEST_HEADER).read_until(b'\n', &mut first).map_err(|error| error.to_string())?;
    let header = String::from_utf8_lossy(&first);
    let header = header.trim_start_matches('\u{feff}').trim_end();
    let delimiter = csv.delimiter.unwrap_or_else(|| guessed(header));
    let byte = u8::try_from(delimiter).map_err(|_| format!("the delimiter {delimiter} is no single byte"))?;
    let build = |input| {
        csv::ReaderBuilder::new().has_headers(false).flexible(true).delimiter(byte).from_reader(input)
    };
    let names: Vec<String> = header.split(delimiter).map(|name| name.trim_matches('"').to_owned()).collect();
    let has_names = names.iter().any(|name| name == "label" || name == "elapsed");
    let before: &[u8] = if has_names { &[] } else { &first };
    let names = match has_names {
        true => names,
        false if names.len() == USUAL.len() || header.contains('"') => USUAL.map(str::to_owned).to_vec(),
        false => {
            return Err(format!(
                "its first line names no columns (label, elapsed …), and it has {} of them where JMeter's usual ones are {}: is it a results file?",
                names.len(),
                USUAL.len()
            ));
        }
    };
    let mut rows = build(Cursor::new(before.to_vec()).chain(input));
    let mut row = csv::StringRecord::new();
    let mut pattern = csv.moments.clone();
    let begin = u64::from(has_names);
    while rows.read_record(&mut row).map_err(|error| error.to_string())? {
        let line = row.position().map_or(0, csv::Position::line) + begin;
        take(&sample(&names, &row, &mut pattern).map_err(|why| format!("line {line}: {why}"))?);
    }
    Ok(())
}

/// The delimiter that a first line has most of.
fn guessed(header: &str) -> char {
    let count = |delimiter: &char| header.matches(*delimiter).count();
    [',', ';', '\t', '|'].into_iter().rev().max_by_key(count).unwrap_or(',')
}

fn sample(names: &[String], row: &csv::StringRecord, pattern: &mut Option<String>) -> Result<Sample, String> {
    if row.len() < names.len() {
        return Err(format!("{} cells of {}", row.len(), names.len()));
    }
    let mut sample = Sample { success: true, ..Sample::default() };
    for (name, value) in names.iter().zip(row) {
        match name.as_str() {
            "timeStamp" => sample.began_ms = moment(value, pattern)?,
            "failureMessage" if !value.is_empty() => {
                sample.failed = vec![("Assertion".to_owned(), value.to_owned())];
            }
            "URL" => sample.url = (value != "null" && !value.is_empty()).then(|| value.into()),
            name => set(&mut sample, name, value)?,
        }
    }
    settle(&mut sample);
    Ok(sample)
}

/// A time: milliseconds, or as the pattern wants it. Without one the first that fits is kept for all.
fn moment(text: &str, pattern: &mut Option<String>) -> Result<u64, String> {
    let text = text.trim();
    if let (None, Ok(ms)) = (&pattern, text.parse()) {
        return Ok(ms);
    }
    let read = |pattern: &str| jmeter::function::read_moment(text, pattern);
    if pattern.is_none() {
        *pattern = PATTERNS.iter().find(|known| read(known).is_ok()).map(|known| (*known).to_owned());
    }
    let Some(pattern) = pattern else {
        return Err(format!(
            "the time '{text}' is neither milliseconds nor of a known pattern: -Jjmeter.save.saveservice.timestamp_format=… says which"
        ));
    };
    u64::try_from(read(pattern)?).map_err(|_| format!("the time '{text}' is before 1970"))
}

/// Sets what a column, or an attribute of XML, says; others say nothing here.
fn set(sample: &mut Sample, name: &str, value: &str) -> Result<(), String> {
    let number = || {
        let read = value.trim().parse::<u64>();
        read.map_err(|_| format!("{name} is '{value}', which is no whole number"))
    };
    match name {
        "ts" => sample.began_ms = number()?,
        "elapsed" | "t" => sample.elapsed_ms = number()?,
        "label" | "lb" => sample.label = value.into(),
        "responseCode" | "rc" | "rs" => sample.code = value.to_owned().into(),
        "responseMessage" | "rm" => sample.message = value.to_owned().into(),
        "threadName" | "tn" => sample.thread = value.into(),
        "success" | "s" => sample.success = value.eq_ignore_ascii_case("true"),
        "bytes" | "by" => sample.bytes = number()?,
        "sentBytes" | "sby" => sample.sent_bytes = number()?,
        "grpThreads" | "ng" => sample.group_threads = small(number()?),
        "allThreads" | "na" => sample.all_threads = small(number()?),
        "Latency" | "lt" => sample.latency_ms = number()?,
        "IdleTime" | "it" => sample.idle_ms = number()?,
        "Connect" | "ct" => sample.connect_ms = number()?,
        _ => {}
    }
    Ok(())
}

fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Tells the kind of a sample by what is known of it.
fn settle(sample: &mut Sample) {
    let is_transaction = sample.url.is_none() && sample.message.starts_with(OF_TRANSACTION);
    sample.kind = match (is_transaction, sample.url.is_some()) {
        (true, _) => JmeterKind::Transaction { parent: !sample.parts.is_empty() },
        (false, true) => JmeterKind::Http,
        (false, false) => JmeterKind::Script,
    };
}

/// Text of an element that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReportText {
    Url,
    Name,
    Failed,
    Says,
}

/// A results file in XML, while it is read.
#[derive(Default)]
struct Xml {
    open: Vec<Sample>,
    text: String,
    kept: Option<ReportText>,
    name: String,
    says: String,
    failed: bool,
}

fn of_xml(input: impl BufRead, take: &mut dyn FnMut(&Sample)) -> Result<(), String> {
    let mut reader = Reader::from_reader(input);
    reader.config_mut().expand_empty_elements = true;
    let mut xml = Xml::default();
    let mut bytes = Vec::new();
    let mut is_results = false;
    loop {
        bytes.clear();
        let event = reader.read_event_into(&mut bytes);
        let at = || format!("byte {}", reader.buffer_position());
        match event.map_err(|error| format!("{}: {error}", at()))? {
            Event::Start(start) => {
                is_results |= start.name().as_ref() == b"testResults";
                xml.begin(&start).map_err(|why| format!("{}: {why}", at()))?;
            }
            Event::End(end) => xml.end(end.name().as_ref(), take),
            Event::Text(text) if xml.kept.is_some() => xml.text += &String::from_utf8_lossy(&text),
            Event::GeneralRef(reference) if xml.kept.is_some() => xml.text += &meant(&reference),
            Event::DocType(_) => return Err("it has a document type, which no results file has".to_owned()),
            Event::Eof => break,
            Event::Text(_)
            | Event::GeneralRef(_)
            | Event::Empty(_)
            | Event::CData(_)
            | Event::Comment(_)
            | Event::Decl(_)
            | Event::PI(_) => {}
        }
    }
    if is_results { Ok(()) } else { Err("it is XML without an element testResults".to_owned()) }
}

/// The character that `&name;` means.
fn meant(reference: &BytesRef<'_>) -> String {
    if let Ok(Some(one)) = reference.resolve_char_ref() {
        return one.to_string();
    }
    let name = String::from_utf8_lossy(reference);
    quick_xml::escape::resolve_predefined_entity(&name).map_or_else(|| format!("&{name};"), str::to_owned)
}

impl Xml {
    fn begin(&mut self, start: &BytesStart<'_>) -> Result<(), String> {
        self.text.clear();
        match start.name().as_ref() {
            b"httpSample" | b"sample" | b"sampleResult" => {
                let mut sample = Sample { success: true, ..Sample::default() };
                for attribute in start.attributes() {
                    let attribute = attribute.map_err(|error| error.to_string())?;
                    let value = attribute.unescape_value().map_err(|error| error.to_string())?;
                    set(&mut sample, &String::from_utf8_lossy(attribute.key.as_ref()), &value)?;
                }
                self.open.push(sample);
            }
            b"assertionResult" => {
                self.name.clear();
                self.says.clear();
                self.failed = false;
            }
            b"java.net.URL" => self.kept = Some(ReportText::Url),
            b"name" => self.kept = Some(ReportText::Name),
            b"failure" | b"error" => self.kept = Some(ReportText::Failed),
            b"failureMessage" => self.kept = Some(ReportText::Says),
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &[u8], take: &mut dyn FnMut(&Sample)) {
        let text = std::mem::take(&mut self.text);
        match (self.kept.take(), self.open.last_mut()) {
            (Some(ReportText::Url), Some(sample)) => sample.url = Some(text.into()),
            (Some(ReportText::Name), _) => self.name = text,
            (Some(ReportText::Failed), _) => self.failed |= text.trim() == "true",
            (Some(ReportText::Says), _) => self.says = text,
            (Some(ReportText::Url), None) | (None, _) => {}
        }
        match name {
            b"assertionResult" if self.failed => {
                let failed = (std::mem::take(&mut self.name), std::mem::take(&mut self.says));
                self.open.last_mut().into_iter().for_each(|sample| sample.failed.push(failed.clone()));
            }
            b"httpSample" | b"sample" | b"sampleResult" => {
                let Some(mut sample) = self.open.pop() else { return };
                settle(&mut sample);
                match self.open.last_mut() {
                    Some(whole) => whole.parts.push(sample),
                    None => take(&sample),
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::jtl::Layout;
    use super::*;

    fn read(text: &str) -> Result<Vec<Sample>, String> {
        let mut samples = Vec::new();
        each(text.as_bytes(), &Csv::default(), &mut |sample| samples.push(sample.clone()))?;
        Ok(samples)
    }

    fn written() -> Sample {
        let part = Sample {
            began_ms: 5,
            label: "a, \"b\"-0".into(),
            code: "302".into(),
            success: true,
            url: Some("http://h/?a&b".into()),
            ..Sample::default()
        };
        Sample {
            began_ms: 1_700_000_000_123,
            elapsed_ms: 12,
            label: "a, \"b\"".into(),
            code: "200".into(),
            message: "OK\nline".into(),
            thread: "Users 1-2".into(),
            failed: vec![("Assertion".to_owned(), "a < b".to_owned())],
            bytes: 150,
            sent_bytes: 9,
            group_threads: 2,
            all_threads: 3,
            latency_ms: 11,
            connect_ms: 1,
            idle_ms: 4,
            url: Some("http://h/?a&b".into()),
            parts: vec![part],
            ..Sample::default()
        }
    }

    #[test]
    fn what_was_written_is_read_again() {
        let text = |pairs: &'static [(&'static str, &'static str)]| {
            let value = |name: &str| {
                pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            };
            let layout = Layout::of(&value, String::new()).unwrap();
            let mut text = layout.begin();
            layout.write(&written(), &mut text);
            text + layout.end()
        };
        let whole = written();
        // A line has no parts; they are lines behind it.
        let lines = [Sample { parts: Vec::new(), ..whole.clone() }, whole.parts[0].clone()];
        assert_eq!(read(&text(&[])).unwrap(), lines);
        assert_eq!(read(&text(&[("default_delimiter", ";"), ("sample_count", "true")])).unwrap(), lines);
        assert_eq!(read(&text(&[("print_field_names", "false")])).unwrap(), lines);
        assert_eq!(read(&text(&[("timestamp_format", "yyyy/MM/dd HH:mm:ss.SSS")])).unwrap(), lines);
        assert_eq!(read(&text(&[("output_format", "xml")])).unwrap(), [whole]);
    }

    #[test]
    fn what_is_no_results_file_is_told_with_its_line() {
        assert_eq!(read("").unwrap_err(), "it is empty");
        assert!(read("a,b\n1,2\n").unwrap_err().contains("names no columns"));
        assert!(read("<a><b/></a>").unwrap_err().contains("testResults"));
        assert_eq!(
            read("elapsed,label\n1,a\nx,b\n").unwrap_err(),
            "line 3: elapsed is 'x', which is no whole number"
        );
        assert_eq!(read("elapsed,label\n1\n").unwrap_err(), "line 2: 1 cells of 2");
        assert!(read("timeStamp,label\nyesterday,a\n").unwrap_err().contains("timestamp_format"));
    }

    #[test]
    fn a_transaction_is_known_by_its_message() {
        let text = "elapsed,label,responseMessage,URL\n1,t,\"Number of samples in transaction : 1\",null\n2,s,,null\n3,r,OK,http://h/\n";
        let kinds: Vec<JmeterKind> = read(text).unwrap().into_iter().map(|sample| sample.kind).collect();
        assert_eq!(kinds, [JmeterKind::Transaction { parent: false }, JmeterKind::Script, JmeterKind::Http]);
    }
}
