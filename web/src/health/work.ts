// Dream and curate, with live progress.
import { h } from "../elements.ts";
import { failureCard } from "../notices.ts";
import type { Stats } from "../shapes.ts";
import { work, type Progress } from "../streams.ts";
import { counted, spoken } from "../wording.ts";

type Report = Record<string, unknown>;

export interface WorkCard {
  element: HTMLElement;
  /** Show the number of waiting facts; the last report stays. */
  update: (stats: Stats) => void;
}

export function workCard(changed: () => void): WorkCard {
  const dream = task(
    "Dream",
    "Links new facts, and finds communities and bridges.",
    "/dream",
    {},
    dreamed,
    changed,
  );
  const curate = task(
    "Curate",
    "Decays unused links, archives facts by retention, and finds contradictions.",
    "/curate",
    {},
    curated,
    changed,
  );
  const rehearse = task(
    "Dry run",
    "Reports what curate would change, without changing it.",
    "/curate",
    { dry_run: true },
    curated,
    () => {},
  );
  const waits = h("p", { class: "meta" });
  const update = ({ waiting }: Stats) => {
    waits.textContent = waiting ? `${counted(waiting, "fact")} waiting for a dream.` : "No facts waiting.";
  };
  return { element: h("section", { class: "card" }, h("h2", {}, "Work"), waits, dream, curate, rehearse), update };
}

function task(
  name: string,
  help: string,
  path: string,
  body: object,
  inWords: (report: Report) => string,
  changed: () => void,
): HTMLElement {
  const bar = h("progress", { max: 1, value: 0, "aria-label": `Progress of ${name.toLowerCase()}`, hidden: true });
  const said = h("p", { class: "work-said", "aria-live": "polite" });
  const show = (progress: Progress) => {
    if (progress.total) bar.value = progress.done / progress.total;
    else bar.removeAttribute("value");
    said.textContent = `${spoken(progress.stage)} ${progress.total ? `${progress.done.toLocaleString("en")} of ${progress.total.toLocaleString("en")}` : ""}`;
  };
  const run = async () => {
    button.disabled = true;
    bar.hidden = false;
    try {
      const report = await work<Report>(path, body, show);
      said.textContent = inWords(report);
      bar.value = 1;
      changed();
    } catch (error) {
      said.replaceChildren(failureCard(error));
    }
    button.disabled = false;
  };
  const button = h("button", { type: "button", class: "quiet", onclick: () => void run() }, name);
  return h(
    "div",
    { class: "task" },
    h("div", { class: "task-head" }, button, h("p", { class: "meta" }, help)),
    bar,
    said,
  );
}

function numberIn(report: Report, name: string): number {
  const value = report[name];
  if (typeof value === "number") return value;
  return value && typeof value === "object" ? Object.keys(value).length : 0;
}

export function dreamed(report: Report): string {
  const [facts, fresh, groups] = [numberIn(report, "facts"), numberIn(report, "new"), numberIn(report, "communities")];
  return `${counted(facts, "fact")} connected, ${counted(fresh, "new link")}, ${counted(groups, "community", "communities")}.`;
}

export function curated(report: Report): string {
  const would = report["dry_run"] === true ? "would be " : "";
  const parts = [
    `${counted(numberIn(report, "faded"), "link")} ${would}decayed`,
    `${numberIn(report, "ended") + numberIn(report, "pruned")} removed`,
    `${counted(numberIn(report, "archived"), "fact")} archived`,
    `${counted(numberIn(report, "proposed"), "pair")} to review`,
  ];
  return `${parts.join(", ")}.`;
}
