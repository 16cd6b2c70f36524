//! A web server with pages, redirections, cookies and challenges, and the users who know what to do with them.

use crate::scenario::Chooser;
use crate::server::{Asked, Move, Script};
use plan::draw::{Draw, hash};
use plan::{
    Auth, Credentials, Redirects, Request, RequestOrder, RequestStep, Resources, Session, Validators,
};
use std::time::Duration;

/// A page with the resources that it needs, and the links that lead on.
const PAGE: &str =
    "<img src=/1><img src=/2><script src=/3></script><img src=/4><a href=/page>p</a><a href=/next>n</a>";

/// A server whose answers, and whose failures to answer, follow from a seed.
pub fn server(seed: u64) -> Script {
    Script::new(move |asked: Asked| answer(&mut Draw::new(hash(seed, 0x3EB), asked.number)))
}

fn answer(draw: &mut Draw) -> Vec<Move> {
    let html = "Content-Type: text/html\r\nETag: \"x\"\r\n";
    let wait = Move::Wait(Duration::from_micros(draw.below(20_000)));
    let more = draw.below(1_000) as usize;
    match draw.below(24) {
        0..=4 => vec![wait, whole("200 OK", html, PAGE)],
        5 | 6 => vec![whole("302 Found", "Location: /next\r\nSet-Cookie: a=b\r\n", "")],
        7 => vec![whole("307 Temporary Redirect", "Location: http://server/other\r\n", "elsewhere")],
        8 => vec![whole("401 Unauthorized", "WWW-Authenticate: Basic realm=r\r\n", "")],
        9 => vec![whole(
            "401 Unauthorized",
            "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n",
            "",
        )],
        10 => vec![whole("200 OK", "Connection: close\r\n", "last"), Move::Close],
        11 => vec![chunked()],
        12 => vec![Move::Send(b"HTTP/1.0 200 OK\r\n\r\nup to the end".to_vec()), Move::Close],
        13 => vec![whole("404 Not Found", "", "nothing here")],
        14 => {
            vec![Move::Send(b"HTTP/1.1 100 Continue\r\n\r\n".to_vec()), wait, whole("200 OK", "", "at last")]
        }
        15 => vec![whole("200 OK", "", &"much ".repeat(more))],
        16 => unusual(draw),
        _ => vec![whole("200 OK", "Set-Cookie: c=d; Path=/\r\n", "plain")],
    }
}

/// Now and then an end, half an answer, or none.
fn unusual(draw: &mut Draw) -> Vec<Move> {
    match draw.below(5) {
        0 => vec![Move::Reset],
        1 => vec![Move::Close],
        2 => vec![Move::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nnot all".to_vec()), Move::Close],
        3 => vec![Move::Freeze],
        _ => vec![Move::Send(b"SSH-2.0-OpenSSH_9.6\r\n".to_vec()), Move::Close],
    }
}

fn whole(status: &str, fields: &str, body: &str) -> Move {
    Move::Send(
        format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n{fields}\r\n{body}", body.len()).into_bytes(),
    )
}

fn chunked() -> Move {
    let text =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nall o\r\na\r\nf the page\r\n0\r\n\r\n";
    Move::Send(text.as_bytes().to_vec())
}

/// Requests of users who remember something, or nothing.
pub fn step(choose: &mut Chooser) -> RequestStep {
    let post =
        Request { method: "POST".to_owned(), body: "a=b".into(), ..Request::get("http://server/other") };
    let requests = vec![Request::get("http://server/page"), post, Request::get("http://server/next")];
    let session = if choose.some(0.6) { session(choose) } else { Session::default() };
    let order = choose.one(&[RequestOrder::default(), RequestOrder::Random]);
    RequestStep { requests: requests.into(), session, order, ..RequestStep::default() }
}

fn session(choose: &mut Chooser) -> Session {
    let credentials = Credentials::new("u", plan::Secret::typed("p"));
    let redirects = Redirects { limit: choose.one(&[1, 3]), ..Redirects::default() };
    let resources = Resources { parallel: choose.one(&[1, 3]), ..Resources::default() };
    let login = choose.some(0.3).then(|| Request::get("http://server/login"));
    Session {
        cookies: choose.some(0.5),
        redirects: choose.some(0.5).then_some(redirects),
        auth: choose.some(0.5).then(|| Auth { credentials: vec![credentials], ..Auth::default() }),
        login: login.into_iter().collect(),
        resources: choose.some(0.5).then_some(resources),
        validators: choose.one(&[Validators::Never, Validators::Always]),
        ..Session::default()
    }
}
