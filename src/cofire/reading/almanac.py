"""Almanac: periods of time from numbers: a day, a week, a month, a season. Arithmetic on aware datetimes; no text."""

from __future__ import annotations

from datetime import datetime, timedelta

# From its first moment up to, but not including, its last.
Period = tuple[datetime, datetime]

_DAY = timedelta(days=1)
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_PARTS_OF_DAY = {"morning": (5, 12), "afternoon": (12, 17), "evening": (17, 22), "night": (20, 29)}
_CLOCK = {"second": timedelta(seconds=1), "minute": timedelta(minutes=1), "hour": timedelta(hours=1)}


def midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def day(moment: datetime, offset: int) -> Period:
    """The day so many days after that of a moment."""
    start = midnight(moment) + offset * _DAY
    return start, start + _DAY


def week(moment: datetime, offset: int) -> Period:
    """The week, Monday to Sunday, so many weeks after that of a moment."""
    start = midnight(moment) + (7 * offset - moment.weekday()) * _DAY
    return start, start + 7 * _DAY


def weekend(moment: datetime, offset: int) -> Period:
    start, end = week(moment, offset)
    return start + 5 * _DAY, end


def weekday(moment: datetime, number: int, offset: int) -> Period:
    """A day (Monday is 0) of the week so many weeks after that of a moment."""
    return day(week(moment, offset)[0], number)


def month(zoned: datetime, in_year: int, number: int) -> Period:
    """A month in the zone of a moment. Numbers beyond 1 to 12 run on into the neighbouring years.

    >>> from datetime import UTC
    >>> [moment.date().isoformat() for moment in month(datetime(2023, 1, 31, tzinfo=UTC), 2023, 14)]
    ['2024-02-01', '2024-03-01']
    """
    return _first(zoned, in_year, number), _first(zoned, in_year, number + 1)


def quarter(zoned: datetime, in_year: int, number: int) -> Period:
    return _first(zoned, in_year, 3 * number - 2), _first(zoned, in_year, 3 * number + 1)


def years(zoned: datetime, first: int, count: int) -> Period:
    return _first(zoned, first, 1), _first(zoned, first + count, 1)


def season(zoned: datetime, in_year: int, name: str) -> Period:
    """Three months of the northern year; a winter belongs to the year of its December."""
    first = _SEASONS[name]
    return _first(zoned, in_year, first), _first(zoned, in_year, first + 3)


def part_of_day(period: Period, name: str) -> Period:
    """The morning, afternoon, evening or night of a day."""
    first, last = _PARTS_OF_DAY[name]
    return period[0] + timedelta(hours=first), period[0] + timedelta(hours=last)


def away(moment: datetime, unit: str, count: int) -> Period:
    """The unit of time (its hour, day, week …) in which one is after so many of them.

    >>> from datetime import UTC
    >>> [at.date().isoformat() for at in away(datetime(2023, 5, 10, tzinfo=UTC), "week", -2)]
    ['2023-04-24', '2023-05-01']
    """
    if unit in _CLOCK:
        start = moment.replace(microsecond=0) + count * _CLOCK[unit]
        return start, start + _CLOCK[unit]
    if unit == "day":
        return day(moment, count)
    if unit == "week":
        return week(moment, count)
    if unit == "weekend":
        return weekend(moment, count)
    if unit == "month":
        return month(moment, moment.year, moment.month + count)
    if unit == "quarter":
        return quarter(moment, moment.year, (moment.month + 2) // 3 + count)
    return (
        years(moment, moment.year + count, 1)
        if unit == "year"
        else years(moment, moment.year // 10 * 10 + 10 * count, 10)
    )


def _first(zoned: datetime, in_year: int, number: int) -> datetime:
    more, months = divmod(number - 1, 12)
    return midnight(zoned).replace(year=in_year + more, month=months + 1, day=1)
