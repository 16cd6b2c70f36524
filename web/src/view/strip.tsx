// The run as one strip: its phases, where the generator was the limit, what was marked; and the part of it that is looked at.

import type { ComponentChildren } from "preact";
import { clock, count, harmless, share } from "../format.ts";
import type { Run } from "../model.ts";
import { choose, window_ } from "../state.ts";
import { t } from "../text/index.ts";
import type { Figures } from "../window.ts";

export function Strip({ run, until, figures, children }: { run: Run; until: number; figures: Figures; children?: ComponentChildren }) {
  const words = t.value;
  const chosen = window_.value;
  const at = (seconds: number) => `${Math.min(100, (100 * seconds) / Math.max(until, 0.001)).toFixed(3)}%`;
  const wide = (from: number, to: number) => ({ left: at(from), width: `calc(${at(to)} - ${at(from)})` });
  return (
    <section class="strip" aria-label={words.stripName}>
      <div class="phases">
        {run.phases.map((phase, n) => {
          const to = phase.ended_s ?? (n === run.phases.length - 1 ? (phase.planned_end_s ?? run.took_s) : run.took_s);
          return (
            <button
              type="button"
              key={n}
              class={`phase ${phase.measured ? "measured" : ""}`}
              style={wide(phase.began_s, to)}
              onClick={() => choose({ from: phase.began_s, to: Math.min(to, until) })}
              aria-label={`${words.phase} ${harmless(phase.name)}, ${words.window(clock(phase.began_s), clock(to))}`}
            >
              <span>{harmless(phase.name)}</span>
            </button>
          );
        })}
        {run.bound.map((part) => {
          const why = part.reasons.map((reason) => words.boundReason[reason] ?? reason).join(", ");
          const text = words.boundPart(clock(part.from_s), clock(part.to_s), why);
          return (
            <button
              type="button"
              key={`b${part.from_s}`}
              class="bound"
              style={wide(part.from_s, part.to_s)}
              title={text}
              aria-label={text}
              onClick={() => choose({ from: part.from_s, to: part.to_s })}
            />
          );
        })}
        {run.marks.map((mark) => (
          <span key={`m${mark.at_s}`} class={`mark ${mark.at_s > until * 0.7 ? "late" : ""}`} style={{ left: at(mark.at_s) }}>
            <i aria-hidden="true">▲</i> {harmless(mark.text)}
          </span>
        ))}
        {chosen && <div class="chosen" style={wide(chosen.from, chosen.to)} />}
      </div>
      <div class="looked">
        {children}
        <p role="status">
        {chosen ? (
          <>
            <strong>{words.window(clock(chosen.from), clock(chosen.to))}</strong>, {words.windowHolds(count(figures.counts("requests")))}
            {figures.coarse > 0.01 && <span class="soft"> · {words.windowFine(share(figures.coarse / 2))}</span>}{" "}
            {figures.bound_s > 0 && <span class="doubt">▨ {words.bound}</span>}{" "}
            <button type="button" class="small" onClick={() => choose(null)}>
              {words.windowEnd} <kbd>Esc</kbd>
            </button>
          </>
        ) : (
          <span class="soft">{words.wholeRun}</span>
        )}
        </p>
      </div>
    </section>
  );
}
