//! Statements.

use super::{JmscriptParser, Parsed, enumeration, expression, function, known, names, primary, types};
use crate::dialect::Dialect;
use crate::lexer::Token;
use crate::model::class::Class;
use crate::model::library::lang::object;
use crate::model::tree::{
    Block, Case, Catch, Expr, For, ForIn, Statement, TreeLine, TreePlace, TreeTarget, Try, Type,
};
use std::rc::Rc;

/// Statements up to a token that is not taken.
pub(super) fn statements(p: &mut JmscriptParser<'_>, is_end: fn(&Token) -> bool) -> Parsed<Block> {
    let mut lines = Vec::new();
    loop {
        while p.tokens.take_sign(";") {}
        if is_end(p.tokens.token()) {
            return Ok(Box::from(lines));
        }
        if matches!(p.tokens.token(), Token::End) {
            return p.tokens.fault("'}' is missing at the end of the script");
        }
        let line = p.tokens.line();
        if let Some(statement) = p.nested(statement)? {
            lines.push(TreeLine { line, statement });
        }
    }
}

/// `{ … }`, a scope of its own.
pub(super) fn block(p: &mut JmscriptParser<'_>) -> Parsed<Block> {
    p.tokens.expect_sign("{")?;
    p.names.scopes.open();
    let block = p.loudly(|p| statements(p, |token| matches!(token, Token::Sign("}"))))?;
    p.names.scopes.close();
    p.tokens.expect_sign("}")?;
    Ok(block)
}

/// A block, or one statement.
pub(super) fn body(p: &mut JmscriptParser<'_>) -> Parsed<Block> {
    if p.tokens.is_sign("{") {
        return block(p);
    }
    if p.tokens.take_sign(";") {
        return Ok(Box::default());
    }
    let line = p.tokens.line();
    p.names.scopes.open();
    let statement = p.nested(statement)?;
    p.names.scopes.close();
    Ok(statement.map(|statement| TreeLine { line, statement }).into_iter().collect())
}

pub(super) fn statement(p: &mut JmscriptParser<'_>) -> Parsed<Option<Statement>> {
    if p.tokens.is_sign("{") && p.dialect != Dialect::Jexl {
        return Ok(Some(Statement::Block(block(p)?)));
    }
    if let Token::Name(name) = p.tokens.token().clone() {
        if is_label(p) {
            p.tokens.at += 2;
            let body = body(p)?;
            return Ok(Some(Statement::Labelled(name, body)));
        }
        if let Some(statement) = keyword(p, &name)? {
            return Ok(statement);
        }
    }
    if let Some(statement) = declaration(p)? {
        return Ok(statement);
    }
    let statement = expression_statement(p)?;
    end_of_statement(p)?;
    Ok(Some(statement))
}

fn is_label(p: &JmscriptParser<'_>) -> bool {
    let follows = matches!(p.tokens.ahead(1), Token::Sign(":"));
    follows && !p.tokens.is_name("default") && !p.tokens.is_name("case")
}

fn end_of_statement(p: &mut JmscriptParser<'_>) -> Parsed<()> {
    let newline_ends = p.dialect == Dialect::JavaScript && p.tokens.lexeme().is_first;
    let before_else = p.tokens.is_name("else") && p.dialect.lines_end_statements();
    if before_else
        || p.tokens.take_sign(";")
        || p.tokens.is_new_line()
        || newline_ends
        || matches!(p.tokens.token(), Token::Sign("}") | Token::End)
    {
        return Ok(());
    }
    if p.dialect == Dialect::Jexl && matches!(p.tokens.token(), Token::Name(_)) && p.tokens.lexeme().is_first
    {
        return Ok(());
    }
    let shown = p.tokens.shown();
    p.tokens.fault(match p.dialect {
        Dialect::BeanShell => format!("';' is missing before {shown}"),
        _ => format!("{shown} cannot stand here"),
    })
}

