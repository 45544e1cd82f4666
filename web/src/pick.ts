// What lies below the pointer.

import { quadtree, type Quadtree } from "d3-quadtree";
import { distance } from "./curve";
import type { Model } from "./model";

export interface Below { kind: "switch" | "host" | "cable"; id: number; pixels: number }

export class Picker {
  private readonly tree: Quadtree<number>;
  constructor(private readonly model: Model) {
    this.tree = quadtree<number>().x((s) => model.x[s]).y((s) => model.y[s]);
    this.tree.addAll(Array.from(model.x.keys()));
  }

  /** Switches within a box. */
  within(x0: number, y0: number, x1: number, y1: number): number[] {
    const found: number[] = [];
    this.tree.visit((node, a, b, c, d) => {
      if (a > x1 || b > y1 || c < x0 || d < y0) return true;
      if (!node.length) {
        let leaf: typeof node | undefined = node;
        do {
          const s = leaf.data, { x, y } = this.model;
          if (x[s] >= x0 && x[s] <= x1 && y[s] >= y0 && y[s] <= y1) found.push(s);
        } while ((leaf = leaf.next as typeof node | undefined));
      }
      return false;
    });
    return found.sort((a, b) => a - b);
  }

  /** The switch or host there, else cables, the nearest first; `k` is pixels a unit. */
  at(x: number, y: number, k: number, cables: ArrayLike<number>, hosts: boolean, reach = 6): Below[] {
    const { model } = this, { dot, room } = model.about.layout;
    if (hosts) {
      for (const s of this.within(x - room, y - room, x + room, y + room)) {
        for (let i = model.hostsAt[s]; i < model.hostsAt[s + 1]; i++) {
          const h = model.hostsOf[i], [hx, hy, r] = model.hostPlace(h);
          const pixels = Math.hypot(hx - x, hy - y) * k;
          if (pixels <= Math.max(r * k, 4)) return [{ kind: "host", id: h, pixels }];
        }
      }
    }
    const s = this.tree.find(x, y, Math.max(dot, 5 / k));
    if (s !== undefined) return [{ kind: "switch", id: s, pixels: Math.hypot(model.x[s] - x, model.y[s] - y) * k }];
    const found: Below[] = [], by = reach / k, w = model.ways;
    for (let i = 0; i < cables.length; i++) {
      const c = cables[i], a = 8 * c;
      // A cubic is within the box of its four points.
      if (Math.min(w[a], w[a + 2], w[a + 4], w[a + 6]) > x + by || Math.max(w[a], w[a + 2], w[a + 4], w[a + 6]) < x - by
        || Math.min(w[a + 1], w[a + 3], w[a + 5], w[a + 7]) > y + by || Math.max(w[a + 1], w[a + 3], w[a + 5], w[a + 7]) < y - by) continue;
      const pixels = distance(w, a, x, y) * k;
      if (pixels <= reach) found.push({ kind: "cable", id: c, pixels });
    }
    return found.sort((p, q) => p.pixels - q.pixels || p.id - q.id);
  }
}
