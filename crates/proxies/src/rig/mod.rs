//! Rigs: a real proxy, started in a folder of its own and configured as a cache in front of an origin.
//!
//! Each proxy has a file in `kinds/` that turns [`RigOptions`] into configuration text and a command line, and knows nothing else;
//! here the folder is made, the port is tried, the proxy is started under a guard (see [`guard`]) and waited for.
//! Start reading at [`start`]. Nothing here knows the engine, the origin or any plan.

pub mod disk;
pub mod farm;
pub mod guard;
mod kinds;
mod probe;
mod proxy;
mod settings;
mod started;

use net::ports::free_address;
use plan::HttpProtocol;
use rustix::process::{Pid, kill_process};
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use farm::{Farm, Origins};
use guard::{Guarded, Order};
pub use kinds::ALL;
pub use proxy::{Module, Proxy, check_beside, named, names};
pub use settings::Setting;
pub use started::{Places, StartError, Started};
use wire::tls::Identity;

/// How long a proxy may take until it answers; Varnish compiles its configuration, Traffic Server prepares its cache.
/// On a machine that is busy with other things, anything takes many times as long.
pub const READY: Duration = Duration::from_secs(60);
/// How many lines of a dead proxy's log an error shows.
const LOG_LINES: usize = 12;
/// Files of the certificate and its key, in the folder.
const CERTIFICATE: &str = "tls.crt";
const KEY: &str = "tls.key";
/// Stands for the temporary folder in printed configurations.
const PRINTED_FOLDER: &str = "/var/tmp/wringer-rig";
/// Where servers are installed without being in everybody's PATH.
const PROGRAM_FOLDERS: [&str; 5] = ["/usr/sbin", "/usr/local/sbin", "/sbin", "/usr/local/bin", "/usr/bin"];
/// Where a build of one's own has its program, below the folder it was built in or installed into.
const BUILD_FOLDERS: [&str; 5] = ["", "sbin", "bin", "objs", "src"];

/// Settings of a proxy, whichever it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RigOptions {
    /// Where it listens; port 0 is any free port.
    pub listen: SocketAddr,
    /// Where it fetches from, whatever host a request names.
    pub origin: SocketAddr,
    /// The size of its cache.
    pub memory_bytes: u64,
    /// Worker threads or processes.
    pub workers: u16,
    /// True if a client's `Cache-Control: no-cache` forces a fetch.
    pub honour_reload: bool,
    /// True if PURGE makes it forget an object, where it knows how.
    pub purge: bool,
    /// HTTP version that it speaks in front: with TLS the versions before it as well, without HTTP/2 by prior knowledge. Where
    /// that is HTTP/2, HAProxy and httpd speak it towards the origin, too, without TLS.
    pub http: HttpProtocol,
    /// Folder of a build of one's own; `None`: the one that is installed.
    pub from: Option<PathBuf>,
    /// Settings that are to be otherwise.
    pub settings: Vec<Setting>,
    /// Bytes of a [disk of its own](disk) for its cache, where it keeps one in files; `None`: they lie where all its files do.
    pub disk_bytes: Option<u64>,
    /// How long it may take until it answers.
    pub ready: Duration,
}

impl RigOptions {
    /// The cache's size unless told otherwise: 256 MiB.
    pub const MEMORY_BYTES: u64 = 256 * 1024 * 1024;
    /// The smallest cache all proxies start with.
    pub const MEMORY_BYTES_MIN: u64 = 16 * 1024 * 1024;

    /// True if HTTP/2 is spoken towards an origin by those who can.
    fn http2_behind(&self) -> bool {
        self.http != HttpProtocol::One
    }
}

impl Default for RigOptions {
    fn default() -> Self {
        RigOptions {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            origin: SocketAddr::from(([127, 0, 0, 1], 9080)),
            memory_bytes: RigOptions::MEMORY_BYTES,
            workers: 1,
            honour_reload: false,
            purge: false,
            http: HttpProtocol::One,
            from: None,
            settings: Vec::new(),
            disk_bytes: None,
            ready: READY,
        }
    }
}

