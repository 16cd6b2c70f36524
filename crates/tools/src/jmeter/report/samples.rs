//! Records of requests and marks of transactions → samples, as JMeter tells them: redirections are parts of the sample that
//! they began with, what a page needs is a part of the page's, and a transaction is a sample over those of its requests.

use super::JmeterKind;
use super::Sample;
use super::words::{code_of, has_status, message_of};
use foldhash::fast::FixedState;
use measure::{Contents, Fetch, Outcome, PageMark, Record, TransactionMark, UsersPresent};
use report::show::reason_phrase as reason;
use std::borrow::Cow;
use std::collections::HashMap;
use std::iter;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Labels and groups of a phase, known beforehand.
#[derive(Debug, Clone, Default)]
pub struct PhaseNames {
    /// Labels by their numbers.
    pub labels: Vec<String>,
    /// Of each group: what its users are called, before their numbers, and how many there are.
    pub groups: Vec<(String, u32)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct User {
    phase: usize,
    group: usize,
    number: u64,
    /// The branch that it is in; 0: none.
    branch: u32,
}

impl User {
    /// Itself and, of a branch, the user around it, whose transactions hold those of the branch.
    fn and_around(self) -> impl Iterator<Item = User> {
        let around = (self.branch > 0).then_some(User { branch: 0, ..self });
        iter::once(self).chain(around)
    }
}

/// Samples that are not whole yet, by user.
#[derive(Debug, Default)]
pub struct Samples {
    phases: Vec<KnownPhase>,
    /// When the run began: milliseconds since 1970.
    began_ms: u64,
    users: HashMap<User, Pending, FixedState>,
}

/// Labels and groups of a phase, as samples share them.
#[derive(Debug)]
struct KnownPhase {
    labels: Vec<Arc<str>>,
    groups: Vec<KnownGroup>,
    /// Users of all groups.
    users: u32,
}

#[derive(Debug)]
struct KnownGroup {
    /// Stands before the numbers of its users.
    name: String,
    users: u32,
    /// Names of its users so far, by their numbers.
    threads: Vec<Option<Arc<str>>>,
}

impl KnownGroup {
    /// Users whose names are remembered, at most.
    const MOST: usize = 1 << 16;

    /// The name of a user.
    fn thread(&mut self, number: u64) -> Arc<str> {
        let name = || format!("{}{}", self.name, number + 1).into();
        let Some(nth) = usize::try_from(number).ok().filter(|nth| *nth < KnownGroup::MOST) else {
            return name();
        };
        if self.threads.len() <= nth {
            self.threads.resize(nth + 1, None);
        }
        self.threads[nth].get_or_insert_with(name).clone()
    }
}

impl KnownPhase {
    fn of(names: PhaseNames) -> KnownPhase {
        let group = |(name, users)| KnownGroup { name, users, threads: Vec::new() };
        KnownPhase {
            users: names.groups.iter().map(|(_, users)| users).sum(),
            labels: names.labels.into_iter().map(Arc::from).collect(),
            groups: names.groups.into_iter().map(group).collect(),
        }
    }
}

#[derive(Debug, Default)]
struct Pending {
    /// Samples of chains of redirections, by the place of the chain in its page.
    redirected: Vec<(u32, Sample)>,
    /// A page and what it needs, as far as that has come.
    page: Vec<PageSample>,
    /// Transactions under way, the innermost last.
    open: Vec<Sample>,
}

/// A sample of a page, or of what it needs.
#[derive(Debug)]
struct PageSample {
    fetch: Fetch,
    sample: Sample,
    ignored: bool,
}

impl Samples {
    /// Of a run that began then.
    pub fn new(phases: Vec<PhaseNames>, began_ms: u64) -> Samples {
        Samples {
            phases: phases.into_iter().map(KnownPhase::of).collect(),
            began_ms,
            users: HashMap::default(),
        }
    }

