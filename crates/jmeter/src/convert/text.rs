//! Texts with `${…}` → texts with `{{…}}`, and the steps that compute what no placeholder can say.

use super::variables::Variable;
use super::{Converter, known_script};
use crate::element::Element;
use crate::expression::{Call, Piece, Text};
use crate::function::{self, Context, Fact};
use crate::settings::Settings;
use plan::data::{Data, Source, Time, TimeForm};
use plan::draw::hash;
use plan::{Code, Fills, Set, Step};
use std::collections::BTreeMap;

/// A text, converted.
#[derive(Debug, Default)]
pub(super) struct Converted {
    /// Its pieces: what stays, and names of placeholders.
    pieces: Vec<ConvertKept>,
    /// Steps to take before it is used.
    pub(super) before: Vec<Step>,
    /// Named data that it holds.
    pub(super) data: Vec<Data>,
}

#[derive(Debug, Clone, PartialEq)]
enum ConvertKept {
    Text(String),
    Value(String),
}

/// How values are written into a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    /// As they are.
    Raw,
    /// As a path and query are: blanks and what is no ASCII in percent notation.
    Path,
    /// As forms are.
    Form,
}

impl Converted {
    /// The text where nothing in it changes.
    pub(super) fn constant(&self) -> Option<String> {
        let fixed = self.pieces.iter().map(|piece| match piece {
            ConvertKept::Text(text) => Some(text.as_str()),
            ConvertKept::Value(_) => None,
        });
        fixed.collect()
    }

    /// True if a value stands first.
    pub(super) fn begins_with_value(&self) -> bool {
        matches!(self.pieces.first(), Some(ConvertKept::Value(_)))
    }

    /// The name of the one value that the text is.
    pub(super) fn only_value(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [ConvertKept::Value(name)] => Some(name),
            _ => None,
        }
    }

    /// As a template of a plan. `fixed`: how what stays is written.
    pub(super) fn template(&self, encoding: Encoding, fixed: impl Fn(&str) -> String) -> String {
        let mut template = String::new();
        for piece in &self.pieces {
            match piece {
                ConvertKept::Text(text) => {
                    let escaped = plan::template::escape(fixed(text).as_bytes());
                    template.push_str(&String::from_utf8_lossy(&escaped));
                }
                ConvertKept::Value(name) => {
                    let how = match encoding {
                        Encoding::Raw => "",
                        Encoding::Path => "|path",
                        Encoding::Form => "|form",
                    };
                    template.push_str(&format!("{{{{{name}{how}}}}}"));
                }
            }
        }
        template
    }

    /// As a template whose values stand as they are.
    pub(super) fn raw(&self) -> String {
        self.template(Encoding::Raw, str::to_owned)
    }

    /// Returns the steps that make users keep all of its values before it is used.
    pub(super) fn steps(&self) -> Vec<Step> {
        let set = |data: &Data| {
            let source = super::config::in_place(&data.source);
            Step::Set(Set::of(&data.name, format!("{{{{{source}}}}}").as_str()))
        };
        self.before.iter().cloned().chain(self.data.iter().map(set)).collect()
    }

    /// Its pieces as they stand in an expression: quoted texts and names.
    pub(super) fn operands(&self) -> Vec<String> {
        let written = |piece: &ConvertKept| match piece {
            ConvertKept::Text(text) => quoted(text),
            ConvertKept::Value(name) => operand(name),
        };
        self.pieces.iter().map(written).collect()
    }

    fn text(&mut self, text: &str) {
        match self.pieces.last_mut() {
            _ if text.is_empty() => {}
            Some(ConvertKept::Text(before)) => before.push_str(text),
            _ => self.pieces.push(ConvertKept::Text(text.to_owned())),
        }
    }

    fn value(&mut self, name: String) {
        self.pieces.push(ConvertKept::Value(name));
    }
}

/// A name, as expressions have it.
pub(super) fn operand(name: &str) -> String {
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if plain && !name.starts_with(|first: char| first.is_ascii_digit()) {
        name.to_owned()
    } else {
        format!("{{{{{name}}}}}")
    }
}

/// A text between quotes, as expressions have it.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

