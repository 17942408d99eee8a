"""What a setting is: name, default, range, help and value parser; the registry of settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from cofire.errors import InvalidSetting

T = TypeVar("T", bool, int, float, str)


@dataclass(frozen=True, slots=True)
class Knob(Generic[T]):
    """One setting. `kept` ones decide how memory is written and live in the store, so that all its users agree; those that
    `opens` names are needed to open the store, and cannot live in it."""

    name: str
    default: T
    help: str
    source: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    alias: str | None = None
    kept: bool = False
    opens: bool = False

    @property
    def kind(self) -> str:
        return {bool: "true or false", int: "a whole number", float: "a number", str: "a word"}[type(self.default)]

    @property
    def allowed(self) -> str:
        """The range in words, for messages and the reference."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        if self.low is None or self.high is None:
            return self.kind
        return f"{self.kind} from {_format_bound(self.low)} to {_format_bound(self.high)}"

    @property
    def variable(self) -> str:
        """The environment variable that sets it: keyword.k1 is COFIRE_KEYWORD_K1."""
        return "COFIRE_" + self.name.upper().replace(".", "_")

    def read(self, value: object) -> T:
        """The value as this knob's kind, from a value or its text; refused with the allowed range if it does not fit."""
        made = _PARSERS[type(self.default)](value)
        if made is None or not self._admits(made):
            raise InvalidSetting(
                f"{self.name} cannot be {value!r}.",
                way_out=f"It must be {self.allowed} (default {_format_default(self.default)}).",
            )
        return cast(T, made)

    def _admits(self, value: Any) -> bool:
        if self.choices:
            return value in self.choices
        return self.low is None or self.high is None or self.low <= value <= self.high


def _format_bound(bound: float) -> str:
    return f"{bound:,.0f}" if float(bound).is_integer() else f"{bound:g}"


def _format_default(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _parse_bool(value: object) -> bool | None:
    if isinstance(value, bool):
        return value
    known = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
    return known.get(value.strip().lower()) if isinstance(value, str) else None


def _parse_int(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
        return int(number) if number.is_integer() else None
    except (ValueError, OverflowError):
        return None


def _parse_float(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def _parse_str(value: object) -> str | None:
    return value if isinstance(value, str) else None


_PARSERS: dict[type, Any] = {bool: _parse_bool, int: _parse_int, float: _parse_float, str: _parse_str}

KNOBS: dict[str, Knob[Any]] = {}


def declare(knob: Knob[T]) -> Knob[T]:
    """Make a knob known by its name."""
    KNOBS[knob.name] = knob
    return knob
