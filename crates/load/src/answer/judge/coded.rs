//! Answers in a content coding: one that the request accepts, with an ETag of its own, and with the bytes of the object in it.

use super::{Checked, Judge};
use crate::answer::coding::{Codings, Decoder};
use measure::Fault;
use plan::CheckContent;
use plan::site::codings::{self, Coding, MOST_CODED};
use std::io;

/// Bytes of a coded body that are kept, and of what becomes of it: twice what the longest version has.
const MOST_KEPT: usize = 3 * MOST_CODED as usize;

/// A body as it is decoded, up to a limit.
struct Bounded(Vec<u8>);

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MOST_KEPT {
            return Err(io::Error::other("it becomes longer than any version of the object"));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Judge<'_> {
    /// Holds the coding to what the request accepts, and to the ETag. True if the body is coded.
    pub(super) fn judge_coding(&mut self) -> bool {
        if !self.site.codes() || self.head.codings.is_none() {
            return false;
        }
        let coding = self.head.codings.only().and_then(Coding::of_name);
        let variant = self.asked.variant;
        if coding.is_none_or(|coding| !codings::accepted(variant).takes(coding)) {
            let came = self.head.codings.only().unwrap_or("of several codings, or an unknown one");
            let asked = codings::asked(variant).unwrap_or("nothing");
            self.found((Fault::WrongVariant, format!("the body is {came}, and the request accepts {asked}")));
            return true;
        }
        let named =
            self.head.etag.filter(|_| !self.head.weak).and_then(|(.., variant)| Coding::of_number(variant));
        if let Some(named) = named
            && let Some(coding) = coding
            && named != coding
        {
            let text = format!("the ETag is that of {}, the body is {}", named.name(), coding.name());
            self.found((Fault::WrongVariant, text));
        }
        true
    }

    /// A strong ETag of a coding belongs to no plain body; one that was decoded on the way has a weak one, or none.
    pub(super) fn judge_plain(&mut self) {
        let named = self.head.etag.filter(|_| self.site.codes() && !self.head.weak);
        if let Some(coding) =
            named.and_then(|(.., variant)| Coding::of_number(variant)).filter(|one| one.number() > 0)
        {
            let text = format!("the ETag is that of {}, the body is in no coding", coding.name());
            self.found((Fault::WrongVariant, text));
        }
    }

    /// Keeps a part of a coded body.
    pub(super) fn keep_coded(&mut self, bytes: &[u8]) {
        let Some(coded) = &mut self.coded else { return };
        if coded.len() + bytes.len() > MOST_KEPT {
            self.coded = None;
            let text = format!(
                "more than {MOST_KEPT} bytes came of a coded body, whose object has {}",
                self.asked.size
            );
            return self.found((Fault::WrongLength, text));
        }
        coded.extend_from_slice(bytes);
    }

    /// The coded body is whole: what is in it is judged as a plain one would be.
    pub(super) fn judge_coded(&mut self) {
        let Some(coded) = self.coded.take().filter(|_| self.finding.is_none()) else { return };
        let decoded = match decode(self.head.codings, &coded) {
            Ok(decoded) => decoded,
            Err(finding) => return self.found(finding),
        };
        // The length that was announced is that of the coded body.
        self.head.content_length = None;
        self.offset = 0;
        self.body_bytes = 0;
        self.expected_bytes = self.whole_size();
        self.body = self.first_body();
        self.take_body(&decoded);
        if let Checked::Gathering { .. } = self.body {
            self.recognise();
        }
        let came = decoded.len() as u64;
        let expected = self.expected_bytes.unwrap_or(came);
        if self.finding.is_none() && self.check.length && came != expected {
            let fault = if came < expected { Fault::Truncated } else { Fault::WrongLength };
            self.finding = Some((fault, format!("{came} of {expected} bytes were in the coded body")));
        }
        self.body_bytes = coded.len() as u64;
        // It has been compared.
        self.expected_bytes = None;
    }

    /// True if coded bodies are looked at.
    pub(super) fn reads_coded(&self) -> bool {
        self.check.content != CheckContent::Nothing && self.finding.is_none()
    }
}

fn decode(codings: Codings, coded: &[u8]) -> Result<Vec<u8>, super::Finding> {
    let damaged = |why: String| (Fault::WrongBytes, format!("the coded body cannot be decoded: {why}"));
    let mut decoder = Decoder::new(codings, Bounded(Vec::new())).map_err(damaged)?;
    decoder.push(coded).map_err(damaged)?;
    let cut = |why: String| {
        (Fault::Truncated, format!("{} bytes of a coded body came, which end early: {why}", coded.len()))
    };
    decoder.finish().map(|Bounded(decoded)| decoded).map_err(cut)
}
