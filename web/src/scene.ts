// From what is known now to what the renderer draws.

import type { Drawn } from "./lod";
import type { Model } from "./model";
import type { Renderer } from "./renderer";
import { apart, heat, jobRgb, type Rgb, type Theme } from "./scale";
import type { Now } from "./values";

const DARK: Record<Theme, Rgb> = { dark: [0.36, 0.47, 0.66], light: [0.42, 0.48, 0.58] };
const DOT: Record<Theme, Rgb> = { dark: [0.66, 0.75, 0.9], light: [0.2, 0.26, 0.36] };
const HOST: Record<Theme, Rgb> = { dark: [0.45, 0.53, 0.66], light: [0.45, 0.5, 0.58] };
const MARK: Record<Theme, Rgb> = { dark: [0.55, 0.95, 1], light: [0, 0.42, 0.62] };

const put = (to: Uint8Array, i: number, c: Rgb, alpha: number) => {
  to[4 * i] = 255 * c[0]; to[4 * i + 1] = 255 * c[1]; to[4 * i + 2] = 255 * c[2]; to[4 * i + 3] = 255 * Math.min(1, alpha);
};

/** Dark cables: the more there are, the fainter each. */
export function drawDark(renderer: Renderer, drawn: Drawn, theme: Theme, zoomed: number, strength: number): void {
  const n = drawn.dark.length;
  const ink = Math.min(0.5, Math.max(0.05, 5.5 / Math.sqrt(n + 1))) * Math.min(2, zoomed ** 0.3) * strength;
  const colour = new Uint8Array(4 * n);
  for (let i = 0; i < n; i++) put(colour, i, DARK[theme], drawn.bundled ? ink * 0.5 : ink);
  renderer.setCables("dark", { item: drawn.dark.map((c) => 2 * c), colour, width: new Uint8Array(n).fill(9) });
}

/** Lit ones: what is full is bright and broad, and what is not gives way the more of it there is. */
export function drawLit(
  renderer: Renderer, drawn: Drawn, now: Now, theme: Theme, owner: ((channel: number) => number) | null, zoomed: number,
): void {
  const n = drawn.lit.length, ramp = now.apart ? apart(theme) : heat(theme);
  const colour = new Uint8Array(4 * n), width = new Uint8Array(n);
  const hot = drawn.heat.reduce((sum, t) => sum + (t > 0.6 ? 1 : 0), 0);
  const crowd = Math.min(1, Math.max(0.07, 1100 / (n + 1))), press = Math.min(1, Math.sqrt(1800 / (hot + 1)));
  const near = Math.min(2.2, zoomed ** 0.35);
  const value = now.apart ? new Map(Array.from(now.channel, (c, i) => [c, now.value[i]])) : null;
  for (let i = 0; i < n; i++) {
    const t = drawn.heat[i], room = crowd + (press - crowd) * Math.min(1, t / 0.7) ** 2;
    const down = value && value.get(drawn.channel[i])! < 0;
    const c = owner ? jobRgb(theme, owner(drawn.channel[i])) : ramp(now.apart ? (down ? 0.5 - t / 2 : 0.5 + t / 2) : 0.06 + 0.94 * t);
    put(colour, i, c, (0.35 + 0.65 * t) * room * near);
    width[i] = Math.min(255, 16 * (0.55 + 2.1 * t * Math.max(press, 0.25)) * near);
  }
  renderer.setCables("lit", { item: drawn.lit, colour, width });
}

export function drawSwitches(renderer: Renderer, model: Model, theme: Theme): void {
  const n = model.switches, place = new Float32Array(3 * n), colour = new Uint8Array(4 * n);
  for (let s = 0; s < n; s++) {
    place.set([model.x[s], model.y[s], model.about.layout.dot], 3 * s);
    put(colour, s, DOT[theme], n > 4000 ? 0.6 : 0.9);
  }
  renderer.setDots("switches", { place, colour });
}

/** Hosts around the switches that are seen from near. */
export function drawHosts(
  renderer: Renderer, model: Model, switches: number[], theme: Theme, jobOf: (host: number) => number | undefined,
): void {
  const hosts: number[] = [];
  for (const s of switches) for (let i = model.hostsAt[s]; i < model.hostsAt[s + 1]; i++) hosts.push(model.hostsOf[i]);
  const place = new Float32Array(3 * hosts.length), colour = new Uint8Array(4 * hosts.length);
  hosts.forEach((h, i) => {
    place.set(model.hostPlace(h), 3 * i);
    const job = jobOf(h);
    put(colour, i, job === undefined ? HOST[theme] : jobRgb(theme, job), 0.95);
  });
  renderer.setDots("hosts", { place, colour });
}

/** What was chosen, above all else. */
export function drawMarks(renderer: Renderer, model: Model, channels: number[], switches: number[], theme: Theme): void {
  const item = Uint32Array.from(channels), colour = new Uint8Array(4 * item.length);
  for (let i = 0; i < item.length; i++) put(colour, i, MARK[theme], 1);
  renderer.setCables("marks", { item, colour, width: new Uint8Array(item.length).fill(48) });
  const place = new Float32Array(3 * switches.length), dots = new Uint8Array(4 * switches.length);
  switches.forEach((s, i) => {
    place.set([model.x[s], model.y[s], model.about.layout.dot * 1.15], 3 * i);
    put(dots, i, MARK[theme], 1);
  });
  renderer.setDots("ends", { place, colour: dots });
}
