// Jobs, the fullest channels, and findings: lists beside the map.

import { el, row, section, swatch } from "./dom";
import { count, group, value } from "./format";
import type { Model } from "./model";
import { apart, css, heat, jobColour, type Theme } from "./scale";
import type { Store } from "./state";
import type { Now } from "./values";

const JOBS = 40, JOBS_BESIDE_CHARTS = 12, FULLEST = 10, FINDINGS = 60;

export function jobs(model: Model, store: Store, theme: Theme): HTMLElement | null {
  if (!model.jobs.length) return null;
  const chosen = store.now.job;
  const most = model.about.charts.length ? JOBS_BESIDE_CHARTS : JOBS;
  const shown = model.jobs.slice(0, most).map((_, j) => j);
  if (chosen !== null && chosen >= most) shown.push(chosen);
  return section("Jobs", ...shown.map((j) => {
    const job = model.jobs[j], button = row(() => store.set({ job: store.now.job === j ? null : j }),
      swatch(jobColour(theme, j)), el("span", { class: "grow" }, job.name),
      el("span", { class: "number" }, `${count(job.hosts.length, "host")}${job.fact ? ` \u00b7 ${job.fact}` : ""}`));
    button.setAttribute("aria-pressed", String(chosen === j));
    button.dataset.job = String(j);
    return button;
  }), model.jobs.length > most ? el("p", { class: "faint" }, `and ${group(model.jobs.length - most)} more: find them by name`) : null,
  chosen !== null ? row(() => store.set({ job: null }), el("span", { class: "grow" }, "Show all jobs")) : null);
}

export function fullest(model: Model, store: Store, now: Now, theme: Theme, when: string): HTMLElement | null {
  if (!now.channel.length) return null;
  const order = Array.from(now.channel.keys());
  const top = order.sort((a, b) => now.heat[b] - now.heat[a] || now.channel[a] - now.channel[b]).slice(0, FULLEST);
  return section(now.apart ? "Differ most" : `Fullest${when}`, ...top.map((i) => {
    const c = now.channel[i], button = row(() => store.set({ chosen: { kind: "cable", id: c >> 1 } }),
      swatch(css(now.apart ? apart(theme)((now.value[i] / now.scale.max + 1) / 2) : heat(theme)(now.heat[i]))),
      el("span", { class: "grow" }, model.short(model.tail(c)), el("small", {}, ` p${model.tailPort(c)}`), " \u2192 ",
        model.short(model.head(c)), el("small", {}, ` p${model.inPort(c)}`)),
      el("span", { class: "number" }, value(now.value[i], now.unit)));
    button.dataset.channel = String(c);
    return button;
  }));
}

export function findings(model: Model, store: Store): HTMLElement | null {
  const all = model.about.findings;
  if (!all.length) return null;
  const mark = { error: "\u2715", warning: "!", note: "i" };
  return section("Findings", ...all.slice(0, FINDINGS).map((f, i) => {
    const button = row(() => store.set({ chosen: { kind: "finding", id: i } }),
      el("span", { class: `mark ${f.severity}`, title: f.severity }, mark[f.severity]), el("span", { class: "grow wrap" }, f.message));
    button.dataset.finding = String(i);
    return button;
  }));
}

export function about(model: Model): HTMLElement {
  const { facts, origin } = model.about;
  return el("details", { class: "about" }, el("summary", {}, "About this page"),
    el("dl", {}, ...facts.flatMap(([a, b]) => [el("dt", {}, a), el("dd", {}, b)]),
      el("dt", {}, "command"), el("dd", {}, el("code", {}, origin.command)),
      el("dt", {}, "darkfiber"), el("dd", {}, origin.version), el("dt", {}, "seed"), el("dd", {}, String(origin.seed)),
      el("dt", {}, "fabric"), el("dd", {}, el("code", {}, origin.digest))),
    el("p", { class: "faint" }, "Drag to move, scroll to zoom. Keys: / find, space play, \u2190 \u2192 time, + \u2212 0 zoom, w a s d move, t table, l light or dark, Esc back."));
}
