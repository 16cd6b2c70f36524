//! The history that looks at the target's processes add up to: which end is a crash, which one belongs to a reload, and whether others
//! answer in their place. Pure: whoever looks says when.
//!
//! An end is not told at once where what comes next decides what it was: a crashed worker's heir is waited for a moment, and
//! whoever ends by itself may be followed by another process at the same address.

use super::{Change, Ending, Happened, Process};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How long the heir of a crashed worker is waited for.
const HEIR: Duration = Duration::from_millis(100);
/// How long it may take to see who listens after a process has ended.
const LOOKS: Duration = Duration::from_millis(200);
/// How long the parent of a worker that ended in an unknown way may take to begin another one.
const SLOW_HEIR: Duration = Duration::from_secs(1);
/// How long nobody may listen after a process has ended by itself before the target is gone.
const GONE: Duration = Duration::from_secs(3);
/// Old workers of a reload end within so long of each other, mostly.
const TOGETHER: Duration = Duration::from_millis(300);
/// A process is a worker once it was seen as one when it had lived for so long: before, it may be about to become another program, also
/// where the run began just then. How long it lives after it was last seen says nothing: it may have become that since.
const SETTLED: Duration = Duration::from_millis(300);

/// A worker that has lived for so long is what it will stay. A process that is to be another program becomes that soon after it began.
const ESTABLISHED: Duration = Duration::from_secs(1);

/// A living process that descends from the target's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    /// Its number.
    pub pid: u32,
    /// The process of the target that it descends from.
    pub root: u32,
    /// It does the target's work: it runs the same program as its parent, or listens at the target's address.
    pub works: bool,
    /// The least that it has lived, as far as that is known.
    pub age: Duration,
}

/// State of what was seen.
#[derive(Debug, Clone, Default)]
pub struct History {
    roots: BTreeMap<u32, Root>,
    members: BTreeMap<u32, HistoryKnown>,
    /// Who listens at each address, or did until nobody listened there.
    listening: BTreeMap<String, BTreeSet<u32>>,
    waiting: Vec<Waiting>,
    due: Vec<Happened>,
}

/// A process of the target that was not started by another one of it.
#[derive(Debug, Clone)]
struct Root {
    process: Process,
    ended: bool,
    /// Its workers at the beginning, or since the last reload.
    old: BTreeSet<u32>,
    /// Of those, the ones that have ended by themselves, and since when that has to be told.
    left: BTreeSet<u32>,
    reload_due: Option<Duration>,
}

#[derive(Debug, Clone, Copy)]
struct HistoryKnown {
    member: Member,
    since: Duration,
    /// Its age then.
    age: Duration,
    /// The least that it had lived when it was last seen.
    last_seen: Duration,
    was_there: bool,
}

/// An end that is not told yet.
#[derive(Debug, Clone)]
struct Waiting {
    at: Duration,
    until: Duration,
    process: Process,
    what: HistoryEnd,
}

#[derive(Debug, Clone, PartialEq)]
enum HistoryEnd {
    Worker { worker: u32, how: Ending },
    Root { how: Ending, address: Option<String> },
    Listener { address: String },
}

impl History {
    /// The target's processes before the run. `listening`: who of them listens where.
    pub fn new(roots: Vec<Process>, listening: BTreeMap<String, BTreeSet<u32>>) -> History {
        let mut history = History { listening, ..History::default() };
        roots.into_iter().for_each(|process| history.add_root(process));
        history
    }

    /// Processes whose end is of interest, as last seen.
    pub fn pids(&self) -> impl Iterator<Item = u32> {
        let roots = self.roots.iter().filter(|(_, root)| !root.ended).map(|(pid, _)| *pid);
        roots.chain(self.members.values().filter(|known| known.member.works).map(|known| known.member.pid))
    }

    /// The processes that were not started by others of the target, without those that have ended.
    pub fn roots(&self) -> impl Iterator<Item = &Process> {
        self.roots.values().filter(|root| !root.ended).map(|root| &root.process)
    }

    /// Workers that are there.
    pub fn workers(&self, root: u32) -> usize {
        self.members.values().filter(|known| known.member.works && known.member.root == root).count()
    }

