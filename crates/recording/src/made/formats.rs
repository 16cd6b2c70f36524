//! Exchanges as lines of many servers' logs.

use super::{Fact, agent, itoa_to, write_address, write_path};
use crate::moment::SECOND;
use std::io::Write;

/// Names of the formats that lines can be written in, as [`crate::format::Format::parse`] knows them; `cloudfront` and `iis` are read
/// as `w3c`.
pub const FORMATS: [&str; 24] = [
    "combined",
    "common",
    "combined-whole",
    "nginx",
    "squid",
    "ats",
    "ats-extended2",
    "haproxy",
    "varnish",
    "caddy",
    "envoy",
    "envoy-json",
    "traefik",
    "traefik-json",
    "alb",
    "s3",
    "cloudfront",
    "iis",
    "cloudflare",
    "akamai",
    "azure",
    "google",
    "zeek-json",
    "bunny",
];

/// Bytes of each answer's head.
pub const HEAD: u64 = 300;
const HOST: &str = "www.example.com";

/// Appends what stands before the first line.
pub fn write_head(out: &mut Vec<u8>, format: &str) {
    let text: &[u8] = match format {
        "cloudfront" => b"#Version: 1.0\n#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query cs(Cookie) x-edge-result-type x-edge-request-id x-host-header cs-protocol cs-bytes time-taken\n",
        "iis" => b"#Software: Microsoft Internet Information Services 10.0\n#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) cs(Referer) cs-host sc-status sc-substatus sc-win32-status sc-bytes cs-bytes time-taken\n",
        _ => b"",
    };
    out.extend_from_slice(text);
}

/// True if lines of this format come in the order of ends.
pub fn is_by_end(format: &str) -> bool {
    !matches!(format, "akamai" | "cloudflare")
}

/// Parts of a line, written once.
struct FormatParts {
    address: String,
    path: String,
    agent: &'static str,
}

impl FormatParts {
    fn of(fact: &Fact) -> FormatParts {
        let text = |write: fn(&mut Vec<u8>, u64), number| {
            let mut out = Vec::with_capacity(64);
            write(&mut out, number);
            String::from_utf8(out).expect("letters and digits")
        };
        FormatParts {
            address: text(write_address, fact.user),
            path: text(write_path, fact.object),
            agent: agent(fact.user),
        }
    }
}

/// Appends a line.
///
/// # Panics
/// Where the format is none of [`FORMATS`].
pub fn write_line(out: &mut Vec<u8>, format: &str, fact: &Fact) {
    match format {
        "combined" | "common" | "combined-whole" | "varnish" | "nginx" | "traefik" => clf(out, format, fact),
        "squid" | "ats" | "ats-extended2" | "haproxy" => proxy(out, format, fact),
        "caddy" | "envoy-json" | "traefik-json" | "cloudflare" | "akamai" | "azure" | "google"
        | "zeek-json" => {
            json(out, format, fact);
        }
        "envoy" | "alb" | "s3" | "cloudfront" | "iis" | "bunny" => clouds(out, format, fact),
        other => panic!("no line is made in the format {other}"),
    }
    out.push(b'\n');
}

/// The common log format and its kin; by hand, since benches write hundreds of millions.
fn clf(out: &mut Vec<u8>, format: &str, fact: &Fact) {
    let bytes = match format {
        "combined-whole" => fact.sent + HEAD,
        _ => fact.sent,
    };
    write_address(out, fact.user);
    out.extend_from_slice(b" - - [");
    clf_time(out, if format == "nginx" { fact.end_us() } else { fact.begin_us });
    out.extend_from_slice(b"] \"GET ");
    if format == "varnish" {
        out.extend_from_slice(b"http://");
        out.extend_from_slice(HOST.as_bytes());
    }
    write_path(out, fact.object);
    out.extend_from_slice(b" HTTP/1.1\" ");
    itoa_to(out, u64::from(fact.status));
    out.push(b' ');
    itoa_to(out, bytes);
    if format == "common" {
        return;
    }
    out.extend_from_slice(b" \"https://www.example.com/\" \"");
    out.extend_from_slice(agent(fact.user).as_bytes());
    out.push(b'"');
    if format == "traefik" {
        let _ = write!(
            out,
            " {} \"web@docker\" \"http://198.51.100.7:80\" {}ms",
            fact.number,
            fact.duration_us / 1000
        );
    }
}

