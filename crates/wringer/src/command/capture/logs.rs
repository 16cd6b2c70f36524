//! Reads logs into a recording: opens them, finds their formats, tells how far it is.

use super::{interface, listen};
use crate::problem::{Exit, Problem};
use crate::{output, signals};
use cli::LogArgs;
use recording::entry::{Edge, Entry};
use recording::file::Note;
use recording::format::detect::{self, DetectError, LINES};
use recording::format::{Format, print};
use recording::import::trace::{self, TraceForm};
use recording::import::{Finished, Import, ImportError, Options, Progress, UserBy, gor, verifier};
use recording::moment::Zone;
use recording::packets;
use recording::private::Keep;
use recording::read::lines::Go;
use recording::read::unpack::Unpacked;
use recording::text::hex;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use session::doctor::Facts;
use session::files::{self, create};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The first bytes of a log that are looked at for its format.
const LOOKED_AT: usize = 1 << 20;
/// Time between two lines on how far it is.
const TELL: Duration = Duration::from_secs(2);
/// How often a silent pipe is left to see whether a signal has come.
const LOOK_UP: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// The first bytes of Traffic Server's binary logs (`LOG_SEGMENT_COOKIE`, little-endian).
const ATS_BINARY: [u8; 4] = 0x0ace_face_u32.to_le_bytes();

/// An import: where from, how, and where to.
pub struct Task<'a, W> {
    /// The logs.
    pub logs: &'a [PathBuf],
    /// Requests are mirrored to us, in place of logs.
    pub listen: Option<listen::Bounds>,
    /// Packets of an interface are read, in place of logs.
    pub interface: Option<interface::HeardInterface<'a>>,
    /// How they are read.
    pub read: &'a LogArgs,
    /// Nobody is told how far it is.
    pub quiet: bool,
    /// Where there is room for what is being sorted.
    pub folder: PathBuf,
    /// Where the recording is written.
    pub to: W,
}

/// Reads all logs and writes the recording.
///
/// # Errors
/// What cannot be meant, and what cannot be read.
pub fn import<W: Write>(task: Task<'_, W>) -> Result<Finished<W>, Problem> {
    let stop = signals::interrupted()?;
    let zone = task.read.zone.as_deref().map_or(Ok(Zone::Untold), Zone::parse);
    let zone = zone.map_err(|why| Problem::Usage(format!("--zone: {why}")))?;
    let formats = Formats::read(&task.read.log_format, zone)?;
    let options = options(task.read)?;
    let user_by = options.user_by.clone();
    let scratch = tempfile::tempfile_in(&task.folder).map_err(|error| {
        Problem::impossible(format!(
            "no temporary file can be written in {}: {error}; importing needs room for what it sorts",
            task.folder.display()
        ))
    })?;
    let mut import = Import::new(options, scratch);
    for log in task.logs {
        let mut tell = Tell::new(log, task.quiet, stop.clone());
        let came = LogRead { log, alone: task.logs.len() == 1, stop: &stop };
        let read = one(&mut import, came, &formats, &mut tell);
        if stop.load(Ordering::Relaxed) {
            let signal = signals::first().unwrap_or_default();
            let text = format!("ended by a signal while {} was read: nothing is written", shown(log));
            return Err(Problem::Words { text, exit: Exit::of_signal(signal).number() });
        }
        read?;
    }
    if let Some(bounds) = task.listen {
        let mut tell = Tell::new(Path::new("the mirror"), task.quiet, stop.clone());
        listen::receive(&mut import, bounds, &mut tell)?;
    }
    if let Some(heard) = &task.interface {
        let mut tell = Tell::new(Path::new(heard.interface), task.quiet, stop.clone());
        interface::hear(&mut import, heard, &stop, &mut tell)?;
    }
    let finished = import.finish(task.to).map_err(problem)?;
    let nobody = finished.header.users.is_none();
    if nobody && user_by != UserBy::AddressAndAgent {
        return Err(Problem::Usage(format!(
            "--user-by {}: no line tells it, so no user could be told from another",
            task.read.user_by
        )));
    }
    Ok(finished)
}

/// A log that is to be read.
#[derive(Clone, Copy)]
struct LogRead<'a> {
    log: &'a Path,
    /// There is no other.
    alone: bool,
    /// Set by a signal.
    stop: &'a Arc<AtomicBool>,
}

