//! The next thing to do: one command that fits what was seen.

use super::typed::{Door, FLAGS, LENGTH, NOT_OF_FIND, ONE_RUN, PACE, Typed, plan_file};
use super::{Report, Section};
use crate::labels;
use measure::verdict::nothing_good;
use measure::{Conduct, Failure, FailureKind, JudgedNames, RunVerdict, Worth};
use plan::{Pace, Step, Stop, Threshold};
use std::net::SocketAddr;

/// Requests below which percentiles say little.
const FEW: u64 = 100;
/// Share of what users got, at which a server is not yet full.
const EASY: f64 = 0.7;
/// Requests of a list up to which the one that failed is looked for.
const SEVERAL: usize = 100;
/// Statuses that send a client elsewhere (RFC 9110 section 15.4).
const REDIRECTIONS: [u16; 5] = [301, 302, 303, 307, 308];

/// A command, and what it is for.
struct Advice {
    what_for: String,
    command: String,
}

impl Advice {
    fn new(what_for: impl Into<String>, command: impl Into<String>) -> Option<Advice> {
        Some(Advice { what_for: what_for.into(), command: command.into() })
    }
}

impl Report<'_> {
    /// The next command, for commands of ours.
    pub(super) fn next(&self) -> Option<Section> {
        let advice = self.advice()?;
        let mut section = Section::new(&format!("Next: {}", advice.what_for));
        section.quote(&advice.command);
        Some(section)
    }

    fn advice(&self) -> Option<Advice> {
        if !self.has_load() {
            return None;
        }
        let (door, typed) = Typed::of(self.context.command)?;
        let verdict = self.result.verdict(self.phase);
        if self.result.was_ended_by_hand() {
            return Advice::new("the same to its end", typed.without(ONE_RUN).text());
        }
        self.after_failures(door, &typed, &verdict)
            .or_else(|| self.after_redirections(door, &typed))
            .or_else(|| self.of_machine(&verdict))
            .or_else(|| self.after_conditions(door, &typed))
            .or_else(|| self.after_each_once(door, &typed))
            .or_else(|| self.after_a_good_run(door, &typed))
            .or_else(|| seen_whole(&typed))
    }

    /// Where requests got no good answer, one of them, or the word for it.
    fn after_failures(&self, door: Door, typed: &Typed, verdict: &RunVerdict) -> Option<Advice> {
        let failed = match verdict.target.state {
            Conduct::Died | Conduct::NoGoodAnswer | Conduct::Silent | Conduct::Failed => true,
            Conduct::NotAsked | Conduct::Flawed | Conduct::Answered => false,
        };
        if !failed && !nothing_good(self.counts()) {
            return None;
        }
        if door == Door::Http && !is_verbose(typed) {
            return Advice::new(
                "one such request, told from its beginning to its end",
                self.one_of(typed).text(),
            );
        }
        let fault = self.phase.tally.faults().max_by_key(|(_, count)| *count).map(|(fault, _)| fault.name());
        let failures = self.phase.tally.failures().max_by_key(|(_, count)| *count);
        // A request that was told has said all that the name could.
        let told = |failure: Failure| door == Door::Http && failure.kind == FailureKind::BadStatus;
        let failures = failures.filter(|(failure, _)| !told(*failure));
        let name = fault.or(failures
            .map(|(failure, _)| failure.broken().map_or(failure.kind.name(), |broken| broken.breach.name())));
        name.and_then(|name| Advice::new(format!("what {name} means"), format!("wringer explain {name}")))
    }

    /// Where most answers only said that something stands elsewhere, what stands there.
    fn after_redirections(&self, door: Door, typed: &Typed) -> Option<Advice> {
        let statuses = || self.phase.tally.statuses();
        let redirections: u64 =
            statuses().filter(|(status, _)| REDIRECTIONS.contains(status)).map(|(_, count)| count).sum();
        let answers: u64 = statuses().map(|(_, count)| count).sum();
        if door != Door::Http || typed.has("--follow") || 2 * redirections < answers.max(1) {
            return None;
        }
        let what_for = format!("what the redirections lead to, {redirections} of {answers} answers");
        Advice::new(what_for, typed.clone().without(ONE_RUN).and("--follow").text())
    }

    /// One request, told: the URL that failed where several are pressed, or all that was typed.
    fn one_of(&self, typed: &Typed) -> Typed {
        let once = typed.clone().without(PACE).without(LENGTH).without(ONE_RUN).without_flags(FLAGS);
        let once = once.without(&["--fail-if", "--require", "--stop-if", "--label", "--keep"]);
        self.failed_alone(&once).unwrap_or(once).and("-v")
    }

    /// The command with that URL alone of which most requests got no good answer; `None`: there is but one, or it is not known which failed.
    fn failed_alone(&self, typed: &Typed) -> Option<Typed> {
        let phase = self.context.plan.load.as_ref()?.phases.iter().find(|phase| phase.measured)?;
        let mut lists = phase.sends().into_iter().filter_map(|step| {
            let Step::Requests(step) = step else { return None };
            Some(&step.requests)
        });
        let list = lists.next().filter(|list| (2..=SEVERAL).contains(&list.len()))?;
        let bad = |label: &str| {
            let figures = labels::measured(self.result, self.context.plan, label)?;
            Some(figures.ended - figures.ok).filter(|bad| *bad > 0)
        };
        // A label of several requests does not tell which of them it was.
        let is_own = |label: &str| list.iter().filter(|listed| listed.like.name == label).count() == 1;
        let known = list.iter().filter(|listed| !listed.like.name.is_empty() && is_own(&listed.like.name));
        let counted = known.filter_map(|listed| Some((listed, bad(&listed.like.name)?)));
        let (failed, _) = counted.max_by_key(|(_, bad)| *bad)?;
        let all: Vec<&str> = list.iter().map(|listed| listed.url).collect();
        let like = failed.like;
        let is_plain = like.method == "GET" && like.body.is_empty() && like.fields.is_empty();
        match typed.has("--urls") {
            true if is_plain => typed.with_url(&all, failed.url),
            true => None,
            false => typed.only_url(&all, failed.url),
        }
    }

    /// Where this machine was the limit, what it lacks.
    fn of_machine(&self, verdict: &RunVerdict) -> Option<Advice> {
        match verdict.measurement.state {
            Worth::GeneratorBound | Worth::Disturbed => {}
            Worth::Valid | Worth::NothingSent | Worth::CutOff | Worth::BrokenOff => return None,
        }
        // A few requests are no load.
        if self.counts().requests < FEW {
            return None;
        }
        let pace = self.measured_pace()?;
        let users = match pace {
            Pace::Users(users) | Pace::Thinking { users, .. } => format!(" -c {users}"),
            Pace::Timetable { .. }
            | Pace::Moments { .. }
            | Pace::Walks { .. }
            | Pace::Rate { .. }
            | Pace::Stages { .. }
            | Pace::Recorded { .. }
            | Pace::Connections { .. }
            | Pace::Ramps(_) => String::new(),
        };
        let rate = rounded(self.phase.per_second(self.counts().requests));
        let here = if self.is_pressed_here() { " --loopback" } else { "" };
        Advice::new("what limits this machine", format!("wringer doctor{users} --rate {rate}/s{here}"))
    }

    /// The target is on this machine.
    fn is_pressed_here(&self) -> bool {
        let target = self.context.plan.load.as_ref().and_then(|load| load.target.as_deref());
        let address = target.and_then(|target| target.parse::<SocketAddr>().ok());
        address.is_some_and(|address| address.ip().is_loopback())
    }

    /// Where a condition on times was violated, the rate that keeps it.
    fn after_conditions(&self, door: Door, typed: &Typed) -> Option<Advice> {
        let violated =
            self.result.thresholds.iter().filter(|one| one.violated && one.names != JudgedNames::Stop);
        let mut limits = violated.filter_map(|one| slo(&one.condition));
        let limit = limits.next().filter(|_| door == Door::Http)?;
        Advice::new(format!("the highest rate that keeps {limit}"), find(typed, &limit))
    }

    /// The way to a load from a plan whose one user has sent each request once, as plans made of the files of other programs do.
    fn after_each_once(&self, door: Door, typed: &Typed) -> Option<Advice> {
        let phases = self.context.plan.load.as_ref().map(|load| load.phases.as_slice());
        let Some([phase]) = phases.filter(|_| door == Door::Run) else { return None };
        let Stop { after: None, requests: None, turns_per_user: Some(_), .. } = phase.stop else {
            return None;
        };
        if !phase.groups.is_empty() || phase.pace != Pace::Users(1) {
            return None;
        }
        let file = plan_file(self.context.command)?;
        if file.ends_with(".toml") {
            let again = typed.clone().without(ONE_RUN);
            return Advice::new("a load, once pace and stop of the plan give users and a time", again.text());
        }
        let plan = typed.as_plan()?.and("> load.toml");
        Advice::new("these requests as a plan, whose pace and stop make a load of them", plan.text())
    }

    fn after_a_good_run(&self, door: Door, typed: &Typed) -> Option<Advice> {
        if is_verbose(typed) {
            let loaded = typed.clone().without(LENGTH).without_flags(FLAGS).without(ONE_RUN);
            return Advice::new("the same under load", loaded.and("-d 10s").text());
        }
        let requests = self.counts().requests;
        let few = requests < FEW || self.result.self_check.too_short;
        if few && door != Door::Run {
            let longer = typed.clone().without(LENGTH).without(ONE_RUN);
            return Advice::new("long enough for percentiles to say something", longer.and("-d 30s").text());
        }
        let closed = matches!(self.measured_pace()?, Pace::Users(_));
        match door {
            Door::Cache if !["--shift", "--phase", "--fill"].iter().any(|option| typed.has(option)) => {
                let shifted = typed.clone().without(LENGTH).without(ONE_RUN);
                Advice::new(
                    "hits second by second when the working set changes",
                    shifted.and("--shift").text(),
                )
            }
            Door::Http | Door::Tcp if closed => {
                let rate = rounded(self.phase.per_second(requests) * EASY).max(1);
                let open = typed.clone().without(PACE).without(ONE_RUN);
                Advice::new(
                    "times at 70 % of that rate, with requests sent when they are due",
                    open.and(&format!("--rate {rate}/s")).text(),
                )
            }
            Door::Http => {
                let limit =
                    format!("p99<{}ms", easy_limit(self.phase.response().quantile(0.99).value as u64));
                Advice::new(format!("the highest rate that keeps {limit}"), find(typed, &limit))
            }
            Door::Cache | Door::Tcp | Door::Run => None,
        }
    }

    /// The pace of the first phase that counts.
    fn measured_pace(&self) -> Option<&Pace> {
        let load = self.context.plan.load.as_ref()?;
        load.phases.iter().find(|phase| phase.measured).map(|phase| &phase.pace)
    }
}

