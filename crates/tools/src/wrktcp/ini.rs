//! The ini file: from bytes to typed items, with every mistake named by its line.
//!
//! First the file becomes logical lines ([`lines`]), then items are taken section by section ([`read`]), then what they say
//! together is checked. What is not told apart here: values keep their placeholders, which `text.rs` takes apart.

use super::parameter::Parameter;
use std::fmt;

/// Bytes of a whole file at most.
pub const FILE_LIMIT: usize = 16 << 20;
/// Entries under `[parameters]` at most.
const PARAMETERS_LIMIT: usize = 1_000;
/// Mistakes that are named at most: more are of no use to anybody.
const MISTAKES_LIMIT: usize = 1_000;
/// Characters of a mistake at most.
const TEXT_LIMIT: usize = 500;
/// Digits or bytes of a request's length at most. What a length cannot need is zeros.
const LENGTH_LIMIT: u64 = 64;

/// Something wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// The line, from 1; 0 where something is missing.
    pub line: usize,
    /// Description of what is wrong and what to try.
    pub what: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            write!(to, "{}", self.what)
        } else {
            write!(to, "line {}: {}", self.line, self.what)
        }
    }
}

/// Parts of a message that a length counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LengthOf {
    /// The body alone.
    #[default]
    Body,
    /// Head and body.
    Total,
}

/// How a length is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LengthForm {
    /// Decimal digits with leading zeros.
    #[default]
    Ascii,
    /// Hexadecimal digits.
    Hex,
    /// Binary, most significant byte first.
    Binary,
    /// Binary, least significant byte first.
    BinaryLittle,
    /// Two decimal digits per byte.
    Bcd,
}

/// How the answer's code is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CodeType {
    /// `START LENGTH`, from 1.
    #[default]
    Fixed,
    /// Text such as `<retCode>`; the value goes on to the next `</`.
    Xml,
    /// Text such as `"rspCd"`; the value is what stands after it, a string or a number.
    Json,
    /// `BEFORE AFTER`: the value stands between the two words.
    Tag,
    /// A regular expression; the value is its first group, or all of it.
    Regex,
    /// The number of an ISO 8583 field.
    Iso8583,
}

/// Where the code is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CodeLocation {
    /// In the body.
    #[default]
    Body,
    /// In the head.
    Head,
}

/// A value with the line that it began in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct At<T> {
    /// The line, from 1.
    pub line: usize,
    /// The value.
    pub value: T,
}

/// One `[request]` section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestSection {
    /// Where what is said of its length stands last; 0: nowhere.
    pub length_line: usize,
    /// Width of the length field.
    pub length_width: usize,
    /// Parts of the request that the length counts.
    pub length_of: LengthOf,
    /// How it is written.
    pub length_form: LengthForm,
    /// The head, one at most; in HTTP mode a header line each.
    pub heads: Vec<At<Vec<u8>>>,
    /// The body.
    pub body: Option<At<Vec<u8>>>,
    /// How often it is sent, beside the others.
    pub weight: Option<At<u32>>,
}

/// The `[response]` section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResponseSection {
    /// Where what is said of its length stands last; 0: nowhere.
    pub length_line: usize,
    /// Bytes of the head.
    pub head_size: usize,
    /// Where the length begins in it, from 1.
    pub length_at: usize,
    /// Its width.
    pub length_width: usize,
    /// Parts of the answer that it counts.
    pub length_of: LengthOf,
    /// How it is written.
    pub length_form: LengthForm,
    /// Where what is said of the code stands last; 0: nowhere.
    pub code_line: usize,
    /// How the code is found.
    pub code_type: CodeType,
    /// Where.
    pub code_location: CodeLocation,
    /// By which word or place.
    pub code_tag: At<Vec<u8>>,
    /// The code that means success.
    pub code_success: At<Vec<u8>>,
}

