//! Results of runs that never were, put together from exchanges by rule, so that all their sums agree.

use breach::{Http1, Protocol, Scope, Side};
use measure::SelfCheck;
use measure::processes::{Behind, Change, Ending, Happened, Process, TargetProcesses, Unknown};
use measure::{
    AgentUse, Broken, CacheResult, CarriedOn, Closed, Evidence, Exchange, Failure, FailureKind, Fault,
    LostAgent, MachineUse, OriginCounts, OriginUse, Outcome, PhaseResult, Reason, Row, RunResult, Stage,
    Tally, TimeMetric, Timeline, TracedRequest, Watched, WorkerUse,
};
use plan::{Arrivals, Load, ObjectStep, Origin, Pace, Phase, Plan, Scenario, Site, Step, Stop};
use report::{Context, Language};
use std::time::Duration;

/// A run and what belongs to it.
pub struct Sample {
    pub plan: Plan,
    pub result: RunResult,
    pub target_cpu: Option<f64>,
    pub evidence_file: Option<&'static str>,
}

impl Sample {
    pub fn context(&self) -> Context<'_> {
        Context {
            plan: &self.plan,
            command: "wringer cache 127.0.0.1:8080 --users 64 --seed 7",
            version: "0.1.0",
            target: self.plan.load.as_ref().map(|_| "nginx 1.22.1 on 127.0.0.1:8080"),
            target_cpu: self.target_cpu,
            evidence_file: self.evidence_file,
            exit: Some(0),
            started_unix_s: 1_790_000_000.5,
            threads: 2,
            language: Language::English,
        }
    }

    pub fn chinese(&self) -> String {
        let context = Context { language: Language::Chinese, ..self.context() };
        report::text::report(&self.result, &context)
    }

    pub fn text(&self) -> String {
        report::text::report(&self.result, &self.context())
    }

    pub fn json(&self) -> String {
        report::json::report(&self.result, &self.context())
    }
}

fn phase_plan(name: &str, measured: bool, pace: Pace) -> Phase {
    Phase {
        name: name.to_owned(),
        measured,
        scenario: Scenario::of(vec![Step::Object(ObjectStep::default())]),
        pace,
        stop: Stop { after: Some(Duration::from_secs(30)), ..Stop::default() },
        ..Phase::default()
    }
}

fn plan(phases: Vec<Phase>) -> Plan {
    Plan {
        version: Plan::VERSION,
        seed: 7,
        threads: Some(2),
        io: plan::Io::Auto,
        site: Site::default(),
        load: Some(Load {
            fail_if: Vec::new(),
            require: Vec::new(),
            stop_if: Vec::new(),
            target: Some("127.0.0.1:8080".to_owned()),
            more_targets: Vec::new(),
            spread: plan::TargetSpread::default(),
            sources: Vec::new(),
            protocol: plan::Protocol::default(),
            check: plan::Check::default(),
            limits: plan::LoadLimits::default(),
            phases,
            trace: plan::Trace::default(),
        }),
        origin: Some(Origin::default()),
    }
}

/// The `number`-th exchange: of a hundred, `hits` are hits, one is revalidated, one collapsed, the others are misses.
fn exchange(number: u64, hits: u64, wait_us: u64) -> Exchange {
    let (cache, base) = match number * 37 % 100 {
        at if at < hits => (CacheResult::Hit, 400),
        at if at == hits => (CacheResult::Revalidated, 1_500),
        at if at == hits + 1 => (CacheResult::Collapsed, 1_800),
        _ => (CacheResult::Miss, 2_000),
    };
    let service =
        Duration::from_micros(base + number * 7919 % 1_000 + if number % 500 == 499 { 9_000 } else { 0 });
    Exchange {
        status: 200,
        cache,
        service,
        response: service + Duration::from_micros(wait_us * (number % 7)),
        first_byte: Some(service.mul_f64(0.8)),
        connect: (number < 64).then(|| Duration::from_micros(90 + number)),
        reused: number >= 64,
        lateness: (wait_us > 0).then(|| Duration::from_micros(wait_us * (number % 7))),
        sent_bytes: 180,
        head_bytes: 290,
        body_bytes: 14_800,
        ..Exchange::new(Outcome::Ok, Duration::from_millis(10 * number))
    }
}

