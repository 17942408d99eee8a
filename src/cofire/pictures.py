"""A picture of memory: facts as nodes with the edges between them, or communities where there are too many. Frozen values; no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cofire.model import Fact, Importance
from cofire.xray import shortened

LABEL = 80


@dataclass(frozen=True, slots=True)
class Node:
    """A fact in the picture, how important it is, and how many edges of the picture touch it."""

    fact: Fact
    importance: Importance | None
    degree: int


@dataclass(frozen=True, slots=True)
class Line:
    """An edge in the picture, between two facts or two clusters."""

    source: str
    target: str
    kind: str
    weight: float | None


@dataclass(frozen=True, slots=True)
class Cluster:
    """A community as one node. Without a number it is all the facts of a scope that are in none of the communities shown."""

    scope: str
    community: int | None
    name: str
    size: int

    @property
    def id(self) -> str:
        return f"{self.scope}/{'' if self.community is None else self.community}"


@dataclass(frozen=True, slots=True)
class Picture:
    """Nodes or, where there would be too many, clusters; the lines between them; and how many facts there are in all."""

    nodes: tuple[Node, ...]
    lines: tuple[Line, ...]
    clusters: tuple[Cluster, ...]
    total: int

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON."""
        return {
            "nodes": [node_json(node) for node in self.nodes],
            "edges": [
                {"source": line.source, "target": line.target, "kind": line.kind, "weight": line.weight}
                for line in self.lines
            ],
            "clusters": [cluster_json(cluster) for cluster in self.clusters],
            "total": self.total,
        }


def node_json(node: Node) -> dict[str, Any]:
    """A node as plain values, with a short label instead of the text."""
    fact, rated = node.fact, node.importance
    return {
        "id": fact.id,
        "label": shortened(fact.text, LABEL),
        "community": rated.community if rated else None,
        "pagerank": rated.pagerank if rated else None,
        "degree": node.degree,
        "at": fact.time.isoformat() if fact.time else None,
        "scope": fact.scope,
        "category": fact.category,
        "archived": fact.archived,
        "pinned": fact.pinned,
    }


def cluster_json(cluster: Cluster) -> dict[str, Any]:
    """A cluster as plain values."""
    return {
        "id": cluster.id,
        "scope": cluster.scope,
        "community": cluster.community,
        "name": cluster.name,
        "size": cluster.size,
    }
