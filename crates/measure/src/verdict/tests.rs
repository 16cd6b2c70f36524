//! Verdicts on made-up runs: each request with the moment at which it is due, and what became of it when.

use super::*;
use crate::exchange::Exchange;
use crate::judged::{Judged, JudgedNames};
use crate::outcome::{Failure, FailureKind, Fault, Outcome, Stage};
use crate::stream::{Head, Minute, PhasePlan, Second};
use crate::{
    AgentUse, Figures, LostAgent, LostRequest, MeasureEnd, PhaseEnd, RunEvent, RunState, SelfCheck, Tally,
};
use std::time::Duration;

const OK: Outcome = Outcome::Ok;
const STATUS: Outcome = Outcome::Failed(Failure::new(FailureKind::BadStatus, Stage::Head));
const TIMEOUT: Outcome = Outcome::Failed(Failure::new(FailureKind::Timeout, Stage::Head));
const NO_PORT: Outcome = Outcome::Failed(Failure::new(FailureKind::NoPort, Stage::Connect));
const REFUSED: Outcome = Outcome::Failed(Failure::new(FailureKind::Refused, Stage::Connect));
const WRONG: Outcome = Outcome::CheckFailed(Fault::WrongLength);

/// A request: when it is due and when it ends, in seconds, and how; `None`: nobody saw its end.
type Made = (f64, Option<(f64, Outcome)>);

/// A run as it might have been.
struct Case {
    open: bool,
    /// When its pace was over, and when nothing was waited for any more.
    paced_s: f64,
    until_s: f64,
    /// When as many requests had begun as there were to be.
    spent_s: Option<f64>,
    requests: Vec<Made>,
    check: SelfCheck,
    tolerated: f64,
}

/// So many requests per second at an open pace for so long, each answered after so long as `ends` says of its number and when it
/// was due.
fn open(per_second: u32, paced_s: f64, ends: impl Fn(u32, f64) -> Option<(f64, Outcome)>) -> Case {
    let count = (f64::from(per_second) * paced_s).round() as u32;
    let made = (0..count).map(|n| {
        let due = f64::from(n) / f64::from(per_second);
        (due, ends(n, due).map(|(after, outcome)| (due + after, outcome)))
    });
    let requests = made.collect();
    Case { requests, open: true, ..Case::new(paced_s) }
}

/// So many users at a closed pace for so long.
fn closed(users: u32, paced_s: f64, ends: impl Fn(u32, f64) -> Option<(f64, Outcome)>) -> Case {
    let mut requests = Vec::new();
    for user in 0..users {
        let mut due = 0.0;
        while due < paced_s {
            let end = ends(user, due).map(|(after, outcome)| (due + after, outcome));
            requests.push((due, end));
            let Some((at, _)) = end else { break };
            due = at;
        }
    }
    Case { requests, ..Case::new(paced_s) }
}

impl Case {
    fn new(paced_s: f64) -> Case {
        Case {
            open: false,
            paced_s,
            until_s: paced_s + 1.0,
            spent_s: None,
            requests: Vec::new(),
            check: SelfCheck::default(),
            tolerated: 0.0,
        }
    }

    /// The most requests under way at once.
    fn peak(&self) -> u64 {
        let until = self.until_s;
        let mut steps: Vec<(f64, i64)> = Vec::new();
        for (due, end) in &self.requests {
            steps.extend([(*due, 1), (end.map_or(until, |(at, _)| at), -1)]);
        }
        steps.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        let mut now = 0;
        let mut most = 0;
        for (_, step) in steps {
            now += step;
            most = most.max(now);
        }
        most as u64
    }

    fn tally_of(&self, from: f64, to: f64) -> Tally {
        let seconds = Duration::from_secs_f64;
        let within = |moment: f64| moment >= from && moment < to;
        let mut tally = Tally::new();
        for (due, end) in &self.requests {
            tally.counts.requests += u64::from(within(*due));
            let seen = end.filter(|(at, _)| *at < self.until_s);
            let (at, outcome) = seen.unwrap_or((self.until_s - 1e-6, Outcome::Unfinished));
            if !within(at) {
                continue;
            }
            let took = seconds(at - due);
            let status = match outcome {
                Outcome::Ok | Outcome::CheckFailed(_) => 200,
                outcome if outcome == STATUS => 500,
                _ => 0,
            };
            let exchange =
                Exchange { status, service: took, response: took, ..Exchange::new(outcome, seconds(*due)) };
            tally.exchange(&exchange);
            if status != 0 {
                tally.heard(seconds(at));
            }
        }
        tally
    }

