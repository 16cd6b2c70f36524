//! Violations of plans, and that sound plans have none.

use crate::load::http::{Http, Http1, Http1Version};
use crate::load::{Load, Origin, Phase, Protocol};
use crate::pace::delay::Delay;
use crate::pace::stop::Stop;
use crate::pace::{Arrivals, Pace, Stage};
use crate::request::field::Field;
use crate::scenario::{ObjectStep, RequestStep, Scenario, Sequence, Step, Together};
use crate::site::popularity::Popularity;
use crate::site::{Lifetime, Site};
use crate::{Plan, Request};
use std::time::Duration;

fn plan() -> Plan {
    let step = ObjectStep { popularity: Popularity::default(), ..ObjectStep::default() };
    let phase = Phase {
        name: "measure".to_owned(),
        measured: true,
        scenario: Scenario::of(vec![Step::Object(step)]),
        pace: Pace::Users(10),
        stop: Stop::default(),
        ..Phase::default()
    };
    let load = Load {
        target: Some("localhost:8080".to_owned()),
        protocol: Protocol::default(),
        phases: vec![phase],
        ..Load::default()
    };
    let origin = Some(Origin::default());
    Plan {
        version: 1,
        seed: 7,
        threads: None,
        io: crate::Io::Auto,
        site: Site::default(),
        load: Some(load),
        origin,
    }
}

#[test]
fn connections_are_opened_beforehand_where_users_have_some_to_themselves() {
    let found = |preconnect, change: &dyn Fn(&mut Phase)| {
        let mut plan = plan();
        let phase = &mut plan.load.as_mut().unwrap().phases[0];
        phase.preconnect = Some(preconnect);
        change(phase);
        plan.check().join("\n")
    };
    let versions = |phase: &mut Phase| phase.http = vec![crate::HttpVersion::One, crate::HttpVersion::Two];
    let connections = |phase: &mut Phase| {
        phase.pace = Pace::Connections { per_second: 1.0, arrivals: Arrivals::Even, in_flight: 10 };
    };
    assert_eq!(found(10, &|_| {}), "");
    assert!(found(11, &|_| {}).contains("preconnect is 11, but at most 10 connections"));
    assert!(
        found(1, &versions).contains("have to themselves") && !found(0, &versions).contains("preconnect")
    );
    assert!(found(1, &connections).contains("opened when they are due"));
}

#[test]
fn a_sound_plan_has_no_violation_and_reads_back() {
    assert_eq!(plan().check(), Vec::<String>::new());
    assert_eq!(Plan::from_text(&plan().to_text()).unwrap(), plan());
}

#[test]
fn contents_are_kept_of_journeys_whose_requests_are_told() {
    use crate::load::KeptContents;
    let found = |requests: bool, contents: KeptContents, values: &[&str], journey: bool| {
        let mut plan = plan();
        let load = plan.load.as_mut().unwrap();
        load.trace.requests = requests;
        load.trace.contents = contents;
        load.trace.values = values.iter().map(|name| (*name).to_owned()).collect();
        let request = crate::Request::get("http://h/");
        let step = RequestStep { requests: vec![request].into(), ..RequestStep::default() };
        load.phases[0].scenario = Scenario::of(vec![Step::Requests(step)]);
        if journey {
            load.phases[0].scenario.on_failure = crate::OnFailure::Continue;
        }
        plan.check().join("\n")
    };
    assert_eq!(found(true, KeptContents::All, &["token"], true), "");
    assert_eq!(found(false, KeptContents::Nothing, &[], false), "");
    assert!(
        found(false, KeptContents::Failures, &[], true).contains("contents are kept in records of requests")
    );
    assert!(found(true, KeptContents::All, &[], false).contains("no phase has one: leave contents out"));
    let both = found(false, KeptContents::All, &["token"], false);
    assert!(both.contains("trace: contents") && both.contains("trace: values"), "{both}");
}

#[test]
fn https_needs_tls_and_no_target() {
    let https = |target: Option<&str>, tls: Option<crate::Tls>, step: Step| {
        let mut plan = plan();
        let load = plan.load.as_mut().unwrap();
        load.target = target.map(str::to_owned);
        load.protocol = Protocol::Http(Http { tls, ..Http::default() });
        load.phases[0].scenario.steps = vec![step];
        plan.check()
    };
    let request = crate::Request::get("https://h/");
    let requests = Step::Requests(RequestStep { requests: vec![request].into(), ..RequestStep::default() });
    let urls = Step::Urls(crate::UrlStep { urls: vec!["HTTPS://h/".to_owned()], ..Default::default() });
    for step in [requests, urls] {
        assert_eq!(https(None, Some(crate::Tls::default()), step.clone()), Vec::<String>::new());
        assert!(https(None, None, step.clone())[0].contains("needs TLS"));
        assert!(https(Some("p:1"), Some(crate::Tls::default()), step)[0].contains("tunnel"));
    }
}

