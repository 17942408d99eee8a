// Facts over time: the bars of a histogram, and the moment of a slider. Pure functions.

export interface Span {
  from: number;
  to: number;
}

export function spanOf(moments: readonly number[]): Span | null {
  if (moments.length === 0) return null;
  let [from, to] = [Infinity, -Infinity];
  for (const one of moments) {
    if (one < from) from = one;
    if (one > to) to = one;
  }
  return { from, to };
}

/** The number of moments in each of `count` equal intervals. */
export function histogram(moments: readonly number[], span: Span, bars: number): number[] {
  const counts = new Array<number>(bars).fill(0);
  const width = (span.to - span.from) / bars || 1;
  for (const one of moments) {
    const bar = Math.min(bars - 1, Math.floor((one - span.from) / width));
    counts[bar] = (counts[bar] ?? 0) + 1;
  }
  return counts;
}

/** The moment at a share of the span, from 0 to 1. */
export function momentIn(span: Span, share: number): number {
  return span.from + (span.to - span.from) * share;
}
