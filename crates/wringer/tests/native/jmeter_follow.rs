//! Requests of JMeter's plans that follow from the last answer. What is expected is what JMeter 5.6.3 sent to the same server.

use crate::jmeter::{on, once, results, sampler};
use crate::web::{Asked, Web, ok};

const PAGE: &str = "<html><head></head><body><a href='item?id=1&amp;k=a%20b'>one</a><a href='/cart'>two</a>\
    <a href='/bare?flag'>q</a><a href='javascript:go()'>three</a><a href='http://other.example/x'>four</a>\
    <form action='/login;v=1?z=9' method='post'><input name='user' value='anna%21'><input type='submit'>\
    <select name='kind'><option value='a'>A</option><option value='b'>B</option></select>\
    <textarea name='note'>so be it</textarea></form></body></html>";

const SESSION: &str = "<a href='/a;sid=1%2F2?x=1'>l</a><a href='/b;tok99;z'>m</a><a href=\"/c?sid=3%2F4&y=1\">n</a>\
    <input name=\"k y\" value=\"v w\">";

const LINK: &str = "<AnchorModifier testname=\"L\"/><hashTree/>";

fn text(name: &str, value: &str) -> String {
    format!("<stringProp name=\"{name}\">{value}</stringProp>")
}

fn flag(name: &str) -> String {
    format!("<boolProp name=\"{name}\">true</boolProp>")
}

/// Properties of a POST with these parameters; those with an asterisk before them are not encoded.
fn post(parameters: &[(&str, &str)]) -> String {
    text("HTTPSampler.method", "POST") + &with(parameters)
}

fn with(parameters: &[(&str, &str)]) -> String {
    let argument = |(name, value): &(&str, &str)| {
        let plain = name.trim_start_matches('*');
        let encodes = !name.starts_with('*');
        format!(
            "<elementProp name=\"{plain}\" elementType=\"HTTPArgument\">{}{}<boolProp name=\"HTTPArgument.always_encode\">{encodes}</boolProp></elementProp>",
            text("Argument.name", plain),
            text("Argument.value", value)
        )
    };
    let all: String = parameters.iter().map(argument).collect();
    format!(
        "<elementProp name=\"HTTPsampler.Arguments\" elementType=\"Arguments\"><collectionProp name=\"Arguments.arguments\">{all}</collectionProp></elementProp>"
    )
}

fn serve(asked: &Asked) -> String {
    match asked.target.as_str() {
        "/page" => ok(PAGE),
        "/sess" => ok(SESSION),
        _ => ok("none"),
    }
}

/// The line of the request that follows from the answer to one for `first`: its method, target and body.
fn followed(first: &str, second: &str) -> String {
    let web = Web::start(serve);
    let plan = once(&(sampler("first", first, "", "") + second));
    results(&plan, &web);
    let asked = &web.seen()[1];
    let host = asked.field("Host").expect("a host");
    assert_eq!(host, format!("127.0.0.1:{}", web.address.port()));
    format!("{} {} {}", asked.method, asked.target, asked.body).trim_end().to_owned()
}

#[test]
fn links_and_forms_of_the_last_page_lead_on() {
    for (path, more, sent) in [
        (".*item", String::new(), "GET /item?id=1&k=a%20b"),
        // No URL has such a path, but that of the link has not either.
        ("/[a-z]{3}m\\b", String::new(), "GET /item?id=1&k=a%20b"),
        (".*item", post(&[("id", "")]), "POST /item id=1&k=a+b"),
        (
            ".*login.*",
            post(&[("user", ".*"), ("kind", "b"), ("*note", ".*"), ("z", "5")]),
            "POST /login;v=1 user=anna%21&kind=b&note=so+be+it&z=5",
        ),
        ("/nowhere", String::new(), "GET /nowhere"),
        (".*login.*", post(&[("*", "body")]) + &flag("HTTPSampler.postBodyRaw"), "POST /login;v=1 body"),
        (".*bare", String::new(), "GET /bare?flag"),
        (".*login.*", with(&[("kind", "a")]), "GET /login;v=1?kind=a"),
    ] {
        assert_eq!(followed("/page", &sampler("second", path, &more, LINK)), sent, "{path} {more}");
    }
    let anywhere = sampler("second", ".*cart", "", LINK).replace("domain\">127.0.0.1<", "domain\"><");
    assert_eq!(followed("/page", &anywhere), "GET /cart");
}

