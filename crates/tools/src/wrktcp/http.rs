//! HTTP mode: the head of a request as the file has it, with what was left out (spec/wrk-family.md section 1.7).

use super::ini::{At, Ini, RequestSection};
use super::step::Maker;
use super::text::{WrktcpPiece, pieces};
use ::plan::message::Framing;

/// Methods whose requests say that their body is empty (RFC 9110 section 8.6).
const WITH_BODY: [&[u8]; 3] = [b"POST", b"PUT", b"PATCH"];

/// How answers are told apart.
pub(super) fn answers() -> Framing {
    Framing::Http
}

/// The head of a request, the empty line at its end included.
pub(super) fn head(
    maker: &mut Maker<'_>,
    line: &At<Vec<u8>>,
    request: &RequestSection,
    body: &[WrktcpPiece],
) -> Vec<WrktcpPiece> {
    let fields: Vec<At<Vec<u8>>> = request.heads.iter().flat_map(|head| fields(maker, head)).collect();
    check_length(maker, &fields, body);
    let ini = maker.ini;
    let has = |name: &str| fields.iter().any(|field| is_of(&field.value, name));
    let mut head = pieces(&line.value, ini).unwrap_or_default();
    for field in &fields {
        head.push(text("\r\n"));
        head.extend(pieces(&field.value, ini).unwrap_or_default());
    }
    if !has("Host") {
        head.push(text(&format!("\r\nHost: {}", authority(ini))));
    }
    let announced = has("Content-Length") || has("Transfer-Encoding");
    let method = line.value.split(|byte| *byte == b' ').next().expect("a split has a first part");
    if !announced && (!body.is_empty() || WITH_BODY.contains(&method)) {
        head.push(text("\r\nContent-Length: "));
        head.push(WrktcpPiece::Length);
    }
    head.push(text("\r\n\r\n"));
    head
}

/// A length that is written out is that of the body, where that is known.
fn check_length(maker: &mut Maker<'_>, fields: &[At<Vec<u8>>], body: &[WrktcpPiece]) {
    let bytes: Option<usize> = body
        .iter()
        .map(|piece| match piece {
            WrktcpPiece::Text(text) => Some(text.len()),
            _ => None,
        })
        .sum();
    for field in fields.iter().filter(|field| is_of(&field.value, "Content-Length")) {
        let value = &field.value["Content-Length:".len()..];
        let said: Option<usize> = std::str::from_utf8(value).ok().and_then(|text| text.trim().parse().ok());
        if let (Some(said), Some(bytes)) = (said, bytes)
            && said != bytes
        {
            maker.wrong(
                field.line,
                format!(
                    "req_head says Content-Length: {said}, and the body has {bytes} bytes: write $(length)"
                ),
            );
        }
    }
}

/// A value of several lines has a field on each; blanks around it do not count.
fn fields(maker: &mut Maker<'_>, head: &At<Vec<u8>>) -> Vec<At<Vec<u8>>> {
    let mut fields = Vec::new();
    for (below, value) in head.value.split(|byte| *byte == b'\n').enumerate() {
        let line = head.line + below;
        let value = value.trim_ascii();
        if value.is_empty() && !head.value.trim_ascii().is_empty() {
            continue;
        }
        let name = value.split(|byte| *byte == b':').next().expect("a split has a first part");
        let odd = |byte: &u8| byte.is_ascii_whitespace() || byte.is_ascii_control();
        let control = value.iter().any(|byte| byte.is_ascii_control() && *byte != b'\t');
        if name.is_empty() || name.len() == value.len() || name.iter().any(odd) || control {
            let shown = String::from_utf8_lossy(value);
            let shown: String = shown.chars().take(60).collect();
            maker.wrong(
                line,
                format!("req_head '{}' is no header field: give one such as Content-Type: text/xml", shown),
            );
        }
        fields.push(At { line, value: value.to_vec() });
    }
    fields
}

fn is_of(field: &[u8], name: &str) -> bool {
    field.get(..name.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(name.as_bytes()))
        && field.get(name.len()) == Some(&b':')
}

/// Host and, where it is not the usual one, port.
fn authority(ini: &Ini) -> String {
    let usual = if ini.tls { 443 } else { 80 };
    if ini.port == usual { bracketed(&ini.host) } else { address(ini) }
}

/// Host and port.
pub(super) fn address(ini: &Ini) -> String {
    format!("{}:{}", bracketed(&ini.host), ini.port)
}

fn bracketed(host: &str) -> String {
    if host.contains(':') { format!("[{host}]") } else { host.to_owned() }
}

fn text(text: &str) -> WrktcpPiece {
    WrktcpPiece::Text(text.into())
}
