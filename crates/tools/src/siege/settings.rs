//! Settings: the original's configuration keys with its defaults, then what the command line says. Start at
//! [`SiegeSettings::of`]; what they mean as a plan is [`super::plan`]'s business.

use super::SiegeLayout;
use super::options::SiegeTyped;
use super::variables::Variables;
use crate::reads::Reads;
use plan::byte_order as mark;
use plan::secret::shown_line;
use plan::{Endpoint, Masked};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Names and passwords for a realm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Login {
    pub user: String,
    pub password: String,
    /// `None`: any.
    pub realm: Option<String>,
}

impl Login {
    /// Reads `user:password[:realm]`, where the password may be `env:VARIABLE` or `file:PATH`.
    pub fn parse(text: &str) -> Login {
        let (user, rest) = text.split_once(':').unwrap_or((text, ""));
        let source =
            ["env:", "file:"].into_iter().find(|source| rest.starts_with(source)).map_or(0, str::len);
        let end = rest[source..].find(':').map_or(rest.len(), |end| source + end);
        let password = &rest[..end];
        let realm = rest[end..].trim_start_matches(':');
        let user = user.to_owned();
        let password = password.to_owned();
        let realm = realm.to_owned();
        let realm = Some(realm).filter(|realm| !realm.is_empty() && realm != "any" && realm != "all");
        Login { user, password, realm }
    }
}

/// How often each user repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reps {
    Times(u64),
    /// The whole list once.
    Once,
}

/// Purpose of a single request: its head, or its page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Single {
    /// `-g`: the heads.
    Heads,
    /// `-p`: the page.
    Page,
}

/// Everything that can be set.
#[derive(Debug, Clone)]
pub(super) struct SiegeSettings {
    pub verbose: bool,
    pub color: bool,
    pub quiet: bool,
    pub debug: bool,
    pub json: bool,
    pub show_logfile: bool,
    pub logging: bool,
    pub logfile: String,
    pub get_method: String,
    pub parser: bool,
    pub no_follow_hosts: Vec<String>,
    pub csv: bool,
    pub timestamp: bool,
    pub full_url: bool,
    pub display_id: bool,
    pub limit: u64,
    pub http11: bool,
    pub chunked: bool,
    pub cache: bool,
    pub keep_alive: bool,
    pub users: u64,
    pub time: Option<Duration>,
    pub reps: Option<Reps>,
    pub file: String,
    pub url: Option<String>,
    pub delay_s: f64,
    pub timeout_s: u64,
    pub expire_session: bool,
    pub failures: u64,
    pub attempts: u64,
    pub internet: bool,
    pub benchmark: bool,
    pub user_agent: Option<String>,
    pub accept_encoding: String,
    pub url_escaping: bool,
    pub logins: Vec<Login>,
    pub login_urls: Vec<String>,
    pub auth_urls: Vec<String>,
    pub proxy_host: Option<String>,
    pub proxy_port: u16,
    pub proxy_login: Option<Login>,
    pub ftp_login: bool,
    pub follow: bool,
    pub zero_data_ok: bool,
    pub unique: bool,
    pub headers: Vec<(String, String)>,
    pub content_type: Option<String>,
    pub ssl_certificate: Option<String>,
    pub ssl_key: Option<String>,
    pub ssl_ciphers: Option<String>,
    pub mark: Option<String>,
    pub shown: Option<Single>,
    pub layout: SiegeLayout,
    pub strict: bool,
    pub statuses: bool,
    pub verify: bool,
    pub seed: u64,
    pub result_json: Option<PathBuf>,
    pub show_plan: bool,
    /// The configuration file that was read.
    pub resource_file: Option<String>,
    /// Notices about what is taken differently, or cannot be done; a line each.
    pub notices: Vec<String>,
}

/// Why there is no test.
pub(super) type Refusal = String;

