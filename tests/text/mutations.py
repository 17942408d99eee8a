"""Changes of spaces, case, punctuation, Unicode and length that occur in real text."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Callable

Mutation = Callable[[str, random.Random], str]

SPACES = (
    " ",
    "  ",
    "\t",
    "\n",
    "\r\n",
    "\n\n",
    "\u00a0",
    "\u2003",
    "\u2009",
    "\u3000",
    "\u2028",
    "\x0b",
    "\x0c",
    "\x1c",
    "\x85",
)
PUNCTUATION = tuple(".,;:!?'\"`()[]{}<>-–—_/\\|@#$%^&*+=~…“”‘’«»„¿¡、。「」（）•·§")
INVISIBLE = (
    "\u200b",
    "\u200c",
    "\u200d",
    "\u2060",
    "\ufeff",
    "\u00ad",
    "\u200e",
    "\u200f",
    "\u202e",
    "\u2066",
    "\u2069",
)
EMOJI = ("😀", "👩‍💻", "👍🏽", "🇩🇪", "❤️", "1️⃣", "🏴󠁧󠁢󠁥󠁮󠁧󠁿")
COMBINING = ("\u0301", "\u0308", "\u0323", "\u20dd", "\u0489", "\u064b")
CONTROL = ("\x01", "\x07", "\x08", "\x1b[31m", "\x7f", "\x9f", "\ufffd", "\ufffe")
RIGHT_TO_LEFT = ("שלום", "مرحبا بالعالم", "١٢٣", "۲۰۲۴")
ODD_LETTERS = (
    "İ",
    "ı",
    "ß",
    "ẞ",
    "ſ",
    "ŉ",
    "ǆ",
    "ǅ",
    "ﬁ",
    "Σ",
    "ς",
    "Ω",
    "K",
    "ª",
    "²",
    "½",
    "Ⅷ",
    "①",
    "𝔸",
    "𝟘",
    "ー",
    "가",
    "ᾳ",
    "ΐ",
)


def spaces_doubled(text: str, chance: random.Random) -> str:
    return text.replace(" ", "  ")


def spaces_exchanged(text: str, chance: random.Random) -> str:
    return "".join(chance.choice(SPACES) if letter.isspace() else letter for letter in text)


def spaces_removed(text: str, chance: random.Random) -> str:
    return "".join(letter for letter in text if not letter.isspace() or chance.random() < 0.5)


def spaces_around(text: str, chance: random.Random) -> str:
    return f"{chance.choice(SPACES)}{text}{chance.choice(SPACES)}"


def upper_case(text: str, chance: random.Random) -> str:
    return text.upper()


def lower_case(text: str, chance: random.Random) -> str:
    return text.lower()


def title_case(text: str, chance: random.Random) -> str:
    return text.title()


def swapped_case(text: str, chance: random.Random) -> str:
    return "".join(letter.swapcase() if chance.random() < 0.3 else letter for letter in text)


def punctuation_added(text: str, chance: random.Random) -> str:
    return _insert(text, PUNCTUATION, chance)


def punctuation_removed(text: str, chance: random.Random) -> str:
    return "".join(letter for letter in text if letter.isalnum() or letter.isspace())


def punctuation_repeated(text: str, chance: random.Random) -> str:
    return "".join(
        letter if letter.isalnum() or letter.isspace() else letter * chance.choice((1, 2, 7)) for letter in text
    )


def words_to_punctuation(text: str, chance: random.Random) -> str:
    words = text.split(" ")
    return " ".join(chance.choice(PUNCTUATION) if chance.random() < 0.25 else word for word in words)


def decomposed(text: str, chance: random.Random) -> str:
    return unicodedata.normalize("NFD", text)


def compatible(text: str, chance: random.Random) -> str:
    return unicodedata.normalize("NFKC", text)


def full_width(text: str, chance: random.Random) -> str:
    return "".join(
        chr(ord(letter) + 0xFEE0) if "!" <= letter <= "~" and chance.random() < 0.5 else letter for letter in text
    )


def invisible_added(text: str, chance: random.Random) -> str:
    return _insert(text, INVISIBLE, chance)


def emoji_added(text: str, chance: random.Random) -> str:
    return _insert(text, EMOJI, chance)


def combining_added(text: str, chance: random.Random) -> str:
    return _insert(text, COMBINING, chance)


def control_added(text: str, chance: random.Random) -> str:
    return _insert(text, CONTROL, chance)


def right_to_left_added(text: str, chance: random.Random) -> str:
    return _insert(text, RIGHT_TO_LEFT, chance)


def letters_exchanged(text: str, chance: random.Random) -> str:
    return "".join(chance.choice(ODD_LETTERS) if chance.random() < 0.08 else letter for letter in text)


def letters_of_equal_fold(text: str, chance: random.Random) -> str:
    """Letters that a pattern without regard to case takes for plain ones."""
    return text.translate(
        str.maketrans({"s": "ſ", "K": "\u212a", "k": "\u212a", "i": "İ" if chance.random() < 0.3 else "i"})
    )


def digits_exchanged(text: str, chance: random.Random) -> str:
    return "".join(chance.choice("0123456789٣७²½") if letter.isdigit() else letter for letter in text)


def cut_at_end(text: str, chance: random.Random) -> str:
    return text[: chance.randint(1, max(1, len(text)))]


def cut_at_start(text: str, chance: random.Random) -> str:
    return text[chance.randint(0, max(0, len(text) - 1)) :]


def words_dropped(text: str, chance: random.Random) -> str:
    return " ".join(word for word in text.split(" ") if chance.random() < 0.7)


def words_repeated(text: str, chance: random.Random) -> str:
    return " ".join(" ".join([word] * chance.choice((1, 1, 1, 2, 5))) for word in text.split(" "))


def words_shuffled(text: str, chance: random.Random) -> str:
    words = text.split(" ")
    chance.shuffle(words)
    return " ".join(words)


def wrongly_decoded(text: str, chance: random.Random) -> str:
    return text.encode("utf-8").decode("latin-1")


MUTATIONS: tuple[Mutation, ...] = (
    spaces_doubled,
    spaces_exchanged,
    spaces_removed,
    spaces_around,
    upper_case,
    lower_case,
    title_case,
    swapped_case,
    punctuation_added,
    punctuation_removed,
    punctuation_repeated,
    words_to_punctuation,
    decomposed,
    compatible,
    full_width,
    invisible_added,
    emoji_added,
    combining_added,
    control_added,
    right_to_left_added,
    letters_exchanged,
    letters_of_equal_fold,
    digits_exchanged,
    cut_at_end,
    cut_at_start,
    words_dropped,
    words_repeated,
    words_shuffled,
    wrongly_decoded,
)


def mutate(text: str, mutations: tuple[Mutation, ...], seed: int) -> str:
    """The text after several changes in their order; the same seed gives the same text."""
    chance = random.Random(seed)
    for mutation in mutations:
        text = mutation(text, chance)
    return text


def _insert(text: str, inserts: tuple[str, ...], chance: random.Random) -> str:
    return "".join(f"{letter}{chance.choice(inserts)}" if chance.random() < 0.12 else letter for letter in text)
