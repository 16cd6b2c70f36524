//! Kept runs as sides: which are meant, whether they may be held against each other, and what is known of them beside their figures. What follows
//! from the figures is `decide`'s.

use super::file;
use crate::command::show;
use crate::problem::{Exit, Problem};
use crate::runs::{self, Neutral, Summary};
use cli::CompareArgs;
use decide::compare::{COMPARISON_OF_RUNS, OfRuns, RunsDecision, Settings, run_sets, stretches, two_runs};
use decide::words;
use measure::{Head, Headline, RunEvent, RunState, Second};
use std::path::{Path, PathBuf};

/// Bytes of an answer may differ by this share before both runs are said to have had unlike answers.
const UNLIKE: f64 = 0.01;
/// Most earlier runs that are looked at.
const MOST_EARLIER: usize = 60;
/// Word of a verdict whose figures speak of the target.
const VALID: &str = "valid";
/// Word of one whose figures speak of the target and of something else.
const DISTURBED: &str = "disturbed";

/// Runs the command.
pub fn run(args: &CompareArgs, settings: &Settings) -> Result<Exit, Problem> {
    file::places(args).can_keep()?;
    let folder = args.keep.keep_in.clone().map_or_else(runs::folder, Ok)?;
    let named = args.kept.runs.iter().map(|name| KeptComparison::read(&folder, name));
    let named: Vec<KeptComparison> = named.collect::<Result<_, Problem>>()?;
    match (&args.kept.baseline, named.as_slice()) {
        (Some(label), b) => sets(args, settings, &folder, label, b),
        (None, [a, b]) => two(args, settings, &folder, [a, b]),
        (None, _) => unreachable!("two runs are required"),
    }
}

/// A run that was kept, with its rows.
struct KeptComparison {
    name: String,
    file: PathBuf,
    summary: Summary,
    head: Head,
    plan: Neutral,
    backend: String,
    rows: Vec<Second>,
    /// Statuses, most frequent first.
    statuses: Vec<u16>,
    bytes_per_answer: f64,
    faulty: u64,
}

impl KeptComparison {
    fn read(folder: &Path, name: &str) -> Result<KeptComparison, Problem> {
        let file = runs::find(name, folder)?;
        let bytes = runs::bytes(&file)?;
        let mut state = RunState::default();
        let mut rows = Vec::new();
        for event in runs::events(&bytes, &file)? {
            state.apply(&event);
            if let RunEvent::Second(second) = event
                && state.head().phases.get(second.phase as usize).is_some_and(|phase| phase.measured)
            {
                second.push_to(&mut rows);
            }
        }
        let refused = |why: &str| Problem::Usage(format!("the run {name} cannot be compared: {why}"));
        let summary = runs::summary(&file).ok_or_else(|| refused("it has lost its first record"))?;
        let Some(end) = state.end() else {
            return Err(refused(if summary.goes_on() { "it goes on" } else { "it was cut off" }));
        };
        let head = state.head().clone();
        let plan = Neutral::of(&head.plan).ok_or_else(|| refused("its plan cannot be read"))?;
        let measured = state.result().measured();
        let mut statuses: Vec<(u16, u64)> = measured.tally.statuses().collect();
        statuses.sort_by_key(|(status, count)| (std::cmp::Reverse(*count), *status));
        let answers: u64 = statuses.iter().map(|(_, count)| count).sum();
        let counts = measured.counts();
        Ok(KeptComparison {
            name: name.to_owned(),
            backend: end.backend.clone(),
            statuses: statuses.into_iter().map(|(status, _)| status).collect(),
            bytes_per_answer: counts.body_bytes as f64 / answers.max(1) as f64,
            faulty: counts.check_failed,
            file,
            summary,
            head,
            plan,
            rows,
        })
    }

    fn headline(&self) -> Option<Headline> {
        self.summary.end.as_ref().map(|end| end.figures.clone())
    }

    /// As people read it.
    fn title(&self) -> String {
        let target = self.head.target.clone().unwrap_or_else(|| "no target".to_owned());
        format!("{} ({target}, {})", self.summary.short(), self.summary.began())
    }

    fn is_disturbed(&self) -> bool {
        self.summary.verdict().measurement == DISTURBED
    }

    /// # Errors
    /// Its figures are not those of its target.
    fn refuse_invalid(&self, side: &str) -> Result<(), Problem> {
        let names = self.summary.verdict();
        if names.measurement == VALID {
            return Ok(());
        }
        Err(Problem::impossible(format!(
            "no comparison: the run {} ({side}) says nothing of its target, its verdict is: {names}; wringer report {} says why",
            self.name,
            self.summary.short()
        )))
    }
}

