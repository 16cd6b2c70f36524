//! Requests that follow from the last answer: the links and forms of a page, as the HTML PageLink Parser takes them, and sessions that stand
//! in URLs, as the HTTP URL Re-writing Modifier does.
//!
//! The words of a sampler come in as a [`GivenRequest`], and a [`Change`] of it goes out.

use crate::form;
use markup::{Document, Node};
use plan::Address;
use plan::pattern::Pattern;
use regex::Regex;

/// A request as its sampler has it, with its values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GivenRequest {
    /// `http` or `https`, or a pattern of both; empty: `http`.
    pub protocol: String,
    /// The host, or a pattern of hosts; empty: any.
    pub domain: String,
    /// As it is written; empty or 0: that of the protocol.
    pub port: String,
    /// The path with its query, or a pattern of paths.
    pub path: String,
    /// The method; empty: GET.
    pub method: String,
    /// Its parameters, or patterns of them.
    pub arguments: Vec<RequestArgument>,
    /// All values joined are the body, without names.
    pub is_raw: bool,
    /// The name of the session in a URL.
    pub session: String,
}

/// A parameter of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestArgument {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Both are encoded when they are sent.
    pub encodes: bool,
}

impl RequestArgument {
    fn set(&mut self, key: &str, value: String) {
        if key == "encodes" {
            self.encodes = value == "true";
        } else {
            self.value = value;
        }
    }
}

/// The changes of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Change {
    /// Another protocol, host and port.
    pub place: Option<LinkOrigin>,
    /// Another path, with what of a query stands in it.
    pub path: Option<String>,
    /// Its parameters are taken away first.
    pub replaces: bool,
    /// Parameters that are added.
    pub arguments: Vec<RequestArgument>,
    /// All values joined are the body, without names.
    pub is_raw: bool,
}

/// The place that a request goes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkOrigin {
    /// `http` or `https`.
    pub protocol: String,
    /// The host.
    pub domain: String,
    /// The port.
    pub port: u16,
}

impl GivenRequest {
    /// Reads what a plan gives to the program: pairs as in a form, of which `name`, `value` and `encodes` come once for each parameter.
    pub fn read(text: &str) -> GivenRequest {
        let mut given = GivenRequest::default();
        for (key, value) in text.split('&').filter_map(|pair| pair.split_once('=')) {
            let value = form::decode(value);
            match key {
                "protocol" => given.protocol = value,
                "domain" => given.domain = value,
                "port" => given.port = value,
                "path" => given.path = value,
                "method" => given.method = value,
                "session" => given.session = value,
                "raw" => given.is_raw = value == "true",
                "name" => given.arguments.push(RequestArgument { name: value, ..RequestArgument::default() }),
                "value" | "encodes" => {
                    if let Some(argument) = given.arguments.last_mut() {
                        argument.set(key, value);
                    }
                }
                _ => {}
            }
        }
        given
    }

    /// True if its parameters stand in the query.
    fn is_of_query(&self) -> bool {
        matches!(self.method.to_uppercase().as_str(), "" | "GET" | "DELETE" | "OPTIONS")
    }
}

/// A link or form of a page.
struct PageLink {
    to: Address,
    is_form: bool,
    /// The fields of a form.
    fields: Vec<RequestArgument>,
}

impl PageLink {
    fn new(to: Address, is_form: bool) -> PageLink {
        PageLink { to, is_form, fields: Vec::new() }
    }

    fn path(&self) -> &str {
        self.to.path.split('?').next().expect("a split has a part")
    }

    fn query(&self) -> &str {
        self.to.path.split_once('?').map_or("", |(_, query)| query)
    }

