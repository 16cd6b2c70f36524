//! A document as a list of nodes in their order: a node's descendants follow it, up to its end.

use std::fmt::Write;

/// Nodes of a document, at most; what is beyond is not read.
pub(crate) const MOST: usize = 1_000_000;

/// Elements within each other, at most.
pub(crate) const DEPTH: usize = 256;

/// A document, read.
#[derive(Debug, Clone, Default)]
pub struct Document {
    nodes: Vec<MarkupEntry>,
}

/// The number of a node: the root is 0, others are in document order.
pub type Node = u32;

/// An attribute of an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribute {
    /// As it is written, prefix included; in HTML in lower case.
    pub name: Box<str>,
    /// Without quotes and entities.
    pub value: String,
}

#[derive(Debug, Clone)]
struct MarkupEntry {
    parent: Node,
    /// The first node behind it and all in it.
    end: Node,
    content: MarkupContent,
}

/// The kinds of node.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum MarkupContent {
    Root,
    Element { name: Box<str>, attributes: Vec<Attribute> },
    Text(String),
    Comment(String),
    Instruction { name: Box<str>, text: String },
}

impl Document {
    pub(crate) fn content(&self, node: Node) -> &MarkupContent {
        &self.nodes[node as usize].content
    }

    /// The node that another one is in; none of the root.
    pub fn parent(&self, node: Node) -> Option<Node> {
        (node != 0).then(|| self.nodes[node as usize].parent)
    }

    /// The nodes in a node, at any depth, in document order.
    pub fn descendants(&self, node: Node) -> std::ops::Range<Node> {
        node + 1..self.nodes[node as usize].end
    }

    /// The nodes right below a node.
    pub fn children(&self, node: Node) -> impl Iterator<Item = Node> + '_ {
        let end = self.nodes[node as usize].end;
        let first = Some(node + 1).filter(|child| *child < end);
        std::iter::successors(first, move |child| {
            Some(self.nodes[*child as usize].end).filter(|next| *next < end)
        })
    }

    /// The name of an element.
    pub fn name(&self, node: Node) -> Option<&str> {
        match self.content(node) {
            MarkupContent::Element { name, .. } => Some(name),
            _ => None,
        }
    }

    /// The attributes of an element; none of another node.
    pub fn attributes(&self, node: Node) -> &[Attribute] {
        match self.content(node) {
            MarkupContent::Element { attributes, .. } => attributes,
            _ => &[],
        }
    }

    /// An attribute's value.
    pub fn attribute(&self, node: Node, name: &str) -> Option<&str> {
        self.attributes(node).iter().find(|known| &*known.name == name).map(|found| found.value.as_str())
    }

    /// The text that a node of text is.
    pub fn own_text(&self, node: Node) -> Option<&str> {
        match self.content(node) {
            MarkupContent::Text(text) => Some(text),
            MarkupContent::Root
            | MarkupContent::Element { .. }
            | MarkupContent::Comment(_)
            | MarkupContent::Instruction { .. } => None,
        }
    }

    /// The text in a node, at any depth (XPath 1.0 section 5).
    pub fn text(&self, node: Node) -> String {
        match self.content(node) {
            MarkupContent::Text(text)
            | MarkupContent::Comment(text)
            | MarkupContent::Instruction { text, .. } => text.clone(),
            _ => {
                let mut all = String::new();
                for inner in self.descendants(node) {
                    if let MarkupContent::Text(text) = self.content(inner) {
                        all.push_str(text);
                    }
                }
                all
            }
        }
    }

    /// The text of a node's first child, which JMeter takes for an element's; `None` where that is an element, empty where there
    /// is none.
    pub fn first_text(&self, node: Node) -> Option<String> {
        match self.content(node) {
            MarkupContent::Element { .. } | MarkupContent::Root => match self.children(node).next() {
                None => Some(String::new()),
                Some(child) if matches!(self.content(child), MarkupContent::Element { .. }) => None,
                Some(child) => Some(self.text(child)),
            },
            _ => Some(self.text(node)),
        }
    }

    /// The node as XML.
    pub fn markup(&self, node: Node) -> String {
        let mut text = String::new();
        self.write(node, &mut text);
        text
    }

    fn write(&self, node: Node, to: &mut String) {
        match self.content(node) {
            MarkupContent::Root => self.children(node).for_each(|child| self.write(child, to)),
            MarkupContent::Text(text) => escape(text, false, to),
            MarkupContent::Comment(text) => write!(to, "<!--{text}-->").expect("a String takes all"),
            MarkupContent::Instruction { name, text } => {
                write!(to, "<?{name} {text}?>").expect("a String takes all");
            }
            MarkupContent::Element { name, attributes } => {
                write!(to, "<{name}").expect("a String takes all");
                for Attribute { name, value } in attributes {
                    write!(to, " {name}=\"").expect("a String takes all");
                    escape(value, true, to);
                    to.push('"');
                }
                if self.descendants(node).is_empty() {
                    return to.push_str("/>");
                }
                to.push('>');
                self.children(node).for_each(|child| self.write(child, to));
                write!(to, "</{name}>").expect("a String takes all");
            }
        }
    }
}

fn escape(text: &str, in_quotes: bool, to: &mut String) {
    for one in text.chars() {
        match one {
            '&' => to.push_str("&amp;"),
            '<' => to.push_str("&lt;"),
            '>' => to.push_str("&gt;"),
            '"' if in_quotes => to.push_str("&quot;"),
            other => to.push(other),
        }
    }
}

/// Makes a document, node by node.
pub(crate) struct Builder {
    nodes: Vec<MarkupEntry>,
    open: Vec<Node>,
}

impl Builder {
    /// With the root alone.
    pub fn new() -> Builder {
        Builder {
            nodes: vec![MarkupEntry { parent: 0, end: 0, content: MarkupContent::Root }],
            open: vec![0],
        }
    }

    /// How many elements are open.
    pub fn depth(&self) -> usize {
        self.open.len() - 1
    }

    /// True if no more nodes are taken.
    pub fn is_full(&self) -> bool {
        self.nodes.len() >= MOST
    }

    /// Names of open elements, the innermost first.
    pub fn open_names(&self) -> impl Iterator<Item = &str> {
        self.open.iter().rev().filter_map(|node| match &self.nodes[*node as usize].content {
            MarkupContent::Element { name, .. } => Some(&**name),
            _ => None,
        })
    }

    /// Adds what holds nothing.
    pub fn add(&mut self, content: MarkupContent) {
        self.open(content);
        self.close();
    }

    /// Adds text, joined with text right before it.
    pub fn text(&mut self, text: &str) {
        let parent = *self.open.last().unwrap_or(&0);
        if let Some(MarkupEntry { content: MarkupContent::Text(before), parent: of, .. }) =
            self.nodes.last_mut()
            && *of == parent
        {
            return before.push_str(text);
        }
        self.add(MarkupContent::Text(text.to_owned()));
    }

    /// Begins an element.
    pub fn open(&mut self, content: MarkupContent) {
        let parent = *self.open.last().unwrap_or(&0);
        self.open.push(self.nodes.len() as Node);
        self.nodes.push(MarkupEntry { parent, end: 0, content });
    }

    /// Ends the innermost element.
    pub fn close(&mut self) {
        if let Some(node) = self.open.pop() {
            self.nodes[node as usize].end = self.nodes.len() as Node;
        }
    }

    /// The document, with whatever is open ended.
    pub fn finish(mut self) -> Document {
        while !self.open.is_empty() {
            self.close();
        }
        Document { nodes: self.nodes }
    }
}
