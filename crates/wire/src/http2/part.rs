//! The dispatch of frames, which both ends have in common: an end says only what is its own.

use super::core::{AsHalf, Core, WholeBlock, four};
use super::error::{Code, ConnectionError};
use super::frame::{Header, Kind};
use super::reader::{FrameReader, Piece};
use super::settings::MOST_WINDOW;
use super::streams::Streams;

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
    fn data_begins(&mut self, header: &Header, out: &mut Vec<u8>) -> Result<(), ConnectionError>;

    /// Content came.
    fn data(&mut self, bytes: &[u8]);

    /// A DATA frame is complete.
    fn data_ends(&mut self, header: &Header, out: &mut Vec<u8>) -> Result<(), ConnectionError>;

    /// A field block is whole.
    fn block(&mut self, whole: WholeBlock, block: &[u8], out: &mut Vec<u8>) -> Result<(), ConnectionError>;

    /// The peer ended a stream, which is not idle.
    fn rst_stream(&mut self, stream: u32, code: Code) -> Result<(), ConnectionError>;

    /// The peer broke the rules on a stream that may be open: ends it with this code.
    fn fail(&mut self, stream: u32, code: Code, out: &mut Vec<u8>) -> Result<(), ConnectionError>;

    /// GOAWAY came.
    fn goaway(&mut self, payload: &[u8]) -> Result<(), ConnectionError>;

    /// A frame for a stream that was never opened is an error (RFC 9113 section 5.1).
    fn not_idle(&self, stream: u32) -> Result<(), ConnectionError> {
        match self.is_idle(stream) {
            true => Err(ConnectionError::protocol("a frame for a stream that was never opened")),
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
    while let Some(piece) = reader.next(&mut input, most)? {
        match piece {
            Piece::DataBegins(header) => data_begins(part, &header, out)?,
            Piece::Data(bytes) => part.data(bytes),
            Piece::DataEnds(header) => part.data_ends(&header, out)?,
            Piece::Frame(header, payload) => frame(part, &header, payload, out)?,
        }
    }
    Ok(())
}

fn data_begins<P: Part>(part: &mut P, header: &Header, out: &mut Vec<u8>) -> Result<(), ConnectionError> {
    part.state().0.arrived(header)?;
    part.not_idle(header.stream)?;
    part.state().0.data(header, out)?;
    part.data_begins(header, out)
}

fn frame<P: Part>(
    part: &mut P,
    header: &Header,
    payload: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), ConnectionError> {
    let (core, streams) = part.state();
    core.arrived(header)?;
    match header.kind {
        Kind::Headers => match core.headers(header, payload)? {
            Some((whole, block)) => part.block(whole, block, out),
            None => Ok(()),
        },
        Kind::Continuation => {
            let Some((whole, block)) = core.continuation(header, payload)? else { return Ok(()) };
            let result = part.block(whole, &block, out);
            part.state().0.keep(block);
            result
        }
        Kind::Settings => core.settings(header, payload, P::FROM_SERVER, streams, out),
        Kind::Ping => core.ping(header, payload, out),
        Kind::RstStream => {
            let code = Code(four(payload)?);
            part.not_idle(header.stream)?;
            part.state().0.was_told_reset(code);
            part.rst_stream(header.stream, code)
        }
        Kind::WindowUpdate => window_update(part, header.stream, four(payload)? & MOST_WINDOW, out),
        Kind::GoAway if payload.len() < 8 => Err(ConnectionError::frame_size("GOAWAY is too short")),
        Kind::GoAway => part.goaway(payload),
        Kind::PushPromise => Err(ConnectionError::protocol("PUSH_PROMISE though pushes are not allowed")),
        Kind::Priority if payload.len() != 5 => match streams.get(header.stream) {
            Some(_) => part.fail(header.stream, Code::FRAME_SIZE_ERROR, out),
            None => Err(ConnectionError::frame_size("PRIORITY has not five bytes")),
        },
        Kind::Priority | Kind::Unknown | Kind::Data => core.idle(),
    }
}

fn window_update<P: Part>(
    part: &mut P,
    stream: u32,
    increment: u32,
    out: &mut Vec<u8>,
) -> Result<(), ConnectionError> {
    if stream == 0 {
        return part.state().0.connection_window(increment);
    }
    part.not_idle(stream)?;
    let Some(state) = part.state().1.get_mut(stream) else { return Ok(()) };
    if increment == 0 {
        return part.fail(stream, Code::PROTOCOL_ERROR, out);
    }
    match state.half().sending.shift(i64::from(increment)) {
        Some(()) => Ok(()),
        None => part.fail(stream, Code::FLOW_CONTROL_ERROR, out),
    }
}
