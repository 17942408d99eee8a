// "Why not …?": choose a fact to see at which stage it was lost, and what would return it.
import type { App } from "../app.ts";
import { post } from "../calls.ts";
import { fill, h } from "../elements.ts";
import { failureCard } from "../notices.ts";
import { factPicker } from "../picker.ts";
import { WHY_PARTS, type Fact, type Why } from "../shapes.ts";
import { clipped, counted, percent, spoken } from "../wording.ts";
import { xray } from "./xray.ts";

export function whyNot(asked: Record<string, unknown>, app: App): HTMLElement {
  const answer = h("div", { class: "why-answer", "aria-live": "polite" });
  let picked: Fact | null = null;
  const explain = async (fact: Fact) => {
    picked = fact;
    fill(answer, h("p", { class: "waiting" }, "Testing changes to the question …"));
    try {
      const why = await post<Why>("/why", { ...asked, id: fact.id, include: WHY_PARTS });
      if (fact === picked) fill(answer, told(why, app));
    } catch (error) {
      if (fact !== picked) return;
      fill(
        answer,
        failureCard(error, () => void explain(fact)),
      );
    }
  };
  return h(
    "section",
    { class: "why", "aria-labelledby": "why-title" },
    h("h2", { id: "why-title" }, "Why not …?"),
    factPicker("Find a fact that was not returned", "A fact you expected", (fact) => void explain(fact)),
    answer,
  );
}

function told(why: Why, app: App): HTMLElement {
  return h(
    "article",
    { class: "why-card" },
    h(
      "button",
      { type: "button", class: "link said", onclick: () => app.open(why.fact.id) },
      clipped(why.fact.text, 140),
    ),
    h(
      "p",
      { class: "verdict" },
      h("strong", {}, why.returned ? "Returned" : spoken(why.stage)),
      why.place ? ` · place ${why.place}` : "",
    ),
    h("p", {}, why.explanation),
    likeness(why),
    remedies(why),
    why.hit &&
      h(
        "details",
        {},
        h("summary", {}, "Score"),
        xray(why.hit, () => undefined),
      ),
  );
}

function likeness(why: Why): HTMLElement | null {
  if (!why.likeness) return null;
  const { cosine, words } = why.likeness;
  const meaning = cosine === null ? "no vector" : `meaning ${percent(Math.max(0, cosine))} similar`;
  return h("p", { class: "meta" }, `${meaning}, ${words.length ? `shared words: ${words.join(", ")}` : "no shared words"}`);
}

function remedies(why: Why): HTMLElement | null {
  if (!why.remedies.length) return null;
  const items = why.remedies.map((one) =>
    h("li", {}, h("code", {}, one.change), one.place ? ` (place ${one.place})` : ""),
  );
  return h(
    "div",
    {},
    h("p", { class: "label" }, `${counted(why.remedies.length, "change")} would return it:`),
    h("ul", { class: "remedies" }, ...items),
  );
}
