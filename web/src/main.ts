// Reads the data of the page and shows it; without WebGL2 the static page stays.

import { App } from "./app";
import { Blob64 } from "./blob";
import * as keys from "./keys";
import { Model } from "./model";
import { poster } from "./poster";
import { report } from "./report";
import "uplot/dist/uPlot.min.css";
import "./page.css";

declare global {
  interface Window { darkfiber?: { app?: App; model: Model; ready: number } }
}

/** After a frame was shown; a page that is not looked at shows none. */
function painted(): Promise<void> {
  return new Promise((go) => {
    const late = setTimeout(go, 250);
    requestAnimationFrame(() => { clearTimeout(late); setTimeout(go, 0); });
  });
}

async function main(): Promise<void> {
  const data = document.getElementById("data"), root = document.getElementById("app");
  if (!data || !root) return;
  performance.mark("begin");
  const model = new Model(await Blob64.read(data.textContent ?? ""));
  performance.mark("decoded");
  data.remove();
  let first: HTMLElement | undefined;
  if (model.switches && "WebGL2RenderingContext" in window) {
    const theme = matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark";
    document.documentElement.dataset.theme = theme;
    document.body.classList.add("starting");
    first = document.body.appendChild(poster(model, theme));
    await painted();
    await painted();
  }
  root.hidden = false;
  document.body.classList.add("live");
  // Some results are of no one fabric: charts and tables are all there is.
  if (!model.switches && (model.about.charts.length || model.about.sheets.length)) {
    report(root, model);
    window.darkfiber = { model, ready: performance.now() };
    return;
  }
  const app = App.on(root, model);
  if (!app) {
    root.hidden = true;
    document.body.classList.remove("live", "starting");
    first?.remove();
    return;
  }
  performance.mark("built");
  keys.listen(app);
  app.draw();
  void painted().then(painted).then(() => {
    document.body.classList.remove("starting");
    first?.remove();
    performance.mark("shown");
  });
  // For scripts that look at the page, as its tests do.
  window.darkfiber = { app, model, ready: performance.now() };
}

main().catch((e: unknown) => {
  document.body.classList.remove("live", "starting");
  document.getElementById("poster")?.remove();
  console.error(e);
});
