import { render } from "preact";
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { App } from "./app.tsx";
import { listen } from "./keys.ts";
import { load } from "./source.ts";

const app = document.getElementById("app");
if (app) {
  render(<App />, app);
  listen();
  void load();
}
