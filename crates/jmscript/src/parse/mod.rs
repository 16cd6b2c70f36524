//! Tokens to a tree, in one pass: names become slots as they are read. Whatever is beyond this interpreter is noted and
//! reading goes on, so that all of it is told at once; a mistake of grammar ends it.

mod available;
mod expression;
mod function;
mod primary;
mod scope;
mod statement;
mod types;

use crate::class::{Class, refusal};
use crate::dialect::Dialect;
use crate::lexer::{Fault, Lexeme, Token, tokens};
use crate::method::Method;
use crate::stack::Stack;
use crate::tree::{Binding, Callee, Code, Expr, Function, Literal, Place, Statement, Type};
use scope::{Kind, Scopes};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::rc::Rc;

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
pub fn parse(text: &str, dialect: Dialect) -> Result<Code, Vec<Unsupported>> {
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
    let mut parser = Parser::new(text, dialect, lexemes);
    let main = parser.script();
    parser.finish(main)
}

fn of_fault(fault: Fault) -> Unsupported {
    let Fault { line, column, reason } = fault;
    Unsupported { line, column, construct: "syntax".to_owned(), reason, is_syntax: true }
}

/// A call of a method whose name is not known.
struct Unknown {
    name: Rc<str>,
    /// The binding's variable that it is called on.
    of: Option<u16>,
    line: u32,
    column: u32,
}

type Parsed<T> = Result<T, Fault>;

