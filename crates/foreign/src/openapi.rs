//! OpenAPI 3 and Swagger 2: a request for each operation, with the examples that stand there, or values made of the schemas.

mod example;

use crate::asked::Base;
use crate::taken::{Taken, body, request};
use crate::value::{array, text_of};
use crate::variables::KnownValues;
use example::{Examples, followed};
use plan::{Field, Request};
use serde_json::Value;

/// Methods that a path may have.
const METHODS: [&str; 8] = ["get", "head", "post", "put", "patch", "delete", "options", "trace"];

/// True for a description.
pub(crate) fn is(value: &Value) -> bool {
    (value.get("openapi").is_some() || value.get("swagger").is_some()) && value.get("paths").is_some()
}

/// Reads it. `to`: where the service is, in place of what it says.
///
/// # Errors
/// It names no server, and no address is given.
pub(crate) fn read(api: &Value, to: Option<&Base>, variables: &mut KnownValues<'_>) -> Result<Taken, String> {
    let mut taken = Taken::of("an OpenAPI description");
    tell_whole(api, &mut taken);
    let mut reader = OpenapiReader { api, to, variables, taken: &mut taken };
    for (path, item) in api.get("paths").and_then(Value::as_object).into_iter().flatten() {
        let item = followed(api, item);
        for method in METHODS {
            if let Some(operation) = item.get(method) {
                reader.one(&Operation { path, method, item, said: operation })?;
            }
        }
    }
    Ok(taken)
}

/// Tells what is true of the description as a whole.
fn tell_whole(api: &Value, taken: &mut Taken) {
    if api.get("webhooks").is_some() {
        taken.leave_out("webhooks, which the service sends itself");
    }
    let servers: Vec<String> =
        array(api, "servers").skip(1).filter_map(|server| server.get("url")).map(text_of).collect();
    if !servers.is_empty() {
        taken.leave_out(format!("other servers: {}", servers.join(", ")));
    }
    let mut broken = Vec::new();
    find_broken(api, api, &mut broken);
    broken
        .iter()
        .for_each(|to| taken.leave_out(format!("the reference {to}, which leads to nothing in this file")));
}

