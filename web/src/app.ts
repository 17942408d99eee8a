// What the screens share: the stage, the fact panel and the navigation.
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
  /** Show all clusters again. */
  closeCluster: () => void;
  go: (screen: ScreenName) => void;
  /** Reload the graph after a change. */
  changed: () => Promise<void>;
}

export interface Screen {
  element: HTMLElement;
  enter: () => void;
  leave: () => void;
  /** The atlas was loaded. */
  charted?: () => void;
  /** The names of its communities were loaded. */
  named?: () => void;
}
