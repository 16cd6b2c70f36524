//! Functions of texts.

use super::Use;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};

/// The sum of whole numbers of 32 bits, which begins anew beyond them.
pub(super) fn int_sum(used: &mut Use<'_>) -> Result<String, String> {
    // What fits 32 bits is summed in 64 and cut then: the same as cutting each time.
    sum(used, |text| text.parse::<i32>().ok().map(i64::from), |sum| i64::from(sum as i32))
}

/// The same, of 64 bits.
pub(super) fn long_sum(used: &mut Use<'_>) -> Result<String, String> {
    sum(used, |text| text.parse().ok(), |sum| sum)
}

/// A last argument that is no number names the variable that keeps the sum.
fn sum(used: &mut Use<'_>, number: fn(&str) -> Option<i64>, cut: fn(i64) -> i64) -> Result<String, String> {
    let last = used.arguments.len() - 1;
    let last_number = number(used.argument(last).trim());
    let mut sum = last_number.unwrap_or(0);
    for text in &used.arguments[..last] {
        sum = sum.wrapping_add(number(text).ok_or_else(|| format!("'{text}' is no whole number that fits"))?);
    }
    let sum = cut(sum).to_string();
    if last_number.is_some() { Ok(sum) } else { used.keep(last, sum) }
}

pub(super) fn url_encode(used: &mut Use<'_>) -> Result<String, String> {
    Ok(crate::form::encode(used.argument(0)))
}

pub(super) fn url_decode(used: &mut Use<'_>) -> Result<String, String> {
    let text = used.argument(0);
    let is_byte = |part: &str| part.get(..2).is_some_and(|two| u8::from_str_radix(two, 16).is_ok());
    match text.split('%').skip(1).all(is_byte) {
        true => Ok(crate::form::decode(text)),
        false => Err(format!("'{text}' has a % without two hexadecimal digits behind it")),
    }
}

pub(super) fn escape_xml(used: &mut Use<'_>) -> Result<String, String> {
    let escaped = used.argument(0).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    Ok(escaped.replace('"', "&quot;").replace('\'', "&apos;"))
}

pub(super) fn change_case(used: &mut Use<'_>) -> Result<String, String> {
    let text = used.argument(0).to_owned();
    let changed = match used.filled(1).unwrap_or("UPPER").to_uppercase().as_str() {
        "UPPER" => text.to_uppercase(),
        "LOWER" => text.to_lowercase(),
        "CAPITALIZE" => {
            let mut characters = text.chars();
            let first = characters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
            first + characters.as_str()
        }
        _ => text,
    };
    used.keep(2, changed)
}

pub(super) fn lowercase(used: &mut Use<'_>) -> Result<String, String> {
    let text = used.argument(0).to_lowercase();
    used.keep(1, text)
}

pub(super) fn uppercase(used: &mut Use<'_>) -> Result<String, String> {
    let text = used.argument(0).to_uppercase();
    used.keep(1, text)
}

/// Characters by their numbers, in decimal, hexadecimal (`0x…`) or octal (`0…`); what is no number is left out.
pub(super) fn char(used: &mut Use<'_>) -> Result<String, String> {
    let mut text = String::new();
    for argument in &used.arguments {
        let number = argument.trim();
        let code = match (number.strip_prefix("0x").or(number.strip_prefix("0X")), number.strip_prefix('0')) {
            (Some(hex), _) => u32::from_str_radix(hex, 16),
            (None, Some(octal)) if !octal.is_empty() => u32::from_str_radix(octal, 8),
            _ => number.parse(),
        };
        text.extend(code.ok().and_then(char::from_u32));
    }
    Ok(text)
}

/// Java's escapes: `\t`, `\n`, `\uXXXX` and so on.
pub(super) fn unescape(used: &mut Use<'_>) -> Result<String, String> {
    let mut text = String::new();
    let mut characters = used.argument(0).chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            text.push(character);
            continue;
        }
        match characters.next() {
            Some('t') => text.push('\t'),
            Some('n') => text.push('\n'),
            Some('r') => text.push('\r'),
            Some('b') => text.push('\u{8}'),
            Some('f') => text.push('\u{c}'),
            Some('u') => {
                let digits: String = characters.by_ref().take(4).collect();
                let code = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
                text.push(code.ok_or_else(|| format!("'\\u{digits}' is no character"))?);
            }
            Some(other) => text.push(other),
            None => text.push('\\'),
        }
    }
    Ok(text)
}

