//! vegeta's targets: a request line, field lines and `@FILE` for a body; or a JSON object to a line, with its body in base64.

use crate::taken::{Taken, add_field, body, path, request};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use plan::Request;
use serde_json::Value;

/// True if the first line that says something is a target.
pub(crate) fn is(text: &str) -> bool {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    first.is_some_and(|line| request_line(line).is_some() || target(line).is_ok())
}

/// True if a line is a field, a body or an object.
pub(crate) fn is_more_than_urls(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    // HOST:PORT/PATH is a URL of a list.
    let is_port = |line: &str| {
        line.split_once(':').is_some_and(|(_, value)| value.starts_with(|one: char| one.is_ascii_digit()))
    };
    let is_field = |line: &str| field(line).is_some() && !is_port(line);
    lines.any(|line| line.starts_with(['@', '{']) || is_field(line))
}

/// Name and value of a field.
fn field(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(':')?;
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte));
    (is_name && !name.is_empty() && !value.starts_with("//")).then(|| (name, value.trim()))
}

/// Reads them. `find`: reads the file of a body.
///
/// # Errors
/// The line that is none of it.
pub(crate) fn read(text: &str, find: &dyn Fn(&str) -> Result<Vec<u8>, String>) -> Result<Taken, String> {
    let mut taken = Taken::of("a list of vegeta's targets");
    let mut current: Option<Request> = None;
    for (line, number) in text.lines().zip(1..) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let at = |why: String| format!("line {number}: {why}");
        let begun = match line.starts_with('{') {
            true => Some(json(line, &mut taken).map_err(at)?),
            false => request_line(line)
                .map(|(method, url)| request(method, url, &format!("{method} {}", path(url)))),
        };
        match (begun, &mut current) {
            (Some(request), current) => taken.requests.extend(current.replace(request)),
            (None, Some(request)) => go_on(request, line, find, &mut taken).map_err(at)?,
            (None, None) => return Err(at("a field or a body stands in front of every request".to_owned())),
        }
    }
    taken.requests.extend(current);
    Ok(taken)
}

/// Method and URL.
fn request_line(line: &str) -> Option<(&str, &str)> {
    let (method, url) = line.split_once([' ', '\t'])?;
    let url = url.trim();
    let is_method =
        !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-');
    (is_method && url.contains("://") && !url.contains(char::is_whitespace)).then_some((method, url))
}

/// A line behind that of a request.
fn go_on(
    request: &mut Request,
    line: &str,
    find: &dyn Fn(&str) -> Result<Vec<u8>, String>,
    taken: &mut Taken,
) -> Result<(), String> {
    if let Some(file) = line.strip_prefix('@') {
        request.body = body(find(file).map_err(|why| format!("the body in {file} cannot be read: {why}"))?);
        return Ok(());
    }
    let (name, value) =
        field(line).ok_or("it is no request (GET http://…), no field (NAME: VALUE) and no @FILE")?;
    add_field(request, name, value, taken);
    Ok(())
}

/// An object with a method and a URL.
fn target(line: &str) -> Result<Value, String> {
    let target: Value = serde_json::from_str(line).map_err(|error| format!("it is not JSON: {error}"))?;
    let is_text = |name: &str| target.get(name).is_some_and(Value::is_string);
    match is_text("method") && is_text("url") {
        true => Ok(target),
        false => Err("a target has a method and a url".to_owned()),
    }
}

fn json(line: &str, taken: &mut Taken) -> Result<Request, String> {
    let target = target(line)?;
    let text = |name: &str| target.get(name).and_then(Value::as_str).unwrap_or("");
    let method = text("method");
    let url = text("url");
    let mut request = request(method, url, &format!("{method} {}", path(url)));
    for (name, values) in target.get("header").and_then(Value::as_object).into_iter().flatten() {
        let values = values.as_array().map_or(&[][..], Vec::as_slice);
        values.iter().filter_map(Value::as_str).for_each(|value| add_field(&mut request, name, value, taken));
    }
    if !text("body").is_empty() {
        let bytes =
            STANDARD.decode(text("body")).map_err(|error| format!("its body is not base64: {error}"))?;
        request.body = body(bytes);
    }
    Ok(request)
}
