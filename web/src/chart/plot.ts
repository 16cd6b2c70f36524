// A chart on a canvas, by uPlot: axes, hatching, phases, marks, limits, names at the line's end, and the heat map beneath.
// Pointer moves touch uPlot's overlay and a few text nodes only.

import uPlot from "uplot";
import { clock, percentile, time, told } from "../format.ts";
import { lowest as lowestOf, width } from "../histogram.ts";
import type { Window } from "../window.ts";
import { type Chart, HEAT_BITS, type Series, type Value } from "./define.ts";
import { HeatMap } from "./heat.ts";

export interface PlotOptions {
  dark: boolean;
  log: boolean;
  /** What is shown of the time axis; nothing: all of it. */
  window: Window;
  /** The right end of the axis. */
  until: number;
  height: number;
  /** Room for names at the line's end. */
  names: boolean;
}

export interface Listeners {
  choose: (window: { from: number; to: number }) => void;
  /** The cursor stands on this point, or on none. */
  at: (index: number | null) => void;
}

const SYNC = "seconds";
const FONT = "12px system-ui, sans-serif";
const SMALL = "11px system-ui, sans-serif";
/** Room for names, in CSS pixels: the same for all charts, so that seconds stand beneath each other. */
const NAMES = 92;

export class Plot {
  private u: uPlot;
  private readonly heat: HeatMap | null;
  private readonly resizing: ResizeObserver;

  constructor(
    private readonly host: HTMLElement,
    private chart: Chart,
    private around: PlotOptions,
    private readonly listeners: Listeners,
  ) {
    this.heat = chart.heat ? new HeatMap() : null;
    this.heat?.update(chart.heat!, around.until, around.dark);
    this.u = new uPlot(this.options(), data(chart, around.log), host);
    this.resizing = new ResizeObserver(() => this.fit());
    this.resizing.observe(host);
  }

  /** What can change without making the plot anew: figures, window, right end. */
  update(chart: Chart, around: PlotOptions) {
    this.chart = chart;
    this.around = around;
    if (chart.heat) this.heat?.update(chart.heat, around.until, around.dark);
    this.u.batch(() => {
      this.u.setData(data(chart, around.log), false);
      const [min, max] = this.xRange();
      this.u.setScale("x", { min, max });
    });
  }

  destroy() {
    this.resizing.disconnect();
    this.u.destroy();
  }

  /** Moves the cursor to a point, as keys do; other charts follow. */
  moveTo(index: number) {
    const x = this.u.data[0][index];
    if (x === undefined) return;
    this.u.setCursor({ left: this.u.valToPos(x, "x"), top: this.u.over.clientHeight / 2 });
  }

  get cursor(): number | null {
    return this.u.cursor.idx ?? null;
  }

  private fit() {
    const width = this.host.clientWidth;
    if (width > 0 && (width !== this.u.width || this.around.height !== this.u.height)) {
      this.u.setSize({ width, height: this.around.height });
    }
  }

  private xRange(): [number, number] {
    const { chart, around } = this;
    if (chart.axis === "nines") return [0, Math.max(1, chart.x.at(-1) ?? 1)];
    return around.window ? [around.window.from, around.window.to] : [0, Math.max(around.until, 0.1)];
  }

  private yRange = (_u: uPlot, lowest: number | null, highest: number | null): [number, number] => {
    const { chart } = this;
    if (chart.heat) return [chart.heat.lowest, chart.heat.highest + 1];
    const limit = chart.lines.reduce((most, line) => (line.value < 3 * (highest ?? 0) ? Math.max(most, line.value) : most), 0);
    const high = Math.max(highest ?? 0, limit);
    if (this.around.log) return logRange(lowest ?? 1, high, chart.unit === "time");
    return [0, Math.max(chart.top ?? 0, high > 0 ? high * (chart.unit === "share" ? 1 : 1.06) : 1)];
  };

  private options(): uPlot.Options {
    const { chart, around } = this;
    const onTime = chart.axis === "time";
    return {
      width: this.host.clientWidth || 600,
      height: around.height,
      padding: [10, around.names ? NAMES : 22, 0, 0],
      legend: { show: false },
      cursor: {
        x: true,
        y: false,
        points: { size: 7 },
        drag: { x: onTime, y: false, setScale: false },
        focus: { prox: -1 },
        ...(onTime ? { sync: { key: SYNC, scales: ["x", null] as [string, null] } } : {}),
      },
      scales: {
        x: { time: false, range: () => this.xRange() },
        y: { distr: around.log && !chart.heat ? 3 : 1, range: this.yRange },
      },
      axes: [this.xAxis(), this.yAxis()],
      series: [{}, ...chart.series.map((series) => this.series(series))],
      hooks: {
        drawClear: [(u) => this.beneath(u)],
        draw: [(u) => this.above(u)],
        setCursor: [(u) => this.listeners.at(u.cursor.idx ?? null)],
        setSelect: [(u) => this.selected(u)],
      },
    };
  }

