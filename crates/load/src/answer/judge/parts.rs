//! Several ranges in one answer (RFC 9110 section 14.6): each part says which bytes it has, and is held to them.

use super::{Judge, read_range};
use crate::answer::oracle::Finding;
use crate::request::asked::What;
use measure::Fault;
use plan::CheckContent;

/// A body of several parts, as far as it has come.
pub(super) struct Parts {
    /// The line that stands before each part.
    delimiter: Vec<u8>,
    bytes: Vec<u8>,
}

/// Bytes that the words between the parts of two ranges may have.
const MOST_BETWEEN: usize = 8_192;
/// The media type of such a body.
const MULTIPART: &str = "multipart/byteranges";

/// One part: first and last byte and whole size, as it says, and its bytes.
type Part<'a> = ((u64, u64, u64), &'a [u8]);

impl Parts {
    /// Parts that a Content-Type announces.
    pub(super) fn announced(content_type: &[u8]) -> Option<Parts> {
        let text = std::str::from_utf8(content_type).ok()?;
        let (kind, parameters) = text.split_once(';')?;
        let boundary = parameters.split(';').find_map(|one| {
            let (name, value) = one.split_once('=')?;
            name.trim().eq_ignore_ascii_case("boundary").then(|| value.trim().trim_matches('"'))
        })?;
        (kind.trim().eq_ignore_ascii_case(MULTIPART) && !boundary.is_empty())
            .then(|| Parts { delimiter: format!("--{boundary}").into_bytes(), bytes: Vec::new() })
    }

    /// The parts of a whole body.
    fn read(&self) -> Result<Vec<Part<'_>>, Finding> {
        let early = || (Fault::Truncated, "the parts of the body end before their last delimiter".to_owned());
        let find =
            |text: &[u8], wanted: &[u8]| text.windows(wanted.len()).position(|window| window == wanted);
        let mut parts = Vec::new();
        let at = find(&self.bytes, &self.delimiter).ok_or_else(early)?;
        let mut rest = &self.bytes[at + self.delimiter.len()..];
        while !rest.starts_with(b"--") {
            let head = find(rest, b"\r\n\r\n").ok_or_else(early)?;
            let range = content_range(&rest[..head]).ok_or_else(|| {
                (Fault::WrongRange, "a part has no Content-Range that can be read".to_owned())
            })?;
            let (first, last, _) = range;
            rest = &rest[head + 4..];
            let length = last.checked_sub(first).and_then(|more| usize::try_from(more).ok());
            let length = length.and_then(|more| more.checked_add(1)).filter(|length| *length <= rest.len());
            let length = length.ok_or_else(early)?;
            parts.push((range, &rest[..length]));
            let behind = &rest[length..];
            if behind.is_empty() {
                return Err(early());
            }
            let behind = behind.strip_prefix(b"\r\n").and_then(|rest| rest.strip_prefix(&self.delimiter[..]));
            rest = behind.ok_or_else(|| {
                let text = format!("the part {first}-{last} is not followed by a delimiter");
                (Fault::WrongLength, text)
            })?;
        }
        Ok(parts)
    }
}

/// The Content-Range among the fields of a part.
fn content_range(head: &[u8]) -> Option<(u64, u64, u64)> {
    head.split(|byte| *byte == b'\n').find_map(|line| {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let named = line[..colon].trim_ascii().eq_ignore_ascii_case(b"Content-Range");
        named.then(|| read_range(line[colon + 1..].trim_ascii())).flatten()
    })
}

