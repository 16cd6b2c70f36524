// One picture while drawing: node dev/shot.mjs KIND OUT [width height] [dark] [zh] [hash]
import { writeFileSync } from "node:fs";
import { chromium } from "playwright-core";
import { report } from "./inline.mjs";
import { KINDS, makeRun } from "./make-run.mjs";

const [kind, out, width = "1280", height = "0", ...rest] = process.argv.slice(2);
const file = `/tmp/page-${kind}.html`;
writeFileSync(file, report(makeRun(KINDS[kind])));
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: +width, height: +height || 900 }, colorScheme: rest.includes("dark") ? "dark" : "light", reducedMotion: "reduce", timezoneId: "UTC", locale: rest.includes("zh") ? "zh-CN" : "en-GB" });
page.on("console", (m) => console.log("console:", m.text()));
page.on("pageerror", (e) => console.log("error:", e.stack));
const t0 = Date.now();
await page.goto(`file://${file}${rest.includes("zh") ? "?lang=zh" : ""}${rest.find((r) => r.startsWith("#")) ?? ""}`);
await page.waitForSelector("figure canvas", { timeout: 10000 }).catch(() => console.log("no chart"));
console.log("drawn in", Date.now() - t0, "ms");
await page.waitForTimeout(300);
await page.screenshot({ path: out, fullPage: height === "0" });
await browser.close();
