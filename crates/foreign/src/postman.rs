//! Postman's collections (2.0 and 2.1): requests in folders, with the values of variables; and environments.

use crate::taken::{Taken, add_field, add_type, body, has_field, request};
use crate::value::{array, text_of};
use crate::variables::KnownValues;
use plan::secret::Secret;
use plan::{Credentials, Field, FieldValue, Request};
use serde_json::{Value, json};

/// How deep folders are read.
const DEEPEST: usize = 16;
/// Settings of an element that are not taken.
const SETTINGS: [&str; 3] = ["protocolProfileBehavior", "proxy", "certificate"];

/// True for a collection.
pub(crate) fn is(value: &Value) -> bool {
    value.get("item").is_some_and(Value::is_array) && value.get("info").is_some()
}

/// The variables of an environment that are switched on, as Postman exports it.
///
/// # Errors
/// It is none.
pub fn environment(text: &str) -> Result<Vec<(String, String)>, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let value: Value = serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
    if !value.get("values").is_some_and(Value::is_array) {
        return Err("it is no environment of Postman's: it has no list of values".to_owned());
    }
    let of = |entry: &Value| Some((entry.get("key")?.as_str()?.to_owned(), text_of(entry.get("value")?)));
    let is_on = |entry: &&Value| entry.get("enabled").and_then(Value::as_bool) != Some(false);
    Ok(array(&value, "values").filter(is_on).filter_map(of).collect())
}

/// Reads it. `find`: reads the file of a body.
pub(crate) fn read(
    collection: &Value,
    variables: &mut KnownValues<'_>,
    find: &dyn Fn(&str) -> Result<Vec<u8>, String>,
) -> Taken {
    let mut taken = Taken { cookies: true, ..Taken::of("a collection of Postman's") };
    for variable in array(collection, "variable").filter(|variable| !is_disabled(variable)) {
        let name = variable.get("key").or_else(|| variable.get("id")).and_then(Value::as_str);
        if let Some((name, value)) = name.zip(variable.get("value")) {
            variables.own(name, text_of(value));
        }
    }
    let mut reader = PostmanReader { variables, taken: &mut taken, find };
    reader.tell_settings(collection, "the collection");
    reader.items(collection, &Folder { name: "", auth: collection.get("auth"), depth: 0 });
    taken
}

/// Where requests lie.
struct Folder<'a> {
    /// Empty: the collection itself.
    name: &'a str,
    /// Authorization of all within.
    auth: Option<&'a Value>,
    depth: usize,
}

struct PostmanReader<'a, 'v> {
    variables: &'a mut KnownValues<'v>,
    taken: &'a mut Taken,
    find: &'a dyn Fn(&str) -> Result<Vec<u8>, String>,
}

impl PostmanReader<'_, '_> {
    fn filled(&mut self, text: &str) -> String {
        self.variables.filled(text, self.taken)
    }

    /// The value of a member, filled.
    fn text(&mut self, of: &Value, name: &str) -> Option<String> {
        let value = of.get(name).filter(|value| !value.is_null())?;
        Some(self.filled(&text_of(value)))
    }

    fn tell_settings(&mut self, of: &Value, name: &str) {
        if array(of, "event").any(has_script) {
            self.taken.leave_out(format!("{name}: its scripts"));
        }
        for setting in SETTINGS {
            let said = of.get(setting).filter(|value| value.as_object().is_none_or(|all| !all.is_empty()));
            if said.is_some_and(|value| !value.is_null()) {
                self.taken.leave_out(format!("{name}: its {setting}"));
            }
        }
    }

    fn items(&mut self, of: &Value, folder: &Folder<'_>) {
        for item in array(of, "item") {
            let name = item.get("name").and_then(Value::as_str).unwrap_or("request");
            let name =
                if folder.name.is_empty() { name.to_owned() } else { format!("{} / {name}", folder.name) };
            let auth = item.get("auth").filter(|auth| !auth.is_null()).or(folder.auth);
            self.tell_settings(item, &name);
            match (item.get("item"), item.get("request")) {
                (Some(_), _) if folder.depth >= DEEPEST => {
                    self.taken.leave_out(format!("{name}: its folders lie deeper than {DEEPEST}"));
                }
                (Some(_), _) => self.items(item, &Folder { name: &name, auth, depth: folder.depth + 1 }),
                (None, Some(asked)) => self.one(asked, &name, auth),
                (None, None) => self.taken.leave_out(format!("{name}: it has no request")),
            }
        }
    }

