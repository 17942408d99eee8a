// The health screen: figures of the store, review, maintenance, settings and shadow recalls.
import type { App, Screen } from "../app.ts";
import { get } from "../calls.ts";
import { fill, h } from "../elements.ts";
import { failureCard } from "../notices.ts";
import type { Review, Setting, Shadow, Stats } from "../shapes.ts";
import { bytes, counted } from "../wording.ts";
import { inbox } from "./inbox.ts";
import { settingsCard } from "./settings.ts";
import { shadowCard } from "./shadow.ts";
import { workCard } from "./work.ts";

export function healthScreen(app: App): Screen {
  const element = h("section", { class: "health", "aria-label": "Health" });
  const load = async () => {
    try {
      const [stats, review, settings, shadow] = await Promise.all([
        get<Stats>("/stats"),
        get<{ reviews: Review[] }>("/review"),
        get<{ settings: Setting[] }>("/settings"),
        get<Shadow>("/shadow"),
      ]);
      work.update(stats);
      fill(
        element,
        h(
          "div",
          { class: "health-head" },
          h("h1", {}, "Health"),
          h("p", {}, stats.advice || "No problems, and no facts waiting."),
        ),
        counts(stats),
        h(
          "div",
          { class: "cards" },
          work.element,
          inbox(review.reviews, app, changed),
          shadowCard(shadow, app),
          holding(stats),
        ),
        settingsCard(settings.settings),
      );
    } catch (error) {
      fill(
        element,
        failureCard(error, () => void load()),
      );
    }
  };
  const changed = () => void app.changed().then(load);
  const work = workCard(changed);
  return { element, enter: () => void load(), leave: () => {} };
}

function counts(stats: Stats): HTMLElement {
  const figures: [string, string][] = [
    [stats.facts.toLocaleString("en"), "facts"],
    [stats.edges.toLocaleString("en"), "links"],
    [stats.mentions.toLocaleString("en"), "mentions of names"],
    [stats.waiting.toLocaleString("en"), "waiting for a dream"],
    [stats.archived.toLocaleString("en"), "archived"],
    [bytes(stats.bytes), "on disk"],
  ];
  return h(
    "dl",
    { class: "figures" },
    ...figures.map(([figure, name]) => h("div", {}, h("dt", {}, name), h("dd", {}, figure))),
  );
}

function holding(stats: Stats): HTMLElement {
  const rows: [string, string][] = [
    ["Search", stats.mode],
    ["Model", stats.model ?? "none"],
    ["Without a vector", counted(stats.without_vector, "fact")],
    ...Object.entries(stats.scopes).map(([name, count]): [string, string] => [`Scope ${name}`, counted(count, "fact")]),
  ];
  return h(
    "section",
    { class: "card" },
    h("h2", {}, "Store"),
    h("dl", { class: "particulars" }, ...rows.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
  );
}
