// Types of what wringer find --json writes. Made of crates/decide/src/schema/find.json by `cargo xtask schema`: change its types.

/** A search. */
export interface Search {
  /** The processes that answer, as pid and Unix time of their start, as far as they are known and were not started by the search. */
  answered_by: ([number, number | null])[];
  /** The conclusion, or what is known so far. */
  conclusion: Conclusion | null;
  /** Exit code of the command; `null`: it is not over. */
  exit: number | null;
  /** The run file of each trial, in their order, those of the throughput last; `null`: it is not kept. */
  files: (string | null)[];
  /** Machines to buy, where that was asked. */
  purchase: Bought | null;
  /** All trials. */
  record: Record | null;
  /** The name of this form. */
  schema: "wringer.search";
  /** Raised when a field changes its meaning, unit or place, or goes away. */
  schema_version: number;
  /** The target, as people read it. */
  target: string;
  /** The conclusion as it was printed. */
  text: string | null;
  /** The highest throughput, where that was asked. */
  throughput: Rounds | null;
  /** The version of wringer. */
  version: string;
}

/** How requests follow each other. */
export type Arrivals = "poisson" | "even";

/** Machines for a load, or why that cannot be said. */
export interface Bought {
  /** The machines. */
  found: Purchase | null;
  /** Requests a second, of all machines together. */
  rate: number;
  /** Why it cannot be said. */
  refused: string | null;
}

/** Throughput of many users. */
export interface Closed {
  /** The generator was the limit, so that there may be more. */
  at_least: boolean;
  /** Good answers a second. */
  good_per_s: number;
  /** Users. */
  users: number;
}

/** Its outcome. */
export interface ClosedResult {
  /** Good answers a second. */
  good_per_s: number;
  /** Why it says nothing of the target; `None`: it does. */
  void: Void | null;
}

/** A closed trial. */
export interface ClosedTrial {
  /** See `warm_s`. */
  measure_s: number;
  /** Counted from 1. */
  number: number;
  /** Of the requests. */
  seed: number;
  /** Users, each with one request at a time. */
  users: number;
  /** Seconds that are not counted, and that are. */
  warm_s: number;
}

/** A number of the law with the middle 95 % of its redraws. */
export interface Coefficient {
  /** Of the redraws. */
  interval: Interval;
  /** Of all trials. */
  value: number;
}

/** A search with what follows from it. */
export interface Conclusion {
  /** Throughput of many users, each with one request at a time. */
  closed: Closed | null;
  /** Percent by which the 99th percentile rises there with each percent of load, where enough rates around it were measured. */
  elasticity: number | null;
  /** Limits as they were typed. */
  limits: string[];
  /** The finding and all that was seen. */
  outcome: Outcome;
  /** The rate that was required, and whether it is shown. */
  required: Required | null;
  /** The rate that it should be given; `None`: there is no knee. */
  water_mark: WaterMark | null;
}

/** One step of a record. */
export interface DecideStep {
  /** Its outcome. */
  answer: TrialResult;
  /** The request for a run. */
  asked: Trial;
}

/** One step of a record. */
export interface DecideStep2 {
  /** Its outcome. */
  answer: ClosedResult;
  /** The request for a run. */
  asked: ClosedTrial;
}

/** The finding. */
export type FindFinding = { knee: Knee } | { at_least: { rate: number; why: string } } | { no_rate: { lowest: number | null; why: string } } | { drifted: { about: Interval; per_minute: number } } | { not_steady: { kept: number | null; refuted: number[] } } | { partial: { about: Interval | null; broken: number | null; kept: number | null; why: string } } | { no_verdict: { why: string } };

/** Aim of a search, and how long it may take. */
export interface FindSettings {
  /** How requests follow each other in open trials. */
  arrivals: Arrivals;
  /** Seconds that all trials may take together. */
  budget_s: number;
  /** Limits that all must be kept; at least one. */
  limits: Limit[];
  /** All chance comes from it. */
  seed: number;
  /** Users of the closed trial that tells the highest rate to expect. */
  users: number;
  /** The interval may be so wide, as a share of the rate. */
  within: number;
}

