// Colours for the canvas, light and dark. All others are in styles/tokens.css.
// Hexadecimal only: sigma draws other notations in black.

export interface Colours {
  ground: string;
  text: string;
  muted: string;
  edge: string;
  loose: string;
  accent: string;
  ember: string;
  cool: string;
  communities: readonly string[];
}

const DARK: Colours = {
  ground: "#0f1216",
  text: "#e9ebee",
  muted: "#8b95a3",
  edge: "#39424e",
  loose: "#59626f",
  accent: "#ff9259",
  ember: "#ffd2b8",
  cool: "#6fa8d6",
  communities: [
    "#7d9bc1",
    "#7fb09a",
    "#b59bc4",
    "#c2a878",
    "#7fb3bd",
    "#c48f95",
    "#97a877",
    "#8f92c9",
    "#b8927a",
    "#76a9a6",
    "#a9a3b5",
    "#94b0cf",
  ],
};

const LIGHT: Colours = {
  ground: "#f6f5f1",
  text: "#1c2027",
  muted: "#6a7280",
  edge: "#c4c6c8",
  loose: "#a6abb2",
  accent: "#c2480d",
  ember: "#e8743a",
  cool: "#2f6f9f",
  communities: [
    "#5f7fa8",
    "#5c937a",
    "#9479a8",
    "#a8894f",
    "#5b949f",
    "#ad6f76",
    "#7d8f58",
    "#7276b4",
    "#a0735a",
    "#578d8a",
    "#8a8398",
    "#6f93b8",
  ],
};

export function coloursOf(theme: string): Colours {
  return theme === "light" ? LIGHT : DARK;
}

export function communityColour(colours: Colours, community: number | null): string {
  if (community === null) return colours.loose;
  return colours.communities[community % colours.communities.length] ?? colours.loose;
}

/** A mix of two colours: 0 is the first, 1 the second. */
export function mixed(from: string, to: string, share: number): string {
  const [a, b] = [parts(from), parts(to)];
  const between = a.map((value, place) => Math.round(value + ((b[place] ?? value) - value) * share));
  return `#${between.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

export function faded(colour: string, alpha: number): string {
  return `rgba(${parts(colour).join(", ")}, ${alpha})`;
}

function parts(colour: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
}
