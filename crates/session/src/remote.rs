//! Joining the accounts of origins that run on other machines: they are asked for through the proxies, under the origin's control
//! path, in the same form of request as the load; or at the origins themselves.

use crate::options::SessionOptions;
use crate::targets::Targets;
use measure::{OriginCounts, notes};
use plan::site::CONTROL_PREFIX;
use plan::{Load, Plan, RequestForm};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use wire::tls::TlsClient;

/// How often the accounts are asked for while the run goes on.
const EVERY: Duration = Duration::from_millis(500);
/// Time limit of one question.
const LIMIT: Duration = Duration::from_secs(2);
/// An answer is not read any further than this.
const ANSWER_MAX: u64 = 1 << 20;

/// Where the accounts are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AskAt {
    /// Through these proxies, which are what is pressed.
    Proxies(Vec<SocketAddr>),
    /// At the origins themselves.
    Origins(Vec<SocketAddr>),
}

/// The accounts of origins elsewhere, as a sum.
pub struct Remote {
    /// One for each origin.
    askers: Vec<Asker>,
    first: OriginCounts,
    latest: Arc<Mutex<Vec<LastCounts>>>,
    /// Origins that did not answer when they were asked last.
    gone: Vec<usize>,
    /// Serial numbers of exchanges that the origin is to be asked for; gone at the end.
    questions: Option<Sender<u64>>,
    follower: Option<JoinHandle<Heads>>,
}

/// Counts that an origin told last, and when.
#[derive(Debug, Clone, Copy)]
struct LastCounts {
    counts: OriginCounts,
    at: Instant,
}

/// The heads of exchanges as the origin saw them, request and answer, by the answer's serial number.
pub type Heads = BTreeMap<u64, (String, String)>;

/// How the origin is asked.
#[derive(Debug, Clone)]
struct Asker {
    /// A proxy before it, or itself.
    at: SocketAddr,
    form: RequestForm,
    authority: String,
    /// The TLS client, and the host that it begins TLS with.
    tls: Option<(TlsClient, String)>,
}

#[derive(serde::Deserialize)]
struct Accounts {
    counts: OriginCounts,
    site: String,
    /// Which origin this is, of all that there are.
    #[serde(default)]
    instance: Option<String>,
}

/// Origins that answered.
#[derive(Default)]
struct OriginsFound {
    askers: Vec<Asker>,
    told: Vec<Accounts>,
}

impl OriginsFound {
    /// Asks each way for its origin; several may lead to one, which is asked once.
    fn by(ways: Vec<Asker>) -> Result<OriginsFound, String> {
        let mut found = OriginsFound::default();
        for asker in ways {
            let accounts = asker.accounts()?;
            let is_known =
                found.told.iter().any(|told| told.instance.is_some() && told.instance == accounts.instance);
            if !is_known {
                found.askers.push(asker);
                found.told.push(accounts);
            }
        }
        Ok(found)
    }
}

/// The accounts of origins elsewhere, where a run is to have them.
pub(crate) fn of_run(
    plan: &Plan,
    around: &SessionOptions,
    targets: &Targets,
    tls: Option<TlsClient>,
    notes: &mut Vec<String>,
) -> Option<Remote> {
    let load = plan.load.as_ref()?;
    if plan.origin.is_some() || !around.join_remote || targets.pressed.is_empty() {
        return None;
    }
    let at = match around.origins.is_empty() {
        true => {
            Ok(AskAt::Proxies(targets.pressed.iter().filter_map(|host| host.at.first().copied()).collect()))
        }
        false => crate::targets::looked_up(&around.origins).map(AskAt::Origins),
    };
    let asked = at.map_err(|problem| problem.to_string());
    match asked.and_then(|at| Remote::new(load, &at, tls, plan.site.fingerprint())) {
        Ok((remote, found)) => {
            notes.extend(found);
            Some(remote)
        }
        Err(why) => {
            notes.push(notes::NOT_JOINED.with(&[&why]));
            None
        }
    }
}

