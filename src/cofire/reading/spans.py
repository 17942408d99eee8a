"""Spans: which neighbouring pieces of a sentence make one capitalised name. By shape and small words; no look at other sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from cofire.reading.shapes import Line, Piece
from cofire.reading.vocabulary import (
    AFTER_JOINING,
    DEMONYMS,
    GIVEN_NAMES,
    HEADS,
    JOINING,
    MONTHS,
    OPENERS,
    ORDINARY,
    ROLES,
    SEASONS,
    SHOUTED,
    SMALL,
    TIME_WORDS,
    WEEKDAYS,
)

NAMING = frozenset(("capital", "acronym", "camel", "initial"))
LONGEST = 9

_SUFFIXED = frozenset("jr sr inc ltd llc esq".split())
_AFTER_NUMERAL = frozenset("of was is and the in had has".split())
_BEFORE_MONTH = frozenset("in since until till last next this by during of from early late mid on".split())
_DETERMINERS = frozenset("the a an its their his her our this that".split())
_COUNTED = frozenset(
    "people men women children percent million billion thousand hundred km kg miles more other new".split()
)
_SENTENCE_ENDS = frozenset(".!?:…")
_EMOJI_FROM = "\u2600"
_LONGEST_JOINED = 5
_EDGES = OPENERS | JOINING | {*WEEKDAYS, *MONTHS}  # What may be trimmed off a name.


@dataclass(frozen=True, slots=True)
class Stretch:
    """Pieces of a line that make one name. `opens` is a stretch whose first capital may be owed to the sentence's
    beginning; `joined` reads two names as one."""

    pieces: Sequence[Piece]
    after: Piece | None = None
    opens: bool = False
    joined: bool = False

    @property
    def surface(self) -> str:
        return " ".join((*(piece.inner for piece in self.pieces[:-1]), self.pieces[-1].core))


def stretch(line: Line, start: int) -> tuple[int, list[Stretch]]:
    """Where the run of capitals that begins at `start` ends, and the names in it."""
    end = _reach(line, start)
    opens = opens_sentence(line, start)
    linked = end + 1 < len(line) and line[end].core in ("and", "the") and not (line[end].closed or line[end - 1].stops)
    if linked and _has_epithet(line, start, end):
        return end + 2, [_stretch(line, start, end + 2, opens=opens)]
    found = []
    for first, last in _cut_at_possessives(line, start, end):
        kept, past = _trimmed(line, first, last, opens=opens and first == start)
        if 0 < past - kept <= LONGEST:
            found.append(_stretch(line, kept, past, opens=opens and kept == start))
    return end, [*found, *_joined_with_next(line, start, end)] if linked else found


def _stretch(line: Line, start: int, end: int, *, opens: bool) -> Stretch:
    return Stretch(line[start:end], line[end] if end < len(line) else None, opens)


def _has_epithet(line: Line, start: int, end: int) -> bool:
    """ "Charles the Bald", "Pliny the Elder": one capital, the article and one more; "in Germany the Nazis" is no such thing."""
    if end - start > 1 or line[end].core != "the" or line[start].shape != "capital":
        return False
    if line[start].low in OPENERS or line[start].low in TIME_WORDS or (start > 0 and line[start - 1].low in SMALL):
        return False
    return line[end + 1].shape == "capital" and _reach(line, end + 1) == end + 2


def opens_sentence(line: Line, at: int) -> bool:
    """Whether only marks stand before a piece, or the end of another sentence; an emoji is such an end."""
    while at > 0 and line[at - 1].shape == "mark":
        if line[at - 1].core[:1] > _EMOJI_FROM:
            return True
        at -= 1
    return at == 0 or (line[at - 1].stops and line[at - 1].closed[:1] in _SENTENCE_ENDS)


def leads_name(line: Line, at: int) -> bool:
    """ "the 1998 World Cup", "20th Century Fox", "1st Earl of Kent": a year or place in a row before a name of its own."""
    if line[at].closed or at + 2 >= len(line) or line[at + 1].stops or line[at + 1].shape not in NAMING:
        return False
    after = line[at + 2].shape
    if line[at].core.isdigit():
        starts = at == 0 or line[at - 1].low in _DETERMINERS
        return starts and len(line[at].core) == 4 and after in NAMING
    return line[at].core[-1].isalpha() and (after in NAMING or after == "joint")


def _reach(line: Line, start: int) -> int:
    end = start + 1
    while end < len(line) and end - start < 2 * LONGEST:
        step = _step(line, end)
        if not step:
            break
        end += step
    return end


def _step(line: Line, at: int) -> int:
    """How many pieces from `at` on belong to the name that reaches up to it: 0 if none."""
    before, piece = line[at - 1], line[at]
    if piece.low in _SUFFIXED and before.closed in ("", ",") and not piece.opened:
        return 1
    if before.stops or piece.opened:
        return 0
    if piece.shape in NAMING:
        return 0 if _is_pronoun(line, at) else 1
    if piece.shape in ("number", "version"):
        return 1 if _numbers_name(line, at) else 0
    if piece.shape == "joint" and not before.possessive:
        return _joint(line, at)
    return 0


def _joint(line: Line, at: int) -> int:
    """How many pieces "of", "de la" and their kind take, up to and with the capital after them."""
    for width in (1, 2):
        if at + width >= len(line) or line[at + width - 1].closed or line[at + width].opened:
            return 0
        after = line[at + width]
        if after.shape in NAMING:
            return width + 1
        if after.low not in AFTER_JOINING:
            return 0
    return 0


def _is_pronoun(line: Line, at: int) -> bool:
    """ "I" is one unless it numbers a ruler: "Lothair I of Lotharingia"."""
    if line[at].core != "I":
        return False
    return not line[at].closed and not (at + 1 < len(line) and line[at + 1].low in _AFTER_NUMERAL)


def _numbers_name(line: Line, at: int) -> bool:
    """Whether a number belongs to the name before it: "Apollo 11 is" and "Python 3.11", not "Paris 20 people" or "May 8"."""
    number, before = line[at], line[at - 1]
    if before.shape == "initial" or before.possessive or before.low in TIME_WORDS or before.low in SEASONS:
        return False
    if before.low in OPENERS or "," in number.core or number.core[-1].isalpha():
        return False
    if number.closed or at + 1 == len(line) or "." in number.core:
        return True
    after = line[at + 1]
    return after.shape in NAMING or after.low in SMALL or not (after.low.endswith("s") or after.low in _COUNTED)


def _cut_at_possessives(line: Line, start: int, end: int) -> list[tuple[int, int]]:
    """ "Google's Sundar Pichai" is two names, "Schindler's List" one."""
    cuts = [at + 1 for at in range(start, end - 1) if line[at].possessive and not _owns_by_name(line, at)]
    return list(pairwise((start, *cuts, end))) if cuts else [(start, end)]


def _owns_by_name(line: Line, at: int) -> bool:
    return line[at + 1].low in HEADS or line[at].low in ORDINARY or line[at].low in ROLES


def _trimmed(line: Line, start: int, end: int, *, opens: bool) -> tuple[int, int]:
    """Without openers in front (any at the start of a sentence, articles elsewhere) and without times at the ends."""
    while start < end and line[start].low in _EDGES and _is_cut_in_front(line, start, end, opens=opens):
        start += 1
    while end > start and line[end - 1].low in _EDGES and _is_cut_behind(line, end - 1):
        end -= 1
    return start, end


def _is_cut_in_front(line: Line, at: int, end: int, *, opens: bool) -> bool:
    piece = line[at]
    if piece.shape == "joint" or piece.low in WEEKDAYS:
        return True
    if piece.shape in ("acronym", "initial"):
        return False
    if piece.low in OPENERS:
        return _is_opener(line, at, end, opens=opens)
    return piece.low in MONTHS and _is_date(line, at, end)


def _is_opener(line: Line, at: int, end: int, *, opens: bool) -> bool:
    """Whether a word that may open a sentence does so: "Will Ana come?" but "Will Smith came", "Open it" but "The Open Sea"."""
    low = line[at].low
    if low in _DETERMINERS or line[at].core == "I":
        return True
    if low in GIVEN_NAMES and at + 1 < end and "?" not in line[-1].closed:
        return False
    return opens and not (at > 0 and line[at - 1].low in _DETERMINERS)


def _is_date(line: Line, at: int, end: int) -> bool:
    """A month before a number, alone, or after "in": a time, where "April Ludgate" is a name."""
    alone = at + 1 == end or line[at + 1].shape == "number"
    return alone or (at > 0 and line[at - 1].low in _BEFORE_MONTH)


def _is_cut_behind(line: Line, at: int) -> bool:
    piece = line[at]
    if piece.shape == "joint" or piece.low in WEEKDAYS:
        return True
    return piece.low in MONTHS and at + 1 < len(line) and line[at + 1].shape == "number"


def _joined_with_next(line: Line, start: int, end: int) -> Iterator[Stretch]:
    """This run and the next as one name, where "and" or "the" stands between: "Simon and Garfunkel", "Pliny the Elder"."""
    after = line[end + 1]
    if after.shape != "capital" or after.opened or line[start].low in OPENERS or line[start].low in TIME_WORDS:
        return
    last = _reach(line, end + 1)
    if last - start <= _LONGEST_JOINED and not any(
        piece.low in TIME_WORDS or piece.low in DEMONYMS for piece in line[start:last]
    ):
        yield Stretch(line[start:last], joined=True)


def is_shouting(found: Stretch) -> bool:
    """Capitals for emphasis: "DO NOT TOUCH" rather than "NASA ESA"."""
    span = found.pieces
    return all(piece.shape == "acronym" for piece in span) and any(
        piece.low in SHOUTED or piece.low in OPENERS for piece in span
    )
