//! Nodes of XML → elements of a test plan with their properties: pairs of an element and the `hashTree` beside it, old class
//! names, and the several ways in which a property is written.

use crate::error::Error;
use crate::xml::{NodeId, Tree, XmlNode};
use std::cell::Cell;

/// An element of a test plan.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Element {
    /// Its class as JMeter's newest version calls it, without its package where that is JMeter's own.
    pub class: String,
    /// The class of its panel, which tells configurations of the same class apart.
    pub gui: String,
    /// Its name.
    pub name: String,
    /// Neither it nor what stands below it is run where this is false.
    pub enabled: bool,
    /// Where it begins in the file, counted from 1.
    pub line: usize,
    /// The names from the test plan down to it: `/Test Plan/Users/Login`.
    pub path: String,
    /// Its properties.
    pub properties: Properties,
    /// Elements below it.
    pub children: Vec<Element>,
}

/// Properties in the order of the file. They remember which of them somebody asked for, so that those that nobody reads can be told.
#[derive(Debug, Clone, Default)]
pub struct Properties {
    rows: Vec<ElementRow>,
    met: Cell<bool>,
}

#[derive(Debug, Clone)]
struct ElementRow {
    name: String,
    value: Value,
    asked: Cell<bool>,
}

/// Equality of names and values: it makes no difference which of them somebody asked for.
impl PartialEq for Properties {
    fn eq(&self, other: &Properties) -> bool {
        self.all().eq(other.all())
    }
}

/// A property's value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A text, number or flag, as it is written.
    Text(String),
    /// An element within the element.
    Object(Object),
    /// A collection; the names of its members mean nothing.
    List(Vec<Value>),
}

/// An element that is a property's value.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Object {
    /// Its class.
    pub class: String,
    /// The property's name.
    pub name: String,
    /// Its properties.
    pub properties: Properties,
}

impl Element {
    /// Its name or, where it has none, its class.
    pub fn title(&self) -> &str {
        if self.name.is_empty() { &self.class } else { &self.name }
    }
}

impl Properties {
    /// A text; where it is missing or no text, an empty one.
    pub fn text(&self, name: &str) -> &str {
        match self.value(name) {
            Some(Value::Text(text)) => text,
            _ => "",
        }
    }

    /// A text that is there and not blank.
    pub fn filled(&self, name: &str) -> Option<&str> {
        Some(self.text(name)).filter(|text| !text.trim().is_empty())
    }

    /// A flag: `true` in any case; `otherwise` where it is missing or blank.
    pub fn flag(&self, name: &str, otherwise: bool) -> bool {
        self.filled(name).map_or(otherwise, |text| text.trim().eq_ignore_ascii_case("true"))
    }

    /// A collection; empty where it is missing. A collection within an element (as in `Arguments`) is found as well.
    pub fn list(&self, name: &str) -> &[Value] {
        match self.value(name) {
            Some(Value::List(list)) => list,
            _ => &[],
        }
    }

    /// An element within the element.
    pub fn object(&self, name: &str) -> Option<&Object> {
        match self.value(name) {
            Some(Value::Object(object)) => Some(object),
            _ => None,
        }
    }

    /// A value; of several the last, as in JMeter.
    pub fn value(&self, name: &str) -> Option<&Value> {
        let rows = self.rows.iter().filter(|row| row.name == name);
        let last = rows.inspect(|row| row.asked.set(true)).last();
        last.map(|row| &row.value)
    }

    /// Notes that whoever reads these properties has been at work.
    pub(crate) fn meet(&self) {
        self.met.set(true);
    }

    /// Notes that nothing of the element runs, so that its properties say nothing.
    pub(crate) fn pass(&self) {
        self.met.set(false);
    }

    /// True if somebody was to read them.
    pub(crate) fn is_met(&self) -> bool {
        self.met.get()
    }

    /// True if somebody asked for one of them.
    pub(crate) fn is_asked(&self) -> bool {
        self.rows.iter().any(|row| row.asked.get())
    }

    /// All of them, each with true if somebody asked for it.
    pub(crate) fn asked(&self) -> impl Iterator<Item = (&str, &Value, bool)> {
        self.rows.iter().map(|row| (row.name.as_str(), &row.value, row.asked.get()))
    }

