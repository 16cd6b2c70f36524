//! Resources of a page, as JMeter's parser of HTML (Lagarto) finds them.

use lol_html::html_content::Element;
use regex::Regex;
use std::sync::LazyLock;

/// Relations of a link whose other end is fetched, where one stands alone.
const RELATIONS: [&str; 4] = ["stylesheet", "icon", "shortcut icon", "preload"];

/// From the first quoted URL of a style to the last quotation mark, as JMeter reads it.
static STYLE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"(?is)url\(\s*['"](.*)['"]\s*\)"#).expect("a pattern of our own"));

/// References of an element, in the order in which they are fetched.
pub(super) fn of(element: &Element<'_, '_>) -> Vec<String> {
    let value = |name: &str| attribute(element, name);
    let is = |name: &str, wanted: &str| value(name).is_some_and(|value| value.eq_ignore_ascii_case(wanted));
    let named: &[&str] = match element.tag_name().as_str() {
        "img" | "script" | "frame" | "iframe" | "embed" | "bgsound" => &["src"],
        "input" if is("type", "image") => &["src"],
        "link" if RELATIONS.iter().any(|relation| is("rel", relation)) => &["href"],
        "base" | "input" | "link" => &[],
        "applet" => &["code"],
        "object" => &["codebase", "data"],
        _ => &["background"],
    };
    let style = value("style");
    let style = style.as_deref().and_then(|style| STYLE.captures(style)).map(|found| found[1].to_owned());
    named.iter().filter_map(|name| value(name)).chain(style).collect()
}

/// An attribute's value with its character references resolved.
pub(super) fn attribute(element: &Element<'_, '_>, name: &str) -> Option<String> {
    let value = element.get_attribute(name)?;
    Some(html_escape::decode_html_entities(&value).into_owned())
}
