//! Content of requests that is on its way.

use wire::http2::BodySource;

/// Content of requests, by stream.
#[derive(Default)]
pub(super) struct Contents(Vec<(u32, Vec<u8>)>);

impl Contents {
    /// A stream has content to send.
    pub fn push(&mut self, stream: u32, content: &[u8]) {
        self.0.push((stream, content.to_vec()));
    }

    /// A stream, where there was one, sends nothing more.
    pub fn forget(&mut self, stream: Option<u32>) {
        self.0.retain(|(open, _)| Some(*open) != stream);
    }
}

impl BodySource for Contents {
    fn piece(&mut self, stream: u32, from: u64, length: usize, out: &mut Vec<u8>) {
        let body = self.0.iter().find(|(open, _)| *open == stream).map_or(&[][..], |(_, body)| body);
        out.extend_from_slice(&body[from as usize..from as usize + length]);
    }
}
