//! `wire::http1` from outside: tables of texts, laws over generated streams, and client against server over a fake link.

mod laws;
mod link;
mod memo;
mod recorder;
mod requests;
mod responses;
mod written;
