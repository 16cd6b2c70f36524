//! HAR files as browsers write them, which is not always as the format has it: every field may be missing, of another type, or
//! null.

use crate::{Exchange, HarError, Recording};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use std::collections::BTreeMap;
use url::Url;

pub(crate) fn read(file: &[u8]) -> Result<Recording, HarError> {
    let text = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file);
    let root: Value = match serde_json::from_slice(text) {
        Ok(root) => root,
        // Bodies that are no text come with halves of surrogate pairs, and with bytes that are no UTF-8.
        Err(_) => serde_json::from_str(&without_lone_surrogates(&String::from_utf8_lossy(text)))?,
    };
    let entries = root.pointer("/log/entries").and_then(Value::as_array).ok_or(HarError::NoLog)?;
    let mut left_out = BTreeMap::<&str, usize>::new();
    let mut exchanges = Vec::new();
    for entry in entries {
        match exchange(entry) {
            Ok(exchange) => exchanges.push(exchange),
            Err(why) => *left_out.entry(why).or_default() += 1,
        }
    }
    if exchanges.is_empty() {
        return Err(HarError::Nothing(entries.len()));
    }
    // Entries come in the order in which they ended, or in none.
    exchanges.sort_by_key(|exchange: &Exchange| exchange.began_ms);
    let left_out =
        left_out.into_iter().map(|(why, count)| format!("{count} of its entries: {why}")).collect();
    Ok(Recording { exchanges, left_out })
}

/// An entry, or why it is left out.
fn exchange(entry: &Value) -> Result<Exchange, &'static str> {
    let request = &entry["request"];
    let answer = &entry["response"];
    let url =
        request["url"].as_str().and_then(|url| Url::parse(url).ok()).ok_or("no URL that can be read")?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("neither http nor https, such as data:, blob: or WebSockets");
    }
    if ["memory", "disk"].iter().any(|cache| entry["_fromCache"] == *cache) {
        return Err("answered by the browser's own cache, so never sent");
    }
    if entry["_webSocketMessages"].is_array() || answer["status"] == 101 {
        return Err("neither http nor https, such as data:, blob: or WebSockets");
    }
    let status = whole(&answer["status"]).and_then(|status| u16::try_from(status).ok());
    let status =
        status.filter(|status| (100..600).contains(status)).ok_or("blocked or broken off: no answer")?;
    let method = request["method"].as_str().unwrap_or("GET");
    if method.is_empty() || !method.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-') {
        return Err("a method that is none");
    }
    Ok(Exchange {
        began_ms: began(entry),
        took_ms: whole(&entry["time"]).unwrap_or(0).clamp(0, 3_600_000),
        page: entry["pageref"].as_str().map(str::to_owned),
        method: method.to_owned(),
        url,
        fields: fields(&request["headers"]),
        body: posted(&request["postData"]),
        status,
        answer_fields: fields(&answer["headers"]),
        answer: content(&answer["content"]),
        media_type: answer["content"]["mimeType"].as_str().unwrap_or_default().to_owned(),
    })
}

fn whole(value: &Value) -> Option<i64> {
    value
        .as_f64()
        .or_else(|| value.as_str()?.parse().ok())
        .filter(|number| number.is_finite())
        .map(|number| number as i64)
}

fn began(entry: &Value) -> i64 {
    let text = entry["startedDateTime"].as_str().unwrap_or_default();
    text.parse::<jiff::Timestamp>().map_or(0, |moment| moment.as_millisecond())
}

/// Header fields; without the pseudo fields of HTTP/2 (RFC 9113 section 8.3), and what cannot stand in a field.
fn fields(list: &Value) -> Vec<(String, String)> {
    let one = |field: &Value| {
        let name = field["name"].as_str()?;
        let value = field["value"].as_str()?;
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b':');
        // Chromium writes fields that stand several times as one, with line feeds between.
        let value = value.lines().collect::<Vec<_>>().join(", ");
        let is_value = !value.contains(|one: char| one.is_control() && one != '\t');
        (is_name && is_value).then(|| (name.to_owned(), value.trim().to_owned()))
    };
    list.as_array().into_iter().flatten().filter_map(one).collect()
}

/// Returns the content of a request: its text or, where there is none, its form fields.
fn posted(data: &Value) -> Vec<u8> {
    let text = data["text"].as_str().unwrap_or_default();
    if !text.is_empty() {
        let encoded = data["encoding"] == "base64" || data["_encoding"] == "base64";
        return if encoded { STANDARD.decode(text).unwrap_or_default() } else { text.as_bytes().to_vec() };
    }
    let is_form = data["mimeType"].as_str().is_some_and(|kind| kind.contains("x-www-form-urlencoded"));
    let Some(params) = data["params"].as_array().filter(|_| is_form) else { return Vec::new() };
    let pair = |param: &Value| {
        let name = param["name"].as_str()?;
        let value = param["value"].as_str().unwrap_or_default();
        Some((name.to_owned(), value.to_owned()))
    };
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    form.extend_pairs(params.iter().filter_map(pair));
    form.finish().into_bytes()
}

fn content(content: &Value) -> Vec<u8> {
    let text = content["text"].as_str().unwrap_or_default();
    if content["encoding"] == "base64" {
        return STANDARD.decode(text.trim()).unwrap_or_default();
    }
    text.as_bytes().to_vec()
}

/// The text with U+FFFD in place of halves of surrogate pairs that stand alone, which are no characters.
fn without_lone_surrogates(text: &str) -> String {
    let mut whole = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(place) = rest.find('\\') {
        whole.push_str(&rest[..place]);
        rest = &rest[place..];
        let taken = match (escaped(rest), rest.get(6..).and_then(escaped)) {
            (Some(0xD800..0xDC00), Some(0xDC00..0xE000)) => {
                whole.push_str(&rest[..12]);
                12
            }
            (Some(0xD800..0xE000), _) => {
                whole.push_str("\\ufffd");
                6
            }
            _ => {
                let taken = rest.char_indices().nth(2).map_or(rest.len(), |(end, _)| end);
                whole.push_str(&rest[..taken]);
                taken
            }
        };
        rest = &rest[taken..];
    }
    whole + rest
}

/// The number of an escape such as `\ud83d` at the beginning of a text.
fn escaped(text: &str) -> Option<u16> {
    u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()
}
