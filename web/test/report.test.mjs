// The report from a file: what it shows, how it is used without a mouse, and that nothing foreign acts in it.

import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { test } from "node:test";
import { file, fresh, open, tile, withBrowser } from "./helpers.mjs";

withBrowser();
const AXE = readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

for (const kind of ["second", "minute", "hour", "day", "steps"]) {
  test(`a report of a kind "${kind}" opens from disk, small and without network`, async () => {
    const { page, problems } = await open(kind);
    assert.ok(statSync(file(kind)).size < 1_000_000, `${statSync(file(kind)).size} bytes`);
    assert.match(await page.textContent("h1"), /nginx/);
    assert.notEqual(await tile(page, "requests/s"), "–");
    // Charts out of sight are drawn after the others.
    await page.waitForFunction(() => document.querySelectorAll("figure canvas").length >= 10);
    assert.deepEqual(problems, []);
  });
}

test("a replay: what the log had beside what was measured, and what was left out", async () => {
  const { page, problems } = await open("replay");
  const block = page.locator("section:has(> #recorded)");
  const row = (name) => block.locator(`tr:has(th:has-text("${name}"))`).textContent();
  assert.match(await row("time to the last byte, p99"), /8\.1 ms\d/);
  assert.match(await row("status 404"), /1\.2k/);
  assert.match(await row("hits, by requests"), /83 %\d/);
  assert.match(await row("an exact LRU cache of 67.1 MB"), /80 %/);
  assert.match(await row("method POST, which is not sent"), /311/);
  assert.equal(await block.locator("#picture-recorded .mark").count(), 4, "two lines, each in the legend, too");
  assert.deepEqual(problems, []);
  const other = await open("second");
  assert.equal(await other.page.locator("#recorded").count(), 0, "only a replay has it");
});

test("a run of several machines: a row for each agent and each origin, with what became of it", async () => {
  const { page, problems } = await open("fleet");
  const rows = (id) => page.locator(`section:has(> #${id}) tbody tr`).allTextContents();
  const [whole, gone, ...more] = await rows("agents");
  assert.equal(more.length, 0);
  assert.match(whole, /^a1ssh:load@192\.0\.2\.102.*1\.2 ms\+120 µs ± 80 µs✓ told all$/);
  assert.match(gone, /^a2local.*–\+.*✕ lost at 12\.4 s: its process was ended by signal 9its CPU was busy for 97 %$/);
  const origins = await rows("origins");
  assert.match(origins[0], /^o1ssh:load@192\.0\.2\.20192\.0\.2\.20:9080232.*4\.2k3\.9k57\.7 MB✓ told all$/);
  assert.match(origins[1], /^o2.*192\.0\.2\.21:9080.*✕ lost at 12\.4 s/);
  assert.deepEqual(problems, []);
  const chinese = await open("fleet", { zh: true });
  assert.match(await chinese.page.textContent("#agents"), /^各 agent$/);
  assert.match((await chinese.page.locator("section:has(> #origins) tbody tr").allTextContents())[1], /✕ 第 12\.4 秒失联/);
  const other = await open("second");
  assert.equal(await other.page.locator("#agents, #origins").count(), 0, "only a run of several machines has them");
});

test("what others sent is text and nothing else", async () => {
  const { page, problems } = await open("hostile");
  const found = await page.evaluate(() => document.querySelectorAll("img, iframe, object, embed, svg[onload], [onerror]").length);
  assert.equal(found, 0);
  await page.evaluate(() => document.querySelectorAll("details").forEach((one) => (one.open = true)));
  const text = await page.evaluate(() => document.body.textContent);
  assert.ok(text.includes("</script><img src=x onerror=alert(1)>"), "shown as it came");
  assert.ok(text.includes("␛[31m"), "control characters are pictures");
  const shown = await page.evaluate(() => document.getElementById("app").textContent);
  assert.ok(!shown.includes("\u202e") && !shown.includes("\u001b") && !shown.includes("\u0000"), "none of them is left");
  assert.deepEqual(problems, []);
});