/// A whole file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ini {
    /// A name or an address.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The request line of HTTP mode.
    pub http_line: Option<At<Vec<u8>>>,
    /// Requests per connection, as `keep_alive` says: `None` without end. One where it is not given.
    pub keep_alive: Option<u32>,
    /// Seconds that connecting may take.
    pub connect_timeout_s: Option<u32>,
    /// Seconds that an answer may take.
    pub timeout_s: Option<u32>,
    /// TLS is spoken.
    pub tls: bool,
    /// The server's certificate is verified.
    pub tls_verify: bool,
    /// At least one.
    pub requests: Vec<RequestSection>,
    /// How answers are read.
    pub response: ResponseSection,
    /// Names and what they stand for.
    pub parameters: Vec<Named>,
}

/// An entry under `[parameters]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// Where it stands.
    pub line: usize,
    /// As it stands between the brackets of `$(NAME)`, in whatever character set the file is.
    pub name: Vec<u8>,
    /// Parameter that the name stands for.
    pub parameter: Parameter,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    Common,
    Request,
    Response,
    Parameters,
}

/// A line with what a backslash at its end joins to it; the line ends stay in it.
struct Logical {
    line: usize,
    text: Vec<u8>,
}

/// Cuts a file into logical lines; comments are left out, and so are lines of nothing but blanks.
fn lines(file: &[u8]) -> Vec<Logical> {
    let mut all: Vec<Logical> = Vec::new();
    let mut goes_on = false;
    for (index, line) in file.split(|byte| *byte == b'\n').enumerate() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if !goes_on && (line.starts_with(b"#") || line.trim_ascii().is_empty()) {
            continue;
        }
        let ended = line.strip_suffix(b"\\");
        let text = ended.unwrap_or(line);
        match all.last_mut().filter(|_| goes_on) {
            Some(last) => last.text.extend_from_slice(text),
            None => all.push(Logical { line: index + 1, text: text.to_vec() }),
        }
        goes_on = ended.is_some();
        if goes_on && let Some(last) = all.last_mut() {
            last.text.push(b'\n');
        }
    }
    all
}

/// Blanks at both ends do not count; line ends within a value do, and so do tabs where they may be sent.
fn without_blanks(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|byte| *byte != b' ').unwrap_or(text.len());
    let end = text.iter().rposition(|byte| *byte != b' ').map_or(start, |at| at + 1);
    &text[start..end]
}

/// Neither blanks nor tabs at both ends count.
fn trimmed(text: &[u8]) -> &[u8] {
    let blank = |byte: &u8| *byte == b' ' || *byte == b'\t';
    let start = text.iter().position(|byte| !blank(byte)).unwrap_or(text.len());
    let end = text.iter().rposition(|byte| !blank(byte)).map_or(start, |at| at + 1);
    &text[start..end]
}

fn shown(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let short: String = text.chars().take(60).collect();
    let more = if text.chars().count() > 60 { "…" } else { "" };
    format!("{short}{more}")
}

/// Reads a file.
///
/// # Errors
/// Everything that is wrong with it, in the order of its lines; what is missing comes last.
pub fn read(file: &[u8]) -> Result<Ini, Vec<Mistake>> {
    let Draft { ini, mistakes } = draft(file);
    let mistakes = in_order(mistakes);
    if mistakes.is_empty() { Ok(ini) } else { Err(mistakes) }
}

/// A file as far as it was understood.
pub(super) struct Draft {
    /// With defaults in place of what was not.
    pub ini: Ini,
    /// Mistakes where it was not understood, in no order.
    pub mistakes: Vec<Mistake>,
}

/// Reads a file, whatever is wrong with it.
pub(super) fn draft(file: &[u8]) -> Draft {
    let mut reader = IniReader::new();
    if file.len() > FILE_LIMIT {
        let what = format!("the file has {} bytes, more than the {FILE_LIMIT} that are read", file.len());
        reader.wrong(0, what);
        return Draft { ini: reader.ini, mistakes: reader.mistakes };
    }
    let lines = lines(file);
    for (nth, line) in lines.iter().enumerate() {
        reader.has_body = has_body(&lines[nth + 1..]);
        reader.line(line);
    }
    reader.finish()
}

