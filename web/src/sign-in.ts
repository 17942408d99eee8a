// The form for the token, if the address has none.
import { keepToken } from "./calls.ts";
import { h } from "./elements.ts";

export function signIn(again: () => void, refused: boolean): HTMLElement {
  const token = h("input", {
    type: "password",
    required: true,
    autocomplete: "off",
    "aria-label": "Token",
    placeholder: "Token",
  });
  const enter = (event: SubmitEvent) => {
    event.preventDefault();
    keepToken(token.value.trim());
    again();
  };
  return h(
    "main",
    { class: "sign-in" },
    h(
      "form",
      { class: "card", onsubmit: enter },
      h("h1", {}, "Sign in"),
      h("p", {}, "Open the address that cofire serve printed, or enter the token at its end."),
      refused && h("p", { class: "failure", role: "alert" }, "The token is wrong."),
      token,
      h("button", { type: "submit", class: "primary" }, "Open"),
    ),
  );
}
