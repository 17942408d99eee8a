// What the screens share: the stage, the fact panel, and the ways between them.
import type { Stage } from "./graph/stage.ts";
import type { Cluster } from "./shapes.ts";

export type ScreenName = "ask" | "graph" | "health";

export interface App {
  stage: Stage;
  /** Show a fact in the panel. */
  open: (id: string) => void;
  close: () => void;
  /** Show the facts of a cluster as a graph of their own. */
  openCluster: (cluster: Cluster) => void;
  /** The way back from it. */
  closeCluster: () => void;
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
  /** Its communities have their names. */
  named?: () => void;
}