/// A statement that begins with a keyword; the inner `None` is one that does nothing.
pub(super) fn keyword(p: &mut JmscriptParser<'_>, name: &str) -> Parsed<Option<Option<Statement>>> {
    let start = p.tokens.at;
    p.tokens.at += 1;
    let statement = match name {
        "if" => if_statement(p)?,
        "while" => {
            let condition = condition(p)?;
            Statement::While(condition, body(p)?)
        }
        "do" if p.tokens.is_sign("{") => do_while(p)?,
        "for" if p.tokens.is_sign("(") => for_statement(p)?,
        "switch" if p.tokens.is_sign("(") => switch(p)?,
        "try" if p.tokens.is_sign("{") || p.tokens.is_sign("(") => try_statement(p)?,
        "return" => {
            let value = if ends_here(p) { None } else { Some(expression::expression(p)?) };
            ended(p, Statement::Return(value))?
        }
        "throw" => {
            let value = expression::expression(p)?;
            ended(p, Statement::Throw(value))?
        }
        "break" => {
            let label = label(p)?;
            ended(p, Statement::Break(label))?
        }
        "continue" => {
            let label = label(p)?;
            ended(p, Statement::Continue(label))?
        }
        "assert" if p.dialect == Dialect::Groovy => assert(p)?,
        "import" => {
            types::import(p)?;
            end_of_statement(p)?;
            return Ok(Some(None));
        }
        "package" => {
            while !ends_here(p) {
                p.tokens.at += 1;
            }
            return Ok(Some(None));
        }
        "enum" if p.dialect == Dialect::Groovy && matches!(p.tokens.token(), Token::Name(_)) => {
            enumeration::declaration(p)?;
            return Ok(Some(None));
        }
        "class" | "interface" | "enum" | "trait" if matches!(p.tokens.token(), Token::Name(_)) => {
            class_declaration(p, name);
            return Ok(Some(None));
        }
        "function" if p.dialect == Dialect::JavaScript && matches!(p.tokens.token(), Token::Name(_)) => {
            function::function_of_javascript(p)?
        }
        _ => {
            p.tokens.at = start;
            return Ok(None);
        }
    };
    Ok(Some(Some(statement)))
}

pub(super) fn ended(p: &mut JmscriptParser<'_>, statement: Statement) -> Parsed<Statement> {
    end_of_statement(p)?;
    Ok(statement)
}

/// Nothing of this statement follows.
fn ends_here(p: &JmscriptParser<'_>) -> bool {
    let ends = matches!(p.tokens.token(), Token::Sign(";" | "}") | Token::End);
    ends || p.tokens.is_new_line() || p.dialect == Dialect::JavaScript && p.tokens.lexeme().is_first
}

pub(super) fn label(p: &mut JmscriptParser<'_>) -> Parsed<Option<Rc<str>>> {
    if ends_here(p) { Ok(None) } else { p.tokens.expect_name().map(Some) }
}

/// `(condition)`.
pub(super) fn condition(p: &mut JmscriptParser<'_>) -> Parsed<Expr> {
    p.tokens.expect_sign("(")?;
    let condition = p.quietly(expression::expression)?;
    p.tokens.expect_sign(")")?;
    Ok(condition)
}

fn if_statement(p: &mut JmscriptParser<'_>) -> Parsed<Statement> {
    let condition = condition(p)?;
    let then = body(p)?;
    let start = p.tokens.at;
    while p.tokens.take_sign(";") {}
    if p.tokens.take_name("else") {
        return Ok(Statement::If(condition, then, body(p)?));
    }
    p.tokens.at = start;
    Ok(Statement::If(condition, then, Box::default()))
}

pub(super) fn do_while(p: &mut JmscriptParser<'_>) -> Parsed<Statement> {
    let body = block(p)?;
    if !p.tokens.take_name("while") {
        return p.tokens.fault("'while' is missing after 'do'");
    }
    let condition = condition(p)?;
    ended(p, Statement::DoWhile(body, condition))
}

fn for_statement(p: &mut JmscriptParser<'_>) -> Parsed<Statement> {
    p.tokens.expect_sign("(")?;
    p.names.scopes.open();
    p.tokens.quiet += 1;
    let each = for_each(p)?;
    let statement = if let Some(head) = each {
        end_of_head(p)?;
        Statement::ForIn(Box::new(head), body(p)?)
    } else {
        let init = for_init(p)?;
        let condition = if p.tokens.is_sign(";") { None } else { Some(expression::expression(p)?) };
        p.tokens.expect_sign(";")?;
        let update = if p.tokens.is_sign(")") { Vec::new() } else { expressions(p)? };
        end_of_head(p)?;
        let body = body(p)?;
        Statement::For(Box::new(For { init, condition, update: Box::from(update), body }))
    };
    p.names.scopes.close();
    Ok(statement)
}

fn end_of_head(p: &mut JmscriptParser<'_>) -> Parsed<()> {
    p.tokens.quiet -= 1;
    p.tokens.expect_sign(")")
}

pub(super) fn expressions(p: &mut JmscriptParser<'_>) -> Parsed<Vec<Expr>> {
    let mut found = vec![expression::expression(p)?];
    while p.tokens.take_sign(",") {
        found.push(expression::expression(p)?);
    }
    Ok(found)
}

