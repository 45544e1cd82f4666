// Charts of the page: to zoom by dragging, to ask for values by pointing, to go to a moment by clicking.

import uPlot from "uplot";
import { el, section } from "./dom";
import { date, group, seconds, si } from "./format";
import type { Axis, Chart, Model } from "./model";
import { jobColour, type Theme } from "./scale";
import type { Store } from "./state";

/** Letters of a name below bars, and bars whose names are shown. */
const NAME = 16;

const trim = (v: number): string => (Math.abs(v) >= 10_000 ? group(v) : String(+v.toPrecision(4)));
const say = (axis: Axis) => (v: number | null | undefined): string => {
  if (v === null || v === undefined) return "";
  switch (axis.measured) {
    case "seconds": return seconds(v);
    case "date": return date(v);
    case "bytes": return si(v, "B");
    case "percent": return `${trim(v)} %`;
    default: return trim(v);
  }
};

export class Charts {
  readonly root = el("div", { id: "charts" });
  readonly dialog = el("dialog", { id: "chart", "aria-label": "Chart" });
  private plots: uPlot[] = [];

  constructor(private readonly model: Model, private readonly store: Store, private readonly theme: () => Theme) {}

  /** All of them, small, one below another. */
  show(wide: number): void {
    for (const plot of this.plots) plot.destroy();
    this.plots = [];
    const { charts } = this.model.about;
    this.root.replaceChildren(...(charts.length ? [section("Charts", ...charts.map((_, i) => this.card(i, wide)))] : []));
  }

  /** Moments go on: each chart of time says where it is. */
  redraw(): void { for (const plot of this.plots) plot.redraw(false); }

  private card(i: number, wide: number): HTMLElement {
    const chart = this.model.chart(i), host = el("div", { class: "plot" });
    this.plots.push(this.plot(chart, host, wide, Math.round(Math.max(150, wide * 0.42))));
    return el("figure", { "data-chart": i }, el("figcaption", {},
      el("button", { type: "button", class: "link", title: "Enlarge", click: () => this.enlarge(i) }, chart.title)), host);
  }

  private enlarge(i: number): void {
    const chart = this.model.chart(i), host = el("div", { class: "plot" });
    this.dialog.replaceChildren(el("header", {}, el("h2", {}, chart.title),
      el("button", { type: "button", "aria-label": "Close", click: () => this.dialog.close() }, "\u00d7")), host);
    this.dialog.showModal();
    this.plot(chart, host, Math.min(innerWidth * 0.9, 1200), Math.min(innerHeight * 0.66, 560));
  }

