"""Filter facts by metadata: conditions, their definition, and the encoding that stores index.

Metadata is a flat list of entries to a filter. A nested mapping adds its keys with a dot between, a list adds an entry for each
element. `encode_value` writes a value as text that compares like the value, so that equality and ranges need one text index:

    c      a mapping or a list, which only `exists` looks at
    b0 b1  false and true
    n…     a number: the 64 bits of the float, reordered, then what an integer differs from it
    s…     a string
    z      null
"""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from operator import ge, gt, le, lt
from typing import Any

from cofire.errors import InvalidQuestion

Scalar = str | int | float | bool | None
Metadata = Mapping[str, Any]

COMPARISON_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {"gt": gt, "gte": ge, "lt": lt, "lte": le}
OPERATORS = ("eq", "ne", *COMPARISON_OPERATORS, "exists")
_OPERATOR_ALIASES = {"not": "ne"}
# How other tools write an operator; an error names ours.
_FOREIGN_NAMES = {
    "eq": ("=", "==", "is", "equals", "match", "in", "any"),
    "ne": ("!=", "<>", "neq", "nin", "not_in", "except"),
    "gt": (">", "above", "after", "greater"),
    "gte": (">=", "ge", "min", "from", "since"),
    "lt": ("<", "below", "before", "less"),
    "lte": ("<=", "le", "max", "to", "until"),
    "exists": ("exist", "has", "present"),
}
_FOREIGN_OPERATORS = {foreign: operator for operator, names in _FOREIGN_NAMES.items() for foreign in names}
_SIGN_OPERATORS = {"!=": "ne", ">=": "gte", "<=": "lte", "=": "eq", ">": "gt", "<": "lt", "==": "eq"}
_EXPRESSION_PATTERN = re.compile(r"([^=<>!]+?)\s*([=<>!]+)\s*(.*)", re.DOTALL)
_INT64 = range(-(2**63), 2**63)
_CONTAINER_CODE = "c"
_USAGE_HINT = (
    'Use {"key": value}, {"key": [any, of, these]} or {"key": {operator: value}} with the operators '
    f"{', '.join(OPERATORS)}; values are text, numbers, true, false or null."
)


@dataclass(frozen=True, slots=True)
class Condition:
    """What the metadata of a fact must have under a key. `values` are several for eq and ne, and one for all other operators."""

    key: str
    operator: str
    values: tuple[Scalar, ...]

    @property
    def negated(self) -> bool:
        """Whether it holds for the facts for which its positive form does not: ne, and exists with false."""
        return self.operator == "ne" or (self.operator == "exists" and self.values == (False,))

    @property
    def encoded(self) -> tuple[str, ...]:
        """Its values as stores index them."""
        return tuple(encode_value(value) for value in self.values)

    @property
    def span(self) -> tuple[str, str]:
        """The encoded values that a comparison or `exists` accepts: from the first up to, but without, the second.

        >>> Condition("name", "lte", ("Ana",)).span, Condition("name", "exists", (True,)).span
        (('s', 'sAna\\x00'), ('', '~'))
        """
        if self.operator == "exists":
            return "", "~"
        value = encode_value(self.values[0])
        kind = value[0]
        after = value + "\x00"
        if self.operator in ("gt", "gte"):
            return after if self.operator == "gt" else value, chr(ord(kind) + 1)
        return kind, value if self.operator == "lt" else after

    def holds(self, metadata: Metadata) -> bool:
        """The plain definition of the condition; stores may be cleverer but must agree.

        >>> Condition("page", "gte", (3,)).holds({"page": [1, 7]}), Condition("page", "gte", (3,)).holds({"page": "7"})
        (True, False)
        >>> Condition("page", "ne", (3,)).holds({}), Condition("at.page", "eq", (3,)).holds({"at": {"page": 3.0}})
        (True, True)
        """
        entries = [value for key, value in _flatten_entries(metadata) if key == self.key]
        if self.operator == "exists":
            return bool(entries) == self.values[0]
        if self.operator in COMPARISON_OPERATORS:
            compare = COMPARISON_OPERATORS[self.operator]
            wanted = self.values[0]
            return any(
                _type_code(entry) == _type_code(wanted) and compare(_comparable_value(entry), _comparable_value(wanted))
                for entry in entries
            )
        equal = any(
            _type_code(entry) == _type_code(wanted) and _comparable_value(entry) == _comparable_value(wanted)
            for entry in entries
            for wanted in self.values
        )
        return equal != self.negated


def encode_entries(metadata: Metadata) -> list[tuple[str, str]]:
    """Keys and encoded values of all entries, sorted and without repetition.

    >>> encode_entries({"tags": ["b", "a"], "at": {"page": None}})
    [('at', 'c'), ('at.page', 'z'), ('tags', 'c'), ('tags', 'sa'), ('tags', 'sb')]
    """
    return sorted({(key, encode_value(value)) for key, value in _flatten_entries(metadata)})


