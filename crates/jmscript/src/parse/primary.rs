//! Operands: literals, names, calls, properties, elements, lists, maps and closures.

use super::tokens::Tokens;
use super::{JmscriptParser, Parsed, expression, function, known, names, types};
use crate::dialect::Dialect;
use crate::lexer::{Part, Token, tokens};
use crate::model::class::{Class, Kind, Method, refusal};
use crate::model::library::lang::{object, system};
use crate::model::library::net::charset;
use crate::model::library::regex::pattern;
use crate::model::library::{getters, setter};
use crate::model::tree::{
    Binding, Call, Expr, FunctionCall, Literal, Property, StaticCall, TreePiece, TreePlace, Type,
};
use std::rc::Rc;

/// An operand with all that hangs on it.
pub(super) fn postfix(p: &mut JmscriptParser<'_>) -> Parsed<Expr> {
    let mut of = primary(p)?;
    let mut chain = 0;
    loop {
        chain += 1;
        if chain > 200 {
            return p.tokens.fault("a chain of more than 200 calls");
        }
        let Token::Sign(sign) = *p.tokens.token() else { return Ok(of) };
        of = match sign {
            ".@" => {
                p.tokens.at += 1;
                attribute(p, of, PrimaryMode { is_safe: false, is_spread: false })?
            }
            "." | "?." | "*." | ".&" | "::" => {
                p.tokens.at += 1;
                member(p, of, sign)?
            }
            "[" if !p.tokens.is_new_line() => index(p, of, false)?,
            "?" if is_safe_index(p) => {
                p.tokens.at += 1;
                index(p, of, true)?
            }
            "(" if !p.tokens.is_new_line() => {
                let args = arguments(p)?;
                apply(p, of, args)?
            }
            "{" if takes_closure(p, &of) => {
                let args = vec![function::closure(p)?];
                apply(p, of, args)?
            }
            "++" | "--" if !p.tokens.is_new_line() => return expression::postfix_step(p, of, sign),
            _ => return Ok(of),
        };
    }
}

/// `a?[0]`, which no ternary looks like: the bracket is glued to the question mark and that to the name.
fn is_safe_index(p: &JmscriptParser<'_>) -> bool {
    let next = p.tokens.lexemes.get(p.tokens.at + 1);
    p.dialect == Dialect::Groovy
        && p.tokens.lexeme().is_glued
        && next.is_some_and(|next| next.is_glued && matches!(next.token, Token::Sign("[")))
}

/// True if a brace here is a closure given to what stands before it.
fn takes_closure(p: &JmscriptParser<'_>, of: &Expr) -> bool {
    let can = matches!(
        of,
        Expr::Call(_)
            | Expr::Function(_)
            | Expr::Static(_)
            | Expr::Property(_)
            | Expr::Place(_)
            | Expr::Apply(_)
    );
    can && p.dialect == Dialect::Groovy && !p.tokens.lexeme().is_first
}

/// The call of what was read, or one more argument of the call that it is.
pub(super) fn apply(p: &mut JmscriptParser<'_>, of: Expr, args: Vec<Expr>) -> Parsed<Expr> {
    let is_closure = matches!(args.as_slice(), [Expr::Closure(_)]);
    let before = p.tokens.at.saturating_sub(1);
    Ok(match of {
        Expr::Call(mut call) if is_closure => {
            call.args = call.args.into_iter().chain(args).collect();
            Expr::Call(call)
        }
        Expr::Function(mut call) if is_closure => {
            call.args = call.args.into_iter().chain(args).collect();
            Expr::Function(call)
        }
        Expr::Static(mut call) if is_closure => {
            call.args = call.args.into_iter().chain(args).collect();
            Expr::Static(call)
        }
        Expr::Apply(mut call) if is_closure => {
            call.1 = call.1.into_iter().chain(args).collect();
            Expr::Apply(call)
        }
        Expr::Property(property) => call_of_property(p, *property, args, before),
        of => Expr::Apply(Box::new((of, Box::from(args)))),
    })
}

