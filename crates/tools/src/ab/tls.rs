//! TLS settings that ab gives in OpenSSL's words, as the plan has them.

use super::shown;
use crate::{ToolShown, openssl};
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
) -> Result<Tls, ToolShown> {
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
        None => openssl::of(only),
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

/// The suites that an OpenSSL list means here; `None` where it means none. The list is about TLS 1.2 and leaves those of
/// TLS 1.3 alone, but with `-f TLS1.3` it is about them.
fn ciphers(list: &str, only: Option<TlsVersion>) -> Option<Vec<CipherSuite>> {
    match only {
        Some(version) => openssl::suites(list, version),
        None => openssl::listed(list),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_leaves_the_suites_of_the_other_version_alone() {
        let count = |list: &str, only| ciphers(list, only).map(|chosen| chosen.len());
        let one = "ECDHE-RSA-AES128-GCM-SHA256";
        assert_eq!((count(one, None), count(one, Some(TlsVersion::Tls12))), (Some(4), Some(1)));
        assert_eq!(
            (count("TLS_AES_128_GCM_SHA256", Some(TlsVersion::Tls13)), count("nosuch", None)),
            (Some(1), None)
        );
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
