// The ways that cables take; the same rules as crates/page/src/layout/curve.rs.

export type Rule = { kind: "radial"; x: number; y: number; r: number } | { kind: "bow"; h: number };

/** Writes the ends and control points of a cable: x and y of four points. */
export function cubic(
  rule: Rule, ax: number, ay: number, bx: number, by: number, out: Float32Array, at: number,
): void {
  out[at] = ax; out[at + 1] = ay; out[at + 6] = bx; out[at + 7] = by;
  if (rule.kind === "radial") {
    const toward = (px: number, py: number, to: number) => {
      const dx = px - rule.x, dy = py - rule.y;
      const long = Math.max(Math.hypot(dx, dy), 1e-6);
      out[to] = rule.x + dx / long * rule.r;
      out[to + 1] = rule.y + dy / long * rule.r;
    };
    toward(ax, ay, at + 2);
    toward(bx, by, at + 4);
    return;
  }
  const dx = bx - ax, dy = by - ay;
  const long = Math.max(Math.hypot(dx, dy), 1e-6);
  const nx = -dy / long * rule.h / 0.75, ny = dx / long * rule.h / 0.75;
  out[at + 2] = ax + dx * 0.15 + nx; out[at + 3] = ay + dy * 0.15 + ny;
  out[at + 4] = ax + dx * 0.85 + nx; out[at + 5] = ay + dy * 0.85 + ny;
}

/** A point of a cubic. */
export function along(c: Float32Array, at: number, t: number): [number, number] {
  const u = 1 - t;
  const a = u * u * u, b = 3 * u * u * t, d = 3 * u * t * t, e = t * t * t;
  return [
    a * c[at] + b * c[at + 2] + d * c[at + 4] + e * c[at + 6],
    a * c[at + 1] + b * c[at + 3] + d * c[at + 5] + e * c[at + 7],
  ];
}

/** How far a point is from a cubic, as far as `steps` chords tell. */
export function distance(c: Float32Array, at: number, x: number, y: number, steps = 24): number {
  let [px, py] = along(c, at, 0);
  let best = Infinity;
  for (let i = 1; i <= steps; i++) {
    const [qx, qy] = along(c, at, i / steps);
    const dx = qx - px, dy = qy - py;
    const t = Math.min(1, Math.max(0, ((x - px) * dx + (y - py) * dy) / (dx * dx + dy * dy || 1)));
    best = Math.min(best, Math.hypot(x - px - dx * t, y - py - dy * t));
    px = qx; py = qy;
  }
  return best;
}
