// Settings with their help: found by words, changed in place, and taken back to what lies below.
import { put, remove } from "../calls.ts";
import { fill, h } from "../elements.ts";
import { failureNotice, notice } from "../notices.ts";
import type { Setting } from "../shapes.ts";
import { counted } from "../wording.ts";

const OTHERS = "general";

export function settingsCard(settings: readonly Setting[]): HTMLElement {
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
    fill(list, ...[...grouped(found)].map(([name, members]) => group(name, members, searching)));
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
      h("label", { class: "check" }, changedOnly, "Only changed ones"),
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

function grouped(settings: readonly Setting[]): Map<string, Setting[]> {
  const groups = new Map<string, Setting[]>();
  for (const one of settings) {
    const name = one.name.includes(".") ? (one.name.split(".")[0] ?? OTHERS) : OTHERS;
    groups.set(name, [...(groups.get(name) ?? []), one]);
  }
  return groups;
}

function group(name: string, members: readonly Setting[], open: boolean): HTMLElement {
  const rows = members.map((one) => row(one));
  return h(
    "details",
    { class: "setting-group", open },
    h("summary", {}, name.replaceAll("_", " "), h("small", {}, members.length)),
    ...rows,
  );
}

function row(first: Setting): HTMLElement {
  const element = h("div", { class: "setting" });
  const show = (setting: Setting) => {
    const kept = async (change: () => Promise<Setting>) => {
      try {
        show(await change());
        notice(`${setting.name} is kept in the store.`);
      } catch (error) {
        failureNotice(error);
        show(setting);
      }
    };
    const path = `/settings/${encodeURIComponent(setting.name)}`;
    const control = controlOf(setting, (value) => void kept(() => put<Setting>(path, { value })));
    control.id = `setting-${setting.name}`;
    control.setAttribute("aria-describedby", `help-${setting.name}`);
    const back =
      setting.layer === "store" &&
      h("button", { type: "button", class: "link", onclick: () => void kept(() => remove<Setting>(path)) }, "Reset");
    const origin = setting.layer !== "default" && h("span", { class: "badge" }, setting.layer);
    fill(
      element,
      h("label", { for: control.id }, h("code", {}, setting.name), origin),
      h("div", { class: "setting-control" }, control, back),
      h(
        "p",
        { class: "meta", id: `help-${setting.name}` },
        `${setting.help} ${setting.allowed}; by default ${shown(setting.default)}.`,
      ),
    );
  };
  show(first);
  return element;
}

function controlOf(setting: Setting, keep: (value: unknown) => void): HTMLInputElement | HTMLSelectElement {
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
      // Without a number in it, the field changes nothing and shows what holds.
      else if (input.value === "") input.value = held;
      else keep(Number(input.value));
    },
  });
  return input;
}

function shown(value: unknown): string {
  return value === "" ? "empty" : String(value);
}
