// How a run that goes on has changed, as the server tells it, taken into the run that the page holds. What is added up, joined and
// judged is the server's work (crates/report/src/page): here rows take the place of those from `first_row` on.

import { type Column, type Run, type Span, decode } from "./model.ts";
import type { Model } from "./packed.ts";

/** The run with the change in it. Evidence, the plan and the text come with the whole alone. */
export function merged(run: Run, change: Model): Run {
  const told = decode(change);
  const { first_row, rows } = change;
  const columns = new Map<string, Column>();
  for (const name of new Set([...run.columns.keys(), ...told.columns.keys()])) {
    const empty = change.columns[name]?.counts ? 0 : NaN;
    columns.set(name, joined(run.columns.get(name), told.columns.get(name), first_row, rows, empty));
  }
  const metrics = new Map<string, Span[]>();
  for (const name of new Set([...run.metrics.keys(), ...told.metrics.keys()])) {
    const kept = (run.metrics.get(name) ?? []).filter((span) => span.from < first_row);
    metrics.set(name, [...kept, ...(told.metrics.get(name) ?? [])]);
  }
  const times = (name: "at" | "seconds" | "paced" | "phase") => joined(run[name], told[name], first_row, rows, NaN);
  return {
    ...told,
    head: { ...run.head, labels: told.head.labels },
    at: times("at"),
    seconds: times("seconds"),
    paced: times("paced"),
    phase: times("phase"),
    columns,
    metrics,
    evidence: run.evidence,
    evidence_left: Math.max(0, told.evidence_left - run.evidence.length),
    text: run.text,
    change: run.change + 1,
  };
}

/** The rows before `first_row` of one column and those of another after them; what neither has is empty. */
function joined(known: Column | undefined, told: Column | undefined, first_row: number, rows: number, empty: number): Column {
  const column = new Float64Array(rows).fill(empty);
  if (known) column.set(known.subarray(0, first_row));
  if (told) column.set(told, first_row);
  return column;
}
