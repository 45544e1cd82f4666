// What is looked at, and who wants to know when that changes.

export type Chosen =
  | { kind: "cable"; id: number; among?: number[] } | { kind: "switch"; id: number } | { kind: "host"; id: number }
  | { kind: "finding"; id: number } | { kind: "path"; from: number; to: number };
export interface State {
  view: number;
  /** A second view that is taken off the first. */
  minus: number | null;
  colour: "load" | "jobs" | "lanes";
  /** The interval, or all of the time. */
  time: number | null;
  job: number | null;
  chosen: Chosen | null;
}
type Listener = (now: State, changed: Set<keyof State>) => void;

export class Store {
  now: State = { view: 0, minus: null, colour: "load", time: null, job: null, chosen: null };
  private readonly listeners: Listener[] = [];
  on(listener: Listener): void { this.listeners.push(listener); }
  set(change: Partial<State>): void {
    const changed = new Set<keyof State>();
    for (const key of Object.keys(change) as (keyof State)[]) {
      if (JSON.stringify(this.now[key]) !== JSON.stringify(change[key])) changed.add(key);
    }
    if (!changed.size) return;
    this.now = { ...this.now, ...change };
    for (const listener of this.listeners) listener(this.now, changed);
  }
}
