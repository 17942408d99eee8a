"""Names: what a text names, sentence by sentence. What a name means elsewhere is for resolving; no look at other facts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import chain

from cofire.reading.shapes import Line, Piece, pieces
from cofire.reading.spans import LONGEST, NAMING, Stretch, is_shouting, leads_name, opens_sentence, stretch
from cofire.reading.vocabulary import (
    COMMANDS,
    DEMONYMS,
    ENDING_LIKE_WORDS,
    GIVEN_NAMES,
    JOINING,
    OPENERS,
    ORDINARY,
    PERSONAL_VERBS,
    ROLES,
    SEASONS,
    SHOUTED,
    SMALL,
    SPEAKING_VERBS,
    TIME_WORDS,
)
from cofire.reading.words import STOP_WORDS

# A capital at the beginning of a sentence may be owed to its place. UNLESS_SMALL: a name, unless the text also writes it
# small. IF_CAPITAL: a plain word, unless the text also writes it with a capital elsewhere.
CERTAIN, UNLESS_SMALL, IF_CAPITAL = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Name:
    """A span that names something. One that is `joined` reads two names as one, as in "Simon and Garfunkel"."""

    surface: str
    kind: str
    joined: bool = False
    doubt: int = CERTAIN


_SINGLE = frozenset(("code", "path", "url", "email", "version", "flag"))
_NAMELESS = frozenset(("word", "joint", "mark"))
_QUOTED = re.compile(r"[“\"«]([^“”\"«»\n]{2,80})[”\"»]|(?<!\w)['‘]([A-Z][^'‘’\n]{1,60})['’](?!\w)|`([^`\n]{1,80})`")
_QUOTES = ('"', "“", "`", "«", " '", "('", "‘")
_ENDINGS = (
    *("ing", "ed", "ly", "tion", "tions", "ness", "ment", "ments", "able", "ible", "ful"),
    *("ity", "ities", "ance", "ence", "ship", "ings", "ism", "ics"),
)
_DIRECTIONS = frozenset("north south east west northern southern eastern western central latin native pre post".split())
_OBJECTS = frozenset(
    "your my a an this that these those it you me them us our their his her any some all more both each".split()
)
_PLURAL_VERBS = frozenset("are were have can could should must will would may might do need".split())
_NAMES_AFTER_ALL = frozenset(("who", "it", "us"))


def names(sentences: Sequence[str], lines: Sequence[Line], *, known: Set[str]) -> list[list[Name]]:
    """The names of each sentence of a text, given with its pieces. `known` are words, in small letters, that are names.

    >>> text = ["Docker runs on Ana's Mac.", "Running is fun, Ana."]
    >>> [[name.surface for name in sentence] for sentence in names(text, list(map(pieces, text)), known=frozenset())]
    [['Docker', 'Ana', 'Mac'], ['Ana']]
    """
    found = [in_sentence(sentence, line) for sentence, line in zip(sentences, lines, strict=True)]
    if not any(name.doubt for name in chain.from_iterable(found)):
        return found
    capitals, smalls = _evidence(lines)
    return [[name for name in each if _holds(name, capitals | known, smalls)] for each in found]


def _holds(name: Name, capitals: Set[str], smalls: Set[str]) -> bool:
    if name.doubt == CERTAIN or name.surface.lower() in capitals:
        return True
    return name.doubt == UNLESS_SMALL and name.surface.lower() not in smalls


def _evidence(lines: Iterable[Line]) -> tuple[set[str], set[str]]:
    """The words that a text writes with a capital where none is due, and those that it writes small."""
    capitals, smalls = set(), set()
    for line in lines:
        for at, piece in enumerate(line):
            if piece.shape == "word":
                smalls.add(piece.low)
            elif piece.shape == "capital" and not opens_sentence(line, at) and not piece.opened:
                capitals.add(piece.low)
    return capitals, smalls


def in_sentence(sentence: str, line: Line) -> list[Name]:
    """The names of a sentence by itself: quoted ones and code first, then the others in order.

    >>> text = 'Ana van Dyk of "Born to Run" fame uses PostgreSQL in Oslo on Monday.'
    >>> [name.surface for name in in_sentence(text, pieces(text))]
    ['Born to Run', 'Ana van Dyk', 'PostgreSQL', 'Oslo']
    """
    if not any(map(sentence.__contains__, _QUOTES)):
        return list(_unquoted(line))
    quoted, rest = _out_of_quotes(sentence)
    return [*quoted, *_unquoted(pieces(rest))]


def _out_of_quotes(sentence: str) -> tuple[list[Name], str]:
    """Titles and code in quotes, and the sentence with a mark in their place; speech stays in it, to be read on."""
    named: list[Name] = []
    rest: list[str] = []
    end = 0
    for found in _QUOTED.finditer(sentence):
        double, single, code = found.groups()
        if code is not None:
            named += _code(code.strip())
        elif is_title(double or single):
            named.append(Name((double or single).strip(" ,.;"), "title"))
        else:
            continue
        rest += (sentence[end : found.start()], ' " ')
        end = found.end()
    return named, "".join((*rest, sentence[end:]))


def is_title(quoted: str) -> bool:
    """A few words, all but the small ones with a capital, and no whole sentence.

    >>> is_title("Born to Run"), is_title("I am fine."), is_title("so called"), is_title("Hello")
    (True, False, False, False)
    """
    words = quoted.strip(" ,;.").split()
    if not 0 < len(words) <= LONGEST or not words[0][0].isupper():
        return False
    if len(words) == 1:
        return words[0].lower() not in OPENERS and words[0].lower() not in ORDINARY
    return all(word[0].isupper() or not word[0].isalpha() or word in STOP_WORDS or word in JOINING for word in words)


def _code(inside: str) -> Iterator[Name]:
    """What stands between backticks: one name if it is one piece, else the pieces in it that look like code."""
    line = pieces(inside)
    if len(line) == 1:
        yield Name(line[0].core or inside, line[0].shape if line[0].shape in _SINGLE else "code")
        return
    yield from (Name(piece.core, piece.shape) for piece in line if piece.shape in _SINGLE)


def _unquoted(line: Line) -> Iterator[Name]:
    done = 0
    for at, piece in enumerate(line):
        shape = piece.shape
        if at < done or shape in _NAMELESS or (shape == "capital" and _merely_opens(line, at)):
            continue
        if shape in NAMING or (shape == "number" and leads_name(line, at)):
            done, found = stretch(line, at)
            yield from filter(None, map(_named, found))
        elif shape in _SINGLE:
            yield Name(piece.core, shape)


def _merely_opens(line: Line, at: int) -> bool:
    """The commonest case, told at once: a small word with a capital and nothing after it that a name could go on with."""
    if line[at].low not in (OPENERS if at == 0 else SMALL) or line[at].low in GIVEN_NAMES:
        return False
    return at + 1 == len(line) or line[at + 1].shape == "word"


def _named(found: Stretch) -> Name | None:
    if len(found.pieces) > 1:
        if is_shouting(found) or _is_numbered_word(found) or _is_demonym(found):
            return None
        return Name(found.surface, "name", joined=found.joined)
    piece = found.pieces[0]
    if not _stands_alone(piece) or (found.opens and piece.low in COMMANDS):
        return None
    return Name(piece.core, "acronym" if piece.shape == "acronym" else "name", doubt=_doubt(found))


def _is_numbered_word(found: Stretch) -> bool:
    """ "Summer 2023" is a time, "Step 2" at the beginning of a sentence a plain word with a number."""
    first, *rest = found.pieces
    plain = first.low in SEASONS or (found.opens and first.low in ORDINARY)
    return plain and all(piece.shape == "number" for piece in rest)


def _is_demonym(found: Stretch) -> bool:
    """ "West German", "South Korean": where somebody is from."""
    *before, last = found.pieces
    return last.low in DEMONYMS and all(piece.low in _DIRECTIONS or piece.shape == "number" for piece in before)


def _stands_alone(piece: Piece) -> bool:
    """Whether a single piece can name something by itself."""
    low = piece.low
    if piece.shape == "camel":
        return True
    if low in TIME_WORDS or len(low) < 2:
        return False
    if piece.shape == "acronym":
        return low not in SHOUTED and low not in ROLES and (low not in OPENERS or low in _NAMES_AFTER_ALL)
    if piece.shape != "capital" or low in SMALL or low in JOINING:
        return False
    return not (low in DEMONYMS or low in ROLES or low in SEASONS or low in _DIRECTIONS)


def _doubt(found: Stretch) -> int:
    piece = found.pieces[0]
    if not found.opens or piece.shape != "capital":
        return CERTAIN
    return IF_CAPITAL if _is_plain(piece, found.after) else UNLESS_SMALL


def _is_plain(piece: Piece, after: Piece | None) -> bool:
    """Whether a capital at the beginning of a sentence is more likely a plain word than a name.

    >>> [_is_plain(pieces(word)[0], None) for word in ("Water", "Pooling", "Docker")]
    [True, True, False]
    """
    low, next_word = piece.low, after.low if after else ""
    if low in ENDING_LIKE_WORDS or (low in GIVEN_NAMES and next_word in PERSONAL_VERBS):
        return False
    if low in ORDINARY or len(low) < 3 or next_word in _OBJECTS:
        return True
    if low.endswith(_ENDINGS):
        return next_word not in SPEAKING_VERBS
    return low[-1] == "s" and (low[:-1] in ORDINARY or low[:-1] in OPENERS or next_word in _PLURAL_VERBS)
