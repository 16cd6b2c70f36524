// A replay: what the log had beside what was measured, and what was left out and why.

import { begunPerSecond } from "../chart/define.ts";
import { Block, Picture, Table } from "../decision/parts.tsx";
import { linear } from "../decision/scale.ts";
import { bytes, count, duration, harmless, share, time } from "../format.ts";
import type { Run } from "../model.ts";
import type { RecordedFigures } from "../packed.ts";
import { t } from "../text/index.ts";
import { type Figures, covers, figures, measuredSpan } from "../window.ts";

export function RecordedView({ run }: { run: Run }) {
  const words = t.value.decision;
  const { recorded } = run;
  if (!recorded) return null;
  // The last part is not a whole one.
  const due = recorded.due.slice(0, -1).map((requests, n): [number, number] => [(n + 0.5) * recorded.part_s, requests / recorded.part_s]);
  const begun = begunOverTime(run);
  return (
    <Block id="recorded" title={words.recordedTitle}>
      <p class="soft">{words.recordedOf(harmless(recorded.file))}</p>
      {due.length > 1 && (
        <Picture
          id="recorded"
          title={words.rateOverTime}
          x={{ scale: linear([...due, ...begun].map(([at]) => at), { zero: true, most: 8 }), name: words.second, text: duration }}
          y={{ scale: linear([...due, ...begun].map(([, rate]) => rate), { zero: true }), name: t.value.perSecond, text: count }}
          drawn={[
            { name: words.recorded, kind: "dash", colour: "--grey", points: due },
            { name: words.measured, kind: "line", colour: "--blue", points: begun },
          ]}
        />
      )}
      <Table
        label={words.recordedTitle}
        rows={beside(run, recorded, figures(run, null))}
        columns={[
          { name: t.value.figure, text: ({ name }) => name },
          { name: words.recorded, text: (row) => row.recorded },
          { name: words.measured, text: (row) => row.measured },
        ]}
      />
      {recorded.left_out.length > 0 && (
        <>
          <h3>{words.leftOut}</h3>
          <Table
            label={words.leftOut}
            rows={recorded.left_out}
            columns={[
              { name: words.why, text: ({ why }) => harmless(why) },
              { name: words.requests, text: ({ requests }) => count(requests) },
            ]}
          />
        </>
      )}
    </Block>
  );
}

/** Requests begun a second, by seconds since the measured phase began. */
function begunOverTime(run: Run): [number, number][] {
  const requests = run.columns.get("requests");
  const [from] = measuredSpan(run);
  const within = covers(run, null);
  const points: [number, number][] = [];
  for (let row = 0; requests && row < run.rows; row++) {
    const rate = begunPerSecond(run, requests, row);
    if (within(row) && Number.isFinite(rate)) points.push([Math.max(0, run.at[row]! - run.seconds[row]! / 2 - from), rate]);
  }
  return points;
}

interface Row {
  name: string;
  recorded: string;
  measured: string;
}

function beside(run: Run, recorded: RecordedFigures, measured: Figures): Row[] {
  const words = t.value.decision;
  const { counts } = measured;
  const service = measured.times("service");
  const times = (["p50_us", "p90_us", "p99_us", "max_us"] as const).map((of, n) => ({
    name: words.timeTo(["p50", "p90", "p99", words.longest][n]!),
    recorded: time(recorded.times_us?.[n] ?? NaN),
    measured: time(service?.[of] ?? NaN),
  }));
  const sent = new Map([...run.columns.keys()].flatMap((name) => (/^status\.\d+$/.test(name) ? [[Number(name.slice(7)), counts(name)]] : [])));
  const had = new Map(recorded.statuses);
  const statuses = [...new Set([...had.keys(), ...sent.keys()])].sort((a, b) => a - b);
  const told = counts("hits") + counts("misses") + counts("revalidated") + counts("collapsed");
  const hits = [told > 0 ? counts("hits") / told : NaN, NaN];
  return [
    { name: words.requests, recorded: count(recorded.requests), measured: count(counts("requests")) },
    { name: words.notSent, recorded: "", measured: count(counts("overflow")) },
    ...times,
    ...statuses.map((status) => ({ name: words.status(status), recorded: count(had.get(status) ?? 0), measured: count(sent.get(status) ?? 0) })),
    ...words.hitsBy.map((name, n) => ({ name, recorded: share(recorded.hits?.[n] ?? NaN), measured: share(hits[n]!) })).filter((row) => row.recorded !== "–" || row.measured !== "–"),
    ...recorded.lru.map(([size, answered]) => ({ name: words.exactLru(bytes(size)), recorded: share(answered / Math.max(1, recorded.requests)), measured: "" })),
  ];
}