    /// Sets a value, in place of that of the same name.
    pub fn set(&mut self, name: &str, value: Value) {
        match self.rows.iter_mut().find(|row| row.name == name) {
            Some(row) => row.value = value,
            None => self.rows.push(ElementRow { name: name.to_owned(), value, asked: Cell::default() }),
        }
    }

    /// All of them, in the order of the file.
    pub fn all(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.rows.iter().map(|row| (row.name.as_str(), &row.value))
    }
}

impl Value {
    /// The text of a text; of anything else, an empty one.
    pub fn as_text(&self) -> &str {
        match self {
            Value::Text(text) => text,
            _ => "",
        }
    }

    /// The members of a collection.
    pub fn as_list(&self) -> &[Value] {
        match self {
            Value::List(list) => list,
            _ => &[],
        }
    }
}

/// The elements below the root of a plan.
///
/// # Errors
/// The document is no plan, or has references that lead nowhere.
pub(crate) fn elements(tree: &Tree) -> Result<Vec<Element>, Error> {
    let root = tree.node(tree.root())?;
    if root.tag != "jmeterTestPlan" {
        return Err(Error::OtherRoot(root.tag.clone()));
    }
    match root.children.first() {
        Some(first) => below(tree, *first),
        None => Ok(Vec::new()),
    }
}

/// The elements of a `hashTree`: what stands below an element is in the hashTree that follows it.
fn below(tree: &Tree, hash_tree: NodeId) -> Result<Vec<Element>, Error> {
    let mut elements: Vec<Element> = Vec::new();
    for id in &tree.node(hash_tree)?.children {
        if tree.written(*id).tag != "hashTree" {
            elements.push(element(tree, *id)?);
        } else if let Some(element) = elements.last_mut() {
            element.children.extend(below(tree, *id)?);
        }
    }
    Ok(elements)
}

fn element(tree: &Tree, id: NodeId) -> Result<Element, Error> {
    let node = tree.node(id)?;
    let attribute = |name| node.attribute(name).unwrap_or("").to_owned();
    let class = node.attribute("testclass").filter(|class| !class.is_empty()).unwrap_or(&node.tag);
    let properties = properties(tree, node)?;
    let by_property = |name| Some(properties.text(name)).filter(|text| !text.is_empty());
    let named = by_property("TestElement.name").unwrap_or("");
    let enabled = node.attribute("enabled").or(by_property("TestElement.enabled"));
    Ok(Element {
        class: current_class(class).to_owned(),
        gui: attribute("guiclass").rsplit('.').next().expect("a split has a part").to_owned(),
        name: node.attribute("testname").unwrap_or(named).to_owned(),
        enabled: !enabled.is_some_and(|enabled| enabled.trim().eq_ignore_ascii_case("false")),
        line: node.line,
        path: String::new(),
        properties,
        children: Vec::new(),
    })
}

fn properties(tree: &Tree, node: &XmlNode) -> Result<Properties, Error> {
    let mut properties = Properties::default();
    for id in &node.children {
        let (name, value) = property(tree, *id)?;
        properties.rows.push(ElementRow { name, value, asked: Cell::default() });
    }
    Ok(properties)
}

/// A property and its name, which stands where it is written even if the value is a reference.
fn property(tree: &Tree, id: NodeId) -> Result<(String, Value), Error> {
    let written = tree.written(id);
    let node = tree.node(id)?;
    let child = |tag: &str| {
        let mut children = node.children.iter().map(|child| tree.node(*child));
        children.find(|child| child.as_ref().is_ok_and(|child| child.tag == tag)).transpose()
    };
    let own_name = written.attribute("name").or(node.attribute("name"));
    // Numbers of test beans and objects carry their names and values as elements.
    if let ("doubleProp" | "floatProp" | "FloatProperty" | "objProp", None) = (node.tag.as_str(), own_name) {
        let name = child("name")?.map_or_else(String::new, |name| name.text.clone());
        let value = match child("value")? {
            Some(value) if value.children.is_empty() => Value::Text(value.text.clone()),
            Some(value) => Value::Object(object(tree, value, &name)?),
            None => Value::Text(String::new()),
        };
        return Ok((name, value));
    }
    let name = own_name.unwrap_or(&node.tag).to_owned();
    let value = match node.tag.as_str() {
        "collectionProp" | "mapProp" => Value::List(list(tree, node)?),
        "elementProp" | "testElementProp" => Value::Object(object(tree, node, &name)?),
        _ if node.children.is_empty() => Value::Text(node.text.clone()),
        _ => Value::Object(object(tree, node, &name)?),
    };
    Ok((current_key(&name).to_owned(), value))
}

