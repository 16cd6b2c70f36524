//! The dispatch of frames, which both ends have in common: an end says only what is its own.

use super::core::{AsHalf, Core, WholeBlock, four};
use super::error::{Broken, Code, ConnectionError};
use super::frame::{Header, Http2FrameKind};
use super::reader::{FrameReader, Http2Piece};
use super::settings::MOST_WINDOW;
use super::streams::Streams;
use breach::{Breach, Http2};

/// Bytes of a frame that are shown of a breach.
const SHOWN: usize = 96;

/// One end of a connection while it reads: its state, and the sink of its caller.
pub(super) trait Part {
    /// State that it keeps of a stream.
    type Stream: AsHalf;

    /// The peer is a server.
    const FROM_SERVER: bool;

    /// Its state.
    fn state(&mut self) -> (&mut Core, &mut Streams<Self::Stream>);

    /// True if a stream was never opened.
    fn is_idle(&self, stream: u32) -> bool;

    /// A DATA frame begins; it has been counted for the connection's window.
    fn data_begins(&mut self, header: &Header, out: &mut Vec<u8>) -> Result<(), Broken>;

    /// Content came.
    fn data(&mut self, bytes: &[u8]);

    /// A DATA frame is complete.
    fn data_ends(&mut self, header: &Header, out: &mut Vec<u8>) -> Result<(), Broken>;

    /// A field block is whole.
    fn block(&mut self, whole: WholeBlock, block: &[u8], out: &mut Vec<u8>) -> Result<(), Broken>;

    /// The peer ended a stream, which is not idle.
    fn rst_stream(&mut self, stream: u32, code: Code) -> Result<(), Broken>;

    /// The peer broke the rules on a stream that may be open: ends it, and tells of it with the first bytes.
    fn give_up(&mut self, stream: u32, breach: Breach, sample: &[u8], out: &mut Vec<u8>)
    -> Result<(), Http2>;

    /// The peer broke the rules for the connection: tells of it with the first bytes.
    fn broke(&mut self, breach: Breach, sample: &[u8]);

    /// GOAWAY came.
    fn goaway(&mut self, payload: &[u8]) -> Result<(), Broken>;

    /// A frame for a stream that was never opened is an error (RFC 9113 section 5.1).
    fn not_idle(&self, stream: u32) -> Result<(), Http2> {
        match self.is_idle(stream) {
            true => Err(Http2::IdleStream),
            false => Ok(()),
        }
    }
}

/// Takes all of `input`.
pub(super) fn read<P: Part>(
    reader: &mut FrameReader,
    part: &mut P,
    mut input: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), ConnectionError> {
    let most = part.state().0.limits.settings.max_frame_size;
    loop {
        let piece = match reader.next(&mut input, most) {
            Ok(Some(piece)) => piece,
            Ok(None) => break,
            Err((breach, header)) => {
                let breach = if part.state().0.settled { breach } else { foreign(breach, &header.bytes()) };
                return end(part, breach.into(), &header, &[], out);
            }
        };
        match piece {
            Http2Piece::DataBegins(header) => {
                if let Err(broken) = data_begins(part, &header, out) {
                    end(part, broken, &header, &[], out)?;
                }
            }
            Http2Piece::Data(bytes) => part.data(bytes),
            Http2Piece::DataEnds(header) => {
                if let Err(broken) = part.data_ends(&header, out) {
                    end(part, broken, &header, &[], out)?;
                }
            }
            Http2Piece::Frame(header, payload) => {
                if let Err(broken) = frame(part, &header, payload, out) {
                    end(part, broken, &header, payload, out)?;
                }
            }
        }
    }
    first_bytes(reader, part)
}

/// Name of what is no frame at all, since another protocol is spoken.
#[cold]
fn foreign(otherwise: Http2, first: &[u8]) -> Http2 {
    match first {
        [b'H', b'T', b'T', ..] => Http2::IsHttp1,
        // A record of TLS: its type, and the first byte of its version (RFC 8446 section 5.1).
        [0x14..=0x17, 3, ..] => Http2::IsTls,
        _ => otherwise,
    }
}

