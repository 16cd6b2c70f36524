//! Entities and references to characters, replaced.

use std::borrow::Cow;

/// The text with what XML knows replaced (XML 1.0 section 4.6).
///
/// # Errors
/// An entity that is not known.
pub(crate) fn of_xml(text: &str) -> Result<Cow<'_, str>, String> {
    if !text.contains('&') {
        return Ok(Cow::Borrowed(text));
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        plain.push_str(&rest[..at]);
        let Some(end) = rest[at..].find(';') else { return Err("an '&' that begins no entity".to_owned()) };
        let name = &rest[at + 1..at + end];
        plain.push(match name {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "apos" => '\'',
            name => character(name).ok_or_else(|| format!("the entity '&{name};' is not known"))?,
        });
        rest = &rest[at + end + 1..];
    }
    plain.push_str(rest);
    Ok(Cow::Owned(plain))
}

/// `#65` and `#x41`.
fn character(name: &str) -> Option<char> {
    let number = name.strip_prefix('#')?;
    let number = match number.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => number.parse().ok()?,
    };
    char::from_u32(number)
}

/// The text with what HTML knows replaced; what is not known stays.
pub(crate) fn of_html(text: &str) -> Cow<'_, str> {
    html_escape::decode_html_entities(text)
}
