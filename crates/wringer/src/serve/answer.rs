//! Answers to whom may ask: the page, the list of runs, a run as the page reads it, its records as they come, its reports.

use super::guard::{Guard, Verdict};
use super::starts::{Running, Starts};
use super::stream::{self, Growing};
use super::{Options, post};
use crate::arguments;
use crate::layout::{self, laid_out, named};
use crate::problem::Problem;
use crate::runs::{self, Query, Summary};
use http_body_util::{BodyExt, Either, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue,
    LOCATION, SET_COOKIE,
};
use hyper::{Method, Request, Response, StatusCode};
use measure::VerdictNames;
use measure::stream::Command;
use report::page::{GatherPlace, Gathered, Room, Served};
use serde::Serialize;
use session::Reach;
use session::live::Live;
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Runs of a list at most.
const LISTED: usize = 500;
/// Bytes of what is sent to us, and of a plan.
const BODY_BYTES: usize = 1 << 20;
const PLAN_BYTES: usize = 4 << 20;

type Sent = Response<Either<Full<Bytes>, Growing>>;

/// Fields of every answer: nothing is guessed, kept, embedded, or told to others.
const FIELDS: [(&str, &str); 5] = [
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("x-frame-options", "DENY"),
];

/// State of the server.
pub struct App {
    guard: Guard,
    page: Served,
    folder: Option<PathBuf>,
    /// The one run that this server is for.
    own: Option<Running>,
    /// Where the page asks for runs, where it may.
    starts: Option<(Starts, Reach)>,
    /// Streams that are open.
    watched: Arc<AtomicUsize>,
}

