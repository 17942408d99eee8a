// The x-ray of a hit: the share of each channel in the score, and the path to the fact.
import { h, measured } from "../elements.ts";
import type { Heard, Hit, Hop } from "../shapes.ts";
import { clipped, percent, signed, spoken } from "../wording.ts";

const CHANNELS = ["semantic", "keyword", "entity", "temporal", "activation", "coverage", "prior"];

export function channelClass(name: string): string {
  return CHANNELS.includes(name) ? `channel-${name}` : "channel-own";
}

/** The channels that count for a hit, largest share first. */
export function terms(hit: Hit): [string, Heard][] {
  return Object.entries(hit.channels)
    .filter(([, heard]) => heard.rank !== null || heard.gives !== 0)
    .sort(([, one], [, other]) => other.gives - one.gives);
}

/** A bar with a segment for each channel, in proportion to the best score. */
export function channelBar(hit: Hit, most: number): HTMLElement {
  const giving = terms(hit).filter(([, heard]) => heard.gives > 0);
  const spoken = giving.map(([name, heard]) => `${name} ${signed(heard.gives)}`).join(", ");
  const segments = giving.map(([name, heard]) =>
    measured(h("i", { class: channelClass(name) }), "--width", `${(100 * heard.gives) / (most || 1)}%`),
  );
  return h("div", { class: "channel-bar", role: "img", "aria-label": `Score by channel: ${spoken}` }, ...segments);
}

export function xray(hit: Hit, textOf: (id: string) => string | undefined): HTMLElement {
  return h("div", { class: "xray" }, arithmetic(hit), features(hit), path(hit, textOf), bridge(hit, textOf));
}

function arithmetic(hit: Hit): HTMLElement {
  const rows = terms(hit).map(([name, heard]) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, h("i", { class: `dot ${channelClass(name)}` }), name),
      h("td", {}, heard.rank === null ? "" : `#${heard.rank}`),
      h("td", {}, heard.rank === null ? "" : signed(heard.score)),
      h("td", {}, signed(heard.gives)),
    ),
  );
  const head = ["channel", "place", "score", "gives"].map((name) => h("th", { scope: "col" }, name));
  const sum = h(
    "tr",
    { class: "sum" },
    h("th", { scope: "row" }, "score"),
    h("td"),
    h("td"),
    h("td", {}, signed(hit.score)),
  );
  return h("table", { class: "arithmetic" }, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...rows, sum));
}

function features(hit: Hit): HTMLElement | null {
  const parts = Object.entries(hit.parts);
  if (parts.length < 2) return null;
  const said = parts.map(([name, value]) => h("span", { class: "term" }, `${spoken(name)} ${signed(value)}`));
  return h("p", { class: "features" }, h("span", { class: "label" }, "Activation is "), ...said);
}

function path(hit: Hit, textOf: (id: string) => string | undefined): HTMLElement | null {
  if (!hit.hops.length) return null;
  const first = hit.hops[0] as Hop;
  const steps = hit.hops.flatMap((hop) => [
    h("li", { class: "hop" }, linkInWords(hop), h("span", { class: "energy" }, `energy ${hop.energy.toFixed(3)}`)),
    h("li", { class: "stop" }, clipped(hop.target === hit.id ? hit.text : (textOf(hop.target) ?? hop.target), 120)),
  ]);
  const weakest = hit.weakest === null ? "" : `, weakest link ${percent(hit.weakest)}`;
  return h(
    "div",
    { class: "path" },
    h("p", { class: "label" }, `Path of ${hit.hops.length === 1 ? "one hop" : `${hit.hops.length} hops`}${weakest}`),
    h("ol", {}, h("li", { class: "stop" }, clipped(textOf(first.source) ?? first.source, 120)), ...steps),
  );
}

function bridge(hit: Hit, textOf: (id: string) => string | undefined): HTMLElement | null {
  if (!hit.bridge.length) return null;
  const ends = hit.bridge.map((hop) => h("li", {}, clipped(textOf(hop.source) ?? hop.source, 120)));
  return h("div", { class: "path" }, h("p", { class: "label" }, "A bridge between"), h("ul", {}, ...ends));
}

export function linkInWords(link: { kind: string; via: string | null }): string {
  return link.via ? `${spoken(link.kind)} via ${link.via}` : spoken(link.kind);
}