    fn result(&self) -> RunResult {
        let seconds = Duration::from_secs_f64;
        let plan =
            PhasePlan { name: "measure".to_owned(), measured: true, open: self.open, ..PhasePlan::default() };
        let head = Head {
            phases: vec![plan],
            interval: Some(Duration::from_secs(1)),
            tolerated: self.tolerated,
            ..Head::default()
        };
        let mut state = RunState::default();
        state.apply(&RunEvent::Head(Box::new(head)));
        let mut from = 0.0;
        while from < self.until_s {
            let to = (from + 1.0_f64).min(self.until_s);
            let tally = self.tally_of(from, to);
            let metrics = crate::figures::metrics(&tally, crate::Digits::Two);
            let paced_until = to.min(self.paced_s);
            state.apply(&RunEvent::Second(Box::new(Second {
                at: seconds(to),
                took: seconds(to - from),
                paced_until: seconds(paced_until),
                clients: Figures::of(&tally),
                metrics,
                ..Second::default()
            })));
            from = to;
        }
        let metrics = crate::figures::metrics(&self.tally_of(0.0, self.until_s), crate::Digits::Three);
        let minute = Minute { peaks: vec![self.peak()], metrics, ..Minute::default() };
        state.apply(&RunEvent::Minute(Box::new(minute)));
        let requests = self.requests.len() as u64;
        let self_check = SelfCheck { requests, ..self.check.clone() };
        let due_until = self.spent_s.map(seconds);
        let phases = vec![PhaseEnd { requests, due_until, ..PhaseEnd::default() }];
        state.apply(&RunEvent::End(Box::new(MeasureEnd { self_check, phases, ..MeasureEnd::default() })));
        state.result()
    }

    fn verdict(&self) -> RunVerdict {
        let result = self.result();
        result.verdict(&result.measured())
    }

    /// Both states, what is said of the target, and the exit code without conditions.
    fn judged(&self) -> (Worth, Conduct, String, u8) {
        let verdict = self.verdict();
        let exit = ExitCode::of(&verdict, &[]).number();
        (verdict.measurement.state, verdict.target.state, verdict.target.sentence(), exit)
    }
}

#[track_caller]
fn check(case: &Case, conduct: Conduct, exit: u8, said: &[&str]) {
    let (worth, found, sentence, code) = case.judged();
    assert_eq!((worth, found, code), (Worth::Valid, conduct, exit), "{sentence}");
    for said in said {
        assert!(sentence.contains(said), "{said:?} is missing in {sentence:?}");
    }
}

#[test]
fn a_target_that_answers_all_has_answered_to_the_end() {
    check(&open(100, 5.0, |_, _| Some((0.01, OK))), Conduct::Answered, 0, &["answered to the end"]);
}

/// Their users wait long after all others were answered, and that says nothing of the target.
#[test]
fn requests_that_are_lost_are_no_silence() {
    let lost = open(100, 5.0, |n, _| (!(100..102).contains(&n)).then_some((0.002, OK)));
    check(
        &lost,
        Conduct::Flawed,
        0,
        &[
            "answered to the end, but lost 2 of 500 requests, begun at 1.00–1.01 s: no whole answer in up to 5.00 s",
        ],
    );
    let late = open(100, 5.0, |n, _| Some((if n % 200 == 150 { 4.0 } else { 0.002 }, OK)));
    check(&late, Conduct::Flawed, 0, &["lost 1 of 500 requests, begun at 3.50 s"]);
    // From one in a hundred on it has failed, and still answered to the end.
    let more = open(100, 5.0, |n, _| (n % 100 != 99).then_some((0.002, OK)));
    check(&more, Conduct::Failed, 3, &["failed: lost 5 of 500 requests, begun at 0.99–4.99 s"]);
}

/// Two users hang until their time runs out, and nothing else was to be asked.
#[test]
fn nothing_is_silent_once_nothing_is_due() {
    let mut case = closed(2, 31.0, |user, due| match due {
        due if due < 1.0 => Some((0.004, OK)),
        _ => Some((30.0 - f64::from(user) * 0.001, TIMEOUT)),
    });
    case.requests.retain(|(due, _)| *due < 1.1);
    case.spent_s = Some(1.0);
    check(&case, Conduct::Flawed, 0, &["answered to the end, but lost 2 of "]);
    // The same of a target that hangs while more is to be asked.
    case.spent_s = None;
    check(&case, Conduct::Silent, 1, &["silent from 1.0 s on: nothing came in the 30.0 s after that"]);
}

