//! HTTP samplers → requests: URL, parameters, bodies, and what answers must be.

use super::http_fields::Method;
use super::kinds::{Convert, ElementKind};
use super::scope::Scope;
use super::text::{Converted, Encoding, short};
use super::{Converter, client, control, dns, follow, http_fields, interrupt, place, proxy, unsent};
use crate::charset::{self, Charset};
use crate::element::{Element, Object, Value};
use crate::expression::Text;
use crate::form;
use crate::function;
use crate::role::Role;
use plan::answer::Must;
use plan::{
    Body, Code, CookieRules, Elements, Expect, Fills, Redirects, Request, RequestStep, Resources, Session,
    Step, Validators,
};
use std::time::Duration;

/// A sampler with the defaults around it.
pub(super) struct Sampler<'a> {
    pub(super) element: &'a Element,
    defaults: Vec<&'a Element>,
    /// It goes where a link of the last answer leads.
    pub(super) follows: bool,
}

impl<'a> Sampler<'a> {
    /// `gui`: the class that shows its defaults.
    pub(super) fn new(element: &'a Element, scope: &Scope<'a>, gui: &str) -> Sampler<'a> {
        let defaults = scope.innermost_first("ConfigTestElement");
        let is_of_kind = |defaults: &&Element| defaults.gui == gui || defaults.gui.is_empty();
        let follows = scope.outermost_first(Role::Pre).any(follow::is_link);
        Sampler { element, defaults: defaults.filter(is_of_kind).collect(), follows }
    }

    /// A property: the sampler's own or, where that is missing or empty, that of the nearest defaults.
    pub(super) fn text(&self, name: &str) -> &'a str {
        let all = std::iter::once(self.element).chain(self.defaults.iter().copied());
        // All are asked, so that none of them counts as unread.
        let texts: Vec<&str> = all.map(|element| element.properties.text(name)).collect();
        texts.into_iter().find(|text| !text.is_empty()).unwrap_or("")
    }

    pub(super) fn flag(&self, name: &str, otherwise: bool) -> bool {
        match self.text(name).trim() {
            "" => otherwise,
            text => text.eq_ignore_ascii_case("true"),
        }
    }

    /// Parameters: the sampler's own, then those of the defaults.
    pub(super) fn arguments(&self) -> Vec<&'a Object> {
        let all = std::iter::once(self.element).chain(self.defaults.iter().copied());
        let lists = all.filter_map(|element| element.properties.object("HTTPsampler.Arguments"));
        let arguments = lists.flat_map(|list| list.properties.list("Arguments.arguments"));
        arguments.filter_map(as_object).collect()
    }

    pub(super) fn files(&self) -> Vec<&'a Object> {
        let files = self.element.properties.object("HTTPsampler.Files");
        let list = files.into_iter().flat_map(|files| files.properties.list("HTTPFileArgs.files"));
        let filled = |file: &&Object| !file.properties.text("File.path").trim().is_empty();
        list.filter_map(as_object).filter(filled).collect()
    }

    /// The encoding of its content; UTF-8 where it names none that is known, which is listed.
    fn charset(&self) -> Charset {
        Charset::named(self.text("HTTPSampler.contentEncoding")).unwrap_or(Charset::Utf8)
    }

    /// The parameters are the body, as they stand.
    pub(super) fn is_raw(&self) -> bool {
        let arguments = self.arguments();
        let nameless = |argument: &&Object| argument_name(argument).is_empty();
        self.flag("HTTPSampler.postBodyRaw", false) || !arguments.is_empty() && arguments.iter().all(nameless)
    }
}

fn as_object(value: &Value) -> Option<&Object> {
    match value {
        Value::Object(object) => Some(object),
        _ => None,
    }
}

fn argument_name(argument: &Object) -> &str {
    argument.properties.text("Argument.name")
}

/// The URL of requests whose place is a value of its own.
const NOWHERE: &str = "http://place.invalid";

