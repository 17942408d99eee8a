// Full texts for a search: the graph has only the beginning of each text, the server has the rest.
import { get } from "../calls.ts";
import { failureNotice } from "../notices.ts";
import type { Fact } from "../shapes.ts";
import type { Atlas } from "./atlas.ts";

const PAUSE_MILLISECONDS = 180;
// The limit of the API.
const MOST = 1000;

export interface Texts {
  /** The full texts loaded so far, by id. */
  known: ReadonlyMap<string, string>;
  /** Whether more may be loaded. */
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
