// What was clicked: a cable, a switch, a host, a way between two hosts, a finding.

import { sparkline } from "./chart";
import { el, row, section, swatch } from "./dom";
import { count, group, moment, value } from "./format";
import { NO_LANE, type Model, type Series, type Unit } from "./model";
import { jobColour, type Theme } from "./scale";
import type { Chosen, Store } from "./state";
import { way, type Way } from "./ways";

export class Detail {
  readonly root = el("div", { id: "detail", "aria-live": "polite" });
  private tables: Model["tables"] | null = null;
  constructor(private readonly model: Model, private readonly store: Store, private readonly theme: () => Theme) {}

  /** The way of the path that is chosen. */
  way(from: number, to: number): Way | undefined {
    this.tables ??= this.model.tables;
    return this.tables && way(this.model, this.tables, from, to);
  }

  show(chosen: Chosen | null): void {
    this.root.replaceChildren(...(chosen ? this.parts(chosen) : []));
    if (chosen) {
      this.root.prepend(el("button", {
        type: "button", class: "close", "aria-label": "Close", click: () => this.store.set({ chosen: null }),
      }, "\u00d7"));
    }
  }

  private parts(chosen: Chosen): HTMLElement[] {
    switch (chosen.kind) {
      case "cable": return this.cable(chosen.id, chosen.among ?? []);
      case "switch": return this.switch(chosen.id);
      case "host": return this.host(chosen.id);
      case "path": return this.path(chosen.from, chosen.to);
      case "finding": return this.finding(chosen.id);
    }
  }

  private choose(chosen: Chosen): void { this.store.set({ chosen }); }

  /** Both directions; those that lay below the pointer, too. */
  private cable(id: number, among: number[]): HTMLElement[] {
    const { model } = this;
    const parts = [section("Cable", ...[2 * id, 2 * id + 1].map((c) => this.channel(c)))];
    if (among.length > 1) {
      parts.push(section(`${among.length} cables below the pointer${this.whole}`, ...among.slice(0, 12).map((c) =>
        row(() => this.choose({ kind: "cable", id: c, among }),
          el("span", { class: c === id ? "grow now" : "grow" }, `${model.short(model.from[c])} \u2014 ${model.short(model.to[c])}`),
          el("span", { class: "number" }, this.load(2 * c) + " \u00b7 " + this.load(2 * c + 1))))));
    }
    return parts;
  }

  /** What numbers beside cables are of, where the map shows a moment. */
  private get whole(): string {
    const { time, view } = this.store.now;
    return time !== null && this.model.views[view]?.series ? ", over all of the time" : "";
  }

  private load(c: number): string {
    const view = this.model.views[this.store.now.view];
    return view ? value(view.load[c], view.unit) : "";
  }

  private channel(c: number): HTMLElement {
    const { model } = this, view = model.views[this.store.now.view];
    const made = el("div", { class: "channel", "data-channel": c }, el("h3", {},
      this.link(model.tail(c)), el("small", {}, ` p${model.tailPort(c)} `), "\u2192 ", this.link(model.head(c)),
      el("small", {}, ` p${model.inPort(c)}`)));
    if (view) {
      made.append(el("p", { class: "big" }, value(view.load[c], view.unit),
        el("small", {}, view.unit === "share" ? " of its rate, over all of the time" : view.unit === "bytes" ? "" : view.unit === "errors" ? " symbol errors at its end" : view.unit === "failure" ? ` if this cable fails: ${view.name}` : ` ${view.unit}${view.series ? ", mean of the moments of the slider" : ""}`)));
      const lane = view.lanes?.[c] ?? NO_LANE;
      if (lane !== NO_LANE) made.append(el("p", { class: "faint" }, `most of its routes in virtual lane ${lane}`));
      if (view.series) made.append(sparkline(view.series, c, this.theme()));
    }
    made.append(...this.sharers(c));
    return made;
  }

  /** Jobs on a channel, the most first. */
  private sharers(c: number): HTMLElement[] {
    const { model } = this, found: [number, number][] = [];
    model.jobs.forEach((job, j) => {
      const i = search(job.channels, c);
      if (i >= 0) found.push([j, job.load[i]]);
    });
    found.sort((a, b) => b[1] - a[1] || a[0] - b[0]);
    const sum = found.reduce((n, f) => n + f[1], 0), unit = this.jobUnit();
    return found.slice(0, 12).map(([j, load]) => {
      const share = load / sum, colour = jobColour(this.theme(), j);
      return el("button", { type: "button", class: "bar", "data-job": j, click: () => this.store.set({ job: j }) },
        el("span", { class: "fill", style: `width:${(100 * share).toFixed(1)}%;background:${colour}` }),
        el("span", { class: "grow" }, model.jobs[j].name),
        el("span", { class: "number" }, `${value(load, unit)} \u00b7 ${Math.round(100 * share)} %`));
    }).concat(found.length > 12 ? [el("p", { class: "faint" }, `and ${found.length - 12} more jobs`) as never] : []);
  }

  private jobUnit(): Unit {
    const view = this.model.views[this.store.now.view];
    return ["share", "bytes", "failure"].includes(view?.unit ?? "") ? "bytes" : "routes";
  }

  private link(s: number): HTMLElement {
    return el("button", { type: "button", class: "link", click: () => this.choose({ kind: "switch", id: s }) }, this.model.short(s));
  }

