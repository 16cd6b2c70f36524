//! JMeter's layouts: the results file (JTL) as CSV and XML, the summariser's lines, and `statistics.json`.

pub mod jtl;
pub mod statistics;
pub mod summary;

/// One finished sample, as JMeter tells it; times in whole milliseconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sample<'a> {
    /// When it began, since 1970.
    pub began_ms: u64,
    /// From its beginning, connecting included, to its end.
    pub elapsed_ms: u64,
    /// The sampler's name.
    pub label: &'a str,
    /// The status, or the class of what went wrong.
    pub code: &'a str,
    /// The words behind the status, or what went wrong.
    pub message: &'a str,
    /// `GROUP 1-USER`.
    pub thread: &'a str,
    /// It was good.
    pub success: bool,
    /// What an assertion found.
    pub failure: &'a str,
    /// Bytes of the answer, head included.
    pub bytes: u64,
    /// Users of its group at that time.
    pub group_threads: u32,
    /// Users of all groups at that time.
    pub all_threads: u32,
    /// What was asked for; `None` for what is no request.
    pub url: Option<&'a str>,
    /// From its beginning to the first byte of the answer.
    pub latency_ms: u64,
    /// Of these for connecting, TLS included.
    pub connect_ms: u64,
}

/// The words that go with a status (RFC 9110 section 15), where a server's own are not kept.
pub fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        204 => "No Content",
        206 => "Partial Content",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        409 => "Conflict",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "",
    }
}
