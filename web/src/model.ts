// A run as the page holds it: columns over time, histograms over time, and what stands once. It is read from what a report has
// inlined (`decode`), or grows from the records of a run (fold.ts); views only ever read it.
//
// The inlined form is written by crates/report/src/page/model.rs: columns as differences of whole numbers times a scale, so that they
// pack well; `null` is a second without a figure.

import { Histogram, type Runs } from "./histogram.ts";

/** Version of the inlined form that this page reads. */
export const FORMAT = 2;

export type Column = Float64Array;

/** Figures of a metric that are exact, in µs. */
export interface Times {
  count: number;
  p50_us: number;
  p90_us?: number;
  p99_us: number;
  p999_us: number;
  max_us: number;
}

export interface Phase {
  name: string;
  measured: boolean;
  began_s: number;
  /** When it ended; while it goes on, nothing. */
  ended_s?: number;
  /** Requests per second that were asked for, where the pace is open and steady. */
  asked_per_s?: number;
  predicted_hit_ratio?: number;
  /** How long requests could begin: what rates divide by. */
  paced_s?: number;
  /** When it is to end. */
  planned_end_s?: number;
  counts: Record<string, number>;
  origin?: Record<string, number>;
  latency: Record<string, Times>;
  offload?: number;
  byte_offload?: number;
}

/** Histograms of one metric: each belongs to the rows from `from` up to but without `to`. */
export interface Span {
  from: number;
  to: number;
  histogram: Histogram;
}

export interface Step {
  name: string;
  requests: number;
  failed: number;
  check_failed: number;
  times?: Times;
  /** Requests in equal parts of the run. */
  trend: number[];
}

export interface Failure {
  what: "failure" | "fault" | "code";
  name: string;
  text: string;
  stage?: string;
  errno?: string;
  count: number;
  /** Where its seconds stand among the columns. */
  column?: string;
}

export interface Evidence {
  title: string;
  text: string;
  detail: string;
  at_s: number;
  status: number;
  phase: string;
  parts: [name: string, text: string][];
}

export interface Mark {
  at_s: number;
  text: string;
  kind: "mark" | "rate" | "stop";
}

/** Seconds in which the generator was the limit. */
export interface Bound {
  from_s: number;
  to_s: number;
  reasons: string[];
}

/** `forbidden`: what must not be; `required`: what must be; `stop`: what ended the run. */
export interface Threshold {
  condition: string;
  names: "forbidden" | "required" | "stop";
  /** The figure as people read it. */
  shown?: string;
  value: number | null;
  violated: boolean;
  /** Somebody ended the run before its time. */
  unevaluated: boolean;
  at_least: boolean;
  /** Where it is a time, in µs, and of which percentile: drawn into the chart. */
  limit_us?: number;
}

export interface Note {
  text: string;
}

/** What the figures are worth, and how the target did: always both. */
export interface Verdict {
  measurement: { state: string; reasons: string[] };
  target: {
    state: string;
    /** At least half of the requests got no good answer. */
    mostly_bad: boolean;
    silent_since_s: number | null;
    requests: number;
    bad: number;
    findings: { kind: string; count: number; text: string }[];
  };
}

/** Both words, as lists of runs have them. */
export interface VerdictNames {
  measurement: string;
  target: string;
}

/** A request that no answer came to. */
export interface Lost {
  begun_s: number;
  waited_s: number;
  timed_out: boolean;
  title: string;
  phase: string;
}

export interface Head {
  id: string;
  version: string;
  command: string;
  door: string;
  target: string;
  started_unix_s: number;
  seed: string;
  labels: string[];
  threads: number;
  backend: string;
  /** Facts of the machine as pairs, in their order. */
  machine: [name: string, value: string][];
  plan: string;
}

/** `open`: another process writes it. */
export type State = "live" | "ended" | "open" | "cut";

export interface Run {
  head: Head;
  state: State;
  interrupted: boolean;
  took_s: number;
  verdict?: Verdict;
  phases: Phase[];
  /** Rows of time. */
  rows: number;
  /** When each row ends, in seconds since the start. */
  at: Column;
  /** How long each is, in seconds. */
  seconds: Column;
  /** So long of it requests could begin; what comes after waits for answers only. */
  paced: Column;
  /** How long a whole row of one record is; pieces much shorter are rests. 0: not told. */
  interval_s: number;
  /** Index of the phase of each row. */
  phase: Column;
  /** Everything else by row: counters are of the row alone. */
  columns: Map<string, Column>;
  metrics: Map<string, Span[]>;
  steps: Step[];
  /** Steps that there were no place for. */
  steps_left: number;
  failures: Failure[];
  evidence: Evidence[];
  evidence_left: number;
  lost: Lost[];
  marks: Mark[];
  bound: Bound[];
  thresholds: Threshold[];
  notes: Note[];
  /** The report as text. */
  text: string;
  /** English words of kinds of failures and faults. */
  words: Record<string, string>;
  /** Number of the first record that is not in here. */
  next: number;
  /** Raised with each change, so that views know. */
  change: number;
}

/** A column as it is inlined: `e` is the scale (10^e), `d` the differences. */
interface Packed {
  e?: number;
  d: (number | null)[];
}

interface PackedRun extends Omit<Run, "at" | "seconds" | "paced" | "phase" | "columns" | "metrics" | "change"> {
  format: number;
  at: Packed;
  seconds: Packed;
  paced: Packed;
  phase: Packed;
  columns: Record<string, Packed>;
  metrics: Record<string, { bits: number; spans: [rows: number, runs: Runs][] }>;
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

function spans({ bits, spans }: { bits: number; spans: [number, Runs][] }): Span[] {
  let from = 0;
  return spans.map(([rows, runs]) => {
    const span = { from, to: from + rows, histogram: Histogram.fromRuns(runs, bits) };
    from += rows;
    return span;
  });
}

/** The run that a report has inlined, or that the server tells of a saved one. */
export function decode(packed: PackedRun): Run {
  if (packed.format !== FORMAT) throw new Error(`the run is of format ${packed.format}, this page reads ${FORMAT}`);
  const { rows } = packed;
  const columns = Object.entries(packed.columns).map(([name, column]) => [name, unpack(column, rows)] as const);
  const metrics = Object.entries(packed.metrics).map(([name, metric]) => [name, spans(metric)] as const);
  return {
    ...packed,
    at: unpack(packed.at, rows),
    seconds: unpack(packed.seconds, rows),
    paced: unpack(packed.paced, rows),
    phase: unpack(packed.phase, rows),
    columns: new Map(columns),
    metrics: new Map(metrics),
    change: 0,
  };
}

/** Base64 of gzip of JSON, as a report holds its run. */
export async function inlined(base64: string): Promise<Run> {
  const binary = atob(base64.trim());
  const bytes = Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return decode((await new Response(stream).json()) as PackedRun);
}

/** A column, empty where the run has none. */
export function column(run: Run, name: string): Column | undefined {
  return run.columns.get(name);
}
