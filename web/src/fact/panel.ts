// The fact panel: text, links, history and actions of a fact.
import type { App } from "../app.ts";
import { linkInWords } from "../ask/xray.ts";
import { get, post, Refusal } from "../calls.ts";
import { fill, h, iconButton, measured } from "../elements.ts";
import { CLOSE } from "../icons.ts";
import { failureCard, failureNotice, notice } from "../notices.ts";
import type { Fact, Link, Past, Portrait } from "../shapes.ts";
import { clipped, counted, day, percent } from "../wording.ts";
import { connectForm } from "./connecting.ts";
import { editForm } from "./editing.ts";
import { forgetCard } from "./forgetting.ts";

export interface FactPanel {
  element: HTMLElement;
  open: (id: string) => Promise<void>;
  close: () => void;
}

const LINKS = 12;

export function factPanel(app: App): FactPanel {
  const body = h("div", { class: "fact-body" });
  const close = iconButton(CLOSE, "Close", () => app.close());
  const element = h("aside", { class: "fact-panel", "aria-label": "Fact", tabindex: -1, hidden: true }, close, body);
  let shown: string | null = null;
  const open = async (id: string) => {
    shown = id;
    element.hidden = false;
    try {
      const portrait = await get<Portrait>(`/facts/${encodeURIComponent(id)}`);
      if (shown === id) fill(body, ...portrayed(portrait, app, () => void open(id)));
    } catch (error) {
      if (shown === id) fill(body, gone(error) ? goneCard() : failureCard(error, () => void open(id)));
    }
    element.focus({ preventScroll: true });
  };
  const shut = () => {
    shown = null;
    element.hidden = true;
  };
  return { element, open, close: shut };
}

function gone(error: unknown): boolean {
  return error instanceof Refusal && error.status === 404;
}

function goneCard(): HTMLElement {
  return h(
    "div",
    { class: "failure" },
    h("strong", {}, "This fact is not available."),
    h("p", {}, "It was forgotten, or it belongs to a cluster too large to draw."),
  );
}

function portrayed(portrait: Portrait, app: App, again: () => void): HTMLElement[] {
  const { fact } = portrait;
  const space = h("div", { class: "fact-space" });
  return [
    h(
      "div",
      { class: "badges" },
      fact.pinned && h("span", { class: "badge accent" }, "pinned"),
      fact.archived && h("span", { class: "badge" }, "archived"),
    ),
    h("h2", { class: "fact-text" }, fact.text),
    tagList(fact),
    actions(fact, app, again, space),
    space,
    particulars(portrait),
    linkList(portrait, app),
    historyList(portrait.history),
  ].filter((part) => part !== null);
}

function tagList(fact: Fact): HTMLElement | null {
  return fact.tags.length
    ? h("ul", { class: "tags", "aria-label": "Tags" }, ...fact.tags.map((tag) => h("li", {}, tag)))
    : null;
}

function actions(fact: Fact, app: App, again: () => void, space: HTMLElement): HTMLElement {
  const toggle = (form: () => HTMLElement) => {
    fill(space, form());
    // At once: a later call would take the focus away from another field.
    space.querySelector("textarea")?.focus();
  };
  const cancel = () => fill(space);
  const done = () => {
    again();
    void app.changed();
  };
  const act = (label: string, run: () => void, extra = "") =>
    h("button", { type: "button", class: `quiet ${extra}`, onclick: run }, label);
  return h(
    "div",
    { class: "fact-actions", role: "group", "aria-label": "What to do with it" },
    act("Edit", () => toggle(() => editForm(fact, { done, cancel }))),
    act("Connect", () => toggle(() => connectForm(fact, { done, cancel }))),
    act(fact.pinned ? "Unpin" : "Pin", () => void mark(fact, fact.pinned ? "unpin" : "pin", done)),
    act(fact.archived ? "Restore" : "Archive", () => void mark(fact, fact.archived ? "restore" : "archive", done)),
    act("Forget", () => toggle(() => forgetCard(fact, app, cancel)), "danger"),
  );
}

const DONE = {
  pin: "Pinned: it does not decay.",
  unpin: "Unpinned.",
  archive: "Archived: excluded from recall.",
  restore: "Restored: included in recall.",
};

async function mark(fact: Fact, verb: keyof typeof DONE, done: () => void): Promise<void> {
  try {
    await post(`/facts/${encodeURIComponent(fact.id)}/${verb}`);
    notice(DONE[verb]);
    done();
  } catch (error) {
    failureNotice(error);
  }
}

function particulars({ fact, importance, use, descriptions, archived_because }: Portrait): HTMLElement {
  const rows: [string, string | null | undefined][] = [
    ["When", fact.at && day(fact.at)],
    ["About", fact.subject],
    ["Speaker", fact.speaker],
    ["Kind", fact.category],
    ["Source", fact.source],
    ["Session", fact.session],
    ["Scope", fact.scope],
    ["Stored", fact.stored_at && day(fact.stored_at)],
    ["Valid until", fact.valid_until && day(fact.valid_until)],
    ["Stored again", fact.reinforced ? counted(fact.reinforced, "time") : null],
    ["Importance", importance && `${(100 * importance.pagerank).toFixed(1)} % of all`],
    ["Helped", use.helped + use.hurt ? `${use.helped} of ${use.helped + use.hurt} (${percent(use.success)})` : null],
    ["Described as", descriptions.length ? clipped(descriptions.join(", "), 120) : null],
    ["Archived", archived_because],
  ];
  const shown = rows.filter(([, value]) => value);
  return h(
    "dl",
    { class: "particulars" },
    ...shown.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value ?? "")]),
  );
}

function linkList({ fact, links }: Portrait, app: App): HTMLElement {
  const rows = links.slice(0, LINKS).map((link) => linkRow(fact, link, app));
  const more = links.length > LINKS && h("p", { class: "meta" }, `and ${links.length - LINKS} weaker ones`);
  return h(
    "section",
    {},
    h("h3", {}, "Links"),
    links.length
      ? h("ul", { class: "links" }, ...rows)
      : h("p", { class: "meta" }, "No links yet. Dream links new facts."),
    more,
  );
}

function linkRow(fact: Fact, link: Link, app: App): HTMLElement {
  const other = link.source === fact.id ? link.target : link.source;
  const weight = measured(
    h("i", { class: "weight", "aria-hidden": "true" }),
    "--width",
    `${100 * Math.min(1, link.weight ?? 0.5)}%`,
  );
  return h(
    "li",
    {},
    h(
      "button",
      { type: "button", onclick: () => app.open(other) },
      h("span", {}, clipped(link.text ?? other, 100)),
      h("small", {}, linkInWords(link), weight),
    ),
  );
}

function historyList(history: readonly Past[]): HTMLElement | null {
  if (!history.length) return null;
  const rows = [...history]
    .reverse()
    .map((past) => h("li", {}, h("span", {}, past.text), h("small", {}, `until ${day(past.until)}`)));
  return h("section", {}, h("h3", {}, "History"), h("ul", { class: "history" }, ...rows));
}