    fn one(&mut self, asked: &Value, name: &str, auth: Option<&Value>) {
        let url = self.url(asked, name);
        let method = asked.get("method").and_then(Value::as_str).unwrap_or("GET").to_ascii_uppercase();
        let mut request = request(&method, &url, name);
        for field in array(asked, "header").filter(|field| !is_disabled(field)) {
            let key = self.text(field, "key");
            let value = self.text(field, "value");
            if let Some(key) = key {
                add_field(&mut request, key.trim(), value.as_deref().unwrap_or("").trim(), self.taken);
            }
        }
        self.tell_settings(asked, name);
        let auth = asked.get("auth").filter(|auth| !auth.is_null()).or(auth);
        // A field that is typed is stronger.
        if let Some(auth) = auth.filter(|_| !has_field(&request, "authorization")) {
            self.authorize(&mut request, auth);
        }
        if let Some(body) = asked.get("body").filter(|body| body.is_object() && !is_disabled(body)) {
            self.add_body(&mut request, body);
        }
        self.taken.requests.push(request);
    }

    fn url(&mut self, asked: &Value, name: &str) -> String {
        let url = if asked.is_string() { asked } else { asked.get("url").unwrap_or(&Value::Null) };
        let raw = match url {
            Value::String(raw) => raw.clone(),
            url => url.get("raw").and_then(Value::as_str).map_or_else(|| put_together(url), str::to_owned),
        };
        let values: Vec<&Value> = array(url, "variable").collect();
        let mut whole = String::new();
        for (at, segment) in raw.split('/').enumerate() {
            let slash = if at > 0 { "/" } else { "" };
            let (key, behind) =
                segment.split_once('?').map_or((segment, None), |(key, rest)| (key, Some(rest)));
            let named = key.strip_prefix(':').filter(|key| !key.is_empty() && at > 0);
            let value = named.and_then(|key| {
                values.iter().find(|one| one.get("key").and_then(Value::as_str) == Some(key))
            });
            let value = value.and_then(|one| one.get("value")).map(text_of).filter(|value| !value.is_empty());
            match (named, value) {
                (Some(_), Some(value)) => whole += &format!("{slash}{value}"),
                (Some(key), None) => {
                    self.taken.leave_out(format!(
                        "{name}: :{key} of its path has no value and is sent as it stands"
                    ));
                    whole += &format!("{slash}{key}", key = segment.split('?').next().unwrap_or(segment));
                }
                (None, _) => whole += &format!("{slash}{key}"),
            }
            whole += &behind.map_or_else(String::new, |rest| format!("?{rest}"));
        }
        let url = self.filled(&whole);
        let has_scheme =
            url.contains("://") || url.starts_with("{{") || url.is_empty() || url.starts_with('/');
        if has_scheme { url } else { format!("http://{url}") }
    }

    fn authorize(&mut self, request: &mut Request, auth: &Value) {
        let kind = auth.get("type").and_then(Value::as_str).unwrap_or("noauth");
        let mut value = |name: &str| {
            // A list of pairs in 2.1, an object in 2.0.
            let pair = array(auth, kind).find(|entry| entry.get("key").and_then(Value::as_str) == Some(name));
            let value = pair.and_then(|entry| entry.get("value")).or_else(|| auth.get(kind)?.get(name));
            value.map(|value| self.variables.filled(&text_of(value), self.taken))
        };
        let field = match kind {
            "noauth" => return,
            "bearer" => value("token").map(|token| Field::new("Authorization", format!("Bearer {token}"))),
            "basic" => {
                let name = value("username");
                let password = value("password");
                let password = Secret::typed(password.as_deref().unwrap_or(""));
                let credentials = Credentials { name, password, realm: None };
                Some(Field::new("Authorization", FieldValue::basic(credentials)))
            }
            "apikey" => {
                let is_in_query = value("in").as_deref() == Some("query");
                let pair = value("key").zip(value("value"));
                if let Some((key, value)) = pair.as_ref().filter(|_| is_in_query) {
                    request.url = with_pair(&request.url, key, value);
                    return;
                }
                pair.map(|(key, value)| Field::new(key, value))
            }
            _ => None,
        };
        match field {
            Some(field) => request.fields.push(field),
            None => self.taken.leave_out(format!("{}: its authorization ({kind})", request.name)),
        }
    }

    fn add_body(&mut self, request: &mut Request, described: &Value) {
        let mode = described.get("mode").and_then(Value::as_str);
        match mode {
            Some("raw") => {
                let text = self.text(described, "raw");
                if let Some(text) = text.filter(|text| !text.is_empty()) {
                    let language = described.pointer("/options/raw/language").and_then(Value::as_str);
                    language.and_then(type_of).iter().for_each(|kind| add_type(request, kind));
                    request.body = body(text.into_bytes());
                }
            }
            Some("urlencoded") => {
                let mut form = url::form_urlencoded::Serializer::new(String::new());
                for pair in array(described, "urlencoded").filter(|pair| !is_disabled(pair)) {
                    let key = self.text(pair, "key");
                    let value = self.text(pair, "value");
                    form.append_pair(key.as_deref().unwrap_or(""), value.as_deref().unwrap_or(""));
                }
                add_type(request, "application/x-www-form-urlencoded");
                request.body = body(form.finish().into_bytes());
            }
            Some("formdata") => self.add_parts(request, described),
            Some("graphql") => {
                let of = described.get("graphql").unwrap_or(&Value::Null);
                let query = self.text(of, "query");
                let variables =
                    self.text(of, "variables").and_then(|text| serde_json::from_str::<Value>(&text).ok());
                add_type(request, "application/json");
                request.body =
                    body(json!({ "query": query, "variables": variables }).to_string().into_bytes());
            }
            Some("file") => match described.pointer("/file/src").and_then(Value::as_str).map(self.find) {
                Some(Ok(bytes)) => request.body = body(bytes),
                Some(Err(why)) => {
                    self.taken.leave_out(format!("{}: the file of its body: {why}", request.name))
                }
                None => self
                    .taken
                    .leave_out(format!("{}: the file of its body, which is not named", request.name)),
            },
            Some(other) => self.taken.leave_out(format!("{}: its body ({other})", request.name)),
            None => {}
        }
    }

