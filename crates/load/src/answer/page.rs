//! The reader of one answer to a URL of a list: what it says of itself, what it leads to, and (for jtest's documents)
//! whether its bytes are right.

use super::{AnswerFound, AnswerSink, Body, Summary};
use crate::request::urls::Wanted;
use lol_html::{HtmlRewriter, Settings, element};
use measure::event::RequestErrorKind;
use measure::{CacheResult, FailureKind, Fault, Outcome, Stage};
use plan::content::Content;
use plan::jtest;
use plan::{Address, CheckContent};
use std::cell::RefCell;
use std::rc::Rc;
use wire::http1::{Http1Framing, ResponseHead, ResponseSink};

/// References of a page, in the order they stand.
#[derive(Default)]
struct References {
    links: Vec<String>,
    base: Option<String>,
}

type Parser = HtmlRewriter<'static, fn(&[u8])>;

/// Reads one answer.
pub(crate) struct PageReader<'a> {
    pub summary: Summary,
    pub content_length: Option<u64>,
    pub location: Option<String>,
    /// Where a redirection leads, once that is known to be a URL.
    pub redirect: Option<Address>,
    kept_head: Option<&'a mut Vec<u8>>,
    is_html: bool,
    wanted: Wanted,
    parser: Option<Parser>,
    found: Rc<RefCell<References>>,
    pattern: Option<Pattern>,
}

/// True if bodies of a URL list are compared with jtest's pattern.
fn compares(check: CheckContent) -> bool {
    check == CheckContent::All
}

/// The body that a jtest document must have.
struct Pattern {
    content: Content,
    path: Vec<u8>,
    fault: Option<Fault>,
}

impl<'a> PageReader<'a> {
    /// `kept_head`: where the head is copied to, if somebody may want to see it.
    pub fn new(
        wanted: Wanted,
        check: CheckContent,
        address: &Address,
        kept_head: Option<&'a mut Vec<u8>>,
    ) -> PageReader<'a> {
        let size = jtest::read_size(address.path.as_bytes()).filter(|_| compares(check));
        let pattern = size.map(|size| {
            let mut path = address.path.as_bytes().to_vec();
            path.truncate(jtest::embedded(&jtest::JtestForm::default(), path.len(), size));
            Pattern { content: jtest::content(size, 0), path, fault: None }
        });
        PageReader {
            summary: Summary { cache: CacheResult::Unknown, ..Summary::default() },
            content_length: None,
            location: None,
            redirect: None,
            kept_head,
            is_html: false,
            wanted,
            parser: None,
            found: Rc::default(),
            pattern,
        }
    }

    /// The fault of the body, where it is known what it must be.
    pub fn fault(&self) -> Option<Fault> {
        self.pattern.as_ref().and_then(|pattern| pattern.fault)
    }

    /// The references found; to be called when the answer is over.
    pub fn links(&mut self) -> Vec<String> {
        if let Some(parser) = self.parser.take() {
            // What is left of a broken page holds no whole reference.
            let _ = parser.end();
        }
        std::mem::take(&mut self.found.borrow_mut().links)
    }

    /// The base of references: the page's own base, or its address.
    pub fn base(&self, address: &Address) -> Option<Address> {
        match &self.found.borrow().base {
            Some(base) => address.join(base),
            None => Some(address.clone()),
        }
    }
}

/// An attribute's value with its character references resolved.
fn decoded(value: &str) -> String {
    html_escape::decode_html_entities(value).into_owned()
}

/// Selectors of references: which elements, which attribute, and whether they are embedded.
const REFERENCES: [(&str, &str, bool); 11] = [
    ("a[href]", "href", false),
    ("area[href]", "href", false),
    ("frame[src]", "src", true),
    ("iframe[src]", "src", true),
    ("img[src]", "src", true),
    ("input[src]", "src", true),
    ("embed[src]", "src", true),
    ("script[src]", "src", true),
    ("link[href]", "href", true),
    ("body[background]", "background", true),
    ("object[data]", "data", true),
];

fn parser(wanted: Wanted, found: &Rc<RefCell<References>>) -> Parser {
    let mut settings = Settings::new();
    for (selector, attribute, embedded) in REFERENCES {
        if if embedded { wanted.embedded } else { wanted.links } {
            let found = found.clone();
            settings = settings.append_element_content_handler(element!(selector, move |element| {
                let value = element.get_attribute(attribute);
                found.borrow_mut().links.extend(value.as_deref().map(decoded));
                Ok(())
            }));
        }
    }
    let found = found.clone();
    let settings = settings.append_element_content_handler(element!("base[href]", move |element| {
        let mut found = found.borrow_mut();
        found.base = found.base.take().or(element.get_attribute("href").as_deref().map(decoded));
        Ok(())
    }));
    let discard: fn(&[u8]) = |_| {};
    HtmlRewriter::new(settings, discard)
}

impl Body for PageReader<'_> {
    fn wants_body(&self) -> bool {
        self.parser.is_some() || (self.pattern.is_some() && self.summary.status == 200)
    }

    fn skipped(&mut self, count: u64) {
        self.summary.body_bytes += count;
    }

    fn body_bytes(&self) -> u64 {
        self.summary.body_bytes
    }
}

