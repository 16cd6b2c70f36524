//! Meaning of an ini file as messages: templates, how answers are told apart, and which of them are good. Whatever the engine
//! would refuse later is named here, with its line. Start at [`step`].

use super::http;
use super::ini::{CodeLocation, CodeType, Draft, Ini, LengthForm, LengthOf, Mistake, Named, RequestSection};
use super::parameter::Parameter;
use super::text::{WrktcpPiece, pieces};
use ::plan::MessageStep;
use ::plan::answer::{By, Check, IsoForm, Must, Part, Selector};
use ::plan::data::{
    Counter, Counts, Data, Each, Format, LengthField, Number, Rows, Source, Time, TimeText, Wrap, Zone,
    is_name,
};
use ::plan::message::{Framing, LengthHead, Message, MessageOrder};
use ::plan::template::escape;
use std::io;
use std::path::Path;

/// Bytes of the longest request and of the longest answer. The old tool had no limit.
const LONGEST: u32 = 64 << 20;

/// Settings that a file does not give itself.
#[derive(Clone, Copy)]
pub(super) struct StepOptions<'a> {
    /// Counters go on as they used to.
    pub compat_counter: bool,
    /// Times are of UTC.
    pub utc: bool,
    /// Reads a file of lines.
    pub read_file: &'a dyn Fn(&Path) -> io::Result<Vec<u8>>,
}

/// Says what a file means, and adds what is wrong with it.
pub(super) fn step(draft: &mut Draft, options: StepOptions<'_>) -> MessageStep {
    let Draft { ini, mistakes } = draft;
    let mut maker =
        Maker { ini, options, data: Vec::new(), names: vec![None; ini.parameters.len()], mistakes };
    ini.parameters.iter().for_each(|named| maker.check(named));
    let messages = ini.requests.iter().map(|request| maker.message(request)).collect();
    MessageStep {
        framing: Framing::Raw,
        answers: Some(maker.answers()),
        messages,
        order: maker.order(),
        code: maker.code(),
        data: maker.data,
        longest_request: LONGEST,
        longest_answer: LONGEST,
        ..MessageStep::default()
    }
}

pub(super) struct Maker<'a> {
    pub ini: &'a Ini,
    options: StepOptions<'a>,
    data: Vec<Data>,
    /// Names that the parameters that are used have in the plan.
    names: Vec<Option<String>>,
    mistakes: &'a mut Vec<Mistake>,
}

