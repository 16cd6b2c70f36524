// A comparison: the verdict, and a forest plot of its figures, which is a table with a picture in each row.

import { count, duration, harmless, share } from "../format.ts";
import { language, t } from "../text/index.ts";
import { type ForestRow, type Span, axisOf, ofPairs, ofRuns, own, signed, sorted, sortedRuns, spanText, valueText } from "./forest.ts";
import { Block, Head, type Mark, Rest, Sample, Sentences, Table, toneOf } from "./parts.tsx";
import type { Scale } from "./scale.ts";
import type { Decision, Outcome, RunsDecision } from "./types/compare.ts";

export function CompareView({ of }: { of: Decision }) {
  const words = t.value.decision;
  const { outcome } = of;
  const facts = outcome ? [words.legs(count(outcome.pairs), count(outcome.legs), count(outcome.void), duration(Math.round(outcome.took_s)))] : [];
  if (outcome?.open_rate) facts.push(words.openRate(count(outcome.open_rate)));
  facts.push(`wringer ${of.version}`);
  const verdict = outcome ? verdictOf(outcome, of.text) : words.notOver;
  const rows = (outcome?.figures ?? []).map((one) => ofPairs(one, outcome?.control?.find(({ metric }) => metric === one.metric), words));
  return (
    <>
      <Head kind={words.compareTitle} title={words.against(`B ${of.b}`, `A ${of.a}`)} facts={facts} tone={toned(of.exit, rows)} verdict={verdict} sentences={[...of.facts, ...(outcome?.violated ?? [])]} />
      <Forest rows={rows} judged />
      {outcome && <Sees outcome={outcome} />}
      <Sentences id="notes" title={words.notes} all={outcome?.notes ?? []} />
      <Rest text={of.text} files={of.files} />
    </>
  );
}

/** Without a condition nothing is violated, and what is worse is no good news all the same. */
function toned(exit: number | null, rows: ForestRow[]) {
  return exit === 0 && rows.some(({ tone }) => tone === "failed") ? "doubt" : toneOf(exit);
}

function verdictOf(outcome: Outcome, text: string | null): string {
  const words = t.value.decision;
  if (language.value === "en" && text) return text;
  const { finding, figures } = outcome;
  const compared = `${words.bIs} ${sorted(figures, words)}`;
  if (finding === "compared") return compared;
  if ("wrong_answers" in finding) return `${words.wrongAnswers(finding.wrong_answers.side.toUpperCase(), count(finding.wrong_answers.answers))} ${compared}`;
  if ("forecast" in finding) return words.forecast(count(finding.forecast.pairs), duration(Math.round(finding.forecast.takes_s)));
  if ("no_verdict" in finding) return words.noVerdict(finding.no_verdict.why);
  return words.silent(finding.silent.side.toUpperCase(), finding.silent.leg);
}

/** Of a forecast: what would be seen. */
function Sees({ outcome }: { outcome: Outcome }) {
  const words = t.value.decision;
  if (typeof outcome.finding !== "object" || !("forecast" in outcome.finding)) return null;
  return (
    <Block id="sees" title={words.sees}>
      <Table
        label={words.sees}
        rows={outcome.finding.forecast.sees}
        columns={[
          { name: t.value.figure, text: (one) => words.metric[one.metric] },
          { name: words.sees, text: (one) => share(one.difference) },
        ]}
      />
    </Block>
  );
}

export function RunsView({ of }: { of: RunsDecision }) {
  const words = t.value.decision;
  const { outcome } = of;
  const rows = "two_runs" in outcome ? outcome.two_runs.figures.map((one) => ofRuns(one, words)) : outcome.run_sets.figures.map((one) => ofPairs(one, undefined, words));
  const said = "two_runs" in outcome ? `${words.ofRuns} ${sortedRuns(outcome.two_runs.figures, words)}` : `${words.bIs} ${sorted(outcome.run_sets.figures, words)}`;
  const violated = "run_sets" in outcome ? outcome.run_sets.violated : [];
  return (
    <>
      <Head kind={words.compareTitle} title={words.against(`B ${of.b}`, `A ${of.a}`)} facts={[`wringer ${of.version}`]} tone={"run_sets" in outcome ? toned(of.exit, rows) : of.exit === 0 ? "quiet" : toneOf(of.exit)} verdict={said} sentences={[...of.facts, ...violated]} />
      <Forest rows={rows} judged={"run_sets" in outcome} />
      <Rest text={of.text} files={of.files.flat()} />
    </>
  );
}

