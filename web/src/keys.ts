// Single keys. They act on the chart that has the focus, never while somebody writes, and can be turned off in the help.

import { handles } from "./chart/figure.tsx";
import { clock as clockText } from "./format.ts";
import { asking, choose, helpOpen, keysOn, run, switched, tables, toggled, window_ } from "./state.ts";
import { t } from "./text/index.ts";
import { steerable } from "./view/control.tsx";

/** Where a window was begun by Enter, in seconds. */
let begun: number | null = null;

export function listen() {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || writes(event.target)) return;
    if (event.key === "Escape") return back();
    if (keysOn.value && act(event)) event.preventDefault();
  });
}

function writes(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches("input:not([type=checkbox]), textarea, select, dialog *:not(dialog)");
}

function back() {
  if (begun !== null) begun = null;
  else if (!helpOpen.value && window_.value) choose(null);
}

function act(event: KeyboardEvent): boolean {
  const figures = [...document.querySelectorAll<HTMLElement>("figure[data-chart]")];
  const focused = document.activeElement as HTMLElement | null;
  const place = focused?.matches("figure") ? figures.indexOf(focused) : -1;
  const id = figures[place]?.dataset.chart ?? "";
  switch (event.key) {
    case "j":
      return focus(figures[Math.min(figures.length - 1, place + 1)]);
    case "k":
      return focus(figures[Math.max(0, place - 1)]);
    case "/":
      return focus(document.querySelector<HTMLElement>("input[type=search]"));
    case "?":
      return (helpOpen.value = true);
    case "s":
    case "m":
      if (!steerable(run.value)) return false;
      asking.value = event.key === "s" ? "stop" : "mark";
      return true;
  }
  if (!id) return false;
  switch (event.key) {
    case "ArrowLeft":
      return step(id, event.shiftKey ? -10 : -1);
    case "ArrowRight":
      return step(id, event.shiftKey ? 10 : 1);
    case "Enter":
      return mark(id);
    case "+":
    case "=":
      return zoom(id, 0.5);
    case "-":
      return zoom(id, 2);
    case "l":
      switched.value = toggled(switched.value, id);
      return true;
    case "t":
      tables.value = toggled(tables.value, id);
      return true;
  }
  return false;
}

function focus(element: HTMLElement | null | undefined): boolean {
  element?.focus();
  element?.scrollIntoView({ block: "nearest" });
  return !!element;
}

function step(id: string, by: number): boolean {
  const handle = handles.get(id);
  const plot = handle?.plot();
  if (!handle || !plot) return false;
  const { x } = handle.chart();
  const from = plot.cursor ?? (by > 0 ? -1 : x.length);
  plot.moveTo(Math.min(x.length - 1, Math.max(0, from + by)));
  return true;
}

/** The second under the cursor of a chart over time. */
function second(id: string): number | null {
  const handle = handles.get(id);
  const cursor = handle?.plot()?.cursor;
  return handle && handle.chart().axis === "time" && cursor != null ? (handle.chart().x[cursor] ?? null) : null;
}

function mark(id: string): boolean {
  const at = second(id);
  if (at === null) return false;
  if (begun === null) {
    begun = at;
    const spoken = document.querySelector(`#chart-${CSS.escape(id)} [aria-live]`);
    if (spoken) spoken.textContent = t.value.windowBegun(clockText(at));
  } else {
    const [from, to] = [Math.min(begun, at), Math.max(begun, at)];
    begun = null;
    choose({ from: Math.floor(from), to: Math.ceil(to) });
  }
  return true;
}

function zoom(id: string, by: number): boolean {
  const handle = handles.get(id);
  const x = handle?.chart().x;
  if (!handle || !x || handle.chart().axis !== "time") return false;
  const all = { from: 0, to: (x.at(-1) ?? 0) + 0.5 };
  const now = window_.value ?? all;
  const middle = second(id) ?? (now.from + now.to) / 2;
  const half = ((now.to - now.from) * by) / 2;
  const [from, to] = [Math.max(0, middle - half), Math.min(all.to, middle + half)];
  choose(half * 2 >= all.to ? null : to - from >= 1 ? { from, to } : now);
  return true;
}
