// Which load is shown: one of several views, the difference of two, colours by load or by job.

import { el } from "./dom";
import type { Model } from "./model";
import type { State, Store } from "./state";

/** What is shown, where that is not what the page says of all of it. */
export function viewName(model: Model, now: State): string | null {
  if (model.views.length < 2 || (now.view === 0 && now.minus === null)) return null;
  const of = (i: number) => model.views[i].name;
  return now.minus === null ? of(now.view) : `${of(now.view)} minus ${of(now.minus)}`;
}

export function viewPicker(model: Model, store: Store): HTMLElement[] {
  const { views, jobs } = model, parts: HTMLElement[] = [];
  const pick = (label: string, options: [string, string][], chosen: string, change: (value: string) => void) =>
    el("label", {}, el("span", {}, label), el("select", { change: (e) => change((e.target as HTMLSelectElement).value) },
      ...options.map(([v, text]) => el("option", { value: v, selected: v === chosen }, text))));
  if (views.length > 1) {
    const names = views.map((v, i): [string, string] => [String(i), v.name]);
    parts.push(pick("Load of", names, String(store.now.view), (v) => store.set({ view: +v, time: null })));
    parts.push(pick("minus", [["", "nothing"], ...names.filter(([i]) => +i !== store.now.view && views[+i].unit === views[store.now.view].unit)],
      store.now.minus === null ? "" : String(store.now.minus), (v) => store.set({ minus: v === "" ? null : +v, time: null })));
  }
  const colours: [State["colour"], string][] = [["load", "load"]];
  if (jobs.some((j) => j.channels.length)) colours.push(["jobs", "job that loads most"]);
  if (views[store.now.view]?.lanes) colours.push(["lanes", "virtual lane of most routes"]);
  if (colours.length > 1) {
    parts.push(pick("Colour by", colours, store.now.colour, (v) => store.set({ colour: v as State["colour"] })));
  }
  return parts;
}
