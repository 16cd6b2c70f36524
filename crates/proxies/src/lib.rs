//! Proxies between clients and origin: real ones as rigs ([`rig`]), the demonstration cache ([`demo`]), and the proxy
//! that records ([`recorder`]). None of them knows the engine, the origin or a plan's load; all are control plane.

pub mod demo;
pub mod recorder;
pub mod rig;
