// The replay as frames and moments, from recordings that are written out here.
import assert from "node:assert/strict";
import { test } from "node:test";
import { framesOf, layers, level } from "../src/replay/frames.ts";
import { momentAt } from "../src/replay/moments.ts";
import type { Hop, Recollection } from "../src/shapes.ts";

const hop = (source: string, target: string, energy: number): Hop => ({
  source,
  target,
  kind: "about",
  weight: 1,
  confidence: 1,
  via: null,
  energy,
});

const found = (dynamics: string, spread: Recollection["spread"], hits: object[] = []): Recollection =>
  ({
    known: hits.length > 0,
    reason: "too little evidence",
    hits,
    candidates: 5,
    plan: { dynamics },
    spread,
  }) as unknown as Recollection;

const PASS = { seeds: [{ id: "a", activation: 1 }], links: [hop("b", "c", 0.2), hop("a", "b", 0.5)] };
const STEP = { inhibited: false, gated: false };

test("links are layered by their distance from the seeds", () => {
  assert.deepEqual(
    layers(PASS).map((layer) => layer.map((one) => one.target)),
    [["b"], ["c"]],
  );
});

test("a link that no seed leads to is never reached", () => {
  assert.deepEqual(layers({ seeds: [], links: [hop("x", "y", 1)] }), []);
});

test("a pass is shown as its seeds and then hop by hop", () => {
  const frames = framesOf(
    found("cofire", { passes: [PASS], rounds: [{ round: 0, facts: [{ id: "a", activation: 1, ...STEP }] }] }),
  );
  assert.deepEqual(
    frames.map((frame) => frame.title),
    ["The question", "Seeds", "Activation spreads", "Activation spreads", "No answer"],
  );
  assert.deepEqual([...(frames[3]?.lit.keys() ?? [])], ["a", "b", "c"]);
  assert.deepEqual(
    frames[3]?.trail.map((one) => one.target),
    ["b"],
  );
});

test("rounds show who is silenced and who stays below the threshold", () => {
  const facts = [
    { id: "a", activation: 0.6, ...STEP },
    { id: "b", activation: 0, inhibited: true, gated: false },
    { id: "c", activation: 0.1, inhibited: false, gated: true },
  ];
  const [, , round] = framesOf(
    found("synapse.paper", {
      passes: [PASS],
      rounds: [
        { round: 0, facts: facts.slice(0, 1) },
        { round: 1, facts },
      ],
    }),
  );
  assert.deepEqual(
    [...(round?.lit.values() ?? [])].map((lit) => lit.mood),
    ["active", "inhibited", "gated"],
  );
  assert.equal(round?.caption, "1 fact active, 1 inhibited by stronger facts, 1 below the threshold.");
});

test("the end shows hits with their places", () => {
  const frames = framesOf(found("cofire", null, [{ id: "h", score: 2, path: ["a", "h"], hops: [] }]));
  assert.deepEqual(frames.at(-1)?.lit.get("h"), { level: 1, mood: "won", place: 1 });
});

test("brightness is the root of the share, and never nothing", () => {
  assert.equal(level(0.25, 1), 0.5);
  assert.equal(level(0, 1), 0.18);
});

test("a pulse travels before what it reaches lights up", () => {
  const frames = framesOf(found("cofire", { passes: [PASS], rounds: [] }));
  const early = momentAt(frames, 1.3);
  assert.ok(early.strokes[0] && early.strokes[0].moving && early.strokes[0].drawn > 0);
  assert.equal(
    early.glows.some((glow) => glow.id === "b"),
    false,
  );
  assert.equal(
    momentAt(frames, 2).glows.some((glow) => glow.id === "b"),
    true,
  );
});
