//! A serde serializer that makes a tree. Whatever is written of a plan goes through it, so that the types of a plan are
//! compiled for one way of writing and not for each form of text, and all forms say the same.

use super::node::{Fault, Node, NodeKey, NodePlace, NodeValue};
use serde::ser::{
    Error, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use std::fmt::Display;

/// The tree of a value. Its places mean nothing.
///
/// # Errors
/// Names of a table that are not text, and whole numbers beyond 128 bits with a sign.
pub(super) fn tree(value: &(impl Serialize + ?Sized)) -> Result<Node, Fault> {
    value.serialize(Tree)
}

impl Error for Fault {
    fn custom<Text: Display>(text: Text) -> Fault {
        Fault { at: None, why: text.to_string(), unknown_name: false }
    }
}

impl From<NodeValue> for Node {
    fn from(value: NodeValue) -> Node {
        Node { at: NodePlace { file: 0, offset: 0 }, value }
    }
}

struct Tree;

/// A list that grows, under the name of a variant or none.
struct Items {
    name: Option<&'static str>,
    items: Vec<Node>,
}

/// A table that grows, under the name of a variant or none.
struct Entries {
    name: Option<&'static str>,
    entries: Vec<(NodeKey, Node)>,
    /// Of the entry whose value comes next.
    key: Option<Node>,
}

fn entry(name: impl Into<std::borrow::Cow<'static, str>>, node: Node) -> (NodeKey, Node) {
    (NodeKey { at: node.at, name: name.into() }, node)
}

/// A value under the name of its variant.
fn under(name: Option<&'static str>, value: NodeValue) -> Node {
    match name {
        Some(name) => NodeValue::Table(vec![entry(name, value.into())]).into(),
        None => value.into(),
    }
}

impl Items {
    fn new(name: Option<&'static str>, length: usize) -> Items {
        Items { name, items: Vec::with_capacity(length) }
    }

    fn push(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), Fault> {
        self.items.push(value.serialize(Tree)?);
        Ok(())
    }

    fn done(self) -> Result<Node, Fault> {
        Ok(under(self.name, NodeValue::List(self.items)))
    }
}

impl Entries {
    fn new(name: Option<&'static str>, length: usize) -> Entries {
        Entries { name, entries: Vec::with_capacity(length), key: None }
    }

    /// Nothing is the same as not being there.
    fn push(&mut self, name: &'static str, value: &(impl Serialize + ?Sized)) -> Result<(), Fault> {
        let node = value.serialize(Tree)?;
        if node.value != NodeValue::Null {
            self.entries.push(entry(name, node));
        }
        Ok(())
    }

    fn done(self) -> Result<Node, Fault> {
        Ok(under(self.name, NodeValue::Table(self.entries)))
    }
}

impl Serializer for Tree {
    type Ok = Node;
    type Error = Fault;
    type SerializeSeq = Items;
    type SerializeTuple = Items;
    type SerializeTupleStruct = Items;
    type SerializeTupleVariant = Items;
    type SerializeMap = Entries;
    type SerializeStruct = Entries;
    type SerializeStructVariant = Entries;

    fn serialize_bool(self, yes: bool) -> Result<Node, Fault> {
        Ok(NodeValue::Bool(yes).into())
    }

    fn serialize_i8(self, number: i8) -> Result<Node, Fault> {
        self.serialize_i128(number.into())
    }

    fn serialize_i16(self, number: i16) -> Result<Node, Fault> {
        self.serialize_i128(number.into())
    }

    fn serialize_i32(self, number: i32) -> Result<Node, Fault> {
        self.serialize_i128(number.into())
    }

    fn serialize_i64(self, number: i64) -> Result<Node, Fault> {
        self.serialize_i128(number.into())
    }

    fn serialize_i128(self, number: i128) -> Result<Node, Fault> {
        Ok(NodeValue::Integer(number).into())
    }

    fn serialize_u8(self, number: u8) -> Result<Node, Fault> {
        self.serialize_i128(number.into())
    }

    fn serialize_u16(self, number: u16) -> Result<Node, Fault> {
        self.serialize_i128(number.into())
    }

    fn serialize_u32(self, number: u32) -> Result<Node, Fault> {
        self.serialize_i128(number.into())
    }

    fn serialize_u64(self, number: u64) -> Result<Node, Fault> {
        self.serialize_i128(number.into())
    }

    fn serialize_f32(self, number: f32) -> Result<Node, Fault> {
        self.serialize_f64(number.into())
    }

    fn serialize_f64(self, number: f64) -> Result<Node, Fault> {
        Ok(NodeValue::Float(number).into())
    }

    fn serialize_char(self, one: char) -> Result<Node, Fault> {
        self.serialize_str(one.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, text: &str) -> Result<Node, Fault> {
        Ok(NodeValue::Text(text.to_owned()).into())
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<Node, Fault> {
        self.collect_seq(bytes)
    }

    fn serialize_none(self) -> Result<Node, Fault> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Node, Fault> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<Node, Fault> {
        Ok(NodeValue::Null.into())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<Node, Fault> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, name: &'static str) -> Result<Node, Fault> {
        self.serialize_str(name)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<Node, Fault> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        value: &T,
    ) -> Result<Node, Fault> {
        Ok(under(Some(name), value.serialize(self)?.value))
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Items, Fault> {
        Ok(Items::new(None, length.unwrap_or(0)))
    }

    fn serialize_tuple(self, length: usize) -> Result<Items, Fault> {
        Ok(Items::new(None, length))
    }

    fn serialize_tuple_struct(self, _: &'static str, length: usize) -> Result<Items, Fault> {
        Ok(Items::new(None, length))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        length: usize,
    ) -> Result<Items, Fault> {
        Ok(Items::new(Some(name), length))
    }

    fn serialize_map(self, length: Option<usize>) -> Result<Entries, Fault> {
        Ok(Entries::new(None, length.unwrap_or(0)))
    }

    fn serialize_struct(self, _: &'static str, length: usize) -> Result<Entries, Fault> {
        Ok(Entries::new(None, length))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        length: usize,
    ) -> Result<Entries, Fault> {
        Ok(Entries::new(Some(name), length))
    }
}

/// The four traits by which sequences are written do the same here.
macro_rules! sequences {
    ($($kind:ident: $element:ident),*) => {$(
        impl $kind for Items {
            type Ok = Node;
            type Error = Fault;

            fn $element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
                self.push(value)
            }

            fn end(self) -> Result<Node, Fault> {
                self.done()
            }
        }
    )*};
}

sequences! {
    SerializeSeq: serialize_element,
    SerializeTuple: serialize_element,
    SerializeTupleStruct: serialize_field,
    SerializeTupleVariant: serialize_field
}

impl SerializeStruct for Entries {
    type Ok = Node;
    type Error = Fault;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Fault> {
        self.push(name, value)
    }

    fn end(self) -> Result<Node, Fault> {
        self.done()
    }
}

impl SerializeStructVariant for Entries {
    type Ok = Node;
    type Error = Fault;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Fault> {
        self.push(name, value)
    }

    fn end(self) -> Result<Node, Fault> {
        self.done()
    }
}

impl SerializeMap for Entries {
    type Ok = Node;
    type Error = Fault;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Fault> {
        self.key = Some(key.serialize(Tree)?);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
        let Some(Node { value: NodeValue::Text(name), .. }) = self.key.take() else {
            return Err(Error::custom("names of a table are text"));
        };
        self.entries.push(entry(name, value.serialize(Tree)?));
        Ok(())
    }

    fn end(self) -> Result<Node, Fault> {
        self.done()
    }
}

/// As each form of text writes it.
impl Serialize for Node {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match &self.value {
            NodeValue::Null => to.serialize_unit(),
            NodeValue::Bool(yes) => to.serialize_bool(*yes),
            NodeValue::Integer(number) => match (i64::try_from(*number), u64::try_from(*number)) {
                (Ok(number), _) => to.serialize_i64(number),
                (_, Ok(number)) => to.serialize_u64(number),
                _ => to.serialize_i128(*number),
            },
            NodeValue::Float(number) => to.serialize_f64(*number),
            NodeValue::Text(text) => to.serialize_str(text),
            NodeValue::List(items) => to.collect_seq(items),
            NodeValue::Table(entries) => to.collect_map(entries.iter().map(|(key, node)| (&key.name, node))),
        }
    }
}