  private plot(chart: Chart, host: HTMLElement, width: number, height: number): uPlot {
    const theme = this.theme(), [xs, lines] = data(chart), bars = chart.form === "bars";
    const ink = theme === "dark" ? "#8390a8" : "#5f6b7e", grid = theme === "dark" ? "#1b2333" : "#dde1e9";
    const axis = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1, size: 4 }, font: "11px system-ui" };
    const dates = chart.x.measured === "date", tellX = say(chart.x), tellY = say(chart.y);
    const most = Math.max(1, Math.floor(width / 70)), each = Math.ceil(chart.names.length / most);
    host.setAttribute("role", "img");
    host.setAttribute("aria-label", words(chart));
    const names: Partial<uPlot.Axis> = {
      splits: () => chart.names.map((_, n) => n).filter((n) => n % Math.max(1, each) === 0),
      values: (_: uPlot, all: (number | null)[]) => all.map((v) => (v === null ? "" : short(chart.names[v] ?? ""))),
      grid: { show: false }, rotate: chart.names.length > 2 && width / chart.names.length < 110 ? -28 : 0, size: chart.names.length > 2 ? 52 : 30,
    };
    const numbers: Partial<uPlot.Axis> = {
      size: 30, space: dates ? 112 : 54, values: (_: uPlot, all: (number | null)[]) => all.map(tellX),
    };
    const edge = bars ? 0.5 : 0;
    const plot = new uPlot({
      width, height, padding: [8, 14, 0, 0],
      tzDate: (t: number) => uPlot.tzDate(new Date(t * 1000), "UTC"),
      cursor: { points: { size: 5 }, drag: { x: !bars, y: false } },
      legend: { show: true, live: true },
      scales: {
        x: { time: dates, distr: chart.x.log && !bars ? 3 : 1, ...(bars ? { range: [-edge, chart.names.length - 1 + edge] } : {}) },
        y: chart.y.log ? { distr: 3 } : { range: (_u: uPlot, low: number, high: number) => upright(bars && low > 0 ? 0 : low, high) },
      },
      axes: [
        { ...axis, ...(bars ? names : numbers), ...(bars ? {} : { label: chart.x.label, labelSize: 16, labelFont: "11px system-ui" }) },
        { ...axis, size: 56, space: 26, label: short(chart.y.label, Math.floor((height - 60) / 6.5)), labelSize: 16, labelFont: "11px system-ui",
          values: (_: uPlot, all: (number | null)[]) => all.map(tellY) },
      ],
      series: [
        { label: bars ? "at" : chart.x.label, value: (_: uPlot, v: number | null) => (v === null ? "" : bars ? chart.names[Math.round(v)] ?? "" : tellX(v)) },
        ...lines.map((line, n) => {
          const colour = jobColour(theme, n);
          return {
            label: line.name, stroke: colour, width: bars ? 0 : 1.5, ...(bars ? { fill: colour } : {}),
            value: (_: uPlot, v: number | null) => (v === null ? "\u2013" : tellY(v)),
            ...(chart.form === "points" && n === 0 ? { paths: () => null } : {}),
            ...(chart.form === "steps" ? { paths: uPlot.paths.stepped!({ align: 1 }) } : {}),
            ...(bars ? { paths: uPlot.paths.bars!({ size: [0.92, 46] }) } : {}),
            points: { show: chart.form === "points" && n === 0, size: 4 }, spanGaps: chart.form !== "steps",
          };
        }),
      ],
      hooks: { draw: [(u) => this.mark(u, chart)] },
    }, [xs, ...lines.map((l) => l.values)] as uPlot.AlignedData, host);
    plot.over.addEventListener("click", () => this.go(chart, plot));
    return plot;
  }

  private get series() { return this.model.views[this.store.now.view]?.series; }

  /** Whether a place on the axis is a moment of the slider. */
  private timed(chart: Chart): boolean {
    const { series } = this;
    return !!series && (series.begins === null ? chart.x.measured === "seconds" : chart.x.measured === "date");
  }

  private go(chart: Chart, plot: uPlot): void {
    const { series } = this;
    if (!series || !this.timed(chart) || plot.cursor.left === undefined || plot.cursor.left < 0) return;
    const t = plot.posToVal(plot.cursor.left, "x") - (series.begins ?? 0);
    const i = Math.floor(t / series.interval);
    if (i >= 0 && i < series.start.length - 1) this.store.set({ time: i });
  }

  private mark(plot: uPlot, chart: Chart): void {
    const { series } = this, { time } = this.store.now;
    if (!series || time === null || !this.timed(chart)) return;
    const x = plot.valToPos((series.begins ?? 0) + (time + 0.5) * series.interval, "x", true), { ctx, bbox } = plot;
    if (x < bbox.left || x > bbox.left + bbox.width) return;
    ctx.save();
    ctx.fillStyle = this.theme() === "dark" ? "#ffffffb0" : "#000000a0";
    ctx.fillRect(x - 1, bbox.top, 2, bbox.height);
    ctx.restore();
  }
}

const short = (name: string, most = NAME): string => (name.length > most ? `${name.slice(0, most - 1)}\u2026` : name);

/** From zero, where that is not far away. */
function upright(low: number | null, high: number | null): [number, number] {
  if (low === null || high === null) return [0, 1];
  const from = low >= 0 && low < 0.6 * high ? 0 : low, room = (high - from) * 0.06 || Math.abs(high) * 0.06 || 1;
  return [from === 0 ? 0 : from - room, high + room];
}

type Line = { name: string; values: (number | null)[] };

/** Numbers as they are drawn: bars of several lines beside each other; on an axis of powers of ten nothing below them. */
function data(chart: Chart): [number[], Line[]] {
  const log = chart.y.log, number = (v: number): number | null => (Number.isNaN(v) || (log && v <= 0) ? null : v);
  const at = Array.from(chart.at);
  if (chart.form !== "bars") return [at, chart.lines.map((l) => ({ name: l.name, values: Array.from(l.values, number) }))];
  const n = chart.lines.length, wide = 0.8 / Math.max(1, n), xs: number[] = [];
  const lines: Line[] = chart.lines.map((l) => ({ name: l.name, values: new Array<number | null>(at.length * n).fill(null) }));
  at.forEach((x, i) => {
    for (let j = 0; j < n; j++) {
      xs.push(x + (j - (n - 1) / 2) * wide);
      lines[j].values[xs.length - 1] = number(chart.lines[j].values[i]);
    }
  });
  return [xs, lines];
}

/** The chart in words. */
function words(chart: Chart): string {
  const tell = say(chart.y), parts = chart.lines.slice(0, 8).map((l) => {
    const all = Array.from(l.values).filter((v) => !Number.isNaN(v));
    return all.length ? `${l.name} ${tell(Math.min(...all))} to ${tell(Math.max(...all))}` : `${l.name} nothing`;
  });
  return `${chart.title}: ${chart.y.label}; ${parts.join(", ")}`;
}
