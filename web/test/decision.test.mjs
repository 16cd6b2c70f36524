// Pages of decisions: what is said and drawn of each kind, from a file, and the pure parts beneath.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { createServer } from "vite";
import { openDecision, tile, withBrowser } from "./helpers.mjs";

withBrowser();
const AXE = readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const loaded = {};
let vite;

before(async () => {
  const root = new URL("..", import.meta.url).pathname;
  vite = await createServer({ configFile: false, root, server: { middlewareMode: true, ws: false }, appType: "custom", logLevel: "error", optimizeDeps: { noDiscovery: true } });
  const modules = { made: "dev/decisions", forest: "src/decision/forest", scale: "src/decision/scale", memory: "src/decision/memory", load: "src/decision/load", kinds: "src/decision/kinds", en: "src/text/decision/en", zh: "src/text/decision/zh" };
  await Promise.all(Object.entries(modules).map(async ([name, file]) => (loaded[name] = await vite.ssrLoadModule(`/${file}.ts`))));
});
after(() => vite.close());

const row = (page, name) => page.locator(`tbody tr:has(th:has-text("${name}"))`);

test("a comparison opens from disk: the verdict, each figure, and what is not judged", async () => {
  const { page, problems } = await openDecision(loaded.made.comparison());
  assert.match(await page.textContent(".verdict"), /worse in throughput; better in CPU per answer/);
  assert.match(await page.getAttribute(".verdict", "class"), /failed/);
  assert.match(await page.textContent("h1"), /nginx 1\.27 <b>at<\/b>/);
  assert.equal(await page.locator("h1 b").count(), 0, "what is foreign is text");
  const throughput = await row(page, "throughput").textContent();
  assert.match(throughput, /slower by more than 2 %/);
  assert.match(throughput, /−8\.3 %/);
  assert.match(await row(page, "CPU per answer").textContent(), /cheaper, but by less than 2 %/);
  assert.match(await row(page, "p50").textContent(), /cannot tell/);
  assert.match(await row(page, "p99").textContent(), /3000 are wanted/);
  assert.equal(await page.locator(".forest svg").count(), 4, "what is not judged has no picture");
  assert.deepEqual(problems, []);
});

test("a worse figure lies right of no difference, whichever way it counts", async () => {
  const { page } = await openDecision(loaded.made.comparison());
  const places = await row(page, "throughput").locator("svg").evaluate((svg) => {
    // The last one: A against itself comes before it.
    const of = (selector) => [...svg.querySelectorAll(selector)].at(-1).getBoundingClientRect().x;
    return { zero: of(".zero"), estimate: of(".big"), pairs: of(".dot") };
  });
  assert.ok(places.zero < places.pairs && places.pairs < places.estimate, JSON.stringify(places));
});

test("a comparison in Chinese says it in Chinese", async () => {
  const { page, problems } = await openDecision(loaded.made.comparison(), { zh: true });
  assert.match(await page.textContent(".verdict"), /变差： 吞吐量/);
  assert.match(await row(page, "吞吐量").textContent(), /更慢，超过 2 %/);
  assert.deepEqual(problems, []);
});

test("what is not over says so", async () => {
  const { page, problems } = await openDecision(loaded.made.comparison({ exit: null, outcome: null, text: null }));
  assert.match(await page.textContent(".verdict"), /not over yet/);
  assert.deepEqual(problems, []);
});

test("two kept runs are told apart, and nobody is blamed", async () => {
  const { schema_version, version, a, b } = loaded.made.comparison();
  const figure = { metric: "p99", a: 2, b: 2.4, change: 0.2, interval: { low: 0.1, high: 0.3 }, usually: 0.05, word: "differ" };
  const { page, problems } = await openDecision({
    schema: "wringer.comparison-of-runs", schema_version, version, a, b, facts: [], exit: 0, text: "", files: [[], []],
    outcome: { two_runs: { figures: [figure], earlier: 9, apart_s: 60 } },
  });
  assert.match(await page.textContent(".verdict"), /whatever made it so: they differ in p99/);
  assert.match(await row(page, "p99").textContent(), /2 ms.*2\.4 ms.*\+20 %.*\+10 % … \+30 %/);
  assert.match(await page.getAttribute(".verdict", "class"), /quiet/);
  assert.deepEqual(problems, []);
});

