// Filters of the graph: words, scope, kind of fact and link, and time.
import { fill, h, measured } from "../elements.ts";
import { day, spoken } from "../wording.ts";
import type { Atlas } from "./atlas.ts";
import { histogram, momentIn, spanOf } from "./time.ts";

/** The chosen filters. They are kept when the graph is reloaded. */
export interface Chosen {
  words: string;
  scope: string;
  category: string;
  archived: boolean;
  /** Show facts up to this moment. */
  until: number;
  hiddenKinds: Set<string>;
}

const BARS = 36;

export function nothingChosen(): Chosen {
  return { words: "", scope: "", category: "", archived: false, until: Infinity, hiddenKinds: new Set() };
}

export function isShown(atlas: Atlas, chosen: Chosen, id: string): boolean {
  const node = atlas.nodes.get(id);
  if (!node || (node.archived && !chosen.archived)) return false;
  if (chosen.scope && node.scope !== chosen.scope) return false;
  if (chosen.category && node.category !== chosen.category) return false;
  return node.at === null || Date.parse(node.at) <= chosen.until;
}

/** The facts that match the search, by their full texts where these are known; null without a search. */
export function matching(
  atlas: Atlas,
  chosen: Chosen,
  texts: ReadonlyMap<string, string>,
): ReadonlySet<string> | null {
  const wanted = chosen.words.toLowerCase().split(/\s+/).filter(Boolean);
  if (!wanted.length) return null;
  const found = [...atlas.nodes.values()].filter((node) => {
    const text = (texts.get(node.id) ?? node.label).toLowerCase();
    return wanted.every((word) => text.includes(word)) && isShown(atlas, chosen, node.id);
  });
  return new Set(found.map((node) => node.id));
}

/** Reset a choice that no fact of the graph has any more: it would still filter, but not be shown among the choices. */
export function giveUpWhatIsGone(atlas: Atlas, chosen: Chosen): void {
  for (const field of ["scope", "category"] as const) {
    if (!valuesOf(atlas, field).includes(chosen[field])) chosen[field] = "";
  }
}

function valuesOf(atlas: Atlas, field: "scope" | "category"): string[] {
  const values = new Set([...atlas.nodes.values()].map((node) => node[field]));
  return [...values].filter((one) => one !== null).sort();
}

export function filterControls(atlas: Atlas, chosen: Chosen, onChange: () => void): (HTMLElement | null)[] {
  const label = atlas.clusters.length ? "Find communities by name" : "Find facts in the graph";
  const words = h("input", {
    type: "search",
    value: chosen.words,
    placeholder: label,
    "aria-label": label,
    oninput: () => ((chosen.words = words.value), onChange()),
  });
  const archived = h("input", {
    type: "checkbox",
    checked: chosen.archived,
    onchange: () => ((chosen.archived = archived.checked), onChange()),
  });
  const scope = choice("Scope", "scope", "all scopes", atlas, chosen, onChange);
  // A cluster has neither kind nor time.
  if (atlas.clusters.length) return [words, scope];
  return [
    words,
    h(
      "div",
      { class: "option-grid" },
      scope,
      choice("Kind of fact", "category", "all kinds", atlas, chosen, onChange),
    ),
    timeSlider(atlas, chosen, onChange),
    kindBoxes(atlas, chosen, onChange),
    h("label", { class: "check" }, archived, "Include archived facts"),
  ];
}

function choice(
  name: string,
  field: "scope" | "category",
  all: string,
  atlas: Atlas,
  chosen: Chosen,
  onChange: () => void,
): HTMLElement {
  const options = valuesOf(atlas, field).map((value) => h("option", { value, selected: value === chosen[field] }, value));
  const select = h(
    "select",
    { onchange: () => ((chosen[field] = select.value), onChange()) },
    h("option", { value: "" }, all),
    ...options,
  );
  return h("label", { class: "field" }, h("span", {}, name), select);
}

function kindBoxes(atlas: Atlas, { hiddenKinds }: Chosen, onChange: () => void): HTMLElement | null {
  const counts = new Map<string, number>();
  for (const edge of atlas.edges) counts.set(edge.kind, (counts.get(edge.kind) ?? 0) + 1);
  if (!counts.size) return null;
  const boxes = [...counts]
    .sort((one, other) => other[1] - one[1])
    .map(([kind, count]) => {
      const turn = () => (box.checked ? hiddenKinds.delete(kind) : hiddenKinds.add(kind), onChange());
      const box = h("input", { type: "checkbox", checked: !hiddenKinds.has(kind), onchange: turn });
      return h("label", { class: "check" }, box, spoken(kind), h("small", {}, count.toLocaleString("en")));
    });
  return h("fieldset", { class: "kinds" }, h("legend", {}, "Links"), ...boxes);
}

function timeSlider(atlas: Atlas, chosen: Chosen, onChange: () => void): HTMLElement | null {
  const moments = [...atlas.nodes.values()].flatMap((node) => (node.at === null ? [] : [Date.parse(node.at)]));
  const span = spanOf(moments);
  if (!span || span.from === span.to) return null;
  const counts = histogram(moments, span, BARS);
  const most = Math.max(...counts);
  const bars = counts.map((count) => measured(h("i"), "--height", `${(100 * count) / most}%`));
  const said = h("output", {});
  const begin = Math.min(1, (chosen.until - span.from) / (span.to - span.from));
  const slider = h("input", {
    type: "range",
    min: 0,
    max: 1,
    step: 0.005,
    value: begin,
    oninput: () => (update(), onChange()),
  });
  const update = () => {
    const share = Number(slider.value);
    chosen.until = share >= 1 ? Infinity : momentIn(span, share);
    fill(said, share >= 1 ? "all times" : `up to ${day(chosen.until)}`);
    slider.setAttribute("aria-valuetext", said.textContent ?? "");
    bars.forEach((bar, row) => bar.classList.toggle("later", row / BARS > share));
  };
  update();
  return h(
    "div",
    { class: "time" },
    h(
      "label",
      { class: "time-label" },
      h("span", {}, "Time"),
      said,
      h("span", { class: "bars", "aria-hidden": "true" }, ...bars),
      slider,
    ),
  );
}