/// Reads one log.
fn one(
    import: &mut Import<File>,
    came: LogRead<'_>,
    formats: &Formats,
    tell: &mut Tell,
) -> Result<(), Problem> {
    let name = shown(came.log);
    let mut stream = Unpacked::new(open(came)?).map_err(|error| unread(&name, &error))?;
    let mut first = vec![0; LOOKED_AT];
    let (length, broken) = fill(&mut stream, &mut first);
    first.truncate(length);
    if first.trim_ascii().is_empty() && broken.is_none() && length < LOOKED_AT && !came.alone {
        // As a log is that was rotated just now.
        output::notice(&format!("note: {name} is empty"));
        return Ok(());
    }
    if first.starts_with(&ATS_BINARY) {
        return Err(Problem::impossible(format!(
            "{name} is a binary log of Traffic Server: traffic_logcat reads this ('traffic_logcat {name} | wringer capture - …')"
        )));
    }
    let other = match formats {
        Formats::Gor => Some(Formats::Gor),
        Formats::Verifier => Some(Formats::Verifier),
        Formats::Trace => Some(Formats::Trace),
        Formats::Lcs => Some(Formats::Lcs),
        Formats::Packets => Some(Formats::Packets),
        Formats::Auto(_) if packets::file::begins(&first) => Some(Formats::Packets),
        Formats::Auto(_) if trace::is_lcs(&first) => Some(Formats::Lcs),
        Formats::Auto(_) if gor::begins(&first) => Some(Formats::Gor),
        Formats::Auto(_) if verifier::begins(&first) => Some(Formats::Verifier),
        Formats::Auto(_) | Formats::One(_) => None,
    };
    if let Some(other) = other {
        let mut whole = (&first[..]).chain(Broken(broken)).chain(stream);
        let mut told = |progress| tell.told(progress);
        let read = match other {
            Formats::Trace => import.trace(&name, TraceForm::ORACLE, &mut whole, &mut told),
            Formats::Lcs => {
                let form = TraceForm::lcs(&first).map_err(|why| Problem::Usage(format!("{name}: {why}")))?;
                import.trace(&name, form, &mut whole, &mut told)
            }
            Formats::Packets => import.pcap(&name, &mut whole, &mut told),
            Formats::Verifier => import.verifier(&name, &mut whole, &mut told),
            Formats::Gor | Formats::One(_) | Formats::Auto(_) => import.gor(&name, &mut whole, &mut told),
        };
        return read.map_err(problem);
    }
    let LogFound { mut format, assumed } =
        found(formats.of(&name, &first, broken.is_none() && length < LOOKED_AT), &name, broken.as_ref())?;
    let rest = Broken(broken);
    let mut whole = (&first[..]).chain(rest).chain(stream);
    import.log(&name, &mut format, &mut whole, &mut |progress| tell.told(progress)).map_err(problem)?;
    if !assumed.is_empty() {
        import
            .note(Note::Assumed { input: name, what: format!("{assumed} (--log-format says it for sure)") });
    }
    Ok(())
}

/// The format, or why there is none: of a log that breaks off that is what matters.
fn found(
    found: Result<LogFound, Problem>,
    name: &str,
    broken: Option<&io::Error>,
) -> Result<LogFound, Problem> {
    match (found, broken) {
        (Err(_), Some(why)) => Err(Problem::impossible(format!("{name} cannot be read: {why}"))),
        (found, _) => found,
    }
}

/// An error that reading ended with, told where it belongs: behind what was read before it.
struct Broken(Option<io::Error>);

