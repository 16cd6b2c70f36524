//! Frames over a stream of bytes: a length of four bytes, the kind, the body. Before the first frame stand sixteen bytes that no
//! shell prints by chance; what login shells print before them is skipped.

use std::fmt;

/// Bytes that an agent writes before its first frame.
pub const MAGIC: [u8; 16] = *b"\x00\xffwringer\xfeagent\n";

/// Bytes that may stand before the magic: greetings of login shells and messages of the day.
pub const LONGEST_GREETING: usize = 64 << 10;

/// Bytes of a frame at most, its kind included. A row with five hundred labels has some hundred thousand.
pub const LONGEST: usize = 4 << 20;

/// Bytes of the length before a frame.
const LENGTH: usize = 4;

/// A frame as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Its kind.
    pub kind: u8,
    /// The rest of it.
    pub body: Vec<u8>,
}

impl Frame {
    /// The frame as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let length = self.body.len() as u32 + 1;
        let mut bytes = Vec::with_capacity(LENGTH + length as usize);
        bytes.extend(length.to_be_bytes());
        bytes.push(self.kind);
        bytes.extend(&self.body);
        bytes
    }
}

/// Bytes that are no frames.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadFrame {
    /// A length of nothing, or of more than [`LONGEST`].
    Length(u32),
    /// Something else came where an agent was expected; its first bytes.
    Greeting(Vec<u8>),
}

impl fmt::Display for BadFrame {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadFrame::Length(length) => {
                write!(to, "a frame of {length} bytes, and none has more than {LONGEST}")
            }
            BadFrame::Greeting(said) => {
                let said = String::from_utf8_lossy(&said[..said.len().min(300)]);
                write!(to, "no agent answered; what came was: {}", said.trim())
            }
        }
    }
}

/// Takes bytes as they come and gives frames.
#[derive(Debug, Default)]
pub struct Reader {
    bytes: Vec<u8>,
    /// Bytes of frames that were given already.
    given: usize,
    greeted: bool,
}

impl Reader {
    /// Of a stream that begins with the first frame.
    pub fn new() -> Reader {
        Reader { greeted: true, ..Reader::default() }
    }

    /// Of a stream that begins with the magic, and may have anything before it.
    pub fn behind_greeting() -> Reader {
        Reader::default()
    }

    /// True once the magic has come.
    pub fn is_greeted(&self) -> bool {
        self.greeted
    }

    /// Returns what came before the magic, as long as it has not come.
    pub fn greeting(&self) -> &[u8] {
        if self.greeted { &[] } else { &self.bytes }
    }

    /// Bytes came.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.given > 0 {
            self.bytes.drain(..self.given);
            self.given = 0;
        }
        self.bytes.extend(bytes);
    }

    /// The next frame, once it is whole.
    ///
    /// # Errors
    /// Something else came. Nothing can be read behind it.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, BadFrame> {
        if !self.greeted && !self.skip_greeting()? {
            return Ok(None);
        }
        let rest = &self.bytes[self.given..];
        let Some((length, rest)) = rest.split_first_chunk::<LENGTH>() else { return Ok(None) };
        let length = u32::from_be_bytes(*length);
        if length == 0 || length as usize > LONGEST {
            return Err(BadFrame::Length(length));
        }
        let Some(frame) = rest.get(..length as usize) else { return Ok(None) };
        let frame = Frame { kind: frame[0], body: frame[1..].to_vec() };
        self.given += LENGTH + length as usize;
        Ok(Some(frame))
    }

    fn skip_greeting(&mut self) -> Result<bool, BadFrame> {
        let found = self.bytes.windows(MAGIC.len()).position(|window| window == MAGIC);
        match found {
            Some(at) if at <= LONGEST_GREETING => {
                self.given = at + MAGIC.len();
                self.greeted = true;
                Ok(true)
            }
            None if self.bytes.len() < LONGEST_GREETING + MAGIC.len() => Ok(false),
            Some(_) | None => Err(BadFrame::Greeting(self.bytes[..LONGEST_GREETING].to_vec())),
        }
    }
}
