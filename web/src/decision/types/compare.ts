// Types of what wringer compare --json writes. Made of crates/decide/src/schema/compare.json by `cargo xtask schema`: change its types.

/** Both forms of a comparison. */
export type Comparison = Decision | RunsDecision;

/** A figure of A against itself. Changes are **for the worse**, as those of B against A. */
export interface Control {
  /** B against A differs in it, and A against itself by as much. */
  as_much: boolean;
  /** Median of the changes. */
  change: number;
  /** Of each pair, the difference as of a pair of both sides. */
  differences: number[];
  /** The figure. */
  metric: Metric;
  /** The least and the largest. */
  range: Interval;
}

/** One step of a record. */
export interface DecideStep {
  /** Its outcome. */
  answer: LegResult;
  /** The request for a run. */
  asked: Leg;
}

/** A comparison of legs. */
export interface Decision {
  /** Side A as people read it. */
  a: string;
  /** Side B. */
  b: string;
  /** Exit code of the command; `null`: it is not over. */
  exit: number | null;
  /** Facts that a reader must know before the figures. */
  facts: string[];
  /** The run file of each leg, in their order; `null`: it is not kept. */
  files: (string | null)[];
  /** The conclusion. */
  outcome: Outcome | null;
  /** All legs. */
  record: Record;
  /** The name of this form. */
  schema: "wringer.comparison";
  /** Raised when a field changes its meaning, unit or place, or goes away. */
  schema_version: number;
  /** Answers of the first leg of each side. */
  seen: (SideSeen | null)[];
  /** Both sides as they were typed. */
  sides: string[];
  /** The finding in one sentence. */
  text: string | null;
  /** The version of wringer. */
  version: string;
}

/** The difference in one figure. */
export interface Difference {
  /** Median over the legs of A: a second, CPU seconds per answer, milliseconds, share; `None`: not known of each leg. */
  a: number | null;
  /** The same of B. */
  b: number | null;
  /** Of each pair ln(B/A); of shares (failed, hits) B - A. Empty where a leg does not tell the figure. */
  differences: number[];
  /** The conclusion. */
  judgement: Judgement;
  /** The figure. */
  metric: Metric;
}

/** The finding. */
export type Finding = "compared" | { wrong_answers: { answers: number; side: Side } } | { forecast: Forecast } | { no_verdict: { why: string } } | { silent: { leg: number; side: Side } };

/** The time that a comparison will take and the differences that it will see, from the uncounted block: four legs tell a spread within a factor of two. */
export interface Forecast {
  /** Pairs that are planned. */
  pairs: number;
  /** Pairs for a difference of 1 % in the first of them, and seconds that they take. */
  pairs_for_one_percent: number | null;
  /** See `pairs_for_one_percent`. */
  seconds_for_one_percent: number | null;
  /** Each figure that is known. */
  sees: Sees[];
  /** Seconds that they take. */
  takes_s: number;
}

/** Figures of one half of a leg. */
export interface Half {
  /** Good answers a second. */
  good_per_s: number;
  /** Share of hits. */
  hit_ratio: number | null;
  /** Median of the service times in milliseconds: the mean of its seconds' medians. */
  p50_ms: number | null;
}

/** Hits of a cache. */
export interface Hits {
  /** Answers that came from the cache. */
  hits: number;
  /** Answers of which it is known where they came from. */
  of: number;
}

/** The values that measurements do not speak against. */
export interface Interval {
  /** The greatest. */
  high: number;
  /** The least of them. */
  low: number;
}

/** The conclusion about a figure. */
export type Judgement = { judged: Shown } | "not_known" | { not_judged: { why: string } };

/** Something to be run. */
export interface Leg {
  /** It is a pair of A against itself, which is counted from 1 on its own; B is then another A. */
  control?: boolean;
  /** Seconds that are. */
  measure_s: number;
  /** Counted from 1, void ones among them. */
  number: number;
  /** How requests come. */
  pace: Pace;
  /** Pair that it belongs to, counted from 1; 0: the uncounted block. */
  pair: number;
  /** Of the requests: the same for both sides of a pair, another one for each pair, or one-timers of the leg before would be hits. */
  seed: number;
  /** The side. */
  side: Side;
  /** Seconds at this pace that are not counted. */
  warm_s: number;
}

