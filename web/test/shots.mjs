// Screenshots of maps, compared with those that are kept: as a grid of mean brightness, so that what smooths edges does not count.
// DARKFIBER_UPDATE_SHOTS=1 keeps what is seen now; look at it before it is committed.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { setTimeout as wait } from "node:timers/promises";

const WIDE = 64, TALL = 44;
/** What is taken for the same: mean difference of cells, and the share of cells that differ by more than LARGE, of 255. */
const MEAN = 2.5, LARGE = 32, SHARE = 0.02;
const kept = join(dirname(fileURLToPath(import.meta.url)), "shots.json");
const known = existsSync(kept) ? JSON.parse(readFileSync(kept, "utf8")) : {};

/** The map alone, without texts, which other machines have other fonts for. */
export async function shot(page) {
  await page.run(`(() => { const s = document.createElement("style"); s.id = "shot";
    s.textContent = "#labels, #stage header, #time, #tip { visibility: hidden !important; }"; document.head.append(s);
    darkfiber.app.camera.home(); darkfiber.app.draw(); })()`);
  await wait(400);
  const box = await page.run("(() => { const b = document.getElementById('map').getBoundingClientRect(); return [b.x, b.y, b.width, b.height]; })()");
  const [x, y, width, height] = box;
  // The picture itself comes back as data: no request of the page.
  const requests = page.requests.length;
  const { data } = await page.send("Page.captureScreenshot", { format: "png", clip: { x, y, width, height, scale: 1 } });
  const cells = await page.run(`(async () => {
    const image = new Image(); image.src = "data:image/png;base64,${data}"; await image.decode();
    const c = document.createElement("canvas"); c.width = ${WIDE}; c.height = ${TALL};
    const to = c.getContext("2d"); to.imageSmoothingQuality = "high"; to.drawImage(image, 0, 0, ${WIDE}, ${TALL});
    const rgba = to.getImageData(0, 0, ${WIDE}, ${TALL}).data, all = [];
    for (let i = 0; i < rgba.length; i += 4) all.push(Math.round(0.3 * rgba[i] + 0.59 * rgba[i + 1] + 0.11 * rgba[i + 2]));
    return all;
  })()`);
  page.requests.length = requests;
  await page.run("document.getElementById('shot').remove()");
  return Uint8Array.from(cells);
}

export function differ(a, b) {
  if (a.length !== b.length) return "another size";
  let sum = 0, large = 0;
  a.forEach((x, i) => { const by = Math.abs(x - b[i]); sum += by; if (by > LARGE) large++; });
  const mean = sum / a.length, share = large / a.length;
  return mean > MEAN || share > SHARE ? `mean difference ${mean.toFixed(2)} of 255, ${(100 * share).toFixed(1)} % of cells far off` : "";
}

/** Why a map is not the one that is kept under a name; nothing if it is, or none is kept. */
export function compare(name, cells) {
  if (process.env.DARKFIBER_UPDATE_SHOTS) {
    known[name] = Buffer.from(cells).toString("base64");
    writeFileSync(kept, JSON.stringify(known, null, 1) + "\n");
    return "";
  }
  return known[name] ? differ(cells, Uint8Array.from(Buffer.from(known[name], "base64"))) : "";
}

/** Whether the comparison would see it if maps were mixed up: all that are kept differ from each other. */
export function allDiffer() {
  const all = Object.entries(known).map(([name, text]) => [name, Uint8Array.from(Buffer.from(text, "base64"))]);
  return all.flatMap(([a, x], i) => all.slice(i + 1).filter(([, y]) => !differ(x, y)).map(([b]) => `${a} and ${b}`));
}