/// `Type x in list`, `x : list`; the position is kept where it is another kind of `for`.
fn for_each(p: &mut JmscriptParser<'_>) -> Parsed<Option<ForIn>> {
    let start = p.tokens.at;
    types::modifiers(p);
    let typed = types::try_type(p).map(|(kind, _)| kind);
    let (kind, name) = match (typed, p.tokens.token().clone()) {
        (Some(kind), Token::Name(name)) if !matches!(&*name, "in" | "of") => {
            p.tokens.at += 1;
            (kind, name)
        }
        _ => {
            p.tokens.at = start;
            let Token::Name(name) = p.tokens.token().clone() else { return Ok(None) };
            p.tokens.at += 1;
            (Type::Any, name)
        }
    };
    if !(p.tokens.take_name("in")
        || p.tokens.take_sign(":")
        || p.dialect == Dialect::JavaScript && p.tokens.take_name("of"))
    {
        p.tokens.at = start;
        return Ok(None);
    }
    let list = expression::expression(p)?;
    let slot = names::declare(p, name)?;
    Ok(Some(ForIn { place: TreePlace::Local(slot), kind, list }))
}

fn for_init(p: &mut JmscriptParser<'_>) -> Parsed<Block> {
    if p.tokens.take_sign(";") {
        return Ok(Box::default());
    }
    let line = p.tokens.line();
    if let Some(Some(statement)) = declaration(p)? {
        return Ok(Box::from([TreeLine { line, statement }]));
    }
    let found = expressions(p)?;
    p.tokens.expect_sign(";")?;
    Ok(found.into_iter().map(|expr| TreeLine { line, statement: Statement::Expr(expr) }).collect())
}

pub(super) fn switch(p: &mut JmscriptParser<'_>) -> Parsed<Statement> {
    let subject = condition(p)?;
    p.tokens.expect_sign("{")?;
    p.names.scopes.open();
    let cases = p.loudly(cases)?;
    p.names.scopes.close();
    Ok(Statement::Switch(subject, Box::from(cases)))
}

pub(super) fn cases(p: &mut JmscriptParser<'_>) -> Parsed<Vec<Case>> {
    let is_end = |token: &Token| {
        matches!(token, Token::Sign("}"))
            || matches!(token, Token::Name(name) if matches!(&**name, "case" | "default"))
    };
    let mut cases = Vec::new();
    while !p.tokens.take_sign("}") {
        let value = if p.tokens.take_name("default") {
            None
        } else if p.tokens.take_name("case") {
            Some(expression::expression(p)?)
        } else {
            return p.tokens.fault(format!("'case' is missing before {}", p.tokens.shown()));
        };
        p.tokens.expect_sign(":")?;
        cases.push(Case { value, body: statements(p, is_end)? });
    }
    Ok(cases)
}

pub(super) fn try_statement(p: &mut JmscriptParser<'_>) -> Parsed<Statement> {
    if p.tokens.is_sign("(") {
        p.refuse("try (...)", "resources in parentheses are not understood");
        condition(p)?;
    }
    let body = block(p)?;
    let mut catches = Vec::new();
    while p.tokens.take_name("catch") {
        p.tokens.expect_sign("(")?;
        p.names.scopes.open();
        let classes = caught(p)?;
        let name = p.tokens.expect_name()?;
        let slot = names::declare(p, name)?;
        p.tokens.expect_sign(")")?;
        catches.push(Catch { classes, slot, body: block(p)? });
        p.names.scopes.close();
    }
    let finally = if p.tokens.take_name("finally") { Some(block(p)?) } else { None };
    if catches.is_empty() && finally.is_none() {
        return p.tokens.fault("'catch' or 'finally' is missing after 'try'");
    }
    Ok(Statement::Try(Box::new(Try { body, catches: Box::from(catches), finally })))
}

/// The classes before a caught exception's name; none of them known is none that fits.
pub(super) fn caught(p: &mut JmscriptParser<'_>) -> Parsed<Box<[Option<Class>]>> {
    let mut classes = Vec::new();
    types::modifiers(p);
    while !matches!(p.tokens.ahead(1), Token::Sign(")")) {
        let found = match types::class_path(p) {
            Some(found) => found.ok(),
            None => {
                let name = p.tokens.expect_name()?;
                if &*name == "def" { Some(Class::Known(&object::KIND)) } else { p.names.class(&name) }
            }
        };
        classes.push(found);
        if !p.tokens.take_sign("|") {
            break;
        }
    }
    Ok(Box::from(classes))
}

