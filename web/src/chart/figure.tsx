// A chart as a figure: name, legend with the figures under the cursor, the plot, its data as a table, and what a reader who
// does not see it is told.

import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { clock, count, percentile, share, told } from "../format.ts";
import { choose, run, switched, tables, theme, toggled, window_ } from "../state.ts";
import { t } from "../text/index.ts";
import { type Chart, HEAT_BITS, type Series, coarse, summary } from "./define.ts";
import { ramp } from "./heat.ts";
import { later } from "./later.ts";
import { Plot, type PlotOptions, forgetColours } from "./plot.ts";

/** Rows of a chart's table at most. */
const TABLE_ROWS = 200;
/** The live region speaks at most every so many ms. */
const SPEAK = 500;

/** Handles of the figures on the page, so that keys can reach the one that has the focus. */
export const handles = new Map<string, { plot: () => Plot | null; chart: () => Chart }>();

export function Figure({ chart, until, bounded, waits = false }: { chart: Chart; until: number; bounded?: number; waits?: boolean }) {
  const host = useRef<HTMLDivElement>(null);
  const values = useRef<HTMLUListElement>(null);
  const when = useRef<HTMLSpanElement>(null);
  const spoken = useRef<HTMLParagraphElement>(null);
  const plot = useRef<Plot | null>(null);
  const latest = useRef(chart);
  const plotOptions = useRef<PlotOptions>(null);
  const lastSpoken = useRef(-SPEAK);
  const waiting = useRef(0);
  const narrow = useSignal(innerWidth < 700);
  latest.current = chart;
  const words = t.value;
  const dark = theme.value === "dark";
  const isTable = tables.value.has(chart.id);
  const isLog = chart.log !== switched.value.has(chart.id);
  const around = {
    dark,
    log: isLog && !chart.heat,
    window: chart.axis === "time" ? window_.value : null,
    until,
    height: bounded ?? (narrow.value ? 200 : 232),
    names: !narrow.value,
  };
  plotOptions.current = around;

  const at = (index: number | null) => {
    tell(latest.current, index, values.current, when.current);
    const has = document.activeElement === host.current?.closest("figure");
    if (index === null || !has) return;
    // What comes too soon is said later: the last point is never left out.
    clearTimeout(waiting.current);
    const wait = Math.max(0, lastSpoken.current + SPEAK - performance.now());
    const say = () => {
      lastSpoken.current = performance.now();
      if (spoken.current) spoken.current.textContent = sentence(latest.current, index);
    };
    if (wait === 0) say();
    else waiting.current = window.setTimeout(say, wait);
  };

  // What a plot is made of: when this changes it is made anew.
  const shape = [dark, isTable, around.log, narrow.value, words.throughput, chart.series.map((one) => one.name).join("\n"), !!chart.heat].join();
  useLayoutEffect(() => {
    if (!host.current || isTable) return undefined;
    forgetColours();
    const draw = () => {
      plot.current = new Plot(host.current!, latest.current, plotOptions.current!, { choose, at });
    };
    const forget = waits ? later(draw) : draw();
    return () => {
      forget?.();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [shape]);
  useLayoutEffect(() => {
    plot.current?.update(chart, around);
    at(plot.current?.cursor ?? null);
  });
  useEffect(() => {
    handles.set(chart.id, { plot: () => plot.current, chart: () => latest.current });
    const resized = () => (narrow.value = innerWidth < 700);
    addEventListener("resize", resized);
    return () => {
      handles.delete(chart.id);
      removeEventListener("resize", resized);
    };
  }, [chart.id]);

  const text = (value: number) => valueText(chart, value);
  return (
    <figure
      class={`chart ${chart.id === "heat" ? "is-heat" : ""}`}
      id={`chart-${chart.id}`}
      data-chart={chart.id}
      tabIndex={0}
      aria-labelledby={`name-${chart.id}`}
      aria-describedby={`summary-${chart.id}`}
    >
      <figcaption>
        <h3 id={`name-${chart.id}`}>{chart.title}</h3>
        <span class="when" ref={when} />
        <span class="tools">
          {chart.canLog && (
            <button type="button" class="small" aria-pressed={isLog} onClick={() => (switched.value = toggled(switched.value, chart.id))}>
              {words.logScale}
            </button>
          )}
          <button type="button" class="small" aria-pressed={isTable} onClick={() => (tables.value = toggled(tables.value, chart.id))}>
            {words.asTable}
          </button>
        </span>
      </figcaption>
      <p class="unseen" id={`summary-${chart.id}`}>
        {summary(chart, words, text)}. {chart.axis === "time" ? words.chartKeys : ""}
      </p>
      <ul class="legend" ref={values}>
        {chart.series.map((series) => (
          <li key={series.name}>
            <Swatch series={series} />
            <span>{series.name}</span> <b />
          </li>
        ))}
        {chart.heat && (
          <li class="ramp">
            <span>0.01 %</span>
            <Ramp dark={dark} />
            <span>100 %</span> <span>{words.heatLegend}</span> <b />
          </li>
        )}
      </ul>
      {isTable ? <Table chart={chart} text={text} /> : <div class="plot" ref={host} aria-hidden="true" />}
      <p class="unseen" aria-live="polite" ref={spoken} />
    </figure>
  );
}

/** The line as it is drawn, for whoever cannot tell colours. */
function Swatch({ series }: { series: Series }) {
  if (series.parts) return <i class="swatch area" style={{ background: `var(${series.colour})` }} />;
  return (
    <svg class="swatch" width="22" height="10" aria-hidden="true">
      {series.dots ? (
        <circle cx="11" cy="5" r="2.5" style={{ fill: `var(${series.colour})` }} />
      ) : (
        <line
          x1="0"
          x2="22"
          y1="5"
          y2="5"
          stroke-width={series.filled ? 6 : 2}
          stroke-dasharray={series.dash?.join(" ")}
          style={{ stroke: `var(${series.colour})` }}
        />
      )}
    </svg>
  );
}

function Ramp({ dark }: { dark: boolean }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useLayoutEffect(() => {
    const context = canvas.current?.getContext("2d");
    ramp(dark).forEach((colour, n) => {
      if (!context) return;
      context.fillStyle = `rgb(${colour.join()})`;
      context.fillRect(n, 0, 1, 1);
    });
  }, [dark]);
  return <canvas ref={canvas} width={64} height={1} aria-hidden="true" />;
}

function valueText(chart: Chart, value: number): string {
  if (!chart.heat) return told(chart.unit, value);
  const index = Math.floor(value);
  const low = bucketLow(index);
  return told("time", low + (value - index) * (bucketLow(index + 1) - low));
}

function bucketLow(index: number): number {
  const half = 2 ** HEAT_BITS;
  if (index < 2 * half) return index;
  const octave = Math.floor(index / half) - 1;
  return (index - octave * half) * 2 ** octave;
}

/** The figure of a series alone, where it stands in a stack. */
const own = (series: Series, index: number) => (series.parts ?? series.values)[index] ?? null;

/** Writes the figures of a point into the legend; of the last point where the cursor is on none. */
function tell(chart: Chart, index: number | null, list: HTMLElement | null, when: HTMLElement | null) {
  if (!list) return;
  const rows = list.children;
  chart.series.forEach((series, n) => {
    const value = index === null ? null : own(series, index);
    const cell = rows[n]?.lastElementChild;
    const text = value === null ? "" : valueText(chart, value);
    if (cell && cell.textContent !== text) cell.textContent = text;
  });
  if (chart.heat) rows[chart.series.length]!.lastElementChild!.textContent = index === null ? "" : busiest(chart, index);
  if (when) when.textContent = index === null ? "" : whenText(chart, index);
}

/** The fullest cell of a second: where most of its answers lie. */
function busiest(chart: Chart, index: number): string {
  const heat = chart.heat!;
  const seconds = chart.x[index]!;
  const span = heat.spans.find(({ from, to }) => seconds >= heat.edges(from)[0] && seconds < heat.edges(to - 1)[1]);
  if (!span || span.histogram.count.length === 0) return "";
  const cells = new Map<number, number>();
  span.histogram.index.forEach((bucket, n) => {
    const row = coarse(bucket, span.histogram.bits);
    cells.set(row, (cells.get(row) ?? 0) + span.histogram.count[n]!);
  });
  const [row, most] = [...cells].reduce((best, one) => (one[1] > best[1] ? one : best));
  const range = `${told("time", bucketLow(row))}–${told("time", bucketLow(row + 1))}`;
  return `${range}: ${t.value.heatShare(share(most / span.histogram.total), count(most))}`;
}

function whenText(chart: Chart, index: number): string {
  const x = chart.x[index]!;
  if (chart.axis === "nines") return percentile(x);
  const started = run.value?.head.started_unix_s;
  if (started === undefined) return clock(Math.floor(x));
  const wall = new Date((started + x) * 1000).toLocaleTimeString(document.documentElement.lang, { hour12: false });
  return `${clock(Math.floor(x))} · ${wall}`;
}

function sentence(chart: Chart, index: number): string {
  const parts = chart.series.map((series) => {
    const value = own(series, index);
    return value === null ? "" : `${series.name} ${valueText(chart, value)}`;
  });
  return `${whenText(chart, index)}: ${parts.filter(Boolean).join(", ")}`;
}

/** The chart's data in at most 200 rows, of the window where there is one. */
function Table({ chart, text }: { chart: Chart; text: (value: number) => string }) {
  const words = t.value;
  const chosen = window_.value;
  const within = chart.x.map((x, n) => [x, n] as const).filter(([x]) => chart.axis !== "time" || !chosen || (x >= chosen.from && x < chosen.to));
  const step = Math.max(1, Math.ceil(within.length / TABLE_ROWS));
  const shown = within.filter((_, n) => n % step === 0);
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={chart.title}>
      <table>
        {step > 1 && <caption>{words.tableShort(shown.length, within.length)}</caption>}
        <thead>
          <tr>
            <th scope="col">{chart.axis === "time" ? words.second : "p"}</th>
            {chart.series.map((series) => (
              <th scope="col" key={series.name}>
                {series.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map(([x, n]) => (
            <tr key={n}>
              <th scope="row">{chart.axis === "time" ? clock(Math.floor(x)) : percentile(x)}</th>
              {chart.series.map((series) => {
                const value = own(series, n);
                return <td key={series.name}>{value === null ? "–" : text(value)}</td>;
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

