"""Periods of time that a text mentions.

Weeks begin on Monday. "Last" and "next" follow the calendar: last Friday is the latest one before
today, next Friday is in the next week. A date without a year is the nearest one. A bare weekday is
the latest one, or the next if the text is about the future.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import islice

from cofire.text.base import TimeSpan
from cofire.text.vocabulary import MONTHS, WEEKDAYS

# First moment, and first moment after the period.
Period = tuple[datetime, datetime]

_ONE_DAY = timedelta(days=1)
_SEASON_FIRST_MONTHS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_HOURS_OF_DAY_PARTS = {"morning": (5, 12), "afternoon": (12, 17), "evening": (17, 22), "night": (20, 29)}
_CLOCK_UNITS = {"second": timedelta(seconds=1), "minute": timedelta(minutes=1), "hour": timedelta(hours=1)}


def midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def day_period(moment: datetime, offset: int) -> Period:
    """The day `offset` days after that of a moment."""
    start = midnight(moment) + offset * _ONE_DAY
    return start, start + _ONE_DAY


def week_period(moment: datetime, offset: int) -> Period:
    """The week, Monday to Sunday, `offset` weeks after that of a moment."""
    start = midnight(moment) + (7 * offset - moment.weekday()) * _ONE_DAY
    return start, start + 7 * _ONE_DAY


def weekend_period(moment: datetime, offset: int) -> Period:
    start, end = week_period(moment, offset)
    return start + 5 * _ONE_DAY, end


def weekday_period(moment: datetime, number: int, offset: int) -> Period:
    """A weekday (Monday is 0) of the week `offset` weeks after that of a moment."""
    return day_period(week_period(moment, offset)[0], number)


def month_period(zoned: datetime, in_year: int, number: int) -> Period:
    """A month in the time zone of `zoned`. Numbers outside 1 to 12 are in other years.

    >>> from datetime import UTC
    >>> [moment.date().isoformat() for moment in month_period(datetime(2023, 1, 31, tzinfo=UTC), 2023, 14)]
    ['2024-02-01', '2024-03-01']
    """
    return _start_of_month(zoned, in_year, number), _start_of_month(zoned, in_year, number + 1)


def quarter_period(zoned: datetime, in_year: int, number: int) -> Period:
    return _start_of_month(zoned, in_year, 3 * number - 2), _start_of_month(zoned, in_year, 3 * number + 1)


def years_period(zoned: datetime, first: int, count: int) -> Period:
    return _start_of_month(zoned, first, 1), _start_of_month(zoned, first + count, 1)


def season_period(zoned: datetime, in_year: int, name: str) -> Period:
    """Three months, northern hemisphere. A winter belongs to the year of its December."""
    first = _SEASON_FIRST_MONTHS[name]
    return _start_of_month(zoned, in_year, first), _start_of_month(zoned, in_year, first + 3)


def part_of_day_period(period: Period, name: str) -> Period:
    """The morning, afternoon, evening or night of a day."""
    first, last = _HOURS_OF_DAY_PARTS[name]
    return period[0] + timedelta(hours=first), period[0] + timedelta(hours=last)


def period_at_offset(moment: datetime, unit: str, count: int) -> Period:
    """The hour, day, week etc. that is `count` units after that of a moment.

    >>> from datetime import UTC
    >>> [at.date().isoformat() for at in period_at_offset(datetime(2023, 5, 10, tzinfo=UTC), "week", -2)]
    ['2023-04-24', '2023-05-01']
    """
    if unit in _CLOCK_UNITS:
        start = moment.replace(microsecond=0) + count * _CLOCK_UNITS[unit]
        return start, start + _CLOCK_UNITS[unit]
    if unit == "day":
        return day_period(moment, count)
    if unit == "week":
        return week_period(moment, count)
    if unit == "weekend":
        return weekend_period(moment, count)
    if unit == "month":
        return month_period(moment, moment.year, moment.month + count)
    if unit == "quarter":
        return quarter_period(moment, moment.year, (moment.month + 2) // 3 + count)
    if unit == "year":
        return years_period(moment, moment.year + count, 1)
    return years_period(moment, moment.year // 10 * 10 + 10 * count, 10)


def _start_of_month(zoned: datetime, in_year: int, number: int) -> datetime:
    more, months = divmod(number - 1, 12)
    return midnight(zoned).replace(year=in_year + more, month=months + 1, day=1)


MAX_TIME_SPANS = 16

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
_COUNT_WORDS = {
    word: number
    for number, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())
}
_COUNT_WORDS |= {"a": 1, "an": 1, "couple": 2, "few": 3, "several": 4}
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": 4}
_DAYS_AWAY = {"yesterday": -1, "today": 0, "tonight": 0, "tomorrow": 1}
_HALF_UNITS = {"year": ("month", -6), "hour": ("minute", -30)}
_RELATIVE_OFFSETS = {"last": -1, "previous": -1, "this": 0, "next": 1, "coming": 1, "upcoming": 1}
_ANY_YEAR = r"(?:1\d|20)\d\d"
_YEAR = f"(?P<year>{_ANY_YEAR})"
# A number after a year and "and" or "to" is a year as well: in 2021 and 2022, from 2020 to 2022.
_BEFORE_YEAR = re.compile(
    r"\b(?:in|since|until|till|during|circa|early|late|mid|year|before|after|from|through)[\s-]$"
    rf"|\b(?:in|during|from|between)\s{_ANY_YEAR},?\s(?:and|or|to|until|till|through)\s$",
    re.I,
)
_MAX_LOOK_BACK = 24
_BETWEEN, _AND_YEAR = re.compile(r"\bbetween\s$", re.I), re.compile(rf"\sand\s{_ANY_YEAR}\b")
# The moment of a text with unknown time. Only its time zone is used.
_UNKNOWN_MOMENT = datetime(2000, 1, 1, tzinfo=UTC)
_DIGIT = re.compile(r"\d")
_CASE_VARIANTS = str.maketrans({"ſ": "s", "\u212a": "K", "İ": "I", "ı": "i"})
_LETTER_RUN = re.compile(r"[a-z]+")
_FUTURE_CUE = re.compile(
    r"\b(?:will|going to|gonna|plan|plans|planning|tomorrow|upcoming|due|see you|scheduled|let's|'ll|until|by)\b", re.I
)

PeriodResolver = Callable[[re.Match[str], datetime], Period | None]


@dataclass(frozen=True, slots=True)
class TimeRule:
    """One way to state a time. It is tried only if the text has all cues in `needs`, and a relative
    rule only with a known moment.
    """

    needs: frozenset[str]
    pattern: re.Pattern[str]
    resolve: PeriodResolver
    relative: bool


def extract_time_spans(text: str, now: datetime | None) -> tuple[TimeSpan, ...]:
    """The periods that a text mentions, in order. Without `now`, only absolute ones.

    >>> now = datetime(2023, 5, 10, 14, tzinfo=UTC)
    >>> [
    ...     (str(span.start.date()), str(span.end.date()), span.surface)
    ...     for span in extract_time_spans("Last Friday, or in May 2021?", now)
    ... ]
    [('2023-05-05', '2023-05-06', 'Last Friday'), ('2021-05-01', '2021-06-01', 'May 2021')]
    >>> extract_time_spans("You may march on.", now)
    ()
    """
    text = replace_case_variants(text)
    moment = now or _UNKNOWN_MOMENT
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    taken: list[tuple[int, int]] = []
    spans: list[tuple[int, TimeSpan]] = []
    for rule in _applicable_rules(text.lower(), relative=now is not None):
        for match in islice(rule.pattern.finditer(text), 2 * MAX_TIME_SPANS):
            if _overlaps_taken_text(match, taken):
                continue
            span = _apply_rule(rule, match, moment)
            if span is not None:
                taken.append(match.span())
                spans.append((match.start(), span))
    spans.sort(key=lambda pair: pair[0])
    return tuple(span for _, span in spans[:MAX_TIME_SPANS])


def replace_case_variants(text: str) -> str:
    """Replace letters that a case-insensitive pattern treats as ASCII, because the tables are ASCII.

    >>> replace_case_variants("ſeven weeKs ago")
    'seven weeKs ago'
    """
    return text if text.isascii() else text.translate(_CASE_VARIANTS)


def _applicable_rules(low: str, *, relative: bool) -> tuple[TimeRule, ...]:
    """The rules whose cues occur in the text, in order."""
    present = {kind for word in _CUE_KINDS.keys() & _LETTER_RUN.findall(low) for kind in _CUE_KINDS[word]}
    if _DIGIT.search(low):
        present.add("digit")
    return _rules_for_cues(frozenset(present), relative)


@cache
def _rules_for_cues(present: frozenset[str], relative: bool) -> tuple[TimeRule, ...]:
    return tuple(rule for rule in _TIME_RULES if rule.needs <= present and (relative or not rule.relative))


def _overlaps_taken_text(match: re.Match[str], taken: list[tuple[int, int]]) -> bool:
    return any(match.start() < end and start < match.end() for start, end in taken)


def _apply_rule(rule: TimeRule, match: re.Match[str], now: datetime) -> TimeSpan | None:
    """The span of a match, or None for impossible dates: 31 February, 5,000 years ago."""
    try:
        period = rule.resolve(match, now)
    except (ValueError, OverflowError):
        return None
    return TimeSpan(*period, surface=match.group().strip(" ,.")) if period else None


def _resolve_numeric(match: re.Match[str], now: datetime) -> Period | None:
    """A day, month, decade or year that begins with the digits of a year."""
    start, year = match.start(), int(match["year"])
    if start and match.string[start - 1].isalnum():
        return None
    if match["day"]:
        return _resolve_iso_date(match, now)
    if match["only"]:
        return _resolve_year_month(year, int(match["only"]), now)
    if match["decade"]:
        return years_period(now, year, 10) if year % 10 == 0 else None
    return years_period(now, year, 1) if _is_year_number(match) else None


def _is_year_number(match: re.Match[str]) -> bool:
    """Whether the words around a number make it a year."""
    text, start, end = match.string, match.start(), match.end()
    first = max(0, start - _MAX_LOOK_BACK)
    if _BEFORE_YEAR.search(text, first, start):
        return True
    return bool(_BETWEEN.search(text, first, start) and _AND_YEAR.match(text, end))


def _resolve_iso_date(match: re.Match[str], now: datetime) -> Period:
    year, month, day = int(match["year"]), int(match["month"]), int(match["day"])
    start = midnight(now).replace(year=year, month=month, day=day)
    if match["hour"] is None:
        return day_period(start, 0)
    at = start.replace(hour=int(match["hour"]), minute=int(match["minute"]))
    return at, at + timedelta(minutes=1)


def _resolve_year_month(year: int, number: int, now: datetime) -> Period | None:
    """ "2010-11" is more often a season of two years than November."""
    return None if number == (year + 1) % 100 else month_period(now, year, number)


def _resolve_date(match: re.Match[str], now: datetime) -> Period | None:
    """A month with a day, a year, or both. A bare month may be a verb and is left out."""
    day, year = match["day"] or match["later"], match["year"]
    if not day:
        return month_period(now, int(year), _month_number(match["month"])) if year else None
    if year:
        return _resolve_day_of_month(now, int(year), match["month"], int(day))
    if now is _UNKNOWN_MOMENT:
        return None
    return _nearest_period(now, lambda year: _resolve_day_of_month(now, year, match["month"], int(day)))


def _resolve_day_of_month(now: datetime, year: int, month: str, day: int) -> Period:
    return day_period(midnight(now).replace(year=year, month=_month_number(month), day=day), 0)


def _resolve_bare_month(match: re.Match[str], now: datetime) -> Period:
    number, word = _month_number(match["month"]), match["before"].lower()
    if word in ("last", "previous"):
        return month_period(now, now.year - (number >= now.month), number)
    if word == "next":
        return month_period(now, now.year + (number <= now.month), number)
    if word == "this":
        return month_period(now, now.year, number)
    return _nearest_period(now, lambda year: month_period(now, year, number))


def _nearest_period(now: datetime, in_year: Callable[[int], Period]) -> Period:
    """The period closest to now in the last, this or the next year. Not every year has a 29 February."""
    periods = [_period_or_none(in_year, year) for year in (now.year - 1, now.year, now.year + 1)]
    return min(
        (period for period in periods if period is not None),
        key=lambda period: abs(period[0] - now),
    )


def _period_or_none(in_year: Callable[[int], Period], year: int) -> Period | None:
    try:
        return in_year(year)
    except ValueError:
        return None


def _month_number(name: str) -> int:
    return next(number for number, month in enumerate(MONTHS, 1) if month.startswith(name[:3].lower()))


def _resolve_short_decade(match: re.Match[str], now: datetime) -> Period:
    return years_period(now, 1900 + int(match["decade"]), 10)


def _resolve_quarter(match: re.Match[str], now: datetime) -> Period | None:
    year = match["year"] or match["before"]
    if not year and now is _UNKNOWN_MOMENT:
        return None
    return quarter_period(now, int(year or now.year), int(match["quarter"]))


def _resolve_worded_quarter(match: re.Match[str], now: datetime) -> Period:
    return quarter_period(now, int(match["year"]), _ORDINALS[match["quarter"].lower()])


def _resolve_season_of_year(match: re.Match[str], now: datetime) -> Period:
    return season_period(now, int(match["year"]), match["season"].lower())


def _resolve_relative_day(match: re.Match[str], now: datetime) -> Period:
    word = match["word"].lower()
    if word in _DAYS_AWAY:
        part = match["part"] or ("evening" if word == "tonight" else None)
        return _narrow_to_part(day_period(now, _DAYS_AWAY[word]), part)
    return day_period(now, -2 if "yesterday" in word else 2)


def _resolve_part_of_today(match: re.Match[str], now: datetime) -> Period:
    offset = -1 if match["word"].lower() == "last" else 0
    return part_of_day_period(day_period(now, offset), match["part"].lower())


def _narrow_to_part(period: Period, name: str | None) -> Period:
    return part_of_day_period(period, name.lower()) if name else period


def _resolve_relative_unit(match: re.Match[str], now: datetime) -> Period:
    return period_at_offset(now, match["unit"].lower(), _RELATIVE_OFFSETS[match["word"].lower()])


def _resolve_relative_season(match: re.Match[str], now: datetime) -> Period:
    """Last summer is over, next summer has not begun, this summer is in this year."""
    offset = _RELATIVE_OFFSETS[match["word"].lower()]
    season = match["season"].lower()
    this_year = season_period(now, now.year, season)
    if offset < 0 and this_year[1] > now:
        return season_period(now, now.year - 1, season)
    if offset > 0 and this_year[0] <= now:
        return season_period(now, now.year + 1, season)
    return this_year


def _resolve_relative_weekday(match: re.Match[str], now: datetime) -> Period:
    number = WEEKDAYS.index(match["weekday"].lower())
    offset = _RELATIVE_OFFSETS[match["word"].lower()]
    if offset < 0:
        return _narrow_to_part(_latest_weekday(now, number, before_today=True), match["part"])
    return _narrow_to_part(weekday_period(now, number, offset), match["part"])


def _resolve_bare_weekday(match: re.Match[str], now: datetime) -> Period:
    number = WEEKDAYS.index(match["weekday"].lower())
    context = match.string[max(0, match.start() - 80) : match.start() + 80]
    if _FUTURE_CUE.search(context):
        period = day_period(now, (number - now.weekday()) % 7)
    else:
        period = _latest_weekday(now, number, before_today=False)
    return _narrow_to_part(period, match["part"])


def _latest_weekday(now: datetime, number: int, *, before_today: bool) -> Period:
    days_back = (now.weekday() - number) % 7
    if before_today and days_back == 0:
        days_back = 7
    return day_period(now, -days_back)


def _resolve_ago(match: re.Match[str], now: datetime) -> Period:
    return period_at_offset(now, match["unit"].lower(), -_parse_count(match["count"]))


def _resolve_half_ago(match: re.Match[str], now: datetime) -> Period:
    return period_at_offset(now, *_HALF_UNITS[match["unit"].lower()])


def _resolve_ahead(match: re.Match[str], now: datetime) -> Period:
    return period_at_offset(now, match["unit"].lower(), _parse_count(match["count"]))


def _resolve_window(match: re.Match[str], now: datetime) -> Period:
    """ "the last two weeks" ends now, "the next two weeks" begins now."""
    count, unit = _parse_count(match["count"]), match["unit"].lower()
    if match["word"].lower() == "next":
        return now, _shift_moment(now, unit, count)
    return _shift_moment(now, unit, -count), now


def _shift_moment(now: datetime, unit: str, count: int) -> datetime:
    if unit in ("second", "minute", "hour"):
        return period_at_offset(now, unit, count)[0]
    if unit in ("day", "week", "weekend"):
        return now + timedelta(days=count * (1 if unit == "day" else 7))
    months = count * {"month": 1, "year": 12, "decade": 120}[unit]
    start, end = month_period(now, now.year, now.month + months)
    return min(start + (now - month_period(now, now.year, now.month)[0]), end)


def _parse_count(count: str) -> int:
    words = count.lower().replace(" of", "").split() or ["one"]
    return int(words[-1]) if words[-1].isdigit() else _COUNT_WORDS[words[-1]]


_COUNTED_NOUNS = (
    "people|users|points|items|rows|lines|requests|connections|dollars|euros|miles|km|metres|meters|employees|seats|copies"
    "|times|votes|words|tokens"
)
_NO_COUNT = rf"(?![-/,.]?\d|\s*(?:%|{_COUNTED_NOUNS}))"
_DATE_AFTER_YEAR = r"[-/]?(?P<month>\d\d)[-/]?(?P<day>\d\d)(?:[T _](?P<hour>\d\d):(?P<minute>\d\d))?(?!\d)"
# The "of" of an impossible day ("31st of February 2024") does not mark the month.
_BEFORE_MONTH = r"[Ii]n|[Ss]ince|[Uu]ntil|[Bb]y|[Dd]uring|early|late|mid|(?<!\d[snrt][tdh]\s)of|[Ll]ast|[Nn]ext|[Tt]his"
_DAY_WORDS = "(?:the )?day before yesterday|(?:the )?day after tomorrow|yesterday|today|tonight|tomorrow"
_RELATIVE_WORD = "(?P<word>last|previous|this|next|coming|upcoming)"

# The first rule that matches a stretch of text takes it.
_ABSOLUTE_RULES: tuple[tuple[str, str, PeriodResolver], ...] = (
    (
        "digit mon",
        rf"\b(?:{_DAY}(?:\s+of)?\s+)?{_MONTH}(?:\s+{_LATER_DAY}\b)?(?:,?\s+(?:of\s+)?{_YEAR}\b)?",
        _resolve_date,
    ),
    (
        "q",
        r"\b(?:(?P<before>(?:19|20)\d\d)[\s-])?Q(?P<quarter>[1-4])(?:[\s/-]+(?:of\s+)?(?P<year>(?:19|20)\d\d))?\b",
        _resolve_quarter,
    ),
    ("digit unit", rf"(?i)\b(?P<quarter>first|second|third|fourth|last) quarter of {_YEAR}\b", _resolve_worded_quarter),
    ("digit season", rf"(?i)\b{_SEASON}\s+(?:of\s+)?{_YEAR}\b", _resolve_season_of_year),
    (
        "digit",
        rf"{_YEAR}(?:{_DATE_AFTER_YEAR}|-(?P<only>0[1-9]|1[0-2])(?![\d-])|(?P<decade>s)\b|\b{_NO_COUNT})",
        _resolve_numeric,
    ),
    ("decade", r"(?:(?<=')|(?<=the ))(?P<decade>[2-9]0)s\b", _resolve_short_decade),
)
_RELATIVE_RULES: tuple[tuple[str, str, PeriodResolver], ...] = (
    ("month", rf"\b(?P<before>{_BEFORE_MONTH})[\s-]+(?P<month>{_LONG_MONTHS})\b", _resolve_bare_month),
    ("today", rf"(?i)\b(?P<word>{_DAY_WORDS}){_PART}\b", _resolve_relative_day),
    ("part", r"(?i)\b(?P<word>this|last)\s+(?P<part>morning|afternoon|evening|night)\b", _resolve_part_of_today),
    ("ago unit", r"(?i)\bhalf an?\s+(?P<unit>year|hour)\s+ago\b", _resolve_half_ago),
    ("ago unit", rf"(?i)\b(?:about |around |almost )?{_COUNT}\s+{_UNIT}\s+ago\b", _resolve_ago),
    ("last unit", rf"(?i)\b(?P<word>last|past|next)\s+{_COUNT}\s+{_UNIT}\b", _resolve_window),
    ("last unit", r"(?i)\b(?P<word>past)\s+(?P<count>)(?P<unit>day|week|month|year|decade)\b", _resolve_window),
    ("unit", rf"(?i)(?<!ed )\bin\s+{_COUNT}\s+{_UNIT}(?:'s? time)?\b(?!\s+of)", _resolve_ahead),
    (
        "last unit",
        rf"(?i)\b{_RELATIVE_WORD}\s+(?P<unit>week|weekend|month|quarter|year|decade)\b",
        _resolve_relative_unit,
    ),
    ("last season", rf"(?i)\b{_RELATIVE_WORD}\s+{_SEASON}\b", _resolve_relative_season),
    ("last day", rf"(?i)\b{_RELATIVE_WORD}\s+{_WEEKDAY}\b{_PART}", _resolve_relative_weekday),
    ("day", rf"(?i)(?<!every )(?<!each )\b{_WEEKDAY}\b{_PART}", _resolve_bare_weekday),
)
_TIME_RULES = tuple(
    TimeRule(frozenset(needs.split()), re.compile(pattern), resolve, relative)
    for table, relative in ((_ABSOLUTE_RULES, False), (_RELATIVE_RULES, True))
    for needs, pattern, resolve in table
)

# Kinds of cue by word, in lower case and without digits: the "q" of "Q3", the "s" of "1990s".
_CUE_WORDS = (
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
_CUE_KINDS = {word: tuple(kinds.split()) for word, kinds in _CUE_WORDS}


_DAY_NUMBERS = [*range(100), *(f"{day:02}" for day in range(10))]
_TIME_WORDS = frozenset(
    [
        *"""yesterday today tonight tomorrow last next ago week weekend month year monday tuesday wednesday thursday friday
        saturday sunday january february march april june july august september october november december morning recently
        summer winter spring since""".split(),
        *(f"20{year:02}" for year in range(100)),
        *(f"{day}{ending}" for day in _DAY_NUMBERS for ending in ("st", "nd", "rd", "th")),
    ]
)
_ANY_WORD = re.compile(r"\w+")


def has_time_words(text: str) -> bool:
    """Whether a text contains a word for a time.

    >>> has_time_words("We met last Friday."), has_time_words("We met.")
    (True, False)
    """
    return not _TIME_WORDS.isdisjoint(_ANY_WORD.findall(text.lower()))
