//! Bad input: each row provoked; nothing is lost silently.

use super::support::{Memory, import, log, open, requests};
use recording::file::{Block, Note, ReadError, Recording};
use recording::import::{ImportError, Options};
use recording::left_out::Reason;
use recording::made::Laws;
use std::io::{Cursor, Read, Write};

const GOOD: &str = "192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] \"GET /a HTTP/1.0\" 200 2326 \"-\" \"x\"\n";

fn lossy() -> Options {
    Options { tolerate: 1.0, ..Options::default() }
}

/// Imports good lines around a bad one, and says why that one was left out.
fn reason(bad: &[u8]) -> Reason {
    let bytes = [GOOD.as_bytes(), bad, GOOD.as_bytes()].concat();
    let finished = import(lossy(), &[("a.log", "combined", &bytes)]).expect("two good lines");
    assert_eq!(finished.summary.requests, 2, "{}", String::from_utf8_lossy(bad));
    let left = &finished.header.left_out;
    assert_eq!(left.total(), 1, "{left:?}");
    let (reason, share) = left.reasons.iter().next().expect("one");
    assert_eq!((share.examples[0].input.as_str(), share.examples[0].line), ("a.log", 2));
    assert!(share.examples[0].text.is_empty(), "a recording keeps no line");
    *reason
}

#[test]
fn lines_that_are_no_requests_are_counted_by_reason() {
    let line = |request: &str| GOOD.replace("GET /a HTTP/1.0", request).into_bytes();
    let timed = |time: &str| GOOD.replace("10/Oct/2000:13:55:36 -0700", time).into_bytes();
    let long = [&vec![b'x'; 70_000][..], b"\n"].concat();
    for (bad, expected) in [
        (b"hello\n".to_vec(), Reason::Unparsed),
        (b"192.0.2.1 - \0\0\0\0\n".to_vec(), Reason::Nul),
        (long, Reason::TooLong),
        (line("-"), Reason::NoRequest),
        (line("<BADREQ>"), Reason::NoRequest),
        (line(r"\x16\x03\x01\x02"), Reason::NoRequest),
        (line("GET error:invalid HTTP/1.0"), Reason::NoRequest),
        (line(r"GET /a\x0d\x0aX:y HTTP/1.1"), Reason::Unsendable),
        (line("GET /a b HTTP/1.1"), Reason::Unsendable),
        (line(r"GET /a\x01 HTTP/1.1"), Reason::Unsendable),
        (line("CONNECT a.example:443 HTTP/1.1"), Reason::Connect),
        (line("OPTIONS * HTTP/1.1"), Reason::NoObject),
        (timed("10/Oct/1970:13:55:36 -0700"), Reason::Time),
        (timed("10/Oct/2900:13:55:36 -0700"), Reason::Time),
        (GOOD.replace("200 2326", "101 0").into_bytes(), Reason::Upgrade),
    ] {
        assert_eq!(reason(&bad), expected, "{}", String::from_utf8_lossy(&bad[..bad.len().min(90)]));
    }
}

#[test]
fn a_last_line_that_is_cut_is_left_out_and_a_whole_one_without_end_is_read() {
    let whole = GOOD.trim_end();
    let finished = import(lossy(), &[("a", "combined", whole.as_bytes())]).unwrap();
    assert_eq!(finished.summary.requests, 1);
    let cut = format!("{GOOD}{}", &GOOD[..60]);
    let finished = import(lossy(), &[("a", "combined", cut.as_bytes())]).unwrap();
    assert_eq!(finished.header.left_out.of(Reason::Cut), 1);
}

