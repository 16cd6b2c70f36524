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

    fn hash(self, text: impl AsRef<[u8]>) -> String {
        let text = text.as_ref();
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

/// The part of a request that an answer covers, in the scheme that counts nonces (RFC 7616 section 3.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quality {
    /// Method and target.
    Auth,
    /// The body, too.
    AuthInt,
}

impl Quality {
    /// Of the list in a challenge, the cheaper one first; `None` where neither stands there.
    fn of(list: &str) -> Option<Quality> {
        let offers = |name: &str| list.split(',').any(|one| one.trim().eq_ignore_ascii_case(name));
        match (offers("auth"), offers("auth-int")) {
            (true, _) => Some(Quality::Auth),
            (false, true) => Some(Quality::AuthInt),
            (false, false) => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Quality::Auth => "auth",
            Quality::AuthInt => "auth-int",
        }
    }
}

/// The parts of a request that an answer may cover.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Covered<'a> {
    pub method: &'a str,
    /// The target of the request line.
    pub uri: &'a str,
    /// Without transfer coding.
    pub body: &'a [u8],
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
    /// In the newer scheme, with a count and a nonce of the client.
    quality: Option<Quality>,
    /// The name goes hashed.
    hashes_name: bool,
    /// Uses of the nonce so far.
    count: u32,
}

