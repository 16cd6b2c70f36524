// A run, live or saved: verdict, figures, the strip of time, charts, tables.

import { useMemo } from "preact/hooks";
import { Figure } from "../chart/figure.tsx";
import { charts } from "../chart/define.ts";
import type { Run } from "../model.ts";
import { metric, window_ } from "../state.ts";
import { t } from "../text/index.ts";
import { figures } from "../window.ts";
import { Agents } from "./agents.tsx";
import { Control, steerable } from "./control.tsx";
import { Headline } from "./header.tsx";
import { RecordedView } from "./recorded.tsx";
import { Failures, Machine, Notes, Thresholds } from "./sections.tsx";
import { Steps } from "./steps.tsx";
import { Strip } from "./strip.tsx";
import { Tiles } from "./tiles.tsx";

/** Charts that are in sight when the page opens, on most screens. */
const IN_SIGHT = 4;
const METRICS = ["service", "response", "first_byte"] as const;

export function RunView({ run }: { run: Run }) {
  const words = t.value;
  const chosen = window_.value;
  const shown = METRICS.filter((name) => run.columns.has(`${name}.p99`));
  const which = shown.includes(metric.value as never) ? metric.value : "service";
  const of = useMemo(() => figures(run, chosen), [run, run.change, chosen]);
  const all = useMemo(() => charts(run, words, which, chosen), [run, run.change, words, which, chosen]);
  const until = rightEnd(run);
  const names = { service: words.service, response: words.response, first_byte: words.firstByte };
  return (
    <main>
      <Headline run={run} />
      {steerable(run) && <Control run={run} />}
      <Tiles run={run} figures={of} />
      <Strip run={run} until={until} figures={of}>
        {shown.length > 1 && (
          <div class="metrics" role="group" aria-label={words.metric}>
            {shown.map((name) => (
              <button type="button" class="small" key={name} aria-pressed={which === name} onClick={() => (metric.value = name)}>
                {names[name]}
              </button>
            ))}
          </div>
        )}
      </Strip>
      <h2 class="unseen" id="charts">
        {words.charts}
      </h2>
      <section class="charts" aria-labelledby="charts">
        {all.map((chart, nth) => (
          <Figure key={chart.id} chart={chart} until={until} waits={nth >= IN_SIGHT} />
        ))}
      </section>
      <RecordedView run={run} />
      <Thresholds run={run} />
      <Steps run={run} seconds={of.seconds} windowed={!!chosen} />
      <Failures run={run} />
      <Agents run={run} />
      <Notes run={run} />
      <Machine run={run} />
    </main>
  );
}

/** While a run goes on, the axis ends at a round time ahead, so that it does not move each second. */
export function rightEnd(run: Run): number {
  if (run.state !== "live") return run.rows > 0 ? run.at[run.rows - 1]! : run.took_s;
  const now = Math.max(run.took_s, 1);
  const planned = run.phases.at(-1)?.planned_end_s;
  const rounds = [10, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 28800, 43200, 86400];
  const ahead = rounds.find((round) => round >= now) ?? now * 1.1;
  return planned && planned >= now ? Math.min(planned, ahead) : ahead;
}
