//! A tree as a serde deserializer: what does not fit is told with its place and, where a name is wrong, with the name that was
//! probably meant.

use super::node::{Fault, Node, NodeKey, NodeValue};
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, Expected, IntoDeserializer, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};
use std::fmt;

impl std::error::Error for Fault {}

impl fmt::Display for Fault {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.why)
    }
}

impl Error for Fault {
    fn custom<Text: fmt::Display>(text: Text) -> Fault {
        Fault { at: None, why: text.to_string(), unknown_name: false }
    }

    /// Without the text that stands there, which may be a secret.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what serde names better than we would, it names")]
    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Fault {
        let found = match found {
            Unexpected::Str(_) => "a text".to_owned(),
            Unexpected::Map => "a table".to_owned(),
            Unexpected::Seq => "a list".to_owned(),
            Unexpected::Unit => "nothing".to_owned(),
            other => other.to_string(),
        };
        Fault::custom(format!("here stands {found}, and it must be {}", wanted(expected)))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Fault {
        let what = if let Unexpected::Str(_) = found { "this text".to_owned() } else { found.to_string() };
        Fault::custom(format!("{what} is not {}", wanted(expected)))
    }

    fn unknown_field(name: &str, known: &'static [&'static str]) -> Fault {
        Fault { unknown_name: true, ..Fault::custom(unknown("field", name, known)) }
    }

    fn unknown_variant(name: &str, known: &'static [&'static str]) -> Fault {
        Fault::custom(unknown("name", name, known))
    }

    fn missing_field(name: &'static str) -> Fault {
        Fault::custom(format!("`{name}` is missing here"))
    }
}

fn wanted(expected: &dyn Expected) -> String {
    match expected.to_string().as_str() {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number from 0".to_owned(),
        "i64" | "i32" => "a whole number".to_owned(),
        "f64" | "f32" => "a number".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a string" => "text".to_owned(),
        "a sequence" => "a list".to_owned(),
        other => other.strip_prefix("struct ").map_or(other.to_owned(), |_| "a table".to_owned()),
    }
}

fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    let all = known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match (meant(name, known.iter().copied()), known) {
        (Some(meant), _) => format!("unknown {what} `{name}`: did you mean `{meant}`? There are {all}"),
        (None, []) => format!("unknown {what} `{name}`: there are none here"),
        (None, _) => format!("unknown {what} `{name}`: there are {all}"),
    }
}

/// The name among these that was probably meant.
pub(crate) fn meant<'a>(typed: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |name: &str| name.to_ascii_lowercase().replace('-', "_");
    let typed = plain(typed);
    let near = known.map(|name| (strsim::jaro_winkler(&typed, &plain(name)), name));
    let best = near.max_by(|one, other| one.0.total_cmp(&other.0))?;
    (best.0 > 0.8).then_some(best.1)
}

impl<'de> Deserializer<'de> for &'de Node {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let read = match &self.value {
            NodeValue::Null => visitor.visit_unit(),
            NodeValue::Bool(yes) => visitor.visit_bool(*yes),
            NodeValue::Integer(number) => integer(*number, visitor),
            NodeValue::Float(number) => visitor.visit_f64(*number),
            NodeValue::Text(text) => visitor.visit_borrowed_str(text),
            NodeValue::List(items) => visitor.visit_seq(Items(items.iter())),
            NodeValue::Table(entries) => visitor.visit_map(Entries { rest: entries.iter(), value: None }),
        };
        read.map_err(|fault| fault.or_at(self.at))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if let NodeValue::Null = self.value { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self).map_err(|fault| fault.or_at(self.at))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let variant = match &self.value {
            NodeValue::Text(name) => Variant { name, named_at: self, value: None },
            NodeValue::Table(entries) => match entries.as_slice() {
                [(key, value)] => Variant { name: &key.name, named_at: self, value: Some((key, value)) },
                _ => {
                    let names = known.join("`, `");
                    let count = entries.len();
                    let why = format!("this table has {count} entries, and must have one of `{names}`");
                    return Err(Fault::new(self.at, why));
                }
            },
            NodeValue::Null
            | NodeValue::Bool(_)
            | NodeValue::Integer(_)
            | NodeValue::Float(_)
            | NodeValue::List(_) => {
                let why =
                    format!("here stands {}, and it must be one of `{}`", self.kind(), known.join("`, `"));
                return Err(Fault::new(self.at, why));
            }
        };
        visitor.visit_enum(variant).map_err(|fault| fault.or_at(self.at))
    }

    // A value that cannot fit is refused here, so that no type is compiled for all kinds of values.

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.deserialize_map(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let read = if let NodeValue::Table(entries) = &self.value {
            visitor.visit_map(Entries { rest: entries.iter(), value: None })
        } else {
            Err(self.does_not_fit(&visitor))
        };
        read.map_err(|fault| fault.or_at(self.at))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let read = if let NodeValue::List(items) = &self.value {
            visitor.visit_seq(Items(items.iter()))
        } else {
            Err(self.does_not_fit(&visitor))
        };
        read.map_err(|fault| fault.or_at(self.at))
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let read = if let NodeValue::Text(text) = &self.value {
            visitor.visit_borrowed_str(text)
        } else {
            Err(self.does_not_fit(&visitor))
        };
        read.map_err(|fault| fault.or_at(self.at))
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let read = if let NodeValue::Bool(yes) = &self.value {
            visitor.visit_bool(*yes)
        } else {
            Err(self.does_not_fit(&visitor))
        };
        read.map_err(|fault| fault.or_at(self.at))
    }

    serde::forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf
        unit unit_struct tuple_struct identifier ignored_any
    }
}

