//! [`Secure`]: TLS over a socket.
//!
//! Bytes that arrive are opened in the buffer that they arrived in and lent on from there. Only the beginning of a record whose
//! end is still to come is copied, into the buffer that the rest is then received behind.

use crate::received::Received;
use net::{Buffer, Event, Lent, Net};
use std::io;
use std::task::Poll;
use std::time::{Duration, Instant};
use wire::tls::{Error, PeerCertificate, Session, TlsClient, TlsServer};

/// Plaintext that is sealed before it is sent: the records then fill most of a pooled buffer.
const BATCH: usize = 48 * 1024;
/// Pieces sealed as one at most.
const PIECES: usize = 32;

/// TLS over a socket.
pub struct Secure {
    net: Net,
    socket: net::Stream,
    session: Session,
    is_client: bool,
    /// Received and not yet opened, from `at` on.
    sealed: Option<Buffer>,
    at: usize,
    /// Opened and not yet lent.
    opened: Option<Received>,
    /// Bytes that must go to the peer before anything else.
    out: Vec<u8>,
    /// Sent as early data, until it is known whether the server took it; and what was to follow.
    early: Option<Early>,
    /// The peer will send nothing more.
    closed: bool,
    /// Failure behind what is opened.
    failed: Option<Error>,
    began: Instant,
    handshake: Option<Handshake>,
    handshake_told: bool,
}

struct Early {
    message: Buffer,
    sent: usize,
}

/// Outcome of a handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handshake {
    /// Parameters that were agreed on.
    pub agreed: wire::tls::Handshake,
    /// From the first message until this end could send.
    pub took: Duration,
}

/// The failure of TLS that an error of a [`Stream`](crate::Stream) stands for, where it is one.
pub fn tls_error(error: &io::Error) -> Option<&Error> {
    error.get_ref()?.downcast_ref()
}