struct Parser<'a> {
    text: &'a str,
    dialect: Dialect,
    lexemes: Vec<Lexeme>,
    at: usize,
    /// Within parentheses, where the end of a line ends nothing.
    quiet: usize,
    stack: Stack,
    scopes: Scopes,
    imports: HashMap<Rc<str>, Class>,
    functions: Vec<Option<Rc<Function>>>,
    globals: Vec<Rc<str>>,
    /// Globals that are assigned to, and so hide names of the outside world.
    assigned: HashSet<u16>,
    calls: Vec<(Rc<str>, Callee)>,
    /// Names that the script gives to keys and properties, which may hold closures.
    keys: HashSet<Rc<str>>,
    /// Calls of methods whose names are not known.
    unknown: Vec<Unknown>,
    uses_builder: bool,
    /// Texts of the script: equal ones are one, as BeanShell's `==` sees.
    texts: HashSet<Rc<str>>,
    unsupported: Vec<Unsupported>,
    /// Variables that hold an object of JMeter's.
    given: Vec<(Place, Binding)>,
    /// The script has taken the plan's parameters away.
    has_own_arguments: bool,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, dialect: Dialect, lexemes: Vec<Lexeme>) -> Parser<'a> {
        Parser {
            text,
            dialect,
            lexemes,
            at: 0,
            quiet: 0,
            stack: Stack::begin(),
            scopes: Scopes::default(),
            imports: HashMap::new(),
            functions: Vec::new(),
            globals: Vec::new(),
            assigned: HashSet::new(),
            calls: Vec::new(),
            keys: HashSet::new(),
            unknown: Vec::new(),
            uses_builder: false,
            texts: HashSet::new(),
            unsupported: Vec::new(),
            given: Vec::new(),
            has_own_arguments: false,
        }
    }

    /// The script's body as a function.
    fn script(&mut self) -> Parsed<Function> {
        self.scopes.enter(Kind::Body);
        let mut body = self.statements(|token| matches!(token, Token::End))?;
        // BeanShell's `if` and `try` have no value.
        let is_plain = matches!(body.last().map(|line| &line.statement), Some(Statement::Expr(_)));
        if is_plain || self.dialect != Dialect::BeanShell {
            function::return_last(&mut body);
        }
        let needs = self.scopes.leave();
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

    /// The script, or all that is wrong with it.
    fn finish(mut self, main: Parsed<Function>) -> Result<Code, Vec<Unsupported>> {
        let main = main.map_err(|fault| self.unsupported.push(of_fault(fault)));
        for Unknown { name, of, line, column } in std::mem::take(&mut self.unknown) {
            // A variable that is never set fails before its method does.
            let is_unset = of.is_some_and(|of| !self.assigned.contains(&of));
            if !self.uses_builder && !self.keys.contains(&name) && !is_unset {
                let (construct, reason) = (format!("{name}()"), "this method is not understood");
                self.unsupported.push(Unsupported {
                    line,
                    column,
                    construct,
                    reason: reason.to_owned(),
                    is_syntax: false,
                });
            }
        }
        self.unsupported.sort_by_key(|found| (found.line, found.column));
        self.unsupported.dedup();
        let Some(main) = main.ok().filter(|_| self.unsupported.is_empty()) else {
            return Err(self.unsupported);
        };
        let globals = self.globals;
        let place = |name: &Rc<str>| globals.iter().position(|global| global == name);
        let calls = self.calls.into_iter().map(|(name, callee)| Callee {
            place: place(&name).map(|at| Place::Global(at as u16)),
            ..callee
        });
        let calls = calls.collect();
        Ok(Code {
            functions: self.functions.into_iter().flatten().collect(),
            globals,
            calls,
            main: Rc::new(main),
        })
    }

    // Tokens.

    fn lexeme(&self) -> &Lexeme {
        // The last one is the end, which is never passed.
        &self.lexemes[self.at.min(self.lexemes.len() - 1)]
    }

    fn token(&self) -> &Token {
        &self.lexeme().token
    }

    fn ahead(&self, by: usize) -> &Token {
        self.lexemes.get(self.at + by).map_or(&Token::End, |lexeme| &lexeme.token)
    }

    fn next(&mut self) -> Token {
        let token = self.token().clone();
        self.at = (self.at + 1).min(self.lexemes.len() - 1);
        token
    }

    fn line(&self) -> u32 {
        self.lexeme().line
    }

    /// The token is the first of its line, and lines matter here.
    fn is_new_line(&self) -> bool {
        self.quiet == 0 && self.dialect.lines_end_statements() && self.lexeme().is_first
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.token(), Token::Sign(found) if *found == sign)
    }

    fn is_name(&self, name: &str) -> bool {
        matches!(self.token(), Token::Name(found) if &**found == name)
    }

    fn take_sign(&mut self, sign: &str) -> bool {
        let is_there = self.is_sign(sign);
        self.at += usize::from(is_there);
        is_there
    }

    fn take_name(&mut self, name: &str) -> bool {
        let is_there = self.is_name(name);
        self.at += usize::from(is_there);
        is_there
    }

    fn expect_sign(&mut self, sign: &str) -> Parsed<()> {
        if self.take_sign(sign) {
            Ok(())
        } else {
            self.fault(format!("'{sign}' is missing before {}", self.shown()))
        }
    }

    fn expect_name(&mut self) -> Parsed<Rc<str>> {
        match self.token().clone() {
            Token::Name(name) => {
                self.at += 1;
                Ok(name)
            }
            _ => self.fault(format!("a name is missing before {}", self.shown())),
        }
    }

    /// The token as messages name it.
    fn shown(&self) -> String {
        match self.token() {
            Token::End => "the end of the script".to_owned(),
            Token::Sign(sign) => format!("'{sign}'"),
            Token::Name(name) => format!("'{name}'"),
            Token::Literal(_) => "a number".to_owned(),
            Token::Text(_) | Token::Template(_) => "a text".to_owned(),
            Token::Regex(..) => "a regular expression".to_owned(),
        }
    }

    fn fault<T>(&self, reason: impl Into<String>) -> Parsed<T> {
        let Lexeme { line, column, .. } = *self.lexeme();
        Err(Fault { line, column, reason: reason.into() })
    }

    /// Notes what does not run here; reading goes on.
    fn refuse(&mut self, construct: impl Into<String>, reason: impl Into<String>) {
        let Lexeme { line, column, .. } = *self.lexeme();
        let (construct, reason) = (construct.into(), reason.into());
        self.unsupported.push(Unsupported { line, column, construct, reason, is_syntax: false });
    }

    fn refuse_class(&mut self, path: &str) {
        let reason = refusal(path).unwrap_or("this class is not known here");
        self.refuse(format!("class {path}"), reason);
    }

    /// Reads something nested; too deep is a fault rather than an overflow.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.stack.is_exhausted() {
            return self.fault("it is nested too deeply");
        }
        read(self)
    }

    /// Reads what stands in parentheses or brackets, where lines do not end statements.
    fn quietly<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.quiet += 1;
        let result = read(self);
        self.quiet -= 1;
        result
    }

    /// Reads what stands in braces, where they do.
    fn loudly<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let quiet = std::mem::take(&mut self.quiet);
        let result = read(self);
        self.quiet = quiet;
        result
    }

    /// The one text that says this.
    fn text_of(&mut self, text: Rc<str>) -> Rc<str> {
        if let Some(known) = self.texts.get(&text) {
            return known.clone();
        }
        self.texts.insert(text.clone());
        text
    }

    // Names.

    fn declare(&mut self, name: Rc<str>) -> Parsed<u16> {
        match self.scopes.declare(name) {
            Some(slot) => Ok(slot),
            None => self.fault("too many variables"),
        }
    }

    fn global(&mut self, name: &Rc<str>) -> Parsed<u16> {
        if let Some(at) = self.globals.iter().position(|known| known == name) {
            return Ok(at as u16);
        }
        if self.globals.len() >= 4_096 {
            return self.fault("too many variables");
        }
        self.globals.push(name.clone());
        Ok((self.globals.len() - 1) as u16)
    }

    /// Resolves a name that is read.
    fn name(&mut self, name: &Rc<str>) -> Parsed<Expr> {
        if let Some(place) = self.scopes.find(name) {
            return Ok(Expr::Place(place));
        }
        if let Some(at) = self.assigned_global(name) {
            return Ok(Expr::Place(Place::Global(at)));
        }
        if let Some(literal) = self.word(name) {
            return Ok(Expr::Literal(literal));
        }
        if let Some(binding) = binding(name, self.dialect) {
            return Ok(Expr::Place(Place::Bound(binding)));
        }
        if let Some(class) = self.class(name) {
            return Ok(Expr::Class(class));
        }
        Ok(Expr::Place(Place::Global(self.global(name)?)))
    }

    fn assigned_global(&self, name: &Rc<str>) -> Option<u16> {
        let at = self.globals.iter().position(|known| known == name)? as u16;
        self.assigned.contains(&at).then_some(at)
    }

    /// Names that are values.
    fn word(&self, name: &str) -> Option<Literal> {
        let javascript = self.dialect == Dialect::JavaScript;
        Some(match name {
            "null" => Literal::Null,
            "true" => Literal::Bool(true),
            "false" => Literal::Bool(false),
            "void" if self.dialect == Dialect::BeanShell => Literal::Void,
            "undefined" if javascript => Literal::Void,
            "NaN" if javascript => Literal::Double(f64::NAN),
            "Infinity" if javascript => Literal::Double(f64::INFINITY),
            _ => return None,
        })
    }

    fn class(&self, name: &str) -> Option<Class> {
        self.imports.get(name).copied().or_else(|| Class::named(name).filter(|class| self.sees(*class, name)))
    }

    /// JavaScript's own names are of no other language, and a simple name belongs to one class.
    fn sees(&self, class: Class, name: &str) -> bool {
        let is_own = matches!(class, Class::Json | Class::JsArray);
        is_own == (self.dialect == Dialect::JavaScript && matches!(name, "JSON" | "Array"))
    }

    /// The place of a name that is called.
    fn call_id(&mut self, name: &Rc<str>) -> Parsed<u16> {
        if let Some(at) = self.calls.iter().position(|(known, _)| known == name) {
            return Ok(at as u16);
        }
        if self.calls.len() >= 4_096 {
            return self.fault("too many names are called");
        }
        self.calls.push((name.clone(), Callee::default()));
        Ok((self.calls.len() - 1) as u16)
    }

    /// The method of a name; a name not known is noted.
    fn method(&mut self, name: &Rc<str>, of: &Expr) -> Option<Method> {
        let method = Method::named(name);
        if method.is_none() {
            let Lexeme { line, column, .. } = *self.lexeme();
            let of = if let Expr::Place(Place::Global(at)) = of { Some(*at) } else { None };
            self.unknown.push(Unknown { name: name.clone(), of, line, column });
        }
        method
    }
}

