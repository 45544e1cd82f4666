// The parts of the page together: who draws when what changes.

import { bundles } from "./bundles";
import { Camera } from "./camera";
import { Charts } from "./charts";
import { Detail as ZoomDetail, type Box } from "./lod";
import { Detail } from "./detail";
import { el } from "./dom";
import { count, group } from "./format";
import * as hash from "./hash";
import { Labels } from "./labels";
import { Legend, type Key } from "./legend";
import * as lists from "./lists";
import { NO_LANE, type Job, type Model } from "./model";
import { Picker, type Below } from "./pick";
import { Renderer } from "./renderer";
import * as scene from "./scene";
import type { Theme } from "./scale";
import { Search } from "./search";
import { Sheets } from "./sheets";
import { Store, type Chosen } from "./state";
import { ChannelTable } from "./table";
import { Timeline } from "./timeline";
import { Tip } from "./tip";
import { Values, type Now } from "./values";
import { viewName, viewPicker } from "./views";

/** Cables that labels make way for, at most. */
const HOT = 300;

export class App {
  readonly store = new Store();
  readonly detail: Detail;
  readonly picker: Picker;
  readonly renderer: Renderer;
  readonly camera: Camera;
  readonly timeline: Timeline;
  readonly table: ChannelTable;
  readonly search: Search;
  readonly charts: Charts;
  private readonly sheets: Sheets;
  readonly level: ZoomDetail;
  now: Now;
  frames = 0;
  issue = 0;
  private theme: Theme;
  private readonly values: Values;
  private readonly labels: Labels;
  private readonly legend = new Legend();
  private readonly tip = new Tip();
  private readonly map = el("canvas", { id: "map", tabindex: 0, role: "application" });
  private readonly text = el("canvas", { id: "labels", "aria-hidden": "true" });
  private readonly lit = el("p", { class: "lit" });
  private readonly shown = el("p", {});
  private readonly side = el("div", { id: "lists" });
  private readonly controls = el("div", {});
  private cooler = 0;
  /** Cables that labels make way for. */
  private hot = new Uint32Array();
  private asked = false;
  private settle = 0;
  private owner: { of: string; channels: Uint32Array; hosts: Map<number, number> } | null = null;

  /** Or nothing, where there is no WebGL2. */
  static on(root: HTMLElement, model: Model): App | undefined {
    if (!("WebGL2RenderingContext" in window)) return undefined;
    try { return new App(root, model, bundles(model)); } catch (e) { console.info(String(e)); root.replaceChildren(); return undefined; }
  }

  private constructor(readonly root: HTMLElement, readonly model: Model, joined: ReturnType<typeof bundles>) {
    this.theme = matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark";
    this.values = new Values(model);
    this.now = this.values.now(this.store.now);
    this.picker = new Picker(model);
    this.detail = new Detail(model, this.store, () => this.theme);
    this.search = new Search(model, this.store);
    this.table = new ChannelTable(model, this.store, () => this.now);
    this.timeline = new Timeline(model, this.store, () => this.theme);
    this.charts = new Charts(model, this.store, () => this.theme);
    this.sheets = new Sheets(model, false);
    this.labels = new Labels(this.text, model);
    this.level = new ZoomDetail(model, joined);
    this.layOut();
    const renderer = Renderer.on(this.map, joined ? [model.ways, joined.ways] : [model.ways]);
    if (!renderer) { root.replaceChildren(); throw new Error("no WebGL2"); }
    this.renderer = renderer;
    this.camera = new Camera(this.map, model.about.layout.bounds, () => this.moved());
    this.applyTheme();
    this.charts.show(286);
    const from = hash.read(location.hash, model);
    this.store.now = { ...this.store.now, ...from.state };
    if (from.place) this.camera.restore(from.place);
    this.store.on((_, changed) => this.changed(changed));
    new ResizeObserver(() => this.resize()).observe(this.map);
    window.addEventListener("hashchange", () => {
      if (location.hash.slice(1) === this.hash) return;
      const { state, place } = hash.read(location.hash, model);
      this.store.set(state);
      if (place) this.camera.restore(place);
    });
    this.pointer();
    this.resize();
    this.changed(new Set(["view"]));
    if (this.store.now.chosen && !from.place) this.flyTo(this.store.now.chosen);
  }

