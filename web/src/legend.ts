// What colours mean, with round numbers.

import { el, swatch } from "./dom";
import { group, value, WORD } from "./format";
import { apart, css, heat, jobColour, type Theme } from "./scale";
import type { Now } from "./values";

/** What colours stand for that are no load. */
export interface Key { word: string; names: string[] }

/** Ticks whose words have room beside each other, the last one among them. */
function apartFrom(ticks: number[], place: (t: number) => number, letters: (t: number) => number): number[] {
  const kept: number[] = [];
  for (const t of [...ticks].reverse()) {
    const after = kept[kept.length - 1];
    if (after === undefined || place(after) - place(t) > 0.018 * (letters(after) + letters(t))) kept.push(t);
  }
  return kept.reverse();
}

export class Legend {
  readonly root = el("div", { id: "legend" });

  show(now: Now, theme: Theme, notes: string[], key: Key | null): void {
    const ramp = now.apart ? apart(theme) : heat(theme);
    const stops = Array.from({ length: 13 }, (_, i) => css(ramp(now.apart ? i / 12 : 0.06 + 0.94 * i / 12))).join(",");
    const word = now.apart ? `difference in ${WORD[now.unit]}` : WORD[now.unit];
    const all = now.apart ? [-now.scale.max, 0, now.scale.max] : now.scale.ticks;
    const place = (t: number) => now.apart ? (t / now.scale.max + 1) / 2 : t / now.scale.max;
    const ticks = apartFrom(all, (t) => place(t), (t) => value(t, now.unit).length);
    this.root.replaceChildren(
      el("h2", {}, key ? `${key.word} \u00b7 width: ${word}` : word),
      ...(key?.names ?? []).map((name, i) => el("span", { class: "key" }, swatch(jobColour(theme, i)), name)),
      key ? "" : el("div", { class: "ramp", style: `background:linear-gradient(90deg,${stops})` }),
      key ? "" : el("div", { class: "ticks" }, ...ticks.map((t) => el("span", { style: `left:${(100 * place(t)).toFixed(1)}%` },
        (now.apart && t > 0 ? "+" : "") + value(t, now.unit).replace(" B", " B")))),
      ...notes.map((n) => el("p", { class: "faint" }, n)),
    );
  }

  static lit(now: Now, channels: number): string {
    if (now.apart) return `${group(now.channel.length)} of ${group(channels)} channels differ`;
    if (now.unit === "errors") return `${group(now.channel.length)} of ${group(channels)} channels with symbol errors`;
    const dark = channels - now.channel.length;
    return `${group(now.channel.length)} of ${group(channels)} channels lit \u00b7 ${(100 * dark / Math.max(channels, 1)).toFixed(1)} % dark`;
  }
}
