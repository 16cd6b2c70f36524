//! Answers of HTTP/1 that lie about where they end. Pure: an answer in, other bytes out.

/// Lies, each in its turn.
const ALL: [Lie; 4] = [Lie::MoreFollows, Lie::EndsEarly, Lie::BadChunk, Lie::TwoLengths];
/// An answer that nobody asked for: whoever reads on where the one before ended takes it for that to the next request.
const UNASKED: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\nCache-Control: no-store\r\n\r\nwringer";
/// Bytes that are announced and do not come.
const MISSING: usize = 1_000;

/// A lie about the end of an answer (RFC 9112, section 6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lie {
    /// An answer follows that nobody asked for.
    MoreFollows,
    /// The connection ends before the last bytes of the body.
    EndsEarly,
    /// It is chunked, and the second chunk has no size.
    BadChunk,
    /// It has two lengths, and the first is half of the body.
    TwoLengths,
}

/// An answer as it is passed on.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LieWords {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The connection ends behind them.
    pub ends: bool,
}

/// An answer with the lie of this turn; `None`: it is no whole answer with a length.
pub(super) fn tell(answer: &[u8], turn: u64) -> Option<LieWords> {
    let whole = SplitAnswer::of(answer)?;
    let lie = ALL[(turn % ALL.len() as u64) as usize];
    let bytes = match lie {
        Lie::MoreFollows => [answer, UNASKED].concat(),
        Lie::EndsEarly => {
            let missing = MISSING.min(whole.body.len());
            answer[..answer.len() - missing].to_vec()
        }
        Lie::BadChunk => whole.badly_chunked(),
        Lie::TwoLengths => {
            let half = format!("\r\nContent-Length: {}", whole.body.len() / 2);
            [whole.before, half.as_bytes(), whole.line, whole.behind, whole.body].concat()
        }
    };
    let ends = match lie {
        Lie::MoreFollows => false,
        Lie::EndsEarly | Lie::BadChunk | Lie::TwoLengths => true,
    };
    Some(LieWords { bytes, ends })
}

/// The parts of a whole answer with a body and its length.
#[derive(Debug, PartialEq, Eq)]
struct SplitAnswer<'a> {
    /// The head before its Content-Length.
    before: &'a [u8],
    /// That line, with the line break before it.
    line: &'a [u8],
    /// The rest of the head, with the empty line.
    behind: &'a [u8],
    body: &'a [u8],
}

impl<'a> SplitAnswer<'a> {
    fn of(answer: &'a [u8]) -> Option<SplitAnswer<'a>> {
        const NAME: &[u8] = b"\r\ncontent-length: ";
        const END: &[u8] = b"\r\n\r\n";
        let head = answer.windows(END.len()).position(|four| four == END)?;
        let begins = answer[..head].windows(NAME.len()).position(|name| name.eq_ignore_ascii_case(NAME))?;
        let digits = answer[begins + NAME.len()..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let ends = begins + NAME.len() + digits;
        let length: usize = std::str::from_utf8(&answer[begins + NAME.len()..ends]).ok()?.parse().ok()?;
        let (head, body) = answer.split_at(head + END.len());
        let parts =
            SplitAnswer { before: &head[..begins], line: &head[begins..ends], behind: &head[ends..], body };
        (length > 0 && length == body.len()).then_some(parts)
    }

    fn badly_chunked(&self) -> Vec<u8> {
        let (first, second) = self.body.split_at(self.body.len().div_ceil(2));
        let size = format!("{:x}\r\n", first.len());
        let parts: [&[u8]; 8] = [
            self.before,
            b"\r\nTransfer-Encoding: chunked",
            self.behind,
            size.as_bytes(),
            first,
            b"\r\nno size\r\n",
            second,
            b"\r\n0\r\n\r\n",
        ];
        parts.concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(turn: u64, expected: &str, ends: bool) {
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nAge: 1\r\n\r\nabcd";
        let told = tell(answer, turn).expect("it is whole");
        assert_eq!((String::from_utf8_lossy(&told.bytes).as_ref(), told.ends), (expected, ends));
    }

    #[test]
    fn lies_come_in_turn() {
        let unasked = String::from_utf8_lossy(UNASKED);
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nAge: 1\r\n\r\n";
        check(0, &format!("{head}abcd{unasked}"), false);
        check(1, head, true);
        let chunks = "2\r\nab\r\nno size\r\ncd\r\n0\r\n\r\n";
        check(2, &format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nAge: 1\r\n\r\n{chunks}"), true);
        let two = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 4\r\nAge: 1\r\n\r\nabcd";
        check(3, two, true);
        check(4, &format!("{head}abcd{unasked}"), false);
    }

    #[test]
    fn what_is_no_whole_answer_with_a_body_is_none() {
        for bytes in [
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab",
            "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
            "abc",
        ] {
            assert_eq!(tell(bytes.as_bytes(), 0), None, "{bytes}");
        }
    }
}