    /// A request has ended: the samples that are whole now.
    pub fn record(&mut self, record: &Record) -> Option<Sample> {
        let sample = self.sample(record);
        let user = user_of(record);
        let ignored = record.remark.as_ref().is_some_and(|remark| remark.ignored);
        let is_whole = !(ignored || record.leads_on || record.fetch.has_needs);
        if is_whole && !user.and_around().any(|user| self.users.contains_key(&user)) {
            return Some(sample);
        }
        let pending = self.users.entry(user).or_default();
        if record.leads_on {
            pending.redirected.push((record.fetch.number, sample));
            return None;
        }
        let sample = pending.chained(record.fetch, sample, record.outcome);
        let whole = if record.fetch.has_needs || !pending.page.is_empty() {
            pending.page.push(PageSample { fetch: record.fetch, sample, ignored });
            None
        } else {
            Some(sample).filter(|_| !ignored).and_then(|sample| self.take(user, sample))
        };
        self.forget(user);
        whole
    }

    /// All that the page of a user needs has come: the samples that are whole now.
    pub fn end_page(&mut self, mark: PageMark) -> Option<Sample> {
        let PageMark { user: number, branch, group, phase } = mark;
        let user = User { phase, group, number, branch };
        let pending = self.users.get_mut(&user)?;
        let mut fetched = std::mem::take(&mut pending.page);
        fetched.sort_by_key(|fetched| fetched.fetch.number);
        let page = fetched.iter().find(|fetched| fetched.fetch.number == 0)?;
        let whole = match page.ignored {
            true => None,
            false => self.take(user, with_needs(page, &fetched)),
        };
        self.forget(user);
        whole
    }

    /// A transaction begins or has ended: the samples that are whole now.
    pub fn mark(&mut self, mark: &TransactionMark) -> Option<Sample> {
        let user = User { phase: mark.phase, group: mark.group, number: mark.user, branch: mark.branch };
        let Some(took) = mark.took else {
            let (thread, group_threads, all_threads) = self.thread(user, mark.present);
            let sample = Sample {
                began_ms: self.began_ms + mark.at.as_millis() as u64,
                label: mark.label.as_str().into(),
                success: true,
                code: "200".into(),
                kind: JmeterKind::Transaction { parent: mark.parent },
                thread,
                group_threads,
                all_threads,
                ..Sample::default()
            };
            self.users.entry(user).or_default().open.push(sample);
            return None;
        };
        let pending = self.users.get_mut(&user)?;
        let mut ended = pending.open.pop()?;
        if mark.present.of_all > 0 {
            (ended.group_threads, ended.all_threads) = (mark.present.of_group, mark.present.of_all);
        }
        ended.elapsed_ms = took.as_millis() as u64;
        let lasted = (self.began_ms + mark.at.as_millis() as u64).saturating_sub(ended.began_ms);
        ended.idle_ms = lasted.saturating_sub(ended.elapsed_ms);
        let (samples, failing) = ended.within;
        ended.message =
            format!("Number of samples in transaction : {samples}, number of failing samples : {failing}")
                .into();
        if failing > 0 && ended.kind == (JmeterKind::Transaction { parent: false }) {
            ended.code = Cow::Borrowed("");
        }
        if !mark.values.is_empty() {
            let values = mark.values.clone();
            ended.contents = Some(Box::new(Contents { values, ..Contents::default() }));
        }
        let whole = self.take(user, ended);
        self.forget(user);
        whole
    }

    /// A sample is whole: transactions around it count it, first those of its branch.
    fn take(&mut self, user: User, mut sample: Sample) -> Option<Sample> {
        for user in user.and_around() {
            let Some(pending) = self.users.get_mut(&user) else { continue };
            match pending.take(sample) {
                ControlFlow::Continue(left) => sample = left,
                ControlFlow::Break(whole) => return whole,
            }
        }
        Some(sample)
    }

    fn forget(&mut self, user: User) {
        let is_done = |pending: &Pending| {
            pending.redirected.is_empty() && pending.page.is_empty() && pending.open.is_empty()
        };
        if self.users.get(&user).is_some_and(is_done) {
            self.users.remove(&user);
        }
    }

