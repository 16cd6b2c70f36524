//! Faults of a simulated network.

use std::time::Duration;

/// The behaviour of a simulated network. Shares are chances from 0 to 1; the default is a good network: 50 µs one way, nothing
/// goes wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Faults {
    /// Time that a connection's bytes take one way: drawn between both, once for each connection.
    pub delay: (Duration, Duration),
    /// More time than that, for each segment anew, up to this; order is kept, but that of datagrams.
    pub jitter: Duration,
    /// Bytes of a segment at most: drawn between both, for each connection. Segments arrive one by one.
    pub segment: (usize, usize),
    /// Bytes that wait to be received by one end at most; who sends more waits.
    pub receive_buffer: usize,
    /// Share of receives that return a part of what is there.
    pub short_reads: f64,
    /// Share of sends that take a part of what there is room for.
    pub short_writes: f64,
    /// Share of connects that are refused.
    pub refused: f64,
    /// Share of connects that nobody ever answers.
    pub unanswered: f64,
    /// Share of connects and accepts that fail for want of descriptors, ports or memory.
    pub exhausted: f64,
    /// Share of segments in whose place both ends get a reset.
    pub resets: f64,
    /// Share of segments after which nothing passes any more, either way, and neither end is told.
    pub lost: f64,
    /// Share of segments that are held up.
    pub stalls: f64,
    /// Longest time that they are held up.
    pub stall: Duration,
    /// Bytes of a datagram at most; longer ones are lost.
    pub mtu: usize,
    /// Share of datagrams that are lost.
    pub datagrams_lost: f64,
    /// Share of datagrams that arrive twice.
    pub datagrams_doubled: f64,
    /// Share of datagrams of an ECN-capable transport that are marked CE.
    pub datagrams_marked: f64,
    /// The ECN field of datagrams is cleared on the way.
    pub clears_ecn: bool,
    /// Share of the worker's waits that end late, as if the machine had been busy.
    pub lags: f64,
    /// Longest delay.
    pub lag: Duration,
    /// When the machine stands still, once, with all that is on it, and how long.
    pub standstill: Option<(Duration, Duration)>,
}

impl Default for Faults {
    fn default() -> Self {
        Self {
            delay: (Duration::from_micros(50), Duration::from_micros(50)),
            jitter: Duration::ZERO,
            segment: (65_536, 65_536),
            receive_buffer: 131_072,
            short_reads: 0.0,
            short_writes: 0.0,
            refused: 0.0,
            unanswered: 0.0,
            exhausted: 0.0,
            resets: 0.0,
            lost: 0.0,
            stalls: 0.0,
            stall: Duration::ZERO,
            mtu: 65_507,
            datagrams_lost: 0.0,
            datagrams_doubled: 0.0,
            datagrams_marked: 0.0,
            clears_ecn: false,
            lags: 0.0,
            lag: Duration::ZERO,
            standstill: None,
        }
    }
}
