//! Bodies that are long, or stand in files: they are sent in pieces, and no worker has a copy of one.

use plan::{Body, BodyFile, BodyPiece, template};
use std::convert::Infallible;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// Bytes of a body in the plan beyond which it is sent in pieces rather than copied for each worker and connection.
const LONG: u64 = 1 << 20;

/// A body that is sent in pieces.
#[derive(Debug)]
pub(crate) struct LongBody(Vec<LongPart>);

#[derive(Debug, Clone)]
enum LongPart {
    Bytes(Arc<Vec<u8>>),
    File(BodyFile),
}

impl LongBody {
    /// The body, where it is one. `templates`: braces are placeholders, of which it has none then.
    pub fn of(body: &Body, templates: bool) -> Option<LongBody> {
        let mut parts = Vec::new();
        let mut bytes = 0;
        for piece in body.pieces() {
            match piece {
                BodyPiece::Template(text) if templates && template::is_template(text) => return None,
                BodyPiece::Template(text) => {
                    bytes += text.len() as u64;
                    parts.push(LongPart::Bytes(text.clone()));
                }
                BodyPiece::File(file) => parts.push(LongPart::File(file.clone())),
                BodyPiece::Secret(..) => return None,
            }
        }
        (body.is_filed() || bytes > LONG).then_some(LongBody(parts))
    }

    /// Its length as the plan has it.
    ///
    /// # Panics
    /// A file of it may have any length: of such a body the length is that of [`LongBody::open`].
    pub fn length(&self) -> u64 {
        let length = |part: &LongPart| match part {
            LongPart::Bytes(bytes) => bytes.len() as u64,
            LongPart::File(file) => {
                let held = || file.held().map(|held| held.len() as u64);
                file.bytes.or_else(held).expect("a file whose length was told")
            }
        };
        self.0.iter().map(length).sum()
    }

    /// All of it.
    ///
    /// # Errors
    /// As of opening it, and of reading its files.
    pub fn whole(&self) -> io::Result<Vec<u8>> {
        let open = self.open()?;
        let mut bytes = Vec::new();
        open.read(0, open.length() as usize, &mut bytes)?;
        Ok(bytes)
    }

    /// Opens its files.
    ///
    /// # Errors
    /// One of them cannot be opened, or has another length than the plan says.
    pub fn open(&self) -> io::Result<OpenBody> {
        let mut open = OpenBody::default();
        for part in &self.0 {
            let (source, length) = match part {
                LongPart::Bytes(bytes) => (OpenPart::Bytes(bytes.clone()), bytes.len() as u64),
                LongPart::File(file) => match file.held() {
                    Some(held) => (OpenPart::Held(file.clone()), held.len() as u64),
                    None => {
                        let opened = File::open(&file.file)?;
                        let length = opened.metadata()?.len();
                        if file.bytes.is_some_and(|told| told != length) {
                            return Err(io::Error::other("the file has another length now"));
                        }
                        (OpenPart::File(opened), length)
                    }
                },
            };
            open.parts.push((source, length));
        }
        Ok(open)
    }
}

/// All bytes of a file that a body stands in, where somebody needs them at once.
pub(crate) fn held(file: &BodyFile) -> io::Result<&[u8]> {
    file.hold(|path| std::fs::read(path))
}

/// A body that is being sent.
#[derive(Default)]
pub(crate) struct OpenBody {
    parts: Vec<(OpenPart, u64)>,
}

enum OpenPart {
    Bytes(Arc<Vec<u8>>),
    Held(BodyFile),
    File(File),
}

impl From<Vec<u8>> for OpenBody {
    fn from(bytes: Vec<u8>) -> OpenBody {
        let length = bytes.len() as u64;
        OpenBody { parts: vec![(OpenPart::Bytes(Arc::new(bytes)), length)] }
    }
}

impl OpenBody {
    /// Its length.
    pub fn length(&self) -> u64 {
        self.parts.iter().map(|(_, length)| length).sum()
    }

