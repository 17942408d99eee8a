"""Communities: which facts hang together, as the last dream grouped them, with a name from the words that tell them apart."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from cofire.asks import Asking, Read
from cofire.errors import InvalidQuestion
from cofire.ingesting.markdown_inline import plain
from cofire.learned import Group
from cofire.learning_asks import Groups
from cofire.model import Fact
from cofire.reading.failures import attempt
from cofire.reading.phrases import phrases
from cofire.verbs import accepting
from cofire.verbs.asking import Names

# Facts of a community that its name is taken from, and how many of them are shown.
READ, SHOWN = 50, 3
WORDS_OF_NAME = 3

_OUTER_MARKS = "`*_~=:|!<>[](){}\"'"
_INNER_MARK = re.compile(r"[`*|<>\[\](){}\"\\]|::|:/|^www\.|\.\./|__")


@dataclass(frozen=True, slots=True)
class Community:
    """Facts that hang together: its number, with which recall can be asked for it alone, its name and its most central facts."""

    scope: str
    number: int
    size: int
    name: str
    facts: tuple[Fact, ...]


def communities(scope: Names, limit: int) -> Asking[list[Community]]:
    """The communities of some scopes, or of all, the largest first."""
    scopes = accepting.scopes(scope, InvalidQuestion)
    wanted = accepting.count(limit, "limit", low=1, high=1_000_000)
    groups: list[Group] = yield Groups(scopes, wanted, READ)
    read: list[Fact | None] = yield Read([id for group in groups for id in group.ids])
    facts = {fact.id: fact for fact in read if fact is not None}
    members = [[facts[id] for id in group.ids if id in facts] for group in groups]
    names = distinctive([[said(fact) for fact in inside] for inside in members])
    return [
        Community(group.scope, group.number, group.size, name, tuple(inside[:SHOWN]))
        for group, inside, name in zip(groups, members, names, strict=True)
    ]


def said(fact: Fact) -> frozenset[str]:
    """The telling phrases of a fact, and what it is about, in plain words: a text that was remembered may hold marks of Markdown.

    >>> sorted(said(Fact("See the [tea guides](../guides/index.md) of **Kyoto**.", subject="`Tea`")))
    ['kyoto', 'tea', 'tea guides']
    """
    found = attempt("phrases", lambda: phrases([plain(fact.text)]), ())
    subject = plain(fact.subject or "").casefold()
    return frozenset(name for phrase in (*found, subject) if (name := _without_marks(phrase)))


def _without_marks(phrase: str) -> str:
    """A phrase without the marks around its words; nothing where one of them has marks inside.

    >>> (
    ...     _without_marks("`pot`"),
    ...     _without_marks("_facets:"),
    ...     _without_marks("guides](../guides"),
    ...     _without_marks("c++ node.js"),
    ... )
    ('pot', 'facets', '', 'c++ node.js')
    """
    words = [word.strip(_OUTER_MARKS) for word in phrase.split()]
    return "" if any(_INNER_MARK.search(word) for word in words) else " ".join(word for word in words if word)


def distinctive(groups: Sequence[Sequence[frozenset[str]]]) -> list[str]:
    """A name for each group: the phrases that most of its facts say and few other groups do, tf · ln(1 + groups / groups that say it).

    >>> tea, pot = frozenset({"green tea", "kitchen"}), frozenset({"tea pot", "kitchen"})
    >>> distinctive([[tea, tea], [pot]])
    ['green tea, kitchen', 'tea pot, kitchen']
    """
    counts = [Counter(phrase for fact in group for phrase in fact) for group in groups]
    holding = Counter(phrase for count in counts for phrase in count)
    return [", ".join(_best(count, holding, len(groups))) for count in counts]


def _best(count: Counter[str], holding: Counter[str], groups: int) -> list[str]:
    worth = {phrase: times * math.log(1 + groups / holding[phrase]) for phrase, times in count.items()}
    chosen: list[str] = []
    for phrase in sorted(worth, key=lambda one: (-worth[one], one)):
        if len(chosen) < WORDS_OF_NAME and not any(phrase in one or one in phrase for one in chosen):
            chosen.append(phrase)
    return chosen