/// `10/Oct/2000:13:55:36 +0000`.
fn clf_time(out: &mut Vec<u8>, us: i64) {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (year, month, day, of_day) = civil(us);
    let two = |out: &mut Vec<u8>, value: u32| {
        out.extend_from_slice(&[b'0' + (value / 10) as u8, b'0' + (value % 10) as u8])
    };
    two(out, day);
    out.push(b'/');
    out.extend_from_slice(MONTHS[month as usize - 1].as_bytes());
    out.push(b'/');
    itoa_to(out, year as u64);
    for value in [of_day / 3600, of_day / 60 % 60, of_day % 60] {
        out.push(b':');
        two(out, value);
    }
    out.extend_from_slice(b" +0000");
}

/// Year, month, day and seconds of the day; the opposite of [`crate::moment::days`], by Howard Hinnant's algorithm.
fn civil(us: i64) -> (i64, u32, u32, u32) {
    let seconds = us.div_euclid(SECOND);
    let days = seconds.div_euclid(86_400) + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = (of_year - (153 * shifted + 2) / 5 + 1) as u32;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 } as u32;
    let year = year + era * 400 + i64::from(month <= 2);
    (year, month, day, seconds.rem_euclid(86_400) as u32)
}

/// `2026-11-25T10:00:00.123456`, without a zone.
fn iso(us: i64, between: char) -> String {
    let (year, month, day, of_day) = civil(us);
    let clock = format!("{:02}:{:02}:{:02}", of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year}-{month:02}-{day:02}{between}{clock}.{:06}", us.rem_euclid(SECOND))
}

fn result(fact: &Fact) -> &'static str {
    if fact.hit { "HIT" } else { "MISS" }
}

fn seconds(us: i64, decimals: usize) -> String {
    format!(
        "{}.{:0decimals$}",
        us.div_euclid(SECOND),
        us.rem_euclid(SECOND) / 10_i64.pow(6 - decimals as u32)
    )
}

fn proxy(out: &mut Vec<u8>, format: &str, fact: &Fact) {
    let FormatParts { address, path, agent: _ } = FormatParts::of(fact);
    let status = fact.status;
    let sent = fact.sent;
    let whole = fact.sent + HEAD;
    let ms = fact.duration_us / 1000;
    let _ = match format {
        "squid" => {
            let time = seconds(fact.end_us(), 3);
            let result = if fact.hit { "TCP_HIT" } else { "TCP_MISS" };
            write!(
                out,
                "{time} {ms:6} {address} {result}/{status:03} {whole} GET http://{HOST}{path} - HIER_DIRECT/198.51.100.7 text/html"
            )
        }
        "ats" => {
            let time = seconds(fact.begin_us, 3);
            let result = if fact.hit { "TCP_HIT" } else { "TCP_MISS" };
            write!(
                out,
                "{time} {ms} {address} {result}/{status:03} {whole} GET http://{HOST}{path} - DIRECT/{HOST} text/html"
            )
        }
        "ats-extended2" => {
            let _ = write!(out, "{address} - - [");
            clf_time(out, fact.begin_us);
            write!(
                out,
                "] \"GET http://{HOST}{path} HTTP/1.1\" {status} {sent} {status} {sent} 0 0 150 {HEAD} 180 240 0 DIRECT FIN FIN TCP_MISS"
            )
        }
        _ => {
            let mut time = Vec::new();
            clf_time(&mut time, fact.begin_us);
            let time = String::from_utf8_lossy(&time[..20]).into_owned();
            let below = fact.begin_us.rem_euclid(SECOND) / 1000;
            write!(
                out,
                "<134>Oct 10 20:55:36 lb haproxy[14389]: {address}:33317 [{time}.{below:03}] http-in static/srv1 0/0/1/{}/{ms} {status} {whole} - - ---- 1/1/1/1/0 0/0 {{{HOST}}} \"GET {path} HTTP/1.1\"",
                ms / 2
            )
        }
    };
}

