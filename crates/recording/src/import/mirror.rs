//! Takes requests that a proxy mirrors, one by one: their answers are not there, so the recording has neither status, size nor duration.

use super::gor::request;
use super::{Import, ImportError, Scratch};
use crate::entry::{Edge, Entry, Logged, Text};
use crate::left_out::Reason;

/// Text that Envoy appends to the host of a request that it shadows.
const SHADOW: &[u8] = b"-shadow";

impl<S: Scratch> Import<S> {
    /// Takes the request with this number, as it was on the wire, which came at a moment in microseconds since 1970. Between
    /// [`Import::begin_input`] and [`Import::end_input`].
    ///
    /// # Errors
    /// As of [`Import::take`].
    pub fn mirrored(&mut self, message: &[u8], number: u64, came_us: i64) -> Result<(), ImportError> {
        let mut entry = Entry::default();
        if !request(message, &mut entry) {
            self.leave_out(Reason::Unparsed, number, 0, message);
            return Ok(());
        }
        entry.time = Some(Logged { us: came_us, resolution: 1, edge: Edge::Begin });
        let host = without_shadow(entry.host.bytes);
        entry.host = Text::plain(&host);
        self.take(&entry, number, message)
    }
}

/// A host as the client named it.
fn without_shadow(host: &[u8]) -> Vec<u8> {
    let port = memchr::memrchr(b':', host).filter(|at| host[at + 1..].iter().all(u8::is_ascii_digit));
    let port = port.unwrap_or(host.len());
    let name = &host[..port];
    [name.strip_suffix(SHADOW).unwrap_or(name), &host[port..]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::Options;
    use std::io::Cursor;

    #[test]
    fn the_host_of_a_shadow_is_that_of_the_request() {
        let hosts = ["shop.invalid", "shop.invalid-shadow", "shop.invalid-shadow:8080", "[::1]", "[::1]:80"];
        let read = hosts.map(|host| String::from_utf8(without_shadow(host.as_bytes())).unwrap());
        assert_eq!(read, ["shop.invalid", "shop.invalid", "shop.invalid:8080", "[::1]", "[::1]:80"]);
    }

    #[test]
    fn requests_are_taken_as_they_come() {
        let mut import = Import::new(Options::default(), Cursor::new(Vec::new()));
        import.begin_input("mirror", false);
        let message =
            b"GET /a HTTP/1.1\r\nHost: shop.invalid\r\nX-Forwarded-For: 192.0.2.7, 10.0.0.1\r\n\r\n";
        import.mirrored(message, 1, 1_795_746_709_000_000).unwrap();
        import.mirrored(b"no request\r\n\r\n", 2, 1_795_746_709_000_001).unwrap();
        assert_eq!((import.requests(), import.left_out().of(Reason::Unparsed)), (1, 1));
    }
}
