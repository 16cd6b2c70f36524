//! Single exchanges as lines and blocks, in jtest's words where it had some; and how often each is told: a proxy that is gone makes the
//! same line thousands of times a second.

use measure::event::{HeadTitle, RequestErrorKind};
use measure::{Failure, FailureKind, Fault, RequestError, Stage};
use plan::{Plan, Step};

/// Different lines that are remembered within a second.
const REMEMBERED: usize = 64;

/// Different lines within a second that are told of requests that the plan has made up; what is common to them shows
/// by then.
const MADE_UP: usize = 20;

/// Tells each line once a second, and then how many there were like it.
#[derive(Debug)]
pub struct ErrorLines {
    /// The most different lines that are told within a second.
    most: usize,
    /// Different lines told in this second.
    told: usize,
    /// The lines of this second, with how often each came after the first time.
    seen: Vec<(String, u64)>,
    /// Lines of this second that were not told, beyond `most`.
    others: u64,
}

impl ErrorLines {
    /// As fits a plan: of URLs that somebody has listed each counts, and all are told.
    pub fn of(plan: &Plan) -> ErrorLines {
        let mut steps = plan.load.iter().flat_map(|load| &load.phases).flat_map(|phase| phase.sends());
        let is_list = steps.any(|step| matches!(step, Step::Urls(_)));
        ErrorLines { most: if is_list { usize::MAX } else { MADE_UP }, told: 0, seen: Vec::new(), others: 0 }
    }

    /// True if this line is to be printed now.
    pub fn is_new(&mut self, line: &str) -> bool {
        if let Some((_, more)) = self.seen.iter_mut().find(|(seen, _)| seen == line) {
            *more += 1;
            return false;
        }
        if self.told >= self.most {
            self.others += 1;
            return false;
        }
        self.told += 1;
        if self.seen.len() < REMEMBERED {
            self.seen.push((line.to_owned(), 0));
        }
        true
    }

    /// A second is over: what was held back in it, a line for each that came more than once.
    pub fn held_back(&mut self) -> Vec<String> {
        let repeated = self.seen.drain(..).filter(|(_, more)| *more > 0);
        let mut lines: Vec<String> =
            repeated.map(|(line, more)| format!("{line} … and {more} more like it")).collect();
        if self.others > 0 {
            lines.push(format!("… and {} more lines within this second", self.others));
        }
        (self.told, self.others) = (0, 0);
        lines
    }
}

/// Header fields under the old tool's title, in braces.
pub fn head_view(title: HeadTitle, head: &[u8]) -> Vec<u8> {
    let title = match title {
        HeadTitle::RequestToProxy => "Request to Proxy: {\n",
        HeadTitle::RequestFromProxy => "Request from Proxy: {\n",
        HeadTitle::ResponseToProxy => "Response to Proxy: {\n",
        HeadTitle::ResponseFromProxy => "Response From Proxy: {\n",
    };
    [title.as_bytes(), head, b"}\n"].concat()
}

/// A line about a request that went wrong: in the old tool's words where it had some.
pub fn error_line(error: &RequestError) -> String {
    let request = printable(&error.request);
    let after_ms = error.after.as_millis();
    match &error.what {
        RequestErrorKind::Length { expected, announced, whole } => {
            format!("bad Content-Length expected {expected} got {announced} orig {whole}\n")
        }
        RequestErrorKind::Short { got, wanted } => {
            format!("bad length {got} wanted {wanted} after {after_ms} ms: '{request}'\n")
        }
        RequestErrorKind::CheckFailed(Fault::WrongBytes) => {
            format!("content verification error '{request}'\n")
        }
        RequestErrorKind::CheckFailed(fault) => {
            format!("content verification error '{request}' ({})\n", fault.text())
        }
        RequestErrorKind::Redirect => {
            format!("bad redirect '{}': '{request}'\n", printable(&error.status_line))
        }
        RequestErrorKind::Url => format!("bad URL '{request}'\n"),
        RequestErrorKind::Failed(failure) => failed(error, *failure),
    }
}

