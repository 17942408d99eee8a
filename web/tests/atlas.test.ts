// The graph as it is charted: facts one by one, or communities where there are too many.
import assert from "node:assert/strict";
import { test } from "node:test";
import { charted, clusterOf } from "../src/graph/atlas.ts";
import { giveUpWhatIsGone, isShown, matching, nothingChosen } from "../src/graph/filters.ts";
import type { Network, Node } from "../src/shapes.ts";

const node = (id: string, label: string, at: string | null = null, archived = false): Node => ({
  id,
  label,
  at,
  archived,
  community: 0,
  pagerank: 0.1,
  degree: 1,
  scope: "default",
  category: "knowledge",
  pinned: false,
});

const FACTS: Network = {
  nodes: [
    node("a", "Tea is at four.", "2026-01-01"),
    node("b", "Tea is green.", "2026-06-01"),
    node("c", "Old tea.", null, true),
  ],
  edges: [
    { source: "a", target: "b", kind: "similar", weight: 1 },
    { source: "a", target: "gone", kind: "similar", weight: 1 },
  ],
  clusters: [],
  total: 3,
};

test("a link to a fact that is not drawn is left out", () => {
  assert.equal(charted(FACTS, []).graph.size, 1);
});

test("of more facts than can be drawn, each community is a node that can be opened", () => {
  const clusters = [
    { id: "default/0", community: 0, name: "tea", size: 9000, scope: "default" },
    { id: "default/", community: null, name: "others", size: 2000, scope: "default" },
  ];
  const atlas = charted({ nodes: [], edges: [], clusters, total: 11_000 }, []);
  assert.deepEqual([...atlas.nodes.keys()], ["default/0", "default/"]);
  assert.equal(clusterOf(atlas, "default/0"), clusters[0]);
  assert.equal(clusterOf(charted(FACTS, []), "a"), null);
});

test("archived facts are seen only when asked for", () => {
  const atlas = charted(FACTS, []);
  assert.equal(isShown(atlas, nothingChosen(), "c"), false);
  assert.equal(isShown(atlas, { ...nothingChosen(), archived: true }, "c"), true);
});

test("a choice that nothing has any more is given up, another stays", () => {
  const chosen = { ...nothingChosen(), scope: "gone", category: "knowledge" };
  giveUpWhatIsGone(charted(FACTS, []), chosen);
  assert.deepEqual([chosen.scope, chosen.category], ["", "knowledge"]);
});

test("a search needs every word, and finds nothing that came later than the slider", () => {
  const atlas = charted(FACTS, []);
  assert.deepEqual([...(matching(atlas, { ...nothingChosen(), words: "TEA is" }, new Map()) ?? [])], ["a", "b"]);
  assert.deepEqual(
    [...(matching(atlas, { ...nothingChosen(), words: "tea", until: Date.parse("2026-03-01") }, new Map()) ?? [])],
    ["a"],
  );
  assert.equal(matching(atlas, nothingChosen(), new Map()), null);
});

test("a search looks into whole texts where they are known", () => {
  const texts = new Map([["a", "Tea is at four, and cake is at five."]]);
  assert.deepEqual([...(matching(charted(FACTS, []), { ...nothingChosen(), words: "tea cake" }, texts) ?? [])], ["a"]);
});
