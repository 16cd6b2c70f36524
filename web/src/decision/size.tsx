// Memory that works: by size of objects, and hits against memory of each.

import { bytes, count, duration, share } from "../format.ts";
import { t } from "../text/index.ts";
import { bounds, classShare, hitsOverTime, memory, reachedText, shareOf } from "./memory.ts";
import { Block, type Drawn, Head, Picture, Pictures, Rest, Table, TileRow, toneOf } from "./parts.tsx";
import { linear } from "./scale.ts";
import type { Class, Shift, Sizes } from "./types/size.ts";

const COLOURS = ["--blue", "--orange", "--teal", "--rose", "--olive", "--grey"];
const seconds = (value: number) => duration(Number(value.toPrecision(3)));

export function SizeView({ of }: { of: Sizes }) {
  const words = t.value.decision;
  const classes = of.classes.map((one) => ({ one, share: classShare(one) }));
  const told = classes.map(({ one, share }) => `${words.objectsOf(bytes(one.object_bytes))}: ${share ? shareOf(share, words) : words.notKnown}`);
  const facts = [words.ofMemory(memory(of.asked.memory_bytes)), `Zipf ${of.asked.alpha}`, `wringer ${of.version}`];
  const bad = classes.some(({ share }) => share === "nothing");
  return (
    <>
      <Head kind={words.sizeTitle} title={of.target} facts={facts} tone={of.exit === 0 && bad ? "doubt" : toneOf(of.exit)} verdict={told.join("; ") || words.notOver} />
      <TileRow tiles={classes.map(({ one, share }) => ({ name: words.objectsOf(bytes(one.object_bytes)), value: share === "nothing" ? "0 %" : share ? tile(bounds(share).at, "at_least" in share) : "–", tone: share === "nothing" ? ("bad" as const) : undefined }))} />
      <Pictures>
        <Shares classes={of.classes} />
        {of.classes.map((one, n) => (
          <Hits key={one.object_bytes} one={one} n={n} />
        ))}
        {of.classes.map((one, n) => one.shift && <Shifted key={one.object_bytes} shift={one.shift} n={n} />)}
      </Pictures>
      <Points of={of} />
      <Rest text={of.text} files={of.files} />
    </>
  );
}

const tile = (value: number, atLeast: boolean) => `${atLeast ? "≥ " : ""}${share(Number(value.toPrecision(3)))}`;

/** Effective share by size of objects, with its bounds. */
function Shares({ classes }: { classes: Class[] }) {
  const words = t.value.decision;
  if (classes.length < 2) return null;
  const known = classes.flatMap((one, n) => {
    const share = classShare(one);
    return share ? [{ n, ...bounds(share) }] : [];
  });
  const places = classes.map((_, n) => n);
  const x = linear([-0.5, classes.length - 0.5]);
  return (
    <Picture
      id="shares"
      title={words.shareBy}
      x={{ scale: { at: x.at, ticks: places }, name: "", text: (n) => bytes(classes[n]!.object_bytes) }}
      y={{ scale: linear([1, ...known.map(({ high }) => high)], { zero: true }), name: words.works, text: share }}
      drawn={[
        { name: words.works, kind: "bar", colour: "--blue", points: known.map(({ n, at }) => [n, at]) },
        { name: words.interval, kind: "spans", colour: "--orange", points: known.flatMap(({ n, low, high }): [number, number][] => [[n, low], [n, high]]) },
      ]}
      across={[{ name: words.configured, axis: "y", kind: "dash", colour: "--grey", from: 1 }]}
    />
  );
}

