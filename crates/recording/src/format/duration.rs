//! Durations as logs write them; of several that mean the same the finest counts.

use super::field::Unit;
use crate::text::{self, is_untold};

/// The finest step in which each duration of an entry was told, in nanoseconds.
#[derive(Debug, Clone, Copy, Default)]
pub struct Steps {
    /// From the request to the answer's end.
    pub duration_ns: u64,
    /// From the request to the answer's first byte.
    pub first_byte_ns: u64,
    /// Of the server behind.
    pub upstream_ns: u64,
}

/// Reads a duration in microseconds; what is negative is not known.
fn duration_us(unit: Unit, bytes: &[u8]) -> Option<i64> {
    let scaled = |text: &[u8]| text::millionths(text);
    match unit {
        Unit::Seconds => scaled(bytes),
        Unit::Millis => Some(scaled(bytes)? / 1_000),
        Unit::Micros => Some(scaled(bytes)? / 1_000_000),
        Unit::Nanos => Some(scaled(bytes)? / 1_000_000_000),
        Unit::Written => {
            let end =
                bytes.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b'.')).unwrap_or(bytes.len());
            let unit = match &bytes[end..] {
                b"" | b"s" => Unit::Seconds,
                b"ms" => Unit::Millis,
                b"us" | b"\xc2\xb5s" | b"\xce\xbcs" => Unit::Micros,
                b"ns" => Unit::Nanos,
                b"m" => return Some(scaled(&bytes[..end])? * 60),
                _ => return None,
            };
            duration_us(unit, &bytes[..end])
        }
    }
}

/// Reads a duration into its slot; false where it cannot be one.
#[inline]
pub fn put_duration(slot: &mut Option<u64>, told_ns: &mut u64, unit: Unit, bytes: &[u8]) -> bool {
    if is_untold(bytes) {
        return true;
    }
    let Some(us) = duration_us(unit, bytes) else { return false };
    // HAProxy, ALB and others write -1 for what did not happen.
    if let Ok(us) = u64::try_from(us) {
        keep_finest(slot, told_ns, us, step_ns(unit, bytes));
    }
    true
}

/// Takes a duration unless a finer one was told: Apache's `%D` counts, and not `%T` behind it.
#[inline]
pub fn keep_finest(slot: &mut Option<u64>, told_ns: &mut u64, us: u64, step_ns: u64) {
    if slot.is_none() || step_ns <= *told_ns {
        (*slot, *told_ns) = (Some(us), step_ns);
    }
}

/// The finest step of a duration that is written so, in nanoseconds.
pub fn step_ns(unit: Unit, bytes: &[u8]) -> u64 {
    let unit_ns = match unit {
        Unit::Seconds => 1_000_000_000,
        Unit::Millis => 1_000_000,
        Unit::Micros => 1_000,
        Unit::Nanos => 1,
        Unit::Written if bytes.ends_with(b"ms") => 1_000_000,
        Unit::Written if bytes.ends_with(b"ns") => 1,
        Unit::Written if bytes.ends_with(b"us") || bytes.ends_with("µs".as_bytes()) => 1_000,
        Unit::Written if bytes.ends_with("μs".as_bytes()) => 1_000,
        Unit::Written if bytes.ends_with(b"m") => 60_000_000_000,
        Unit::Written => 1_000_000_000,
    };
    let decimals = memchr::memchr(b'.', bytes)
        .map_or(0, |dot| bytes[dot + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count());
    unit_ns / 10_u64.pow(decimals.min(9) as u32)
}

/// Adds the times of several tries.
pub fn sum(unit: Unit, bytes: &[u8]) -> Option<u64> {
    let pieces = bytes.split(|byte| matches!(byte, b',' | b':' | b' '));
    let times = pieces.filter_map(|piece| duration_us(unit, text::trim(piece)));
    times.filter_map(|us| u64::try_from(us).ok()).reduce(|sum, us| sum.saturating_add(us))
}
