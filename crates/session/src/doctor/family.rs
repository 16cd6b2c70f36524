//! The processes that descend from others, looked at often: children are asked of their parents, so that nobody else has to be
//! looked at.

use super::owners::{Listeners, is_same_file, parent, stat};
use measure::processes::Member;
use rustix::time::{ClockId, clock_gettime};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Duration;

/// A process may still become another program while it is younger than this.
const YOUNG: Duration = Duration::from_secs(1);
/// More threads than these are not asked one by one.
const MOST_THREADS: usize = 64;

/// More ancestors than these are not asked for.
const MOST_ANCESTORS: usize = 64;

/// Processes that descend from others, as seen.
#[derive(Debug, Clone, Default)]
pub struct Family {
    /// Those that have become what they are: they work, or not.
    settled: BTreeMap<u32, bool>,
    /// Processes that we descend from. They start programs, us among them, so that nobody can tell which of their children work for
    /// them: one that runs its file may be anything, and each is a copy of its parent until it becomes what it shall be.
    ancestors: BTreeSet<u32>,
}

impl Family {
    /// Of processes that may be ours or anybody's.
    pub fn new() -> Family {
        let own = std::process::id();
        let ancestors = std::iter::successors(parent(own), |pid| parent(*pid)).take(MOST_ANCESTORS).collect();
        Family { settled: BTreeMap::new(), ancestors }
    }

    /// Returns the living processes that descend from `roots`, without ourselves, without those that `ended`, and without those of
    /// roots that we descend from ourselves. `listeners`: sockets of the target.
    pub fn look(&mut self, roots: &[u32], ended: &BTreeSet<u32>, listeners: &[Listeners]) -> Vec<Member> {
        let own = std::process::id();
        let mut found: Vec<Member> = Vec::new();
        for root in roots {
            if self.ancestors.contains(root) {
                continue;
            }
            let mut parents = vec![Parent { pid: *root, works: true }];
            while let Some(parent) = parents.pop() {
                for pid in children(parent.pid) {
                    let is_other = pid == own || roots.contains(&pid) || ended.contains(&pid);
                    if is_other || found.iter().any(|member| member.pid == pid) {
                        continue;
                    }
                    // Of those that have become what they are, no more need be known.
                    let age = if self.settled.contains_key(&pid) { YOUNG } else { age(pid) };
                    let works = self.works(pid, age, parent, listeners);
                    found.push(Member { pid, root: *root, works, age });
                    parents.push(Parent { pid, works });
                }
            }
        }
        self.settled.retain(|pid, _| found.iter().any(|member| member.pid == *pid));
        found
    }

    /// True if it runs the program of a parent that works itself, or listens. Two copies of a program that the target merely started
    /// are none of its workers.
    fn works(&mut self, pid: u32, age: Duration, parent: Parent, listeners: &[Listeners]) -> bool {
        if let Some(works) = self.settled.get(&pid) {
            return *works;
        }
        let works = parent.works && is_same_file(pid, parent.pid)
            || listeners.iter().any(|listeners| listeners.are_held_by(pid));
        if age >= YOUNG {
            self.settled.insert(pid, works);
        }
        works
    }
}

#[derive(Clone, Copy)]
struct Parent {
    pid: u32,
    works: bool,
}

/// Time since a process began; none where it is gone.
fn age(pid: u32) -> Duration {
    let Some(stat) = stat(pid) else { return Duration::ZERO };
    let began = Duration::from_secs_f64(stat.started as f64 / rustix::param::clock_ticks_per_second() as f64);
    Duration::try_from(clock_gettime(ClockId::Boottime))
        .expect("a machine has run for some time")
        .saturating_sub(began)
}

/// The children of a process, the dead that nobody waited for among them.
fn children(pid: u32) -> Vec<u32> {
    let of =
        |thread: &str| fs::read_to_string(format!("/proc/{pid}/task/{thread}/children")).unwrap_or_default();
    let numbers =
        |text: String| text.split_whitespace().filter_map(|number| number.parse().ok()).collect::<Vec<u32>>();
    let threads =
        fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten().take(MOST_THREADS);
    threads.flat_map(|thread| numbers(of(&thread.file_name().to_string_lossy()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    #[test]
    fn copies_of_another_program_that_the_target_started_are_none_of_its_workers() {
        // A Perl with a shell below it, and below that a part of the shell.
        let mut perl = Command::new("perl")
            .args(["-e", "system('bash', '-c', 'exec 3<&0; (read -r line <&3) & echo ready; wait')"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(perl.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let found = Family::default().look(&[perl.id()], &BTreeSet::new(), &[]);
        drop(perl.stdin.take());
        perl.wait().unwrap();
        assert_eq!(found.iter().map(|member| member.works).collect::<Vec<_>>(), [false, false], "{found:?}");
    }

    #[test]
    fn children_of_those_that_we_descend_from_are_nobody_s_workers() {
        let family = Family::new();
        let [own, parent] = [std::process::id(), std::os::unix::process::parent_id()];
        assert!(family.ancestors.contains(&parent) && !family.ancestors.contains(&own));
        // This process, which another one with it as its parent would look at so.
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let mut looked = Family { ancestors: [own].into(), ..Family::default() };
        let [with, without] = [
            Family::default().look(&[own], &BTreeSet::new(), &[]),
            looked.look(&[own], &BTreeSet::new(), &[]),
        ];
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(
            with.iter().any(|member| member.pid == child.id()) && without.is_empty(),
            "{with:?} {without:?}"
        );
    }

    #[test]
    fn children_of_the_same_program_work_and_others_do_not() {
        // A shell with a part of itself, and with another program.
        let mut shell = Command::new("bash")
            .args(["-c", "exec 3<&0; (read -r line <&3) & sleep 60 & other=$!; echo ready; read -r line; kill $other; wait"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(shell.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let mut family = Family::default();
        let mut found = Vec::new();
        // The second child may not be another program yet.
        for _ in 0..3 {
            std::thread::sleep(std::time::Duration::from_millis(100));
            found = family.look(&[shell.id()], &BTreeSet::new(), &[]);
        }
        let mut works: Vec<bool> = found.iter().map(|member| member.works).collect();
        works.sort_unstable();
        let without = family.look(&[shell.id()], &found.iter().map(|member| member.pid).collect(), &[]);
        drop(shell.stdin.take());
        shell.wait().unwrap();
        assert_eq!((works, without), (vec![false, true], vec![]), "{found:?}");
        assert!(found.iter().all(|member| member.root == shell.id()));
        let ages = found.iter().map(|member| member.age);
        assert!(
            ages.clone().min() > Some(Duration::from_millis(250))
                && ages.max() < Some(Duration::from_secs(600))
        );
    }
}
