//! The rest of a message while a kernel takes it piece by piece.

use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::task::Poll;

/// Pieces given to the kernel in one call at most.
pub(crate) const GATHER_MAX: usize = 32;

/// Sends `head` and then the pieces of `body` by calls that say how much they took.
pub(crate) async fn send_all(
    head: &[u8],
    body: &[&'static [u8]],
    mut poll_send: impl FnMut(Pieces<'_>) -> Poll<io::Result<usize>>,
) -> io::Result<()> {
    let mut unsent = Unsent::new(head, body);
    while !unsent.front.is_empty() {
        let sent = poll_fn(|_| match unsent.rest {
            [] => poll_send(Pieces::One(unsent.front)),
            _ => unsent.gathered(|pieces| poll_send(Pieces::Many(pieces))),
        });
        unsent.advance(sent.await?);
    }
    Ok(())
}

/// The bytes that one call is to send.
#[derive(Clone, Copy)]
pub(crate) enum Pieces<'a> {
    One(&'a [u8]),
    Many(&'a [IoSlice<'a>]),
}

impl Pieces<'_> {
    /// Number of bytes it is.
    pub(crate) fn len(self) -> usize {
        match self {
            Self::One(bytes) => bytes.len(),
            Self::Many(pieces) => pieces.iter().map(|piece| piece.len()).sum(),
        }
    }
}

/// A piece that may be begun, and whole pieces. All is sent when `front` is empty.
struct Unsent<'a> {
    front: &'a [u8],
    rest: &'a [&'static [u8]],
}

impl<'a> Unsent<'a> {
    fn new(front: &'a [u8], rest: &'a [&'static [u8]]) -> Self {
        let mut unsent = Self { front, rest };
        unsent.advance(0);
        unsent
    }

    /// Strikes out `sent` bytes, and any empty pieces that follow them.
    fn advance(&mut self, mut sent: usize) {
        while sent >= self.front.len()
            && let Some((next, rest)) = self.rest.split_first()
        {
            sent -= self.front.len();
            (self.front, self.rest) = (next, rest);
        }
        self.front = &self.front[sent..];
    }

    fn gathered<T>(&self, send: impl FnOnce(&[IoSlice<'_>]) -> T) -> T {
        let mut pieces = [IoSlice::new(self.front); GATHER_MAX];
        for (piece, bytes) in pieces[1..].iter_mut().zip(self.rest) {
            *piece = IoSlice::new(bytes);
        }
        send(&pieces[..GATHER_MAX.min(1 + self.rest.len())])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends `step` bytes at a time and returns what went out.
    fn sent_in_steps(head: &'static [u8], body: &[&'static [u8]], step: usize) -> Vec<u8> {
        let mut unsent = Unsent::new(head, body);
        let mut out = Vec::new();
        while !unsent.front.is_empty() {
            let before = out.len();
            unsent.gathered(|pieces| {
                let bytes = pieces.iter().flat_map(|piece| piece.iter().copied());
                out.extend(bytes.take(step));
            });
            unsent.advance(out.len() - before);
        }
        out
    }

    #[test]
    fn whatever_the_steps_the_bytes_are_the_same() {
        let body: &[&'static [u8]] = &[b"", b"one", b"", b"two", b"three", b"", b""];
        for step in 1..20 {
            assert_eq!(sent_in_steps(b"head ", body, step), b"head onetwothree");
            assert_eq!(sent_in_steps(b"", body, step), b"onetwothree");
        }
    }

    #[test]
    fn more_pieces_than_one_call_takes() {
        let body = [b"ab".as_slice(); GATHER_MAX * 3];
        assert_eq!(sent_in_steps(b"", &body, usize::MAX).len(), GATHER_MAX * 3 * 2);
    }

    #[test]
    fn nothing_is_sent_at_once() {
        assert!(Unsent::new(b"", &[b"", b""]).front.is_empty());
    }
}
