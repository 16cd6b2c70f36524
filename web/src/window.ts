// Figures of a part of a run: every tile and table asks here, so that all of them speak of the same seconds.

import { Sum } from "./histogram.ts";
import type { Bound, Run, TimeSummary } from "./model.ts";

/** Seconds since the start of the run; nothing stands for the measured phases. */
export type Window = { from: number; to: number } | null;

export interface Figures {
  seconds: number;
  counts: (name: string) => number;
  times: (metric: string) => TimeSummary | undefined;
  /** TimeSummary are read from joined or coarse buckets: at most this wide, as a share; 0 where they are exact. */
  coarse: number;
  bound: Bound[];
  bound_s: number;
  predicted?: number;
  asked?: number;
  offload?: number;
}

/** Whether a row belongs to what is looked at. */
export function covers(run: Run, window: Window): (row: number) => boolean {
  if (!window) {
    const measured = run.phases.map((phase) => phase.measured);
    const any = measured.some(Boolean);
    return (row) => !any || measured[run.phase[row]!] === true;
  }
  return (row) => {
    const middle = run.at[row]! - run.seconds[row]! / 2;
    return middle >= window.from && middle < window.to;
  };
}

/** The figures of a window; without one the exact ones of the measured phases, where the run tells them. */
export function figures(run: Run, window: Window): Figures {
  const within = covers(run, window);
  const rows: number[] = [];
  for (let row = 0; row < run.rows; row++) if (within(row)) rows.push(row);
  const [from, to] = window ? [window.from, window.to] : measuredSpan(run);
  const bound = run.bound.filter((part) => part.to_s > from && part.from_s < to);
  const bound_s = bound.reduce((sum, part) => sum + Math.min(part.to_s, to) - Math.max(part.from_s, from), 0);
  const whole = window ? undefined : exact(run);
  const seconds = rows.reduce((sum, row) => sum + run.seconds[row]!, 0);
  const paced = rows.reduce((sum, row) => sum + run.paced[row]!, 0);
  const sums = new Map<string, number>();
  const counts = (name: string) => {
    if (whole?.counts && name in whole.counts) return whole.counts[name]!;
    let sum = sums.get(name);
    if (sum === undefined) {
      const column = run.columns.get(name);
      sum = column ? rows.reduce((sum, row) => sum + (column[row]! || 0), 0) : 0;
      sums.set(name, sum);
    }
    return sum;
  };
  const measured = run.phases.filter((phase) => phase.measured);
  const asked = run.columns.get("asked");
  return {
    // Requests begin in a part of them only.
    seconds: whole?.seconds ?? (paced > 0 ? paced : seconds),
    counts,
    times: (metric) => whole?.latency[metric] ?? timesOf(sumOf(run, metric, within)),
    coarse: whole ? 0 : coarseness(run),
    bound,
    bound_s,
    predicted: measured.length === 1 ? measured[0]!.predicted_hit_ratio : undefined,
    asked: asked && rows.length ? rows.reduce((sum, row) => sum + (asked[row]! || 0), 0) / rows.length : undefined,
    offload: whole ? whole.offload : offload(counts),
  };
}

/** From the first measured second to the last; all of the run where nothing is measured. */
export function measuredSpan(run: Run): [number, number] {
  const measured = run.phases.filter((phase) => phase.measured);
  if (measured.length === 0) return [0, run.took_s];
  return [measured[0]!.began_s, measured.at(-1)!.ended_s ?? run.took_s];
}

/** What the run tells of its one measured phase, where it is over. */
function exact(run: Run) {
  const measured = run.phases.filter((phase) => phase.measured);
  const [only] = measured;
  if (measured.length !== 1 || !only || run.state === "live" || !("requests" in only.counts)) return undefined;
  const origin = Object.entries(only.origin ?? {}).map(([name, count]) => [`origin.${name}`, count] as const);
  return {
    counts: { ...only.counts, ...Object.fromEntries(origin) } as Record<string, number>,
    latency: only.latency,
    seconds: only.paced_s ?? (only.ended_s ?? run.took_s) - only.began_s,
    offload: only.offload,
  };
}

/** Share of answers that cost the origin no body. */
export function offload(counts: (name: string) => number): number | undefined {
  const documents = counts("origin.full") + counts("origin.partial") + counts("origin.cut");
  const ended = counts("ended");
  return counts("origin.requests") > 0 && ended > 0 ? 1 - Math.min(documents, ended) / ended : undefined;
}

/** All of a metric's times in the rows that count. A span counts where its middle row does. */
export function sumOf(run: Run, metric: string, within: (row: number) => boolean): Sum {
  const sum = new Sum();
  for (const span of run.metrics.get(metric) ?? []) {
    if (within(Math.min(run.rows - 1, Math.floor((span.from + span.to) / 2)))) sum.add(span.histogram);
  }
  return sum;
}

function timesOf(sum: Sum): TimeSummary | undefined {
  if (sum.total === 0) return undefined;
  const at = (quantile: number) => sum.percentile(quantile);
  return { count: sum.total, p50_us: at(0.5), p90_us: at(0.9), p99_us: at(0.99), p999_us: at(0.999), max_us: sum.max() };
}

function coarseness(run: Run): number {
  const first = run.metrics.get("service")?.find((span) => span.histogram.count.length > 0);
  return first ? 2 ** -first.histogram.bits : 0;
}
