use super::*;
use proptest::prelude::*;

type Fields = Vec<(Vec<u8>, Vec<u8>)>;

fn decode(decoder: &mut Decoder, block: &[u8]) -> Result<Fields, DecodeError> {
    let mut fields = Vec::new();
    decoder.decode(block, &mut |name: &[u8], value: &[u8]| fields.push((name.to_vec(), value.to_vec())))?;
    Ok(fields)
}

fn hex(text: &str) -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).expect("hex digits");
    (0..text.len()).step_by(2).map(byte).collect()
}

/// Blocks of one connection as python3-hpack 4 writes them, with what they mean; before the last its table shrinks to 100 bytes.
#[test]
fn blocks_of_a_foreign_encoder_are_read() {
    let blocks: &[(&str, &[(&str, &str)])] = &[
        (
            "887689aa6355e580ae212e1f6196dd6d5f4a084a693f75040138a01fb8005c0014c5a37f5f87497ca589d34d1f5c82089e",
            &[
                (":status", "200"),
                ("server", "nginx/1.22.1"),
                ("date", "Sun, 22 Nov 2026 09:00:00 GMT"),
                ("content-type", "text/html"),
                ("content-length", "128"),
            ],
        ),
        (
            "88c16196dd6d5f4a084a693f75040138a01fb8005c0054c5a37fc0bf",
            &[
                (":status", "200"),
                ("server", "nginx/1.22.1"),
                ("date", "Sun, 22 Nov 2026 09:00:01 GMT"),
                ("content-type", "text/html"),
                ("content-length", "128"),
            ],
        ),
        (
            "8dc24085f2b10649cb84d19376ef77891c11fda9ac699e063f4084f2b1e49399fffe3ffffc3fffaffffbdffdfff3fe7ffcffbfffdffeffff0f",
            &[
                (":status", "404"),
                ("server", "nginx/1.22.1"),
                ("x-cache", "MISS"),
                ("set-cookie", "a=b; Path=/"),
                ("x-odd", "ü§~^|<>{}\\"),
            ],
        ),
        (
            "8287448b606c47fe12093e0b02a207418ff1e3c2e5f23a6ba0ab90f4dc79a699c25383f963e7",
            &[
                (":method", "GET"),
                (":scheme", "https"),
                (":path", "/a/b?c=d&e=%20"),
                (":authority", "www.example.com:8443"),
                ("x-cache", "MISS"),
                ("accept", "*/*"),
            ],
        ),
        (
            "3f4588760c6e67696e782f312e32322e31611d53756e2c203232204e6f7620323032362030393a30303a303120474d545f09746578742f68746d6c5c03313238",
            &[
                (":status", "200"),
                ("server", "nginx/1.22.1"),
                ("date", "Sun, 22 Nov 2026 09:00:01 GMT"),
                ("content-type", "text/html"),
                ("content-length", "128"),
            ],
        ),
    ];
    let mut decoder = Decoder::new(4096, 65536);
    for (block, fields) in blocks {
        let expected: Fields =
            fields.iter().map(|(name, value)| (name.as_bytes().into(), value.as_bytes().into())).collect();
        assert_eq!(decode(&mut decoder, &hex(block)), Ok(expected), "{block}");
    }
}

/// Each fault that RFC 7541 calls an error is one.
#[test]
fn bad_blocks_are_refused() {
    let cases = [
        ("80", DecodeError::Index),
        ("be", DecodeError::Index),
        ("ffffffffff7f", DecodeError::Cut),
        ("ffffffffffff00", DecodeError::Cut),
        ("40", DecodeError::Cut),
        ("400161", DecodeError::Cut),
        ("8220", DecodeError::SizeUpdate),
        ("3fe21f", DecodeError::SizeUpdate),
        ("00016181ff", DecodeError::Huffman),
        ("00016182ffff", DecodeError::Huffman),
        ("0001618118", DecodeError::Huffman),
        ("00016184ffffffff", DecodeError::Huffman),
    ];
    for (block, error) in cases {
        let mut decoder = Decoder::new(4096, 65536);
        assert_eq!(decode(&mut decoder, &hex(block)), Err(error), "{block}");
    }
}

