//! Results of an attack: a line of JSON for each, as vegeta's own `encode` writes them.

use jiff::Timestamp;
use measure::{Outcome, Record};
use serde_json::{Value, json};
use std::time::Duration;

/// A result, as a report needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Status; 0 where no answer came.
    pub code: u16,
    /// When it was sent, in ns since 1970.
    pub at_ns: i128,
    /// From the send to the end of the answer.
    pub latency: Duration,
    /// Body bytes that were sent.
    pub bytes_out: u64,
    /// Body bytes that came.
    pub bytes_in: u64,
    /// Why it is no success; empty where it is one.
    pub error: String,
}

impl Hit {
    /// True for an answer below 400.
    pub fn is_success(&self) -> bool {
        (200..400).contains(&self.code)
    }
}

/// The line of a request. `began_ns`: the beginning of the run, in ns since 1970; `out`: bytes of its body.
pub fn line(record: &Record, name: &str, began_ns: i128, out: u64) -> String {
    let connect = record.connect.unwrap_or(Duration::ZERO);
    let at_ns = began_ns + record.began.as_nanos() as i128;
    let (code, error) = match record.outcome {
        Outcome::Failed(failure) => (0, crate::wrk::report::rows::failure(&failure)),
        _ if (200..400).contains(&record.status) => (record.status, String::new()),
        _ => (record.status, format!("{} {}", record.status, phrase(record.status)).trim_end().to_owned()),
    };
    let timestamp = Timestamp::from_nanosecond(at_ns).map_or_else(|_| String::new(), |at| at.to_string());
    let line = json!({
        "attack": name,
        "seq": record.number,
        "code": code,
        "timestamp": timestamp,
        "latency": (connect + record.service).as_nanos() as u64,
        "bytes_out": out,
        "bytes_in": record.body_bytes,
        "error": error,
        "body": Value::Null,
        "method": record.method,
        "url": &*record.url,
        "headers": Value::Null,
    });
    format!("{line}\n")
}

/// Reads a line.
///
/// # Errors
/// What is wrong with it.
pub fn hit(line: &str) -> Result<Hit, String> {
    let value: Value = serde_json::from_str(line).map_err(|error| format!("it is no JSON: {error}"))?;
    let whole =
        |name: &str| value.get(name).and_then(Value::as_u64).ok_or_else(|| format!("it has no {name}"));
    let timestamp = value.get("timestamp").and_then(Value::as_str).ok_or("it has no timestamp")?;
    let at: Timestamp = timestamp.parse().map_err(|error| format!("its timestamp: {error}"))?;
    Ok(Hit {
        code: u16::try_from(whole("code")?).map_err(|_| "its code is no status")?,
        at_ns: at.as_nanosecond(),
        latency: Duration::from_nanos(whole("latency")?),
        bytes_out: whole("bytes_out")?,
        bytes_in: whole("bytes_in")?,
        error: value.get("error").and_then(Value::as_str).unwrap_or("").to_owned(),
    })
}

/// The phrases of statuses that are no success (RFC 9110 section 15), the usual ones.
fn phrase(status: u16) -> &'static str {
    match status {
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        409 => "Conflict",
        410 => "Gone",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        422 => "Unprocessable Content",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "",
    }
}