impl SiegeSettings {
    /// The original's defaults where a configuration file says nothing of a key.
    fn built_in(seed: u64) -> SiegeSettings {
        SiegeSettings {
            verbose: false,
            color: true,
            quiet: false,
            debug: false,
            json: false,
            show_logfile: true,
            logging: false,
            logfile: "/var/log/siege.log".to_owned(),
            get_method: "GET".to_owned(),
            parser: false,
            no_follow_hosts: Vec::new(),
            csv: false,
            timestamp: false,
            full_url: false,
            display_id: false,
            limit: 255,
            http11: false,
            chunked: false,
            cache: false,
            keep_alive: false,
            users: 1,
            time: None,
            reps: None,
            file: "/etc/siege/urls.txt".to_owned(),
            url: None,
            delay_s: 0.0,
            timeout_s: 30,
            expire_session: false,
            failures: 1024,
            attempts: 5,
            internet: false,
            benchmark: false,
            user_agent: None,
            accept_encoding: "*".to_owned(),
            url_escaping: true,
            logins: Vec::new(),
            login_urls: Vec::new(),
            auth_urls: Vec::new(),
            proxy_host: None,
            proxy_port: 3128,
            proxy_login: None,
            ftp_login: false,
            follow: true,
            zero_data_ok: true,
            unique: true,
            headers: Vec::new(),
            content_type: None,
            ssl_certificate: None,
            ssl_key: None,
            ssl_ciphers: None,
            mark: None,
            shown: None,
            layout: SiegeLayout::V40,
            strict: false,
            statuses: false,
            verify: false,
            seed,
            result_json: None,
            show_plan: false,
            resource_file: None,
            notices: Vec::new(),
        }
    }

    /// Returns the settings of the configuration that the original writes on its first run, but for JSON, which scripts did not
    /// ask for.
    fn of_template(seed: u64) -> SiegeSettings {
        let hosts =
            ["ad.doubleclick.net", "pagead2.googlesyndication.com", "ads.pubsqrd.com", "ib.adnxs.com"];
        SiegeSettings {
            verbose: true,
            get_method: "HEAD".to_owned(),
            parser: true,
            no_follow_hosts: hosts.map(str::to_owned).to_vec(),
            http11: true,
            chunked: true,
            users: 25,
            accept_encoding: "gzip, deflate".to_owned(),
            ..SiegeSettings::built_in(seed)
        }
    }

    /// Reads the configuration and then what was typed.
    ///
    /// # Errors
    /// A value that cannot be meant.
    pub fn of(
        typed: &SiegeTyped,
        variables: &mut Variables<'_>,
        env: &dyn Fn(&str) -> Option<String>,
        files: &dyn Reads,
        seed: u64,
    ) -> Result<SiegeSettings, Refusal> {
        let mut settings = match configuration(typed, env, files) {
            (Some((file, text)), notice) => {
                let mut settings =
                    SiegeSettings { resource_file: Some(file), ..SiegeSettings::built_in(seed) };
                settings.notices.extend(notice);
                settings.read_configuration(&text, variables)?;
                // What a package ships is nobody's wish, and the original would have no option against it.
                settings.json &= settings.resource_file.as_deref() != Some(SYSTEM_FILE);
                settings
            }
            (None, notice) => {
                let mut settings = SiegeSettings::of_template(seed);
                settings.notices.extend(notice);
                settings
            }
        };
        settings.notices.extend(typed.complaints.iter().cloned());
        for (row, value) in &typed.options {
            (row.set)(&mut settings, value)?;
        }
        settings.url = typed.operands.last().cloned().or(settings.url);
        settings.settle();
        Ok(settings)
    }

    fn read_configuration(&mut self, text: &str, variables: &mut Variables<'_>) -> Result<(), Refusal> {
        for line in mark::behind(text).lines() {
            let line = line.trim();
            // Passwords may hold a number sign.
            let line = if line.starts_with("login") { line } else { line.split('#').next().unwrap_or("") };
            let is_gap = |c: char| c == ' ' || c == '\t' || c == '=' || c == ':';
            let Some((key, value)) = line.trim().split_once(is_gap) else { continue };
            if key.is_empty() || key.starts_with('#') {
                continue;
            }
            let value = variables.expand(value.trim_start_matches(is_gap).trim());
            self.key(key, &value, variables)?;
        }
        Ok(())
    }