impl Maker<'_> {
    pub fn wrong(&mut self, line: usize, what: impl Into<String>) {
        self.mistakes.push(Mistake { line, what: what.into() });
    }

    /// True if items were refused that begin so: what they say together is not known then.
    fn has_wrong(&self, items: &str) -> bool {
        self.mistakes.iter().any(|mistake| mistake.what.starts_with(items))
    }

    fn order(&mut self) -> MessageOrder {
        let weights = self.ini.requests.iter().filter_map(|request| request.weight.as_ref());
        let (line, all) = weights.fold((0, None), |(_, sum), weight| {
            (weight.line, Some(sum.unwrap_or(0u64) + u64::from(weight.value)))
        });
        let unweighted = self.ini.requests.iter().any(|request| request.weight.is_none());
        match all {
            None => MessageOrder::Loop,
            Some(0) if !unweighted => {
                self.wrong(line, "weight: all weights are 0: give at least one request another");
                MessageOrder::Loop
            }
            Some(_) => MessageOrder::Weighted,
        }
    }

    /// Checks a parameter, used or not: adds a mistake where the plan cannot have it.
    fn check(&mut self, named: &Named) {
        let (source, _) = self.source(&named.parameter);
        let hint = match &source {
            Source::Counter(counter) if counter.step < 0 => {
                "; give a positive step, or --compat-counter for the old order, which stays at the start"
            }
            _ => "",
        };
        if let Some(why) = source.violation() {
            self.wrong(named.line, format!("{}: {why}{hint}", shown(&named.name)));
        }
    }

    fn source(&self, parameter: &Parameter) -> (Source, Option<Format>) {
        match parameter {
            Parameter::Counter { start, end, step, format } => {
                let wrap = if self.options.compat_counter { Wrap::Wrktcp } else { Wrap::Restart };
                let end = Some(*end);
                let each = Each::Place;
                let counter = Counter { start: *start, end, step: *step, width: 0, wrap, each };
                (Source::Counter(counter), format.clone())
            }
            Parameter::DateTime { format } => {
                let zone = if self.options.utc { Zone::Utc } else { Zone::Local };
                (Source::Time(Time::Text(TimeText { format: format.clone().into(), zone })), None)
            }
            Parameter::ConnectId { format } => (Source::Connection, format.clone()),
            Parameter::File { path } => {
                let rows = Rows { file: path.clone(), lines: true, each: Each::Place, ..Rows::default() };
                (Source::File(rows), None)
            }
        }
    }

    /// Returns a parameter's name in the plan, where it is used.
    fn parameter(&mut self, index: usize) -> String {
        if let Some(name) = &self.names[index] {
            return name.clone();
        }
        let named = &self.ini.parameters[index];
        let (source, format) = self.source(&named.parameter);
        if let Some(file) = source.file() {
            let read = (self.options.read_file)(Path::new(file));
            let why = match read {
                Err(error) => Some(error.to_string()),
                Ok(bytes) => bytes.is_empty().then(|| "it has no row".to_owned()),
            };
            if let Some(why) = why {
                let name = shown(&named.name);
                self.wrong(named.line, format!("{name}: the file {file} cannot be used: {why}"));
            }
        }
        let name = self.add(&shown(&named.name), source, format);
        self.names[index] = Some(name.clone());
        name
    }

    /// Adds data under a name of its own.
    fn add(&mut self, wanted: &str, source: Source, format: Option<Format>) -> String {
        let good = |letter: char| if is_name(&letter.to_string()) { letter } else { '_' };
        let plain: String = wanted.chars().map(good).collect();
        let taken = |name: &String| self.data.iter().any(|field| field.name == *name);
        let mut names = (2..).map(|nth| format!("{plain}-{nth}"));
        // There are more numbers than names.
        let name =
            Some(plain.clone()).filter(|name| !taken(name)).or_else(|| names.find(|name| !taken(name)));
        let name = name.unwrap_or(plain);
        self.data.push(Data { name: name.clone(), source, format });
        name
    }

    fn message(&mut self, request: &RequestSection) -> Message {
        let mistakes = self.mistakes.len();
        let taken_apart = |value: &[u8]| pieces(value, self.ini).unwrap_or_default();
        let body = request.body.as_ref().map(|body| taken_apart(&body.value)).unwrap_or_default();
        let (head, length) = match &self.ini.http_line {
            Some(line) => (http::head(self, line, request, &body), Length::of_http()),
            None => {
                let head = request.heads.last().map(|head| taken_apart(&head.value));
                (head.unwrap_or_else(|| vec![WrktcpPiece::Length]), self.length(request))
            }
        };
        let [head, body] = [head, body].map(|pieces| self.template(pieces, &length));
        if mistakes == self.mistakes.len() {
            self.check_length(request, &length, &head, &body);
        }
        let weight = request.weight.as_ref().map_or(1, |weight| weight.value);
        Message { head: head.bytes.into(), weight, ..Message::of(body.bytes) }
    }

    /// How a request's length is written.
    fn length(&mut self, request: &RequestSection) -> Length {
        let (width, most, zero, number): (usize, usize, u8, fn(u8) -> Number) = match request.length_form {
            LengthForm::Ascii => (request.length_width, 18, b'0', Number::Ascii),
            LengthForm::Hex => (request.length_width, 15, b'0', Number::Hex),
            LengthForm::Bcd => (request.length_width, 9, 0, Number::Bcd),
            LengthForm::Binary => (request.length_width, 8, 0, Number::Binary),
            LengthForm::BinaryLittle => (request.length_width, 8, 0, Number::Little),
        };
        let binary = matches!(request.length_form, LengthForm::Binary | LengthForm::BinaryLittle);
        if binary && ![1, 2, 4, 8].contains(&width) && !self.has_wrong("req_len") {
            self.wrong(request.length_line, "a binary length has 1, 2, 4 or 8 bytes: see req_len_len");
        }
        let number = number(width.min(most) as u8);
        let filler = if binary { Vec::new() } else { vec![zero; width.saturating_sub(most)] };
        Length { filler, number, counts: counts(request.length_of) }
    }

    /// Makes the pieces of a text into a template.
    fn template(&mut self, pieces: Vec<WrktcpPiece>, length: &Length) -> StepTemplate {
        let mut template = StepTemplate::default();
        let mut length_name = None;
        for piece in pieces {
            match piece {
                WrktcpPiece::Text(text) => template.text(&text),
                WrktcpPiece::Parameter(index) => {
                    let least = least(&self.ini.parameters[index].parameter);
                    let name = self.parameter(index);
                    template.value(&name, least);
                }
                WrktcpPiece::Length => {
                    template.text(&length.filler);
                    let name = length_name.get_or_insert_with(|| self.length_name(length));
                    template.value(name, length.number.width() as usize);
                    template.has_length = true;
                }
            }
        }
        template.end()
    }

    /// Returns a length's name in the plan: those of one form are one.
    fn length_name(&mut self, length: &Length) -> String {
        let source = Source::Length(length.field());
        let known = self.data.iter().find(|field| field.source == source).map(|field| field.name.clone());
        known.unwrap_or_else(|| self.add("length", source, None))
    }

    /// A length that cannot tell of the shortest message that there is.
    fn check_length(
        &mut self,
        request: &RequestSection,
        length: &Length,
        head: &StepTemplate,
        body: &StepTemplate,
    ) {
        let least = match length.counts {
            Counts::Body => body.least,
            Counts::Total => head.least + body.least,
        };
        if (head.has_length || body.has_length) && least as u128 > length.most() {
            let line = request.body.as_ref().map_or(0, |body| body.line);
            let width = length.number.width();
            self.wrong(
                line,
                format!(
                    "the message has {least} bytes, more than a length of {width} can say: see req_len_len"
                ),
            );
        }
    }

    fn answers(&mut self) -> Framing {
        if self.ini.http_line.is_some() {
            return http::answers();
        }
        let response = &self.ini.response;
        let number = number(response.length_form, response.length_width);
        let framing = Framing::Length(LengthHead {
            size: Some(response.head_size as u32),
            at: response.length_at as u32 - 1,
            number,
            counts: counts(response.length_of),
            adjust: 0,
        });
        let end = response.length_at - 1 + response.length_width;
        let why = if end > response.head_size {
            let size = response.head_size;
            Some(format!("the length field of answers ends at byte {end} of a head of {size} bytes"))
        } else {
            framing.violation().map(|why| format!("the length of answers: {why}"))
        };
        if let Some(why) = why.filter(|_| !self.has_wrong("rsp_len") && !self.has_wrong("rsp_headlen")) {
            self.wrong(
                response.length_line,
                format!("{why}: see rsp_headlen, rsp_len_beg, rsp_len_len and rsp_len_format"),
            );
        }
        framing
    }

    /// Which answers are good. In HTTP mode the status says it where the file says nothing.
    fn code(&mut self) -> Option<Check> {
        let response = &self.ini.response;
        if self.has_wrong("rsp_code") || self.ini.http_line.is_some() && response.code_line == 0 {
            return None;
        }
        let part = match response.code_location {
            CodeLocation::Body => Part::Body,
            CodeLocation::Head => Part::Head,
        };
        match self.place() {
            Err(why) => {
                let line =
                    if response.code_tag.line > 0 { response.code_tag.line } else { response.code_line };
                self.wrong(line, format!("rsp_code_location_tag {why}"));
                None
            }
            Ok(by) => {
                if let By::Fixed { at, length, .. } = by {
                    self.check_fixed(part, u64::from(at), u64::from(length));
                }
                let wanted = response.code_success.value.clone().into();
                Some(Check::of(Selector { part, by }, Must::BeOneOf(vec![wanted])))
            }
        }
    }

    /// Where the code stands.
    fn place(&self) -> Result<By, String> {
        let response = &self.ini.response;
        let tag: &[u8] = match (response.code_tag.line, response.code_type) {
            // What a fixed code has by default is nothing to look for by its name.
            (0, CodeType::Iso8583) => b"39",
            (0, CodeType::Xml | CodeType::Json | CodeType::Tag | CodeType::Regex) => {
                return Err("is missing: say by what this type of code is found".to_owned());
            }
            _ => &response.code_tag.value,
        };
        let by = by(response.code_type, tag)?;
        by.violation().map_or(Ok(by), |why| Err(format!("'{}': {why}", shown(tag))))
    }

    /// A place that cannot hold what is looked for.
    fn check_fixed(&mut self, part: Part, at: u64, length: u64) {
        let response = &self.ini.response;
        let is_http = self.ini.http_line.is_some();
        let tag = &response.code_tag;
        let wanted = &response.code_success;
        let head_size = response.head_size;
        let text = shown(&tag.value);
        // A shorter one may end with the answer or at a NUL.
        if wanted.value.len() as u64 > length {
            let code = shown(&wanted.value);
            let bytes = wanted.value.len();
            self.wrong(
                wanted.line.max(tag.line),
                format!(
                    "rsp_code_success '{code}' has {bytes} bytes, and rsp_code_location_tag '{text}' takes {length}: no answer could be good"
                ),
            );
        } else if part == Part::Head && !is_http && at + length > head_size as u64 {
            self.wrong(
                response.code_line,
                format!("rsp_code_location_tag '{text}' ends behind the head, which has {head_size} bytes"),
            );
        }
    }
}