#[test]
fn a_bomb_is_too_long_and_leaves_the_table_right() {
    let mut block = vec![0x40, 1, b'a', 0x7F, 0xA1, 0x0F];
    block.extend_from_slice(&[b'x'; 2080]);
    block.extend_from_slice(&[0xBE; 100]);
    let mut decoder = Decoder::new(4096, 10_000);
    assert_eq!(decode(&mut decoder, &block), Err(DecodeError::TooLong(10_000)));
    assert_eq!(decode(&mut decoder, &[0xBE]).map(|fields| fields[0].1.len()), Ok(2080));
}

#[test]
fn the_second_block_of_a_connection_is_five_bytes() {
    let mut encoder = Encoder::new(4096);
    let fields: [(&[u8], &[u8]); 5] = [
        (b":method", b"GET"),
        (b":scheme", b"http"),
        (b":path", b"/small"),
        (b":authority", b"127.0.0.1:8080"),
        (b"user-agent", b"wringer"),
    ];
    let mut write = || {
        let mut out = Vec::new();
        encoder.begin(&mut out);
        fields.iter().for_each(|(name, value)| encoder.field(name, value, Indexing::Insert, &mut out));
        (out, encoder.version())
    };
    let (first, version) = write();
    let (second, unchanged) = write();
    assert!(first.len() > 20);
    assert_eq!((second, unchanged), (hex("8286c0bfbe"), version));
}

#[test]
fn a_table_that_the_peer_shrinks_is_told_in_the_next_block() {
    let mut encoder = Encoder::new(4096);
    encoder.allow(0);
    encoder.allow(64);
    let mut out = Vec::new();
    encoder.begin(&mut out);
    assert_eq!(out, [0x20, 0x3F, 0x21]);
    out.clear();
    encoder.begin(&mut out);
    assert_eq!(out, b"");
}

fn indexing() -> impl Strategy<Value = Indexing> {
    prop_oneof![Just(Indexing::Insert), Just(Indexing::Literal), Just(Indexing::Never)]
}

fn name() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![Just(b"cookie".to_vec()), Just(b":path".to_vec()), "[a-c]{1,3}".prop_map(String::into_bytes)]
}

proptest! {
    /// Whatever is written is read, over many blocks of one connection, with tables of any size.
    #[test]
    fn written_is_read(
        blocks in proptest::collection::vec(
            proptest::collection::vec((name(), proptest::collection::vec(any::<u8>(), 0..40), indexing()), 0..12),
            1..8,
        ),
        sizes in proptest::collection::vec(0usize..300, 8),
    ) {
        let mut encoder = Encoder::new(4096);
        let mut decoder = Decoder::new(4096, 1 << 20);
        for (fields, size) in blocks.iter().zip(sizes) {
            encoder.allow(size);
            let mut out = Vec::new();
            encoder.begin(&mut out);
            fields.iter().for_each(|(name, value, indexing)| encoder.field(name, value, *indexing, &mut out));
            let expected: Fields = fields.iter().map(|(name, value, _)| (name.clone(), value.clone())).collect();
            prop_assert_eq!(decode(&mut decoder, &out), Ok(expected));
        }
    }

    /// Random bytes are refused or read, never more than that.
    #[test]
    fn anything_is_survived(block in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = decode(&mut Decoder::new(4096, 65536), &block);
    }

    #[test]
    fn every_text_is_decoded_as_it_was_encoded(text in proptest::collection::vec(any::<u8>(), 0..200)) {
        let (mut coded, mut back) = (Vec::new(), Vec::new());
        huffman::encode(&text, &mut coded);
        prop_assert_eq!(coded.len(), huffman::encoded_len(&text));
        prop_assert_eq!(huffman::decode(&coded, &mut back), Some(()));
        prop_assert_eq!(back, text);
    }
}