/// Names a peer of another protocol by the few bytes that it has sent, since no more may come.
fn first_bytes<P: Part>(reader: &FrameReader, part: &mut P) -> Result<(), ConnectionError> {
    let begun = reader.begun();
    if part.state().0.settled || foreign(Http2::FirstFrame, begun) == Http2::FirstFrame {
        return Ok(());
    }
    let breach = foreign(Http2::FirstFrame, begun).into();
    part.broke(breach, begun);
    Err(ConnectionError { breach })
}

/// Ends what is broken, by this frame.
#[cold]
fn end<P: Part>(
    part: &mut P,
    broken: Broken,
    header: &Header,
    payload: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), ConnectionError> {
    let mut sample = header.bytes().to_vec();
    sample.extend_from_slice(&payload[..payload.len().min(SHOWN - sample.len())]);
    let breach = match broken {
        Broken::Connection(breach) => breach,
        Broken::Stream(stream, breach) => match part.give_up(stream, breach, &sample, out) {
            Ok(()) => return Ok(()),
            Err(breach) => breach.into(),
        },
    };
    part.broke(breach, &sample);
    Err(ConnectionError { breach })
}

fn data_begins<P: Part>(part: &mut P, header: &Header, out: &mut Vec<u8>) -> Result<(), Broken> {
    part.state().0.arrived(header)?;
    part.not_idle(header.stream)?;
    part.state().0.data(header, out)?;
    part.data_begins(header, out)
}

fn frame<P: Part>(part: &mut P, header: &Header, payload: &[u8], out: &mut Vec<u8>) -> Result<(), Broken> {
    let (core, streams) = part.state();
    core.arrived(header)?;
    match header.kind {
        Http2FrameKind::Headers => match core.headers(header, payload)? {
            Some((whole, block)) => part.block(whole, block, out),
            None => Ok(()),
        },
        Http2FrameKind::Continuation => {
            let Some((whole, block)) = core.continuation(header, payload)? else { return Ok(()) };
            let result = part.block(whole, &block, out);
            part.state().0.keep(block);
            result
        }
        Http2FrameKind::Settings => Ok(core.settings(header, payload, P::FROM_SERVER, streams, out)?),
        Http2FrameKind::Ping => Ok(core.ping(header, payload, out)?),
        Http2FrameKind::RstStream => {
            let code = Code(four(payload, Http2::RstStreamLength)?);
            part.not_idle(header.stream)?;
            part.state().0.was_told_reset(code);
            part.rst_stream(header.stream, code)
        }
        Http2FrameKind::WindowUpdate => {
            window_update(part, header.stream, four(payload, Http2::WindowUpdateLength)? & MOST_WINDOW)
        }
        Http2FrameKind::GoAway if payload.len() < 8 => Err(Http2::GoAwayLength.into()),
        Http2FrameKind::GoAway => part.goaway(payload),
        Http2FrameKind::PushPromise => Err(Http2::Push.into()),
        Http2FrameKind::Priority if payload.len() != 5 => match streams.get(header.stream) {
            Some(_) => Err(Broken::stream(header.stream, Http2::PriorityLength)),
            None => Err(Http2::PriorityLength.into()),
        },
        Http2FrameKind::Priority | Http2FrameKind::Unknown | Http2FrameKind::Data => Ok(core.idle()?),
    }
}

fn window_update<P: Part>(part: &mut P, stream: u32, increment: u32) -> Result<(), Broken> {
    if stream == 0 {
        return Ok(part.state().0.connection_window(increment)?);
    }
    part.not_idle(stream)?;
    let Some(state) = part.state().1.get_mut(stream) else { return Ok(()) };
    if increment == 0 {
        return Err(Broken::stream(stream, Http2::WindowZero));
    }
    let shifted = state.half().sending.shift(i64::from(increment));
    shifted.ok_or(Broken::stream(stream, Http2::WindowOverflow))
}
