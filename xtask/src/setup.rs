//! Installs from Debian what the tests need, where it may: as root, with apt. Where it may not, it says what is missing
//! and goes on, because the tests say themselves what they skip.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::{Result, shell};

/// A package, the program that shows that it is there, and what it is for.
struct Needed {
    package: &'static str,
    program: &'static str,
    for_bench: bool,
}

const NEEDED: [Needed; 34] = [
    for_tests("trafficserver", "traffic_server"),
    for_tests("nginx-light", "nginx"),
    for_tests("varnish", "varnishd"),
    for_tests("squid", "squid"),
    for_tests("haproxy", "haproxy"),
    for_tests("apache2", "apache2"),
    for_tests("h2o", "h2o"),
    for_tests("caddy", "caddy"),
    for_tests("curl", "curl"),
    for_tests("iproute2", "ip"),
    for_tests("util-linux", "setpriv"),
    for_tests("valgrind", "valgrind"),
    for_tests("apache2-utils", "ab"),
    for_tests("wrk", "wrk"),
    for_tests("siege", "siege"),
    for_tests("redis-server", "redis-server"),
    for_tests("postgresql", "pg_ctlcluster"),
    for_tests("nghttp2-client", "h2load"),
    for_tests("nghttp2-server", "nghttpd"),
    for_tests("nghttp2-proxy", "nghttpx"),
    for_tests("prometheus", "prometheus"),
    for_tests("influxdb", "influxd"),
    for_tests("rpm", "rpmbuild"),
    for_tests("nodejs", "node"),
    for_tests("npm", "npm"),
    for_tests("chromium", "chromium"),
    for_tests("nats-server", "nats-server"),
    for_tests("openssh-server", "sshd"),
    for_tests("zsh", "zsh"),
    for_tests("fish", "fish"),
    for_tests("tcsh", "tcsh"),
    for_tests("faketime", "faketime"),
    for_bench("hey", "hey"),
    for_bench("openssl", "openssl"),
];

const fn for_tests(package: &'static str, program: &'static str) -> Needed {
    Needed { package, program, for_bench: false }
}

const fn for_bench(package: &'static str, program: &'static str) -> Needed {
    Needed { package, program, for_bench: true }
}

/// How much to install.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    Tests,
    TestsAndBench,
}

/// Reads the arguments of `cargo xtask setup`.
pub fn parse(arguments: &[String]) -> Result<Extent> {
    match arguments {
        [] => Ok(Extent::Tests),
        [only] if only == "--bench" => Ok(Extent::TestsAndBench),
        _ => Err("setup takes nothing but --bench".into()),
    }
}

/// Installs what is missing, and returns the programs that are missing still.
pub fn run(extent: Extent) -> Result<Vec<&'static str>> {
    let missing = missing(extent);
    if !missing.is_empty() {
        match may_install() {
            Ok(()) => install(&missing.iter().map(|needed| needed.package).collect::<Vec<_>>())?,
            Err(reason) => println!("setup: nothing is installed, because {reason}"),
        }
    }
    Ok(say_what_is_missing(extent))
}

/// Says which programs are not there, and what follows; returns them.
pub fn say_what_is_missing(extent: Extent) -> Vec<&'static str> {
    let programs: Vec<_> = missing(extent).iter().map(|needed| needed.program).collect();
    if !programs.is_empty() {
        let packages: Vec<_> = missing(extent).iter().map(|needed| needed.package).collect();
        println!("setup: not installed: {}; what needs them is skipped and says so", programs.join(", "));
        println!("setup: on Debian they are in: {}", packages.join(" "));
    }
    programs
}

fn missing(extent: Extent) -> Vec<&'static Needed> {
    let wanted = |needed: &&Needed| extent == Extent::TestsAndBench || !needed.for_bench;
    NEEDED.iter().filter(wanted).filter(|needed| shell::find(needed.program).is_none()).collect()
}

fn may_install() -> std::result::Result<(), &'static str> {
    if shell::find("apt-get").is_none() {
        return Err("there is no apt-get here");
    }
    if !nix::unistd::geteuid().is_root() {
        return Err("that takes root");
    }
    Ok(())
}

