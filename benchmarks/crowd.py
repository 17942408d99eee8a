"""Writers and readers of `processes.py`, each in its own process, until the time is up."""

from __future__ import annotations

import json
import os
import random
import time
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks.ledger import Ledger, Reader
from benchmarks.synthetic import SeededVectors
from cofire import Fact, Memory
from cofire.embedders.bundled import BundledEmbedder

SCOPE = "crowd"
LARGEST_BATCH = 20
RECENT = 50
WORDS = (
    "amber basin cedar delta ember fjord grove heath inlet jetty knoll ledge marsh north orchard prairie quarry".split()
)

# Shares of a writer's actions; the rest is remembering one own fact.
TELL_AGAIN, FORGET, BATCH = 0.10, 0.10, 0.20


@dataclass(frozen=True)
class Post:
    """The workplace of a process: the folder of the store and the ledgers, the number of writers, and the random seed."""

    folder: Path
    number: int
    writers: int
    seed: int

    @property
    def store(self) -> Path:
        return self.folder / "crowd.db"

    @property
    def word(self) -> Path:
        """The file that starts all processes. It contains the time at which to stop."""
        return self.folder / "until"

    def ledger_of(self, writer: int) -> Path:
        return self.folder / f"writer-{writer}.jsonl"

    def open(self, *, vectors: bool) -> Memory:
        return Memory(self.store, embedder=SeededVectors(BundledEmbedder()) if vectors else None)

    def await_word(self) -> float:
        """Report that the process is ready, wait for the start, and return the time at which to stop."""
        (self.folder / f"ready-{os.getpid()}").touch()
        while not self.word.exists():
            time.sleep(0.01)
        return float(self.word.read_text(encoding="ascii"))

    def note_error(self, what: str) -> None:
        with (self.folder / "errors.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(what) + "\n")

    def errors(self) -> list[str]:
        """The errors of all processes."""
        path = self.folder / "errors.jsonl"
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


class Gossip:
    """The content of the ledgers: ids by text, and ids that are forgotten or about to be."""

    def __init__(self, ledgers: Sequence[Path]) -> None:
        self._readers = [Reader(path) for path in ledgers]
        self.told: dict[str, str] = {}
        self.recent: deque[str] = deque(maxlen=RECENT)
        self.doomed: set[str] = set()
        self.gone: set[str] = set()
        self.begun = 0

    def listen(self) -> None:
        """Read the new entries of every ledger. `begun` counts the texts that a writer has started to remember."""
        for entry in (entry for reader in self._readers for entry in reader.more()):
            if entry.act == "forget":
                (self.gone if entry.done else self.doomed).update(entry.ids)
            elif entry.done:
                self.told.update(zip(entry.ids, entry.texts, strict=True))
                self.recent.extend(entry.ids)
            else:
                self.begun += len(entry.texts)


@dataclass
class Tally:
    """The results of a reader: the time of each question, and the violations."""

    milliseconds: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


def write_guarded(post: Post) -> None:
    """Run a writer in this process."""
    _with_errors_noted(post, lambda: write(post))


def read_guarded(post: Post) -> None:
    """Run a reader in this process and write its tally to a file."""
    tally_file = post.folder / f"reader-{post.number}.json"
    _with_errors_noted(post, lambda: tally_file.write_text(json.dumps(asdict(read(post))), encoding="utf-8"))


def fact(owner: int, number: int) -> Fact:
    """The fact of a writer with a number; every process creates the same."""
    chance = random.Random(f"{owner} {number}")
    said = " ".join(chance.choices(WORDS, k=10))
    return Fact(f"{token(owner, number)} {said}.", session=f"writer-{owner}", scope=SCOPE, tags=(chance.choice(WORDS),))


def token(owner: int, number: int) -> str:
    """A word that only one fact contains.

    >>> token(3, 17)
    'w3n17z'
    """
    return f"w{owner}n{number}z"


def told_again(text: str) -> Fact:
    """The fact that a writer has announced.

    >>> told_again(fact(3, 17).text) == fact(3, 17)
    True
    """
    owner, number = text.split(maxsplit=1)[0].removeprefix("w").removesuffix("z").split("n")
    return fact(int(owner), int(number))


def write(post: Post) -> None:
    """Remember own facts, one or many at a time; store some of other writers again; forget some own facts."""
    until = post.await_word()
    with post.open(vectors=True) as memory:
        writer = Writer(post, memory)
        while time.time() < until:
            writer.act()
        writer.ledger.close()


class Writer:
    """A writer. Its numbers continue those of a killed writer before it."""

    def __init__(self, post: Post, memory: Memory) -> None:
        ledgers = [post.ledger_of(one) for one in range(post.writers)]
        self.number, self.memory = post.number, memory
        self.own, self.others = Gossip([ledgers.pop(post.number)]), Gossip(ledgers)
        self.own.listen()
        self.next = self.own.begun
        self.ledger = Ledger(post.ledger_of(post.number))
        self.chance = random.Random(f"{post.seed} {post.number} {self.next}")

    def act(self) -> None:
        """One random action of a writer."""
        throw = self.chance.random()
        if throw < TELL_AGAIN and (again := self._of_others()):
            return self.remember([again])
        if throw > 1 - FORGET and (mine := self._of_own()):
            return self.forget(mine)
        many = self.chance.randint(2, LARGEST_BATCH) if throw < TELL_AGAIN + BATCH else 1
        self.remember([fact(self.number, self.next + more) for more in range(many)])
        self.next += many

    def remember(self, facts: Sequence[Fact]) -> None:
        texts = [one.text for one in facts]
        self.ledger.will("remember", texts=texts)
        begun = time.perf_counter()
        ids = [self.memory.remember(facts[0])] if len(facts) == 1 else self.memory.remember(facts)
        self.ledger.did("remember", texts=texts, ids=ids, milliseconds=1000 * (time.perf_counter() - begun))

    def forget(self, id: str) -> None:
        self.ledger.will("forget", ids=[id])
        begun = time.perf_counter()
        self.memory.forget(id)
        self.ledger.did("forget", ids=[id], milliseconds=1000 * (time.perf_counter() - begun))

    def _of_others(self) -> Fact | None:
        """A recent fact of another writer, forgotten or not."""
        self.others.listen()
        return told_again(self.others.told[self.chance.choice(self.others.recent)]) if self.others.recent else None

    def _of_own(self) -> str | None:
        """The id of an own fact that is still stored: writers forget only their own facts."""
        self.own.listen()
        mine = [id for id in self.own.recent if self.own.told[id].startswith(f"w{self.number}n")]
        left = [id for id in mine if id not in self.own.doomed]
        return self.chance.choice(left) if left else None


def read(post: Post) -> Tally:
    """Recall facts that were announced recently: they must be found. Forgotten ones must not."""
    until = post.await_word()
    gossip = Gossip([post.ledger_of(one) for one in range(post.writers)])
    chance, tally = random.Random(f"{post.seed} reader {post.number}"), Tally()
    with post.open(vectors=post.number % 2 == 0) as memory:
        while time.time() < until:
            gossip.listen()
            if gossip.recent:
                ask(memory, gossip, chance.choice(gossip.recent), tally)
    return tally


def ask(memory: Memory, gossip: Gossip, id: str, tally: Tally) -> None:
    """Recall by the word that only this fact contains, and compare the answer with the announcements before the question."""
    text, was_gone = gossip.told[id], id in gossip.gone
    begun = time.perf_counter()
    found = memory.recall(text.split(maxsplit=1)[0], scope=SCOPE, k=3)
    tally.milliseconds.append(1000 * (time.perf_counter() - begun))
    if was_gone and id in found.ids:
        tally.wrong.append(f"{text!r} came back after it was forgotten")
    if id not in found.ids:
        gossip.listen()
        if id not in gossip.doomed:
            tally.wrong.append(f"{text!r} was announced and did not come back: {[hit.text for hit in found]}")


def _with_errors_noted(post: Post, work: Callable[[], object]) -> None:
    try:
        work()
    except Exception:
        post.note_error(traceback.format_exc())
        raise
