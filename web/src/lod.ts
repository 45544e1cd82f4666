// What is drawn at a zoom: cables where they can be told apart, bundles of them where not.

import type { Bundles } from "./bundles";
import type { Model } from "./model";
import type { Now } from "./values";

/** Cables that can be told apart on a screen. */
const CABLES = 14_000;
/** Lit things that are drawn at once, the hottest; the page says how many are not. 12 bytes each are uploaded. */
const LIT = 8_000;
/** Dark bundles that are drawn: enough to see where they go. */
const DARK = 4_000;

export interface Box { x0: number; y0: number; x1: number; y1: number }
export interface Drawn {
  bundled: boolean;
  /** Cubics that stay dark. */
  dark: Uint32Array;
  /** Lit ones from cool to hot: twice the number of the cubic, and one more against it; with heat and a channel of each. */
  lit: Uint32Array; heat: Float32Array; channel: Uint32Array;
  /** Lit ones that were left out. */
  cooler: number;
}

export class Detail {
  private seen: Uint32Array;
  private darkBundles: Uint32Array;
  bundled = false;
  constructor(private readonly model: Model, private readonly bundles: Bundles | undefined) {
    this.seen = Uint32Array.from({ length: Math.min(model.cables, 1) });
    const n = bundles?.count ?? 0, step = Math.max(1, n / DARK);
    this.darkBundles = Uint32Array.from({ length: Math.floor(n / step) }, (_, i) => Math.floor(i * step));
  }

  /** Looks at a part of the map; whether something else is to be drawn than before. */
  look(box: Box): boolean {
    const { model } = this, { ways } = model;
    const inside = (x: number, y: number) => x >= box.x0 && x <= box.x1 && y >= box.y0 && y <= box.y1;
    const before = this.bundled, count = this.seen.length;
    const most = this.bundles ? CABLES : Infinity;
    const seen: number[] = [];
    const whole = model.cables <= CABLES;
    for (let i = 0; i < model.cables && seen.length <= most; i++) {
      const w = 8 * i;
      if (whole || inside(ways[w], ways[w + 1]) || inside(ways[w + 6], ways[w + 7])) seen.push(i);
    }
    this.bundled = seen.length > most;
    this.seen = this.bundled ? new Uint32Array() : Uint32Array.from(seen);
    return before !== this.bundled || count !== this.seen.length || !whole;
  }

  draw(now: Now): Drawn {
    const { bundles } = this, cables = this.model.cables;
    let lit: Uint32Array, heat: Float32Array, channel: Uint32Array;
    if (this.bundled && bundles) {
      // The hottest channel of a bundle is its heat: what is full must not vanish among what is not.
      const hottest = new Int32Array(2 * bundles.count).fill(-1);
      now.channel.forEach((c, i) => {
        const cable = c >> 1, slot = 2 * bundles.of[cable] + ((c & 1) ^ bundles.turned[cable]);
        if (hottest[slot] < 0 || now.heat[hottest[slot]] < now.heat[i]) hottest[slot] = i;
      });
      const slots: number[] = [];
      hottest.forEach((i, slot) => { if (i >= 0) slots.push(slot); });
      lit = Uint32Array.from(slots, (s) => s + 2 * cables);
      heat = Float32Array.from(slots, (s) => now.heat[hottest[s]]);
      channel = Uint32Array.from(slots, (s) => now.channel[hottest[s]]);
    } else {
      const seen = new Uint8Array(cables);
      this.seen.forEach((i) => { seen[i] = 1; });
      const index: number[] = [];
      now.channel.forEach((c, i) => { if (seen[c >> 1]) index.push(i); });
      lit = channel = Uint32Array.from(index, (i) => now.channel[i]);
      heat = Float32Array.from(index, (i) => now.heat[i]);
    }
    const order = Uint32Array.from(lit.keys()).sort((a, b) => heat[a] - heat[b] || lit[a] - lit[b]);
    const top = order.subarray(Math.max(0, order.length - LIT));
    const dark = this.bundled ? this.darkBundles.map((b) => b + cables) : this.seen;
    return {
      bundled: this.bundled, dark,
      lit: top.map((i) => lit[i]), heat: Float32Array.from(top, (i) => heat[i]), channel: top.map((i) => channel[i]),
      cooler: order.length - top.length,
    };
  }

  /** Cubics below a place, the nearest first. */
  get pickable(): Uint32Array { return this.bundled ? new Uint32Array() : this.seen; }
}
