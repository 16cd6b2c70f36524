//! Content of requests that is on its way.

use crate::channel::long::{OpenBody, RequestContent};
use wire::http2::BodySource;

/// Content of requests, by stream.
#[derive(Default)]
pub(super) struct Contents {
    streams: Vec<(u32, StreamContent)>,
    /// Streams whose content could not be read on.
    unread: Vec<u32>,
}

/// Content of a stream.
enum StreamContent {
    Bytes(Vec<u8>),
    Long(OpenBody),
}

impl Contents {
    /// A stream has content to send.
    pub fn push(&mut self, stream: u32, content: &mut RequestContent) {
        let sent = content
            .long
            .take()
            .map_or_else(|| StreamContent::Bytes(content.bytes.clone()), StreamContent::Long);
        self.streams.push((stream, sent));
    }

    /// A stream, where there was one, sends nothing more.
    pub fn forget(&mut self, stream: Option<u32>) {
        self.streams.retain(|(open, _)| Some(*open) != stream);
    }

    /// Streams whose content could not be read on since somebody asked: what was sent of them is no content of theirs.
    pub fn take_unread(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.unread)
    }
}

impl BodySource for Contents {
    fn piece(&mut self, stream: u32, from: u64, length: usize, out: &mut Vec<u8>) {
        let end = out.len() + length;
        let Some((_, sent)) = self.streams.iter().find(|(open, _)| *open == stream) else { return };
        match sent {
            StreamContent::Bytes(bytes) => out.extend_from_slice(&bytes[from as usize..][..length]),
            StreamContent::Long(body) => {
                if body.read(from, length, out).is_err() {
                    // The frame has this length already; its stream is reset behind it.
                    out.resize(end, 0);
                    self.unread.push(stream);
                }
            }
        }
    }
}
