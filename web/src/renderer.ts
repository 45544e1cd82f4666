// Cables and dots by WebGL2, in a handful of draw calls.

import * as twgl from "twgl.js";
import { CABLE_FS, CABLE_VS, DOT_FS, DOT_VS, WIDE } from "./shaders";

/** Segments of a cable, from afar and from near. */
const SEGMENTS = [20, 96];
/** Pixels a unit from where on they are near, if they are as many at most. */
const NEAR = 3, FEW = 14_000;

export interface Cables { item: Uint32Array; colour: Uint8Array; width: Uint8Array }
export interface Dots { place: Float32Array; colour: Uint8Array }
interface Layer { buffer: WebGLBuffer; array: WebGLVertexArrayObject; count: number }

export class Renderer {
  private readonly gl: WebGL2RenderingContext;
  private readonly cables: twgl.ProgramInfo;
  private readonly dots: twgl.ProgramInfo;
  private readonly quad: WebGLBuffer;
  private readonly texture: WebGLTexture;
  private readonly layers = new Map<string, Layer>();
  /** Bytes that were uploaded, and draw calls of the last frame, for whoever measures. */
  uploaded = 0;
  calls = 0;

  /** Or nothing, where there is no WebGL2. Shaders smooth edges by themselves. */
  static on(canvas: HTMLCanvasElement, ways: Float32Array[]): Renderer | undefined {
    const gl = canvas.getContext("webgl2", { antialias: false, alpha: true, premultipliedAlpha: true, depth: false });
    try {
      return gl ? new Renderer(gl, ways) : undefined;
    } catch {
      return undefined;
    }
  }

  private constructor(gl: WebGL2RenderingContext, ways: Float32Array[]) {
    this.gl = gl;
    const fail = (message: string) => { throw new Error(message); };
    this.cables = twgl.createProgramInfo(gl, [CABLE_VS, CABLE_FS], { errorCallback: fail });
    this.dots = twgl.createProgramInfo(gl, [DOT_VS, DOT_FS], { errorCallback: fail });
    this.quad = twgl.createBufferFromTypedArray(gl, new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]));
    const numbers = ways.reduce((n, w) => n + w.length, 0);
    const tall = Math.max(1, Math.ceil(numbers / 4 / WIDE));
    const texels = new Float32Array(WIDE * tall * 4);
    let at = 0;
    for (const w of ways) { texels.set(w, at); at += w.length; }
    this.texture = twgl.createTexture(gl, {
      width: WIDE, height: tall, internalFormat: gl.RGBA32F, format: gl.RGBA, type: gl.FLOAT,
      src: texels, minMag: gl.NEAREST, wrap: gl.CLAMP_TO_EDGE, auto: false,
    });
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  setCables(name: string, { item, colour, width }: Cables): void {
    const n = item.length, bytes = new ArrayBuffer(12 * n);
    const words = new Uint32Array(bytes), all = new Uint8Array(bytes);
    for (let i = 0; i < n; i++) {
      words[3 * i] = item[i];
      all.set(colour.subarray(4 * i, 4 * i + 4), 12 * i + 4);
      all[12 * i + 8] = width[i];
    }
    this.upload(name, all, n, (layer) => {
      const { gl } = this, at = (attribute: string) => this.location(this.cables, attribute);
      gl.bindBuffer(gl.ARRAY_BUFFER, layer.buffer);
      gl.enableVertexAttribArray(at("item"));
      gl.vertexAttribIPointer(at("item"), 1, gl.UNSIGNED_INT, 12, 0);
      gl.vertexAttribDivisor(at("item"), 1);
      this.pointer(at("colour"), layer.buffer, 4, gl.UNSIGNED_BYTE, 12, 4, 1);
      this.pointer(at("width"), layer.buffer, 1, gl.UNSIGNED_BYTE, 12, 8, 1);
    });
  }

  setDots(name: string, { place, colour }: Dots): void {
    const n = place.length / 3, bytes = new ArrayBuffer(16 * n);
    const floats = new Float32Array(bytes), all = new Uint8Array(bytes);
    for (let i = 0; i < n; i++) {
      floats.set(place.subarray(3 * i, 3 * i + 3), 4 * i);
      all.set(colour.subarray(4 * i, 4 * i + 4), 16 * i + 12);
    }
    this.upload(name, all, n, (layer) => {
      const { gl } = this, at = (attribute: string) => this.location(this.dots, attribute);
      this.pointer(at("corner"), this.quad, 2, gl.FLOAT, 8, 0, 0);
      this.pointer(at("place"), layer.buffer, 3, gl.FLOAT, 16, 0, 1);
      this.pointer(at("colour"), layer.buffer, 4, gl.UNSIGNED_BYTE, 16, 12, 1);
    });
  }

  private location(of: twgl.ProgramInfo, name: string): number {
    return this.gl.getAttribLocation(of.program, name);
  }

  private pointer(at: number, buffer: WebGLBuffer, n: number, type: number, stride: number, from: number, each: number): void {
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.enableVertexAttribArray(at);
    gl.vertexAttribPointer(at, n, type, type !== gl.FLOAT, stride, from);
    gl.vertexAttribDivisor(at, each);
  }

  private upload(name: string, bytes: Uint8Array, count: number, describe: (layer: Layer) => void): void {
    const { gl } = this;
    let layer = this.layers.get(name);
    const isNew = !layer;
    layer ??= { buffer: gl.createBuffer()!, array: gl.createVertexArray()!, count: 0 };
    this.layers.set(name, layer);
    layer.count = count;
    this.uploaded += bytes.length;
    gl.bindBuffer(gl.ARRAY_BUFFER, layer.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, bytes, gl.DYNAMIC_DRAW);
    if (!isNew) return;
    gl.bindVertexArray(layer.array);
    describe(layer);
    gl.bindVertexArray(null);
  }

  /** Draws layers of cables, then of dots between a least and a most radius in pixels, in their order. */
  draw(cables: string[], dots: [string, number, number][], view: { x: number; y: number; k: number }, ratio: number): void {
    const { gl } = this, canvas = gl.canvas as HTMLCanvasElement;
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    this.calls = 0;
    const size = [canvas.width / ratio, canvas.height / ratio];
    gl.useProgram(this.cables.program);
    twgl.setUniforms(this.cables, { view: [view.x, view.y, view.k, 0], size, ways: this.texture });
    const count = cables.reduce((n, name) => n + (this.layers.get(name)?.count ?? 0), 0);
    const segments = SEGMENTS[view.k > NEAR && count <= FEW ? 1 : 0];
    twgl.setUniforms(this.cables, { segments });
    for (const name of cables) this.instances(name, 2 * (segments + 1));
    gl.useProgram(this.dots.program);
    for (const [name, least, most] of dots) {
      twgl.setUniforms(this.dots, { view: [view.x, view.y, view.k, least], size, most });
      this.instances(name, 4);
    }
    gl.bindVertexArray(null);
  }

  private instances(name: string, vertices: number): void {
    const layer = this.layers.get(name);
    if (!layer?.count) return;
    this.gl.bindVertexArray(layer.array);
    this.gl.drawArraysInstanced(this.gl.TRIANGLE_STRIP, 0, vertices, layer.count);
    this.calls++;
  }
}
