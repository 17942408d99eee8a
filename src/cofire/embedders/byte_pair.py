"""Byte-level byte-pair tokenizer, as in GPT-2 and RoBERTa.

Special tokens in a text ("<mask>", or the "<s>" of HTML) are plain characters: a text cannot control
the model.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache
from heapq import heappop, heappush
from itertools import count

_MAX_CACHED_WORDS = 1 << 16

# The pattern of GPT-2 in ASCII. `re` has no \\p{L} and \\p{N}: other characters are replaced by an ASCII
# character of their category first.
_WORD = re.compile(r"'s|'t|'re|'ve|'m|'ll|'d| ?[A-Za-z]+| ?[0-9]+| ?[^\sA-Za-z0-9]+|\s+(?!\S)|\s+", re.ASCII)


class BytePairTokenizer:
    """The tokenizer of one model, read from its `tokenizer.json`. Words are cached."""

    def __init__(self, tokenizer: bytes) -> None:
        tables = json.loads(tokenizer)["model"]
        self._numbers: Mapping[str, int] = tables["vocab"]
        self._ranks: Mapping[str, int] = dict(zip(tables["merges"], count(), strict=False))
        self._tokens_of = lru_cache(maxsize=_MAX_CACHED_WORDS)(self._tokens)
        self.opening = self._numbers["<s>"]
        self.closing = self._numbers["</s>"]

    def encode(self, text: str) -> list[int]:
        """The tokens of a text, without the opening and closing ones."""
        return [token for word in split_words(text) for token in self._tokens_of(word)]

    def _tokens(self, word: str) -> list[int]:
        return [self._numbers[part] for part in merge_pairs(_to_byte_characters(word), self._ranks)]


def split_words(text: str) -> Iterator[str]:
    """Split a text as GPT-2 does: runs of letters, digits or signs, each with the space before it.

    >>> list(split_words("It's  5² Grad"))
    ['It', "'s", ' ', ' 5²', ' Grad']
    """
    shape = text if text.isascii() else text.translate(_ASCII_STANDINS)
    return (text[match.start() : match.end()] for match in _WORD.finditer(shape))


def merge_pairs(parts: str, ranks: Mapping[str, int]) -> list[str]:
    """Join neighbours, lowest rank first and leftmost among equals, until no pair has a rank.

    Pairs wait in a heap: a linear scan would be quadratic for ten thousand characters without a space.

    >>> merge_pairs("lower", {"l o": 0, "e r": 1, "lo w": 2})
    ['low', 'er']
    """
    chain = [*parts, ""]  # The empty part ends the chain on both sides: index -1 is the one before the first.
    after = [*range(1, len(chain)), len(parts)]
    before = [*range(-1, len(parts))]
    waiting: list[tuple[int, int, str]] = []

    def offer(place: int) -> None:
        pair = f"{chain[place]} {chain[after[place]]}"
        if pair in ranks:
            heappush(waiting, (ranks[pair], place, pair))

    for place in range(len(parts)):
        offer(place)
    while waiting:
        _, place, pair = heappop(waiting)
        neighbour = after[place]
        if pair != f"{chain[place]} {chain[neighbour]}":
            continue
        chain[place] += chain[neighbour]
        chain[neighbour] = ""
        after[place] = after[neighbour]
        before[after[place]] = place
        offer(before[place])
        offer(place)
    return [part for part in chain if part]


class _AsciiStandins(dict[int, str]):
    """Maps each character to an ASCII character of its category, computed on first use."""

    def __missing__(self, codepoint: int) -> str:
        self[codepoint] = standin = _find_ascii_standin(chr(codepoint))
        return standin


def _find_ascii_standin(character: str) -> str:
    """
    >>> "".join(map(_find_ascii_standin, "aé½ \u3000€"))
    'aA0 \\t!'
    """
    if character.isascii():
        return character
    kind = unicodedata.category(character)[0]
    if kind == "Z" or character == "\x85":
        return "\t"
    return {"L": "A", "N": "0"}.get(kind, "!")


_ASCII_STANDINS = _AsciiStandins()


def _to_byte_characters(word: str) -> str:
    """The bytes of a word as characters, as in the vocabulary. Lone surrogates are encoded too."""
    return word.encode("utf-8", "surrogatepass").decode("latin-1").translate(_BYTE_CHARACTERS)


def _build_byte_characters() -> dict[int, str]:
    """Printable bytes map to themselves, the others to characters from 256 on.

    >>> _build_byte_characters()[ord(" ")]
    'Ġ'
    """
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    hidden = (byte for byte in range(256) if byte not in printable)
    return {byte: chr(byte) for byte in printable} | dict(zip(hidden, map(chr, count(256)), strict=False))


_BYTE_CHARACTERS = _build_byte_characters()
