// Keys for all that the pointer does.

import type { App } from "./app";

export function listen(app: App): void {
  document.addEventListener("keydown", (e) => {
    const typing = e.target instanceof HTMLInputElement && e.target.type === "search";
    if (e.ctrlKey || e.metaKey || e.altKey || typing || document.querySelector("dialog[open]") || e.target instanceof HTMLSelectElement) return;
    const onButton = e.target instanceof HTMLButtonElement;
    const keys: Record<string, () => void> = {
      "/": () => app.search.input.focus(),
      " ": () => { if (!onButton) app.timeline.toggle(); },
      ArrowLeft: () => app.timeline.step(-1), ArrowRight: () => app.timeline.step(1),
      "+": () => app.camera.by(1.4), "=": () => app.camera.by(1.4), "-": () => app.camera.by(1 / 1.4), "0": () => app.camera.home(),
      w: () => app.camera.pan(0, 80), s: () => app.camera.pan(0, -80), a: () => app.camera.pan(80, 0), d: () => app.camera.pan(-80, 0),
      t: () => app.table.open(), l: () => app.toggleTheme(),
      Escape: () => {
        if (app.store.now.chosen) app.store.set({ chosen: null }); else if (app.store.now.job !== null) app.store.set({ job: null }); else app.camera.home();
      },
    };
    const act = keys[e.key];
    if (!act || (e.key === " " && onButton)) return;
    e.preventDefault();
    act();
  });
}
