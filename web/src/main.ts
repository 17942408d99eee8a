// Entry point: token and theme, then the page or the form for the token.
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/shell.css";
import "./styles/ask.css";
import "./styles/why.css";
import "./styles/replay.css";
import "./styles/graph.css";
import "./styles/fact.css";
import "./styles/health.css";
import "./styles/narrow.css";
import { get, Refusal, takeToken } from "./calls.ts";
import { fill, h } from "./elements.ts";
import { failureCard } from "./notices.ts";
import { Page } from "./page.ts";
import { signIn } from "./sign-in.ts";
import { apply } from "./theme.ts";

const root = document.getElementById("app") as HTMLElement;

async function begin(tried = false): Promise<void> {
  try {
    const { scopes } = await get<{ scopes: Record<string, number> }>("/scopes");
    await new Page(Object.keys(scopes)).openIn(root);
  } catch (error) {
    const barred = error instanceof Refusal && error.status === 401;
    fill(
      root,
      barred
        ? signIn(() => void begin(true), tried)
        : h(
            "main",
            { class: "sign-in" },
            failureCard(error, () => void begin()),
          ),
    );
  }
}

apply();
takeToken();
void begin();
