//! Operands: literals, names, calls, properties, elements, lists, maps and closures.

use super::{Parsed, Parser};
use crate::class::{Class, refusal};
use crate::dialect::Dialect;
use crate::lexer::{Part, Token, tokens};
use crate::method::Method;
use crate::tree::{Binding, Call, Expr, FunctionCall, Literal, Piece, Place, Property, StaticCall, Type};
use std::rc::Rc;

impl Parser<'_> {
    /// An operand with all that hangs on it.
    pub(super) fn postfix(&mut self) -> Parsed<Expr> {
        let mut of = self.primary()?;
        let mut chain = 0;
        loop {
            chain += 1;
            if chain > 200 {
                return self.fault("a chain of more than 200 calls");
            }
            let Token::Sign(sign) = *self.token() else { return Ok(of) };
            of = match sign {
                "." | "?." | "*." | ".&" | "::" => {
                    self.at += 1;
                    self.member(of, sign)?
                }
                "[" if !self.is_new_line() => self.index(of, false)?,
                "?" if self.is_safe_index() => {
                    self.at += 1;
                    self.index(of, true)?
                }
                "(" if !self.is_new_line() => {
                    let args = self.arguments()?;
                    self.apply(of, args)?
                }
                "{" if self.takes_closure(&of) => {
                    let args = vec![self.closure()?];
                    self.apply(of, args)?
                }
                "++" | "--" if !self.is_new_line() => return self.postfix_step(of, sign),
                _ => return Ok(of),
            };
        }
    }

    /// `a?[0]`, which no ternary looks like: the bracket is glued to the question mark and that to the name.
    fn is_safe_index(&self) -> bool {
        let next = self.lexemes.get(self.at + 1);
        self.dialect == Dialect::Groovy
            && self.lexeme().is_glued
            && next.is_some_and(|next| next.is_glued && matches!(next.token, Token::Sign("[")))
    }

    /// True if a brace here is a closure given to what stands before it.
    fn takes_closure(&self, of: &Expr) -> bool {
        let can = matches!(
            of,
            Expr::Call(_)
                | Expr::Function(_)
                | Expr::Static(_)
                | Expr::Property(_)
                | Expr::Place(_)
                | Expr::Apply(_)
        );
        can && self.dialect == Dialect::Groovy && !self.lexeme().is_first
    }

    /// The call of what was read, or one more argument of the call that it is.
    fn apply(&mut self, of: Expr, args: Vec<Expr>) -> Parsed<Expr> {
        let is_closure = matches!(args.as_slice(), [Expr::Closure(_)]);
        let before = self.at.saturating_sub(1);
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
            Expr::Property(property) => self.call_of_property(*property, args, before),
            of => Expr::Apply(Box::new((of, Box::from(args)))),
        })
    }

    /// `a.b { … }` and `a.b x` are calls of `b`.
    fn call_of_property(&mut self, property: Property, args: Vec<Expr>, at: usize) -> Expr {
        let line = self.lexemes[at].line;
        self.check_available(&property.of, &property.name);
        let method = self.method(&property.name, &property.of);
        let Property { of, name, is_safe, is_spread, .. } = property;
        Expr::Call(Box::new(Call { of, method, name, args: Box::from(args), is_safe, is_spread, line }))
    }

    /// Parses the member that follows a dot.
    fn member(&mut self, of: Expr, sign: &str) -> Parsed<Expr> {
        let (is_safe, is_spread) = (sign == "?.", sign == "*.");
        let line = self.line();
        let name = match self.next() {
            Token::Name(name) => name,
            Token::Text(text) => text,
            Token::Sign("@") => return self.member(of, sign),
            Token::Template(parts) => {
                let key = self.template(&parts)?;
                return Ok(Expr::Index(Box::new((of, key)), is_safe));
            }
            Token::Sign("(") => {
                let key = self.quietly(Self::expression)?;
                self.expect_sign(")")?;
                return Ok(Expr::Index(Box::new((of, key)), is_safe));
            }
            _ => {
                self.at -= 1;
                return self.fault(format!("a name is missing after '{sign}'"));
            }
        };
        self.check_member(&of, &name);
        let is_call = self.is_sign("(") && !self.is_new_line();
        if is_call {
            self.check_available(&of, &name);
        }
        if sign == ".&" || sign == "::" {
            return Ok(match self.method(&name, &of) {
                Some(method) => Expr::MethodPointer(Box::new(of), method),
                None => of,
            });
        }
        if is_call {
            return self.method_call(of, name, (is_safe, is_spread), line);
        }
        if let Expr::Class(class) = of {
            return Ok(constant(class, name));
        }
        let is_set = self.is_sign("=") && !self.is_new_line();
        self.check_available_property(&of, if is_set { "set" } else { "get" }, &name);
        let (getter, setter) = (getter(&name), Method::named(&format!("set{}", capitalized(&name))));
        Ok(Expr::Property(Box::new(Property { of, name, getter, setter, is_safe, is_spread })))
    }

    fn method_call(&mut self, of: Expr, name: Rc<str>, how: (bool, bool), line: u32) -> Parsed<Expr> {
        let at = self.at;
        let args = self.arguments()?;
        let end = std::mem::replace(&mut self.at, at);
        let method = self.method(&name, &of);
        self.at = end;
        let args = Box::from(args);
        Ok(match (of, method) {
            (Expr::Class(class), Some(method)) => {
                Expr::Static(Box::new(StaticCall { class, method, args, line }))
            }
            (of, method) => {
                let (is_safe, is_spread) = how;
                Expr::Call(Box::new(Call { of, method, name, args, is_safe, is_spread, line }))
            }
        })
    }

    /// Notes what leads out of the sandbox by name.
    fn check_member(&mut self, of: &Expr, name: &str) {
        let is_text_call = matches!(of, Expr::Literal(Literal::Text(_)) | Expr::Template(_));
        let reason = match name {
            "execute" if is_text_call => "a script may not start programs",
            "classLoader" | "getClassLoader" | "metaClass" | "getMetaClass" | "forName"
                if !matches!(of, Expr::Class(Class::Charset)) =>
            {
                "reflection is not available"
            }
            "exit" if matches!(of, Expr::Class(Class::System)) => {
                "a script may not end the program; use ctx.getEngine().askThreadsToStop()"
            }
            "setProperty" | "load" | "loadLibrary" if matches!(of, Expr::Class(Class::System)) => {
                "a script may not change the process"
            }
            "getenv" if matches!(of, Expr::Class(Class::System)) => {
                "a script may not read the environment; pass values with -J"
            }
            _ => return,
        };
        self.refuse(name.to_owned(), reason);
    }

    fn index(&mut self, of: Expr, is_safe: bool) -> Parsed<Expr> {
        self.expect_sign("[")?;
        let mut items = self.quietly(|parser| parser.items("]"))?;
        self.expect_sign("]")?;
        let index = match items.pop() {
            Some(index) if items.is_empty() => index,
            Some(last) => Expr::List(items.into_iter().chain([last]).collect()),
            None => return self.fault("an index is missing in '[]'"),
        };
        Ok(Expr::Index(Box::new((of, index)), is_safe))
    }

    /// `(a, b, name: c)`; named arguments become a map before the others.
    pub(super) fn arguments(&mut self) -> Parsed<Vec<Expr>> {
        self.expect_sign("(")?;
        let args = self.quietly(|parser| parser.items(")"))?;
        self.expect_sign(")")?;
        Ok(args)
    }

    fn items(&mut self, end: &str) -> Parsed<Vec<Expr>> {
        let (mut items, mut named) = (Vec::new(), Vec::new());
        while !self.is_sign(end) {
            if self.dialect == Dialect::Groovy && self.is_key() {
                named.push(self.entry()?);
            } else if self.take_sign("*") {
                items.push(Expr::Spread(Box::new(self.expression()?)));
            } else {
                items.push(self.expression()?);
            }
            if !self.take_sign(",") {
                break;
            }
        }
        if !named.is_empty() {
            items.insert(0, Expr::Map(Box::from(named)));
        }
        Ok(items)
    }

    fn is_key(&self) -> bool {
        matches!(self.token(), Token::Name(_) | Token::Text(_)) && matches!(self.ahead(1), Token::Sign(":"))
    }

    /// `key: value`.
    fn entry(&mut self) -> Parsed<(Expr, Expr)> {
        let key = match self.token().clone() {
            Token::Name(name) if matches!(self.ahead(1), Token::Sign(":")) => {
                self.at += 1;
                self.keys.insert(name.clone());
                Expr::Literal(Literal::Text(name))
            }
            Token::Text(text) if matches!(self.ahead(1), Token::Sign(":")) => {
                self.at += 1;
                self.keys.insert(text.clone());
                Expr::Literal(Literal::Text(text))
            }
            _ => self.expression()?,
        };
        self.expect_sign(":")?;
        Ok((key, self.expression()?))
    }

    fn primary(&mut self) -> Parsed<Expr> {
        match self.token().clone() {
            Token::Literal(literal) => {
                self.at += 1;
                Ok(Expr::Literal(literal))
            }
            Token::Text(text) => {
                self.at += 1;
                Ok(Expr::Literal(Literal::Text(self.text_of(text))))
            }
            Token::Template(parts) => {
                self.at += 1;
                self.template(&parts)
            }
            Token::Regex(text, flags) => {
                self.at += 1;
                let flags = if flags.contains('i') { 2 } else { 0 };
                let args = [Expr::Literal(Literal::Text(text)), Expr::Literal(Literal::Int(flags))];
                Ok(Expr::Static(Box::new(StaticCall {
                    class: Class::Pattern,
                    method: Method::compile,
                    args: Box::from(args),
                    line: self.line(),
                })))
            }
            Token::Name(name) => self.named(name),
            Token::Sign(sign) => self.bracketed(sign),
            Token::End => self.fault("an expression is missing at the end of the script"),
        }
    }

    fn bracketed(&mut self, sign: &str) -> Parsed<Expr> {
        match sign {
            "(" => self.parenthesized(),
            "[" if self.dialect.has_collections() => self.list_or_map(),
            "{" => match self.dialect {
                Dialect::Groovy => self.closure(),
                Dialect::JavaScript | Dialect::Jexl => self.object(),
                Dialect::BeanShell => self.array_items(),
            },
            _ => self.fault(format!("an expression is missing before '{sign}'")),
        }
    }

    fn parenthesized(&mut self) -> Parsed<Expr> {
        if let Some(arrow) = self.lambda_after_parentheses() {
            return self.lambda(arrow);
        }
        self.expect_sign("(")?;
        let inner = self.quietly(|parser| {
            let inner = parser.expression()?;
            parser.command(inner)
        })?;
        self.expect_sign(")")?;
        Ok(inner)
    }

    fn lambda_after_parentheses(&self) -> Option<&'static str> {
        let arrow = self.arrow()?;
        let mut by = 1;
        while matches!(self.ahead(by), Token::Name(_) | Token::Sign(",")) {
            by += 1;
        }
        let is_lambda = matches!(self.ahead(by), Token::Sign(")"))
            && matches!(self.ahead(by + 1), Token::Sign(sign) if *sign == arrow);
        is_lambda.then_some(arrow)
    }

    fn arrow(&self) -> Option<&'static str> {
        match self.dialect {
            Dialect::Groovy => Some("->"),
            Dialect::JavaScript => Some("=>"),
            _ => None,
        }
    }

    fn list_or_map(&mut self) -> Parsed<Expr> {
        self.expect_sign("[")?;
        self.quietly(|parser| {
            if parser.take_sign(":") {
                parser.expect_sign("]")?;
                return Ok(Expr::Map(Box::default()));
            }
            let mut items = Vec::new();
            let mut entries = Vec::new();
            while !parser.is_sign("]") {
                parser.list_item(&mut items, &mut entries)?;
                if !parser.take_sign(",") {
                    break;
                }
            }
            parser.expect_sign("]")?;
            match (items.is_empty(), entries.is_empty()) {
                (_, true) => Ok(Expr::List(Box::from(items))),
                (true, false) => Ok(Expr::Map(Box::from(entries))),
                (false, false) => parser.fault("a list and a map in one"),
            }
        })
    }

    fn list_item(&mut self, items: &mut Vec<Expr>, entries: &mut Vec<(Expr, Expr)>) -> Parsed<()> {
        if self.is_key() {
            entries.push(self.entry()?);
            return Ok(());
        }
        if self.take_sign("*") {
            items.push(Expr::Spread(Box::new(self.expression()?)));
            return Ok(());
        }
        let item = self.expression()?;
        if self.take_sign(":") {
            entries.push((item, self.expression()?));
        } else {
            items.push(item);
        }
        Ok(())
    }

    /// `{a: 1}`, JavaScript's and JEXL's map.
    fn object(&mut self) -> Parsed<Expr> {
        self.expect_sign("{")?;
        self.quietly(|parser| {
            let mut entries = Vec::new();
            if parser.take_sign(":") {
                parser.expect_sign("}")?;
                return Ok(Expr::Map(Box::default()));
            }
            while !parser.is_sign("}") {
                entries.push(parser.entry()?);
                if !parser.take_sign(",") {
                    break;
                }
            }
            parser.expect_sign("}")?;
            Ok(Expr::Map(Box::from(entries)))
        })
    }

    /// `{1, 2}`, Java's array.
    pub(super) fn array_items(&mut self) -> Parsed<Expr> {
        self.expect_sign("{")?;
        let items = self.quietly(|parser| parser.items("}"))?;
        self.expect_sign("}")?;
        let array = Type::Array(Box::new(Type::Any));
        Ok(Expr::Cast(array, Box::new(Expr::List(Box::from(items))), true))
    }

    fn named(&mut self, name: Rc<str>) -> Parsed<Expr> {
        if let Some(class) = self.class_path() {
            return Ok(match class {
                Ok(class) => Expr::Class(class),
                Err(path) => {
                    self.refuse_class(&path);
                    Expr::Literal(Literal::Null)
                }
            });
        }
        if let Some(arrow) = self.arrow()
            && matches!(self.ahead(1), Token::Sign(sign) if *sign == arrow)
        {
            return self.lambda(arrow);
        }
        let line = self.line();
        self.at += 1;
        match &*name {
            "new" if matches!(self.token(), Token::Name(_)) => return self.construct(),
            "function" if self.dialect == Dialect::JavaScript && self.is_sign("(") => {
                return self.function_expression();
            }
            "this" | "owner" | "delegate" if self.dialect == Dialect::Groovy => {
                return Ok(Expr::Place(Place::Bound(Binding::Variables)));
            }
            "this" | "super" => return Ok(Expr::Place(Place::Bound(Binding::Bsh))),
            "evaluate" | "source" | "eval" | "exec"
                if self.is_sign("(") && self.scopes.find(&name).is_none() =>
            {
                self.at -= 1;
                self.refuse(format!("{name}()"), "a script may not run text or files as code, or programs");
                self.at += 1;
            }
            "switch" | "synchronized" | "goto" | "else" | "catch" | "case" | "while" | "for" | "try"
            | "def" | "import" => {
                self.at -= 1;
                return self.fault(format!("'{name}' cannot stand here"));
            }
            _ => {}
        }
        let is_call = self.is_sign("(") && !self.is_new_line();
        let is_given_closure =
            self.is_sign("{") && self.dialect == Dialect::Groovy && !self.lexeme().is_first;
        if is_call || is_given_closure {
            return self.call_of_name(name, line, is_call);
        }
        self.check_class(&name);
        self.name(&name)
    }

    /// Notes a name that can only be a class, and is none that is known.
    fn check_class(&mut self, name: &Rc<str>) {
        let is_followed = self.is_sign(".") && matches!(self.ahead(1), Token::Name(_));
        let is_classlike = name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase);
        if is_followed && is_classlike && self.scopes.find(name).is_none() && !self.globals.contains(name) {
            let known = super::binding(name, self.dialect).is_some() || self.class(name).is_some();
            if !known || refusal(name).is_some() {
                self.at -= 1;
                self.refuse_class(name);
                self.at += 1;
            }
        }
    }

    fn call_of_name(&mut self, name: Rc<str>, line: u32, has_parentheses: bool) -> Parsed<Expr> {
        let args = if has_parentheses { self.arguments()? } else { vec![self.closure()?] };
        if let Some(place) = self.scopes.find(&name) {
            return Ok(Expr::Apply(Box::new((Expr::Place(place), Box::from(args)))));
        }
        let id = self.call_id(&name)?;
        Ok(Expr::Function(Box::new(FunctionCall { name, id, args: Box::from(args), line })))
    }

    /// Parses the construction that follows `new`.
    fn construct(&mut self) -> Parsed<Expr> {
        let start = self.at;
        let path = match self.class_path() {
            Some(path) => path,
            None => {
                let name = self.expect_name()?;
                let found = if refusal(&name).is_some() { None } else { self.class(&name) };
                found.ok_or(name.to_string())
            }
        };
        if let (true, Err(name)) = (self.is_sign("["), &path) {
            // Arrays of primitive types, whose names are no classes.
            let name = name.clone();
            self.at = start;
            let kind = match self.next() {
                Token::Name(_) => self.element_type(&name),
                _ => Type::Any,
            };
            return self.new_array(kind);
        }
        let class = path.unwrap_or_else(|name| {
            self.at -= 1;
            self.refuse_class(&name);
            self.at += 1;
            Class::Object
        });
        self.uses_builder |= class == Class::JsonBuilder;
        if self.is_sign("<") {
            self.skip_generics();
        }
        if self.is_sign("[") {
            return self.new_array(Type::of_class(class));
        }
        let args = if self.is_sign("(") { self.arguments()? } else { Vec::new() };
        if self.is_sign("{") && !self.lexeme().is_first && self.dialect != Dialect::JavaScript {
            self.refuse(
                format!("new {}() {{...}}", class.simple_name()),
                "classes of a script's own are not understood",
            );
            self.closure()?;
        }
        Ok(Expr::New(class, Box::from(args)))
    }

    fn element_type(&mut self, name: &str) -> Type {
        match name {
            "int" => Type::Int,
            "long" => Type::Long,
            "double" => Type::Double,
            "float" => Type::Float,
            "byte" => Type::Byte,
            "short" => Type::Short,
            "char" => Type::Char,
            "boolean" => Type::Bool,
            _ => Type::Any,
        }
    }

    /// `[n]`, `[n][m]`, or `[] {1, 2}` after the type of the elements.
    fn new_array(&mut self, kind: Type) -> Parsed<Expr> {
        let mut sizes = Vec::new();
        let mut depth = 0;
        while self.take_sign("[") {
            depth += 1;
            if !self.is_sign("]") {
                sizes.push(self.quietly(Self::expression)?);
            }
            self.expect_sign("]")?;
        }
        if self.is_sign("{") && sizes.is_empty() {
            let whole = (0..depth).fold(kind, |kind, _| Type::Array(Box::new(kind)));
            let items = self.array_items()?;
            return Ok(Expr::Cast(whole, Box::new(items), true));
        }
        if sizes.is_empty() {
            return self.fault("an array without a size");
        }
        Ok(Expr::NewArray(kind, Box::from(sizes)))
    }

    /// A text with expressions in it: each is read where it stands, in the scope around it.
    fn template(&mut self, parts: &[Part]) -> Parsed<Expr> {
        let mut pieces = Vec::with_capacity(parts.len());
        for part in parts {
            pieces.push(match part {
                Part::Text(text) => Piece::Text(text.clone()),
                Part::Code(from, to) => self.nested(|parser| parser.placeholder(*from, *to))?,
            });
        }
        Ok(Expr::Template(Box::from(pieces)))
    }

    fn placeholder(&mut self, from: usize, to: usize) -> Parsed<Piece> {
        let lexemes = tokens(self.text, from, to, self.dialect)?;
        let outer = (
            std::mem::replace(&mut self.lexemes, lexemes),
            std::mem::take(&mut self.at),
            std::mem::take(&mut self.quiet),
        );
        let piece = self.placeholder_value();
        (self.lexemes, self.at, self.quiet) = outer;
        piece
    }

    fn placeholder_value(&mut self) -> Parsed<Piece> {
        if matches!(self.token(), Token::End) {
            return Ok(Piece::Value(Expr::Literal(Literal::Null)));
        }
        if self.take_sign("->") {
            let line = self.line();
            let lazy = self.lazy_closure(line)?;
            return Ok(Piece::Lazy(lazy));
        }
        let value = self.quietly(|parser| {
            let value = parser.expression()?;
            parser.command(value)
        })?;
        self.take_sign(";");
        match self.token() {
            Token::End => Ok(Piece::Value(value)),
            _ => self.fault(format!("{} cannot stand in a placeholder", self.shown())),
        }
    }

    /// The arguments of a command without parentheses, `log.info "x", y`, where they follow.
    pub(super) fn command(&mut self, of: Expr) -> Parsed<Expr> {
        if !self.starts_argument() {
            return Ok(of);
        }
        let name = match &of {
            Expr::Property(_) => None,
            Expr::Place(_) => match &self.lexemes[self.at - 1].token {
                Token::Name(name) => Some(name.clone()),
                _ => return Ok(of),
            },
            _ => return Ok(of),
        };
        let line = self.line();
        let mut args = vec![self.expression()?];
        while self.take_sign(",") {
            args.push(self.expression()?);
        }
        match (name, of) {
            (None, Expr::Property(property)) => {
                let before = self.at - 1;
                Ok(self.call_of_property(*property, args, before))
            }
            (Some(name), Expr::Place(Place::Global(_))) => {
                let id = self.call_id(&name)?;
                Ok(Expr::Function(Box::new(FunctionCall { name, id, args: Box::from(args), line })))
            }
            (_, of) => Ok(Expr::Apply(Box::new((of, Box::from(args))))),
        }
    }

    /// True if an argument follows on the same line.
    pub(super) fn starts_argument(&self) -> bool {
        if self.dialect != Dialect::Groovy || self.lexeme().is_first {
            return false;
        }
        match self.token() {
            Token::Name(name) => !matches!(&**name, "in" | "as" | "instanceof" | "else" | "while"),
            Token::Literal(_) | Token::Text(_) | Token::Template(_) => true,
            _ => false,
        }
    }
}

/// A constant of a class, or the class itself.
fn constant(class: Class, name: Rc<str>) -> Expr {
    match &*name {
        "class" => Expr::Class(class),
        "out" | "err" if class == Class::System => Expr::Place(Place::Bound(Binding::Out)),
        _ => Expr::Constant(class, name),
    }
}

/// The method that reads a property.
fn getter(name: &str) -> Option<Method> {
    let capitalized = capitalized(name);
    Method::named(&format!("get{capitalized}")).or_else(|| Method::named(&format!("is{capitalized}")))
}

pub(super) fn capitalized(name: &str) -> String {
    let mut chars = name.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
