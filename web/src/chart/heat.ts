// The heat map: a picture of one pixel per cell, kept off the screen and laid over the plot. A new second costs one column of it.

import { type Heat, coarse } from "./define.ts";

/** Columns at most; more seconds are joined. */
const COLUMNS = 1440;
/** Shares below this are drawn as this. */
const FAINTEST = 1e-4;

/** Cividis, which people with any colour sight read alike (Nuñez, Anderton, Renslow 2018), at nine places. */
const CIVIDIS = ["00224e", "123570", "3b496c", "575d6d", "707173", "8a8678", "a59c74", "c3b369", "fee838"];
const STEPS = 64;

/** 64 colours from faint to strong: strong is dark on white and bright on black. */
export function ramp(dark: boolean): [number, number, number][] {
  const stops = CIVIDIS.map((hex) => [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16)));
  const colours = Array.from({ length: STEPS }, (_, step) => {
    const place = (step / (STEPS - 1)) * (stops.length - 1);
    const low = Math.min(stops.length - 2, Math.floor(place));
    return stops[low]!.map((from, n) => Math.round(from + (stops[low + 1]![n]! - from) * (place - low)));
  }) as [number, number, number][];
  return dark ? colours : colours.reverse();
}

/** The step of a share, logarithmic. */
function strength(share: number): number {
  const place = 1 + Math.log10(Math.max(share, FAINTEST)) / -Math.log10(FAINTEST);
  return Math.min(STEPS - 1, Math.max(0, Math.round(place * (STEPS - 1))));
}

/** The column that a span begins in: seconds are a little longer or shorter than a column, and each has its own all the same. */
export function columnOf(begin: number, end: number, perColumn: number): number {
  return Math.floor((begin + Math.min(perColumn, end - begin) / 2) / perColumn);
}

export class HeatMap {
  private readonly canvas = document.createElement("canvas");
  private drawn = 0;
  private shape = "";
  private colours: [number, number, number][] = [];
  /** Seconds of a column, and rows of the picture from the lowest. */
  private perColumn = 1;
  private lowest = 0;
  private height = 1;

  /** Brings the picture up to the spans that there are; `until` is the right end in seconds. */
  update(heat: Heat, until: number, dark: boolean) {
    this.lowest = heat.lowest;
    this.height = heat.highest - heat.lowest + 1;
    this.perColumn = Math.max(finest(heat), Math.ceil(until / COLUMNS));
    const columns = Math.max(1, Math.ceil(until / this.perColumn - 1e-6));
    const shape = [columns, this.height, this.lowest, dark, this.perColumn].join();
    if (shape !== this.shape || this.drawn > heat.spans.length) {
      this.shape = shape;
      this.colours = ramp(dark);
      this.canvas.width = columns;
      this.canvas.height = this.height;
      this.drawn = 0;
    }
    this.draw(heat);
  }

  private draw(heat: Heat) {
    const context = this.canvas.getContext("2d");
    if (!context) return;
    // The column under way may have to grow: it is drawn again.
    let n = this.drawn;
    while (n < heat.spans.length) {
      const column = this.columnOf(heat, n);
      const cells = new Float64Array(this.height);
      let total = 0;
      while (n < heat.spans.length && this.columnOf(heat, n) === column) {
        const { histogram } = heat.spans[n]!;
        histogram.index.forEach((index, i) => {
          cells[coarse(index, histogram.bits) - this.lowest]! += histogram.count[i]!;
          total += histogram.count[i]!;
        });
        n += 1;
      }
      const [begin, end] = this.extent(heat, n - 1);
      this.paint(context, column, Math.max(1, Math.round((end - begin) / this.perColumn)), cells, total);
      if (n < heat.spans.length) this.drawn = n;
    }
  }

  private extent(heat: Heat, n: number): [number, number] {
    const span = heat.spans[n]!;
    return [heat.edges(span.from)[0], heat.edges(span.to - 1)[1]];
  }

  private columnOf(heat: Heat, n: number): number {
    const [begin, end] = this.extent(heat, n);
    return columnOf(begin, end, this.perColumn);
  }

  private paint(context: CanvasRenderingContext2D, x: number, wide: number, cells: Float64Array, total: number) {
    if (total === 0) return;
    const image = context.createImageData(wide, this.height);
    cells.forEach((count, row) => {
      if (count === 0) return;
      const step = strength(count / total);
      const colour = this.colours[step]!;
      // What is rare should be seen, and not first.
      const opacity = Math.round(255 * Math.min(1, 0.3 + (1.6 * step) / STEPS));
      for (let n = 0; n < wide; n++) {
        image.data.set([...colour, opacity], 4 * ((this.height - 1 - row) * wide + n));
      }
    });
    context.putImageData(image, x, 0);
  }

  /** Lays the picture over a plot. `x` and `y` map seconds and rows to pixels. */
  lay(context: CanvasRenderingContext2D, x: (seconds: number) => number, y: (place: number) => number) {
    const [left, right] = [x(0), x(this.canvas.width * this.perColumn)];
    const [top, bottom] = [y(this.lowest + this.height), y(this.lowest)];
    context.imageSmoothingEnabled = false;
    context.drawImage(this.canvas, left, top, right - left, bottom - top);
  }
}

/** Seconds of the shortest usual span: those of the first. */
function finest(heat: Heat): number {
  const [begin, end] = heat.edges(heat.spans[0]!.from);
  return Math.max(0.1, Math.round((end - begin) * 10) / 10);
}
