//! Extractors → what is taken from answers.

use super::Converter;
use super::kinds::{Convert, ElementKind};
use super::text::short;
use super::variables::MATCHES;
use crate::element::Element;
use plan::answer::{By, Extract, Part, Selector, Take, Which};
use plan::{Body, Step};

pub(super) const KINDS: &[ElementKind] = &[
    ElementKind { class: "RegexExtractor", convert: Convert::Post(regex) },
    ElementKind { class: "BoundaryExtractor", convert: Convert::Post(boundary) },
    ElementKind { class: "JSONPostProcessor", convert: Convert::Post(json) },
    ElementKind {
        class: "XPathExtractor",
        convert: Convert::Post(|c, of| xpath(c, of, "XPathExtractor", false)),
    },
    ElementKind {
        class: "XPath2Extractor",
        convert: Convert::Post(|c, of| xpath(c, of, "XPathExtractor2", true)),
    },
    ElementKind { class: "HtmlExtractor", convert: Convert::Post(css) },
    ElementKind { class: "JMESPathExtractor", convert: Convert::Post(jmespath) },
];

pub(super) fn regex(c: &mut Converter<'_>, of: &Element) -> Vec<Step> {
    let key = |name: &str| of.properties.text(&format!("RegexExtractor.{name}")).to_owned();
    let Some(pattern) = c.constant(of, &key("regex"), "its regular expression") else {
        return Vec::new();
    };
    if let Some(why) = unreadable(&pattern) {
        c.missing(of, format!("'{}' is no pattern: {why}", short(&pattern)));
        return Vec::new();
    }
    let part = match key("useHeaders").as_str() {
        "" | "false" | "as_document" => (Part::Body, true),
        "unescaped" => {
            c.different(of, "the body is searched as it came, its entities not replaced");
            (Part::Body, true)
        }
        "true" => (Part::AnswerHead, true),
        "request_headers" => (Part::RequestHead, true),
        "URL" => (Part::Url, true),
        _ => (Part::Body, false),
    };
    let is_whole = WHOLE.contains(&pattern.as_str());
    let by = match key("useHeaders").as_str() {
        "code" => By::Status,
        "message" => By::Reason,
        _ => By::Regex(pattern),
    };
    if matches!(by, By::Status | By::Reason) {
        return of_status_line(c, of, by, is_whole);
    }
    if !part.1 {
        c.missing(of, format!("it searches '{}', which is not known", key("useHeaders")));
        return Vec::new();
    }
    let template = match key("template").as_str() {
        "" => String::new(),
        given => given.to_owned(),
    };
    let name = key("refname");
    let extract = Extract {
        template,
        groups: true,
        which: which(c, of, &key("match_number")),
        ..kept(
            c,
            of,
            &name,
            Selector { part: part.0, by },
            &key("default"),
            "RegexExtractor.default_empty_value",
        )
    };
    with_default(c, of, extract)
}

/// Patterns whose first group is a code or a message whole.
const WHOLE: [&str; 8] = ["(.*)", "(.+)", "(\\d+)", "(\\d*)", "^(.*)$", "^(.+)$", "^(\\d+)$", "(\\d\\d\\d)"];

/// A code or a message is taken whole, whatever the pattern, which is listed where it makes a difference.
fn of_status_line(c: &mut Converter<'_>, of: &Element, by: By, is_whole: bool) -> Vec<Step> {
    let key = |name: &str| of.properties.text(&format!("RegexExtractor.{name}")).to_owned();
    let template = key("template");
    let number = key("match_number");
    if !is_whole || !matches!(template.trim(), "$1$" | "$0$") {
        c.different(of, "it takes the whole code or message, whatever its pattern and template");
    }
    let name = key("refname");
    let at = Selector { part: Part::Body, by };
    let extract = Extract {
        which: which(c, of, &number),
        ..kept(c, of, &name, at, &key("default"), "RegexExtractor.default_empty_value")
    };
    scoped(c, of, extract)
}

pub(super) fn boundary(c: &mut Converter<'_>, of: &Element) -> Vec<Step> {
    let key = |name: &str| of.properties.text(&format!("BoundaryExtractor.{name}")).to_owned();
    let before = c.text(of, &key("lboundary"));
    let after = c.text(of, &key("rboundary"));
    let part = match key("useHeaders").as_str() {
        "true" => Part::AnswerHead,
        "request_headers" => Part::RequestHead,
        "URL" => Part::Url,
        _ => Part::Body,
    };
    let by = By::Between { before: Body::from(before.raw()), after: Body::from(after.raw()) };
    let name = key("refname");
    let extract = Extract {
        which: which(c, of, &key("match_number")),
        ..kept(c, of, &name, Selector { part, by }, &key("default"), "BoundaryExtractor.default_empty_value")
    };
    with_default(c, of, extract)
}