/** Outcome of a leg. */
export interface LegResult {
  /** CPU seconds of the target, where they are known. */
  cpu_s: number | null;
  /** Requests that were due in them. */
  due: number;
  /** Requests that failed or were not answered, and their kinds. */
  failures: { [name: string]: number };
  /** Answers whose content was wrong. */
  faulty: number;
  /** Good answers. */
  good: number;
  /** Both halves of the measured time. */
  halves: Half[] | null;
  /** Hits of a cache, where they are known. */
  hits: Hits | null;
  /** Milliseconds by which sends were late though the generator had CPU to spare, one in a hundred by more; `None`: nothing was due at a moment. */
  late_ms: number | null;
  /** Seconds that were measured. */
  measured_s: number;
  /** Median of the response times in milliseconds. */
  p50_ms: number | null;
  /** Their 99th percentile. */
  p99_ms: number | null;
  /** Cores that the processes of the other side used meanwhile, which had nothing to do; `None`: they are not known. */
  resting_cores: number | null;
  /** Share of this machine's CPU time that its host gave to others meanwhile (steal); `None`: it does not tell. */
  stolen: number | null;
  /** Seconds that it took in all, with whatever was needed before and after. */
  took_s: number;
  /** Why it says nothing of the side; `None`: it does. Only causes that were fixed beforehand, never because of its figures. */
  void: Void | null;
}

/** Lengths of a leg's parts in seconds. */
export interface Lengths {
  /** The closed part. */
  closed_s: number;
  /** Before the closed part, uncounted. */
  closed_warm_s: number;
  /** The open part. */
  open_s: number;
  /** Before the open part, uncounted. */
  open_warm_s: number;
}

/** A figure that both sides have. */
export type Metric = "throughput" | "cpu" | "p50" | "p99" | "failed" | "hits";

/** The conclusion from kept runs. */
export type OfRuns = { two_runs: TwoRuns } | { run_sets: RunSets };

/** The end of a comparison. */
export interface Outcome {
  /** Both sides were started anew for each pair. */
  anew: boolean;
  /** A against itself in each figure that is judged, where that was asked for. */
  control?: Control[];
  /** Each figure; of a comparison that ended early, none. */
  figures: Difference[];
  /** The finding. */
  finding: Finding;
  /** Legs that were run, void ones among them. */
  legs: number;
  /** Whatever must be known beside it, one sentence each. */
  notes: string[];
  /** Requests a second of open legs, where that is known. */
  open_rate: number | null;
  /** Pairs that are counted. */
  pairs: number;
  /** Seconds that all legs took. */
  took_s: number;
  /** Conditions that were not kept, or are not known to be, one sentence each. */
  violated: string[];
  /** Legs that were void. */
  void: number;
}

/** How requests come. */
export type Pace = { closed: { users: number } } | { open: { rate: number } };

/** A program as one of its processes shows it. */
export interface Process {
  /** Number that the linker gave the program (ELF's note), in hexadecimal digits. */
  build_id: string | null;
  /** Path of the program; `None` where it may not be seen. */
  executable: string | null;
  /** Name of its program; of an interpreter with its script: `python3.11 server.py`. */
  name: string;
  /** Its number; 0 of one that cannot be seen. */
  pid: number;
  /** When it began, in seconds since 1970. */
  started_unix_s: number | null;
  /** Version of the program: what it says when wringer has started it, else that of its package where the program names it. */
  version: string | null;
}

/** All that a decision rests on. */
export interface Record {
  /** Aim of the decision. */
  settings: Settings;
  /** Each step, in order. */
  steps: DecideStep[];
}

/** A set of runs against a set of others of the same plan. */
export interface RunSets {
  /** Each figure; its differences are those of every run of B to every run of A. */
  figures: Difference[];
  /** Runs of each side. */
  runs: number[];
  /** Conditions that were not kept, or are not known to be, one sentence each. */
  violated: string[];
}

