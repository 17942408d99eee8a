// The stage: sigma draws the atlas. A canvas above it is for painters (the replay, the names of communities).
import Sigma from "sigma";
import { EdgeLineProgram, EdgeRectangleProgram } from "sigma/rendering";
import type { Settings } from "sigma/settings";
import type { NodeDisplayData } from "sigma/types";
import { animateNodes } from "sigma/utils";
import { communityColour, mixed } from "../colours.ts";
import { h, prefersStillness } from "../elements.ts";
import { colours, onTheme } from "../theme.ts";
import type { Atlas } from "./atlas.ts";
import { drawBeside } from "./labels.ts";
import type { Point } from "./layout.ts";
import { settled } from "./settling.ts";

export interface View {
  shows: (id: string) => boolean;
  follows: (kind: string) => boolean;
  stands: (id: string) => boolean;
  dimmed: number;
  labels: boolean;
}

export type Painter = (context: CanvasRenderingContext2D, project: (id: string) => Point | null) => void;

export const WHOLE: View = { shows: () => true, follows: () => true, stands: () => false, dimmed: 0, labels: true };

// Above this number, edges are thin lines and hidden while the camera moves, and positions are not animated.
const MANY = 3000;
const FEW = 40;

export class Stage {
  readonly element = h("div", { class: "stage-canvas", role: "img", "aria-label": "Graph of memory" });
  atlas: Atlas | null = null;
  onPick: (id: string | null) => void = () => {};
  onHover: (id: string | null, at: Point) => void = () => {};
  private readonly above = h("canvas", { class: "overlay", "aria-hidden": "true" });
  private sigma: Sigma | null = null;
  private view: View = WHOLE;
  private painter: Painter | null = null;
  private chosen: string | null = null;
  // Points are smaller on a small stage.
  private scale = 1;
  private flights = 0;
  private readonly shades = new Map<string, string>();

  constructor() {
    onTheme(() => this.sigma?.refresh({ skipIndexation: true }));
    new ResizeObserver(() => this.fit()).observe(this.element);
  }

  show(atlas: Atlas): void {
    const before = this.atlas;
    this.atlas = atlas;
    this.element.setAttribute("aria-label", `Graph of memory: ${atlas.nodes.size} nodes, ${atlas.edges.length} links`);
    if (this.sigma && !this.element.isConnected) return;
    this.sigma?.kill();
    this.sigma = this.raised(atlas);
    this.element.append(this.above);
    this.fit();
    if (!before) this.element.dataset["drawn"] = String(Math.round(performance.now()));
    void this.settle(atlas);
  }

  look(view: View): void {
    this.view = view;
    this.sigma?.setSettings({ renderLabels: view.labels });
    this.sigma?.refresh({ skipIndexation: true });
  }

  choose(id: string | null): void {
    this.chosen = id;
    this.sigma?.refresh({ skipIndexation: true });
  }

  paintWith(painter: Painter | null): void {
    this.painter = painter;
    this.repaint();
  }