  private switch(s: number): HTMLElement[] {
    const { model } = this, first = model.cablesAt[s], last = model.cablesAt[s + 1];
    const hosts = Array.from(model.hostsOf.subarray(model.hostsAt[s], model.hostsAt[s + 1]));
    const channels = Array.from(model.cablesOf.subarray(first, last), (c) => 2 * c + (model.from[c] === s ? 0 : 1));
    const view = model.views[this.store.now.view];
    if (view) channels.sort((a, b) => Math.max(view.load[b], view.load[b ^ 1]) - Math.max(view.load[a], view.load[a ^ 1]) || a - b);
    const parts = [
      section("Switch", el("h3", {}, model.name(s)), el("p", { class: "faint" },
        `${model.guid("switch", s)} \u00b7 ${count(last - first, "cable")} \u00b7 ${count(hosts.length, "host")}`)),
      section(`Its cables, fullest first: out \u00b7 in${this.whole}`, ...channels.slice(0, 40).map((c) =>
        row(() => this.choose({ kind: "cable", id: c >> 1 }),
          el("small", {}, `p${model.tailPort(c)}`), el("span", { class: "grow" }, ` ${model.short(model.head(c))}`),
          el("span", { class: "number" }, view ? `${this.load(c)} \u00b7 ${this.load(c ^ 1)}` : "")))),
    ];
    if (hosts.length) {
      parts.push(section("Its hosts", ...hosts.slice(0, 64).map((h) => row(() => this.choose({ kind: "host", id: h }),
        el("small", {}, `p${model.hostPort[h]}`), el("span", { class: "grow" }, ` ${model.hostName(h)}`)))));
    }
    return parts;
  }

  private host(h: number): HTMLElement[] {
    const { model } = this, lid = model.lids?.[h];
    const jobs = model.jobs.flatMap((job, j) => (job.hosts.includes(h) ? [j] : []));
    const parts = [section("Host", el("h3", {}, model.hostName(h)),
      el("p", { class: "faint" }, `${model.guid("terminal", h)}${lid ? ` \u00b7 LID ${lid}` : ""} \u00b7 on `,
        this.link(model.hostSwitch[h]), ` p${model.hostPort[h]}`),
      ...jobs.slice(0, 20).map((j) => row(() => this.store.set({ job: j }),
        swatch(jobColour(this.theme(), j)), el("span", { class: "grow" }, model.jobs[j].name))))];
    const tables = model.about.tables;
    if (tables.kind === "held") {
      const ask = el("input", { type: "search", placeholder: "Way to host \u2026", list: "hosts", "aria-label": "Way to host" });
      ask.addEventListener("change", () => {
        const to = model.hostNamed(ask.value);
        if (to !== undefined) this.choose({ kind: "path", from: h, to });
      });
      parts.push(section("Way to another host", ask));
    } else if (tables.kind === "large") {
      parts.push(section("Way to another host", el("p", { class: "faint" },
        `The tables (${group(tables.entries)} entries) are left out of this page because of their size.`)));
    }
    return parts;
  }

  private path(from: number, to: number): HTMLElement[] {
    const { model } = this, found = this.way(from, to);
    if (!found) return [section("Way", el("p", {}, "This page holds no tables."))];
    const ends = { there: "", lost: "Here the tables end: the pair is lost.", loop: "Here packets come back: a loop." };
    const lid = model.lids?.[to], view = model.views[this.store.now.view], tables = model.about.tables;
    const of = tables.kind === "held" ? `by the tables of ${tables.engine}` : "";
    const loads = model.views.length > 1 && view ? `; loads are of ${view.name}` : "";
    return [section("Way", el("h3", {}, `${model.hostName(from)} \u2192 ${model.hostName(to)}`),
      el("p", { class: "faint" }, of + loads),
      el("p", { class: "faint" }, `${count(found.switches.length, "switch", "switches")}${lid ? ` \u00b7 to LID ${lid + found.path}` : ""}`),
      this.whole ? el("p", { class: "faint" }, this.whole.slice(2)) : null,
      ...found.channels.map((c, i) => row(() => this.choose({ kind: "cable", id: c >> 1 }),
        el("small", {}, `${i + 1}`), el("span", { class: "grow" }, ` ${model.channelName(c)}`),
        el("span", { class: "number" }, view ? this.load(c) : ""))),
      el("p", {}, ends[found.end]),
      row(() => this.choose({ kind: "path", from: to, to: from }), el("span", { class: "grow" }, "The way back \u21c4")))];
  }

  private finding(i: number): HTMLElement[] {
    const { model } = this, f = model.about.findings[i];
    if (!f) return [];
    return [section(f.severity, el("p", {}, f.message), f.hint ? el("p", { class: "faint" }, f.hint) : null,
      ...f.channels.slice(0, 60).map((c) => row(() => this.choose({ kind: "cable", id: c >> 1 }),
        el("span", { class: "grow" }, model.channelName(c)), el("span", { class: "number" }, this.load(c)))),
      ...f.switches.slice(0, 60).map((s) => row(() => this.choose({ kind: "switch", id: s }), el("span", { class: "grow" }, model.short(s)))),
      ...f.pairs.slice(0, 60).map(([a, b]) => row(() => this.choose({ kind: "path", from: a, to: b }),
        el("span", { class: "grow" }, `${model.hostName(a)} \u2192 ${model.hostName(b)}`))))];
  }

  /** Where a moment is told beside a cable. */
  static moment({ begins, interval }: Series, i: number): string {
    return begins === null ? `${moment(null, i * interval)} to ${moment(null, (i + 1) * interval)}` : moment(begins, i * interval);
  }
}

/** The place of a number in a list of them that may be in any order. */
function search(list: Uint32Array, c: number): number {
  return list.indexOf(c);
}
