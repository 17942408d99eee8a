"""Compare the facts of a store with the ledgers of its writers. Pure functions on entries and facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.ledger import Entry


@dataclass(frozen=True)
class Account:
    """The content of all ledgers: ids by text, ids to be forgotten, and forgotten ids."""

    told: Mapping[str, str]
    intended: frozenset[str]
    doomed: frozenset[str]
    gone: frozenset[str]

    @property
    def kept(self) -> frozenset[str]:
        """Ids that must be in the store: acknowledged, and not to be forgotten."""
        return frozenset(self.told) - self.doomed


def account(entries: Iterable[Entry]) -> Account:
    """Combine all ledgers."""
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
    """The violations of a store with these ids and texts.

    Lost: acknowledged but missing. Undead: forgotten but found. Doubled: one text in two facts. Foreign: in no ledger.
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
    """Facts without acknowledgement: only a killed writer may leave them."""
    return sum(id not in said.told for id, _ in stored)
