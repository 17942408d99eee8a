// How things are said, and events as they come in pieces.
import assert from "node:assert/strict";
import { test } from "node:test";
import { mixed } from "../src/colours.ts";
import { eventsIn } from "../src/streams.ts";
import { bytes, clipped, counted, radiusInWords, signed } from "../src/wording.ts";

test("one is said otherwise than many", () => {
  assert.deepEqual(
    [counted(1, "fact"), counted(1200, "fact"), counted(2, "community", "communities")],
    ["1 fact", "1,200 facts", "2 communities"],
  );
});

test("a signed number always has its sign", () => {
  assert.deepEqual([signed(0.5), signed(-0.25)], ["+0.500", "−0.250"]);
});

test("sizes are said in the unit that fits", () => {
  assert.deepEqual([bytes(12), bytes(1500), bytes(585728)], ["12 B", "1.5 kB", "586 kB"]);
});

test("a clipped text is never longer than asked", () => {
  assert.equal(clipped("tea at four", 6), "tea a…");
});

test("a clipped text ends before an emoji that it would cut in half", () => {
  assert.equal(clipped("tea 🍵 at four", 6), "tea…");
  assert.equal(clipped("tea 👩‍👩‍👧 at four", 9), "tea…");
  assert.equal(clipped("tea 🍵 at four", 8), "tea 🍵…");
});

test("what goes with a fact is said without what does not", () => {
  const radius = { facts: 1, edges: 2, mentions: 0, subjects: 0, vectors: 1, words: 9, descriptions: 0, cited: ["x"] };
  assert.deepEqual(radiusInWords(radius), [
    "2 links",
    "1 vector",
    "9 words in the index",
    "words in the descriptions of 1 other fact",
  ]);
});

test("half a colour lies between two", () => {
  assert.equal(mixed("#000000", "#ff8040", 0.5), "#804020");
});

test("an event that is not complete waits for the rest", () => {
  const { events, rest } = eventsIn('event: progress\r\ndata: {"done": 1}\r\n\r\n: ping\r\n\r\nevent: do');
  assert.deepEqual(events, [{ name: "progress", said: '{"done": 1}' }]);
  assert.equal(rest, "event: do");
});
