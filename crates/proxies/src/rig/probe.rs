//! Probe that tells if a proxy that was started answers already: a request that every proxy refuses by itself, so that the
//! origin sees nothing of it.

use plan::HttpProtocol;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;
use transport::one_request::exchange;
use wire::tls::{ClientSettings, Resumption, TlsClient, Trust};

const PROBE: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\nContent-Length: none\r\n\r\n";
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

/// True if anything like an HTTP status line comes back, or, of HTTP/2 without TLS, SETTINGS. Who speaks HTTP/3 is asked over TLS, at the
/// same port.
pub(super) fn answers(address: SocketAddr, http: HttpProtocol) -> bool {
    let ask = || -> io::Result<bool> {
        let mut connection = TcpStream::connect_timeout(&address, Duration::from_secs(1))?;
        connection.set_read_timeout(Some(Duration::from_secs(2)))?;
        if http.is_secure() {
            let answer = exchange(connection, &anybody()?, "localhost", PROBE, 4)?;
            return Ok(answer.starts_with(b"HTTP/"));
        }
        let is_two = http == HttpProtocol::TwoClear;
        connection.write_all(if is_two { PREFACE } else { PROBE })?;
        let mut start = [0; 5];
        connection.read_exact(&mut start)?;
        Ok(if is_two { start[3] == 4 } else { &start == b"HTTP/" })
    };
    match ask() {
        Ok(answered) => answered,
        Err(why) => {
            tracing::trace!(%address, %why, "it does not answer yet");
            false
        }
    }
}

/// Begins TLS with whoever is there.
fn anybody() -> io::Result<TlsClient> {
    let settings = ClientSettings {
        trust: Trust::Anybody,
        identity: None,
        versions: Vec::new(),
        suites: Vec::new(),
        alpn: vec!["http/1.1".to_owned()],
        sni: None,
        resumption: Resumption::Off,
        keep_certificates: false,
    };
    TlsClient::new(&settings).map_err(io::Error::other)
}
