// Elements from words. Texts are only ever set as text: nothing of the data becomes markup.

type Child = Node | string | null | undefined;

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K, props: Partial<Record<string, string | number | boolean | ((e: Event) => void)>> = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (typeof value === "function") made.addEventListener(key, value as EventListener);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== undefined) made.setAttribute(key, String(value));
  }
  for (const child of children) if (child !== null && child !== undefined) made.append(child);
  return made;
}

/** A button that looks like a row of a list. */
export function row(onclick: () => void, ...children: Child[]): HTMLButtonElement {
  return el("button", { class: "row", type: "button", click: onclick }, ...children);
}

export const swatch = (colour: string, text = ""): HTMLSpanElement =>
  el("span", { class: "swatch", style: `background:${colour}`, "aria-hidden": "true" }, text);

export function section(title: string, ...children: Child[]): HTMLElement {
  return el("section", {}, el("h2", {}, title), ...children);
}