    /// Appends so many bytes of it, all of which it has.
    ///
    /// # Errors
    /// Those of reading a file; nothing that was appended is to be sent then.
    pub fn read(&self, mut from: u64, mut length: usize, to: &mut Vec<u8>) -> io::Result<()> {
        for (source, part) in &self.parts {
            if from >= *part {
                from -= part;
                continue;
            }
            let count = length.min((part - from) as usize);
            match source {
                OpenPart::Bytes(bytes) => to.extend_from_slice(&bytes[from as usize..][..count]),
                OpenPart::Held(file) => {
                    let Ok(bytes) = file.hold(|_| Ok::<_, Infallible>(Vec::new()));
                    to.extend_from_slice(&bytes[from as usize..][..count]);
                }
                OpenPart::File(file) => {
                    let begin = to.len();
                    to.resize(begin + count, 0);
                    file.read_exact_at(&mut to[begin..], from)?;
                }
            }
            length -= count;
            from = 0;
            if length == 0 {
                break;
            }
        }
        debug_assert_eq!(length, 0, "a body has all the bytes that are asked for");
        Ok(())
    }
}

/// Content of a request with streams, in a buffer that keeps its memory.
#[derive(Default)]
pub(crate) struct RequestContent {
    pub bytes: Vec<u8>,
    /// The content instead, where it is sent in pieces.
    pub long: Option<OpenBody>,
}

impl RequestContent {
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.long = None;
    }

    /// Its length.
    pub fn length(&self) -> u64 {
        self.long.as_ref().map_or(self.bytes.len() as u64, OpenBody::length)
    }

    /// Appends its beginning, as people read it.
    pub fn show(&self, to: &mut Vec<u8>) {
        match &self.long {
            None => to.extend_from_slice(&self.bytes),
            Some(long) => show_beginning(long, to),
        }
    }
}

/// Appends the beginning of a body, as much as evidence shows of one.
pub(crate) fn show_beginning(body: &OpenBody, to: &mut Vec<u8>) {
    let begin = to.len();
    let shown = body.length().min(Body::TOLD as u64) as usize;
    if body.read(0, shown, to).is_err() {
        to.truncate(begin);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::BodyPart;

    /// A file of these bytes, and the body that stands between two texts.
    fn between(bytes: &[u8]) -> (tempfile::NamedTempFile, Body) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        let named = BodyFile::named(file.path().to_str().unwrap());
        let parts = vec![b"<<".to_vec().into(), BodyPart::File(named), b">".to_vec().into()];
        (file, Body::of_parts(parts))
    }

    #[test]
    fn pieces_of_any_length_are_the_parts_one_behind_the_other() {
        let (file, body) = between(b"0123456789");
        let whole = b"<<0123456789>";
        for hold in [false, true] {
            if hold {
                assert!(body.files().all(|file| held(file).is_ok()));
            }
            let open = LongBody::of(&body, true).unwrap().open().unwrap();
            assert_eq!(open.length(), whole.len() as u64);
            for length in 1..=whole.len() {
                let mut came = Vec::new();
                for from in (0..whole.len()).step_by(length) {
                    open.read(from as u64, length.min(whole.len() - from), &mut came).unwrap();
                }
                assert_eq!(came, whole, "in pieces of {length}");
            }
        }
        drop(file);
    }

    #[test]
    fn short_bodies_and_those_with_values_are_written_as_they_were() {
        assert!(LongBody::of(&"x".into(), false).is_none());
        let long = Body::from(vec![b'{'; LONG as usize + 1]);
        assert!(LongBody::of(&long, true).is_none() && LongBody::of(&long, false).is_some());
    }

    #[test]
    fn a_file_that_has_shrunk_is_not_sent() {
        let (file, body) = between(b"0123456789");
        let long = LongBody::of(&body, false).unwrap();
        let open = long.open().unwrap();
        std::fs::write(file.path(), b"0123").unwrap();
        assert!(open.read(0, 13, &mut Vec::new()).is_err());
        let told = Body::from(BodyFile::measured(file.path().to_str().unwrap(), 10, String::new()));
        assert!(LongBody::of(&told, false).unwrap().open().is_err());
    }
}