fn add(tally: &mut Tally, exchange: &Exchange) {
    tally.counts.requests += 1;
    tally.counts.connections += u64::from(exchange.connect.is_some());
    tally.counts.reused += u64::from(exchange.connect.is_none());
    tally.exchange(exchange);
}

/// A phase of `requests` exchanges, and the origin's accounts that go with them.
fn phase(name: &str, measured: bool, requests: u64, hits: u64, wait_us: u64) -> PhaseResult {
    let mut phase = PhaseResult::new(name, measured);
    (0..requests).for_each(|number| add(&mut phase.tally, &exchange(number, hits, wait_us)));
    phase.took = Duration::from_secs(30);
    phase.predicted_hit_ratio = Some(hits as f64 / 100.0 + 0.003);
    phase.origin = Some(origin_of(&phase));
    phase
}

fn origin_of(phase: &PhaseResult) -> OriginCounts {
    let counts = phase.counts();
    OriginCounts {
        connections: 32,
        requests: counts.misses + counts.revalidated,
        full: counts.misses,
        unchanged: counts.revalidated,
        conditional: counts.revalidated,
        received_bytes: 250 * (counts.misses + counts.revalidated),
        head_bytes: 300 * (counts.misses + counts.revalidated),
        body_bytes: counts.miss_bytes,
        concurrent: 12,
        ..OriginCounts::default()
    }
}

fn rows(phase: &PhaseResult, index: u32, from_s: u64, seconds: u64) -> Vec<Row> {
    let part = |value: u64| value / seconds;
    let counts = phase.counts();
    let row = |second: u64| Row {
        at_s: (from_s + second + 1) as f64,
        seconds: 1.0,
        paced_s: 1.0,
        agents: None,
        starved: 0,
        phase: index,
        counts: measure::Counts {
            requests: part(counts.requests),
            ok: part(counts.ok),
            hits: part(counts.hits) * (second + 1) / seconds,
            misses: part(counts.misses) + part(counts.hits) * (seconds - second - 1) / seconds,
            body_bytes: part(counts.body_bytes),
            head_bytes: part(counts.head_bytes),
            failed: part(counts.failed),
            ended: part(counts.ended),
            ..measure::Counts::default()
        },
        origin: phase
            .origin
            .map(|origin| OriginCounts { requests: part(origin.requests), ..OriginCounts::default() }),
        in_flight: 64,
        p50_us: phase.percentile_us(TimeMetric::Service, 0.5),
        p99_us: phase.percentile_us(TimeMetric::Service, 0.99),
        max_us: phase.tally.metric(TimeMetric::Service).max(),
        mean_us: phase.tally.metric(TimeMetric::Service).mean(),
    };
    (0..seconds).map(row).collect()
}

fn result(phases: Vec<PhaseResult>) -> RunResult {
    let mut origin = OriginCounts::default();
    phases.iter().filter_map(|phase| phase.origin.as_ref()).for_each(|part| origin.merge(part));
    let requests = phases.iter().map(|phase| phase.counts().requests).sum();
    RunResult {
        thresholds: Vec::new(),
        lost: Vec::new(),
        slowest: Vec::new(),
        dead: None,
        tolerated: 0.0,
        agents: Vec::new(),
        origins: Vec::new(),
        took: phases.iter().map(|phase| phase.took).sum(),
        timeline: Timeline::default(),
        workers: vec![
            WorkerUse { worker: 0, cpu_s: 0.31, share: 0.31 },
            WorkerUse { worker: 1, cpu_s: 0.29, share: 0.29 },
        ],
        origin: Some(origin),
        evidence: Vec::new(),
        self_check: SelfCheck { worker_cpu: vec![0.314, 0.287], requests, ..SelfCheck::default() },
        watched: Vec::new(),
        processes: TargetProcesses::default(),
        interrupted: false,
        backend: "epoll".to_owned(),
        notes: Vec::new(),
        phases,
    }
}

fn sample(plan: Plan, result: RunResult) -> Sample {
    Sample { plan, result, target_cpu: None, evidence_file: None }
}

/// One closed phase through a cache that does well.
pub fn plain() -> Sample {
    let plan = plan(vec![phase_plan("measure", true, Pace::Users(64))]);
    let mut result = result(vec![phase("measure", true, 60_000, 85, 0)]);
    result.timeline.rows = rows(&result.phases[0], 0, 0, 30);
    Sample { target_cpu: Some(2.4), ..sample(plan, result) }
}

