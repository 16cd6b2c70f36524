//! Stage two: what the words mean, as a Plan. Start at [`mean`].
//!
//! Values outside of what a switch can mean are refused with one line; what the old tool would have done otherwise
//! becomes a notice, but only where this command line asks for it. `docs/src/jtest.md` has the whole list.

use super::args::{JtestScope, SWITCHES, Switch, Typed};
use super::urls::List;
use super::{Run, View, shown};
use crate::ToolShown;
use ::plan::jtest::{ContentType, Extension, JtestForm};
use ::plan::site::{self, Lifetime, Size, VaryOn};
use ::plan::{
    Arrivals, Check, CheckContent, CloseBy, Delay, Field, GiveUp, Http, Http1, Io, Law, Load, LoadLimits,
    Masked, ObjectStep, Origin, Pace, Phase, Plan, Popularity, Protocol, Reading, RequestForm, Resend,
    Scenario, Site, Step, Stop, Tls, Trace, UrlOrder, UrlStep, units,
};
use std::io;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The `max-age` that the old origin gives everything: twenty years.
const MAX_AGE: Duration = Duration::from_secs(630_720_000);
/// Objects under Zipf, as in the old tool.
const ZIPF_OBJECTS: u64 = 1 << 20;
/// Ports after the origin's that are tried when it is taken.
const FURTHER_PORTS: u16 = 19;
/// Extra header fields at most; a proxy refuses far fewer.
const MAX_EXTRA_FIELDS: i64 = 1_000;
/// Bounds of the requests in flight under `-e`, where `-K` sets none.
const IN_FLIGHT: (f64, f64) = (1_000.0, 65_536.0);
/// URLs that `-q` remembers where it names no number.
const HASH_ENTRIES: u64 = 1_000_000;
/// Ten years in seconds, so that no time overflows.
const LONG_S: i64 = 315_360_000;

/// Says what was meant.
///
/// # Errors
/// One line: a value that a switch cannot have, a thing that is not done here, or a URL file that cannot be read.
pub(super) fn mean(
    mut typed: Typed,
    now_seed: u64,
    read_file: &dyn Fn(&Path) -> io::Result<Vec<u8>>,
) -> Result<Run, ToolShown> {
    refuse_what_is_gone(&typed)?;
    let mut list = url_list(&typed, read_file)?;
    let mut notices = std::mem::take(&mut typed.notices);
    notices.extend(list.as_mut().map(|list| std::mem::take(&mut list.notices)).unwrap_or_default());
    notices.extend(taken_differently(&typed, list.as_ref().map(|list| list.urls.len())));
    let view = view(&typed, list.is_some())?;
    let plan = plan(&typed, list, now_seed)?;
    if let Some(first) = plan.check().into_iter().next() {
        return Err(shown::refused(crate::without_phase(&first).to_owned()));
    }
    Ok(Run { plan, view, notices, json: path(&typed.json), show_plan: typed.show_plan })
}

fn refuse_what_is_gone(typed: &Typed) -> Result<(), ToolShown> {
    if typed.ftp || typed.ftp_mdtm_err_rate != 0.0 || typed.ftp_mdtm_rate != 0 {
        return Err(shown::refused("-f, --ftp_mdtm_…: FTP is not spoken here, only HTTP".to_owned()));
    }
    if typed.compd_port != 0 || typed.compd_suite {
        return Err(shown::refused("-O, -1: the compd service and its suite do not exist here".to_owned()));
    }
    Ok(())
}

/// The URLs, where any are given: they, not a switch, choose the mode.
fn url_list(
    typed: &Typed,
    read_file: &dyn Fn(&Path) -> io::Result<Vec<u8>>,
) -> Result<Option<List>, ToolShown> {
    if typed.urls.is_empty() && typed.url_file.is_empty() {
        return Ok(None);
    }
    List::gather(&typed.urls, &typed.url_file, secure_proxy(typed)?, read_file).map(Some)
}

fn path(text: &str) -> Option<PathBuf> {
    (!text.is_empty()).then(|| PathBuf::from(text))
}

