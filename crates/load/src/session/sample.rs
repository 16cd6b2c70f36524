//! The last sample of a user, for its programs and for records that hold more than figures.

use super::exchanges::SessionExchanges;
use super::reply::Reply;
use crate::code::{CodeUser, Sample, SampleTimes};
use crate::exchange::{Ending, SentRequest};
use crate::request::contents;
use measure::{Contents, Outcome, Remark};

impl SessionExchanges<'_> {
    /// An answer has ended: what it was an answer to, and what is known of it before it is judged.
    pub(super) fn note_sample(&self, sent: &SentRequest<()>, reply: &Reply<'_>) {
        let values = &mut *self.user_turn.values.borrow_mut();
        let Some(code) = values.code.as_mut().filter(|_| self.purpose.main) else { return };
        let now = self.user_turn.worker.net.recently();
        let mut sample = self.sample(code, now.saturating_duration_since(self.began));
        sample.times.connect = sent.connect.unwrap_or_default();
        let line = reply.status_line.clone().unwrap_or_default();
        let is_tcp = self.purpose.prepared.tcp.is_some();
        if is_tcp && !sample.is_edited {
            // As JMeter has it: a message over TCP has no status of its own.
            (sample.code, sample.message) = ("200".to_owned(), "OK".to_owned());
        } else if !sample.is_edited {
            sample.code = reply.summary.status.to_string();
            sample.message = line.splitn(3, ' ').nth(2).unwrap_or_default().to_owned();
        }
        sample.head = line + "\n";
        sample.bytes = (sent.bytes, reply.summary.head_bytes + reply.summary.body_bytes);
        code.last = Some(sample);
    }

    /// No answer has come.
    pub(super) fn fail_sample(&self) {
        let values = &mut *self.user_turn.values.borrow_mut();
        let Some(code) = values.code.as_mut().filter(|_| self.purpose.main) else { return };
        let took = self.user_turn.worker.net.now().saturating_duration_since(self.began);
        let mut sample = self.sample(code, took);
        if self.purpose.prepared.tcp.is_some() && !sample.is_edited {
            sample.code = "500".to_owned();
        }
        code.last = Some(sample);
        self.purpose.prepared.without_answer(took, values);
    }

    fn sample(&self, code: &CodeUser, elapsed: std::time::Duration) -> Sample {
        let end = self.sent.windows(4).position(|window| window == b"\r\n\r\n");
        let (head, body) = match self.purpose.prepared.tcp {
            Some(_) => (&[][..], &*self.sent),
            None => (
                &self.sent[..end.unwrap_or(self.sent.len())],
                end.map_or(&[][..], |end| &self.sent[end + 4..]),
            ),
        };
        let head = String::from_utf8_lossy(head);
        let fields = head.split_once("\r\n").map_or("", |(_, fields)| fields);
        let now_ms = self.user_turn.worker.net.unix_micros() / 1000;
        let title = self.user_turn.title.borrow().clone();
        let broken = code.broken.clone();
        let mut sample = Sample {
            label: title.unwrap_or_else(|| self.purpose.prepared.name().to_owned()),
            method: self.message.request.method.to_string(),
            url: self.message.address.text.clone(),
            request_head: fields.replace("\r\n", "\n") + "\n",
            request_body: body.to_vec(),
            began_ms: now_ms.saturating_sub(elapsed.as_millis() as u64),
            times: SampleTimes { elapsed, ..SampleTimes::default() },
            ..Sample::default()
        };
        if let Some((code, message)) = broken {
            (sample.code, sample.message, sample.is_edited) = (code, message, true);
        }
        sample
    }

    /// Returns the remark of checks and programs on the last sample.
    pub(super) fn remark_of_sample(&self) -> Option<Box<Remark>> {
        let values = self.user_turn.values.borrow();
        let sample = values.code.as_ref().filter(|_| self.purpose.main)?.last.as_ref()?;
        let edited = |text: &String| sample.is_edited.then(|| text.clone());
        let said = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        Some(Box::new(Remark {
            label: Some(sample.label.clone()),
            code: edited(&sample.code),
            message: edited(&sample.message).or_else(|| said(&sample.message)),
            ignored: sample.ignored,
            failed: sample.failed.clone(),
        }))
    }

    /// Returns the contents of the record of the last exchange.
    pub(super) fn contents_of_sample(&self, ending: &Ending) -> Option<Box<Contents>> {
        let trace = &self.user_turn.worker.load.trace;
        let values = self.user_turn.values.borrow();
        contents(trace, ending.outcome == Outcome::Ok, Some(&**values), || Contents {
            request: self.sent.clone(),
            head: ending.head.clone(),
            body: ending.found.body.clone().unwrap_or_else(|| ending.body.clone()),
            ..Contents::default()
        })
    }
}
