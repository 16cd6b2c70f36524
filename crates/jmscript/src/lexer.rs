//! Text to tokens. A text with expressions in it becomes one token whose expressions are ranges of the script, read by the
//! parser in their place.

use crate::dialect::Dialect;
use crate::model::tree::Literal;
use crate::model::value::text::position;
use crate::number::Decimal;
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use std::rc::Rc;

/// A token.
#[derive(Clone, Debug)]
pub enum Token {
    /// A name or a keyword.
    Name(Rc<str>),
    /// A number or a character.
    Literal(Literal),
    /// A text without expressions.
    Text(Rc<str>),
    /// A text with expressions.
    Template(Rc<[Part]>),
    /// A regular expression of JavaScript: its text and its flags.
    Regex(Rc<str>, Rc<str>),
    /// An operator or a bracket.
    Sign(&'static str),
    /// After the last.
    End,
}

/// A part of a text with expressions.
#[derive(Clone, Debug)]
pub enum Part {
    /// Text.
    Text(Rc<str>),
    /// An expression: bytes of the script from, to.
    Code(usize, usize),
}

/// A token and its place.
#[derive(Clone, Debug)]
pub struct Lexeme {
    /// The token.
    pub token: Token,
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
    /// The first on its line.
    pub is_first: bool,
    /// Directly after the token before, without a blank.
    pub is_glued: bool,
    /// Where its text begins.
    pub start: usize,
    /// Where its text ends.
    pub end: usize,
}

/// Fault in the text, and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
    /// Reason for the fault.
    pub reason: String,
}

/// Operators, the longest first.
const SIGNS: [&str; 66] = [
    ">>>=", "<=>", "==~", "===", "!==", "**=", "<<=", ">>=", ">>>", "..<", "...", "*..", "?.[", "==", "!=",
    "<=", ">=", "&&", "||", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "**", "<<", ">>",
    "->", "=>", "?.", "?:", "?=", "*.", ".&", ".@", "..", "::", "=~", "!~", "=^", "=$", "!^", "!$", "{", "}",
    "(", ")", "[", "]", ";", ",", ".", "?", ":", "=", "<", ">", "+", "-", "*", "/",
];
const MORE_SIGNS: [&str; 7] = ["!", "~", "%", "&", "|", "^", "@"];

/// Reads the bytes `from..to` of `text`.
pub fn tokens(text: &str, from: usize, to: usize, dialect: Dialect) -> Result<Vec<Lexeme>, Fault> {
    let mut lexer = Lexer { text, at: from, to, dialect, found: Vec::new() };
    lexer.run()?;
    Ok(lexer.found)
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    to: usize,
    dialect: Dialect,
    found: Vec<Lexeme>,
}

