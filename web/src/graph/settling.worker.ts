// Lays out each disc by its own links (ForceAtlas2), outside the thread that draws.
import Graph from "graphology";
import forceAtlas2 from "graphology-layout-forceatlas2";
import type { Edge } from "../shapes.ts";
import { places, type Disc, type Point } from "./layout.ts";

const LARGEST = 2500;
const ROUNDS = 120;

self.onmessage = (message: MessageEvent<{ discs: Disc[]; edges: Edge[] }>) => {
  const { discs, edges } = message.data;
  const inside = edgesInside(discs, edges);
  const settled = new Map<string, Point>();
  discs.forEach((disc, row) => {
    for (const [id, point] of settle(disc, inside[row] ?? [])) settled.set(id, point);
  });
  self.postMessage(settled);
};

function edgesInside(discs: readonly Disc[], edges: readonly Edge[]): Edge[][] {
  const home = new Map<string, number>();
  discs.forEach((disc, row) => disc.members.forEach((id) => home.set(id, row)));
  const inside: Edge[][] = discs.map(() => []);
  for (const edge of edges) {
    const row = home.get(edge.source);
    if (row !== undefined && row === home.get(edge.target)) inside[row]?.push(edge);
  }
  return inside;
}

function settle(disc: Disc, edges: readonly Edge[]): Map<string, Point> {
  const begun = places([disc]);
  if (disc.members.length < 4 || disc.members.length > LARGEST) return begun;
  const graph = new Graph({ multi: false, type: "undirected" });
  for (const [id, point] of begun) graph.addNode(id, { x: point.x - disc.x, y: point.y - disc.y });
  for (const edge of edges) graph.mergeEdge(edge.source, edge.target);
  const settings = { ...forceAtlas2.inferSettings(graph), gravity: 1.5, slowDown: 4 };
  return within(disc, forceAtlas2(graph, { iterations: ROUNDS, settings }));
}

/** Scale positions so that most facts of a disc are within its radius, and move them to the disc. */
function within(disc: Disc, settled: Record<string, Point>): Map<string, Point> {
  const points = Object.values(settled);
  const middle = { x: mean(points.map((one) => one.x)), y: mean(points.map((one) => one.y)) };
  const away = points.map((one) => Math.hypot(one.x - middle.x, one.y - middle.y)).sort((a, b) => a - b);
  const scale = disc.radius / (away[Math.floor(away.length * 0.92)] || 1);
  return new Map(
    Object.entries(settled).map(([id, one]) => [
      id,
      bounded(disc, (one.x - middle.x) * scale, (one.y - middle.y) * scale),
    ]),
  );
}

function bounded(disc: Disc, x: number, y: number): Point {
  const away = Math.hypot(x, y);
  const shrink = Math.min(1, (disc.radius * 1.12) / (away || 1));
  return { x: disc.x + x * shrink, y: disc.y + y * shrink };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / (values.length || 1);
}
