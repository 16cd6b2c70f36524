//! Digest access authentication (RFC 7616): the arithmetic, without I/O and without chance of its own.

use md5::Md5;
use sha2::{Digest as _, Sha256, Sha512_256};

/// A hash that a challenge asks for; the order is that of preference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Algorithm {
    Md5,
    Sha512_256,
    Sha256,
}

impl Algorithm {
    /// By its name in a challenge, without `-sess`.
    fn of(name: &str) -> Option<Algorithm> {
        match name.to_ascii_uppercase().as_str() {
            "MD5" => Some(Algorithm::Md5),
            "SHA-256" => Some(Algorithm::Sha256),
            "SHA-512-256" => Some(Algorithm::Sha512_256),
            _ => None,
        }
    }

    fn hash(self, text: &str) -> String {
        match self {
            Algorithm::Md5 => hex(&Md5::digest(text)),
            Algorithm::Sha256 => hex(&Sha256::digest(text)),
            Algorithm::Sha512_256 => hex(&Sha512_256::digest(text)),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A challenge that is being answered, nonce by nonce.
#[derive(Debug, Clone)]
pub(crate) struct Digest {
    pub algorithm: Algorithm,
    pub realm: String,
    nonce: String,
    opaque: Option<String>,
    /// The name of the algorithm as the challenge has it; `None`: it has none.
    named: Option<String>,
    sess: bool,
    /// It takes part in the newer scheme, with a count and a nonce of the client.
    auth: bool,
    /// How often the nonce was used.
    count: u32,
}

impl Digest {
    /// Of a challenge's parameters; `None` where it asks for what is not spoken here.
    pub fn of<'a>(parameter: impl Fn(&str) -> Option<&'a str>) -> Option<Digest> {
        let named = parameter("algorithm");
        let name = named.unwrap_or("MD5");
        let plain =
            name.get(..name.len().saturating_sub(5)).filter(|_| name.to_ascii_lowercase().ends_with("-sess"));
        let qop = parameter("qop");
        let auth = qop.is_some_and(|qop| qop.split(',').any(|one| one.trim().eq_ignore_ascii_case("auth")));
        if qop.is_some() && !auth {
            return None;
        }
        Some(Digest {
            algorithm: Algorithm::of(plain.unwrap_or(name))?,
            realm: parameter("realm")?.to_owned(),
            nonce: parameter("nonce")?.to_owned(),
            opaque: parameter("opaque").map(str::to_owned),
            named: named.map(str::to_owned),
            sess: plain.is_some(),
            auth,
            count: 0,
        })
    }

    /// The value of the field for one more request with this nonce; `cnonce`: the client's own.
    pub fn answer(&mut self, name: &str, password: &str, method: &str, uri: &str, cnonce: &str) -> String {
        self.count += 1;
        let (nonce, count) = (&self.nonce, format!("{:08x}", self.count));
        let hash = |text: String| self.algorithm.hash(&text);
        let mut secret = hash(format!("{name}:{}:{password}", self.realm));
        if self.sess {
            secret = hash(format!("{secret}:{nonce}:{cnonce}"));
        }
        let asked = hash(format!("{method}:{uri}"));
        let response = match self.auth {
            true => hash(format!("{secret}:{nonce}:{count}:{cnonce}:auth:{asked}")),
            false => hash(format!("{secret}:{nonce}:{asked}")),
        };
        let (name, realm, nonce) = (quoted(name), quoted(&self.realm), quoted(nonce));
        let mut value = format!("Digest username={name}, realm={realm}, nonce={nonce}, uri={}", quoted(uri));
        if let Some(named) = &self.named {
            value += &format!(", algorithm={named}");
        }
        value += &format!(", response=\"{response}\"");
        if self.auth {
            value += &format!(", qop=auth, nc={count}");
        }
        if self.auth || self.sess {
            value += &format!(", cnonce={}", quoted(cnonce));
        }
        if let Some(opaque) = &self.opaque {
            value += &format!(", opaque={}", quoted(opaque));
        }
        value
    }
}

/// As a quoted string (RFC 9110 section 5.6.4).
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(value: &str) -> &str {
        value.split("response=\"").nth(1).unwrap().split('"').next().unwrap()
    }

    /// The vectors of RFC 7616 section 3.9.1 and RFC 2617 section 3.5.
    #[test]
    fn vectors_of_the_rfcs() {
        let mufasa = |algorithm: &'static str| {
            let mut digest = Digest::of(move |name| match name {
                "realm" => Some("http-auth@example.org"),
                "qop" => Some("auth, auth-int"),
                "algorithm" => Some(algorithm),
                "nonce" => Some("7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"),
                "opaque" => Some("FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"),
                _ => None,
            })
            .unwrap();
            let cnonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ";
            digest.answer("Mufasa", "Circle of Life", "GET", "/dir/index.html", cnonce)
        };
        assert_eq!(response(&mufasa("MD5")), "8ca523f5e9506fed4657c9700eebdbec");
        let sha256 = mufasa("SHA-256");
        assert_eq!(response(&sha256), "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1");
        for part in [
            "algorithm=SHA-256",
            "qop=auth, nc=00000001",
            "opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\"",
            "uri=\"/dir/index.html\"",
        ] {
            assert!(sha256.contains(part), "{part} in {sha256}");
        }
        let mut old = Digest::of(|name| match name {
            "realm" => Some("testrealm@host.com"),
            "nonce" => Some("dcd98b7102dd2f0e8b11d0f600bfb0c093"),
            "qop" => Some("auth"),
            _ => None,
        })
        .unwrap();
        let value = old.answer("Mufasa", "Circle Of Life", "GET", "/dir/index.html", "0a4f113b");
        assert_eq!(response(&value), "6629fae49393a05397450978507c4ef1");
        assert!(!value.contains("algorithm"), "{value}");
        assert!(old.answer("Mufasa", "x", "GET", "/", "c").contains("nc=00000002"));
    }

    #[test]
    fn what_is_not_spoken_is_no_digest() {
        for (algorithm, qop) in [("MD4", "auth"), ("MD5", "auth-int")] {
            let parameter = |name: &str| match name {
                "algorithm" => Some(algorithm),
                "qop" => Some(qop),
                _ => Some("x"),
            };
            assert!(Digest::of(parameter).is_none(), "{algorithm} {qop}");
        }
    }
}