/// The run in a browser.
fn seen_whole(typed: &Typed) -> Option<Advice> {
    let what_for = "the run with its charts, in one file";
    if typed.has("--no-keep") {
        return Advice::new(what_for, typed.clone().and("--html run.html").text());
    }
    let folder = if typed.has("--keep-in") { " --keep-in DIR" } else { "" };
    Advice::new(what_for, format!("wringer report latest --as html{folder} > run.html"))
}

fn is_verbose(typed: &Typed) -> bool {
    typed.has("-v") || typed.has("--verbose")
}

fn find(typed: &Typed, limit: &str) -> String {
    let without = typed.clone().without(PACE).without(LENGTH).without(ONE_RUN).without(NOT_OF_FIND);
    without.without_flags(FLAGS).into_command("find").and(&format!("--slo '{limit}'")).text()
}

/// A condition on times as a limit of a search, which says what must hold.
fn slo(condition: &str) -> Option<String> {
    let threshold = Threshold::parse(condition).ok()?;
    let is_of_times = matches!(threshold.metric, plan::Metric::Time(..));
    let (name, limit) = condition.split_once(['<', '>']).filter(|_| is_of_times)?;
    Some(format!("{}<{}", name.trim(), limit.trim_start_matches('=').trim()))
}

/// A number in two digits.
fn rounded(number: f64) -> u64 {
    let number = number.max(0.0).round() as u64;
    let mut unit = 1;
    while number / unit >= 100 {
        unit *= 10;
    }
    number / unit * unit
}

