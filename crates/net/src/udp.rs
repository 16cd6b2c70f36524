//! [`UdpSocket`]: datagrams, for QUIC.
//!
//! It must not know what they carry. Several datagrams of one size are received and sent at once where the system can.

use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Instant;

use crate::backend::{Datagram as Socket, Driver};
use crate::datagrams::{Datagrams, Outgoing};
use crate::event::Event;
use crate::options::UdpOptions;
use crate::sleep::Sleep;
use crate::turn::Turn;

/// A socket of datagrams. It closes when dropped.
pub struct UdpSocket {
    turn: Rc<Turn>,
    socket: Socket,
}

/// The end of a wait for datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Came<T> {
    /// Datagrams came, and this was made of them.
    Datagrams(T),
    /// The signal was raised; it is lowered.
    Signal,
    /// The time is over.
    Time,
}

impl UdpSocket {
    /// Bytes that one [`send`](Self::send) can have: the payload of one datagram over IPv4.
    pub const MOST_BYTES: usize = 65_507;

    pub(crate) fn new(
        driver: &Driver,
        turn: &Rc<Turn>,
        at: SocketAddr,
        to: Option<SocketAddr>,
        options: &UdpOptions,
    ) -> io::Result<Self> {
        Ok(Self { turn: turn.clone(), socket: Socket::new(driver, turn, at, to, options)? })
    }

    /// Shows what has come, the oldest first, to `take`; waits if there is nothing.
    ///
    /// # Errors
    ///
    /// [`ConnectionRefused`](io::ErrorKind::ConnectionRefused) and what else the system was told of datagrams that were sent
    /// over a connected socket (ICMP). Each is told once, and the socket stays as it is.
    pub fn poll_recv<T>(&self, take: impl FnOnce(Datagrams<'_>) -> T) -> Poll<io::Result<T>> {
        self.socket.poll_recv(take)
    }

    /// As [`poll_recv`](Self::poll_recv), but another task may end the wait by raising the signal, and so may a moment; what
    /// has come comes first.
    ///
    /// # Errors
    ///
    /// As [`poll_recv`](Self::poll_recv).
    pub async fn recv_or_woken<T>(
        &self,
        signal: &Event,
        until: Option<Instant>,
        mut take: impl FnMut(Datagrams<'_>) -> T,
    ) -> io::Result<Came<T>> {
        let mut sleep = until.map(|until| Sleep::new(self.turn.clone(), until));
        poll_fn(|context| {
            if let Poll::Ready(received) = self.socket.poll_recv(&mut take) {
                return Poll::Ready(received.map(Came::Datagrams));
            }
            if signal.poll_wait().is_ready() {
                return Poll::Ready(Ok(Came::Signal));
            }
            let over = sleep.as_mut().is_some_and(|sleep| Pin::new(sleep).poll(context).is_ready());
            if over { Poll::Ready(Ok(Came::Time)) } else { Poll::Pending }
        })
        .await
    }

    /// Hands datagrams to the system, all or none; waits if it has no room.
    ///
    /// # Errors
    ///
    /// The system's. What no path carries is lost without one.
    pub async fn send(&self, out: Outgoing<'_>) -> io::Result<()> {
        poll_fn(|_| self.socket.poll_send(&out)).await
    }

    /// Datagrams that one [`send`](Self::send) should have at most: the system cuts them, or it does not.
    pub fn most_segments(&self) -> usize {
        self.socket.most_segments()
    }

    /// Datagrams that came and for which the socket had no room, as far as the system has told.
    pub fn overflowed(&self) -> u64 {
        self.socket.overflowed()
    }

    /// The address of this end.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }
}

impl fmt::Debug for UdpSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UdpSocket").finish_non_exhaustive()
    }
}
