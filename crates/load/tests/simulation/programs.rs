//! Programs that say what is sent, as wrk's scripts do.

use load::script::{Halt, Hooks, Ledger, Response, Script};
use plan::draw::Draw;
use plan::{Dialect, Request, ScriptStep};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use wire::http1::batch::{Batch, count};

/// Makes a worker's program: where it sends, and its seed.
pub type Make = fn(SocketAddr, u64) -> Box<dyn Script>;

/// One request again and again; several at once; delays and a look at each answer; one that has enough after a while.
pub const ALL: [Make; 4] = [
    |to, seed| Program::make(to, seed, Hooks { fixed: Some(written(1)), ..Hooks::default() }, u32::MAX),
    |to, seed| Program::make(to, seed, Hooks::default(), u32::MAX),
    |to, seed| Program::make(to, seed, Hooks { delays: true, responds: true, ..Hooks::default() }, u32::MAX),
    |to, seed| Program::make(to, seed, Hooks { responds: true, ..Hooks::default() }, 20),
];

/// One request again and again, each a while after the last one.
pub const THINKING: Make = |to, seed| {
    let hooks = Hooks { fixed: Some(written(1)), delays: true, responds: true };
    Program::make(to, seed, hooks, u32::MAX)
};

/// Most requests that a program sends at once.
pub const MOST: u64 = 3;

struct Program {
    to: SocketAddr,
    hooks: Hooks,
    draw: Draw,
    /// Answers after which it has enough.
    left: u32,
}

impl Program {
    fn make(to: SocketAddr, seed: u64, hooks: Hooks, left: u32) -> Box<dyn Script> {
        Box::new(Program { to, hooks, draw: Draw::new(seed, 0x1C4), left })
    }
}

fn written(requests: u64) -> Vec<u8> {
    let one = |number| format!("GET /w/{number:x}/700 HTTP/1.1\r\nHost: server\r\n\r\n");
    (0..requests).map(one).collect::<String>().into_bytes()
}

impl Script for Program {
    fn target(&self) -> SocketAddr {
        self.to
    }

    fn hooks(&self) -> Hooks {
        self.hooks.clone()
    }

    fn delay(&mut self) -> Result<Duration, Halt> {
        let least = if self.hooks.fixed.is_some() { 20_000 } else { 0 };
        Ok(Duration::from_micros(least + self.draw.below(5_000)))
    }

    fn request(&mut self, into: &mut Vec<u8>) -> Result<Batch, Halt> {
        let message = written(1 + self.draw.below(MOST));
        into.extend_from_slice(&message);
        Ok(count(&message).expect("requests"))
    }

    fn response(&mut self, answer: &Response) -> Result<(), Halt> {
        assert!(answer.status >= 200 && answer.fields().count() > 0);
        self.left = self.left.saturating_sub(1);
        if self.left == 0 { Err(Halt::Stopped) } else { Ok(()) }
    }

    fn end(&mut self) {}

    fn ledger(&self) -> Arc<Ledger> {
        Arc::default()
    }
}

/// The step of a plan whose script the programs stand for.
pub fn step() -> ScriptStep {
    ScriptStep {
        dialect: Dialect::Wrk,
        file: "program.lua".to_owned(),
        text: "return".to_owned(),
        args: Vec::new(),
        url: "http://10.0.0.1/".to_owned(),
        request: Request::get("http://10.0.0.1/"),
        time_batches: false,
    }
}