impl Remote {
    /// Asks for the accounts once, and from then on twice a second. Returns notes where the sites differ, and where there are several
    /// origins.
    pub fn new(
        load: &Load,
        at: &AskAt,
        tls: Option<TlsClient>,
        fingerprint: u64,
    ) -> Result<(Remote, Vec<String>), String> {
        let http = load.protocol.http().ok_or("messages are spoken, not HTTP")?;
        let host = load.target.as_deref().unwrap_or_default();
        let host = host.rsplit_once(':').map_or(host, |(host, _)| host).to_owned();
        let (addresses, form, tls) = match at {
            AskAt::Proxies(addresses) => (addresses, http.h1.form, tls.map(|client| (client, host))),
            AskAt::Origins(addresses) => (addresses, RequestForm::Reverse, None),
        };
        let asker =
            |at: &SocketAddr| Asker { at: *at, form, authority: http.authority.clone(), tls: tls.clone() };
        let OriginsFound { askers, told } = OriginsFound::by(addresses.iter().map(asker).collect())?;
        let differs = told.iter().any(|one| u64::from_str_radix(&one.site, 16) != Ok(fingerprint));
        let several = (askers.len() > 1).then(|| {
            format!(
                "the origin's side is the sum of {} origins; what they saw of single exchanges is not asked for",
                askers.len()
            )
        });
        let notes = differs.then(|| notes::OTHER_OBJECTS.with(&[])).into_iter().chain(several).collect();
        let now = Instant::now();
        let latest = told.iter().map(|one| LastCounts { counts: one.counts, at: now }).collect();
        let latest: Arc<Mutex<Vec<LastCounts>>> = Arc::new(Mutex::new(latest));
        let (questions, asked) = channel();
        let askers_of_thread = askers.clone();
        let latest_of_thread = latest.clone();
        let follower = std::thread::spawn(move || follow(&askers_of_thread, &latest_of_thread, &asked));
        let remote = Remote {
            askers,
            first: sum(told.iter().map(|one| one.counts)),
            latest,
            gone: Vec::new(),
            questions: Some(questions),
            follower: Some(follower),
        };
        Ok((remote, notes))
    }

    /// The counters before the run.
    pub fn first(&self) -> OriginCounts {
        self.first
    }

    /// The counters as last heard of.
    pub fn latest(&self) -> OriginCounts {
        sum(self.heard().iter().map(|one| one.counts))
    }

    fn heard(&self) -> Vec<LastCounts> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// When its accounts end, where an origin did not answer when it was asked last.
    pub fn silent_since(&self) -> Option<Instant> {
        let heard = self.heard();
        self.gone.iter().filter_map(|origin| heard.get(*origin)).map(|one| one.at).min()
    }

    /// Asks for the heads of an exchange, in its turn; [`Remote::refresh`] returns the answers. Of several origins nobody knows whose
    /// number it is.
    pub fn ask_for(&self, serial: u64) {
        if let Some(questions) = self.questions.as_ref().filter(|_| self.askers.len() == 1) {
            // The one who asks ends no sooner than this sender does.
            let _ = questions.send(serial);
        }
    }

    /// Asks once more for the accounts, now, and returns the heads that were asked for. To be called once.
    pub fn refresh(&mut self) -> Heads {
        for (origin, asker) in self.askers.iter().enumerate() {
            match asker.accounts() {
                Ok(accounts) => set(&self.latest, origin, accounts.counts),
                Err(_) => self.gone.push(origin),
            }
        }
        self.questions = None;
        self.follower.take().and_then(|follower| follower.join().ok()).unwrap_or_default()
    }
}

fn sum(counts: impl Iterator<Item = OriginCounts>) -> OriginCounts {
    counts.fold(OriginCounts::default(), |mut sum, one| {
        sum.merge(&one);
        sum
    })
}

/// Asks for the accounts twice a second, and for heads as soon as they are wanted, because the origin forgets them.
fn follow(askers: &[Asker], latest: &Mutex<Vec<LastCounts>>, questions: &Receiver<u64>) -> Heads {
    let mut heads = Heads::new();
    let mut silent = false;
    let mut next = Instant::now() + EVERY;
    loop {
        match questions.recv_timeout(next.saturating_duration_since(Instant::now())) {
            // A proxy that does not answer is not asked twenty times, each for seconds.
            Ok(serial) if silent || heads.contains_key(&serial) => {}
            // It is asked for where there is one origin.
            Ok(serial) => match askers.first().map_or(Ok(None), |asker| asker.heads(serial)) {
                Ok(found) => heads.extend(found.map(|found| (serial, found))),
                Err(_) => silent = true,
            },
            Err(RecvTimeoutError::Timeout) => {
                for (origin, asker) in askers.iter().enumerate() {
                    if let Ok(accounts) = asker.accounts() {
                        set(latest, origin, accounts.counts);
                    }
                }
                next = Instant::now() + EVERY;
            }
            Err(RecvTimeoutError::Disconnected) => return heads,
        }
    }
}

fn set(latest: &Mutex<Vec<LastCounts>>, origin: usize, counts: OriginCounts) {
    let mut latest = latest.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(last) = latest.get_mut(origin) {
        *last = LastCounts { counts, at: Instant::now() };
    }
}

