//! Answers that are what a request asks for in its query, as haterm's and httpterm's are: `/?s=20k&t=500`. What cannot be obeyed is answered
//! 400, with the reason.
//!
//! There is no stamp, and no object. Start at [`compose`], and at [`HatermAsked::read`] for the grammar.

use crate::answer::{Answer, AnswerBody};
use crate::head::{CACHE_CONTROL, CONTENT_TYPE, DATE, Head};
use crate::native::Scratch;
use crate::request::{Method, Request};
use crate::worker::{Turn, Worker};
use plan::content::Content;
use plan::draw::Draw;
use plan::site::{MAX_SIZE, StampKind};
use std::time::Duration;
use wire::http1::Version;

/// Keeps the numbers of a query apart from the other chances of an answer.
const SALT: u64 = 0x6861_7465_726D;
/// An answer is held back for so many milliseconds at most: a day.
const LONGEST_WAIT: u64 = 86_400_000;
/// Bytes of an argument that a refusal repeats.
const REPEATED: usize = 40;

const HELP: &str = "\
Answers of wringer origin --haterm are made as the query asks:
  s=SIZE    bytes of content [0]
  r=STATUS  status, 200 to 599 [200]
  c=0       Cache-Control: no-cache
  C=1       close the connection, K=1: keep it
  t=TIME    wait so many milliseconds before the answer
  k=1       content in chunks
  R=1       content of noise
  A=1       answer before the content of the request is read: refused, unless there is none
A number is digits and then k, m or g (times 1024) and r (at random, less than that), as many as there are to be.
Arguments are separated by one of & ? , ; and /
  GET /?s=20k&c=1&t=700&K=30r
  GET /?r=500?s=0?c=0?t=1000
";

/// The answer that a query asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct HatermAsked {
    /// The text about the queries is wanted.
    help: bool,
    size: u64,
    status: u16,
    cacheable: bool,
    /// The connection is kept, or not, whatever the request says.
    keep: Option<bool>,
    wait: Duration,
    chunked: bool,
    noise: bool,
    /// The content of the request is to be read after the answer.
    reads_after: bool,
}

/// Carrier of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Carrier {
    /// A connection with one request at once, which may be kept if `keepable`.
    Connection { keepable: bool },
    /// A stream of HTTP/2 or HTTP/3.
    Stream,
}

impl HatermAsked {
    const USUAL: HatermAsked = HatermAsked {
        help: false,
        size: 0,
        status: 200,
        cacheable: true,
        keep: None,
        wait: Duration::ZERO,
        chunked: false,
        noise: false,
        reads_after: false,
    };

    /// Reads the path and query of a request.
    ///
    /// # Errors
    /// The argument that cannot be meant, in a sentence.
    fn read(path: &[u8], draw: &mut Draw) -> Result<HatermAsked, String> {
        let Some(at) = path.iter().position(|byte| *byte == b'?') else { return Ok(HatermAsked::USUAL) };
        let query = &path[at + 1..];
        if query.is_empty() {
            return Ok(HatermAsked { help: true, ..HatermAsked::USUAL });
        }
        let mut arguments =
            query.split(|byte| b"&?,;/".contains(byte)).filter(|argument| !argument.is_empty());
        let mut asked = HatermAsked::USUAL;
        arguments.try_for_each(|argument| asked.set(argument, draw))?;
        Ok(asked)
    }

    fn set(&mut self, argument: &[u8], draw: &mut Draw) -> Result<(), String> {
        let shown = || String::from_utf8_lossy(&argument[..argument.len().min(REPEATED)]).into_owned();
        let [name, b'=', number @ ..] = argument else {
            return Err(format!("'{}' is no argument: give NAME=NUMBER, such as s=20k", shown()));
        };
        let number = read_number(number, draw).ok_or_else(|| {
            format!("'{}' has no number: give digits and then k, m, g or r, such as 20k", shown())
        })?;
        let within = |most: u64| match number <= most {
            true => Ok(number),
            false => Err(format!("'{}' is too much: give at most {most}", shown())),
        };
        match name {
            b's' => self.size = within(MAX_SIZE)?,
            b't' => self.wait = Duration::from_millis(within(LONGEST_WAIT)?),
            b'c' => self.cacheable = number > 0,
            b'C' => self.keep = Some(number == 0),
            b'K' => self.keep = Some(number > 0),
            b'k' => self.chunked = number > 0,
            b'R' => self.noise = number > 0,
            b'A' => self.reads_after = number > 0,
            b'r' => {
                let status = u16::try_from(number).ok().filter(|status| (200..=599).contains(status));
                self.status = status
                    .ok_or_else(|| format!("'{}' is no status of an answer: give 200 to 599", shown()))?;
            }
            _ => return Err(format!("'{}' is not known: there are s, r, c, C, K, t, k, R and A", shown())),
        }
        Ok(())
    }

