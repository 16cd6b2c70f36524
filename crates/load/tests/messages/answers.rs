//! Whose answer a message is, and whether it is a good one.

use crate::peer::Act;
use crate::run::{Case, spot, step};
use measure::{Event, Fault, TimeMetric};
use plan::answer::{Check, Extract, Must};
use plan::message::{Correlation, Message, MessageOrder, MessageStep, Pushed};
use plan::{Arrivals, Pace, Stop};
use std::time::Duration;

#[test]
fn business_failures_are_no_technical_ones() {
    let ran = Case::new(step(), 100).run(|number| match number % 10 {
        3 => Act::Answer("51"),
        4 => Act::Answer("9"),
        _ => Act::Answer("00"),
    });
    let counts = ran.counts();
    assert_eq!((counts.ok, counts.check_failed, counts.failed, counts.connections), (80, 20, 0, 4));
    assert_eq!(ran.faults(), [(Fault::BadCode, 20)]);
    assert_eq!(ran.codes()[..2], [("00".to_owned(), true, 80), ("51".to_owned(), false, 10)]);
    let evidence = ran.events.iter().find_map(|event| match event {
        Event::Evidence(evidence) => Some(evidence),
        _ => None,
    });
    let evidence = evidence.unwrap();
    assert!(evidence.detail.contains("code '51', where one of 00"), "{}", evidence.detail);
    assert!(evidence.request.ends_with("."), "{}", evidence.request);
}

#[test]
fn failure_sets_and_mere_counting() {
    for (must, check_failed) in [(Must::BeNoneOf(vec!["51".into()]), 10), (Must::BeAnything, 0)] {
        let code = Some(Check::of(spot("fixed 1 2"), must));
        let ran = Case::new(MessageStep { code, ..step() }, 100)
            .run(|number| if number % 10 == 3 { Act::Answer("51") } else { Act::Answer("00") });
        assert_eq!((ran.counts().check_failed, ran.counts().ok), (check_failed, 100 - check_failed));
        assert_eq!(ran.codes().len(), 2);
    }
    let code = Some(Check::of(spot("tag <none>"), Must::BeOneOf(vec!["00".into()])));
    let ran = Case::new(MessageStep { code, ..step() }, 10).run(|_| Act::Answer("00"));
    assert_eq!((ran.faults(), ran.codes()), (vec![(Fault::NoCode, 10)], vec![(String::new(), false, 10)]));
}

#[test]
fn an_answer_may_come_in_any_pieces() {
    for size in 1..=8 {
        for pipeline in [1, 4] {
            let ran = Case::new(MessageStep { pipeline, ..step() }, 24).run(move |_| Act::Pieces(size));
            assert_eq!(ran.counts().ok, 24, "{size} {pipeline}: {:?}", ran.counts());
        }
    }
}

fn correlated(pipeline: u32) -> MessageStep {
    let correlation =
        Some(Correlation { request: spot("regex ^(\\d+)\\."), answer: spot("regex ^00(\\d+)\\.") });
    MessageStep { pipeline, correlation, ..step() }
}

#[test]
fn answers_find_their_requests_in_any_order() {
    let case = Case { pace: Pace::Users(1), ..Case::new(correlated(5), 100) };
    let ran = case.run(|_| Act::Reverse(5));
    let counts = ran.counts();
    assert_eq!((counts.ok, counts.pushed, counts.failed, counts.connections), (100, 0, 0, 1));
}

/// The peer waits for eight requests before it answers, so each that is due must go out while its user waits for answers.
#[test]
fn at_an_open_pace_requests_go_out_while_others_are_under_way() {
    let pace = Pace::Rate { per_second: 10_000.0, arrivals: Arrivals::Even, in_flight: 8 };
    let case = Case { pace: pace.clone(), ..Case::new(correlated(8), 80) };
    let ran = case.run(|_| Act::Reverse(8));
    let counts = ran.counts();
    assert_eq!((counts.ok, counts.failed, counts.connections), (80, 0, 1), "{counts:?}");
    assert_eq!(ran.tally.metric(TimeMetric::Lateness).len(), 80);

    // Three at once over one connection, and seven over all: two connections with three, and one with one.
    let Pace::Rate { per_second, arrivals, .. } = pace else { unreachable!() };
    let pace = Pace::Rate { per_second, arrivals, in_flight: 7 };
    let counts = Case { pace, ..Case::new(correlated(3), 60) }.run(|_| Act::Answer("00")).counts();
    assert_eq!((counts.ok, counts.failed, counts.connections), (60, 0, 3), "{counts:?}");
}

/// As many as the plan allows, and no more, however they divide among connections.
#[test]
fn at_an_open_pace_as_many_are_under_way_as_may_be() {
    for (in_flight, pipeline) in [(7, 3), (6, 3), (2, 5), (4, 1)] {
        let pace = Pace::Rate { per_second: 500.0, arrivals: Arrivals::Even, in_flight };
        let stop = Stop { after: Some(Duration::from_millis(100)), ..Stop::default() };
        let request_limit = Duration::from_secs(30);
        let case = Case { pace, stop, request_limit, ..Case::new(MessageStep { pipeline, ..step() }, 0) };
        let counts = case.run(|_| Act::Silence).counts();
        let text = format!("{in_flight} {pipeline}: {counts:?}");
        assert_eq!((counts.requests, counts.requests + counts.overflow), (in_flight.into(), 50), "{text}");
    }
}

