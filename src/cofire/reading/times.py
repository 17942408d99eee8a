"""Times: what a text says about when, as periods seen from the moment it was said. Rules for English; no clock is read.

Weeks begin on Monday. "Last" and "next" go by the calendar: last Friday is the latest one before today, next Friday that of
the week to come. A date without its year is the nearest one; a bare weekday is the latest, or the next if the text looks
ahead.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import islice

from cofire.reading import almanac
from cofire.reading.almanac import Period
from cofire.reading.base import Span
from cofire.reading.vocabulary import MONTHS, WEEKDAYS

AT_MOST = 16

_LONG_MONTHS = (
    "[Jj]anuary|[Ff]ebruary|March|[Aa]pril|May|[Jj]une|[Jj]uly|August|[Ss]eptember|[Oo]ctober|[Nn]ovember|[Dd]ecember"
)
_MONTH = f"(?P<month>{_LONG_MONTHS}|(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\\b\\.?)"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_LATER_DAY = r"(?P<later>\d{1,2})(?:st|nd|rd|th)?"
_COUNT = r"(?P<count>\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:a )?couple(?: of)?|(?:a )?few|several)"
_UNIT = r"(?P<unit>second|minute|hour|day|week|weekend|month|year|decade)s?"
_WEEKDAY = "(?P<weekday>" + "|".join(WEEKDAYS) + ")"
_SEASON = "(?P<season>spring|summer|autumn|fall|winter)"
_PART = r"(?:\s+(?P<part>morning|afternoon|evening|night))?"
_COUNTS = {
    word: number
    for number, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())
}
_COUNTS |= {"a": 1, "an": 1, "couple": 2, "few": 3, "several": 4}
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": 4}
_DAYS_AWAY = {"yesterday": -1, "today": 0, "tonight": 0, "tomorrow": 1}
_HALVES = {"year": ("month", -6), "hour": ("minute", -30)}
_STEPS = {"last": -1, "previous": -1, "this": 0, "next": 1, "coming": 1, "upcoming": 1}
_ANY_YEAR = r"(?:1\d|20)\d\d"
_YEAR = f"(?P<year>{_ANY_YEAR})"
# The second of two years is one as the first is: in 2021 and 2022, from 2020 to 2022.
_BEFORE_YEAR = re.compile(
    r"\b(?:in|since|until|till|during|circa|early|late|mid|year|before|after|from|through)[\s-]$"
    rf"|\b(?:in|during|from|between)\s{_ANY_YEAR},?\s(?:and|or|to|until|till|through)\s$",
    re.I,
)
_LONGEST_BEFORE = 24
_BETWEEN, _AND_YEAR = re.compile(r"\bbetween\s$", re.I), re.compile(rf"\sand\s{_ANY_YEAR}\b")
# Stands for the moment of a text of which nobody knows when it was said; only its zone is used.
_NO_MOMENT = datetime(2000, 1, 1, tzinfo=UTC)
_DIGIT = re.compile(r"\d")
_CASE_VARIANTS = str.maketrans({"ſ": "s", "\u212a": "K", "İ": "I", "ı": "i"})
_WORD_OF = re.compile(r"[a-z]+")
_AHEAD = re.compile(
    r"\b(?:will|going to|gonna|plan|plans|planning|tomorrow|upcoming|due|see you|scheduled|let's|'ll|until|by)\b", re.I
)

Resolve = Callable[[re.Match[str], datetime], Period | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """A way to say when. `needs` are the kinds of cues without which it need not be tried; a relative one needs a now."""

    needs: frozenset[str]
    pattern: re.Pattern[str]
    resolve: Resolve
    relative: bool


def times(text: str, now: datetime | None) -> tuple[Span, ...]:
    """The periods that a text speaks of, in order. Without `now`, only those that need none.

    >>> now = datetime(2023, 5, 10, 14, tzinfo=UTC)
    >>> [
    ...     (str(span.start.date()), str(span.end.date()), span.surface)
    ...     for span in times("Last Friday, or in May 2021?", now)
    ... ]
    [('2023-05-05', '2023-05-06', 'Last Friday'), ('2021-05-01', '2021-06-01', 'May 2021')]
    >>> times("You may march on.", now)
    ()
    """
    text = plain_letters(text)
    seen = _NO_MOMENT if now is None else now if now.tzinfo else now.replace(tzinfo=UTC)
    taken: list[tuple[int, int]] = []
    found: list[tuple[int, Span]] = []
    for rule in _worth_trying(text.lower(), relative=now is not None):
        for match in islice(rule.pattern.finditer(text), 2 * AT_MOST):
            span = None if _overlaps(match, taken) else _resolved(rule, match, seen)
            if span is not None:
                taken.append(match.span())
                found.append((match.start(), span))
    found.sort(key=lambda pair: pair[0])
    return tuple(span for _, span in found[:AT_MOST])


def plain_letters(text: str) -> str:
    """The text with ASCII letters for those that a pattern ignoring case takes for ASCII: the tables know only these.

    >>> plain_letters("ſeven weeKs ago")
    'seven weeKs ago'
    """
    return text if text.isascii() else text.translate(_CASE_VARIANTS)


def _worth_trying(low: str, *, relative: bool) -> tuple[Rule, ...]:
    """The rules, in their order, whose cues are among the words of the text."""
    present = {kind for word in _KINDS.keys() & _WORD_OF.findall(low) for kind in _KINDS[word]}
    if _DIGIT.search(low):
        present.add("digit")
    return _served_by(frozenset(present), relative)


@cache
def _served_by(present: frozenset[str], relative: bool) -> tuple[Rule, ...]:
    return tuple(rule for rule in _RULES if rule.needs <= present and (relative or not rule.relative))


def _overlaps(match: re.Match[str], taken: list[tuple[int, int]]) -> bool:
    return any(match.start() < end and start < match.end() for start, end in taken)


def _resolved(rule: Rule, match: re.Match[str], now: datetime) -> Span | None:
    """None where the calendar has no such day: 31 February, 5,000 years ago."""
    try:
        period = rule.resolve(match, now)
    except (ValueError, OverflowError):
        return None
    return Span(*period, surface=match.group().strip(" ,.")) if period else None


def _numeric(match: re.Match[str], now: datetime) -> Period | None:
    """What begins with the digits of a year: a day, a month, a decade, or the year itself behind such a word as "in"."""
    start, year = match.start(), int(match["year"])
    if start and match.string[start - 1].isalnum():
        return None
    if match["day"]:
        return _iso(match, now)
    if match["only"]:
        return _year_month(year, int(match["only"]), now)
    if match["decade"]:
        return almanac.years(now, year, 10) if year % 10 == 0 else None
    return almanac.years(now, year, 1) if _is_year(match) else None


def _is_year(match: re.Match[str]) -> bool:
    """Whether the words around a number make it a year."""
    text, start, end = match.string, match.start(), match.end()
    first = max(0, start - _LONGEST_BEFORE)
    if _BEFORE_YEAR.search(text, first, start):
        return True
    return bool(_BETWEEN.search(text, first, start) and _AND_YEAR.match(text, end))


def _iso(match: re.Match[str], now: datetime) -> Period:
    year, month, day = int(match["year"]), int(match["month"]), int(match["day"])
    start = almanac.midnight(now).replace(year=year, month=month, day=day)
    if match["hour"] is None:
        return almanac.day(start, 0)
    at = start.replace(hour=int(match["hour"]), minute=int(match["minute"]))
    return at, at + timedelta(minutes=1)


def _year_month(year: int, number: int, now: datetime) -> Period | None:
    """ "2010-11" is more often a season of two years than November."""
    return None if number == (year + 1) % 100 else almanac.month(now, year, number)


def _date(match: re.Match[str], now: datetime) -> Period | None:
    """A month with its day, its year or both; by itself it may be a verb."""
    day, year = match["day"] or match["later"], match["year"]
    if not day:
        return almanac.month(now, int(year), _month_number(match["month"])) if year else None
    if year:
        return _day_of(now, int(year), match["month"], int(day))
    return None if now is _NO_MOMENT else _nearest(now, lambda near: _day_of(now, near, match["month"], int(day)))


def _day_of(now: datetime, year: int, month: str, day: int) -> Period:
    return almanac.day(almanac.midnight(now).replace(year=year, month=_month_number(month), day=day), 0)


def _bare_month(match: re.Match[str], now: datetime) -> Period:
    number, word = _month_number(match["month"]), match["before"].lower()
    if word in ("last", "previous"):
        return almanac.month(now, now.year - (number >= now.month), number)
    if word == "next":
        return almanac.month(now, now.year + (number <= now.month), number)
    if word == "this":
        return almanac.month(now, now.year, number)
    return _nearest(now, lambda year: almanac.month(now, year, number))


def _nearest(now: datetime, in_year: Callable[[int], Period]) -> Period:
    """The period of last year, this or next that begins closest to now; 29 February may be in one of them only."""
    candidates = [period for year in (now.year - 1, now.year, now.year + 1) if (period := _or_none(in_year, year))]
    return min(candidates, key=lambda period: abs(period[0] - now))


def _or_none(in_year: Callable[[int], Period], year: int) -> Period | None:
    try:
        return in_year(year)
    except ValueError:
        return None


def _month_number(name: str) -> int:
    return next(number for number, month in enumerate(MONTHS, 1) if month.startswith(name[:3].lower()))


def _short_decade(match: re.Match[str], now: datetime) -> Period:
    return almanac.years(now, 1900 + int(match["decade"]), 10)


def _quarter(match: re.Match[str], now: datetime) -> Period | None:
    year = match["year"] or match["before"]
    if not year and now is _NO_MOMENT:
        return None
    return almanac.quarter(now, int(year or now.year), int(match["quarter"]))


def _worded_quarter(match: re.Match[str], now: datetime) -> Period:
    return almanac.quarter(now, int(match["year"]), _ORDINALS[match["quarter"].lower()])


def _season_of_year(match: re.Match[str], now: datetime) -> Period:
    return almanac.season(now, int(match["year"]), match["season"].lower())


def _day_away(match: re.Match[str], now: datetime) -> Period:
    word = match["word"].lower()
    if word in _DAYS_AWAY:
        part = match["part"] or ("evening" if word == "tonight" else None)
        return _part(almanac.day(now, _DAYS_AWAY[word]), part)
    return almanac.day(now, -2 if "yesterday" in word else 2)


def _part_of_today(match: re.Match[str], now: datetime) -> Period:
    offset = -1 if match["word"].lower() == "last" else 0
    return almanac.part_of_day(almanac.day(now, offset), match["part"].lower())


def _part(period: Period, name: str | None) -> Period:
    return almanac.part_of_day(period, name.lower()) if name else period


def _step(match: re.Match[str], now: datetime) -> Period:
    return almanac.away(now, match["unit"].lower(), _STEPS[match["word"].lower()])


def _step_of_season(match: re.Match[str], now: datetime) -> Period:
    """Last summer has ended, next summer has not begun; this summer is of this year."""
    word, season = _STEPS[match["word"].lower()], match["season"].lower()
    this = almanac.season(now, now.year, season)
    if word < 0:
        return this if this[1] <= now else almanac.season(now, now.year - 1, season)
    if word > 0:
        return this if this[0] > now else almanac.season(now, now.year + 1, season)
    return this


def _step_of_weekday(match: re.Match[str], now: datetime) -> Period:
    number, word = WEEKDAYS.index(match["weekday"].lower()), _STEPS[match["word"].lower()]
    if word < 0:
        return _part(_latest(now, number, before_today=True), match["part"])
    return _part(almanac.weekday(now, number, word), match["part"])


def _bare_weekday(match: re.Match[str], now: datetime) -> Period:
    number = WEEKDAYS.index(match["weekday"].lower())
    if _AHEAD.search(match.string[max(0, match.start() - 80) : match.start() + 80]):
        return _part(almanac.day(now, (number - now.weekday()) % 7), match["part"])
    return _part(_latest(now, number, before_today=False), match["part"])


def _latest(now: datetime, number: int, *, before_today: bool) -> Period:
    back = (now.weekday() - number) % 7
    return almanac.day(now, -(back or 7) if before_today else -back)


def _ago(match: re.Match[str], now: datetime) -> Period:
    return almanac.away(now, match["unit"].lower(), -_number(match["count"]))


def _half_ago(match: re.Match[str], now: datetime) -> Period:
    return almanac.away(now, *_HALVES[match["unit"].lower()])


def _ahead(match: re.Match[str], now: datetime) -> Period:
    return almanac.away(now, match["unit"].lower(), _number(match["count"]))


def _window(match: re.Match[str], now: datetime) -> Period:
    """ "the last two weeks" ends now, "the next two weeks" begins now."""
    count, unit = _number(match["count"]), match["unit"].lower()
    if match["word"].lower() == "next":
        return now, _moved(now, unit, count)
    return _moved(now, unit, -count), now


def _moved(now: datetime, unit: str, count: int) -> datetime:
    if unit in ("second", "minute", "hour"):
        return almanac.away(now, unit, count)[0]
    if unit in ("day", "week", "weekend"):
        return now + timedelta(days=count * (1 if unit == "day" else 7))
    months = count * {"month": 1, "year": 12, "decade": 120}[unit]
    start, end = almanac.month(now, now.year, now.month + months)
    return min(start + (now - almanac.month(now, now.year, now.month)[0]), end)


def _number(count: str) -> int:
    words = count.lower().replace(" of", "").split() or ["one"]
    return int(words[-1]) if words[-1].isdigit() else _COUNTS[words[-1]]


_COUNTED = (
    "people|users|points|items|rows|lines|requests|connections|dollars|euros|miles|km|metres|meters|employees|seats|copies"
    "|times|votes|words|tokens"
)
_NO_COUNT = rf"(?![-/,.]?\d|\s*(?:%|{_COUNTED}))"
_DATE_AFTER_YEAR = r"[-/]?(?P<month>\d\d)[-/]?(?P<day>\d\d)(?:[T _](?P<hour>\d\d):(?P<minute>\d\d))?(?!\d)"
# The "of" of a day that the month does not have ("31st of February 2024") says nothing of the month.
_BEFORE_MONTH = r"[Ii]n|[Ss]ince|[Uu]ntil|[Bb]y|[Dd]uring|early|late|mid|(?<!\d[snrt][tdh]\s)of|[Ll]ast|[Nn]ext|[Tt]his"
_DAY_WORDS = "(?:the )?day before yesterday|(?:the )?day after tomorrow|yesterday|today|tonight|tomorrow"
_WORD = "(?P<word>last|previous|this|next|coming|upcoming)"

# The first rule that fits a stretch of text has it.
_ABSOLUTE: tuple[tuple[str, str, Resolve], ...] = (
    ("digit mon", rf"\b(?:{_DAY}(?:\s+of)?\s+)?{_MONTH}(?:\s+{_LATER_DAY}\b)?(?:,?\s+(?:of\s+)?{_YEAR}\b)?", _date),
    (
        "q",
        r"\b(?:(?P<before>(?:19|20)\d\d)[\s-])?Q(?P<quarter>[1-4])(?:[\s/-]+(?:of\s+)?(?P<year>(?:19|20)\d\d))?\b",
        _quarter,
    ),
    ("digit unit", rf"(?i)\b(?P<quarter>first|second|third|fourth|last) quarter of {_YEAR}\b", _worded_quarter),
    ("digit season", rf"(?i)\b{_SEASON}\s+(?:of\s+)?{_YEAR}\b", _season_of_year),
    (
        "digit",
        rf"{_YEAR}(?:{_DATE_AFTER_YEAR}|-(?P<only>0[1-9]|1[0-2])(?![\d-])|(?P<decade>s)\b|\b{_NO_COUNT})",
        _numeric,
    ),
    ("decade", r"(?:(?<=')|(?<=the ))(?P<decade>[2-9]0)s\b", _short_decade),
)
_RELATIVE: tuple[tuple[str, str, Resolve], ...] = (
    ("month", rf"\b(?P<before>{_BEFORE_MONTH})[\s-]+(?P<month>{_LONG_MONTHS})\b", _bare_month),
    ("today", rf"(?i)\b(?P<word>{_DAY_WORDS}){_PART}\b", _day_away),
    ("part", r"(?i)\b(?P<word>this|last)\s+(?P<part>morning|afternoon|evening|night)\b", _part_of_today),
    ("ago unit", r"(?i)\bhalf an?\s+(?P<unit>year|hour)\s+ago\b", _half_ago),
    ("ago unit", rf"(?i)\b(?:about |around |almost )?{_COUNT}\s+{_UNIT}\s+ago\b", _ago),
    ("last unit", rf"(?i)\b(?P<word>last|past|next)\s+{_COUNT}\s+{_UNIT}\b", _window),
    ("last unit", r"(?i)\b(?P<word>past)\s+(?P<count>)(?P<unit>day|week|month|year|decade)\b", _window),
    ("unit", rf"(?i)(?<!ed )\bin\s+{_COUNT}\s+{_UNIT}(?:'s? time)?\b(?!\s+of)", _ahead),
    ("last unit", rf"(?i)\b{_WORD}\s+(?P<unit>week|weekend|month|quarter|year|decade)\b", _step),
    ("last season", rf"(?i)\b{_WORD}\s+{_SEASON}\b", _step_of_season),
    ("last day", rf"(?i)\b{_WORD}\s+{_WEEKDAY}\b{_PART}", _step_of_weekday),
    ("day", rf"(?i)(?<!every )(?<!each )\b{_WEEKDAY}\b{_PART}", _bare_weekday),
)
_RULES = tuple(
    Rule(frozenset(needs.split()), re.compile(pattern), resolve, relative)
    for table, relative in ((_ABSOLUTE, False), (_RELATIVE, True))
    for needs, pattern, resolve in table
)

# What kinds of cue a word is, in small letters and without its digits: the "q" of "Q3", the "s" of "1990s".
_CUES = (
    *((month, "month mon") for month in MONTHS),
    *((month[:3], "mon") for month in MONTHS if month != "may"),
    *((season, "season") for season in ("spring", "summer", "autumn", "fall", "winter")),
    *(
        (unit + end, "unit")
        for unit in ("second", "minute", "hour", "day", "week", "weekend", "month", "year", "decade")
        for end in ("", "s")
    ),
    *((word, "today") for word in ("yesterday", "today", "tomorrow", "tonight")),
    *((part, "part") for part in ("morning", "afternoon", "evening", "night")),
    *((day, "day") for day in WEEKDAYS),
    *((word, "last") for word in ("last", "past", "previous", "this", "next", "coming", "upcoming")),
    *(("sept", "mon"), ("quarter", "unit"), ("ago", "ago"), ("q", "q"), ("s", "decade")),
)
_KINDS = {word: tuple(kinds.split()) for word, kinds in _CUES}
