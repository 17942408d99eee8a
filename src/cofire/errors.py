"""All exceptions. Each has a problem and a way out.

CofireError
├── InvalidInput            also a ValueError: an argument is invalid
│   ├── InvalidArguments    also a TypeError: a method does not accept these arguments
│   ├── InvalidFact         a text, time, tag or other field of a fact
│   ├── InvalidQuestion     a question or one of its filters
│   └── InvalidSetting      a value out of range or of the wrong kind
│       └── UnknownSetting  no setting has this name
├── NotFound                also a LookupError: no such fact
├── StoreError              the store cannot complete the operation
│   ├── StoreNotOpened      the location does not exist or cannot be opened
│   ├── StoreUnavailable    the server cannot be reached
│   ├── StoreReadOnly       the store can be read but not written
│   ├── StoreFull           no space is left
│   ├── StoreBusy           the store stayed locked for too long
│   ├── StoreCorrupt        the file is damaged or not a cofire store
│   ├── StoreTooNew         a newer cofire wrote it
│   ├── StoreClosed         the store is closed, or was opened before a fork
│   └── Conflict            another process wrote in between
├── ChannelTimedOut         a custom channel exceeded its time limit
└── EmbedderError           texts cannot be embedded
    ├── EmbedderUnavailable a package, a model or a server is missing
    ├── EmbedderFailed      the model or its server answered with an error
    └── OtherModel          the store holds another model's vectors
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar


class CofireError(Exception):
    """A problem and its way out. `index` is the position, from 0, of the rejected item in a batch.

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
    """Translate foreign exceptions by the first matching row of the table. `{error}` in the problem is their message."""
    try:
        yield
    except tuple(table) as error:
        kind = next(ours for theirs, ours in table.items() if isinstance(error, theirs))
        raise kind(problem.replace("{error}", str(error)), way_out=way_out) from error


def decode_utf8(raw: bytes, name: str, failure: type[InvalidInput]) -> str:
    """Decode bytes as UTF-8. `name` describes them in the error."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise failure(
            f"{name} is not UTF-8 text: byte {error.start + 1} is 0x{raw[error.start]:02x}.",
            way_out="Convert it to UTF-8 first, for example with iconv.",
        ) from error


# Commands for the way out of a missing package or an old version.


def install_command(extra: str) -> str:
    """The command that installs an extra from the source of this copy: an index, a folder, a wheel or a repository."""
    source = read_install_source()
    if source is None:
        return f'pip install "cofire[{extra}]"'
    if source.get("dir_info", {}).get("editable"):
        return f'pip install --editable "{_local_path(source)}[{extra}]"'
    return f'pip install "cofire[{extra}] @ {_requirement_url(source)}"'


def upgrade_command() -> str:
    """The command that installs the newest version from the source of this copy."""
    source = read_install_source()
    if source is None:
        return "pip install --upgrade cofire"
    if source.get("dir_info", {}).get("editable"):
        return f"git -C {_local_path(source)} pull"
    return f'pip install --upgrade "cofire @ {_requirement_url(source)}"'


def read_install_source() -> dict[str, Any] | None:
    """The source of this copy (PEP 610); None for a package index."""
    # Slow to import, and needed for error messages only.
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        record = distribution("cofire").read_text("direct_url.json")
    except PackageNotFoundError:
        return None
    return json.loads(record) if record else None


def _local_path(source: Mapping[str, Any]) -> str:
    return str(source["url"]).removeprefix("file://")


def _requirement_url(source: Mapping[str, Any]) -> str:
    repository = source.get("vcs_info", {}).get("vcs")
    return f"{repository}+{source['url']}" if repository else str(source["url"])
