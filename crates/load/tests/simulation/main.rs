//! The engine in a simulated world: virtual time, a network that does what a seed wants, and a server that is the origin
//! or follows a script. `cargo xtask simulate` runs more seeds than the tests do.

mod busy;
mod bytes;
mod ecn;
mod hostile;
mod instructions;
mod programs;
mod regexes;
mod replayed;
mod resend;
mod scenario;
mod seeds;
mod server;
mod sessions;
mod stall;
mod standstill;
mod together;
mod unasked;
mod web;
mod world;