impl Judge<'_> {
    /// Both ranges that were asked for, as far as an object of this size has them.
    fn wanted(&self, size: u64) -> Vec<(u64, u64)> {
        let both = [self.asked.range, self.asked.second_range].into_iter().flatten();
        both.filter(|(first, _)| *first < size).map(|(first, last)| (first, last.min(size - 1))).collect()
    }

    /// A 206 to a request for two ranges: parts, or one range that has all of both.
    pub(super) fn judge_two_ranges(&mut self) {
        if self.parts.is_some() {
            return;
        }
        let Some((first, last, total)) = self.head.content_range else {
            let text = "206 without parts, and without a Content-Range that can be read".to_owned();
            return self.found((Fault::WrongRange, text));
        };
        let wanted = self.wanted(total);
        let hull = wanted.first().zip(wanted.last()).map(|(begin, end)| (begin.0, end.1));
        if self.of_another_object() {
            return self.found(self.anothers());
        }
        // It may send a part of what was asked for (RFC 9110 section 15.3.7): one of the ranges.
        let is_asked = hull == Some((first, last)) || wanted.contains(&(first, last));
        if !is_asked || self.whole_size().is_some_and(|size| size != total) {
            let wanted: Vec<_> = wanted.iter().map(|(first, last)| format!("{first}-{last}")).collect();
            let asked = if wanted.is_empty() {
                "bytes that it does not have".to_owned()
            } else {
                wanted.join(" and ")
            };
            let text = format!("asked for {asked} of {total}, got {first}-{last} alone");
            return self.found((Fault::WrongRange, text));
        }
        self.offset = first;
        self.expected_bytes = Some(last - first + 1);
    }

    /// Keeps a piece of a body of parts.
    pub(super) fn keep_parts(&mut self, bytes: &[u8]) {
        let most = (self.asked.body_bytes() as usize).saturating_add(MOST_BETWEEN);
        let Some(parts) = &mut self.parts else { return };
        if parts.bytes.len() + bytes.len() > most {
            self.parts = None;
            let text = format!("more than {most} bytes came for two ranges of {}", self.asked.body_bytes());
            return self.found((Fault::WrongLength, text));
        }
        parts.bytes.extend_from_slice(bytes);
    }

    /// The body is whole: its parts are those that were asked for, and of one version.
    pub(super) fn judge_parts(&mut self) {
        let Some(parts) = self.parts.take().filter(|_| self.finding.is_none()) else { return };
        let What::Native { object } = self.asked.what else { return };
        let found = parts.read().and_then(|parts| self.judge_each(object, &parts));
        if let Err(finding) = found {
            self.found(finding);
        }
    }

    fn judge_each(&self, object: u64, parts: &[Part<'_>]) -> Result<(), Finding> {
        if self.of_another_object() {
            return Err(self.anothers());
        }
        let Some(((.., total), _)) = parts.first() else {
            return Err((Fault::Truncated, "a body of parts has none".to_owned()));
        };
        let wanted = self.wanted(*total);
        let came =
            |(first, last): &(u64, u64)| parts.iter().any(|((from, to, _), _)| from <= first && last <= to);
        let asked_for = |(from, to, _): &(u64, u64, u64)| {
            let begin = wanted.first().is_some_and(|(first, _)| first <= from);
            begin && wanted.last().is_some_and(|(_, last)| to <= last)
        };
        if !wanted.iter().all(came) || !parts.iter().all(|(range, _)| asked_for(range)) {
            let list = |ranges: &mut dyn Iterator<Item = (u64, u64)>| {
                ranges.map(|(first, last)| format!("{first}-{last}")).collect::<Vec<_>>().join(" and ")
            };
            let got = list(&mut parts.iter().map(|((first, last, _), _)| (*first, *last)));
            let text = format!("asked for {} of {total}, got {got}", list(&mut wanted.iter().copied()));
            return Err((Fault::WrongRange, text));
        }
        if self.check.content == CheckContent::Nothing {
            return Ok(());
        }
        let truth = self.truth(object);
        let mut before = None;
        for ((first, last, total), bytes) in parts {
            let recognised = truth
                .by_comparison(*first, bytes, self.head.etag)
                .ok_or_else(|| truth.unrecognised(*first, bytes))?;
            truth.timely(recognised.version)?;
            let size = truth.size_of(recognised.version);
            if *total != size {
                let text = format!("version {} has {size} bytes, the part says {total}", recognised.version);
                return Err((Fault::WrongRange, text));
            }
            match before.replace(recognised.version) {
                Some(other) if other != recognised.version => {
                    let text = format!(
                        "the part {first}-{last} is of version {}, one before it of version {other}",
                        recognised.version
                    );
                    return Err((Fault::TornVersion, text));
                }
                Some(_) | None => {}
            }
        }
        Ok(())
    }
}
