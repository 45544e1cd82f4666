// Cables of two groups as one: what is drawn while there are too many to see.

import type { Model } from "./model";

export interface Bundles {
  count: number;
  /** By cable its bundle. */
  of: Uint32Array;
  /** Which way along its bundle a cable's lower channel goes: 0 as the bundle, 1 against it. */
  turned: Uint8Array;
  /** Ends and control points, as cables have them. */
  ways: Float32Array;
  /** Cables of each. */
  size: Uint32Array;
  /** Groups of each; equal for what is inside one. */
  a: Uint32Array; b: Uint32Array;
}

/** Worth it if there are groups, and much fewer pairs of them than cables. */
export function bundles(model: Model): Bundles | undefined {
  const { groups } = model.about.layout;
  if (groups < 3 || model.cables < 6000) return undefined;
  const number = new Map<number, number>();
  const of = new Uint32Array(model.cables), turned = new Uint8Array(model.cables);
  const a: number[] = [], b: number[] = [], size: number[] = [];
  const sums: number[] = [];
  for (let i = 0; i < model.cables; i++) {
    const g = model.group[model.from[i]], h = model.group[model.to[i]];
    const back = g > h, key = back ? h * groups + g : g * groups + h;
    let n = number.get(key);
    if (n === undefined) {
      n = a.length;
      number.set(key, n);
      a.push(Math.min(g, h)); b.push(Math.max(g, h)); size.push(0);
      for (let k = 0; k < 8; k++) sums.push(0);
    }
    of[i] = n; turned[i] = back ? 1 : 0; size[n]++;
    for (let k = 0; k < 4; k++) {
      const from = back ? 3 - k : k;
      sums[8 * n + 2 * k] += model.ways[8 * i + 2 * from];
      sums[8 * n + 2 * k + 1] += model.ways[8 * i + 2 * from + 1];
    }
  }
  if (a.length > model.cables * 0.7) return undefined;
  const ways = Float32Array.from(sums, (x, i) => x / size[i >> 3]);
  // What is inside a group: along it, from its first to its last switch.
  const low = new Map<number, number>(), high = new Map<number, number>();
  model.group.forEach((g, s) => { if (!low.has(g)) low.set(g, s); high.set(g, s); });
  for (let n = 0; n < a.length; n++) {
    if (a[n] !== b[n]) continue;
    const s = low.get(a[n])!, t = high.get(a[n])!;
    for (let k = 0; k < 4; k++) {
      ways[8 * n + 2 * k] = model.x[s] + (model.x[t] - model.x[s]) * k / 3;
      ways[8 * n + 2 * k + 1] = model.y[s] + (model.y[t] - model.y[s]) * k / 3;
    }
  }
  return {
    count: a.length, of, turned, ways,
    size: Uint32Array.from(size), a: Uint32Array.from(a), b: Uint32Array.from(b),
  };
}
