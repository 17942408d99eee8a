// Numbers, times and counts in words. Pure functions.
import type { Radius } from "./shapes.ts";

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

export function signed(value: number): string {
  return `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(3)}`;
}

export function percent(value: number): string {
  return `${Math.round(value * 100)} %`;
}

export function bytes(count: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  for (; count >= 1000 && unit < units.length - 1; unit++) count /= 1000;
  return `${count >= 10 || unit === 0 ? Math.round(count) : count.toFixed(1)} ${units[unit]}`;
}

export function day(moment: string | number | null): string {
  if (moment === null) return "undated";
  return new Date(moment).toLocaleDateString("en-GB", {
    day: "numeric",
    month: "short",
    year: "numeric",
    timeZone: "UTC",
  });
}

const SIGNS = new Intl.Segmenter();

/** The beginning of a text, cut between graphemes, so that no emoji is split. */
export function clipped(text: string, width: number): string {
  if (text.length <= width) return text;
  const end = SIGNS.segment(text).containing(width - 1)?.index;
  return `${text.slice(0, end).trimEnd()}…`;
}

/** A name without underscores: auto_link is auto link. */
export function spoken(name: string): string {
  return name.replaceAll("_", " ");
}

/** What is removed together with a fact, most important first. */
export function radiusInWords(radius: Radius): string[] {
  const parts = [
    radius.edges && counted(radius.edges, "link"),
    radius.mentions && counted(radius.mentions, "mention of a name", "mentions of names"),
    radius.descriptions && counted(radius.descriptions, "description"),
    radius.vectors && counted(radius.vectors, "vector"),
    radius.words && counted(radius.words, "word in the index", "words in the index"),
    radius.cited.length && `words in the descriptions of ${counted(radius.cited.length, "other fact")}`,
  ];
  return parts.filter((part) => part !== 0);
}
