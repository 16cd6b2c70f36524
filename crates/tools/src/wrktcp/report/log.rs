//! Report of `--test` on its one exchange, step by step, in the lines of the old tool: programs look for their words.
//! Bytes are shown as they are, in whatever encoding the service speaks.

use crate::wrk::report::rows;
use measure::event::RequestErrorKind;
use measure::{Fault, RequestError, Talk, TalkEvent};

/// Bytes of a message that are shown.
const SHOWN: usize = 16 * 1024;

/// Makes lines of steps.
#[derive(Debug)]
pub struct Log {
    /// Host and port, as they are shown.
    address: String,
    /// The code that means success.
    wanted: String,
    /// Number of the connection.
    connection: u64,
    /// The exchange is over.
    over: bool,
}

impl Log {
    /// For an exchange with this address, and the code that means success.
    pub fn new(address: &str, wanted: &str) -> Log {
        Log { address: address.to_owned(), wanted: wanted.to_owned(), connection: 0, over: false }
    }

    /// The lines of a step.
    pub fn talk(&mut self, talk: &Talk) -> Vec<u8> {
        self.connection = talk.connection;
        let address = self.address.as_bytes();
        match &talk.said {
            TalkEvent::Connecting => self.line("test][src/wrktcp.c][226", &[b"CONNECTING:[", address, b"]"]),
            TalkEvent::Connected => self.line("test][src/wrktcp.c][317", &[b"CONNECTED:[", address, b"]"]),
            TalkEvent::Sent(bytes) => {
                let count = bytes.len().to_string();
                let parts = [b"SENDMSG:[", &shown(bytes)[..], b"][", count.as_bytes(), b"]"];
                self.line("test][src/wrktcp.c][381", &parts)
            }
            TalkEvent::Received { head, body, bytes } => {
                let whole = self.line("test][src/wrktcp.c][408", &[b"WHILE READ:[", &shown(bytes), b"]"]);
                let parts = [b"RESPONSE_HEAD:[", &shown(head)[..], b"],RESPONSE_BODY[", &shown(body), b"]"];
                [whole, self.line("test][src/wrktcp.c][638", &parts)].concat()
            }
            TalkEvent::Judged { code, fault } => {
                let judged = fault.map(|fault| self.wrong(code.as_deref(), fault));
                [judged.unwrap_or_default(), self.stop()].concat()
            }
        }
    }

    /// The lines of a failure; an answer that came whole and was wrong has been told of before.
    pub fn error(&mut self, error: &RequestError) -> Vec<u8> {
        let RequestErrorKind::Failed(failure) = &error.what else { return Vec::new() };
        let what = rows::failure(failure);
        let failed = self.line("error][src/net.c][037", &[b"FAILED:[", what.as_bytes(), b"]"]);
        [failed, self.stop()].concat()
    }

    /// Returns the text that is left to say when the run is over.
    pub fn end(&self) -> Vec<u8> {
        match (self.over, self.connection) {
            (true, _) => Vec::new(),
            (false, 0) => b"[error][src/wrktcp.c][274]UNFINISHED:[nothing was sent]\n".to_vec(),
            (false, _) => {
                let what = b"UNFINISHED:[the test ended before there was an answer]";
                self.line("error][src/wrktcp.c][274", &[what])
            }
        }
    }

    fn wrong(&self, code: Option<&[u8]>, fault: Fault) -> Vec<u8> {
        match fault {
            Fault::BadCode | Fault::NoCode => [
                b"[test][src/tcpini.c][1005]rsp_code[",
                &shown(code.unwrap_or_default())[..],
                b"] != [",
                self.wanted.as_bytes(),
                b"] \n",
            ]
            .concat(),
            fault => format!("[error][src/tcpini.c][1005]{}\n", fault.text()).into_bytes(),
        }
    }

    fn stop(&mut self) -> Vec<u8> {
        self.over = true;
        self.line("test][src/wrktcp.c][274", &[b"TESTMODE, THEN STOP"])
    }

    fn line(&self, place: &str, parts: &[&[u8]]) -> Vec<u8> {
        let end = format!(",cno[{}]\n", self.connection);
        [format!("[{place}]").as_bytes(), &parts.concat(), end.as_bytes()].concat()
    }
}

/// Bytes as they are; of very many, the first ones.
fn shown(bytes: &[u8]) -> Vec<u8> {
    match bytes.get(..SHOWN) {
        Some(first) if bytes.len() > SHOWN => {
            [first, format!("... {} bytes more", bytes.len() - SHOWN).as_bytes()].concat()
        }
        _ => bytes.to_vec(),
    }
}
