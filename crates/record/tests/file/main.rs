//! Run files written and read: whole, cut, damaged, hostile, and where the disk is full.

mod sample;

use measure::processes::{Change, Happened, Process};
use measure::stream::Note;
use measure::{RunEvent, RunState, TimeMetric};
use record::member::{HEADER, Header, LONGEST_LINE, packed};
use record::{Gap, Item, ReadError, Reader, RecordKept, Writer};
use sample::{events, small};
use std::io;
use std::time::Duration;

/// A place in memory that has room for so many bytes.
struct Memory {
    bytes: Vec<u8>,
    room: usize,
}

impl record::Place for &mut Memory {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let fits = bytes.len().min(self.room - self.bytes.len());
        self.bytes.extend_from_slice(&bytes[..fits]);
        if fits == bytes.len() { Ok(()) } else { Err(io::Error::from(io::ErrorKind::StorageFull)) }
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.bytes.truncate(length as usize);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn written(events: &[RunEvent]) -> Vec<u8> {
    let mut memory = Memory { bytes: Vec::new(), room: usize::MAX };
    let mut writer = Writer::new(&mut memory);
    events.iter().for_each(|event| assert!(matches!(writer.put(event), RecordKept::Written)));
    memory.bytes
}

fn read(bytes: &[u8]) -> (Vec<RunEvent>, Vec<Gap>) {
    let mut events = Vec::new();
    let mut gaps = Vec::new();
    for item in Reader::new(bytes).into_iter().flatten() {
        match item {
            Item::Event(event) => events.push(event),
            Item::Gap(gap) => gaps.push(gap),
        }
    }
    (events, gaps)
}

#[test]
fn what_was_written_is_read() {
    let events = events(40);
    assert_eq!(read(&written(&events)), (events, vec![]));
}

#[test]
fn a_file_cut_after_any_byte_keeps_every_whole_record() {
    let events = small();
    let mut ends = Vec::new();
    let mut end = 0;
    for (nth, event) in events.iter().enumerate() {
        end += packed(event, nth as u32).unwrap().len();
        ends.push(end);
    }
    let whole = written(&events);
    for cut in 0..whole.len() {
        let complete = ends.iter().filter(|end| **end <= cut).count();
        let (seen, gaps) = read(&whole[..cut]);
        assert_eq!(seen, events[..complete], "{cut}");
        let clean = cut < HEADER || ends.contains(&cut);
        assert_eq!(gaps.len(), usize::from(!clean), "{cut}");
        assert!(gaps.iter().all(|gap| gap.at_end && gap.at + gap.bytes == cut), "{cut}: {gaps:?}");
    }
}

#[test]
fn a_byte_that_is_not_right_costs_one_record_at_most_and_is_named() {
    let events = small();
    let whole = written(&events);
    for place in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[place] ^= 0x10;
        let (seen, gaps) = read(&bytes);
        assert!(seen.len() + 1 >= events.len(), "{place}: {} of {}", seen.len(), events.len());
        assert!(seen.iter().all(|event| events.contains(event)), "{place}: a record that never was");
        if seen.len() < events.len() {
            assert!((1..=2).contains(&gaps.len()), "{place}: {gaps:?}");
            assert!(gaps.iter().any(|gap| gap.at <= place), "{place}: {gaps:?}");
        }
    }
}

/// Long files are unpacked by several threads; what is found is the same in the same order, wherever something is damaged.
#[test]
fn threads_find_what_one_finds() {
    let events = events(5000);
    let mut bytes = written(&events);
    let on = |bytes: &[u8], threads| Reader::new(bytes).unwrap().on_threads(threads).collect::<Vec<Item>>();
    assert!(on(&bytes, 3) == events.into_iter().map(Item::Event).collect::<Vec<_>>());
    for place in [bytes.len() / 3, bytes.len() / 2, bytes.len() - 40] {
        bytes[place] ^= 0x10;
        let one = on(&bytes, 1);
        assert!(one.iter().any(|item| matches!(item, Item::Gap(_))), "{place}");
        assert!([2, 4].iter().all(|threads| on(&bytes, *threads) == one), "{place}");
    }
    let cut = &bytes[..bytes.len() - 5];
    assert!(on(cut, 2) == on(cut, 1));
}

