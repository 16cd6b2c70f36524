//! HTTP as a plan has it: its versions, their settings, connections, TLS and credentials; not what is asked for, which is
//! [`crate::request`].

pub(crate) mod connections;
pub(crate) mod credentials;
pub(crate) mod endpoint;
pub(crate) mod http2;
pub(crate) mod http3;
pub(crate) mod tls;
pub(crate) mod version;
