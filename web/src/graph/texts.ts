// Whole texts for a search: the graph knows how each fact begins, the memory knows the rest.
import { get } from "../calls.ts";
import { failureNotice } from "../notices.ts";
import type { Fact } from "../shapes.ts";
import type { Atlas } from "./atlas.ts";

const PAUSE_MILLISECONDS = 180;
// As many as the memory hands out at once.
const MOST = 1000;

export interface Texts {
  /** The whole texts that are known, by the ids of their facts. */
  known: ReadonlyMap<string, string>;
  /** Whether more of them may come. */
  isSeeking: () => boolean;
  seek: (words: string, atlas: Atlas) => void;
  forget: () => void;
}

export function wholeTexts(onFound: () => void): Texts {
  const known = new Map<string, string>();
  let wanted = "";
  let found = "";
  let waiting = 0;
  const search = async (text: string, { within }: Atlas) => {
    try {
      const place = { scope: within?.scope, community: within?.community ?? undefined };
      const { facts } = await get<{ facts: Fact[] }>("/facts", { text, limit: MOST, ...place });
      if (text !== wanted) return;
      for (const fact of facts) known.set(fact.id, fact.text);
    } catch (error) {
      if (text !== wanted) return;
      failureNotice(error);
    }
    found = text;
    onFound();
  };
  return {
    known,
    isSeeking: () => found !== wanted,
    seek: (words, atlas) => {
      const text = words.trim();
      if (text === wanted) return;
      wanted = text;
      clearTimeout(waiting);
      if (text) waiting = window.setTimeout(() => void search(text, atlas), PAUSE_MILLISECONDS);
      else found = text;
    },
    forget: () => {
      known.clear();
      wanted = found = "";
      clearTimeout(waiting);
    },
  };
}