/// A URL, and what takes the place of its scheme, host and port where that holds values.
pub(super) struct Url {
    pub(super) url: String,
    pub(super) place: Option<String>,
}

impl Url {
    /// It holds values.
    pub(super) fn varies(&self) -> bool {
        self.place.is_some() || plan::template::is_template(self.url.as_bytes())
    }
}

/// Content of a request.
#[derive(Default)]
pub(super) struct Content {
    /// Steps taken before, such as reading a file.
    pub(super) before: Vec<Step>,
    pub(super) body: String,
    /// It is the same each time.
    pub(super) constant: bool,
    /// The field that describes it, where no header manager has one.
    pub(super) kind: Option<String>,
    /// The request has a body, be it empty.
    pub(super) present: bool,
    /// It is parameters in one text.
    pub(super) is_form: bool,
    /// It is a file, or has several parts.
    pub(super) is_upload: bool,
}

pub(super) const KINDS: &[ElementKind] = &[ElementKind { class: CLASS, convert: Convert::Sampler(http) }];

const CLASS: &str = "HTTPSamplerProxy";

/// The class that shows the defaults of HTTP samplers.
pub(super) const DEFAULTS: &str = "HttpDefaultsGui";

/// True if an element sends a request over HTTP.
pub(super) fn is_sampler(of: &Element) -> bool {
    of.class == CLASS
}

/// The steps of an HTTP sampler: what its texts are computed of, and the request.
pub(super) fn http(c: &mut Converter<'_>, of: &Element, scope: &Scope<'_>, after: Vec<Step>) -> Vec<Step> {
    let sampler = Sampler::new(of, scope, DEFAULTS);
    if let Some(why) = unsent::malformed(c, &sampler) {
        of.properties.pass();
        return unsent::steps(c, of, &why, after);
    }
    let mut step =
        RequestStep { templates: true, after, keep_answer: c.looks_back, ..RequestStep::default() };
    let mut before = Vec::new();
    let method = match c.constant(of, sampler.text("HTTPSampler.method"), "its method") {
        Some(method) if method.trim().is_empty() => "GET".to_owned(),
        Some(method) => method.trim().to_uppercase(),
        None => return Vec::new(),
    };
    let mut keep = |converted: Converted, before: &mut Vec<Step>| {
        before.extend(converted.before);
        step.data.extend(converted.data);
    };
    let Some(at) = url(c, &sampler, &method, &mut |converted| keep(converted, &mut before)) else {
        return Vec::new();
    };
    let varies = at.varies();
    let fold_slashes = client::folds_slashes(&sampler, &at);
    let Url { url, place } = at;
    let content = content(c, &sampler, &method, &mut |converted| keep(converted, &mut before));
    let Some(mut content) = content else { return Vec::new() };
    if sampler.is_java() {
        client::limit_to_java(c, of, &method, &mut content);
    }
    let body = encoded(&content, sampler.charset());
    let way = Method { name: &method, content: &content, body: &body, url: &url, place: place.as_deref() };
    proxy::note(c, &sampler, &url);
    let fields = http_fields::fields(c, &sampler, scope, &way, &mut |converted| keep(converted, &mut before));
    note_encoding(c, &sampler);
    let name = control::label(c, of);
    let titled = control::title(c, of);
    before.extend(titled.before);
    before.extend(content.before);
    let request = Request {
        method,
        fields,
        body,
        name,
        title: titled.title,
        place: place.map_or_else(Body::default, Body::from),
        ..Request::get("http://x/")
    };
    step.requests = vec![Request { url, ..request }].into();
    step.expect = expected(scope);
    // A user whose connection ends with the request has to know of it.
    let ends = !sampler.flag("HTTPSampler.use_keepalive", false);
    step.session = Session { strict_urls: varies || ends, fold_slashes, ..session(c, &sampler, scope) };
    step.session.answer_within =
        note_limits(c, &sampler, "HTTPSampler.connect_timeout", "HTTPSampler.response_timeout");
    before.push(Step::Requests(step));
    before
}