    /// The name of a user, and how many there are of its group and of all: those that the plan says where nobody has counted them.
    fn thread(&mut self, user: User, present: UsersPresent) -> (Arc<str>, u32, u32) {
        let Some(phase) = self.phases.get_mut(user.phase) else {
            return (format!("{}", user.number + 1).into(), present.of_group, present.of_all);
        };
        let group = phase.groups.get_mut(user.group);
        let users = group.as_ref().map_or(0, |group| group.users);
        let number = user.number;
        let name = group.map_or_else(|| format!("{}", number + 1).into(), |group| group.thread(number));
        match present.of_all {
            0 => (name, users, phase.users),
            all => (name, present.of_group, all),
        }
    }

    fn sample(&mut self, record: &Record) -> Sample {
        let labels = self.phases.get(record.phase).map_or(&[][..], |phase| &phase.labels);
        let label = record.label.and_then(|label| labels.get(usize::from(label.0))).cloned();
        let remark = record.remark.as_deref();
        let of_remark = remark.and_then(|remark| remark.label.as_deref()).map(Arc::from);
        let (thread, group_threads, all_threads) = self.thread(user_of(record), record.present);
        let connect = record.connect.unwrap_or_default();
        let is_request = !record.method.is_empty();
        let code = remark.and_then(|remark| remark.code.clone());
        let message = remark.and_then(|remark| remark.message.clone());
        let failed = remark.map_or(Vec::new(), |remark| first_of_each(&remark.failed));
        Sample {
            began_ms: self.began_ms + record.began.as_millis() as u64,
            elapsed_ms: (connect + record.service).as_millis() as u64,
            label: of_remark.or(label).unwrap_or_else(|| record.url.clone()),
            // What a script has set is said; the words of a status are not those of a request that has failed.
            message: match (message, has_status(record) || code.is_some()) {
                (Some(message), true) => message.into(),
                (None, true) => reason(record.status).into(),
                (_, false) => message_of(record).into(),
            },
            code: code.map_or_else(|| code_of(record), Cow::Owned),
            thread,
            success: record.outcome == Outcome::Ok,
            failed,
            bytes: record.head_bytes + record.body_bytes,
            sent_bytes: record.sent_bytes,
            group_threads,
            all_threads,
            url: is_request.then(|| record.url.clone()),
            latency_ms: (connect + record.first_byte.unwrap_or_default()).as_millis() as u64,
            connect_ms: connect.as_millis() as u64,
            kind: if is_request { JmeterKind::Http } else { JmeterKind::Script },
            contents: record.contents.clone(),
            ..Sample::default()
        }
    }
}

fn user_of(record: &Record) -> User {
    User { phase: record.phase, group: record.group, number: record.user, branch: record.branch }
}

/// Of checks with one name the first that did not hold, as JMeter looks no further.
fn first_of_each(failed: &[(String, String)]) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for (name, says) in failed {
        if !found.iter().any(|(known, _)| known == name) {
            found.push((name.clone(), says.clone()));
        }
    }
    found
}

/// A chain of redirections as one sample, whose parts its requests are.
fn chain(mut samples: Vec<Sample>, outcome: Outcome) -> Sample {
    let last = samples.last().cloned().unwrap_or_default();
    let first = samples.first().cloned().unwrap_or_default();
    let is_endless = code_of_outcome(outcome).is_some();
    if let (true, Some(end)) = (is_endless, samples.last_mut()) {
        // The request itself was answered; that there are too many is said by one more.
        let failed = end.clone();
        (end.code, end.message, end.success) = (first.code.clone(), first.message.clone(), true);
        samples.push(Sample { bytes: 0, ..failed });
    }
    samples.iter_mut().enumerate().for_each(|(nth, sample)| sample.become_part(nth, &first.label));
    Sample {
        began_ms: first.began_ms,
        elapsed_ms: (last.began_ms + last.elapsed_ms).saturating_sub(first.began_ms),
        label: first.label,
        bytes: samples.iter().map(|sample| sample.bytes).sum(),
        sent_bytes: samples.iter().map(|sample| sample.sent_bytes).sum(),
        latency_ms: first.latency_ms,
        connect_ms: samples.iter().map(|sample| sample.connect_ms).sum(),
        parts: samples,
        ..last
    }
}

