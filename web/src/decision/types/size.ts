// Types of what wringer size --json writes. Made of crates/decide/src/schema/size.json by `cargo xtask schema`: change its types.

/** Findings as they are written. */
export interface Sizes {
  /** Options that say which working sets there are. */
  asked: SizeOptions;
  /** Each size of objects, in the order in which they were asked for. */
  classes: Class[];
  /** Exit code of the command; `null`: it is not over. */
  exit: number | null;
  /** Run files, where they are kept. */
  files: string[];
  schema: "wringer.size";
  /** Raised when a field changes its meaning, unit or place, or goes away. */
  schema_version: number;
  /** The cache, as people read it. */
  target: string;
  /** The first lines of what was printed. */
  text: string;
  /** The version of wringer. */
  version: string;
}

/** Points of objects of one size. */
export interface Class {
  /** Hits by memory, by the model, of each of these sets. */
  curves: HitsByMemory[];
  /** Bytes of each object. */
  object_bytes: number;
  /** Points, from the smallest set, each with its share. */
  points: [Point, Share][];
  /** Objects of another size that came after the largest set, where they were wanted. */
  shift: Shift | null;
}

/** Hits of one working set by memory. */
export interface HitsByMemory {
  /** Hits by the model at the configured memory, all of which works. */
  at_memory: number;
  /** Memory that works in bytes, and the share of hits. */
  places: [number, number][];
  /** Bytes of the whole set. */
  set_bytes: number;
}

/** A working set, and what came of it. */
export interface Point {
  /** Exponent of their popularity. */
  alpha: number;
  /** Those of them that were hits. */
  hits: number;
  /** All objects were asked for in order before. */
  is_filled: boolean;
  /** Memory that the cache was configured to hold. */
  memory_bytes: number;
  /** Bytes of each object. */
  object_bytes: number;
  /** Objects of the set. */
  objects: number;
  /** Requests that count, with an answer that tells whether it is a hit. */
  requests: number;
  /** Seconds that they took. */
  seconds: number;
  /** Requests before those that count, behind that. */
  warm_requests: number;
}

/** How the second set got on. */
export type Reached = { after: number } | { not_within: number } | { too_short: number };

/** The share of the configured memory that works. */
export type Share = { is: { high: number; low: number; share: number } } | { at_least: number } | "nothing";

/** A set of objects of another size, asked for when the cache was full of those before. */
export interface Shift {
  /** The second set, and what came of it in the last third of its requests. */
  end: Point;
  /** Bytes of each object before. */
  from_bytes: number;
  /** Requests until the model has nine tenths of that. */
  model_requests: number;
  /** The same in seconds, by the rate that there was; `null`: fewer requests came. */
  model_s: number | null;
  /** Its hit ratio by the model in the end. */
  predicted: number;
  /** When the cache had nine tenths of it. */
  reached: Reached;
  /** The share of the memory that works for the second set in the end. */
  share: Share;
  /** How many times misses turned the memory over meanwhile. */
  turnovers: number;
  /** Its requests, from the first. */
  windows: Window[];
}

/** Options that say which working sets there are. */
export interface SizeOptions {
  /** Exponent of the objects' popularity. */
  alpha: number;
  /** A hit ratio whose memory is told, too. */
  for_hits: number | null;
  /** Seconds that each part of a working set may take. */
  limit_s: number;
  /** Memory that the cache was configured to hold. */
  memory_bytes: number;
  /** All chance comes from it. */
  seed: number;
  /** Working sets as multiples of that memory, the smallest first. */
  sets: number[];
  /** Bytes of objects that are asked for after the largest set of each class. */
  shift_to: number | null;
  /** Sizes of objects, each a class. */
  sizes: number[];
  /** The cache, as it was typed. */
  target: string;
}

/** Requests for the second set, over some time. */
export interface Window {
  /** Those of them that were hits. */
  hits: number;
  /** Requests with an answer that tells whether it is a hit. */
  requests: number;
  /** How long it took. */
  seconds: number;
}
