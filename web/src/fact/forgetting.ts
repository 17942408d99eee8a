// Forget a fact: show what would be removed, remove it, and offer to undo.
import type { App } from "../app.ts";
import { post } from "../calls.ts";
import { fill, h } from "../elements.ts";
import { failureCard, failureNotice, notice } from "../notices.ts";
import type { Fact, Forgotten } from "../shapes.ts";
import { counted, radiusInWords } from "../wording.ts";

export function forgetCard(fact: Fact, app: App, cancel: () => void): HTMLElement {
  const card = h("div", { class: "fact-form forget", role: "group", "aria-label": "Forget the fact" });
  const preview = async () => {
    try {
      const told = await post<Forgotten>("/forget", { ids: [fact.id], dry_run: true });
      fill(card, ...previewed(told, () => void forget(fact, app), cancel));
      card.querySelector("button")?.focus();
    } catch (error) {
      fill(
        card,
        failureCard(error, () => void preview()),
      );
    }
  };
  fill(card, h("p", { class: "waiting" }, "Counting what would be removed …"));
  void preview();
  return card;
}

function previewed(told: Forgotten, forget: () => void, cancel: () => void): HTMLElement[] {
  const going = radiusInWords(told.radius);
  return [
    h("strong", {}, "Forget this fact?"),
    h("p", {}, going.length ? "This would also be removed:" : "Nothing else would be removed."),
    h("ul", { class: "radius" }, ...going.map((part) => h("li", {}, part))),
    h(
      "div",
      { class: "row" },
      h("button", { type: "button", class: "danger-fill", onclick: forget }, "Forget it"),
      h("button", { type: "button", class: "quiet", onclick: cancel }, "Keep it"),
    ),
  ];
}

async function forget(fact: Fact, app: App): Promise<void> {
  try {
    const told = await post<Forgotten>("/forget", { ids: [fact.id], dry_run: false });
    app.close();
    await app.changed();
    const receipt = told.receipt;
    notice("Forgotten.", receipt ? { label: "Undo", run: () => void undo(receipt.id, fact, app) } : undefined);
  } catch (error) {
    failureNotice(error);
  }
}

async function undo(receipt: string, fact: Fact, app: App): Promise<void> {
  try {
    const back = await post<{ facts: Fact[]; edges: number }>("/undo", { receipt });
    notice(`Restored, with ${counted(back.edges, "link")}.`);
    await app.changed();
    app.open(fact.id);
  } catch (error) {
    failureNotice(error);
  }
}
