// Scenarios: the table of all, with the reasons where one did not pass.

import { bytes, count, duration, harmless, share, time } from "../format.ts";
import type { Texts } from "../text/en.ts";
import { t } from "../text/index.ts";
import { Block, Head, Rest, Table, type Tone, toneOf } from "./parts.tsx";
import type { StressFinding, Seen, StressState, Stress } from "./types/stress.ts";

/** The worst first. */
const STATES: readonly StressState[] = ["broken", "failed", "degraded", "pass", "not_run"];
const TONES: Record<StressState, Tone> = { broken: "failed", failed: "failed", degraded: "doubt", pass: "good", not_run: "quiet" };
/** A shape for each, so that no colour has to be seen. */
const SIGNS: Record<StressState, string> = { broken: "✕", failed: "✕", degraded: "▨", pass: "✓", not_run: "…" };

export function StressView({ of }: { of: Stress }) {
  const words = t.value.decision;
  const counts = STATES.map((state) => [state, of.findings.filter((one) => one.verdict.state === state).length] as const);
  const told = counts.filter(([, n]) => n > 0).map(([state, n]) => words.counted(n, words.state[state]!));
  const ground = words.carries(count(of.ground.capacity), count(of.ground.connections)) + (of.assumed ? ` (${words.given})` : "");
  const degraded = of.exit === 0 && counts.some(([state, n]) => state === "degraded" && n > 0);
  return (
    <>
      <Head
        kind={words.stressTitle}
        title={of.target}
        facts={[ground, `wringer ${of.version}`]}
        tone={degraded ? "doubt" : toneOf(of.exit)}
        verdict={told.join(", ") || words.notOver}
        sentences={of.ended_early ? [words.endedEarly] : []}
      />
      <Block id="scenarios" title={words.stressTitle}>
        <Table
          label={words.stressTitle}
          rows={of.findings}
          columns={[
            { name: words.scenario, text: ({ scenario, about }) => <span title={harmless(about)}>{harmless(scenario)}</span> },
            { name: words.verdict, words: true, text: ({ verdict }) => <Outcome state={verdict.state} /> },
            { name: words.bystanderP99, text: ({ seen }) => (seen ? `${milliseconds(seen.before.p99_ms)} → ${milliseconds(seen.during.p99_ms)}` : "") },
            { name: words.bystanderFailed, text: ({ seen }) => (seen ? share(seen.during.not_good / Math.max(1, seen.during.due)) : "") },
            { name: words.wellAfter, text: ({ seen }) => (seen ? wellAfter(seen, words) : "") },
            { name: words.memoryMost, text: ({ seen }) => (seen ? bytes(seen.held_most.memory_bytes ?? NaN) : "") },
            { name: words.cause, words: true, text: (finding) => causes(finding, words) },
          ]}
        />
      </Block>
      <Reasons findings={of.findings.filter(({ verdict }) => verdict.state !== "pass")} />
      <Rest text={of.text} files={of.findings.flatMap(({ files }) => files)} />
    </>
  );
}

const milliseconds = (ms: number | null) => time(ms === null ? NaN : ms * 1e3);

function wellAfter(seen: Seen, words: Texts["decision"]): string {
  if (seen.back_s === null) return words.notIn(duration(Math.round(seen.watched_s)));
  return seen.back_s > 0 ? duration(seen.back_s) : words.atOnce;
}

/** Causes are told where it does not pass: what moved beside a pass hurt nobody. */
export function causes({ verdict, moved }: Pick<StressFinding, "verdict" | "moved">, words: Texts["decision"]): string {
  return verdict.state === "pass" || verdict.state === "not_run" ? "" : moved.map(({ cause }) => words.causeName[cause] ?? cause).join(", ");
}

function Outcome({ state }: { state: StressState }) {
  return (
    <span class={`word ${TONES[state]}`}>
      <span aria-hidden="true">{SIGNS[state]} </span>
      {t.value.decision.state[state]}
    </span>
  );
}

function Reasons({ findings }: { findings: StressFinding[] }) {
  const words = t.value.decision;
  if (findings.length === 0) return null;
  return (
    <Block id="reasons" title={words.reasons}>
      {findings.map((finding) => (
        <div key={finding.scenario}>
          <h3>
            {harmless(finding.scenario)} <Outcome state={finding.verdict.state} />
          </h3>
          <p class="soft">{harmless(finding.about)}</p>
          <ul class="notes">
            {finding.verdict.reasons.map((reason) => (
              <li key={reason}>{harmless(reason)}</li>
            ))}
            {finding.verdict.state !== "not_run" &&
              finding.moved.map(({ cause, evidence }) => (
                <li key={cause}>
                  {words.cause}: {words.causeName[cause] ?? cause}: {harmless(evidence)}
                </li>
              ))}
            {finding.again && <li>{words.again(words.state[finding.again.state]!)}</li>}
          </ul>
        </div>
      ))}
    </Block>
  );
}
