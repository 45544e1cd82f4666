// What is looked at, in the fragment of the address: a link leads there.

import type { Model } from "./model";
import type { Chosen, State } from "./state";

export function write(state: State, place: string): string {
  const words: string[] = [];
  if (state.view) words.push(`view=${state.view}`);
  if (state.minus !== null) words.push(`minus=${state.minus}`);
  if (state.colour !== "load") words.push(`colour=${state.colour}`);
  if (state.time !== null) words.push(`time=${state.time}`);
  if (state.job !== null) words.push(`job=${state.job}`);
  const c = state.chosen;
  if (c?.kind === "path") words.push(`path=${c.from},${c.to}`);
  else if (c) words.push(`${c.kind}=${c.id}`);
  if (place) words.push(`at=${place}`);
  return words.join("&");
}

/** What a fragment says, as far as it names what is there. */
export function read(text: string, model: Model): { state: Partial<State>; place: string } {
  const words = new URLSearchParams(text.replace(/^#/, ""));
  const number = (name: string, below: number): number | null => {
    const n = words.has(name) ? Number(words.get(name)) : NaN;
    return Number.isInteger(n) && n >= 0 && n < below ? n : null;
  };
  const view = number("view", model.views.length) ?? 0;
  const series = model.views[view]?.series;
  let chosen: Chosen | null = null;
  const limits = { cable: model.cables, switch: model.switches, host: model.hosts, finding: model.about.findings.length };
  for (const kind of ["cable", "switch", "host", "finding"] as const) {
    const id = number(kind, limits[kind]);
    if (id !== null) chosen = { kind, id };
  }
  const ends = (words.get("path") ?? "").split(",").map(Number);
  if (ends.length === 2 && ends.every((h) => Number.isInteger(h) && h >= 0 && h < model.hosts)) chosen = { kind: "path", from: ends[0], to: ends[1] };
  return {
    state: {
      view, minus: number("minus", model.views.length), colour: (["jobs", "lanes"] as const).find((c) => c === words.get("colour")) ?? "load",
      time: number("time", series ? series.start.length - 1 : 0), job: number("job", model.jobs.length), chosen,
    },
    place: words.get("at") ?? "",
  };
}
