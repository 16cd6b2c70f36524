//! The recorder's certificate authority: made once and kept, its key for its owner alone; and the certificates it makes for
//! each host as it is asked for.

use super::RecorderError;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyPair, KeyUsagePurpose,
};
use std::collections::HashMap;
use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

const CERTIFICATE: &str = "ca.pem";
const KEY: &str = "ca-key.pem";
/// Hosts whose certificates are kept at once.
const MOST: usize = 1000;

/// Makes certificates for hosts.
pub(super) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    /// Its own certificate, which goes behind those that it makes: Chromium knows it by its key there.
    certificate: CertificateDer<'static>,
    certificate_file: PathBuf,
    made: Mutex<HashMap<String, Arc<ServerConfig>>>,
}

impl Authority {
    /// The authority of a folder; it is made where there is none.
    pub(super) fn of_folder(folder: &Path) -> Result<Authority, RecorderError> {
        let failed = |why: String| {
            RecorderError::Impossible(format!("the recorder's authority in {}: {why}", folder.display()))
        };
        let key = key(folder).map_err(failed)?;
        let certificate_file = folder.join(CERTIFICATE);
        let params = params();
        if !certificate_file.exists() {
            let certificate = params.self_signed(&key).map_err(|error| failed(error.to_string()))?;
            write(&certificate_file, certificate.pem().as_bytes(), 0o644)
                .map_err(|error| failed(error.to_string()))?;
        }
        let certificate = CertificateDer::from_pem_file(&certificate_file)
            .map_err(|error| failed(format!("{CERTIFICATE} holds no certificate: {error}; remove it")))?;
        let issuer = Issuer::new(params, key);
        Ok(Authority { issuer, certificate, certificate_file, made: Mutex::default() })
    }

    /// The file that a browser is to trust.
    pub(super) fn certificate_file(&self) -> &Path {
        &self.certificate_file
    }

    /// TLS for a host, with a certificate for it.
    pub(super) fn server(&self, host: &str) -> Result<Arc<ServerConfig>, String> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = made.get(host) {
            return Ok(known.clone());
        }
        let server = Arc::new(self.make(host)?);
        if made.len() >= MOST {
            made.clear();
        }
        made.insert(host.to_owned(), server.clone());
        Ok(server)
    }

    fn make(&self, host: &str) -> Result<ServerConfig, String> {
        let said = |error: &dyn std::fmt::Display| format!("no certificate for {host}: {error}");
        let mut params = CertificateParams::new(vec![host.trim_matches(['[', ']']).to_owned()])
            .map_err(|error| said(&error))?;
        params.distinguished_name.push(DnType::CommonName, "wringer record");
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        // Browsers take none that is valid for much longer than a year.
        let today = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date();
        let day = |days: i64| {
            let date = today.saturating_add(jiff::Span::new().days(days));
            rcgen::date_time_ymd(date.year().into(), date.month() as u8, date.day() as u8)
        };
        (params.not_before, params.not_after) = (day(-1), day(90));
        let key = KeyPair::generate().map_err(|error| said(&error))?;
        let certificate = params.signed_by(&key, &self.issuer).map_err(|error| said(&error))?;
        let der = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let mut server = ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone(), self.certificate.clone()], der)
            .map_err(|error| said(&error))?;
        server.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(server)
    }
}

/// The authority's certificate but for its key: the same each time, so that the key alone has to be read.
fn params() -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, "wringer record authority");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

/// The key of a folder, made where there is none. One that others may read is closed to them.
fn key(folder: &Path) -> Result<KeyPair, String> {
    let file = folder.join(KEY);
    let said = |error: io::Error| format!("{}: {error}", file.display());
    match fs::read_to_string(&file) {
        Ok(text) => {
            fs::set_permissions(&file, Permissions::from_mode(0o600)).map_err(said)?;
            KeyPair::from_pem(&text)
                .map_err(|error| format!("{} holds no key: {error}; remove it", file.display()))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(said)?;
            // A certificate of an older key would be of no use.
            let _ = fs::remove_file(folder.join(CERTIFICATE));
            let key = KeyPair::generate().map_err(|error| error.to_string())?;
            write(&file, key.serialize_pem().as_bytes(), 0o600).map_err(said)?;
            Ok(key)
        }
        Err(error) => Err(said(error)),
    }
}

fn write(file: &Path, content: &[u8], mode: u32) -> io::Result<()> {
    let mut open = OpenOptions::new().write(true).create_new(true).mode(mode).open(file)?;
    open.write_all(content)
}
