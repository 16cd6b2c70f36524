// The page as the binary serves it: runs are started from its form, followed, steered, found and compared. Nothing here waits for a
// time; each step waits for what it needs to see.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { fresh, withBrowser } from "./helpers.mjs";

const binary = process.env.WRINGER;
const AXE = readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
/** A machine may be busy with other things for long. */
const PATIENCE = 120_000;

describe("the page as it is served", { skip: binary ? false : "WRINGER names no binary" }, () => {
  withBrowser();
  let target, url, child, folder;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "wringer-served-"));
    target = createServer((_, answer) => answer.end("hello"));
    target.listen(0, "127.0.0.1");
    await once(target, "listening");
    child = spawn(binary, ["serve", "--keep-in", folder], { stdio: ["ignore", "pipe", "ignore"] });
    [url] = await once(createInterface({ input: child.stdout }), "line");
  });
  after(async () => {
    if (child && child.exitCode === null) {
      child.kill("SIGINT");
      await once(child, "exit");
    }
    target?.closeAllConnections();
    target?.close();
    rmSync(folder, { recursive: true });
  });

  const pressed = () => `http://127.0.0.1:${target.address().port}/`;

  async function visit(path = "", options = {}) {
    const opened = await fresh(options);
    opened.page.setDefaultTimeout(PATIENCE);
    await opened.page.goto(url);
    if (path) await opened.page.goto(new URL(path, url).href);
    return opened;
  }

  test("a run is started from the form, followed, marked, changed, stopped and found again", async () => {
    const { page, problems } = await visit();
    await page.getByText("No runs are kept yet", { exact: false }).or(page.locator(".history")).first().waitFor();
    await page.getByRole("link", { name: "New run" }).click();
    const field = (name) => page.locator(`[name="${name}"]`);
    const start = page.getByRole("button", { name: "Start" });
    await field("target").fill("ftp://127.0.0.1/");
    await page.locator(".mistakes", { hasText: "ftp" }).waitFor();
    assert.equal(await field("target").getAttribute("aria-invalid"), "true");
    assert.ok(await start.isDisabled());
    await field("target").fill("http://192.0.2.1/");
    await page.locator(".mistakes", { hasText: "--allow-target 192.0.2.1" }).waitFor();
    assert.ok(await start.isDisabled(), "another machine is not pressed");
    await field("target").fill(pressed());
    await page.getByLabel("requests per second").first().check();
    await field("rate").fill("50/s");
    await field("duration").fill("10m");
    // What stands there may still be of the field before.
    await page.locator(".command pre", { hasText: "--duration 10m" }).waitFor();
    await page.locator(".told .ok").waitFor();
    assert.match(await page.locator(".command pre").textContent(), /^wringer http http:.* --rate 50\/s --duration 10m --seed 1$/);
    await start.click();
    await page.waitForURL(/\?run=/);
    await page.locator(".state.live").waitFor();
    await page.locator("figure canvas").first().waitFor();
    await rows(page, 2);
    const seen = await rows(page, 0);
    await page.reload();
    await page.locator("figure canvas").first().waitFor();
    assert.ok((await rows(page, 0)) >= seen, "nothing is gone after a reload");
    await page.keyboard.press("m");
    await page.locator("dialog[open] input").fill("<b>deployed</b>");
    await page.keyboard.press("Enter");
    await page.locator(".strip .mark", { hasText: "<b>deployed</b>" }).waitFor();
    // As people write: key by key, while records come.
    const rate = page.getByRole("textbox", { name: "rate" });
    await rate.click();
    for (const key of "80") {
      const before = await rows(page, 0);
      await page.keyboard.press(key);
      await rows(page, before + 1);
    }
    assert.equal(await rate.inputValue(), "80");
    await page.keyboard.press("s");
    await rows(page, (await rows(page, 0)) + 1);
    assert.equal(await rate.inputValue(), "80s", "a key in a field is no command");
    assert.equal(await page.locator("dialog[open]").count(), 0);
    await page.keyboard.press("Backspace");
    await page.keyboard.press("Enter");
    await page.locator(".control .done", { hasText: "holds from" }).waitFor();
    await rate.blur();
    await page.keyboard.press("s");
    await page.locator("dialog[open] button.stop").click();
    await page.locator(".state:not(.live)").waitFor();
    await page.locator(".control").waitFor({ state: "detached" });
    await page.getByRole("link", { name: "History" }).click();
    await page.locator(".history tbody tr", { hasText: `http ${pressed()}` }).first().waitFor();
    assert.deepEqual(problems, []);
  });

  test("a plan is checked as it is typed, and a mistake leads to its line", async () => {
    const { page, problems } = await visit("/?view=new");
    await page.getByText("Plan", { exact: true }).click();
    const text = page.locator(".plan textarea");
    await page.waitForFunction(() => document.querySelector(".plan textarea").value.startsWith("version"));
    await page.locator(".told .ok").waitFor();
    const whole = await text.inputValue();
    await text.fill(whole.replace("[site]", "lode = 1\n[site]"));
    await page.locator(".mistakes", { hasText: "lode" }).waitFor();
    const number = whole.split("\n").indexOf("[site]") + 1;
    await page.getByRole("button", { name: `line ${number}`, exact: true }).click();
    const chosen = await text.evaluate((area) => area.value.slice(area.selectionStart, area.selectionEnd));
    assert.equal(chosen, "lode = 1");
    await text.fill(whole);
    await page.locator(".told .ok").waitFor();
    assert.deepEqual(problems, []);
  });

  test("kept runs are found, what their labels hold is text, and two are compared", async () => {
    const label = "build=<img src=x onerror=alert(1)>";
    for (const users of ["1", "2"]) {
      await promisify(execFile)(binary, ["http", pressed(), "-n", "50", "-c", users, "-q", "--keep-in", folder, "--label", label, "--evidence-file", join(folder, "evidence.txt")]);
    }
    const { page, problems } = await visit("/?view=history");
    await page.locator("input[type=search]").fill("label:build");
    const lines = page.locator(".history tbody tr");
    await page.waitForFunction(() => document.querySelectorAll(".history tbody tr").length === 2);
    assert.match(await lines.first().textContent(), /<img src=x onerror=alert\(1\)>/);
    assert.equal(await page.locator(".history img").count(), 0);
    for (const nth of [0, 1]) await lines.nth(nth).locator("input").check();
    await page.getByRole("link", { name: "Compare the two" }).click();
    await page.locator(".side-B").waitFor();
    await page.locator("figure canvas").first().waitFor();
    assert.match(await page.locator("table").first().textContent(), /p99/);
    assert.deepEqual(problems, []);
  });

  for (const [name, path, ready] of [["form", "/?view=new", ".start"], ["history", "/?view=history", "h1"]]) {
    for (const options of [{}, { width: 360, height: 640, dark: true, zh: true }]) {
      test(`nobody is shut out of the ${name} ${JSON.stringify(options)}`, async () => {
        const { page } = await visit(path, { ...options, bypassCSP: true });
        await page.locator(ready).waitFor();
        await page.evaluate(AXE);
        const found = await page.evaluate((runOnly) => axe.run(document, { runOnly }), ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]);
        assert.deepEqual(found.violations.map((one) => `${one.id}: ${one.nodes.map((node) => `${node.target} ${node.failureSummary}`).slice(0, 3).join(" | ")}`), []);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(wide <= 0, `${wide} px too wide`);
      });
    }
  }
});

/** Waits until the throughput has been told for so many seconds, and says for how many it has. */
async function rows(page, least) {
  const button = page.locator('[data-chart="throughput"] button', { hasText: "Table" });
  if ((await button.getAttribute("aria-pressed")) !== "true") await button.click();
  await page.waitForFunction((least) => document.querySelectorAll('[data-chart="throughput"] tbody tr').length > least, least);
  return page.locator('[data-chart="throughput"] tbody tr').count();
}