    fn protocol(&self) -> &'static str {
        if self.to.secure { "https" } else { "http" }
    }

    /// Its parameters in one text, decoded: a form's own query and its fields.
    fn shown(&self) -> String {
        let named = self.fields.iter().filter(|field| !field.name.is_empty());
        let fields = named.map(|field| format!("{}={}", field.name, field.value));
        let own = Some(form::decode(self.query())).filter(|own| !own.is_empty());
        own.into_iter().chain(fields).collect::<Vec<_>>().join("&")
    }

    /// True if it is like the sampler: each of its texts is the sampler's, or is matched by it.
    fn is_like(&self, given: &GivenRequest) -> bool {
        let protocol = if given.protocol.is_empty() { "http" } else { &given.protocol };
        let query = self.shown();
        let has = |name: &str| query.contains(&format!("{name}=")) || is_found(name, &query);
        is_or_matches(self.protocol(), protocol)
            && (given.domain.is_empty() || is_or_matches(&self.to.host, &given.domain))
            && (self.path() == given.path || matches_whole(&format!("[/]*{}", given.path), self.path()))
            && given.arguments.iter().all(|argument| has(&argument.name))
    }

    /// The parameters that stand in its URL, as they are written there.
    fn parameters(&self) -> Vec<RequestArgument> {
        let argument = |(name, value): (&str, &str)| RequestArgument {
            name: name.to_owned(),
            value: value.to_owned(),
            encodes: false,
        };
        pairs(self.query()).map(argument).filter(|argument| !argument.name.is_empty()).collect()
    }
}

/// Names and values of a query, as they are written.
fn pairs(query: &str) -> impl Iterator<Item = (&str, &str)> {
    let written = query.split('&').filter(|pair| !pair.is_empty());
    written.map(|pair| pair.split_once('=').unwrap_or((pair, "")))
}

fn is_or_matches(text: &str, pattern: &str) -> bool {
    text == pattern || matches_whole(pattern, text)
}

/// True if a pattern fits all of a text; one that is none fits nothing.
fn matches_whole(pattern: &str, text: &str) -> bool {
    is_found(&format!("^(?:{pattern})$"), text)
}

fn is_found(pattern: &str, text: &str) -> bool {
    Pattern::new(pattern).is_ok_and(|pattern| pattern.matches(text.as_bytes()) == Some(true))
}

/// The request that one of the links and forms of a page makes of a sampler; `None` where none of them is like it. `draw`: 64 bits of
/// chance.
pub fn link(given: &GivenRequest, url: &str, page: &str, draw: &mut dyn FnMut() -> u64) -> Option<Change> {
    let at = Address::parse(url)?;
    let html = Document::html(&page[page.find('<').unwrap_or(0)..]);
    let mut links = references(&html, &at, "a", "href");
    links.extend(forms(&html, &at));
    links.extend(references(&html, &at, "frame", "src"));
    links.retain(|link| link.is_like(given));
    let chosen = any_of(links.len(), draw)?;
    Some(change(given, &links[chosen], draw))
}

/// One of so many, by chance.
fn any_of(count: usize, draw: &mut dyn FnMut() -> u64) -> Option<usize> {
    (count > 0).then(|| (draw() % count as u64) as usize)
}

fn elements<'a>(html: &'a Document, name: &'a str) -> impl Iterator<Item = Node> + 'a {
    html.descendants(0).filter(move |node| html.name(*node) == Some(name))
}

/// References of elements of a page, seen from its base.
fn references(html: &Document, at: &Address, name: &str, attribute: &str) -> Vec<PageLink> {
    let base = elements(html, "base").next().and_then(|base| html.attribute(base, "href"));
    let Some(base) = base.map_or_else(|| Some(at.clone()), |base| at.join(base)) else { return Vec::new() };
    let all = elements(html, name).filter_map(|node| html.attribute(node, attribute));
    let all = all.filter(|reference| !reference.starts_with("javascript:"));
    all.filter_map(|reference| base.join(reference)).map(|to| PageLink::new(to, false)).collect()
}

