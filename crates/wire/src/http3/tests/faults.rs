//! Peers that break the rules.
