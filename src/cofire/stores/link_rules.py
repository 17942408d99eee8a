"""How names link facts, and how links become the arrays of an expansion."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cofire.model import Edge, FactWrite, Link, NameMention
from cofire.stores.base import ExpansionOptions, LinkExpansion
from cofire.stores.edge_kinds import get_edge_kind
from cofire.text.subjects import search_words_of_name

# A name that more facts hold is too common to link those that merely mention it.
MAX_NAME_HOLDERS = 100
# Of those that hold one name, so many are linked at most: the surest first, then by content, so that no age is favoured.
MAX_LINKS_PER_NAME = 30
# Where a recall walks over names, those who hold one in the same way lead nowhere if they are more.
MAX_WALK_HOLDERS = 1_000
BACKWARD_FACTOR = 0.5
SHARED_NAME_FACTOR = 0.3


def content_order(hash: bytes) -> int:
    """Where a fact stands among equals: by its content, read as a number."""
    return int.from_bytes(hash[:8], "little", signed=True)


def infer_mentions(new: FactWrite, known: Collection[str]) -> tuple[NameMention, ...]:
    """What a new fact mentions because somebody is about these names. It must hold the words by which it would be found, were it
    stored before the name is known."""
    return tuple(
        NameMention(name, at, 1.0)
        for name, at in new.perhaps.items()
        if name in known and all(word in new.counts for word in search_words_of_name(name))
    )


@dataclass(frozen=True, slots=True)
class NameHolders:
    """A name that a fact holds: how strongly it is about it or how surely it mentions it, and how many facts hold it so.

    `about` and `mentioning` are other facts of the scope that hold it, with their strength and confidence.
    """

    name: str
    by: float
    count: int
    about: tuple[tuple[str, float], ...]
    mentioning: tuple[tuple[str, float], ...]

    @property
    def spread(self) -> float:
        """What is specific conducts more than what everybody mentions: 1/√n."""
        return 1 / math.sqrt(max(1, self.count))


def edge_to_link(edge: Edge) -> Link:
    """A stored edge as a link, which goes through nothing."""
    said = (edge.source, edge.target, edge.kind, edge.weight, edge.confidence, edge.tags, edge.origin)
    return Link(*said, co_access_count=edge.co_access_count, strengthened=edge.strengthened)


def build_name_links(id: str, mentioned: Iterable[NameHolders], subjects: Iterable[NameHolders]) -> list[Link]:
    """Links of a fact through the names it mentions and the names it is about; the best one to each other fact.

    From a fact that mentions X to a fact about X the link is full; back it is half; between two that merely mention X, or are
    both about it, it is weaker.
    """
    best: dict[tuple[str, str], Link] = {}
    for held in mentioned:
        for other, strength in held.about:
            _keep_strongest(best, Link(id, other, "about", held.spread * strength, held.by, (), "names", held.name))
        for other, sure in held.mentioning:
            _keep_strongest(
                best,
                Link(id, other, "entity", SHARED_NAME_FACTOR * held.spread, min(held.by, sure), (), "names", held.name),
            )
    for held in subjects:
        for other, sure in held.mentioning:
            _keep_strongest(
                best, Link(other, id, "about", BACKWARD_FACTOR * held.spread * held.by, sure, (), "names", held.name)
            )
        for other, strength in held.about:
            _keep_strongest(
                best,
                Link(
                    id,
                    other,
                    "entity",
                    SHARED_NAME_FACTOR * held.spread * held.by * strength,
                    1.0,
                    (),
                    "names",
                    held.name,
                ),
            )
    return list(best.values())


def _keep_strongest(best: dict[tuple[str, str], Link], link: Link) -> None:
    pair = (min(link.source, link.target), max(link.source, link.target))
    known = best.get(pair)
    if known is None or _link_strength(link) > _link_strength(known):
        best[pair] = link


def _link_strength(link: Link) -> float:
    return (link.weight or 0.0) * (link.confidence or 0.0)


NAME_LINK_KINDS = frozenset(("about", "entity"))
WEIGHT_DECIMALS = 6


def build_expansion(
    ids: Sequence[str], links: Mapping[str, Sequence[Link]], conducting: ExpansionOptions, admitted: Mapping[str, int]
) -> LinkExpansion:
    """The links that leave these facts, the strongest first; `admitted` are the facts that pass the filter, and their places in
    the order of contents."""
    leaving = {
        id: [(get_other_end(id, link), link) for link in links.get(id, ()) if is_followable(id, link, conducting)]
        for id in ids
    }
    kept = [(id, *pair) for id, pairs in leaving.items() for pair in _select_strongest(id, pairs, conducting, admitted)]
    rows = {id: row for row, id in enumerate(dict.fromkeys([*ids, *(target for _, target, _ in kept)]))}
    return LinkExpansion(
        ids=tuple(rows),
        source=np.array([rows[source] for source, _, _ in kept], np.int64),
        target=np.array([rows[target] for _, target, _ in kept], np.int64),
        kind=tuple(link.kind for _, _, link in kept),
        weight=_to_float_array([link.weight for _, _, link in kept]),
        confidence=_to_float_array([link.confidence for _, _, link in kept]),
        tags=tuple(frozenset(link.tags) for _, _, link in kept),
        via=tuple(link.via for _, _, link in kept),
        degree=np.array([len({target for target, _ in pairs}) for pairs in leaving.values()], np.int64),
    )


def get_other_end(id: str, link: Link) -> str:
    return link.target if link.source == id else link.source


def is_followable(id: str, link: Link, conducting: ExpansionOptions) -> bool:
    """Whether a link of a wanted kind conducts away from a fact. Through names it does both ways, its weight saying how well."""
    if not conducting.wants(link.kind) or (link.via and not conducting.names):
        return False
    conducts = "both" if link.kind in NAME_LINK_KINDS else get_edge_kind(link.kind).conducts
    return conducts == "both" or (conducts == "forward" and link.source == id)


def _select_strongest(
    id: str, pairs: Sequence[tuple[str, Link]], conducting: ExpansionOptions, admitted: Mapping[str, int]
) -> list[tuple[str, Link]]:
    """Of equals by kind, then by content; of parallel ones the surer, then the one that goes out, then the stored one."""

    def order(pair: tuple[str, Link]) -> tuple[float, str, int, float, bool, str]:
        target, link = pair
        weight = round(min(1.0, max(0.0, link.weight or 0.0)), WEIGHT_DECIMALS)
        return -weight, link.kind, admitted[target], -(link.confidence or 0.0), link.source != id, link.via or ""

    seen = [pair for pair in pairs if pair[0] in admitted and _is_confident(pair[1], conducting.floor)]
    return sorted(seen, key=order)[: conducting.most]


def _is_confident(link: Link, floor: float) -> bool:
    return link.confidence is None or link.confidence >= floor


def _to_float_array(values: Sequence[float | None]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([np.nan if value is None else value for value in values], np.float64)
