//! The program's ways in: usage, version, the environment, a link with the old name, the plan that a line means.

use crate::support::{Running, alone_at, folder, free_port, jtest, program, wringer};
use std::process::Command;

fn of(command: &mut Command) -> crate::support::Ran {
    Running::of(command).end()
}

#[test]
fn usage_and_version() {
    let usage = jtest("-h");
    assert_eq!((usage.code, usage.out.as_str()), (Some(64), ""));
    assert!(usage.err.starts_with(
        "Usage: jtest [--SWITCH [ARG]]\n  switch__________________type__default___description\n"
    ));
    let unknown = jtest("--bogus");
    assert_eq!(unknown.code, Some(64));
    assert!(unknown.err.ends_with("\njtest: unknown switch '--bogus'\n"), "{}", unknown.err);
    let version = jtest("-V");
    assert_eq!((version.code, version.err.as_str()), (Some(0), ""));
    assert!(version.out.starts_with("wringer - jtest - "), "{}", version.out);
}

#[test]
fn a_link_with_the_old_name_is_the_old_tool() {
    let folder = folder();
    let made = of(wringer().arg("links").arg(folder.path()));
    let link = folder.path().join("jtest");
    assert_eq!(made.code, Some(0), "{}", made.err);
    assert!(made.out.contains(&format!("{} -> ", link.display())), "{}", made.out);
    let line = alone_at(free_port(), "-c 2 -A 20 -C");
    assert_eq!(of(program(&link).args(line.split(' '))).ok().ops(), 20);
    assert_eq!(of(program(&link).arg("-h")).code, Some(64));
    let again = of(wringer().arg("links").arg(folder.path()));
    assert_eq!((again.code, again.out, again.err.as_str()), (Some(0), made.out, ""));
}

#[test]
fn the_environment_stands_behind_the_arguments() {
    let port = free_port().to_string();
    let mut command = wringer();
    command.args(["jtest", "-A", "6"]);
    command
        .env("JTEST_PROXY_HOST", "127.0.0.1")
        .env("JTEST_PROXY_PORT", &port)
        .env("JTEST_SERVER_PORT", &port);
    command.env("JTEST_BANDWIDTH_TEST", "5").env("JTEST_CHECK_CONTENT", "1").env("TEST_TIME", "20");
    assert_eq!(of(&mut command).ok().ops(), 6);
}

#[test]
fn a_plan_that_is_shown_runs_the_same() {
    let folder = folder();
    let line = alone_at(free_port(), "-c 2 -A 30 -C -D 7 -N 2");
    let shown = jtest(&format!("{line} --show-plan"));
    assert_eq!((shown.code, shown.err.as_str()), (Some(0), ""));
    let file = crate::support::file(&folder, "plan.toml", &shown.out);
    let checked = of(wringer().args(["plan", "check", &file]));
    assert_eq!(checked.code, Some(0), "{}{}", checked.err, checked.out);
}

#[test]
fn switches_that_are_taken_without_effect_say_so() {
    let ran = jtest(&alone_at(free_port(), "-c 1 -A 3 -T -b 9 -B 9 -7 3 -d")).ended();
    assert_eq!((ran.ops(), ran.err.as_str()), (3, "jtest: -b, -B, -T, -7, -d have no effect here\n"));
}

#[test]
fn the_result_as_json() {
    let folder = folder();
    let file = folder.path().join("out.json");
    let line = alone_at(free_port(), "-c 2 -A 30 -k 0");
    jtest(&format!("{line} --json {}", file.display())).ok();
    let text = std::fs::read_to_string(file).expect("it was written");
    let json: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    assert!(json.to_string().contains("\"requests\":30"), "{text}");
}