    /// Workers that have lived for so long that none of them is still to become what it shall be.
    pub fn established(&self, at: Duration) -> impl Iterator<Item = u32> {
        let is_so = move |known: &&HistoryKnown| known.member.works && known.lived(at) >= ESTABLISHED;
        self.members.values().filter(is_so).map(|known| known.member.pid)
    }

    /// True if something waits for the next look, which should come soon.
    pub fn is_waiting(&self) -> bool {
        !self.waiting.is_empty() || self.roots.values().any(|root| root.reload_due.is_some())
    }

    /// The processes that descend from the target's and live, at the beginning.
    pub fn begin(&mut self, members: &[Member]) {
        self.look(Duration::ZERO, members);
        for known in self.members.values_mut() {
            known.was_there = true;
            if let Some(root) = self.roots.get_mut(&known.member.root).filter(|_| known.member.works) {
                root.old.insert(known.member.pid);
            }
        }
    }

    /// The processes that descend from the target's and live now. Workers that are missing have ended, which is told apart.
    pub fn look(&mut self, at: Duration, members: &[Member]) {
        self.members
            .retain(|pid, known| known.member.works || members.iter().any(|member| member.pid == *pid));
        for member in members {
            let known = self.members.entry(member.pid).or_insert(HistoryKnown {
                member: *member,
                since: at,
                age: member.age,
                last_seen: member.age,
                was_there: false,
            });
            known.member = *member;
            known.last_seen = known.lived(at);
        }
    }

    /// A process ended.
    pub fn ended(&mut self, at: Duration, pid: u32, how: Ending) {
        if let Some(root) = self.roots.get_mut(&pid).filter(|root| !root.ended) {
            root.ended = true;
            let process = root.process.clone();
            self.root_ended(at, process, how);
        } else if let Some(known) = self.members.remove(&pid) {
            self.member_ended(at, known, how);
        }
    }

    /// A process has become another program without another number (`exec`): its sockets are the same ones. Nothing is told where it is another
    /// start of the same program.
    pub fn became(&mut self, at: Duration, now: Process) {
        let Some(root) = self.roots.get_mut(&now.pid).filter(|root| !root.ended) else {
            return self.worker_became(at, now);
        };
        let before = std::mem::replace(&mut root.process, now.clone());
        let same_program = before.is_same_program(&now);
        let at_address = self.listening.iter().find(|(_, who)| who.contains(&now.pid));
        // Whoever is only watched is nobody's answer.
        let Some((address, _)) = at_address.filter(|_| !same_program) else { return };
        let change = Change::Replaced { address: address.clone(), by: Box::new(now), same_program };
        self.due.push(happened(at, before, change, false));
    }

    fn worker_became(&mut self, at: Duration, now: Process) {
        let Some(known) = self.members.get(&now.pid).filter(|known| known.member.works) else { return };
        let Some(root) = self.roots.get(&known.member.root).filter(|root| !root.ended) else { return };
        if !root.process.is_same_program(&now) {
            let change = Change::WorkerBecame { by: Box::new(now) };
            self.due.push(happened(at, root.process.clone(), change, false));
        }
    }

    /// Other processes than before listen at an address; none: nobody does. Those that listen because they descend from one
    /// that does are left out.
    pub fn listen(&mut self, at: Duration, address: &str, now: &[Process]) {
        let before = self.listening.get(address).cloned().unwrap_or_default();
        if now.is_empty() {
            return self.nobody_listens(at, address, &before);
        }
        self.listening.insert(address.to_owned(), now.iter().map(|process| process.pid).collect());
        self.waiting.retain(|waiting| waiting.what != HistoryEnd::Listener { address: address.to_owned() });
        for by in now {
            if self.roots.get(&by.pid).is_some_and(|root| !root.ended) {
                continue;
            }
            let change = match self.members.get(&by.pid) {
                // A worker that outlives who started it, as behind those that go into the background.
                Some(_) => None,
                None => self.another(address, &before, by.clone()),
            };
            self.add_root(by.clone());
            self.due.extend(change.map(|(process, change)| happened(at, process, change, false)));
        }
        for waiting in &mut self.waiting {
            match &mut waiting.what {
                HistoryEnd::Root { address: gone, .. } if gone.as_deref() == Some(address) => {
                    *gone = None;
                    waiting.until = at;
                }
                HistoryEnd::Root { .. } | HistoryEnd::Worker { .. } | HistoryEnd::Listener { .. } => {}
            }
        }
    }

