//! Conditions: comparisons as JavaScript, JEXL and Groovy write them become expressions of the plan; whatever says more stays
//! program text that an interpreter runs before.

use super::Converter;
use super::text::quoted;
use crate::element::Element;
use crate::expression::{Piece, Text};
use crate::function;
use plan::{Code, Expression, Fills, Step};

/// Returns the steps to take before, and the condition that must be true. `plain`: the text itself is `true` or something
/// else; otherwise it is JavaScript. `None`: it cannot run, which is listed.
pub(super) fn truth(
    c: &mut Converter<'_>,
    of: &Element,
    written: &str,
    plain: bool,
) -> Option<(Vec<Step>, Expression)> {
    if let Some(found) = script_truth(c, of, written) {
        return Some(found);
    }
    if !plain {
        return javascript(c, of, written);
    }
    let text = c.text(of, written);
    let condition = match text.constant() {
        Some(constant) => Expression(constant.trim().eq_ignore_ascii_case("true").to_string()),
        None => Expression(super::control::joined(&text.operands())),
    };
    Some((text.steps(), condition))
}

/// A text that is one call of a script function whose script is a comparison.
pub(super) fn script_truth(
    c: &mut Converter<'_>,
    _: &Element,
    written: &str,
) -> Option<(Vec<Step>, Expression)> {
    let parsed = Text::parse(written.trim(), &function::is_known).ok()?;
    let [Piece::Call(call)] = parsed.pieces() else { return None };
    function::script_language(&call.name)?;
    let script = call.arguments.first()?.clone();
    let expression = comparison(c, &script)?;
    Some((Vec::new(), Expression(expression)))
}

pub(super) fn javascript(
    c: &mut Converter<'_>,
    of: &Element,
    written: &str,
) -> Option<(Vec<Step>, Expression)> {
    let parsed = Text::parse(written, &function::is_known).unwrap_or_else(|_| Text::fixed(written));
    if let Some(expression) = comparison(c, &parsed) {
        return Some((Vec::new(), Expression(expression)));
    }
    let text = c.rebuilt(&parsed);
    let into = c.fresh("condition");
    let fills = if text.contains("${") { Fills::Each } else { Fills::Never };
    let code = c.code(of, "javascript", &text, Some(into.clone()));
    let step = Step::Code(Code { fills, ..code });
    Some((vec![step], Expression(super::text::operand(&into))))
}

/// The script as an expression of the plan, where it is nothing but comparisons.
fn comparison(c: &mut Converter<'_>, script: &Text) -> Option<String> {
    // The parser is recursive, and a comparison is short.
    let tokens = tokens(c, script).filter(|tokens| tokens.len() <= 1000)?;
    let mut parser = Parser { tokens: &tokens, at: 0 };
    let text = parser.either()?.text;
    (parser.at == tokens.len()).then_some(text)
}

/// Cuts a script into words; `None` where a piece of it is no word of a comparison.
fn tokens(c: &mut Converter<'_>, script: &Text) -> Option<Vec<ConditionToken>> {
    let mut tokens: Vec<ConditionToken> = Vec::new();
    let mut quote: Option<(char, Vec<String>)> = None;
    for piece in script.pieces() {
        match piece {
            Piece::Fixed(text) => cut(text, &mut tokens, &mut quote)?,
            other => {
                let value = operand(c, other)?;
                match &mut quote {
                    Some((_, parts)) => parts.push(value),
                    None => tokens.push(ConditionToken::Value(value)),
                }
            }
        }
    }
    if quote.is_some() {
        return None;
    }
    // `vars.get("x")` names a variable.
    for token in &mut tokens {
        if let ConditionToken::Variable(name) = token {
            *token = ConditionToken::Value(match c.variables.get(name) {
                super::variables::Variable::Constant(value) => quoted(&value),
                super::variables::Variable::Kept(name) => super::text::operand(&name),
                super::variables::Variable::Unset => return None,
            });
        }
    }
    Some(tokens)
}

