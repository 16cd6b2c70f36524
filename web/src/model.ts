// A run as the page holds it: columns over time, histograms over time, and what stands once. It is read from what a report has
// inlined or the server tells (`decode`), and grows by changes (change.ts); views only ever read it.
//
// What comes (packed.ts) has columns as differences of whole numbers times a scale, so that they pack well; `null` is a second
// without a figure.

import { Histogram } from "./histogram.ts";
import type { Column as Packed, Model, Spans } from "./packed.ts";

export type { Bound, HeadLines, Mark, Phase, Piece, State, Step, TimeSummary, RunVerdict } from "./packed.ts";

/** Version of the inlined form that this page reads. */
export const FORMAT = 3;

export type Column = Float64Array;

/** Histograms of one metric: each belongs to the rows from `from` up to but without `to`. */
export interface Span {
  from: number;
  to: number;
  histogram: Histogram;
}

/** Both words, as lists of runs have them. */
export interface VerdictNames {
  measurement: string;
  target: string;
}

/** A run: what stands once as the server tells it, and its columns unpacked. */
export interface Run extends Omit<Model, "format" | "first_row" | "at" | "seconds" | "paced" | "phase" | "columns" | "metrics"> {
  /** When each row ends, in seconds since the start. */
  at: Column;
  /** How long each is, in seconds. */
  seconds: Column;
  /** So long of it requests could begin; what comes after waits for answers only. */
  paced: Column;
  /** Index of the phase of each row. */
  phase: Column;
  /** Everything else by row: counters are of the row alone. */
  columns: Map<string, Column>;
  metrics: Map<string, Span[]>;
  /** Raised with each change, so that views know. */
  change: number;
}

function unpack({ e = 0, d }: Packed, rows: number): Column {
  const column = new Float64Array(rows).fill(NaN);
  const scale = 10 ** Math.abs(e);
  let sum = 0;
  d.forEach((difference, row) => {
    if (difference === null) return;
    sum += difference;
    column[row] = e < 0 ? sum / scale : sum * scale;
  });
  return column;
}

function unpackSpans({ bits, spans }: Spans, first: number): Span[] {
  let from = first;
  return spans.map(([rows, runs]) => {
    const span = { from, to: from + rows, histogram: Histogram.fromRuns(runs, bits) };
    from += rows;
    return span;
  });
}

/** The run that a report has inlined, or that the server tells of; of a change, the rows from its first one on. */
export function decode(packed: Model): Run {
  const { format, first_row, ...rest } = packed;
  if (format !== FORMAT) throw new Error(`the run is of format ${format}, this page reads ${FORMAT}`);
  const count = packed.rows - first_row;
  const columns = Object.entries(packed.columns).map(([name, column]) => [name, unpack(column, count)] as const);
  const metrics = Object.entries(packed.metrics).map(([name, metric]) => [name, unpackSpans(metric, first_row)] as const);
  return {
    ...rest,
    at: unpack(packed.at, count),
    seconds: unpack(packed.seconds, count),
    paced: unpack(packed.paced, count),
    phase: unpack(packed.phase, count),
    columns: new Map(columns),
    metrics: new Map(metrics),
    change: 0,
  };
}

/** Base64 of gzip of JSON, as a page holds a run or a decision. */
export async function unpacked(base64: string): Promise<unknown> {
  const binary = atob(base64.trim());
  const bytes = Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

/** A column, empty where the run has none. */
export function column(run: Run, name: string): Column | undefined {
  return run.columns.get(name);
}