    /// Changes that are to be told by now.
    pub fn due(&mut self, now: Duration) -> Vec<Happened> {
        let (over, waiting) =
            std::mem::take(&mut self.waiting).into_iter().partition(|waiting| self.is_over(waiting, now));
        self.waiting = waiting;
        over.into_iter().for_each(|waiting| self.tell(waiting));
        self.tell_reloads(now);
        std::mem::take(&mut self.due)
    }

    /// Changes that are to be told because the run is over. Whoever has ended by itself by then had done its work.
    pub fn close(&mut self, now: Duration) -> Vec<Happened> {
        let mut told = self.due(now);
        // Nobody may have listened for a moment only.
        let listener = |waiting: &Waiting| matches!(waiting.what, HistoryEnd::Listener { .. });
        let waiting = std::mem::take(&mut self.waiting);
        waiting.into_iter().filter(|waiting| !listener(waiting)).for_each(|waiting| self.tell(waiting));
        self.tell_reloads(now + TOGETHER);
        let late = std::mem::take(&mut self.due);
        told.extend(late.into_iter().map(|happened| {
            let fatal = happened.fatal && !matches!(happened.change, Change::Ended { .. });
            Happened { fatal, ..happened }
        }));
        told
    }

    fn add_root(&mut self, process: Process) {
        let root =
            Root { process, ended: false, old: BTreeSet::new(), left: BTreeSet::new(), reload_due: None };
        self.roots.insert(root.process.pid, root);
    }

    fn root_ended(&mut self, at: Duration, process: Process, how: Ending) {
        // Who ends takes its workers along.
        let pid = process.pid;
        self.waiting.retain(|waiting| waiting.process.pid != pid);
        let address =
            self.listening.iter().find(|(_, who)| who.contains(&pid)).map(|(address, _)| address.clone());
        if how.is_crash() {
            let change = Change::Ended { how, address: None };
            return self.due.push(happened(at, process, change, true));
        }
        let until = at + if address.is_some() && how != Ending::Unknown { GONE } else { LOOKS };
        self.waiting.push(Waiting { at, until, process, what: HistoryEnd::Root { how, address } });
    }

    fn member_ended(&mut self, at: Duration, known: HistoryKnown, how: Ending) {
        let Member { pid, root, works, .. } = known.member;
        let settled = known.last_seen >= SETTLED;
        let Some(root) = self.roots.get_mut(&root).filter(|root| works && settled && !root.ended) else {
            return;
        };
        let process = root.process.clone();
        let fresh = self.members.values().any(|other| is_fresh(other, process.pid, &root.old));
        let by_itself = !how.is_crash() && (how != Ending::Unknown || fresh);
        if !by_itself {
            let until = at + if how.is_crash() { HEIR } else { SLOW_HEIR };
            self.waiting.push(Waiting { at, until, process, what: HistoryEnd::Worker { worker: pid, how } });
        } else if root.old.contains(&pid) {
            root.left.insert(pid);
            root.reload_due = Some(at + TOGETHER);
        }
    }

    fn nobody_listens(&mut self, at: Duration, address: &str, before: &BTreeSet<u32>) {
        let alive = before.iter().find_map(|pid| self.roots.get(pid).filter(|root| !root.ended));
        // Where nobody who listened is left, their ends are told.
        if let Some(root) = alive {
            let process = root.process.clone();
            let what = HistoryEnd::Listener { address: address.to_owned() };
            self.waiting.push(Waiting { at, until: at + GONE, process, what });
        }
    }