    fn key(&mut self, key: &str, value: &str, variables: &mut Variables<'_>) -> Result<(), Refusal> {
        let truth = is_true(value);
        let text = || Some(value.to_owned()).filter(|text| !text.is_empty());
        match key {
            "verbose" => self.verbose = truth,
            "color" => self.color = !["off", "false"].contains(&value.to_ascii_lowercase().as_str()),
            "quiet" => self.quiet = truth,
            "debug" => self.debug = truth,
            "json_output" => self.json = truth,
            "show-logfile" => self.show_logfile = truth,
            "logging" => self.logging = truth,
            "logfile" => self.logfile = value.to_owned(),
            "gmethod" => {
                self.get_method = if value.eq_ignore_ascii_case("GET") { "GET" } else { "HEAD" }.to_owned()
            }
            "parser" => self.parser = truth,
            "nofollow" => self.no_follow_hosts.extend(text()),
            "csv" => self.csv = truth,
            "timestamp" => self.timestamp = truth,
            "fullurl" => self.full_url = truth,
            "display-id" => self.display_id = truth,
            "limit" => self.limit = number(value).max(1),
            "protocol" => self.http11 = value.eq_ignore_ascii_case("HTTP/1.1"),
            "chunked" => self.chunked = truth,
            "cache" => self.cache = truth,
            "connection" => self.keep_alive = value.eq_ignore_ascii_case("keep-alive"),
            "concurrent" => self.users = number(value).max(1),
            "time" => self.time = Some(time(value)?),
            "reps" => self.reps = Some(reps(value)?),
            "file" => self.file = value.to_owned(),
            "url" => self.url = text(),
            "delay" => self.delay_s = delay(value)?,
            "timeout" => self.timeout_s = number(value),
            "expire-session" => self.expire_session = truth,
            "failures" => self.failures = number(value),
            "attempts" => self.attempts = number(value),
            "internet" => self.internet = truth,
            "benchmark" => self.benchmark = truth,
            "user-agent" => self.user_agent = text(),
            "accept-encoding" => self.accept_encoding = value.to_owned(),
            "url-escaping" => self.url_escaping = truth,
            "login" => self.logins.extend(text().as_deref().map(Login::parse)),
            "login-url" => self.login_urls.extend(text()),
            "auth-url" => self.auth_urls.extend(text()),
            _ => return self.rarer_key(key, value, variables),
        }
        Ok(())
    }

    fn rarer_key(&mut self, key: &str, value: &str, variables: &mut Variables<'_>) -> Result<(), Refusal> {
        let truth = is_true(value);
        let text = || Some(value.to_owned()).filter(|text| !text.is_empty());
        match key {
            "proxy-host" => self.set_proxy(value)?,
            "proxy-port" => {
                self.proxy_port =
                    value.parse().map_err(|_| format!("proxy-port '{value}' is no port: give 1 to 65535"))?;
            }
            "proxy-login" => self.proxy_login = text().as_deref().map(Login::parse),
            "ftp-login" => self.ftp_login = !value.is_empty(),
            "unique" => self.unique = truth,
            "follow-location" => self.follow = truth,
            "zero-data-ok" => self.zero_data_ok = truth,
            "header" => self.headers.push(header(value)?),
            "ssl-cert" => self.ssl_certificate = text(),
            "ssl-key" => self.ssl_key = text(),
            "ssl-ciphers" => self.ssl_ciphers = text(),
            // A handshake is part of connecting, and cookies are always on.
            "ssl-timeout" | "cookies" | "spinner" => {}
            _ => variables.set(key, value.to_owned()),
        }
        Ok(())
    }

