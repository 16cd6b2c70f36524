//! Types, imports, and what looks like them.

use super::{JmscriptParser, Parsed};
use crate::dialect::Dialect;
use crate::lexer::Token;
use crate::model::class::{Class, refusal};
use crate::model::library::commons::codec_base64;
use crate::model::tree::Type;
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

/// `import a.b.C`, `import a.b.*`, `import static a.b.C.d`.
pub(super) fn import(p: &mut JmscriptParser<'_>) -> Parsed<()> {
    let is_static = p.tokens.take_name("static");
    let mut path = p.tokens.expect_name()?.to_string();
    while p.tokens.take_sign(".") {
        path.push('.');
        if p.tokens.take_sign("*") {
            path.push('*');
            break;
        }
        path.push_str(&p.tokens.expect_name()?);
    }
    if is_static {
        p.refuse(format!("import static {path}"), "methods are called by their class's name here");
        return Ok(());
    }
    let alias = if p.tokens.take_name("as") { Some(p.tokens.expect_name()?) } else { None };
    // An import alone does no harm: an unknown class is told where it is used.
    if let Some(class) = Class::with_path(&path) {
        let name = alias.unwrap_or_else(|| Rc::from(path.rsplit('.').next().expect("a split has a part")));
        p.names.imports.insert(name, class);
    } else if path.ends_with("codec.binary.*") {
        p.names.imports.insert(Rc::from("Base64"), Class::Known(&codec_base64::KIND));
    } else {
        let last = path.rsplit('.').next().expect("a split has a part");
        p.names.unknown_imports.insert(alias.unwrap_or_else(|| Rc::from(last)));
    }
    Ok(())
}

/// A class by its path, `java.util.Base64`, where one stands here; the position is kept where none does.
pub(super) fn class_path(p: &mut JmscriptParser<'_>) -> Option<Result<Class, String>> {
    let Token::Name(first) = p.tokens.token().clone() else { return None };
    if !ROOTS.contains(&&*first) || p.names.scopes.find(&first).is_some() {
        return None;
    }
    let start = p.tokens.at;
    let mut path = first.to_string();
    p.tokens.at += 1;
    while p.tokens.take_sign(".") {
        let Token::Name(part) = p.tokens.next() else { break };
        path.push('.');
        path.push_str(&part);
        if part.starts_with(char::is_uppercase) {
            return Some(Class::with_path(&path).filter(|_| refusal(&path).is_none()).ok_or(path));
        }
    }
    p.tokens.at = start;
    None
}

/// A type where one is expected.
pub(super) fn type_name(p: &mut JmscriptParser<'_>) -> Parsed<Type> {
    match try_type(p) {
        Some((found, _)) => Ok(found),
        None => p.tokens.fault(format!("a type is missing before {}", p.tokens.shown())),
    }
}

/// A type, and whether its name can be nothing but a type's (`int`, `String`, `def`); the position is kept where
/// nothing like it stands here. A class that is unknown is [`Type::Any`]: its values come from elsewhere.
pub(super) fn try_type(p: &mut JmscriptParser<'_>) -> Option<(Type, bool)> {
    let start = p.tokens.at;
    let (mut found, is_sure) = match class_path(p) {
        Some(class) => (class.map_or(Type::Any, Type::of_class), true),
        None => {
            let Token::Name(name) = p.tokens.token().clone() else { return None };
            p.tokens.at += 1;
            match primitive(&name) {
                Some(primitive) => (primitive, true),
                None => (
                    p.names.class(&name).map_or(Type::Any, Type::of_class),
                    name.starts_with(char::is_uppercase),
                ),
            }
        }
    };
    while p.tokens.is_sign(".")
        && matches!(p.tokens.ahead(1), Token::Name(name) if name.starts_with(char::is_uppercase))
        && is_sure
    {
        // An inner class, `Map.Entry`.
        p.tokens.at += 2;
        found = Type::Any;
    }
    if p.tokens.is_sign("<") && is_sure && !skip_generics(p) {
        p.tokens.at = start;
        return None;
    }
    while p.tokens.is_sign("[") && matches!(p.tokens.ahead(1), Token::Sign("]")) {
        p.tokens.at += 2;
        found = Type::Array(Box::new(found));
    }
    Some((found, is_sure))
}

/// `<String, List<?>>`; false, and nothing skipped, where it is a comparison.
pub(super) fn skip_generics(p: &mut JmscriptParser<'_>) -> bool {
    let start = p.tokens.at;
    let mut depth = 0_i32;
    loop {
        match p.tokens.token() {
            Token::Sign("<") => depth += 1,
            Token::Sign(">") => depth -= 1,
            Token::Sign(">>") => depth -= 2,
            Token::Sign(">>>") => depth -= 3,
            Token::Sign("," | "?" | "." | "[" | "]") | Token::Name(_) => {}
            _ => {
                p.tokens.at = start;
                return false;
            }
        }
        p.tokens.at += 1;
        if depth <= 0 {
            if p.dialect == Dialect::BeanShell {
                p.tokens.at = start;
                p.refuse(
                    "generic types",
                    "BeanShell does not know them and refuses the script: leave <...> away",
                );
                p.tokens.at = start + 1;
                return skip_rest_of_generics(p);
            }
            return true;
        }
    }
}

fn skip_rest_of_generics(p: &mut JmscriptParser<'_>) -> bool {
    let mut depth = 1_i32;
    while depth > 0 && !matches!(p.tokens.token(), Token::End) {
        match p.tokens.next() {
            Token::Sign("<") => depth += 1,
            Token::Sign(">") => depth -= 1,
            Token::Sign(">>") => depth -= 2,
            _ => {}
        }
    }
    true
}

/// Skips `final`, `static` and annotations; whether there was one, and whether it was `@Field`.
pub(super) fn modifiers(p: &mut JmscriptParser<'_>) -> (bool, bool) {
    let mut is_modified = false;
    let mut is_field = false;
    loop {
        let token = p.tokens.token().clone();
        match token {
            Token::Name(name)
                if MODIFIERS.contains(&&*name) && matches!(p.tokens.ahead(1), Token::Name(_)) =>
            {
                p.tokens.at += 1
            }
            Token::Sign("@") => {
                p.tokens.at += 1;
                while matches!(p.tokens.ahead(1), Token::Sign(".")) {
                    p.tokens.at += 2;
                }
                is_field |= p.tokens.is_name("Field");
                if p.tokens.is_name("Grab") || p.tokens.is_name("Grapes") {
                    p.refuse("@Grab", "a script may not load libraries");
                }
                p.tokens.at += 1;
                skip_parentheses(p);
            }
            _ => return (is_modified, is_field),
        }
        is_modified = true;
    }
}

fn skip_parentheses(p: &mut JmscriptParser<'_>) {
    let mut depth = 0_usize;
    while p.tokens.is_sign("(") || depth > 0 && !matches!(p.tokens.token(), Token::End) {
        match p.tokens.next() {
            Token::Sign("(") => depth += 1,
            Token::Sign(")") => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return;
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

/// The type of the elements of an array by its name, where that is a primitive one.
pub(super) fn element_type(name: &str) -> Type {
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