/// The result of a run that came to its end is the same without the times of its seconds; of a cut one nothing is left out.
#[test]
fn minutes_hold_the_times_of_seconds() {
    let events = events(150);
    let bytes = written(&events);
    let folded = |events: &mut dyn Iterator<Item = RunEvent>| {
        let mut state = RunState::default();
        events.for_each(|event| state.apply(&event));
        format!("{:?}", state.result())
    };
    let only = |item| match item {
        Item::Event(event) => event,
        Item::Gap(gap) => panic!("{gap:?}"),
    };
    let left_out: Vec<RunEvent> = Reader::new(&bytes).unwrap().sums().unwrap().map(only).collect();
    let has_times = |event: &RunEvent| {
        let RunEvent::Second(second) = event else { return [false; 2] };
        let of_labels = second.clients.labels.iter().any(|label| !label.response.is_empty());
        [!second.metrics.is_empty(), of_labels]
    };
    assert_eq!(events.iter().map(has_times).max(), Some([true; 2]));
    assert!(left_out.iter().map(has_times).all(|has| has == [false; 2]));
    let whole = folded(&mut events.clone().into_iter());
    assert!(whole.contains("response"), "labels are told");
    assert_eq!(folded(&mut left_out.into_iter()), whole);
    // In version 1.1 only seconds told the times of labels.
    let mut older = events;
    for event in &mut older {
        if let RunEvent::Minute(minute) = event {
            minute.labels.clear();
        }
    }
    assert_eq!(folded(&mut older.clone().into_iter()), whole);
    let mut bytes_of_older = written(&older);
    let mut at = 0;
    while let Some(header) = bytes_of_older.get(at..).and_then(Header::read) {
        bytes_of_older[at..at + HEADER].copy_from_slice(&Header { major: 1, minor: 1, ..header }.bytes());
        at += header.length as usize;
    }
    assert!(Reader::new(&bytes_of_older).unwrap().sums().is_none());
    assert_eq!(read(&bytes_of_older), (older, vec![]));
    for cut in [bytes.len() - 1, bytes.len() / 2] {
        assert!(Reader::new(&bytes[..cut]).unwrap().sums().is_none());
    }
}

#[test]
fn a_record_in_the_middle_that_is_gone_is_a_gap() {
    let events = small();
    let members: Vec<Vec<u8>> =
        events.iter().enumerate().map(|(nth, event)| packed(event, nth as u32).unwrap()).collect();
    let without = [&members[..2], &members[3..]].concat().concat();
    let (seen, gaps) = read(&without);
    assert_eq!(seen.len(), events.len() - 1);
    assert_eq!(gaps, [Gap { at: members[0].len() + members[1].len(), bytes: 0, at_end: false }]);
}

/// The plan of a run may be of any length, and what a program says, too.
#[test]
fn a_record_that_is_too_long_costs_no_other() {
    let mut events = small();
    let long = "x".repeat(LONGEST_LINE + 1);
    let RunEvent::Head(head) = &mut events[0] else { panic!("a run begins with its head") };
    head.plan = long.clone();
    let id = head.id.clone();
    events.insert(1, RunEvent::Note(Note { at: std::time::Duration::ZERO, text: long }));
    let (seen, gaps) = read(&written(&events));
    assert_eq!((seen.len(), gaps.len()), (events.len(), 0));
    assert_eq!(seen[2..], events[2..]);
    let (RunEvent::Head(head), RunEvent::Note(note)) = (&seen[0], &seen[1]) else {
        panic!("other records came")
    };
    assert_eq!(
        (head.id.as_str(), head.plan.as_str()),
        (id.as_str(), "# The plan has 67 MB: a run file holds 64 MiB of one.\n")
    );
    assert_eq!(note.text, "a record of more than 64 MiB is left out");
}

#[test]
fn a_bomb_is_refused_without_being_unpacked() {
    let mut bomb = packed(&small()[0], 0).unwrap();
    // 65 MiB of nothing, and a trailer that admits only a few bytes.
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    io::Write::write_all(&mut encoder, &vec![b' '; LONGEST_LINE + (1 << 20)]).unwrap();
    bomb.truncate(HEADER);
    bomb.extend(encoder.finish().unwrap());
    bomb.extend([0; 4]);
    for said in [17u32, u32::MAX] {
        let mut bytes = bomb.clone();
        bytes.extend(said.to_le_bytes());
        let header = Header { length: bytes.len() as u32, ..Header::read(&bomb).unwrap() };
        bytes[..HEADER].copy_from_slice(&header.bytes());
        let (events, gaps) = read(&bytes);
        assert_eq!((events.len(), gaps.len()), (0, 1), "{said}");
    }
}

