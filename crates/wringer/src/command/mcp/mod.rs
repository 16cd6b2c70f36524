//! `wringer mcp`: the Model Context Protocol (2025-06-18) over standard input and output, for assistants. Standard output carries
//! messages alone. Start reading at [`run`]; [`tools`] makes command lines of calls, [`child`] runs them as processes of their own, so
//! that guards, signals and limits hold as for anybody, and a call that is cancelled leaves nothing behind.
//!
//! Five methods need no library; rmcp would bring a second runtime and macros for what a match says.

mod child;
mod tools;

use crate::problem::{Exit, Problem};
use crate::settings;
use child::{Children, Ran};
use serde_json::{Value, json};
use std::io::{self, BufRead, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

const PROTOCOL: &str = "2025-06-18";
/// Bytes of a message, at most; what is longer is passed over.
const LONGEST: u64 = 1 << 20;
/// Calls under way, at most.
const CALLS: usize = 4;

/// Codes of JSON-RPC 2.0.
const NOT_JSON: i32 = -32700;
const NO_REQUEST: i32 = -32600;
const NO_METHOD: i32 = -32601;
const BAD_PARAMETERS: i32 = -32602;
const BUSY: i32 = -32000;

/// A refusal: its code and why.
struct McpRefusal {
    code: i32,
    why: String,
}

impl McpRefusal {
    fn new(code: i32, why: impl Into<String>) -> McpRefusal {
        McpRefusal { code, why: why.into() }
    }
}

/// Answers messages until standard input ends; then calls under way are ended, too.
///
/// # Errors
/// Standard input is broken, or `wringer.toml` cannot be meant.
pub fn run() -> Result<Exit, Problem> {
    let guards = settings::held()?.settings.guards.as_ref();
    let guarded = guards.is_some_and(|guards| guards.hosts.is_some());
    serve(guarded, env!("CARGO_PKG_VERSION"))
        .map_err(|error| Problem::Impossible(format!("standard input cannot be read: {error}")))?;
    Ok(Exit::Ok)
}

/// `guarded`: `wringer.toml` says which hosts may be pressed; otherwise tools press this machine alone.
fn serve(guarded: bool, version: &'static str) -> io::Result<()> {
    let server = Arc::new(McpServer { guarded, version, children: Children::default(), out: Mutex::new(()) });
    let mut input = io::stdin().lock();
    let mut line = Vec::new();
    loop {
        match next_line(&mut input, &mut line)? {
            McpLine::End => break,
            McpLine::TooLong => server.refuse(&Value::Null, &too_long()),
            McpLine::Whole if line.trim_ascii().is_empty() => {}
            McpLine::Whole => server.take(&line),
        }
    }
    server.children.end_all();
    Ok(())
}

fn too_long() -> McpRefusal {
    McpRefusal::new(NOT_JSON, format!("a message of more than {LONGEST} bytes was passed over"))
}

enum McpLine {
    Whole,
    TooLong,
    End,
}

/// Reads a line, never more than [`LONGEST`] bytes of it into memory.
fn next_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<McpLine> {
    line.clear();
    let read = io::Read::take(&mut *input, LONGEST).read_until(b'\n', line)?;
    if read == 0 {
        return Ok(McpLine::End);
    }
    if line.last() == Some(&b'\n') || (line.len() as u64) < LONGEST {
        return Ok(McpLine::Whole);
    }
    loop {
        let held = input.fill_buf()?;
        if held.is_empty() {
            return Ok(McpLine::TooLong);
        }
        let end = held.iter().position(|byte| *byte == b'\n');
        let passed = end.map_or(held.len(), |at| at + 1);
        input.consume(passed);
        if end.is_some() {
            return Ok(McpLine::TooLong);
        }
    }
}

struct McpServer {
    guarded: bool,
    version: &'static str,
    children: Children,
    /// Held while a message is written.
    out: Mutex<()>,
}

impl McpServer {
    fn take(self: &Arc<McpServer>, line: &[u8]) {
        let Ok(message) = serde_json::from_slice::<Value>(line) else {
            return self.refuse(&Value::Null, &McpRefusal::new(NOT_JSON, "this is not JSON"));
        };
        let id = message.get("id").filter(|id| id.is_string() || id.is_number());
        let method = message.get("method").and_then(Value::as_str);
        let is_2 = message.get("jsonrpc").and_then(Value::as_str) == Some("2.0");
        let parameters = message.get("params").unwrap_or(&Value::Null);
        match (id, method) {
            (Some(id), Some(method)) if is_2 => self.request(id, method, parameters),
            (None, Some(method)) if is_2 && message.get("id").is_none() => self.notified(method, parameters),
            // An answer: nothing was asked.
            (Some(_), None) if message.get("result").or(message.get("error")).is_some() => {}
            (id, _) => {
                let why = "a request has jsonrpc \"2.0\", a method, and an id that is a text or a number";
                self.refuse(id.unwrap_or(&Value::Null), &McpRefusal::new(NO_REQUEST, why));
            }
        }
    }

    fn notified(&self, method: &str, parameters: &Value) {
        if method == "notifications/cancelled"
            && let Some(id) = parameters.get("requestId")
        {
            self.children.cancel(id);
        }
    }

    fn request(self: &Arc<McpServer>, id: &Value, method: &str, parameters: &Value) {
        match method {
            "initialize" => self.answer(id, self.greeting()),
            "ping" => self.answer(id, json!({})),
            "tools/list" => self.answer(id, json!({ "tools": tools::list() })),
            "tools/call" => {
                if let Err(refusal) = self.call(id, parameters) {
                    self.refuse(id, &refusal);
                }
            }
            unknown => {
                let why = format!("there is no method {unknown:?}: initialize, ping, tools/list, tools/call");
                self.refuse(id, &McpRefusal::new(NO_METHOD, why));
            }
        }
    }

    fn greeting(&self) -> Value {
        let hosts = if self.guarded {
            "Hosts, rates and times are guarded by wringer.toml; do not work round a refusal, ask."
        } else {
            "No wringer.toml guards hosts here, so only this machine (localhost) may be pressed."
        };
        json!({
            "protocolVersion": PROTOCOL,
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "wringer", "version": self.version },
            "instructions": format!(
                "A load tester. Quote no figure whose verdict.measurement.state is not `valid` without its reasons. {hosts}"
            ),
        })
    }

    /// Begins a call; its answer comes from a thread of its own.
    fn call(self: &Arc<McpServer>, id: &Value, parameters: &Value) -> Result<(), McpRefusal> {
        let name = parameters.get("name").and_then(Value::as_str).unwrap_or("");
        let nothing = json!({});
        let given = parameters.get("arguments").unwrap_or(&nothing);
        let words =
            tools::command(name, given, self.guarded).map_err(|why| McpRefusal::new(BAD_PARAMETERS, why))?;
        let child = self.children.begin(id, &words, CALLS).map_err(|why| McpRefusal::new(BUSY, why))?;
        let server = Arc::clone(self);
        let id = id.clone();
        let name = name.to_owned();
        thread::spawn(move || {
            // A call that was cancelled has no answer.
            if let Some(ran) = server.children.follow(&id, child) {
                server.answer(&id, tools::result(&name, &words, &ran));
            }
        });
        Ok(())
    }

    fn answer(&self, id: &Value, result: Value) {
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    fn refuse(&self, id: &Value, refusal: &McpRefusal) {
        let error = json!({ "code": refusal.code, "message": refusal.why });
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
    }

    fn write(&self, message: &Value) {
        let _held = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let mut out = io::stdout().lock();
        // Where nobody reads any more, standard input ends, too.
        let _ = writeln!(out, "{message}").and_then(|()| out.flush());
    }
}