fn code_of_outcome(outcome: Outcome) -> Option<()> {
    match outcome {
        Outcome::Failed(failure) if failure.kind == measure::FailureKind::TooManyRedirects => Some(()),
        _ => None,
    }
}

/// A page, or a frame in one, as the sample that it and all that it needs are parts of.
fn with_needs(page: &PageSample, all: &[PageSample]) -> Sample {
    let mut whole = page.sample.clone();
    let needs = all.iter().filter(|need| need.fetch.number > 0 && need.fetch.page == page.fetch.number);
    let needs: Vec<Sample> = needs.map(|need| with_needs(need, all)).collect();
    if needs.is_empty() {
        return whole;
    }
    if whole.parts.is_empty() {
        let mut first = whole.clone();
        first.become_part(0, &whole.label);
        whole.parts.push(first);
    }
    for mut need in needs {
        let end = (need.began_ms + need.elapsed_ms).max(whole.began_ms + whole.elapsed_ms);
        whole.elapsed_ms = end - whole.began_ms;
        whole.bytes += need.bytes;
        whole.sent_bytes += need.sent_bytes;
        need.label = format!("{}-{}", whole.label, whole.parts.len()).into();
        whole.parts.push(need);
    }
    let bad: Vec<&Sample> = whole.parts.iter().skip(1).filter(|part| !part.success).collect();
    if !bad.is_empty() {
        let says = |part: &&Sample| {
            let url = part.url.as_deref().unwrap_or("null");
            format!("{url} code:{} message:{}, ", part.code, part.message)
        };
        let said: String = bad.iter().map(says).collect();
        whole.success = false;
        whole.message = format!("Embedded resource download error:{said}").into();
    }
    whole
}

impl Pending {
    /// The sample of a chain of redirections that this one ends; by itself, where nothing led on to it.
    fn chained(&mut self, fetch: Fetch, sample: Sample, outcome: Outcome) -> Sample {
        let all = std::mem::take(&mut self.redirected);
        let (own, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|(of, _)| *of == fetch.number);
        self.redirected = others;
        let Some((_, first)) = own.first() else { return sample };
        if fetch.joins {
            let ended_ms = sample.began_ms + sample.elapsed_ms;
            let elapsed_ms = ended_ms.saturating_sub(first.began_ms);
            return Sample { began_ms: first.began_ms, elapsed_ms, label: first.label.clone(), ..sample };
        }
        let samples = own.into_iter().map(|(_, sample)| sample).chain([sample]).collect();
        chain(samples, outcome)
    }

    /// A sample is whole: the transactions here count it, and the innermost that has its requests as parts takes it. One of
    /// several requests is itself a sample of those around, unless its requests are theirs as well. `Break`: those further out
    /// do not count it; `None`: it is a part of another.
    fn take(&mut self, sample: Sample) -> ControlFlow<Option<Sample>, Sample> {
        let is_request = !matches!(sample.kind, JmeterKind::Transaction { .. });
        if sample.kind == (JmeterKind::Transaction { parent: false }) {
            return ControlFlow::Break(Some(sample));
        }
        for around in self.open.iter_mut().rev() {
            let is_parent = around.kind == JmeterKind::Transaction { parent: true };
            if is_parent && !is_request {
                return ControlFlow::Break(Some(sample));
            }
            around.count(&sample);
            if is_parent {
                around.parts.push(sample);
                return ControlFlow::Break(None);
            }
        }
        ControlFlow::Continue(sample)
    }
}

impl Sample {
    /// Becomes a part of a sample with this label; assertions are the whole's.
    fn become_part(&mut self, nth: usize, label: &str) {
        self.label = format!("{label}-{nth}").into();
        let is_good = self.code.parse().is_ok_and(|status: u16| (200..400).contains(&status));
        self.success |= !self.failed.is_empty() && is_good;
        self.failed.clear();
    }

