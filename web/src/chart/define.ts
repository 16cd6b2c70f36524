// The charts of a run as data: series over time and what is drawn with them. Pure; plot.ts draws.

import type { Unit } from "../format.ts";
import { clock as clockText } from "../format.ts";
import { type Nine, indexOf, lowest, placeOf, spectrum } from "../histogram.ts";
import type { Bound, Column, Mark, Run, Span } from "../model.ts";
import type { Texts } from "../text/en.ts";
import { type Window, covers, sumOf } from "../window.ts";

export type Value = number | null;

export interface Series {
  name: string;
  /** Name of a custom property of the style sheet. */
  colour: string;
  values: Value[];
  dash?: number[];
  /** Filled down to the axis. */
  filled?: boolean;
  /** Points without a line. */
  dots?: boolean;
  /** Part of a stack: `values` hold the sums, this the parts. */
  parts?: Value[];
}

/** A line across the chart with its text. */
export interface Line {
  value: number;
  text: string;
}

export interface Heat {
  spans: Span[];
  /** Start and end of each row in seconds. */
  edges: (row: number) => [number, number];
  lowest: number;
  highest: number;
}

export interface Chart {
  id: string;
  title: string;
  unit: Unit;
  /** What x is: seconds since the start, or nines of a percentile. */
  axis: "time" | "nines";
  x: number[];
  series: Series[];
  log: boolean;
  canLog: boolean;
  /** Highest value of y that is always shown. */
  top?: number;
  lines: Line[];
  heat?: Heat;
  bound: Bound[];
  borders: number[];
  marks: Mark[];
  wide?: boolean;
}

/** Rows per octave of the heat map, as a power of two. */
export const HEAT_BITS = 3;

/** Colours of series that have none by their meaning, told apart by dashes as well. */
const PALETTE = ["--blue", "--orange", "--violet", "--teal", "--rose", "--olive", "--grey", "--ink"];
const DASHES = [undefined, [7, 3], [2, 3], [10, 3, 2, 3], undefined, [7, 3], [2, 3], [10, 3, 2, 3]];

/** Rows as points of charts: a hole in time is a point without values. */
class Frame {
  readonly x: number[] = [];
  private readonly rows: number[] = [];

  constructor(readonly run: Run) {
    let end = 0;
    for (let row = 0; row < run.rows; row++) {
      const begin = run.at[row]! - run.seconds[row]!;
      if (row > 0 && begin - end > 0.5 * run.seconds[row]!) this.push((begin + end) / 2, -1);
      this.push((run.at[row]! + begin) / 2, row);
      end = run.at[row]!;
    }
  }

  private push(x: number, row: number) {
    this.x.push(x);
    this.rows.push(row);
  }

  map(of: (row: number) => number): Value[] {
    return this.rows.map((row) => {
      const value = row < 0 ? NaN : of(row);
      return Number.isFinite(value) ? value : null;
    });
  }

  column(name: string): Value[] | undefined {
    const column = this.run.columns.get(name);
    return column && this.map((row) => column[row]!);
  }

  rate(...names: string[]): Value[] | undefined {
    const columns = names.flatMap((name) => this.run.columns.get(name) ?? []);
    if (columns.length === 0) return undefined;
    return this.map((row) => sum(columns, row) / this.run.seconds[row]!);
  }

  /** Requests begun, of the time in which they could; a row that only waits for answers has none. */
  begun(): Value[] | undefined {
    const column = this.run.columns.get("requests");
    return column && this.map((row) => begunPerSecond(this.run, column, row));
  }
}

export const begunPerSecond = (run: Run, requests: Column, row: number) => (run.paced[row]! > 0 ? requests[row]! / run.paced[row]! : NaN);
const sum = (columns: Column[], row: number) => columns.reduce((sum, column) => sum + (column[row] || 0), 0);
const some = (values: Value[] | undefined): values is Value[] => !!values?.some((value) => value !== null && value !== 0);

