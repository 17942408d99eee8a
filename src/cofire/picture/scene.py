"""The facts and links that a picture shows, and which of them led to a result."""

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
    """A fact in the scene, numbered from 1: how it came back, whether it was asked for by id, and whether it is on a way that won."""

    number: int
    fact: Fact
    community: CommunityKey | None
    hit: Hit | None
    named: bool
    led: bool

    @property
    def stands_out(self) -> bool:
        return self.named or self.led or self.hit is not None


@dataclass(frozen=True, slots=True)
class SceneEdge:
    """A link between two facts, by their numbers. One that won led to a fact that came back."""

    source: int
    target: int
    kind: str
    weight: float | None
    via: str | None
    won: bool


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything that is drawn: facts with what won first, links, and the communities by size."""

    title: str
    dots: tuple[SceneNode, ...]
    strokes: tuple[SceneEdge, ...]
    communities: tuple[tuple[CommunityKey, str], ...]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of link, the most frequent first."""
        counts = Counter(stroke.kind for stroke in self.strokes)
        return tuple(sorted(counts, key=lambda kind: (-counts[kind], kind)))


def make_scene(
    title: str, picture: Picture, hits: Sequence[Hit], named: Iterable[str], names: Mapping[CommunityKey, str]
) -> Scene:
    """A picture of memory as a scene: what came back first, then what led there, then the neighbours by importance."""
    came, asked = {hit.id: hit for hit in hits}, set(named)
    hops = [hop for hit in hits for hop in (*hit.hops, *hit.bridge)]
    led = {end for hop in hops for end in (hop.source, hop.target)}
    order = {id: place for place, id in enumerate([*came, *sorted(asked), *sorted(led - came.keys())])}
    nodes = sorted(picture.nodes, key=lambda node: (order.get(node.fact.id, len(order)), -node.degree, node.fact.id))
    dots = tuple(
        SceneNode(
            number, node.fact, _community_key(node), came.get(node.fact.id), node.fact.id in asked, node.fact.id in led
        )
        for number, node in enumerate(nodes, start=1)
    )
    return Scene(title, dots, _make_scene_edges(dots, picture.lines, hops), _order_communities(dots, names))


def _community_key(node: PictureNode) -> CommunityKey | None:
    return (node.fact.scope, node.importance.community) if node.importance else None


def _order_communities(
    dots: Iterable[SceneNode], names: Mapping[CommunityKey, str]
) -> tuple[tuple[CommunityKey, str], ...]:
    counts = Counter(dot.community for dot in dots if dot.community)
    ordered = sorted(counts, key=lambda key: (-counts[key], key))
    return tuple((key, names.get(key, "")) for key in ordered)


def _make_scene_edges(
    dots: Sequence[SceneNode], lines: Iterable[PictureEdge], hops: Iterable[ActivationHop]
) -> tuple[SceneEdge, ...]:
    """Each link once, those that won last so that they lie on top, and in the direction in which they led."""
    number = {dot.fact.id: dot.number for dot in dots}
    won = {
        _edge_key(hop): SceneEdge(number[hop.source], number[hop.target], hop.kind, hop.weight, hop.via, True)
        for hop in hops
    }
    others = {
        _edge_key(line): SceneEdge(number[line.source], number[line.target], line.kind, line.weight, None, False)
        for line in lines
    }
    return (*(stroke for pair, stroke in others.items() if pair not in won), *won.values())


def _edge_key(link: PictureEdge | ActivationHop) -> tuple[frozenset[str], str]:
    return frozenset((link.source, link.target)), link.kind
