//! Functions of texts.

use super::{Fact, Use};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};

/// The sum of whole numbers; a last argument that is none names the variable that keeps it.
pub(super) fn sum(used: &mut Use<'_>) -> Result<String, String> {
    let number = |text: &str| text.trim().parse::<i64>().map_err(|_| format!("'{text}' is no whole number"));
    let last = used.arguments.len() - 1;
    let named = number(used.argument(last)).is_err();
    let numbers = if named { &used.arguments[..last] } else { &used.arguments[..] };
    let sum = numbers.iter().try_fold(0i64, |sum, text| Ok::<_, String>(sum.wrapping_add(number(text)?)))?;
    if named { used.keep(last, sum.to_string()) } else { Ok(sum.to_string()) }
}

pub(super) fn url_encode(used: &mut Use<'_>) -> Result<String, String> {
    Ok(crate::form::encode(used.argument(0)))
}

pub(super) fn url_decode(used: &mut Use<'_>) -> Result<String, String> {
    Ok(crate::form::decode(used.argument(0)))
}

/// As HTML 4 has it: characters of Latin-1 by their names.
pub(super) fn escape_html(used: &mut Use<'_>) -> Result<String, String> {
    let mut text = String::new();
    for character in used.argument(0).chars() {
        match character {
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '&' => text.push_str("&amp;"),
            '"' => text.push_str("&quot;"),
            '\u{a0}'..='\u{ff}' => {
                let name = LATIN_1[character as usize - 0xa0];
                text.push_str(&format!("&{name};"));
            }
            other => text.push(other),
        }
    }
    Ok(text)
}

/// HTML 4's names of U+00A0 to U+00FF.
const LATIN_1: [&str; 96] = [
    "nbsp", "iexcl", "cent", "pound", "curren", "yen", "brvbar", "sect", "uml", "copy", "ordf", "laquo",
    "not", "shy", "reg", "macr", "deg", "plusmn", "sup2", "sup3", "acute", "micro", "para", "middot",
    "cedil", "sup1", "ordm", "raquo", "frac14", "frac12", "frac34", "iquest", "Agrave", "Aacute", "Acirc",
    "Atilde", "Auml", "Aring", "AElig", "Ccedil", "Egrave", "Eacute", "Ecirc", "Euml", "Igrave", "Iacute",
    "Icirc", "Iuml", "ETH", "Ntilde", "Ograve", "Oacute", "Ocirc", "Otilde", "Ouml", "times", "Oslash",
    "Ugrave", "Uacute", "Ucirc", "Uuml", "Yacute", "THORN", "szlig", "agrave", "aacute", "acirc", "atilde",
    "auml", "aring", "aelig", "ccedil", "egrave", "eacute", "ecirc", "euml", "igrave", "iacute", "icirc",
    "iuml", "eth", "ntilde", "ograve", "oacute", "ocirc", "otilde", "ouml", "divide", "oslash", "ugrave",
    "uacute", "ucirc", "uuml", "yacute", "thorn", "yuml",
];

pub(super) fn unescape_html(used: &mut Use<'_>) -> Result<String, String> {
    Ok(html_escape::decode_html_entities(used.argument(0)).into_owned())
}

pub(super) fn escape_xml(used: &mut Use<'_>) -> Result<String, String> {
    let escaped = used.argument(0).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    Ok(escaped.replace('"', "&quot;").replace('\'', "&apos;"))
}

