//! `XmlSlurper`, and the paths through what it has read: `root.item[0].@id.text()`.
//!
//! Names are those behind a prefix, as a slurper has them that knows namespaces; blanks between elements are no text.

use crate::model::abrupt::{Run, thrown};
use crate::model::class::{Class, ClassView, Kind, gives, listed, row};
use crate::model::library::io::bytes;
use crate::model::library::io::{file::File, read_text};
use crate::model::library::lang::object;
use crate::model::library::util::{iterable, iterator::Iterating};
use crate::model::machine::Machine;
use crate::model::meaning::items::items;
use crate::model::value::{Map, MapKind, Object, Style, Value};
use markup::{Document, Node};
use std::rc::Rc;

/// A slurper: whether names keep their prefix, since it knows no namespaces.
struct XmlSlurper(bool);

/// A document, and how its names are seen.
struct SlurpedXml {
    document: Document,
    keeps_prefix: bool,
}

impl Object for XmlSlurper {
    fn class(&self) -> Class {
        Class::Known(&KIND)
    }
}

pub(crate) static KIND: Kind = Kind::new("groovy.util", "XmlSlurper")
    .extends(&object::KIND)
    .creates(|m, kind, args| match args {
        [] => Ok(Value::object(XmlSlurper(false))),
        [_, namespaces, ..] => Ok(Value::object(XmlSlurper(!namespaces.is_true()))),
        _ => m.no_method(&Value::Class(Class::Known(kind)), "<init>", args),
    })
    .methods(&[
        gives(
            row("parseText", 1, |m, of, args| {
                let text = m.text(&args[0])?;
                parse(m, of.receiver(), &text)
            }),
            &NODE,
        ),
        row("parse", 1, |m, of, args| {
            let text = match (bytes::text_of(&args[0]), args[0].as_object::<File>()) {
                (Some(text), _) => Rc::from(text),
                (None, Some(file)) => read_text(m, &file.0)?,
                (None, None) => {
                    let path = m.text(&args[0])?;
                    read_text(m, &path)?
                }
            };
            parse(m, of.receiver(), &text)
        }),
        row("setKeepIgnorableWhitespace", 1, |m, of, args| match args[0].is_true() {
            true => m.no_method(of, "setKeepIgnorableWhitespace", args),
            false => Ok(Value::Null),
        }),
        row("setFeature", 2, |_, _, _| Ok(Value::Null)),
    ]);

fn parse(m: &mut Machine<'_>, slurper: &XmlSlurper, text: &str) -> Run {
    // A node is larger than the bytes that it is written with.
    m.take(text.len().saturating_mul(8))?;
    m.work(text.len() / 16)?;
    let document = match Document::xml(text) {
        Ok(document) => document,
        Err(message) => return thrown("SAXParseException", message),
    };
    let root = document.children(0).find(|node| document.name(*node).is_some());
    match root {
        Some(root) => Ok(Path::one(&Rc::new(SlurpedXml { document, keeps_prefix: slurper.0 }), root)),
        None => thrown("SAXParseException", "Premature end of file."),
    }
}

impl SlurpedXml {
    /// The name of an element.
    fn name(&self, node: Node) -> Option<&str> {
        self.document.name(node).map(|name| self.seen(name))
    }

    fn seen<'n>(&self, name: &'n str) -> &'n str {
        if self.keeps_prefix { name } else { name.rsplit(':').next().expect("a split has a part") }
    }

    /// The attributes of an element; who knows namespaces sees none that declare one.
    fn attributes(&self, node: Node) -> impl Iterator<Item = XmlSlurperNamed<'_>> {
        let is_own = |name: &str| self.keeps_prefix || name != "xmlns" && !name.starts_with("xmlns:");
        let all = self.document.attributes(node).iter().filter(move |attribute| is_own(&attribute.name));
        all.map(|attribute| XmlSlurperNamed { name: self.seen(&attribute.name), value: &attribute.value })
    }
}

/// An attribute by its name.
struct XmlSlurperNamed<'a> {
    name: &'a str,
    value: &'a str,
}

/// Elements that a path has led to.
struct Path {
    tree: Rc<SlurpedXml>,
    nodes: Rc<[Node]>,
    /// An element itself, and not those of a name, however many these are.
    is_one: bool,
    /// Nothing was found where one was looked for: it is false in a condition.
    is_missing: bool,
}

impl Path {
    fn one(tree: &Rc<SlurpedXml>, node: Node) -> Value {
        Path::of(tree, vec![node], true)
    }

    fn of(tree: &Rc<SlurpedXml>, nodes: Vec<Node>, is_one: bool) -> Value {
        Value::object(Path { tree: tree.clone(), nodes: Rc::from(nodes), is_one, is_missing: false })
    }

    fn missing(&self) -> Value {
        Value::object(Path { tree: self.tree.clone(), nodes: Rc::from([]), is_one: false, is_missing: true })
    }