/// How a length is written.
struct Length {
    /// Zeros before it.
    filler: Vec<u8>,
    number: Number,
    counts: Counts,
}

impl Length {
    /// As many digits as it needs.
    fn of_http() -> Length {
        Length { filler: Vec::new(), number: Number::Ascii(0), counts: Counts::Body }
    }

    fn field(&self) -> LengthField {
        LengthField { number: self.number, counts: self.counts, adjust: 0 }
    }

    /// The greatest that fits.
    fn most(&self) -> u128 {
        let (base, width) = match self.number {
            Number::Ascii(0) => return u128::MAX,
            Number::Ascii(width) => (10u128, width),
            Number::Hex(width) => (16, width),
            Number::Binary(width) | Number::Little(width) => (256, width),
            Number::Bcd(width) => (100, width),
        };
        base.pow(width.into()) - 1
    }
}

/// A text with placeholders, as a plan has it.
#[derive(Default)]
struct StepTemplate {
    bytes: Vec<u8>,
    /// Text since the last placeholder.
    text: Vec<u8>,
    /// Bytes of it at least, once its values stand in it.
    least: usize,
    has_length: bool,
}

impl StepTemplate {
    fn text(&mut self, text: &[u8]) {
        self.text.extend_from_slice(text);
        self.least += text.len();
    }

