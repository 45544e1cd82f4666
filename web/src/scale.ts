// Colours of load, and the legend's round numbers.

import { scaleLinear } from "d3-scale";

export type Rgb = [number, number, number];
export type Theme = "dark" | "light";

// Lightness grows (on dark) or falls (on light) along each of them, so that they can be read without telling hues apart.
const HEAT: Record<Theme, string[]> = {
  dark: ["#3b2a63", "#6d2a78", "#a8327d", "#e0525f", "#f98d3c", "#fcc341", "#fdf5a6"],
  light: ["#c9c3d8", "#b59ac2", "#b5649f", "#bf3a70", "#a61f45", "#77122f", "#3d0a1d"],
};
/** Below and above zero, for differences. */
const APART: Record<Theme, string[]> = {
  dark: ["#7fd0ff", "#3f8fd0", "#27456e", "#3a3f4a", "#7a4a2a", "#d98032", "#ffd28a"],
  light: ["#08306b", "#2f78b7", "#a5c8e1", "#d5d5d5", "#f0b784", "#cc5a12", "#6e2600"],
};
/** Okabe and Ito's colours, which the colour-blind can tell apart; more jobs go round with numbers to tell them. */
const JOBS: Record<Theme, string[]> = {
  dark: ["#e69f00", "#56b4e9", "#12c296", "#f0e442", "#6f9bff", "#ff7a3d", "#dd8fc0", "#c9d1d9"],
  light: ["#b87d00", "#2b8cc4", "#00805b", "#8a8200", "#0050a8", "#c24a00", "#a9558a", "#57606a"],
};

const rgb = (hex: string): Rgb =>
  [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255) as Rgb;

function ramp(colours: string[]): (t: number) => Rgb {
  const stops = colours.map(rgb);
  return (t) => {
    const at = Math.min(1, Math.max(0, t)) * (stops.length - 1);
    const i = Math.min(Math.floor(at), stops.length - 2), f = at - i;
    return [0, 1, 2].map((k) => stops[i][k] * (1 - f) + stops[i + 1][k] * f) as Rgb;
  };
}

export const css = (c: Rgb): string => `rgb(${c.map((x) => Math.round(255 * x)).join(",")})`;
export const heat = (theme: Theme): ((t: number) => Rgb) => ramp(HEAT[theme]);
export const apart = (theme: Theme): ((t: number) => Rgb) => ramp(APART[theme]);
export const jobColour = (theme: Theme, j: number): string => JOBS[theme][j % JOBS[theme].length];
export const jobRgb = (theme: Theme, j: number): Rgb => rgb(jobColour(theme, j));

/** From nothing to a round number that all fit below, and round numbers between. */
export class Scale {
  readonly ticks: number[];
  readonly max: number;
  constructor(most: number, share: boolean) {
    const linear = scaleLinear().domain([0, most > 0 ? most : 1]).nice(4);
    this.max = share && most > 0.5 ? 1 : linear.domain()[1];
    this.ticks = scaleLinear().domain([0, this.max]).ticks(4).filter((t) => t <= this.max * 1.0001);
  }
  at(value: number): number { return value / this.max; }
}
