// The recorded spread of activation as frames of a replay. Pure functions: they add nothing to the recording.
import type { Hop, Pass, Recollection, Round } from "../shapes.ts";
import { counted } from "../wording.ts";

export type Mood = "seed" | "active" | "gated" | "inhibited" | "won";

export interface Lit {
  level: number;
  mood: Mood;
  place?: number;
}

export interface Frame {
  title: string;
  caption: string;
  lit: ReadonlyMap<string, Lit>;
  fresh: readonly Hop[];
  trail: readonly Hop[];
}

const DARK: Frame = { title: "The question", caption: "No fact is active yet.", lit: new Map(), fresh: [], trail: [] };

export function framesOf(found: Recollection): Frame[] {
  const spread = found.spread;
  if (!spread || spread.passes.length === 0) return [DARK, ending(found, [])];
  const frames = [DARK];
  // With the dynamics "cofire" a round is a pass, and its links give the hops; other dynamics record each round.
  if (found.plan?.dynamics === "cofire") for (const pass of spread.passes) walk(frames, pass, strongest(spread.rounds));
  else
    for (const round of spread.rounds) frames.push(roundFrame(frames, round, spread.passes, strongest(spread.rounds)));
  return [...frames, ending(found, frames.at(-1)?.trail ?? [])];
}

/** Brightness relative to the strongest activation: the square root, so that weak ones are visible. */
export function level(activation: number, most: number): number {
  return Math.max(0.18, Math.sqrt(Math.max(0, activation) / (most || 1)));
}

/** Links by their distance from the seeds, nearest first. */
export function layers(pass: Pass): Hop[][] {
  const reached = new Set(pass.seeds.map((seed) => seed.id));
  const found: Hop[][] = [];
  let waiting = pass.links;
  while (waiting.length) {
    const next = waiting.filter((hop) => reached.has(hop.source));
    if (!next.length) break;
    found.push(next);
    waiting = waiting.filter((hop) => !reached.has(hop.source));
    for (const hop of next) reached.add(hop.target);
  }
  return found;
}

function strongest(rounds: readonly Round[]): number {
  return Math.max(0, ...rounds.flatMap((round) => round.facts.map((fact) => fact.activation)));
}

function walk(frames: Frame[], pass: Pass, most: number): void {
  frames.push(seedFrame(frames, pass, most));
  for (const hops of layers(pass)) frames.push(hopFrame(frames, hops, most));
}

function seedFrame(frames: readonly Frame[], pass: Pass, most: number): Frame {
  const before = frames.at(-1) ?? DARK;
  const seeds = pass.seeds.map((seed): [string, Lit] => [
    seed.id,
    { level: level(seed.activation, most), mood: "seed" },
  ]);
  const again = frames.length > 1;
  return {
    title: again ? "Second pass" : "Seeds",
    caption: again
      ? `Activation starts again from the best facts so far (${seeds.length}).`
      : `${counted(seeds.length, "fact")} found directly by the question.`,
    lit: new Map([...rested(before.lit), ...seeds]),
    fresh: [],
    trail: trailOf(before),
  };
}

function hopFrame(frames: readonly Frame[], hops: readonly Hop[], most: number): Frame {
  const before = frames.at(-1) ?? DARK;
  const lit = new Map(before.lit);
  for (const hop of hops)
    if (lit.get(hop.target)?.mood !== "seed") lit.set(hop.target, { level: level(hop.energy, most), mood: "active" });
  const woken = new Set(hops.map((hop) => hop.target)).size;
  return {
    title: "Activation spreads",
    caption: `Along ${counted(hops.length, "link")} it reaches ${counted(woken, "fact")}.`,
    lit,
    fresh: hops,
    trail: trailOf(before),
  };
}

function roundFrame(frames: readonly Frame[], round: Round, passes: readonly Pass[], most: number): Frame {
  const before = frames.at(-1) ?? DARK;
  const lit = new Map(
    round.facts.map((fact): [string, Lit] => [
      fact.id,
      { level: level(fact.activation, most), mood: moodOf(fact, round.round) },
    ]),
  );
  const links = passes.flatMap((pass) => pass.links);
  const fresh = links.filter((hop) => lit.has(hop.target) && before.lit.has(hop.source) && !before.lit.has(hop.target));
  return {
    title: round.round === 0 ? "Seeds" : `Round ${round.round}`,
    caption: roundCaption(round),
    lit,
    fresh,
    trail: trailOf(before),
  };
}

function moodOf(fact: { inhibited: boolean; gated: boolean }, round: number): Mood {
  if (fact.inhibited) return "inhibited";
  if (fact.gated) return "gated";
  return round === 0 ? "seed" : "active";
}

function roundCaption(round: Round): string {
  const awake = round.facts.filter((fact) => !fact.inhibited && !fact.gated).length;
  const inhibited = round.facts.filter((fact) => fact.inhibited).length;
  const gated = round.facts.filter((fact) => fact.gated).length;
  const parts = [`${counted(awake, "fact")} active`];
  if (inhibited) parts.push(`${inhibited} inhibited by stronger facts`);
  if (gated) parts.push(`${gated} below the threshold`);
  return `${parts.join(", ")}.`;
}

/** The last frame: the hits with their ranks, and the paths to them. */
function ending(found: Recollection, trail: readonly Hop[]): Frame {
  const hits = found.hits;
  const best = Math.max(0, ...hits.map((hit) => hit.score));
  const onPaths = hits.flatMap((hit) => hit.path).map((id): [string, Lit] => [id, { level: 0.3, mood: "active" }]);
  const won = hits.map((hit, row): [string, Lit] => [
    hit.id,
    { level: level(hit.score, best), mood: "won", place: row + 1 },
  ]);
  return {
    title: found.known ? "Result" : "No answer",
    caption: found.known
      ? `${counted(hits.length, "fact")} of ${counted(found.candidates, "candidate")}, best first.`
      : found.reason,
    lit: new Map([...onPaths, ...won]),
    fresh: [],
    trail,
  };
}

function trailOf(before: Frame): readonly Hop[] {
  return [...before.trail, ...before.fresh];
}

/** Seeds of the pass before, as ordinary active facts. */
function rested(lit: ReadonlyMap<string, Lit>): [string, Lit][] {
  return [...lit].map(([id, one]) => [id, { level: one.level * 0.7, mood: "active" }]);
}
