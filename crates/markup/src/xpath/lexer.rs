//! The words of an expression (XPath 1.0 section 3.7).

/// A word.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// `//`, `::`, `!=` and the like.
    Sign(&'static str),
    /// A name, with its prefix.
    Name(String),
    /// `and`, `or`, `mod`, `div` where an operator stands.
    Operator(&'static str),
    Number(f64),
    Text(String),
    End,
}

const SIGNS: [&str; 22] = [
    "//", "::", "..", "!=", "<=", ">=", "(", ")", "[", "]", "@", ",", "/", "|", "+", "-", "=", "<", ">", "*",
    ".", "$",
];

/// Takes a text apart.
///
/// # Errors
/// The text holds something that is no word.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (token, length) = token(rest, tokens.last())?;
        tokens.push(token);
        rest = rest[length..].trim_start();
    }
    tokens.push(Token::End);
    Ok(tokens)
}

fn token(rest: &str, before: Option<&Token>) -> Result<(Token, usize), String> {
    let first = rest.chars().next().expect("what is left is not empty");
    if matches!(first, '"' | '\'') {
        let end = rest[1..].find(first).ok_or("a text has no end")?;
        return Ok((Token::Text(rest[1..=end].to_owned()), end + 2));
    }
    let digits = rest.strip_prefix('.').unwrap_or(rest);
    if digits.starts_with(|one: char| one.is_ascii_digit()) {
        let end = rest.find(|one: char| !one.is_ascii_digit() && one != '.').unwrap_or(rest.len());
        let number = rest[..end].parse().map_err(|_| format!("'{}' is no number", &rest[..end]))?;
        return Ok((Token::Number(number), end));
    }
    if first.is_alphabetic() || first == '_' {
        return Ok(name(rest, before));
    }
    match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
        Some(sign) => Ok((Token::Sign(sign), sign.len())),
        None => Err(format!("'{first}' is not understood")),
    }
}

/// A name; where an operand has just ended, an operator.
fn name(rest: &str, before: Option<&Token>) -> (Token, usize) {
    let part = |text: &str| {
        let ends = |one: char| !(one.is_alphanumeric() || matches!(one, '_' | '-' | '.'));
        text.find(ends).unwrap_or(text.len())
    };
    let mut end = part(rest);
    let after_operand = match before {
        None | Some(Token::Operator(_)) => false,
        Some(Token::Sign(sign)) => matches!(*sign, ")" | "]" | ".." | "." | "*"),
        Some(_) => true,
    };
    // A star that stands for all names is an operand, one that multiplies is not; a word after either is no name then.
    let operators = ["and", "or", "mod", "div"];
    if let Some(operator) = operators.into_iter().find(|word| *word == &rest[..end] && after_operand) {
        return (Token::Operator(operator), end);
    }
    if let Some(local) = rest[end..].strip_prefix(':').filter(|local| !local.starts_with(':')) {
        let length = if local.starts_with('*') { 1 } else { part(local) };
        end += 1 + length;
    }
    (Token::Name(rest[..end].to_owned()), end)
}
