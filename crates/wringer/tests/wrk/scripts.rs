//! Public scripts for wrk and wrk2, retyped by what they do: each runs as it does there.

use crate::server::{Behaviour, serve};
use crate::support::run;
use crate::{ends, script};
use std::fs;

/// A script, and what shows that it ran.
struct Case {
    /// Where one like it is published.
    source: &'static str,
    /// `FOLDER` stands for the one that it lies in.
    text: &'static str,
    /// The start of the first request.
    asks: &'static str,
    /// Text printed after the report.
    prints: &'static str,
}

const CASES: [Case; 11] = [
    Case {
        source: "wg/wrk, scripts/sequence.lua: a thread asks for its own value, request returns two",
        text: r#"
            local thread_id = 0
            setup = function(thread) thread_id = thread_id + 1; thread:set("thread_id", thread_id) end
            local counter = 0
            request = function()
               counter = counter + 1
               local id = wrk.thread:get("thread_id") .. ":" .. counter
               return wrk.format(nil, "/?" .. id), id
            end
            response = function(status, headers, body, userdata) heard = tostring(status) end
            done = function() print("done") end"#,
        asks: "GET /?1:",
        prints: "done\n",
    },
    Case {
        source: "klen/py-frameworks-bench, wrk/upload.lua: a file in a multipart form, a row of results appended",
        text: r#"
            local function read(path)
               local file, why = io.open(path, "r")
               if not file then error("Could not read the file:" .. why .. "\n") end
               local content = file:read "*all"
               file:close()
               return content
            end
            local boundary, crlf = "----WebKitFormBoundaryePkpFF7tjBAqx29L", "\r\n"
            wrk.method = "POST"
            wrk.headers["content-type"] = "multipart/form-data; boundary=" .. boundary
            wrk.body = "--" .. boundary .. crlf .. 'Content-Disposition: form-data; name="file"' .. crlf .. crlf
               .. read("FOLDER/script.lua") .. crlf .. "--" .. boundary .. "--"
            done = function(summary, latency)
               local file = assert(io.open("FOLDER/row.csv", "a"))
               file.write(file, string.format("%d,%.2f,%.2f,%d\n", summary.requests, latency:percentile(50) / 1000,
                  latency.mean / 1000, summary.errors.timeout))
               file.close()
               print("kept")
            end"#,
        asks: "POST / HTTP/1.1\r\nHost: ",
        prints: "kept\n",
    },
    Case {
        source: "timotta/wrk-scripts, multiplepaths.lua: the first path is the one before the first",
        text: r#"
            counter, paths = 0, { "/a", "/b" }
            request = function()
               path = paths[counter]
               counter = counter + 1
               if counter > #paths then counter = 0 end
               return wrk.format(nil, path)
            end"#,
        asks: "GET /a HTTP/1.1\r\n",
        prints: "",
    },
    Case {
        source: "purinda/wrk2-profiler-platform, sample-app/auth.lua: a token of the first answer goes with all others",
        text: r#"
            token, path = nil, "/auth"
            request = function() return wrk.format("GET", path) end
            response = function(status, headers, body)
               if not token and status == 200 then
                  token, path = headers["Content-Length"], "/resource"
                  wrk.headers["Authorization"] = token
               end
            end"#,
        asks: "GET /auth HTTP/1.1\r\n",
        prints: "",
    },
    Case {
        source: "tempesta-tech/tempesta, wrk/mixed.lua: methods of all kinds in one piece",
        text: r#"
            init = function(args)
               local all = {}
               for nth, method in ipairs { "OPTIONS", "GET", "POST", "PUT", "PATCH", "DELETE" } do all[nth] = wrk.format(method, "/") end
               req = table.concat(all)
            end
            request = function() return req end
            done = function(s) print(s.errors.connect + s.errors.read + s.errors.write + s.errors.status) end"#,
        asks: "OPTIONS / HTTP/1.1\r\n",
        prints: "0\n",
    },
    Case {
        source: "abcdabcd987/naughttpd, test/wrk_sendfile.lua: LuaJIT's bit library and a path by chance",
        text: r#"
            math.randomseed(os.time())
            local chunks = bit.lshift(1, 7 - 4)
            request = function() return wrk.format(nil, string.format("/data/%d/%d.bin", 4, math.random(chunks) - 1)) end"#,
        asks: "GET /data/4/",
        prints: "",
    },
    Case {
        source: "loading21th/wrk, scripts/ly_setup.lua: what each thread counted, told in the end",
        text: r#"
            local counter, threads = 1, {}
            function setup(thread) thread:set("id", counter) table.insert(threads, thread) counter = counter + 1 end
            function init(args) requests, responses, failtimes = 0, 0, 0 end
            function request() requests = requests + 1 return wrk.request() end
            function response(status) responses = responses + 1 if status ~= 200 then failtimes = failtimes + 1 end end
            function done(summary, latency, requests)
               for index, thread in ipairs(threads) do
                  local id, sent, got = thread:get("id"), thread:get("requests"), thread:get("responses")
                  print(("thread %d answered %s failed %d"):format(id, tostring(sent >= got and got > 0), thread:get("failtimes")))
               end
            end"#,
        asks: "GET / HTTP/1.1\r\n",
        prints: "thread 1 answered true failed 0\n",
    },
    Case {
        source: "many: percentiles and totals printed, a field that there is not among them",
        text: r#"
            done = function(summary, latency, requests)
               io.write("------------------------------\n")
               for _, p in pairs({ 50, 90, 99, 99.999 }) do
                  local n = latency:percentile(p)
                  io.write(string.format("%g%%,%s\n", p, n > 0))
               end
               io.write("Requests: " .. requests.total .. " " .. tostring(summary["bytes"] > 0) .. "\n")
            end"#,
        asks: "GET / HTTP/1.1\r\n",
        prints: "------------------------------\n50%,true\n90%,true\n99%,true\n99.999%,true\nRequests: total true\n",
    },
    Case {
        source: "yinyue123/DK8sDDosFirewall, wrk.lua: a path that was never set, headers that change each time",
        text: r#"
            local random = math.random
            function request()
               wrk.headers["X-Forwarded-For"] = string.format("%d.%d.%d.%d", random(0, 255), random(0, 255), random(0, 255), random(0, 255))
               return wrk.format("GET", path)
            end"#,
        asks: "GET / HTTP/1.1\r\n",
        prints: "",
    },
    Case {
        source: "Romero027/DeathStarBench, echo-server/kubia_workload.lua: LuaSocket as a global, a long body",
        text: r#"
            require "socket"
            math.randomseed(socket.gettime() * 1000)
            local body = string.rep("123", 1200)
            request = function() return wrk.format("POST", "http://localhost:80/", {}, body) end"#,
        asks: "POST http://localhost:80/ HTTP/1.1\r\n",
        prints: "",
    },
    Case {
        source: "many: modules beside the script by debug.getinfo, errors caught with debug.traceback",
        text: r#"
            local folder = debug.getinfo(1, "S").source:sub(2):match("(.*/)")
            package.path = folder .. "?.lua;" .. package.path
            local ok, why = xpcall(function() error("odd") end, debug.traceback)
            request = function() return wrk.format(nil, "/" .. tostring(ok)) end
            function done()
               local place = debug.getinfo(1, "l").currentline
               print(folder == "FOLDER/", why:match("script.lua:4: odd\nstack traceback:") ~= nil, place, debug.traceback(7, 1) ~= nil)
            end"#,
        asks: "GET /false HTTP/1.1\r\n",
        prints: "true\ttrue\t7\ttrue\n",
    },
];

