//! The server over real sockets: what each rule answers, and what a viewer of a run gets.

use super::*;
use measure::stream::{MeasureEnd, Note, PhasePlan};
use measure::{Head, RunEvent, Second};
use session::httpd::HEAD_TIME;
use session::live::Live;
use session::steer::Steering;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::symlink;

struct Page {
    server: PageServer,
    address: String,
    token: String,
    _folder: tempfile::TempDir,
}

fn head(id: &str) -> Head {
    let plan = plan::Plan::from_text("version = 1\nseed = 7\n").unwrap();
    let phases = vec![PhasePlan { name: "measure".to_owned(), measured: true, ..PhasePlan::default() }];
    Head { id: id.to_owned(), door: "http".to_owned(), plan: plan.to_text(), phases, ..Head::default() }
}

/// A file of a run, as it is kept.
fn kept(folder: &std::path::Path, id: &str) {
    let mut head = head(id);
    head.labels.insert("build".to_owned(), "</script><b>4711".to_owned());
    let file = std::fs::File::create(folder.join(session::keep::file_name(&head))).unwrap();
    let mut writer = record::Writer::new(file);
    for event in [RunEvent::Head(Box::new(head)), second(1, 10), RunEvent::End(Box::default())] {
        assert!(matches!(writer.put(&event), record::RecordKept::Written));
    }
}

fn second(at_s: u64, requests: u64) -> RunEvent {
    let mut second =
        Second { at: Duration::from_secs(at_s), took: Duration::from_secs(1), ..Second::default() };
    second.clients.counts.requests = requests;
    RunEvent::Second(Box::new(second))
}

fn page(live: Option<Live>) -> Page {
    served(live.map(|live| Running { live, steering: Steering::default() }), None)
}

fn steered(live: Live, steering: Steering) -> Page {
    served(Some(Running { live, steering }), None)
}

fn served(running: Option<Running>, starts: Option<(Starts, Reach)>) -> Page {
    let folder = tempfile::tempdir().unwrap();
    kept(folder.path(), "0193551f-7c2e-7000-8000-0000aaaa0001");
    symlink("/etc/passwd", folder.path().join("19600101-000000-http-bbbbbbbb.wrun")).unwrap();
    let listen = SocketAddr::from(([127, 0, 0, 1], 0));
    let options =
        Options { listen, host_names: Vec::new(), folder: Some(folder.path().to_owned()), running, starts };
    let server = start(options).unwrap();
    let token = server.url().split_once("token=").unwrap().1.to_owned();
    let address = server.url().trim_start_matches("http://").split_once('/').unwrap().0.to_owned();
    Page { server, address, token, _folder: folder }
}

impl Page {
    fn connect(&self) -> TcpStream {
        let socket = TcpStream::connect(&self.address).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        socket
    }

