// Rows of a forest plot: each figure of B against A with its interval, the pairs, and how small a difference could have been seen.
// Changes are for the worse here, so that what lies right is worse in all figures; people read the figure's own change.

import { count, share, time } from "../format.ts";
import type { Texts } from "../text/en.ts";
import { type Scale, linear } from "./scale.ts";
import type { Control, Difference, Metric, RunsDiffer, Shown, Word } from "./types/compare.ts";

export type Tone = "good" | "failed" | "doubt" | "quiet";

export interface Span {
  change: number;
  low: number;
  high: number;
}

export interface ForestRow {
  metric: Metric;
  a: number | null;
  b: number | null;
  /** Absent: it is not judged. */
  estimate?: Span;
  /** Each pair. */
  points: number[];
  /** Within this nothing matters, or is usual. */
  band: number | null;
  seen: number | null;
  control?: Span;
  word: string;
  tone: Tone;
}

/** Less of these is worse. */
const LESS_IS_WORSE: readonly Metric[] = ["throughput", "hits"];
/** Their differences are those of shares, in points. */
const SHARES: readonly Metric[] = ["failed", "hits"];

/** A change for the worse, from a pair's difference: ln(B/A), or B - A of shares. */
export function forTheWorse(metric: Metric, difference: number): number {
  const change = SHARES.includes(metric) ? difference : Math.expm1(difference);
  return LESS_IS_WORSE.includes(metric) ? -change : change;
}

/** A change for the worse as that of the figure itself, and back. */
export const own = (metric: Metric, change: number) => (LESS_IS_WORSE.includes(metric) ? -change : change);

export function valueText(metric: Metric, value: number | null): string {
  if (value === null) return "–";
  switch (metric) {
    case "throughput":
      return `${count(value)}/s`;
    case "cpu":
      return time(value * 1e6);
    case "p50":
    case "p99":
      return time(value * 1e3);
    case "failed":
    case "hits":
      return share(value);
  }
}

/** +3.1 %, −0.5 %, 0 %. */
export function signed(change: number): string {
  const shortened = Math.abs(change) < 5e-6 ? 0 : Number(change.toPrecision(2));
  return `${shortened > 0 ? "+" : ""}${share(shortened)}`;
}

/** The ends of a span as people read them, the smaller first. */
export function spanText(metric: Metric, span: Span): string {
  const [one, other] = [own(metric, span.low), own(metric, span.high)];
  return `${signed(Math.min(one, other))} … ${signed(Math.max(one, other))}`;
}

const TONES: Record<Word, Tone> = {
  worse_by_more: "failed",
  worse_by_less: "doubt",
  worse: "failed",
  none_that_matters: "good",
  cannot_tell: "doubt",
  better: "good",
  better_by_less: "good",
  better_by_more: "good",
};

/** The word of a conclusion with its figures. */
export function wordText(metric: Metric, shown: Shown, words: Texts["decision"]): string {
  const margin = share(shown.margin);
  const how = words.comparative[metric]![shown.change > 0 ? 0 : 1]!;
  switch (shown.word) {
    case "worse_by_more":
    case "better_by_more":
      return words.byMore(how, margin);
    case "worse_by_less":
    case "better_by_less":
      return words.byLess(how, margin);
    case "worse":
    case "better":
      return words.about(how, signed(Math.abs(shown.change)).replace("+", ""), margin);
    case "none_that_matters":
      return words.noneThatMatters(margin);
    case "cannot_tell":
      return words.cannotTell;
  }
}

/** A figure of pairs. */
export function ofPairs(one: Difference, control: Control | undefined, words: Texts["decision"]): ForestRow {
  const { metric, a, b, judgement } = one;
  const points = one.differences.map((difference) => forTheWorse(metric, difference));
  const row = { metric, a, b, points, band: null, seen: null, tone: "quiet" as const };
  if (judgement === "not_known") return { ...row, word: words.cpuNotKnown };
  if ("not_judged" in judgement) return { ...row, word: judgement.not_judged.why };
  const shown = judgement.judged;
  return {
    ...row,
    estimate: { change: shown.change, ...shown.interval },
    band: shown.margin,
    seen: shown.could_have_seen,
    control: control && { change: control.change, ...control.range },
    word: wordText(metric, shown, words),
    tone: TONES[shown.word],
  };
}

/** A figure of two kept runs, whose changes are those of the figure itself. */
export function ofRuns(one: RunsDiffer, words: Texts["decision"]): ForestRow {
  const { metric, a, b, word } = one;
  const [low, high] = [own(metric, one.interval.low), own(metric, one.interval.high)];
  return {
    metric,
    a,
    b,
    estimate: { change: own(metric, one.change), low: Math.min(low, high), high: Math.max(low, high) },
    points: [],
    band: one.usually ?? null,
    seen: null,
    word: { differ: words.differs, as_usual: words.asUsual, not_seen: words.notSeen }[word],
    tone: word === "differ" ? "doubt" : "quiet",
  };
}

/** The axis of a row: nothing that is drawn on it lies outside, and no difference is always on it. */
export function axisOf(row: ForestRow): Scale {
  const { estimate, control, band, seen } = row;
  const ends = [band, seen].flatMap((end) => (end === null ? [] : [end, -end]));
  const spans = [estimate, control].flatMap((span) => (span ? [span.low, span.high, span.change] : []));
  return linear([0, ...row.points, ...ends, ...spans], { most: 5 });
}

/** Which figures are so, in one sentence: `worse in throughput and p50; not judged: p99`. */
export function sorted(figures: Difference[], words: Texts["decision"]): string {
  const wordOf = ({ judgement }: Difference) => (typeof judgement === "object" && "judged" in judgement ? judgement.judged.word : null);
  return told(figures, words, [
    ["worse", (one) => ["worse", "worse_by_more", "worse_by_less"].includes(wordOf(one) ?? "")],
    ["better", (one) => ["better", "better_by_more", "better_by_less"].includes(wordOf(one) ?? "")],
    ["open", (one) => wordOf(one) === "cannot_tell"],
    ["none", (one) => wordOf(one) === "none_that_matters"],
    ["unjudged", (one) => wordOf(one) === null],
  ]);
}

/** The same of two runs. */
export function sortedRuns(figures: RunsDiffer[], words: Texts["decision"]): string {
  return told(figures, words, [
    ["differ", (one) => one.word === "differ"],
    ["usual", (one) => one.word === "as_usual"],
    ["unseen", (one) => one.word === "not_seen"],
  ]);
}

function told<Figure extends { metric: Metric }>(figures: Figure[], words: Texts["decision"], kinds: [string, (one: Figure) => boolean][]): string {
  const parts = kinds.map(([kind, is]) => [kind, figures.filter(is).map((one) => words.metric[one.metric]!)] as const);
  const said = parts.filter(([, names]) => names.length > 0).map(([kind, names]) => `${words.sorted[kind]} ${names.join(", ")}`);
  return said.join("; ");
}