pub(super) fn assert(p: &mut JmscriptParser<'_>) -> Parsed<Statement> {
    let start = p.tokens.lexeme().start;
    let condition = expression::expression(p)?;
    let end = p.tokens.lexemes[p.tokens.at - 1].end;
    let text = Rc::from(p.text[start..end.max(start)].trim());
    let message = if p.tokens.take_sign(":") || p.tokens.take_sign(",") {
        Some(expression::expression(p)?)
    } else {
        None
    };
    ended(p, Statement::Assert(condition, text, message))
}

/// Notes a class of the script's own and skips it.
fn class_declaration(p: &mut JmscriptParser<'_>, keyword: &str) {
    let name = p.tokens.shown();
    p.refuse(
        format!("{keyword} {}", name.trim_matches('\'')),
        "classes of a script's own are not understood: use maps and methods",
    );
    while !matches!(p.tokens.token(), Token::Sign("{") | Token::End) {
        p.tokens.at += 1;
    }
    let mut depth = 0_usize;
    loop {
        match p.tokens.next() {
            Token::Sign("{") => depth += 1,
            Token::Sign("}") if depth <= 1 => return,
            Token::Sign("}") => depth -= 1,
            Token::End => return,
            _ => {}
        }
    }
}

/// A variable or a method; `None`, and the position kept, where an expression stands here.
pub(super) fn declaration(p: &mut JmscriptParser<'_>) -> Parsed<Option<Option<Statement>>> {
    let start = p.tokens.at;
    let (is_modified, is_field) = types::modifiers(p);
    if p.dialect == Dialect::BeanShell && is_loose_method(p) {
        let name = p.tokens.expect_name()?;
        return function::method_declaration(p, name, Type::Any).map(Some);
    }
    let is_keyword = ["def", "var", "let", "const"].iter().any(|word| is_declaring(p, word));
    if is_keyword {
        p.tokens.at += 1;
        if p.tokens.is_sign("(") {
            return declare_many(p).map(|statement| Some(Some(statement)));
        }
    }
    let kind = match try_type_before_name(p, is_keyword || is_modified) {
        Some(kind) => kind,
        None if is_keyword || is_modified => Type::Any,
        None => {
            p.tokens.at = start;
            return Ok(None);
        }
    };
    let name = p.tokens.expect_name()?;
    if p.tokens.is_sign("(") {
        return function::method_declaration(p, name, kind).map(Some);
    }
    variables(p, name, kind, is_field).map(|statement| Some(Some(statement)))
}

fn is_declaring(p: &JmscriptParser<'_>, word: &str) -> bool {
    let has_words = match word {
        "def" => p.dialect == Dialect::Groovy,
        "let" | "const" => p.dialect == Dialect::JavaScript,
        _ => p.dialect != Dialect::BeanShell,
    };
    has_words && p.tokens.is_name(word) && matches!(p.tokens.ahead(1), Token::Name(_) | Token::Sign("("))
}

/// A type with a name after it, and a declaration after that; the position is kept where there is none.
fn try_type_before_name(p: &mut JmscriptParser<'_>, is_certain: bool) -> Option<Type> {
    let start = p.tokens.at;
    if matches!(p.dialect, Dialect::JavaScript | Dialect::Jexl) {
        return None;
    }
    if let Some((kind, is_sure)) = types::try_type(p)
        && matches!(p.tokens.token(), Token::Name(name) if !matches!(&**name, "in" | "as" | "instanceof"))
        && (is_sure || is_certain)
        && !p.tokens.is_new_line()
        && is_declared_after_name(p, is_certain)
    {
        return Some(kind);
    }
    p.tokens.at = start;
    None
}

fn is_declared_after_name(p: &JmscriptParser<'_>, is_certain: bool) -> bool {
    let next_is_first = p.tokens.lexemes.get(p.tokens.at + 1).is_some_and(|next| next.is_first);
    let ends = matches!(p.tokens.ahead(1), Token::Sign("=" | ";" | "," | "(" | "}" | "[") | Token::End);
    ends || is_certain || next_is_first && p.dialect.lines_end_statements()
}

/// `name(a, b) {`: a method of BeanShell without types.
fn is_loose_method(p: &JmscriptParser<'_>) -> bool {
    if !matches!(p.tokens.token(), Token::Name(_)) || !matches!(p.tokens.ahead(1), Token::Sign("(")) {
        return false;
    }
    let mut by = 1;
    let mut depth = 0_usize;
    loop {
        match p.tokens.ahead(by) {
            Token::Sign("(") => depth += 1,
            Token::Sign(")") if depth == 1 => return matches!(p.tokens.ahead(by + 1), Token::Sign("{")),
            Token::Sign(")") => depth -= 1,
            Token::Sign(";") | Token::End => return false,
            _ => {}
        }
        by += 1;
    }
}