    /// A form in parts (RFC 7578).
    fn add_parts(&mut self, request: &mut Request, described: &Value) {
        const BOUNDARY: &str = "----wringer-part-of-form";
        let mut bytes = Vec::new();
        for part in array(described, "formdata").filter(|part| !is_disabled(part)) {
            let key = self.text(part, "key");
            let key = key.as_deref().unwrap_or("").replace('"', "%22");
            let mut head = format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{key}\"");
            let content = match part.get("type").and_then(Value::as_str) {
                Some("file") => {
                    let file = part.get("src").and_then(Value::as_str).unwrap_or("");
                    head += &format!(
                        "; filename=\"{}\"",
                        file.rsplit('/').next().unwrap_or(file).replace('"', "%22")
                    );
                    (self.find)(file).unwrap_or_else(|why| {
                        self.taken.leave_out(format!(
                            "{}: the file {file} of its form, which is sent empty: {why}",
                            request.name
                        ));
                        Vec::new()
                    })
                }
                Some(_) | None => self.text(part, "value").map_or_else(Vec::new, String::into_bytes),
            };
            if let Some(kind) = part.get("contentType").and_then(Value::as_str) {
                head += &format!("\r\nContent-Type: {kind}");
            }
            bytes.extend_from_slice(format!("{head}\r\n\r\n").as_bytes());
            bytes.extend_from_slice(&content);
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
        request.fields.retain(|field| !field.name.eq_ignore_ascii_case("content-type"));
        add_type(request, &format!("multipart/form-data; boundary={BOUNDARY}"));
        request.body = body(bytes);
    }
}

/// A URL with one more pair at the end of its query.
fn with_pair(url: &str, key: &str, value: &str) -> String {
    let url = url.split('#').next().unwrap_or(url);
    let join = match url.split_once('?') {
        None => "?",
        Some((_, query)) if query.is_empty() || query.ends_with('&') => "",
        Some(_) => "&",
    };
    let pair = url::form_urlencoded::Serializer::new(String::new()).append_pair(key, value).finish();
    format!("{url}{join}{pair}")
}

fn has_script(event: &Value) -> bool {
    let lines = event.pointer("/script/exec");
    let has_words = |line: &Value| text_of(line).lines().any(|line| !line.trim().is_empty());
    let said =
        |lines: &Value| lines.as_array().map_or_else(|| has_words(lines), |all| all.iter().any(has_words));
    !is_disabled(event) && lines.is_some_and(said)
}

fn is_disabled(entry: &Value) -> bool {
    entry.get("disabled").and_then(Value::as_bool).unwrap_or(false)
}

/// A URL of its parts, where it does not stand there as a whole.
fn put_together(url: &Value) -> String {
    let joined = |name: &str, by: &str| match url.get(name) {
        Some(Value::Array(all)) => all.iter().map(text_of).collect::<Vec<_>>().join(by),
        Some(one) if !one.is_null() => text_of(one),
        Some(_) | None => String::new(),
    };
    let host = joined("host", ".");
    let scheme = joined("protocol", "");
    let port = joined("port", "");
    let pairs = array(url, "query").filter(|pair| !is_disabled(pair));
    let pair = |pair: &Value| {
        let text = |name: &str| {
            let value = pair.get(name).filter(|value| !value.is_null());
            value.map_or_else(String::new, text_of)
        };
        format!("{}={}", text("key"), text("value"))
    };
    let query: Vec<String> = pairs.map(pair).collect();
    let scheme = if scheme.is_empty() || host.is_empty() { String::new() } else { format!("{scheme}://") };
    let port = if port.is_empty() { port } else { format!(":{port}") };
    let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
    format!("{scheme}{host}{port}/{}{query}", joined("path", "/"))
}

/// The type that goes with a language of a body.
fn type_of(language: &str) -> Option<&'static str> {
    match language {
        "json" => Some("application/json"),
        "xml" => Some("application/xml"),
        "html" => Some("text/html"),
        "javascript" => Some("application/javascript"),
        "text" => Some("text/plain"),
        _ => None,
    }
}