/** By the model as lines, one for each set; as measured at the configured memory. */
function Hits({ one, n }: { one: Class; n: number }) {
  const words = t.value.decision;
  const { curves, points } = one;
  const at = points[0]?.[0].memory_bytes;
  if (curves.length === 0 || at === undefined) return null;
  const ticks = [0.0625, 0.25, 0.5, 1, 2, 4].map((times) => times * at);
  const [low, high] = [Math.log(ticks[0]!), Math.log(ticks.at(-1)! * 1.05)];
  const x = { at: (value: number) => (100 * (Math.log(value) - low)) / (high - low), ticks };
  return (
    <Picture
      id={`hits-${n}`}
      title={words.hitsByMemory(bytes(one.object_bytes))}
      x={{ scale: x, name: words.memory, text: memory }}
      y={{ scale: linear([1], { zero: true }), name: words.hitRatio, text: share }}
      drawn={[
        ...curves.map((curve, nth): Drawn => ({ name: words.modelOfSet(memory(curve.set_bytes)), kind: "line", colour: COLOURS[nth % COLOURS.length]!, points: curve.places })),
        ...points.map(([point], nth): Drawn => ({
          name: words.measuredOf(memory(point.object_bytes * point.objects)),
          kind: "dot",
          colour: COLOURS[nth % COLOURS.length]!,
          points: [[point.memory_bytes, point.hits / Math.max(1, point.requests)]],
        })),
      ]}
      across={[{ name: words.configured, axis: "x", kind: "dash", colour: "--grey", from: at }]}
    />
  );
}

function Shifted({ shift, n }: { shift: Shift; n: number }) {
  const words = t.value.decision;
  const points = hitsOverTime(shift.windows);
  return (
    <Picture
      id={`shift-${n}`}
      title={`${words.shiftTo(bytes(shift.from_bytes), bytes(shift.end.object_bytes))}: ${reachedText(shift.reached, words, seconds)}`}
      x={{ scale: linear(points.map(([at]) => at), { zero: true }), name: words.second, text: count }}
      y={{ scale: linear([1], { zero: true }), name: words.hitRatio, text: share }}
      drawn={[{ name: words.measured, kind: "line", colour: "--blue", points }]}
      across={[
        { name: words.wanted, axis: "y", kind: "dash", colour: "--orange", from: 0.9 * shift.predicted },
        ...("after" in shift.reached ? [{ name: words.shiftAfter(seconds(shift.reached.after)), axis: "x" as const, kind: "line" as const, colour: "--teal", from: shift.reached.after }] : []),
        ...(shift.model_s === null ? [] : [{ name: words.shiftModel(seconds(shift.model_s)), axis: "x" as const, kind: "dash" as const, colour: "--grey", from: shift.model_s }]),
      ]}
    />
  );
}

function Points({ of }: { of: Sizes }) {
  const words = t.value.decision;
  const rows = of.classes.flatMap((one) => one.points.map(([point, share]) => ({ one, point, share, curve: one.curves.find(({ set_bytes }) => set_bytes === point.object_bytes * point.objects) })));
  const shifts = of.classes.flatMap(({ shift }) => shift ?? []);
  if (rows.length === 0) return null;
  return (
    <Block id="sets" title={words.sets}>
      <Table
        label={words.sets}
        rows={rows}
        columns={[
          { name: words.set, text: ({ one, point }) => `${memory(point.object_bytes * point.objects)} · ${words.objectsOf(bytes(one.object_bytes))}` },
          { name: words.memory, text: ({ point }) => memory(point.memory_bytes) },
          { name: words.requests, text: ({ point }) => count(point.requests) },
          { name: words.measured, text: ({ point }) => share(point.hits / Math.max(1, point.requests)) },
          { name: words.model, text: ({ curve }) => share(curve?.at_memory ?? NaN) },
          { name: words.works, words: true, text: ({ share }) => <span class={share === "nothing" ? "word failed" : "word"}>{shareOf(share, words)}</span> },
        ]}
      />
      {shifts.length > 0 && (
        <ul class="notes">
          {shifts.map((shift) => (
            <li key={shift.from_bytes}>
              {words.shiftTo(bytes(shift.from_bytes), bytes(shift.end.object_bytes))}: {reachedText(shift.reached, words, seconds)}; {shift.model_s === null ? "" : `${words.shiftModel(seconds(shift.model_s))}; `}
              {words.works}: {shareOf(shift.share, words)}
            </li>
          ))}
        </ul>
      )}
    </Block>
  );
}
