// The steps of a journey, as many as there are: only the rows that can be seen are in the document.

import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { count, harmless, share, time } from "../format.ts";
import type { Run, Step } from "../model.ts";
import { printing } from "../state.ts";
import { t } from "../text/index.ts";

/** Height of a row in CSS pixels; the style sheet has the same. */
const ROW = 34;
const SHOWN = 14;
/** Up to so many all stand in the document. */
const ALL = 60;

type Key = "name" | "rate" | "p50" | "p99" | "p999" | "max" | "not_good";

const VALUES: Record<Exclude<Key, "name">, (step: Step) => number> = {
  rate: (step) => step.requests,
  p50: (step) => step.times?.p50_us ?? -1,
  p99: (step) => step.times?.p99_us ?? -1,
  p999: (step) => step.times?.p999_us ?? -1,
  max: (step) => step.times?.max_us ?? -1,
  not_good: (step) => step.not_good,
};

export function Steps({ run, seconds, windowed }: { run: Run; seconds: number; windowed: boolean }) {
  const words = t.value;
  const filter = useSignal("");
  const sort = useSignal<{ key: Key; down: boolean }>({ key: "rate", down: true });
  const top = useSignal(0);
  const box = useRef<HTMLDivElement>(null);
  const sorted = useComputed(() => arranged(run.steps, filter.value, sort.value));
  // The run is a new value each second; what was computed of the last must not stay.
  const rows = run.state === "live" ? arranged(run.steps, filter.value, sort.value) : sorted.value;
  useEffect(() => {
    top.value = 0;
    box.current?.scrollTo(0, 0);
  }, [filter.value]);
  if (run.steps.length === 0) return null;
  const all = run.steps.reduce((sum, step) => sum + step.requests, 0);
  const whole = rows.length <= ALL || printing.value;
  const first = whole ? 0 : Math.max(0, Math.min(Math.floor(top.value / ROW) - 4, rows.length - SHOWN - 8));
  const shown = whole ? rows : rows.slice(first, first + SHOWN + 8);
  const order = (key: Key) => () => (sort.value = { key, down: sort.value.key === key ? !sort.value.down : key !== "name" });
  const head = (of: Key, text: string) => (
    <th scope="col" role="columnheader" aria-sort={sort.value.key !== of ? "none" : sort.value.down ? "descending" : "ascending"}>
      <button type="button" onClick={order(of)}>
        {text} <span aria-hidden="true">{sort.value.key === of ? (sort.value.down ? "▾" : "▴") : " "}</span>
      </button>
    </th>
  );
  return (
    <section class="block" aria-labelledby="steps">
      <div class="block-head">
        <h2 id="steps">{words.steps}</h2>
        <input
          type="search"
          class="search"
          placeholder={words.filter}
          aria-label={words.filterSteps}
          onInput={(event) => (filter.value = event.currentTarget.value)}
        />
        <span class="soft" role="status">
          {words.stepsShown(String(rows.length), String(run.steps.length))}
        </span>
      </div>
      {windowed && <p class="soft">{words.stepsWhole}</p>}
      <div
        class="scroll steps"
        ref={box}
        tabIndex={0}
        role="region"
        aria-label={`${words.steps}: ${words.asTable}`}
        onScroll={(event) => (top.value = event.currentTarget.scrollTop)}
      >
        <table aria-rowcount={rows.length + 1}>
          <thead>
            <tr>
              {head("name", words.step)}
              {head("rate", words.rateTile)}
              <th scope="col">{words.share}</th>
              {head("p50", "p50")}
              {head("p99", "p99")}
              {head("p999", "p99.9")}
              {head("max", words.max)}
              {head("not_good", words.notGood)}
              <th scope="col">{words.trend}</th>
            </tr>
          </thead>
          <tbody>
            {first > 0 && <tr class="spacer" style={{ height: `${first * ROW}px` }} aria-hidden="true" />}
            {shown.map((step, n) => (
              <tr key={step.name} aria-rowindex={first + n + 2}>
                <th scope="row" data-name={words.step} title={harmless(step.name)}>
                  {harmless(step.name)}
                </th>
                <td data-name={words.rateTile}>{count(step.requests / Math.max(seconds, 1e-9))}</td>
                <td data-name={words.share}>{share(step.requests / Math.max(1, all))}</td>
                <td data-name="p50">{time(step.times?.p50_us ?? NaN)}</td>
                <td data-name="p99">{time(step.times?.p99_us ?? NaN)}</td>
                <td data-name="p99.9">{time(step.times?.p999_us ?? NaN)}</td>
                <td data-name={words.max}>{time(step.times?.max_us ?? NaN)}</td>
                <td data-name={words.notGood} class={step.not_good > 0 ? "bad" : ""}>
                  {count(step.not_good)}
                </td>
                <td data-name={words.trend}>
                  <Trend values={step.trend} />
                </td>
              </tr>
            ))}
            {!whole && (
              <tr
                class="spacer"
                style={{ height: `${Math.max(0, rows.length - first - shown.length) * ROW}px` }}
                aria-hidden="true"
              />
            )}
          </tbody>
        </table>
        {rows.length === 0 && <p class="soft">{words.noStep}</p>}
      </div>
      {run.steps_left > 0 && <p class="soft">{words.stepsLeft(count(run.steps_left))}</p>}
    </section>
  );
}

function arranged(steps: Step[], filter: string, { key, down }: { key: Key; down: boolean }): Step[] {
  const wanted = filter.trim().toLowerCase();
  const found = wanted ? steps.filter((step) => step.name.toLowerCase().includes(wanted)) : [...steps];
  const by = key === "name" ? (a: Step, b: Step) => a.name.localeCompare(b.name) : (a: Step, b: Step) => VALUES[key](a) - VALUES[key](b);
  return found.sort((a, b) => (down ? by(b, a) : by(a, b)));
}

/** Requests over the run, as high as they went. */
function Trend({ values }: { values: number[] }) {
  if (values.length < 2) return null;
  const high = Math.max(1, ...values);
  const points = values.map((value, n) => `${((n * 78) / (values.length - 1) + 1).toFixed(1)},${(17 - (15 * value) / high).toFixed(1)}`);
  return (
    <svg class="trend" width="80" height="18" viewBox="0 0 80 18" aria-hidden="true">
      <polyline points={points.join(" ")} />
    </svg>
  );
}
