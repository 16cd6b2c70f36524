//! The network, as a program looks at it before it begins.

use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

/// The addresses of a host and a service, in the system's order.
///
/// # Errors
/// Why there are none, in the system's words.
pub fn lookup(host: &str, service: &str) -> Result<Vec<SocketAddr>, String> {
    let port = match service {
        "http" => 80,
        "https" => 443,
        service => service.parse().map_err(|_| "Unknown service: give a port".to_owned())?,
    };
    let found = (host, port).to_socket_addrs().map_err(|error| {
        let reason = error.to_string();
        reason.rsplit(": ").next().unwrap_or(&reason).to_owned()
    })?;
    Ok(found.collect())
}

/// Checks that a connection can be opened; it is closed at once.
///
/// # Errors
/// Why not, in the system's words.
pub fn connect(to: SocketAddr, limit: Duration) -> Result<(), String> {
    let tried = TcpStream::connect_timeout(&to, limit);
    tried.map(drop).map_err(|error| {
        let reason = error.to_string();
        reason.split(" (os error").next().unwrap_or(&reason).to_owned()
    })
}
