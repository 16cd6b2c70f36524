//! [`Listener`]: accepts TCP connections.

use std::fmt;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use rustix::io::Errno;

use crate::backend::Socket;
use crate::stream::Stream;
use crate::timers::Sleep;
use crate::worker::Worker;

/// After an accept failed for want of descriptors or memory, the next one waits this long before it tries.
const PAUSE: Duration = Duration::from_millis(10);

/// How to listen. `SO_REUSEADDR` is always on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListenOptions {
    /// Connections that the kernel keeps waiting to be accepted, at most.
    pub backlog: u32,
    /// Let several sockets, one per worker, listen at one address; the kernel shares the connections out.
    pub reuse_port: bool,
}

impl Default for ListenOptions {
    fn default() -> Self {
        Self { backlog: 4096, reuse_port: false }
    }
}

/// A listening TCP socket. Accepted connections have `TCP_NODELAY` on.
pub struct Listener {
    worker: Rc<Worker>,
    socket: Socket,
    pause: Option<Sleep>,
}

impl Listener {
    pub(crate) fn new(worker: &Rc<Worker>, socket: Socket) -> Self {
        Self { worker: worker.clone(), socket, pause: None }
    }

    /// Waits for a connection and accepts it.
    ///
    /// # Errors
    ///
    /// What the system says. The listener stays usable: after running out of descriptors or memory the next call first
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
            self.pause = Some(Sleep::new(self.worker.clone(), self.worker.now() + PAUSE));
        }
        let (socket, peer) = accepted?;
        Ok((Stream::new(socket, peer), peer))
    }

    /// The address it listens at, with the port that was taken.
    ///
    /// # Errors
    ///
    /// What the system says, which for an open socket is nothing.
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
