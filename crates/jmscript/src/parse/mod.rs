//! Tokens to a tree, in one pass: names become slots as they are read. Whatever is beyond this interpreter is noted and
//! reading goes on, so that all of it is told at once; a mistake of grammar ends it.

mod enumeration;
mod expression;
mod function;
mod known;
mod names;
mod primary;
mod scope;
mod statement;
mod tokens;
mod types;

use crate::dialect::Dialect;
use crate::lexer::{Fault, Lexeme, Token, tokens};
use crate::model::class::refusal;
use crate::model::tree::{Callee, Function, Statement, TreeCode, TreeLine, TreePlace, Type};
use crate::stack::Stack;
use known::Notes;
use names::Names;
use scope::ScopeKind;
use std::fmt;
use std::rc::Rc;
use tokens::Tokens;

/// Bytes of the longest script.
const MOST_TEXT: usize = 1 << 20;

/// A construct that does not run here, or a mistake of grammar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// The construct as it is written.
    pub construct: String,
    /// Why it does not run.
    pub reason: String,
    /// A mistake of grammar, with which the language's own compiler would refuse the script as well.
    pub is_syntax: bool,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}: {}", self.line, self.column, self.construct, self.reason)
    }
}

/// Reads a script. In error, everything that does not run, in the order of the text.
pub fn parse(text: &str, dialect: Dialect) -> Result<TreeCode, Vec<Unsupported>> {
    if text.len() > MOST_TEXT {
        let reason = format!("it has {} bytes; at most {MOST_TEXT} are read", text.len());
        return Err(vec![Unsupported {
            line: 1,
            column: 1,
            construct: "the script".to_owned(),
            reason,
            is_syntax: false,
        }]);
    }
    let lexemes = tokens(text, 0, text.len(), dialect).map_err(|fault| vec![of_fault(fault)])?;
    let mut parser = JmscriptParser::new(text, dialect, lexemes);
    let main = script(&mut parser);
    parser.finish(main)
}

fn of_fault(fault: Fault) -> Unsupported {
    let Fault { line, column, reason } = fault;
    Unsupported { line, column, construct: "syntax".to_owned(), reason, is_syntax: true }
}

type Parsed<T> = Result<T, Fault>;

/// State of reading: the tokens, what names mean, and what has been noted.
struct JmscriptParser<'a> {
    text: &'a str,
    dialect: Dialect,
    tokens: Tokens,
    names: Names,
    notes: Notes,
    functions: Vec<Option<Rc<Function>>>,
    /// Declarations of enums, which come before all else.
    enums: Vec<TreeLine>,
    stack: Stack,
}

impl<'a> JmscriptParser<'a> {
    fn new(text: &'a str, dialect: Dialect, lexemes: Vec<Lexeme>) -> JmscriptParser<'a> {
        JmscriptParser {
            text,
            dialect,
            tokens: Tokens::new(lexemes, dialect),
            names: Names::new(dialect),
            notes: Notes::default(),
            functions: Vec::new(),
            enums: Vec::new(),
            stack: Stack::begin(),
        }
    }

    /// The script, or all that is wrong with it.
    fn finish(mut self, main: Parsed<Function>) -> Result<TreeCode, Vec<Unsupported>> {
        let main = main.map_err(|fault| self.notes.unsupported.push(of_fault(fault)));
        known::conclude(&mut self);
        let mut unsupported = self.notes.unsupported;
        unsupported.sort_by_key(|found| (found.line, found.column));
        unsupported.dedup();
        let Some(main) = main.ok().filter(|_| unsupported.is_empty()) else { return Err(unsupported) };
        let globals = self.names.globals;
        let place = |name: &Rc<str>| globals.iter().position(|global| global == name);
        let calls = self.names.calls.into_iter().map(|(name, callee)| Callee {
            place: place(&name).map(|at| TreePlace::Global(at as u16)),
            ..callee
        });
        let calls = calls.collect();
        let functions = self.functions.into_iter().map(|function| function.expect("each has been read"));
        Ok(TreeCode { functions: functions.collect(), globals, calls, main: Rc::new(main) })
    }

    /// Notes what does not run here; reading goes on.
    fn refuse(&mut self, construct: impl Into<String>, reason: impl Into<String>) {
        let spot = self.tokens.spot();
        self.notes.refuse(spot, construct.into(), reason.into());
    }

    fn refuse_class(&mut self, path: &str) {
        let reason = refusal(path).unwrap_or("this class is not known here");
        self.refuse(format!("class {path}"), reason);
    }

    /// Reads something nested; too deep is a fault rather than an overflow.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.stack.is_exhausted() {
            return self.tokens.fault("it is nested too deeply");
        }
        read(self)
    }

    /// Reads what stands in parentheses or brackets, where lines do not end statements.
    fn quietly<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.tokens.quiet += 1;
        let result = read(self);
        self.tokens.quiet -= 1;
        result
    }

    /// Reads what stands in braces, where they do.
    fn loudly<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let quiet = std::mem::take(&mut self.tokens.quiet);
        let result = read(self);
        self.tokens.quiet = quiet;
        result
    }
}

/// The script's body as a function.
fn script(p: &mut JmscriptParser<'_>) -> Parsed<Function> {
    p.names.scopes.enter(ScopeKind::Body);
    enumeration::find(p)?;
    let mut body = statement::statements(p, |token| matches!(token, Token::End))?;
    // BeanShell's `if` and `try` have no value.
    let is_plain = matches!(body.last().map(|line| &line.statement), Some(Statement::Expr(_)));
    if is_plain || p.dialect != Dialect::BeanShell {
        function::return_last(&mut body);
    }
    body = std::mem::take(&mut p.enums).into_iter().chain(body).collect();
    let needs = p.names.scopes.leave();
    Ok(Function {
        name: Rc::from("script"),
        parameters: Box::default(),
        has_it: false,
        slots: needs.slots,
        captures: needs.captures,
        body,
        returns: Type::Any,
    })
}