impl Node {
    #[cold]
    fn does_not_fit(&self, expected: &dyn Expected) -> Fault {
        let found = match &self.value {
            NodeValue::Null => Unexpected::Unit,
            NodeValue::Bool(yes) => Unexpected::Bool(*yes),
            NodeValue::Integer(number) => match i64::try_from(*number) {
                Ok(number) => Unexpected::Signed(number),
                Err(_) => Unexpected::Unsigned(u64::try_from(*number).unwrap_or(u64::MAX)),
            },
            NodeValue::Float(number) => Unexpected::Float(*number),
            NodeValue::Text(text) => Unexpected::Str(text),
            NodeValue::List(_) => Unexpected::Seq,
            NodeValue::Table(_) => Unexpected::Map,
        };
        Fault::invalid_type(found, expected)
    }
}

/// As the narrowest type that serde's own readers take everywhere.
fn integer<'de, V: Visitor<'de>>(number: i128, visitor: V) -> Result<V::Value, Fault> {
    if let Ok(number) = i64::try_from(number) {
        return visitor.visit_i64(number);
    }
    match u64::try_from(number) {
        Ok(number) => visitor.visit_u64(number),
        Err(_) => Err(Fault::custom(format!("{number} is too large"))),
    }
}

struct Items<'de>(std::slice::Iter<'de, Node>);

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        self.0.next().map(|node| seed.deserialize(node).map_err(|fault| fault.or_at(node.at))).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

struct Entries<'de> {
    rest: std::slice::Iter<'de, (NodeKey, Node)>,
    value: Option<&'de Node>,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        let Some((key, value)) = self.rest.find(|(_, value)| value.value != NodeValue::Null) else {
            return Ok(None);
        };
        self.value = Some(value);
        let name = IntoDeserializer::<Fault>::into_deserializer(key.name.as_ref());
        seed.deserialize(name).map(Some).map_err(|fault| fault.or_at(key.at))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        let node = self.value.take().ok_or_else(|| Fault::custom("a value without a name"))?;
        seed.deserialize(node).map_err(|fault| fault.or_at(node.at))
    }
}

struct Variant<'de> {
    name: &'de str,
    named_at: &'de Node,
    value: Option<(&'de NodeKey, &'de Node)>,
}

impl<'de> Variant<'de> {
    fn inside(&self) -> Result<&'de Node, Fault> {
        let wrong = || Fault::new(self.named_at.at, format!("`{}` needs a value", self.name));
        self.value.map(|(_, node)| node).ok_or_else(wrong)
    }
}

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = Fault;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Fault> {
        let at = self.value.map_or(self.named_at.at, |(key, _)| key.at);
        let name = IntoDeserializer::<Fault>::into_deserializer(self.name);
        let variant = seed.deserialize(name).map_err(|fault| fault.or_at(at))?;
        Ok((variant, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'de> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        let is_empty = |node: &Node| matches!(&node.value, NodeValue::Table(entries) if entries.is_empty());
        match self.value {
            None => Ok(()),
            Some((_, node)) if is_empty(node) => Ok(()),
            Some((key, _)) => Err(Fault::new(key.at, format!("write \"{}\": it has no fields", self.name))),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Fault> {
        let node = self.inside()?;
        seed.deserialize(node).map_err(|fault| fault.or_at(node.at))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Fault> {
        self.inside()?.deserialize_seq(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.inside()?.deserialize_map(visitor)
    }
}