/// `a.b { … }` and `a.b x` are calls of `b`.
fn call_of_property(p: &mut JmscriptParser<'_>, property: Property, args: Vec<Expr>, at: usize) -> Expr {
    let line = p.tokens.lexemes[at].line;
    known::check_method(p, &property.of, &property.name, count(&args));
    let method = method(p, &property.name, &property.of);
    let Property { of, name, is_safe, is_spread, .. } = property;
    Expr::Call(Box::new(Call { of, method, name, args: Box::from(args), is_safe, is_spread, line }))
}

/// Parses the member that follows a dot.
fn member(p: &mut JmscriptParser<'_>, of: Expr, sign: &str) -> Parsed<Expr> {
    let is_safe = sign == "?.";
    let is_spread = sign == "*.";
    let line = p.tokens.line();
    let name = match p.tokens.next() {
        Token::Name(name) => name,
        Token::Text(text) => text,
        Token::Sign("@") => return attribute(p, of, PrimaryMode { is_safe, is_spread }),
        Token::Template(parts) => {
            let key = template(p, &parts)?;
            return Ok(Expr::Index(Box::new((of, key)), is_safe));
        }
        Token::Sign("(") => {
            let key = p.quietly(expression::expression)?;
            p.tokens.expect_sign(")")?;
            return Ok(Expr::Index(Box::new((of, key)), is_safe));
        }
        _ => {
            p.tokens.at -= 1;
            return p.tokens.fault(format!("a name is missing after '{sign}'"));
        }
    };
    check_member(p, &of, &name);
    let is_call = p.tokens.is_sign("(") && !p.tokens.is_new_line();
    if sign == ".&" || sign == "::" {
        method(p, &name, &of);
        return Ok(Expr::MethodPointer(Box::new(of), name));
    }
    if is_call {
        return method_call(p, of, name, PrimaryMode { is_safe, is_spread }, line);
    }
    if let Expr::Class(class) = of {
        return Ok(constant(class, name));
    }
    let is_set = p.tokens.is_sign("=") && !p.tokens.is_new_line();
    // What a closure or an argument follows turns out to be a method.
    let is_method = starts_argument(p)
        || p.tokens.is_sign("{") && p.dialect == Dialect::Groovy && !p.tokens.lexeme().is_first;
    if !is_spread && !is_method {
        known::check_property(p, &of, &name, is_set);
    }
    let getters = getters(&name);
    let setter = setter(&name);
    Ok(Expr::Property(Box::new(Property { of, name, getters, setter, is_safe, is_spread })))
}

/// Parses the name behind `.@`: an attribute of XML, or a field itself.
fn attribute(p: &mut JmscriptParser<'_>, of: Expr, how: PrimaryMode) -> Parsed<Expr> {
    let PrimaryMode { is_safe, is_spread } = how;
    let field = p.tokens.expect_name()?;
    let name = Rc::from(format!("@{field}"));
    let getters = getters(&field);
    let setter = setter(&field);
    Ok(Expr::Property(Box::new(Property { of, name, getters, setter, is_safe, is_spread })))
}

/// `(args)` after a member's name, which stands before `spot`.
fn method_call(
    p: &mut JmscriptParser<'_>,
    of: Expr,
    name: Rc<str>,
    how: PrimaryMode,
    line: u32,
) -> Parsed<Expr> {
    let at = p.tokens.at;
    let args = arguments(p)?;
    // A closure behind the parentheses is one more argument.
    let is_open = p.tokens.is_sign("{");
    let end = std::mem::replace(&mut p.tokens.at, at);
    let method = method(p, &name, &of);
    known::check_transformation(p, &of, &name, &args);
    if !how.is_spread && method.is_some() {
        known::check_method(p, &of, &name, count(&args).filter(|_| !is_open));
    }
    p.tokens.at = end;
    let args = Box::from(args);
    Ok(match (of, method) {
        (Expr::Class(class), Some(method)) => {
            Expr::Static(Box::new(StaticCall { class, method, args, line }))
        }
        (of, method) => {
            let PrimaryMode { is_safe, is_spread } = how;
            Expr::Call(Box::new(Call { of, method, name, args, is_safe, is_spread, line }))
        }
    })
}

