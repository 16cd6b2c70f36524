//! The results file: a line, or an XML element, for each sample.

use super::contents::{self, WantedContents};
use super::{JmeterKind, Sample};
use JtlValue::Number;
use std::borrow::Cow;
use std::fmt::Write;

/// Delimiter and times of CSV, by the properties `jmeter.save.saveservice.*`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Csv {
    /// Between columns; a comma, or guessed from the first line, without one.
    pub delimiter: Option<char>,
    /// The pattern of the times; milliseconds since 1970 without one.
    pub moments: Option<String>,
}

impl Csv {
    /// By the properties of a command line. `property`: the value of `jmeter.save.saveservice.NAME`.
    pub fn of(property: &dyn Fn(&str) -> Option<String>) -> Csv {
        let delimiter = property("default_delimiter").and_then(|text| match text.as_str() {
            "\\t" => Some('\t'),
            text => text.chars().next(),
        });
        let moments = property("timestamp_format").map(|pattern| pattern.trim().to_owned());
        Csv { delimiter, moments: moments.filter(|pattern| !matches!(pattern.as_str(), "" | "ms" | "none")) }
    }
}

/// Which of a sample is written, and how. Made from the properties `jmeter.save.saveservice.*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// XML instead of CSV.
    pub xml: bool,
    /// The first line of CSV names the columns.
    pub header: bool,
    /// Between columns.
    pub delimiter: char,
    /// Parts of a sample are written, too.
    parts: bool,
    /// In XML, assertions that did not hold are written.
    assertions: bool,
    /// The pattern of the time in CSV; milliseconds since 1970 without one.
    moments: Option<String>,
    /// This machine's name.
    host: String,
    columns: Vec<Column>,
    /// Names of variables that have a column of their own.
    variables: Vec<String>,
    /// In XML, what is written of requests and answers.
    wanted: WantedContents,
}

/// A column: its name in the header, its attribute in XML, its property, whether it is there by default, and its value.
type Column = &'static JtlRow;

/// A value of a column.
enum JtlValue<'a> {
    Number(u64),
    Text(Cow<'a, str>),
}

impl<'a> JtlValue<'a> {
    const fn word(text: &'a str) -> JtlValue<'a> {
        JtlValue::Text(Cow::Borrowed(text))
    }

    const fn flag(is: bool) -> JtlValue<'static> {
        JtlValue::word(if is { "true" } else { "false" })
    }
}

struct JtlRow {
    name: &'static str,
    attribute: &'static str,
    property: &'static str,
    usual: bool,
    value: for<'a> fn(&'a Layout, &'a Sample) -> JtlValue<'a>,
}

impl PartialEq for JtlRow {
    fn eq(&self, other: &JtlRow) -> bool {
        self.name == other.name
    }
}

impl Eq for JtlRow {}

impl std::fmt::Debug for JtlRow {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str(self.name)
    }
}

const fn row(
    name: &'static str,
    attribute: &'static str,
    property: &'static str,
    usual: bool,
    value: for<'a> fn(&'a Layout, &'a Sample) -> JtlValue<'a>,
) -> JtlRow {
    JtlRow { name, attribute, property, usual, value }
}

/// The column of the answer's encoding: in CSV that of answers that name none is UTF-8.
const ENCODING: &str = "Encoding";

