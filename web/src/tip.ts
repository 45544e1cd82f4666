// What lies below the pointer, in a few words beside it.

import { el } from "./dom";
import { value } from "./format";
import type { Model } from "./model";
import type { Below } from "./pick";

export class Tip {
  readonly root = el("div", { id: "tip", hidden: true });
  hide(): void { this.root.hidden = true; }
  show(model: Model, view: number, found: Below[], x: number, y: number): void {
    const first = found[0];
    if (!first) { this.hide(); return; }
    const v = model.views[view], lines: string[] = [];
    if (first.kind === "switch") lines.push(model.short(first.id));
    else if (first.kind === "host") lines.push(model.hostName(first.id));
    else {
      for (const c of [2 * first.id, 2 * first.id + 1]) {
        lines.push(model.channelName(c) + (v ? `   ${value(v.load[c], v.unit)}` : ""));
      }
      if (found.length > 1) lines.push(`and ${found.length - 1} more here: click for all`);
    }
    this.root.replaceChildren(...lines.map((line) => el("div", {}, line)));
    this.root.hidden = false;
    const box = this.root.parentElement!.getBoundingClientRect();
    const { offsetWidth: w, offsetHeight: h } = this.root;
    this.root.style.transform = `translate(${Math.max(4, Math.min(x + 14, box.width - w - 4))}px,${Math.max(4, y + 18 + h > box.height ? y - h - 10 : y + 18)}px)`;
  }
}
