// node page.mjs FOLDER: opens every page of a folder in a headless Chromium and asks it questions whose answers its own data
// have: no request, no console error, clicks answer with the right cable and jobs.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { Browser, found } from "./browser.mjs";
import { allDiffer, compare, shot } from "./shots.mjs";

if (!found()) {
  console.log("skipped: no chromium");
  process.exit(0);
}
const folder = resolve(process.argv[2]);
const files = readdirSync(folder).filter((name) => name.endsWith(".html")).sort();
assert.ok(files.length, "no pages");
const browser = await Browser.start();

/** Maps whose pictures are kept: a tree, a HyperX, a dragonfly, an irregular fabric. */
const SHOTS = ["tree.html", "hyperx.html", "dragonfly.html", "random.html"];

/** The middle of the way of a cable on the screen, where no other thing is nearer, if it is in view. */
const PLACE = `(cable) => {
  const { app, model } = darkfiber, w = model.ways, a = 8 * cable, p = app.camera.place;
  for (const t of [0.5, 0.35, 0.65, 0.25, 0.75, 0.42, 0.58]) {
    const u = 1 - t, f = (i) => u*u*u*w[a+i] + 3*u*u*t*w[a+2+i] + 3*u*t*t*w[a+4+i] + t*t*t*w[a+6+i];
    const x = Math.round(f(0) * p.k + p.x), y = Math.round(f(1) * p.k + p.y), below = app.below(x, y);
    if (below[0]?.kind === "cable" && below[0].id === cable && document.elementFromPoint(x, y)?.id === "map") return [x, y];
  }
  return null;
}`;