/// A placeholder within a script as an operand.
pub(super) fn operand(c: &mut Converter<'_>, piece: &Piece) -> Option<String> {
    let Piece::Variable(name) = piece else { return None };
    Some(match c.variables.get(name) {
        super::variables::Variable::Constant(value) => quoted(&value),
        super::variables::Variable::Kept(name) => super::text::operand(&name),
        super::variables::Variable::Unset => quoted(&format!("${{{name}}}")),
    })
}

#[derive(Debug, Clone, PartialEq)]
enum ConditionToken {
    /// A value, as the plan's expressions have it.
    Value(String),
    /// A variable by its name.
    Variable(String),
    Word(String),
    Sign(&'static str),
}

const SIGNS: [&str; 16] =
    ["===", "!==", "==~", "==", "!=", "<=", ">=", "&&", "||", "=~", "<", ">", "!", "(", ")", "."];

/// Cuts a text into tokens, behind those that are there. `quote`: the text in quotes that is open.
fn cut(text: &str, tokens: &mut Vec<ConditionToken>, quote: &mut Option<(char, Vec<String>)>) -> Option<()> {
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if let Some((mark, parts)) = quote {
            let end = rest.find(*mark).unwrap_or(rest.len());
            if rest[..end].contains('\\') {
                return None;
            }
            if end > 0 {
                parts.push(quoted(&rest[..end]));
            }
            if end == rest.len() {
                return Some(());
            }
            let value = if parts.is_empty() { quoted("") } else { super::control::joined(parts) };
            *quote = None;
            tokens.push(ConditionToken::Value(value));
            fold_vars(tokens);
            rest = &rest[end + 1..];
        } else if matches!(first, '"' | '\'') {
            *quote = Some((first, Vec::new()));
            rest = &rest[1..];
        } else if first.is_whitespace() {
            rest = &rest[first.len_utf8()..];
        } else if first.is_alphanumeric() || first == '_' || first == '-' {
            let end = rest
                .find(|one: char| !one.is_alphanumeric() && one != '_' && one != '-')
                .unwrap_or(rest.len());
            let end = decimal_end(rest, end);
            tokens.push(match rest[..end].parse::<f64>() {
                Ok(_) => ConditionToken::Value(rest[..end].to_owned()),
                Err(_) => ConditionToken::Word(rest[..end].to_owned()),
            });
            rest = &rest[end..];
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign))?;
            tokens.push(ConditionToken::Sign(sign));
            rest = &rest[sign.len()..];
        }
    }
    Some(())
}

/// The end of a number with a decimal point.
fn decimal_end(text: &str, end: usize) -> usize {
    let whole = text[..end].parse::<i64>().is_ok();
    let behind = text[end..].strip_prefix('.').filter(|_| whole);
    let digits = behind.map_or(0, |behind| behind.bytes().take_while(u8::is_ascii_digit).count());
    if digits > 0 { end + 1 + digits } else { end }
}

/// Makes `vars . get ( "x"` one variable; its parenthesis is closed by the parser.
fn fold_vars(tokens: &mut Vec<ConditionToken>) {
    let word = |token: &ConditionToken, expected: &str| matches!(token, ConditionToken::Word(word) if word == expected);
    let length = tokens.len();
    let Some([vars, dot, get, open, ConditionToken::Value(name)]) = tokens.last_chunk::<5>() else { return };
    let plain = name.strip_prefix('"').and_then(|name| name.strip_suffix('"')).map(str::to_owned);
    if let (true, true, true, true, Some(name)) = (
        word(vars, "vars"),
        *dot == ConditionToken::Sign("."),
        word(get, "get"),
        *open == ConditionToken::Sign("("),
        plain,
    ) {
        tokens.truncate(length - 5);
        tokens.push(ConditionToken::Sign("("));
        tokens.push(ConditionToken::Variable(name));
    }
}

