//! `Jwts.builder()`: header and claims in the order in which they are set, signed and joined by `compact()`.

use super::keys::{ALGORITHM, java_name};
use crate::coding;
use crate::model::abrupt::{Run, thrown};
use crate::model::class::{Class, Kind, gives, listed, row, rows};
use crate::model::library::constant::Constant;
use crate::model::library::lang::bytes::bytes_of;
use crate::model::library::lang::object;
use crate::model::library::security::mac::Secret;
use crate::model::library::util::date::Date;
use crate::model::machine::Machine;
use crate::model::value::json::{self, Writing};
use crate::model::value::{Map, MapKind, Object, Style, Value};
use base64::Engine;
use std::cell::RefCell;
use std::rc::Rc;

/// A token that is being built.
struct Builder {
    header: Rc<Map>,
    claims: Rc<Map>,
    /// The whole text that is signed, in the place of claims.
    payload: RefCell<Option<Rc<str>>>,
    signing: RefCell<Option<Signing>>,
}

/// Algorithm and key of a signature.
#[derive(Clone)]
struct Signing {
    algorithm: Rc<str>,
    key: Rc<[u8]>,
}

impl Object for Builder {
    fn class(&self) -> Class {
        Class::Known(&BUILDER)
    }
}

const NOT_READ: &str = "tokens are built here, and not read";

pub(crate) static KIND: Kind = Kind::new("io.jsonwebtoken", "Jwts").extends(&object::KIND).statics(&[
    gives(
        row("builder", 0, |_, _, _| {
            Ok(Value::object(Builder {
                header: Rc::new(Map::new(MapKind::Plain, [])),
                claims: Rc::new(Map::new(MapKind::Plain, [])),
                payload: RefCell::default(),
                signing: RefCell::default(),
            }))
        }),
        &BUILDER,
    ),
    row("claims", 0, |_, _, _| Ok(Value::Map(Rc::new(Map::new(MapKind::Plain, []))))),
    row("header", 0, |_, _, _| Ok(Value::Map(Rc::new(Map::new(MapKind::Plain, []))))),
    listed("parser", NOT_READ),
    listed("parserBuilder", NOT_READ),
]);

/// A method that sets a claim.
macro_rules! claim {
    ($method:literal, $claim:literal) => {
        gives(row($method, 1, |m, of, args| set(m, of, $claim, &args[0])), &BUILDER)
    };
}

pub(crate) static BUILDER: Kind =
    Kind::new("io.jsonwebtoken", "JwtBuilder").extends(&object::KIND).methods(&[
        claim!("setSubject", "sub"),
        claim!("subject", "sub"),
        claim!("setIssuer", "iss"),
        claim!("issuer", "iss"),
        claim!("setAudience", "aud"),
        claim!("setId", "jti"),
        claim!("id", "jti"),
        claim!("setExpiration", "exp"),
        claim!("expiration", "exp"),
        claim!("setNotBefore", "nbf"),
        claim!("notBefore", "nbf"),
        claim!("setIssuedAt", "iat"),
        claim!("issuedAt", "iat"),
        gives(
            row("claim", 2, |m, of, args| {
                let name = m.text(&args[0])?;
                set(m, of, &name, &args[1])
            }),
            &BUILDER,
        ),
        gives(
            rows("setClaims", 1, 1, |m, of, args| {
                of.receiver::<Builder>().claims.clear();
                set_all(m, of, &args[0])
            }),
            &BUILDER,
        ),
        gives(row("addClaims", 1, |m, of, args| set_all(m, of, &args[0])), &BUILDER),
        gives(
            row("setHeaderParam", 2, |m, of, args| {
                m.take_items(2)?;
                of.receiver::<Builder>().header.put(args[0].clone(), args[1].clone());
                Ok(of.clone())
            }),
            &BUILDER,
        ),
        gives(row("setHeader", 1, set_header), &BUILDER),
        gives(row("setHeaderParams", 1, set_header), &BUILDER),
        gives(
            row("setPayload", 1, |m, of, args| {
                let text = m.text(&args[0])?;
                of.receiver::<Builder>().payload.replace(Some(text));
                Ok(of.clone())
            }),
            &BUILDER,
        ),
        gives(rows("signWith", 1, 2, sign_with), &BUILDER),
        listed("compressWith", "tokens are not compressed here"),
        listed("encryptWith", "tokens are signed here, and not encrypted"),
        row("compact", 0, compact),
    ]);

