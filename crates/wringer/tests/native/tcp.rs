//! `wringer tcp` from outside, against peers of the test's own.

use crate::support::{Ran, Report, free_address, start};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

/// A peer that answers lines by `answer`, connection by connection, until the test ends.
fn lines(answer: fn(&str) -> String) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || serve(stream, answer));
        }
    });
    address
}

fn serve(mut stream: TcpStream, answer: fn(&str) -> String) -> Option<()> {
    let (mut held, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let count = stream.read(&mut buffer).ok().filter(|count| *count > 0)?;
        held.extend_from_slice(&buffer[..count]);
        while let Some(end) = held.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = held.drain(..=end).collect();
            let text = answer(String::from_utf8_lossy(&line).trim_end());
            stream.write_all(format!("{text}\n").as_bytes()).ok()?;
        }
    }
}

pub fn tcp(address: SocketAddr, words: &[&str]) -> Ran {
    let address = address.to_string();
    let first =
        ["tcp", "-q", "--json", "{}/result.json", "--evidence-file", "{}/evidence.txt", "--seed", "7"];
    start(first.into_iter().chain([address.as_str()]).chain(words.iter().copied())).end()
}

/// What was counted: requests, good answers, faulty ones and failed ones.
pub fn counts(report: &Report) -> [u64; 4] {
    ["requests", "fine", "faulty", "failed"].map(|counter| report.sum(counter))
}

#[test]
fn codes_are_counted_and_told() {
    let address = lines(|line| {
        let code = if line.ends_with('3') { "51" } else { "00" };
        format!("{{\"rspCd\":\"{code}\",\"echo\":\"{line}\"}}")
    });
    let words = ["-m", "{{request}}", "-c", "4", "-n", "100", "--code", "json /rspCd", "--success", "00"];
    let ran = tcp(address, &words).ended_with(3);
    let report = ran.report();
    assert_eq!(counts(&report), [100, 90, 10, 0]);
    assert_eq!(report.faults()["bad_code"], 10);
    let codes = report.list("measured/codes");
    let told: Vec<_> = codes.iter().map(|code| (code.text("code"), code.count("count"))).collect();
    assert_eq!(told, [("00", 90), ("51", 10)]);
    assert!(ran.stdout.contains("Codes"), "{}", ran.stdout);
    assert!(ran.file("evidence.txt").contains("code '51', where one of 00 is wanted"));
    // What is tolerated does not fail the run.
    tcp(address, &[&words[..], &["--tolerate", "10%"]].concat()).ended_with(0);
    tcp(address, &[&words[..], &["--tolerate", "9%"]].concat()).ended_with(3);
}

#[test]
fn a_plan_file_does_the_same() {
    let address = lines(str::to_owned);
    let ran =
        tcp(address, &["-m", "{{counter:5..9}}", "-n", "50", "--pipeline", "4", "-c", "2", "--show-plan"]);
    let plan = ran.ended_with(0).stdout;
    assert!(plan.contains("pipeline = 4"), "{plan}");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plan.toml");
    std::fs::write(&file, &plan).unwrap();
    let file = file.display().to_string();
    let ran = start(["run", "-q", "--json", "{}/result.json", file.as_str()]).end().ended_with(0);
    assert_eq!(counts(&ran.report()), [50, 50, 0, 0]);
    assert!(!ran.stderr.contains("accounts"), "{}", ran.stderr);
}

#[test]
fn names_and_sources() {
    let address = lines(str::to_owned);
    let by_name = format!("localhost:{}", address.port());
    let line = ["tcp", "-q", "-m", "x", "-n", "5", "--source", "127.0.0.9", "--json", "{}/result.json"];
    let ran = start(line.into_iter().chain([by_name.as_str()])).end().ended_with(0);
    assert_eq!(counts(&ran.report()), [5, 5, 0, 0]);
}

#[test]
fn what_cannot_work_is_refused_in_a_line() {
    let address = free_address();
    for (words, code, said) in [
        (&["-m", "{{none}}"][..], 2, "no known data"),
        (&["-m", "x", "--framing", "ascii:99"], 2, "no framing"),
        (&["-m", "x", "--code", "regex ("], 2, "regular expression"),
        (&["-m", "{{k}}", "--data", "k=env:WRINGER_NO_SUCH_VARIABLE"], 2, "WRINGER_NO_SUCH_VARIABLE"),
        (&["-m", "{{t}}", "--data", "t=time@No/Where:%H"], 2, "time zone"),
        (&["-m", "{{f}}", "--data-file", "f=/no/such/file"], 1, "cannot be read"),
        (&["-m", "x"], 1, "nothing answers"),
    ] {
        let ran = tcp(address, words);
        assert_eq!(ran.code(), code, "{words:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(said), "{words:?}: {}", ran.stderr);
    }
}
