//! Cipher suites as OpenSSL's lists name them (ciphers(1)), for doors of tools that hand such lists on to it.

use ::plan::{CipherSuite, TlsVersion};

/// Suites of a version, the strongest first; `None`: of all.
pub(crate) fn of(only: Option<TlsVersion>) -> Vec<CipherSuite> {
    let known = CipherSuite::like_openssl().into_iter();
    known.filter(|suite| only.is_none_or(|only| suite.version() == only)).collect()
}

/// The suites of a version that a list means, in its order; `None` where it means none of them.
pub(crate) fn suites(list: &str, version: TlsVersion) -> Option<Vec<CipherSuite>> {
    let known = of(Some(version));
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
    Some(chosen).filter(|chosen| !chosen.is_empty())
}

/// The suites that a list for TLS 1.2 means, and those of TLS 1.3, which it leaves alone; `None` where it means none.
pub(crate) fn listed(list: &str) -> Option<Vec<CipherSuite>> {
    let mut chosen = suites(list, TlsVersion::Tls12)?;
    chosen.extend(of(Some(TlsVersion::Tls13)));
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

    #[test]
    fn lists_of_openssl_are_understood() {
        let names = |list: &str, version| {
            let chosen = suites(list, version).unwrap_or_default();
            let names: Vec<_> = chosen.iter().map(|suite| format!("{:x}", suite.number())).collect();
            names.join(" ")
        };
        let tls12 = TlsVersion::Tls12;
        let tls13 = TlsVersion::Tls13;
        for (list, version, meant) in [
            ("ECDHE-RSA-AES128-GCM-SHA256", tls12, "c02f"),
            ("nosuch:ecdhe-rsa-aes128-gcm-sha256", tls12, "c02f"),
            ("HIGH:!ECDSA", tls12, "c030 cca8 c02f"),
            ("ALL:!CHACHA20:!aECDSA:@STRENGTH", tls12, "c030 c02f"),
            ("ECDHE+AESGCM:-AES256", tls12, "c02b c02f"),
            ("TLS_AES_128_GCM_SHA256", tls13, "1301"),
            ("TLS_AES_128_GCM_SHA256", tls12, ""),
            ("nosuch", tls12, ""),
            ("RC4-MD5:!x", tls12, ""),
        ] {
            assert_eq!(names(list, version), meant, "{list}");
        }
    }
}