/// Sets a claim; null takes it away. Dates are seconds where tokens have them so, else milliseconds.
fn set(m: &mut Machine<'_>, of: &Value, name: &str, value: &Value) -> Run {
    m.take_items(2)?;
    let claims = &of.receiver::<Builder>().claims;
    let key = Value::from(name);
    if value.is_null() {
        claims.remove(&key);
        return Ok(of.clone());
    }
    let value = match value.as_object::<Date>() {
        Some(date) if matches!(name, "exp" | "iat" | "nbf") => Value::Long(date.0.get().div_euclid(1_000)),
        Some(date) => Value::Long(date.0.get()),
        None => value.clone(),
    };
    claims.put(key, value);
    Ok(of.clone())
}

fn set_all(m: &mut Machine<'_>, of: &Value, claims: &Value) -> Run {
    let Value::Map(claims) = claims else {
        return m.no_method(of, "setClaims", std::slice::from_ref(claims));
    };
    for (name, value) in claims.to_vec() {
        let name = m.text(&name)?;
        set(m, of, &name, &value)?;
    }
    Ok(of.clone())
}

fn set_header(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let Value::Map(given) = &args[0] else { return m.no_method(of, "setHeader", args) };
    m.take_items(given.len() * 2)?;
    let header = &of.receiver::<Builder>().header;
    for (name, value) in given.to_vec() {
        header.put(name, value);
    }
    Ok(of.clone())
}

/// `(algorithm, key)`, `(key, algorithm)` or `(key)`, whose length then says which. A key as a text is Base64.
fn sign_with(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let algorithm = args.iter().find_map(|arg| Constant::name_of(arg, &ALGORITHM)).cloned();
    let is_key = |arg: &&Value| Constant::name_of(arg, &ALGORITHM).is_none();
    let Some(key) = args.iter().find(is_key) else { return m.no_method(of, "signWith", args) };
    let key = match key.as_object::<Secret>() {
        Some(secret) => secret.0.clone(),
        None if key.as_text().is_some() => {
            let text = m.text(key)?;
            match coding::from_base64(&text, false) {
                Some(bytes) => Rc::from(bytes),
                None => return thrown("IllegalArgumentException", "Illegal base64 character"),
            }
        }
        None => bytes_of(m, key)?,
    };
    let by_length = || match key.len() {
        64.. => "HS512",
        48.. => "HS384",
        _ => "HS256",
    };
    let algorithm = algorithm.unwrap_or_else(|| Rc::from(by_length()));
    of.receiver::<Builder>().signing.replace(Some(Signing { algorithm, key }));
    Ok(of.clone())
}

fn compact(m: &mut Machine<'_>, of: &Value, _: &[Value]) -> Run {
    let builder: &Builder = of.receiver();
    let signing = builder.signing.borrow().clone();
    let header = Map::new(MapKind::Plain, builder.header.to_vec());
    let name = signing.as_ref().map_or("none", |signing| &signing.algorithm);
    header.put(Value::from("alg"), Value::from(name));
    let payload = builder.payload.borrow().clone();
    if payload.is_some() && !builder.claims.is_empty() {
        return thrown(
            "IllegalStateException",
            "Both 'payload' and 'claims' cannot both be specified. Choose either one.",
        );
    }
    let payload = match payload {
        Some(payload) => payload.to_string(),
        None if builder.claims.is_empty() => {
            return thrown("IllegalStateException", "Either 'payload' or 'claims' must be specified.");
        }
        None => written(&builder.claims),
    };
    let engine = coding::engine(true, false);
    let signed = format!("{}.{}", engine.encode(written(&header)), engine.encode(payload));
    m.take_text(signed.len() * 2)?;
    m.work(signed.len() / 16)?;
    let signature = signing
        .and_then(|Signing { algorithm, key }| coding::hmac(java_name(&algorithm)?, &key, signed.as_bytes()));
    m.new_text(format!("{signed}.{}", signature.map_or_else(String::new, |bytes| engine.encode(bytes))))
}

/// A map as JSON, as Jackson writes it: letters beyond ASCII stay as they are.
fn written(map: &Map) -> String {
    let whole = Value::Map(Rc::new(Map::new(MapKind::Plain, map.to_vec())));
    json::to_json_by(&whole, Writing { style: Style::Java, quote })
}

fn quote(text: &str, out: &mut String) {
    json::write_quoted(text, out, |c, out| match c {
        c if c < ' ' => out.push_str(&format!("\\u{:04X}", u32::from(c))),
        c => out.push(c),
    });
}