/// The URL. What of it may hold values beside path and query is told apart.
fn url(
    c: &mut Converter<'_>,
    sampler: &Sampler<'_>,
    method: &str,
    keep: &mut dyn FnMut(Converted),
) -> Option<Url> {
    let of = sampler.element;
    let path = c.text(of, sampler.text("HTTPSampler.path"));
    let query = query(c, sampler, method, keep);
    let written = path.template(Encoding::Path, escaped_path);
    let begins_with_value = path.begins_with_value();
    keep(path);
    let with_query = |path: &str| match query.is_empty() {
        true => path.to_owned(),
        false => format!("{path}{}{query}", if path.contains('?') { "&" } else { "?" }),
    };
    let lower = written.to_lowercase();
    let whole = ["http://", "https://"].iter().any(|scheme| lower.starts_with(scheme));
    let no_host = sampler.text("HTTPSampler.domain").trim().is_empty();
    if whole || begins_with_value && no_host {
        c.https |= !lower.starts_with("http://");
        let authority = written.split('/').nth(2).unwrap_or("");
        let varies = !whole || plan::template::is_template(authority.as_bytes());
        return Some(match varies {
            true => Url { url: NOWHERE.to_owned(), place: Some(with_query(&written)) },
            false => Url { url: with_query(&written), place: None },
        });
    }
    let (place, varies) = place::place(c, sampler, keep)?;
    let slash = if written.starts_with('/') { "" } else { "/" };
    let path = with_query(&format!("{slash}{written}"));
    Some(match varies {
        // Whether the value has a slash of its own is seen when it is there.
        _ if begins_with_value => Url { url: NOWHERE.to_owned(), place: Some(format!("{place}{path}")) },
        true => Url { url: format!("{NOWHERE}{path}"), place: Some(place) },
        // As it stands, so that it is refused, as JMeter refuses it.
        false if no_uri(&path) => Url { url: NOWHERE.to_owned(), place: Some(format!("{place}{path}")) },
        false => Url { url: format!("{place}{path}"), place: None },
    })
}

/// Parameters in the query, where the method puts them there.
pub(super) fn query(
    c: &mut Converter<'_>,
    sampler: &Sampler<'_>,
    method: &str,
    keep: &mut dyn FnMut(Converted),
) -> String {
    if !matches!(method, "GET" | "DELETE" | "OPTIONS") || sampler.is_raw() {
        return String::new();
    }
    let named = sampler.arguments().into_iter().filter(|argument| !argument_name(argument).is_empty());
    let pairs: Vec<String> = named.map(|argument| pair(c, sampler, argument, false, keep)).collect();
    pairs.join("&")
}

/// A parameter as it is sent. `form`: in a body, where what is already encoded is decoded first.
fn pair(
    c: &mut Converter<'_>,
    sampler: &Sampler<'_>,
    argument: &Object,
    in_body: bool,
    keep: &mut dyn FnMut(Converted),
) -> String {
    let of = sampler.element;
    let charset = sampler.charset();
    let encoded = |text: &str| form::encode_bytes(&charset.encode(text));
    let always = argument.properties.flag("HTTPArgument.always_encode", true);
    let name = c.text(of, argument_name(argument));
    let value = c.text(of, argument.properties.text("Argument.value"));
    let write = |text: &Converted| match (always, in_body) {
        (true, _) => text.template(Encoding::Form, encoded),
        (false, true) => text.template(Encoding::Form, |fixed| encoded(&form::decode(fixed))),
        // As it stands: with a blank in it the URL is none.
        (false, false) => text.raw(),
    };
    let left = write(&name);
    let right = write(&value);
    keep(name);
    keep(value);
    let equals = argument.properties.flag("HTTPArgument.use_equals", true) || !right.is_empty();
    format!("{left}{}{right}", if equals { "=" } else { "" })
}

