//! The place of a bus, and the means to be trusted there.

use crate::files;
use crate::problem::Problem;
use fleet::token::Token;
use std::fmt;
use std::net::IpAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The environment variable that may hold the token.
const TOKEN: &str = "WRINGER_SECRET_BUS_TOKEN";
/// Permissions of others than the owner and his group.
const OTHERS: u32 = 0o007;

/// Place of a bus, and the means to be trusted there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BusAt {
    /// Its servers: `nats://HOST:PORT`, or `tls://` where names are verified.
    pub servers: Vec<String>,
    /// A file with a seed of an nkey, or a credentials file.
    pub credentials: Option<PathBuf>,
    /// Certificates that servers are verified against, beside those of the system.
    pub authorities: Option<PathBuf>,
    /// A file with the token that controllers and agents prove to have.
    pub token: Option<PathBuf>,
    /// It may be in clear also where that leaves this machine.
    pub insecure: bool,
}

impl fmt::Display for BusAt {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.servers.join(","))
    }
}

impl BusAt {
    /// The token, where there is one: of the file, or of the environment.
    ///
    /// # Errors
    /// It cannot be read, or is none.
    pub(crate) fn token(&self) -> Result<Option<Token>, Problem> {
        let wrong = |from: &str, why: String| Problem::impossible(format!("{from}: {why}"));
        if let Some(file) = &self.token {
            let text = secret("--bus-token", file)?;
            return Token::parse(&text)
                .map(Some)
                .map_err(|why| wrong(&format!("--bus-token {}", file.display()), why));
        }
        match std::env::var(TOKEN) {
            Ok(text) if !text.is_empty() => Token::parse(&text).map(Some).map_err(|why| wrong(TOKEN, why)),
            Ok(_) | Err(_) => Ok(None),
        }
    }

    /// True where nobody on the way can read what is said.
    pub(crate) fn is_private(&self) -> bool {
        let is_here =
            |server: &str| url::Url::parse(server).is_ok_and(|url| url.host_str().is_some_and(is_loopback));
        self.servers.iter().all(|server| server.starts_with("tls://") || is_here(server))
    }
}

/// True for a host that is this machine.
pub(super) fn is_loopback(host: &str) -> bool {
    let host = host.trim_matches(['[', ']']);
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// A secret of a file that is not for everybody.
pub(super) fn secret(option: &str, file: &Path) -> Result<String, Problem> {
    let wrong = |why: String| Problem::impossible(format!("{option} {}: {why}", file.display()));
    let facts = std::fs::metadata(file).map_err(|error| wrong(error.to_string()))?;
    if facts.permissions().mode() & OTHERS != 0 {
        return Err(wrong("everybody may read it: chmod 600".to_owned()));
    }
    files::read_text(file, files::LONGEST_SECRET).map_err(|error| wrong(error.to_string()))
}
