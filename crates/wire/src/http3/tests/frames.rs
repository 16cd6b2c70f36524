//! Frames and field blocks, however they are cut, and whatever they hold.

use super::super::frame::{FrameReader, Http3FrameKind, Http3Piece, Payload, head, put_varint, varint};
use super::super::qpack;
use crate::http2::Indexing;
use proptest::prelude::*;

type Fields = Vec<(Vec<u8>, Vec<u8>)>;

fn decode(block: &[u8]) -> Option<Fields> {
    let mut fields = Vec::new();
    let mut sink = |name: &[u8], value: &[u8]| fields.push((name.to_vec(), value.to_vec()));
    qpack::decode(block, 1 << 16, &mut Vec::new(), &mut sink).ok()?;
    Some(fields)
}

fn encode(fields: &Fields, indexing: Indexing) -> Vec<u8> {
    let mut block = Vec::new();
    qpack::begin(&mut block);
    fields.iter().for_each(|(name, value)| qpack::encode(name, value, indexing, &mut block));
    block
}

fn hex(text: &str) -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).expect("hex digits");
    (0..text.len()).step_by(2).map(byte).collect()
}

/// Blocks as ls-qpack writes them (pylsqpack 1.0) without a dynamic table, with what they mean.
#[test]
fn blocks_of_a_foreign_encoder_are_read() {
    let blocks: &[(&str, &[(&str, &str)])] = &[
        (
            "0000d1d750882f91d35d055c87a7c1",
            &[(":method", "GET"), (":scheme", "https"), (":authority", "example.com"), (":path", "/")],
        ),
        (
            "0000d4d7508b1ae5f23a6ba0b71e69a67f518962dae838e4ff3cc01f5485089969b73fee2f04f2b5b575a8fe2a5aa1d25f8cee3a2d2a9e0c99d44563215155861c11fda84824",
            &[
                (":method", "POST"),
                (":scheme", "https"),
                (":authority", "a.example:8443"),
                (":path", "/upload?x=1"),
                ("content-length", "123456"),
                ("content-type", "application/json"),
                ("x-unknown-name", "value with spaces"),
                ("cookie", "a=b; c=d"),
            ],
        ),
        (
            "0000d9f4e65696d07abe94132a693f75040138a01bb8005c0014c5a37f578efe401132d36e3af3e38c92165fe7fb5f4d86a11dab193aff",
            &[
                (":status", "200"),
                ("content-type", "text/html; charset=utf-8"),
                ("cache-control", "max-age=604800"),
                ("date", "Mon, 23 Nov 2026 05:00:00 GMT"),
                ("etag", "\"0123456789abcdef\""),
                ("vary", "accept-encoding"),
                ("server", "lsqpack"),
            ],
        ),
        (
            "0000d85b94fff8c213ea82ae4423fefed4b0b4415d85a0e393",
            &[(":status", "103"), ("link", "</style.css>; rel=preload")],
        ),
        (
            "00002f019acac8b21234da8f01302f029acac8b5254207317f881d14286429e0b451",
            &[("grpc-status", "0"), ("grpc-message", "all is well")],
        ),
    ];
    for (block, meant) in blocks {
        let meant: Fields =
            meant.iter().map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec())).collect();
        assert_eq!(decode(&hex(block)), Some(meant), "{block}");
    }
}

/// Every entry of the static table is written as its number, and read back (RFC 9204 appendix A has 99).
#[test]
fn the_static_table_is_that_of_the_rfc() {
    let known = [
        (0, ":authority", ""),
        (1, ":path", "/"),
        (17, ":method", "GET"),
        (25, ":status", "200"),
        (52, "content-type", "text/html; charset=utf-8"),
        (63, ":status", "100"),
        (98, "x-frame-options", "sameorigin"),
    ];
    for (number, name, value) in known {
        let fields = vec![(name.as_bytes().to_vec(), value.as_bytes().to_vec())];
        let block = encode(&fields, Indexing::Insert);
        let wanted = if number < 63 { vec![0, 0, 0xC0 | number] } else { vec![0, 0, 0xFF, number - 63] };
        assert_eq!((block.clone(), decode(&block)), (wanted, Some(fields)), "{name} {value}");
    }
    assert_eq!(decode(&[0, 0, 0xFF, 99 - 63]), None, "there are 99");
}

