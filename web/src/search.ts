// Switches, hosts and jobs by a part of their name or GUID.

import { el, row } from "./dom";
import type { Model } from "./model";
import type { Store } from "./state";

const SHOWN = 12;

export class Search {
  readonly input = el("input", {
    type: "search", id: "find", placeholder: "Find a switch, host, GUID or job   /", "aria-label": "Find a switch, host, GUID or job",
    autocomplete: "off", spellcheck: "false",
  });
  private readonly list = el("div", { class: "found", role: "listbox" });
  readonly root = el("div", { id: "search" }, this.input, this.list);

  constructor(private readonly model: Model, private readonly store: Store) {
    this.input.addEventListener("input", () => this.show());
    this.input.addEventListener("keydown", (e) => {
      if (e.key === "Enter") this.list.querySelector("button")?.click();
      if (e.key === "ArrowDown") { e.preventDefault(); this.list.querySelector("button")?.focus(); }
      if (e.key === "Escape") { this.input.value = ""; this.show(); this.input.blur(); }
    });
  }

  private show(): void {
    const text = this.input.value.trim().toLowerCase(), { model } = this;
    const rows: HTMLElement[] = [];
    const take = (n: number, name: (i: number) => string, guid: ((i: number) => string) | null, word: string, go: (i: number) => void) => {
      const whole: number[] = [], part: number[] = [], asGuid = text.startsWith("0x");
      for (let i = 0; i < n && part.length + whole.length < 400; i++) {
        const told = asGuid && guid ? guid(i) : name(i).toLowerCase();
        if (told === text || told.startsWith(text)) whole.push(i); else if (told.includes(text)) part.push(i);
      }
      for (const i of whole.concat(part)) {
        if (rows.length >= SHOWN) return;
        rows.push(row(() => { go(i); this.input.value = ""; this.list.replaceChildren(); },
          el("span", { class: "grow" }, name(i)), el("span", { class: "number" }, word)));
      }
    };
    if (text) {
      take(model.jobs.length, (j) => model.jobs[j].name, null, "job", (job) => this.store.set({ job }));
      take(model.switches, (s) => model.name(s), (s) => model.guid("switch", s), "switch", (id) => this.store.set({ chosen: { kind: "switch", id } }));
      take(model.hosts, (h) => model.hostName(h), (h) => model.guid("terminal", h), "host", (id) => this.store.set({ chosen: { kind: "host", id } }));
      if (!rows.length) rows.push(el("p", { class: "faint" }, "Nothing is called so."));
    }
    this.list.replaceChildren(...rows);
  }
}
