//! Private things of an input, and what stands for them in a recording.
//!
//! Users become a digest under a key that is thrown away; values of queries and parts of paths that look like tokens become texts
//! of the same shape: equal for equal and different for different, since they are part of what a cache knows an object by.

use crate::text::hex;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::net::IpAddr;

/// Private things that stay in a recording on demand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Keep {
    /// Values of queries.
    pub query: bool,
    /// Parts of paths that look like tokens.
    pub path: bool,
    /// User-Agent.
    pub agent: bool,
    /// Addresses.
    pub address: bool,
    /// Addresses, changed such that those of one network stay in one.
    pub networks: bool,
    /// Cookies.
    pub cookie: bool,
    /// Bodies of requests.
    pub body: bool,
}

impl Keep {
    /// Reads `query,path`.
    ///
    /// # Errors
    /// In words, with the names that there are.
    pub fn parse(text: &str) -> Result<Keep, String> {
        let mut keep = Keep::default();
        for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            match name {
                "query" => keep.query = true,
                "path" => keep.path = true,
                "agent" => keep.agent = true,
                "address" => keep.address = true,
                "networks" => keep.networks = true,
                "cookie" => keep.cookie = true,
                "body" => keep.body = true,
                other => {
                    return Err(format!(
                        "'{other}' is nothing that is kept: give some of query, path, agent, address, networks, cookie, body"
                    ));
                }
            }
        }
        Ok(keep)
    }

    /// The names of what is kept.
    pub fn names(&self) -> Vec<String> {
        let all = [
            ("query", self.query),
            ("path", self.path),
            ("agent", self.agent),
            ("address", self.address),
            ("networks", self.networks),
            ("cookie", self.cookie),
            ("body", self.body),
        ];
        all.iter().filter(|(_, kept)| *kept).map(|(name, _)| (*name).to_owned()).collect()
    }
}

/// Makes what stands for private things.
#[derive(Clone)]
pub struct Privacy {
    mac: Hmac<Sha256>,
    /// Private things that are kept.
    pub keep: Keep,
}

/// The key is nobody's business.
impl std::fmt::Debug for Privacy {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_struct("Privacy").field("keep", &self.keep).finish_non_exhaustive()
    }
}

/// Parts of a path of at least so many digits are tokens.
const DIGITS: usize = 9;
/// Parts of a path of at least so many hexadecimal or base64 digits are tokens.
const LETTERS: usize = 16;
/// Rounds over the two halves of a text.
const ROUNDS: u8 = 6;

impl Privacy {
    /// Works under this key, which should come of chance and be forgotten.
    pub fn new(key: &[u8; 32], keep: Keep) -> Privacy {
        let mac = Hmac::new_from_slice(key).expect("any length is a key");
        Privacy { mac, keep }
    }

