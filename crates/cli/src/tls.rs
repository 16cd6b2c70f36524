//! TLS options: of clients ([`TlsArgs`]), for each command that has some, and of the origin ([`OriginTlsArgs`]).

use super::values::secret;
use clap::Args;
use plan::{CipherSuite, Keystore, OriginTls, Resumption, Secret, Tls, TlsVersion};

/// How clients speak TLS, where they do: to `https://` addresses.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "TLS of clients")]
pub struct TlsArgs {
    /// Take any certificate, whoever signed it and for whatever name
    #[arg(long, short = 'k')]
    pub insecure: bool,
    /// PEM file of certificates to trust instead of the system's
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    pub ca: Option<String>,
    /// PEM file of a client certificate and those that vouch for it
    #[arg(long, value_name = "FILE", requires = "key")]
    pub cert: Option<String>,
    /// PEM file of its private key
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub key: Option<String>,
    /// Keystore (PKCS #12) with a client certificate and its key, in place of both files
    #[arg(long, value_name = "FILE", conflicts_with = "cert", requires = "keystore_password")]
    pub keystore: Option<String>,
    /// Its password; env:NAME or file:PATH keeps it out of the process list
    #[arg(long, value_name = "PASSWORD", value_parser = secret, requires = "keystore")]
    pub keystore_password: Option<Secret>,
    /// Name of the key in it [default: the first]
    #[arg(long, value_name = "NAME", requires = "keystore")]
    pub keystore_alias: Option<String>,
    /// Name to ask for and to verify instead of the host's; "" asks for none
    #[arg(long, value_name = "NAME")]
    pub sni: Option<String>,
    /// Versions to offer: 1.2, 1.3 or 1.2,1.3 [default: both]
    #[arg(long, value_name = "VERSIONS", value_delimiter = ',', value_parser = TlsVersion::parse)]
    pub tls_versions: Vec<TlsVersion>,
    /// Cipher suites to offer, best first, by IANA's names or OpenSSL's [default: all known]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = CipherSuite::parse)]
    pub tls_ciphers: Vec<CipherSuite>,
    /// Resumption of a user's TLS sessions: off, on (the session) or 0-rtt (and early data) [default: on]
    #[arg(long, value_name = "WHAT", value_parser = Resumption::parse)]
    pub resumption: Option<Resumption>,
}

impl TlsArgs {
    /// Returns the settings that these options describe, where TLS is spoken.
    pub fn tls(&self) -> Tls {
        Tls {
            verify: !self.insecure,
            ca: self.ca.clone(),
            certificate: self.cert.clone(),
            key: self.key.clone(),
            keystore: self.keystore(),
            sni: self.sni.clone(),
            versions: self.tls_versions.clone(),
            ciphers: self.tls_ciphers.clone(),
            resumption: self.resumption.unwrap_or_default(),
            ..Tls::default()
        }
    }

    fn keystore(&self) -> Option<Keystore> {
        let (file, password) = self.keystore.clone().zip(self.keystore_password.clone())?;
        Some(Keystore { file, password, alias: self.keystore_alias.clone() })
    }

    /// The first of them that was given: where TLS is not spoken it would have no effect.
    pub fn given(&self) -> Option<&'static str> {
        let given = [
            (self.insecure, "--insecure"),
            (self.ca.is_some(), "--ca"),
            (self.cert.is_some(), "--cert"),
            (self.keystore.is_some(), "--keystore"),
            (self.sni.is_some(), "--sni"),
            (!self.tls_versions.is_empty(), "--tls-versions"),
            (!self.tls_ciphers.is_empty(), "--tls-ciphers"),
            (self.resumption.is_some(), "--resumption"),
        ];
        given.into_iter().find(|(given, _)| *given).map(|(_, name)| name)
    }
}

/// How the origin speaks TLS.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "TLS of the origin")]
pub struct OriginTlsArgs {
    /// The origin speaks TLS, with a certificate that it makes itself unless it is given one
    #[arg(long)]
    pub origin_tls: bool,
    /// PEM file of the origin's certificate and those that vouch for it
    #[arg(long, value_name = "FILE", requires = "origin_key")]
    pub origin_cert: Option<String>,
    /// PEM file of its private key
    #[arg(long, value_name = "FILE", requires = "origin_cert")]
    pub origin_key: Option<String>,
    /// Names in the certificate that the origin makes itself [default: localhost,127.0.0.1,::1]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', conflicts_with = "origin_cert")]
    pub origin_names: Vec<String>,
    /// Write the origin's certificate to a PEM file, for whoever is to trust it
    #[arg(long, value_name = "FILE")]
    pub origin_save_cert: Option<String>,
    /// Demand client certificates that those in this PEM file vouch for
    #[arg(long, value_name = "FILE")]
    pub origin_client_ca: Option<String>,
    /// Versions to take [default: both]
    #[arg(long, value_name = "VERSIONS", value_delimiter = ',', value_parser = TlsVersion::parse)]
    pub origin_tls_versions: Vec<TlsVersion>,
    /// Cipher suites to take, best first [default: all known]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = CipherSuite::parse)]
    pub origin_tls_ciphers: Vec<CipherSuite>,
    /// Resumption that clients may use: off, on or 0-rtt [default: on]
    #[arg(long, value_name = "WHAT", value_parser = Resumption::parse)]
    pub origin_resumption: Option<Resumption>,
}

impl OriginTlsArgs {
    /// Returns the settings that these options describe; any of them means that the origin speaks TLS.
    pub fn tls(&self) -> Option<OriginTls> {
        let plain = OriginTls::default();
        let names =
            if self.origin_names.is_empty() { plain.names.clone() } else { self.origin_names.clone() };
        let tls = OriginTls {
            certificate: self.origin_cert.clone(),
            key: self.origin_key.clone(),
            names,
            save_certificate: self.origin_save_cert.clone(),
            client_ca: self.origin_client_ca.clone(),
            versions: self.origin_tls_versions.clone(),
            ciphers: self.origin_tls_ciphers.clone(),
            resumption: self.origin_resumption.unwrap_or_default(),
            ..plain.clone()
        };
        let asked = self.origin_tls || self.origin_resumption.is_some() || tls != plain;
        asked.then_some(tls)
    }
}
