"""Citing: descriptions of other facts that cite some facts lose their gists with them, and get them back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw
import numpy as np

from cofire.reading.descriptions import hints_after, left
from cofire.stores.index.terms import Held, redescribed
from cofire.stores.sqlite import hinting

_GISTS = """
SELECT c.fact, c.gist FROM citations c WHERE c.cited IN (SELECT value FROM carray(?1))
AND c.fact NOT IN (SELECT value FROM carray(?1))
AND NOT EXISTS (SELECT 1 FROM citations o WHERE o.fact = c.fact AND o.gist = c.gist
  AND o.cited NOT IN (SELECT value FROM carray(?1)))
ORDER BY c.fact, c.gist
"""
_HISTORY = "SELECT key, text, made, ended FROM descriptions WHERE fact = ? ORDER BY key"


def cited(connection: apsw.Connection, keys: Sequence[int]) -> list[dict[str, Any]]:
    """The other facts whose descriptions lose something when these go: what they say now, and what will be left of it."""
    gone: dict[int, set[str]] = {}
    for fact, gist in connection.execute(_GISTS, (apsw.carray(np.array(keys, np.int64)),)):
        gone.setdefault(int(fact), set()).add(str(gist))
    found = [_cited(connection, fact, gists) for fact, gists in gone.items()]
    return sorted((one for one in found if one["after"] != one["texts"]), key=lambda one: str(one["fact"]))


def _cited(connection: apsw.Connection, fact: int, gone: set[str]) -> dict[str, Any]:
    history = [list(row) for row in connection.execute(_HISTORY, (fact,))]
    texts = [row[1] for row in history]
    kept = left(texts, gone)
    after = [text for text in kept if text is not None]
    _, hints = redescribed(hinting.of_fact(connection, fact), hints_after(texts, after))
    id = connection.execute("SELECT id FROM facts WHERE key = ?", (fact,)).get
    return {"fact": id, "history": history, "texts": texts, "kept": kept, "after": after, "hints": hints}


def scrub(connection: apsw.Connection, cited: Sequence[dict[str, Any]], version: int) -> None:
    """Take the gists out of descriptions, and the words that only they held out of what leads to the fact."""
    for one in cited:
        fact = connection.execute("SELECT key FROM facts WHERE id = ?", (one["fact"],)).get
        held = hinting.of_fact(connection, fact)
        for (key, *_), text in zip(one["history"], one["kept"], strict=True):
            if text is None:
                connection.execute("DELETE FROM descriptions WHERE key = ?", (key,))
            else:
                connection.execute("UPDATE descriptions SET text = ? WHERE key = ?", (text, key))
        connection.execute(_LAST_HOLDS, (fact,))
        fewer = hints_after(one["texts"], one["after"])
        _hint(connection, fact, held, {word: fewer[word] for word in one["hints"]}, version)


# The last description holds, even if it is one that had been replaced.
_LAST_HOLDS = "UPDATE descriptions SET ended = NULL WHERE key = (SELECT max(key) FROM descriptions WHERE fact = ?)"


def put_back(connection: apsw.Connection, fact: int, one: dict[str, Any], version: int) -> bool:
    """Let a fact be described as it was, unless it was described anew since."""
    texts = [text for _, text, _, _ in connection.execute(_HISTORY, (fact,))]
    if texts == one["texts"]:
        return True
    if texts != one["after"]:
        return False
    held = hinting.of_fact(connection, fact)
    connection.execute("DELETE FROM descriptions WHERE fact = ?", (fact,))
    for _, text, made, ended in one["history"]:
        row = (fact, text, made, ended)
        connection.execute("INSERT INTO descriptions(fact, text, made, ended) VALUES (?, ?, ?, ?)", row)
    _hint(connection, fact, held, one["hints"], version)
    return True


def _hint(connection: apsw.Connection, fact: int, held: Held, counts: dict[str, int], version: int) -> None:
    hinting.keep(connection, fact, redescribed(held, counts)[0], version)
