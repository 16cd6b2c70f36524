//! AWS's signature, version 4: a pure function of time, keys and request. The rules are those of "Create a signed AWS API
//! request" in AWS's IAM user guide.

use super::{FieldLine, HttpRequest};
use hmac::{Hmac, KeyInit, Mac};
use plan::AwsSignature;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// Signs the requests of a step.
pub(crate) struct Signer {
    id: String,
    key: String,
    token: Option<String>,
    region: String,
    service: String,
}

/// Fields that are not signed, since what stands between may change or add them.
const UNSIGNED: [&str; 9] = [
    "accept-encoding",
    "authorization",
    "connection",
    "content-length",
    "expect",
    "te",
    "transfer-encoding",
    "upgrade",
    "user-agent",
];

/// A request as it is signed.
struct Unsigned<'a> {
    method: &'a str,
    target: &'a str,
    fields: Vec<(String, String)>,
    body: &'a [u8],
}

impl Signer {
    /// Its secrets are filled in.
    pub fn new(aws: &AwsSignature) -> Signer {
        let token = aws.token.as_ref().map(|token| token.reveal().to_owned());
        Signer {
            id: aws.id.reveal().to_owned(),
            key: aws.key.reveal().to_owned(),
            token: token.filter(|token| !token.is_empty()),
            region: aws.region.clone(),
            service: aws.service.clone(),
        }
    }

    /// Adds the signature to a request. Transfer codings are not signed.
    pub fn sign(&self, request: &mut HttpRequest, unix_us: u64) {
        let time = timestamp(unix_us);
        let digest = (self.service == "s3").then(|| hex(&Sha256::digest(&request.body)));
        let mut add = |name: &str, value: &str| {
            // The user's own stands.
            if request.field(name).is_none() {
                request.fields.push(FieldLine::new(name, value));
            }
        };
        add("x-amz-date", &time);
        digest.iter().for_each(|digest| add("x-amz-content-sha256", digest));
        self.token.iter().for_each(|token| add("x-amz-security-token", token));
        let authorization = self.authorization(request, &time);
        request.fields.push(FieldLine::new("authorization", &authorization));
    }

    fn authorization(&self, request: &HttpRequest, time: &str) -> String {
        let request = Unsigned::of(request);
        let scope = format!("{}/{}/{}/aws4_request", &time[..8], self.region, self.service);
        let canonical = request.canonical(&self.service);
        let digest = hex(&Sha256::digest(canonical.as_bytes()));
        let to_sign = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{digest}");
        let signature = hex(&keyed(&self.key(&time[..8]), to_sign.as_bytes()));
        format!(
            "AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={}, Signature={signature}",
            self.id,
            request.names()
        )
    }

    /// The key of a day, such as `20150830`.
    fn key(&self, day: &str) -> Vec<u8> {
        let secret = format!("AWS4{}", self.key).into_bytes();
        let words = [day, &self.region, &self.service, "aws4_request"];
        words.iter().fold(secret, |key, word| keyed(&key, word.as_bytes()))
    }
}

impl<'a> Unsigned<'a> {
    fn of(request: &'a HttpRequest) -> Unsigned<'a> {
        let target = &*request.target;
        // Through a proxy the whole URL stands there.
        let target = match target.split_once("://") {
            Some((_, rest)) if !target.starts_with('/') => rest.find('/').map_or("/", |at| &rest[at..]),
            _ => target,
        };
        let fields = request.fields.iter();
        let mut fields: Vec<(String, String)> =
            fields.map(|field| (field.name().to_ascii_lowercase(), field.value())).collect();
        fields.retain(|(name, _)| !UNSIGNED.contains(&name.as_str()));
        fields.sort_by(|one, other| one.0.cmp(&other.0));
        Unsigned { method: &request.method, target, fields, body: &request.body }
    }

    /// The names of the signed fields, each once.
    fn names(&self) -> String {
        let mut names: Vec<&str> = self.fields.iter().map(|(name, _)| name.as_str()).collect();
        names.dedup();
        names.join(";")
    }

    /// The request in the one form that both sides hash.
    fn canonical(&self, service: &str) -> String {
        let (path, query) = self.target.split_once('?').unwrap_or((self.target, ""));
        // S3 takes a path as the name that it encodes; all other services put it in order, and encode what is
        // encoded already once more.
        let path = match service {
            "s3" => encoded(&decoded(path), b"/"),
            _ => encoded(in_order(path).as_bytes(), b"/"),
        };
        let mut fields = String::new();
        for same in self.fields.chunk_by(|one, other| one.0 == other.0) {
            let values: Vec<String> = same
                .iter()
                .map(|(_, value)| value.split_whitespace().collect::<Vec<_>>().join(" "))
                .collect();
            // Writing to a String cannot fail.
            let _ = writeln!(fields, "{}:{}", same[0].0, values.join(","));
        }
        let digest = self.fields.iter().find(|(name, _)| name == "x-amz-content-sha256");
        let digest = digest.map_or_else(|| hex(&Sha256::digest(self.body)), |(_, value)| value.clone());
        format!("{}\n{path}\n{}\n{fields}\n{}\n{digest}", self.method, query_of(query), self.names())
    }
}

/// Without empty and dot segments (RFC 3986 section 5.2.4); a slash at the end stays.
fn in_order(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => drop(kept.pop()),
            segment => kept.push(segment),
        }
    }
    let ends_open = ["/", "/.", "/.."].iter().any(|end| path.ends_with(end));
    let end = if ends_open && !kept.is_empty() { "/" } else { "" };
    format!("/{}{end}", kept.join("/"))
}

