//! Plans of all kinds, drawn.

use plan::answer::{By, Check, Extract, Must, Part, Selector, Take, Which};
use plan::message::Framing;
use plan::{
    Amount, Arrivals, Barrier, Body, Branch, Choice, ChoiceBy, Code, CounterStep, Delay, Expect, Expression,
    Feed, FeedEnd, Field, Flow, ForEach, Group, HttpVersion, If, Load, Loop, OnFailure, Origin, Pace,
    Percent, Phase, Plan, Request, RequestStep, Rhythm, Scenario, ScenarioLog, Scope, Secret, Sequence, Set,
    Share, Site, Stage, Status, Step, Stop, Tcp, Transaction, UserRow,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use std::time::Duration;

/// A plan with one request.
pub fn example() -> Plan {
    with_phases(7, vec![phase("main", vec![requests(vec![Request::get("http://h/")])], Pace::Users(1))])
}

fn with_phases(seed: u64, phases: Vec<Phase>) -> Plan {
    let load = Load {
        stop_if: vec![plan::StopIf::parse("errors>50% for 60s").unwrap()],
        protocol: plan::Protocol::default(),
        phases,
        ..Load::default()
    };
    Plan {
        version: Plan::VERSION,
        seed,
        threads: None,
        io: plan::Io::Auto,
        site: Site::default(),
        load: Some(load),
        origin: None,
    }
}

fn phase(name: &str, steps: Vec<Step>, pace: Pace) -> Phase {
    Phase {
        name: name.to_owned(),
        measured: true,
        scenario: Scenario::of(steps),
        pace,
        stop: Stop::default(),
        ..Phase::default()
    }
}

fn requests(list: Vec<Request>) -> Step {
    Step::Requests(RequestStep { requests: list.into(), ..RequestStep::default() })
}

/// Texts that a form might take for something else.
fn text() -> impl Strategy<Value = String> {
    let odd = prop::sample::select(vec![
        "",
        "true",
        "null",
        "~",
        "1",
        "-1",
        "1e3",
        ".5",
        "0x1F",
        "no",
        "- a",
        "a: b",
        "#x",
        " x ",
        "\n",
        "a\nb\n",
        "\t",
        "'",
        "\"",
        "\\",
        "{{x}}",
        "${x}",
        "$${",
        "[a]",
        "{a}",
        "*a",
        "&a",
        "!a",
        "|",
        ">",
        "%",
        "@",
        "`",
        "\u{85}",
        "\u{2028}",
        "\u{feff}",
        "\u{0}\u{7f}",
        "\u{1F600}",
        "2026-11-22",
        "---",
        "...",
        "a #b",
        "a:",
        "\r\n",
    ]);
    prop_oneof![odd.prop_map(str::to_owned), any::<String>(), "[a-z_]{1,8}"]
}

fn name() -> impl Strategy<Value = String> {
    "[a-z][a-z0-9_]{0,8}"
}

fn time() -> impl Strategy<Value = Duration> {
    prop_oneof![
        (0..10_000_000u64).prop_map(Duration::from_micros),
        (0..10_000u64).prop_map(Duration::from_secs)
    ]
}

fn body() -> impl Strategy<Value = Body> {
    prop_oneof![
        text().prop_map(Body::from),
        vec(any::<u8>(), 0..20).prop_map(Body::from),
        name().prop_map(|name| Secret::environment(&name).into()),
    ]
}

fn expression() -> impl Strategy<Value = Expression> {
    prop_oneof![text().prop_map(Expression), Just(Expression::from("last.status == 200 and length(id) > 3")),]
}

fn by() -> impl Strategy<Value = By> {
    prop_oneof![
        (any::<u32>(), any::<u32>(), any::<bool>()).prop_map(|(at, length, text)| By::Fixed {
            at,
            length,
            text
        }),
        text().prop_map(By::Json),
        text().prop_map(By::Regex),
        (body(), body()).prop_map(|(before, after)| By::Between { before, after }),
        text().prop_map(By::JmesPath),
        text().prop_map(By::Header),
        Just(By::Status),
        (text(), option::of(text())).prop_map(|(selector, attribute)| By::Css { selector, attribute }),
        (text(), any::<bool>()).prop_map(|(path, html)| By::XPath { path, html, take: Take::FirstText }),
        (name(), text()).prop_map(|(name, path)| By::Kept { name, by: Box::new(By::JsonPath(path)) }),
    ]
}

fn selector() -> impl Strategy<Value = Selector> {
    let part = prop::sample::select(vec![Part::Body, Part::Head, Part::Whole, Part::Url]);
    (part, by()).prop_map(|(part, by)| Selector { part, by })
}

fn must() -> impl Strategy<Value = Must> {
    let leaf = prop_oneof![
        Just(Must::Exist),
        body().prop_map(Must::Equal),
        text().prop_map(Must::Match),
        vec(body(), 0..3).prop_map(Must::BeOneOf),
        (any::<u32>(), any::<u32>())
            .prop_map(|(min, max)| Must::HaveLength { min: min.into(), max: max.into() }),
    ];
    leaf.prop_recursive(2, 6, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|must| Must::Not(Box::new(must))),
            vec(inner, 0..3).prop_map(Must::AllOf),
        ]
    })
}

