//! CSS selectors (level 3, and what jsoup adds to them) over a document.

use crate::tree::{Document, Node};

/// A selector, read.
#[derive(Debug, Clone, PartialEq)]
pub struct Selector {
    /// Alternatives; an element is found where one of them fits.
    chains: Vec<Chain>,
}

/// Simple selectors with what stands between them, the last first.
#[derive(Debug, Clone, PartialEq)]
struct Chain {
    last: Vec<Test>,
    /// The combinator that leads to it, and the selector before it.
    before: Vec<(Combinator, Vec<Test>)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Combinator {
    Descendant,
    Child,
    Next,
    Later,
}

#[derive(Debug, Clone, PartialEq)]
enum Test {
    Name(String),
    Attribute {
        name: String,
        how: CssMode,
        value: String,
    },
    /// a·n + b, counted from the end or not, among those of the same name or all.
    Nth {
        step: i64,
        first: i64,
        from_end: bool,
        same_name: bool,
    },
    Only {
        same_name: bool,
    },
    Empty,
    Root,
    Not(Selector),
    Has(Selector, Combinator),
    /// jsoup: holds the text, in whatever case; of its own or at any depth.
    Contains {
        text: String,
        own: bool,
    },
    /// jsoup: its place among the elements of its parent, from 0.
    Place(std::cmp::Ordering, i64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CssMode {
    Exists,
    Equals,
    Differs,
    Begins,
    Ends,
    Holds,
    Word,
    Dash,
}

impl Selector {
    /// Reads a selector.
    ///
    /// # Errors
    /// Why it is none that is understood.
    pub fn parse(text: &str) -> Result<Selector, String> {
        let mut reader = CssReader { rest: text.trim(), depth: 0 };
        let selector = reader.selector()?;
        match reader.rest.is_empty() {
            true => Ok(selector),
            false => Err(format!("'{}' is not understood in a CSS selector", short(reader.rest))),
        }
    }

    /// The elements that it finds, in document order, at most so many.
    pub fn find(&self, document: &Document, most: usize) -> Vec<Node> {
        let elements = document.descendants(0).filter(|node| document.name(*node).is_some());
        elements.filter(|node| self.fits(document, *node)).take(most).collect()
    }

    fn fits(&self, document: &Document, node: Node) -> bool {
        self.chains.iter().any(|chain| {
            chain.last.iter().all(|test| test.fits(document, node)) && leads(document, node, &chain.before)
        })
    }
}

/// True if what stands before a node is as the rest of a chain wants it.
fn leads(document: &Document, node: Node, before: &[(Combinator, Vec<Test>)]) -> bool {
    let Some(((combinator, tests), rest)) = before.split_first() else { return true };
    let fits = |node: Node| {
        document.name(node).is_some()
            && tests.iter().all(|test| test.fits(document, node))
            && leads(document, node, rest)
    };
    match combinator {
        Combinator::Child => document.parent(node).is_some_and(fits),
        Combinator::Descendant => {
            std::iter::successors(document.parent(node), |node| document.parent(*node)).any(fits)
        }
        Combinator::Next => earlier(document, node).last().is_some_and(fits),
        Combinator::Later => earlier(document, node).any(fits),
    }
}

/// The elements before one in its parent.
fn earlier(document: &Document, node: Node) -> impl Iterator<Item = Node> + '_ {
    siblings(document, node).take_while(move |sibling| *sibling < node)
}

fn siblings(document: &Document, node: Node) -> impl Iterator<Item = Node> + '_ {
    let parent = document.parent(node).unwrap_or(0);
    document.children(parent).filter(|child| document.name(*child).is_some())
}

impl Test {
    fn fits(&self, document: &Document, node: Node) -> bool {
        match self {
            Test::Name(name) => document.name(node).is_some_and(|known| known.eq_ignore_ascii_case(name)),
            Test::Attribute { name, how, value } => {
                let found = document.attribute(node, name);
                found.map_or(*how == CssMode::Differs, |found| how.fits(found, value))
            }
            Test::Nth { step, first, from_end, same_name } => {
                let alike = |sibling: &Node| !same_name || document.name(*sibling) == document.name(node);
                let mut all = siblings(document, node).filter(alike);
                let place = match from_end {
                    false => all.take_while(|sibling| *sibling <= node).count(),
                    true => {
                        all.by_ref().take_while(|sibling| *sibling < node).for_each(drop);
                        1 + all.count()
                    }
                };
                let past = place as i64 - first;
                if *step == 0 { past == 0 } else { past % step == 0 && past / step >= 0 }
            }
            Test::Only { same_name } => {
                let alike = |sibling: &Node| !same_name || document.name(*sibling) == document.name(node);
                siblings(document, node).filter(alike).count() == 1
            }
            Test::Empty => document.descendants(node).is_empty(),
            Test::Root => document.parent(node) == Some(0),
            Test::Not(selector) => !selector.fits(document, node),
            Test::Has(selector, combinator) => {
                let mut inside: Box<dyn Iterator<Item = Node>> = match combinator {
                    Combinator::Child => Box::new(document.children(node)),
                    _ => Box::new(document.descendants(node)),
                };
                inside.any(|inner| document.name(inner).is_some() && selector.fits(document, inner))
            }
            Test::Contains { text, own } => {
                let found = match own {
                    false => document.shown(node),
                    true => document
                        .children(node)
                        .filter(|child| document.name(*child).is_none())
                        .map(|child| document.text(child))
                        .collect(),
                };
                found.to_lowercase().contains(text)
            }
            Test::Place(order, place) => (earlier(document, node).count() as i64).cmp(place) == *order,
        }
    }
}

impl CssMode {
    fn fits(self, found: &str, value: &str) -> bool {
        let dash = || found.strip_prefix(value).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
        match self {
            CssMode::Exists => true,
            CssMode::Equals => found.trim().eq_ignore_ascii_case(value.trim()),
            CssMode::Differs => !found.trim().eq_ignore_ascii_case(value.trim()),
            CssMode::Begins => !value.is_empty() && found.starts_with(value),
            CssMode::Ends => !value.is_empty() && found.ends_with(value),
            CssMode::Holds => !value.is_empty() && found.contains(value),
            CssMode::Word => found.split_whitespace().any(|word| word == value),
            CssMode::Dash => dash(),
        }
    }
}

struct CssReader<'a> {
    rest: &'a str,
    depth: usize,
}

