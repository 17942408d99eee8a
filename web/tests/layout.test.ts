// Where facts lie, how they are spread in time, and what labels may cover.
import assert from "node:assert/strict";
import { test } from "node:test";
import { overlap } from "../src/graph/labels.ts";
import { discsOf, places } from "../src/graph/layout.ts";
import { histogram, momentIn, spanOf } from "../src/graph/time.ts";
import type { Node } from "../src/shapes.ts";

const nodes = Array.from(
  { length: 400 },
  (_, row) => ({ id: `f${row}`, scope: "default", community: row % 20, pagerank: 1 / (row + 1) }) as Node,
);

test("every fact has a place of its own", () => {
  const placed = [...places(discsOf(nodes, [])).values()].map(({ x, y }) => `${x.toFixed(6)} ${y.toFixed(6)}`);
  assert.equal(new Set(placed).size, 400);
});

test("no disc lies upon another", () => {
  const discs = discsOf(nodes, []);
  for (const one of discs) {
    for (const other of discs) {
      if (one !== other) assert.ok(Math.hypot(one.x - other.x, one.y - other.y) > (one.radius + other.radius) * 0.95);
    }
  }
});

test("the most important fact of a community is its middle", () => {
  const disc = discsOf(nodes, []).find((one) => one.community === 3);
  assert.equal(disc?.members[0], "f3");
});

test("communities of two scopes lie apart, though their numbers are one", () => {
  const others = nodes.map((node) => ({ ...node, id: `other-${node.id}`, scope: "other" }));
  const discs = discsOf([...nodes, ...others], []);
  assert.equal(discs.length, 40);
  for (const disc of discs) assert.equal(new Set(disc.members.map((id) => id.startsWith("other-"))).size, 1);
});

test("the same graph lies the same way, in whatever order it comes", () => {
  const turned = places(discsOf([...nodes].reverse(), []));
  for (const [id, point] of places(discsOf(nodes, []))) assert.deepEqual(turned.get(id), point);
});

test("a histogram counts every moment once, the last one too", () => {
  assert.deepEqual(histogram([0, 1, 5, 10], { from: 0, to: 10 }, 2), [2, 2]);
});

test("a slider's share is a moment of the span", () => {
  assert.equal(momentIn({ from: 100, to: 200 }, 0.25), 125);
  assert.equal(spanOf([]), null);
});

test("boxes that share a corner only do not overlap", () => {
  const box = { left: 0, top: 0, right: 10, bottom: 10 };
  assert.equal(overlap(box, { left: 10, top: 10, right: 20, bottom: 20 }), false);
  assert.equal(overlap(box, { left: 9, top: 9, right: 20, bottom: 20 }), true);
});
