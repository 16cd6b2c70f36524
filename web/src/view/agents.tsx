// The machines that made a run together: agents that carried its load, and those that served its origin.

import { bytes, count, harmless, time } from "../format.ts";
import type { Run } from "../model.ts";
import { t } from "../text/index.ts";
import type { LostAgent } from "../packed.ts";

export function Agents({ run }: { run: Run }) {
  return (
    <>
      {run.agents.length > 0 && <OfLoad run={run} />}
      {run.origins.length > 0 && <OfOrigin run={run} />}
    </>
  );
}

function OfLoad({ run }: { run: Run }) {
  const words = t.value;
  return (
    <section class="block" aria-labelledby="agents">
      <h2 id="agents">{words.agents}</h2>
      <table class="cards">
        <thead>
          <tr>
            <th scope="col">{words.agent}</th>
            <th scope="col">{words.agentAt}</th>
            <th scope="col">{words.agentWorkers}</th>
            <th scope="col">{words.requests}</th>
            <th scope="col">{words.good}</th>
            <th scope="col">p99</th>
            <th scope="col">{words.agentBegan}</th>
            <th scope="col">{words.agentEnd}</th>
          </tr>
        </thead>
        <tbody>
          {run.agents.map((one) => (
            <tr key={one.name}>
              <th scope="row" data-name={words.agent}>
                {harmless(one.name)}
              </th>
              <td data-name={words.agentAt}>
                <code>{harmless(one.at)}</code>
              </td>
              <td data-name={words.agentWorkers}>{count(one.threads)}</td>
              <td data-name={words.requests}>{count(one.requests)}</td>
              <td data-name={words.good}>{count(one.ok)}</td>
              <td data-name="p99">{one.p99_us === null ? "–" : time(one.p99_us)}</td>
              <td data-name={words.agentBegan}>{`+${time(one.late_us)} ± ${time(one.clock_error_us)}`}</td>
              <End lost={one.lost} bound={one.reasons} />
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function OfOrigin({ run }: { run: Run }) {
  const words = t.value;
  return (
    <section class="block" aria-labelledby="origins">
      <h2 id="origins">{words.origins}</h2>
      <table class="cards">
        <thead>
          <tr>
            <th scope="col">{words.originName}</th>
            <th scope="col">{words.agentAt}</th>
            <th scope="col">{words.originListens}</th>
            <th scope="col">{words.agentWorkers}</th>
            <th scope="col">{words.originConnections}</th>
            <th scope="col">{words.requests}</th>
            <th scope="col">{words.originFull}</th>
            <th scope="col">{words.originBodies}</th>
            <th scope="col">{words.agentEnd}</th>
          </tr>
        </thead>
        <tbody>
          {run.origins.map((one) => (
            <tr key={one.name}>
              <th scope="row" data-name={words.originName}>
                {harmless(one.name)}
              </th>
              <td data-name={words.agentAt}>
                <code>{harmless(one.at)}</code>
              </td>
              <td data-name={words.originListens}>
                <code>{harmless(one.listens_at)}</code>
              </td>
              <td data-name={words.agentWorkers}>{count(one.threads)}</td>
              <td data-name={words.originConnections}>{count(one.connections)}</td>
              <td data-name={words.requests}>{count(one.requests)}</td>
              <td data-name={words.originFull}>{count(one.full)}</td>
              <td data-name={words.originBodies}>{bytes(one.body_bytes)}</td>
              <End lost={one.lost} />
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** How it ended: it told all, or it was lost, with the reason; and why its own machine was the limit. */
function End({ lost, bound = [] }: { lost: LostAgent | undefined; bound?: string[] | undefined }) {
  const words = t.value;
  return (
    <td data-name={words.agentEnd} class={lost || bound.length > 0 ? "bad" : ""}>
      {lost ? `✕ ${words.agentLost(lost.at_s.toFixed(1))}: ${harmless(lost.why)}` : `✓ ${words.agentToldAll}`}
      {bound.map((reason) => (
        <div key={reason}>{harmless(reason)}</div>
      ))}
    </td>
  );
}
