//! Modules that several integration tests need.

pub mod faulty_proxy;
