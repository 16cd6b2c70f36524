//! Masks secrets in what was typed and in what is told of single requests: by the names of header fields, in URLs, and
//! wherever a secret of the plan stands by itself.

use measure::{Event, Evidence, TalkEvent};
use plan::Plan;
use plan::secret::{MASK, content_without_secrets, is_secret_field, may_have_secrets, without_secrets};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// Values that are masked.
#[derive(Debug, Clone, Default)]
pub struct Mask {
    /// The longest first, so that none is left over of another.
    values: Vec<Box<[u8]>>,
}

impl Mask {
    /// For a plan with its secrets.
    pub fn of(plan: &Plan) -> Mask {
        let secrets = plan.secret_values();
        // Several cookies are one secret, of which each may stand alone.
        let parts = secrets.iter().flat_map(|value| [value.as_str()].into_iter().chain(value.split("; ")));
        let mut values: Vec<Box<[u8]>> =
            parts.filter(|value| !value.is_empty()).map(|value| value.as_bytes().into()).collect();
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        values.dedup();
        Mask { values }
    }

    /// True if nothing of a text is to be masked, as far as its marks tell: secrets of a plan may be any words.
    fn leaves(&self, text: &str) -> bool {
        self.values.is_empty() && !may_have_secrets(text)
    }

    /// A text with its secrets masked.
    pub fn text(&self, text: &str) -> String {
        let bytes = self.bytes(text.as_bytes());
        without_secrets(&String::from_utf8_lossy(&bytes))
    }