fn known_file(typed: &Typed) -> Option<(PathBuf, u64)> {
    let entries = match typed.url_hash_entries {
        0 => return None,
        entries => u64::try_from(entries).unwrap_or(HASH_ENTRIES),
    };
    path(&typed.url_hash_filename).map(|path| (path, entries))
}

fn view(typed: &Typed, url_mode: bool) -> Result<View, ToolShown> {
    let average_over = whole("average_over", typed.average_over, 1..=3600)?;
    let interval_s = whole("interval", typed.interval, 0..=LONG_S)?;
    let endless = typed.urls_order != "once";
    let lines = !url_mode || typed.client_rate > 0 || endless;
    Ok(View {
        interval_s: if lines { interval_s } else { 0 },
        average_over: if url_mode { 1 } else { average_over },
        old_averages: typed.old_averages,
        totals_at_end: url_mode || typed.bandwidth_test > 0,
        url_mode,
        show_urls: typed.show_urls || typed.verbose,
        show_headers: typed.show_headers || typed.verbose,
        errors: typed.verbose_errors,
        dump: path(&typed.urlsdump).filter(|_| url_mode),
        known_file: known_file(typed).filter(|_| url_mode),
        origin_ends_after: stop(typed)?.after,
    })
}

fn plan(typed: &Typed, list: Option<List>, now_seed: u64) -> Result<Plan, ToolShown> {
    let timeout = timeout(typed)?;
    let site = site(typed)?;
    let (load, origin) = match list {
        Some(list) => (Some(url_load(typed, list, timeout)?), None),
        None => (document_load(typed, timeout)?, origin(typed)?),
    };
    if load.is_none() && origin.is_none() {
        return Err(shown::refused(
            "nothing would run: there are no clients (-Y, -p 0 or -c 0), and no origin (-y)".to_owned(),
        ));
    }
    let threads = whole("threads", typed.threads, 0..=4096)?;
    let seed = if typed.drand == 0 { now_seed } else { typed.drand as u64 };
    let threads = Some(threads).filter(|threads| *threads > 0);
    let io = Io::parse(&typed.io).map_err(|why| shown::refused(format!("--io {}: {why}", typed.io)))?;
    Ok(Plan { version: Plan::VERSION, seed, threads, io, site, load, origin })
}

fn timeout(typed: &Typed) -> Result<Duration, ToolShown> {
    let refuse = |why: String| shown::refused(format!("--timeout {why}"));
    let timeout = units::duration(&typed.timeout).map_err(|error| refuse(error.to_string()))?;
    if timeout.is_zero() { Err(refuse("0: give more than 0, such as 1h".to_owned())) } else { Ok(timeout) }
}

/// Returns the site, known to both sides: documents, their sizes and what the origin says of them.
fn site(typed: &Typed) -> Result<Site, ToolShown> {
    let form = JtestForm {
        embed_path: typed.embed_url,
        content_type: content_type(typed),
        no_cache: typed.no_cache != 0,
        not_modified: share("ims_rate", typed.ims_rate)?,
        extension: extension(typed),
        post: typed.post_support != 0,
    };
    Ok(Site {
        form: site::SiteForm::Jtest(form),
        size: size(typed)?,
        lifetime: Lifetime::Fixed { max_age: MAX_AGE },
        change_every: None,
        etag: false,
        last_modified: true,
        variants: whole("alternates", typed.alternates, 0..=1_000_000)?,
        vary_on: if typed.vary_user_agent != 0 { VaryOn::UserAgent } else { VaryOn::Cookie },
        ..Site::default()
    })
}

fn content_type(typed: &Typed) -> ContentType {
    match typed.content_type {
        1 => ContentType::Html,
        2 => ContentType::Jpeg,
        _ if typed.alternates > 0 => ContentType::Jpeg,
        _ if typed.only_server => ContentType::JpegForCookies,
        _ => ContentType::Html,
    }
}

