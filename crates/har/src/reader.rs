//! HAR files as browsers write them, which is not always as the format has it: every field may be missing, of another type, or
//! null.

use crate::posted::{self, Posted};
use crate::{Exchange, HarError, Recording};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use url::Url;

pub(crate) fn read(file: &[u8]) -> Result<Recording, HarError> {
    let text = as_utf8(file);
    let root: Value = match serde_json::from_slice(&text) {
        Ok(root) => root,
        // Bodies that are no text come with halves of surrogate pairs, and with bytes that are no UTF-8.
        Err(_) => serde_json::from_str(&without_lone_surrogates(&String::from_utf8_lossy(&text)))?,
    };
    let entries = root.pointer("/log/entries").and_then(Value::as_array).ok_or(HarError::NoLog)?;
    let mut told = BTreeMap::<&str, usize>::new();
    let mut exchanges = Vec::new();
    for entry in entries {
        match exchange(entry, &mut told) {
            Ok(exchange) => exchanges.push(exchange),
            Err(why) => *told.entry(why).or_default() += 1,
        }
    }
    let left_out: Vec<String> =
        told.into_iter().map(|(why, count)| format!("{count} of its entries: {why}")).collect();
    if exchanges.is_empty() {
        return Err(HarError::Nothing { entries: entries.len(), why: left_out.join("; ") });
    }
    // Entries come in the order in which they ended, or in none.
    exchanges.sort_by_key(|exchange: &Exchange| exchange.began_ms);
    Ok(Recording { exchanges, left_out })
}

/// The file in UTF-8, without a mark of its byte order: what comes from Windows may be UTF-16, of either order, with the mark or without.
fn as_utf8(file: &[u8]) -> Cow<'_, [u8]> {
    let utf16 = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
        let text: String =
            char::decode_utf16(units).map(|one| one.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
        Cow::Owned(text.into_bytes())
    };
    match file {
        [0xef, 0xbb, 0xbf, rest @ ..] => Cow::Borrowed(rest),
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        // JSON begins with ASCII.
        [1..=u8::MAX, 0, ..] => utf16(file, u16::from_le_bytes),
        [0, 1..=u8::MAX, ..] => utf16(file, u16::from_be_bytes),
        _ => Cow::Borrowed(file),
    }
}

/// Told of what is sent all the same.
const NO_ANSWER: &str = "no answer recorded: sent, and any status below 400 is good";

/// An entry, or why it is left out. `told`: what it lacks, with how often that was so.
fn exchange(entry: &Value, told: &mut BTreeMap<&'static str, usize>) -> Result<Exchange, &'static str> {
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
    let status = status(answer)?;
    let method = request["method"].as_str().unwrap_or("GET");
    if method.is_empty() || !method.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-') {
        return Err("a method that is none");
    }
    let mut fields = fields(&request["headers"]);
    let Posted { body, lost } = posted::read(request, &mut fields);
    lost.into_iter()
        .chain(status.is_none().then_some(NO_ANSWER))
        .for_each(|why| *told.entry(why).or_default() += 1);
    Ok(Exchange {
        began_ms: began(entry),
        took_ms: whole(&entry["time"]).unwrap_or(0).clamp(0, 3_600_000),
        page: entry["pageref"].as_str().map(str::to_owned),
        method: method.to_owned(),
        url,
        fields,
        body,
        status,
        answer_fields: self::fields(&answer["headers"]),
        answer: content(&answer["content"]),
        media_type: answer["content"]["mimeType"].as_str().unwrap_or_default().to_owned(),
    })
}

/// The status of an answer. API clients, and people who cut a file down, write requests alone: `None`. Browsers write 0 where none came.
fn status(answer: &Value) -> Result<Option<u16>, &'static str> {
    if answer["status"].is_null() {
        return Ok(None);
    }
    let status = whole(&answer["status"]).and_then(|status| u16::try_from(status).ok());
    let status = status.filter(|status| (100..600).contains(status));
    status.map(Some).ok_or("blocked or broken off: no answer")
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
