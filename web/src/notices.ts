// Notices at the edge of the page, and cards for errors with what to do next.
import { Refusal } from "./calls.ts";
import { h, iconButton } from "./elements.ts";
import { CLOSE } from "./icons.ts";

const region = h("div", { class: "notices", role: "status", "aria-live": "polite" });
const SECONDS = 12;

export function noticeRegion(): HTMLElement {
  return region;
}

export function notice(text: string, action?: { label: string; run: () => void }): void {
  const element = h("div", { class: "notice" }, h("span", {}, text));
  const dismiss = () => element.remove();
  if (action)
    element.append(
      h("button", { type: "button", class: "link", onclick: () => (dismiss(), action.run()) }, action.label),
    );
  element.append(iconButton(CLOSE, "Dismiss", dismiss));
  region.append(element);
  setTimeout(dismiss, SECONDS * 1000);
}

export function failureNotice(error: unknown): void {
  const { message, wayOut } = told(error);
  notice(`${message} ${wayOut}`);
}

export function failureCard(error: unknown, again?: () => void): HTMLElement {
  const { message, wayOut } = told(error);
  const retry = again && h("button", { type: "button", class: "quiet", onclick: again }, "Try again");
  return h("div", { class: "failure", role: "alert" }, h("strong", {}, message), h("p", {}, wayOut), retry);
}

function told(error: unknown): { message: string; wayOut: string } {
  if (error instanceof Refusal) return { message: error.message, wayOut: error.wayOut };
  return {
    message: "The page failed.",
    wayOut: `Reload it. Error: ${error instanceof Error ? error.message : String(error)}`,
  };
}
