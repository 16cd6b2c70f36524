//! Reads a recording: its tables, then its blocks in any order; and what can be saved of one that is damaged.

use super::block::{self, Block};
use super::header::{FilePlace, Header, Summary};
use super::section::{HEAD, Head, MARK, Tag};
use super::varint::{take, take_bytes};
use super::write::{END, MAGIC, UserId, VERSION, chained};
use plan::draw::hash;
use std::io::{self, Read, Seek, SeekFrom};

/// Why a recording cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It is something else.
    #[error("it is no recording: it does not begin with {}", String::from_utf8_lossy(&MAGIC))]
    NoRecording,
    /// A later program wrote it.
    #[error("it has version {0} of the format, and this program reads up to {version}: a newer one is needed", version = VERSION.0)]
    Newer(u16),
    /// Its end is missing.
    #[error("it is cut: its end is missing after {0} bytes; --salvage reads what is whole")]
    Cut(u64),
    /// Something stands behind its end.
    #[error(
        "{bytes} bytes stand behind its end at byte {end}: several recordings are no single one, each is named by itself; --salvage reads what is whole"
    )]
    Behind {
        /// Where it ends.
        end: u64,
        /// Bytes behind it.
        bytes: u64,
    },
    /// A section is damaged.
    #[error("its {what} at byte {offset} is damaged ({why}); --salvage reads what is whole")]
    Damaged {
        /// Which section, such as `block 17`.
        what: String,
        /// Where in the file.
        offset: u64,
        /// The fault, in words.
        why: &'static str,
    },
    /// Its parts do not belong together.
    #[error(
        "its fingerprint is {found:016x} and should be {wanted:016x}: parts of it were replaced; --salvage reads what is whole"
    )]
    Fingerprint {
        /// That of its parts.
        found: u64,
        /// That which it names.
        wanted: u64,
    },
    /// The file cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// A part of a damaged recording that was passed by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// Where it begins.
    pub offset: u64,
    /// Its bytes.
    pub bytes: u64,
}

/// Losses of a recording that was saved.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Salvage {
    /// Parts that were passed by.
    pub gaps: Vec<Gap>,
    /// Requests that the header or later sections say were there, and are not.
    pub missing: u64,
    /// The end is missing, so what came after the last whole block is unknown.
    pub cut: bool,
}

impl Salvage {
    /// True if nothing of it was damaged.
    pub fn is_whole(&self) -> bool {
        !self.cut && self.missing == 0 && self.gaps.is_empty()
    }
}

/// The path of a URL of a recording, where no host was told; `None`: it is `//host/path`. A path that begins with two slashes
/// stands behind an empty host.
pub fn path_without_host(url: &[u8]) -> Option<&[u8]> {
    match url.strip_prefix(b"//") {
        None => Some(url),
        Some(behind) => Some(behind).filter(|path| path.starts_with(b"//")),
    }
}

/// So many bytes at the end are looked at for an end that something stands behind.
const LOOKED_AT: u64 = 1 << 20;

/// A recording, open for reading.
#[derive(Debug)]
pub struct Recording<R> {
    source: R,
    header: Header,
    summary: Summary,
    index: Vec<FilePlace>,
    /// The blocks' places in the index.
    blocks: Vec<usize>,
    buffer: Vec<u8>,
    salvage: Option<Salvage>,
}

impl<R: Read + Seek> Recording<R> {
    /// Opens a recording that must be whole; blocks are checked when they are read.
    ///
    /// # Errors
    /// With the place where something is wrong.
    pub fn open(mut source: R) -> Result<Recording<R>, ReadError> {
        check_start(&mut source)?;
        let length = source.seek(SeekFrom::End(0))?;
        let mut end = [0; 16];
        if length < 32 {
            return Err(ReadError::Cut(length));
        }
        source.seek(SeekFrom::Start(length - 16))?;
        source.read_exact(&mut end)?;
        if end[8..] != END {
            return Err(no_end(&mut source, length)?);
        }
        let place = u64::from_le_bytes(end[..8].try_into().expect("eight bytes"));
        let mut buffer = Vec::new();
        let head = read_section(&mut source, place, Tag::Index, "index", &mut buffer)?;
        let ends = index_end(place, &head);
        if ends != length {
            return Err(ReadError::Behind { end: ends, bytes: length.saturating_sub(ends) });
        }
        let index: Vec<FilePlace> =
            serde_json::from_slice(&buffer).map_err(|_| damaged("index", place, "it is no index"))?;
        let mut recording = Recording {
            source,
            header: Header::default(),
            summary: Summary::default(),
            blocks: blocks(&index),
            index,
            buffer,
            salvage: None,
        };
        recording.header = recording.table(Tag::Header)?;
        recording.summary = recording.table(Tag::Summary)?;
        recording.check_fingerprint()?;
        Ok(recording)
    }

