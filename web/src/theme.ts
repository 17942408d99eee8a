// Light and dark: as the system says, until somebody says otherwise here.
import { coloursOf, type Colours } from "./colours.ts";

const KEY = "cofire.theme";
const listeners = new Set<() => void>();
const system = matchMedia("(prefers-color-scheme: light)");

export function theme(): "light" | "dark" {
  const said = localStorage.getItem(KEY);
  if (said === "light" || said === "dark") return said;
  return system.matches ? "light" : "dark";
}

// Asked for every node and link of a frame, so that it is worked out once.
let shown = coloursOf(theme());

export function colours(): Colours {
  return shown;
}

export function turnTheme(): void {
  localStorage.setItem(KEY, theme() === "light" ? "dark" : "light");
  apply();
}

export function onTheme(listener: () => void): void {
  listeners.add(listener);
}

export function apply(): void {
  shown = coloursOf(theme());
  document.documentElement.dataset["theme"] = theme();
  for (const listener of listeners) listener();
}

system.addEventListener("change", apply);