    /// Applies what settings say about each other.
    /// The proxy, by its name alone or as other programs have it: `http://NAME:PASSWORD@HOST:PORT`.
    fn set_proxy(&mut self, value: &str) -> Result<(), Refusal> {
        if value.is_empty() {
            self.proxy_host = None;
            return Ok(());
        }
        let endpoint = Endpoint::read(value).map_err(|fault| format!("proxy-host {fault}"))?;
        if endpoint.credentials.is_some() {
            return Err(format!(
                "proxy-host '{}' has a name and password: give them as proxy-login = NAME:PASSWORD",
                Masked::address(value)
            ));
        }
        self.proxy_port = endpoint.port.unwrap_or(self.proxy_port);
        self.proxy_host = Some(endpoint.host);
        Ok(())
    }

    fn settle(&mut self) {
        if self.json || self.quiet {
            (self.quiet, self.verbose, self.debug) = (true, false, false);
        }
        if self.shown.is_some() {
            (self.users, self.reps, self.time) = (1, Some(Reps::Times(1)), None);
            (self.logging, self.verbose, self.debug, self.parser) = (false, false, false, false);
        }
        if self.benchmark {
            self.delay_s = 0.0;
        }
    }
}

/// The system's configuration, where the user has none.
const SYSTEM_FILE: &str = "/etc/siege/siegerc";

/// The configuration file: `-R`, else `$SIEGERC`, else the one in the user's folder, else the system's. Its name and text,
/// and what is to be said of it.
fn configuration(
    typed: &SiegeTyped,
    env: &dyn Fn(&str) -> Option<String>,
    files: &dyn Reads,
) -> (Option<(String, String)>, Option<String>) {
    let read =
        |file: &str| files.bytes(Path::new(file)).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let named = typed.last("rc").map(str::to_owned).or_else(|| env("SIEGERC"));
    if let Some(file) = named {
        return match read(&file) {
            Ok(text) => (Some((file, text)), None),
            Err(error) => {
                let notice = format!("{file} cannot be read ({error}); the defaults hold");
                (None, Some(notice))
            }
        };
    }
    let home = env("HOME").map(|home| format!("{home}/.siege/siege.conf"));
    let places = home.into_iter().chain([SYSTEM_FILE.to_owned()]);
    let found = places.filter_map(|file| read(&file).ok().map(|text| (file, text))).next();
    (found, None)
}

/// Only this word is true.
fn is_true(value: &str) -> bool {
    value.eq_ignore_ascii_case("true")
}

/// A number as C's `atoi` reads it, nothing below 0.
pub(super) fn number(text: &str) -> u64 {
    let text = text.trim_start().trim_start_matches('+');
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    if digits == 0 { 0 } else { text[..digits].parse().unwrap_or(u64::MAX) }
}

/// A time such as `30S`, `5M` or `1H`; anything else behind the number means minutes, as in the original.
pub(super) fn time(text: &str) -> Result<Duration, Refusal> {
    let count = number(text);
    let unit = match text.trim_end().chars().last().map(|c| c.to_ascii_uppercase()) {
        Some('S') => 1,
        Some('H') => 3600,
        _ => 60,
    };
    if count == 0 {
        return Err(format!("time '{text}' is no time: give one such as 30S, 5M or 1H"));
    }
    Ok(Duration::from_secs(count.saturating_mul(unit).min(10 * 365 * 86_400)))
}

pub(super) fn reps(text: &str) -> Result<Reps, Refusal> {
    if text.eq_ignore_ascii_case("once") {
        return Ok(Reps::Once);
    }
    match number(text) {
        0 => Err(format!("reps '{text}' would send nothing: give 1 or more, or once")),
        times => Ok(Reps::Times(times)),
    }
}

pub(super) fn delay(text: &str) -> Result<f64, Refusal> {
    let delay = text.trim().parse::<f64>().ok().filter(|delay| (0.0..=3600.0).contains(delay));
    delay.ok_or_else(|| format!("delay '{text}' is no number of seconds: give 0 to 3600"))
}

pub(super) fn header(text: &str) -> Result<(String, String), Refusal> {
    let shown = || format!("no ':' in http-header '{}'", shown_line(text));
    let (name, value) = text.split_once(':').ok_or_else(shown)?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}
