//! Bytes of a plan → text: byte order marks, declared encodings, and line ends as XML 1.0 section 2.11 wants them.

use crate::error::Error;
use encoding_rs::{Encoding, UTF_8};

/// The text of a file, its line ends as `\n`. Bytes that are no text in its encoding become U+FFFD, as in Java.
pub(crate) fn decode(bytes: &[u8]) -> Result<String, Error> {
    let encoding = match Encoding::for_bom(bytes) {
        Some((encoding, _)) => encoding,
        None => declared(bytes)?,
    };
    let (text, _, _) = encoding.decode(bytes);
    Ok(if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text.into_owned() })
}

fn declared(bytes: &[u8]) -> Result<&'static Encoding, Error> {
    let Some(name) = declared_name(bytes) else { return Ok(UTF_8) };
    Encoding::for_label(name.as_bytes()).ok_or(Error::Encoding(name))
}

/// The encoding in `<?xml version="1.0" encoding="NAME"?>`.
fn declared_name(bytes: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).into_owned();
    let declaration = head.trim_start().strip_prefix("<?xml")?.split("?>").next()?.to_owned();
    let value = declaration.split_once("encoding")?.1.trim_start().strip_prefix('=')?.trim_start().to_owned();
    let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    value[1..].split(quote).next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_declarations_say_the_encoding() {
        let (gbk, _, _) = encoding_rs::GBK.encode("<?xml version='1.0' encoding='GBK'?><a>查询</a>");
        for (bytes, said) in [
            (b"<a>\xc3\xa9</a>".to_vec(), "<a>é</a>"),
            (b"\xef\xbb\xbf<a/>".to_vec(), "<a/>"),
            (b"\xff\xfe<\0a\0/\0>\0".to_vec(), "<a/>"),
            (
                b"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>\xe9</a>".to_vec(),
                "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>é</a>",
            ),
            (gbk.into_owned(), "<?xml version='1.0' encoding='GBK'?><a>查询</a>"),
            (b"a\r\nb\rc".to_vec(), "a\nb\nc"),
            (b"\xff".to_vec(), "\u{fffd}"),
        ] {
            assert_eq!(decode(&bytes).unwrap(), said);
        }
        let unknown = decode(b"<?xml version='1.0' encoding='klingon'?><a/>").unwrap_err();
        assert_eq!(unknown, Error::Encoding("klingon".to_owned()));
    }
}
