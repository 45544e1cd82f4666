// Tables of results, to sort and to take along as CSV.

import { el, row, section } from "./dom";
import { group } from "./format";
import type { Model, Sheet } from "./model";

const ROWS = 600;

export class Sheets {
  readonly root = el("div", { id: "sheets" });
  readonly dialog = el("dialog", { id: "sheet", "aria-label": "Table" });

  /** As links to dialogs beside a map, or in full. */
  constructor(private readonly model: Model, inFull: boolean) {
    const { sheets } = model.about;
    if (!sheets.length) return;
    this.root.append(inFull ? el("div", {}, ...sheets.map((s) => el("div", { class: "sheet" }, ...this.parts(s))))
      : section("Tables", ...sheets.map((s, i) => row(() => this.open(i),
        el("span", { class: "grow" }, s.title), el("span", { class: "number" }, group(s.rows.length))))));
  }

  open(i: number): void {
    const sheet = this.model.about.sheets[i];
    if (!sheet) return;
    this.dialog.replaceChildren(...this.parts(sheet, el("button", { type: "button", "aria-label": "Close", click: () => this.dialog.close() }, "\u00d7")));
    if (!this.dialog.open) this.dialog.showModal();
  }

  private parts(sheet: Sheet, close?: HTMLElement): HTMLElement[] {
    const scroll = el("div", { class: "scroll" });
    let by = -1, down = true;
    const compare = new Intl.Collator("en", { numeric: true }).compare;
    const fill = () => {
      const order = by < 0 ? sheet.rows : [...sheet.rows].sort((a, b) => (down ? -1 : 1) * compare(a[by] ?? "", b[by] ?? ""));
      const head = sheet.heading.map((text, i) => el("th", { "aria-sort": by === i ? (down ? "descending" : "ascending") : "none" },
        el("button", { type: "button", click: () => { down = by === i ? !down : true; by = i; fill(); } }, text)));
      scroll.replaceChildren(el("table", {}, el("thead", {}, el("tr", {}, ...head)),
        el("tbody", {}, ...order.slice(0, ROWS).map((r) => el("tr", {}, ...r.map((text) => el("td", {}, text)))))));
    };
    fill();
    const left = sheet.rows.length - ROWS;
    return [el("header", {}, el("h2", {}, sheet.title), el("button", { type: "button", click: () => download(sheet) }, "Download CSV"), ...(close ? [close] : [])),
      scroll, ...(left > 0 ? [el("p", { class: "faint" }, `and ${group(left)} more; the CSV has all.`)] : [])];
  }
}

/** A name that begins like a formula is not to be taken for one. */
const cell = (text: string): string => `"${(/^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? "'" : "") + text.replaceAll('"', '""')}"`;

function download(sheet: Sheet): void {
  const text = [sheet.heading, ...sheet.rows].map((r) => r.map(cell).join(",")).join("\n") + "\n";
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  el("a", { href: url, download: `${sheet.title.replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60) || "table"}.csv` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
