// Labels over the graph: drawn in order, and none overlaps another label or a point.
import { faded, type Colours } from "../colours.ts";
import { clipped } from "../wording.ts";
import type { Point } from "./layout.ts";

export interface Label {
  at: Point;
  text: string;
  offset: number;
  strength: number;
}

export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

const FONT = "500 12px system-ui, sans-serif";
const WIDTH = 46;
const MARGIN = 8;
const REACH = 7;

export function drawLabels(
  context: CanvasRenderingContext2D,
  labels: readonly Label[],
  points: readonly Point[],
  colours: Colours,
): void {
  context.font = FONT;
  context.textAlign = "left";
  context.textBaseline = "middle";
  const taken: Box[] = points.map(({ x, y }) => ({
    left: x - REACH,
    right: x + REACH,
    top: y - REACH,
    bottom: y + REACH,
  }));
  for (const label of labels) {
    const text = fitting(label.text, context);
    const box = firstFree(sidesOf(label, context.measureText(text).width), taken, edgeOf(context));
    if (!box) continue;
    taken.push(box);
    outlined(context, text, { x: box.left + MARGIN, y: (box.top + box.bottom) / 2 + 0.5 }, colours, label.strength);
  }
}

/** The text of one node: at its right, or at its left where it would cross the edge. */
export function drawBeside(
  context: CanvasRenderingContext2D,
  node: Point & { size: number; label: string | null },
  colours: Colours,
): void {
  if (!node.label) return;
  context.font = FONT;
  context.textAlign = "left";
  context.textBaseline = "middle";
  const text = fitting(node.label, context);
  const [away, width] = [node.size + 5, context.measureText(text).width];
  const hasRoom = node.x + away + width <= edgeOf(context).right;
  outlined(context, text, { x: hasRoom ? node.x + away : node.x - away - width, y: node.y + 0.5 }, colours, 1);
}

/** The part of a text that fits on a narrow stage. */
function fitting(text: string, context: CanvasRenderingContext2D): string {
  return clipped(text, Math.min(WIDTH, Math.round(context.canvas.clientWidth / 14)));
}

/** Possible places of a label: right of its point, left, above, below, and diagonal. */
function sidesOf({ at, offset }: Label, textWidth: number): Box[] {
  const width = textWidth + 2 * MARGIN;
  const corners = [
    { left: at.x + offset, top: at.y - 11 },
    { left: at.x - offset - width, top: at.y - 11 },
    { left: at.x - width / 2, top: at.y - offset - 24 },
    { left: at.x - width / 2, top: at.y + offset + 2 },
    { left: at.x + offset - 4, top: at.y - offset - 16 },
    { left: at.x + offset - 4, top: at.y + offset - 6 },
  ];
  return corners.map(({ left, top }) => ({ left, top, right: left + width, bottom: top + 22 }));
}

function firstFree(sides: readonly Box[], taken: readonly Box[], edge: Box): Box | undefined {
  return sides.find((box) => inside(box, edge) && !taken.some((other) => overlap(box, other)));
}

export function overlap(one: Box, other: Box): boolean {
  return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
}

function inside(box: Box, edge: Box): boolean {
  return box.left >= edge.left && box.right <= edge.right && box.top >= edge.top && box.bottom <= edge.bottom;
}

function edgeOf(context: CanvasRenderingContext2D): Box {
  const { clientWidth, clientHeight } = context.canvas;
  return { left: 4, top: 4, right: clientWidth - 4, bottom: clientHeight - 4 };
}

/** Text with an outline in the colour of the background, so that it is legible over links. */
export function outlined(
  context: CanvasRenderingContext2D,
  text: string,
  at: Point,
  colours: Colours,
  strength: number,
): void {
  context.lineWidth = 4;
  context.lineJoin = "round";
  context.strokeStyle = faded(colours.ground, 0.85 * strength);
  context.strokeText(text, at.x, at.y);
  context.fillStyle = faded(colours.text, strength);
  context.fillText(text, at.x, at.y);
}
