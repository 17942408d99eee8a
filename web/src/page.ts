// The page: the stage, three screens, the fact panel, and the navigation between them.
import type { App, Screen, ScreenName } from "./app.ts";
import { AskScreen } from "./ask/screen.ts";
import { fill, h } from "./elements.ts";
import { factPanel } from "./fact/panel.ts";
import { clusterOf, loadAtlas, loadNames, loadWithin, type Atlas } from "./graph/atlas.ts";
import { graphScreen } from "./graph/screen.ts";
import { Stage } from "./graph/stage.ts";
import { healthScreen } from "./health/screen.ts";
import { failureNotice, notice, noticeRegion } from "./notices.ts";
import { shell, stageFrame } from "./shell.ts";
import type { Cluster } from "./shapes.ts";
import { listen, sheet, type Shortcut } from "./shortcuts.ts";
import { turnTheme } from "./theme.ts";

export class Page implements App {
  readonly stage = new Stage();
  private readonly ask = new AskScreen(this);
  private readonly graph = graphScreen(this);
  private readonly screens: Record<ScreenName, Screen> = {
    ask: this.ask,
    graph: this.graph,
    health: healthScreen(this),
  };
  private readonly panel = factPanel(this);
  private readonly keys = sheet(this.shortcuts());
  private readonly frame = shell(() => this.keys.showModal());
  private readonly place = h("div", { class: "panel-place" });
  private readonly main = h(
    "main",
    { class: "screen" },
    this.place,
    stageFrame(this.stage, this.ask.replay),
    this.panel.element,
  );
  private current: ScreenName | null = null;
  private returnTo: HTMLElement | null = null;

  constructor(scopes: readonly string[]) {
    this.ask.setScopes(scopes);
    this.stage.onPick = (id) => this.pick(id);
  }

  async openIn(root: HTMLElement): Promise<void> {
    fill(root, this.frame.header, this.main, noticeRegion(), this.keys);
    listen(this.shortcuts());
    addEventListener("hashchange", () => this.follow());
    this.follow();
    await this.changed();
  }

  open(id: string): void {
    if (this.panel.element.hidden) this.returnTo = document.activeElement as HTMLElement | null;
    this.stage.choose(id);
    void this.panel.open(id);
  }

  close(): void {
    if (this.panel.element.hidden) return;
    this.panel.close();
    this.stage.choose(null);
    this.returnTo?.focus();
  }

  openCluster(cluster: Cluster): void {
    if (cluster.community === null)
      return notice("These facts belong to no large community and are too many to draw. Use search or ask.");
    this.go("graph");
    const whole = this.stage.atlas;
    if (whole) void this.reach(async () => this.graph.open(await loadWithin(cluster, whole)));
  }

  closeCluster(): void {
    this.close();
    this.graph.back();
  }

  /** Handle a click on a fact or a cluster. */
  private pick(node: string | null): void {
    if (!node || !this.stage.atlas) return this.close();
    const cluster = clusterOf(this.stage.atlas, node);
    if (cluster) this.openCluster(cluster);
    else this.open(node);
  }

  /** Close the fact or, if none is open, the cluster. */
  private leave(): void {
    if (!this.panel.element.hidden) this.close();
    else this.graph.back();
  }

  go(screen: ScreenName): void {
    location.hash = `#/${screen}`;
    this.follow();
  }

  async changed(): Promise<void> {
    await this.reach(async () => this.chart(await loadAtlas()));
  }

  /** Draw the graph at once; add the names of its communities later. */
  private async chart(atlas: Atlas): Promise<void> {
    const inside = this.graph.opened();
    this.stage.show(atlas);
    this.frame.setCount(atlas.total);
    for (const screen of Object.values(this.screens)) screen.charted?.();
    if (!atlas.total) return;
    if (inside && atlas.clusters.length) this.openCluster(inside);
    await loadNames(atlas);
    for (const screen of Object.values(this.screens)) screen.named?.();
  }

  private async reach(run: () => Promise<void>): Promise<void> {
    try {
      await run();
    } catch (error) {
      failureNotice(error);
    }
  }

  /** Show the screen in the address. */
  private follow(): void {
    const named = location.hash.slice(2) as ScreenName;
    const next = Object.hasOwn(this.screens, named) ? named : "ask";
    if (next === this.current) return;
    if (this.current) this.screens[this.current].leave();
    this.current = next;
    this.main.dataset["screen"] = next;
    this.ask.replay.hidden = next !== "ask" || !this.ask.isAnswered;
    fill(this.place, this.screens[next].element);
    this.frame.mark(next);
    this.screens[next].enter();
  }

  private search(): void {
    if (this.current === "graph") return this.graph.focus();
    this.go("ask");
    this.ask.focus();
  }

  private replaying(run: () => void): () => void {
    return () => this.current === "ask" && this.ask.isAnswered && run();
  }

  private shortcuts(): Shortcut[] {
    const player = this.ask.player;
    return [
      { key: "/", shown: "/", does: "Focus the question or the graph search", run: () => this.search() },
      { key: "1", shown: "1", does: "Ask", run: () => this.go("ask") },
      { key: "2", shown: "2", does: "Graph", run: () => this.go("graph") },
      { key: "3", shown: "3", does: "Health", run: () => this.go("health") },
      { key: " ", shown: "Space", does: "Play or pause the replay", run: this.replaying(() => player.toggle()) },
      { key: "ArrowRight", shown: "→", does: "Step forward", run: this.replaying(() => player.step(1)) },
      { key: "ArrowLeft", shown: "←", does: "Step back", run: this.replaying(() => player.step(-1)) },
      { key: "t", shown: "t", does: "Light or dark theme", run: turnTheme },
      { key: "?", shown: "?", does: "Show these keys", run: () => this.keys.showModal() },
      { key: "Escape", shown: "Esc", does: "Close the fact, or the community", run: () => this.leave() },
    ];
  }
}