fn failed(error: &RequestError, failure: Failure) -> String {
    let request = printable(&error.request);
    let RequestError { connection, after, range, .. } = error;
    let after_ms = after.as_millis();
    match (failure.kind, failure.stage) {
        (FailureKind::BadStatus, _) => {
            let status_line = printable(&error.status_line);
            let (first, last) = range;
            format!(
                "error response {connection} after {after_ms}ms: '{request}':'{status_line}' {first}-{last}\n"
            )
        }
        (FailureKind::ClosedEarly, Stage::Head) => {
            let idle = if error.reused { " -- keepalive timeout" } else { "" };
            format!(
                "read_response {connection} closed during header for '{request}' after {after_ms}{idle}\n"
            )
        }
        (FailureKind::OwnLimit, _) => format!("header too long '{request}'\n"),
        (FailureKind::Timeout, stage) => {
            format!("timeout {connection} after {after_ms}ms {}: '{request}'\n", stage.text())
        }
        (FailureKind::NoDescriptor, _) => "socket: Too many open files\n".to_owned(),
        // Connecting was not waited for, so a refusal showed as an error of the first write.
        (kind, Stage::Connect | Stage::Send) => format!("write: {}\n", system_text(kind, failure.errno())),
        (kind, stage) => {
            format!("error {connection} after {after_ms}ms {}: {}: '{request}'\n", stage.text(), kind.text())
        }
    }
}

/// Returns the C library's text for an error number, for those that a write can meet; else our own words.
fn system_text(kind: FailureKind, errno: Option<i32>) -> &'static str {
    match (kind, errno) {
        (FailureKind::Refused, _) => "Connection refused",
        (FailureKind::Reset | FailureKind::ClosedEarly, Some(32)) => "Broken pipe",
        (FailureKind::Reset, _) => "Connection reset by peer",
        (FailureKind::Unreachable, Some(101)) => "Network is unreachable",
        (FailureKind::Unreachable, _) => "No route to host",
        (FailureKind::NoPort, _) => "Cannot assign requested address",
        (kind, _) => kind.text(),
    }
}