impl<'a> Lexer<'a> {
    fn run(&mut self) -> Result<(), Fault> {
        let (mut line, mut column) = position(self.text, self.at);
        let mut counted = self.at;
        loop {
            let before = self.at;
            let is_first = self.blanks()?;
            let start = self.at;
            for c in self.text[counted..start].chars() {
                (line, column) = if c == '\n' { (line + 1, 1) } else { (line, column + 1) };
            }
            counted = start;
            let token = self.token()?;
            let is_end = matches!(token, Token::End);
            let is_first = is_first || self.found.is_empty();
            let is_glued = start == before;
            self.found.push(Lexeme { token, line, column, is_first, is_glued, start, end: self.at });
            if is_end {
                return Ok(());
            }
        }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..self.to]
    }

    fn fault<T>(&self, at: usize, reason: impl Into<String>) -> Result<T, Fault> {
        let (line, column) = position(self.text, at);
        Err(Fault { line, column, reason: reason.into() })
    }

    /// Skips blanks and comments; whether a line has ended.
    fn blanks(&mut self) -> Result<bool, Fault> {
        let mut has_ended = false;
        loop {
            let rest = self.rest();
            let c = rest.chars().next();
            if rest.starts_with("//")
                || self.at == 0 && rest.starts_with("#!")
                || self.is_comment_of_jexl(rest)
            {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                let Some(length) = rest.find("*/") else {
                    return self.fault(self.at, "a comment /* without its end */");
                };
                has_ended |= rest[..length].contains('\n');
                self.at += length + 2;
            } else if rest.starts_with("\\\n") || rest.starts_with("\\\r\n") {
                self.at += rest.find('\n').unwrap_or(0) + 1;
            } else if let Some(c) = c.filter(|c| c.is_whitespace() || *c == '\u{feff}') {
                has_ended |= c == '\n';
                self.at += c.len_utf8();
            } else {
                return Ok(has_ended);
            }
        }
    }

    fn is_comment_of_jexl(&self, rest: &str) -> bool {
        self.dialect == Dialect::Jexl && rest.starts_with("##")
    }

    fn token(&mut self) -> Result<Token, Fault> {
        let rest = self.rest();
        let Some(c) = rest.chars().next() else { return Ok(Token::End) };
        if c.is_ascii_digit()
            || c == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit()) && !self.follows_value()
        {
            return self.number();
        }
        if is_name_start(c) && !(self.dialect == Dialect::Groovy && rest.starts_with("$/")) {
            let length = rest.find(|c| !is_name_part(c)).unwrap_or(rest.len());
            self.at += length;
            return Ok(Token::Name(Rc::from(&rest[..length])));
        }
        match c {
            '"' | '\'' => self.quoted(c),
            '`' if self.dialect == Dialect::Jexl => self.quoted(c),
            '/' if self.dialect == Dialect::Groovy && !self.follows_value() => self.slashed("/", "/"),
            '$' if self.dialect == Dialect::Groovy => self.slashed("$/", "/$"),
            '/' if self.dialect == Dialect::JavaScript && !self.follows_value() => self.regex(),
            _ => self.sign(c),
        }
    }

    /// True if the token before ends a value, so that `/` divides.
    fn follows_value(&self) -> bool {
        match self.found.last().map(|last| &last.token) {
            Some(Token::Name(name)) => !matches!(
                &**name,
                "return"
                    | "case"
                    | "in"
                    | "assert"
                    | "throw"
                    | "else"
                    | "new"
                    | "typeof"
                    | "print"
                    | "println"
            ),
            Some(Token::Sign(sign)) => matches!(*sign, ")" | "]" | "}" | "++" | "--"),
            Some(Token::End) | None => false,
            Some(_) => true,
        }
    }

    fn sign(&mut self, c: char) -> Result<Token, Fault> {
        let rest = self.rest();
        let all = SIGNS.iter().chain(&MORE_SIGNS);
        let fits = |sign: &&&str| rest.starts_with(**sign) && self.is_sign_here(sign);
        match all.copied().find(|sign| fits(&sign)) {
            Some(sign) => {
                self.at += sign.len();
                Ok(Token::Sign(sign))
            }
            None => self.fault(self.at, format!("the character '{c}' has no meaning here")),
        }
    }

    /// Some operators belong to one language, where another reads two tokens.
    fn is_sign_here(&self, sign: &str) -> bool {
        let groovy = self.dialect == Dialect::Groovy;
        match sign {
            "=^" | "=$" | "!^" | "!$" | "!~" => self.dialect == Dialect::Jexl,
            "=~" => matches!(self.dialect, Dialect::Jexl | Dialect::Groovy),
            "==~" | "<=>" | "**" | "**=" | "*." | ".&" | ".@" | "..<" | "?=" | "*.." | "->" => groovy,
            "?:" | "?." | ".." => groovy || self.dialect == Dialect::Jexl,
            "===" | "!==" => matches!(self.dialect, Dialect::JavaScript | Dialect::Groovy),
            "=>" => self.dialect == Dialect::JavaScript,
            "?.[" => false,
            _ => true,
        }
    }

    fn number(&mut self) -> Result<Token, Fault> {
        let rest = self.rest();
        let start = self.at;
        for (prefix, radix) in [("0x", 16), ("0X", 16), ("0b", 2), ("0B", 2)] {
            if let Some(digits) = rest.strip_prefix(prefix) {
                return self.radix_number(digits, radix);
            }
        }
        let mut length = digits_of(rest);
        let mut is_whole = true;
        if rest[length..].starts_with('.') && rest[length + 1..].starts_with(|c: char| c.is_ascii_digit()) {
            length += 1 + digits_of(&rest[length + 1..]);
            is_whole = false;
        }
        if let Some(exponent) = exponent_of(&rest[length..]) {
            length += exponent;
            is_whole = false;
        }
        let digits: String = rest[..length].chars().filter(|c| *c != '_').collect();
        let suffix = rest[length..].chars().next().filter(|c| "lLgGdDfFiIbBhH".contains(*c));
        let after = &rest[length + suffix.map_or(0, char::len_utf8)..];
        let suffix = suffix.filter(|_| !after.starts_with(is_name_part));
        self.at += length + suffix.map_or(0, char::len_utf8);
        match number_literal(&digits, is_whole, suffix, self.dialect) {
            Some(literal) => Ok(Token::Literal(literal)),
            None => self.fault(start, format!("the number {digits} is too large or malformed")),
        }
    }

    fn radix_number(&mut self, digits: &str, radix: u32) -> Result<Token, Fault> {
        let length = digits.find(|c: char| !(c.is_digit(radix) || c == '_')).unwrap_or(digits.len());
        let text: String = digits[..length].chars().filter(|c| *c != '_').collect();
        let Ok(value) = u64::from_str_radix(&text, radix) else {
            return self.fault(self.at, "a number without digits or too large");
        };
        self.at += 2 + length;
        let is_long = self.rest().starts_with(['l', 'L']);
        self.at += usize::from(is_long);
        let literal = match u32::try_from(value) {
            Ok(small) if !is_long => Literal::Int(small.cast_signed()),
            _ => Literal::Long(value.cast_signed()),
        };
        Ok(Token::Literal(if self.dialect.has_only_doubles() {
            Literal::Double(value as f64)
        } else {
            literal
        }))
    }

    fn quoted(&mut self, quote: char) -> Result<Token, Fault> {
        let triple = if quote == '"' { "\"\"\"" } else { "'''" };
        let start = self.at;
        if self.dialect == Dialect::Groovy && self.rest().starts_with(triple) {
            self.at += 3;
            return self.text_until(triple, start, quote == '"', true);
        }
        self.at += 1;
        let end = match quote {
            '"' => "\"",
            '\'' => "'",
            _ => "`",
        };
        let interpolates = match self.dialect {
            Dialect::Groovy => quote == '"',
            Dialect::Jexl => quote == '`',
            _ => false,
        };
        let token = self.text_until(end, start, interpolates, false)?;
        Ok(match token {
            Token::Text(text) if quote == '\'' && self.dialect.has_char_literals() => char_or_text(text),
            token => token,
        })
    }

    fn slashed(&mut self, begin: &str, end: &'static str) -> Result<Token, Fault> {
        let start = self.at;
        if !self.rest()[begin.len()..].contains(end) {
            return self.sign('/');
        }
        self.at += begin.len();
        self.text_until(end, start, true, true)
    }

    /// Reads a text up to its end sign.
    fn text_until(
        &mut self,
        end: &'static str,
        start: usize,
        interpolates: bool,
        spans_lines: bool,
    ) -> Result<Token, Fault> {
        let mut parts: Vec<Part> = Vec::new();
        let mut text = String::new();
        loop {
            let rest = self.rest();
            let Some(c) = rest.chars().next() else { return self.fault(start, "a text without its end") };
            if rest.starts_with(end) {
                self.at += end.len();
                break;
            }
            if c == '\n' && !spans_lines {
                return self.fault(start, "a text without its end on the same line");
            }
            if c == '\\' {
                self.escape(end, &mut text)?;
            } else if c == '$' && end == "/$" && (rest.starts_with("$$") || rest.starts_with("$/")) {
                text.push_str(&rest[1..2]);
                self.at += 2;
            } else if let Some(code) =
                (c == '$' && interpolates).then(|| self.placeholder(start)).transpose()?.flatten()
            {
                if !text.is_empty() {
                    parts.push(Part::Text(Rc::from(std::mem::take(&mut text))));
                }
                parts.push(code);
            } else {
                text.push(c);
                self.at += c.len_utf8();
            }
        }
        if parts.is_empty() {
            return Ok(Token::Text(Rc::from(without_returns(text))));
        }
        if !text.is_empty() {
            parts.push(Part::Text(Rc::from(text)));
        }
        Ok(Token::Template(Rc::from(parts)))
    }

    /// An expression at `$`: `${…}` or `$name.name`; `None` where the dollar is a dollar.
    fn placeholder(&mut self, start: usize) -> Result<Option<Part>, Fault> {
        let rest = &self.rest()[1..];
        if rest.starts_with('{') {
            let from = self.at + 2;
            let Some(to) = self.closing_brace(from) else {
                return self.fault(start, "a placeholder ${ without its end }");
            };
            self.at = to + 1;
            return Ok(Some(Part::Code(from, to)));
        }
        if self.dialect != Dialect::Groovy || !rest.starts_with(|c| is_name_start(c) && c != '$') {
            return Ok(None);
        }
        let from = self.at + 1;
        let part = |at: usize| {
            let rest = &self.text[at..self.to];
            rest.find(|c| !is_name_part(c) || c == '$').unwrap_or(rest.len())
        };
        let mut to = from + part(from);
        while self.text[to..self.to].starts_with('.') && self.text[to + 1..self.to].starts_with(is_name_start)
        {
            to += 1 + part(to + 1);
        }
        self.at = to;
        Ok(Some(Part::Code(from, to)))
    }

    /// The brace that closes the one before `from`, past texts and braces within.
    fn closing_brace(&self, from: usize) -> Option<usize> {
        let bytes = &self.text.as_bytes()[..self.to];
        let mut at = from;
        let mut depth = 0_usize;
        while at < bytes.len() {
            match bytes[at] {
                b'{' => depth += 1,
                b'}' if depth == 0 => return Some(at),
                b'}' => depth -= 1,
                b'\\' => at += 1,
                quote @ (b'"' | b'\'') => at = closing_quote(bytes, at, quote)?,
                _ => {}
            }
            at += 1;
        }
        None
    }

    fn escape(&mut self, end: &str, text: &mut String) -> Result<(), Fault> {
        let rest = &self.rest()[1..];
        let Some(c) = rest.chars().next() else { return self.fault(self.at, "a backslash at the end") };
        self.at += 1 + c.len_utf8();
        if end == "/" || end == "/$" {
            // In slashes a backslash is itself, but before the slash.
            if !(c == '/' && end == "/") {
                text.push('\\');
            }
            text.push(c);
            return Ok(());
        }
        let plain = match c {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            's' if self.dialect == Dialect::Groovy => ' ',
            'u' => return self.unicode(text),
            'x' if self.dialect == Dialect::JavaScript => return self.code(2, text),
            '0'..='7' => return self.octal(c, text),
            '\n' => return Ok(()),
            '\\' | '\'' | '"' | '$' | '`' | '/' => c,
            c if matches!(self.dialect, Dialect::JavaScript | Dialect::Jexl) => c,
            c => return self.fault(self.at, format!("\\{c} is no escape; write \\\\{c} for a backslash")),
        };
        text.push(plain);
        Ok(())
    }

    fn unicode(&mut self, text: &mut String) -> Result<(), Fault> {
        while self.rest().starts_with('u') {
            self.at += 1;
        }
        self.code(4, text)
    }

    fn code(&mut self, digits: usize, text: &mut String) -> Result<(), Fault> {
        let code = self.rest().get(..digits).and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let Some(code) = code else { return self.fault(self.at, "an escape without its hexadecimal digits") };
        self.at += digits;
        text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        Ok(())
    }

    fn octal(&mut self, first: char, text: &mut String) -> Result<(), Fault> {
        let more = self.rest().chars().take(2).take_while(|c| c.is_digit(8)).count();
        let digits = format!("{first}{}", &self.rest()[..more]);
        self.at += more;
        text.push(u32::from_str_radix(&digits, 8).ok().and_then(char::from_u32).unwrap_or('\0'));
        Ok(())
    }

    fn regex(&mut self) -> Result<Token, Fault> {
        let start = self.at;
        let mut in_class = false;
        let mut at = self.at + 1;
        let bytes = &self.text.as_bytes()[..self.to];
        loop {
            match bytes.get(at) {
                None | Some(b'\n') => return self.sign('/'),
                Some(b'\\') => at += 1,
                Some(b'[') => in_class = true,
                Some(b']') => in_class = false,
                Some(b'/') if !in_class => break,
                Some(_) => {}
            }
            at += 1;
        }
        let flags = &self.text[at + 1..self.to];
        let length = flags.find(|c| !is_name_part(c)).unwrap_or(flags.len());
        self.at = at + 1 + length;
        Ok(Token::Regex(Rc::from(&self.text[start + 1..at]), Rc::from(&flags[..length])))
    }
}

