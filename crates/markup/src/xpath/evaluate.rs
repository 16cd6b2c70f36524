//! The value of an expression in a document. Each step that is taken counts, so that no expression takes for ever.

use super::function::Function;
use super::{Axis, Comparison, Expression, Found, NodeTest, Operation, XpathStep};
use crate::tree::{Document, MarkupContent, Node};

/// Nodes that an evaluation looks at, at most.
const MOST_STEPS: u64 = 5_000_000;

/// Evaluates an expression at the root of a document.
pub(super) fn evaluate(of: &Expression, document: &Document, most: usize) -> Vec<Found> {
    let mut evaluator = Evaluator { document, steps: 0 };
    let here = Here { item: XpathItem { node: 0, attribute: None }, place: 1, last: 1 };
    let Ok(value) = evaluator.value(of, here) else { return Vec::new() };
    match value {
        XpathValue::Items(items) => {
            let found = items.into_iter().take(most).map(|item| match item.attribute {
                None => Found::Node(item.node),
                Some(_) => Found::Text(evaluator.text(item)),
            });
            found.collect()
        }
        other => vec![Found::Text(evaluator.text_of(&other))],
    }
}

/// A node, or an attribute of an element; in document order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct XpathItem {
    node: Node,
    attribute: Option<u16>,
}

/// Where an expression is evaluated.
#[derive(Clone, Copy)]
struct Here {
    item: XpathItem,
    /// Its place among those that a predicate is tried with, from 1, and how many they are.
    place: usize,
    last: usize,
}

enum XpathValue {
    Items(Vec<XpathItem>),
    Boolean(bool),
    Number(f64),
    Text(String),
}

struct Evaluator<'d> {
    document: &'d Document,
    steps: u64,
}

/// It took too long.
struct TooLong;

type Evaluated<T> = Result<T, TooLong>;

