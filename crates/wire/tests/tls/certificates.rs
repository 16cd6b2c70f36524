//! Certificates made for tests: an authority, and what it vouches for.

use rcgen::{CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use std::sync::atomic::{AtomicU32, Ordering};
use wire::tls::{Certificates, Identity};

/// Authorities of one name would be taken for each other.
static COUNT: AtomicU32 = AtomicU32::new(0);

/// An authority of the test's own.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

impl Authority {
    pub fn new() -> Authority {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        params.distinguished_name = DistinguishedName::new();
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        params.distinguished_name.push(DnType::CommonName, format!("authority {number} of a test"));
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Authority { issuer: Issuer::new(params, key), pem }
    }

    pub fn roots(&self) -> Certificates {
        Certificates::of_pem(self.pem.as_bytes()).unwrap()
    }

    /// A certificate for a name that calls itself an authority, as `openssl req -x509` makes them.
    pub fn self_signed(name: &str) -> Identity {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        Identity::of_pem(certificate.pem().as_bytes(), key.serialize_pem().as_bytes()).unwrap()
    }

    pub fn vouches_for(&self, name: &str) -> Identity {
        self.identity(name, false)
    }

    pub fn expired(&self, name: &str) -> Identity {
        self.identity(name, true)
    }

    fn identity(&self, name: &str, expired: bool) -> Identity {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        if expired {
            (params.not_before, params.not_after) = (date_time_ymd(2001, 1, 1), date_time_ymd(2002, 1, 1));
        }
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        Identity::of_pem(certificate.pem().as_bytes(), key.serialize_pem().as_bytes()).unwrap()
    }
}
