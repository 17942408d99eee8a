// The list of settings: search, change and reset.
import { get, put, remove } from "../calls.ts";
import { fill, h } from "../elements.ts";
import { failureNotice, notice } from "../notices.ts";
import type { Setting } from "../shapes.ts";
import { counted } from "../wording.ts";

const OTHERS = "general";

/** A row of the list, which can be updated. */
interface Row {
  element: HTMLElement;
  show: (setting: Setting) => void;
}

/** Send a change of a setting, and report the result. */
type Change = (send: () => Promise<Setting>, told: string) => Promise<void>;

export function settingsCard(loaded: readonly Setting[]): HTMLElement {
  let settings = loaded;
  let rows = new Map<string, Row>();
  const list = h("div", { class: "setting-groups" });
  const changedOnly = h("input", { type: "checkbox", onchange: () => show() });
  const search = h("input", {
    type: "search",
    placeholder: "Find a setting",
    "aria-label": "Find a setting",
    oninput: () => show(),
  });
  const said = h("p", { class: "meta", "aria-live": "polite" });
  const show = () => {
    const found = wanted(settings, search.value, changedOnly.checked);
    const searching = search.value.trim() !== "" || changedOnly.checked;
    said.textContent = counted(found.length, "setting");
    rows = new Map(found.map((one) => [one.name, row(one, change)]));
    fill(list, ...[...grouped(found)].map(([name, members]) => group(name, elementsOf(members), searching)));
  };
  const elementsOf = (members: readonly Setting[]) => members.flatMap(({ name }) => rows.get(name)?.element ?? []);
  const change: Change = async (send, told) => {
    const { name } = await send();
    const before = new Map(settings.map((one) => [one.name, one]));
    settings = (await get<{ settings: Setting[] }>("/settings")).settings;
    notice(told);
    // A preset changes other settings too. Unchanged rows stay: the user may be typing in one.
    for (const one of settings) {
      if (one.name === name || differs(one, before.get(one.name))) rows.get(one.name)?.show(one);
    }
  };
  show();
  return h(
    "section",
    { class: "card settings", "aria-labelledby": "settings-title" },
    h(
      "div",
      { class: "settings-head" },
      h("h2", { id: "settings-title" }, "Settings"),
      search,
      h("label", { class: "check" }, changedOnly, "Changed settings only"),
      said,
    ),
    list,
  );
}

export function wanted(settings: readonly Setting[], words: string, changedOnly: boolean): Setting[] {
  const parts = words.toLowerCase().split(/\s+/).filter(Boolean);
  return settings.filter((one) => {
    const text = `${one.name} ${one.help}`.toLowerCase();
    return parts.every((part) => text.includes(part)) && (!changedOnly || one.layer !== "default");
  });
}

function differs(one: Setting, other: Setting | undefined): boolean {
  return one.value !== other?.value || one.layer !== other?.layer;
}

function grouped(settings: readonly Setting[]): Map<string, Setting[]> {
  const groups = new Map<string, Setting[]>();
  for (const one of settings) {
    const name = one.name.includes(".") ? (one.name.split(".")[0] ?? OTHERS) : OTHERS;
    groups.set(name, [...(groups.get(name) ?? []), one]);
  }
  return groups;
}

function group(name: string, rows: readonly HTMLElement[], open: boolean): HTMLElement {
  return h(
    "details",
    { class: "setting-group", open },
    h("summary", {}, name.replaceAll("_", " "), h("small", {}, rows.length)),
    ...rows,
  );
}

function row(first: Setting, change: Change): Row {
  const element = h("div", { class: "setting" });
  const show = (setting: Setting) => {
    const tried = async (...one: Parameters<Change>) => {
      try {
        await change(...one);
      } catch (error) {
        failureNotice(error);
        show(setting);
      }
    };
    const path = `/settings/${encodeURIComponent(setting.name)}`;
    const keep = (value: unknown) =>
      void tried(() => put<Setting>(path, { value }), `${setting.name} is stored.`);
    const reset = () => void tried(() => remove<Setting>(path), `${setting.name} is no longer stored.`);
    const control = controlOf(setting, keep);
    control.id = `setting-${setting.name}`;
    control.setAttribute("aria-describedby", `help-${setting.name}`);
    const back =
      setting.settable && setting.layer === "store" && h("button", { type: "button", class: "link", onclick: reset }, "Reset");
    const origin = setting.layer !== "default" && h("span", { class: "badge" }, setting.layer);
    fill(
      element,
      h("label", { for: control.id }, h("code", {}, setting.name), origin),
      h("div", { class: "setting-control" }, control, back),
      h(
        "p",
        { class: "meta", id: `help-${setting.name}` },
        `${setting.help} ${setting.allowed}; by default ${shown(setting.default)}.`,
        !setting.settable && " Changed only where the server runs: ",
        !setting.settable && h("code", {}, `cofire config set ${setting.name} VALUE`),
      ),
    );
  };
  show(first);
  return { element, show };
}

function controlOf(setting: Setting, keep: (value: unknown) => void): HTMLElement {
  if (!setting.settable) return h("output", {}, shown(setting.value));
  if (setting.kind === "boolean") {
    const box = h("input", {
      type: "checkbox",
      class: "switch",
      checked: setting.value === true,
      onchange: () => keep(box.checked),
    });
    return box;
  }
  if (setting.choices?.length) {
    const options = setting.choices.map((value) => h("option", { value, selected: value === setting.value }, value));
    const select = h("select", { onchange: () => keep(select.value) }, ...options);
    return select;
  }
  const held = String(setting.value ?? "");
  const numeric = setting.kind === "integer" || setting.kind === "number";
  const input = h("input", {
    type: numeric ? "number" : "text",
    value: held,
    min: setting.low,
    max: setting.high,
    step: setting.kind === "integer" ? 1 : "any",
    onchange: () => {
      if (!numeric) keep(input.value);
      // An empty field changes nothing and shows the current value.
      else if (input.value === "") input.value = held;
      else keep(Number(input.value));
    },
  });
  return input;
}

function shown(value: unknown): string {
  return value === "" ? "empty" : String(value);
}
