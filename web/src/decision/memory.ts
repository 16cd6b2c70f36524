// Memory of a cache: shares that work in words, and curves of hits by memory.

import { share as shareText } from "../format.ts";
import type { Texts } from "../text/en.ts";
import type { Class, Reached, Share, Window } from "./types/size.ts";

/** Bytes in powers of two, as memory is configured: 256 MiB. */
export function memory(bytes: number): string {
  if (!Number.isFinite(bytes)) return "–";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let [rest, unit] = [bytes, 0];
  while (Math.abs(rest) >= 1023.5 && unit + 1 < units.length) [rest, unit] = [rest / 1024, unit + 1];
  return `${Number(rest.toPrecision(3))} ${units[unit]}`;
}

export function shareOf(share: Share, words: Texts["decision"]): string {
  if (share === "nothing") return words.nothingKept;
  if ("at_least" in share) return words.atLeastShare(shareText(share.at_least));
  const { low, high } = share.is;
  return `${shareText(share.is.share)} (${shareText(low)} … ${shareText(high)})`;
}

/** The share by which a class is told: of the smallest set that does not fit, as hits tell most there; otherwise of the largest. */
export function classShare({ points }: Class): Share | null {
  const told = points.find(([, share]) => share === "nothing" || "is" in share);
  return (told ?? points.at(-1))?.[1] ?? null;
}

/** The figure of a share: where it is, and its bounds. */
export function bounds(share: Share): { at: number; low: number; high: number } {
  if (share === "nothing") return { at: 0, low: 0, high: 0 };
  if ("at_least" in share) return { at: share.at_least, low: share.at_least, high: share.at_least };
  return { at: share.is.share, low: share.is.low, high: share.is.high };
}

export function reachedText(reached: Reached, words: Texts["decision"], time: (seconds: number) => string): string {
  if ("after" in reached) return words.shiftAfter(time(reached.after));
  return "not_within" in reached ? words.shiftNever(time(reached.not_within)) : words.shiftShort(time(reached.too_short));
}

/** The hit ratio of windows over time, a point for each so many requests. */
export function hitsOverTime(windows: Window[], pooled = 300): [number, number][] {
  const points: [number, number][] = [];
  let [at, from, requests, hits] = [0, 0, 0, 0];
  for (const window of windows) {
    at += window.seconds;
    requests += window.requests;
    hits += window.hits;
    if (requests < pooled) continue;
    points.push([(from + at) / 2, hits / requests]);
    [from, requests, hits] = [at, 0, 0];
  }
  return points;
}