def encode_value(value: object) -> str:
    """A value as text that compares like the value, among values of its kind.

    >>> encode_value("tea"), encode_value(True), encode_value(None), encode_value([])
    ('stea', 'b1', 'z', 'c')
    >>> encode_value(-2) < encode_value(-1.5) < encode_value(0) == encode_value(-0.0) < encode_value(
    ...     2**53
    ... ) < encode_value(2**53 + 1)
    True
    """
    kind = _type_code(value)
    if isinstance(value, str):
        return kind + value
    if isinstance(value, bool):
        return f"{kind}{value:d}"
    return kind + _encode_number(_comparable_value(value)) if kind == "n" else kind


def parse_conditions(where: object) -> tuple[Condition, ...]:
    """The conditions of a filter as callers write it; all of them must hold.

    >>> parse_conditions({"project": "x", "priority": {"gte": 3}})
    (Condition(key='project', operator='eq', values=('x',)), Condition(key='priority', operator='gte', values=(3,)))
    """
    if where is None:
        return ()
    if not isinstance(where, Mapping):
        raise InvalidQuestion(f"where must be a mapping, not {type(where).__name__}.", way_out=_USAGE_HINT)
    if not where:
        raise InvalidQuestion("where is empty.", way_out=f"Leave it out to filter by no metadata. {_USAGE_HINT}")
    return tuple(condition for key, wanted in where.items() for condition in _parse_key_conditions(key, wanted))


def conditions_to_mapping(selected: Iterable[Condition]) -> dict[str, Any]:
    """Conditions as callers write them.

    >>> conditions_to_mapping(parse_conditions({"a": ["x", "y"], "b": {"gt": 1, "ne": 5}}))
    {'a': {'eq': ['x', 'y']}, 'b': {'gt': 1, 'ne': 5}}
    """
    mapping: dict[str, Any] = {}
    for condition in selected:
        operators = mapping.setdefault(condition.key, {})
        # Only ne can occur twice, since it has two names; both exclude.
        operators[condition.operator] = [*operators.get(condition.operator, ()), *condition.values]
    return {
        key: {operator: values if len(values) > 1 else values[0] for operator, values in operators.items()}
        for key, operators in mapping.items()
    }


def parse_expressions(expressions: Iterable[str]) -> dict[str, Any]:
    """A filter from texts such as project=x, priority>=3, owner!=Ana, or a key alone, which must exist.

    A number, true, false or null is that value; `=` and `!=` also mean the text that is written so. Text in double quotes is text.
    Of several equalities with one key any may hold.

    >>> parse_expressions(["project=x", "project=y", "priority>=3", "due", "page=7"])
    {'project': {'eq': ['x', 'y']}, 'priority': {'gte': 3}, 'due': {'exists': True}, 'page': {'eq': [7, '7']}}
    """
    where: dict[str, Any] = {}
    for expression in expressions:
        key, operator, values = _parse_expression(expression)
        wanted = where.setdefault(key, {})
        if operator in ("eq", "ne"):
            wanted[operator] = [*wanted.get(operator, ()), *values]
        elif wanted.setdefault(operator, values[0]) != values[0]:
            raise InvalidQuestion(
                f"{key} is compared by {operator} with {wanted[operator]!r} and with {values[0]!r}.",
                way_out="Keep one of the two.",
            )
    return where


def _parse_expression(expression: str) -> tuple[str, str, list[Scalar]]:
    stripped = expression.strip()
    parsed = _EXPRESSION_PATTERN.fullmatch(stripped)
    if parsed is None:
        if not stripped or any(sign in stripped for sign in "=<>!"):
            raise InvalidQuestion(
                f"where cannot be {expression!r}.",
                way_out=f"Use KEY, or KEY and VALUE with one of {' '.join(_SIGN_OPERATORS)} between, as in priority>=3.",
            )
        return stripped, "exists", [True]
    key, sign, written = parsed.groups()
    if sign not in _SIGN_OPERATORS:
        raise InvalidQuestion(
            f"where has no operator {sign} (in {expression!r}).",
            way_out=f"Use one of {' '.join(_SIGN_OPERATORS)}. Put a value that begins with such a sign in double quotes.",
        )
    operator, value = _SIGN_OPERATORS[sign], _read_value(written)
    also_text = operator in ("eq", "ne") and not isinstance(value, str)
    return key.strip(), operator, [value, written] if also_text else [value]


def _read_value(written: str) -> Scalar:
    try:
        value = json.loads(written)
    except (ValueError, RecursionError):
        return written
    return value if _is_scalar(value) else written


def _parse_key_conditions(key: object, wanted: object) -> Iterator[Condition]:
    if not isinstance(key, str) or not key:
        raise InvalidQuestion(f"where has the key {key!r}; a key is text.", way_out=_USAGE_HINT)
    _refuse_unwritable(key)
    if not isinstance(wanted, Mapping):
        yield Condition(key, "eq", _parse_values(key, "eq", wanted))
        return
    if not wanted:
        raise InvalidQuestion(f"where has an empty condition for {key}.", way_out=_USAGE_HINT)
    for name, value in wanted.items():
        operator = _resolve_operator(key, name)
        yield Condition(key, operator, _parse_values(key, operator, value))


