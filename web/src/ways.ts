// The way from one host to another by the tables, hop by hop.

import type { Model } from "./model";

const NO_ROUTE = 255, DELIVER = 0;

export interface Way { channels: number[]; switches: number[]; end: "there" | "lost" | "loop"; path: number }

/** Follows the tables as the checker does; an entry that leads nowhere ends the way. */
export function way(model: Model, tables: NonNullable<Model["tables"]>, from: number, to: number): Way {
  const path = tables.select ? tables.select[from] : 0;
  const row = tables.row[to * tables.paths + path] * model.switches;
  let s = model.hostSwitch[from];
  const channels: number[] = [], switches = [s], seen = new Set([s]);
  while (s !== model.hostSwitch[to]) {
    const port = tables.port[row + s];
    const c = port === NO_ROUTE || port === DELIVER ? undefined : model.channelAt(s, port);
    if (c === undefined) return { channels, switches, end: "lost", path };
    channels.push(c);
    s = model.head(c);
    switches.push(s);
    if (seen.has(s)) return { channels, switches, end: "loop", path };
    seen.add(s);
  }
  return { channels, switches, end: "there", path };
}
