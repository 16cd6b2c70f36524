// Made-up decisions for pictures and tests, in the forms of the schemas: where those change, this does not build any more.

import type { Decision, Difference, Metric, Word } from "../src/decision/types/compare.ts";
import type { Search } from "../src/decision/types/find.ts";
import type { Point, Sizes } from "../src/decision/types/size.ts";
import type { StressFinding, Resources, StressState, Stress, Window } from "../src/decision/types/stress.ts";

/** Values around another one, the same each time. */
function around(middle: number, width: number, count = 8): number[] {
  return Array.from({ length: count }, (_, n) => middle + width * Math.sin(7.3 * n + middle * 50));
}

function judged(metric: Metric, a: number, change: number, word: Word, margin: number): Difference {
  const share = metric === "failed" || metric === "hits";
  const less = metric === "throughput" || metric === "hits";
  const own = less ? -change : change;
  const width = 0.4 * margin + 0.1 * Math.abs(change);
  return {
    metric,
    a,
    b: share ? a + own : a * (1 + own),
    differences: around(share ? own : Math.log1p(own), 1.6 * width),
    judgement: { judged: { change, could_have_seen: 1.2 * width, interval: { low: change - width, high: change + width }, margin, p: 0.001, p_of_all: 0.004, word } },
  };
}

export function comparison(more: Partial<Decision> = {}): Decision {
  const settings = { anew: true, control: true, fail_if_slower: 0.03, figures: [], forecast_only: false, lengths: { closed_s: 2, closed_warm_s: 1, open_s: 2, open_warm_s: 1 }, pairs: 8, require_within: null, seed: 1, until_sure: false, users: 64 };
  return {
    schema: "wringer.comparison",
    schema_version: 1,
    version: "0.1.0",
    a: "nginx 1.26 at 127.0.0.1:8080",
    b: "nginx 1.27 <b>at</b> 127.0.0.1:8081",
    sides: ["http://127.0.0.1:8080/", "http://127.0.0.1:8081/"],
    facts: [],
    exit: 3,
    text: "of both sides, started anew for each pair, B is, against A: worse in throughput; better in CPU per answer; cannot tell of p50; no difference that matters in failed; not judged: p99",
    outcome: {
      finding: "compared",
      anew: true,
      control: [{ metric: "throughput", differences: around(0, 0.01), change: 0.002, range: { low: -0.008, high: 0.011 }, as_much: false }],
      figures: [
        judged("throughput", 18_500, 0.083, "worse_by_more", 0.02),
        judged("cpu", 48e-6, -0.012, "better_by_less", 0.02),
        judged("p50", 2.1, 0.02, "cannot_tell", 0.05),
        { metric: "p99", a: null, b: null, differences: [], judgement: { not_judged: { why: "a leg has 2045 answers in its open part, 3000 are wanted: longer legs" } } },
        judged("failed", 0, 0, "none_that_matters", 0.001),
      ],
      violated: ["B is slower by 8.3 % in throughput, and 3.0 % is a failure"],
      notes: ["the first block was run again with warm-ups twice as long"],
      pairs: 8,
      legs: 40,
      void: 1,
      open_rate: 11_100,
      took_s: 173,
    },
    record: { settings, steps: [] },
    seen: [null, null],
    files: [null, "/runs/20261129T051500-9f7bfa4b.wrun"],
    ...more,
  };
}

export function search(more: Partial<Search> = {}): Search {
  const limits = [{ quantile: { quantile: 0.99, limit_ms: 50 } }, { failed: { share: 0.001 } }];
  const row = (rate: number, p99_ms: number, verdict: string) => ({ rate, trials: 2, over: [p99_ms > 50 ? 0.04 : p99_ms / 20_000, 0], good_per_s: rate, p99_ms, cpu: rate / 30_000, hit_ratio: null, verdict });
  const knee = { held: 20_900, interval: { low: 20_700, high: 21_800 }, is_wall: false, limit: limits[0]!, rate: 21_200, recovery: { after_s: 3.2, at_share: 0.5, carries_again: true, waited_s: 60 }, trials: 9 };
  return {
    schema: "wringer.search",
    schema_version: 1,
    version: "0.1.0",
    target: "http://127.0.0.1:8080/",
    exit: 0,
    text: "21200/s keeps p99<50 ms (95 % interval 20700/s to 21800/s; 20900/s held for a minute)",
    conclusion: {
      outcome: {
        finding: { knee },
        notes: ["the p99 rises by 4.1 % with each percent of load at the water mark"],
        rates: [row(4_000, 1.1, "keeps"), row(8_000, 1.5, "keeps"), row(16_000, 4.2, "keeps"), row(20_000, 21, "keeps"), row(21_000, 44, "unclear, kept so far"), row(22_500, 92, "breaks: 4.0 % of the due requests are over p99<50 ms"), row(26_000, 640, "breaks: it grows")],
        took_s: 214,
        trials: 14,
      },
      water_mark: { rate: 15_500, share: 0.75, reasons: ["75 % of the knee is the usual reserve"] },
      elasticity: 4.1,
      closed: { users: 64, good_per_s: 23_400, at_least: false },
      required: null,
      limits: ["p99<50 ms", "failed<0.1 %"],
    },
    record: { settings: { arrivals: "poisson", budget_s: 600, limits, seed: 1, users: 64, within: 0.03 }, steps: [] },
    purchase: null,
    throughput: null,
    answered_by: [],
    files: [],
    ...more,
  };
}

