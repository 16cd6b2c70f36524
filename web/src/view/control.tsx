// What may be asked of a run that goes on: stop, another rate, a mark. The session answers from when on it holds, or why not.

import { useEffect, useRef } from "preact/hooks";
import { signal } from "@preact/signals";
import type { Run } from "../model.ts";
import { post, served } from "../source.ts";
import { asking } from "../state.ts";
import { t } from "../text/index.ts";

/** What became of the last thing that was asked. */
const answer = signal<{ good: boolean; text: string } | null>(null);

export function steerable(run: Run | null): run is Run {
  return served && run?.state === "live" && !!run.head.id;
}

async function ask(run: Run, what: string, body: object) {
  try {
    const told = (await post(`/api/runs/${encodeURIComponent(run.head.id)}/${what}`, body)) as { at_s?: number };
    answer.value = { good: true, text: t.value.done((told.at_s ?? 0).toFixed(1)) };
  } catch (error) {
    answer.value = { good: false, text: error instanceof Error ? error.message : String(error) };
  }
}

/** `20k`, `1.5M` and `300` as numbers; what is none of them is NaN. */
export function rateOf(text: string): number {
  const found = /^\s*(\d+(?:\.\d+)?)\s*([kM]?)\s*(?:\/s)?\s*$/.exec(text);
  return found ? Number(found[1]) * ({ k: 1e3, M: 1e6 }[found[2]!] ?? 1) : NaN;
}

export function Control({ run }: { run: Run }) {
  const words = t.value;
  const rate = useRef<HTMLInputElement>(null);
  const open = run.columns.has("asked");
  const apply = (event: Event) => {
    event.preventDefault();
    const per_second = rateOf(rate.current?.value ?? "");
    if (per_second > 0) void ask(run, "rate", { per_second });
    else answer.value = { good: false, text: words.noRate };
  };
  return (
    <section class="control" aria-label={words.control}>
      <button type="button" class="stop" onClick={() => (asking.value = "stop")}>
        {words.stop}
      </button>
      {open && (
        <form onSubmit={apply}>
          <label>
            {words.rate} <input ref={rate} inputMode="decimal" size={7} placeholder="20k" aria-describedby="per-second" />
          </label>
          <span id="per-second">/s</span>
          <button type="submit">{words.apply}</button>
        </form>
      )}
      <button type="button" onClick={() => (asking.value = "mark")}>
        {words.mark}
      </button>
      <span role="status" class={answer.value?.good === false ? "refused" : "done"}>
        {answer.value?.text ?? ""}
      </span>
      <Ask what="stop" run={run} />
      <Ask what="mark" run={run} />
    </section>
  );
}

function Ask({ what, run }: { what: "stop" | "mark"; run: Run }) {
  const words = t.value;
  const dialog = useRef<HTMLDialogElement>(null);
  const text = useRef<HTMLInputElement>(null);
  const isOpen = asking.value === what;
  useEffect(() => {
    if (isOpen && !dialog.current?.open) dialog.current?.showModal();
    if (!isOpen) dialog.current?.close();
  }, [isOpen]);
  const send = (event: Event) => {
    event.preventDefault();
    asking.value = "";
    if (what === "stop") void ask(run, "stop", {});
    else void ask(run, "mark", { text: text.current?.value ?? "" });
    if (text.current) text.current.value = "";
  };
  return (
    <dialog ref={dialog} class="ask" aria-labelledby={`ask-${what}`} onClose={() => isOpen && (asking.value = "")}>
      <form onSubmit={send}>
        <p id={`ask-${what}`}>{what === "stop" ? words.stopAsk : words.markAsk}</p>
        {what === "mark" && <input ref={text} required maxLength={200} aria-labelledby={`ask-${what}`} />}
        <p class="choice">
          <button type="submit" class={what === "stop" ? "stop" : "primary"}>
            {what === "stop" ? words.stop : words.ok}
          </button>
          <button type="button" onClick={() => (asking.value = "")}>
            {words.cancel}
          </button>
        </p>
      </form>
    </dialog>
  );
}