impl Asker {
    fn accounts(&self) -> Result<Accounts, String> {
        let text = match self.ask("accounts")? {
            (200, text) => text,
            (status, _) => return Err(format!("status {status} of {}", self.at)),
        };
        serde_json::from_str(&text)
            .map_err(|error| format!("the answer is not an origin's accounts: {error}"))
    }

    /// The heads of an exchange, request and answer, where the origin still remembers it.
    fn heads(&self, serial: u64) -> Result<Option<(String, String)>, String> {
        let (status, text) = self.ask(&format!("exchange/{serial:x}"))?;
        let heads = text.split_once("\r\n\r\n").filter(|_| status == 200);
        Ok(heads.map(|(request, answer)| (request.to_owned(), answer.to_owned())))
    }

    /// Asks through the proxy and returns status and body; the query keeps the answer from coming out of a cache.
    fn ask(&self, what: &str) -> Result<(u16, String), String> {
        let unique = super::usage::unix_seconds();
        let path = format!("{CONTROL_PREFIX}{what}?{unique:.6}");
        let target =
            if self.form == RequestForm::Forward { format!("http://{}{path}", self.authority) } else { path };
        let request = format!(
            "GET {target} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nCache-Control: no-cache\r\n\r\n",
            self.authority
        );
        let answer =
            self.exchange(&request).map_err(|error| format!("{} did not answer: {error}", self.at))?;
        let mut body = Body::default();
        let mut reader = wire::http1::ResponseReader::new(wire::http1::Http1Limits::default());
        let complete = reader
            .read(&answer, &mut body)
            .and_then(|progress| if progress.done { Ok(()) } else { reader.end_of_stream(&mut body) });
        complete.map_err(|error| error.to_string())?;
        let text = String::from_utf8(body.bytes).map_err(|error| error.to_string())?;
        Ok((body.status, text))
    }

    fn exchange(&self, request: &str) -> std::io::Result<Vec<u8>> {
        let until = Instant::now() + LIMIT;
        let mut stream = TcpStream::connect_timeout(&self.at, LIMIT)?;
        stream.set_read_timeout(Some(
            until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1)),
        ))?;
        if let Some((client, host)) = &self.tls {
            return transport::one_request::exchange(
                stream,
                client,
                host,
                request.as_bytes(),
                ANSWER_MAX as usize,
            );
        }
        stream.write_all(request.as_bytes())?;
        let mut answer = Vec::new();
        stream.take(ANSWER_MAX).read_to_end(&mut answer)?;
        Ok(answer)
    }
}

#[derive(Default)]
struct Body {
    status: u16,
    bytes: Vec<u8>,
}

impl wire::http1::ResponseSink for Body {
    fn head(&mut self, head: &wire::http1::ResponseHead, _raw: &[u8]) {
        self.status = head.status;
    }

    fn body(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::net::TcpListener;

    /// Answers so many questions as an origin of this name would, which has had so many requests by each question more.
    fn origin(instance: &'static str, requests: u64) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for (asked, stream) in (1..).zip(listener.incoming()) {
                let mut stream = stream.unwrap();
                let mut read = BufReader::new(stream.try_clone().unwrap());
                let mut line = String::new();
                while read.read_line(&mut line).unwrap() > 2 {
                    line.clear();
                }
                let all = requests * asked;
                let body = format!(
                    "{{\"counts\": {{\"requests\": {all}}}, \"site\": \"7\", \"instance\": \"{instance}\"}}"
                );
                let length = body.len();
                let answer =
                    format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
                stream.write_all(answer.as_bytes()).unwrap();
            }
        });
        at
    }

    #[test]
    fn accounts_of_several_origins_are_added_up_and_those_of_one_behind_two_proxies_are_not() {
        let plan = Plan::from_text(
            "version = 1\nseed = 7\n[load]\n[load.protocol.http]\n[[load.phases]]\nname = \"measure\"\nmeasured = true\n\
             pace = { users = 4 }\nstop = { requests = 5 }\n[[load.phases.scenario.steps]]\nrequests = { requests = [{ url = \
             \"http://127.0.0.1:8080/\" }] }\n",
        );
        let load = plan.unwrap().load.unwrap();
        let one = origin("a", 10);
        let other = origin("b", 300);
        let (mut both, notes) = Remote::new(&load, &AskAt::Origins(vec![one, other]), None, 7).unwrap();
        assert_eq!((both.first().requests, notes.len()), (310, 1), "{notes:?}");
        both.refresh();
        assert!(both.latest().requests >= 620 && both.silent_since().is_none(), "{:?}", both.latest());
        let ways = AskAt::Proxies(vec![origin("c", 10), origin("c", 10), origin("d", 1)]);
        let (twice, _) = Remote::new(&load, &ways, None, 7).unwrap();
        assert_eq!((twice.first().requests, twice.askers.len()), (11, 2));
    }
}
