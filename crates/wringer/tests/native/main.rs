//! The native commands from outside: the program is run as a person runs it, against real proxies, against a proxy that
//! is wrong on purpose, and with bad input. One binary, so that everything runs side by side.
//!
//! Each run has a folder of its own and a time limit, and nothing that it started may outlive it: see `support.rs`.

#[macro_use]
mod support;

mod answers;
mod arena;
mod bad_recordings;
mod bodies;
#[cfg(feature = "nats")]
mod bus;
#[cfg(feature = "nats")]
mod bus_luck;
mod cache;
mod capture;
mod command_line;
mod compare;
mod doctor;
mod doors;
mod everyday;
mod examples;
mod exports;
mod fast;
#[path = "../support/faulty_proxy/mod.rs"]
mod faulty_proxy;
mod find;
mod fit;
mod fleet;
mod fleet_luck;
mod h2load;
mod http;
mod http2;
mod http2_foreign;
mod http2_mixer;
mod http2_odd;
mod http2_oracle;
mod http2_peer;
mod http3;
mod jmeter;
mod jmeter_elements;
mod jmeter_flow;
mod jmeter_follow;
mod jmeter_http;
mod jmeter_parallel;
mod jmeter_scripts;
mod journeys;
mod kept;
mod mcp;
mod messages;
mod multiplexed;
mod openssl;
mod oracle;
mod oracle_forms;
mod oracle_vary;
mod origin_agents;
mod plans;
mod probe;
mod processes;
mod purges;
mod reach;
mod recordings;
#[path = "../support/refusing.rs"]
mod refusing;
mod replay;
mod requests;
mod results;
mod rig_versions;
mod secrets;
mod services;
mod sessions;
mod silence;
mod size;
mod steered;
mod stress;
mod tcp;
mod tls;
mod tls_peer;
mod traces;
mod tunnels;
mod two_machines;
mod versions;
mod web;