/// Over HTTP/2, with a server that goes away.
pub fn http2() -> Sample {
    let mut sample = plain();
    for phase in &mut sample.result.phases {
        let goaway = measure::shared::GoAwayCount { code: 0, text: "enough".to_owned(), count: 2 };
        let shared = &mut phase.tally.http2_mut().shared;
        shared.goaways.push(goaway);
        shared.fairness.index(0.5);
        shared.fairness.index(1.0);
        shared.fairness.starve(Duration::from_millis(300));
        let mut after_reset =
            measure::AfterReset { broken_off: 3, whole_before: 2, ..measure::AfterReset::default() };
        after_reset.end_early(Duration::from_micros(800));
        phase.after_reset = Some(after_reset);
    }
    sample
}

/// Over HTTP/3, with some losses, a server that goes away and requests that it did not take.
pub fn http3() -> Sample {
    let mut sample = plain();
    if let Some(plan::Protocol::Http(http)) = sample.plan.load.as_mut().map(|load| &mut load.protocol) {
        let http3 = plan::Http3 { transport: plan::Transport::Lab, ..plan::Http3::default() };
        http.h3 = Some(Box::new(http3));
    }
    for phase in &mut sample.result.phases {
        let counts = phase.tally.http3_mut();
        (counts.received[1], counts.sent[1], counts.resets_received[11]) = (85, 90, 5);
        counts.shared.goaways.push(measure::shared::GoAwayCount {
            code: 0x100,
            text: String::new(),
            count: 1,
        });
        counts.close(Side::Peer, breach::codes::http3::EXCESSIVE_LOAD, "too many requests", 2);
        counts.close(Side::Here, breach::codes::quic::PROTOCOL_VIOLATION, "", 1);
        counts.quic = measure::QuicCounts {
            datagrams_received: 100,
            datagrams_sent: 40,
            lost_packets: 3,
            congestion_events: 1,
            ecn_marked: 5,
            ecn_failed: 1,
            overflowed: 2,
            rtt_us: 900,
            rtts: 3,
            rtt_max_us: 500,
        };
    }
    sample
}

/// Answers with codes, some of which mean failure, and messages that nobody asked for.
pub fn codes() -> Sample {
    let mut sample = plain();
    for phase in &mut sample.result.phases {
        (0..90).for_each(|_| phase.tally.codes.count(Some(b"00"), true));
        (0..9).for_each(|_| phase.tally.codes.count(Some(b"5\x01"), false));
        phase.tally.codes.count(None, false);
        phase.tally.counts.pushed += 3;
    }
    if let Some(load) = &mut sample.plan.load {
        load.protocol = plan::Protocol::Messages(plan::MessageConnections::default());
    }
    sample
}

/// Made by two machines, one of which was lost.
pub fn agents() -> Sample {
    let mut sample = plain();
    let good = AgentUse { name: "a1".to_owned(), at: "local".to_owned(), share: 0.5, ..AgentUse::default() };
    let lost = LostAgent {
        at: Duration::from_secs(2),
        told_until: Some(Duration::from_millis(1_900)),
        why: "it was silent for 3 s".to_owned(),
        tolerated: false,
        carried_on: vec![CarriedOn { by: "r1".to_owned(), at: Duration::from_secs(3), parts: 1 }],
    };
    let bound = vec!["its CPU was busy for 97 %".to_owned()];
    let bad = AgentUse { name: "a2".to_owned(), lost: Some(lost), reasons: bound, ..good.clone() };
    sample.result.agents = vec![good, bad];
    sample.result.timeline.mark(&sample.result.agents);
    let origin = |number: u16| OriginUse {
        name: format!("o{number}"),
        at: "local".to_owned(),
        listens_at: format!("127.0.0.1:{}", 9_080 + number),
        threads: 1,
        connections: 32,
        requests: 4_200,
        full: 3_900,
        body_bytes: 57_700_000,
        lost: None,
    };
    let gone = LostAgent {
        at: Duration::from_secs(5),
        told_until: None,
        why: "its process was ended by signal 9".to_owned(),
        tolerated: false,
        carried_on: Vec::new(),
    };
    sample.result.origins = vec![origin(1), OriginUse { lost: Some(gone), ..origin(2) }];
    sample
}

