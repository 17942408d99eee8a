// The screen of the whole graph: communities, and filters by words, scope, kind and time.
import type { App, Screen } from "../app.ts";
import { fill, h, measured } from "../elements.ts";
import { counted, spoken } from "../wording.ts";
import type { Atlas } from "./atlas.ts";
import { filterControls, isShown, matching, nothingChosen } from "./filters.ts";
import { namesOn } from "./names.ts";

const LISTED = 12;

export function graphScreen(app: App): Screen & { focus: () => void } {
  const chosen = nothingChosen();
  const controls = h("div", { class: "filters" });
  const found = h("div", { class: "found" });
  const groups = h("div", { class: "groups" });
  const element = h(
    "section",
    { class: "panel graph", "aria-label": "Graph" },
    h("h1", { class: "unseen" }, "The whole graph"),
    controls,
    found,
    groups,
  );

  const look = () => {
    const atlas = app.stage.atlas;
    if (!atlas) return;
    const matched = matching(atlas, chosen);
    const shows = (id: string) => isShown(atlas, chosen, id);
    const follows = (kind: string) => !chosen.hiddenKinds.has(kind);
    app.stage.look({
      shows,
      follows,
      stands: (id) => matched?.has(id) ?? false,
      dimmed: matched ? 0.75 : 0,
      labels: true,
    });
    app.stage.paintWith(matched ? null : namesOn(app.stage, shows));
    fill(found, ...(matched ? matchList([...matched], atlas, app) : []));
  };

  const charted = () => {
    const atlas = app.stage.atlas;
    if (!atlas) return;
    fill(controls, summary(atlas), ...filterControls(atlas, chosen, look));
    fill(groups, ...communityList(atlas, app));
    if (element.isConnected) look();
  };

  return {
    element,
    charted,
    enter: () => {
      look();
      app.stage.fly();
    },
    leave: () => app.stage.paintWith(null),
    focus: () => controls.querySelector("input")?.focus(),
  };
}

function summary(atlas: Atlas): HTMLElement {
  const drawn = atlas.clusters.length
    ? `More than can be drawn one by one: each of the ${atlas.clusters.length} nodes is a community.`
    : `${counted(atlas.edges.length, "link")}, ${counted(atlas.communities.length, "community", "communities")}`;
  return h("header", { class: "answer" }, h("h2", {}, counted(atlas.total, "fact")), h("p", {}, drawn));
}

function matchList(ids: readonly string[], atlas: Atlas, app: App): HTMLElement[] {
  const shown = ids
    .slice(0, LISTED)
    .map((id) =>
      h(
        "li",
        {},
        h(
          "button",
          { type: "button", onclick: () => (app.stage.fly([id]), app.open(id)) },
          atlas.nodes.get(id)?.label ?? id,
        ),
      ),
    );
  const head = h(
    "h3",
    { "aria-live": "polite" },
    ids.length ? `${counted(ids.length, "fact")} found` : "No fact says that",
  );
  return [head, h("ul", { class: "matches" }, ...shown)];
}

function communityList(atlas: Atlas, app: App): HTMLElement[] {
  if (!atlas.communities.length) return [h("p", { class: "meta" }, "No communities yet: a dream finds them.")];
  const members = new Map(atlas.discs.map((disc) => [disc.community, disc.members]));
  const rows = atlas.communities.slice(0, 40).map((one) => {
    const dot = measured(h("i", { class: "dot" }), "--dot", `var(--community-${one.number % 12})`);
    return h(
      "li",
      {},
      h(
        "button",
        { type: "button", onclick: () => app.stage.fly(members.get(one.number) ?? []) },
        dot,
        h("span", {}, spoken(one.name)),
        h("small", {}, one.size),
      ),
    );
  });
  return [h("h3", {}, "Communities"), h("ul", { class: "communities" }, ...rows)];
}
