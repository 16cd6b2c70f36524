//! Limits that one end of a connection grants, and how it sends.

use quinn_proto::congestion::{self, Controller, ControllerFactory};
use quinn_proto::{AckFrequencyConfig, IdleTimeout, MtuDiscoveryConfig, TransportConfig, VarInt};
use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A window that nothing fills, above which nothing is paced.
const BOUNDLESS: u64 = 1 << 40;
/// Streams of a peer that carry no messages: control, both of QPACK, and some that nobody knows.
const OTHER_STREAMS: u32 = 8;
/// Packets that a peer may leave unacknowledged in a laboratory.
const LAB_ACKS: u32 = 10;

/// Bounds of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Requests that the peer may have under way; 0 for clients.
    pub streams: u32,
    /// Bytes that may come on a stream before they are granted anew.
    pub stream_window: u32,
    /// Bytes that may come on the connection before they are granted anew; `None`: as many as the streams allow.
    pub connection_window: Option<u32>,
    /// Bytes that are handed to QUIC and not yet acknowledged.
    pub send_window: u64,
    /// Bytes of the fields of a message, each field with 32 more.
    pub field_section: u32,
    /// Bytes of a datagram's payload at most; `None`: 1,200, and up to 1,452 where the path carries them.
    pub payload: Option<u16>,
    /// Congestion control, which bounds how much is under way.
    pub congestion: Congestion,
    /// Nothing comes for so long: the connection is over.
    pub idle: Duration,
    /// The peer is asked to acknowledge more rarely (draft-ietf-quic-ack-frequency).
    pub rare_acks: bool,
    /// A server has clients prove their address first (Retry).
    pub retry: bool,
    /// Interim answers and broken streams that are borne.
    pub broken_streams: u32,
    /// How long a server waits for the head of a request after its first byte; `None`: as long as the connection lasts.
    pub head: Option<Duration>,
}

/// Congestion control, which bounds how much is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Congestion {
    /// RFC 9438.
    Cubic,
    /// RFC 9002 section 7.
    NewReno,
    /// Nothing, and nothing is paced: for paths that are known to carry all.
    Nothing,
}

impl Limits {
    /// As clients on the Internet have them: the library's.
    pub fn real() -> Limits {
        Limits {
            streams: 0,
            stream_window: 1_250_000,
            connection_window: None,
            send_window: 10_000_000,
            field_section: 65_536,
            payload: None,
            congestion: Congestion::Cubic,
            idle: Duration::from_secs(30),
            rare_acks: false,
            retry: false,
            broken_streams: 1000,
            head: None,
        }
    }

    /// As fast as a laboratory allows.
    pub fn lab() -> Limits {
        Limits { stream_window: 16 << 20, congestion: Congestion::Nothing, rare_acks: true, ..Limits::real() }
    }

    /// The same for QUIC.
    pub(super) fn transport(&self) -> TransportConfig {
        let mut config = TransportConfig::default();
        config
            // A server may open none. One that does is told so by name, which a limit of QUIC would not do.
            .max_concurrent_bidi_streams(self.streams.max(1).into())
            .max_concurrent_uni_streams(OTHER_STREAMS.into())
            .stream_receive_window(self.stream_window.into())
            .receive_window(self.connection_window.map_or(VarInt::MAX, VarInt::from))
            .send_window(self.send_window)
            .datagram_receive_buffer_size(None)
            .max_idle_timeout(IdleTimeout::try_from(self.idle).ok());
        match self.congestion {
            Congestion::Cubic => {
                config.congestion_controller_factory(Arc::new(congestion::CubicConfig::default()))
            }
            Congestion::NewReno => {
                config.congestion_controller_factory(Arc::new(congestion::NewRenoConfig::default()))
            }
            Congestion::Nothing => config.congestion_controller_factory(Arc::new(Boundless)),
        };
        if let Some(payload) = self.payload {
            let mut found = MtuDiscoveryConfig::default();
            found.upper_bound(payload);
            config.mtu_discovery_config((payload > 1200).then_some(found));
        }
        if self.rare_acks {
            let mut acks = AckFrequencyConfig::default();
            acks.ack_eliciting_threshold(LAB_ACKS.into());
            config.ack_frequency_config(Some(acks));
        }
        config
    }
}

/// Congestion control that controls nothing.
#[derive(Debug, Clone, Copy)]
struct Boundless;

impl ControllerFactory for Boundless {
    fn build(self: Arc<Self>, _now: Instant, _mtu: u16) -> Box<dyn Controller> {
        Box::new(Boundless)
    }
}

impl Controller for Boundless {
    fn on_congestion_event(&mut self, _now: Instant, _sent: Instant, _persistent: bool, _lost: u64) {}

    fn on_mtu_update(&mut self, _mtu: u16) {}

    fn window(&self) -> u64 {
        BOUNDLESS
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(*self)
    }

    fn initial_window(&self) -> u64 {
        BOUNDLESS
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