/// A part of a comparison as expressions have it.
struct Operand {
    text: String,
    /// It is true or false, and no other value.
    is_truth: bool,
}

impl Operand {
    fn truth(text: String) -> Operand {
        Operand { text, is_truth: true }
    }

    fn value(text: String) -> Operand {
        Operand { text, is_truth: false }
    }

    /// The text where it is a truth value.
    fn into_truth(self) -> Option<String> {
        self.is_truth.then_some(self.text)
    }
}

/// Reads a comparison.
struct Parser<'t> {
    tokens: &'t [ConditionToken],
    at: usize,
}

impl Parser<'_> {
    fn either(&mut self) -> Option<Operand> {
        let mut left = self.both()?;
        while self.takes(&["||"], &["or"]) {
            let right = self.both()?;
            left = Operand::truth(format!("{} or {}", left.into_truth()?, right.into_truth()?));
        }
        Some(left)
    }

    fn both(&mut self) -> Option<Operand> {
        let mut left = self.compared()?;
        while self.takes(&["&&"], &["and"]) {
            let right = self.compared()?;
            left = Operand::truth(format!("{} and {}", left.into_truth()?, right.into_truth()?));
        }
        Some(left)
    }

    fn compared(&mut self) -> Option<Operand> {
        let left = self.single()?;
        let signs: [(&[&str], &[&str], &str); 6] = [
            (&["==", "==="], &["eq"], "=="),
            (&["!=", "!=="], &["ne"], "!="),
            (&["<="], &["le"], "<="),
            (&[">="], &["ge"], ">="),
            (&["<"], &["lt"], "<"),
            (&[">"], &["gt"], ">"),
        ];
        for (signs, words, sign) in signs {
            if self.takes(signs, words) {
                let right = self.single()?;
                return Some(Operand::truth(format!("{} {sign} {}", left.text, right.text)));
            }
        }
        Some(left)
    }

    fn single(&mut self) -> Option<Operand> {
        if self.takes(&["!"], &["not"]) {
            let text = self.single()?.into_truth()?;
            return Some(Operand::truth(format!("not ({text})")));
        }
        if self.takes(&["("], &[]) {
            let inner = self.either()?;
            if !self.takes(&[")"], &[]) {
                return None;
            }
            let text = if inner.is_truth { format!("({})", inner.text) } else { inner.text };
            return self.method(Operand { text, ..inner });
        }
        let token = self.tokens.get(self.at)?.clone();
        self.at += 1;
        match token {
            ConditionToken::Value(text) => self.method(Operand::value(text)),
            ConditionToken::Word(word) if matches!(word.as_str(), "true" | "false") => {
                Some(Operand::truth(word))
            }
            _ => None,
        }
    }

    /// Parses the method called on a value, if any: `.equals("x")`, `.contains("x")`, `.isEmpty()`.
    fn method(&mut self, of: Operand) -> Option<Operand> {
        if !self.takes(&["."], &[]) {
            return Some(of);
        }
        let ConditionToken::Word(name) = self.tokens.get(self.at)?.clone() else { return None };
        self.at += 1;
        if !self.takes(&["("], &[]) {
            return None;
        }
        if name == "isEmpty" && self.takes(&[")"], &[]) {
            return Some(Operand::truth(format!("{} == \"\"", of.text)));
        }
        let argument = self.either()?.text;
        if !self.takes(&[")"], &[]) {
            return None;
        }
        match name.as_str() {
            "equals" => Some(Operand::truth(format!("{} == {argument}", of.text))),
            "contains" => Some(Operand::truth(format!("{} contains {argument}", of.text))),
            _ => None,
        }
    }

    fn takes(&mut self, signs: &[&str], words: &[&str]) -> bool {
        let found = match self.tokens.get(self.at) {
            Some(ConditionToken::Sign(sign)) => signs.contains(sign),
            Some(ConditionToken::Word(word)) => words.contains(&word.as_str()),
            _ => false,
        };
        self.at += usize::from(found);
        found
    }
}
