//! JMeter's HTTP samplers from outside: what pages and style sheets embed, and cookies. What is asked for is what JMeter 5.6.3 asked
//! of a server with the same answers.

use crate::jmeter::{FETCHES, html, once, results, sampler};
use crate::web::{Web, ok};

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
