// Texts over the map that never lie on each other.

import type { Place } from "./camera";
import type { Model } from "./model";

interface Text { text: string; x: number; y: number; strong: boolean; dx: number }

/** Names of what is chosen come first, then captions, then switches and hosts where there is room. */
export class Labels {
  private taken: [number, number, number, number][] = [];
  constructor(private readonly canvas: HTMLCanvasElement, private readonly model: Model) {}

  /** `hot` are cables that labels should not lie on. */
  draw(place: Place, zoomed: number, chosen: number[], near: number[], hot: Uint32Array, hosts: boolean, colours: { ink: string; faint: string; halo: string; mark: string }): void {
    const { canvas, model } = this, ratio = devicePixelRatio || 1;
    const context = canvas.getContext("2d")!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.textBaseline = "middle";
    context.lineJoin = "round";
    // What the head says comes before all labels.
    this.taken = [...document.querySelectorAll("#stage header > *")].map((e) => [0, (e as HTMLElement).offsetTop, (e as HTMLElement).offsetWidth + 24, (e as HTMLElement).offsetTop + (e as HTMLElement).offsetHeight + 16]);
    const lit = this.cells(hot, place);
    const put = (of: Text, colour: string, size: number) => {
      const t = of.text.length > LONGEST ? { ...of, text: `${of.text.slice(0, LONGEST - 1)}\u2026` } : of;
      const w = canvas.clientWidth, h = canvas.clientHeight;
      if (t.x < -40 || t.y < 4 || t.x > w + 40 || t.y > h - 4) return;
      context.font = `${t.strong ? "600 " : ""}${size}px system-ui, sans-serif`;
      const wide = context.measureText(t.text).width;
      // To the right of its dot, to the left, above or below: where no other label is and the fewest hot cables are.
      const places: [number, number][] = !t.dx ? [[t.x - wide / 2, t.y]]
        : [[t.x + t.dx, t.y], [t.x - t.dx - wide, t.y], [t.x - wide / 2, t.y - t.dx - 3], [t.x - wide / 2, t.y + t.dx + 3]];
      let best: [number, number, [number, number, number, number]] | undefined, least = Infinity;
      for (const [left, y] of places) {
        const box: [number, number, number, number] = [left - 3, y - size * 0.62, left + wide + 3, y + size * 0.62];
        if (this.taken.some((o) => box[0] < o[2] && box[2] > o[0] && box[1] < o[3] && box[3] > o[1])) continue;
        const on = covered(lit, box);
        if (on < least) { least = on; best = [left, y, box]; }
        if (!on) break;
      }
      if (!best) return;
      const [left, y, box] = best;
      this.taken.push(box);
      context.lineWidth = 3.5;
      context.strokeStyle = colours.halo;
      context.fillStyle = colour;
      context.strokeText(t.text, left, y);
      context.fillText(t.text, left, y);
    };
    const at = (x: number, y: number): [number, number] => [x * place.k + place.x, y * place.k + place.y];
    const dx = Math.max(model.about.layout.dot * place.k, 2) + 6;
    for (const s of chosen.slice(0, 40)) {
      const [x, y] = at(model.x[s], model.y[s]);
      put({ text: model.short(s), x, y, strong: true, dx }, colours.mark, 13);
    }
    for (const [text, cx, cy] of model.about.layout.captions) {
      const [x, y] = at(cx, cy);
      put({ text, x, y, strong: false, dx: 0 }, colours.faint, 12);
    }
    if (zoomed > 1.5 || model.switches < 60) {
      for (const s of near.slice(0, 600)) {
        if (chosen.includes(s)) continue;
        const [x, y] = at(model.x[s], model.y[s]);
        put({ text: model.short(s), x, y, strong: false, dx }, colours.ink, 11.5);
      }
    }
    if (!hosts) return;
    // A host's name would hide the dots of its neighbours: those come first.
    for (const s of near.slice(0, 40)) {
      for (let i = model.hostsAt[s]; i < model.hostsAt[s + 1]; i++) {
        const [hx, hy] = model.hostPlace(model.hostsOf[i]), [x, y] = at(hx, hy);
        this.taken.push([x - 3, y - 3, x + 3, y + 3]);
      }
    }
    for (const s of near.slice(0, 40)) {
      for (let i = model.hostsAt[s]; i < model.hostsAt[s + 1]; i++) {
        const h = model.hostsOf[i], [hx, hy] = model.hostPlace(h), [x, y] = at(hx, hy);
        put({ text: model.hostName(h), x, y, strong: false, dx: 8 }, colours.faint, 10.5);
      }
    }
  }

  /** Cells of the screen that hot cables cross. */
  private cells(hot: Uint32Array, place: Place): Set<number> {
    const lit = new Set<number>(), { ways } = this.model;
    for (const cable of hot) {
      const a = 8 * cable;
      for (let i = 1; i < 24; i++) {
        const t = i / 24, u = 1 - t, f = (k: number) => u * u * u * ways[a + k] + 3 * u * u * t * ways[a + 2 + k] + 3 * u * t * t * ways[a + 4 + k] + t * t * t * ways[a + 6 + k];
        lit.add(cell(f(0) * place.k + place.x, f(1) * place.k + place.y));
      }
    }
    return lit;
  }
}

/** Letters of a label at most. */
const LONGEST = 40;
const CELL = 10;
const cell = (x: number, y: number): number => Math.floor(x / CELL) * 65536 + Math.floor(y / CELL);

function covered(lit: Set<number>, box: [number, number, number, number]): number {
  let on = 0;
  for (let x = box[0]; x <= box[2]; x += CELL) for (let y = box[1]; y <= box[3]; y += CELL) if (lit.has(cell(x, y))) on++;
  return on;
}
