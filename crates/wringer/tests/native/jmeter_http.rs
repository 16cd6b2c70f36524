//! JMeter's HTTP samplers from outside: what pages and style sheets embed, and cookies. What is asked for is what JMeter 5.6.3 asked
//! of a server with the same answers.

use crate::jmeter::{FETCHES, html, on, once, results, sampler};
use crate::web::{Asked, Web, answer, ok};

fn css(body: &str) -> String {
    html(body).replace("text/html", "text/css")
}

#[test]
fn style_sheets_lead_to_those_that_they_import() {
    let web = Web::start(|asked| match asked.target.as_str() {
        "/page" => html(
            "<link rel=stylesheet href=/css/a.css><link rel='alternate stylesheet' href=/no.css><style>@import '/no.css';</style>\
             <body style=\"background: url('/attribute.png')\"><div style='a: url(no.png), url(\"two.png\")'>x</div>\
             <img src=/i.png style='b: url(&quot;entity.png&quot;)'><iframe src=/frame></iframe>",
        ),
        "/css/a.css" => css(
            "@import url(\"b.css\"); /* @import 'no.css'; */ a { background: url(no.png) } @import 'late.css' screen;",
        ),
        "/css/b.css" => css("@import '/css/deep.css?x=1';"),
        "/frame" => html("<body style=\"a: url('/f.png')\">"),
        _ => ok("x"),
    });
    let found = results(&once(&sampler("page", "/page", FETCHES, "")), &web);
    let asked: Vec<String> = web.seen().iter().map(|asked| asked.target.clone()).collect();
    let named = "/page /css/a.css /css/b.css /css/deep.css?x=1 /css/late.css /attribute.png /two.png /i.png /entity.png /frame /f.png";
    assert_eq!(asked.join(" "), named);
    let told: Vec<String> = found
        .iter()
        .map(|line| format!("{} {}", line[0], line[5].rsplit('/').next().unwrap_or_default()))
        .collect();
    assert_eq!(
        told[..7],
        [
            "page page",
            "page-0 page",
            "page-1 a.css",
            "page-0 a.css",
            "page-1 b.css",
            "page-0 b.css",
            "page-1 deep.css?x=1"
        ]
    );
}

#[test]
fn style_sheets_that_import_each_other_come_to_an_end() {
    let web = Web::start(|asked| match asked.target.as_str() {
        "/a.css" => css("@import 'b.css';"),
        _ => css("@import 'a.css';"),
    });
    results(&once(&sampler("sheet", "/a.css", FETCHES, "")), &web);
    let asked: Vec<String> = web.seen().iter().map(|asked| asked.target.clone()).collect();
    assert_eq!(
        asked.concat(),
        "/a.css/b.css/a.css/b.css/a.css/b.css/a.css",
        "those within five others are looked into"
    );
}

/// Policies, in the order of the tables' columns.
const POLICIES: [&str; 5] = ["standard", "standard-strict", "default", "netscape", "rfc2109"];
const COOKIES: &str = include_str!("jmeter_cookies.tsv");
const HOSTS: &str = include_str!("jmeter_cookie_hosts.tsv");

/// The rows of a table, without what stands above them.
fn rows(table: &str) -> Vec<Vec<&str>> {
    table.lines().skip(2).map(|line| line.split('\t').collect()).collect()
}

fn manager(policy: &str, more: &str) -> String {
    format!(
        "<CookieManager testname=\"Cookies\"><boolProp name=\"CookieManager.clearEachIteration\">true</boolProp>\
         <stringProp name=\"CookieManager.policy\">{policy}</stringProp>{more}</CookieManager><hashTree/>"
    )
}

fn cookie(asked: &Asked) -> &str {
    asked.field("Cookie").unwrap_or_default()
}

