//! Formats that we would ask an operator for, as texts for the servers' own configurations: begin in microseconds, duration, host,
//! connection, conditions and ranges, the cache's result, the time of the server behind, Cache-Control, bytes of the body.

/// A server and the text for its configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Printed {
    /// Name of the server.
    pub server: &'static str,
    /// Text for its configuration, with a comment that says where.
    pub configuration: &'static str,
    /// The value of `--log-format` for the log that it writes.
    pub format: &'static str,
}

/// All of them.
pub const ALL: [Printed; 8] = [
    Printed {
        server: "nginx",
        configuration: r#"# In http { }; then: access_log /var/log/nginx/wringer.log wringer buffer=64k flush=1s;
# The connection's number makes a user of each connection if you want it (--user-by connection).
log_format wringer '$msec $request_time $remote_addr $connection $status $body_bytes_sent "$request" "$host" '
                   '$upstream_cache_status "$upstream_response_time" "$sent_http_content_type" "$sent_http_cache_control" '
                   '"$sent_http_expires" "$http_range" "$http_if_none_match" "$http_if_modified_since" "$http_accept_encoding" '
                   '"$http_cache_control" "$http_user_agent"';
"#,
        format: r#"$msec $request_time $remote_addr $connection $status $body_bytes_sent "$request" "$host" $upstream_cache_status "$upstream_response_time" "$sent_http_content_type" "$sent_http_cache_control" "$sent_http_expires" "$http_range" "$http_if_none_match" "$http_if_modified_since" "$http_accept_encoding" "$http_cache_control" "$http_user_agent""#,
    },
    Printed {
        server: "apache",
        configuration: r#"# In the server or a virtual host; then: CustomLog /var/log/apache2/wringer.log wringer
LogFormat "%{begin:usec}t %D %a %k %>s %B \"%r\" \"%V\" \"%{cache-status}e\" \"%{Content-Type}o\" \"%{Cache-Control}o\" \"%{Expires}o\" \"%{Range}i\" \"%{If-None-Match}i\" \"%{If-Modified-Since}i\" \"%{Accept-Encoding}i\" \"%{Cache-Control}i\" %X \"%{User-Agent}i\"" wringer
"#,
        format: r#"%{begin:usec}t %D %a %k %>s %B "%r" "%V" "%{cache-status}e" "%{Content-Type}o" "%{Cache-Control}o" "%{Expires}o" "%{Range}i" "%{If-None-Match}i" "%{If-Modified-Since}i" "%{Accept-Encoding}i" "%{Cache-Control}i" %X "%{User-Agent}i""#,
    },
    Printed {
        server: "ats",
        configuration: r#"# In logging.yaml; as text, for what is binary has to go through traffic_logcat.
logging:
  formats:
  - name: wringer
    format: '%<cqtq> %<ttms> %<chi> %<ccid> %<pssc> %<pscl> %<cqhm> %<cquuc> %<cqhv> %<crc> %<cfsc> %<stms> "%<psct>" "%<{Cache-Control}psh>" "%<{Expires}psh>" "%<{Range}cqh>" "%<{If-None-Match}cqh>" "%<{If-Modified-Since}cqh>" "%<{Accept-Encoding}cqh>" "%<{Cache-Control}cqh>" "%<{User-Agent}cqh>"'
  logs:
  - filename: wringer
    format: wringer
    mode: ascii
"#,
        format: r#"%<cqtq> %<ttms> %<chi> %<ccid> %<pssc> %<pscl> %<cqhm> %<cquuc> %<cqhv> %<crc> %<cfsc> %<stms> "%<psct>" "%<{Cache-Control}psh>" "%<{Expires}psh>" "%<{Range}cqh>" "%<{If-None-Match}cqh>" "%<{If-Modified-Since}cqh>" "%<{Accept-Encoding}cqh>" "%<{Cache-Control}cqh>" "%<{User-Agent}cqh>""#,
    },
    Printed {
        server: "squid",
        configuration: r#"# In squid.conf.
logformat wringer %ts.%03tu %tr %>a %>p %Ss %>Hs %<st %<sh %rm %ru %>rv %<tt "%mt" "%{Cache-Control}<h" "%{Expires}<h" "%{Range}>h" "%{If-None-Match}>h" "%{If-Modified-Since}>h" "%{Accept-Encoding}>h" "%{Cache-Control}>h" "%{User-Agent}>h"
access_log stdio:/var/log/squid/wringer.log wringer
"#,
        format: r#"%ts.%03tu %tr %>a %>p %Ss %>Hs %<st %<sh %rm %ru %>rv %<tt "%mt" "%{Cache-Control}<h" "%{Expires}<h" "%{Range}>h" "%{If-None-Match}>h" "%{If-Modified-Since}>h" "%{Accept-Encoding}>h" "%{Cache-Control}>h" "%{User-Agent}>h""#,
    },
    Printed {
        server: "varnish",
        configuration: r#"# The command line of varnishncsa.
varnishncsa -a -w /var/log/varnish/wringer.log -F '%{usec}t %D %h %s %b "%r" "%{Host}i" %{Varnish:hitmiss}x %{Varnish:time_firstbyte}x "%{Content-Type}o" "%{Cache-Control}o" "%{Expires}o" "%{Range}i" "%{If-None-Match}i" "%{If-Modified-Since}i" "%{Accept-Encoding}i" "%{Cache-Control}i" "%{User-Agent}i"'
"#,
        format: r#"%{usec}t %D %h %s %b "%r" "%{Host}i" %{Varnish:hitmiss}x %{Varnish:time_firstbyte}x "%{Content-Type}o" "%{Cache-Control}o" "%{Expires}o" "%{Range}i" "%{If-None-Match}i" "%{If-Modified-Since}i" "%{Accept-Encoding}i" "%{Cache-Control}i" "%{User-Agent}i""#,
    },
    Printed {
        server: "haproxy",
        configuration: r#"# In a frontend. Fields are captured first, for a log line is written when the request is long gone.
    http-request set-var(txn.host) req.hdr(host)
    http-request set-var(txn.range) req.hdr(range)
    http-request set-var(txn.if_none_match) req.hdr(if-none-match)
    http-request set-var(txn.accept_encoding) req.hdr(accept-encoding)
    http-request set-var(txn.user_agent) req.hdr(user-agent)
    log-format "%ci:%cp [%trg] %TR/%Tw/%Tc/%Tr/%Ta %ST %B %tsc %{+Q}r %{+Q}[var(txn.host)] %{+Q}[var(txn.range)] %{+Q}[var(txn.if_none_match)] %{+Q}[var(txn.accept_encoding)] %{+Q}[var(txn.user_agent)]"
"#,
        format: r#"%ci:%cp [%trg] %TR/%Tw/%Tc/%Tr/%Ta %ST %B %tsc %{+Q}r %{+Q}[var(txn.host)] %{+Q}[var(txn.range)] %{+Q}[var(txn.if_none_match)] %{+Q}[var(txn.accept_encoding)] %{+Q}[var(txn.user_agent)]"#,
    },
    Printed {
        server: "caddy",
        configuration: r#"# In a site of the Caddyfile: its own JSON has all that is needed.
log {
	output file /var/log/caddy/wringer.log
	format json
}
"#,
        format: "caddy",
    },
    Printed {
        server: "envoy",
        configuration: r#"# Of an HttpConnectionManager.
access_log:
- name: envoy.access_loggers.file
  typed_config:
    "@type": type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog
    path: /var/log/envoy/wringer.log
    log_format:
      text_format_source:
        inline_string: "[%START_TIME(%s.%6f)%] %DURATION% %RESPONSE_DURATION% %DOWNSTREAM_REMOTE_ADDRESS% %CONNECTION_ID% %RESPONSE_CODE% %RESPONSE_FLAGS% %BYTES_SENT% \"%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%\" \"%REQ(:AUTHORITY)%\" \"%RESP(CONTENT-TYPE)%\" \"%RESP(CACHE-CONTROL)%\" \"%RESP(EXPIRES)%\" \"%REQ(RANGE)%\" \"%REQ(IF-NONE-MATCH)%\" \"%REQ(IF-MODIFIED-SINCE)%\" \"%REQ(ACCEPT-ENCODING)%\" \"%REQ(CACHE-CONTROL)%\" \"%REQ(USER-AGENT)%\"\n"
"#,
        format: r#"[%START_TIME(%s.%6f)%] %DURATION% %RESPONSE_DURATION% %DOWNSTREAM_REMOTE_ADDRESS% %CONNECTION_ID% %RESPONSE_CODE% %RESPONSE_FLAGS% %BYTES_SENT% "%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%" "%REQ(:AUTHORITY)%" "%RESP(CONTENT-TYPE)%" "%RESP(CACHE-CONTROL)%" "%RESP(EXPIRES)%" "%REQ(RANGE)%" "%REQ(IF-NONE-MATCH)%" "%REQ(IF-MODIFIED-SINCE)%" "%REQ(ACCEPT-ENCODING)%" "%REQ(CACHE-CONTROL)%" "%REQ(USER-AGENT)%""#,
    },
];

/// The text of a server.
pub fn of(server: &str) -> Option<&'static Printed> {
    ALL.iter().find(|printed| printed.server == server)
}
