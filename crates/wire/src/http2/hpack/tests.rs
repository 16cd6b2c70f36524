use super::*;
use breach::Hpack;
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
        ("80", Hpack::Index),
        ("be", Hpack::Index),
        ("ffffffffff7f", Hpack::Integer),
        ("ffffffffffff00", Hpack::Integer),
        ("40", Hpack::Integer),
        ("400161", Hpack::Integer),
        ("40056161", Hpack::String),
        ("8220", Hpack::TableSizeLate),
        ("3fe21f", Hpack::TableSize),
        ("00016181ff", Hpack::Huffman),
        ("00016182ffff", Hpack::Huffman),
        ("0001618118", Hpack::Huffman),
        ("00016184ffffffff", Hpack::Huffman),
    ];
    for (block, error) in cases {
        let mut decoder = Decoder::new(4096, 65536);
        assert_eq!(decode(&mut decoder, &hex(block)), Err(DecodeError::Broken(error)), "{block}");
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
        let mut coded = Vec::new();
        let mut back = Vec::new();
        huffman::encode(&text, &mut coded);
        prop_assert_eq!(coded.len(), huffman::encoded_len(&text));
        prop_assert_eq!(huffman::decode(&coded, &mut back), Some(()));
        prop_assert_eq!(back, text);
    }
}

/// Literals of all kinds, indexed fields and changes of size.
fn pieces_of_blocks() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let text = prop_oneof![8 => 0usize..60, 1 => 4_000usize..5_000, 1 => 20_000usize..70_000];
    let literal = (prop_oneof![Just(0x40u8), Just(0x00), Just(0x10)], text.clone(), text).prop_map(
        |(first, name, value)| {
            let mut field = vec![first];
            for length in [name, value] {
                integer::write(length, 7, 0, &mut field);
                field.extend((0..length).map(|at| b'a' + (at % 26) as u8));
            }
            field
        },
    );
    let indexed = (1usize..64).prop_map(|index| {
        let mut field = Vec::new();
        integer::write(index, 7, 0x80, &mut field);
        field
    });
    let named = (1usize..64, 0usize..40).prop_map(|(index, length)| {
        let mut field = Vec::new();
        integer::write(index, 6, 0x40, &mut field);
        integer::write(length, 7, 0, &mut field);
        field.extend(vec![b'v'; length]);
        field
    });
    proptest::collection::vec(prop_oneof![3 => literal, 1 => indexed, 2 => named], 0..12)
}

proptest! {
    /// A block that is only skimmed leaves the same table as one that is decoded, however it is cut.
    #[test]
    fn skimming_leaves_the_same_table(fields in pieces_of_blocks(), sizes in proptest::collection::vec(1usize..30_000, 1..6)) {
        let block = fields.concat();
        let mut whole = Decoder::new(4096, 1 << 30);
        let decoded = whole.decode(&block, &mut |_: &[u8], _: &[u8]| {});
        let mut skimmed = Decoder::new(4096, 0);
        let mut skim = Skim::default();
        let mut rest = &block[..];
        let mut read = Ok(());
        for size in sizes.iter().cycle() {
            let (piece, after) = rest.split_at((*size).min(rest.len()));
            rest = after;
            read = skim.piece(&mut skimmed, piece);
            if read.is_err() || rest.is_empty() {
                break;
            }
        }
        let read = read.and_then(|()| skim.end());
        prop_assert_eq!(decoded.is_ok(), read.is_ok(), "{:?} {:?}", decoded, read);
        if read.is_ok() {
            for index in 62..130 {
                let mut ask = Vec::new();
                integer::write(index, 7, 0x80, &mut ask);
                let found = |decoder: &mut Decoder| {
                    let mut found = Vec::new();
                    decoder.list_limit = 1 << 30;
                    let read = decoder.decode(&ask, &mut |name: &[u8], value: &[u8]| found.push((name.to_vec(), value.to_vec())));
                    (read, found)
                };
                prop_assert_eq!(found(&mut whole), found(&mut skimmed));
            }
        }
    }
}