/// The part of the outside world that a name stands for in a language.
fn binding(name: &str, dialect: Dialect) -> Option<Binding> {
    let beanshell = dialect == Dialect::BeanShell;
    Some(match name {
        "vars" => Binding::Vars,
        "props" => Binding::Props,
        "ctx" => Binding::Ctx,
        "log" => Binding::Log,
        "OUT" => Binding::Out,
        "sampler" => Binding::Sampler,
        "threadName" if matches!(dialect, Dialect::Jexl | Dialect::JavaScript) => Binding::ThreadName,
        _ if dialect == Dialect::Jexl => return None,
        "prev" | "sampleResult" => Binding::Prev,
        "SampleResult" => Binding::SampleResult,
        "AssertionResult" => Binding::AssertionResult,
        "sampleEvent" => Binding::SampleEvent,
        "Parameters" => Binding::Parameters,
        "args" => Binding::Args,
        "Label" => Binding::Label,
        "FileName" => Binding::FileName,
        "binding" if dialect == Dialect::Groovy => Binding::Variables,
        "bsh" if beanshell => Binding::Bsh,
        "data" | "ResponseData" if beanshell => Binding::ResponseData,
        "ResponseCode" if beanshell => Binding::ResponseCode,
        "ResponseMessage" if beanshell => Binding::ResponseMessage,
        "ResponseHeaders" if beanshell => Binding::ResponseHeaders,
        "RequestHeaders" if beanshell => Binding::RequestHeaders,
        "SamplerData" if beanshell => Binding::SamplerData,
        "IsSuccess" if beanshell => Binding::IsSuccess,
        "Failure" if beanshell => Binding::Failure,
        "FailureMessage" if beanshell => Binding::FailureMessage,
        _ => return None,
    })
}

/// True if a script may set what a name of the outside world stands for.
fn can_be_set(binding: Binding) -> bool {
    matches!(
        binding,
        Binding::ResponseCode
            | Binding::ResponseMessage
            | Binding::IsSuccess
            | Binding::Failure
            | Binding::FailureMessage
    )
}