/** The highest throughput. */
export interface Highest {
  /** True if the generator was the limit of some trial, so that there may be more. */
  at_least: boolean;
  /** Throughput by users, from the fewest. */
  curve: OfUsers[];
  /** Good answers a second, the median of the rounds; `None`: no trial told. */
  good_per_s: number | null;
  /** The scalability law, or why it is not fitted. */
  law: Result_of_Usl_or_Refusal;
  /** The fewest users that come within 2 % of it. */
  users: number | null;
}

/** The values that measurements do not speak against. */
export interface Interval {
  /** The greatest. */
  high: number;
  /** The least of them. */
  low: number;
}

/** A rate that keeps the limits, where a somewhat higher one does not. */
export interface Knee {
  /** The rate that was held for a minute. */
  held: number;
  /** The rates that the trials do not speak against, at 95 %. */
  interval: Interval;
  /** No line tells it: the interval's lower end is kept and its upper end is broken. */
  is_wall: boolean;
  /** The limit that is reached first. */
  limit: Limit;
  /** Requests a second. */
  rate: number;
  /** The way back from too much; `None`: there was no time to look. */
  recovery: Recovery | null;
  /** Trials that the figure rests on. */
  trials: number;
}

/** A limit that must be kept. Requests that failed or were not answered never keep a limit of time, else a target passes by refusing. */
export type Limit = { quantile: { limit_ms: number; quantile: number } } | { failed: { share: number } } | { mean: { limit_ms: number } };

/** Throughput of a number of users. */
export interface OfUsers {
  /** Good answers a second, the median of the rounds. */
  good_per_s: number;
  /** Users. */
  users: number;
}

/** The end of a search. */
export interface Outcome {
  /** The finding. */
  finding: FindFinding;
  /** Whatever must be known beside it, one sentence each. */
  notes: string[];
  /** Observations at each rate, from the lowest. */
  rates: RateRow[];
  /** Seconds that the search took. */
  took_s: number;
  /** Trials that were run, void ones among them. */
  trials: number;
}

/** How requests come. */
export type Pace = { closed: { users: number } } | { open: { rate: number } } | { surge: { again: number; back: number; over: number } };

/** Machines to buy. */
export interface Purchase {
  /** Why not one fewer, a sentence part. */
  because: string;
  /** Bits a second on the line of each. */
  line_bits: number;
  /** The fewest machines. */
  machines: number;
  /** Whatever must be known beside it, one sentence each. */
  notes: string[];
  /** Requests a second that reach the origin, in all. */
  origin_rate: number;
  /** Share of the load that each of them gets. */
  per_machine: number;
  /** The water mark of one of so many. */
  water_mark: WaterMark;
}

/** The part of the search that a trial belongs to. */
export type Purpose = "alone" | "saturated" | "ramp" | "bracket" | "near" | "hold" | "again" | "recovery";

/** Observations at a rate. */
export interface RateRow {
  /** Busy share of the target's CPU. */
  cpu: number | null;
  /** Good answers a second. */
  good_per_s: number;
  /** Share of answers from the cache. */
  hit_ratio: number | null;
  /** Share of due requests over each limit; of a mean, the mean in milliseconds. */
  over: number[];
  /** 99th percentile of the response times in milliseconds, the mean of the trials. */
  p99_ms: number | null;
  /** Requests a second. */
  rate: number;
  /** Trials at it that are not void. */
  trials: number;
  /** The verdict in words. */
  verdict: string;
}

/** All that a decision rests on. */
export interface Record {
  /** Aim of the decision. */
  settings: FindSettings;
  /** Each step, in order. */
  steps: DecideStep[];
}

/** All that a decision rests on. */
export interface Record2 {
  /** Aim of the decision. */
  settings: ThroughputSettings;
  /** Each step, in order. */
  steps: DecideStep2[];
}

/** The way back from 1.3 times the knee for 10 s, at half of the knee. */
export interface Recovery {
  /** Seconds until the limits were kept again; `None`: not in the time that was waited. */
  after_s: number | null;
  /** Share of the knee at which it recovered, or did not. */
  at_share: number;
  /** True if 0.95 of the knee was then carried; `None`: it was not tried. */
  carries_again: boolean | null;
  /** Seconds that were waited at most. */
  waited_s: number;
}

