//! Proxies between clients and origin: real ones as rigs ([`rig`]), the demonstration cache ([`demo`]), the proxy
//! that records ([`recorder`]), and the gate before an origin ([`gate`]) with its listener ([`acceptor`]). None of them knows the engine, the origin or a plan's load; all are control plane.

pub mod acceptor;
pub mod demo;
pub mod gate;
pub mod recorder;
pub mod rig;