/// References that cannot be followed.
fn find_broken(api: &Value, within: &Value, broken: &mut Vec<String>) {
    match within {
        Value::Array(all) => all.iter().for_each(|one| find_broken(api, one, broken)),
        Value::Object(all) => {
            if let Some(to) = all.get("$ref").and_then(Value::as_str)
                && to.strip_prefix('#').and_then(|place| api.pointer(place)).is_none()
                && !broken.iter().any(|known| known == to)
            {
                broken.push(to.to_owned());
            }
            all.values().for_each(|one| find_broken(api, one, broken));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// An operation, and where it stands.
struct Operation<'a> {
    path: &'a str,
    method: &'a str,
    item: &'a Value,
    said: &'a Value,
}

/// Parameters of an operation, with their values.
#[derive(Default)]
struct Drawn {
    path: String,
    query: Vec<(String, String)>,
    fields: Vec<Field>,
    cookies: Vec<String>,
    form: Vec<(String, String)>,
    body: Option<String>,
    /// Names of parameters that need not be given.
    optional: Vec<String>,
}

struct OpenapiReader<'a, 'v> {
    api: &'a Value,
    to: Option<&'a Base>,
    variables: &'a mut KnownValues<'v>,
    taken: &'a mut Taken,
}

impl<'a> OpenapiReader<'a, '_> {
    fn one(&mut self, operation: &Operation<'a>) -> Result<(), String> {
        let base = self.base(operation)?;
        let label = format!("{} {}", operation.method.to_ascii_uppercase(), operation.path);
        let name = operation.said.get("operationId").and_then(Value::as_str).unwrap_or(&label);
        let drawn = self.drawn(operation, name);
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(&drawn.query);
        let query = match drawn.query.is_empty() {
            true => String::new(),
            false => format!("?{}", query.finish()),
        };
        let method = operation.method.to_ascii_uppercase();
        let mut request = request(&method, &format!("{base}{}{query}", drawn.path), name);
        request.fields = drawn.fields;
        if !drawn.cookies.is_empty() {
            request.fields.push(Field::new("Cookie", drawn.cookies.join("; ")));
        }
        if !drawn.optional.is_empty() {
            self.taken.leave_out(format!(
                "{name}: parameters that it can do without: {}",
                drawn.optional.join(", ")
            ));
        }
        match operation.said.get("requestBody").map(|body| followed(self.api, body)) {
            Some(described) => self.add_body(&mut request, described),
            None if !drawn.form.is_empty() => {
                request.fields.push(Field::new("Content-Type", "application/x-www-form-urlencoded"));
                let mut form = url::form_urlencoded::Serializer::new(String::new());
                request.body = body(form.extend_pairs(&drawn.form).finish().into_bytes());
            }
            None => {
                if let Some(text) = drawn.body {
                    request.fields.push(Field::new("Content-Type", "application/json"));
                    request.body = body(text.into_bytes());
                }
            }
        }
        self.tell_rest(operation, name);
        self.taken.requests.push(request);
        Ok(())
    }

    /// Where its path begins.
    fn base(&mut self, operation: &Operation<'_>) -> Result<String, String> {
        let of = [operation.said, operation.item, self.api];
        let server = of.iter().find_map(|of| array(of, "servers").next());
        let mut url = server.and_then(|server| server.get("url")).map_or_else(String::new, text_of);
        for (name, variable) in
            server.and_then(|server| server.get("variables")?.as_object()).into_iter().flatten()
        {
            let default = variable.get("default").map_or_else(String::new, text_of);
            let value = self.variables.value(name).unwrap_or(default);
            url = url.replace(&format!("{{{name}}}"), &value);
        }
        if let Some(host) = self.api.get("host").and_then(Value::as_str) {
            let scheme = self.api.pointer("/schemes/0").and_then(Value::as_str).unwrap_or("http");
            url = format!("{scheme}://{host}");
        }
        url += &self.api.get("basePath").map_or_else(String::new, text_of);
        let url = self.to.map_or_else(|| url.clone(), |to| to.instead_of(&url));
        match url.contains("://") {
            true => Ok(url.trim_end_matches('/').to_owned()),
            false => {
                Err("the description names no server with a host: give --base-url http://HOST:PORT"
                    .to_owned())
            }
        }
    }

    fn examples(&mut self) -> Examples<'_> {
        Examples { api: self.api, taken: self.taken }
    }

    /// The parameters of an operation, and of its path, which it may say otherwise.
    fn drawn(&mut self, operation: &Operation<'a>, name: &str) -> Drawn {
        let api = self.api;
        let listed = |of: &'a Value| array(of, "parameters").map(move |one| followed(api, one));
        let same = |one: &Value, other: &Value| {
            one.get("name") == other.get("name") && one.get("in") == other.get("in")
        };
        let of_path =
            listed(operation.item).filter(|one| !listed(operation.said).any(|other| same(one, other)));
        let mut drawn = Drawn { path: operation.path.to_owned(), ..Drawn::default() };
        for parameter in of_path.chain(listed(operation.said)) {
            self.draw(parameter, name, &mut drawn);
        }
        if drawn.path.contains('{') {
            self.taken.leave_out(format!(
                "{name}: a part of its path has no value and is sent as it stands: {}",
                drawn.path
            ));
        }
        drawn
    }

    fn draw(&mut self, parameter: &Value, name: &str, drawn: &mut Drawn) {
        let key = parameter.get("name").and_then(Value::as_str).unwrap_or("");
        let place = parameter.get("in").and_then(Value::as_str).unwrap_or("");
        let needed = place == "path" || parameter.get("required").and_then(Value::as_bool).unwrap_or(false);
        // What is asked for, and who asks, stand elsewhere.
        let is_elsewhere = place == "header"
            && ["accept", "content-type", "authorization"].contains(&key.to_ascii_lowercase().as_str());
        if !needed || is_elsewhere {
            return drawn.optional.push(key.to_owned());
        }
        let value = self.examples().of(parameter, &format!("{name}: {key}"));
        match place {
            "path" => drawn.path = drawn.path.replace(&format!("{{{key}}}"), &encoded(&listed_text(&value))),
            "query" => match &value {
                Value::Array(all) if parameter.get("explode").and_then(Value::as_bool) != Some(false) => {
                    drawn.query.extend(all.iter().map(|one| (key.to_owned(), text_of(one))));
                }
                value => drawn.query.push((key.to_owned(), listed_text(value))),
            },
            "header" => drawn.fields.push(Field::new(key, listed_text(&value))),
            "cookie" => drawn.cookies.push(format!("{key}={}", listed_text(&value))),
            "formData" if parameter.get("type").and_then(Value::as_str) != Some("file") => {
                drawn.form.push((key.to_owned(), listed_text(&value)));
            }
            "body" => drawn.body = Some(value.to_string()),
            other => self.taken.leave_out(format!("{name}: the parameter {key} ({other})")),
        }
    }

    fn add_body(&mut self, request: &mut Request, described: &Value) {
        let Some(content) = described.get("content").and_then(Value::as_object) else { return };
        let is_json = |kind: &str| kind.contains("json");
        let is_form = |kind: &str| kind == "application/x-www-form-urlencoded";
        let by_rank = |kind: &str| {
            if is_json(kind) {
                0
            } else if is_form(kind) {
                1
            } else {
                2
            }
        };
        let Some((kind, media)) = content.iter().min_by_key(|(kind, _)| by_rank(kind)) else { return };
        let value = self.examples().of(media, &request.name);
        let text = match kind.as_str() {
            kind if is_json(kind) => value.to_string(),
            kind if is_form(kind) => {
                let pairs = value
                    .as_object()
                    .into_iter()
                    .flatten()
                    .map(|(name, value)| (name.clone(), listed_text(value)));
                url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
            }
            // What is no text by its type is sent where an example of it stands there.
            kind if value.is_string() && (kind.starts_with("text/") || has_example(media)) => text_of(&value),
            other => return self.taken.leave_out(format!("{}: its body ({other})", request.name)),
        };
        request.fields.push(Field::new("Content-Type", kind.as_str()));
        request.body = body(text.into_bytes());
    }

    /// Tells of an operation what a request does not say.
    fn tell_rest(&mut self, operation: &Operation<'_>, name: &str) {
        let security = operation.said.get("security").or_else(|| self.api.get("security"));
        let schemes = security.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object);
        let schemes: Vec<&str> = schemes.flat_map(|all| all.keys().map(String::as_str)).collect();
        if !schemes.is_empty() {
            self.taken.leave_out(format!(
                "{name}: its credentials ({}): add the field that carries them",
                schemes.join(", ")
            ));
        }
        if operation.said.get("callbacks").is_some() {
            self.taken.leave_out(format!("{name}: its callbacks, which the service sends itself"));
        }
    }
}

fn has_example(media: &Value) -> bool {
    media.get("example").is_some() || media.get("examples").is_some()
}

/// A value for a path, percent-encoded.
fn encoded(value: &str) -> String {
    url::form_urlencoded::byte_serialize(value.as_bytes()).collect::<String>().replace('+', "%20")
}

/// A value as text, a list with commas.
fn listed_text(value: &Value) -> String {
    match value {
        Value::Array(all) => all.iter().map(text_of).collect::<Vec<_>>().join(","),
        other => text_of(other),
    }
}
