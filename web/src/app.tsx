import { useEffect } from "preact/hooks";
import { language, t } from "./text/index.ts";
import { compared, decision, run, trouble, view } from "./state.ts";
import { DecisionView } from "./decision/view.tsx";
import { Compare } from "./view/compare.tsx";
import { Header } from "./view/header.tsx";
import { Help } from "./view/help.tsx";
import { History } from "./view/history.tsx";
import { RunView } from "./view/run.tsx";
import { Start } from "./view/start.tsx";

export function App() {
  const shown = run.value;
  useEffect(() => {
    document.documentElement.lang = language.value === "zh" ? "zh-CN" : "en";
  }, [language.value]);
  return (
    <>
      <Header run={shown} />
      <Shown />
      <Help />
    </>
  );
}

// Each stands here and not inside `App`: what a component makes anew at each record is another component, whose inputs lose what is typed.

function Shown() {
  const shown = run.value;
  if (decision.value) return <DecisionView decision={decision.value} />;
  if (view.value === "history") return <History />;
  if (view.value === "start") return <Start />;
  if (view.value === "compare" && compared.value.length === 2) return <Compare />;
  return shown ? <RunView run={shown} /> : <Nothing />;
}

function Nothing() {
  const words = t.value;
  const why = trouble.value;
  return (
    <main>
      <p class="nothing">{why === "" ? words.loading : why === "none" ? words.noRunHere : words.cannotRead(why)}</p>
    </main>
  );
}
