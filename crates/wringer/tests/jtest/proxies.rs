//! Behind a real proxy, Apache Traffic Server, for which the old tool was made.

use crate::support::{Running, free_ports, jtest, wringer};
use std::path::PathBuf;

fn installed(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from));
    folders.map(|folder| folder.join(name)).any(|program| program.exists())
}

/// A rig in front of an origin that is yet to come.
fn rig(listen: u16, origin: u16) -> Running {
    let mut command = wringer();
    command.args(["rig", "ats", "--memory", "64MiB", "--listen", &format!("127.0.0.1:{listen}")]);
    command.args(["--origin", &format!("127.0.0.1:{origin}")]);
    Running::of(&mut command).wait_for("listens on ")
}

/// Percent of a `Hit ratio` line: measured, and expected.
fn hit_ratio(out: &str) -> (f64, f64) {
    let line =
        out.lines().find_map(|line| line.strip_prefix("Hit ratio ")).unwrap_or_else(|| panic!("none: {out}"));
    let number =
        |text: &str| text.trim_start_matches('<').split(' ').next().and_then(|word| word.parse().ok());
    let expected = line.split_once("; ").and_then(|(_, rest)| number(rest));
    (number(line).expect("a number"), expected.expect("a number"))
}

#[test]
fn behind_traffic_server() {
    if !installed("traffic_server") {
        skip!("traffic_server is not installed");
    }
    let port = free_ports(2);
    let rig = rig(port, port + 1);
    let line = format!("-P localhost -p {port} -s {} -S localhost", port + 1);

    // The default mix: cold at first, then close to the hit rate.
    let ran = jtest(&format!("{line} -c 10 -A 6000 -C -D 1")).ok();
    let (measured, expected) = hit_ratio(&ran.out);
    assert_eq!(ran.ops(), 6000);
    assert!((measured - expected).abs() < 4.0 && measured < 41.0, "{measured} {expected}");
    assert!(ran.total("Server Response Body") < ran.total("Proxy Response Body"));

    // Nearly all of a hot set of a hundred was asked for by then: every tenth of the thousand.
    for (seed, rate, least, most) in [(2, "1", 99.0, 100.0), (3, "0.8", 76.0, 84.0), (4, "0", 0.0, 1.0)] {
        let ran = jtest(&format!("{line} -c 10 -A 3000 -C -Z 100 -z {rate} -D {seed}")).ended();
        let (measured, _) = hit_ratio(&ran.out);
        assert!(
            (least..=most).contains(&measured) && ran.last().err == 0,
            "-z {rate}: {}{}",
            ran.err,
            ran.out
        );
    }
    for form in [
        "-H 1",
        "-8 1.2",
        "-9 60",
        "-k 0",
        "-k 100 -j 0",
        "-n 6",
        "-g 0.3",
        "-4 1",
        "-e 200",
        "--post_support 1",
    ] {
        let ran = jtest(&format!("{line} -c 10 -A 200 -C {form}")).ended();
        assert_eq!((ran.ops(), ran.last().err), (200, 0), "{form}: {}{}", ran.err, ran.out);
    }
    rig.interrupt();
    assert_eq!(rig.end().code, Some(0));
}
