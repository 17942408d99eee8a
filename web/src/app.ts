// What the screens share: the stage, the fact panel, and the ways between them.
import type { Stage } from "./graph/stage.ts";

export type ScreenName = "ask" | "graph" | "health";

export interface App {
  stage: Stage;
  /** Show a fact in the panel. */
  open: (id: string) => void;
  close: () => void;
  go: (screen: ScreenName) => void;
  /** Something in memory has changed: load the graph anew. */
  changed: () => Promise<void>;
}

export interface Screen {
  element: HTMLElement;
  enter: () => void;
  leave: () => void;
  /** The atlas is there, or is a new one. */
  charted?: () => void;
}