    /// Checks it against the request that asks.
    ///
    /// # Errors
    /// The part that cannot be obeyed, in a sentence.
    fn check(&self, request: &Request, carrier: Carrier) -> Result<(), &'static str> {
        let is_alone = carrier != Carrier::Stream;
        let wrong = [
            (
                self.reads_after && request.body_bytes > 0,
                "A=1: the content of a request is read before the answer here: leave A out",
            ),
            (
                self.size > 0 && matches!(self.status, 204 | 304),
                "s: an answer 204 or 304 has no content (RFC 9110 section 6.4.1): give s=0",
            ),
            (
                self.chunked && is_alone && request.version == Version::Http10,
                "k=1: HTTP/1.0 has no chunks (RFC 9112 section 6.1): ask over HTTP/1.1",
            ),
            (
                self.keep == Some(false) && !is_alone,
                "C=1: over HTTP/2 and HTTP/3 other requests share the connection: ask over HTTP/1.1",
            ),
            (
                self.keep == Some(true) && !request.keep_alive && request.version != Version::Http10,
                "K=1: the request says that its connection closes: leave out Connection: close",
            ),
        ];
        wrong.into_iter().find(|(is_wrong, _)| *is_wrong).map_or(Ok(()), |(_, why)| Err(why))
    }
}

/// Digits, and behind them k, m and g, each times 1024 more, and r: at random, less than the digits say.
fn read_number(text: &[u8], draw: &mut Draw) -> Option<u64> {
    let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let (digits, units) = text.split_at(end);
    // In C a number with a zero before it is octal.
    if digits.len() > 1 && digits.starts_with(b"0") {
        return None;
    }
    let mut number: u64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    let mut shift = 0;
    let mut is_random = false;
    for unit in units {
        match unit.to_ascii_lowercase() {
            b'k' => shift += 10,
            b'm' => shift += 20,
            b'g' => shift += 30,
            b'r' => is_random = true,
            _ => return None,
        }
    }
    if is_random {
        number = draw.below(number);
    }
    number.checked_mul(1u64.checked_shl(shift)?)
}

/// Reads what a request asks for; the same each time for one turn.
fn asked(request: &Request, turn: &Turn) -> Result<HatermAsked, String> {
    if !request.path.starts_with(b"/") {
        return Err("The target has no path: give one such as /?s=20k".to_owned());
    }
    HatermAsked::read(&request.path, &mut Draw::new(SALT, turn.serial))
}

/// Time for which the answer to a request is held back: as the plan says, and as the request does where it is asked. A refusal is not held back for longer.
pub(crate) fn delay(worker: &Worker, request: &Request, turn: &mut Turn) -> Duration {
    let of_plan = worker.delay(turn);
    if !worker.behaviour().haterm {
        return of_plan;
    }
    of_plan + asked(request, turn).map_or(Duration::ZERO, |asked| asked.wait)
}

/// Writes the head of the answer to a request and says what follows it.
pub(crate) fn compose(
    worker: &Worker,
    request: &Request,
    turn: &mut Turn,
    carrier: Carrier,
    scratch: &mut Scratch,
    out: &mut impl Head,
) -> Answer {
    scratch.overlay.clear();
    let keepable = carrier != Carrier::Connection { keepable: false };
    let reply = Answering { worker, request, keep_alive: request.keep_alive && keepable };
    if turn.misdirected {
        worker.counts().misdirected.add(1);
        let text = "The plan has this connection for another authority.";
        return reply.text(out, turn, scratch, Text { status: 421, kind: StampKind::Error, text });
    }
    if turn.draw.chance(worker.errors()) {
        let failure = Text {
            status: worker.behaviour().error_status,
            kind: StampKind::Error,
            text: "The plan asked for this error.",
        };
        return reply.text(out, turn, scratch, failure);
    }
    let asked = asked(request, turn)
        .and_then(|asked| asked.check(request, carrier).map(|()| asked).map_err(str::to_owned));
    match asked {
        Err(why) => {
            reply.text(out, turn, scratch, Text { status: 400, kind: StampKind::Refused, text: &why })
        }
        Ok(asked) if asked.help => {
            let text = HELP.trim_end();
            reply.text(out, turn, scratch, Text { status: 200, kind: StampKind::Full, text })
        }
        Ok(asked) => {
            let keep_alive = asked.keep.unwrap_or(request.keep_alive) && keepable;
            Answering { keep_alive, ..reply }.asked(out, turn, &asked)
        }
    }
}

/// An answer being composed: what all of them need.
struct Answering<'a> {
    worker: &'a Worker,
    request: &'a Request,
    keep_alive: bool,
}

/// An answer of text, which nobody is to store.
struct Text<'a> {
    status: u16,
    kind: StampKind,
    text: &'a str,
}