/** Every chart that has something to show, in the order of the page. */
export function charts(run: Run, t: Texts, metric: string, window: Window): Chart[] {
  const frame = new Frame(run);
  const over = (id: string, title: string, unit: Unit, series: (Series | false | undefined)[], more?: Partial<Chart>) => ({
    id,
    title,
    unit,
    axis: "time" as const,
    x: frame.x,
    series: series.filter((one): one is Series => !!one),
    log: false,
    canLog: true,
    lines: [],
    bound: run.bound,
    borders: borders(run),
    marks: run.marks,
    ...more,
  });
  const all: Chart[] = [
    over("throughput", t.throughput, "count", throughput(frame, t)),
    over("latency", t.latency, "time", latency(frame, t, metric), {
      log: true,
      lines: run.thresholds.flatMap((one) => (one.limit_us ? [{ value: one.limit_us, text: one.condition }] : [])),
    }),
    over("heat", t.heat, "time", heatLine(frame, metric, t), { heat: heat(run, metric), canLog: false }),
    over("cache", t.cache, "share", cache(frame, t), { top: 1, canLog: false }),
    over("outcomes", t.outcomes, "count", outcomes(frame, t), { log: spread(frame, outcomeNames(frame.run)) }),
    over("codes", t.codes, "count", codes(frame, t), { log: spread(frame, codeNames(frame.run)) }),
    over("origin", t.origin, "count", origin(frame, t)),
    over("offload", t.offloadChart, "share", offload(frame, t), { top: 1, canLog: false }),
    over("connections", t.connections, "count", connections(frame, t)),
    over("in_flight", t.inFlight, "count", [line(t.inFlightSeries, "--blue", frame.column("in_flight"))]),
    over("bytes", t.bytes, "bytes", [
      line(t.bytesIn, "--blue", frame.rate("head_bytes", "body_bytes")),
      line(t.bytesOut, "--orange", frame.rate("sent_bytes"), [7, 3]),
    ]),
    over("generator", t.generator, "percent", workers(frame, t), {
      top: 100,
      lines: [{ value: 75, text: t.limit("75 %") }],
    }),
    over("lateness", t.lateness, "time", [line(t.latenessP99, "--orange", frame.column("lateness.p99"))], {
      log: true,
      lines: [{ value: 5000, text: t.limit("5 ms") }],
    }),
    over("target", t.target, "cores", watched(frame, "cores")),
    over("target_memory", t.targetMemory, "bytes", watched(frame, "memory")),
    spectra(run, t, window),
  ];
  return all.filter((chart) => chart.series.length > 0 && chart.x.length > 0);
}

function line(name: string, colour: string, values: Value[] | undefined, dash?: number[]): Series | undefined {
  return values?.some((value) => value !== null) ? { name, colour, values, dash } : undefined;
}

function borders(run: Run): number[] {
  return run.phases.slice(1).map((phase) => phase.began_s);
}

function throughput(frame: Frame, t: Texts) {
  const bad = frame.rate("failed", "check_failed");
  const overflow = frame.rate("overflow");
  return [
    line(t.begun, "--blue", frame.begun()),
    line(t.asked, "--grey", frame.column("asked"), [7, 4]),
    some(bad) && { name: t.bad, colour: "--bad", values: bad, filled: true },
    some(overflow) && { name: t.overflowSeries, colour: "--violet", values: overflow, dash: [2, 3] },
  ];
}

function latency(frame: Frame, t: Texts, metric: string) {
  const of = (figure: string) => frame.column(`${metric}.${figure}`);
  return [
    line("p50", "--blue", of("p50")),
    line("p99", "--orange", of("p99")),
    line("p99.9", "--violet", of("p999"), [7, 3]),
    some(of("max")) && { name: t.max, colour: "--grey", values: of("max")!, dots: true },
  ];
}

function heatLine(frame: Frame, metric: string, t: Texts) {
  const p99 = frame.column(`${metric}.p99`);
  const spans = frame.run.metrics.get(metric);
  if (!p99 || !spans?.length) return [];
  const place = (us: Value) => (us === null ? null : placeOf(us, HEAT_BITS));
  return [{ name: `p99 ${(t as unknown as Record<string, string>)[metric] ?? ""}`.trim(), colour: "--heat-line", values: p99.map(place) }];
}

function heat(run: Run, metric: string): Heat | undefined {
  const spans = run.metrics.get(metric);
  if (!spans) return undefined;
  let [lowest, highest] = [Infinity, 0];
  for (const { histogram } of spans) {
    if (histogram.index.length === 0) continue;
    lowest = Math.min(lowest, coarse(histogram.index[0]!, histogram.bits));
    highest = Math.max(highest, coarse(histogram.index.at(-1)!, histogram.bits));
  }
  if (lowest > highest) return undefined;
  const edges = (row: number): [number, number] => [run.at[row]! - run.seconds[row]!, run.at[row]!];
  return { spans, edges, lowest, highest };
}