  private series(series: Series): uPlot.Series {
    const colour = css(series.colour);
    return {
      label: series.name,
      stroke: colour,
      width: series.dots ? 0 : series.parts ? 1 : 1.75,
      dash: series.dash,
      spanGaps: false,
      ...(series.filled ? { fill: series.parts ? colour : css(series.colour, 0.25), fillTo: (u) => u.scales.y!.min! } : {}),
      ...(series.parts ? { stroke: css("--panel") } : {}),
      ...(series.dots
        ? { paths: () => null, points: { show: true, size: 4, fill: colour, stroke: colour } }
        : { points: series.parts ? { show: false } : { size: 5, fill: colour } }),
    };
  }

  private xAxis(): uPlot.Axis {
    const onTime = this.chart.axis === "time";
    return {
      ...axisStyle(),
      ...(this.chart.heat ? { grid: { show: false } } : {}),
      size: 30,
      space: 64,
      incrs: onTime ? [0.1, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600] : [1, 2],
      values: (_u, splits) => splits.map((x) => (onTime ? clock(x) : percentile(x))),
    };
  }

  private yAxis(): uPlot.Axis {
    const { chart, around } = this;
    const text = (value: number) => told(chart.unit, value);
    const axis: uPlot.Axis = { ...axisStyle(), size: 66, space: 34 };
    if (chart.heat) {
      return {
        ...axis,
        grid: { show: false },
        splits: (_u, _n, min, max) => rounds(min, max),
        values: (_u, places) => places.map((place) => time(valueAt(place))),
      };
    }
    if (around.log) {
      return { ...axis, values: (_u, splits) => splits.map((y) => (y !== null && isDecade(y) ? text(y) : null)) };
    }
    return { ...axis, values: (_u, splits) => splits.map((y) => (y === 0 ? "0" : text(y))) };
  }

  /** What lies beneath the lines: the heat map, hatching, borders of phases. */
  private beneath(u: uPlot) {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.setLineDash([]);
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    const x = (seconds: number) => u.valToPos(seconds, "x", true);
    this.heat?.lay(ctx, x, (place) => u.valToPos(place, "y", true));
    for (const part of this.chart.bound) hatch(ctx, x(part.from_s), x(part.to_s), bbox, css("--hatch"));
    ctx.strokeStyle = css("--border-strong");
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
    for (const border of this.chart.borders) vertical(ctx, x(border), bbox);
    ctx.restore();
  }

  /** What lies above them: marks, limits, names. */
  private above(u: uPlot) {
    const { ctx, bbox } = u;
    const ratio = devicePixelRatio;
    ctx.save();
    ctx.setLineDash([]);
    ctx.font = scaled(SMALL, ratio);
    ctx.textBaseline = "bottom";
    for (const mark of this.chart.marks) {
      const x = u.valToPos(mark.at_s, "x", true);
      if (x < bbox.left || x > bbox.left + bbox.width) continue;
      ctx.strokeStyle = ctx.fillStyle = css("--violet");
      ctx.lineWidth = 1.5 * ratio;
      vertical(ctx, x, bbox);
      triangle(ctx, x, bbox.top, 5 * ratio);
    }
    for (const line of this.chart.lines) this.limit(u, line.value, line.text);
    ctx.restore();
    if (this.around.names) this.names(u);
  }

  private limit(u: uPlot, value: number, text: string) {
    const { ctx, bbox } = u;
    const y = u.valToPos(value, "y", true);
    if (!(y >= bbox.top && y <= bbox.top + bbox.height)) return;
    ctx.strokeStyle = css("--bad");
    ctx.fillStyle = css("--bad");
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    ctx.setLineDash([]);
    ctx.textAlign = "left";
    ctx.fillText(text, bbox.left + 4 * devicePixelRatio, y - 2 * devicePixelRatio);
  }

  /** Each series' name beside its last point, moved apart where they would meet. */
  private names(u: uPlot) {
    const { ctx, bbox } = u;
    const ratio = devicePixelRatio;
    const max = u.scales.x!.max!;
    const found = this.chart.series.flatMap((series, n) => {
      if (series.dots) return [];
      const values = u.data[n + 1] as Value[];
      let last = values.length - 1;
      while (last >= 0 && (values[last] == null || u.data[0][last]! > max)) last -= 1;
      if (last < 0) return [];
      const y = series.parts ? this.middle(u, n, last) : u.valToPos(values[last]!, "y", true);
      return [{ series, y }];
    });
    found.sort((a, b) => a.y - b.y);
    const gap = 13 * ratio;
    let next = bbox.top + gap / 2;
    for (const one of found) next = (one.y = Math.max(one.y, next)) + gap;
    let limit = bbox.top + bbox.height - gap / 4;
    for (const one of found.reverse()) limit = (one.y = Math.min(one.y, limit)) - gap;
    ctx.save();
    ctx.font = scaled(SMALL, ratio);
    ctx.textBaseline = "middle";
    ctx.textAlign = "left";
    for (const { series, y } of found) {
      ctx.fillStyle = css(series.parts || series.colour === "--heat-line" ? "--text" : series.colour);
      ctx.fillText(fitted(ctx, series.name, (NAMES - 12) * ratio), bbox.left + bbox.width + 6 * ratio, y);
    }
    ctx.restore();
  }

