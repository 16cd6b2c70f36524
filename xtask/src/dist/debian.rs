//! A Debian package of files that lie in their places.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{PACKAGE, layout};
use crate::{Result, shell};

/// A version of glibc: major and minor number.
pub type Glibc = (u32, u32);

/// The C library of Debian 12, the oldest that packages are made for.
const OLDEST: Glibc = (2, 36);

/// The version of the C library that the binary below `stage` needs; `None`: it is linked with all it needs.
pub fn glibc(stage: &Path) -> Result<Option<Glibc>> {
    let binary = stage.join(layout::BINARY);
    let symbols = shell::output(Command::new("objdump").arg("--dynamic-syms").arg(binary))?;
    let glibc = newest_glibc(&symbols);
    match glibc.filter(|glibc| *glibc > OLDEST) {
        None => Ok(glibc),
        Some((major, minor)) => Err(format!(
            "the binary needs glibc {major}.{minor}, newer than Debian 12's: build packages there"
        )),
    }
}

/// Makes it in `folder` of the files below `stage`.
pub fn package(stage: &Path, folder: &Path, version: &str, glibc: Option<Glibc>) -> Result<PathBuf> {
    let architecture = shell::output(Command::new("dpkg").arg("--print-architecture"))?;
    let architecture = architecture.trim();
    let control = control(version, architecture, glibc);
    layout::put(&stage.join("DEBIAN/control"), control.as_bytes(), 0o644)?;
    let deb = folder.join(format!("{PACKAGE}_{version}_{architecture}.deb"));
    let mut build = Command::new("dpkg-deb");
    shell::output(build.args(["--root-owner-group", "-Zgzip", "--build"]).arg(stage).arg(&deb))?;
    layout::clear(&stage.join("DEBIAN"))?;
    Ok(deb)
}

/// `glibc`: the version that the binary asks for; none of one that is linked with all it needs.
fn control(version: &str, architecture: &str, glibc: Option<Glibc>) -> String {
    let depends = glibc
        .map_or(String::new(), |(major, minor)| format!("Depends: libc6 (>= {major}.{minor}), libgcc-s1\n"));
    format!(
        "Package: {PACKAGE}\n\
         Version: {version}\n\
         Architecture: {architecture}\n\
         Maintainer: the maintainers of wringer <maintainers@wringer.invalid>\n\
         Section: web\n\
         Priority: optional\n\
         {depends}\
         Recommends: ca-certificates\n\
         Description: load tester for proxies, caches and servers\n \
         It is the clients and, where wanted, the origin too, checks every answer, and\n \
         understands the command lines of ab, wrk, h2load, siege, http_load and jtest.\n"
    )
}

/// The newest version of glibc among the symbols of `objdump --dynamic-syms`.
fn newest_glibc(symbols: &str) -> Option<Glibc> {
    let versions = symbols.split("GLIBC_").skip(1).filter_map(|rest| {
        let text = rest.split(|c: char| !(c.is_ascii_digit() || c == '.')).next()?;
        let mut numbers = text.split('.').map(str::parse);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    });
    versions.max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_glibc_is_found() {
        let symbols =
            "0000 DF *UND* 0000 (GLIBC_2.2.5) read\n0000 DF *UND* 0000 (GLIBC_2.34) open\n(GLIBC_2.4) x";
        assert_eq!(newest_glibc(symbols), Some((2, 34)));
        assert_eq!(newest_glibc("DYNAMIC SYMBOL TABLE:\nno symbols\n"), None);
    }

    #[test]
    fn the_control_file_names_what_is_needed() {
        let text = control("0.1.0", "amd64", Some((2, 34)));
        assert!(text.contains("\nDepends: libc6 (>= 2.34), libgcc-s1\n"), "{text}");
        assert!(text.ends_with("jtest.\n") && !text.contains("\n\n"), "{text}");
        assert!(!control("0.1.0", "amd64", None).contains("Depends"));
    }
}
