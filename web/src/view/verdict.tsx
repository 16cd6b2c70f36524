// The verdict on a run in words: what its figures are worth, and how the target did.

import { harmless } from "../format.ts";
import type { Run, VerdictNames } from "../model.ts";
import type { Texts } from "../text/en.ts";
import { language, t } from "../text/index.ts";
import { inChinese } from "../text/notes.ts";

/** Both halves, always: what the figures are worth, and how the target did. What most answers were comes first. */
export function Verdict({ run }: { run: Run }) {
  const words = t.value;
  const { verdict } = run;
  if (!verdict) {
    const text = run.state === "live" ? words.running : words.unknownVerdict;
    return <Half name={words.verdict} tone={run.state === "live" ? "quiet" : "doubt"} text={text} sentences={[]} />;
  }
  const { measurement, target } = verdict;
  const halves = [
    <Half
      key="measurement"
      name={words.measurementHalf}
      tone={measurement.state === "valid" ? "good" : "doubt"}
      text={words.measurement[measurement.state] ?? measurement.state}
      sentences={measurement.reasons}
    />,
    <Half
      key="target"
      name={words.targetHalf}
      tone={toneOfTarget(target.state)}
      text={words.conduct[target.state] ?? target.state}
      sentences={target.findings.map((finding) => finding.text)}
    />,
  ];
  return <>{target.mostly_bad ? halves.reverse() : halves}</>;
}

/** Tone of how a target did. */
export function toneOfTarget(state: string): Tone {
  return state === "answered" ? "good" : state === "flawed" || state === "not_asked" ? "doubt" : "failed";
}

/** Both words, short, as lists have them; what a word says after a colon is left out. */
export function inWords(names: VerdictNames, words: Texts): string {
  const measurement = words.measurement[names.measurement] ?? names.measurement;
  const target = words.conduct[names.target] ?? names.target;
  const short = [measurement, target].map((text) => text.split(/[::,,]/)[0]!);
  return short.filter((text) => text !== "").join(" · ");
}

type Tone = "good" | "failed" | "doubt" | "quiet";

function Half({ name, tone, text, sentences }: { name: string; tone: Tone; text: string; sentences: string[] }) {
  return (
    <div class={`verdict ${tone}`} role="status">
      <p>
        <Sign tone={tone} />
        <span class="half">{name}</span> <strong>{text}</strong>
      </p>
      {sentences.length > 0 && (
        <ul>
          {sentences.map((sentence) => (
            <li key={sentence}>{harmless(language.value === "zh" ? inChinese(sentence) : sentence)}</li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** A shape per tone, so that no colour has to be seen. */
function Sign({ tone }: { tone: Tone }) {
  const text = { good: "✓", failed: "✕", doubt: "▨", quiet: "…" }[tone];
  return (
    <span class="sign" aria-hidden="true">
      {text}
    </span>
  );
}

