//! The body of a request: its text, or the parameters that some programs write in its place.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// A body, and what of it the file does not have.
#[derive(Debug, Default)]
pub(crate) struct Posted {
    pub(crate) body: Vec<u8>,
    pub(crate) lost: Option<&'static str>,
}

/// Reads the body of a request. A type that stands beside the body alone becomes a field, since the server needs it.
pub(crate) fn read(request: &Value, fields: &mut Vec<(String, String)>) -> Posted {
    let data = &request["postData"];
    let text = data["text"].as_str().unwrap_or("");
    let stated = fields.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    let beside = data["mimeType"].as_str().filter(|kind| kind.contains('/')).unwrap_or("");
    let kind = stated.map_or(beside, |(_, kind)| kind).to_owned();
    let params = data["params"].as_array().filter(|params| !params.is_empty());
    let posted = match params {
        _ if !text.is_empty() => of_text(text, data),
        Some(params) if kind.to_ascii_lowercase().starts_with("multipart/form-data") => {
            return multipart(params, &kind, fields);
        }
        Some(params) if kind.is_empty() || kind.contains("x-www-form-urlencoded") => form(params),
        Some(_) => lost("parameters that are no form, which are not sent"),
        None if whole_size(request) > 0 => lost("a body that the file does not hold, sent without one"),
        None => Posted::default(),
    };
    if !posted.body.is_empty() && stated.is_none() {
        let kind =
            if kind.is_empty() && text.is_empty() { "application/x-www-form-urlencoded" } else { &kind };
        set_type(fields, kind);
    }
    posted
}

fn lost(what: &'static str) -> Posted {
    Posted { body: Vec::new(), lost: Some(what) }
}

/// Bytes of the body as it was sent; 0 where that is not known.
fn whole_size(request: &Value) -> i64 {
    request["bodySize"].as_i64().unwrap_or(0)
}

fn of_text(text: &str, data: &Value) -> Posted {
    if data["encoding"] != "base64" && data["_encoding"] != "base64" {
        return Posted { body: text.as_bytes().to_vec(), lost: None };
    }
    match STANDARD.decode(text.trim()) {
        Ok(body) => Posted { body, lost: None },
        Err(_) => lost("a body that is not base64 and is to be, sent without one"),
    }
}

fn form(params: &[Value]) -> Posted {
    let pair = |param: &Value| {
        let name = param["name"].as_str()?;
        Some((name.to_owned(), param["value"].as_str().unwrap_or("").to_owned()))
    };
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    form.extend_pairs(params.iter().filter_map(pair));
    Posted { body: form.finish().into_bytes(), lost: None }
}

/// Writes the parts of a form (RFC 7578) as browsers do, between marks that the type names; where it names none, it gets one.
fn multipart(params: &[Value], kind: &str, fields: &mut Vec<(String, String)>) -> Posted {
    let boundary = boundary(kind).map_or_else(|| unused(params), str::to_owned);
    let mut posted = Posted::default();
    for param in params {
        let Some(name) = param["name"].as_str() else { continue };
        let content = param["value"].as_str();
        let mut head = format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"", quoted(name));
        if let Some(file) = param["fileName"].as_str() {
            head += &format!("; filename=\"{}\"", quoted(file));
            if content.is_none() {
                posted.lost = Some("files in forms whose contents are not in it, sent empty");
            }
        }
        let kind = param["contentType"].as_str().filter(|kind| !kind.contains(['\r', '\n']));
        let kind = kind.map_or(String::new(), |kind| format!("Content-Type: {kind}\r\n"));
        posted
            .body
            .extend_from_slice(format!("{head}\r\n{kind}\r\n{}\r\n", content.unwrap_or("")).as_bytes());
    }
    posted.body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    if self::boundary(kind).is_none() {
        let kind = kind.trim_end_matches([' ', ';']);
        set_type(fields, &format!("{kind}; boundary={boundary}"));
    } else if !fields.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
        set_type(fields, kind);
    }
    posted
}

/// The mark between parts that a type names (RFC 2046 section 5.1.1).
fn boundary(kind: &str) -> Option<&str> {
    let named =
        |parameter: &'_ str| parameter.get(..9).is_some_and(|name| name.eq_ignore_ascii_case("boundary="));
    let value = kind.split(';').map(str::trim).find(|parameter| named(parameter))?[9..].trim_matches('"');
    (!value.is_empty()).then_some(value)
}

/// A mark that no part holds.
fn unused(params: &[Value]) -> String {
    let is_held = |mark: &str| params.iter().any(|param| param.to_string().contains(mark));
    let mut numbered = (0_u64..).map(|number| format!("form-part-{number:06}"));
    numbered.find(|mark| !is_held(mark)).expect("texts are finite")
}

/// A name between quotes, as browsers write it.
fn quoted(name: &str) -> String {
    name.replace('\r', "%0D").replace('\n', "%0A").replace('"', "%22")
}

fn set_type(fields: &mut Vec<(String, String)>, kind: &str) {
    if kind.is_empty() {
        return;
    }
    fields.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
    fields.push(("Content-Type".to_owned(), kind.to_owned()));
}
