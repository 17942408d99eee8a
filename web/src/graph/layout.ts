// Positions of facts: each community is a disc with its most important fact in the middle; linked discs are near each other.
// Pure functions, fast enough for the first frame; `settling.worker.ts` refines each disc later.
import type { Edge, Node } from "../shapes.ts";

export interface Point {
  x: number;
  y: number;
}

export interface Disc extends Point {
  scope: string;
  community: number | null;
  members: string[];
  radius: number;
}

const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));
const SPACING = 1;
const GAP = 2.2;
// With more discs than this, single facts are placed around the others without a computation.
const CROWD = 1500;
// Cells are numbered column by column.
const COLUMN = 1 << 16;
const AROUND = [-1, 0, 1].flatMap((dx) => [-1, 0, 1].map((dy) => dx * COLUMN + dy));

/** The key of a community: each scope numbers its own. Facts in no community are grouped by scope. */
export function communityId(scope: string, number: number | null): string {
  return `${scope}/${number ?? ""}`;
}

/** Discs with their positions, largest first. */
export function discsOf(nodes: readonly Node[], edges: readonly Edge[]): Disc[] {
  const all = [...grouped(nodes).values()].map(disc);
  all.sort((one, other) => other.members.length - one.members.length);
  const discs = all.length > CROWD ? all.filter((one) => one.members.length > 1) : all;
  spiral(discs);
  relax(discs, ties(discs, edges));
  return discs === all ? discs : [...discs, ...dust(all.slice(discs.length), reach(discs))];
}

/** Every fact on its disc, from the middle outward in a sunflower pattern. */
export function places(discs: readonly Disc[]): Map<string, Point> {
  const placed = new Map<string, Point>();
  for (const one of discs) {
    one.members.forEach((id, row) => placed.set(id, seedOf(one, row)));
  }
  return placed;
}

function grouped(nodes: readonly Node[]): Map<string, [Node, ...Node[]]> {
  const important = [...nodes].sort(
    (one, other) => (other.pagerank ?? 0) - (one.pagerank ?? 0) || (one.id < other.id ? -1 : 1),
  );
  const groups = new Map<string, [Node, ...Node[]]>();
  for (const node of important) {
    const id = communityId(node.scope, node.community);
    const group = groups.get(id);
    if (group) group.push(node);
    else groups.set(id, [node]);
  }
  return groups;
}

function disc(nodes: readonly [Node, ...Node[]]): Disc {
  const [{ scope, community }] = nodes;
  const members = nodes.map((node) => node.id);
  return { scope, community, members, radius: SPACING * Math.sqrt(members.length), x: 0, y: 0 };
}

function seedOf(one: Disc, row: number): Point {
  if (one.members.length === 1) return { x: one.x, y: one.y };
  const away = SPACING * Math.sqrt(row + 0.4);
  return { x: one.x + away * Math.cos(row * GOLDEN_ANGLE), y: one.y + away * Math.sin(row * GOLDEN_ANGLE) };
}

/** The largest disc in the middle, the others around it without overlap. */
function spiral(discs: Disc[]): void {
  let filled = 0;
  discs.forEach((one, row) => {
    const away = Math.sqrt(filled) * 1.1;
    one.x = away * Math.cos(row * GOLDEN_ANGLE);
    one.y = away * Math.sin(row * GOLDEN_ANGLE);
    filled += (one.radius + GAP) ** 2;
  });
}

/** The attraction of two discs: the links between them, divided by the size of the smaller. */
function ties(discs: readonly Disc[], edges: readonly Edge[]): [number, number, number][] {
  const home = new Map<string, number>();
  discs.forEach((one, row) => one.members.forEach((id) => home.set(id, row)));
  const counts = new Map<number, number>();
  for (const edge of edges) {
    const [a, b] = [home.get(edge.source), home.get(edge.target)];
    if (a === undefined || b === undefined || a === b) continue;
    const pair = Math.min(a, b) * discs.length + Math.max(a, b);
    counts.set(pair, (counts.get(pair) ?? 0) + 1);
  }
  return [...counts].map(([pair, count]) => tie(discs, Math.floor(pair / discs.length), pair % discs.length, count));
}

function tie(discs: readonly Disc[], a: number, b: number, count: number): [number, number, number] {
  const smaller = Math.min(discs[a]?.members.length ?? 1, discs[b]?.members.length ?? 1);
  return [a, b, Math.min(1, count / smaller)];
}

/** Linked discs attract each other, all are drawn to the middle, and none overlap. */
function relax(discs: Disc[], tied: readonly [number, number, number][]): void {
  const rounds = Math.min(160, Math.max(16, Math.floor(2.4e4 / (discs.length + 1))));
  for (let round = 0; round < rounds; round++) {
    const heat = 1 - round / rounds;
    for (const [a, b, strength] of tied) draw(discs[a], discs[b], 0.06 * strength * heat);
    for (const one of discs) {
      one.x *= 1 - 0.012 * heat;
      one.y *= 1 - 0.012 * heat;
    }
    part(discs);
  }
}

function draw(one: Disc | undefined, other: Disc | undefined, pull: number): void {
  if (!one || !other) return;
  const [dx, dy] = [other.x - one.x, other.y - one.y];
  const share = one.radius ** 2 / (one.radius ** 2 + other.radius ** 2);
  one.x += dx * pull * (1 - share);
  one.y += dy * pull * (1 - share);
  other.x -= dx * pull * share;
  other.y -= dy * pull * share;
}

/** Only discs in the same or adjacent cells can touch: a cell is as wide as the two largest discs. */
function part(discs: readonly Disc[]): void {
  const width = 2 * (discs[0]?.radius ?? 1) + GAP;
  const cells = new Map<number, Disc[]>();
  for (const one of discs) {
    const home = Math.floor(one.x / width) * COLUMN + Math.floor(one.y / width);
    for (const step of AROUND) for (const other of cells.get(home + step) ?? []) pushApart(one, other);
    const cell = cells.get(home);
    if (cell) cell.push(one);
    else cells.set(home, [one]);
  }
}

function pushApart(one: Disc, other: Disc): void {
  const room = one.radius + other.radius + GAP;
  const [dx, dy] = [other.x - one.x, other.y - one.y];
  if (Math.abs(dx) >= room || Math.abs(dy) >= room) return;
  const apart = Math.hypot(dx, dy) || 0.01;
  if (apart >= room) return;
  const push = (room - apart) / apart / 2;
  one.x -= dx * push;
  one.y -= dy * push;
  other.x += dx * push;
  other.y += dy * push;
}

function reach(discs: readonly Disc[]): number {
  return Math.max(0, ...discs.map((one) => Math.hypot(one.x, one.y) + one.radius));
}

/** Single facts, around all discs. */
function dust(alone: readonly Disc[], from: number): Disc[] {
  return alone.map((one, row) => {
    const away = Math.sqrt((from + GAP) ** 2 + row * 2 * SPACING);
    return { ...one, x: away * Math.cos(row * GOLDEN_ANGLE), y: away * Math.sin(row * GOLDEN_ANGLE) };
  });
}
