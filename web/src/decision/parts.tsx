// What the views of all decisions share: the head with the verdict, pictures, lists of sentences.

import type { ComponentChildren } from "preact";
import { harmless } from "../format.ts";
import { t } from "../text/index.ts";
import type { Scale } from "./scale.ts";

export type Tone = "good" | "failed" | "doubt" | "quiet";

/** The tone of an exit code. */
export function toneOf(exit: number | null): Tone {
  return exit === null ? "quiet" : exit === 0 ? "good" : exit === 3 ? "failed" : "doubt";
}

const SIGNS = { good: "✓", failed: "✕", doubt: "▨", quiet: "…" };

/** Kind and target, facts, and the verdict, which is what the eye should meet before any figure. */
export function Head({ kind, title, facts, tone, verdict, sentences = [] }: { kind: string; title: string; facts: string[]; tone: Tone; verdict: string; sentences?: string[] }) {
  return (
    <section class="headline">
      <h1>{harmless(title)}</h1>
      <p class="facts">
        <span>{kind}</span>
        {facts.map((fact) => (
          <span key={fact}>{harmless(fact)}</span>
        ))}
      </p>
      <div class={`verdict ${tone}`} role="status">
        <p>
          <span class="sign" aria-hidden="true">
            {SIGNS[tone]}
          </span>
          <strong>{harmless(verdict)}</strong>
        </p>
        {sentences.length > 0 && (
          <ul>
            {sentences.map((sentence) => (
              <li key={sentence}>{harmless(sentence)}</li>
            ))}
          </ul>
        )}
      </div>
    </section>
  );
}

export interface Tile {
  name: string;
  value: string;
  beside?: string;
  tone?: "bad" | "doubt";
}

export function TileRow({ tiles }: { tiles: Tile[] }) {
  return (
    <ul class="tiles">
      {tiles.map((tile) => (
        <li key={tile.name} class={`tile ${tile.tone ?? ""}`}>
          <span class="what">{tile.name}</span>
          <span class="value">{tile.value}</span>
          <span class="beside">{tile.beside ?? " "}</span>
        </li>
      ))}
    </ul>
  );
}

/** Pictures beside each other. */
export function Pictures({ children }: { children: ComponentChildren }) {
  return (
    <>
      <h2 class="unseen" id="charts">
        {t.value.charts}
      </h2>
      <section class="charts" aria-labelledby="charts">
        {children}
      </section>
    </>
  );
}