/// Names and values decoded, encoded in the one way, and sorted.
fn query_of(query: &str) -> String {
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (encoded(&decoded(name), b""), encoded(&decoded(value), b""))
    };
    let mut pairs: Vec<_> = query.split('&').filter(|text| !text.is_empty()).map(pair).collect();
    pairs.sort();
    pairs.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&")
}

/// Percent-encoded but for unreserved characters (RFC 3986 section 2.3) and those of `kept`.
fn encoded(bytes: &[u8], kept: &[u8]) -> String {
    let mut text = Vec::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            byte if kept.contains(byte) => text.push(*byte),
            byte => plan::template::Encode::Url.write(&[*byte], &mut text),
        }
    }
    // All of it is ASCII, or was kept from text.
    String::from_utf8_lossy(&text).into_owned()
}

fn decoded(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match (byte, digits.and_then(|digits| u8::from_str_radix(digits, 16).ok())) {
            (b'%', Some(value)) => {
                bytes.push(value);
                rest = &after[2..];
            }
            _ => {
                bytes.push(*byte);
                rest = after;
            }
        }
    }
    bytes
}

fn keyed(key: &[u8], text: &[u8]) -> Vec<u8> {
    // Keys of any length will do.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return Vec::new() };
    mac.update(text);
    mac.finalize().into_bytes().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// `20150830T123600Z`.
fn timestamp(unix_us: u64) -> String {
    let time = plan::data::rfc3339(unix_us);
    let digits = |byte: &u8| byte.is_ascii_digit() || *byte == b'T';
    let kept: String = time[..19].iter().filter(|byte| digits(byte)).map(|byte| char::from(*byte)).collect();
    kept + "Z"
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::Secret;

    fn signed(service: &str, secret: &str, id: &str, unix_s: u64, request: &str) -> String {
        let signer = Signer {
            id: id.to_owned(),
            key: secret.to_owned(),
            token: None,
            region: "us-east-1".to_owned(),
            service: service.to_owned(),
        };
        let mut value = HttpRequest::of_text(request);
        signer.sign(&mut value, unix_s * 1_000_000);
        value.text()
    }

    /// Signatures of AWS's documentation for its example keys at 2015-08-30 12:36:00 UTC.
    fn suite(service: &str, request: &str) -> String {
        signed(service, "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "AKIDEXAMPLE", 1_440_938_160, request)
    }

    #[test]
    fn the_documented_iam_example() {
        let request = "GET /?Action=ListUsers&Version=2010-05-08 HTTP/1.1\r\nHost: iam.amazonaws.com\r\n\
                       Content-Type: application/x-www-form-urlencoded; charset=utf-8\r\n\r\n";
        let message = suite("iam", request);
        assert!(message.contains("x-amz-date: 20150830T123600Z\r\n"), "{message}");
        assert!(
            message.contains(
                "Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, \
                 SignedHeaders=content-type;host;x-amz-date, \
                 Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7\r\n\r\n"
            ),
            "{message}"
        );
    }

    #[test]
    fn requests_of_the_published_test_suite() {
        for (request, signature) in [
            (
                "GET / HTTP/1.1\r\nHost:example.amazonaws.com\r\n\r\n",
                "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
            ),
            (
                "POST / HTTP/1.1\r\nHost:example.amazonaws.com\r\n\r\n",
                "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
            ),
            (
                "GET /?Param2=value2&Param1=value1 HTTP/1.1\r\nHost:example.amazonaws.com\r\n\r\n",
                "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
            ),
            (
                "GET //example// HTTP/1.1\r\nHost:example.amazonaws.com\r\n\r\n",
                "9a624bd73a37c9a373b5312afbebe7a714a789de108f0bdfe846570885f57e84",
            ),
            (
                "GET /./example HTTP/1.1\r\nHost:example.amazonaws.com\r\n\r\n",
                "ef75d96142cf21edca26f06005da7988e4f8dc83a165a80865db7089db637ec5",
            ),
            (
                "GET /example1/example2/../.. HTTP/1.1\r\nHost:example.amazonaws.com\r\n\r\n",
                "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
            ),
        ] {
            let message = suite("service", request);
            assert!(message.contains(&format!("Signature={signature}\r\n")), "{message}");
        }
    }

    #[test]
    fn the_documented_s3_example() {
        let request =
            "GET /test.txt HTTP/1.1\r\nHost: examplebucket.s3.amazonaws.com\r\nRange: bytes=0-9\r\n\r\n";
        let secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
        let message = signed("s3", secret, "AKIAIOSFODNN7EXAMPLE", 1_369_353_600, request);
        let expected = "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, \
                        Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41\r\n";
        assert!(message.contains(expected), "{message}");
    }

    /// Two ways to write a path that a service takes for the same one are signed as the same.
    #[test]
    fn paths_are_signed_as_services_read_them() {
        let signature = |service: &str, path: &str| {
            let message = suite(service, &format!("GET {path} HTTP/1.1\r\nHost: h\r\n\r\n"));
            assert!(message.starts_with(&format!("GET {path} ")), "sent as it stands: {message}");
            message.split_once("Signature=").unwrap().1[..64].to_owned()
        };
        for (service, one, other) in [
            ("s3", "/a(b)%2a%c3%a9", "/a%28b%29%2A%C3%A9"),
            ("s3", "/a~b%7Ec", "/a~b~c"),
            ("execute-api", "//a/./b/../c//", "/a/c/"),
            ("execute-api", "/a/..", "/"),
        ] {
            assert_eq!(signature(service, one), signature(service, other), "{service} {one}");
        }
        for (service, one, other) in [("s3", "/a//b", "/a/b"), ("s3", "/a/../b", "/b"), ("x", "/a/", "/a")] {
            assert_ne!(signature(service, one), signature(service, other), "{service} {one}");
        }
    }

    #[test]
    fn chunks_are_not_signed() {
        let signature = |text: &str| text.split_once("Signature=").unwrap().1[..64].to_owned();
        let chunked = "Transfer-Encoding: chunked\r\n\r\nhi";
        let [plain, framed] =
            ["\r\nhi", chunked].map(|rest| suite("s3", &format!("PUT /a HTTP/1.1\r\nHost: h\r\n{rest}")));
        assert_eq!(signature(&framed), signature(&plain));
        assert!(framed.ends_with("\r\n\r\n2\r\nhi\r\n0\r\n\r\n"), "{framed}");
    }

    #[test]
    fn bodies_tokens_and_whole_urls() {
        let signer = Signer::new(&AwsSignature {
            region: "r".to_owned(),
            service: "s".to_owned(),
            id: Secret::typed("I"),
            key: Secret::typed("S"),
            token: Some(Secret::typed("T")),
        });
        let sign = |target: &str, body: &str| {
            let text = format!("POST {target} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n{body}");
            let mut value = HttpRequest::of_text(&text);
            signer.sign(&mut value, 0);
            value.text()
        };
        let one = sign("/a%20b", "x\r\n\r\ny");
        assert!(one.ends_with("\r\n\r\nx\r\n\r\ny") && one.contains("x-amz-security-token: T\r\n"), "{one}");
        assert!(one.contains("SignedHeaders=host;x-amz-date;x-amz-security-token,"), "{one}");
        let signature = |text: &str| text.split_once("Signature=").unwrap().1[..64].to_owned();
        assert_eq!(signature(&sign("http://h/a%20b", "x\r\n\r\ny")), signature(&one));
        assert_ne!(signature(&sign("/a%20b", "x")), signature(&one));
    }
}
