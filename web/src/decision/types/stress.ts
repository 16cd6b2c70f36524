// Types of what wringer stress --json writes. Made of crates/decide/src/schema/stress.json by `cargo xtask schema`: change its types.

/** Findings as they are written. */
export interface Stress {
  /** Options of all scenarios. */
  asked: StressOptions;
  /** The capacity was given, and not measured. */
  assumed: boolean;
  /** It was ended by hand before all were run. */
  ended_early: boolean;
  /** Exit code of the command; `null`: it is not over. */
  exit: number | null;
  /** In the order in which they were run. */
  findings: StressFinding[];
  /** Facts that scenarios were fitted to. */
  ground: Ground;
  schema: "wringer.stress";
  /** Raised when a field changes its meaning, unit or place, or goes away. */
  schema_version: number;
  /** The target, as people read it. */
  target: string;
  /** The first lines of what was printed. */
  text: string;
  /** The version of wringer. */
  version: string;
}

/** A kind of cause. */
export type Cause = "accept_queue" | "threads" | "descriptors" | "cpu" | "ports" | "memory" | "disk" | "eviction" | "collapsing" | "origin" | "framing";

/** Counters of this machine and of the target that no window of the bystander tells. */
export interface Counters {
  /** Share of a core that its busiest thread used. */
  busiest_thread: number | null;
  /** Cores of this machine. */
  cores: number;
  /** CPU that the target used while it pressed, in cores. */
  cores_used: number | null;
  /** Connections that found the accept queue full while it pressed, on the whole machine. */
  listen_overflows: number | null;
  /** Connections that the way to the origin refused or cut, as the scenario wanted. */
  origin_disturbed: number;
  /** Sockets in TIME_WAIT towards the origin, at most. */
  origin_time_wait: number | null;
}

