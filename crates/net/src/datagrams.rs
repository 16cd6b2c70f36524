//! Datagrams as they come and go, several of one size at once. Plain values; nothing here acts.

use std::net::SocketAddr;

/// Datagrams that came together from one address.
#[derive(Clone, Copy, Debug)]
pub struct Datagrams<'a> {
    /// Who sent them.
    pub from: SocketAddr,
    /// Their payload.
    pub bytes: &'a [u8],
    /// The length of each of them, but perhaps of the last; `None`: there is one.
    pub segment: Option<usize>,
    /// The ECN field of their IP headers (RFC 3168 section 5): 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE.
    pub ecn: u8,
}

/// Datagrams to be sent together to one address.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing<'a> {
    /// Where to; `None`: the peer that the socket is connected to.
    pub to: Option<SocketAddr>,
    /// Their payload, at most 65,507 bytes.
    pub bytes: &'a [u8],
    /// The length of each of them, but perhaps of the last; `None`: there is one.
    pub segment: Option<usize>,
    /// The ECN field of their IP headers (RFC 3168 section 5): 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE.
    pub ecn: u8,
}

impl<'a> Datagrams<'a> {
    /// The datagrams one by one.
    pub fn iter(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        // An empty datagram is one, too.
        let empty = self.bytes.is_empty().then_some(self.bytes);
        empty.into_iter().chain(self.bytes.chunks(self.segment.unwrap_or(usize::MAX)))
    }
}
