// Connect a fact with another one: choose it, and the kind of link.
import { post } from "../calls.ts";
import { fill, h } from "../elements.ts";
import { failureNotice, notice } from "../notices.ts";
import { factPicker } from "../picker.ts";
import type { Fact } from "../shapes.ts";
import { clipped } from "../wording.ts";
import type { Ways } from "./editing.ts";

const KINDS = ["supports", "elaborates", "causes", "contradicts", "outcome"];

export function connectForm(fact: Fact, ways: Ways): HTMLElement {
  const kind = h("input", { type: "text", value: "supports", list: "kinds", required: true });
  const kinds = h("datalist", { id: "kinds" }, ...KINDS.map((name) => h("option", { value: name })));
  const target = h("p", { class: "target" }, "Choose the fact to connect it with.");
  const submit = h("button", { type: "submit", class: "primary", disabled: true }, "Connect");
  let other: Fact | null = null;
  const pick = (picked: Fact) => {
    other = picked.id === fact.id ? null : picked;
    fill(target, other ? `→ ${clipped(picked.text, 120)}` : "A fact cannot be connected with itself.");
    submit.disabled = !other;
  };
  const connect = async () => {
    if (!other) return;
    try {
      await post("/edges", { source: fact.id, target: other.id, kind: kind.value.trim() });
      notice("Connected.");
      ways.done();
    } catch (error) {
      failureNotice(error);
    }
  };
  return h(
    "form",
    {
      class: "fact-form",
      "aria-label": "Connect the fact",
      onsubmit: (event: SubmitEvent) => (event.preventDefault(), void connect()),
    },
    h("label", { class: "field" }, h("span", {}, "Kind of link"), kind),
    kinds,
    factPicker("Find the other fact", "Find the other fact", pick),
    target,
    h("div", { class: "row" }, submit, h("button", { type: "button", class: "quiet", onclick: ways.cancel }, "Cancel")),
  );
}
