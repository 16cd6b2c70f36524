// The figures of what is looked at, the largest type on the page.

import { bytes, count, share, time } from "../format.ts";
import type { Run } from "../model.ts";
import { t } from "../text/index.ts";
import type { Figures } from "../window.ts";

interface Tile {
  key: string;
  name: string;
  value: string;
  beside?: string;
  tone?: "bad" | "doubt";
}

export function Tiles({ run, figures }: { run: Run; figures: Figures }) {
  return (
    <ul class="tiles">
      {tiles(run, figures).map((tile) => (
        <li key={tile.key} class={`tile ${tile.tone ?? ""}`}>
          <span class="what">{tile.name}</span>
          <span class="value">{tile.value}</span>
          <span class="beside">{tile.beside ?? " "}</span>
        </li>
      ))}
    </ul>
  );
}

function tiles(run: Run, figures: Figures): Tile[] {
  const words = t.value;
  const { counts } = figures;
  const service = figures.times("service");
  const response = figures.times("response");
  const beside = (of: "p50_us" | "p99_us" | "p999_us") =>
    response && figures.asked ? words.responseOf(time(response[of])) : of === "p50_us" ? words.serviceTime : undefined;
  const requests = counts("requests");
  const answered = counts("hits") + counts("misses") + counts("revalidated") + counts("collapsed");
  const of = (bad: number): Pick<Tile, "beside" | "tone"> =>
    bad > 0 ? { beside: share(bad / Math.max(1, requests)), tone: "bad" } : {};
  const found: (Tile | false)[] = [
    {
      key: "rate",
      name: words.rateTile,
      value: count(requests / Math.max(figures.seconds, 1e-9)),
      beside: figures.asked ? words.askedOf(count(figures.asked)) : words.windowHolds(count(requests)),
    },
    { key: "p50", name: words.p50, value: time(service?.p50_us ?? NaN), beside: beside("p50_us") },
    { key: "p99", name: words.p99, value: time(service?.p99_us ?? NaN), beside: beside("p99_us") },
    { key: "p999", name: words.p999, value: time(service?.p999_us ?? NaN), beside: beside("p999_us") },
    answered > 0 && {
      key: "hits",
      name: words.hits,
      value: share(counts("hits") / answered),
      beside: figures.predicted !== undefined && figures.predicted !== null ? words.predicted(share(figures.predicted)) : undefined,
    },
    figures.offload !== undefined &&
      figures.offload !== null && {
        key: "offload",
        name: words.offload,
        value: share(figures.offload),
        beside: words.originRate(count(counts("origin.requests") / Math.max(figures.seconds, 1e-9))),
      },
    { key: "failed", name: words.failed, value: count(counts("failed")), ...of(counts("failed")) },
    { key: "check_failed", name: words.checkFailed, value: count(counts("check_failed")), ...of(counts("check_failed")) },
    counts("unfinished") > 0 && run.state !== "live" && {
      key: "unfinished",
      name: words.unfinished,
      value: count(counts("unfinished")),
      ...of(counts("unfinished")),
    },
    counts("stray") > 0 && {
      key: "stray",
      name: words.stray,
      value: count(counts("stray")),
      beside: words.strayBytes(bytes(counts("stray_bytes"))),
      tone: "bad",
    },
    figures.bound_s > 0 && {
      key: "bound",
      name: `▨ ${words.boundTile}`,
      value: `${Math.round(figures.bound_s)} s`,
      beside: words.ofSeconds(String(Math.round(figures.seconds))),
      tone: "doubt",
    },
  ];
  return found.filter((tile): tile is Tile => !!tile);
}
