// A page without a map: what was found, charts and tables.

import { Charts } from "./charts";
import { el } from "./dom";
import * as lists from "./lists";
import type { Model } from "./model";
import { Sheets } from "./sheets";
import { Store } from "./state";
import type { Theme } from "./scale";

export function report(root: HTMLElement, model: Model): void {
  let theme: Theme = matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark";
  const store = new Store(), charts = new Charts(model, store, () => theme), sheets = new Sheets(model, true);
  const { about } = model;
  root.replaceChildren(el("div", { class: "report" }, el("h1", {}, about.title), el("p", {}, about.subtitle),
    lists.findings(model, store), charts.root, sheets.root, lists.about(model)), charts.dialog, sheets.dialog);
  const dress = () => { document.documentElement.dataset.theme = theme; charts.show(Math.min(560, innerWidth - 60)); };
  dress();
  document.addEventListener("keydown", (e) => {
    if (e.key !== "l" || e.ctrlKey || e.metaKey || e.altKey) return;
    theme = theme === "dark" ? "light" : "dark";
    dress();
  });
}