/// The forms of a page. A field belongs to the last form that has begun, be it ended or not, as in JMeter.
fn forms(html: &Document, at: &Address) -> Vec<PageLink> {
    let mut forms: Vec<PageLink> = Vec::new();
    let mut is_in_form = false;
    for node in html.descendants(0) {
        let text = |name: &str| html.attribute(node, name).unwrap_or("").to_owned();
        let field = match html.name(node) {
            Some("form") => {
                let to = html.attribute(node, "action").and_then(|action| at.join(action));
                is_in_form = to.is_some();
                forms.extend(to.map(|to| PageLink::new(to, true)));
                continue;
            }
            Some("input") => (text("name"), text("value")),
            Some("textarea") => (text("name"), html.text(node)),
            Some("option") => (name_of_select(html, node), text("value")),
            _ => continue,
        };
        if let Some(form) = forms.last_mut().filter(|_| is_in_form) {
            let name = form::decode(&field.0);
            form.fields.push(RequestArgument { name, value: form::decode(&field.1), encodes: true });
        }
    }
    forms
}

fn name_of_select(html: &Document, option: Node) -> String {
    let mut around = std::iter::successors(html.parent(option), |node| html.parent(*node));
    let select = around.find(|node| html.name(*node) == Some("select"));
    select.and_then(|select| html.attribute(select, "name")).unwrap_or("").to_owned()
}

/// The sampler goes where the link leads. A link brings its parameters along; of a form those are filled in that the sampler names.
fn change(given: &GivenRequest, link: &PageLink, draw: &mut dyn FnMut() -> u64) -> Change {
    let own_port = given.port.trim().parse().ok().filter(|port| *port != 0);
    let usual = if link.to.secure { 443 } else { 80 };
    let place = LinkOrigin {
        protocol: link.protocol().to_owned(),
        domain: link.to.authority_host(),
        port: own_port.unwrap_or(usual),
    };
    let path = link.path().to_owned();
    let moved = Change { place: Some(place), is_raw: given.is_raw, ..Change::default() };
    if link.is_form {
        let arguments = filled_in(given, link, draw);
        // A body that is one text has no fields.
        let has_names = given.arguments.iter().any(|argument| !argument.name.is_empty());
        return match has_names {
            true => Change { path: Some(path), replaces: true, arguments, ..moved },
            false => Change { path: Some(path), ..moved },
        };
    }
    match given.is_of_query() {
        // As it is written there.
        true => Change { path: Some(link.to.path.clone()), replaces: true, ..moved },
        false => Change { path: Some(path), replaces: true, arguments: link.parameters(), ..moved },
    }
}

/// The sampler's parameters, each as one field of the form that it matches; a field serves once.
fn filled_in(given: &GivenRequest, link: &PageLink, draw: &mut dyn FnMut() -> u64) -> Vec<RequestArgument> {
    let mut fields = link.parameters();
    fields.extend(link.fields.iter().cloned());
    let mut arguments = given.arguments.clone();
    for argument in &mut arguments {
        let is_like = |field: &RequestArgument| {
            is_or_matches(&field.name, &argument.name) && is_or_matches(&field.value, &argument.value)
        };
        let like: Vec<usize> = (0..fields.len()).filter(|nth| is_like(&fields[*nth])).collect();
        if let Some(chosen) = any_of(like.len(), draw) {
            let field = fields.remove(like[chosen]);
            *argument = RequestArgument { encodes: argument.encodes, ..field };
        }
    }
    arguments
}

/// The place of a session in URLs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SessionPlace {
    /// Behind the path, and not a parameter.
    pub path: bool,
    /// Without an equals sign behind its name.
    pub no_equals: bool,
    /// It ends before a question mark.
    pub no_question_mark: bool,
    /// Where an answer has none, the last one is sent again.
    pub keeps: bool,
    /// Its value is encoded when it is sent; otherwise it is already.
    pub encodes: bool,
}

/// The words for the flags of a place.
const WORDS: [&str; 5] = ["path", "no-equals", "no-question-mark", "keeps", "encodes"];

