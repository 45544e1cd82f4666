// The data of a page: named arrays behind a description, as crates/page/src/blob.rs writes them.

type Form = "u8" | "u16" | "u32" | "f32" | "text";
interface Section { name: string; form: Form; rising: boolean; at: number; count: number }
const WIDTH: Record<Form, number> = { u8: 1, u16: 2, u32: 4, f32: 4, text: 1 };

/** The arrays of a page, decoded when they are asked for. */
export class Blob64 {
  private constructor(
    readonly about: unknown,
    private readonly sections: Map<string, Section>,
    private readonly bytes: Uint8Array,
  ) {}

  static async read(text: string): Promise<Blob64> {
    const packed = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    const all = new Uint8Array(await new Response(stream).arrayBuffer());
    const length = new DataView(all.buffer).getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(all.subarray(4, 4 + length))) as
      { about: unknown; sections: Section[] };
    const sections = new Map(header.sections.map((s) => [s.name, s]));
    return new Blob64(header.about, sections, all.subarray(4 + length));
  }

  has(name: string): boolean {
    return this.sections.has(name);
  }

  text(name: string): string[] {
    const s = this.section(name);
    const lines = new TextDecoder().decode(this.bytes.subarray(s.at, s.at + s.count));
    return lines.split("\n");
  }

  u8(name: string): Uint8Array {
    const s = this.section(name);
    return this.bytes.subarray(s.at, s.at + s.count);
  }

  u16(name: string): Uint16Array {
    return new Uint16Array(this.joined(name));
  }

  f32(name: string): Float32Array {
    return new Float32Array(this.joined(name));
  }

  u32(name: string): Uint32Array {
    const numbers = new Uint32Array(this.joined(name));
    if (this.section(name).rising) {
      for (let i = 1; i < numbers.length; i++) numbers[i] += numbers[i - 1];
    }
    return numbers;
  }

  private section(name: string): Section {
    const found = this.sections.get(name);
    if (!found) throw new Error(`this page has no ${name}`);
    return found;
  }

  /** Byte planes put together again. */
  private joined(name: string): ArrayBuffer {
    const { at, count, form } = this.section(name);
    const width = WIDTH[form];
    const out = new Uint8Array(count * width);
    for (let i = 0; i < width; i++) {
      const plane = at + i * count;
      for (let j = 0; j < count; j++) out[j * width + i] = this.bytes[plane + j];
    }
    return out.buffer;
  }
}