#[test]
fn secrets_are_never_indexed_and_say_so() {
    let fields =
        vec![(b"authorization".to_vec(), b"Basic eA==".to_vec()), (b"x-secret".to_vec(), b"1".to_vec())];
    let block = encode(&fields, Indexing::Never);
    assert_eq!(block[2] & 0xF0, 0x70, "a literal with the name of an entry, never to be indexed");
    assert_eq!(decode(&block), Some(fields));
}

fn frames() -> impl Strategy<Value = Vec<(u64, Vec<u8>)>> {
    let kinds = prop_oneof![Just(0u64), Just(1), Just(0x21), Just(0x1234_5678), Just(7)];
    prop::collection::vec((kinds, prop::collection::vec(any::<u8>(), 0..300)), 0..8)
}

/// Contents of a stream of frames: their types, the content, and payloads that are kept whole.
type Holds = (Vec<Http3FrameKind>, Vec<u8>, Vec<(Http3FrameKind, Vec<u8>)>);

/// All that a reader makes of a stream that comes in these pieces.
fn read(bytes: &[u8], pieces: &[usize]) -> Holds {
    let mut reader = FrameReader::default();
    let mut begun = Vec::new();
    let mut data = Vec::new();
    let mut whole = Vec::new();
    let mut rest = bytes;
    let mut sizes = pieces.iter().cycle();
    while !rest.is_empty() {
        let size = sizes.next().copied().unwrap_or(1).clamp(1, rest.len());
        let (mut part, after) = rest.split_at(size);
        rest = after;
        while let Some(piece) = reader.next(&mut part, 1 << 16).unwrap() {
            match piece {
                Http3Piece::Begins(kind) => begun.push(kind),
                Http3Piece::TooLong => panic!("none is as long"),
                Http3Piece::Data(bytes) => data.extend_from_slice(bytes),
                Http3Piece::Whole(kind, Payload::Here(bytes)) => whole.push((kind, bytes.to_vec())),
                Http3Piece::Whole(kind, Payload::Kept) => whole.push((kind, reader.kept.clone())),
            }
        }
    }
    (begun, data, whole)
}

proptest! {
    #[test]
    fn any_split_reads_the_same(frames in frames(), pieces in prop::collection::vec(1usize..40, 1..6)) {
        let mut bytes = Vec::new();
        for (kind, payload) in &frames {
            head(*kind, payload.len() as u64, &mut bytes);
            bytes.extend_from_slice(payload);
        }
        let whole = read(&bytes, &[usize::MAX]);
        prop_assert_eq!(&whole, &read(&bytes, &pieces));
        prop_assert_eq!(whole.0.len(), frames.len());
        let data: Vec<u8> = frames.iter().filter(|(kind, _)| *kind == 0).flat_map(|(_, bytes)| bytes.clone()).collect();
        prop_assert_eq!(whole.1, data);
    }

    #[test]
    fn integers_are_read_as_they_were_written(value in 0u64..1 << 62) {
        let mut bytes = Vec::new();
        put_varint(value, &mut bytes);
        prop_assert_eq!(varint(&bytes), Some((value, bytes.len())));
        prop_assert_eq!(varint(&bytes[..bytes.len() - 1]), None);
    }

    #[test]
    fn blocks_are_read_as_they_were_written(
        fields in prop::collection::vec(("[a-z-]{1,20}", "[ -~]{0,60}"), 0..12),
        never in any::<bool>(),
    ) {
        let fields: Fields = fields.into_iter().map(|(name, value)| (name.into_bytes(), value.into_bytes())).collect();
        let indexing = if never { Indexing::Never } else { Indexing::Literal };
        prop_assert_eq!(decode(&encode(&fields, indexing)), Some(fields));
    }

    /// Whatever comes, it ends, and what is kept is bounded.
    #[test]
    fn rubbish_neither_panics_nor_grows(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        decode(&bytes);
        let mut reader = FrameReader::default();
        let mut rest = &bytes[..];
        while let Ok(Some(_)) = reader.next(&mut rest, 4096) {}
        prop_assert!(reader.kept.len() <= 4096);
    }
}
