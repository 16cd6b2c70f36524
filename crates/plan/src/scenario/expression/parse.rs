//! Reads expressions: from the weakest operator to the strongest `or`, `and`, `not`, comparisons, `+ -`, `* / %`, signs.

use super::{ExpressionError, Fact, Function, Node, Operator};

/// Characters of an expression at most.
const LONGEST: usize = 4096;

/// Expressions within each other at most.
const DEEPEST: u32 = 64;

/// A regular expression's program takes so many bytes at most.
const PATTERN_BYTES: usize = 1 << 20;

pub(super) fn parse(text: &str) -> Result<Node<String>, ExpressionError> {
    let mut parser = Parser { text, at: 0, depth: 0 };
    if text.len() > LONGEST {
        return Err(parser.error(&format!("it is longer than {LONGEST} bytes")));
    }
    let node = parser.weaker(0)?;
    match parser.peek() {
        None => Ok(node),
        Some(_) => Err(parser.error("an operator or the end is expected, such as == or and")),
    }
}

struct Parser<'a> {
    text: &'a str,
    /// Bytes that were read.
    at: usize,
    depth: u32,
}

/// Operators by their strength, the longer spelling before its beginning.
const OPERATORS: &[(&str, u8, Operator)] = &[
    ("||", 1, Operator::Or),
    ("or", 1, Operator::Or),
    ("&&", 2, Operator::And),
    ("and", 2, Operator::And),
    ("==", 4, Operator::Equal),
    ("!=", 4, Operator::Differs),
    ("<=", 4, Operator::AtMost),
    (">=", 4, Operator::AtLeast),
    ("<", 4, Operator::Less),
    (">", 4, Operator::More),
    ("contains", 4, Operator::Contains),
    ("+", 5, Operator::Plus),
    ("-", 5, Operator::Minus),
    ("*", 6, Operator::Times),
    ("/", 6, Operator::Over),
    ("%", 6, Operator::Modulo),
];

/// The strength of `not` and of comparisons.
const NOT: u8 = 3;
const COMPARE: u8 = 4;

const FUNCTIONS: &[(&str, Function, std::ops::RangeInclusive<usize>)] = &[
    ("length", Function::Length, 1..=1),
    ("lower", Function::Lower, 1..=1),
    ("upper", Function::Upper, 1..=1),
    ("trim", Function::Trim, 1..=1),
    ("exists", Function::Exists, 1..=1),
    ("floor", Function::Floor, 1..=1),
    ("round", Function::Round, 1..=1),
    ("abs", Function::Abs, 1..=1),
    ("min", Function::Min, 2..=2),
    ("max", Function::Max, 2..=2),
    ("random", Function::Random, 0..=2),
    ("normal", Function::Normal, 0..=0),
    ("now", Function::Now, 0..=0),
    ("text", Function::Text, 1..=16),
];

const FACTS: &[(&str, Fact)] = &[
    ("last.ok", Fact::LastOk),
    ("last.status", Fact::LastStatus),
    ("last.milliseconds", Fact::LastMilliseconds),
    ("user", Fact::User),
    ("iteration", Fact::Iteration),
];

type Parsed = Result<Node<String>, ExpressionError>;