    /// Bytes with the secrets of the plan masked.
    fn bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let places = self.places(bytes);
        if places.is_empty() {
            return bytes.into();
        }
        let mut shown = Vec::with_capacity(bytes.len());
        let mut at = 0;
        for place in places {
            shown.extend_from_slice(&bytes[at..place.start]);
            shown.extend_from_slice(MASK.as_bytes());
            at = place.end;
        }
        shown.extend_from_slice(&bytes[at..]);
        shown.into()
    }

    /// Where secrets stand by themselves, in order.
    pub fn places(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            let here = self.values.iter().find(|value| stands_at(bytes, at, value));
            match here {
                Some(value) => {
                    found.push(at..at + value.len());
                    at += value.len();
                }
                None => at += 1,
            }
        }
        found
    }

    /// A message's bytes with the values of its secret header fields masked, too.
    pub fn head(&self, message: &[u8]) -> Vec<u8> {
        let end = message.windows(4).position(|window| window == b"\r\n\r\n").unwrap_or(message.len());
        let (head, body) = message.split_at(end);
        let mut shown = Vec::with_capacity(message.len());
        let mut hidden = false;
        for line in head.split_inclusive(|byte| *byte == b'\n') {
            // A line that begins with a blank goes on with the one before (RFC 9112 section 5.2).
            let goes_on = line.first().is_some_and(|first| matches!(first, b' ' | b'\t'));
            let colon = line.iter().position(|byte| *byte == b':').filter(|_| !goes_on);
            let is_secret = |at: usize| std::str::from_utf8(&line[..at]).is_ok_and(is_secret_field);
            hidden = if goes_on { hidden } else { colon.is_some_and(is_secret) };
            if hidden {
                shown.extend_from_slice(&line[..colon.map_or(0, |at| at + 1)]);
                shown.extend_from_slice(format!(" {MASK}").as_bytes());
                shown.extend_from_slice(&line[line.trim_ascii_end().len()..]);
            } else {
                shown.extend_from_slice(self.text(&String::from_utf8_lossy(line)).as_bytes());
            }
        }
        shown.extend_from_slice(&self.content(body));
        shown
    }

    /// Bytes behind a message's head, which may be a form or JSON.
    fn content<'a>(&self, behind: &'a [u8]) -> Cow<'a, [u8]> {
        let shown = self.bytes(behind);
        let begin = shown.len().min(4);
        let masked = std::str::from_utf8(&shown[begin..]).ok().and_then(content_without_secrets);
        match masked {
            Some(masked) => [&shown[..begin], masked.as_bytes()].concat().into(),
            None => shown,
        }
    }

    /// The content of a message, which may be a form or JSON.
    fn body(&self, body: &[u8]) -> Vec<u8> {
        let shown = self.bytes(body);
        let masked = std::str::from_utf8(&shown).ok().and_then(content_without_secrets);
        masked.map_or_else(|| shown.into_owned(), String::into_bytes)
    }

    fn head_text(&self, text: &mut String) {
        *text = String::from_utf8_lossy(&self.head(text.as_bytes())).into_owned();
    }

    /// Masks an event of a request. `urls`: those that were seen before.
    pub fn event(&self, event: &mut Event, urls: &mut ShownUrls) {
        match event {
            Event::Url(url) => *url = self.text(url),
            Event::Head { text, .. } => *text = self.head(text),
            Event::Body(body) => *body = self.body(body),
            Event::RequestError(error) => {
                error.request = self.text(&error.request);
                error.status_line = self.text(&error.status_line);
            }
            Event::Talk(talk) => match &mut talk.said {
                TalkEvent::Sent(bytes) | TalkEvent::Received { bytes, .. } => {
                    *bytes = self.bytes(bytes).into_owned();
                }
                TalkEvent::Connecting | TalkEvent::Connected | TalkEvent::Judged { .. } => {}
            },
            Event::Request(record) | Event::Kept(record) => {
                urls.show(self, &mut record.url);
                let remark = record.remark.iter_mut();
                remark.flat_map(|remark| &mut remark.label).for_each(|label| *label = self.text(label));
            }
            Event::Transaction(mark) => mark.label = self.text(&mark.label),
            Event::Log { text, .. } => *text = self.text(text),
            Event::Evidence(piece) => self.evidence(piece),
            Event::Lost(lost) => lost.title = self.text(&lost.title),
            Event::Traced(traced) => traced.title = self.text(&traced.title),
            Event::Page(_)
            | Event::Fetched(_)
            | Event::First(_)
            | Event::FirstTls(_)
            | Event::Certificate(_)
            | Event::Connection(_) => {}
        }
    }

    /// An answer that failed a check.
    pub fn evidence(&self, piece: &mut Evidence) {
        piece.title = self.text(&piece.title);
        piece.detail = self.text(&piece.detail);
        self.head_text(&mut piece.request);
        self.head_text(&mut piece.response);
        if let Some(body) = &mut piece.body {
            let masked = self.text(body);
            *body = content_without_secrets(&masked).unwrap_or(masked);
        }
        piece
            .origin_request
            .iter_mut()
            .chain(&mut piece.origin_response)
            .for_each(|head| self.head_text(head));
    }
}

/// URLs as they are shown: those that many requests share are looked through once.
#[derive(Debug, Default)]
pub struct ShownUrls {
    /// As they are, and as they are shown.
    known: Vec<(Arc<str>, Arc<str>)>,
    /// The one that makes room for the next.
    oldest: usize,
}

impl ShownUrls {
    const MOST: usize = 64;

    fn show(&mut self, mask: &Mask, url: &mut Arc<str>) {
        if mask.leaves(url) {
            return;
        }
        if let Some((_, shown)) = self.known.iter().find(|(known, _)| Arc::ptr_eq(known, url)) {
            *url = shown.clone();
            return;
        }
        let shown: Arc<str> = mask.text(url).into();
        let is_shared = Arc::strong_count(url) > 1;
        let known = (std::mem::replace(url, shown.clone()), shown);
        if !is_shared {
            return;
        }
        if self.known.len() < ShownUrls::MOST {
            self.known.push(known);
        } else {
            self.known[self.oldest] = known;
            self.oldest = (self.oldest + 1) % ShownUrls::MOST;
        }
    }
}