fn failed(error: Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

impl Secure {
    pub(crate) async fn client(
        net: &Net,
        socket: net::Stream,
        client: &TlsClient,
        host: &str,
    ) -> io::Result<Secure> {
        let began = net.now();
        let mut out = Vec::new();
        let session = Session::client(client, host, &mut out).map_err(failed)?;
        let mut secure = Secure { out, is_client: true, ..Secure::new(net, socket, session, began) };
        if !secure.session.may_send_early() {
            secure.shake_hands().await?;
        }
        Ok(secure)
    }

    pub(crate) fn server(net: &Net, socket: net::Stream, server: &TlsServer) -> io::Result<Secure> {
        let session = Session::server(server).map_err(failed)?;
        Ok(Secure::new(net, socket, session, net.turn()))
    }

    fn new(net: &Net, socket: net::Stream, session: Session, began: Instant) -> Secure {
        Secure {
            net: net.clone(),
            socket,
            session,
            is_client: false,
            sealed: None,
            at: 0,
            opened: None,
            out: Vec::new(),
            early: None,
            closed: false,
            failed: None,
            began,
            handshake: None,
            handshake_told: false,
        }
    }

    pub(crate) async fn recv(&mut self) -> io::Result<Received> {
        loop {
            if let Some(received) = self.take_opened() {
                return Ok(received);
            }
            self.advance().await?;
        }
    }

    pub(crate) async fn recv_or_woken(&mut self, signal: &Event) -> io::Result<Option<Received>> {
        loop {
            if let Some(received) = self.take_opened() {
                return Ok(Some(received));
            }
            // Only the wait for what arrives may end early: half a record that was begun to be sent could not be mended.
            self.prepare().await?;
            match self.socket.recv_or_woken(signal).await? {
                Some(received) => self.take_in(received).await?,
                None => return Ok(None),
            }
        }
    }

    /// As [`recv`](Self::recv), where nothing has to be sent before or because of what arrives; `None`: something has.
    pub(crate) fn poll_recv(&mut self) -> Poll<Option<io::Result<Received>>> {
        loop {
            if let Some(received) = self.take_opened() {
                return Poll::Ready(Some(Ok(received)));
            }
            if self.failed.is_some() || !self.out.is_empty() || self.session.is_handshaking() {
                return Poll::Ready(None);
            }
            let received = match self.socket.poll_recv() {
                Poll::Ready(received) => received,
                Poll::Pending => return Poll::Pending,
            };
            if let Err(error) = received.and_then(|received| self.open_behind(received)) {
                return Poll::Ready(Some(Err(error)));
            }
        }
    }

    /// Sends a message in records of its own, if data may be sent now and nothing has to go before it; how much of it that is:
    /// all or nothing. What there was no room for waits for the next operation.
    pub(crate) fn try_send(&mut self, message: &[u8]) -> io::Result<usize> {
        if !self.session.may_send() || !self.out.is_empty() || message.len() > BATCH {
            return Ok(0);
        }
        let mut out = self.net.buffer();
        self.session.seal(&[message], &mut out).map_err(failed)?;
        let sent = self.socket.try_send(&out)?;
        self.out.extend_from_slice(&out[sent..]);
        Ok(message.len())
    }

    /// Takes the bytes that are opened already, or the end of the stream.
    fn take_opened(&mut self) -> Option<Received> {
        let ended = || self.closed.then(Received::end_of_stream);
        self.opened.take().or_else(ended)
    }

    pub(crate) async fn recv_at_most(&mut self, max: usize) -> io::Result<Received> {
        let mut received = self.recv().await?;
        if received.len() <= max {
            return Ok(received);
        }
        let mut part = self.net.buffer();
        part.extend_from_slice(&received[..max]);
        received.skip(max);
        self.opened = Some(received);
        Ok(Received::copied(part))
    }

    pub(crate) async fn discard(&mut self, max: u64) -> io::Result<u64> {
        let mut received = self.recv().await?;
        let length = received.len() as u64;
        if length > max {
            received.skip(max as usize);
            self.opened = Some(received);
        }
        Ok(length.min(max))
    }

    pub(crate) async fn send(&mut self, message: Buffer) -> io::Result<()> {
        if self.session.may_send_early() {
            return self.send_early(message).await;
        }
        self.send_with(&message, &[]).await
    }

    /// The handshake's first message, and as much of a request behind it as the ticket allows.
    async fn send_early(&mut self, message: Buffer) -> io::Result<()> {
        let mut out = self.waiting();
        self.began = self.net.now();
        let sent = self.session.seal_early(&message, &mut out);
        self.early = Some(Early { message, sent });
        self.socket.send(out).await
    }

    pub(crate) async fn send_with(&mut self, head: &[u8], body: &[&'static [u8]]) -> io::Result<()> {
        if !self.session.may_send() {
            self.shake_hands().await?;
        }
        let mut pieces: [&[u8]; PIECES] = [&[]; PIECES];
        let mut waiting = std::iter::once(head).chain(body.iter().copied()).flat_map(|all| all.chunks(BATCH));
        let mut next = waiting.next();
        while next.is_some() {
            let mut count = 0;
            let mut bytes = 0;
            while let Some(piece) = next.filter(|piece| count < PIECES && bytes + piece.len() <= BATCH) {
                pieces[count] = piece;
                (count, bytes) = (count + 1, bytes + piece.len());
                next = waiting.next();
            }
            let mut out = self.waiting();
            self.session.seal(&pieces[..count], &mut out).map_err(failed)?;
            self.socket.send(out).await?;
        }
        Ok(())
    }

    /// A buffer with what must go to the peer first.
    fn waiting(&mut self) -> Buffer {
        let mut out = self.net.buffer();
        out.append(&mut self.out);
        out
    }

    /// Sends what must go to the peer.
    pub(crate) async fn flush(&mut self) -> io::Result<()> {
        if self.out.is_empty() {
            return Ok(());
        }
        let out = self.waiting();
        self.socket.send(out).await
    }

    /// Goes on until the handshake is complete: a server may have answered early data before.
    pub(crate) async fn complete(&mut self) -> io::Result<()> {
        while self.session.is_handshaking() {
            self.advance().await?;
        }
        Ok(())
    }

    /// Goes on until data may be sent.
    async fn shake_hands(&mut self) -> io::Result<()> {
        while !self.session.may_send() {
            if self.closed {
                return Err(failed(Error::unclosed(true)));
            }
            self.advance().await?;
        }
        Ok(())
    }

    /// Sends what must be sent, receives what there is, and opens it.
    async fn advance(&mut self) -> io::Result<()> {
        self.prepare().await?;
        let received = self.socket.recv().await?;
        self.take_in(received).await
    }

    /// Before a receive: tells what went wrong behind what was opened, and sends what must be sent.
    async fn prepare(&mut self) -> io::Result<()> {
        if let Some(error) = self.failed.take() {
            return Err(failed(error));
        }
        self.flush().await
    }

    /// Opens what was received, behind what waits to be opened, and sends what that leads to.
    async fn take_in(&mut self, received: Lent) -> io::Result<()> {
        let ended = received.is_empty();
        let shook_hands = self.session.is_handshaking();
        let opened = self.open_behind(received);
        if ended || opened.is_ok() && shook_hands && self.may_wait() {
            return opened;
        }
        // An alert, or the next part of the handshake. Whoever sent nonsense may be gone: what it was is the error then.
        let sent = self.flush().await;
        opened.and(sent)?;
        self.settle_early().await
    }

    /// True if the last messages of a handshake may go along with what is sent next, which saves both ends a packet: nobody waits
    /// for them, and a client sends its request now, as a server its answer. Whoever receives or closes instead sends them
    /// first; so does [`flush`](Self::flush).
    fn may_wait(&self) -> bool {
        let speaks_next = self.is_client || self.opened.is_some();
        speaks_next && !self.session.is_handshaking() && self.early.is_none() && self.failed.is_none()
    }

    /// Opens what was received, behind what waits to be opened.
    fn open_behind(&mut self, received: Lent) -> io::Result<()> {
        if received.is_empty() {
            return Err(failed(Error::unclosed(self.session.is_handshaking())));
        }
        match &mut self.sealed {
            None => (self.sealed, self.at) = (Some(received.into_buffer()), 0),
            Some(sealed) => sealed.extend_from_slice(&received),
        }
        self.open()
    }

    fn open(&mut self) -> io::Result<()> {
        let Some(mut sealed) = self.sealed.take() else { return Ok(()) };
        let handshaking = self.session.is_handshaking();
        let opened = self.session.open(&mut sealed[self.at..], &mut self.out);
        let opened = opened.map_err(failed)?;
        if handshaking && !self.session.is_handshaking() {
            self.note_handshake();
        }
        (self.closed, self.failed) = (opened.closed, opened.failed);
        let from = self.at + opened.plain.start;
        let to = self.at + opened.plain.end;
        self.at += opened.consumed;
        if self.at < sealed.len() && !self.closed {
            let mut rest = self.net.buffer();
            rest.extend_from_slice(&sealed[self.at..]);
            (self.sealed, self.at) = (Some(rest), 0);
        }
        if from < to {
            self.opened = Some(Received::opened(sealed, from..to));
        }
        Ok(())
    }

    fn note_handshake(&mut self) {
        let took = self.net.now().saturating_duration_since(self.began);
        self.handshake = self.session.handshake().map(|agreed| Handshake { agreed, took });
    }

    /// Once the handshake is complete: sends again what the server did not take early, and what it was not offered.
    async fn settle_early(&mut self) -> io::Result<()> {
        let Some(handshake) = &self.handshake else { return Ok(()) };
        let Some(early) = self.early.take() else { return Ok(()) };
        let taken = if handshake.agreed.early == Some(true) { early.sent } else { 0 };
        match &early.message[taken..] {
            [] => Ok(()),
            rest => {
                self.session.seal(&[rest], &mut self.out).map_err(failed)?;
                self.flush().await
            }
        }
    }

    /// Says close_notify, where the handshake got that far and the peer takes it.
    pub(crate) async fn say_goodbye(&mut self) {
        self.session.close(&mut self.out);
        // The peer may be gone already, and nothing more is wanted of it.
        let _ = self.flush().await;
    }

    pub(crate) fn take_handshake(&mut self) -> Option<Handshake> {
        if self.handshake_told {
            return None;
        }
        self.handshake_told = self.handshake.is_some();
        self.handshake
    }

    pub(crate) fn take_peer(&mut self) -> Option<PeerCertificate> {
        self.session.take_peer()
    }

    /// True if nothing has come that was not lent, as of the worker's last wait.
    pub(crate) fn is_quiet(&self) -> bool {
        self.opened.is_none() && !self.closed && self.failed.is_none() && self.socket.is_quiet()
    }

    /// Receives and opens what has come, without waiting. What a record of the session's own leads to, a ticket or new keys, goes out
    /// with the next operation.
    pub(crate) fn try_recv(&mut self) -> io::Result<Option<Received>> {
        loop {
            if let Some(received) = self.take_opened() {
                return Ok(Some(received));
            }
            if let Some(error) = self.failed.take() {
                return Err(failed(error));
            }
            if self.session.is_handshaking() {
                return Ok(None);
            }
            match self.socket.try_recv()? {
                Some(received) => self.open_behind(received)?,
                None => return Ok(None),
            }
        }
    }

    pub(crate) fn socket(&mut self) -> &mut net::Stream {
        &mut self.socket
    }

    pub(crate) fn into_socket(self) -> net::Stream {
        self.socket
    }
}

impl std::fmt::Debug for Secure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Secure").field("socket", &self.socket).finish_non_exhaustive()
    }
}
