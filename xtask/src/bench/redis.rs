//! Redis, and the tool that presses it.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use super::place::Place;
use super::run::{self, Server};
use super::sample::Figures;
use crate::{Result, shell};

/// The tool.
pub const PROGRAM: &str = "redis-benchmark";
/// Request that it sends as `ping_mbulk`, as wringer is given it.
pub const PING: &str = "*1\\r\\n$4\\r\\nPING\\r\\n";

/// How many requests take about so long: the tool is told a number of them.
pub fn requests(time: Duration, depth: u32) -> u64 {
    time.as_secs() * if depth == 1 { 60_000 } else { 500_000 }
}

/// Starts redis-server; None where it or the tool is not installed.
pub fn start(place: &Place) -> Result<Option<(SocketAddr, Server)>> {
    let (Some(program), Some(_)) = (shell::find("redis-server"), shell::find(PROGRAM)) else {
        return Ok(None);
    };
    let address = run::free_address()?;
    let folder = place.folder().display();
    let line =
        format!("--port {} --bind {} --appendonly no --dir {folder} --save", address.port(), address.ip());
    let words: Vec<String> = line.split(' ').map(str::to_owned).chain([String::new()]).collect();
    let mut server = Server::start(&program, place.cores.proxy, &words, place.file("redis.log"))?;
    server.await_port(address)?;
    Ok(Some((address, server)))
}

/// Runs the tool.
pub fn benchmark(
    place: &Place,
    address: SocketAddr,
    connections: u32,
    depth: u32,
    requests: u64,
) -> Result<Figures> {
    let program = shell::find(PROGRAM).ok_or("it is not installed")?;
    let mut command = run::pinned(&program, place.cores.generator);
    command.args(["-h", &address.ip().to_string(), "-p", &address.port().to_string(), "-q"]);
    command.args(["-t", "ping_mbulk", "-c", &connections.to_string(), "-P", &depth.to_string()]);
    command.args(["-n", &requests.to_string()]);
    let log: &Path = &place.file("redis-benchmark.log");
    let ended = run::to_the_end(command, place.time * 10 + Duration::from_secs(30), log, &[0])?;
    let seconds = Some(ended.took.as_secs_f64());
    Figures { cpu: ended.cpu, requests, seconds, ..Figures::default() }.believable()
}
