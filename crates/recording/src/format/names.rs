//! Formats that have a name: what servers write where nobody says otherwise.

use super::field::{Field, TimeForm, Unit};
use super::{ats, envoy, haproxy, nginx, squid};

/// Where a named format comes from.
#[derive(Debug, Clone, Copy)]
pub enum FormatSource {
    /// A LogFormat.
    Apache(&'static str),
    /// A log_format.
    Nginx(&'static str),
    /// A logformat.
    Squid(&'static str),
    /// A custom format.
    Ats(&'static str),
    /// A log-format; lines may have a head of syslog's.
    Haproxy(&'static str),
    /// A format string of Envoy's.
    Envoy(&'static str),
    /// Fields with blanks between, quoted where they hold blanks.
    Words(&'static [Field], &'static str),
    /// Keys of objects of JSON; true: its time is that of the end.
    Json(&'static [(&'static str, Field)], bool),
    /// Columns that the log names itself.
    Columns,
}

impl FormatSource {
    /// True if its lines begin with the client, and a word for its identity is behind it.
    pub fn begins_with_client(self) -> bool {
        match self {
            FormatSource::Apache(text) => text.starts_with("%h %l "),
            FormatSource::Nginx(text) => text.starts_with("$remote_addr - "),
            FormatSource::Squid(text) => text.starts_with("%>a %[ui "),
            FormatSource::Ats(_)
            | FormatSource::Haproxy(_)
            | FormatSource::Envoy(_)
            | FormatSource::Words(..)
            | FormatSource::Json(..)
            | FormatSource::Columns => false,
        }
    }
}

/// A named format.
#[derive(Debug, Clone, Copy)]
pub struct Named {
    /// Its name.
    pub name: &'static str,
    /// Other names of it.
    pub aliases: &'static [&'static str],
    /// Where it comes from.
    pub source: FormatSource,
    /// Server and what is worth knowing of its log; shown to people.
    pub about: &'static str,
}

const APACHE_COMMON: &str = "%h %l %u %t \"%r\" %>s %b";
const APACHE_COMBINED: &str = "%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\"";
const WHOLE_COMMON: &str = "%h %l %u %t \"%r\" %>s %O";
const WHOLE_COMBINED: &str = "%h %l %u %t \"%r\" %>s %O \"%{Referer}i\" \"%{User-Agent}i\"";
const VHOST_COMBINED: &str = "%v:%p %h %l %u %t \"%r\" %>s %O \"%{Referer}i\" \"%{User-Agent}i\"";
const TRAEFIK: &str =
    "%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\" %k \"%f\" \"%R\" %{ms}Tms";
const S3: &str = "%l %l %t %h %u %l %l %l \"%r\" %>s %l %b %l %{ms}T %l \"%{Referer}i\" \"%{User-Agent}i\" ";
const SQUID_COMBINED: &str =
    "%>a %[ui %[un [%tl] \"%rm %ru HTTP/%rv\" %>Hs %<st \"%{Referer}>h\" \"%{User-Agent}>h\" %Ss:%Sh";

const ALB: [Field; 22] = [
    Field::Skip,
    Field::Time(TimeForm::Iso),
    Field::Skip,
    Field::AddressPort,
    Field::Skip,
    Field::Skip,
    Field::Upstream(Unit::Seconds),
    Field::Skip,
    Field::Status,
    Field::Skip,
    Field::Skip,
    Field::SentBytes,
    Field::Line,
    Field::Agent,
    Field::Skip,
    Field::Skip,
    Field::Skip,
    Field::Skip,
    Field::Host,
    Field::Skip,
    Field::Skip,
    Field::Began(TimeForm::Iso),
];

const BUNNY: [Field; 10] = [
    Field::Cache,
    Field::Status,
    Field::Time(TimeForm::Millis),
    Field::SentBytes,
    Field::Skip,
    Field::Address,
    Field::Skip,
    Field::Target,
    Field::Skip,
    Field::Agent,
];

const CADDY: [(&str, Field); 22] = [
    ("ts", Field::Time(TimeForm::Any)),
    ("duration", Field::Duration(Unit::Written)),
    ("request.remote_ip", Field::Address),
    ("request.client_ip", Field::Address),
    ("request.remote_addr", Field::AddressPort),
    ("request.proto", Field::Protocol),
    ("request.method", Field::Method),
    ("request.host", Field::Host),
    ("request.uri", Field::Target),
    ("request.headers.User-Agent", Field::Agent),
    ("request.headers.Range", Field::Range),
    ("request.headers.Accept-Encoding", Field::AcceptEncoding),
    ("request.headers.If-None-Match", Field::IfNoneMatch),
    ("request.headers.If-Modified-Since", Field::IfModifiedSince),
    ("request.headers.Cache-Control", Field::RequestCacheControl),
    ("status", Field::Status),
    ("size", Field::BodyBytes),
    ("resp_headers.Content-Type", Field::ContentType),
    ("resp_headers.Cache-Control", Field::CacheControl),
    ("resp_headers.Expires", Field::Expires),
    ("resp_headers.Cache-Status", Field::Cache),
    ("resp_headers.X-Cache", Field::Cache),
];

const TRAEFIK_JSON: [(&str, Field); 11] = [
    ("StartUTC", Field::Time(TimeForm::Any)),
    ("Duration", Field::Duration(Unit::Nanos)),
    ("OriginDuration", Field::Upstream(Unit::Nanos)),
    ("ClientHost", Field::Address),
    ("RequestMethod", Field::Method),
    ("RequestPath", Field::Target),
    ("RequestProtocol", Field::Protocol),
    ("RequestHost", Field::Host),
    ("DownstreamStatus", Field::Status),
    ("DownstreamContentSize", Field::BodyBytes),
    ("request_User-Agent", Field::Agent),
];

const ENVOY_JSON: [(&str, Field); 12] = [
    ("start_time", Field::Time(TimeForm::Any)),
    ("duration", Field::Duration(Unit::Millis)),
    ("method", Field::Method),
    ("path", Field::Target),
    ("protocol", Field::Protocol),
    ("response_code", Field::Status),
    ("response_flags", Field::Aborted(super::field::AbortForm::Flags)),
    ("bytes_sent", Field::BodyBytes),
    ("authority", Field::Host),
    ("user_agent", Field::Agent),
    ("x_forwarded_for", Field::Forwarded),
    ("downstream_remote_address", Field::AddressPort),
];

const CLOUDFLARE: [(&str, Field); 15] = [
    ("EdgeStartTimestamp", Field::Time(TimeForm::Any)),
    ("ClientIP", Field::Address),
    ("ClientRequestMethod", Field::Method),
    ("ClientRequestHost", Field::Host),
    ("ClientRequestURI", Field::Target),
    ("ClientRequestPath", Field::Path),
    ("ClientRequestProtocol", Field::Protocol),
    ("ClientRequestUserAgent", Field::Agent),
    ("EdgeResponseStatus", Field::Status),
    ("EdgeResponseBytes", Field::SentBytes),
    ("EdgeResponseBodyBytes", Field::BodyBytes),
    ("EdgeResponseContentType", Field::ContentType),
    ("CacheCacheStatus", Field::Cache),
    ("EdgeTimeToFirstByteMs", Field::FirstByte(Unit::Millis)),
    ("OriginResponseDurationMs", Field::Upstream(Unit::Millis)),
];

const AKAMAI: [(&str, Field); 13] = [
    ("reqTimeSec", Field::Time(TimeForm::Any)),
    ("cliIP", Field::Address),
    ("reqMethod", Field::Method),
    ("reqHost", Field::Host),
    ("reqPath", Field::Path),
    ("queryStr", Field::Query),
    ("proto", Field::Protocol),
    ("UA", Field::Agent),
    ("statusCode", Field::Status),
    ("bytes", Field::BodyBytes),
    ("rspContentType", Field::ContentType),
    ("cacheStatus", Field::Cache),
    ("timeToFirstByte", Field::FirstByte(Unit::Millis)),
];

const AZURE: [(&str, Field); 10] = [
    ("time", Field::Time(TimeForm::Any)),
    ("properties.httpMethod", Field::Method),
    ("properties.httpVersion", Field::Protocol),
    ("properties.requestUri", Field::Target),
    ("properties.clientIp", Field::Address),
    ("properties.userAgent", Field::Agent),
    ("properties.timeTaken", Field::Duration(Unit::Seconds)),
    ("properties.responseBytes", Field::SentBytes),
    ("properties.httpStatusCode", Field::Status),
    ("properties.cacheStatus", Field::Cache),
];

const GOOGLE: [(&str, Field); 9] = [
    ("timestamp", Field::Time(TimeForm::Any)),
    ("httpRequest.requestMethod", Field::Method),
    ("httpRequest.requestUrl", Field::Target),
    ("httpRequest.status", Field::Status),
    ("httpRequest.responseSize", Field::SentBytes),
    ("httpRequest.userAgent", Field::Agent),
    ("httpRequest.remoteIp", Field::Address),
    ("httpRequest.latency", Field::Duration(Unit::Written)),
    ("httpRequest.protocol", Field::Protocol),
];

const ZEEK: [(&str, Field); 10] = [
    ("ts", Field::Time(TimeForm::Any)),
    ("uid", Field::Connection),
    ("id.orig_h", Field::Address),
    ("method", Field::Method),
    ("host", Field::Host),
    ("uri", Field::Target),
    ("version", Field::Protocol),
    ("user_agent", Field::Agent),
    ("response_body_len", Field::BodyBytes),
    ("status_code", Field::Status),
];

/// All of them, in the order in which people are told.
pub const ALL: [Named; 28] = [
    Named {
        name: "combined",
        aliases: &["apache", "apache-combined"],
        source: FormatSource::Apache(APACHE_COMBINED),
        about: "Apache httpd; begin in whole seconds, bytes of the body (nginx's looks the same, but its time is the end)",
    },
    Named {
        name: "common",
        aliases: &["apache-common", "clf"],
        source: FormatSource::Apache(APACHE_COMMON),
        about: "Apache httpd and many others; no agent, so a user is an address",
    },
    Named {
        name: "combined-whole",
        aliases: &["debian-combined"],
        source: FormatSource::Apache(WHOLE_COMBINED),
        about: "combined with %O, bytes with the head, as Debian ships it",
    },
    Named {
        name: "common-whole",
        aliases: &["debian-common"],
        source: FormatSource::Apache(WHOLE_COMMON),
        about: "common with %O, as Debian ships it",
    },
    Named {
        name: "vhost_combined",
        aliases: &["vhost-combined"],
        source: FormatSource::Apache(VHOST_COMBINED),
        about: "Debian's httpd with several hosts",
    },
    Named {
        name: "nginx",
        aliases: &["nginx-combined"],
        source: FormatSource::Nginx(nginx::COMBINED),
        about: "nginx combined; end in whole seconds, bytes of the body",
    },
    Named {
        name: "squid",
        aliases: &["squid-native"],
        source: FormatSource::Squid(squid::NATIVE),
        about: "Squid's native log; end in milliseconds, bytes with the head",
    },
    Named {
        name: "squid-combined",
        aliases: &[],
        source: FormatSource::Squid(SQUID_COMBINED),
        about: "Squid's combined; end in whole seconds",
    },
    Named {
        name: "ats",
        aliases: &["ats-squid"],
        source: FormatSource::Ats(ats::SQUID),
        about: "Traffic Server's squid format; it looks like Squid's, but its time is the begin",
    },
    Named {
        name: "ats-common",
        aliases: &[],
        source: FormatSource::Ats(ats::COMMON),
        about: "Traffic Server, Netscape common",
    },
    Named {
        name: "ats-extended",
        aliases: &[],
        source: FormatSource::Ats(ats::EXTENDED),
        about: "Traffic Server, Netscape extended",
    },
    Named {
        name: "ats-extended2",
        aliases: &[],
        source: FormatSource::Ats(ats::EXTENDED2),
        about: "Traffic Server, Netscape extended 2",
    },
    Named {
        name: "haproxy",
        aliases: &["httplog", "haproxy-http"],
        source: FormatSource::Haproxy(haproxy::HTTPLOG),
        about: "HAProxy's option httplog; begin in milliseconds, no zone",
    },
    Named {
        name: "haproxy-https",
        aliases: &["httpslog"],
        source: FormatSource::Haproxy(haproxy::HTTPSLOG),
        about: "HAProxy's option httpslog",
    },
    Named {
        name: "varnish",
        aliases: &["varnishncsa"],
        source: FormatSource::Apache(APACHE_COMBINED),
        about: "varnishncsa; begin in whole seconds, absolute URLs",
    },
    Named {
        name: "caddy",
        aliases: &[],
        source: FormatSource::Json(&CADDY, true),
        about: "Caddy's JSON; end, with durations and fields of answers",
    },
    Named {
        name: "envoy",
        aliases: &["istio"],
        source: FormatSource::Envoy(envoy::DEFAULT),
        about: "Envoy's default; begin in milliseconds",
    },
    Named {
        name: "envoy-json",
        aliases: &["istio-json"],
        source: FormatSource::Json(&ENVOY_JSON, false),
        about: "Envoy's JSON with the usual keys",
    },
    Named {
        name: "traefik",
        aliases: &["traefik-clf"],
        source: FormatSource::Apache(TRAEFIK),
        about: "Traefik's CLF; begin in whole seconds, durations in milliseconds",
    },
    Named {
        name: "traefik-json",
        aliases: &[],
        source: FormatSource::Json(&TRAEFIK_JSON, false),
        about: "Traefik's JSON; begin and durations in nanoseconds",
    },
    Named {
        name: "alb",
        aliases: &["aws-alb", "elb"],
        source: FormatSource::Words(
            &ALB,
            "type time elb client target request target-time response status target-status received sent request agent cipher protocol group trace domain certificate rule creation-time",
        ),
        about: "AWS Application Load Balancer; begin and end in microseconds",
    },
    Named {
        name: "s3",
        aliases: &["aws-s3"],
        source: FormatSource::Apache(S3),
        about: "AWS S3 server access logs; begin in whole seconds",
    },
    Named {
        name: "w3c",
        aliases: &["iis", "cloudfront", "zeek"],
        source: FormatSource::Columns,
        about: "logs with a #Fields line: IIS, CloudFront, zeek's http.log",
    },
    Named {
        name: "cloudflare",
        aliases: &["logpush"],
        source: FormatSource::Json(&CLOUDFLARE, false),
        about: "Cloudflare Logpush, http_requests",
    },
    Named {
        name: "akamai",
        aliases: &["datastream"],
        source: FormatSource::Json(&AKAMAI, false),
        about: "Akamai DataStream 2",
    },
    Named {
        name: "azure",
        aliases: &["front-door"],
        source: FormatSource::Json(&AZURE, true),
        about: "Azure Front Door",
    },
    Named {
        name: "google",
        aliases: &["gcp"],
        source: FormatSource::Json(&GOOGLE, false),
        about: "Google Cloud load balancers",
    },
    Named {
        name: "zeek-json",
        aliases: &[],
        source: FormatSource::Json(&ZEEK, false),
        about: "zeek's http.log as JSON",
    },
];

/// Bunny's log has bars between its fields.
pub const BUNNY_FIELDS: &[Field] = &BUNNY;

/// Finds a format by its name.
pub fn find(name: &str) -> Option<&'static Named> {
    ALL.iter().find(|format| format.name == name || format.aliases.contains(&name))
}