/** Counters of the client side; each is a plain sum. */
export interface Counts {
  /** Requests that the client broke off on purpose. */
  aborted: number;
  /** Hits without an Age. */
  ageless: number;
  /** Bytes of bodies received, transfer coding removed. */
  body_bytes: number;
  /** Challenges (401, 407) that were answered: each a round of its own, and no request. */
  challenges: number;
  /** Requests whose answer came whole and failed a check: the oracle found it false, or it is not what the plan expects. */
  check_failed: number;
  /** Answers that say of themselves whether they were hits (X-Cache, Cache-Status). */
  claims: number;
  /** Answers that the origin made for another request under way at the same time. */
  collapsed: number;
  /** Body bytes of collapsed requests. */
  collapsed_bytes: number;
  /** Requests with a validator. */
  conditional: number;
  /** Connections opened. */
  connections: number;
  /** Answers that set a cookie, and with which the origin had set none. */
  cookies_added: number;
  /** Answers with which the origin had set a cookie, and which set none. */
  cookies_lost: number;
  /** URLs dropped because too many waited. */
  dropped_urls: number;
  /** Answers to requests that were due to be hits: the object had been delivered whole before, its lifetime was not over, and the cache had room for it (see [`crate::stored`]). */
  due: number;
  /** Those of them that the cache did answer, alone, with the origin's word or by a fetch under way. */
  due_hits: number;
  /** Requests sent as TLS early data (0-RTT) that the server took. */
  early_accepted: number;
  /** Requests sent as TLS early data that the server did not take; they were sent again. */
  early_rejected: number;
  /** Requests that came to an end with an answer, good or not. */
  ended: number;
  /** Sum of microseconds from the intended send to completion, over all answers counted in `ended`. */
  ended_us: number;
  /** Requests that got no good answer. */
  failed: number;
  /** Those of them that say a hit of a miss, or a miss of a hit. */
  false_claims: number;
  /** Bytes of the fields of answers over HTTP/2, before they were compressed. */
  field_bytes: number;
  /** Whole answers without an ETag, a Last-Modified or a Content-Type that the origin gives with each. */
  fields_lost: number;
  /** Sum of microseconds from the intended send to the first byte, over all answers counted in `ended`. */
  first_byte_us: number;
  /** Resources not fetched because an answer seen before still held. */
  fresh: number;
  /** GOAWAYs of HTTP/2 that came. */
  goaways: number;
  /** Full TLS handshakes. */
  handshakes_full: number;
  /** TLS handshakes that resumed a session. */
  handshakes_resumed: number;
  /** Bytes of header fields received. */
  head_bytes: number;
  /** Requests for the head alone. */
  heads: number;
  /** Body bytes of hits. */
  hit_bytes: number;
  /** Answers from the cache. */
  hits: number;
  /** Connections that the server gave up, by an answer of 408, while nothing was under way on them (RFC 9110 section 15.5.9). */
  idle_timeouts: number;
  /** Requests that failed because the origin had been told to fail them. */
  injected: number;
  /** Interim answers (1xx) over HTTP/2. */
  interims: number;
  /** Hits for HEAD without the Content-Length that an answer to GET has. */
  lengthless: number;
  /** Body bytes of misses. */
  miss_bytes: number;
  /** Answers that the origin made for this request. */
  misses: number;
  /** Requests whose answer was good. */
  ok: number;
  /** Hits of an older version than one that had come before they were asked for. */
  older: number;
  /** Requests that were due but not sent, because too many were under way. */
  overflow: number;
  /** Pages whose resources were fetched. */
  pages: number;
  /** Of these, connections opened before their phase began. */
  preconnected: number;
  /** Hits of what had been purged before they were asked for, within the time that a purge may take. */
  purged_hits: number;
  /** Sum of the times from a purge's acknowledgement to such a request, in microseconds. */
  purged_hits_us: number;
  /** Purges sent. */
  purges: number;
  /** Those of them that were acknowledged. */
  purges_acknowledged: number;
  /** Messages that nobody had asked for. */
  pushed: number;
  /** Requests for a range. */
  ranges: number;
  /** Such requests answered with the whole object, as RFC 9110 allows. */
  ranges_ignored: number;
  /** Those of them that have a later Date than that at which they were made. */
  redated: number;
  /** Redirections received. */
  redirects: number;
  /** Requests with `no-cache`. */
  reloads: number;
  /** Whole answers whose stamp is that of a 304 of the origin: their fields were renewed. */
  renewed: number;
  /** Those of them in which such a field says something else, or with a Set-Cookie that is not the origin's. */
  renewed_changed: number;
  /** Those of them without a field that the origin gave with the answer or with the 304. */
  renewed_lost: number;
  /** Requests begun, whatever became of them. */
  requests: number;
  /** Requests sent again because a kept connection was lost before any byte of the answer. */
  resent: number;
  /** Resources of pages that were fetched; they are requests. */
  resources: number;
  /** Requests sent over a connection that had carried one before. */
  reused: number;
  /** Answers from the cache that the origin confirmed for this request. */
  revalidated: number;
  /** Body bytes of revalidated answers. */
  revalidated_bytes: number;
  /** Bytes of requests. */
  sent_bytes: number;
  /** Times that bytes came over a connection which no request had asked for: behind the last answer that was due, or while nothing was under way. They belong to no request (RFC 9112 section 6.3). */
  stray: number;
  /** Bytes that came so. */
  stray_bytes: number;
  /** Times that a request waited for one of its connection's streams to end. */
  stream_waits: number;
  /** Streams of HTTP/2 that this side cancelled. */
  streams_cancelled: number;
  /** Requests that carried a trace context. */
  traced: number;
  /** Answers whose stamp names no request, because the proxy did not pass the request field on. */
  unattributed: number;
  /** Answers 304 to the client. */
  unchanged: number;
  /** Requests still under way when their part of the run was over. */
  unfinished: number;
  /** Answers without a stamp. */
  unstamped: number;
  /** Events that were not told because nobody read them fast enough. */
  untold: number;
}

/** Facts that a scenario is fitted to. */
export interface Ground {
  /** Bytes that it may keep, where that is known. */
  cache_bytes: number | null;
  /** Good answers per second over kept connections. */
  capacity: number;
  /** The same with a connection for each request. */
  connections: number;
  /** Descriptors that this process may have. */
  descriptors: number;
  /** Its cache can be put on a disk of its own, which may be filled. */
  has_disk: boolean;
  /** Whoever asks has said that the target is theirs, or wringer has started it. */
  is_owned: boolean;
  /** TLS is spoken to the target. */
  is_secure: boolean;
  /** Its processes are known, so that their limits can be changed. */
  knows_processes: boolean;
  /** Seconds that it presses. */
  press_s: number;
  /** wringer knows how it is made to read its configuration again. */
  reloads: boolean;
}

