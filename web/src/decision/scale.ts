// Axes of pictures: where a value stands, in percent of the width or height, and which values are named.

export interface Scale {
  /** 0 at the beginning, 100 at the end. */
  at: (value: number) => number;
  ticks: number[];
}

/** Around these values, with some room at both ends; `zero`: it begins there. */
export function linear(values: number[], { zero = false, most = 6 } = {}): Scale {
  const known = values.filter(Number.isFinite);
  let low = zero ? 0 : Math.min(...known);
  let high = Math.max(...known);
  if (known.length === 0) [low, high] = [0, 1];
  const room = (high - low || Math.abs(high) || 1) * 0.06;
  if (!zero) low -= room;
  high += room;
  const step = round((high - low) / most);
  const first = Math.ceil(low / step - 1e-9) + 0;
  const ticks: number[] = [];
  for (let n = first; n * step <= high * (1 + 1e-12); n++) ticks.push(n * step);
  return { at: (value) => (100 * (value - low)) / (high - low), ticks };
}

/** By their logarithms; what is not above 0 stands at the beginning. */
export function logarithmic(values: number[]): Scale {
  const known = values.filter((value) => Number.isFinite(value) && value > 0);
  const [low, high] = known.length > 0 ? [Math.min(...known) / 1.2, Math.max(...known) * 1.2] : [1, 10];
  const length = Math.log(high / low);
  const decades = length / Math.LN10;
  const parts = decades > 4 ? [1] : decades > 1.5 ? [1, 3] : [1, 2, 3, 5, 7];
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
    for (const part of parts) {
      const tick = Number(`${part}e${power}`);
      if (tick >= low && tick <= high) ticks.push(tick);
    }
  }
  return { at: (value) => (value > 0 ? Math.max(0, (100 * Math.log(value / low)) / length) : 0), ticks };
}

/** The least of 1, 2 and 5 times a power of ten that is not smaller. */
export function round(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step));
  const times = [1, 2, 5, 10].find((times) => times * power >= step * (1 - 1e-9)) ?? 10;
  return Number((times * power).toPrecision(3));
}
