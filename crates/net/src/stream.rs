//! [`Stream`]: a TCP connection with operations that complete.
//!
//! It must not know how the backend learns that an operation can go on. One operation at a time, by `&mut self`, or one each
//! way after [`Stream::split`]; dropping the future of an operation that waits leaves nothing behind, and an operation that moved bytes has completed, except
//! that a dropped send may have sent a part.

use std::cell::Cell;
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::rc::Rc;
use std::task::Poll;
use std::time::{Duration, Instant};

use crate::backend::{BackendSocket, Driver};
use crate::buffer::{Buffer, Lent};
use crate::event::Event;
use crate::options::{Close, ConnectOptions};
use crate::sleep::Sleep;
use crate::turn::Turn;

/// A TCP connection. Dropping it closes it gracefully.
pub struct Stream {
    socket: BackendSocket,
    /// Bytes that must have arrived before a wait is over.
    low_water: Cell<u32>,
}

/// Time after which the full queue of a Unix socket is tried again.
const FULL_QUEUE: Duration = Duration::from_millis(1);

/// The rest of a body is waited for in pieces of at most this, in bytes; as much as one call throws away.
const LONG_WAIT: u64 = 1 << 20;
/// Waiting for less than this in one piece saves nothing, in bytes.
const SHORT_WAIT: u64 = 128 << 10;

impl Stream {
    pub(crate) async fn connect(
        driver: &Driver,
        turn: &Rc<Turn>,
        to: SocketAddr,
        options: &ConnectOptions,
    ) -> io::Result<Self> {
        let socket = BackendSocket::connect(driver, turn, to, options)?;
        socket.set_deadline(options.deadline);
        poll_fn(|_| socket.poll_connected()).await?;
        socket.set_deadline(None);
        Ok(Self::new(socket))
    }

