"""The arguments of a recall: filters and limits from callers, checked into one request."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, TypedDict

from cofire.errors import InvalidQuestion
from cofire.model import DEFAULT_SCOPE, FactFilter
from cofire.settings.presets import PRESETS, RECALL_MODES, STRATEGIES, PresetName, RecallMode, Strategy
from cofire.settings.table import RECALL_BUDGET, RECALL_HEADROOM, RECALL_K, Settings, check_settings_mapping
from cofire.stores.metadata_filter import parse_conditions
from cofire.verbs import validation

_DAY_PATTERN = re.compile(r"\d{4}-\d{2}-\d{2}")

NamesInput = str | Iterable[str] | None
TimeInput = datetime | date | str | None


class FilterOptions(TypedDict, total=False):
    """Which facts may be seen, in the words of callers."""

    scope: Annotated[NamesInput, "Only facts of these scopes; recall searches the scope “default” unless given."]
    session: Annotated[NamesInput, "Only facts of these sessions."]
    tags: Annotated[NamesInput, "Only facts that have all of these tags."]
    category: Annotated[NamesInput, "Only facts of these categories."]
    speaker: Annotated[NamesInput, "Only facts said by these speakers."]
    where: Annotated[
        Mapping[str, object] | None,
        'Only facts whose metadata match: {"project": "x"}, {"project": ["x", "y"]} (any of these) or {"priority": {"gte": 3}} with '
        "eq, ne, gt, gte, lt, lte or exists. All keys must match; a dot reaches into nested metadata.",
    ]
    since: Annotated[TimeInput, "Only facts from this time on: a datetime, a date, or ISO text such as 2026-05-08."]
    until: Annotated[TimeInput, "Only facts up to this time; a day counts to its end."]
    as_of: Annotated[TimeInput, "Search the facts that were valid at this time."]
    community: Annotated[int | None, "Only facts of the community with this number."]


class RecallOptions(FilterOptions, total=False):
    """Everything a caller of `recall` may say besides the question."""

    k: Annotated[int | None, "Maximum number of facts, from 1 to 1,000. Default: the setting recall.k (10)."]
    budget: Annotated[int | None, "Maximum number of tokens of all texts together. Default: the setting recall.budget."]
    cue_tags: Annotated[NamesInput, "Tags to prefer, without excluding other facts."]
    mode: Annotated[
        RecallMode | None,
        "no_recall (return nothing), minimal (search by words alone), full (all channels) or graph (all channels, and the "
        "graph is followed as far as the settings allow). Default: chosen by the question.",
    ]
    strategy: Annotated[
        Strategy | None,
        "The kind of question: multi_hop, general, temporal, opinion, factual or entity. It decides the weight of the graph. "
        "Default: chosen by the question.",
    ]
    preset: Annotated[PresetName | None, f"Settings under a name, for this call: {', '.join(PRESETS)}."]
    settings: Annotated[Mapping[str, object] | None, 'Settings for this call, by name: {"recall.headroom": 100}.']


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """A question ready to be worked on."""

    text: str
    where: FactFilter
    scopes: tuple[str, ...]
    k: int
    budget: int | None
    mode: str | None
    strategy: str | None
    cue_tags: frozenset[str]
    settings: Settings

    @property
    def headroom(self) -> int:
        """How many candidates a channel is asked for."""
        return self.settings[RECALL_HEADROOM] + self.k


def apply_call_settings(options: RecallOptions, settings: Settings) -> Settings:
    """The settings with those of a call laid over them."""
    given, preset = options.get("settings"), options.get("preset")
    if not given and preset is None:
        return settings
    own = check_settings_mapping(given or {})
    if preset is not None:
        own["preset"] = preset
    return settings.over(own)


def make_request(text: object, options: RecallOptions, now: datetime, settings: Settings) -> RecallRequest:
    """Check all that was asked for; call settings lie over the others."""
    settings = apply_call_settings(options, settings)
    scopes = resolve_scopes(options.get("scope"))
    return RecallRequest(
        text=validation.parse_question(text),
        where=build_filter(options, now),
        scopes=scopes,
        k=validation.check_count(_value_or_default(options.get("k"), settings[RECALL_K]), "k", low=1, high=1_000),
        budget=_check_budget(options.get("budget"), settings),
        mode=_check_choice(options.get("mode"), "mode", RECALL_MODES),
        strategy=_check_choice(options.get("strategy"), "strategy", STRATEGIES),
        cue_tags=frozenset(validation.parse_tags(options.get("cue_tags"), InvalidQuestion)),
        settings=settings,
    )


def build_filter(
    asked: FilterOptions, now: datetime, *, everywhere: bool = False, whenever: bool = False
) -> FactFilter:
    """The filter that the given words describe. `everywhere` sees all scopes unless some are named; `whenever` also sees
    what has run out, is not valid now, or is archived: it is for the keeper of the store."""
    scopes = None if everywhere and asked.get("scope") is None else resolve_scopes(asked.get("scope"))
    since = validation.parse_time(asked.get("since"), "since", InvalidQuestion)
    until = validation.parse_time(_extend_to_day_end(asked.get("until")), "until", InvalidQuestion)
    if since and until and since > until:
        raise InvalidQuestion(
            f"Nothing is both since {since.isoformat()} and until {until.isoformat()}.", way_out="Swap the two."
        )
    return FactFilter(
        now=now,
        scopes=scopes,
        tags=frozenset(validation.parse_tags(asked.get("tags"), InvalidQuestion)),
        categories=validation.parse_names(asked.get("category"), "category", InvalidQuestion),
        speakers=validation.parse_names(asked.get("speaker"), "speaker", InvalidQuestion),
        sessions=validation.parse_names(asked.get("session"), "session", InvalidQuestion),
        metadata=parse_conditions(asked.get("where")),
        since=since,
        until=until,
        as_of=_parse_as_of(asked.get("as_of"), now),
        community=_check_community(asked.get("community")),
        archived=whenever,
        whenever=whenever,
    )


def _parse_as_of(given: TimeInput, now: datetime) -> datetime | None:
    """A day is meant to its end, as with `until`; today to this moment."""
    found = validation.parse_time(_extend_to_day_end(given), "as_of", InvalidQuestion)
    begun = validation.parse_time(given, "as_of", InvalidQuestion)
    return now if found and begun and begun <= now < found else found


def resolve_scopes(given: object) -> tuple[str, ...]:
    """The scopes named, or the default one."""
    return validation.parse_scopes(given, InvalidQuestion) or (DEFAULT_SCOPE,)


def _extend_to_day_end(until: TimeInput) -> TimeInput:
    """A day without a time of day is meant to its end.

    >>> _extend_to_day_end("2026-05-08")
    '2026-05-08T23:59:59.999999'
    """
    if isinstance(until, date) and not isinstance(until, datetime):
        until = until.isoformat()
    return (
        f"{until.strip()}T23:59:59.999999"
        if isinstance(until, str) and _DAY_PATTERN.fullmatch(until.strip())
        else until
    )


def _value_or_default(value: int | None, default: int) -> int:
    return default if value is None else value


def _check_budget(given: int | None, settings: Settings) -> int | None:
    if given is None:
        return settings[RECALL_BUDGET] or None
    return validation.check_count(given, "budget", low=1, high=10_000_000)


def _check_community(given: object) -> int | None:
    return None if given is None else validation.check_count(given, "community", low=0, high=2**62)


def _check_choice(given: object, label: str, known: tuple[str, ...]) -> str | None:
    if given is not None and given not in known:
        raise InvalidQuestion(f"There is no {label} {given!r}.", way_out=f"Choose one of {', '.join(known)}.")
    return None if given is None else str(given)
