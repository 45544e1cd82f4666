// Time: a slider, jobs as lanes under it, play.

import { el } from "./dom";
import { seconds } from "./format";
import type { Model } from "./model";
import { jobColour, type Theme } from "./scale";
import type { Store } from "./state";

/** Lanes that are drawn; the page finds the others by name. */
const LANES = 12, LANE = 13;

export class Timeline {
  readonly root = el("div", { id: "time" });
  private readonly slider = el("input", { type: "range", min: -1, step: 1, "aria-label": "Interval of time; leftmost is all of it" });
  private readonly button = el("button", { type: "button", class: "play", "aria-label": "Play", click: () => this.toggle() }, "\u25b6");
  private readonly text = el("output", {});
  private readonly lanes = el("canvas", { "aria-hidden": "true" });
  private timer = 0;

  constructor(private readonly model: Model, private readonly store: Store, private readonly theme: () => Theme) {
    const names = el("div", { class: "names" }, ...this.shown.map((j) => el("span", {}, model.jobs[j].name)));
    if (!this.intervals && !this.shown.length) { this.root.hidden = true; return; }
    this.root.append(names, this.lanes);
    if (this.intervals) {
      this.root.append(el("div", { class: "clock" }, this.button, this.text), this.slider);
      this.slider.max = String(this.intervals - 1);
      this.slider.addEventListener("input", () => this.go(+this.slider.value));
      this.lanes.addEventListener("pointerdown", (e) => this.point(e));
      this.lanes.addEventListener("pointermove", (e) => { if (e.buttons) this.point(e); });
    }
    this.lanes.style.height = `${Math.max(1, this.shown.length) * LANE}px`;
  }

  private get series() { return this.model.views[this.store.now.view]?.series; }
  private get intervals(): number { return this.series ? this.series.start.length - 1 : 0; }
  private get shown(): number[] {
    return this.model.jobs.flatMap((job, j) => (job.runs.length ? [j] : [])).slice(0, LANES);
  }
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
    this.text.textContent = time === null || !series ? "all of it" : seconds((time + 0.5) * series.interval);
    const { lanes } = this, w = lanes.clientWidth, h = lanes.clientHeight;
    lanes.width = w * ratio; lanes.height = h * ratio;
    const c = lanes.getContext("2d")!;
    c.scale(ratio, ratio);
    const x = (t: number) => t / this.end * w;
    this.shown.forEach((j, lane) => {
      c.fillStyle = jobColour(this.theme(), j);
      c.globalAlpha = this.store.now.job === null || this.store.now.job === j ? 0.85 : 0.25;
      for (const [from, to] of this.model.jobs[j].runs) {
        const wide = Math.max(x(to) - x(from), 0.5);
        c.fillRect(x(from), lane * LANE + 2, wide > 3 ? wide - 1 : wide, LANE - 4);
      }
    });
    c.globalAlpha = 1;
    if (time !== null && series) {
      c.fillStyle = this.theme() === "dark" ? "#fff" : "#000";
      const from = x(time * series.interval), to = x((time + 1) * series.interval);
      c.globalAlpha = 0.14; c.fillRect(from, 0, Math.max(to - from, 1), h);
      c.globalAlpha = 1; c.fillRect((from + to) / 2 - 0.75, 0, 1.5, h);
    }
  }
}
