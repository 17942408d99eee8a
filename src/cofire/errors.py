"""The exception tree: every error with its way out.

CofireError
├── InvalidInput            also a ValueError: what was given cannot be used
│   ├── InvalidArguments    also a TypeError: a method does not take these arguments
│   ├── InvalidFact         a text, time, tag or other part of a fact
│   ├── InvalidQuestion     a question or one of its filters
│   └── InvalidSetting      a value out of range or of the wrong kind
│       └── UnknownSetting  no setting has this name
├── NotFound                also a LookupError: no such fact
├── StoreError              the store cannot do what was asked
│   ├── StoreNotOpened      the place does not exist or may not be opened
│   ├── StoreUnavailable    its server cannot be reached
│   ├── StoreReadOnly       it may be read but not written
│   ├── StoreFull           no space is left
│   ├── StoreBusy           others kept it locked for too long
│   ├── StoreCorrupt        the file is damaged or not a cofire store
│   ├── StoreTooNew         a newer cofire wrote it
│   ├── StoreClosed         it was closed before, or opened before a fork
│   └── Conflict            somebody else wrote in between
├── ChannelTimedOut         a channel of a user's own took too long
└── EmbedderError           texts cannot be turned into vectors
    ├── EmbedderUnavailable a package, a model or a server is missing
    ├── EmbedderFailed      the model or its server answered with an error
    └── OtherModel          the store holds another model's vectors
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import ClassVar


class CofireError(Exception):
    """What happened, and what to do about it. `index` is the place, from 0, of the refused item among several.

    >>> print(NotFound("No fact has the id 7.", way_out="List the ids with: cofire list"))
    No fact has the id 7. List the ids with: cofire list
    """

    exit_code: ClassVar[int] = 1
    index: int | None = None

    def __init__(self, problem: str, *, way_out: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.way_out = way_out

    def __str__(self) -> str:
        return f"{self.problem} {self.way_out}"


class InvalidInput(CofireError, ValueError):
    exit_code = 2


class InvalidArguments(InvalidInput, TypeError):
    pass


class InvalidFact(InvalidInput):
    pass


class InvalidQuestion(InvalidInput):
    pass


class InvalidSetting(InvalidInput):
    pass


class UnknownSetting(InvalidSetting):
    pass


class NotFound(CofireError, LookupError):
    exit_code = 3


class StoreError(CofireError):
    exit_code = 4


class StoreNotOpened(StoreError):
    pass


class StoreUnavailable(StoreError):
    pass


class StoreReadOnly(StoreError):
    pass


class StoreFull(StoreError):
    pass


class StoreBusy(StoreError):
    pass


class StoreCorrupt(StoreError):
    pass


class StoreTooNew(StoreError):
    pass


class StoreClosed(StoreError):
    pass


class Conflict(StoreError):
    pass


class ChannelTimedOut(CofireError):
    exit_code = 6


class EmbedderError(CofireError):
    exit_code = 5


class EmbedderUnavailable(EmbedderError):
    pass


class EmbedderFailed(EmbedderError):
    pass


class OtherModel(EmbedderError):
    pass


@contextmanager
def map_exceptions(
    table: Mapping[type[BaseException], type[CofireError]], *, problem: str, way_out: str
) -> Iterator[None]:
    """Translate foreign exceptions by the first row of the table that fits; `{error}` in the problem is what the foreign one said."""
    try:
        yield
    except tuple(table) as error:
        kind = next(ours for theirs, ours in table.items() if isinstance(error, theirs))
        raise kind(problem.replace("{error}", str(error)), way_out=way_out) from error


def decode_utf8(raw: bytes, name: str, failure: type[InvalidInput]) -> str:
    """Bytes from outside as text, which they must be; `name` says what they are."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise failure(
            f"{name} is not text in UTF-8: byte {error.start + 1} is 0x{raw[error.start]:02x}.",
            way_out="Convert it to UTF-8 first, for instance with iconv.",
        ) from error