/// Bytes that no request had asked for, and connections that the server ended while nothing was under way.
pub fn stray() -> Sample {
    let mut sample = plain();
    let counts = &mut sample.result.phases[0].tally.counts;
    (counts.stray, counts.stray_bytes, counts.idle_timeouts) = (20, 860, 4);
    sample.result.evidence = vec![Evidence {
        fault: None,
        stray: 43,
        detail: "behind the answer to GET /preflight".to_owned(),
        title: "GET /preflight".to_owned(),
        serial: None,
        request: "GET /preflight HTTP/1.1\r\nHost: localhost\r\n".to_owned(),
        response: r"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecond and what follows".to_owned(),
        origin_request: None,
        ..evidence()
    }];
    sample
}

/// A phase that fills, one on the same set, and one on another: the hit ratio falls and comes back.
pub fn shift() -> Sample {
    let users = Pace::Users(64);
    let phases = [("fill", false), ("before", true), ("after", true)];
    let plan =
        plan(phases.iter().map(|(name, measured)| phase_plan(name, *measured, users.clone())).collect());
    let mut phases = vec![
        phase("fill", false, 3_000, 0, 0),
        phase("before", true, 60_000, 85, 0),
        phase("after", true, 60_000, 60, 0),
    ];
    phases[0].took = Duration::from_secs(2);
    phases[0].predicted_hit_ratio = Some(0.0);
    phases[1].began = Duration::from_secs(2);
    phases[2].began = Duration::from_secs(32);
    let timeline: Vec<Row> = [(2, 0), (30, 2), (30, 32)]
        .into_iter()
        .enumerate()
        .flat_map(|(index, (seconds, from_s))| rows(&phases[index], index as u32, from_s, seconds))
        .collect();
    let mut result = result(phases);
    result.timeline.rows = timeline;
    sample(plan, result)
}

fn fail(tally: &mut Tally, times: u64, kind: FailureKind, stage: Stage, reason: Option<Reason>) {
    for number in 0..times {
        let failed = Exchange {
            outcome: Outcome::Failed(Failure { reason, ..Failure::new(kind, stage) }),
            status: 0,
            cache: CacheResult::Unknown,
            first_byte: None,
            head_bytes: 0,
            body_bytes: 0,
            ..exchange(number + 100, 0, 0)
        };
        add(tally, &failed);
    }
}

fn end(tally: &mut Tally, times: u64, outcome: Outcome, status: u16) {
    for number in 0..times {
        add(tally, &Exchange { outcome, status, ..exchange(number + 100, 50, 0) });
    }
}

fn evidence() -> Evidence {
    Evidence {
        fault: Some(Fault::Stale),
        failure: None,
        stray: 0,
        title: "GET /w/1f/14800".to_owned(),
        status: 200,
        detail: "version 3 of object 1f came 12 s after version 4 began; its lifetime is 5 s".to_owned(),
        serial: Some(4711),
        at_us: 12_300_000,
        phase: "measure".to_owned(),
        trace_id: None,
        request: "GET /w/1f/14800 HTTP/1.1\r\nHost: localhost:9080\r\n\r\n".to_owned(),
        response: "HTTP/1.1 200 OK\r\nContent-Length: 14800\r\n\r\n".to_owned(),
        origin_request: Some("GET /w/1f/14800 HTTP/1.1\r\n\r\n".to_owned()),
        origin_response: None,
        body: Some("{\"error\": \"no room\"}\n".to_owned()),
        at_fault: Some("Connection close".to_owned()),
    }
}

fn machine() -> MachineUse {
    MachineUse {
        descriptors: 3_980,
        descriptor_limit: Some(4_096),
        memory_bytes: 85_000_000,
        tcp_sockets: 6_012,
        time_wait: 25_117,
        ports: Some(27_900),
        port_limit: Some(28_232),
        segments: 1_204_113,
        retransmits: 57,
        listen_overflows: 12,
        swapped_bytes: 48_000_000,
    }
}

