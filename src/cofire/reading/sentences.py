"""Sentences: where one ends and the next begins, and what of a spoken turn was said. No grammar, no dictionary."""

from __future__ import annotations

import re
import unicodedata

from cofire.model import Fact
from cofire.reading.vocabulary import OPENERS

# Bounded repeats: a text of nothing but dots must not be searched from each of them to its end.
_END = re.compile(r"[.!?…]{1,4}[\"'”’)\]]{0,3}\s+|[。！？]{1,4}|\n\s*")
_AROUND = "\"'“‘([*,;:.!?”’)]"
_LIST_ITEM = re.compile(r"[-*•–] |\d{1,3}[.)] ")
_LOOK_BACK, _LOOK_AHEAD = 24, 24

# Never the end of a sentence; the soft ones may be, the numbering ones are not before a number.
_ABBREVIATIONS = frozenset(
    """mr mrs ms dr st prof rev gen col lt sgt capt sen gov ft mt hon vs e.g i.e cf ca approx dept est feat messrs
    b d r c f nr adm cmdr pres supt""".split()
)
_SOFT = frozenset("jr sr inc ltd co corp bros u.s u.k u.n d.c a.m p.m ph.d b.a m.a al etc esq u.s.a b.c a.d".split())
_NUMBERING = frozenset(
    "no nos fig figs vol p pp ch sec art op ed eds pt para jan feb mar apr jun jul aug sep sept oct nov dec".split()
)


def said(fact: Fact) -> str:
    """The text without the speaker in front of it, its letters composed.

    >>> said(Fact("Ana: the build is red.", speaker="Ana")), said(Fact("Docker: use 24.", speaker=None))
    ('the build is red.', 'Docker: use 24.')
    """
    text = fact.text if fact.text.isascii() else unicodedata.normalize("NFC", fact.text)
    speaker = fact.speaker
    if speaker and text[: len(speaker)].casefold() == speaker.casefold():
        after = text[len(speaker) :].lstrip()
        if after.startswith(":"):
            return after[1:].lstrip()
    return text


def sentences(text: str) -> list[str]:
    """The sentences of a text, in order and without the space around them.

    >>> sentences("Dr. J. Smith met Ana at 3 p.m. in St. Louis. It rained! See fig. 2 for v1.2.")
    ['Dr. J. Smith met Ana at 3 p.m. in St. Louis.', 'It rained!', 'See fig. 2 for v1.2.']
    >>> sentences("- use tabs\\n- run `make`\\nand wait")
    ['- use tabs', '- run `make`', 'and wait']
    """
    if _is_one(text):
        return [text.strip()] if text.strip() else []
    found, start = [], 0
    for end in _END.finditer(text):
        if _is_end(text, end):
            found.append(text[start : end.end()].strip())
            start = end.end()
    found.append(text[start:].strip())
    return [sentence for sentence in found if sentence]


def _is_one(text: str) -> bool:
    """Whether nothing before the last letter could end a sentence. To look for each mark is quicker than to look for any."""
    body = text[:-1]
    return text.isascii() and "." not in body and "!" not in body and "?" not in body and "\n" not in text


def _is_end(text: str, end: re.Match[str]) -> bool:
    mark = end.group()
    if "\n" in mark:
        return not _is_wrapped(text, end)
    if mark[0] != ".":
        return True
    return _full_stop_ends(text, end)


def _is_wrapped(text: str, end: re.Match[str]) -> bool:
    """A single line break inside a sentence: a small letter or a comma before it, a small letter after it."""
    before, after = (
        text[max(0, end.start() - _LOOK_BACK) : end.start()].rstrip(" \t")[-1:],
        text[end.end() : end.end() + 4],
    )
    if end.group().count("\n") > 1 or _LIST_ITEM.match(after):
        return False
    return (before == "," or before.islower()) and after[:1].islower()


def _full_stop_ends(text: str, end: re.Match[str]) -> bool:
    last = _last_word(text, end.start()).lower()
    after = _first_word(text, end.end())
    if last in _ABBREVIATIONS:
        return False
    if last in _NUMBERING and after[:1].isdigit():
        return False
    if last in _SOFT or _is_initial(text, end.start()):
        return after.lower() in OPENERS and after[:1].isupper()
    return not after[:1].islower() or (len(last) > 2 and last.isalnum())


def _is_initial(text: str, stop: int) -> bool:
    """A capital standing alone before the full stop, "I" aside."""
    letter, before = text[stop - 1 : stop], text[stop - 2 : stop - 1] if stop > 1 else ""
    return letter.isupper() and letter != "I" and not before.isalnum()


def _last_word(text: str, stop: int) -> str:
    words = text[max(0, stop - _LOOK_BACK) : stop].split()
    return words[-1].lstrip(_AROUND) if words else ""


def _first_word(text: str, start: int) -> str:
    words = text[start : start + _LOOK_AHEAD].split(None, 1)
    return words[0].strip(_AROUND) if words else ""
