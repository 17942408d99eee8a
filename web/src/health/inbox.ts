// The inbox: contradictions that wait for a decision.
import type { App } from "../app.ts";
import { post } from "../calls.ts";
import { h } from "../elements.ts";
import { failureNotice, notice } from "../notices.ts";
import type { Review } from "../shapes.ts";
import { day } from "../wording.ts";

export function inbox(reviews: readonly Review[], app: App, changed: () => void): HTMLElement {
  const rows = reviews.map((review) => pair(review, app, changed));
  return h(
    "section",
    { class: "card" },
    h("h2", {}, "Inbox"),
    rows.length
      ? h("ul", { class: "reviews" }, ...rows)
      : h("p", { class: "meta" }, "No contradictions to review. Curate finds them."),
  );
}

function pair(review: Review, app: App, changed: () => void): HTMLElement {
  const decide = async (verdict: "accept" | "dismiss") => {
    try {
      await post(`/review/${verdict}`, { old: review.old.id, new: review.new.id });
      notice(verdict === "accept" ? "The newer fact supersedes the older one." : "Both facts stay valid.");
      changed();
    } catch (error) {
      failureNotice(error);
    }
  };
  const side = (name: string, fact: Review["old"]) =>
    h(
      "button",
      { type: "button", class: "side", onclick: () => app.open(fact.id) },
      h("small", {}, `${name}${fact.at ? ` · ${day(fact.at)}` : ""}`),
      h("span", {}, fact.text),
    );
  return h(
    "li",
    {},
    h("p", { class: "label" }, review.why),
    side("older", review.old),
    side("newer", review.new),
    h(
      "div",
      { class: "row" },
      h("button", { type: "button", class: "quiet", onclick: () => void decide("accept") }, "Accept the newer"),
      h("button", { type: "button", class: "quiet", onclick: () => void decide("dismiss") }, "Keep both"),
    ),
  );
}
