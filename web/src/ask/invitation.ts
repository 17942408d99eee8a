// The start of the ask screen: suggested questions, or a form for the first fact.
import type { App } from "../app.ts";
import { post } from "../calls.ts";
import { h } from "../elements.ts";
import { shortName, type Atlas } from "../graph/atlas.ts";
import { failureNotice, notice } from "../notices.ts";
import { counted } from "../wording.ts";

const QUESTIONS = 4;

/** Suggested questions about the largest communities. */
export function invitation(atlas: Atlas, ask: (question: string) => void): HTMLElement {
  const topics = atlas.communities.filter((one) => one.size > 1).slice(0, QUESTIONS);
  const buttons = topics.map(({ name }) => {
    const question = `What do we know about ${shortName(name)}?`;
    return h("li", {}, h("button", { type: "button", class: "topic", onclick: () => ask(question) }, question));
  });
  return h(
    "div",
    { class: "invitation" },
    h("h2", {}, "Ask a question"),
    h(
      "p",
      {},
      `${counted(atlas.total, "fact")}. A question activates some of them, and activation spreads along their links to related facts.`,
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
      notice("Stored.");
      await app.changed();
    } catch (error) {
      failureNotice(error);
    }
  };
  return h(
    "div",
    { class: "invitation" },
    h("h2", {}, "Memory is empty"),
    h("p", {}, "Add a fact: one or two sentences."),
    text,
    h("button", { type: "button", class: "primary", onclick: () => void tell() }, "Remember"),
  );
}