export function Block({ id, title, children }: { id: string; title: string; children: ComponentChildren }) {
  return (
    <section class="block" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}

/** Sentences of wringer, which are English. */
export function Sentences({ id, title, all }: { id: string; title: string; all: string[] }) {
  if (all.length === 0) return null;
  return (
    <Block id={id} title={title}>
      <ul class="notes">
        {all.map((one) => (
          <li key={one}>{harmless(one)}</li>
        ))}
      </ul>
    </Block>
  );
}

/** The first lines as printed, and the run files. */
export function Rest({ text, files }: { text: string | null; files: (string | null)[] }) {
  const words = t.value.decision;
  const kept = files.filter((file): file is string => file !== null);
  if (!text && kept.length === 0) return null;
  return (
    <section class="block">
      {text && (
        <details>
          <summary>{words.asPrinted}</summary>
          <pre tabIndex={0}>{harmless(text)}</pre>
        </details>
      )}
      {kept.length > 0 && (
        <details>
          <summary>{words.runFiles(kept.length)}</summary>
          <pre tabIndex={0}>{harmless(kept.join("\n"))}</pre>
        </details>
      )}
    </section>
  );
}

/** How a thing in a picture looks. */
export interface Mark {
  name: string;
  colour: string;
  kind: "line" | "dash" | "dot" | "ring" | "band" | "bar" | "cross" | "spans";
}

export interface Drawn extends Mark {
  points: [number, number][];
}

/** A line or a band across a picture, by x or by y. */
export interface Across extends Mark {
  axis: "x" | "y";
  from: number;
  to?: number;
}

export interface Axis {
  scale: Scale;
  name: string;
  text: (value: number) => string;
}

/** Values against values. What stands in it stands in a table beside it, so nothing is said here to those who do not see it. */
export function Picture({ id, title, x, y, drawn, across = [] }: { id: string; title: string; x: Axis; y: Axis; drawn: Drawn[]; across?: Across[] }) {
  const shown = drawn.filter((one) => one.points.length > 0);
  return (
    <figure class="chart picture" id={`picture-${id}`} aria-labelledby={`name-${id}`}>
      <figcaption>
        <h3 id={`name-${id}`}>{title}</h3>
      </figcaption>
      <ul class="legend" aria-hidden="true">
        {[...shown, ...across].map((one) => (
          <li key={one.name}>
            <Sample mark={one} />
            {one.name}
          </li>
        ))}
      </ul>
      <div class="plane" aria-hidden="true">
        <div class="axis-y">
          {y.scale.ticks.map((tick) => (
            <span key={tick} style={{ bottom: `${y.scale.at(tick)}%` }}>
              {y.text(tick)}
            </span>
          ))}
        </div>
        <svg viewBox="0 0 100 100" preserveAspectRatio="none">
          {across.filter((one) => one.to !== undefined).map((one) => (
            <Band key={one.name} one={one} x={x.scale} y={y.scale} />
          ))}
          <path class="grid" d={[...x.scale.ticks.map((tick) => `M${x.scale.at(tick)} 0V100`), ...y.scale.ticks.map((tick) => `M0 ${100 - y.scale.at(tick)}H100`)].join("")} />
          {across.filter((one) => one.to === undefined).map((one) => (
            <path key={one.name} class={`mark ${one.kind}`} style={{ stroke: `var(${one.colour})` }} d={one.axis === "x" ? `M${x.scale.at(one.from)} 0V100` : `M0 ${100 - y.scale.at(one.from)}H100`} />
          ))}
          {shown.map((one) => (
            <path key={one.name} class={`mark ${one.kind}`} style={{ stroke: `var(${one.colour})` }} d={pathOf(one, x.scale, y.scale)} />
          ))}
        </svg>
        <div class="axis-x">
          {x.scale.ticks.map((tick) => (
            <span key={tick} style={{ left: `${x.scale.at(tick)}%` }}>
              {x.text(tick)}
            </span>
          ))}
        </div>
        <p class="axis-name">{x.name}</p>
      </div>
    </figure>
  );
}

function Band({ one, x, y }: { one: Across; x: Scale; y: Scale }) {
  const scale = one.axis === "x" ? x : y;
  const [from, to] = [scale.at(one.from), scale.at(one.to ?? one.from)].map((at) => Math.min(100, Math.max(0, at))) as [number, number];
  const at = one.axis === "x" ? { x: from, y: 0, width: to - from, height: 100 } : { x: 0, y: 100 - to, width: 100, height: to - from };
  return <rect class="mark band" style={{ fill: `var(${one.colour})` }} {...at} />;
}

/** Lines go from point to point, spans from each second point to the next one; a dot is a line without length whose ends are round, so that it is round whatever the picture's shape. */
export function pathOf({ kind, points }: Pick<Drawn, "kind" | "points">, x: Scale, y: Scale): string {
  const places = points.map(([one, other]) => [near(x.at(one)), near(100 - y.at(other))]);
  if (kind === "bar") return places.map(([left, top]) => `M${left} 100V${top}`).join("");
  if (kind === "spans") return places.map(([left, top], n) => `${n % 2 === 0 ? "M" : "L"}${left} ${top}`).join("");
  if (kind === "line" || kind === "dash") return places.map(([left, top], n) => `${n === 0 ? "M" : "L"}${left} ${top}`).join("");
  return places.map(([left, top]) => `M${left} ${top}h0`).join("");
}

const near = (value: number) => Math.round(value * 100) / 100;

export function Sample({ mark }: { mark: Mark }) {
  const { kind, colour } = mark;
  if (kind === "band") return <i class="swatch area" style={{ background: `var(${colour})`, opacity: 0.3 }} />;
  return (
    <svg class="swatch" width="22" height="12" aria-hidden="true">
      <path class={`mark ${kind}`} style={{ stroke: `var(${colour})` }} d={kind === "line" || kind === "dash" || kind === "spans" ? "M1 6H21" : kind === "bar" ? "M11 11V1" : "M11 6h0"} />
    </svg>
  );
}

export interface Column<Row> {
  name: string;
  text: (row: Row) => ComponentChildren;
  /** Words rather than figures. */
  words?: boolean;
}

/** A table whose first column names its rows; on narrow screens each row is a card. */
export function Table<Row>({ rows, columns, label }: { rows: Row[]; columns: Column<Row>[]; label: string }) {
  return (
    <table class="cards figures" aria-label={label}>
      <thead>
        <tr>
          {columns.map((column) => (
            <th scope="col" key={column.name} class={column.words ? "words" : undefined}>
              {column.name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, n) => (
          <tr key={n}>
            {columns.map((column, nth) =>
              nth === 0 ? (
                <th scope="row" key={column.name} data-name={column.name}>
                  {column.text(row)}
                </th>
              ) : (
                <td key={column.name} data-name={column.name} class={column.words ? "words" : undefined}>
                  {column.text(row)}
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
