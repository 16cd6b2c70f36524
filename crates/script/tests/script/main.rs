//! Scripts on a stage without sockets: what each callback sees, and how mistakes end.

mod helpers;

use helpers::{Outcome, Theatre, failure, play};
use load::script::{Halt, Response};
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
    let hooks = theatre.hooks(0);
    let fixed = String::from_utf8(hooks.fixed.unwrap()).unwrap();
    assert_eq!(
        fixed,
        "POST /other HTTP/1.1\r\nHost: h:81\r\nA: a\r\nB: b\r\nContent-Length: 3\r\nX-Q: z\r\n\r\nx=1"
    );
    assert_eq!((hooks.delays, hooks.responds), (false, false));
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
    let mut heard = Response::default();
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
        theatre.hear(0, &Response::default()).unwrap();
        assert!(theatre.request(0).starts_with(&format!("GET /{expected} ")), "{parameters}");
    }
}

#[test]
fn delays_are_milliseconds() {
    let mut theatre = play("function delay() return 12.5 end");
    assert!(theatre.hooks(0).delays);
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
        ("function request() return nil end", "incomplete request at 1:1"),
        ("function request() return {} end", "incomplete request at 1:1"),
        (
            "function request() local text = wrk.format(nil, nil, 5) return text end",
            "test.lua:1: attempt to index",
        ),
        ("\n\nfunction setup(t) t:set('x', print) end", "test.lua:3: cannot transfer a function"),
        ("function setup(t) local a = {}; a.a = a; t:set('x', a) end", "deeper than"),
        (
            "function setup() wrk.lookup('nowhere', '1') end",
            "unable to resolve nowhere:1 Name or service not known",
        ),
        ("function wrk.resolve() wrk.addrs = {} end", "unable to connect to h:81 no address"),
        ("\nlocal redis = require('redis')", "test.lua:2: module 'redis' is not found"),
        ("require('redis')", "put one in Lua beside the script"),
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
    assert_eq!(theatre.end(), Outcome { failure: Some("test.lua:1: boom".to_owned()) });
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

#[test]
fn a_call_that_does_not_come_back_is_given_up() {
    for (text, call) in [
        ("while true do sleep() end", "its top level"),
        ("function setup() while true do sleep() end end", "setup or init"),
        ("function init() while true do sleep() end end", "setup or init"),
    ] {
        let why = helpers::given_up(text).err().unwrap();
        assert!(why.contains(call) && why.contains("look for an endless loop"), "{text}: {why}");
    }
    let theatre = helpers::given_up("function done() while true do sleep() end end").unwrap();
    assert!(theatre.done().unwrap_err().contains("done did not return"));
}

#[test]
fn somebody_who_wants_the_end_gets_it_from_an_endless_loop() {
    for (text, call) in [
        ("while true do sleep() end", "its top level"),
        ("function setup() while true do sleep() end end", "setup or init"),
        ("function init() while true do sleep() end end", "setup or init"),
    ] {
        assert_eq!(helpers::interrupted(text), format!("test.lua: interrupted in {call}"));
    }
}

#[test]
fn names_are_looked_up_wherever_a_script_likes() {
    let text = r#"
        assert(#wrk.lookup("two", "82") == 2 and wrk.connect(wrk.lookup("h", "1")[1]))
        assert(require("wrk") == wrk)
        function init() assert(#wrk.lookup("two", "82") == 2) end
        function request() return wrk.format(nil, "/" .. tostring(wrk.lookup("h", "7")[1])) end
    "#;
    assert!(play(text).request(0).starts_with("GET /127.0.0.1:7 "));
}

#[test]
fn distributions_answer_as_in_wrk() {
    // Public scripts print `requests.total`, which wrk does not have: there a field that is not known is its own name.
    // https://github.com/wg/wrk/blob/master/src/script.c
    let text = r#"
        function done(s, l, r)
           assert(r.total == "total" and l.foo == "foo" and l[1] == "1", "fields")
           assert(type(l) == "userdata" and type(getmetatable(l).__index) == "function", "metatable")
           assert(getmetatable(l).__len and getmetatable(l).__call, "metatable")
           assert(l:percentile("50") == 200, "percentile")
           assert(s.nothing == nil, "summary")
        end"#;
    assert_eq!(play(text).done(), Ok(()));
}

#[test]
fn what_is_no_request_is_sent_as_it_is_and_nothing_as_nothing() {
    let text = "local n = 0 function request() n = n + 1
        if n == 2 then return 'rubbish' elseif n == 3 then return nil elseif n == 4 then return 42 end
        return wrk.request() end";
    let mut theatre = play(text);
    assert_eq!(["rubbish", "", "42"].map(|_| theatre.request(0)), ["rubbish", "", "42"]);
    assert_eq!(theatre.batch(0).map(|batch| batch.count), Ok(1));
}

#[test]
fn a_delay_without_a_number_is_none() {
    for (text, ms) in [("", 0), ("return 'x'", 0), ("return '5'", 5), ("return {}", 0)] {
        let mut theatre = play(&format!("function delay() {text} end"));
        assert_eq!(theatre.delay(0).map(|delay| delay.as_millis()), Ok(ms), "{text}");
    }
}

/// In the manner of hotelReservation/wrk2/scripts/hotel-reservation/mixed-workload_type_1.lua of
/// https://github.com/delimitrou/DeathStarBench: seeds from the clock of luasocket, whole URLs as paths, a mix by chance.
#[test]
fn death_star_benchs_scripts_run() {
    let text = r#"
        local socket = require("socket")
        math.randomseed(socket.gettime() * 1000)
        math.random(); math.random(); math.random()
        local base = "http://localhost:5000"
        local function search() return wrk.format("GET", base .. "/hotels?inDate=2015-04-" .. math.random(10, 23), {}, nil) end
        local function login() return wrk.format("POST", base .. "/user?username=Cornell_" .. math.random(0, 500), {}, nil) end
        request = function()
           cur_time = math.floor(socket.gettime())
           if math.random() < 0.6 then return search() else return login() end
        end
    "#;
    let mut theatre = Theatre::of_wrk2(text).unwrap();
    for _ in 0..50 {
        let request = theatre.request(0);
        let known =
            ["GET http://localhost:5000/hotels?inDate=2015-04-", "POST http://localhost:5000/user?username="];
        assert!(known.iter().any(|start| request.starts_with(start)), "{request}");
        assert!(request.contains("\r\nHost: h:81\r\n"), "{request}");
    }
}

#[test]
fn modules_that_public_scripts_ask_for_are_built_in() {
    let text = r#"
        local cjson, json, dkjson, safe = require "cjson", require "json", require "dkjson", require "cjson.safe"
        local text = '{"a":[1,2.5,-3e2,true,null],"b":{"c":"x\\"\\u00e9\\ud83d\\ude00\\/"},"d":{}}'
        for _, module in ipairs { cjson, json, dkjson } do
           local value = module.decode(text)
           assert(value.a[2] == 2.5 and value.a[3] == -300 and value.a[4] == true, "array")
           assert(value.b.c == 'x"\195\169\240\159\152\128/', "text")
           assert(module.decode(module.encode(value)).b.c == value.b.c, "and back")
        end
        assert(cjson.decode("[null]")[1] == cjson.null and json.decode("[null]")[1] == nil, "null")
        assert(cjson.encode({1, "a", {b = false}}) == '[1,"a",{"b":false}]' and cjson.encode({}) == "{}", "encode")
        assert(cjson.encode("a/b\n") == '"a\\/b\\n"' and cjson.encode(12345678901) == "12345678901", "scalars")
        for _, wrong in ipairs { "", "{", "[1,]", '{"a"}', "tru", "1 2", '"a' } do
           assert(not pcall(cjson.decode, wrong), wrong)
           local value, why = safe.decode(wrong)
           assert(value == nil and type(why) == "string", wrong)
           assert(dkjson.decode(wrong) == nil or wrong == "1 2", wrong)
        end
        assert(not pcall(cjson.encode, print) and not pcall(cjson.encode, 0/0), "what is no JSON")
        local mime, struct = require "mime", require "struct"
        for plain, coded in pairs { [""] = "", a = "YQ==", ab = "YWI=", abc = "YWJj", ["user:pass"] = "dXNlcjpwYXNz" } do
           assert((mime.b64(plain)) == coded and mime.unb64(coded) == plain, plain)
        end
        local packed = struct.pack(">I2<i4bds", 258, -2, -1, 1.5, "end")
        assert(packed:sub(1, 2) == "\1\2" and #packed == 2 + 4 + 1 + 8 + 4 and struct.size(">I2<i4bd") == 15, "struct")
        local a, b, c, d, e, at = struct.unpack(">I2<i4bds", packed)
        assert(a == 258 and b == -2 and c == -1 and d == 1.5 and e == "end" and at == #packed + 1, "unpacked")
        assert(require("socket.url").escape("a b/\195\169") == "a%20b%2f%c3%a9")
        assert(type(require("socket").gettime()) == "number" and require("socket").gettime() > 1.6e9)
        assert(not pcall(require, "none.such") and package.loaded.wrk == wrk)
    "#;
    play(text);
}

#[test]
fn modules_in_lua_are_found_beside_the_script_before_those_built_in() {
    let folder = std::env::temp_dir().join(format!("wringer-script-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("json.lua"), "return { encode = function() return 'mine' end }").unwrap();
    let text = "body = require('json').encode({}) function request() return wrk.format(nil, '/' .. body) end";
    let mut theatre = Theatre::in_folder(text, &folder).unwrap();
    let request = theatre.request(0);
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(request.starts_with("GET /mine "), "{request}");
}

/// LuaSocket as distributions have it, in its two forms: a half in Lua, and one in C that cannot be loaded.
#[test]
fn what_is_built_in_stands_in_for_modules_whose_half_in_c_is_missing() {
    let halves = [
        ("socket.lua", "local socket = require('socket.core') socket.try = socket.newtry() return socket"),
        ("mime.lua", "local core = require('mime.core') module('mime') b64 = core.b64"),
        ("socket/url.lua", "require('socket') return { parse = function() return 'theirs' end }"),
        ("json.lua", "require('none.such') return {}"),
        ("base64.lua", "error('no good')"),
    ];
    let folder = std::env::temp_dir().join(format!("wringer-script-halves-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("socket")).unwrap();
    halves.iter().for_each(|(name, text)| std::fs::write(folder.join(name), text).unwrap());
    let text = r#"
        local url, socket, mime = require "socket.url", require "socket", require "mime"
        assert(socket.gettime() > 1.6e9 and socket == require "socket" and package.loaded["socket.core"] == nil)
        assert((mime.b64("a")) == "YQ==" and url.parse() == "theirs")
        local opened, why = pcall(socket.tcp)
        assert(not opened and why:find("scripts open no connections", 1, true), why)
        for name, word in pairs { json = "none.such", base64 = "no good" } do
           local loaded, why = pcall(require, name)
           assert(not loaded and why:find(word, 1, true), why)
        end
    "#;
    let made = Theatre::in_folder(text, &folder).map(|_| ());
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(made, Ok(()));
}

/// https://github.com/wg/wrk/blob/master/src/script.c: whatever a thread does not know is given back.
#[test]
fn fields_that_a_thread_has_not_are_their_own_names() {
    let text = r#"
        function setup(thread)
           thread:set("id", 5)
           assert(thread.id == "id" and thread:get("id") == 5 and thread[1] == "1" and thread.addr)
           local set, why = pcall(function() thread.id = 3 end)
           assert(not set and tostring(why):find("cannot set 'id' on thread", 1, true), why)
        end
        function init() assert(wrk.thread.other == "other" and id == 5) end
    "#;
    play(text);
}
