// Paints a moment of a replay over the graph: pulses along links, active facts, and the paths to the hits.
import { faded, mixed, type Colours } from "../colours.ts";
import type { Hop } from "../shapes.ts";
import { drawLabels, type Label } from "../graph/labels.ts";
import type { Point } from "../graph/layout.ts";
import type { Glow, Moment, Stroke } from "./moments.ts";

export interface Scene {
  moment: Moment;
  won: readonly Hop[];
  chosen: readonly Hop[];
  chosenId: string | null;
  textOf: (id: string) => string | undefined;
}

export type Project = (id: string) => Point | null;

const LABELS = 9;

export function paint(context: CanvasRenderingContext2D, scene: Scene, project: Project, colours: Colours): void {
  const { moment } = scene;
  context.lineCap = "round";
  for (const stroke of moment.strokes) paintStroke(context, stroke, project, colours, 1 - 0.75 * moment.ending);
  paintPaths(context, scene, project, colours);
  const glows = [...moment.glows].sort((one, other) => one.level - other.level);
  for (const glow of glows) paintGlow(context, glow, project(glow.id), colours);
  paintLabels(context, scene, project, colours);
}

function paintStroke(
  context: CanvasRenderingContext2D,
  stroke: Stroke,
  project: Project,
  colours: Colours,
  strength: number,
): void {
  const curve = curveOf(stroke.hop, project);
  if (!curve) return;
  context.strokeStyle = faded(colours.accent, stroke.strength * strength * 0.75);
  context.lineWidth = 1.2 + 1.4 * Math.sqrt(stroke.hop.energy);
  trace(context, curve, stroke.drawn);
  if (stroke.moving) spark(context, along(curve, stroke.drawn), colours, 9);
}

/** The paths to the hits at the end, the chosen one in the strongest colour. */
function paintPaths(context: CanvasRenderingContext2D, scene: Scene, project: Project, colours: Colours): void {
  const share = scene.moment.ending;
  if (share <= 0) return;
  const chosen = new Set(scene.chosen.map(nameOf));
  for (const hop of [...scene.won, ...scene.chosen]) {
    const curve = curveOf(hop, project);
    if (!curve) continue;
    const strong = chosen.size === 0 || chosen.has(nameOf(hop));
    context.strokeStyle = faded(strong ? colours.accent : colours.muted, share * (strong ? 0.95 : 0.35));
    context.lineWidth = strong ? 2.6 : 1.4;
    trace(context, curve, share);
  }
}

const nameOf = (hop: Hop): string => `${hop.source} ${hop.target}`;

function paintGlow(context: CanvasRenderingContext2D, glow: Glow, at: Point | null, colours: Colours): void {
  if (!at) return;
  if (glow.mood === "inhibited" || glow.mood === "gated") return paintHollow(context, glow, at, colours);
  halo(context, at, 10 + 26 * glow.level, colours, 0.16 + 0.34 * glow.level);
  const radius = glow.mood === "won" ? 8 + 3 * glow.level : 3 + 5 * glow.level;
  disc(context, at, radius, mixed(colours.accent, colours.ember, glow.mood === "won" ? 0 : glow.level * 0.6));
  if (glow.mood === "seed") ring(context, at, radius + 4, faded(colours.accent, 0.85), 1.5, []);
  if (glow.place !== undefined) numeral(context, at, glow.place, colours);
}

/** Inhibited facts are a blue ring with a bar, facts below the threshold a dashed ring. */
function paintHollow(context: CanvasRenderingContext2D, glow: Glow, at: Point, colours: Colours): void {
  const strength = Math.min(1, glow.level * 5);
  disc(context, at, 6, colours.ground);
  if (glow.mood === "gated") return ring(context, at, 6, faded(colours.accent, 0.8 * strength), 1.5, [2.5, 2.5]);
  ring(context, at, 6, faded(colours.cool, 0.9 * strength), 1.5, []);
  context.beginPath();
  context.moveTo(at.x - 3, at.y);
  context.lineTo(at.x + 3, at.y);
  context.stroke();
}

function paintLabels(context: CanvasRenderingContext2D, scene: Scene, project: Project, colours: Colours): void {
  const telling = scene.moment.glows.filter((glow) => glow.mood === "seed" || glow.mood === "won" || glow.level > 0.4);
  const order = (glow: Glow) =>
    glow.id === scene.chosenId ? 9 : glow.mood === "won" ? 2 - (glow.place ?? 0) / 100 : glow.level;
  const labels = telling
    .sort((one, other) => order(other) - order(one))
    .slice(0, LABELS)
    .map((glow): Label | null => {
      const [at, text] = [project(glow.id), scene.textOf(glow.id)];
      return at && text ? { at, text, offset: 14, strength: Math.min(1, glow.level * 2) } : null;
    });
  const points = telling.map((glow) => project(glow.id)).filter((at) => at !== null);
  drawLabels(
    context,
    labels.filter((label) => label !== null),
    points,
    colours,
  );
}

interface Curve {
  from: Point;
  bend: Point;
  to: Point;
}

function curveOf(hop: Hop, project: Project): Curve | null {
  const [from, to] = [project(hop.source), project(hop.target)];
  if (!from || !to) return null;
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  return { from, to, bend: { x: (from.x + to.x) / 2 - dy * 0.12, y: (from.y + to.y) / 2 + dx * 0.12 } };
}

/** The first part of a curve (de Casteljau). */
function trace(context: CanvasRenderingContext2D, curve: Curve, share: number): void {
  const bend = between(curve.from, curve.bend, share);
  const end = along(curve, share);
  context.setLineDash([]);
  context.beginPath();
  context.moveTo(curve.from.x, curve.from.y);
  context.quadraticCurveTo(bend.x, bend.y, end.x, end.y);
  context.stroke();
}

function along(curve: Curve, share: number): Point {
  return between(between(curve.from, curve.bend, share), between(curve.bend, curve.to, share), share);
}

function between(from: Point, to: Point, share: number): Point {
  return { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share };
}

function spark(context: CanvasRenderingContext2D, at: Point, colours: Colours, radius: number): void {
  halo(context, at, radius * 1.6, colours, 0.7);
  disc(context, at, 2.4, colours.ember);
}

function halo(context: CanvasRenderingContext2D, at: Point, radius: number, colours: Colours, strength: number): void {
  const light = context.createRadialGradient(at.x, at.y, 0, at.x, at.y, radius);
  light.addColorStop(0, faded(colours.accent, strength));
  light.addColorStop(1, faded(colours.accent, 0));
  disc(context, at, radius, light);
}

function disc(context: CanvasRenderingContext2D, at: Point, radius: number, fill: string | CanvasGradient): void {
  context.fillStyle = fill;
  context.beginPath();
  context.arc(at.x, at.y, radius, 0, 2 * Math.PI);
  context.fill();
}

function ring(
  context: CanvasRenderingContext2D,
  at: Point,
  radius: number,
  colour: string,
  width: number,
  dash: number[],
): void {
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.setLineDash(dash);
  context.beginPath();
  context.arc(at.x, at.y, radius, 0, 2 * Math.PI);
  context.stroke();
  context.setLineDash([]);
}

function numeral(context: CanvasRenderingContext2D, at: Point, place: number, colours: Colours): void {
  context.fillStyle = colours.ground;
  context.font = "600 10.5px system-ui, sans-serif";
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(String(place), at.x, at.y + 0.5);
}
