// The form that starts a run. What it means, and what is wrong with it, is said by the server, which reads it as a command line; the
// text of a plan is checked in the same way. Nothing is run before somebody presses the button.

import { signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { harmless } from "../format.ts";
import { type Checked, type Mistake, type Wanted, check, start } from "../source.ts";
import { t } from "../text/index.ts";
import { Copy } from "./sections.tsx";

const KINDS = ["http", "cache", "tcp", "plan"] as const;
type Kind = (typeof KINDS)[number];

/** The fields that each kind has beside the common ones, by their names in the server's form. */
const OWN: Record<Exclude<Kind, "plan">, string[]> = {
  http: ["expect_status", "expect_text"],
  cache: ["hit_ratio", "origin"],
  tcp: ["message", "framing"],
};
const EXAMPLE: Record<string, string> = {
  http: "http://127.0.0.1:8080/",
  cache: "127.0.0.1:8080",
  tcp: "127.0.0.1:7000",
  users: "50",
  rate: "2k/s",
  duration: "10s",
  fail_if: "p99>50ms,errors>0.1%",
  expect_status: "2xx",
  expect_text: "",
  hit_ratio: "85%",
  origin: "127.0.0.1:9080",
  message: "ping",
  framing: "lines",
};
const EXAMPLE_FORM: Wanted = { form: { kind: "http", target: EXAMPLE.http!, users: EXAMPLE.users!, duration: EXAMPLE.duration! } };
/** How long the text rests before it is checked, in milliseconds. */
const REST = 300;

// Kept while the page is: whoever looks at another run comes back to what was typed.
const kind = signal<Kind>("http");
const pace = signal<"users" | "rate">("users");
const typed = signal<Record<string, string>>({ users: "50", duration: "10s" });
const plan = signal("");

function wanted(): Wanted {
  if (kind.value === "plan") return { plan: plan.value };
  const fields = ["target", pace.value, "duration", "fail_if", ...OWN[kind.value]];
  return { form: { kind: kind.value, ...Object.fromEntries(fields.map((name) => [name, (typed.value[name] ?? "").trim()])) } };
}

export function Start() {
  const words = t.value;
  const checked = useSignal<Checked | null>(null);
  const problem = useSignal("");
  const busy = useSignal(false);
  const text = useRef<HTMLTextAreaElement>(null);
  const isPlan = kind.value === "plan";
  const isEmpty = isPlan ? plan.value.trim() === "" : (typed.value.target ?? "").trim() === "";
  const wish = JSON.stringify(wanted());
  useEffect(() => {
    checked.value = null;
    problem.value = "";
    if (isEmpty) return undefined;
    let stale = false;
    const wait = setTimeout(() => {
      check(JSON.parse(wish) as Wanted).then(
        (found) => !stale && (checked.value = found),
        (error) => !stale && (problem.value = error instanceof Error ? error.message : String(error)),
      );
    }, REST);
    return () => {
      stale = true;
      clearTimeout(wait);
    };
  }, [wish]);
  const begin = (event: Event) => {
    event.preventDefault();
    busy.value = true;
    problem.value = "";
    start(wanted()).then(
      (id) => location.assign(`/?run=${encodeURIComponent(id)}`),
      (error) => {
        busy.value = false;
        problem.value = error instanceof Error ? error.message : String(error);
      },
    );
  };
  const edit = () => {
    plan.value = checked.value?.plan ?? "";
    kind.value = "plan";
  };
  // An empty sheet helps nobody: a plan begins as that of the form.
  useEffect(() => {
    if (!isPlan || plan.value !== "") return;
    check(EXAMPLE_FORM).then(
      (found) => (plan.value ||= found.plan),
      () => undefined,
    );
  }, [isPlan]);
  const mistakes = checked.value?.mistakes ?? [];
  const show = (line: number) => {
    const lines = plan.value.split("\n");
    const from = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
    text.current?.focus();
    text.current?.setSelectionRange(from, from + (lines[line - 1]?.length ?? 0));
  };
  return (
    <main>
      <form class="block start" aria-labelledby="new-run" onSubmit={begin}>
        <div class="block-head">
          <h1 id="new-run">{words.newRun}</h1>
          <fieldset class="kinds">
            <legend class="unseen">{words.pressed}</legend>
            {KINDS.map((one) => (
              <label key={one} class={kind.value === one ? "chosen" : ""}>
                <input type="radio" name="kind" checked={kind.value === one} onChange={() => (kind.value = one)} /> {words.startKind[one]}
              </label>
            ))}
          </fieldset>
        </div>
        <p class="soft">{words.startAbout[kind.value]}</p>
        {isPlan ? (
          <Plan text={text} mistakes={mistakes} />
        ) : (
          <>
            <Field name="target" wide mistakes={mistakes} example={EXAMPLE[kind.value]!} />
            <div class="fields">
              <Pace mistakes={mistakes} />
              <Field name="duration" mistakes={mistakes} />
              {OWN[kind.value as Exclude<Kind, "plan">].map((name) => (
                <Field key={name} name={name} mistakes={mistakes} />
              ))}
              <Field name="fail_if" mistakes={mistakes} />
            </div>
          </>
        )}
        <div class="told" role="status" aria-live="polite">
          {isEmpty ? <p class="soft">{words.startEmpty}</p> : !checked.value && !problem.value ? <p class="soft">{words.checking}</p> : null}
          {checked.value && mistakes.length === 0 && (
            <p class="ok">
              <span aria-hidden="true">✓</span> {words.nothingWrong}
            </p>
          )}
          {mistakes.length > 0 && (
            <ul class="mistakes">
              {mistakes.map((one) => (
                <li key={one.text}>
                  <span aria-hidden="true">✕</span>{" "}
                  {isPlan && one.line ? (
                    <button type="button" class="small" onClick={() => show(one.line!)}>
                      {words.line(one.line)}
                    </button>
                  ) : null}{" "}
                  {harmless(one.text)}
                </li>
              ))}
            </ul>
          )}
          {(checked.value?.warnings ?? []).map((warning) => (
            <p class="notice" key={warning}>
              {harmless(warning)}
            </p>
          ))}
          {problem.value && <p class="notice">{harmless(problem.value)}</p>}
        </div>
        {!isPlan && checked.value?.command && (
          <>
            <h2>{words.sameAs}</h2>
            <div class="command">
              <pre>{harmless(checked.value.command)}</pre>
              <Copy text={checked.value.command} />
            </div>
          </>
        )}
        <p class="choice">
          <button type="submit" class="primary" disabled={busy.value || !checked.value || mistakes.length > 0}>
            {busy.value ? words.starting : words.start}
          </button>
          {!isPlan && checked.value?.plan && (
            <button type="button" onClick={edit}>
              {words.asPlan}
            </button>
          )}
        </p>
      </form>
    </main>
  );
}

function set(name: string, value: string) {
  typed.value = { ...typed.value, [name]: value };
}

function Field({ name, mistakes, wide = false, example }: { name: string; mistakes: Mistake[]; wide?: boolean; example?: string }) {
  const words = t.value;
  const wrong = mistakes.some((one) => one.field === name);
  return (
    <label class={`field ${wide ? "whole" : ""}`}>
      <span>{words.field[name]}</span>
      <input
        name={name}
        value={typed.value[name] ?? ""}
        placeholder={example ?? EXAMPLE[name] ?? ""}
        aria-invalid={wrong}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => set(name, event.currentTarget.value)}
      />
    </label>
  );
}

