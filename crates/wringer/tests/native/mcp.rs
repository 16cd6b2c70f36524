//! Assistants speak the Model Context Protocol with `wringer mcp`; hostile ones do no harm.

use crate::support::folder;
use crate::web::{Web, ok};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use tempfile::TempDir;

struct Assistant {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    _folder: TempDir,
}

impl Assistant {
    fn start(settings: &str) -> Assistant {
        let folder = folder();
        std::fs::write(folder.path().join("wringer.toml"), settings).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_wringer"));
        command.arg("mcp").current_dir(folder.path()).env("XDG_STATE_HOME", folder.path());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        Assistant { child, input, output, _folder: folder }
    }

    fn say(&mut self, line: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line).and_then(|()| input.write_all(b"\n")).unwrap();
    }

    fn ask(&mut self, id: u32, method: &str, parameters: &Value) {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters });
        self.say(message.to_string().as_bytes());
    }

    fn call(&mut self, id: u32, tool: &str, arguments: &Value) {
        self.ask(id, "tools/call", &json!({ "name": tool, "arguments": arguments }));
    }

    /// The next message; each line of standard output is one.
    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line:?}: {error}"));
        assert_eq!(message["jsonrpc"], "2.0");
        message
    }

    fn error(&mut self) -> i64 {
        let message = self.hear();
        message["error"]["code"].as_i64().unwrap_or_else(|| panic!("{message}"))
    }

    fn end(mut self) {
        drop(self.input.take());
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut self.output, &mut rest).unwrap();
        assert_eq!((rest.as_str(), self.child.wait().unwrap().code()), ("", Some(0)));
    }
}

#[test]
fn an_assistant_runs_a_test_and_reads_its_report() {
    let web = Web::start(|_| ok("x"));
    let mut assistant = Assistant::start("");
    assistant.ask(1, "initialize", &json!({ "protocolVersion": "2025-06-18" }));
    assert_eq!(assistant.hear()["result"]["protocolVersion"], "2025-06-18");
    assistant.say(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    assistant.ask(2, "tools/list", &json!({}));
    let listed = assistant.hear();
    let names: Vec<_> =
        listed["result"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["run", "compare", "report", "explain"]);
    let url = format!("http://{}/", web.address);
    assistant.call(3, "run", &json!({ "url": url, "requests": 20, "users": 2, "require": ["p99<1us"] }));
    let told = assistant.hear();
    let result = &told["result"]["structuredContent"];
    assert_eq!((&result["exit"], &told["result"]["isError"]), (&3.into(), &false.into()), "{told}");
    assert_eq!(result["report"]["measured"]["counts"]["ok"], 20, "{told}");
    assistant.call(4, "report", &json!({ "run": "latest", "as": "short" }));
    let told = assistant.hear();
    assert!(told["result"]["content"][0]["text"].as_str().unwrap().contains("20"), "{told}");
    assistant.end();
}

#[test]
fn a_hostile_client_does_no_harm() {
    let web = Web::start(|_| ok("x"));
    let url = format!("http://{}/", web.address);
    let mut assistant = Assistant::start("");
    for (line, code) in [
        (b"garbage{".to_vec(), -32700),
        (b"\xff\xfe".to_vec(), -32700),
        (vec![b'['; 500_000], -32700),
        (vec![b'x'; 3 << 20], -32700),
        (b"[1,2]".to_vec(), -32600),
        (br#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#.to_vec(), -32600),
        (br#"{"jsonrpc":"2.0","id":1,"method":"shell"}"#.to_vec(), -32601),
        (br#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#.to_vec(), -32602),
    ] {
        assistant.say(&line);
        assert_eq!(assistant.error(), code, "{:.80}", String::from_utf8_lossy(&line));
    }
    for arguments in [
        json!({ "url": "http://192.0.2.1/" }),
        json!({ "url": "--help" }),
        json!({ "url": "file:///etc/passwd" }),
        json!({ "url": url, "html": "page.html" }),
        json!({ "url": url, "users": -1 }),
        json!({}),
    ] {
        assistant.call(5, "run", &arguments);
        assert_eq!(assistant.error(), -32602, "{arguments}");
    }
    (10..14).for_each(|id| assistant.call(id, "run", &json!({ "url": url, "users": 1, "duration": "60s" })));
    assistant.call(14, "run", &json!({ "url": url }));
    assert_eq!(assistant.error(), -32000);
    assistant.say(br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":10}}"#);
    assistant.ask(15, "ping", &json!({}));
    assert_eq!(assistant.hear()["id"], 15, "what was cancelled has no answer");
    assistant.end();
}

#[test]
fn guards_say_which_hosts_may_be_pressed() {
    let mut assistant = Assistant::start("[guard]\nhosts = [\"only.example\"]\n");
    assistant.call(1, "run", &json!({ "url": "http://127.0.0.1:1/", "requests": 1 }));
    let told = assistant.hear();
    assert_eq!(told["result"]["isError"], true, "{told}");
    assert_eq!(told["result"]["structuredContent"]["exit"], 2, "{told}");
    assistant.end();
}
