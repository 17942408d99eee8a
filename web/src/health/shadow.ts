// The report on shadow recalls: a second configuration, compared without an effect on answers.
import type { App } from "../app.ts";
import { h } from "../elements.ts";
import type { Shadow } from "../shapes.ts";
import { clipped, counted, percent } from "../wording.ts";

export function shadowCard(shadow: Shadow, app: App): HTMLElement {
  const body = shadow.count
    ? compared(shadow, app)
    : [
        h(
          "p",
          { class: "meta" },
          "No shadow recalls yet. Switch on shadow.enabled below to compare each recall with a second configuration.",
        ),
      ];
  return h("section", { class: "card" }, h("h2", {}, "Shadow"), ...body);
}

function compared(shadow: Shadow, app: App): HTMLElement[] {
  const rows: [string, string][] = [
    ["Recalls compared", shadow.count.toLocaleString("en")],
    ["Same facts", shadow.overlap === null ? "–" : percent(shadow.overlap)],
    ["Same order (τ)", shadow.tau === null ? "–" : shadow.tau.toFixed(2)],
    ["Same list", counted(shadow.same, "time")],
    ["Failed", counted(shadow.failures, "time")],
  ];
  return [
    h("dl", { class: "particulars" }, ...rows.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
    moved("Ranked higher in the shadow configuration", shadow.promoted, app),
    moved("Ranked lower in the shadow configuration", shadow.demoted, app),
  ].filter((part) => part !== null);
}

function moved(title: string, facts: Shadow["promoted"], app: App): HTMLElement | null {
  if (!facts.length) return null;
  const rows = facts
    .slice(0, 5)
    .map((one) =>
      h(
        "li",
        {},
        h(
          "button",
          { type: "button", onclick: () => app.open(one.id) },
          h("span", {}, clipped(one.text, 90)),
          h("small", {}, counted(one.times, "time")),
        ),
      ),
    );
  return h("div", {}, h("p", { class: "label" }, title), h("ul", { class: "links" }, ...rows));
}
