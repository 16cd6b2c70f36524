// The records of a run that goes on (docs/src/run-file.md), one after the other, into the run that the page holds. A page begins with
// what the server has already put together (`decode`), so only what grows is here; at the end the page asks for the whole anew.

import { type Runs, Sum, metricsOf } from "./histogram.ts";
import type { Column, Failure, Run } from "./model.ts";

/** What is read of a record; the rest is passed over, as are kinds that this page does not know. */
export interface RunRecord {
  kind: string;
  at_s?: number;
  phase?: number | string;
  name?: string;
  measured?: boolean;
  seconds?: number;
  paced_until_s?: number;
  in_flight?: number;
  asked_per_s?: number;
  p50_us?: number;
  p99_us?: number;
  max_us?: number;
  clients?: {
    counts?: Record<string, number>;
    statuses?: [number, number][];
    failures?: { kind: string; stage: string; errno?: number | null; count: number }[];
    faults?: { fault: string; count: number }[];
    codes?: { code?: string; good: boolean; count: number }[];
    labels?: { label: number; ended: number; ok: number; response?: Runs }[];
  };
  origin?: Record<string, number>;
  metrics?: Record<string, Runs>;
  worker_cpu?: number[];
  bound?: string[];
  text?: string;
  command?: string;
  per_second?: number;
}

/** Histograms of records are in two digits. */
const BITS = 7;
const SHOWN_METRICS = ["service", "response", "first_byte"];
const KEPT_METRICS = ["service", "response", "first_byte", "hit", "miss"];

/** Takes the next record in; true where the run is over and the whole of it should be asked for. */
export function apply(run: Run, record: RunRecord): boolean {
  switch (record.kind) {
    case "second":
      second(run, record);
      break;
    case "phase":
      phase(run, record);
      break;
    case "note":
      run.notes.push({ text: record.text ?? "" });
      break;
    case "control":
      control(run, record);
      break;
    case "end":
      return true;
  }
  run.change += 1;
  return false;
}

function phase(run: Run, record: RunRecord) {
  const last = run.phases.at(-1);
  const at = record.at_s ?? run.took_s;
  if (last && last.ended_s === undefined) last.ended_s = at;
  run.phases[Number(record.phase)] = {
    ...run.phases[Number(record.phase)],
    name: record.name ?? "",
    measured: record.measured ?? false,
    began_s: at,
    counts: {},
    latency: {},
  };
}

function control(run: Run, { at_s = 0, command, text, per_second }: RunRecord) {
  if (command === "mark") run.marks.push({ at_s, text: text ?? "", kind: "mark" });
  if (command === "rate") run.marks.push({ at_s, text: `${per_second}/s`, kind: "rate" });
  if (command === "stop") run.marks.push({ at_s, text: "stop", kind: "stop" });
}

/** A piece shorter than this share of an interval is a rest and no second: it becomes a part of the row beside it. */
const REST = 0.25;

function second(run: Run, record: RunRecord) {
  const { clients = {}, at_s = run.took_s + 1, seconds = 1 } = record;
  const phase = Number(record.phase ?? 0);
  const last = run.rows - 1;
  const rests = (length: number) => length < REST * run.interval_s;
  const isRest = rests(seconds);
  const joins = last >= 0 && run.phase[last] === phase && (isRest || rests(run.seconds[last]!));
  const row = new Row(run, joins);
  const paced = Math.min(seconds, Math.max(0, (record.paced_until_s ?? at_s) - (at_s - seconds)));
  row.set("at", at_s).set("phase", phase).extend("seconds", seconds).extend("paced", paced);
  for (const [name, count] of Object.entries(clients.counts ?? {})) row.add(name, count);
  for (const [name, count] of Object.entries(record.origin ?? {})) row.add(`origin.${name}`, count);
  for (const [status, count] of clients.statuses ?? []) row.add(`status.${status}`, count);
  for (const code of clients.codes ?? []) row.add(`code.${code.good ? "" : "bad."}${code.code ?? "–"}`, code.count);
  for (const one of clients.failures ?? []) {
    const column = `failure.${one.kind}.${one.stage}`;
    row.add(column, one.count);
    failed(run, { what: "failure", name: one.kind, text: run.words[one.kind] ?? one.kind, stage: one.stage, errno: one.errno ? String(one.errno) : undefined, count: one.count, column });
  }
  for (const one of clients.faults ?? []) {
    row.add(`fault.${one.fault}`, one.count);
    failed(run, { what: "fault", name: one.fault, text: run.words[one.fault] ?? one.fault, count: one.count, column: `fault.${one.fault}` });
  }
  times(run, row, record, joins && isRest);
  if (!joins || !isRest) {
    row.set("in_flight", record.in_flight ?? 0);
    if (record.asked_per_s !== undefined) row.set("asked", record.asked_per_s);
    record.worker_cpu?.forEach((share, worker) => row.set(`cpu.${worker}`, share));
  }
  steps(run, clients.labels ?? []);
  bound(run, at_s, seconds, record.bound ?? []);
  run.took_s = Math.max(run.took_s, at_s);
}

