// Time: a slider, jobs as lanes under it, play.

import { el } from "./dom";
import { moment } from "./format";
import type { Model } from "./model";
import { jobColour, type Theme } from "./scale";
import type { Store } from "./state";

/** Lanes that are drawn; jobs that find no room are found by name. */
const LANES = 12, LANE = 13;

export class Timeline {
  readonly root = el("div", { id: "time" });
  private readonly slider = el("input", { type: "range", min: -1, step: 1, "aria-label": "Interval of time; leftmost is all of it" });
  private readonly button = el("button", { type: "button", class: "play", "aria-label": "Play", click: () => this.toggle() }, "\u25b6");
  private readonly text = el("output", {});
  private readonly lanes = el("canvas", { "aria-hidden": "true" });
  private timer = 0;
  /** Jobs of each lane. */
  private readonly lanesOf: number[][];

  constructor(private readonly model: Model, private readonly store: Store, private readonly theme: () => Theme) {
    this.lanesOf = pack(model);
    const names = el("div", { class: "names" }, ...this.lanesOf.map((lane, i) =>
      el("span", {}, lane.length === 1 ? model.jobs[lane[0]].name : i === 0 ? "jobs" : "")));
    if (!this.intervals && !this.lanesOf.length) { this.root.hidden = true; return; }
    this.root.append(names, this.lanes);
    if (this.intervals) {
      this.root.append(el("div", { class: "clock" }, this.button, this.text), this.slider);
      this.slider.max = String(this.intervals - 1);
      this.slider.addEventListener("input", () => this.go(+this.slider.value));
      this.lanes.addEventListener("pointerdown", (e) => this.point(e));
      this.lanes.addEventListener("pointermove", (e) => { if (e.buttons) this.point(e); });
    }
    this.lanes.style.height = `${Math.max(1, this.lanesOf.length) * LANE}px`;
  }

  private get series() { return this.model.views[this.store.now.view]?.series; }
  private get intervals(): number { return this.series ? this.series.start.length - 1 : 0; }
  private get end(): number {
    const runs = this.model.jobs.reduce((most, job) => job.runs.reduce((m, r) => Math.max(m, r[1]), most), 0);
    return Math.max(runs, this.intervals * (this.series?.interval ?? 0)) || 1;
  }

  step(by: number): void {
    if (this.intervals) this.go(Math.min(this.intervals - 1, Math.max(-1, (this.store.now.time ?? -1) + by)));
  }

  toggle(): void {
    if (!this.intervals) return;
    if (this.timer) { clearInterval(this.timer); this.timer = 0; } else {
      this.timer = window.setInterval(() => {
        const next = (this.store.now.time ?? -1) + 1;
        this.go(next >= this.intervals ? 0 : next);
      }, Math.max(80, 8000 / this.intervals));
    }
    this.button.textContent = this.timer ? "\u275a\u275a" : "\u25b6";
    this.button.setAttribute("aria-label", this.timer ? "Pause" : "Play");
  }

  private go(i: number): void { this.store.set({ time: i < 0 ? null : i }); }

  private point(e: PointerEvent): void {
    const box = this.lanes.getBoundingClientRect(), t = (e.clientX - box.left) / box.width * this.end;
    this.go(Math.min(this.intervals - 1, Math.max(0, Math.floor(t / this.series!.interval))));
  }

  draw(): void {
    if (this.root.hidden) return;
    const { time } = this.store.now, series = this.series, ratio = devicePixelRatio || 1;
    this.slider.value = String(time ?? -1);
    this.text.textContent = time === null || !series ? "all of it" : moment(series.begins, (series.begins === null ? time + 0.5 : time) * series.interval);
    const { lanes } = this, w = lanes.clientWidth, h = lanes.clientHeight;
    lanes.width = w * ratio; lanes.height = h * ratio;
    const c = lanes.getContext("2d")!;
    c.scale(ratio, ratio);
    const x = (t: number) => t / this.end * w;
    this.lanesOf.forEach((all, lane) => all.forEach((j) => {
      c.fillStyle = jobColour(this.theme(), j);
      c.globalAlpha = this.store.now.job === null || this.store.now.job === j ? 0.85 : 0.25;
      for (const [from, to] of this.model.jobs[j].runs) {
        const wide = Math.max(x(to) - x(from), 0.5);
        c.fillRect(x(from), lane * LANE + 2, wide > 3 ? wide - 1 : wide, LANE - 4);
      }
    }));
    c.globalAlpha = 1;
    if (time !== null && series) {
      c.fillStyle = this.theme() === "dark" ? "#fff" : "#000";
      const from = x(time * series.interval), to = x((time + 1) * series.interval);
      c.globalAlpha = 0.14; c.fillRect(from, 0, Math.max(to - from, 1), h);
      c.globalAlpha = 1; c.fillRect((from + to) / 2 - 0.75, 0, 1.5, h);
    }
  }
}

/** A lane for each job that ran; where they are many, those that do not run at one time share lanes. */
function pack(model: Model): number[][] {
  const ran = model.jobs.flatMap((job, j) => (job.runs.length ? [j] : []));
  if (ran.length <= LANES) return ran.map((j) => [j]);
  const lanes: { end: number; jobs: number[] }[] = [];
  const span = (j: number) => model.jobs[j].runs.reduce(([a, b], r) => [Math.min(a, r[0]), Math.max(b, r[1])], [Infinity, -Infinity]);
  for (const j of ran.sort((a, b) => span(a)[0] - span(b)[0] || a - b)) {
    const [from, to] = span(j);
    const lane = lanes.find((l) => l.end <= from) ?? (lanes.length < LANES ? lanes[lanes.push({ end: 0, jobs: [] }) - 1] : undefined);
    if (lane) { lane.jobs.push(j); lane.end = to; }
  }
  return lanes.map((l) => l.jobs);
}