/// True if a value stands at a place by itself, and not within a longer word.
fn stands_at(bytes: &[u8], at: usize, value: &[u8]) -> bool {
    let is_word = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    bytes[at..].starts_with(value)
        && !(is_word(value.first()) && is_word(at.checked_sub(1).and_then(|before| bytes.get(before))))
        && !(is_word(value.last()) && is_word(bytes.get(at + value.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask(values: &[&str]) -> Mask {
        Mask { values: values.iter().map(|value| value.as_bytes().into()).collect() }
    }

    #[test]
    fn secrets_are_masked_where_they_stand_by_themselves() {
        let mask = mask(&["geheim", "a=b", "p"]);
        for (text, shown) in [
            ("me:geheim", "me:***"),
            ("geheimnis and geheim.", "geheimnis and ***."),
            ("--cookie=a=b; c", "--cookie=***; c"),
            ("http://u:p@h/path?p", "http://u:***@h/path?***"),
            ("http://u:other@h/", "http://u:***@h/"),
            ("http://h/?api_key=k&x=y", "http://h/?api_key=***&x=y"),
        ] {
            assert_eq!(mask.text(text), shown);
        }
    }

    #[test]
    fn urls_that_requests_share_are_looked_through_once() {
        let shown = |mask: &Mask, urls: &mut ShownUrls, url: &Arc<str>| {
            let mut url = url.clone();
            urls.show(mask, &mut url);
            url
        };
        let mut urls = ShownUrls::default();
        let plain: Arc<str> = "http://h/geheim".into();
        assert!(Arc::ptr_eq(&shown(&mask(&[]), &mut urls, &plain), &plain));
        let hides = mask(&["geheim"]);
        let all: Vec<Arc<str>> = (0..100).map(|nth| format!("http://h/{nth}/geheim").into()).collect();
        for url in [&all[..], &all[..]].concat() {
            let first = shown(&hides, &mut urls, &url);
            assert_eq!(*first, *url.replace("geheim", "***"));
            assert!(Arc::ptr_eq(&first, &shown(&hides, &mut urls, &url)));
        }
        assert_eq!(urls.known.len(), ShownUrls::MOST);
        let mut alone: Arc<str> = "http://h/geheim?x".into();
        urls.show(&hides, &mut alone);
        assert_eq!(*alone, *"http://h/***?x");
        assert_eq!(urls.known.len(), ShownUrls::MOST);
    }

    #[test]
    fn heads_lose_the_values_of_secret_fields() {
        let head = b"GET /?t=geheim HTTP/1.1\r\nHost: h\r\nauthorization: Basic dTpw\r\n folded\r\nSet-Cookie: a=b\r\nX: y\r\n\r\nform=geheim";
        let shown = String::from_utf8(mask(&["geheim"]).head(head)).unwrap();
        assert_eq!(
            shown,
            "GET /?t=*** HTTP/1.1\r\nHost: h\r\nauthorization: ***\r\n ***\r\nSet-Cookie: ***\r\nX: y\r\n\r\nform=***"
        );
        let form = b"POST / HTTP/1.1\r\n\r\nuser=me&password=geheim71";
        assert_eq!(mask(&[]).head(form), b"POST / HTTP/1.1\r\n\r\nuser=me&password=***");
        let json = b"POST / HTTP/1.1\r\n\r\n{\"user\":\"me\",\"password\":\"geheim71\"}";
        assert_eq!(mask(&[]).head(json), b"POST / HTTP/1.1\r\n\r\n{\"user\":\"me\",\"password\":\"***\"}");
        assert_eq!(
            mask(&["geheim"]).body(b"{\"token\": \"t\", \"x\": \"geheim\"}"),
            b"{\"token\": \"***\", \"x\": \"***\"}"
        );
        assert_eq!(
            mask(&[]).head(b"HTTP/1.1 200 OK\nDate: x\n\n\xff"),
            b"HTTP/1.1 200 OK\nDate: x\n\n\xef\xbf\xbd"
        );
    }
}
