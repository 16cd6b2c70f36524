//! [`Listener`]: accepts TCP connections.

use std::fmt;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use rustix::io::Errno;

use crate::backend::BackendSocket;
use crate::sleep::Sleep;
use crate::stream::Stream;
use crate::turn::Turn;

/// After an accept failed for want of descriptors or memory, the next one waits this long before it tries.
const PAUSE: Duration = Duration::from_millis(10);

/// A listening TCP socket. Accepted connections have `TCP_NODELAY` on.
pub struct Listener {
    turn: Rc<Turn>,
    socket: BackendSocket,
    pause: Option<Sleep>,
}

impl Listener {
    pub(crate) fn new(turn: &Rc<Turn>, socket: BackendSocket) -> Self {
        Self { turn: turn.clone(), socket, pause: None }
    }

    /// Waits for a connection and accepts it.
    ///
    /// # Errors
    ///
    /// The system's error. The listener stays usable: after running out of descriptors or memory the next call first
    /// waits 10 ms, so that a caller who simply goes on does not spin.
    pub async fn accept(&mut self) -> io::Result<(Stream, SocketAddr)> {
        if let Some(pause) = &mut self.pause {
            pause.await;
            self.pause = None;
        }
        let accepted = poll_fn(|_| self.socket.poll_accept()).await;
        if let Err(error) = &accepted
            && is_exhaustion(error)
        {
            self.pause = Some(Sleep::new(self.turn.clone(), self.turn.began() + PAUSE));
        }
        let (socket, peer) = accepted?;
        Ok((Stream::new(socket), peer))
    }

    /// The address it listens at, with the port that was taken.
    ///
    /// # Errors
    ///
    /// The system's error; there is none for an open socket is nothing.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }
}

fn is_exhaustion(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    matches!(errno, Some(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM | Errno::NOSPC))
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener").field("at", &self.local_addr().ok()).finish()
    }
}
