// The atlas: the graph as it was loaded, with a place for every fact, ready to be drawn.
import Graph from "graphology";
import { get } from "../calls.ts";
import type { Cluster, Community, Edge, Network, Node } from "../shapes.ts";
import { clipped } from "../wording.ts";
import { discsOf, places, type Disc } from "./layout.ts";

export interface Atlas {
  nodes: ReadonlyMap<string, Node>;
  edges: readonly Edge[];
  clusters: readonly Cluster[];
  communities: readonly Community[];
  discs: readonly Disc[];
  graph: Graph;
  total: number;
}

// As many facts as the page draws one by one; of more it draws the communities.
const MOST = 10_000;
const NEAR = 600;

export async function loadAtlas(): Promise<Atlas> {
  const [network, told] = await Promise.all([
    get<Network>("/graph", { limit: MOST }),
    get<{ communities: Community[] }>("/communities", { limit: 1000 }),
  ]);
  return charted(network, told.communities);
}

/** The surroundings of some facts, for memories too large to be drawn whole. */
export async function loadAround(ids: readonly string[], whole: Atlas): Promise<Atlas> {
  const network = await get<Network>("/graph/around", { ids: ids.join(","), depth: 1, limit: NEAR });
  return { ...charted(network, whole.communities), total: whole.total };
}

export function charted(network: Network, communities: readonly Community[]): Atlas {
  const nodes = network.clusters.length ? network.clusters.map(asNode) : network.nodes;
  const discs = discsOf(nodes, network.edges);
  const graph = drawn(nodes, network.edges, discs);
  return {
    nodes: new Map(nodes.map((node) => [node.id, node])),
    edges: network.edges,
    clusters: network.clusters,
    communities,
    discs,
    graph,
    total: network.total,
  };
}

/** The fact that a node stands for: itself, or the most central one of its cluster. */
export function factOf(atlas: Atlas, node: string): string | null {
  const cluster = atlas.clusters.find((one) => one.id === node);
  if (!cluster) return node;
  const community = atlas.communities.find((one) => one.number === cluster.community && one.scope === cluster.scope);
  return community?.facts[0]?.id ?? null;
}

/** A cluster stands as a node of its own community, as important as it is large. */
function asNode(cluster: Cluster): Node {
  return {
    id: cluster.id,
    label: cluster.name,
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
