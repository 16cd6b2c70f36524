//! The tokens of a script and a place among them.

use crate::dialect::Dialect;
use crate::lexer::{Fault, Lexeme, Token};
use std::rc::Rc;

/// The tokens, and the one that comes next.
pub struct Tokens {
    pub lexemes: Vec<Lexeme>,
    pub at: usize,
    /// Within parentheses, where the end of a line ends nothing.
    pub quiet: usize,
    pub dialect: Dialect,
}

/// A place in the text: line and column, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    pub line: u32,
    pub column: u32,
}

impl Tokens {
    pub fn new(lexemes: Vec<Lexeme>, dialect: Dialect) -> Tokens {
        debug_assert!(matches!(lexemes.last().map(|last| &last.token), Some(Token::End)), "an end ends them");
        Tokens { lexemes, at: 0, quiet: 0, dialect }
    }

    pub fn lexeme(&self) -> &Lexeme {
        // The last one is the end, which is never passed.
        &self.lexemes[self.at.min(self.lexemes.len() - 1)]
    }

    pub fn token(&self) -> &Token {
        &self.lexeme().token
    }

    pub fn ahead(&self, by: usize) -> &Token {
        self.lexemes.get(self.at + by).map_or(&Token::End, |lexeme| &lexeme.token)
    }

    pub fn next(&mut self) -> Token {
        let token = self.token().clone();
        self.at = (self.at + 1).min(self.lexemes.len() - 1);
        token
    }

    pub fn line(&self) -> u32 {
        self.lexeme().line
    }

    pub fn spot(&self) -> Spot {
        let Lexeme { line, column, .. } = *self.lexeme();
        Spot { line, column }
    }

    /// The token is the first of its line, and lines matter here.
    pub fn is_new_line(&self) -> bool {
        self.quiet == 0 && self.dialect.lines_end_statements() && self.lexeme().is_first
    }

    pub fn is_sign(&self, sign: &str) -> bool {
        matches!(self.token(), Token::Sign(found) if *found == sign)
    }

    pub fn is_name(&self, name: &str) -> bool {
        matches!(self.token(), Token::Name(found) if &**found == name)
    }

    pub fn take_sign(&mut self, sign: &str) -> bool {
        let is_there = self.is_sign(sign);
        self.at += usize::from(is_there);
        is_there
    }

    pub fn take_name(&mut self, name: &str) -> bool {
        let is_there = self.is_name(name);
        self.at += usize::from(is_there);
        is_there
    }

    pub fn expect_sign(&mut self, sign: &str) -> Result<(), Fault> {
        if self.take_sign(sign) {
            Ok(())
        } else {
            self.fault(format!("'{sign}' is missing before {}", self.shown()))
        }
    }

    pub fn expect_name(&mut self) -> Result<Rc<str>, Fault> {
        match self.token().clone() {
            Token::Name(name) => {
                self.at += 1;
                Ok(name)
            }
            _ => self.fault(format!("a name is missing before {}", self.shown())),
        }
    }

    /// The token as messages name it.
    pub fn shown(&self) -> String {
        match self.token() {
            Token::End => "the end of the script".to_owned(),
            Token::Sign(sign) => format!("'{sign}'"),
            Token::Name(name) => format!("'{name}'"),
            Token::Literal(_) => "a number".to_owned(),
            Token::Text(_) | Token::Template(_) => "a text".to_owned(),
            Token::Regex(..) => "a regular expression".to_owned(),
        }
    }

    pub fn fault<T>(&self, reason: impl Into<String>) -> Result<T, Fault> {
        let Spot { line, column } = self.spot();
        Err(Fault { line, column, reason: reason.into() })
    }
}
