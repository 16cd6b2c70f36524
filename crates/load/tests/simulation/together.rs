//! Users in several places at once: how long that takes, what they know there, and how it ends.

use crate::server::{Move, Script, answer};
use crate::world::{Case, Ran, Server, phase};
use net::Faults;
use plan::{
    Delay, Flow, Loop, OnFailure, Pace, Phase, Redirects, Request, RequestStep, Scenario, Sequence, Session,
    Set, Step, Stop, Together,
};
use std::time::Duration;

/// Time that the server takes for an answer.
const EACH: Duration = Duration::from_millis(100);

fn get(path: &str) -> Step {
    let requests = vec![Request::get(&format!("http://server{path}"))];
    Step::Requests(RequestStep { requests: requests.into(), templates: true, ..RequestStep::default() })
}

fn sequence(steps: Vec<Step>) -> Step {
    Step::Sequence(Sequence { name: String::new(), steps })
}

fn together(at_once: u32, steps: Vec<Step>) -> Step {
    Step::Together(Together { at_once, steps })
}

fn once() -> Stop {
    Stop { turns_per_user: Some(1), ..Stop::default() }
}

/// A run that has ended, and the requests that the server had: when, and for which path.
struct Seen {
    ran: Ran,
    seen: Vec<(Duration, String)>,
}

impl Seen {
    /// The paths, ordered by themselves: which of several at once comes first is nobody's concern.
    fn paths(&self) -> String {
        let mut paths: Vec<&str> = self.seen.iter().map(|(_, path)| path.as_str()).collect();
        paths.sort_unstable();
        paths.join(" ")
    }
}

/// A case of one user, whose server answers after a while; a path that begins with `/bad` has a bad answer, and `/to` leads on.
fn case(scenario: Scenario, stop: Stop) -> (Case, crate::server::Seen) {
    let seen = crate::server::Seen::default();
    let moves = {
        let seen = seen.clone();
        move |_| {
            let (_, path) = seen.borrow().last().cloned().expect("this request");
            let bytes = match path.as_str() {
                path if path.starts_with("/bad") => {
                    b"HTTP/1.1 500 Broken\r\nContent-Length: 0\r\n\r\n".to_vec()
                }
                path if path.starts_with("/to") => {
                    format!("HTTP/1.1 302 Found\r\nLocation: {}\r\nContent-Length: 0\r\n\r\n", &path[3..])
                        .into_bytes()
                }
                _ => answer(b"page"),
            };
            vec![Move::Wait(EACH), Move::Send(bytes)]
        }
    };
    let script = Script { seen: Some(seen.clone()), ..Script::new(moves) };
    let phase = Phase { scenario, ..phase(get("/"), Pace::Users(1), stop) };
    let mut case = Case::new(vec![phase], Server::Script(script));
    case.load.limits.request = Duration::from_secs(1);
    (case, seen)
}

fn run(scenario: Scenario, stop: Stop) -> Seen {
    let (case, seen) = case(scenario, stop);
    let ran = case.run();
    let counts = ran.counts();
    let ended = counts.ok + counts.check_failed + counts.aborted + counts.failed + counts.unfinished;
    assert_eq!((counts.requests, ran.left), (ended, 0), "{counts:?}");
    assert_eq!((ran.then.open_sockets, ran.then.buffers_outstanding), (1, 0), "the listener is left");
    Seen { ran, seen: seen.take() }
}

/// Runs the steps of one walk.
fn walk(steps: Vec<Step>) -> Seen {
    run(Scenario::of(steps), once())
}

#[test]
fn children_last_as_long_as_the_longest_row_of_them() {
    for (at_once, times) in [(0, 1), (3, 1), (9, 1), (2, 2), (1, 3)] {
        let seen = walk(vec![together(at_once, ["/a", "/b", "/c"].map(get).to_vec())]);
        assert_eq!(seen.paths(), "/a /b /c", "{at_once} at once");
        let most = EACH * times + Duration::from_millis(20);
        let took = seen.ran.took;
        assert!((EACH * times..most).contains(&took), "{at_once} at once: {took:?}");
    }
}

#[test]
fn connections_of_branches_are_kept_for_the_next_time() {
    let looped = Loop::times(5, vec![together(0, ["/a", "/b"].map(get).to_vec())]);
    let seen = walk(vec![Step::Loop(looped)]);
    let counts = seen.ran.counts();
    assert_eq!((counts.ok, counts.connections), (10, 2), "{counts:?}");
}

