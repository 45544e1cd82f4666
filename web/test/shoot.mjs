// node shoot.mjs page.html picture.png [fragment] [dark|light] [expression]
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { Browser } from "./browser.mjs";

const [file, picture, fragment = "", scheme = "dark", expression] = process.argv.slice(2);
const browser = await Browser.start();
const page = await browser.page(1600, 1000, scheme);
console.log(await page.open(resolve(file), fragment), page.errors);
if (expression) console.log(await page.run(expression));
await wait(900);
writeFileSync(picture, await page.screenshot());
if (page.errors.length) console.log(page.errors);
await browser.close();
