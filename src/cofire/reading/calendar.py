"""Calendar: stretches of time from numbers: a day, a week, a month, a season. Pure arithmetic on aware datetimes; no text."""

from __future__ import annotations

from datetime import datetime, timedelta

Stretch = tuple[datetime, datetime]

_DAY = timedelta(days=1)
_SEASON_STARTS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_PARTS_OF_DAY = {"morning": (5, 12), "afternoon": (12, 17), "evening": (17, 22), "night": (20, 29), "noon": (12, 13)}


def midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def day(moment: datetime, offset: int = 0) -> Stretch:
    """The day of a moment, or one so many days after it."""
    start = midnight(moment) + offset * _DAY
    return start, start + _DAY


def week(moment: datetime, offset: int = 0) -> Stretch:
    """The week of a moment, Monday to Sunday, or one so many weeks after it."""
    start = midnight(moment) + (7 * offset - moment.weekday()) * _DAY
    return start, start + 7 * _DAY


def weekend(moment: datetime, offset: int = 0) -> Stretch:
    """Saturday and Sunday of the week of a moment, or of one so many weeks after it."""
    start, end = week(moment, offset)
    return start + 5 * _DAY, end


def month(zoned: datetime, year: int, number: int) -> Stretch:
    """A month, in the zone of a moment. A number beyond December runs on into the next year.

    >>> from datetime import UTC
    >>> [moment.date().isoformat() for moment in month(datetime(2023, 1, 1, tzinfo=UTC), 2023, 14)]
    ['2024-02-01', '2024-03-01']
    """
    return _first(zoned, year, number), _first(zoned, year, number + 1)


def year(zoned: datetime, first: int, *, years: int = 1) -> Stretch:
    return _first(zoned, first, 1), _first(zoned, first + years, 1)


def quarter(zoned: datetime, in_year: int, number: int) -> Stretch:
    """A quarter of a year, 1 to 4; beyond that it runs on."""
    return _first(zoned, in_year, 3 * number - 2), _first(zoned, in_year, 3 * number + 1)


def season(zoned: datetime, in_year: int, name: str) -> Stretch:
    """Three months of the northern year; a winter belongs to the year of its December."""
    first = _SEASON_STARTS[name]
    return _first(zoned, in_year, first), _first(zoned, in_year, first + 3)


def weekday(moment: datetime, number: int, offset: int) -> Stretch:
    """A day of the week of a moment (Monday is 0), or of one so many weeks after it."""
    return day(week(moment, offset)[0], number)


def part_of_day(start_of_day: datetime, name: str) -> Stretch:
    first, last = _PARTS_OF_DAY[name]
    return start_of_day + timedelta(hours=first), start_of_day + timedelta(hours=last)


def _first(zoned: datetime, in_year: int, number: int) -> datetime:
    years, months = divmod(number - 1, 12)
    return midnight(zoned).replace(year=in_year + years, month=months + 1, day=1)
