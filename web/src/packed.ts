// Types of a run as the server and reports tell it. Made of crates/report/src/page by `cargo xtask schema`: change them there.

/** A run as the page reads it, or how it has changed. */
export interface Model {
  /** The machines that carried the load, where they were several. */
  agents: AgentUse[];
  at: Column;
  bound: Bound[];
  columns: { [name: string]: Column };
  evidence: Piece[];
  evidence_left: number;
  failures: Failure[];
  /** The first row that is told here: those before it are known. 0 of the whole run. */
  first_row: number;
  format: number;
  head: HeadLines;
  interrupted: boolean;
  interval_s: number;
  lost: LostRequest[];
  marks: Mark[];
  metrics: { [name: string]: Spans };
  /** The place from which the next change is asked for. */
  next: string;
  notes: Note[];
  /** The origins that agents served. */
  origins: OriginUse[];
  paced: Column;
  phase: Column;
  phases: Phase[];
  /** Figures of the recording whose requests were sent again. */
  recorded?: RecordedFigures;
  /** Rows of the run, with those that are known. */
  rows: number;
  seconds: Column;
  slowest: SlowRequest[];
  state: State;
  steps: Step[];
  steps_left: number;
  text: string;
  thresholds: Threshold[];
  took_s: number;
  verdict: RunVerdict | null;
}

/** A part of a load that one agent carried: a process of wringer's, on this machine or another one. */
export interface AgentUse {
  /** How it was reached. */
  at: string;
  /** How far its clock may be off against the controller's, in µs: half of the shortest way there and back. */
  clock_error_us: number;
  /** How long behind the moment that was agreed on it began, in µs. */
  late_us: number;
  /** When and why it was lost. */
  lost?: LostAgent;
  /** Its name within the run. */
  name: string;
  /** Those of them that got a good answer. */
  ok: number;
  /** 99th percentile of the service time of those in µs; `null` without any. */
  p99_us: number | null;
  /** Why its own machine, and not the target, was the limit. */
  reasons?: string[];
  /** Requests begun in measured phases, as far as it has told. */
  requests: number;
  /** Share of all parts, 0 to 1. */
  share: number;
  /** Its workers, each with one part of the load. */
  threads: number;
}

/** Seconds in which the generator was the limit. */
export interface Bound {
  from_s: number;
  reasons: BoundBy[];
  to_s: number;
}

/** A limit of the generator. */
export type BoundBy = "cpu" | "lateness" | "overflow" | "ports" | "descriptors" | "swap" | "other";

/** An agent that carries parts of a lost one on. */
export interface CarriedOn {
  /** From when on, since the start of the run. */
  at_s: number;
  /** Its name. */
  by: string;
  /** How many parts. */
  parts: number;
}

/** A column as it is sent: `e` is the scale (10^e), `d` the differences from row to row, `null` a gap. */
export interface Column {
  /** It counts: rows that say nothing of it hold 0, and are no gap. */
  counts?: boolean;
  /** Differences from row to row. */
  d: (number | null)[];
  /** The scale: each number stands for so many times 10^e. */
  e?: number;
}

/** How a target did, in one word. */
export type Conduct = "not_asked" | "died" | "no_good_answer" | "silent" | "failed" | "flawed" | "answered";

export interface Failure {
  column: string;
  count: number;
  errno?: string;
  name: string;
  stage?: string;
  text: string;
  what: FailureType;
}

export type FailureType = "failure" | "fault";

/** Kind of a finding against the target. */
export type FindingKind = "died" | "silent" | "mostly_bad" | "lost" | "refused" | "bad_status" | "failed" | "check_failed" | "stray" | "stopped_storing" | "dead_objects";

export interface HeadLines {
  backend: string;
  command: string;
  door: string;
  id: string;
  labels: string[];
  machine: [string, string][];
  plan: string;
  /** As text: a number of JavaScript cannot hold it. */
  seed: string;
  started_unix_s: number;
  target: string;
  threads: number;
  version: string;
}

/** An agent that did not tell its end. */
export interface LostAgent {
  /** When, since the start of the run. */
  at_s: number;
  /** Agents that carry its parts on (`--on-loss take-over` and `replace`). */
  carried_on?: CarriedOn[];
  /** Until when it had told all of its figures, since the start of the run; older files do not tell it. */
  told_until_s?: number;
  /** True where the run was allowed to go on without it (`--tolerate-loss`). */
  tolerated: boolean;
  /** Why that is thought. */
  why: string;
}