/// True if there is a body before the next section begins.
fn has_body(lines: &[Logical]) -> bool {
    let texts = lines.iter().map(|line| trimmed(&line.text)).take_while(|text| !text.starts_with(b"["));
    let mut names = texts.filter_map(|text| text.split(|byte| *byte == b'=').next());
    names.any(|name| trimmed(name) == b"req_body")
}

struct IniReader {
    section: Section,
    /// True if the item under way is in a section that is known.
    known: bool,
    /// True if the section that may begin here has a body.
    has_body: bool,
    host: Option<String>,
    has_port: bool,
    ini: Ini,
    mistakes: Vec<Mistake>,
}

impl RequestSection {
    fn new() -> RequestSection {
        RequestSection {
            length_line: 0,
            length_width: 8,
            length_of: LengthOf::Body,
            length_form: LengthForm::Ascii,
            heads: Vec::new(),
            body: None,
            weight: None,
        }
    }

    fn length(&mut self, name: &str, text: &str, line: usize) -> Result<(), String> {
        match name {
            "req_len_len" => self.length_width = number(name, text, 1..=LENGTH_LIMIT)? as usize,
            "req_len_type" => self.length_of = length_of(name, text)?,
            "req_len_format" => self.length_form = length_form(name, text)?,
            _ => return Err(unknown("request", name, REQUEST)),
        }
        self.length_line = line;
        Ok(())
    }
}

impl IniReader {
    fn new() -> IniReader {
        let response = ResponseSection {
            length_line: 0,
            code_line: 0,
            head_size: 8,
            length_at: 1,
            length_width: 8,
            length_of: LengthOf::Body,
            length_form: LengthForm::Ascii,
            code_type: CodeType::Fixed,
            code_location: CodeLocation::Body,
            code_tag: At { line: 0, value: b"1 6".to_vec() },
            code_success: At { line: 0, value: b"000000".to_vec() },
        };
        let ini = Ini {
            host: String::new(),
            port: 0,
            http_line: None,
            keep_alive: Some(1),
            connect_timeout_s: None,
            timeout_s: None,
            tls: false,
            tls_verify: false,
            requests: vec![RequestSection::new()],
            response,
            parameters: Vec::new(),
        };
        IniReader {
            section: Section::Common,
            known: true,
            has_body: false,
            host: None,
            has_port: false,
            ini,
            mistakes: Vec::new(),
        }
    }

    fn wrong(&mut self, line: usize, what: impl Into<String>) {
        self.mistakes.push(Mistake { line, what: what.into() });
    }

    fn line(&mut self, logical: &Logical) {
        let text = trimmed(&logical.text);
        if text.starts_with(b"[") {
            return self.header(logical.line, text);
        }
        let Some(at) = text.iter().position(|byte| *byte == b'=') else {
            let hint = if text.starts_with(b";") || text.starts_with(b"#") {
                "; a comment begins with # in the first column"
            } else {
                ""
            };
            return self.wrong(logical.line, format!("'{}' has no ={hint}", shown(text)));
        };
        let name_as_typed = trimmed(&text[..at]);
        let name = String::from_utf8_lossy(name_as_typed).into_owned();
        let value = if name == "req_head" || name == "req_body" {
            let all = &logical.text;
            let at = all.iter().position(|byte| *byte == b'=').unwrap_or(all.len());
            without_blanks(all.get(at + 1..).unwrap_or_default())
        } else {
            trimmed(&text[at + 1..])
        };
        let value = At { line: logical.line, value: value.to_vec() };
        if !self.known {
            // The unknown section has been told of.
            return;
        }
        let told = match self.section {
            Section::Common => self.common(&name, value),
            Section::Request => self.request(&name, value),
            Section::Response => self.response(&name, value),
            Section::Parameters => self.parameter(name_as_typed, value),
        };
        if let Err(what) = told {
            self.wrong(logical.line, what);
        }
    }

