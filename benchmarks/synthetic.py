"""A synthetic memory: facts, questions and vectors from a seed, without data set or model. The same seed gives the same bytes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np

from cofire.algorithms.vector_similarity import normalise_vectors
from cofire.embedders.base import Embedder, Model, Role, Vectors
from cofire.text.words import extract_words

START = datetime(2025, 1, 1, 8, tzinfo=UTC)

# The most frequent words of English take the first ranks; the rest of the vocabulary is invented.
COMMON = """the of and to in a is that it was for on with as are be this have from or had by but not what all were we when
your can said there use an each which she do how their if will up other about out many then them these so some her would
make like him into time has look two more""".split()
SYLLABLES = "ba co da fe gi ho ju ka le mi no pu ra se ti vo wa xe yo zu bri cal dor fen gar hal".split()
VOCABULARY, NAMES, TAGS, SPEAKERS, SESSION = 30_000, 400, 50, 8, 20
SHORTEST, LONGEST = 12, 28

NAME_WEIGHT = 2.5


@dataclass(frozen=True)
class Synthetic:
    """Facts, and questions that some of them answer."""

    facts: tuple[dict[str, Any], ...]
    questions: tuple[str, ...]


def synthetic(facts: int, questions: int, *, seed: int) -> Synthetic:
    """Facts of about 20 words with Zipf's frequencies, around repeated names; with sessions, speakers and tags."""
    chance = np.random.default_rng(seed)
    lexicon = _lexicon(chance)
    names = [word.capitalize() for word in chance.choice(lexicon[len(COMMON) :], NAMES, replace=False).tolist()]
    made = tuple(_facts(facts, lexicon, names, chance))
    answering = chance.choice(facts, min(questions, facts), replace=False)
    return Synthetic(made, tuple(_question(made[place]["text"], chance) for place in answering))


def strangers(facts: int, *, seed: int) -> tuple[str, ...]:
    """Texts as long as the shortest facts, of unique words: none is similar to another.

    >>> [len(text.split()) for text in strangers(2, seed=1)]
    [12, 12]
    """
    chance = np.random.default_rng(seed)
    made = ("".join(chance.choice(SYLLABLES, 6)) for _ in range(facts * SHORTEST))
    return tuple(f"{' '.join(said)}." for said in zip(*[made] * SHORTEST, strict=True))


def zipf(count: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Shares of the ranks 1…count by the Zipf-Mandelbrot law: 1 / (rank + 2.7), normalised to a sum of one.

    >>> zipf(2).round(3).tolist()
    [0.56, 0.44]
    """
    shares = 1 / (np.arange(1, count + 1) + 2.7)
    return np.asarray(shares / shares.sum())


class SeededVectors:
    """Replaces another embedder under its identity: each word is a random direction, a name a longer one.

    Texts with common words are similar, and those about one name form a cluster, around the other model's mean. `spent` is the CPU
    time of all embedding so far, in seconds, and `waited` its wall time; `spent` may include other threads.
    """

    def __init__(self, like: Embedder) -> None:
        mean = like.mean
        if mean is None:
            raise ValueError(f"{like.model.name} does not know its mean.")
        self.model: Model = like.model
        self.mean: Vectors = mean
        self.resting = like.resting
        self.silent_below = like.silent_below
        self.spent = self.waited = 0.0
        self._reach = np.float32(np.sqrt(max(0.0, 1 - float(mean @ mean))))

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        begun, since = time.process_time(), time.perf_counter()
        headings = normalise_vectors(np.array([self._heading(text) for text in texts], np.float32))
        vectors = normalise_vectors(self.mean + self._reach * headings)
        self.spent += time.process_time() - begun
        self.waited += time.perf_counter() - since
        return vectors

    def close(self) -> None:
        """Do nothing."""

    def _heading(self, text: str) -> Vectors:
        names = {word for chunk in text.split()[1:] if chunk[0].isupper() for word in extract_words(chunk)}
        parts = [direction(word, self.model.dimension) * _weight(word in names) for word in extract_words(text)]
        return np.sum(parts, axis=0) if parts else np.ones(self.model.dimension, np.float32)


@lru_cache(maxsize=VOCABULARY * 2)
def direction(word: str, dimension: int) -> Vectors:
    """The direction of a word, the same in every process."""
    seed = int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "little")
    return normalise_vectors(np.random.default_rng(seed).standard_normal(dimension).astype(np.float32))


def _weight(is_name: bool) -> np.float32:
    return np.float32(NAME_WEIGHT if is_name else 1.0)


def _lexicon(chance: np.random.Generator) -> list[str]:
    """Frequent words first. Invented words have two to four syllables; duplicates are dropped."""
    drawn = chance.integers(0, len(SYLLABLES), (VOCABULARY, 4)).tolist()
    invented = ["".join(SYLLABLES[one] for one in parts[: 2 + place % 3]) for place, parts in enumerate(drawn)]
    return list(dict.fromkeys(COMMON + invented))


def _facts(
    count: int, lexicon: Sequence[str], names: Sequence[str], chance: np.random.Generator
) -> Iterator[dict[str, Any]]:
    lengths = chance.integers(SHORTEST, LONGEST + 1, count)
    drawn = chance.choice(len(lexicon), int(lengths.sum()), p=zipf(len(lexicon)))
    about = chance.choice(len(names), count, p=zipf(len(names)))
    ends = np.cumsum(lengths)
    for place, (end, length) in enumerate(zip(ends.tolist(), lengths.tolist(), strict=True)):
        said = [lexicon[word] for word in drawn[end - length : end].tolist()]
        said.insert(length // 3, names[about[place]])
        yield {
            "text": f"{said[0].capitalize()} {' '.join(said[1:])}.",
            "tags": [f"tag-{tag}" for tag in chance.integers(0, TAGS, chance.integers(0, 4)).tolist()],
            "speaker": f"speaker-{chance.integers(0, SPEAKERS)}",
            "session": f"session-{place // SESSION}",
            "at": START + timedelta(minutes=place),
        }


def _question(text: str, chance: np.random.Generator) -> str:
    """A dozen words: the name of a fact, some of its rarer words and some common ones."""
    said = text.rstrip(".").split()
    name = next(word for word in said[1:] if word[0].isupper())
    rare = [word for word in said[1:] if word not in COMMON and word != name]
    some = list(chance.choice(rare, min(4, len(rare)), replace=False)) if rare else []
    return f"What did {name} say when the {' and the '.join([*some[:2], 'time'])} was with {' '.join(some[2:])}?"