pub(super) fn escape_regex(used: &mut Use<'_>) -> Result<String, String> {
    let mut text = String::new();
    for character in used.argument(0).chars() {
        if !character.is_alphanumeric() && character != '_' && character.is_ascii() {
            text.push('\\');
        }
        text.push(character);
    }
    used.keep(1, text)
}

/// The digest of a text with its salt behind it, in hexadecimal digits.
pub(super) fn digest(used: &mut Use<'_>) -> Result<String, String> {
    let salted = used.argument(1).to_owned() + used.argument(2);
    let bytes = salted.as_bytes();
    let algorithm = used.argument(0).trim().to_uppercase();
    let digest = match algorithm.as_str() {
        "MD5" => Md5::digest(bytes).to_vec(),
        "SHA" | "SHA1" | "SHA-1" => Sha1::digest(bytes).to_vec(),
        "SHA-224" => Sha224::digest(bytes).to_vec(),
        "SHA-256" => Sha256::digest(bytes).to_vec(),
        "SHA-384" => Sha384::digest(bytes).to_vec(),
        "SHA-512" => Sha512::digest(bytes).to_vec(),
        _ => {
            return Err(format!(
                "{algorithm} is not known: use MD5, SHA-1, SHA-224, SHA-256, SHA-384 or SHA-512"
            ));
        }
    };
    let mut text: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    if used.argument(3).trim().eq_ignore_ascii_case("true") {
        text = text.to_uppercase();
    }
    used.keep(4, text)
}

pub(super) fn base64_encode(used: &mut Use<'_>) -> Result<String, String> {
    let text = STANDARD.encode(used.argument(0));
    used.keep(1, text)
}

pub(super) fn base64_decode(used: &mut Use<'_>) -> Result<String, String> {
    let bytes = STANDARD.decode(used.argument(0).trim()).map_err(|_| "the text is no Base64".to_owned())?;
    used.keep(1, String::from_utf8_lossy(&bytes).into_owned())
}

pub(super) fn length(used: &mut Use<'_>) -> Result<String, String> {
    let length = used.argument(0).encode_utf16().count().to_string();
    used.keep(1, length)
}

pub(super) fn replace(used: &mut Use<'_>) -> Result<String, String> {
    let text = used.argument(0).replace(used.argument(1), used.argument(2));
    used.keep(3, text)
}

pub(super) fn substring(used: &mut Use<'_>) -> Result<String, String> {
    let number =
        |nth| used.argument(nth).trim().parse::<usize>().map_err(|_| "its bounds are no numbers".to_owned());
    let from = number(1)?;
    let to = number(2)?;
    if from > to {
        return Err(format!("{from} is greater than {to}"));
    }
    let text = used.argument(0).chars().skip(from).take(to - from).collect();
    used.keep(3, text)
}

/// Cuts a text at each character of the delimiter into NAME_1, NAME_2 …, with their number in NAME_n. Between two delimiters
/// that follow each other, and behind the last one, is a part `?`; before the first one is none.
pub(super) fn split(used: &mut Use<'_>) -> Result<String, String> {
    let text = used.argument(0).to_owned();
    let name = used.argument(1).trim().to_owned();
    let delimiters = Some(used.argument(2)).filter(|text| !text.is_empty()).unwrap_or(",").to_owned();
    let all: Vec<&str> = text.split(|one| delimiters.contains(one)).collect();
    let parts = all.iter().skip(usize::from(all[0].is_empty()));
    let mut count = 0;
    for part in parts {
        count += 1;
        let value = if part.is_empty() { "?" } else { part };
        used.context.set_variable(&format!("{name}_{count}"), value);
    }
    used.context.set_variable(&format!("{name}_n"), &count.to_string());
    used.context.set_variable(&name, &text);
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::super::evaluate;
    use super::super::tests::Fake;

    #[test]
    fn digests_are_those_of_the_standards() {
        let mut user = Fake::default();
        for (text, digest) in [
            ("${__digest(MD5,abc)}", "900150983cd24fb0d6963f7d28e17f72"),
            ("${__digest(SHA-1,a,bc)}", "a9993e364706816aba3e25717850c26c9cd0d89d"),
            ("${__digest(MD5,abc,,true,kept)}", "900150983CD24FB0D6963F7D28E17F72"),
        ] {
            assert_eq!(evaluate(text, &mut user).as_deref(), Ok(digest), "{text}");
        }
        assert!(user.variables["kept"].starts_with("9001"));
    }
}
