"""Text exports of WhatsApp from phones of several countries."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from cofire.ingest.messages import MEDIA_REASON, NOTICE_REASON
from tests.ingest.telling import read, read_skipped


@pytest.mark.parametrize(
    "stamp",
    [
        "12/31/23, 10:15\u202fPM - ",
        "12/31/23, 10:15 pm - ",
        "31/12/2023, 22:15 - ",
        "31.12.23, 22:15 - ",
        "[31.12.23, 22:15:00] ",
        "\u200e[12/31/23, 10:15:00 PM] ",
        "[31.12.2023 klo 22.15.00] ",
        "2023-12-31, 22:15 - ",
        "[2023/12/31, 22:15:00] ",
    ],
)
def test_dates_of_many_countries_are_the_same_moment(stamp: str) -> None:
    (fact,) = read(f"{stamp}Ana: Happy new year!\n", ".txt")
    assert (fact.speaker, fact.text, fact.at) == ("Ana", "Happy new year!", datetime(2023, 12, 31, 22, 15, tzinfo=UTC))


def test_midnight_and_noon_on_a_clock_of_twelve_hours() -> None:
    found = read("1/31/23, 12:05 AM - Ana: Night.\n1/31/23, 12:05 PM - Ana: Day.", ".txt")
    assert [fact.at.hour for fact in found if fact.at] == [0, 12]


def test_the_order_of_the_date_is_the_one_in_which_the_chat_goes_forward() -> None:
    found = read("01/02/24, 09:00 - Ana: One.\n05/02/24, 09:00 - Ben: Two.\n01/03/24, 09:00 - Ana: Three.", ".txt")
    assert [fact.at.month for fact in found if fact.at] == [2, 2, 3]


def test_a_date_that_is_none_decides_the_order() -> None:
    found = read("01/02/24, 09:00 - Ana: One.\n01/13/24, 09:00 - Ben: Two.", ".txt")
    assert [fact.at.isoformat()[:10] for fact in found if fact.at] == ["2024-01-02", "2024-01-13"]


@pytest.mark.parametrize(
    ("dates", "read_as"),
    [
        (("03/04/24", "04/04/24"), ["2024-04-03", "2024-04-04"]),
        (("04/03/24", "04/04/24"), ["2024-04-03", "2024-04-04"]),
        (("04/03/24", "04/03/25"), ["2024-04-03", "2025-04-03"]),
    ],
)
def test_where_the_chat_goes_forward_either_way_it_is_short(dates: tuple[str, ...], read_as: list[str]) -> None:
    found = read("".join(f"{date}, 9:15 pm - Ana: Tea.\n" for date in dates), ".txt")
    assert [fact.at.isoformat()[:10] for fact in found if fact.at] == read_as


def test_messages_keep_their_time_as_the_chat_grows() -> None:
    chat = "03/04/24, 9:15 pm - Ana: One.\n04/04/24, 9:16 pm - Ben: Two.\n"
    grown = read(f"{chat}13/04/24, 9:16 pm - Ben: Three.\n", ".txt")
    assert read(chat, ".txt") == grown[:2]


def test_where_both_orders_do_the_clock_decides() -> None:
    by_24, by_12 = read("03/04/24, 09:00 - Ana: One.", ".txt"), read("03/04/24, 9:00 AM - Ana: One.", ".txt")
    assert [fact.at.month for fact in (*by_24, *by_12) if fact.at] == [4, 3]


def test_a_message_has_all_its_lines() -> None:
    (first, second) = read("31.12.23, 22:15 - Ana: Buy:\n- tea\n\n- cake: two\n31.12.23, 22:16 - Ben: Yes.\n", ".txt")
    assert first.text == "Buy:\n- tea\n\n- cake: two"
    assert second.text == "Yes."


def test_notices_and_media_are_no_words() -> None:
    chat = (
        "31.12.23, 22:15 - Messages and calls are end-to-end encrypted.\n"
        "31.12.23, 22:15 - Ana: <Media omitted>\n"
        "31.12.23, 22:15 - Ana: IMG-20231231-WA0001.jpg (file attached)\n"
        "[31.12.23, 22:15:10] Ana: \u200eimage omitted\n"
    )
    assert read(chat, ".txt") == []
    assert read_skipped(chat, ".txt") == [NOTICE_REASON, MEDIA_REASON, MEDIA_REASON, MEDIA_REASON]


@pytest.mark.parametrize(
    "words", ["Ok (maybe)", "example.com (the new site)", "<https://a.org>", "<ana@a.org>", "Tea: at four"]
)
def test_what_resembles_a_file_may_be_words(words: str) -> None:
    for text in (words, f"\u200e{words}"):
        assert [fact.text for fact in read(f"31.12.23, 22:15 - Ana: {text}", ".txt")] == [words]


@pytest.mark.parametrize("words", ["POLL:\nTea?\nOPTION: Yes (1 vote)", "Location: https://maps.google.com/?q=1,2"])
def test_a_poll_and_a_place_are_words_although_the_phone_marks_them(words: str) -> None:
    assert [fact.text for fact in read(f"[31.12.23, 22:15:10] Ana: \u200e{words}", ".txt")] == [words]


def test_a_notice_may_quote_a_title_with_a_colon() -> None:
    chat = (
        '31.12.23, 22:15 - Ana changed the subject from "A" to "Trip: Lima"\n31.12.23, 22:16 - Ana "Nan" Lima: Yes.\n'
    )
    assert [fact.speaker for fact in read(chat, ".txt")] == ['Ana "Nan" Lima']
    assert read_skipped(chat, ".txt") == [NOTICE_REASON]


def test_a_name_that_is_not_in_the_address_book_is_plain() -> None:
    (fact,) = read("[31.12.23, 22:15:10] ~\u202fCleo: Tea?", ".txt")
    assert fact.speaker == "Cleo"


def test_the_mark_of_an_edited_message_is_cut_off() -> None:
    (fact,) = read("31.12.23, 22:15 - Ana: Tea at five. \u200e<This message was edited>", ".txt")
    assert fact.text == "Tea at five."
