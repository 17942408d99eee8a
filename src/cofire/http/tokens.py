"""The access token: made once, kept in a file that only its owner can read."""

from __future__ import annotations

import hmac
import os
import secrets
import stat
from pathlib import Path

import platformdirs

from cofire.errors import InvalidInput, StoreNotOpened, map_exceptions

TOKEN_BYTES = 32
MIN_TOKEN_LENGTH = 32
OWNER_ONLY_MODE = 0o600


def token_path() -> Path:
    """Where the token is kept: beside the default store, in the user's data folder."""
    return Path(platformdirs.user_data_dir("cofire")) / "http-token"


def load_or_make_token(path: Path) -> str:
    """The token of a file, which is made where it is not there yet."""
    with map_exceptions(
        {OSError: StoreNotOpened},
        problem=f"The token file {path} cannot be used: {{error}}.",
        way_out="Mend its permissions, or remove it; a new one is made at the next start.",
    ):
        return _read_token_file(path) if os.path.lexists(path) else _make_token_file(path)


def is_same_token(given: str, token: str) -> bool:
    """Compared in a time that does not tell how much of it is right.

    >>> is_same_token("abc", "abc"), is_same_token("abd", "abc"), is_same_token("ä", "abc")
    (True, False, False)
    """
    return hmac.compare_digest(given.encode("utf-8", "replace"), token.encode("utf-8"))


def _make_token_file(path: Path) -> str:
    token = secrets.token_urlsafe(TOKEN_BYTES)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY_MODE)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(token + "\n")
    return token


def _read_token_file(path: Path) -> str:
    _refuse_if_others_can_read(path)
    token = path.read_text(encoding="utf-8", errors="replace").strip()
    if len(token) < MIN_TOKEN_LENGTH or not token.isascii() or not token.isprintable():
        raise InvalidInput(
            f"The token file {path} holds no token of at least {MIN_TOKEN_LENGTH} letters.",
            way_out="Remove it; a new one is made at the next start.",
        )
    return token


def _refuse_if_others_can_read(path: Path) -> None:
    """Windows has no such bits: there the user's folder is closed to others."""
    if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise InvalidInput(
            f"Others may have read the token in {path}.",
            way_out="Remove the file; a new one is made at the next start, with mode 600.",
        )
