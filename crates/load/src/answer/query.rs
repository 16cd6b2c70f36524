//! Values that XPath expressions and CSS selectors find in an answer. The answer is read for each of them: plans look seldom, and
//! a tree is not kept between them.

use markup::{Document, Found, Selector, XPath};
use plan::answer::{By, Take};

/// An expression, made ready.
pub(crate) enum Query {
    XPath { path: XPath, html: bool, take: Take },
    Css { selector: Selector, attribute: Option<String> },
}

impl Query {
    /// `None` where it is neither, or is one that a plan's check refuses.
    pub fn new(by: &By) -> Option<Query> {
        if let By::XPath { path, html, take } = by {
            return Some(Query::XPath { path: XPath::parse(path).ok()?, html: *html, take: *take });
        }
        let By::Css { selector, attribute } = by else { return None };
        let selector = Selector::parse(selector).ok()?;
        Some(Query::Css { selector, attribute: attribute.as_ref().map(|name| name.to_lowercase()) })
    }

    /// The values that it finds, at most so many. A node without what is taken has the empty text among several, and is none where
    /// one is wanted.
    pub fn values(&self, text: &[u8], most: usize) -> Vec<String> {
        let text = String::from_utf8_lossy(text);
        match self {
            Query::XPath { path, html, take } => {
                let document = if *html { Ok(Document::html(&text)) } else { Document::xml(&text) };
                let Ok(document) = document else { return Vec::new() };
                let found = path.find(&document, most).into_iter();
                found
                    .filter_map(|found| taken(&document, found, *take).or((most > 1).then(String::new)))
                    .collect()
            }
            Query::Css { selector, attribute } => {
                let document = Document::html(&text);
                let nodes = selector.find(&document, most).into_iter();
                let value = |node| match attribute {
                    Some(name) => document.attribute(node, name).unwrap_or_default().to_owned(),
                    None => document.shown(node),
                };
                nodes.map(value).collect()
            }
        }
    }
}

fn taken(document: &Document, found: Found, take: Take) -> Option<String> {
    match (found, take) {
        (Found::Text(text), _) => Some(text),
        (Found::Node(node), Take::Text) => Some(document.text(node)),
        (Found::Node(node), Take::FirstText) => document.first_text(node),
        (Found::Node(node), Take::Markup) => Some(document.markup(node)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_xml_and_html() {
        let xpath =
            |path: &str, html, take| Query::new(&By::XPath { path: path.to_owned(), html, take }).unwrap();
        let css = |selector: &str, attribute: Option<&str>| {
            let attribute = attribute.map(str::to_owned);
            Query::new(&By::Css { selector: selector.to_owned(), attribute }).unwrap()
        };
        let (xml, page) =
            (&b"<a><b>1<c>2</c></b><b><c>3</c></b></a>"[..], &b"<ul><li CLASS=x>1<li>2</ul>"[..]);
        for (query, text, most, wanted) in [
            (xpath("//b", false, Take::Text), xml, 9, &["12", "3"][..]),
            (xpath("//b", false, Take::FirstText), xml, 9, &["1", ""]),
            (xpath("//b[2]", false, Take::FirstText), xml, 1, &[]),
            (xpath("//b[1]/c", false, Take::Markup), xml, 1, &["<c>2</c>"]),
            (xpath("//li", false, Take::Text), page, 9, &[]),
            (xpath("//li", true, Take::Text), page, 9, &["1", "2"]),
            (css("li", Some("CLASS")), page, 9, &["x", ""]),
            (css("li + li", None), page, 1, &["2"]),
        ] {
            assert_eq!(query.values(text, most), wanted);
        }
    }
}
