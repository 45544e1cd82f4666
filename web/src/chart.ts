// A channel over time.

import uPlot from "uplot";
import { el } from "./dom";
import { moment, value } from "./format";
import type { Series } from "./model";
import { css, heat, type Theme } from "./scale";

export function sparkline(series: Series, channel: number, theme: Theme): HTMLElement {
  const n = series.start.length - 1, times: number[] = [], shares: number[] = [], percent = series.unit === "share";
  const by = percent ? 100 / 65535 : series.full / 65535;
  for (let i = 0; i < n; i++) {
    times.push(i * series.interval);
    let share = 0;
    for (let k = series.start[i]; k < series.start[i + 1]; k++) {
      if (series.channel[k] === channel) { share = series.share[k] * by; break; }
    }
    shares.push(share);
  }
  times.push(n * series.interval);
  shares.push(shares[n - 1] ?? 0);
  const host = el("div", { class: "spark", role: "img", "aria-label": percent ? `at most ${Math.max(...shares).toFixed(0)} % busy` : `at most ${value(Math.max(...shares), series.unit)}` });
  const faint = theme === "dark" ? "#7a869c" : "#5d6675", grid = theme === "dark" ? "#1c2433" : "#e4e7ec";
  const axis = { stroke: faint, grid: { stroke: grid, width: 1 }, ticks: { show: false }, font: "10px system-ui", size: 20, gap: 3 };
  new uPlot({
    width: 278, height: 84, cursor: { show: false }, legend: { show: false }, padding: [6, 22, 0, 0],
    scales: { x: { time: false }, y: { range: [0, percent ? Math.max(10, Math.ceil(Math.max(...shares) / 10) * 10) : Math.max(1, Math.max(...shares) * 1.05)] } },
    axes: [
      { ...axis, values: (_: uPlot, all: number[]) => all.map((t) => (series.begins === null ? moment(null, t) : moment(series.begins, t).slice(5, 10))), space: 60 },
      { ...axis, size: 36, values: (_: uPlot, all: number[]) => all.map((v) => (percent ? `${v} %` : value(v, series.unit))), space: 26 },
    ],
    series: [{}, {
      stroke: css(heat(theme)(0.6)), fill: css(heat(theme)(0.6)).replace(")", ",.25)").replace("rgb", "rgba"), width: 1.5,
      paths: uPlot.paths.stepped!({ align: 1 }), points: { show: false },
    }],
  }, [times, shares], host);
  return host;
}