/// Signs before a member: `?.` and `*.`.
#[derive(Clone, Copy)]
struct PrimaryMode {
    is_safe: bool,
    is_spread: bool,
}

/// The method of a name; one that no class has is noted.
fn method(p: &mut JmscriptParser<'_>, name: &Rc<str>, of: &Expr) -> Option<Method> {
    let method = Method::named(name);
    if method.is_none() {
        known::note_unknown(p, name, of);
    }
    method
}

/// How many arguments there are, where none of them stands for several.
fn count(args: &[Expr]) -> Option<usize> {
    let is_open = args.iter().any(|arg| matches!(arg, Expr::Spread(_)));
    (!is_open).then_some(args.len())
}

/// Notes what leads out of the sandbox by name.
fn check_member(p: &mut JmscriptParser<'_>, of: &Expr, name: &str) {
    let is_text_call = matches!(of, Expr::Literal(Literal::Text(_)) | Expr::Template(_));
    let reason = match name {
        "execute" if is_text_call => "a script may not start programs",
        "classLoader" | "getClassLoader" | "metaClass" | "getMetaClass" | "forName"
            if !is_class(of, &charset::KIND) =>
        {
            "reflection is not available"
        }
        "exit" if is_class(of, &system::KIND) => {
            "a script may not end the program; use ctx.getEngine().askThreadsToStop()"
        }
        "setProperty" | "load" | "loadLibrary" if is_class(of, &system::KIND) => {
            "a script may not change the process"
        }
        "getenv" if is_class(of, &system::KIND) => {
            "a script may not read the environment; pass values with -J"
        }
        _ => return,
    };
    p.refuse(name.to_owned(), reason);
}

pub(super) fn index(p: &mut JmscriptParser<'_>, of: Expr, is_safe: bool) -> Parsed<Expr> {
    p.tokens.expect_sign("[")?;
    let mut items = p.quietly(|p| items(p, "]"))?;
    p.tokens.expect_sign("]")?;
    let index = match items.pop() {
        Some(index) if items.is_empty() => index,
        Some(last) => Expr::List(items.into_iter().chain([last]).collect()),
        None => return p.tokens.fault("an index is missing in '[]'"),
    };
    Ok(Expr::Index(Box::new((of, index)), is_safe))
}

/// `(a, b, name: c)`; named arguments become a map before the others.
pub(super) fn arguments(p: &mut JmscriptParser<'_>) -> Parsed<Vec<Expr>> {
    p.tokens.expect_sign("(")?;
    let args = p.quietly(|p| items(p, ")"))?;
    p.tokens.expect_sign(")")?;
    Ok(args)
}

pub(super) fn items(p: &mut JmscriptParser<'_>, end: &str) -> Parsed<Vec<Expr>> {
    let mut items = Vec::new();
    let mut named = Vec::new();
    while !p.tokens.is_sign(end) {
        if p.dialect == Dialect::Groovy && is_key(p) {
            named.push(entry(p)?);
        } else if p.tokens.take_sign("*") {
            items.push(Expr::Spread(Box::new(expression::expression(p)?)));
        } else {
            items.push(expression::expression(p)?);
        }
        if !p.tokens.take_sign(",") {
            break;
        }
    }
    if !named.is_empty() {
        items.insert(0, Expr::Map(Box::from(named)));
    }
    Ok(items)
}

fn is_key(p: &JmscriptParser<'_>) -> bool {
    matches!(p.tokens.token(), Token::Name(_) | Token::Text(_))
        && matches!(p.tokens.ahead(1), Token::Sign(":"))
}