    /// Opens what is whole of a damaged recording: looks at all of it, from the beginning.
    ///
    /// # Errors
    /// Where it is no recording, or its header is damaged.
    pub fn salvage(mut source: R) -> Result<Recording<R>, ReadError> {
        check_start(&mut source)?;
        let length = source.seek(SeekFrom::End(0))?;
        let (index, gaps) = scan(&mut source, length)?;
        let has = |tag: Tag| index.iter().any(|place| place.tag == tag.letter());
        let cut = !has(Tag::Summary);
        let has_header = has(Tag::Header);
        let mut recording = Recording {
            source,
            header: Header::default(),
            summary: Summary::default(),
            blocks: blocks(&index),
            index,
            buffer: Vec::new(),
            salvage: None,
        };
        if !has_header {
            return Err(damaged("header", 16, "without it nobody knows what the rest means"));
        }
        recording.header = recording.table(Tag::Header)?;
        if !cut {
            recording.summary = recording.table(Tag::Summary)?;
        }
        let found: u64 = recording.places().iter().map(|place| u64::from(place.count)).sum();
        let reached = recording.places().last().map_or(0, |place| place.first + u64::from(place.count));
        let missing = recording.summary.requests.max(reached) - found;
        recording.salvage = Some(Salvage { gaps, missing, cut });
        Ok(recording)
    }

    /// The parts that were passed by, if it was opened by [`Recording::salvage`].
    pub fn salvaged(&self) -> Option<&Salvage> {
        self.salvage.as_ref()
    }

    /// Origin of the recording.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Figures of the whole; of one that was cut, none.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Its blocks, in order.
    pub fn places(&self) -> Vec<FilePlace> {
        self.blocks.iter().map(|at| self.index[*at]).collect()
    }

    /// Number of its blocks.
    pub fn block_count(&self) -> usize {
        self.blocks.len()
    }

    /// The first block that has a request from this moment on, in microseconds since the first.
    pub fn block_at(&self, begin_us: u64) -> usize {
        self.blocks.partition_point(|at| self.index[*at].last_us < begin_us)
    }

    /// Reads a block into one whose memory is used again.
    ///
    /// # Errors
    /// Where it is damaged: its number and its place.
    pub fn read_block(&mut self, number: usize, block: &mut Block) -> Result<(), ReadError> {
        let place = self.index[self.blocks[number]];
        let what = || format!("block {number}");
        read_place(&mut self.source, &place, Tag::Block, what, &mut self.buffer)?;
        block::decode(&self.buffer, block)
            .ok_or_else(|| damaged(&what(), place.offset, "its columns do not fit each other"))
    }

    /// Hands over the URLs of all objects, with their numbers.
    ///
    /// # Errors
    /// Where they are damaged.
    pub fn urls(&mut self, mut each: impl FnMut(u64, &[u8])) -> Result<(), ReadError> {
        self.gathered(Tag::Urls, 0, |number, _, url| each(number, url))
    }

    /// Hands over all users, with what was kept of them.
    ///
    /// # Errors
    /// Where they are damaged.
    pub fn users(&mut self, mut each: impl FnMut(u64, &UserId, &[u8])) -> Result<(), ReadError> {
        self.gathered(Tag::Users, 16, |number, id, kept| {
            each(number, id.try_into().expect("sixteen bytes were asked for"), kept);
        })
    }

    /// Hands over all texts that requests refer to.
    ///
    /// # Errors
    /// Where they are damaged.
    pub fn texts(&mut self, mut each: impl FnMut(u64, &[u8])) -> Result<(), ReadError> {
        self.gathered(Tag::Texts, 0, |number, _, text| each(number, text))
    }

    fn gathered(
        &mut self,
        tag: Tag,
        fixed: u64,
        mut each: impl FnMut(u64, &[u8], &[u8]),
    ) -> Result<(), ReadError> {
        let places: Vec<FilePlace> =
            self.index.iter().filter(|place| place.tag == tag.letter()).copied().collect();
        for place in places {
            read_place(&mut self.source, &place, tag, || tag.name().to_owned(), &mut self.buffer)?;
            let mut bytes = &self.buffer[..];
            let (first, count) =
                numbers(&mut bytes).ok_or_else(|| damaged(tag.name(), place.offset, "it has no numbers"))?;
            for number in (first..).take(count as usize) {
                let found = take_bytes(&mut bytes, fixed).and_then(|id| {
                    let length = take(&mut bytes)?;
                    Some((id, take_bytes(&mut bytes, length)?))
                });
                let (id, text) =
                    found.ok_or_else(|| damaged(tag.name(), place.offset, "it ends too early"))?;
                each(number, id, text);
            }
        }
        Ok(())
    }

