"""The arguments of a recall: filters and limits of the caller, checked and combined into one request."""

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
    """Filters on facts, as keyword arguments of public methods."""

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
    """All keyword arguments of `recall`."""

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
    """The question, filters, limits and settings of one recall, checked."""

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
        """Number of candidates requested from each channel."""
        return self.settings[RECALL_HEADROOM] + self.k


def apply_call_settings(options: RecallOptions, settings: Settings) -> Settings:
    """The settings, overridden by the preset and the settings of a call."""
    call_settings = options.get("settings")
    preset = options.get("preset")
    if not call_settings and preset is None:
        return settings
    overrides = check_settings_mapping(call_settings or {})
    if preset is not None:
        overrides["preset"] = preset
    return settings.over(overrides)


def make_request(text: object, options: RecallOptions, now: datetime, settings: Settings) -> RecallRequest:
    """Check the question and its options. Settings of the call override the others."""
    settings = apply_call_settings(options, settings)
    k = options.get("k")
    if k is None:
        k = settings[RECALL_K]
    return RecallRequest(
        text=validation.parse_question(text),
        where=build_filter(options, now),
        scopes=resolve_scopes(options.get("scope")),
        k=validation.check_count(k, "k", low=1, high=1_000),
        budget=_check_budget(options.get("budget"), settings),
        mode=_check_choice(options.get("mode"), "mode", RECALL_MODES),
        strategy=_check_choice(options.get("strategy"), "strategy", STRATEGIES),
        cue_tags=frozenset(validation.parse_tags(options.get("cue_tags"), InvalidQuestion)),
        settings=settings,
    )


def build_filter(
    options: FilterOptions, now: datetime, *, everywhere: bool = False, whenever: bool = False
) -> FactFilter:
    """The filter that the options describe.

    With `everywhere`, no `scope` means all scopes. With `whenever`, the filter also admits expired,
    invalid and archived facts; maintenance needs them.
    """
    scope = options.get("scope")
    scopes = None if everywhere and scope is None else resolve_scopes(scope)
    since = validation.parse_time(options.get("since"), "since", InvalidQuestion)
    until = validation.parse_time(_extend_to_day_end(options.get("until")), "until", InvalidQuestion)
    if since and until and since > until:
        raise InvalidQuestion(
            f"since {since.isoformat()} is later than until {until.isoformat()}.", way_out="Swap the two."
        )
    community = options.get("community")
    if community is not None:
        community = validation.check_count(community, "community", low=0, high=2**62)
    return FactFilter(
        now=now,
        scopes=scopes,
        tags=frozenset(validation.parse_tags(options.get("tags"), InvalidQuestion)),
        categories=validation.parse_names(options.get("category"), "category", InvalidQuestion),
        speakers=validation.parse_names(options.get("speaker"), "speaker", InvalidQuestion),
        sessions=validation.parse_names(options.get("session"), "session", InvalidQuestion),
        metadata=parse_conditions(options.get("where")),
        since=since,
        until=until,
        as_of=_parse_as_of(options.get("as_of"), now),
        community=community,
        archived=whenever,
        whenever=whenever,
    )


def _parse_as_of(value: TimeInput, now: datetime) -> datetime | None:
    """A time as it is, a past day as its end, as with `until`, and today as now."""
    end = validation.parse_time(_extend_to_day_end(value), "as_of", InvalidQuestion)
    start = validation.parse_time(value, "as_of", InvalidQuestion)
    is_today = start is not None and end is not None and start <= now < end
    return now if is_today else end


def resolve_scopes(value: object) -> tuple[str, ...]:
    """The scopes of the `scope` argument, or the default scope."""
    return validation.parse_scopes(value, InvalidQuestion) or (DEFAULT_SCOPE,)


def _extend_to_day_end(until: TimeInput) -> TimeInput:
    """A day without a time of day becomes its last microsecond. Other values stay as they are.

    >>> _extend_to_day_end("2026-05-08")
    '2026-05-08T23:59:59.999999'
    """
    if isinstance(until, date) and not isinstance(until, datetime):
        until = until.isoformat()
    if isinstance(until, str) and _DAY_PATTERN.fullmatch(until.strip()):
        return f"{until.strip()}T23:59:59.999999"
    return until


def _check_budget(budget: int | None, settings: Settings) -> int | None:
    if budget is None:
        return settings[RECALL_BUDGET] or None
    return validation.check_count(budget, "budget", low=1, high=10_000_000)


def _check_choice(value: object, label: str, choices: tuple[str, ...]) -> str | None:
    if value is None:
        return None
    if value not in choices:
        raise InvalidQuestion(f"There is no {label} {value!r}.", way_out=f"Choose one of {', '.join(choices)}.")
    return str(value)
