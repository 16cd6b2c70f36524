// How soon a report is drawn, and how smoothly it follows the pointer: node dev/bench.mjs [ROUNDS]. Medians over the rounds.

import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { report } from "./inline.mjs";
import { KINDS, makeRun } from "./make-run.mjs";

const rounds = Number(process.argv[2] ?? 5);
/** What is wanted: milliseconds to the first drawing, frames per second, megabytes of heap, megabytes of file. */
const WANTED = { draw: 300, frames: 55, heap: 60, size: 1 };
const folder = mkdtempSync(join(tmpdir(), "wringer-bench-"));
const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: [...args, "--enable-precise-memory-info"] });
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

/** Notes when the first chart has been painted: two frames after its canvas was there, so at most one too late. */
function watch() {
  const seen = new MutationObserver(() => {
    if (!document.querySelector("figure canvas")) return;
    seen.disconnect();
    requestAnimationFrame(() => requestAnimationFrame(() => (globalThis.drawn = performance.now())));
  });
  seen.observe(document, { childList: true, subtree: true });
}

/** Frames per second while the pointer goes to and fro over the first chart for two seconds. */
async function frames(page) {
  const plot = page.locator('[data-chart="throughput"] .u-over');
  await plot.scrollIntoViewIfNeeded();
  const box = await plot.boundingBox();
  const counted = page.evaluate(
    (span) =>
      new Promise((done) => {
        const began = performance.now();
        let count = 0;
        requestAnimationFrame(function next(now) {
          count += 1;
          if (now - began < span) requestAnimationFrame(next);
          else done((count * 1000) / (now - began));
        });
      }),
    2000,
  );
  const until = Date.now() + 2000;
  for (let step = 0; Date.now() < until; step++) {
    const share = Math.abs(((step * 0.013) % 2) - 1);
    await page.mouse.move(box.x + share * box.width, box.y + box.height / 2);
  }
  return counted;
}

async function once(file) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 1000 } });
  const page = await context.newPage();
  await page.addInitScript(watch);
  // The first time is that of a browser that has just been started.
  await page.goto(`file://${file}`);
  await page.waitForFunction(() => globalThis.drawn);
  await page.goto("about:blank");
  await page.goto(`file://${file}`);
  await page.waitForFunction(() => globalThis.drawn);
  const [draw, heap] = await page.evaluate(() => [globalThis.drawn, performance.memory.usedJSHeapSize / 1e6]);
  const seen = { draw, heap, frames: await frames(page) };
  await context.close();
  return seen;
}

console.log(`report      file MB (${WANTED.size})  first drawing ms (${WANTED.draw})  frames/s (${WANTED.frames})  heap MB (${WANTED.heap})`);
for (const kind of ["second", "minute", "hour", "day", "steps"]) {
  const file = join(folder, `${kind}.html`);
  writeFileSync(file, report(makeRun(KINDS[kind])));
  const seen = [];
  for (let round = 0; round < rounds; round++) seen.push(await once(file));
  const of = (name) => median(seen.map((one) => one[name]));
  const cells = [(statSync(file).size / 1e6).toFixed(2).padStart(11), of("draw").toFixed(0).padStart(24), of("frames").toFixed(0).padStart(15), of("heap").toFixed(0).padStart(13)];
  console.log(kind.padEnd(8) + cells.join(" "));
}
await browser.close();
rmSync(folder, { recursive: true });