#[test]
fn values_of_a_branch_are_known_behind_it_and_not_beside_it() {
    let set = |value: &str| Step::Set(Set::of("x", value));
    let first = sequence(vec![set("first"), get("/a/{{x}}")]);
    let second = sequence(vec![get("/b/{{x}}"), get("/c/{{x}}")]);
    let variables = vec![Set::of("x", "before")];
    let steps = vec![together(0, vec![first.clone(), second.clone()]), get("/d/{{x}}")];
    let seen = run(Scenario { variables: variables.clone(), ..Scenario::of(steps) }, once());
    assert_eq!(seen.paths(), "/a/first /b/before /c/before /d/first");
    // Where two change a value, the later one in the plan counts, whichever ends first.
    let third = sequence(vec![set("third")]);
    for (branches, last) in [(vec![first.clone(), third.clone()], "third"), (vec![third, first], "first")] {
        let steps = vec![together(0, branches), get("/d/{{x}}")];
        let seen = run(Scenario { variables: variables.clone(), ..Scenario::of(steps) }, once());
        assert_eq!(seen.paths(), format!("/a/first /d/{last}"));
    }
}

#[test]
fn a_branch_that_fails_ends_by_itself_and_then_the_walk() {
    let bad = || sequence(vec![get("/bad"), get("/never")]);
    let good = || sequence(vec![get("/a"), get("/b")]);
    let steps = || vec![together(0, vec![bad(), good()]), get("/behind")];
    let usual = walk(steps());
    assert_eq!(usual.paths(), "/a /b /bad");
    let counts = usual.ran.counts();
    assert_eq!((counts.ok, counts.failed), (2, 1), "{counts:?}");
    let goes_on = Scenario { on_failure: OnFailure::Continue, ..Scenario::of(steps()) };
    assert_eq!(run(goes_on, once()).paths(), "/a /b /bad /behind /never");
}

#[test]
fn a_branch_breaks_the_loop_around_when_the_others_have_ended() {
    let breaks = sequence(vec![get("/a"), Step::Flow(Flow::BreakLoop), get("/never")]);
    let others = sequence(vec![get("/b"), get("/c")]);
    let looped = Loop::times(3, vec![together(0, vec![breaks, others]), get("/not")]);
    let seen = walk(vec![Step::Loop(looped), get("/d")]);
    assert_eq!(seen.paths(), "/a /b /c /d");
    let (at, last) = seen.seen.last().expect("four requests");
    assert!(last == "/d" && *at >= EACH * 2, "{at:?} {last}");
}

#[test]
fn a_phase_that_ends_ends_all_branches() {
    let looped = |path: &str| Step::Loop(Loop { steps: vec![get(path)], ..Loop::default() });
    let pauses = Step::Pause(Delay::Fixed { delay: Duration::from_secs(60) });
    let branches = vec![looped("/a"), looped("/b"), sequence(vec![pauses, get("/never")])];
    let stop = Stop { after: Some(EACH * 5 / 2), ..Stop::default() };
    let seen = run(Scenario::of(vec![together(0, branches)]), stop);
    assert_eq!(seen.paths(), "/a /a /a /b /b /b");
    let took = seen.ran.took;
    assert!((EACH * 5 / 2..EACH * 4).contains(&took), "{took:?}");
    // What ends the run ends the others too, at their next step.
    let stops = sequence(vec![get("/a"), Step::Flow(Flow::StopRun)]);
    let seen = walk(vec![together(0, vec![stops, looped("/b")]), get("/never")]);
    assert!(seen.seen.len() <= 4 && !seen.paths().contains("never"), "{}", seen.paths());
}

#[test]
fn branches_of_a_user_with_a_memory_follow_where_answers_lead() {
    let session = Session { cookies: true, redirects: Some(Redirects::default()), ..Session::default() };
    let led = |path: &str| {
        let requests = vec![Request::get(&format!("http://server{path}"))];
        let session = session.clone();
        Step::Requests(RequestStep { requests: requests.into(), session, ..RequestStep::default() })
    };
    let seen = walk(vec![together(0, ["/to/a", "/to/b"].map(led).to_vec()), led("/c")]);
    assert_eq!(seen.paths(), "/a /b /c /to/a /to/b");
    assert!(seen.ran.took < EACH * 4, "{:?}", seen.ran.took);
}

#[test]
fn a_seed_repeats_what_branches_do() {
    let of_seed = |seed: u64| {
        let delay = Delay::Uniform { min: Duration::ZERO, max: Duration::from_millis(300) };
        let branch =
            |path: &str| sequence(vec![Step::Pause(delay), get(&format!("{path}/{{{{int:1..1000000}}}}"))]);
        let branches = ["/a", "/b", "/c"].map(branch).to_vec();
        let steps = vec![Step::Loop(Loop::times(4, vec![together(2, branches)]))];
        let (mut case, seen) = case(Scenario::of(steps), once());
        case.load.phases[0].pace = Pace::Users(3);
        (case.seed, case.faults) = (seed, Faults { delay: (EACH / 100, EACH / 10), ..Faults::default() });
        case.run();
        seen.take()
    };
    let [first, again, other] = [3, 3, 4].map(of_seed);
    assert_eq!(first.len(), 3 * 4 * 3);
    assert_eq!(first, again);
    assert_ne!(first, other);
}