/** A cause whose counter moved. */
export interface Moved {
  /** The cause. */
  cause: Cause;
  /** The counter, with its value before and meanwhile. */
  evidence: string;
}

/** The pressure, as the clients that made it saw it. */
export interface Pressed {
  /** The most connections, or requests under way, that it meant to have. */
  connections: number;
  /** Their counters. */
  counts: Counts;
  /** Objects of its hot set. */
  objects: number;
  /** Bytes of bodies that the origin sent meanwhile, to whomever. */
  origin_bytes: number | null;
  /** The 99th percentile of the response time of good answers. */
  p99_ms: number | null;
  /** Seconds that it pressed. */
  seconds: number;
}

/** Resources that the target's processes hold at one moment. `None`: it cannot be seen. */
export interface Resources {
  /** Connections whose clients are gone. */
  clients: number | null;
  /** Connections of clients that these have ended and the target has not. */
  close_wait: number | null;
  /** The smallest limit of descriptors of any of them, and the most that one of them holds. */
  descriptor_limit: number | null;
  /** Descriptors, over all processes. */
  descriptors: number | null;
  /** Resident memory in bytes, over all. */
  memory_bytes: number | null;
  /** Most descriptors of one process. */
  most_descriptors: number | null;
  /** Connections to the origin. */
  origin: number | null;
  /** Threads, over all. */
  threads: number | null;
}

/** Facts of a scenario that was run. */
export interface Seen {
  /** After that, until it was well, or the time was up. */
  after: Window;
  /** Seconds until the bystander was well again; `None`: it was not. */
  back_s: number | null;
  /** The bystander before, during and after. */
  before: Window;
  /** Bytes that it may keep, where that is known. */
  cache_bytes: number | null;
  /** How the target died. */
  died: string | null;
  /** While it pressed. */
  during: Window;
  /** When the way back was over. */
  held_after: Resources;
  /** The target before, at most while it pressed, and at the end. */
  held_before: Resources;
  /** The most of each while it pressed. */
  held_most: Resources;
  /** It says something only of a target that caches. */
  of_caches: boolean;
  /** The pressure itself. */
  pressed: Pressed;
  /** Seconds that the way back was watched. */
  watched_s: number;
  /** Why it did not press as it should: the generator was the limit. Nothing passes then. */
  weak: string | null;
}

/** A scenario with what came of it. */
export interface StressFinding {
  /** The pressure, in words. */
  about: string;
  /** The verdict of a second time on a fresh target, where the first was no pass. */
  again: Verdict | null;
  /** Counters beside them. */
  counters: Counters | null;
  /** Run files: of the bystander and of the pressure. */
  files: string[];
  /** Causes whose counters moved; told where it does not pass. */
  moved: Moved[];
  /** The scenario. */
  scenario: string;
  /** Facts; `None`: it was not run. */
  seen: Seen | null;
  /** Verdict in the end. */
  verdict: Verdict;
}

/** Options that all scenarios of a report were run with. */
export interface StressOptions {
  /** Seconds that the way back is watched, at most. */
  back_s: number;
  /** Bytes that it may keep, where that is known. */
  cache_bytes: number | null;
  /** Its capacity, where it was given. */
  capacity: number | null;
  /** The target is theirs who ask. */
  is_owned: boolean;
  /** TLS is spoken to it. */
  is_secure: boolean;
  /** Seconds that each presses. */
  press_s: number;
  /** All chance comes from it. */
  seed: number;
  /** The target, as it was typed. */
  target: string;
}

/** Result of a scenario. */
export type StressState = "not_run" | "pass" | "degraded" | "failed" | "broken";

/** A verdict with its reasons. */
export interface Verdict {
  /** Sentences; for a pass none. */
  reasons: string[];
  /** In a word. */
  state: StressState;
}

/** The bystander over some time. */
export interface Window {
  /** Requests that were due. */
  due: number;
  /** Answers that the oracle found wrong. */
  faulty: number;
  /** Answers that came out of the cache, as a share. */
  hit_ratio: number | null;
  /** How late its requests were sent: the 99th percentile. */
  late_ms: number | null;
  /** Those of them that got no good answer, wrong ones included. */
  not_good: number;
  /** The 99th percentile of the response time of good answers. */
  p99_ms: number | null;
}
