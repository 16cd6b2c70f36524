//! The door of siege, the load tester that walks lists of URLs (4.0 as Debian has it, and 4.1).
//!
//! Stages: `options.rs` has the options and reads what was typed as the original reads it, `settings.rs` puts configuration and options together,
//! `urls.rs` reads the list, `plan.rs` says what it means. Nothing is opened or printed here: files come through a function,
//! and text goes out as [`ToolShown`].

mod door;
mod options;
mod plan;
pub mod report;
mod settings;
mod text;
mod urls;
mod variables;

pub use door::Siege;

pub use settings::Single;

use crate::reads::Reads;
use crate::{ToolShown, openssl};
use settings::{Reps, SiegeSettings};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;
use urls::{UrlLine, UrlReader};
use variables::Variables;

/// A test, and how to show it.
pub type Run = crate::Run<SiegeView>;

/// Values and settings for the output of a test.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SiegeView {
    /// A line for each request.
    pub verbose: bool,
    /// Nothing at all.
    pub quiet: bool,
    /// The heads of requests and answers.
    pub debug: bool,
    /// One request is sent and shown.
    pub shown: Option<Single>,
    /// Lines are coloured where standard output is a terminal.
    pub color: bool,
    /// Lines have values with commas between.
    pub csv: bool,
    /// Lines begin with the time.
    pub timestamp: bool,
    /// Lines name whole URLs.
    pub full_url: bool,
    /// Lines begin with the number of the user.
    pub display_id: bool,
    /// Lines of values carry this mark.
    pub mark: Option<String>,
    /// Whose layout and rules hold.
    pub layout: SiegeLayout,
    /// Users.
    pub users: u64,
    /// Where the clock ends the test.
    pub time: Option<Duration>,
    /// Where a line of the result is added.
    pub log: Option<SiegeLog>,
    /// The result as JSON on standard output.
    pub json: bool,
    /// The process ends with 1 where a transaction failed.
    pub strict: bool,
    /// A table of statuses behind the report.
    pub statuses: bool,
    /// Warning that the original prints on standard output before a test.
    pub warning: String,
}

/// A file that is added to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiegeLog {
    /// The file.
    pub file: PathBuf,
    /// A line in front of the result's.
    pub mark: Option<String>,
    /// A result follows.
    pub row: bool,
    /// It is said where the file is.
    pub notice: bool,
}

/// Which original's layout and rules hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SiegeLayout {
    /// 4.0, as Debian and Ubuntu have it.
    #[default]
    V40,
    /// 4.1 and later.
    V41,
}

impl SiegeLayout {
    fn parse(text: &str) -> Result<SiegeLayout, String> {
        match text {
            "4.0" => Ok(SiegeLayout::V40),
            "4.1" => Ok(SiegeLayout::V41),
            _ => Err(format!("--layout '{text}' is not known: give 4.0 or 4.1")),
        }
    }

    /// The version that the original of this layout calls itself.
    pub fn version(self) -> &'static str {
        match self {
            SiegeLayout::V40 => "4.0.7",
            SiegeLayout::V41 => "4.1.7",
        }
    }
}

/// Reads a command line, its name left out.
///
/// `env` gives environment variables, `now_seed` is the seed where none is given, and `files` reads the configuration,
/// the list of URLs and bodies.
///
/// # Errors
/// The text shown instead of a test.
pub fn parse(
    args: &[OsString],
    env: &dyn Fn(&str) -> Option<String>,
    now_seed: u64,
    files: &dyn Reads,
) -> Result<Run, ToolShown> {
    let words: Vec<String> = args.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let typed = options::read(words);
    let refused = |why: String| ToolShown::refused(format!("siege: {why}\n"), 1);
    let mut variables = Variables::new(env);
    let settings = SiegeSettings::of(&typed, &mut variables, env, files, now_seed).map_err(refused)?;
    let version = settings.layout.version();
    if typed.has("version") {
        return Err(ToolShown::refused(text::version(version), 0));
    }
    if typed.has("help") {
        return Err(ToolShown { out: options::help(), err: format!("SIEGE {version}\n"), exit: 0 });
    }
    if typed.has("config") {
        return Err(ToolShown::told(text::configuration(&settings)));
    }
    run(settings, &mut variables, files).map_err(refused)?
}

