//! A peer that answers messages behind a length of four digits, and a script of misbehaviour.

use net::{Close, Listener, Net, Stream};
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;
use wire::message::{Framing, LengthHead, Number, Reader};

/// Action of the peer on its nth request, counted over all connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// `code` and what was asked.
    Answer(&'static str),
    /// As `Answer("00")`, in pieces of so many bytes.
    Pieces(usize),
    /// Sends a message that nobody asked for, then `Answer("00")`.
    PushBefore,
    /// `Answer("00")`, then, in one piece with it, a message that nobody asked for.
    PushBehind,
    /// `Answer("00")`, and a while later a message that nobody asked for.
    PushLater,
    /// `Answer("00")`, and a while later the first half of a message that nobody asked for, whose rest goes before the next answer.
    PushHalf,
    /// Waits until so many requests have come and answers them in the reverse order.
    Reverse(usize),
    /// Closes without an answer.
    Close,
    /// Answers and closes.
    AnswerThenClose,
    /// Resets without an answer.
    Reset,
    /// Closes within an answer.
    Cut,
    /// A length that is no number.
    Garbage,
    /// `Answer("00")`, and a while later what is no message.
    GarbageLater,
    /// Announces more than is accepted.
    TooLong,
    /// Never answers.
    Silence,
}

/// The behaviour of a peer: what it does with request number n.
pub type Script = Rc<dyn Fn(u64) -> Act>;

/// Time after an answer until more comes.
const LATER: Duration = Duration::from_millis(2);

/// A message that nobody asked for.
const PUSH: &[u8] = b"0004push";

pub fn framing() -> Framing {
    Framing::Length(LengthHead::only(Number::Decimal(4)))
}

/// Serves until the run ends; `seen` counts requests.
pub async fn serve(net: Net, mut listener: Listener, script: Script, seen: Rc<Cell<u64>>) {
    while let Ok((stream, _)) = listener.accept().await {
        let net_of_task = net.clone();
        let script = script.clone();
        let seen = seen.clone();
        net.spawn(async move {
            connection(net_of_task, stream, script, seen).await;
        });
    }
}

/// Ends when the peer closes, or when the script says so.
async fn connection(net: Net, mut stream: Stream, script: Script, seen: Rc<Cell<u64>>) -> Option<()> {
    let mut reader = Reader::new(framing(), 1 << 20).ok()?;
    let mut held: Vec<Vec<u8>> = Vec::new();
    loop {
        let received = stream.recv().await.ok().filter(|bytes| !bytes.is_empty())?;
        let mut rest = &received[..];
        let mut asked = Vec::new();
        while !rest.is_empty() {
            let found = reader.read(rest).ok()?;
            rest = &rest[found.consumed..];
            asked.extend(found.message.map(|message| message.body().to_vec()));
        }
        for body in asked {
            let number = seen.get();
            seen.set(number + 1);
            let act = script(number);
            let mut out = net.buffer();
            match act {
                Act::Close => return None,
                Act::Reset => {
                    stream.close(Close::Reset);
                    return None;
                }
                Act::Silence => net.sleep(Duration::from_secs(3600)).await,
                Act::Garbage => out.extend_from_slice(b"x\0y answer"),
                Act::TooLong => out.extend_from_slice(b"9999"),
                Act::Cut => out.extend_from_slice(b"0009cut"),
                Act::PushBefore => {
                    put(b"push", &mut out);
                    answer("00", &body, &mut out);
                }
                Act::PushBehind => {
                    answer("00", &body, &mut out);
                    put(b"push", &mut out);
                }
                Act::PushLater => {
                    answer("00", &body, &mut out);
                    send(&net, &mut stream, &out, act).await?;
                    net.sleep(LATER).await;
                    out.clear();
                    put(b"push", &mut out);
                }
                Act::GarbageLater => {
                    answer("00", &body, &mut out);
                    send(&net, &mut stream, &out, act).await?;
                    net.sleep(LATER).await;
                    out.clear();
                    out.extend_from_slice(b"x\0y ");
                }
                Act::PushHalf => {
                    if number > 0 {
                        out.extend_from_slice(&PUSH[6..]);
                    }
                    answer("00", &body, &mut out);
                    send(&net, &mut stream, &out, act).await?;
                    net.sleep(LATER).await;
                    out.clear();
                    out.extend_from_slice(&PUSH[..6]);
                }
                Act::Reverse(count) => {
                    held.push(body);
                    if held.len() == count {
                        held.drain(..).rev().for_each(|body| answer("00", &body, &mut out));
                    }
                }
                Act::Answer(code) => answer(code, &body, &mut out),
                Act::Pieces(_) | Act::AnswerThenClose => answer("00", &body, &mut out),
            }
            send(&net, &mut stream, &out, act).await?;
            if matches!(act, Act::Garbage | Act::TooLong | Act::Cut | Act::AnswerThenClose) {
                return None;
            }
        }
    }
}

async fn send(net: &Net, stream: &mut Stream, out: &[u8], act: Act) -> Option<()> {
    let size = if let Act::Pieces(size) = act { size } else { out.len().max(1) };
    for piece in out.chunks(size) {
        let mut buffer = net.buffer();
        buffer.extend_from_slice(piece);
        stream.send(buffer).await.ok()?;
        if size < out.len() {
            net.sleep(Duration::from_micros(200)).await;
        }
    }
    Some(())
}

fn answer(code: &str, body: &[u8], out: &mut Vec<u8>) {
    put(&[code.as_bytes(), body].concat(), out);
}

fn put(body: &[u8], out: &mut Vec<u8>) {
    framing().write(b"0000", body, out).unwrap();
}
