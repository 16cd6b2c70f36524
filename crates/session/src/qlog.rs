//! Files for what QUIC does on the first connections (qlog): made before the run, written by the workers, and looked at when these
//! have ended. Whoever has written nothing leaves no file.

use crate::files;
use crate::problem::Problem;
use measure::notes;
use plan::{Part, Plan};
use std::cell::RefCell;
use std::fs::{DirBuilder, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use wire::http3::QlogWriter;

/// Bytes of a file at most; what comes later is left out.
const MOST_BYTES: u64 = 64 << 20;
/// Each record begins with it (RFC 7464).
const RECORD: u8 = 0x1E;

/// The files of a run.
#[derive(Default)]
pub struct Qlogs {
    writers: RefCell<std::vec::IntoIter<Writer>>,
    files: Vec<Arc<Kept>>,
}

/// A file, and why it is incomplete, if it is.
struct Kept {
    path: PathBuf,
    incomplete: Mutex<Option<String>>,
}

impl Qlogs {
    /// Makes the files that a plan asks for.
    ///
    /// # Errors
    /// The folder that cannot be made, the file that cannot be written, and why.
    pub fn of_plan(plan: &Plan) -> Result<Qlogs, Problem> {
        let http = plan.load.as_ref().and_then(|load| load.protocol.http());
        let Some(qlog) = http.and_then(|http| http.h3.as_ref()?.qlog.as_ref()) else {
            return Ok(Qlogs::default());
        };
        let folder = Path::new(&qlog.folder);
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|error| {
            let text =
                format!("the folder {} of --qlog cannot be made: {error}; give another", folder.display());
            Problem::impossible(text)
        })?;
        let names = (1..=qlog.connections).map(|number| folder.join(format!("connection-{number}.sqlog")));
        let writers = names.map(Writer::open).collect::<Result<Vec<_>, _>>()?;
        let files = writers.iter().map(|writer| writer.kept.clone()).collect();
        Ok(Qlogs { writers: RefCell::new(writers.into_iter()), files })
    }

    /// The files of a worker, each given once.
    pub fn share(&self, part: Part) -> Vec<QlogWriter> {
        let count = part.share(self.files.len() as u64) as usize;
        let writers = &mut *self.writers.borrow_mut();
        writers.take(count).map(|writer| Box::new(writer) as QlogWriter).collect()
    }

    /// Returns notes on incomplete files, a sentence each.
    pub fn notes(&self) -> Vec<String> {
        let sentence = |kept: &Arc<Kept>| {
            let why = kept.incomplete.lock().unwrap_or_else(PoisonError::into_inner);
            why.as_ref().map(|why| notes::QLOG_INCOMPLETE.with(&[&kept.path.display(), why]))
        };
        self.files.iter().filter_map(sentence).collect()
    }
}

/// Writes a file. It never fails for whoever writes: what is wrong is remembered, and nothing more is written.
struct Writer {
    file: BufWriter<File>,
    kept: Arc<Kept>,
    written: u64,
    over: bool,
}

impl Writer {
    fn open(path: PathBuf) -> Result<Writer, Problem> {
        let opened = files::create(&path).and_then(|file| {
            // One that was there is closed to others, too: addresses and times of a run stand in it.
            file.set_permissions(Permissions::from_mode(0o600))?;
            Ok(file)
        });
        let file = opened.map_err(|error| files::cannot_keep("what QUIC does", &path, &error))?;
        let kept = Arc::new(Kept { path, incomplete: Mutex::default() });
        Ok(Writer { file: BufWriter::with_capacity(1 << 16, file), kept, written: 0, over: false })
    }

    fn end(&mut self, why: String) {
        self.over = true;
        self.kept.incomplete.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
    }
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.written >= MOST_BYTES && bytes.first() == Some(&RECORD) && !self.over {
            self.end(format!("it ends with {} MiB, before the connection did", MOST_BYTES >> 20));
        }
        if !self.over {
            self.written += bytes.len() as u64;
            self.file.write_all(bytes).unwrap_or_else(|error| self.end(error.to_string()));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.over {
            self.file.flush().unwrap_or_else(|error| self.end(error.to_string()));
        }
        Ok(())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // It never fails.
        let _ = self.flush();
        if self.written == 0 {
            // Nothing depends on it.
            let _ = std::fs::remove_file(&self.kept.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(folder: &Path) -> (Writer, Arc<Kept>) {
        let writer = Writer::open(folder.join("x.sqlog")).unwrap();
        let kept = writer.kept.clone();
        (writer, kept)
    }

    fn why(kept: &Kept) -> Option<String> {
        kept.incomplete.lock().unwrap().clone()
    }

    #[test]
    fn a_file_ends_between_two_records_and_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let (mut writer, kept) = opened(folder.path());
        writer.written = MOST_BYTES - 1;
        for part in [&b"\x1eab"[..], b"c\n", b"\x1e", b"more\n"] {
            writer.write_all(part).unwrap();
        }
        drop(writer);
        assert_eq!(std::fs::read(&kept.path).unwrap(), b"\x1eabc\n");
        assert_eq!(why(&kept).unwrap(), "it ends with 64 MiB, before the connection did");
    }

    #[test]
    fn whoever_writes_nothing_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let (writer, kept) = opened(folder.path());
        let mode = std::fs::metadata(&kept.path).unwrap().permissions().mode();
        assert_eq!((mode & 0o777, kept.path.exists()), (0o600, true));
        drop(writer);
        assert_eq!((why(&kept), kept.path.exists()), (None, false));
    }

    #[test]
    fn a_full_disk_is_told_and_nothing_fails() {
        let kept = Arc::new(Kept { path: "/dev/full".into(), incomplete: Mutex::default() });
        let file = BufWriter::with_capacity(1, File::create("/dev/full").unwrap());
        let mut writer = Writer { file, kept: kept.clone(), written: 0, over: false };
        writer.write_all(b"\x1eabc").unwrap();
        drop(writer);
        assert!(why(&kept).unwrap().contains("No space left"), "{:?}", why(&kept));
    }
}
