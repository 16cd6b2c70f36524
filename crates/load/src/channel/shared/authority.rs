//! The hosts that a shared connection carries requests for: the one that it was opened for and, where the plan asks for it, others at
//! the same address (RFC 9113 section 9.1.1).
//!
//! Start reading at [`Authority::includes`].

use crate::channel::Destination;
use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;
use wire::tls::PeerCertificate;

/// Pairs remembered of a host that a connection was opened for and one that was misdirected over it; beyond, none is.
const MOST_APART: usize = 4096;
/// Hosts of which a connection remembers whether its certificate is for them, too.
const MOST_KNOWN: usize = 256;

/// Hosts whose requests do not go over connections of others, because a server of a worker has answered 421 there.
#[derive(Default)]
pub(in crate::channel) struct Apart(RefCell<HashSet<(Box<str>, Box<str>)>>);

impl Apart {
    /// Over a connection that was opened for `own`, `other` is misdirected.
    fn add(&self, own: &str, other: &str) {
        let mut apart = self.0.borrow_mut();
        if apart.len() < MOST_APART {
            apart.insert((own.into(), other.into()));
        }
    }

    fn contains(&self, own: &str, other: &str) -> bool {
        let apart = self.0.borrow();
        !apart.is_empty() && apart.contains(&(own.into(), other.into()))
    }
}

/// The hosts that a connection may carry requests for.
pub(super) struct Authority {
    /// The host that it was opened for; `None`: whatever goes by way of the target.
    host: Option<Box<str>>,
    /// TLS was begun.
    secure: bool,
    /// Other hosts, too, but for those apart.
    coalesce: Option<Rc<Apart>>,
    /// The certificate that the server has shown.
    certificate: RefCell<Option<PeerCertificate>>,
    /// Hosts that the certificate was looked at for, and whether it is for them.
    known: RefCell<Vec<(Box<str>, bool)>>,
}

impl Authority {
    /// Of a connection that was opened for this. `apart`: where others may share it.
    pub fn new(opened_for: &Destination<'_>, apart: Option<Rc<Apart>>) -> Authority {
        Authority {
            host: opened_for.host().map(Box::from),
            secure: opened_for.secure.is_some(),
            coalesce: apart,
            certificate: RefCell::default(),
            known: RefCell::default(),
        }
    }

    /// The server has shown this certificate.
    pub fn show(&self, certificate: Option<PeerCertificate>) {
        *self.certificate.borrow_mut() = certificate;
    }

    /// True if it was opened for another host than that of a destination.
    #[inline]
    pub fn is_another(&self, destination: &Destination<'_>) -> bool {
        self.host.as_deref() != destination.host()
    }

    /// True if requests to a destination at its address may go over it.
    #[inline]
    pub fn includes(&self, destination: &Destination<'_>) -> bool {
        self.secure == destination.secure.is_some()
            && (!self.is_another(destination) || self.covers(destination))
    }

    /// A request to a destination was answered 421 over it.
    pub fn misdirects(&self, destination: &Destination<'_>) {
        if let (Some(apart), Some(own), Some(other)) = (&self.coalesce, &self.host, destination.host()) {
            apart.add(own, other);
        }
    }

    /// True if it is for another host, too.
    fn covers(&self, destination: &Destination<'_>) -> bool {
        let (Some(apart), Some(own), Some(other)) = (&self.coalesce, &self.host, destination.host()) else {
            return false;
        };
        // What goes through a tunnel has its own.
        destination.tunnel.is_none()
            && !apart.contains(own, other)
            && (!self.secure || self.is_certified_for(other))
    }

    fn is_certified_for(&self, host: &str) -> bool {
        let mut known = self.known.borrow_mut();
        if let Some((_, covers)) = known.iter().find(|(known, _)| **known == *host) {
            return *covers;
        }
        let certificate = self.certificate.borrow();
        // Before the handshake is complete, nothing was shown.
        let Some(certificate) = certificate.as_ref() else { return false };
        let covers = certificate.is_for(host);
        if known.len() < MOST_KNOWN {
            known.push((host.into(), covers));
        }
        covers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(host: &str) -> Destination<'_> {
        Destination { to: &[], in_order: false, host: Some(host), secure: None, tunnel: None }
    }

    #[test]
    fn without_tls_an_address_is_enough_where_that_is_asked_for() {
        let alone = Authority::new(&plain("a.test"), None);
        assert!(alone.includes(&plain("a.test")) && !alone.includes(&plain("b.test")));
        let shared = Authority::new(&plain("a.test"), Some(Rc::default()));
        assert!(shared.includes(&plain("b.test")) && shared.is_another(&plain("b.test")));
        let secure = Destination { host: None, secure: Some("b.test"), ..plain("") };
        assert!(!shared.includes(&secure), "TLS is not spoken");
    }

    #[test]
    fn with_tls_a_certificate_must_be_known() {
        let secure = |host| Destination { host: None, secure: Some(host), ..plain("") };
        let shared = Authority::new(&secure("a.test"), Some(Rc::default()));
        assert!(shared.includes(&secure("a.test")) && !shared.includes(&secure("b.test")));
    }

    #[test]
    fn what_was_misdirected_stays_apart_on_all_connections_of_that_host() {
        let apart = Rc::<Apart>::default();
        let of = |host| Authority::new(&plain(host), Some(apart.clone()));
        of("a.test").misdirects(&plain("b.test"));
        assert!(!of("a.test").includes(&plain("b.test")));
        assert!(of("a.test").includes(&plain("c.test")) && of("c.test").includes(&plain("b.test")));
    }

    #[test]
    fn what_goes_by_way_of_the_target_shares_its_connection() {
        let target = Destination { host: None, ..plain("") };
        assert!(Authority::new(&target, None).includes(&target));
        assert!(!Authority::new(&target, Some(Rc::default())).includes(&plain("a.test")));
    }
}