    /// Sends bytes as they are, and returns all that comes until the server closes.
    fn raw(&self, request: &str) -> String {
        let mut socket = self.connect();
        socket.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        // A server that does not read to the end may reset; what it said before counts.
        let _ = socket.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn post(&self, target: &str, body: &str) -> String {
        let host = &self.address;
        let token = &self.token;
        let length = body.len();
        self.raw(&format!(
            "POST {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        ))
    }

    fn get(&self, target: &str) -> String {
        self.with(target, &format!("Authorization: Bearer {}\r\n", self.token))
    }

    fn with(&self, target: &str, fields: &str) -> String {
        let host = &self.address;
        self.raw(&format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{fields}\r\n"))
    }
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or("none")
}

#[test]
fn without_the_token_nothing_is_told_and_with_it_the_address_forgets_it() {
    let page = page(None);
    for target in ["/", "/api/runs", "/api/runs/latest/model", "/nowhere"] {
        assert_eq!(status(&page.with(target, "")), "401", "{target}");
    }
    let entered = page.with(&format!("/?token={}&run=latest", page.token), "");
    assert_eq!(status(&entered), "303");
    assert!(entered.contains("location: /?run=latest\r\n"), "{entered}");
    let cookie = entered.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    assert!(
        cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict") && cookie.starts_with("wringer_")
    );
    let pair = cookie.split(';').next().unwrap();
    let shown = page.with("/", &format!("Cookie: {pair}\r\n"));
    assert_eq!(status(&shown), "200");
    assert!(!shown.contains(&page.token), "the page does not hold the token");
}

#[test]
fn the_page_may_run_its_own_script_and_nothing_else() {
    let page = page(None);
    let answer = page.get("/");
    let policy = answer.lines().find(|line| line.starts_with("content-security-policy: ")).unwrap();
    for rule in [
        "default-src 'none'",
        "script-src 'sha256-",
        "style-src 'sha256-",
        "connect-src 'self'",
        "frame-ancestors 'none'",
    ] {
        assert!(policy.contains(rule), "{rule} in {policy}");
    }
    assert!(!policy.contains("unsafe"), "{policy}");
    for field in [
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
        "cache-control: no-store",
        "cross-origin-opener-policy: same-origin",
    ] {
        assert!(answer.contains(field), "{field}");
    }
    assert!(!answer.to_lowercase().contains("access-control-allow"), "no other page may read");
    assert!(!answer.contains("http-equiv"), "a file's policy forbids connections");
}

#[test]
fn runs_are_listed_shown_and_laid_out() {
    let page = page(None);
    let list = page.get("/api/runs?q=4711");
    assert!(list.contains("\"state\":\"ended\"") && list.contains("0000aaaa0001"), "{list}");
    assert!(page.get("/api/runs?q=nowhere").contains("{\"runs\":[]}"));
    let model = page.get("/api/runs/0193551f-7c2e-7000-8000-0000aaaa0001/model");
    assert_eq!(status(&model), "200");
    assert!(model.contains("\"format\":3") && model.contains("\"rows\":1"), "{model}");
    assert_eq!(status(&page.get("/api/runs/latest/report?as=csv")), "200");
    let html = page.get("/api/runs/aaaa0001/report?as=html");
    assert!(html.contains("attachment") && html.contains("template id=\"run\""));
    assert!(!html.contains("</script><b>4711"), "what a label holds is packed");
    assert_eq!(status(&page.get("/api/runs/latest/report?as=exe")), "404");
}

#[test]
fn a_run_is_steered_by_posts_alone() {
    let live = Live::begin();
    let steering = Steering::default();
    live.put(&Arc::new(RunEvent::Head(Box::new(head("live-1")))));
    live.settle();
    let page = steered(live, steering.clone());
    let session = std::thread::spawn({
        let steering = steering.clone();
        move || {
            let until = Instant::now() + Duration::from_secs(20);
            let mut done = Vec::new();
            while done.len() < 3 && Instant::now() < until {
                if let Some(asked) = steering.next() {
                    asked.answer.send(Ok(Duration::from_millis(1500))).unwrap();
                    done.push((asked.by, asked.command));
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            done
        }
    });
    for (what, body) in [("rate", r#"{"per_second":200}"#), ("mark", r#"{"text":"<b>"}"#), ("stop", "{}")] {
        assert_eq!(status(&page.get(&format!("/api/runs/live-1/{what}"))), "405", "a GET changes nothing");
        let told = page.post(&format!("/api/runs/live-1/{what}"), body);
        assert!(told.ends_with("{\"at_s\":1.5}"), "{told}");
    }
    let done = session.join().unwrap();
    let rate = measure::stream::Command::Rate { per_second: 200.0, phase: 0, since: Duration::ZERO };
    assert_eq!(done[0], ("page", rate));
    assert_eq!(done[2], ("page", measure::stream::Command::Stop));
    assert_eq!(status(&page.post("/api/runs/live-1/rate", r#"{"per_second":-1}"#)), "409");
    assert_eq!(status(&page.post("/api/runs/live-1/rate", "{}")), "400");
    assert_eq!(status(&page.post("/api/runs/other/stop", "{}")), "409", "it does not go on");
    steering.close();
    assert!(page.post("/api/runs/live-1/stop", "{}").contains("the run is over"));
}

#[test]
fn a_kept_run_is_labelled_and_a_plan_checked() {
    let page = page(None);
    assert_eq!(status(&page.post("/api/runs/latest/label", r#"{"name":"keep"}"#)), "200");
    assert!(page.get("/api/runs").contains("\"keep\""));
    assert_eq!(status(&page.post("/api/runs/..%2f/label", r#"{"name":"keep"}"#)), "404");
    assert_eq!(status(&page.post("/api/runs/latest/stop", "{}")), "409");
    let checked = page.post("/api/plan/check", r#"{"plan":"version = 1\nseed = 7\nsede = 1\n"}"#);
    assert!(checked.contains("\"line\":3"), "{checked}");
    assert!(
        page.post("/api/plan/check", r#"{"plan":"version = 1\nseed = 7\n[origin]\n"}"#).contains("no load")
    );
    let long = format!("{{\"text\":\"{}\"}}", "x".repeat(BODY_LIMIT));
    assert!(["413", "none"].contains(&status(&page.post("/api/runs/latest/mark", &long))));
    assert_eq!(
        status(&page.post("/api/plan/check", &format!("{{\"plan\":\"#{}\"}}", "x".repeat(BODY_LIMIT)))),
        "200"
    );
}

/// Bytes that are too many for all but a plan.
const BODY_LIMIT: usize = 1 << 20;

/// Asks for a run of a target that nobody listens at.
const WISH: &str = r#"{"form":{"target":"http://127.0.0.1:1/","users":"1"}}"#;

#[test]
fn one_run_at_a_time_is_started_by_a_post_of_the_page_alone() {
    let (starts, asked) = Starts::new();
    let page = served(None, Some((starts, Reach::to(&[]).unwrap())));
    assert!(page.get("/").contains(" data-starts=\"yes\""), "the page has its form");
    for wrong in
        [r#"{"form":{"target":"http://127.0.0.1:1/","users":"none"}}"#, "{}", "", r#"{"plan":"seed"}"#]
    {
        assert_eq!(status(&page.post("/api/runs", wrong)), "400", "{wrong}");
    }
    for (not_allowed, why) in [
        (r#"{"form":{"target":"http://192.0.2.1/"}}"#, "--allow-target 192.0.2.1"),
        (r#"{"form":{"target":"http://no-such-host.invalid/"}}"#, "--allow-target no-such-host.invalid"),
        (r#"{"form":{"kind":"cache","target":"127.0.0.1:1","origin":"192.0.2.9:9080"}}"#, "loopback only"),
    ] {
        let refused = page.post("/api/runs", not_allowed);
        assert!(status(&refused) == "403" && refused.contains(why), "{refused}");
    }
    assert!(asked.try_recv().is_err(), "nothing of it was asked for");
    std::thread::scope(|scope| {
        let first = scope.spawn(|| page.post("/api/runs", WISH));
        let start = asked.recv_timeout(Duration::from_secs(20)).unwrap();
        assert!(start.command.starts_with("wringer http http://127.0.0.1:1/ --users 1 --seed "));
        let second = page.post("/api/runs", WISH);
        assert!(status(&second) == "409" && second.contains("a run goes on"), "{second}");
        start.running.live.put(&Arc::new(RunEvent::Head(Box::new(head("live-7")))));
        assert!(first.join().unwrap().ends_with("{\"id\":\"live-7\"}"));
        assert!(page.get("/api/runs").contains("\"state\":\"live\""));
        assert!(page.get("/api/runs/live-7/model").contains("\"state\":\"live\""));
        drop(start);
        // Its place is free, and the next one fails before it begins.
        let third = scope.spawn(|| page.post("/api/runs", WISH));
        asked.recv_timeout(Duration::from_secs(20)).unwrap().fail("nothing answers there".to_owned());
        let third = third.join().unwrap();
        assert!(status(&third) == "422" && third.contains("nothing answers there"), "{third}");
    });
    drop(asked);
    assert_eq!(status(&page.post("/api/runs", WISH)), "409", "whoever ran them has gone");
}

#[test]
fn the_page_of_a_run_starts_none_and_other_pages_start_none_anywhere() {
    let of_a_run = page(None);
    assert_eq!(status(&of_a_run.post("/api/runs", WISH)), "404");
    assert!(!of_a_run.get("/").contains(" data-starts="), "no form where nothing is started");
    let (starts, asked) = Starts::new();
    let page = served(None, Some((starts, Reach::to(&[]).unwrap())));
    let host = &page.address;
    let token = &page.token;
    let length = WISH.len();
    for (host, fields, expected) in [
        (&**host, "", "401"),
        ("evil.example", "Authorization", "403"),
        (host, "Authorization\nOrigin: http://evil.example", "403"),
        (host, "Authorization\nSec-Fetch-Site: cross-site", "403"),
        (host, "Authorization\nSec-Fetch-Site: same-site", "403"),
        (host, "Authorization\nContent-Type: text/plain", "415"),
    ] {
        let fields = fields.replace("Authorization", &format!("Authorization: Bearer {token}"));
        let kind = if fields.contains("Content-Type") { "" } else { "Content-Type: application/json\r\n" };
        let fields = fields.lines().map(|line| format!("{line}\r\n")).collect::<String>();
        let answer = page.raw(&format!(
            "POST /api/runs HTTP/1.1\r\nHost: {host}\r\n{fields}{kind}Content-Length: {length}\r\nConnection: close\r\n\r\n{WISH}"
        ));
        assert_eq!(status(&answer), expected, "{fields}");
    }
    assert!(asked.try_recv().is_err(), "nothing was asked for");
}

#[test]
fn names_that_lead_elsewhere_are_no_runs() {
    let page = page(None);
    for id in
        ["..%2f..%2fetc%2fpasswd", "..", "bbbbbbbb", "a/b", "%00", "latest~999", "x.wrun", &"a".repeat(65)]
    {
        let answer = page.get(&format!("/api/runs/{id}/model"));
        assert_eq!(status(&answer), "404", "{id}");
        assert!(!answer.contains("root:"), "{id}");
    }
}

#[test]
fn what_is_too_large_too_slow_or_no_get_is_refused() {
    let page = page(None);
    let host = &page.address;
    let auth = format!("Authorization: Bearer {}", page.token);
    let form = format!(
        "POST /api/runs HTTP/1.1\r\nHost: {host}\r\n{auth}\r\nContent-Length: 10000000\r\nConnection: close\r\n\r\n"
    );
    assert_eq!(status(&page.raw(&form)), "415", "before any of ten megabytes is read");
    let long = format!("GET / HTTP/1.1\r\nHost: {host}\r\n{auth}\r\nX-Long: {}\r\n\r\n", "a".repeat(40_000));
    assert!(["431", "none"].contains(&status(&page.raw(&long))), "a head beyond 16 KiB");
    assert_eq!(
        status(
            &page
                .raw(&format!("GET / HTTP/1.1\r\nHost: evil.example\r\n{auth}\r\nConnection: close\r\n\r\n"))
        ),
        "403"
    );
    assert_eq!(status(&page.with("/api/runs", &format!("{auth}\r\nOrigin: http://evil.example\r\n"))), "403");
    // The rest of this head never comes.
    let began = Instant::now();
    let slow = page.raw("GET / HTTP/1.1\r\nHost:");
    assert!(["408", "none"].contains(&status(&slow)) && began.elapsed() >= HEAD_TIME / 2, "{slow}");
}

#[test]
fn a_hundred_followers_are_served_or_turned_away_and_the_run_goes_on() {
    let live = Live::begin();
    live.put(&Arc::new(RunEvent::Head(Box::new(head("live-1")))));
    live.settle();
    let page = page(Some(live.clone()));
    let follow = |number: usize| {
        let stream = if number.is_multiple_of(2) { "changes?from=1-0" } else { "events?from=0" };
        let mut follower = page.connect();
        let host = &page.address;
        let request = format!(
            "GET /api/runs/live-1/{stream} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {}\r\n\r\n",
            page.token
        );
        // One that was turned away has perhaps been told so before it said a word.
        let _ = follower.write_all(request.as_bytes());
        let mut start = [0; 12];
        follower.read_exact(&mut start).unwrap();
        (String::from_utf8_lossy(&start[9..]).into_owned(), follower)
    };
    let followers: Vec<(String, TcpStream)> = (0..100).map(follow).collect();
    let told = |status: &str| followers.iter().filter(|(told, _)| told == status).count();
    assert_eq!((told("200"), told("503")), (CONNECTIONS, 100 - CONNECTIONS));
    (1..=3).for_each(|number| live.put(&Arc::new(second(number, 10))));
    drop(followers);
    let until = Instant::now() + Duration::from_secs(20);
    while !page.get("/api/runs/live-1/model").contains("\"next\":\"1-2\"") {
        assert!(Instant::now() < until, "nobody is heard any more");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_run_is_followed_from_where_a_viewer_stopped_to_its_end() {
    let live = Live::begin();
    let put = |event: RunEvent| live.put(&Arc::new(event));
    put(RunEvent::Head(Box::new(head("live-1"))));
    put(second(1, 10));
    put(second(2, 20));
    live.settle();
    let page = page(Some(live.clone()));
    assert!(page.get("/api/runs").contains("\"state\":\"live\""));
    assert!(page.get("/api/runs/live-1/model").contains("\"next\":\"1-1\""));
    let followed = std::thread::scope(|scope| {
        let follower = scope.spawn(|| {
            page.with(
                "/api/runs/live-1/events?from=0",
                &format!("Authorization: Bearer {}\r\nLast-Event-ID: 1\r\n", page.token),
            )
        });
        let until = Instant::now() + Duration::from_secs(20);
        while !page.server.app.is_watched() {
            assert!(Instant::now() < until, "nobody watches");
            std::thread::sleep(Duration::from_millis(10));
        }
        put(RunEvent::Note(Note { text: "\u{1b}[2Jdata: \n\n".to_owned(), ..Note::default() }));
        put(RunEvent::End(Box::<MeasureEnd>::default()));
        follower.join().unwrap()
    });
    assert!(followed.contains("content-type: text/event-stream"));
    let numbers: Vec<&str> = followed.lines().filter_map(|line| line.strip_prefix("id: ")).collect();
    assert_eq!(numbers, ["2", "3", "4"], "{followed}");
    assert!(!followed.contains('\u{1b}'), "control characters are escaped");
    assert!(page.get("/api/runs/live-1/model").contains("\"state\":\"ended\""));
    assert_eq!(status(&page.get("/api/runs/other/events")), "404");
}

#[test]
fn the_page_is_told_how_a_run_changes_until_it_is_over() {
    let live = Live::begin();
    let put = |event: RunEvent| live.put(&Arc::new(event));
    put(RunEvent::Head(Box::new(head("live-1"))));
    put(second(1, 10));
    put(second(2, 20));
    live.settle();
    let page = page(Some(live.clone()));
    let bearer = format!("Authorization: Bearer {}\r\n", page.token);
    let events = |answer: &str| -> Vec<(String, serde_json::Value)> {
        let after = |word: &str| {
            answer.lines().filter_map(|line| line.strip_prefix(word)).map(str::to_owned).collect::<Vec<_>>()
        };
        let data = after("data: ").into_iter().map(|data| serde_json::from_str(&data).unwrap());
        after("id: ").into_iter().zip(data).collect()
    };
    std::thread::scope(|scope| {
        let follower = scope.spawn(|| page.with("/api/runs/live-1/changes?from=1-1", &bearer));
        let until = Instant::now() + Duration::from_secs(20);
        while !page.server.app.is_watched() {
            assert!(Instant::now() < until, "nobody watches");
            std::thread::sleep(Duration::from_millis(10));
        }
        put(second(3, 30));
        put(RunEvent::Note(Note { text: "\u{1b}[2Jdata: \n\n".to_owned(), ..Note::default() }));
        put(RunEvent::End(Box::<MeasureEnd>::default()));
        let told = follower.join().unwrap();
        assert!(told.contains("content-type: text/event-stream") && !told.contains('\u{1b}'), "{told}");
        let events = events(&told);
        let rows: u64 = events[0].1["first_row"].as_u64().unwrap();
        assert_eq!(rows, 1, "the last row that was told may have grown");
        let last = events.last().unwrap();
        assert_eq!((last.0.as_str(), &last.1["state"], &last.1["rows"]), ("1-2", &"ended".into(), &3.into()));
    });
    let rejoined = format!("{bearer}Last-Event-ID: 1-2\r\n");
    let again = events(&page.with("/api/runs/live-1/changes", &rejoined));
    assert_eq!((again.len(), &again[0].1["first_row"]), (1, &2.into()));
    let elsewhere = events(&page.with("/api/runs/live-1/changes?from=2-9", &bearer));
    assert_eq!(elsewhere[0].1["first_row"], 0, "whoever knows other rows is told all");
    assert_eq!(status(&page.get("/api/runs/live-1/changes?from=7")), "400");
    assert_eq!(status(&page.get("/api/runs/other/changes")), "404");
}
