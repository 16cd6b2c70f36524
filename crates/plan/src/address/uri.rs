//! Characters that no URI may hold (RFC 3986), as Java's class `URI` finds them.

/// The first thing in a text for which it is no URI, and the byte where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UriFault {
    /// A character that stands nowhere in its part of a URI.
    Character(usize),
    /// A percent sign without two hexadecimal digits.
    Escape(usize),
}

/// Returns the first fault of a URL, or of a path with its query.
pub fn uri_fault(text: &str) -> Option<UriFault> {
    let bytes = text.as_bytes();
    let path =
        text.find("://").map_or(0, |at| text[at + 3..].find('/').map_or(text.len(), |slash| at + 3 + slash));
    let query = text[path..].find('?').map_or(text.len(), |at| path + at);
    let fault_at = |at: usize| match bytes[at] {
        byte if b"{}|\\^`\"<> ".contains(&byte) => Some(UriFault::Character(at)),
        b'[' | b']' if (path..query).contains(&at) => Some(UriFault::Character(at)),
        b'%' if !bytes.get(at + 1..at + 3).is_some_and(|pair| pair.iter().all(u8::is_ascii_hexdigit)) => {
            Some(UriFault::Escape(at))
        }
        _ => None,
    };
    (0..bytes.len()).find_map(fault_at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_those_of_javas_class() {
        for (text, fault) in [
            ("/a%7Eb;c=1!'()*@:,&=+$~é?x=[1]//%20", None),
            ("http://[::1]:80/a", None),
            ("/a^b", Some(UriFault::Character(2))),
            ("/[x]", Some(UriFault::Character(1))),
            ("http://h/a?x={y}", Some(UriFault::Character(13))),
            ("http://${h}/a", Some(UriFault::Character(8))),
            ("/a%", Some(UriFault::Escape(2))),
            ("/a?x=%4", Some(UriFault::Escape(5))),
            ("/a?x=%zz{", Some(UriFault::Escape(5))),
        ] {
            assert_eq!(uri_fault(text), fault, "{text}");
        }
    }
}
