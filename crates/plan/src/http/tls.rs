//! TLS as a plan describes it: what clients begin with ([`Tls`]) and what the origin does ([`OriginTls`]).
//!
//! Files are named here and read by whoever runs the plan.

use crate::data::secret::Secret;
use crate::violation::ViolationFound;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How clients speak TLS.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Tls {
    /// The server's certificate must be valid, for the right name, and signed by somebody trusted.
    pub verify: bool,
    /// PEM file of certificates to trust instead of the system's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca: Option<String>,
    /// PEM file of the client's certificate, followed by those that vouch for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<String>,
    /// PEM file of its private key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// A keystore that holds both, in place of the two files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keystore: Option<Keystore>,
    /// The name to ask for and to verify instead of the host's; empty: ask for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sni: Option<String>,
    /// Versions to offer; empty: all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub versions: Vec<TlsVersion>,
    /// Cipher suites to offer, best first; empty: all, as browsers offer them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ciphers: Vec<CipherSuite>,
    /// Application protocols to offer (ALPN), best first; empty: none.
    pub alpn: Vec<String>,
    /// The part of a user's earlier connections that is used for its next one.
    pub resumption: Resumption,
}

impl Default for Tls {
    fn default() -> Tls {
        Tls {
            verify: true,
            ca: None,
            certificate: None,
            key: None,
            keystore: None,
            sni: None,
            versions: Vec::new(),
            ciphers: Vec::new(),
            alpn: vec!["http/1.1".to_owned()],
            resumption: Resumption::default(),
        }
    }
}

impl Tls {
    /// TLS as a client offers it that was built on OpenSSL and leaves the suites to it: the strongest first.
    pub fn like_openssl() -> Tls {
        Tls { ciphers: CipherSuite::like_openssl().to_vec(), ..Tls::default() }
    }
}

/// A private key and its certificates in one file behind a password (PKCS #12, RFC 7292).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Keystore {
    /// The file.
    pub file: String,
    /// Its password.
    pub password: Secret,
    /// The name of the key in it; `None`: the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
}

/// How the origin speaks TLS.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct OriginTls {
    /// PEM file of its certificate, followed by those that vouch for it; without one, the origin makes itself one that
    /// nobody vouches for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<String>,
    /// PEM file of its private key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The names in a certificate that the origin makes itself.
    pub names: Vec<String>,
    /// File into which the certificate is written as PEM, for whoever is to trust it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub save_certificate: Option<String>,
    /// PEM file of those who vouch for clients, who must then show a certificate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_ca: Option<String>,
    /// Versions to take; empty: all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub versions: Vec<TlsVersion>,
    /// Cipher suites to take, best first; empty: all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ciphers: Vec<CipherSuite>,
    /// Application protocols to choose from (ALPN), best first; empty: whatever the client offers. With `h3` among them,
    /// HTTP/3 is spoken over UDP at the same port.
    pub alpn: Vec<String>,
    /// Resumption that clients may use.
    pub resumption: Resumption,
}

impl OriginTls {
    /// True if HTTP/3 is spoken, too, over UDP at the same port.
    pub fn speaks_http3(&self) -> bool {
        self.alpn.iter().any(|name| name == "h3")
    }
}

impl Default for OriginTls {
    fn default() -> OriginTls {
        OriginTls {
            certificate: None,
            key: None,
            names: ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec(),
            save_certificate: None,
            client_ca: None,
            versions: Vec::new(),
            ciphers: Vec::new(),
            alpn: vec!["h2".to_owned(), "http/1.1".to_owned()],
            resumption: Resumption::default(),
        }
    }
}

/// A version of TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum TlsVersion {
    /// RFC 5246.
    #[serde(rename = "1.2")]
    Tls12,
    /// RFC 8446.
    #[serde(rename = "1.3")]
    Tls13,
}

impl TlsVersion {
    /// Reads `1.2` or `1.3`.
    ///
    /// # Errors
    /// Anything else.
    pub fn parse(text: &str) -> Result<TlsVersion, String> {
        match text {
            "1.2" => Ok(TlsVersion::Tls12),
            "1.3" => Ok(TlsVersion::Tls13),
            _ => Err(format!("'{text}' is no TLS version known here: give 1.2 or 1.3")),
        }
    }
}

/// The part of an earlier connection that is used for the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Resumption {
    /// Nothing: each connection takes a full handshake.
    #[serde(rename = "off")]
    Off,
    /// Its session, where the server allows it.
    #[default]
    #[serde(rename = "on")]
    On,
    /// Its session, and the request goes along with the first message (early data), where the server allows it.
    #[serde(rename = "0-rtt")]
    EarlyData,
}

