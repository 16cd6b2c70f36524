//! `enum`: constants, with fields, a constructor and methods where it has some. It becomes a variable of the script, which is set before
//! anything else runs.

use super::{JmscriptParser, Parsed, expression, function, names, primary, types};
use crate::dialect::Dialect;
use crate::lexer::Token;
use crate::model::class::Class;
use crate::model::library::groovy::enumeration;
use crate::model::tree::{Expr, Literal, Statement, TreeLine, Type};
use std::rc::Rc;

/// Finds the names of all enums before the script is read, which may use them before they stand there.
pub(super) fn find(p: &mut JmscriptParser<'_>) -> Parsed<()> {
    if p.dialect != Dialect::Groovy {
        return Ok(());
    }
    let is_enum = |token: &Token| matches!(token, Token::Name(name) if &**name == "enum");
    let pairs = p.tokens.lexemes.windows(2).filter(|pair| is_enum(&pair[0].token));
    let named = pairs
        .filter_map(|pair| if let Token::Name(name) = &pair[1].token { Some(name.clone()) } else { None });
    for name in named.collect::<Vec<_>>() {
        let at = names::global(p, &name)?;
        p.names.assigned.insert(at);
        p.names.enums.insert(name);
    }
    Ok(())
}

/// Members of an enum beside its constants.
#[derive(Default)]
struct Members {
    fields: Vec<Expr>,
    constructor: Option<Expr>,
    methods: Vec<(Expr, Expr)>,
    statics: Vec<(Expr, Expr)>,
}

/// Parses what follows `enum`.
pub(super) fn declaration(p: &mut JmscriptParser<'_>) -> Parsed<()> {
    let line = p.tokens.line();
    let name = p.tokens.expect_name()?;
    if p.tokens.is_name("implements") {
        p.refuse(format!("enum {name}"), "an enum that implements an interface is not understood");
        while !p.tokens.is_sign("{") && !matches!(p.tokens.token(), Token::End) {
            p.tokens.at += 1;
        }
    }
    p.tokens.expect_sign("{")?;
    let constants = constants(p, &name)?;
    let mut members = Members::default();
    while !p.tokens.take_sign("}") {
        if matches!(p.tokens.token(), Token::End) {
            return p.tokens.fault("'}' is missing at the end of an enum");
        }
        if !p.tokens.take_sign(";") {
            member(p, &name, &mut members)?;
        }
    }
    let text = |name: &Rc<str>| Expr::Literal(Literal::Text(name.clone()));
    let args = [
        text(&name),
        Expr::List(Box::from(constants)),
        Expr::List(Box::from(members.fields)),
        members.constructor.unwrap_or(Expr::Literal(Literal::Null)),
        Expr::Map(Box::from(members.methods)),
        Expr::Map(Box::from(members.statics)),
    ];
    let made = Expr::New(Class::Known(&enumeration::KIND), Box::new(args));
    let at = names::global(p, &name)?;
    p.enums.push(TreeLine { line, statement: Statement::DeclareGlobal(at, Type::Any, Some(made)) });
    Ok(())
}

/// `RED, GREEN(1, "x")`: a list of each one's name and arguments.
fn constants(p: &mut JmscriptParser<'_>, of: &Rc<str>) -> Parsed<Vec<Expr>> {
    let mut found = Vec::new();
    while let Token::Name(name) = p.tokens.token().clone() {
        if !matches!(p.tokens.ahead(1), Token::Sign("," | ";" | "}" | "(" | "{")) {
            break;
        }
        p.tokens.at += 1;
        let mut parts = vec![Expr::Literal(Literal::Text(name.clone()))];
        if p.tokens.is_sign("(") {
            parts.extend(primary::arguments(p)?);
        }
        if p.tokens.is_sign("{") {
            p.refuse(format!("{of}.{name} {{...}}"), "a constant with members of its own is not understood");
            function::closure(p)?;
        }
        p.names.keys.insert(name);
        found.push(Expr::List(Box::from(parts)));
        if !p.tokens.take_sign(",") {
            break;
        }
    }
    Ok(found)
}

fn member(p: &mut JmscriptParser<'_>, of: &Rc<str>, members: &mut Members) -> Parsed<()> {
    let start = p.tokens.at;
    types::modifiers(p);
    let is_static = p.tokens.lexemes[start..p.tokens.at]
        .iter()
        .any(|lexeme| matches!(&lexeme.token, Token::Name(name) if &**name == "static"));
    if p.tokens.is_name(of) && matches!(p.tokens.ahead(1), Token::Sign("(")) {
        p.tokens.at += 1;
        members.constructor = Some(function::member(p, true)?);
        return Ok(());
    }
    if !p.tokens.take_name("def") && matches!(p.tokens.ahead(1), Token::Name(_) | Token::Sign("<" | "[")) {
        types::type_name(p)?;
    }
    let name = p.tokens.expect_name()?;
    let key = Expr::Literal(Literal::Text(name.clone()));
    if p.tokens.is_sign("(") {
        p.names.keys.insert(name);
        let method = function::member(p, !is_static)?;
        if is_static { &mut members.statics } else { &mut members.methods }.push((key, method));
        return Ok(());
    }
    if is_static || p.tokens.is_sign("=") {
        p.refuse(
            format!("{of}.{name}"),
            "a field of an enum with a value of its own is not understood: set it in the constructor",
        );
        if p.tokens.take_sign("=") {
            expression::expression(p)?;
        }
    }
    let capitalized = crate::model::library::capitalized(&name);
    p.names.keys.insert(Rc::from(format!("get{capitalized}")));
    p.names.keys.insert(name);
    members.fields.push(key);
    Ok(())
}
