// Pictures of the page for the docs, of made-up runs: node dev/screenshots.mjs FOLDER

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { report } from "./inline.mjs";
import { KINDS, makeRun } from "./make-run.mjs";
import { runs, serve } from "./served.mjs";

const [folder = "../docs/src/img"] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const temporary = mkdtempSync(join(tmpdir(), "wringer-shots-"));
const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args });

async function shot(name, { width = 1280, height = 1000, dark = false, zh = false, hash = "", path, served, changes, ready = "figure canvas", act }) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? "dark" : "light", locale: zh ? "zh-CN" : "en-GB", timezoneId: "UTC", reducedMotion: "reduce" });
  const page = await context.newPage();
  page.on("pageerror", (error) => console.error(`${name}: ${error.message}`));
  if (served) await page.goto((await serve(page, served, changes)) + path);
  else {
    const file = join(temporary, `${name}.html`);
    writeFileSync(file, report(makeRun(KINDS.minute)));
    await page.goto(`file://${file}${hash}`);
  }
  await page.waitForSelector(ready);
  await act?.(page);
  await page.waitForTimeout(400);
  await page.screenshot({ path: join(folder, `page-${name}.png`) });
  await context.close();
}

const week = runs();
const live = runs({ live: true });
await shot("report", { height: 860 });
await shot("window", { dark: true, hash: "#w=28-50", height: 760 });
await shot("chinese", { zh: true, height: 800 });
await shot("narrow", { width: 360, height: 1100 });
await shot("live", { served: live, path: "/", height: 1000 });
await shot("history", { served: week, path: "/?view=history", height: 560, ready: "table" });
await shot("comparison", { served: week, path: `/?compare=${week[0].head.id},${week[3].head.id}`, height: 1150 });
await shot("start", {
  served: week, path: "/?view=new", height: 640, ready: ".start",
  act: async (page) => {
    await page.getByText("Proxy or cache").click();
    await page.locator('[name="target"]').fill("127.0.0.1:8080");
    await page.getByLabel("requests per second").first().check();
    await page.locator('[name="rate"]').fill("20k/s");
    await page.locator('[name="duration"]').fill("5m");
    await page.locator('[name="hit_ratio"]').fill("85%");
    await page.locator(".told .ok").waitFor();
  },
});
await browser.close();
rmSync(temporary, { recursive: true });