impl Resumption {
    /// Reads `off`, `on` or `0-rtt`.
    ///
    /// # Errors
    /// Anything else.
    pub fn parse(text: &str) -> Result<Resumption, String> {
        match text {
            "off" => Ok(Resumption::Off),
            "on" => Ok(Resumption::On),
            "0-rtt" => Ok(Resumption::EarlyData),
            _ => Err("give off, on or 0-rtt".to_owned()),
        }
    }
}

/// A cipher suite, by its number (IANA).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
pub struct CipherSuite(u16);

/// Number, name (IANA), and the name that OpenSSL gives it; in the order in which browsers offer them.
const SUITES: [(u16, &str, &str); 9] = [
    (0x1301, "TLS_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256"),
    (0x1302, "TLS_AES_256_GCM_SHA384", "TLS_AES_256_GCM_SHA384"),
    (0x1303, "TLS_CHACHA20_POLY1305_SHA256", "TLS_CHACHA20_POLY1305_SHA256"),
    (0xC02B, "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA-AES128-GCM-SHA256"),
    (0xC02C, "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384"),
    (0xCCA9, "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"),
    (0xC02F, "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256"),
    (0xC030, "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA-AES256-GCM-SHA384"),
    (0xCCA8, "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA-CHACHA20-POLY1305"),
];

impl CipherSuite {
    /// Every suite, in the order in which they are offered where nothing else is said.
    pub fn all() -> impl Iterator<Item = CipherSuite> {
        SUITES.iter().map(|(number, ..)| CipherSuite(*number))
    }

    /// Every suite in the order of OpenSSL's default list (`openssl ciphers -s`).
    pub fn like_openssl() -> [CipherSuite; SUITES.len()] {
        [0x1302, 0x1303, 0x1301, 0xC02C, 0xC030, 0xCCA9, 0xCCA8, 0xC02B, 0xC02F].map(CipherSuite)
    }

    /// Reads a name, IANA's or OpenSSL's, in letters of either case.
    ///
    /// # Errors
    /// A suite that is not known here; the text names those that are.
    pub fn parse(text: &str) -> Result<CipherSuite, String> {
        let named = |name: &str| name.eq_ignore_ascii_case(text.trim());
        let found = SUITES.iter().find(|(_, iana, openssl)| named(iana) || named(openssl));
        found.map(|(number, ..)| CipherSuite(*number)).ok_or_else(|| {
            let known: Vec<_> = SUITES.iter().map(|(_, name, _)| *name).collect();
            format!("'{text}' is no cipher suite known here: give one of {}", known.join(", "))
        })
    }

    /// The name that OpenSSL gives a suite, by its number (IANA); empty for one that is not known here.
    pub fn openssl_name(number: u16) -> &'static str {
        SUITES.iter().find(|(known, ..)| *known == number).map_or("", |(.., name)| *name)
    }

    /// Its number (IANA).
    pub fn number(self) -> u16 {
        self.0
    }

    /// The version it belongs to: those of TLS 1.3 are numbered apart (RFC 8446 appendix B.4).
    pub fn version(self) -> TlsVersion {
        if self.0 >> 8 == 0x13 { TlsVersion::Tls13 } else { TlsVersion::Tls12 }
    }
}

impl fmt::Display for CipherSuite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Only numbers of the table are ever made.
        f.write_str(SUITES.iter().find(|(number, ..)| *number == self.0).map_or("", |(_, name, _)| *name))
    }
}

crate::units::as_text!(CipherSuite, CipherSuite::parse);

/// Violations of what clients begin with.
pub(crate) fn check(tls: &Tls, found: &mut ViolationFound) {
    if !tls.verify && tls.ca.is_some() {
        found.at("ca", "tls: ca is given but verify is false: leave out one of them".to_owned());
    }
    if tls.keystore.is_some() && tls.certificate.is_some() {
        found
            .at("keystore", "tls: keystore and certificate are both given: leave out one of them".to_owned());
    }
    pair("tls", tls.certificate.as_ref(), tls.key.as_ref(), found);
    agree("tls", &tls.versions, &tls.ciphers, tls.resumption, found);
    check_alpn("tls", &tls.alpn, found);
}

