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

# A name that more facts hold is too common to link the facts that merely mention it.
MAX_NAME_HOLDERS = 100
# Maximum number of facts that one name links with a fact: the surest first, then by content, so that no age is favoured.
MAX_LINKS_PER_NAME = 30
# A recall does not walk over a name that more facts mention, or that more facts are about.
MAX_WALK_HOLDERS = 1_000
# From a fact about a name back to one that mentions it, and between two facts that hold it in the same way.
BACKWARD_FACTOR = 0.5
SHARED_NAME_FACTOR = 0.3
# A tag of more facts is too common to make two of them candidates for an edge.
MAX_RARE_TAG_FACTS = 50
# Up to so many vectors of a scope, neighbours are found by comparing all pairs.
MAX_EXACT_NEIGHBOURS = 4_096
# The last bit stands for all later sentences.
MAX_SENTENCE_BIT = 31


def content_order(hash: bytes) -> int:
    """The place of a fact among equals: its content hash as a number."""
    return int.from_bytes(hash[:8], "little", signed=True)


def sentence_bits(sentences: Iterable[int]) -> int:
    """The sentences that mention a name, a bit each.

    >>> sentence_bits([0, 2]), sentence_bits([40, 50]) == 1 << 31
    (5, True)
    """
    return sum(1 << bit for bit in {min(number, MAX_SENTENCE_BIT) for number in sentences})


def link_order(link: Link) -> tuple[float, str, str, str, str]:
    """The strongest link first; of equals by kind, source, target and name."""
    return -(link.weight or 0.0), link.kind, link.source, link.target, link.via or ""


def infer_mentions(new: FactWrite, known: Collection[str]) -> tuple[NameMention, ...]:
    """Names that a new fact mentions because another fact is about them.

    The fact must hold the words of the name, as it must to be found when the name becomes known after it.
    """
    return tuple(
        NameMention(name, sentences, 1.0)
        for name, sentences in new.perhaps.items()
        if name in known and all(word in new.counts for word in search_words_of_name(name))
    )


@dataclass(frozen=True, slots=True)
class NameHolders:
    """A name that a fact holds.

    by          how strongly the fact is about it, or how surely it mentions it
    count       how many facts of the scope hold it
    about       other facts about it, with their strength
    mentioning  other facts that mention it, with their confidence
    """

    name: str
    by: float
    count: int
    about: tuple[tuple[str, float], ...]
    mentioning: tuple[tuple[str, float], ...]

    @property
    def rarity(self) -> float:
        """A specific name conducts more than a common one: 1/√n."""
        return 1 / math.sqrt(max(1, self.count))


def edge_to_link(edge: Edge) -> Link:
    """A stored edge as a link, which goes through no name."""
    return Link(
        edge.source,
        edge.target,
        edge.kind,
        edge.weight,
        edge.confidence,
        edge.tags,
        edge.origin,
        co_access_count=edge.co_access_count,
        strengthened=edge.strengthened,
    )


def build_name_links(id: str, mentioned: Iterable[NameHolders], subjects: Iterable[NameHolders]) -> list[Link]:
    """Links of a fact through the names it mentions and the names it is about; the best one to each other fact.

    With r = 1/√n for a name of n facts, s a strength and c a confidence:

        mentions X → about X       weight r·s, confidence c
        about X → mentions X       weight ½·r·s, confidence c
        both mention X             weight .3·r, confidence min(c, c′)
        both are about X           weight .3·r·s·s′, confidence 1

    >>> holders = NameHolders("tea", 0.9, 4, (("b", 0.8),), (("c", 0.7),))
    >>> [(link.target, link.kind, link.weight, link.confidence) for link in build_name_links("a", [holders], [])]
    [('b', 'about', 0.4, 0.9), ('c', 'entity', 0.15, 0.7)]
    """
    best: dict[tuple[str, str], Link] = {}

    def offer(ends: tuple[str, str], kind: str, weight: float, confidence: float, name: str) -> None:
        pair = (min(ends), max(ends))
        link = Link(*ends, kind, weight, confidence, (), "names", name)
        if pair not in best or _link_strength(link) > _link_strength(best[pair]):
            best[pair] = link

    for name in mentioned:
        for other, strength in name.about:
            offer((id, other), "about", name.rarity * strength, name.by, name.name)
        for other, confidence in name.mentioning:
            offer((id, other), "entity", SHARED_NAME_FACTOR * name.rarity, min(name.by, confidence), name.name)
    for name in subjects:
        for other, confidence in name.mentioning:
            offer((other, id), "about", BACKWARD_FACTOR * name.rarity * name.by, confidence, name.name)
        for other, strength in name.about:
            offer((id, other), "entity", SHARED_NAME_FACTOR * name.rarity * name.by * strength, 1.0, name.name)
    return list(best.values())


def _link_strength(link: Link) -> float:
    return (link.weight or 0.0) * (link.confidence or 0.0)


NAME_LINK_KINDS = frozenset(("about", "entity"))
WEIGHT_DECIMALS = 6


def build_expansion(
    ids: Sequence[str], links: Mapping[str, Sequence[Link]], options: ExpansionOptions, admitted: Mapping[str, int]
) -> LinkExpansion:
    """The links that leave these facts, the strongest first.

    `admitted` are the facts that pass the filter, with their places in the order of contents.
    """
    kept: list[tuple[str, str, Link]] = []
    degree = []
    for id in dict.fromkeys(ids):
        leaving = [(get_other_end(id, link), link) for link in links.get(id, ()) if is_followable(id, link, options)]
        degree.append(len({target for target, _ in leaving}))
        kept += [(id, target, link) for target, link in _select_strongest(id, leaving, options, admitted)]
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
        degree=np.array(degree, np.int64),
    )


def get_other_end(id: str, link: Link) -> str:
    return link.target if link.source == id else link.source


def is_followable(id: str, link: Link, options: ExpansionOptions) -> bool:
    """Whether a link of a wanted kind leads away from a fact. Links through names lead both ways."""
    if not options.wants(link.kind) or (link.via and not options.names):
        return False
    conducts = "both" if link.kind in NAME_LINK_KINDS else get_edge_kind(link.kind).conducts
    return conducts == "both" or (conducts == "forward" and link.source == id)


def _select_strongest(
    id: str, pairs: Sequence[tuple[str, Link]], options: ExpansionOptions, admitted: Mapping[str, int]
) -> list[tuple[str, Link]]:
    """The strongest links to admitted facts.

    Equal ones by kind, then by content; parallel ones by confidence, then outgoing ones, then stored ones first.
    """

    def order(pair: tuple[str, Link]) -> tuple[float, str, int, float, bool, str]:
        target, link = pair
        weight = round(min(1.0, max(0.0, link.weight or 0.0)), WEIGHT_DECIMALS)
        return -weight, link.kind, admitted[target], -(link.confidence or 0.0), link.source != id, link.via or ""

    seen = [
        (target, link)
        for target, link in pairs
        if target in admitted and (link.confidence is None or link.confidence >= options.floor)
    ]
    return sorted(seen, key=order)[: options.most]


def _to_float_array(values: Sequence[float | None]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([np.nan if value is None else value for value in values], np.float64)
