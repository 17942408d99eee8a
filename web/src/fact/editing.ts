// Edit a fact. The version before is kept in its history.
import { listed } from "../ask/question.ts";
import { patch } from "../calls.ts";
import { h } from "../elements.ts";
import { failureNotice, notice } from "../notices.ts";
import type { Fact } from "../shapes.ts";

export interface Ways {
  done: () => void;
  cancel: () => void;
}

export function editForm(fact: Fact, ways: Ways): HTMLElement {
  const text = h("textarea", { rows: 4, value: fact.text, required: true });
  const told = fact.tags.join(", ");
  const tags = h("input", { type: "text", value: told });
  // A tag may contain a comma: unchanged tags are not read back from the field.
  const changes = () => ({
    text: text.value.trim(),
    ...(tags.value !== told && { tags: listed(tags.value) }),
  });
  const save = async () => {
    try {
      await patch(`/facts/${encodeURIComponent(fact.id)}`, changes());
      notice("Saved. The version before is in the history.");
      ways.done();
    } catch (error) {
      failureNotice(error);
    }
  };
  return h(
    "form",
    {
      class: "fact-form",
      "aria-label": "Edit the fact",
      onsubmit: (event: SubmitEvent) => (event.preventDefault(), void save()),
    },
    h("label", { class: "field" }, h("span", {}, "Text"), text),
    h("label", { class: "field" }, h("span", {}, "Tags, separated by commas"), tags),
    h(
      "div",
      { class: "row" },
      h("button", { type: "submit", class: "primary" }, "Save"),
      h("button", { type: "button", class: "quiet", onclick: ways.cancel }, "Cancel"),
    ),
  );
}