/// The body; `None` where it cannot be made, which is listed.
pub(super) fn content(
    c: &mut Converter<'_>,
    sampler: &Sampler<'_>,
    method: &str,
    keep: &mut dyn FnMut(Converted),
) -> Option<Content> {
    let of = sampler.element;
    let carries = !matches!(method, "GET" | "HEAD" | "OPTIONS" | "TRACE");
    let files = sampler.files();
    if carries && (!files.is_empty() || sampler.flag("HTTPSampler.DO_MULTIPART_POST", false)) {
        return upload(c, sampler, &files, keep);
    }
    if sampler.is_raw() {
        let mut body = String::new();
        let mut constant = true;
        for argument in sampler.arguments() {
            let text = c.text(of, argument.properties.text("Argument.value"));
            constant &= text.constant().is_some();
            let encodes = argument.properties.flag("HTTPArgument.always_encode", false);
            body.push_str(&if encodes { text.template(Encoding::Form, form::encode) } else { text.raw() });
            keep(text);
        }
        if matches!(method, "HEAD" | "OPTIONS" | "TRACE") {
            return Some(Content::default());
        }
        return Some(Content {
            kind: Some(format!("text/plain; charset={}", charset_name(sampler))),
            body,
            constant,
            present: true,
            ..Content::default()
        });
    }
    if !carries {
        return Some(Content::default());
    }
    let named: Vec<&Object> =
        sampler.arguments().into_iter().filter(|argument| !argument_name(argument).is_empty()).collect();
    let pairs: Vec<String> = named.iter().map(|argument| pair(c, sampler, argument, true, keep)).collect();
    let body = pairs.join("&");
    let constant = !plan::template::is_template(body.as_bytes());
    let kind = Some(form_kind(sampler));
    Some(Content { body, constant, kind, present: true, is_form: true, ..Content::default() })
}

/// Files, and parameters beside them.
pub(super) fn upload(
    c: &mut Converter<'_>,
    sampler: &Sampler<'_>,
    files: &[&Object],
    keep: &mut dyn FnMut(Converted),
) -> Option<Content> {
    let of = sampler.element;
    let mut parts = Vec::new();
    for file in files {
        parts.push(file_part(c, of, file.properties.text("File.path").trim()));
    }
    if let ([file], [part]) = (files, parts.as_slice())
        && file.properties.text("File.paramname").is_empty()
    {
        let kind = Some(file.properties.text("File.mimetype").to_owned()).filter(|kind| !kind.is_empty());
        let body = part.text.clone();
        let constant = part.before.is_empty();
        let before = part.before.clone();
        return Some(Content {
            body,
            constant,
            kind,
            present: true,
            is_form: false,
            is_upload: true,
            before,
        });
    }
    Some(multipart(c, sampler, files, &parts, keep))
}

/// The content of a file that is uploaded: as it is now, where it is a text that is there; otherwise it is read each time.
fn file_part(c: &mut Converter<'_>, of: &Element, written: &str) -> ConvertPart {
    let text = c.text(of, written);
    let constant = text.constant();
    let bytes = constant.as_ref().and_then(|path| (c.settings.included)(path));
    if constant.is_some() && bytes.is_none() {
        c.different(
            of,
            format!("the file '{}' that it uploads is not there: it fails, as in JMeter", short(written)),
        );
    }
    let now = bytes.and_then(|bytes| String::from_utf8(plan::template::escape(&bytes)).ok());
    let title = text.raw().rsplit(['/', '\\']).next().expect("a split has a part").to_owned();
    if let Some(text) = now {
        return ConvertPart { title, text, before: Vec::new() };
    }
    let into = c.fresh("upload");
    let parsed = Text::parse(written, &function::is_known).unwrap_or_else(|_| Text::fixed(written));
    let path = c.rebuilt(&parsed);
    let fills = if path.contains("${") { Fills::Each } else { Fills::Never };
    let code = Code { fills, ..c.code(of, "file", &path, Some(into.clone())) };
    let before = text.steps().into_iter().chain([Step::Code(code)]).collect();
    ConvertPart { title, text: format!("{{{{{into}}}}}"), before }
}

