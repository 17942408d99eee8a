// Create elements without a framework: the module that creates an element updates it.

type Handler = (event: never) => void;
type Attribute = string | number | boolean | null | undefined | Handler;
export type Child = globalThis.Node | string | number | null | undefined | false;

export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Record<string, Attribute> = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) attach(element, name, value);
  append(element, children);
  return element;
}

export function append(parent: ParentNode, children: readonly Child[]): void {
  for (const child of children) {
    if (child !== null && child !== undefined && child !== false) {
      parent.append(child instanceof Node ? child : String(child));
    }
  }
}

export function fill(parent: HTMLElement, ...children: Child[]): void {
  parent.replaceChildren();
  append(parent, children);
}

function attach(element: HTMLElement, name: string, value: Attribute): void {
  if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener);
  else if (name === "value" && "value" in element) element.value = String(value ?? "");
  else if (value === true) element.setAttribute(name, "");
  else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
}

/** An icon, from a path of `icons.ts`. */
export function icon(path: string): SVGSVGElement {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 20 20");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const stroke = document.createElementNS(space, "path");
  stroke.setAttribute("d", path);
  svg.append(stroke);
  return svg;
}

export function iconButton(
  path: string,
  label: string,
  onclick: () => void,
  extra: Record<string, Attribute> = {},
): HTMLButtonElement {
  return h(
    "button",
    { type: "button", class: "icon-button", "aria-label": label, title: label, onclick, ...extra },
    icon(path),
  );
}

/** Sets a CSS variable through the CSSOM: a strict CSP forbids style attributes. */
export function measured<E extends HTMLElement>(element: E, property: string, value: string): E {
  element.style.setProperty(property, value);
  return element;
}

export function prefersStillness(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
