// The frame of the page: the navigation at the top, and the stage with its overlays.
import type { ScreenName } from "./app.ts";
import { h, icon, iconButton } from "./elements.ts";
import type { Stage } from "./graph/stage.ts";
import { ASK, FIT, GRAPH, KEYS, MINUS, MOON, PLUS, PULSE, SUN } from "./icons.ts";
import { onTheme, theme, turnTheme } from "./theme.ts";
import { counted } from "./wording.ts";

export interface Shell {
  header: HTMLElement;
  mark: (screen: ScreenName) => void;
  setCount: (facts: number) => void;
}

const TABS: [ScreenName, string, string][] = [
  ["ask", "Ask", ASK],
  ["graph", "Graph", GRAPH],
  ["health", "Health", PULSE],
];

export function shell(showKeys: () => void): Shell {
  const tabs = TABS.map(([name, label, path]) => h("a", { href: `#/${name}`, "data-screen": name }, icon(path), label));
  const count = h("span", { class: "count" });
  const turn = iconButton(SUN, "Light or dark theme", turnTheme);
  const showTheme = () => turn.replaceChildren(icon(theme() === "light" ? MOON : SUN));
  onTheme(showTheme);
  showTheme();
  const header = h(
    "header",
    { class: "top" },
    h("a", { class: "wordmark", href: "#/ask", "aria-label": "cofire" }, h("i", { "aria-hidden": "true" }), "cofire"),
    h("nav", { "aria-label": "Screens" }, ...tabs),
    count,
    iconButton(KEYS, "Keys", showKeys),
    turn,
  );
  const mark = (screen: ScreenName) => {
    for (const tab of tabs) {
      if (tab.dataset["screen"] === screen) tab.setAttribute("aria-current", "page");
      else tab.removeAttribute("aria-current");
    }
  };
  return { header, mark, setCount: (facts) => (count.textContent = counted(facts, "fact")) };
}

export function stageFrame(stage: Stage, replay: HTMLElement): HTMLElement {
  const tip = h("div", { class: "tip", role: "tooltip", hidden: true });
  stage.onHover = (id, at) => {
    tip.hidden = id === null;
    tip.textContent = (id && stage.atlas?.nodes.get(id)?.label) ?? "";
    tip.style.setProperty("--x", `${at.x}px`);
    tip.style.setProperty("--y", `${at.y}px`);
  };
  const zoom = h(
    "div",
    { class: "zoom", role: "group", "aria-label": "Camera" },
    iconButton(PLUS, "Nearer", () => stage.zoom(1.6)),
    iconButton(MINUS, "Farther", () => stage.zoom(1 / 1.6)),
    iconButton(FIT, "See all", () => stage.fly()),
  );
  return h("div", { class: "stage" }, stage.element, tip, zoom, replay);
}
