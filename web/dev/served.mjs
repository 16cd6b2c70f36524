// The page as the server sends it, with made-up runs behind it: for pictures and tests without the binary.

import { readFileSync } from "node:fs";
import { makeRun } from "./make-run.mjs";

const HOST = "http://wringer.test";
const DAY = 86_400;

const id = (n) => `0193551f-7c2e-7000-8000-00000000${(0x7f3a + 977 * n).toString(16).padStart(4, "0")}`;

/** A run in the list, with the figures of the made-up run that stands behind it. */
function listed(run, n, verdict) {
  const measured = run.phases.at(-1);
  const { counts, latency } = measured;
  return {
    id: run.head.id, state: run.state, started_unix_s: run.head.started_unix_s, took_s: run.state === "live" ? 0 : run.took_s, door: run.head.door, command: run.head.command,
    target: run.head.target, labels: run.head.labels, rate_per_s: counts.requests / measured.paced_s, p50_us: latency.response.p50_us, p99_us: latency.response.p99_us,
    failed_share: n % 3 === 1 ? counts.failed / counts.requests : 0, hit_ratio: counts.hits / counts.ended, verdict,
  };
}

/** Runs of a made-up week, the newest first. */
export function runs({ live = false } = {}) {
  const targets = ["nginx 1.22.1 on 127.0.0.1:8080", "varnish 7.1.1 on 127.0.0.1:8081", "http://127.0.0.1:8000/"];
  return Array.from({ length: 9 }, (_, n) => {
    const run = makeRun({ seconds: n % 3 === 1 ? 60 : 30, seed: 11 + n, slow: 1 + 0.07 * n, steps: n === 0 ? 6 : 0, state: live && n === 0 ? "live" : "ended", rate: n % 2 ? 18_000 : 20_000 });
    run.head.id = id(n);
    run.head.target = targets[n % 3];
    run.head.door = n % 3 === 2 ? "http" : "cache";
    run.head.labels = n % 2 ? ["nightly"] : [`commit 4d1c${n}`];
    run.head.started_unix_s = 1_795_000_000 - n * 0.7 * DAY;
    if (run.state === "live") {
      run.verdict = null;
      run.phases.at(-1).planned_end_s = 60;
      delete run.phases.at(-1).ended_s;
    }
    return run;
  });
}

const verdict = (measurement, target) => ({ measurement, target });
const VERDICTS = [verdict("valid", "answered"), verdict("generator_bound", "flawed"), verdict("valid", "answered"), verdict("valid", "failed"), verdict("generator_bound", "silent"), verdict("valid", "answered")];

const PLAN = `version = 1
seed = 1

[load]
target = "127.0.0.1:8080"
limits = { request = "10s" }

[[load.phases]]
name = "measure"
measured = true
pace = { rate = { per_second = 20000.0 } }
stop = { after = "5m" }
hit_ratio = 1.2
`;

/** What a server says of a wish, for pictures: the form is fine, and a plan has a mistake in its last line. */
function checked({ form, plan }) {
  if (plan) {
    const line = plan.split("\n").findIndex((one) => one.startsWith("hit_ratio")) + 1;
    const text = `plan.toml: line ${line}, column 1: unknown field 'hit_ratio'; known are name, measured, pace, stop, scenario`;
    return { mistakes: line > 0 ? [{ line, field: null, text }] : [], warnings: [], command: "wringer run plan.toml", plan };
  }
  const { kind, target, ...options } = form;
  const words = Object.entries(options).filter(([, value]) => value).map(([name, value]) => `--${name.replace("_", "-")} ${value}`);
  return { mistakes: [], warnings: [], command: `wringer ${kind} ${target} ${words.join(" ")} --seed 1`, plan: PLAN };
}

/** Answers what the page asks; `changes`: what its stream tells. */
export async function serve(page, all, changes = []) {
  const html = readFileSync(new URL("../dist/index.html", import.meta.url), "utf8")
    .replace(/<meta http-equiv="Content-Security-Policy"[^>]*>/, "")
    .replace('<html lang="en"', '<html lang="en" data-served="yes" data-starts="yes"');
  await page.route(`${HOST}/**`, (route) => {
    const url = new URL(route.request().url());
    const [, , , wanted, what] = url.pathname.split("/");
    if (url.pathname === "/") return route.fulfill({ contentType: "text/html", body: html });
    if (url.pathname === "/api/plan/check") return route.fulfill({ json: checked(route.request().postDataJSON()) });
    if (url.pathname === "/api/runs") {
      const found = all.map((run, n) => listed(run, n, VERDICTS[n % VERDICTS.length])).filter((one) => `${one.target} ${one.labels}`.includes(url.searchParams.get("q") ?? ""));
      return route.fulfill({ json: { runs: found } });
    }
    const run = all.find((one) => one.head.id === wanted);
    if (run && what === "model") return route.fulfill({ json: run });
    // A stream that stays open.
    if (run && what === "changes" && changes.length === 0) return undefined;
    if (run && what === "changes") {
      const body = changes.map((change) => `id: ${change.next}\ndata: ${JSON.stringify(change)}\n\n`).join("");
      return route.fulfill({ contentType: "text/event-stream", body });
    }
    return route.fulfill({ status: 404, body: "nothing is here" });
  });
  return HOST;
}