test("a window chosen with the pointer recomputes the figures, stands in the address, and ends with Esc", async () => {
  const { page, problems } = await open("minute");
  const [rate, p99] = [await tile(page, "requests/s"), await tile(page, "p99")];
  const plot = page.locator('[data-chart="throughput"] .u-over');
  await plot.scrollIntoViewIfNeeded();
  const box = await plot.boundingBox();
  const at = (share) => [box.x + share * box.width, box.y + box.height / 2];
  await page.mouse.move(...at(0.56));
  await page.mouse.down();
  await page.mouse.move(...at(0.62), { steps: 4 });
  await page.mouse.up();
  assert.match(await page.evaluate(() => location.hash), /^#w=33(\.\d)?-37(\.\d)?$/);
  assert.notEqual(await tile(page, "requests/s"), rate);
  assert.notEqual(await tile(page, "p99"), p99);
  assert.match(await page.textContent(".looked"), /generator-bound/);
  await page.reload();
  await page.waitForSelector("figure canvas");
  assert.match(await page.textContent(".looked"), /00:33/);
  await page.keyboard.press("Escape");
  assert.equal(await tile(page, "requests/s"), rate);
  assert.equal(await page.evaluate(() => location.hash), "");
  assert.deepEqual(problems, []);
});

test("everything can be done with keys", async () => {
  const { page, problems } = await open("minute");
  // What a key does shows with the next frame, or, what is spoken, half a second later.
  const until = (condition, of) => page.waitForFunction(condition, of);
  const focused = (chart) => until((chart) => document.activeElement?.dataset.chart === chart, chart);
  await page.keyboard.press("j");
  await focused("throughput");
  await page.keyboard.press("j");
  await focused("latency");
  // A chart is drawn when it comes into view; before that there is no cursor to move.
  await until(() => document.querySelector('[data-chart="latency"] canvas'));
  await page.keyboard.press("ArrowRight");
  await until(() => /00:00 .*p99 /.test(document.querySelector('[data-chart="latency"] [aria-live]').textContent));
  await page.keyboard.press("Shift+ArrowRight");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Shift+ArrowRight");
  await page.keyboard.press("Enter");
  await until(() => location.hash === "#w=10-21");
  await page.keyboard.press("Escape");
  await until(() => location.hash === "");
  const log = page.locator('[data-chart="latency"] button', { hasText: "Log" });
  const pressed = (is) =>
    until(
      (is) => [...document.querySelectorAll('[data-chart="latency"] button')].some((button) => button.textContent === "Log" && button.getAttribute("aria-pressed") === is),
      is,
    );
  await log.waitFor();
  await pressed("true");
  await page.keyboard.press("l");
  await pressed("false");
  await page.keyboard.press("t");
  await until(() => document.querySelectorAll('[data-chart="latency"] tbody tr').length === 60);
  await page.keyboard.press("?");
  await page.locator("dialog[open]").waitFor();
  await page.locator("dialog input").uncheck();
  await page.keyboard.press("Escape");
  await page.locator("dialog[open]").waitFor({ state: "hidden" });
  await page.keyboard.press("k");
  assert.notEqual(await page.evaluate(() => document.activeElement?.dataset.chart), "throughput", "single keys can be turned off");
  assert.deepEqual(problems, []);
});

test("a chart's table has 200 rows at most", async () => {
  const { page } = await open("hour");
  await page.locator('[data-chart="throughput"] button', { hasText: "Table" }).click();
  const rows = await page.locator('[data-chart="throughput"] tbody tr').count();
  assert.ok(rows > 100 && rows <= 200, `${rows} rows`);
});

test("ten thousand steps are searched and sorted, and few are in the document", async () => {
  const { page } = await open("steps");
  const rows = page.locator(".steps tbody tr:not(.spacer)");
  assert.ok((await rows.count()) < 60);
  await page.locator('input[type="search"]').fill("/cart/77");
  await page.waitForFunction(() => /\/cart\/77/.test(document.querySelector(".steps tbody th").textContent));
  await page.locator('input[type="search"]').fill("");
  await page.waitForFunction(() => document.querySelector(".block-head [role=status]").textContent.startsWith("10000"));
  await page.locator(".steps").evaluate((box) => box.scrollTo(0, 200_000));
  await page.waitForFunction(() => document.querySelector(".steps tbody tr:not(.spacer)")?.getAttribute("aria-rowindex") > 1000);
  await page.locator(".steps thead button", { hasText: "p99.9" }).click();
  assert.equal(await page.locator('.steps th[aria-sort="descending"]').count(), 1);
});

test("Chinese: the words change, units stay, and the choice is kept", async () => {
  const { page, problems } = await open("minute", { zh: true });
  assert.equal(await page.getAttribute("html", "lang"), "zh-CN");
  assert.match(await page.textContent("#name-throughput"), /吞吐量/);
  assert.match(await page.textContent(".tiles"), /请求\/秒.*p99.* ms/s);
  await page.getByRole("button", { name: "切换到英文" }).click();
  // The choice is kept when it is made, which a busy page does a little after the click.
  await page.locator("#name-throughput", { hasText: "Throughput" }).waitFor();
  await page.reload();
  await page.waitForSelector("figure canvas");
  assert.match(await page.textContent("#name-throughput"), /Throughput/);
  assert.deepEqual(problems, []);
});

for (const options of [{}, { dark: true }, { width: 360, height: 640 }, { zh: true, dark: true }]) {
  test(`nobody is shut out: axe finds nothing ${JSON.stringify(options)}`, async () => {
    // The policy of the report forbids foreign scripts, the checker among them.
    const { page } = await open("minute", { ...options, bypassCSP: true });
    await page.evaluate(AXE);
    const rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
    const found = await page.evaluate((runOnly) => axe.run(document, { runOnly }), rules);
    const told = found.violations.map((one) => `${one.id}: ${one.nodes.map((node) => `${node.target} ${node.failureSummary}`).slice(0, 3).join(" | ")}`);
    assert.deepEqual(told, []);
  });
}

for (const [width, columns] of [[360, 1], [1280, 2], [3840, 3]]) {
  test(`${width} px: ${columns} columns of charts, and nothing to scroll sideways`, async () => {
    const { page } = await open("minute", { width, height: 800 });
    const seen = await page.evaluate(() => ({
      wide: document.documentElement.scrollWidth - innerWidth,
      columns: getComputedStyle(document.querySelector(".charts")).gridTemplateColumns.split(" ").length,
      small: [...document.querySelectorAll("button, a, input, summary")].filter((one) => {
        const box = one.getBoundingClientRect();
        return !one.closest("dialog") && !one.matches(".bound") && box.height > 0 && (box.height < 24 || box.width < 24);
      }).map((one) => one.outerHTML.slice(0, 80)),
    }));
    assert.ok(seen.wide <= 0, `${seen.wide} px too wide`);
    assert.equal(seen.columns, columns);
    assert.deepEqual(seen.small, []);
  });
}

test("paper is white and has one column", async () => {
  const { page } = await open("minute", { dark: true });
  assert.equal(await page.getAttribute("html", "data-theme"), "dark");
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  await page.emulateMedia({ media: "print" });
  assert.equal(await page.getAttribute("html", "data-theme"), "light");
  const columns = await page.evaluate(() => getComputedStyle(document.querySelector(".charts")).gridTemplateColumns.split(" ").length);
  assert.equal(columns, 1);
});

test("a page without a run says so", async () => {
  const { page } = await fresh();
  await page.goto(new URL("../dist/index.html", import.meta.url).href);
  await page.waitForFunction(() => document.body.innerText.includes("no run in this page"));
});
