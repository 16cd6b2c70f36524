// What the page does with what the server tells: it takes changes in, adds histograms up, and reads notes.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createServer } from "vite";
import { chance, makeRun, pack, runs } from "../dev/make-run.mjs";

let vite;
let changes;
let model;
let histogram;
let windows;
let notes;
let heat;

before(async () => {
  const root = new URL("..", import.meta.url).pathname;
  vite = await createServer({ configFile: false, root, server: { middlewareMode: true, ws: false }, appType: "custom", logLevel: "error", optimizeDeps: { noDiscovery: true } });
  [changes, model, histogram, windows, notes, heat] = await Promise.all(["change", "model", "histogram", "window", "text/notes", "chart/heat"].map((name) => vite.ssrLoadModule(`/src/${name}.ts`)));
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

const whole = makeRun({ seconds: 1, state: "live" });

/** A change that tells rows from `first_row` on, each with so many requests. */
function change(first_row, requests, rest = {}) {
  const rows = requests.map((_, n) => first_row + n);
  const ones = rows.map(() => 1);
  return {
    ...whole,
    first_row,
    rows: first_row + rows.length,
    at: pack(rows.map((row) => row + 1)),
    seconds: pack(ones),
    paced: pack(ones),
    phase: pack(rows.map(() => 0)),
    columns: { requests: { ...pack(requests), counts: true }, in_flight: pack(rows.map(() => 3)) },
    metrics: { service: { bits: 7, spans: requests.map((count) => [1, [[200, count]]]) } },
    next: `1-${first_row + rows.length - 1}`,
    ...rest,
  };
}

test("a change takes the place of rows from its first one on, and what it leaves out stays", () => {
  const hostile = makeRun({ seconds: 10, state: "live", hostile: true });
  const run = model.decode(hostile);
  const before = run.columns.get("requests").slice(0, 9);
  const now = changes.merged(run, change(9, [7, 8], { evidence: [], evidence_left: 3, text: "", head: { ...hostile.head, labels: ["late"], plan: "" } }));
  assert.equal(now.rows, 11);
  assert.deepEqual([...now.columns.get("requests")], [...before, 7, 8]);
  assert.deepEqual([...now.at.slice(8)], [9, 10, 11]);
  assert.ok(Number.isNaN(now.columns.get("service.p99")[10]), "a row without a figure is a gap");
  assert.equal(windows.sumOf(now, "service", (row) => row >= 9).total, 15);
  assert.deepEqual([now.evidence.length, now.evidence_left, now.text], [1, 2, hostile.text]);
  assert.deepEqual([now.head.labels, now.head.plan], [["late"], hostile.head.plan]);
  assert.deepEqual([now.next, now.change], ["1-10", 1]);
  const again = changes.merged(now, change(10, [9]));
  assert.deepEqual([...again.columns.get("requests").slice(9)], [7, 9], "the last row may grow");
  assert.equal(windows.sumOf(again, "service", (row) => row >= 9).total, 16);
});

test("a counter that is new holds 0 in the rows before it, and a figure is a gap there", () => {
  const run = model.decode(makeRun({ seconds: 3, state: "live" }));
  const columns = { "status.503": { ...pack([2]), counts: true }, ports: pack([5]) };
  const now = changes.merged(run, change(3, [1], { columns }));
  assert.deepEqual([...now.columns.get("status.503")], [0, 0, 0, 2]);
  assert.deepEqual([...now.columns.get("ports")].map(Number.isNaN), [true, true, true, false]);
});

test("a change from row 0 replaces all rows", () => {
  const run = model.decode(makeRun({ seconds: 10, state: "live" }));
  const now = changes.merged(run, change(0, [5, 6]));
  assert.deepEqual([now.rows, [...now.columns.get("requests")]], [2, [5, 6]]);
  assert.equal(windows.sumOf(now, "service", () => true).total, 11);
});

test("a run of a day is taken in change by change", () => {
  let run = model.decode(makeRun({ seconds: 2, state: "live" }));
  for (let row = 1; row < 7_200; row++) run = changes.merged(run, change(row, [5, 5]));
  assert.equal(run.rows, 7_201);
  assert.equal(windows.figures(run, { from: 2, to: 86_400 }).counts("requests"), 5 * 7_199);
});

test("each second has a column of the heat map, though it is a little longer or shorter", () => {
  const ends = [1.002, 1.998, 3.004, 3.999, 5.21, 6.0];
  assert.deepEqual(ends.map((end, n) => heat.columnOf(ends[n - 1] ?? 0, end, 1)), [0, 1, 2, 3, 4, 5]);
  assert.deepEqual([0, 1, 2, 3, 4, 5].map((begin) => heat.columnOf(begin, begin + 1, 3)), [0, 0, 0, 1, 1, 1]);
  assert.deepEqual([0, 5, 10].map((begin) => heat.columnOf(begin, begin + 5, 1)), [0, 5, 10]);
});

test("a run of another format is refused", () => {
  assert.throws(() => model.decode({ ...makeRun({ seconds: 1 }), format: 99 }), /format 99/);
});

test("notes are said in Chinese with what was filled in, and unknown ones as they are", () => {
  const { inChinese } = notes;
  assert.equal(inChinese("mark at 1.5 s: {} at 3 s: <b>"), "第 1.5 秒的标记：{} at 3 s: <b>");
  assert.equal(inChinese("the run was stopped after 3.2 s by its condition: p99 > 5 ms, since 2.0 s"), "运行在 3.2 秒后按设定条件停止：p99 > 5 ms，自第 2.0 秒起");
  assert.equal(inChinese("the run was stopped after 3.2 s by the page"), "运行在 3.2 秒后由 the page 停止");
  assert.match(inChinese("the origin was never asked and the proxy answered 7 times with 5xx: it must be able to reach 127.0.0.1:1; what was good, it had stored before"), /缓存的$/);
  for (const other of ["", "mark at 1.5 s", "something else"]) assert.equal(inChinese(other), other);
});
