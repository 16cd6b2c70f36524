//! A results file of JMeter's beside a plan, and beside one of ours: labels, order, codes and parts.

use super::Sample;
use plan::Plan;
use std::collections::BTreeMap;

/// A results file as a comparison wants it: of each thread the samples in their order, parts behind their whole.
#[derive(Debug, Default)]
pub struct Results {
    threads: BTreeMap<String, Vec<AgainstStep>>,
    samples: u64,
}

/// Of a sample, what two runs of one plan have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
struct AgainstStep {
    label: String,
    code: String,
    success: bool,
}

/// Differences of one kind that are told, at most.
const TOLD: usize = 20;

impl Results {
    /// Adds a sample, and its parts behind it.
    pub fn add(&mut self, sample: &Sample) {
        let step = AgainstStep {
            label: sample.label.to_string(),
            code: sample.code.to_string(),
            success: sample.success,
        };
        self.samples += 1;
        match self.threads.get_mut(&*sample.thread) {
            Some(steps) => steps.push(step),
            None => {
                self.threads.insert(sample.thread.to_string(), vec![step]);
            }
        }
        for part in &sample.parts {
            // Parts of XML may leave out their thread.
            self.add(&Sample { thread: sample.thread.clone(), ..part.clone() });
        }
    }

    /// Samples, parts among them.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// Threads.
    pub fn threads(&self) -> usize {
        self.threads.len()
    }

    fn steps(&self) -> impl Iterator<Item = &AgainstStep> {
        self.threads.values().flatten()
    }

    /// Samples of each label, by their codes.
    fn labels(&self) -> BTreeMap<&str, BTreeMap<&str, u64>> {
        let mut labels: BTreeMap<&str, BTreeMap<&str, u64>> = BTreeMap::new();
        for step in self.steps() {
            *labels.entry(&step.label).or_default().entry(&step.code).or_default() += 1;
        }
        labels
    }
}

/// Tells what a results file and a plan do not have in common: labels and groups.
pub fn with_plan(plan: &Plan, theirs: &Results) -> Vec<String> {
    let phases: Vec<&plan::Phase> = plan.load.iter().flat_map(|load| &load.phases).collect();
    let planned: Vec<String> = phases.iter().flat_map(|phase| phase.labels()).collect();
    let is_planned = |label: &str| planned.iter().any(|known| is_like(known, label));
    let labels = theirs.labels();
    let mut told = Vec::new();
    for (label, codes) in &labels {
        let whole = whole_of(label, &labels);
        if !is_planned(whole) && !is_planned(label) {
            told.push(format!("{}: no element of the plan has this label", counted(label, codes)));
        }
    }
    for known in &planned {
        if !labels.keys().any(|label| is_like(known, label)) {
            told.push(format!("'{known}': no sample of the file has this label"));
        }
    }
    let groups: Vec<String> = phases.iter().flat_map(|phase| phase.parts()).map(|part| part.name).collect();
    let mut seen: Vec<&str> = theirs.threads.keys().filter_map(|thread| group_of(thread)).collect();
    seen.dedup();
    for group in seen {
        if !groups.iter().any(|known| is_like(known, group)) {
            told.push(format!("'{group}': no group of the plan has this name"));
        }
    }
    told
}

/// Tells what two results files do not have in common, thread by thread.
pub fn with_ours(theirs: &Results, ours: &Results) -> Vec<String> {
    let mut told = Vec::new();
    labels(theirs, ours, &mut told);
    let mut orders = Vec::new();
    let mut ends = Vec::new();
    for (thread, there) in &theirs.threads {
        let Some(here) = ours.threads.get(thread) else {
            orders.push(format!("thread '{thread}': {} there, none here", samples(there.len())));
            continue;
        };
        if let Some(at) = there.iter().zip(here).position(|(there, here)| there.label != here.label) {
            orders.push(format!(
                "thread '{thread}': sample {} is '{}' there, '{}' here",
                at + 1,
                there[at].label,
                here[at].label
            ));
        } else if there.len() != here.len() {
            orders.push(format!(
                "thread '{thread}': {} there, {} here, the same as far as both go",
                samples(there.len()),
                here.len()
            ));
        }
        let pairs = there.iter().zip(here).take_while(|(there, here)| there.label == here.label);
        for (at, (there, here)) in pairs.enumerate().filter(|(_, (there, here))| there != here) {
            ends.push(format!(
                "thread '{thread}': sample {} '{}' is {} there, {} here",
                at + 1,
                there.label,
                end(there),
                end(here)
            ));
        }
    }
    let more = ours.threads.iter().filter(|(thread, _)| !theirs.threads.contains_key(*thread));
    orders.extend(
        more.map(|(thread, here)| format!("thread '{thread}': none there, {} here", samples(here.len()))),
    );
    [orders, ends].into_iter().for_each(|lines| told.extend(bounded(lines)));
    told
}

fn samples(count: usize) -> String {
    format!("{count} sample{}", if count == 1 { "" } else { "s" })
}

fn labels(theirs: &Results, ours: &Results, told: &mut Vec<String>) {
    let all = [theirs.labels(), ours.labels()];
    let names: std::collections::BTreeSet<&str> = all.iter().flat_map(BTreeMap::keys).copied().collect();
    let mut lines = Vec::new();
    for name in names {
        match all.each_ref().map(|side| side.get(name)) {
            [Some(there), None] => lines.push(format!("{}: not here", counted(name, there))),
            [None, Some(here)] => lines.push(format!("{}: not there", counted(name, here))),
            [Some(there), Some(here)] if there != here => {
                lines.push(format!("'{name}': {} there, {} here", codes(there), codes(here)));
            }
            [Some(_), Some(_)] | [None, None] => {}
        }
    }
    told.extend(bounded(lines));
}

