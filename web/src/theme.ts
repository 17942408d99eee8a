// The theme, light or dark: that of the system unless the user chooses one.
import { coloursOf, type Colours } from "./colours.ts";

const KEY = "cofire.theme";
const listeners = new Set<() => void>();
const system = matchMedia("(prefers-color-scheme: light)");

export function theme(): "light" | "dark" {
  const said = localStorage.getItem(KEY);
  if (said === "light" || said === "dark") return said;
  return system.matches ? "light" : "dark";
}

// Cached: every node and link of a frame reads it.
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