/** Users, who wait for their answers, or a rate, which does not: one of the two. */
function Pace({ mistakes }: { mistakes: Mistake[] }) {
  const words = t.value;
  return (
    <fieldset class="pace">
      <legend>{words.paceBy}</legend>
      {(["users", "rate"] as const).map((one) => (
        <label key={one}>
          <input type="radio" name="pace" checked={pace.value === one} onChange={() => (pace.value = one)} /> {words.field[one]}
        </label>
      ))}
      <input
        name={pace.value}
        aria-label={words.field[pace.value]}
        aria-invalid={mistakes.some((one) => one.field === pace.value)}
        value={typed.value[pace.value] ?? ""}
        placeholder={EXAMPLE[pace.value]!}
        autocomplete="off"
        onInput={(event) => set(pace.value, event.currentTarget.value)}
      />
    </fieldset>
  );
}

/** The text of a plan, with the numbers of its lines beside it. */
function Plan({ text, mistakes }: { text: { current: HTMLTextAreaElement | null }; mistakes: Mistake[] }) {
  const words = t.value;
  const numbers = useRef<HTMLPreElement>(null);
  const lines = plan.value.split("\n").length;
  const wrong = new Set(mistakes.map((one) => one.line));
  return (
    <div class="plan">
      <pre ref={numbers} aria-hidden="true">
        {Array.from({ length: lines }, (_, n) => (
          <span key={n} class={wrong.has(n + 1) ? "wrong" : ""}>
            {n + 1}
            {"\n"}
          </span>
        ))}
      </pre>
      <textarea
        ref={text}
        aria-label={words.planText}
        aria-invalid={mistakes.length > 0}
        value={plan.value}
        rows={18}
        wrap="off"
        spellcheck={false}
        autocomplete="off"
        onInput={(event) => (plan.value = event.currentTarget.value)}
        onScroll={(event) => numbers.current && (numbers.current.scrollTop = event.currentTarget.scrollTop)}
      />
    </div>
  );
}