fn json(out: &mut Vec<u8>, format: &str, fact: &Fact) {
    let FormatParts { address, path, agent } = FormatParts::of(fact);
    let status = fact.status;
    let sent = fact.sent;
    let whole = fact.sent + HEAD;
    let begin = iso(fact.begin_us, 'T');
    let _ = match format {
        "caddy" => write!(
            out,
            r#"{{"level":"info","ts":{},"logger":"http.log.access.log0","msg":"handled request","request":{{"remote_ip":"{address}","remote_port":"41342","client_ip":"{address}","proto":"HTTP/2.0","method":"GET","host":"{HOST}","uri":"{path}","headers":{{"User-Agent":["{agent}"],"Accept":["*/*"],"Accept-Encoding":["gzip, deflate, br"]}},"tls":{{"resumed":false,"version":772,"cipher_suite":4865,"proto":"h2","server_name":"{HOST}"}}}},"bytes_read":0,"user_id":"","duration":{},"size":{sent},"status":{status},"resp_headers":{{"Server":["Caddy"],"Content-Type":["text/html; charset=utf-8"],"Cache-Control":["max-age=3600"]}}}}"#,
            seconds(fact.end_us(), 6),
            seconds(fact.duration_us as i64, 6)
        ),
        "envoy-json" => write!(
            out,
            r#"{{"start_time":"{begin}Z","duration":{},"method":"GET","path":"{path}","protocol":"HTTP/2","response_code":{status},"response_flags":"-","bytes_sent":{sent},"authority":"{HOST}","user_agent":"{agent}","downstream_remote_address":"{address}:41342","upstream_host":"198.51.100.9:80"}}"#,
            fact.duration_us / 1000
        ),
        "traefik-json" => write!(
            out,
            r#"{{"ClientAddr":"{address}:41342","ClientHost":"{address}","ClientPort":"41342","DownstreamContentSize":{sent},"DownstreamStatus":{status},"Duration":{},"OriginDuration":{},"RequestHost":"{HOST}","RequestMethod":"GET","RequestPath":"{path}","RequestProtocol":"HTTP/1.1","StartUTC":"{begin}Z","level":"info","msg":"","request_User-Agent":"{agent}","time":"2026-01-01T00:00:00Z"}}"#,
            fact.duration_us * 1000,
            fact.duration_us * 500
        ),
        "cloudflare" => write!(
            out,
            r#"{{"CacheCacheStatus":"{}","ClientIP":"{address}","ClientRequestHost":"{HOST}","ClientRequestMethod":"GET","ClientRequestURI":"{path}","ClientRequestProtocol":"HTTP/2","ClientRequestUserAgent":"{agent}","EdgeResponseBytes":{whole},"EdgeResponseStatus":{status},"EdgeStartTimestamp":{}}}"#,
            result(fact).to_ascii_lowercase(),
            fact.begin_us * 1000
        ),
        "akamai" => write!(
            out,
            r#"{{"reqTimeSec":"{}","cliIP":"{address}","reqMethod":"GET","reqHost":"{HOST}","reqPath":"{path}","queryStr":"-","proto":"HTTP/1.1","UA":"{agent}","statusCode":"{status}","bytes":"{sent}","cacheStatus":"{}"}}"#,
            seconds(fact.begin_us, 3),
            u8::from(fact.hit)
        ),
        "azure" => write!(
            out,
            r#"{{"time":"{}Z","category":"FrontdoorAccessLog","properties":{{"httpMethod":"GET","httpVersion":"2.0","requestUri":"https://{HOST}:443{path}","clientIp":"{address}","userAgent":"{agent}","timeTaken":"{}","responseBytes":"{whole}","httpStatusCode":"{status}","cacheStatus":"{}"}}}}"#,
            iso(fact.end_us(), 'T'),
            seconds(fact.duration_us as i64, 6),
            result(fact)
        ),
        "google" => write!(
            out,
            r#"{{"timestamp":"{begin}Z","httpRequest":{{"requestMethod":"GET","requestUrl":"https://{HOST}{path}","status":{status},"responseSize":"{whole}","userAgent":"{agent}","remoteIp":"{address}","latency":"{}s","protocol":"HTTP/1.1"}}}}"#,
            seconds(fact.duration_us as i64, 6)
        ),
        _ => write!(
            out,
            r#"{{"ts":{},"uid":"C{}","id.orig_h":"{address}","id.orig_p":41342,"method":"GET","host":"{HOST}","uri":"{path}","version":"1.1","user_agent":"{agent}","request_body_len":0,"response_body_len":{sent},"status_code":{status}}}"#,
            seconds(fact.begin_us, 6),
            fact.number
        ),
    };
}

