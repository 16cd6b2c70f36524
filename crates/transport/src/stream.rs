//! [`TransportStream`]: a connection, plain or over TLS.

use crate::received::Received;
use crate::secure::{Handshake, Secure};
use net::{Buffer, Close, Event, Net};
use std::future::poll_fn;
use std::io;
use std::task::Poll;
use std::time::Instant;
use wire::tls::{PeerCertificate, TlsClient, TlsServer};

/// A connection, plain or over TLS. Dropping it closes it gracefully, but without close_notify.
///
/// Where TLS fails, the error holds a [`wire::tls::Error`]: see [`tls_error`](crate::tls_error).
#[derive(Debug)]
pub enum TransportStream {
    /// TCP as it is.
    Plain(net::Stream),
    /// TLS over TCP.
    Tls(Box<Secure>),
}

impl TransportStream {
    /// Begins TLS as a client of a host and completes the handshake, until the stream's deadline. Where the last connection
    /// left a ticket that allows early data, nothing is sent yet: the first [`send`](Self::send) takes the handshake along.
    ///
    /// # Errors
    /// An error of the system, or of TLS.
    pub async fn client(
        net: &Net,
        stream: net::Stream,
        client: &TlsClient,
        host: &str,
    ) -> io::Result<TransportStream> {
        Ok(TransportStream::Tls(Box::new(Secure::client(net, stream, client, host).await?)))
    }

    /// Begins TLS as a server; the handshake goes along with the first [`recv`](Self::recv).
    ///
    /// # Errors
    /// Of TLS.
    pub fn server(net: &Net, stream: net::Stream, server: &TlsServer) -> io::Result<TransportStream> {
        Ok(TransportStream::Tls(Box::new(Secure::server(net, stream, server)?)))
    }

    /// Receives what there is, for tasks that would rather be polled than await [`recv`](Self::recv). `None`: something has to
    /// be sent first, or went wrong, and `recv` is the one to go on with.
    #[inline]
    pub fn poll_recv(&mut self) -> Poll<Option<io::Result<Received>>> {
        match self {
            TransportStream::Plain(stream) => {
                stream.poll_recv().map(|received| Some(received.map(Received::from)))
            }
            TransportStream::Tls(stream) => stream.poll_recv(),
        }
    }

    /// Receives what has come, without waiting. `None`: nothing has, but for records of TLS's own; empty: the end of the stream.
    ///
    /// # Errors
    /// As [`recv`](Self::recv), but for the deadline.
    pub fn try_recv(&mut self) -> io::Result<Option<Received>> {
        match self {
            TransportStream::Plain(stream) => Ok(stream.try_recv()?.map(Received::from)),
            TransportStream::Tls(stream) => stream.try_recv(),
        }
    }

    /// Sends what there is room for without waiting; says how many bytes of the message that was. Where it is not all of it, the
    /// rest is for [`send`](Self::send). Over TLS it is all or nothing, and what of a record there was no room for goes out
    /// with the next operation.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    #[inline]
    pub fn try_send(&mut self, message: &[u8]) -> io::Result<usize> {
        match self {
            TransportStream::Plain(stream) => stream.try_send(message),
            TransportStream::Tls(stream) => stream.try_send(message),
        }
    }

    /// Receives what there is; waits if there is nothing. Empty means end of stream.
    ///
    /// # Errors
    /// As [`net::Stream::recv`]; and of TLS, where the end came without close_notify, too.
    #[inline]
    pub async fn recv(&mut self) -> io::Result<Received> {
        match self {
            TransportStream::Plain(stream) => poll_fn(|_| stream.poll_recv()).await.map(Received::from),
            TransportStream::Tls(stream) => stream.recv().await,
        }
    }

    /// As [`recv`](Self::recv), but another task may end the wait by raising the signal: `None` then; nothing of what arrives
    /// is lost.
    ///
    /// # Errors
    /// As [`recv`](Self::recv).
    pub async fn recv_or_woken(&mut self, signal: &Event) -> io::Result<Option<Received>> {
        match self {
            TransportStream::Plain(stream) => {
                stream.recv_or_woken(signal).await.map(|received| received.map(Received::from))
            }
            TransportStream::Tls(stream) => stream.recv_or_woken(signal).await,
        }
    }

    /// As [`recv`](Self::recv), but at most `max` bytes (at least one), for readers that are slow on purpose.
    ///
    /// # Errors
    /// As [`recv`](Self::recv).
    pub async fn recv_at_most(&mut self, max: usize) -> io::Result<Received> {
        match self {
            TransportStream::Plain(stream) => stream.recv_at_most(max).await.map(Received::from),
            TransportStream::Tls(stream) => stream.recv_at_most(max.max(1)).await,
        }
    }

