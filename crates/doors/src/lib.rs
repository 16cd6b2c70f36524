//! The doors: each command line and plan file becomes a Plan. A door has two stages, what was typed and what it means; it
//! opens no socket and prints nothing. Start at [`native`] (wringer's own) or [`jtest`].

pub mod ab;
mod door;
mod getopt;
pub mod h2load;
pub mod http_load;
pub mod jtest;
mod mark;
pub mod native;
mod number;
mod openssl;
pub mod siege;
pub mod wrk;
pub mod wrktcp;

pub use door::{Run, Shown};

/// Returns the violation of a plan without the name of the phase, of which old command lines know nothing.
fn without_phase(violation: &str) -> &str {
    let named = violation.strip_prefix("phase '").and_then(|rest| rest.split_once("': "));
    named.map_or(violation, |(_, what)| what)
}
