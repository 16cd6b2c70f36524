//! An RPM package of files that lie in their places, made by rpmbuild.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{PACKAGE, layout};
use crate::{Result, shell};

/// It makes packages.
pub const TOOL: &str = "rpmbuild";

/// Where distributions of this kind have zsh look for completions.
const ZSH: &str = "usr/share/zsh/site-functions/_wringer";

/// Makes it in `folder` of the files below `stage`, whose zsh completion is moved.
pub fn package(stage: &Path, folder: &Path, version: &str) -> Result<PathBuf> {
    let work = folder.join("rpm");
    layout::clear(&work)?;
    let root = work.join("root");
    copy(stage, &root)?;
    move_zsh(&root)?;
    let spec = work.join("wringer.spec");
    layout::put(&spec, spec_text(version, &files(&root)?).as_bytes(), 0o644)?;
    let mut build = Command::new(TOOL);
    build.args(["-bb", "--quiet", "--define", &format!("_topdir {}", work.display())]);
    build.args(["--define", &format!("stage {}", root.display())]);
    shell::output(build.arg(&spec))?;
    let made = layout::files(&work.join("RPMS").join(std::env::consts::ARCH))?;
    let made = made.first().ok_or("rpmbuild made no package")?;
    let to = folder.join(made.file_name().ok_or("rpmbuild made a file without a name")?);
    fs::copy(made, &to).map_err(|error| format!("{} cannot be written: {error}", to.display()))?;
    layout::clear(&work)?;
    Ok(to)
}

/// The version is a release number of its own: `0.1.0-1`. What the binary needs of the C library rpmbuild finds out.
fn spec_text(version: &str, files: &[String]) -> String {
    format!(
        "%global debug_package %{{nil}}\n\
         %global _build_id_links none\n\
         %global __os_install_post %{{nil}}\n\
         %global _binary_payload w9.gzdio\n\
         Name: {PACKAGE}\n\
         Version: {version}\n\
         Release: 1\n\
         Summary: Load tester for proxies, caches and servers\n\
         License: Apache-2.0\n\
         Recommends: ca-certificates\n\n\
         %description\n\
         It is the clients and, where wanted, the origin too, checks every answer, and\n\
         understands the command lines of ab, wrk, h2load, siege, http_load and jtest.\n\n\
         %install\n\
         mkdir -p %{{buildroot}}\n\
         cp -a %{{stage}}/. %{{buildroot}}\n\n\
         %files\n\
         %defattr(-,root,root)\n\
         {}\n",
        files.join("\n")
    )
}

fn move_zsh(root: &Path) -> Result<()> {
    let from = root.join(layout::ZSH);
    let to = root.join(ZSH);
    let bytes = fs::read(&from).map_err(|error| format!("{} cannot be read: {error}", from.display()))?;
    layout::put(&to, &bytes, 0o644)?;
    layout::clear(&root.join("usr/share/zsh/vendor-completions"))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    layout::clear(to)?;
    fs::create_dir_all(to).map_err(|error| format!("{} cannot be made: {error}", to.display()))?;
    let usr = from.join("usr");
    shell::output(Command::new("cp").arg("-a").arg(usr).arg(to)).map(drop)
}

/// The files below a folder, as a system names them.
fn files(root: &Path) -> Result<Vec<String>> {
    let below = layout::files_below(root)?;
    Ok(below.iter().map(|file| format!("/{}", file.display())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spec_names_version_and_files() {
        let text = spec_text("0.1.0", &["/usr/bin/wringer".to_owned()]);
        assert!(text.contains("\nVersion: 0.1.0\nRelease: 1\n"), "{text}");
        assert!(text.ends_with("%defattr(-,root,root)\n/usr/bin/wringer\n"), "{text}");
        assert!(text.contains("cp -a %{stage}/. %{buildroot}\n"), "{text}");
    }
}