const ROWS = new Map<number, Uint16Array>();

/** The heat map's row of a bucket that is as fine or finer. */
export function coarse(index: number, bits: number): number {
  let rows = ROWS.get(bits);
  if (!rows) {
    rows = Uint16Array.from({ length: 40 * 2 ** bits }, (_, index) => indexOf(lowest(index, bits), HEAT_BITS));
    ROWS.set(bits, rows);
  }
  return rows[index] ?? 0;
}

function cache(frame: Frame, t: Texts) {
  const names = ["hits", "revalidated", "collapsed", "misses"];
  const columns = names.map((name) => frame.run.columns.get(name));
  if (!columns.some((column) => column?.some((n) => n > 0))) return [];
  const at = (row: number, upTo: number) => columns.slice(0, upTo).reduce((sum, column) => sum + (column?.[row] || 0), 0);
  const share = (upTo: number) => frame.map((row) => at(row, upTo) / at(row, 4));
  const part = (n: number) => frame.map((row) => (columns[n]?.[row] || 0) / at(row, 4));
  const labels = [t.hit, t.revalidated, t.collapsed, t.miss];
  const stack: (Series | false)[] = [3, 2, 1, 0].map((n) => {
    const shown = columns[n]?.some((count) => count > 0);
    return !!shown && { name: labels[n]!, colour: `--cache-${n}`, values: share(n + 1), parts: part(n), filled: true };
  });
  const predicted = frame.map((row) => frame.run.phases[frame.run.phase[row]!]?.predicted_hit_ratio ?? NaN);
  return [...stack, line(t.predictedSeries, "--ink", predicted, [7, 4])];
}

/** Names of the columns of outcomes, the most frequent first. */
function outcomeNames(run: Run): string[] {
  const kinds = [...run.columns.keys()].filter((name) => name.startsWith("failure.") || name.startsWith("fault."));
  return ["ok", ...byTotal(run, kinds)];
}

function byTotal(run: Run, names: string[]): string[] {
  const total = (name: string) => run.columns.get(name)!.reduce((sum, n) => sum + (n || 0), 0);
  return names.sort((a, b) => total(b) - total(a));
}

/** Whether rates of these columns lie more than three decades apart. */
function spread(frame: Frame, names: string[]): boolean {
  const totals = names.map((name) => frame.run.columns.get(name)?.reduce((sum, n) => sum + (n || 0), 0) ?? 0).filter((n) => n > 0);
  return totals.length > 1 && Math.max(...totals) / Math.min(...totals) > 1000;
}

function outcomes(frame: Frame, t: Texts) {
  const [, ...kinds] = outcomeNames(frame.run);
  const words = new Map(frame.run.failures.map((one) => [one.column, t.kindName[one.name] ?? one.text]));
  const shown = kinds.slice(0, 5).map((name, n) => ranked(words.get(name) ?? name.replace(/^\w+\./, ""), n + 1, frame.rate(name)));
  return [
    line(t.good, "--blue", frame.rate("ok")),
    ...shown,
    kinds.length > 5 && ranked(t.other, 6, frame.rate(...kinds.slice(5))),
  ];
}

function ranked(name: string, n: number, values: Value[] | undefined): Series | false {
  return !!values && { name, colour: PALETTE[n % PALETTE.length]!, values, dash: DASHES[n % DASHES.length] };
}

function codeNames(run: Run): string[] {
  return byTotal(run, [...run.columns.keys()].filter((name) => name.startsWith("status.") || name.startsWith("code.")));
}

function codes(frame: Frame, t: Texts) {
  const names = codeNames(frame.run);
  const bad = (name: string) => /^status\.[45]/.test(name) || name.startsWith("code.bad.");
  const shown = names.slice(0, 8).map((name, n): Series | false => {
    const values = frame.rate(name);
    const colour = PALETTE[n % PALETTE.length]!;
    return !!values && { name: name.replace(/^(status|code\.bad|code)\./, ""), colour, values, dash: bad(name) ? [2, 3] : undefined };
  });
  return [...shown, names.length > 8 && ranked(t.other, 6, frame.rate(...names.slice(8)))];
}