async function look(file) {
  const page = await browser.page(800, 560);
  await page.open(join(folder, file));
  if (await page.run("!darkfiber.app")) {
    // Without a map: charts and tables.
    assert.ok(await page.run("document.querySelectorAll('.report .sheet tr').length > 1"), `${file}: tables`);
    assert.equal(await page.run("document.querySelectorAll('#charts figure canvas').length"), await page.run("darkfiber.model.about.charts.length"), `${file}: charts`);
    assert.deepEqual(page.errors, [], `${file}: console`);
    await page.close();
    console.log(`${file}: charts and tables`);
    return;
  }
  assert.ok(await page.run("darkfiber.model.cables > 0 && document.body.classList.contains('live')"), `${file}: a map`);
  // The picture is the one that was looked at.
  if (SHOTS.includes(file)) assert.equal(compare(file, await shot(page)), "", `${file}: the map looks otherwise (web/test/shots.mjs)`);
  // The fullest cable, and some others: a click on each tells both directions and the jobs there.
  const cables = await page.run(`(() => {
    const { model } = darkfiber, load = model.views[0]?.load ?? [], place = ${PLACE};
    const order = Array.from({ length: model.cables }, (_, i) => i)
      .sort((a, b) => Math.max(load[2*b] ?? 0, load[2*b+1] ?? 0) - Math.max(load[2*a] ?? 0, load[2*a+1] ?? 0));
    return order.slice(0, 400).filter((c) => place(c)).filter((_, i) => i % 7 === 0).slice(0, 3);
  })()`);
  assert.ok(cables.length > 0, `${file}: cables that can be clicked`);
  for (const cable of cables) {
    await page.run("darkfiber.app.store.set({ chosen: null }); darkfiber.app.camera.home()");
    await wait(160);
    const place = await page.run(`(${PLACE})(${cable})`);
    if (!place) continue;
    await page.click(...place);
    await wait(30);
    const told = await page.run(`[...document.querySelectorAll("#detail .channel")].map((c) => ({
      channel: +c.dataset.channel, jobs: [...c.querySelectorAll("[data-job]")].map((j) => +j.dataset.job), text: c.textContent }))`);
    assert.deepEqual(told.map((t) => t.channel), [2 * cable, 2 * cable + 1], `${file}: cable ${cable}`);
    // The jobs there, straight from the data.
    const expected = await page.run(`[0, 1].map((d) => darkfiber.model.jobs.flatMap((job, j) => {
      const i = Array.from(job.channels).indexOf(${2 * cable} + d); return i < 0 ? [] : [[j, job.load[i]]];
    }).sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, 12).map(([j]) => j))`);
    assert.deepEqual(told.map((t) => t.jobs), expected, `${file}: jobs on cable ${cable}`);
    const name = await page.run(`darkfiber.model.short(darkfiber.model.from[${cable}])`);
    assert.ok(told[0].text.includes(name), `${file}: ${name}`);
    assert.match(await page.run("location.hash"), new RegExp(`cable=${cable}\\b`), `${file}: a link to it`);
  }
  // A job: only its channels are lit.
  if (await page.run("darkfiber.model.jobs.length > 0")) {
    await page.run("darkfiber.app.store.set({ chosen: null, time: null }); document.querySelector('#lists [data-job=\"0\"]').click()");
    const [lit, own] = await page.run("[Array.from(darkfiber.app.now.channel), Array.from(darkfiber.model.jobs[0].channels)]");
    assert.deepEqual(lit, own, `${file}: channels of job 0`);
    await page.run("darkfiber.app.store.set({ job: null })");
  }
  // Time goes on by a key.
  if (await page.run("!!darkfiber.model.views[0]?.series")) {
    for (const type of ["keyDown", "keyUp"]) await page.send("Input.dispatchKeyEvent", { type, key: "ArrowRight", code: "ArrowRight" });
    assert.equal(await page.run("darkfiber.app.store.now.time"), 0, `${file}: the first interval`);
    const sum = await page.run("darkfiber.app.now.channel.length === darkfiber.model.views[0].series.start[1]");
    assert.ok(sum, `${file}: what is lit in it`);
  }
  // Charts are drawn, say what they show, and a click on one of time goes there.
  const charts = await page.run(`[...document.querySelectorAll("#charts figure")].map((f) => ({
    label: f.querySelector(".plot").getAttribute("aria-label"), canvas: !!f.querySelector("canvas")?.width }))`);
  assert.equal(charts.length, await page.run("darkfiber.model.about.charts.length"), `${file}: charts`);
  for (const c of charts) assert.ok(c.canvas && c.label.length > 10, `${file}: ${JSON.stringify(c)}`);
  // A way between two hosts ends where it should, and each of its hops begins where the last ended.
  if (await page.run("darkfiber.model.about.tables.kind === 'held'")) {
    const way = await page.run(`(() => {
      const { app, model } = darkfiber, to = model.hosts - 1;
      app.store.set({ chosen: { kind: "path", from: 0, to } });
      const w = app.detail.way(0, to);
      return { ...w, from: model.hostSwitch[0], to: model.hostSwitch[to], hops: w.channels.map((c) => [model.tail(c), model.head(c)]) };
    })()`);
    assert.equal(way.end, "there", file);
    const ends = [way.from, ...way.hops.map((h) => h[1])];
    assert.deepEqual(way.hops.map((h) => h[0]), ends.slice(0, -1), file);
    assert.equal(ends.at(-1), way.to, file);
  }
  // A finding: the map flies there.
  if (await page.run("!!document.querySelector('#lists [data-finding]')")) {
    await page.run("document.querySelector('#lists [data-finding]').click()");
    await wait(30);
    assert.equal(await page.run("darkfiber.app.store.now.chosen.kind"), "finding");
  }
  await page.run("darkfiber.app.toggleTheme()");
  await wait(60);
  assert.ok(await page.run("darkfiber.app.renderer.calls <= 10 && darkfiber.app.frames > 0"), `${file}: draw calls`);
  assert.deepEqual(page.requests.filter((url) => !url.startsWith(`file://${join(folder, file)}`) && !url.startsWith("data:,")), [], `${file}: requests`);
  assert.deepEqual(page.errors, [], `${file}: console`);
  await page.close();
  console.log(`${file}: ${cables.length} cables clicked`);
}

try {
  for (const file of files) await look(file);
  assert.deepEqual(allDiffer(), [], "pictures that are kept and do not differ");
} finally {
  await browser.close();
}
// Where there is no WebGL2, the still picture and the table are there.
const still = await Browser.start(["--disable-gpu", "--disable-3d-apis"]);
try {
  const page = await still.page();
  await page.send("Page.navigate", { url: `file://${join(folder, files[0])}` });
  await wait(1500);
  assert.equal(await page.run("document.body.classList.contains('live')"), false, "no map without WebGL2");
  assert.ok(await page.run("document.querySelector('#plain svg path') && document.querySelector('#plain').offsetHeight > 300"), "a still picture");
  console.log("without WebGL2: a still picture");
} finally {
  await still.close();
}