    /// A placeholder. Braces and backslashes right before it would be taken for a part of it, so that they become one
    /// themselves.
    fn value(&mut self, name: &str, least: usize) {
        let plain = self.text.iter().rposition(|byte| !b"{\\".contains(byte)).map_or(0, |at| at + 1);
        self.bytes.extend(escape(&self.text[..plain]));
        if plain < self.text.len() {
            let digits: String = self.text[plain..].iter().map(|byte| format!("{byte:02x}")).collect();
            self.bytes.extend(format!("{{{{hex:{digits}}}}}").into_bytes());
        }
        self.bytes.extend(format!("{{{{{name}}}}}").into_bytes());
        self.text.clear();
        self.least += least;
    }

    fn end(mut self) -> StepTemplate {
        self.bytes.extend(escape(&self.text));
        self.text.clear();
        self
    }
}

/// Bytes of a parameter's value at least.
fn least(parameter: &Parameter) -> usize {
    match parameter {
        Parameter::Counter { format, .. } | Parameter::ConnectId { format } => {
            format.as_ref().map_or(1, Format::least)
        }
        Parameter::DateTime { .. } | Parameter::File { .. } => 0,
    }
}

fn counts(of: LengthOf) -> Counts {
    match of {
        LengthOf::Body => Counts::Body,
        LengthOf::Total => Counts::Total,
    }
}