/// All columns, in the order of the file.
static COLUMNS: [JtlRow; 22] = [
    row("timeStamp", "ts", "timestamp_format", true, |layout, sample| layout.moment(sample.began_ms)),
    row("elapsed", "t", "time", true, |_, sample| Number(sample.elapsed_ms)),
    row("label", "lb", "label", true, |_, sample| JtlValue::word(&sample.label)),
    row("responseCode", "rc", "response_code", true, |_, sample| JtlValue::word(&sample.code)),
    row("responseMessage", "rm", "response_message", true, |_, sample| JtlValue::word(&sample.message)),
    row("threadName", "tn", "thread_name", true, |_, sample| JtlValue::word(&sample.thread)),
    row("dataType", "dt", "data_type", true, |_, sample| JtlValue::word(contents::data_type(sample))),
    row("success", "s", "successful", true, |_, sample| JtlValue::flag(sample.success)),
    row("failureMessage", "", "assertion_results_failure_message", true, |_, sample| {
        JtlValue::word(sample.failed.first().map_or("", |(_, says)| says))
    }),
    row("bytes", "by", "bytes", true, |_, sample| Number(sample.bytes)),
    row("sentBytes", "sby", "sent_bytes", true, |_, sample| Number(sample.sent_bytes)),
    row("grpThreads", "ng", "thread_counts", true, |_, sample| Number(sample.group_threads.into())),
    row("allThreads", "na", "thread_counts", true, |_, sample| Number(sample.all_threads.into())),
    row("URL", "", "url", true, |_, sample| JtlValue::word(sample.url.as_deref().unwrap_or("null"))),
    // The file that an answer was saved to: none is.
    row("Filename", "", "filename", false, |_, _| JtlValue::word("")),
    row("Latency", "lt", "latency", true, |_, sample| Number(sample.latency_ms)),
    row(ENCODING, "de", "encoding", false, |layout, sample| {
        let usual = if layout.xml { "" } else { "UTF-8" };
        contents::encoding(sample).map_or(JtlValue::word(usual), |name| JtlValue::Text(name.into()))
    }),
    row("SampleCount", "sc", "sample_count", false, |_, _| Number(1)),
    row("ErrorCount", "ec", "sample_count", false, |_, sample| Number(u64::from(!sample.success))),
    // This machine's, which no sample knows.
    row("Hostname", "hn", "hostname", false, |layout, _| JtlValue::word(&layout.host)),
    row("IdleTime", "it", "idle_time", true, |_, sample| Number(sample.idle_ms)),
    row("Connect", "ct", "connect_time", true, |_, sample| Number(sample.connect_ms)),
];

/// Attributes in XML, in the order of the file.
const ATTRIBUTES: [&str; 19] = [
    "t", "it", "lt", "ct", "ts", "s", "lb", "rc", "rm", "tn", "dt", "de", "by", "sby", "sc", "ec", "ng",
    "na", "hn",
];

impl Layout {
    /// By the properties of a command line. `property`: the value of `jmeter.save.saveservice.NAME`.
    ///
    /// # Errors
    /// A pattern of times that cannot be meant.
    pub fn of(property: &dyn Fn(&str) -> Option<String>, host: String) -> Result<Layout, String> {
        let flag = |name: &str, usual: bool| match property(name) {
            Some(value) if name == "timestamp_format" => value.trim() != "none",
            Some(value) => value.trim().eq_ignore_ascii_case("true"),
            None => usual,
        };
        let Csv { delimiter, moments } = Csv::of(property);
        if let Some(pattern) = &moments {
            jmeter::function::moment(0, pattern)
                .map_err(|why| format!("jmeter.save.saveservice.timestamp_format: {why}"))?;
        }
        Ok(Layout {
            xml: property("output_format").is_some_and(|format| format.trim().eq_ignore_ascii_case("xml")),
            header: flag("print_field_names", true),
            delimiter: delimiter.unwrap_or(','),
            parts: flag("subresults", true),
            assertions: flag("assertions", true),
            moments,
            host,
            variables: Vec::new(),
            wanted: WantedContents::of(&flag),
            columns: COLUMNS.iter().filter(|row| flag(row.property, row.usual)).collect(),
        })
    }

    /// The same with a column for each of these variables.
    pub fn with_variables(self, variables: Vec<String>) -> Layout {
        Layout { variables, ..self }
    }

    /// The requests whose bytes are needed for it.
    pub fn contents(&self) -> plan::load::KeptContents {
        match (self.has(ENCODING), self.xml) {
            (true, _) => plan::load::KeptContents::All,
            (false, true) => self.wanted.contents(),
            (false, false) => plan::load::KeptContents::Nothing,
        }
    }

