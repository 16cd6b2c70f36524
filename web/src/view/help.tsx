// The keys, a switch that turns them off (WCAG 2.1.4), and what the figures mean.

import { useEffect, useRef } from "preact/hooks";
import { helpOpen, keysOn, toggleKeys } from "../state.ts";
import { t } from "../text/index.ts";

export function Help() {
  const words = t.value;
  const dialog = useRef<HTMLDialogElement>(null);
  const open = helpOpen.value;
  useEffect(() => {
    if (open && !dialog.current?.open) dialog.current?.showModal();
    if (!open) dialog.current?.close();
  }, [open]);
  return (
    <dialog ref={dialog} aria-labelledby="help" onClose={() => (helpOpen.value = false)}>
      <h2 id="help">{words.keys}</h2>
      <dl class="keys">
        {Object.entries(words.keyHelp).map(([key, text]) => (
          <div key={key}>
            <dt>
              {key.split(" ").map((one) => (
                <kbd key={one}>{one}</kbd>
              ))}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <label class="check">
        <input type="checkbox" checked={keysOn.value} onChange={toggleKeys} /> {words.keysOn}
      </label>
      <h2>{words.honest}</h2>
      <ul>
        {words.honestText.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
      <button type="button" onClick={() => (helpOpen.value = false)}>
        {words.close}
      </button>
    </dialog>
  );
}
