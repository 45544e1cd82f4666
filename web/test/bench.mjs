// node bench.mjs page.html...: size of a page, time to its first picture, time to issue a frame, bytes uploaded a step in time.
// Chromium draws by its CPU renderer (SwiftShader) here: frames are timed until they are issued; what a GPU takes is not measured.
import { statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { Browser, found } from "./browser.mjs";

if (!found()) {
  console.log("skipped: no chromium");
  process.exit(0);
}
console.log("| page | switches | cables | MB | first picture, s | map handed over, s | frame issue median / most, ms | draw calls | kB a step in time |");
console.log("|---|--:|--:|--:|--:|--:|--:|--:|--:|");
for (const file of process.argv.slice(2)) {
  const browser = await Browser.start();
  const page = await browser.page();
  const { ready } = await page.open(resolve(file));
  await wait(1500);
  // The still picture of the map is the first that is painted.
  const first = await page.run("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN");
  const told = await page.run(`(async () => {
    const { app, model } = darkfiber, issues = [], n = (model.views[0]?.series?.start.length ?? 1) - 1;
    const frame = () => new Promise(requestAnimationFrame);
    let steps = 0; const before = app.renderer.uploaded;
    for (let i = 0; i < 12; i++) {
      if (n > 0) { app.store.set({ time: i % n }); steps++; }
      const t = performance.now(); app.draw(); issues.push(performance.now() - t);
      await frame();
    }
    issues.sort((a, b) => a - b);
    return { switches: model.switches, cables: model.cables, median: issues[6], most: issues[11], calls: app.renderer.calls,
      step: steps ? (app.renderer.uploaded - before) / steps : 0 };
  })()`);
  const f = (x, digits = 1) => x.toFixed(digits);
  console.log(`| ${basename(file)} | ${told.switches} | ${told.cables} | ${f(statSync(file).size / 1e6, 2)} | ${f(first / 1000)} | ${f(ready / 1000)} | ${f(told.median)} / ${f(told.most)} | ${told.calls} | ${f(told.step / 1000, 0)} |`);
  await browser.close();
}
