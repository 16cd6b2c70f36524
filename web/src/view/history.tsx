// The runs that are kept: found by words, opened, and two of them chosen to be compared.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { count, duration, harmless, share, time } from "../format.ts";
import { type Listed, list } from "../source.ts";
import type { VerdictNames } from "../model.ts";
import { language, t } from "../text/index.ts";
import { inWords, toneOfTarget } from "./verdict.tsx";

export function History() {
  const words = t.value;
  const runs = useSignal<Listed[] | null>(null);
  const search = useSignal("");
  const problem = useSignal("");
  const chosen = useSignal<string[]>([]);
  useEffect(() => {
    const wait = setTimeout(() => {
      list(search.value).then(
        (found) => {
          runs.value = found;
          problem.value = "";
        },
        (error) => (problem.value = String(error)),
      );
    }, 200);
    return () => clearTimeout(wait);
  }, [search.value]);
  const toggle = (id: string) => {
    const others = chosen.value.filter((one) => one !== id);
    chosen.value = others.length < chosen.value.length ? others : [...others.slice(-1), id];
  };
  const [first, second] = chosen.value;
  return (
    <main>
      <section class="block" aria-labelledby="history">
        <div class="block-head">
          <h1 id="history">{words.history}</h1>
          <input
            type="search"
            class="search wide"
            placeholder={words.historySearch}
            aria-label={words.historySearch}
            onInput={(event) => (search.value = event.currentTarget.value)}
          />
          {first && second ? (
            <a class="button primary" href={`/?compare=${first},${second}`}>
              {words.compareTwo}
            </a>
          ) : (
            <span class="soft">{chosen.value.length > 0 ? words.chosen(chosen.value.length) : words.chooseTwo}</span>
          )}
        </div>
        {problem.value && <p class="notice">{problem.value}</p>}
        {runs.value?.length === 0 && <p class="soft">{search.value ? words.noMatch : words.noRuns}</p>}
        {runs.value && runs.value.length > 0 && (
          <table class="cards history">
            <thead>
              <tr>
                <th scope="col">
                  <span class="unseen">{words.compare}</span>
                </th>
                <th scope="col">{words.when}</th>
                <th scope="col">{words.commandShort}</th>
                <th scope="col">{words.labels}</th>
                <th scope="col">{words.took}</th>
                <th scope="col">{words.rateTile}</th>
                <th scope="col">p50</th>
                <th scope="col">p99</th>
                <th scope="col">{words.failed}</th>
                <th scope="col">{words.hits}</th>
                <th scope="col">{words.verdict}</th>
              </tr>
            </thead>
            <tbody>
              {runs.value.map((one) => (
                <Line key={one.id} one={one} chosen={chosen.value.includes(one.id)} toggle={() => toggle(one.id)} />
              ))}
            </tbody>
          </table>
        )}
      </section>
    </main>
  );
}

const SIGNS = { good: "✓", bad: "✕", doubt: "▨" };

/** A target that failed says more than a measurement that is in doubt. */
function toneOf({ measurement, target }: VerdictNames): keyof typeof SIGNS {
  const ofTarget = toneOfTarget(target);
  if (ofTarget === "failed" && target !== "") return "bad";
  return measurement === "valid" && ofTarget === "good" ? "good" : "doubt";
}

function Line({ one, chosen, toggle }: { one: Listed; chosen: boolean; toggle: () => void }) {
  const words = t.value;
  const locale = language.value === "zh" ? "zh-CN" : "en-GB";
  const began = new Date(one.started_unix_s * 1000);
  const year = began.getFullYear() === new Date().getFullYear() ? undefined : "numeric";
  const when = began.toLocaleString(locale, { year, month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });
  const verdict = one.state === "live" ? words.live : one.state === "open" ? words.open : one.state === "cut" ? words.cut : inWords(one.verdict, words);
  const tone = toneOf(one.verdict);
  return (
    <tr class={chosen ? "chosen" : ""}>
      <td>
        <input type="checkbox" checked={chosen} onChange={toggle} aria-label={words.choose(when)} />
      </td>
      <th scope="row" data-name={words.when}>
        <a href={`/?run=${encodeURIComponent(one.id)}`}>{when}</a>
      </th>
      <td data-name={words.commandShort}>
        <span>
          <b>{harmless(one.door)}</b> {harmless(one.target)}
        </span>
      </td>
      <td data-name={words.labels}>
        <span>
          {one.labels.map((label) => (
            <span class="label" key={label}>
              {harmless(label)}
            </span>
          ))}
        </span>
      </td>
      <td data-name={words.took}>{duration(one.took_s ?? NaN)}</td>
      <td data-name={words.rateTile}>{count(one.rate_per_s ?? NaN)}</td>
      <td data-name="p50">{time(one.p50_us ?? NaN)}</td>
      <td data-name="p99">{time(one.p99_us ?? NaN)}</td>
      <td data-name={words.failed} class={(one.failed_share ?? 0) > 0 ? "bad" : ""}>
        {share(one.failed_share ?? NaN)}
      </td>
      <td data-name={words.hits}>{share(one.hit_ratio ?? NaN)}</td>
      <td data-name={words.verdict}>
        <span class={`worth ${tone}`}>
          <i aria-hidden="true">{one.state === "live" || one.state === "open" ? "●" : SIGNS[tone]}</i> {verdict}
        </span>
      </td>
    </tr>
  );
}
