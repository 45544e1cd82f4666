// A headless Chromium, driven over its DevTools protocol by what Node has: no package.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

const NAMES = ["chromium", "chromium-browser", "google-chrome"];

/** Where a Chromium is, if there is one. */
export function found() {
  const told = process.env.CHROMIUM;
  if (told) return existsSync(told) ? told : undefined;
  const folders = (process.env.PATH ?? "").split(":");
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find(existsSync);
}

// Node 20 has no WebSocket; the pipe needs none: messages end with a zero byte.
export class Browser {
  static async start(options = []) {
    const profile = mkdtempSync(join(tmpdir(), "darkfiber-page-"));
    const process_ = spawn(found(), [
      "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--remote-debugging-pipe", "--no-first-run",
      "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--hide-scrollbars", "--disable-background-networking",
      `--user-data-dir=${profile}`, ...options, "about:blank",
    ], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    return new Browser(process_, profile);
  }

  constructor(child, profile) {
    this.child = child;
    this.profile = profile;
    this.next = 1;
    this.waiting = new Map();
    this.listeners = [];
    let rest = "";
    child.stdio[4].setEncoding("utf8");
    child.stdio[4].on("data", (text) => {
      const parts = (rest + text).split("\0");
      rest = parts.pop();
      for (const part of parts) {
        const message = JSON.parse(part);
        if (message.id) {
          const { done, fail } = this.waiting.get(message.id);
          this.waiting.delete(message.id);
          if (message.error) fail(new Error(message.error.message)); else done(message.result);
        } else for (const listener of this.listeners) listener(message);
      }
    });
  }

  send(method, params = {}, sessionId = undefined) {
    const id = this.next++;
    this.child.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + "\0");
    return new Promise((done, fail) => this.waiting.set(id, { done, fail }));
  }

  async page(width = 1600, height = 1000, scheme = "dark") {
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    const page = new Page(this, sessionId, targetId);
    for (const domain of ["Page", "Runtime", "Network", "Log"]) await page.send(`${domain}.enable`);
    await page.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
    await page.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }, { name: "prefers-reduced-motion", value: "reduce" }] });
    return page;
  }

  async close() {
    await this.send("Browser.close").catch(() => {});
    this.child.kill();
    if (this.child.exitCode === null && this.child.signalCode === null) await new Promise((gone) => this.child.once("exit", gone));
    await wait(100);
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

export class Page {
  constructor(browser, session, target) {
    this.browser = browser;
    this.session = session;
    this.target = target;
    /** Addresses that were asked for beside the page itself. */
    this.requests = [];
    /** What the console was told of errors and warnings. */
    this.errors = [];
    browser.listeners.push((m) => {
      if (m.sessionId !== session) return;
      if (m.method === "Network.requestWillBeSent") this.requests.push(m.params.request.url);
      if (m.method === "Runtime.exceptionThrown") this.errors.push(m.params.exceptionDetails.exception?.description ?? m.params.exceptionDetails.text);
      if (m.method === "Runtime.consoleAPICalled" && ["error", "warning"].includes(m.params.type)) this.errors.push(m.params.args.map((a) => a.value ?? a.description).join(" "));
      if (m.method === "Log.entryAdded" && m.params.entry.level === "error") this.errors.push(m.params.entry.text);
      if (m.method === "Page.javascriptDialogOpening") this.errors.push("a dialog opened");
    });
  }

  send(method, params) { return this.browser.send(method, params, this.session); }

  /** Opens a file and waits until its page is there. */
  async open(file, fragment = "") {
    this.requests.length = 0;
    this.errors.length = 0;
    const begin = performance.now();
    await this.send("Page.navigate", { url: `file://${file}${fragment}` });
    for (;;) {
      const ready = await this.run("window.darkfiber?.ready ?? null").catch(() => null);
      if (ready !== null) return { ready, wall: performance.now() - begin };
      if (this.errors.length) throw new Error(this.errors.join("\n"));
      if (performance.now() - begin > 60_000) throw new Error("the page does not come up");
      await wait(20);
    }
  }

  /** Evaluates an expression there; what it gives must be plain. */
  async run(expression) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  async click(x, y) {
    for (const type of ["mousePressed", "mouseReleased"]) {
      await this.send("Input.dispatchMouseEvent", { type, x, y, button: "left", clickCount: 1 });
    }
  }

  async screenshot() {
    const { data } = await this.send("Page.captureScreenshot", { format: "png" });
    return Buffer.from(data, "base64");
  }

  async close() { await this.browser.send("Target.closeTarget", { targetId: this.target }); }
}
