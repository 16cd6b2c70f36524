//! Two sessions and a link between them that delivers pieces of a chosen size.

use crate::certificates::Authority;
use wire::tls::{
    ClientSettings, Error, Resumption, ServerSettings, Session, TlsClient, TlsServer, Trust, Version,
};

pub const HOST: &str = "origin.test";

/// Settings of both ends that fit each other.
pub struct Ends {
    pub authority: Authority,
    pub client: ClientSettings,
    pub server: ServerSettings,
}

impl Ends {
    pub fn new(versions: &[Version], resumption: Resumption) -> Ends {
        let authority = Authority::new();
        let alpn = vec!["http/1.1".to_owned()];
        let client = ClientSettings {
            trust: Trust::Roots(authority.roots()),
            identity: None,
            versions: versions.to_vec(),
            suites: Vec::new(),
            alpn: alpn.clone(),
            sni: None,
            resumption,
            keep_certificates: true,
        };
        let server = ServerSettings {
            identity: authority.vouches_for(HOST),
            client_roots: None,
            versions: versions.to_vec(),
            suites: Vec::new(),
            alpn,
            resumption,
        };
        Ends { authority, client, server }
    }

    pub fn ready(&self) -> (TlsClient, TlsServer) {
        (TlsClient::new(&self.client).unwrap(), TlsServer::new(&self.server).unwrap())
    }
}

/// One end: its session, what arrived and is not opened, and what was.
pub struct End {
    pub session: Session,
    arrived: Vec<u8>,
    pub got: Vec<u8>,
    pub closed: bool,
}

impl End {
    fn new(session: Session) -> End {
        End { session, arrived: Vec::new(), got: Vec::new(), closed: false }
    }

    /// Takes what arrives, `step` bytes at a time, and appends the answer to `out`.
    pub fn take(&mut self, bytes: &[u8], step: usize, out: &mut Vec<u8>) -> Result<(), Error> {
        for part in bytes.chunks(step) {
            self.arrived.extend_from_slice(part);
            let opened = self.session.open(&mut self.arrived, out)?;
            self.got.extend_from_slice(&self.arrived[opened.plain]);
            self.arrived.drain(..opened.consumed);
            self.closed = opened.closed;
            opened.failed.map_or(Ok(()), Err)?;
        }
        Ok(())
    }
}

/// Both ends, and what is under way between them.
pub struct Link {
    pub client: End,
    pub server: End,
    pub to_server: Vec<u8>,
    pub to_client: Vec<u8>,
    pub step: usize,
}

impl Link {
    pub fn new(client: &TlsClient, server: &TlsServer, step: usize) -> Link {
        let mut to_server = Vec::new();
        let client = End::new(Session::client(client, HOST, &mut to_server).unwrap());
        let server = End::new(Session::server(server).unwrap());
        Link { client, server, to_server, to_client: Vec::new(), step }
    }

    /// Delivers until nothing is under way. The errors are the client's and the server's; an end that failed has still
    /// sent its alert.
    pub fn deliver(&mut self) -> (Option<Error>, Option<Error>) {
        let mut of_client = None;
        let mut of_server = None;
        while !self.to_server.is_empty() || !self.to_client.is_empty() {
            let bytes = std::mem::take(&mut self.to_server);
            if of_server.is_none() {
                of_server = self.server.take(&bytes, self.step, &mut self.to_client).err();
            }
            let bytes = std::mem::take(&mut self.to_client);
            if of_client.is_none() {
                of_client = self.client.take(&bytes, self.step, &mut self.to_server).err();
            }
        }
        (of_client, of_server)
    }

    /// Completes the handshake.
    #[track_caller]
    pub fn complete(client: &TlsClient, server: &TlsServer, step: usize) -> Link {
        let mut link = Link::new(client, server, step);
        assert_eq!(link.deliver(), (None, None));
        assert!(!link.client.session.is_handshaking() && !link.server.session.is_handshaking());
        link
    }
}