impl Digest {
    /// Of a challenge's parameters; `None` where it asks for what is not spoken here.
    pub fn of<'a>(parameter: impl Fn(&str) -> Option<&'a str>) -> Option<Digest> {
        let named = parameter("algorithm");
        let name = named.unwrap_or("MD5");
        let plain =
            name.get(..name.len().saturating_sub(5)).filter(|_| name.to_ascii_lowercase().ends_with("-sess"));
        let quality = match parameter("qop") {
            Some(list) => Some(Quality::of(list)?),
            None => None,
        };
        Some(Digest {
            algorithm: Algorithm::of(plain.unwrap_or(name))?,
            realm: parameter("realm")?.to_owned(),
            nonce: parameter("nonce")?.to_owned(),
            opaque: parameter("opaque").map(str::to_owned),
            named: named.map(str::to_owned),
            sess: plain.is_some(),
            quality,
            hashes_name: parameter("userhash").is_some_and(|word| word.eq_ignore_ascii_case("true")),
            count: 0,
        })
    }

    /// The value of the field for one more request with this nonce; `cnonce`: the client's own.
    pub fn answer(&mut self, name: &str, password: &str, of: &Covered<'_>, cnonce: &str) -> String {
        self.count += 1;
        let count = format!("{:08x}", self.count);
        let response = self.response(&self.secret(name, password, cnonce), of, &count, cnonce);
        let realm = quoted(&self.realm);
        let nonce = quoted(&self.nonce);
        let uri = quoted(of.uri);
        let mut value = format!("Digest {}, realm={realm}, nonce={nonce}, uri={uri}", self.username(name));
        if let Some(named) = &self.named {
            value += &format!(", algorithm={named}");
        }
        value += &format!(", response=\"{response}\"");
        if let Some(quality) = self.quality {
            value += &format!(", qop={}, nc={count}", quality.name());
        }
        if self.quality.is_some() || self.sess {
            value += &format!(", cnonce={}", quoted(cnonce));
        }
        if let Some(opaque) = &self.opaque {
            value += &format!(", opaque={}", quoted(opaque));
        }
        if self.hashes_name {
            value += ", userhash=true";
        }
        value
    }

    /// True if the body takes part in the answer.
    pub fn covers_bodies(&self) -> bool {
        self.quality == Some(Quality::AuthInt)
    }

    /// RFC 7616 section 3.4.2.
    fn secret(&self, name: &str, password: &str, cnonce: &str) -> String {
        let secret = self.algorithm.hash(format!("{name}:{}:{password}", self.realm));
        match self.sess {
            true => self.algorithm.hash(format!("{secret}:{}:{cnonce}", self.nonce)),
            false => secret,
        }
    }

    /// RFC 7616 sections 3.4.1 and 3.4.3.
    fn response(&self, secret: &str, of: &Covered<'_>, count: &str, cnonce: &str) -> String {
        let hash = |text: String| self.algorithm.hash(text);
        let nonce = &self.nonce;
        let mut asked = format!("{}:{}", of.method, of.uri);
        if self.covers_bodies() {
            asked += &format!(":{}", self.algorithm.hash(of.body));
        }
        let asked = hash(asked);
        match self.quality {
            Some(quality) => hash(format!("{secret}:{nonce}:{count}:{cnonce}:{}:{asked}", quality.name())),
            None => hash(format!("{secret}:{nonce}:{asked}")),
        }
    }

    /// The parameter that names the user (RFC 7616 sections 3.4 and 3.4.4).
    fn username(&self, name: &str) -> String {
        if self.hashes_name {
            return format!("username=\"{}\"", self.algorithm.hash(format!("{name}:{}", self.realm)));
        }
        if name.is_ascii() {
            return format!("username={}", quoted(name));
        }
        let mut encoded = Vec::new();
        plan::template::Encode::Url.write(name.as_bytes(), &mut encoded);
        format!("username*=UTF-8''{}", String::from_utf8_lossy(&encoded))
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

    fn get(uri: &str) -> Covered<'_> {
        Covered { method: "GET", uri, body: b"" }
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
            digest.answer("Mufasa", "Circle of Life", &get("/dir/index.html"), cnonce)
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
        let value = old.answer("Mufasa", "Circle Of Life", &get("/dir/index.html"), "0a4f113b");
        assert_eq!(response(&value), "6629fae49393a05397450978507c4ef1");
        assert!(!value.contains("algorithm"), "{value}");
        assert!(old.answer("Mufasa", "x", &get("/"), "c").contains("nc=00000002"));
    }

    /// The example of RFC 7616 section 3.9.2, with the values that OpenSSL gives for SHA-512/256.
    #[test]
    fn names_are_hashed_where_asked() {
        let challenge = |userhash: &'static str| {
            Digest::of(move |name| match name {
                "realm" => Some("api@example.org"),
                "qop" => Some("auth"),
                "algorithm" => Some("SHA-512-256"),
                "nonce" => Some("5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK"),
                "userhash" => Some(userhash),
                _ => None,
            })
            .unwrap()
        };
        let answer = |userhash| {
            let of = get("/doe.json");
            let cnonce = "NTg6RKcb9boFIAS3KrFK9BGeh+niz/sm";
            challenge(userhash).answer("J\u{e4}s\u{f8}n Doe", "Secret, or not?", &of, cnonce)
        };
        let hashed = answer("true");
        let name = "793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b";
        assert!(hashed.starts_with(&format!("Digest username=\"{name}\"")), "{hashed}");
        assert!(hashed.ends_with(", userhash=true"), "{hashed}");
        let right = "7a4e1192babbba02e91182d2895bfdbf7adafc6e48d4e517ca301974843d840c";
        assert_eq!(response(&hashed), right);
        let plain = answer("false");
        assert!(plain.starts_with("Digest username*=UTF-8''J%C3%A4s%C3%B8n%20Doe, "), "{plain}");
        assert_eq!(response(&plain), right);
    }

    #[test]
    fn bodies_are_covered_where_nothing_less_will_do() {
        let digest = |qop: &'static str| {
            Digest::of(move |name| match name {
                "realm" => Some("r"),
                "nonce" => Some("n"),
                "qop" => Some(qop),
                _ => None,
            })
            .unwrap()
        };
        let of = Covered { method: "POST", uri: "/a", body: b"x=1" };
        let value = digest("auth-int").answer("u", "p", &of, "c");
        // md5(md5("u:r:p") ":n:00000001:c:auth-int:" md5("POST:/a:" md5("x=1")))
        assert_eq!(response(&value), "37fcfaf6acc49a166f4b09ed2ebf4480");
        assert!(value.contains("qop=auth-int, nc=00000001"), "{value}");
        let other = Covered { body: b"x=2", ..of };
        assert_ne!(response(&digest("auth-int").answer("u", "p", &other, "c")), response(&value));
        assert!(digest("auth-int, auth").answer("u", "p", &of, "c").contains("qop=auth, "));
    }

    #[test]
    fn what_is_not_spoken_is_no_digest() {
        for (algorithm, qop) in [("MD4", "auth"), ("MD5", "auth-conf")] {
            let parameter = |name: &str| match name {
                "algorithm" => Some(algorithm),
                "qop" => Some(qop),
                _ => Some("x"),
            };
            assert!(Digest::of(parameter).is_none(), "{algorithm} {qop}");
        }
    }
}