impl Answering<'_> {
    fn asked(&self, out: &mut impl Head, turn: &mut Turn, asked: &HatermAsked) -> Answer {
        self.begin(out, turn, asked.status);
        if !asked.cacheable {
            out.field(&CACHE_CONTROL, b"no-cache");
        }
        let has_content = !matches!(asked.status, 204 | 304);
        if has_content {
            out.length((!asked.chunked).then_some(asked.size));
        }
        out.end(self.worker, self.keep_alive, self.request.version);
        let content = match (asked.chunked, asked.noise) {
            (_, true) => Content::native(0, 0, 0),
            (true, false) => Content::haterm_chunks(),
            (false, false) => Content::haterm_lines(),
        };
        let mut body = AnswerBody { content, from: 0, to: asked.size, chunked: asked.chunked, cut: false };
        let sends = has_content && self.request.method != Method::Head;
        let cut = turn.draw.chance(self.worker.aborts()) || turn.cut;
        if cut && sends && asked.size > 0 {
            body.cut_short(&mut turn.draw);
        }
        Answer {
            kind: if body.cut { StampKind::Cut } else { StampKind::Full },
            head_bytes: out.bytes(),
            storable: asked.cacheable,
            keep_alive: self.keep_alive && !body.cut,
            body: sends.then_some(body),
        }
    }

    fn text(&self, out: &mut impl Head, turn: &Turn, scratch: &mut Scratch, text: Text<'_>) -> Answer {
        scratch.overlay.extend_from_slice(text.text.as_bytes());
        scratch.overlay.push(b'\n');
        let length = scratch.overlay.len() as u64;
        self.begin(out, turn, text.status);
        out.field(&CONTENT_TYPE, b"text/plain");
        out.field(&CACHE_CONTROL, b"no-store");
        out.length(Some(length));
        out.end(self.worker, self.keep_alive, self.request.version);
        let body =
            AnswerBody { content: Content::haterm_lines(), from: 0, to: length, chunked: false, cut: false };
        let answer = Answer::of_head(text.kind, out.bytes(), false, self.keep_alive);
        Answer { body: (self.request.method != Method::Head).then_some(body), ..answer }
    }

    /// The status, the date, and fields of the plan that name the object, which the whole target is here.
    fn begin(&self, out: &mut impl Head, turn: &Turn, status: u16) {
        out.status(status);
        out.field(&DATE, &self.worker.date.borrow_mut().of(turn.now_us / 1_000_000));
        self.worker.keyed.iter().for_each(|field| out.keyed(field, &self.request.path));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &str) -> Result<HatermAsked, String> {
        HatermAsked::read(path.as_bytes(), &mut Draw::new(1, 2))
    }

    #[test]
    fn queries_are_read() {
        let millis = Duration::from_millis;
        for (path, expected) in [
            ("/", HatermAsked::USUAL),
            ("/a/b", HatermAsked::USUAL),
            ("/?", HatermAsked { help: true, ..HatermAsked::USUAL }),
            ("/?s=20k&t=500", HatermAsked { size: 20 << 10, wait: millis(500), ..HatermAsked::USUAL }),
            (
                "/?r=500?s=0?c=0?t=1000",
                HatermAsked { status: 500, cacheable: false, wait: millis(1000), ..HatermAsked::USUAL },
            ),
            (
                "/a?s=1m,k=1;C=1/",
                HatermAsked { size: 1 << 20, chunked: true, keep: Some(false), ..HatermAsked::USUAL },
            ),
            (
                "/?C=0&R=1&A=1",
                HatermAsked { keep: Some(true), noise: true, reads_after: true, ..HatermAsked::USUAL },
            ),
            ("/?K=0&s=2kK", HatermAsked { keep: Some(false), size: 2 << 20, ..HatermAsked::USUAL }),
        ] {
            assert_eq!(read(path), Ok(expected), "{path}");
        }
    }

    #[test]
    fn what_cannot_be_meant_is_named() {
        for (path, said) in [
            ("/?s", "'s' is no argument"),
            ("/?size=3", "'size=3' is no argument"),
            ("/?s=", "'s=' has no number"),
            ("/?s=0x10", "'s=0x10' has no number"),
            ("/?s=010", "'s=010' has no number"),
            ("/?s=-1", "'s=-1' has no number"),
            ("/?s=99999999999999999999", "has no number"),
            ("/?s=9ggg", "has no number"),
            ("/?s=2048g", "'s=2048g' is too much: give at most 1099511627776"),
            ("/?t=1g", "'t=1g' is too much"),
            ("/?r=100", "'r=100' is no status"),
            ("/?r=600", "'r=600' is no status"),
            ("/?x=1", "'x=1' is not known"),
        ] {
            let why = read(path).unwrap_err();
            assert!(why.contains(said), "{path}: {why}");
        }
    }

    #[test]
    fn random_numbers_are_below_and_repeat() {
        let sizes = |salt| {
            let mut draw = Draw::new(salt, 2);
            (0..200).map(|_| HatermAsked::read(b"/?s=3kr", &mut draw).unwrap().size >> 10).collect::<Vec<_>>()
        };
        assert_eq!(sizes(1), sizes(1));
        for size in 0..3 {
            assert!(sizes(1).contains(&size), "{size}");
        }
        assert!(sizes(1).iter().all(|size| *size < 3));
    }
}