/// Requests handed to a user fail or are left with those under way, each once.
#[test]
fn at_an_open_pace_each_request_ends_once_whatever_its_connection_does() {
    let pace = Pace::Rate { per_second: 2_000.0, arrivals: Arrivals::Bursts(5), in_flight: 20 };
    for act in [Act::Close, Act::Reset, Act::Cut, Act::Garbage, Act::AnswerThenClose] {
        let case = Case { pace: pace.clone(), ..Case::new(MessageStep { pipeline: 4, ..step() }, 200) };
        let ran = case.run(move |number| if number % 7 == 6 { act } else { Act::Answer("00") });
        let counts = ran.counts();
        assert_eq!((counts.requests, counts.unfinished), (200, 0), "{act:?}: {counts:?}");
        assert_eq!(counts.ok + counts.failed, 200, "{act:?}: {counts:?}");
        assert!(counts.ok > 0 && counts.failed > 0, "{act:?}: {counts:?}");
    }
}

#[test]
fn an_answer_of_nobodys_is_skipped_and_its_request_times_out() {
    let rule = Correlation { request: spot("fixed 1 1"), answer: spot("fixed 2 1") };
    // The answers hold their code's second digit where the number is looked for.
    let step = MessageStep { correlation: Some(rule), ..step() };
    let case = Case { pace: Pace::Users(1), ..Case::new(step, 2) };
    let counts = case.run(|_| Act::Answer("0x")).counts();
    assert_eq!((counts.pushed, counts.failed, counts.ok), (2, 2, 0), "{counts:?}");
}

#[test]
fn pushed_messages_are_counted_and_skipped() {
    let pushed = Some(Pushed { at: spot("fixed 1 4"), is: vec!["push".into()] });
    for act in [Act::PushBefore, Act::PushBehind] {
        for pipeline in [1, 4] {
            let step = MessageStep { pushed: pushed.clone(), pipeline, ..step() };
            let counts = Case::new(step, 100).run(move |_| act).counts();
            assert_eq!((counts.ok, counts.check_failed, counts.failed), (100, 0, 0), "{act:?} {pipeline}");
            // The last ones may come after the end.
            assert!((90..=100).contains(&counts.pushed), "{act:?} {pipeline}: {counts:?}");
        }
    }
    // Without a rule, what comes when nobody waits is nobody's answer.
    let counts = Case::new(step(), 40).run(|_| Act::PushBehind).counts();
    assert_eq!((counts.ok, counts.pushed), (40, 40), "{counts:?}");
}

/// A message that begins while nothing is under way answers nothing, whether or not a rule says so, and wherever it is cut.
#[test]
fn a_message_over_an_idle_connection_is_nobodys_answer() {
    for act in [Act::PushLater, Act::PushHalf] {
        let think = plan::Delay::Fixed { delay: Duration::from_millis(20) };
        let pace = Pace::Thinking { users: 1, think };
        let counts = Case { pace, ..Case::new(step(), 12) }.run(move |_| act).counts();
        assert_eq!((counts.ok, counts.check_failed, counts.failed), (12, 0, 0), "{act:?}: {counts:?}");
        // The last one comes after the end.
        assert_eq!((counts.pushed, counts.connections), (11, 1), "{act:?}: {counts:?}");
    }
    // What is no message at all harms nobody either: the connection is replaced.
    let idle = |number: u64| if number == 3 { Act::GarbageLater } else { Act::Answer("00") };
    let pace = Pace::Thinking { users: 1, think: plan::Delay::Fixed { delay: Duration::from_millis(20) } };
    let counts = Case { pace, ..Case::new(step(), 12) }.run(idle).counts();
    assert_eq!(
        (counts.ok, counts.connections, counts.stray, counts.stray_bytes),
        (12, 2, 1, 4),
        "{counts:?}"
    );
}

#[test]
fn sequences_take_values_and_begin_anew_after_a_failure() {
    let first = Message {
        extract: vec![Extract::of("number", spot("regex ^..a(\\d+)"), None)],
        ..Message::of("a{{request}}")
    };
    let messages = vec![first, Message::of("b{{number}}-{{request}}")];
    let sequence = MessageStep { messages, order: MessageOrder::Sequence, ..step() };
    let case = Case { pace: Pace::Users(1), ..Case::new(sequence.clone(), 10) };
    let check = plan::Check { evidence: 100, ..plan::Check::default() };
    let ran = Case { check, ..case }.run(|number| Act::Answer(if number % 4 == 3 { "51" } else { "00" }));
    let asked: Vec<&str> = ran
        .events
        .iter()
        .filter_map(|event| match event {
            Event::Evidence(evidence) => Some(&evidence.request[4..]),
            _ => None,
        })
        .collect();
    // Requests 0 and 1 are the first pair, 2 and 3 the next; each second answer of that one is a failure.
    assert_eq!(asked, ["b2-3", "b6-7"]);
    let stop = Stop { turns_per_user: Some(4), ..Stop::default() };
    let turns = Case { stop, ..Case::new(sequence, 0) }.run(|_| Act::Answer("00"));
    assert_eq!(turns.counts().ok, 16);
}

#[test]
fn weights_share_out() {
    let messages =
        [(3, "a"), (1, "b"), (0, "c")].map(|(weight, text)| Message { weight, ..Message::of(text) });
    let code = Some(Check::of(spot("fixed 3 1"), Must::BeAnything));
    let step = MessageStep { messages: messages.to_vec(), order: MessageOrder::Weighted, code, ..step() };
    let ran = Case::new(step, 2_000).run(|_| Act::Answer("00"));
    let codes = ran.codes();
    let count = |text: &str| codes.iter().find(|(code, ..)| code == text).map_or(0, |(.., count)| *count);
    assert_eq!(count("a") + count("b"), 2_000, "{codes:?}");
    assert!((400..600).contains(&count("b")), "{codes:?}");
}