/// Compares two runs.
fn two(
    args: &CompareArgs,
    settings: &Settings,
    folder: &Path,
    [a, b]: [&KeptComparison; 2],
) -> Result<Exit, Problem> {
    if a.summary.id == b.summary.id {
        return Err(Problem::Usage(format!(
            "{} and {} are one and the same run: there is nothing to compare",
            a.name, b.name
        )));
    }
    if let Some(place) = a.plan.unlike(&b.plan) {
        return Err(Problem::Usage(format!(
            "both runs have unlike plans, {place}: what differs would be the plan's doing; repeat one with wringer runs repeat {}",
            a.summary.short()
        )));
    }
    for (side, run) in [("A", a), ("B", b)] {
        // What disturbed a run is told: a pair of runs has no other to be repeated by.
        if !run.is_disturbed() {
            run.refuse_invalid(side)?;
        }
    }
    let earlier = earlier(folder, [a, b]);
    let stretches = [stretches(&a.rows), stretches(&b.rows)];
    let apart_s = b.head.started_unix_s - a.head.started_unix_s;
    let told = two_runs([&stretches[0], &stretches[1]], &earlier, apart_s, settings.seed)
        .map_err(|refusal| Problem::Usage(refusal.to_string()))?;
    let facts = facts(a, b);
    let wrong = match (a.faulty, b.faulty) {
        (0, 0) => None,
        (0, faulty) => Some(format!("B gave wrong answers, {faulty} of them, and A none")),
        (faulty, 0) => Some(format!("A gave wrong answers, {faulty} of them, and B none")),
        (of_a, of_b) => Some(format!("both gave wrong answers: A {of_a}, B {of_b}")),
    };
    let exit = if (a.faulty == 0) == (b.faulty == 0) { Exit::Ok } else { Exit::Wrong };
    let facts: Vec<String> = wrong.into_iter().chain(facts).collect();
    let sides = [(a.title(), vec![&*a.file]), (b.title(), vec![&*b.file])];
    tell(args, &KeptWords { sides, facts: &facts, exit, text: told.text(), outcome: OfRuns::TwoRuns(&told) })
}

/// Facts about two runs that a reader must know before the figures.
fn facts(a: &KeptComparison, b: &KeptComparison) -> Vec<String> {
    let mut facts = vec![format!("A is {}, B is {}", a.title(), b.title())];
    for (side, run) in [("A", a), ("B", b)] {
        if run.is_disturbed() {
            facts.push(format!(
                "{side} WAS DISTURBED, and what differs may be that: wringer report {} says by what",
                run.summary.short()
            ));
        }
    }
    let [on, other] = [a, b].map(|run| &run.head.machine);
    let machines =
        [on, other].map(|machine| format!("{} ({} cores, {})", machine.host, machine.cores, machine.cpu));
    if machines[0] != machines[1] {
        facts.push(format!(
            "THE MACHINES ARE UNLIKE, and what differs may be their doing: A on {}, B on {}",
            machines[0], machines[1]
        ));
    }
    for (what, of_a, of_b) in [
        ("kernels", &on.kernel, &other.kernel),
        ("versions of wringer", &a.head.version, &b.head.version),
        ("I/O backends", &a.backend, &b.backend),
    ] {
        if of_a != of_b {
            facts.push(format!("warning: unlike {what}: A {of_a}, B {of_b}"));
        }
    }
    if a.statuses != b.statuses {
        facts.push(format!("the answers had unlike statuses: A {:?}, B {:?}", a.statuses, b.statuses));
    }
    let [of_a, of_b] = [a, b].map(|run| run.bytes_per_answer);
    if (of_a - of_b).abs() > UNLIKE * of_a.max(of_b) {
        facts.push(format!("the answers were unlike: A {of_a:.0} bytes each, B {of_b:.0}"));
    }
    for (side, run) in [("A", a), ("B", b)] {
        if run.summary.end.as_ref().is_some_and(|end| end.interrupted) {
            facts.push(format!("{side} was interrupted before its time"));
        }
    }
    facts
}

/// Valid runs of a folder that were made on a machine, the newest first.
fn valid_on(folder: &Path, host: &str) -> Vec<Summary> {
    let mut all = runs::summaries(folder);
    all.retain(|run| run.host == host && run.verdict().measurement == VALID);
    all
}

