//! Nothing private of a log is in its recording, in whatever format it stood: lines with canaries in each place that may hold something
//! private, and a search for them in the recording's bytes and in all that is read out of it.

use crate::support::{Memory, import, open, requests};
use recording::file::{Block, Recording};
use recording::format::names;
use recording::import::gor::SEPARATOR;
use recording::import::{Finished, Import, Options};
use recording::read::lines::Go;

/// Parts of private things, in small letters; `%CANARY…` of a line is made of them.
const CANARIES: [&str; 8] =
    ["canary", "203.0.113.77", "2001:db8:77::7", "123456789012", "4f6e9b", "hunter2", "jane", "q2fuyxj5"];

/// A path whose parts are tokens, and a query whose values nobody else should see.
const PATH: &str = "/reset/CANARYaB3dE5fG7hJ9kL/4f6e9b0c11d2e3f405162738495a6b7c/123456789012/jane.canary@mail.example/list.html";
const QUERY: &str =
    "token=hunter2&mail=jane%40canary.example&ip=203.0.113.77&q=q2FuYXJ5&id=canary-1&canaryhunter2";
const ADDRESS: &str = "203.0.113.77";
const AGENT: &str = "CanaryAgent/1.0 (jane)";
const COOKIE: &str = "session=CANARYcookie; user=jane";
const REFERER: &str = "https://jane:hunter2@canary.example/?q=hunter2";

