// A decision from many runs: the view of its kind.

import { CompareView, RunsView } from "./compare.tsx";
import { FindView } from "./find.tsx";
import type { Decision } from "./kinds.ts";
import { SizeView } from "./size.tsx";
import { StressView } from "./stress.tsx";

export function DecisionView({ decision }: { decision: Decision }) {
  return <main class="decision">{shown(decision)}</main>;
}

function shown(decision: Decision) {
  switch (decision.schema) {
    case "wringer.comparison":
      return <CompareView of={decision} />;
    case "wringer.comparison-of-runs":
      return <RunsView of={decision} />;
    case "wringer.search":
      return <FindView of={decision} />;
    case "wringer.size":
      return <SizeView of={decision} />;
    case "wringer.stress":
      return <StressView of={decision} />;
  }
}