    fn header(&mut self, line: usize, text: &[u8]) {
        let inside = text[1..].split(|byte| *byte == b']').next().expect("a split has a first part");
        let closed = text.contains(&b']');
        let name = String::from_utf8_lossy(trimmed(inside)).into_owned();
        self.known = true;
        self.section = match name.as_str() {
            _ if !closed => {
                self.known = false;
                return self.wrong(line, format!("'{}' has no ]", shown(text)));
            }
            "common" => Section::Common,
            "request" => {
                // Without a body of its own a section goes on with the message before it.
                let last = self.ini.requests.last();
                let ended = |request: &RequestSection| request.body.is_some() || request.weight.is_some();
                if self.has_body && last.is_some_and(ended) {
                    self.ini.requests.push(RequestSection::new());
                }
                Section::Request
            }
            "response" => Section::Response,
            "parameters" => Section::Parameters,
            other => {
                self.known = false;
                let what =
                    format!("there is no section [{other}]: give common, request, response or parameters");
                return self.wrong(line, what);
            }
        };
    }

    fn common(&mut self, name: &str, value: At<Vec<u8>>) -> Result<(), String> {
        if name == "http_line" {
            self.ini.http_line = Some(http_line(value)?);
            return Ok(());
        }
        let text = utf8(&value.value)?;
        match name {
            "host" => self.host = Some(host(text)?),
            "port" => {
                let port = leading(text).parse().ok().filter(|port| *port > 0);
                self.has_port = true;
                self.ini.port =
                    port.ok_or_else(|| format!("port '{}': give 1 to 65535", shown(&value.value)))?;
            }
            "keep_alive" => self.ini.keep_alive = keep_alive(text)?,
            "connect_timeout" => self.ini.connect_timeout_s = Some(number(name, text, 1..=3_600)? as u32),
            "timeout" => self.ini.timeout_s = Some(number(name, text, 1..=3_600)? as u32),
            "tls" => self.ini.tls = yes(name, text)?,
            "tls_verify" => self.ini.tls_verify = yes(name, text)?,
            _ => return Err(unknown("common", name, COMMON)),
        }
        Ok(())
    }

    fn request(&mut self, name: &str, value: At<Vec<u8>>) -> Result<(), String> {
        let Some(request) = self.ini.requests.last_mut() else { return Ok(()) };
        match name {
            // Whether this is HTTP mode may be said further down.
            "req_head" => request.heads.push(value),
            "req_body" => request.body = Some(value),
            "weight" => {
                let weight = number(name, utf8(&value.value)?, 0..=1_000_000)? as u32;
                request.weight = Some(At { line: value.line, value: weight });
            }
            _ => request.length(name, utf8(&value.value)?, value.line)?,
        }
        Ok(())
    }

    fn response(&mut self, name: &str, value: At<Vec<u8>>) -> Result<(), String> {
        let response = &mut self.ini.response;
        match name {
            "rsp_code_location_tag" | "rsp_code_success" if value.value.is_empty() => {
                return Err(format!("{name} is empty"));
            }
            "rsp_code_location_tag" | "rsp_code_success" => {
                response.code_line = value.line;
                let is_tag = name == "rsp_code_location_tag";
                *(if is_tag { &mut response.code_tag } else { &mut response.code_success }) = value;
                return Ok(());
            }
            _ => {}
        }
        let text = utf8(&value.value)?;
        match name {
            "rsp_headlen" => response.head_size = number(name, text, 1..=65_536)? as usize,
            "rsp_len_beg" => response.length_at = number(name, text, 1..=65_536)? as usize,
            "rsp_len_len" => response.length_width = number(name, text, 1..=18)? as usize,
            "rsp_len_type" => response.length_of = length_of(name, text)?,
            "rsp_len_format" => response.length_form = length_form(name, text)?,
            _ => return self.response_code(name, value.line, text),
        }
        response.length_line = value.line;
        Ok(())
    }

