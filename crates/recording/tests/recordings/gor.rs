//! goreplay's files: requests with their answers, whatever their order, and what is no record.

use crate::support::{Memory, open, requests};
use recording::import::gor::SEPARATOR;
use recording::import::{Finished, Import, ImportError, Options};
use recording::left_out::Reason;
use recording::private::Keep;
use recording::read::lines::Go;
use recording::words::{Condition, Method};

const BEGINS_NS: u64 = 1_795_746_709_000_000_000;

fn record(kind: u8, id: u32, ms: u64, message: &str) -> Vec<u8> {
    let head = format!("{kind} {id:024x} {} 2000000\n", BEGINS_NS + ms * 1_000_000);
    [head.as_bytes(), message.as_bytes(), SEPARATOR].concat()
}

fn get(path: &str, more: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: shop.example\r\n{more}\r\n")
}

fn ok(body: &str, more: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n{more}\r\n{body}", body.len())
}

fn import(options: Options, bytes: &[u8]) -> Result<Finished<Vec<u8>>, ImportError> {
    let mut import = Import::new(options, Memory::default());
    import.gor("a.gor", &mut &bytes[..], &mut |_| Go::On)?;
    import.finish(Vec::new())
}

#[test]
fn requests_and_answers_are_joined() {
    let private = "Cookie: s3cr3t\r\nAuthorization: Basic s3cr3t\r\nX-Forwarded-For: 192.0.2.7, 10.0.0.1\r\n";
    let file = [
        record(1, 1, 0, &get("/a", private)),
        record(1, 2, 5, &get("/b", "If-None-Match: \"x\"\r\n")),
        record(2, 2, 9, "HTTP/1.1 304 Not Modified\r\n\r\n"),
        record(2, 1, 10, &ok("hello", "Cache-Control: max-age=60\r\n")),
        record(3, 1, 11, &ok("replayed", "")),
        record(1, 3, 20, &get("/c", "")),
        record(1, 4, 30, "POST /d HTTP/1.1\r\nHost: shop.example\r\nContent-Length: 4\r\n\r\nbody"),
        record(2, 4, 31, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nyes\r\n0\r\n\r\n"),
    ]
    .concat();
    let keep = Keep { body: true, path: true, ..Keep::default() };
    let finished = import(Options { keep, ..Options::default() }, &file).unwrap();
    assert_eq!((finished.left_out.total(), finished.left_out.of(Reason::Other)), (1, 1));
    assert!(
        !finished.to.windows(6).any(|window| window == b"s3cr3t")
            && !finished.to.windows(9).any(|window| window == b"192.0.2.7")
    );
    let mut recording = open(&finished.to);
    assert_eq!(recording.header().inputs[0].format, "gor");
    let found = requests(&mut recording);
    let begins: Vec<u64> = found.iter().map(|one| one.begin_us).collect();
    assert_eq!(begins, [0, 5_000, 20_000, 30_000]);
    // The answer's first byte came 10 ms after, and its last 2 ms later.
    assert_eq!((found[0].first_byte_us, found[0].duration_us, found[0].size), (10_000, 12_000, 5));
    assert_eq!((found[1].status, found[1].kind.condition), (304, Condition::Tag));
    assert_eq!((found[2].status, found[2].end_us()), (200, None), "its answer is not in the file");
    assert_eq!((found[3].kind.method, found[3].sent()), (Method::Post, Some(3)));
}

#[test]
fn what_is_no_record_is_counted() {
    let file = [
        record(1, 1, 0, &get("/a", "")),
        b"nonsense".to_vec(),
        SEPARATOR.to_vec(),
        record(1, 2, 1, "\x16\x03\x01"),
        record(2, 9, 2, &ok("nobody asked", "")),
        record(1, 1, 3, &get("/a", "")),
        b"1 000000000000000000000007 17957467090".to_vec(),
    ]
    .concat();
    let options = Options { tolerate: 1.0, ..Options::default() };
    let finished = import(options, &file).unwrap();
    let left = |reason| finished.left_out.of(reason);
    assert_eq!((left(Reason::Unparsed), left(Reason::Hole), left(Reason::Cut)), (2, 1, 1));
    // The same id twice: neither is lost.
    assert_eq!(requests(&mut open(&finished.to)).len(), 2);
    assert!(matches!(import(Options::default(), &file), Err(ImportError::Lost { .. })));
}
