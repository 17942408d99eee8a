"""Kinds of edge as data: table, conduction, decay and degree cap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

ConductionMode = Literal["both", "forward", "never"]
DecayMode = Literal["no", "weight", "confidence"]

SUPERSEDES = "supersedes"

STRUCTURAL_TABLE = "graph_edges"
BEHAVIOURAL_TABLE = "association_edges"


@dataclass(frozen=True, slots=True)
class EdgeKind:
    """What is true of all edges of a kind. `yields` is its place in the order of displacement, 0 for never."""

    table: str
    conducts: ConductionMode
    fades: DecayMode = "no"
    capped: bool = False
    yields: int = 0


EDGE_KINDS: Mapping[str, EdgeKind] = MappingProxyType(
    {
        "follows": EdgeKind(STRUCTURAL_TABLE, "both"),
        "semantic": EdgeKind(STRUCTURAL_TABLE, "both", "confidence", capped=True, yields=1),
        "similar": EdgeKind(STRUCTURAL_TABLE, "both", "confidence", capped=True, yields=1),
        "causes": EdgeKind(STRUCTURAL_TABLE, "forward", "confidence"),
        "auto_link": EdgeKind(BEHAVIOURAL_TABLE, "both", "weight"),
        "hebbian": EdgeKind(BEHAVIOURAL_TABLE, "both", "weight"),
        "co_occurs": EdgeKind(BEHAVIOURAL_TABLE, "both", "weight", capped=True, yields=2),
        "bridge": EdgeKind(BEHAVIOURAL_TABLE, "both", "weight", capped=True, yields=3),
        "supports": EdgeKind(BEHAVIOURAL_TABLE, "both"),
        "elaborates": EdgeKind(BEHAVIOURAL_TABLE, "both"),
        "outcome": EdgeKind(BEHAVIOURAL_TABLE, "both"),
        "contradicts": EdgeKind(BEHAVIOURAL_TABLE, "never"),
        SUPERSEDES: EdgeKind(BEHAVIOURAL_TABLE, "never"),
    }
)

# A kind that a user makes up is theirs: it conducts, never fades and is never displaced.
CUSTOM_KIND = EdgeKind(BEHAVIOURAL_TABLE, "both")


def get_edge_kind(name: str) -> EdgeKind:
    """What holds for edges of this kind.

    >>> get_edge_kind("causes").conducts, get_edge_kind("reminds me of").fades
    ('forward', 'no')
    """
    return EDGE_KINDS.get(name, CUSTOM_KIND)


def is_symmetric_kind(name: str) -> bool:
    """Whether the two ends of an edge are alike, so that it is kept once, from the smaller id to the larger."""
    return name in {"semantic", "similar", "auto_link", "hebbian", "co_occurs", "bridge"}
