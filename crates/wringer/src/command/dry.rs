//! `--dry-run`: the plan, its first three requests as bytes, and what the doctor says. Nothing reaches the target: the requests go to a
//! listener of this process, which answers each with an empty page, and connections beyond this machine are refused.

use super::around;
use super::show;
use crate::problem::{Exit, Problem};
use crate::settings;
use cli::OutputArgs;
use measure::{Event, Row};
use plan::secret::{MASK, is_secret_field};
use plan::{Address, ConnectTo, Load, Pace, Phase, Plan, Protocol, Request, RequestForm, Step, Stop};
use session::doctor::{self, Facts, Need};
use session::mask::Mask;
use session::{Reach, SessionOptions, View};
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// Requests that are shown.
const SHOWN: usize = 3;
/// Bytes of a request that are shown.
const LONGEST: usize = 4096;
/// How long they are waited for.
const PATIENCE: Duration = Duration::from_secs(5);
/// Silence after which a message is taken for whole.
const QUIET: Duration = Duration::from_millis(100);

/// Shows the plan (`--show-plan`), or what would be done (`--dry-run`), where no more is asked for; `None`: the command goes on.
///
/// # Errors
/// Those of [`run`].
pub fn instead(output: &OutputArgs, plan: &Plan) -> Result<Option<Exit>, Problem> {
    if output.show_plan {
        show::write(&plan.to_shown_text());
        return Ok(Some(Exit::Ok));
    }
    output.dry_run.then(|| run(plan, SessionOptions::default())).transpose()
}

/// Shows what would be done. `around`: interprets its program texts.
pub fn run(plan: &Plan, around: SessionOptions) -> Result<Exit, Problem> {
    let found = plan.check();
    if !found.is_empty() {
        return Err(Problem::Usage(found.join("\nwringer: ")));
    }
    settings::refuse(plan)?;
    show::page("# The plan\n\n");
    show::write(&format!("{}\n", plan.to_shown_text()));
    if plan.load.is_some() {
        let requests = requests(plan, around)?;
        show::page("# The first requests\n\n");
        show::write(&requests);
    }
    let need = Need::of_plan(plan, session::threads(plan.threads), &here(plan));
    doctor::raise_descriptors();
    let findings = doctor::judge(&Facts::read(), &need);
    show::page(&format!("# What the doctor says\n\n{}", doctor::text(&need, &findings)));
    show::tell("dry run: nothing was sent to the target");
    let blocked = doctor::worst(&findings) == doctor::Level::Blocks;
    Ok(if blocked { Exit::Impossible } else { Exit::Ok })
}

/// Addresses of the target, as far as nobody must be asked for them.
fn here(plan: &Plan) -> Vec<SocketAddr> {
    let load = plan.load.as_ref();
    let target = load.and_then(|load| load.target.as_ref()?.parse().ok());
    let steps = load.into_iter().flat_map(|load| load.phases.iter().flat_map(Phase::sends));
    let hosts = steps.filter_map(|step| match step {
        Step::Requests(step) => Address::parse(step.requests.get(0)?.url),
        _ => None,
    });
    let of_host = |address: Address| match address.host.as_str() {
        "localhost" => Some(SocketAddr::from((Ipv4Addr::LOCALHOST, address.port))),
        host => host.parse::<IpAddr>().ok().map(|ip| SocketAddr::from((ip, address.port))),
    };
    target.into_iter().chain(hosts.filter_map(of_host)).take(1).collect()
}

/// The first requests as they would be sent.
fn requests(plan: &Plan, around: SessionOptions) -> Result<String, Problem> {
    let is_http = plan.load.as_ref().is_some_and(|load| load.protocol.http().is_some());
    let no_listener = |error| Problem::impossible(format!("no listener on this machine: {error}"));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(no_listener)?;
    let at = listener.local_addr().map_err(no_listener)?;
    let (tell, told) = channel();
    std::thread::spawn(move || listen(&listener, &tell, is_http));
    let (redirected, notes) = redirected(plan, at);
    let around = SessionOptions {
        take_silent: true,
        guard: None,
        confined: false,
        reach: Some(Reach::to(&[])?),
        ..around::options(around)?
    };
    session::prepare(&redirected, &around, false)?.run(None, &mut Silent)?;
    Ok(shown(&told, plan, &notes))
}