    /// Throws away received bytes, at most `max` (at least one); waits if there is nothing. Returns how many; 0 means end of
    /// stream. Plain bytes are not even copied.
    ///
    /// # Errors
    /// As [`recv`](Self::recv).
    pub async fn discard(&mut self, max: u64) -> io::Result<u64> {
        match self {
            TransportStream::Plain(stream) => stream.discard(max).await,
            TransportStream::Tls(stream) => stream.discard(max.max(1)).await,
        }
    }

    /// Sends the whole message.
    ///
    /// # Errors
    /// As [`net::Stream::send`]; and of TLS.
    #[inline]
    pub async fn send(&mut self, message: Buffer) -> io::Result<()> {
        match self {
            TransportStream::Plain(stream) => stream.send(message).await,
            TransportStream::Tls(stream) => stream.send(message).await,
        }
    }

    /// Sends the end of a handshake, where it still waits to go along with the first message: for a connection that is opened
    /// before there is anything to send.
    ///
    /// # Errors
    /// As [`net::Stream::send`].
    pub async fn flush(&mut self) -> io::Result<()> {
        match self {
            TransportStream::Plain(_) => Ok(()),
            TransportStream::Tls(stream) => stream.flush().await,
        }
    }

    /// Sends `head` and then the pieces of `body`.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub async fn send_with(&mut self, head: Buffer, body: &[&'static [u8]]) -> io::Result<()> {
        match self {
            TransportStream::Plain(stream) => stream.send_with(head, body).await,
            TransportStream::Tls(stream) => stream.send_with(&head, body).await,
        }
    }

    /// Sends the pieces of `body`.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub async fn send_static(&mut self, body: &[&'static [u8]]) -> io::Result<()> {
        match self {
            TransportStream::Plain(stream) => stream.send_static(body).await,
            TransportStream::Tls(stream) => stream.send_with(&[], body).await,
        }
    }

    /// Until when operations may wait; see [`net::Stream::set_deadline`].
    pub fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.socket().set_deadline(deadline);
    }

    /// Tells the peer that nothing more will be sent; receiving goes on.
    ///
    /// # Errors
    /// As [`net::Stream::shutdown_write`].
    pub async fn shutdown_write(&mut self) -> io::Result<()> {
        if let TransportStream::Tls(stream) = self {
            stream.say_goodbye().await;
        }
        self.socket().shutdown_write()
    }

    /// True if nothing has come that was not received; see [`net::Stream::is_quiet`].
    #[inline]
    pub fn is_quiet(&self) -> bool {
        match self {
            TransportStream::Plain(stream) => stream.is_quiet(),
            TransportStream::Tls(stream) => stream.is_quiet(),
        }
    }

    /// True if nobody has read what was sent last; see [`net::Stream::is_refused`].
    pub fn is_refused(&mut self) -> bool {
        self.socket().is_refused()
    }

    /// Closes the connection; over TLS a graceful close says close_notify first.
    pub async fn close(self, how: Close) {
        match self {
            TransportStream::Plain(stream) => stream.close(how),
            TransportStream::Tls(mut stream) => {
                if how == Close::Graceful {
                    stream.say_goodbye().await;
                }
                stream.into_socket().close(how);
            }
        }
    }

    /// Completes the handshake, where a server has answered early data before: closing on what the client still sends would
    /// reset the connection.
    ///
    /// # Errors
    /// As [`recv`](Self::recv).
    pub async fn complete(&mut self) -> io::Result<()> {
        match self {
            TransportStream::Plain(_) => Ok(()),
            TransportStream::Tls(stream) => stream.complete().await,
        }
    }

    /// Takes the outcome of the handshake, once, when it is complete; `None` for a plain stream.
    pub fn take_handshake(&mut self) -> Option<Handshake> {
        match self {
            TransportStream::Plain(_) => None,
            TransportStream::Tls(stream) => stream.take_handshake(),
        }
    }

    /// The server's certificate, once, when the handshake is complete, where the client keeps it.
    pub fn take_peer(&mut self) -> Option<PeerCertificate> {
        match self {
            TransportStream::Plain(_) => None,
            TransportStream::Tls(stream) => stream.take_peer(),
        }
    }

    fn socket(&mut self) -> &mut net::Stream {
        match self {
            TransportStream::Plain(stream) => stream,
            TransportStream::Tls(stream) => stream.socket(),
        }
    }
}

impl From<net::Stream> for TransportStream {
    fn from(stream: net::Stream) -> TransportStream {
        TransportStream::Plain(stream)
    }
}
