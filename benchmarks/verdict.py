"""The verdict: whether a store holds exactly what its writers were told it holds. Pure; reads entries and facts, opens nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.ledger import Entry


@dataclass(frozen=True)
class Account:
    """What the ledgers say all told: ids by text, ids that some writer meant to forget, and ids that were forgotten."""

    told: Mapping[str, str]
    intended: frozenset[str]
    doomed: frozenset[str]
    gone: frozenset[str]

    @property
    def kept(self) -> frozenset[str]:
        """Ids that must be in the store: acknowledged, and never to be forgotten."""
        return frozenset(self.told) - self.doomed


def account(entries: Iterable[Entry]) -> Account:
    """All ledgers put together."""
    told: dict[str, str] = {}
    intended, doomed, gone = set[str](), set[str](), set[str]()
    for entry in entries:
        if entry.act == "remember":
            intended.update(entry.texts)
            told.update(zip(entry.ids, entry.texts, strict=True) if entry.done else ())
        else:
            (gone if entry.done else doomed).update(entry.ids)
    return Account(told, frozenset(intended), frozenset(doomed), frozenset(gone))


def violations(stored: Sequence[tuple[str, str]], said: Account) -> list[str]:
    """What is wrong with a store of these ids and texts.

    Lost: acknowledged and not there. Undead: forgotten and there. Doubled: one text, two facts. Foreign: nobody meant to write it.
    """
    ids = {id for id, _ in stored}
    texts = Counter(text for _, text in stored)
    return [
        *(f"lost: {said.told[id]!r} ({id})" for id in sorted(said.kept - ids)),
        *(f"undead: {id} was forgotten and is there" for id in sorted(said.gone & ids)),
        *(f"doubled: {text!r} is there {count} times" for text, count in texts.items() if count > 1),
        *(f"foreign: nobody remembered {text!r}" for text in texts if text not in said.intended),
        *(f"changed: {id} says {text!r}" for id, text in stored if id in said.told and said.told[id] != text),
    ]


def unaccounted(stored: Sequence[tuple[str, str]], said: Account) -> int:
    """Facts in the store that nobody was told of: only a killed writer may leave such."""
    return sum(id not in said.told for id, _ in stored)