/// The help, as `--help` prints it on standard output.
pub fn help() -> String {
    options::help()
}

fn run(
    mut settings: SiegeSettings,
    variables: &mut Variables<'_>,
    files: &dyn Reads,
) -> Result<Result<Run, ToolShown>, String> {
    if settings.shown.is_some() && settings.url.is_none() {
        let out = "ERROR: -g/--get requires a commandline URL\n".to_owned();
        return Ok(Err(ToolShown { out, exit: 1, ..ToolShown::default() }));
    }
    let mut reader = UrlReader { escaping: settings.url_escaping, files, notices: Vec::new() };
    let lines = match &settings.url {
        Some(url) => vec![reader.line(&variables.expand(url))?],
        None => match files.bytes(Path::new(&settings.file)) {
            Ok(bytes) => reader.file(&String::from_utf8_lossy(&bytes), variables)?,
            Err(error) => {
                let err = format!("siege: unable to open file: {} ({error})\n", settings.file);
                return Ok(Err(ToolShown { out: options::help(), err, exit: 0 }));
            }
        },
    };
    if lines.is_empty() {
        let err = format!("siege: {} holds no URL: give one there, or on the command line\n", settings.file);
        return Ok(Err(ToolShown { out: options::help(), err, exit: 0 }));
    }
    let logins = settings.login_urls.iter().map(|url| reader.line(&variables.expand(url)));
    let logins: Vec<UrlLine> = logins.collect::<Result<_, _>>()?;
    settings.notices.append(&mut reader.notices);
    let warning = cap(&mut settings);
    notice_what_is_not_done(&mut settings);
    let plan = plan::of(&settings, &lines, &logins);
    Ok(Ok(assemble(settings, plan, warning)))
}

fn assemble(settings: SiegeSettings, plan: ::plan::Plan, warning: String) -> Run {
    let log = (settings.logging || settings.mark.is_some()).then(|| SiegeLog {
        file: PathBuf::from(&settings.logfile),
        mark: settings.mark.clone(),
        row: settings.logging,
        notice: settings.show_logfile && !settings.quiet,
    });
    let view = SiegeView {
        verbose: settings.verbose,
        quiet: settings.quiet,
        debug: settings.debug,
        shown: settings.shown,
        color: settings.color,
        csv: settings.csv,
        timestamp: settings.timestamp,
        full_url: settings.full_url,
        display_id: settings.display_id,
        mark: settings.mark,
        layout: settings.layout,
        users: settings.users,
        time: settings.time,
        log: log.filter(|_| settings.shown.is_none()),
        json: settings.json,
        strict: settings.strict,
        statuses: settings.statuses,
        warning,
    };
    Run { plan, view, notices: settings.notices, json: settings.result_json, show_plan: settings.show_plan }
}

/// Keeps to the limit of users; what is then said of it.
fn cap(settings: &mut SiegeSettings) -> String {
    if settings.users <= settings.limit {
        return String::new();
    }
    settings.users = settings.limit;
    text::capped(settings.limit)
}

/// Options whose meaning cannot be given here: a line each, only where they say something.
fn notice_what_is_not_done(settings: &mut SiegeSettings) {
    if let (Some(time), Some(Reps::Times(_) | Reps::Once)) = (settings.time, settings.reps) {
        settings.notices.push(format!(
            "CONFIG conflict: selected time and repetition based testing; defaulting to time-based testing: {} seconds",
            time.as_secs()
        ));
    }
    let unknown = settings.ssl_ciphers.as_deref().is_some_and(|list| openssl::listed(list).is_none());
    let said = [
        (
            !settings.auth_urls.is_empty(),
            "auth-url: a 403 is not answered by another request; the URLs are left out",
        ),
        (settings.expire_session, "expire-session: cookies are kept as long as they are valid"),
        (!settings.zero_data_ok, "zero-data-ok: an answer without a body counts by its status alone"),
        (settings.ftp_login, "ftp-login: FTP is not spoken here"),
        (
            unknown,
            "ssl-ciphers: no suite of the list is known here: all of TLS 1.2 and 1.3 that are known are offered",
        ),
    ];
    let said = said.into_iter().filter(|(holds, _)| *holds);
    settings.notices.extend(said.map(|(_, text)| text.to_owned()));
}

#[cfg(test)]
mod tests;