    /// Of a transaction: counts a sample in it.
    fn count(&mut self, sample: &Sample) {
        self.within.0 += 1;
        self.within.1 += u64::from(!sample.success);
        if !sample.success {
            self.success = false;
            self.code.clone_from(&sample.code);
        }
        self.bytes += sample.bytes;
        self.sent_bytes += sample.sent_bytes;
        self.latency_ms += sample.latency_ms;
        self.connect_ms += sample.connect_ms;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::Label;

    fn record(user: u64) -> Record {
        Record {
            user,
            label: Some(Label(0)),
            status: 200,
            method: "GET".into(),
            url: "http://h/".into(),
            ..Record::new(Outcome::Ok)
        }
    }

    fn mark(user: u64, took: Option<std::time::Duration>) -> TransactionMark {
        TransactionMark {
            user,
            branch: 0,
            group: 0,
            phase: 0,
            label: "T".to_owned(),
            parent: true,
            at: std::time::Duration::ZERO,
            took,
            present: UsersPresent::default(),
            values: Vec::new(),
        }
    }

    #[test]
    fn samples_share_their_names_and_leave_nothing_behind() {
        let names = PhaseNames { labels: vec!["a".to_owned()], groups: vec![("G 1-".to_owned(), 3)] };
        let mut samples = Samples::new(vec![names], 0);
        let [first, second] = [samples.record(&record(1)), samples.record(&record(1))].map(Option::unwrap);
        assert_eq!(
            (&*first.thread, &*first.label, &*first.code, &*first.message),
            ("G 1-2", "a", "200", "OK")
        );
        assert!(Arc::ptr_eq(&first.thread, &second.thread) && Arc::ptr_eq(&first.label, &second.label));
        assert_eq!((first.group_threads, first.all_threads), (3, 3));
        // Users of an open pace are without number.
        let far = samples.record(&record(u64::MAX - 1)).unwrap();
        assert_eq!(*far.thread, *format!("G 1-{}", u64::MAX));
        // One user is within a transaction, and the other is not.
        assert_eq!(samples.mark(&mark(1, None)), None);
        assert_eq!(samples.record(&record(1)), None);
        assert!(samples.record(&record(2)).is_some());
        let whole = samples.mark(&mark(1, Some(std::time::Duration::from_millis(5)))).unwrap();
        assert_eq!((&*whole.label, whole.parts.len(), whole.within), ("T", 1, (1, 0)));
        assert!(samples.users.is_empty());
    }

    /// A branch of user 1.
    fn in_branch(branch: u32, record: Record) -> Record {
        Record { branch, ..record }
    }

    #[test]
    fn branches_are_told_apart_below_the_transaction_around_them() {
        let names = PhaseNames { labels: vec!["a".to_owned()], groups: vec![("G 1-".to_owned(), 3)] };
        let mut samples = Samples::new(vec![names], 0);
        let led_on = |branch, url: &str| Record {
            status: 302,
            leads_on: true,
            url: url.into(),
            ..in_branch(branch, record(1))
        };
        // Without anything around them, each branch has a sample of its own redirection.
        assert_eq!(samples.record(&led_on(1, "http://h/1")), None);
        assert_eq!(samples.record(&led_on(2, "http://h/2")), None);
        for branch in [2, 1] {
            let sample = samples.record(&in_branch(branch, record(1))).unwrap();
            let first = sample.parts[0].url.as_deref().unwrap();
            assert_eq!((sample.parts.len(), first), (2, format!("http://h/{branch}").as_str()));
        }
        // A transaction of one branch is none of the other's, and the user's own holds both.
        let ended = Some(std::time::Duration::from_millis(5));
        let begins = |branch, took| TransactionMark { branch, ..mark(1, took) };
        assert_eq!(samples.mark(&begins(0, None)), None);
        assert_eq!(samples.mark(&begins(1, None)), None);
        assert_eq!(samples.record(&in_branch(1, record(1))), None);
        assert_eq!(samples.record(&in_branch(2, record(1))), None);
        let inner = samples.mark(&begins(1, ended)).unwrap();
        assert_eq!((inner.parts.len(), inner.within), (1, (1, 0)), "as within any other transaction");
        let whole = samples.mark(&begins(0, ended)).unwrap();
        assert_eq!((whole.parts.len(), whole.within), (1, (1, 0)));
        assert!(samples.users.is_empty());
    }
}
