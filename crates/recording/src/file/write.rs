//! Writes a recording from its beginning to its end; nothing has to be sought.

use super::block::{Block, Encoder};
use super::header::{FilePlace, Header, Summary};
use super::section::{HEAD, Head, Tag};
use super::varint::put;
use plan::draw::hash;
use std::io::{self, Write};

/// The first bytes of a recording: a name, then the version of the format, major and minor.
pub const MAGIC: [u8; 8] = *b"WRINGREC";
/// Version of the format; what has a larger major is refused.
pub const VERSION: (u16, u16) = (1, 0);
/// The last bytes of a whole recording, after the place of its index.
pub const END: [u8; 8] = *b"RECEND\r\n";
/// Bytes of texts or users that a section gathers.
const CHUNK: usize = 1 << 20;

/// Bytes that say who a user is.
pub type UserId = [u8; 16];

/// Writes a recording.
#[derive(Debug)]
pub struct Writer<W: Write> {
    to: W,
    at: u64,
    index: Vec<FilePlace>,
    encoder: Encoder,
    content: Vec<u8>,
    gathered: Gathered,
    users: bool,
    fingerprint: u64,
}

/// Texts or users on their way into a section.
#[derive(Debug, Default)]
struct Gathered {
    tag: Option<Tag>,
    first: u64,
    count: u32,
    bytes: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Begins a recording.
    ///
    /// # Errors
    /// Those of writing.
    pub fn new(mut to: W, header: &Header) -> io::Result<Writer<W>> {
        let mut start = [0; 16];
        start[..8].copy_from_slice(&MAGIC);
        start[8..10].copy_from_slice(&VERSION.0.to_le_bytes());
        start[10..12].copy_from_slice(&VERSION.1.to_le_bytes());
        to.write_all(&start)?;
        let mut writer = Writer {
            to,
            at: 16,
            index: Vec::new(),
            encoder: Encoder::default(),
            content: Vec::new(),
            gathered: Gathered::default(),
            users: header.users.is_some(),
            fingerprint: hash(header.seed, u64::from(header.relative)),
        };
        let json = serde_json::to_vec(header).map_err(io::Error::other)?;
        writer.section(FilePlace { tag: Tag::Header.letter(), count: 1, ..FilePlace::default() }, &json)?;
        Ok(writer)
    }

    /// Appends the URL of an object; numbers follow each other without a gap.
    ///
    /// # Errors
    /// Those of writing.
    pub fn url(&mut self, number: u64, url: &[u8]) -> io::Result<()> {
        self.gather(Tag::Urls, number, &[], url)
    }

    /// Appends a user, with what was kept of its address and agent.
    ///
    /// # Errors
    /// Those of writing.
    pub fn user(&mut self, number: u64, id: &UserId, kept: &[u8]) -> io::Result<()> {
        self.gather(Tag::Users, number, id, kept)
    }

    /// Appends a text that requests refer to.
    ///
    /// # Errors
    /// Those of writing.
    pub fn text(&mut self, number: u64, text: &[u8]) -> io::Result<()> {
        self.gather(Tag::Texts, number, &[], text)
    }

    fn gather(&mut self, tag: Tag, number: u64, fixed: &[u8], text: &[u8]) -> io::Result<()> {
        if self.gathered.tag != Some(tag) || self.gathered.bytes.len() >= CHUNK {
            self.flush_gathered()?;
            (self.gathered.tag, self.gathered.first) = (Some(tag), number);
        }
        debug_assert_eq!(
            number,
            self.gathered.first + u64::from(self.gathered.count),
            "numbers follow each other"
        );
        self.gathered.count += 1;
        self.gathered.bytes.extend_from_slice(fixed);
        put(&mut self.gathered.bytes, text.len() as u64);
        self.gathered.bytes.extend_from_slice(text);
        Ok(())
    }

    fn flush_gathered(&mut self) -> io::Result<()> {
        let Some(tag) = self.gathered.tag.take() else { return Ok(()) };
        let Gathered { first, count, .. } = self.gathered;
        let mut content = std::mem::take(&mut self.content);
        content.clear();
        put(&mut content, first);
        put(&mut content, u64::from(count));
        content.extend_from_slice(&self.gathered.bytes);
        self.gathered.bytes.clear();
        self.gathered.count = 0;
        self.section(FilePlace { tag: tag.letter(), first, count, ..FilePlace::default() }, &content)?;
        self.content = content;
        Ok(())
    }

    /// Appends a block of requests.
    ///
    /// # Errors
    /// Those of writing.
    pub fn block(&mut self, block: &Block) -> io::Result<()> {
        let (Some(first), Some(last)) = (block.rows.first(), block.rows.last()) else { return Ok(()) };
        self.flush_gathered()?;
        let mut content = std::mem::take(&mut self.content);
        content.clear();
        self.encoder.encode(&mut content, block, self.users);
        let place = FilePlace {
            tag: Tag::Block.letter(),
            first: block.first,
            count: block.rows.len() as u32,
            begin_us: first.begin_us,
            last_us: last.begin_us,
            ..FilePlace::default()
        };
        self.section(place, &content)?;
        self.content = content;
        Ok(())
    }

    fn section(&mut self, place: FilePlace, content: &[u8]) -> io::Result<()> {
        let tag = Tag::of(place.tag).expect("it is one of ours");
        let head = Head::of(tag, content);
        self.to.write_all(&head.bytes())?;
        self.to.write_all(content)?;
        self.index.push(FilePlace { offset: self.at, length: head.length, crc: head.crc, ..place });
        self.at += (HEAD + content.len()) as u64;
        if matches!(tag, Tag::Urls | Tag::Users | Tag::Block | Tag::Texts) {
            self.fingerprint = chained(self.fingerprint, head.crc, head.length);
        }
        Ok(())
    }

    /// Ends the recording; the summary comes back with its fingerprint.
    ///
    /// # Errors
    /// Those of writing.
    pub fn finish(mut self, mut summary: Summary) -> io::Result<(W, Summary)> {
        self.flush_gathered()?;
        summary.fingerprint = self.fingerprint;
        let json = serde_json::to_vec(&summary).map_err(io::Error::other)?;
        self.section(FilePlace { tag: Tag::Summary.letter(), count: 1, ..FilePlace::default() }, &json)?;
        let index = serde_json::to_vec(&self.index).map_err(io::Error::other)?;
        let place = self.at;
        self.section(FilePlace { tag: Tag::Index.letter(), count: 1, ..FilePlace::default() }, &index)?;
        self.to.write_all(&place.to_le_bytes())?;
        self.to.write_all(&END)?;
        self.to.flush()?;
        Ok((self.to, summary))
    }

    /// Bytes written until now.
    pub fn written(&self) -> u64 {
        self.at
    }
}

/// The fingerprint after one more section.
pub(super) fn chained(before: u64, crc: u32, length: u32) -> u64 {
    hash(before, u64::from(crc) << 32 | u64::from(length))
}