/// `a = 1, b, c = 2` after the type.
pub(super) fn variables(
    p: &mut JmscriptParser<'_>,
    first: Rc<str>,
    kind: Type,
    is_field: bool,
) -> Parsed<Statement> {
    let line = p.tokens.line();
    let mut lines = Vec::new();
    let mut name = first;
    loop {
        let mut kind = kind.clone();
        while p.tokens.is_sign("[") && matches!(p.tokens.ahead(1), Token::Sign("]")) {
            p.tokens.at += 2;
            kind = Type::Array(Box::new(kind));
        }
        let statement = variable(p, name, kind, is_field)?;
        lines.push(TreeLine { line, statement });
        if !p.tokens.take_sign(",") {
            break;
        }
        name = p.tokens.expect_name()?;
    }
    end_of_statement(p)?;
    match lines.pop() {
        Some(line) if lines.is_empty() => Ok(line.statement),
        last => Ok(Statement::Block(lines.into_iter().chain(last).collect())),
    }
}

pub(super) fn variable(
    p: &mut JmscriptParser<'_>,
    name: Rc<str>,
    kind: Type,
    is_field: bool,
) -> Parsed<Statement> {
    let lives_on = is_field || p.dialect.keeps_globals() && p.names.scopes.is_outermost();
    // The name is there for its own value only where that is a closure, which may call it later.
    let is_closure = p.tokens.is_sign("=") && matches!(p.tokens.ahead(1), Token::Sign("{"));
    let early = if is_closure && !lives_on { Some(names::declare(p, name.clone())?) } else { None };
    let value = if p.tokens.take_sign("=") { Some(initial(p, &kind)?) } else { None };
    if lives_on {
        let global = names::global(p, &name)?;
        p.names.assigned.insert(global);
        known::note_declared(p, TreePlace::Global(global), &kind, value.as_ref());
        return Ok(Statement::DeclareGlobal(global, kind, value));
    }
    let slot = early.map_or_else(|| names::declare(p, name), Ok)?;
    known::note_declared(p, TreePlace::Local(slot), &kind, value.as_ref());
    Ok(Statement::Declare(slot, kind, value))
}

/// The value of a variable; `{1, 2}` is an array in Java.
pub(super) fn initial(p: &mut JmscriptParser<'_>, kind: &Type) -> Parsed<Expr> {
    if matches!(kind, Type::Array(_)) && p.tokens.is_sign("{") {
        return primary::array_items(p);
    }
    expression::expression(p)
}

pub(super) fn declare_many(p: &mut JmscriptParser<'_>) -> Parsed<Statement> {
    p.tokens.expect_sign("(")?;
    let mut names = Vec::new();
    while !p.tokens.take_sign(")") {
        let is_typed = matches!(p.tokens.ahead(1), Token::Name(_));
        if is_typed {
            types::type_name(p)?;
        }
        names.push(p.tokens.expect_name()?);
        if !p.tokens.is_sign(")") {
            p.tokens.expect_sign(",")?;
        }
    }
    p.tokens.expect_sign("=")?;
    let value = expression::expression(p)?;
    let slots = names.into_iter().map(|name| names::declare(p, name)).collect::<Parsed<Vec<u16>>>()?;
    ended(p, Statement::DeclareMany(Box::from(slots), value))
}

fn expression_statement(p: &mut JmscriptParser<'_>) -> Parsed<Statement> {
    if let Some(targets) = many_targets(p)? {
        p.tokens.expect_sign("=")?;
        return Ok(Statement::AssignMany(Box::from(targets), expression::expression(p)?));
    }
    let expr = expression::expression(p)?;
    Ok(Statement::Expr(primary::command(p, expr)?))
}

/// `(a, b)` before `=`; the position is kept where something else stands here.
fn many_targets(p: &mut JmscriptParser<'_>) -> Parsed<Option<Vec<TreeTarget>>> {
    let mut by = 1;
    while matches!(p.tokens.ahead(by), Token::Name(_)) && matches!(p.tokens.ahead(by + 1), Token::Sign(",")) {
        by += 2;
    }
    let is_list = by > 1
        && matches!(p.tokens.ahead(by), Token::Name(_))
        && matches!(p.tokens.ahead(by + 1), Token::Sign(")"));
    if !p.tokens.is_sign("(") || !is_list || !matches!(p.tokens.ahead(by + 2), Token::Sign("=")) {
        return Ok(None);
    }
    let mut targets = Vec::new();
    while !p.tokens.take_sign(")") {
        p.tokens.at += 1;
        let name = p.tokens.expect_name()?;
        targets.push(expression::target_of_name(p, &name)?);
    }
    Ok(Some(targets))
}
