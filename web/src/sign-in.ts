// The box that asks for the token, where the address did not bring it.
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
      h("h1", {}, "This memory is private"),
      h("p", {}, "Open the address that cofire serve printed, or paste the token from the end of it."),
      refused && h("p", { class: "failure", role: "alert" }, "That token does not open it."),
      token,
      h("button", { type: "submit", class: "primary" }, "Open"),
    ),
  );
}
