//! One end of a stream over the bus, by whoever holds the connection.

use super::line::{Line, publish};
use super::pipe::Came;
use fleet::bus::{Message, Reply};
use fleet::stream::{Segment, Stream};
use std::io;
use std::sync::mpsc::Sender;
use std::time::Duration;

/// Time after which the word that opens a stream is said again.
const OPENS_AGAIN: Duration = Duration::from_millis(500);

/// An end.
pub(crate) struct End {
    stream: Stream,
    /// Where what comes goes; none once nothing more does.
    to: Option<Sender<Came>>,
    subject: String,
    /// The word that is said until something comes, and when it was said last.
    opens: Option<(Vec<u8>, Option<Duration>)>,
    /// It is given up when nothing has come for so long.
    patience: Duration,
}

impl End {
    /// One that begins now. `opens`: what the other side has to hear first.
    pub fn new(
        now: Duration,
        to: Sender<Came>,
        subject: String,
        opens: Option<Vec<u8>>,
        patience: Duration,
    ) -> End {
        End {
            stream: Stream::new(now),
            to: Some(to),
            subject,
            opens: opens.map(|word| (word, None)),
            patience,
        }
    }

    /// Bytes are to be sent.
    pub fn write(&mut self, bytes: &[u8]) {
        self.stream.write(bytes);
    }

    /// Nothing more is to be sent.
    pub fn finish(&mut self) {
        self.stream.finish();
    }

    /// A segment came.
    pub fn handle(&mut self, now: Duration, segment: Segment) {
        self.opens = None;
        self.stream.handle(now, segment);
        while let Some(bytes) = self.stream.read() {
            // Where nobody reads any more, the other side still learns that it came.
            let _ = self.to.as_ref().map(|to| to.send(Ok(bytes)));
        }
        if self.stream.is_at_end() {
            self.to = None;
        }
    }

    /// Nothing more comes, and why.
    pub fn fail(&mut self, why: &str) {
        // As above.
        let _ = self.to.take().map(|to| to.send(Err(io::Error::other(why.to_owned()))));
    }

    /// Says what is due.
    pub async fn say(&mut self, line: &Line, now: Duration) {
        let silence = self.stream.silence(now);
        if self.to.is_some() && silence > self.patience {
            self.fail(&format!("nothing came from there for {:.0} s", silence.as_secs_f64()));
        }
        if !line.is_up() {
            return;
        }
        if let Some((word, said)) = &mut self.opens {
            if said.is_none_or(|said| now.saturating_sub(said) >= OPENS_AGAIN) {
                *said = Some(now);
                publish(line, &self.subject, word.clone()).await;
            }
            return;
        }
        while let Some(segment) = self.stream.poll(now) {
            publish(line, &self.subject, Message::<Reply>::Segment(segment).to_bytes()).await;
        }
    }

    /// True once all that was written has come there.
    pub fn is_sent(&self) -> bool {
        self.stream.is_sent()
    }

    /// True once the other side says nothing more.
    pub fn is_at_end(&self) -> bool {
        self.stream.is_at_end()
    }
}