#[test]
fn more_losses_than_tolerated_are_refused() {
    let bytes = [GOOD.repeat(90), "x\n".repeat(2)].concat();
    let error = import(Options::default(), &[("a.log", "combined", bytes.as_bytes())]).unwrap_err();
    assert!(matches!(error, ImportError::Lost { lines: 92, .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("2 of 92 lines") && text.contains("a.log line 91, column 1: x"), "{text}");
    let few = [GOOD.repeat(300), "x\n".repeat(2)].concat();
    assert!(import(Options::default(), &[("a.log", "combined", few.as_bytes())]).is_ok());
    // What tells of no request is no loss.
    let scans = [GOOD.to_owned(), GOOD.replace("GET /a HTTP/1.0", "-").repeat(50)].concat();
    assert!(import(Options::default(), &[("a.log", "combined", scans.as_bytes())]).is_ok());
}

#[test]
fn nothing_to_replay() {
    let error = import(Options::default(), &[("a", "combined", b"")]).unwrap_err();
    assert_eq!(error.to_string(), "nothing to replay: 0 lines, for the input is empty");
    let none = GOOD.replace("GET /a HTTP/1.0", "-");
    let error = import(Options::default(), &[("a", "combined", none.as_bytes())]).unwrap_err();
    assert!(
        error.to_string().contains("nothing to replay: 1 lines, of them 1 tells of no request"),
        "{error}"
    );
}

#[test]
fn times_that_go_back_or_stand_still_are_noted() {
    let at = |clock: &str| GOOD.replace("13:55:36", clock);
    let bytes = [at("13:55:36"), at("13:55:30"), at("13:55:29"), at("14:00:00"), at("12:00:00")].concat();
    let finished = import(Options::default(), &[("a.log", "combined", bytes.as_bytes())]).unwrap();
    let expected = Note::StepsBack { count: 2, widest_us: 7_200_000_000, at: "a.log line 2".to_owned() };
    assert!(finished.header.notes.contains(&expected), "{:?}", finished.header.notes);
    let finished = import(Options::default(), &[("a", "combined", GOOD.repeat(5).as_bytes())]).unwrap();
    assert!(finished.header.notes.contains(&Note::TimesEqual { at_us: 971_211_336_000_000 }));
    let haproxy = r#"192.0.2.1:1 [10/Oct/2000:20:55:36.655] f b/s 0/0/0/1/1 200 2750 - - ---- 1/1/1/1/0 0/0 "GET / HTTP/1.1""#;
    let finished = import(Options::default(), &[("h", "haproxy", haproxy.as_bytes())]).unwrap();
    assert!(finished.header.notes.contains(&Note::ZoneMissing { input: "h".to_owned() }));
}

/// A key that is mistyped is read of no line, and a unit that is mistaken makes every answer slow.
#[test]
fn keys_that_no_line_has_and_times_beyond_belief_are_noted() {
    let line =
        |ms: u64| format!("{{\"t\":{},\"p\":\"/a\",\"took\":{}}}\n", 1_795_746_709_000 + ms * 40, ms * 9);
    let lines: String = (1..=50).map(line).collect();
    let notes = |format: &str| {
        import(Options::default(), &[("a.log", format, lines.as_bytes())]).unwrap().header.notes
    };
    let unseen = Note::KeysUnseen { input: "a.log".to_owned(), keys: vec!["tok".to_owned()] };
    assert!(notes("json:time=t,path=p,duration_ms=tok").contains(&unseen));
    let right = notes("json:time=t,path=p,duration_ms=took");
    let is_noted = |note: &Note| matches!(note, Note::KeysUnseen { .. } | Note::TimesLong { .. });
    assert!(!right.iter().any(is_noted), "{right:?}");
    // Three of fifty took less than half a minute, if they were seconds.
    let long = Note::TimesLong { share: 0.94, above_us: 30_000_000 };
    assert!(notes("json:time=t,path=p,duration=took").contains(&long));
}

#[test]
fn the_same_file_twice_and_files_that_overlap() {
    let bytes = GOOD.repeat(3);
    let error = import(
        Options::default(),
        &[("a", "combined", bytes.as_bytes()), ("b", "combined", bytes.as_bytes())],
    );
    assert_eq!(error.unwrap_err().to_string(), "b has the same content as a: each request would count twice");
    let log = log(&Laws { requests: 30_000, ..Laws::default() }, "caddy");
    let lines: Vec<&[u8]> = log.split_inclusive(|byte| *byte == b'\n').collect();
    let one = lines[..20_000].concat();
    let other = lines[10_000..].concat();
    let finished = import(Options::default(), &[("a", "caddy", &one), ("b", "caddy", &other)]).unwrap();
    let shared = finished.header.notes.iter().find_map(|note| match note {
        Note::Overlap { shared, .. } => Some(*shared),
        _ => None,
    });
    assert!((0.2..0.8).contains(&shared.expect("a note")), "{shared:?}");
}

#[test]
fn packed_logs_that_break_off() {
    let log = GOOD.repeat(20_000);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(log.as_bytes()).unwrap();
    let packed = encoder.finish().unwrap();
    let cut = &packed[..packed.len() * 2 / 3];
    let read = |options| {
        let mut import = recording::import::Import::new(options, Memory::default());
        let mut format =
            recording::format::Format::parse("combined", recording::moment::Zone::Untold).unwrap();
        let mut unpacked = recording::read::unpack::Unpacked::new(cut).unwrap();
        import.log("a.gz", &mut format, &mut unpacked as &mut dyn Read, &mut |_| {
            recording::read::lines::Go::On
        })?;
        import.finish(Vec::new())
    };
    let error = read(lossy()).unwrap_err().to_string();
    assert!(error.contains("a.gz cannot be read after") && error.contains("breaks off"), "{error}");
    let kept = read(Options { keep_broken: true, ..lossy() }).unwrap();
    assert!(kept.summary.requests > 5_000);
    assert!(kept.header.inputs[0].broken.as_ref().is_some_and(|why| why.contains("breaks off")));
}

fn written(requests: u64) -> Vec<u8> {
    let log = log(&Laws { requests, ..Laws::default() }, "caddy");
    import(Options::default(), &[("a", "caddy", &log)]).unwrap().to
}

#[test]
fn recordings_that_are_no_recordings_newer_or_cut() {
    let bytes = written(500);
    let opened = |bytes: &[u8]| Recording::open(Cursor::new(bytes.to_vec()));
    assert!(matches!(opened(b"GET / HTTP/1.1"), Err(ReadError::NoRecording)));
    assert!(matches!(opened(b""), Err(ReadError::NoRecording)));
    let mut newer = bytes.clone();
    newer[8] = 9;
    assert!(matches!(opened(&newer), Err(ReadError::Newer(9))));
    for cut in [bytes.len() - 1, bytes.len() / 2, 40] {
        assert!(matches!(opened(&bytes[..cut]), Err(ReadError::Cut(_))), "{cut}");
    }
}

#[test]
fn what_stands_behind_a_recording_is_refused_with_its_place() {
    let bytes = written(500);
    let other = written(300);
    let opened = |parts: &[&[u8]]| Recording::open(Cursor::new(parts.concat()));
    let end = bytes.len() as u64;
    for behind in [&bytes[..], b"\n", &[0; 5_000]] {
        let error = opened(&[&bytes, behind]).unwrap_err();
        let found = matches!(error, ReadError::Behind { end: at, bytes } if (at, bytes) == (end, behind.len() as u64));
        assert!(found, "{error}");
        assert!(error.to_string().contains("--salvage"), "{error}");
        let mut saved = Recording::salvage(Cursor::new([&bytes[..], behind].concat())).unwrap();
        assert_eq!(requests(&mut saved), requests(&mut open(&bytes)));
    }
    assert!(opened(&[&bytes, &other]).is_err(), "its index is that of the other one");
    // Something between its parts is as wrong.
    let (parts, last) = bytes.split_at(bytes.len() - 16);
    assert!(matches!(opened(&[parts, b"x", last]), Err(ReadError::Behind { .. })));
}

#[test]
fn each_damaged_byte_is_seen() {
    let bytes = written(300);
    let mut block = Block::default();
    for at in (16..bytes.len()).step_by(7) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x40;
        let seen = match Recording::open(Cursor::new(damaged)) {
            Err(_) => true,
            Ok(mut recording) => {
                let blocks = (0..recording.block_count())
                    .all(|number| recording.read_block(number, &mut block).is_ok());
                !(blocks && recording.urls(|_, _| {}).is_ok() && recording.users(|_, _, _| {}).is_ok())
            }
        };
        assert!(seen, "byte {at} of {}", bytes.len());
    }
}

#[test]
fn what_is_whole_of_a_damaged_recording_is_read() {
    let bytes = written(200_000);
    let whole = requests(&mut open(&bytes));
    let places = open(&bytes).places();
    assert!(places.len() >= 4);
    // The second block is damaged, the end is missing.
    let mut damaged = bytes[..places[3].offset as usize + 100].to_vec();
    damaged[places[1].offset as usize + 1_000] ^= 1;
    let mut saved = Recording::salvage(Cursor::new(damaged)).unwrap();
    let salvage = saved.salvaged().unwrap().clone();
    assert!(salvage.cut);
    assert_eq!(salvage.missing, u64::from(places[1].count));
    assert_eq!(salvage.gaps.len(), 2, "{salvage:?}");
    assert_eq!(salvage.gaps[0].offset, places[1].offset);
    let found = requests(&mut saved);
    let expected = [&whole[..65_536], &whole[131_072..196_608]].concat();
    assert_eq!(found, expected);
    let mut urls = 0;
    saved.urls(|_, _| urls += 1).unwrap();
    assert!(urls > 0);
    // A damaged block of an otherwise whole recording is named with its place.
    let mut damaged = bytes.clone();
    damaged[places[1].offset as usize + 1_000] ^= 1;
    let mut recording = Recording::open(Cursor::new(damaged)).unwrap();
    let error = recording.read_block(1, &mut Block::default()).unwrap_err().to_string();
    assert!(error.contains("block 1 at byte") && error.contains("checksum"), "{error}");
}

/// The section that holds this byte is sealed again, in its head and in the index behind it, as by somebody who means it.
fn resealed(bytes: &[u8], at: usize) -> Vec<u8> {
    let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let seal = |head: &mut [u8], content: &[u8]| {
        head[8..12].copy_from_slice(&(content.len() as u32).to_le_bytes());
        head[12..16].copy_from_slice(&crc32fast::hash(content).to_le_bytes());
        let own = crc32fast::hash(&head[..16]);
        head[16..20].copy_from_slice(&own.to_le_bytes());
    };
    let begins = bytes[..at].windows(4).rposition(|window| window == b"\xf7rs\n").expect("a section");
    let before = number(begins + 12);
    let index = begins + 20 + number(begins + 8) as usize;
    let mut head = bytes[begins..begins + 20].to_vec();
    seal(&mut head, &bytes[begins + 20..index]);
    let crc = |crc: u32| format!("\"crc\":{crc},");
    let places = String::from_utf8(bytes[index + 20..bytes.len() - 16].to_vec()).expect("JSON");
    let after = crc32fast::hash(&bytes[begins + 20..index]);
    let places = places.replace(&crc(before), &crc(after));
    let mut index_head = bytes[index..index + 20].to_vec();
    seal(&mut index_head, places.as_bytes());
    [
        &bytes[..begins],
        &head,
        &bytes[begins + 20..index],
        &index_head,
        places.as_bytes(),
        &bytes[bytes.len() - 16..],
    ]
    .concat()
}

/// A summary that is whole, and names another content than that which is there.
#[test]
fn parts_that_do_not_belong_together_are_told_by_the_fingerprint() {
    let mut bytes = written(300);
    let text = b"\"fingerprint\":";
    let at = bytes.windows(text.len()).rposition(|window| window == text).expect("a summary") + text.len();
    assert!(Recording::open(Cursor::new(resealed(&bytes, at))).is_ok(), "nothing was changed");
    // Not the first digit, which could make it too large.
    bytes[at + 3] = if bytes[at + 3] == b'1' { b'2' } else { b'1' };
    let error = Recording::open(Cursor::new(resealed(&bytes, at))).unwrap_err();
    assert!(matches!(error, ReadError::Fingerprint { .. }), "{error}");
    assert!(error.to_string().contains("parts of it were replaced; --salvage"), "{error}");
}

/// A part that was copied to two places, as by a disk that lost count.
#[test]
fn a_block_that_stands_twice_is_read_once() {
    let bytes = written(200_000);
    let whole = requests(&mut open(&bytes));
    let places = open(&bytes).places();
    let begin = places[1].offset as usize;
    let end = places[2].offset as usize;
    let doubled = [&bytes[..end], &bytes[begin..end], &bytes[end..]].concat();
    let mut saved = Recording::salvage(Cursor::new(doubled)).unwrap();
    let salvage = saved.salvaged().unwrap().clone();
    assert_eq!((salvage.missing, salvage.gaps.len()), (0, 1), "{salvage:?}");
    assert_eq!((salvage.gaps[0].offset as usize, salvage.gaps[0].bytes as usize), (end, end - begin));
    assert_eq!(requests(&mut saved), whole);
}

#[test]
fn tables_that_memory_does_not_hold_end_the_import_with_what_they_take() {
    let laws = Laws { requests: 40_000, ..Laws::default() };
    let bytes = log(&laws, "combined");
    let of = |table_bytes| {
        import(Options { table_bytes, ..Options::default() }, &[("a.log", "combined", &bytes)]).map(drop)
    };
    of(1 << 20).expect("they take less");
    let why = of(1 << 16).expect_err("4,096 objects take as much");
    let ImportError::Memory { objects, bytes, .. } = why else { panic!("{why}") };
    assert!(objects >= 4_096 && bytes > 1 << 16, "{why}");
    let text = why.to_string();
    assert!(text.contains("MiB of memory, and no more is left: capture a part of the logs"), "{text}");
}

#[test]
fn canaries_of_a_log_are_not_in_its_recording() {
    let line = "203.0.113.77 - jane.canary [10/Oct/2000:13:55:36 -0700] \"GET /reset/CANARYaB3dE5fG7hJ9/123456789012?token=CANARYsecret&mail=canary%40example.com HTTP/1.1\" 200 5 \"https://canary-referer.example/?q=CANARYquery\" \"CanaryAgent/1.0\" \"session=CANARYcookie\"\n";
    let format = "%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\" \"%{Cookie}i\"";
    let bytes = [line.repeat(3), "203.0.113.77 CANARYbroken line\n".to_owned()].concat();
    let finished = import(lossy(), &[("a.log", format, bytes.as_bytes())]).unwrap();
    assert_eq!(finished.summary.requests, 3);
    let lower = finished.to.to_ascii_lowercase();
    for token in ["canary", "203.0.113.77", "123456789012", "secret", "jane"] {
        let found = lower.windows(token.len()).any(|window| window == token.as_bytes());
        assert!(!found, "{token} stands in the recording");
    }
    let kept = Options {
        keep: recording::private::Keep::parse("query,path,agent,address,cookie").unwrap(),
        ..lossy()
    };
    let finished = import(kept, &[("a.log", format, bytes.as_bytes())]).unwrap();
    for token in ["CANARYsecret", "203.0.113.77", "123456789012", "CanaryAgent", "CANARYcookie"] {
        let found = finished.to.windows(token.len()).any(|window| window == token.as_bytes());
        assert!(found, "{token} was to be kept");
    }
    assert_eq!(finished.header.kept, ["query", "path", "agent", "address", "cookie"]);
}
