//! The meaning of names in a script: variables, methods, classes, parts of the outside world.

use super::scope::Scopes;
use super::{JmscriptParser, Parsed};
use crate::dialect::Dialect;
use crate::model::class::Class;
use crate::model::library::javascript::{array, json};
use crate::model::tree::{Binding, Callee, Expr, Literal, TreePlace};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Variables of a script, at most; and names that it calls.
const MOST: usize = 4_096;

/// Names that have been met so far.
pub struct Names {
    pub dialect: Dialect,
    pub scopes: Scopes,
    pub imports: HashMap<Rc<str>, Class>,
    /// Classes that the script imports and that are not known here.
    pub unknown_imports: HashSet<Rc<str>>,
    /// Enums of the script's own.
    pub enums: HashSet<Rc<str>>,
    pub globals: Vec<Rc<str>>,
    /// Globals that are assigned to, and so hide names of the outside world.
    pub assigned: HashSet<u16>,
    pub calls: Vec<(Rc<str>, Callee)>,
    /// Names that the script gives to keys and properties, which may hold closures.
    pub keys: HashSet<Rc<str>>,
    /// Texts of the script: equal ones are one, as BeanShell's `==` sees.
    texts: HashSet<Rc<str>>,
}

impl Names {
    pub fn new(dialect: Dialect) -> Names {
        Names {
            dialect,
            scopes: Scopes::default(),
            imports: HashMap::new(),
            unknown_imports: HashSet::new(),
            enums: HashSet::new(),
            globals: Vec::new(),
            assigned: HashSet::new(),
            calls: Vec::new(),
            keys: HashSet::new(),
            texts: HashSet::new(),
        }
    }

    /// The one text that says this.
    pub fn text_of(&mut self, text: Rc<str>) -> Rc<str> {
        if let Some(known) = self.texts.get(&text) {
            return known.clone();
        }
        self.texts.insert(text.clone());
        text
    }

    pub fn assigned_global(&self, name: &Rc<str>) -> Option<u16> {
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

    pub fn class(&self, name: &str) -> Option<Class> {
        if self.unknown_imports.contains(name) {
            // The script means another one than that which is known by this name.
            return None;
        }
        self.imports.get(name).copied().or_else(|| Class::named(name).filter(|class| self.sees(*class, name)))
    }

    /// JavaScript's own names are of no other language, and a simple name belongs to one class.
    fn sees(&self, class: Class, name: &str) -> bool {
        let is_own = class.is(&json::KIND) || class.is(&array::KIND);
        is_own == (self.dialect == Dialect::JavaScript && matches!(name, "JSON" | "Array"))
    }
}

/// A new variable of the function that is being read.
pub fn declare(p: &mut JmscriptParser<'_>, name: Rc<str>) -> Parsed<u16> {
    match p.names.scopes.declare(name) {
        Some(slot) => Ok(slot),
        None => p.tokens.fault("too many variables"),
    }
}

/// The place of a variable of the script's binding.
pub fn global(p: &mut JmscriptParser<'_>, name: &Rc<str>) -> Parsed<u16> {
    let globals = &mut p.names.globals;
    if let Some(at) = globals.iter().position(|known| known == name) {
        return Ok(at as u16);
    }
    if globals.len() >= MOST {
        return p.tokens.fault("too many variables");
    }
    globals.push(name.clone());
    Ok((globals.len() - 1) as u16)
}

/// The place of a name that is called.
pub fn call_id(p: &mut JmscriptParser<'_>, name: &Rc<str>) -> Parsed<u16> {
    let calls = &mut p.names.calls;
    if let Some(at) = calls.iter().position(|(known, _)| known == name) {
        return Ok(at as u16);
    }
    if calls.len() >= MOST {
        return p.tokens.fault("too many names are called");
    }
    calls.push((name.clone(), Callee::default()));
    Ok((calls.len() - 1) as u16)
}

/// Resolves a name that is read.
pub fn resolve(p: &mut JmscriptParser<'_>, name: &Rc<str>) -> Parsed<Expr> {
    let names = &mut p.names;
    if let Some(place) = names.scopes.find(name) {
        return Ok(Expr::Place(place));
    }
    if let Some(at) = names.assigned_global(name) {
        return Ok(Expr::Place(TreePlace::Global(at)));
    }
    if let Some(literal) = names.word(name) {
        return Ok(Expr::Literal(literal));
    }
    if let Some(binding) = binding(name, p.dialect) {
        return Ok(Expr::Place(TreePlace::Bound(binding)));
    }
    if let Some(class) = names.class(name) {
        return Ok(Expr::Class(class));
    }
    if p.names.unknown_imports.contains(name) {
        p.refuse_class(&name.clone());
    }
    Ok(Expr::Place(TreePlace::Global(global(p, name)?)))
}

/// The part of the outside world that a name stands for in a language.
pub fn binding(name: &str, dialect: Dialect) -> Option<Binding> {
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
pub fn can_be_set(binding: Binding) -> bool {
    matches!(
        binding,
        Binding::ResponseCode
            | Binding::ResponseMessage
            | Binding::IsSuccess
            | Binding::Failure
            | Binding::FailureMessage
    )
}
