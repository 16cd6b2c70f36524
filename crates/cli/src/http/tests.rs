//! Plans of command lines, and what results tell of them.

use super::*;
use crate::{Cli, Command};
use plan::Pace;
use std::time::Duration;

fn args(line: &str) -> Box<HttpArgs> {
    let words = ["wringer", "http"].into_iter().chain(line.split_whitespace());
    let Command::Http(args) = Cli::read(words).unwrap().command else { panic!("{line}") };
    args.check().unwrap();
    args
}

fn plan(line: &str) -> Plan {
    let plan = args(line).plan(7, &Files::default()).unwrap();
    assert_eq!(plan.check(), Vec::<String>::new(), "{line}");
    plan
}

fn requests(plan: &Plan) -> &RequestStep {
    match &plan.load.as_ref().unwrap().phases[0].scenario.steps[0] {
        Step::Requests(step) => step,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_url_is_enough() {
    let plan = plan("localhost:8080");
    assert_eq!(requests(&plan).requests.to_vec(), [Request::get("http://localhost:8080/")]);
    assert_eq!(plan.load.as_ref().unwrap().target, None);
    assert_eq!(plan.load.as_ref().unwrap().phases[0].pace, Pace::Users(50));
}

#[test]
fn every_option_reaches_the_plan() {
    let plan = plan(
        "http://h/a http://h/b -X PUT -H A:b --data x --proxy p:1 --expect-status 200,204 --expect-body same \
         --rate 5k -n 100 --seed 5 -t 2 --keep-alive 3 --source 127.0.0.2 --timeout 3s",
    );
    let text = plan.to_text();
    assert_eq!(Plan::from_text(&text).unwrap(), plan);
    for word in [
        "PUT",
        "\"A\"",
        "\"x\"",
        "\"p:1\"",
        "204",
        "same",
        "5000",
        "forward",
        "\"3s\"",
        "127.0.0.2",
        "http://h/b",
    ] {
        assert!(text.contains(word), "{word} in {text}");
    }
}

#[test]
fn every_pace_reaches_the_plan() {
    for line in [
        "--think exp:1s",
        "--stages 10s:100,30s:100..1k --arrivals poisson",
        "--connection-rate 20 --keep-alive 3",
        "--rate 5 --arrivals bursts:5 --in-flight 9",
    ] {
        let plan = plan(&format!("http://h/ {line}"));
        assert_eq!(Plan::from_text(&plan.to_text()).unwrap(), plan, "{line}");
    }
}

#[test]
fn one_request_is_told_and_a_warm_up_comes_before() {
    let told = plan("h -v");
    let load = told.load.as_ref().unwrap();
    assert!(load.trace.heads && load.trace.requests && load.trace.first && told.threads == Some(1));
    assert_eq!((&load.phases[0].pace, load.phases[0].stop.requests), (&Pace::Users(1), Some(1)));
    let several = plan("h -v -n 3").load.unwrap();
    assert_eq!(several.phases[0].stop.requests, Some(3));
    let warmed = plan("h --warm-up 5s -c 7 -d 9").load.unwrap();
    let [before, measured] = &warmed.phases[..] else { panic!("{:?}", warmed.phases) };
    assert_eq!((before.measured, before.stop.after), (false, Some(Duration::from_secs(5))));
    assert_eq!((measured.measured, measured.stop.after), (true, Some(Duration::from_secs(9))));
    assert_eq!((&before.pace, &before.scenario), (&measured.pace, &measured.scenario));
    let words = ["wringer", "http", "h/{{u}}", "--data-file", "u=f,once", "--warm-up", "1s"];
    let Command::Http(args) = Cli::read(words).unwrap().command else { panic!() };
    assert!(args.check().unwrap_err().contains("--warm-up"));
}

#[test]
fn https_speaks_tls() {
    let tls = |line: &str| {
        let Protocol::Http(http) = plan(line).load.unwrap().protocol else { panic!() };
        http.tls
    };
    assert_eq!(tls("http://h/"), None);
    assert!(tls("http://h/ https://h/").is_some_and(|tls| tls.verify));
    assert!(tls("https://h/ -k --sni x").is_some_and(|tls| !tls.verify && tls.sni.as_deref() == Some("x")));
    assert!(tls("http://h/ --proxy https://p:1 --ca x").is_some());
    assert_eq!(plan("http://h/ --proxy https://p:1").load.unwrap().target.as_deref(), Some("p:1"));
    for (line, words) in [("http://h/ -k", "--insecure"), ("https://h/ --proxy https://p:1", "TLS within")] {
        assert!(args(line).plan(7, &Files::default()).unwrap_err().contains(words), "{line}");
    }
}

#[test]
fn data_makes_it_a_post() {
    for line in [
        "http://h/ --data x=1",
        "http://h/ --data=",
        "http://h/ --data=@empty",
        "http://h/ --body-file empty",
    ] {
        let files = Files::from([("empty".into(), Vec::new())]);
        let plan = args(line).plan(7, &files).unwrap();
        assert_eq!(requests(&plan).requests.kinds()[0].method, "POST", "{line}");
    }
    assert_eq!(requests(&plan("http://h/ --data= -X PUT")).requests.kinds()[0].method, "PUT");
}

#[test]
fn placeholders_make_templates_and_nothing_else_does() {
    assert!(!requests(&plan("http://h/{x}")).templates);
    for line in ["http://h/{{uuid}}", "http://h/ -H A:{{user}}", "http://h/ --data {{request}}"] {
        assert!(requests(&plan(line)).templates, "{line}");
    }
    let plan = plan("http://h/{{u.a}}?{{n}} --var n=int:1..9 --data-file u=u.csv,once");
    assert_eq!(requests(&plan).data.len(), 2);
    assert_eq!(requests(&plan).requests.kinds()[0].url, "http://h/{{u.a}}?{{n}}");
    assert_eq!(Plan::from_text(&plan.to_text()).unwrap(), plan);
    let unknown = args("http://h/{{x}}").plan(7, &Files::default()).unwrap().check();
    assert!(unknown[0].contains("{{x}}"), "{unknown:?}");
}

#[test]
fn bytes_of_a_file_are_no_placeholders() {
    let body = |line: &str, bytes: &[u8]| {
        let files = Files::from([("f".into(), bytes.to_vec())]);
        let plan = args(line).plan(7, &files).unwrap();
        assert_eq!(Plan::from_text(&plan.to_text()).unwrap(), plan);
        let step = requests(&plan).clone();
        (step.templates, step.requests.kinds()[0].body.to_vec())
    };
    assert_eq!(body("http://h/ --body-file f", b"{{x}}\xff"), (false, b"{{x}}\xff".to_vec()));
    assert_eq!(body("http://h/{{uuid}} --body-file f", b"{{x}}"), (true, b"\\{{x}}".to_vec()));
    assert_eq!(body("http://h/ --data @f", b"{{uuid}}"), (true, b"{{uuid}}".to_vec()));
}

#[test]
fn results_name_a_long_list_and_do_not_hold_it() {
    let listed = |lines: usize| {
        let list: String = (0..lines).map(|line| format!("http://h/{line}\n")).collect();
        args("--urls l").plan(7, &Files::from([("l".into(), list.into())])).unwrap()
    };
    let short = listed(1000);
    let long = listed(5000);
    assert_eq!(short.told(), short);
    let told = long.told();
    let step = requests(&told);
    let text = told.to_text();
    assert!(text.len() < 5000, "{} bytes: {text}", text.len());
    assert_eq!(Plan::from_text(&text).unwrap(), told);
    assert_eq!((step.requests.len(), step.list.as_ref()), (0, requests(&long).list.as_ref()));
    let list = step.list.clone().unwrap();
    assert_eq!((list.file.as_deref(), list.requests, list.sha256.len()), (Some("l"), 5000, 64));
    let text: String = (0..5000).map(|line| format!("/{line}\n")).collect();
    let behind = args("http://h/ --urls l").plan(7, &Files::from([("l".into(), text.into())])).unwrap();
    let list = requests(&behind.told()).list.clone().unwrap();
    assert_eq!((list.file.as_deref(), list.requests), (Some("l"), 5001));
    assert!(told.check()[0].contains("names its list of 5000 requests"), "{:?}", told.check());
}

#[test]
fn sizes_of_heads_are_limits_of_the_plan() {
    let limits = |line: &str| plan(line).load.unwrap().limits;
    let usual = limits("h/");
    assert_eq!((usual.head_bytes, usual.fields), (65_536, 128));
    let wide = limits("h/ --max-head 1MiB --max-fields 256");
    assert_eq!((wide.head_bytes, wide.fields), (1 << 20, 256));
    let mut narrow = plan("h/");
    let load = narrow.load.as_mut().unwrap();
    (load.limits.head_bytes, load.limits.fields) = (0, 257);
    let told: Vec<_> = narrow.check().iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 2, "{told:?}");
}

#[test]
fn results_name_a_long_body_and_do_not_hold_it() {
    let with_body = |bytes: usize| {
        let files = Files::from([("b".into(), vec![7; bytes])]);
        args("http://h/ --body-file b").plan(7, &files).unwrap()
    };
    let short = with_body(65_536);
    let long = with_body(65_537);
    assert_eq!(short.told(), short);
    let told = long.told();
    let text = told.to_text();
    assert!(text.len() < 5000 && text.contains("bytes = 65537"), "{text}");
    assert_eq!(Plan::from_text(&text).unwrap(), told);
    assert!(told.check()[0].contains("names a body of 65537 bytes"), "{:?}", told.check());
}

#[test]
fn results_name_many_short_bodies_as_they_do_a_long_one() {
    for (lines, is_told) in [(100, true), (200, false)] {
        let line = |nth: usize| format!("http://h/{nth} data={nth}{}\n", "x".repeat(60_000));
        let files = Files::from([("list".into(), (0..lines).map(line).collect::<String>().into_bytes())]);
        let told = args("--urls list").plan(7, &files).unwrap().told();
        assert_eq!(told.to_text().len() > 1_000_000, is_told, "{lines} bodies");
        assert_eq!(told.check().is_empty(), is_told);
        assert_eq!(requests(&told).requests.len(), lines);
    }
}

#[test]
fn results_mask_what_urls_hold_of_secrets() {
    let plan = plan("http://h/a?api_key=geheim&x=1 http://h/b");
    assert_eq!(requests(&plan).requests.get(0).unwrap().url, "http://h/a?api_key=geheim&x=1");
    let told = plan.told();
    let urls: Vec<_> = requests(&told).requests.iter().map(|listed| listed.url).collect();
    assert_eq!(urls, ["http://h/a?api_key=***&x=1", "http://h/b"]);
    let labels: Vec<_> = requests(&plan).requests.iter().map(|listed| listed.like.name.clone()).collect();
    assert_eq!(labels, ["/a?api_key=***&x=1", "/b"]);
}

#[test]
fn lists_take_what_they_do_not_say_from_the_options() {
    let list = "h/a\nx2 PUT h/b data=own status=201\nGET h/c\n";
    let files = Files::from([("l".into(), list.into())]);
    let plan = args("--urls l --form a=b").plan(7, &files).unwrap();
    let step = requests(&plan);
    let listed = step.requests.to_vec();
    let seen: Vec<_> = listed.iter().map(|request| (request.method.as_str(), &*request.body)).collect();
    assert_eq!(seen, [("POST", &b"a=b"[..]), ("PUT", b"own"), ("GET", b"")]);
    let types: Vec<_> = listed.iter().map(|request| request.fields.len()).collect();
    assert_eq!((types, step.order), (vec![1, 0, 0], RequestOrder::Weighted));
    let looped = args("--urls l --order loop").plan(7, &files).unwrap();
    assert_eq!(requests(&looped).order, RequestOrder::Loop);
    let bad = Files::from([("l".into(), b"ftp://x\nh/ y\n".to_vec())]);
    let said = args("--urls l").plan(7, &bad).unwrap_err();
    assert!(said.contains("l:1:") && said.contains("l:2:"), "{said}");
}

#[test]
fn checks_and_signatures_reach_the_plan_without_secrets() {
    let line = "http://h/ --expect-header ETag --expect-text a --expect-json b=1 --expect-length 3 \
                --compressed --aws-sigv4 r:s3 --aws-key id --aws-secret geheim --user-agent x/1";
    let plan = plan(line);
    let text = plan.to_text();
    for word in ["ETag", "contain", "json", "gzip, br, zstd", "s3", "x/1"] {
        assert!(text.contains(word), "{word} in {text}");
    }
    assert!(!text.contains("geheim") && !format!("{plan:?}").contains("geheim"));
    assert_eq!(requests(&plan).aws.as_ref().unwrap().key.reveal(), "geheim");
}

#[test]
fn several_conditions_may_follow_fail_if() {
    let conditions = |line: &str| {
        let args = args(line);
        let all: Vec<String> = args.output.fail_if.iter().map(ToString::to_string).collect();
        (args.urls, all.join(" "))
    };
    let urls = vec!["http://h/".to_owned()];
    for line in [
        "http://h/ --fail-if p99>50ms errors>0.1%",
        "--fail-if p99>50ms errors>0.1% http://h/",
        "--fail-if p99>50ms,errors>0.1% h",
        "--fail-if p99>50ms h --fail-if errors>0.1%",
    ] {
        assert_eq!(conditions(line), (urls.clone(), "p99>50ms errors>0.1%".to_owned()), "{line}");
    }
    assert!(Cli::read(["wringer", "http", "h", "p99>50ms"]).is_err(), "a condition by itself");
}

#[test]
fn a_proxy_is_given_as_curl_has_it() {
    let told = |line: &str| {
        let plan = plan(line);
        assert!(!format!("{plan:?}{}", plan.to_text()).contains("geheim"), "{line}");
        let load = plan.load.unwrap();
        let fields: Vec<String> = load.protocol.http().unwrap().fields.iter().map(Field::shown).collect();
        (load.target, fields)
    };
    let credentials = vec!["Proxy-Authorization: Basic ***".to_owned()];
    for line in [
        "h --proxy http://me:geheim@p:81/",
        "h --proxy me:geheim@p:81",
        "h --proxy p:81 --proxy-user me:geheim",
    ] {
        assert_eq!(told(line), (Some("p:81".to_owned()), credentials.clone()), "{line}");
    }
    assert_eq!(told("h --proxy me:geheim@p:81 --proxy-digest"), (Some("p:81".to_owned()), Vec::new()));
    for (line, said) in [
        ("--proxy me:geheim@p", "'me:***@p' names no port"),
        ("--proxy me:geheim@p:x", "'me:***@p:x' has 'x' for a port"),
        ("--proxy http:/me:geheim@p:81", "write two, http://me:***@p:81"),
        ("--connect-to h:80:me:geheim@to:81", "'h:***@to:81' is not HOST:PORT:TO:TOPORT"),
        ("-H X-Trace=on", "invalid value 'X-Trace=***' for '--header <NAME: VALUE>': write a colon"),
    ] {
        let words = ["wringer", "http", "h"].into_iter().chain(line.split(' '));
        let refused = Cli::read(words).unwrap_err().to_string();
        assert!(refused.contains(said) && !refused.contains("geheim"), "{line}: {refused}");
    }
    let words = ["wringer", "http", "h", "-H", "X-Trace on"];
    assert!(Cli::read(words).unwrap_err().to_string().contains("'X-Trace ***'"));
    for line in ["h --proxy me:geheim@p:81 --proxy-user a:b", "h --proxy p:81 --proxy-digest"] {
        let words = ["wringer", "http"].into_iter().chain(line.split(' '));
        let Command::Http(args) = Cli::read(words).unwrap().command else { panic!("{line}") };
        assert!(args.check().is_err(), "{line}");
    }
}

#[test]
fn what_is_no_url_is_refused() {
    for line in ["ftp://h/", "http://", "h:port"] {
        assert!(Cli::read(["wringer", "http", line]).is_err(), "{line}");
    }
}