fn extension(typed: &Typed) -> Extension {
    match typed.request_extension {
        1 => Extension::Html,
        2 => Extension::Jpeg,
        3 => Extension::Slash,
        _ => Extension::None,
    }
}

fn size(typed: &Typed) -> Result<Size, ToolShown> {
    match typed.docsize {
        ..0 => Ok(Size::Table),
        size => whole("docsize", size, 0..=site::MAX_SIZE as i64).map(Size::Fixed),
    }
}

/// The clients of the synthetic documents; none with `-Y`, `-p 0`, or neither `-c` nor `-e`.
fn document_load(typed: &Typed, timeout: Duration) -> Result<Option<Load>, ToolShown> {
    let target = target(typed)?;
    let pace = pace(typed, timeout, false)?;
    let Some(pace) = pace.filter(|_| !typed.only_server && target.is_some()) else { return Ok(None) };
    let http = Http {
        authority: address(server_host(typed)?, server_port(typed)?),
        fields: extra_fields(typed)?,
        post_bytes: post_bytes(typed)?,
        tls: secure_proxy(typed)?.then(trusting),
        h1: Http1 { form: request_form(typed)?, ..Http1::default() },
        ..connection(typed)?
    };
    let step = Step::Object(object_step(typed)?);
    Ok(Some(Load { target, ..load(typed, http, document_check(typed), step, pace, timeout)? }))
}

/// The clients that fetch URLs, through the proxy or, with `-p 0`, from the hosts that they name.
fn url_load(typed: &Typed, list: List, timeout: Duration) -> Result<Load, ToolShown> {
    let target = target(typed)?;
    let Some(pace) = pace(typed, timeout, true)? else {
        return Err(shown::refused("-c 0: nothing would be fetched; give at least 1".to_owned()));
    };
    let mut fields = vec![field("Accept", "*/*")];
    fields.extend(extra_fields(typed)?);
    let form = if target.is_some() { RequestForm::Forward } else { RequestForm::Reverse };
    let tls = (list.https || secure_proxy(typed)?).then(trusting);
    // Through a proxy, https:// URLs are reached by a tunnel.
    let tunnel = list.https && target.is_some();
    let http = Http { fields, tls, tunnel, h1: Http1 { form, ..Http1::default() }, ..connection(typed)? };
    let step = Step::Urls(url_step(typed, list)?);
    // Nobody but the origin knows what the answer to a URL must be, unless it is one of jtest's documents.
    let content = if typed.check_content { CheckContent::All } else { CheckContent::Nothing };
    let check = Check { content, length: !typed.nocheck_length, ..Check::default() };
    Ok(Load { target, ..load(typed, http, check, step, pace, timeout)? })
}

/// Returns the settings that both kinds of load have in common; the target is left to the caller.
fn load(
    typed: &Typed,
    http: Http,
    check: Check,
    step: Step,
    pace: Pace,
    timeout: Duration,
) -> Result<Load, ToolShown> {
    let phase = Phase {
        name: "jtest".to_owned(),
        measured: true,
        scenario: Scenario::of(vec![step]),
        pace,
        stop: stop(typed)?,
        ..Phase::default()
    };
    let limits = LoadLimits::default();
    Ok(Load {
        protocol: Protocol::Http(http),
        check,
        limits: LoadLimits { connect: limits.connect.min(timeout), request: timeout, ..limits },
        phases: vec![phase],
        trace: Trace {
            urls: typed.show_urls || typed.verbose,
            heads: typed.show_headers || typed.verbose,
            errors: typed.verbose_errors,
            ..Trace::default()
        },
        ..Load::default()
    })
}

/// How the clients' connections live, whatever is sent over them.
fn connection(typed: &Typed) -> Result<Http, ToolShown> {
    // The old tool counts the requests that ask to keep the connection; one that does not comes after them.
    let kept: u32 = whole("keepalive", typed.keepalive, 0..=1_000_000_000)?;
    // And where a kept connection ends without an answer, that is one of its errors.
    let resend = Resend::Never;
    Ok(Http { requests_per_connection: Some(kept + 1), close: CloseBy::Reset, resend, ..Http::default() })
}

