//! Several ranges in one answer, and what the proxy does wrong with them.

use super::message::{Answer, Request};
use super::{FaultKind, Shared};
use std::ops::Range;

/// The line between the parts.
const BOUNDARY: &str = "between-the-parts";

impl Shared {
    /// The ranges that were asked for of a whole answer.
    pub(super) fn in_parts(&self, request: &Request, mut answer: Answer) -> Answer {
        let size = answer.body.len();
        let mut spans = spans(request.fields.get("range").unwrap_or_default(), size);
        if spans.len() < 2 {
            return answer;
        }
        (answer.status, answer.reason) = (206, "Partial Content".to_string());
        if self.kind == FaultKind::OtherPart {
            let asked = spans.swap_remove(0);
            let span = asked.start + 1..asked.end;
            answer.fields.set("Content-Range", &format!("bytes {}-{}/{size}", span.start, span.end - 1));
            answer.body = answer.body[span].to_vec();
        } else {
            answer.fields.set("Content-Type", &format!("multipart/byteranges; boundary={BOUNDARY}"));
            answer.body = self.body_of_parts(&answer.body, &spans);
        }
        answer.length = answer.body.len();
        answer.fields.set("Content-Length", &answer.length.to_string());
        answer
    }

    fn body_of_parts(&self, whole: &[u8], spans: &[Range<usize>]) -> Vec<u8> {
        let mut body = Vec::new();
        for span in spans {
            let end = span.end - 1;
            let head = format!(
                "\r\n--{BOUNDARY}\r\nContent-Type: application/octet-stream\r\n\
                 Content-Range: bytes {}-{end}/{}\r\n\r\n",
                span.start,
                whole.len()
            );
            body.extend_from_slice(head.as_bytes());
            let other = &spans[usize::from(*span == spans[0])];
            match self.kind == FaultKind::SwapParts {
                true => body.extend(whole[other.clone()].iter().cycle().take(span.len())),
                false => body.extend_from_slice(&whole[span.clone()]),
            }
        }
        if self.kind != FaultKind::EndlessParts {
            body.extend_from_slice(format!("\r\n--{BOUNDARY}--\r\n").as_bytes());
        }
        body
    }
}

/// The ranges of a field that an object of this size has.
fn spans(field: &str, size: usize) -> Vec<Range<usize>> {
    let all = field.strip_prefix("bytes=").unwrap_or_default().split(',');
    let bounds = all.filter_map(|range| {
        let (first, last) = range.trim().split_once('-')?;
        Some(first.parse().ok()?..last.parse::<usize>().ok()?.saturating_add(1).min(size))
    });
    bounds.filter(|span| !span.is_empty()).collect()
}