/// The requests in words, secrets masked.
fn shown(told: &Receiver<Vec<u8>>, plan: &Plan, notes: &[String]) -> String {
    let mask = Mask::of(plan);
    let mut text = String::new();
    notes.iter().for_each(|note| text += &format!("({note})\n"));
    let mut count = 0;
    for bytes in told.try_iter().take(SHOWN) {
        count += 1;
        let part = &bytes[..bytes.len().min(LONGEST)];
        let printed = String::from_utf8_lossy(part).replace("\r\n", "\n");
        let (head, body) = printed.split_once("\n\n").unwrap_or((&printed, ""));
        let head: Vec<String> = head.lines().map(without_secret).collect();
        let whole = format!("{}\n\n{body}", head.join("\n"));
        text += &format!("--- request {count}, {} bytes\n{}\n", bytes.len(), mask.text(&whole).trim_end());
    }
    if count == 0 {
        text += "none: the plan's first phase sends nothing by itself\n";
    }
    text + "\n"
}

/// A line of a head; what is a secret by its name is masked.
fn without_secret(line: &str) -> String {
    match line.split_once(':').filter(|(name, _)| is_secret_field(name)) {
        Some((name, _)) => format!("{name}: {MASK}"),
        None => line.to_owned(),
    }
}

/// The plan with everything that it sends going to one listener, three requests of its first phase; and what of it is not as
/// it would be.
fn redirected(plan: &Plan, to: SocketAddr) -> (Plan, Vec<String>) {
    let mut notes = Vec::new();
    let mut plan = plan.clone();
    (plan.origin, plan.threads) = (None, Some(1));
    if let Some(load) = &mut plan.load {
        calm(load);
        let is_over_tls = load.protocol.http().is_some_and(|http| http.tls.is_some()) && says_tls(load);
        load.phases.iter_mut().flat_map(Phase::sends_mut).for_each(without_tls);
        let mut target = load.target.is_some().then(|| to.to_string());
        match &mut load.protocol {
            Protocol::Http(http) => {
                if http.h2.is_some() || http.h3.is_some() {
                    notes.push("as HTTP/1.1 has them, which the plan would speak otherwise".to_owned());
                } else if is_over_tls {
                    notes.push("they would go over TLS".to_owned());
                }
                if http.tunnel {
                    notes.push("they would go through a tunnel, which CONNECT opens".to_owned());
                    (http.tunnel, http.h1.form, target) = (false, RequestForm::Reverse, None);
                }
                (http.tls, http.h2, http.h3, http.unix_socket) = (None, None, None, None);
                let any = ConnectTo {
                    host: None,
                    port: None,
                    to_host: Some(to.ip().to_string()),
                    to_port: Some(to.port()),
                };
                http.connect_to = target.is_none().then_some(any).into_iter().collect();
            }
            Protocol::Messages(messages) => messages.tls = None,
        }
        load.target = target;
    }
    (plan, notes)
}

/// One user, three requests, nothing that ends or judges the run.
fn calm(load: &mut Load) {
    load.fail_if.clear();
    load.require.clear();
    load.stop_if.clear();
    load.sources.clear();
    load.phases.truncate(1);
    for phase in &mut load.phases {
        phase.pace = Pace::Users(1);
        (phase.preconnect, phase.http) = (None, Vec::new());
        phase.groups.truncate(1);
        let few = |stop: &Stop| Stop {
            requests: Some(stop.requests.unwrap_or(u64::MAX).min(SHOWN as u64)),
            after: Some(PATIENCE),
            ..Stop::default()
        };
        for group in &mut phase.groups {
            (group.pace, group.share, group.start) = (Pace::Users(1), None, Duration::ZERO);
            (group.stop, group.http) = (few(&group.stop), Vec::new());
        }
        // Each group says for itself how many.
        let all = Stop { after: Some(PATIENCE), ..Stop::default() };
        phase.stop = if phase.groups.is_empty() { few(&phase.stop) } else { all };
    }
}