/** `isPart`: percentiles are those of the longer piece that it is a part of. */
function times(run: Run, row: Row, record: RunRecord, isPart: boolean) {
  const histograms = metricsOf(record.metrics ?? {}, BITS);
  for (const [metric, histogram] of histograms) {
    if (isPart) continue;
    const sum = new Sum().add(histogram);
    if (metric === "lateness") row.set("lateness.p99", sum.percentile(0.99));
    if (!SHOWN_METRICS.includes(metric) || sum.total === 0) continue;
    row.set(`${metric}.p50`, sum.percentile(0.5)).set(`${metric}.p99`, sum.percentile(0.99));
    row.set(`${metric}.p999`, sum.percentile(0.999)).set(`${metric}.max`, sum.max());
  }
  if (record.p99_us && !isPart) {
    row.set("service.p50", record.p50_us ?? NaN).set("service.p99", record.p99_us).set("service.max", record.max_us ?? NaN);
  }
  for (const [metric, histogram] of histograms) {
    if (!KEPT_METRICS.includes(metric)) continue;
    const spans = run.metrics.get(metric) ?? [];
    spans.push({ from: run.rows - 1, to: run.rows, histogram });
    run.metrics.set(metric, spans);
  }
}

function failed(run: Run, one: Failure) {
  const known = run.failures.find((other) => other.column === one.column);
  if (known) known.count += one.count;
  else run.failures.push(one);
}

/** Percentiles of steps come with the whole run when it is over, and with a reload: counting is enough meanwhile. */
function steps(run: Run, labels: NonNullable<NonNullable<RunRecord["clients"]>["labels"]>) {
  for (const { label, ended, ok } of labels) {
    const step = run.steps[label];
    if (!step) continue;
    step.requests += ended;
    step.failed += ended - ok;
  }
}

function bound(run: Run, at_s: number, seconds: number, reasons: string[]) {
  if (reasons.length === 0) return;
  const last = run.bound.at(-1);
  if (last && Math.abs(last.to_s - (at_s - seconds)) < 0.01 && last.reasons.join() === reasons.join()) last.to_s = at_s;
  else run.bound.push({ from_s: at_s - seconds, to_s: at_s, reasons });
}

/** A row: where it is new, each column grows by one place, counters by 0 and measured values by a gap. */
class Row {
  private readonly at: number;

  /** `joins`: it is the last one there is. */
  constructor(private readonly run: Run, joins: boolean) {
    this.at = joins ? run.rows - 1 : run.rows;
    if (joins) return;
    run.rows += 1;
    run.at = grown(run.at, run.rows, NaN);
    run.seconds = grown(run.seconds, run.rows, 0);
    run.paced = grown(run.paced, run.rows, 0);
    run.phase = grown(run.phase, run.rows, 0);
    for (const [name, column] of run.columns) run.columns.set(name, grown(column, run.rows, isCounter(name) ? 0 : NaN));
  }

  set(name: string, value: number): this {
    this.column(name)[this.at] = value;
    return this;
  }

  extend(name: "seconds" | "paced", length: number): this {
    this.run[name][this.at]! += length;
    return this;
  }

  add(name: string, count: number) {
    this.column(name)[this.at]! += count;
  }

  private column(name: string): Column {
    const { run } = this;
    if (name === "at" || name === "phase") return run[name];
    let column = run.columns.get(name);
    if (!column) {
      column = new Float64Array(run.rows).fill(isCounter(name) ? 0 : NaN);
      run.columns.set(name, column);
    }
    return column;
  }
}

const isCounter = (name: string) => !/^(in_flight|asked|cpu\.|cores\.|memory\.)|\.(p50|p99|p999|max)$/.test(name);

/** The column with more places; room is taken in doublings, and what is handed out is as long as there are rows. */
function grown(column: Column, rows: number, empty: number): Column {
  if (column.buffer.byteLength >= rows * 8) {
    const longer = new Float64Array(column.buffer as ArrayBuffer, 0, rows);
    longer[rows - 1] = empty;
    return longer;
  }
  const room = new Float64Array(Math.max(64, 2 * rows));
  room.set(column);
  room[rows - 1] = empty;
  return room.subarray(0, rows);
}