#[test]
fn public_scripts_run_as_there() {
    for case in CASES {
        let server = serve(Behaviour::Ok);
        let (folder, file) = script(case.text);
        let text = case.text.replace("FOLDER", &folder.path().display().to_string());
        fs::write(&file, text).unwrap();
        let ran = run(&format!("wrk -t1 -c1 -d1s -s {file} {}", server.url()));
        ends(&ran, 0);
        let source = case.source;
        assert!(server.first().starts_with(case.asks), "{source}: {}", server.first());
        let (_, after) = ran.stdout.split_once("Transfer/sec:").unwrap();
        let printed = after.split_once('\n').map_or("", |(_, printed)| printed);
        assert_eq!(printed, case.prints, "{source}: {}", ran.stdout);
    }
}

/// `os.exit` within a script ends wrk at once, wherever it stands: with that code, and without a report.
#[test]
fn scripts_may_end_the_program() {
    for (text, code, printed) in [
        ("print('No paths found') os.exit()", 0, "No paths found\n"),
        ("print('No requests found!') os.exit(1)", 1, "No requests found!\n"),
        ("function init() print('init') os.exit(7) end", 7, "init\n"),
    ] {
        let server = serve(Behaviour::Ok);
        let (_folder, file) = script(text);
        let ran = run(&format!("wrk -t1 -c1 -d50s -s {file} {}", server.url()));
        ends(&ran, code);
        assert_eq!(ran.stdout, printed, "{text}");
    }
}