    /// Returns the beginning of the file.
    pub fn begin(&self) -> String {
        if self.xml {
            return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testResults version=\"1.2\">\n".to_owned();
        }
        if !self.header {
            return String::new();
        }
        let names = self.columns.iter().map(|row| row.name.to_owned());
        let variables = self.variables.iter().map(|name| format!("\"{}\"", name.replace('"', "\"\"")));
        let names: Vec<String> = names.chain(variables).collect();
        names.join(&self.delimiter.to_string()) + "\n"
    }

    /// Returns the end of the file.
    pub fn end(&self) -> &'static str {
        if self.xml { "</testResults>\n" } else { "" }
    }

    /// Appends a sample and its parts: in CSV each is a line of its own, the whole first.
    pub fn write(&self, sample: &Sample, to: &mut String) {
        let values = sample.contents.as_ref().map_or(&[][..], |contents| &contents.values);
        match self.xml {
            true => self.element(sample, values, to),
            false => self.lines(sample, values, to),
        }
    }

    /// `values`: those of the variables, which parts have of the whole.
    fn lines(&self, sample: &Sample, values: &[Option<String>], to: &mut String) {
        self.line(sample, values, to);
        if self.parts {
            sample.parts.iter().for_each(|part| self.lines(part, values, to));
        }
    }

    /// A variable's value; one that nobody has set stands for its own text in the plan.
    fn variable<'v>(&self, nth: usize, values: &'v [Option<String>]) -> Option<&'v str> {
        let value = values.get(nth)?.as_deref()?;
        let inner = value.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
        (inner != Some(self.variables[nth].as_str())).then_some(value)
    }

    /// A time since 1970; in CSV a pattern may choose its text.
    fn moment(&self, ms: u64) -> JtlValue<'static> {
        let Some(pattern) = self.moments.as_ref().filter(|_| !self.xml) else { return Number(ms) };
        let told = jmeter::function::moment(i64::try_from(ms).unwrap_or(i64::MAX), pattern);
        told.map_or(Number(ms), |text| JtlValue::Text(text.into()))
    }

    fn line(&self, sample: &Sample, values: &[Option<String>], to: &mut String) {
        let mut digits = itoa::Buffer::new();
        let begin = to.len();
        for row in &self.columns {
            match (row.value)(self, sample) {
                Number(number) => self.cell(digits.format(number), to),
                JtlValue::Text(text) => self.cell(&text, to),
            }
        }
        for nth in 0..self.variables.len() {
            self.cell(self.variable(nth, values).unwrap_or("null"), to);
        }
        // The delimiter behind the last cell.
        if to.len() > begin {
            to.pop();
        }
        to.push('\n');
    }

    /// Appends a cell and a delimiter. In quotation marks stands what a reader would take apart.
    fn cell(&self, text: &str, to: &mut String) {
        let is_mark = |byte: u8| matches!(byte, b'"' | b'\n' | b'\r');
        let has_delimiter = match self.delimiter.is_ascii() {
            true => text.bytes().any(|byte| byte == self.delimiter as u8),
            false => text.contains(self.delimiter),
        };
        if has_delimiter || text.bytes().any(is_mark) {
            let _ = write!(to, "\"{}\"", text.replace('"', "\"\""));
        } else {
            to.push_str(text);
        }
        to.push(self.delimiter);
    }

    fn has(&self, name: &str) -> bool {
        self.columns.iter().any(|row| row.name == name)
    }

    fn element(&self, sample: &Sample, values: &[Option<String>], to: &mut String) {
        let tag = if sample.kind == JmeterKind::Http { "httpSample" } else { "sample" };
        let _ = write!(to, "<{tag}");
        for attribute in ATTRIBUTES {
            if let Some(row) = self.columns.iter().find(|row| row.attribute == attribute) {
                let _ = match (row.value)(self, sample) {
                    Number(number) => write!(to, " {attribute}=\"{number}\""),
                    JtlValue::Text(text) => write!(to, " {attribute}=\"{}\"", escaped(&text)),
                };
            }
        }
        for (nth, name) in self.variables.iter().enumerate() {
            let _ = write!(to, " {name}=\"{}\"", escaped(self.variable(nth, values).unwrap_or("")));
        }
        to.push_str(">\n");
        for (name, says) in sample.failed.iter().filter(|_| self.assertions) {
            let _ = writeln!(
                to,
                "  <assertionResult>\n    <name>{}</name>\n    <failure>true</failure>\n    <error>false</error>\n    <failureMessage>{}</failureMessage>\n  </assertionResult>",
                escaped(name),
                escaped(says)
            );
        }
        if self.parts {
            sample.parts.iter().for_each(|part| self.element(part, values, to));
        }
        self.wanted.write(sample, to);
        if let Some(url) = sample.url.as_ref().filter(|_| self.has("URL")) {
            let _ = writeln!(to, "  <java.net.URL>{}</java.net.URL>", escaped(url));
        }
        let _ = writeln!(to, "</{tag}>");
    }
}