impl Evaluator<'_> {
    fn spend(&mut self, steps: usize) -> Evaluated<()> {
        self.steps += steps as u64 + 1;
        if self.steps > MOST_STEPS { Err(TooLong) } else { Ok(()) }
    }

    fn value(&mut self, of: &Expression, here: Here) -> Evaluated<XpathValue> {
        self.spend(0)?;
        Ok(match of {
            Expression::Number(number) => XpathValue::Number(*number),
            Expression::Text(text) => XpathValue::Text(text.clone()),
            Expression::Or(left, right) => {
                XpathValue::Boolean(self.holds(left, here)? || self.holds(right, here)?)
            }
            Expression::And(left, right) => {
                XpathValue::Boolean(self.holds(left, here)? && self.holds(right, here)?)
            }
            Expression::Compare(how, left, right) => {
                let left = self.value(left, here)?;
                let right = self.value(right, here)?;
                XpathValue::Boolean(self.compare(*how, &left, &right)?)
            }
            Expression::Compute(operation, left, right) => {
                let left = self.number(left, here)?;
                let right = self.number(right, here)?;
                XpathValue::Number(match operation {
                    Operation::Add => left + right,
                    Operation::Subtract => left - right,
                    Operation::Multiply => left * right,
                    Operation::Divide => left / right,
                    Operation::Remainder => left % right,
                })
            }
            Expression::Negate(of) => XpathValue::Number(-self.number(of, here)?),
            Expression::Call(function, arguments) => self.call(*function, arguments, here)?,
            _ => XpathValue::Items(self.items(of, here)?),
        })
    }

    /// Nodes, in document order.
    fn items(&mut self, of: &Expression, here: Here) -> Evaluated<Vec<XpathItem>> {
        match of {
            Expression::Absolute(steps) => self.walk(vec![XpathItem { node: 0, attribute: None }], steps),
            Expression::Relative(steps) => self.walk(vec![here.item], steps),
            Expression::From(of, steps) => {
                let from = self.items(of, here)?;
                self.walk(from, steps)
            }
            Expression::Union(left, right) => {
                let mut items = self.items(left, here)?;
                items.extend(self.items(right, here)?);
                items.sort_unstable();
                items.dedup();
                Ok(items)
            }
            Expression::Filter(of, predicates) => {
                let items = self.items(of, here)?;
                self.filter(items, predicates)
            }
            _ => Ok(Vec::new()),
        }
    }

    fn walk(&mut self, mut from: Vec<XpathItem>, steps: &[XpathStep]) -> Evaluated<Vec<XpathItem>> {
        for step in steps {
            let mut next = Vec::new();
            for item in &from {
                let along = self.along(*item, step)?;
                next.extend(self.filter(along, &step.predicates)?);
            }
            next.sort_unstable();
            next.dedup();
            from = next;
        }
        Ok(from)
    }

    /// Returns the items that an axis leads to, the nearest first.
    fn along(&mut self, from: XpathItem, step: &XpathStep) -> Evaluated<Vec<XpathItem>> {
        let document = self.document;
        let XpathItem { node, attribute } = from;
        let up = |node: Node| std::iter::successors(document.parent(node), |node| document.parent(*node));
        let siblings = |node: Node| document.children(document.parent(node).unwrap_or(0));
        // The parent of an attribute is its element; it has no siblings and nothing in it.
        let nodes: Vec<Node> = match (step.axis, attribute) {
            (Axis::Attribute, None) => {
                let all = document.attributes(node).iter().enumerate();
                let kept = all.filter(|(_, known)| fits_name(&step.test, &known.name));
                let items = kept.map(|(nth, _)| XpathItem { node, attribute: u16::try_from(nth).ok() });
                return Ok(items.collect());
            }
            (Axis::Itself, Some(_)) => {
                return Ok(if step.test == NodeTest::Node { vec![from] } else { Vec::new() });
            }
            (Axis::Parent, Some(_)) => vec![node],
            (Axis::Ancestor | Axis::AncestorOrSelf, Some(_)) => {
                std::iter::once(node).chain(up(node)).collect()
            }
            (_, Some(_)) => Vec::new(),
            (Axis::Itself, None) => vec![node],
            (Axis::Child, None) => document.children(node).collect(),
            (Axis::Descendant, None) => document.descendants(node).collect(),
            (Axis::DescendantOrSelf, None) => {
                std::iter::once(node).chain(document.descendants(node)).collect()
            }
            (Axis::Parent, None) => document.parent(node).into_iter().collect(),
            (Axis::Ancestor, None) => up(node).collect(),
            (Axis::AncestorOrSelf, None) => std::iter::once(node).chain(up(node)).collect(),
            (Axis::FollowingSibling, None) => siblings(node).filter(|sibling| *sibling > node).collect(),
            (Axis::PrecedingSibling, None) => {
                let mut before: Vec<Node> = siblings(node).take_while(|sibling| *sibling < node).collect();
                before.reverse();
                before
            }
            (Axis::Following, None) => {
                (document.descendants(node).end..document.descendants(0).end).collect()
            }
            (Axis::Preceding, None) => {
                let is_around = |one: &Node| document.descendants(*one).contains(&node);
                (1..node).rev().filter(|one| !is_around(one)).collect()
            }
        };
        self.spend(nodes.len())?;
        let kept = nodes.into_iter().filter(|node| self.fits(*node, &step.test));
        Ok(kept.map(|node| XpathItem { node, attribute: None }).collect())
    }

    fn fits(&self, node: Node, test: &NodeTest) -> bool {
        match (test, self.document.content(node)) {
            (NodeTest::Node, _) => true,
            (NodeTest::Text, MarkupContent::Text(_)) => true,
            (NodeTest::Comment, MarkupContent::Comment(_)) => true,
            (NodeTest::Instruction(wanted), MarkupContent::Instruction { name, .. }) => {
                wanted.as_ref().is_none_or(|wanted| **wanted == **name)
            }
            (test, MarkupContent::Element { name, .. }) => fits_name(test, name),
            _ => false,
        }
    }

    fn filter(&mut self, mut items: Vec<XpathItem>, predicates: &[Expression]) -> Evaluated<Vec<XpathItem>> {
        for predicate in predicates {
            let last = items.len();
            let mut kept = Vec::new();
            for (nth, item) in items.into_iter().enumerate() {
                let here = Here { item, place: nth + 1, last };
                let keep = match self.value(predicate, here)? {
                    XpathValue::Number(number) => number == here.place as f64,
                    other => truth(&other),
                };
                if keep {
                    kept.push(item);
                }
            }
            items = kept;
        }
        Ok(items)
    }

    // Conversions (sections 3.2 to 4.4).

    fn holds(&mut self, of: &Expression, here: Here) -> Evaluated<bool> {
        self.value(of, here).map(|value| truth(&value))
    }

    fn number(&mut self, of: &Expression, here: Here) -> Evaluated<f64> {
        let value = self.value(of, here)?;
        Ok(self.number_of(&value))
    }

    fn string(&mut self, of: &Expression, here: Here) -> Evaluated<String> {
        let value = self.value(of, here)?;
        let text = self.text_of(&value);
        self.spend(text.len() / 16)?;
        Ok(text)
    }

    fn number_of(&self, value: &XpathValue) -> f64 {
        match value {
            XpathValue::Number(number) => *number,
            XpathValue::Boolean(truth) => f64::from(u8::from(*truth)),
            other => to_number(&self.text_of(other)),
        }
    }

    fn text_of(&self, value: &XpathValue) -> String {
        match value {
            XpathValue::Text(text) => text.clone(),
            XpathValue::Boolean(truth) => truth.to_string(),
            XpathValue::Number(number) => shown(*number),
            XpathValue::Items(items) => items.first().map_or_else(String::new, |item| self.text(*item)),
        }
    }

    fn text(&self, item: XpathItem) -> String {
        match item.attribute {
            Some(nth) => self.document.attributes(item.node)[usize::from(nth)].value.clone(),
            None => self.document.text(item.node),
        }
    }

    fn compare(&mut self, how: Comparison, left: &XpathValue, right: &XpathValue) -> Evaluated<bool> {
        match (left, right) {
            (XpathValue::Items(items), XpathValue::Items(others)) => {
                let texts: Vec<String> = others.iter().map(|item| self.text(*item)).collect();
                self.spend(items.len().saturating_mul(texts.len()))?;
                Ok(items.iter().map(|item| self.text(*item)).any(|text| {
                    texts.iter().any(|other| match is_order(how) {
                        true => compares(how, to_number(&text), to_number(other)),
                        false => (text == *other) == (how == Comparison::Equal),
                    })
                }))
            }
            (XpathValue::Items(items), other) => {
                self.spend(items.len())?;
                Ok(self.compare_items(how, items, other))
            }
            (other, XpathValue::Items(items)) => {
                self.spend(items.len())?;
                Ok(self.compare_items(turned(how), items, other))
            }
            (left, right) if is_order(how) => Ok(compares(how, self.number_of(left), self.number_of(right))),
            (XpathValue::Boolean(_), _) | (_, XpathValue::Boolean(_)) => {
                Ok((truth(left) == truth(right)) == (how == Comparison::Equal))
            }
            (XpathValue::Number(_), _) | (_, XpathValue::Number(_)) => {
                Ok(compares(how, self.number_of(left), self.number_of(right)))
            }
            (left, right) => Ok((self.text_of(left) == self.text_of(right)) == (how == Comparison::Equal)),
        }
    }

    fn compare_items(&self, how: Comparison, items: &[XpathItem], other: &XpathValue) -> bool {
        match other {
            XpathValue::Boolean(other) => {
                compares(how, f64::from(u8::from(!items.is_empty())), f64::from(u8::from(*other)))
            }
            XpathValue::Text(text) if !is_order(how) => {
                items.iter().any(|item| (self.text(*item) == *text) == (how == Comparison::Equal))
            }
            other => {
                let number = self.number_of(other);
                items.iter().any(|item| compares(how, to_number(&self.text(*item)), number))
            }
        }
    }

    fn call(&mut self, function: Function, arguments: &[Expression], here: Here) -> Evaluated<XpathValue> {
        // Without an argument, of where one stands.
        let own = Expression::Relative(Vec::new());
        let first = arguments.first().unwrap_or(&own);
        Ok(match function {
            Function::Last => XpathValue::Number(here.last as f64),
            Function::Position => XpathValue::Number(here.place as f64),
            Function::True => XpathValue::Boolean(true),
            Function::False => XpathValue::Boolean(false),
            Function::Boolean => XpathValue::Boolean(self.holds(first, here)?),
            Function::Not => XpathValue::Boolean(!self.holds(first, here)?),
            Function::Count => XpathValue::Number(self.items(first, here)?.len() as f64),
            Function::Sum => {
                let items = self.items(first, here)?;
                XpathValue::Number(items.into_iter().map(|item| to_number(&self.text(item))).sum())
            }
            Function::LocalName | Function::NamespaceUri | Function::Name => {
                let item = self.items(first, here)?.first().copied();
                XpathValue::Text(item.map_or_else(String::new, |item| self.name(function, item)))
            }
            Function::Number => XpathValue::Number(self.number(first, here)?),
            Function::Floor => XpathValue::Number(self.number(first, here)?.floor()),
            Function::Ceiling => XpathValue::Number(self.number(first, here)?.ceil()),
            Function::Round => XpathValue::Number((self.number(first, here)? + 0.5).floor()),
            _ => return self.call_of_texts(function, arguments, first, here),
        })
    }

    fn call_of_texts(
        &mut self,
        function: Function,
        arguments: &[Expression],
        first: &Expression,
        here: Here,
    ) -> Evaluated<XpathValue> {
        let text = self.string(first, here)?;
        let second = match arguments.get(1).filter(|_| function != Function::Substring) {
            Some(second) => self.string(second, here)?,
            None => String::new(),
        };
        Ok(match function {
            Function::StartsWith => XpathValue::Boolean(text.starts_with(&second)),
            Function::Contains => XpathValue::Boolean(text.contains(&second)),
            Function::Length => XpathValue::Number(text.chars().count() as f64),
            Function::SubstringBefore => {
                XpathValue::Text(text.split_once(&second).map_or("", |(before, _)| before).to_owned())
            }
            Function::SubstringAfter => {
                XpathValue::Text(text.split_once(&second).map_or("", |(_, after)| after).to_owned())
            }
            Function::Normalize => XpathValue::Text(text.split_whitespace().collect::<Vec<_>>().join(" ")),
            Function::Concat => {
                let mut all = text + &second;
                for more in &arguments[2..] {
                    all += &self.string(more, here)?;
                }
                XpathValue::Text(all)
            }
            Function::Translate => {
                let to: Vec<char> = self.string(&arguments[2], here)?.chars().collect();
                let put = |one: char| match second.chars().position(|from| from == one) {
                    Some(at) => to.get(at).copied(),
                    None => Some(one),
                };
                XpathValue::Text(text.chars().filter_map(put).collect())
            }
            Function::Substring => {
                let round = |number: f64| (number + 0.5).floor();
                let begin = round(self.number(&arguments[1], here)?);
                let end = match arguments.get(2) {
                    Some(length) => begin + round(self.number(length, here)?),
                    None => f64::INFINITY,
                };
                let kept = text.chars().zip(1u32..).filter(|(_, place)| {
                    let place = f64::from(*place);
                    place >= begin && place < end
                });
                XpathValue::Text(kept.map(|(one, _)| one).collect())
            }
            _ => XpathValue::Text(text),
        })
    }

    fn name(&self, function: Function, item: XpathItem) -> String {
        let name = match (item.attribute, self.document.content(item.node)) {
            (Some(nth), _) => &*self.document.attributes(item.node)[usize::from(nth)].name,
            (None, MarkupContent::Element { name, .. } | MarkupContent::Instruction { name, .. }) => name,
            _ => return String::new(),
        };
        let (prefix, local) =
            name.split_once(':').map_or((None, name), |(prefix, local)| (Some(prefix), local));
        match function {
            Function::LocalName => local.to_owned(),
            Function::NamespaceUri => self.namespace(item, prefix),
            _ => name.to_owned(),
        }
    }

    /// Returns the namespace that a prefix stands for where an element stands.
    fn namespace(&self, item: XpathItem, prefix: Option<&str>) -> String {
        let declared = match prefix {
            Some(prefix) => format!("xmlns:{prefix}"),
            None if item.attribute.is_some() => return String::new(),
            None => "xmlns".to_owned(),
        };
        let document = self.document;
        let mut up = std::iter::successors(Some(item.node), |node| document.parent(*node));
        up.find_map(|node| document.attribute(node, &declared)).unwrap_or("").to_owned()
    }
}