/// Formats with a line of each, in which `{p}` is path and query, `{u}` a whole URL with name and password, `{a}`, `{g}`, `{c}`, `{r}`
/// an address, an agent, a cookie and a referer, `{P}` and `{Q}` path and query alone.
const LINES: [(&str, &str); 36] = [
    (
        "combined",
        r#"{a} CANARYident jane.canary [10/Oct/2000:13:55:36 -0700] "GET {p} HTTP/1.1" 200 5 "{r}" "{g}""#,
    ),
    ("common", r#"{a} - jane [10/Oct/2000:13:55:36 -0700] "GET {u} HTTP/1.1" 200 5"#),
    ("combined-whole", r#"{a} - jane [10/Oct/2000:13:55:36 -0700] "GET {p} HTTP/1.1" 200 505 "{r}" "{g}""#),
    ("common-whole", r#"2001:db8:77::7 - jane [10/Oct/2000:13:55:36 -0700] "GET {p} HTTP/1.1" 200 505"#),
    (
        "vhost_combined",
        r#"h.example:80 {a} - jane [10/Oct/2000:13:55:36 -0700] "GET {p} HTTP/1.1" 200 505 "{r}" "{g}""#,
    ),
    ("nginx", r#"{a} - jane [10/Oct/2000:13:55:36 -0700] "GET {p} HTTP/1.1" 200 5 "{r}" "{g}""#),
    ("squid", "971211336.250    125 {a} TCP_MISS/200 1500 GET {u} jane HIER_DIRECT/203.0.113.77 text/html"),
    (
        "squid-combined",
        r#"{a} jane canary [10/Oct/2000:20:55:36 +0000] "GET {u} HTTP/1.1" 200 900 "{r}" "{g}" TCP_HIT:HIER_NONE"#,
    ),
    ("ats", "971211336.250 125 {a} TCP_MISS/200 1500 GET {u} jane DIRECT/203.0.113.77 text/html"),
    ("ats-common", r#"{a} - jane [10/Oct/2000:13:55:36 -0700] "GET {u} HTTP/1.1" 200 1000"#),
    (
        "ats-extended",
        r#"{a} - jane [10/Oct/2000:13:55:36 -0700] "GET {u} HTTP/1.1" 200 1000 200 1000 0 0 150 250 180 240 0"#,
    ),
    (
        "ats-extended2",
        r#"{a} - jane [10/Oct/2000:13:55:36 -0700] "GET {u} HTTP/1.1" 200 1000 200 1000 0 0 150 250 180 240 0 DIRECT FIN FIN TCP_MISS"#,
    ),
    (
        "haproxy",
        r#"<134>Feb  6 12:14:14 localhost haproxy[14389]: {a}:33317 [10/Oct/2000:20:55:36.655] http-in static/srv1 10/0/30/69/109 200 2750 CANARYcookie=jane CANARYcookie=jane CD-- 1/1/1/1/0 0/0 {h.example|{g}|{r}} {CANARY} "GET {p} HTTP/1.1""#,
    ),
    (
        "haproxy-https",
        r#"{a}:33317 [10/Oct/2000:20:55:36.655] http-in~ static/srv1 10/0/30/69/109 200 2750 jane canary CD-- 1/1/1/1/0 0/0 {h.example|{c}} {} "GET https://h.example{p} HTTP/2.0" 0/0/0/0/0 canary.example/TLSv1.3/TLS_AES_256_GCM_SHA384"#,
    ),
    ("varnish", r#"{a} - jane [10/Oct/2000:20:55:36 +0000] "GET {u} HTTP/1.1" 200 900 "{r}" "{g}""#),
    (
        "caddy",
        r#"{"level":"info","ts":971211336.25,"request":{"remote_ip":"{a}","remote_port":"4134","client_ip":"2001:db8:77::7","proto":"HTTP/2.0","method":"GET","host":"h.example","uri":"{p}","headers":{"User-Agent":["{g}"],"Cookie":["{c}"],"Authorization":["Basic amFuZTpodW50ZXIy jane:hunter2"],"Referer":["{r}"]}},"user_id":"jane.canary","duration":0.125,"size":10900,"status":200,"resp_headers":{"Set-Cookie":["{c}"],"Location":["{r}"]}}"#,
    ),
    (
        "envoy",
        r#"[2000-10-10T20:55:36.250Z] "GET {p} HTTP/2" 200 - 0 154 125 100 "{a}, 2001:db8:77::7" "{g}" "canary-id" "h.example" "203.0.113.77:80""#,
    ),
    (
        "envoy-json",
        r#"{"start_time":"2000-10-10T20:55:36.250Z","duration":12,"method":"GET","path":"{p}","protocol":"HTTP/2","response_code":200,"response_flags":"-","bytes_sent":154,"authority":"h.example","user_agent":"{g}","x_forwarded_for":"{a}","downstream_remote_address":"{a}:4134","requested_server_name":"canary.example","referer":"{r}","cookie":"{c}"}"#,
    ),
    (
        "traefik",
        r#"{a} - jane [10/Oct/2000:20:55:36 +0000] "GET {p} HTTP/1.1" 200 2 "{r}" "{g}" 17 "canary@docker" "http://203.0.113.77:80" 12ms"#,
    ),
    (
        "traefik-json",
        r#"{"ClientHost":"{a}","ClientAddr":"{a}:1","ClientUsername":"jane","DownstreamContentSize":7,"DownstreamStatus":200,"Duration":1500000,"RequestHost":"h.example","RequestMethod":"GET","RequestPath":"{p}","RequestProtocol":"HTTP/1.1","StartUTC":"2000-10-10T20:55:36.25Z","request_Cookie":"{c}","request_Authorization":"hunter2","request_Referer":"{r}","request_User-Agent":"{g}"}"#,
    ),
    (
        "alb",
        r#"https 2000-10-10T20:55:37.000000Z app/lb/50d {a}:2817 203.0.113.77:80 0.086 0.048 0.037 200 200 0 57 "GET https://h.example:443{p} HTTP/1.1" "{g}" ECDHE TLSv1.2 arn:canary "Root=1-canary" "h.example" "arn" 1 2000-10-10T20:55:36.829000Z "forward" "-" "-" "203.0.113.77:80" "200" "-" "-" TID_canary"#,
    ),
    (
        "s3",
        r#"79a canarybucket [10/Oct/2000:20:55:36 +0000] {a} jane 3E5 REST.GET.OBJECT canary.png "GET {p} HTTP/1.1" 200 - 2662 3462 7 6 "{r}" "{g}" - CANARYid= SigV2 - - h.example TLSv1"#,
    ),
    (
        "w3c",
        "#Software: IIS\n#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) cs(Referer) cs(Cookie) cs-host sc-status time-taken\n2000-10-10 20:55:36 203.0.113.77 GET {P} {Q} 443 jane {a} CanaryAgent {r} CANARYcookie=jane h.example 200 15",
    ),
    (
        "w3c",
        "#Version: 1.0\n#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query cs(Cookie) x-edge-result-type x-edge-request-id x-host-header cs-protocol cs-bytes time-taken x-forwarded-for\n2000-10-10\t20:55:36\tLAX1\t900\t{a}\tGET\td1.example\t{P}\t200\t{r}\tCanaryAgent\t{Q}\t{c}\tHit\tcanaryid==\th.example\thttps\t23\t0.001\t2001:db8:77::7",
    ),
    (
        "w3c",
        "#separator \\x09\n#fields\tts\tuid\tid.orig_h\tid.orig_p\tmethod\thost\turi\treferrer\tversion\tuser_agent\torigin\tresponse_body_len\tstatus_code\tusername\tpassword\n971211336.25\tCANARY\t{a}\t41\tGET\th.example\t{p}\t{r}\t1.1\t{g}\t{r}\t7\t200\tjane\thunter2",
    ),
    (
        "cloudflare",
        r#"{"CacheCacheStatus":"miss","ClientIP":"{a}","ClientRequestHost":"h.example","ClientRequestMethod":"GET","ClientRequestURI":"{p}","ClientRequestReferer":"{r}","Cookies":{"session":"CANARYcookie"},"ClientRequestUserAgent":"{g}","EdgeResponseBytes":900,"EdgeResponseStatus":200,"EdgeStartTimestamp":971211336250000000,"RayID":"canary"}"#,
    ),
    (
        "akamai",
        r#"{"reqTimeSec":"971211336.25","cliIP":"{a}","reqMethod":"GET","reqHost":"h.example","reqPath":"{P}","queryStr":"{Q}","proto":"HTTP/1.1","UA":"{g}","referer":"{r}","cookie":"{c}","statusCode":"200","bytes":"7","xForwardedFor":"{a}"}"#,
    ),
    (
        "azure",
        r#"{"time":"2000-10-10T20:55:36.25Z","category":"FrontdoorAccessLog","properties":{"httpMethod":"GET","requestUri":"https://jane:hunter2@h.example:443{p}","clientIp":"{a}","socketIp":"{a}","userAgent":"{g}","referer":"{r}","timeTaken":"0.008","responseBytes":"11","httpStatusCode":"200","cacheStatus":"MISS"}}"#,
    ),
    (
        "google",
        r#"{"timestamp":"2000-10-10T20:55:36.25Z","httpRequest":{"requestMethod":"GET","requestUrl":"{u}","status":200,"responseSize":"11","latency":"0.03s","remoteIp":"{a}","userAgent":"{g}","referer":"{r}"}}"#,
    ),
    (
        "zeek-json",
        r#"{"ts":971211336.25,"uid":"CANARY","id.orig_h":"{a}","method":"GET","host":"h.example","uri":"{p}","referrer":"{r}","username":"jane","password":"hunter2","user_agent":"{g}","response_body_len":7,"status_code":200}"#,
    ),
    ("bunny", "HIT|200|971211336250|412|390|{a}|{r}|https://jane:hunter2@h.example{p}|WA|{g}|canary|DE"),
    (
        r#"%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i" "%{Cookie}i" "%{Authorization}i""#,
        r#"{a} - jane [10/Oct/2000:13:55:36 -0700] "GET {p} HTTP/1.1" 200 5 "{r}" "{g}" "{c}" "Basic hunter2""#,
    ),
    (
        r#"$msec $remote_addr $remote_user "$request" $status "$http_cookie" "$http_referer" "$http_user_agent" "$http_x_forwarded_for""#,
        r#"971211336.250 {a} jane "GET {p} HTTP/2.0" 200 "{c}" "{r}" "{g}" "{a}""#,
    ),
    (
        r#"{"t":"$time_iso8601","r":"$request","s":$status,"a":"$remote_addr","c":"$http_cookie","u":"$remote_user"}"#,
        r#"{"t":"2000-10-10T20:55:36+00:00","r":"GET {p} HTTP/1.1","s":200,"a":"{a}","c":"{c}","u":"jane"}"#,
    ),
    (
        "json:time=t,url=u,status=s,bytes=n,address=c.ip,user=c.name,agent=g",
        r#"{"t":971211336.25,"u":"{u}","s":200,"n":5,"c":{"ip":"{a}","name":"jane","cookie":"{c}"},"g":"{g}"}"#,
    ),
    ("csv:time=1,id=2,size=3,user=4", "971211336,canaryhunter2,7,{a}"),
];

/// A line of a format, and behind it what is left out: half of it, what is no request, and bytes that no request may hold.
fn log(line: &str) -> Vec<u8> {
    let url = format!("http://jane:hunter2@h.example{PATH}?{QUERY}");
    let target = format!("{PATH}?{QUERY}");
    let filled = [
        ("{p}", target.as_str()),
        ("{u}", &url),
        ("{P}", PATH),
        ("{Q}", QUERY),
        ("{a}", ADDRESS),
        ("{g}", AGENT),
        ("{c}", COOKIE),
        ("{r}", REFERER),
    ]
    .iter()
    .fold(line.to_owned(), |text, (place, value)| text.replace(place, value));
    let last = filled.lines().last().expect("a line");
    let half = &last[..last.len() / 2];
    let strange = last.replace("?token=hunter2", "?\\x0d\\x0atoken=hunter2");
    let cut = last.replace("hunter2@h.example", "hun/ter2@canary.example");
    let fragment = last.replace("?token=hunter2", "#token=hunter2");
    let tunnel = last.replace("GET ", "CONNECT ").replace("\"GET\"", "\"CONNECT\"");
    format!("{filled}\n{half}\n{strange}\n{cut}\n{fragment}\n{tunnel}\ncanary hunter2 203.0.113.77\n")
        .into_bytes()
}

/// All that can be read out of a recording, as text.
fn read_out(recording: &mut Recording<Memory>) -> String {
    let mut out = format!("{:?} {:?}", recording.header(), recording.summary());
    recording.urls(|_, url| out.push_str(&String::from_utf8_lossy(url))).expect("it is whole");
    recording.texts(|_, text| out.push_str(&String::from_utf8_lossy(text))).expect("it is whole");
    recording.users(|_, _, user| out.push_str(&String::from_utf8_lossy(user))).expect("it is whole");
    let mut block = Block::default();
    for number in 0..recording.block_count() {
        recording.read_block(number, &mut block).expect("it is whole");
        out.push_str(&format!("{:?}", block.rows));
    }
    out
}

/// Bytes as they are after `%XX` was taken back.
fn unescaped(bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes).replace("%40", "@").replace("%2D", "-");
    text.into_bytes()
}

/// Fails where one of the canaries stands in a recording.
fn holds_no_canary(name: &str, finished: &Finished<Vec<u8>>) {
    let mut recording = open(&finished.to);
    assert!(!requests(&mut recording).is_empty(), "{name}: nothing was read, so nothing can be found");
    let shown = read_out(&mut recording).into_bytes();
    for bytes in [&finished.to, &shown, &unescaped(&finished.to)] {
        let lower = bytes.to_ascii_lowercase();
        for canary in CANARIES {
            let found = lower.windows(canary.len()).position(|window| window == canary.as_bytes());
            let around = found.map(|at| {
                String::from_utf8_lossy(&lower[at.saturating_sub(60)..(at + 60).min(lower.len())])
                    .into_owned()
            });
            assert!(around.is_none(), "{name}: {canary} stands in the recording: {around:?}");
        }
        let address = [203, 0, 113, 77];
        assert!(
            !bytes.windows(4).any(|window| window == address),
            "{name}: the address stands in it as bytes"
        );
    }
}

fn lossy() -> Options {
    Options { tolerate: 1.0, ..Options::default() }
}

#[test]
fn no_format_lets_anything_private_into_a_recording() {
    let missing = names::ALL.iter().find(|named| LINES.iter().all(|(format, _)| *format != named.name));
    assert!(missing.is_none(), "{missing:?} has no line with canaries");
    for (format, line) in LINES {
        let finished = import(lossy(), &[("a.log", format, &log(line))])
            .unwrap_or_else(|error| panic!("{format}: {error}"));
        holds_no_canary(format, &finished);
    }
}

/// Messages with canaries in each field, as they come in files of goreplay's, of proxy-verifier's, in packets and from a mirror.
#[test]
fn no_message_lets_anything_private_into_a_recording() {
    let fields = format!(
        "Host: h.example\r\nCookie: {COOKIE}\r\nAuthorization: Basic hunter2\r\nProxy-Authorization: hunter2\r\nReferer: {REFERER}\r\n\
         User-Agent: {AGENT}\r\nX-Forwarded-For: {ADDRESS}, 10.0.0.1\r\nX-Canary-Key: canary\r\nIf-None-Match: \"canary\"\r\n"
    );
    let asked = [
        format!("GET {PATH}?{QUERY} HTTP/1.1\r\n{fields}\r\n"),
        format!("GET http://jane:hunter2@h.example{PATH}?{QUERY} HTTP/1.1\r\n{fields}\r\n"),
        format!("POST {PATH} HTTP/1.1\r\n{fields}Content-Length: 14\r\n\r\nuser=jane&p=ca"),
    ];
    let answer = format!(
        "HTTP/1.1 200 OK\r\nSet-Cookie: {COOKIE}\r\nLocation: {REFERER}\r\nETag: \"canary\"\r\nContent-Length: 6\r\n\r\ncanary"
    );
    let mut gor = Vec::new();
    let mut import = Import::new(lossy(), Memory::default());
    import.begin_input("mirror", false);
    for (number, message) in asked.iter().enumerate() {
        let at = 1_795_746_709_000_000_000_u64 + number as u64;
        for (kind, text) in [(1, message), (2, &answer)] {
            gor.extend_from_slice(format!("{kind} {number:024x} {at} 0\n{text}").as_bytes());
            gor.extend_from_slice(SEPARATOR);
        }
        import.mirrored(message.as_bytes(), number as u64, (at / 1_000) as i64).unwrap();
    }
    import.end_input(recording::file::Input { name: "mirror".to_owned(), ..Default::default() }).unwrap();
    holds_no_canary("mirror", &import.finish(Vec::new()).unwrap());
    let mut import = Import::new(lossy(), Memory::default());
    import.gor("a.gor", &mut &gor[..], &mut |_| Go::On).unwrap();
    holds_no_canary("gor", &import.finish(Vec::new()).unwrap());
    let mut import = Import::new(lossy(), Memory::default());
    import.pcap("a.pcap", &mut &crate::packets::exchanges(&asked, &answer)[..], &mut |_| Go::On).unwrap();
    holds_no_canary("pcap", &import.finish(Vec::new()).unwrap());
    let verifier = format!(
        "meta: {{version: '1.0'}}\nsessions:\n- protocol: [{{name: tls, sni: canary.example}}]\n  transactions:\n  - client-request: {{method: GET, url: '{PATH}?{QUERY}', version: '1.1', \
         headers: {{fields: [[Host, h.example], [Cookie, '{COOKIE}'], [Authorization, hunter2], [Referer, '{REFERER}'], [uuid, canary]]}}}}\n    \
         server-response: {{status: 200, headers: {{fields: [[Set-Cookie, '{COOKIE}']]}}, content: {{data: canary}}}}\n"
    );
    let mut import = Import::new(lossy(), Memory::default());
    import.verifier("a.yaml", &mut verifier.as_bytes(), &mut |_| Go::On).unwrap();
    holds_no_canary("proxy-verifier", &import.finish(Vec::new()).unwrap());
}