    fn digest(&self, parts: &[&[u8]]) -> [u8; 32] {
        let mut mac = self.mac.clone();
        for part in parts {
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }

    /// The id of a user.
    pub fn user(&self, who: &[u8]) -> [u8; 16] {
        let digest = self.digest(&[b"user", who]);
        digest[..16].try_into().expect("sixteen of thirty-two")
    }

    /// A seed for hashes that nobody outside may foresee.
    pub fn seed(&self) -> u64 {
        let digest = self.digest(&[b"seed"]);
        u64::from_le_bytes(digest[..8].try_into().expect("eight of thirty-two"))
    }

    /// An address such that two that share their first n bits still do, as others have it since Xu et al. (2002).
    pub fn network(&self, address: IpAddr) -> IpAddr {
        match address {
            IpAddr::V4(four) => {
                let bits = self.prefixed(&four.octets());
                IpAddr::from(<[u8; 4]>::try_from(&bits[..]).expect("as many as before"))
            }
            IpAddr::V6(six) => {
                let bits = self.prefixed(&six.octets());
                IpAddr::from(<[u8; 16]>::try_from(&bits[..]).expect("as many as before"))
            }
        }
    }

    fn prefixed(&self, octets: &[u8]) -> Vec<u8> {
        let mut out = octets.to_vec();
        let mut prefix = vec![0; octets.len()];
        for bit in 0..octets.len() * 8 {
            let byte = bit / 8;
            let mask = 0x80 >> (bit % 8);
            let flips = self.digest(&[b"network", &[bit as u8], &prefix])[0] & 1 == 1;
            if flips {
                out[byte] ^= mask;
            }
            prefix[byte] |= octets[byte] & mask;
        }
        out
    }

    /// Appends a target, a path with its query, such that nothing private is in it.
    pub fn target(&self, target: &[u8], out: &mut Vec<u8>) {
        // What stands behind `#` should never have been sent, and is often a token.
        let end = memchr::memchr2(b'?', b'#', target).unwrap_or(target.len());
        let (path, query) = target.split_at(end);
        self.path(path, out);
        if query.is_empty() {
            return;
        }
        out.push(query[0]);
        if self.keep.query {
            out.extend_from_slice(&query[1..]);
            return;
        }
        for (number, pair) in query[1..].split(|byte| *byte == b'&').enumerate() {
            if number > 0 {
                out.push(b'&');
            }
            match memchr::memchr(b'=', pair) {
                Some(at) => {
                    let name = &pair[..at];
                    // A name that is a token itself is no name.
                    if is_token(name) {
                        self.token(name, out)
                    } else {
                        out.extend_from_slice(name)
                    }
                    out.push(b'=');
                    self.token(&pair[at + 1..], out);
                }
                // A query without names is all value.
                None => self.token(pair, out),
            }
        }
    }

    fn path(&self, path: &[u8], out: &mut Vec<u8>) {
        if self.keep.path {
            out.extend_from_slice(path);
            return;
        }
        for (number, part) in path.split(|byte| *byte == b'/').enumerate() {
            if number > 0 {
                out.push(b'/');
            }
            self.part(part, out);
        }
    }

    /// A part of a path: its ending stays, for it says what kind of content it is; so do parameters' names.
    fn part(&self, part: &[u8], out: &mut Vec<u8>) {
        if !is_private(part) {
            out.extend_from_slice(part);
            return;
        }
        let dot = memchr::memrchr(b'.', part).filter(|dot| is_ending(&part[dot + 1..]));
        let end = dot.unwrap_or(part.len());
        self.token(&part[..end], out);
        out.extend_from_slice(&part[end..]);
    }

    /// Appends a text of the same length and shape: digits for digits, small letters for small ones. It is a permutation of all texts
    /// of that shape: a Feistel network whose halves are added to letter by letter, so different texts stay different.
    fn token(&self, text: &[u8], out: &mut Vec<u8>) {
        let begin = out.len();
        out.extend_from_slice(text);
        let letters = letters(text);
        if letters.is_empty() {
            return;
        }
        let shape: Vec<u8> = letters.iter().flat_map(|(at, radix)| [*radix, base(text[*at])]).collect();
        let half = letters.len().div_ceil(2);
        for round in 0..ROUNDS {
            let (changed, other) = match round % 2 {
                0 => (&letters[..half], &letters[half..]),
                _ => (&letters[half..], &letters[..half]),
            };
            let key: Vec<u8> = other.iter().map(|(at, _)| out[begin + at]).collect();
            let mut digest = self.digest(&[b"token", &[round], &shape, &key]);
            for (number, (at, radix)) in changed.iter().enumerate() {
                let place = number % 32;
                if number > 0 && place == 0 {
                    digest = self.digest(&[b"more", &digest]);
                }
                let letter = &mut out[begin + at];
                let base = base(*letter);
                *letter = shifted(*letter - base, digest[place], *radix) + base;
            }
        }
    }
}

/// The letters of a text that are changed, with how many there are of their kind; signs and the first digits of `%XX` stay.
fn letters(text: &[u8]) -> Vec<(usize, u8)> {
    let mut found = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'%' if text.len() > at + 2 && hex(text[at + 1], text[at + 2]).is_some() => {
                // Escaped control bytes and signs stay what they are, or a target would mean something else.
                if !matches!(text[at + 1], b'0'..=b'2') {
                    let radix = if text[at + 2].is_ascii_digit() { 10 } else { 6 };
                    found.push((at + 2, radix));
                }
                at += 3;
                continue;
            }
            b'0'..=b'9' => found.push((at, 10)),
            b'a'..=b'z' | b'A'..=b'Z' => found.push((at, 26)),
            _ => {}
        }
        at += 1;
    }
    found
}

/// The first letter of its kind.
fn base(letter: u8) -> u8 {
    match letter {
        b'0'..=b'9' => b'0',
        b'a'..=b'z' => b'a',
        _ => b'A',
    }
}

fn shifted(value: u8, by: u8, radix: u8) -> u8 {
    ((u16::from(value) + u16::from(by)) % u16::from(radix)) as u8
}

/// True of an ending such as `html`: short, and letters or digits alone.
fn is_ending(text: &[u8]) -> bool {
    (1..=5).contains(&text.len())
        && text.iter().all(u8::is_ascii_alphanumeric)
        && text.iter().any(u8::is_ascii_alphabetic)
}

/// True of a part of a path that names a person or a thing of one: a token, or several joined by signs.
fn is_private(part: &[u8]) -> bool {
    if memchr::memchr(b'@', part).is_some() || memchr::memmem::find(part, b"%40").is_some() {
        return true;
    }
    if part.len() < DIGITS {
        return false;
    }
    is_token(part) || part.split(|byte| matches!(byte, b'.' | b';' | b'=' | b',' | b'~')).any(is_token)
}

/// True of a long number, or of so many hexadecimal or base64 digits that no word has them.
fn is_token(text: &[u8]) -> bool {
    let longest = |of: fn(&u8) -> bool| text.split(|byte| !of(byte)).map(<[u8]>::len).max().unwrap_or(0);
    if longest(u8::is_ascii_digit) >= DIGITS {
        return true;
    }
    if text.len() < LETTERS {
        return false;
    }
    let is_hex = |byte: &u8| byte.is_ascii_hexdigit() || *byte == b'-';
    if text.iter().all(is_hex) {
        return true;
    }
    // Words joined by hyphens are long, too; a token of base64 mixes cases and digits.
    let runs = text.split(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'_' | b'-')));
    runs.into_iter().any(|run| run.len() >= LETTERS && is_mixed(run))
}