fn number(form: LengthForm, width: usize) -> Number {
    // The reader takes two digits at most.
    let width = width as u8;
    match form {
        LengthForm::Ascii => Number::Ascii(width),
        LengthForm::Hex => Number::Hex(width),
        LengthForm::Bcd => Number::Bcd(width),
        LengthForm::Binary => Number::Binary(width),
        LengthForm::BinaryLittle => Number::Little(width),
    }
}

/// Where a code stands, as `rsp_code_location_tag` says it.
fn by(kind: CodeType, tag: &[u8]) -> Result<By, String> {
    let text = String::from_utf8_lossy(tag);
    let two = || {
        let at = tag.iter().position(u8::is_ascii_whitespace)?;
        Some((&tag[..at], tag[at..].trim_ascii_start()))
    };
    let number = |text: &[u8]| std::str::from_utf8(text).ok()?.parse::<u32>().ok();
    let wrong = |wanted: &str| format!("'{text}': give {wanted}");
    let between = |before: &[u8], after: &[u8]| By::Between {
        before: before.to_vec().into(),
        after: after.to_vec().into(),
    };
    match kind {
        CodeType::Fixed => {
            let numbers = two().and_then(|(at, length)| {
                Some(By::Fixed { at: number(at)?.checked_sub(1)?, length: number(length)?, text: true })
            });
            numbers.ok_or_else(|| wrong("the first byte, from 1, and the number of bytes, such as 1 6"))
        }
        CodeType::Xml => Ok(between(tag, b"</")),
        CodeType::Json if tag.starts_with(b"<") => Err(wrong("the name of a member, such as \"rspCd\"")),
        CodeType::Json => Ok(By::Tag(tag.to_vec().into())),
        CodeType::Tag => match two() {
            Some((before, after)) if !after.iter().any(u8::is_ascii_whitespace) => Ok(between(before, after)),
            _ => Err(wrong("the word before the code and the word behind it, such as code=[ ]")),
        },
        CodeType::Regex => match std::str::from_utf8(tag) {
            Ok(expression) => Ok(By::Regex(expression.to_owned())),
            Err(_) => Err(wrong("an expression in UTF-8, with \\xHH for other bytes")),
        },
        CodeType::Iso8583 => {
            let (field, form) = two().unwrap_or((tag, b"binary"));
            let form = std::str::from_utf8(form).ok().and_then(IsoForm::parse);
            let field = number(field).and_then(|field| u8::try_from(field).ok());
            let iso = field.zip(form).map(|(field, form)| By::Iso {
                field,
                bitmap: form.bitmap,
                coding: form.coding,
            });
            iso.ok_or_else(|| {
                wrong("the number of a field, such as 39, behind it hex where bitmaps are digits, and bcd or ebcdic")
            })
        }
    }
}

/// Bytes of a file as people may read them.
fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
