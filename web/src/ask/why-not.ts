// "Why not …?": pick any fact, and learn where a question lost it and what would have brought it back.
import type { App } from "../app.ts";
import { post } from "../calls.ts";
import { fill, h } from "../elements.ts";
import { failureCard } from "../notices.ts";
import { factPicker } from "../picker.ts";
import type { Fact, Why } from "../shapes.ts";
import { clipped, counted, percent, spoken } from "../wording.ts";
import { xray } from "./xray.ts";

export function whyNot(asked: Record<string, unknown>, app: App): HTMLElement {
  const answer = h("div", { class: "why-answer", "aria-live": "polite" });
  let picked: Fact | null = null;
  const explain = async (fact: Fact) => {
    picked = fact;
    fill(answer, h("p", { class: "waiting" }, "Asking again, and again …"));
    try {
      const why = await post<Why>("/why", { ...asked, id: fact.id });
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
    factPicker("Find a fact that did not come back", "A fact you expected", (fact) => void explain(fact)),
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
      h("strong", {}, why.returned ? "It came back" : spoken(why.stage)),
      why.place ? ` · place ${why.place}` : "",
    ),
    h("p", {}, why.explanation),
    likeness(why),
    remedies(why),
    why.hit &&
      h(
        "details",
        {},
        h("summary", {}, "Its arithmetic"),
        xray(why.hit, () => undefined),
      ),
  );
}

function likeness(why: Why): HTMLElement | null {
  if (!why.likeness) return null;
  const { cosine, words } = why.likeness;
  const meaning = cosine === null ? "no vector" : `meaning ${percent(Math.max(0, cosine))} alike`;
  return h("p", { class: "meta" }, `${meaning}, ${words.length ? `shares ${words.join(", ")}` : "shares no word"}`);
}

function remedies(why: Why): HTMLElement | null {
  if (!why.remedies.length) return null;
  const items = why.remedies.map((one) =>
    h("li", {}, h("code", {}, one.change), one.place ? ` brings it to place ${one.place}` : ""),
  );
  return h(
    "div",
    {},
    h("p", { class: "label" }, `${counted(why.remedies.length, "thing")} would bring it back:`),
    h("ul", { class: "remedies" }, ...items),
  );
}