/// Lines of Windows become plain ones, as compilers read them.
fn without_returns(text: String) -> String {
    if text.contains("\r\n") { text.replace("\r\n", "\n") } else { text }
}

fn closing_quote(bytes: &[u8], mut at: usize, quote: u8) -> Option<usize> {
    loop {
        at += 1;
        match bytes.get(at)? {
            b'\\' => at += 1,
            b'\n' => return None,
            byte if *byte == quote => return Some(at),
            _ => {}
        }
    }
}

fn char_or_text(text: Rc<str>) -> Token {
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) => Token::Literal(Literal::Char(c)),
        _ => Token::Text(text),
    }
}

fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || c == '_' || c == '$'
}

fn is_name_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

fn digits_of(text: &str) -> usize {
    text.find(|c: char| !(c.is_ascii_digit() || c == '_')).unwrap_or(text.len())
}

fn exponent_of(text: &str) -> Option<usize> {
    let rest = text.strip_prefix(['e', 'E'])?;
    let digits = rest.strip_prefix(['+', '-']).unwrap_or(rest);
    let length = digits_of(digits);
    (length > 0).then(|| text.len() - digits.len() + length)
}

fn number_literal(digits: &str, is_whole: bool, suffix: Option<char>, dialect: Dialect) -> Option<Literal> {
    if dialect.has_only_doubles() {
        return digits.parse().ok().map(Literal::Double);
    }
    match suffix.map(|suffix| suffix.to_ascii_lowercase()) {
        Some('d') => digits.parse().ok().map(Literal::Double),
        Some('f') => digits.parse().ok().map(Literal::Float),
        Some('l') => digits.parse().ok().map(Literal::Long),
        Some('g') if !is_whole => Decimal::parse(digits).map(|decimal| Literal::Decimal(Rc::new(decimal))),
        Some('g' | 'h' | 'b') => digits.parse().ok().map(|big: BigInt| Literal::Big(Rc::new(big))),
        _ if is_whole => whole_literal(digits, dialect),
        _ if dialect.has_decimal_literals() => {
            Decimal::parse(digits).map(|decimal| Literal::Decimal(Rc::new(decimal)))
        }
        _ => digits.parse().ok().map(Literal::Double),
    }
}