impl Converter<'_> {
    /// A property's text, converted. What cannot be computed is listed, and stays as it is written.
    pub(super) fn text(&mut self, of: &Element, written: &str) -> Converted {
        let mut converted = Converted::default();
        let parsed = match Text::parse(written, &function::is_known) {
            Ok(parsed) => parsed,
            Err(why) => {
                self.different(
                    of,
                    format!(
                        "'{}' stays as it is written, where JMeter does not begin the test: {why}",
                        short(written)
                    ),
                );
                Text::fixed(written)
            }
        };
        for piece in parsed.pieces() {
            match piece {
                Piece::Fixed(text) => converted.text(text),
                Piece::Variable(name) => self.variable(name, &mut converted),
                Piece::Call(call) => self.call(of, call, &mut converted),
            }
        }
        converted
    }

    /// A text that must be the same for the whole run; where it changes, it is listed and `None`.
    pub(super) fn constant(&mut self, of: &Element, written: &str, what: &str) -> Option<String> {
        let constant = self.text(of, written).constant();
        if constant.is_none() {
            self.missing(of, format!("{what} is '{}', which changes while users run", short(written)));
        }
        constant
    }

    fn variable(&mut self, name: &str, to: &mut Converted) {
        match self.variables.get(name) {
            Variable::Constant(value) => to.text(&value),
            Variable::Kept(name) => to.value(name),
            Variable::Unset => to.text(&format!("${{{name}}}")),
        }
    }

    fn call(&mut self, of: &Element, call: &Call, to: &mut Converted) {
        if let Some(value) = self.at_start(call) {
            return to.text(&value);
        }
        if let Some(source) = source(call) {
            let name = self.fresh("value");
            to.data.push(Data::of(&name, source));
            return to.value(name);
        }
        if let Some(language) = function::script_language(&call.name) {
            let code = call.arguments.first().map_or_else(String::new, |argument| self.rebuilt(argument));
            let into = self.result(call, 1);
            let fills = if code.contains("${") { Fills::Each } else { Fills::Never };
            let step = Code { fills, ..self.code(of, language, &code, Some(into.clone())) };
            to.before.push(Step::Code(step));
            return to.value(into);
        }
        if let Some(why) = function::refusal(&call.name) {
            self.missing(of, format!("{}: {why}", call.name));
            return to.text("");
        }
        let into = self.fresh("value");
        let code = self.rebuilt_call(call);
        let sets = call.arguments.iter().filter_map(Text::as_fixed).map(str::trim);
        let sets: Vec<String> = sets.filter(|name| self.variables.is_set(name)).map(str::to_owned).collect();
        let mut step = self.code(of, "jmeter", &code, Some(into.clone()));
        step.sets = sets.iter().map(|name| self.variables.name(name)).collect();
        to.before.push(Step::Code(step));
        to.value(into);
    }

    /// The variable that a call keeps its result in, or a fresh name.
    fn result(&mut self, call: &Call, nth: usize) -> String {
        let named = call.arguments.get(nth).and_then(Text::as_fixed).map(str::trim);
        match named.filter(|name| !name.is_empty()) {
            Some(name) => self.variables.name(name),
            None => self.fresh("value"),
        }
    }

    /// Program text for an element; what of it does not run is listed.
    pub(super) fn code(&mut self, of: &Element, language: &str, text: &str, into: Option<String>) -> Code {
        self.runs_programs = true;
        for (line, why) in (self.settings.unsupported)(language, text) {
            self.missing(of, format!("its script, line {line}: {why}"));
        }
        Code {
            language: language.to_owned(),
            text: text.to_owned(),
            name: of.path.clone(),
            into,
            ..Code::default()
        }
    }

    /// The value of a call that is the same for the whole run.
    fn at_start(&mut self, call: &Call) -> Option<String> {
        let text = Text::of_call(call.clone());
        let may_keep = function::keeps(&call.name) && !names_folder(call);
        let before = function::before_names(&call.name);
        let mut names = call.arguments.iter().skip(before).filter_map(Text::as_fixed);
        let keeps_name = names.any(|name| may_keep && self.variables.is_set(name.trim()));
        if keeps_name || !self.is_constant(&text) {
            return None;
        }
        let mut start = Start {
            settings: self.settings,
            variables: &mut self.variables.start,
            drawn: 0,
            row: BTreeMap::new(),
        };
        function::compute(&text, &mut start).ok()
    }

    /// True if all that a text is computed from is known before the run.
    fn is_constant(&mut self, text: &Text) -> bool {
        text.pieces().iter().all(|piece| match piece {
            Piece::Fixed(_) => true,
            Piece::Variable(name) => matches!(self.variables.get(name), Variable::Constant(_)),
            Piece::Call(call) => {
                let of_properties = matches!(
                    call.name.as_str(),
                    "__P" | "__property" | "__isPropDefined" | "__env" | "__TestPlanName"
                );
                (function::is_pure(&call.name)
                    || names_folder(call)
                    || of_properties && !self.properties_change)
                    && call.arguments.iter().all(|argument| self.is_constant(argument))
            }
        })
    }

    /// A text as it is written, with names that placeholders can hold and with constants in it.
    pub(super) fn rebuilt(&mut self, text: &Text) -> String {
        let pieces = text.pieces().iter().map(|piece| match piece {
            Piece::Fixed(text) => text.clone(),
            Piece::Variable(name) => match self.variables.get(name) {
                Variable::Constant(value) => value,
                Variable::Kept(name) => format!("${{{name}}}"),
                Variable::Unset => format!("${{{name}}}"),
            },
            Piece::Call(call) => self.rebuilt_call(call),
        });
        pieces.collect()
    }

    fn rebuilt_call(&mut self, call: &Call) -> String {
        let escaped = |converter: &mut Self, argument: &Text| {
            let pieces = argument.pieces().iter().map(|piece| match piece {
                Piece::Fixed(text) => text.replace('\\', "\\\\").replace(',', "\\,").replace('$', "\\$"),
                _ => converter.rebuilt(&Text::of(piece.clone())),
            });
            pieces.collect::<String>()
        };
        let arguments: Vec<String> = call.arguments.iter().map(|argument| escaped(self, argument)).collect();
        format!("${{{}({})}}", call.name, arguments.join(","))
    }

    /// A name that nothing else has.
    pub(super) fn fresh(&mut self, word: &str) -> String {
        self.named += 1;
        format!("{word}_{}", self.named)
    }

    /// Evaluates a text once, at the start: user defined variables, numbers of groups.
    pub(super) fn evaluate_at_start(&mut self, of: &Element, written: &str) -> String {
        self.drawn += 1;
        let drawn = hash(self.settings.seed, self.drawn << 32);
        let mut start = Start {
            settings: self.settings,
            variables: &mut self.variables.start,
            drawn,
            row: BTreeMap::new(),
        };
        match function::evaluate(written, &mut start) {
            Ok(value) => value,
            // A file that is not there is a warning; the text then stands as it is written, as in JMeter.
            Err(why) if why.ends_with("is not there") => {
                self.different(of, format!("'{}': {why}", short(written)));
                written.to_owned()
            }
            Err(why) => {
                self.missing(of, format!("'{}': {why}", short(written)));
                written.to_owned()
            }
        }
    }
}

