// Numbers for people.

import type { Unit } from "./model";

export const group = (n: number): string => Math.round(n).toLocaleString("en-US");

/** So many of something, whose plural ends with s or es. */
export const count = (n: number, one: string, more = `${one}s`): string => `${group(n)} ${n === 1 ? one : more}`;

/** Three digits and a unit of thousands. */
export function si(n: number, unit: string): string {
  const steps: [number, string][] = [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
  for (const [by, letter] of steps) if (Math.abs(n) >= by * 0.9995) return `${trim(n / by)} ${letter}${unit}`;
  return `${trim(n)} ${unit}`;
}

const trim = (n: number): string => String(+n.toPrecision(3));

export function seconds(s: number): string {
  if (s >= 86400 * 2) return `${trim(s / 86400)} d`;
  if (s >= 7200) return `${trim(s / 3600)} h`;
  if (s >= 120) return `${trim(s / 60)} min`;
  if (s >= 1 || s === 0) return `${trim(s)} s`;
  if (s >= 1e-3) return `${trim(s * 1e3)} ms`;
  return s >= 1e-6 ? `${trim(s * 1e6)} \u00b5s` : `${trim(s * 1e9)} ns`;
}

export function value(n: number, unit: Unit): string {
  switch (unit) {
    case "share":
    case "failure": return `${trim(100 * n)} %`;
    case "bytes": return si(n, "B");
    default: return Math.abs(n) < 1000 ? trim(n) : group(n);
  }
}

/** A moment in time: a date where time has one, else what has gone since the beginning. */
export function moment(begins: number | null, after: number): string {
  return begins === null ? seconds(after) : date(begins + after);
}

export const date = (s: number): string => new Date(s * 1000).toISOString().slice(0, 16).replace("T", " ");

export const WORD: Record<Unit, string> = {
  routes: "routes", flows: "flows, on average", share: "share of the channel\u2019s rate", bytes: "bytes", errors: "symbol errors",
  failure: "if this cable fails",
};
