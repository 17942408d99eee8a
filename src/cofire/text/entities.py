"""Mentions of entities, their normal forms, variants and aliases."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice

from cofire.text.base import FULL_CONFIDENCE, PARTIAL_CONFIDENCE, RULE_CONFIDENCE, FactSubject, Mention
from cofire.text.names import NamedEntity
from cofire.text.segmentation import classify_token
from cofire.text.vocabulary import (
    ALIASES,
    COMMON_WORDS,
    COURTESY_TITLES,
    DEMONYMS,
    NAME_CONNECTORS,
    ROLE_TITLES,
    SENTENCE_OPENERS,
)
from cofire.text.words import STOP_WORDS, fold_accents

NameForms = tuple[tuple[str, float], ...]

_TERM = re.compile(r"(?<!\w)v?\d+(?:\.\d+)+|[^\W_]+(?:'[^\W_]+)*(?:\+\+|#)?|(?<!\w)\.(?:NET|net)\b")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://(?:www\.)?|www\.")
_ADDRESS_SHAPES = frozenset(("path", "url", "email", "flag"))
_ARTICLES = frozenset(("the", "a", "an"))
ABBREVIATED_PREFIXES = {"st": "saint", "mt": "mount", "ft": "fort"}
_COMPANY_SUFFIXES = frozenset("inc ltd llc corp corporation gmbh plc co ag limited incorporated company".split())
_GENERATION_SUFFIXES = frozenset("jr sr esq".split())
_VENDOR_PREFIXES = frozenset("apache aws amazon azure hashicorp gnu".split())
_SURNAME_PREFIX = re.compile(r"(?:Mc|Mac|De|Di|Du|La|Le|Van|Fitz|O|D)[A-Z]")
_SINGULARS_IN_S = frozenset(
    """kubernetes postgres redis aws ios macos sass css https dns windows news series species physics mathematics james paris
    texas jones mars status analysis bus gas canvas atlas lens pandas always class process address access business kudos
    chaos athens naples wales cyprus hercules charles thomas nicholas lucas jonas les los las""".split()
)
_MAX_SPLIT_WORDS = 5


def split_terms(text: str) -> list[str]:
    """The words of a text in normal form.

    Lower case, without accents, possessives and separators; initials joined.

    >>> split_terms("J. R. R. Tolkien's C++ and Müller-Lüdenscheidt's APIs on v1.7.2 in the U.S.")
    ['jrr', 'tolkien', 'c++', 'and', 'muller', 'ludenscheidt', 'api', 'on', '1.7.2', 'in', 'the', 'us']
    """
    plain = fold_accents(text)
    if "&" in plain:
        plain = plain.replace("&", " and ")
    return _join_initials(list(chain.from_iterable(map(_split_token, _TERM.findall(plain)))))


@lru_cache(maxsize=20_000)
def _split_token(token: str) -> tuple[str, ...]:
    if token.isalpha() and (token.islower() or token[1:].islower()):
        return (token.lower(),)
    is_version = token[0] in "vV" and token[1:2].isdigit() and "." in token
    if is_version:
        return (token[1:],)
    is_plural_acronym = len(token) > 2 and token[-1] == "s" and token[:-1].isalpha() and token[:-1].isupper()
    if is_plural_acronym:
        return (token[:-1].lower(),)
    token = token.removesuffix("'s").removesuffix("'S").replace("'", "")
    if token.isalpha() and token[0].islower() and classify_token(token).shape == "code":
        return tuple(part.lower() for part in _CAMEL.split(token))
    return (token.lower(),)


def _join_initials(terms: list[str]) -> list[str]:
    """Join neighbouring single letters: J. R. R. becomes JRR, U.S. becomes US."""
    if list(map(len, terms)).count(1) < 2:
        return terms
    joined: list[str] = []
    run = False
    for term in terms:
        single = len(term) == 1 and term.isalpha()
        if single and run:
            joined[-1] += term
        else:
            joined.append(term)
        run = single
    return joined


@lru_cache(maxsize=20_000)
def normalise_name(surface: str) -> str:
    """The normal form of a name, equal for all ways to write it. Addresses and paths stay whole.

    >>> [
    ...     normalise_name(name)
    ...     for name in ("The Beatles'", "PgBouncer", "max_connections", "maxConnections", "St. Louis", "Node.js")
    ... ]
    ['beatles', 'pgbouncer', 'max connections', 'max connections', 'saint louis', 'node js']
    >>> normalise_name("https://www.example.org/a/"), normalise_name("./src/App.py"), normalise_name("--no-cache=1")
    ('example.org/a', 'src/app.py', '--no-cache')
    """
    whole = _normalise_address(surface)
    return whole if whole else " ".join(normalise_name_start(split_terms(surface)))


def normalise_name_start(words: Sequence[str]) -> Sequence[str]:
    """Remove leading articles and expand "St.", "Mt." and "Ft."."""
    first = 0
    while first < len(words) - 1 and words[first] in _ARTICLES:
        first += 1
    if first < len(words) - 1 and words[first] in ABBREVIATED_PREFIXES:
        return [ABBREVIATED_PREFIXES[words[first]], *words[first + 1 :]]
    return words[first:]


def _normalise_address(surface: str) -> str:
    """The normal form of an address, path or flag. Empty for anything else."""
    if " " in surface or len(surface) > 200:
        return ""
    piece = classify_token(surface)
    if piece.shape not in _ADDRESS_SHAPES:
        return ""
    low = piece.low
    if piece.shape == "url":
        bare = _SCHEME.sub("", low, count=1).rstrip("/")
        return bare if bare and classify_token(bare).shape == "url" else low
    if piece.shape == "flag":
        return low.partition("=")[0]
    return low.removeprefix("./") or low


@lru_cache(maxsize=20_000)
def list_name_forms(surface: str) -> NameForms:
    """The forms of a name with their confidence, highest first.

    As written FULL, variants PARTIAL, aliases RULE.

    >>> list_name_forms("PostgreSQL 15")
    (('postgresql 15', 1.0), ('postgresql', 0.7), ('postgres', 0.5), ('pgsql', 0.5), ('psql', 0.5))
    >>> list_name_forms("George W. Bush Jr."), list_name_forms("PgBouncer")
    ((('george w bush jr', 1.0), ('george bush jr', 0.7), ('george bush', 0.7)), (('pgbouncer', 1.0), ('pg bouncer', 0.7)))
    """
    name = normalise_name(surface)
    forms = {name: FULL_CONFIDENCE} if name else {}
    for variant in _list_variants(surface, name):
        forms.setdefault(variant, PARTIAL_CONFIDENCE)
    for form in tuple(forms):
        for alias in ALIASES.get(form, ()):
            forms.setdefault(alias, RULE_CONFIDENCE)
    return tuple(forms.items())


def _list_variants(surface: str, name: str) -> Iterator[str]:
    """Other spellings of the same thing, without its parts."""
    words = name.split(" ")
    if len(words) == 1:
        yield from _list_single_word_variants(surface, name)
        return
    if any(word in words[-1] for word in "/@"):
        return
    yield from _list_person_variants(words)
    if words[-1] in _COMPANY_SUFFIXES:
        yield " ".join(words[:-1])
    if words[0] in COURTESY_TITLES or (words[0] in _VENDOR_PREFIXES and len(words) == 2):
        yield " ".join(words[1:])
    if _is_numbered(words):
        yield " ".join(words[:-1])
    if len(words[0]) == 4 and words[0].isdigit() and len(words) > 2:
        yield " ".join(words[1:])
    last = surface.rsplit(maxsplit=1)[-1]
    if last.isalpha() and last.islower() and (singular := to_singular(words[-1])) != words[-1]:
        yield " ".join((*words[:-1], singular))


def _list_single_word_variants(surface: str, name: str) -> Iterator[str]:
    """Variants of one word: its camel-case parts, the last component of a path, the singular."""
    if "/" in name and "@" not in name:
        yield _last_component(name, is_path=classify_token(surface).shape == "path")
        return
    parts = _CAMEL.split(surface.strip("`'\""))
    if len(parts) > 1 and name.isalpha() and not _SURNAME_PREFIX.match(surface) and min(map(len, parts)) > 1:
        yield normalise_name(" ".join(parts))
    singular = to_singular(name)
    if singular != name and (surface.islower() or singular in COMMON_WORDS or singular in SENTENCE_OPENERS):
        yield singular


def _last_component(name: str, *, is_path: bool) -> str:
    """The file of a path, or the host of an address."""
    return name.rstrip("/").rpartition("/")[2] if is_path else name.partition("/")[0]


def _list_person_variants(words: list[str]) -> Iterator[str]:
    """Without middle initials, then without the generation.

    "nathan h juran" gives "nathan juran", "george nicholls jr" gives "george nicholls".
    """
    middle = [word for word in words[1:-1] if len(word) > 1]
    if len(middle) < len(words) - 2:
        words = [words[0], *middle, words[-1]]
        yield " ".join(words)
    if words[-1] in _GENERATION_SUFFIXES and len(words) > 2:
        yield " ".join(words[:-1])


def _is_numbered(words: list[str]) -> bool:
    """A dispensable version or number at the end: "python 3.11", "toy story 3", not "room 101"."""
    if not words[-1].replace(".", "").isdigit():
        return False
    return len(words) > 2 or "." in words[-1] or (words[0] not in COMMON_WORDS and words[0] not in SENTENCE_OPENERS)


@lru_cache(maxsize=20_000)
def to_singular(word: str) -> str:
    """The singular of a regular plural. Names that only end in s stay.

    >>> [to_singular(word) for word in ("databases", "queries", "classes", "redis", "status", "boss")]
    ['database', 'query', 'class', 'redis', 'status', 'boss']
    """
    if len(word) < 4 or word[-1] != "s" or (word[-2] in "sui" and not word.endswith("ies")) or word in _SINGULARS_IN_S:
        return word
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > 4 else word[:-1]
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    return word[:-1]


@lru_cache(maxsize=20_000)
def list_name_parts(name: str) -> tuple[str, ...]:
    """Names inside a name: runs of two or more words, and single words set apart by "of".

    A part may be another thing ("new york" in "new york times"): it is related, not equal.

    >>> list_name_parts("university of north carolina"), list_name_parts("apple music")
    (('north carolina', 'university of north'), ())
    """
    words = name.split(" ")
    if len(words) < 3:
        return ()
    parts = dict.fromkeys(_split_at_connectors(words))
    if len(words) <= _MAX_SPLIT_WORDS:
        parts.update(dict.fromkeys(_list_inner_runs(words)))
    parts.pop(name, None)
    return tuple(parts)


def _split_at_connectors(words: list[str]) -> Iterator[str]:
    start = 0
    for at, word in enumerate([*words, "of"]):
        if word in NAME_CONNECTORS or word in STOP_WORDS:
            if at > start and _is_name_part(words[start:at]):
                yield " ".join(words[start:at])
            start = at + 1


def _list_inner_runs(words: list[str]) -> Iterator[str]:
    for width in range(2, len(words)):
        for start in range(len(words) - width + 1):
            part = words[start : start + width]
            if part[0] not in STOP_WORDS and part[-1] not in STOP_WORDS and part[-1] not in NAME_CONNECTORS:
                yield " ".join(normalise_name_start(part))


def _is_name_part(words: list[str]) -> bool:
    if len(words) > 1:
        return True
    word = words[0]
    return (
        len(word) > 2
        and not word.isdigit()
        and not any(word in plain for plain in (COMMON_WORDS, SENTENCE_OPENERS, ROLE_TITLES, DEMONYMS))
    )


def name_match_confidence(first: str, second: str) -> float:
    """Confidence that two names mean the same thing: the best product over their shared forms.

    Two variants are less than an alias (.7 · .7 < .5): George W. Bush is not George H. W. Bush.

    >>> (
    ...     name_match_confidence("PostgreSQL 15", "postgresql"),
    ...     name_match_confidence("k8s", "Kubernetes"),
    ...     name_match_confidence("Java", "JavaScript"),
    ... )
    (0.7, 0.5, 0.0)
    """
    second_forms = dict(list_name_forms(second))
    confidence = 0.0
    for form, form_confidence in list_name_forms(first):
        if form in second_forms:
            confidence = max(confidence, form_confidence * second_forms[form])
    first_joined = normalise_name(first).replace(" ", "")
    second_joined = normalise_name(second).replace(" ", "")
    if first_joined and first_joined == second_joined:
        confidence = max(confidence, PARTIAL_CONFIDENCE)
    return confidence


MAX_MENTIONS_PER_SENTENCE = 16
MAX_MENTIONS_PER_FACT = 64

# "World Health Organization (WHO)": the letters in brackets abbreviate the words before them.
_ABBREVIATION_DEFINITION = re.compile(r"\((?:the |an? |or )?[\"“']?([A-Z][A-Za-z0-9&.-]{1,9})[\"”']?\)")
_DEFINITION_LOOK_BACK = 120
_MAX_INFERRED_STRENGTH = 0.9  # Subjects up to this strength come from the text itself.
_PERSON_NAME_WORDS = range(2, 5)

NamesByShortForm = dict[str, str]


def extract_mentions(
    sentences: Sequence[str],
    names_by_sentence: Sequence[Sequence[NamedEntity]],
    subjects: Sequence[FactSubject],
) -> tuple[Mention, ...]:
    """All names of all sentences: as written, then variants, parts and aliases.

    A surname after the full name, and an abbreviation after its definition, stand for the full name.
    """
    surnames = map_surnames(list(chain.from_iterable(names_by_sentence)), subjects)
    abbreviations = find_abbreviations(sentences)
    mentions: list[Mention] = []
    for number, names in enumerate(names_by_sentence):
        sentence_mentions = _extract_sentence_mentions(names, number, surnames, abbreviations)
        mentions += islice(sentence_mentions, MAX_MENTIONS_PER_SENTENCE)
    return tuple(mentions[:MAX_MENTIONS_PER_FACT])


def _extract_sentence_mentions(
    names: Sequence[NamedEntity], sentence: int, surnames: NamesByShortForm, abbreviations: NamesByShortForm
) -> Iterator[Mention]:
    """Exact names before variants, so that the limit drops the less certain ones. Each name once."""
    seen: set[str] = set()
    for mention in (
        *_list_exact_mentions(names, sentence, surnames),
        *_list_variant_mentions(names, sentence, surnames, abbreviations),
    ):
        if mention.name not in seen and is_usable_name(mention.name):
            seen.add(mention.name)
            yield mention


def _list_exact_mentions(names: Iterable[NamedEntity], sentence: int, surnames: NamesByShortForm) -> Iterator[Mention]:
    for name in names:
        form = normalise_name(name.surface)
        if name.joined:
            continue
        if form in surnames:
            yield Mention(surnames[form], name.surface, name.kind, sentence, PARTIAL_CONFIDENCE)
        else:
            yield Mention(form, name.surface, name.kind, sentence, FULL_CONFIDENCE)


def _list_variant_mentions(
    names: Iterable[NamedEntity], sentence: int, surnames: NamesByShortForm, abbreviations: NamesByShortForm
) -> Iterator[Mention]:
    for name in names:
        form = normalise_name(name.surface)
        if name.joined:
            yield Mention(form, name.surface, name.kind, sentence, PARTIAL_CONFIDENCE)
        if form in surnames:
            continue
        if form in abbreviations:
            yield Mention(abbreviations[form], name.surface, name.kind, sentence, RULE_CONFIDENCE)
        for variant, confidence in list_name_forms(name.surface)[1:]:
            yield Mention(variant, name.surface, name.kind, sentence, confidence)
        if name.kind == "name":
            for part in list_name_parts(form):
                yield Mention(part, name.surface, name.kind, sentence, PARTIAL_CONFIDENCE)


def is_usable_name(name: str) -> bool:
    """Whether a name has more than one character and is not only a number.

    >>> is_usable_name("go"), is_usable_name("x"), is_usable_name("2023"), is_usable_name("1.7.2"), is_usable_name("")
    (True, False, False, True, False)
    """
    return len(name) > 1 and not name.replace(" ", "").isdigit()


def map_surnames(names: Iterable[NamedEntity], subjects: Sequence[FactSubject]) -> NamesByShortForm:
    """Maps surnames to full names.

    The full name is the subject's, or the only one in the text with that surname.

    >>> map_surnames(
    ...     [NamedEntity("Jeff Porcaro", "name"), NamedEntity("Porcaro", "name"), NamedEntity("New York", "name")], []
    ... )
    {'porcaro': 'jeff porcaro', 'york': 'new york'}
    >>> map_surnames([NamedEntity("Joe Mank", "name"), NamedEntity("Herman Mank", "name")], [])
    {}
    """
    stated = [subject.name for subject in subjects if subject.strength > _MAX_INFERRED_STRENGTH]
    names_in_text = [normalise_name(name.surface) for name in names if name.kind == "name" and not name.joined]
    full_names: NamesByShortForm = {}
    for surname, candidates in _group_by_last_word(names_in_text).items():
        if len(candidates) == 1:
            full_names[surname] = candidates[0]
    for surname, candidates in _group_by_last_word(_drop_bracketed_names(stated)).items():
        full_names[surname] = candidates[0]
    return full_names


def _drop_bracketed_names(names: Sequence[str]) -> list[str]:
    """Remove names that extend another one by text in brackets: "brother (pearl jam song)"."""
    return [name for name in names if not any(name.startswith(other + " ") for other in names)]


def _group_by_last_word(names: Iterable[str]) -> dict[str, list[str]]:
    names_by_surname: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        words = name.split(" ")
        if _is_person_name(words) and words[-1].isalpha() and len(words[-1]) > 2:
            names_by_surname.setdefault(words[-1], []).append(name)
    return names_by_surname


def _is_person_name(words: Sequence[str]) -> bool:
    """Names of people have no "of" or "in": the last word of "University of Oslo" is no surname."""
    return len(words) in _PERSON_NAME_WORDS and STOP_WORDS.isdisjoint(words)


def find_abbreviations(sentences: Iterable[str]) -> NamesByShortForm:
    """Abbreviations that a text defines, with their meaning.

    >>> find_abbreviations(["The World Health Organization (WHO) is in Geneva (CH)."])
    {'who': 'world health organization'}
    """
    meanings: NamesByShortForm = {}
    for sentence in sentences:
        if "(" not in sentence:
            continue
        for definition in _ABBREVIATION_DEFINITION.finditer(sentence):
            letters = definition[1]
            start = definition.start()
            before = sentence[max(0, start - _DEFINITION_LOOK_BACK) : start].split()
            meaning = _expand_abbreviation(letters, before)
            if meaning:
                meanings[normalise_name(letters)] = meaning
    return meanings


def _expand_abbreviation(letters: str, before: Sequence[str]) -> str:
    """The last words whose initials are these letters, with or without lower-case words."""
    wanted_initials = [letter.lower() for letter in letters if letter.isalpha()]
    for width in range(len(wanted_initials), min(len(before), len(wanted_initials) + 3) + 1):
        words = before[-width:]
        initials = [word[0].lower() for word in words]
        capitals = [word[0].lower() for word in words if word[0].isupper()]
        if wanted_initials in (initials, capitals) and words[0][0].lower() == wanted_initials[0]:
            return normalise_name(" ".join(words))
    return ""