    fn response_code(&mut self, name: &str, line: usize, text: &str) -> Result<(), String> {
        let response = &mut self.ini.response;
        match name {
            "rsp_code_type" => response.code_type = choice(name, text, &CODE_TYPES)?,
            "rsp_code_location" => {
                let places = [("body", CodeLocation::Body), ("head", CodeLocation::Head)];
                response.code_location = choice(name, text, &places)?;
            }
            _ => return Err(unknown("response", name, RESPONSE)),
        }
        response.code_line = line;
        Ok(())
    }

    fn parameter(&mut self, name: &[u8], value: At<Vec<u8>>) -> Result<(), String> {
        let odd = |byte: &u8| byte.is_ascii_whitespace() || byte.is_ascii_control() || b"$()".contains(byte);
        if name.is_empty() || name.iter().any(odd) {
            return Err(format!(
                "'{}' is no name for a parameter: it has no blanks, and neither $ nor brackets",
                shown(name)
            ));
        }
        if name == b"length" {
            return Err("length is the length of the message and cannot be a parameter".to_owned());
        }
        if self.ini.parameters.iter().any(|given| given.name == name) {
            return Err(format!("{} is there already; the first one counts", shown(name)));
        }
        if self.ini.parameters.len() == PARAMETERS_LIMIT {
            return Err(format!("more than {PARAMETERS_LIMIT} parameters"));
        }
        let parameter = Parameter::read(&value.value);
        let told = parameter.as_ref().map(|_| ()).map_err(Clone::clone);
        // What is refused is there all the same: only its own line is wrong, not those that name it.
        let parameter = parameter.unwrap_or(Parameter::ConnectId { format: None });
        self.ini.parameters.push(Named { line: value.line, name: name.to_vec(), parameter });
        told
    }

    fn finish(mut self) -> Draft {
        if self.host.is_none() && !self.has_wrong("host") {
            self.wrong(0, "host is missing: give it under [common]");
        }
        if !self.has_port {
            self.wrong(0, "port is missing: give it under [common]");
        }
        if self.ini.http_line.is_none() && !self.has_wrong("http_line") {
            self.finish_requests();
        }
        self.ini.host = self.host.take().unwrap_or_default();
        super::text::check(&self.ini, &mut self.mistakes);
        Draft { ini: self.ini, mistakes: self.mistakes }
    }

    /// True if an item was refused, so that it is not missing, too.
    fn has_wrong(&self, item: &str) -> bool {
        self.mistakes.iter().any(|mistake| mistake.what.starts_with(item))
    }

    /// TCP messages have a body, and one head.
    fn finish_requests(&mut self) {
        if self.ini.requests.iter().any(|request| request.body.is_none()) {
            self.wrong(0, "req_body is missing: give it under [request]; it may be empty");
        }
        for request in &mut self.ini.requests {
            let last = request.heads.pop();
            request.heads = last.into_iter().collect();
        }
    }
}

/// By their lines, what is missing last, one line of text each, and no more than anybody reads.
pub(super) fn in_order(mut mistakes: Vec<Mistake>) -> Vec<Mistake> {
    mistakes.sort_by_key(|mistake| if mistake.line == 0 { usize::MAX } else { mistake.line });
    mistakes.truncate(MISTAKES_LIMIT);
    mistakes.iter_mut().for_each(|mistake| mistake.what = on_one_line(&mistake.what));
    mistakes
}

