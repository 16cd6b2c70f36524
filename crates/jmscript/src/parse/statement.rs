//! Statements.

use super::{Parsed, Parser};
use crate::class::Class;
use crate::dialect::Dialect;
use crate::lexer::Token;
use crate::tree::{Block, Case, Expr, For, Line, Place, Statement, Target, Try, Type};
use std::rc::Rc;

impl Parser<'_> {
    /// Statements up to a token that is not taken.
    pub(super) fn statements(&mut self, is_end: fn(&Token) -> bool) -> Parsed<Block> {
        let mut lines = Vec::new();
        loop {
            while self.take_sign(";") {}
            if is_end(self.token()) {
                return Ok(Box::from(lines));
            }
            if matches!(self.token(), Token::End) {
                return self.fault("'}' is missing at the end of the script");
            }
            let line = self.line();
            if let Some(statement) = self.nested(Self::statement)? {
                lines.push(Line { line, statement });
            }
        }
    }

    /// `{ … }`, a scope of its own.
    pub(super) fn block(&mut self) -> Parsed<Block> {
        self.expect_sign("{")?;
        self.scopes.open();
        let block = self.loudly(|parser| parser.statements(|token| matches!(token, Token::Sign("}"))))?;
        self.scopes.close();
        self.expect_sign("}")?;
        Ok(block)
    }

    /// A block, or one statement.
    pub(super) fn body(&mut self) -> Parsed<Block> {
        if self.is_sign("{") {
            return self.block();
        }
        if self.take_sign(";") {
            return Ok(Box::default());
        }
        let line = self.line();
        self.scopes.open();
        let statement = self.nested(Self::statement)?;
        self.scopes.close();
        Ok(statement.map(|statement| Line { line, statement }).into_iter().collect())
    }

    pub(super) fn statement(&mut self) -> Parsed<Option<Statement>> {
        if self.is_sign("{") && self.dialect != Dialect::Jexl {
            return Ok(Some(Statement::Block(self.block()?)));
        }
        if let Token::Name(name) = self.token().clone() {
            if self.is_label() {
                self.at += 2;
                let body = self.body()?;
                return Ok(Some(Statement::Labelled(name, body)));
            }
            if let Some(statement) = self.keyword(&name)? {
                return Ok(statement);
            }
        }
        if let Some(statement) = self.declaration()? {
            return Ok(statement);
        }
        let statement = self.expression_statement()?;
        self.end_of_statement()?;
        Ok(Some(statement))
    }

    pub(super) fn is_label(&self) -> bool {
        let follows = matches!(self.ahead(1), Token::Sign(":"));
        follows && !self.is_name("default") && !self.is_name("case")
    }

    pub(super) fn end_of_statement(&mut self) -> Parsed<()> {
        let newline_ends = self.dialect == Dialect::JavaScript && self.lexeme().is_first;
        let before_else = self.is_name("else") && self.dialect.lines_end_statements();
        if before_else
            || self.take_sign(";")
            || self.is_new_line()
            || newline_ends
            || matches!(self.token(), Token::Sign("}") | Token::End)
        {
            return Ok(());
        }
        if self.dialect == Dialect::Jexl && matches!(self.token(), Token::Name(_)) && self.lexeme().is_first {
            return Ok(());
        }
        let shown = self.shown();
        self.fault(match self.dialect {
            Dialect::BeanShell => format!("';' is missing before {shown}"),
            _ => format!("{shown} cannot stand here"),
        })
    }

    /// A statement that begins with a keyword; the inner `None` is one that does nothing.
    pub(super) fn keyword(&mut self, name: &str) -> Parsed<Option<Option<Statement>>> {
        let start = self.at;
        self.at += 1;
        let statement = match name {
            "if" => self.if_statement()?,
            "while" => {
                let condition = self.condition()?;
                Statement::While(condition, self.body()?)
            }
            "do" if self.is_sign("{") => self.do_while()?,
            "for" if self.is_sign("(") => self.for_statement()?,
            "switch" if self.is_sign("(") => self.switch()?,
            "try" if self.is_sign("{") || self.is_sign("(") => self.try_statement()?,
            "return" => {
                let value = if self.ends_here() { None } else { Some(self.expression()?) };
                self.ended(Statement::Return(value))?
            }
            "throw" => {
                let value = self.expression()?;
                self.ended(Statement::Throw(value))?
            }
            "break" => {
                let label = self.label()?;
                self.ended(Statement::Break(label))?
            }
            "continue" => {
                let label = self.label()?;
                self.ended(Statement::Continue(label))?
            }
            "assert" if self.dialect == Dialect::Groovy => self.assert()?,
            "import" => {
                self.import()?;
                self.end_of_statement()?;
                return Ok(Some(None));
            }
            "package" => {
                while !self.ends_here() {
                    self.at += 1;
                }
                return Ok(Some(None));
            }
            "class" | "interface" | "enum" | "trait" if matches!(self.token(), Token::Name(_)) => {
                self.class_declaration(name);
                return Ok(Some(None));
            }
            "function" if self.dialect == Dialect::JavaScript && matches!(self.token(), Token::Name(_)) => {
                self.function_of_javascript()?
            }
            _ => {
                self.at = start;
                return Ok(None);
            }
        };
        Ok(Some(Some(statement)))
    }

    pub(super) fn ended(&mut self, statement: Statement) -> Parsed<Statement> {
        self.end_of_statement()?;
        Ok(statement)
    }

    /// Nothing of this statement follows.
    pub(super) fn ends_here(&self) -> bool {
        let ends = matches!(self.token(), Token::Sign(";" | "}") | Token::End);
        ends || self.is_new_line() || self.dialect == Dialect::JavaScript && self.lexeme().is_first
    }

    pub(super) fn label(&mut self) -> Parsed<Option<Rc<str>>> {
        if self.ends_here() { Ok(None) } else { self.expect_name().map(Some) }
    }

    /// `(condition)`.
    pub(super) fn condition(&mut self) -> Parsed<Expr> {
        self.expect_sign("(")?;
        let condition = self.quietly(Self::expression)?;
        self.expect_sign(")")?;
        Ok(condition)
    }

    pub(super) fn if_statement(&mut self) -> Parsed<Statement> {
        let condition = self.condition()?;
        let then = self.body()?;
        let start = self.at;
        while self.take_sign(";") {}
        if self.take_name("else") {
            return Ok(Statement::If(condition, then, self.body()?));
        }
        self.at = start;
        Ok(Statement::If(condition, then, Box::default()))
    }

    pub(super) fn do_while(&mut self) -> Parsed<Statement> {
        let body = self.block()?;
        if !self.take_name("while") {
            return self.fault("'while' is missing after 'do'");
        }
        let condition = self.condition()?;
        self.ended(Statement::DoWhile(body, condition))
    }

    pub(super) fn for_statement(&mut self) -> Parsed<Statement> {
        self.expect_sign("(")?;
        self.scopes.open();
        self.quiet += 1;
        let each = self.for_each()?;
        let statement = if let Some((place, kind, list)) = each {
            self.end_of_head()?;
            Statement::ForIn(place, kind, list, self.body()?)
        } else {
            let init = self.for_init()?;
            let condition = if self.is_sign(";") { None } else { Some(self.expression()?) };
            self.expect_sign(";")?;
            let update = if self.is_sign(")") { Vec::new() } else { self.expressions()? };
            self.end_of_head()?;
            let body = self.body()?;
            Statement::For(Box::new(For { init, condition, update: Box::from(update), body }))
        };
        self.scopes.close();
        Ok(statement)
    }

    pub(super) fn end_of_head(&mut self) -> Parsed<()> {
        self.quiet -= 1;
        self.expect_sign(")")
    }

    pub(super) fn expressions(&mut self) -> Parsed<Vec<Expr>> {
        let mut found = vec![self.expression()?];
        while self.take_sign(",") {
            found.push(self.expression()?);
        }
        Ok(found)
    }

    /// `Type x in list`, `x : list`; the position is kept where it is another kind of `for`.
    pub(super) fn for_each(&mut self) -> Parsed<Option<(Place, Type, Expr)>> {
        let start = self.at;
        self.modifiers();
        let typed = self.try_type().map(|(kind, _)| kind);
        let (kind, name) = match (typed, self.token().clone()) {
            (Some(kind), Token::Name(name)) if !matches!(&*name, "in" | "of") => {
                self.at += 1;
                (kind, name)
            }
            _ => {
                self.at = start;
                let Token::Name(name) = self.token().clone() else { return Ok(None) };
                self.at += 1;
                (Type::Any, name)
            }
        };
        if !(self.take_name("in")
            || self.take_sign(":")
            || self.dialect == Dialect::JavaScript && self.take_name("of"))
        {
            self.at = start;
            return Ok(None);
        }
        let list = self.expression()?;
        let slot = self.declare(name)?;
        Ok(Some((Place::Local(slot), kind, list)))
    }

    pub(super) fn for_init(&mut self) -> Parsed<Block> {
        if self.take_sign(";") {
            return Ok(Box::default());
        }
        let line = self.line();
        if let Some(Some(statement)) = self.declaration()? {
            return Ok(Box::from([Line { line, statement }]));
        }
        let found = self.expressions()?;
        self.expect_sign(";")?;
        Ok(found.into_iter().map(|expr| Line { line, statement: Statement::Expr(expr) }).collect())
    }

    pub(super) fn switch(&mut self) -> Parsed<Statement> {
        let subject = self.condition()?;
        self.expect_sign("{")?;
        self.scopes.open();
        let cases = self.loudly(Self::cases)?;
        self.scopes.close();
        Ok(Statement::Switch(subject, Box::from(cases)))
    }

    pub(super) fn cases(&mut self) -> Parsed<Vec<Case>> {
        let is_end = |token: &Token| {
            matches!(token, Token::Sign("}"))
                || matches!(token, Token::Name(name) if matches!(&**name, "case" | "default"))
        };
        let mut cases = Vec::new();
        while !self.take_sign("}") {
            let value = if self.take_name("default") {
                None
            } else if self.take_name("case") {
                Some(self.expression()?)
            } else {
                return self.fault(format!("'case' is missing before {}", self.shown()));
            };
            self.expect_sign(":")?;
            cases.push(Case { value, body: self.statements(is_end)? });
        }
        Ok(cases)
    }

    pub(super) fn try_statement(&mut self) -> Parsed<Statement> {
        if self.is_sign("(") {
            self.refuse("try (...)", "resources in parentheses are not understood");
            self.condition()?;
        }
        let body = self.block()?;
        let mut catches = Vec::new();
        while self.take_name("catch") {
            self.expect_sign("(")?;
            self.scopes.open();
            let classes = self.caught()?;
            let name = self.expect_name()?;
            let slot = self.declare(name)?;
            self.expect_sign(")")?;
            catches.push((classes, slot, self.block()?));
            self.scopes.close();
        }
        let finally = if self.take_name("finally") { Some(self.block()?) } else { None };
        if catches.is_empty() && finally.is_none() {
            return self.fault("'catch' or 'finally' is missing after 'try'");
        }
        Ok(Statement::Try(Box::new(Try { body, catches: Box::from(catches), finally })))
    }

    /// The classes before a caught exception's name; none of them known is none that fits.
    pub(super) fn caught(&mut self) -> Parsed<Box<[Option<Class>]>> {
        let mut classes = Vec::new();
        self.modifiers();
        while !matches!(self.ahead(1), Token::Sign(")")) {
            let found = match self.class_path() {
                Some(found) => found.ok(),
                None => {
                    let name = self.expect_name()?;
                    if &*name == "def" { Some(Class::Object) } else { self.class(&name) }
                }
            };
            classes.push(found);
            if !self.take_sign("|") {
                break;
            }
        }
        Ok(Box::from(classes))
    }

    pub(super) fn assert(&mut self) -> Parsed<Statement> {
        let start = self.lexeme().start;
        let condition = self.expression()?;
        let end = self.lexemes[self.at - 1].end;
        let text = Rc::from(self.text[start..end.max(start)].trim());
        let message =
            if self.take_sign(":") || self.take_sign(",") { Some(self.expression()?) } else { None };
        self.ended(Statement::Assert(condition, text, message))
    }

    /// Notes a class of the script's own and skips it.
    pub(super) fn class_declaration(&mut self, keyword: &str) {
        let name = self.shown();
        self.refuse(
            format!("{keyword} {}", name.trim_matches('\'')),
            "classes of a script's own are not understood: use maps and methods",
        );
        while !matches!(self.token(), Token::Sign("{") | Token::End) {
            self.at += 1;
        }
        let mut depth = 0_usize;
        loop {
            match self.next() {
                Token::Sign("{") => depth += 1,
                Token::Sign("}") if depth <= 1 => return,
                Token::Sign("}") => depth -= 1,
                Token::End => return,
                _ => {}
            }
        }
    }

    /// A variable or a method; `None`, and the position kept, where an expression stands here.
    pub(super) fn declaration(&mut self) -> Parsed<Option<Option<Statement>>> {
        let start = self.at;
        let (is_modified, is_field) = self.modifiers();
        if self.dialect == Dialect::BeanShell && self.is_loose_method() {
            let name = self.expect_name()?;
            return self.method_declaration(name, Type::Any).map(Some);
        }
        let is_keyword = ["def", "var", "let", "const"].iter().any(|word| self.is_declaring(word));
        if is_keyword {
            self.at += 1;
            if self.is_sign("(") {
                return self.declare_many().map(|statement| Some(Some(statement)));
            }
        }
        let kind = match self.try_type_before_name(is_keyword || is_modified) {
            Some(kind) => kind,
            None if is_keyword || is_modified => Type::Any,
            None => {
                self.at = start;
                return Ok(None);
            }
        };
        let name = self.expect_name()?;
        if self.is_sign("(") {
            return self.method_declaration(name, kind).map(Some);
        }
        self.variables(name, kind, is_field).map(|statement| Some(Some(statement)))
    }

    pub(super) fn is_declaring(&self, word: &str) -> bool {
        let has_words = match word {
            "def" => self.dialect == Dialect::Groovy,
            "let" | "const" => self.dialect == Dialect::JavaScript,
            _ => self.dialect != Dialect::BeanShell,
        };
        has_words && self.is_name(word) && matches!(self.ahead(1), Token::Name(_) | Token::Sign("("))
    }

    /// A type with a name after it, and a declaration after that; the position is kept where there is none.
    pub(super) fn try_type_before_name(&mut self, is_certain: bool) -> Option<Type> {
        let start = self.at;
        if matches!(self.dialect, Dialect::JavaScript | Dialect::Jexl) {
            return None;
        }
        if let Some((kind, is_sure)) = self.try_type()
            && matches!(self.token(), Token::Name(name) if !matches!(&**name, "in" | "as" | "instanceof"))
            && (is_sure || is_certain)
            && !self.is_new_line()
            && self.is_declared_after_name(is_certain)
        {
            return Some(kind);
        }
        self.at = start;
        None
    }

    pub(super) fn is_declared_after_name(&self, is_certain: bool) -> bool {
        let next_is_first = self.lexemes.get(self.at + 1).is_some_and(|next| next.is_first);
        let ends = matches!(self.ahead(1), Token::Sign("=" | ";" | "," | "(" | "}" | "[") | Token::End);
        ends || is_certain || next_is_first && self.dialect.lines_end_statements()
    }

    /// `name(a, b) {`: a method of BeanShell without types.
    pub(super) fn is_loose_method(&self) -> bool {
        if !matches!(self.token(), Token::Name(_)) || !matches!(self.ahead(1), Token::Sign("(")) {
            return false;
        }
        let (mut by, mut depth) = (1, 0_usize);
        loop {
            match self.ahead(by) {
                Token::Sign("(") => depth += 1,
                Token::Sign(")") if depth == 1 => return matches!(self.ahead(by + 1), Token::Sign("{")),
                Token::Sign(")") => depth -= 1,
                Token::Sign(";") | Token::End => return false,
                _ => {}
            }
            by += 1;
        }
    }

    /// `a = 1, b, c = 2` after the type.
    pub(super) fn variables(&mut self, first: Rc<str>, kind: Type, is_field: bool) -> Parsed<Statement> {
        let line = self.line();
        let mut lines = Vec::new();
        let mut name = first;
        loop {
            let mut kind = kind.clone();
            while self.is_sign("[") && matches!(self.ahead(1), Token::Sign("]")) {
                self.at += 2;
                kind = Type::Array(Box::new(kind));
            }
            let statement = self.variable(name, kind, is_field)?;
            lines.push(Line { line, statement });
            if !self.take_sign(",") {
                break;
            }
            name = self.expect_name()?;
        }
        self.end_of_statement()?;
        match lines.pop() {
            Some(line) if lines.is_empty() => Ok(line.statement),
            last => Ok(Statement::Block(lines.into_iter().chain(last).collect())),
        }
    }

    pub(super) fn variable(&mut self, name: Rc<str>, kind: Type, is_field: bool) -> Parsed<Statement> {
        let lives_on = is_field || self.dialect.keeps_globals() && self.scopes.is_outermost();
        // The name is there for its own value only where that is a closure, which may call it later.
        let is_closure = self.is_sign("=") && matches!(self.ahead(1), Token::Sign("{"));
        let early = if is_closure && !lives_on { Some(self.declare(name.clone())?) } else { None };
        let value = if self.take_sign("=") { Some(self.initial(&kind)?) } else { None };
        if lives_on {
            let global = self.global(&name)?;
            self.assigned.insert(global);
            self.note_given(Place::Global(global), value.as_ref());
            return Ok(Statement::DeclareGlobal(global, kind, value));
        }
        let slot = early.map_or_else(|| self.declare(name), Ok)?;
        self.note_given(Place::Local(slot), value.as_ref());
        Ok(Statement::Declare(slot, kind, value))
    }

    /// The value of a variable; `{1, 2}` is an array in Java.
    pub(super) fn initial(&mut self, kind: &Type) -> Parsed<Expr> {
        if matches!(kind, Type::Array(_)) && self.is_sign("{") {
            return self.array_items();
        }
        self.expression()
    }

    pub(super) fn declare_many(&mut self) -> Parsed<Statement> {
        self.expect_sign("(")?;
        let mut names = Vec::new();
        while !self.take_sign(")") {
            let is_typed = matches!(self.ahead(1), Token::Name(_));
            if is_typed {
                self.type_name()?;
            }
            names.push(self.expect_name()?);
            if !self.is_sign(")") {
                self.expect_sign(",")?;
            }
        }
        self.expect_sign("=")?;
        let value = self.expression()?;
        let slots = names.into_iter().map(|name| self.declare(name)).collect::<Parsed<Vec<u16>>>()?;
        self.ended(Statement::DeclareMany(Box::from(slots), value))
    }

    pub(super) fn expression_statement(&mut self) -> Parsed<Statement> {
        if let Some(targets) = self.many_targets()? {
            self.expect_sign("=")?;
            return Ok(Statement::AssignMany(Box::from(targets), self.expression()?));
        }
        let expr = self.expression()?;
        Ok(Statement::Expr(self.command(expr)?))
    }

    /// `(a, b)` before `=`; the position is kept where something else stands here.
    pub(super) fn many_targets(&mut self) -> Parsed<Option<Vec<Target>>> {
        let mut by = 1;
        while matches!(self.ahead(by), Token::Name(_)) && matches!(self.ahead(by + 1), Token::Sign(",")) {
            by += 2;
        }
        let is_list = by > 1
            && matches!(self.ahead(by), Token::Name(_))
            && matches!(self.ahead(by + 1), Token::Sign(")"));
        if !self.is_sign("(") || !is_list || !matches!(self.ahead(by + 2), Token::Sign("=")) {
            return Ok(None);
        }
        let mut targets = Vec::new();
        while !self.take_sign(")") {
            self.at += 1;
            let name = self.expect_name()?;
            targets.push(self.target_of_name(&name)?);
        }
        Ok(Some(targets))
    }
}