  private get hash(): string { return hash.write(this.store.now, this.camera.hash); }

  private layOut(): void {
    const { about } = this.model, { model } = this;
    const facts = [
      count(model.switches, "switch", "switches"),
      count(model.hosts, "host port"),
      `${count(model.cables, "cable")} between switches`,
    ].join(" \u00b7 ");
    this.map.setAttribute("aria-label", `Map: ${facts}, drawn as ${about.layout.kind}. The lists beside it say the same in words.`);
    this.root.append(
      el("div", { id: "stage" }, this.map, this.text,
        el("header", {}, el("h1", {}, about.title), el("p", {}, facts), this.shown, this.lit),
        this.tip.root, this.timeline.root),
      el("aside", {}, this.legend.root, this.controls, this.search.root, this.detail.root, this.side, this.charts.root, this.sheets.root, lists.about(model)),
      this.table.root, this.charts.dialog, this.sheets.dialog,
      el("datalist", { id: "hosts" }, ...Array.from({ length: Math.min(model.hosts, 1000) }, (_, h) => el("option", { value: model.hostName(h) }))),
    );
  }

  private pointer(): void {
    const at = (e: MouseEvent) => this.below(e.offsetX, e.offsetY);
    let waiting = false;
    this.map.addEventListener("pointermove", (e) => {
      if (e.buttons || waiting) { if (e.buttons) this.tip.hide(); return; }
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        const found = at(e);
        this.map.style.cursor = found.length ? "pointer" : "grab";
        this.tip.show(this.model, this.store.now.view, found, e.offsetX, e.offsetY);
      });
    });
    this.map.addEventListener("pointerleave", () => this.tip.hide());
    this.map.addEventListener("click", (e) => this.click(at(e)));
    this.map.addEventListener("dblclick", () => this.camera.by(2));
  }

  /** What lies below a place of the canvas. */
  below(px: number, py: number): Below[] {
    const [x, y] = this.camera.world(px, py);
    return this.picker.at(x, y, this.camera.place.k, this.level.pickable, this.showsHosts);
  }

  click(found: Below[]): void {
    const first = found[0];
    if (!first) { this.store.set({ chosen: null }); return; }
    const among = found.filter((f) => f.kind === "cable").map((f) => f.id);
    this.store.set({ chosen: first.kind === "cable" ? { kind: "cable", id: first.id, among } : { kind: first.kind, id: first.id } as Chosen });
  }

  private get showsHosts(): boolean { return this.camera.place.k * this.model.about.layout.room > 26; }

  /** Channels and switches of what is chosen. */
  private marks(): { channels: number[]; switches: number[] } {
    const c = this.store.now.chosen, { model } = this;
    if (!c) return { channels: [], switches: [] };
    const ends = (channels: number[]) => [...new Set(channels.flatMap((x) => [model.tail(x), model.head(x)]))];
    switch (c.kind) {
      case "cable": return { channels: [2 * c.id, 2 * c.id + 1], switches: ends([2 * c.id]) };
      case "switch": return { channels: [], switches: [c.id] };
      case "host": return { channels: [], switches: [model.hostSwitch[c.id]] };
      case "path": {
        const way = this.detail.way(c.from, c.to);
        return { channels: way?.channels ?? [], switches: way?.switches ?? [] };
      }
      case "finding": {
        const f = model.about.findings[c.id];
        const pairs = f.pairs.flatMap(([a, b]) => [model.hostSwitch[a], model.hostSwitch[b]]);
        return { channels: f.channels, switches: [...new Set([...ends(f.channels), ...f.switches, ...pairs])] };
      }
    }
  }

  /** The map flies to what was chosen, if it does not lie in view already. */
  flyTo(chosen: Chosen): void {
    const { switches } = this.marks(), { model } = this;
    if (!switches.length) return;
    const xs = switches.map((s) => model.x[s]), ys = switches.map((s) => model.y[s]);
    const least = chosen.kind === "host" ? model.about.layout.room * 2 : 60;
    const box: Box = { x0: Math.min(...xs) - least, x1: Math.max(...xs) + least, y0: Math.min(...ys) - least, y1: Math.max(...ys) + least };
    const seen = this.camera.box, wide = Math.max((seen.x1 - seen.x0), 1e-6);
    const inside = box.x0 > seen.x0 && box.x1 < seen.x1 && box.y0 > seen.y0 && box.y1 < seen.y1;
    if (!inside || (box.x1 - box.x0) / wide < 0.04 || chosen.kind !== "cable") this.camera.fly(box);
  }

  private changed(changed: Set<string>): void {
    const { now } = this.store;
    if (["view", "minus", "time", "job"].some((k) => changed.has(k))) this.now = this.values.now(now);
    if (changed.has("chosen") || changed.has("view") || changed.has("job")) this.detail.show(now.chosen);
    if (changed.has("chosen") && now.chosen && this.map.clientWidth) this.flyTo(now.chosen);
    this.colour(changed.size === 1 && changed.has("time"));
    this.lists();
    this.timeline.draw();
    if (changed.has("time") || changed.has("view")) this.charts.redraw();
    this.remember();
    this.ask();
  }

  private lists(): void {
    const { model, store, theme } = this, { time, view } = store.now, series = model.views[view]?.series;
    const when = time !== null && series ? ` \u00b7 ${Detail.moment(series, time)}` : "";
    const notes = this.cooler ? [`${group(this.cooler)} cooler ones are not drawn at this zoom.`] : [];
    if (this.level.bundled) notes.push(`Cables of two ${model.about.layout.group_word}s are drawn as one, as its fullest; zoom in for each.`);
    this.legend.root.classList.toggle("empty", !model.views.length);
    this.shown.textContent = viewName(model, this.store.now) ?? model.about.subtitle;
    this.legend.show(this.now, theme, notes, this.coloured());
    this.lit.textContent = model.views.length ? Legend.lit(this.now, 2 * model.cables) : "";
    this.controls.replaceChildren(...viewPicker(model, store));
    const parts = [lists.jobs(model, store, theme), lists.fullest(model, store, this.now, theme, when),
      model.views.length ? el("p", {}, el("button", { type: "button", class: "plain", click: () => this.table.open() }, "All channels \u2026")) : null,
      lists.findings(model, store)];
    this.side.replaceChildren(...parts.filter((p): p is HTMLElement => p !== null));
  }

  /** Time alone changes nothing but what is lit: the rest stays where it was uploaded. */
  private colour(timeOnly = false): void {
    const drawn = this.level.draw(this.now), { now } = this.store, zoomed = this.camera.zoomed;
    this.cooler = drawn.cooler;
    // The hottest stand last.
    const from = drawn.bundled ? drawn.lit.length : Math.max(0, drawn.lit.length - HOT);
    this.hot = drawn.lit.slice(from).filter((_, i) => drawn.heat[from + i] > 0.4).map((c) => c >> 1);
    if (!timeOnly) scene.drawDark(this.renderer, drawn, this.theme, zoomed, this.model.views.length ? (now.job !== null || now.chosen?.kind === "path" ? 0.5 : 1) : 2.2);
    const lanes = now.colour === "lanes" ? this.model.views[now.view]?.lanes : undefined;
    const owner = lanes ?? (now.colour === "jobs" ? this.owned().channels : null);
    scene.drawLit(this.renderer, drawn, this.now, this.theme, owner && ((c) => owner[c]), zoomed);
    if (!timeOnly) scene.drawSwitches(this.renderer, this.model, this.theme);
    const marks = this.marks();
    scene.drawMarks(this.renderer, this.model, marks.channels, marks.switches, this.theme);
  }

  /** What colours stand for, other than load. */
  private coloured(): Key | null {
    const { colour, view } = this.store.now, lanes = this.model.views[view]?.lanes;
    if (colour === "jobs") return { word: "job that loads most", names: [] };
    if (colour !== "lanes" || !lanes) return null;
    const top = lanes.reduce((most, lane) => (lane === NO_LANE ? most : Math.max(most, lane)), 0);
    return { word: "virtual lane of most routes", names: Array.from({ length: top + 1 }, (_, lane) => `lane ${lane}`) };
  }

  /** Whether a job is in the view, and runs at the moment, if there is one. */
  private isShown(job: Job): boolean {
    const { view, time } = this.store.now, { series } = this.model.views[view] ?? {};
    if (job.views.length && !job.views.includes(view)) return false;
    if (!series || time === null || !job.runs.length) return true;
    return job.runs.some(([from, to]) => from < (time + 1) * series.interval && to > time * series.interval);
  }

  /** What jobs own in the view at the moment: by channel the one that loads it most, by host the one that has it. */
  private owned(): { channels: Uint32Array; hosts: Map<number, number> } {
    const { view, time } = this.store.now, of = `${view} ${time}`;
    if (this.owner?.of !== of) {
      const most = new Float32Array(2 * this.model.cables), channels = new Uint32Array(2 * this.model.cables), hosts = new Map<number, number>();
      this.model.jobs.forEach((job, j) => {
        if (!this.isShown(job)) return;
        job.channels.forEach((c, i) => { if (job.load[i] > most[c]) { most[c] = job.load[i]; channels[c] = j; } });
        job.hosts.forEach((h) => hosts.set(h, j));
      });
      this.owner = { of, channels, hosts };
    }
    return this.owner;
  }

  private moved(): void {
    this.tip.hide();
    this.ask();
    clearTimeout(this.settle);
    this.settle = window.setTimeout(() => this.settled(), 120);
  }

  /** After a move: what is seen now may be drawn in another detail. */
  private settled(): void {
    if (this.level.look(this.camera.box)) { this.colour(); this.lists(); }
    this.remember();
    this.ask();
  }

  private remember(): void {
    const text = this.hash;
    if (location.hash.slice(1) !== text) history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
  }

  private resize(): void {
    const ratio = devicePixelRatio || 1;
    for (const canvas of [this.map, this.text]) {
      canvas.width = Math.max(1, this.map.clientWidth * ratio);
      canvas.height = Math.max(1, this.map.clientHeight * ratio);
    }
    this.level.look(this.camera.box);
    this.colour();
    this.timeline.draw();
    this.ask();
  }

  toggleTheme(): void {
    this.theme = this.theme === "dark" ? "light" : "dark";
    this.applyTheme();
    this.detail.show(this.store.now.chosen);
    this.charts.show(286);
    this.colour(); this.lists(); this.timeline.draw(); this.ask();
  }

  setTheme(theme: Theme): void { if (theme !== this.theme) this.toggleTheme(); }

  private applyTheme(): void { document.documentElement.dataset.theme = this.theme; }

  private ask(): void {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => { this.asked = false; this.draw(); });
  }

  draw(): void {
    const begin = performance.now(), { place, zoomed, box } = this.camera, ratio = devicePixelRatio || 1;
    const near = zoomed > 1.5 || this.model.switches < 60 ? this.picker.within(box.x0, box.y0, box.x1, box.y1) : [];
    const hosts = this.showsHosts;
    if (hosts) {
      const jobs = this.owned().hosts;
      scene.drawHosts(this.renderer, this.model, near.slice(0, 400), this.theme, (h) => jobs.get(h));
    }
    const most = 2.4 * Math.max(1, zoomed) ** 0.7;
    const dots: [string, number, number][] = [["switches", this.model.switches > 4000 ? 0.5 : 0.9, most], ["ends", 3.4, most + 1.5]];
    if (hosts) dots.unshift(["hosts", 1.5, 40]);
    this.renderer.draw(["dark", "lit", "marks"], dots, place, ratio);
    const style = getComputedStyle(document.documentElement), colour = (name: string) => style.getPropertyValue(name).trim();
    this.labels.draw(place, zoomed, this.marks().switches, near, this.hot, hosts,
      { ink: colour("--ink"), faint: colour("--faint"), halo: colour("--back"), mark: colour("--mark") });
    this.issue = performance.now() - begin;
    this.frames++;
  }
}