#[test]
fn placeholders_without_a_meaning_are_named_once() {
    let mut plan = plan();
    let url = "http://h/{{nobody}}?{{nobody}}&{{uuid}}";
    let mut step = RequestStep { requests: vec![crate::Request::get(url)].into(), ..RequestStep::default() };
    let mut violations = |step: &RequestStep| {
        plan.load.as_mut().unwrap().phases[0].scenario.steps = vec![Step::Requests(step.clone())];
        plan.check()
    };
    assert_eq!(violations(&step), Vec::<String>::new(), "braces are braces");
    step.templates = true;
    let found = violations(&step);
    assert!(found.len() == 1 && found[0].contains("{{nobody}}"), "{found:?}");
    step.requests = vec![crate::Request { body: "{{x".into(), ..crate::Request::get("http://h/") }].into();
    assert!(violations(&step)[0].contains("no }}"));
    let zero =
        crate::data::Source::Counter(crate::data::Counter { step: 0, ..crate::data::Counter::default() });
    step = RequestStep {
        data: vec![crate::data::Data::of("a b", zero.clone()), crate::data::Data::of("z", zero)],
        ..step
    };
    assert_eq!(violations(&step).len(), 3);
}

#[test]
fn sessions_and_ways_to_connect_have_rules() {
    let found = |change: &dyn Fn(&mut Load, &mut RequestStep)| {
        let mut plan = plan();
        let request = Request::get("http://h/");
        let mut step = RequestStep { requests: vec![request].into(), ..RequestStep::default() };
        let load = plan.load.as_mut().unwrap();
        load.target = None;
        change(load, &mut step);
        load.phases[0].scenario.steps = vec![Step::Requests(step)];
        assert_eq!(Plan::from_text(&plan.to_text()).unwrap(), plan);
        plan.check().join("\n")
    };
    let http =
        |http: Http| move |load: &mut Load, _: &mut RequestStep| load.protocol = Protocol::Http(http.clone());
    let session =
        |session: crate::Session| move |_: &mut Load, step: &mut RequestStep| step.session = session.clone();
    let with = |version, fields: &[(&str, &str)]| {
        let field = |(name, value): &(&str, &str)| Field::new(*name, *value);
        Http {
            h1: Http1 { version, ..Http1::default() },
            fields: fields.iter().map(field).collect(),
            ..Http::default()
        }
    };
    assert_eq!(found(&http(with(Http1Version::OneOne, &[("Transfer-Encoding", "gzip, Chunked")]))), "");
    let default = crate::Session::default;
    let redirects = |limit| Some(crate::Redirects { limit, ..Default::default() });
    let resources = |parallel| Some(crate::Resources { parallel, ..Default::default() });
    assert_eq!(found(&session(crate::Session { redirects: redirects(1), cookies: true, ..default() })), "");
    assert_eq!(
        found(&http(Http {
            h1: Http1 { pipeline: 9, ..Http1::default() },
            unix_socket: Some("/s".to_owned()),
            ..Http::default()
        })),
        ""
    );
    for (change, said) in [
        (
            &session(crate::Session { redirects: redirects(0), ..default() }) as &dyn Fn(&mut _, &mut _),
            "limit is 0",
        ),
        (&session(crate::Session { resources: resources(0), ..default() }), "parallel is 0"),
        (&session(crate::Session { auth: Some(Default::default()), ..default() }), "auth needs credentials"),
        (&session(crate::Session { login: vec![Request::get("ftp://h/")], ..default() }), "'ftp://h/'"),
        (
            &session(crate::Session { hosts: [("h".to_owned(), Vec::new())].into(), ..default() }),
            "h has no address",
        ),
        (&http(Http { h1: Http1 { pipeline: 0, ..Http1::default() }, ..Http::default() }), "pipeline is 0"),
        (&http(Http { unix_socket: Some("x".repeat(108)), ..Http::default() }), "no path of 1 to 107"),
        (&http(Http { tunnel: true, ..Http::default() }), "tunnel needs a target"),
        (&http(with(Http1Version::OneOne, &[("transfer-encoding", "gzip")])), "give chunked last"),
        (
            &http(with(Http1Version::OneOne, &[("Transfer-Encoding", "chunked"), ("content-length", "1")])),
            "frame a body twice",
        ),
        (&http(with(Http1Version::OneZero, &[("Transfer-Encoding", "gzip, Chunked")])), "needs HTTP/1.1"),
    ] {
        let found = found(change);
        assert!(found.contains(said), "{said} in {found}");
    }
}

#[test]
fn every_violation_is_named_at_once() {
    let mut bad = plan();
    bad.site.private = 1.5;
    bad.threads = Some(0);
    let load = bad.load.as_mut().unwrap();
    load.target = Some("nowhere".to_owned());
    load.sources = vec!["10.0.0.0-10.255.255.255".parse().unwrap()];
    load.phases[0].pace = Pace::Users(0);
    load.phases[0].stop.requests = Some(0);
    load.limits.request = Duration::ZERO;
    bad.site.lifetime = Lifetime::Fixed { max_age: Duration::from_millis(500) };
    let found = bad.check().join("\n");
    for word in [
        "private is 1.5",
        "threads is 0",
        "'nowhere'",
        "users is 0",
        "16777216 addresses",
        "stops before",
        "request is 0",
        "whole seconds",
    ] {
        assert!(found.contains(word), "{word} in {found}");
    }
}