    /// How a process that was not known comes to an address.
    fn another(&mut self, address: &str, before: &BTreeSet<u32>, by: Process) -> Option<(Process, Change)> {
        let gone =
            |what: &HistoryEnd| matches!(what, HistoryEnd::Root { address: Some(at), .. } if at == address);
        let place = self.waiting.iter().position(|waiting| gone(&waiting.what));
        let left = place.map(|place| {
            let Waiting { at, process, what, .. } = self.waiting.remove(place);
            if let HistoryEnd::Root { how, .. } = what {
                let change = Change::Ended { how, address: None };
                self.due.push(happened(at, process.clone(), change, false));
            }
            process
        });
        let of_address = || before.iter().filter_map(|pid| self.roots.get(pid));
        let left = left.or_else(|| of_address().find(|root| root.ended).map(|root| root.process.clone()));
        let address = address.to_owned();
        if let Some(left) = left {
            let same_program = left.is_same_program(&by);
            return Some((left, Change::Replaced { address, by: Box::new(by), same_program }));
        }
        let stays = of_address().next()?.process.clone();
        let same_program = stays.is_same_program(&by);
        Some((stays, Change::Joined { address, by: Box::new(by), same_program }))
    }

    fn is_over(&self, waiting: &Waiting, now: Duration) -> bool {
        let has_heir = matches!(waiting.what, HistoryEnd::Worker { .. }) && self.heir(waiting).is_some();
        now >= waiting.until || has_heir
    }

    /// The worker that began after one had ended.
    fn heir(&self, waiting: &Waiting) -> Option<u32> {
        let after =
            |known: &&HistoryKnown| known.member.root == waiting.process.pid && known.since >= waiting.at;
        self.members.values().find(after).map(|known| known.member.pid)
    }

    fn tell(&mut self, waiting: Waiting) {
        let heir = self.heir(&waiting);
        let Waiting { at, process, what, .. } = waiting;
        let (change, fatal) = match what {
            HistoryEnd::Worker { how: Ending::Unknown, .. } if heir.is_none() => return,
            HistoryEnd::Worker { worker, how } => (Change::WorkerEnded { worker, how, heir }, how.is_crash()),
            HistoryEnd::Root { how, address } => {
                let fatal = address.is_some();
                (Change::Ended { how, address }, fatal)
            }
            HistoryEnd::Listener { address } => (Change::Closed { address }, false),
        };
        self.due.push(happened(at, process, change, fatal));
    }

    fn tell_reloads(&mut self, now: Duration) {
        for (pid, root) in &mut self.roots {
            if root.reload_due.is_none_or(|due| now < due) {
                continue;
            }
            root.reload_due = None;
            let fresh: BTreeMap<u32, Duration> = self
                .members
                .values()
                .filter(|known| is_fresh(known, *pid, &root.old))
                .map(|known| (known.member.pid, known.since))
                .collect();
            // Fewer are servers that keep no more than they need.
            if fresh.is_empty() || 2 * root.left.len() < root.old.len() {
                continue;
            }
            let at = fresh.values().min().copied().unwrap_or(now);
            let change = Change::Reloaded { began: fresh.len() as u32, ended: root.left.len() as u32 };
            self.due.push(happened(at, root.process.clone(), change, false));
            root.old = fresh.into_keys().collect();
            root.left.clear();
        }
    }
}

/// True if a process came during the run, or since the last reload, to work for a root.
fn is_fresh(known: &HistoryKnown, root: u32, old: &BTreeSet<u32>) -> bool {
    let Member { pid, root: of, works, .. } = known.member;
    of == root && works && !known.was_there && !old.contains(&pid)
}

impl HistoryKnown {
    /// The least that it has lived.
    fn lived(&self, at: Duration) -> Duration {
        self.age + at.saturating_sub(self.since)
    }
}

