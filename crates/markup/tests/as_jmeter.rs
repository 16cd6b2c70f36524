//! Results of JMeter 5.6.3 (`jmeter.json`, made by calling its classes): XPath 1.0 by Xalan, XPath 2 by Saxon, CSS selectors by
//! jsoup 1.17, and XPath in HTML that JTidy has mended.

use markup::{Document, Found, Selector, XPath};
use serde_json::Value;

fn cases() -> Value {
    serde_json::from_str(include_str!("jmeter.json")).expect("JSON")
}

fn texts(of: &Value) -> Option<Vec<Option<String>>> {
    Some(of.as_array()?.iter().map(|one| one.as_str().map(str::to_owned)).collect())
}

fn of_xpath(
    document: &Document,
    path: &str,
    node: impl Fn(u32) -> Option<String>,
) -> Result<Vec<Option<String>>, String> {
    let value = |found| match found {
        Found::Node(at) => node(at),
        Found::Text(text) => Some(text),
    };
    Ok(XPath::parse(path)?.find(document, 100).into_iter().map(value).collect())
}

/// Functions that are not understood, and are listed before a run.
const LISTED: [&str; 2] = ["id(\"1\")", "lang(\"de\")"];

#[test]
fn xpath_in_xml() {
    let cases = cases();
    let document = Document::xml(cases["xml"].as_str().expect("a text")).expect("XML");
    let mut wrong = Vec::new();
    for case in cases["xpath"].as_array().expect("a list") {
        let path = case["path"].as_str().expect("a text");
        if LISTED.contains(&path) {
            assert!(XPath::parse(path).is_err(), "{path}");
            continue;
        }
        // JMeter knows no prefixes there unless it is told to; here they are compared as they are written.
        if !path.contains("a:") {
            let found = of_xpath(&document, path, |node| document.first_text(node)).expect(path);
            let wanted = texts(&case["values"]).expect("values");
            // `id` of nothing, and a node without text, are the empty text or nothing.
            if found != wanted && path != "/" && path != "." {
                wrong.push(format!("{path}: {found:?}, not {wanted:?}"));
            }
            let fragments = texts(&case["fragments"]);
            let markup = of_xpath(&document, path, |node| {
                Some(document.markup(node)).filter(|markup| !markup.contains("xmlns"))
            });
            for (found, wanted) in markup.expect(path).into_iter().zip(fragments.into_iter().flatten()) {
                // JMeter declares again what is declared around an element.
                let wanted = wanted.map(|wanted| wanted.replace(" xmlns:a=\"urn:a\"", ""));
                if found.is_some() && found != wanted {
                    wrong.push(format!("{path} as XML: {found:?}, not {wanted:?}"));
                }
            }
        }
        let two = if case["two"].is_null() { &case["values"] } else { &case["two"] };
        if let Some(wanted) = texts(two).filter(|_| !["1 div 3", "/", "."].contains(&path)) {
            let found = of_xpath(&document, path, |node| Some(document.text(node))).expect(path);
            if found != wanted {
                wrong.push(format!("{path} by XPath 2: {found:?}, not {wanted:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn selectors_in_html() {
    let cases = cases();
    let document = Document::html(cases["html"].as_str().expect("a text"));
    let mut wrong = Vec::new();
    for case in cases["css"].as_array().expect("a list") {
        let selector = case["selector"].as_str().expect("a text");
        let attribute = case["attribute"].as_str().filter(|name| !name.is_empty());
        let nodes = Selector::parse(selector).expect(selector).find(&document, 100);
        let value = |node| match attribute {
            Some(name) => document.attribute(node, name).unwrap_or_default().to_owned(),
            None => document.shown(node),
        };
        let found: Vec<Option<String>> = nodes.into_iter().map(|node| Some(value(node))).collect();
        // jsoup joins blanks of a title only where it is shown.
        let joined = |one: &Option<String>| {
            one.as_ref().map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "))
        };
        let wanted: Vec<_> = texts(&case["values"]).expect("values").iter().map(joined).collect();
        if found != wanted {
            wrong.push(format!("{selector} {attribute:?}: {found:?}, not {wanted:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn xpath_in_html() {
    let cases = cases();
    let document = Document::html(cases["html"].as_str().expect("a text"));
    let mut wrong = Vec::new();
    let plain = |all: Vec<Option<String>>| -> Vec<String> {
        let one =
            |one: Option<String>| one.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
        all.into_iter().map(one).collect()
    };
    for case in cases["tidied"].as_array().expect("a list") {
        let path = case["path"].as_str().expect("a text");
        let found = plain(of_xpath(&document, path, |node| document.first_text(node)).expect(path));
        let wanted = plain(texts(&case["values"]).expect("values"));
        if found != wanted {
            wrong.push(format!("{path}: {found:?}, not {wanted:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_would_take_too_long_finds_nothing() {
    let text = format!("<a>{}</a>", "<b/>".repeat(20_000));
    let document = Document::xml(&text).expect("XML");
    let path = XPath::parse("//b[count(//b[count(//b) > 1]) > 1]").expect("a path");
    assert!(path.find(&document, 10).is_empty());
}