#[test]
fn a_path_that_no_link_is_like_is_no_url() {
    let web = Web::start(serve);
    let lines =
        results(&once(&(sampler("first", "/page", "", "") + &sampler("second", "/\\d+", "", LINK))), &web);
    assert_eq!(lines[1][1], "Non HTTP response code: java.net.URISyntaxException", "{lines:?}");
    assert_eq!(web.seen().len(), 1);
}

/// A URL Re-writing Modifier with flags.
fn session(name: &str, flags: &[&str]) -> String {
    let flags: String = flags
        .iter()
        .map(|name| match name.strip_prefix('!') {
            Some(name) => flag(name).replace("true", "false"),
            None => flag(name),
        })
        .collect();
    format!(
        "<URLRewritingModifier testname=\"R\">{}{flags}</URLRewritingModifier><hashTree/>",
        text("argument_name", name)
    )
}

#[test]
fn sessions_stand_in_the_next_url() {
    let raw = post(&[("*", "body")]) + &flag("HTTPSampler.postBodyRaw");
    for (path, more, below, sent) in [
        ("/a", String::new(), session("sid", &[]), "GET /a?sid=1%2F2%3Fx%3D1"),
        (
            "/a?x=1",
            with(&[("p", "q r")]),
            session("sid", &["path_extension"]),
            "GET /a?p=q+r&x=1%3Bsid%3D1%2F2%3Fx%3D1",
        ),
        (
            "/a",
            post(&[("p", "q")]),
            session("sid", &["path_extension", "path_extension_no_questionmark"]),
            "POST /a;sid=1%2F2 p=q",
        ),
        (
            "/a",
            String::new(),
            session("tok", &["path_extension", "path_extension_no_equals"]),
            "GET /a;tok99",
        ),
        (
            "/a",
            with(&[("sid", "old"), ("p", "q")]),
            session("sid", &["encode"]),
            "GET /a?p=q&sid=1%252F2%3Fx%3D1",
        ),
        (
            "/a;sid=old?x=1",
            post(&[("p", "q")]),
            session("sid", &["path_extension"]),
            "POST /a?x=1;sid=1%2F2?x=1 p=q",
        ),
        ("/a", raw, session("sid", &[]), "POST /a body1%2F2%3Fx%3D1"),
        ("/a", post(&[("p", "q")]), session("k y", &[]), "POST /a p=q&k+y=v+w"),
    ] {
        assert_eq!(followed("/sess", &sampler("second", path, &more, &below)), sent, "{path} {below}");
    }
}

#[test]
fn a_session_is_kept_where_an_answer_names_none() {
    for (flags, last) in [(&[][..], "/b?sid=1%2F2%3Fx%3D1"), (&["!cache_value"], "/b?sid=")] {
        let web = Web::start(serve);
        let steps = ["/sess", "/a", "/b"].map(|path| sampler(path, path, "", "")).concat();
        results(&once(&(session("sid", flags) + &steps)), &web);
        let targets: Vec<String> = web.seen().into_iter().map(|asked| asked.target).collect();
        assert_eq!(targets, ["/sess", "/a?sid=1%2F2%3Fx%3D1", last]);
    }
}

#[test]
fn uploads_get_no_session_which_is_listed() {
    let file = "<elementProp name=\"HTTPsampler.Files\" elementType=\"HTTPFileArgs\"><collectionProp name=\"HTTPFileArgs.files\">\
        <elementProp name=\"f\" elementType=\"HTTPFileArg\"><stringProp name=\"File.path\">plan.jmx</stringProp>\
        <stringProp name=\"File.paramname\">f</stringProp></elementProp></collectionProp></elementProp>";
    let plan = once(&sampler("up", "/a", &(post(&[]) + file), &session("sid", &[])));
    let checked = on(&plan, &["plan", "check", "{}/plan.jmx", "-Jport=1"]);
    assert!(
        checked.stdout.contains("'up' has files beside its parameters: it gets no session"),
        "{}",
        checked.stdout
    );
}
