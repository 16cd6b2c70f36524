//! Methods, closures and lambdas, and what they give back.

use super::scope::ScopeKind;
use super::{JmscriptParser, Parsed, expression, names, statement, types};
use crate::dialect::Dialect;
use crate::lexer::Token;
use crate::model::tree::{Block, Case, Expr, Function, Parameter, Statement, TreeLine, Type};
use std::rc::Rc;

/// Functions of a script, at most.
const MOST: usize = 4_096;

/// The part of a function before its body.
struct FunctionHead {
    name: Rc<str>,
    parameters: Vec<Parameter>,
    has_it: bool,
    returns: Type,
}

impl FunctionHead {
    /// Of a function without a name.
    fn unnamed(parameters: Vec<Parameter>) -> FunctionHead {
        FunctionHead { name: Rc::from(""), parameters, has_it: false, returns: Type::Any }
    }
}

/// Takes a place among the functions and enters the scope of one that begins here.
fn begin(p: &mut JmscriptParser<'_>, kind: ScopeKind) -> Parsed<u16> {
    if p.functions.len() >= MOST {
        return p.tokens.fault("too many closures");
    }
    p.functions.push(None);
    p.names.scopes.enter(kind);
    Ok((p.functions.len() - 1) as u16)
}

/// Leaves the scope of a function and puts it in its place.
fn end(p: &mut JmscriptParser<'_>, at: u16, head: FunctionHead, body: Block) {
    let needs = p.names.scopes.leave();
    let FunctionHead { name, parameters, has_it, returns } = head;
    let function = Function {
        name,
        parameters: Box::from(parameters),
        has_it,
        slots: needs.slots,
        captures: needs.captures,
        body,
        returns,
    };
    p.functions[usize::from(at)] = Some(Rc::new(function));
}

/// A closure of what was read since it began.
fn closure_of(p: &mut JmscriptParser<'_>, at: u16, head: FunctionHead, body: Block) -> Expr {
    end(p, at, head, body);
    Expr::Closure(at)
}

/// One statement that gives a value back.
fn giving(line: u32, value: Expr) -> Block {
    Box::from([TreeLine { line, statement: Statement::Return(Some(value)) }])
}

pub(super) fn method_declaration(
    p: &mut JmscriptParser<'_>,
    name: Rc<str>,
    returns: Type,
) -> Parsed<Option<Statement>> {
    let id = names::call_id(p, &name)?;
    let at = begin(p, ScopeKind::Method)?;
    // Known before its body is read, which may call it.
    p.names.calls[usize::from(id)].1.functions.push(at);
    method_rest(p, at, name, returns)?;
    Ok(None)
}

/// `(a, b) { … }` after a method's name.
fn method_rest(p: &mut JmscriptParser<'_>, at: u16, name: Rc<str>, returns: Type) -> Parsed<()> {
    p.tokens.expect_sign("(")?;
    let parameters = parameters(p, ")")?;
    p.tokens.expect_sign(")")?;
    if p.tokens.take_name("throws") {
        while !p.tokens.is_sign("{") && !matches!(p.tokens.token(), Token::End) {
            p.tokens.at += 1;
        }
    }
    let mut body = statement::block(p)?;
    if p.dialect == Dialect::Groovy {
        return_last(&mut body);
    }
    end(p, at, FunctionHead { name, parameters, has_it: false, returns }, body);
    Ok(())
}

/// `(a, b) { … }` after the name of a member of an enum, as a closure; its first parameter is `this` unless it is static.
pub(super) fn member(p: &mut JmscriptParser<'_>, has_this: bool) -> Parsed<Expr> {
    let at = begin(p, ScopeKind::Method)?;
    let mut all = Vec::new();
    if has_this {
        names::declare(p, Rc::from("this"))?;
        all.push(Parameter { kind: Type::Any, default: None });
    }
    p.tokens.expect_sign("(")?;
    all.extend(parameters(p, ")")?);
    p.tokens.expect_sign(")")?;
    let mut body = statement::block(p)?;
    return_last(&mut body);
    Ok(closure_of(p, at, FunctionHead::unnamed(all), body))
}

/// Parameters up to a sign that is not taken.
pub(super) fn parameters(p: &mut JmscriptParser<'_>, end: &str) -> Parsed<Vec<Parameter>> {
    let mut found = Vec::new();
    while !p.tokens.is_sign(end) {
        types::modifiers(p);
        let start = p.tokens.at;
        let typed = types::try_type(p).map(|(kind, _)| kind);
        let is_typed = matches!(p.tokens.token(), Token::Name(_)) || p.tokens.is_sign("...");
        let kind = match typed.filter(|_| is_typed) {
            Some(kind) => kind,
            None => {
                p.tokens.at = start;
                Type::Any
            }
        };
        if p.tokens.take_sign("...") {
            p.refuse("T... parameters", "a variable number of parameters is not understood: give a list");
        }
        let name = p.tokens.expect_name()?;
        let default = if p.tokens.take_sign("=") { Some(expression::expression(p)?) } else { None };
        names::declare(p, name)?;
        found.push(Parameter { kind, default });
        if !p.tokens.take_sign(",") {
            break;
        }
    }
    Ok(found)
}