/// A body of several parts (RFC 7578).
fn multipart(
    c: &mut Converter<'_>,
    sampler: &Sampler<'_>,
    files: &[&Object],
    contents: &[ConvertPart],
    keep: &mut dyn FnMut(Converted),
) -> Content {
    let of = sampler.element;
    const BOUNDARY: &str = "----wringer-part-9Dk3v0qZr1nT5xLb";
    let mut body = String::new();
    let mut constant = true;
    // As browsers write them, texts have neither a type nor an encoding, and files have no encoding.
    let browser = sampler.flag("HTTPSampler.BROWSER_COMPATIBLE_MULTIPART", false);
    let of_text = match browser {
        true => String::new(),
        false => format!(
            "\r\nContent-Type: text/plain; charset={}\r\nContent-Transfer-Encoding: 8bit",
            charset_name(sampler)
        ),
    };
    let of_file = if browser { "" } else { "\r\nContent-Transfer-Encoding: binary" };
    for argument in sampler.arguments().into_iter().filter(|argument| !argument_name(argument).is_empty()) {
        let name = c.text(of, argument_name(argument));
        let value = c.text(of, argument.properties.text("Argument.value"));
        constant &= name.constant().is_some() && value.constant().is_some();
        body.push_str(&format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{}\"{of_text}\r\n\r\n{}\r\n",
            name.raw(),
            value.raw()
        ));
        keep(name);
        keep(value);
    }
    let mut before = Vec::new();
    for (file, ConvertPart { title, text, before: reads }) in files.iter().zip(contents) {
        constant &= reads.is_empty();
        before.extend(reads.iter().cloned());
        let kind = file.properties.filled("File.mimetype").unwrap_or("application/octet-stream");
        body.push_str(&format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{}\"; filename=\"{title}\"\r\nContent-Type: {kind}{of_file}\r\n\r\n{text}\r\n",
            file.properties.text("File.paramname")
        ));
    }
    body.push_str(&format!("--{BOUNDARY}--\r\n"));
    let kind = format!("multipart/form-data; boundary={BOUNDARY}");
    Content { body, constant, kind: Some(kind), present: true, is_form: false, is_upload: true, before }
}

/// Statuses below 400 are good, unless an assertion ignores the status.
pub(super) fn expected(scope: &Scope<'_>) -> Expect {
    let mut assertions = scope.innermost_first("ResponseAssertion");
    let any_status = assertions.any(|assertion| assertion.properties.flag("Assertion.assume_success", false));
    Expect { any_status, ..Expect::default() }
}

fn session(c: &mut Converter<'_>, sampler: &Sampler<'_>, scope: &Scope<'_>) -> Session {
    let follows = sampler.flag("HTTPSampler.follow_redirects", false);
    let auto = sampler.flag("HTTPSampler.auto_redirects", false) && !follows;
    let follows = follows || auto;
    let most =
        c.settings.properties.get("httpsampler.max_redirects").and_then(|most| most.trim().parse().ok());
    let redirects = follows.then(|| Redirects {
        limit: most.unwrap_or(20),
        to_get: true,
        as_jmeter: true,
        as_one: auto,
        keep: http_fields::kept(scope),
        ..Redirects::default()
    });
    let resources = sampler.flag("HTTPSampler.image_parser", false).then(|| resources(c, sampler));
    let rules = scope.outermost("CookieManager").and_then(|manager| cookie_rules(c, manager));
    Session {
        cookies: rules.is_some(),
        cookie_rules: rules.unwrap_or(CookieRules::Rfc6265),
        redirects,
        resources,
        validators: validators(c, scope),
        hosts: dns::hosts(c, scope),
        cut_after: interrupt::limit(c, scope),
        ..Session::default()
    }
}

