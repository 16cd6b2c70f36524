// Rates of a search: what each showed, and its limits in words.

import { share, time } from "../format.ts";
import type { Conclusion, Knee, Limit, RateRow } from "./types/find.ts";

/** What a rate showed. */
export type Mode = "kept" | "broken" | "unclear";

/** As the command line has it: p99<50 ms, failed<0.1 %. */
export function limitText(limit: Limit): string {
  if ("quantile" in limit) return `p${Number((100 * limit.quantile.quantile).toPrecision(6))}<${time(limit.quantile.limit_ms * 1e3)}`;
  if ("mean" in limit) return `mean<${time(limit.mean.limit_ms * 1e3)}`;
  return `failed<${share(limit.failed.share)}`;
}

/** The most that may be over it: a share, or of a mean the time itself in milliseconds. */
export function limitValue(limit: Limit): number {
  if ("quantile" in limit) return 1 - limit.quantile.quantile;
  return "mean" in limit ? limit.mean.limit_ms : limit.failed.share;
}

export function overText(limit: Limit, over: number): string {
  return "mean" in limit ? time(over * 1e3) : share(over);
}

/** By the word with which its verdict begins (`Verdict::text` in crates/decide/src/find/judge.rs). */
export function modeOf(row: RateRow): Mode {
  if (row.verdict.startsWith("keeps")) return "kept";
  return row.verdict.startsWith("breaks") ? "broken" : "unclear";
}

export function kneeOf({ outcome }: Conclusion): Knee | null {
  return "knee" in outcome.finding ? outcome.finding.knee : null;
}