impl ResponseSink for PageReader<'_> {
    fn field(&mut self, name: &[u8], value: &[u8]) {
        if name.eq_ignore_ascii_case(b"Location") {
            self.location = Some(plan::reference(value));
        } else if name.eq_ignore_ascii_case(b"Content-Type") {
            self.is_html = value.get(..9).is_some_and(|start| start.eq_ignore_ascii_case(b"text/html"));
        }
    }

    fn head(&mut self, head: &ResponseHead, raw: &[u8]) {
        self.summary.read(head, raw);
        if let Some(kept) = &mut self.kept_head {
            kept.clear();
            kept.extend_from_slice(raw);
        }
        if let Http1Framing::Length(length) = head.framing {
            self.content_length = Some(length);
        }
        if self.is_html && head.status == 200 && self.wanted.any() {
            self.parser = Some(parser(self.wanted, &self.found));
        }
    }

    fn body(&mut self, bytes: &[u8]) {
        if let Some(parser) = &mut self.parser
            && parser.write(bytes).is_err()
        {
            self.parser = None;
        }
        if let Some(pattern) = &mut self.pattern
            && self.summary.status == 200
        {
            pattern.compare(self.summary.body_bytes, bytes);
        }
        self.summary.body_bytes += bytes.len() as u64;
    }
}

impl Pattern {
    fn compare(&mut self, offset: u64, bytes: &[u8]) {
        let covered = (self.path.len() as u64).saturating_sub(offset).min(bytes.len() as u64) as usize;
        let at = offset as usize;
        let fault = if covered > 0 && bytes[..covered] != self.path[at..at + covered] {
            Some(Fault::WrongObject)
        } else {
            let rest = self.content.mismatch(offset + covered as u64, &bytes[covered..]);
            rest.map(|_| Fault::WrongBytes)
        };
        self.fault = self.fault.or(fault);
    }
}

impl AnswerSink for PageReader<'_> {
    fn summary(&self) -> Summary {
        self.summary
    }

    fn found(&mut self, outcome: Outcome) -> AnswerFound {
        let error = match outcome {
            Outcome::Failed(_) if (300..400).contains(&self.summary.status) => {
                Some(RequestErrorKind::Redirect)
            }
            Outcome::Failed(failure)
                if failure.stage == Stage::Body && failure.kind == FailureKind::ClosedEarly =>
            {
                Some(RequestErrorKind::Short {
                    got: self.summary.body_bytes,
                    wanted: self.content_length.unwrap_or(0),
                })
            }
            Outcome::Ok
            | Outcome::CheckFailed(_)
            | Outcome::Injected
            | Outcome::Aborted
            | Outcome::Failed(_)
            | Outcome::Unfinished => None,
        };
        AnswerFound { error, ..AnswerFound::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::http1::{Http1Limits, ResponseReader};

    const PAGE: &str = "<html><head><base href=\"/dir/\"><link rel=stylesheet href=c.css></head>\
        <body background=bg.png><!-- <a href=no> --><a href='a.txt'>a</a><IMG SRC=i.gif>\
        <script>var x = '<a href=nor-this>';</script><a\nHREF=\"b?x=1&amp;y=2\">b</a></body>";

    fn references(wanted: Wanted, step: usize) -> Vec<String> {
        let address = Address::parse("http://h:81/start/page").unwrap();
        let mut page = PageReader::new(wanted, CheckContent::Nothing, &address, None);
        let answer = format!(
            "HTTP/1.0 200 OK\r\nContent-Type: text/html; charset=x\r\nContent-Length: {}\r\n\r\n{PAGE}",
            PAGE.len()
        );
        let mut reader = ResponseReader::new(Http1Limits::default());
        answer.as_bytes().chunks(step).for_each(|chunk| {
            reader.read(chunk, &mut page).unwrap();
        });
        let links = page.links();
        let base = page.base(&address).unwrap();
        links.iter().filter_map(|link| base.join(link)).map(|found| found.text).collect()
    }

    #[test]
    fn references_are_those_a_browser_sees_however_the_page_arrives() {
        for step in [1, 7, 10_000] {
            assert_eq!(
                references(Wanted { links: true, embedded: false }, step),
                ["http://h:81/dir/a.txt", "http://h:81/dir/b?x=1&y=2"]
            );
            let embedded = references(Wanted { links: false, embedded: true }, step);
            assert_eq!(
                embedded,
                ["http://h:81/dir/c.css", "http://h:81/dir/bg.png", "http://h:81/dir/i.gif"]
            );
        }
        assert!(references(Wanted::default(), 100).is_empty());
    }

    #[test]
    fn documents_of_jtest_are_compared() {
        let address = Address::parse("http://h/0.5/50").unwrap();
        let body = |spoil: bool| {
            let mut body = b"/0.5/50".to_vec();
            jtest::content(50, 0).pieces(7, 50).for_each(|piece| body.extend_from_slice(piece));
            body[20] ^= u8::from(spoil);
            body
        };
        for (spoil, fault) in [(false, None), (true, Some(Fault::WrongBytes))] {
            let mut page = PageReader::new(Wanted::default(), CheckContent::All, &address, None);
            page.summary.status = 200;
            body(spoil).chunks(3).for_each(|chunk| page.body(chunk));
            assert_eq!(page.fault(), fault);
        }
    }
}
