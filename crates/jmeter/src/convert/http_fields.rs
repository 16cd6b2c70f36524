//! Header fields of a request, in the order in which JMeter's clients send them.

use super::Converter;
use super::http::{Content, Sampler};
use super::scope::Scope;
use super::text::Converted;
use crate::element::{Element, Value};
use plan::{Credentials, Field, FieldValue, Secret};

/// As JMeter 5.6.3 with Java 17 names itself.
const HTTP_CLIENT: &str = "Apache-HttpClient/4.5.13 (Java/17.0.15)";
const JAVA: &str = "Java/17.0.15";

/// A request as far as its fields depend on it.
pub(super) struct Method<'a> {
    pub(super) name: &'a str,
    pub(super) content: &'a Content,
    /// The bytes of its body, with placeholders.
    pub(super) body: &'a [u8],
    /// With placeholders.
    pub(super) url: &'a str,
    /// Scheme, host and port, where these hold values.
    pub(super) place: Option<&'a str>,
}

/// A field of a header manager.
struct Given<'a> {
    of: &'a Element,
    name: String,
    value: String,
}

/// All fields but those that follow from cookies, caches and the length of bodies that change.
pub(super) fn fields(
    c: &mut Converter<'_>,
    sampler: &Sampler<'_>,
    scope: &Scope<'_>,
    request: &Method<'_>,
    keep: &mut dyn FnMut(Converted),
) -> Vec<Field> {
    let java = sampler.is_java();
    let alive = sampler.flag("HTTPSampler.use_keepalive", false);
    let mut fields = vec![Field::new("Connection", if alive { "keep-alive" } else { "close" })];
    let given = given(scope);
    let has = |name: &str| given.iter().any(|field| field.name.eq_ignore_ascii_case(name));
    let has_kind = has("Content-Type");
    let has_host = has("Host");
    let has_agent = has("User-Agent");
    let has_accept = has("Accept");
    let mut host = None;
    let mut written = Vec::new();
    for field in given {
        let value = c.text(field.of, &field.value);
        let name = c.text(field.of, &field.name).raw();
        let text = value.raw();
        keep(value);
        match name.to_ascii_lowercase().as_str() {
            "content-length" | "" => {}
            "connection" => fields[0] = Field::new(name, text.as_str()),
            "host" => host = Some(Field::new(name, text.as_str())),
            _ => written.push(Field::new(name, text.as_str())),
        }
    }
    fields.extend(written);
    fields.extend(authorization(c, scope, request.url));
    // What a user adds stands here: a field without a value keeps its place.
    if scope.outermost("CacheManager").is_some() {
        fields.extend(["If-Modified-Since", "If-None-Match"].map(|name| Field::new(name, "")));
    }
    if scope.outermost("CookieManager").is_some() {
        let preset = preset_cookies(c, scope, request.url, keep);
        fields.push(preset.unwrap_or_else(|| Field::new("Cookie", "")));
    }
    fields.extend(if java { of_java_content(request, has_kind) } else { of_content(request, has_kind) });
    let agent = Field::new("User-Agent", if java { JAVA } else { HTTP_CLIENT });
    let host = match host.filter(|_| has_host) {
        Some(host) => host,
        None if request.place.is_some() => Field::new("Host", ""),
        None => Field::new("Host", authority(request.url)),
    };
    if java {
        fields.extend((!has_agent).then_some(agent));
        fields.push(host);
        fields.extend(
            (!has_accept).then(|| Field::new("Accept", "text/html, image/gif, image/jpeg, */*; q=0.2")),
        );
        // Its own type of what is posted stands behind all other fields, where nobody else gives one.
        let is_form = request.name == "POST" && !has_kind && own_kind(request.content).is_none();
        fields.extend(is_form.then(|| Field::new("Content-type", "application/x-www-form-urlencoded")));
    } else {
        fields.push(host);
        // To a proxy, whatever the connection is to be.
        let by_proxy = c.way.as_ref().is_some_and(|way| way.proxy.is_some());
        fields.extend(by_proxy.then(|| Field::new("Proxy-Connection", "Keep-Alive")));
        fields.extend((!has_agent).then_some(agent));
    }
    fields
}

/// The fields of all header managers: the innermost one's in its order, then those that it lacks from the next.
fn given<'e>(scope: &Scope<'e>) -> Vec<Given<'e>> {
    let mut fields: Vec<Given<'e>> = Vec::new();
    for manager in scope.innermost_first("HeaderManager") {
        let known: Vec<String> = fields.iter().map(|field| field.name.to_lowercase()).collect();
        for header in manager.properties.list("HeaderManager.headers") {
            let Value::Object(header) = header else { continue };
            let name = header.properties.text("Header.name").trim().to_owned();
            if !known.contains(&name.to_lowercase()) {
                fields.push(Given {
                    of: manager,
                    name,
                    value: header.properties.text("Header.value").to_owned(),
                });
            }
        }
    }
    fields
}

