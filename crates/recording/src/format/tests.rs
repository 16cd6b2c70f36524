//! A line of each server by its format, and what it says.

use super::*;
use crate::entry::{Named, Sent, Text};
use crate::text::unescape;
use crate::words::Cache;
use detect::{DetectError, detect};

/// The facts that a line should tell.
#[derive(Debug, PartialEq, Default)]
struct Said {
    us: i64,
    edge: Edge,
    address: &'static str,
    object: &'static str,
    status: u16,
    sent: Sent,
    duration_us: Option<u64>,
    agent: &'static str,
    host: &'static str,
    cache: Cache,
}

fn text(text: Text<'_>) -> &'static str {
    String::from_utf8(unescape(text).into_owned()).expect("text").leak()
}

fn said(format: &str, lines: &str) -> Said {
    let mut format = Format::parse(format, Zone::Untold).unwrap_or_else(|why| panic!("{format}: {why}"));
    let mut entry = None;
    let lines = lines.to_owned().leak();
    for line in lines.lines() {
        let mut found = Entry::default();
        match format.read(line.as_bytes(), &mut found) {
            Ok(RecordingLine::Entry) => entry = Some(found),
            Ok(RecordingLine::Directive) => {}
            Err(misfit) => {
                panic!("{}: {misfit:?} ({:?}) {line}", format.name(), format.field_name(misfit.field))
            }
        }
    }
    let entry = entry.expect("an entry");
    let time = entry.began.or(entry.time).expect("a time");
    let object = match entry.object {
        Named::Line(line) => text(line),
        Named::Target(target) => text(target),
        Named::Parts(path, query) => format!("{}?{}", text(path), text(query)).leak(),
        Named::Nothing => "",
        Named::Number(number) => format!("{number}").leak(),
    };
    Said {
        us: time.us,
        edge: time.edge,
        address: text(entry.address),
        object,
        status: entry.status.unwrap_or(0),
        sent: entry.sent,
        duration_us: entry.duration_us,
        agent: text(entry.agent),
        host: text(entry.host),
        cache: entry.cache,
    }
}

/// 2000-10-10 20:55:36 UTC.
const NOON: i64 = 971_211_336_000_000;

#[test]
fn apache_and_its_kin() {
    let combined = r#"192.0.2.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /a.gif HTTP/1.0" 200 2326 "http://x.example/" "Mozilla/4.08 [en]""#;
    let expected = || Said {
        us: NOON,
        address: "192.0.2.1",
        object: "GET /a.gif HTTP/1.0",
        status: 200,
        sent: Sent::Body(2326),
        agent: "Mozilla/4.08 [en]",
        ..Said::default()
    };
    assert_eq!(said("combined", combined), expected());
    assert_eq!(said("nginx", combined), Said { edge: Edge::End, ..expected() });
    assert_eq!(said("combined-whole", combined), Said { sent: Sent::Whole(2326), ..expected() });
    assert_eq!(
        said("%h %l %u %t \\\"%r\\\" %>s %b \\\"%{Referer}i\\\" \\\"%{User-Agent}i\\\"", combined),
        expected()
    );
    assert_eq!(
        said("varnish", &combined.replace("/a.gif", "http://h.example/a.gif")).object,
        "GET http://h.example/a.gif HTTP/1.0"
    );
    let timed = r#"2001:db8::1 971211336250000 1500 T 200 "GET /\x22a\" HTTP/1.1" HIT-x "h.example""#;
    let found = said(r#"%a %{begin:usec}t %D T %>s "%r" %{X-Cache}o "%{Host}i""#, timed);
    let expected = Said {
        us: NOON + 250_000,
        address: "2001:db8::1",
        object: "GET /\"a\" HTTP/1.1",
        status: 200,
        duration_us: Some(1500),
        host: "h.example",
        cache: Cache::Hit,
        ..Said::default()
    };
    assert_eq!(found, expected);
    let parts = said(
        "%h [%{%d/%b/%Y %T}t.%{msec_frac}t %{%z}t] %U%q %m %s %{ms}T",
        "192.0.2.1 [10/Oct/2000 13:55:36.125 -0700] /a?b=1 GET 200 7",
    );
    assert_eq!((parts.us, parts.duration_us), (NOON + 125_000, Some(7_000)));
    let vhost = r#"h.example:80 192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 500 "-" "-""#;
    assert_eq!(said("vhost_combined", vhost).host, "h.example");
    let traefik = r#"192.0.2.1 - - [10/Oct/2000:20:55:36 +0000] "GET /a HTTP/1.1" 200 2 "-" "curl" 17 "web@docker" "http://198.51.100.7:80" 12ms"#;
    assert_eq!(said("traefik", traefik).duration_us, Some(12_000));
}

#[test]
fn nginx_by_any_string() {
    let found = said(
        "$msec $request_time $remote_addr \"$request\" $status $bytes_sent $upstream_cache_status \"$upstream_response_time\" \"$http_user_agent\" ${host}",
        "971211336.250 0.125 192.0.2.1 \"GET /\\x22 HTTP/2.0\" 206 700 EXPIRED \"0.010, 0.020 : 0.005\" \"-\" h.example",
    );
    let expected = Said {
        us: NOON + 250_000,
        edge: Edge::End,
        address: "192.0.2.1",
        object: "GET /\" HTTP/2.0",
        status: 206,
        sent: Sent::Whole(700),
        duration_us: Some(125_000),
        host: "h.example",
        cache: Cache::Expired,
        ..Said::default()
    };
    assert_eq!(found, expected);
    let json = said(
        r#"{"t":"$time_iso8601","r":"$request","s":$status,"a":"$remote_addr","ua":"$http_user_agent"}"#,
        r#"{"t":"2000-10-10T20:55:36+00:00","r":"GET /\u0022 HTTP/1.1","s":200,"a":"192.0.2.1","ua":"x\"y"}"#,
    );
    assert_eq!((json.us, json.object, json.agent), (NOON, "GET /\" HTTP/1.1", "x\"y"));
    let configured = "log_format main '$remote_addr [$time_local] \"$request\" $status';";
    assert!(Format::of_nginx(configured, "main", Zone::Untold).is_ok());
    assert!(Format::of_nginx(configured, "other", Zone::Untold).unwrap_err().contains("it has main"));
}

#[test]
fn squid_and_traffic_server() {
    let line = "971211336.250    125 192.0.2.1 TCP_MISS/200 1500 GET http://h.example/a?b=1 - HIER_DIRECT/198.51.100.7 text/html";
    let squid = Said {
        us: NOON + 250_000,
        edge: Edge::End,
        address: "192.0.2.1",
        object: "http://h.example/a?b=1",
        status: 200,
        sent: Sent::Whole(1500),
        duration_us: Some(125_000),
        cache: Cache::Miss,
        ..Said::default()
    };
    assert_eq!(said("squid", line), squid);
    let ats = line.replace("    125", " 125").replace("HIER_DIRECT", "DIRECT");
    assert_eq!(said("ats", &ats), Said { edge: Edge::Begin, ..squid });
    let combined = r#"192.0.2.1 - - [10/Oct/2000:20:55:36 +0000] "GET http://h.example/ HTTP/1.1" 200 900 "-" "curl" TCP_HIT:HIER_NONE"#;
    assert_eq!(said("squid-combined", combined).cache, Cache::Hit);
    let extended2 = r#"192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET http://h.example/a HTTP/1.1" 200 1000 200 1000 0 0 150 250 180 240 0 DIRECT FIN FIN TCP_MISS"#;
    let found = said("ats-extended2", extended2);
    assert_eq!((found.sent, found.cache), (Sent::Body(1000), Cache::Miss));
}

#[test]
fn haproxy_behind_syslog() {
    let line = r#"<134>Feb  6 12:14:14 localhost haproxy[14389]: 192.0.2.1:33317 [10/Oct/2000:20:55:36.655] http-in static/srv1 10/0/30/69/109 200 2750 - - CD-- 1/1/1/1/0 0/0 {h.example} {} "GET /index.html#20x HTTP/1.1""#;
    let found = said("haproxy", line);
    let expected = Said {
        us: NOON + 655_000,
        address: "192.0.2.1",
        object: "GET /index.html x HTTP/1.1",
        status: 200,
        sent: Sent::Whole(2750),
        duration_us: Some(109_000),
        ..Said::default()
    };
    assert_eq!(found, expected);
    let bare = r#"[::1]:33317 [10/Oct/2000:20:55:36.655] f b/s 10/0/30/-1/109 -1 0 - - CD-- 1/1/1/1/0 0/0 "<BADREQ>""#;
    assert_eq!(said("haproxy", bare).address, "[::1]");
    let mut format = Format::parse("haproxy", Zone::Untold).unwrap();
    format.read(bare.as_bytes(), &mut Entry::default()).unwrap();
    assert!(format.zone_is_missing());
    // The column is that of the whole line.
    let caddy = Format::parse("caddy", Zone::Untold).unwrap().behind_syslog();
    for (mut format, line, column) in
        [(format, "[::1]:33317 [yesterday] f b/s", 14), (caddy, r#"{"ts" 1}"#, 7)]
    {
        let head = "<134>Oct 10 20:55:36 host haproxy[14389]: ";
        let [alone, behind] = ["", head].map(|head| {
            format.read(format!("{head}{line}").as_bytes(), &mut Entry::default()).unwrap_err().column
        });
        assert_eq!((alone, behind), (column, column + head.len() as u32), "{line}");
    }
}

#[test]
fn logs_of_json() {
    let caddy = r#"{"level":"info","ts":971211336.25,"logger":"http.log.access","msg":"handled request","request":{"remote_ip":"192.0.2.1","client_ip":"192.0.2.9","proto":"HTTP/2.0","method":"GET","host":"h.example","uri":"/a","headers":{"User-Agent":["curl/7.82.0"],"Accept":["*/*"]}},"bytes_read":0,"duration":0.125,"size":10900,"status":200,"resp_headers":{"Content-Type":["text/html"]}}"#;
    let expected = Said {
        us: NOON + 250_000,
        edge: Edge::End,
        address: "192.0.2.1",
        object: "/a",
        status: 200,
        sent: Sent::Body(10_900),
        duration_us: Some(125_000),
        agent: "curl/7.82.0",
        host: "h.example",
        cache: Cache::Untold,
    };
    assert_eq!(said("caddy", caddy), expected);
    let traefik = r#"{"ClientHost":"192.0.2.1","DownstreamContentSize":7,"DownstreamStatus":304,"Duration":1500000,"OriginDuration":1000000,"RequestHost":"h.example","RequestMethod":"GET","RequestPath":"/a","RequestProtocol":"HTTP/1.1","StartUTC":"2000-10-10T20:55:36.25Z","level":"info","time":"2000-10-10T20:55:37Z"}"#;
    let found = said("traefik-json", traefik);
    assert_eq!((found.us, found.edge, found.duration_us), (NOON + 250_000, Edge::Begin, Some(1_500)));
    let flare = r#"{"CacheCacheStatus":"revalidated","ClientIP":"192.0.2.1","ClientRequestHost":"h.example","ClientRequestMethod":"GET","ClientRequestURI":"/a?b","EdgeResponseBytes":900,"EdgeResponseStatus":200,"EdgeStartTimestamp":971211336250000000,"ClientRequestUserAgent":"x"}"#;
    let found = said("cloudflare", flare);
    assert_eq!((found.us, found.cache, found.sent), (NOON + 250_000, Cache::Revalidated, Sent::Whole(900)));
    let custom = said(
        "json:time=t,url=u,status=s,bytes=n,address=c.ip",
        r#"{"t":"2000-10-10T20:55:36.25Z","u":"/a","s":"200","n":5,"c":{"ip":"192.0.2.1"}}"#,
    );
    assert_eq!((custom.us, custom.address), (NOON + 250_000, "192.0.2.1"));
    let azure = r#"{"time":"2000-10-10T20:55:36.25Z","category":"FrontdoorAccessLog","properties":{"httpMethod":"GET","requestUri":"https://h.example:443/a","clientIp":"192.0.2.1","timeTaken":"0.008","responseBytes":"11","httpStatusCode":"200","cacheStatus":"PARTIAL_HIT"}}"#;
    assert_eq!(said("azure", azure).cache, Cache::Hit);
    let google = r#"{"timestamp":"2000-10-10T20:55:36.25Z","httpRequest":{"requestMethod":"GET","requestUrl":"http://h.example/a","status":200,"responseSize":"11","latency":"0.03s","remoteIp":"192.0.2.1"}}"#;
    assert_eq!(said("google", google).duration_us, Some(30_000));
}

#[test]
fn clouds_and_envoy() {
    let envoy = r#"[2000-10-10T20:55:36.250Z] "GET /a HTTP/2" 200 DC 0 154 125 100 "192.0.2.1, 198.51.100.7" "curl" "id" "h.example" "198.51.100.9:80""#;
    let found = said("envoy", envoy);
    let expected = Said {
        us: NOON + 250_000,
        address: "192.0.2.1",
        object: "/a",
        status: 200,
        sent: Sent::Body(154),
        duration_us: Some(125_000),
        agent: "curl",
        host: "h.example",
        ..Said::default()
    };
    assert_eq!(found, expected);
    let alb = r#"https 2000-10-10T20:55:37.000000Z app/lb/50d 192.0.2.1:2817 198.51.100.1:80 0.086 0.048 0.037 200 200 0 57 "GET https://h.example:443/a HTTP/1.1" "curl/7 \"x\"" ECDHE TLSv1.2 arn:x "Root=1" "h.example" "arn" 1 2000-10-10T20:55:36.829000Z "authenticate,forward" "-" "-" "198.51.100.1:80" "200" "-" "-" TID_1"#;
    let found = said("alb", alb);
    assert_eq!(
        (found.us, found.edge, found.address, found.agent),
        (NOON + 829_000, Edge::Begin, "192.0.2.1", "curl/7 \"x\"")
    );
    let s3 = r#"79a bucket [10/Oct/2000:20:55:36 +0000] 192.0.2.1 79a 3E5 REST.GET.OBJECT a.png "GET /a.png HTTP/1.1" 200 - 2662 3462 7 6 "-" "S3Console/0.4" - Id= SigV2 - - h.example TLSv1"#;
    let found = said("s3", s3);
    assert_eq!((found.us, found.sent, found.duration_us), (NOON, Sent::Body(2662), Some(7_000)));
    let iis = "#Fields: date time cs-method cs-uri-stem cs-uri-query c-ip cs(User-Agent) sc-status time-taken\n2000-10-10 20:55:36 GET /a - 192.0.2.1 Mozilla/5.0+(x) 200 15";
    assert_eq!((said("w3c", iis).agent, said("iis", iis).duration_us), ("Mozilla/5.0 (x)", Some(15_000)));
    let bunny =
        "HIT|200|971211336250|412|390|192.0.2.1|-|https://z.b-cdn.example/a.jpg|WA|Mozilla/5.0 (x)|322b|DE";
    let found = said("bunny", bunny);
    assert_eq!(
        (found.us, found.cache, found.object),
        (NOON + 250_000, Cache::Hit, "https://z.b-cdn.example/a.jpg")
    );
}

#[test]
fn what_is_printed_for_configurations_is_read() {
    for printed in &print::ALL {
        let format = Format::parse(printed.format, Zone::Untold);
        assert!(format.is_ok(), "{}: {format:?}", printed.server);
    }
    let in_configuration = nginx::named(print::of("nginx").unwrap().configuration, "wringer").unwrap();
    assert_eq!(in_configuration.text, print::of("nginx").unwrap().format);
    for server in ["apache", "ats", "squid", "varnish", "haproxy", "envoy"] {
        let printed = print::of(server).unwrap();
        let text = printed.configuration.replace("\\\"", "\"");
        assert!(text.contains(&printed.format.replace("\\\"", "\"")), "{server}: {text}");
    }
}

#[test]
fn formats_that_cannot_be_meant() {
    for (text, part) in [
        ("combinde", "is no log format"),
        ("%h %r", "names no time"),
        ("%t %h", "names no object"),
        ("$remote_addr$request $msec", "nothing stands between"),
        ("%Y", "no directive"),
        ("json:time=t", "names no object"),
    ] {
        let why = Format::parse(text, Zone::Untold).unwrap_err();
        assert!(why.contains(part), "{text}: {why}");
    }
}

#[test]
fn a_query_directly_behind_its_path_is_one_target() {
    let found = said("$msec $status $uri$is_args$args", "971211336.250 200 /a?b=1");
    assert_eq!(found.object, "/a?b=1");
}

fn detected(lines: &str) -> Result<String, DetectError> {
    let lines: Vec<&[u8]> = lines.lines().map(str::as_bytes).collect();
    detect(&lines, &Zone::Untold).map(|found| found.format.name().to_owned())
}

#[test]
fn formats_are_told_by_their_lines() {
    let combined = |status: u16, bytes: &str, url: &str| {
        format!(
            "192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] \"GET {url} HTTP/1.0\" {status} {bytes} \"-\" \"x\"\n"
        )
    };
    assert_eq!(detected(&combined(304, "-", "/a")), Ok("combined".into()));
    assert_eq!(detected(&combined(304, "180", "/a")), Ok("combined-whole".into()));
    assert_eq!(detected(&combined(200, "180", "http://h.example/a")), Ok("varnish".into()));
    let line = combined(200, "180", "/a");
    assert_eq!(detected(&line.replace("- - [", "- John Doe [")), Ok("combined".into()));
    // An address behind the first word: the first is no client, whatever a user's name may hold.
    assert_eq!(detected(&format!("h.example:80 {line}")), Ok("vhost_combined".into()));
    for unknown in [format!("h.example {line}"), format!("192.0.2.9, {line}")] {
        assert!(matches!(detected(&unknown), Err(DetectError::None { .. })), "{unknown}");
    }
    let squid = "971211336.250 125 192.0.2.1 TCP_MISS/200 1500 GET http://h.example/ - DIRECT/198.51.100.7 text/html\n";
    let Err(DetectError::Several { names, .. }) = detected(squid) else { panic!("it should ask") };
    assert_eq!(names, ["squid", "ats"]);
    assert_eq!(detected(&squid.replace("DIRECT", "HIER_DIRECT")), Ok("squid".into()));
    assert_eq!(detected(&squid.replace("TCP_MISS/200", "ERR_CLIENT_ABORT/000")), Ok("ats".into()));
    let haproxy = r#"Feb  6 12:14:14 localhost haproxy[14389]: 192.0.2.1:33317 [06/Feb/2009:12:14:14.655] http-in static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 "GET / HTTP/1.1""#;
    assert_eq!(detected(haproxy), Ok("haproxy".into()));
    assert_eq!(
        detected("#Fields: date time cs-uri-stem sc-status\n2000-10-10 20:55:36 /a 200"),
        Ok("w3c".into())
    );
    let behind = format!("<134>Oct 10 20:55:36 host httpd[1]: {}", combined(200, "5", "/a"));
    assert_eq!(detected(&behind), Ok("combined".into()));
    assert_eq!(detected(""), Err(DetectError::Empty));
    let nearly = combined(200, "5", "/a").replace("\"x\"", "\"x\" \"192.0.2.7\"");
    let why = detected(&nearly).unwrap_err().to_string();
    assert!(why.contains("(combined fits up to column 75;"), "{why}");
    assert!(detected("hello world").unwrap_err().to_string().contains("no known format"));
}

#[test]
fn every_name_compiles() {
    for named in &names::ALL {
        for name in std::iter::once(&named.name).chain(named.aliases) {
            assert!(Format::parse(name, Zone::Untold).is_ok(), "{name}");
        }
    }
}
