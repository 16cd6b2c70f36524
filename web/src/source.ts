// Where runs come from: the block in a report, or the server that sent this page. A block may hold a decision from many runs, too.

import { merged } from "./change.ts";
import { known } from "./decision/kinds.ts";
import { type Run, type State, type VerdictNames, decode, unpacked } from "./model.ts";
import type { Model } from "./packed.ts";
import { compared, decision, run, trouble, view } from "./state.ts";

/** A line of the history. */
export interface Listed {
  id: string;
  state: State;
  started_unix_s: number;
  took_s: number | null;
  door: string;
  command: string;
  target: string;
  labels: string[];
  rate_per_s: number | null;
  p50_us: number | null;
  p99_us: number | null;
  failed_share: number | null;
  hit_ratio: number | null;
  verdict: VerdictNames;
}

/** What the form wishes to be run: its fields as they were typed, or the text of a plan. */
export type Wanted = { form: Record<string, string> } | { plan: string };

/** What is wrong with it, and where: a line of the plan, or a field of the form. */
export interface Mistake {
  line: number | null;
  field: string | null;
  text: string;
}

/** What the server says of it before it is run. */
export interface Checked {
  mistakes: Mistake[];
  warnings: string[];
  command: string;
  plan: string;
}

const block = document.getElementById("run") as HTMLTemplateElement | null;
const decided = document.getElementById("decision") as HTMLTemplateElement | null;
/** The page came from a server that can be asked. */
export const served = !block && !decided && document.documentElement.dataset.served === "yes";
/** It runs what its form asks for. */
export const starts = served && document.documentElement.dataset.starts === "yes";

export async function load() {
  try {
    if (block) run.value = decode((await unpacked(block.content.textContent ?? "")) as Model);
    else if (decided) decision.value = known(await unpacked(decided.content.textContent ?? ""));
    else if (served) await ask(new URLSearchParams(location.search));
    else trouble.value = "none";
  } catch (error) {
    trouble.value = error instanceof Error ? error.message : String(error);
  }
}

async function ask(wanted: URLSearchParams) {
  const [first, second] = (wanted.get("compare") ?? "").split(",");
  if (first && second) {
    view.value = "compare";
    compared.value = await Promise.all([model(first), model(second)]);
    return;
  }
  if (starts && wanted.get("view") === "new") {
    view.value = "start";
    return;
  }
  const id = wanted.get("run") ?? (wanted.has("view") ? undefined : (await list("")).find((one) => one.state === "live")?.id);
  if (!id) {
    view.value = "history";
    return;
  }
  run.value = await model(id);
  if (run.value.state === "live") follow(id);
}

async function json(path: string): Promise<unknown> {
  const answer = await fetch(path, { headers: { accept: "application/json" } });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${(await answer.text()).slice(0, 200)}`);
  return answer.json();
}

/** Asks the server for a change; the error is its own sentence. */
export async function post(path: string, body: object): Promise<unknown> {
  const answer = await fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error((await answer.text()).trim().slice(0, 300));
  return answer.json();
}

export async function check(wish: Wanted): Promise<Checked> {
  return (await post("/api/plan/check", wish)) as Checked;
}

/** Starts a run: its number. */
export async function start(wish: Wanted): Promise<string> {
  return ((await post("/api/runs", wish)) as { id: string }).id;
}

export async function list(search: string): Promise<Listed[]> {
  const found = (await json(`/api/runs?q=${encodeURIComponent(search)}`)) as { runs: Listed[] };
  return found.runs;
}

async function model(id: string): Promise<Run> {
  return decode((await json(`/api/runs/${encodeURIComponent(id)}/model`)) as Model);
}

/** Follows a run: one stream per tab, closed while nobody looks, continued where it stopped. */
function follow(id: string) {
  let stream: EventSource | null = null;
  const close = () => {
    stream?.close();
    stream = null;
  };
  const open = () => {
    if (stream || !run.value || run.value.state !== "live") return;
    stream = new EventSource(`/api/runs/${encodeURIComponent(id)}/changes?from=${encodeURIComponent(run.value.next)}`);
    stream.onopen = () => (trouble.value = "");
    stream.onerror = () => (trouble.value = stream?.readyState === EventSource.CLOSED ? "over" : "lost");
    stream.onmessage = (message) => {
      if (!run.value) return;
      const now = merged(run.value, JSON.parse(message.data) as Model);
      if (now.state === "live") {
        run.value = now;
        return;
      }
      close();
      void finish(id);
    };
  };
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  open();
}

/** The whole run with its exact figures and its verdict, when it is over. */
async function finish(id: string) {
  try {
    const whole = await model(id);
    run.value = whole.state === "live" ? { ...whole, state: "ended" } : whole;
  } catch {
    trouble.value = "over";
    if (run.value) run.value = { ...run.value, state: "ended" };
  }
}