/// Text of a stranger without the characters that could steer a terminal.
fn printable(text: &str) -> String {
    let shown = |c: char| if c.is_control() { c.escape_default().collect() } else { String::from(c) };
    text.chars().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn error_lines(most: usize) -> ErrorLines {
        ErrorLines { most, told: 0, seen: Vec::new(), others: 0 }
    }

    #[test]
    fn the_same_line_is_told_once_a_second_and_nothing_is_lost() {
        let mut error_lines = error_lines(usize::MAX);
        let told = ["a", "b", "a", "a"].map(|line| error_lines.is_new(line));
        assert_eq!(told, [true, true, false, false]);
        assert_eq!(error_lines.held_back(), ["a … and 2 more like it"]);
        assert!(error_lines.held_back().is_empty());
        assert!(error_lines.is_new("a"), "a new second");
        for number in 0..1000 {
            assert!(error_lines.is_new(&number.to_string()), "different lines are all told");
        }
        assert!(error_lines.seen.len() <= REMEMBERED);
    }

    #[test]
    fn different_lines_are_told_up_to_a_number_and_the_others_counted() {
        let mut error_lines = error_lines(2);
        let told = ["a", "b", "c", "a", "d"].map(|line| error_lines.is_new(line));
        assert_eq!(told, [true, true, false, false, false]);
        assert_eq!(
            error_lines.held_back(),
            ["a … and 1 more like it", "… and 2 more lines within this second"]
        );
        assert!(error_lines.is_new("c"), "a new second");
    }

    #[test]
    fn head_views_have_their_titles_and_braces() {
        let table = [
            (HeadTitle::RequestToProxy, "Request to Proxy: {\nGET / HTTP/1.0\r\n\r\n}\n"),
            (HeadTitle::RequestFromProxy, "Request from Proxy: {\nGET / HTTP/1.0\r\n\r\n}\n"),
            (HeadTitle::ResponseToProxy, "Response to Proxy: {\nGET / HTTP/1.0\r\n\r\n}\n"),
            (HeadTitle::ResponseFromProxy, "Response From Proxy: {\nGET / HTTP/1.0\r\n\r\n}\n"),
        ];
        for (title, expected) in table {
            assert_eq!(head_view(title, b"GET / HTTP/1.0\r\n\r\n"), expected.as_bytes());
        }
    }

    fn told(what: RequestErrorKind, reused: bool) -> String {
        error_line(&RequestError {
            what,
            request: "GET http://vm:9080/1.1330000000/600 HTTP/1.0".to_owned(),
            status_line: "HTTP/1.0 404 Not Found".to_owned(),
            range: (0, 0),
            after: Duration::from_micros(1_900),
            connection: 4,
            reused,
        })
    }

    fn failure(kind: FailureKind, stage: Stage, errno: Option<i32>) -> RequestErrorKind {
        RequestErrorKind::Failed(Failure::new(kind, stage).with_errno(errno))
    }

    #[test]
    fn trouble_is_told_in_the_old_words() {
        use FailureKind::{BadStatus, ClosedEarly, Lookup, NoDescriptor, OwnLimit, Refused, Reset, Timeout};
        const GET: &str = "'GET http://vm:9080/1.1330000000/600 HTTP/1.0'";
        let table = [
            (
                failure(BadStatus, Stage::Head, None),
                format!("error response 4 after 1ms: {GET}:'HTTP/1.0 404 Not Found' 0-0"),
            ),
            (
                RequestErrorKind::Length { expected: 600, announced: 297, whole: 601 },
                "bad Content-Length expected 600 got 297 orig 601".to_owned(),
            ),
            (
                RequestErrorKind::Short { got: 5, wanted: 600 },
                format!("bad length 5 wanted 600 after 1 ms: {GET}"),
            ),
            (RequestErrorKind::CheckFailed(Fault::WrongBytes), format!("content verification error {GET}")),
            (
                RequestErrorKind::CheckFailed(Fault::WrongRange),
                format!("content verification error {GET} ({})", Fault::WrongRange.text()),
            ),
            (RequestErrorKind::Redirect, format!("bad redirect 'HTTP/1.0 404 Not Found': {GET}")),
            (RequestErrorKind::Url, format!("bad URL {GET}")),
            (
                failure(ClosedEarly, Stage::Head, None),
                format!("read_response 4 closed during header for {GET} after 1"),
            ),
            (failure(OwnLimit, Stage::Head, None), format!("header too long {GET}")),
            (failure(Refused, Stage::Connect, Some(111)), "write: Connection refused".to_owned()),
            (failure(Reset, Stage::Send, Some(32)), "write: Broken pipe".to_owned()),
            (failure(Reset, Stage::Send, Some(104)), "write: Connection reset by peer".to_owned()),
            (failure(NoDescriptor, Stage::Connect, Some(24)), "socket: Too many open files".to_owned()),
            (failure(Timeout, Stage::Body, None), format!("timeout 4 after 1ms reading the body: {GET}")),
            (
                failure(Lookup, Stage::Lookup, None),
                format!("error 4 after 1ms looking up the name: name did not resolve: {GET}"),
            ),
            (
                failure(Reset, Stage::Body, Some(104)),
                format!("error 4 after 1ms reading the body: connection reset by peer: {GET}"),
            ),
        ];
        for (what, expected) in table {
            assert_eq!(told(what.clone(), false), expected + "\n", "{what:?}");
        }
        let idle = told(failure(ClosedEarly, Stage::Head, None), true);
        assert!(idle.ends_with(" after 1 -- keepalive timeout\n"), "{idle}");
    }

    #[test]
    fn strangers_cannot_steer_the_terminal() {
        assert_eq!(printable("HTTP/1.0 200 \x1b[2Jä"), "HTTP/1.0 200 \\u{1b}[2Jä");
    }
}