/// A minimal toolchain lacks these two, and ci asks for both.
pub fn add_components() {
    for (program, component) in [("cargo-fmt", "rustfmt"), ("cargo-clippy", "clippy")] {
        let works = shell::find(program).is_some()
            && shell::output(&mut shell::cargo([program.trim_start_matches("cargo-"), "--version"])).is_ok();
        if !works
            && let Err(problem) = shell::run(Command::new("rustup").args(["component", "add", component]))
        {
            println!("setup: {component} is missing, and {problem}");
        }
    }
}

/// Installs all at once; where that fails twice, one by one, so that one missing package does not cost the others.
fn install(packages: &[&str]) -> Result<()> {
    let _policy = NoServices::begin(Path::new("/usr/sbin/policy-rc.d"))?;
    println!("setup: installing {}", packages.join(" "));
    if let Err(problem) = apt(&["update"]).or_else(|_| apt(&["update"])) {
        println!("setup: {problem}");
    }
    if apt_install(packages).is_ok() {
        return Ok(());
    }
    println!("setup: once more");
    if apt(&["update"]).and_then(|()| apt_install(packages)).is_ok() {
        return Ok(());
    }
    for package in packages.iter().collect::<BTreeSet<_>>() {
        if let Err(problem) = apt_install(&[package]) {
            println!("setup: {problem}");
        }
    }
    Ok(())
}

fn apt_install(packages: &[&str]) -> Result<()> {
    let mut arguments =
        vec!["install", "--yes", "--no-install-recommends", "-o", "Dpkg::Options::=--force-confold"];
    arguments.extend(packages);
    apt(&arguments)
}

fn apt(arguments: &[&str]) -> Result<()> {
    let mut command = Command::new("apt-get");
    command.args(["-qq", "-o", "DPkg::Lock::Timeout=120", "-o", "Dpkg::Use-Pty=0"]).args(arguments);
    shell::run(command.env("DEBIAN_FRONTEND", "noninteractive"))
}

const POLICY: &str = "#!/bin/sh\n# Put here by wringer's `cargo xtask setup` while it installs; to be removed after.\nexit 101\n";

/// While this lives, packages that are installed do not start their services: we want the programs, not daemons on port
/// 80. A policy of somebody else is left alone; it stands for a decision that is not ours.
struct NoServices<'a> {
    /// The file to remove, where it is ours.
    ours: Option<&'a Path>,
}

impl<'a> NoServices<'a> {
    fn begin(file: &'a Path) -> Result<Self> {
        let created = OpenOptions::new().write(true).create_new(true).mode(0o755).open(file);
        match created.and_then(|mut policy| policy.write_all(POLICY.as_bytes())) {
            Ok(()) => Ok(Self { ours: Some(file) }),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                // One of ours is left where an earlier setup was killed.
                let is_ours = fs::read_to_string(file).is_ok_and(|text| text == POLICY);
                Ok(Self { ours: is_ours.then_some(file) })
            }
            Err(error) => Err(format!("{} cannot be written: {error}", file.display())),
        }
    }
}

impl Drop for NoServices<'_> {
    fn drop(&mut self) {
        if let Some(file) = self.ours
            && let Err(error) = fs::remove_file(file)
        {
            println!("setup: {} is left behind: {error}; remove it", file.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_of_ours_comes_and_goes() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("policy-rc.d");
        let policy = NoServices::begin(&file).expect("a policy");
        assert!(fs::read_to_string(&file).expect("the policy").contains("exit 101"));
        drop(policy);
        assert!(!file.exists());
    }

    #[test]
    fn a_policy_of_somebody_else_stays() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("policy-rc.d");
        fs::write(&file, "#!/bin/sh\nexit 0\n").expect("written");
        drop(NoServices::begin(&file).expect("a policy"));
        assert_eq!(fs::read_to_string(&file).expect("still there"), "#!/bin/sh\nexit 0\n");
    }

    #[test]
    fn what_a_killed_setup_left_is_removed() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("policy-rc.d");
        fs::write(&file, POLICY).expect("written");
        drop(NoServices::begin(&file).expect("a policy"));
        assert!(!file.exists());
    }

    #[test]
    fn arguments() {
        assert_eq!(parse(&[]), Ok(Extent::Tests));
        assert_eq!(parse(&["--bench".into()]), Ok(Extent::TestsAndBench));
        assert!(parse(&["--all".into()]).is_err());
    }
}
