//! TLS settings that ab gives in OpenSSL's words, as the plan has them.

use super::shown;
use crate::Shown;
use ::plan::{CipherSuite, Resumption, Tls, TlsVersion};

/// The value of `-f`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Versions {
    /// Whatever is known here.
    #[default]
    All,
    /// One.
    Only(TlsVersion),
    /// One that is spoken no more.
    Old(&'static str),
}

impl Versions {
    /// Reads the value as ab does: by its beginning, in letters of either case; `None` for a word that it ignores.
    pub fn read(text: &str) -> Option<Versions> {
        let begins =
            |word: &str| text.get(..word.len()).is_some_and(|front| front.eq_ignore_ascii_case(word));
        let known = [
            ("ALL", Versions::All),
            ("SSL2", Versions::Old("SSL2")),
            ("SSL3", Versions::Old("SSL3")),
            ("TLS1.1", Versions::Old("TLS1.1")),
            ("TLS1.2", Versions::Only(TlsVersion::Tls12)),
            ("TLS1.3", Versions::Only(TlsVersion::Tls13)),
            ("TLS1", Versions::Old("TLS1")),
        ];
        known.into_iter().find(|(word, _)| begins(word)).map(|(_, versions)| versions)
    }
}

/// Returns the TLS settings that clients begin with.
///
/// # Errors
/// A version that is spoken no more, a list that fits no suite.
pub(super) fn mean(
    versions: Versions,
    suites: Option<&str>,
    certificate: Option<&str>,
    server_name: Option<String>,
) -> Result<Tls, Shown> {
    let only = match versions {
        Versions::All => None,
        Versions::Only(version) => Some(version),
        Versions::Old(name) => {
            return Err(shown::failed(&format!(
                "ab: -f {name}: only TLS1.2 and TLS1.3 are spoken here; give one of them, or ALL"
            )));
        }
    };
    let ciphers = match suites {
        Some(list) => ciphers(list, only)
            .ok_or_else(|| shown::failed(&format!("error setting ciphersuite list [{list}]")))?,
        None => of(CipherSuite::like_openssl(), only),
    };
    Ok(Tls {
        verify: false,
        certificate: certificate.map(str::to_owned),
        key: certificate.map(str::to_owned),
        sni: Some(server_name.unwrap_or_default()),
        versions: only.into_iter().collect(),
        ciphers,
        alpn: Vec::new(),
        resumption: Resumption::Off,
        ..Tls::default()
    })
}

/// Those of the suites that belong to a version; `None`: all.
fn of(suites: impl IntoIterator<Item = CipherSuite>, only: Option<TlsVersion>) -> Vec<CipherSuite> {
    suites.into_iter().filter(|suite| only.is_none_or(|only| suite.version() == only)).collect()
}

/// The suites that an OpenSSL list means here; `None` where it means none. The list is about TLS 1.2 and leaves those of
/// TLS 1.3 alone, but with `-f TLS1.3` it is about them.
fn ciphers(list: &str, only: Option<TlsVersion>) -> Option<Vec<CipherSuite>> {
    let about = if only == Some(TlsVersion::Tls13) { TlsVersion::Tls13 } else { TlsVersion::Tls12 };
    let known: Vec<CipherSuite> = of(CipherSuite::like_openssl(), Some(about));
    let mut chosen: Vec<CipherSuite> = Vec::new();
    for word in list.split([':', ',', ' ']).filter(|word| !word.is_empty()) {
        let (removes, word) = match word.strip_prefix(['!', '-']) {
            Some(word) => (true, word),
            None => (false, word.trim_start_matches('+')),
        };
        let meant = matching(word, &known);
        match removes {
            true => chosen.retain(|suite| !meant.contains(suite)),
            false => {
                let new: Vec<_> = meant.into_iter().filter(|suite| !chosen.contains(suite)).collect();
                chosen.extend(new);
            }
        }
    }
    if chosen.is_empty() {
        return None;
    }
    if only.is_none() {
        chosen.extend(of(CipherSuite::like_openssl(), Some(TlsVersion::Tls13)));
    }
    Some(chosen)
}

/// The suites that one word of a list stands for: a name, or one of the groups of ciphers(1) that has some of ours.
fn matching(word: &str, known: &[CipherSuite]) -> Vec<CipherSuite> {
    if let Ok(suite) = CipherSuite::parse(word) {
        return known.iter().copied().filter(|known| *known == suite).collect();
    }
    let all_of = |part: &str, suite: &CipherSuite| match part {
        "ALL"
        | "DEFAULT"
        | "HIGH"
        | "COMPLEMENTOFDEFAULT"
        | "TLSv1.2"
        | "AEAD"
        | "ECDHE"
        | "EECDH"
        | "kECDHE"
        | "kEECDH" => true,
        "AESGCM" | "AES" => suite.to_string().contains("_AES_"),
        "AES128" => suite.to_string().contains("AES_128"),
        "AES256" => suite.to_string().contains("AES_256"),
        "CHACHA20" => suite.to_string().contains("CHACHA20"),
        "aRSA" => suite.to_string().contains("_RSA_"),
        "aECDSA" | "ECDSA" => suite.to_string().contains("ECDSA"),
        _ => false,
    };
    known.iter().copied().filter(|suite| word.split('+').all(|part| all_of(part, suite))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &str, only: Option<TlsVersion>) -> String {
        let chosen = ciphers(list, only).unwrap_or_default();
        let names: Vec<_> = chosen.iter().map(|suite| suite.number()).map(|n| format!("{n:x}")).collect();
        names.join(" ")
    }

    #[test]
    fn lists_of_openssl_are_understood() {
        let (tls12, tls13) = (Some(TlsVersion::Tls12), Some(TlsVersion::Tls13));
        for (list, only, meant) in [
            ("ECDHE-RSA-AES128-GCM-SHA256", tls12, "c02f"),
            ("ecdhe-rsa-aes128-gcm-sha256", None, "c02f 1302 1303 1301"),
            ("nosuch:ECDHE-RSA-AES128-GCM-SHA256", tls12, "c02f"),
            ("HIGH:!ECDSA", tls12, "c030 cca8 c02f"),
            ("ALL:!CHACHA20:!aECDSA:@STRENGTH", tls12, "c030 c02f"),
            ("ECDHE+AESGCM:-AES256", tls12, "c02b c02f"),
            ("TLS_AES_128_GCM_SHA256", tls13, "1301"),
            ("TLS_AES_128_GCM_SHA256", tls12, ""),
            ("nosuch", None, ""),
            ("RC4-MD5:!x", None, ""),
        ] {
            assert_eq!(names(list, only), meant, "{list}");
        }
    }

    #[test]
    fn versions_go_by_their_beginning() {
        for (text, versions) in [
            ("tls1.2", Some(Versions::Only(TlsVersion::Tls12))),
            ("TLS1.3x", Some(Versions::Only(TlsVersion::Tls13))),
            ("TLS1", Some(Versions::Old("TLS1"))),
            ("TLS1.1", Some(Versions::Old("TLS1.1"))),
            ("all", Some(Versions::All)),
            ("TLSv1.2", None),
            ("", None),
        ] {
            assert_eq!(Versions::read(text), versions, "{text}");
        }
    }
}
