//! Features that are ours alone: the plan, JSON, help, the name of a link.

use crate::server::{Behaviour, Server};
use crate::support::ours;
use std::os::unix::fs::symlink;
use std::process::Command;

#[test]
fn help_is_no_error_and_a_plan_can_be_shown() {
    let help = ours("--help");
    assert_eq!(help.exit, Some(0));
    assert!(help.stdout.starts_with("Usage: ab [options] [http[s]://]hostname[:port]/path\n"));
    let plan = ours("-n 7 -c 2 --show-plan http://127.0.0.1:1/x");
    assert!(plan.exit == Some(0) && plan.stdout.contains("requests = 7"), "{plan:?}");
    let usage = ours("-h");
    assert_eq!((usage.exit, usage.stdout.as_str()), (Some(22), ""));
    assert_eq!(usage.stderr, help.stdout);
}

#[test]
fn the_result_can_be_had_as_json() {
    let server = Server::start(Behaviour::Good);
    let ran = ours(&format!("-n 10 --json=j.json {}", server.url("/")));
    let text = std::fs::read_to_string(ran.folder.path().join("j.json")).unwrap();
    assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{text}");
}

#[test]
fn a_link_of_that_name_opens_the_door() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("ab");
    symlink(env!("CARGO_BIN_EXE_wringer"), &link).unwrap();
    let said = Command::new(link).arg("-V").output().unwrap();
    assert!(said.status.success() && String::from_utf8_lossy(&said.stdout).contains("ApacheBench"));
}