export function sizes(more: Partial<Sizes> = {}): Sizes {
  const memory_bytes = 64 << 20;
  const point = (object_bytes: number, times: number, hits: number): Point => ({ object_bytes, objects: Math.round((times * memory_bytes) / object_bytes), alpha: 0.9, memory_bytes, is_filled: true, warm_requests: 10_000, requests: 10_000, hits: Math.round(10_000 * hits), seconds: 4 });
  const curve = (one: Point) => {
    const set_bytes = one.object_bytes * one.objects;
    const ratio = (bytes: number) => Math.min(1, Math.log2(1 + (bytes / set_bytes) * 15) / 4);
    return { set_bytes, at_memory: ratio(memory_bytes), places: Array.from({ length: 25 }, (_, n): [number, number] => [memory_bytes * 2 ** ((n - 16) / 4), ratio(memory_bytes * 2 ** ((n - 16) / 4))]) };
  };
  const small = [point(1_000, 0.5, 0.71), point(1_000, 2, 0.42)];
  const large = [point(950_000, 0.5, 0), point(950_000, 2, 0)];
  const windows = Array.from({ length: 60 }, (_, n) => ({ seconds: 0.1, requests: 150, hits: Math.round(150 * 0.7 * (1 - Math.exp(-n / 12))) }));
  return {
    schema: "wringer.size",
    schema_version: 1,
    version: "0.1.0",
    target: "ats 9.2",
    exit: 0,
    text: "ats 9.2: of 64.0 MiB, so much works:",
    asked: { target: "ats", seed: 1, memory_bytes, sizes: [1_000, 950_000], sets: [0.5, 2], alpha: 0.9, limit_s: 20, for_hits: null, shift_to: 480_000 },
    classes: [
      {
        object_bytes: 1_000,
        points: [[small[0]!, { is: { share: 0.44, low: 0.41, high: 0.48 } }], [small[1]!, { is: { share: 0.46, low: 0.44, high: 0.49 } }]],
        shift: { from_bytes: 1_000, end: point(480_000, 2, 0.61), predicted: 0.7, model_requests: 4_000, model_s: 2.7, reached: { after: 3.4 }, turnovers: 3, share: { is: { share: 0.8, low: 0.7, high: 0.9 } }, windows },
        curves: small.map(curve),
      },
      { object_bytes: 950_000, points: [[large[0]!, "nothing"], [large[1]!, "nothing"]], shift: null, curves: large.map(curve) },
    ],
    files: [],
    ...more,
  };
}

export function stress(more: Partial<Stress> = {}): Stress {
  const held = (memory_bytes: number): Resources => ({ clients: null, close_wait: null, descriptor_limit: 1024, descriptors: 200, memory_bytes, most_descriptors: 200, origin: null, threads: 4 });
  const window = (p99_ms: number, not_good: number): Window => ({ due: 1_000, faulty: 0, hit_ratio: 1, late_ms: 0.3, not_good, p99_ms });
  const finding = (scenario: string, about: string, state: StressState, reasons: string[], p99: number, back_s: number | null): StressFinding => ({
    scenario,
    about,
    verdict: { state, reasons },
    moved: state === "pass" ? [] : [{ cause: "accept_queue", evidence: "412 connections found it full" }],
    seen: state === "not_run" ? null : {
      before: window(1.2, 0), during: window(p99, p99 > 100 ? 81 : 0), after: window(1.3, 0), back_s, cache_bytes: null, died: null, held_after: held(21e6), held_before: held(20e6), held_most: held(64e6), of_caches: false,
      // Counters of the pressure are many, and the page shows none.
      pressed: { connections: 1_000, counts: {} as never, objects: 0, origin_bytes: null, p99_ms: null, seconds: 30 }, watched_s: 60, weak: null,
    },
    counters: null,
    again: state === "failed" ? { state, reasons } : null,
    files: [],
  });
  return {
    schema: "wringer.stress",
    schema_version: 1,
    version: "0.1.0",
    target: "nginx 1.26.3",
    exit: 3,
    text: "nginx 1.26.3: of 4 scenarios 1 failed, 1 degraded it, 1 passed and 1 NOT RUN or void",
    asked: { target: "nginx", seed: 1, press_s: 30, back_s: 60, capacity: null, cache_bytes: null, is_secure: false, is_owned: true },
    ground: { cache_bytes: null, capacity: 23_000, connections: 6_100, descriptors: 20_000, has_disk: false, is_owned: true, is_secure: false, knows_processes: true, press_s: 30, reloads: true },
    assumed: false,
    ended_early: false,
    findings: [
      finding("surge", "requests for hot objects at 1.5 times what it carries, by chance", "degraded", ["the bystander's p99 went from 1.2 ms to 60 ms"], 60, 0),
      finding("connection-flood", "twice the connections per second that it carries", "failed", ["8.1 % of the bystander's requests failed"], 950, null),
      finding("short-connections", "two requests per connection", "pass", [], 2.1, 0),
      finding("tls-handshakes", "a full TLS handshake for each request", "not_run", ["it does not speak TLS"], 0, null),
    ],
    ...more,
  };
}