/// Why there is no rig.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the text of each variant says what it is")]
pub enum RigError {
    #[error("there is no rig {0:?}: the choices are {choices}", choices = names())]
    Unknown(String),
    #[error("cannot make a farm of {origins} × {ports} origins from {base}: {reason}")]
    Farm { base: SocketAddr, origins: u32, ports: u16, reason: String },
    #[error("{title} is not installed: there is no {program} in PATH or the usual folders; on Debian: apt install {package}",
        title = .0.title(), program = .0.programs()[0], package = .0.package())]
    NotInstalled(&'static dyn Proxy),
    #[error("there is no {program} of {title} in {}, nor in its folders sbin, bin, objs and src: give the folder that it was built in or \
             installed into", from.display(), program = proxy.programs().join(" or "), title = proxy.title())]
    NotBuilt { proxy: &'static dyn Proxy, from: PathBuf },
    #[error("{} is a module of {}, and no {} {} has it: its {:?} shows no {:?}; build one with that module and give its folder by --from",
        proxy.title(), proxy.programs()[0], proxy.programs()[0], where_looked(from.as_deref()), module.listed_by, module.name)]
    NoModule { proxy: &'static dyn Proxy, module: Module, from: Option<PathBuf> },
    #[error("the configuration of {} has no line that sets {key:?}: wringer rig {proxy} --print shows those it has", proxy.title())]
    NoSetting { proxy: &'static dyn Proxy, key: String },
    #[error("{key:?} and its value must fit into a line of the configuration of {}", proxy.title())]
    NoLine { proxy: &'static dyn Proxy, key: String },
    #[error("{} does not speak {version} here: give --http {spoken}{others}", proxy.title(), version = shown(*.version),
        spoken = typed(proxy.speaks()), others = who_speaks(*.version))]
    NotSpoken { proxy: &'static dyn Proxy, version: HttpProtocol },
    #[error("{} speaks either HTTP/1.1 or HTTP/2 at a port without TLS: give --http 1.1,2, over TLS, or take varnish, httpd, h2o or caddy", .0.title())]
    NotBeside(&'static dyn Proxy),
    #[error("no certificate could be made: {0}")]
    Certificate(#[from] wire::tls::SettingsError),
    #[error("{proxy} cannot have {memory_bytes} bytes of memory: at least {} MiB are needed", RigOptions::MEMORY_BYTES_MIN >> 20)]
    Memory { proxy: &'static dyn Proxy, memory_bytes: u64 },
    #[error("{proxy} cannot listen on {listen}: {reason}; try another --listen")]
    Listen { proxy: &'static dyn Proxy, listen: SocketAddr, reason: io::Error },
    #[error("cannot prepare a folder for {proxy} in {}: {reason}; another place can be chosen with TMPDIR", parent.display())]
    Folder { proxy: &'static dyn Proxy, parent: PathBuf, reason: io::Error },
    #[error("cannot start {proxy}: {reason}")]
    Start { proxy: &'static dyn Proxy, reason: String },
    #[error("{proxy} ended {how}; its last words:\n{log}")]
    Ended { proxy: &'static dyn Proxy, how: String, log: String },
    #[error("{proxy} did not answer on {listen} within {} s; its last words:\n{log}", limit.as_secs_f64())]
    Silent { proxy: &'static dyn Proxy, listen: SocketAddr, limit: Duration, log: String },
}

impl RigError {
    /// True if it was asked for what cannot be meant.
    pub fn is_mistake(&self) -> bool {
        matches!(
            self,
            RigError::Unknown(_)
                | RigError::NotBuilt { .. }
                | RigError::NoModule { from: Some(_), .. }
                | RigError::NoSetting { .. }
                | RigError::NoLine { .. }
        )
    }
}

/// One configuration file: its name below the folder, and its text.
#[derive(Debug)]
pub struct File {
    name: &'static str,
    text: String,
}

impl File {
    /// Of this name, with this text.
    pub fn new(name: &'static str, text: String) -> File {
        File { name, text }
    }
}

/// All that is particular to a proxy once the options are known. Paths are relative to the folder.
#[derive(Debug)]
pub struct Setup {
    /// Its files.
    pub files: Vec<File>,
    /// Folders that it needs.
    pub folders: Vec<&'static str>,
    /// The program's arguments, such that it stays in the foreground.
    pub arguments: Vec<String>,
    /// Where it explains itself, besides its standard output and error.
    pub logs: Vec<&'static str>,
}

/// The configuration as text for use elsewhere: every file behind a comment line with its name, and how to start it.
///
/// # Errors
/// A setting that it does not have.
pub fn print(
    proxy: &'static dyn Proxy,
    options: &RigOptions,
    farm: Option<&Farm>,
) -> Result<String, RigError> {
    let named = farm.map_or(&[][..], Farm::addresses);
    let setup = proxy.setup(options, &Origins { catch_all: options.origin, named }, PRINTED_FOLDER);
    let setup = settings::applied(proxy, setup, options)?;
    let RigOptions { listen, origin, workers, .. } = options;
    let memory = memory(proxy, options);
    let others = match named.len() {
        0 => String::new(),
        count => format!(" and the other origins of a farm of {count}"),
    };
    let folders: String = setup.folders.iter().map(|folder| format!(" {folder}")).collect();
    let mut text = format!(
        "# {title} as {what}: listens on {listen}, origin {origin}{others}, memory {memory}, workers {workers}.\n\
         # Put the files into {PRINTED_FOLDER}, or put another folder's name in its place everywhere.\n",
        title = proxy.title(),
        what = if proxy.caches() { "a cache" } else { "a reverse proxy without a cache" },
    );
    if options.http.is_secure() {
        text.push_str(&format!("# It also needs a certificate and its key there: {CERTIFICATE} and {KEY}\n"));
    }
    if !folders.is_empty() {
        text.push_str(&format!(
            "# It also needs these folders there, which the user it runs as can write:{folders}\n"
        ));
    }
    text.push_str(&format!("# Start: {} {}\n", proxy.programs()[0], setup.arguments.join(" ")));
    for File { name, text: content } in &setup.files {
        text.push_str(&format!("\n# ---- {name} ----\n{content}"));
    }
    Ok(text)
}

/// The memory of a proxy, in words.
fn memory(proxy: &dyn Proxy, options: &RigOptions) -> String {
    match proxy.is_bounded() {
        true => plan::units::show_size(options.memory_bytes),
        false => "without a bound".to_owned(),
    }
}

/// The program of a proxy, searched in PATH and the usual folders.
pub fn installed(proxy: &'static dyn Proxy) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(PROGRAM_FOLDERS.map(PathBuf::from));
    let programs = proxy.programs();
    let candidates = folders
        .filter(|folder| folder.is_absolute())
        .flat_map(|folder| programs.iter().map(move |name| folder.join(name)));
    candidates.filter(|program| is_executable(program)).find(|program| has_module(proxy, program))
}

/// True if a program has the module that a proxy needs.
fn has_module(proxy: &dyn Proxy, program: &Path) -> bool {
    let Some(module) = proxy.module() else { return true };
    let listed = Command::new(program).arg(module.listed_by).output();
    listed.is_ok_and(|listed| {
        String::from_utf8_lossy(&listed.stdout).lines().any(|line| line.trim() == module.name)
    })
}

/// Folders in which a program was looked for, as an error says it.
fn where_looked(from: Option<&Path>) -> String {
    match from {
        Some(from) => format!("in {}", from.display()),
        None => "in PATH or the usual folders".to_owned(),
    }
}

/// The program of a proxy in the folder of a build, or the one that is installed.
fn program_of(proxy: &'static dyn Proxy, from: Option<&Path>) -> Result<PathBuf, RigError> {
    let without =
        |from: Option<&Path>, module| RigError::NoModule { proxy, module, from: from.map(Path::to_owned) };
    let Some(from) = from else {
        return installed(proxy).ok_or_else(|| {
            proxy.module().map_or(RigError::NotInstalled(proxy), |module| without(None, module))
        });
    };
    let not_built = || RigError::NotBuilt { proxy, from: from.to_owned() };
    let folder = fs::canonicalize(from).map_err(|_| not_built())?;
    let folders = BUILD_FOLDERS.iter().map(|below| folder.join(below));
    let mut candidates =
        folders.flat_map(|folder| proxy.programs().iter().map(move |name| folder.join(name)));
    let program = candidates.find(|program| is_executable(program)).ok_or_else(not_built)?;
    match proxy.module() {
        Some(module) if !has_module(proxy, &program) => Err(without(Some(from), module)),
        Some(_) | None => Ok(program),
    }
}

fn is_executable(program: &Path) -> bool {
    fs::metadata(program).is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

/// A running proxy. Dropping it ends the proxy and removes its folder.
pub struct Rig {
    proxy: &'static dyn Proxy,
    version: String,
    address: SocketAddr,
    /// HTTP version that it speaks in front.
    http: HttpProtocol,
    main_pid: u32,
    folder: PathBuf,
    logs: Vec<&'static str>,
    guarded: Guarded,
}

/// Starts a proxy and returns when it answers HTTP.
///
/// As root the proxy runs as `nobody`, otherwise as the user. Takes up to a minute, usually well under a few
/// seconds. The probe is a request that every proxy refuses by itself, so the origin sees nothing of it.
pub fn start(proxy: &'static dyn Proxy, options: &RigOptions) -> Result<Rig, RigError> {
    let program = program_of(proxy, options.from.as_deref())?;
    if !proxy.speaks().contains(&options.http) {
        return Err(RigError::NotSpoken { proxy, version: options.http });
    }
    if options.memory_bytes < RigOptions::MEMORY_BYTES_MIN {
        return Err(RigError::Memory { proxy, memory_bytes: options.memory_bytes });
    }
    let listen = free_address(options.listen).map_err(|reason| RigError::Listen {
        proxy,
        listen: options.listen,
        reason,
    })?;
    let options = RigOptions { listen, ..options.clone() };
    let version = version(proxy, &program);

    let user = unprivileged();
    tracing::debug!(rig = proxy.name(), version, program = %program.display(), %listen, "starting a rig");
    let (folder, mut guarded) = guarded_folder(proxy)?;
    let origins = Origins { catch_all: options.origin, named: &[] };
    let setup = proxy.setup(&options, &origins, &folder.display().to_string());
    let mut setup = settings::applied(proxy, setup, &options)?;
    if options.http.is_secure() {
        setup.files.extend(certificate(listen)?);
    }
    fill(&folder, &setup, user).map_err(|reason| RigError::Folder {
        proxy,
        parent: folder.clone(),
        reason,
    })?;

    if let Some(bytes) = options.disk_bytes
        && let Some(store) = proxy.store()
    {
        let store = folder.join(store);
        disk::mount(&store, bytes, user).map_err(|reason| RigError::Folder {
            proxy,
            parent: store,
            reason,
        })?;
    }

    let _stand_in = stand_in(proxy, options.origin);
    let order = Order { user, program, arguments: setup.arguments };
    tracing::debug!(folder = %folder.display(), arguments = ?order.arguments, user = ?order.user, "the guard is to start it");
    let main_pid = guarded.start(&order).map_err(|reason| {
        let hint = match (&options.from, user) {
            (Some(_), Some(_)) => "; as root it runs as nobody, who must be able to read that folder",
            _ => "",
        };
        RigError::Start { proxy, reason: reason + hint }
    })?;
    tracing::debug!(pid = main_pid, "it runs");
    let http = options.http;
    let rig = Rig { proxy, version, address: listen, http, main_pid, folder, logs: setup.logs, guarded };
    rig.wait_until_ready(options.ready)?;
    Ok(rig)
}

impl Rig {
    /// Where it listens; the port is the real one where any was asked for.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The process that does the work, for CPU figures; the first one where there are several.
    pub fn pid(&self) -> u32 {
        self.pids()[0]
    }

    /// All processes that do the work, never none.
    pub fn pids(&self) -> Vec<u32> {
        let children =
            if self.proxy.works_in_children() { guard::descendants(self.main_pid) } else { Vec::new() };
        if children.is_empty() { vec![self.main_pid] } else { children }
    }

    /// The process that was started, whoever does the work.
    pub fn main_pid(&self) -> u32 {
        self.main_pid
    }

    /// Makes it read its configuration again. False: it has no signal for that.
    pub fn reload(&self) -> bool {
        let pid = i32::try_from(self.main_pid).ok().and_then(Pid::from_raw);
        let sent = self.proxy.reload().zip(pid).map(|(signal, pid)| kill_process(pid, signal));
        sent.is_some_and(|sent| sent.is_ok())
    }

    /// Where it keeps its cache in files; `None`: it does not.
    pub fn store(&self) -> Option<PathBuf> {
        self.proxy.store().map(|store| self.folder.join(store))
    }

    /// How that process ended; `None`: it has not.
    pub fn status(&self) -> Option<ExitStatus> {
        self.guarded.status()
    }

    /// Files in which it says what happens.
    pub fn logs(&self) -> Vec<PathBuf> {
        std::iter::once(guard::OUTPUT)
            .chain(self.logs.iter().copied())
            .map(|log| self.folder.join(log))
            .collect()
    }

    /// Where its files are while it runs.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the name that its makers give it.
    pub fn name(&self) -> &str {
        self.proxy.title()
    }

    /// Memory that bounds what it keeps, in words. `given`: as of its options.
    pub fn memory(&self, given: &RigOptions) -> String {
        memory(self.proxy, given)
    }

    /// True if it keeps answers.
    pub fn caches(&self) -> bool {
        self.proxy.caches()
    }

    /// Its version as it tells it, or `of unknown version`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Ends it and removes its folder; returns when both is done.
    pub fn stop(self) {
        drop(self);
    }

    /// The error to report if the proxy ends by itself within `wait`.
    pub fn ended(&self, wait: Duration) -> Option<RigError> {
        let how = self.guarded.ended(wait)?;
        Some(RigError::Ended { proxy: self.proxy, how, log: self.last_words() })
    }

    fn wait_until_ready(&self, limit: Duration) -> Result<(), RigError> {
        const PAUSE: Duration = Duration::from_millis(20);
        let deadline = Instant::now() + limit;
        loop {
            // Before it is asked: a program that is stopped and goes on asks once more.
            let is_last = Instant::now() >= deadline;
            if let Some(error) = self.ended(PAUSE) {
                return Err(error);
            }
            if probe::answers(reachable(self.address), self.http) {
                tracing::info!(rig = self.proxy.name(), address = %self.address, pid = self.main_pid, "the rig answers");
                return Ok(());
            }
            if is_last {
                return Err(RigError::Silent {
                    proxy: self.proxy,
                    listen: self.address,
                    limit,
                    log: self.last_words(),
                });
            }
        }
    }

    /// The last lines of what it wrote.
    fn last_words(&self) -> String {
        let texts = self.logs().into_iter().filter_map(|log| fs::read(log).ok());
        let all: String = texts.map(|text| String::from_utf8_lossy(&text).into_owned()).collect();
        last_lines(&all)
    }
}

/// The last lines of a log that are not empty, as errors show them.
fn last_lines(log: &str) -> String {
    let lines: Vec<&str> = log.lines().filter(|line| !line.trim().is_empty()).collect();
    match lines.len() {
        0 => "  (none)".to_string(),
        count => lines[count.saturating_sub(LOG_LINES)..].iter().map(|line| format!("  {line}\n")).collect(),
    }
}

/// A certificate for the address, made now, and its key.
fn certificate(listen: SocketAddr) -> Result<[File; 2], wire::tls::SettingsError> {
    let names = ["localhost".to_owned(), reachable(listen).ip().to_string()];
    let identity = Identity::throw_away(&names)?;
    let key = identity.key_to_pem().unwrap_or_default();
    Ok([File::new(CERTIFICATE, identity.certificates().to_pem()), File::new(KEY, key)])
}

/// Versions as they are typed.
fn typed(versions: &[HttpProtocol]) -> String {
    versions.iter().map(|version| version.typed()).collect::<Vec<_>>().join(", ")
}

/// A version as it is called.
fn shown(version: HttpProtocol) -> &'static str {
    match version {
        HttpProtocol::One => "HTTP/1.1",
        HttpProtocol::TwoClear => "HTTP/2 without TLS",
        HttpProtocol::Two => "HTTP/2 over TLS",
        HttpProtocol::Three => "HTTP/3",
    }
}

/// Those who speak a version.
fn who_speaks(version: HttpProtocol) -> String {
    let who: Vec<&str> =
        ALL.iter().filter(|proxy| proxy.speaks().contains(&version)).map(|proxy| proxy.name()).collect();
    if who.is_empty() {
        String::new()
    } else {
        format!("; {} is spoken by {}", shown(version), who.join(", "))
    }
}

/// Listens in place of an origin that is not there yet, while a proxy starts that looks for it at once.
fn stand_in(proxy: &dyn Proxy, origin: SocketAddr) -> Option<TcpListener> {
    if proxy.looks_for_its_origin() { TcpListener::bind(origin).ok() } else { None }
}

/// The name under which a proxy keeps shared memory: that of its folder, letters and digits only.
fn shared_name(folder: &str) -> String {
    let name = folder.rsplit('/').next().unwrap_or(folder);
    name.chars().filter(char::is_ascii_alphanumeric).collect()
}

/// An address of ours to connect to where the proxy listens on all of them.
fn reachable(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
}

/// The first thing in its own words that looks like a version.
fn version(proxy: &dyn Proxy, program: &Path) -> String {
    let said = Command::new(program).arg(proxy.version_option()).output();
    let text = said.map(|said| [said.stdout, said.stderr].concat()).unwrap_or_default();
    find_version(&String::from_utf8_lossy(&text)).unwrap_or("of unknown version").to_string()
}

fn find_version(text: &str) -> Option<&str> {
    let runs = text.split(|letter: char| !letter.is_ascii_digit() && letter != '.');
    runs.map(|run| run.trim_matches('.')).find(|run| run.contains('.'))
}

/// User and group for the proxy when we are root: `nobody`, which every system has.
fn unprivileged() -> Option<(u32, u32)> {
    const NOBODY: (u32, u32) = (65534, 65534);
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let accounts = fs::read_to_string("/etc/passwd").unwrap_or_default();
    Some(find_account(&accounts, "nobody").unwrap_or(NOBODY))
}

fn find_account(accounts: &str, name: &str) -> Option<(u32, u32)> {
    let mut fields =
        accounts.lines().map(|line| line.split(':')).find(|line| line.clone().next() == Some(name))?.skip(2);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

/// A new folder and at once the guard that will remove it.
fn guarded_folder(proxy: &'static dyn Proxy) -> Result<(PathBuf, Guarded), RigError> {
    let parent = std::env::temp_dir();
    let wrong = |reason| RigError::Folder { proxy, parent: parent.clone(), reason };
    let folder = tempfile::Builder::new()
        .prefix(&format!("wringer-rig-{proxy}-"))
        .tempdir_in(&parent)
        .map_err(wrong)?;
    let guarded =
        Guarded::new(folder.path()).map_err(|error| RigError::Start { proxy, reason: error.to_string() })?;
    Ok((folder.keep(), guarded))
}

/// Writes the files and makes the folders, all belonging to `user`.
fn fill(root: &Path, setup: &Setup, user: Option<(u32, u32)>) -> io::Result<()> {
    for folder in &setup.folders {
        fs::create_dir_all(root.join(folder))?;
    }
    for file in &setup.files {
        let path = root.join(file.name);
        fs::create_dir_all(path.parent().unwrap_or(root))?;
        fs::write(path, &file.text)?;
    }
    user.map_or(Ok(()), |(user, group)| give_away(root, user, group))
}

fn give_away(path: &Path, user: u32, group: u32) -> io::Result<()> {
    std::os::unix::fs::lchown(path, Some(user), Some(group))?;
    if !path.is_dir() {
        return Ok(());
    }
    fs::read_dir(path)?.try_for_each(|entry| give_away(&entry?.path(), user, group))
}

#[cfg(test)]
mod tests;
