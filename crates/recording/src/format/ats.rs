//! Apache Traffic Server's custom formats.

use super::dialect::Compiled;
use super::field::{AbortForm, Field, TimeForm, Unit};
use super::template::FormatPiece;
use crate::entry::{Edge, Escape};

/// The format that logging.yaml ships as `squid`.
pub const SQUID: &str =
    "%<cqtq> %<ttms> %<chi> %<crc>/%<pssc> %<psql> %<cqhm> %<cquc> %<caun> %<phr>/%<shn> %<psct>";
/// Netscape common.
pub const COMMON: &str = "%<chi> - %<caun> [%<cqtn>] \"%<cqtx>\" %<pssc> %<pscl>";
/// Netscape extended.
pub const EXTENDED: &str = "%<chi> - %<caun> [%<cqtn>] \"%<cqtx>\" %<pssc> %<pscl> %<sssc> %<sscl> %<cqcl> %<pqcl> %<cqhl> %<pshl> %<pqhl> %<sshl> %<tts>";
/// Netscape extended 2.
pub const EXTENDED2: &str = "%<chi> - %<caun> [%<cqtn>] \"%<cqtx>\" %<pssc> %<pscl> %<sssc> %<sscl> %<cqcl> %<pqcl> %<cqhl> %<pshl> %<pqhl> %<sshl> %<tts> %<phr> %<cfsc> %<pfsc> %<crc>";

/// Compiles a format.
///
/// # Errors
/// In words.
pub fn compile(format: &str) -> Result<Compiled, String> {
    let mut compiled = Compiled::new(Escape::None, Edge::Begin);
    let mut rest = format;
    while let Some(at) = rest.find("%<") {
        compiled.literal(&rest[..at]);
        let inner = &rest[at + 2..];
        let end = inner.find('>').ok_or_else(|| format!("'{}' is not closed by >", &rest[at..]))?;
        let name = &inner[..end];
        compiled.push(FormatPiece::field(field(name), format!("%<{name}>")));
        rest = &inner[end + 1..];
    }
    compiled.literal(rest);
    Ok(compiled)
}

fn field(name: &str) -> Field {
    if let Some(inner) = name.strip_prefix('{') {
        let (header, kind) = inner.split_once('}').unwrap_or((inner, ""));
        return match kind {
            "cqh" | "ecqh" => Field::of_request(header),
            "psh" | "epsh" => Field::of_answer(header),
            _ => Field::Skip,
        };
    }
    // A slice, as in %<cquup[0:30]>, is not the whole.
    match name {
        "cqtq" | "cqts" => Field::Time(TimeForm::Seconds),
        "cqtn" => Field::Time(TimeForm::Clf),
        "cqtd" => Field::Time(TimeForm::Date),
        "cqtt" => Field::Time(TimeForm::Clock),
        "ttms" => Field::Duration(Unit::Millis),
        "ttmsf" | "tts" => Field::Duration(Unit::Seconds),
        "chi" | "chih" => Field::Address,
        "cqtx" => Field::Line,
        "cqhm" => Field::Method,
        "cquc" | "cquuc" | "cqu" => Field::Target,
        "cqup" | "cquup" => Field::Target,
        "cqpv" | "cqhv" => Field::Protocol,
        "pssc" => Field::Status,
        "psql" => Field::SentBytes,
        "pscl" => Field::BodyBytes,
        "pshl" => Field::HeadBytes,
        "psct" => Field::ContentType,
        "crc" => Field::Cache,
        "cfsc" => Field::Aborted(AbortForm::Finish),
        "stms" => Field::Upstream(Unit::Millis),
        "stmsf" | "sts" => Field::Upstream(Unit::Seconds),
        "ctid" | "cqtr" => Field::Skip,
        "ccid" => Field::Connection,
        _ => Field::Skip,
    }
}