type Read<T> = Result<T, String>;

impl<'a> CssReader<'a> {
    fn take(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn blanks(&mut self) -> bool {
        let before = self.rest.len();
        self.rest = self.rest.trim_start();
        self.rest.len() < before
    }

    fn wrong<T>(&self) -> Read<T> {
        Err(match self.rest {
            "" => "the CSS selector ends too early".to_owned(),
            rest => format!("'{}' is not understood in a CSS selector", short(rest)),
        })
    }

    fn selector(&mut self) -> Read<Selector> {
        self.depth += 1;
        if self.depth > 16 {
            return Err("the CSS selector is nested too deeply".to_owned());
        }
        let mut chains = vec![self.chain()?];
        loop {
            self.blanks();
            if !self.take(",") {
                break;
            }
            self.blanks();
            chains.push(self.chain()?);
        }
        self.depth -= 1;
        Ok(Selector { chains })
    }

    fn chain(&mut self) -> Read<Chain> {
        let mut last = self.compound()?;
        let mut before = Vec::new();
        loop {
            let apart = self.blanks();
            let sign = self.combinator();
            let combinator = match (sign, apart) {
                (Some(combinator), _) => combinator,
                (None, true) if !self.rest.is_empty() && !self.rest.starts_with([',', ')']) => {
                    Combinator::Descendant
                }
                _ => return Ok(Chain { last, before }),
            };
            self.blanks();
            let next = self.compound()?;
            before.insert(0, (combinator, std::mem::replace(&mut last, next)));
        }
    }

    fn combinator(&mut self) -> Option<Combinator> {
        let combinators = [(">", Combinator::Child), ("+", Combinator::Next), ("~", Combinator::Later)];
        combinators.into_iter().find(|(sign, _)| self.take(sign)).map(|(_, combinator)| combinator)
    }

    fn compound(&mut self) -> Read<Vec<Test>> {
        let mut tests = Vec::new();
        let everything = self.take("*");
        if !everything && self.rest.starts_with(is_name) {
            tests.push(Test::Name(self.name()?));
        }
        loop {
            if self.take("#") {
                tests.push(attribute("id", CssMode::Equals, self.name()?));
            } else if self.take(".") {
                tests.push(attribute("class", CssMode::Word, self.name()?));
            } else if self.take("[") {
                tests.push(self.attribute()?);
            } else if self.take(":") {
                tests.push(self.pseudo()?);
            } else {
                return if tests.is_empty() && !everything { self.wrong() } else { Ok(tests) };
            }
        }
    }

    fn name(&mut self) -> Read<String> {
        let mut name = String::new();
        let mut characters = self.rest.char_indices();
        let end = loop {
            match characters.next() {
                Some((_, '\\')) => name.extend(characters.next().map(|(_, escaped)| escaped)),
                Some((_, one)) if is_name(one) => name.push(one),
                other => break other.map_or(self.rest.len(), |(at, _)| at),
            }
        };
        if name.is_empty() {
            return self.wrong();
        }
        self.rest = &self.rest[end..];
        Ok(name)
    }

    fn attribute(&mut self) -> Read<Test> {
        self.blanks();
        let name = self.name()?.to_ascii_lowercase();
        self.blanks();
        let signs = [
            ("!=", CssMode::Differs),
            ("^=", CssMode::Begins),
            ("$=", CssMode::Ends),
            ("*=", CssMode::Holds),
            ("~=", CssMode::Word),
            ("|=", CssMode::Dash),
            ("=", CssMode::Equals),
        ];
        let how = signs.into_iter().find(|(sign, _)| self.take(sign)).map_or(CssMode::Exists, |(_, how)| how);
        self.blanks();
        let value = if how == CssMode::Exists { String::new() } else { self.value()? };
        self.blanks();
        if self.take("]") { Ok(attribute(&name, how, value)) } else { self.wrong() }
    }

    fn value(&mut self) -> Read<String> {
        let quote = self.rest.chars().next().filter(|one| matches!(one, '"' | '\''));
        let (begin, end) = match quote {
            Some(quote) => (1, self.rest[1..].find(quote).map(|end| end + 1)),
            None => (0, self.rest.find(']')),
        };
        let Some(end) = end else { return self.wrong() };
        let value = self.rest[begin..end].to_owned();
        self.rest = &self.rest[end + begin..];
        Ok(if begin == 0 { value.trim_end().to_owned() } else { value })
    }

    fn pseudo(&mut self) -> Read<Test> {
        let before = self.rest;
        let name = self.name()?.to_ascii_lowercase();
        let nth = |step, first, from_end, same_name| Test::Nth { step, first, from_end, same_name };
        let simple = match name.as_str() {
            "first-child" => Some(nth(0, 1, false, false)),
            "last-child" => Some(nth(0, 1, true, false)),
            "first-of-type" => Some(nth(0, 1, false, true)),
            "last-of-type" => Some(nth(0, 1, true, true)),
            "only-child" => Some(Test::Only { same_name: false }),
            "only-of-type" => Some(Test::Only { same_name: true }),
            "empty" => Some(Test::Empty),
            "root" => Some(Test::Root),
            _ => None,
        };
        if let Some(test) = simple {
            return Ok(test);
        }
        if !self.take("(") {
            self.rest = before;
            return self.wrong();
        }
        self.blanks();
        let test = match name.as_str() {
            "not" => Test::Not(self.selector()?),
            "has" => {
                let combinator = if self.take(">") { Combinator::Child } else { Combinator::Descendant };
                self.blanks();
                Test::Has(self.selector()?, combinator)
            }
            _ => {
                let Some(end) = self.rest.find(')') else { return self.wrong() };
                let argument = self.rest[..end].trim();
                self.rest = &self.rest[end..];
                match with_argument(&name, argument) {
                    Some(test) => test,
                    None => {
                        self.rest = before;
                        return self.wrong();
                    }
                }
            }
        };
        self.blanks();
        if self.take(")") { Ok(test) } else { self.wrong() }
    }
}

fn attribute(name: &str, how: CssMode, value: String) -> Test {
    Test::Attribute { name: name.to_owned(), how, value }
}

fn with_argument(name: &str, argument: &str) -> Option<Test> {
    use std::cmp::Ordering;
    let nth = |from_end, same_name| {
        let (step, first) = sequence(argument)?;
        Some(Test::Nth { step, first, from_end, same_name })
    };
    let contains = |own| {
        let text = argument.trim_matches(['"', '\'']).to_lowercase();
        (!text.is_empty()).then_some(Test::Contains { text, own })
    };
    match name {
        "nth-child" => nth(false, false),
        "nth-last-child" => nth(true, false),
        "nth-of-type" => nth(false, true),
        "nth-last-of-type" => nth(true, true),
        "contains" => contains(false),
        "containsown" => contains(true),
        "eq" => Some(Test::Place(Ordering::Equal, argument.parse().ok()?)),
        "lt" => Some(Test::Place(Ordering::Less, argument.parse().ok()?)),
        "gt" => Some(Test::Place(Ordering::Greater, argument.parse().ok()?)),
        _ => None,
    }
}

/// `odd`, `even`, `3`, `2n+1` as a·n + b.
fn sequence(text: &str) -> Option<(i64, i64)> {
    let text: String = text.to_ascii_lowercase().split_whitespace().collect();
    match text.as_str() {
        "odd" => return Some((2, 1)),
        "even" => return Some((2, 0)),
        _ => {}
    }
    let Some((step, first)) = text.split_once('n') else { return Some((0, text.parse().ok()?)) };
    let step = match step {
        "" | "+" => 1,
        "-" => -1,
        step => step.parse().ok()?,
    };
    let first = if first.is_empty() { 0 } else { first.parse().ok()? };
    Some((step, first))
}

fn is_name(one: char) -> bool {
    one.is_alphanumeric() || matches!(one, '-' | '_' | '\\') || !one.is_ascii()
}

fn short(text: &str) -> String {
    text.chars().take(30).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_selector_says_why() {
        for (text, why) in [
            ("", "ends too early"),
            ("a >", "ends too early"),
            ("a[", "ends too early"),
            ("a[b", "ends too early"),
            ("a[b='c]", "''c]' is not understood"),
            ("a:hover", "'hover' is not understood"),
            ("a:matches(x)", "'matches(x)' is not understood"),
            ("a:nth-child(x)", "not understood"),
            ("a, , b", "not understood"),
            ("a { }", "'{ }' is not understood"),
            ("a:not(b", "ends too early"),
        ] {
            let error = Selector::parse(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
        let deep = format!("{}a{}", ":not(".repeat(20), ")".repeat(20));
        assert!(Selector::parse(&deep).unwrap_err().contains("too deeply"));
    }

    #[test]
    fn sequences_of_places() {
        for (text, wanted) in [
            ("odd", Some((2, 1))),
            ("2n + 1", Some((2, 1))),
            ("-n+3", Some((-1, 3))),
            ("n", Some((1, 0))),
            ("4", Some((0, 4))),
            ("x", None),
        ] {
            assert_eq!(sequence(text), wanted, "{text}");
        }
        let document = Document::html("<ul><li>1<li>2<li>3<li>4</ul>");
        let found = |text: &str| {
            let nodes = Selector::parse(text).unwrap().find(&document, 9);
            nodes.into_iter().map(|node| document.text(node)).collect::<String>()
        };
        assert_eq!(found("li:nth-child(-n+2)"), "12");
        assert_eq!(found("li:nth-last-child(2)"), "3");
        assert_eq!(found("li:not(:first-child):not(:last-child)"), "23");
    }
}
