//! The common part of the backends on real sockets: how a TCP socket is made, received from and thrown away.

use std::cell::RefCell;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use nix::sys::socket::{setsockopt, sockopt as nix_sockopt};
use rustix::buffer::spare_capacity;
use rustix::net::{
    self as sys, AddressFamily, RecvFlags, SendAncillaryBuffer, SendFlags, SocketAddrUnix, SocketFlags,
    SocketType, sockopt,
};

use super::unsent::Pieces;
use crate::buffer::{Buffer, Pool};
use crate::options::{ConnectOptions, ListenOptions};

/// Bytes that one discarding receive asks for at most.
const DISCARD_BYTES: usize = 1 << 20;

/// A socket that is ready to connect as the options say.
pub(crate) fn to_connect(
    to: SocketAddr,
    options: &ConnectOptions,
    flags: SocketFlags,
) -> io::Result<OwnedFd> {
    let fd = open(to, SocketType::STREAM, flags)?;
    sockopt::set_tcp_nodelay(&fd, true)?;
    if options.abortive_close {
        make_close_abortive(&fd)?;
    }
    if let Some(bytes) = options.receive_buffer {
        sockopt::set_socket_recv_buffer_size(&fd, bytes)?;
    }
    if let Some(bytes) = options.send_buffer {
        sockopt::set_socket_send_buffer_size(&fd, bytes)?;
    }
    if let Some(source) = options.source {
        bind_source(&fd, source)?;
    }
    Ok(fd)
}

/// A socket, not blocking, that is connected to a Unix socket.
pub(crate) fn connected_unix(path: &Path) -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let fd = sys::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    sys::connect(&fd, &SocketAddrUnix::new(path)?)?;
    Ok(fd)
}

/// A socket that listens.
pub(crate) fn listening(at: SocketAddr, options: &ListenOptions, flags: SocketFlags) -> io::Result<OwnedFd> {
    let fd = open(at, SocketType::STREAM, flags)?;
    sockopt::set_socket_reuseaddr(&fd, true)?;
    if options.reuse_port {
        sockopt::set_socket_reuseport(&fd, true)?;
    }
    // Accepted sockets inherit it: one call less for each of them.
    sockopt::set_tcp_nodelay(&fd, true)?;
    sys::bind(&fd, &at)?;
    sys::listen(&fd, options.backlog.min(i32::MAX as u32) as i32)?;
    Ok(fd)
}

/// A socket for addresses of a family.
pub(crate) fn open(address: SocketAddr, kind: SocketType, flags: SocketFlags) -> io::Result<OwnedFd> {
    let family = match address {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    Ok(sys::socket_with(family, kind, flags | SocketFlags::CLOEXEC, None)?)
}

/// Binds the source address; the port is chosen at connect, when the target is known.
fn bind_source(fd: &OwnedFd, source: IpAddr) -> io::Result<()> {
    setsockopt(fd, nix_sockopt::IpBindAddressNoPort, &true)?;
    Ok(sys::bind(fd, &SocketAddr::new(source, 0))?)
}

/// Receives at most `max` bytes, at most a buffer full, without waiting. Says also whether that was all it asked for.
pub(crate) fn receive(fd: &OwnedFd, pool: &Rc<Pool>, max: usize) -> io::Result<(Buffer, bool)> {
    let mut buffer = pool.take();
    let asked = buffer.capacity().min(max);
    if asked == buffer.capacity() {
        sys::recv(fd, spare_capacity(&mut buffer), RecvFlags::DONTWAIT)?;
    } else {
        buffer.resize(asked, 0);
        let (received, _) = sys::recv(fd, &mut buffer[..], RecvFlags::DONTWAIT)?;
        buffer.truncate(received);
    }
    let all = buffer.len() == asked;
    Ok((buffer, all))
}

/// Sends what there is room for, without waiting; says how many bytes that was.
pub(crate) fn send(fd: &OwnedFd, pieces: Pieces<'_>) -> rustix::io::Result<usize> {
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    match pieces {
        Pieces::One(bytes) => sys::send(fd, bytes, flags),
        Pieces::Many(pieces) => sys::sendmsg(fd, pieces, &mut SendAncillaryBuffer::default(), flags),
    }
}

/// Where discarded bytes would go; the kernel does not write it, so it never becomes resident.
#[derive(Default)]
pub(crate) struct Nowhere(RefCell<Vec<u8>>);

impl Nowhere {
    /// Throws away at most `max` received bytes without copying them and without waiting. Says how many, and whether that
    /// was all it asked for.
    pub(crate) fn discard(&self, fd: &OwnedFd, max: u64) -> io::Result<(u64, bool)> {
        let mut nowhere = self.0.borrow_mut();
        if nowhere.is_empty() {
            *nowhere = vec![0; DISCARD_BYTES];
        }
        let asked = max.min(DISCARD_BYTES as u64) as usize;
        let (_, gone) = sys::recv(fd, &mut nowhere[..asked], RecvFlags::TRUNC | RecvFlags::DONTWAIT)?;
        Ok((gone as u64, gone == asked))
    }
}

/// Has the kernel wake a waiting reader only when so many bytes, or the end of the stream, are there; its receive buffer
/// grows to hold them.
pub(crate) fn set_low_water(fd: &OwnedFd, bytes: u32) -> io::Result<()> {
    let bytes = i32::try_from(bytes).map_err(|_| io::ErrorKind::InvalidInput)?;
    set_option(fd, nix::libc::SOL_SOCKET, nix::libc::SO_RCVLOWAT, bytes)
}

/// Sets an option whose value is a number.
#[expect(unsafe_code, reason = "no library offers these options")]
pub(crate) fn set_option(fd: &OwnedFd, level: i32, name: i32, value: i32) -> io::Result<()> {
    let size = size_of_val(&value) as u32;
    let value = std::ptr::from_ref(&value).cast();
    // SAFETY: `value` points to `size` bytes, an i32 that lives until the call is over, and the kernel only reads them.
    let done = unsafe { nix::libc::setsockopt(fd.as_raw_fd(), level, name, value, size) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Has the close that follows send a reset.
pub(crate) fn make_close_abortive(fd: &OwnedFd) -> io::Result<()> {
    Ok(sockopt::set_socket_linger(fd, Some(Duration::ZERO))?)
}

/// True if the system holds a failure of the connection that no operation has told.
pub(crate) fn has_failed(fd: &OwnedFd) -> bool {
    matches!(sockopt::socket_error(fd), Ok(Err(_)))
}

pub(crate) fn shutdown_write(fd: &OwnedFd) -> io::Result<()> {
    Ok(sys::shutdown(fd, sys::Shutdown::Write)?)
}

pub(crate) fn local_addr(fd: &OwnedFd) -> io::Result<SocketAddr> {
    Ok(SocketAddr::try_from(sys::getsockname(fd)?)?)
}
