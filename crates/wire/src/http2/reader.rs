//! Bytes → frames, however they were split.
//!
//! DATA is handed on as it comes; every other frame whole, from the caller's buffer where it lies there whole, from a spill
//! where it does not. Knows lengths and nothing else of a frame.

use super::frame::{HEADER_LEN, Header, Http2FrameKind, PADDED};
use breach::Http2;

/// A piece of what arrived.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Http2Piece<'b> {
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
    state: Http2State,
    /// Payload of a frame that arrives in pieces.
    spill: Vec<u8>,
}

#[derive(Debug, Default, Clone, Copy)]
enum Http2State {
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
        self.have > 0 || !matches!(self.state, Http2State::Head)
    }

    /// True if the header of a frame, or a frame of fields, has come in part.
    pub(super) fn is_within_head(&self) -> bool {
        let is_fields = |kind| matches!(kind, Http2FrameKind::Headers | Http2FrameKind::Continuation);
        self.have > 0 || matches!(self.state, Http2State::Payload(header) if is_fields(header.kind))
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
    ) -> Result<Option<Http2Piece<'b>>, (Http2, Header)> {
        loop {
            match self.state {
                Http2State::Head => {
                    let Some(header) = self.header(input) else { return Ok(None) };
                    if header.length > max_frame_size {
                        return Err((Http2::FrameSize, header));
                    }
                    if header.kind == Http2FrameKind::Data {
                        self.state = data(header)?;
                        return Ok(Some(Http2Piece::DataBegins(header)));
                    }
                    self.spill.clear();
                    self.state = Http2State::Payload(header);
                }
                Http2State::PadLength(header) => {
                    let Some((padding, rest)) = input.split_first() else { return Ok(None) };
                    *input = rest;
                    let padding = u32::from(*padding);
                    let content = (header.length - 1).checked_sub(padding).ok_or((Http2::Padding, header))?;
                    self.state = Http2State::Data { header, content, padding };
                }
                Http2State::Data { header, content: 0, padding } => {
                    let taken = (padding as usize).min(input.len());
                    *input = &input[taken..];
                    let padding = padding - taken as u32;
                    if padding > 0 {
                        self.state = Http2State::Data { header, content: 0, padding };
                        return Ok(None);
                    }
                    self.state = Http2State::Head;
                    return Ok(Some(Http2Piece::DataEnds(header)));
                }
                Http2State::Data { header, content, padding } => {
                    if input.is_empty() {
                        return Ok(None);
                    }
                    let (bytes, rest) = input.split_at((content as usize).min(input.len()));
                    *input = rest;
                    self.state = Http2State::Data { header, content: content - bytes.len() as u32, padding };
                    return Ok(Some(Http2Piece::Data(bytes)));
                }
                Http2State::Payload(header) => return Ok(self.payload(header, input)),
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

    fn payload<'b, 'i: 'b>(&'b mut self, header: Header, input: &mut &'i [u8]) -> Option<Http2Piece<'b>> {
        let length = header.length as usize;
        if self.spill.is_empty() && input.len() >= length {
            let (payload, rest) = input.split_at(length);
            *input = rest;
            self.state = Http2State::Head;
            return Some(Http2Piece::Frame(header, payload));
        }
        let taken = (length - self.spill.len()).min(input.len());
        self.spill.extend_from_slice(&input[..taken]);
        *input = &input[taken..];
        if self.spill.len() < length {
            return None;
        }
        self.state = Http2State::Head;
        Some(Http2Piece::Frame(header, &self.spill))
    }
}

fn data(header: Header) -> Result<Http2State, (Http2, Header)> {
    if !header.has(PADDED) {
        return Ok(Http2State::Data { header, content: header.length, padding: 0 });
    }
    if header.length == 0 {
        return Err((Http2::PadLength, header));
    }
    Ok(Http2State::PadLength(header))
}