pub(super) fn function_of_javascript(p: &mut JmscriptParser<'_>) -> Parsed<Statement> {
    let name = p.tokens.expect_name()?;
    let slot = names::declare(p, name)?;
    let function = function_expression(p)?;
    Ok(Statement::Declare(slot, Type::Any, Some(function)))
}

/// `(a, b) { … }` after `function`.
pub(super) fn function_expression(p: &mut JmscriptParser<'_>) -> Parsed<Expr> {
    let at = begin(p, ScopeKind::Closure)?;
    p.tokens.expect_sign("(")?;
    let parameters = parameters(p, ")")?;
    p.tokens.expect_sign(")")?;
    let body = statement::block(p)?;
    Ok(closure_of(p, at, FunctionHead::unnamed(parameters), body))
}

/// The rest of `${-> …}` as a closure without parameters.
pub(super) fn lazy_closure(p: &mut JmscriptParser<'_>, line: u32) -> Parsed<Expr> {
    let at = begin(p, ScopeKind::Closure)?;
    let value = expression::expression(p)?;
    Ok(closure_of(p, at, FunctionHead::unnamed(Vec::new()), giving(line, value)))
}

/// `{ a, b -> … }`.
pub(super) fn closure(p: &mut JmscriptParser<'_>) -> Parsed<Expr> {
    p.tokens.expect_sign("{")?;
    let at = begin(p, ScopeKind::Closure)?;
    let has_arrow = has_arrow(p);
    let parameters = if has_arrow {
        let found = p.quietly(|p| parameters(p, "->"))?;
        p.tokens.expect_sign("->")?;
        found
    } else {
        names::declare(p, Rc::from("it"))?;
        vec![Parameter { kind: Type::Any, default: None }]
    };
    let mut body = p.loudly(|p| statement::statements(p, |token| matches!(token, Token::Sign("}"))))?;
    p.tokens.expect_sign("}")?;
    return_last(&mut body);
    Ok(closure_of(p, at, FunctionHead { has_it: !has_arrow, ..FunctionHead::unnamed(parameters) }, body))
}

/// True if parameters with an arrow come next.
fn has_arrow(p: &JmscriptParser<'_>) -> bool {
    let mut by = 0;
    let mut depth = 0_usize;
    loop {
        match p.tokens.ahead(by) {
            Token::Sign("->") if depth == 0 => return true,
            Token::Sign("(" | "[") => depth += 1,
            Token::Sign(")" | "]") if depth > 0 => depth -= 1,
            Token::Sign("{" | "}" | ";" | ")") | Token::End => return false,
            _ => {}
        }
        by += 1;
    }
}

/// `a -> …` or `(a, b) -> …`, and JavaScript's `=>`.
pub(super) fn lambda(p: &mut JmscriptParser<'_>, arrow: &str) -> Parsed<Expr> {
    let at = begin(p, ScopeKind::Closure)?;
    let parameters = if p.tokens.take_sign("(") {
        let found = parameters(p, ")")?;
        p.tokens.expect_sign(")")?;
        found
    } else {
        let name = p.tokens.expect_name()?;
        names::declare(p, name)?;
        vec![Parameter { kind: Type::Any, default: None }]
    };
    p.tokens.expect_sign(arrow)?;
    let body = if p.tokens.is_sign("{") {
        let mut body = statement::block(p)?;
        if p.dialect == Dialect::Groovy {
            return_last(&mut body);
        }
        body
    } else {
        let line = p.tokens.line();
        giving(line, expression::expression(p)?)
    };
    Ok(closure_of(p, at, FunctionHead::unnamed(parameters), body))
}

/// The value of the last statement is that of the function.
pub(super) fn return_last(body: &mut Block) {
    let Some(last) = body.last_mut() else { return };
    let statement = std::mem::replace(&mut last.statement, Statement::Break(None));
    last.statement = match statement {
        Statement::Expr(expr) => Statement::Return(Some(expr)),
        Statement::If(condition, mut then, mut otherwise) => {
            return_last(&mut then);
            return_last(&mut otherwise);
            Statement::If(condition, then, otherwise)
        }
        Statement::Block(mut block) => {
            return_last(&mut block);
            Statement::Block(block)
        }
        Statement::Try(mut parts) => {
            return_last(&mut parts.body);
            for one in &mut parts.catches {
                return_last(&mut one.body);
            }
            Statement::Try(parts)
        }
        Statement::Switch(subject, mut cases) => {
            return_last_of_cases(&mut cases);
            Statement::Switch(subject, cases)
        }
        other => other,
    };
}

/// A case's value is that of what stands before its `break`.
fn return_last_of_cases(cases: &mut [Case]) {
    let count = cases.len();
    for (at, case) in cases.iter_mut().enumerate() {
        let breaks = matches!(case.body.last().map(|line| &line.statement), Some(Statement::Break(None)));
        if breaks {
            let mut lines = std::mem::take(&mut case.body).into_vec();
            lines.pop();
            case.body = Box::from(lines);
        }
        if breaks || at + 1 == count {
            return_last(&mut case.body);
        }
        if breaks {
            let line = case.body.last().map_or(0, |last| last.line);
            let end = TreeLine { line, statement: Statement::Break(None) };
            case.body = std::mem::take(&mut case.body).into_iter().chain([end]).collect();
        }
    }
}
