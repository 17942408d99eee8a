"""cofire: associative memory for AI agents. The public names, loaded when they are first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cofire.async_memory import AsyncMemory
    from cofire.errors import CofireError
    from cofire.memory import Memory
    from cofire.model import Edge, Fact, Link
    from cofire.recall.custom_channels import OwnChannel
    from cofire.results import Hit, Recollection
    from cofire.settings.table import Settings


__version__ = "0.1.0"

_HOME = {
    "AsyncMemory": "cofire.async_memory",
    "CofireError": "cofire.errors",
    "Edge": "cofire.model",
    "Fact": "cofire.model",
    "Hit": "cofire.results",
    "Link": "cofire.model",
    "Memory": "cofire.memory",
    "OwnChannel": "cofire.recall.custom_channels",
    "Recollection": "cofire.results",
    "Settings": "cofire.settings.table",
}

__all__ = [
    "AsyncMemory",
    "CofireError",
    "Edge",
    "Fact",
    "Hit",
    "Link",
    "Memory",
    "OwnChannel",
    "Recollection",
    "Settings",
    "__version__",
]


def __getattr__(name: str) -> object:
    """Load a public name on first use, so that `import cofire` stays as light as the standard library."""
    if name not in _HOME:
        raise AttributeError(f"module 'cofire' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