/// An answer with the fields of the row whose number the path ends with.
fn setting<'a>(asked: &Asked, rows: &[Vec<&'a str>], fields: impl Fn(&[&'a str]) -> String) -> String {
    let number = asked.target.split_once("/ck/").and_then(|(_, number)| number.parse::<usize>().ok());
    match number.and_then(|number| rows.get(number - 1)) {
        Some(row) => answer("200 OK", &fields(row), "x"),
        None => ok("x"),
    }
}

#[test]
fn cookies_go_by_the_policy_of_their_manager() {
    let web = Web::start(|asked| {
        setting(asked, &rows(COOKIES), |row| {
            row[0].split("\\n").map(|set| format!("Set-Cookie: {set}\r\n")).collect()
        })
    });
    let count = rows(COOKIES).len();
    let counter = "<CounterConfig testname=\"N\"><stringProp name=\"CounterConfig.start\">1</stringProp>\
        <stringProp name=\"CounterConfig.incr\">1</stringProp><stringProp name=\"CounterConfig.name\">n</stringProp></CounterConfig><hashTree/>";
    for (nth, policy) in POLICIES.into_iter().enumerate() {
        let before = web.seen().len();
        let pair = sampler("set", "/ck/${n}", "", "") + &sampler("show", "/ck/show${n}", "", "");
        let plan = once(&[&manager(policy, ""), counter, &pair].concat());
        let loops = |times: usize| format!("\"LoopController.loops\">{times}<");
        results(&plan.replace(&loops(1), &loops(count)), &web);
        let seen = web.seen().split_off(before);
        assert_eq!(seen.len(), 2 * count, "{policy}");
        for (row, shown) in rows(COOKIES).iter().zip(seen.iter().skip(1).step_by(2)) {
            assert_eq!(cookie(shown), row[1 + nth], "{} by {policy}", row[0]);
        }
    }
}

#[test]
fn cookies_reach_the_hosts_of_their_policy() {
    let web =
        Web::start(|asked| setting(asked, &rows(HOSTS), |row| format!("Set-Cookie: {}; Path=/\r\n", row[1])));
    // A proxy needs no addresses of hosts.
    let port = web.address.port().to_string();
    let words = ["jmeter", "-n", "-t", "{}/plan.jmx", "-Jport=80", "-H", "127.0.0.1", "-P", &port];
    for (nth, policy) in POLICIES.into_iter().enumerate() {
        // Each row has users of its own: cookies are those of one user for all of its iteration.
        for (number, row) in rows(HOSTS).iter().enumerate() {
            let before = web.seen().len();
            let at = |path: &str, host: &str| {
                sampler("s", path, "", "").replace(">127.0.0.1<", &format!(">{host}<"))
            };
            let pair = at(&format!("/ck/{}", number + 1), row[0]) + &at("/show", row[2]);
            on(&once(&(manager(policy, "") + &pair)), &words).ended_with(0);
            let seen = web.seen().split_off(before);
            assert_eq!(cookie(&seen[1]), row[3 + nth], "{row:?} by {policy}");
        }
    }
}

#[test]
fn cookies_of_a_manager_itself_are_sent_by_its_policy() {
    let web = Web::start(|asked| match asked.target.as_str() {
        "/a" => answer("200 OK", "Set-Cookie: A=1\r\nSet-Cookie: B=2\r\n", "x"),
        _ => ok("x"),
    });
    let own = "<collectionProp name=\"CookieManager.cookies\"><elementProp name=\"pre\" elementType=\"Cookie\">\
        <stringProp name=\"Cookie.value\">x y</stringProp><stringProp name=\"Cookie.domain\">127.0.0.1</stringProp>\
        <stringProp name=\"Cookie.path\"></stringProp></elementProp></collectionProp>";
    let first = "$Version=1; pre=\"x y\"; $Path=\"\"; $Domain=\"127.0.0.1\"";
    for (policy, wanted) in [
        ("standard", ["pre=\"x y\"", "A=1; B=2; pre=\"x y\""]),
        ("default", [first, "pre=x y; A=1; B=2"]),
        ("netscape", ["pre=x y", "pre=x y; A=1; B=2"]),
        ("rfc2109", [first, "$Version=0; A=1; B=2; pre=x y; $Path=; $Domain=127.0.0.1"]),
        ("ignoreCookies", ["", ""]),
    ] {
        let before = web.seen().len();
        let both = sampler("a", "/a", "", "") + &sampler("b", "/b", "", "");
        results(&once(&(manager(policy, own) + &both)), &web);
        let seen = web.seen().split_off(before);
        assert_eq!([cookie(&seen[0]), cookie(&seen[1])], wanted, "{policy}");
    }
    let plan = |policy: &str| once(&(manager(policy, own) + &sampler("a", "/a", "", "")));
    for (policy, code, said) in [
        ("nonsense", 2, "its policy 'nonsense' is none that JMeter knows"),
        ("rfc2965", 0, "with the policy rfc2965 JMeter keeps no cookies"),
        ("default", 0, "an empty $Path"),
        ("netscape", 0, "all of it runs\n"),
    ] {
        let checked = on(&plan(policy), &["plan", "check", "{}/plan.jmx", "-Jport=1"]).ended_with(code);
        assert!(checked.stdout.contains(said), "{said}: {}", checked.stdout);
    }
}

/// A DNS Cache Manager with these static hosts.
fn static_hosts(hosts: &[(&str, &str)], more: &str) -> String {
    let host = |(name, address): &(&str, &str)| {
        format!(
            "<elementProp name=\"{name}\" elementType=\"StaticHost\"><stringProp name=\"StaticHost.Name\">{name}</stringProp>\
             <stringProp name=\"StaticHost.Address\">{address}</stringProp></elementProp>"
        )
    };
    format!(
        "<DNSCacheManager testname=\"Hosts\"><collectionProp name=\"DNSCacheManager.hosts\">{}</collectionProp>\
         <boolProp name=\"DNSCacheManager.clearEachIteration\">true</boolProp>\
         <boolProp name=\"DNSCacheManager.isCustomResolver\">true</boolProp>{more}</DNSCacheManager><hashTree/>",
        hosts.iter().map(host).collect::<String>()
    )
}

/// A sampler of another host than this machine's address, with a connection of its own.
fn of_host(name: &str, host: &str) -> String {
    let more = "<boolProp name=\"HTTPSampler.use_keepalive\">false</boolProp>\
        <stringProp name=\"HTTPSampler.response_timeout\">5000</stringProp>";
    sampler(name, &format!("/{name}"), more, "").replace(">127.0.0.1<", &format!(">{host}<"))
}

/// By `DNSCacheManager.resolve` of JMeter 5.6.3 and the order in which HttpClient 4.5 tries addresses.
#[test]
fn static_hosts_hold_for_the_samplers_in_their_scope() {
    let first = Web::start(|_| ok("first"));
    let port = first.address.port();
    let second = Web::at(&format!("127.0.0.2:{port}"), |_| ok("second"));
    let hosts = [
        ("a.test", "127.0.0.1 , 127.0.0.2"),
        // Nobody listens at the first of them.
        ("B.test", "127.0.0.9,127.0.0.2"),
        ("localhost", "127.0.0.2"),
        ("localhost", "127.0.0.9"),
    ];
    let within: String =
        [of_host("a", "a.test"), of_host("b", "b.test"), of_host("in", "localhost")].concat();
    let below = format!(
        "<LoopController testname=\"L\"><stringProp name=\"LoopController.loops\">3</stringProp></LoopController><hashTree>{}{within}</hashTree>",
        static_hosts(&hosts, "")
    );
    let plan = once(&(below + &of_host("out", "localhost")));
    let checked = on(&plan, &["plan", "check", "{}/plan.jmx", "-Jport=1"]).ended_with(0);
    assert!(!checked.stdout.contains("DNSCacheManager"), "{}", checked.stdout);
    let found = results(&plan, &first);
    assert!(found.iter().all(|line| line[1] == "200"), "{found:?}");
    let asked = |web: &Web| web.seen().iter().map(|asked| asked.target.clone()).collect::<Vec<_>>().concat();
    assert_eq!(asked(&first), "/a/a/a/out", "addresses are tried in their order, each time");
    assert_eq!(asked(&second), "/b/in/b/in/b/in");
    assert_eq!(second.seen()[0].field("Host"), Some(format!("b.test:{port}").as_str()));
}

#[test]
fn what_of_a_dns_cache_manager_is_not_obeyed_is_listed() {
    let servers = "<collectionProp name=\"DNSCacheManager.servers\"><stringProp name=\"1\">192.0.2.53</stringProp></collectionProp>";
    for (hosts, more, code, said) in [
        (("a.test", "127.0.0.1"), servers, 0, "are looked up by this system, not by its servers 192.0.2.53"),
        (("a.test", "b.invalid"), "", 2, "its host a.test is at 'b.invalid', which does not resolve here"),
        (("a.test", ""), "", 2, "its host a.test has no address"),
    ] {
        let plan = once(&(static_hosts(&[hosts], more) + &of_host("a", "a.test")));
        let checked = on(&plan, &["plan", "check", "{}/plan.jmx", "-Jport=1"]).ended_with(code);
        assert!(checked.stdout.contains(said), "{}", checked.stdout);
    }
}
