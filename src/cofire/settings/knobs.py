"""What a setting is: name, default, range, help and parser. `declare` registers it in `KNOBS`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from cofire.errors import InvalidSetting

T = TypeVar("T", bool, int, float, str)

KNOBS: dict[str, Knob[Any]] = {}


@dataclass(frozen=True, slots=True)
class Knob(Generic[T]):
    """One setting.

    A setting that is `kept_in_store` decides how memory is written, so that all users of the store
    share it. One that is `needed_to_open` configures the connection and cannot be kept in the store.
    """

    name: str
    default: T
    help: str
    source: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    alias: str | None = None
    kept_in_store: bool = False
    needed_to_open: bool = False

    @property
    def kind(self) -> str:
        return _KIND_NAMES[type(self.default)]

    @property
    def allowed(self) -> str:
        """The allowed values in words, for messages and the reference."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        if self.low is None or self.high is None:
            return self.kind
        return f"{self.kind} from {_format_bound(self.low)} to {_format_bound(self.high)}"

    @property
    def variable(self) -> str:
        """The environment variable of the setting: COFIRE_KEYWORD_K1 for keyword.k1."""
        return "COFIRE_" + self.name.upper().replace(".", "_")

    def read(self, value: object) -> T:
        """Parse a value or its text. The error for a value out of range states the range."""
        parsed = _PARSERS[type(self.default)](value)
        if parsed is None or not self._allows(parsed):
            raise InvalidSetting(
                f"{self.name} cannot be {value!r}.",
                way_out=f"It must be {self.allowed} (default {_format_default(self.default)}).",
            )
        return cast(T, parsed)

    def _allows(self, value: Any) -> bool:
        if self.choices:
            return value in self.choices
        return self.low is None or self.high is None or self.low <= value <= self.high


def declare(
    name: str,
    default: T,
    *,
    help: str,
    source: str,
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] = (),
    alias: str | None = None,
    kept_in_store: bool = False,
    needed_to_open: bool = False,
) -> Knob[T]:
    """Create a setting and register it by its name."""
    knob = Knob(name, default, help, source, low, high, choices, alias, kept_in_store, needed_to_open)
    KNOBS[name] = knob
    return knob


_KIND_NAMES = {bool: "true or false", int: "a whole number", float: "a number", str: "a word"}
_TRUTH_VALUES = {
    "true": True,
    "yes": True,
    "on": True,
    "1": True,
    "false": False,
    "no": False,
    "off": False,
    "0": False,
}


def _format_bound(bound: float) -> str:
    return f"{bound:,.0f}" if float(bound).is_integer() else f"{bound:g}"


def _format_default(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _parse_bool(value: object) -> bool | None:
    if isinstance(value, bool):
        return value
    return _TRUTH_VALUES.get(value.strip().lower()) if isinstance(value, str) else None


def _parse_int(value: object) -> int | None:
    number = _parse_float(value)
    return int(number) if number is not None and number.is_integer() else None


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