/// Figures of runs of the same plan, target and machine before both.
fn earlier(folder: &Path, [a, b]: [&KeptComparison; 2]) -> Vec<Headline> {
    let before = a.head.started_unix_s.min(b.head.started_unix_s);
    let all = valid_on(folder, &a.head.machine.host);
    let of_target = all
        .iter()
        .filter(|run| run.started_unix_s < before && run.door == a.head.door && run.target == a.head.target);
    let alike =
        of_target.filter(|run| Neutral::of_run(run).is_some_and(|plan| plan.unlike(&a.plan).is_none()));
    alike.filter_map(|run| run.end.as_ref()).map(|end| end.figures.clone()).take(MOST_EARLIER).collect()
}

/// Compares runs with those of a label.
fn sets(
    args: &CompareArgs,
    settings: &Settings,
    folder: &Path,
    label: &str,
    b: &[KeptComparison],
) -> Result<Exit, Problem> {
    let first = b.first().expect("a run is required");
    for run in b {
        run.refuse_invalid("B")?;
        if let Some(place) = first.plan.unlike(&run.plan) {
            return Err(Problem::Usage(format!("the runs of B have unlike plans, {place}")));
        }
        if run.head.machine.host != first.head.machine.host {
            return Err(Problem::Usage(format!(
                "the runs of B were made on unlike machines: {} and {}",
                first.head.machine.host, run.head.machine.host
            )));
        }
    }
    let bears = |run: &&Summary| {
        run.labels.iter().any(|(name, value)| name == label || format!("{name}={value}") == label)
    };
    let all = runs::summaries(folder);
    let labelled: Vec<&Summary> = all.iter().filter(bears).collect();
    if labelled.is_empty() {
        return Err(Problem::Usage(format!("no run in {} has the label {label}", folder.display())));
    }
    let is_of_a = |run: &&&Summary| {
        run.host == first.head.machine.host
            && run.verdict().measurement == VALID
            && b.iter().all(|of_b| of_b.summary.id != run.id)
            && Neutral::of_run(run).is_some_and(|plan| plan.unlike(&first.plan).is_none())
    };
    let a: Vec<&&Summary> = labelled.iter().filter(is_of_a).collect();
    let mut facts = Vec::new();
    if a.len() < labelled.len() {
        facts.push(format!(
            "{} of {} with the label {label} count: the others have another plan or machine, no valid figures, or are B's",
            a.len(),
            words::count(labelled.len(), "run")
        ));
    }
    let of_a: Vec<Headline> =
        a.iter().filter_map(|run| run.end.as_ref()).map(|end| end.figures.clone()).collect();
    let of_b: Vec<Headline> = b.iter().filter_map(KeptComparison::headline).collect();
    if of_a.is_empty() {
        return Err(Problem::Usage(facts.join("; ")));
    }
    let told = run_sets(&of_a, &of_b, settings).map_err(|refusal| {
        Problem::Usage(facts.iter().cloned().chain([refusal.to_string()]).collect::<Vec<_>>().join("; "))
    })?;
    let exit = if told.violated.is_empty() { Exit::Ok } else { Exit::Wrong };
    let sides = [
        (label.to_owned(), a.iter().map(|run| &*run.file).collect()),
        (
            b.iter().map(KeptComparison::title).collect::<Vec<_>>().join(", "),
            b.iter().map(|run| &*run.file).collect(),
        ),
    ];
    tell(args, &KeptWords { sides, facts: &facts, exit, text: told.text(), outcome: OfRuns::RunSets(&told) })
}

/// All that is said.
struct KeptWords<'a> {
    /// Each side in words, and its files.
    sides: [(String, Vec<&'a Path>); 2],
    facts: &'a [String],
    exit: Exit,
    text: String,
    outcome: OfRuns<'a>,
}

fn tell(args: &CompareArgs, told: &KeptWords<'_>) -> Result<Exit, Problem> {
    let [(a, of_a), (b, of_b)] = &told.sides;
    let facts: String = told.facts.iter().map(|fact| format!("{fact}\n")).collect();
    let printed = format!("{facts}{}", told.text);
    let places = file::places(args);
    if !places.is_stdout() {
        show::page(&printed);
    }
    show::step_summary(|| report::summary::fenced(&told.text));
    let decision = RunsDecision {
        schema: COMPARISON_OF_RUNS,
        schema_version: 1,
        version: env!("CARGO_PKG_VERSION"),
        a,
        b,
        facts: told.facts,
        exit: told.exit.number(),
        text: &told.text,
        outcome: told.outcome,
        files: [of_a, of_b],
    };
    places.keep(&decision, Some(printed))?;
    Ok(told.exit)
}