fn fits_name(test: &NodeTest, name: &str) -> bool {
    match test {
        NodeTest::Node | NodeTest::Any(None) => !name.starts_with("xmlns:") && name != "xmlns",
        NodeTest::Any(Some(prefix)) => {
            name.split_once(':').is_some_and(|(known, _)| known == prefix && known != "xmlns")
        }
        NodeTest::Name(wanted) => wanted == name,
        _ => false,
    }
}

fn truth(value: &XpathValue) -> bool {
    match value {
        XpathValue::Boolean(truth) => *truth,
        XpathValue::Number(number) => *number != 0.0 && !number.is_nan(),
        XpathValue::Text(text) => !text.is_empty(),
        XpathValue::Items(items) => !items.is_empty(),
    }
}

/// A text as a number: digits with a point and a minus before them, otherwise not a number.
fn to_number(text: &str) -> f64 {
    let text = text.trim_matches([' ', '\t', '\n', '\r']);
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if plain && digits.bytes().any(|byte| byte.is_ascii_digit()) {
        text.parse().unwrap_or(f64::NAN)
    } else {
        f64::NAN
    }
}

/// A number as XPath writes it.
fn shown(number: f64) -> String {
    match number {
        0.0 => "0".to_owned(),
        number if number.is_infinite() => if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned(),
        number => number.to_string(),
    }
}

fn is_order(how: Comparison) -> bool {
    !matches!(how, Comparison::Equal | Comparison::Unequal)
}

/// The comparison with its sides changed over.
fn turned(how: Comparison) -> Comparison {
    match how {
        Comparison::Less => Comparison::Greater,
        Comparison::LessOrEqual => Comparison::GreaterOrEqual,
        Comparison::Greater => Comparison::Less,
        Comparison::GreaterOrEqual => Comparison::LessOrEqual,
        same => same,
    }
}

#[expect(clippy::float_cmp, reason = "XPath compares numbers so")]
fn compares(how: Comparison, left: f64, right: f64) -> bool {
    match how {
        Comparison::Equal => left == right,
        Comparison::Unequal => left != right,
        Comparison::Less => left < right,
        Comparison::LessOrEqual => left <= right,
        Comparison::Greater => left > right,
        Comparison::GreaterOrEqual => left >= right,
    }
}