/** A request that no answer came to, or no whole one: it was left at the end, or its time ran out. */
export interface LostRequest {
  /** When it was due, since the start of the run. */
  begun_s: number;
  /** Name of the phase. */
  phase: string;
  /** Its time ran out; otherwise it was left when its part of the run was over. */
  timed_out: boolean;
  /** Title of the request: method and URL, or the name of a message. */
  title: string;
  /** The trace id that the request carried, where it carried one. */
  trace_id?: string;
  /** How long it was waited for. */
  waited_s: number;
}

/** Something that somebody did while the run went on. */
export interface Mark {
  at_s: number;
  kind: MarkKind;
  text: string;
}

export type MarkKind = "mark" | "rate" | "stop";

/** Worth of the figures, and why. */
export interface Measurement {
  /** Why they are not valid, one sentence each, with what to try. */
  reasons: string[];
  /** In one word. */
  state: Worth;
}

/** Requests, or lines of a log, that are not sent for a reason. */
export interface NotSent {
  /** How many. */
  requests: number;
  /** The reason. */
  why: string;
}

export interface Note {
  text: string;
}

/** Counters of the origin; each is a plain sum. */
export interface OriginCounts {
  /** Times that no connection could be accepted, for want of descriptors mostly. */
  accept_failures: number;
  /** Answers to POST, PUT, PATCH and DELETE. */
  accepted: number;
  /** Bytes of bodies sent. */
  body_bytes: number;
  /** Connections that broke while an answer was being sent. */
  broken: number;
  /** Requests that carried a canary. */
  canaries: number;
  /** Those of them with the canary of another request, or a damaged one. */
  canaries_foreign: number;
  /** Connections closed, by whichever side. */
  closed: number;
  /** Requests that began while another for the same object was being answered. */
  concurrent: number;
  /** Requests with a validator. */
  conditional: number;
  /** Connections accepted. */
  connections: number;
  /** Bodies cut short because the plan says so. */
  cut: number;
  /** Those of them that had come before: somebody sent one request twice. */
  doubled: number;
  /** Those of them with early data that was taken. */
  early_accepted: number;
  /** Interim answers (103) that were sent, because the plan asked for them. */
  early_hints: number;
  /** Times that ECN was given up on a connection of HTTP/3, because the path or the client does not carry it. */
  ecn_failed: number;
  /** Datagrams of HTTP/3 that came marked CE: congestion experienced (RFC 3168). */
  ecn_marked: number;
  /** Errors given because the plan says so. */
  errors: number;
  /** Answers with a whole object. */
  full: number;
  /** GOAWAYs that were sent. */
  goaways: number;
  /** Answers 404, 410 and 301 about objects that are gone in a version, because the plan says so. */
  gone: number;
  /** TLS handshakes completed. */
  handshakes: number;
  /** Connections that ended within the TLS handshake. */
  handshakes_failed: number;
  /** Those of them that resumed a session. */
  handshakes_resumed: number;
  /** Bytes of header fields sent. */
  head_bytes: number;
  /** Connections that speak HTTP/2. */
  http2_connections: number;
  /** Requests over HTTP/2, among all of them. */
  http2_requests: number;
  /** Connections that speak HTTP/3. */
  http3_connections: number;
  /** Requests over HTTP/3, among all of them. */
  http3_requests: number;
  /** Requests that are not HTTP, too long, or otherwise not to be understood. */
  malformed: number;
  /** Answers 421 that were given, because the plan asked for them, to authorities that are not the connection's own. */
  misdirected: number;
  /** Answers 206 with a range. */
  partial: number;
  /** TCP messages sent that nobody asked for, because the plan says so. */
  pushes: number;
  /** Requests with Range. */
  ranges: number;
  /** Bytes of requests received. */
  received_bytes: number;
  /** Answers 416, 404, 405 and 400. */
  refused: number;
  /** Requests understood and answered, of whatever kind. */
  requests: number;
  /** TCP messages that were never answered because the plan says so. */
  silent: number;
  /** Streams of HTTP/2 and HTTP/3 that were refused, because the plan asked for it. */
  streams_refused: number;
  /** Streams of HTTP/2 and HTTP/3 that the client reset, or broke. */
  streams_reset: number;
  /** Answers 304. */
  unchanged: number;
  /** Answers that no shared cache may store. */
  unstorable: number;
  /** Answers to TCP messages that lack their last byte because the plan says so. */
  wrong_lengths: number;
}

