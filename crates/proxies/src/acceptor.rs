//! Listener with a thread that hands over each connection. When it is dropped, its port is free.

use net::ports;
use rustix::net::{Shutdown, shutdown};
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Pause when a connection cannot be accepted.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// A listener whose connections another thread accepts, until it is dropped.
#[derive(Debug)]
pub struct Acceptor {
    address: SocketAddr,
    listener: Arc<TcpListener>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Acceptor {
    /// Listens at an address; port 0 is any free one. `take` gets each connection, and accepting waits for it.
    ///
    /// # Errors
    /// It cannot listen there, or have a thread.
    pub fn open(
        listen: SocketAddr,
        name: &str,
        take: impl Fn(TcpStream) + Send + 'static,
    ) -> io::Result<Acceptor> {
        let listener = Arc::new(TcpListener::bind(listen)?);
        ports::deepen(&listener)?;
        let address = listener.local_addr()?;
        let is_over = Arc::new(AtomicBool::new(false));
        let listening = listener.clone();
        let ends = is_over.clone();
        let accept = move || {
            while !ends.load(Ordering::Relaxed) {
                match listening.accept() {
                    Ok((stream, _)) => take(stream),
                    Err(_) => thread::sleep(ACCEPT_PAUSE),
                }
            }
        };
        let thread = Some(thread::Builder::new().name(name.to_owned()).spawn(accept)?);
        Ok(Acceptor { address, listener, is_over, thread })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Acceptor {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // It wakes the thread, whatever descriptors are left; that it has ended already is as well.
        let _ = shutdown(&*self.listener, Shutdown::Both);
        // A panic of `take` has been told by the thread itself.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    /// The port of the first is that of all the others, which none of them gets while another listens.
    #[test]
    fn the_port_is_free_as_soon_as_it_is_dropped() {
        let mut at: SocketAddr = "127.0.0.1:0".parse().expect("an address");
        let mut kept = Vec::new();
        for _ in 0..200 {
            let acceptor = Acceptor::open(at, "test", drop).unwrap_or_else(|error| panic!("{at}: {error}"));
            at = acceptor.address();
            let mut client = TcpStream::connect(at).expect("it listens");
            assert_eq!(client.read(&mut [0]).expect("it was closed"), 0);
            kept.push(client);
        }
    }
}