/// TLS as the old tool would have it, which verified nobody.
fn trusting() -> Tls {
    Tls { verify: false, ..Tls::like_openssl() }
}

/// The proxy's host, and whether it is spoken to over TLS, as `https://` before it says.
fn proxy_host(typed: &Typed) -> Result<(&str, bool), ToolShown> {
    match typed.proxy_host.split_once("://") {
        None if typed.proxy_host.is_empty() => Ok((server_host(typed)?, false)),
        Some((scheme @ ("http" | "https"), host)) => {
            Ok((sound_host("proxy_host", host.trim_end_matches('/'))?, scheme == "https"))
        }
        _ => Ok((sound_host("proxy_host", &typed.proxy_host)?, false)),
    }
}

fn secure_proxy(typed: &Typed) -> Result<bool, ToolShown> {
    Ok(target(typed)?.is_some() && proxy_host(typed)?.1)
}

fn target(typed: &Typed) -> Result<Option<String>, ToolShown> {
    let port: u16 = whole("proxy_port", typed.proxy_port, 0..=65_535)?;
    let (host, _) = proxy_host(typed)?;
    Ok((port != 0).then(|| address(host, port)))
}

fn server_host(typed: &Typed) -> Result<&str, ToolShown> {
    match typed.server_host.as_str() {
        "" => Ok("localhost"),
        host => sound_host("server_host", host),
    }
}

fn server_port(typed: &Typed) -> Result<u16, ToolShown> {
    match typed.server_port {
        0 if typed.proxy_port > 64_535 => Err(shown::refused(format!(
            "-p {}: the origin's port is 1000 above the proxy's, which is too high: give one with -s",
            typed.proxy_port
        ))),
        0 => whole("server_port", typed.proxy_port + 1000, 1..=65_535),
        port => whole("server_port", port, 1..=65_535),
    }
}

fn sound_host<'a>(name: &str, host: &'a str) -> Result<&'a str, ToolShown> {
    let unsound = |c: char| c.is_whitespace() || c.is_control() || c == '/' || c == '@';
    if host.contains(unsound) {
        let shown = Masked::address(host).to_string();
        return Err(shown::refused(format!("{} '{}': that is no host", label(name), shown.escape_debug())));
    }
    Ok(host)
}

