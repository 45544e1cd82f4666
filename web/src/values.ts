// What each channel carries now: of the view, of its interval, of the job that was chosen.

import type { Model, Unit } from "./model";
import { Scale } from "./scale";
import type { State } from "./state";

export interface Now {
  unit: Unit;
  /** Channels that carry something, and how much; differences may be below zero. */
  channel: Uint32Array;
  value: Float32Array;
  scale: Scale;
  /** Where values are on the colours: 0 to 1. */
  heat: Float32Array;
  apart: boolean;
}

/** Values now, and the scale that all intervals of a view share. */
export class Values {
  private readonly peaks = new Map<number, number>();
  constructor(private readonly model: Model) {}

  now(state: State): Now {
    const view = this.model.views[state.view];
    if (!view) return make("routes", [], [], 1, false);
    const series = view.series;
    if (state.minus !== null) return this.difference(state.view, state.minus);
    if (series && state.time !== null) {
      const from = series.start[state.time], to = series.start[state.time + 1];
      let channel: ArrayLike<number> = series.channel.subarray(from, to);
      let value: ArrayLike<number> = Array.from(series.share.subarray(from, to), (x) => x / 65535 * series.full);
      if (state.job !== null) [channel, value] = this.only(state.job, channel, value);
      return make(series.unit, channel, value, this.peak(state.view) * series.full, false);
    }
    if (state.job !== null) {
      const job = this.model.jobs[state.job];
      let unit: Unit = view.unit === "share" || view.unit === "failure" ? "bytes" : view.unit;
      if (view.unit === "flows") unit = "routes";
      return make(unit, job.channels, job.load, job.load.reduce((a, b) => Math.max(a, b), 0), false);
    }
    const channel: number[] = [];
    view.load.forEach((x, c) => { if (x > 0) channel.push(c); });
    return make(view.unit, channel, channel.map((c) => view.load[c]), view.max, false);
  }

  /** The largest share of any interval. */
  private peak(v: number): number {
    let found = this.peaks.get(v);
    if (found === undefined) {
      found = (this.model.views[v].series?.share ?? new Uint16Array()).reduce((a, b) => Math.max(a, b), 0) / 65535;
      this.peaks.set(v, found);
    }
    return found;
  }

  private only(j: number, channel: ArrayLike<number>, value: ArrayLike<number>): [number[], number[]] {
    const own = new Set(this.model.jobs[j].channels), channels: number[] = [], values: number[] = [];
    for (let i = 0; i < channel.length; i++) {
      if (own.has(channel[i])) { channels.push(channel[i]); values.push(value[i]); }
    }
    return [channels, values];
  }

  private difference(a: number, b: number): Now {
    const x = this.model.views[a].load, y = this.model.views[b].load;
    const channel: number[] = [], value: number[] = [];
    let most = 0;
    for (let c = 0; c < x.length; c++) {
      const by = x[c] - y[c];
      if (Math.abs(by) > 1e-9) { channel.push(c); value.push(by); most = Math.max(most, Math.abs(by)); }
    }
    return make(this.model.views[a].unit, channel, value, most, true);
  }
}

function make(unit: Unit, channel: ArrayLike<number>, value: ArrayLike<number>, most: number, apart: boolean): Now {
  const scale = new Scale(most, unit === "share");
  const heat = Float32Array.from(value, (x) => Math.min(1, Math.abs(x) / scale.max));
  return { unit, channel: Uint32Array.from(channel), value: Float32Array.from(value), scale, heat, apart };
}