impl std::fmt::Debug for App {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Never its token.
        to.debug_struct("App").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl App {
    pub fn new(guard: Guard, page: Served, options: &Options) -> App {
        let Options { folder, running, starts, .. } = options.clone();
        App { guard, page, folder, own: running, starts, watched: Arc::default() }
    }

    /// Somebody follows the run, or has not yet fetched the end of it.
    pub fn is_watched(&self) -> bool {
        self.watched.load(Ordering::Relaxed) > 0
    }

    /// The run that goes on.
    fn running(&self) -> Option<Running> {
        self.own.clone().or_else(|| self.starts.as_ref()?.0.running())
    }

    /// It, where it has this number.
    fn run(&self, id: &str) -> Option<Running> {
        self.running().filter(|running| !id.is_empty() && running.live.id() == id)
    }

    /// Where connections of runs that the page asks for may go.
    fn reach(&self) -> Option<&Reach> {
        self.starts.as_ref().map(|(_, reach)| reach)
    }
}

/// Answers one request.
pub async fn answer(app: Arc<App>, request: Request<Incoming>) -> Result<Sent, Infallible> {
    let uri = request.uri();
    let path = uri.path().to_owned();
    let query = uri.query().unwrap_or("").to_owned();
    let mut sent = match app.guard.judge(request.method(), &path, &query, request.headers(), Instant::now()) {
        Verdict::Refuse(status, why) => {
            tracing::info!(method = %request.method(), path, %status, why, "a request is refused");
            text(status, why)
        }
        Verdict::Enter => entered(&app, &query),
        Verdict::Pass if request.method() == Method::POST => posted(&app, &path, request.into_body()).await,
        Verdict::Pass => {
            let last = request
                .headers()
                .get("last-event-id")
                .and_then(|value| value.to_str().ok())
                .map(str::to_owned);
            route(&app, &path, &query, last).await
        }
    };
    tracing::debug!(path, status = %sent.status(), "the page is answered");
    for (name, value) in FIELDS {
        sent.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    sent.headers_mut().entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    sent.headers_mut()
        .entry(CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"));
    Ok(sent)
}

/// Gives the cookie, and the address without the token, so that it stays in no history.
fn entered(app: &App, query: &str) -> Sent {
    let rest: Vec<&str> =
        query.split('&').filter(|pair| !pair.starts_with("token=") && !pair.is_empty()).collect();
    let to = if rest.is_empty() { "/".to_owned() } else { format!("/?{}", rest.join("&")) };
    let mut sent = text(StatusCode::SEE_OTHER, "");
    if let (Ok(to), Ok(cookie)) = (to.parse(), app.guard.set_cookie().parse()) {
        sent.headers_mut().insert(LOCATION, to);
        sent.headers_mut().insert(SET_COOKIE, cookie);
    }
    sent
}

/// `last`: the number or place of the last event that a reader of a stream got.
async fn route(app: &Arc<App>, path: &str, query: &str, last: Option<String>) -> Sent {
    let words: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    match words[..] {
        [""] => page(app),
        ["api", "runs"] => {
            aside(app, {
                let words = value(query, "q");
                move |app| list(app, &words)
            })
            .await
        }
        ["api", "runs", _, "stop" | "rate" | "mark" | "label"] | ["api", "plan", "check"] => {
            text(StatusCode::METHOD_NOT_ALLOWED, "that is asked for by POST")
        }
        ["api", "runs", id, _] if !is_id(id) => text(StatusCode::NOT_FOUND, "no run is called so"),
        ["api", "runs", id, "model"] => {
            aside(app, {
                let id = id.to_owned();
                move |app| model(app, &id)
            })
            .await
        }
        ["api", "runs", id, "events"] => {
            let after = last.and_then(|last| last.parse::<u64>().ok()).map(|last| last + 1);
            let next = after.or_else(|| value(query, "from").parse().ok()).unwrap_or(0);
            follow(app, id, |live, watching| stream::records(live, next, watching))
        }
        ["api", "runs", id, "changes"] => {
            let from = last.unwrap_or_else(|| value(query, "from"));
            match if from.is_empty() { Ok(GatherPlace::default()) } else { from.parse() } {
                Ok(since) => follow(app, id, |live, watching| stream::changes(live, since, watching)),
                Err(why) => text(StatusCode::BAD_REQUEST, &why),
            }
        }
        ["api", "runs", id, "report"] => {
            let id = id.to_owned();
            let layout = value(query, "as");
            aside(app, move |app| report(app, &id, &layout)).await
        }
        _ => text(StatusCode::NOT_FOUND, "nothing is here"),
    }
}

/// Answers a request that changes something.
async fn posted(app: &Arc<App>, path: &str, body: Incoming) -> Sent {
    let words: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    let is_plan = matches!(words[..], ["api", "plan", "check"] | ["api", "runs"]);
    let limit = if is_plan { PLAN_BYTES } else { BODY_BYTES };
    let Ok(body) = Limited::new(body, limit).collect().await else {
        return text(StatusCode::PAYLOAD_TOO_LARGE, "more than is taken, or broken off");
    };
    let body = body.to_bytes();
    match words[..] {
        ["api", "runs", id, _] if !is_id(id) => text(StatusCode::NOT_FOUND, "no run is called so"),
        ["api", "runs", id, what @ ("stop" | "rate" | "mark" | "label")] => {
            match post::command(what, &body) {
                Ok(command) => {
                    let id = id.to_owned();
                    aside(app, move |app| Ok(change(app, &id, command))).await
                }
                Err(why) => text(StatusCode::BAD_REQUEST, &why),
            }
        }
        ["api", "plan", "check"] => match post::wanted(&body) {
            Ok(wanted) => aside(app, move |app| Ok(json(&post::checked(&wanted, app.reach())))).await,
            Err(why) => text(StatusCode::BAD_REQUEST, &why),
        },
        ["api", "runs"] => begun(app, &body).await,
        _ => text(StatusCode::NOT_FOUND, "nothing is here"),
    }
}

/// Begins a run, and says its number.
async fn begun(app: &App, body: &[u8]) -> Sent {
    let Some((starts, reach)) = &app.starts else {
        return text(StatusCode::NOT_FOUND, "this page starts no runs: that of wringer serve does");
    };
    let meant = match post::wanted(body).map(|wanted| wanted.meant(arguments::seed_from_clock())) {
        Ok(Ok(meant)) => meant,
        Ok(Err(mistakes)) => {
            let lines: Vec<_> = mistakes.into_iter().map(|mistake| mistake.text).collect();
            return text(StatusCode::BAD_REQUEST, &lines.join("\n"));
        }
        Err(why) => return text(StatusCode::BAD_REQUEST, &why),
    };
    if let Err(why) = post::allowed(&meant.plan, Some(reach)) {
        return text(StatusCode::FORBIDDEN, &why);
    }
    match starts.ask(meant) {
        Err(why) => text(StatusCode::CONFLICT, why),
        Ok(asked) => match asked.begun().await {
            Ok(id) => json(&serde_json::json!({ "id": id })),
            Err(why) => text(StatusCode::UNPROCESSABLE_ENTITY, &why),
        },
    }
}

/// Changes the run that goes on, or labels one that was kept.
fn change(app: &App, id: &str, command: Command) -> Sent {
    if let Some(Running { steering, .. }) = app.run(id) {
        return match steering.ask("page", command) {
            Ok(at) => json(&serde_json::json!({ "at_s": at.as_secs_f64() })),
            Err(why) => text(StatusCode::CONFLICT, &why),
        };
    }
    let Command::Label { name, value } = command else {
        return text(StatusCode::CONFLICT, "no run of that number goes on");
    };
    match file(app, id).and_then(|file| runs::label(&file, &name, &value)) {
        Ok(()) => json(&serde_json::json!({})),
        Err(problem) => text(StatusCode::NOT_FOUND, &problem.to_string()),
    }
}

/// Does work that takes a while where it holds up no other answer.
async fn aside(app: &Arc<App>, work: impl FnOnce(&App) -> Result<Sent, Problem> + Send + 'static) -> Sent {
    let app = app.clone();
    match tokio::task::spawn_blocking(move || work(&app)).await {
        Ok(Ok(sent)) => sent,
        Ok(Err(problem)) => text(StatusCode::NOT_FOUND, &problem.to_string()),
        Err(_) => text(StatusCode::INTERNAL_SERVER_ERROR, "wringer's own code failed; please report it"),
    }
}

/// Numbers of runs, and the words for the latest: never a path.
fn is_id(id: &str) -> bool {
    (1..=64).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'~')
}

/// The value of a parameter of the address; nothing where there is none.
fn value(query: &str, name: &str) -> String {
    let mut pairs = url::form_urlencoded::parse(query.as_bytes());
    pairs.find(|(key, _)| key == name).map(|(_, value)| value.into_owned()).unwrap_or_default()
}

fn page(app: &App) -> Sent {
    let mut sent = whole(StatusCode::OK, "text/html; charset=utf-8", app.page.html.clone().into_bytes());
    if let Ok(policy) = app.page.policy.parse() {
        sent.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
    }
    sent
}

/// A line of the history.
#[derive(Serialize)]
struct Listed {
    id: String,
    state: &'static str,
    started_unix_s: f64,
    took_s: Option<f64>,
    door: String,
    command: String,
    target: String,
    labels: Vec<String>,
    rate_per_s: Option<f64>,
    p50_us: Option<u64>,
    p99_us: Option<u64>,
    failed_share: Option<f64>,
    hit_ratio: Option<f64>,
    verdict: VerdictNames,
}

fn list(app: &App, words: &str) -> Result<Sent, Problem> {
    // Half a condition, as somebody types it, is no mistake: nothing is found by it.
    let Ok(query) = Query::parse(words.split_whitespace()) else {
        return Ok(json(&serde_json::json!({ "runs": [] })));
    };
    let live = app.running().map(|running| running.live.gathered()).and_then(|gathered| {
        let head = gathered.head().clone();
        (!head.id.is_empty()).then(|| Summary::of(&head))
    });
    let live_id = live.as_ref().map(|run| run.id.clone()).unwrap_or_default();
    let kept = app.folder.iter().flat_map(|folder| runs::summaries(folder)).filter(|run| run.id != live_id);
    let all = live.into_iter().chain(kept).filter(|run| query.finds(run));
    let runs: Vec<Listed> = all.take(LISTED).map(|run| Listed::of(run, &live_id)).collect();
    Ok(json(&serde_json::json!({ "runs": runs })))
}

impl Listed {
    fn of(run: Summary, live: &str) -> Listed {
        let end = run.end.as_ref();
        let figures = end.map(|end| &end.figures);
        let is_live = run.id == live;
        Listed {
            state: if is_live {
                "live"
            } else if end.is_some() {
                "ended"
            } else if run.goes_on() {
                "open"
            } else {
                "cut"
            },
            started_unix_s: run.started_unix_s,
            took_s: end.map(|end| end.took_s),
            labels: run
                .labels
                .iter()
                .map(|(name, value)| format!("{name} {value}").trim_end().to_owned())
                .collect(),
            rate_per_s: figures.map(|figures| figures.requests_per_s),
            p50_us: end.and_then(|end| end.time(|figures| figures.p50_us)),
            p99_us: end.and_then(|end| end.time(|figures| figures.p99_us)),
            failed_share: figures.map(|figures| figures.failed_share),
            hit_ratio: figures.and_then(|figures| figures.hit_ratio),
            verdict: end.map(|end| end.verdict.clone()).unwrap_or_default(),
            door: run.door,
            command: run.command,
            target: run.target.unwrap_or_default(),
            id: run.id,
        }
    }
}

fn model(app: &App, id: &str) -> Result<Sent, Problem> {
    if let Some(Running { live, .. }) = app.run(id) {
        return Ok(json(&live.model()));
    }
    let mut gathered = Gathered::default();
    let file = file(app, id)?;
    runs::events(&runs::bytes(&file)?, &file)?.for_each(|event| gathered.apply(&event));
    let text = layout::text(&gathered, &file)?;
    Ok(json(&gathered.kept_model(&text, Room::AMPLE, runs::is_being_written(&file))))
}

/// A stream about a run that goes on.
fn follow(app: &App, id: &str, stream: impl FnOnce(Live, Watching) -> Growing) -> Sent {
    let Some(Running { live, .. }) = app.run(id) else {
        return text(StatusCode::NOT_FOUND, "no run of that number goes on");
    };
    let body = stream(live, Watching::begin(&app.watched));
    let mut sent = Response::new(Either::Right(body));
    sent.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    sent
}

/// Counts somebody who follows the run, until a moment after the stream has ended.
pub struct Watching(Arc<AtomicUsize>);

impl Watching {
    fn begin(count: &Arc<AtomicUsize>) -> Watching {
        count.fetch_add(1, Ordering::Relaxed);
        Watching(count.clone())
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn report(app: &App, id: &str, layout: &str) -> Result<Sent, Problem> {
    let (layout, kind, ending) = match layout {
        "text" | "" => ("text", "text/plain; charset=utf-8", "txt"),
        "json" => ("json", "application/json", "json"),
        "csv" => ("csv", "text/csv; charset=utf-8", "csv"),
        // Not as a page of ours: it is to be saved.
        "html" => ("html", "application/octet-stream", "html"),
        other => return Err(Problem::Usage(format!("there is no layout {other}: text, json, csv or html"))),
    };
    let file = file(app, id)?;
    let mut sent = whole(StatusCode::OK, kind, laid_out(named(layout)?, &file)?.text.into_bytes());
    let name = format!("attachment; filename=\"wringer-{}.{ending}\"", runs::short(id));
    if let (false, Ok(name)) = (layout == "text", name.parse()) {
        sent.headers_mut().insert(CONTENT_DISPOSITION, name);
    }
    Ok(sent)
}

/// The file of a kept run; a link that leads elsewhere is none.
fn file(app: &App, id: &str) -> Result<PathBuf, Problem> {
    let none = || Problem::Usage(format!("there is no run {id}"));
    let folder: &Path = app.folder.as_deref().ok_or_else(none)?;
    let name = if id.starts_with("latest") { id } else { runs::short(id) };
    let file = runs::find(name, folder)?;
    let is_plain = std::fs::symlink_metadata(&file).is_ok_and(|data| data.is_file());
    if is_plain { Ok(file) } else { Err(none()) }
}

fn json(value: &impl Serialize) -> Sent {
    match serde_json::to_vec(value) {
        Ok(bytes) => whole(StatusCode::OK, "application/json", bytes),
        Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
    }
}

fn text(status: StatusCode, text: &str) -> Sent {
    whole(status, "text/plain; charset=utf-8", format!("{}\n", report::harmless(text)).into_bytes())
}

fn whole(status: StatusCode, kind: &'static str, bytes: Vec<u8>) -> Sent {
    let mut sent = Response::new(Either::Left(Full::new(Bytes::from(bytes))));
    *sent.status_mut() = status;
    sent.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    sent
}