  repaint(): void {
    const context = this.above.getContext("2d");
    if (!context) return;
    const scale = devicePixelRatio;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, this.above.width, this.above.height);
    this.painter?.(context, (id) => this.project(id));
  }

  project(id: string): Point | null {
    if (!this.sigma || !this.atlas?.graph.hasNode(id)) return null;
    const { x, y } = this.atlas.graph.getNodeAttributes(id) as Point;
    return this.sigma.graphToViewport({ x, y });
  }

  ratio(): number {
    return this.sigma?.getCamera().ratio ?? 1;
  }

  zoom(by: number): void {
    const camera = this.sigma?.getCamera();
    void camera?.animate({ ratio: camera.ratio / by }, { duration: this.pace(200) });
  }

  /** Move the camera to these facts, or to all. `foot` is the share of the height that is covered at the bottom. */
  fly(ids: readonly string[] = [], foot = 0): void {
    const points = ids.map((id) => this.sigma?.getNodeDisplayData(id)).filter((one) => one !== undefined);
    const nearest = Math.min(0.45, 8 / Math.sqrt(this.atlas?.nodes.size ?? 1));
    const target = points.length ? around(points, foot, nearest) : { x: 0.5, y: 0.5, ratio: 1.05 };
    if (prefersStillness()) return void this.sigma?.getCamera().setState(target);
    const flight = ++this.flights;
    this.element.dataset["flying"] = "yes";
    this.sigma?.getCamera().animate(target, { duration: 700, easing: "cubicInOut" }, () => {
      // An interrupted animation ends too. The camera is at rest when the last one has ended.
      if (flight === this.flights) delete this.element.dataset["flying"];
    });
  }

  private pace(milliseconds: number): number {
    return prefersStillness() ? 1 : milliseconds;
  }

  private raised(atlas: Atlas): Sigma {
    const sigma = new Sigma(atlas.graph, this.element, this.settingsFor(atlas));
    sigma.on("afterRender", () => this.repaint());
    sigma.on("clickNode", ({ node }) => this.onPick(node));
    sigma.on("clickStage", () => this.onPick(null));
    sigma.on("enterNode", ({ node, event }) => this.onHover(node, event));
    sigma.on("leaveNode", ({ event }) => this.onHover(null, event));
    return sigma;
  }

  private settingsFor(atlas: Atlas): Partial<Settings> {
    const many = atlas.edges.length > MANY;
    return {
      allowInvalidContainer: true,
      defaultEdgeType: "line",
      edgeProgramClasses: { line: many ? EdgeLineProgram : EdgeRectangleProgram },
      hideEdgesOnMove: many,
      labelDensity: 0.6,
      labelGridCellSize: 180,
      // Names of communities are always shown, texts of facts only when near.
      labelRenderedSizeThreshold: atlas.clusters.length || isSmallPart(atlas) ? 0 : many ? 9 : 11,
      stagePadding: Math.min(48, this.element.clientWidth / 16),
      minCameraRatio: 0.02,
      maxCameraRatio: 2.5,
      zIndex: true,
      renderLabels: this.view.labels,
      nodeReducer: (id, attributes) => this.nodeLook(id, attributes as { size: number }),
      edgeReducer: (_, attributes) => this.edgeLook(attributes as { kind: string }),
      defaultDrawNodeLabel: (context, node) => drawBeside(context, node, colours()),
      defaultDrawNodeHover: (context, node) => this.hoverRing(context, node),
    };
  }

  private nodeLook(id: string, attributes: { size: number }): Partial<NodeDisplayData> {
    const node = this.atlas?.nodes.get(id);
    const palette = colours();
    const plain = communityColour(palette, node?.community ?? null);
    const stands = this.view.stands(id) || id === this.chosen;
    const quiet = node?.archived ? Math.max(0.6, this.view.dimmed) : this.view.dimmed;
    return {
      ...attributes,
      size: attributes.size * this.scale,
      hidden: !this.view.shows(id),
      color: id === this.chosen ? palette.accent : stands ? plain : this.shade(plain, quiet),
      highlighted: id === this.chosen,
      // Dimmed nodes have no label.
      ...(this.view.dimmed && !stands ? { label: "" } : {}),
      zIndex: stands ? 1 : 0,
      forceLabel: stands,
    };
  }

  private edgeLook(attributes: { kind: string }): object {
    const palette = colours();
    const many = (this.atlas?.edges.length ?? 0) > MANY;
    return {
      hidden: !this.view.follows(attributes.kind),
      size: 0.7,
      color: this.shade(palette.edge, Math.max(many ? 0.55 : 0.25, this.view.dimmed)),
    };
  }

  /** A colour mixed with the background. Cached: there are few colours and many nodes. */
  private shade(colour: string, quiet: number): string {
    const ground = colours().ground;
    const name = `${colour} ${ground} ${quiet}`;
    const known = this.shades.get(name) ?? mixed(colour, ground, quiet);
    this.shades.set(name, known);
    return known;
  }

  private hoverRing(context: CanvasRenderingContext2D, node: { x: number; y: number; size: number }): void {
    context.strokeStyle = colours().accent;
    context.lineWidth = 2;
    context.beginPath();
    context.arc(node.x, node.y, node.size + 4, 0, 2 * Math.PI);
    context.stroke();
  }

  private async settle(atlas: Atlas): Promise<void> {
    const places = await settled(atlas);
    if (this.atlas !== atlas) return;
    const still = prefersStillness() || atlas.nodes.size > MANY;
    if (!still)
      return void animateNodes(
        atlas.graph,
        places as Record<string, { x: number; y: number; [other: string]: number }>,
        { duration: 900, easing: "cubicInOut" },
        () => this.mark(),
      );
    atlas.graph.updateEachNodeAttributes((id, attributes) => ({ ...attributes, ...places[id] }), {
      attributes: ["x", "y"],
    });
    this.mark();
  }

  private mark(): void {
    this.element.dataset["settled"] = "yes";
  }

  private fit(): void {
    const { clientWidth, clientHeight } = this.element;
    if (!clientWidth || !clientHeight) return;
    this.above.width = clientWidth * devicePixelRatio;
    this.above.height = clientHeight * devicePixelRatio;
    this.scale = Math.min(1, Math.max(0.5, Math.min(clientWidth, clientHeight) / 640));
    this.sigma?.resize();
    this.sigma?.refresh({ skipIndexation: true });
  }
}

/** Few facts of one cluster: there is room for their texts. */
function isSmallPart(atlas: Atlas): boolean {
  return atlas.within !== null && atlas.nodes.size <= FEW;
}

/** A camera that shows all of these with a margin, and is never too near. */
function around(points: readonly Point[], foot: number, nearest: number): { x: number; y: number; ratio: number } {
  const [xs, ys] = [points.map((one) => one.x), points.map((one) => one.y)];
  const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const ratio = Math.min(1.3, Math.max(nearest, 1.35 * Math.max(right - left, (high - low) / (1 - foot))));
  return { x: (left + right) / 2, y: (low + high) / 2 - (foot / 2) * ratio, ratio };
}
