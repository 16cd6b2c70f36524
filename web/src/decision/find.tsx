// A search for a limit: the knee and the water mark, load against latency, load against each limit, throughput against users.

import { count, duration, harmless, share, time } from "../format.ts";
import type { Texts } from "../text/en.ts";
import { t } from "../text/index.ts";
import { type Across, Block, Head, Picture, Pictures, Rest, Sentences, Table, type Tile, TileRow, toneOf } from "./parts.tsx";
import { type Mode, kneeOf, limitText, limitValue, modeOf, overText } from "./load.ts";
import { linear, logarithmic } from "./scale.ts";
import type { Conclusion, Highest, RateRow, Recovery, Search } from "./types/find.ts";

export function FindView({ of }: { of: Search }) {
  const words = t.value.decision;
  const { conclusion } = of;
  const highest = of.throughput?.highest ?? null;
  const facts = [`wringer ${of.version}`];
  if (conclusion) facts.unshift(`${count(conclusion.outcome.trials)} ${words.trials}`, duration(Math.round(conclusion.outcome.took_s)));
  const verdict = conclusion ? findingText(conclusion, words) : highest?.good_per_s ? `${count(highest.good_per_s)}/s` : words.notKnown;
  return (
    <>
      <Head kind={words.findTitle} title={of.target} facts={facts} tone={toneOf(of.exit)} verdict={of.exit === null ? `${words.notOver}: ${verdict}` : verdict} sentences={conclusion ? reasons(conclusion) : []} />
      {conclusion && <TileRow tiles={tiles(of, conclusion, words)} />}
      {conclusion && <Loads of={of} conclusion={conclusion} />}
      {highest && <Users highest={highest} />}
      <Sentences id="notes" title={words.notes} all={[...(conclusion?.outcome.notes ?? []), ...(of.purchase?.found?.notes ?? [])]} />
      <Rest text={of.text} files={of.files} />
    </>
  );
}

function findingText({ outcome }: Conclusion, words: Texts["decision"]): string {
  const { finding } = outcome;
  if ("knee" in finding) {
    const { rate, held, limit, interval, is_wall } = finding.knee;
    return is_wall ? words.wall(count(held), limitText(limit), count(interval.high)) : words.knee(count(rate), limitText(limit), count(interval.low), count(interval.high));
  }
  if ("at_least" in finding) return words.atLeast(count(finding.at_least.rate));
  if ("no_rate" in finding) return words.noRate;
  if ("drifted" in finding) return words.drifted(share(finding.drifted.per_minute));
  if ("not_steady" in finding) return words.notSteady(finding.not_steady.refuted.map((rate) => `${count(rate)}/s`).join(", "));
  if ("partial" in finding) return words.partial;
  return words.noVerdict(finding.no_verdict.why);
}

/** Why, in wringer's own sentences. */
function reasons({ outcome, water_mark }: Conclusion): string[] {
  const { finding } = outcome;
  const marked = water_mark?.reasons ?? [];
  if ("at_least" in finding) return [finding.at_least.why, ...marked];
  if ("no_rate" in finding) return [finding.no_rate.why];
  return "partial" in finding ? [finding.partial.why] : marked;
}

function tiles(of: Search, conclusion: Conclusion, words: Texts["decision"]): Tile[] {
  const knee = kneeOf(conclusion);
  const { water_mark, closed } = conclusion;
  const found: (Tile | false | undefined | null)[] = [
    knee && { name: words.kneeTile, value: `${count(knee.rate)}/s`, beside: `${count(knee.interval.low)} … ${count(knee.interval.high)}` },
    knee && { name: words.heldTile, value: `${count(knee.held)}/s` },
    water_mark && { name: words.waterMark, value: `${count(water_mark.rate)}/s`, beside: words.waterMarkBeside(share(water_mark.share)) },
    knee && { name: words.recovery, ...recoveryTile(knee.recovery, words) },
    closed && { name: words.usersGive, value: `${closed.at_least ? "≥ " : ""}${count(closed.good_per_s)}/s`, beside: words.ofUsers(count(closed.users)) },
    of.purchase?.found && { name: words.machines, value: count(of.purchase.found.machines), beside: words.forRate(count(of.purchase.rate)) },
  ];
  return found.filter((tile): tile is Tile => !!tile);
}

function recoveryTile(recovery: Recovery | null, words: Texts["decision"]): Pick<Tile, "value" | "beside" | "tone"> {
  if (!recovery) return { value: "–", beside: words.notTried };
  const beside = words.atShare(share(recovery.at_share));
  if (recovery.after_s === null) return { value: words.notIn(duration(Math.round(recovery.waited_s))), beside, tone: "bad" };
  return { value: recovery.after_s < 0.5 ? words.atOnce : duration(recovery.after_s), beside, tone: recovery.carries_again === false ? "bad" : undefined };
}

const MODES: Record<Mode, { colour: string; kind: "dot" | "cross" | "ring" }> = {
  kept: { colour: "--blue", kind: "dot" },
  broken: { colour: "--bad", kind: "cross" },
  unclear: { colour: "--grey", kind: "ring" },
};

