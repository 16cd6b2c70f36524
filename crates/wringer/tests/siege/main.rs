//! The doors of siege and http_load, as processes: against a server of the test's own that does odd things on purpose,
//! against nginx, and siege's door beside the siege of the distribution, which must say the same of the same server.

mod beside_siege;
mod http_load;
mod server;
mod siege;
mod support;