function origin(frame: Frame, t: Texts) {
  const part = (name: string, colour: string, dash: number[] | undefined, ...columns: string[]) => {
    const values = frame.rate(...columns);
    return some(values) && { name, colour, values, dash };
  };
  return [
    line(t.requests, "--blue", frame.rate("origin.requests")),
    part(t.full, "--orange", [7, 3], "origin.full"),
    part(t.notModified, "--violet", [2, 3], "origin.unchanged"),
    part(t.ranges, "--teal", [10, 3, 2, 3], "origin.partial"),
    part(t.errors, "--bad", undefined, "origin.errors", "origin.refused", "origin.cut"),
  ];
}

function offload(frame: Frame, t: Texts) {
  if (!some(frame.column("origin.requests"))) return [];
  const get = (name: string, row: number) => frame.run.columns.get(name)?.[row] || 0;
  const left = (cost: number, all: number) => (all > 0 ? Math.max(0, 1 - cost / all) : NaN);
  const documents = (row: number) => get("origin.full", row) + get("origin.partial", row) + get("origin.cut", row);
  return [
    line(t.byAnswers, "--blue", frame.map((row) => left(documents(row), get("ended", row)))),
    line(t.byBytes, "--orange", frame.map((row) => left(get("origin.body_bytes", row), get("body_bytes", row))), [7, 3]),
  ];
}

function connections(frame: Frame, t: Texts) {
  const full = frame.rate("handshakes_full");
  const resumed = frame.rate("handshakes_resumed");
  return [
    line(t.opened, "--blue", frame.rate("connections")),
    some(full) && { name: t.handshakesFull, colour: "--orange", values: full, dash: [7, 3] },
    some(resumed) && { name: t.handshakesResumed, colour: "--violet", values: resumed, dash: [2, 3] },
  ];
}

function workers(frame: Frame, t: Texts) {
  const names = [...frame.run.columns.keys()].filter((name) => name.startsWith("cpu."));
  const columns = names.map((name) => frame.run.columns.get(name)!);
  if (names.length <= 8) {
    return names.map((name, n) => ranked(t.worker(name.slice(4)), n, frame.map((row) => columns[n]![row]! * 100)));
  }
  const at = (share: number) =>
    frame.map((row) => {
      const sorted = columns.map((column) => column[row]!).sort((a, b) => a - b);
      return sorted[Math.round(share * (sorted.length - 1))]! * 100;
    });
  return [ranked(t.busiest, 1, at(1)), ranked(t.median, 0, at(0.5)), ranked(t.idlest, 6, at(0))];
}

function watched(frame: Frame, what: string) {
  const names = [...frame.run.columns.keys()].filter((name) => name.startsWith(`${what}.`));
  return names.slice(0, 8).map((name, n) => ranked(name.slice(what.length + 1), n, frame.column(name)));
}

/** Times over percentiles of the seconds that are looked at. */
function spectra(run: Run, t: Texts, window: Window): Chart {
  const within = covers(run, window);
  const metrics: [string, string, string, number[]?][] = [
    ["service", t.service, "--blue"],
    ["response", t.response, "--orange", [7, 3]],
    ["hit", t.hitsClock, "--teal", [2, 3]],
    ["miss", t.missesClock, "--violet", [10, 3, 2, 3]],
  ];
  const lines = metrics.map(([metric, name, colour, dash]) => {
    const sum = sumOf(run, metric, within);
    return { name, colour, dash, points: spectrum(sum) };
  });
  const found = lines.filter((one) => one.points.length > 0);
  const longest = found.reduce<Nine[]>((most, one) => (one.points.length > most.length ? one.points : most), []);
  return {
    id: "spectrum",
    title: t.spectrum,
    unit: "time",
    axis: "nines",
    x: longest.map(([nines]) => nines),
    series: found.map(({ points, ...one }) => ({ ...one, values: longest.map((_, n) => points[n]?.[1] ?? null) })),
    log: true,
    canLog: true,
    lines: [],
    bound: [],
    borders: [],
    marks: [],
  };
}

/** A sentence that says what the chart shows: the highest of each series, and when. */
export function summary(chart: Chart, t: Texts, told: (value: number) => string): string {
  const parts = chart.series.map((series) => {
    const values = series.parts ?? series.values;
    let best = -1;
    values.forEach((value, n) => {
      if (value !== null && (best < 0 || value > values[best]!)) best = n;
    });
    if (best < 0) return "";
    const at = chart.axis === "time" ? clockText(chart.x[best]!) : `p${(100 * (1 - 10 ** -chart.x[best]!)).toFixed(2)}`;
    return t.peak(series.name, told(values[best]!), at);
  });
  return parts.filter(Boolean).join(", ") || t.noData;
}
