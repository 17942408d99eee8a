// What stands where no answer is yet: an invitation to ask, or to tell an empty memory something.
import type { App } from "../app.ts";
import { post } from "../calls.ts";
import { h } from "../elements.ts";
import { shortName, type Atlas } from "../graph/atlas.ts";
import { failureNotice, notice } from "../notices.ts";
import { counted } from "../wording.ts";

const QUESTIONS = 4;

/** A few things that memory knows much about, to begin with. */
export function invitation(atlas: Atlas, ask: (question: string) => void): HTMLElement {
  const topics = atlas.communities.filter((one) => one.size > 1).slice(0, QUESTIONS);
  const buttons = topics.map(({ name }) => {
    const question = `What do we know about ${shortName(name)}?`;
    return h("li", {}, h("button", { type: "button", class: "topic", onclick: () => ask(question) }, question));
  });
  return h(
    "div",
    { class: "invitation" },
    h("h2", {}, "Ask, and watch memory answer"),
    h(
      "p",
      {},
      `${counted(atlas.total, "fact")} lie here. A question wakes a few of them, and activation spreads along their links to what belongs to it.`,
    ),
    buttons.length > 0 && h("ul", { class: "topics" }, ...buttons),
  );
}

export function emptyMemory(app: App): HTMLElement {
  const text = h("textarea", {
    rows: 4,
    "aria-label": "A fact",
    placeholder: "We use PostgreSQL 15 for the production database.",
  });
  const tell = async () => {
    if (!text.value.trim()) return text.focus();
    try {
      await post("/facts", { text: text.value.trim() });
      notice("Remembered.");
      await app.changed();
    } catch (error) {
      failureNotice(error);
    }
  };
  return h(
    "div",
    { class: "invitation" },
    h("h2", {}, "Memory is empty"),
    h("p", {}, "Tell it something worth knowing, a sentence or two."),
    text,
    h("button", { type: "button", class: "primary", onclick: () => void tell() }, "Remember"),
  );
}