/// Several names with several paths, divided by semicolons.
pub(super) fn json(c: &mut Converter<'_>, of: &Element) -> Vec<Step> {
    let key = |name: &str| of.properties.text(&format!("JSONPostProcessor.{name}")).to_owned();
    let list = |text: String| text.split(';').map(|one| one.trim().to_owned()).collect::<Vec<_>>();
    let names = key("referenceNames");
    let paths = key("jsonPathExprs");
    let names: Vec<String> = list(names).into_iter().filter(|name| !name.is_empty()).collect();
    let numbers = list(key("match_numbers"));
    let defaults = list(key("defaultValues"));
    let paths: Vec<String> = list(paths).into_iter().filter(|path| !path.is_empty()).collect();
    if names.len() != paths.len() {
        let counts = format!("it has {} names and {} paths", names.len(), paths.len());
        c.different(of, format!("{counts}: it takes nothing, as in JMeter; give as many of both"));
        return Vec::new();
    }
    let mut steps = Vec::new();
    for (nth, (name, path)) in names.iter().zip(&paths).enumerate() {
        let Some(path) = c.constant(of, path, "its path") else { continue };
        let path = crate::json_path::standard(&path);
        let number = numbers.get(nth).map_or("", String::as_str).to_owned();
        let otherwise = defaults.get(nth).map_or("", String::as_str).to_owned();
        let extract = Extract {
            which: which(c, of, &number),
            ..kept(c, of, name, Selector::body(By::JsonPath(path)), &otherwise, "")
        };
        // Without a default the variable is emptied, not kept.
        let empty = extract.otherwise.is_none().then(Body::default);
        let extract = Extract { otherwise: extract.otherwise.or(empty), ..extract };
        steps.extend(scoped(c, of, extract));
    }
    if of.properties.flag("JSONPostProcessor.compute_concat", false) {
        c.different(of, "all matches joined (name_ALL) are not kept");
    }
    steps
}

/// Elements of a list are the matches, or the one value that is no list.
fn jmespath(c: &mut Converter<'_>, of: &Element) -> Vec<Step> {
    let key = |name: &str| of.properties.text(&format!("JMESExtractor.{name}")).to_owned();
    let Some(expression) = c.constant(of, key("jmesPathExpr").trim(), "its expression") else {
        return Vec::new();
    };
    let name = key("referenceName").trim().to_owned();
    let at = Selector::body(By::JmesPath(expression.clone()));
    let extract = kept(c, of, &name, at, &key("defaultValue"), "");
    // The default is put there even where it is empty.
    let extract = Extract {
        which: which(c, of, &key("matchNumber")),
        otherwise: Some(extract.otherwise.unwrap_or_default()),
        optional: false,
        ..extract
    };
    let is_told = extract.which == Which::Every || !c.variables.is_counted(&name);
    let mut steps = scoped(c, of, extract);
    if !is_told && !steps.is_empty() {
        let at = Selector::body(By::JmesPath(format!("length([{expression}][])")));
        let number = kept(c, of, &format!("{name}{MATCHES}"), at, "0", "");
        steps.extend(scoped(c, of, number));
    }
    steps
}

/// A difference of elements that have Tidy make a tree of a page.
pub(super) const MENDED: &str = "HTML is mended by a few rules, neither all of Tidy's nor of browsers': elements that others end, attributes \
                                 without quotes, parts of a page that were left out";