fn bounded(mut lines: Vec<String>) -> Vec<String> {
    let more = lines.len().saturating_sub(TOLD);
    lines.truncate(TOLD);
    if more > 0 {
        lines.push(format!("{more} more of this kind"));
    }
    lines
}

fn end(step: &AgainstStep) -> String {
    let word = if step.success { "good" } else { "failed" };
    if step.code.is_empty() { word.to_owned() } else { format!("{word} ({})", step.code) }
}

fn counted(label: &str, by_code: &BTreeMap<&str, u64>) -> String {
    format!("'{label}' ({})", codes(by_code))
}

fn codes(by_code: &BTreeMap<&str, u64>) -> String {
    let one = |(code, count): (&&str, &u64)| match *code {
        "" => format!("{count} ×"),
        code => format!("{count} × {code}"),
    };
    by_code.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// The label that a part's is made of: `NAME-0` and `NAME-0-1` of `NAME`, where that is there.
fn whole_of<'l>(label: &'l str, all: &BTreeMap<&str, BTreeMap<&str, u64>>) -> &'l str {
    let mut whole = label;
    while let Some((before, number)) = whole.rsplit_once('-') {
        if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) || !all.contains_key(before)
        {
            break;
        }
        whole = before;
    }
    whole
}

/// `GROUP` of `GROUP 1-2`.
fn group_of(thread: &str) -> Option<&str> {
    thread.rsplit_once(' ').map(|(group, _)| group)
}

/// True if a text is what a pattern with `${variables}` may become.
fn is_like(pattern: &str, text: &str) -> bool {
    let Some((before, behind)) = pattern.split_once("${") else { return pattern == text };
    let Some(rest) = text.strip_prefix(before) else { return false };
    let Some((_, behind)) = behind.split_once('}') else { return pattern == text };
    (0..=rest.len()).filter(|at| rest.is_char_boundary(*at)).any(|at| is_like(behind, &rest[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(lines: &[(&str, &str, &str)]) -> Results {
        let mut results = Results::default();
        for (thread, label, code) in lines {
            let success = *code == "200";
            results.add(&Sample {
                thread: (*thread).into(),
                label: (*label).into(),
                code: (*code).to_owned().into(),
                success,
                ..Sample::default()
            });
        }
        results
    }

    #[test]
    fn the_same_samples_differ_in_nothing() {
        let one = [("U 1-1", "a", "200"), ("U 1-2", "a", "200"), ("U 1-1", "b", "200")];
        // Threads go as they like.
        let other = [("U 1-1", "a", "200"), ("U 1-1", "b", "200"), ("U 1-2", "a", "200")];
        assert_eq!(with_ours(&results(&one), &results(&other)), Vec::<String>::new());
    }

    #[test]
    fn order_codes_and_missing_samples_are_told_by_thread() {
        let theirs =
            [("U 1-1", "a", "200"), ("U 1-1", "b", "200"), ("U 1-2", "a", "200"), ("U 1-3", "a", "200")];
        let ours =
            [("U 1-1", "a", "500"), ("U 1-1", "c", "200"), ("U 1-2", "a", "200"), ("U 1-2", "a", "200")];
        assert_eq!(
            with_ours(&results(&theirs), &results(&ours)),
            [
                "'a': 3 × 200 there, 2 × 200, 1 × 500 here",
                "'b' (1 × 200): not here",
                "'c' (1 × 200): not there",
                "thread 'U 1-1': sample 2 is 'b' there, 'c' here",
                "thread 'U 1-2': 1 sample there, 2 here, the same as far as both go",
                "thread 'U 1-3': 1 sample there, none here",
                "thread 'U 1-1': sample 1 'a' is good (200) there, failed (500) here",
            ]
        );
    }

    #[test]
    fn parts_are_samples_behind_their_whole() {
        let part = Sample { label: "a-0".into(), ..Sample::default() };
        let whole =
            Sample { label: "a".into(), thread: "U 1-1".into(), parts: vec![part], ..Sample::default() };
        let mut theirs = Results::default();
        theirs.add(&whole);
        assert_eq!((theirs.samples(), theirs.threads()), (2, 1));
        let told = with_ours(&theirs, &results(&[("U 1-1", "a", "")]));
        assert!(told.iter().any(|line| line == "'a-0' (1 ×): not here"), "{told:?}");
    }

    #[test]
    fn names_may_hold_variables() {
        for (pattern, text, fits) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("page ${n} of ${m}", "page 1 of 20", true),
            ("page ${n}!", "page 1", false),
            ("${x}", "", true),
        ] {
            assert_eq!(is_like(pattern, text), fits, "{pattern} {text}");
        }
        let labels = results(&[
            ("U 1-1", "a", ""),
            ("U 1-1", "a-0", ""),
            ("U 1-1", "a-0-1", ""),
            ("U 1-1", "b-1", ""),
        ]);
        let all = labels.labels();
        assert_eq!(["a-0-1", "a-0", "b-1"].map(|label| whole_of(label, &all)), ["a", "a", "b-1"]);
        assert_eq!(group_of("My users 1-12"), Some("My users"));
    }
}
