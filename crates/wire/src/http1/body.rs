//! Removes a message's framing: content comes out as slices of the input, trailers as fields.
//!
//! Must not know heads. Start at [`Http1Body::read`].

use super::head::{BlankLine, field_limit};
use super::{Breach, CHUNK_LINE_LIMIT, Error, FIELDS_CAP, Http1Framing, Http1Limits};

/// Where content goes: the part that the two public sinks have in common.
pub(super) trait Content {
    fn body(&mut self, bytes: &[u8]);
    fn trailer(&mut self, name: &[u8], value: &[u8]);
}

/// Content that is not read on, and where in the input it is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) error: Error,
    pub(super) at: usize,
}

/// A message's content as it is being read.
#[derive(Debug)]
pub(super) enum Http1Body {
    /// Bytes still to come.
    Length(u64),
    Chunked(Chunks),
    UntilClose,
}

impl Http1Body {
    /// The content that a framing announces; `None` when the message ends with its head.
    #[inline]
    pub(super) fn new(framing: Http1Framing) -> Option<Http1Body> {
        match framing {
            Http1Framing::None | Http1Framing::Length(0) => None,
            Http1Framing::Length(length) => Some(Http1Body::Length(length)),
            Http1Framing::Chunked => Some(Http1Body::Chunked(Chunks::default())),
            Http1Framing::UntilClose => Some(Http1Body::UntilClose),
        }
    }

    /// Takes what belongs to the content. Returns bytes consumed and whether the content is complete.
    #[inline]
    pub(super) fn read(
        &mut self,
        input: &[u8],
        limits: &Http1Limits,
        sink: &mut impl Content,
    ) -> Result<(usize, bool), Refused> {
        match self {
            Http1Body::Length(left) => {
                let content = up_to(input, *left);
                *left -= content.len() as u64;
                sink.body(content);
                Ok((content.len(), *left == 0))
            }
            Http1Body::Chunked(chunks) => chunks.read(input, limits, sink),
            Http1Body::UntilClose => {
                sink.body(input);
                Ok((input.len(), false))
            }
        }
    }

    /// The peer closed before the content was complete: right for [`Http1Framing::UntilClose`] only.
    pub(super) fn end_of_stream(&self) -> Result<(), Error> {
        match self {
            Http1Body::Length(left) => Err(Error { breach: Breach::ClosedInBody, number: Some(*left) }),
            Http1Body::Chunked(_) => Err(Breach::ClosedInChunks.into()),
            Http1Body::UntilClose => Ok(()),
        }
    }
}

/// The first `count` bytes of `input`, or all.
#[inline]
fn up_to(input: &[u8], count: u64) -> &[u8] {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    &input[..input.len().min(count)]
}

/// The chunked transfer coding (RFC 9112 section 7.1), byte by byte in its lines, by slices in its data.
#[derive(Debug, Default)]
pub(super) struct Chunks {
    phase: Http1Phase,
    /// Bytes of the current size line so far.
    line: usize,
    /// The size being read, then bytes left of the chunk.
    size: u64,
    blank: BlankLine,
    /// A trailer section that arrived split.
    spill: Vec<u8>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Http1Phase {
    #[default]
    Size,
    /// White space after the size: some servers pad it (BWS, RFC 9112 section 7.1.1).
    Padding,
    Extension,
    SizeLf,
    Data,
    DataCr,
    DataLf,
    Trailers,
    Done,
}

impl Http1Phase {
    /// Name of what a byte is that may not stand there.
    #[cold]
    fn refuses(self, byte: u8) -> Breach {
        match self {
            Http1Phase::SizeLf => Breach::ChunkLineEnd,
            Http1Phase::Size | Http1Phase::Padding | Http1Phase::Extension if byte == b'\n' => {
                Breach::ChunkLineEnd
            }
            Http1Phase::Size | Http1Phase::Padding | Http1Phase::Extension => Breach::ChunkExtension,
            Http1Phase::DataCr
            | Http1Phase::DataLf
            | Http1Phase::Data
            | Http1Phase::Trailers
            | Http1Phase::Done => Breach::ChunkEnd,
        }
    }
}

impl Chunks {
    fn read(
        &mut self,
        input: &[u8],
        limits: &Http1Limits,
        sink: &mut impl Content,
    ) -> Result<(usize, bool), Refused> {
        let mut at = 0;
        while at < input.len() && self.phase != Http1Phase::Done {
            at += match self.phase {
                Http1Phase::Data => self.data(&input[at..], sink),
                Http1Phase::Trailers => {
                    self.trailers(&input[at..], limits, sink).map_err(|error| Refused { error, at })?
                }
                _ => self.line_byte(input[at]).map_err(|error| {
                    // Where its line began, if that came with it.
                    Refused { error, at: (at + 1).saturating_sub(self.line) }
                })?,
            };
        }
        Ok((at, self.phase == Http1Phase::Done))
    }