fn happened(at: Duration, process: Process, change: Change, fatal: bool) -> Happened {
    Happened { at, process, change, fatal, ended_run: false, log: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: &str = "127.0.0.1:80";

    fn process(pid: u32, name: &str) -> Process {
        Process { pid, name: name.to_owned(), executable: Some(format!("/bin/{name}")), ..Process::default() }
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn worker(pid: u32) -> Member {
        Member { pid, root: 10, works: true, age: Duration::ZERO }
    }

    /// One that has long been there.
    fn old_worker(pid: u32) -> Member {
        Member { age: ms(60_000), ..worker(pid) }
    }

    /// A server with two workers that listens at [`AT`].
    fn server() -> History {
        let mut history = History::new(vec![process(10, "nginx")], [(AT.to_owned(), [10].into())].into());
        history.begin(&[old_worker(11), old_worker(12), Member { works: false, ..old_worker(13) }]);
        history
    }

    /// Changes told at a moment: the sentence of each, and whether the target died by it.
    fn told(history: &mut History, at_ms: u64) -> Vec<(String, bool)> {
        history.due(ms(at_ms)).iter().map(|happened| (happened.sentence(), happened.fatal)).collect()
    }

    fn one(history: &mut History, at_ms: u64) -> (String, bool) {
        let mut all = told(history, at_ms);
        assert_eq!(all.len(), 1, "{all:?}");
        all.remove(0)
    }

    #[test]
    fn a_crash_is_told_at_once_and_its_workers_ends_are_not() {
        let mut history = server();
        history.ended(ms(200), 11, Ending::Signal(9));
        history.ended(ms(201), 10, Ending::Signal(11));
        history.ended(ms(202), 12, Ending::Signal(9));
        let died = "process nginx (pid 10) was ended by SIGSEGV 0.2 s into the run";
        assert_eq!(told(&mut history, 202), [(died.to_owned(), true)]);
        assert_eq!(told(&mut history, 60_000), []);
    }

    #[test]
    fn exit_codes_are_crashes_but_for_those_that_say_that_somebody_asked() {
        for (how, crash) in [
            (Ending::Code(0), false),
            (Ending::Code(2), true),
            (Ending::Code(143), false),
            (Ending::Code(139), true),
            (Ending::Signal(15), false),
            (Ending::Signal(9), true),
            (Ending::Signal(6), true),
            (Ending::Unknown, false),
        ] {
            assert_eq!(how.is_crash(), crash, "{how:?}");
        }
    }

    #[test]
    fn a_crashed_worker_is_told_with_its_heir() {
        let mut history = server();
        history.ended(ms(300), 11, Ending::Signal(11));
        assert!(history.is_waiting() && told(&mut history, 320).is_empty());
        history.look(ms(330), &[worker(12), worker(14)]);
        let said = "worker 11 of nginx (pid 10) was ended by SIGSEGV 0.3 s into the run, and process 14 took its place";
        assert_eq!(told(&mut history, 330), [(said.to_owned(), true)]);
        // Without an heir it is not waited for.
        history.ended(ms(900), 12, Ending::Code(2));
        let said = "worker 12 of nginx (pid 10) ended with exit code 2 0.9 s into the run";
        assert_eq!(
            (told(&mut history, 990), told(&mut history, 1_000)),
            (vec![], vec![(said.to_owned(), true)])
        );
    }

    #[test]
    fn children_that_do_not_work_and_those_about_to_become_others_are_no_workers() {
        let mut history = server();
        history.look(ms(1_000), &[worker(11), worker(12), worker(20)]);
        history.ended(ms(1_200), 20, Ending::Signal(9));
        history.ended(ms(1_300), 13, Ending::Signal(9));
        // One that was last seen too young may have become anything.
        history.look(ms(1_400), &[worker(22)]);
        history.ended(ms(1_900), 22, Ending::Signal(9));
        history.look(ms(2_000), &[worker(21)]);
        history.look(ms(2_300), &[worker(21)]);
        history.ended(ms(2_400), 21, Ending::Signal(9));
        assert_eq!(
            one(&mut history, 9_000).0,
            "worker 21 of nginx (pid 10) was ended by SIGKILL 2.4 s into the run"
        );
    }

    #[test]
    fn a_child_that_was_just_being_started_when_the_run_began_is_no_worker() {
        let mut history = server();
        history.begin(&[Member { age: ms(50), ..worker(14) }, Member { age: ms(50), ..worker(15) }]);
        history.ended(ms(100), 14, Ending::Code(22));
        history.ended(ms(249), 15, Ending::Signal(9));
        assert_eq!(told(&mut history, 9_000), []);
        let mut history = server();
        history.ended(ms(0), 11, Ending::Signal(11));
        history.ended(ms(1), 12, Ending::Code(22));
        assert_eq!(told(&mut history, 9_000).len(), 2);
    }

    #[test]
    fn a_reload_is_no_crash() {
        let mut history = server();
        history.look(ms(1_000), &[worker(11), worker(12), worker(14), worker(15)]);
        history.ended(ms(1_100), 11, Ending::Code(0));
        assert_eq!(told(&mut history, 1_200), []);
        history.ended(ms(1_250), 12, Ending::Code(0));
        let said = "nginx (pid 10) began 2 new workers 1.0 s into the run and 2 old ones ended by themselves: a reload, or workers that are replaced in turn";
        assert_eq!(told(&mut history, 1_600), [(said.to_owned(), false)]);
        // The next one, where nobody is told how they end.
        history.look(ms(2_000), &[worker(14), worker(15), worker(16), worker(17)]);
        history.ended(ms(2_100), 14, Ending::Unknown);
        history.ended(ms(2_100), 15, Ending::Unknown);
        assert!(one(&mut history, 3_000).0.contains("began 2 new workers 2.0 s"));
    }

    #[test]
    fn a_worker_that_becomes_another_program_is_told() {
        let mut history = server();
        history.look(ms(500), &[old_worker(11), old_worker(12), worker(14)]);
        let established = |history: &History, at_ms| history.established(ms(at_ms)).collect::<Vec<u32>>();
        assert_eq!(established(&history, 1_000), [11, 12]);
        assert_eq!(established(&history, 1_500), [11, 12, 14]);
        history.became(ms(2_100), process(12, "perl"));
        let (said, fatal) = one(&mut history, 2_100);
        let words = "from 2.1 s on a worker of nginx (pid 10) is another program, perl (pid 12, /bin/perl): the figures are of two programs";
        assert_eq!((said.as_str(), fatal), (words, false));
        // Another start of the same program, a helper, and somebody who is not known.
        for now in [process(11, "nginx"), process(13, "sh"), process(99, "sh")] {
            history.became(ms(2_200), now);
        }
        assert_eq!(told(&mut history, 9_000), []);
    }

    #[test]
    fn workers_that_come_and_go_with_the_load_are_nothing() {
        let mut history = server();
        history.look(ms(1_000), &[worker(14)]);
        history.ended(ms(2_000), 14, Ending::Code(0));
        history.ended(ms(3_000), 11, Ending::Code(0));
        assert_eq!((told(&mut history, 9_000), history.close(ms(9_000)).len()), (vec![], 0));
    }

    #[test]
    fn a_worker_that_is_replaced_after_an_unknown_end_is_told_but_no_crash() {
        let mut history = server();
        history.ended(ms(500), 11, Ending::Unknown);
        history.look(ms(700), &[worker(12), worker(14)]);
        let (said, fatal) = one(&mut history, 700);
        assert!(said.ends_with("only its parent was told how, and process 14 took its place"), "{said}");
        assert!(!fatal);
    }

    #[test]
    fn who_ends_by_itself_and_is_followed_by_another_is_replaced() {
        let mut history = server();
        history.ended(ms(1_000), 10, Ending::Signal(15));
        history.listen(ms(1_020), AT, &[]);
        history.listen(ms(1_500), AT, &[process(30, "python3")]);
        let both = told(&mut history, 1_500);
        let (said, _) = &both[1];
        assert_eq!(both[0].0, "process nginx (pid 10) was ended by SIGTERM 1.0 s into the run");
        assert_eq!(
            said,
            "from 1.5 s on another program answers, python3 (pid 30, /bin/python3) at 127.0.0.1:80, in place of nginx (pid 10, /bin/nginx): the figures are of two programs"
        );
        assert!(both.iter().all(|(_, fatal)| !fatal));
        // The same program once more.
        history.ended(ms(2_000), 30, Ending::Code(0));
        history.listen(ms(2_100), AT, &[process(31, "python3")]);
        let said = "from 2.1 s on process 31 answers at 127.0.0.1:80, a new start of python3 (pid 30): the figures are of both";
        assert_eq!(told(&mut history, 2_100)[1].0, said);
        // After a crash that did not end the run.
        history.ended(ms(3_000), 31, Ending::Signal(9));
        history.listen(ms(3_050), AT, &[]);
        history.listen(ms(9_000), AT, &[process(32, "python3")]);
        assert!(told(&mut history, 9_000)[1].0.starts_with("from 9.0 s on process 32 answers"));
        assert_eq!(told(&mut history, 60_000), []);
    }

    #[test]
    fn a_target_that_ends_by_itself_and_leaves_nobody_is_gone() {
        for (how, until_ms) in [(Ending::Code(0), 4_000), (Ending::Unknown, 1_200)] {
            let mut history = server();
            history.ended(ms(1_000), 10, how);
            history.listen(ms(1_020), AT, &[]);
            assert_eq!(told(&mut history, until_ms - 1), []);
            let (said, fatal) = one(&mut history, until_ms);
            assert!(said.ends_with(", and nobody listens at 127.0.0.1:80 since") && fatal, "{said}");
        }
        // Where the run is over before, it was not missed.
        let mut history = server();
        history.ended(ms(1_000), 10, Ending::Code(0));
        let told = history.close(ms(1_100));
        assert!(told.len() == 1 && !told[0].fatal, "{told:?}");
    }

    #[test]
    fn who_becomes_another_program_or_build_in_its_place_is_replaced() {
        let mut history = server();
        history.became(ms(100), process(10, "nginx"));
        assert_eq!(told(&mut history, 100), [], "the same program began anew");
        let build = |build: &str| Process { build_id: Some(build.to_owned()), ..process(10, "nginx") };
        let mut upgraded = History::new(vec![build("aa")], [(AT.to_owned(), [10].into())].into());
        upgraded.became(ms(1_500), build("bb"));
        let (said, fatal) = one(&mut upgraded, 1_500);
        let words = "from 1.5 s on another program answers, nginx (pid 10, /bin/nginx, build bb) at 127.0.0.1:80, in place of nginx (pid 10";
        assert!(said.starts_with(words) && !fatal, "{said}");
        history.became(ms(900), process(10, "other"));
        assert!(one(&mut history, 900).0.contains("of two programs"));
        assert_eq!(history.roots().map(|root| root.name.clone()).collect::<Vec<_>>(), ["other"]);
        history.became(ms(950), process(77, "other"));
        assert_eq!(told(&mut history, 950), []);
    }

    #[test]
    fn who_outlives_its_parent_serves_on() {
        let mut history = server();
        history.ended(ms(1_000), 10, Ending::Code(0));
        history.listen(ms(1_020), AT, &[process(11, "nginx")]);
        let (said, fatal) = one(&mut history, 1_200);
        assert!(said.ends_with("ended with exit code 0 1.0 s into the run") && !fatal, "{said}");
        history.ended(ms(2_000), 11, Ending::Signal(11));
        assert!(one(&mut history, 2_000).1);
    }

    #[test]
    fn a_watched_process_that_does_not_listen_may_end() {
        let mut history = History::new(
            vec![process(10, "nginx"), process(50, "job")],
            [(AT.to_owned(), [10].into())].into(),
        );
        history.ended(ms(1_000), 50, Ending::Code(0));
        assert_eq!(
            one(&mut history, 1_300),
            ("process job (pid 50) ended with exit code 0 1.0 s into the run".to_owned(), false)
        );
    }

    #[test]
    fn who_listens_beside_the_target_or_no_more_is_told() {
        let mut history = server();
        history.listen(ms(1_000), AT, &[process(10, "nginx"), process(40, "python3")]);
        let (said, _) = one(&mut history, 1_000);
        assert!(said.starts_with("from 1.0 s on another process listens, python3"), "{said}");
        history.ended(ms(2_000), 40, Ending::Code(0));
        history.listen(ms(2_000), AT, &[process(10, "nginx")]);
        assert!(!one(&mut history, 2_300).1);
        history.listen(ms(5_000), AT, &[]);
        assert_eq!(told(&mut history, 7_900), []);
        let closed = "from 5.0 s on nobody listens at 127.0.0.1:80 any more, though nginx (pid 10) goes on";
        assert_eq!(told(&mut history, 8_000), [(closed.to_owned(), false)]);
    }

    #[test]
    fn scripts_of_one_interpreter_are_two_programs_and_builds_of_one_file_too() {
        let with = |name: &str, build: &str| Process { build_id: Some(build.to_owned()), ..process(1, name) };
        assert!(with("nginx", "ab").is_same_program(&with("nginx", "ab")));
        assert!(!with("nginx", "ab").is_same_program(&with("nginx", "cd")));
        assert!(!with("python3 a.py", "ab").is_same_program(&with("python3 b.py", "ab")));
        assert!(process(1, "nginx").is_same_program(&process(2, "nginx")));
    }
}