/// Names of the fields that describe a body and are given by hand: they are sent with each request, whether it has one or not.
pub(super) fn kept(scope: &Scope<'_>) -> Vec<String> {
    let names = given(scope).into_iter().map(|field| field.name);
    let is_kept = |name: &String| {
        let name = name.to_ascii_lowercase();
        name.starts_with("content-") && name != "content-length"
    };
    names.filter(is_kept).collect()
}

/// Returns the `Authorization` field that an authorization manager sends without a challenge.
fn authorization(c: &mut Converter<'_>, scope: &Scope<'_>, url: &str) -> Option<Field> {
    let manager = scope.outermost("AuthManager")?;
    for row in manager.properties.list("AuthManager.auth_list") {
        let Value::Object(row) = row else { continue };
        let mut part = |name: &str| c.constant(manager, row.properties.text(name), "a row of its table");
        let prefix = part("Authorization.url")?;
        let name = part("Authorization.username")?;
        let password = part("Authorization.password")?;
        let mechanism =
            row.properties.filled("Authorization.mechanism").unwrap_or("BASIC_DIGEST").to_uppercase();
        if !url.to_lowercase().starts_with(&prefix.to_lowercase()) {
            continue;
        }
        match mechanism.as_str() {
            "BASIC" | "BASIC_DIGEST" => {
                let credentials = Credentials::new(&name, Secret::typed(password));
                return Some(Field::new("Authorization", FieldValue::basic(credentials)));
            }
            other => c.missing(
                manager,
                format!("{other} is not sent from a plan of JMeter: give credentials in the converted plan"),
            ),
        }
    }
    None
}

/// Cookies that a manager begins with, in clear: they are part of the plan, and what is converted runs as it is. Their values may
/// change from request to request.
fn preset_cookies(
    c: &mut Converter<'_>,
    scope: &Scope<'_>,
    url: &str,
    keep: &mut dyn FnMut(Converted),
) -> Option<Field> {
    let manager = scope.outermost("CookieManager")?;
    let cookies = manager.properties.list("CookieManager.cookies");
    if super::http::ignores_cookies(manager) {
        return None;
    }
    let host = authority(url).rsplit_once(':').map_or(authority(url), |(host, _)| host);
    let mut pairs = Vec::new();
    for cookie in cookies {
        let Value::Object(cookie) = cookie else { continue };
        let value = c.text(manager, cookie.properties.text("Cookie.value"));
        let domain = c.constant(manager, cookie.properties.text("Cookie.domain"), "a cookie's domain")?;
        let domain = domain.trim().trim_start_matches('.');
        if domain.is_empty() || host == domain || host.ends_with(&format!(".{domain}")) {
            pairs.push(format!("{}={}", cookie.name, value.raw()));
            keep(value);
        }
    }
    (!pairs.is_empty()).then(|| {
        let mut field = Field::new("Cookie", "");
        field.value = FieldValue::Text(pairs.join("; "));
        field
    })
}

/// The fields that describe the body.
fn of_content(request: &Method<'_>, has_kind: bool) -> Vec<Field> {
    let content = request.content;
    let mut fields = Vec::new();
    if content.present {
        // A body that changes is counted when it is there.
        let length = if content.constant { plain_length(request.body).to_string() } else { String::new() };
        fields.push(Field::new("Content-Length", length.as_str()));
    }
    let kind = content.kind.as_deref().filter(|_| !has_kind);
    fields.extend(kind.map(|kind| Field::new("Content-Type", kind)));
    fields
}

/// The fields that Java's own client sends of a body: a type only of files and of what has several parts.
fn of_java_content(request: &Method<'_>, has_kind: bool) -> Vec<Field> {
    let kind = own_kind(request.content).filter(|_| !has_kind);
    let kind = kind.map(|kind| Field::new("Content-Type", kind));
    kind.into_iter().chain(of_content(request, true)).collect()
}

/// The type of a file or of several parts.
fn own_kind(content: &Content) -> Option<&str> {
    content.kind.as_deref().filter(|_| content.is_upload)
}

/// Bytes of a template without placeholders.
fn plain_length(template: &[u8]) -> usize {
    let pieces = plan::template::pieces(template, plan::template::Encode::Raw).expect("a template of ours");
    let length = pieces.iter().map(|piece| match piece {
        plan::template::TemplatePiece::Text(text) => text.len(),
        plan::template::TemplatePiece::Value { .. } => 0,
    });
    length.sum()
}

/// Host and port of a URL.
fn authority(url: &str) -> &str {
    let behind = url.split_once("://").map_or(url, |(_, behind)| behind);
    behind.split(['/', '?']).next().unwrap_or(behind)
}
