// The top of the page: which run this is, what it is worth, and how far it has come.

import { clock, duration, harmless } from "../format.ts";
import type { Run } from "../model.ts";
import { helpOpen, theme, toggleTheme, trouble, view } from "../state.ts";
import { language, t, toggleLanguage } from "../text/index.ts";
import { served, starts } from "../source.ts";
import { Verdict } from "./verdict.tsx";

export function Header({ run }: { run: Run | null }) {
  const words = t.value;
  return (
    <header class="top">
      <a class="name" href={served ? "/" : "#"} aria-label="wringer">
        <Logo />
        wringer
      </a>
      {run && view.value === "run" && <StateOf run={run} />}
      <nav class="switches" aria-label={words.help}>
        {starts && (
          <a class="button" href="/?view=new" aria-current={view.value === "start" ? "page" : undefined}>
            {words.newRun}
          </a>
        )}
        {served && (
          <a class="button" href="/?view=history" aria-current={view.value === "history" ? "page" : undefined}>
            {words.history}
          </a>
        )}
        <button type="button" onClick={toggleLanguage} aria-label={`${words.language}: ${words.languageName}`} lang={language.value === "en" ? "zh" : "en"}>
          {words.language}
        </button>
        <button type="button" onClick={toggleTheme} aria-label={words.theme} aria-pressed={theme.value === "dark"}>
          ◐
        </button>
        <button type="button" onClick={() => (helpOpen.value = true)} aria-label={words.help}>
          ?
        </button>
      </nav>
    </header>
  );
}

/** Two rollers with something between them. */
function Logo() {
  return (
    <svg width="22" height="22" viewBox="0 0 22 22" aria-hidden="true">
      <circle cx="11" cy="6" r="4.2" fill="none" stroke="currentColor" stroke-width="2" />
      <circle cx="11" cy="16" r="4.2" fill="none" stroke="currentColor" stroke-width="2" />
      <path d="M1 11h20" stroke="currentColor" stroke-width="2" />
    </svg>
  );
}

function StateOf({ run }: { run: Run }) {
  const words = t.value;
  const text = run.state === "live" ? words.live : run.state === "open" ? words.open : run.state === "cut" ? words.cut : run.interrupted ? words.interrupted : words.ended;
  return <span class={`state ${run.state} ${run.interrupted ? "broken" : ""}`}>{text}</span>;
}

/** Target, run, time; then the verdict, which is what the eye should meet before any figure. */
export function Headline({ run }: { run: Run }) {
  const words = t.value;
  const { head } = run;
  const started = new Date(head.started_unix_s * 1000);
  const total = run.phases.at(-1)?.planned_end_s ?? run.phases.at(-1)?.ended_s;
  const now = run.state === "live" && total ? words.timeOf(clock(Math.floor(run.took_s)), clock(total)) : duration(run.took_s);
  return (
    <section class="headline">
      <h1>{harmless(head.target || head.command)}</h1>
      <p class="facts">
        <time dateTime={started.toISOString()}>
          {started.toLocaleString(language.value === "zh" ? "zh-CN" : "en-GB", { dateStyle: "medium", timeStyle: "medium" })}
        </time>
        <span>{now}</span>
        {run.state === "live" && <PhaseNow run={run} />}
        {head.id && (
          <span>
            {words.run} <code>{head.id.replaceAll("-", "").slice(-8)}</code>
          </span>
        )}
        <span>wringer {head.version}</span>
        {head.labels.map((label) => (
          <span class="label" key={label}>
            {harmless(label)}
          </span>
        ))}
      </p>
      <Verdict run={run} />
      {trouble.value === "lost" && <p class="notice">{words.lost}</p>}
      {trouble.value === "over" && <p class="notice">{words.over}</p>}
    </section>
  );
}

function PhaseNow({ run }: { run: Run }) {
  const last = run.phases.length - 1;
  if (last < 0) return null;
  return (
    <span>
      {t.value.phase} {harmless(run.phases[last]!.name)} {t.value.phaseOf(last + 1, run.phases.length)}
    </span>
  );
}