/// True if its requests go over TLS, and not only those that an answer may lead to.
fn says_tls(load: &Load) -> bool {
    load.phases.iter().flat_map(Phase::sends).any(|step| {
        let Step::Requests(step) = step else { return true };
        step.requests.iter().any(|listed| listed.url.starts_with("https://"))
    })
}

/// The same without TLS: the bytes within are the same.
fn without_tls(step: &mut Step) {
    let plain = |request: &mut Request| {
        if let Some(rest) = request.url.strip_prefix("https://") {
            request.url = format!("http://{rest}");
        }
    };
    if let Step::Requests(step) = step {
        if step.requests.iter().any(|listed| listed.url.starts_with("https://")) {
            let mut all = step.requests.to_vec();
            all.iter_mut().for_each(plain);
            step.requests = all.into();
        }
        step.session.login.iter_mut().for_each(plain);
    }
}

/// Takes connections until the process ends.
fn listen(listener: &TcpListener, tell: &Sender<Vec<u8>>, is_http: bool) {
    for stream in listener.incoming().flatten() {
        let tell = tell.clone();
        std::thread::spawn(move || if is_http { pages(stream, &tell) } else { message(stream, &tell) });
    }
}

/// Tells each request, and answers it with an empty page.
fn pages(mut stream: TcpStream, tell: &Sender<Vec<u8>>) {
    let mut buffer = Vec::new();
    let mut more = [0; 16 * 1024];
    loop {
        while let Some(end) = request_end(&buffer) {
            let rest = buffer.split_off(end);
            let whole = std::mem::replace(&mut buffer, rest);
            let answered = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
            if tell.send(whole).is_err() || answered.is_err() {
                return;
            }
        }
        match stream.read(&mut more) {
            Ok(0) | Err(_) => return,
            Ok(count) => buffer.extend_from_slice(&more[..count]),
        }
    }
}

/// Where the first request ends, once it is whole.
fn request_end(bytes: &[u8]) -> Option<usize> {
    let find = |what: &[u8]| bytes.windows(what.len()).position(|window| window == what);
    let head_end = find(b"\r\n\r\n")? + 4;
    let head = String::from_utf8_lossy(&bytes[..head_end]).to_ascii_lowercase();
    let field = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    if field("transfer-encoding:").is_some_and(|coding| coding.contains("chunked")) {
        let body = &bytes[head_end..];
        let last = b"0\r\n\r\n";
        let at = body.windows(last.len()).position(|window| window == last)?;
        return Some(head_end + at + last.len());
    }
    let length: usize = field("content-length:").and_then(|length| length.parse().ok()).unwrap_or(0);
    let end = head_end.checked_add(length)?;
    (bytes.len() >= end).then_some(end)
}

/// Tells what comes until a moment of silence, and answers nothing.
fn message(mut stream: TcpStream, tell: &Sender<Vec<u8>>) {
    let mut whole = Vec::new();
    let mut more = [0; 16 * 1024];
    loop {
        match stream.read(&mut more) {
            Ok(0) => break,
            Ok(count) => whole.extend_from_slice(&more[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => break,
            Err(_) => return,
        }
        // The first bytes may take their time.
        if stream.set_read_timeout(Some(QUIET)).is_err() {
            return;
        }
    }
    if !whole.is_empty() {
        // Nobody listens any more once all are shown.
        let _ = tell.send(whole);
    }
}

/// Nobody looks on.
struct Silent;

impl View for Silent {
    fn row(&mut self, _row: &Row, _phase: &str) {}
    fn event(&mut self, _event: Event) {}
}

#[cfg(test)]
mod tests {
    use super::request_end;

    #[test]
    fn requests_end_where_their_bodies_do() {
        for (bytes, end) in [
            ("GET / HTTP/1.1\r\nHost: h\r\n\r\nGET", Some(27)),
            ("GET / HTTP/1.1\r\nHost: h\r\n", None),
            ("POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcd", Some(41)),
            ("POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nab", None),
            ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", Some(58)),
        ] {
            assert_eq!(request_end(bytes.as_bytes()), end, "{bytes:?}");
        }
    }
}
