"""Supposing: a verb that is told of one link more than there is, so that nothing need be written to see what it would do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from cofire.asks import Ask, Asking, Together
from cofire.graph_asks import Expand
from cofire.stores.base import Expansion

T = TypeVar("T")

KIND = "supports"


def supposing(verb: Asking[T], source: str, target: str) -> Asking[T]:
    """The verb, told whenever it asks where one of the two facts leads that it leads to the other, fully weighted and trusted."""
    step = partial(next, verb)
    while True:
        try:
            ask = step()
        except StopIteration as end:
            found: T = end.value
            return found
        try:
            answer = yield _step_by_step(ask)
        except Exception as error:  # noqa: BLE001 - handed on to the verb, which decides what it means
            step = partial(verb.throw, error)
            continue
        step = partial(verb.send, _supposed(ask, answer, source, target))


def _step_by_step(ask: Ask) -> Ask:
    """What is asked, but for where links lead onward: a store that follows them by itself knows nothing of the link."""
    if isinstance(ask, Together):
        return replace(ask, asks=tuple(map(_step_by_step, ask.asks)))
    return replace(ask, conducting=ask.conducting.going(None)) if isinstance(ask, Expand) else ask


def _supposed(ask: Ask, answer: Any, source: str, target: str) -> Any:
    """An answer with the link, be it asked for alone or together with other things."""
    if isinstance(ask, Together):
        return [_supposed(one, its, source, target) for one, its in zip(ask.asks, answer, strict=True)]
    if not isinstance(ask, Expand) or not isinstance(answer, Expansion):
        return answer
    return with_link(with_link(answer, ask.ids, source, target), ask.ids, target, source)


def with_link(known: Expansion, asked: Sequence[str], source: str, target: str) -> Expansion:
    """An expansion with one link more, if it tells of the source at all."""
    if source not in asked:
        return known
    told = tuple(known.ids)
    ids = told if target in told else (*told, target)
    start, end = ids.index(source), ids.index(target)
    is_new = not np.any((known.source == start) & (known.target == end))
    degree = known.degree.copy()
    degree[start] += int(is_new)
    return replace(
        known,
        ids=ids,
        source=np.append(known.source, start),
        target=np.append(known.target, end),
        kind=(*known.kind, KIND),
        weight=np.append(known.weight, 1.0),
        confidence=np.append(known.confidence, 1.0),
        tags=(*known.tags, frozenset()),
        via=(*known.via, None),
        degree=degree,
        around=None,
    )