#[test]
fn what_is_no_run_file_or_of_a_later_version_is_said() {
    assert_eq!(Reader::new(b"").unwrap_err(), ReadError::NoRun);
    assert_eq!(Reader::new(&[0x1f; 4096]).unwrap_err(), ReadError::NoRun);
    let mut later = written(&small());
    let header = Header { major: 4, minor: 1, ..Header::read(&later).unwrap() };
    later[..HEADER].copy_from_slice(&header.bytes());
    let said = Reader::new(&later).unwrap_err();
    assert_eq!(said, ReadError::Newer { major: 4, minor: 1 });
    assert!(said.to_string().contains("version 4.1"), "{said}");
}

#[test]
fn the_words_of_version_1_are_read() {
    let event = |text: &str| serde_json::from_str::<RunEvent>(text).unwrap();
    let second = |ok, check_failed, metrics, faulty| {
        event(&format!(
            r#"{{"kind":"second","at_s":1,"clients":{{"counts":{{"{ok}":3,"{check_failed}":2}},"labels":[{{"ended":5,"{ok}":3}}]}},
                "{metrics}":{{"service":[[5,1]],"{faulty}":[[7,2]]}}}}"#
        ))
    };
    assert_eq!(
        second("fine", "faulty", "clocks", "faulty"),
        second("ok", "check_failed", "metrics", "check_failed")
    );
    let RunEvent::Second(read) = second("fine", "faulty", "clocks", "faulty") else { panic!("no second") };
    assert_eq!(
        (read.clients.counts.ok, read.clients.counts.check_failed, read.clients.labels[0].ok),
        (3, 2, 3)
    );
    assert!(read.metrics.contains_key(&TimeMetric::CheckFailed));
    let minute = |metrics, distributions| {
        event(&format!(
            r#"{{"kind":"minute","at_s":1,"{metrics}":{{"hit":[[5,1]]}},"{distributions}":{{"kept":7}}}}"#
        ))
    };
    assert_eq!(minute("clocks", "spreads"), minute("metrics", "distributions"));
    let exchanges = |ok, check_failed| {
        event(&format!(
            r#"{{"kind":"exchanges","outcomes":["{ok}","{check_failed} stale","failed reset body"]}}"#
        ))
    };
    assert_eq!(exchanges("fine", "faulty"), exchanges("ok", "check_failed"));
}