/// True of a text that changes between digits, small and large letters more often than words do.
fn is_mixed(run: &[u8]) -> bool {
    let kind = |byte: &u8| match byte {
        b'0'..=b'9' => 0,
        b'a'..=b'z' => 1,
        b'A'..=b'Z' => 2,
        _ => 3,
    };
    let changes = run
        .windows(2)
        .filter(|pair| kind(&pair[0]) != kind(&pair[1]) && kind(&pair[0]) < 3 && kind(&pair[1]) < 3);
    let digits = run.iter().any(u8::is_ascii_digit);
    let cases = run.iter().any(u8::is_ascii_lowercase) && run.iter().any(u8::is_ascii_uppercase);
    let changes = changes.count();
    (digits && changes >= 4) || (cases && changes >= 6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn privacy(keep: Keep) -> Privacy {
        Privacy::new(&[7; 32], keep)
    }

    fn target(text: &str) -> String {
        let mut out = Vec::new();
        privacy(Keep::default()).target(text.as_bytes(), &mut out);
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn words_stay_and_tokens_go() {
        for text in [
            "/",
            "/wp-content/themes/twentyseventeen/style.css",
            "/2026/11/25/a-long-title-of-a-page-about-caches.html",
            "/presentations/logstash-monitorama-2013/images/kibana-dashboard3.png",
            "/api/v1/items/42",
            "/static/jquery-3.7.1.min.js",
        ] {
            assert_eq!(target(text), text);
        }
        for text in [
            "/u/123456789/profile",
            "/reset/9f86d081884c7d659a2feaa0c55ad015",
            "/o/550e8400-e29b-41d4-a716-446655440000.jpg",
            "/mail/jane@example.com",
            "/mail/jane%40example.com",
            "/t/dGhpcyBpcyBhIHRva2Vu",
            "/x?user=jane",
            "/x?9f86d081884c7d659a2feaa0c55ad015",
            "/x;jsessionid=9F86D081884C7D659A2FEAA0C55AD015",
            "/x#token=jane",
        ] {
            let found = target(text);
            assert_ne!(found, text);
            assert_eq!(found.len(), text.len(), "{found}");
        }
        assert!(target("/o/550e8400-e29b-41d4-a716-446655440000.jpg").ends_with(".jpg"));
        assert!(target("/x?user=jane&page=2").starts_with("/x?user="));
    }

    #[test]
    fn what_is_kept_stays() {
        let keep = Keep::parse("query, path").unwrap();
        let mut out = Vec::new();
        privacy(keep).target(b"/u/123456789?q=secret", &mut out);
        assert_eq!(out, b"/u/123456789?q=secret");
        assert_eq!(keep.names(), ["query", "path"]);
        assert!(Keep::parse("everything").unwrap_err().contains("give some of query"));
    }

    #[test]
    fn short_values_keep_apart() {
        let numbers: HashSet<String> = (0..100).map(|page| target(&format!("/x?page={page:02}"))).collect();
        assert_eq!(numbers.len(), 100, "it is a permutation");
        let letters: HashSet<String> = ('a'..='z').map(|letter| target(&format!("/x?q={letter}"))).collect();
        assert_eq!(letters.len(), 26);
        let escaped: HashSet<String> = (0..16).map(|low| target(&format!("/x?q=%C3%A{low:X}"))).collect();
        assert_eq!(escaped.len(), 16, "{escaped:?}");
    }

    #[test]
    fn networks_stay_together() {
        let privacy = privacy(Keep::default());
        let of = |text: &str| privacy.network(text.parse().unwrap());
        let (IpAddr::V4(one), IpAddr::V4(two), IpAddr::V4(far)) =
            (of("192.0.2.1"), of("192.0.2.200"), of("198.51.100.1"))
        else {
            panic!("version 4 stays version 4");
        };
        assert_eq!(one.octets()[..3], two.octets()[..3]);
        assert_ne!(one.octets()[..3], far.octets()[..3]);
        assert_ne!(one, "192.0.2.1".parse::<std::net::Ipv4Addr>().unwrap());
        assert!(matches!(of("2001:db8::1"), IpAddr::V6(_)));
    }

    proptest! {
        #[test]
        fn targets_keep_their_length_and_stay_sendable(text in "/[a-zA-Z0-9/._=&?%@~-]{0,60}") {
            let found = target(&text);
            prop_assert_eq!(found.len(), text.len());
            prop_assert!(found.bytes().all(|byte| byte.is_ascii_graphic()));
            prop_assert_eq!(found.matches('/').count(), text.matches('/').count());
        }

        #[test]
        fn different_values_stay_different(one in "[a-zA-Z0-9%]{1,12}", other in "[a-zA-Z0-9%]{1,12}") {
            let a = target(&format!("/?k={one}"));
            let b = target(&format!("/?k={other}"));
            prop_assert_eq!(one == other, a == b, "{} {}", a, b);
        }
    }
}
