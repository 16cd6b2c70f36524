// What stands below the charts: thresholds, failures with their evidence, notes, machine, plan, the report as text.

import { useSignal } from "@preact/signals";
import { clock, count, harmless, time } from "../format.ts";
import type { Piece, Run } from "../model.ts";
import { language, t } from "../text/index.ts";
import { inChinese } from "../text/notes.ts";

export function Thresholds({ run }: { run: Run }) {
  const words = t.value;
  if (run.thresholds.length === 0) return null;
  return (
    <section class="block" aria-labelledby="thresholds">
      <h2 id="thresholds">{words.thresholds}</h2>
      <table class="cards">
        <thead>
          <tr>
            <th scope="col">{words.condition}</th>
            <th scope="col">{words.conditionAsks}</th>
            <th scope="col">{words.value}</th>
            <th scope="col">{words.verdict}</th>
          </tr>
        </thead>
        <tbody>
          {run.thresholds.map((one) => (
            <tr key={one.condition}>
              <th scope="row" data-name={words.condition}>
                <code>{harmless(one.condition)}</code>
              </th>
              <td data-name={words.conditionAsks}>{words.asks[one.names] ?? one.names}</td>
              <td data-name={words.value}>{one.shown ?? "–"}</td>
              <td data-name={words.verdict} class={one.violated ? "bad" : ""}>
                {one.unevaluated ? words.unevaluated : one.violated ? `✕ ${words.violated}` : `✓ ${words.held}`}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

export function Failures({ run }: { run: Run }) {
  const words = t.value;
  return (
    <section class="block" aria-labelledby="failures">
      <h2 id="failures">{words.failures}</h2>
      {run.failures.length === 0 ? (
        <p class="soft">{words.noFailures}</p>
      ) : (
        <table class="cards">
          <thead>
            <tr>
              <th scope="col">{words.kind}</th>
              <th scope="col">{words.stage}</th>
              <th scope="col">{words.errno}</th>
              <th scope="col">{words.count}</th>
              <th scope="col">{words.firstSeen}</th>
            </tr>
          </thead>
          <tbody>
            {run.failures.map((one) => (
              <tr key={`${one.name}${one.stage}`}>
                <th scope="row" data-name={words.kind}>
                  {words.kindName[one.name] ?? harmless(one.text)}
                </th>
                <td data-name={words.stage}>{one.stage ? (words.stageName[one.stage] ?? one.stage) : "–"}</td>
                <td data-name={words.errno}>{one.errno ? harmless(one.errno) : "–"}</td>
                <td data-name={words.count} class="bad">
                  {count(one.count)}
                </td>
                <td data-name={words.firstSeen}>{firstSeen(run, one.column)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {run.lost.length > 0 && <LostRequests run={run} />}
      {run.slowest.length > 0 && <SlowestRequests run={run} />}
      {run.evidence.map((one, n) => (
        <Proof key={n} one={one} />
      ))}
      {run.evidence_left > 0 && <p class="soft">{words.evidenceLeft(count(run.evidence_left))}</p>}
    </section>
  );
}

/** The first requests that no answer came to. */
function LostRequests({ run }: { run: Run }) {
  const words = t.value;
  return (
    <details class="proof">
      <summary>
        <b>{words.lostRequests}</b>
      </summary>
      <table class="cards">
        <thead>
          <tr>
            <th scope="col">{words.lostTitle}</th>
            <th scope="col">{words.lostBegun}</th>
            <th scope="col">{words.lostWaited}</th>
          </tr>
        </thead>
        <tbody>
          {run.lost.map((one, n) => (
            <tr key={n}>
              <th scope="row" data-name={words.lostTitle}>
                {harmless(one.title)}
              </th>
              <td data-name={words.lostBegun}>{`${one.begun_s.toFixed(2)} s`}</td>
              <td data-name={words.lostWaited}>{time(one.waited_s * 1e6)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

/** The slowest requests that carried a trace context. */
function SlowestRequests({ run }: { run: Run }) {
  const words = t.value;
  return (
    <details class="proof">
      <summary>
        <b>{words.slowestRequests}</b>
      </summary>
      <table class="cards">
        <thead>
          <tr>
            <th scope="col">{words.lostTitle}</th>
            <th scope="col">{words.slowestAnswer}</th>
            <th scope="col">{words.slowestDue}</th>
            <th scope="col">{words.slowestResponse}</th>
            <th scope="col">{words.traceId}</th>
          </tr>
        </thead>
        <tbody>
          {run.slowest.map((one, n) => (
            <tr key={n}>
              <th scope="row" data-name={words.lostTitle}>
                {harmless(one.title)}
              </th>
              <td data-name={words.slowestAnswer}>{harmless(one.text)}</td>
              <td data-name={words.slowestDue}>{`${one.due_s.toFixed(2)} s`}</td>
              <td data-name={words.slowestResponse}>{time(one.response_us)}</td>
              <td data-name={words.traceId}>
                <code>{harmless(one.trace_id)}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

function firstSeen(run: Run, name: string | undefined): string {
  const column = name ? run.columns.get(name) : undefined;
  const row = column ? column.findIndex((n) => n > 0) : -1;
  return row < 0 ? "–" : clock(Math.floor(run.at[row]! - run.seconds[row]!));
}

function Proof({ one }: { one: Piece }) {
  const words = t.value;
  return (
    <details class="proof">
      <summary>
        <b>{harmless(one.text)}</b> · {harmless(one.title)} · {clock(one.at_s)}
      </summary>
      <p>{harmless(one.detail)}</p>
      {one.trace_id && (
        <p>
          {words.traceId} <code>{harmless(one.trace_id)}</code>
        </p>
      )}
      {one.parts.map(([name, text]) => (
        <div key={name}>
          <h3>{words.partName[name] ?? name}</h3>
          <pre tabIndex={0}>{harmless(text)}</pre>
        </div>
      ))}
    </details>
  );
}

export function Notes({ run }: { run: Run }) {
  const words = t.value;
  return (
    <section class="block" aria-labelledby="notes">
      <h2 id="notes">{words.notes}</h2>
      {run.notes.length === 0 ? (
        <p class="soft">{words.noNotes}</p>
      ) : (
        <ul class="notes">
          {run.notes.map((note, n) => (
            <li key={n}>{harmless(language.value === "zh" ? inChinese(note.text) : note.text)}</li>
          ))}
        </ul>
      )}
    </section>
  );
}

export function Machine({ run }: { run: Run }) {
  const words = t.value;
  return (
    <section class="block" aria-labelledby="machine">
      <h2 id="machine">{words.machine}</h2>
      {run.head.machine.length > 0 && (
        <dl class="facts-list">
          {run.head.machine.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{harmless(value)}</dd>
            </div>
          ))}
        </dl>
      )}
      <h3>{words.command}</h3>
      <div class="command">
        <pre tabIndex={0}>{harmless(run.head.command)}</pre>
        <Copy text={run.head.command} />
      </div>
      {run.head.plan && (
        <details>
          <summary>{words.plan}</summary>
          <pre tabIndex={0}>{harmless(run.head.plan)}</pre>
        </details>
      )}
      {run.text && (
        <details>
          <summary>{words.textReport}</summary>
          <pre tabIndex={0}>{harmless(run.text)}</pre>
        </details>
      )}
    </section>
  );
}

export function Copy({ text }: { text: string }) {
  const done = useSignal(false);
  if (!navigator.clipboard) return null;
  const copy = () => {
    navigator.clipboard.writeText(text).then(
      () => {
        done.value = true;
        setTimeout(() => (done.value = false), 2000);
      },
      () => undefined,
    );
  };
  return (
    <button type="button" class="small" onClick={copy}>
      {done.value ? t.value.copied : t.value.copy}
    </button>
  );
}