/// XPath 1.0, or 2 as far as they are the same. `kind`: what the element's keys begin with.
pub(super) fn xpath(c: &mut Converter<'_>, of: &Element, kind: &str, whole: bool) -> Vec<Step> {
    let key = |name: &str| of.properties.text(&format!("{kind}.{name}")).to_owned();
    let flag = |name: &str| of.properties.flag(&format!("{kind}.{name}"), false);
    let Some(path) = c.constant(of, &key("xpathQuery"), "its XPath") else { return Vec::new() };
    if let Err(why) = markup::XPath::parse(&path) {
        c.missing(of, why);
        return Vec::new();
    }
    let html = flag("tolerant");
    if html {
        c.different(of, MENDED);
    }
    if !key("namespaces").trim().is_empty() || flag("namespace") {
        c.different(of, "names are compared with their prefixes as they are written");
    }
    let take = match (flag("fragment"), whole) {
        (true, _) => Take::Markup,
        (false, true) => Take::Text,
        (false, false) => Take::FirstText,
    };
    let number = of.properties.filled(&format!("{kind}.matchNumber")).unwrap_or("-1").to_owned();
    let at = Selector::body(By::XPath { path, html, take });
    let extract = kept(c, of, &key("refname"), at, &key("default"), "");
    // The default is put there even where it is empty.
    let extract = Extract {
        otherwise: Some(extract.otherwise.clone().unwrap_or_default()),
        optional: false,
        which: which(c, of, &number),
        ..extract
    };
    let mut steps = Vec::new();
    if extract.which == Which::Every {
        steps.extend(scoped(c, of, extract.clone()));
        steps.extend(scoped(c, of, Extract { which: Which::First, ..extract }));
    } else {
        steps.extend(scoped(c, of, extract));
    }
    steps
}

fn css(c: &mut Converter<'_>, of: &Element) -> Vec<Step> {
    let key = |name: &str| of.properties.text(&format!("HtmlExtractor.{name}")).to_owned();
    let Some(selector) = c.constant(of, &key("expr"), "its selector") else { return Vec::new() };
    if let Err(why) = markup::Selector::parse(&selector) {
        c.missing(of, why);
        return Vec::new();
    }
    if key("extractor_impl") == "JODD" {
        c.different(of, "its selector is read as jsoup reads it, not as Jodd");
    }
    let attribute = Some(key("attribute")).filter(|name| !name.trim().is_empty());
    let by = By::Css { selector, attribute };
    let extract = Extract {
        which: which(c, of, &key("match_number")),
        ..kept(
            c,
            of,
            &key("refname"),
            Selector::body(by),
            &key("default"),
            "HtmlExtractor.default_empty_value",
        )
    };
    with_default(c, of, extract)
}

pub(super) fn kept(
    c: &mut Converter<'_>,
    of: &Element,
    name: &str,
    at: Selector,
    default: &str,
    empty: &str,
) -> Extract {
    let emptied = !empty.is_empty() && of.properties.flag(empty, false);
    let otherwise = c.text(of, default);
    let otherwise = (!default.is_empty() || emptied).then(|| Body::from(otherwise.raw()));
    let name = c.variables.name(name.trim());
    Extract { optional: otherwise.is_none(), ..Extract::of(&name, at, otherwise) }
}

/// A blank number is a random one, as 0 is.
pub(super) fn which(c: &mut Converter<'_>, of: &Element, number: &str) -> Which {
    let text = c.text(of, number).constant().unwrap_or_default();
    match text.trim() {
        "" | "0" => Which::Random,
        "1" => Which::First,
        text => match text.parse::<i64>() {
            Ok(number) if number < 0 => Which::Every,
            Ok(number) => Which::Nth(u32::try_from(number).unwrap_or(u32::MAX)),
            Err(_) => {
                c.different(of, format!("its match number '{number}' is taken as 0, a random one"));
                Which::Random
            }
        },
    }
}

/// With a default that is put there first even where something is found: with all matches the name itself holds the default.
fn with_default(c: &mut Converter<'_>, of: &Element, extract: Extract) -> Vec<Step> {
    let default = extract.otherwise.clone().filter(|_| extract.which == Which::Every).map(|otherwise| {
        let at = Selector::body(By::Regex(NEVER.to_owned()));
        Step::Extract(Extract::of(&extract.name, at, Some(otherwise)))
    });
    default.into_iter().chain(scoped(c, of, extract)).collect()
}

/// A pattern that nothing matches.
const NEVER: &str = r"\b\B";

/// Where the element says that it looks elsewhere than at the answer.
pub(super) fn scoped(c: &mut Converter<'_>, of: &Element, extract: Extract) -> Vec<Step> {
    if let Some(why) = extract.at.by.violation() {
        c.missing(of, why);
        return Vec::new();
    }
    let at = match of.properties.text("Sample.scope") {
        "variable" => {
            let name = c.variables.name(of.properties.text("Scope.variable").trim());
            Selector { part: extract.at.part, by: By::Kept { name, by: Box::new(extract.at.by) } }
        }
        "children" => {
            c.missing(of, "it looks at sub-samples only, which are not kept");
            return Vec::new();
        }
        _ => extract.at,
    };
    vec![Step::Extract(Extract { at, ..extract })]
}

/// Why a text is no pattern.
pub(super) fn unreadable(pattern: &str) -> Option<String> {
    plan::pattern::Pattern::new(pattern).err()
}