/// True if a manager keeps and sends no cookies, not even its own.
pub(super) fn ignores_cookies(manager: &Element) -> bool {
    let policy = manager.properties.text("CookieManager.policy").trim();
    ["ignorecookies", "rfc2965"].iter().any(|name| policy.eq_ignore_ascii_case(name))
}

/// The rules of a manager's policy; none where it ignores cookies.
fn cookie_rules(c: &mut Converter<'_>, manager: &Element) -> Option<CookieRules> {
    let policy = manager.properties.text("CookieManager.policy").trim().to_lowercase();
    let has_own = !manager.properties.list("CookieManager.cookies").is_empty();
    let rules = match policy.as_str() {
        "" | "standard" => CookieRules::HttpclientStandard,
        "standard-strict" => CookieRules::HttpclientStrict,
        "default" | "best-match" | "compatibility" => CookieRules::HttpclientDefault,
        "netscape" => CookieRules::HttpclientNetscape,
        "rfc2109" => CookieRules::HttpclientRfc2109,
        "ignorecookies" => return None,
        "rfc2965" => {
            if has_own {
                c.different(manager, "with the policy rfc2965 JMeter keeps no cookies and sends its own as those of RFC 2109: none is sent");
            }
            return None;
        }
        _ => {
            c.missing(
                manager,
                format!("its policy '{policy}' is none that JMeter knows, which does not begin the test"),
            );
            return None;
        }
    };
    let says_path = matches!(rules, CookieRules::HttpclientDefault | CookieRules::HttpclientRfc2109);
    if has_own && says_path {
        c.different(
            manager,
            "its own cookies are sent with an empty $Path and the host as their $Domain, whatever theirs are",
        );
    }
    Some(rules)
}

fn validators(c: &mut Converter<'_>, scope: &Scope<'_>) -> Validators {
    let Some(manager) = scope.outermost("CacheManager") else { return Validators::Never };
    if manager.properties.flag("useExpires", false) {
        c.different(manager, "what is fresh by Cache-Control or Expires is asked for on condition; JMeter would not ask at all");
    }
    Validators::Always
}

fn resources(c: &mut Converter<'_>, sampler: &Sampler<'_>) -> Resources {
    let only = url_pattern(c, sampler, "HTTPSampler.embedded_url_re").map(Must::MatchWhole);
    let except = url_pattern(c, sampler, "HTTPSampler.embedded_url_exclude_re").map(Must::MatchWhole);
    let urls = match (only, except.map(|except| Must::Not(Box::new(except)))) {
        (Some(only), Some(except)) => Some(Must::AllOf(vec![only, except])),
        (only, except) => only.or(except),
    };
    let parallel = match sampler.flag("HTTPSampler.concurrentDwn", false) {
        true => sampler.text("HTTPSampler.concurrentPool").trim().parse().unwrap_or(6),
        false => 1,
    };
    Resources {
        parallel: u32::clamp(parallel, 1, 64),
        only: vec!["*".to_owned()],
        urls,
        elements: Elements::Jmeters,
        ..Resources::default()
    }
}

/// A pattern of URLs; `None` where there is none, or one that cannot be used, which is listed.
fn url_pattern(c: &mut Converter<'_>, sampler: &Sampler<'_>, key: &str) -> Option<String> {
    let of = sampler.element;
    let written = sampler.text(key).trim();
    let text = c.text(of, written);
    let Some(pattern) = text.constant() else {
        c.different(of, format!("all embedded resources are fetched: '{}' changes", short(written)));
        return None;
    };
    match super::extract::unreadable(&pattern) {
        _ if pattern.is_empty() => None,
        None => Some(pattern),
        Some(why) => {
            c.different(
                of,
                format!("all embedded resources are fetched: '{}' is no pattern: {why}", short(&pattern)),
            );
            None
        }
    }
}

