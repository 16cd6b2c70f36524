//! A peer that answers each line, or each request of HTTP, with bytes that are given, in pieces that are given.

use net::{Listener, Net, Stream};
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

/// The answer to the request of this number.
#[derive(Clone)]
pub struct Pieces {
    /// The bytes, be they one answer or several.
    pub answer: Rc<dyn Fn(u64) -> Vec<u8>>,
    /// Where they are cut, by the number of the request.
    pub cut: Option<Rc<dyn Fn(u64) -> usize>>,
    /// How requests end.
    pub end: &'static [u8],
    /// True if the connection ends with this answer.
    pub closes: bool,
}

/// Serves until the run ends; `seen` counts requests.
pub async fn serve(net: Net, mut listener: Listener, pieces: Pieces, seen: Rc<Cell<u64>>) {
    while let Ok((stream, _)) = listener.accept().await {
        let net_of_task = net.clone();
        let pieces = pieces.clone();
        let seen = seen.clone();
        net.spawn(async move {
            connection(net_of_task, stream, pieces, seen).await;
        });
    }
}

async fn connection(net: Net, mut stream: Stream, pieces: Pieces, seen: Rc<Cell<u64>>) -> Option<()> {
    let mut held: Vec<u8> = Vec::new();
    loop {
        held.extend_from_slice(&stream.recv().await.ok().filter(|bytes| !bytes.is_empty())?);
        while let Some(at) = held.windows(pieces.end.len()).position(|bytes| bytes == pieces.end) {
            held.drain(..at + pieces.end.len());
            let number = seen.replace(seen.get() + 1);
            let answer = (pieces.answer)(number);
            let cut = pieces.cut.as_ref().map_or(0, |cut| cut(number) % answer.len());
            for piece in [&answer[..cut], &answer[cut..]].into_iter().filter(|piece| !piece.is_empty()) {
                let mut buffer = net.buffer();
                buffer.extend_from_slice(piece);
                stream.send(buffer).await.ok()?;
                if pieces.cut.is_some() {
                    net.sleep(Duration::from_micros(100)).await;
                }
            }
            if pieces.closes {
                return None;
            }
        }
    }
}
