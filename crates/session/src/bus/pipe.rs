//! The two ends of a stream as threads have them: one that is read, one that is written to.

use std::io::{self, Read, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::mpsc::UnboundedSender;

/// Something that a thread says to whoever holds the connection.
pub(crate) enum Saying {
    /// Bytes for the other side.
    Bytes {
        /// Name of the stream.
        name: String,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// Nothing more is written.
    Finish {
        /// Name of the stream.
        name: String,
    },
}

/// Bytes that came, or the reason why none do any more.
pub(crate) type Came = io::Result<Vec<u8>>;

/// The end that is read.
pub(crate) struct Incoming {
    came: Receiver<Came>,
    /// Bytes of the last message that were not read yet.
    rest: Vec<u8>,
    read: usize,
}

impl Read for Incoming {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.read == self.rest.len() {
            match self.came.recv() {
                Ok(bytes) => (self.rest, self.read) = (bytes?, 0),
                // Whoever holds the connection has seen the end of it.
                Err(_) => return Ok(0),
            }
        }
        let count = into.len().min(self.rest.len() - self.read);
        into[..count].copy_from_slice(&self.rest[self.read..self.read + count]);
        self.read += count;
        Ok(count)
    }
}

/// The end that is written to. The stream ends when it is dropped.
pub(crate) struct Outgoing<O: From<Saying>> {
    name: String,
    to: UnboundedSender<O>,
}

impl<O: From<Saying>> Write for Outgoing<O> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let order = Saying::Bytes { name: self.name.clone(), bytes: bytes.to_vec() };
        self.to.send(order.into()).map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<O: From<Saying>> Drop for Outgoing<O> {
    fn drop(&mut self) {
        // Whoever held the connection may have gone.
        let _ = self.to.send(Saying::Finish { name: self.name.clone() }.into());
    }
}

/// Both ends for threads; and the way by which what came gets to the first of them.
pub(crate) fn ends<O: From<Saying>>(
    name: &str,
    to: UnboundedSender<O>,
) -> (Sender<Came>, Incoming, Outgoing<O>) {
    let (came_in, came) = channel();
    (came_in, Incoming { came, rest: Vec::new(), read: 0 }, Outgoing { name: name.to_owned(), to })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_is_read_in_any_pieces_and_a_reason_is_told() {
        let (orders, mut asked) = tokio::sync::mpsc::unbounded_channel::<Saying>();
        let (to, mut incoming, mut outgoing) = ends("c1", orders);
        to.send(Ok(b"abc".to_vec())).expect("it is read");
        to.send(Ok(b"de".to_vec())).expect("it is read");
        to.send(Err(io::Error::other("it has gone"))).expect("it is read");
        let mut bytes = [0; 2];
        let mut all: Vec<u8> = Vec::new();
        for _ in 0..3 {
            let count = incoming.read(&mut bytes).expect("there is more");
            all.extend(&bytes[..count]);
        }
        assert_eq!(all, b"abcde");
        assert_eq!(incoming.read(&mut bytes).expect_err("its end").to_string(), "it has gone");
        outgoing.write_all(b"x").expect("somebody listens");
        drop(outgoing);
        assert!(matches!(asked.try_recv(), Ok(Saying::Bytes { bytes, .. }) if bytes == b"x"));
        assert!(matches!(asked.try_recv(), Ok(Saying::Finish { name }) if name == "c1"));
    }
}