fn extract() -> impl Strategy<Value = Extract> {
    let which = prop_oneof![Just(Which::First), (1..9u32).prop_map(Which::Nth), Just(Which::Every)];
    (name(), selector(), option::of(body()), any::<bool>(), which, text(), any::<bool>()).prop_map(
        |(name, at, otherwise, optional, which, template, groups)| Extract {
            optional,
            which,
            template,
            groups,
            ..Extract::of(&name, at, otherwise)
        },
    )
}

fn tcp() -> impl Strategy<Value = Tcp> {
    let framing = || {
        let named = ["lines", "raw", "close", "binary:2", "delimiter:;", "fixed:7", "ascii:4,total"];
        prop::sample::select(named.to_vec()).prop_map(|text| Framing::parse(text).unwrap())
    };
    (framing(), framing(), any::<bool>(), any::<bool>(), any::<u32>()).prop_map(
        |(framing, answers, hex, close, longest_answer)| Tcp { framing, answers, hex, close, longest_answer },
    )
}

fn request() -> impl Strategy<Value = Request> {
    let field =
        (prop::sample::select(vec!["X-A", "Accept", "Cookie"]), text()).prop_map(|(name, text)| match name {
            // A field whose value is nobody's business names it.
            "Cookie" => Field::new(name, plan::FieldValue::secret(Secret::environment("COOKIE"))),
            _ => Field::new(name, text),
        });
    let status = prop_oneof![(100..600u16).prop_map(Status::Is), (1..6u16).prop_map(Status::Class)];
    let texts = (text(), text(), text());
    (texts, vec(field, 0..3), body(), vec(status, 0..2), vec(extract(), 0..2), 1..9u32, option::of(tcp()))
        .prop_map(|((method, url, name), fields, body, statuses, extract, weight, tcp)| Request {
            tcp,
            method,
            fields,
            body,
            statuses,
            extract,
            name,
            weight,
            url,
            ..Request::get("http://h/")
        })
}

fn scope() -> impl Strategy<Value = Scope> {
    prop::sample::select(vec![Scope::User, Scope::Group, Scope::All])
}

