//! Methods, closures and lambdas, and what they give back.

use super::scope::Kind;
use super::{Parsed, Parser};
use crate::dialect::Dialect;
use crate::lexer::Token;
use crate::tree::{Block, Case, Expr, Function, Line, Parameter, Statement, Type};
use std::rc::Rc;

impl Parser<'_> {
    pub(super) fn method_declaration(&mut self, name: Rc<str>, returns: Type) -> Parsed<Option<Statement>> {
        let id = self.call_id(&name)?;
        let function = self.functions.len();
        self.functions.push(None);
        // Known before its body is read, which may call it.
        self.calls[usize::from(id)].1.functions.push(function as u16);
        self.scopes.enter(Kind::Method);
        self.expect_sign("(")?;
        let parameters = self.parameters(")")?;
        self.expect_sign(")")?;
        if self.take_name("throws") {
            while !self.is_sign("{") && !matches!(self.token(), Token::End) {
                self.at += 1;
            }
        }
        let mut body = self.block()?;
        if self.dialect == Dialect::Groovy {
            return_last(&mut body);
        }
        self.functions[function] = Some(Rc::new(self.function(name, parameters, false, body, returns)));
        Ok(None)
    }

    /// The function that was read since its scope was entered.
    pub(super) fn function(
        &mut self,
        name: Rc<str>,
        parameters: Vec<Parameter>,
        has_it: bool,
        body: Block,
        returns: Type,
    ) -> Function {
        let needs = self.scopes.leave();
        let (slots, captures) = (needs.slots, needs.captures);
        Function { name, parameters: Box::from(parameters), has_it, slots, captures, body, returns }
    }

    /// Parameters up to a sign that is not taken.
    pub(super) fn parameters(&mut self, end: &str) -> Parsed<Vec<Parameter>> {
        let mut found = Vec::new();
        while !self.is_sign(end) {
            self.modifiers();
            let start = self.at;
            let typed = self.try_type().map(|(kind, _)| kind);
            let is_typed = matches!(self.token(), Token::Name(_)) || self.is_sign("...");
            let kind = match typed.filter(|_| is_typed) {
                Some(kind) => kind,
                None => {
                    self.at = start;
                    Type::Any
                }
            };
            if self.take_sign("...") {
                self.refuse(
                    "T... parameters",
                    "a variable number of parameters is not understood: give a list",
                );
            }
            let name = self.expect_name()?;
            let default = if self.take_sign("=") { Some(self.expression()?) } else { None };
            self.declare(name)?;
            found.push(Parameter { kind, default });
            if !self.take_sign(",") {
                break;
            }
        }
        Ok(found)
    }

    pub(super) fn function_of_javascript(&mut self) -> Parsed<Statement> {
        let name = self.expect_name()?;
        let slot = self.declare(name)?;
        let function = self.function_expression()?;
        Ok(Statement::Declare(slot, Type::Any, Some(function)))
    }

    /// `(a, b) { … }` after `function`.
    pub(super) fn function_expression(&mut self) -> Parsed<Expr> {
        let function = self.functions.len();
        self.functions.push(None);
        self.scopes.enter(Kind::Closure);
        self.expect_sign("(")?;
        let parameters = self.parameters(")")?;
        self.expect_sign(")")?;
        let body = self.block()?;
        self.functions[function] =
            Some(Rc::new(self.function(Rc::from(""), parameters, false, body, Type::Any)));
        Ok(Expr::Closure(function as u16))
    }

    /// The rest of `${-> …}` as a closure without parameters.
    pub(super) fn lazy_closure(&mut self, line: u32) -> Parsed<Expr> {
        let function = self.functions.len();
        self.functions.push(None);
        self.scopes.enter(Kind::Closure);
        let value = self.expression()?;
        let body = Box::from([Line { line, statement: Statement::Return(Some(value)) }]);
        self.functions[function] =
            Some(Rc::new(self.function(Rc::from(""), Vec::new(), false, body, Type::Any)));
        Ok(Expr::Closure(function as u16))
    }

    /// `{ a, b -> … }`.
    pub(super) fn closure(&mut self) -> Parsed<Expr> {
        if self.functions.len() >= 4_096 {
            return self.fault("too many closures");
        }
        self.expect_sign("{")?;
        let function = self.functions.len();
        self.functions.push(None);
        self.scopes.enter(Kind::Closure);
        let has_arrow = self.has_arrow();
        let parameters = if has_arrow {
            let found = self.quietly(|parser| parser.parameters("->"))?;
            self.expect_sign("->")?;
            found
        } else {
            self.declare(Rc::from("it"))?;
            vec![Parameter { kind: Type::Any, default: None }]
        };
        let mut body = self.loudly(|parser| parser.statements(|token| matches!(token, Token::Sign("}"))))?;
        self.expect_sign("}")?;
        return_last(&mut body);
        self.functions[function] =
            Some(Rc::new(self.function(Rc::from(""), parameters, !has_arrow, body, Type::Any)));
        Ok(Expr::Closure(function as u16))
    }

    /// True if parameters with an arrow come next.
    pub(super) fn has_arrow(&self) -> bool {
        let (mut by, mut depth) = (0, 0_usize);
        loop {
            match self.ahead(by) {
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
    pub(super) fn lambda(&mut self, arrow: &str) -> Parsed<Expr> {
        let function = self.functions.len();
        self.functions.push(None);
        self.scopes.enter(Kind::Closure);
        let parameters = if self.take_sign("(") {
            let found = self.parameters(")")?;
            self.expect_sign(")")?;
            found
        } else {
            let name = self.expect_name()?;
            self.declare(name)?;
            vec![Parameter { kind: Type::Any, default: None }]
        };
        self.expect_sign(arrow)?;
        let body = if self.is_sign("{") {
            let mut body = self.block()?;
            if self.dialect == Dialect::Groovy {
                return_last(&mut body);
            }
            body
        } else {
            let line = self.line();
            let value = self.expression()?;
            Box::from([Line { line, statement: Statement::Return(Some(value)) }])
        };
        self.functions[function] =
            Some(Rc::new(self.function(Rc::from(""), parameters, false, body, Type::Any)));
        Ok(Expr::Closure(function as u16))
    }
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
            for (_, _, block) in &mut parts.catches {
                return_last(block);
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
            let end = Line { line, statement: Statement::Break(None) };
            case.body = std::mem::take(&mut case.body).into_iter().chain([end]).collect();
        }
    }
}