impl Read for Broken {
    fn read(&mut self, _buffer: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// Fills a buffer as far as the stream goes.
fn fill(stream: &mut impl Read, buffer: &mut [u8]) -> (usize, Option<io::Error>) {
    let mut filled = 0;
    while filled < buffer.len() {
        match stream.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (filled, Some(error)),
        }
    }
    (filled, None)
}

/// Standard input that is at its end once a signal has come: a pipe may be silent for as long as it likes.
struct UntilSignal {
    input: File,
    stop: Arc<AtomicBool>,
}

impl Read for UntilSignal {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !self.stop.load(Ordering::Relaxed) {
            let mut polled = [PollFd::new(&self.input, PollFlags::IN)];
            match poll(&mut polled, Some(&LOOK_UP)) {
                // A regular file is always ready.
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => return self.input.read(buffer),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(0)
    }
}

fn open(LogRead { log, stop, .. }: LogRead<'_>) -> Result<Box<dyn Read>, Problem> {
    if log == Path::new("-") {
        let input = io::stdin().as_fd().try_clone_to_owned();
        let input = input.map_err(|error| unread("standard input", &error))?;
        return Ok(Box::new(UntilSignal { input: input.into(), stop: stop.clone() }));
    }
    let file = File::open(log).map_err(|error| unread(&shown(log), &error))?;
    match file.metadata() {
        Ok(about) if about.is_dir() => {
            Err(Problem::Usage(format!("{} is a folder: give the logs in it", log.display())))
        }
        Ok(_) | Err(_) => Ok(Box::new(file)),
    }
}

fn unread(name: &str, error: &io::Error) -> Problem {
    Problem::Usage(format!("{name} cannot be read: {error}; check its name"))
}

fn shown(log: &Path) -> String {
    if log == Path::new("-") { "standard input".to_owned() } else { log.display().to_string() }
}

/// Source of the formats of logs.
enum Formats {
    /// One for all of them.
    One(Box<Format>),
    /// goreplay's files.
    Gor,
    /// proxy-verifier's replay files.
    Verifier,
    /// Traces of caches.
    Trace,
    /// The same with a head.
    Lcs,
    /// Captures of packets.
    Packets,
    /// Each log shows its own.
    Auto(Zone),
}

/// The format of a log.
struct LogFound {
    format: Format,
    /// Assumption that had to be made; empty: nothing.
    assumed: String,
}

impl Formats {
    fn read(text: &str, zone: Zone) -> Result<Formats, Problem> {
        let refused = |why: String| Problem::Usage(format!("--log-format {text}: {why}"));
        if text == "auto" {
            return Ok(Formats::Auto(zone));
        }
        let other = match text {
            "gor" => Some(Formats::Gor),
            "proxy-verifier" => Some(Formats::Verifier),
            "oracle-general" => Some(Formats::Trace),
            "lcs" => Some(Formats::Lcs),
            "pcap" | "pcapng" => Some(Formats::Packets),
            _ => None,
        };
        if let Some(other) = other {
            return Ok(other);
        }
        let Some(named) = text.strip_prefix('@') else {
            let format =
                Format::parse(text, zone).map_err(|why| Problem::Usage(format!("--log-format: {why}")))?;
            return Ok(Formats::One(Box::new(format)));
        };
        let (file, name) = named
            .rsplit_once(':')
            .ok_or_else(|| refused("give the name of a log_format behind it, @nginx.conf:NAME".to_owned()))?;
        let configuration = files::read_text(Path::new(file), files::LONGEST)
            .map_err(|error| refused(format!("{file} cannot be read: {error}")))?;
        let format = Format::of_nginx(&configuration, name, zone).map_err(refused)?;
        Ok(Formats::One(Box::new(format)))
    }