    fn data(&mut self, input: &[u8], sink: &mut impl Content) -> usize {
        let content = up_to(input, self.size);
        sink.body(content);
        self.size -= content.len() as u64;
        if self.size == 0 {
            self.phase = Http1Phase::DataCr;
        }
        content.len()
    }

    /// One byte of a size line or of the line end after a chunk. Both end with CRLF and nothing else: a bare LF here is
    /// how requests are smuggled (RFC 9112 section 11.2).
    fn line_byte(&mut self, byte: u8) -> Result<usize, Error> {
        self.line += 1;
        if self.line > CHUNK_LINE_LIMIT {
            return Err(Error::limit(Breach::ChunkLineLimit, CHUNK_LINE_LIMIT));
        }
        self.phase = match (self.phase, byte) {
            (Http1Phase::Size, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => self.digit(byte)?,
            // The size has at least one digit.
            (Http1Phase::Size, _) if self.line == 1 => return Err(Breach::ChunkSize.into()),
            (Http1Phase::Size | Http1Phase::Padding, b' ' | b'\t') => Http1Phase::Padding,
            (Http1Phase::Size | Http1Phase::Padding, b';') => Http1Phase::Extension,
            (Http1Phase::Size | Http1Phase::Padding | Http1Phase::Extension, b'\r') => Http1Phase::SizeLf,
            (Http1Phase::Extension, b'\t' | b' '..=b'~' | 0x80..) => Http1Phase::Extension,
            (Http1Phase::SizeLf, b'\n') => self.size_is_known(),
            (Http1Phase::DataCr, b'\r') => Http1Phase::DataLf,
            (Http1Phase::DataLf, b'\n') => {
                self.line = 0;
                Http1Phase::Size
            }
            (phase, byte) => return Err(phase.refuses(byte).into()),
        };
        Ok(1)
    }

    fn digit(&mut self, byte: u8) -> Result<Http1Phase, Error> {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            _ => (byte | 0x20) - b'a' + 10,
        };
        // Sixteen digits at most, leading zeros apart.
        if self.size >> 60 != 0 {
            return Err(Breach::ChunkTooLarge.into());
        }
        self.size = self.size << 4 | u64::from(digit);
        Ok(Http1Phase::Size)
    }

    fn size_is_known(&mut self) -> Http1Phase {
        self.line = 0;
        if self.size > 0 {
            return Http1Phase::Data;
        }
        self.blank = BlankLine::LineStart;
        Http1Phase::Trailers
    }

    /// The trailer section (RFC 9112 section 7.1.2), parsed once whole. Bounded like a head.
    fn trailers(
        &mut self,
        input: &[u8],
        limits: &Http1Limits,
        sink: &mut impl Content,
    ) -> Result<usize, Error> {
        let room = limits.head_bytes.saturating_sub(self.spill.len());
        let window = &input[..input.len().min(room)];
        let Some(end) = self.blank.find(window) else {
            self.spill.extend_from_slice(window);
            return if window.len() == room {
                Err(Error::limit(Breach::TrailersLimit, limits.head_bytes))
            } else {
                Ok(window.len())
            };
        };
        if self.spill.is_empty() {
            push_trailers(&window[..end], limits, sink)?;
        } else {
            self.spill.extend_from_slice(&window[..end]);
            push_trailers(&self.spill, limits, sink)?;
        }
        self.phase = Http1Phase::Done;
        Ok(end)
    }
}

fn push_trailers(section: &[u8], limits: &Http1Limits, sink: &mut impl Content) -> Result<(), Error> {
    // Nearly always there are none, and then the table is not worth clearing.
    if matches!(section, b"\r\n" | b"\n") {
        return Ok(());
    }
    let limit = field_limit(limits);
    let mut table = [httparse::EMPTY_HEADER; FIELDS_CAP];
    match httparse::parse_headers(section, &mut table[..limit]) {
        Ok(httparse::Status::Complete((_, fields))) => {
            fields.iter().for_each(|field| sink.trailer(field.name.as_bytes(), field.value));
            Ok(())
        }
        Err(httparse::Error::TooManyHeaders) => Err(Error::limit(Breach::FieldsLimit, limit)),
        _ => Err(Breach::TrailerField.into()),
    }
}
