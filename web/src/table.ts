// All channels as a table that can be sorted, and as CSV.

import { el } from "./dom";
import { value } from "./format";
import type { Model } from "./model";
import type { Store } from "./state";
import type { Now } from "./values";

const ROWS = 400;
type Column = "from" | "to" | "load";

export class ChannelTable {
  readonly root = el("dialog", { id: "table", "aria-label": "Channels" });
  private by: Column = "load";
  private down = true;
  constructor(private readonly model: Model, private readonly store: Store, private readonly now: () => Now) {}

  open(): void {
    this.fill();
    if (!this.root.open) this.root.showModal();
  }

  private order(): number[] {
    const now = this.now(), { model } = this, key = this.by, sign = this.down ? -1 : 1;
    const compare = new Intl.Collator("en", { numeric: true }).compare;
    return Array.from(now.channel.keys()).sort((a, b) => {
      const [c, d] = [now.channel[a], now.channel[b]];
      // Of differences the largest come first, whichever way they go.
      const size = (i: number) => now.apart ? Math.abs(now.value[i]) : now.value[i];
      const by = key === "load" ? size(a) - size(b)
        : compare(model.name(key === "from" ? model.tail(c) : model.head(c)), model.name(key === "from" ? model.tail(d) : model.head(d)));
      return sign * by || c - d;
    });
  }

  private fill(): void {
    const { model } = this, now = this.now(), order = this.order();
    const head = (key: Column | null, text: string) => key === null ? el("th", {}, text) : el("th", {
      "aria-sort": this.by === key ? (this.down ? "descending" : "ascending") : "none",
    }, el("button", { type: "button", click: () => { this.down = this.by === key ? !this.down : key === "load"; this.by = key; this.fill(); } }, text));
    const rows = order.slice(0, ROWS).map((i) => {
      const c = now.channel[i];
      return el("tr", { tabindex: 0, click: () => { this.root.close(); this.store.set({ chosen: { kind: "cable", id: c >> 1 } }); } },
        el("td", {}, model.name(model.tail(c))), el("td", {}, String(model.tailPort(c))),
        el("td", {}, model.name(model.head(c))), el("td", {}, String(model.inPort(c))),
        el("td", { class: "number" }, value(now.value[i], now.unit)));
    });
    this.root.replaceChildren(
      el("header", {}, el("h2", {}, "Channels that carry something"),
        el("button", { type: "button", click: () => this.download() }, "Download CSV"),
        el("button", { type: "button", "aria-label": "Close", click: () => this.root.close() }, "\u00d7")),
      el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, head("from", "from"), head(null, "port"), head("to", "to"), head(null, "port"), head("load", now.apart ? "difference" : "load"))),
        el("tbody", {}, ...rows))),
      el("p", { class: "faint" }, order.length > ROWS ? `The first ${ROWS} of ${order.length}; the CSV has all.` : `${order.length} channels.`),
    );
  }

  /** What the numbers are. */
  private what(): string {
    const { model, store } = this, { view, minus, time, job } = store.now, unit = model.views[view]?.unit ?? "load";
    const parts = [
      minus === null ? "" : `${model.views[view].name} minus ${model.views[minus].name}`,
      minus === null && time !== null ? `moment ${time + 1}` : "",
      minus === null && job !== null ? model.jobs[job].name : "",
    ].filter((part) => part);
    return parts.length ? `${this.now().unit}: ${parts.join(", ")}` : unit;
  }

  /** All channels as they are shown, with what each job puts on them. */
  csv(): string {
    const { model } = this, now = this.now(), shown = new Map<number, number>();
    now.channel.forEach((c, i) => shown.set(c, now.value[i]));
    // A name that begins like a formula is not to be taken for one.
    const cell = (text: string) => `"${(/^[=+\-@\t\r]/.test(text) ? "'" : "") + text.replaceAll('"', '""')}"`;
    const lines = [["from", "from_guid", "from_port", "to", "to_guid", "to_port", this.what() === now.unit ? now.unit : cell(this.what()), "jobs"].join(",")];
    const jobs = new Map<number, string[]>();
    model.jobs.forEach((job) => job.channels.forEach((c, i) => {
      const told = `${job.name}=${job.load[i]}`;
      const list = jobs.get(c);
      if (list) list.push(told); else jobs.set(c, [told]);
    }));
    for (let c = 0; c < 2 * model.cables; c++) {
      const [s, t] = [model.tail(c), model.head(c)];
      lines.push([cell(model.name(s)), model.guid("switch", s), model.tailPort(c), cell(model.name(t)), model.guid("switch", t),
        model.inPort(c), shown.get(c) ?? 0, cell((jobs.get(c) ?? []).join(" "))].join(","));
    }
    return lines.join("\n") + "\n";
  }

  private download(): void {
    const url = URL.createObjectURL(new Blob([this.csv()], { type: "text/csv" }));
    el("a", { href: url, download: "channels.csv" }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  }
}
