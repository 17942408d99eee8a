// The question form: number of facts, scope, tags, times and dynamics.
import { h } from "../elements.ts";

export interface Asked extends Record<string, unknown> {
  query: string;
}

export interface QuestionForm {
  element: HTMLFormElement;
  focus: () => void;
  asked: () => Asked;
  fillIn: (question: string) => void;
  setScopes: (names: readonly string[]) => void;
}

// The limit of the API.
const MOST = 1000;
const DYNAMICS = ["cofire", "synapse.documented", "synapse.paper", "diffusion", "energy"];

export function questionForm(onAsk: (asked: Asked) => void): QuestionForm {
  const query = h("textarea", {
    name: "query",
    rows: 1,
    placeholder: "Ask a question",
    "aria-label": "Question",
    enterkeyhint: "search",
    onkeydown: submitOnEnter,
  });
  const k = h("input", { type: "number", min: 1, max: MOST, value: 8, name: "k" });
  const scope = h("select", { name: "scope" }, h("option", { value: "" }, "as usual"));
  const tags = h("input", { type: "text", name: "tags", placeholder: "db, infra" });
  const since = h("input", { type: "date", name: "since" });
  const until = h("input", { type: "date", name: "until" });
  const dynamics = h(
    "select",
    { name: "dynamics" },
    h("option", { value: "" }, "as set"),
    ...DYNAMICS.map((name) => h("option", { value: name }, name)),
  );
  const asked = (): Asked => ({
    query: query.value.trim(),
    k: Number(k.value) || 8,
    ...(scope.value && { scope: scope.value }),
    ...(tags.value.trim() && { tags: listed(tags.value) }),
    ...(since.value && { since: since.value }),
    ...(until.value && { until: until.value }),
    ...(dynamics.value && { settings: { "activation.dynamics": dynamics.value } }),
  });
  const options = optionFields({ Facts: k, Scope: scope, Tags: tags, Dynamics: dynamics, Since: since, Until: until });
  const submit = (event: SubmitEvent) => (event.preventDefault(), asked().query && onAsk(asked()));
  const row = h("div", { class: "question-row" }, query, h("button", { type: "submit", class: "primary" }, "Ask"));
  return {
    element: h("form", { class: "question", role: "search", onsubmit: submit }, row, options),
    asked,
    focus: () => query.focus(),
    fillIn: (question) => (query.value = question),
    setScopes: (names) =>
      scope.replaceChildren(
        h("option", { value: "" }, "as usual"),
        ...names.map((name) => h("option", { value: name }, name)),
      ),
  };
}

function submitOnEnter(event: KeyboardEvent): void {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  (event.currentTarget as HTMLTextAreaElement).form?.requestSubmit();
}

export function listed(text: string): string[] {
  return text
    .split(",")
    .map((one) => one.trim())
    .filter(Boolean);
}

function optionFields(controls: Record<string, HTMLElement>): HTMLElement {
  const fields = Object.entries(controls).map(([name, control]) =>
    h("label", { class: "field" }, h("span", {}, name), control),
  );
  const options = h(
    "details",
    { class: "options" },
    h("summary", {}, "Options"),
    h("div", { class: "option-grid" }, ...fields),
  );
  // The browser shows the message of an invalid field only where the field is visible.
  for (const control of Object.values(controls)) control.addEventListener("invalid", () => (options.open = true));
  return options;
}
