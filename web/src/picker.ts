// A search field for facts with a list to choose from.
import { get } from "./calls.ts";
import { fill, h } from "./elements.ts";
import { failureCard } from "./notices.ts";
import type { Fact } from "./shapes.ts";
import { clipped } from "./wording.ts";

const PAUSE_MILLISECONDS = 180;
const MOST = 8;

export function factPicker(label: string, placeholder: string, onPick: (fact: Fact) => void): HTMLElement {
  const list = h("ul", { class: "picked-from" });
  let waiting = 0;
  const search = async () => {
    const text = input.value.trim();
    if (!text) return fill(list);
    try {
      const { facts } = await get<{ facts: Fact[] }>("/facts", { text, limit: MOST });
      if (text === input.value.trim()) show(facts);
    } catch (error) {
      fill(
        list,
        h(
          "li",
          {},
          failureCard(error, () => void search()),
        ),
      );
    }
  };
  const show = (facts: readonly Fact[]) => {
    const choices = facts.map((fact) =>
      h("li", {}, h("button", { type: "button", onclick: () => pick(fact) }, clipped(fact.text, 110))),
    );
    fill(list, ...(choices.length ? choices : [h("li", { class: "none" }, "No matching fact.")]));
  };
  const pick = (fact: Fact) => {
    input.value = "";
    fill(list);
    onPick(fact);
  };
  const input = h("input", {
    type: "search",
    placeholder,
    "aria-label": label,
    autocomplete: "off",
    oninput: () => {
      clearTimeout(waiting);
      waiting = window.setTimeout(() => void search(), PAUSE_MILLISECONDS);
    },
  });
  return h("div", { class: "picker" }, input, list);
}
