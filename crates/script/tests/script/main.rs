//! Scripts on a stage without sockets: what each callback sees, and how mistakes end.

mod helpers;

use helpers::{Outcome, Theatre, failure, play};
use load::script::{Halt, Heard};
use std::time::Duration;

#[test]
fn the_table_wrk_describes_the_url() {
    let text = r#"
        function setup(t) t:set("seen", tostring(t.addr)) end
        function init(args)
           local said = {seen, #args, args[0], args[1], args[2]}
           for _, k in ipairs{"scheme", "host", "port", "method", "path"} do said[#said + 1] = wrk[k] end
           said[#said + 1] = wrk.headers["Host"]
           said[#said + 1] = wrk.headers["X-Q"]
           all = table.concat(said, " ")
        end
        function request() return wrk.format("PUT", "/p", {["X-B"] = 2, ["X-A"] = "1"}, all) end
    "#;
    let mut theatre = play(text);
    assert_eq!(
        theatre.request(0),
        "PUT /p HTTP/1.1\r\nHost: h:81\r\nContent-Length: 74\r\nX-A: 1\r\nX-B: 2\r\n\r\n\
         127.0.0.1:81 2 http://h:81/a?b#c one two http h 81 GET /a?b#c h:81 z"
            .replace(
                "74",
                &"127.0.0.1:81 2 http://h:81/a?b#c one two http h 81 GET /a?b#c h:81 z".len().to_string()
            )
    );
}

#[test]
fn what_init_changes_shapes_the_one_request() {
    let theatre = play(
        r#"wrk.method = "POST"; wrk.body = "x=1"; wrk.headers["B"] = "b"; wrk.headers["A"] = "a"
           function init() wrk.path = "/other" end"#,
    );
    let habits = theatre.habits(0);
    let fixed = String::from_utf8(habits.fixed.unwrap()).unwrap();
    assert_eq!(
        fixed,
        "POST /other HTTP/1.1\r\nHost: h:81\r\nA: a\r\nB: b\r\nContent-Length: 3\r\nX-Q: z\r\n\r\nx=1"
    );
    assert_eq!((habits.delays, habits.responds), (false, false));
}

#[test]
fn a_request_without_body_loses_the_length_of_the_last_one() {
    let mut theatre = play(
        r#"local n = 0
           function request() n = n + 1; return wrk.format(nil, "/" .. n, nil, n == 2 and "body" or nil) end"#,
    );
    // The first was asked for before the run.
    assert!(theatre.request(0).ends_with("Content-Length: 4\r\nX-Q: z\r\n\r\nbody"));
    assert_eq!(theatre.request(0), "GET /3 HTTP/1.1\r\nHost: h:81\r\nX-Q: z\r\n\r\n");
}

#[test]
fn several_requests_in_one_text_are_counted() {
    let mut theatre = play(
        r#"function init() local r = {}; for n = 1, 3 do r[n] = wrk.format(nil, "/" .. n) end; all = table.concat(r) end
           function request() return all end"#,
    );
    assert_eq!(theatre.batch(0).unwrap().count, 3);
}

#[test]
fn answers_are_told_with_the_last_of_equal_fields() {
    let text = r#"
        function response(status, headers, body)
           said = status .. headers["A"] .. headers["b"] .. #body
        end
        function request() return wrk.format(nil, "/" .. tostring(said)) end
    "#;
    let mut theatre = play(text);
    let mut heard = Heard::default();
    for (name, value) in [("A", "1"), ("b", "2"), ("A", "3")] {
        heard.add_field(name.as_bytes(), value.as_bytes());
    }
    heard.status = 404;
    heard.body.extend_from_slice(b"\x00\xff");
    theatre.hear(0, &heard).unwrap();
    assert!(theatre.request(0).starts_with("GET /404322 "));
}

#[test]
fn arguments_that_a_response_does_not_look_at_are_not_made() {
    for (parameters, expected) in [("status", 1), ("status, headers", 2), ("a, b, c", 3), ("...", 3)] {
        let text = format!(
            "function response({parameters}) local all = {{...}}; given = #all end
             function request() return wrk.format(nil, '/' .. tostring(given)) end"
        );
        // Only a function with dots can count; the others are given what they name.
        let text = match parameters {
            "..." => text,
            named => {
                let last = named.rsplit(", ").next().unwrap();
                format!(
                    "function response({named}) given = {last} ~= nil and {expected} or 0 end
                     function request() return wrk.format(nil, '/' .. tostring(given)) end"
                )
            }
        };
        let mut theatre = play(&text);
        theatre.hear(0, &Heard::default()).unwrap();
        assert!(theatre.request(0).starts_with(&format!("GET /{expected} ")), "{parameters}");
    }
}

#[test]
fn delays_are_milliseconds() {
    let mut theatre = play("function delay() return 12.5 end");
    assert!(theatre.habits(0).delays);
    assert_eq!(theatre.delay(0), Ok(Duration::from_micros(12_500)));
    for odd in ["-1", "0/0", "1/0"] {
        assert_eq!(play(&format!("function delay() return {odd} end")).delay(0), Ok(Duration::ZERO), "{odd}");
    }
}

#[test]
fn values_travel_between_states_whole() {
    let text = r#"
        local threads = {}
        function setup(t)
           threads[#threads + 1] = t
           t:set("id", #threads)
           t:set("nested", {a = 1, b = {2, {c = "x"}}, [true] = false})
           assert(t:get("id") == #threads and t:get("nested").b[2].c == "x" and t:get("none") == nil)
        end
        function init() sum = id * 10 + nested.a + nested.b[1] + #nested.b[2].c; f = function() end end
        function request() return wrk.format(nil, "/" .. sum) end
        function done()
           local all = {}
           for n, t in ipairs(threads) do all[n] = t:get("sum") end
           assert(table.concat(all, " ") == "14 24 34", "sums")
           assert(not pcall(threads[1].get, threads[1], "f"), "a function stays")
        end
    "#;
    let mut theatre = Theatre::of(text, 3).unwrap();
    assert!(theatre.request(2).starts_with("GET /34 "));
    assert_eq!(theatre.done(), Ok(()));
}

#[test]
fn a_thread_has_its_address_and_no_other_field() {
    let text = r#"
        function setup(t)
           local addrs = wrk.lookup("two", "82")
           t.addr = addrs[2]
           assert(t.addr == addrs[2] and not pcall(function() t.other = 1 end))
        end
        function init() assert(tostring(wrk.thread.addr) == "127.0.0.2:82"); wrk.thread:set("own", {1}) end
        function request() return wrk.format(nil, "/" .. own[1]) end
    "#;
    let mut theatre = play(text);
    assert_eq!(theatre.target(0).to_string(), "127.0.0.2:82");
    assert!(theatre.request(0).starts_with("GET /1 "));
}

#[test]
fn a_thread_that_is_stopped_halts() {
    let mut theatre = play("function request() wrk.thread:stop() return wrk.request() end");
    assert_eq!(theatre.batch(0), Err(Halt::Stopped));
    let mut theatre = play("function setup(t) t:stop() end function request() return wrk.request() end");
    assert_eq!(theatre.batch(0), Err(Halt::Stopped));
}

#[test]
fn mistakes_are_one_line_that_names_file_and_line() {
    for (text, said) in [
        ("this is not lua", "test.lua:1: '=' expected near 'is'"),
        ("error('boom')", "test.lua:1: boom"),
        ("\nfunction setup() error('boom') end", "test.lua:2: boom"),
        (
            "function init() local x = nil; x.y = 1 end",
            "test.lua:1: attempt to index local 'x' (a nil value)",
        ),
        ("function request() error('boom') end", "test.lua:1: boom"),
        ("function request() return 'GET /' end", "incomplete request at 1:6"),
        ("function request() return wrk.format() .. 'junk\\r\\n\\r\\n' end", "at 5:1"),
        ("function request() return nil end", "string"),
        ("function setup(t) t:set('x', print) end", "cannot transfer a function"),
        ("function setup(t) local a = {}; a.a = a; t:set('x', a) end", "deeper than"),
        (
            "function setup() wrk.lookup('nowhere', '1') end",
            "unable to resolve nowhere:1 Name or service not known",
        ),
        ("function wrk.resolve() wrk.addrs = {} end", "unable to connect to h:81 no address"),
        ("local s = require('socket')", "module 'socket' not found"),
    ] {
        let found = failure(text);
        assert!(found.contains(said) && !found.contains('\n'), "{text}: {found}");
    }
}

#[test]
fn a_mistake_in_the_run_ends_it_and_is_kept() {
    let mut theatre = play(
        "local n = 0 function request() n = n + 1 if n > 2 then error('boom') end return wrk.request() end",
    );
    assert!(theatre.batch(0).is_ok());
    assert_eq!(theatre.batch(0), Err(Halt::Failed));
    assert_eq!(theatre.end(), Outcome { trouble: Some("test.lua:1: boom".to_owned()) });
}

#[test]
fn done_is_told_how_it_was() {
    let text = r#"
        function done(s, l, r)
           assert(s.requests == 4 and s.errors.status == 1 and s.errors.timeout == 2 and s.errors.read == 0, "summary")
           assert(l.min == 100 and l.max == 300 and l.mean == 200 and math.floor(l.stdev) == 81, "latency")
           assert(l:percentile(50) == 200 and l:percentile(100) == 300 and #l == 3, "percentiles")
           local value, count = l(2)
           assert(value == 200 and count == 2 and l(9) == nil, "values")
           assert(r.max == 1000 and #r == 1, "rates")
        end
    "#;
    assert_eq!(play(text).done(), Ok(()));
    let wrk2 =
        "function done(s, l) assert(#l == 4 and l[1] == 200 and l[4] == 600 and wrk.time_us() > 1e15) end";
    assert_eq!(Theatre::of_wrk2(wrk2).unwrap().done(), Ok(()));
    assert_eq!(play("function done() error('late') end").done(), Err("test.lua:1: late".to_owned()));
}