impl<'a> Parser<'a> {
    fn error(&self, why: &str) -> ExpressionError {
        let column = self.text[..self.at].chars().count() + 1;
        ExpressionError { text: self.text.to_owned(), column, why: why.to_owned() }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// The next character that is no blank.
    fn peek(&mut self) -> Option<char> {
        self.at += self.rest().len() - self.rest().trim_start().len();
        self.rest().chars().next()
    }

    /// Reads a word or sign where it stands next; words end where no letter follows.
    fn take(&mut self, sign: &str) -> bool {
        self.peek();
        let Some(after) = self.rest().strip_prefix(sign) else { return false };
        let is_word = sign.ends_with(|last: char| last.is_ascii_alphabetic());
        if is_word && after.starts_with(is_of_name) {
            return false;
        }
        self.at += sign.len();
        true
    }

    /// Operators that are no weaker than this, and what they join.
    fn weaker(&mut self, least: u8) -> Parsed {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.error(&format!("brackets lie in each other more than {DEEPEST} deep")));
        }
        let mut left = self.first(least)?;
        loop {
            self.peek();
            let before = self.at;
            if least <= COMPARE && self.take("matches") {
                left = Node::Matches(Box::new(left), self.pattern()?);
                continue;
            }
            let found = OPERATORS.iter().find(|(sign, _, _)| self.take(sign));
            let Some((_, strength, operator)) = found.filter(|(_, strength, _)| *strength >= least) else {
                self.at = before;
                self.depth -= 1;
                return Ok(left);
            };
            let right = self.weaker(strength + 1)?;
            left = Node::Two(Box::new(left), *operator, Box::new(right));
        }
    }

    fn first(&mut self, least: u8) -> Parsed {
        if least <= NOT && (self.take("not") || !self.rest().starts_with("!=") && self.take("!")) {
            return Ok(Node::Not(Box::new(self.weaker(NOT)?)));
        }
        match self.peek() {
            Some('-') => {
                self.at += 1;
                Ok(Node::Minus(Box::new(self.weaker(u8::MAX)?)))
            }
            Some('!') => {
                self.at += 1;
                Ok(Node::Not(Box::new(self.weaker(u8::MAX)?)))
            }
            Some('(') => {
                self.at += 1;
                let inside = self.weaker(0)?;
                if !self.take(")") {
                    return Err(self.error("a ) is missing"));
                }
                Ok(inside)
            }
            Some('"' | '\'') => Ok(Node::Text(self.quoted()?)),
            Some(digit) if digit.is_ascii_digit() => self.number(),
            Some('{') => self.braced(),
            Some(letter) if is_of_name(letter) => self.word(),
            _ => Err(self.error("a value is expected: a name, a number, a text in quotes, or ( … )")),
        }
    }

    fn quoted(&mut self) -> Result<String, ExpressionError> {
        let quote = self.peek().filter(|quote| matches!(quote, '"' | '\''));
        let Some(quote) = quote else { return Err(self.error("a text in quotes is expected")) };
        let mut text = String::new();
        let mut escaped = false;
        for (at, letter) in self.rest().char_indices().skip(1) {
            match letter {
                _ if escaped => {
                    // Other backslashes stay, for regular expressions.
                    match letter {
                        'n' => text.push('\n'),
                        't' => text.push('\t'),
                        '\\' => text.push('\\'),
                        letter if letter == quote => text.push(quote),
                        letter => text.extend(['\\', letter]),
                    }
                    escaped = false;
                }
                '\\' => escaped = true,
                letter if letter == quote => {
                    self.at += at + letter.len_utf8();
                    return Ok(text);
                }
                letter => text.push(letter),
            }
        }
        Err(self.error(&format!("the text has no closing {quote}")))
    }

    fn pattern(&mut self) -> Result<Box<regex::bytes::Regex>, ExpressionError> {
        let begin = self.at;
        let text = self.quoted()?;
        let regex = regex::bytes::RegexBuilder::new(&text).size_limit(PATTERN_BYTES).build();
        regex.map(Box::new).map_err(|error| {
            self.at = begin;
            let said = error.to_string();
            self.error(&format!(
                "'{text}' is no regular expression: {}",
                said.lines().last().unwrap_or_default()
            ))
        })
    }

    fn number(&mut self) -> Parsed {
        let rest = self.rest();
        let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(rest.len());
        let number = rest[..end].parse().map_err(|_| self.error("this is no number"))?;
        self.at += end;
        if self.rest().starts_with(is_of_name) {
            return Err(self.error("a letter follows a number: put names like this in {{ }}"));
        }
        Ok(Node::Number(number))
    }

    fn braced(&mut self) -> Parsed {
        let name = self.rest().strip_prefix("{{").and_then(|inside| inside.split_once("}}"));
        let Some((name, _)) = name.filter(|(name, _)| !name.trim().is_empty()) else {
            return Err(self.error("a name in braces is {{name}}"));
        };
        self.at += name.len() + 4;
        Ok(Node::Name(name.trim().to_owned()))
    }

    fn word(&mut self) -> Parsed {
        let rest = self.rest();
        let end = rest.find(|letter| !is_of_name(letter)).unwrap_or(rest.len());
        let word = &rest[..end];
        let begin = self.at;
        if OPERATORS.iter().any(|(sign, _, _)| *sign == word) || word == "matches" {
            return Err(self.error(&format!("a value is expected before {word}")));
        }
        self.at += end;
        match word {
            "true" => return Ok(Node::Truth(true)),
            "false" => return Ok(Node::Truth(false)),
            _ => {}
        }
        if self.peek() == Some('(') {
            self.at += 1;
            return self.call(word, begin);
        }
        if let Some((_, fact)) = FACTS.iter().find(|(name, _)| *name == word) {
            return Ok(Node::Fact(*fact));
        }
        Ok(Node::Name(word.to_owned()))
    }

    fn call(&mut self, name: &str, begin: usize) -> Parsed {
        let Some((_, function, counts)) = FUNCTIONS.iter().find(|(known, _, _)| *known == name) else {
            self.at = begin;
            let known: Vec<&str> = FUNCTIONS.iter().map(|(name, _, _)| *name).collect();
            return Err(self.error(&format!("{name} is no function: there are {}", known.join(", "))));
        };
        let mut arguments = Vec::new();
        while !self.take(")") {
            if !arguments.is_empty() && !self.take(",") {
                return Err(self.error("a , or ) is expected"));
            }
            arguments.push(self.weaker(0)?);
        }
        let fits =
            counts.contains(&arguments.len()) && !(*function == Function::Random && arguments.len() == 1);
        if !fits {
            self.at = begin;
            return Err(self.error(&format!("{name} has another number of arguments")));
        }
        if *function == Function::Exists && !matches!(arguments[0], Node::Name(_)) {
            self.at = begin;
            return Err(self.error("exists has the name of a value in its brackets"));
        }
        Ok(Node::Call(*function, arguments))
    }
}

/// Letters, digits, `_` and `.`; `-` is the sign of subtraction.
fn is_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '.'
}
