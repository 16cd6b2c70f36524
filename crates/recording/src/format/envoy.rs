//! Envoy's access log format strings.

use super::dialect::Compiled;
use super::field::{AbortForm, Field, TimeForm, Unit};
use super::strftime::Strftime;
use super::template::FormatPiece;
use crate::entry::{Edge, Escape};

/// Envoy's format where nobody says otherwise.
pub const DEFAULT: &str = "[%START_TIME%] \"%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%\" %RESPONSE_CODE% %RESPONSE_FLAGS% %BYTES_RECEIVED% %BYTES_SENT% %DURATION% %RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)% \"%REQ(X-FORWARDED-FOR)%\" \"%REQ(USER-AGENT)%\" \"%REQ(X-REQUEST-ID)%\" \"%REQ(:AUTHORITY)%\" \"%UPSTREAM_HOST%\"";

/// Compiles a format string.
///
/// # Errors
/// In words.
pub fn compile(format: &str) -> Result<Compiled, String> {
    let mut compiled = Compiled::new(Escape::None, Edge::Begin);
    let mut rest = format.strip_suffix("\\n").or_else(|| format.strip_suffix('\n')).unwrap_or(format);
    while let Some(at) = rest.find('%') {
        compiled.literal(&rest[..at]);
        let inner = &rest[at + 1..];
        let open = || format!("'{}' is not closed by %", &rest[at..]);
        if let Some(more) = inner.strip_prefix('%') {
            compiled.literal("%");
            rest = more;
            continue;
        }
        let name_end = inner.find(['%', '(']).ok_or_else(open)?;
        let name = &inner[..name_end];
        let (argument, end) = match inner[name_end..].strip_prefix('(') {
            Some(text) => {
                let close = text.find(')').ok_or_else(open)?;
                let after = name_end + close + 2;
                (&text[..close], after + inner[after..].find('%').ok_or_else(open)?)
            }
            None => ("", name_end),
        };
        let field = operator(&mut compiled, name.split(':').next().unwrap_or(name), argument)?;
        compiled.push(FormatPiece::field(field, format!("%{}%", &inner[..end])));
        rest = &inner[end + 1..];
    }
    compiled.literal(rest);
    Ok(compiled)
}

fn operator(compiled: &mut Compiled, name: &str, argument: &str) -> Result<Field, String> {
    let first = argument.split('?').next().unwrap_or("");
    Ok(match name {
        "START_TIME" | "START_TIME_LOCAL" if argument.is_empty() => Field::Time(TimeForm::Iso),
        "START_TIME" | "START_TIME_LOCAL" => {
            let own =
                Strftime::compile(argument).map_err(|letter| format!("%{letter} of a time is not read"))?;
            Field::Time(compiled.own_time(own))
        }
        "REQ" => Field::of_request(first),
        "RESP" => Field::of_answer(first),
        "PROTOCOL" => Field::Protocol,
        "RESPONSE_CODE" => Field::Status,
        "RESPONSE_FLAGS" => Field::Aborted(AbortForm::Flags),
        "BYTES_SENT" => Field::BodyBytes,
        "DURATION" => Field::Duration(Unit::Millis),
        "RESPONSE_DURATION" => Field::FirstByte(Unit::Millis),
        "DOWNSTREAM_REMOTE_ADDRESS" | "DOWNSTREAM_DIRECT_REMOTE_ADDRESS" => Field::AddressPort,
        "DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT" | "DOWNSTREAM_DIRECT_REMOTE_ADDRESS_WITHOUT_PORT" => {
            Field::Address
        }
        "CONNECTION_ID" => Field::Connection,
        _ => Field::Skip,
    })
}
