//! Joining the accounts of an origin that runs on another machine: they are asked for through the proxy, under the
//! origin's control path, in the same form of request as the load.

use measure::{OriginCounts, notes};
use plan::site::CONTROL_PREFIX;
use plan::{Load, RequestForm};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use wire::tls::Client;

/// How often the accounts are asked for while the run goes on.
const EVERY: Duration = Duration::from_millis(500);
/// Time limit of one question.
const LIMIT: Duration = Duration::from_secs(2);
/// An answer is not read any further than this.
const ANSWER_MAX: u64 = 1 << 20;

/// The accounts of an origin elsewhere.
pub struct Remote {
    asker: Asker,
    first: OriginCounts,
    latest: Arc<Mutex<LastCounts>>,
    /// The origin did not answer when it was asked last.
    gone: bool,
    /// Serial numbers of exchanges that the origin is to be asked for; gone at the end.
    questions: Option<Sender<u64>>,
    follower: Option<JoinHandle<Heads>>,
}

/// Counts that the origin told last, and when.
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
    proxy: SocketAddr,
    form: RequestForm,
    authority: String,
    /// The TLS client, and the host that it begins TLS with.
    tls: Option<(Client, String)>,
}

#[derive(serde::Deserialize)]
struct Accounts {
    counts: OriginCounts,
    site: String,
}

impl Remote {
    /// Asks for the accounts once, and from then on twice a second. Returns a note where the sites differ.
    pub fn new(
        load: &Load,
        proxy: SocketAddr,
        tls: Option<Client>,
        fingerprint: u64,
    ) -> Result<(Remote, Option<String>), String> {
        let http = load.protocol.http().ok_or("messages are spoken, not HTTP")?;
        let host = load.target.as_deref().unwrap_or_default();
        let host = host.rsplit_once(':').map_or(host, |(host, _)| host).to_owned();
        let tls = tls.map(|client| (client, host));
        let asker = Asker { proxy, form: http.h1.form, authority: http.authority.clone(), tls };
        let accounts = asker.accounts()?;
        let differs = u64::from_str_radix(&accounts.site, 16) != Ok(fingerprint);
        let note = differs.then(|| notes::OTHER_OBJECTS.with(&[]));
        let latest = Arc::new(Mutex::new(LastCounts { counts: accounts.counts, at: Instant::now() }));
        let (questions, asked) = channel();
        let asker_of_thread = asker.clone();
        let latest_of_thread = latest.clone();
        let follower = std::thread::spawn(move || follow(&asker_of_thread, &latest_of_thread, &asked));
        let remote = Remote {
            asker,
            first: accounts.counts,
            latest,
            gone: false,
            questions: Some(questions),
            follower: Some(follower),
        };
        Ok((remote, note))
    }

    /// The counters before the run.
    pub fn first(&self) -> OriginCounts {
        self.first
    }

    /// The counters as last heard of.
    pub fn latest(&self) -> OriginCounts {
        self.heard().counts
    }

    fn heard(&self) -> LastCounts {
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// When its accounts end, where it did not answer when it was asked last.
    pub fn silent_since(&self) -> Option<Instant> {
        self.gone.then(|| self.heard().at)
    }

    /// Asks for the heads of an exchange, in its turn; [`Remote::refresh`] returns the answers.
    pub fn ask_for(&self, serial: u64) {
        if let Some(questions) = &self.questions {
            // The one who asks ends no sooner than this sender does.
            let _ = questions.send(serial);
        }
    }

    /// Asks once more for the accounts, now, and returns the heads that were asked for. To be called once.
    pub fn refresh(&mut self) -> Heads {
        match self.asker.accounts() {
            Ok(accounts) => set(&self.latest, accounts.counts),
            Err(_) => self.gone = true,
        }
        self.questions = None;
        self.follower.take().and_then(|follower| follower.join().ok()).unwrap_or_default()
    }
}

/// Asks for the accounts twice a second, and for heads as soon as they are wanted, because the origin forgets them.
fn follow(asker: &Asker, latest: &Mutex<LastCounts>, questions: &Receiver<u64>) -> Heads {
    let mut heads = Heads::new();
    let mut silent = false;
    let mut next = Instant::now() + EVERY;
    loop {
        match questions.recv_timeout(next.saturating_duration_since(Instant::now())) {
            // A proxy that does not answer is not asked twenty times, each for seconds.
            Ok(serial) if silent || heads.contains_key(&serial) => {}
            Ok(serial) => match asker.heads(serial) {
                Ok(found) => heads.extend(found.map(|found| (serial, found))),
                Err(_) => silent = true,
            },
            Err(RecvTimeoutError::Timeout) => {
                if let Ok(accounts) = asker.accounts() {
                    set(latest, accounts.counts);
                }
                next = Instant::now() + EVERY;
            }
            Err(RecvTimeoutError::Disconnected) => return heads,
        }
    }
}

fn set(latest: &Mutex<LastCounts>, counts: OriginCounts) {
    *latest.lock().unwrap_or_else(PoisonError::into_inner) = LastCounts { counts, at: Instant::now() };
}

impl Asker {
    fn accounts(&self) -> Result<Accounts, String> {
        let text = match self.ask("accounts")? {
            (200, text) => text,
            (status, _) => return Err(format!("status {status}")),
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
            self.exchange(&request).map_err(|error| format!("{} did not answer: {error}", self.proxy))?;
        let mut body = Body::default();
        let mut reader = wire::http1::ResponseReader::new(wire::http1::Limits::default());
        let complete = reader
            .read(&answer, &mut body)
            .and_then(|progress| if progress.done { Ok(()) } else { reader.end_of_stream(&mut body) });
        complete.map_err(|error| error.to_string())?;
        let text = String::from_utf8(body.bytes).map_err(|error| error.to_string())?;
        Ok((body.status, text))
    }

    fn exchange(&self, request: &str) -> std::io::Result<Vec<u8>> {
        let until = Instant::now() + LIMIT;
        let mut stream = TcpStream::connect_timeout(&self.proxy, LIMIT)?;
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