    fn all_text(&self) -> String {
        self.nodes.iter().map(|node| text(&self.tree.document, *node)).collect()
    }

    fn elements(&self) -> Vec<Value> {
        self.nodes.iter().map(|node| Path::one(&self.tree, *node)).collect()
    }

    /// The children of a name; `None`: all of them.
    fn children(&self, name: Option<&str>) -> Vec<Node> {
        let of_one = |node: &Node| self.tree.document.children(*node).collect::<Vec<_>>();
        let fits = |node: &Node| {
            let found = self.tree.name(*node);
            found.is_some() && (name.is_none() || found == name)
        };
        self.nodes.iter().flat_map(of_one).filter(fits).collect()
    }

    /// The elements themselves and all in them, in the order of the document.
    fn depth_first(&self) -> Vec<Node> {
        let all = |node: &Node| std::iter::once(*node).chain(self.tree.document.descendants(*node));
        self.nodes.iter().flat_map(all).filter(|node| self.tree.document.name(*node).is_some()).collect()
    }

    fn parents(&self) -> Vec<Node> {
        let mut found = Vec::new();
        for node in self.nodes.iter() {
            let parent = self.tree.document.parent(*node).filter(|parent| *parent != 0).unwrap_or(*node);
            if !found.contains(&parent) {
                found.push(parent);
            }
        }
        found
    }

    fn attributes(&self, name: &str) -> Vec<Rc<str>> {
        let of_one = |node: &Node| {
            let found = self.tree.attributes(*node).find(|known| known.name == name)?;
            Some(Rc::from(found.value))
        };
        self.nodes.iter().filter_map(of_one).collect()
    }
}

impl Object for Path {
    fn class(&self) -> Class {
        Class::Known(if self.is_one { &NODE } else { &PATH })
    }

    fn write(&self, out: &mut String, _: Style, _: usize) {
        out.push_str(&self.all_text());
    }

    fn is_true(&self) -> bool {
        !self.is_missing
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other.says().is_some_and(|said| *said == *self.all_text())
    }

    fn says(&self) -> Option<Rc<str>> {
        Some(Rc::from(self.all_text()))
    }

    fn items(&self, _: &mut Machine<'_>, _: &Value) -> Run<Vec<Value>> {
        Ok(self.elements())
    }

    fn element(&self, m: &mut Machine<'_>, this: &Value, index: &Value) -> Option<Run> {
        if let Some(name) = index.as_text() {
            return self.property(m, this, &Rc::from(&**name));
        }
        let index = index.to_long()?;
        let count = self.nodes.len() as i64;
        let place = usize::try_from(if index < 0 { index + count } else { index }).ok();
        let node = place.and_then(|place| self.nodes.get(place));
        Some(Ok(node.map_or_else(|| self.missing(), |node| Path::one(&self.tree, *node))))
    }

    fn property(&self, m: &mut Machine<'_>, _: &Value, name: &Rc<str>) -> Option<Run> {
        if let Err(abrupt) = m.work(1 + self.nodes.len()) {
            return Some(Err(abrupt));
        }
        Some(Ok(match &**name {
            "class" => return None,
            ".." => Path::of(&self.tree, self.parents(), false),
            "*" => Path::of(&self.tree, self.children(None), false),
            "**" => depth_first(self),
            name => match name.strip_prefix('@') {
                Some(name) => Value::object(Attributes(self.attributes(name))),
                None => Path::of(&self.tree, self.children(Some(name)), false),
            },
        }))
    }
}

/// Values of an attribute.
struct Attributes(Vec<Rc<str>>);

impl Object for Attributes {
    fn class(&self) -> Class {
        Class::Known(&ATTRIBUTES)
    }

    fn write(&self, out: &mut String, _: Style, _: usize) {
        self.0.iter().for_each(|value| out.push_str(value));
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other.says().is_some_and(|said| *said == *self.0.concat())
    }

    fn says(&self) -> Option<Rc<str>> {
        Some(Rc::from(self.0.concat()))
    }

    fn items(&self, _: &mut Machine<'_>, _: &Value) -> Run<Vec<Value>> {
        Ok(self.0.iter().map(|value| Value::object(Attributes(vec![value.clone()]))).collect())
    }
}

const NO_CHANGE: &str = "documents are read and not changed here";

/// Methods of all that a path leads to.
pub(crate) static RESULT: Kind =
    Kind::new("groovy.util.slurpersupport", "GPathResult").extends(&iterable::KIND).methods(&[
        row("text", 0, |m, of, _| said(m, of)),
        row("toString", 0, |m, of, _| said(m, of)),
        row("toInteger", 0, number),
        row("toLong", 0, number_of_long),
        row("toDouble", 0, number_of_double),
        row("toBigDecimal", 0, number_of_decimal),
        row("toFloat", 0, number_of_float),
        row("toBoolean", 0, |m, of, args| {
            let text = said(m, of)?;
            m.invoke(&text, "toBoolean", args)
        }),
        row("size", 0, |m, of, _| Ok(Value::count(items(m, of)?.len()))),
        row("isEmpty", 0, |m, of, _| Ok(Value::Bool(items(m, of)?.is_empty()))),
        row("list", 0, |m, of, _| {
            let items = items(m, of)?;
            m.new_list(items)
        }),
    ]);

