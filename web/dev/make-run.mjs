// Synthetic runs in the form that a report inlines, to draw the page with and to test it: `node dev/make-run.mjs KIND` prints one as
// JSON. Everything comes of one seed, so that pictures stay the same.

import { fileURLToPath } from "node:url";

/** xorshift32: chance that is the same each time. */
export function chance(seed) {
  let state = seed | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

const indexOf = (value, bits) => {
  const half = 2 ** bits;
  if (value < 2 * half) return Math.max(0, Math.floor(value));
  const octave = Math.floor(Math.log2(value)) - bits;
  return octave * half + Math.floor(value / 2 ** octave);
};

/** Runs of neighbouring buckets of a map from bucket to count. */
export function runs(cells) {
  const out = [];
  let next = 0;
  for (const [index, count] of [...cells].sort((a, b) => a[0] - b[0])) {
    const gap = index - next;
    const last = out.at(-1);
    if (last && gap <= 2) {
      for (let n = 0; n < gap; n++) last.push(0);
      last.push(count);
    } else out.push([gap, count]);
    next = index + 1;
  }
  return out;
}

/** Differences of whole numbers, three significant digits of the highest. */
export function pack(values, exact = false) {
  const known = values.filter((value) => Number.isFinite(value));
  const high = Math.max(0, ...known.map(Math.abs));
  const whole = exact || known.every(Number.isInteger);
  const e = whole ? 0 : high > 0 ? Math.floor(Math.log10(high)) - 3 : 0;
  let last = 0;
  const d = values.map((value) => {
    if (!Number.isFinite(value)) return null;
    const now = Math.round(value / 10 ** e);
    const difference = now - last;
    last = now;
    return difference;
  });
  return e ? { e, d } : { d };
}

/** A sum of two lognormals (hits and misses), as counts by bucket: drawn by quantiles, so that tails are smooth and steep. */
function times(random, total, parts, bits) {
  const cells = new Map();
  for (const [share, median, sigma] of parts) {
    const draws = Math.min(400, Math.max(1, Math.round(total * share)));
    for (let n = 0; n < draws; n++) {
      const u = (n + random()) / draws;
      const value = median * Math.exp(sigma * normal(u)) * (1 + 0.03 * random());
      const index = indexOf(value, bits);
      cells.set(index, (cells.get(index) ?? 0) + Math.max(1, Math.round((total * share) / draws)));
    }
  }
  return cells;
}

/** Quantile of the normal distribution (Beasley, Springer, Moro). */
function normal(u) {
  const p = Math.min(1 - 1e-7, Math.max(1e-7, u));
  const t = Math.sqrt(-2 * Math.log(p < 0.5 ? p : 1 - p));
  const x = t - (2.515517 + 0.802853 * t + 0.010328 * t * t) / (1 + 1.432788 * t + 0.189269 * t * t + 0.001308 * t ** 3);
  return p < 0.5 ? -x : x;
}

const lowest = (index, bits) => {
  const half = 2 ** bits;
  if (index < 2 * half) return index;
  const octave = Math.floor(index / half) - 1;
  return (index - octave * half) * 2 ** octave;
};

function percentile(cells, bits, quantile) {
  const sorted = [...cells].sort((a, b) => a[0] - b[0]);
  let left = Math.ceil(quantile * sorted.reduce((sum, [, n]) => sum + n, 0));
  for (const [index, n] of sorted) {
    left -= n;
    if (left <= 0) return lowest(index, bits);
  }
  return NaN;
}

const METRICS = { service: 1, response: 1.15, first_byte: 0.8 };

export function makeRun({ seconds = 60, rate = 20_000, seed = 7, steps = 0, bits = 7, columns = 720, cache = true, slow = 1, hostile = false, workers = 2, state = "ended", replayed = false, fleet = false } = {}) {
  const random = chance(seed);
  const fill = seconds >= 20 ? Math.round(seconds * 0.2) : 0;
  const bound = seconds >= 40 ? [Math.round(seconds * 0.55), Math.round(seconds * 0.64)] : [0, 0];
  const rows = { at: [], seconds: [], phase: [] };
  const table = {};
  const put = (name, value) => (table[name] ??= Array(rows.at.length - 1).fill(0)).push(value);
  const metrics = Object.fromEntries([...Object.keys(METRICS), "hit", "miss"].map((name) => [name, { bits, spans: [] }]));
  const all = { service: new Map(), response: new Map(), first_byte: new Map(), hit: new Map(), miss: new Map() };
  const joined = Math.ceil(seconds / columns);
  let open = Object.fromEntries(Object.keys(all).map((name) => [name, new Map()]));
  const totals = {};
  for (let second = 0; second < seconds; second++) {
    const filling = second < fill;
    const isBound = second >= bound[0] && second < bound[1];
    const warm = filling ? 0.25 + (0.6 * second) / fill : 0.85 + 0.01 * (random() - 0.5);
    const begun = Math.round(rate * (isBound ? 0.86 + 0.05 * random() : 0.995 + 0.01 * random()));
    const bad = second === Math.round(seconds * 0.78) ? 41 : 0;
    const hits = Math.round((begun - bad) * warm);
    const collapsed = Math.round(begun * 0.012);
    const revalidated = Math.round(begun * 0.02);
    const misses = begun - bad - hits - collapsed - revalidated;
    rows.at.push(second + 1);
    rows.seconds.push(1);
    rows.phase.push(filling ? 0 : 1);
    const wave = slow * (1 + 0.15 * Math.sin(second / 5)) * (isBound ? 3.5 : 1) * (bad ? 1.8 : 1);
    const hitTimes = times(random, hits, [[1, 330 * wave, 0.35]], bits);
    const missTimes = times(random, misses, [[0.985, 1600 * wave, 0.4], [0.015, 6000 * wave, 0.5]], bits);
    const values = {
      requests: begun, ok: begun - bad, failed: bad, check_failed: 0, ended: begun - bad, overflow: isBound ? Math.round(rate * 0.09) : 0,
      hits: cache ? hits : 0, misses: cache ? misses : 0, revalidated: cache ? revalidated : 0, collapsed: cache ? collapsed : 0,
      connections: second === 0 ? 64 : bad, sent_bytes: begun * 142, head_bytes: begun * 310, body_bytes: begun * 11_800,
      ...(cache ? {
        "origin.requests": misses + revalidated, "origin.full": misses, "origin.unchanged": revalidated, "origin.body_bytes": misses * 11_800,
      } : {}),
      "status.200": begun - bad, ...(seconds >= 20 ? { "failure.reset.head": bad > 30 ? bad - 9 : 0, "failure.timeout.first_byte": bad ? 9 : 0 } : {}),
    };
    for (const [name, value] of Object.entries(values)) {
      put(name, value);
      if (!filling) totals[name] = (totals[name] ?? 0) + value;
    }
    put("in_flight", Math.round(begun * 0.0007 * wave + 3 * random()));
    put("asked", rate);
    for (let worker = 0; worker < workers; worker++) put(`cpu.${worker}`, (isBound ? 0.86 : 0.38 + 0.02 * worker) + 0.04 * random());
    put("lateness.p99", isBound ? 7000 + 1500 * random() : 70 + 30 * random());
    put("cores.nginx", (isBound ? 0.8 : 0.62) + 0.05 * random());
    put("memory.nginx", 38e6 + 4e4 * second);
    for (const [name, factor] of Object.entries(METRICS)) {
      const cells = new Map();
      for (const part of [hitTimes, missTimes]) {
        for (const [index, n] of part) {
          const moved = indexOf(lowest(index, bits) * (isBound && name === "response" ? factor * 3 : factor), bits);
          cells.set(moved, (cells.get(moved) ?? 0) + n);
        }
      }
      merge(open[name], cells);
      if (!filling) merge(all[name], cells);
      for (const [figure, q] of [["p50", 0.5], ["p99", 0.99], ["p999", 0.999], ["max", 1]]) put(`${name}.${figure}`, percentile(cells, bits, q));
    }
    merge(open.hit, hitTimes);
    merge(open.miss, missTimes);
    if (!filling) {
      merge(all.hit, hitTimes);
      merge(all.miss, missTimes);
    }
    if ((second + 1) % joined === 0 || second === seconds - 1) {
      const length = (second % joined) + 1;
      for (const name of Object.keys(open)) metrics[name].spans.push([length, runs(open[name])]);
      open = Object.fromEntries(Object.keys(all).map((name) => [name, new Map()]));
    }
  }
  const latency = Object.fromEntries(Object.entries(all).map(([name, cells]) => {
    const at = (q) => percentile(cells, bits, q);
    return [name, { count: [...cells.values()].reduce((a, b) => a + b, 0), p50_us: at(0.5), p90_us: at(0.9), p99_us: at(0.99), p999_us: at(0.999), max_us: at(1) }];
  }));
  const evil = `</script><img src=x onerror=alert(1)><svg onload=alert(2)>\u001b[31m\u202egnp.exe\u0000`;
  const origin = Object.fromEntries(Object.entries(totals).filter(([name]) => name.startsWith("origin.")).map(([name, n]) => [name.slice(7), n]));
  const phases = [
    fill && { name: "fill", measured: false, began_s: 0, ended_s: fill, counts: {}, latency: {} },
    {
      name: "measure", measured: true, began_s: fill, ended_s: seconds, paced_s: seconds - fill, asked_per_s: rate, counts: totals, origin: cache ? origin : undefined,
      ...(cache ? { predicted_hit_ratio: 0.853, offload: 1 - totals["origin.full"] / totals.ended } : {}), latency,
    },
  ].filter(Boolean);
  if (!fill) rows.phase.fill(0);
  const steps_ = Array.from({ length: steps }, (_, n) => {
    const requests = Math.round((rate * seconds) / (n + 1) / 8) + 1;
    const p50 = Math.round(300 + 900 * random());
    return {
      name: `${["GET", "POST", "GET", "PUT"][n % 4]} /${["cart", "search", "item", "login", "pay"][n % 5]}/${n}`, requests, not_good: n % 17 === 3 ? n % 50 : 0,
      times: { count: requests, p50_us: p50, p99_us: p50 * 6, p999_us: p50 * 15, max_us: p50 * 40 },
      ...(steps <= 200 ? { trend: Array.from({ length: 30 }, () => Math.round((requests / 30) * (0.8 + 0.4 * random()))) } : { trend: [] }),
    };
  });
  const boundReasons = bound[1] > 0 ? ["cpu", "lateness", "overflow"] : [];
  const traced = { trace_id: "7c2e4d1c9ab0f35511d2a0c8e6b94f70", title: "GET /w/1f/14800", text: "200", due_s: 31.2, response_us: 41_200 };
  const slowest = hostile ? [{ ...traced, title: evil, text: evil, trace_id: evil }] : [];
  const lost = { at_s: 12.4, why: hostile ? evil : "its process was ended by signal 9", tolerated: false };
  const agent = { name: "a1", at: "ssh:load@192.0.2.10", threads: 2, share: 0.5, requests: totals.requests, ok: totals.requests, p99_us: 1_200, late_us: 120, clock_error_us: 80 };
  const server = { name: "o1", at: "ssh:load@192.0.2.20", listens_at: "192.0.2.20:9080", threads: 2, connections: 32, requests: 4_200, full: 3_900, body_bytes: 57_700_000 };
  const agents = fleet || hostile ? [agent, { ...agent, name: hostile ? evil : "a2", at: hostile ? evil : "local", p99_us: null, reasons: [hostile ? evil : "its CPU was busy for 97 %"], lost }] : [];
  const origins = fleet || hostile ? [server, { ...server, name: hostile ? evil : "o2", listens_at: hostile ? evil : "192.0.2.21:9080", lost }] : [];
  const answered = { state: "answered", mostly_bad: false, silent_since_s: null, requests: totals.requests, bad: 0, findings: [] };
  return {
    format: 3, first_row: 0, rows: seconds, next: `1-${seconds - 1}`,
    head: {
      id: "0193551f-7c2e-7000-8000-00007f3a4d1c", version: "0.1.0", door: "cache", target: hostile ? evil : "nginx 1.22.1 on 127.0.0.1:8080", started_unix_s: 1_795_000_000, seed: String(seed),
      command: `wringer cache 127.0.0.1:8080 --rate ${rate / 1000}k/s --fill ${fill}s --duration ${seconds - fill}s --seed ${seed}`, labels: hostile ? [evil] : ["nightly", "main 4d1c"], threads: workers, backend: "io_uring",
      machine: [["CPU", "AMD EPYC 7B13, 2 cores"], ["kernel", "6.1.0-28-amd64"], ["memory", "8.2 GB"], ["I/O", "io_uring"], ["local ports", "28,232"], ["descriptors", "1,048,576"]],
      plan: hostile ? evil : `seed = ${seed}\n\n[site]\nobjects = 100_000\n\n[load]\ntarget = "127.0.0.1:8080"\nrate = "20k/s"\n`,
    },
    state, interrupted: false, took_s: seconds,
    verdict: bound[1] > 0
      ? {
          measurement: { state: "generator_bound", reasons: ["a worker used 89 % of its core (water mark 75 %): add threads or machines, or ask for less", "sends were late by 8.1 ms (p99): the pace was not kept; add threads or machines, or ask for less"] },
          target: { ...answered, state: "flawed", bad: 41, findings: [{ kind: "failed", count: 41, text: `41 of ${totals.requests} requests failed: connection reset by peer` }] },
        }
      : { measurement: { state: "valid", reasons: [] }, target: answered },
    phases, at: pack(rows.at), seconds: pack(rows.seconds), paced: pack(rows.seconds), interval_s: 1, lost: [], slowest, agents, origins, phase: pack(rows.phase),
    columns: Object.fromEntries(Object.entries(table).map(([name, values]) => [name, pack(values)])),
    metrics, steps: steps_, steps_left: 0,
    failures: seconds >= 20 ? [
      { what: "failure", name: "reset", text: "connection reset", stage: "head", errno: "104 (ECONNRESET)", count: 32, column: "failure.reset.head" },
      { what: "failure", name: "timeout", text: "timed out", stage: "first_byte", count: 9, column: "failure.timeout.first_byte" },
    ] : [],
    evidence: hostile ? [{ title: evil, text: "wrong bytes", detail: evil, at_s: 3, status: 200, phase: evil, parts: [["response", evil], ["request", "GET / HTTP/1.1"]] }] : [], evidence_left: 0,
    marks: seconds >= 40 ? [{ at_s: Math.round(seconds * 0.75), text: hostile ? evil : "deployed 4711", kind: "mark" }] : [],
    bound: boundReasons.length ? [{ from_s: bound[0], to_s: bound[1], reasons: boundReasons }] : [],
    thresholds: seconds >= 40 ? [{ condition: "p99 > 10ms", value: latency.service.p99_us, violated: latency.service.p99_us > 10_000, at_least: false, limit_us: 10_000 }, { condition: "failed > 1%", value: 0.00004, violated: false, at_least: false }] : [],
    notes: [{ text: hostile ? evil : "mark at 28.0 s: deployed 4711" }],
    text: "The report as text stands here.\n",
    ...(replayed ? { recorded: recorded(rate, seconds - fill, hostile ? evil : "day.rec") } : {}),
  };
}

/** What a log had of the same requests: a little fewer at first. */
function recorded(rate, seconds, file) {
  const due = Array.from({ length: seconds }, (_, n) => Math.round(rate * (0.8 + 0.25 * Math.sin(n / 9))));
  const requests = due.reduce((sum, n) => sum + n, 0);
  return {
    file, requests, due, part_s: 1, statuses: [[200, requests - 1_200], [404, 1_200]], times_us: [900, 2_400, 8_100, 310_000], timed: requests,
    hits: [0.83, 0.71], lru: [[64 << 20, Math.round(0.8 * requests)]], left_out: [{ why: "method POST, which is not sent unless --methods has it", requests: 311 }],
  };
}

function merge(into, cells) {
  for (const [index, n] of cells) into.set(index, (into.get(index) ?? 0) + n);
}

export const KINDS = {
  second: { seconds: 1 },
  minute: { steps: 12 },
  hour: { seconds: 3600, steps: 20, bits: 4, rate: 10_000 },
  day: { seconds: 2700, steps: 20, bits: 4 },
  steps: { steps: 10_000 },
  hostile: { hostile: true, steps: 3, replayed: true },
  replay: { replayed: true },
  fleet: { seconds: 30, fleet: true },
  valid: { seconds: 30, steps: 0 },
  live: { seconds: 41, steps: 6, state: "live" },
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log(JSON.stringify(makeRun(KINDS[process.argv[2] ?? "minute"])));
}
