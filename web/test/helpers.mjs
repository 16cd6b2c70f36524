// A browser for all tests of a file, and reports to open in it: from a file, with the network off.

import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { chromium } from "playwright-core";
import { report } from "../dev/inline.mjs";
import { KINDS, makeRun } from "../dev/make-run.mjs";

export const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
// Chromium's sandbox does not start as root.
export const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];

let browser;
let folder;

/** Call once per file. */
export function withBrowser() {
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "wringer-page-"));
    browser = await chromium.launch({ executablePath, args });
  });
  after(async () => {
    await browser.close();
    rmSync(folder, { recursive: true });
  });
}

/** A page with what it must not do: reach the network, complain, or open a dialog. */
export async function fresh({ width = 1280, height = 800, dark = false, zh = false, ...more } = {}) {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: dark ? "dark" : "light",
    locale: zh ? "zh-CN" : "en-GB",
    timezoneId: "UTC",
    reducedMotion: "reduce",
    ...more,
  });
  const page = await context.newPage();
  const problems = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && problems.push(message.text()));
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("dialog", (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return { page, problems };
}

const files = new Map();

/** The report of a kind of synthetic run, as a file. */
export function file(kind) {
  let name = files.get(kind);
  if (!name) {
    name = join(folder, `${kind}.html`);
    writeFileSync(name, report(makeRun(KINDS[kind])));
    files.set(kind, name);
  }
  return name;
}

/** Opens a report. */
export async function open(kind, { hash = "", ...options } = {}) {
  return opened(`${file(kind)}${hash}`, "figure canvas", options);
}

/** Opens the page of a decision. */
export async function openDecision(decision, options = {}) {
  const name = join(folder, `${randomUUID()}.html`);
  writeFileSync(name, report(decision, "decision"));
  return opened(name, ".headline .verdict", options);
}

/** Opens a file; any request beside it is a problem. */
async function opened(name, ready, options) {
  const opened = await fresh(options);
  const { page, problems } = opened;
  await page.context().setOffline(true);
  page.on("request", (request) => {
    if (!/^(file|data|blob):/.test(request.url())) problems.push(`request: ${request.url()}`);
  });
  await page.goto(`file://${name}`);
  await page.waitForSelector(ready);
  return opened;
}

export const tile = (page, name) => page.locator(`.tile:has(.what:text-is("${name}")) .value`).textContent();
