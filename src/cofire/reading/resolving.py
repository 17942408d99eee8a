"""Resolving: the normal form of a name, in which the same thing meets, and the other forms it goes by. No look at any store."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain

from cofire.reading.aliases import ALIASES
from cofire.reading.base import BY_RULE, FULL, PARTIAL
from cofire.reading.shapes import look
from cofire.reading.vocabulary import COURTESIES, DEMONYMS, JOINING, OPENERS, ORDINARY, ROLES
from cofire.reading.words import STOP_WORDS, fold

Forms = tuple[tuple[str, float], ...]

_TERM = re.compile(r"(?<!\w)v?\d+(?:\.\d+)+|[^\W_]+(?:'[^\W_]+)*(?:\+\+|#)?|(?<!\w)\.(?:NET|net)\b")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://(?:www\.)?|www\.")
_WHOLE = frozenset(("path", "url", "email", "flag"))
_ARTICLES = frozenset(("the", "a", "an"))
SHORTENED = {"st": "saint", "mt": "mount", "ft": "fort"}
_COMPANY = frozenset("inc ltd llc corp corporation gmbh plc co ag limited incorporated company".split())
_GENERATION = frozenset("jr sr esq".split())
_MAKERS = frozenset("apache aws amazon azure hashicorp gnu".split())
_SURNAME_PREFIX = re.compile(r"(?:Mc|Mac|De|Di|Du|La|Le|Van|Fitz|O|D)[A-Z]")
_ENDS_IN_S = frozenset(
    """kubernetes postgres redis aws ios macos sass css https dns windows news series species physics mathematics james paris
    texas jones mars status analysis bus gas canvas atlas lens pandas always class process address access business kudos
    chaos athens naples wales cyprus hercules charles thomas nicholas lucas jonas les los las""".split()
)
_LONGEST_SPLIT = 5


def terms(text: str) -> list[str]:
    """The words of a text in normal form: small, without accents, possessives and joints; initials closed up.

    >>> terms("J. R. R. Tolkien's C++ and Müller-Lüdenscheidt's APIs on v1.7.2 in the U.S.")
    ['jrr', 'tolkien', 'c++', 'and', 'muller', 'ludenscheidt', 'api', 'on', '1.7.2', 'in', 'the', 'us']
    """
    plain = fold(text)
    if "&" in plain:
        plain = plain.replace("&", " and ")
    return _with_initials_closed(list(chain.from_iterable(map(_token_terms, _TERM.findall(plain)))))


@lru_cache(maxsize=20_000)
def _token_terms(token: str) -> tuple[str, ...]:
    if token.isalpha() and (token.islower() or token[1:].islower()):
        return (token.lower(),)
    if token[0] in "vV" and token[1:2].isdigit() and "." in token:
        return (token[1:],)
    if token[-1] == "s" and len(token) > 2 and token[:-1].isalpha() and token[:-1].isupper():
        return (token[:-1].lower(),)
    token = token.removesuffix("'s").removesuffix("'S").replace("'", "")
    if token.isalpha() and token[0].islower() and look(token).shape == "code":
        return tuple(part.lower() for part in _CAMEL.split(token))
    return (token.lower(),)


def _with_initials_closed(found: list[str]) -> list[str]:
    """Neighbouring single letters become one word: J. R. R. is JRR, U.S. is US."""
    if list(map(len, found)).count(1) < 2:
        return found
    closed: list[str] = []
    run = False
    for term in found:
        single = len(term) == 1 and term.isalpha()
        if single and run:
            closed[-1] += term
        else:
            closed.append(term)
        run = single
    return closed


@lru_cache(maxsize=20_000)
def normal(surface: str) -> str:
    """The form of a name in which it meets itself, however it is written; addresses and paths stay whole.

    >>> [
    ...     normal(name)
    ...     for name in ("The Beatles'", "PgBouncer", "max_connections", "maxConnections", "St. Louis", "Node.js")
    ... ]
    ['beatles', 'pgbouncer', 'max connections', 'max connections', 'saint louis', 'node js']
    >>> normal("https://www.example.org/a/"), normal("./src/App.py"), normal("--no-cache=1")
    ('example.org/a', 'src/app.py', '--no-cache')
    """
    whole = _whole(surface)
    return whole if whole else " ".join(opened(terms(surface)))


def opened(found: Sequence[str]) -> Sequence[str]:
    """Without articles in front, and with a saint spelled out: how a name begins in normal form."""
    first = 0
    while first < len(found) - 1 and found[first] in _ARTICLES:
        first += 1
    if first < len(found) - 1 and found[first] in SHORTENED:
        return [SHORTENED[found[first]], *found[first + 1 :]]
    return found[first:]


def _whole(surface: str) -> str:
    """An address, a path or a flag in its one spelling; empty for anything else."""
    if " " in surface or len(surface) > 200:
        return ""
    piece = look(surface)
    if piece.shape not in _WHOLE:
        return ""
    low = piece.low
    if piece.shape == "url":
        bare = _SCHEME.sub("", low, count=1).rstrip("/")
        return bare if bare and look(bare).shape == "url" else low
    if piece.shape == "flag":
        return low.partition("=")[0]
    return low.removeprefix("./") or low


@lru_cache(maxsize=20_000)
def forms(surface: str) -> Forms:
    """The names under which a thing may be met, the surest first: FULL as written, PARTIAL for variants, BY_RULE for aliases.

    >>> forms("PostgreSQL 15")
    (('postgresql 15', 1.0), ('postgresql', 0.7), ('postgres', 0.5), ('pgsql', 0.5), ('psql', 0.5))
    >>> forms("George W. Bush Jr."), forms("PgBouncer")
    ((('george w bush jr', 1.0), ('george bush jr', 0.7), ('george bush', 0.7)), (('pgbouncer', 1.0), ('pg bouncer', 0.7)))
    """
    name = normal(surface)
    found = {name: FULL} if name else {}
    for variant in _variants(surface, name):
        found.setdefault(variant, PARTIAL)
    for known in tuple(found):
        for alias in ALIASES.get(known, ()):
            found.setdefault(alias, BY_RULE)
    return tuple(found.items())


def _variants(surface: str, name: str) -> Iterator[str]:
    """Other spellings of the same thing, none of them its part."""
    words = name.split(" ")
    if len(words) == 1:
        yield from _single_variants(surface, name)
        return
    if any(word in words[-1] for word in "/@"):
        return
    yield from _person_variants(words)
    if words[-1] in _COMPANY:
        yield " ".join(words[:-1])
    if words[0] in COURTESIES or (words[0] in _MAKERS and len(words) == 2):
        yield " ".join(words[1:])
    if _is_numbered(words):
        yield " ".join(words[:-1])
    if len(words[0]) == 4 and words[0].isdigit() and len(words) > 2:
        yield " ".join(words[1:])
    last = surface.rsplit(maxsplit=1)[-1]
    if last.isalpha() and last.islower() and (one := singular(words[-1])) != words[-1]:
        yield " ".join((*words[:-1], one))


def _single_variants(surface: str, name: str) -> Iterator[str]:
    """Of a name of one word: its CamelCase parts, the last step of a path, one of several."""
    if "/" in name and "@" not in name:
        yield _end_of(name, is_path=look(surface).shape == "path")
        return
    parts = _CAMEL.split(surface.strip("`'\""))
    if len(parts) > 1 and name.isalpha() and not _SURNAME_PREFIX.match(surface) and min(map(len, parts)) > 1:
        yield normal(" ".join(parts))
    one = singular(name)
    if one != name and (surface.islower() or one in ORDINARY or one in OPENERS):
        yield one


def _end_of(name: str, *, is_path: bool) -> str:
    """The file of a path, the host of an address."""
    return name.rstrip("/").rpartition("/")[2] if is_path else name.partition("/")[0]


def _person_variants(words: list[str]) -> Iterator[str]:
    """Without middle initials, then without a generation: nathan h juran → nathan juran, george nicholls jr → george nicholls."""
    middle = [word for word in words[1:-1] if len(word) > 1]
    if len(middle) < len(words) - 2:
        words = [words[0], *middle, words[-1]]
        yield " ".join(words)
    if words[-1] in _GENERATION and len(words) > 2:
        yield " ".join(words[:-1])


def _is_numbered(words: list[str]) -> bool:
    """A version or number behind a name that can do without: "python 3.11", "toy story 3", not "room 101"."""
    if not words[-1].replace(".", "").isdigit():
        return False
    return len(words) > 2 or "." in words[-1] or (words[0] not in ORDINARY and words[0] not in OPENERS)


@lru_cache(maxsize=20_000)
def singular(word: str) -> str:
    """A plain plural as one: databases → database, queries → query; names that merely end in s stay.

    >>> [singular(word) for word in ("databases", "queries", "classes", "redis", "status", "boss")]
    ['database', 'query', 'class', 'redis', 'status', 'boss']
    """
    if len(word) < 4 or word[-1] != "s" or (word[-2] in "sui" and not word.endswith("ies")) or word in _ENDS_IN_S:
        return word
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > 4 else word[:-1]
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    return word[:-1]


@lru_cache(maxsize=20_000)
def parts(name: str) -> tuple[str, ...]:
    """Names inside a name in normal form: neighbouring words, two or more, and single words that "of" sets apart.

    A part may be another thing ("new york" of "new york times"); it leads there, but is not the same.

    >>> parts("university of north carolina"), parts("apple music")
    (('north carolina', 'university of north'), ())
    """
    words = name.split(" ")
    if len(words) < 3:
        return ()
    found = dict.fromkeys(_between_joints(words))
    if len(words) <= _LONGEST_SPLIT:
        found.update(dict.fromkeys(_inside(words)))
    found.pop(name, None)
    return tuple(found)


def _between_joints(words: list[str]) -> Iterator[str]:
    start = 0
    for at, word in enumerate([*words, "of"]):
        if word in JOINING or word in STOP_WORDS:
            if at > start and _is_part(words[start:at]):
                yield " ".join(words[start:at])
            start = at + 1


def _inside(words: list[str]) -> Iterator[str]:
    for width in range(2, len(words)):
        for start in range(len(words) - width + 1):
            part = words[start : start + width]
            if part[0] not in STOP_WORDS and part[-1] not in STOP_WORDS and part[-1] not in JOINING:
                yield " ".join(opened(part))


def _is_part(words: list[str]) -> bool:
    if len(words) > 1:
        return True
    word = words[0]
    return (
        len(word) > 2
        and not word.isdigit()
        and not any(word in plain for plain in (ORDINARY, OPENERS, ROLES, DEMONYMS))
    )


def same(one: str, other: str) -> float:
    """How sure it is that two names mean one thing: the surest form they share, each side's confidence multiplied.

    Two variants of one name are not yet the same thing (.7 · .7 < BY_RULE): George W. Bush is not George H. W. Bush.

    >>> same("PostgreSQL 15", "postgresql"), same("k8s", "Kubernetes"), same("Java", "JavaScript")
    (0.7, 0.5, 0.0)
    """
    theirs = dict(forms(other))
    shared = max((sure * theirs[form] for form, sure in forms(one) if form in theirs), default=0.0)
    closed_up = normal(one).replace(" ", "") == normal(other).replace(" ", "") != ""
    return max(shared, PARTIAL if closed_up else 0.0)
