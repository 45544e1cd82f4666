// Makes crates/page/assets from src; `--check` compares instead.
import { build } from "esbuild";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const assets = join(here, "../crates/page/assets");
const made = await build({
  absWorkingDir: here,
  entryPoints: { page: "src/main.ts" },
  bundle: true,
  minify: true,
  write: false,
  outdir: "out",
  format: "iife",
  target: "es2022",
  charset: "ascii",
  legalComments: "none",
  logLevel: "warning",
});
let differ = false;
for (const file of made.outputFiles) {
  const name = file.path.endsWith(".css") ? "page.css" : "page.js";
  // Inside of <script> or <style> nothing may look like its end.
  const text = file.text.replaceAll(/<\/(script|style)/gi, "<\\/$1");
  const path = join(assets, name);
  if (process.argv.includes("--check")) {
    differ ||= readFileSync(path, "utf8") !== text;
  } else {
    writeFileSync(path, text);
    console.log(`${name}: ${text.length} bytes`);
  }
}
if (differ) {
  console.error("crates/page/assets is not what web/ builds: npm ci && npm run build");
  process.exit(1);
}
