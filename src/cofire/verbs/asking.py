"""Asking: a question with its filters and limits, checked and brought into one form. Asks for nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, TypedDict

from cofire.errors import InvalidQuestion
from cofire.metadata_filter import conditions
from cofire.model import DEFAULT_SCOPE, Where
from cofire.presets import MODES, PRESETS, STRATEGIES, Mode, PresetName, Strategy
from cofire.settings import BUDGET, HEADROOM, K, Settings, by_name
from cofire.verbs import accepting

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")

Names = str | Iterable[str] | None
Moment = datetime | date | str | None


class Filters(TypedDict, total=False):
    """Which facts may be seen, in the words of callers."""

    scope: Annotated[Names, "Only facts of these scopes; recall searches the scope “default” unless given."]
    session: Annotated[Names, "Only facts of these sessions."]
    tags: Annotated[Names, "Only facts that have all of these tags."]
    category: Annotated[Names, "Only facts of these categories."]
    speaker: Annotated[Names, "Only facts said by these speakers."]
    where: Annotated[
        Mapping[str, object] | None,
        'Only facts whose metadata match: {"project": "x"}, {"project": ["x", "y"]} (any of these) or {"priority": {"gte": 3}} with '
        "eq, ne, gt, gte, lt, lte or exists. All keys must match; a dot reaches into nested metadata.",
    ]
    since: Annotated[Moment, "Only facts from this time on: a datetime, a date, or ISO text such as 2026-05-08."]
    until: Annotated[Moment, "Only facts up to this time; a day counts to its end."]
    as_of: Annotated[Moment, "Search the facts that were valid at this time."]
    community: Annotated[int | None, "Only facts of the community with this number."]


class Asked(Filters, total=False):
    """Everything a caller of `recall` may say besides the question."""

    k: Annotated[int | None, "Maximum number of facts, from 1 to 1,000. Default: the setting recall.k (10)."]
    budget: Annotated[int | None, "Maximum number of tokens of all texts together. Default: the setting recall.budget."]
    cue_tags: Annotated[Names, "Tags to prefer, without excluding other facts."]
    mode: Annotated[
        Mode | None,
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
class Question:
    """A question ready to be worked on."""

    text: str
    where: Where
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
        return self.settings[HEADROOM] + self.k


def settings_of(asked: Asked, settings: Settings) -> Settings:
    """The settings with those of a call laid over them."""
    given, preset = asked.get("settings"), asked.get("preset")
    if not given and preset is None:
        return settings
    own = by_name(given or {})
    if preset is not None:
        own["preset"] = preset
    return settings.over(own)


def question(text: object, asked: Asked, now: datetime, settings: Settings) -> Question:
    """Check all that was asked for; call settings lie over the others."""
    settings = settings_of(asked, settings)
    scopes = scopes_of(asked.get("scope"))
    return Question(
        text=accepting.question(text),
        where=where(asked, now),
        scopes=scopes,
        k=accepting.count(_given(asked.get("k"), settings[K]), "k", low=1, high=1_000),
        budget=_budget(asked.get("budget"), settings),
        mode=_one_of(asked.get("mode"), "mode", MODES),
        strategy=_one_of(asked.get("strategy"), "strategy", STRATEGIES),
        cue_tags=frozenset(accepting.tags(asked.get("cue_tags"), InvalidQuestion)),
        settings=settings,
    )


def where(asked: Filters, now: datetime, *, everywhere: bool = False, whenever: bool = False) -> Where:
    """The filter that the given words describe. `everywhere` sees all scopes unless some are named; `whenever` also sees
    what has run out, is not valid now, or is archived: it is for the keeper of the store."""
    scopes = None if everywhere and asked.get("scope") is None else scopes_of(asked.get("scope"))
    since = accepting.moment(asked.get("since"), "since", InvalidQuestion)
    until = accepting.moment(_through(asked.get("until")), "until", InvalidQuestion)
    if since and until and since > until:
        raise InvalidQuestion(
            f"Nothing is both since {since.isoformat()} and until {until.isoformat()}.", way_out="Swap the two."
        )
    return Where(
        now=now,
        scopes=scopes,
        tags=frozenset(accepting.tags(asked.get("tags"), InvalidQuestion)),
        categories=accepting.names(asked.get("category"), "category", InvalidQuestion),
        speakers=accepting.names(asked.get("speaker"), "speaker", InvalidQuestion),
        sessions=accepting.names(asked.get("session"), "session", InvalidQuestion),
        metadata=conditions(asked.get("where")),
        since=since,
        until=until,
        as_of=_as_of(asked.get("as_of"), now),
        community=_community(asked.get("community")),
        archived=whenever,
        whenever=whenever,
    )


def _as_of(given: Moment, now: datetime) -> datetime | None:
    """A day is meant to its end, as with `until`; today to this moment."""
    found = accepting.moment(_through(given), "as_of", InvalidQuestion)
    begun = accepting.moment(given, "as_of", InvalidQuestion)
    return now if found and begun and begun <= now < found else found


def scopes_of(given: object) -> tuple[str, ...]:
    """The scopes named, or the default one."""
    return accepting.scopes(given, InvalidQuestion) or (DEFAULT_SCOPE,)


def _through(until: Moment) -> Moment:
    """A day without a time of day is meant to its end.

    >>> _through("2026-05-08")
    '2026-05-08T23:59:59.999999'
    """
    if isinstance(until, date) and not isinstance(until, datetime):
        until = until.isoformat()
    return f"{until.strip()}T23:59:59.999999" if isinstance(until, str) and _DAY.fullmatch(until.strip()) else until


def _given(value: int | None, default: int) -> int:
    return default if value is None else value


def _budget(given: int | None, settings: Settings) -> int | None:
    if given is None:
        return settings[BUDGET] or None
    return accepting.count(given, "budget", low=1, high=10_000_000)


def _community(given: object) -> int | None:
    return None if given is None else accepting.count(given, "community", low=0, high=2**62)


def _one_of(given: object, label: str, known: tuple[str, ...]) -> str | None:
    if given is not None and given not in known:
        raise InvalidQuestion(f"There is no {label} {given!r}.", way_out=f"Choose one of {', '.join(known)}.")
    return None if given is None else str(given)