/// Twice a time or a little more, in whole milliseconds of one digit: 1, 2, 5, 10 …
fn easy_limit(us: u64) -> u64 {
    let wanted = us.saturating_mul(2).div_ceil(1000).max(1);
    let mut unit = 1_u64;
    loop {
        if let Some(fits) = [1, 2, 5].map(|digit| digit * unit).into_iter().find(|limit| *limit >= wanted) {
            return fits;
        }
        unit = unit.saturating_mul(10);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::Language;
    use crate::text::Context;
    use measure::{Label, Outcome, PhaseResult, RunResult};
    use plan::{Io, Load, Phase, Plan, Request, RequestStep, Scenario, Site};
    use std::time::Duration;

    fn plan(urls: &[&str]) -> Plan {
        let request = |url: &&str| Request { name: (*url).to_owned(), ..Request::get(url) };
        let requests: Vec<Request> = urls.iter().map(request).collect();
        let step = Step::Requests(RequestStep { requests: requests.into(), ..RequestStep::default() });
        let scenario = Scenario::of(vec![step]);
        let phase = Phase { name: "measure".to_owned(), measured: true, scenario, ..Phase::default() };
        Plan {
            version: Plan::VERSION,
            seed: 7,
            threads: None,
            io: Io::Auto,
            site: Site::default(),
            load: Some(Load { phases: vec![phase], ..Load::default() }),
            origin: None,
        }
    }

    /// The command that tells one request of this one, where only the second URL failed.
    fn one_of(command: &str, urls: &[&str], outcomes: &[Outcome]) -> String {
        let plan = plan(urls);
        let mut phase = PhaseResult::new("measure", true);
        for (place, outcome) in (0..).zip(outcomes) {
            phase.tally.labels.count(Label(place), *outcome, Duration::from_millis(1), 5);
        }
        let result = RunResult { phases: vec![phase.clone()], ..RunResult::default() };
        let context = Context {
            plan: &plan,
            command,
            version: "1",
            target: None,
            target_cpu: None,
            evidence_file: None,
            exit: None,
            started_unix_s: 0.0,
            threads: 1,
            language: Language::English,
        };
        let report = Report { result: &result, context: &context, phase: &phase };
        report.one_of(&Typed::of(command).unwrap().1).text()
    }

    #[test]
    fn the_request_that_is_told_is_one_that_failed() {
        let urls = ["http://h:1/", "http://h:1/bad"];
        let [good, bad] = [Outcome::Ok, Outcome::Injected];
        for (command, outcomes, told) in [
            ("wringer http http://h:1/ h:1/bad -n 9", [good, bad], "wringer http h:1/bad -v"),
            ("wringer http 'h:1' 'http://h:1/bad' -n 9", [bad, good], "wringer http 'h:1' -v"),
            ("wringer http h:1 --urls l.txt -n 9", [good, bad], "wringer http http://h:1/bad -v"),
            ("wringer http h:1 h:1/bad", [good, good], "wringer http h:1 h:1/bad -v"),
        ] {
            assert_eq!(one_of(command, &urls, &outcomes), told, "{command}");
        }
        assert_eq!(one_of("wringer http h:1", &urls[..1], &[bad]), "wringer http h:1 -v");
    }

    #[test]
    fn numbers_are_those_that_people_would_type() {
        assert_eq!([0.4, 7.0, 123.0, 45_678.9].map(rounded), [0, 7, 120, 45_000]);
        assert_eq!([0, 400, 1_100, 12_000].map(easy_limit), [1, 1, 5, 50]);
    }

    #[test]
    fn a_condition_on_times_is_a_limit_to_look_for() {
        for (condition, limit) in [
            ("p99<50ms", Some("p99<50ms")),
            ("p99.9>1s", Some("p99.9<1s")),
            ("mean >= 5ms", Some("mean<5ms")),
            ("errors>1%", None),
            ("rate>1k/s", None),
        ] {
            assert_eq!(slo(condition).as_deref(), limit, "{condition}");
        }
    }
}
