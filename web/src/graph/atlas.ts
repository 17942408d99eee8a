// The atlas: the loaded graph with a position for every fact.
import Graph from "graphology";
import { get } from "../calls.ts";
import type { Cluster, Community, Edge, Network, Node } from "../shapes.ts";
import { clipped } from "../wording.ts";
import { discsOf, places, type Disc } from "./layout.ts";

export interface Atlas {
  nodes: ReadonlyMap<string, Node>;
  edges: readonly Edge[];
  clusters: readonly Cluster[];
  /** The largest communities. They are loaded after the first frame; only names need them. */
  communities: Community[];
  /** The open cluster, if a part of the graph is drawn. */
  within: Cluster | null;
  discs: readonly Disc[];
  graph: Graph;
  total: number;
}

// The maximum number of facts that the page draws as points; above it, points are communities.
const MOST = 10_000;
const NEAR = 600;
const NAMED = 100;

export async function loadAtlas(): Promise<Atlas> {
  return charted(await get<Network>("/graph", { limit: MOST }), []);
}

/** Add the names of communities to an atlas and to all derived from it. */
export async function loadNames({ communities }: Atlas): Promise<void> {
  const told = await get<{ communities: Community[] }>("/communities", { limit: NAMED });
  communities.splice(0, communities.length, ...told.communities);
}

/** The facts of one cluster, as a graph of their own. */
export async function loadWithin(cluster: Cluster, whole: Atlas): Promise<Atlas> {
  const asked = { scope: cluster.scope, community: cluster.community ?? undefined, limit: MOST };
  return { ...charted(await get<Network>("/graph", asked), whole.communities), total: whole.total, within: cluster };
}

/** Some facts and their neighbours, for graphs too large to draw as a whole. */
export async function loadAround(ids: readonly string[], whole: Atlas): Promise<Atlas> {
  const network = await get<Network>("/graph/around", { ids: ids.join(","), depth: 1, limit: NEAR });
  return { ...charted(network, whole.communities), total: whole.total };
}

export function charted(network: Network, communities: Community[]): Atlas {
  const nodes = network.clusters.length ? network.clusters.map(asNode) : network.nodes;
  const discs = discsOf(nodes, network.edges);
  const graph = drawn(nodes, network.edges, discs);
  for (const one of network.clusters) graph.setNodeAttribute(one.id, "label", shortName(nameOf(one)));
  return {
    nodes: new Map(nodes.map((node) => [node.id, node])),
    edges: network.edges,
    clusters: network.clusters,
    communities,
    within: null,
    discs,
    graph,
    total: network.total,
  };
}

/** The cluster of a node; null if the node is a fact. */
export function clusterOf(atlas: Atlas, node: string): Cluster | null {
  return atlas.clusters.find((one) => one.id === node) ?? null;
}

/** The first phrase of the name of a community, which fits beside a point. */
export function shortName(name: string): string {
  return name.split(",")[0]?.trim() ?? name;
}

export function nameOf(cluster: Cluster): string {
  return cluster.name || "other facts";
}

/** A cluster as a node: its importance is its size. */
function asNode(cluster: Cluster): Node {
  return {
    id: cluster.id,
    label: nameOf(cluster),
    community: cluster.community,
    pagerank: cluster.size,
    degree: 0,
    at: null,
    scope: cluster.scope,
    category: null,
    archived: false,
    pinned: false,
  };
}

function drawn(nodes: readonly Node[], edges: readonly Edge[], discs: readonly Disc[]): Graph {
  const placed = places(discs);
  const most = Math.max(1e-9, ...nodes.map((node) => node.pagerank ?? 0));
  const scale = Math.min(1, Math.max(0.3, 32 / Math.sqrt(nodes.length)));
  const graph = new Graph({ multi: true, type: "undirected" });
  for (const node of nodes) {
    const size = scale * (3 + 6 * Math.sqrt((node.pagerank ?? 0) / most));
    graph.addNode(node.id, { ...(placed.get(node.id) ?? { x: 0, y: 0 }), size, label: clipped(node.label, 44) });
  }
  for (const edge of edges)
    if (graph.hasNode(edge.source) && graph.hasNode(edge.target))
      graph.addEdge(edge.source, edge.target, { kind: edge.kind });
  return graph;
}