#[test]
fn fields_and_kinds_of_later_versions_are_passed_over() {
    let text =
        r#"{"kind":"second","at_s":1,"later":{"a":[1]},"metrics":{"moonlight":[[1,2]],"service":[[5,1]]}}"#;
    let RunEvent::Second(second) = serde_json::from_str(text).unwrap() else { panic!("no second") };
    let metrics: Vec<TimeMetric> = second.metrics.keys().copied().collect();
    // The times since a request was due follow from those since it was sent, where they are not told.
    assert_eq!((second.at.as_secs(), metrics), (1, vec![TimeMetric::Service, TimeMetric::Response]));
    assert_eq!(RunEvent::read(br#"{"kind":"forecast","x":1}"#).unwrap(), RunEvent::Unknown);
}

#[test]
fn a_change_of_processes_is_read_as_it_was_written() {
    let change = Change::Closed { address: "127.0.0.1:80".into() };
    let process = Process { pid: 7, ..Process::default() };
    let happened = Happened {
        at: Duration::from_secs(3),
        process,
        change,
        fatal: true,
        ended_run: false,
        log: vec!["gone".into()],
    };
    let event = RunEvent::Process(Box::new(happened));
    assert_eq!(RunEvent::read(&serde_json::to_vec(&event).unwrap()).unwrap(), event);
}

#[test]
fn a_record_is_of_the_kind_that_it_names_wherever_the_name_stands() {
    let note = RunEvent::Note(Note { text: "kind".into(), ..Note::default() });
    for line in [
        r#"{"kind":"note","text":"kind"}"#,
        r#"{"text":"kind","kind":"note"}"#,
        r#" { "kind" : "note", "text":"kind"}"#,
    ] {
        assert_eq!(RunEvent::read(line.as_bytes()).unwrap(), note, "{line}");
        let among_others: Vec<RunEvent> = serde_json::from_str(&format!("[{line}, {line}]")).unwrap();
        assert_eq!(among_others, [note.clone(), note.clone()], "{line}");
    }
    for line in
        [r#"{"text":"kind"}"#, r#"{"kind":7}"#, r#"{"kind":"note","text":7}"#, r#"{"kind":"note""#, "7"]
    {
        assert!(RunEvent::read(line.as_bytes()).is_err(), "{line}");
    }
}

#[test]
fn a_full_disk_loses_records_and_not_the_run() {
    let events = events(120);
    let mut memory = Memory { bytes: Vec::new(), room: written(&events).len() / 2 };
    let mut writer = Writer::new(&mut memory);
    let mut failures = 0;
    for event in &events {
        failures += usize::from(matches!(writer.put(event), RecordKept::Failed(_)));
    }
    assert_eq!(failures, 1, "it is told once");
    let (seen, gaps) = read(&memory.bytes);
    assert_eq!(seen, events[..seen.len()]);
    assert!(seen.len() > 20 && gaps.is_empty(), "{} {gaps:?}", seen.len());
}

#[test]
fn space_that_comes_back_is_used_and_the_gap_is_told() {
    /// Full between two records.
    struct Moody {
        bytes: Vec<u8>,
        calls: usize,
    }
    impl record::Place for &mut Moody {
        fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
            self.calls += 1;
            if self.calls == 20 {
                self.bytes.extend_from_slice(&bytes[..10]);
                return Err(io::Error::from(io::ErrorKind::StorageFull));
            }
            self.bytes.extend_from_slice(bytes);
            Ok(())
        }
        fn cut(&mut self, length: u64) -> io::Result<()> {
            self.bytes.truncate(length as usize);
            Ok(())
        }
        fn sync(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let events = events(120);
    let mut moody = Moody { bytes: Vec::new(), calls: 0 };
    let mut writer = Writer::new(&mut moody);
    let kept = events.iter().filter(|event| matches!(writer.put(event), RecordKept::Written)).count();
    let lost = events.len() - kept;
    assert!((30..=33).contains(&lost), "{lost}: no try for 30 s of the run");
    let (seen, gaps) = read(&moody.bytes);
    assert_eq!((seen.len(), gaps.len()), (kept + 1, 1));
    let mut notes = seen.iter().rev().filter_map(|event| match event {
        RunEvent::Note(note) => Some(note.text.as_str()),
        _ => None,
    });
    assert!(notes.next().unwrap().ends_with(&format!("{lost} records are missing")));
}

/// A file of each version that there was: 20 requests to the demonstration cache, all of them misses.
#[test]
fn files_of_older_versions_stay_readable() {
    let bytes = include_bytes!("v1.0.wrun");
    let (events, gaps) = read(bytes);
    assert_eq!((events.len(), gaps.len()), (5, 0));
    let mut state = measure::RunState::default();
    events.iter().for_each(|event| state.apply(event));
    let result = state.result();
    let measured = result.measured();
    assert_eq!((measured.counts().requests, measured.counts().ok), (20, 20));
    let count = |metric| measured.tally.metric(metric).len();
    use measure::TimeMetric::{Hit, Miss, Response, Service};
    assert_eq!([Service, Response, Miss, Hit].map(count), [20, 20, 20, 0]);
    assert_eq!(state.end().map(|end| end.phases[0].requests), Some(20));
}

#[test]
fn what_lists_of_runs_need_is_read_without_the_rest() {
    let events = events(20);
    let bytes = written(&events);
    let is_border =
        |event: &RunEvent| matches!(event, RunEvent::Head(_) | RunEvent::Control(_) | RunEvent::End(_));
    let expected: Vec<RunEvent> = events.into_iter().filter(is_border).collect();
    let seen: Vec<Item> = Reader::new(&bytes).unwrap().borders().collect();
    assert_eq!(seen, expected.into_iter().map(Item::Event).collect::<Vec<_>>());
    // Cut behind any byte it ends, and never has more than there was.
    for cut in (0..bytes.len()).step_by(7) {
        let items = Reader::new(&bytes[..cut]).into_iter().flat_map(Reader::borders).count();
        assert!(items <= 3, "{cut}");
    }
}
