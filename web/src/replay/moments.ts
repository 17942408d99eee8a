// A moment of a replay: the numbers to draw between two frames. Pure functions.
import type { Hop } from "../shapes.ts";
import type { Frame, Lit, Mood } from "./frames.ts";

export interface Glow {
  id: string;
  level: number;
  mood: Mood;
  place?: number;
}

export interface Stroke {
  hop: Hop;
  drawn: number;
  strength: number;
  moving: boolean;
}

export interface Moment {
  frame: Frame;
  glows: Glow[];
  strokes: Stroke[];
  ending: number;
}

// In the first part of a step a pulse travels; then its target becomes active.
const TRAVEL = 0.65;

export function momentAt(frames: readonly Frame[], position: number): Moment {
  const row = Math.min(Math.floor(position), frames.length - 1);
  const from = frames[row] as Frame;
  const to = frames[Math.min(row + 1, frames.length - 1)] as Frame;
  const share = position - row;
  return {
    frame: share > 0.5 ? to : from,
    glows: glowsBetween(from.lit, to.lit, arrival(share, to.fresh.length > 0)),
    strokes: [...settled(from), ...travelling(to, share)],
    ending: endingShare(frames, position),
  };
}

export function eased(share: number): number {
  const t = Math.min(1, Math.max(0, share));
  return t < 0.5 ? 4 * t ** 3 : 1 - (-2 * t + 2) ** 3 / 2;
}

function arrival(share: number, hasPulses: boolean): number {
  return eased(hasPulses ? (share - TRAVEL * 0.8) / (1 - TRAVEL * 0.8) : share);
}

function glowsBetween(from: ReadonlyMap<string, Lit>, to: ReadonlyMap<string, Lit>, share: number): Glow[] {
  const ids = new Set([...from.keys(), ...to.keys()]);
  return [...ids].map((id) => glowBetween(id, from.get(id), to.get(id), share)).filter((glow) => glow.level > 0.01);
}

function glowBetween(id: string, from: Lit | undefined, to: Lit | undefined, share: number): Glow {
  const shown = share > 0.5 ? (to ?? from) : (from ?? to);
  const level = (from?.level ?? 0) + ((to?.level ?? 0) - (from?.level ?? 0)) * share;
  return { id, level, mood: shown?.mood ?? "active", ...(shown?.place === undefined ? {} : { place: shown.place }) };
}

function settled(frame: Frame): Stroke[] {
  const old = frame.trail.map((hop) => ({ hop, drawn: 1, strength: 0.35, moving: false }));
  return [...old, ...frame.fresh.map((hop) => ({ hop, drawn: 1, strength: 0.8, moving: false }))];
}

function travelling(to: Frame, share: number): Stroke[] {
  if (share <= 0) return [];
  const drawn = eased(share / TRAVEL);
  return to.fresh.map((hop) => ({ hop, drawn, strength: 0.9, moving: drawn < 1 }));
}

function endingShare(frames: readonly Frame[], position: number): number {
  return eased(Math.max(0, position - (frames.length - 2)));
}