/// True if a call runs program text that names the plan's folder.
fn names_folder(call: &Call) -> bool {
    let is_script = function::script_language(&call.name).is_some();
    is_script
        && matches!(call.arguments.as_slice(), [text] if text.as_fixed().is_some_and(known_script::is_known))
}

/// A source of data that is what a call means, each time anew.
fn source(call: &Call) -> Option<Source> {
    let fixed: Option<Vec<&str>> = call.arguments.iter().map(Text::as_fixed).collect();
    let fixed = fixed?;
    match (call.name.as_str(), fixed.as_slice()) {
        ("__UUID", []) => Some(Source::Uuid),
        ("__Random", [min, max] | [min, max, ""]) => {
            let min = min.trim().parse().ok()?;
            let max = max.trim().parse().ok()?;
            (min <= max).then_some(Source::Integer { min, max, width: 0 })
        }
        ("__time", [] | [""] | ["", ""]) => Some(Source::Time(Time::Named(TimeForm::Milliseconds))),
        _ => None,
    }
}

/// The first characters of a text, for messages.
pub(super) fn short(text: &str) -> String {
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match one_line.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &one_line[..end]),
        None => one_line,
    }
}

/// The world at the start of a run.
struct Start<'a, 'b> {
    settings: &'a Settings<'b>,
    variables: &'a mut BTreeMap<String, String>,
    drawn: u64,
    row: BTreeMap<String, usize>,
}

impl Context for Start<'_, '_> {
    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }

    fn set_variable(&mut self, name: &str, value: &str) {
        self.variables.insert(name.to_owned(), value.to_owned());
    }

    fn property(&self, name: &str) -> Option<String> {
        self.settings.properties.get(name).cloned()
    }

    /// Nothing is set before the run; what sets properties is computed in it.
    fn set_property(&mut self, _: &str, _: &str) {}

    fn random(&mut self) -> u64 {
        self.drawn += 1;
        hash(self.settings.seed, self.drawn)
    }

    fn now_ms(&self) -> i64 {
        self.settings.now_ms
    }

    fn count(&mut self, _: usize, _: bool) -> u64 {
        1
    }

    fn file(&self, path: &str) -> Option<Vec<u8>> {
        (self.settings.included)(path)
    }

    fn row(&mut self, file: &str, go_on: bool) -> usize {
        let row = self.row.entry(file.to_owned()).or_default();
        *row += usize::from(go_on);
        *row
    }

    fn fact(&self, fact: Fact) -> String {
        match fact {
            Fact::PlanName => self.settings.plan_name.clone(),
            Fact::ThreadNumber => "0".to_owned(),
            _ => String::new(),
        }
    }

    fn log(&mut self, _: &str) {}

    fn script(&mut self, language: &str, text: &str) -> Result<String, String> {
        let folder = || {
            let located = (self.settings.located)(".");
            let folder = located.trim_end_matches("/.");
            if folder.is_empty() { ".".to_owned() } else { folder.to_owned() }
        };
        match known_script::value(text, &folder) {
            Some(value) => Ok(value),
            None => (self.settings.evaluate)(language, text, self.variables),
        }
    }
}