fn address(host: &str, port: u16) -> String {
    let bare_v6 = host.contains(':') && !host.starts_with('[');
    if bare_v6 { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

fn request_form(typed: &Typed) -> Result<RequestForm, ToolShown> {
    Ok(match whole::<u8>("hostrequest", typed.hostrequest, 0..=2)? {
        0 => RequestForm::Forward,
        1 => RequestForm::Reverse,
        _ => RequestForm::Transparent,
    })
}

/// The fields of `-n`: a browser's two of 1998, then fillers counted down to 1. With `-2` the browser's name is left to
/// the alternates, and a filler more takes its place.
fn extra_fields(typed: &Typed) -> Result<Vec<Field>, ToolShown> {
    let count: usize = whole("extra_headers", typed.extra_headers, 0..=MAX_EXTRA_FIELDS)?;
    let mut browser = vec![
        field("User-Agent", "Mozilla/4.04 [en] (X11; I; Linux 2.0.31 i586)"),
        field("Accept", "image/gif, image/x-xbitmap, image/jpeg, image/pjpeg, image/png, */*"),
    ];
    if typed.vary_user_agent != 0 {
        browser.remove(0);
    }
    browser.truncate(count);
    let fillers = (1..=count - browser.len()).rev();
    browser.extend(
        fillers.map(|n| field(&format!("Extra-Header{n}"), &format!("a lot of junk for header {n}"))),
    );
    Ok(browser)
}

fn field(name: &str, value: &str) -> Field {
    Field::new(name, value)
}

fn post_bytes(typed: &Typed) -> Result<Option<u64>, ToolShown> {
    let size: u64 = whole("post_size", typed.post_size, 0..=site::MAX_SIZE as i64)?;
    match whole::<u8>("post_support", typed.post_support, 0..=2)? {
        0 => Ok(None),
        1 => Ok(Some(0)),
        _ if size == 0 => {
            Err(shown::refused("--post_support 2 needs a --post_size of at least 1".to_owned()))
        }
        _ => Ok(Some(size)),
    }
}

fn document_check(typed: &Typed) -> Check {
    let content = match (typed.check_content, typed.embed_url) {
        (true, _) => CheckContent::All,
        (false, true) => CheckContent::Prefix,
        (false, false) => CheckContent::Nothing,
    };
    let cuts_expected = typed.server_abort_rate > 0.0;
    Check { content, length: !typed.nocheck_length, cuts_expected, ..Check::default() }
}

fn object_step(typed: &Typed) -> Result<ObjectStep, ToolShown> {
    Ok(ObjectStep {
        popularity: popularity(typed)?,
        reload: share("reload_rate", typed.reload_rate)?,
        range: if typed.range_mode != 0 { 1.0 } else { 0.0 },
        abort: share("client_abort_rate", typed.client_abort_rate)?,
        reading: reading(typed)?,
        ..ObjectStep::default()
    })
}

fn popularity(typed: &Typed) -> Result<Popularity, ToolShown> {
    let drift_per_hour = within("evo_rate", typed.evo_rate, 0.0..=1e6)?;
    let set = Popularity { drift_per_hour, set: 0, ..Popularity::default() };
    if typed.zipf != 0.0 {
        let law = Law::Zipf { alpha: within("zipf", typed.zipf, 0.0..=10.0)? };
        return Ok(Popularity { hot: ZIPF_OBJECTS, law, one_timers: 0.0, ..set });
    }
    let hot = whole("hotset", typed.hotset, 1..=1 << 32)?;
    let one_timers = units::rest_of(share("hitrate", typed.hitrate)?);
    Ok(Popularity { hot, law: Law::Uniform, one_timers, ..set })
}

fn reading(typed: &Typed) -> Result<Reading, ToolShown> {
    let bytes_per_second = per_second("client_speed", typed.client_speed)?;
    Ok(Reading {
        bytes_per_second,
        slow: if bytes_per_second.is_some() { 1.0 } else { 0.0 },
        give_up: give_up(typed)?,
    })
}

fn give_up(typed: &Typed) -> Result<Option<GiveUp>, ToolShown> {
    let after_s = whole("abort_retry_secs", typed.abort_retry_secs, 0..=LONG_S)?;
    let after_bytes = whole("abort_retry_bytes", typed.abort_retry_bytes, 0..=i64::MAX)?;
    let speed = per_second("abort_retry_speed", typed.abort_retry_speed)?;
    Ok(speed.map(|below_bytes_per_second| GiveUp {
        below_bytes_per_second,
        after: Duration::from_secs(after_s),
        after_bytes,
    }))
}

fn url_step(typed: &Typed, list: List) -> Result<UrlStep, ToolShown> {
    let order = url_order(typed)?;
    let entries: u32 = whole("url_hash_entries", typed.url_hash_entries, -1..=i64::from(u32::MAX))
        .map(|entries: i64| if entries > 0 { entries as u32 } else { HASH_ENTRIES as u32 })?;
    Ok(UrlStep {
        urls: list.urls,
        order,
        redirects: typed.obey_redirects,
        links: typed.follow,
        embedded: typed.fullpage,
        only_host: list.last_host.filter(|_| typed.same_host),
        once_each: order == UrlOrder::Once && typed.url_hash_entries != 0,
        known: Vec::new(),
        queue: entries,
        reload: share("reload_rate", typed.reload_rate)?,
    })
}

fn url_order(typed: &Typed) -> Result<UrlOrder, ToolShown> {
    match typed.urls_order.as_str() {
        "once" => Ok(UrlOrder::Once),
        "loop" => Ok(UrlOrder::Loop),
        "random" => Ok(UrlOrder::Random),
        other => Err(shown::refused(format!("--urls-order '{other}': give once, loop or random"))),
    }
}

/// `-e` goes before `-c`; `None` where both are 0.
fn pace(typed: &Typed, timeout: Duration, url_mode: bool) -> Result<Option<Pace>, ToolShown> {
    let max = i64::from(::plan::check::MAX_USERS);
    let users: u32 = whole("clients", typed.clients, 0..=max)?;
    let rate: u32 = whole("client_rate", typed.client_rate, 0..=1_000_000_000)?;
    let cap: u32 = whole("keepalive_cons", typed.keepalive_cons, 0..=max)?;
    if rate == 0 {
        return Ok((users > 0).then_some(Pace::Users(users)));
    }
    // `-K` has a default that the old tool went beyond by `-e` a second, so only a typed one is a cap.
    let cap = Some(cap).filter(|cap| url_mode && *cap > 0 && typed.given.contains("keepalive_cons"));
    // A request ends at its timeout, so that no more than this are ever under way.
    let enough = (f64::from(rate) * timeout.as_secs_f64()).clamp(IN_FLIGHT.0, IN_FLIGHT.1);
    Ok(Some(Pace::Rate {
        per_second: f64::from(rate),
        arrivals: Arrivals::EachSecond,
        in_flight: cap.unwrap_or(enough as u32),
    }))
}

fn stop(typed: &Typed) -> Result<Stop, ToolShown> {
    let seconds = whole("test_time", typed.test_time, 0..=LONG_S)?;
    let requests = whole("bandwidth_test", typed.bandwidth_test, 0..=i64::MAX)?;
    Ok(Stop {
        after: Some(Duration::from_secs(seconds)).filter(|after| !after.is_zero()),
        requests: Some(requests).filter(|requests| *requests > 0),
        ..Stop::default()
    })
}

/// The origin; none with `-y`. It listens on every address, since the proxy may be on another machine.
fn origin(typed: &Typed) -> Result<Option<Origin>, ToolShown> {
    if typed.only_clients {
        return Ok(None);
    }
    let answers: u32 = whole("skeepalive", typed.skeepalive, 0..=i64::from(u32::MAX))?;
    let delay_ms = whole("server_delay", typed.server_delay, 0..=Delay::MAX.as_millis() as i64)?;
    Ok(Some(Origin {
        listen: address("0.0.0.0", server_port(typed)?),
        further_ports: FURTHER_PORTS,
        requests_per_connection: Some(answers).filter(|answers| *answers > 0),
        delay: match Duration::from_millis(delay_ms) {
            Duration::ZERO => Delay::None,
            delay => Delay::Fixed { delay },
        },
        bytes_per_second: per_second("server_speed", typed.server_speed)?,
        aborts: share("server_abort_rate", typed.server_abort_rate)?,
        ..Origin::default()
    }))
}

/// A speed; 0 is none.
fn per_second(name: &str, value: i64) -> Result<Option<u64>, ToolShown> {
    whole(name, value, 0..=i64::MAX).map(|speed| Some(speed).filter(|speed| *speed > 0))
}

fn whole<T: TryFrom<i64>>(name: &str, value: i64, range: RangeInclusive<i64>) -> Result<T, ToolShown> {
    let inside = Some(value).filter(|value| range.contains(value));
    inside.and_then(|value| T::try_from(value).ok()).ok_or_else(|| {
        let (least, most) = range.into_inner();
        let wanted = match most {
            i64::MAX => format!("{least} or more"),
            most => format!("{least} to {most}"),
        };
        shown::refused(format!("{} {value}: give {wanted}", label(name)))
    })
}

fn within(name: &str, value: f64, range: RangeInclusive<f64>) -> Result<f64, ToolShown> {
    if range.contains(&value) {
        return Ok(value);
    }
    Err(shown::refused(format!("{} {value}: give {} to {}", label(name), range.start(), range.end())))
}

fn share(name: &str, value: f64) -> Result<f64, ToolShown> {
    within(name, value, 0.0..=1.0)
}

fn label(name: &str) -> String {
    let switch = SWITCHES.iter().find(|switch| switch.name == name);
    switch.map_or_else(|| format!("--{name}"), Switch::label)
}

/// Switches that change nothing here. The old tool read `-b` and `-d` nowhere and lost the effect of `-7`; buffers are
/// not the user's business here, and an answer ends at its Content-Length anyway (`-T`).
const WITHOUT_EFFECT: [&str; 5] = ["sbuffersize", "cbuffersize", "drop_after_CL", "zipf_bucket", "debug"];

/// Switches whose meaning differs enough that figures do too.
const TAKEN_DIFFERENTLY: [(&str, &str); 5] = [
    ("server_speed", "-r is smooth here; the old tool sent a second's bytes at once"),
    ("server_delay", "-w counts from each request here; the old tool counted from the answer before it"),
    ("abort_retry_speed", "-o replaces the request that it breaks off; in the old tool each added a client"),
    ("zipf", "-8 follows its law here and a rank has one URL, so hit ratios are higher than the old tool's"),
    ("range_mode", "--range_mode: documents keep their size and the origin sends the range asked for"),
];

/// Returns notices about what this command line would have meant otherwise, a line each. `urls`: how many there are,
/// in that mode.
fn taken_differently(typed: &Typed, urls: Option<usize>) -> Vec<String> {
    let mut notices = Vec::new();
    let url_mode = urls.is_some();
    let (elsewhere, mode) = match url_mode {
        true => (JtestScope::Documents, "with URLs"),
        false => (JtestScope::Urls, "without URLs"),
    };
    let given = |switch: &&Switch| typed.given.contains(switch.name);
    let idle = SWITCHES.iter().filter(given).filter(|switch| switch.scope == elsewhere);
    notices.extend(no_effect(idle, mode));
    let unused = SWITCHES.iter().filter(given).filter(|switch| WITHOUT_EFFECT.contains(&switch.name));
    notices.extend(no_effect(unused, "here"));
    let differs = TAKEN_DIFFERENTLY.iter().filter(|(name, _)| !url_mode && typed.given.contains(name));
    notices.extend(differs.map(|(_, text)| (*text).to_owned()));
    notices.extend(by_circumstance(typed, urls));
    notices
}

fn no_effect<'a>(switches: impl Iterator<Item = &'a Switch>, place: &str) -> Option<String> {
    let labels: Vec<String> = switches.map(Switch::label).collect();
    let has = if labels.len() == 1 { "has" } else { "have" };
    (!labels.is_empty()).then(|| format!("{} {has} no effect {place}", labels.join(", ")))
}

/// Notices that depend on more than one switch.
fn by_circumstance(typed: &Typed, urls: Option<usize>) -> Vec<String> {
    let given = |name| typed.given.contains(name);
    let url_mode = urls.is_some();
    let many = typed.follow || typed.fullpage || urls.is_some_and(|urls| urls as i64 > typed.clients);
    let far = !matches!(typed.proxy_host.as_str(), "" | "localhost" | "::1")
        && !typed.proxy_host.starts_with("127.");
    let clients = !url_mode && !typed.only_server && typed.proxy_port != 0;
    let table = [
        (
            given("average_over") && !typed.old_averages,
            "-a has no effect without --old-averages: a line shows its own interval",
        ),
        (
            clients && far && typed.server_host.is_empty(),
            "URLs name localhost as the origin: if the proxy is another machine, name this one with -S",
        ),
        (
            url_mode && many && typed.client_rate == 0 && !given("clients"),
            "at most 100 URLs are fetched at once; -c sets another number",
        ),
        (typed.only_server && given("client_rate") && !url_mode, "-e starts no clients beside -Y"),
        (url_mode && given("keepalive_cons") && typed.client_rate == 0, "-K has no effect without -e"),
        (url_mode && typed.url_hash_entries < 0, "-q -1 counts as 1000000"),
    ];
    table.into_iter().filter(|(applies, _)| *applies).map(|(_, text)| text.to_owned()).collect()
}