/// `key: value`.
pub(super) fn entry(p: &mut JmscriptParser<'_>) -> Parsed<(Expr, Expr)> {
    let key = match p.tokens.token().clone() {
        Token::Name(name) if matches!(p.tokens.ahead(1), Token::Sign(":")) => {
            p.tokens.at += 1;
            p.names.keys.insert(name.clone());
            Expr::Literal(Literal::Text(name))
        }
        Token::Text(text) if matches!(p.tokens.ahead(1), Token::Sign(":")) => {
            p.tokens.at += 1;
            p.names.keys.insert(text.clone());
            Expr::Literal(Literal::Text(text))
        }
        _ => expression::expression(p)?,
    };
    p.tokens.expect_sign(":")?;
    Ok((key, expression::expression(p)?))
}

pub(super) fn primary(p: &mut JmscriptParser<'_>) -> Parsed<Expr> {
    match p.tokens.token().clone() {
        Token::Literal(literal) => {
            p.tokens.at += 1;
            Ok(Expr::Literal(literal))
        }
        Token::Text(text) => {
            p.tokens.at += 1;
            Ok(Expr::Literal(Literal::Text(p.names.text_of(text))))
        }
        Token::Template(parts) => {
            p.tokens.at += 1;
            template(p, &parts)
        }
        Token::Regex(text, flags) => {
            p.tokens.at += 1;
            let flags = if flags.contains('i') { 2 } else { 0 };
            let args = [Expr::Literal(Literal::Text(text)), Expr::Literal(Literal::Int(flags))];
            Ok(Expr::Static(Box::new(StaticCall {
                class: Class::Known(&pattern::KIND),
                method: Method::named("compile").expect("patterns are compiled"),
                args: Box::from(args),
                line: p.tokens.line(),
            })))
        }
        Token::Name(name) => named(p, name),
        Token::Sign(sign) => bracketed(p, sign),
        Token::End => p.tokens.fault("an expression is missing at the end of the script"),
    }
}

fn bracketed(p: &mut JmscriptParser<'_>, sign: &str) -> Parsed<Expr> {
    match sign {
        "(" => parenthesized(p),
        "[" if p.dialect.has_collections() => list_or_map(p),
        "{" => match p.dialect {
            Dialect::Groovy => function::closure(p),
            Dialect::JavaScript | Dialect::Jexl => object(p),
            Dialect::BeanShell => array_items(p),
        },
        _ => p.tokens.fault(format!("an expression is missing before '{sign}'")),
    }
}

fn parenthesized(p: &mut JmscriptParser<'_>) -> Parsed<Expr> {
    if let Some(arrow) = lambda_after_parentheses(p) {
        return function::lambda(p, arrow);
    }
    p.tokens.expect_sign("(")?;
    let inner = p.quietly(|p| {
        let inner = expression::expression(p)?;
        command(p, inner)
    })?;
    p.tokens.expect_sign(")")?;
    Ok(inner)
}