    /// The format of a log that begins with these bytes. `whole`: they are all there is.
    fn of(&self, name: &str, first: &[u8], whole: bool) -> Result<LogFound, Problem> {
        let zone = match self {
            Formats::One(format) => {
                return Ok(LogFound { format: (**format).clone(), assumed: String::new() });
            }
            Formats::Auto(zone) => zone,
            Formats::Gor | Formats::Verifier | Formats::Trace | Formats::Lcs | Formats::Packets => {
                unreachable!("these are read before anybody asks")
            }
        };
        let mut lines: Vec<&[u8]> = first.split(|byte| *byte == b'\n').take(LINES + 1).collect();
        // The last one may be cut.
        if lines.len() > 1 && (!whole || lines.len() > LINES) {
            lines.pop();
        }
        let lines: Vec<&[u8]> =
            lines.into_iter().map(|line| line.strip_suffix(b"\r").unwrap_or(line)).collect();
        match detect::detect(&lines, zone) {
            Ok(found) => Ok(LogFound { format: found.format, assumed: found.assumed }),
            // Our own formats are known as well.
            Err(DetectError::None { .. }) if printed(&lines, zone).is_some() => {
                Ok(printed(&lines, zone).expect("it was there a moment ago"))
            }
            Err(DetectError::Empty) => {
                Err(Problem::impossible(format!("{name}: nothing to replay: 0 lines, for it is empty")))
            }
            Err(error @ (DetectError::None { .. } | DetectError::Several { .. })) => {
                Err(Problem::Usage(format!("{name}: {error}")))
            }
        }
    }
}

/// The format of a log that is read line by line and ends with these lines.
///
/// # Errors
/// None fits, or it is no format of lines.
pub fn format_of(read: &LogArgs, name: &str, last: &[u8]) -> Result<Format, Problem> {
    let zone = read.zone.as_deref().map_or(Ok(Zone::Untold), Zone::parse);
    let zone = zone.map_err(|why| Problem::Usage(format!("--zone: {why}")))?;
    match Formats::read(&read.log_format, zone)? {
        Formats::Gor | Formats::Verifier | Formats::Trace | Formats::Lcs | Formats::Packets => Err(
            Problem::Usage(format!("--log-format {}: only lines of a log can be followed", read.log_format)),
        ),
        formats @ (Formats::One(_) | Formats::Auto(_)) => {
            let found = formats.of(name, last, false)?;
            if found.format.is_trace() {
                return Err(Problem::Usage(format!(
                    "--log-format {}: a trace has no moments of the day, so it cannot be followed",
                    read.log_format
                )));
            }
            if !found.assumed.is_empty() {
                output::notice(&format!("note: {name}: {} (--log-format says it for sure)", found.assumed));
            }
            Ok(found.format)
        }
    }
}

/// The format of `--print-format` that these lines have.
fn printed(lines: &[&[u8]], zone: &Zone) -> Option<LogFound> {
    let first = lines.iter().find(|line| !line.trim_ascii().is_empty())?;
    let fits = |format: &Format| format.clone().read(first, &mut Entry::default()).is_ok();
    let all = print::ALL.iter().filter_map(|printed| Format::parse(printed.format, zone.clone()).ok());
    let mut found = all.filter(fits);
    let format = found.next().filter(|_| found.next().is_none())?;
    let edge = match format.edge() {
        Edge::Begin => "begin",
        Edge::End => "end",
    };
    let assumed = format!("its lines fit one of --print-format; times are taken for the {edge}");
    Some(LogFound { format, assumed })
}

/// How an import goes.
///
/// # Errors
/// Options that cannot be meant.
pub fn options(read: &LogArgs) -> Result<Options, Problem> {
    let keep = read.keep.as_deref().map_or_else(|| Ok(Keep::default()), Keep::parse);
    let user_by = match read.user_by.as_str() {
        "ip" | "ip+agent" | "connection" => UserBy::parse(&read.user_by),
        "field" => UserBy::Field("field".to_owned()),
        other => {
            return Err(Problem::Usage(format!(
                "--user-by {other}: give ip+agent, ip, connection, or field with --log-format json:…,user=KEY"
            )));
        }
    };
    Ok(Options {
        program: format!("wringer {}", env!("CARGO_PKG_VERSION")),
        seed: read.seed,
        key: key(read.key.as_deref())?,
        keep: keep.map_err(|why| Problem::Usage(format!("--keep: {why}")))?,
        user_by,
        urls: !read.no_urls,
        tolerate: read.tolerate,
        keep_broken: read.keep_broken,
        table_bytes: Facts::read().memory_left().unwrap_or(u64::MAX),
        ..Options::default()
    })
}

/// The key of users and tokens: of chance, or that of a file, which is made where there is none.
fn key(file: Option<&Path>) -> Result<[u8; 32], Problem> {
    let Some(file) = file else { return of_chance() };
    match files::read_text(file, 1 << 10) {
        Ok(text) => hex_bytes(text.trim()).ok_or_else(|| {
            Problem::Usage(format!(
                "--key {}: it holds no key, which is 64 hexadecimal digits; name a file that is not there, and it is made",
                file.display()
            ))
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let key = of_chance()?;
            let text: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
            let written = create(file).and_then(|mut open| open.write_all(format!("{text}\n").as_bytes()));
            written.map_err(|error| files::cannot_keep("the key", file, &error))?;
            Ok(key)
        }
        Err(error) => Err(Problem::Usage(format!("--key {} cannot be read: {error}", file.display()))),
    }
}

/// The bytes that 64 hexadecimal digits stand for.
fn hex_bytes(text: &str) -> Option<[u8; 32]> {
    let digits: &[u8; 64] = text.as_bytes().try_into().ok()?;
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = hex(pair[0], pair[1])?;
    }
    Some(bytes)
}

fn of_chance() -> Result<[u8; 32], Problem> {
    let mut key = [0; 32];
    let read = File::open("/dev/urandom").and_then(|mut random| random.read_exact(&mut key));
    read.map_err(|error| Problem::impossible(format!("/dev/urandom cannot be read: {error}")))?;
    Ok(key)
}

/// Tells now and then how far it is.
pub struct Tell {
    log: String,
    quiet: bool,
    stop: Arc<AtomicBool>,
    told: Instant,
}

impl Tell {
    fn new(log: &Path, quiet: bool, stop: Arc<AtomicBool>) -> Tell {
        Tell { log: shown(log), quiet, stop, told: Instant::now() }
    }

    /// Tells it where it is time, and says whether to go on.
    pub fn told(&mut self, progress: Progress) -> Go {
        if !self.quiet && self.told.elapsed() >= TELL {
            self.told = Instant::now();
            output::notice(&format!(
                "{}: {} read, {}, {} left out",
                self.log,
                report::show::bytes(progress.bytes),
                report::show::counted(progress.lines, "line"),
                report::show::count(progress.left_out),
            ));
        }
        if self.stop.load(Ordering::Relaxed) { Go::Stop } else { Go::On }
    }
}

/// An import that failed.
pub fn problem(error: ImportError) -> Problem {
    match error {
        ImportError::Same { .. } => Problem::Usage(error.to_string()),
        ImportError::Io(_)
        | ImportError::Input { .. }
        | ImportError::Nothing { .. }
        | ImportError::Lost { .. }
        | ImportError::Memory { .. }
        | ImportError::TooMany => Problem::Impossible(error.to_string()),
    }
}
