// The shapes of the HTTP API (docs/reference/http.md), and the parts of responses that the page includes.

/** Problem details (RFC 9457): the body of every refusal, and the event `error` of a stream. */
export interface Problem {
  status: number;
  kind: string;
  problem: string;
  way_out: string;
}

export interface Fact {
  id: string;
  text: string;
  subject: string | null;
  category: string | null;
  tags: string[];
  scope: string;
  session: string | null;
  speaker: string | null;
  source: string | null;
  at: string | null;
  stored_at: string | null;
  valid_until: string | null;
  expires: string | null;
  reinforced: number;
  pinned: boolean;
  archived: boolean;
}

export interface Edge {
  source: string;
  target: string;
  kind: string;
  weight: number | null;
}

export interface Link extends Edge {
  confidence: number | null;
  via: string | null;
  text?: string | null;
}

export interface Hop extends Link {
  energy: number;
}

export interface Heard {
  rank: number | null;
  score: number;
  gives: number;
}

export interface Hit extends Fact {
  score: number;
  channels: Record<string, Heard>;
  parts: Record<string, number>;
  path: string[];
  weakest: number | null;
  hops: Hop[];
  bridge: Hop[];
}

export interface Step {
  id: string;
  activation: number;
  inhibited: boolean;
  gated: boolean;
}

export interface Pass {
  seeds: { id: string; activation: number }[];
  links: Hop[];
}

export interface Round {
  round: number;
  facts: Step[];
}

export interface Spread {
  passes: Pass[];
  rounds: Round[];
}

export interface Plan {
  mode: string;
  mode_reason: string;
  strategy: string;
  strategy_reason: string;
  dynamics: string | null;
  fusion: string;
}

/** A recall with all parts of RECALL_PARTS included. */
export interface Recollection {
  id: string | null;
  question: string;
  known: boolean;
  reason: string;
  plan: Plan | null;
  channels: { name: string; status: string; heard: number; note: string }[];
  hits: Hit[];
  guesses: Hit[];
  texts: { id: string; text: string }[];
  candidates: number;
  spread: Spread | null;
}

/** What the page needs of a recall besides the ids, texts and scores of the hits. */
export const RECALL_PARTS = ["facts", "channels", "parts", "paths", "plan", "guesses", "spread"];

/** What the page needs of an explanation besides the verdict. */
export const WHY_PARTS = ["fact", "hit", "likeness"];

/** An explanation with all parts of WHY_PARTS included. */
export interface Why {
  returned: boolean;
  stage: string;
  explanation: string;
  place: number | null;
  fact: Fact;
  hit: Hit | null;
  likeness: { cosine: number | null; words: string[]; share: number } | null;
  refusals: { filter: string; asked: string; has: string }[];
  remedies: { change: string; place: number | null }[];
}

export interface Past extends Fact {
  until: string;
}

export interface Portrait {
  fact: Fact;
  links: Link[];
  history: Past[];
  descriptions: string[];
  importance: { pagerank: number; community: number } | null;
  use: { helped: number; hurt: number; success: number };
  archived_because: string | null;
}

export interface Node {
  id: string;
  label: string;
  community: number | null;
  pagerank: number | null;
  degree: number;
  at: string | null;
  scope: string;
  category: string | null;
  archived: boolean;
  pinned: boolean;
}

export interface Cluster {
  id: string;
  community: number | null;
  name: string;
  size: number;
  scope: string;
}

export interface Network {
  nodes: Node[];
  edges: Edge[];
  clusters: Cluster[];
  total: number;
}

export interface Community {
  scope: string;
  number: number;
  size: number;
  name: string;
  facts: { id: string; text: string }[];
}

export interface Radius {
  facts: number;
  edges: number;
  mentions: number;
  subjects: number;
  vectors: number;
  words: number;
  descriptions: number;
  cited: string[];
}

export interface Forgotten {
  dry_run: boolean;
  facts: Fact[];
  radius: Radius;
  receipt: { id: string; expires: string } | null;
}

export interface Stats {
  store: string;
  bytes: number;
  facts: number;
  archived: number;
  scopes: Record<string, number>;
  edges: number;
  mentions: number;
  waiting: number;
  mode: string;
  model: string | null;
  without_vector: number;
  advice: string;
}

export interface Review {
  old: Fact;
  new: Fact;
  why: string;
  state: string;
}

export interface Setting {
  name: string;
  value: unknown;
  default: unknown;
  allowed: string;
  help: string;
  layer: string;
  kind: "boolean" | "integer" | "number" | "string";
  choices: string[] | null;
  low: number | null;
  high: number | null;
  /** Whether it can be changed from here. */
  settable: boolean;
}

export interface Shadow {
  count: number;
  overlap: number | null;
  tau: number | null;
  same: number;
  promoted: { id: string; text: string; times: number }[];
  demoted: { id: string; text: string; times: number }[];
  failures: number;
  reasons: { reason: string; times: number }[];
}
