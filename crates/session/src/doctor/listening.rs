//! Processes that somebody calls a target's, held against who listens at its address.

use super::owners::{Listeners, parent};
use super::process::Watch;
use super::program::process;
use crate::problem::Problem;
use std::fs;
use std::net::SocketAddr;
use std::time::Duration;

/// Time to find who listens in place of the processes that were named.
const LOOK_FOR: Duration = Duration::from_secs(1);
/// More ancestors than these are not asked for.
const MOST_ANCESTORS: usize = 64;

/// Refuses processes none of which has to do with a target on this machine: neither do they listen at its address, nor does a process that
/// has started one of them, or that one of them has started. Of a process that may not be looked at, or that has a network of its own, as
/// in a container, nobody can tell. `option`: it named them.
///
/// # Errors
/// Others listen there.
pub fn check_listening(option: &str, asked: &[u32], target: SocketAddr) -> Result<(), Problem> {
    let listeners = Listeners::at(target, false);
    if asked.is_empty() || listeners.is_empty() || asked.iter().any(|pid| may_belong(*pid, &listeners)) {
        return Ok(());
    }
    let advice = match listeners.owners(&[], LOOK_FOR) {
        Ok(owners) => format!("{} does: give that, or leave {option} out", list(&owners)),
        Err(_) => format!("leave {option} out, or give who listens there ('ss -ltnp' tells)"),
    };
    let does = if asked.len() == 1 { "does" } else { "do" };
    Err(Problem::Usage(format!(
        "{option}: {} {does} not listen at {target}, nor does a process that it has started or that has started it; {advice}",
        list(asked)
    )))
}

/// True if this process comes from that one, or is it: whatever is done to the family of that one is done to us.
pub fn has_started_us(pid: u32) -> bool {
    let us = std::process::id();
    std::iter::successors(Some(us), |pid| parent(*pid)).take(MOST_ANCESTORS).any(|above| above == pid)
}

/// True if a process belongs to those who listen, or nobody can tell.
fn may_belong(pid: u32, listeners: &Listeners) -> bool {
    let network = |pid: &str| fs::read_link(format!("/proc/{pid}/ns/net")).ok();
    if network(&pid.to_string()).is_none_or(|its| Some(its) != network("self")) {
        return true;
    }
    let above = std::iter::successors(parent(pid), |pid| parent(*pid)).take(MOST_ANCESTORS);
    let below = Watch::new(&[], &[pid], Vec::new()).pids();
    let mut others = below.into_iter().chain(above.take_while(|pid| *pid > 1));
    // An ancestor that may not be looked at is a terminal's or the system's.
    listeners.are_owned_by(pid).unwrap_or(true) || others.any(|pid| listeners.are_owned_by(pid) == Some(true))
}

/// Processes by their names and numbers.
fn list(pids: &[u32]) -> String {
    let named = |pid: &u32| match process(*pid) {
        Some(found) => format!("{} (pid {pid})", found.name),
        None => format!("pid {pid}"),
    };
    pids.iter().map(named).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_started_us_is_known() {
        let us = std::process::id();
        let child = std::process::Command::new("sleep").arg("60").spawn();
        let mut child = child.expect("sleep is everywhere");
        assert!(has_started_us(us) && parent(us).is_none_or(has_started_us) && !has_started_us(child.id()));
        child.kill().and_then(|()| child.wait()).expect("it is ours");
    }
    use crate::doctor::process::listener_of_our_own;
    use std::os::fd::AsFd;
    use std::process::{Child, Command, Stdio};

    /// A process that waits until its standard input ends.
    fn waiting(listener: Option<&std::net::TcpListener>) -> Child {
        let listening = listener.map(|listener| listener.as_fd().try_clone_to_owned().unwrap());
        let stderr = listening.map_or_else(Stdio::null, Stdio::from);
        Command::new("sh").args(["-c", "read line"]).stdin(Stdio::piped()).stderr(stderr).spawn().unwrap()
    }

    #[test]
    fn a_process_that_has_nothing_to_do_with_a_target_is_refused_by_its_name() {
        let listener = listener_of_our_own();
        let at = listener.local_addr().unwrap();
        let (mut server, mut other) = (waiting(Some(&listener)), waiting(None));
        // As long as this process listens too, whatever it has started belongs to it.
        let of_ours = check_listening("--pid", &[other.id()], at);
        drop(listener);
        let [refused, both, its_own] = [&[other.id()][..], &[other.id(), server.id()], &[server.id()]]
            .map(|pids| check_listening("--pid", pids, at));
        for child in [&mut server, &mut other] {
            drop(child.stdin.take());
            child.wait().unwrap();
        }
        assert!([of_ours, both, its_own].iter().all(Result::is_ok));
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains(&format!("(pid {}) does not listen at {at}", other.id())), "{refused}");
        assert!(refused.contains(&format!("(pid {}) does: give that", server.id())), "{refused}");
        assert!(check_listening("--pid", &[other.id()], at).is_ok(), "nobody listens any more");
    }
}