fn leaf() -> impl Strategy<Value = Step> {
    let check = || (selector(), must()).prop_map(|(at, must)| Check::of(at, must));
    let sent = (vec(request(), 0..3), vec(check(), 0..2), any::<bool>(), any::<bool>()).prop_map(
        |(list, checks, templates, decode)| {
            let expect = Expect { checks, decode, ..Expect::default() };
            Step::Requests(RequestStep { requests: list.into(), templates, expect, ..RequestStep::default() })
        },
    );
    let pause = prop_oneof![
        time().prop_map(|delay| Delay::Fixed { delay }),
        (time(), time()).prop_map(|(min, max)| Delay::Uniform { min, max }),
        (time(), 0.0..3.0).prop_map(|(median, sigma)| Delay::Lognormal { median, sigma }),
    ];
    let counter = (name(), any::<i64>(), any::<i64>(), option::of(any::<i64>()), scope(), 0..9u8).prop_map(
        |(name, start, step, end, of, digits)| {
            Step::Counter(CounterStep { name, start, step, end, of, digits, each_iteration: false })
        },
    );
    let feed =
        (text(), vec(name(), 0..3), text(), body(), scope()).prop_map(|(file, names, delimiter, end, of)| {
            Step::Feed(Feed {
                file,
                names,
                delimiter,
                quotes: true,
                header: false,
                end: FeedEnd::Value(end),
                of,
            })
        });
    let stage =
        prop::sample::select(vec!["10s:1..20", "5s:3"]).prop_map(|text| text.parse::<Stage>().unwrap());
    let rhythm = (option::of(0.1..1e4), vec(stage, 0..2), scope()).prop_map(|(per_second, stages, of)| {
        Step::Rhythm(Rhythm { per_second, stages, of, how: Default::default() })
    });
    prop_oneof![
        3 => sent,
        1 => pause.prop_map(Step::Pause),
        1 => expression().prop_map(Step::Wait),
        1 => (name(), any::<u32>(), option::of(time()))
            .prop_map(|(name, users, timeout)| Step::Barrier(Barrier { name, users, timeout })),
        1 => (name(), body(), option::of(expression()))
            .prop_map(|(name, value, expression)| Step::Set(Set { name, value, expression })),
        1 => counter,
        1 => feed,
        1 => rhythm,
        1 => extract().prop_map(Step::Extract),
        1 => check().prop_map(Step::Check),
        1 => (text(), text()).prop_map(|(language, text)| Step::Code(Code { language, text, ..Code::default() })),
        1 => body().prop_map(|text| Step::Log(ScenarioLog { text })),
        1 => prop::sample::select(vec![Flow::NextRound, Flow::StopUser, Flow::StopNow]).prop_map(Step::Flow),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    leaf().prop_recursive(3, 12, 3, |inner| {
        let steps = || vec(inner.clone(), 0..3);
        let amount = || {
            prop_oneof![
                any::<u32>().prop_map(|n| Amount::Number(n.into())),
                expression().prop_map(Amount::Computed)
            ]
        };
        let times = amount();
        let each = (name(), name(), amount(), option::of(amount()), any::<bool>()).prop_map(
            |(list, into, skip, last, no_underscore)| ForEach { list, into, skip, last, no_underscore },
        );
        let branch =
            (text(), 0..9u32, steps()).prop_map(|(name, weight, steps)| Branch { name, weight, steps });
        let by = prop_oneof![
            Just(ChoiceBy::Weight),
            Just(ChoiceBy::WeightedTurn),
            Just(ChoiceBy::Shuffle),
            body().prop_map(ChoiceBy::Switch)
        ];
        prop_oneof![
            (text(), steps()).prop_map(|(name, steps)| Step::Sequence(Sequence { name, steps })),
            (option::of(times), option::of(expression()), option::of(each), option::of(time()), steps())
                .prop_map(|(times, goes_on, each, lasts, steps)| {
                    Step::Loop(Loop { times, goes_on, each, lasts, steps, ..Loop::default() })
                }),
            (expression(), any::<bool>(), steps(), steps()).prop_map(
                |(condition, before_each, steps, otherwise)| {
                    Step::If(If { condition, before_each, steps, otherwise })
                }
            ),
            (by, vec(branch, 0..3)).prop_map(|(by, branches)| Step::Choice(Choice { by, branches })),
            (option::of(0.0..100.0), option::of(amount()), scope(), steps()).prop_map(
                |(percent, times, of, steps)| {
                    let percent = percent.map(Percent::Number);
                    Step::Share(Share { percent, times, of, steps })
                }
            ),
            (text(), any::<bool>(), steps()).prop_map(|(name, pauses, steps)| {
                Step::Transaction(Transaction { pauses, ..Transaction::of(&name, steps) })
            }),
        ]
    })
}

fn pace() -> impl Strategy<Value = Pace> {
    let row = (any::<u32>(), time(), time(), option::of(time()), time(), option::of(0..9u64)).prop_map(
        |(users, delay, ramp, hold, ramp_down, turns)| UserRow { users, delay, ramp, hold, ramp_down, turns },
    );
    let arrivals =
        prop_oneof![Just(Arrivals::Even), Just(Arrivals::Poisson), (1..99u32).prop_map(Arrivals::Bursts)];
    prop_oneof![
        any::<u32>().prop_map(Pace::Users),
        (any::<u32>(), time())
            .prop_map(|(users, delay)| Pace::Thinking { users, think: Delay::Fixed { delay } }),
        (0.001..1e6, arrivals, any::<u32>()).prop_map(|(per_second, arrivals, in_flight)| Pace::Rate {
            per_second,
            arrivals,
            in_flight
        }),
        (any::<u32>(), 1..9u32, vec(time(), 1..4)).prop_map(|(users, share, at)| Pace::Moments {
            users,
            share,
            at
        }),
        (any::<u32>(), vec(vec(0..1_000_000u64, 1..4), 1..4))
            .prop_map(|(users, walks)| Pace::Walks { users, walks: plan::Walks::new(walks) }),
        vec(row, 1..3).prop_map(Pace::Ramps),
    ]
}

fn stop() -> impl Strategy<Value = Stop> {
    (option::of(time()), option::of(0..1_000_000u64), option::of(0..100u64)).prop_map(
        |(after, requests, turns_per_user)| Stop { after, requests, turns_per_user, ..Stop::default() },
    )
}

fn scenario() -> impl Strategy<Value = Scenario> {
    let set = (name(), body()).prop_map(|(name, value)| Set { name, value, expression: None });
    let on_failure =
        prop::sample::select(vec![OnFailure::Continue, OnFailure::NextIteration, OnFailure::StopRun]);
    (vec(step(), 0..4), vec(set, 0..2), on_failure).prop_map(|(steps, variables, on_failure)| Scenario {
        steps,
        variables,
        on_failure,
        ..Scenario::default()
    })
}

/// A plan that says all kinds of things, whether they can be run or not.
pub fn plan() -> impl Strategy<Value = Plan> {
    let share = option::of(0.0..1.0);
    let http =
        || vec(prop::sample::select(vec![HttpVersion::One, HttpVersion::Two, HttpVersion::Three]), 0..3);
    let group = (text(), scenario(), pace(), stop(), share, time(), http()).prop_map(
        |(name, scenario, pace, stop, share, start, http)| Group {
            name,
            scenario,
            pace,
            stop,
            share,
            start,
            http,
        },
    );
    let one = (text(), scenario(), pace(), stop(), vec(group, 0..2), any::<bool>(), http()).prop_map(
        |(name, scenario, pace, stop, groups, always, http)| Phase {
            scenario,
            stop,
            groups,
            always,
            http,
            ..phase(&name, Vec::new(), pace)
        },
    );
    let origin = option::of(text().prop_map(|listen| Origin { listen, ..Origin::default() }));
    (0..=i64::MAX as u64, vec(one, 0..2), origin)
        .prop_map(|(seed, phases, origin)| Plan { origin, ..with_phases(seed, phases) })
}
