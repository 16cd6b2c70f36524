// Two runs side by side: their figures with the difference, and their charts over each other from where the measured phase begins.

import { Figure } from "../chart/figure.tsx";
import { type Chart, type Value, begunPerSecond } from "../chart/define.ts";
import { count, duration, harmless, share, time } from "../format.ts";
import { spectrum } from "../histogram.ts";
import type { Run, TimeSummary } from "../model.ts";
import { compared } from "../state.ts";
import { language, t } from "../text/index.ts";
import { type Figures, covers, figures, measuredSpan, sumOf } from "../window.ts";
import { inWords } from "./verdict.tsx";

export function Compare() {
  const words = t.value;
  const [a, b] = compared.value;
  if (!a || !b) return null;
  const [of, and] = [figures(a, null), figures(b, null)];
  const until = Math.max(length(a), length(b));
  return (
    <main>
      <div class="block-head compare-head">
        <h1>{words.compare}</h1>
        <button type="button" onClick={() => (compared.value = [b, a])}>
          {words.swap}
        </button>
      </div>
      <div class="pair">
        <Side letter="A" run={a} />
        <Side letter="B" run={b} />
      </div>
      <p class="alike">
        <Alike name={words.plan} equal={a.head.plan === b.head.plan} />
        <Alike name="CPU" equal={fact(a, "CPU") === fact(b, "CPU") && fact(a, "cores") === fact(b, "cores")} />
        <Alike name="kernel" equal={fact(a, "kernel") === fact(b, "kernel")} />
        <Alike name="I/O" equal={a.head.backend === b.head.backend} />
      </p>
      <section class="block">
        <table>
          <thead>
            <tr>
              <th scope="col">{words.figure}</th>
              <th scope="col">A</th>
              <th scope="col">B</th>
              <th scope="col">{words.difference}</th>
            </tr>
          </thead>
          <tbody>
            {rows(of, and).map((row) => (
              <tr key={row.name}>
                <th scope="row">{row.name}</th>
                <td>{row.text(row.a)}</td>
                <td>{row.text(row.b)}</td>
                <td>{difference(row.a, row.b)}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <p class="soft caveat">{words.compareNote}</p>
      </section>
      <h2 class="unseen" id="charts">
        {words.charts}
      </h2>
      <section class="charts" aria-labelledby="charts">
        {overlays(a, b).map((chart) => (
          <Figure key={chart.id} chart={chart} until={until} />
        ))}
      </section>
    </main>
  );
}

function Side({ letter, run }: { letter: string; run: Run }) {
  const words = t.value;
  return (
    <div class={`side side-${letter}`}>
      <b class="letter">{letter}</b>
      <div>
        <a href={`/?run=${encodeURIComponent(run.head.id)}`}>{harmless(run.head.target || run.head.command)}</a>
        <p class="soft">
          {new Date(run.head.started_unix_s * 1000).toLocaleString(language.value === "zh" ? "zh-CN" : "en-GB", { dateStyle: "medium", timeStyle: "short" })} · {duration(run.took_s)} ·{" "}
          {run.verdict ? inWords({ measurement: run.verdict.measurement.state, target: run.verdict.target.state }, words) : words.unknownVerdict}
        </p>
        <p>
          {run.head.labels.map((label) => (
            <span class="label" key={label}>
              {harmless(label)}
            </span>
          ))}
        </p>
      </div>
    </div>
  );
}

function Alike({ name, equal }: { name: string; equal: boolean }) {
  const words = t.value;
  return (
    <span class={equal ? "soft" : "doubt"}>
      {name} {equal ? `${words.equal} ✓` : `${words.differs} ⚠`}
    </span>
  );
}

const fact = (run: Run, name: string) => run.head.machine.find(([one]) => one === name)?.[1];

function length(run: Run): number {
  const [from, to] = measuredSpan(run);
  return to - from;
}

interface Row {
  name: string;
  a: number;
  b: number;
  text: (value: number) => string;
}

function rows(a: Figures, b: Figures): Row[] {
  const words = t.value;
  const both = (name: string, text: (value: number) => string, of: (figures: Figures) => number): Row => ({ name, a: of(a), b: of(b), text });
  const timed = (name: string, metric: string, of: keyof TimeSummary) => both(name, time, (figures) => figures.times(metric)?.[of] ?? NaN);
  const ratio = (figures: Figures, part: string) => figures.counts(part) / Math.max(1, figures.counts("requests"));
  const hits = (figures: Figures) =>
    figures.counts("hits") / (figures.counts("hits") + figures.counts("misses") + figures.counts("revalidated") + figures.counts("collapsed"));
  const all = [
    both(words.rateTile, count, (figures) => figures.counts("requests") / Math.max(figures.seconds, 1e-9)),
    timed("p50", "service", "p50_us"),
    timed("p90", "service", "p90_us"),
    timed("p99", "service", "p99_us"),
    timed("p99.9", "service", "p999_us"),
    timed(words.max, "service", "max_us"),
    timed(`${words.response} p99`, "response", "p99_us"),
    both(words.failed, share, (figures) => ratio(figures, "failed")),
    both(words.checkFailed, share, (figures) => ratio(figures, "check_failed")),
    both(words.hits, share, hits),
    both(words.offload, share, (figures) => figures.offload ?? NaN),
  ];
  return all.filter((row) => Number.isFinite(row.a) || Number.isFinite(row.b));
}

function difference(a: number, b: number): string {
  if (!Number.isFinite(a) || !Number.isFinite(b)) return "–";
  if (a === b) return "0";
  if (a === 0) return "–";
  const by = (b / a - 1) * 100;
  return `${by > 0 ? "+" : "−"}${Math.abs(by).toFixed(Math.abs(by) < 10 ? 1 : 0)} %`;
}

function overlays(a: Run, b: Run): Chart[] {
  const words = t.value;
  const over = (id: string, title: string, unit: Chart["unit"], of: (run: Run, row: number) => number, log: boolean): Chart => {
    const [one, two] = [line(a, of), line(b, of)];
    const x = [...new Set([...one.keys(), ...two.keys()])].sort((p, q) => p - q);
    const values = (points: Map<number, number>): Value[] => x.map((at) => points.get(at) ?? null);
    return blank({ id, title, unit, x, log, series: [series("A", values(one)), series("B", values(two))] });
  };
  const column = (name: string) => (run: Run, row: number) => run.columns.get(name)?.[row] ?? NaN;
  const rate = (run: Run, row: number) => {
    const requests = run.columns.get("requests");
    return requests ? begunPerSecond(run, requests, row) : NaN;
  };
  const [one, two] = [a, b].map((run) => spectrum(sumOf(run, "service", covers(run, null))));
  const longest = one!.length > two!.length ? one! : two!;
  const nines = blank({
    id: "spectrum",
    title: words.spectrum,
    unit: "time",
    axis: "nines",
    x: longest.map(([x]) => x),
    log: true,
    series: [series("A", longest.map((_, n) => one![n]?.[1] ?? null)), series("B", longest.map((_, n) => two![n]?.[1] ?? null))],
  });
  return [
    over("throughput", words.throughput, "count", rate, false),
    over("p50", "p50", "time", column("service.p50"), false),
    over("p99", "p99", "time", column("service.p99"), true),
    nines,
  ].filter((chart) => chart.series.some((one) => one.values.some((value) => value !== null)));
}

function series(name: "A" | "B", values: Value[]) {
  return { name, values, colour: name === "A" ? "--blue" : "--orange", dash: name === "A" ? undefined : [7, 3] };
}

/** Figures by seconds since the measured phase began, in halves of a second so that both have the same places. */
function line(run: Run, of: (run: Run, row: number) => number): Map<number, number> {
  const [from] = measuredSpan(run);
  const within = covers(run, null);
  const points = new Map<number, number>();
  for (let row = 0; row < run.rows; row++) {
    const value = of(run, row);
    const at = Math.round(2 * (run.at[row]! - run.seconds[row]! / 2 - from)) / 2;
    if (within(row) && Number.isFinite(value)) points.set(at, value);
  }
  return points;
}

function blank(chart: Pick<Chart, "id" | "title" | "unit" | "x" | "log" | "series"> & Partial<Chart>): Chart {
  return { axis: "time", canLog: true, lines: [], bound: [], borders: [], marks: [], ...chart };
}
