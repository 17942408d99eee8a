"""Undo: what was forgotten comes back by its receipt, exactly, or as far as the world still has a place for it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from os import PathLike

from cofire.asks import Asking, Now, Read, Write
from cofire.errors import InvalidInput, NotFound
from cofire.model import Change, Fact, Written
from cofire.receipt_asks import FindReceipt, KeepReceipt, NoteUndone, OtherReceipts
from cofire.receipt_rows import handed_over, mended_by
from cofire.revising import Kept, Receipt, Skipped
from cofire.verbs import accepting
from cofire.verbs.asking import Names
from cofire.verbs.forget import Forgotten

Given = Receipt | Forgotten | str | PathLike[str] | None


@dataclass(frozen=True, slots=True)
class Restored:
    """What came back: facts, how many of their edges, and what did not, with the reason."""

    facts: tuple[Fact, ...]
    edges: int
    skipped: tuple[Skipped, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(fact.id for fact in self.facts)


def undo(given: Given, scope: Names) -> Asking[Restored]:
    """Bring back what a receipt keeps. A second time finds everything there, and changes nothing.

    With scopes it is for who may see no others: a receipt that keeps a fact of another one is none.
    """
    if given is None:
        raise InvalidInput(
            "There is no receipt.", way_out="forget keeps none for a dry run or with purge: use one without these."
        )
    now: datetime = yield Now()
    kept: Kept | None = yield FindReceipt(_named(given))
    allowed = accepting.scopes(scope, InvalidInput)
    if kept is None or (allowed is not None and not kept.receipt.scopes <= set(allowed)):
        raise NotFound(
            f"There is no receipt {_named(given)}, or it has run out.",
            way_out="Give the id or path that forget told; receipts are kept for forget.undo_days.",
        )
    if kept.receipt.expires <= now:
        raise NotFound(
            f"The receipt {kept.receipt.id} ran out at {kept.receipt.expires.isoformat()}.",
            way_out="What it kept cannot be brought back; remember it anew.",
        )
    later = yield from _hand_over(kept)
    written: Written = yield Write(Change(now=now, put_back=kept.taken))
    back = written.put_back
    if back.facts:
        yield NoteUndone(kept, now)
    facts: list[Fact | None] = yield Read(back.facts)
    skipped = tuple(one for one in back.skipped if one.what != "description" or one.id not in later)
    return Restored(tuple(fact for fact in facts if fact is not None), back.edges, skipped)


def _hand_over(kept: Kept) -> Asking[frozenset[str]]:
    """What hangs between these facts and others that are still gone will come back with those: their receipts keep it from now on.
    Tells whose descriptions that will mend."""
    if kept.receipt.undone is not None:
        return frozenset()
    kept_yet: list[Kept] = yield OtherReceipts(kept.receipt)
    others = [one for one in kept_yet if one.receipt.undone is None]
    told = [(one.taken.rows, frozenset(one.receipt.ids)) for one in others]
    described = set[str]()
    for other, rows in zip(others, handed_over(kept.taken.rows, frozenset(kept.receipt.ids), told), strict=True):
        if rows != other.taken.rows:
            yield KeepReceipt(other.receipt, replace(other.taken, rows=rows))
            described |= mended_by(rows, other.taken.rows)
    return frozenset(described)


def _named(given: object) -> str:
    """What a receipt is found by: its path where it has one, else its id."""
    if isinstance(given, Forgotten):
        if given.receipt is None:
            raise InvalidInput(
                "This was forgotten without a receipt.", way_out="It cannot be undone; remember it anew."
            )
        given = given.receipt
    if isinstance(given, Receipt):
        return given.path or given.id
    if not isinstance(given, str | PathLike) or not isinstance(
        named := given.__fspath__() if isinstance(given, PathLike) else given, str
    ):
        raise InvalidInput(
            f"A receipt cannot be {type(given).__name__}.", way_out="Give what forget returned, or its id or path."
        )
    if not named.strip() or "\x00" in named:
        raise InvalidInput("The receipt is not named.", way_out="Give the id or path that forget told.")
    return named.strip()