fn lambda_after_parentheses(p: &JmscriptParser<'_>) -> Option<&'static str> {
    let arrow = arrow(p)?;
    let mut by = 1;
    while matches!(p.tokens.ahead(by), Token::Name(_) | Token::Sign(",")) {
        by += 1;
    }
    let is_lambda = matches!(p.tokens.ahead(by), Token::Sign(")"))
        && matches!(p.tokens.ahead(by + 1), Token::Sign(sign) if *sign == arrow);
    is_lambda.then_some(arrow)
}

pub(super) fn arrow(p: &JmscriptParser<'_>) -> Option<&'static str> {
    match p.dialect {
        Dialect::Groovy => Some("->"),
        Dialect::JavaScript => Some("=>"),
        _ => None,
    }
}

fn list_or_map(p: &mut JmscriptParser<'_>) -> Parsed<Expr> {
    p.tokens.expect_sign("[")?;
    p.quietly(|p| {
        if p.tokens.take_sign(":") {
            p.tokens.expect_sign("]")?;
            return Ok(Expr::Map(Box::default()));
        }
        let mut items = Vec::new();
        let mut entries = Vec::new();
        while !p.tokens.is_sign("]") {
            list_item(p, &mut items, &mut entries)?;
            if !p.tokens.take_sign(",") {
                break;
            }
        }
        p.tokens.expect_sign("]")?;
        match (items.is_empty(), entries.is_empty()) {
            (_, true) => Ok(Expr::List(Box::from(items))),
            (true, false) => Ok(Expr::Map(Box::from(entries))),
            (false, false) => p.tokens.fault("a list and a map in one"),
        }
    })
}

fn list_item(
    p: &mut JmscriptParser<'_>,
    items: &mut Vec<Expr>,
    entries: &mut Vec<(Expr, Expr)>,
) -> Parsed<()> {
    if is_key(p) {
        entries.push(entry(p)?);
        return Ok(());
    }
    if p.tokens.take_sign("*") {
        items.push(Expr::Spread(Box::new(expression::expression(p)?)));
        return Ok(());
    }
    let item = expression::expression(p)?;
    if p.tokens.take_sign(":") {
        entries.push((item, expression::expression(p)?));
    } else {
        items.push(item);
    }
    Ok(())
}

/// `{a: 1}`, JavaScript's and JEXL's map.
pub(super) fn object(p: &mut JmscriptParser<'_>) -> Parsed<Expr> {
    p.tokens.expect_sign("{")?;
    p.quietly(|p| {
        let mut entries = Vec::new();
        if p.tokens.take_sign(":") {
            p.tokens.expect_sign("}")?;
            return Ok(Expr::Map(Box::default()));
        }
        while !p.tokens.is_sign("}") {
            entries.push(entry(p)?);
            if !p.tokens.take_sign(",") {
                break;
            }
        }
        p.tokens.expect_sign("}")?;
        Ok(Expr::Map(Box::from(entries)))
    })
}

/// `{1, 2}`, Java's array.
pub(super) fn array_items(p: &mut JmscriptParser<'_>) -> Parsed<Expr> {
    p.tokens.expect_sign("{")?;
    let items = p.quietly(|p| items(p, "}"))?;
    p.tokens.expect_sign("}")?;
    let array = Type::Array(Box::new(Type::Any));
    Ok(Expr::Cast(array, Box::new(Expr::List(Box::from(items))), true))
}

pub(super) fn named(p: &mut JmscriptParser<'_>, name: Rc<str>) -> Parsed<Expr> {
    if let Some(class) = types::class_path(p) {
        return Ok(match class {
            Ok(class) => Expr::Class(class),
            Err(path) => {
                p.refuse_class(&path);
                Expr::Literal(Literal::Null)
            }
        });
    }
    if let Some(arrow) = arrow(p)
        && matches!(p.tokens.ahead(1), Token::Sign(sign) if *sign == arrow)
    {
        return function::lambda(p, arrow);
    }
    let line = p.tokens.line();
    p.tokens.at += 1;
    match &*name {
        "new" if matches!(p.tokens.token(), Token::Name(_)) => return construct(p),
        "function" if p.dialect == Dialect::JavaScript && p.tokens.is_sign("(") => {
            return function::function_expression(p);
        }
        "this" if p.names.scopes.find(&name).is_some() => {}
        "this" | "owner" | "delegate" if p.dialect == Dialect::Groovy => {
            return Ok(Expr::Place(TreePlace::Bound(Binding::Variables)));
        }
        "this" | "super" => return Ok(Expr::Place(TreePlace::Bound(Binding::Bsh))),
        "evaluate" | "source" | "eval" | "exec"
            if p.tokens.is_sign("(") && p.names.scopes.find(&name).is_none() =>
        {
            p.tokens.at -= 1;
            p.refuse(format!("{name}()"), "a script may not run text or files as code, or programs");
            p.tokens.at += 1;
        }
        "switch" | "synchronized" | "goto" | "else" | "catch" | "case" | "while" | "for" | "try" | "def"
        | "import" => {
            p.tokens.at -= 1;
            return p.tokens.fault(format!("'{name}' cannot stand here"));
        }
        _ => {}
    }
    let is_call = p.tokens.is_sign("(") && !p.tokens.is_new_line();
    let is_given_closure =
        p.tokens.is_sign("{") && p.dialect == Dialect::Groovy && !p.tokens.lexeme().is_first;
    if is_call || is_given_closure {
        return call_of_name(p, name, line, is_call);
    }
    check_class(p, &name);
    names::resolve(p, &name)
}

/// Notes a name that can only be a class, and is none that is known.
fn check_class(p: &mut JmscriptParser<'_>, name: &Rc<str>) {
    let is_followed = p.tokens.is_sign(".") && matches!(p.tokens.ahead(1), Token::Name(_));
    let is_classlike = name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase);
    if is_followed && is_classlike && p.names.scopes.find(name).is_none() && !p.names.globals.contains(name) {
        let known = names::binding(name, p.dialect).is_some() || p.names.class(name).is_some();
        if !known || refusal(name).is_some() {
            p.tokens.at -= 1;
            p.refuse_class(name);
            p.tokens.at += 1;
        }
    }
}

fn call_of_name(p: &mut JmscriptParser<'_>, name: Rc<str>, line: u32, has_parentheses: bool) -> Parsed<Expr> {
    let args = if has_parentheses { arguments(p)? } else { vec![function::closure(p)?] };
    if let Some(place) = p.names.scopes.find(&name) {
        return Ok(Expr::Apply(Box::new((Expr::Place(place), Box::from(args)))));
    }
    let id = names::call_id(p, &name)?;
    Ok(Expr::Function(Box::new(FunctionCall { name, id, args: Box::from(args), line })))
}

/// Parses the construction that follows `new`.
pub(super) fn construct(p: &mut JmscriptParser<'_>) -> Parsed<Expr> {
    let start = p.tokens.at;
    let path = match types::class_path(p) {
        Some(path) => path,
        None => {
            let name = p.tokens.expect_name()?;
            let found = if refusal(&name).is_some() { None } else { p.names.class(&name) };
            found.ok_or(name.to_string())
        }
    };
    if let (true, Err(name)) = (p.tokens.is_sign("["), &path) {
        // Arrays of primitive types, whose names are no classes.
        let name = name.clone();
        p.tokens.at = start;
        let kind = match p.tokens.next() {
            Token::Name(_) => types::element_type(&name),
            _ => Type::Any,
        };
        return new_array(p, kind);
    }
    let class = path.unwrap_or_else(|name| {
        p.tokens.at -= 1;
        p.refuse_class(&name);
        p.tokens.at += 1;
        Class::Known(&object::KIND)
    });
    p.notes.created(class);
    if p.tokens.is_sign("<") {
        types::skip_generics(p);
    }
    if p.tokens.is_sign("[") {
        return new_array(p, Type::of_class(class));
    }
    let args = if p.tokens.is_sign("(") { arguments(p)? } else { Vec::new() };
    if p.tokens.is_sign("{") && !p.tokens.lexeme().is_first && p.dialect != Dialect::JavaScript {
        p.refuse(
            format!("new {}() {{...}}", class.simple_name()),
            "classes of a script's own are not understood",
        );
        function::closure(p)?;
    }
    Ok(Expr::New(class, Box::from(args)))
}

/// `[n]`, `[n][m]`, or `[] {1, 2}` after the type of the elements.
pub(super) fn new_array(p: &mut JmscriptParser<'_>, kind: Type) -> Parsed<Expr> {
    let mut sizes = Vec::new();
    let mut depth = 0;
    while p.tokens.take_sign("[") {
        depth += 1;
        if !p.tokens.is_sign("]") {
            sizes.push(p.quietly(expression::expression)?);
        }
        p.tokens.expect_sign("]")?;
    }
    if p.tokens.is_sign("{") && sizes.is_empty() {
        let whole = (0..depth).fold(kind, |kind, _| Type::Array(Box::new(kind)));
        let items = array_items(p)?;
        return Ok(Expr::Cast(whole, Box::new(items), true));
    }
    if sizes.is_empty() {
        return p.tokens.fault("an array without a size");
    }
    Ok(Expr::NewArray(kind, Box::from(sizes)))
}

/// A text with expressions in it: each is read where it stands, in the scope around it.
pub(super) fn template(p: &mut JmscriptParser<'_>, parts: &[Part]) -> Parsed<Expr> {
    let mut pieces = Vec::with_capacity(parts.len());
    for part in parts {
        pieces.push(match part {
            Part::Text(text) => TreePiece::Text(text.clone()),
            Part::Code(from, to) => p.nested(|p| placeholder(p, *from, *to))?,
        });
    }
    Ok(Expr::Template(Box::from(pieces)))
}

pub(super) fn placeholder(p: &mut JmscriptParser<'_>, from: usize, to: usize) -> Parsed<TreePiece> {
    let lexemes = tokens(p.text, from, to, p.dialect)?;
    let inner = Tokens::new(lexemes, p.dialect);
    let outer = std::mem::replace(&mut p.tokens, inner);
    let piece = placeholder_value(p);
    p.tokens = outer;
    piece
}

fn placeholder_value(p: &mut JmscriptParser<'_>) -> Parsed<TreePiece> {
    if matches!(p.tokens.token(), Token::End) {
        return Ok(TreePiece::Value(Expr::Literal(Literal::Null)));
    }
    if p.tokens.take_sign("->") {
        let line = p.tokens.line();
        let lazy = function::lazy_closure(p, line)?;
        return Ok(TreePiece::Lazy(lazy));
    }
    let value = p.quietly(|p| {
        let value = expression::expression(p)?;
        command(p, value)
    })?;
    p.tokens.take_sign(";");
    match p.tokens.token() {
        Token::End => Ok(TreePiece::Value(value)),
        _ => p.tokens.fault(format!("{} cannot stand in a placeholder", p.tokens.shown())),
    }
}

/// The arguments of a command without parentheses, `log.info "x", y`, where they follow.
pub(super) fn command(p: &mut JmscriptParser<'_>, of: Expr) -> Parsed<Expr> {
    if !starts_argument(p) {
        return Ok(of);
    }
    let name = match &of {
        Expr::Property(_) => None,
        Expr::Place(_) => match &p.tokens.lexemes[p.tokens.at - 1].token {
            Token::Name(name) => Some(name.clone()),
            _ => return Ok(of),
        },
        _ => return Ok(of),
    };
    let line = p.tokens.line();
    let mut args = vec![expression::expression(p)?];
    while p.tokens.take_sign(",") {
        args.push(expression::expression(p)?);
    }
    match (name, of) {
        (None, Expr::Property(property)) => {
            let before = p.tokens.at - 1;
            Ok(call_of_property(p, *property, args, before))
        }
        (Some(name), Expr::Place(TreePlace::Global(_))) => {
            let id = names::call_id(p, &name)?;
            Ok(Expr::Function(Box::new(FunctionCall { name, id, args: Box::from(args), line })))
        }
        (_, of) => Ok(Expr::Apply(Box::new((of, Box::from(args))))),
    }
}

/// True if an argument follows on the same line.
pub(super) fn starts_argument(p: &JmscriptParser<'_>) -> bool {
    if p.dialect != Dialect::Groovy || p.tokens.lexeme().is_first {
        return false;
    }
    match p.tokens.token() {
        Token::Name(name) => !matches!(&**name, "in" | "as" | "instanceof" | "else" | "while"),
        Token::Literal(_) | Token::Text(_) | Token::Template(_) => true,
        _ => false,
    }
}

/// A constant of a class, or the class itself.
fn constant(class: Class, name: Rc<str>) -> Expr {
    match &*name {
        "class" => Expr::Class(class),
        "out" | "err" if class.is(&system::KIND) => Expr::Place(TreePlace::Bound(Binding::Out)),
        _ => Expr::Constant(class, name),
    }
}

fn is_class(of: &Expr, kind: &'static Kind) -> bool {
    matches!(of, Expr::Class(class) if class.is(kind))
}
