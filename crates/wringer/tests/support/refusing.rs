//! [`Refusing`]: an address whose port is taken and at which nobody listens.

use socket2::{Domain, Socket, Type};
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};

/// An address that refuses each connection for as long as this value lives. The port of a listener that was closed
/// would belong to whoever takes it next, such as another test.
pub struct Refusing {
    pub address: SocketAddr,
    _socket: Socket,
}

impl Refusing {
    /// On 127.0.0.1, with a port of its own.
    pub fn new() -> Refusing {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
        socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()).expect("a free port");
        let address = socket.local_addr().ok().and_then(|at| at.as_socket()).expect("it is bound");
        Refusing { address, _socket: socket }
    }
}

impl fmt::Display for Refusing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.address.fmt(f)
    }
}