  /** The middle of a part of the stack. */
  private middle(u: uPlot, n: number, index: number): number {
    const { values, parts } = this.chart.series[n]!;
    return u.valToPos(values[index]! - (parts![index] ?? 0) / 2, "y", true);
  }

  private selected(u: uPlot) {
    const { left, width } = u.select;
    if (width < 4) return;
    const [from, to] = [u.posToVal(left, "x"), u.posToVal(left + width, "x")];
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.listeners.choose({ from: Math.max(0, from), to });
  }
}

/** Columns as uPlot wants them; a logarithmic axis has no zero. */
function data(chart: Chart, log: boolean): uPlot.AlignedData {
  const values = (series: Series) => (log && !chart.heat ? series.values.map((y) => (y !== null && y > 0 ? y : null)) : series.values);
  return [chart.x, ...chart.series.map(values)] as uPlot.AlignedData;
}

/** Whole decades around what there is; times from 10 µs to 1 h. */
function logRange(lowest: number, highest: number, times: boolean): [number, number] {
  const from = Math.floor(Math.log10(Math.max(lowest, times ? 10 : 0.1)));
  const to = Math.max(from + 1, Math.ceil(Math.log10(Math.max(highest, 1)) - 1e-9));
  return [10 ** from, times ? Math.min(10 ** to, 3600e6) : 10 ** to];
}

const isDecade = (value: number) => Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < 1e-6;

function valueAt(place: number): number {
  const index = Math.floor(place);
  return lowestOf(index, HEAT_BITS) + (place - index) * width(index, HEAT_BITS);
}

/** Places of 1, 2 and 5 of each decade that lie within, as many as have room. */
function rounds(min: number, max: number): number[] {
  const [from, to] = [valueAt(min), valueAt(max)];
  const decades = Math.log10(to / Math.max(1, from));
  const steps = decades > 3 ? [1] : decades > 1.2 ? [1, 3] : [1, 2, 3, 5, 7];
  const values = Array.from({ length: 11 }, (_, n) => steps.map((step) => step * 10 ** n)).flat();
  const within = values.filter((value) => value >= from && value <= to);
  return within.map((value) => placeIn(value));
}

function placeIn(value: number): number {
  const half = 2 ** HEAT_BITS;
  if (value < 2 * half) return value;
  const octave = Math.floor(Math.log2(value)) - HEAT_BITS;
  return octave * half + value / 2 ** octave;
}

function axisStyle(): uPlot.Axis {
  return {
    stroke: css("--text-soft"),
    font: FONT,
    grid: { stroke: css("--grid"), width: 1 },
    ticks: { stroke: css("--grid"), width: 1, size: 4 },
  };
}

let styles: CSSStyleDeclaration | null = null;

/** Colours are asked for anew when the theme changes. */
export function forgetColours() {
  styles = null;
}

function css(name: string, alpha?: number): string {
  styles ??= getComputedStyle(document.documentElement);
  const colour = styles.getPropertyValue(name).trim();
  return alpha === undefined ? colour : colour + Math.round(alpha * 255).toString(16).padStart(2, "0");
}

function hatch(ctx: CanvasRenderingContext2D, left: number, right: number, box: uPlot.BBox, colour: string) {
  const wide = Math.max(right - left, 2 * devicePixelRatio);
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, box.top, wide, box.height);
  ctx.clip();
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1.5 * devicePixelRatio;
  const step = 7 * devicePixelRatio;
  ctx.beginPath();
  // On a grid of the canvas, so that neighbouring parts join.
  const first = Math.floor((left - box.height) / step) * step;
  for (let x = first; x < left + wide; x += step) {
    ctx.moveTo(x, box.top + box.height);
    ctx.lineTo(x + box.height, box.top);
  }
  ctx.stroke();
  ctx.restore();
}

function vertical(ctx: CanvasRenderingContext2D, x: number, box: uPlot.BBox) {
  ctx.beginPath();
  ctx.moveTo(x, box.top);
  ctx.lineTo(x, box.top + box.height);
  ctx.stroke();
}

function triangle(ctx: CanvasRenderingContext2D, x: number, top: number, size: number) {
  ctx.beginPath();
  ctx.moveTo(x, top + size);
  ctx.lineTo(x - size, top - size / 2);
  ctx.lineTo(x + size, top - size / 2);
  ctx.fill();
}

function fitted(ctx: CanvasRenderingContext2D, text: string, room: number): string {
  if (ctx.measureText(text).width <= room) return text;
  let short = text;
  while (short.length > 1 && ctx.measureText(`${short}…`).width > room) short = short.slice(0, -1);
  return `${short}…`;
}

const scaled = (font: string, ratio: number) => font.replace(/(\d+)px/, (_, size) => `${Number(size) * ratio}px`);
