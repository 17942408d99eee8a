// Keyboard shortcuts, and the dialog that lists them. They are off in text fields.
import { h } from "./elements.ts";

export interface Shortcut {
  key: string;
  shown: string;
  does: string;
  run: () => void;
}

export function listen(shortcuts: readonly Shortcut[]): void {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.key !== "Escape" && isTaken(event)) return;
    const shortcut = shortcuts.find((one) => one.key === event.key);
    if (!shortcut) return;
    event.preventDefault();
    shortcut.run();
  });
}

/** Whether the focused element uses the key itself: text fields use all, other controls space and arrows. */
function isTaken(event: KeyboardEvent): boolean {
  const focused = event.target as HTMLElement;
  if (focused.matches("input:not([type=checkbox]), textarea, select")) return true;
  return (event.key === " " || event.key.startsWith("Arrow")) && focused.matches("button, a, summary, input");
}

export function sheet(shortcuts: readonly Shortcut[]): HTMLDialogElement {
  const rows = shortcuts.map((one) =>
    h("div", { class: "key-row" }, h("dt", {}, h("kbd", {}, one.shown)), h("dd", {}, one.does)),
  );
  const close = h("button", { type: "button", class: "primary", onclick: () => dialog.close() }, "Close");
  const dialog = h(
    "dialog",
    { class: "sheet", "aria-labelledby": "keys-title" },
    h("h2", { id: "keys-title" }, "Keys"),
    h("dl", {}, ...rows),
    close,
  );
  return dialog;
}