/// Violations of what the origin begins with.
pub(crate) fn check_origin(tls: &OriginTls, found: &mut ViolationFound) {
    pair("origin: tls", tls.certificate.as_ref(), tls.key.as_ref(), found);
    agree("origin: tls", &tls.versions, &tls.ciphers, tls.resumption, found);
    check_alpn("origin: tls", &tls.alpn, found);
    if tls.speaks_http3() && !(tls.versions.is_empty() || tls.versions.contains(&TlsVersion::Tls13)) {
        let text =
            "origin: tls: h3 is spoken over QUIC, which has TLS 1.3: allow 1.3, or leave h3 out of alpn";
        found.at("versions", text.to_owned());
    }
    if tls.certificate.is_none() && tls.names.is_empty() {
        found.at(
            "names",
            "origin: tls: names is empty: a certificate needs at least one, such as localhost".to_owned(),
        );
    }
}

fn pair(whose: &str, certificate: Option<&String>, key: Option<&String>, found: &mut ViolationFound) {
    if certificate.is_some() != key.is_some() {
        found.at("certificate", format!("{whose}: certificate and key go together: give both, or neither"));
    }
}

fn agree(
    whose: &str,
    versions: &[TlsVersion],
    ciphers: &[CipherSuite],
    resumption: Resumption,
    found: &mut ViolationFound,
) {
    let takes = |version| versions.is_empty() || versions.contains(&version);
    if let Some(suite) = ciphers.iter().find(|suite| !takes(suite.version())) {
        found.at(
            "ciphers",
            format!("{whose}: {suite} belongs to a TLS version that is not among versions: drop it"),
        );
    }
    let has = |version| ciphers.is_empty() || ciphers.iter().any(|suite| suite.version() == version);
    if versions.iter().any(|version| !has(*version)) {
        found.push(format!(
            "{whose}: none of the ciphers belongs to one of the versions: add one, or drop the version"
        ));
    }
    if resumption == Resumption::EarlyData && !(takes(TlsVersion::Tls13) && has(TlsVersion::Tls13)) {
        found.at(
            "resumption",
            format!("{whose}: resumption is 0-rtt, which only TLS 1.3 has: allow 1.3, or give on"),
        );
    }
}

/// RFC 7301 section 3.1: one to 255 bytes each.
fn check_alpn(whose: &str, names: &[String], found: &mut ViolationFound) {
    if let Some(name) = names.iter().find(|name| name.is_empty() || name.len() > 255) {
        found.at(
            "alpn",
            format!("{whose}: alpn '{name}' has not 1 to 255 bytes: give a name such as http/1.1"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suites_are_known_by_both_names_and_keep_their_own() {
        for (number, iana, openssl) in SUITES {
            for name in [iana.to_owned(), openssl.to_owned(), openssl.to_ascii_lowercase()] {
                let suite = CipherSuite::parse(&name).unwrap();
                assert_eq!((suite.number(), suite.to_string().as_str()), (number, iana));
            }
        }
        let refused = CipherSuite::parse("RC4-MD5").unwrap_err();
        assert!(refused.contains("RC4-MD5") && refused.contains("TLS_AES_128_GCM_SHA256"), "{refused}");
    }

    #[track_caller]
    fn refused(tls: &Tls, words: &str) {
        let mut found = ViolationFound::default();
        check(tls, &mut found);
        let found: Vec<String> = found.all().into_iter().map(|violation| violation.text).collect();
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains(words), "{found:?}");
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        let of = |name: &str| vec![CipherSuite::parse(name).unwrap()];
        let tls12 = vec![TlsVersion::Tls12];
        let tls13 = vec![TlsVersion::Tls13];
        let none = Tls::default;
        check(&none(), &mut ViolationFound::default());
        refused(&Tls { verify: false, ca: Some("ca.pem".to_owned()), ..none() }, "verify is false");
        refused(&Tls { key: Some("key.pem".to_owned()), ..none() }, "go together");
        refused(&Tls { versions: tls12, resumption: Resumption::EarlyData, ..none() }, "only TLS 1.3");
        refused(
            &Tls { ciphers: of("ECDHE-RSA-AES128-GCM-SHA256"), resumption: Resumption::EarlyData, ..none() },
            "only TLS 1.3",
        );
        let both = [of("ECDHE-RSA-AES128-GCM-SHA256"), of("TLS_AES_128_GCM_SHA256")].concat();
        refused(&Tls { versions: tls13, ciphers: both, ..none() }, "not among versions");
        let versions = vec![TlsVersion::Tls12, TlsVersion::Tls13];
        refused(&Tls { versions, ciphers: of("TLS_AES_128_GCM_SHA256"), ..none() }, "none of the ciphers");
        refused(&Tls { alpn: vec![String::new()], ..none() }, "alpn");
    }
}
