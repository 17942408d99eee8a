"""Shapes: what one piece of a text, cut at spaces, looks like by itself: a word, a capital, an acronym, a path, a version."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from cofire.reading.vocabulary import JOINING, OPENERS, ORDINARY

# What a piece looks like. Names are made of capital, acronym, camel and initial, with joints inside and numbers at their ends.
Shape = Literal[
    "word",
    "joint",
    "mark",
    "number",
    "capital",
    "initial",
    "acronym",
    "camel",
    "code",
    "path",
    "url",
    "email",
    "version",
    "flag",
]


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece without the punctuation around it.

    `low` is its word in small letters and without a possessive ending. `opened` is the punctuation before it, `closed`
    that after it; `stops` says that no name runs on past it.
    """

    core: str
    low: str
    shape: Shape
    opened: str
    closed: str
    stops: bool
    possessive: bool

    @property
    def inner(self) -> str:
        """As it stands inside a name: "St." and "King's" keep what the bare core has lost."""
        return self.core + ("'s" if self.possessive else "") + ("." if self.closed[:1] == "." else "")


Line = Sequence[Piece]

# The bound keeps what is remembered of pieces small.
_LONGEST = 400
_PIECE = re.compile(rf"[^\s—–]{{1,{_LONGEST}}}|[—–]{{1,{_LONGEST}}}")
_OPENING = "\"'“”‘’«([{<*`"
_CLOSING = ".,;:!?)]}>\"'“”‘’»*`…([{"
_ABBREVIATED = frozenset("st dr mr mrs ms prof rev gen col lt sgt capt sen rep gov ft mt hon fr no".split())

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,20}://\S+|www\.\S+")
_DOMAIN = re.compile(r"(?:[a-z0-9-]{1,40}\.){1,4}(?:com|org|net|io|dev|ai|gov|edu|app|co|uk|de|fr|eu|us|info)(?:/\S*)?")
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_EXTENSION = re.compile(
    r".*\w\.(?:py|pyi|ipynb|js|jsx|mjs|ts|tsx|rs|go|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|md|rst|txt|json|jsonl|ya?ml|toml|ini|cfg|conf"
    r"|env|lock|sql|db|sqlite|csv|tsv|parquet|sh|bash|zsh|ps1|bat|html|css|scss|xml|svg|png|jpe?g|gif|pdf|docx?|xlsx?|zip|gz|tar|whl|log|pem|service)"
)
_ROOTED = re.compile(r"(?:~|\.{1,2})?/[\w.@~-]+(?:/[\w.@~-]*)*|~/[\w./-]*|[A-Za-z]:\\[\w\\. -]+")
_FOLDERS = re.compile(r"[\w.@-]+(?:/[\w.@-]+)+/?")
_NAMED_JS = frozenset("node vue next react express three d3 chart nuxt ember backbone socket moment discord p5".split())
_FLAG = re.compile(r"--[A-Za-z][\w-]*(?:=\S+)?|-[A-Za-z]")
_VERSION = re.compile(
    r"v\d+(?:\.\d+)*(?:[-.]?(?:rc|alpha|beta|post|dev|a|b)\.?\d*)?|\d+\.\d+\.\d+(?:\.\d+)*(?:[-.]?(?:rc|alpha|beta|post|dev|a|b)\.?\d*)?"
)
_NUMBER = re.compile(r"\d[\d.,]*|\d+(?:st|nd|rd|th)")
_HASH = re.compile(r"(?=\d*[a-f])[0-9a-f]{7,40}")
_SNAKE = re.compile(r"\w*[^\W_]_+[^\W_]\w*|_+[^\W\d_]\w*")
_DOTTED = re.compile(r"[a-z_]\w*(?:\.[A-Za-z_]\w*)*\.(?:[a-z_]\w+|\w*_\w*)")
_MEMBER = re.compile(r"[a-z_]\w+\.[A-Z]\w+")
_SCOPED = re.compile(r"\w+(?:::\w+)+")
_CALL = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::)[A-Za-z_]\w*)*\([^()]*")
_DOTTED_INITIALS = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")
_ABBREVIATED_LATIN = frozenset("e.g i.e a.m p.m a.k.a w.r.t n.b".split())
_SYMBOLED = frozenset(("c++", "c#", "f#", ".net", "g++", "asp.net", "notepad++"))
_QUALIFIED = frozenset(
    "based born style led owned wide like trained funded made language speaking area native bound only".split()
)
_PREFIXED = frozenset(
    """well co self non anti post pre mid multi semi half long short high low ex re sub super inter trans pro mini mega ultra
    first second third one two three four five six seven eight nine ten twenty late early top under over full part all""".split()
)
_CONTRACTED = re.compile(r".*(?:n't|'(?:m|ve|ll|d|re))")
_APOSTROPHED = re.compile(r"(?:[A-Z]|[dl]'[A-Z]).*")
_LETTER_DIGIT = re.compile(r"[^\W\d_]+\d+\w*")
_BRANDED = re.compile(r"[a-z]{1,2}[A-Z][a-z]+\w*|mac[A-Z]{2}")


def pieces(sentence: str) -> list[Piece]:
    """The pieces of a sentence, cut at spaces and long dashes.

    >>> [(piece.core, piece.shape) for piece in pieces("Ana's PgBouncer uses max_conn.")]
    [('Ana', 'capital'), ('PgBouncer', 'camel'), ('uses', 'word'), ('max_conn', 'code')]
    """
    return [look(chunk) for chunk in chunks(sentence)]


def chunks(sentence: str) -> list[str]:
    """What stands between spaces and long dashes. Most sentences are short and without such dashes, and cut the sooner for it."""
    if len(sentence) <= _LONGEST and "—" not in sentence and "–" not in sentence:
        return sentence.split()
    return _PIECE.findall(sentence)


@lru_cache(maxsize=100_000)
def look(chunk: str) -> Piece:
    """A piece as it looks by itself.

    >>> (
    ...     look("(J.").shape,
    ...     look("src/app.py,").shape,
    ...     look("and/or").shape,
    ...     look("COVID-19").shape,
    ... )
    ('initial', 'path', 'word', 'acronym')
    """
    if chunk.isalpha():
        return Piece(chunk, chunk.lower(), _shape(chunk, ""), "", "", False, False)
    inside = _without_opening(chunk)
    core = inside.rstrip(_CLOSING)
    opened, closed = chunk[: len(chunk) - len(inside)], inside[len(core) :]
    if "(" in inside and (called := _called(core, closed, opened)) is not None:
        return called
    core, possessive = _without_possessive(core.replace("’", "'"))
    if "-" in core and (place := _qualifying(core)) is not None:
        return Piece(place, place.lower(), "capital", opened, closed, True, False)
    shape = _shape(core, closed)
    return Piece(core, core.lower(), shape, opened, closed, _stops(core, closed, shape), possessive)


def _without_opening(chunk: str) -> str:
    inside = chunk.lstrip(_OPENING)
    return inside.lstrip(".") if inside.startswith("..") and not inside.startswith("../") else inside


def _called(core: str, closed: str, opened: str) -> Piece | None:
    """`run()` and `run(x)`: the brackets belong to the name."""
    if closed[:2] == "()" and (_CALL.fullmatch(core + "(")):
        return Piece(core, core.lower(), "code", opened, closed[2:], True, False)
    if "(" in core and closed[:1] == ")" and _CALL.fullmatch(core):
        return Piece(core.partition("(")[0], core.lower(), "code", opened, closed[1:], True, False)
    return None


def _without_possessive(core: str) -> tuple[str, bool]:
    if core.endswith("'s") and len(core) > 2:
        return core[:-2], True
    return core, False


def _qualifying(core: str) -> str | None:
    """The name in "Boston-based", which ends there."""
    first, hyphen, rest = core.partition("-")
    return first if hyphen and rest in _QUALIFIED and len(first) > 2 and first.istitle() else None


def _stops(core: str, closed: str, shape: Shape) -> bool:
    if not closed:
        return False
    if closed in ("'", "’") and core[-1:] == "s":
        return False
    if closed == ".":
        return not (shape == "initial" or core.lower() in _ABBREVIATED or _DOTTED_INITIALS.fullmatch(core))
    return True


def _shape(core: str, closed: str) -> Shape:
    if not core:
        return "mark"
    if core in JOINING:
        return "joint"
    if core.isalpha():
        return _letters(core, closed)
    return _mixed(core) if any(map(str.isalnum, core)) else "mark"


def _letters(core: str, closed: str) -> Shape:
    if core[1:].islower() or len(core) == 1:
        if not core[0].isupper():
            return "word"
        return "initial" if len(core) == 1 and closed[:1] == "." else "capital"
    if core.isupper() or (core[-1] == "s" and core[:-1].isupper() and len(core) > 2):
        return "acronym"
    if not any(letter.isupper() for letter in core):
        return "word"
    return "camel" if core[0].isupper() or _BRANDED.fullmatch(core) else "code"


def _mixed(core: str) -> Shape:
    if core.lower() in _SYMBOLED:
        return "camel"
    if any(letter in core for letter in "/@:\\"):
        return _address(core)
    if core[0] == "-":
        return "flag" if _FLAG.fullmatch(core) else "mark"
    if core[0].isdigit():
        return _numeral(core)
    if _VERSION.fullmatch(core):
        return "version"
    if "." in core:
        return _dotted(core)
    return _worded(core)


def _address(core: str) -> Shape:
    if _URL.fullmatch(core) or _DOMAIN.fullmatch(core):
        return "url"
    if _EMAIL.fullmatch(core):
        return "email"
    if _SCOPED.fullmatch(core):
        return "code"
    if _is_path(core):
        return "path"
    letters = core.replace("/", "")
    return "acronym" if letters.isalnum() and letters.isupper() else "word"


def _is_path(core: str) -> bool:
    if _ROOTED.fullmatch(core):
        return True
    if not _FOLDERS.fullmatch(core) or core[0].isdigit():
        return False
    return core.count("/") > 1 or "_" in core or "." in core


def _numeral(core: str) -> Shape:
    if _VERSION.fullmatch(core):
        return "version"
    if _NUMBER.fullmatch(core):
        return "number"
    if _HASH.fullmatch(core):
        return "code"
    return "acronym" if core.isalnum() and core[-1].isupper() else "word"


def _dotted(core: str) -> Shape:
    stem, _, ending = core.rpartition(".")
    if ending.lower() == "js" and (stem[:1].isupper() or stem.lower() in _NAMED_JS):
        return "camel"
    if _DOTTED_INITIALS.fullmatch(core):
        return "word" if core.lower() in _ABBREVIATED_LATIN or core.islower() else "acronym"
    if _EXTENSION.fullmatch(core.lower()):
        return "path"
    if _DOMAIN.fullmatch(core.lower()):
        return "url"
    if _DOTTED.fullmatch(core):
        return "code"
    return "code" if _MEMBER.fullmatch(core) and stem not in OPENERS and stem not in ORDINARY else "word"


def _worded(core: str) -> Shape:
    """Letters with hyphens, apostrophes, digits or underscores among them."""
    if "_" in core:
        return "code" if _SNAKE.fullmatch(core) else "word"
    if "'" in core:
        return "capital" if _APOSTROPHED.fullmatch(core) and not _CONTRACTED.fullmatch(core) else "word"
    if "-" in core:
        return _hyphened(core)
    if "&" in core:
        return "acronym" if core.replace("&", "").isupper() else "word"
    if not core.isalnum():
        return "word"
    if core[0].isupper():
        return "acronym" if sum(letter.isupper() for letter in core) > 1 or len(core) < 4 else "capital"
    return "code" if _LETTER_DIGIT.fullmatch(core) or any(letter.isupper() for letter in core) else "word"


def _hyphened(core: str) -> Shape:
    """Cores with hyphens: "Jean-Luc", "Taek-woon" and "COVID-19" are names, "utf-8" is code, "Well-known" is a word."""
    first, *rest = core.strip("-").split("-")
    last = rest[-1] if rest else ""
    if not first or not last or first.lower() in _PREFIXED:
        return "word"
    if first.isupper() and (last.isdigit() or (len(first) > 1 and last.isupper())):
        return "acronym"
    if first[0].isupper() and len(first) > 1 and last.isalpha():
        return "capital" if last[0].isupper() or first.lower() not in ORDINARY else "word"
    if first.isalpha() and (last.isdigit() or (any(map(str.isdigit, core)) and not core.islower())):
        return "code"
    return "word"
