//! The engine against a server of the test's own, both on one worker: conservation, pace, phases, stops, allocations.

mod allocations;
mod backends;
mod outcomes;
mod pace;
mod peer;
mod run;