pub(super) fn change_case(used: &mut Use<'_>) -> Result<String, String> {
    let text = used.argument(0).to_owned();
    let changed = match used.filled(1).unwrap_or("UPPER") {
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

/// Characters by their numbers, in decimal, hexadecimal (`0x…`) or octal (`0…`); what is no number stays.
pub(super) fn char(used: &mut Use<'_>) -> Result<String, String> {
    let mut text = String::new();
    for argument in &used.arguments {
        let number = argument.trim();
        let code = match (number.strip_prefix("0x").or(number.strip_prefix("0X")), number.strip_prefix('0')) {
            (Some(hex), _) => u32::from_str_radix(hex, 16),
            (None, Some(octal)) if !octal.is_empty() => u32::from_str_radix(octal, 8),
            _ => number.parse(),
        };
        match code.ok().and_then(char::from_u32) {
            Some(character) => text.push(character),
            None => text.push_str(argument),
        }
    }
    Ok(text)
}

/// Java's escapes: `\t`, `\n`, `\uXXXX` and so on.
pub(super) fn unescape(used: &mut Use<'_>) -> Result<String, String> {
    let (mut text, mut characters) = (String::new(), used.argument(0).chars());
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
    if matches!(used.argument(3).trim().to_lowercase().as_str(), "u" | "true" | "upper") {
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
    let (from, to) = (number(1)?, number(2)?);
    if from > to {
        return Err(format!("{from} is greater than {to}"));
    }
    let text = used.argument(0).chars().skip(from).take(to - from).collect();
    used.keep(3, text)
}

/// Cuts a text at a delimiter into NAME_1, NAME_2 …, with their number in NAME_n; an empty part is `?`.
pub(super) fn split(used: &mut Use<'_>) -> Result<String, String> {
    let (text, name) = (used.argument(0).to_owned(), used.argument(1).trim().to_owned());
    let delimiter = Some(used.argument(2)).filter(|text| !text.is_empty()).unwrap_or(",").to_owned();
    let parts: Vec<&str> = text.split(&delimiter).collect();
    for (nth, part) in parts.iter().enumerate() {
        let value = if part.is_empty() { "?" } else { part };
        used.context.set_variable(&format!("{name}_{}", nth + 1), value);
    }
    used.context.set_variable(&format!("{name}_n"), &parts.len().to_string());
    used.context.set_variable(&name, &text);
    Ok(text)
}

/// Looks into the last answer: the template with the groups of a match, by number, `RAND` or `ALL`.
pub(super) fn regex_function(used: &mut Use<'_>) -> Result<String, String> {
    let searched = match used.filled(6) {
        Some(name) => used.context.variable(name).unwrap_or_default(),
        None => used.context.fact(Fact::LastBody),
    };
    let regex = regex::Regex::new(used.argument(0)).map_err(|error| {
        format!("'{}' is no regular expression of this engine: {error}", used.argument(0))
    })?;
    let template = used.argument(1).to_owned();
    let filled = |groups: &regex::Captures<'_>| fill(&template, groups);
    let matches: Vec<String> = regex.captures_iter(&searched).map(|groups| filled(&groups)).collect();
    let which = used.filled(2).unwrap_or("1").to_owned();
    let found = match which.as_str() {
        "ALL" if !matches.is_empty() => Some(matches.join(used.argument(3))),
        "ALL" => None,
        "RAND" => {
            let many = matches.len().max(1) as u64;
            let drawn = used.context.random() % many;
            matches.get(usize::try_from(drawn).unwrap_or(0)).cloned()
        }
        nth => nth.parse::<usize>().ok().and_then(|nth| matches.get(nth.saturating_sub(1)).cloned()),
    };
    let value = found.unwrap_or_else(|| used.argument(4).to_owned());
    used.keep(5, value)
}

fn fill(template: &str, groups: &regex::Captures<'_>) -> String {
    let (mut text, mut rest) = (String::new(), template);
    while let Some(at) = rest.find('$') {
        text.push_str(&rest[..at]);
        let number =
            rest[at + 1..].split_once('$').and_then(|(number, after)| Some((number.parse().ok()?, after)));
        match number {
            Some((number, after)) => {
                text.push_str(groups.get(number).map_or("", |group| group.as_str()));
                rest = after;
            }
            None => {
                text.push('$');
                rest = &rest[at + 1..];
            }
        }
    }
    text + rest
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
            ("${__digest(MD5,abc,,U,kept)}", "900150983CD24FB0D6963F7D28E17F72"),
        ] {
            assert_eq!(evaluate(text, &mut user).as_deref(), Ok(digest), "{text}");
        }
        assert!(user.variables["kept"].starts_with("9001"));
    }

    #[test]
    fn matches_are_taken_by_number() {
        let mut user = Fake::default();
        user.variables.insert("text".to_owned(), "id=1 id=22".to_owned());
        for (text, found) in [
            ("${__regexFunction(id=(\\\\d+),$1$!,2,,,,text)}", "22!"),
            ("${__regexFunction(id=(\\\\d+),<$1$>,ALL,-,,,text)}", "<1>-<22>"),
            ("${__regexFunction(no=(\\\\d+),$1$,1,,none,,text)}", "none"),
        ] {
            assert_eq!(evaluate(text, &mut user).as_deref(), Ok(found), "{text}");
        }
    }
}
