//! What a request carries: bytes, which stand in a plan's text as they are where they are text, and in base64 otherwise.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::ops::Deref;

/// The body of a request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Body(Vec<u8>);

impl Deref for Body {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Body {
        Body(bytes)
    }
}

impl From<String> for Body {
    fn from(text: String) -> Body {
        Body(text.into_bytes())
    }
}

impl From<&str> for Body {
    fn from(text: &str) -> Body {
        Body(text.into())
    }
}

impl Body {
    /// Whether there is none; for serde, which wants a path.
    pub(crate) fn is_none(&self) -> bool {
        self.0.is_empty()
    }
}

/// The two forms in a plan's text.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Form<'a> {
    Text(std::borrow::Cow<'a, str>),
    Binary(Binary),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Binary {
    base64: String,
}

impl Serialize for Body {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(&self.0) {
            Ok(text) => Form::Text(text.into()),
            Err(_) => Form::Binary(Binary { base64: encode(&self.0) }),
        }
        .serialize(to)
    }
}

impl<'de> Deserialize<'de> for Body {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Body, D::Error> {
        match Form::deserialize(from)? {
            Form::Text(text) => Ok(Body::from(text.into_owned())),
            Form::Binary(Binary { base64 }) => {
                let bytes = decode(&base64);
                bytes.map(Body).ok_or_else(|| serde::de::Error::custom("body: base64 is broken"))
            }
        }
    }
}

/// RFC 4648 section 4.
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = (0..3).fold(0u32, |bits, at| bits << 8 | u32::from(group.get(at).copied().unwrap_or(0)));
        for at in 0..4 {
            let digit = ALPHABET[(bits >> (18 - 6 * at)) as usize & 63];
            text.push(if at <= group.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=').as_bytes();
    if !text.len().is_multiple_of(4) || text.len() - digits.len() > 2 {
        return None;
    }
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    for group in digits.chunks(4) {
        let mut bits = 0u32;
        for at in 0..4 {
            let digit = match group.get(at) {
                Some(digit) => ALPHABET.iter().position(|known| known == digit)?,
                None => 0,
            };
            bits = bits << 6 | digit as u32;
        }
        bytes.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn base64_is_that_of_rfc_4648() {
        let pairs = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")];
        for (plain, coded) in pairs {
            assert_eq!(encode(plain.as_bytes()), coded);
            assert_eq!(decode(coded).as_deref(), Some(plain.as_bytes()));
        }
        for broken in ["Z", "Zg=", "Z===", "Zm9!"] {
            assert_eq!(decode(broken), None, "{broken}");
        }
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Holder {
        body: Body,
    }

    proptest! {
        #[test]
        fn any_bytes_read_back_from_a_plans_text(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let holder = Holder { body: Body(bytes) };
            let text = toml::to_string(&holder).unwrap();
            prop_assert_eq!(toml::from_str::<Holder>(&text).unwrap(), holder, "{}", text);
        }
    }
}