fn clouds(out: &mut Vec<u8>, format: &str, fact: &Fact) {
    let FormatParts { address, path, agent } = FormatParts::of(fact);
    let status = fact.status;
    let sent = fact.sent;
    let whole = fact.sent + HEAD;
    let ms = fact.duration_us / 1000;
    let begin = iso(fact.begin_us, 'T');
    let end = iso(fact.end_us(), 'T');
    let _ = match format {
        "envoy" => write!(
            out,
            "[{}Z] \"GET {path} HTTP/2\" {status} - 0 {sent} {ms} {} \"{address}\" \"{agent}\" \"id-1\" \"{HOST}\" \"198.51.100.9:80\"",
            &begin[..23],
            ms / 2
        ),
        "alb" => write!(
            out,
            "https {end}Z app/lb/50d {address}:2817 198.51.100.1:80 0.000 {} 0.000 {status} {status} 34 {whole} \"GET https://{HOST}:443{path} HTTP/1.1\" \"{agent}\" ECDHE TLSv1.2 arn:x \"Root=1\" \"{HOST}\" \"arn:y\" 1 {begin}Z \"forward\" \"-\" \"-\" \"198.51.100.1:80\" \"{status}\" \"-\" \"-\"",
            seconds(fact.duration_us as i64, 3)
        ),
        "s3" => {
            out.extend_from_slice(b"79a bucket [");
            clf_time(out, fact.begin_us);
            write!(
                out,
                "] {address} 79a 3E57427F REST.GET.OBJECT key \"GET {path} HTTP/1.1\" {status} - {sent} {} {ms} 6 \"-\" \"{agent}\" - Id= SigV2 - - {HOST} TLSv1.2",
                fact.size
            )
        }
        "cloudfront" => write!(
            out,
            "{}\t{}\tLAX1\t{whole}\t{address}\tGET\td111.cloudfront.example\t{path}\t{status}\t-\t{}\t-\t-\t{}\tid==\t{HOST}\thttps\t23\t{}",
            &end[..10],
            &end[11..19],
            agent.replace(' ', "%20"),
            if fact.hit { "Hit" } else { "Miss" },
            seconds(fact.duration_us as i64, 3)
        ),
        "iis" => write!(
            out,
            "{} {} 198.51.100.1 GET {path} - 443 - {address} {} - {HOST} {status} 0 0 {whole} 230 {ms}",
            &end[..10],
            &end[11..19],
            agent.replace(' ', "+")
        ),
        _ => write!(
            out,
            "{}|{status}|{}|{whole}|390|{address}|-|https://{HOST}{path}|WA|{agent}|322b|DE",
            result(fact),
            fact.end_us() / 1000
        ),
    };
}
