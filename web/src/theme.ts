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

export function colours(): Colours {
  return coloursOf(theme());
}

export function turnTheme(): void {
  localStorage.setItem(KEY, theme() === "light" ? "dark" : "light");
  apply();
}

export function onTheme(listener: () => void): void {
  listeners.add(listener);
}

export function apply(): void {
  document.documentElement.dataset["theme"] = theme();
  for (const listener of listeners) listener();
}

system.addEventListener("change", apply);