function Loads({ of, conclusion }: { of: Search; conclusion: Conclusion }) {
  const words = t.value.decision;
  const { rates } = conclusion.outcome;
  const limits = of.record?.settings.limits ?? [];
  if (rates.length === 0) return null;
  const knee = kneeOf(conclusion);
  const mark = conclusion.water_mark;
  const lines: Across[] = [];
  if (knee) {
    lines.push({ name: words.intervalBand, axis: "x", kind: "band", colour: "--blue", from: knee.interval.low, to: knee.interval.high });
    lines.push({ name: words.kneeTile, axis: "x", kind: "line", colour: "--blue", from: knee.rate });
  }
  if (mark) lines.push({ name: words.waterMark, axis: "x", kind: "line", colour: "--teal", from: mark.rate });
  const x = { scale: linear([...rates.map((row) => row.rate), ...lines.map((line) => line.from)], { zero: true, most: 7 }), name: `${words.rate}/s`, text: count };
  const drawn = (value: (row: RateRow) => number | null) =>
    (Object.keys(MODES) as Mode[]).map((mode) => ({
      name: words[mode],
      ...MODES[mode],
      points: rates.filter((row) => modeOf(row) === mode).flatMap((row) => point(row.rate, value(row))),
    }));
  const times = rates.flatMap((row) => (row.p99_ms ? [row.p99_ms * 1e3] : []));
  const ofTimes = limits.flatMap((limit) => ("quantile" in limit && Math.abs(limit.quantile.quantile - 0.99) < 1e-9 ? [limit.quantile.limit_ms * 1e3] : []));
  return (
    <>
      <Pictures>
        {times.length > 0 && (
          <Picture
            id="latency"
            title={words.loadLatency}
            x={x}
            y={{ scale: logarithmic([...times, ...ofTimes]), name: words.p99, text: time }}
            drawn={[{ name: words.p99, kind: "line", colour: "--grey", points: rates.flatMap((row) => point(row.rate, row.p99_ms && row.p99_ms * 1e3)) }, ...drawn((row) => row.p99_ms && row.p99_ms * 1e3)]}
            across={[...lines, ...ofTimes.map((from) => ({ name: words.limit, axis: "y" as const, kind: "dash" as const, colour: "--bad", from }))]}
          />
        )}
        {limits.map((limit, n) => {
          const [text, value] = [limitText(limit), limitValue(limit)];
          const over = (row: RateRow) => row.over[n] ?? null;
          // Nothing was ever over it: the table says so.
          if (!rates.some(over)) return null;
          return (
            <Picture
              key={text}
              id={`limit-${n}`}
              title={words.overLimit(text)}
              x={x}
              y={{ scale: linear([value * 2, ...rates.flatMap((row) => over(row) ?? [])], { zero: true }), name: text, text: (value) => overText(limit, value) }}
              drawn={drawn(over)}
              across={[...lines, { name: words.limit, axis: "y", kind: "dash", colour: "--bad", from: value }]}
            />
          );
        })}
      </Pictures>
      <Block id="rates" title={words.rates}>
        <Table
          label={words.loadLatency}
          rows={rates}
          columns={[
            { name: words.rate, text: (row) => `${count(row.rate)}/s` },
            { name: words.trials, text: (row) => count(row.trials) },
            { name: words.good, text: (row) => count(row.good_per_s) },
            { name: words.p99, text: (row) => time(row.p99_ms === null ? NaN : row.p99_ms * 1e3) },
            ...limits.map((limit, n) => ({ name: limitText(limit), text: (row: RateRow) => overText(limit, row.over[n] ?? NaN) })),
            { name: words.cpu, text: (row) => share(row.cpu ?? NaN) },
            ...(rates.some((row) => row.hit_ratio !== null) ? [{ name: words.hits, text: (row: RateRow) => share(row.hit_ratio ?? NaN) }] : []),
            { name: words.verdict, words: true, text: (row) => harmless(row.verdict) },
          ]}
        />
      </Block>
    </>
  );
}

const point = (x: number, y: number | null): [number, number][] => (y === null ? [] : [[x, y]]);

function Users({ highest }: { highest: Highest }) {
  const words = t.value.decision;
  const points = highest.curve.map(({ users, good_per_s }): [number, number] => [users, good_per_s]);
  if (points.length === 0) return null;
  const law = "Ok" in highest.law ? highest.law.Ok : null;
  return (
    <Block id="users" title={words.perUsers}>
      {law?.peak && <p class="soft">{words.lawOf(count(law.peak.value))}</p>}
      <Picture
        id="throughput"
        title={words.perUsers}
        x={{ scale: logarithmic(points.map(([users]) => users)), name: words.users, text: count }}
        y={{ scale: linear(points.map(([, good]) => good), { zero: true }), name: words.good, text: count }}
        drawn={[
          { name: words.good, kind: "line", colour: "--grey", points },
          { name: words.measured, kind: "dot", colour: "--blue", points },
        ]}
      />
      <Table
        label={words.perUsers}
        rows={highest.curve}
        columns={[
          { name: words.users, text: (one) => count(one.users) },
          { name: words.good, text: (one) => count(one.good_per_s) },
        ]}
      />
    </Block>
  );
}
