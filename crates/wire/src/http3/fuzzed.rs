//! The readers of a stream of frames and of field sections, for the fuzzer alone.

use super::frame::{FrameReader, Http3FrameKind, Http3Piece, Payload};
use super::qpack;
use crate::http2::Indexing;
use breach::{Breach, Qpack};

/// Bytes of a payload, and of a list of fields, that are borne.
const MOST: usize = 1 << 12;

/// Contents of a stream of frames.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Frames {
    /// Frames that begin, and the fields of HEADERS.
    pub text: String,
    /// The payloads of DATA, joined.
    pub body: Vec<u8>,
    /// It ends within a frame.
    pub is_cut: bool,
    /// The most bytes that were kept.
    pub kept: usize,
}

/// Reads bytes, so many at a time, as a stream of frames.
pub fn frames(bytes: &[u8], step: usize) -> (Frames, Option<Breach>) {
    let mut reader = FrameReader::default();
    let mut said = Frames::default();
    for mut input in bytes.chunks(step.max(1)) {
        loop {
            let piece = match reader.next(&mut input, MOST) {
                Ok(Some(piece)) => piece,
                Ok(None) => break,
                Err(error) => return (said, Some(error.into())),
            };
            match piece {
                Http3Piece::TooLong => said.text += "too long\n",
                Http3Piece::Begins(kind) => said.text += &format!("{kind:?}\n"),
                Http3Piece::Data(bytes) => said.body.extend_from_slice(bytes),
                Http3Piece::Whole(kind, payload) => {
                    let payload = match payload {
                        Payload::Here(payload) => payload,
                        Payload::Kept => &reader.kept,
                    };
                    said.text += &format!("{} bytes\n", payload.len());
                    if kind == Http3FrameKind::Headers {
                        match fields(payload) {
                            Ok(list) => said.text += &format!("{list:?}\n"),
                            Err(error) => return (said, Some(error.into())),
                        }
                    }
                }
            }
            said.kept = said.kept.max(reader.kept.capacity());
        }
    }
    said.is_cut = reader.is_within_frame();
    (said, None)
}

/// Names and values of a field section, as far as they are handed over.
pub type Fields = Vec<(Vec<u8>, Vec<u8>)>;

/// Reads a field section.
///
/// # Errors
/// It is broken.
pub fn fields(section: &[u8]) -> Result<Fields, Qpack> {
    let mut list = Fields::new();
    let mut bytes = 0;
    let mut sink = |name: &[u8], value: &[u8]| {
        bytes += name.len() + value.len();
        list.push((name.to_vec(), value.to_vec()));
    };
    qpack::decode(section, MOST, &mut Vec::new(), &mut sink)?;
    assert!(bytes <= MOST);
    Ok(list)
}

/// Writes a field section.
pub fn written(fields: &Fields, indexing: Indexing) -> Vec<u8> {
    let mut section = Vec::new();
    qpack::begin(&mut section);
    fields.iter().for_each(|(name, value)| qpack::encode(name, value, indexing, &mut section));
    section
}