/// Returns a text on one line, shortened: what is quoted may hold anything, and be of any length.
fn on_one_line(text: &str) -> String {
    let mut line = String::new();
    for character in text.chars().take(TEXT_LIMIT) {
        if character.is_control() {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    if text.chars().nth(TEXT_LIMIT).is_some() {
        line.push('…');
    }
    line
}

const CODE_TYPES: [(&str, CodeType); 6] = [
    ("fixed", CodeType::Fixed),
    ("xml", CodeType::Xml),
    ("json", CodeType::Json),
    ("tag", CodeType::Tag),
    ("regex", CodeType::Regex),
    ("8583", CodeType::Iso8583),
];

const COMMON: &str = "host, port, http_line, keep_alive, connect_timeout, timeout, tls, tls_verify";
const REQUEST: &str = "req_len_len, req_len_type, req_len_format, req_head, req_body, weight";
const RESPONSE: &str = "rsp_headlen, rsp_len_beg, rsp_len_len, rsp_len_type, rsp_len_format, rsp_code_type, \
                        rsp_code_location, rsp_code_location_tag, rsp_code_success";

fn unknown(section: &str, name: &str, items: &str) -> String {
    format!("[{section}] has no item '{}'; there are {items}", shown(name.as_bytes()))
}

fn utf8(value: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(value).map_err(|_| format!("'{}' is not UTF-8", shown(value)))
}

fn number(name: &str, text: &str, range: std::ops::RangeInclusive<u64>) -> Result<u64, String> {
    let wrong = || format!("{name} '{}': give {} to {}", shown(text.as_bytes()), range.start(), range.end());
    leading(text).parse().ok().filter(|number| range.contains(number)).ok_or_else(wrong)
}

/// A number without what may follow it behind a blank or a #: the old tool read as far as there were digits.
fn leading(text: &str) -> &str {
    text.split([' ', '\t', '#']).next().expect("a split has a first part")
}

fn choice<T: Copy>(name: &str, text: &str, choices: &[(&str, T)]) -> Result<T, String> {
    let found = choices.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
    let words = || choices.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
    let hint = if text.contains('#') { "; a comment has a line of its own" } else { "" };
    found.ok_or_else(|| format!("{name} '{}': give one of {}{hint}", shown(text.as_bytes()), words()))
}

fn yes(name: &str, text: &str) -> Result<bool, String> {
    choice(
        name,
        text,
        &[("yes", true), ("no", false), ("true", true), ("false", false), ("1", true), ("0", false)],
    )
}

fn length_of(name: &str, text: &str) -> Result<LengthOf, String> {
    choice(name, text, &[("body", LengthOf::Body), ("total", LengthOf::Total)])
}

fn length_form(name: &str, text: &str) -> Result<LengthForm, String> {
    choice(
        name,
        text,
        &[
            ("ascii", LengthForm::Ascii),
            ("hex", LengthForm::Hex),
            ("binary", LengthForm::Binary),
            ("binary-le", LengthForm::BinaryLittle),
            ("bcd", LengthForm::Bcd),
        ],
    )
}

/// `no`: one request per connection; `yes`: without end; a number: so many.
fn keep_alive(text: &str) -> Result<Option<u32>, String> {
    match text {
        "no" | "false" | "0" => Ok(Some(1)),
        "yes" | "true" => Ok(None),
        _ => number("keep_alive", text, 1..=u64::from(u32::MAX)).map(|count| Some(count as u32)).map_err(
            |_| format!("keep_alive '{}': give yes, no, or requests per connection", shown(text.as_bytes())),
        ),
    }
}

/// A name or an address; that of IPv6 may stand in brackets.
fn host(text: &str) -> Result<String, String> {
    let wrong =
        || format!("host '{}': give a name or an address, and the port under port", shown(text.as_bytes()));
    let plain = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let address = plain.split('%').next().expect("a split has a first part");
    let has_port = plain.contains(':') && address.parse::<std::net::Ipv6Addr>().is_err();
    let odd = |c: char| c.is_whitespace() || c.is_control() || "/[]".contains(c);
    if plain.is_empty() || has_port || plain.contains(odd) { Err(wrong()) } else { Ok(plain.to_owned()) }
}

/// `METHOD TARGET HTTP/1.x`.
fn http_line(value: At<Vec<u8>>) -> Result<At<Vec<u8>>, String> {
    let words: Vec<&[u8]> = value.value.split(|byte| *byte == b' ').collect();
    match words.as_slice() {
        [method, target, b"HTTP/1.1" | b"HTTP/1.0"]
            if !method.is_empty() && !target.is_empty() && !value.value.iter().any(u8::is_ascii_control) =>
        {
            Ok(value)
        }
        _ => Err(format!("http_line '{}': give one such as POST /path HTTP/1.1", shown(&value.value))),
    }
}
