//! Tests of requests that follow from the last answer. What is expected is what JMeter 5.6.3 sent for the same pages.

use super::*;

const PAGE: &str = "HTTP text before <html><head><base href='/shop/'></head><body>\
    <a href='item?id=1&amp;k=a%20b'>one</a><a href='/cart'>two</a><a href='javascript:go()'>three</a>\
    <a href='http://other.example/x'>four</a><a name='no'>five</a>\
    <form action='/login;v=1?z=9'><input name='user' value='anna%21'><input type='submit'>\
    <select name='kind'><option value='a'>A</option><option value='b'>B</option></select>\
    <textarea name='note'>so be it</textarea></form><input name='late' value='1'>\
    <form><input name='lost' value='1'></form></body></html>";

fn given(pairs: &str) -> GivenRequest {
    GivenRequest::read(pairs)
}

/// The change of a sampler, where the draws are these.
fn linked(pairs: &str, draws: &[u64]) -> Option<Change> {
    let mut draws = draws.iter().copied();
    link(&given(pairs), "http://h.example:8080/shop/list?x=1", PAGE, &mut || draws.next().unwrap())
}

fn argument(name: &str, value: &str, encodes: bool) -> RequestArgument {
    RequestArgument { name: name.to_owned(), value: value.to_owned(), encodes }
}

#[test]
fn a_sampler_goes_where_a_link_like_it_leads() {
    let to = |pairs: &str, draw| {
        let change = linked(pairs, &[draw]).unwrap();
        let LinkOrigin { protocol, domain, port } = change.place.unwrap();
        format!("{protocol}://{domain}:{port}{} {}", change.path.unwrap(), change.replaces)
    };
    let of_host = "method=GET&domain=h.example&port=8080&path=";
    // The sampler's own port stays, and parameters stand as the link has them.
    assert_eq!(to(&format!("{of_host}.*item"), 0), "http://h.example:8080/shop/item?id=1&k=a%20b true");
    assert_eq!(to(&format!("{of_host}cart"), 0), "http://h.example:8080/cart true");
    assert_eq!(
        to("method=GET&path=.*&name=id&value=&encodes=true", 5),
        "http://h.example:80/shop/item?id=1&k=a%20b true"
    );
    assert_eq!(to("method=GET&domain=o.*&path=.*", 3), "http://other.example:80/x true");
    // Two links and a form are left to chance.
    let all: Vec<String> = (0..3).map(|draw| to(&format!("{of_host}.*"), draw)).collect();
    assert_eq!(
        all,
        [
            "http://h.example:8080/shop/item?id=1&k=a%20b true",
            "http://h.example:8080/cart true",
            "http://h.example:8080/login;v=1 false"
        ]
    );
    for none in [
        "path=/nowhere",
        "path=.*&domain=none.example",
        "path=.*&protocol=https",
        "path=.*&name=absent&value=",
        "path=(",
    ] {
        assert_eq!(linked(&format!("method=GET&{none}"), &[]), None, "{none}");
    }
}

#[test]
fn a_body_takes_the_parameters_of_a_link() {
    let change = linked("method=POST&path=.*item", &[0]).unwrap();
    assert_eq!(change.path.as_deref(), Some("/shop/item"));
    assert_eq!(change.arguments, [argument("id", "1", false), argument("k", "a%20b", false)]);
}

#[test]
fn fields_of_a_form_are_filled_in_by_what_matches_them() {
    let pairs = "method=POST&path=.*login.*&name=user&value=.*&encodes=true&name=kind&value=.*&encodes=true\
        &name=k.*&value=.*&encodes=false&name=z&value=5&encodes=true";
    let change = linked(pairs, &[0, 0, 1, 0]).unwrap();
    assert_eq!(change.path.as_deref(), Some("/login;v=1"));
    let filled = [argument("user", "anna!", true), argument("kind", "b", true), argument("kind", "a", false)];
    assert_eq!(change.arguments[..3], filled);
    // What nothing matches stays.
    assert_eq!(change.arguments[3], argument("z", "5", true));
    // A field behind the form belongs to it, and one in a form that leads nowhere to none.
    assert!(linked("method=POST&path=.*&name=late&value=1", &[0, 0]).is_some());
    assert_eq!(linked("method=POST&path=.*&name=lost&value=1", &[]), None);
}

#[test]
fn sessions_are_found_where_jmeter_looks_for_them() {
    for (words, text, found) in [
        ("path", "<a href='/a;sid=12?x=1'>", "12?x=1"),
        ("path no-question-mark", "<a href='/a;sid=12?x=1'>", "12"),
        ("path no-equals", "/a;sid12;b", "12"),
        ("path no-equals no-question-mark", "/a;sid$12?b", "$12"),
        ("path", "/a?sid=12", ""),
        ("", "/a?x=1&sid=12&y=2", "12"),
        ("", "/a?x=1;sid=1\\2", "1"),
        ("", "<input  NAME = \"sid\" type='x' Value='a b'>", "a b"),
        ("", "<input value='7' name='sid'>", "7"),
        ("", "<input value='7' name='sid2'>", ""),
    ] {
        assert_eq!(SessionPlace::read(words).find("sid", text), found, "{words} {text}");
    }
    assert_eq!(SessionPlace::read("").find("s.d", "?sad=1&s.d=2"), "2");
    assert_eq!(SessionPlace::read("keeps encodes path").words(), "path keeps encodes");
}

#[test]
fn sessions_are_put_where_the_element_says() {
    let put = |words: &str, pairs: &str| SessionPlace::read(words).put(&given(pairs), "a%21b");
    let path = |words: &str, pairs: &str| put(words, &format!("session=sid&{pairs}")).path.unwrap();
    assert_eq!(path("path", "path=/a"), "/a;sid=a%21b");
    assert_eq!(path("path no-equals", "path=/a"), "/a;sida%21b");
    assert_eq!(path("path", "path=/a;sid%3Dold"), "/a;sid=a%21b");
    assert_eq!(path("path", "method=POST&path=/a;sid%3Dold%3Fx%3D1"), "/a?x=1;sid=a%21b");
    // What stands behind a question mark is parameters to JMeter, the session too.
    let change = put("path", "session=sid&method=GET&path=/a%3Fx%3D1&name=p&value=q&encodes=true");
    assert_eq!((change.path.as_deref(), change.replaces), (Some("/a"), true));
    assert_eq!(change.arguments, [argument("p", "q", true), argument("x", "1;sid=a!b", true)]);
    let added = put("", "session=sid&path=/a&name=p&value=q");
    assert_eq!((added.path, added.replaces), (None, false));
    assert_eq!(added.arguments, [argument("sid", "a!b", true)]);
    let instead = put("encodes", "session=sid&path=/a&name=sid&value=old&name=p&value=q&encodes=true");
    assert!(instead.replaces);
    assert_eq!(instead.arguments, [argument("p", "q", true), argument("sid", "a%21b", true)]);
}
