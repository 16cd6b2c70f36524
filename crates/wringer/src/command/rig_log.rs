//! The log of a proxy that was started for a run, kept beside the run's file: the folder that it was written in goes with the proxy.

use super::show;
use crate::runs::LOG;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Bytes that are kept of each file, the last ones.
const MOST: u64 = 1 << 20;

/// Keeps the logs of whoever was pressed beside a run that was kept, and says where. Nothing is kept of those who said nothing.
pub fn keep(logs: &[PathBuf], run: &Path) {
    let kept = run.with_extension(LOG);
    match write(logs, &kept) {
        Ok(false) => {}
        Ok(true) => show::notice(&format!("log of the proxy: {}", kept.display())),
        Err(error) => show::notice(&format!(
            "note: the log of the proxy cannot be kept in {}: {error}; --keep-in chooses another place",
            kept.display()
        )),
    }
}

/// True if there was anything to write.
fn write(logs: &[PathBuf], kept: &Path) -> io::Result<bool> {
    let texts: Vec<(&PathBuf, Vec<u8>)> = logs
        .iter()
        .filter_map(|log| Some((log, end_of(log).ok()?)))
        .filter(|(_, text)| !text.is_empty())
        .collect();
    if texts.is_empty() {
        return Ok(false);
    }
    let mut file = session::files::create(kept)?;
    for (log, text) in texts {
        let name = log.file_name().unwrap_or_default().to_string_lossy();
        writeln!(file, "# ---- {name} ----")?;
        file.write_all(&text)?;
    }
    Ok(true)
}

fn end_of(log: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(log)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(MOST)))?;
    let mut text = Vec::new();
    file.take(MOST).read_to_end(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_is_kept_with_the_names_of_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let kept = folder.path().join("run.log");
        let logs = [file("output.log", ""), folder.path().join("missing")];
        assert!(!write(&logs, &kept).unwrap() && !kept.exists());
        let long = "x".repeat(MOST as usize) + "end\n";
        assert!(write(&[file("output.log", "a\n"), file("error.log", &long)], &kept).unwrap());
        let text = std::fs::read_to_string(&kept).unwrap();
        assert!(text.starts_with("# ---- output.log ----\na\n# ---- error.log ----\nxx"));
        assert!(text.ends_with("xend\n") && text.len() < long.len() + 100);
    }
}