/// Text within XML and HTML.
pub(super) fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    // Else a reader makes blanks of them in attributes.
    text.replace('\n', "&#xa;").replace('\r', "&#xd;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Sample {
        Sample {
            began_ms: 1_700_000_000_123,
            elapsed_ms: 12,
            label: "Home, \"page\"".into(),
            code: "200".into(),
            message: "OK".into(),
            thread: "Users 1-2".into(),
            success: true,
            bytes: 150,
            group_threads: 2,
            all_threads: 3,
            url: Some("http://h/?a&b".into()),
            latency_ms: 11,
            connect_ms: 1,
            ..Sample::default()
        }
    }

    fn text(layout: &Layout, sample: &Sample) -> String {
        let mut text = layout.begin();
        layout.write(sample, &mut text);
        text + layout.end()
    }

    #[test]
    fn the_usual_columns_are_jmeters() {
        let layout = Layout::of(&|_| None, String::new()).unwrap();
        assert_eq!(
            text(&layout, &sample()),
            "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,\
             grpThreads,allThreads,URL,Latency,IdleTime,Connect\n\
             1700000000123,12,\"Home, \"\"page\"\"\",200,OK,Users 1-2,text,true,,150,0,2,3,http://h/?a&b,11,0,1\n"
        );
    }

    #[test]
    fn columns_are_chosen_by_properties() {
        let chosen = |name: &str| {
            let value = match name {
                "default_delimiter" => ";",
                "print_field_names" | "thread_counts" | "url" | "idle_time" | "label" => "false",
                "timestamp_format" => "none",
                "sample_count" | "encoding" => "true",
                _ => return None,
            };
            Some(value.to_owned())
        };
        let failed =
            Sample { success: false, url: None, kind: JmeterKind::Transaction { parent: false }, ..sample() };
        let layout = Layout::of(&chosen, String::new()).unwrap();
        assert_eq!(text(&layout, &failed), "12;200;OK;Users 1-2;;false;;150;0;11;UTF-8;1;1;1\n");
    }

    #[test]
    fn xml_has_attributes_and_escapes() {
        let layout =
            Layout::of(&|name| (name == "output_format").then(|| "xml".to_owned()), String::new()).unwrap();
        let failed =
            Sample { failed: vec![("A".to_owned(), "a < b".to_owned())], success: false, ..sample() };
        let text = text(&layout, &failed);
        assert!(
            text.contains(
                "<httpSample t=\"12\" it=\"0\" lt=\"11\" ct=\"1\" ts=\"1700000000123\" s=\"false\" lb=\"Home, &quot;page&quot;\" rc=\"200\""
            ),
            "{text}"
        );
        assert!(text.contains("<failureMessage>a &lt; b</failureMessage>"), "{text}");
        assert!(text.contains("<java.net.URL>http://h/?a&amp;b</java.net.URL>"), "{text}");
        assert!(text.ends_with("</httpSample>\n</testResults>\n"), "{text}");
    }
    #[test]
    fn times_have_a_pattern_and_parts_may_stay_away() {
        let of = |pairs: &'static [(&'static str, &'static str)]| {
            let value = move |name: &str| {
                pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            };
            Layout::of(&value, "m1".to_owned())
        };
        let whole = Sample { parts: vec![sample()], ..sample() };
        let only = &[
            ("print_field_names", "false"),
            ("hostname", "true"),
            ("filename", "true"),
            ("timestamp_format", "yyyy"),
            ("subresults", "false"),
            ("thread_name", "false"),
            ("label", "false"),
        ];
        let told = text(&of(only).unwrap(), &whole);
        assert_eq!(told, "2023,12,200,OK,text,true,,150,0,2,3,http://h/?a&b,,11,m1,0,1\n");
        let xml = &[
            ("output_format", "xml"),
            ("timestamp_format", "yyyy"),
            ("url", "false"),
            ("assertions", "false"),
        ];
        let failed = Sample { failed: vec![("A".to_owned(), "no".to_owned())], ..whole };
        let told = text(&of(xml).unwrap(), &failed);
        assert!(
            told.contains("ts=\"1700000000123\"") && !told.contains("URL") && !told.contains("assertion"),
            "{told}"
        );
        assert_eq!(told.matches("<httpSample").count(), 2, "{told}");
        let wrong = of(&[("timestamp_format", "yyyy-QQ")]).unwrap_err();
        assert!(wrong.contains("timestamp_format") && wrong.contains("'Q'"), "{wrong}");
    }

    #[test]
    fn requests_answers_and_variables_are_written_where_they_are_asked_for() {
        let of = |names: &'static [&'static str]| {
            let value = |name: &str| match name {
                "output_format" => Some("xml".to_owned()),
                name => names.contains(&name).then(|| "true".to_owned()),
            };
            let layout = Layout::of(&value, String::new()).unwrap();
            layout.with_variables(vec!["V".to_owned(), "none".to_owned()])
        };
        let contents = measure::Contents {
            request: b"POST /x HTTP/1.1\r\nA: 1\r\nCookie: a=1\r\n\r\nsent".to_vec(),
            head: b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=ISO-8859-1\r\n\r\n".to_vec(),
            body: b"<\xe9>".to_vec(),
            values: vec![Some("v,1".to_owned()), Some("${none}".to_owned())],
            has_bytes: true,
        };
        let kept = Sample { contents: Some(Box::new(contents)), ..sample() };
        let told = text(&of(&["response_data", "responseHeaders", "requestHeaders", "samplerData"]), &kept);
        let expected = "V=\"v,1\" none=\"\">\n  \
            <responseHeader class=\"java.lang.String\">HTTP/1.1 200 OK\nContent-Type: text/plain; charset=ISO-8859-1\n</responseHeader>\n  \
            <requestHeader class=\"java.lang.String\">A: 1\n</requestHeader>\n  \
            <responseData class=\"java.lang.String\">&lt;é&gt;</responseData>\n  \
            <cookies class=\"java.lang.String\">a=1</cookies>\n  <method class=\"java.lang.String\">POST</method>\n  \
            <queryString class=\"java.lang.String\">sent</queryString>\n  <java.net.URL>";
        assert!(told.contains(expected), "{told}");
        let on_error = of(&["response_data.on_error"]);
        assert!(!text(&on_error, &kept).contains("responseData"));
        assert!(text(&on_error, &Sample { success: false, ..kept.clone() }).contains("&lt;é&gt;"));
        assert_eq!(on_error.contents(), plan::load::KeptContents::Failures);
        assert_eq!(of(&[]).contents(), plan::load::KeptContents::Nothing);
        let csv = Layout::of(&|name| (name == "encoding").then(|| "true".to_owned()), String::new()).unwrap();
        assert_eq!(csv.contents(), plan::load::KeptContents::All);
        let told = text(&csv.with_variables(vec!["V".to_owned(), "none".to_owned()]), &kept);
        assert!(told.contains("IdleTime,Connect,\"V\",\"none\"\n"), "{told}");
        assert!(told.ends_with("ISO-8859-1,0,1,\"v,1\",null\n"), "{told}");
    }
}
