// The answer to a question: hits as cards, or the reason why there is none.
import type { App } from "../app.ts";
import { post } from "../calls.ts";
import { h, icon } from "../elements.ts";
import { DOWN, UP } from "../icons.ts";
import { failureNotice, notice } from "../notices.ts";
import type { Hit, Recollection } from "../shapes.ts";
import { counted, day, spoken } from "../wording.ts";
import { channelBar, channelClass, terms, xray } from "./xray.ts";

export interface Results {
  element: HTMLElement;
  choose: (id: string | null) => void;
}

export function results(found: Recollection, app: App, onChoose: (hit: Hit) => void): Results {
  const shown = found.known ? found.hits : found.guesses;
  const most = Math.max(
    ...shown.map((hit) => terms(hit).reduce((sum, [, heard]) => sum + Math.max(0, heard.gives), 0)),
    0,
  );
  const texts = new Map([...found.texts, ...found.hits].map(({ id, text }) => [id, text]));
  const cards = shown.map((hit, row) => card({ found, hit, row, most, textOf: (id) => texts.get(id), app, onChoose }));
  const element = h(
    "div",
    { class: "results" },
    heading(found),
    h("ol", { class: "hits" }, ...cards),
    channelKey(shown),
  );
  const choose = (id: string | null) => {
    for (const one of cards) one.classList.toggle("chosen", one.dataset["id"] === id);
    cards.find((one) => one.dataset["id"] === id)?.scrollIntoView({ block: "nearest" });
  };
  return { element, choose };
}

function heading(found: Recollection): HTMLElement {
  const plan = found.plan;
  const how = plan ? `${spoken(plan.mode)} recall, ${plan.dynamics ?? "no"} dynamics` : "";
  if (found.known) {
    return h(
      "header",
      { class: "answer" },
      h("h2", {}, `${counted(found.hits.length, "fact")} found`),
      h("p", {}, `of ${counted(found.candidates, "candidate")} · ${how}`),
    );
  }
  const otherwise = found.guesses.length > 0 && h("p", { class: "label" }, "Best matches below the threshold:");
  return h("header", { class: "answer silent" }, h("h2", {}, "No answer"), h("p", {}, found.reason), otherwise);
}

interface Card {
  found: Recollection;
  hit: Hit;
  row: number;
  most: number;
  textOf: (id: string) => string | undefined;
  app: App;
  onChoose: (hit: Hit) => void;
}

function card(made: Card): HTMLElement {
  const { found, hit, row, most, textOf, app, onChoose } = made;
  return h(
    "li",
    { class: "hit", "data-id": hit.id },
    h(
      "button",
      { type: "button", class: "hit-text", onclick: () => onChoose(hit), title: "Show its path" },
      h("span", { class: "place" }, row + 1),
      h("span", { class: "said" }, hit.text),
      h("span", { class: "score" }, hit.score.toFixed(2)),
    ),
    channelBar(hit, most),
    h(
      "div",
      { class: "hit-foot" },
      h(
        "span",
        { class: "meta" },
        [hit.speaker, hit.at && day(hit.at), hit.hops.length ? counted(hit.hops.length, "hop") : ""]
          .filter(Boolean)
          .join(" · "),
      ),
      h(
        "button",
        { type: "button", class: "link", onclick: () => app.open(hit.id), "aria-label": `Open the fact: ${hit.text}` },
        "Open",
      ),
      judge(found, hit, "helped"),
      judge(found, hit, "hurt"),
    ),
    h("details", {}, h("summary", {}, "Why this fact"), xray(hit, textOf)),
  );
}

/** Feedback on a hit: it strengthens or weakens the edges on its path. */
function judge(found: Recollection, hit: Hit, verdict: "helped" | "hurt"): HTMLElement | null {
  if (!found.id) return null;
  const label = verdict === "helped" ? "This helped" : "This hurt";
  const say = async () => {
    try {
      await post("/feedback", { id: found.id, [verdict]: [hit.id] });
      button.setAttribute("aria-pressed", "true");
      notice("Feedback stored.");
    } catch (error) {
      failureNotice(error);
    }
  };
  const button = h(
    "button",
    {
      type: "button",
      class: "icon-button small",
      "aria-label": label,
      title: label,
      "aria-pressed": "false",
      onclick: () => void say(),
    },
    icon(verdict === "helped" ? UP : DOWN),
  );
  return button;
}

function channelKey(shown: readonly Hit[]): HTMLElement | null {
  const names = new Set(
    shown.flatMap((hit) =>
      terms(hit)
        .filter(([, heard]) => heard.gives > 0)
        .map(([name]) => name),
    ),
  );
  if (!names.size) return null;
  return h(
    "ul",
    { class: "channel-key", "aria-label": "Channels" },
    ...[...names].map((name) => h("li", {}, h("i", { class: `dot ${channelClass(name)}` }), name)),
  );
}
