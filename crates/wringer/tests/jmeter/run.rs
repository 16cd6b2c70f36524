//! Runs a plan as `wringer jmeter` against a server of the test's own.

use super::server::{Asked, Server};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Result of a run.
pub struct Ran {
    pub port: u16,
    pub asked: Vec<Asked>,
    /// Samples, as the results file has them.
    pub samples: Vec<Sample>,
    /// Output as printed.
    pub output: String,
}

/// A sample of a results file.
#[derive(Debug, Clone, Default)]
pub struct Sample {
    pub attributes: Vec<(String, String)>,
    pub url: Option<String>,
    /// Assertions that did not hold.
    pub failed: Vec<(String, String)>,
    pub parts: Vec<Sample>,
}

impl Sample {
    pub fn attribute(&self, name: &str) -> &str {
        let found = self.attributes.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value.as_str())
    }
}

/// A run may take so long.
const LIMIT: Duration = Duration::from_secs(120);

/// Runs `plan.jmx` of a folder with the rules of a server, and flags in which `27000` is its port.
pub fn run(folder: &Path, rules: &str, flags: &[String], plan: impl FnOnce(u16)) -> Ran {
    let server = Server::start(rules);
    plan(server.port);
    let results = folder.join("results.xml");
    let _ = std::fs::remove_file(&results);
    let mut command = Command::new(env!("CARGO_BIN_EXE_wringer"));
    command.args(["jmeter", "-n", "-t", "plan.jmx", "-l", "results.xml"]);
    command.args(["-Jjmeter.save.saveservice.output_format=xml", "-Jwringer.files=anywhere"]);
    // Random texts may have any character, those that end a string of JSON, too: with this seed they have none.
    command.args(["--seed", "1"]);
    command.args(flags.iter().map(|flag| flag.replace("27000", &server.port.to_string())));
    let log = folder.join("output.txt");
    let file = std::fs::File::create(&log).expect("the folder is ours");
    let errors = file.try_clone().expect("a file");
    let mut child = command
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(file)
        .stderr(errors)
        .spawn()
        .expect("it starts");
    let begun = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        if begun.elapsed() > LIMIT {
            child.kill().expect("it is ours");
            child.wait().expect("it is ours");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let text = std::fs::read_to_string(&results).unwrap_or_default();
    let output = std::fs::read_to_string(&log).unwrap_or_default();
    Ran { port: server.port, asked: server.asked(), samples: samples(&text), output }
}

/// Reads a results file in XML, as this project writes it: a line for each beginning and end.
fn samples(text: &str) -> Vec<Sample> {
    let mut open = vec![Sample::default()];
    let mut name = String::new();
    let text = text.replace("</failureMessage>\n", "</failureMessage>\u{1}");
    for piece in text.split_inclusive('>') {
        let tag = piece.rsplit_once('<').map_or(piece, |(_, tag)| tag);
        let said = unescaped(piece.rsplit_once('<').map_or("", |(said, _)| said));
        if tag.starts_with("httpSample ") || tag.starts_with("sample ") {
            open.push(Sample { attributes: attributes(tag), ..Sample::default() });
        } else if tag.starts_with("/httpSample") || tag.starts_with("/sample") {
            let ended = open.pop().expect("it was opened");
            open.last_mut().expect("the whole").parts.push(ended);
        } else if tag.starts_with("/name") {
            name = said;
        } else if tag.starts_with("/failureMessage") {
            open.last_mut().expect("a sample").failed.push((name.clone(), said));
        } else if tag.starts_with("/java.net.URL") {
            open.last_mut().expect("a sample").url = Some(said);
        }
    }
    open.swap_remove(0).parts
}

fn attributes(tag: &str) -> Vec<(String, String)> {
    let pattern = regex::Regex::new("(\\w+)=\"([^\"]*)\"").expect("a pattern");
    pattern.captures_iter(tag).map(|found| (found[1].to_owned(), unescaped(&found[2]))).collect()
}

fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

/// The text of a member, empty where there is none.
pub fn text<'a>(of: &'a Value, name: &str) -> &'a str {
    of[name].as_str().unwrap_or_default()
}