#[test]
fn an_origin_with_haterm_has_no_objects() {
    let origin = Origin { haterm: true, chunked: 0.5, ..Origin::default() };
    let mut bad = Plan { origin: Some(origin), ..plan() };
    bad.site.private = 0.5;
    let found = bad.check().join("\n");
    for word in ["site: an origin with haterm", "the load asks for some", "by k=1"] {
        assert!(found.contains(word), "{word} in {found}");
    }
}

#[test]
fn a_validator_of_the_plans_own_stands_in_place_of_the_origins() {
    let with = |name: &str, etag: bool, last_modified: bool| {
        let fields = vec![Field::new(name, "x")];
        let mut plan = Plan { origin: Some(Origin { fields, ..Origin::default() }), ..plan() };
        (plan.site.etag, plan.site.last_modified) = (etag, last_modified);
        plan.check().join("\n")
    };
    assert!(with("etag", true, true).contains("ETag: the origin sends one of its own"));
    assert!(with("Last-Modified", true, true).contains("(--no-last-modified)"));
    assert_eq!(with("ETag", false, true), "");
    assert_eq!(with("Last-Modified", true, false), "");
    assert_eq!(with("X-Tag", true, true), "");
}

#[test]
fn a_pace_that_cannot_be_kept_is_named() {
    let stages = |text: &str| Pace::Stages {
        stages: Stage::parse_list(text).unwrap(),
        arrivals: Arrivals::Even,
        in_flight: 1,
    };
    let rate = |arrivals| Pace::Rate { per_second: 1.0, arrivals, in_flight: 1 };
    let think = |text: &str| Pace::Thinking { users: 1, think: Delay::parse(text).unwrap() };
    for (pace, said) in [
        (stages("1s:0"), "above 0"),
        (rate(Arrivals::Bursts(0)), "bursts is 0"),
        (think("2s..1s"), "shorter time first"),
        (Pace::Thinking { users: 0, think: Delay::None }, "users is 0"),
        (Pace::Connections { per_second: 1.0, arrivals: Arrivals::Even, in_flight: 1 }, "each carries"),
    ] {
        let mut bad = plan();
        bad.load.as_mut().unwrap().phases[0].pace = pace;
        let found = bad.check().join("\n");
        assert!(found.contains(said), "{said} in {found}");
    }
}

#[test]
fn every_pace_reads_back() {
    let stages = Stage::parse_list("10s:100,30s:100..1000").unwrap();
    let think = |text: &str| Pace::Thinking { users: 5, think: Delay::parse(text).unwrap() };
    let arrivals =
        [Arrivals::Even, Arrivals::Poisson, Arrivals::EachSecond, Arrivals::Bursts(50), Arrivals::Jitter(10)];
    let mut paces: Vec<Pace> = ["0", "1s", "1s..2s", "exp:1s", "lognormal:1s:0.5"].map(think).into();
    for arrivals in arrivals {
        paces.push(Pace::Stages { stages: stages.clone(), arrivals, in_flight: 9 });
        paces.push(Pace::Connections { per_second: 0.1, arrivals, in_flight: 9 });
    }
    for pace in paces {
        let mut plan = plan();
        plan.load.as_mut().unwrap().phases[0].pace = pace;
        assert_eq!(Plan::from_text(&plan.to_text()).unwrap(), plan, "{}", plan.to_text());
    }
}

#[test]
fn unknown_names_in_a_plan_are_refused_with_their_line() {
    let text = plan().to_text().replace("seed = 7", "seed = 7\nspeed = 9");
    let error = Plan::from_text(&text).unwrap_err().to_string();
    assert!(error.contains("speed") && error.contains("line"), "{error}");
}

#[test]
fn a_user_branches_once() {
    let found = |steps: Vec<Step>| {
        let mut plan = plan();
        let phase = &mut plan.load.as_mut().unwrap().phases[0];
        phase.scenario = Scenario::of(vec![Step::Together(Together { at_once: 2, steps })]);
        plan.check().join("\n")
    };
    let get = || {
        let requests = vec![Request::get("http://localhost:8080/")];
        Step::Requests(RequestStep { requests: requests.into(), ..RequestStep::default() })
    };
    assert_eq!(found(vec![get(), get()]), "");
    let inner = Step::Together(Together { at_once: 0, steps: vec![get()] });
    let within = Step::Sequence(Sequence { name: String::new(), steps: vec![inner] });
    assert!(found(vec![get(), within]).contains("a together stands within another"));
    assert!(found(Vec::new()).contains("without steps does nothing"));
}
