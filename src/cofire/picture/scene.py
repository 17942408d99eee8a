"""The facts and links that a picture shows, and those on the path to a result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from cofire.activation_paths import ActivationHop
from cofire.model import Fact
from cofire.results import Hit, Picture, PictureEdge, PictureNode

# The number of a community within its scope.
CommunityKey = tuple[str, int]


@dataclass(frozen=True, slots=True)
class SceneNode:
    """A fact, numbered from 1: its hit if it is a result, whether it was selected by id, and whether it is on a path."""

    number: int
    fact: Fact
    community: CommunityKey | None
    hit: Hit | None
    selected: bool
    on_path: bool

    @property
    def stands_out(self) -> bool:
        return self.selected or self.on_path or self.hit is not None


@dataclass(frozen=True, slots=True)
class SceneEdge:
    """A link between two facts, by their numbers. One on a path led to a result."""

    source: int
    target: int
    kind: str
    weight: float | None
    via: str | None
    on_path: bool


@dataclass(frozen=True, slots=True)
class Scene:
    """The content of a picture: facts with the results first, links, and communities by size."""

    title: str
    nodes: tuple[SceneNode, ...]
    edges: tuple[SceneEdge, ...]
    communities: tuple[tuple[CommunityKey, str], ...]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of links, most frequent first."""
        counts = Counter(edge.kind for edge in self.edges)
        return tuple(sorted(counts, key=lambda kind: (-counts[kind], kind)))


def make_scene(
    title: str,
    picture: Picture,
    hits: Sequence[Hit],
    selected: Iterable[str],
    community_names: Mapping[CommunityKey, str],
) -> Scene:
    """Order the nodes of a picture: results first, then facts on their paths, then neighbours by degree."""
    hits_by_id = {hit.id: hit for hit in hits}
    selected_ids = set(selected)
    hops = [hop for hit in hits for hop in (*hit.hops, *hit.bridge)]
    path_ids = {end for hop in hops for end in (hop.source, hop.target)}
    leading = [*hits_by_id, *sorted(selected_ids), *sorted(path_ids - hits_by_id.keys())]
    order = {id: position for position, id in enumerate(leading)}
    ordered = sorted(picture.nodes, key=lambda node: (order.get(node.fact.id, len(order)), -node.degree, node.fact.id))
    nodes = tuple(
        SceneNode(
            number,
            node.fact,
            _community_key(node),
            hits_by_id.get(node.fact.id),
            selected=node.fact.id in selected_ids,
            on_path=node.fact.id in path_ids,
        )
        for number, node in enumerate(ordered, start=1)
    )
    edges = _make_scene_edges(nodes, picture.lines, hops)
    return Scene(title, nodes, edges, _order_communities(nodes, community_names))


def _community_key(node: PictureNode) -> CommunityKey | None:
    return (node.fact.scope, node.importance.community) if node.importance else None


def _order_communities(
    nodes: Iterable[SceneNode], names: Mapping[CommunityKey, str]
) -> tuple[tuple[CommunityKey, str], ...]:
    counts = Counter(node.community for node in nodes if node.community)
    ordered = sorted(counts, key=lambda key: (-counts[key], key))
    return tuple((key, names.get(key, "")) for key in ordered)


def _make_scene_edges(
    nodes: Sequence[SceneNode], lines: Iterable[PictureEdge], hops: Iterable[ActivationHop]
) -> tuple[SceneEdge, ...]:
    """Each link once. Those on a path come last, to be drawn on top, and point in the direction of the path."""
    number = {node.fact.id: node.number for node in nodes}
    path_edges = {
        _edge_key(hop): SceneEdge(number[hop.source], number[hop.target], hop.kind, hop.weight, hop.via, on_path=True)
        for hop in hops
    }
    other_edges = {
        _edge_key(line): SceneEdge(
            number[line.source], number[line.target], line.kind, line.weight, None, on_path=False
        )
        for line in lines
    }
    others = [edge for key, edge in other_edges.items() if key not in path_edges]
    return (*others, *path_edges.values())


def _edge_key(link: PictureEdge | ActivationHop) -> tuple[frozenset[str], str]:
    return frozenset((link.source, link.target)), link.kind
