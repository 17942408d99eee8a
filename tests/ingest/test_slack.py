"""Exports of a Slack channel."""

from __future__ import annotations

from datetime import UTC, datetime

from cofire.ingest.messages import NOTICE_REASON
from tests.ingest.telling import facts, skipped


def test_names_times_and_links_are_plain() -> None:
    message = {
        "type": "message",
        "user": "U1",
        "user_profile": {"real_name": "Ana Lima", "display_name": "ana"},
        "text": "Tea &amp; cake: <https://a.org|the plan> <@U2>",
        "ts": "1714564800.000200",
    }
    (fact,) = facts([message])
    assert (fact.speaker, fact.text) == ("Ana Lima", "Tea & cake: the plan (https://a.org) @U2")
    assert fact.at == datetime(2024, 5, 1, 12, 0, 0, 200, tzinfo=UTC)


def test_without_a_profile_the_id_speaks() -> None:
    assert facts([{"type": "message", "user": "U1", "text": "Hi.", "ts": "1714564800.0"}])[0].speaker == "U1"


def test_bots_speak_and_joining_is_a_notice() -> None:
    bot = {
        "type": "message",
        "subtype": "bot_message",
        "username": "deploys",
        "text": "Deployed.",
        "ts": "1714564800.0",
    }
    joined = {
        "type": "message",
        "subtype": "channel_join",
        "user": "U1",
        "text": "<@U1> joined",
        "ts": "1714564800.0",
    }
    assert facts([bot])[0].speaker == "deploys"
    assert skipped([joined]) == [("messages", NOTICE_REASON)]