    /// A connection to a Unix socket is made at once, or not at all; a queue that is full is tried again.
    pub(crate) async fn connect_unix(
        driver: &Driver,
        turn: &Rc<Turn>,
        path: &Path,
        deadline: Option<Instant>,
    ) -> io::Result<Self> {
        loop {
            match BackendSocket::connect_unix(driver, turn, path) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                made => return Ok(Self::new(made?)),
            }
            let now = driver.now();
            if deadline.is_some_and(|deadline| now >= deadline) {
                return Err(io::ErrorKind::TimedOut.into());
            }
            Sleep::new(turn.clone(), now + FULL_QUEUE).await;
        }
    }

    pub(crate) fn new(socket: BackendSocket) -> Self {
        Self { socket, low_water: Cell::new(1) }
    }

    /// Receives what there is, at most a buffer full; waits if there is nothing. Empty means end of stream.
    ///
    /// # Errors
    ///
    /// [`ConnectionReset`](io::ErrorKind::ConnectionReset) and what else the system says;
    /// [`TimedOut`](io::ErrorKind::TimedOut) at the deadline.
    pub async fn recv(&mut self) -> io::Result<Lent> {
        self.receive(usize::MAX).await
    }

    /// As [`recv`](Self::recv), for a future of one's own.
    ///
    /// # Errors
    ///
    /// As [`recv`](Self::recv).
    #[inline]
    pub fn poll_recv(&mut self) -> Poll<io::Result<Lent>> {
        self.wait_for(1)?;
        self.socket.poll_recv(usize::MAX)
    }

    /// As [`recv`](Self::recv), but at most `max` bytes (at least one), for readers that are slow on purpose.
    ///
    /// # Errors
    ///
    /// As [`recv`](Self::recv).
    pub async fn recv_at_most(&mut self, max: usize) -> io::Result<Lent> {
        self.receive(max.max(1)).await
    }

    /// Receives what has come, a buffer full at most, without waiting. `None`: nothing has; empty: the end of the stream.
    ///
    /// # Errors
    ///
    /// As [`recv`](Self::recv), but for the deadline.
    pub fn try_recv(&mut self) -> io::Result<Option<Lent>> {
        self.socket.try_recv()
    }

    /// As [`recv`](Self::recv), but another task may end the wait by raising the signal: `None` then, and the signal is
    /// lowered. What has arrived comes first, and the signal stays raised for the next wait.
    ///
    /// # Errors
    ///
    /// As [`recv`](Self::recv).
    pub async fn recv_or_woken(&mut self, signal: &Event) -> io::Result<Option<Lent>> {
        self.wait_for(1)?;
        poll_fn(|_| match self.socket.poll_recv(usize::MAX) {
            Poll::Pending => signal.poll_wait().map(|()| Ok(None)),
            received => received.map_ok(Some),
        })
        .await
    }

    /// Throws away received bytes without copying them: what there is, at most `max` (at least one) and at most 1 MiB.
    /// Waits if there is nothing; where `max` is large, it may wait until much of it has arrived, so `max` must be no more
    /// than what the peer still owes. Returns how many; 0 means end of stream.
    ///
    /// # Errors
    ///
    /// As [`recv`](Self::recv).
    pub async fn discard(&mut self, max: u64) -> io::Result<u64> {
        // Each wake-up costs more than the bytes that it is about, and lets the peer send in smaller pieces.
        let is_long = max >= SHORT_WAIT || self.low_water.get() > 1;
        self.wait_for(if is_long { max.min(LONG_WAIT) as u32 } else { 1 })?;
        poll_fn(|_| self.socket.poll_discard(max.max(1))).await
    }

    /// Sends the whole message: returns when the kernel has all of it, or, for a short one, when it will have before the
    /// worker waits. The buffer then goes back to its pool.
    ///
    /// # Errors
    ///
    /// [`ConnectionReset`](io::ErrorKind::ConnectionReset), [`BrokenPipe`](io::ErrorKind::BrokenPipe) and what else the
    /// system says, of this message or of the one before it; [`TimedOut`](io::ErrorKind::TimedOut) at the deadline. A part
    /// may have been sent. That a short message could not be sent may be told by the next operation, which may be a
    /// receive.
    pub async fn send(&mut self, message: Buffer) -> io::Result<()> {
        self.socket.send(Some(message), &[]).await
    }

    /// Sends what there is room for without waiting; says how many bytes that was. Where it is not all of the message, the rest is
    /// for [`send`](Self::send).
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    #[inline]
    pub fn try_send(&mut self, message: &[u8]) -> io::Result<usize> {
        match self.socket.poll_send_some(message) {
            Poll::Ready(sent) => sent,
            Poll::Pending => Ok(0),
        }
    }

    /// Sends `head` and then the pieces of `body`, in one system call where the kernel has room.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    pub async fn send_with(&mut self, head: Buffer, body: &[&'static [u8]]) -> io::Result<()> {
        self.socket.send(Some(head), body).await
    }

    /// Sends the pieces of `body`, as [`send_with`](Self::send_with) without a head.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    pub async fn send_static(&mut self, body: &[&'static [u8]]) -> io::Result<()> {
        self.socket.send(None, body).await
    }

    /// Both ways at once, for one task that receives while it sends.
    pub fn split(&mut self) -> (RecvHalf<'_>, SendHalf<'_>) {
        (RecvHalf(self), SendHalf(self))
    }

    async fn receive(&self, max: usize) -> io::Result<Lent> {
        self.wait_for(1)?;
        poll_fn(|_| self.socket.poll_recv(max)).await
    }

    /// Number of bytes have to arrive to end a wait. It is no more than what is received next, or a wait had no end.
    #[inline]
    fn wait_for(&self, bytes: u32) -> io::Result<()> {
        if self.low_water.get() == bytes {
            return Ok(());
        }
        self.low_water.set(bytes);
        self.socket.set_low_water(bytes)
    }

    /// Until when operations may wait. One that still waits then fails with [`TimedOut`](io::ErrorKind::TimedOut), up to
    /// some 40 ms late; one that need not wait completes in any case. Setting it is a store.
    pub fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.socket.set_deadline(deadline);
    }

    /// Tells the peer that nothing more will be sent; receiving goes on.
    ///
    /// # Errors
    ///
    /// [`NotConnected`](io::ErrorKind::NotConnected) when the connection is already gone.
    pub fn shutdown_write(&self) -> io::Result<()> {
        self.socket.shutdown_write()
    }

    /// True if nothing has come that was not received, neither bytes nor an end, as of the worker's last wait. No call is made to
    /// find out; where it takes one, this is false, and [`try_recv`](Self::try_recv) makes it.
    #[inline]
    pub fn is_quiet(&self) -> bool {
        self.low_water.get() == 1 && self.socket.is_quiet()
    }

    /// Behind the end of the stream: whether the peer's system has answered what was sent by a reset. It does so where the
    /// socket was closed before the bytes came, so nobody has read them.
    pub fn is_refused(&self) -> bool {
        self.socket.is_refused()
    }

    /// Closes the connection.
    pub fn close(self, how: Close) {
        if how == Close::Reset {
            // It fails only for what is no socket.
            let _ = self.socket.make_close_abortive();
        }
    }

    /// The address of this end.
    ///
    /// # Errors
    ///
    /// The system's error; there is none for an open connection is nothing.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }
}

/// The receiving side of a [`Stream`], while another future of the same task sends.
#[derive(Debug)]
pub struct RecvHalf<'a>(&'a Stream);

impl RecvHalf<'_> {
    /// As [`Stream::recv`].
    ///
    /// # Errors
    ///
    /// As [`Stream::recv`].
    pub async fn recv(&mut self) -> io::Result<Lent> {
        self.0.receive(usize::MAX).await
    }
}

/// The sending side of a [`Stream`], while another future of the same task receives.
#[derive(Debug)]
pub struct SendHalf<'a>(&'a Stream);

impl SendHalf<'_> {
    /// As [`Stream::send`].
    ///
    /// # Errors
    ///
    /// As [`Stream::send`].
    pub async fn send(&mut self, message: Buffer) -> io::Result<()> {
        self.0.socket.send(Some(message), &[]).await
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").finish_non_exhaustive()
    }
}