impl SessionPlace {
    /// Reads it as [`SessionPlace::words`] writes it.
    pub fn read(words: &str) -> SessionPlace {
        let is_there = |nth: usize| words.split_whitespace().any(|word| word == WORDS[nth]);
        SessionPlace {
            path: is_there(0),
            no_equals: is_there(1),
            no_question_mark: is_there(2),
            keeps: is_there(3),
            encodes: is_there(4),
        }
    }

    /// It, in words.
    pub fn words(self) -> String {
        let flags = [self.path, self.no_equals, self.no_question_mark, self.keeps, self.encodes];
        let said = WORDS.iter().zip(flags).filter(|(_, is_there)| *is_there).map(|(word, _)| *word);
        said.collect::<Vec<_>>().join(" ")
    }

    /// The session that an answer names; an empty text where it names none.
    pub fn find(self, name: &str, text: &str) -> String {
        let name = regex::escape(name);
        let end = if self.no_question_mark { "?" } else { "" };
        let equals = if self.no_equals { "" } else { "=" };
        let pattern = match self.path {
            true => format!(";{name}{equals}([^\"'<>&{BLANK};{end}]*)"),
            false => format!(
                "[;?&]{name}=([^\"'<>&{BLANK};\\\\]*)\
                 |{NAME}\\s*=\\s*[\"']{name}[\"'][^>]*{VALUE}\\s*=\\s*[\"']([^\"']*)[\"']\
                 |{VALUE}\\s*=\\s*[\"']([^\"']*)[\"'][^>]*{NAME}\\s*=\\s*[\"']{name}[\"']"
            ),
        };
        let Ok(pattern) = Regex::new(&pattern) else { return String::new() };
        let Some(found) = pattern.captures(text) else { return String::new() };
        found.iter().skip(1).flatten().next().map_or_else(String::new, |value| value.as_str().to_owned())
    }

    /// The request with a session in it.
    pub fn put(self, given: &GivenRequest, session: &str) -> Change {
        let name = &given.session;
        let unchanged = Change { is_raw: given.is_raw, ..Change::default() };
        if !self.path {
            let value = if self.encodes { session.to_owned() } else { form::decode(session) };
            let added = RequestArgument { name: name.clone(), value, encodes: true };
            let has_one = given.arguments.iter().any(|argument| argument.name == *name);
            let others = given.arguments.iter().filter(|argument| has_one && argument.name != *name);
            let arguments = others.cloned().chain([added]).collect();
            return Change { replaces: has_one, arguments, ..unchanged };
        }
        let begin = format!(";{name}");
        // One that is in the path already is taken out, with all behind it up to the query.
        let query = given.path.find('?').map_or("", |mark| &given.path[mark..]);
        let whole = match given.path.find(&begin) {
            Some(at) => format!("{}{query}", &given.path[..at]),
            None => given.path.clone(),
        };
        let equals = if self.no_equals { "" } else { "=" };
        let path = format!("{whole}{begin}{equals}{session}");
        // JMeter takes what follows a question mark for parameters.
        match path.split_once('?').filter(|_| given.is_of_query() && !path.contains("://")) {
            Some((path, query)) => {
                let own = pairs(query).map(|(name, value)| RequestArgument {
                    name: form::decode(name),
                    value: form::decode(value),
                    encodes: true,
                });
                let arguments = given.arguments.iter().cloned().chain(own).collect();
                Change { path: Some(path.to_owned()), replaces: true, arguments, ..unchanged }
            }
            None => Change { path: Some(path), ..Change::default() },
        }
    }
}

/// Blanks within a class of characters.
const BLANK: &str = " \\t\\n\\r\\f\\x0B";

/// The names of attributes, in letters of either case.
const NAME: &str = "\\s[Nn][Aa][Mm][Ee]";
const VALUE: &str = "\\s[Vv][Aa][Ll][Uu][Ee]";

#[cfg(test)]
mod tests;
