//! Answers to TCP messages: a stand-in for a service, with codes by rule and misbehaviour by chance.

use crate::worker::{Turn, Worker};
use net::Close;
use plan::data::{Counts, Number};
use plan::message::{AnswerPiece, Framing, MessageService};
use std::io::Write;
use std::rc::Rc;
use std::time::Duration;
use transport::TransportStream;
use wire::message as framing;

/// Between the pieces of a split answer.
const APART: Duration = Duration::from_millis(1);

/// State shared by all connections of a worker.
pub(crate) struct Service {
    plan: MessageService,
    requests: framing::Framing,
    answers: framing::Framing,
    pieces: Vec<AnswerPiece>,
    head: Vec<u8>,
}

impl Service {
    /// `None` for what the plan's check refuses.
    pub(crate) fn new(plan: &MessageService) -> Option<Service> {
        let answers = codec_framing(plan.answer_framing())?;
        let head = match &answers {
            framing::Framing::Length(length) if plan.head.is_empty() => vec![0; length.size],
            _ => plan.head.to_vec(),
        };
        Some(Service {
            requests: codec_framing(&plan.framing)?,
            answers,
            pieces: plan.pieces().ok()?,
            head,
            plan: plan.clone(),
        })
    }

    /// Appends an answer.
    fn write(&self, code: &[u8], asked: &[u8], number: u64, out: &mut Vec<u8>) {
        let mut body = Vec::new();
        for piece in &self.pieces {
            match piece {
                AnswerPiece::Text(text) => body.extend_from_slice(text),
                AnswerPiece::Code => body.extend_from_slice(code),
                AnswerPiece::Body => body.extend_from_slice(asked),
                // A vector takes all that is written.
                AnswerPiece::Number => drop(write!(body, "{number}")),
            }
        }
        // An answer that does not fit its framing is none: the client sees that nothing comes.
        let _ = self.answers.write(&self.head, &body, out);
    }
}

/// Outcome of a request.
enum OriginNext {
    Answered,
    Close,
}

/// One connection.
pub(crate) struct OriginConnection {
    worker: Rc<Worker>,
    service: Rc<Service>,
    stream: TransportStream,
    answered: u32,
}

impl OriginConnection {
    pub(crate) fn new(worker: Rc<Worker>, service: Rc<Service>, stream: TransportStream) -> OriginConnection {
        OriginConnection { worker, service, stream, answered: 0 }
    }

    /// Serves the connection until either side closes it.
    pub(crate) async fn run(mut self) {
        // Nobody is left to be told of what fails here.
        let _ = self.serve().await;
        self.worker.counts().closed.add(1);
        self.stream.close(Close::Graceful).await;
    }

    async fn serve(&mut self) -> Option<()> {
        let service = self.service.clone();
        let limit = u64::from(service.plan.longest_request);
        let mut reader = framing::Reader::new(service.requests.clone(), limit).ok()?;
        loop {
            let received = self.stream.recv().await.ok()?;
            self.worker.counts().received_bytes.add(received.len() as u64);
            if received.is_empty() {
                let body = reader.end_of_stream().ok()?.body().to_vec();
                self.answer(&body).await?;
                return Some(());
            }
            let mut rest = &received[..];
            while !rest.is_empty() {
                let found = match reader.read(rest) {
                    Ok(found) => found,
                    Err(_) => {
                        self.worker.counts().malformed.add(1);
                        return None;
                    }
                };
                rest = &rest[found.consumed..];
                if let Some(message) = found.message
                    && let OriginNext::Close = self.answer(message.body()).await?
                {
                    return None;
                }
            }
        }
    }

    /// Answers one request, as chance has it; `None` where the client has gone.
    async fn answer(&mut self, asked: &[u8]) -> Option<OriginNext> {
        let worker = self.worker.clone();
        let service = self.service.clone();
        let mut turn = worker.turn();
        worker.counts().requests.add(1);
        let delay = worker.delay(&mut turn);
        if !delay.is_zero() {
            worker.net.sleep(delay).await;
        }
        let chance = |turn: &mut Turn, share: f64| share > 0.0 && turn.draw.unit() < share;
        let plan = &service.plan;
        if chance(&mut turn, plan.drops) {
            worker.counts().cut.add(1);
            return Some(OriginNext::Close);
        }
        if chance(&mut turn, plan.silent) {
            worker.counts().silent.add(1);
            return Some(OriginNext::Answered);
        }
        let mut out = worker.net.buffer();
        if chance(&mut turn, plan.pushes) {
            worker.counts().pushes.add(1);
            service.write(b"push", b"", turn.count, &mut out);
        }
        let fails = chance(&mut turn, plan.failures);
        worker.counts().errors.add(u64::from(fails));
        worker.counts().full.add(u64::from(!fails));
        let code = if fails { &plan.failure } else { &plan.success };
        service.write(code, asked, turn.count, &mut out);
        if chance(&mut turn, plan.wrong_lengths) {
            worker.counts().wrong_lengths.add(1);
            out.pop();
        }
        self.send(out).await?;
        self.answered += 1;
        let most = worker.behaviour().requests_per_connection;
        let closes = service.answers == framing::Framing::UntilClose;
        Some(if closes || most == Some(self.answered) { OriginNext::Close } else { OriginNext::Answered })
    }

    async fn send(&mut self, out: net::Buffer) -> Option<()> {
        let split = self.service.plan.split as usize;
        self.worker.counts().body_bytes.add(out.len() as u64);
        if split == 0 || split >= out.len() {
            return self.stream.send(out).await.ok();
        }
        for piece in out.chunks(split) {
            let mut buffer = self.worker.net.buffer();
            buffer.extend_from_slice(piece);
            self.stream.send(buffer).await.ok()?;
            self.worker.net.sleep(APART).await;
        }
        Some(())
    }
}

/// A plan's framing as the codec has it; `None` for what has no end. The engine has the same, and neither knows the other.
fn codec_framing(plan: &Framing) -> Option<framing::Framing> {
    Some(match plan {
        Framing::Length(head) => framing::Framing::Length(framing::LengthHead {
            size: head.head_size() as usize,
            at: head.at as usize,
            number: number(head.number),
            counts: match head.counts {
                Counts::Body => framing::WireCounts::Body,
                Counts::Total => framing::WireCounts::Total,
            },
            adjust: head.adjust,
        }),
        Framing::Delimiter(delimiter) => framing::Framing::Delimiter(delimiter.to_vec()),
        Framing::Fixed(bytes) => framing::Framing::Fixed(*bytes as usize),
        Framing::Lines => framing::Framing::lines(),
        Framing::RespLine => framing::Framing::Delimiter(b"\r\n".to_vec()),
        Framing::Iso8583(iso) => framing::Framing::Length(framing::LengthHead::only(number(iso.length))),
        Framing::Close => framing::Framing::UntilClose,
        // A plan's check refuses both.
        Framing::Raw | Framing::Http => return None,
    })
}

fn number(plan: Number) -> framing::Number {
    match plan {
        Number::Ascii(width) => framing::Number::Decimal(width.into()),
        Number::Hex(width) => framing::Number::Hex(width.into()),
        Number::Binary(width) => framing::Number::Big(width.into()),
        Number::Little(width) => framing::Number::Little(width.into()),
        Number::Bcd(width) => framing::Number::Bcd(width.into()),
    }
}
