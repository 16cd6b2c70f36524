// What the page is showing: the run, the chosen part of it, and how. The chosen part stands in the address, so that a link and a
// reload show the same.

import { computed, effect, signal } from "@preact/signals";
import type { Decision } from "./decision/kinds.ts";
import type { Run } from "./model.ts";
import { recall, remember } from "./text/index.ts";
import type { Window } from "./window.ts";

export type View = "run" | "history" | "compare" | "start";
export type Theme = "light" | "dark";

export const run = signal<Run | null>(null);
/** What was decided from many runs. */
export const decision = signal<Decision | null>(null);
/** Why there is no run, or that the connection is lost. */
export const trouble = signal<"" | "lost" | "over" | string>("");
/** Two runs side by side. */
export const compared = signal<Run[]>([]);
export const view = signal<View>("run");
export const window_ = signal<Window>(windowOf(location.hash));
export const metric = signal("service");
/** Charts whose axis was switched, and charts that stand as tables. */
export const switched = signal<ReadonlySet<string>>(new Set());
export const tables = signal<ReadonlySet<string>>(new Set());
export const helpOpen = signal(false);
/** What is about to be asked of a run that goes on. */
export const asking = signal<"" | "stop" | "mark">("");
export const keysOn = signal(recall("wringer-keys") !== "off");

const system = matchMedia("(prefers-color-scheme: dark)");
const chosen = signal<Theme | null>((recall("wringer-theme") as Theme | null) ?? null);
const preferred = signal<Theme>(system.matches ? "dark" : "light");
/** Paper is white. */
export const printing = signal(false);
export const theme = computed<Theme>(() => (printing.value ? "light" : (chosen.value ?? preferred.value)));

system.addEventListener("change", () => (preferred.value = system.matches ? "dark" : "light"));
addEventListener("beforeprint", () => (printing.value = true));
addEventListener("afterprint", () => (printing.value = false));
addEventListener("hashchange", () => (window_.value = windowOf(location.hash)));

effect(() => {
  document.documentElement.dataset.theme = theme.value;
});

export function toggleTheme() {
  chosen.value = theme.value === "dark" ? "light" : "dark";
  remember("wringer-theme", chosen.value);
}

export function toggleKeys() {
  keysOn.value = !keysOn.value;
  remember("wringer-keys", keysOn.value ? "on" : "off");
}

/** Chooses a part of the run, or all of it, and writes it into the address. */
export function choose(next: Window) {
  window_.value = next;
  const hash = next ? `#w=${round(next.from)}-${round(next.to)}` : "";
  history.replaceState(null, "", location.pathname + location.search + hash);
}

export function toggled(set: ReadonlySet<string>, one: string): ReadonlySet<string> {
  const next = new Set(set);
  if (!next.delete(one)) next.add(one);
  return next;
}

const round = (seconds: number) => Math.round(seconds * 10) / 10;

function windowOf(hash: string): Window {
  const found = /^#w=([\d.]+)-([\d.]+)$/.exec(hash);
  const [from, to] = [Number(found?.[1]), Number(found?.[2])];
  return found && to > from ? { from, to } : null;
}
