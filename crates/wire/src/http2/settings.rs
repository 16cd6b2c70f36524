//! SETTINGS (RFC 9113 section 6.5), and what this side bounds.

use super::frame::{self, Http2FrameKind, LEAST_FRAME_SIZE, MOST_FRAME_SIZE};
use breach::Http2;

const HEADER_TABLE_SIZE: u16 = 0x1;
const ENABLE_PUSH: u16 = 0x2;
const MAX_CONCURRENT_STREAMS: u16 = 0x3;
const INITIAL_WINDOW_SIZE: u16 = 0x4;
const MAX_FRAME_SIZE: u16 = 0x5;
const MAX_HEADER_LIST_SIZE: u16 = 0x6;
const NO_RFC7540_PRIORITIES: u16 = 0x9;

/// Largest window (RFC 9113 section 6.9.1).
pub(super) const MOST_WINDOW: u32 = (1 << 31) - 1;
/// Every window before anything changes it.
pub(super) const DEFAULT_WINDOW: u32 = 65_535;

/// Settings that one side announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Http2Settings {
    /// Bytes of the table that decodes the peer's blocks.
    pub header_table_size: u32,
    /// Streams that the peer may have open; `None`: no limit is told.
    pub max_concurrent_streams: Option<u32>,
    /// Bytes that may come on a stream before they are granted anew.
    pub initial_window_size: u32,
    /// Bytes of a frame's payload.
    pub max_frame_size: u32,
    /// Bytes of the fields of a message, each field with 32 more; `None`: no limit is told.
    pub max_header_list_size: Option<u32>,
}

impl Default for Http2Settings {
    /// The values that hold before any SETTINGS frame.
    fn default() -> Http2Settings {
        Http2Settings {
            header_table_size: 4096,
            max_concurrent_streams: None,
            initial_window_size: DEFAULT_WINDOW,
            max_frame_size: LEAST_FRAME_SIZE,
            max_header_list_size: None,
        }
    }
}

/// Settings and windows that this side grants a peer, and limits of what it bears.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Http2Limits {
    /// Settings that are announced.
    pub settings: Http2Settings,
    /// Bytes that may come on the connection before they are granted anew; at least 65,535.
    pub connection_window: u32,
    /// Bytes of table that this side's encoder uses at most.
    pub encoder_table_size: u32,
    /// CONTINUATION frames of a block.
    pub continuations: u32,
    /// Streams that the peer may break, by resets or by errors, beyond one for each that ended well.
    pub broken_streams: u32,
    /// Frames without use in a row: empty DATA, PING, SETTINGS, PRIORITY.
    pub idle_frames: u32,
}

impl Default for Http2Limits {
    /// Windows of 2^30-1, as h2load has them; header lists of 64 KiB.
    fn default() -> Http2Limits {
        let settings = Http2Settings {
            initial_window_size: (1 << 30) - 1,
            max_header_list_size: Some(65_536),
            ..Http2Settings::default()
        };
        Http2Limits {
            settings,
            connection_window: (1 << 30) - 1,
            encoder_table_size: 4096,
            continuations: 1024,
            broken_streams: 1000,
            idle_frames: 10_000,
        }
    }
}

impl Http2Settings {
    /// Appends a SETTINGS frame with what differs from the defaults. A client also refuses pushes and old priorities.
    pub(super) fn write(&self, client: bool, out: &mut Vec<u8>) {
        let at = out.len();
        frame::header(Http2FrameKind::Settings, 0, 0, 0, out);
        let mut put = |id: u16, value: u32| {
            out.extend_from_slice(&id.to_be_bytes());
            out.extend_from_slice(&value.to_be_bytes());
        };
        let usual = Http2Settings::default();
        if self.header_table_size != usual.header_table_size {
            put(HEADER_TABLE_SIZE, self.header_table_size);
        }
        if client {
            put(ENABLE_PUSH, 0);
        }
        if let Some(streams) = self.max_concurrent_streams {
            put(MAX_CONCURRENT_STREAMS, streams);
        }
        if self.initial_window_size != usual.initial_window_size {
            put(INITIAL_WINDOW_SIZE, self.initial_window_size);
        }
        if self.max_frame_size != usual.max_frame_size {
            put(MAX_FRAME_SIZE, self.max_frame_size);
        }
        if let Some(bytes) = self.max_header_list_size {
            put(MAX_HEADER_LIST_SIZE, bytes);
        }
        put(NO_RFC7540_PRIORITIES, 1);
        frame::close(at, out);
    }

    /// Takes over the payload of a peer's frame, which is a multiple of six bytes. `from_server`: it may not enable pushes.
    pub(super) fn apply(&mut self, payload: &[u8], from_server: bool) -> Result<(), Http2> {
        for entry in payload.chunks_exact(6) {
            let id = u16::from_be_bytes([entry[0], entry[1]]);
            let value = u32::from_be_bytes([entry[2], entry[3], entry[4], entry[5]]);
            match id {
                HEADER_TABLE_SIZE => self.header_table_size = value,
                ENABLE_PUSH if value > 1 || (from_server && value == 1) => {
                    return Err(Http2::SettingsPush);
                }
                MAX_CONCURRENT_STREAMS => self.max_concurrent_streams = Some(value),
                INITIAL_WINDOW_SIZE if value > MOST_WINDOW => {
                    return Err(Http2::SettingsWindow);
                }
                INITIAL_WINDOW_SIZE => self.initial_window_size = value,
                MAX_FRAME_SIZE if !(LEAST_FRAME_SIZE..=MOST_FRAME_SIZE).contains(&value) => {
                    return Err(Http2::SettingsFrameSize);
                }
                MAX_FRAME_SIZE => self.max_frame_size = value,
                MAX_HEADER_LIST_SIZE => self.max_header_list_size = Some(value),
                NO_RFC7540_PRIORITIES if value > 1 => {
                    return Err(Http2::SettingsPriorities);
                }
                _ => {}
            }
        }
        Ok(())
    }
}
