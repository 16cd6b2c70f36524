//! Cost of looking: `wringer http` with its file, its page and its exports, and somebody who looks at all of them, beside the
//! same with none.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::engine::{self, Wanted};
use super::place::Place;
use super::run::{self, Server};
use super::sample::Sample;
use crate::Result;

const OFF: &str = "looking: off";
const ON: &str = "looking: file, page, Prometheus";
/// The most that looking may cost: CPU per request, and how many times the rate without it may be that with it.
const BOUND_CPU: f64 = 1.02;
const BOUND_RATE: f64 = 1.01;
/// How often Prometheus comes.
const SCRAPE: Duration = Duration::from_secs(1);
/// How long whoever looks waits for anything.
const PATIENCE: Duration = Duration::from_secs(10);

/// The ratios: CPU with looking by that without, and the rate without by that with.
pub fn ratios() -> Vec<Wanted> {
    vec![
        Wanted { upper: ON.to_owned(), lower: OFF.to_owned(), bound: Some(BOUND_CPU) },
        Wanted { upper: rate(OFF), lower: rate(ON), bound: Some(BOUND_RATE) },
    ]
}

fn rate(case: &str) -> String {
    format!("{case}, requests/s")
}

/// The server, which stays up over the rounds.
pub struct Seeing<'a> {
    place: &'a Place,
    at: SocketAddr,
    _server: Server,
}

impl<'a> Seeing<'a> {
    pub fn start(place: &'a Place) -> Result<Self> {
        let at = run::free_address()?;
        let server =
            engine::start_bare(place, at).map_err(|problem| format!("bench: bare server: {problem}"))?;
        Ok(Self { place, at, _server: server })
    }

    /// The two cases, whose order changes with the round.
    pub fn groups(&self) -> Vec<super::Group<'_>> {
        vec![Box::new(|| self.case(OFF, false)), Box::new(|| self.case(ON, true))]
    }

    fn case(&self, name: &str, is_seen: bool) -> Vec<Sample> {
        let mut command = self.place.generator();
        let url = format!("http://{}/", self.at);
        let seconds = self.place.time.as_secs();
        let line = format!("http {url} --users 64 --threads 1 --quiet --duration {seconds}s");
        command.args(line.split(' '));
        if is_seen {
            command.args(["--live", "--prometheus", "127.0.0.1:0", "--keep-in"]).arg(self.place.file("runs"));
        } else {
            command.arg("--no-keep");
        }
        // What an earlier run said there is not looked at.
        let log = self.place.log();
        let _ = fs::remove_file(&log);
        let is_over = AtomicBool::new(false);
        let figures = thread::scope(|scope| {
            if is_seen {
                scope.spawn(|| look(&log, &is_over));
            }
            let figures = self.place.ours(command, &self.place.file("seeing.json"));
            is_over.store(true, Ordering::SeqCst);
            figures
        });
        let per_second = figures.as_ref().map_err(Clone::clone).map(|figures| figures.requests_per_s());
        let per_second =
            per_second.and_then(|rate| rate.ok_or_else(|| "the report tells no rate".to_owned()));
        vec![Sample::new(name, None, figures), Sample::of_value(&rate(name), None, per_second)]
    }
}

/// Looks at a run as a browser and a Prometheus do, until it is over. Where the run says nothing of a page, its report will tell.
fn look(log: &Path, is_over: &AtomicBool) {
    let Some(text) = told(log, is_over) else { return };
    let after = |word: &str| text.split_once(word).and_then(|(_, rest)| rest.split_whitespace().next());
    let page = after("page: http://").and_then(|url| url.split_once("/?token="));
    let metrics = after("metrics: http://").and_then(|url| url.strip_suffix("/metrics"));
    thread::scope(|scope| {
        if let Some((address, token)) = page {
            scope.spawn(move || read_changes(address, token));
        }
        if let Some(address) = metrics {
            while !is_over.load(Ordering::SeqCst) {
                let accept = "Accept: application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited\r\n";
                // One that is not answered is none.
                let _ = get(address, "/metrics", accept)
                    .and_then(|mut answer| answer.read_to_end(&mut Vec::new()));
                thread::sleep(SCRAPE);
            }
        }
    });
}

/// Returns the output of the run, once it has told both addresses.
fn told(log: &Path, is_over: &AtomicBool) -> Option<String> {
    while !is_over.load(Ordering::SeqCst) {
        let text = fs::read_to_string(log).unwrap_or_default();
        if text.contains("metrics: ") && text.contains("/?token=") && text.ends_with('\n') {
            return Some(text);
        }
        thread::sleep(Duration::from_millis(10));
    }
    None
}

/// Reads the changes of the run to its end, as the page does.
fn read_changes(address: &str, token: &str) -> Option<()> {
    let bearer = format!("Authorization: Bearer {token}\r\n");
    let mut list = String::new();
    get(address, "/api/runs", &bearer).ok()?.read_to_string(&mut list).ok()?;
    let id = list.split_once("\"id\":\"")?.1.split('"').next()?;
    get(address, &format!("/api/runs/{id}/model"), &bearer).ok()?.read_to_end(&mut Vec::new()).ok()?;
    let changes = get(address, &format!("/api/runs/{id}/changes"), &bearer).ok()?;
    changes.lines().map_while(std::result::Result::ok).for_each(drop);
    Some(())
}

fn get(address: &str, target: &str, fields: &str) -> std::io::Result<BufReader<TcpStream>> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let request = format!("GET {target} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{fields}\r\n");
    stream.write_all(request.as_bytes())?;
    Ok(BufReader::new(stream))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn whoever_looks_asks_for_the_list_the_model_and_its_changes() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("it listens").to_string();
        let server = thread::spawn(move || {
            let asked = listener.incoming().take(3).map(|stream| {
                let mut stream = stream.expect("a connection");
                let mut head = [0; 1024];
                let count = stream.read(&mut head).expect("a request");
                stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n{\"runs\":[{\"id\":\"7f3a\"}]}").expect("it reads");
                String::from_utf8_lossy(&head[..count]).into_owned()
            });
            asked.collect::<Vec<String>>()
        });
        assert_eq!(read_changes(&address, "abc"), Some(()));
        let asked = server.join().expect("the server");
        let lines: Vec<_> = asked.iter().filter_map(|head| head.split(" HTTP").next()).collect();
        assert_eq!(lines, ["GET /api/runs", "GET /api/runs/7f3a/model", "GET /api/runs/7f3a/changes"]);
        assert!(asked.iter().all(|head| head.contains("Authorization: Bearer abc\r\n")));
    }
}
