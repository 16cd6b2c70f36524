// The records of a run, folded one by one, give what the server gathers of all of them at once.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createServer } from "vite";
import { chance, makeRun, runs } from "../dev/make-run.mjs";

let vite;
let fold;
let model;
let histogram;
let windows;
let notes;

before(async () => {
  const root = new URL("..", import.meta.url).pathname;
  vite = await createServer({ configFile: false, root, server: { middlewareMode: true, ws: false }, appType: "custom", logLevel: "error", optimizeDeps: { noDiscovery: true } });
  [fold, model, histogram, windows, notes] = await Promise.all(["fold", "model", "histogram", "window", "text/notes"].map((name) => vite.ssrLoadModule(`/src/${name}.ts`)));
});
after(() => vite.close());

test("buckets are those of HdrHistogram", () => {
  for (const bits of [3, 7, 10]) {
    for (const value of [0, 1, 15, 16, 255, 256, 2047, 2048, 2049, 123_456, 3_599_999_999]) {
      const index = histogram.indexOf(value, bits);
      const low = histogram.lowest(index, bits);
      assert.ok(low <= value && value < low + histogram.width(index, bits), `${value} in ${bits} bits`);
    }
  }
});

test("percentiles of a sum are those of the sorted values, in two digits", () => {
  const random = chance(5);
  const values = Array.from({ length: 5000 }, () => Math.floor(Math.exp(14 * random())));
  const cells = new Map();
  for (const value of values) {
    const index = histogram.indexOf(value, 7);
    cells.set(index, (cells.get(index) ?? 0) + 1);
  }
  const one = histogram.Histogram.fromRuns(runs(cells), 7);
  const sum = new histogram.Sum().add(one);
  values.sort((a, b) => a - b);
  for (const quantile of [0.5, 0.9, 0.99, 0.999]) {
    const exact = values[Math.ceil(quantile * values.length) - 1];
    assert.ok(Math.abs(sum.percentile(quantile) - exact) <= 0.008 * exact + 1, `p${quantile}`);
  }
  assert.equal(sum.total, 5000);
  assert.ok(Number.isNaN(new histogram.Sum().percentile(0.5)));
});

test("seconds that come one by one add up, gaps stay gaps, and unknown kinds pass", () => {
  const run = model.decode({ ...makeRun({ seconds: 10, state: "live" }), next: 11 });
  const { rows } = run;
  const all = { from: 0, to: 100 };
  const [requests, failed] = ["requests", "failed"].map((name) => windows.figures(run, all).counts(name));
  const second = (at_s, count) => ({
    kind: "second",
    at_s,
    seconds: 1,
    phase: 0,
    in_flight: 3,
    clients: {
      counts: { requests: count, ok: count - 1, failed: 1, ended: count },
      statuses: [[503, 2]],
      failures: [{ kind: "reset", stage: "head", errno: 104, count: 1 }],
    },
    metrics: { service: [[200, 5, 0, count]], lateness: [[90, 4]] },
    worker_cpu: [0.5],
    bound: at_s > 12 ? ["cpu"] : [],
  });
  for (const record of [second(11, 10), second(12, 20), { kind: "later", x: 1 }, second(13, 30), second(14, 40), second(20, 7)]) {
    assert.equal(fold.apply(run, record), false);
  }
  assert.equal(run.rows, rows + 5);
  const after = windows.figures(run, all);
  assert.equal(after.counts("requests"), requests + 107);
  assert.equal(after.counts("failed"), failed + 5);
  assert.equal(run.columns.get("status.503").reduce((a, b) => a + b), 10);
  assert.equal(run.failures.find((one) => one.column === "failure.reset.head").count, 5);
  assert.deepEqual(run.bound, [
    { from_s: 12, to_s: 14, reasons: ["cpu"] },
    { from_s: 19, to_s: 20, reasons: ["cpu"] },
  ]);
  assert.equal(run.columns.get("service.p99").length, run.rows);
  assert.equal(windows.sumOf(run, "service", (row) => row >= rows).total, 5 * 5 + 107);
  assert.ok(fold.apply(run, { kind: "end" }), "the page asks for the whole then");
});

test("a run of a day is taken in second by second", () => {
  const run = model.decode(makeRun({ seconds: 2, state: "live" }));
  const record = { kind: "second", seconds: 1, phase: 0, clients: { counts: { requests: 5, ok: 5 } }, metrics: {} };
  for (let at_s = 3; at_s <= 86_400; at_s++) fold.apply(run, { ...record, at_s });
  assert.equal(run.rows, 86_400);
  assert.equal(run.columns.get("requests")[86_399], 5);
  assert.equal(windows.figures(run, { from: 2, to: 86_400 }).counts("requests"), 5 * 86_398);
});

test("metrics that follow from others are derived", () => {
  const run = model.decode(makeRun({ seconds: 2, state: "live" }));
  const metrics = { service_new: [[200, 1]], service_reused: [[200, 4, 0, 2]], miss: [[202, 1]], first_byte_reused: [[100, 3]] };
  const before = windows.sumOf(run, "service", () => true).total;
  fold.apply(run, { kind: "second", at_s: 3, seconds: 1, phase: 0, clients: { counts: {} }, metrics });
  assert.equal(windows.sumOf(run, "service", () => true).total, before + 7);
  const last = run.rows - 1;
  assert.equal(run.columns.get("response.p50")[last], run.columns.get("service.p50")[last]);
  assert.equal(run.columns.get("first_byte.p50")[last], 100);
});

test("a run of another format is refused", () => {
  assert.throws(() => model.decode({ ...makeRun({ seconds: 1 }), format: 99 }), /format 99/);
});

test("notes are said in Chinese with what was filled in, and unknown ones as they are", () => {
  const { inChinese } = notes;
  assert.equal(inChinese("mark at 1.5 s: {} at 3 s: <b>"), "第 1.5 秒的标记：{} at 3 s: <b>");
  assert.equal(inChinese("the run was stopped after 3.2 s by the plan: p99 > 5 ms, since 2.0 s"), "运行在 3.2 秒后由计划停止：p99 > 5 ms，自第 2.0 秒起");
  assert.equal(inChinese("the run was stopped after 3.2 s by the page"), "运行在 3.2 秒后由 the page 停止");
  assert.match(inChinese("the origin was never asked and the proxy answered 7 times with 5xx: it must be able to reach 127.0.0.1:1; what was good, it had stored before"), /缓存的$/);
  for (const other of ["", "mark at 1.5 s", "something else"]) assert.equal(inChinese(other), other);
});