    /// Reads a table of JSON.
    fn table<T: serde::de::DeserializeOwned>(&mut self, tag: Tag) -> Result<T, ReadError> {
        let place = self.index.iter().find(|place| place.tag == tag.letter()).copied();
        let place = place.ok_or_else(|| damaged(tag.name(), 0, "it is missing"))?;
        read_place(&mut self.source, &place, tag, || tag.name().to_owned(), &mut self.buffer)?;
        serde_json::from_slice(&self.buffer)
            .map_err(|_| damaged(tag.name(), place.offset, "it is not what it should be"))
    }

    fn check_fingerprint(&self) -> Result<(), ReadError> {
        let start = hash(self.header.seed, u64::from(self.header.relative));
        let parts = self.index.iter().filter(|place| {
            matches!(Tag::of(place.tag), Some(Tag::Urls | Tag::Users | Tag::Block | Tag::Texts))
        });
        let found = parts.fold(start, |sum, place| chained(sum, place.crc, place.length));
        let wanted = self.summary.fingerprint;
        if found == wanted { Ok(()) } else { Err(ReadError::Fingerprint { found, wanted }) }
    }
}

/// Where a recording ends whose index begins at this byte.
fn index_end(place: u64, head: &Head) -> u64 {
    place.saturating_add(HEAD as u64 + u64::from(head.length) + 16)
}

/// Why a file does not end as a recording does: something stands behind its end, or it is cut.
fn no_end(source: &mut (impl Read + Seek), length: u64) -> Result<ReadError, ReadError> {
    let from = length.saturating_sub(LOOKED_AT);
    source.seek(SeekFrom::Start(from))?;
    let mut last = vec![0; (length - from) as usize];
    source.read_exact(&mut last)?;
    let mut buffer = Vec::new();
    for at in memchr::memmem::rfind_iter(&last, &END) {
        let end = from + (at + END.len()) as u64;
        let Some(place) = at.checked_sub(8).map(|begin| &last[begin..at]) else { continue };
        let place = u64::from_le_bytes(place.try_into().expect("eight bytes"));
        let index = read_section(source, place, Tag::Index, "index", &mut buffer);
        if index.is_ok_and(|head| index_end(place, &head) == end) {
            return Ok(ReadError::Behind { end, bytes: length - end });
        }
    }
    Ok(ReadError::Cut(length))
}

fn damaged(what: &str, offset: u64, why: &'static str) -> ReadError {
    ReadError::Damaged { what: what.to_owned(), offset, why }
}

fn blocks(index: &[FilePlace]) -> Vec<usize> {
    (0..index.len()).filter(|at| index[*at].tag == Tag::Block.letter()).collect()
}

fn check_start(source: &mut (impl Read + Seek)) -> Result<(), ReadError> {
    let mut start = [0; 16];
    source.seek(SeekFrom::Start(0))?;
    match source.read_exact(&mut start) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Err(ReadError::NoRecording),
        other => other?,
    }
    if start[..8] != MAGIC {
        return Err(ReadError::NoRecording);
    }
    let major = u16::from_le_bytes([start[8], start[9]]);
    if major > VERSION.0 { Err(ReadError::Newer(major)) } else { Ok(()) }
}

/// Reads the section of an index's entry, which must be the one that was indexed.
fn read_place(
    source: &mut (impl Read + Seek),
    place: &FilePlace,
    tag: Tag,
    what: impl Fn() -> String,
    buffer: &mut Vec<u8>,
) -> Result<(), ReadError> {
    let head = read_section(source, place.offset, tag, &what(), buffer)?;
    if head.crc == place.crc && head.length == place.length {
        return Ok(());
    }
    Err(damaged(&what(), place.offset, "it is not the one that the index names"))
}

fn read_section(
    source: &mut (impl Read + Seek),
    offset: u64,
    tag: Tag,
    what: &str,
    buffer: &mut Vec<u8>,
) -> Result<Head, ReadError> {
    source.seek(SeekFrom::Start(offset))?;
    let mut head = [0; HEAD];
    let short = |error: io::Error| match error.kind() {
        io::ErrorKind::UnexpectedEof => damaged(what, offset, "the file ends in it"),
        _ => ReadError::Io(error),
    };
    source.read_exact(&mut head).map_err(short)?;
    let head = Head::read(&head).ok_or_else(|| damaged(what, offset, "its head has a wrong checksum"))?;
    if head.tag != Some(tag) {
        return Err(damaged(what, offset, "another section is there"));
    }
    // The length is that of a head whose checksum is right, and bounded.
    buffer.resize(head.length as usize, 0);
    source.read_exact(buffer).map_err(short)?;
    if head.fits(buffer) { Ok(head) } else { Err(damaged(what, offset, "its checksum is wrong")) }
}

