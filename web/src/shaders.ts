// Cables as instanced strips: the cubic is evaluated in the vertex shader.

/** Texels of a row of the texture of cubics, two a cubic. */
export const WIDE = 2048;

export const CABLE_VS = `#version 300 es
in uint item;
in vec4 colour;
in float width;
uniform sampler2D ways;
uniform float segments;
uniform vec4 view;
uniform vec2 size;
out vec4 tint;
out float across;
void main() {
  float along = float(gl_VertexID >> 1) / segments, side = (gl_VertexID & 1) == 0 ? -1.0 : 1.0;
  int at0 = int(item >> 1u) * 2;
  vec4 a = texelFetch(ways, ivec2(at0 % ${WIDE}, at0 / ${WIDE}), 0);
  vec4 b = texelFetch(ways, ivec2((at0 + 1) % ${WIDE}, (at0 + 1) / ${WIDE}), 0);
  float w = width * 255.0 / 16.0;
  // The two ways of a cable lie beside each other.
  vec2 look = vec2(w, ((item & 1u) == 1u ? -1.0 : 1.0) * (w * 0.5 + 0.2));
  float t = along, u = 1.0 - t;
  vec2 p0 = a.xy, p1 = a.zw, p2 = b.xy, p3 = b.zw;
  vec2 p = u*u*u*p0 + 3.0*u*u*t*p1 + 3.0*u*t*t*p2 + t*t*t*p3;
  vec2 d = 3.0*u*u*(p1-p0) + 6.0*u*t*(p2-p1) + 3.0*t*t*(p3-p2);
  float n = length(d);
  d = n > 1e-6 ? d / n : normalize(p3 - p0 + 1e-6);
  vec2 at = p * view.z + view.xy;
  float wide = look.x * 0.5 + 0.75;
  at += vec2(-d.y, d.x) * (side * wide + look.y);
  gl_Position = vec4(at.x / size.x * 2.0 - 1.0, 1.0 - at.y / size.y * 2.0, 0.0, 1.0);
  tint = colour;
  across = side * wide / max(look.x * 0.5 + 0.25, 0.5);
}`;

export const CABLE_FS = `#version 300 es
precision mediump float;
in vec4 tint;
in float across;
out vec4 result;
void main() {
  float edge = 1.0 - smoothstep(0.55, 1.25, abs(across));
  float alpha = tint.a * edge;
  result = vec4(tint.rgb * alpha, alpha);
}`;

export const DOT_VS = `#version 300 es
in vec2 corner;
in vec3 place;
in vec4 colour;
uniform vec4 view;
uniform vec2 size;
uniform float most;
out vec2 from;
out vec4 tint;
void main() {
  float r = clamp(place.z * view.z, view.w, most) + 0.75;
  vec2 at = place.xy * view.z + view.xy + corner * r;
  gl_Position = vec4(at.x / size.x * 2.0 - 1.0, 1.0 - at.y / size.y * 2.0, 0.0, 1.0);
  from = corner * r / max(r - 0.75, 0.5);
  tint = colour;
}`;

export const DOT_FS = `#version 300 es
precision mediump float;
in vec2 from;
in vec4 tint;
out vec4 result;
void main() {
  float alpha = tint.a * (1.0 - smoothstep(0.75, 1.2, length(from)));
  result = vec4(tint.rgb * alpha, alpha);
}`;