/// A proxy that passes everything on, the client's validators too.
pub fn stores_nothing() -> Sample {
    let plan = plan(vec![phase_plan("measure", true, Pace::Users(8))]);
    let mut measure = phase("measure", true, 2_000, 0, 0);
    let collapsed = std::mem::take(&mut measure.tally.counts.collapsed);
    (measure.tally.counts.hits, measure.tally.counts.collapsed_bytes) = (0, 0);
    measure.tally.counts.misses += collapsed;
    measure.predicted_hit_ratio = Some(0.8);
    sample(plan, result(vec![measure]))
}

/// Everything that can go wrong, and a generator at its limit; interrupted.
pub fn trouble() -> Sample {
    let plan = plan(vec![phase_plan("measure", true, Pace::Users(2_000))]);
    let mut measure = phase("measure", true, 20_000, 70, 0);
    let tally = &mut measure.tally;
    fail(tally, 40, FailureKind::Refused, Stage::Connect, Some(Reason::Errno(111)));
    fail(tally, 7, FailureKind::Reset, Stage::Body, Some(Reason::Errno(104)));
    fail(tally, 3, FailureKind::Timeout, Stage::Head, None);
    fail(tally, 2, FailureKind::System, Stage::Send, Some(Reason::Errno(4095)));
    fail(tally, 4, FailureKind::TlsAlert, Stage::Tls, Some(Reason::Alert(40)));
    fail(tally, 1, FailureKind::CertificateIssuer, Stage::Tls, None);
    fail(tally, 5, FailureKind::Tunnel, Stage::Tunnel, Some(Reason::Status(407)));
    let breach = Broken { breach: Http1::FieldName.into(), ended: Scope::Connection, protocol: None };
    fail(tally, 6, FailureKind::BadHead, Stage::Head, Some(Reason::Breach(breach)));
    let ended = Scope::Stream;
    let protocol = Some(Protocol::Http2);
    let limit = Broken { breach: breach::Message::FieldsLimit.into(), ended, protocol };
    fail(tally, 8, FailureKind::OwnLimit, Stage::Head, Some(Reason::Breach(limit)));
    let calm = Closed { by: Side::Peer, ended, code: breach::codes::http2::ENHANCE_YOUR_CALM };
    fail(tally, 9, FailureKind::StreamReset, Stage::Head, Some(Reason::Closed(calm)));
    let load = Closed { ended: Scope::Connection, code: breach::codes::http3::EXCESSIVE_LOAD, ..calm };
    fail(tally, 2, FailureKind::ClosedEarly, Stage::Head, Some(Reason::Closed(load)));
    tally.time(TimeMetric::Lookup, Duration::from_micros(310));
    (0..59).for_each(|number| tally.time(TimeMetric::Tls, Duration::from_micros(350 + 7 * number)));
    (tally.counts.handshakes_full, tally.counts.handshakes_resumed) = (40, 19);
    (tally.counts.early_accepted, tally.counts.early_rejected) = (12, 1);
    end(tally, 12, Outcome::CheckFailed(Fault::Stale), 200);
    end(tally, 1, Outcome::CheckFailed(Fault::Truncated), 200);
    end(tally, 50, Outcome::Injected, 503);
    end(tally, 5, Outcome::Aborted, 206);
    tally.counts.requests += 9;
    tally.exchange(&Exchange::unfinished(Duration::from_secs(60), Duration::from_millis(600), 9));
    tally.counts.resent = 3;
    tally.counts.ranges = 410;
    tally.counts.reloads = 22;
    tally.counts.unstamped = 4;
    if let Some(origin) = &mut measure.origin {
        (origin.errors, origin.unstorable, origin.broken, origin.partial) = (50, 120, 2, 30);
        (origin.handshakes, origin.handshakes_resumed) = (32, 8);
        (origin.early_accepted, origin.handshakes_failed) = (3, 1);
    }
    let mut result = result(vec![measure]);
    result.interrupted = true;
    result.evidence = vec![evidence(), evidence()];
    result.self_check.worker_cpu = vec![0.97, 0.93];
    result.self_check.starved = 6;
    result.self_check.no_port = 4;
    result.self_check.machine = machine();
    result.watched = vec![Watched {
        name: "nginx".to_owned(),
        pid: 4242,
        processes: 3,
        cpu_s: Some(21.5),
        memory_bytes: 61_000_000,
    }];
    result.processes = processes();
    result.self_check.dropped_events = 1;
    result.notes = vec!["io_uring is forbidden here (EPERM), so epoll was used".to_owned()];
    Sample { evidence_file: Some("run-evidence.json"), ..sample(plan, result) }
}