fn list(tree: &Tree, node: &XmlNode) -> Result<Vec<Value>, Error> {
    node.children.iter().map(|child| Ok(property(tree, *child)?.1)).collect()
}

fn object(tree: &Tree, node: &XmlNode, name: &str) -> Result<Object, Error> {
    let class = ["elementType", "testclass", "class"].iter().find_map(|attribute| node.attribute(attribute));
    Ok(Object {
        class: current_class(class.unwrap_or("")).to_owned(),
        name: name.to_owned(),
        properties: properties(tree, node)?,
    })
}

/// A class by its newest name.
fn current_class(class: &str) -> &str {
    let short = match class.strip_prefix("org.apache.jmeter.") {
        Some(ours) => ours.rsplit('.').next().unwrap_or(ours),
        None => class,
    };
    match short {
        "HTTPSampler" | "HTTPSampler2" | "HTTPSamplerFull" => "HTTPSamplerProxy",
        "ThreadGroupGui" => "ThreadGroup",
        "SetupThreadGroupGui" => "SetupThreadGroup",
        "JSONPathPostProcessor" => "JSONPostProcessor",
        "MultiplyResultAction" => "ResultAction",
        other => other,
    }
}

/// A key by the name that this crate knows: JMeter's misspelt one is found under the right spelling.
fn current_key(key: &str) -> &str {
    match key {
        "Asserion.test_strings" => "Assertion.test_strings",
        "HTTPSampler.Arguments" => "HTTPsampler.Arguments",
        "HTTPSampler.Files" => "HTTPsampler.Files",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(inner: &str) -> Vec<Element> {
        let xml = format!("<jmeterTestPlan><hashTree>{inner}</hashTree></jmeterTestPlan>");
        elements(&Tree::read(&xml).unwrap()).unwrap()
    }

    #[test]
    fn hash_trees_belong_to_the_element_before_them() {
        let plan = read(
            "<TestPlan testname='p'/><hashTree><A testname='a'/><B testname='b'/><hashTree><C enabled='false'/></hashTree></hashTree>\
             <WorkBench/><hashTree/>",
        );
        let names: Vec<&str> = plan[0].children.iter().map(|child| child.class.as_str()).collect();
        assert_eq!((plan.len(), plan[0].name.as_str(), names), (2, "p", vec!["A", "B"]));
        assert!(!plan[0].children[1].children[0].enabled && plan[0].children[1].enabled);
    }

    #[test]
    fn properties_in_all_their_ways() {
        let element = &read(
            "<X testclass='org.apache.jmeter.protocol.http.sampler.HTTPSampler2'>\
             <stringProp name='s'>a</stringProp><boolProp name='b'>True</boolProp><intProp name='i'>7</intProp>\
             <doubleProp><name>throughput</name><value>10.5</value><savedValue>0.0</savedValue></doubleProp>\
             <FloatProperty><name>percent</name><value>50.0</value><savedValue>0.0</savedValue></FloatProperty>\
             <objProp><name>saveConfig</name><value class='C'><time>true</time></value></objProp>\
             <collectionProp name='Asserion.test_strings'><stringProp name='49586'>200</stringProp></collectionProp>\
             <collectionProp name='again' reference='../collectionProp'/>\
             <elementProp name='HTTPsampler.Arguments' elementType='Arguments'><stringProp name='n'>1</stringProp></elementProp></X>",
        )[0];
        let of = |name| element.properties.text(name);
        assert_eq!((of("s"), of("i"), of("throughput"), of("none")), ("a", "7", "10.5", ""));
        assert_eq!(of("percent"), "50.0");
        assert_eq!(element.class, "HTTPSamplerProxy");
        assert!(element.properties.flag("b", false) && element.properties.flag("none", true));
        for list in ["Assertion.test_strings", "again"] {
            assert_eq!(element.properties.list(list), [Value::Text("200".to_owned())], "{list}");
        }
        assert_eq!(element.properties.object("HTTPsampler.Arguments").unwrap().properties.text("n"), "1");
        assert_eq!(element.properties.object("saveConfig").unwrap().properties.text("time"), "true");
    }
}