const PAIR: Omit<Mark, "name"> = { kind: "dot", colour: "--grey" };
const ESTIMATE: Omit<Mark, "name"> = { kind: "line", colour: "--blue" };
const BAND: Omit<Mark, "name"> = { kind: "band", colour: "--grey" };
const SEEN: Omit<Mark, "name"> = { kind: "dash", colour: "--orange" };
const CONTROL: Omit<Mark, "name"> = { kind: "line", colour: "--olive" };

function Forest({ rows, judged }: { rows: ForestRow[]; judged: boolean }) {
  const words = t.value.decision;
  if (rows.length === 0) return null;
  const marks: Mark[] = [{ name: words.estimate, ...ESTIMATE }];
  if (rows.some((row) => row.band !== null)) marks.push({ name: judged ? words.margin : words.usualBand, ...BAND });
  if (rows.some((row) => row.points.length > 0)) marks.unshift({ name: words.pairsOf, ...PAIR });
  if (rows.some((row) => row.seen !== null)) marks.push({ name: words.detectable, ...SEEN });
  if (rows.some((row) => row.control)) marks.push({ name: words.control, ...CONTROL });
  return (
    <Block id="forest" title={words.forest}>
      <ul class="legend" aria-hidden="true">
        {marks.map((mark) => (
          <li key={mark.name}>
            <Sample mark={mark} />
            {mark.name}
          </li>
        ))}
      </ul>
      <Table
        label={words.forest}
        rows={rows}
        columns={[
          { name: t.value.figure, text: (row) => words.metric[row.metric] },
          { name: t.value.verdict, words: true, text: (row) => <span class={`word ${row.tone}`}>{harmless(row.word)}</span> },
          { name: "A", text: (row) => valueText(row.metric, row.a) },
          { name: "B", text: (row) => valueText(row.metric, row.b) },
          { name: `← ${words.better} · ${words.worse} →`, text: (row) => <RowPicture row={row} /> },
          { name: words.change, text: (row) => (row.estimate ? signed(own(row.metric, row.estimate.change)) : "–") },
          { name: words.interval, text: (row) => (row.estimate ? spanText(row.metric, row.estimate) : "–") },
          judged
            ? { name: words.couldHaveSeen, text: (row) => (row.seen === null ? "–" : share(row.seen)) }
            : { name: words.usually, text: (row) => (row.band === null ? "–" : share(row.band)) },
        ]}
      />
    </Block>
  );
}

/** The row's picture: what it shows stands in the row in words. */
function RowPicture({ row }: { row: ForestRow }) {
  const scale = axisOf(row);
  if (!row.estimate && row.points.length === 0) return <span class="soft">–</span>;
  const at = (value: number) => Math.round(scale.at(value) * 100) / 100;
  return (
    <div class="forest" aria-hidden="true">
      <svg viewBox="0 0 100 40" preserveAspectRatio="none">
        {row.band !== null && <rect class="mark band" style={{ fill: `var(${BAND.colour})` }} x={at(-row.band)} width={at(row.band) - at(-row.band)} y="0" height="40" />}
        <path class="grid" d={scale.ticks.map((tick) => `M${at(tick)} 0V40`).join("")} />
        <path class="zero" d={`M${at(0)} 0V40`} />
        {row.seen !== null && <path class="mark dash" style={{ stroke: `var(${SEEN.colour})` }} d={`M${at(row.seen)} 0V40M${at(-row.seen)} 0V40`} />}
        <path class="mark dot" style={{ stroke: `var(${PAIR.colour})` }} d={row.points.map((point, n) => `M${at(point)} ${27 + 7 * (n % 2)}h0`).join("")} />
        {row.control && <Estimate of={row.control} scale={scale} y={22} colour={CONTROL.colour} />}
        {row.estimate && <Estimate of={row.estimate} scale={scale} y={12} colour={ESTIMATE.colour} />}
      </svg>
      <div class="axis-x">
        {scale.ticks.map((tick) => (
          <span key={tick} style={{ left: `${scale.at(tick)}%` }}>
            {signed(own(row.metric, tick))}
          </span>
        ))}
      </div>
    </div>
  );
}

function Estimate({ of, scale, y, colour }: { of: Span; scale: Scale; y: number; colour: string }) {
  return (
    <>
      <path class="mark line" style={{ stroke: `var(${colour})` }} d={`M${scale.at(of.low)} ${y}H${scale.at(of.high)}M${scale.at(of.low)} ${y - 4}v8M${scale.at(of.high)} ${y - 4}v8`} />
      <path class="mark big" style={{ stroke: `var(${colour})` }} d={`M${scale.at(of.change)} ${y}h0`} />
    </>
  );
}
