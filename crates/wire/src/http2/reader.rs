//! Bytes → frames, however they were split.
//!
//! DATA is handed on as it comes; every other frame whole, from the caller's buffer where it lies there whole, from a spill
//! where it does not. Knows lengths and nothing else of a frame.

use super::frame::{HEADER_LEN, Header, Kind, PADDED};
use breach::Http2;

/// A piece of what arrived.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'b> {
    /// A DATA frame begins. All of its payload counts for the windows (RFC 9113 section 6.9.1).
    DataBegins(Header),
    /// Content of the DATA frame that began last; never empty.
    Data(&'b [u8]),
    /// The DATA frame has ended.
    DataEnds(Header),
    /// A whole frame of another kind.
    Frame(Header, &'b [u8]),
}

/// Reads the frames of one direction of a connection.
#[derive(Debug, Default)]
pub(super) struct FrameReader {
    head: [u8; HEADER_LEN],
    have: usize,
    state: State,
    /// Payload of a frame that arrives in pieces.
    spill: Vec<u8>,
}

#[derive(Debug, Default, Clone, Copy)]
enum State {
    #[default]
    Head,
    /// DATA whose pad length is still to come.
    PadLength(Header),
    /// DATA: bytes of content and of padding that are still to come.
    Data {
        header: Header,
        content: u32,
        padding: u32,
    },
    Payload(Header),
}

impl FrameReader {
    /// True if a frame is under way.
    pub(super) fn is_within_frame(&self) -> bool {
        self.have > 0 || !matches!(self.state, State::Head)
    }

    /// True if the header of a frame, or a frame of fields, has come in part.
    pub(super) fn is_within_head(&self) -> bool {
        let is_fields = |kind| matches!(kind, Kind::Headers | Kind::Continuation);
        self.have > 0 || matches!(self.state, State::Payload(header) if is_fields(header.kind))
    }

    /// Bytes that have come of the header of a frame that is not whole.
    pub(super) fn begun(&self) -> &[u8] {
        &self.head[..self.have]
    }

    /// The next piece of `input`, which is shortened by what it took. `None`: all was taken, more is needed.
    pub(super) fn next<'b, 'i: 'b>(
        &'b mut self,
        input: &mut &'i [u8],
        max_frame_size: u32,
    ) -> Result<Option<Piece<'b>>, (Http2, Header)> {
        loop {
            match self.state {
                State::Head => {
                    let Some(header) = self.header(input) else { return Ok(None) };
                    if header.length > max_frame_size {
                        return Err((Http2::FrameSize, header));
                    }
                    if header.kind == Kind::Data {
                        self.state = data(header)?;
                        return Ok(Some(Piece::DataBegins(header)));
                    }
                    self.spill.clear();
                    self.state = State::Payload(header);
                }
                State::PadLength(header) => {
                    let Some((padding, rest)) = input.split_first() else { return Ok(None) };
                    *input = rest;
                    let padding = u32::from(*padding);
                    let content = (header.length - 1).checked_sub(padding).ok_or((Http2::Padding, header))?;
                    self.state = State::Data { header, content, padding };
                }
                State::Data { header, content: 0, padding } => {
                    let taken = (padding as usize).min(input.len());
                    *input = &input[taken..];
                    let padding = padding - taken as u32;
                    if padding > 0 {
                        self.state = State::Data { header, content: 0, padding };
                        return Ok(None);
                    }
                    self.state = State::Head;
                    return Ok(Some(Piece::DataEnds(header)));
                }
                State::Data { header, content, padding } => {
                    if input.is_empty() {
                        return Ok(None);
                    }
                    let (bytes, rest) = input.split_at((content as usize).min(input.len()));
                    *input = rest;
                    self.state = State::Data { header, content: content - bytes.len() as u32, padding };
                    return Ok(Some(Piece::Data(bytes)));
                }
                State::Payload(header) => return Ok(self.payload(header, input)),
            }
        }
    }

    #[inline]
    fn header(&mut self, input: &mut &[u8]) -> Option<Header> {
        if self.have == 0
            && let Some((whole, rest)) = input.split_first_chunk()
        {
            *input = rest;
            return Some(Header::read(whole));
        }
        let taken = (HEADER_LEN - self.have).min(input.len());
        self.head[self.have..self.have + taken].copy_from_slice(&input[..taken]);
        self.have += taken;
        *input = &input[taken..];
        (self.have == HEADER_LEN).then(|| {
            self.have = 0;
            Header::read(&self.head)
        })
    }

    fn payload<'b, 'i: 'b>(&'b mut self, header: Header, input: &mut &'i [u8]) -> Option<Piece<'b>> {
        let length = header.length as usize;
        if self.spill.is_empty() && input.len() >= length {
            let (payload, rest) = input.split_at(length);
            *input = rest;
            self.state = State::Head;
            return Some(Piece::Frame(header, payload));
        }
        let taken = (length - self.spill.len()).min(input.len());
        self.spill.extend_from_slice(&input[..taken]);
        *input = &input[taken..];
        if self.spill.len() < length {
            return None;
        }
        self.state = State::Head;
        Some(Piece::Frame(header, &self.spill))
    }
}

fn data(header: Header) -> Result<State, (Http2, Header)> {
    if !header.has(PADDED) {
        return Ok(State::Data { header, content: header.length, padding: 0 });
    }
    if header.length == 0 {
        return Err((Http2::PadLength, header));
    }
    Ok(State::PadLength(header))
}