#[test]
fn a_dead_target_is_silent_whatever_it_did_before() {
    // As an early stall of 2.6 s, after which twice that would have to pass.
    let stalled = |dead_at: f64| {
        open(100, 6.0, move |_, due| {
            let answered = if due < 2.6 { 2.6 - due + 0.001 } else { 0.001 };
            (due < dead_at).then_some((answered, OK))
        })
    };
    check(&stalled(2.7), Conduct::Silent, 1, &["silent from 2.7 s on: nothing came in the 3.3 s after that"]);
    check(&stalled(4.9), Conduct::Silent, 1, &["silent from 4.9 s on", "lost 110 of 600 requests"]);
    // It may have been about to answer.
    let (_, found, sentence, _) = stalled(5.8).judged();
    assert_eq!(found, Conduct::Failed, "{sentence}");
    let users = closed(8, 6.0, |_, due| (due < 1.0).then_some((0.001, OK)));
    check(&users, Conduct::Silent, 1, &["silent from 1.0 s on"]);
    let never = open(100, 2.0, |_, _| None);
    check(
        &never,
        Conduct::NoGoodAnswer,
        1,
        &["no good answer: nothing came from it in 2.0 s", "nothing came from it in 2.0 s"],
    );
}

/// All users wait for the next answer together; no moment of that is a silence.
#[test]
fn a_slow_target_is_not_silent_between_its_answers() {
    for paced_s in [9.1, 10.0, 10.5, 11.9] {
        let case = closed(100, paced_s, |_, _| Some((3.0, OK)));
        let (_, found, sentence, _) = case.judged();
        assert!(!matches!(found, Conduct::Silent | Conduct::NoGoodAnswer), "{paced_s}: {sentence}");
    }
}

/// A silent target is no fault of the generator, whose limit of requests under way is reached for that alone.
#[test]
fn what_a_silent_target_did_not_take_is_not_the_generators_fault() {
    let mut case = open(100, 6.0, |_, due| (due < 1.0).then_some((0.001, OK)));
    case.check.overflow = 300;
    check(&case, Conduct::Silent, 1, &[]);
    let mut slow = open(100, 6.0, |_, _| Some((0.5, OK)));
    slow.check.overflow = 300;
    let (worth, found, _, exit) = slow.judged();
    assert_eq!((worth, found, exit), (Worth::GeneratorBound, Conduct::Answered, 0));
}

/// Late sends are the generator's limit where it was busy, and the machine's doing where it had CPU to spare.
#[test]
fn a_generator_with_time_to_spare_is_no_limit() {
    let worth = |cpu: f64| {
        let mut case = open(100, 6.0, |_, _| Some((0.001, OK)));
        (case.check.worker_cpu, case.check.lateness_p99_us) = (vec![cpu], Some(8_000));
        case.judged().0
    };
    assert_eq!((worth(0.02), worth(0.6)), (Worth::Disturbed, Worth::GeneratorBound));
}

#[test]
fn own_ports_are_never_the_target() {
    let starved = |from: f64| {
        let mut case = open(100, 6.0, move |_, due| Some((0.001, if due < from { OK } else { NO_PORT })));
        (case.check.starved, case.check.no_port) = (1, 1);
        case
    };
    let (worth, found, sentence, exit) = starved(5.0).judged();
    assert_eq!((worth, found, exit), (Worth::GeneratorBound, Conduct::Answered, 0), "{sentence}");
    // Nothing is known against the target, and most of what was wanted did not happen.
    let (worth, found, sentence, exit) = starved(2.0).judged();
    assert_eq!((worth, found, exit), (Worth::GeneratorBound, Conduct::Answered, 1), "{sentence}");
    let (worth, found, sentence, exit) = starved(0.0).judged();
    assert_eq!((worth, found, exit), (Worth::GeneratorBound, Conduct::NotAsked, 1));
    assert!(sentence.contains("none of 600 requests reached it: this machine had no port"), "{sentence}");
}

#[test]
fn what_most_answers_were_comes_first() {
    let bad =
        |of_five: u32| open(100, 5.0, move |n, _| Some((0.001, if n % 5 < of_five { STATUS } else { OK })));
    let verdict = bad(4).verdict();
    assert!(verdict.target.mostly_bad);
    assert_eq!(verdict.target.findings[0].text, "400 of 500 requests got no good answer");
    check(&bad(4), Conduct::Failed, 3, &["answered 400 of 500 requests with status 500, not expected"]);
    assert!(!bad(2).verdict().target.mostly_bad);
    assert_eq!(bad(5).verdict().target.findings[0].text, "not one of 500 requests got a good answer");
    check(
        &bad(5),
        Conduct::NoGoodAnswer,
        1,
        &["no good answer: answered 500 of 500 requests with status 500"],
    );
    let refused = open(100, 5.0, |n, _| Some((0.001, if n % 400 == 5 { REFUSED } else { OK })));
    check(&refused, Conduct::Flawed, 0, &["but refused the connections of 2 of 500 requests"]);
}

#[test]
fn answers_that_fail_a_check_are_bad_where_they_are_not_tolerated() {
    let wrong = |tolerated| {
        let requests = open(100, 5.0, |n, _| Some((0.001, if n % 25 == 0 { WRONG } else { OK })));
        Case { tolerated, ..requests }
    };
    check(&wrong(0.0), Conduct::Failed, 3, &["in 20 of 500 answers a check failed: wrong length"]);
    check(&wrong(0.05), Conduct::Answered, 0, &[]);
    let one = open(1000, 5.0, |n, _| Some((0.001, if n == 7 { WRONG } else { OK })));
    check(&one, Conduct::Failed, 3, &["in 1 of 5000 answers"]);
}

