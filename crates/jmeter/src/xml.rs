//! XML → a tree of nodes: bounded in size and depth, without document types, lenient with control characters, which JMeter's
//! own files hold. Elements that XStream writes as `reference="../../x"` are resolved to the node they point at.

use crate::error::Error;
use quick_xml::Reader;
use quick_xml::events::{BytesRef, BytesStart, Event};
use std::cell::Cell;

const MAX_BYTES: usize = 256 << 20;
const MAX_NODES: usize = 4_000_000;
const MAX_DEPTH: usize = 200;
/// Looks at nodes by way of references: more are those of a file that unfolds to far more than it is.
const MAX_FOLLOWED: usize = 1_000_000;

/// A tree, its root first.
#[derive(Debug)]
pub(crate) struct Tree {
    nodes: Vec<XmlNode>,
    /// References that were followed.
    followed: Cell<usize>,
}

/// The place of a node in its tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NodeId(usize);

/// An element.
#[derive(Debug)]
pub(crate) struct XmlNode {
    pub(crate) tag: String,
    attributes: Vec<(String, String)>,
    /// All its text, put together; that of its children is not in it.
    pub(crate) text: String,
    pub(crate) children: Vec<NodeId>,
    parent: Option<NodeId>,
    /// Counted from 1.
    pub(crate) line: usize,
}

impl XmlNode {
    /// An attribute; `None` where it is missing.
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl Tree {
    /// Reads a document.
    ///
    /// # Errors
    /// The text is no XML, has a document type, or is larger than any plan.
    pub(crate) fn read(text: &str) -> Result<Tree, Error> {
        if text.len() > MAX_BYTES {
            return Err(Error::TooLarge("256 MiB"));
        }
        let mut building = Building { text, at: 0, line: 1, nodes: Vec::new(), open: Vec::new() };
        building.all()?;
        Ok(Tree { nodes: building.nodes, followed: Cell::new(0) })
    }

    pub(crate) fn root(&self) -> NodeId {
        NodeId(0)
    }

    /// A node, or the one that it refers to. As XStream writes them, references lead to what has ended before: so none leads
    /// around.
    ///
    /// # Errors
    /// A reference that leads nowhere, or not back; more of them than any plan has.
    pub(crate) fn node(&self, id: NodeId) -> Result<&XmlNode, Error> {
        let mut node = &self.nodes[id.0];
        let mut at = id;
        while let Some(path) = node.attribute("reference") {
            self.followed.set(self.followed.get() + 1);
            if self.followed.get() > MAX_FOLLOWED {
                return Err(Error::TooLarge("1,000,000 references"));
            }
            let there = self.follow(at, path).filter(|there| there.0 < at.0 && !self.is_within(at, *there));
            at = there.ok_or_else(|| nowhere(node, path))?;
            node = &self.nodes[at.0];
        }
        Ok(node)
    }

    /// True if a node stands within another one.
    fn is_within(&self, inner: NodeId, outer: NodeId) -> bool {
        let parent = |id: &NodeId| self.nodes[id.0].parent;
        std::iter::successors(parent(&inner), parent).any(|above| above == outer)
    }

    /// The node itself, be it a reference or not.
    pub(crate) fn written(&self, id: NodeId) -> &XmlNode {
        &self.nodes[id.0]
    }

    /// The node at a path as XStream writes them: `../../collectionProp[2]/stringProp`, or from the root, `/a/b`.
    fn follow(&self, from: NodeId, path: &str) -> Option<NodeId> {
        let (mut at, path) = match path.strip_prefix('/') {
            Some(path) => (self.root(), path.split_once('/').map_or("", |(_, rest)| rest)),
            None => (from, path),
        };
        for step in path.split('/').filter(|step| !step.is_empty() && *step != ".") {
            at = if step == ".." { self.nodes[at.0].parent? } else { self.child(at, step)? };
        }
        Some(at)
    }

    /// The child that `name` or `name[2]` names, counted from 1 among those of that name.
    fn child(&self, of: NodeId, step: &str) -> Option<NodeId> {
        let (tag, nth) = match step.strip_suffix(']').and_then(|step| step.split_once('[')) {
            Some((tag, nth)) => (tag, nth.parse::<usize>().ok()?),
            None => (step, 1),
        };
        let children = self.nodes[of.0].children.iter().copied();
        children.filter(|child| self.nodes[child.0].tag == tag).nth(nth.checked_sub(1)?)
    }
}

fn nowhere(node: &XmlNode, path: &str) -> Error {
    Error::Reference { line: node.line, path: path.to_owned() }
}

/// A tree while its text is read.
struct Building<'a> {
    text: &'a str,
    /// Bytes of the text of which the lines are counted.
    at: usize,
    line: usize,
    nodes: Vec<XmlNode>,
    open: Vec<NodeId>,
}

