//! Sections of a recording: each says what it is, how long, and by checksums that it is whole, so that what comes after a damaged
//! one can be found again.

/// Begins each section; no text has it.
pub const MARK: [u8; 4] = *b"\xf7rs\n";
/// Bytes of a section before its content.
pub const HEAD: usize = 20;
/// The longest content: a block of requests takes about 1 MB.
pub const LONGEST: u32 = 64 << 20;

/// Kind of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tag {
    /// Origin of the recording: JSON.
    Header,
    /// URLs of objects.
    Urls,
    /// Users.
    Users,
    /// Requests.
    Block,
    /// Texts of requests that were kept on demand.
    Texts,
    /// Figures of the whole, and the classes of objects: JSON.
    Summary,
    /// Where the others are.
    Index,
}

impl Tag {
    const LETTERS: [(Tag, u8); 7] = [
        (Tag::Header, b'H'),
        (Tag::Urls, b'O'),
        (Tag::Users, b'U'),
        (Tag::Block, b'R'),
        (Tag::Texts, b'T'),
        (Tag::Summary, b'S'),
        (Tag::Index, b'X'),
    ];

    /// Its letter in a file.
    pub fn letter(self) -> u8 {
        Tag::LETTERS.iter().find(|(tag, _)| *tag == self).expect("each has one").1
    }

    /// The tag of a letter; `None` for one of a later version.
    pub fn of(letter: u8) -> Option<Tag> {
        Tag::LETTERS.iter().find(|(_, known)| *known == letter).map(|(tag, _)| *tag)
    }

    /// Its name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Tag::Header => "header",
            Tag::Urls => "URLs",
            Tag::Users => "users",
            Tag::Block => "block of requests",
            Tag::Texts => "texts",
            Tag::Summary => "summary",
            Tag::Index => "index",
        }
    }
}

/// The head of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Its kind; `None`: one that this build does not know.
    pub tag: Option<Tag>,
    /// Bytes of its content.
    pub length: u32,
    /// CRC-32 of its content.
    pub crc: u32,
}

impl Head {
    /// The head of a content.
    pub fn of(tag: Tag, content: &[u8]) -> Head {
        let length = u32::try_from(content.len()).expect("sections are cut long before 4 GiB");
        Head { tag: Some(tag), length, crc: crc32fast::hash(content) }
    }

    /// As it stands in a file.
    pub fn bytes(&self) -> [u8; HEAD] {
        let mut bytes = [0; HEAD];
        bytes[..4].copy_from_slice(&MARK);
        bytes[4] = self.tag.map_or(b'?', Tag::letter);
        bytes[8..12].copy_from_slice(&self.length.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.crc.to_le_bytes());
        let own = crc32fast::hash(&bytes[..16]);
        bytes[16..].copy_from_slice(&own.to_le_bytes());
        bytes
    }

    /// Reads it; `None` where it is damaged.
    pub fn read(bytes: &[u8]) -> Option<Head> {
        let bytes: &[u8; HEAD] = bytes.get(..HEAD)?.try_into().ok()?;
        let number = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let whole = bytes[..4] == MARK && number(16) == crc32fast::hash(&bytes[..16]);
        let head = Head { tag: Tag::of(bytes[4]), length: number(8), crc: number(12) };
        (whole && head.length <= LONGEST).then_some(head)
    }

    /// True if this is its content.
    pub fn fits(&self, content: &[u8]) -> bool {
        content.len() == self.length as usize && crc32fast::hash(content) == self.crc
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_read_back_and_see_each_damaged_bit() {
        let head = Head::of(Tag::Block, b"content");
        let bytes = head.bytes();
        assert_eq!(Head::read(&bytes), Some(head));
        assert!(head.fits(b"content") && !head.fits(b"contenT"));
        for bit in 0..HEAD * 8 {
            let mut damaged = bytes;
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Head::read(&damaged), None, "bit {bit}");
        }
    }
}