/** A comparison of kept runs. */
export interface RunsDecision {
  /** Side A as people read it. */
  a: string;
  /** Side B. */
  b: string;
  /** Exit code of the command. */
  exit: number;
  /** Facts that a reader must know before the figures. */
  facts: string[];
  /** The run files of each side. */
  files: string[][];
  /** The conclusion. */
  outcome: OfRuns;
  /** The name of this form. */
  schema: "wringer.comparison-of-runs";
  /** Raised when a field changes its meaning, unit or place, or goes away. */
  schema_version: number;
  /** All of it, as printed. */
  text: string;
  /** The version of wringer. */
  version: string;
}

/** Two runs in one figure. Changes are of B against A in the figure itself: -0.1 is a tenth less; of the failed share points. */
export interface RunsDiffer {
  /** That of A: a second, milliseconds, share. */
  a: number;
  /** The same of B. */
  b: number;
  /** The change. */
  change: number;
  /** The changes that the seconds of both do not speak against. */
  interval: Interval;
  /** The figure. */
  metric: Metric;
  /** Two runs of this plan usually differ by no more than this; `None`: too few earlier ones are known. */
  usually: number | null;
  /** The conclusion. */
  word: RunsWord;
}

/** A conclusion from two runs. */
export type RunsWord = "differ" | "as_usual" | "not_seen";

/** The smallest difference in a figure that four of five such comparisons find. */
export interface Sees {
  /** A share. */
  difference: number;
  /** The figure. */
  metric: Metric;
}

/** Aim of a comparison, and how long it may take. */
export interface Settings {
  /** Both sides are started anew for each pair, so that the luck of a start is drawn as often as there are pairs. */
  anew: boolean;
  /** Pairs of A against itself come between the others, one for each three of them. */
  control: boolean;
  /** It is a failure if B is slower by this share. */
  fail_if_slower: number | null;
  /** The figures that are judged. */
  figures: Metric[];
  /** Ends after the uncounted block, and tells what a comparison could see. */
  forecast_only: boolean;
  /** Lengths of a leg's parts. */
  lengths: Lengths;
  /** Pairs that are counted: an A leg and a B leg next to each other. */
  pairs: number;
  /** It is a failure if B may be slower by this share. */
  require_within: number | null;
  /** All chance comes from it. */
  seed: number;
  /** Ends at the first of several looks at which each figure that is judged is decided, after 8, 12, 20 or 30 pairs, whatever `pairs` says. */
  until_sure: boolean;
  /** Users of closed legs. */
  users: number;
}

/** A figure's conclusion. Changes are of B against A **for the worse**: 0.03 is 3 % slower, of the failed share 3 points more. */
export interface Shown {
  /** The estimate. */
  change: number;
  /** The change that would have been found in four of five such comparisons. */
  could_have_seen: number;
  /** The changes that the pairs do not speak against, at a level that holds for all figures together. */
  interval: Interval;
  /** The smallest change that matters. */
  margin: number;
  /** The chance of such pairs without a difference. */
  p: number;
  /** The same over all figures that are judged (Holm). */
  p_of_all: number;
  /** The conclusion. */
  word: Word;
}

/** One of both sides. */
export type Side = "a" | "b";

/** Answers of the first leg of a side, and who gave them: facts that are to stay the same from leg to leg. */
export interface SideSeen {
  /** Bytes of a body. */
  bytes_per_answer: number;
  /** Its address is this machine's, so that one process could be both sides. */
  is_here: boolean;
  /** Processes that answered, each with its pid and the moment at which it began, in seconds since 1970. */
  processes: ([number, number | null])[];
  /** The program that answered first. */
  program: Process | null;
  /** Statuses, most frequent first. */
  statuses: number[];
}

/** Two runs, compared. */
export interface TwoRuns {
  /** Seconds from the beginning of A to that of B. */
  apart_s: number;
  /** Earlier runs of the same plan, target and machine. */
  earlier: number;
  /** Each figure that both have. */
  figures: RunsDiffer[];
}

/** Why a stretch of load says nothing of whoever was pressed. */
export type Void = { generator: { why: string } } | { disturbed: { why: string } };

/** The conclusion in a word. */
export type Word = "worse_by_more" | "worse_by_less" | "worse" | "none_that_matters" | "cannot_tell" | "better" | "better_by_less" | "better_by_more";
