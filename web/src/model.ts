// The fabric, and what is known of it, as typed arrays.

import type { Blob64 } from "./blob";
import { cubic, type Rule } from "./curve";

export type Unit = "routes" | "flows" | "share" | "bytes" | "errors" | "failure";
export interface Finding {
  severity: "note" | "warning" | "error"; message: string; hint: string;
  channels: number[]; switches: number[]; pairs: [number, number][];
}
export interface About {
  title: string; subtitle: string; facts: [string, string][];
  origin: { command: string; version: string; seed: number; digest: string };
  layout: {
    kind: string; bounds: [number, number, number, number]; dot: number; room: number; curves: Rule[];
    captions: [string, number, number][]; group_word: string; groups: number;
  };
  views: { name: string; unit: Unit; interval: number | null; begins: number | null; full: number | null; lanes: boolean }[];
  jobs: { name: string; fact: string; runs: [number, number][]; views: number[] }[];
  findings: Finding[];
  charts: { title: string; x: Axis; y: Axis; form: "lines" | "steps" | "points" | "bars"; origin: number; names: string[]; lines: string[] }[];
  sheets: Sheet[];
  tables: { kind: "none" } | { kind: "large"; entries: number } | { kind: "held"; paths: number; engine: string };
}
export interface Axis { label: string; measured: "number" | "percent" | "seconds" | "date" | "bytes"; log: boolean }
export interface Sheet { title: string; heading: string[]; rows: string[][] }
export interface Chart extends Omit<About["charts"][number], "lines"> { at: Float64Array; lines: { name: string; values: Float32Array }[] }
/** Values are shares of `full` in the unit of the view, or of what channels can carry; `begins` is in seconds since 1970. */
export interface Series {
  interval: number; begins: number | null; full: number; unit: Unit;
  start: Uint32Array; channel: Uint32Array; share: Uint16Array;
}
/** By channel the virtual lane of most of its routes. */
export interface View { name: string; unit: Unit; load: Float32Array; max: number; lit: number; series?: Series; lanes?: Uint8Array }
/** A channel that is in no lane. */
export const NO_LANE = 255;
export interface Job {
  name: string; fact: string; runs: [number, number][]; views: number[]; hosts: Uint32Array; channels: Uint32Array; load: Float32Array;
}

/** A channel is twice the number of its cable, and one more for the way from `to` to `from`. */
export class Model {
  readonly about: About;
  readonly x: Float32Array; readonly y: Float32Array; readonly group: Uint32Array; readonly names: string[];
  readonly from: Uint32Array; readonly to: Uint32Array; readonly port: Uint8Array; readonly headPort: Uint8Array;
  /** Ends and control points of cables, eight numbers each. */
  readonly ways: Float32Array;
  readonly hostSwitch: Uint32Array; readonly hostPort: Uint8Array; readonly lids?: Uint16Array;
  readonly views: View[]; readonly jobs: Job[];
  /** Cables of each switch, and hosts of each switch, as rows. */
  readonly cablesAt: Uint32Array; readonly cablesOf: Uint32Array; readonly hostsAt: Uint32Array; readonly hostsOf: Uint32Array;
  private hostNameList?: string[];

  constructor(private readonly blob: Blob64) {
    this.about = blob.about as About;
    this.x = blob.f32("switch.x"); this.y = blob.f32("switch.y");
    this.group = blob.u32("switch.group");
    this.names = this.x.length ? blob.text("switch.name") : [];
    this.shared = affixes(this.names);
    this.from = blob.u32("cable.from"); this.to = blob.u32("cable.to");
    this.port = blob.u8("cable.port"); this.headPort = blob.u8("cable.head_port");
    const rule = blob.u8("cable.curve"), { curves } = this.about.layout;
    this.ways = new Float32Array(8 * this.cables);
    for (let i = 0; i < this.cables; i++) {
      const a = this.from[i], b = this.to[i];
      cubic(curves[rule[i]], this.x[a], this.y[a], this.x[b], this.y[b], this.ways, 8 * i);
    }
    this.hostSwitch = blob.u32("terminal.switch"); this.hostPort = blob.u8("terminal.port");
    if (blob.has("terminal.lid")) this.lids = blob.u16("terminal.lid");
    this.views = this.about.views.map((v, i) => this.view(v, i));
    const hostStart = blob.u32("job.host_start"), host = blob.u32("job.host");
    const loadStart = blob.u32("job.load_start"), channel = blob.u32("job.channel"), load = blob.f32("job.load");
    this.jobs = this.about.jobs.map((job, j) => ({
      ...job,
      hosts: host.subarray(hostStart[j], hostStart[j + 1]),
      channels: channel.subarray(loadStart[j], loadStart[j + 1]),
      load: load.subarray(loadStart[j], loadStart[j + 1]),
    }));
    [this.cablesAt, this.cablesOf] = rows(this.switches, [this.from, this.to]);
    [this.hostsAt, this.hostsOf] = rows(this.switches, [this.hostSwitch]);
  }

  get switches(): number { return this.x.length; }
  get cables(): number { return this.from.length; }
  get hosts(): number { return this.hostSwitch.length; }

