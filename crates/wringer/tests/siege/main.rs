//! The doors of siege and http_load, as processes: against servers of the test's own that do odd things on purpose,
//! against nginx, and siege's door beside the siege of the distribution, which must say the same of the same server.

mod beside_siege;
mod http_load;
mod nginx;
mod parsers;
#[path = "../support/refusing.rs"]
mod refusing;
mod server;
mod sessions;
mod siege;
mod support;
#[path = "../native/tunnels.rs"]
mod tunnels;
#[path = "../native/web.rs"]
#[expect(dead_code, reason = "the native tests need more of it")]
mod web;