/** Why the law is not fitted. */
export type Refusal = { few_sizes: number } | { short_reach: number } | { generator_bound: number } | { roof_fits: { roof: number } } | { poor_fit: number } | "runs" | { efficiency: { times: number; users: number } } | { no_throughput: number };

/** A rate that was required. */
export interface Required {
  /** It is shown that they keep the limits. */
  is_shown: boolean;
  /** Requests a second. */
  rate: number;
}

export type Result_of_Usl_or_Refusal = { Ok: Usl } | { Err: Refusal };

/** Rounds of more and more users, and what came of them. */
export interface Rounds {
  /** The conclusion; `null`: they were ended by hand. */
  highest: Highest | null;
  /** All trials. */
  record: Record2;
}

/** A short stretch of a trial. */
export interface Slice {
  /** Answers, good and bad, that came in it. */
  answered: number;
  /** Requests that were due in it. */
  due: number;
  /** Good answers that came in it. */
  good: number;
  /** Requests in flight, the mean over the slice or, where only that is known, at its end. */
  in_flight: number;
  /** Of those, how many were over each limit, in the order of the settings: late, failed or not answered; of a mean, the sum of their response times in milliseconds. */
  over: number[];
  /** Requests sent in it. */
  sent: number;
}

/** How to look. */
export interface ThroughputSettings {
  /** See `warm_s`. */
  measure_s: number;
  /** No trial has more users. */
  most_users: number;
  /** All chance comes from it. */
  seed: number;
  /** Seconds of each trial that are not counted, and that are. */
  warm_s: number;
}

/** Something to be run. */
export interface Trial {
  /** Seconds that are. */
  measure_s: number;
  /** Counted from 1. */
  number: number;
  /** How requests come. */
  pace: Pace;
  /** The part of the search that it belongs to. */
  purpose: Purpose;
  /** Of the requests; another one for each trial, or one-timers of the trial before would be hits. */
  seed: number;
  /** Seconds at this pace that are not counted. */
  warm_s: number;
  /** Why it is run, a sentence part. */
  why: string;
}

/** Outcome of a trial. */
export interface TrialResult {
  /** Busy share of the target's CPU, where it is known, 0 to 1. */
  cpu: number | null;
  /** Answers whose content was wrong. */
  faulty: number;
  /** Share of answers from the cache, where there is one. */
  hit_ratio: number | null;
  /** Requests that were due and not sent because too many were in flight. */
  overflow: number;
  /** 99th percentile of the response times in milliseconds. */
  p99_ms: number | null;
  /** Length of each slice in seconds; of a surge, 1. */
  slice_s: number;
  /** The measured time in equal slices, [`SLICES`] of them; of a surge, one each second from the beginning of the way back, those of the rate after it among them. */
  slices: Slice[];
  /** Seconds that it took in all, with whatever was needed before and after. */
  took_s: number;
  /** Why it says nothing of the target; `None`: it does. */
  void: Void | null;
}

/** The fitted law. */
export interface Usl {
  /** Throughput of one user, g. */
  alone: number;
  /** The coefficient of N(N-1), b. */
  coherency: Coefficient;
  /** The coefficient of N-1, a. */
  contention: Coefficient;
  /** Users at the highest throughput; `None`: the fitted peak lies beyond what was measured, or there is none. */
  peak: Coefficient | null;
  /** Root mean square of the residuals' logarithms. */
  rms: number;
  /** The throughput that contention alone would allow, g/a; `None` where a is 0. */
  roof: number | null;
}

/** Why a stretch of load says nothing of whoever was pressed. */
export type Void = { generator: { why: string } } | { disturbed: { why: string } };

/** The rate that a machine should be given. */
export interface WaterMark {
  /** Requests a second. */
  rate: number;
  /** Why not more, a sentence part each; the first is the one that decides. */
  reasons: string[];
  /** Share of the knee's lower end. */
  share: number;
}
