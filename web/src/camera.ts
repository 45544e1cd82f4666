// Moving over the map: drag, wheel, pinch, keys, and flights to a place.

import { select, type Selection } from "d3-selection";
import { zoom, zoomIdentity, zoomTransform, type ZoomBehavior, type ZoomTransform } from "d3-zoom";
import type { Box } from "./lod";

export interface Place { x: number; y: number; k: number }

export class Camera {
  private readonly zoom: ZoomBehavior<HTMLCanvasElement, unknown>;
  private readonly on: Selection<HTMLCanvasElement, unknown, null, undefined>;
  private flight = 0;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly bounds: [number, number, number, number],
    moved: () => void,
  ) {
    this.zoom = zoom<HTMLCanvasElement, unknown>().scaleExtent([0.5, 400]).clickDistance(4).on("zoom", moved);
    this.on = select(canvas).call(this.zoom).on("dblclick.zoom", null);
  }

  private get transform(): ZoomTransform { return zoomTransform(this.canvas); }

  /** Pixels a unit of the map, and where its origin is, so that all of it fits below the head and above the feet. */
  private fit(): Place {
    const { clientWidth: w, clientHeight: h } = this.canvas;
    const [x0, y0, x1, y1] = this.bounds, top = 76, foot = 14, side = 20;
    const k = Math.min((w - 2 * side) / Math.max(x1 - x0, 1), (h - top - foot) / Math.max(y1 - y0, 1));
    return { k: Math.min(k, 8), x: w / 2 - Math.min(k, 8) * (x0 + x1) / 2, y: (h + top - foot) / 2 - Math.min(k, 8) * (y0 + y1) / 2 };
  }

  get place(): Place {
    const f = this.fit(), t = this.transform;
    return { x: t.x + t.k * f.x, y: t.y + t.k * f.y, k: t.k * f.k };
  }

  /** How far in: 1 where all fits. */
  get zoomed(): number { return this.transform.k; }

  get box(): Box {
    const { x, y, k } = this.place, { clientWidth: w, clientHeight: h } = this.canvas;
    return { x0: -x / k, y0: -y / k, x1: (w - x) / k, y1: (h - y) / k };
  }

  world(px: number, py: number): [number, number] {
    const { x, y, k } = this.place;
    return [(px - x) / k, (py - y) / k];
  }

  /** To a box of the map, with room around it; at once where motion is not wanted. */
  fly(box: Box, most = 60): void {
    const { clientWidth: w, clientHeight: h } = this.canvas, f = this.fit();
    const k = Math.min(w * 0.6 / Math.max(box.x1 - box.x0, 1e-3), h * 0.6 / Math.max(box.y1 - box.y0, 1e-3), f.k * most);
    const to = Math.max(k / f.k, 1);
    const cx = (box.x0 + box.x1) / 2, cy = (box.y0 + box.y1) / 2;
    const tx = w / 2 - to * (f.k * cx + f.x), ty = h / 2 - to * (f.k * cy + f.y);
    this.glide(zoomIdentity.translate(tx, ty).scale(to));
  }

  home(): void { this.glide(zoomIdentity); }
  by(factor: number): void { this.zoom.scaleBy(this.on, factor); }
  pan(dx: number, dy: number): void { this.zoom.translateBy(this.on, dx / this.zoomed, dy / this.zoomed); }

  get hash(): string {
    const { k } = this.transform, b = this.box;
    return k === 1 ? "" : [k, (b.x0 + b.x1) / 2, (b.y0 + b.y1) / 2].map((n) => +n.toFixed(2)).join(",");
  }

  restore(text: string): void {
    const [k, cx, cy] = text.split(",").map(Number);
    cancelAnimationFrame(this.flight);
    if (!(k > 0) || !Number.isFinite(cx) || !Number.isFinite(cy)) return;
    const f = this.fit(), { clientWidth: w, clientHeight: h } = this.canvas;
    const by = Math.min(Math.max(k, 0.5), 400);
    this.zoom.transform(this.on, zoomIdentity.translate(w / 2 - by * (f.k * cx + f.x), h / 2 - by * (f.k * cy + f.y)).scale(by));
  }

  private glide(to: ZoomTransform): void {
    cancelAnimationFrame(this.flight);
    const from = this.transform, begin = performance.now();
    const long = matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 450;
    const step = (now: number) => {
      const t = long ? Math.min(1, Math.max(0, (now - begin) / long)) : 1, e = t * t * (3 - 2 * t);
      const k = from.k * (to.k / from.k) ** e;
      // The middle goes along a line on the map while the zoom grows evenly.
      const f = Math.abs(to.k - from.k) < 1e-6 ? e : (1 / from.k - 1 / k) / (1 / from.k - 1 / to.k);
      const lerp = (a: number, b: number) => (a / from.k + (b / to.k - a / from.k) * f) * k;
      const at = t === 1 ? to : zoomIdentity.translate(lerp(from.x, to.x), lerp(from.y, to.y)).scale(k);
      this.zoom.transform(this.on, at);
      if (t < 1) this.flight = requestAnimationFrame(step);
    };
    if (long) this.flight = requestAnimationFrame(step); else step(begin);
  }
}