/** An origin that an agent served. */
export interface OriginUse {
  /** How it was reached. */
  at: string;
  /** Bytes of bodies that it sent. */
  body_bytes: number;
  /** Connections that it took, as far as it has told. */
  connections: number;
  /** Those of them that it answered with a whole object. */
  full: number;
  /** Where it listened. */
  listens_at: string;
  /** When and why it was lost. */
  lost?: LostAgent;
  /** Its name within the run. */
  name: string;
  /** Requests that it answered. */
  requests: number;
  /** Its workers. */
  threads: number;
}

export interface Phase {
  began_s: number;
  byte_offload?: number;
  counts: { [name: string]: number };
  ended_s?: number;
  latency: { [name: string]: TimeSummary };
  measured: boolean;
  name: string;
  offload?: number;
  origin?: OriginCounts;
  paced_s: number;
  /** When it is to end, where that is known. */
  planned_end_s?: number;
  predicted_hit_ratio?: number;
}

export interface Piece {
  at_s: number;
  detail: string;
  parts: [string, string][];
  phase: string;
  status: number;
  text: string;
  title: string;
  trace_id?: string;
}

/** Figures that a recording has of the requests that are sent. */
export interface RecordedFigures {
  /** Requests that are due, in equal parts of the time from the first moment on; none where users wait for their answers. */
  due: number[];
  /** The recording's file. */
  file: string;
  /** Shares of requests and of bytes that came from a cache by its own account, where the log has that. */
  hits: number[] | null;
  /** Whatever is not sent, and why. */
  left_out: NotSent[];
  /** Bytes of an exact LRU cache without lifetimes, each with the requests that it would answer. */
  lru: [number, number][];
  /** Length of such a part in seconds. */
  part_s: number;
  /** Requests that are sent, without those that only warm up; copies count. */
  requests: number;
  /** Each status with its requests. */
  statuses: [number, number][];
  /** Requests that have such a time. */
  timed: number;
  /** Times from a request to its answer's end, where the log has them: p50, p90, p99 and the longest. */
  times_us: number[] | null;
}

/** The verdict on a run. */
export interface RunVerdict {
  /** Worth of its figures. */
  measurement: Measurement;
  /** How the target did, as far as they tell. */
  target: TargetVerdict;
}

/** One of the slowest requests that carried a trace context. */
export interface SlowRequest {
  due_s: number;
  response_us: number;
  /** Status, or what went wrong. */
  text: string;
  title: string;
  trace_id: string;
}

/** The histograms of one metric over time, as they are sent: how many rows each stands for, and its buckets. */
export interface Spans {
  bits: number;
  spans: [number, number[][]][];
}

/** How a run stands. */
export type State = "live" | "ended" | "open" | "cut";

export interface Step {
  name: string;
  /** Answers that failed, or in which a check failed. */
  not_good: number;
  requests: number;
  times: TimeSummary;
  trend: number[];
}

/** Verdict on the target. */
export interface TargetVerdict {
  /** Of those that left, the ones without a good answer; answers that failed a check only where they are more than are tolerated. */
  bad: number;
  /** Findings against it, the gravest first. */
  findings: VerdictFinding[];
  /** At least half of the requests got no good answer. */
  mostly_bad: boolean;
  /** Requests that this machine had no port or descriptor for; nothing is known of the target from them. */
  not_asked: number;
  /** Requests of which the findings speak: those that left this machine, and whose end is known. */
  requests: number;
  /** Since when nothing came from it, or nothing good, in seconds since the start of the run. */
  silent_since_s: number | null;
  /** In one word. */
  state: Conduct;
}

export interface Threshold {
  at_least: boolean;
  condition: string;
  limit_us?: number;
  names: string;
  /** The figure as people read it. */
  shown?: string;
  unevaluated: boolean;
  violated: boolean;
}

export interface TimeSummary {
  count: number;
  max_us: number;
  p50_us: number;
  p90_us: number;
  p999_us: number;
  p99_us: number;
}

/** A finding against the target. */
export interface VerdictFinding {
  /** Requests that it speaks of. */
  count: number;
  /** Its kind. */
  kind: FindingKind;
  /** A sentence part that tells it. */
  text: string;
}

/** Worth of a run's figures, in one word. */
export type Worth = "broken_off" | "nothing_sent" | "cut_off" | "generator_bound" | "disturbed" | "valid";
