//! A run as HdrHistogram's log (format 1.3): a line for each second and each kind of time, in microseconds, with the histogram in it.
//!
//! Histograms are in its encoding V2: counts of the buckets in order, as zigzag LEB128, runs of empty ones as one negative
//! number; packed with zlib, in base64. Our buckets are its own, so their numbers are its indices.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use measure::{Buckets, Digits, Head, RunEvent, Second};
use std::fmt::Write as _;
use std::io::{self, Write as _};

/// First word of an encoded histogram, and of a packed one.
const COOKIE: u32 = 0x1c84_9313;
const PACKED_COOKIE: u32 = 0x1c84_9314;
/// One hour, the longest time that is told apart.
const HIGHEST_US: u64 = 3_600_000_000;

/// The log of a run. Times of its seconds are in two digits (0.8 %).
///
/// # Errors
/// Packing fails only where memory does.
pub fn text(head: &Head, events: &[RunEvent]) -> io::Result<String> {
    let began = jiff::Timestamp::from_second(head.started_unix_s as i64).unwrap_or_default();
    let mut text = format!(
        "#[wringer {}, times in microseconds: -outputValueUnitRatio 1000 for milliseconds]\n\
         #[Histogram log format version 1.3]\n#[StartTime: {:.3} (seconds since epoch), {began}]\n\
         \"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n",
        crate::harmless(&head.version),
        head.started_unix_s,
    );
    for event in events {
        if let RunEvent::Second(second) = event {
            lines(second, &mut text)?;
        }
    }
    Ok(text)
}

fn lines(second: &Second, to: &mut String) -> io::Result<()> {
    let begins = second.at.saturating_sub(second.took);
    for (metric, buckets) in second.metrics.iter().filter(|(_, buckets)| !buckets.is_empty()) {
        let longest = buckets.iter().last().map_or(0, |(bucket, _)| Digits::Two.lowest(bucket + 1) - 1);
        let packed = STANDARD.encode(packed(buckets, Digits::Two)?);
        // Writing to a string cannot fail.
        let _ = writeln!(
            to,
            "Tag={},{:.3},{:.3},{:.3},{packed}",
            metric.name(),
            begins.as_secs_f64(),
            second.took.as_secs_f64(),
            longest as f64 / 1000.0,
        );
    }
    Ok(())
}

/// A histogram in encoding V2, packed.
fn packed(buckets: &Buckets, digits: Digits) -> io::Result<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&encoded(buckets, digits))?;
    let body = encoder.finish()?;
    let mut packed = PACKED_COOKIE.to_be_bytes().to_vec();
    // Some kilobytes.
    packed.extend((body.len() as u32).to_be_bytes());
    packed.extend(body);
    Ok(packed)
}

fn encoded(buckets: &Buckets, digits: Digits) -> Vec<u8> {
    let mut counts = Vec::new();
    let mut next = 0;
    for (bucket, count) in buckets.iter() {
        match bucket - next {
            0 => {}
            // One empty bucket is a zero.
            1 => counts.push(0),
            gap => zigzag(-i64::from(gap), &mut counts),
        }
        zigzag(i64::try_from(count).unwrap_or(i64::MAX), &mut counts);
        next = bucket + 1;
    }
    let precision: u32 = match digits {
        Digits::Two => 2,
        Digits::Three => 3,
    };
    let mut bytes = Vec::new();
    // Cookie, length of the counts, offset, digits; lowest and highest value; ratio of integers to doubles.
    for word in [COOKIE, counts.len() as u32, 0, precision] {
        bytes.extend(word.to_be_bytes());
    }
    for word in [1, HIGHEST_US, 1f64.to_bits()] {
        bytes.extend(word.to_be_bytes());
    }
    bytes.extend(counts);
    bytes
}

/// A number as zigzag LEB128, whose ninth byte holds eight bits.
fn zigzag(number: i64, to: &mut Vec<u8>) {
    let mut rest = ((number << 1) ^ (number >> 63)) as u64;
    for _ in 0..8 {
        if rest < 0x80 {
            to.push(rest as u8);
            return;
        }
        to.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    to.push(rest as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::TimeMetric;
    use std::time::Duration;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn some(digits: Digits) -> Buckets {
        let mut histogram = hdrhistogram::Histogram::new_with_bounds(1, HIGHEST_US, 3).unwrap();
        let values = [1u64, 2, 2, 255, 256, 300, 2047, 2048, 5000, 5000, 5000, 1_000_000, 3_599_999_999];
        values.iter().for_each(|value| histogram.record(*value).unwrap());
        histogram.record_n(70, 1000).unwrap();
        Buckets::of(&histogram, digits)
    }

    /// Output of the crate hdrhistogram 7.5 for the same values (`V2Serializer`).
    #[test]
    fn a_histogram_is_encoded_as_hdrhistogram_does() {
        assert_eq!(hex(&encoded(&some(Digits::Two), Digits::Two)), TWO);
        assert_eq!(hex(&encoded(&some(Digits::Three), Digits::Three)), THREE);
    }

    const TWO: &str = "1c8493130000001a0000000000000002000000000000000100000000d693a4003ff00000000000000002048501d00fef0202022902cf050202b50206ad0f02c11702";
    const THREE: &str = "1c8493130000001b0000000000000003000000000000000100000000d693a4003ff00000000000000002048501d00fef0202025502a31b0202c11306fb7a02a3bc0102";

    #[test]
    fn each_second_has_a_line_for_each_kind_of_time() {
        let metrics =
            [(TimeMetric::Service, some(Digits::Two)), (TimeMetric::Connect, Buckets::default())].into();
        let at = Duration::from_millis(3000);
        let took = Duration::from_millis(1000);
        let second = RunEvent::Second(Box::new(Second { at, took, metrics, ..Second::default() }));
        let head = Head { version: "0".to_owned(), started_unix_s: 1_700_000_000.25, ..Head::default() };
        let text = text(&head, &[second]).unwrap();
        assert!(text.contains("#[StartTime: 1700000000.250 (seconds since epoch), 2023-11-14T22:13:20Z]\n"));
        let line = text.lines().last().unwrap();
        assert!(line.starts_with("Tag=service,2.000,1.000,3607101.439,HISTFAAAA"), "{line}");
        assert_eq!(text.lines().count(), 5);
    }
}
