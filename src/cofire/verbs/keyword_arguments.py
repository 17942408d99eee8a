"""Check and document the keyword arguments of public methods."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import wraps
from inspect import Parameter, Signature
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

from cofire.errors import InvalidArguments
from cofire.runtime.streams import StreamingMethod

C = TypeVar("C", bound=type)

# Names that other libraries use for a parameter. If a method has several candidates, the first one in
# this table is suggested.
SYNONYMS: dict[str, tuple[str, ...]] = {
    "k": ("top_k", "topk", "n", "limit", "count", "n_results", "num_results", "max_results", "top_n"),
    "limit": ("k", "top_k", "topk", "n", "count", "n_results", "num_results", "max_results", "top_n", "page_size"),
    "scope": ("user_id", "user", "agent_id", "namespace", "tenant", "collection", "group_id", "project", "container"),
    "session": ("session_id", "thread_id", "run_id", "conversation_id", "chat_id", "thread"),
    "query": ("question", "q", "text", "prompt", "search"),
    "text": ("content", "message", "messages", "memory", "fact", "facts", "texts", "document", "data", "given"),
    "ids": ("id", "fact_id", "fact_ids", "memory_id", "seeds", "seed"),
    "id": ("ids", "fact_id", "memory_id"),
    "kind": ("type", "relation", "relationship", "category", "label"),
    "category": ("type", "kind"),
    "tags": ("tag", "labels", "label", "topics"),
    "at": ("time", "timestamp", "when", "date", "created_at"),
    "since": ("after", "start", "from_date"),
    "until": ("before", "end", "to_date"),
    "as_of": ("valid_at", "at", "snapshot"),
    "before": ("cursor", "offset"),
    "expires": ("ttl", "expires_at", "expiry", "expiration"),
    "store": ("path", "url", "uri", "file", "db", "database", "storage"),
    "embedder": ("embedding", "embeddings", "model", "embedding_model"),
    "source": ("from_id", "src", "path", "url", "origin", "file"),
    "target": ("to_id", "dst", "destination"),
    "weight": ("strength",),
    "speaker": ("role", "author", "name"),
    "subject": ("title", "topic", "about"),
    "where": ("filter", "filters", "conditions"),
    "metadata": ("meta", "payload", "attributes", "extra"),
    "budget": ("max_tokens", "tokens", "token_budget", "token_limit"),
    "helped": ("good", "useful", "positive", "helpful"),
    "hurt": ("bad", "harmful", "negative", "useless"),
    "dry_run": ("preview", "simulate"),
    "max_depth": ("depth", "hops", "max_hops"),
    "settings": ("config", "options"),
    "path": ("file", "filename", "to"),
}


def check_keywords(cls: C) -> C:
    """Class decorator: public methods refuse unknown arguments, and `help()` shows every keyword.

    Keywords typed as `**keywords: Unpack[SomeTypedDict]` appear one by one in the signature. Their
    help, in `Annotated[type, "help"]`, is appended to the docstring.

    >>> from typing import TypedDict, Unpack
    >>> Size = TypedDict("Size", {"width": Annotated[int, "In millimetres."]}, total=False)
    >>> @check_keywords
    ... class Pen:
    ...     def draw(self, shape: str, **size: Unpack[Size]) -> str:
    ...         '''Draw a shape.'''
    ...         return shape
    >>> str(inspect.signature(Pen.draw)), Pen().draw("box", width=3)
    ("(self, shape: 'str', *, width: int = None) -> 'str'", 'box')
    >>> print(Pen.draw.__doc__)
    Draw a shape.
    <BLANKLINE>
    width: In millimetres.
    >>> Pen().draw("box", widht=3)
    Traceback (most recent call last):
        ...
    cofire.errors.InvalidArguments: Pen.draw() has no keyword argument “widht”. Did you mean width? It takes: shape, width.
    """
    for name, member in list(vars(cls).items()):
        if name.startswith("_") and name != "__init__":
            continue
        if isinstance(member, StreamingMethod):
            setattr(cls, name, StreamingMethod(_check_method(member.method, cls.__name__), member.whole))
        elif inspect.isfunction(member):
            setattr(cls, name, _check_method(member, cls.__name__))
    return cls


def copy_docstrings(origin: type) -> Callable[[C], C]:
    """Class decorator: methods take the full docstring of the method with the same name in `origin`."""

    def decorate(cls: C) -> C:
        for name, member in list(vars(cls).items()):
            documented = getattr(origin, name, None)
            if name.startswith("_") or documented is None:
                continue
            method = member.method if isinstance(member, StreamingMethod) else member
            method.__doc__ = documented.__doc__
            if isinstance(member, StreamingMethod):
                setattr(cls, name, StreamingMethod(method, member.whole))
        return cls

    return decorate


@dataclass(frozen=True, slots=True)
class _Keywords:
    """The signature of a method with all keywords, those of its TypedDict, and the docstring."""

    signature: Signature
    typed: frozenset[str]
    docstring: str | None


def _check_method(method: Callable[..., Any], owner: str) -> Callable[..., Any]:
    label = owner if method.__name__ == "__init__" else f"{owner}.{method.__name__}"
    keywords = _read_keywords(method)
    names = frozenset(keywords.signature.parameters)
    parameters = keywords.signature.parameters.values()
    positional = [parameter.name for parameter in parameters if parameter.kind is Parameter.POSITIONAL_OR_KEYWORD]

    @wraps(method)
    def checked(*args: Any, **kwargs: Any) -> Any:
        unknown = [name for name in kwargs if name not in names]
        if unknown:
            raise _unknown_keyword(label, unknown[0], names)
        if len(args) > len(positional):
            raise _too_many_arguments(label, positional, names)
        # A retried verb reads its keywords again, but an iterator is exhausted after one pass.
        for name in keywords.typed & kwargs.keys():
            if isinstance(kwargs[name], Iterator):
                kwargs[name] = tuple(kwargs[name])
        return method(*args, **kwargs)

    result = _as_coroutine_function(checked) if inspect.iscoroutinefunction(method) else checked
    result.__doc__ = keywords.docstring
    result.__signature__ = keywords.signature  # type: ignore[attr-defined]
    return result


def _as_coroutine_function(checked: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(checked)
    async def awaited(*args: Any, **kwargs: Any) -> Any:
        return await checked(*args, **kwargs)

    return awaited


def _read_keywords(method: Callable[..., Any]) -> _Keywords:
    signature = inspect.signature(method)
    parameters = list(signature.parameters.values())
    docstring = inspect.getdoc(method)
    if not parameters or parameters[-1].kind is not Parameter.VAR_KEYWORD:
        return _Keywords(signature, frozenset(), docstring)
    unpacked = get_type_hints(method, include_extras=True)[parameters[-1].name]
    (typed_dict,) = get_args(unpacked)
    types = get_type_hints(typed_dict)
    typed_parameters = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, annotation in types.items()
    ]
    help_lines = [
        f"{name}: {get_args(annotation)[1]}"
        for name, annotation in get_type_hints(typed_dict, include_extras=True).items()
        if get_origin(annotation) is Annotated
    ]
    return _Keywords(
        signature.replace(parameters=[*parameters[:-1], *typed_parameters]),
        frozenset(types),
        _append_lines(docstring, help_lines),
    )


def _append_lines(docstring: str | None, lines: list[str]) -> str | None:
    """The docstring with the keyword lines. A blank line follows a summary."""
    if not docstring or not lines:
        return docstring
    separator = "\n" if "\n\n" in docstring else "\n\n"
    return docstring + separator + "\n".join(lines)


def _unknown_keyword(label: str, name: str, names: frozenset[str]) -> InvalidArguments:
    suggestion = find_near_miss(name, names)
    hint = f"Did you mean {suggestion}? " if suggestion else ""
    return InvalidArguments(
        f"{label}() has no keyword argument “{name}”.", way_out=f"{hint}It takes: {_list_names(names)}."
    )


def _too_many_arguments(label: str, positional: list[str], names: frozenset[str]) -> InvalidArguments:
    by_position = [name for name in positional if name != "self"]
    taken = f"only {', '.join(by_position)}" if by_position else "nothing"
    rest = names - set(positional)
    way_out = f"Give the others by name: {_list_names(rest)}." if rest else f"It takes: {_list_names(names)}."
    return InvalidArguments(f"{label}() takes {taken} by position.", way_out=way_out)


def find_near_miss(name: str, names: frozenset[str]) -> str | None:
    """The name that was probably meant: by a synonym of other libraries, or by a similar spelling.

    >>> find_near_miss("top_k", frozenset({"query", "k"})), find_near_miss("top_k", frozenset({"limit"}))
    ('k', 'limit')
    >>> find_near_miss("qurey", frozenset({"query", "k"})), find_near_miss("colour", frozenset({"query"}))
    ('query', None)
    """
    for candidate, synonyms in SYNONYMS.items():
        if candidate in names and name.lower() in synonyms:
            return candidate
    similar = get_close_matches(name.lower(), sorted(names - {"self"}), n=1)
    return similar[0] if similar else None


def _list_names(names: frozenset[str]) -> str:
    return ", ".join(sorted(names - {"self"})) or "nothing"
