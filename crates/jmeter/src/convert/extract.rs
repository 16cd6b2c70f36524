//! Extractors → what is taken from answers.

use super::Converter;
use super::text::short;
use super::variables::MATCHES;
use crate::element::Element;
use plan::answer::{By, Extract, Part, Selector, Take, Which};
use plan::{Body, Step};

impl Converter<'_> {
    /// Converts an extractor to the steps that keep parts of a response.
    pub(super) fn extractor(&mut self, of: &Element) -> Vec<Step> {
        match of.class.as_str() {
            "RegexExtractor" => self.regex(of),
            "BoundaryExtractor" => self.boundary(of),
            "JSONPostProcessor" => self.json(of),
            "XPathExtractor" => self.xpath(of, "XPathExtractor", false),
            "XPath2Extractor" => self.xpath(of, "XPathExtractor2", true),
            "HtmlExtractor" => self.css(of),
            "JMESPathExtractor" => self.jmespath(of),
            _ => {
                self.missing(of, "an extractor of this kind cannot run");
                Vec::new()
            }
        }
    }

    fn regex(&mut self, of: &Element) -> Vec<Step> {
        let key = |name: &str| of.properties.text(&format!("RegexExtractor.{name}")).to_owned();
        let Some(pattern) = self.constant(of, &key("regex"), "its regular expression") else {
            return Vec::new();
        };
        if let Some(why) = unreadable(&pattern) {
            self.missing(
                of,
                format!("'{}' needs what an engine in linear time has not: {why}", short(&pattern)),
            );
            return Vec::new();
        }
        let part = match key("useHeaders").as_str() {
            "" | "false" | "as_document" => (Part::Body, true),
            "unescaped" => {
                self.different(of, "the body is searched as it came, its entities not replaced");
                (Part::Body, true)
            }
            "true" => (Part::AnswerHead, true),
            "request_headers" => (Part::RequestHead, true),
            "URL" => (Part::Url, true),
            _ => (Part::Body, false),
        };
        let by = match key("useHeaders").as_str() {
            "code" => By::Status,
            "message" => By::Reason,
            _ => By::Regex(pattern),
        };
        if !part.1 && matches!(by, By::Regex(_)) {
            self.missing(of, format!("it searches '{}', which is not known", key("useHeaders")));
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
            which: self.which(of, &key("match_number")),
            ..self.extract(
                of,
                &name,
                Selector { part: part.0, by },
                &key("default"),
                "RegexExtractor.default_empty_value",
            )
        };
        self.scoped(of, extract)
    }

    fn boundary(&mut self, of: &Element) -> Vec<Step> {
        let key = |name: &str| of.properties.text(&format!("BoundaryExtractor.{name}")).to_owned();
        let (before, after) = (self.text(of, &key("lboundary")), self.text(of, &key("rboundary")));
        let part = match key("useHeaders").as_str() {
            "true" => Part::AnswerHead,
            "request_headers" => Part::RequestHead,
            "URL" => Part::Url,
            _ => Part::Body,
        };
        let by = By::Between { before: Body::from(before.raw()), after: Body::from(after.raw()) };
        let name = key("refname");
        let extract = Extract {
            which: self.which(of, &key("match_number")),
            ..self.extract(
                of,
                &name,
                Selector { part, by },
                &key("default"),
                "BoundaryExtractor.default_empty_value",
            )
        };
        self.scoped(of, extract)
    }

    /// Several names with several paths, divided by semicolons.
    fn json(&mut self, of: &Element) -> Vec<Step> {
        let key = |name: &str| of.properties.text(&format!("JSONPostProcessor.{name}")).to_owned();
        let list = |text: String| text.split(';').map(|one| one.trim().to_owned()).collect::<Vec<_>>();
        let (names, paths) = (key("referenceNames"), key("jsonPathExprs"));
        let names: Vec<String> = list(names).into_iter().filter(|name| !name.is_empty()).collect();
        let (numbers, defaults) = (list(key("match_numbers")), list(key("defaultValues")));
        let paths: Vec<String> = list(paths).into_iter().filter(|path| !path.is_empty()).collect();
        if names.len() != paths.len() {
            self.missing(
                of,
                format!("it has {} names and {} paths: give as many of both", names.len(), paths.len()),
            );
            return Vec::new();
        }
        let mut steps = Vec::new();
        for (nth, (name, path)) in names.iter().zip(&paths).enumerate() {
            let Some(path) = self.constant(of, path, "its path") else { continue };
            let path = crate::json_path::standard(&path);
            let number = numbers.get(nth).cloned().unwrap_or_default();
            let otherwise = defaults.get(nth).cloned().unwrap_or_default();
            let extract = Extract {
                which: self.which(of, &number),
                ..self.extract(of, name, Selector::body(By::JsonPath(path)), &otherwise, "")
            };
            // Without a default the variable is emptied, not kept.
            let empty = extract.otherwise.is_none().then(Body::default);
            let extract = Extract { otherwise: extract.otherwise.or(empty), ..extract };
            steps.extend(self.scoped(of, extract));
        }
        if of.properties.flag("JSONPostProcessor.compute_concat", false) {
            self.different(of, "all matches joined (name_ALL) are not kept");
        }
        steps
    }

    /// Elements of a list are the matches, or the one value that is no list.
    fn jmespath(&mut self, of: &Element) -> Vec<Step> {
        let key = |name: &str| of.properties.text(&format!("JMESExtractor.{name}")).to_owned();
        let Some(expression) = self.constant(of, key("jmesPathExpr").trim(), "its expression") else {
            return Vec::new();
        };
        let name = key("referenceName").trim().to_owned();
        let at = Selector::body(By::JmesPath(expression.clone()));
        let extract = self.extract(of, &name, at, &key("defaultValue"), "");
        // The default is put there even where it is empty.
        let extract = Extract {
            which: self.which(of, &key("matchNumber")),
            otherwise: Some(extract.otherwise.unwrap_or_default()),
            optional: false,
            ..extract
        };
        let is_told = extract.which == Which::Every || !self.variables.is_counted(&name);
        let mut steps = self.scoped(of, extract);
        if !is_told && !steps.is_empty() {
            let at = Selector::body(By::JmesPath(format!("length([{expression}][])")));
            let number = self.extract(of, &format!("{name}{MATCHES}"), at, "0", "");
            steps.extend(self.scoped(of, number));
        }
        steps
    }

    /// XPath 1.0, or 2 as far as they are the same. `kind`: what the element's keys begin with.
    fn xpath(&mut self, of: &Element, kind: &str, whole: bool) -> Vec<Step> {
        let key = |name: &str| of.properties.text(&format!("{kind}.{name}")).to_owned();
        let flag = |name: &str| of.properties.flag(&format!("{kind}.{name}"), false);
        let Some(path) = self.constant(of, &key("xpathQuery"), "its XPath") else { return Vec::new() };
        if let Err(why) = markup::XPath::parse(&path) {
            self.missing(of, why);
            return Vec::new();
        }
        let html = flag("tolerant");
        if html {
            self.different(of, "HTML is mended by the rules of browsers, not by those of Tidy");
        }
        if !key("namespaces").trim().is_empty() || flag("namespace") {
            self.different(of, "names are compared with their prefixes as they are written");
        }
        let take = match (flag("fragment"), whole) {
            (true, _) => Take::Markup,
            (false, true) => Take::Text,
            (false, false) => Take::FirstText,
        };
        let number = of.properties.filled(&format!("{kind}.matchNumber")).unwrap_or("-1").to_owned();
        let at = Selector::body(By::XPath { path, html, take });
        let extract = self.extract(of, &key("refname"), at, &key("default"), "");
        // The default is put there even where it is empty.
        let extract = Extract {
            otherwise: Some(extract.otherwise.clone().unwrap_or_default()),
            optional: false,
            which: self.which(of, &number),
            ..extract
        };
        let mut steps = Vec::new();
        if extract.which == Which::Every {
            steps.extend(self.scoped(of, extract.clone()));
            steps.extend(self.scoped(of, Extract { which: Which::First, ..extract }));
        } else {
            steps.extend(self.scoped(of, extract));
        }
        steps
    }

    fn css(&mut self, of: &Element) -> Vec<Step> {
        let key = |name: &str| of.properties.text(&format!("HtmlExtractor.{name}")).to_owned();
        let Some(selector) = self.constant(of, &key("expr"), "its selector") else { return Vec::new() };
        if let Err(why) = markup::Selector::parse(&selector) {
            self.missing(of, why);
            return Vec::new();
        }
        if key("extractor_impl") == "JODD" {
            self.different(of, "its selector is read as jsoup reads it, not as Jodd");
        }
        let attribute = Some(key("attribute")).filter(|name| !name.trim().is_empty());
        let by = By::Css { selector, attribute };
        let extract = Extract {
            which: self.which(of, &key("match_number")),
            ..self.extract(
                of,
                &key("refname"),
                Selector::body(by),
                &key("default"),
                "HtmlExtractor.default_empty_value",
            )
        };
        self.scoped(of, extract)
    }

    fn extract(&mut self, of: &Element, name: &str, at: Selector, default: &str, empty: &str) -> Extract {
        let emptied = !empty.is_empty() && of.properties.flag(empty, false);
        let otherwise = self.text(of, default);
        let otherwise = (!default.is_empty() || emptied).then(|| Body::from(otherwise.raw()));
        let name = self.variables.name(name.trim());
        Extract { optional: otherwise.is_none(), ..Extract::of(&name, at, otherwise) }
    }

    /// A blank number is a random one, as 0 is.
    fn which(&mut self, of: &Element, number: &str) -> Which {
        let text = self.text(of, number).constant().unwrap_or_default();
        match text.trim() {
            "" | "0" => Which::Random,
            "1" => Which::First,
            text => match text.parse::<i64>() {
                Ok(number) if number < 0 => Which::Every,
                Ok(number) => Which::Nth(u32::try_from(number).unwrap_or(u32::MAX)),
                Err(_) => {
                    self.different(of, format!("its match number '{number}' is taken as 0, a random one"));
                    Which::Random
                }
            },
        }
    }

    /// Where the element says that it looks elsewhere than at the answer.
    fn scoped(&mut self, of: &Element, extract: Extract) -> Vec<Step> {
        if let Some(why) = extract.at.by.violation() {
            self.missing(of, why);
            return Vec::new();
        }
        let at = match of.properties.text("Sample.scope") {
            "variable" => {
                let name = self.variables.name(of.properties.text("Scope.variable").trim());
                Selector { part: extract.at.part, by: By::Kept { name, by: Box::new(extract.at.by) } }
            }
            "children" => {
                self.missing(of, "it looks at sub-samples only, which are not kept");
                return Vec::new();
            }
            _ => extract.at,
        };
        vec![Step::Extract(Extract { at, ..extract })]
    }
}

/// Why a pattern cannot be read by an engine in linear time.
pub(super) fn unreadable(pattern: &str) -> Option<String> {
    let error = regex::bytes::Regex::new(pattern).err()?.to_string();
    let last = error.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
    Some(last)
}
