//! Types, imports, and what looks like them.

use super::{Parsed, Parser};
use crate::class::{Class, refusal};
use crate::dialect::Dialect;
use crate::lexer::Token;
use crate::tree::Type;
use std::rc::Rc;

const MODIFIERS: [&str; 10] = [
    "final",
    "static",
    "public",
    "private",
    "protected",
    "transient",
    "volatile",
    "synchronized",
    "abstract",
    "native",
];

/// Packages where a path of names may begin.
const ROOTS: [&str; 7] = ["java", "javax", "groovy", "org", "com", "net", "io"];

impl Parser<'_> {
    /// `import a.b.C`, `import a.b.*`, `import static a.b.C.d`.
    pub(super) fn import(&mut self) -> Parsed<()> {
        let is_static = self.take_name("static");
        let mut path = self.expect_name()?.to_string();
        while self.take_sign(".") {
            path.push('.');
            if self.take_sign("*") {
                path.push('*');
                break;
            }
            path.push_str(&self.expect_name()?);
        }
        if is_static {
            self.refuse(format!("import static {path}"), "methods are called by their class's name here");
            return Ok(());
        }
        let alias = if self.take_name("as") { Some(self.expect_name()?) } else { None };
        // An import alone does no harm: an unknown class is told where it is used.
        if let Some(class) = Class::with_path(&path) {
            let name = alias.unwrap_or_else(|| Rc::from(path.rsplit('.').next().unwrap_or_default()));
            self.imports.insert(name, class);
        } else if path.ends_with("codec.binary.*") {
            self.imports.insert(Rc::from("Base64"), Class::CodecBase64);
        }
        Ok(())
    }

    /// A class by its path, `java.util.Base64`, where one stands here; the position is kept where none does.
    pub(super) fn class_path(&mut self) -> Option<Result<Class, String>> {
        let Token::Name(first) = self.token().clone() else { return None };
        if !ROOTS.contains(&&*first) || self.scopes.find(&first).is_some() {
            return None;
        }
        let start = self.at;
        let mut path = first.to_string();
        self.at += 1;
        while self.take_sign(".") {
            let Token::Name(part) = self.next() else { break };
            path.push('.');
            path.push_str(&part);
            if part.starts_with(char::is_uppercase) {
                return Some(Class::with_path(&path).filter(|_| refusal(&path).is_none()).ok_or(path));
            }
        }
        self.at = start;
        None
    }

    /// A type where one is expected.
    pub(super) fn type_name(&mut self) -> Parsed<Type> {
        match self.try_type() {
            Some((found, _)) => Ok(found),
            None => self.fault(format!("a type is missing before {}", self.shown())),
        }
    }

    /// A type, and whether its name can be nothing but a type's (`int`, `String`, `def`); the position is kept where
    /// nothing like it stands here. A class that is unknown is [`Type::Any`]: its values come from elsewhere.
    pub(super) fn try_type(&mut self) -> Option<(Type, bool)> {
        let start = self.at;
        let (mut found, is_sure) = match self.class_path() {
            Some(class) => (class.map_or(Type::Any, Type::of_class), true),
            None => {
                let Token::Name(name) = self.token().clone() else { return None };
                self.at += 1;
                match primitive(&name) {
                    Some(primitive) => (primitive, true),
                    None => (
                        self.class(&name).map_or(Type::Any, Type::of_class),
                        name.starts_with(char::is_uppercase),
                    ),
                }
            }
        };
        while self.is_sign(".")
            && matches!(self.ahead(1), Token::Name(name) if name.starts_with(char::is_uppercase))
            && is_sure
        {
            // An inner class, `Map.Entry`.
            self.at += 2;
            found = Type::Any;
        }
        if self.is_sign("<") && is_sure && !self.skip_generics() {
            self.at = start;
            return None;
        }
        while self.is_sign("[") && matches!(self.ahead(1), Token::Sign("]")) {
            self.at += 2;
            found = Type::Array(Box::new(found));
        }
        Some((found, is_sure))
    }

    /// `<String, List<?>>`; false, and nothing skipped, where it is a comparison.
    pub(super) fn skip_generics(&mut self) -> bool {
        let (start, mut depth) = (self.at, 0_i32);
        loop {
            match self.token() {
                Token::Sign("<") => depth += 1,
                Token::Sign(">") => depth -= 1,
                Token::Sign(">>") => depth -= 2,
                Token::Sign(">>>") => depth -= 3,
                Token::Sign("," | "?" | "." | "[" | "]") | Token::Name(_) => {}
                _ => {
                    self.at = start;
                    return false;
                }
            }
            self.at += 1;
            if depth <= 0 {
                if self.dialect == Dialect::BeanShell {
                    self.at = start;
                    self.refuse(
                        "generic types",
                        "BeanShell does not know them and refuses the script: leave <...> away",
                    );
                    self.at = start + 1;
                    return self.skip_rest_of_generics();
                }
                return true;
            }
        }
    }

    fn skip_rest_of_generics(&mut self) -> bool {
        let mut depth = 1_i32;
        while depth > 0 && !matches!(self.token(), Token::End) {
            match self.next() {
                Token::Sign("<") => depth += 1,
                Token::Sign(">") => depth -= 1,
                Token::Sign(">>") => depth -= 2,
                _ => {}
            }
        }
        true
    }

    /// Skips `final`, `static` and annotations; whether there was one, and whether it was `@Field`.
    pub(super) fn modifiers(&mut self) -> (bool, bool) {
        let (mut is_modified, mut is_field) = (false, false);
        loop {
            let token = self.token().clone();
            match token {
                Token::Name(name)
                    if MODIFIERS.contains(&&*name) && matches!(self.ahead(1), Token::Name(_)) =>
                {
                    self.at += 1
                }
                Token::Sign("@") => {
                    self.at += 1;
                    while matches!(self.ahead(1), Token::Sign(".")) {
                        self.at += 2;
                    }
                    is_field |= self.is_name("Field");
                    if self.is_name("Grab") || self.is_name("Grapes") {
                        self.refuse("@Grab", "a script may not load libraries");
                    }
                    self.at += 1;
                    self.skip_parentheses();
                }
                _ => return (is_modified, is_field),
            }
            is_modified = true;
        }
    }

    fn skip_parentheses(&mut self) {
        let mut depth = 0_usize;
        while self.is_sign("(") || depth > 0 && !matches!(self.token(), Token::End) {
            match self.next() {
                Token::Sign("(") => depth += 1,
                Token::Sign(")") => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return;
            }
        }
    }
}

fn primitive(name: &str) -> Option<Type> {
    Some(match name {
        "def" | "var" | "void" => Type::Any,
        "boolean" => Type::Bool,
        "byte" => Type::Byte,
        "short" => Type::Short,
        "int" => Type::Int,
        "long" => Type::Long,
        "float" => Type::Float,
        "double" => Type::Double,
        "char" => Type::Char,
        _ => return None,
    })
}