/// A server whose worker crashed, which was reloaded, and whose place another one took; and one that nobody may look at.
fn processes() -> TargetProcesses {
    let nginx = Process {
        pid: 4242,
        name: "nginx".to_owned(),
        executable: Some("/usr/sbin/nginx".to_owned()),
        version: Some("1.22.1".to_owned()),
        build_id: Some("74429228deec9f0e7ab6c4d1".to_owned()),
        started_unix_s: Some(1_790_000_000.5),
    };
    let other = Process { pid: 5000, version: None, build_id: Some("0011".to_owned()), ..nginx.clone() };
    let address = "127.0.0.1:8080".to_owned();
    let behind = |process: &Process, workers| Behind {
        address: address.clone(),
        processes: vec![process.clone()],
        workers,
        unknown: None,
    };
    let unknown =
        |address: &str, why| Behind { address: address.to_owned(), unknown: Some(why), ..Behind::default() };
    let happened = |at_ms, change, fatal, log: &[&str]| Happened {
        at: Duration::from_millis(at_ms),
        process: nginx.clone(),
        change,
        fatal,
        ended_run: false,
        log: log.iter().map(|line| (*line).to_owned()).collect(),
    };
    let crash = Change::WorkerEnded { worker: 4243, how: Ending::Signal(11), heir: Some(4250) };
    let ended = Change::Ended { how: Ending::Code(0), address: None };
    let replaced =
        Change::Replaced { address: address.clone(), by: Box::new(other.clone()), same_program: false };
    TargetProcesses {
        before: vec![
            behind(&nginx, 2),
            unknown("127.0.0.1:8081", Unknown::AnotherUser { uid: 33 }),
            unknown("[::1]:8082", Unknown::NotFound { looked_at: 310 }),
        ],
        during: vec![
            happened(2_140, crash, true, &["[alert] 4242#4242: worker process 4243 exited on signal 11"]),
            happened(9_000, Change::Reloaded { began: 2, ended: 2 }, false, &[]),
            happened(20_000, ended, false, &[]),
            happened(20_400, replaced, false, &[]),
        ],
        after: vec![behind(&other, 2)],
    }
}

/// An open pace that was not always kept.
pub fn open_pace() -> Sample {
    let pace = Pace::Rate { per_second: 2_100.0, arrivals: Arrivals::Poisson, in_flight: 500 };
    let plan = plan(vec![phase_plan("measure", true, pace)]);
    let mut measure = phase("measure", true, 60_000, 85, 1_500);
    measure.tally.counts.overflow = 3_000;
    let mut result = result(vec![measure]);
    result.self_check.overflow = 3_000;
    result.self_check.lateness_p99_us = Some(result.phases[0].percentile_us(TimeMetric::Lateness, 0.99));
    sample(plan, result)
}

/// jtest's form: no stamps, so only the two accounts together tell hits.
pub fn unstamped() -> Sample {
    let mut sample = plain();
    let mut tally = Tally::new();
    for number in 0..60_000 {
        add(&mut tally, &Exchange { cache: CacheResult::Unknown, ..exchange(number, 85, 0) });
    }
    sample.result.phases[0].tally = tally;
    sample
}

/// Interrupted before anything was sent.
pub fn empty() -> Sample {
    let plan = plan(vec![phase_plan("measure", true, Pace::Users(64))]);
    let mut result = result(Vec::new());
    (result.interrupted, result.origin, result.workers) = (true, None, Vec::new());
    result.self_check = SelfCheck::default();
    sample(plan, result)
}

/// This machine had ports for 30 of 100 requests.
pub fn starved() -> Sample {
    let mut plan = plan(vec![phase_plan("measure", true, Pace::Users(64))]);
    plan.origin = None;
    let mut measure = phase("measure", true, 30, 0, 0);
    fail(&mut measure.tally, 70, FailureKind::NoPort, Stage::Connect, None);
    let mut result = result(vec![measure]);
    (result.origin, result.self_check.no_port) = (None, 70);
    sample(plan, result)
}