  private view(v: About["views"][number], i: number): View {
    const load = this.blob.f32(`view${i}.load`);
    let max = 0, lit = 0;
    for (const x of load) { if (x > 0) lit++; if (x > max) max = x; }
    const at = `view${i}.`;
    const series = v.interval === null ? undefined : {
      interval: v.interval, start: this.blob.u32(at + "start"), channel: this.blob.u32(at + "channel"),
      share: this.blob.u16(at + "share"),
      begins: v.begins, full: v.full ?? 1, unit: v.full === null ? "share" as const : v.unit,
    };
    const lanes = v.lanes ? this.blob.u8(at + "lane") : undefined;
    return { name: v.name, unit: v.unit, load, max, lit, series, lanes };
  }

  /** Charts, read when they are looked at. */
  chart(i: number): Chart {
    const of = this.about.charts[i];
    const at = Float64Array.from(this.blob.f32(`chart${i}.x`), (x) => x + of.origin);
    return { ...of, at, lines: of.lines.map((name, j) => ({ name, values: this.blob.f32(`chart${i}.line${j}`) })) };
  }

  name(s: number): string { return this.names[s] || this.guid("switch", s); }
  private readonly shared: [number, number];
  /** A name without what all switches' names begin and end with. */
  short(s: number): string {
    const [first, last] = this.shared, name = this.names[s];
    return name ? name.slice(first, name.length - last) : this.name(s);
  }
  hostName(h: number): string {
    this.hostNameList ??= this.blob.text("terminal.name");
    return this.hostNameList[h] || this.guid("terminal", h);
  }
  /** The host of a name, a GUID, or a name and a GUID. */
  hostNamed(text: string): number | undefined {
    this.hostName(0);
    const name = text.trim(), found = this.hostNameList!.indexOf(name);
    if (found >= 0) return found;
    for (let h = 0; h < this.hosts; h++) if (this.guid("terminal", h) === name.toLowerCase()) return h;
    return undefined;
  }
  guid(of: "switch" | "terminal", i: number): string {
    const hex = (n: number) => n.toString(16).padStart(8, "0");
    return `0x${hex(this.guidPart(of, "high")[i])}${hex(this.guidPart(of, "low")[i])}`;
  }
  private readonly parts = new Map<string, Uint32Array>();
  private guidPart(of: string, part: string): Uint32Array {
    const name = `${of}.guid_${part}`;
    let found = this.parts.get(name);
    if (!found) this.parts.set(name, found = this.blob.u32(name));
    return found;
  }

  tail(c: number): number { return c & 1 ? this.to[c >> 1] : this.from[c >> 1]; }
  head(c: number): number { return c & 1 ? this.from[c >> 1] : this.to[c >> 1]; }
  tailPort(c: number): number { return c & 1 ? this.headPort[c >> 1] : this.port[c >> 1]; }
  inPort(c: number): number { return c & 1 ? this.port[c >> 1] : this.headPort[c >> 1]; }
  channelName(c: number): string {
    return `${this.short(this.tail(c))} p${this.tailPort(c)} \u2192 ${this.short(this.head(c))} p${this.inPort(c)}`;
  }
  /** The channel that leaves a switch at a port, if it leads to a switch. */
  channelAt(s: number, port: number): number | undefined {
    for (let i = this.cablesAt[s]; i < this.cablesAt[s + 1]; i++) {
      const cable = this.cablesOf[i];
      if (this.from[cable] === s && this.port[cable] === port) return 2 * cable;
      if (this.to[cable] === s && this.headPort[cable] === port) return 2 * cable + 1;
    }
    return undefined;
  }
  /** Where a host is drawn: on a ring around its switch. */
  hostPlace(h: number): [number, number, number] {
    const s = this.hostSwitch[h], first = this.hostsAt[s], n = this.hostsAt[s + 1] - first;
    let i = first;
    while (this.hostsOf[i] !== h) i++;
    const { room, dot } = this.about.layout, r = Math.max(room * 0.84, dot * 1.5);
    const a = 2 * Math.PI * (i - first + 0.5) / n;
    return [this.x[s] + r * Math.sin(a), this.y[s] - r * Math.cos(a), Math.min(dot * 0.3, 2.4 * r / n)];
  }
  get tables(): { port: Uint8Array; row: Uint32Array; select?: Uint16Array; paths: number } | undefined {
    const t = this.about.tables;
    if (t.kind !== "held") return undefined;
    const select = this.blob.has("table.select") ? this.blob.u16("table.select") : undefined;
    return { port: this.blob.u8("table.port"), row: this.blob.u32("table.row"), select, paths: t.paths };
  }
}

/** How many letters all names begin and end with, up to a mark between words. */
function affixes(names: string[]): [number, number] {
  if (names.length < 2) return [0, 0];
  const common = (at: (name: string, i: number) => string | undefined): number => {
    let n = 0, mark = 0;
    while (n < 64 && names.every((name) => n < name.length - 1 && at(name, n) === at(names[0], n))) {
      n++;
      if (/[^\p{L}\p{N}]/u.test(at(names[0], n - 1)!)) mark = n;
    }
    return mark;
  };
  const first = common((name, i) => name[i]), last = common((name, i) => name[name.length - 1 - i]);
  return names.every((name) => name.length > first + last) ? [first, last] : [0, 0];
}

/** For each of `n` things, who names it: starts and members. */
function rows(n: number, names: Uint32Array[]): [Uint32Array, Uint32Array] {
  const start = new Uint32Array(n + 1);
  for (const list of names) for (const s of list) start[s + 1]++;
  for (let i = 0; i < n; i++) start[i + 1] += start[i];
  const next = start.slice(), members = new Uint32Array(start[n] ?? 0);
  for (const list of names) list.forEach((s, i) => { members[next[s]++] = i; });
  return [start, members];
}
