//! A stream of bytes over a way that loses, doubles, delays and swaps: what is written comes out, once and in order.

use fleet::stream::{PIECE, Segment, Stream};
use plan::draw::Draw;
use std::collections::BTreeMap;
use std::time::Duration;

struct End {
    stream: Stream,
    to_write: Vec<u8>,
    written: usize,
    read: Vec<u8>,
}

impl End {
    fn new(length: usize, chance: &mut Draw) -> End {
        let to_write = (0..length).map(|_| chance.below(256) as u8).collect();
        End { stream: Stream::new(Duration::ZERO), to_write, written: 0, read: Vec::new() }
    }

    fn write_some(&mut self, chance: &mut Draw) {
        let rest = self.to_write.len() - self.written;
        let count = rest.min(chance.below(3 * PIECE as u64) as usize);
        self.stream.write(&self.to_write[self.written..self.written + count]);
        self.written += count;
        if self.written == self.to_write.len() {
            self.stream.finish();
        }
    }

    fn is_over(&self) -> bool {
        self.stream.is_sent() && self.stream.is_at_end()
    }
}

/// Runs both ends; `lossy`: percent of messages that are lost. Nothing gets through in `cut`.
fn run(seed: u64, lossy: u64, cut: std::ops::Range<u64>) {
    let mut chance = Draw::new(seed, 0);
    let mut ends = [End::new(3 << 20, &mut chance), End::new(500, &mut chance)];
    let mut under_way: BTreeMap<(u64, u64), (usize, Segment)> = BTreeMap::new();
    let mut number = 0;
    let mut at_ms = 0;
    while !ends.iter().all(End::is_over) {
        assert!(at_ms < 600_000, "seed {seed}: it does not end");
        let now = Duration::from_millis(at_ms);
        for (from, end) in ends.iter_mut().enumerate() {
            end.write_some(&mut chance);
            while let Some(segment) = end.stream.poll(now) {
                assert!(segment.bytes.len() <= PIECE);
                let copies = 1 + u64::from(chance.below(100) < lossy / 2);
                for _ in 0..copies {
                    if !cut.contains(&at_ms) && chance.below(100) >= lossy {
                        number += 1;
                        under_way.insert((at_ms + chance.below(80), number), (1 - from, segment.clone()));
                    }
                }
            }
        }
        while let Some(entry) = under_way.first_entry().filter(|entry| entry.key().0 <= at_ms) {
            let (to, segment) = entry.remove();
            let end = &mut ends[to];
            end.stream.handle(now, segment);
            while let Some(bytes) = end.stream.read() {
                end.read.extend(bytes);
            }
        }
        at_ms += 10;
    }
    assert!(ends[0].read == ends[1].to_write && ends[1].read == ends[0].to_write, "seed {seed}");
}

#[test]
fn what_is_written_comes_out_once_and_in_order() {
    for seed in 0..20 {
        run(seed, seed % 5 * 8, 0..0);
        run(seed, seed % 3 * 10, 50..(50 + seed * 400));
    }
}

#[test]
fn an_end_that_has_nothing_to_say_says_that_it_is_there() {
    let mut stream = Stream::new(Duration::ZERO);
    let said = (0..50).filter(|tenth| stream.poll(Duration::from_millis(tenth * 100)).is_some()).count();
    assert_eq!(said, 5);
    assert_eq!(stream.silence(Duration::from_secs(5)), Duration::from_secs(5));
}

#[test]
fn acknowledgements_of_what_was_never_written_are_nothing() {
    let mut stream = Stream::new(Duration::ZERO);
    stream.write(b"abc");
    let ack = |acknowledged| Segment { offset: 0, acknowledged, last: false, bytes: Vec::new() };
    stream.handle(Duration::ZERO, ack(u64::MAX));
    stream.finish();
    assert!(!stream.is_sent());
    stream.handle(Duration::ZERO, ack(4));
    assert!(stream.is_sent());
}
