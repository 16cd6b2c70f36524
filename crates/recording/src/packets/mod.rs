//! Captures of packets, read without libpcap: files ([`file`]), frames down to TCP ([`frame`]), streams put together again ([`stream`]), and
//! HTTP/1.1 in both directions ([`http`]). Pure: bytes in, exchanges out; all memory is bounded.

pub mod file;
pub mod frame;
pub mod http;
pub mod stream;