def _resolve_operator(key: str, name: object) -> str:
    """The operator of a name; an unknown name is refused with the nearest operator, or as metadata that is nested."""
    if isinstance(name, str):
        operator = _OPERATOR_ALIASES.get(name, name)
        if operator in OPERATORS:
            return operator
    plain = str(name).lower().removeprefix("$")
    spellings = _FOREIGN_OPERATORS | _OPERATOR_ALIASES | {operator: operator for operator in OPERATORS}
    near = spellings.get(plain) or "".join(get_close_matches(plain, OPERATORS, n=1))
    if near:
        hint = f"Did you mean {near}{', which takes a list as well' if plain in ('in', 'nin', 'not_in') else ''}?"
    else:
        hint = f'For nested metadata, use the key "{key}.{name}".'
    raise InvalidQuestion(f"where has no operator {name!r} (for {key}).", way_out=f"{hint} {_USAGE_HINT}")


def _parse_values(key: str, operator: str, given: object) -> tuple[Scalar, ...]:
    """The values of a condition, checked against what its operator takes."""
    values: list[Any] = [given]
    if operator in ("eq", "ne") and isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping):
        values = list(given)
    if not values:
        raise InvalidQuestion(f"where has an empty list for {key}.", way_out="Give at least one value.")
    for value in values:
        _refuse_unless_scalar(key, operator, value)
    if operator in COMPARISON_OPERATORS and _type_code(values[0]) not in ("n", "s"):
        raise InvalidQuestion(
            f"where cannot order {key} by {values[0]!r}.", way_out=f"{operator} takes a number or text."
        )
    if operator == "exists" and not isinstance(values[0], bool):
        raise InvalidQuestion(f"exists cannot be {values[0]!r} (for {key}).", way_out="Give true or false.")
    return tuple(str.__str__(value) if isinstance(value, str) else value for value in values)


def _refuse_unless_scalar(key: str, operator: str, value: object) -> None:
    if isinstance(value, str):
        _refuse_unwritable(value)
    if _is_scalar(value):
        return
    if isinstance(value, date):
        hint = f'Metadata holds JSON: compare with ISO text, "{value.isoformat()}".'
    elif isinstance(value, Mapping):
        hint = f'For nested metadata, use a key with a dot, as in "{key}.{next(iter(value), "name")}".'
    elif isinstance(value, Sequence) and not isinstance(value, bytes) and operator not in ("eq", "ne"):
        hint = f"{operator} takes one value; only eq and ne take a list."
    else:
        hint = f"A value of type {type(value).__name__} cannot be in metadata, which holds JSON."
    if isinstance(value, float):
        hint = "Give a finite number."
    raise InvalidQuestion(f"where cannot compare {key} with {value!r}.", way_out=f"{hint} {_USAGE_HINT}")


def _refuse_unwritable(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as problem:
        raise InvalidQuestion(
            f"where has an unpaired surrogate at position {problem.start} of {text!r}, which is not valid Unicode.",
            way_out="Decode the input as UTF-8 again.",
        ) from problem


def _is_scalar(value: object) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or isinstance(value, str | int)


def _flatten_entries(metadata: Metadata) -> Iterator[tuple[str, Any]]:
    """Keys and values; what is nested has the keys of all levels with dots between."""
    for key, value in metadata.items():
        yield from _flatten_under(key, value)


def _flatten_under(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        yield key, value
        for name, nested in value.items():
            yield from _flatten_under(f"{key}.{name}", nested)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        yield key, value
        for element in value:
            yield from _flatten_under(key, element)
    else:
        yield key, value


def _type_code(value: object) -> str:
    """The first letter of the encoded value."""
    if value is None:
        return "z"
    if isinstance(value, bool):
        return "b"
    if isinstance(value, int | float):
        return "n"
    return "s" if isinstance(value, str) else _CONTAINER_CODE


def _comparable_value(value: Any) -> Any:
    """The value as it is compared: integers of more than 64 bits as floats."""
    if isinstance(value, bool) or not isinstance(value, int) or value in _INT64:
        return value
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _encode_number(value: int | float) -> str:
    """20 hexadecimal digits in the order of the numbers.

    The bits of a positive float are in order as an integer; those of a negative one are in order when inverted. An integer that no
    float equals is within 512 of the nearest, and that difference decides between those with the same nearest float.
    """
    nearest = float(value) + 0.0
    (bits,) = struct.unpack(">Q", struct.pack(">d", nearest))
    ordered = bits ^ (0xFFFF_FFFF_FFFF_FFFF if bits >> 63 else 1 << 63)
    difference = value - int(nearest) if isinstance(value, int) else 0
    return f"{ordered:016x}{0x8000 + difference:04x}"