fn whole_literal(digits: &str, dialect: Dialect) -> Option<Literal> {
    let is_octal = digits.len() > 1
        && digits.starts_with('0')
        && digits.bytes().all(|byte| (b'0'..=b'7').contains(&byte));
    let value = if is_octal && dialect != Dialect::Jexl {
        BigInt::from(i64::from_str_radix(digits, 8).ok()?)
    } else if digits.len() > 1_000 {
        return None;
    } else {
        digits.parse().ok()?
    };
    Some(match (value.to_i32(), value.to_i64()) {
        (Some(int), _) => Literal::Int(int),
        (None, Some(long)) => Literal::Long(long),
        (None, None) if dialect == Dialect::BeanShell => return None,
        (None, None) => Literal::Big(Rc::new(value)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, dialect: Dialect) -> String {
        let found = tokens(text, 0, text.len(), dialect).expect("tokens");
        let show = |lexeme: &Lexeme| match &lexeme.token {
            Token::Name(name) => name.to_string(),
            Token::Literal(literal) => format!("{literal:?}"),
            Token::Text(text) => format!("{text:?}"),
            Token::Template(parts) => format!("{parts:?}"),
            Token::Regex(text, flags) => format!("/{text}/{flags}"),
            Token::Sign(sign) => (*sign).to_owned(),
            Token::End => "END".to_owned(),
        };
        found.iter().map(show).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn tokens_of_groovy() {
        for (text, expected) in [
            ("a?.b ?: 1..<3", "a ?. b ?: Int(1) ..< Int(3) END"),
            ("x / y / 2", "x / y / Int(2) END"),
            ("s =~ /a\\/\\d/", "s =~ \"a/\\\\d\" END"),
            ("'''a\nb''' // c", "\"a\\nb\" END"),
            ("\"$a.b.\"", "[Code(2, 5), Text(\".\")] END"),
            ("\"${x['}']}\"", "[Code(3, 9)] END"),
            ("\"\\$5\"", "\"$5\" END"),
            ("3000000000 1L 2d 0x1F 1_000", "Long(3000000000) Long(1) Double(2.0) Int(31) Int(1000) END"),
            ("1.collect", "Int(1) . collect END"),
        ] {
            assert_eq!(shown(text, Dialect::Groovy), expected, "{text}");
        }
    }

    #[test]
    fn faults_have_a_place() {
        let fault = tokens("a\n 'b", 0, 5, Dialect::Groovy).expect_err("no end");
        assert_eq!((fault.line, fault.column), (2, 2));
    }
}