#[test]
fn the_exit_code_follows_from_verdict_and_conditions_alone() {
    let of = |case: &Case, conditions: &[(JudgedNames, bool, bool)]| {
        let judged = |(names, violated, of_failures): &(JudgedNames, bool, bool)| Judged {
            condition: String::new(),
            names: *names,
            value: None,
            at_least: false,
            violated: *violated,
            unevaluated: false,
            of_failures: *of_failures,
        };
        let conditions: Vec<Judged> = conditions.iter().map(judged).collect();
        ExitCode::of(&case.verdict(), &conditions).number()
    };
    let good = open(100, 5.0, |_, _| Some((0.001, OK)));
    let bad = open(100, 5.0, |n, _| Some((0.001, if n % 20 == 0 { STATUS } else { OK })));
    let dead = open(100, 5.0, |_, due| (due < 1.0).then_some((0.001, OK)));
    let kept = false;
    let violated = true;
    let about_failures = true;
    let about_times = false;
    for (case, conditions, exit) in [
        (&good, &[][..], 0),
        (&good, &[(JudgedNames::Required, violated, about_times)], 3),
        (&bad, &[], 3),
        (&bad, &[(JudgedNames::Forbidden, kept, about_times)], 3),
        (&bad, &[(JudgedNames::Forbidden, kept, about_failures)], 0),
        (
            &bad,
            &[(JudgedNames::Required, kept, about_failures), (JudgedNames::Forbidden, violated, about_times)],
            3,
        ),
        (&dead, &[], 1),
        (&dead, &[(JudgedNames::Required, kept, about_failures)], 1),
        (&dead, &[(JudgedNames::Forbidden, violated, about_failures)], 3),
    ] {
        assert_eq!(of(case, conditions), exit, "{conditions:?}");
    }
    let nothing = Case::new(1.0);
    assert_eq!((nothing.judged().0, of(&nothing, &[])), (Worth::NothingSent, 1));
    let mut broken = good;
    broken.check.panics.push("index out of bounds".to_owned());
    assert_eq!((broken.judged().0, of(&broken, &[])), (Worth::BrokenOff, 1));
}

/// Whatever its piece would have been judged to be; what the plan itself ends has its code.
#[test]
fn a_run_that_somebody_ended_is_neither_passed_nor_failed() {
    let exit =
        |result: &crate::RunResult| ExitCode::of_run(result, &result.verdict(&result.measured())).number();
    for outcome in [OK, STATUS] {
        let mut result = open(100, 5.0, |_, _| Some((0.001, outcome))).result();
        assert_ne!(exit(&result), 130);
        result.interrupted = true;
        assert_eq!(exit(&result), 130);
        result.thresholds = vec![Judged {
            condition: "errors>50% for 1s".to_owned(),
            names: JudgedNames::Stop,
            value: Some(1.0),
            at_least: false,
            violated: true,
            unevaluated: false,
            of_failures: true,
        }];
        assert_eq!(exit(&result), 3);
    }
}

#[test]
fn lost_requests_are_told_by_what_they_were() {
    let mut result = open(100, 5.0, |n, _| (n != 100).then_some((0.002, OK))).result();
    let lost = |title: &str| LostRequest { title: title.to_owned(), ..LostRequest::default() };
    result.lost = ["GET /a", "GET /b", "GET /a"].map(lost).to_vec();
    let sentence = result.verdict(&result.measured()).target.sentence();
    assert!(sentence.ends_with("no whole answer in up to 5.00 s (GET /a, GET /b)"), "{sentence}");
}

/// Requests under way at an agent that was lost have an end that nobody knows, so they are not the target's.
#[test]
fn what_a_lost_agent_had_under_way_is_not_the_target_s() {
    let lost = LostAgent { why: "its channel closed".to_owned(), ..LostAgent::default() };
    for (is_lost, conduct, bad) in [(true, Conduct::Answered, 0), (false, Conduct::Flawed, 2)] {
        let mut run = open(100, 10.0, |_, _| Some((0.01, OK))).result();
        run.phases[0].tally.counts.unfinished = 2;
        run.phases[0].tally.counts.requests += 2;
        let agent = AgentUse { lost: is_lost.then(|| lost.clone()), ..AgentUse::default() };
        run.agents.push(agent);
        let verdict = run.verdict(&run.measured());
        assert_eq!((verdict.target.state, verdict.target.bad), (conduct, bad));
        assert_eq!(run.untold(&run.phases[0]), if is_lost { 2 } else { 0 });
    }
}
