// The first picture: the map as far as the processor draws it at once, until the other one is there. Setting WebGL up takes long where
// no graphics card helps.

import { el } from "./dom";
import type { Model } from "./model";
import { css, heat, type Theme } from "./scale";

/** Cables that are drawn: dark ones, spread over all, and the fullest. */
const DARK = 3_000, LIT = 800;

/** Over the part of the page where the map will be. */
export function poster(model: Model, theme: Theme): HTMLCanvasElement {
  const wide = Math.max(200, innerWidth > 760 ? innerWidth - 320 : innerWidth), tall = innerWidth > 760 ? innerHeight : 0.62 * innerHeight;
  const canvas = el("canvas", { id: "poster", width: wide, height: tall, "aria-hidden": "true" });
  // Drawn by the processor, so that it waits for nothing.
  const c = canvas.getContext("2d", { willReadFrequently: true })!;
  const [x0, y0, x1, y1] = model.about.layout.bounds, top = 76, foot = 14, side = 20;
  const k = Math.min((wide - 2 * side) / Math.max(x1 - x0, 1), (tall - top - foot) / Math.max(y1 - y0, 1), 8);
  const x = wide / 2 - k * (x0 + x1) / 2, y = (tall + top - foot) / 2 - k * (y0 + y1) / 2, w = model.ways;
  const cable = (i: number) => {
    const a = 8 * i, px = (n: number) => w[a + n] * k + x, py = (n: number) => w[a + n + 1] * k + y;
    c.moveTo(px(0), py(0));
    c.bezierCurveTo(px(2), py(2), px(4), py(4), px(6), py(6));
  };
  const step = Math.max(1, model.cables / DARK);
  c.beginPath();
  for (let i = 0; i < model.cables; i += step) cable(Math.floor(i));
  c.strokeStyle = theme === "dark" ? "#5c78a8" : "#6b7a94";
  c.globalAlpha = Math.min(0.5, Math.max(0.08, 5.5 / Math.sqrt(model.cables / step + 1)));
  c.lineWidth = 0.6;
  c.stroke();
  const view = model.views[0];
  if (view?.max) {
    const load = (i: number) => Math.max(view.load[2 * i], view.load[2 * i + 1]) / view.max;
    const order = Array.from({ length: model.cables }, (_, i) => i).filter((i) => load(i) > 0).sort((a, b) => load(b) - load(a)).slice(0, LIT).reverse();
    for (const i of order) {
      const t = load(i);
      c.beginPath(); cable(i);
      c.strokeStyle = css(heat(theme)(0.06 + 0.94 * t)); c.globalAlpha = 0.35 + 0.65 * t; c.lineWidth = 0.55 + 2.1 * t;
      c.stroke();
    }
  }
  c.globalAlpha = 0.9; c.fillStyle = theme === "dark" ? "#a8bfe6" : "#33435c";
  const every = Math.max(1, model.switches / 4000), size = Math.min(4, Math.max(1, k * model.about.layout.dot));
  for (let s = 0; s < model.switches; s += every) {
    const i = Math.floor(s);
    c.fillRect(model.x[i] * k + x - size / 2, model.y[i] * k + y - size / 2, size, size);
  }
  c.globalAlpha = 1; c.fillStyle = theme === "dark" ? "#fff" : "#0b1220"; c.font = "600 18px system-ui, sans-serif";
  c.fillText(model.about.title, 20, 32);
  return canvas;
}
