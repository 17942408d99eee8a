// The graph screen: communities, an open community, and filters by words, scope, kind and time.
import type { App, Screen } from "../app.ts";
import { fill, h, icon, measured } from "../elements.ts";
import { RETURN } from "../icons.ts";
import type { Cluster } from "../shapes.ts";
import { counted, spoken } from "../wording.ts";
import { clusterOf, nameOf, type Atlas } from "./atlas.ts";
import { filterControls, giveUpWhatIsGone, isShown, matching, nothingChosen } from "./filters.ts";
import { communityId } from "./layout.ts";
import { namesOn } from "./names.ts";
import { wholeTexts } from "./texts.ts";

const LISTED = 12;
const ROWS = 40;
const ALL = "All communities";

/** A row of the list: a community or a cluster. */
interface Group {
  community: number | null;
  name: string;
  size: number;
}

export interface GraphScreen extends Screen {
  focus: () => void;
  /** The open cluster; null if none is open. */
  opened: () => Cluster | null;
  /** Show the facts of a cluster instead of all clusters. */
  open: (inside: Atlas) => void;
  /** Back to all clusters. */
  back: () => void;
}

export function graphScreen(app: App): GraphScreen {
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
    // Communities are searched by name, and the names are loaded.
    if (!atlas.clusters.length) texts.seek(chosen.words, atlas);
    const matched = matching(atlas, chosen, texts.known);
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
    fill(found, ...(matched ? matchList([...matched], atlas, app, texts.isSeeking()) : []));
  };
  const texts = wholeTexts(look);

  const named = () => {
    const atlas = app.stage.atlas;
    if (atlas) fill(groups, ...groupList(atlas, app));
    app.stage.repaint();
  };

  const charted = () => {
    const atlas = app.stage.atlas;
    if (!atlas) return;
    texts.forget();
    giveUpWhatIsGone(atlas, chosen);
    fill(controls, summary(atlas, app), ...filterControls(atlas, chosen, look));
    named();
    if (element.isConnected) look();
  };

  // All clusters, while one of them is open.
  let overview: Atlas | null = null;
  const turnTo = (atlas: Atlas) => {
    app.stage.show(atlas);
    charted();
    app.stage.fly();
  };
  const open = (inside: Atlas) => {
    overview ??= app.stage.atlas;
    turnTo(inside);
    if (document.activeElement === document.body) controls.querySelector<HTMLElement>(".way-back")?.focus();
  };
  const back = () => {
    const [all, left] = [overview, app.stage.atlas?.within];
    if (!all) return;
    overview = null;
    turnTo(all);
    groups.querySelector<HTMLElement>(`[data-cluster="${CSS.escape(left?.id ?? "")}"]`)?.focus();
  };

  return {
    element,
    // The reload loaded the whole graph. Open the cluster again that was open before.
    charted: () => ((overview = null), charted()),
    named,
    enter: () => {
      charted();
      app.stage.fly();
    },
    leave: () => {
      app.stage.paintWith(null);
      if (overview) app.stage.show(overview);
      overview = null;
    },
    focus: () => controls.querySelector("input")?.focus(),
    opened: () => (overview ? (app.stage.atlas?.within ?? null) : null),
    open,
    back,
  };
}

function summary(atlas: Atlas, app: App): HTMLElement {
  const { within } = atlas;
  const facts = counted(within ? atlas.nodes.size : atlas.total, "fact");
  return h(
    "header",
    { class: "answer" },
    within && h("button", { type: "button", class: "way-back", onclick: () => app.closeCluster() }, icon(RETURN), ALL),
    h("h2", {}, within ? spoken(nameOf(within)) : facts),
    h("p", {}, within ? `${facts}, ${counted(atlas.edges.length, "link")} between them` : drawnIn(atlas)),
  );
}

function drawnIn(atlas: Atlas): string {
  if (atlas.clusters.length)
    return "Too many facts to draw: each point is a community. Click one to open it.";
  const groups = atlas.discs.filter((disc) => disc.community !== null).length;
  return `${counted(atlas.edges.length, "link")}, ${counted(groups, "community", "communities")}`;
}

function matchList(ids: readonly string[], atlas: Atlas, app: App, isSeeking: boolean): HTMLElement[] {
  const shown = ids.slice(0, LISTED).map((id) => {
    const cluster = clusterOf(atlas, id);
    const onclick = () => (cluster ? app.openCluster(cluster) : (app.stage.fly([id]), app.open(id)));
    return h("li", {}, h("button", { type: "button", onclick }, atlas.nodes.get(id)?.label ?? id));
  });
  const head = h("h3", { "aria-live": "polite" }, matchCount(ids.length, atlas, isSeeking));
  return [head, h("ul", { class: "matches" }, ...shown)];
}

function matchCount(count: number, { clusters }: Atlas, isSeeking: boolean): string {
  if (clusters.length) return count ? `${counted(count, "community", "communities")} found` : "No community has this name";
  if (count) return `${counted(count, "fact")} found`;
  return isSeeking ? "Searching …" : "No fact contains this";
}

/** Communities to fly to, or clusters to open. Empty inside a cluster. */
function groupList(atlas: Atlas, app: App): HTMLElement[] {
  if (atlas.within) return [];
  const rows = atlas.clusters.length ? clusterRows(atlas, app) : communityRows(atlas, app);
  if (!rows.length) {
    const found = atlas.discs.some((disc) => disc.community !== null);
    return found ? [] : [h("p", { class: "meta" }, "No communities yet. Dream finds them.")];
  }
  return [h("h3", {}, "Communities"), h("ul", { class: "communities" }, ...rows)];
}

function communityRows(atlas: Atlas, app: App): HTMLElement[] {
  const members = new Map(atlas.discs.map((disc) => [communityId(disc.scope, disc.community), disc.members]));
  return atlas.communities.slice(0, ROWS).map((one) => {
    const onclick = () => app.stage.fly(members.get(communityId(one.scope, one.number)) ?? []);
    return groupRow({ ...one, community: one.number }, { onclick });
  });
}

function clusterRows(atlas: Atlas, app: App): HTMLElement[] {
  return atlas.clusters.map((one) =>
    groupRow({ ...one, name: nameOf(one) }, { onclick: () => app.openCluster(one), "data-cluster": one.id }),
  );
}

function groupRow(group: Group, attributes: Parameters<typeof h>[1]): HTMLElement {
  const { community } = group;
  const colour = community === null ? "var(--muted)" : `var(--community-${community % 12})`;
  const dot = measured(h("i", { class: "dot" }), "--dot", colour);
  const size = h("small", {}, group.size.toLocaleString("en"));
  return h("li", {}, h("button", { type: "button", ...attributes }, dot, h("span", {}, spoken(group.name)), size));
}