/// Finds all whole sections, and the parts between them.
fn scan(source: &mut (impl Read + Seek), length: u64) -> Result<(Vec<FilePlace>, Vec<Gap>), ReadError> {
    let mut index = Vec::new();
    let mut gaps: Vec<Gap> = Vec::new();
    let mut at = 16;
    let mut buffer = Vec::new();
    let mut reached = 0;
    let ends = end_of_sections(source, length)?;
    while at < ends {
        let next = match whole_section(source, at, ends, &mut buffer)? {
            Some((head, content)) => {
                let next = at + HEAD as u64 + u64::from(head.length);
                let place = head.tag.and_then(|tag| place_of(tag, at, &head, content));
                if place.is_some_and(|place| !follows(&place, &mut reached)) {
                    pass_by(&mut gaps, at, next);
                } else {
                    index.extend(place);
                }
                next
            }
            None => {
                let next = next_mark(source, at + 1, ends)?;
                pass_by(&mut gaps, at, next);
                next
            }
        };
        at = next;
    }
    Ok((index, gaps))
}

/// True unless it is a block of requests that stand before it already. `reached`: how many requests the blocks so far go to.
fn follows(place: &FilePlace, reached: &mut u64) -> bool {
    if place.tag != Tag::Block.letter() {
        return true;
    }
    match place.first.checked_add(u64::from(place.count)) {
        Some(end) if place.first >= *reached => {
            *reached = end;
            true
        }
        Some(_) | None => false,
    }
}

/// The bytes from `at` to `next` are none that can be read.
fn pass_by(gaps: &mut Vec<Gap>, at: u64, next: u64) {
    match gaps.last_mut() {
        Some(gap) if gap.offset + gap.bytes == at => gap.bytes += next - at,
        Some(_) | None => gaps.push(Gap { offset: at, bytes: next - at }),
    }
}

/// Where the sections end: before the last sixteen bytes, if they are what a whole recording ends with.
fn end_of_sections(source: &mut (impl Read + Seek), length: u64) -> io::Result<u64> {
    if length < 32 {
        return Ok(length);
    }
    let mut end = [0; 8];
    source.seek(SeekFrom::Start(length - 8))?;
    source.read_exact(&mut end)?;
    Ok(if end == END { length - 16 } else { length })
}

/// The section at this byte, if it is whole.
fn whole_section<'a>(
    source: &mut (impl Read + Seek),
    at: u64,
    length: u64,
    buffer: &'a mut Vec<u8>,
) -> io::Result<Option<(Head, &'a [u8])>> {
    let mut head = [0; HEAD];
    if at + HEAD as u64 > length {
        return Ok(None);
    }
    source.seek(SeekFrom::Start(at))?;
    source.read_exact(&mut head)?;
    let Some(head) = Head::read(&head) else { return Ok(None) };
    if at + HEAD as u64 + u64::from(head.length) > length {
        return Ok(None);
    }
    buffer.resize(head.length as usize, 0);
    source.read_exact(buffer)?;
    Ok(head.fits(buffer).then_some((head, &buffer[..])))
}

/// The index's entry of a section, from its content.
fn place_of(tag: Tag, offset: u64, head: &Head, content: &[u8]) -> Option<FilePlace> {
    let mut place = FilePlace {
        tag: tag.letter(),
        offset,
        length: head.length,
        crc: head.crc,
        count: 1,
        ..FilePlace::default()
    };
    match tag {
        Tag::Block => {
            let mut block = Block::default();
            block::decode(content, &mut block)?;
            let first = block.rows.first()?;
            let last = block.rows.last()?;
            (place.first, place.count) = (block.first, block.rows.len() as u32);
            (place.begin_us, place.last_us) = (first.begin_us, last.begin_us);
        }
        Tag::Urls | Tag::Users | Tag::Texts => (place.first, place.count) = numbers(&mut &content[..])?,
        Tag::Header | Tag::Summary => {}
        Tag::Index => return None,
    }
    Some(place)
}

/// The first number of a section of texts or users, and how many it holds.
fn numbers(bytes: &mut &[u8]) -> Option<(u64, u32)> {
    Some((take(bytes)?, u32::try_from(take(bytes)?).ok()?))
}

/// The next mark of a section from this byte on, or the end.
fn next_mark(source: &mut (impl Read + Seek), from: u64, length: u64) -> io::Result<u64> {
    let mut at = from;
    let mut window = vec![0; 1 << 16];
    while at < length {
        source.seek(SeekFrom::Start(at))?;
        let size = window.len().min((length - at) as usize);
        source.read_exact(&mut window[..size])?;
        if let Some(found) = memchr::memmem::find(&window[..size], &MARK) {
            return Ok(at + found as u64);
        }
        if size < window.len() {
            break;
        }
        at += (size - MARK.len() + 1) as u64;
    }
    Ok(length)
}
