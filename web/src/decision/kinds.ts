// Decisions from many runs, as `--json` of compare, find, size and stress writes them, told apart by their schema.

import type { Comparison } from "./types/compare.ts";
import type { Search } from "./types/find.ts";
import type { Sizes } from "./types/size.ts";
import type { Stress } from "./types/stress.ts";

export type Decision = Comparison | Search | Sizes | Stress;

const SCHEMAS: readonly Decision["schema"][] = ["wringer.comparison", "wringer.comparison-of-runs", "wringer.search", "wringer.size", "wringer.stress"];
/** The version of each form that this page reads. */
const VERSION = 1;

/** A decision whose form this page knows. */
export function known(json: unknown): Decision {
  const { schema, schema_version } = json as Partial<Decision>;
  if (!SCHEMAS.some((one) => one === schema)) throw new Error(`it is ${schema}, which this page does not draw`);
  if (schema_version !== VERSION) throw new Error(`it is of version ${schema_version}, this page reads ${VERSION}`);
  return json as Decision;
}