test("what is worse is no good news, though no condition is violated", async () => {
  const { page } = await openDecision(loaded.made.comparison({ exit: 0 }));
  assert.match(await page.getAttribute(".verdict", "class"), /doubt/);
});

test("a search: the knee with its interval, the water mark, load against latency", async () => {
  const { page, problems } = await openDecision(loaded.made.search());
  assert.match(await page.textContent(".verdict.good"), /21\.2k\/s keeps p99<50 ms \(95 % interval 20\.7k to 21\.8k\)/);
  assert.equal(await tile(page, "water mark"), "15.5k/s");
  assert.equal(await tile(page, "recovery"), "3.2 s");
  assert.match(await page.textContent("#picture-latency .legend"), /kept.*broken.*knee.*water mark.*limit/);
  assert.equal(await page.locator("#picture-limit-1").count(), 0, "nothing was over it");
  assert.match(await row(page, "22.5k/s").textContent(), /92 ms.*breaks: 4\.0 %/);
  assert.deepEqual(problems, []);
});

test("sizes: what works of the memory, hits against memory, and a cache that keeps nothing", async () => {
  const { page, problems } = await openDecision(loaded.made.sizes());
  assert.match(await page.textContent(".verdict.doubt"), /objects of 1 kB: 44 % \(41 % … 48 %\); objects of 950 kB: nothing is kept/);
  assert.equal(await tile(page, "objects of 1 kB"), "44 %");
  assert.match(await page.textContent("#picture-hits-0 .legend"), /model, set of 32 MiB.*measured, set of 128 MiB/);
  assert.match(await page.textContent("#picture-shift-0"), /nine tenths of the model's hits after 3\.4 s/);
  assert.equal(await page.locator("tbody tr").count(), 4);
  assert.deepEqual(problems, []);
});

test("stress: the table of scenarios, reasons and causes where it does not pass", async () => {
  const { page, problems } = await openDecision(loaded.made.stress());
  assert.equal((await page.textContent(".verdict.failed strong")).trim(), "1 failed, 1 degraded, 1 pass, 1 not run");
  assert.match(await row(page, "connection-flood").textContent(), /failed.*950 ms.*8\.1 %.*not in 60 s.*the accept queue/);
  assert.doesNotMatch(await row(page, "short-connections").textContent(), /accept queue/);
  assert.match(await page.textContent('section:has(> #reasons)'), /412 connections found it full.*a second time, on a fresh target: failed/s);
  assert.deepEqual(problems, []);
});

for (const options of [{}, { dark: true, zh: true }, { width: 360, height: 640 }]) {
  test(`pages of decisions shut nobody out, and none is to be scrolled sideways ${JSON.stringify(options)}`, async () => {
    for (const kind of ["comparison", "search", "sizes", "stress"]) {
      const { page } = await openDecision(loaded.made[kind](), { ...options, bypassCSP: true });
      await page.evaluate(AXE);
      const rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
      const found = await page.evaluate((runOnly) => axe.run(document, { runOnly }), rules);
      const told = found.violations.map((one) => `${kind}: ${one.id}: ${one.nodes.map((node) => `${node.target} ${node.failureSummary}`).slice(0, 3).join(" | ")}`);
      assert.deepEqual(told, []);
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0, kind);
      await page.context().close();
    }
  });
}

test("a form that the page does not know is refused by its name", () => {
  const { known } = loaded.kinds;
  assert.equal(known(loaded.made.stress()).schema, "wringer.stress");
  assert.throws(() => known({ schema: "wringer.probe", schema_version: 1 }), /it is wringer\.probe/);
  assert.throws(() => known({ schema: "wringer.size", schema_version: 2 }), /version 2/);
});