/// Nobody listens at the target; no origin of ours either.
pub fn all_failed() -> Sample {
    let mut plan = plan(vec![phase_plan("measure", true, Pace::Users(64))]);
    plan.origin = None;
    let mut measure = PhaseResult::new("measure", true);
    measure.took = Duration::from_secs(10);
    fail(&mut measure.tally, 640, FailureKind::Refused, Stage::Connect, Some(Reason::Errno(111)));
    (measure.tally.counts.connections, measure.tally.counts.reused) = (0, 0);
    let mut result = result(vec![measure]);
    result.origin = None;
    sample(plan, result)
}

/// Every handshake ended with this alert.
pub fn alerted(number: u8) -> Sample {
    let mut sample = all_failed();
    let mut measure = PhaseResult::new("measure", true);
    measure.took = Duration::from_secs(10);
    fail(&mut measure.tally, 640, FailureKind::TlsAlert, Stage::Tls, Some(Reason::Alert(number)));
    sample.result.phases = vec![measure];
    sample
}

/// The proxy answers, but never reaches the origin.
pub fn bad_gateway() -> Sample {
    bad_statuses(&[(502, 640)])
}

/// No status is good: these, so many times each.
pub fn bad_statuses(statuses: &[(u16, usize)]) -> Sample {
    let plan = plan(vec![phase_plan("measure", true, Pace::Users(64))]);
    let mut measure = PhaseResult::new("measure", true);
    measure.took = Duration::from_secs(10);
    let failure = Failure::new(FailureKind::BadStatus, Stage::Head);
    let all = statuses.iter().flat_map(|(status, times)| std::iter::repeat_n(*status, *times));
    for (number, status) in (0..).zip(all) {
        let answer = exchange(number + 100, 0, 0);
        let bad =
            Exchange { outcome: Outcome::Failed(failure), status, cache: CacheResult::Unknown, ..answer };
        add(&mut measure.tally, &bad);
    }
    measure.origin = Some(OriginCounts::default());
    sample(plan, result(vec![measure]))
}

/// Only the origin ran.
pub fn origin_only() -> Sample {
    let mut plan = plan(Vec::new());
    plan.load = None;
    let origin = origin_of(&phase("measure", true, 60_000, 85, 0));
    let mut result = result(Vec::new());
    (result.origin, result.took) = (Some(origin), Duration::from_secs(90));
    sample(plan, result)
}

/// Errors a million times over, in phases with long names.
pub fn large() -> Sample {
    let mut sample = trouble();
    for phase in &mut sample.result.phases {
        phase.name = "a name that nobody would give to a phase".to_owned();
        // Twenty doublings.
        for _ in 0..20 {
            let half = phase.tally.clone();
            phase.tally.merge(&half);
        }
        phase.took = Duration::from_secs(40_000);
        phase.origin = Some(origin_of(phase));
    }
    sample
}

/// Requests with a trace context, of which one failed and one was answered wrongly.
pub fn traced() -> Sample {
    let mut sample = plain();
    sample.result.phases[0].tally.counts.traced = 1_004;
    let id = |last: char| format!("4bf92f3577b34da6a3ce929d0e0e473{last}");
    let slow = TracedRequest {
        trace_id: id('6'),
        due: Duration::from_millis(1_250),
        response: Duration::from_millis(812),
        service: Duration::from_millis(810),
        status: 200,
        title: "GET /w/1f/14800".to_owned(),
        phase: "measure".to_owned(),
        ..TracedRequest::default()
    };
    let failure = Some(Failure::new(FailureKind::Timeout, Stage::Head));
    let failed = TracedRequest { trace_id: id('7'), status: 0, failure, ..slow.clone() };
    let stale = TracedRequest { trace_id: id('8'), fault: Some(Fault::Stale), ..slow.clone() };
    sample.result.slowest = vec![failed, stale, slow];
    sample.result.evidence = vec![Evidence { trace_id: Some(id('8')), ..evidence() }];
    sample
}

/// Every sample with the name of its golden file.
pub fn all() -> Vec<(&'static str, Sample)> {
    vec![
        ("plain", plain()),
        ("shift", shift()),
        ("trouble", trouble()),
        ("open_pace", open_pace()),
        ("unstamped", unstamped()),
        ("empty", empty()),
        ("all_failed", all_failed()),
        ("bad_gateway", bad_gateway()),
        ("origin_only", origin_only()),
        ("stray", stray()),
        ("traced", traced()),
    ]
}
