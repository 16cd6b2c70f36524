//! The folder of a plan, in which the files lie that it names.

use crate::files;
use plan::{NamedFile, Plan};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// The folder of a plan, and whether it may name files elsewhere.
pub struct Folder {
    path: PathBuf,
    anywhere: bool,
}

impl Folder {
    /// That of a plan file.
    pub fn of(plan: &Path, anywhere: bool) -> Folder {
        Folder { path: plan.parent().unwrap_or(Path::new("")).to_owned(), anywhere }
    }

    /// Where a file is, as this process reads it: in the plan's folder or, where it is not there, in the current one.
    pub fn locate(&self, path: &str) -> PathBuf {
        let path = path.replace('\\', "/");
        let beside = self.path.join(&path);
        if beside.exists() || !Path::new(&path).exists() { beside } else { PathBuf::from(path) }
    }

    /// True if a plan may read a file that is there.
    fn allows(&self, file: &Path) -> bool {
        let inside = |folder: &Path| {
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            let whole = folder.canonicalize().and_then(|folder| Ok(file.canonicalize()?.starts_with(folder)));
            whole.unwrap_or(false)
        };
        self.anywhere || inside(&self.path) || inside(Path::new("."))
    }

    /// Reads a file that a plan names.
    ///
    /// # Errors
    /// As of reading; also where it lies elsewhere.
    pub fn read(&self, path: &str, limit: u64) -> io::Result<Vec<u8>> {
        let file = self.locate(path);
        if file.exists() && !self.allows(&file) {
            return Err(io::Error::other(OUTSIDE));
        }
        files::read(&file, limit)
    }

    /// A line for each data file of the plan, and for each that is a body, that cannot be read. Keys and certificates are no data: they may lie anywhere.
    pub fn warnings(&self, plan: &Plan) -> Vec<String> {
        let bodies: BTreeSet<_> = plan.body_files().map(|file| NamedFile::Body(file.file.clone())).collect();
        let data = plan.files().into_iter().filter(|file| !matches!(file, NamedFile::Whole(_))).chain(bodies);
        let warning = |file: NamedFile| {
            let path = Path::new(file.path());
            match path.is_file() {
                false => Some(format!("the file {} is not there", path.display())),
                true if self.allows(path) => None,
                true => Some(format!("the file {}: {OUTSIDE}", path.display())),
            }
        };
        data.filter_map(warning).collect()
    }
}

const OUTSIDE: &str = "it lies outside the plan's folder: copy it there, or allow it with --any-files";