impl Building<'_> {
    fn all(&mut self) -> Result<(), Error> {
        let mut reader = Reader::from_str(self.text);
        reader.config_mut().expand_empty_elements = true;
        loop {
            let event = reader.read_event();
            let position = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
            self.count_lines(position);
            match event.map_err(|error| self.error(&error.to_string()))? {
                Event::Start(start) => self.start(&start)?,
                Event::End(_) => {
                    self.open.pop();
                }
                Event::Text(text) => {
                    self.text(&text.decode().map_err(|error| self.error(&error.to_string()))?)
                }
                Event::CData(text) => {
                    self.text(&text.decode().map_err(|error| self.error(&error.to_string()))?)
                }
                Event::GeneralRef(reference) => self.reference(&reference)?,
                Event::DocType(_) => return Err(Error::DocumentType(self.line)),
                Event::Eof => break,
                _ => {}
            }
        }
        match self.open.last() {
            Some(open) => Err(self.error(&format!("<{}> is not closed", self.nodes[open.0].tag))),
            None if self.nodes.is_empty() => Err(self.error("there is no element")),
            None => Ok(()),
        }
    }

    fn count_lines(&mut self, position: usize) {
        let end = position.min(self.text.len());
        self.line += self.text.as_bytes()[self.at..end].iter().filter(|byte| **byte == b'\n').count();
        self.at = end;
    }

    fn error(&self, why: &str) -> Error {
        Error::Xml { line: self.line, why: why.to_owned() }
    }

    fn start(&mut self, start: &BytesStart<'_>) -> Result<(), Error> {
        if self.nodes.len() >= MAX_NODES {
            return Err(Error::TooLarge("4,000,000 elements"));
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(Error::TooLarge("200 levels of elements"));
        }
        let parent = self.open.last().copied();
        if parent.is_none() && !self.nodes.is_empty() {
            return Err(self.error("there is a second root element"));
        }
        let node = XmlNode {
            tag: String::from_utf8_lossy(start.name().as_ref()).into_owned(),
            attributes: self.attributes(start)?,
            text: String::new(),
            children: Vec::new(),
            parent,
            line: self.line,
        };
        let id = NodeId(self.nodes.len());
        self.nodes.push(node);
        if let Some(parent) = parent {
            self.nodes[parent.0].children.push(id);
        }
        self.open.push(id);
        Ok(())
    }

    fn attributes(&self, start: &BytesStart<'_>) -> Result<Vec<(String, String)>, Error> {
        let read = start.attributes().map(|attribute| {
            let attribute = attribute.map_err(|error| self.error(&error.to_string()))?;
            let name = String::from_utf8_lossy(attribute.key.as_ref()).into_owned();
            let value = String::from_utf8_lossy(&attribute.value).into_owned();
            Ok((name, self.unescaped(&value)?))
        });
        read.collect()
    }

    fn text(&mut self, text: &str) {
        if let Some(open) = self.open.last() {
            self.nodes[open.0].text.push_str(text);
        }
    }

    fn reference(&mut self, reference: &BytesRef<'_>) -> Result<(), Error> {
        let name = String::from_utf8_lossy(reference).into_owned();
        let character =
            character(&name).ok_or_else(|| self.error(&format!("the entity &{name}; is not known")))?;
        self.text(character.encode_utf8(&mut [0; 4]));
        Ok(())
    }

    /// An attribute's value with its references resolved.
    fn unescaped(&self, value: &str) -> Result<String, Error> {
        let mut pieces = value.split('&');
        let mut text = pieces.next().expect("a split has a part").to_owned();
        for piece in pieces {
            let found = piece.split_once(';').and_then(|(name, rest)| Some((character(name)?, rest)));
            let (character, rest) =
                found.ok_or_else(|| self.error("a & that begins no known entity in an attribute"))?;
            text.push(character);
            text.push_str(rest);
        }
        Ok(text)
    }
}

