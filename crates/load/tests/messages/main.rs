//! The engine's messages against a peer of the test's own, both on one worker: whatever the peer does, each request ends
//! once, in the way it should.

mod answers;
mod http;
mod outcomes;
mod peer;
mod pieces;
mod run;
mod splits;
