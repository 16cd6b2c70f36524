//! The door and Debian's wrk press nginx: what counts as an error, and TLS with a certificate that nobody vouches for.

#[path = "../support/nginx.rs"]
mod server;

use crate::support::{program, start};
use crate::{before, ends, shape};
use server::Nginx;
use std::process::Command;

#[test]
fn reports_agree() {
    let Some(wrk) = program("wrk") else {
        skip!("wrk is not installed, so reports are not compared with its own")
    };
    let Some(nginx) = Nginx::start() else { skip!("nginx is not installed") };
    let (plain, secure) =
        (format!("http://127.0.0.1:{}", nginx.plain), format!("https://127.0.0.1:{}", nginx.secure));
    for (url, are_errors) in [
        (format!("{plain}/page"), false),
        (format!("{plain}/nope"), true),
        (format!("{plain}/moved"), false),
        (format!("{plain}/auth"), true),
        (format!("{plain}/varies"), false),
        (format!("{secure}/page"), false),
        (format!("{secure}/nope"), true),
    ] {
        let line = ["-t1", "-c2", "-d1s", "--latency", url.as_str()];
        let theirs = Command::new(&wrk).args(line).output().expect("it is installed");
        let theirs = String::from_utf8_lossy(&theirs.stdout).into_owned();
        let ours = start(["wrk"].into_iter().chain(line)).end();
        ends(&ours, 0);
        assert_eq!(shape(&ours.stdout), shape(&theirs), "{url}\n{}\n{theirs}", ours.stdout);
        for report in [&ours.stdout, &theirs] {
            let errors = report.split("Non-2xx or 3xx responses: ").nth(1);
            let errors = errors.map(|rest| rest.lines().next().unwrap_or_default().trim().parse::<u64>());
            let wanted = are_errors.then(|| Ok(before(report, "requests in")));
            assert_eq!(errors, wanted, "{url}\n{report}");
        }
    }
}