/// The character that `amp`, `#13` or `#xd` stands for; those that XML 1.0 forbids are let through, as in JMeter.
fn character(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16),
            None => number.parse(),
        };
        return code.ok().and_then(char::from_u32);
    }
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(xml: &str) -> String {
        let tree = Tree::read(xml).unwrap();
        tree.node(tree.root()).unwrap().text.clone()
    }

    #[test]
    fn text_is_put_together() {
        for (xml, text) in [
            ("<a>b &amp; c&#13;\n&#x1;</a>", "b & c\r\n\u{1}"),
            ("<a><![CDATA[<x>&amp;]]>y</a>", "<x>&amp;y"),
            ("<a>  b<c>no</c>d </a>", "  bd "),
            ("<?xml version='1.1'?><!-- c --><a/>", ""),
        ] {
            assert_eq!(text_of(xml), text, "{xml}");
        }
    }

    #[test]
    fn references_lead_to_what_they_name() {
        let tree =
            Tree::read("<a><b>1</b><b>2</b><c><d reference='../../b[2]'/></c><e reference='../c/d'/></a>")
                .unwrap();
        let of = |path| tree.node(tree.follow(tree.root(), path).unwrap()).unwrap().text.clone();
        assert_eq!((of("c/d"), of("e"), of("b")), ("2".to_owned(), "2".to_owned(), "1".to_owned()));
        for xml in [
            "<a><b reference='../b'/></a>",
            "<a><b reference='../../../x'/></a>",
            "<a><b reference='../c[0]'/></a>",
            "<a><b reference='..'/></a>",
            "<a><b reference='/'/></a>",
            "<a><b reference='.'/></a>",
            "<a><b reference='../c'/><c reference='../b'/></a>",
            "<a><b reference='../c'/><c/></a>",
        ] {
            let tree = Tree::read(xml).unwrap();
            let id = tree.follow(tree.root(), "b").unwrap();
            assert!(matches!(tree.node(id), Err(Error::Reference { .. })), "{xml}");
        }
    }

    /// Each element stands for the one before it twice: 60 lines would be 2^60 elements.
    #[test]
    fn references_do_not_unfold_without_end() {
        let mut xml = "<a><l0><x/></l0>".to_owned();
        for level in 1..60 {
            let before = level - 1;
            let twice = format!("<y reference='../../l{before}'/>").repeat(2);
            xml += &format!("<l{level}>{twice}</l{level}>");
        }
        let tree = Tree::read(&(xml + "</a>")).unwrap();
        fn count(tree: &Tree, id: NodeId) -> Result<u64, Error> {
            tree.node(id)?.children.iter().try_fold(1, |sum, child| Ok(sum + count(tree, *child)?))
        }
        let first = tree.follow(tree.root(), "l3").unwrap();
        assert_eq!(count(&tree, first), Ok(1 + 2 + 4 + 8 + 8));
        let last = tree.follow(tree.root(), "l59").unwrap();
        assert_eq!(count(&tree, last), Err(Error::TooLarge("1,000,000 references")));
    }

    #[test]
    fn what_is_no_plan_is_told_with_its_line() {
        for (xml, said) in [
            ("", "there is no element"),
            ("<a>\n<b></a>", "line 2"),
            ("<a>\n<b>", "<b> is not closed"),
            ("<a>\n&nbsp;</a>", "line 2: the entity &nbsp;"),
            ("<a/><b/>", "second root"),
            ("<!DOCTYPE a [<!ENTITY b 'cc'>]><a>&b;</a>", "document type"),
            ("<a b='&x;'/>", "no known entity"),
        ] {
            let error = Tree::read(xml).unwrap_err().to_string();
            assert!(error.contains(said), "{xml}: {error}");
        }
        let deep = "<a>".repeat(MAX_DEPTH + 1);
        assert_eq!(Tree::read(&deep).unwrap_err(), Error::TooLarge("200 levels of elements"));
    }
}