test("changes are for the worse where less is worse, and are read as the figure's own", () => {
  const { forTheWorse, own, signed, spanText, valueText, axisOf, ofPairs } = loaded.forest;
  assert.ok(Math.abs(forTheWorse("throughput", Math.log(0.9)) - 0.1) < 1e-12);
  assert.ok(Math.abs(forTheWorse("p99", Math.log(1.1)) - 0.1) < 1e-12);
  assert.equal(forTheWorse("failed", 0.002), 0.002);
  assert.equal(forTheWorse("hits", 0.002), -0.002);
  assert.equal(own("throughput", 0.1), -0.1);
  assert.deepEqual([0.0312, -0.0049, 0, 1e-9, 0.123].map(signed), ["+3.1 %", "−0.49 %", "0 %", "0 %", "+12 %"]);
  assert.equal(spanText("throughput", { change: 0.1, low: 0.05, high: 0.15 }), "−15 % … −5 %");
  assert.deepEqual([valueText("cpu", 48e-6), valueText("p50", 2.1), valueText("failed", 0.001), valueText("throughput", null)], ["48 µs", "2.1 ms", "0.1 %", "–"]);
  const [first] = loaded.made.comparison().outcome.figures;
  const one = ofPairs(first, undefined, loaded.en.decision);
  const axis = axisOf(one);
  for (const value of [0, one.estimate.low, one.estimate.high, -one.band, one.seen, ...one.points]) assert.ok(axis.at(value) >= 0 && axis.at(value) <= 100, `${value}`);
});

test("axes have few round ticks, all of them within", () => {
  const { linear, logarithmic, round } = loaded.scale;
  assert.deepEqual([0.013, 0.3, 1, 7].map(round), [0.02, 0.5, 1, 10]);
  const axis = linear([0, 26_000], { zero: true });
  assert.equal(axis.at(0), 0);
  assert.deepEqual(axis.ticks, [0, 5_000, 10_000, 15_000, 20_000, 25_000]);
  for (const values of [[1.1, 640], [0.5, 0.6], [3, 3], [0.001, 1e6], []]) {
    const axis = logarithmic(values);
    assert.ok(axis.ticks.length >= 1 && axis.ticks.length <= 12, `${values}: ${axis.ticks}`);
    for (const value of [...values, ...axis.ticks]) assert.ok(axis.at(value) >= 0 && axis.at(value) <= 100, `${value}`);
  }
  assert.equal(logarithmic([1, 10]).at(0), 0);
  for (const values of [[], [5], [NaN, 2, 3], [-1, 1]]) assert.ok(linear(values).ticks.length > 0, `${values}`);
});

test("a rate was kept or broken by the first word of its verdict", () => {
  const { modeOf, limitText, limitValue } = loaded.load;
  const modes = ["keeps", "breaks: it grows", "unclear, kept so far", ""].map((verdict) => modeOf({ verdict }));
  assert.deepEqual(modes, ["kept", "broken", "unclear", "unclear"]);
  assert.deepEqual([{ quantile: { quantile: 0.999, limit_ms: 5 } }, { failed: { share: 0.001 } }, { mean: { limit_ms: 2 } }].map(limitText), ["p99.9<5 ms", "failed<0.1 %", "mean<2 ms"]);
  assert.equal(limitValue({ failed: { share: 0.001 } }), 0.001);
});

test("memory is told in powers of two, and a class by its smallest set that does not fit", () => {
  const { memory, classShare, hitsOverTime } = loaded.memory;
  assert.deepEqual([512, 64 << 20, 1.5 * 2 ** 30, NaN].map(memory), ["512 B", "64 MiB", "1.5 GiB", "–"]);
  const [fits, is] = [{ at_least: 0.5 }, { is: { share: 0.4, low: 0.3, high: 0.5 } }];
  assert.equal(classShare({ points: [[{}, fits], [{}, is], [{}, "nothing"]] }), is);
  assert.equal(classShare({ points: [[{}, fits]] }), fits);
  assert.equal(classShare({ points: [] }), null);
  const windows = [{ seconds: 1, requests: 200, hits: 0 }, { seconds: 1, requests: 200, hits: 200 }, { seconds: 1, requests: 10, hits: 10 }];
  assert.deepEqual(hitsOverTime(windows), [[1, 0.5]], "what is left over is too little to be a figure");
});

test("each word is there in both languages", () => {
  const names = (of) => Object.entries(of).flatMap(([name, word]) => (typeof word === "object" ? names(word).map((one) => `${name}.${one}`) : [name]));
  assert.deepEqual(names(loaded.zh.decision), names(loaded.en.decision));
});