/// Notes the limits of a sampler; returns that of its answers, where it has one. That of connecting holds for a whole plan here.
pub(super) fn note_limits(
    c: &mut Converter<'_>,
    sampler: &Sampler<'_>,
    connect: &str,
    answer: &str,
) -> Option<Duration> {
    let of = sampler.element;
    let mut limit = |name: &str| {
        let written = sampler.text(name).to_owned();
        c.text(of, &written).constant().and_then(|text| text.trim().parse::<u64>().ok()).unwrap_or(0)
    };
    let own = (limit(connect), limit(answer));
    if c.limits.iter().any(|known| known.0 != own.0) {
        c.different(
            of,
            "its time-out of connecting differs from those of other samplers: the longest of all holds for all",
        );
    }
    c.limits.push(own);
    (own.1 > 0).then(|| Duration::from_millis(own.1))
}

/// The bytes of a body: what stays of it in the encoding of the sampler.
fn encoded(content: &Content, charset: Charset) -> Body {
    let pieces = plan::template::pieces(content.body.as_bytes(), plan::template::Encode::Raw)
        .expect("a template of ours");
    // A text alone; what stands beside values is not told from them any more.
    if charset != Charset::Utf8
        && let [plan::template::TemplatePiece::Text(text)] = pieces.as_slice()
    {
        let bytes = charset.encode(&String::from_utf8_lossy(text));
        return Body::from(plan::template::escape(&bytes));
    }
    Body::from(content.body.as_str())
}

/// Values that change are sent as UTF-8, whatever the encoding, which is listed; so are bodies that hold some, and files.
fn note_encoding(c: &mut Converter<'_>, sampler: &Sampler<'_>) {
    let encoding = sampler.text("HTTPSampler.contentEncoding").trim();
    let of = sampler.element;
    if Charset::named(encoding).is_none() {
        c.different(
            of,
            format!("its encoding '{encoding}' is none that is known: its content is sent as UTF-8"),
        );
        return;
    }
    let arguments = sampler.arguments();
    let texts = arguments
        .iter()
        .flat_map(|argument| ["Argument.name", "Argument.value"].map(|name| argument.properties.text(name)));
    let changes = texts.into_iter().any(|text| text.contains("${") && c.text(of, text).constant().is_none());
    let is_ascii = matches!(sampler.charset(), Charset::Bytes { most: 0x7F } | Charset::Utf8);
    if !is_ascii && (changes || !sampler.files().is_empty()) {
        c.different(
            of,
            format!(
                "values that change, texts beside them and beside files are sent as UTF-8, not as {encoding}, under a Content-Type that names {encoding}"
            ),
        );
    }
}

fn charset_name(sampler: &Sampler<'_>) -> String {
    charset::java_name(sampler.text("HTTPSampler.contentEncoding"))
}

fn form_kind(sampler: &Sampler<'_>) -> String {
    format!("application/x-www-form-urlencoded; charset={}", charset_name(sampler))
}

/// Percent-encodes the fixed text of a path or query: blanks and what is no ASCII.
fn escaped_path(text: &str) -> String {
    let mut escaped = Vec::new();
    plan::template::Encode::Path.write(text.as_bytes(), &mut escaped);
    String::from_utf8_lossy(&escaped).into_owned()
}

/// True if what stays of a path is part of no URI (RFC 3986).
fn no_uri(template: &str) -> bool {
    let pieces = plan::template::pieces(template.as_bytes(), plan::template::Encode::Path)
        .expect("a template of ours");
    let texts = pieces.iter().filter_map(|piece| match piece {
        plan::template::TemplatePiece::Text(text) => Some(String::from_utf8_lossy(text)),
        plan::template::TemplatePiece::Value { .. } => None,
    });
    plan::uri_fault(&texts.collect::<String>()).is_some()
}

/// A file that is uploaded.
struct ConvertPart {
    /// Its name.
    title: String,
    /// Its content, with placeholders.
    text: String,
    /// Steps taken before it is sent.
    before: Vec<Step>,
}