pub(crate) static ATTRIBUTES: Kind = Kind::new("groovy.util.slurpersupport", "Attributes").extends(&RESULT);

pub(crate) static PATH: Kind =
    Kind::new("groovy.util.slurpersupport", "NodeChildren").extends(&RESULT).methods(&[
        row("name", 0, |_, of, _| {
            let path: &Path = of.receiver();
            let first = path.nodes.first().and_then(|node| path.tree.name(*node));
            Ok(Value::from(first.unwrap_or("")))
        }),
        row("localText", 0, |m, of, _| {
            let path: &Path = of.receiver();
            let node = path.nodes.first().copied();
            let texts = node.map_or_else(Vec::new, |node| local_texts(&path.tree.document, node));
            m.new_list(texts.into_iter().map(Value::text).collect())
        }),
        row("attributes", 0, |m, of, _| {
            let path: &Path = of.receiver();
            let node = path.nodes.first().copied();
            let all = node.into_iter().flat_map(|node| path.tree.attributes(node));
            let entries: Vec<(Value, Value)> =
                all.map(|one| (Value::from(one.name), Value::from(one.value))).collect();
            m.take_items(entries.len() * 2)?;
            Ok(Value::Map(Rc::new(Map::new(MapKind::Plain, entries))))
        }),
        row("children", 0, |_, of, _| {
            let path: &Path = of.receiver();
            Ok(Path::of(&path.tree, path.children(None), false))
        }),
        row("parent", 0, |_, of, _| {
            let path: &Path = of.receiver();
            Ok(Path::of(&path.tree, path.parents(), false))
        }),
        row("depthFirst", 0, |_, of, _| Ok(depth_first(of.receiver()))),
        row("find", 1, |m, of, args| {
            let path: &Path = of.receiver();
            for node in path.elements() {
                let fits = m.apply(&args[0], std::slice::from_ref(&node))?;
                if m.is_true(&fits)? {
                    return Ok(node);
                }
            }
            Ok(path.missing())
        }),
        row("findAll", 1, |m, of, args| {
            let path: &Path = of.receiver();
            let mut found = Vec::new();
            for node in path.nodes.iter() {
                let element = Path::one(&path.tree, *node);
                let fits = m.apply(&args[0], &[element])?;
                if m.is_true(&fits)? {
                    found.push(*node);
                }
            }
            Ok(Path::of(&path.tree, found, false))
        }),
        listed("appendNode", NO_CHANGE),
        listed("replaceNode", NO_CHANGE),
        listed("replaceBody", NO_CHANGE),
        listed("declareNamespace", "names are compared without their prefix here"),
    ]);

pub(crate) static NODE: Kind = Kind::new("groovy.util.slurpersupport", "NodeChild")
    .extends(&PATH)
    // A property may have any name.
    .viewed(ClassView { property: Some(|_, _| None), ..ClassView::NONE });

/// All elements in depth, as an iterator's: what looks for several of them gives a list.
fn depth_first(path: &Path) -> Value {
    let all = path.depth_first().into_iter().map(|node| Path::one(&path.tree, node));
    Value::object(Iterating::new(all.collect()))
}

fn said(m: &mut Machine<'_>, of: &Value) -> Run {
    let text = m.text(of)?;
    m.new_text(text)
}

/// The text of a result as a number, by a method of texts; null where it is empty.
macro_rules! number {
    ($name:ident, $method:literal) => {
        fn $name(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
            let text = said(m, of)?;
            if text.is_true() { m.invoke(&text, $method, args) } else { Ok(Value::Null) }
        }
    };
}

number!(number, "toInteger");
number!(number_of_long, "toLong");
number!(number_of_double, "toDouble");
number!(number_of_decimal, "toBigDecimal");
number!(number_of_float, "toFloat");

/// The text in an element at any depth, without blanks between elements.
fn text(document: &Document, node: Node) -> String {
    let texts = document.descendants(node).filter_map(|inner| own_text(document, inner));
    texts.collect()
}

fn local_texts(document: &Document, node: Node) -> Vec<String> {
    document.children(node).filter_map(|inner| own_text(document, inner)).collect()
}

/// The text of a node of text that is not only blanks.
fn own_text(document: &Document, node: Node) -> Option<String> {
    let text = document.own_text(node)?;
    (!text.trim().is_empty()).then(|| text.to_owned())
}
