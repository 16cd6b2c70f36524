//! HAProxy's log-format.

use super::dialect::Compiled;
use super::field::{AbortForm, Field, TimeForm, Unit};
use super::template::{FormatPiece, Shape};
use crate::entry::{Edge, Escape};

/// The format of `option httplog`.
pub const HTTPLOG: &str = "%ci:%cp [%tr] %ft %b/%s %TR/%Tw/%Tc/%Tr/%Ta %ST %B %CC %CS %tsc %ac/%fc/%bc/%sc/%rc %sq/%bq %hr %hs %{+Q}r";
/// The format of `option httpslog`.
pub const HTTPSLOG: &str = "%ci:%cp [%tr] %ft %b/%s %TR/%Tw/%Tc/%Tr/%Ta %ST %B %CC %CS %tsc %ac/%fc/%bc/%sc/%rc %sq/%bq %hr %hs %{+Q}r %[fc_err]/%[ssl_fc_err,hex]/%[ssl_c_err]/%[ssl_c_ca_err]/%[ssl_fc_is_resumed] %[ssl_fc_sni]/%sslv/%sslc";

/// Compiles a log-format.
///
/// # Errors
/// In words.
pub fn compile(format: &str) -> Result<Compiled, String> {
    let mut compiled = Compiled::new(Escape::Hash, Edge::Begin);
    let mut quotes = false;
    // The two are one field, since an IPv6 address has colons of its own.
    let joined = format.replace("%ci:%cp", "%ci:cp").replace("%Ts.%ms", "%Ts");
    let mut rest = joined.as_str();
    while let Some(at) = rest.find('%') {
        compiled.literal(&rest[..at].replace("\\ ", " "));
        rest = &rest[at + 1..];
        if let Some(more) = rest.strip_prefix('%') {
            compiled.literal("%");
            rest = more;
            continue;
        }
        let flags = match rest.strip_prefix('{') {
            Some(inner) => {
                let (flags, after) = inner.split_once('}').ok_or("a brace is not closed")?;
                rest = after;
                flags
            }
            None => "",
        };
        let quoted = flags.contains("+Q") || quotes && !flags.contains("-Q");
        let (name, after) = word(rest).ok_or_else(|| format!("'%{rest}' is no variable of a log-format"))?;
        rest = after;
        if name == "o" {
            quotes = quoted;
            rest = rest.strip_prefix(' ').unwrap_or(rest);
            continue;
        }
        let field = variable(name);
        let shape = match name {
            "hr" | "hs" => Shape::Braces,
            _ if quoted && is_text(name) => Shape::Quoted,
            _ => Shape::Plain,
        };
        compiled.push(FormatPiece::shaped(field, format!("%{name}"), shape));
    }
    compiled.literal(&rest.replace("\\ ", " "));
    Ok(compiled)
}

/// The name of a variable, or an expression in brackets, and what follows.
fn word(text: &str) -> Option<(&str, &str)> {
    if let Some(inner) = text.strip_prefix("ci:cp") {
        return Some(("ci:cp", inner));
    }
    if text.starts_with('[') {
        let end = text.find(']')? + 1;
        return Some(text.split_at(end));
    }
    let end = text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

fn variable(name: &str) -> Field {
    match name {
        "ci:cp" => Field::AddressPort,
        "ci" => Field::Address,
        "tr" | "t" | "trg" | "trl" | "T" | "Tl" => Field::Time(TimeForm::Clf),
        "Ts" => Field::Time(TimeForm::Seconds),
        "ms" => Field::Time(TimeForm::Below),
        "Ta" | "Tt" => Field::Duration(Unit::Millis),
        "Tr" => Field::Upstream(Unit::Millis),
        "ST" => Field::Status,
        "B" => Field::SentBytes,
        "tsc" | "ts" => Field::Aborted(AbortForm::Termination),
        "r" => Field::Line,
        "HM" => Field::Method,
        "HU" | "HPO" => Field::Target,
        "HP" => Field::Path,
        "HQ" => Field::Query,
        "HV" => Field::Protocol,
        name => match name.strip_prefix('[') {
            Some(inner) => expression(inner.trim_end_matches(']')),
            None => Field::Skip,
        },
    }
}

/// A sample expression, by the name of what it fetches: `req.hdr(host)`, `var(txn.user_agent)`.
fn expression(text: &str) -> Field {
    let inner = text.split_once('(').map_or(text, |(_, inner)| inner);
    let name = inner.split([')', ',']).next().unwrap_or(inner);
    let last = name.rsplit('.').next().unwrap_or(name);
    match last.replace('_', "-").as_str() {
        "ua" => Field::Agent,
        "method" => Field::Method,
        other => Field::of_request(other),
    }
}

/// Variables that are texts and so are quoted where quotes are wanted; numbers are not.
fn is_text(name: &str) -> bool {
    matches!(
        name,
        "r" | "ft"
            | "f"
            | "b"
            | "s"
            | "CC"
            | "CS"
            | "hrl"
            | "hsl"
            | "HM"
            | "HU"
            | "HP"
            | "HQ"
            | "HV"
            | "tsc"
            | "ts"
            | "ID"
            | "U"
    ) || name.starts_with('[')
}
