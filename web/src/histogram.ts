// Histograms in HdrHistogram's geometry, as the engine has them: `bits` halvings of each octave, so 7 bits are two digits (buckets
// at most 0.8 % wide) and 3 bits are the eight rows per octave of the heat map. Values are whole microseconds.

/** A histogram as it is stored: runs of neighbouring buckets, each `[gap, n, n, …]`, the gap counted from the end of the run before. */
export type Runs = number[][];

/** The lowest value of a bucket. */
export function lowest(index: number, bits: number): number {
  const half = 2 ** bits;
  if (index < 2 * half) return index;
  const octave = Math.floor(index / half) - 1;
  return (index - octave * half) * 2 ** octave;
}

/** How many values a bucket holds. */
export function width(index: number, bits: number): number {
  const half = 2 ** bits;
  return index < 2 * half ? 1 : 2 ** (Math.floor(index / half) - 1);
}

/** The bucket of a value. */
export function indexOf(value: number, bits: number): number {
  const half = 2 ** bits;
  if (value < 2 * half) return Math.max(0, Math.floor(value));
  const octave = Math.floor(Math.log2(value)) - bits;
  return octave * half + Math.floor(value / 2 ** octave);
}

/** The place of a value on the axis of buckets, with a fraction: rows of equal height that are octaves cut into equal parts. */
export function placeOf(value: number, bits: number): number {
  const index = indexOf(value, bits);
  return index + Math.min(1, (value - lowest(index, bits)) / width(index, bits));
}

/** Buckets with counts: pairs of index and count, ascending. */
export class Histogram {
  constructor(
    readonly bits: number,
    readonly index: Uint16Array,
    readonly count: Float64Array,
  ) {}

  static fromRuns(runs: Runs, bits: number): Histogram {
    const index: number[] = [];
    const count: number[] = [];
    let at = 0;
    for (const [gap = 0, ...counts] of runs) {
      at += gap;
      for (const n of counts) {
        if (n > 0) {
          index.push(at);
          count.push(n);
        }
        at += 1;
      }
    }
    return new Histogram(bits, Uint16Array.from(index), Float64Array.from(count));
  }

  get total(): number {
    return this.count.reduce((sum, n) => sum + n, 0);
  }
}

/** A sum of histograms, at the coarsest of their resolutions. */
export class Sum {
  private cells = new Float64Array(0);
  private top = 0;
  bits: number;
  total = 0;

  constructor(bits = 7) {
    this.bits = bits;
  }

  add(one: Histogram): this {
    if (one.bits < this.bits) this.coarsen(one.bits);
    for (let i = 0; i < one.index.length; i++) {
      this.put(this.translate(one.index[i]!, one.bits), one.count[i]!);
    }
    return this;
  }

  /** The value below or at which this share of all lies: the middle of its bucket, as reports of run files have it; NaN of nothing. */
  percentile(quantile: number): number {
    if (this.total === 0) return NaN;
    let left = Math.max(1, Math.ceil(quantile * this.total - 1e-9));
    for (let i = 0; i < this.top; i++) {
      left -= this.cells[i]!;
      if (left <= 0) return lowest(i, this.bits) + Math.floor(width(i, this.bits) / 2);
    }
    return NaN;
  }

  /** The highest value that there may be; NaN of nothing. */
  max(): number {
    return this.percentile(1);
  }

  private translate(index: number, bits: number): number {
    return bits === this.bits ? index : indexOf(lowest(index, bits), this.bits);
  }

  private put(index: number, count: number) {
    if (index >= this.cells.length) {
      const larger = new Float64Array(Math.max(256, 2 * index));
      larger.set(this.cells);
      this.cells = larger;
    }
    this.cells[index]! += count;
    this.top = Math.max(this.top, index + 1);
    this.total += count;
  }

  private coarsen(bits: number) {
    const [cells, top, finer] = [this.cells, this.top, this.bits];
    [this.cells, this.top, this.total, this.bits] = [new Float64Array(0), 0, 0, bits];
    for (let i = 0; i < top; i++) if (cells[i]! > 0) this.put(indexOf(lowest(i, finer), bits), cells[i]!);
  }
}

/** A point of the spectrum: x in nines (2 is p99), y in µs. */
export type Nine = [nines: number, us: number];

/** The time below which all but 10^-x lie, for x in tenths, as far as the counts go. */
export function spectrum(sum: Sum): Nine[] {
  if (sum.total < 1) return [];
  const steps = Math.max(1, Math.floor(Math.log10(sum.total) * 10));
  return Array.from({ length: steps + 1 }, (_, step) => [step / 10, sum.percentile(1 - 10 ** (-step / 10))]);
}
