"""Kinds of edge, as data: where each is kept, which way it conducts, whether it fades, and whether the degree cap holds for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

Conducts = Literal["both", "forward", "never"]
Fades = Literal["no", "weight", "confidence"]

SUPERSEDES = "supersedes"

STRUCTURAL = "graph_edges"
BEHAVIOURAL = "association_edges"


@dataclass(frozen=True, slots=True)
class Kind:
    """What is true of all edges of a kind. `yields` is its place in the order of displacement, 0 for never."""

    table: str
    conducts: Conducts
    fades: Fades = "no"
    capped: bool = False
    yields: int = 0


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "follows": Kind(STRUCTURAL, "both"),
        "semantic": Kind(STRUCTURAL, "both", "confidence", capped=True, yields=1),
        "similar": Kind(STRUCTURAL, "both", "confidence", capped=True, yields=1),
        "causes": Kind(STRUCTURAL, "forward", "confidence"),
        "auto_link": Kind(BEHAVIOURAL, "both", "weight"),
        "hebbian": Kind(BEHAVIOURAL, "both", "weight"),
        "co_occurs": Kind(BEHAVIOURAL, "both", "weight", capped=True, yields=2),
        "bridge": Kind(BEHAVIOURAL, "both", "weight", capped=True, yields=3),
        "supports": Kind(BEHAVIOURAL, "both"),
        "elaborates": Kind(BEHAVIOURAL, "both"),
        "outcome": Kind(BEHAVIOURAL, "both"),
        "contradicts": Kind(BEHAVIOURAL, "never"),
        SUPERSEDES: Kind(BEHAVIOURAL, "never"),
    }
)

# A kind that a user makes up is theirs: it conducts, never fades and is never displaced.
FREE = Kind(BEHAVIOURAL, "both")


def kind_of(name: str) -> Kind:
    """What holds for edges of this kind.

    >>> kind_of("causes").conducts, kind_of("reminds me of").fades
    ('forward', 'no')
    """
    return KINDS.get(name, FREE)


def is_symmetric(name: str) -> bool:
    """Whether the two ends of an edge are alike, so that it is kept once, from the smaller id to the larger."""
    return name in {"semantic", "similar", "auto_link", "hebbian", "co_occurs", "bridge"}
